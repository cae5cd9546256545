"""Linear algebra modulo a prime: fast lower bounds for exact ranks, with a minor as evidence.

A minor of an integer matrix that is nonzero modulo p is nonzero. Therefore the rank modulo any
prime is a lower bound for the rank; an unlucky prime makes the bound weak, and then another one is
tried. The primes and the form of the evidence are fixed by FORMAT.md §3.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpz, fmpz_mat, nmod_mat

from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.exact.matrix import MATRIX, RationalMatrix
from polyrelu.support.arguments import expect, expect_integer
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.limits import DETERMINANT_LIMIT

__all__ = [
    "PRIMES",
    "Minor",
    "eliminate_mod",
    "float_prime",
    "independent_entries",
    "nonzero_minor",
    "rank_mod",
]

#: The primes of the certificates (FORMAT.md §3.3): 2^31 - 1 keeps the checker fast, 2^61 - 1 is
#: tried second.
PRIMES = (2**31 - 1, 2**61 - 1)


@dataclass(frozen=True, slots=True, repr=False)
class Minor:
    """A minor of all rows of a matrix that is nonzero modulo a prime.

    Attributes
    ----------
    prime
        The prime, one of `PRIMES`.
    columns
        The columns of the minor, ascending, as many as the matrix has rows.

    Examples
    --------
    >>> nonzero_minor(RationalMatrix.from_rows([[0, 1, 2], [0, 2, 5]])).columns
    (1, 2)
    """

    prime: int
    columns: tuple[int, ...]

    def __repr__(self) -> str:
        columns = count_text([(len(self.columns), "column")])
        return bracketed(f"Minor of {columns}, nonzero modulo {self.prime}")


def rank_mod(matrix: RationalMatrix, prime: int = PRIMES[-1]) -> int:
    """Compute the rank of the numerators modulo a prime, a lower bound for the rank.

    Parameters
    ----------
    matrix
        Any matrix.
    prime
        A prime below 2^63.

    Returns
    -------
    int
        The rank modulo the prime.

    Examples
    --------
    >>> rank_mod(RationalMatrix.from_rows([[1, 2], [2, 4]]))
    1
    """
    matrix = expect(matrix, RationalMatrix, "matrix", MATRIX)
    if prime not in PRIMES:
        _need_prime(prime)
    return int(nmod_mat(matrix.flint_numerators, prime).rank())


def nonzero_minor(matrix: RationalMatrix) -> Minor | None:
    """Find columns on which the rows have a nonzero determinant modulo one of `PRIMES`.

    The determinant is of the primitive integer multiple of the matrix, as in the certificates.

    Parameters
    ----------
    matrix
        A matrix of independent rows, shape (m, n).

    Returns
    -------
    Minor or None
        The prime and the columns. None does not mean that the rows are dependent, only that no
        prime shows their independence, or that the determinant is too large for a certificate.

    Examples
    --------
    >>> nonzero_minor(RationalMatrix.from_rows([[0, 1, 2], [0, 2, 5]]))
    <Minor of 2 columns, nonzero modulo 2147483647>
    """
    matrix = expect(matrix, RationalMatrix, "matrix", MATRIX)
    if matrix.nrows > DETERMINANT_LIMIT:
        return None
    primitive = fmpz_mat(matrix.primitive_rows()) if matrix.nrows else matrix.flint_numerators
    for prime in PRIMES:
        pivots = pivot_columns(primitive, prime)
        if len(pivots) == matrix.nrows:
            return Minor(prime, tuple(pivots))
    return None


def pivot_columns(numerators: fmpz_mat, prime: int) -> list[int]:
    """Return the pivot columns of the row echelon form modulo a prime, ascending."""
    echelon, rank = nmod_mat(numerators, prime).rref()
    table = echelon.table()
    pivots: list[int] = []
    column = 0
    for row in range(rank):
        while int(table[row][column]) == 0:
            column += 1
        pivots.append(column)
        column += 1
    return pivots


def independent_entries(
    left: RationalMatrix, right: RationalMatrix
) -> tuple[int, tuple[tuple[int, int], ...]] | None:
    """Find evidence that the matrices left[:, i] right[i, :] are linearly independent.

    Parameters
    ----------
    left
        The left factors as columns, shape (m, q).
    right
        The right factors as rows, shape (q, n).

    Returns
    -------
    tuple or None
        A prime p and q entries (o, k), in ascending order, on which the q matrices form a
        nonsingular q × q matrix modulo p. None if no prime shows the independence, or if the
        determinant is too large for a certificate.

    Examples
    --------
    >>> rows = RationalMatrix.from_rows([[1, 2], [2, 1]])
    >>> independent_entries(RationalMatrix.from_rows([[1, 1]]), rows)
    (2147483647, ((0, 0), (0, 1)))
    """
    need_factors(left, right)
    if right.nrows > min(left.nrows * right.ncols, DETERMINANT_LIMIT):
        return None
    return next(
        (
            evidence
            for prime in PRIMES
            if (evidence := _independent_mod(left, right, prime)) is not None
        ),
        None,
    )


def need_factors(left: RationalMatrix, right: RationalMatrix) -> None:
    """Refuse factors unless they are matrices, and each column has a row."""
    left = expect(left, RationalMatrix, "left", MATRIX)
    right = expect(right, RationalMatrix, "right", MATRIX)
    if left.ncols != right.nrows:
        raise NetworkError(
            f"{left.ncols} columns left and {right.nrows} rows right; each column needs a row"
        )


def _need_prime(number: object) -> None:
    """Refuse what is no prime below 2^63: FLINT may end the process for a composite modulus."""
    prime = expect_integer(number, "prime")
    if not 2 <= prime < 2**63 or not fmpz(prime).is_prime():
        raise ArgumentError(f"prime: expected a prime below 2^63, got {str(prime)[:40]}")


def _independent_mod(
    left: RationalMatrix, right: RationalMatrix, prime: int
) -> tuple[int, tuple[tuple[int, int], ...]] | None:
    """Return `independent_entries` for one prime.

    The entries of the first outputs usually suffice, and the entries of all outputs can be a very
    large matrix; so the number of outputs grows until the evidence exists.
    """
    q, m, n = right.nrows, left.nrows, right.ncols
    columns, rows = left.transpose().primitive_rows(), right.primitive_rows()
    taken = -(-q // n)
    while True:
        flat = [
            v * a % prime
            for vs, a_row in zip(columns, rows, strict=True)
            for v in vs[:taken]
            for a in a_row
        ]
        pivots = pivot_columns(fmpz_mat(q, min(taken, m) * n, flat), prime)
        if len(pivots) == q:
            return prime, tuple((pivot // n, pivot % n) for pivot in pivots)
        if taken >= m:
            return None
        taken *= 2


def eliminate_mod(
    rows: Sequence[Sequence[int]], first: int, prime: int = PRIMES[-1]
) -> tuple[int, list[list[int]]]:
    """Eliminate the first columns of an integer matrix modulo a prime.

    Parameters
    ----------
    rows
        Rows of equal length.
    first
        Number of columns to eliminate.
    prime
        A prime below 2^63.

    Returns
    -------
    tuple of int and list of list of int
        The rank r of the first columns; and a basis, modulo the prime, of the vectors of the row
        space that are 0 in all of the first columns, written without these columns.

    Notes
    -----
    All columns together are independent modulo the prime, and therefore independent, if and only if
    r = `first` and the columns of the basis are independent.

    Examples
    --------
    >>> eliminate_mod([[1, 1, 2], [2, 2, 5], [3, 3, 7]], 1)
    (1, [[0, 1]])
    """
    width = len(rows[0]) if rows else first
    flat = [entry % prime for row in rows for entry in row]
    echelon, rank = nmod_mat(len(rows), width, flat, prime).rref()
    table = [[int(entry) for entry in row] for row in echelon.table()[:rank]]
    basis = [row[first:] for row in table if not any(row[:first])]
    return rank - len(basis), basis


def float_prime(terms: int) -> int:
    """Find the largest prime for which sums of products modulo it are exact in floats.

    Parameters
    ----------
    terms
        Number of products in a sum.

    Returns
    -------
    int
        The largest prime p for which the sum of `terms` products of numbers below p is less than
        2^53.

    Examples
    --------
    >>> float_prime(4), float_prime(784) ** 2 * 784 < 2**53
    (47453111, True)
    """
    terms = expect_integer(terms, "terms")
    if not 1 <= terms <= 2**51:
        raise ArgumentError(f"terms: expected 1 to 2^51, got {str(terms)[:40]}")
    prime = math.isqrt(2**53 // terms)
    while not fmpz(prime).is_prime():
        prime -= 1
    return prime
