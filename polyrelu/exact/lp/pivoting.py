"""What the two exact simplex methods, `simplex` and `tableau`, have in common: their answers and their rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpz

from polyrelu.exact.lp.basis import BasisCoordinates, RationalVector
from polyrelu.exact.lp.bounds import Side

__all__ = ["PATIENCE", "ExactOptimum", "ExactRay", "Infeasibility", "Violation", "least_ratio"]

#: So many steps for each column without progress, and Bland's rule takes over. It ends every cycle, but from 200
#: near-duplicate rows in 50 columns it needs 3,000 pivots where the most violated row needs 400.
PATIENCE = 10


@dataclass(frozen=True, slots=True)
class ExactOptimum:
    """A feasible point and the objective's coordinates, all of the right sign."""

    point: RationalVector
    coordinates: BasisCoordinates


@dataclass(frozen=True, slots=True)
class ExactRay:
    """A feasible point and a direction that stays feasible and increases the objective."""

    point: RationalVector
    ray: RationalVector


@dataclass(frozen=True, slots=True)
class Violation:
    """A constraint that a point violates.

    Attributes
    ----------
    row : its number, or None if it is a bound.
    column, side : the bound otherwise.
    sign : -1 if the row is an equation whose left side is too small, else 1.
    """

    row: int | None
    column: int
    side: Side
    sign: int


@dataclass(frozen=True, slots=True)
class Infeasibility:
    """The violated constraint minus its coordinates in the active set is 0·x ≤ (something negative).

    Attributes
    ----------
    violation : the constraint.
    coordinates : of sign · normal.
    """

    violation: Violation
    coordinates: BasisCoordinates


def least_ratio(candidates: Sequence[tuple[int, int | fmpz, int | fmpz]]) -> int:
    """The position of the (index, p, q) with the least p / q, q > 0, and among these the least index.

    >>> least_ratio([(7, 1, 2), (3, 2, 4), (5, 1, 1)])
    1
    """
    position, (index, p, q) = 0, candidates[0]
    for other, (candidate, numerator, denominator) in enumerate(candidates):
        left, right = numerator * q, p * denominator
        if left < right or (left == right and candidate < index):
            position, index, p, q = other, candidate, numerator, denominator
    return position
