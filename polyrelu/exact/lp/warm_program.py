"""A linear program in floats that is solved again and again, with a few bounds changed each time.

Its solutions are guesses, from which exact methods begin. HiGHS continues from the last basis.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from polyrelu.exact.lp.highs import SilentHighs
from polyrelu.support.typing import Floats

__all__ = ["FloatSolution", "WarmProgram"]


_OPTIMAL = highspy.HighsModelStatus.kOptimal
_INFEASIBLE = highspy.HighsModelStatus.kInfeasible


class FloatSolution(NamedTuple):
    """What HiGHS says of a program.

    Attributes
    ----------
    value
        The minimum; None if there seems to be no feasible point.
    point
        A point where it is attained, shape (columns,).
    duals
        The multipliers of the rows, shape (rows,); without a feasible point the multipliers of a
        contradiction, and 0 if HiGHS names none.
    """

    value: float | None
    point: Floats
    duals: Floats


class WarmProgram:
    """Minimise costs · x for lower ≤ x ≤ upper and least ≤ A x ≤ most.

    Parameters
    ----------
    matrix
        The matrix A, shape (rows, columns).
    costs, lower, upper
        Numbers for each column; the bounds may be infinite.
    least, most
        Numbers for each row, which may be infinite.
    max_iterations
        Maximum number of iterations of each solution.

    Examples
    --------
    >>> sides = np.zeros(1), np.ones(1)
    >>> program = WarmProgram(np.ones((1, 1)), -np.ones(1), *sides, np.zeros(1), np.full(1, 0.5))
    >>> program.minimize().value
    -0.5
    >>> program.bound(0, 0, 0)
    >>> program.minimize().value
    0.0
    """

    def __init__(
        self,
        matrix: Floats,
        costs: Floats,
        lower: Floats,
        upper: Floats,
        least: Floats,
        most: Floats,
        max_iterations: int = 5_000,
    ) -> None:
        self._solver = solver = SilentHighs()
        num_rows, num_columns = matrix.shape
        columns, rows = np.nonzero(matrix.T)
        starts = np.zeros(num_columns + 1, dtype=np.int32)
        np.cumsum(np.bincount(columns, minlength=num_columns), out=starts[1:])
        solver.passModel(
            num_columns,
            num_rows,
            rows.size,
            1,
            1,
            0.0,
            costs,
            lower,
            upper,
            least,
            most,
            starts,
            rows.astype(np.int32),
            np.ascontiguousarray(matrix.T[columns, rows]),
            np.zeros(num_columns, dtype=np.int32),
        )
        for name, value in (
            ("simplex_iteration_limit", max_iterations),
            ("simplex_scale_strategy", 2),
            ("primal_feasibility_tolerance", 1e-7),
            ("dual_feasibility_tolerance", 1e-7),
        ):
            solver.setOptionValue(name, value)
        self.num_entries = int(rows.size)

    def bound(self, column: int, lower: float, upper: float) -> None:
        """Change the bounds of a column."""
        self._solver.changeColBounds(column, lower, upper)

    def minimize(self) -> FloatSolution | None:
        """Return the solution; None if HiGHS gives up."""
        solver = self._solver
        solver.run()
        status = solver.getModelStatus()
        if status not in (_OPTIMAL, _INFEASIBLE):  # once more without the last basis
            solver.clearSolver()
            solver.run()
            status = solver.getModelStatus()
        if status == _INFEASIBLE:
            return FloatSolution(None, np.zeros(0), self._contradiction())
        if status != _OPTIMAL:
            return None
        found = solver.getSolution()
        value = float(solver.getInfo().objective_function_value)
        return FloatSolution(value, np.array(found.col_value), np.array(found.row_dual))

    def _contradiction(self) -> NDArray[np.float64]:
        """Return the multipliers of the rows of an infeasible program, 0 if there are none."""
        solver: Any = self._solver  # the stubs of highspy leave this method out
        _, exists, ray = solver.getDualRay()
        size = solver.getNumRow()
        return np.array(ray, dtype=np.float64) if exists else np.zeros(size)
