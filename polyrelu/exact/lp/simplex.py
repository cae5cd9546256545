"""The simplex method in exact arithmetic, from any basis, primal or dual feasible or neither.

The method starts from the basis that HiGHS guesses, a set of active constraints (see `basis`). If
that basis is optimal, both phases below end without a pivot, and the guess has been verified by two
linear solves: one for the basic solution, one for the dual multipliers.

Phase 1 finds a feasible point by the dual simplex method, which needs a dual feasible basis. Its
objective is therefore modified: the terms of the constraints whose coordinates have the wrong sign
are subtracted, so that these coordinates become 0. The constraints themselves stay. Phase 2 is the
primal simplex method for the true objective. If `STALL_LIMIT` pivots per column bring no progress,
Bland's rule chooses the pivots until there is progress.

Proof that the method ends: A pivot with progress changes the value of the objective, in one phase
always in the same direction, so that no basis returns; and under Bland's rule (the least index
enters and leaves) there are finitely many pivots without progress in a row. A pinned column leaves
the basis as soon as it can and never returns, which happens at most once for each column. Equations
and fixed columns never leave the basis. In phase 1 pinned columns have coordinate 0, so that the
ratio of a pivot that frees a pinned column is 0 and the basis stays dual feasible.

For Bland's rule all constraints have one order: row i has *index* i, column j has index (number of
rows) + j. The methods below name constraints by these indices.
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
    ExactInfeasibility,
    ExactOptimum,
    ExactRay,
    ViolatedBound,
    ViolatedRow,
    least_ratio,
)

__all__ = ["PivotLimitReached", "Simplex"]


class PivotLimitReached(Exception):  # noqa: N818 - no error: the program is given up
    """Raised where a program would need more exact pivots than were allowed."""


class Simplex:
    """Maximise objective · x over the rows and bounds of a model, starting from a guess.

    Attributes
    ----------
    pivots
        Number of pivots so far.
    """

    def __init__(
        self,
        model: Model,
        objective: Sequence[int],
        guess: Guess | None,
        max_pivots: int | None = None,
    ) -> None:
        self._model, self._rows, self._bounds = model, model.rows, model.bounds
        self._objective = list(objective)
        self._basis = self._start(guess)
        self._first_coordinates = self._basis.coordinates(self._objective)[0]
        self.pivots, self._max_pivots = 0, max_pivots
        self._stalled = 0  # number of pivots since the last progress

    def _start(self, guess: Guess | None) -> Basis:
        """Return the guessed basis, repaired if it does not consist of n independent normals."""
        rows, bounds = self._rows, self._bounds
        if guess is None:
            return slack_basis(rows, bounds)
        nonbasic = {j: bounds.corrected(j, side) for j, side in guess.nonbasic.items()}
        if len(guess.tight_rows) + len(nonbasic) == rows.columns:
            basis = Basis(rows, bounds, guess.tight_rows, nonbasic)
            if basis.is_independent():
                return basis
        return repair_basis(rows, bounds, guess.tight_rows, nonbasic)

    def solve(self) -> ExactOptimum | ExactRay | ExactInfeasibility:
        """Run the dual method to a feasible point, then the primal method to the optimum."""
        wrong = self._wrong_signs(self._first_coordinates)
        objective: Sequence[int | fmpz] = self._objective
        if wrong:
            objective = self._dual_feasible_objective(self._first_coordinates, wrong)
        result = self._dual_steps(objective)
        if isinstance(result, ExactInfeasibility):
            return result
        if not wrong and not self.pivots:
            return ExactOptimum(result, self._first_coordinates)
        return self._primal_steps(result)

    def dual_bound(self) -> BasisCoordinates | None:
        """Return the objective's coordinates in the first basis if they are dual feasible.

        They prove an upper bound for the maximum without a feasible point.
        """
        return None if self._wrong_signs(self._first_coordinates) else self._first_coordinates

    # -- signs ------------------------------------------------------------------------------------

    def _wrong_signs(self, coordinates: BasisCoordinates) -> list[tuple[int, fmpz]]:
        """List the constraints that make the basis dual infeasible: index and coordinate."""
        is_equation, shift = self._rows.is_equation, len(self._rows)
        sides = self._basis.nonbasic
        rows = [(r, y) for r, y in coordinates.tight_rows.items() if y < 0 and not is_equation[r]]
        columns = [
            (shift + j, d)
            for j, d in coordinates.nonbasic.items()
            if d != 0 and (side := sides[j]) is not Side.FIXED and side * d <= 0
        ]
        return sorted(rows + columns) if rows or columns else []

    def _dual_feasible_objective(
        self, coordinates: BasisCoordinates, wrong: list[tuple[int, fmpz]]
    ) -> list[fmpz]:
        """Return a positive multiple of the objective without its terms of the wrong sign."""
        target = [coordinates.denominator * entry for entry in self._objective]
        for index, value in wrong:
            if index < len(self._rows):
                for j, entry in enumerate(self._rows.entries[index][:-1]):
                    target[j] -= value * entry
            else:
                target[index - len(self._rows)] -= value
        return target

    # -- dual steps -------------------------------------------------------------------------------

    def _dual_steps(self, objective: Sequence[int | fmpz]) -> RationalVector | ExactInfeasibility:
        """Run the dual simplex method: violated constraints enter until none is violated.

        The basis must be dual feasible for the objective, and it remains dual feasible. The result
        is a feasible point, or a proof that there is none.
        """
        self._stalled = 0
        while True:
            point = self._basis.point()
            violation = self._most_violated(point)
            if violation is None:
                return point
            normal, coordinates = self._basis.coordinates(self._normal(violation), objective)
            leaving, progress = self._dual_ratio(coordinates, normal)
            if leaving is None:
                return ExactInfeasibility(violation, normal)
            if isinstance(violation, ViolatedRow):
                self._pivot(leaving, violation.row, None, progress)
            else:
                entering = len(self._rows) + violation.column
                self._pivot(leaving, entering, violation.side, progress)

    def _most_violated(self, point: RationalVector) -> ViolatedRow | ViolatedBound | None:
        """Find the most violated constraint; under Bland's rule the one of least index.

        The result is None at a feasible point.
        """
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
            return ViolatedBound(index - shift, sides[index - shift])
        return ViolatedRow(index, 1 if excess[index] > 0 else -1)

    def _violated_rows(self, point: RationalVector) -> dict[int, fmpz]:
        """Find the violated rows, with (left side - right side) · the point's denominator.

        Floats exclude most inequalities; the other rows are computed exactly.
        """
        is_equation, tight = self._rows.is_equation, set(self._basis.tight_rows)
        floats = [nearest_float(int(entry), int(point.denominator)) for entry in point.numerators]
        signs = certain_signs(self._model.table(), floats)
        possibly_violated = np.flatnonzero(signs != -1).tolist()
        if any(is_equation):
            equations = (i for i, equation in enumerate(is_equation) if equation)
            possibly_violated = sorted({*possibly_violated, *equations})
        indices = [i for i in possibly_violated if i not in tight]
        excess = self._rows.products([*point.numerators, -point.denominator], indices)
        pairs = zip(indices, excess, strict=True)
        return {i: value for i, value in pairs if value > 0 or (value != 0 and is_equation[i])}

    def _scaled_violation(self, row: int, excess: fmpz) -> fmpz:
        """Return the violation of a row, divided by a power of two near its largest coefficient."""
        return abs(excess) >> self._rows.bits(row)

    def _normal(self, violation: ViolatedRow | ViolatedBound) -> list[int]:
        """Return the normal of the violated constraint, written as an inequality ≤."""
        if isinstance(violation, ViolatedRow):
            return [violation.sign * entry for entry in self._rows.entries[violation.row][:-1]]
        normal = [0] * self._rows.columns
        normal[violation.column] = int(violation.side)
        return normal

    def _violated_bounds(self, point: RationalVector) -> list[tuple[int, Side, fmpz]]:
        """List the columns outside their bounds: side, and distance times the denominator."""
        bounds, violated = self._bounds, []
        for j in self._basis.basic_columns:
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
        self, coordinates: BasisCoordinates, normal: BasisCoordinates
    ) -> tuple[int | None, bool]:
        """Choose the constraint that leaves the basis in a dual step.

        Parameters
        ----------
        coordinates
            The coordinates of the objective.
        normal
            The coordinates of the normal of the entering constraint.

        Returns
        -------
        tuple of int or None, and bool
            The index of the constraint for which the ratio of the two coordinates is least (of the
            least index, if several have this ratio), and whether the ratio is positive. None if no
            constraint can leave, so that the program is infeasible.
        """
        sides, shift = self._basis.nonbasic, len(self._rows)
        candidates: list[tuple[int, fmpz, fmpz]] = []
        for j, alpha in normal.nonbasic.items():
            if sides[j] is Side.PINNED and alpha != 0:
                return shift + j, True  # a pinned column leaves for good, which is progress
            if sides[j] is not Side.FIXED and sides[j] * alpha > 0:
                candidates.append((shift + j, abs(coordinates.nonbasic[j]), abs(alpha)))
        for r, alpha in normal.tight_rows.items():
            if alpha > 0 and not self._rows.is_equation[r]:
                candidates.append((r, coordinates.tight_rows[r], alpha))
        if not candidates:
            return None, False
        best, value, _ = candidates[least_ratio(candidates)]
        return best, value != 0

    # -- primal steps -----------------------------------------------------------------------------

    def _primal_steps(self, point: RationalVector) -> ExactOptimum | ExactRay:
        """Return the primal simplex method: from a feasible basis along improving edges."""
        self._stalled = 0
        while True:
            coordinates = self._basis.coordinates(self._objective)[0]
            wrong = self._wrong_signs(coordinates)
            if not wrong:
                return ExactOptimum(point, coordinates)
            leaving, value = wrong[0] if self._has_stalled() else max(wrong, key=self._gain)
            edge = self._improving_edge(leaving, value)
            blocking = self._primal_ratio(point, edge, leaving)
            if blocking is None:
                return ExactRay(point, edge)
            self._pivot(leaving, *blocking)
            point = self._basis.point()

    def _has_stalled(self) -> bool:
        """Return whether Bland's rule has to choose, after many pivots without progress."""
        return self._stalled > STALL_LIMIT * self._rows.columns

    def _gain(self, item: tuple[int, fmpz]) -> fmpz:
        """Return the size of a coordinate, for rows scaled to normals of length about 1."""
        index, value = item
        if index >= len(self._rows):
            return abs(value)
        return abs(value) << self._rows.bits(index)

    def _improving_edge(self, leaving: int, value: fmpz) -> RationalVector:
        """Return the edge that leaves a constraint whose coordinate has the wrong sign."""
        shift = len(self._rows)
        if leaving < shift:
            return self._basis.edge_from_row(leaving)
        return self._basis.edge_from_column(leaving - shift, 1 if value > 0 else -1)

    def _primal_ratio(
        self, point: RationalVector, edge: RationalVector, leaving: int
    ) -> tuple[int, Side | None, bool] | None:
        """Return the constraint at which the way along an edge ends.

        Parameters
        ----------
        point
            A feasible point.
        edge
            The direction of the edge.
        leaving
            The index of the constraint of the basis that the edge leaves.

        Returns
        -------
        tuple of int, Side or None, and bool, or None
            The index of the constraint, its side if it is a bound, and whether the way has a
            positive length. None if the edge is unbounded.
        """
        tight = set(self._basis.tight_rows)
        others = [i for i in range(len(self._rows)) if i not in tight]
        rates = self._rows.products([*edge.numerators, 0], others)
        # An equation outside the basis holds at the point, and must also hold on the edge.
        is_equation = self._rows.is_equation
        bounding = [
            (i, abs(rate))
            for i, rate in zip(others, rates, strict=True)
            if rate > 0 or (rate != 0 and is_equation[i])
        ]
        excess = self._rows.products(
            [*point.numerators, -point.denominator], [i for i, _ in bounding]
        )
        candidates = [(i, -value, rate) for (i, rate), value in zip(bounding, excess, strict=True)]
        shift, bounds, moving = len(self._rows), self._bounds, self._basis.basic_columns
        if leaving >= shift:
            moving = [*moving, leaving - shift]
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
        return best, sides.get(best), value != 0

    # -- exchange ---------------------------------------------------------------------------------

    def _pivot(self, leaving: int, entering: int, side: Side | None, progress: bool) -> None:
        """Exchange a constraint of the basis for another one, which has a side if it is a bound."""
        if self._max_pivots is not None and self.pivots >= self._max_pivots:
            raise PivotLimitReached
        shift = len(self._rows)
        tight_rows, nonbasic = list(self._basis.tight_rows), dict(self._basis.nonbasic)
        if leaving < shift:
            tight_rows.remove(leaving)
        else:
            del nonbasic[leaving - shift]
        if side is None:
            tight_rows.append(entering)
        else:
            column = entering - shift
            nonbasic[column] = Side.FIXED if self._bounds.side(column) is Side.FIXED else side
        self._basis = Basis(self._rows, self._bounds, tight_rows, nonbasic)
        self.pivots += 1
        self._stalled = 0 if progress else self._stalled + 1
