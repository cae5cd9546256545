"""Forms on a node with intervals that are narrowed backwards, from the layers above to the first."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from polyrelu.checking.clauses import ClauseRow
from polyrelu.checking.forms import (
    SLOPE,
    EmptyNode,
    FormList,
    Interval,
    JointForms,
    SignCuts,
    sign_of,
    slope_of,
)
from polyrelu.checking.grid import GridLayer
from polyrelu.checking.meter import cells_of, longest

# -- Backward bounds


class FirstForms(NamedTuple):
    """The preactivations of the first layer of f or of g: centers, coefficients, one error."""

    centers: list[int]
    coefficients: list[list[int]]
    error: int


class Backward(NamedTuple):
    """An upper bound over 2^(2S): a constant, center and coefficients, and an error."""

    constant: int
    center: int
    coefficients: list[int]
    error: int

    def bound(self, grid: int) -> int:
        """The bound."""
        return (self.constant << grid) + self.center + sum(map(abs, self.coefficients)) + self.error


class BackwardForms(JointForms):
    """The forms of a leaf `backward`: open neurons get further bounds, layer by layer.

    `firsts` are the forms of the first layer of f and of g.
    """

    firsts: list[FirstForms]
    layers: Sequence[GridLayer]

    def run(self, layers: Sequence[GridLayer], cuts: SignCuts) -> None:
        """Make the forms of all layers."""
        self.layers, self.firsts = layers, []
        super().run(layers, cuts)

    def see(self, number: int, layer: GridLayer, z: FormList, d: FormList) -> None:
        """Keep the forms of the first layer."""
        if number > 1:
            return
        count, packing = self.packing.count, self.packing
        size, bits = (count + 1) * (len(z.centers) + len(d.centers)), packing.slot
        self.meter.pay(4 * size, bits)
        self.meter.hold(cells_of(size, bits))
        own = [packing.digits(x) for x in z.packed]
        self.firsts.append(FirstForms(z.centers, own, z.error))
        centers, others = list(d.centers), [packing.digits(x) for x in d.packed]
        for m, place in enumerate(layer.partners):
            if place >= 0:
                centers[m] += z.centers[place]
                others[m] = [x + y for x, y in zip(others[m], own[place], strict=True)]
        self.firsts.append(FirstForms(centers, others, z.error + d.error))

    def narrowed(self, which: int, number: int, index: int, ends: Interval) -> Interval:
        """The interval of a neuron; an open one of a later layer is bounded backwards."""
        if number == 1 or sign_of(ends):
            return ends
        found = list[int]()
        for side in (1, -1):
            weights = [0] * self.width(which, number)
            weights[index] = side << self.grid
            found.append(-(-self.descended(which, number, weights).bound(self.grid) >> self.grid))
        low, high = max(ends[0], -found[1]), min(ends[1], found[0])
        if low > high:
            raise EmptyNode
        return low, high

    def narrowed_pair(
        self, number: int, index: int, z: Interval, d: Interval, y: Interval
    ) -> Interval:
        """The interval of a neuron of g, which is the sum of its partner and the change."""
        low, high = max(y[0], z[0] + d[0]), min(y[1], z[1] + d[1])
        if low > high:
            raise EmptyNode
        return self.narrowed(1, number, index, (low, high))

    def width(self, which: int, number: int) -> int:
        """The number of neurons of a layer."""
        layer = self.layers[number - 1]
        return len(layer.partners) if which else len(layer.own.rows)

    def descended(self, which: int, number: int, weights: list[int]) -> Backward:
        """The bound of weights over 2^S of the preactivations of a layer of f or of g."""
        constant = 0
        for above in range(number, 1, -1):
            layer = self.layers[above - 1]
            rows, bias = (
                (layer.by_differences, layer.other_bias) if which else (layer.own, layer.bias)
            )
            is_exact = layer.is_other_bias_exact if which else layer.is_bias_exact
            is_exact = is_exact and not rows.rounded
            used = [(w, i) for i, w in enumerate(weights) if w]
            width = len(rows.rows[0])
            bits = max(longest([weights]), constant.bit_length())
            norm = max(rows.norm, max(map(abs, bias), default=0))
            self.meter.pay(len(used) * (width + 2) + 2 * width, bits, norm.bit_length())
            sums, total = [0] * width, 0
            for w, i in used:
                sums = [x + w * y for x, y in zip(sums, rows.rows[i], strict=True)]
                total += w * bias[i]
            slack = 0 if is_exact else -(-sum(w for w, _ in used if w > 0) >> self.grid)
            constant += slack - (-total >> self.grid)
            weights = [slack - (-x >> self.grid) for x in sums]
            weights, more = self.below_relu(which, above - 1, weights)
            constant += more
        return self.on_first(self.firsts[which], weights, constant)

    def below_relu(self, which: int, number: int, weights: Sequence[int]) -> tuple[list[int], int]:
        """Weights of preactivations above weights of activations, and what the constant grows."""
        known = self.pair_ends[number - 1] if which else []
        intervals = [y for _, _, y in known] if which else self.ends[number - 1]
        self.meter.pay(6 * len(weights), longest([weights]), longest(intervals))
        found, total = list[int](), 0
        for w, (low, high) in zip(weights, intervals, strict=True):
            sign = sign_of((low, high))
            if sign:
                found.append(w if sign > 0 else 0)
            elif w <= 0:
                found.append(w if high > -low else 0)
            else:
                found.append(w * slope_of((low, high)) >> SLOPE)
                total += max(-found[-1] * low, (w - found[-1]) * high)
        return found, -(-total >> self.grid)

    def on_first(self, first: FirstForms, weights: Sequence[int], constant: int) -> Backward:
        """The bound of weights of preactivations of the first layer."""
        used = [(w, i) for i, w in enumerate(weights) if w]
        width = len(first.coefficients[0])
        bits = max(longest([weights]), constant.bit_length())
        other = max(longest([first.centers]), longest(first.coefficients), first.error.bit_length())
        self.meter.pay((len(used) + 1) * (width + 4), bits, other)
        sums, center = [0] * width, 0
        for w, i in used:
            sums = [x + w * y for x, y in zip(sums, first.coefficients[i], strict=True)]
            center += w * first.centers[i]
        return Backward(constant, center, sums, first.error * sum(abs(w) for w, _ in used))

    def upper_bound(self, row: ClauseRow) -> Fraction:
        """The backward bound of a row."""
        grid, inputs, number = self.grid, self.inputs, len(self.layers)
        count = len(self.firsts[0].coefficients[0])
        constant = center = error = 0
        sums = [0] * count
        for which, listed in enumerate((row.f, row.g)):
            if not listed:
                continue
            weights = [0] * self.width(which, number)
            for i, w in listed:
                weights[i] = w << grid
            if self.layers[-1].is_hidden:
                weights, constant_of_relu = self.below_relu(which, number, weights)
                constant += constant_of_relu
            found = self.descended(which, number, weights)
            constant, center = constant + found.constant, center + found.center
            error += found.error
            sums = [x + y for x, y in zip(sums, found.coefficients, strict=True)]
        for j, w in row.x:
            center += w * inputs.centers[j] << grid
            error += abs(w) * inputs.error << grid
            for k, x in inputs.terms[j]:
                sums[k] += w * x << grid
        total = Backward(constant, center, sums, error).bound(grid)
        return Fraction(total, 1 << 2 * grid) + row.constant
