"""As many independent tight constraints as there are columns, and what linear algebra says at their common point.

Tight rows R and columns N fixed at a bound (or pinned, see below) leave a square system in the other columns C, with
|R| = |C|. Only that system is solved: with bounds on most columns, as in a box of 784 pixels, it stays small.

The normals of the active constraints (rows a_r, r ∈ R, and unit vectors e_j, j ∈ N) form a basis of the space. The
coordinates of the objective in it are the dual multipliers, its dual basis are the edges leaving the point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import fmpz, fmpz_mat, nmod_mat

from polyrelu.exact.dixon import solve_integer
from polyrelu.exact.lp.bounds import ColumnBounds, Side
from polyrelu.exact.lp.rows import Rows
from polyrelu.exact.modular import pivot_columns

__all__ = ["Basis", "BasisCoordinates", "RationalVector", "default_basis", "repaired"]

_PRIME = 2**61 - 1


@dataclass(frozen=True, slots=True)
class RationalVector:
    """The rational vector numerators / denominator, denominator > 0."""

    numerators: list[fmpz]
    denominator: fmpz


@dataclass(frozen=True, slots=True)
class BasisCoordinates:
    """A vector as (Σ rows_r a_r + Σ columns_j e_j) / denominator over the active constraints, denominator > 0."""

    rows: Mapping[int, fmpz]
    columns: Mapping[int, fmpz]
    denominator: fmpz


class Basis:
    """Rows R and fixed columns N whose normals are a basis.

    Raises
    ------
    ZeroDivisionError : from any method, if the normals are not a basis.
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
        """[A_R | s_R | c_R], all columns."""
        if self._full_rows is None:
            self._full_rows = fmpz_mat(self._entries)
        return self._full_rows

    def _block(self, entries: list[list[int]]) -> fmpz_mat:
        if not self.columns:
            return fmpz_mat(0, 0)
        if not self.fixed:
            return fmpz_mat([row[:-1] for row in entries])
        return fmpz_mat([[row[j] for j in self.columns] for row in entries])

    def is_independent(self) -> bool:
        """Whether a prime shows that the normals are a basis."""
        return not self.columns or int(nmod_mat(self._matrix, _PRIME).rank()) == len(self.columns)

    def point(self) -> RationalVector:
        """The point where every active constraint is tight."""
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
        """Integer vectors in the basis of the active normals."""
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
        """The direction along which only `row` stops being tight, its slack growing."""
        return self._edge(None, 0, [-1 if r == row else 0 for r in self.rows])

    def edge_from_column(self, column: int, step: int) -> RationalVector:
        """The direction along which only the fixed `column` moves, by the sign `step`."""
        return self._edge(column, step, [-step * row[column] for row in self._entries])

    def _edge(self, column: int | None, step: int, right: list[int]) -> RationalVector:
        numerators = [fmpz(0)] * (len(self.columns) + len(self.fixed))
        denominator = fmpz(1)
        if self.columns:
            solution, denominator = solve_integer(self._matrix, fmpz_mat(len(right), 1, right))
            for j, entry in zip(self.columns, solution.entries(), strict=True):
                numerators[j] = entry
        if column is not None:
            numerators[column] = denominator * step
        return RationalVector(numerators, denominator)


def default_basis(program: Rows, bounds: ColumnBounds) -> Basis:
    """No row, every column at a bound or pinned: a start without a guess."""
    return Basis(program, bounds, [], {j: bounds.side(j) for j in range(program.columns)})


def repaired(
    program: Rows, bounds: ColumnBounds, rows: Sequence[int], fixed: Mapping[int, Side]
) -> Basis:
    """An active set close to a guess, whose normals need not be independent.

    Independent modulo a prime implies independent. Rows that depend on the others are dropped, columns without a row
    to determine them are fixed.
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
