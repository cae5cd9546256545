"""Bounds l ≤ x ≤ u of the columns, as integers over one denominator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact.floats import nearest_float

__all__ = ["ColumnBounds", "Side"]


class Side(IntEnum):
    """The place of a nonbasic column; its values -1, 0, 1 are the sign of its optimal multiplier.

    A pinned column has no bounds: it is held at 0 to make the basic solution unique, and the value
    0 is no constraint. A fixed column has equal bounds, and its multiplier may have any sign.
    """

    LOWER = -1
    PINNED = 0
    UPPER = 1
    FIXED = 2


class ColumnBounds:
    """Lower and upper bounds of all columns.

    Attributes
    ----------
    lower
        Numerator of each lower bound over `denominator`; None where there is no bound.
    upper
        Numerator of each upper bound, in the same way.
    denominator
        The common denominator of all bounds, which is long if the bounds have many different
        denominators. With one for all bounds, a point with many columns at bounds contains it once.
    """

    __slots__ = ("denominator", "lower", "upper")

    def __init__(self, lower: Sequence[Fraction | None], upper: Sequence[Fraction | None]) -> None:
        self.denominator = math.lcm(
            *(bound.denominator for bound in (*lower, *upper) if bound is not None)
        )
        self.lower = [self._numerator(bound) for bound in lower]
        self.upper = [self._numerator(bound) for bound in upper]

    def _numerator(self, bound: Fraction | None) -> int | None:
        """Return the numerator of a bound over the common denominator."""
        return None if bound is None else bound.numerator * (self.denominator // bound.denominator)

    def restrict(self, column: int, lower: int | None, upper: int | None) -> None:
        """Replace the bounds of one column by integers."""
        self.lower[column] = None if lower is None else lower * self.denominator
        self.upper[column] = None if upper is None else upper * self.denominator

    def is_zero(self, column: int) -> bool:
        """Return whether both bounds of a column are 0."""
        return self.lower[column] == self.upper[column] == 0

    def at(self, column: int, side: Side) -> int:
        """Return the numerator of the value of a column that is nonbasic on that side."""
        bound = self.lower[column] if side is Side.LOWER else self.upper[column]
        return 0 if side is Side.PINNED or bound is None else bound

    def side(self, column: int) -> Side:
        """Return a side of a nonbasic column: the lower bound, the upper bound, or pinned at 0."""
        lower, upper = self.lower[column], self.upper[column]
        if lower is not None:
            return Side.FIXED if lower == upper else Side.LOWER
        return Side.PINNED if upper is None else Side.UPPER

    def corrected(self, column: int, side: Side) -> Side:
        """Return a guessed side, or another one if the exact bounds do not have it.

        Rounding to floats can make different bounds equal, so that a guess is wrong about the
        sides.
        """
        lower, upper = self.lower[column], self.upper[column]
        if side is Side.UPPER and upper is not None and lower != upper:
            return Side.UPPER
        if side is Side.PINNED and lower is None and upper is None:
            return Side.PINNED
        return self.side(column)

    def to_floats(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return lower and upper bounds as floats, infinite where there is none, shapes (n,)."""
        return self._floats(self.lower, -np.inf), self._floats(self.upper, np.inf)

    def _floats(self, bounds: list[int | None], missing: float) -> NDArray[np.float64]:
        """Return the bounds as floats, with a value for missing ones."""
        return np.array(
            [missing if b is None else nearest_float(b, self.denominator) for b in bounds]
        )

    def has_bounds(self) -> bool:
        """Return whether a column other than the last, the slack variable t, has a bound."""
        return any(
            bound is not None for bounds in (self.lower, self.upper) for bound in bounds[:-1]
        )

    def middle(self, column: int, value: Fraction) -> Fraction:
        """Return a number strictly between the bounds of a column.

        It is the middle of two bounds; with one bound or none, it is `value`, moved to a distance
        of at least 1 from the bound.
        """
        lower, upper = self.lower[column], self.upper[column]
        if lower is not None and upper is not None:
            return Fraction(lower + upper, 2 * self.denominator)
        if lower is not None:
            return max(value, Fraction(lower, self.denominator) + 1)
        return value if upper is None else min(value, Fraction(upper, self.denominator) - 1)

    def is_strictly_inside(self, point: Sequence[Fraction]) -> bool:
        """Return whether every coordinate of a point lies strictly between its bounds."""
        return all(
            (lower is None or lower * x.denominator < x.numerator * self.denominator)
            and (upper is None or x.numerator * self.denominator < upper * x.denominator)
            for x, lower, upper in zip(point, self.lower, self.upper, strict=False)
        )

    def crossing(self) -> int | None:
        """Return a column whose lower bound exceeds its upper bound, or None."""
        pairs = enumerate(zip(self.lower, self.upper, strict=True))
        return next(
            (j for j, (low, up) in pairs if low is not None and up is not None and low > up), None
        )
