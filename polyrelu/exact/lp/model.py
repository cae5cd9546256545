"""A program in exact integers and, once guesses are asked for, the same rows in floats inside HiGHS.

What the user said stands in one list of sources. All else is derived from it: the integer rows, their float table, the
program inside HiGHS. Changes update the derived parts in place, which keeps HiGHS warm; if Ctrl-C falls in between, the
derived parts are marked as stale and made anew before the next question.
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
from polyrelu.exact.lp.rows import Rows

__all__ = ["Model"]


@dataclass(slots=True)
class _Source:
    """A row as it was added, and what was changed since.

    Attributes
    ----------
    base : integers [a | s | c], s = 2^exponent, or 0 in equations and zero rows.
    scale : the base is scale times the row as the user gave it.
    exponent : of the float row, a / 2^exponent.
    right : a later right-hand side, as the user gave it.
    relaxed : whether the slack variable t stands in it.
    """

    base: list[int]
    scale: int
    is_equation: bool
    exponent: int
    right: Fraction | None = None
    relaxed: bool = True

    def integers(self) -> tuple[list[int], int]:
        """The current integer row, and by how much it is larger than the user's."""
        if self.right is None and self.relaxed:
            return self.base, self.scale
        side = Fraction(self.base[-1]) if self.right is None else self.right * self.scale
        factor = side.denominator
        slack = self.base[-2] * factor if self.relaxed else 0
        return [
            *(entry * factor for entry in self.base[:-2]),
            slack,
            side.numerator,
        ], self.scale * factor

    def float_side(self) -> float:
        """The right-hand side of the float row."""
        side = Fraction(self.base[-1]) if self.right is None else self.right * self.scale
        return clamped(nearest_float(side.numerator, side.denominator << self.exponent))


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
        self.bounds = ColumnBounds([*lower, Fraction(0)], [*upper, Fraction(0)])
        self._sources: list[_Source] = []
        self._stale = False
        self._clear()

    def _clear(self) -> None:
        self.rows = Rows(self.columns + 1)
        self.scales: list[int] = []
        self._table = np.zeros((0, self.columns + 2))
        self._solver: FloatSolver | None = None

    def refresh(self) -> None:
        """Make the derived parts anew, if a change was interrupted."""
        if not self._stale:
            return
        self._clear()
        for source in self._sources:
            row, scale = source.integers()
            self.rows.extend([row], source.is_equation)
            self.scales.append(scale)
        self._stale = False

    @contextmanager
    def _changing(self) -> Iterator[None]:
        self.refresh()
        self._stale = True
        yield
        self._stale = False  # not reached if the change was interrupted

    # -- changes ----------------------------------------------------------------------------------

    def append(self, rows: list[list[int]], scales: list[int], is_equation: bool) -> None:
        """Append integer rows [a | c]; takes them over."""
        if not rows:
            return
        exponents = [exponent_of(row) for row in rows]
        for row, exponent in zip(rows, exponents, strict=True):
            row.insert(-1, 1 << exponent if exponent and not is_equation else 0)
        with self._changing():
            self._sources += [
                _Source(row, scale, is_equation, exponent)
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
            self._sources.pop()
            self.rows.pop()
            self.scales.pop()
            if self._solver is not None:
                self._solver.delete_last_row()
            self._table = self._table[: len(self.rows)]

    def change_right(self, index: int, right: Fraction) -> None:
        """Give a row another right-hand side."""
        with self._changing():
            source = self._sources[index]
            source.right = right
            self._replace(index, source)
            if self._solver is not None:
                side = self.table()[index, -1]
                self._solver.change_row(index, side if source.is_equation else -np.inf, side)

    def set_slack(self, index: int, used: bool) -> None:
        """Let the slack variable t stand in an inequality, or take it out."""
        with self._changing():
            source = self._sources[index]
            source.relaxed = used
            self._replace(index, source)
            if self._solver is not None:
                self._solver.change_coefficient(index, self.columns, self.table()[index, -2])

    def set_all_slacks(self) -> None:
        """Let the slack variable t stand in all inequalities again."""
        for index, source in enumerate(self._sources):
            if not source.relaxed:
                self.set_slack(index, True)

    def _replace(self, index: int, source: _Source) -> None:
        """Bring row `index` into step with its source; the float coefficients stay as they are."""
        row, self.scales[index] = source.integers()
        self.rows.replace(index, row)
        if index < len(self._table):
            self._table[index, -2:] = float(row[-2] != 0), source.float_side()

    def set_slack_range(self, lower: int | None, upper: int) -> None:
        """Bounds of the slack variable t."""
        low, high = self.bounds.lower[-1], self.bounds.upper[-1]
        self.bounds.restrict(self.columns, lower, upper)
        if self._solver is not None and (low, high) != (
            self.bounds.lower[-1],
            self.bounds.upper[-1],
        ):
            self._solver.change_column(self.columns, -np.inf if lower is None else lower, upper)

    def zero_rows(self) -> list[int]:
        """The rows without coefficients."""
        return [i for i, source in enumerate(self._sources) if not source.exponent]

    # -- guesses ----------------------------------------------------------------------------------

    def table(self) -> NDArray[np.float64]:
        """The rows [a | s | c] as floats, each divided by a power of two, s by itself; made when they are needed."""
        known = len(self._table)
        if known < len(self._sources):
            new = self._sources[known:]
            table = to_floats([source.base for source in new], [source.exponent for source in new])
            for i, source in enumerate(new, known):
                table[i - known, -2] = float(self.rows.entries[i][-2] != 0)
                if source.right is not None:
                    table[i - known, -1] = source.float_side()
            self._table = np.concatenate([self._table, table]) if known else table
        return self._table

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
