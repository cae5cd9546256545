"""Exact rank, kernel, determinant and solutions of linear systems over the rationals.

FLINT's exact rank of a 256 × 784 matrix of 40-bit integers takes minutes, the rank modulo a prime
milliseconds. Therefore a prime proposes the pivots, and exact arithmetic confirms them: the kernel
is solved for on these pivots, and its product with the matrix is compared with zero. The rank is
then bounded from below by the minor modulo p and from above by the kernel. If all primes are
unlucky, slow elimination over the rationals decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain

from flint import fmpq_mat, fmpz_mat, nmod_mat

from polyrelu.errors import NetworkError
from polyrelu.exact.matrix import MATRIX, RationalMatrix
from polyrelu.exact.modular import PRIMES, pivot_columns
from polyrelu.exact.rational import to_fraction
from polyrelu.support.arguments import expect, expect_list

__all__ = [
    "column_basis",
    "determinant",
    "kernel",
    "left_kernel",
    "rank",
    "row_basis",
    "solve",
    "solve_integers",
]

#: The primes of the certificates, and two more in case these are unlucky.
_MORE_PRIMES = (*PRIMES, 2**63 - 25, 2**62 - 57)


def rank(matrix: RationalMatrix) -> int:
    """Compute the exact rank.

    Parameters
    ----------
    matrix
        Any matrix.

    Returns
    -------
    int
        The rank.

    Examples
    --------
    >>> rank(RationalMatrix.from_rows([[1, 2, 3], [2, 4, 6], [0, 0, 1]]))
    2
    """
    matrix = expect(matrix, RationalMatrix, "matrix", MATRIX)
    for prime in _MORE_PRIMES:
        if int(nmod_mat(matrix.flint_numerators, prime).rank()) == min(matrix.shape):
            return min(matrix.shape)
    return matrix.ncols - kernel(matrix).ncols


def column_basis(matrix: RationalMatrix) -> tuple[int, ...]:
    """Choose a maximal set of independent columns.

    Parameters
    ----------
    matrix
        Any matrix.

    Returns
    -------
    tuple of int
        The indices of the columns, ascending. They are the first possible ones unless a prime is
        unlucky.

    Examples
    --------
    >>> column_basis(RationalMatrix.from_rows([[0, 1, 2, 0], [0, 2, 4, 1]]))
    (1, 3)
    """
    matrix = expect(matrix, RationalMatrix, "matrix", MATRIX)
    needed: int | None = None
    for prime in _MORE_PRIMES:
        pivots = pivot_columns(matrix.flint_numerators, prime)
        if len(pivots) == min(matrix.shape):  # independent modulo a prime, hence independent
            return tuple(pivots)
        needed = rank(matrix) if needed is None else needed
        if len(pivots) == needed:
            return tuple(pivots)
    return _first_independent_columns(matrix)


def row_basis(matrix: RationalMatrix) -> tuple[int, ...]:
    """Choose a maximal set of independent rows.

    Parameters
    ----------
    matrix
        Any matrix.

    Returns
    -------
    tuple of int
        The indices of the rows, ascending.

    Examples
    --------
    >>> row_basis(RationalMatrix.from_rows([[1, 1], [2, 2], [0, 1]]))
    (0, 2)
    """
    return column_basis(expect(matrix, RationalMatrix, "matrix", MATRIX).transpose())


def determinant(rows: Sequence[Sequence[int]]) -> int:
    """Compute the determinant of a square integer matrix.

    Parameters
    ----------
    rows
        The rows, shape (k, k).

    Returns
    -------
    int
        The determinant.

    Examples
    --------
    >>> determinant([[1, 2], [3, 4]])
    -2
    """
    table = [expect_list(row, "rows") for row in expect_list(rows, "rows")]
    if any(len(row) != len(table) for row in table):
        raise NetworkError("rows: a determinant needs as many entries in each row as rows")
    try:
        return int(fmpz_mat(len(table), len(table), list(chain.from_iterable(table))).det())
    except (TypeError, ValueError):
        raise NetworkError(
            "rows: a determinant needs integers; RationalMatrix takes others"
        ) from None


def kernel(matrix: RationalMatrix) -> RationalMatrix:
    """Compute a basis of {x : matrix x = 0}.

    Parameters
    ----------
    matrix
        Any matrix, shape (m, n).

    Returns
    -------
    RationalMatrix
        The basis vectors as columns, shape (n, n - rank).

    Examples
    --------
    >>> print(kernel(RationalMatrix.from_rows([[1, 2, 0]])).transpose())
    [-2 1 0]
    [0 0 1]
    """
    matrix = expect(matrix, RationalMatrix, "matrix", MATRIX)
    for prime in _MORE_PRIMES:
        columns = pivot_columns(matrix.flint_numerators, prime)
        rows = pivot_columns(matrix.flint_numerators.transpose(), prime)
        candidate = _kernel_on(matrix, rows, columns)
        if (matrix @ candidate).is_zero():
            return candidate
    return _kernel_by_fraction_free_elimination(matrix)


def left_kernel(matrix: RationalMatrix) -> RationalMatrix:
    """Compute a basis of {y : yᵀ matrix = 0}.

    Parameters
    ----------
    matrix
        Any matrix, shape (m, n).

    Returns
    -------
    RationalMatrix
        The basis vectors as columns, shape (m, m - rank).

    Examples
    --------
    >>> print(left_kernel(RationalMatrix.from_rows([[1], [2]])).transpose())
    [-2 1]
    """
    return kernel(expect(matrix, RationalMatrix, "matrix", MATRIX).transpose())


def solve(matrix: RationalMatrix, right: RationalMatrix) -> RationalMatrix | None:
    """Find a solution X of matrix · X = right.

    Parameters
    ----------
    matrix
        Any matrix of any rank, shape (m, n).
    right
        The right-hand sides, shape (m, k).

    Returns
    -------
    RationalMatrix or None
        A solution, shape (n, k); None if there is none.

    Examples
    --------
    >>> print(solve(RationalMatrix.from_rows([[2, 1], [4, 2]]), RationalMatrix.column([1, 2])))
    [1/2]
    [0]
    """
    matrix = expect(matrix, RationalMatrix, "matrix", MATRIX)
    right = expect(right, RationalMatrix, "right", MATRIX)
    if matrix.nrows != right.nrows:
        raise NetworkError(f"the matrix has {matrix.nrows} rows, the right-hand side {right.nrows}")
    for prime in _MORE_PRIMES:
        columns = pivot_columns(matrix.flint_numerators, prime)
        rows = pivot_columns(matrix.flint_numerators.transpose(), prime)
        part = _solve_square(matrix.take(rows, columns), right.take(rows))
        solution = _scattered(part, columns, matrix.ncols)
        if matrix @ solution == right:
            return solution
        if len(columns) == rank(matrix):  # the pivots were right, so the system is inconsistent
            return None
    return _solve_by_elimination(matrix, right)


def solve_integers(
    rows: Sequence[Sequence[int]], right: Sequence[int]
) -> tuple[list[int], int] | None:
    """Solve a square system of integers.

    It takes a few microseconds for few unknowns, where `solve` takes a hundred.

    Parameters
    ----------
    rows
        A square matrix, shape (n, n), n > 0.
    right
        The right-hand side, shape (n,).

    Returns
    -------
    numerators, denominator
        The solution, with a positive denominator; None if the matrix is singular.

    Examples
    --------
    >>> solve_integers([[2, 1], [4, 4]], [1, 2])
    ([1, 0], 2)
    """
    try:
        found: fmpq_mat = fmpq_mat(fmpz_mat(rows)).solve(fmpq_mat(fmpz_mat([[x] for x in right])))
    except ZeroDivisionError:
        return None
    integers, common = found.numer_denom()
    return [int(entry) for entry in integers.entries()], int(common)


def _kernel_on(matrix: RationalMatrix, rows: list[int], columns: list[int]) -> RationalMatrix:
    """Compute the kernel, provided that this block is nonsingular and has the full rank."""
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
    """Return the solution of block · X = right for a nonsingular square block."""
    if block.nrows == 0 or right.ncols == 0:
        return RationalMatrix.zeros(block.nrows, right.ncols)
    quotient: fmpq_mat = fmpq_mat(block.flint_numerators).solve(fmpq_mat(right.flint_numerators))
    integers, common = quotient.numer_denom()
    return RationalMatrix(integers * block.denominator, int(common) * right.denominator)


def _scattered(part: RationalMatrix, columns: list[int], size: int) -> RationalMatrix:
    """Return the matrix of `size` rows that has the rows of `part` at the given places."""
    table = [[0] * part.ncols for _ in range(size)]
    for i, row in zip(columns, part.integer_rows(), strict=True):
        table[i] = row
    return RationalMatrix.from_integers(table, part.denominator, part.ncols)


def _solve_by_elimination(matrix: RationalMatrix, right: RationalMatrix) -> RationalMatrix | None:
    """Solve by the reduced row echelon form of [matrix | right], if all primes are unlucky."""
    joined = matrix.beside(right)
    echelon, rank_ = fmpq_mat(joined.flint_numerators).rref()
    table = [[to_fraction(echelon[i, j]) for j in range(joined.ncols)] for i in range(rank_)]
    pivots = [next(j for j, entry in enumerate(row) if entry) for row in table]
    if any(pivot >= matrix.ncols for pivot in pivots):
        return None
    rows = [[Fraction()] * right.ncols for _ in range(matrix.ncols)]
    for pivot, row in zip(pivots, table, strict=True):
        rows[pivot] = row[matrix.ncols :]
    return RationalMatrix.from_rows(rows, ncols=right.ncols)


def _first_independent_columns(matrix: RationalMatrix) -> tuple[int, ...]:
    """Return the first maximal set of independent columns, if all primes are unlucky."""
    echelon, _, rank_ = matrix.flint_numerators.rref()
    return tuple(next(j for j in range(matrix.ncols) if echelon[i, j] != 0) for i in range(rank_))


def _kernel_by_fraction_free_elimination(matrix: RationalMatrix) -> RationalMatrix:
    """Return the kernel by FLINT's own elimination, if all primes are unlucky."""
    basis, nullity = matrix.flint_numerators.nullspace()
    columns = [[int(basis[i, j]) for j in range(nullity)] for i in range(matrix.ncols)]
    content = math.gcd(*(entry for row in columns for entry in row)) or 1
    return RationalMatrix(
        fmpz_mat(matrix.ncols, nullity, [e // content for row in columns for e in row]), 1
    )
