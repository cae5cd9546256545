"""Bounds of an affine form on a set, and the slopes of affine bounds of max(h, 0).

Several rooms of provers exchange these two types; the computation of the bounds is theirs.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

__all__ = ["FormBounds", "RelaxationSlopes", "rounded_down"]


class FormBounds(NamedTuple):
    """Bounds lower ≤ form ≤ upper on a polyhedron.

    Attributes
    ----------
    lower
        A lower bound; None if none is known.
    upper
        An upper bound; None if none is known.
    """

    lower: Fraction | None = None
    upper: Fraction | None = None

    def scaled(self, factor: Fraction) -> FormBounds:
        """Return the bounds of factor · form for a factor > 0."""
        return FormBounds(*(None if end is None else end * factor for end in self))


class RelaxationSlopes(NamedTuple):
    """The slopes of an affine lower and an affine upper bound of max(h, 0).

    Attributes
    ----------
    lower
        Slope of the lower bound in h.
    upper
        Slope of the upper bound in h.
    """

    lower: Fraction
    upper: Fraction


def rounded_down(value: Fraction, bits: int) -> Fraction:
    """Return a number with about `bits` significant bits that is not above `value`.

    It has the same sign as `value`.

    >>> rounded_down(Fraction(-1, 3), 4), rounded_down(Fraction(1, 3), 4)
    (Fraction(-11, 32), Fraction(5, 16))
    """
    if not value:
        return value
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - bits
    step = Fraction(2) ** exponent
    return math.floor(value / step) * step
