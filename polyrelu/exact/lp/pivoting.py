"""Exact results and pivoting rules that the two simplex methods, `simplex` and `tableau`, share.

The types `Exact…` are results in terms of the integer rows of a `Model` and of a basis.
`dual_certificates` translates them into `results`, which refer to the rows that the user gave:
an `ExactInfeasibility` becomes an `Infeasible`, for example.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpz

from polyrelu.exact.lp.basis import BasisCoordinates, RationalVector
from polyrelu.exact.lp.bounds import Side

__all__ = [
    "STALL_LIMIT",
    "ExactInfeasibility",
    "ExactOptimum",
    "ExactRay",
    "ViolatedBound",
    "ViolatedRow",
    "least_ratio",
]

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
        The objective's coordinates in the optimal basis, all of the sign that optimality requires.
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
class ViolatedRow:
    """A row that a point violates.

    Attributes
    ----------
    row
        Number of the row.
    sign
        1 if the left side is too large, -1 if the row is an equation whose left side is too small;
        sign · row is violated as an inequality ≤.
    """

    row: int
    sign: int


@dataclass(frozen=True, slots=True)
class ViolatedBound:
    """A bound of a column that a point violates.

    Attributes
    ----------
    column
        The column.
    side
        `Side.LOWER` or `Side.UPPER`; as an inequality ≤ the bound has the normal side · e_column.
    """

    column: int
    side: Side


@dataclass(frozen=True, slots=True)
class ExactInfeasibility:
    """A proof of infeasibility: a constraint minus a combination of the basis is 0·x ≤ γ, γ < 0.

    Attributes
    ----------
    violation
        The constraint, which the basic solution violates.
    coordinates
        The coordinates in the basis of the normal of the constraint, written as an inequality ≤.
    """

    violation: ViolatedRow | ViolatedBound
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
