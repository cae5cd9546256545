"""The simplex method in exact arithmetic, from any basis, primal or dual feasible or neither.

The method starts from the basis that HiGHS guesses. If that is optimal, both phases below end
without a pivot, and what remains is the verification of the guess by two linear solves.

Phase 1 is the dual simplex method for a modified objective: without the constraints whose
multipliers have the wrong sign, the basis is dual feasible. It ends with a feasible point. Phase 2
is the primal simplex method for the true objective. After a number of pivots without progress
(`STALL_LIMIT`), Bland's rule chooses the pivots until there is progress.

Proof that it ends: a pivot with progress changes the value of the objective monotonically, and a
sequence of pivots without progress ends by Bland's rule (the least index enters and leaves). A
pinned column leaves the basis as soon as it can and never returns, which happens at most once for
each column; equations and fixed columns never leave. In phase 1 pinned columns have coordinate 0,
so that the ratio of a pivot that frees a pinned column is 0 and the basis stays dual feasible.

The order of the constraints for Bland's rule: row i has index i, column j has index (number of
rows) + j.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpz

from polyrelu.exact.floats import nearest_float
from polyrelu.exact.lp.basis import (
    Basis,
    BasisCoordinates,
    RationalVector,
    repair_basis,
    slack_basis,
)
from polyrelu.exact.lp.bounds import Side
from polyrelu.exact.lp.float_filter import certain_signs
from polyrelu.exact.lp.highs import Guess
from polyrelu.exact.lp.model import Model
from polyrelu.exact.lp.pivoting import (
    STALL_LIMIT,
    ExactOptimum,
    ExactRay,
    Infeasibility,
    Violation,
    least_ratio,
)

__all__ = ["Simplex"]


class Simplex:
    """Maximise objective · x over the rows and bounds of a model, starting from a guess.

    Attributes
    ----------
    pivots
        Number of pivots so far.
    """

    def __init__(self, model: Model, objective: Sequence[int], guess: Guess | None) -> None:
        self._model, self._rows, self._bounds = model, model.rows, model.bounds
        self._objective = list(objective)
        self._basis = self._start(guess)
        self._coordinates = self._basis.coordinates(self._objective)[0]
        self.pivots = 0
        self._stalled = 0

    def _start(self, guess: Guess | None) -> Basis:
        """The guessed basis, repaired if its normals are dependent."""
        rows, bounds = self._rows, self._bounds
        if guess is None:
            return slack_basis(rows, bounds)
        fixed = {j: bounds.corrected(j, side) for j, side in guess.fixed.items()}
        if len(guess.rows) + len(fixed) == rows.columns:
            basis = Basis(rows, bounds, guess.rows, fixed)
            if basis.is_independent():
                return basis
        return repair_basis(rows, bounds, guess.rows, fixed)

    def solve(self) -> ExactOptimum | ExactRay | Infeasibility:
        """Run the dual method to a feasible point, then the primal method to the optimum."""
        infeasible = self._dual_infeasible(self._coordinates)
        objective: Sequence[int | fmpz] = self._objective
        if infeasible:
            objective = self._dual_feasible_part(self._coordinates, infeasible)
        result = self._dual_steps(objective)
        if isinstance(result, Infeasibility):
            return result
        if not infeasible and not self.pivots:
            return ExactOptimum(result, self._coordinates)
        return self._primal_steps(result)

    def dual_bound(self) -> BasisCoordinates | None:
        """Return the objective's coordinates in the first basis if they are dual feasible.

        They prove an upper bound for the maximum without a feasible point.
        """
        return None if self._dual_infeasible(self._coordinates) else self._coordinates

    # -- signs ------------------------------------------------------------------------------------

    def _dual_infeasible(self, coordinates: BasisCoordinates) -> list[tuple[int, fmpz]]:
        """Constraints whose coordinate has the wrong sign, by index, with that coordinate."""
        is_equation, shift, fixed = self._rows.is_equation, len(self._rows), self._basis.fixed
        rows = [(r, y) for r, y in coordinates.rows.items() if y < 0 and not is_equation[r]]
        columns = [
            (shift + j, d)
            for j, d in coordinates.columns.items()
            if d != 0 and (side := fixed[j]) is not Side.FIXED and side * d <= 0
        ]
        return sorted(rows + columns) if rows or columns else []

    def _dual_feasible_part(
        self, coordinates: BasisCoordinates, infeasible: list[tuple[int, fmpz]]
    ) -> list[fmpz]:
        """A multiple of the objective minus its dual infeasible coordinates."""
        target = [coordinates.denominator * entry for entry in self._objective]
        for index, value in infeasible:
            if index < len(self._rows):
                for j, entry in enumerate(self._rows.entries[index][:-1]):
                    target[j] -= value * entry
            else:
                target[index - len(self._rows)] -= value
        return target

    # -- dual steps -------------------------------------------------------------------------------

    def _dual_steps(self, objective: Sequence[int | fmpz]) -> RationalVector | Infeasibility:
        """The dual simplex method: violated constraints enter the basis until there is none.

        The basis is dual feasible for the objective, and stays so.
        """
        self._stalled = 0
        while True:
            point = self._basis.point()
            violation = self._most_violated(point)
            if violation is None:
                return point
            direction, coordinates = self._basis.coordinates(self._normal(violation), objective)
            leaving, progress = self._dual_ratio(coordinates, direction)
            if leaving is None:
                return Infeasibility(violation, direction)
            self._pivot(leaving, violation.row, violation.column, violation.side, progress)

    def _most_violated(self, point: RationalVector) -> Violation | None:
        """The most violated constraint, by Bland's rule the first one; None at a feasible point."""
        shift, excess = len(self._rows), self._violated_rows(point)
        violated = [(i, self._scaled_violation(i, value)) for i, value in excess.items()]
        sides: dict[int, Side] = {}
        for column, side, distance in self._violated_bounds(point):
            violated.append((shift + column, distance))
            sides[column] = side
        if not violated:
            return None
        if self._has_stalled():
            index = violated[0][0]
        else:
            index = max(violated, key=lambda item: item[1])[0]
        if index >= shift:
            return Violation(None, index - shift, sides[index - shift], 1)
        return Violation(index, -1, Side.FIXED, 1 if excess[index] > 0 else -1)

    def _violated_rows(self, point: RationalVector) -> dict[int, fmpz]:
        """The violated rows and their violations; exact products where floats do not decide."""
        is_equation, tight = self._rows.is_equation, set(self._basis.rows)
        floats = [nearest_float(int(entry), int(point.denominator)) for entry in point.numerators]
        doubtful = np.flatnonzero(certain_signs(self._model.table(), floats) >= 0).tolist()
        if any(is_equation):
            doubtful = sorted(
                {*doubtful, *(i for i, equation in enumerate(is_equation) if equation)}
            )
        indices = [i for i in doubtful if i not in tight]
        excess = self._rows.products([*point.numerators, -point.denominator], indices)
        pairs = zip(indices, excess, strict=True)
        return {i: value for i, value in pairs if value > 0 or (value != 0 and is_equation[i])}

    def _scaled_violation(self, row: int, excess: fmpz) -> fmpz:
        """The violation of a row divided by a power of two of the size of its coefficients."""
        return abs(excess) >> self._rows.bits(row)

    def _normal(self, violation: Violation) -> list[int]:
        """The normal of the violated constraint, written as an inequality ≤."""
        if violation.row is not None:
            return [violation.sign * entry for entry in self._rows.entries[violation.row][:-1]]
        normal = [0] * self._rows.columns
        normal[violation.column] = int(violation.side)
        return normal

    def _violated_bounds(self, point: RationalVector) -> list[tuple[int, Side, fmpz]]:
        """Columns outside their bounds: side, and distance times the point's denominator."""
        bounds, violated = self._bounds, []
        for j in self._basis.columns:
            value = point.numerators[j] * bounds.denominator
            lower, upper = bounds.lower[j], bounds.upper[j]
            if upper is not None and value > upper * point.denominator:
                distance = (value - upper * point.denominator) // bounds.denominator
                violated.append((j, Side.UPPER, distance))
            elif lower is not None and value < lower * point.denominator:
                distance = (lower * point.denominator - value) // bounds.denominator
                violated.append((j, Side.LOWER, distance))
        return violated

    def _dual_ratio(
        self, coordinates: BasisCoordinates, direction: BasisCoordinates
    ) -> tuple[int | None, bool]:
        """The leaving constraint, of the least ratio coordinate / direction, and whether it is > 0.

        Ties go to the least index.
        """
        fixed, shift = self._basis.fixed, len(self._rows)
        candidates: list[tuple[int, fmpz, fmpz]] = []
        for j, alpha in direction.columns.items():
            if fixed[j] is Side.PINNED and alpha != 0:
                return shift + j, True  # a pinned column leaves for good: always progress
            if fixed[j] is not Side.FIXED and fixed[j] * alpha > 0:
                candidates.append((shift + j, abs(coordinates.columns[j]), abs(alpha)))
        for r, alpha in direction.rows.items():
            if alpha > 0 and not self._rows.is_equation[r]:
                candidates.append((r, coordinates.rows[r], alpha))
        if not candidates:
            return None, False
        best, value, _ = candidates[least_ratio(candidates)]
        return best, value != 0

    # -- primal steps -----------------------------------------------------------------------------

    def _primal_steps(self, point: RationalVector) -> ExactOptimum | ExactRay:
        """The primal simplex method: from a feasible basis along improving edges."""
        self._stalled = 0
        while True:
            coordinates = self._basis.coordinates(self._objective)[0]
            infeasible = self._dual_infeasible(coordinates)
            if not infeasible:
                return ExactOptimum(point, coordinates)
            leaving, value = (
                infeasible[0] if self._has_stalled() else max(infeasible, key=self._gain)
            )
            edge, step = self._edge(leaving, value)
            blocking = self._primal_ratio(point, edge, leaving, step)
            if blocking is None:
                return ExactRay(point, edge)
            entering, side, progress = blocking
            shift = len(self._rows)
            if entering < shift:
                self._pivot(leaving, entering, -1, side, progress)
            else:
                self._pivot(leaving, None, entering - shift, side, progress)
            point = self._basis.point()

    def _has_stalled(self) -> bool:
        """Whether Bland's rule has to choose the pivots."""
        return self._stalled > STALL_LIMIT * self._rows.columns

    def _gain(self, item: tuple[int, fmpz]) -> fmpz:
        """The size of a multiplier, for a row in units of the row's coefficients."""
        index, value = item
        if index >= len(self._rows):
            return abs(value)
        return abs(value) << self._rows.bits(index)

    def _edge(self, leaving: int, value: fmpz) -> tuple[RationalVector, int]:
        """The improving edge of a leaving constraint, and the step of a leaving column (row: 0)."""
        shift = len(self._rows)
        if leaving < shift:
            return self._basis.edge_from_row(leaving), 0
        step = 1 if value > 0 else -1
        return self._basis.edge_from_column(leaving - shift, step), step

    def _primal_ratio(
        self, point: RationalVector, edge: RationalVector, leaving: int, step: int
    ) -> tuple[int, Side, bool] | None:
        """The constraint that the edge meets first, its side, and whether the step is positive.

        None if nothing bounds the edge.
        """
        tight = set(self._basis.rows)
        others = [i for i in range(len(self._rows)) if i not in tight]
        rates = self._rows.products([*edge.numerators, 0], others)
        # An equation outside the basis holds at the point; the edge must not leave it to any side.
        is_equation = self._rows.is_equation
        met = [
            (i, abs(rate))
            for i, rate in zip(others, rates, strict=True)
            if rate > 0 or (rate != 0 and is_equation[i])
        ]
        excess = self._rows.products([*point.numerators, -point.denominator], [i for i, _ in met])
        candidates = [(i, -value, rate) for (i, rate), value in zip(met, excess, strict=True)]
        shift, bounds = len(self._rows), self._bounds
        moving = self._basis.columns if step == 0 else [*self._basis.columns, leaving - shift]
        sides: dict[int, Side] = {}
        for j in moving:
            rate = edge.numerators[j]
            bound = bounds.upper[j] if rate > 0 else bounds.lower[j]
            if rate == 0 or bound is None:
                continue
            room = bound * point.denominator - point.numerators[j] * bounds.denominator
            sides[shift + j] = Side.UPPER if rate > 0 else Side.LOWER
            candidates.append((shift + j, abs(room), abs(rate) * bounds.denominator))
        if not candidates:
            return None
        best, value, _ = candidates[least_ratio(candidates)]
        return best, sides.get(best, Side.FIXED), value != 0

    # -- exchange ---------------------------------------------------------------------------------

    def _pivot(
        self, leaving: int, row: int | None, column: int, side: Side, progress: bool
    ) -> None:
        """Replace a constraint of the basis by a row or, if `row` is None, by a bound."""
        shift = len(self._rows)
        rows, fixed = list(self._basis.rows), dict(self._basis.fixed)
        if leaving < shift:
            rows.remove(leaving)
        else:
            del fixed[leaving - shift]
        if row is None:
            fixed[column] = Side.FIXED if self._bounds.side(column) is Side.FIXED else side
        else:
            rows.append(row)
        self._basis = Basis(self._rows, self._bounds, rows, fixed)
        self.pivots += 1
        self._stalled = 0 if progress else self._stalled + 1
