"""Sparse rational matrices, for convolutions and other layers whose weights are mostly zeros.

A convolution of a 28×28 image has a hundred times more zeros than weights, and so has the matrix
that selects the entries of a pooling window. `SparseMatrix` keeps the nonzero entries by rows
(compressed sparse rows) as Python integers over one common denominator, in numpy arrays of objects:
numpy moves the integers, Python multiplies them.

A matrix is either a `RationalMatrix` or a `SparseMatrix`. The functions below take both
(`AnyMatrix`), and `canonical` decides between them by the entries alone, so that equal matrices are
in equal containers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.exact.floats import nearest_float
from polyrelu.exact.matrix import MATRIX, RationalMatrix
from polyrelu.exact.rational import to_fraction
from polyrelu.support.arguments import (
    expect,
    expect_count,
    expect_integer,
    expect_list,
    expect_one_of,
)
from polyrelu.support.typing import BigIntegers, Indices

__all__ = [
    "AnyMatrix",
    "SparseMatrix",
    "add",
    "as_dense",
    "as_sparse",
    "canonical",
    "multiply",
    "stack",
    "take_rows",
]

#: Minimum number of entries, zeros included, of a matrix that is kept sparse.
_SPARSE_SIZE = 1 << 14
#: A matrix is kept sparse if at most one in this number of entries is not 0.
_SPARSE_SHARE = 8


class SparseMatrix:
    """An immutable rational matrix that is given by its nonzero entries.

    Rows are in compressed form: row i has the entries ``starts[i]:starts[i + 1]`` of `columns` and
    `numerators`. Equal matrices have equal arrays, which nobody may change; matrices can be
    pickled.

    Attributes
    ----------
    shape
        The pair (nrows, ncols).
    starts
        Place of the first entry of each row, and last the number of entries, shape (nrows + 1,).
    columns
        The column of each nonzero entry, ascending in a row.
    numerators
        The Python integer of each nonzero entry, over `denominator`.
    denominator
        The least positive common denominator of the entries.

    Examples
    --------
    >>> a = SparseMatrix.from_entries((2, 3), [0, 1, 1], [2, 0, 0], [1, 3, 1], 2)
    >>> a.num_nonzeros, a.denominator, a.to_dense().rows()[1][0]
    (2, 2, Fraction(2, 1))
    """

    __slots__ = ("_dense", "columns", "denominator", "numerators", "shape", "starts")

    def __init__(
        self,
        shape: tuple[int, int],
        starts: Indices,
        columns: Indices,
        numerators: BigIntegers,
        denominator: int,
    ) -> None:
        """Make a matrix of sorted nonzero entries, for use inside `exact` only.

        It reduces the entries to lowest terms.
        """
        common = denominator
        for entry in numerators:
            if common == 1:
                break
            common = math.gcd(common, entry)
        if common != 1:
            numerators, denominator = numerators // common, denominator // common
        self.shape, self.starts, self.columns = shape, starts, columns
        self.numerators, self.denominator = numerators, denominator
        self._dense: RationalMatrix | None = None

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
        values = _integers(numerators, "numerators")
        if not len(over) == len(places) == len(values):
            raise ArgumentError("rows, columns and numerators: expected lists of the same length")
        return cls._of((nrows, ncols), over, places, values, int(denominator))

    @classmethod
    def _of(
        cls,
        shape: tuple[int, int],
        rows: Sequence[int] | NDArray[Any],
        columns: Sequence[int] | NDArray[Any],
        numerators: Sequence[int] | NDArray[Any],
        denominator: int = 1,
    ) -> SparseMatrix:
        """`from_entries` without checks, for arithmetic."""
        keys = np.asarray(rows, dtype=np.int64) * max(shape[1], 1) + np.asarray(
            columns, dtype=np.int64
        )
        values = np.empty(len(keys), dtype=object)
        values[:] = numerators if isinstance(numerators, list) else list(numerators)
        if len(keys) > 1 and not (np.diff(keys) > 0).all():
            order = np.argsort(keys, kind="stable")
            keys, values = keys[order], values[order]
            first = np.flatnonzero(np.concatenate(([True], np.diff(keys) > 0)))
            keys, values = keys[first], np.add.reduceat(values, first)
        kept = np.asarray(values != 0, dtype=bool)
        if not kept.all():
            keys, values = keys[kept], values[kept]
        starts = np.searchsorted(keys, np.arange(shape[0] + 1, dtype=np.int64) * max(shape[1], 1))
        return cls(shape, starts, keys % max(shape[1], 1), values, denominator)

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
        return cls._of((len(chosen), size), rows, chosen[rows], [1] * len(rows))

    @classmethod
    def diagonal(cls, factors: RationalMatrix) -> SparseMatrix:
        """Build the diagonal matrix whose diagonal is a given column."""
        factors = expect(factors, RationalMatrix, "factors", "RationalMatrix.column makes one")
        places = np.arange(factors.nrows)
        values = [row[0] for row in factors.integer_rows()]
        return cls._of((len(places), len(places)), places, places, values, factors.denominator)

    @classmethod
    def from_dense(cls, matrix: RationalMatrix) -> SparseMatrix:
        """Build the sparse form of a dense matrix."""
        matrix = expect(matrix, RationalMatrix, "matrix", MATRIX)
        flat = [entry for row in matrix.integer_rows() for entry in row]
        places = np.fromiter((i for i, entry in enumerate(flat) if entry), dtype=np.int64)
        values = [flat[i] for i in places]
        width = max(matrix.ncols, 1)
        return cls._of(matrix.shape, places // width, places % width, values, matrix.denominator)

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
        return len(self.numerators)

    @property
    def bits(self) -> int:
        """The bit length of the longest numerator."""
        return max((int(entry).bit_length() for entry in self.numerators), default=0)

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
            and bool((self.numerators == 1).all())
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
            self._dense = RationalMatrix.from_integers(
                self.integer_rows(), self.denominator, self.ncols
            )
        return self._dense

    def to_floats(self) -> NDArray[np.float64]:
        """Return the nearest float64 of every nonzero entry, in the order of `numerators`."""
        return np.array(
            [nearest_float(int(n), self.denominator) for n in self.numerators], dtype=np.float64
        )

    # -- arithmetic -------------------------------------------------------------------------------

    def __neg__(self) -> SparseMatrix:
        return SparseMatrix(
            self.shape, self.starts, self.columns, -self.numerators, self.denominator
        )

    def scale_rows(self, factors: Sequence[object]) -> SparseMatrix:
        """Return the matrix with row i multiplied by ``factors[i]``."""
        fractions = [to_fraction(factor) for factor in factors]
        if len(fractions) != self.nrows:
            raise NetworkError(f"{len(fractions)} factors for {self.nrows} rows")
        common = math.lcm(*(f.denominator for f in fractions))
        integers = np.empty(len(fractions), dtype=object)
        integers[:] = [f.numerator * (common // f.denominator) for f in fractions]
        rows = self.row_of_entries()
        return SparseMatrix._of(
            self.shape,
            rows,
            self.columns,
            self.numerators * integers[rows],
            self.denominator * common,
        )

    def times_dense(self, other: RationalMatrix) -> RationalMatrix:
        """Return the product self · other with a dense matrix, a dense matrix."""
        if self.ncols != other.nrows:
            raise NetworkError(f"cannot multiply matrices of shapes {self.shape} and {other.shape}")
        table = np.empty(other.shape, dtype=object)
        for i, row in enumerate(other.integer_rows()):
            table[i] = row
        sums = np.zeros((self.nrows, other.ncols), dtype=object)
        filled = np.flatnonzero(np.diff(self.starts))
        if filled.size and other.ncols:
            products = self.numerators[:, None] * table[self.columns]
            sums[filled] = np.add.reduceat(products, self.starts[filled], axis=0)
        return RationalMatrix.from_integers(
            sums.tolist(), self.denominator * other.denominator, other.ncols
        )

    def times_sparse(self, other: SparseMatrix) -> SparseMatrix:
        """Return the product self · other with a sparse matrix, a sparse matrix."""
        if self.ncols != other.nrows:
            raise NetworkError(f"cannot multiply matrices of shapes {self.shape} and {other.shape}")
        if self.is_identity():
            return other
        if other.is_identity():
            return self
        lengths = np.diff(other.starts)[self.columns]
        # The product of the entries `left` of self and `right` of other, for every matching pair.
        left = np.repeat(np.arange(self.num_nonzeros), lengths)
        offsets = np.arange(len(left)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        right = other.starts[self.columns][left] + offsets
        return SparseMatrix._of(
            (self.nrows, other.ncols),
            self.row_of_entries()[left],
            other.columns[right],
            self.numerators[left] * other.numerators[right],
            self.denominator * other.denominator,
        )

    def transpose(self) -> SparseMatrix:
        """Return the transposed matrix."""
        shape = (self.ncols, self.nrows)
        return SparseMatrix._of(
            shape, self.columns, self.row_of_entries(), self.numerators, self.denominator
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseMatrix):
            return NotImplemented
        return (
            self.shape == other.shape
            and self.denominator == other.denominator
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.columns, other.columns)
            and bool((self.numerators == other.numerators).all())
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.denominator, self.columns.tobytes(), tuple(self.numerators)))

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return SparseMatrix, (
            self.shape,
            self.starts,
            self.columns,
            self.numerators,
            self.denominator,
        )

    def __repr__(self) -> str:
        noun = "entry" if self.num_nonzeros == 1 else "entries"
        return f"<SparseMatrix {self.nrows}×{self.ncols}, {self.num_nonzeros} {noun}>"


#: A rational matrix in either container.
AnyMatrix: TypeAlias = RationalMatrix | SparseMatrix


def _pair(shape: object) -> list[Any]:
    """Return the members of a shape."""
    pair = expect_list(shape, "shape")
    if len(pair) != 2:
        raise ArgumentError(f"shape: expected a pair (nrows, ncols), got {len(pair)} members")
    return pair


def _indices(values: object, size: int, name: str) -> Indices:
    """Return a list of indices below a size as an array."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu":
        places = values.astype(np.int64)
    else:
        places = np.array(_integers(values, name), dtype=object)
    if len(places) and not 0 <= places.min() <= places.max() < size:
        raise ArgumentError(f"{name}: expected indices from 0 to {size - 1}")
    return places.astype(np.int64)


def _integers(values: object, name: str) -> list[int]:
    """Return a list or an array of integers as a list."""
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    listed = expect_list(listed, name)
    if set(map(type, listed)) <= {int}:
        return listed
    return [expect_integer(value, name) for value in listed]


def _need_matrices(*matrices: object) -> None:
    """Refuse what is no matrix."""
    for matrix in matrices:
        expect_one_of(matrix, (RationalMatrix, SparseMatrix), "matrix", MATRIX)


def as_dense(matrix: AnyMatrix) -> RationalMatrix:
    """Return a matrix in dense form.

    Parameters
    ----------
    matrix
        A matrix in either form.

    Returns
    -------
    RationalMatrix
        The same entries.

    Examples
    --------
    >>> as_dense(SparseMatrix.identity(2)) == RationalMatrix.identity(2)
    True
    """
    if isinstance(matrix, RationalMatrix):
        return matrix
    return expect(matrix, SparseMatrix, "matrix", MATRIX).to_dense()


def as_sparse(matrix: AnyMatrix) -> SparseMatrix:
    """Return a matrix in sparse form.

    Parameters
    ----------
    matrix
        A matrix in either form.

    Returns
    -------
    SparseMatrix
        The same entries.

    Examples
    --------
    >>> as_sparse(RationalMatrix.identity(2)) == SparseMatrix.identity(2)
    True
    """
    return matrix if isinstance(matrix, SparseMatrix) else SparseMatrix.from_dense(matrix)


def canonical(matrix: AnyMatrix) -> AnyMatrix:
    """Return a matrix in the form that its shape and entries determine.

    Parameters
    ----------
    matrix
        A matrix in either form.

    Returns
    -------
    AnyMatrix
        The sparse form if the matrix is large and at most one entry in eight is not 0, otherwise
        the dense form. Equal matrices give equal results.

    Examples
    --------
    >>> isinstance(canonical(SparseMatrix.identity(2)), RationalMatrix)
    True
    >>> isinstance(canonical(RationalMatrix.zeros(128, 128)), SparseMatrix)
    True
    """
    expect_one_of(matrix, (RationalMatrix, SparseMatrix), "matrix", MATRIX)
    size = matrix.nrows * matrix.ncols
    if isinstance(matrix, SparseMatrix):
        is_sparse = size >= _SPARSE_SIZE and matrix.num_nonzeros * _SPARSE_SHARE <= size
        return matrix if is_sparse else matrix.to_dense()
    if size < _SPARSE_SIZE or matrix.count_nonzero() * _SPARSE_SHARE > size:
        return matrix
    return SparseMatrix.from_dense(matrix)


def multiply(left: AnyMatrix, right: AnyMatrix) -> AnyMatrix:
    """Multiply two matrices in any forms.

    Parameters
    ----------
    left
        A matrix, shape (m, k).
    right
        A matrix, shape (k, n).

    Returns
    -------
    AnyMatrix
        The product, shape (m, n), in sparse form only if both factors are.

    Raises
    ------
    NetworkError
        The shapes do not fit.

    Examples
    --------
    >>> selection = SparseMatrix.selection(np.array([1, 1]), 3)
    >>> multiply(RationalMatrix.identity(2), selection).row(0)
    (Fraction(0, 1), Fraction(1, 1), Fraction(0, 1))
    """
    if isinstance(left, RationalMatrix) and isinstance(right, RationalMatrix):
        return left @ right
    _need_matrices(left, right)
    if isinstance(left, SparseMatrix):
        if left.is_identity() and left.ncols == right.nrows:
            return right
        return (
            left.times_sparse(right) if isinstance(right, SparseMatrix) else left.times_dense(right)
        )
    sparse = as_sparse(right)
    if sparse.is_identity() and left.ncols == right.nrows:
        return left
    return sparse.transpose().times_dense(left.transpose()).transpose()


def add(left: AnyMatrix, right: AnyMatrix) -> AnyMatrix:
    """Add two matrices in any forms.

    Parameters
    ----------
    left
        A matrix, shape (m, n).
    right
        A matrix of the same shape.

    Returns
    -------
    AnyMatrix
        The sum, in sparse form only if both summands are.

    Raises
    ------
    NetworkError
        The shapes differ.

    Examples
    --------
    >>> add(SparseMatrix.identity(2), RationalMatrix.identity(2)).row(0)
    (Fraction(2, 1), Fraction(0, 1))
    """
    _need_matrices(left, right)
    if left.shape != right.shape:
        raise NetworkError(f"cannot add matrices of shapes {left.shape} and {right.shape}")
    if isinstance(left, SparseMatrix) and isinstance(right, SparseMatrix):
        common = math.lcm(left.denominator, right.denominator)
        scaled = [part.numerators * (common // part.denominator) for part in (left, right)]
        return SparseMatrix._of(
            left.shape,
            np.concatenate([left.row_of_entries(), right.row_of_entries()]),
            np.concatenate([left.columns, right.columns]),
            np.concatenate(scaled),
            common,
        )
    return as_dense(left) + as_dense(right)


def take_rows(matrix: AnyMatrix, chosen: Indices) -> AnyMatrix:
    """Select rows of a matrix in either form.

    Parameters
    ----------
    matrix
        A matrix, shape (m, n).
    chosen
        Indices of rows, in the order of the result; -1 means a zero row.

    Returns
    -------
    AnyMatrix
        The selected rows, shape (len(chosen), n), in the form of the given matrix.

    Examples
    --------
    >>> print(take_rows(RationalMatrix.from_rows([[1], [2]]), np.array([1, -1])).transpose())
    [2 0]
    """
    _need_matrices(matrix)
    if np.array_equal(chosen, np.arange(matrix.nrows)):
        return matrix
    return multiply(SparseMatrix.selection(chosen, matrix.nrows), matrix)


def stack(matrices: Sequence[AnyMatrix]) -> AnyMatrix:
    """Stack matrices on top of each other.

    Parameters
    ----------
    matrices
        At least one matrix, all with the same number of columns.

    Returns
    -------
    AnyMatrix
        The stacked matrix, in sparse form only if all given ones are.

    Raises
    ------
    NetworkError
        The numbers of columns differ.

    Examples
    --------
    >>> stack([SparseMatrix.identity(2), RationalMatrix.zeros(1, 2)]).shape
    (3, 2)
    """
    matrices = expect_list(matrices, "matrices")
    _need_matrices(*matrices)
    if not matrices:
        raise NetworkError("there is no matrix to stack")
    if len(matrices) == 1:
        only: AnyMatrix = matrices[0]
        return only
    if len({matrix.ncols for matrix in matrices}) > 1:
        raise NetworkError(
            f"cannot stack matrices of shapes {', '.join(str(m.shape) for m in matrices)}"
        )
    if all(isinstance(matrix, SparseMatrix) for matrix in matrices):
        parts = [as_sparse(matrix) for matrix in matrices]
        common = math.lcm(*(part.denominator for part in parts))
        heights = np.cumsum([0, *(part.nrows for part in parts)])
        return SparseMatrix._of(
            (int(heights[-1]), parts[0].ncols),
            np.concatenate(
                [part.row_of_entries() + top for part, top in zip(parts, heights[:-1], strict=True)]
            ),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.numerators * (common // part.denominator) for part in parts]),
            common,
        )
    result = as_dense(matrices[0])
    for matrix in matrices[1:]:
        result = result.over(as_dense(matrix))
    return result
