"""Which inequalities of a polyhedron are needed, and canonical forms of its rows [a | c].

Clarkson's method (1994): an inequality is tested against the needed ones found so far; if it is not redundant among
them, a ray from an interior point towards the violating point meets a needed one first. The linear programs are thus
as small as the answer, not as the question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import fmpz_mat

from polyrelu.exact.lp import LinearProgram, Optimal
from polyrelu.exact.lp.results import Point
from polyrelu.exact.matrix import RationalMatrix
from polyrelu.support.typing import IntegerRow

__all__ = ["irredundant_rows", "positive_primitive", "reduced_equations", "reduced_inequality"]


def positive_primitive(row: Sequence[int]) -> IntegerRow:
    """The row divided by the greatest common divisor of its entries.

    >>> positive_primitive([-2, 4, 0])
    (-1, 2, 0)
    """
    content = math.gcd(*row)
    return tuple(row) if content <= 1 else tuple(entry // content for entry in row)


def reduced_equations(equations: Sequence[IntegerRow], columns: int) -> tuple[IntegerRow, ...]:
    """The reduced row echelon form of rows [a | c], primitive, with positive pivots.

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
    """An inequality modulo equations in reduced echelon form: zeros in the pivot columns, primitive.

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
    return next(j for j, entry in enumerate(row) if entry)


def irredundant_rows(rows: Sequence[IntegerRow], inside: Point) -> list[IntegerRow]:
    """The inequalities [a | c] that define facets, one for each, in the given order.

    Parameters
    ----------
    rows : inequalities with a ≠ 0.
    inside : a point that satisfies all of them strictly.
    """
    tightest = _tightest(rows)
    shooter = _Shooter(tightest, inside)
    columns = len(inside)
    kept = LinearProgram(columns)
    order: list[int] = []  # rows of `kept`
    certain: set[int] = set()
    for index, row in enumerate(tightest):
        while index not in order and (beyond := _violating_point(kept, row)) is not None:
            hit = shooter.first_hit(beyond)
            if len(hit) == 1:
                certain.add(hit[0])
            for new in hit:
                if new not in order:
                    order.append(new)
                    kept.add_inequalities([tightest[new][:-1]], [tightest[new][-1]])
    needed = _without_redundant(tightest, order, certain, columns)
    return [row for index, row in enumerate(tightest) if index in needed]


def _tightest(rows: Sequence[IntegerRow]) -> list[IntegerRow]:
    """One row for each direction of a normal."""
    best: dict[IntegerRow, tuple[Fraction, IntegerRow]] = {}
    for row in rows:
        content = math.gcd(*row[:-1])
        normal, side = tuple(entry // content for entry in row[:-1]), Fraction(row[-1], content)
        if normal not in best or side < best[normal][0]:
            best.pop(normal, None)  # to keep the order of the rows
            best[normal] = side, row
    return [row for _, row in best.values()]


def _violating_point(program: LinearProgram, row: IntegerRow) -> Point | None:
    """A point of the program beyond an inequality, but not too far; None if there is none."""
    program.add_inequalities([row[:-1]], [row[-1] + 1])
    best = _most(program, row)
    program.remove_last()
    return best.point if best.value > row[-1] else None


def _most(program: LinearProgram, row: IntegerRow) -> Optimal:
    """How far a program goes in the direction of a row that bounds it."""
    best = program.maximize(row[:-1])
    if not isinstance(best, Optimal):
        raise AssertionError("the objective is bounded and the program feasible")
    return best


def _without_redundant(
    rows: list[IntegerRow], order: list[int], certain: set[int], columns: int
) -> set[int]:
    """Rows that met a ray together with others need not be facets: relax one after the other.

    A row that turns out to be redundant stays relaxed, which is the same as without it: where the others leave the
    polyhedron on the way out from a point inside, it still has room, so it never is what ends the way.
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
        if _most(program, rows[index]).value > side:
            program.change_right(position, side)
        else:
            needed.remove(index)
    return needed


class _Shooter:
    """Rays from a point strictly inside."""

    def __init__(self, rows: list[IntegerRow], inside: Point) -> None:
        self._matrix = RationalMatrix.from_integers([row[:-1] for row in rows], ncols=len(inside))
        self._inside = RationalMatrix.column(inside)
        self._room = RationalMatrix.column([row[-1] for row in rows]) - self._matrix @ self._inside

    def first_hit(self, beyond: Point) -> list[int]:
        """All inequalities that the ray through a point outside meets first."""
        rates = self._matrix @ (RationalMatrix.column(beyond) - self._inside)
        rooms = list(self._room.entries())
        ratios = [
            (room / rate, i)
            for i, (room, rate) in enumerate(zip(rooms, rates.entries(), strict=True))
            if rate > 0
        ]
        least = min(ratios)[0]
        return [i for ratio, i in ratios if ratio == least]
