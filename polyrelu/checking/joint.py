"""Forms on a node whose differences are narrowed backwards too, by both networks at once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from polyrelu.checking.backward import Backward, BackwardForms, sum_of_bounds
from polyrelu.checking.clauses import ClauseRow
from polyrelu.checking.forms import (
    FULL,
    SLOPE,
    FormList,
    Interval,
    SignCuts,
    decided_slopes,
    differences_at_corners,
    intersection,
    nonempty,
    sign_of,
    slope_of,
)
from polyrelu.checking.grid import GridLayer
from polyrelu.checking.meter import longest

# -- Joint bounds

#: A line P z + Q D + M over FULL.
Line = tuple[int, int, int]


class PairLines(NamedTuple):
    """Lines above and below the difference of a pair, the partner, and what roundings add."""

    above: Line
    below: Line
    place: int
    spare: int


class PairLayer(NamedTuple):
    """The lines of all pairs of a layer, the sum of the sizes of differences, and the bits."""

    lines: list[PairLines]
    sizes: int
    bits: int


def lower_slope(ends: Interval) -> int:
    """The slope of the better line through 0 below max(z, 0)."""
    sign = sign_of(ends)
    return FULL if sign > 0 or (sign == 0 and ends[1] > -ends[0]) else 0


def nearest_line(
    side: int,
    slopes: Sequence[tuple[int, int]],
    points: Sequence[tuple[int, int, int]],
    z: Interval,
    d: Interval,
) -> Line:
    """The line above (1) or below (-1) all points that is nearest in the middle."""
    found = list[Line]()
    for p, q in slopes:
        rest = [value - p * x - q * t for value, x, t in points]
        found.append((p, q, max(rest) if side > 0 else min(rest)))
    return min(found, key=lambda line: side * (line[0] * sum(z) + line[1] * sum(d) + 2 * line[2]))


def pair_lines(z: Interval, d: Interval, y: Interval, place: int) -> PairLines:
    """The lines of a pair."""
    if sign_of(z) and sign_of(y):
        line = (*decided_slopes(z, y), 0)
        return PairLines(line, line, place, 0)
    points, chord = differences_at_corners(z, d, y), slope_of(d)
    above = [(0, chord), (slope_of(y) - lower_slope(z), slope_of(y))]
    below = [(0, FULL - chord), (lower_slope(y) - slope_of(z), lower_slope(y))]
    lines = nearest_line(1, above, points, z, d), nearest_line(-1, below, points, z, d)
    return PairLines(*lines, place, max(z[1], 0) + max(d[1], 0))


def consistent(z: Interval, d: Interval, y: Interval) -> tuple[Interval, Interval]:
    """The intervals of D = y - z, and then of y = z + D, given all three."""
    d = nonempty(intersection(d, (y[0] - z[1], y[1] - z[0])))
    return d, nonempty(intersection(y, (z[0] + d[0], z[1] + d[1])))


class JointBackwardForms(BackwardForms):
    """The forms of a leaf `joint`: differences of open pairs get further bounds as well.

    `pairs_below` are the layers of ReLUs of both networks, `places` the partners in layer 1.
    """

    def see(self, number: int, layer: GridLayer, z: FormList, d: FormList) -> None:
        """Keep the forms of the first layer, and begin a list of layers."""
        super().see(number, layer, z, d)
        if number == 1:
            self.rows.add_changes()
            self.pairs_below = list[PairLayer]()
            self.places = layer.partners

    def activate(
        self, number: int, layer: GridLayer, z: FormList, d: FormList, cuts: SignCuts
    ) -> None:
        """The activations of a hidden layer, and their differences."""
        super().activate(number, layer, z, d, cuts)
        self.add_lines(layer)

    def add_lines(self, layer: GridLayer) -> None:
        """Find the lines of all pairs of a layer, from their intervals."""
        ends = self.pair_ends[-1]
        self.meter.units(8_000 * len(ends))
        lines = [
            pair_lines(*entry, place) for entry, place in zip(ends, layer.partners, strict=True)
        ]
        sizes = sum(max(-low, high) for _, (low, high), _ in ends)
        bits = longest([*line.above, *line.below, line.spare] for line in lines)
        self.pairs_below.append(PairLayer(lines, sizes, bits))

    def narrowed_change(
        self, number: int, index: int, z: Interval, d: Interval, y: Interval
    ) -> tuple[Interval, Interval]:
        """The intervals of the change, which is bounded backwards, and of a neuron of g."""
        if number > 1 and not (sign_of(z) and sign_of(y)):
            d = intersection(d, self.bounds_of_change(number, index))
        return consistent(z, d, y)

    def bounds_of_change(self, number: int, index: int) -> Interval:
        """The joint bounds of the difference of a neuron of g from its partner."""
        found = list[int]()
        for side in (1, -1):
            on_z = [0] * self.rows.width(0, number)
            on_d = [0] * self.rows.width(1, number)
            on_d[index] = side << self.grid
            bound = self.both_descended(number, on_z, on_d).bound(self.grid)
            found.append(-(-bound >> self.grid))
        return -found[1], found[0]

    def both_descended(self, number: int, on_z: Sequence[int], on_d: Sequence[int]) -> Backward:
        """The bound of weights over 2^S of the preactivations of f and of the differences."""
        constant = 0
        for above in range(number, 1, -1):
            sizes = self.pairs_below[above - 2].sizes
            on_a, on_change, more = self.rows.below_both(above, on_z, on_d, sizes, self.grid)
            constant += more
            on_z, on_d, more = self.below_pairs(above - 1, on_a, on_change)
            constant += more
        # D is Y - Z: a weight of D is a weight of Y, and is taken off the one of the partner.
        moved = list(on_z)
        for w, place in zip(on_d, self.places, strict=True):
            if place >= 0:
                moved[place] -= w
        one, two = self.descended(0, 1, moved), self.descended(1, 1, list(on_d))
        sums = [x + y for x, y in zip(one.coefficients, two.coefficients, strict=True)]
        own = self.firsts[0].error
        error = own * sum(map(abs, on_z)) + (self.firsts[1].error - own) * sum(map(abs, on_d))
        return Backward(constant, one.center + two.center, sums, error)

    def below_pairs(
        self, number: int, on_a: Sequence[int], on_change: Sequence[int]
    ) -> tuple[list[int], list[int], int]:
        """Weights of preactivations and of differences, and what the constant grows."""
        layer, total = self.pairs_below[number - 1], 0
        on_z, constant = self.below_relu(0, number, on_a)
        self.meter.units(6_000)
        self.meter.pay(4 * len(on_change), longest([on_change]), layer.bits)
        on_d = [0] * len(on_change)
        for m, (w, pair) in enumerate(zip(on_change, layer.lines, strict=True)):
            if w:
                p, q, r = pair.above if w > 0 else pair.below
                on_d[m] = w * q >> SLOPE
                total += pair.spare - (-w * r >> SLOPE)
                if pair.place >= 0:
                    on_z[pair.place] += w * p >> SLOPE
        return on_z, on_d, constant - (-total >> self.grid)

    def upper_bound(self, row: ClauseRow) -> Fraction:
        """The better one of the backward and of the joint bound of a row."""
        found, number, grid = super().upper_bound(row), len(self.rows.layers), self.grid
        if not self.places:  # one network has no differences
            return found
        on_d = [0] * self.rows.width(1, number)
        on_z = [0] * self.rows.width(0, number)
        for i, w in row.g:
            on_d[i] = w << grid
        for i, w in (*row.f, *row.g):
            on_z[i] += w << grid
        constant = 0
        if len(self.pairs_below) == number:
            on_z, on_d, constant = self.below_pairs(number, on_z, on_d)
        parts = self.both_descended(number, on_z, on_d), self.of_inputs(row)
        bound = (constant << grid) + sum_of_bounds(parts).bound(grid)
        return min(found, Fraction(bound, 1 << 2 * grid) + row.constant)
