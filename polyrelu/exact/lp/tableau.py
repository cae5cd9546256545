"""The simplex method on a table of integers, for small programs: exact pivots without a guess.

A pivot touches every entry of the table. For a small program (`is_small`) all pivots in Python take
less time than one call of a float solver. The rules are the rules of `simplex`, whose module
docstring proves that they end: the dual method for an objective without its terms of the wrong
sign, then the primal method; pinned columns leave once; Bland's rule after many pivots without
progress.

Here *basic* has its textbook meaning. The variables are the columns x_j and the slacks w_i = c_i -
a_i·x of the rows. The nonbasic variables are held at bounds, and correspond to the constraints of a
`Basis`: where w_i is nonbasic, row i is tight. The table contains the values of the basic
variables, and their rates of change when a nonbasic variable moves away from its bound, over one
common denominator D > 0:

    D · basic_i = values[i] + Σ_k table[k][i] (nonbasic_k - its bound).

At the start all x_j are nonbasic and D = 1. After a pivot D is the absolute value of a minor of the
rows (Edmonds), so that all divisions are exact and no number is longer than a determinant. The
table is stored by columns, since few long lists are faster than many short ones. Bounds and values
are numerators over the denominator of the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from flint import fmpz

from polyrelu.exact.lp.basis import BasisCoordinates, RationalVector
from polyrelu.exact.lp.bounds import Side
from polyrelu.exact.lp.model import Model
from polyrelu.exact.lp.pivoting import (
    STALL_LIMIT,
    ExactInfeasibility,
    ExactOptimum,
    ExactRay,
    ViolatedBound,
    ViolatedRow,
    least_ratio,
)

__all__ = ["Tableau", "is_small"]


@dataclass(frozen=True, slots=True)
class TableauSettings:
    """Limits of the tableau, as measured.

    Attributes
    ----------
    entries
        Maximum number of entries; for larger tables HiGHS and a verification are faster.
    columns
        Maximum number of columns, for the same reason.
    python_bits
        Maximum number of bits of the rows for Python's integers; for longer ones FLINT's integers
        are twice as fast, for shorter ones a fifth slower.
    """

    entries: int = 100
    columns: int = 5
    python_bits: int = 100


_SETTINGS = TableauSettings()


def is_small(model: Model) -> bool:
    """Return whether the tableau is the faster method for a model."""
    columns = len(_used_columns(model))
    return columns <= _SETTINGS.columns and columns * len(model.rows) <= _SETTINGS.entries


def _used_columns(model: Model) -> range:
    """Return all columns, without the slack variable t if it is fixed at 0."""
    return range(model.columns if model.bounds.is_zero(model.columns) else model.columns + 1)


@dataclass(slots=True)
class _Nonbasic:
    """A nonbasic variable.

    Attributes
    ----------
    label
        The number i for the slack of row i, (number of rows) + j for column j.
    side
        The bound where the variable is; a slack is at its lower bound 0, or fixed in an equation.
    value
        The value, a numerator over the denominator of the bounds.
    """

    label: int
    side: Side
    value: int

    def may_move(self, step: int) -> bool:
        """Return whether the variable may grow (step > 0) or shrink (step < 0)."""
        return self.side is Side.PINNED or (self.side is not Side.FIXED and self.side * step < 0)


class Tableau:
    """Maximise objective · x over the rows and bounds of a small model.

    Attributes
    ----------
    pivots
        Number of pivots so far.
    """

    def __init__(self, model: Model, objective: Sequence[int]) -> None:
        rows, self._bounds, self._count = model.rows, model.bounds, len(model.rows)
        self._width = model.columns + 1
        self._equations = {i for i, is_equation in enumerate(rows.is_equation) if is_equation}
        self._sizes = [rows.bits(i) for i in range(self._count)]
        number = self._number_type()
        used = _used_columns(model)
        self._basic = list(range(self._count))
        self._nonbasic = [self._start(j, objective[j]) for j in used]
        # By columns: the rates of the basic variables, then of the objective; in the dual method
        # with a modified objective, its rate is last.
        self._table: list[list[int]] = [
            [*(number(-row[j]) for row in rows.entries), number(objective[j])] for j in used
        ]
        self._values: list[int] = [
            number(row[-1] * self._bounds.denominator) for row in rows.entries
        ]
        for held, column in zip(self._nonbasic, self._table, strict=True):
            if held.value:
                self._move_nonbasic(column, held.value)
        # The places of all basic variables that are not slacks of inequalities.
        self._general_rows = set(self._equations)
        self._denominator: int = 1
        self._stalled = 0
        self.pivots = 0

    def _start(self, column: int, gain: int) -> _Nonbasic:
        """Put a nonbasic column at the bound that is better for the objective, if it has one."""
        side = self._bounds.corrected(column, Side.UPPER) if gain > 0 else self._bounds.side(column)
        return _Nonbasic(self._count + column, side, self._bounds.at(column, side))

    def _number_type(self) -> Callable[[int], int]:
        """Return the constructor of Python's or FLINT's integers, which have the same operators."""
        if max(self._sizes, default=0) <= _SETTINGS.python_bits:
            return int
        return cast("Callable[[int], int]", fmpz)

    def solve(self) -> ExactOptimum | ExactRay | ExactInfeasibility:
        """Run the dual method to a feasible point, then the primal method to the optimum."""
        infeasible = self._dual_infeasible()
        if infeasible:  # the dual method maximises the objective without the terms of wrong sign
            for k, column in enumerate(self._table):
                column.append(0 if k in infeasible else column[-1])
        result = self._dual_steps()
        if result is not None:
            return result
        if not infeasible:
            return self._optimum()
        for column in self._table:
            column.pop()
        return self._primal_steps()

    # -- signs ------------------------------------------------------------------------------------

    def _dual_infeasible(self) -> list[int]:
        """List the nonbasic variables whose movement improves the last objective, by position."""
        pairs = enumerate(zip(self._nonbasic, self._table, strict=True))
        return [k for k, (held, column) in pairs if column[-1] and held.may_move(column[-1])]

    def _bounds_of(self, label: int) -> tuple[int | None, int | None]:
        """Return the bounds of a variable, numerators over the denominator of the bounds."""
        if label < self._count:
            return 0, 0 if label in self._equations else None
        return self._bounds.lower[label - self._count], self._bounds.upper[label - self._count]

    # -- dual steps -------------------------------------------------------------------------------

    def _dual_steps(self) -> ExactInfeasibility | None:
        """Run the dual method: violated basic variables leave to their bounds."""
        self._stalled = 0
        while True:
            violation = self._most_violated()
            if violation is None:
                return None
            row, step, bound = violation
            entering, progress = self._dual_ratio(row, step)
            if entering is None:
                return self._infeasibility(row, step)
            self._pivot(row, entering, Side.LOWER if step > 0 else Side.UPPER, bound)
            self._count_step(progress)

    def _most_violated(self) -> tuple[int, int, int] | None:
        """Return the most violated basic variable, by Bland's rule the one of the least label.

        Returns
        -------
        tuple of int, or None
            Its row in the table, +1 if it must grow and -1 if it must shrink, and the bound. None
            if no variable violates a bound.
        """
        violated = [
            (-value >> self._sizes[self._basic[row]], self._basic[row], row, 1, 0)
            for row, value in enumerate(self._values)
            if value < 0 and row not in self._general_rows
        ]
        for row in self._general_rows:
            label, value = self._basic[row], self._values[row]
            lower, upper = self._bounds_of(label)
            if lower is not None and value < lower * self._denominator:
                violated.append((lower * self._denominator - value, label, row, 1, lower))
            elif upper is not None and value > upper * self._denominator:
                violated.append((value - upper * self._denominator, label, row, -1, upper))
        if not violated:
            return None
        if self._has_stalled():
            return min(violated, key=lambda item: item[1])[2:]
        return max(violated, key=lambda item: item[0])[2:]

    def _dual_ratio(self, row: int, step: int) -> tuple[int | None, bool]:
        """Choose the entering variable, of the least ratio of objective and rate.

        Ties go to the least label. The result has the position of the variable, None if no variable
        can enter, and whether the ratio is positive.
        """
        candidates: list[tuple[int, int, int]] = []
        positions: list[int] = []
        for k, (held, column) in enumerate(zip(self._nonbasic, self._table, strict=True)):
            rate = column[row]
            if rate and held.may_move(rate * step):
                if held.side is Side.PINNED:
                    return k, True  # a pinned column leaves for good: always progress
                candidates.append((held.label, abs(column[-1]), abs(rate)))
                positions.append(k)
        if not candidates:
            return None, False
        best = least_ratio(candidates)
        return positions[best], candidates[best][1] != 0

    # -- primal steps -----------------------------------------------------------------------------

    def _primal_steps(self) -> ExactOptimum | ExactRay:
        """Return the primal method: from a feasible point along improving edges."""
        self._stalled = 0
        while True:
            infeasible = self._dual_infeasible()
            if not infeasible:
                return self._optimum()
            if self._has_stalled():
                k = min(infeasible, key=lambda k: self._nonbasic[k].label)
            else:
                k = max(infeasible, key=lambda k: abs(self._table[k][-1]))
            step = 1 if self._table[k][-1] > 0 else -1
            blocking = self._primal_ratio(k, step)
            if blocking is None:
                return self._ray(k, step)
            row, bound, progress = blocking
            if row is None:
                self._flip(k, step)
            else:
                self._pivot(
                    row, k, Side.UPPER if self._table[k][row] * step > 0 else Side.LOWER, bound
                )
            self._count_step(progress)

    def _primal_ratio(self, k: int, step: int) -> tuple[int | None, int, bool] | None:
        """Return the variable that the edge brings to a bound first.

        Returns
        -------
        tuple of int or None, int and bool, or None
            Its row (None for the moving variable itself), the bound, and whether the step is
            positive. None if nothing bounds the edge.
        """
        candidates: list[tuple[int, int, int]] = []
        blocking: list[tuple[int | None, int]] = []
        for row, (label, value) in enumerate(zip(self._basic, self._values, strict=True)):
            rate = self._table[k][row] * step
            if not rate:
                continue
            bound = self._bounds_of(label)[rate > 0]
            if bound is not None:
                candidates.append((label, abs(value - bound * self._denominator), abs(rate)))
                blocking.append((row, bound))
        held = self._nonbasic[k]
        lower, upper = self._bounds_of(held.label)
        if lower is not None and upper is not None:
            candidates.append((held.label, upper - lower, 1))
            blocking.append((None, 0))
        if not candidates:
            return None
        best = least_ratio(candidates)
        return *blocking[best], candidates[best][1] != 0

    def _flip(self, k: int, step: int) -> None:
        """Move a nonbasic variable from one of its bounds to the other."""
        held = self._nonbasic[k]
        side = Side.UPPER if step > 0 else Side.LOWER
        bound = self._bounds.at(held.label - self._count, side)
        self._move_nonbasic(self._table[k], bound - held.value)
        self._nonbasic[k] = _Nonbasic(held.label, side, bound)

    def _move_nonbasic(self, column: list[int], distance: int) -> None:
        """Update the values of the basic variables when a nonbasic one moves by a distance."""
        self._values = [
            value + rate * distance for value, rate in zip(self._values, column, strict=False)
        ]

    # -- exchange ---------------------------------------------------------------------------------

    def _pivot(self, row: int, k: int, side: Side, bound: int) -> None:
        """Exchange the basic variable of a row, which moves to a bound, with a nonbasic one."""
        label, held = self._basic[row], self._nonbasic[k]
        column, old = self._table[k], self._denominator
        size, sign = abs(column[row]), 1 if column[row] > 0 else -1
        excess = sign * (self._values[row] - bound * old)
        self._values = _eliminate(self._values, column, excess, size, old)
        self._values[row] = size * held.value - excess
        for j, other in enumerate(self._table):
            if j != k:
                entry = sign * other[row]
                self._table[j] = _eliminate(other, column, entry, size, old)
                self._table[j][row] = -entry
        if sign < 0:
            column[:] = [-entry for entry in column]
        column[row] = sign * old
        lower, upper = self._bounds_of(label)
        self._basic[row] = held.label
        self._nonbasic[k] = _Nonbasic(label, Side.FIXED if lower == upper else side, bound)
        self._denominator = size
        if held.label >= self._count:
            self._general_rows.add(row)
        else:
            self._general_rows.discard(row)

    def _has_stalled(self) -> bool:
        """Return whether Bland's rule has to choose the pivots."""
        return self._stalled > STALL_LIMIT * self._width

    def _count_step(self, progress: bool) -> None:
        """Count a pivot, and the pivots since the last progress."""
        self.pivots += 1
        self._stalled = 0 if progress else self._stalled + 1

    # -- results ----------------------------------------------------------------------------------

    def _point(self) -> RationalVector:
        """Return the values of all columns."""
        numerators: list[int] = [0] * self._width
        for label, value in zip(self._basic, self._values, strict=True):
            if label >= self._count:
                numerators[label - self._count] = value
        for held in self._nonbasic:
            if held.label >= self._count:
                numerators[held.label - self._count] = held.value * self._denominator
        return _vector(numerators, self._denominator * self._bounds.denominator)

    def _coordinates(self, row: int, sign: int) -> BasisCoordinates:
        """Return the coordinates of a table row's linear part, times a sign, in the basis.

        The normal of the slack of row i is -a_i.
        """
        rows, columns = {}, {}
        for held, column in zip(self._nonbasic, self._table, strict=True):
            if held.label < self._count:
                rows[held.label] = fmpz(-sign * column[row])
            else:
                columns[held.label - self._count] = fmpz(sign * column[row])
        return BasisCoordinates(rows, columns, fmpz(self._denominator))

    def _optimum(self) -> ExactOptimum:
        return ExactOptimum(self._point(), self._coordinates(self._count, 1))

    def _infeasibility(self, row: int, step: int) -> ExactInfeasibility:
        """Return the proof by a row whose variable must grow (`step` = 1) or shrink, and cannot."""
        label, side = self._basic[row], Side.LOWER if step > 0 else Side.UPPER
        violation: ViolatedRow | ViolatedBound
        if label < self._count:  # a slack that must grow: the left side of its row is too large
            violation = ViolatedRow(label, step)
        else:
            violation = ViolatedBound(label - self._count, side)
        return ExactInfeasibility(violation, self._coordinates(row, -step))

    def _ray(self, k: int, step: int) -> ExactRay:
        """Return the unbounded edge along which a nonbasic variable moves."""
        numerators: list[int] = [0] * self._width
        for label, rate in zip(self._basic, self._table[k], strict=False):
            if label >= self._count:
                numerators[label - self._count] = step * rate
        label = self._nonbasic[k].label
        if label >= self._count:
            numerators[label - self._count] = step * self._denominator
        return ExactRay(self._point(), _vector(numerators, self._denominator))


def _vector(numerators: list[int], denominator: int) -> RationalVector:
    return RationalVector([fmpz(entry) for entry in numerators], fmpz(denominator))


def _eliminate(
    entries: list[int], column: list[int], factor: int, size: int, old: int
) -> list[int]:
    """Return the integers (size · entries - factor · column) / old; the column may be longer."""
    if not factor:
        return [size * entry // old for entry in entries] if size != old else entries
    if old == 1:
        return [
            size * entry - factor * other for entry, other in zip(entries, column, strict=False)
        ]
    return [
        (size * entry - factor * other) // old
        for entry, other in zip(entries, column, strict=False)
    ]
