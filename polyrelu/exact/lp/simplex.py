"""The simplex method in exact arithmetic, from any active set, feasible or not, dual feasible or not.

First the dual method makes the point feasible, for an objective from which the wrong multipliers have been taken out;
then the primal method maximises the true objective. From the right active set both stop at once, and what remains is
the verification of a guess. Ties and cycles: after a run of steps that change nothing, Bland's rule takes over.

Why it ends: a step with progress changes the objective, a run of steps without progress ends by Bland's rule (the least
index enters and leaves). A pinned column leaves at once when it can and never comes back, which happens once for each
column; equations and fixed columns never leave. While the dual method runs, pinned columns have coordinate 0, so the
ratio of a step that frees one is 0 and no sign is lost.

Order of the constraints for Bland's rule: row i is i, column j is (number of rows) + j.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpz

from polyrelu.exact.floats import nearest_float
from polyrelu.exact.lp.basis import Basis, BasisCoordinates, RationalVector, default_basis, repaired
from polyrelu.exact.lp.bounds import Side
from polyrelu.exact.lp.float_filter import certain_signs
from polyrelu.exact.lp.highs import Guess
from polyrelu.exact.lp.model import Model
from polyrelu.exact.lp.pivoting import (
    PATIENCE,
    ExactOptimum,
    ExactRay,
    Infeasibility,
    Violation,
    least_ratio,
)

__all__ = ["Simplex"]


class Simplex:
    """Maximise objective · x over the rows and bounds.

    Attributes
    ----------
    pivots : number of exchanges made so far.
    """

    def __init__(self, model: Model, objective: Sequence[int], guess: Guess | None) -> None:
        self._model, self._rows, self._bounds = model, model.rows, model.bounds
        self._objective = list(objective)
        self._active, self._coordinates = self._start(guess)
        self.pivots = 0
        self._idle = 0

    def _start(self, guess: Guess | None) -> tuple[Basis, BasisCoordinates]:
        """The active set of a guess, repaired if its normals are dependent, and the objective in it."""
        rows, bounds = self._rows, self._bounds
        if guess is None:
            active = default_basis(rows, bounds)
            return active, active.coordinates(self._objective)[0]
        fixed = {j: bounds.corrected(j, side) for j, side in guess.fixed.items()}
        square = len(guess.rows) + len(fixed) == rows.columns
        guessed = Basis(rows, bounds, guess.rows, fixed) if square else None
        if guessed is None or not guessed.is_independent():
            guessed = repaired(rows, bounds, guess.rows, fixed)
        return guessed, guessed.coordinates(self._objective)[0]

    def solve(self) -> ExactOptimum | ExactRay | Infeasibility:
        """Dual steps to a feasible point, then primal steps to the optimum."""
        wrong = self._wrong(self._coordinates)
        target = self._without(self._coordinates, wrong) if wrong else self._objective
        found = self._dual_steps(target)
        if isinstance(found, Infeasibility):
            return found
        if not wrong and not self.pivots:
            return ExactOptimum(found, self._coordinates)
        return self._primal_steps(found)

    def dual_bound(self) -> BasisCoordinates | None:
        """The objective's coordinates at the start if they are of the right sign: an upper bound without a point."""
        return None if self._wrong(self._coordinates) else self._coordinates

    # -- signs ------------------------------------------------------------------------------------

    def _wrong(self, coordinates: BasisCoordinates) -> list[tuple[int, fmpz]]:
        """Constraints whose coordinate has the wrong sign, ordered, with that coordinate."""
        is_equation, shift, fixed = self._rows.is_equation, len(self._rows), self._active.fixed
        rows = [(r, y) for r, y in coordinates.rows.items() if y < 0 and not is_equation[r]]
        columns = [
            (shift + j, d)
            for j, d in coordinates.columns.items()
            if d != 0 and (side := fixed[j]) is not Side.FIXED and side * d <= 0
        ]
        return sorted(rows + columns) if rows or columns else []

    def _without(self, coordinates: BasisCoordinates, wrong: list[tuple[int, fmpz]]) -> list[fmpz]:
        """The objective (times a positive number) less its wrong part: the active set is dual feasible for it."""
        target = [coordinates.denominator * entry for entry in self._objective]
        for index, value in wrong:
            if index < len(self._rows):
                for j, entry in enumerate(self._rows.entries[index][:-1]):
                    target[j] -= value * entry
            else:
                target[index - len(self._rows)] -= value
        return target

    # -- dual steps -------------------------------------------------------------------------------

    def _dual_steps(self, objective: Sequence[int | fmpz]) -> RationalVector | Infeasibility:
        """Bring violated constraints in until there is none; the coordinates of `objective` keep their signs."""
        self._idle = 0
        while True:
            point = self._active.point()
            violation = self._violated(point)
            if violation is None:
                return point
            direction, coordinates = self._active.coordinates(self._normal(violation), objective)
            leaving, progress = self._dual_ratio(coordinates, direction)
            if leaving is None:
                return Infeasibility(violation, direction)
            self._exchange(leaving, violation.row, violation.column, violation.side, progress)

    def _violated(self, point: RationalVector) -> Violation | None:
        """The most violated constraint, or the first one if nothing has moved for a while."""
        shift, excess = len(self._rows), self._violations(point)
        found = [(i, self._relative(i, value)) for i, value in excess.items()]
        sides: dict[int, Side] = {}
        for column, side, distance in self._outside(point):
            found.append((shift + column, distance))
            sides[column] = side
        if not found:
            return None
        index = (
            found[0][0]
            if self._idle > PATIENCE * self._rows.columns
            else max(found, key=lambda item: item[1])[0]
        )
        if index >= shift:
            return Violation(None, index - shift, sides[index - shift], 1)
        return Violation(index, -1, Side.FIXED, 1 if excess[index] > 0 else -1)

    def _violations(self, point: RationalVector) -> dict[int, fmpz]:
        """The violated rows and by how much. Most rows are seen to hold in floats; those in doubt are computed."""
        is_equation, active = self._rows.is_equation, set(self._active.rows)
        floats = [nearest_float(int(entry), int(point.denominator)) for entry in point.numerators]
        doubtful = np.flatnonzero(certain_signs(self._model.table(), floats) >= 0).tolist()
        if any(is_equation):
            doubtful = sorted(
                {*doubtful, *(i for i, equation in enumerate(is_equation) if equation)}
            )
        indices = [i for i in doubtful if i not in active]
        excess = self._rows.products([*point.numerators, -point.denominator], indices)
        pairs = zip(indices, excess, strict=True)
        return {i: value for i, value in pairs if value > 0 or (value != 0 and is_equation[i])}

    def _relative(self, row: int, excess: fmpz) -> fmpz:
        """The violation of a row in units of its largest coefficient, roughly: a bit shift."""
        return abs(excess) >> self._rows.bits(row)

    def _normal(self, violation: Violation) -> list[int]:
        """The normal of the violated constraint, written as ≤."""
        if violation.row is not None:
            return [violation.sign * entry for entry in self._rows.entries[violation.row][:-1]]
        normal = [0] * self._rows.columns
        normal[violation.column] = int(violation.side)
        return normal

    def _outside(self, point: RationalVector) -> list[tuple[int, Side, fmpz]]:
        """Columns outside their bounds, with the side and the distance (times the point's denominator)."""
        bounds, found = self._bounds, []
        for j in self._active.columns:
            value = point.numerators[j] * bounds.denominator
            lower, upper = bounds.lower[j], bounds.upper[j]
            if upper is not None and value > upper * point.denominator:
                found.append(
                    (j, Side.UPPER, (value - upper * point.denominator) // bounds.denominator)
                )
            elif lower is not None and value < lower * point.denominator:
                found.append(
                    (j, Side.LOWER, (lower * point.denominator - value) // bounds.denominator)
                )
        return found

    def _dual_ratio(
        self, coordinates: BasisCoordinates, direction: BasisCoordinates
    ) -> tuple[int | None, bool]:
        """The constraint to leave: the smallest ratio coordinate / direction, the first one on ties."""
        fixed, shift = self._active.fixed, len(self._rows)
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
        """From a feasible active set along improving edges."""
        self._idle = 0
        while True:
            coordinates = self._active.coordinates(self._objective)[0]
            wrong = self._wrong(coordinates)
            if not wrong:
                return ExactOptimum(point, coordinates)
            leaving, value = (
                wrong[0]
                if self._idle > PATIENCE * self._rows.columns
                else max(wrong, key=self._gain)
            )
            edge, step = self._edge(leaving, value)
            blocking = self._primal_ratio(point, edge, leaving, step)
            if blocking is None:
                return ExactRay(point, edge)
            entering, side, progress = blocking
            shift = len(self._rows)
            if entering < shift:
                self._exchange(leaving, entering, -1, side, progress)
            else:
                self._exchange(leaving, None, entering - shift, side, progress)
            point = self._active.point()

    def _gain(self, item: tuple[int, fmpz]) -> fmpz:
        index, value = item
        if index >= len(self._rows):
            return abs(value)
        return abs(value) << self._rows.bits(index)

    def _edge(self, leaving: int, value: fmpz) -> tuple[RationalVector, int]:
        shift = len(self._rows)
        if leaving < shift:
            return self._active.edge_from_row(leaving), 0
        step = 1 if value > 0 else -1
        return self._active.edge_from_column(leaving - shift, step), step

    def _primal_ratio(
        self, point: RationalVector, edge: RationalVector, leaving: int, step: int
    ) -> tuple[int, Side, bool] | None:
        """The first constraint that the edge meets, the side if it is a bound, and whether the step is positive."""
        tight = set(self._active.rows)
        others = [i for i in range(len(self._rows)) if i not in tight]
        rates = self._rows.products([*edge.numerators, 0], others)
        is_equation = (
            self._rows.is_equation
        )  # one that holds without being active must not be left to either side
        met = [
            (i, abs(rate))
            for i, rate in zip(others, rates, strict=True)
            if rate > 0 or (rate != 0 and is_equation[i])
        ]
        excess = self._rows.products([*point.numerators, -point.denominator], [i for i, _ in met])
        candidates = [(i, -value, rate) for (i, rate), value in zip(met, excess, strict=True)]
        shift, bounds = len(self._rows), self._bounds
        moving = self._active.columns if step == 0 else [*self._active.columns, leaving - shift]
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

    def _exchange(
        self, leaving: int, row: int | None, column: int, side: Side, progress: bool
    ) -> None:
        """Replace an active constraint by a row or, if `row` is None, by a bound."""
        shift = len(self._rows)
        rows, fixed = list(self._active.rows), dict(self._active.fixed)
        if leaving < shift:
            rows.remove(leaving)
        else:
            del fixed[leaving - shift]
        if row is None:
            fixed[column] = Side.FIXED if self._bounds.side(column) is Side.FIXED else side
        else:
            rows.append(row)
        self._active = Basis(self._rows, self._bounds, rows, fixed)
        self.pivots += 1
        self._idle = 0 if progress else self._idle + 1
