"""Forms on a node, with intervals that are narrowed backwards, from later layers to the first."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from polyrelu.checking.clauses import ClauseRow
from polyrelu.checking.forms import (
    SLOPE,
    SPARE_BITS,
    FormList,
    InputForms,
    Interval,
    JointForms,
    SignCuts,
    intersection,
    nonempty,
    sign_of,
    slope_of,
)
from polyrelu.checking.grid import GridLayer
from polyrelu.checking.meter import GROWN_BITS, Meter, cells_of, longest, well_formed
from polyrelu.checking.packing import Packing

# -- Backward bounds


class BackwardRows:
    """The rows of all layers of f and of g, each with its bias, packed for sums of their multiples.

    They are packed when they are needed; `held` are the cells of memory that they take then. The
    rows of Delta are among them once joint bounds need them.
    """

    def __init__(self, layers: Sequence[GridLayer], meter: Meter) -> None:
        self.layers, self.meter, self.held = layers, meter, 0
        self.bits = self.slot = 0
        self.kinds: tuple[int, ...] = (0, 1)
        self.packed = list[list[list[int]]]()
        self.packings = list[list[Packing]]()

    def width(self, which: int, number: int) -> int:
        """The number of neurons of a layer of f or of g."""
        layer = self.layers[number - 1]
        return len(layer.partners if which else layer.own.rows)

    def add_changes(self) -> None:
        """Pack the rows of Delta too, from the next sum on."""
        if self.kinds == (0, 1):
            self.kinds, self.slot = (0, 1, 2), 0

    def make_room(self, bits: int) -> None:
        """Make the slots long enough for sums of multiples by numbers of these bits."""
        if self.slot and bits + self.bits <= self.slot:
            return
        rows = [[rows_and_biases(layer, which) for layer in self.layers] for which in self.kinds]
        parts = [part for network in rows for part in network if part]
        self.bits = max(longest(part) + len(part).bit_length() for part in parts) + 2
        message = f"beyond the limits: numbers of more than {GROWN_BITS} bits"
        well_formed(bits + self.bits <= GROWN_BITS, message)
        self.slot = bits + self.bits + SPARE_BITS + 7 & ~7
        size = sum(len(part) * len(part[0]) for part in parts)
        self.meter.pay(4 * size, self.slot)
        self.meter.hold(cells_of(size, self.slot) - self.held)
        self.held = cells_of(size, self.slot)
        self.packings = [[Packing(self.slot, len(x[0])) for x in part if x] for part in rows]
        self.packed = [
            [
                list(map(packing.pack, part))
                for packing, part in zip(packings, network, strict=False)
            ]
            for packings, network in zip(self.packings, rows, strict=True)
        ]

    def below(
        self, which: int, number: int, weights: Sequence[int], grid: int
    ) -> tuple[list[int], int]:
        """Weights of the activations below a layer, and what its biases add to the constant."""
        bits, layer = longest([weights]), self.layers[number - 1]
        self.make_room(bits)
        packed, packing = self.packed[which][number - 1], self.packings[which][number - 1]
        used = [(w, row) for w, row in zip(weights, packed, strict=True) if w]
        self.meter.units(8_000)
        self.meter.pay(len(used), self.slot * packing.count, bits)
        self.meter.pay(4 * packing.count + len(weights), self.slot)
        total, slack = -sum([w * row for w, row in used]), 0
        if not (layer.is_other_exact if which else layer.is_own_exact):
            slack = -(-sum([w for w, _ in used if w > 0]) >> grid)
        found = [slack - x for x in packing.digits(packing.floored(total, grid))]
        return found[:-1], found[-1]

    def below_both(
        self, number: int, on_z: Sequence[int], on_d: Sequence[int], sizes: int, grid: int
    ) -> tuple[list[int], list[int], int]:
        """Weights of activations of f and of differences below a layer, and the constant.

        They are made of weights of preactivations of f and of differences; `sizes` is the sum of
        the sizes of the differences below.
        """
        bits = longest([on_z, on_d])
        self.make_room(bits)
        packing, other = self.packings[0][number - 1], self.packings[1][number - 1]
        tables = (on_z, self.packed[0]), (on_d, self.packed[2]), (on_d, self.packed[1])
        parts = [
            [(w, row) for w, row in zip(weights, table[number - 1], strict=True) if w]
            for weights, table in tables
        ]
        self.meter.units(16_000)
        self.meter.pay(len(parts[0]) + len(parts[1]), self.slot * packing.count, bits)
        self.meter.pay(len(parts[2]), self.slot * other.count, bits)
        self.meter.pay(4 * (packing.count + other.count) + len(on_z) + len(on_d), self.slot)
        total = -sum([w * row for part in parts[:2] for w, row in part])
        slack = -(-sum([w for w in (*on_z, *on_d) if w > 0]) >> grid)
        found = [slack - x for x in packing.digits(packing.floored(total, grid))]
        total = -sum([w * row for w, row in parts[2]])
        others = [-x for x in other.digits(other.floored(total, grid))][:-1]
        rest = 1 - (-sum(map(abs, on_d)) >> grid)
        return found[:-1], others, found[-1] - (-rest * sizes >> grid)


def rows_and_biases(layer: GridLayer, which: int) -> list[list[int]]:
    """The rows of a layer of f, of g, or of Delta, each with its bias or its delta."""
    rows, bias = (
        (layer.own, layer.bias),
        (layer.by_differences, layer.other_bias),
        (layer.by_values, layer.shift),
    )[which]
    return [[*row, b] for row, b in zip(rows.rows, bias, strict=True)]


class FirstForms(NamedTuple):
    """The preactivations of layer 1 of f or of g: centers, coefficients, one error, their bits."""

    centers: list[int]
    coefficients: list[list[int]]
    error: int
    bits: int


class OpenNeuron(NamedTuple):
    """An open neuron: its index, its interval, the slope of its chord, the slope below it."""

    place: int
    low: int
    high: int
    slope: int
    lower: int


class ReluLayer(NamedTuple):
    """A layer of ReLUs: 1 for neurons with the sign 1, the open ones, the bits of intervals."""

    on: list[int]
    open: list[OpenNeuron]
    bits: int


def relu_layer(intervals: Sequence[Interval]) -> ReluLayer:
    """The layer of ReLUs with these intervals."""
    found = [
        OpenNeuron(i, *ends, slope_of(ends), int(ends[1] > -ends[0]))
        for i, ends in enumerate(intervals)
        if not sign_of(ends)
    ]
    on = [int(sign_of(ends) > 0) for ends in intervals]
    return ReluLayer(on, found, longest([x.low, x.high] for x in found))


class Backward(NamedTuple):
    """An upper bound over 2^(2S): a constant over 2^S, center and coefficients, and an error."""

    constant: int
    center: int
    coefficients: list[int]
    error: int

    def bound(self, grid: int) -> int:
        """The bound."""
        return (self.constant << grid) + self.center + sum(map(abs, self.coefficients)) + self.error


def sum_of_bounds(parts: Sequence[Backward]) -> Backward:
    """The sum of bounds; a constant has no coefficients."""
    rows = [part.coefficients for part in parts if part.coefficients]
    return Backward(
        sum(part.constant for part in parts),
        sum(part.center for part in parts),
        [sum(column) for column in zip(*rows, strict=True)],
        sum(part.error for part in parts),
    )


class BackwardForms(JointForms):
    """The forms of a leaf `backward`: open neurons get further bounds, layer by layer.

    `firsts` are the forms of layer 1 of f and of g, `relus` the layers of their ReLUs.
    """

    def __init__(
        self, inputs: InputForms, count: int, grid: int, slot: int, rows: BackwardRows
    ) -> None:
        super().__init__(inputs, count, grid, slot, rows.meter)
        self.rows, self.firsts = rows, list[FirstForms]()
        self.relus: tuple[list[ReluLayer], list[ReluLayer]] = ([], [])

    def see(self, number: int, layer: GridLayer, z: FormList, d: FormList) -> None:
        """Keep the forms of the first layer."""
        if number > 1:
            return
        packing, slot = self.packing, self.packing.slot
        size = (packing.count + 1) * (len(z.centers) + len(d.centers))
        self.meter.pay(4 * size, slot)
        self.meter.hold(cells_of(size, slot))
        own, centers = [packing.digits(x) for x in z.packed], list(d.centers)
        others = [packing.digits(x) for x in d.packed]
        for m, place in enumerate(layer.partners):
            if place >= 0:
                centers[m] += z.centers[place]
                others[m] = [x + y for x, y in zip(others[m], own[place], strict=True)]
        for listed, rows, error in (
            (z.centers, own, z.error),
            (centers, others, z.error + d.error),
        ):
            bits = max(longest([listed]), longest(rows), error.bit_length())
            self.firsts.append(FirstForms(listed, rows, error, bits))

    def activate(
        self, number: int, layer: GridLayer, z: FormList, d: FormList, cuts: SignCuts
    ) -> None:
        """The activations of a hidden layer, and their differences."""
        super().activate(number, layer, z, d, cuts)
        self.relus[0].append(relu_layer(self.ends[-1]))
        self.relus[1].append(relu_layer([y for _, _, y in self.pair_ends[-1]]))

    def narrowed(self, which: int, number: int, index: int, ends: Interval) -> Interval:
        """The interval of a neuron; an open one of a later layer is bounded backwards."""
        if number == 1 or sign_of(ends):
            return ends
        return nonempty(intersection(ends, self.bounds(which, number, index)))

    def bounds(self, which: int, number: int, index: int) -> Interval:
        """The backward bounds of a neuron."""
        found = list[int]()
        for side in (1, -1):
            weights = [0] * self.rows.width(which, number)
            weights[index] = side << self.grid
            found.append(-(-self.descended(which, number, weights).bound(self.grid) >> self.grid))
        return -found[1], found[0]

    def narrowed_pair(
        self, number: int, index: int, z: Interval, d: Interval, y: Interval
    ) -> Interval:
        """The interval of a neuron of g, which is the sum of its partner and the change."""
        ends = nonempty(intersection(y, (z[0] + d[0], z[1] + d[1])))
        return self.narrowed(1, number, index, ends)

    def descended(self, which: int, number: int, weights: list[int]) -> Backward:
        """The bound of weights over 2^S of the preactivations of a layer of f or of g."""
        constant = 0
        for above in range(number, 1, -1):
            weights, added = self.rows.below(which, above, weights, self.grid)
            weights, more = self.below_relu(which, above - 1, weights)
            constant += added + more
        first = self.firsts[which]
        used = [(w, i) for i, w in enumerate(weights) if w]
        width = len(first.coefficients[0])
        self.meter.units(8_000)
        self.meter.pay((len(used) + 1) * (width + 4), longest([weights]), first.bits)
        sums, center = [0] * width, 0
        for w, i in used:
            sums = [x + w * y for x, y in zip(sums, first.coefficients[i], strict=True)]
            center += w * first.centers[i]
        return Backward(constant, center, sums, first.error * sum(abs(w) for w, _ in used))

    def below_relu(self, which: int, number: int, weights: Sequence[int]) -> tuple[list[int], int]:
        """Weights of preactivations above weights of activations, and what the constant grows."""
        layer, total = self.relus[which][number - 1], 0
        self.meter.units(6_000)
        self.meter.pay(len(weights) + 8 * len(layer.open), longest([weights]), layer.bits)
        found = [w if on else 0 for w, on in zip(weights, layer.on, strict=True)]
        for i, low, high, slope, lower in layer.open:
            w = weights[i]
            if w <= 0:
                found[i] = w * lower
                continue
            found[i] = w * slope >> SLOPE
            total += max(-found[i] * low, (w - found[i]) * high)
        return found, -(-total >> self.grid)

    def upper_bound(self, row: ClauseRow) -> Fraction:
        """The backward bound of a row."""
        grid, number, parts = self.grid, len(self.rows.layers), [self.of_inputs(row)]
        for which, listed in enumerate((row.f, row.g)):
            if not listed:
                continue
            weights = [0] * self.rows.width(which, number)
            for i, w in listed:
                weights[i] = w << grid
            if len(self.relus[which]) == number:
                weights, more = self.below_relu(which, number, weights)
                parts.append(Backward(more, 0, [], 0))
            parts.append(self.descended(which, number, weights))
        return Fraction(sum_of_bounds(parts).bound(grid), 1 << 2 * grid) + row.constant

    def of_inputs(self, row: ClauseRow) -> Backward:
        """What the inputs of a row add to its bound."""
        grid, inputs = self.grid, self.inputs
        size = len(row.f) + len(row.g) + sum(1 + len(inputs.terms[j]) for j, _ in row.x)
        bits = longest([w for _, w in part] for part in (row.f, row.g, row.x))
        self.meter.pay(4 * size + 30, 2 * grid, bits)
        sums, center, error = [0] * len(self.firsts[0].coefficients[0]), 0, 0
        for j, w in row.x:
            center += w * inputs.centers[j] << grid
            error += abs(w) * inputs.error << grid
            for k, x in inputs.terms[j]:
                sums[k] += w * x << grid
        return Backward(0, center, sums, error)
