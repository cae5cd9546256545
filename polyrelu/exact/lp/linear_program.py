"""The linear program that the other rooms use: add rows, ask, add or remove rows, ask again.

One formulation serves every question. Each inequality a·x ≤ c carries a slack variable t, a·x + s t ≤ c with s > 0 of
the size of a. With t fixed at 0 this is the program itself. With t ≤ 1 to be maximised, the maximum is positive if
there is a point strictly inside, negative if there is no point at all, and 0 if the feasible set is flat but not empty.
Zero rows carry no t, and neither do inequalities that turn out to be constant on the equations: they must hold, and say
nothing about the interior.

Bounds stay hard: whatever satisfies the rows strictly can be moved off the bounds without leaving a row. That needs
room around the point, so with equations (or fixed columns, which are equations) bounds become rows first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from polyrelu.errors import DomainError
from polyrelu.exact.linalg import solve
from polyrelu.exact.lp.dual_certificates import (
    crossing_bounds,
    farkas,
    integer_multipliers,
    multipliers,
    point_of,
    upper_bound,
)
from polyrelu.exact.lp.interior import floats_of, moved_inside, rounded, shortened
from polyrelu.exact.lp.model import Model
from polyrelu.exact.lp.parsing import (
    Numbers,
    read_bounds,
    read_index,
    read_number,
    read_rows,
    read_vector,
)
from polyrelu.exact.lp.pivoting import ExactOptimum, ExactRay, Infeasibility
from polyrelu.exact.lp.results import (
    FlatSet,
    Infeasible,
    InteriorPoint,
    Multipliers,
    Optimal,
    Point,
    Unbounded,
)
from polyrelu.exact.lp.simplex import Simplex
from polyrelu.exact.lp.tableau import Tableau, is_small
from polyrelu.exact.matrix import RationalMatrix

__all__ = ["LinearProgram"]


class LinearProgram:
    """Inequalities A x ≤ c, equations E x = e and bounds l ≤ x ≤ u in exact rational numbers.

    Rows are numbered in the order in which they are added, equations and inequalities together. A program can be asked
    any number of questions; unless it is small, what the last one left behind makes the next one faster.

    Parameters
    ----------
    columns : number of variables.
    lower, upper : one number or None (no bound) for each variable; None for no bounds at all.

    Raises
    ------
    DomainError : numbers of rows, right-hand sides or columns that do not fit.

    >>> square = LinearProgram(2, lower=[0, 0], upper=[1, 1])
    >>> square.add_inequalities([[1, 1]], ["3/2"])
    >>> best = square.maximize([1, 2])
    >>> best.value, best.point
    (Fraction(5, 2), (Fraction(1, 2), Fraction(1, 1)))
    >>> best.multipliers
    Multipliers(rows={0: Fraction(1, 1)}, upper={1: Fraction(1, 1)}, lower={})
    """

    def __init__(
        self,
        columns: int,
        lower: Sequence[object] | None = None,
        upper: Sequence[object] | None = None,
    ) -> None:
        self.columns = columns = read_index(columns, "number of columns")
        if columns < 0:
            raise DomainError(f"a program cannot have {columns} columns")
        self._lower, self._upper = read_bounds(lower, columns), read_bounds(upper, columns)
        self._model = Model(self._lower, self._upper)

    # -- building ---------------------------------------------------------------------------------

    def add_inequalities(self, rows: Sequence[Numbers] | RationalMatrix, right: Numbers) -> None:
        """Append the inequalities rows x ≤ right, with one number in `right` for each row."""
        self._model.append(*read_rows(rows, right, self.columns), is_equation=False)

    def add_equations(self, rows: Sequence[Numbers] | RationalMatrix, right: Numbers) -> None:
        """Append the equations rows x = right."""
        self._model.append(*read_rows(rows, right, self.columns), is_equation=True)

    def remove_last(self) -> None:
        """Remove the row that was added last."""
        if not len(self):
            raise DomainError("there is no row to remove")
        if self._model.rows.is_equation[
            -1
        ]:  # what was constant on the equations need not be any more
            self._model.set_all_slacks()
        self._model.remove_last()

    def change_right(self, row: int, right: object) -> None:
        """Replace the right-hand side of a row."""
        number = read_index(row, "row")
        if not 0 <= number < len(self):
            raise DomainError(f"there is no row {row}, only {len(self)} rows")
        self._model.change_right(number, read_number(right, "the right-hand side"))

    def __len__(self) -> int:
        """The number of rows."""
        self._model.refresh()
        return len(self._model.rows)

    def __bool__(self) -> bool:
        """A program without rows is a program too."""
        return True

    # -- questions --------------------------------------------------------------------------------

    def maximize(self, objective: Numbers) -> Optimal | Unbounded | Infeasible:
        """The maximum of objective·x, with a point and multipliers; or why there is none.

        >>> LinearProgram(1, lower=[0]).maximize([1])
        Unbounded(point=(Fraction(0, 1),), ray=(Fraction(1, 1),))
        """
        model = self._model
        model.refresh()
        *integers, scale = read_vector(objective, self.columns, "the objective")
        if (contradiction := self._contradiction()) is not None:
            return contradiction
        answer = self._maximum([*integers, 0])
        if isinstance(answer, Infeasible):
            return answer
        if isinstance(answer, Infeasibility):
            return Infeasible(farkas(model, answer))
        point = point_of(answer.point)
        if isinstance(answer, ExactRay):
            return Unbounded(point, point_of(answer.ray))
        value = sum(c * x for c, x in zip(integers, answer.point.numerators[:-1], strict=True))
        exact = Fraction(int(value), int(answer.point.denominator) * scale)
        return Optimal(exact, point, multipliers(model, answer.coordinates, scale))

    def minimize(self, objective: Numbers) -> Optimal | Unbounded | Infeasible:
        """The minimum of objective·x; the multipliers add up to -objective·x ≤ -value."""
        *integers, scale = read_vector(objective, self.columns, "the objective")
        answer = self.maximize([Fraction(-entry, scale) for entry in integers])
        return replace(answer, value=-answer.value) if isinstance(answer, Optimal) else answer

    def try_minimize(self, objective: Numbers) -> Optimal | None:
        """`minimize` where floats see a feasible point and the minimum is finite, otherwise None: no proof that there
        is no point, which takes much longer.

        >>> LinearProgram(1, lower=[0]).try_minimize([2]).value
        Fraction(0, 1)
        """
        *integers, scale = read_vector(objective, self.columns, "the objective")
        self._model.refresh()
        self._model.set_slack_range(0, 0)
        if self._contradiction() is None and not is_small(self._model):
            guess = self._model.guess([*(-entry for entry in integers), 0])
            if guess is None or not guess.feasible:
                return None
        answer = self.minimize([Fraction(entry, scale) for entry in integers])
        return answer if isinstance(answer, Optimal) else None

    def maximize_each(
        self, objectives: Iterable[Numbers]
    ) -> Iterator[Optimal | Unbounded | Infeasible]:
        """`maximize` for one objective after the other, each when it is asked for."""
        return (self.maximize(objective) for objective in objectives)

    def interior_point(self) -> InteriorPoint | FlatSet | Infeasible:
        """A point inside all inequalities and bounds, relative to the equations, or a proof that there is none.

        Columns with equal bounds count as equations. Inequalities and bounds that are constant on the equations (zero
        rows, if there are none) must hold, but not strictly. (`Polyhedron.interior_point` means the interior in R^n.)

        >>> interval = LinearProgram(1)
        >>> interval.add_inequalities([[1], [-1]], [1, 0])
        >>> interval.interior_point()
        InteriorPoint(point=(Fraction(1, 2),))
        >>> interval.add_inequalities([[2]], [0])
        >>> interval.interior_point().multipliers.rows
        {1: Fraction(2, 1), 2: Fraction(1, 1)}
        """
        self._model.refresh()
        if (contradiction := self._contradiction()) is not None:
            return contradiction
        if self._bounds_meet_equations():
            return self._with_bounds_as_rows()
        while True:
            self._model.set_slack_range(None, 1)
            answer = self._interior_point()
            if not isinstance(answer, FlatSet) or not self._set_constant_rows_aside(
                answer.multipliers
            ):
                return answer

    def feasible_point(self) -> Point | Infeasible:
        """A point that satisfies all constraints, strictly inside if possible, or a proof that there is none."""
        answer = self.interior_point()
        return answer if isinstance(answer, Infeasible) else answer.point

    # -- behind the questions ---------------------------------------------------------------------

    def _contradiction(self) -> Infeasible | None:
        """What is wrong at first sight: bounds that cross, a zero row that does not hold."""
        model = self._model
        if (column := model.bounds.crossing()) is not None:
            return Infeasible(crossing_bounds(column))
        for row in model.zero_rows():
            side = model.rows.entries[row][-1]
            if side < 0 or (side and model.rows.is_equation[row]):
                return Infeasible(Multipliers({row: Fraction(1 if side < 0 else -1)}))
        return None

    def _maximum(self, target: list[int]) -> ExactOptimum | ExactRay | Infeasibility | Infeasible:
        """The maximum with t = 0; what HiGHS calls infeasible is settled with the slack variable."""
        model = self._model
        model.set_slack_range(0, 0)
        if is_small(model):
            return Tableau(model, target).solve()
        guess = model.guess(target)
        if guess is not None and not guess.feasible:
            found = self.interior_point()
            if isinstance(found, Infeasible):
                return found
            model.set_slack_range(0, 0)
        return Simplex(model, target, guess).solve()

    def _interior_point(self) -> InteriorPoint | FlatSet | Infeasible:
        model = self._model
        answer = self._most_slack([*[0] * self.columns, 1])
        if isinstance(answer, InteriorPoint | Infeasible):
            return answer
        if isinstance(answer, Infeasibility):
            return Infeasible(farkas(model, answer))
        if isinstance(answer, ExactRay):
            raise AssertionError("t is at most 1")
        slack = answer.point.numerators[-1]
        if slack > 0:
            point = rounded(model, floats_of(answer.point)) or shortened(model, answer.point)
            return InteriorPoint(point or moved_inside(model, answer.point))
        evidence = integer_multipliers(model, answer.coordinates)
        return Infeasible(evidence) if slack < 0 else FlatSet(point_of(answer.point), evidence)

    def _most_slack(
        self, target: list[int]
    ) -> ExactOptimum | ExactRay | Infeasibility | InteriorPoint | Infeasible:
        """The maximum of t, or an answer that can be read off a guess."""
        model = self._model
        if is_small(model):
            return Tableau(model, target).solve()
        guess = model.guess_slack()
        if guess is not None and (point := rounded(model, guess.point)) is not None:
            return InteriorPoint(point)
        simplex = Simplex(model, target, guess)
        bound = simplex.dual_bound()
        if bound is not None and upper_bound(model, bound) < 0:
            return Infeasible(integer_multipliers(model, bound))
        return simplex.solve()

    def _bounds_meet_equations(self) -> bool:
        bounds = list(zip(self._lower, self._upper, strict=True))
        fixed = any(low is not None and low == up for low, up in bounds)
        return fixed or (
            any(self._model.rows.is_equation)
            and any(low is not None or up is not None for low, up in bounds)
        )

    def _with_bounds_as_rows(self) -> InteriorPoint | FlatSet | Infeasible:
        """`interior_point` of the same constraints without bounds, its multipliers translated back."""
        model, program = self._model, LinearProgram(self.columns)
        for row, scale, is_equation in zip(
            model.rows.entries, model.scales, model.rows.is_equation, strict=True
        ):
            program._model.append([[*row[: self.columns], row[-1]]], [scale], is_equation)
        # of each further row: the column, and 1 for the upper, -1 for the lower bound
        origin: list[tuple[int, int]] = []
        for j, (low, up) in enumerate(zip(self._lower, self._upper, strict=True)):
            unit = [int(i == j) for i in range(self.columns)]
            if low is not None and low == up:
                program.add_equations([unit], [up])
                origin.append((j, 1))
                continue
            if up is not None:
                program.add_inequalities([unit], [up])
                origin.append((j, 1))
            if low is not None:
                program.add_inequalities([[-entry for entry in unit]], [-low])
                origin.append((j, -1))
        answer = program.interior_point()
        if isinstance(answer, InteriorPoint):
            return answer
        return replace(answer, multipliers=_as_bounds(answer.multipliers, len(self), origin))

    def _set_constant_rows_aside(self, evidence: Multipliers) -> bool:
        """Take t out of the inequalities in a proof of flatness, if all of them are constant on the equations."""
        model = self._model
        equations = [
            row[: self.columns]
            for row, is_eq in zip(model.rows.entries, model.rows.is_equation, strict=True)
            if is_eq
        ]
        found = [row for row in evidence.rows if not model.rows.is_equation[row]]
        if not equations or not found:
            return False
        span = RationalMatrix.from_integers(equations).transpose()
        normals = RationalMatrix.from_integers(
            [model.rows.entries[row][: self.columns] for row in found]
        )
        if solve(span, normals.transpose()) is None:
            return False
        for row in found:
            model.set_slack(row, False)
        return True


def _as_bounds(evidence: Multipliers, rows: int, origin: list[tuple[int, int]]) -> Multipliers:
    """Multipliers of rows that stand for bounds as multipliers of those bounds."""
    upper: dict[int, Fraction] = {}
    lower: dict[int, Fraction] = {}
    for row, value in evidence.rows.items():
        if row >= rows:
            column, side = origin[row - rows]
            (upper if side * value > 0 else lower)[column] = abs(value)
    return Multipliers(
        {row: value for row, value in evidence.rows.items() if row < rows}, upper, lower
    )
