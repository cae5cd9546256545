"""Linear equations whose unknowns are 0 or 1: which neurons have the other orientation."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from polyrelu.exact import binary_solution, primitive
from polyrelu.support.typing import Vector

__all__ = ["Choices", "choices"]

#: The largest number of free unknowns whose values are all tried.
_MAX_FREE = 10
#: The largest number of unknowns of inexact equations; all their values are tried.
_MAX_NEAREST = 12


class Choices(NamedTuple):
    """The solutions of a system of equations with unknowns 0 and 1.

    Attributes
    ----------
    num_unknowns
        How many unknowns there are.
    rank
        The rank of the equations.
    solutions
        The solutions that were found, at most as many as were asked for.
    is_complete
        Whether these are all of them.
    """

    num_unknowns: int
    rank: int
    solutions: tuple[tuple[int, ...], ...]
    is_complete: bool


def choices(
    rows: Sequence[Vector], right: Vector, num_unknowns: int, limit: int, near: Fraction
) -> Choices:
    """Solve a linear system in the numbers 0 and 1.

    Parameters
    ----------
    rows
        The coefficients, a row for each equation.
    right
        The right sides.
    num_unknowns
        How many unknowns there are.
    limit
        How many solutions are wanted.
    near
        How large the error of an equation may be, relative to its terms: 0 for exact numbers.

    Returns
    -------
    Choices
        The solutions. Without equations every choice is one.

    Examples
    --------
    >>> ones = (Fraction(1), Fraction(1))
    >>> choices([ones], (Fraction(1),), 2, limit=9, near=Fraction(0)).solutions
    ((1, 0), (0, 1))
    """
    if near:
        return _nearest(rows, right, num_unknowns, limit, near)
    kept, order = _echelon([[*row, r] for row, r in zip(rows, right, strict=True)], num_unknowns)
    if any(row[-1] and not any(row[:-1]) for row in kept):
        return Choices(num_unknowns, len(order), (), True)
    free = [k for k in range(num_unknowns) if k not in order]
    if len(free) > _MAX_FREE:
        found = _by_short_vectors(kept)
        return Choices(num_unknowns, len(order), () if found is None else (found,), False)
    solutions = (
        solution
        for values in product((0, 1), repeat=len(free))
        if (solution := _solution(kept, order, free, values, num_unknowns)) is not None
    )
    some = tuple(islice(solutions, limit + 1))
    return Choices(num_unknowns, len(order), some[:limit], len(some) <= limit)


def _echelon(
    rows: list[list[Fraction]], num_unknowns: int
) -> tuple[list[list[Fraction]], list[int]]:
    """Return the reduced rows that are not 0, and the column of the pivot of each of them."""
    order, done = list[int](), list[list[Fraction]]()
    for k in range(num_unknowns):
        pivot = next((row for row in rows if row[k]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        pivot = [entry / pivot[k] for entry in pivot]
        rows = [_without(row, pivot, k) for row in rows]
        done = [*(_without(row, pivot, k) for row in done), pivot]
        order.append(k)
    return [*done, *(row for row in rows if any(row))], order


def _without(row: list[Fraction], pivot: list[Fraction], k: int) -> list[Fraction]:
    """Subtract the multiple of a pivot row that makes column k 0."""
    return [a - row[k] * b for a, b in zip(row, pivot, strict=True)] if row[k] else row


def _by_short_vectors(kept: list[list[Fraction]]) -> tuple[int, ...] | None:
    """Return one solution, where there are too many unknowns to try all of their values."""
    integers = [primitive(row)[0] for row in kept]
    return binary_solution([row[:-1] for row in integers], [row[-1] for row in integers])


def _solution(
    kept: list[list[Fraction]],
    order: list[int],
    free: list[int],
    values: tuple[int, ...],
    num_unknowns: int,
) -> tuple[int, ...] | None:
    """Return the solution with these values of the free unknowns, if it has only 0 and 1."""
    found = [0] * num_unknowns
    for k, value in zip(free, values, strict=True):
        found[k] = value
    for row, k in zip(kept, order, strict=False):
        entry = row[-1] - sum(row[j] * found[j] for j in free if found[j])
        if entry not in (0, 1):
            return None
        found[k] = int(entry)
    return tuple(found)


def _nearest(
    rows: Sequence[Vector], right: Vector, num_unknowns: int, limit: int, near: Fraction
) -> Choices:
    """Return the choices that fulfil the equations best, if they do so nearly: all are tried."""
    if num_unknowns > _MAX_NEAREST:
        return Choices(num_unknowns, 0, (), False)
    matrix = np.array([[float(a) for a in row] for row in rows]).reshape(len(rows), num_unknowns)
    wanted = np.array([float(r) for r in right])
    tried = np.array(list(product((0.0, 1.0), repeat=num_unknowns)))
    sizes = np.abs(matrix).sum(axis=1) + np.abs(wanted)
    errors = np.abs(tried @ matrix.T - wanted) / np.where(sizes == 0, 1, sizes)
    worst = errors.max(axis=1, initial=0)
    order = [int(k) for k in np.argsort(worst, kind="stable") if worst[k] <= float(near)]
    solutions = tuple(tuple(map(int, tried[k])) for k in order[:limit])
    found_rank = int(np.linalg.matrix_rank(matrix)) if matrix.size else 0
    return Choices(num_unknowns, found_rank, solutions, len(order) <= limit)
