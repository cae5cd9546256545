"""Immutable rational matrices: integers over one common denominator, in lowest terms.

One denominator for the matrix makes products, comparisons and reductions modulo a prime integer
operations, and networks made of floats have such a denominator anyway. FLINT's own `fmpq_mat` keeps
a denominator for each entry, is mutable, and cannot be hashed or pickled. No method may change
`_numerators` in place: matrices are keys of dictionaries.

The integers are a FLINT matrix, which multiplies and eliminates, or an array of int64, which is
what files of floats give: a FLINT matrix is made of the array when something asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from flint import fmpq_mat, fmpz, fmpz_mat
from numpy.typing import NDArray

from polyrelu.errors import NetworkError
from polyrelu.exact.floats import integer_array
from polyrelu.exact.integer_arrays import (
    as_integers,
    common_divisor,
    nearest_floats,
    product_in_floats,
    products,
    quotients,
    shortened,
    sums,
)
from polyrelu.exact.rational import to_fraction
from polyrelu.support.arguments import expect, expect_count, expect_integer
from polyrelu.support.typing import Indices

__all__ = ["MATRIX", "RationalMatrix", "integer_product", "integers_over"]

#: Number of entries from which on numbers become an array at once.
_MANY_ENTRIES = 256
#: How to make a matrix, for errors.
MATRIX = "RationalMatrix.from_rows makes a matrix of numbers"
#: Number of entries that are tried before all of them are brought to lowest terms.
_TRIED = 8


class RationalMatrix:
    """An immutable matrix of rational numbers with exact arithmetic.

    The `from_…` methods build matrices. Entries are read as `fractions.Fraction`, or as integers
    over the common `denominator`. Equal matrices have equal hashes; matrices can be pickled.

    Examples
    --------
    >>> a = RationalMatrix.from_rows([[1, "1/2"], [0, 0.25]])
    >>> a.shape, a.denominator, a[0, 1]
    ((2, 2), 4, Fraction(1, 2))
    >>> print(a @ a)
    [1 5/8]
    [0 1/16]
    """

    __slots__ = ("_bits", "_denominator", "_flint", "_small")

    def __init__(self, numerators: fmpz_mat, denominator: int) -> None:
        """Make a matrix of FLINT integers, which it takes over; for use inside `exact` only."""
        if denominator != 1:
            numerators, denominator = _in_lowest_terms(numerators, denominator)
        self._flint: fmpz_mat | None = numerators
        self._small: NDArray[np.int64] | None = None
        self._denominator = denominator
        self._bits = -1  # until it is asked for

    # -- construction -----------------------------------------------------------------------------

    @classmethod
    def from_integer_array(cls, numerators: NDArray[Any], denominator: int) -> RationalMatrix:
        """Make a matrix of an array of integers, which it takes over; for use inside `exact` only.

        The integers are int64 of at most `SMALL_BITS` bits, or Python integers; shape (m, n).
        """
        common = common_divisor(denominator, numerators)
        if common != 1:
            numerators, denominator = quotients(numerators, common), denominator // common
        numerators = shortened(numerators)
        matrix = cls.__new__(cls)
        matrix._flint = matrix._small = None
        matrix._denominator, matrix._bits = denominator, -1
        if numerators.dtype == object:
            nrows, ncols = numerators.shape
            matrix._flint = fmpz_mat(nrows, ncols, numerators.ravel().tolist())
        else:
            numerators.flags.writeable = False
            matrix._small = numerators
        return matrix

    @classmethod
    def from_integers(
        cls, rows: Sequence[Sequence[int]], denominator: int = 1, ncols: int | None = None
    ) -> RationalMatrix:
        """Build the matrix with entries ``rows[i][j] / denominator``.

        Parameters
        ----------
        rows
            Integer numerators, shape (m, n).
        denominator
            An integer that is not 0.
        ncols
            The number n of columns, needed only if there are no rows.

        Returns
        -------
        RationalMatrix
            The matrix, shape (m, n).

        Raises
        ------
        NetworkError
            The denominator is 0, or the rows have different lengths.
        """
        if denominator == 0:
            raise NetworkError("the denominator is 0")
        width = len(rows[0]) if rows else expect_count(ncols or 0, "ncols")
        flat = [entry for row in rows for entry in row]
        if any(len(row) != width for row in rows):
            raise NetworkError("the rows have different lengths")
        return cls(fmpz_mat(len(rows), width, flat), denominator)

    @classmethod
    def from_rows(
        cls, rows: Iterable[Iterable[object]], ncols: int | None = None
    ) -> RationalMatrix:
        """Build a matrix of any mixture of exact numbers (see `to_fraction`).

        Parameters
        ----------
        rows
            The rows, shape (m, n).
        ncols
            The number n of columns, needed only if there are no rows.

        Returns
        -------
        RationalMatrix
            The matrix, shape (m, n).

        Raises
        ------
        NetworkError
            An entry is not an exact number, or the rows have different lengths.
        """
        try:
            listed = list(rows)
            if str in map(type, listed):
                raise NetworkError("expected rows of numbers, not a text")
            table = [_fractions(row) for row in listed]
        except TypeError:
            raise NetworkError(
                "expected rows of numbers; a column is a row of one number"
            ) from None
        width = len(table[0]) if table else expect_count(ncols or 0, "ncols")
        if any(len(row) != width for row in table):
            raise NetworkError("the rows have different lengths")
        return cls._of_fractions(list(chain.from_iterable(table)), len(table), width)

    @classmethod
    def from_array(cls, array: NDArray[Any]) -> RationalMatrix:
        """Build the matrix of the exact values of a numpy array.

        Parameters
        ----------
        array
            Floats, integers or objects that are exact numbers, shape (m, n), or (m,) for a column.

        Returns
        -------
        RationalMatrix
            The matrix, shape (m, n) or (m, 1).

        Raises
        ------
        NetworkError
            The array has another dimension, or entries that are not finite or not exact numbers.
        """
        array = expect(array, np.ndarray, "array", "RationalMatrix.from_rows takes lists")
        matrix = array.reshape(-1, 1) if array.ndim == 1 else array
        if matrix.ndim != 2:
            raise NetworkError(f"expected an array of dimension 1 or 2, got shape {array.shape}")
        nrows, ncols = matrix.shape
        if matrix.dtype.kind in "iu":
            if matrix.dtype.itemsize < 8:
                return cls.from_integer_array(matrix.astype(np.int64), 1)
            return cls(fmpz_mat(nrows, ncols, [int(entry) for entry in matrix.ravel().tolist()]), 1)
        if matrix.dtype.kind == "O":
            return cls.from_rows(matrix.tolist(), ncols=ncols)
        integers, denominator = integer_array(matrix)
        return cls.from_integer_array(integers.reshape(nrows, ncols), denominator)

    @classmethod
    def column(cls, entries: Iterable[object]) -> RationalMatrix:
        """Build a column of exact numbers, shape (n, 1)."""
        if isinstance(entries, str):
            raise NetworkError("expected a list of numbers, not a text")
        try:
            listed = list(entries)
        except TypeError:
            raise NetworkError("expected a list of numbers") from None
        return cls._of_fractions(_fractions(listed), len(listed), 1)

    @classmethod
    def _of_fractions(
        cls, flat: Sequence[Fraction | int], nrows: int, ncols: int
    ) -> RationalMatrix:
        """Build a matrix of its entries in row-major order."""
        numerators, denominator = _over_common(flat)
        if len(flat) < _MANY_ENTRIES:
            return cls(fmpz_mat(nrows, ncols, numerators), denominator)
        integers = np.array(numerators, dtype=object).reshape(nrows, ncols)
        return cls.from_integer_array(integers, denominator)

    @classmethod
    def zeros(cls, nrows: int, ncols: int) -> RationalMatrix:
        """Build the zero matrix."""
        shape = expect_count(nrows, "nrows"), expect_count(ncols, "ncols")
        return cls.from_integer_array(np.zeros(shape, dtype=np.int64), 1)

    @classmethod
    def identity(cls, size: int) -> RationalMatrix:
        """Build the identity matrix."""
        return cls.from_integer_array(np.eye(expect_count(size, "size"), dtype=np.int64), 1)

    # -- reading ----------------------------------------------------------------------------------

    @property
    def _numerators(self) -> fmpz_mat:
        """The numerators as a FLINT matrix."""
        if self._flint is None:
            self._flint = fmpz_mat(self.nrows, self.ncols, self._flat_integers())
        return self._flint

    def integer_array(self) -> NDArray[Any]:
        """Return the numerators over `denominator` as an array; for use inside `exact` only.

        They are int64 if all of them are short, else Python integers; shape (nrows, ncols). Nobody
        may change the array.
        """
        if self._small is not None:
            return self._small
        integers = np.empty(self.nrows * self.ncols, dtype=object)
        integers[:] = self._flat_integers()
        found = shortened(integers).reshape(self.shape)
        if found.dtype != object:
            found.flags.writeable = False
            self._small = found
        return found

    def _flat_integers(self) -> list[int]:
        """Return all numerators in row-major order."""
        if self._small is not None:
            flat: list[int] = self._small.ravel().tolist()
            return flat
        return [int(entry) for entry in self._numerators.entries()]

    @property
    def nrows(self) -> int:
        """Number of rows."""
        return self.shape[0]

    @property
    def ncols(self) -> int:
        """Number of columns."""
        return self.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """The pair (nrows, ncols)."""
        if self._small is not None:
            return self._small.shape[0], self._small.shape[1]
        flint = self._numerators
        return int(flint.nrows()), int(flint.ncols())

    @property
    def denominator(self) -> int:
        """The least positive common denominator of the entries."""
        return self._denominator

    @property
    def flint_numerators(self) -> fmpz_mat:
        """The numerators over `denominator` as a FLINT matrix, which nobody may change.

        For use inside `exact` only; other rooms read `integer_rows`.
        """
        return self._numerators

    def primitive_rows(self) -> list[list[int]]:
        """Return the positive multiple of the matrix with integer entries without a common divisor.

        Returns
        -------
        list of list of int
            The rows, shape (nrows, ncols); a zero matrix stays 0.
        """
        rows = self.integer_rows()
        content = math.gcd(*(entry for row in rows for entry in row))
        return rows if content in (0, 1) else [[entry // content for entry in row] for row in rows]

    def integer_rows(self) -> list[list[int]]:
        """Return the numerators over the common `denominator`.

        Returns
        -------
        list of list of int
            The rows, shape (nrows, ncols).
        """
        if self._small is not None:
            table: list[list[int]] = self._small.tolist()
            return table
        width, flat = self.ncols, self._flat_integers()
        return (
            [flat[start : start + width] for start in range(0, width * self.nrows, width)]
            if width
            else [[]] * self.nrows
        )

    def __getitem__(self, position: tuple[int, int]) -> Fraction:
        """The entry at (row, column), both from 0; negative indices raise IndexError."""
        i, j = position
        if type(i) is not int or type(j) is not int:
            i, j = expect_integer(i, "row"), expect_integer(j, "column")
        try:
            return Fraction(int(self._numerators[i, j]), self._denominator)
        except OverflowError:
            raise IndexError(f"there is no entry in row {i} and column {j}") from None

    def row(self, index: int) -> tuple[Fraction, ...]:
        """Return the row of an index, from 0, as fractions."""
        index = expect_integer(index, "index")
        if not 0 <= index < self.nrows:
            raise IndexError(f"there is no row {index}, only {self.nrows} rows, from 0")
        return tuple(self[index, j] for j in range(self.ncols))

    def rows(self) -> list[tuple[Fraction, ...]]:
        """Return all rows as fractions."""
        return [
            tuple(Fraction(entry, self._denominator) for entry in row)
            for row in self.integer_rows()
        ]

    def entries(self) -> Iterator[Fraction]:
        """Return an iterator over all entries in row-major order."""
        return (Fraction(entry, self._denominator) for entry in self._flat_integers())

    def signs(self) -> NDArray[np.int8]:
        """Return the signs -1, 0, 1 of the entries as an array of the same shape."""
        if self._small is not None:
            return np.sign(self._small).astype(np.int8)
        flat = [(entry > 0) - (entry < 0) for entry in self._numerators.entries()]
        return np.array(flat, dtype=np.int8).reshape(self.shape)

    @property
    def bits(self) -> int:
        """The bit length of the longest numerator."""
        if self._bits < 0:
            if self._small is not None:
                self._bits = int(np.abs(self._small).max(initial=0)).bit_length()
            else:
                self._bits = max(map(fmpz.bit_length, self._numerators.entries()), default=0)
        return self._bits

    def is_zero(self) -> bool:
        """Return whether every entry is 0."""
        if self._small is not None:
            return not self._small.any()
        return bool(self._numerators.is_zero())

    def count_nonzero(self) -> int:
        """Return the number of entries that are not 0."""
        if self._small is not None:
            return int(np.count_nonzero(self._small))
        return sum(map(bool, self._numerators.entries()))

    # -- arithmetic -------------------------------------------------------------------------------

    def __add__(self, other: RationalMatrix) -> RationalMatrix:
        if not isinstance(other, RationalMatrix):
            return NotImplemented
        self._need(self.shape == other.shape, "add", other)
        common = math.lcm(self._denominator, other._denominator)
        if self._small is not None and other._small is not None:
            total = sums(integers_over(self, common), integers_over(other, common))
            return RationalMatrix.from_integer_array(total, common)
        left = self._numerators * (common // self._denominator)
        return RationalMatrix(left + other._numerators * (common // other._denominator), common)

    def __neg__(self) -> RationalMatrix:
        if self._small is not None:
            return RationalMatrix.from_integer_array(-self._small, self._denominator)
        return RationalMatrix(-self._numerators, self._denominator)

    def __sub__(self, other: RationalMatrix) -> RationalMatrix:
        return self + (-other)

    def __matmul__(self, other: RationalMatrix) -> RationalMatrix:
        if not isinstance(other, RationalMatrix):
            return NotImplemented
        self._need(self.ncols == other.nrows, "multiply", other)
        if self._small is not None and other._small is not None:
            product = product_in_floats(self._small, other._small)
            if product is not None:
                return RationalMatrix.from_integer_array(
                    product, self._denominator * other._denominator
                )
        return RationalMatrix(
            self._numerators * other._numerators, self._denominator * other._denominator
        )

    def scale(self, factor: object) -> RationalMatrix:
        """Return the matrix times an exact number."""
        quotient = to_fraction(factor)
        return RationalMatrix(
            self._numerators * quotient.numerator, self._denominator * quotient.denominator
        )

    def scale_rows(self, factors: Sequence[object]) -> RationalMatrix:
        """Return the matrix with row i multiplied by ``factors[i]``."""
        numerators, denominator = _common(factors)
        if len(numerators) != self.nrows:
            raise NetworkError(f"{len(numerators)} factors for {self.nrows} rows")
        entries, width = self._numerators.entries(), self.ncols
        scaled = [
            entries[i * width + j] * f for i, f in enumerate(numerators) for j in range(width)
        ]
        return RationalMatrix(fmpz_mat(self.nrows, width, scaled), self._denominator * denominator)

    def scale_columns(self, factors: Sequence[object]) -> RationalMatrix:
        """Return the matrix with column j multiplied by ``factors[j]``."""
        numerators, denominator = _common(factors)
        if len(numerators) != self.ncols:
            raise NetworkError(f"{len(numerators)} factors for {self.ncols} columns")
        rows = [
            [e * f for e, f in zip(row, numerators, strict=True)] for row in self.integer_rows()
        ]
        return RationalMatrix.from_integers(rows, self._denominator * denominator, self.ncols)

    def relu(self) -> RationalMatrix:
        """Return the matrix with every entry replaced by its positive part."""
        if self._small is not None:
            return RationalMatrix.from_integer_array(np.maximum(self._small, 0), self._denominator)
        flat = [entry if entry > 0 else 0 for entry in self._numerators.entries()]
        return RationalMatrix(fmpz_mat(*self.shape, flat), self._denominator)

    def determinant(self) -> Fraction:
        """Return the determinant of a square matrix."""
        self._need(self.nrows == self.ncols, "take a determinant of", self)
        return Fraction(int(self._numerators.det()), self._denominator**self.nrows)

    # -- shape ------------------------------------------------------------------------------------

    def transpose(self) -> RationalMatrix:
        """Return the transposed matrix."""
        if self._small is not None:
            columns = np.ascontiguousarray(self._small.T)
            return RationalMatrix.from_integer_array(columns, self._denominator)
        return RationalMatrix(self._numerators.transpose(), self._denominator)

    def take(
        self, rows: Sequence[int] | None = None, columns: Sequence[int] | None = None
    ) -> RationalMatrix:
        """Return a submatrix.

        Parameters
        ----------
        rows
            Indices of rows, from 0, in the order in which they are wanted; None for all rows.
        columns
            Indices of columns, in the same way.

        Returns
        -------
        RationalMatrix
            The submatrix.

        Raises
        ------
        IndexError
            An index is negative or too large.
        """
        table = self.integer_array()
        if rows is not None:
            table = table[_indices(rows, "rows")]
        if columns is not None:
            table = table[:, _indices(columns, "columns")]
        # The matrix takes the array over, and marks it as read only.
        return RationalMatrix.from_integer_array(table, self._denominator)

    def beside(self, other: RationalMatrix) -> RationalMatrix:
        """Return the block matrix [self | other]."""
        self._need(self.nrows == other.nrows, "put side by side", other)
        common = math.lcm(self._denominator, other._denominator)
        parts = [integers_over(part, common) for part in (self, other)]
        return RationalMatrix.from_integer_array(np.hstack(parts), common)

    def over(self, other: RationalMatrix) -> RationalMatrix:
        """Return the block matrix with `self` above `other`."""
        self._need(self.ncols == other.ncols, "put on top of each other", other)
        common = math.lcm(self._denominator, other._denominator)
        parts = [integers_over(part, common) for part in (self, other)]
        return RationalMatrix.from_integer_array(np.vstack(parts), common)

    # -- out --------------------------------------------------------------------------------------

    def to_numpy(self) -> NDArray[np.object_]:
        """Return an object array of fractions of the same shape."""
        out = np.empty(self.shape, dtype=object)
        for i, row in enumerate(self.rows()):
            for j, entry in enumerate(row):
                out[i, j] = entry
        return out

    def to_floats(self) -> NDArray[np.float64]:
        """Return the nearest float64 of every entry, the largest finite one beyond the range.

        Error bounds of other rooms rely on both properties.

        Returns
        -------
        NDArray[float64]
            Floats, shape (nrows, ncols).
        """
        return nearest_floats(self.integer_array(), self._denominator)

    def __str__(self) -> str:
        return "\n".join("[" + " ".join(str(entry) for entry in row) + "]" for row in self.rows())

    def __repr__(self) -> str:
        over = self._denominator if self._denominator < 10**12 else "…"
        return f"<RationalMatrix {self.nrows}×{self.ncols} over {over}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RationalMatrix):
            return NotImplemented
        if self._denominator != other._denominator or self.shape != other.shape:
            return False
        if self._small is not None and other._small is not None:
            return np.array_equal(self._small, other._small)
        return bool(self._numerators == other._numerators)

    def __hash__(self) -> int:
        return hash(
            (
                self.shape,
                self._denominator,
                tuple(self._flat_integers()),
            )
        )

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return RationalMatrix.from_integers, (self.integer_rows(), self._denominator, self.ncols)

    def _need(self, holds: bool, verb: str, other: RationalMatrix) -> None:
        """Raise `NetworkError` about the shapes of two matrices unless a condition holds."""
        if not holds:
            raise NetworkError(f"cannot {verb} matrices of shapes {self.shape} and {other.shape}")


def integers_over(matrix: RationalMatrix, denominator: int) -> NDArray[Any]:
    """Return the numerators of a matrix over a common denominator of its entries, as an array.

    They are int64 if all of them are short, else Python integers; nobody may change the array.

    >>> integers_over(RationalMatrix.from_rows([["1/2", 3]]), 4).tolist()
    [[2, 12]]
    """
    factor, remainder = divmod(denominator, matrix.denominator)
    if remainder:
        raise AssertionError("the denominator is no multiple of that of the matrix")
    integers = matrix.integer_array()
    if factor == 1:
        return integers
    return products(integers, as_integers(factor))


def integer_product(
    left: Sequence[Sequence[int]], right: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Multiply two integer matrices.

    Parameters
    ----------
    left
        The rows of a matrix with entries, shape (m, k).
    right
        The rows of a matrix with entries, shape (k, n).

    Returns
    -------
    list of list of int
        The rows of the product, shape (m, n).

    Examples
    --------
    >>> integer_product([[1, 2]], [[3, 4], [5, 6]])
    [[13, 16]]
    """
    product = fmpz_mat(left) * fmpz_mat(right)
    flat, width = [int(entry) for entry in product.entries()], product.ncols()
    return [flat[start : start + width] for start in range(0, len(flat), width)]


def _in_lowest_terms(numerators: fmpz_mat, denominator: int) -> tuple[fmpz_mat, int]:
    """Return integers over a denominator divided by their greatest common divisor with it."""
    common = denominator
    # Mostly one of the first entries is odd, and the denominator a power of two.
    for column in range(min(numerators.ncols(), _TRIED) if numerators.nrows() else 0):
        common = math.gcd(common, int(numerators[0, column]))
        if common == 1 and denominator > 0:
            return numerators, denominator
    reduced, least = (fmpq_mat(numerators) / denominator).numer_denom()
    return reduced, int(least)


def _indices(chosen: Sequence[int], name: str) -> Indices:
    """Indices of rows or columns as an array; negative and huge ones raise IndexError."""
    found = chosen
    if not isinstance(chosen, range):
        found = [i if type(i) is int else expect_integer(i, name) for i in chosen]
    if min(found, default=0) < 0:
        raise IndexError("rows and columns are numbered from 0")
    try:
        return np.array(found, dtype=np.int64)
    except OverflowError:
        raise IndexError("an index is too large") from None


def _common(factors: Sequence[object]) -> tuple[list[int], int]:
    """Return exact numbers as integers over one denominator."""
    if all(type(factor) is int for factor in factors):
        return list(factors), 1  # type: ignore[arg-type]
    return _over_common(_fractions(factors))


def _fractions(numbers: Iterable[Any]) -> list[Fraction | int]:
    """Return exact numbers as fractions; integers may stay as they are."""
    listed = list(numbers)
    if set(map(type, listed)) <= {Fraction, int}:
        return listed
    return [to_fraction(number) for number in listed]


def _over_common(fractions: Sequence[Fraction | int]) -> tuple[list[int], int]:
    """Return the numerators of fractions over their least common denominator, and this one."""
    ratios = [fraction.as_integer_ratio() for fraction in fractions]
    denominators = {denominator for _, denominator in ratios}
    common = math.lcm(*denominators)
    if len(denominators) == 1:
        return [numerator for numerator, _ in ratios], common
    return [numerator * (common // denominator) for numerator, denominator in ratios], common
