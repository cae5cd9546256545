"""A float runtime in exact arithmetic that takes every liberty the error model allows.

It uses nothing from the package. Each result is rounded to nearest, ties to even, from the exact
value. The runtime chooses at random: the order of a sum, how it is split into partial sums, fused
multiply-adds, and whether small numbers become 0.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

__all__ = ["PRECISION", "SMALL", "Runtime", "rounded"]

PRECISION = {"float32": (24, -149), "float64": (53, -1074)}
SMALL = {"float32": Fraction(1, 2**126), "float64": Fraction(1, 2**1022)}


def rounded(value: Fraction, format_: str) -> Fraction:
    """The nearest number of the format (without a limit above)."""
    precision, least = PRECISION[format_]
    if not value:
        return value
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - precision
    while abs(value) >= Fraction(2) ** (exponent + precision):
        exponent += 1
    while abs(value) < Fraction(2) ** (exponent + precision - 1):
        exponent -= 1
    step = Fraction(2) ** max(exponent, least)
    return round(value / step) * step


class Runtime:
    """One runtime with its own habits, drawn from a seed."""

    def __init__(self, format_: str, seed: int) -> None:
        self._format = format_
        self._chance = random.Random(seed)
        self._flushes = self._chance.random() < 0.5
        self._fuses = self._chance.random() < 0.5

    def _made(self, value: Fraction) -> Fraction:
        result = rounded(value, self._format)
        return Fraction(0) if self._flushes and abs(result) < SMALL[self._format] else result

    def layer(
        self, weights: Sequence[Sequence[Fraction]], bias: Sequence[Fraction], x: Sequence[Fraction]
    ) -> list[Fraction]:
        """W x + b as this runtime computes it."""
        return [self._row(row, b, x) for row, b in zip(weights, bias, strict=True)]

    def _row(self, row: Sequence[Fraction], bias: Fraction, x: Sequence[Fraction]) -> Fraction:
        terms = [(self._made(w), self._made(v)) for w, v in zip(row, x, strict=True)]
        self._chance.shuffle(terms)
        if self._chance.random() < 0.5:
            terms.sort(key=lambda term: abs(term[0] * term[1]))
        if self._chance.random() < 0.5:
            return self._made(self._tree(terms) + self._made(bias))
        total = self._made(bias)
        for w, v in terms:
            total = (
                self._made(total + w * v) if self._fuses else self._made(total + self._made(w * v))
            )
        return total

    def _tree(self, terms: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
        if not terms:
            return Fraction(0)
        if len(terms) == 1:
            return self._made(terms[0][0] * terms[0][1])
        middle = self._chance.randint(1, len(terms) - 1)
        return self._made(self._tree(terms[:middle]) + self._tree(terms[middle:]))

    def run(
        self,
        layers: Sequence[tuple[Sequence[Sequence[Fraction]], Sequence[Fraction]]],
        x: Sequence[Fraction],
    ) -> list[Fraction]:
        """A stack with ReLUs between, the last map affine."""
        values = list(x)
        for number, (weights, bias) in enumerate(layers, 1):
            values = self.layer(weights, bias, values)
            if number < len(layers):
                values = [max(self._made(v), Fraction(0)) for v in values]
        return values
