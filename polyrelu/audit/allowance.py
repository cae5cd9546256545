"""How far a claimed float may be from the exact number that it stands for.

A float in a claim is an exact dyadic number, and nearly always differs from the exact answer. So a
comparison needs a rule, which stands in the claim and in the report. By default a float stands for
an exact number if it is at most half a unit in the last place away, as the nearest float is. A tool
that rounds more often says how far its numbers may be off.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from polyrelu.errors import ArgumentError
from polyrelu.exact import FLOAT32, FLOAT64, FloatFormat, Rational, format_rational, to_fraction
from polyrelu.support.arguments import expect_choice

__all__ = ["EXACT", "NEAREST", "Allowance"]

_FORMATS: dict[str, FloatFormat] = {"float32": FLOAT32, "float64": FLOAT64}


@dataclass(frozen=True, slots=True, repr=False)
class Allowance:
    """The distance from an exact number at which a claimed number still stands for it.

    Attributes
    ----------
    ulps
        Number of units in the last place, at the exact number in the float format.
    absolute
        A further distance, whatever the size of the number.
    arithmetic
        The float format, ``float64`` or ``float32``.

    Examples
    --------
    >>> third = Fraction(1, 3)
    >>> Allowance().allows(Fraction(1 / 3), third), Allowance(ulps=0).allows(1 / 3, third)
    (True, False)
    >>> print(Allowance(absolute="1/1000"))
    within 1/2 unit in the last place (float64) and 1/1000
    """

    ulps: Rational = Fraction(1, 2)
    absolute: Rational = Fraction(0)
    arithmetic: str = "float64"

    def __post_init__(self) -> None:
        for name in ("ulps", "absolute"):
            number = to_fraction(getattr(self, name))
            if number < 0:
                raise ArgumentError(f"{name}: a distance is 0 or more, not {number}")
            object.__setattr__(self, name, number)
        expect_choice(self.arithmetic, _FORMATS, "arithmetic")

    @property
    def is_exact(self) -> bool:
        """Whether a number stands only for itself."""
        return not to_fraction(self.ulps) and not to_fraction(self.absolute)

    @property
    def allows_nearest(self) -> bool:
        """Whether the nearest float64 of a number always stands for it."""
        return self.arithmetic == "float64" and to_fraction(self.ulps) >= Fraction(1, 2)

    def bound(self, exact: Fraction) -> Fraction:
        """Return the greatest distance from an exact number that is allowed."""
        ulps, absolute = to_fraction(self.ulps), to_fraction(self.absolute)
        return absolute + ulps * _FORMATS[self.arithmetic].spacing(exact) if ulps else absolute

    def allows(self, claimed: Rational, exact: Fraction) -> bool:
        """Return whether a claimed number may stand for an exact one."""
        return abs(to_fraction(claimed) - exact) <= self.bound(exact)

    def __str__(self) -> str:
        if self.is_exact:
            return "equal"
        ulps, absolute = to_fraction(self.ulps), to_fraction(self.absolute)
        plural = "s" if ulps > 1 else ""
        units = f"{format_rational(ulps)} unit{plural} in the last place ({self.arithmetic})"
        parts = [units] * bool(ulps) + [format_rational(absolute)] * bool(absolute)
        return f"within {' and '.join(parts)}"

    def __repr__(self) -> str:
        return f"<Allowance, {self}>"


#: A number stands for the exact one if it is at most half a unit in the last place away.
NEAREST = Allowance()
#: A number stands only for itself.
EXACT = Allowance(ulps=0)
