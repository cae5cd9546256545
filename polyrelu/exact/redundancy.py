"""Redundancy among the inequalities of a polyhedron, and canonical forms of its rows [a | c].

`irredundant_rows` finds the inequalities that define facets by Clarkson's (1994) method, DOI
10.1109/SFCS.1994.365723. Each inequality is tested against the facet-defining inequalities found so
far. If it is not redundant among them, some point satisfies them and violates it. Then the first
inequality that becomes tight on the ray from an interior point through that point defines a facet,
and is added to the list (if several become tight at once, see `_without_redundant`). The linear
programs have therefore about as many rows as the polyhedron has facets, however many inequalities
are given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import fmpz_mat

from polyrelu.errors import DomainError
from polyrelu.exact.lp import LinearProgram, Optimal
from polyrelu.exact.lp.results import Point
from polyrelu.exact.matrix import RationalMatrix
from polyrelu.support.arguments import expect_list
from polyrelu.support.typing import IntegerRow

__all__ = ["irredundant_rows", "positive_primitive", "reduced_equations", "reduced_inequality"]


def positive_primitive(row: Sequence[int]) -> IntegerRow:
    """Divide an integer row by the greatest common divisor of its entries.

    Parameters
    ----------
    row
        Integers.

    Returns
    -------
    tuple of int
        The primitive row, with the signs of the given one; a zero row stays 0.

    Examples
    --------
    >>> positive_primitive([-2, 4, 0])
    (-1, 2, 0)
    """
    content = math.gcd(*row)
    return tuple(row) if content <= 1 else tuple(entry // content for entry in row)


def reduced_equations(equations: Sequence[IntegerRow], columns: int) -> tuple[IntegerRow, ...]:
    """Return the reduced row echelon form of rows [a | c], primitive, with positive pivots.

    >>> reduced_equations([(2, 0, 4), (1, 1, 1), (0, 1, -1)], 2)
    ((1, 0, 2), (0, 1, -1))
    """
    if not equations:
        return ()
    echelon, _, rank = fmpz_mat([list(row) for row in equations]).rref()
    rows = [
        positive_primitive([int(echelon[i, j]) for j in range(columns + 1)]) for i in range(rank)
    ]
    return tuple(row if row[_pivot(row)] > 0 else tuple(-entry for entry in row) for row in rows)


def reduced_inequality(row: IntegerRow, equations: Sequence[IntegerRow]) -> IntegerRow:
    """Return an inequality with zeros in the pivot columns of equations in reduced echelon form.

    >>> reduced_inequality((1, 1, 3), [(2, 0, 4)])
    (0, 1, 1)
    """
    for equation in equations:
        pivot = _pivot(equation)
        if row[pivot]:
            factor, scale = row[pivot], equation[pivot]
            row = tuple(
                scale * entry - factor * other for entry, other in zip(row, equation, strict=True)
            )
    return positive_primitive(row)


def _pivot(row: IntegerRow) -> int:
    """Return the first column with an entry that is not 0."""
    return next(j for j, entry in enumerate(row) if entry)


def irredundant_rows(rows: Sequence[IntegerRow], inside: Point) -> list[IntegerRow]:
    """Select the inequalities of a full-dimensional polyhedron that define its facets.

    Parameters
    ----------
    rows
        Inequalities [a | c] with a ≠ 0, meaning a·x ≤ c, shape (m, n + 1).
    inside
        A point that satisfies all of them strictly.

    Returns
    -------
    list of tuple of int
        One inequality for each facet, in the given order.

    Notes
    -----
    Source: Clarkson (1994), DOI 10.1109/SFCS.1994.365723.

    Examples
    --------
    >>> irredundant_rows([(1, 1), (1, 5), (-2, 0)], [Fraction(1, 2)])
    [(1, 1), (-2, 0)]
    """
    rows, size = expect_list(rows, "rows"), len(expect_list(inside, "inside"))
    if any(len(expect_list(row, "rows")) != size + 1 or not any(row[:-1]) for row in rows):
        raise DomainError(f"rows: expected rows [a | c] of {size + 1} integers with a ≠ 0")
    if not all(type(entry) is int for row in rows for entry in row):
        raise DomainError("rows: expected integers; Polyhedron.from_constraints takes others")
    tightest = _tightest(rows)
    caster = _RayCaster(tightest, inside)
    columns = len(inside)
    program = LinearProgram(columns)
    order: list[int] = []  # the rows of the program, by their indices in `tightest`
    certain: set[int] = set()
    for index, row in enumerate(tightest):
        while index not in order and (beyond := _violating_point(program, row)) is not None:
            hit = caster.first_hit(beyond)
            if len(hit) == 1:
                certain.add(hit[0])
            for new in hit:
                if new not in order:
                    order.append(new)
                    program.add_inequalities([tightest[new][:-1]], [tightest[new][-1]])
    needed = _without_redundant(tightest, order, certain, columns)
    return [row for index, row in enumerate(tightest) if index in needed]


def _tightest(rows: Sequence[IntegerRow]) -> list[IntegerRow]:
    """Return the tightest row of each direction of a normal, in the given order."""
    best: dict[IntegerRow, tuple[Fraction, IntegerRow]] = {}
    for row in rows:
        content = math.gcd(*row[:-1])
        normal, side = tuple(entry // content for entry in row[:-1]), Fraction(row[-1], content)
        if normal not in best or side < best[normal][0]:
            best.pop(normal, None)  # to keep the order of the rows
            best[normal] = side, row
    return [row for _, row in best.values()]


def _violating_point(program: LinearProgram, row: IntegerRow) -> Point | None:
    """Return a point of the program that violates an inequality; None if there is none."""
    program.add_inequalities([row[:-1]], [row[-1] + 1])  # keeps the program bounded
    best = _maximum(program, row)
    program.remove_last()
    return best.point if best.value > row[-1] else None


def _maximum(program: LinearProgram, row: IntegerRow) -> Optimal:
    """Return the maximum of the left side of a row that a row of the program bounds."""
    best = program.maximize(row[:-1])
    if not isinstance(best, Optimal):
        raise AssertionError("the objective is bounded and the program feasible")
    return best


def _without_redundant(
    rows: list[IntegerRow], order: list[int], certain: set[int], columns: int
) -> set[int]:
    """Return the indices of the facet-defining rows in `order`.

    A row that a ray reached first and alone is certain to define a facet; rows that a ray reached
    at the same point need not define facets. Each of these is relaxed in turn, and is redundant if
    its left side does not grow beyond its right side. A redundant row stays relaxed, which has the
    same effect as its removal: a ray from an interior point leaves the polyhedron through another
    row while the relaxed row still has slack, so that the ray never reaches the relaxed row first.
    """
    program = LinearProgram(columns)
    program.add_inequalities(
        [rows[index][:-1] for index in order], [rows[index][-1] for index in order]
    )
    needed = set(order)
    for position, index in enumerate(order):
        if index in certain:
            continue
        side = rows[index][-1]
        program.change_right(position, side + 1)
        if _maximum(program, rows[index]).value > side:
            program.change_right(position, side)
        else:
            needed.remove(index)
    return needed


class _RayCaster:
    """Rays from a point strictly inside all inequalities."""

    def __init__(self, rows: list[IntegerRow], inside: Point) -> None:
        self._matrix = RationalMatrix.from_integers([row[:-1] for row in rows], ncols=len(inside))
        self._inside = RationalMatrix.column(inside)
        self._room = RationalMatrix.column([row[-1] for row in rows]) - self._matrix @ self._inside

    def first_hit(self, beyond: Point) -> list[int]:
        """Return the rows that the ray through a point outside reaches first, by their indices."""
        rates = self._matrix @ (RationalMatrix.column(beyond) - self._inside)
        rooms = list(self._room.entries())
        ratios = [
            (room / rate, i)
            for i, (room, rate) in enumerate(zip(rooms, rates.entries(), strict=True))
            if rate > 0
        ]
        least = min(ratios)[0]
        return [i for ratio, i in ratios if ratio == least]
