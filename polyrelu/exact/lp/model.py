"""A program twice over: exact integers, and the same rows in floats inside HiGHS for the guesses."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact.floats import nearest_float
from polyrelu.exact.lp.bounds import Bounds
from polyrelu.exact.lp.highs import FloatSolver, Guess, clamped, scaled, to_floats
from polyrelu.exact.lp.rows import Rows

__all__ = ["Model"]


class Model:
    """Rows [a | s | c] over the columns x and t, bounds, and a float twin that follows every change.

    Attributes
    ----------
    rows : the integer rows.
    scales : integer row i is scales[i] times the row as the user gave it.
    bounds : of x and t.
    """

    def __init__(self, lower: Sequence[Fraction | None], upper: Sequence[Fraction | None]) -> None:
        self.columns = len(lower)
        self.bounds = Bounds([*lower, Fraction(0)], [*upper, Fraction(0)])
        self.rows = Rows(self.columns + 1)
        self.scales: list[int] = []
        self._slacks: list[int] = []  # s of each row, whether it stands there or was taken out
        self._multiples: list[int] = []  # integer row = multiple × float row
        self._tables: list[NDArray[np.float64]] = []
        self._solver: FloatSolver | None = None

    # -- changes --------------------------------------------------------------------------------------------------

    def append(self, rows: list[list[int]], scales: list[int], is_equation: bool) -> None:
        """Append integer rows [a | c]; takes them over."""
        if not rows:
            return
        table, exponents = to_floats(rows)
        slack = [0] * len(rows) if is_equation else [1 << e if e else 0 for e in exponents.tolist()]
        if is_equation:
            table[:, -2] = 0.0
        for row, s in zip(rows, slack, strict=True):
            row.insert(-1, s)
        self.rows.extend(rows, is_equation)
        self.scales += scales
        self._slacks += slack
        self._multiples += [1 << e for e in exponents.tolist()]
        self._tables.append(table)
        if self._solver is not None:
            for row in table:
                self._solver.add_row(row[:-1], -np.inf if not is_equation else row[-1], row[-1])

    def remove_last(self) -> None:
        """Remove the last row."""
        self.rows.pop()
        for numbers in (self.scales, self._slacks, self._multiples):
            numbers.pop()
        if self._solver is not None:
            self._solver.delete_last_row()
        if len(self._tables[-1]) > 1:
            self._tables[-1] = self._tables[-1][:-1]
        else:
            self._tables.pop()

    def change_right(self, index: int, right: Fraction) -> None:
        """Give a row another right-hand side; the whole row may be multiplied by an integer for that."""
        old, scale = self.rows.entries[index], self.scales[index]
        factor = (right * scale).denominator
        side = int(right * scale * factor)
        self.rows.replace(index, [*(entry * factor for entry in old[:-1]), side])
        self.scales[index] = scale * factor
        self._slacks[index] *= factor
        # The float row keeps its scale, as do the coefficients inside the solver.
        self._multiples[index] *= factor
        self.table()[index, -1] = clamped(nearest_float(side, self._multiples[index]))
        if self._solver is not None:
            value = self.table()[index, -1]
            self._solver.change_row(index, value if self.rows.is_equation[index] else -np.inf, value)

    def set_slack(self, index: int, used: bool) -> None:
        """Let the slack variable t stand in an inequality, or take it out."""
        row = self.rows.entries[index]
        slack = self._slacks[index] if used else 0
        self.rows.replace(index, [*row[:-2], slack, row[-1]])
        self.table()[index, -2] = float(slack != 0)
        if self._solver is not None:
            self._solver.change_coefficient(index, self.columns, float(slack != 0))

    def set_slack_range(self, lower: int | None, upper: int) -> None:
        """Bounds of the slack variable t."""
        low, high = self.bounds.lower[-1], self.bounds.upper[-1]
        self.bounds.restrict(self.columns, lower, upper)
        if self._solver is not None and (low, high) != (self.bounds.lower[-1], self.bounds.upper[-1]):
            self._solver.change_column(self.columns, -np.inf if lower is None else lower, upper)

    # -- guesses --------------------------------------------------------------------------------------------------

    def table(self) -> NDArray[np.float64]:
        """The rows [a | s | c] as floats, each divided by a power of two (see `to_floats`)."""
        if len(self._tables) != 1:
            self._tables = [np.concatenate([np.zeros((0, self.columns + 2)), *self._tables])]
        return self._tables[0]

    def guess(self, objective: Sequence[int]) -> Guess | None:
        """What HiGHS takes for a maximum of an objective over x and t."""
        return self._load().maximize(scaled(objective))

    def guess_slack(self) -> Guess | None:
        """What HiGHS takes for a maximum of t."""
        objective = np.zeros(self.columns + 1)
        objective[-1] = 1.0
        return self._load().maximize(objective)

    def _load(self) -> FloatSolver:
        if self._solver is None:
            table, is_equation = self.table(), np.array(self.rows.is_equation, dtype=bool)
            right = table[:, -1].copy()
            low = np.where(is_equation, right, -np.inf)
            self._solver = FloatSolver(table[:, :-1], low, right, *self.bounds.to_floats())
        return self._solver
