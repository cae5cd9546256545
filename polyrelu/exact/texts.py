"""Short texts of exact numbers and points, for the lines that stand for objects."""

from __future__ import annotations

from fractions import Fraction

from polyrelu.errors import NetworkError
from polyrelu.exact.rational import format_rational
from polyrelu.support.display import shortened
from polyrelu.support.typing import Point

__all__ = ["number_text", "point_text"]

#: Maximum number of coordinates that are shown.
_SHOWN = 6


def number_text(number: Fraction) -> str:
    """Return a number; the middle of a long one is left out.

    >>> number_text(Fraction(10**40, 3))
    '1000000000…00000000/3'
    """
    try:
        return shortened(format_rational(number), 21)
    except NetworkError:  # more digits than files hold
        return "…"


def point_text(point: Point) -> str:
    """Return the coordinates of a point; the last of many are left out.

    >>> point_text((Fraction(1, 2), Fraction(0)))
    '(1/2, 0)'
    """
    more = ["…"] if len(point) > _SHOWN else []
    return f"({', '.join([*map(number_text, point[:_SHOWN]), *more])})"
