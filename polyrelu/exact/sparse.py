"""Sparse rational matrices, for convolutions and other layers whose weights are mostly zeros.

A convolution of a 28×28 image has a hundred times more zeros than weights, and so has the matrix
that selects the entries of a pooling window. `SparseMatrix` keeps the nonzero entries by rows
(compressed sparse rows) as integers over one common denominator, in an array of `integer_arrays`.

The matrix of a convolution also repeats each weight at every position of its window. Entries are
therefore *coded*: entry i is ``values[codes[i]]``, so that arithmetic on entries is arithmetic on
values wherever one value stands for many entries.

`any_matrix` has the functions that take dense and sparse matrices alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.exact.coded_entries import (
    as_integers,
    coded_products,
    sorted_entries,
    used_values,
)
from polyrelu.exact.floats import SMALL_BITS
from polyrelu.exact.integer_arrays import (
    common_divisor,
    distinct,
    longest,
    nearest_floats,
    product_in_floats,
    products,
    quotients,
    shortened,
    sums_of_runs,
)
from polyrelu.exact.matrix import MATRIX, RationalMatrix
from polyrelu.exact.row_patterns import rows_by_columns
from polyrelu.support.arguments import (
    expect,
    expect_count,
    expect_integer,
    expect_list,
)
from polyrelu.support.typing import Indices

__all__ = ["SparseMatrix"]

#: A sparse matrix with at least one nonzero entry in this number is multiplied as a dense one.
_DENSE_SHARE = 4
#: Minimum number of products of entries for which rows with entries in the same columns are sought,
#: and minimum number of such rows.
_SHARED_PAIRS, _SHARED_ROWS = 1 << 20, 4
#: Maximum number of products of entries at a time, which take about 100 bytes each, unless one row
#: needs more.
_CHUNK = 1 << 20


class SparseMatrix:
    """An immutable rational matrix that is given by its nonzero entries.

    Rows are in compressed form: row i has the entries ``starts[i]:starts[i + 1]`` of `columns` and
    `codes`, the entry e being ``values[codes[e]]``. Equal matrices have equal `starts`,
    `columns` and `numerators`. Nobody may change the arrays; matrices can be pickled.

    Attributes
    ----------
    shape
        The pair (nrows, ncols).
    starts
        Place of the first entry of each row, and last the number of entries, shape (nrows + 1,).
    columns
        The column of each nonzero entry, ascending in a row.
    values
        Integers over `denominator`, none of them 0: int64 if all of them are short, else Python
        integers. Each is the value of an entry; they need not be distinct.
    codes
        For each nonzero entry the place of its value.
    denominator
        The least positive common denominator of the entries.

    Examples
    --------
    >>> a = SparseMatrix.from_entries((2, 3), [0, 1, 1], [2, 0, 0], [1, 3, 1], 2)
    >>> a.num_nonzeros, a.denominator, a.to_dense().rows()[1][0]
    (2, 2, Fraction(2, 1))
    """

    __slots__ = (
        "_dense",
        "_tables",
        "codes",
        "columns",
        "denominator",
        "shape",
        "starts",
        "values",
    )

    def __init__(
        self,
        shape: tuple[int, int],
        starts: Indices,
        columns: Indices,
        values: NDArray[Any],
        codes: Indices,
        denominator: int,
    ) -> None:
        """Make a matrix of sorted nonzero entries, for use inside `exact` only.

        It reduces the values to lowest terms.
        """
        common = common_divisor(denominator, values)
        if common != 1:
            values, denominator = quotients(values, common), denominator // common
        self.shape, self.starts, self.columns, self.codes = shape, starts, columns, codes
        self.values, self.denominator = shortened(values), denominator
        self._dense: RationalMatrix | None = None
        # What `rows_by_columns` returns, once; matrices with entries at the same places share it.
        self._tables: list[list[Indices]] = []

    # -- construction -----------------------------------------------------------------------------

    @classmethod
    def from_entries(
        cls,
        shape: tuple[int, int],
        rows: Sequence[int] | NDArray[Any],
        columns: Sequence[int] | NDArray[Any],
        numerators: Sequence[int] | NDArray[Any],
        denominator: int = 1,
    ) -> SparseMatrix:
        """Build a matrix from its entries; entries at one place are added.

        Parameters
        ----------
        shape
            The pair (nrows, ncols).
        rows
            The row of each entry.
        columns
            The column of each entry.
        numerators
            The integer of each entry, over the denominator.
        denominator
            A positive integer.

        Returns
        -------
        SparseMatrix
            The matrix.

        Raises
        ------
        ArgumentError
            The shape or the denominator is no count, or an entry is no integer or lies outside.
        """
        nrows, ncols = (expect_count(size, "shape") for size in _pair(shape))
        expect_count(denominator, "denominator", 1)
        over = _indices(rows, nrows, "rows")
        places = _indices(columns, ncols, "columns")
        values = _numerators(numerators)
        if not len(over) == len(places) == len(values):
            raise ArgumentError("rows, columns and numerators: expected lists of the same length")
        return cls._of((nrows, ncols), over, places, values, int(denominator))

    @classmethod
    def from_codes(
        cls,
        shape: tuple[int, int],
        rows: Indices,
        columns: Indices,
        codes: Indices,
        values: RationalMatrix,
        copies: int = 1,
        step: int = 0,
    ) -> SparseMatrix:
        """Build a matrix with entries ``values[codes[i], 0]`` at (rows[i], columns[i]).

        The entries may describe the first of several copies, one below the other, as for the
        filters of a convolution. Entries at one place are added if there is one copy.

        Parameters
        ----------
        shape
            The pair (nrows, ncols).
        rows
            The row of each entry.
        columns
            The column of each entry.
        codes
            The row of `values` that holds each entry.
        values
            A column of values.
        copies
            Number of copies, a divisor of nrows; `rows` are rows of the first copy.
        step
            What is added to the codes from one copy to the next.

        Returns
        -------
        SparseMatrix
            The matrix.

        Raises
        ------
        ArgumentError
            The shape is no pair of counts, an entry lies outside, or two entries of copies are at
            one place.
        """
        nrows, ncols = (expect_count(size, "shape") for size in _pair(shape))
        copies, step = expect_count(copies, "copies", 1), expect_count(step, "step")
        values = expect(values, RationalMatrix, "values", "RationalMatrix.column makes one")
        if nrows % copies:
            raise ArgumentError(f"copies: expected a divisor of {nrows} rows")
        over, places = _indices(rows, nrows // copies, "rows"), _indices(columns, ncols, "columns")
        coded = _indices(codes, max(0, values.nrows - step * (copies - 1)), "codes")
        if not len(over) == len(places) == len(coded):
            raise ArgumentError("rows, columns and codes: expected lists of the same length")
        numbers = values.integer_array()[:, 0]
        if copies == 1:
            return cls._of((nrows, ncols), over, places, numbers, values.denominator, coded)
        keys, places, coded = sorted_entries(over * ncols + places, places, coded)
        if (keys[1:] == keys[:-1]).any():
            raise ArgumentError("rows, columns: expected one entry at a place of a copy")
        coded = (coded + step * np.arange(copies)[:, None]).reshape(-1)
        places, counts = np.tile(places, copies), np.bincount(over, minlength=nrows // copies)
        starts = np.concatenate(([0], np.cumsum(np.tile(counts, copies))))
        return cls._without_zeros(
            (nrows, ncols), starts, places, numbers, coded, values.denominator
        )

    @classmethod
    def _of(
        cls,
        shape: tuple[int, int],
        rows: Sequence[int] | NDArray[Any],
        columns: Sequence[int] | NDArray[Any],
        values: Sequence[int] | NDArray[Any],
        denominator: int = 1,
        codes: Indices | None = None,
    ) -> SparseMatrix:
        """`from_entries` and `from_codes` without checks, for arithmetic.

        Without codes entry i has value i.
        """
        places = np.asarray(columns, dtype=np.int64)
        values = as_integers(values)
        codes = np.arange(len(values)) if codes is None else codes
        keys = np.asarray(rows, dtype=np.int64) * shape[1] + places
        keys, places, codes = sorted_entries(keys, places, codes)
        if (keys[1:] == keys[:-1]).any():
            first = np.flatnonzero(np.concatenate(([True], keys[1:] > keys[:-1])))
            keys, places = keys[first], places[first]
            values, codes = sums_of_runs(values[codes], first), np.arange(len(first))
        starts = np.searchsorted(keys, np.arange(shape[0] + 1, dtype=np.int64) * shape[1])
        return cls._without_zeros(shape, starts, places, values, codes, denominator)

    @classmethod
    def _without_zeros(
        cls,
        shape: tuple[int, int],
        starts: Indices,
        columns: Indices,
        values: NDArray[Any],
        codes: Indices,
        denominator: int,
    ) -> SparseMatrix:
        """Make a matrix of sorted entries, without those that are 0."""
        nonzero = np.asarray(values != 0, dtype=bool)
        if not nonzero.all():
            kept = nonzero[codes]
            starts = np.concatenate(([0], np.cumsum(kept)))[starts]
            columns, codes = columns[kept], codes[kept]
        return cls(shape, starts, columns, *used_values(values, codes), denominator)

    @classmethod
    def sum(cls, shape: tuple[int, int], matrices: Sequence[SparseMatrix]) -> SparseMatrix:
        """Build the sum of matrices of one shape; the sum of none is 0.

        Parameters
        ----------
        shape
            The pair (nrows, ncols).
        matrices
            The summands.

        Returns
        -------
        SparseMatrix
            The sum.

        Raises
        ------
        NetworkError
            A summand has another shape.
        """
        if not matrices:
            return cls.from_entries(shape, [], [], [])
        if any(matrix.shape != shape for matrix in matrices):
            raise NetworkError(f"cannot add matrices of shapes {[m.shape for m in matrices]}")
        common = math.lcm(*(matrix.denominator for matrix in matrices))
        values, codes = _joined(matrices, common)
        rows = np.concatenate([matrix.row_of_entries() for matrix in matrices])
        columns = np.concatenate([matrix.columns for matrix in matrices])
        return cls._of(shape, rows, columns, values, common, codes)

    @classmethod
    def stacked(cls, matrices: Sequence[SparseMatrix]) -> SparseMatrix:
        """Build the matrix of the rows of at least one matrix, all with equally many columns."""
        if len(matrices) == 1:
            return matrices[0]
        common = math.lcm(*(matrix.denominator for matrix in matrices))
        firsts = np.cumsum([0, *(matrix.num_nonzeros for matrix in matrices)])[:-1]
        starts = [part.starts[1:] + first for part, first in zip(matrices, firsts, strict=True)]
        return cls(
            (sum(matrix.nrows for matrix in matrices), matrices[0].ncols),
            np.concatenate([np.zeros(1, dtype=np.int64), *starts]),
            np.concatenate([matrix.columns for matrix in matrices]),
            *_joined(matrices, common),
            common,
        )

    @classmethod
    def identity(cls, size: int) -> SparseMatrix:
        """Build the identity matrix."""
        size = expect_count(size, "size")
        return cls.selection(np.arange(size), size)

    @classmethod
    def selection(cls, chosen: Indices, size: int) -> SparseMatrix:
        """Build the matrix whose product with another one selects rows of the latter.

        Parameters
        ----------
        chosen
            Row i is the unit vector of index ``chosen[i]``, or a zero row where that is -1.
        size
            Number of columns.

        Returns
        -------
        SparseMatrix
            The matrix, shape (len(chosen), size).
        """
        size = expect_count(size, "size")
        if not isinstance(chosen, np.ndarray) or chosen.ndim != 1 or chosen.dtype.kind not in "iu":
            raise ArgumentError("chosen: expected an array of indices, one for each row")
        if chosen.size and not -1 <= chosen.min() <= chosen.max() < size:
            raise ArgumentError(f"chosen: expected indices from -1 to {size - 1}")
        rows = np.flatnonzero(chosen >= 0)
        ones, codes = np.ones(1, dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        return cls._of((len(chosen), size), rows, chosen[rows], ones, 1, codes)

    @classmethod
    def diagonal(cls, factors: RationalMatrix) -> SparseMatrix:
        """Build the diagonal matrix whose diagonal is a given column."""
        factors = expect(factors, RationalMatrix, "factors", "RationalMatrix.column makes one")
        places = np.arange(factors.nrows)
        values, codes = distinct(factors.integer_array()[:, 0])
        shape = (len(places), len(places))
        return cls._of(shape, places, places, values, factors.denominator, codes)

    @classmethod
    def from_dense(cls, matrix: RationalMatrix) -> SparseMatrix:
        """Build the sparse form of a dense matrix."""
        matrix = expect(matrix, RationalMatrix, "matrix", MATRIX)
        table = matrix.integer_array()
        rows, columns = np.nonzero(table)
        return cls._of(matrix.shape, rows, columns, table[rows, columns], matrix.denominator)

    # -- reading ----------------------------------------------------------------------------------

    @property
    def nrows(self) -> int:
        """Number of rows."""
        return self.shape[0]

    @property
    def ncols(self) -> int:
        """Number of columns."""
        return self.shape[1]

    @property
    def num_nonzeros(self) -> int:
        """Number of nonzero entries."""
        return len(self.codes)

    @property
    def numerators(self) -> NDArray[Any]:
        """The integer of each nonzero entry, over `denominator`, in the order of `columns`."""
        return self.values[self.codes]

    @property
    def bits(self) -> int:
        """The bit length of the longest numerator."""
        return longest(self.values)

    def is_zero(self) -> bool:
        """Return whether every entry is 0."""
        return not self.num_nonzeros

    def is_identity(self) -> bool:
        """Return whether this is the identity matrix."""
        size = self.nrows
        return (
            self.shape == (size, size)
            and self.num_nonzeros == size
            and self.denominator == 1
            and np.array_equal(self.columns, np.arange(size))
            and np.array_equal(self.starts, np.arange(size + 1))
            and bool((self.values == 1).all())
        )

    def row_of_entries(self) -> Indices:
        """Return the row of each nonzero entry, in the order of `columns`."""
        return np.repeat(np.arange(self.nrows, dtype=np.int64), np.diff(self.starts))

    def rows_of_entries(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield for each row the columns and the numerators of its nonzero entries."""
        columns, numerators = self.columns.tolist(), self.numerators.tolist()
        for start, end in pairwise(self.starts.tolist()):
            yield columns[start:end], numerators[start:end]

    def integer_rows(self) -> list[list[int]]:
        """Return the numerators over the common denominator, row by row, zeros included."""
        table = []
        for columns, numerators in self.rows_of_entries():
            row = [0] * self.ncols
            for column, entry in zip(columns, numerators, strict=True):
                row[column] = entry
            table.append(row)
        return table

    def to_dense(self) -> RationalMatrix:
        """Return the dense form, which the matrix keeps once it is made."""
        if self._dense is None:
            table = np.zeros(self.shape, dtype=self.values.dtype)
            table[self.row_of_entries(), self.columns] = self.numerators
            self._dense = RationalMatrix.from_integer_array(table, self.denominator)
        return self._dense

    def to_floats(self) -> NDArray[np.float64]:
        """Return the nearest float64 of every nonzero entry, in the order of `numerators`."""
        return self.floats_of_values()[self.codes]

    def floats_of_values(self) -> NDArray[np.float64]:
        """Return the nearest float64 of every value, in the order of `values`."""
        return nearest_floats(self.values, self.denominator)

    def rows_by_columns(self) -> list[Indices]:
        """Return tables of the rows that have entries; a line has them in the same columns.

        Returns
        -------
        list of Indices
            Tables of shape (lines, rows of a line), one for each number of rows of a line.

        Examples
        --------
        >>> SparseMatrix.selection(np.array([1, 0, 1]), 2).rows_by_columns()
        [array([[1]]), array([[0, 2]])]
        """
        if not self._tables:
            self._tables.append(rows_by_columns(self.starts, self.columns, self.ncols))
        return self._tables[0]

    def placed(self, shape: tuple[int, int], top: int, left: int) -> SparseMatrix:
        """Return a matrix of zeros with this matrix as the block that starts at (top, left).

        Parameters
        ----------
        shape
            The shape of the result.
        top, left
            The row and the column of the first entry of the block, from 0.

        Returns
        -------
        SparseMatrix
            The matrix.

        Raises
        ------
        ArgumentError
            The block does not fit.
        """
        nrows, ncols = (expect_count(size, "shape") for size in _pair(shape))
        top, left = expect_count(top, "top"), expect_count(left, "left")
        if top + self.nrows > nrows or left + self.ncols > ncols:
            raise ArgumentError(f"shape: a block of shape {self.shape} does not fit {shape}")
        below = np.full(nrows - top - self.nrows, self.num_nonzeros)
        starts = np.concatenate([np.zeros(top, dtype=np.int64), self.starts, below])
        columns = self.columns + left
        return SparseMatrix(
            (nrows, ncols), starts, columns, self.values, self.codes, self.denominator
        )

    # -- arithmetic -------------------------------------------------------------------------------

    def __neg__(self) -> SparseMatrix:
        return SparseMatrix(
            self.shape, self.starts, self.columns, -self.values, self.codes, self.denominator
        )

    def scale_rows(self, factors: Sequence[object]) -> SparseMatrix:
        """Return the matrix with row i multiplied by ``factors[i]``."""
        if len(factors) != self.nrows:
            raise NetworkError(f"{len(factors)} factors for {self.nrows} rows")
        return SparseMatrix.diagonal(RationalMatrix.column(factors)).times_sparse(self)

    def times_dense(self, other: RationalMatrix) -> RationalMatrix:
        """Return the product self · other with a dense matrix, a dense matrix."""
        self._need_rows(other)
        if self.num_nonzeros * _DENSE_SHARE >= self.nrows * self.ncols:
            return self.to_dense() @ other
        table = other.integer_array()
        sums = np.zeros((self.nrows, other.ncols), dtype=object)
        filled = np.flatnonzero(np.diff(self.starts))
        for j in np.flatnonzero((table != 0).any(axis=0)) if filled.size else ():
            terms = products(self.numerators, table[:, j][self.columns])
            sums[filled, j] = sums_of_runs(terms, self.starts[filled])
        return RationalMatrix.from_integer_array(sums, self.denominator * other.denominator)

    def times_sparse(self, other: SparseMatrix) -> SparseMatrix:
        """Return the product self · other with a sparse matrix, a sparse matrix."""
        self._need_rows(other)
        if self.is_identity():
            return other
        if other.is_identity():
            return self
        if (np.diff(self.starts) <= 1).all():
            return self._times_rows(other)
        pairs = np.concatenate(([0], np.cumsum(np.diff(other.starts)[self.columns])))
        shared = _shared_product(self, other) if pairs[-1] >= _SHARED_PAIRS else None
        if shared is not None:
            return shared
        counts = pairs[self.starts]
        parts, row = list[SparseMatrix](), 0
        while row < self.nrows or not parts:
            end = int(np.searchsorted(counts, counts[row] + _CHUNK, side="right")) - 1
            end = max(end, min(row + 1, self.nrows))
            parts.append(self._rows_times(other, row, end))
            row = end
        return SparseMatrix.stacked(parts)

    def _times_rows(self, other: SparseMatrix) -> SparseMatrix:
        """Return the product with another matrix, where every row of self has at most one entry."""
        lengths = np.zeros(self.nrows, dtype=np.int64)
        filled = np.flatnonzero(np.diff(self.starts))
        lengths[filled] = np.diff(other.starts)[self.columns]
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
        is_scaling = np.array_equal(self.columns, np.arange(other.nrows))  # all rows, in order
        if is_scaling:
            right_codes, columns = other.codes, other.columns
        else:
            offsets = np.arange(starts[-1]) - np.repeat(starts[filled], lengths[filled])
            right = np.repeat(other.starts[self.columns], lengths[filled]) + offsets
            right_codes, columns = other.codes[right], other.columns[right]
        left_codes = np.repeat(self.codes, lengths[filled])
        values, codes = coded_products(self.values, left_codes, other.values, right_codes)
        denominator = self.denominator * other.denominator
        shape = (self.nrows, other.ncols)
        product = SparseMatrix(shape, starts, columns, *used_values(values, codes), denominator)
        if is_scaling and self.nrows == other.nrows:
            product._tables = other._tables
        return product

    def _rows_times(self, other: SparseMatrix, row: int, end: int) -> SparseMatrix:
        """Return the product of the rows from `row` to `end` - 1 with another matrix."""
        first, last = int(self.starts[row]), int(self.starts[end])
        columns = self.columns[first:last]
        lengths = np.diff(other.starts)[columns]
        # The product of the entries `left` of self and `right` of other, for every matching pair.
        left = np.repeat(self.codes[first:last], lengths)
        offsets = np.arange(len(left)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        right = np.repeat(other.starts[columns], lengths) + offsets
        rows = np.repeat(np.arange(end - row, dtype=np.int64), np.diff(self.starts[row : end + 1]))
        values, codes = coded_products(self.values, left, other.values, other.codes[right])
        return SparseMatrix._of(
            (end - row, other.ncols),
            np.repeat(rows, lengths),
            other.columns[right],
            values,
            self.denominator * other.denominator,
            codes,
        )

    def _need_rows(self, other: RationalMatrix | SparseMatrix) -> None:
        """Raise a `NetworkError` unless self · other is defined."""
        if self.ncols != other.nrows:
            raise NetworkError(f"cannot multiply matrices of shapes {self.shape} and {other.shape}")

    def transpose(self) -> SparseMatrix:
        """Return the transposed matrix."""
        shape = (self.ncols, self.nrows)
        rows = self.row_of_entries()
        return SparseMatrix._of(
            shape, self.columns, rows, self.values, self.denominator, self.codes
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseMatrix):
            return NotImplemented
        return (
            self.shape == other.shape
            and self.denominator == other.denominator
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.columns, other.columns)
            and np.array_equal(self.numerators, other.numerators)
        )

    def __hash__(self) -> int:
        numerators = tuple(self.numerators.tolist())
        return hash((self.shape, self.denominator, self.columns.tobytes(), numerators))

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return SparseMatrix, (
            self.shape,
            self.starts,
            self.columns,
            self.values,
            self.codes,
            self.denominator,
        )

    def __repr__(self) -> str:
        noun = "entry" if self.num_nonzeros == 1 else "entries"
        return f"<SparseMatrix {self.nrows}×{self.ncols}, {self.num_nonzeros} {noun}>"


def _pair(shape: object) -> list[Any]:
    """Return the members of a shape."""
    pair = expect_list(shape, "shape")
    if len(pair) != 2:
        raise ArgumentError(f"shape: expected a pair (nrows, ncols), got {len(pair)} members")
    return pair


def _indices(values: object, size: int, name: str) -> Indices:
    """Return a list of indices below a size as an array."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu":
        places = values.astype(np.int64, copy=False)
    else:
        places = np.array(_integers(values, name), dtype=object)
    if len(places) and not 0 <= places.min() <= places.max() < size:
        raise ArgumentError(f"{name}: expected indices from 0 to {size - 1}")
    return places.astype(np.int64, copy=False)


def _numerators(values: object) -> NDArray[Any]:
    """Return a list or an array of integers as an array of `integer_arrays`."""
    if isinstance(values, np.ndarray) and values.dtype == np.int64 and values.ndim == 1:
        return values if longest(values) <= SMALL_BITS else values.astype(object)
    return as_integers(_integers(values, "numerators"))


def _integers(values: object, name: str) -> list[int]:
    """Return a list or an array of integers as a list."""
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    listed = expect_list(listed, name)
    if set(map(type, listed)) <= {int}:
        return listed
    return [expect_integer(value, name) for value in listed]


def _joined(parts: Sequence[SparseMatrix], denominator: int) -> tuple[NDArray[Any], Indices]:
    """Return the values over a common denominator of several matrices, and the codes, joined."""
    values, firsts = list[NDArray[Any]](), np.cumsum([0, *(len(part.values) for part in parts)])
    for part in parts:
        factor = shortened(as_integers([denominator // part.denominator]))
        values.append(products(part.values, factor))
    codes = [part.codes + first for part, first in zip(parts, firsts[:-1], strict=True)]
    return np.concatenate(values), np.concatenate(codes)


def _shared_product(left: SparseMatrix, right: SparseMatrix) -> SparseMatrix | None:
    """Return a product whose left factor has many rows with entries in the same columns.

    Such rows are multiplied by the same part of the right factor as a dense matrix. The result is
    None if that does not pay, or if the integers are too long.
    """
    tables = left.rows_by_columns()
    if len(tables) != 1 or tables[0].shape[1] < _SHARED_ROWS:
        return None
    (table,) = tables
    columns, parts = list[Indices](), list[NDArray[Any]]()
    for line in table:
        used, factor = _read_part(
            right, left.columns[left.starts[line[0]] : left.starts[line[0] + 1]]
        )
        entries = left.starts[line][:, None] + np.arange(len(factor))
        part = product_in_floats(left.values[left.codes[entries]], factor)
        if part is None:
            return None
        columns.append(used)
        parts.append(part)
    num_rows, counts = table.shape[1], [len(used) for used in columns]
    starts = np.concatenate(([0], np.cumsum(counts * num_rows)))
    values = np.concatenate([part[i] for i in range(num_rows) for part in parts])
    product = SparseMatrix._without_zeros(
        (table.size, right.ncols),
        starts,
        np.tile(np.concatenate(columns), num_rows),
        values,
        np.arange(len(values)),
        left.denominator * right.denominator,
    )
    chosen = np.full(left.nrows, -1)
    chosen[table.T.reshape(-1)] = np.arange(table.size)
    return SparseMatrix.selection(chosen, product.nrows).times_sparse(product)


def _read_part(matrix: SparseMatrix, rows: Indices) -> tuple[Indices, NDArray[Any]]:
    """Return the columns in which some rows have entries, and the rows in these, a dense table."""
    lengths = np.diff(matrix.starts)[rows]
    offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    entries = np.repeat(matrix.starts[rows], lengths) + offsets
    is_used = np.zeros(matrix.ncols, dtype=bool)
    is_used[matrix.columns[entries]] = True
    used = np.flatnonzero(is_used)
    table = np.zeros((len(rows), len(used)), dtype=matrix.values.dtype)
    lines = np.repeat(np.arange(len(rows)), lengths)
    table[lines, np.searchsorted(used, matrix.columns[entries])] = matrix.values[
        matrix.codes[entries]
    ]
    return used, table
