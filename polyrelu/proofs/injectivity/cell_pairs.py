"""Two leaves of a tree of regions: points u and v in them with equal outputs are equal, or collide.

Equal outputs are linear equations in (u, v, 1), and both leaves give linear inequalities. On the
solutions of the equations one system of signs (`SignSystem`) asks for (u, v) strictly inside all of
the inequalities. Its dependences show a contradiction, or inequalities that are equations as well;
in the end there is a point inside, and then u = v on all solutions of the equations, or some
solution near this point has u ≠ v.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from polyrelu.exact import (
    Dependence,
    RationalMatrix,
    SignSystem,
    determinant,
    dot,
    kernel,
    row_basis,
)
from polyrelu.proofs.injectivity.cells import Cell
from polyrelu.support.typing import Point

__all__ = ["compare_cells"]

Row = list[int]


def compare_cells(one: Cell, two: Cell) -> list[list[int]] | tuple[Point, Point]:
    """Return the dependences of a certificate (FORMAT.md §5.4), or two points that collide.

    Both are in coordinates y.
    """
    pair = _Pair(one, two)
    return pair.contradiction_of_outputs() or pair.compare()


class _Pair:
    """The rows over (u, v, 1), by their numbers in certificates."""

    def __init__(self, one: Cell, two: Cell) -> None:
        self._size = size = len(one.outputs[0]) - 1
        nothing = [0] * size
        self._first = one.num_rows + two.num_rows
        self._inequalities: dict[int, Row] = {
            number: [*row[:-1], *nothing, row[-1]] for number, row in one.rows.items()
        }
        for number, row in two.rows.items():
            self._inequalities[one.num_rows + number] = [*nothing, *row]
        self._equations: dict[int, Row] = {}
        for k, (a, b) in enumerate(zip(one.outputs, two.outputs, strict=True)):
            left, right = [two.scale * x for x in a], [one.scale * x for x in b]
            row = [*left[:-1], *(-x for x in right[:-1]), left[-1] - right[-1]]
            if any(row):
                self._equations[self._first + k] = row
        self._last = self._first + len(one.outputs)
        self._one: Row = [*nothing, *nothing, 1]

    def contradiction_of_outputs(self) -> list[list[int]] | None:
        """Return outputs that differ everywhere, where as many as needed are easily found."""
        numbers, needed = list(self._equations), 2 * self._size + 1
        for start in range(max(0, min(3, len(numbers) - needed + 1))):
            chosen = numbers[start : start + needed]
            if determinant([self._equations[number] for number in chosen]):
                return [[*chosen, self._last]]
        return None

    def compare(self) -> list[list[int]] | tuple[Point, Point]:
        """Find dependences until there is a point inside, or a contradiction."""
        supports = list[list[int]]()
        while True:
            solutions = self._solutions()
            if not solutions:
                return [*supports, self._with_equations([self._last])]
            rows = {
                number: image
                for number, row in self._inequalities.items()
                if any(image := _image(row, solutions))
            }
            rows[self._last] = _image(self._one, solutions)
            numbers = list(rows)
            found = SignSystem([rows[number] for number in numbers]).solve([1] * len(numbers))
            if not isinstance(found, Dependence):
                return self._off_the_diagonal(solutions, found, rows) or supports
            used = [numbers[i] for i in found.multipliers]
            supports.append(self._with_equations(used))
            if self._last in used:
                return supports
            for number in used:
                self._equations[number] = self._inequalities.pop(number)

    def _solutions(self) -> list[Row]:
        """Return a basis of the solutions of the equations, as rows over (u, v, 1)."""
        columns = 2 * self._size + 1
        matrix = RationalMatrix.from_integers(list(self._equations.values()), ncols=columns)
        return kernel(matrix).transpose().primitive_rows()

    def _with_equations(self, used: Sequence[int]) -> list[int]:
        """Return the numbers of a dependence of rows with equations, which has no other one."""
        numbers = list(self._equations)
        table = RationalMatrix.from_integers(
            list(self._equations.values()), ncols=2 * self._size + 1
        )
        basis = [numbers[i] for i in row_basis(table)] if numbers else []
        chosen = [*used, *basis]
        known = {**self._inequalities, **self._equations, self._last: self._one}
        matrix = RationalMatrix.from_integers([known[number] for number in chosen])
        found = kernel(matrix.transpose())
        if found.ncols != 1:
            raise AssertionError("one dependence, up to a factor")
        return [number for k, number in enumerate(chosen) if found[k, 0]]

    def _off_the_diagonal(
        self, solutions: list[Row], place: Point, rows: dict[int, Row]
    ) -> tuple[Point, Point] | None:
        """Return u ≠ v near a point inside, or None if all solutions have u = v."""
        size, step = self._size, Fraction(1)
        differing = [k for k, row in enumerate(solutions) if row[:size] != row[size : 2 * size]]
        if not differing:
            return None
        moved = list(place)
        while True:
            total = [dot(moved, column) for column in zip(*solutions, strict=True)]
            u, v = (
                tuple(entry / total[-1] for entry in part)
                for part in (total[:size], total[size : 2 * size])
            )
            if u != v and all(dot(row, moved) > 0 for row in rows.values()):
                return u, v
            moved[differing[0]] = place[differing[0]] + step
            step /= 2


def _image(row: Sequence[int], solutions: Sequence[Sequence[int]]) -> Row:
    """Return the values of a row on a basis."""
    image = [sum(a * b for a, b in zip(row, vector, strict=True)) for vector in solutions]
    divisor = math.gcd(*image) or 1
    return [entry // divisor for entry in image]
