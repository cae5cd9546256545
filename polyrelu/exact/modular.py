"""Linear algebra modulo a prime: cheap lower bounds for exact ranks, with a minor as evidence.

If a minor of an integer matrix is nonzero modulo p, it is nonzero. So a rank modulo p is a lower bound for the
rank, for any prime; only an unlucky prime makes the bound weak, and then another one is tried.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpz, fmpz_mat, nmod_mat

from polyrelu.exact.matrix import RationalMatrix
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

#: The primes of the certificates (FORMAT.md §3.3): 2^31 - 1 keeps the checker fast, 2^61 - 1 is the second try.
PRIMES = (2**31 - 1, 2**61 - 1)


@dataclass(frozen=True, slots=True)
class Minor:
    """All rows of a matrix and the listed columns have a determinant that is nonzero modulo `prime`."""

    prime: int
    columns: tuple[int, ...]


def rank_mod(matrix: RationalMatrix, prime: int = PRIMES[-1]) -> int:
    """The rank of the numerators modulo a prime below 2^63, a lower bound for the rank.

    >>> rank_mod(RationalMatrix.from_rows([[1, 2], [2, 4]]))
    1
    """
    return int(nmod_mat(matrix.numerators, prime).rank())


def nonzero_minor(matrix: RationalMatrix) -> Minor | None:
    """Columns on which the full set of rows has a determinant that is nonzero modulo one of `PRIMES`, or None.

    What is reduced is the primitive integer multiple of the matrix, as in the certificates.

    None does not mean that the rank is deficient, only that no prime shows that it is not.

    >>> nonzero_minor(RationalMatrix.from_rows([[0, 1, 2], [0, 2, 5]]))
    Minor(prime=2147483647, columns=(1, 2))
    """
    if matrix.nrows > DETERMINANT_LIMIT:
        return None
    primitive = fmpz_mat(matrix.primitive_rows()) if matrix.nrows else matrix.numerators
    for prime in PRIMES:
        pivots = pivot_columns(primitive, prime)
        if len(pivots) == matrix.nrows:
            return Minor(prime, tuple(pivots))
    return None


def pivot_columns(numerators: fmpz_mat, prime: int) -> list[int]:
    """The pivot columns of the row echelon form modulo a prime, ascending."""
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
    """Evidence that the matrices left[:, i] right[i, :] are linearly independent, or None if no prime shows it.

    Parameters
    ----------
    left, right : shapes (m, q) and (q, n).

    Returns
    -------
    A prime p and q entries (o, k), in ascending order, on which the q matrices form a nonsingular q × q matrix
    modulo p.

    >>> independent_entries(RationalMatrix.from_rows([[1, 1]]), RationalMatrix.from_rows([[1, 2], [2, 1]]))
    (2147483647, ((0, 0), (0, 1)))
    """
    if right.nrows > min(left.nrows * right.ncols, DETERMINANT_LIMIT):
        return None
    return next(
        (found for prime in PRIMES if (found := _independent_mod(left, right, prime)) is not None),
        None,
    )


def _independent_mod(
    left: RationalMatrix, right: RationalMatrix, prime: int
) -> tuple[int, tuple[tuple[int, int], ...]] | None:
    """Take the outputs by and by, 1, 2, 4, …: the first ones usually suffice, and all of them can be a very large
    matrix."""
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
    """Gaussian elimination of the first columns of an integer matrix, modulo a prime.

    Parameters
    ----------
    rows : integers, equally many in each row.
    first : how many columns are eliminated.

    Returns
    -------
    The rank of the first columns; and independent rows that span what the rows modulo the prime contain with zeros in
    all of the first columns, without these. So the columns are independent modulo the prime, and then independent, if
    and only if the rank is `first` and the columns of the rows returned are independent.

    >>> eliminate_mod([[1, 1, 2], [2, 2, 5], [3, 3, 7]], 1)
    (1, [[0, 1]])
    """
    width = len(rows[0]) if rows else first
    flat = [entry % prime for row in rows for entry in row]
    echelon, rank = nmod_mat(len(rows), width, flat, prime).rref()
    table = [[int(entry) for entry in row] for row in echelon.table()[:rank]]
    rest = [row[first:] for row in table if not any(row[:first])]
    return rank - len(rest), rest


def float_prime(terms: int) -> int:
    """The largest prime p for which so many products of numbers below p add up to less than 2^53, exactly in floats.

    >>> float_prime(4), float_prime(784) ** 2 * 784 < 2**53
    (47453111, True)
    """
    prime = math.isqrt(2**53 // terms)
    while not fmpz(prime).is_prime():
        prime -= 1
    return prime
