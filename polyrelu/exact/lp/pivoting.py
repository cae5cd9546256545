"""Exact results and pivoting rules that the two simplex methods, `simplex` and `tableau`, share.

The results refer to the integer rows of a `Model`; `dual_certificates` translates them for users.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpz

from polyrelu.exact.lp.basis import BasisCoordinates, RationalVector
from polyrelu.exact.lp.bounds import Side

__all__ = ["STALL_LIMIT", "ExactOptimum", "ExactRay", "Infeasibility", "Violation", "least_ratio"]

#: Number of consecutive pivots without progress, for each column, after which Bland's rule chooses
#: the pivots. It ends every cycle, but is slow: on 200 near-duplicate rows in 50 columns it needs
#: 3,000 pivots where the rule of the most violated row needs 400.
STALL_LIMIT = 10


@dataclass(frozen=True, slots=True)
class ExactOptimum:
    """An optimum: a feasible point and dual feasible multipliers.

    Attributes
    ----------
    point
        The values of x and t.
    coordinates
        The objective's coordinates in the optimal basis, all of the required sign.
    """

    point: RationalVector
    coordinates: BasisCoordinates


@dataclass(frozen=True, slots=True)
class ExactRay:
    """A proof that the objective is unbounded.

    Attributes
    ----------
    point
        A feasible point.
    ray
        A direction that stays feasible and increases the objective.
    """

    point: RationalVector
    ray: RationalVector


@dataclass(frozen=True, slots=True)
class Violation:
    """A constraint that a point violates: a row or a bound.

    Attributes
    ----------
    row
        Number of the row; None for a bound.
    column
        Column of the bound.
    side
        Side of the bound.
    sign
        -1 if the row is an equation whose left side is too small, else 1.
    """

    row: int | None
    column: int
    side: Side
    sign: int


@dataclass(frozen=True, slots=True)
class Infeasibility:
    """A proof of infeasibility: a constraint minus a combination of the basis is 0·x ≤ γ, γ < 0.

    Attributes
    ----------
    violation
        The violated constraint.
    coordinates
        The coordinates of sign · (normal of the constraint) in the basis.
    """

    violation: Violation
    coordinates: BasisCoordinates


def least_ratio(candidates: Sequence[tuple[int, int | fmpz, int | fmpz]]) -> int:
    """Return the position of the candidate (index, p, q) with the least ratio p / q, q > 0.

    Among candidates of equal ratio, the least index wins, as Bland's rule needs.

    >>> least_ratio([(7, 1, 2), (3, 2, 4), (5, 1, 1)])
    1
    """
    position, (index, p, q) = 0, candidates[0]
    for other, (candidate, numerator, denominator) in enumerate(candidates):
        left, right = numerator * q, p * denominator
        if left < right or (left == right and candidate < index):
            position, index, p, q = other, candidate, numerator, denominator
    return position
