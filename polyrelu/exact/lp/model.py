"""A program twice over: exact integers, and the same rows in floats inside HiGHS for the guesses."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact.lp.active_set import ActiveSet, default_active_set, repaired
from polyrelu.exact.lp.bounds import Bounds
from polyrelu.exact.lp.highs import FloatSolver, Guess, scaled, to_floats
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
        self._tables: list[NDArray[np.float64]] = []
        self._solver: FloatSolver | None = None

    # -- changes --------------------------------------------------------------------------------------------------

    def append(self, rows: list[list[int]], scales: list[int], is_equation: bool) -> None:
        """Append integer rows [a | c]; takes them over."""
        if not rows:
            return
        table, exponents = to_floats(rows)
        slack = [0] * len(rows) if is_equation else [1 << e if e else 0 for e in exponents.tolist()]
        for row, s in zip(rows, slack, strict=True):
            row.insert(-1, s)
        self.rows.extend(rows, is_equation)
        self.scales += scales
        self._tables.append(table)
        if self._solver is not None:
            for float_row, s in zip(table, slack, strict=True):
                low, high = _sides(float_row[-1:], is_equation)
                self._solver.add_row(np.append(float_row[:-1], float(s != 0)), low[0], high[0])

    def remove_last(self) -> None:
        """Remove the last row."""
        self.rows.pop()
        self.scales.pop()
        if self._solver is not None:
            self._solver.delete_last_row()
        if len(self._tables[-1]) > 1:
            self._tables[-1] = self._tables[-1][:-1]
        else:
            self._tables.pop()

    def replace(self, index: int, row: list[int], scale: int) -> None:
        """Put a positive multiple of row `index` with another right-hand side in its place."""
        old = self.rows.entries[index]
        table, (exponent,) = to_floats([row])
        self.rows.replace(index, [*row[:-1], 1 << int(exponent) if old[-2] else 0, row[-1]])
        self.scales[index] = scale
        self.table()[index] = table[0]
        low, high = _sides(table[:, -1], self.rows.is_equation[index])
        self._load().change_row(index, low[0], high[0])

    def set_slack(self, index: int, used: bool) -> None:
        """Let the slack variable t stand in an inequality, or take it out."""
        row = self.rows.entries[index]
        size = self.rows.bits(index)
        self.rows.replace(index, [*row[:-2], 1 << size if used and size else 0, row[-1]])
        self._load().change_coefficient(index, self.columns, float(used))

    def set_slack_range(self, lower: int | None, upper: int) -> None:
        """Bounds of the slack variable t."""
        low, high = self.bounds.lower[-1], self.bounds.upper[-1]
        self.bounds.restrict(self.columns, lower, upper)
        if self._solver is not None and (low, high) != (self.bounds.lower[-1], self.bounds.upper[-1]):
            self._solver.change_column(self.columns, -np.inf if lower is None else lower, upper)

    # -- guesses --------------------------------------------------------------------------------------------------

    def table(self) -> NDArray[np.float64]:
        """The rows [a | c] as floats, each divided by a power of two (see `to_floats`)."""
        if len(self._tables) != 1:
            self._tables = [np.concatenate([np.zeros((0, self.columns + 1)), *self._tables])]
        return self._tables[0]

    def guess(self, objective: Sequence[int]) -> Guess | None:
        """What HiGHS takes for a maximum of an objective over x and t."""
        return self._load().maximize(scaled(objective))

    def guess_slack(self) -> Guess | None:
        """What HiGHS takes for a maximum of t."""
        objective = np.zeros(self.columns + 1)
        objective[-1] = 1.0
        return self._load().maximize(objective)

    def active_set(self, guess: Guess | None) -> ActiveSet:
        """The active set of a guess, repaired if its normals are dependent."""
        if guess is None:
            return default_active_set(self.rows, self.bounds)
        active = ActiveSet(self.rows, self.bounds, guess.rows, guess.fixed)
        return active if active.is_independent() else repaired(self.rows, self.bounds, guess.rows, guess.fixed)

    def _load(self) -> FloatSolver:
        if self._solver is None:
            matrix = self.table().copy()
            right = matrix[:, -1].copy()
            matrix[:, -1] = [row[-2] != 0 for row in self.rows.entries]
            low, high = _sides(right, np.array(self.rows.is_equation, dtype=bool))
            self._solver = FloatSolver(matrix, low, high, *self.bounds.to_floats())
        return self._solver


def _sides(
    right: NDArray[np.float64], is_equation: NDArray[np.bool_] | bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.where(is_equation, right, -np.inf), right
