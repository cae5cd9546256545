"""Bounds of an affine form on a set, and the slopes of affine bounds of max(h, 0).

Several rooms of provers exchange these two types; the computation of the bounds is theirs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

__all__ = [
    "SETTINGS",
    "FormBounds",
    "RelaxationSettings",
    "RelaxationSlopes",
    "relaxation_slopes",
    "rounded_down",
]


@dataclass(frozen=True, slots=True)
class RelaxationSettings:
    """The constants of relaxations; any slopes in [0, 1] are valid.

    Attributes
    ----------
    slope_steps
        Denominator of the slopes: they are multiples of its inverse, to keep exact numbers short.
    """

    slope_steps: int = 16


#: The settings of every relaxation.
SETTINGS = RelaxationSettings()


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


def relaxation_slopes(bounds: FormBounds, flat: bool = False) -> RelaxationSlopes:
    """Return slopes for max(h, 0) for a form h between bounds, of which some may be unknown.

    The lower slope is 0 or 1, whichever cuts off the smaller triangle; with `flat` it is 0 where h
    may have both signs. The upper slope is near the slope of the chord.

    >>> relaxation_slopes(FormBounds(Fraction(-1), Fraction(3)))
    RelaxationSlopes(lower=Fraction(1, 1), upper=Fraction(3, 4))
    """
    lower, upper = bounds
    if lower is not None and lower >= 0:
        return RelaxationSlopes(Fraction(1), Fraction(1))
    if lower is None or (upper is not None and upper <= 0):
        return RelaxationSlopes(Fraction(0), Fraction(0))
    if upper is None:
        return RelaxationSlopes(Fraction(not flat), Fraction(1))
    steps = SETTINGS.slope_steps
    chord = Fraction(round(steps * upper / (upper - lower)), steps)
    return RelaxationSlopes(Fraction(upper > -lower and not flat), chord)


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
