"""The linear program that other rooms use: rows can be added and removed between questions.

`LinearProgram` chooses the method for every question and translates exact results into results with
certificates. Whatever it keeps from one question to the next only saves time; it never changes a
result's correctness.

One formulation serves every question. Each inequality a·x ≤ c contains a slack variable t, a·x + s
t ≤ c with s > 0 of the size of a. With t fixed at 0 this is the program itself. Otherwise t ≤ 1 is
maximised: the maximum is positive if there is a point strictly inside, negative if there is no
feasible point, and 0 if the feasible set is flat but not empty. Zero rows do not contain t, and
neither do inequalities that turn out to be constant on the equations: they must hold, but the
interior does not depend on them.

Bounds do not contain t, since a point that satisfies the rows strictly can be moved off the bounds
without leaving a row. That needs room around the point; with equations (or fixed columns, which are
equations) the bounds become rows first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from polyrelu.errors import DomainError
from polyrelu.exact.linalg import solve
from polyrelu.exact.lp.dual_certificates import (
    crossing_bounds,
    dual_multipliers,
    dual_upper_bound,
    farkas_multipliers,
    integer_multipliers,
    rational_point,
)
from polyrelu.exact.lp.interior import float_point, point_off_bounds, rounded_point, shortened_point
from polyrelu.exact.lp.model import Model
from polyrelu.exact.lp.parsing import (
    Numbers,
    read_bounds,
    read_index,
    read_number,
    read_rows,
    read_vector,
)
from polyrelu.exact.lp.pivoting import ExactInfeasibility, ExactOptimum, ExactRay
from polyrelu.exact.lp.results import (
    FlatSet,
    Infeasible,
    InteriorPoint,
    Multipliers,
    Optimal,
    Point,
    Unbounded,
)
from polyrelu.exact.lp.simplex import PivotLimitReached, Simplex
from polyrelu.exact.lp.tableau import Tableau, is_small
from polyrelu.exact.matrix import RationalMatrix
from polyrelu.support.arguments import expect_list
from polyrelu.support.display import bracketed, count_text

__all__ = ["LinearProgram"]


class LinearProgram:
    """Inequalities A x ≤ c, equations E x = e and bounds l ≤ x ≤ u in exact rational numbers.

    Rows are numbered from 0 in the order in which they are added, equations and inequalities
    together. A program can be asked any number of questions; unless it is small, the basis of the
    last question makes the next one faster.

    Parameters
    ----------
    num_variables
        Number n of variables.
    lower
        A lower bound or None (no bound) for each variable, shape (n,); None for no lower bounds.
    upper
        An upper bound or None (no bound) for each variable, shape (n,); None for no upper bounds.

    Attributes
    ----------
    num_variables
        Number n of variables.

    Raises
    ------
    DomainError
        The number of bounds does not fit, or a bound is not an exact number.

    Examples
    --------
    >>> square = LinearProgram(2, lower=[0, 0], upper=[1, 1])
    >>> square.add_inequalities([[1, 1]], ["3/2"])
    >>> best = square.maximize([1, 2])
    >>> best.value, best.point
    (Fraction(5, 2), (Fraction(1, 2), Fraction(1, 1)))
    >>> best.multipliers.rows, best.multipliers.upper
    ({0: Fraction(1, 1)}, {1: Fraction(1, 1)})
    """

    def __init__(
        self,
        num_variables: int,
        lower: Sequence[object] | None = None,
        upper: Sequence[object] | None = None,
    ) -> None:
        self.num_variables = size = read_index(num_variables, "number of variables")
        if size < 0:
            raise DomainError(f"a program cannot have {size} variables")
        self._lower, self._upper = read_bounds(lower, size), read_bounds(upper, size)
        self._model = Model(self._lower, self._upper)
        self._max_pivots: int | None = None
        self._is_trial = False

    # -- building ---------------------------------------------------------------------------------

    def add_inequalities(self, rows: Sequence[Numbers] | RationalMatrix, right: Numbers) -> None:
        """Append inequalities rows · x ≤ right.

        Parameters
        ----------
        rows
            Exact coefficients, shape (m, n).
        right
            Exact right-hand sides, shape (m,).

        Raises
        ------
        DomainError
            The shapes do not fit, or an entry is not an exact number.
        """
        self._model.append(*read_rows(rows, right, self.num_variables), is_equation=False)

    def add_equations(self, rows: Sequence[Numbers] | RationalMatrix, right: Numbers) -> None:
        """Append equations rows · x = right.

        Parameters
        ----------
        rows
            Exact coefficients, shape (m, n).
        right
            Exact right-hand sides, shape (m,).

        Raises
        ------
        DomainError
            The shapes do not fit, or an entry is not an exact number.
        """
        self._model.append(*read_rows(rows, right, self.num_variables), is_equation=True)

    def remove_last(self) -> None:
        """Remove the row that was added last.

        Raises
        ------
        DomainError
            There is no row.
        """
        if not len(self):
            raise DomainError("there is no row to remove")
        if self._model.rows.is_equation[-1]:
            # Rows that were constant on the equations may not be constant without this one.
            self._model.set_all_slacks()
        self._model.remove_last()

    def change_right(self, row: int, right: object) -> None:
        """Replace the right-hand side of a row.

        Parameters
        ----------
        row
            Number of the row, from 0.
        right
            The new right-hand side.

        Raises
        ------
        DomainError
            There is no such row, or the right-hand side is not an exact number.
        """
        number = read_index(row, "row")
        if not 0 <= number < len(self):
            raise DomainError(f"there is no row {row}, only {len(self)} rows")
        self._model.change_right(number, read_number(right, "the right-hand side"))

    def __len__(self) -> int:
        """The number of rows."""
        self._model.rewrite_if_needed()
        return len(self._model.rows)

    def __bool__(self) -> bool:
        """True, also for a program without rows."""
        return True

    def __repr__(self) -> str:
        counts = [(self.num_variables, "variable"), (len(self), "row")]
        return bracketed(f"LinearProgram, {count_text(counts)}")

    # -- questions --------------------------------------------------------------------------------

    def maximize(self, objective: Numbers) -> Optimal | Unbounded | Infeasible:
        """Maximise objective·x.

        Parameters
        ----------
        objective
            Exact coefficients, shape (n,).

        Returns
        -------
        Optimal, Unbounded or Infeasible
            The maximum with a point and dual multipliers, or a proof that there is none.

        Raises
        ------
        DomainError
            The number of coefficients does not fit, or one is not an exact number.

        Examples
        --------
        >>> LinearProgram(1, lower=[0]).maximize([1])
        <Unbounded, from (0) along (1)>
        """
        model = self._model
        model.rewrite_if_needed()
        *integers, scale = read_vector(objective, self.num_variables, "the objective")
        if (contradiction := self._contradiction()) is not None:
            return contradiction
        result = self._maximum([*integers, 0])
        if isinstance(result, Infeasible):
            return result
        if isinstance(result, ExactInfeasibility):
            return Infeasible(farkas_multipliers(model, result))
        point = rational_point(result.point)
        if isinstance(result, ExactRay):
            return Unbounded(point, rational_point(result.ray))
        value = sum(c * x for c, x in zip(integers, result.point.numerators[:-1], strict=True))
        exact = Fraction(int(value), int(result.point.denominator) * scale)
        return Optimal(exact, point, dual_multipliers(model, result.coordinates, scale))

    def minimize(self, objective: Numbers) -> Optimal | Unbounded | Infeasible:
        """Minimise objective·x.

        Parameters
        ----------
        objective
            Exact coefficients, shape (n,).

        Returns
        -------
        Optimal, Unbounded or Infeasible
            As for `maximize`; the multipliers of an optimum add up to -objective·x ≤ -value.
        """
        *integers, scale = read_vector(objective, self.num_variables, "the objective")
        result = self.maximize([Fraction(-entry, scale) for entry in integers])
        return replace(result, value=-result.value) if isinstance(result, Optimal) else result

    def try_minimize(self, objective: Numbers, max_pivots: int | None = None) -> Optimal | None:
        """Minimise objective·x unless that takes long.

        A proof that there is no feasible point takes much longer than an optimum, and is not tried.

        Parameters
        ----------
        objective
            Exact coefficients, shape (n,).
        max_pivots
            Maximum number of exact pivots from the basis that HiGHS guesses; None for no limit.

        Returns
        -------
        Optimal or None
            The exact minimum; None if it is not finite, if HiGHS finds no feasible point, or if
            more pivots would be needed.

        Examples
        --------
        >>> LinearProgram(1, lower=[0]).try_minimize([2]).value
        Fraction(0, 1)
        """
        *integers, scale = read_vector(objective, self.num_variables, "the objective")
        self._model.rewrite_if_needed()
        self._model.set_slack_range(0, 0)
        if self._contradiction() is None and not is_small(self._model):
            guess = self._model.guess([*(-entry for entry in integers), 0])
            if guess is None or not guess.feasible:
                return None
        self._max_pivots, self._is_trial = max_pivots, True
        try:
            result = self.minimize([Fraction(entry, scale) for entry in integers])
        except PivotLimitReached:
            return None
        finally:
            self._max_pivots, self._is_trial = None, False
        return result if isinstance(result, Optimal) else None

    def maximize_each(
        self, objectives: Iterable[Numbers]
    ) -> Iterator[Optimal | Unbounded | Infeasible]:
        """Return an iterator that maximises one objective at each step."""
        if not isinstance(objectives, Iterator):
            objectives = expect_list(objectives, "objectives")
        return (self.maximize(objective) for objective in objectives)

    def interior_point(self) -> InteriorPoint | FlatSet | Infeasible:
        """Find a point strictly inside all inequalities and bounds, relative to the equations.

        Columns with equal bounds count as equations. Inequalities and bounds that are constant on
        the equations must hold, but not strictly; without equations these are the zero rows.
        (`Polyhedron.interior_point` means the interior in R^n.)

        Returns
        -------
        InteriorPoint, FlatSet or Infeasible
            A point, or a proof that there is none.

        Examples
        --------
        >>> interval = LinearProgram(1)
        >>> interval.add_inequalities([[1], [-1]], [1, 0])
        >>> interval.interior_point()
        <InteriorPoint (1/2)>
        >>> interval.add_inequalities([[2]], [0])
        >>> interval.interior_point().multipliers.rows
        {1: Fraction(2, 1), 2: Fraction(1, 1)}
        """
        self._model.rewrite_if_needed()
        if (contradiction := self._contradiction()) is not None:
            return contradiction
        if self._bounds_meet_equations():
            return self._with_bounds_as_rows()
        while True:
            self._model.set_slack_range(None, 1)
            result = self._interior_point()
            if not isinstance(result, FlatSet):
                return result
            if not self._drop_slack_of_constant_rows(result.multipliers):
                return result

    def feasible_point(self) -> Point | Infeasible:
        """Find a point that satisfies all constraints, strictly inside if possible.

        Returns
        -------
        Point or Infeasible
            A point, or a proof that there is none.
        """
        result = self.interior_point()
        return result if isinstance(result, Infeasible) else result.point

    # -- methods of solution ----------------------------------------------------------------------

    def _contradiction(self) -> Infeasible | None:
        """Find a proof of infeasibility by one column or row: crossing bounds, a false zero row."""
        model = self._model
        if (column := model.bounds.crossing()) is not None:
            return Infeasible(crossing_bounds(column))
        for row in model.zero_rows():
            side = model.rows.entries[row][-1]
            if side < 0 or (side and model.rows.is_equation[row]):
                return Infeasible(Multipliers({row: Fraction(1 if side < 0 else -1)}))
        return None

    def _maximum(
        self, target: list[int]
    ) -> ExactOptimum | ExactRay | ExactInfeasibility | Infeasible:
        """Return the exact maximum of x and t = 0.

        If HiGHS reports that there is no feasible point, the slack variable decides on that first;
        a trial ends there, even if HiGHS reported a feasible point before.
        """
        model = self._model
        model.set_slack_range(0, 0)
        if is_small(model):
            return Tableau(model, target).solve()
        guess = model.guess(target)
        if guess is not None and not guess.feasible:
            if self._is_trial:
                raise PivotLimitReached
            result = self.interior_point()
            if isinstance(result, Infeasible):
                return result
            model.set_slack_range(0, 0)
        return Simplex(model, target, guess, self._max_pivots).solve()

    def _interior_point(self) -> InteriorPoint | FlatSet | Infeasible:
        """Return the result that the maximum of the slack variable t proves."""
        model = self._model
        result = self._maximize_slack([*[0] * self.num_variables, 1])
        if isinstance(result, InteriorPoint | Infeasible):
            return result
        if isinstance(result, ExactInfeasibility):
            return Infeasible(farkas_multipliers(model, result))
        if isinstance(result, ExactRay):
            raise AssertionError("t is at most 1")
        slack = result.point.numerators[-1]
        if slack > 0:
            point = rounded_point(model, float_point(result.point))
            point = point or shortened_point(model, result.point)
            return InteriorPoint(point or point_off_bounds(model, result.point))
        proof = integer_multipliers(model, result.coordinates)
        return Infeasible(proof) if slack < 0 else FlatSet(rational_point(result.point), proof)

    def _maximize_slack(
        self, target: list[int]
    ) -> ExactOptimum | ExactRay | ExactInfeasibility | InteriorPoint | Infeasible:
        """Return the exact maximum of t, or a result that a guess proves without it."""
        model = self._model
        if is_small(model):
            return Tableau(model, target).solve()
        guess = model.guess_slack()
        if guess is not None and (point := rounded_point(model, guess.point)) is not None:
            return InteriorPoint(point)
        simplex = Simplex(model, target, guess)
        bound = simplex.dual_bound()
        if bound is not None and dual_upper_bound(model, bound) < 0:
            return Infeasible(integer_multipliers(model, bound))
        return simplex.solve()

    def _bounds_meet_equations(self) -> bool:
        """Return whether there are bounds together with equations or fixed columns."""
        bounds = list(zip(self._lower, self._upper, strict=True))
        fixed = any(low is not None and low == up for low, up in bounds)
        return fixed or (
            any(self._model.rows.is_equation)
            and any(low is not None or up is not None for low, up in bounds)
        )

    def _with_bounds_as_rows(self) -> InteriorPoint | FlatSet | Infeasible:
        """Return `interior_point` of the same constraints with the bounds as rows."""
        model, program = self._model, LinearProgram(self.num_variables)
        for row, scale, is_equation in zip(
            model.rows.entries, model.scales, model.rows.is_equation, strict=True
        ):
            program._model.append([[*row[: self.num_variables], row[-1]]], [scale], is_equation)
        # The column of each additional row, and 1 for its upper, -1 for its lower bound.
        origin: list[tuple[int, int]] = []

        def add(j: int, sign: int, bound: Fraction, is_equation: bool = False) -> None:
            """Append sign · x_j ≤ sign · bound, or the equation."""
            row = [0] * (self.num_variables + 1)
            row[j], row[-1] = sign * bound.denominator, sign * bound.numerator
            program._model.append([row], [bound.denominator], is_equation)
            origin.append((j, sign))

        for j, (low, up) in enumerate(zip(self._lower, self._upper, strict=True)):
            if low is not None and low == up:
                add(j, 1, low, is_equation=True)
                continue
            if up is not None:
                add(j, 1, up)
            if low is not None:
                add(j, -1, low)
        result = program.interior_point()
        if isinstance(result, InteriorPoint):
            return result
        multipliers = _bound_multipliers(result.multipliers, len(self), origin)
        return replace(result, multipliers=multipliers)

    def _drop_slack_of_constant_rows(self, proof: Multipliers) -> bool:
        """Remove t from the inequalities of a proof of flatness if all are constant on equations.

        The result says whether t was removed, so that the proof says nothing about the interior.
        """
        model = self._model
        equations = [
            row[: self.num_variables]
            for row, is_eq in zip(model.rows.entries, model.rows.is_equation, strict=True)
            if is_eq
        ]
        inequalities = [row for row in proof.rows if not model.rows.is_equation[row]]
        if not equations or not inequalities:
            return False
        span = RationalMatrix.from_integers(equations).transpose()
        normals = RationalMatrix.from_integers(
            [model.rows.entries[row][: self.num_variables] for row in inequalities]
        )
        if solve(span, normals.transpose()) is None:
            return False
        for row in inequalities:
            model.set_slack(row, False)
        return True


def _bound_multipliers(proof: Multipliers, rows: int, origin: list[tuple[int, int]]) -> Multipliers:
    """Return the multipliers, where the rows from number `rows` on are translated into bounds."""
    upper: dict[int, Fraction] = {}
    lower: dict[int, Fraction] = {}
    for row, value in proof.rows.items():
        if row >= rows:
            column, side = origin[row - rows]
            (upper if side * value > 0 else lower)[column] = abs(value)
    return Multipliers(
        {row: value for row, value in proof.rows.items() if row < rows}, upper, lower
    )
