"""Products of exact matrices with vectors of float64, with proved bounds on their errors.

Computed sums and products are enlarged so that they bound the exact ones: see "Computation" in the
docstring of `float_error.py`. An `Enclosure` is a vector of float64 with a bound on the distance of
each entry to the exact entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from polyrelu.exact import AnyMatrix, RationalMatrix, SparseMatrix
from polyrelu.support.typing import Floats

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

#: Maximum number of products of floats at a time, 8 bytes each, unless one row needs more.
_CHUNK = 1 << 22


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
            self._starts, self._columns = matrix.starts, matrix.columns
            self.terms = np.diff(matrix.starts).astype(np.float64)[:, None]
        else:
            self.terms = (matrix.signs() != 0).sum(axis=1).astype(np.float64)[:, None]
        self._entries: Floats = matrix.to_floats()
        self._sizes = round_up(absolute_values(self._entries), 1)
        self._dense = not isinstance(matrix, SparseMatrix)
        self.largest = float(self._sizes.max(initial=0.0))
        self.only_shifts = self.terms.max(initial=0.0) <= 1 and _are_powers_of_two(matrix)

    def times(self, x: Floats) -> Floats:
        """Return W x."""
        return self._product(self._entries, x)

    def absolute(self, *x: Floats) -> list[Floats]:
        """Return upper bounds of |W| times each x, without the rounding errors of the product."""
        product = self._product(self._sizes, np.concatenate(x, axis=1))
        return np.split(product, np.cumsum([part.shape[1] for part in x])[:-1], axis=1)

    def _product(self, entries: Floats, x: Floats) -> Floats:
        if self._dense:
            product: Floats = entries @ x
            return product
        sums = np.zeros((self.rows, x.shape[1]))
        for rows in self._chunks(max(x.shape[1], 1)):
            first, last = int(self._starts[rows[0]]), int(self._starts[rows[-1] + 1])
            products = entries[first:last, None] * x[self._columns[first:last]]
            sums[rows] = np.add.reduceat(products, self._starts[rows] - first)
        return sums

    def _chunks(self, width: int) -> Iterator[Any]:
        """Yield lists of nonempty rows that have few enough products with `width` columns."""
        filled = np.flatnonzero(self.terms)
        row = 0
        while row < len(filled):
            limit = self._starts[filled[row]] + _CHUNK // width
            ends = self._starts[filled + 1]
            end = max(row + 1, int(np.searchsorted(ends, limit, side="right")))
            yield filled[row:end]
            row = end


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
    def of_exact(cls, floats: Floats) -> Enclosure:
        """Return the enclosure of floats that are the exact entries."""
        return cls(floats, np.zeros_like(floats))

    @classmethod
    def of_column(cls, column: RationalMatrix, vectors: int) -> Enclosure:
        """Return the enclosure of a column of exact numbers, repeated."""
        middle = np.repeat(column.to_floats(), vectors, axis=1)
        return cls(middle, _rounding(absolute_values(middle), 1))

    def image(self, matrix: FloatMatrix) -> Enclosure:
        """Return the enclosure of a matrix times the vectors."""
        middle = matrix.times(self.middle)
        if matrix.only_shifts:
            (radius,) = matrix.absolute(self.radius)
            return Enclosure(middle, round_up(radius, 2))
        # Each product and its sums are wrong by a factor of at most 1 + (terms + 2) 2^-53.
        terms = float(matrix.terms.max(initial=0.0))
        reach = self.radius + (terms + 6) * EPSILON * np.abs(self.middle)
        (radius,) = matrix.absolute(round_up(reach, 3))
        return Enclosure(middle, round_up(radius, matrix.terms + 2))

    def plus(self, other: Enclosure) -> Enclosure:
        """Return the enclosure of the sum of two vectors."""
        middle = self.middle + other.middle
        # The rounding error of a sum of two floats is a float (Knuth, TAOCP 2, §4.2.2, Theorem B).
        second = middle - self.middle
        lost = (self.middle - (middle - second)) + (other.middle - second)
        return Enclosure(middle, round_up(self.radius + other.radius + np.abs(lost), 3))

    def relu(self) -> Enclosure:
        """Return the enclosure of the positive parts."""
        is_zero = sum_above(self.middle, self.radius) <= 0
        return Enclosure(np.maximum(self.middle, 0.0), np.where(is_zero, 0.0, self.radius))

    def rows(self, first: int, count: int) -> Enclosure:
        """Return consecutive entries."""
        return Enclosure(self.middle[first : first + count], self.radius[first : first + count])


def _are_powers_of_two(matrix: AnyMatrix) -> bool:
    """Return whether all nonzero entries are powers of two near 1, positive or negative."""
    if not isinstance(matrix, SparseMatrix) or matrix.denominator > 1 << 16:
        return False
    sizes = np.abs(matrix.to_floats())
    return bool((np.frexp(sizes)[0] == 0.5).all() and sizes.max(initial=0.0) <= 1 << 16)


def _rounding(sizes: Floats, terms: int) -> Floats:
    """Return upper bounds on what rounding numbers of the given sizes to nearest changes."""
    return round_up(EPSILON * sizes, terms)
