"""Bounds of rounding errors of a float runtime, claim runtime-error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from polyrelu.checking.meter import Meter, longest, quote, require
from polyrelu.checking.networks import Layer
from polyrelu.checking.text import rational, rationals
from polyrelu.checking.theorems import Case, theorem

# ==== 3.7 Rounding errors: theorem rounding ====

#: Numbers are integers over 2^GRID, rounded outwards.
GRID = 1_200


class Arithmetic(NamedTuple):
    """A float format: precision p, the exponent of t = 2^-exponent, and the largest number."""

    precision: int
    tiny_exponent: int
    largest: int

    def tiny(self) -> int:
        """What may be lost where a runtime takes small numbers for 0."""
        return 1 << GRID - self.tiny_exponent


ARITHMETICS = {
    "float32": Arithmetic(24, 126, (2**24 - 1) << 104),
    "float64": Arithmetic(53, 1_000, (2**53 - 1) << 971),
}


class Bounds(NamedTuple):
    """Intervals of exact activations, and bounds on the errors of a runtime."""

    low: list[int]
    high: list[int]
    errors: list[int]


@theorem(
    "rounding",
    kind="runtime-error",
    page="theory/rounding.md",
    evidence={"bound": {}},
    says={"bound": "the bound follows layer by layer from the weights and the box"},
)
def rounding(case: Case) -> None:
    """Intervals for the exact activations and bounds on the errors, layer by layer."""
    network, arithmetic = case.network, ARITHMETICS[case.claim["arithmetic"]]
    limits = case.claim["at-most"]
    corners = check_box(case)
    bounds = Bounds(
        [math.floor(x * 2**GRID) for x in corners[0]],
        [math.ceil(x * 2**GRID) for x in corners[1]],
        [arithmetic.tiny()] * network.widths[0],
    )
    case.hypothesis("bound")
    for number, layer in enumerate(network.layers, 1):
        bounds = after_layer(layer, bounds, arithmetic, case.meter)
        if number <= network.num_hidden_layers():
            bounds = after_relu(bounds, arithmetic.tiny())
    for i, (error, text) in enumerate(zip(bounds.errors, limits, strict=True)):
        limit = rational(text, case.meter)
        fits = error * limit.denominator <= limit.numerator << GRID
        require(fits, f"an error of at most at-most[{i}]", f"above {quote(text)}")


def check_box(case: Case) -> list[list[Fraction]]:
    """The corners of the box of the claim."""
    case.meter.step, network = "claim", case.network
    corners = [rationals(case.claim["domain"][side], case.meter) for side in ("lower", "upper")]
    inputs, outputs = network.widths[0], network.widths[-1]
    for corner in corners:
        require(len(corner) == inputs, f"corners of {inputs} numbers", str(len(corner)))
    count = len(case.claim["at-most"])
    require(count == outputs, f"{outputs} bounds", str(count))
    for low, high in zip(*corners, strict=True):
        require(low <= high, "lower <= upper")
    return corners


def after_layer(layer: Layer, bounds: Bounds, arithmetic: Arithmetic, meter: Meter) -> Bounds:
    """Intervals and errors of the preactivations of a layer."""
    own = layer.bits
    meter.pay(5 * len(layer.rows) * (len(bounds.low) + 20), own, GRID + longest(bounds))
    found = Bounds([], [], [])
    for row, b in zip(layer.rows, layer.bias, strict=True):
        sums = Sums(row, b, bounds)
        error = sums.error(layer.denominator, arithmetic)
        found.low.append(sums.bottom // layer.denominator)
        found.high.append(-(-sums.top // layer.denominator))
        found.errors.append(-(-error // layer.denominator))
    return found


class Sums:
    """The sums of one row over its nonzero weights, times 2^GRID and the denominator."""

    def __init__(self, row: Sequence[int], bias: int, bounds: Bounds) -> None:
        used = [
            (w, bounds.low[j], bounds.high[j], bounds.errors[j]) for j, w in enumerate(row) if w
        ]
        offset = bias << GRID
        self.num_terms = len(used)
        self.bottom = sum(w * (low if w > 0 else high) for w, low, high, _ in used) + offset
        self.top = sum(w * (high if w > 0 else low) for w, low, high, _ in used) + offset
        sizes = [max(-low, high) + error for _, low, high, error in used]
        self.reach = max(sizes, default=0)
        weights = [abs(w) for w, _, _, _ in used]
        self.size = sum(w * r for w, r in zip(weights, sizes, strict=True)) + abs(offset)
        self.largest = max(self.size, max(weights, default=0) << GRID)
        self.carried = sum(w * entry[3] for w, entry in zip(weights, used, strict=True))

    def error(self, denominator: int, arithmetic: Arithmetic) -> int:
        """A bound on what any order of float operations adds; nothing overflows."""
        precision, k = arithmetic.precision, self.num_terms + 2
        require(4 * k < 2**precision, "fewer than 2^(p-2) terms in a sum", str(k))
        room = 2**precision - k
        fits = (self.largest << precision) < arithmetic.largest * denominator * room << GRID
        fact = "weights and sums below the largest number of the format"
        require(fits, fact, "a possible overflow")
        rounded: int = -(-self.size * k // room)
        lost = -(-3 * k * ((1 << GRID) + self.reach) >> arithmetic.tiny_exponent)
        added = self.carried + rounded + denominator * lost
        return int(added)


def after_relu(bounds: Bounds, tiny: int) -> Bounds:
    """Intervals and errors after the ReLU.

    Where the exact value is at most 0, the float one exceeds it by at most high + error.
    """
    errors = list[int]()
    for high, error in zip(bounds.high, bounds.errors, strict=True):
        errors.append(tiny + (min(error, max(high + error, 0)) if high <= 0 else error))
    low, high_ends = ([max(x, 0) for x in side] for side in (bounds.low, bounds.high))
    return Bounds(low, high_ends, errors)
