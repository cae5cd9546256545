"""The nonnegative column rank of a matrix, with certificates.

The nonnegative column rank of C is the least r with C = X U, where X has r columns with entries of
any sign and U ≥ 0. It tells how many linear neurons on the orthant are needed to contribute C, so
it decides which orientations of visible hyperplanes are possible (`Component.evidence`). A result
carries everything that proves it, and `NonnegativeRank.verify` checks it without the code that
found it.

The nonnegative column rank is ρ = rank C if the nonzero columns of C lie strictly on one side of a
hyperplane, in other words if their cone is *pointed*, and it is ρ + 1 otherwise (the three-layer
paper, arXiv 2605.18319, Propositions 28 and 29). By Gordan's theorem exactly one of these vectors
exists, and either is a certificate:

* y with y·c > 0 for every column c ≠ 0: the cone is pointed;
* λ ≥ 0 with C λ = 0 and λ_k > 0 for some column k that is not 0: the cone is not pointed.

The rank ρ is certified from below by a nonzero minor and from above by the factorisation.
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
from polyrelu.exact.vectors import dot
from polyrelu.fibers.linear_part import AvailableNeurons, LinearPart
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed
from polyrelu.support.typing import Vector
from polyrelu.symmetry import LayerDomain

__all__ = ["NonnegativeRank", "nonnegative_column_rank"]


@dataclass(frozen=True, slots=True, repr=False)
class NonnegativeRank:
    """The nonnegative column rank of a matrix, with its certificates.

    Attributes
    ----------
    matrix
        The matrix C, shape (m, n).
    rows
        The rows of a nonzero square minor of C whose size is the rank.
    columns
        The columns of this minor.
    pointing
        The vector y, length m, if the cone of the columns is pointed, otherwise None.
    relation
        The vector λ, length n, if the cone of the columns is not pointed, otherwise None.
    left_factor
        The factor X in C = X U; it has as many columns as the nonnegative rank.
    right_factor
        The factor U ≥ 0 in C = X U; it has as many rows as the nonnegative rank.

    Notes
    -----
    Source: the three-layer paper (2026), Propositions 28 and 29, arXiv 2605.18319.

    Examples
    --------
    >>> found = nonnegative_column_rank(RationalMatrix.from_rows([[1, -1]]))
    >>> found.rank, found.value, found.verify()
    (1, 2, True)
    """

    matrix: RationalMatrix
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    pointing: Vector | None
    relation: Vector | None
    left_factor: RationalMatrix
    right_factor: RationalMatrix

    @property
    def rank(self) -> int:
        """The rank ρ of the matrix."""
        return len(self.rows)

    @property
    def value(self) -> int:
        """The nonnegative column rank, ρ or ρ + 1."""
        return self.left_factor.ncols

    def __repr__(self) -> str:
        m, n = self.matrix.shape
        return bracketed(
            f"NonnegativeRank, {self.value} for a matrix of shape ({m}, {n}) and rank {self.rank}"
        )

    def verify(self) -> bool:
        """Check all certificates in plain fractions; if they hold, `value` is correct.

        Returns
        -------
        bool
            True if the minor is not 0, the factorisation holds and the vector y or λ proves which
            of the two cases applies.

        Examples
        --------
        >>> nonnegative_column_rank(RationalMatrix.from_rows([[1, -1]])).verify()
        True
        """
        return (
            self._shapes_hold()
            and self._minor_holds()
            and self._factorisation_holds()
            and self._side_holds()
        )

    def _shapes_hold(self) -> bool:
        """Whether indices and shapes fit the matrix."""
        m, n = self.matrix.shape
        square = len(self.rows) == len(self.columns)
        inside = all(0 <= i < m for i in self.rows) and all(0 <= k < n for k in self.columns)
        left, right = self.left_factor, self.right_factor
        factors = left.nrows == m and right.ncols == n and left.ncols == right.nrows
        sides = (self.pointing is None or len(self.pointing) == m) and (
            self.relation is None or len(self.relation) == n
        )
        return square and inside and factors and sides

    def _minor_holds(self) -> bool:
        """Whether the minor is not 0."""
        minor = self.matrix.take(rows=self.rows, columns=self.columns)
        return not self.rows or determinant(minor.integer_rows()) != 0

    def _factorisation_holds(self) -> bool:
        """Whether C = X U and U ≥ 0."""
        product = [
            tuple(dot(row, column) for column in _columns(self.right_factor))
            for row in self.left_factor.rows()
        ]
        nonnegative = all(entry >= 0 for entry in self.right_factor.entries())
        return product == self.matrix.rows() and nonnegative

    def _side_holds(self) -> bool:
        """Whether y or λ proves that the cone of the columns is pointed, or that it is not."""
        columns = list(zip(*self.matrix.rows(), strict=True))
        if self.pointing is not None:
            positive = all(dot(self.pointing, column) > 0 for column in columns if any(column))
            return positive and self.value == self.rank
        if self.relation is None or self.value != self.rank + 1 or min(self.relation) < 0:
            return False
        used = any(
            weight and any(column) for weight, column in zip(self.relation, columns, strict=True)
        )
        rows = self.matrix.rows()
        return used and not any(dot(row, self.relation) for row in rows)


def nonnegative_column_rank(matrix: RationalMatrix) -> NonnegativeRank:
    """Compute the nonnegative column rank of a matrix, with certificates.

    Parameters
    ----------
    matrix
        The matrix C, shape (m, n).

    Returns
    -------
    NonnegativeRank
        The rank with a minor, a factorisation, and the vector y or λ.

    Raises
    ------
    ArgumentError
        The argument is no `RationalMatrix`.

    Notes
    -----
    Source: the three-layer paper (2026), Propositions 28 and 29, arXiv 2605.18319.

    Examples
    --------
    >>> matrices = [RationalMatrix.from_rows([row]) for row in ([1, 2], [1, -1], [0, 0])]
    >>> [nonnegative_column_rank(matrix).value for matrix in matrices]
    [1, 2, 0]
    >>> nonnegative_column_rank(RationalMatrix.from_rows([[2, -1]])).relation
    (Fraction(1, 1), Fraction(2, 1))
    """
    matrix = expect(matrix, RationalMatrix, "matrix", "RationalMatrix.from_rows makes one")
    rows = row_basis(matrix)
    columns = column_basis(matrix.take(rows=rows)) if rows else ()
    pointing, relation = _pointing_or_relation(matrix)
    needed = len(rows) + (pointing is None)
    nothing = RationalMatrix.zeros(0, matrix.ncols)
    found = LinearPart(
        matrix, AvailableNeurons(nothing, 0, needed), LayerDomain.orthant(matrix.ncols)
    ).realisation()
    if found is None:
        raise ArithmeticError("no factorisation of a size that suffices")  # pragma: no cover
    return NonnegativeRank(
        matrix, rows, columns, pointing, relation, found.linear_weights, found.linear_forms
    )


def _pointing_or_relation(matrix: RationalMatrix) -> tuple[Vector | None, Vector | None]:
    """Return y and None, or None and λ: the solution of a linear program or its Farkas vector."""
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
    """Return the columns of a matrix as vectors."""
    return matrix.transpose().rows()
