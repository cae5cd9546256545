"""Bounds of an affine form on a set, and the slopes of affine bounds of max(h, 0).

Several rooms exchange these two types; they compute the bounds themselves.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

__all__ = ["FormBounds", "RelaxationSlopes"]


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
