"""Bounds of an affine form on a set, and the slopes of affine bounds of max(h, 0)."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

__all__ = ["FormBounds", "RelaxationSlopes"]


class FormBounds(NamedTuple):
    """lower ≤ form ≤ upper on a polyhedron; None where nothing is known."""

    lower: Fraction | None = None
    upper: Fraction | None = None

    def scaled(self, factor: Fraction) -> FormBounds:
        """Bounds of factor · form, factor > 0."""
        return FormBounds(*(None if end is None else end * factor for end in self))


class RelaxationSlopes(NamedTuple):
    """The slopes of the two sides of a relaxed atom."""

    lower: Fraction
    upper: Fraction
