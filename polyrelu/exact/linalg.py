"""Exact rank, kernel and solutions of linear systems over the rationals.

FLINT's exact rank of a 256 × 784 matrix of 40-bit integers takes minutes, modulo a prime milliseconds. So the
pivots come from a prime (a guess), the kernel is solved for on them exactly, and the product with the matrix is
compared with zero: the rank is then bounded from below by the minor modulo p and from above by the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq_mat, fmpz_mat, nmod_mat

from polyrelu.exact.matrix import RationalMatrix
from polyrelu.exact.modular import PRIMES, pivot_columns
from polyrelu.exact.rational import to_fraction

__all__ = ["column_basis", "determinant", "kernel", "left_kernel", "rank", "row_basis", "solve"]

_MORE_PRIMES = (*PRIMES, 2**63 - 25, 2**62 - 57)


def rank(matrix: RationalMatrix) -> int:
    """The exact rank.

    >>> rank(RationalMatrix.from_rows([[1, 2, 3], [2, 4, 6], [0, 0, 1]]))
    2
    """
    lower = max(int(nmod_mat(matrix.numerators, prime).rank()) for prime in _MORE_PRIMES)
    if lower == min(matrix.shape):
        return lower
    return matrix.ncols - kernel(matrix).ncols


def column_basis(matrix: RationalMatrix) -> tuple[int, ...]:
    """The indices of a maximal set of independent columns, ascending; mostly the first ones.

    >>> column_basis(RationalMatrix.from_rows([[0, 1, 2, 0], [0, 2, 4, 1]]))
    (1, 3)
    """
    needed = rank(matrix)
    for prime in _MORE_PRIMES:
        pivots = pivot_columns(matrix.numerators, prime)
        if len(pivots) == needed:  # independent modulo a prime, hence independent
            return tuple(pivots)
    return _first_independent_columns(matrix)


def row_basis(matrix: RationalMatrix) -> tuple[int, ...]:
    """The indices of a maximal set of independent rows, ascending.

    >>> row_basis(RationalMatrix.from_rows([[1, 1], [2, 2], [0, 1]]))
    (0, 2)
    """
    return column_basis(matrix.transpose())


def determinant(rows: Sequence[Sequence[int]]) -> int:
    """The determinant of a square integer matrix.

    >>> determinant([[1, 2], [3, 4]])
    -2
    """
    return int(fmpz_mat([list(row) for row in rows]).det())


def kernel(matrix: RationalMatrix) -> RationalMatrix:
    """A basis of {x : matrix x = 0} as the columns of an n × k matrix.

    >>> print(kernel(RationalMatrix.from_rows([[1, 2, 0]])).transpose())
    [-2 1 0]
    [0 0 1]
    """
    for prime in _MORE_PRIMES:
        columns = pivot_columns(matrix.numerators, prime)
        rows = pivot_columns(matrix.numerators.transpose(), prime)
        candidate = _kernel_on(matrix, rows, columns)
        if (matrix @ candidate).is_zero():
            return candidate
    return _kernel_by_fraction_free_elimination(matrix)


def left_kernel(matrix: RationalMatrix) -> RationalMatrix:
    """A basis of {y : yᵀ matrix = 0} as the columns of an m × k matrix.

    >>> print(left_kernel(RationalMatrix.from_rows([[1], [2]])).transpose())
    [-2 1]
    """
    return kernel(matrix.transpose())


def solve(matrix: RationalMatrix, right: RationalMatrix) -> RationalMatrix | None:
    """Some X with matrix X = right, or None if there is none; any shapes, any rank.

    >>> print(solve(RationalMatrix.from_rows([[2, 1], [4, 2]]), RationalMatrix.column([1, 2])))
    [1/2]
    [0]
    """
    for prime in _MORE_PRIMES:
        columns = pivot_columns(matrix.numerators, prime)
        rows = pivot_columns(matrix.numerators.transpose(), prime)
        part = _solve_square(matrix.take(rows, columns), right.take(rows))
        solution = _scattered(part, columns, matrix.ncols)
        if matrix @ solution == right:
            return solution
        if len(columns) == rank(matrix):  # the pivots were right, so the system is inconsistent
            return None
    return _solve_by_elimination(matrix, right)


def _kernel_on(matrix: RationalMatrix, rows: list[int], columns: list[int]) -> RationalMatrix:
    """The kernel if the block (rows, columns) is nonsingular and carries the whole rank."""
    taken = set(columns)
    free = [j for j in range(matrix.ncols) if j not in taken]
    bound = _solve_square(matrix.take(rows, columns), matrix.take(rows, free))
    table = [[0] * len(free) for _ in range(matrix.ncols)]
    for i, row in zip(columns, bound.integer_rows(), strict=True):
        table[i] = [-entry for entry in row]
    for position, j in enumerate(free):
        table[j][position] = bound.denominator
    return RationalMatrix.from_integers(table, bound.denominator, len(free))


def _solve_square(block: RationalMatrix, right: RationalMatrix) -> RationalMatrix:
    """Solve with a nonsingular square matrix."""
    if block.nrows == 0 or right.ncols == 0:
        return RationalMatrix.zeros(block.nrows, right.ncols)
    quotient: fmpq_mat = fmpq_mat(block.numerators).solve(fmpq_mat(right.numerators))
    integers, common = quotient.numer_denom()
    return RationalMatrix(integers * block.denominator, int(common) * right.denominator)


def _scattered(part: RationalMatrix, columns: list[int], size: int) -> RationalMatrix:
    table = [[0] * part.ncols for _ in range(size)]
    for i, row in zip(columns, part.integer_rows(), strict=True):
        table[i] = row
    return RationalMatrix.from_integers(table, part.denominator, part.ncols)


def _solve_by_elimination(matrix: RationalMatrix, right: RationalMatrix) -> RationalMatrix | None:
    """Slow and certain: the reduced row echelon form of [matrix | right] over the rationals."""
    joined = matrix.beside(right)
    echelon, rank_ = fmpq_mat(joined.numerators).rref()
    table = [[to_fraction(echelon[i, j]) for j in range(joined.ncols)] for i in range(rank_)]
    pivots = [next(j for j, entry in enumerate(row) if entry) for row in table]
    if any(pivot >= matrix.ncols for pivot in pivots):
        return None
    rows = [[Fraction()] * right.ncols for _ in range(matrix.ncols)]
    for pivot, row in zip(pivots, table, strict=True):
        rows[pivot] = row[matrix.ncols :]
    return RationalMatrix.from_rows(rows, ncols=right.ncols)


def _first_independent_columns(matrix: RationalMatrix) -> tuple[int, ...]:
    """Slow and certain, for matrices on which all primes are unlucky."""
    echelon, _, rank_ = matrix.numerators.rref()
    return tuple(next(j for j in range(matrix.ncols) if echelon[i, j] != 0) for i in range(rank_))


def _kernel_by_fraction_free_elimination(matrix: RationalMatrix) -> RationalMatrix:
    """Slow and certain: FLINT's own null space."""
    basis, nullity = matrix.numerators.nullspace()
    columns = [[int(basis[i, j]) for j in range(nullity)] for i in range(matrix.ncols)]
    content = math.gcd(*(entry for row in columns for entry in row)) or 1
    return RationalMatrix(
        fmpz_mat(matrix.ncols, nullity, [e // content for row in columns for e in row]), 1
    )
