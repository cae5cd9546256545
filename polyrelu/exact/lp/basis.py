"""Bases of a linear program: basic solution, dual multipliers and edges, by exact linear solves.

A basis consists of as many independent active constraints as there are columns: tight rows R, and
nonbasic columns N that are fixed at a bound (or pinned, see `Side`). They leave a square system in
the basic columns C, with |R| = |C|. Only that system is solved: with bounds on most columns, as in
a box of 784 pixels, it stays small.

The normals of the active constraints (rows a_r, r ∈ R, and unit vectors e_j, j ∈ N) form a basis of
the space. The coordinates of the objective in this basis are the dual multipliers; the dual basis
consists of the edges that leave the basic solution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import fmpz, fmpz_mat, nmod_mat

from polyrelu.exact.dixon import solve_integer
from polyrelu.exact.lp.bounds import ColumnBounds, Side
from polyrelu.exact.lp.rows import Rows
from polyrelu.exact.modular import pivot_columns

__all__ = ["Basis", "BasisCoordinates", "RationalVector", "repair_basis", "slack_basis"]

#: The prime modulo which independence is tested.
_PRIME = 2**61 - 1


@dataclass(frozen=True, slots=True)
class RationalVector:
    """The rational vector numerators / denominator.

    Attributes
    ----------
    numerators
        FLINT integers.
    denominator
        A positive FLINT integer.
    """

    numerators: list[fmpz]
    denominator: fmpz


@dataclass(frozen=True, slots=True)
class BasisCoordinates:
    """The coordinates of a vector (Σ rows_r a_r + Σ columns_j e_j) / denominator in a basis.

    Attributes
    ----------
    rows
        Coordinate of the normal of each tight row, by the row.
    columns
        Coordinate of the unit vector of each nonbasic column, by the column.
    denominator
        A positive FLINT integer.
    """

    rows: Mapping[int, fmpz]
    columns: Mapping[int, fmpz]
    denominator: fmpz


class Basis:
    """Tight rows R and nonbasic columns N whose normals are a basis of the space.

    Attributes
    ----------
    rows
        The tight rows R.
    fixed
        The nonbasic columns N, each with the side where it is fixed.
    columns
        The basic columns C, ascending.

    Raises
    ------
    ZeroDivisionError
        From any method, if the normals are not a basis.
    """

    __slots__ = (
        "_bounds",
        "_entries",
        "_full_rows",
        "_matrix",
        "_transposed",
        "columns",
        "fixed",
        "rows",
    )

    def __init__(
        self, program: Rows, bounds: ColumnBounds, rows: Sequence[int], fixed: Mapping[int, Side]
    ) -> None:
        self.rows, self.fixed, self._bounds = list(rows), dict(fixed), bounds
        self.columns = [j for j in range(program.columns) if j not in self.fixed]
        self._entries = [program.entries[r] for r in self.rows]
        if len(self.rows) != len(self.columns):
            raise ZeroDivisionError("as many tight constraints as columns are needed")
        self._matrix = self._block(self._entries)
        self._transposed = self._matrix.transpose()
        self._full_rows: fmpz_mat | None = None

    def _full(self) -> fmpz_mat:
        """The matrix [A_R | s_R | c_R] of all columns."""
        if self._full_rows is None:
            self._full_rows = fmpz_mat(self._entries)
        return self._full_rows

    def _block(self, entries: list[list[int]]) -> fmpz_mat:
        """The square matrix of the tight rows and the basic columns."""
        if not self.columns:
            return fmpz_mat(0, 0)
        if not self.fixed:
            return fmpz_mat([row[:-1] for row in entries])
        return fmpz_mat([[row[j] for j in self.columns] for row in entries])

    def is_independent(self) -> bool:
        """Return whether a prime shows that the normals are a basis."""
        return not self.columns or int(nmod_mat(self._matrix, _PRIME).rank()) == len(self.columns)

    def point(self) -> RationalVector:
        """Compute the basic solution: the point where every active constraint is tight."""
        common = self._bounds.denominator
        values = {j: self._bounds.at(j, side) for j, side in self.fixed.items()}
        size = len(self.columns) + len(self.fixed)
        numerators, denominator = [fmpz(0)] * size, fmpz(common)
        if self.columns:
            known = [0] * size
            for j, value in values.items():
                known[j] = -value
            right = self._full() * fmpz_mat(size + 1, 1, [*known, common])
            solution, scale = solve_integer(self._matrix, right)
            denominator = scale * common
            values = {j: int(value * scale) for j, value in values.items()}
            for j, entry in zip(self.columns, solution.entries(), strict=True):
                numerators[j] = entry
        for j, value in values.items():
            numerators[j] = fmpz(value)
        return RationalVector(numerators, denominator)

    def coordinates(self, *vectors: Sequence[int | fmpz]) -> list[BasisCoordinates]:
        """Compute the coordinates of integer vectors in the basis."""
        if not self.columns:
            return [
                BasisCoordinates({}, {j: fmpz(vector[j]) for j in self.fixed}, fmpz(1))
                for vector in vectors
            ]
        right = fmpz_mat([[vector[j] for vector in vectors] for j in self.columns])
        solution, denominator = solve_integer(self._transposed, right)
        columns = [solution.entries()[k :: len(vectors)] for k in range(len(vectors))]
        rows = [dict(zip(self.rows, column, strict=True)) for column in columns]
        if not self.fixed:
            return [BasisCoordinates(row, {}, denominator) for row in rows]
        used = (solution.transpose() * self._full()).tolist()
        return [
            BasisCoordinates(
                row, {j: denominator * vector[j] - part[j] for j in self.fixed}, denominator
            )
            for row, vector, part in zip(rows, vectors, used, strict=True)
        ]

    def edge_from_row(self, row: int) -> RationalVector:
        """Compute the edge along which only `row` stops being tight, its slack growing."""
        return self._edge(None, 0, [-1 if r == row else 0 for r in self.rows])

    def edge_from_column(self, column: int, step: int) -> RationalVector:
        """Compute the edge along which only the nonbasic `column` moves, by `step` = ±1."""
        return self._edge(column, step, [-step * row[column] for row in self._entries])

    def _edge(self, column: int | None, step: int, right: list[int]) -> RationalVector:
        """The direction in which tight rows change by `right` and a nonbasic column by `step`."""
        numerators = [fmpz(0)] * (len(self.columns) + len(self.fixed))
        denominator = fmpz(1)
        if self.columns:
            solution, denominator = solve_integer(self._matrix, fmpz_mat(len(right), 1, right))
            for j, entry in zip(self.columns, solution.entries(), strict=True):
                numerators[j] = entry
        if column is not None:
            numerators[column] = denominator * step
        return RationalVector(numerators, denominator)


def slack_basis(program: Rows, bounds: ColumnBounds) -> Basis:
    """Return the basis of no rows, with every column at a bound or pinned."""
    return Basis(program, bounds, [], {j: bounds.side(j) for j in range(program.columns)})


def repair_basis(
    program: Rows, bounds: ColumnBounds, rows: Sequence[int], fixed: Mapping[int, Side]
) -> Basis:
    """Return a basis close to a guess, whose normals need not be independent.

    Rows that depend on the others are dropped, and columns that the rows do not determine become
    nonbasic. Independence is tested modulo a prime, which implies independence.
    """
    columns = [j for j in range(program.columns) if j not in fixed]
    flat = [program.entries[r][j] for r in rows for j in columns]
    block = fmpz_mat(len(rows), len(columns), flat)
    kept = pivot_columns(block.transpose(), _PRIME) if rows and columns else []
    reduced = fmpz_mat(
        len(kept),
        len(columns),
        [e for i in kept for e in flat[i * len(columns) : (i + 1) * len(columns)]],
    )
    solved = {columns[j] for j in (pivot_columns(reduced, _PRIME) if kept else [])}
    new_fixed = dict(fixed) | {j: bounds.side(j) for j in columns if j not in solved}
    return Basis(program, bounds, [rows[i] for i in kept], new_fixed)
