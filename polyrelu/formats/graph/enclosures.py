"""Products of exact matrices with vectors of float64, with proved bounds on their errors.

Computed sums and products are enlarged so that they bound the exact ones: see "Computation" in the
docstring of `float_error.py`. An `Enclosure` is a vector of float64 with a bound on the distance of
each entry to the exact entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np

from polyrelu.exact import AnyMatrix, RationalMatrix, SparseMatrix
from polyrelu.support.typing import Floats, Indices

__all__ = [
    "EPSILON",
    "Enclosure",
    "FloatMatrix",
    "absolute_values",
    "difference_below",
    "floats_above",
    "floats_below",
    "round_up",
    "sum_above",
]

#: The distance from 1 to the next float64, and an upper bound on what underflow in float64 loses.
EPSILON, _UNDERFLOW = 2.0**-52, 2.0**-1000

#: Minimum number of entries for which rows with entries in the same columns are sought.
_SHARED_ENTRIES = 1 << 12
#: Maximum number of floats at a time, 8 bytes each, unless a single row needs more.
_CHUNK = 1 << 18


def round_up(values: Floats, terms: Any) -> Floats:
    """Return upper bounds on nonnegative sums of `terms` products that were computed in float64."""
    result: Floats = values * (1 + (terms + 4) * EPSILON) + _UNDERFLOW
    return result


def sum_above(middle: Floats, more: Floats) -> Floats:
    """Return upper bounds on middle + more."""
    return np.nextafter(middle + more, np.inf)


def difference_below(middle: Floats, less: Floats) -> Floats:
    """Return lower bounds on middle - less."""
    return np.nextafter(middle - less, -np.inf)


def floats_above(entries: Sequence[Fraction]) -> Floats:
    """Return floats that are at least the exact numbers."""
    return np.nextafter(RationalMatrix.column(entries).to_floats()[:, 0], np.inf)


def floats_below(entries: Sequence[Fraction]) -> Floats:
    """Return floats that are at most the exact numbers."""
    return np.nextafter(RationalMatrix.column(entries).to_floats()[:, 0], -np.inf)


def absolute_values(floats: Floats) -> Floats:
    """Return the absolute values of floats that were rounded from exact numbers.

    The largest float becomes infinity, because `to_floats` gives it for every larger number.
    """
    sizes = np.abs(floats)
    return np.where(sizes == np.finfo(np.float64).max, np.inf, sizes)


class FloatMatrix:
    """A matrix W in float64 that multiplies vectors by W and by upper bounds of |W|.

    `terms` holds the number of nonzero entries of each row, shape (rows, 1); `largest` is an upper
    bound on the absolute values of all entries; `only_shifts` tells whether the products W x have
    no rounding errors, since each is an entry of x times a power of two near 1.
    """

    def __init__(self, matrix: AnyMatrix) -> None:
        self.rows = matrix.nrows
        if isinstance(matrix, SparseMatrix):
            self._sparse: SparseMatrix | None = matrix
            self._tables = _tables(matrix)
            self.terms = np.diff(matrix.starts).astype(np.float64)[:, None]
            self._entries = matrix.floats_of_values()
        else:
            self._sparse = None
            self.terms = (matrix.signs() != 0).sum(axis=1).astype(np.float64)[:, None]
            self._entries = matrix.to_floats()
        # Of a sparse matrix, these are the distinct values only.
        self._sizes = round_up(absolute_values(self._entries), 1)
        self.largest = float(self._sizes.max(initial=0.0))
        self.only_shifts = self.terms.max(initial=0.0) <= 1 and self._are_powers_of_two()

    def products(self, x: Floats, *sizes: Floats) -> list[Floats]:
        """Return W x, and upper bounds of |W| times each of some nonnegative arrays.

        The bounds leave out the rounding errors of the products.
        """
        bounded = np.concatenate(sizes, axis=1)
        ends = np.cumsum([part.shape[1] for part in sizes])[:-1]
        if self._sparse is None:
            return [self._entries @ x, *np.split(self._sizes @ bounded, ends, axis=1)]
        middle = np.zeros((self.rows, x.shape[1]))
        bounds = np.zeros((self.rows, bounded.shape[1]))
        for lines, columns, codes in self._parts(x.shape[1] + bounded.shape[1]):
            middle[lines] = self._entries[codes] @ x[columns]
            bounds[lines] = self._sizes[codes] @ bounded[columns]
        return [middle, *np.split(bounds, ends, axis=1)]

    def _parts(self, width: int) -> Iterator[tuple[Indices, Indices, Indices]]:
        """Yield lines of rows with entries in the same columns, these columns, and the codes.

        The shapes are (lines, rows of a line), (lines, entries) and (lines, rows, entries).
        """
        matrix = cast(SparseMatrix, self._sparse)
        for table in self._tables:
            entries = np.arange(matrix.starts[table[0, 0] + 1] - matrix.starts[table[0, 0]])
            count = max(1, _CHUNK // (len(entries) * (table.shape[1] + width)))
            for first in range(0, len(table), count):
                lines = table[first : first + count]
                places = matrix.starts[lines][:, :, None] + entries
                yield lines, matrix.columns[places[:, 0]], matrix.codes[places]

    def _are_powers_of_two(self) -> bool:
        """Return whether all nonzero entries are powers of two near 1, positive or negative."""
        if self._sparse is None or self._sparse.denominator > 1 << 16:
            return False
        sizes = np.abs(self._entries)
        return bool((np.frexp(sizes)[0] == 0.5).all() and sizes.max(initial=0.0) <= 1 << 16)


def _tables(matrix: SparseMatrix) -> list[Indices]:
    """Return tables of rows with entries, all of one length, in the same columns in each line."""
    if matrix.num_nonzeros < _SHARED_ENTRIES:
        tables = [np.flatnonzero(np.diff(matrix.starts))[:, None]]
    else:
        tables = matrix.rows_by_columns()
    parts = []
    for table in tables:
        lengths = np.diff(matrix.starts)[table[:, 0]]
        parts += [table[lengths == length] for length in np.unique(lengths)]
    return parts


@dataclass(frozen=True, slots=True)
class Enclosure:
    """Exact vectors, enclosed in float64.

    Attributes
    ----------
    middle
        Floats, shape (entries, vectors).
    radius
        Upper bounds on |exact entry - middle|, in the same shape.
    """

    middle: Floats
    radius: Floats

    @classmethod
    def around(cls, middle: Floats, radius: Floats) -> Enclosure:
        """Return an enclosure, in which entries that overflowed may be any numbers."""
        known = np.isfinite(middle) & ~np.isnan(radius)
        if known.all():
            return cls(middle, radius)
        return cls(np.where(known, middle, 0.0), np.where(known, radius, np.inf))

    @classmethod
    def of_exact(cls, floats: Floats) -> Enclosure:
        """Return the enclosure of floats that are the exact entries."""
        return cls(floats, np.zeros_like(floats))

    @classmethod
    def of_column(cls, column: RationalMatrix, vectors: int) -> Enclosure:
        """Return the enclosure of a column of exact numbers, repeated."""
        middle = np.repeat(column.to_floats(), vectors, axis=1)
        return cls.around(middle, _rounding(absolute_values(middle), 1))

    def image(self, matrix: FloatMatrix) -> Enclosure:
        """Return the enclosure of a matrix times the vectors."""
        with np.errstate(over="ignore", invalid="ignore"):
            if matrix.only_shifts:
                middle, radius = matrix.products(self.middle, self.radius)
                return Enclosure.around(middle, round_up(radius, 2))
            # Each product and its sums are wrong by a factor of at most 1 + (terms + 2) 2^-53.
            terms = float(matrix.terms.max(initial=0.0))
            reach = self.radius + (terms + 6) * EPSILON * np.abs(self.middle)
            middle, radius = matrix.products(self.middle, round_up(reach, 3))
            return Enclosure.around(middle, round_up(radius, matrix.terms + 2))

    def plus(self, other: Enclosure) -> Enclosure:
        """Return the enclosure of the sum of two vectors."""
        with np.errstate(over="ignore", invalid="ignore"):
            middle = self.middle + other.middle
            # The rounding error of a sum of two floats is a float (Knuth, TAOCP 2, §4.2.2,
            # Theorem B).
            second = middle - self.middle
            lost = (self.middle - (middle - second)) + (other.middle - second)
            radius = round_up(self.radius + other.radius + np.abs(lost), 3)
            return Enclosure.around(middle, radius)

    def relu(self) -> Enclosure:
        """Return the enclosure of the positive parts."""
        is_zero = sum_above(self.middle, self.radius) <= 0
        return Enclosure(np.maximum(self.middle, 0.0), np.where(is_zero, 0.0, self.radius))

    def rows(self, first: int, count: int) -> Enclosure:
        """Return consecutive entries."""
        return Enclosure(self.middle[first : first + count], self.radius[first : first + count])


def _rounding(sizes: Floats, terms: int) -> Floats:
    """Return upper bounds on what rounding numbers of the given sizes to nearest changes."""
    return round_up(EPSILON * sizes, terms)
