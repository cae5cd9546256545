"""Bases of a linear program: basic solution, dual multipliers and edges, by exact linear solves.

This module takes the geometric (dual) view: a *basis* is a set of n independent active constraints
in n columns, whose hyperplanes meet in one point, the basic solution. The constraints are the
*tight rows* R and the *nonbasic columns* N, each at a bound or pinned at 0 (see `Side`). Textbooks
of the simplex method name the same object by its complement, the basic variables; here these are
the columns C outside N, the *basic columns*, and the slacks of the rows outside R.

The nonbasic columns are known, and the tight rows leave a square system in the basic columns, with
|R| = |C|. Only that system is solved: with bounds on most columns, as in a box of 784 pixels, it
stays small.

The normals of the active constraints (rows a_r, r ∈ R, and unit vectors e_j, j ∈ N) are a basis of
the space. The coordinates of the objective in this basis are the dual multipliers. Up to signs, the
dual basis consists of the directions of the edges that leave the basic solution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import fmpz, fmpz_mat, nmod_mat

from polyrelu.exact.dixon import solve_integer
from polyrelu.exact.lp.bounds import ColumnBounds, Side
from polyrelu.exact.lp.rows import ProgramRows
from polyrelu.exact.modular import pivot_columns

__all__ = [
    "Basis",
    "BasisCoordinates",
    "RationalVector",
    "SingularBasisError",
    "repair_basis",
    "slack_basis",
]

#: The prime modulo which independence is tested.
_PRIME = 2**61 - 1


class SingularBasisError(ZeroDivisionError):
    """The normals of the constraints of a basis are dependent, or their number is wrong."""


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
    """The coordinates of a vector (Σ tight_rows_r a_r + Σ nonbasic_j e_j) / denominator in a basis.

    Attributes
    ----------
    tight_rows
        Coordinate of the normal of each tight row, by the row.
    nonbasic
        Coordinate of the unit vector of each nonbasic column, by the column.
    denominator
        A positive FLINT integer.
    """

    tight_rows: Mapping[int, fmpz]
    nonbasic: Mapping[int, fmpz]
    denominator: fmpz


class Basis:
    """A set of active constraints: tight rows R and nonbasic columns N, |R| + |N| = n.

    Attributes
    ----------
    tight_rows
        The tight rows R.
    nonbasic
        The nonbasic columns N, each with the side where it is held.
    basic_columns
        The columns outside N, ascending; there are |R| of them.

    Raises
    ------
    SingularBasisError
        There are more or fewer than n constraints. Every method that solves a system raises this
        error if the normals are dependent.
    """

    __slots__ = (
        "_bounds",
        "_entries",
        "_full_rows",
        "_matrix",
        "_transposed",
        "basic_columns",
        "nonbasic",
        "tight_rows",
    )

    def __init__(
        self,
        program: ProgramRows,
        bounds: ColumnBounds,
        tight_rows: Sequence[int],
        nonbasic: Mapping[int, Side],
    ) -> None:
        self.tight_rows, self.nonbasic, self._bounds = list(tight_rows), dict(nonbasic), bounds
        self.basic_columns = [j for j in range(program.columns) if j not in self.nonbasic]
        self._entries = [program.entries[r] for r in self.tight_rows]
        if len(self.tight_rows) != len(self.basic_columns):
            raise SingularBasisError(
                f"{len(self.tight_rows)} tight rows do not determine "
                f"{len(self.basic_columns)} basic columns"
            )
        self._matrix = self._block(self._entries)
        self._transposed = self._matrix.transpose()
        self._full_rows: fmpz_mat | None = None

    def _full(self) -> fmpz_mat:
        """Return the tight rows [a_r | s_r | c_r] with all columns, as a FLINT matrix."""
        if self._full_rows is None:
            self._full_rows = fmpz_mat(self._entries)
        return self._full_rows

    def _block(self, entries: list[list[int]]) -> fmpz_mat:
        """Return the square matrix of the tight rows and the basic columns."""
        if not self.basic_columns:
            return fmpz_mat(0, 0)
        if not self.nonbasic:
            return fmpz_mat([row[:-1] for row in entries])
        return fmpz_mat([[row[j] for j in self.basic_columns] for row in entries])

    def is_independent(self) -> bool:
        """Return whether the normals are independent modulo a prime, hence independent.

        The result is False for dependent normals, and for independent ones if the prime is unlucky.
        """
        size = len(self.basic_columns)
        return not size or int(nmod_mat(self._matrix, _PRIME).rank()) == size

    def point(self) -> RationalVector:
        """Compute the basic solution: the point where the constraints hold with equality."""
        common = self._bounds.denominator
        values = {j: self._bounds.at(j, side) for j, side in self.nonbasic.items()}
        size = len(self.basic_columns) + len(self.nonbasic)
        numerators, denominator = [fmpz(0)] * size, fmpz(common)
        if self.basic_columns:
            known = [0] * size
            for j, value in values.items():
                known[j] = -value
            right = self._full() * fmpz_mat(size + 1, 1, [*known, common])
            solution, scale = _solved(self._matrix, right)
            denominator = scale * common
            values = {j: int(value * scale) for j, value in values.items()}
            for j, entry in zip(self.basic_columns, solution.entries(), strict=True):
                numerators[j] = entry
        for j, value in values.items():
            numerators[j] = fmpz(value)
        return RationalVector(numerators, denominator)

    def coordinates(self, *vectors: Sequence[int | fmpz]) -> list[BasisCoordinates]:
        """Compute the coordinates of integer vectors in the basis."""
        if not self.basic_columns:
            return [
                BasisCoordinates({}, {j: fmpz(vector[j]) for j in self.nonbasic}, fmpz(1))
                for vector in vectors
            ]
        right = fmpz_mat([[vector[j] for vector in vectors] for j in self.basic_columns])
        solution, denominator = _solved(self._transposed, right)
        solutions = [solution.entries()[k :: len(vectors)] for k in range(len(vectors))]
        on_rows = [dict(zip(self.tight_rows, entries, strict=True)) for entries in solutions]
        if not self.nonbasic:
            return [BasisCoordinates(tight, {}, denominator) for tight in on_rows]
        # The part of each vector that the tight rows contribute.
        from_rows = (solution.transpose() * self._full()).tolist()
        return [
            BasisCoordinates(
                tight, {j: denominator * vector[j] - part[j] for j in self.nonbasic}, denominator
            )
            for tight, vector, part in zip(on_rows, vectors, from_rows, strict=True)
        ]

    def edge_from_row(self, row: int) -> RationalVector:
        """Compute the direction in which a_row·x decreases at rate 1 and all else stays tight."""
        return self._direction([-1 if r == row else 0 for r in self.tight_rows])

    def edge_from_column(self, column: int, step: int) -> RationalVector:
        """Compute the direction in which a nonbasic column changes by `step` = ±1.

        All other constraints of the basis stay tight.
        """
        edge = self._direction([-step * row[column] for row in self._entries])
        edge.numerators[column] = edge.denominator * step
        return edge

    def _direction(self, rates: list[int]) -> RationalVector:
        """Compute the direction of the basic columns for given rates of the tight rows."""
        numerators = [fmpz(0)] * (len(self.basic_columns) + len(self.nonbasic))
        denominator = fmpz(1)
        if self.basic_columns:
            solution, denominator = _solved(self._matrix, fmpz_mat(len(rates), 1, rates))
            for j, entry in zip(self.basic_columns, solution.entries(), strict=True):
                numerators[j] = entry
        return RationalVector(numerators, denominator)


def _solved(matrix: fmpz_mat, right: fmpz_mat) -> tuple[fmpz_mat, fmpz]:
    """Return the solution of `solve_integer` for the matrix of a basis."""
    try:
        return solve_integer(matrix, right)
    except ZeroDivisionError:
        raise SingularBasisError("the normals of the basis are dependent") from None


def slack_basis(program: ProgramRows, bounds: ColumnBounds) -> Basis:
    """Return the basis without tight rows: every column is nonbasic, at a bound or pinned."""
    return Basis(program, bounds, [], {j: bounds.side(j) for j in range(program.columns)})


def repair_basis(
    program: ProgramRows,
    bounds: ColumnBounds,
    tight_rows: Sequence[int],
    nonbasic: Mapping[int, Side],
) -> Basis:
    """Return a basis close to guessed constraints, which may be dependent or of any number.

    Rows that depend on the others are dropped, and columns that the remaining rows do not determine
    become nonbasic. Independence is decided modulo a prime: rows that are independent modulo a
    prime are independent, and a row that is dropped by mistake only makes the basis less close.
    """
    columns = [j for j in range(program.columns) if j not in nonbasic]
    flat = [program.entries[r][j] for r in tight_rows for j in columns]
    block = fmpz_mat(len(tight_rows), len(columns), flat)
    kept = pivot_columns(block.transpose(), _PRIME) if tight_rows and columns else []
    reduced = fmpz_mat(
        len(kept),
        len(columns),
        [e for i in kept for e in flat[i * len(columns) : (i + 1) * len(columns)]],
    )
    determined = {columns[j] for j in (pivot_columns(reduced, _PRIME) if kept else [])}
    all_nonbasic = dict(nonbasic) | {j: bounds.side(j) for j in columns if j not in determined}
    return Basis(program, bounds, [tight_rows[i] for i in kept], all_nonbasic)
