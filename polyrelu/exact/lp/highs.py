"""Guesses in floating point, by HiGHS: which rows are tight, which columns sit at a bound, and roughly where.

Nothing here is believed. Numbers that floats cannot hold are clamped, HiGHS drops coefficients below 1e-12 and takes
1e20 for infinity; the guess is then a bad one and costs exact pivots, not correctness.
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

__all__ = ["CLAMP", "FloatSolver", "Guess", "clamped", "exponent_of", "scaled", "to_floats"]

_INFINITY = float(highspy.kHighsInf)
#: HiGHS ignores right-hand sides of 1e20 and more.
CLAMP = 1e19
#: HiGHS cannot be interrupted from Python within a run. It is run for as many iterations at a time as take a fraction
#: of a second, at some 5 ns for each entry of the matrix, and for so many iterations for each row and column in all.
_ENTRIES_PER_RUN = 5e7
_MOST_PER_RUN, _LEAST_PER_RUN = 2000, 10
_ITERATIONS_PER_LINE = 50
_OPTIONS: tuple[tuple[str, bool | int | float | str], ...] = (
    ("output_flag", False),
    ("presolve", "off"),  # postsolved bases are not always bases of the original rows
    ("solver", "simplex"),
    ("simplex_scale_strategy", 0),  # the rows come scaled
    ("small_matrix_value", 1e-12),
    ("primal_feasibility_tolerance", 1e-9),
    ("dual_feasibility_tolerance", 1e-9),
)
_PRIMAL, _DUAL = 4, 1
_BASIC = highspy.HighsBasisStatus.kBasic
_MOST_IDLE = 8
_idle: list[Any] = []  # making a solver costs as much as a small program


@dataclass(frozen=True, slots=True)
class Guess:
    """What HiGHS ended with.

    Attributes
    ----------
    rows : tight rows.
    fixed : columns at a bound, or pinned at 0.
    point : values of the columns.
    feasible : False if HiGHS thinks that there is no feasible point.
    """

    rows: list[int]
    fixed: dict[int, Side]
    point: list[float]
    feasible: bool


class FloatSolver:
    """One program inside HiGHS, kept for warm starts."""

    def __init__(
        self,
        matrix: NDArray[np.float64],
        row_lower: NDArray[np.float64],
        row_upper: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
    ) -> None:
        """Takes a matrix (m, n) with entries in [-1, 1] and infinite bounds as numpy infinities."""
        self._solver = _idle.pop() if _idle else _Quiet()
        lower, upper = _within_reach(lower), _within_reach(upper)
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
        if hasattr(self, "_solver") and len(_idle) < _MOST_IDLE:
            self._solver.clearModel()
            _idle.append(self._solver)

    def add_row(self, coefficients: NDArray[np.float64], lower: float, upper: float) -> None:
        """Append a row."""
        index = np.flatnonzero(coefficients).astype(np.int32)
        self._solver.addRow(lower, upper, index.size, index, coefficients[index])
        self._row_lower, self._row_upper = (
            np.append(self._row_lower, lower),
            np.append(self._row_upper, upper),
        )
        self._strategy = _DUAL

    def delete_last_row(self) -> None:
        """Remove the last row."""
        last = self._solver.getNumRow() - 1
        self._solver.deleteRows(1, np.array([last], dtype=np.int32))
        self._row_lower, self._row_upper = self._row_lower[:-1], self._row_upper[:-1]
        self._strategy = _DUAL

    def change_row(self, row: int, lower: float, upper: float) -> None:
        """Change the sides of a row."""
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
        """The basis of a maximum, roughly; None if HiGHS has none to offer."""
        solver = self._solver
        solver.changeColsCost(self._all_columns.size, self._all_columns, -objective)
        solver.setOptionValue("simplex_strategy", self._strategy)
        self._strategy = _PRIMAL  # next time, unless a row changes
        status = self._run()
        basis = (
            solver.getBasis()
        )  # getBasicVariables is faster, and crashes where the simplex method did not run
        if not basis.valid:
            return None
        solution = solver.getSolution()
        point = list(solution.col_value)
        columns = [j for j, state in enumerate(basis.col_status) if state != _BASIC]
        rows = self._tight_rows(solution, len(point) - len(columns), basis)
        fixed = {j: self._side(j, point[j]) for j in columns}
        return Guess(rows, fixed, point, status != highspy.HighsModelStatus.kInfeasible)

    def _run(self) -> highspy.HighsModelStatus:
        rows, columns = self._solver.getNumRow(), self._all_columns.size
        step = int(min(max(_ENTRIES_PER_RUN / (rows * columns + 1), _LEAST_PER_RUN), _MOST_PER_RUN))
        self._solver.setOptionValue("simplex_iteration_limit", step)
        for _ in range(1 + _ITERATIONS_PER_LINE * (rows + columns) // step):
            self._solver.run()
            status = self._solver.getModelStatus()
            if status != highspy.HighsModelStatus.kIterationLimit:
                break
        return status

    def _tight_rows(self, solution: Any, count: int, basis: Any) -> list[int]:
        """The nonbasic rows, `count` of them.

        Their values equal a side exactly. Reading the statuses instead costs a tenth of a small program, and is only
        needed if basic rows happen to be tight as well.
        """
        values = np.array(solution.row_value)
        tight: list[int] = np.flatnonzero(
            (values == self._row_upper) | (values == self._row_lower)
        ).tolist()
        if len(tight) == count:
            return tight
        return [i for i, state in enumerate(basis.row_status) if state != _BASIC]

    def _side(self, column: int, value: float) -> Side:
        lower, upper = self._lower[column], self._upper[column]
        if lower == upper:
            return Side.FIXED
        if np.isinf(lower) and np.isinf(upper):
            return Side.PINNED
        return Side.UPPER if upper - value < value - lower else Side.LOWER


def _row_wise(
    matrix: NDArray[np.float64],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Starts, column indices and values of the nonzero entries, row by row."""
    rows, columns = matrix.shape
    used = matrix != 0
    if used.all():  # the ordinary case
        return *_full(rows, columns), matrix.ravel()
    starts = np.zeros(rows + 1, dtype=np.int32)
    np.cumsum(used.sum(axis=1), out=starts[1:])
    return starts, np.nonzero(used)[1].astype(np.int32), matrix[used]


def _within_reach(bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Finite bounds that HiGHS would take for infinite, cut down."""
    return np.where(np.isinf(bounds), bounds, _clamped(bounds))


@lru_cache(maxsize=64)
def _full(rows: int, columns: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Starts and column indices of a matrix without zeros. HiGHS copies them."""
    starts = np.arange(0, rows * columns + 1, columns, dtype=np.int32)
    return starts, np.tile(np.arange(columns, dtype=np.int32), rows)


class _Quiet(highspy.Highs):
    """`Highs.__init__` prints a banner and sets up callbacks, which also cost time; it is passed over."""

    def __init__(self) -> None:
        super(highspy.Highs, self).__init__()
        for name, value in _OPTIONS:
            self.setOptionValue(name, value)


def exponent_of(row: Sequence[int]) -> int:
    """The e with 2^(e-1) ≤ max |a_j| < 2^e for an integer row [a | c], 0 for a zero row."""
    return max(map(abs, row[:-1]), default=0).bit_length()


def to_floats(rows: Sequence[Sequence[int]], exponents: Sequence[int]) -> NDArray[np.float64]:
    """Integer rows [a | c] as float rows, row i divided by 2^exponents[i], so that all |a_j| ≤ 1.

    A right-hand side may be much larger than the coefficients; it is clamped.
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
    """Cut down to what HiGHS takes for finite; np.clip costs three times as much."""
    return np.minimum(np.maximum(values, -CLAMP), CLAMP)


def clamped(value: float) -> float:
    """`_clamped` of one number."""
    return min(max(value, -CLAMP), CLAMP)


def scaled(vector: Sequence[int]) -> NDArray[np.float64]:
    """An integer vector as floats in [-1, 1], up to a power of two."""
    row = [*vector, 0]
    return to_floats([row], [exponent_of(row)])[0, :-1]
