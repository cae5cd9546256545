"""The nonnegative column rank of a matrix: the least r with C = X U, X of any sign with r columns, U ≥ 0.

It is ρ = rank C if the columns of C that are not 0 lie strictly on one side of a hyperplane (their cone is *pointed*),
and ρ + 1 if not (three-layer symmetries, Propositions 28 and 29). By Gordan's theorem exactly one of these exists, and
either is a certificate:

* y with y·c > 0 for every column c ≠ 0: pointed;
* λ ≥ 0 with C λ = 0 and λ_k > 0 for some column k that is not 0: not pointed.

The rank itself is certified by a minor that is not 0, from below, and by the factorisation, from above.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import (
    Infeasible,
    LinearProgram,
    RationalMatrix,
    column_basis,
    determinant,
    row_basis,
)
from polyrelu.fibers.linear_part import Carriers, LinearPart
from polyrelu.support.typing import Vector
from polyrelu.symmetry import LayerDomain

__all__ = ["NonnegativeRank", "nonnegative_column_rank"]


@dataclass(frozen=True, slots=True)
class NonnegativeRank:
    """The nonnegative column rank of a matrix, with what proves it.

    Attributes
    ----------
    matrix : C, of shape (m, n).
    rows, columns : of a square minor of C that is not 0, of the size of the rank.
    pointing : y, of length m, if the cone of the columns is pointed; else None.
    relation : λ, of length n, if it is not; else None.
    heads, forms : X and U with C = X U, U ≥ 0; as many columns and rows as the nonnegative rank.
    """

    matrix: RationalMatrix
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    pointing: Vector | None
    relation: Vector | None
    heads: RationalMatrix
    forms: RationalMatrix

    @property
    def rank(self) -> int:
        """ρ."""
        return len(self.rows)

    @property
    def value(self) -> int:
        """The nonnegative column rank, ρ or ρ + 1."""
        return self.heads.ncols

    def verify(self) -> bool:
        """Whether everything here is true, in plain fractions: then `value` is the nonnegative column rank.

        >>> nonnegative_column_rank(RationalMatrix.from_rows([[1, -1]])).verify()
        True
        """
        table = self.matrix.rows()
        columns = list(zip(*table, strict=True))
        return (
            self._shapes_hold()
            and self._minor_holds()
            and self._factors_hold(table)
            and self._side_holds(columns)
        )

    def _shapes_hold(self) -> bool:
        m, n = self.matrix.shape
        square = len(self.rows) == len(self.columns)
        inside = all(0 <= i < m for i in self.rows) and all(0 <= k < n for k in self.columns)
        factors = (
            self.heads.nrows == m and self.forms.ncols == n and self.heads.ncols == self.forms.nrows
        )
        sides = (self.pointing is None or len(self.pointing) == m) and (
            self.relation is None or len(self.relation) == n
        )
        return square and inside and factors and sides

    def _minor_holds(self) -> bool:
        minor = self.matrix.take(rows=self.rows, columns=self.columns)
        return not self.rows or determinant(minor.integer_rows()) != 0

    def _factors_hold(self, table: list[Vector]) -> bool:
        made = [
            tuple(
                sum((x * u for x, u in zip(row, column, strict=True)), Fraction())
                for column in _columns(self.forms)
            )
            for row in self.heads.rows()
        ]
        return made == table and all(entry >= 0 for entry in self.forms.entries())

    def _side_holds(self, columns: list[Vector]) -> bool:
        if self.pointing is not None:
            positive = all(_dot(self.pointing, column) > 0 for column in columns if any(column))
            return positive and self.value == self.rank
        if self.relation is None or self.value != self.rank + 1 or min(self.relation) < 0:
            return False
        used = any(
            weight and any(column) for weight, column in zip(self.relation, columns, strict=True)
        )
        rows = self.matrix.rows()
        return used and not any(_dot(row, self.relation) for row in rows)


def nonnegative_column_rank(matrix: RationalMatrix) -> NonnegativeRank:
    """The nonnegative column rank, with certificates.

    >>> [nonnegative_column_rank(RationalMatrix.from_rows([row])).value for row in ([1, 2], [1, -1], [0, 0])]
    [1, 2, 0]
    >>> nonnegative_column_rank(RationalMatrix.from_rows([[2, -1]])).relation
    (Fraction(1, 1), Fraction(2, 1))
    """
    rows = row_basis(matrix)
    columns = column_basis(matrix.take(rows=rows)) if rows else ()
    pointing, relation = _side(matrix)
    needed = len(rows) + (pointing is None)
    nobody = RationalMatrix.zeros(0, matrix.ncols)
    found = LinearPart(
        matrix, Carriers(nobody, 0, needed), LayerDomain.orthant(matrix.ncols)
    ).realisation()
    if found is None:
        raise ArithmeticError("no factorisation of a size that suffices")  # pragma: no cover
    return NonnegativeRank(
        matrix, rows, columns, pointing, relation, found.linear_heads, found.linear_forms
    )


def _side(matrix: RationalMatrix) -> tuple[Vector | None, Vector | None]:
    """y or λ: a program and its Farkas vector."""
    columns = _columns(matrix)
    chosen = [k for k, column in enumerate(columns) if any(column)]
    program = LinearProgram(matrix.nrows)
    program.add_inequalities([[-entry for entry in columns[k]] for k in chosen], [-1] * len(chosen))
    found = program.feasible_point()
    if not isinstance(found, Infeasible):
        return found, None
    relation = [Fraction()] * matrix.ncols
    for position, weight in found.multipliers.rows.items():
        relation[chosen[position]] = weight
    return None, tuple(relation)


def _columns(matrix: RationalMatrix) -> list[Vector]:
    return matrix.transpose().rows()


def _dot(left: Vector, right: Vector) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction())
