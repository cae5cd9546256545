"""A program in exact integers and, once guesses are needed, the same rows in floats inside HiGHS.

One list holds the rows that the user gave. All else is derived from this list: the integer rows,
their float table, the program inside HiGHS. A change updates the derived parts in place, so that
HiGHS keeps its basis. If Ctrl-C interrupts a change, `_needs_rewrite` stays set, and the derived
parts are built again from the list before the next question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact.floats import nearest_float
from polyrelu.exact.lp.bounds import ColumnBounds
from polyrelu.exact.lp.highs import FloatSolver, Guess, clamped, exponent_of, scaled, to_floats
from polyrelu.exact.lp.rows import ProgramRows

__all__ = ["Model"]


@dataclass(slots=True)
class _GivenRow:
    """A row as the user added it, and the changes since then.

    Attributes
    ----------
    base
        The integers [a | s | c], where s = 2^exponent, or 0 in equations and zero rows.
    scale
        The factor by which the base is a multiple of the user's row.
    is_equation
        Whether the row is an equation.
    exponent
        The exponent of the float row, which is base / 2^exponent.
    right
        The user's later right-hand side, or None.
    has_slack
        Whether the row contains the slack variable t.
    """

    base: list[int]
    scale: int
    is_equation: bool
    exponent: int
    right: Fraction | None = None
    has_slack: bool = True

    def integers(self) -> tuple[list[int], int]:
        """Return the current integer row, and the factor by which it is the user's row."""
        if self.right is None and self.has_slack:
            return self.base, self.scale
        side = Fraction(self.base[-1]) if self.right is None else self.right * self.scale
        factor = side.denominator
        slack = self.base[-2] * factor if self.has_slack else 0
        row = [*(entry * factor for entry in self.base[:-2]), slack, side.numerator]
        return row, self.scale * factor

    def float_side(self) -> float:
        """Return the right-hand side of the float row."""
        side = Fraction(self.base[-1]) if self.right is None else self.right * self.scale
        return clamped(nearest_float(side.numerator, side.denominator << self.exponent))


class Model:
    """Rows [a | s | c] over the columns x and t, bounds, and a float copy that follows changes.

    Attributes
    ----------
    columns
        The number of variables x.
    rows
        The integer rows.
    scales
        The factors by which the integer rows are multiples of the user's rows.
    bounds
        The bounds of x and t.
    """

    def __init__(self, lower: Sequence[Fraction | None], upper: Sequence[Fraction | None]) -> None:
        self.columns = len(lower)
        self.bounds = ColumnBounds([*lower, Fraction(0)], [*upper, Fraction(0)])
        self._given: list[_GivenRow] = []
        self._needs_rewrite = False
        self._reset()

    def _reset(self) -> None:
        """Empty the derived parts."""
        self.rows = ProgramRows(self.columns + 1)
        self.scales: list[int] = []
        self._table = np.zeros((0, self.columns + 2))
        self._solver: FloatSolver | None = None

    def rewrite_if_needed(self) -> None:
        """Build the derived parts again, if a change was interrupted."""
        if not self._needs_rewrite:
            return
        self._reset()
        for given in self._given:
            row, scale = given.integers()
            self.rows.extend([row], given.is_equation)
            self.scales.append(scale)
        self._needs_rewrite = False

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Mark a block that changes the derived parts; interrupted, they need a rewrite."""
        self.rewrite_if_needed()
        self._needs_rewrite = True
        yield
        self._needs_rewrite = False  # not reached if the change was interrupted

    # -- changes ----------------------------------------------------------------------------------

    def append(self, rows: list[list[int]], scales: list[int], is_equation: bool) -> None:
        """Append integer rows [a | c], which the model takes over."""
        if not rows:
            return
        exponents = [exponent_of(row) for row in rows]
        for row, exponent in zip(rows, exponents, strict=True):
            row.insert(-1, 1 << exponent if exponent and not is_equation else 0)
        with self._changing():
            self._given += [
                _GivenRow(row, scale, is_equation, exponent)
                for row, scale, exponent in zip(rows, scales, exponents, strict=True)
            ]
            self.rows.extend(rows, is_equation)
            self.scales += scales
            if self._solver is not None:
                for line in self.table()[-len(rows) :]:
                    self._solver.add_row(line[:-1], line[-1] if is_equation else -np.inf, line[-1])

    def remove_last(self) -> None:
        """Remove the last row."""
        with self._changing():
            self._given.pop()
            self.rows.pop()
            self.scales.pop()
            if self._solver is not None:
                self._solver.delete_last_row()
            self._table = self._table[: len(self.rows)]

    def change_right(self, index: int, right: Fraction) -> None:
        """Replace the right-hand side of a row by the user's number."""
        with self._changing():
            given = self._given[index]
            given.right = right
            self._replace(index, given)
            if self._solver is not None:
                side = self.table()[index, -1]
                self._solver.change_row(index, side if given.is_equation else -np.inf, side)

    def set_slack(self, index: int, used: bool) -> None:
        """Put the slack variable t into an inequality, or remove it."""
        with self._changing():
            given = self._given[index]
            given.has_slack = used
            self._replace(index, given)
            if self._solver is not None:
                self._solver.change_coefficient(index, self.columns, self.table()[index, -2])

    def set_all_slacks(self) -> None:
        """Put the slack variable t into all inequalities again."""
        for index, given in enumerate(self._given):
            if not given.has_slack:
                self.set_slack(index, True)

    def _replace(self, index: int, given: _GivenRow) -> None:
        """Derive an integer row and its float right-hand side again; float coefficients stay."""
        row, self.scales[index] = given.integers()
        self.rows.replace(index, row)
        if index < len(self._table):
            self._table[index, -2:] = float(row[-2] != 0), given.float_side()

    def set_slack_range(self, lower: int | None, upper: int) -> None:
        """Set the bounds of the slack variable t."""
        low, high = self.bounds.lower[-1], self.bounds.upper[-1]
        self.bounds.restrict(self.columns, lower, upper)
        if self._solver is not None and (low, high) != (
            self.bounds.lower[-1],
            self.bounds.upper[-1],
        ):
            self._solver.change_column(self.columns, -np.inf if lower is None else lower, upper)

    def zero_rows(self) -> list[int]:
        """Return the rows whose coefficients are all 0."""
        return [i for i, given in enumerate(self._given) if not given.exponent]

    # -- guesses ----------------------------------------------------------------------------------

    def table(self) -> NDArray[np.float64]:
        """Return the float rows [a | s | c], each divided by its power of two, so that s is 1 or 0.

        Rows are converted when they are first needed.

        Returns
        -------
        NDArray[float64]
            The rows, shape (m, n + 2).
        """
        known = len(self._table)
        if known < len(self._given):
            new = self._given[known:]
            table = to_floats([given.base for given in new], [given.exponent for given in new])
            for i, given in enumerate(new, known):
                table[i - known, -2] = float(self.rows.entries[i][-2] != 0)
                if given.right is not None:
                    table[i - known, -1] = given.float_side()
            self._table = np.concatenate([self._table, table]) if known else table
        return self._table

    def guess(self, objective: Sequence[int]) -> Guess | None:
        """Return the basis that HiGHS takes for optimal for an objective over x and t."""
        return self._load().maximize(scaled(objective))

    def guess_slack(self) -> Guess | None:
        """Return the basis that HiGHS takes for optimal for the slack variable t."""
        objective = np.zeros(self.columns + 1)
        objective[-1] = 1.0
        return self._load().maximize(objective)

    def _load(self) -> FloatSolver:
        """Return the solver with the current rows and bounds."""
        if self._solver is None:
            table, is_equation = self.table(), np.array(self.rows.is_equation, dtype=bool)
            right = table[:, -1].copy()
            low = np.where(is_equation, right, -np.inf)
            self._solver = FloatSolver(table[:, :-1], low, right, *self.bounds.to_floats())
        return self._solver
