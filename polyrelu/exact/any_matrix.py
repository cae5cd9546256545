"""Functions of rational matrices in either container, dense or sparse.

A matrix is either a `RationalMatrix` or a `SparseMatrix`. The functions take both (`AnyMatrix`),
and `canonical` decides between them by the entries alone, so that equal matrices are in equal
containers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact.matrix import MATRIX, RationalMatrix
from polyrelu.exact.sparse import SparseMatrix
from polyrelu.support.arguments import expect, expect_list, expect_one_of
from polyrelu.support.typing import Indices

__all__ = [
    "AnyMatrix",
    "add",
    "as_dense",
    "as_sparse",
    "canonical",
    "multiply",
    "num_products",
    "num_stored",
    "stack",
    "take_rows",
]

#: Minimum number of entries, zeros included, of a matrix that is kept sparse.
_SPARSE_SIZE = 1 << 14
#: A matrix is kept sparse if at most one in this number of entries is not 0.
_SPARSE_SHARE = 8
#: A rational matrix in either container.
AnyMatrix: TypeAlias = RationalMatrix | SparseMatrix


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


def num_stored(matrix: AnyMatrix) -> int:
    """Return the number of entries that a matrix keeps in memory.

    Parameters
    ----------
    matrix
        A matrix in either form.

    Returns
    -------
    int
        The number of nonzero entries of a sparse matrix, of all entries of a dense one.

    Examples
    --------
    >>> num_stored(SparseMatrix.identity(3)), num_stored(RationalMatrix.identity(3))
    (3, 9)
    """
    _need_matrices(matrix)
    if isinstance(matrix, SparseMatrix):
        return matrix.num_nonzeros
    return matrix.nrows * matrix.ncols


def num_products(left: AnyMatrix, right: AnyMatrix) -> int:
    """Return the number of products of two entries in `multiply`.

    Parameters
    ----------
    left
        A matrix, shape (m, k).
    right
        A matrix, shape (k, n).

    Returns
    -------
    int
        The number of products, 0 if a factor is known to be the identity.

    Raises
    ------
    NetworkError
        The shapes do not fit.

    Examples
    --------
    >>> selection = SparseMatrix.selection(np.array([1, 1]), 3)
    >>> num_products(selection, RationalMatrix.zeros(3, 5))
    10
    """
    _need_matrices(left, right)
    if left.ncols != right.nrows:
        raise NetworkError(f"cannot multiply matrices of shapes {left.shape} and {right.shape}")
    if any(isinstance(part, SparseMatrix) and part.is_identity() for part in (left, right)):
        return 0
    if not isinstance(left, SparseMatrix):
        return left.nrows * num_stored(right)
    if not isinstance(right, SparseMatrix):
        return left.num_nonzeros * right.ncols
    return int(np.diff(right.starts)[left.columns].sum())


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
        return SparseMatrix.sum(left.shape, [left, right])
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
    if isinstance(matrix, SparseMatrix):
        return SparseMatrix.selection(chosen, matrix.nrows).times_sparse(matrix)
    if not matrix.nrows or chosen.max(initial=-1) >= matrix.nrows or chosen.min(initial=0) < -1:
        return multiply(SparseMatrix.selection(chosen, matrix.nrows), matrix)
    rows = matrix.integer_array()[chosen]
    rows[chosen < 0] = 0
    return RationalMatrix.from_integer_array(rows, matrix.denominator)


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
        return SparseMatrix.stacked([as_sparse(matrix) for matrix in matrices])
    result = as_dense(matrices[0])
    for matrix in matrices[1:]:
        result = result.over(as_dense(matrix))
    return result
