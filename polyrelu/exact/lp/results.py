"""Results of linear programs, each with the numbers that prove it.

Whoever doubts the solver can verify a result from the constraints and these numbers alone; provers
copy the multipliers into certificates.

Throughout, the constraints are A x ≤ c (inequality rows), E x = e (equation rows) and l ≤ x ≤ u
(bounds). All rows are numbered together, from 0, in the order in which they were added. *The
equations* are the equation rows and the columns with l_j = u_j; an inequality or a bound is
*constant on the equations* if its left side has the same value at all their solutions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from polyrelu.exact.texts import number_text, point_text
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import Point

__all__ = ["FlatSet", "Infeasible", "InteriorPoint", "Multipliers", "Optimal", "Point", "Unbounded"]


@dataclass(frozen=True, slots=True, repr=False)
class Multipliers:
    """Farkas or dual multipliers of the constraints; constraints that are not listed have 0.

    The sum of the constraints times their multipliers is a consequence g·x ≤ γ, with
    g = Σ rows_i a_i + Σ upper_j e_j - Σ lower_j e_j and
    γ = Σ rows_i c_i + Σ upper_j u_j - Σ lower_j l_j.

    Attributes
    ----------
    rows
        Multiplier of each row by its number; nonnegative on inequalities, of any sign on equations.
    upper
        Multiplier of x_j ≤ u_j by the column j; nonnegative.
    lower
        Multiplier of -x_j ≤ -l_j by the column j; nonnegative.

    Examples
    --------
    >>> Multipliers({0: Fraction(1, 2)}).upper
    {}
    """

    rows: Mapping[int, Fraction] = field(default_factory=dict)
    upper: Mapping[int, Fraction] = field(default_factory=dict)
    lower: Mapping[int, Fraction] = field(default_factory=dict)

    def __repr__(self) -> str:
        return bracketed(f"Multipliers of {self._counts()}")

    def _counts(self) -> str:
        """How many constraints have multipliers."""
        parts = [(self.rows, "row"), (self.upper, "upper bound"), (self.lower, "lower bound")]
        return count_text([(len(part), name) for part, name in parts])


@dataclass(frozen=True, slots=True, repr=False)
class Optimal:
    """An optimum, the point where it is attained, and the proof that it is one.

    Attributes
    ----------
    value
        The optimal value.
    point
        A feasible point with this value.
    multipliers
        Dual multipliers: the constraints add up to objective·x ≤ value, or to -objective·x ≤ -value
        if the objective was minimised.

    Examples
    --------
    >>> from polyrelu.exact import LinearProgram
    >>> LinearProgram(1, upper=[3]).maximize([2])
    <Optimal, 6 at (3)>
    """

    value: Fraction
    point: Point
    multipliers: Multipliers

    def __repr__(self) -> str:
        return bracketed(f"Optimal, {number_text(self.value)} at {point_text(self.point)}")


@dataclass(frozen=True, slots=True, repr=False)
class Unbounded:
    """A feasible ray along which the objective improves without bound.

    Attributes
    ----------
    point
        A feasible point.
    ray
        A direction: point + s·ray is feasible for every s ≥ 0.

    Examples
    --------
    >>> from polyrelu.exact import LinearProgram
    >>> LinearProgram(1, lower=[3]).maximize([2])
    <Unbounded, from (3) along (1)>
    """

    point: Point
    ray: Point

    def __repr__(self) -> str:
        return bracketed(f"Unbounded, from {point_text(self.point)} along {point_text(self.ray)}")


@dataclass(frozen=True, slots=True, repr=False)
class Infeasible:
    """A proof that no point satisfies the constraints.

    Attributes
    ----------
    multipliers
        Integer Farkas multipliers: the constraints add up to 0·x ≤ γ with γ < 0.

    Examples
    --------
    >>> from polyrelu.exact import LinearProgram
    >>> LinearProgram(1, lower=[1], upper=[0]).interior_point()
    <Infeasible, by multipliers of 0 rows, 1 upper bound, 1 lower bound>
    """

    multipliers: Multipliers

    def __repr__(self) -> str:
        return bracketed(f"Infeasible, by multipliers of {self.multipliers._counts()}")


@dataclass(frozen=True, slots=True, repr=False)
class InteriorPoint:
    """A point of the interior relative to the equations.

    Attributes
    ----------
    point
        A feasible point; inequalities and bounds that are not constant on the equations hold
        strictly.

    Examples
    --------
    >>> from polyrelu.exact import LinearProgram
    >>> LinearProgram(1, lower=[1], upper=[2]).interior_point()
    <InteriorPoint (5/4)>
    """

    point: Point

    def __repr__(self) -> str:
        return bracketed(f"InteriorPoint {point_text(self.point)}")


@dataclass(frozen=True, slots=True, repr=False)
class FlatSet:
    """A feasible point, and a proof that the interior relative to the equations is empty.

    Attributes
    ----------
    point
        A feasible point.
    multipliers
        Integer multipliers: the constraints add up to g·x ≤ γ where g·x = γ follows from the
        equations alone. A multiplier is positive on at least one constraint that is not constant on
        the equations, which therefore holds with equality at every feasible point.

    Examples
    --------
    >>> from polyrelu.exact import LinearProgram
    >>> program = LinearProgram(1)
    >>> program.add_inequalities([[1], [-1]], [0, 0])
    >>> program.interior_point().multipliers.rows
    {0: Fraction(1, 1), 1: Fraction(1, 1)}
    """

    point: Point
    multipliers: Multipliers

    def __repr__(self) -> str:
        return bracketed(f"FlatSet, contains {point_text(self.point)}")
