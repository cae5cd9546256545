"""Refutations that replace two consecutive layers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from polyrelu.checking.arithmetic import Matrix, Row, common_denominator, primitive_plane
from polyrelu.checking.meter import (
    GROWN_BITS,
    Meter,
    cells_of,
    longest,
    require,
    well_formed,
)
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.refutations import Changed, changed_layers, refutation
from polyrelu.checking.theorems import Case

# ---- Refutations: replacement, bounded-replacement


@refutation("replacement", "theory/shallow.md", {"layer": int})
def replacement(case: Case) -> None:
    """The maps of layers l and l+1 agree on R^n or, behind a hidden layer, on the orthant.

    This is `bounded-replacement` on a larger box.
    """
    changed = changed_layers(case)
    check_maps(changed, largest_box(changed), case.meter)


@refutation("bounded-replacement", "theory/box.md", {"layer": int})
def bounded_replacement(case: Case) -> None:
    """The maps of layers l and l+1 agree on the box that interval arithmetic gives."""
    changed, inputs = changed_layers(case), box_of_inputs(case)
    box = image_box(case.network, inputs, changed.number - 1, case.meter)
    check_maps(changed, box, case.meter)


#: A lower or an upper end of an interval; None is infinite.
End = int | None


class Box(NamedTuple):
    """Lower and upper ends of coordinates, over one denominator."""

    lower: list[End]
    upper: list[End]
    denominator: int

    def bits(self) -> int:
        """The bits of the longest number."""
        return longest([[x or 0 for x in (*self.lower, *self.upper)], [self.denominator]])

    def supremum(self, row: Sequence[int], sign: int = 1) -> End:
        """The largest value of sign * row.(u, 1) on the box, times the denominator."""
        total = sign * row[-1] * self.denominator
        for w, low, high in zip(row[:-1], self.lower, self.upper, strict=True):
            if w:
                end = high if sign * w > 0 else low
                if end is None:
                    return None
                total += sign * w * end
        return total


def largest_box(changed: Changed) -> Box:
    """What layer l reads: R^n, or the orthant behind a hidden layer."""
    size = len(changed.lower.rows[0])
    return Box([None if changed.number == 1 else 0] * size, [None] * size, 1)


def box_of_inputs(case: Case) -> Box:
    """The box around the domain that its inequalities in one coordinate give."""
    sides, size = case.domain.sides, case.network.widths[0]
    scale = common_denominator([*sides.values()], "a common denominator of sides", case.meter)
    case.meter.pay_divisions(2 * len(sides), scale.bit_length(), scale.bit_length())
    lower, upper = (
        [
            None if (x := sides.get((j, is_lower))) is None else int(x * scale)
            for j in range(1, size + 1)
        ]
        for is_lower in (True, False)
    )
    pairs = zip(lower, upper, strict=True)
    consistent = all(low is None or high is None or low <= high for low, high in pairs)
    require(consistent, "a domain that is not empty", "sides that exclude each other")
    return Box(lower, upper, scale)


def image_box(network: Network, box: Box, depth: int, meter: Meter) -> Box:
    """A box that holds the activations of a hidden layer for all inputs in a box."""
    for layer in network.layers[:depth]:
        bits = box.bits() + layer.bits
        message = f"beyond the limits: a box with ends of more than {GROWN_BITS} bits"
        well_formed(bits <= GROWN_BITS, message)
        meter.pay(4 * len(layer.rows) * (len(box.lower) + 1), box.bits(), layer.bits)
        rows = layer.augmented()
        lowest, highest = ([box.supremum(row, sign) for row in rows] for sign in (-1, 1))
        box = Box(
            [max(-x, 0) if x is not None else 0 for x in lowest],
            [max(x, 0) if x is not None else None for x in highest],
            box.denominator * layer.denominator,
        )
    return box


def check_maps(changed: Changed, box: Box, meter: Meter) -> None:
    """The maps of layers l and l+1 of two networks agree on a box."""
    AbsoluteValueForm(changed, box, meter).check()


class AbsoluteValueForm:
    """The difference of two maps u -> V max(W u + b, 0) + c on a box, as a sum of |h|.

    Coordinates with equal ends are put in; over the others, which have an interior, `common` times
    the difference is a sum of terms[h, s] max(s h.(u, 1), 0), h as in `primitive_plane`, s a sign,
    plus an affine map: its constants, and in `linear` the rows of it that are not constant.
    """

    def __init__(self, changed: Changed, box: Box, meter: Meter) -> None:
        self.meter, self.terms = meter, dict[tuple[Row, int], list[int]]()
        self.linear = dict[int, list[int]]()
        ends = list(enumerate(zip(box.lower, box.upper, strict=True)))
        self.free = [k for k, (x, y) in ends if x is None or x != y]
        self.fixed = [(k, x) for k, (x, y) in ends if x is not None and x == y]
        lower, upper = ([side[k] for k in self.free] for side in (box.lower, box.upper))
        self.box, self.box_bits = Box(lower, upper, box.denominator), box.bits()
        self.constant = [0] * len(changed.upper.rows)
        pairs = ((changed.lower, changed.upper), changed.others)
        self.common = 1
        for first, second in pairs:
            product = first.denominator * second.denominator
            self.common = self.common * product // math.gcd(self.common, product)
        for sign, (first, second) in zip((1, -1), pairs, strict=True):
            self.add(sign * self.common // (first.denominator * second.denominator), first, second)

    def add(self, factor: int, lower: Layer, upper: Layer) -> None:
        """Add a multiple of one of the maps, times both denominators."""
        scale, num_outputs = self.box.denominator, len(upper.rows)
        self.meter.pay(2 * sum(map(len, lower.rows)), lower.bits, self.box_bits)
        columns = upper.columns()
        for row, column in zip(lower.augmented(), columns, strict=True):
            constant = row[-1] * scale + sum(row[k] * x for k, x in self.fixed)
            restricted = [*(row[k] * scale for k in self.free), constant]
            h, size = primitive_plane(restricted, self.meter)
            weight = factor * abs(size)
            self.meter.pay(2 * num_outputs, weight.bit_length(), longest([column]))
            key = h, -1 if size < 0 else 1
            old = self.terms.get(key) or [0] * num_outputs
            self.terms[key] = [x + weight * y for x, y in zip(old, column, strict=True)]
        for o, b in enumerate(upper.bias):
            self.constant[o] += 2 * factor * lower.denominator * scale * b

    def add_linear(self, factor: int, rows: Matrix) -> None:
        """Add a multiple of a linear map of all coordinates, times `common`."""
        scale, size = self.box.denominator, len(rows) * len(rows[0])
        bits = longest(rows) + factor.bit_length()
        self.meter.pay(4 * size, bits, self.box_bits)
        self.meter.hold(cells_of(size, bits + self.box_bits))
        for o, row in enumerate(rows):
            old = self.linear.get(o) or [0] * len(self.free)
            own = [2 * factor * scale * row[k] for k in self.free]
            self.linear[o] = [x + y for x, y in zip(old, own, strict=True)]
            self.constant[o] += 2 * factor * sum(row[k] * x for k, x in self.fixed)

    def check(self) -> None:
        """All coefficients of |h| are zero, and so is the affine rest."""
        left = {key: value for key, value in self.terms.items() if any(value)}
        bits = longest([*left.values(), [self.common]])
        size = len(left) * (len(self.free) + 1)
        self.meter.pay(2 * size, self.box_bits, longest(h for h, _ in left))
        self.meter.pay(size * len(self.constant), bits, longest(h for h, _ in left))
        slopes = {
            (h, sign): self.twice_the_slope(h, sign, coefficient, left)
            for (h, sign), coefficient in left.items()
        }
        for o, constant in enumerate(self.constant):
            affine = [*self.linear.get(o, []), constant]
            for (h, sign), slope in slopes.items():
                if c := slope * left[h, sign][o]:
                    affine = affine if len(affine) == len(h) else [*([0] * (len(h) - 1)), constant]
                    affine = [x + c * y for x, y in zip(affine, h, strict=True)]
            require(not any(affine), "equal affine parts", "different ones")

    def twice_the_slope(
        self, h: Row, sign: int, coefficient: list[int], left: Mapping[tuple[Row, int], list[int]]
    ) -> int:
        """The factor of h in twice the affine part of max(t, 0), t = sign h.(u, 1) on the box.

        2 max(t, 0) is |t| + t where t changes its sign, 2t where t >= 0, and 0 where t <= 0.
        """
        highest, lowest = self.box.supremum(h), self.box.supremum(h, -1)
        is_positive = highest is None or highest > 0
        is_negative = lowest is None or lowest > 0
        if is_positive and is_negative:
            opposite = left.get((h, -sign), [])
            cancels = [-x for x in coefficient] == opposite
            require(cancels, "equal coefficients of |h|", "different ones")
            return sign
        is_active = is_positive if sign > 0 else is_negative
        return 2 * sign if is_active else 0
