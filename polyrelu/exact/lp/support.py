"""Guesses of the columns that an optimal solution of a sparse linear program needs.

An exact program with many columns, few of which are used, is solved faster on these columns alone.
HiGHS solves the whole program in floats; the exact solution of the smaller program is valid for the
whole one, whether or not the guess was good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from polyrelu.exact.lp.highs import SilentHighs

__all__ = ["SparseProgram", "Support", "guessed_support", "interior_optimum"]

#: Values above this share of the largest one are taken for positive.
_POSITIVE = 1e-10


@dataclass(frozen=True, slots=True)
class SparseProgram:
    """Minimise costs · x for x ≥ 0 with Σ values x ≤ right in each row, or = in some.

    Attributes
    ----------
    rows, columns, values
        The entries that are not 0, shape (k,).
    costs
        The costs, shape (num_columns,).
    right
        The right sides, shape (num_rows,).
    is_equation
        The rows with an equals sign, shape (num_rows,).
    """

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    costs: NDArray[np.float64]
    right: NDArray[np.float64]
    is_equation: NDArray[np.bool_]


class Support(NamedTuple):
    """The columns that a solution in floats uses, and its value.

    Attributes
    ----------
    columns
        The columns whose value is positive.
    value
        The costs of the solution.
    """

    columns: list[int]
    value: float


def guessed_support(program: SparseProgram, max_iterations: int) -> Support | None:
    """Return the columns that HiGHS uses in an optimal solution; None if it finds none.

    Examples
    --------
    >>> entries = np.array([0, 0], dtype=np.int32), np.array([0, 1], dtype=np.int32), np.ones(2)
    >>> sides = np.array([2.0]), np.array([False])
    >>> guessed_support(SparseProgram(*entries, np.array([-1.0, -3.0]), *sides), 100)
    Support(columns=[1], value=-6.0)
    """
    point = _optimum(program, (("simplex_iteration_limit", max_iterations),))
    if point is None:
        return None
    largest = float(point.max(initial=0.0))
    used = [int(j) for j in np.flatnonzero(point > _POSITIVE * largest)]
    return Support(used, float(program.costs @ point))


def interior_optimum(program: SparseProgram, max_iterations: int) -> NDArray[np.float64] | None:
    """Return a vertex that HiGHS takes for optimal, found through the interior; None if none is.

    Wide programs with many equations take the simplex method far longer.

    Examples
    --------
    >>> entries = np.array([0, 0], dtype=np.int32), np.array([0, 1], dtype=np.int32), np.ones(2)
    >>> sides = np.array([2.0]), np.array([False])
    >>> interior_optimum(SparseProgram(*entries, np.array([-1.0, -3.0]), *sides), 100).tolist()
    [0.0, 2.0]
    """
    limits = ("ipm_iteration_limit", max_iterations), ("run_crossover", "on")
    return _optimum(program, (("solver", "ipm"), *limits))


def _optimum(
    program: SparseProgram, options: Sequence[tuple[str, int | str]]
) -> NDArray[np.float64] | None:
    """Return the point that HiGHS takes for optimal with some options, or None."""
    order = np.lexsort((program.rows, program.columns))
    num_columns, num_rows = len(program.costs), len(program.right)
    starts = np.zeros(num_columns + 1, dtype=np.int32)
    np.cumsum(np.bincount(program.columns, minlength=num_columns), out=starts[1:])
    solver = SilentHighs()
    solver.passModel(
        num_columns,
        num_rows,
        order.size,
        1,
        1,
        0.0,
        program.costs,
        np.zeros(num_columns),
        np.full(num_columns, np.inf),
        np.where(program.is_equation, program.right, -np.inf),
        program.right,
        starts,
        program.rows[order],
        program.values[order],
        np.zeros(num_columns, dtype=np.int32),
    )
    always: tuple[tuple[str, int | str], ...] = ("simplex_scale_strategy", 2), ("presolve", "on")
    for name, value in (*always, *options):
        solver.setOptionValue(name, value)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value)
