"""Guesses of an optimal basis in floating point, by HiGHS.

A guess names tight rows and nonbasic columns, and a point. The exact methods verify it, so that a
bad guess costs pivots, not correctness: numbers that floats cannot hold are clamped, and HiGHS
drops coefficients below 1e-12 and takes 1e20 for infinity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from polyrelu.exact.floats import nearest_float
from polyrelu.exact.lp.bounds import Side
from polyrelu.support.budget import Check, no_check

__all__ = [
    "CLAMP",
    "FloatSolver",
    "Guess",
    "SilentHighs",
    "clamped",
    "exponent_of",
    "scaled",
    "to_floats",
]

#: The largest number that HiGHS is given: it ignores right-hand sides of 1e20 and more.
CLAMP = 1e19


@dataclass(frozen=True, slots=True)
class FloatSolverSettings:
    """Limits on the work of HiGHS, which cannot be interrupted from Python within a run.

    Attributes
    ----------
    entries_per_run
        Number of iterations of a run times entries of the matrix: a fraction of a second, at some
        5 ns for an entry.
    longest_run
        Maximum number of iterations of a run.
    shortest_run
        Minimum number of iterations of a run.
    iterations_per_line
        Maximum number of iterations of all runs together, for each row and each column.
    idle_solvers
        Maximum number of solvers that are kept for later programs, since making a solver costs as
        much as a small program.
    """

    entries_per_run: float = 5e7
    longest_run: int = 2000
    shortest_run: int = 10
    iterations_per_line: int = 50
    idle_solvers: int = 8


_SETTINGS = FloatSolverSettings()
_OPTIONS: tuple[tuple[str, bool | int | float | str], ...] = (
    ("output_flag", False),
    ("presolve", "off"),  # postsolved bases are not always bases of the original rows
    ("solver", "simplex"),
    ("simplex_scale_strategy", 0),  # the rows come scaled
    ("small_matrix_value", 1e-12),
    ("primal_feasibility_tolerance", 1e-9),
    ("dual_feasibility_tolerance", 1e-9),
)
#: The values of HiGHS's option simplex_strategy.
_PRIMAL, _DUAL = 4, 1
_BASIC = highspy.HighsBasisStatus.kBasic
_idle: list[Any] = []


@dataclass(frozen=True, slots=True)
class Guess:
    """The basis and the point with which HiGHS ended.

    Attributes
    ----------
    tight_rows
        The tight rows, which are the nonbasic rows of HiGHS.
    nonbasic
        The nonbasic columns, each with the side where it is held.
    point
        The value of each column.
    feasible
        False if HiGHS reports that there is no feasible point.
    """

    tight_rows: list[int]
    nonbasic: dict[int, Side]
    point: list[float]
    feasible: bool


class FloatSolver:
    """A linear program inside HiGHS, which keeps its basis for warm starts."""

    def __init__(
        self,
        matrix: NDArray[np.float64],
        row_lower: NDArray[np.float64],
        row_upper: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
    ) -> None:
        """Load a matrix of shape (m, n) with entries in [-1, 1]; missing bounds are infinite."""
        self._solver = _idle.pop() if _idle else SilentHighs()
        lower, upper = _clamped_if_finite(lower), _clamped_if_finite(upper)
        self._lower, self._upper = lower, upper
        self._row_lower, self._row_upper = row_lower, row_upper
        self._strategy = _DUAL
        rows, columns = matrix.shape
        self._all_columns = np.arange(columns, dtype=np.int32)
        starts, index, values = _row_wise(matrix)
        self._solver.passModel(
            columns,
            rows,
            index.size,
            2,
            1,
            0.0,
            np.zeros(columns),
            lower,
            upper,
            row_lower,
            row_upper,
            starts,
            index,
            values,
            np.zeros(columns, dtype=np.int32),
        )

    def __del__(self) -> None:
        if hasattr(self, "_solver") and len(_idle) < _SETTINGS.idle_solvers:
            self._solver.clearModel()
            _idle.append(self._solver)

    def add_row(self, coefficients: NDArray[np.float64], lower: float, upper: float) -> None:
        """Append a row."""
        index = np.flatnonzero(coefficients).astype(np.int32)
        self._solver.addRow(lower, upper, index.size, index, coefficients[index])
        self._row_lower = np.append(self._row_lower, lower)
        self._row_upper = np.append(self._row_upper, upper)
        self._strategy = _DUAL

    def delete_last_row(self) -> None:
        """Remove the last row."""
        last = self._solver.getNumRow() - 1
        self._solver.deleteRows(1, np.array([last], dtype=np.int32))
        self._row_lower, self._row_upper = self._row_lower[:-1], self._row_upper[:-1]
        self._strategy = _DUAL

    def change_row(self, row: int, lower: float, upper: float) -> None:
        """Change the lower and upper side of a row."""
        self._solver.changeRowBounds(row, lower, upper)
        self._row_lower[row], self._row_upper[row] = lower, upper
        self._strategy = _DUAL

    def change_coefficient(self, row: int, column: int, value: float) -> None:
        """Change one entry of the matrix."""
        self._solver.changeCoeff(row, column, value)

    def change_column(self, column: int, lower: float, upper: float) -> None:
        """Change the bounds of a column."""
        self._solver.changeColBounds(column, lower, upper)
        self._lower[column], self._upper[column] = lower, upper

    def maximize(self, objective: NDArray[np.float64]) -> Guess | None:
        """Return the basis that HiGHS takes for optimal, or None if it has no basis."""
        solver = self._solver
        solver.changeColsCost(self._all_columns.size, self._all_columns, -objective)
        solver.setOptionValue("simplex_strategy", self._strategy)
        self._strategy = _PRIMAL  # next time, unless a row changes
        status = self._run()
        # getBasicVariables is faster, but crashes where the simplex method did not run.
        basis = solver.getBasis()
        if not basis.valid:
            return None
        solution = solver.getSolution()
        point = list(solution.col_value)
        columns = [j for j, state in enumerate(basis.col_status) if state != _BASIC]
        rows = self._tight_rows(solution, len(point) - len(columns), basis)
        nonbasic = {j: self._side(j, point[j]) for j in columns}
        return Guess(rows, nonbasic, point, status != highspy.HighsModelStatus.kInfeasible)

    def primal_and_dual(
        self, objective: NDArray[np.float64], check: Check = no_check
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the point where HiGHS ends, and the multipliers of the rows a·x ≤ c there.

        `check` is called now and then, and may raise.
        """
        self._solver.changeColsCost(self._all_columns.size, self._all_columns, -objective)
        self._solver.setOptionValue("simplex_strategy", self._strategy)
        self._run(check)
        solution = self._solver.getSolution()
        return np.array(solution.col_value), -np.array(solution.row_dual)

    def _run(self, check: Check = no_check) -> highspy.HighsModelStatus:
        """Solve in short runs, between which limits are noticed; return the last status."""
        rows, columns = self._solver.getNumRow(), self._all_columns.size
        wanted = _SETTINGS.entries_per_run / (rows * columns + 1)
        step = int(min(max(wanted, _SETTINGS.shortest_run), _SETTINGS.longest_run))
        self._solver.setOptionValue("simplex_iteration_limit", step)
        for _ in range(1 + _SETTINGS.iterations_per_line * (rows + columns) // step):
            check()
            self._solver.run()
            status = self._solver.getModelStatus()
            if status != highspy.HighsModelStatus.kIterationLimit:
                break
        return status

    def _tight_rows(self, solution: Any, count: int, basis: Any) -> list[int]:
        """Return the `count` nonbasic rows.

        The value of a nonbasic row equals one of its sides exactly. Only if basic rows are tight as
        well, the statuses of the rows are read, which costs a tenth of the time of a small program.
        """
        values = np.array(solution.row_value)
        tight: list[int] = np.flatnonzero(
            (values == self._row_upper) | (values == self._row_lower)
        ).tolist()
        if len(tight) == count:
            return tight
        return [i for i, state in enumerate(basis.row_status) if state != _BASIC]

    def _side(self, column: int, value: float) -> Side:
        """Return the side on which a nonbasic column with this value is held."""
        lower, upper = self._lower[column], self._upper[column]
        if lower == upper:
            return Side.FIXED
        if np.isinf(lower) and np.isinf(upper):
            return Side.PINNED
        return Side.UPPER if upper - value < value - lower else Side.LOWER


def _row_wise(
    matrix: NDArray[np.float64],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Return the nonzero entries by rows: starts of the rows, column indices, values."""
    rows, columns = matrix.shape
    used = matrix != 0
    if used.all():  # the ordinary case
        return *_full(rows, columns), matrix.ravel()
    starts = np.zeros(rows + 1, dtype=np.int32)
    np.cumsum(used.sum(axis=1), out=starts[1:])
    return starts, np.nonzero(used)[1].astype(np.int32), matrix[used]


def _clamped_if_finite(bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the bounds, where finite ones that HiGHS would take for infinite are clamped."""
    return np.where(np.isinf(bounds), bounds, _clamped(bounds))


@lru_cache(maxsize=64)
def _full(rows: int, columns: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the starts and column indices of a matrix without zeros; HiGHS copies them."""
    starts = np.arange(0, rows * columns + 1, columns, dtype=np.int32)
    return starts, np.tile(np.arange(columns, dtype=np.int32), rows)


class SilentHighs(highspy.Highs):
    """A solver without banner and callbacks, which `Highs.__init__` prints and sets up slowly."""

    def __init__(self) -> None:
        super(highspy.Highs, self).__init__()
        for name, value in _OPTIONS:
            self.setOptionValue(name, value)


def exponent_of(row: Sequence[int]) -> int:
    """Return e with 2^(e-1) ≤ max |a_j| < 2^e for an integer row [a | c], and 0 if a = 0."""
    return max(map(abs, row[:-1]), default=0).bit_length()


def to_floats(rows: Sequence[Sequence[int]], exponents: Sequence[int]) -> NDArray[np.float64]:
    """Return integer rows [a | c] as float rows, row i divided by 2^exponents[i].

    All |a_j| ≤ 1 then. A right-hand side may be much larger than the coefficients; it is clamped.
    """
    try:
        raw = np.fromiter(chain.from_iterable(rows), np.float64, len(rows) * len(rows[0])).reshape(
            len(rows), -1
        )
        raw = np.ldexp(raw, -np.array(exponents)[:, None])
    except OverflowError:  # numbers beyond the range of a float
        raw = np.array(
            [
                [nearest_float(e, 1 << bits) for e in row]
                for row, bits in zip(rows, exponents, strict=True)
            ]
        )
    raw[:, -1] = _clamped(raw[:, -1])
    return raw


def _clamped(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values, clamped to numbers that HiGHS takes for finite."""
    # np.clip takes three times as long.
    return np.minimum(np.maximum(values, -CLAMP), CLAMP)


def clamped(value: float) -> float:
    """Return a number, clamped to numbers that HiGHS takes for finite."""
    return min(max(value, -CLAMP), CLAMP)


def scaled(vector: Sequence[int]) -> NDArray[np.float64]:
    """Return an integer vector divided by a power of two, as floats in [-1, 1]."""
    row = [*vector, 0]
    return to_floats([row], [exponent_of(row)])[0, :-1]
