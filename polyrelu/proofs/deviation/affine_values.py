"""Values of affine functions of the coordinates, given as rows in (1, y): the constant is first."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["largest_value", "value_at"]


def value_at(row: Sequence[Fraction], point: Sequence[Fraction]) -> Fraction:
    """Return the value at a point.

    >>> value_at([Fraction(1), Fraction(2), Fraction(-3)], [Fraction(1), Fraction(1, 2)])
    Fraction(3, 2)
    """
    return row[0] + sum((a * y for a, y in zip(row[1:], point, strict=True)), Fraction(0))


def largest_value(
    row: Sequence[Fraction], lower: Sequence[Fraction], upper: Sequence[Fraction]
) -> Fraction:
    """Return the largest value over a box: each coordinate is at the end that its sign asks for.

    >>> lower, upper = [Fraction(0), Fraction(0)], [Fraction(1), Fraction(1)]
    >>> largest_value([Fraction(1), Fraction(2), Fraction(-3)], lower, upper)
    Fraction(3, 1)
    """
    ends = zip(row[1:], lower, upper, strict=True)
    return row[0] + sum((a * (high if a > 0 else low) for a, low, high in ends), Fraction(0))
