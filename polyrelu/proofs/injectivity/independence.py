"""Subspaces spanned by rows of a layer, and what is left of all rows modulo one, modulo a prime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Quotient"]

#: Products of two numbers below it fit int64; other numbers are Python integers.
_SHORT = 2**31


class Quotient:
    """All rows modulo a subspace U, as vectors modulo a prime; U = 0 at first.

    A row that is not 0 here lies outside U. The converse holds unless the prime is unlucky.

    Attributes
    ----------
    members
        Rows that are a basis of U.
    is_outside
        Which rows lie outside U.
    rows, prime
        The vectors, shape (rows, dimension), and the prime.

    Examples
    --------
    >>> quotient = Quotient.of([[1, 0], [2, 0], [1, 1]], 2, 2**31 - 1)
    >>> quotient.grown(0).is_outside.tolist()
    [False, False, True]
    >>> quotient.is_line([0, 1]), quotient.is_line([0, 2])
    (True, False)
    """

    __slots__ = ("is_outside", "members", "prime", "rows")

    def __init__(self, rows: NDArray[Any], prime: int, members: tuple[int, ...]) -> None:
        self.rows, self.prime, self.members = rows, prime, members
        self.is_outside: NDArray[np.bool_] = (rows != 0).any(axis=1)

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], dimension: int, prime: int) -> Quotient:
        """Return the rows modulo U = 0."""
        reduced = [[entry % prime for entry in row] for row in rows]
        table = np.array(reduced, dtype=np.int64 if prime < _SHORT else object)
        return cls(table.reshape(len(rows), dimension), prime, ())

    @property
    def rank(self) -> int:
        """The dimension of U."""
        return len(self.members)

    def grown(self, row: int) -> Quotient:
        """Return the quotient by U and a row outside of U."""
        rows = self.rows
        column = int(np.flatnonzero(rows[row])[0])
        pivot = rows[row] * pow(int(rows[row, column]), -1, self.prime) % self.prime
        left = (rows - rows[:, column, None] * pivot) % self.prime
        return Quotient(left, self.prime, (*self.members, row))

    def is_line(self, chosen: Sequence[int]) -> bool:
        """Whether U and the chosen rows, all outside of U, span one dimension more than U."""
        rows = self.rows[list(chosen)]
        column = int(np.flatnonzero(rows[0])[0])
        cross = (rows * rows[0, column] - rows[:, column, None] * rows[0]) % self.prime
        return not (cross != 0).any()

    def are_independent(self, sets: Sequence[Sequence[int]]) -> bool:
        """Whether every choice of one row from each set is independent modulo U."""
        first, *rest = sets
        if not all(self.is_outside[row] for row in first):
            return False
        return not rest or all(self.grown(row).are_independent(rest) for row in first)
