"""What a linear program can answer, each answer with the numbers that prove it.

Throughout, the constraints are A x ≤ c (inequality rows), E x = e (equation rows) and l ≤ x ≤ u. All rows are numbered
together in the order in which they were given. *The equations* are the equation rows and the columns with l_j = u_j; an
inequality or a bound is *constant on them* if its left side is the same for all their solutions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from polyrelu.support.typing import Point

__all__ = ["FlatSet", "Infeasible", "InteriorPoint", "Multipliers", "Optimal", "Point", "Unbounded"]


@dataclass(frozen=True, slots=True)
class Multipliers:
    """Numbers to multiply the constraints with before adding them up; those not listed are 0.

    Attributes
    ----------
    rows : row number → multiplier; nonnegative on inequalities, of any sign on equations.
    upper, lower : column → multiplier of x_j ≤ u_j and of -x_j ≤ -l_j; nonnegative.

    Adding up gives a consequence g·x ≤ γ of the constraints, with g = Σ rows_i a_i + Σ upper_j e_j - Σ lower_j e_j and
    γ = Σ rows_i c_i + Σ upper_j u_j - Σ lower_j l_j.
    """

    rows: Mapping[int, Fraction] = field(default_factory=dict)
    upper: Mapping[int, Fraction] = field(default_factory=dict)
    lower: Mapping[int, Fraction] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Optimal:
    """The optimum is `value`, attained at `point`.

    `multipliers` add up to objective·x ≤ value, or to -objective·x ≤ -value after `minimize`.
    """

    value: Fraction
    point: Point
    multipliers: Multipliers


@dataclass(frozen=True, slots=True)
class Unbounded:
    """`point` + s·`ray` is feasible for every s ≥ 0, and the objective improves along `ray` without end."""

    point: Point
    ray: Point


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No point satisfies the constraints: `multipliers` (integers) add up to 0·x ≤ γ with γ < 0 (Farkas)."""

    multipliers: Multipliers


@dataclass(frozen=True, slots=True)
class InteriorPoint:
    """`point` satisfies all constraints, and is strictly inside those that are not constant on the equations."""

    point: Point


@dataclass(frozen=True, slots=True)
class FlatSet:
    """There are feasible points, such as `point`, but no interior.

    `multipliers` (integers) add up to g·x ≤ γ where g·x = γ is a consequence of the equations alone, and at least one
    of them is positive on a constraint that is not constant on the equations: that constraint holds with equality
    everywhere.
    """

    point: Point
    multipliers: Multipliers
