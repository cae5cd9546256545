"""Gradients and their lengths along the affine hull of a domain of lower dimension.

On a domain in an affine space p + K v a function has a gradient along the hull only: the vector g
in the span of K with dg(v) = (K v)·g. Let a row r give the slopes r·x on the hull; several rows
give the same slopes there. Then g = r K (KᵀK)^{-1} Kᵀ, and its squared length is r K (KᵀK)^{-1} Kᵀ
rᵀ. Both are rational.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import RationalMatrix, solve

__all__ = ["Hull"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hull:
    """The directions of an affine space, and how rows of slopes are read on it.

    Attributes
    ----------
    slopes
        The matrix for which r · slopes are the slopes of the row r along the columns of K: K
        itself, or the identity for rows in the coordinates v.
    inverse_gram
        (KᵀK)^{-1}, shape (k, k), the scalar product of slopes.
    directions
        Kᵀ, shape (k, n_0).

    Examples
    --------
    >>> diagonal = Hull.spanned_by(RationalMatrix.from_integers([[1], [1]]))
    >>> diagonal.squared_norm([0, 9])
    Fraction(81, 2)
    >>> print(diagonal.gradients(RationalMatrix.from_integers([[0, 9], [3, 6]])))
    [9/2 9/2]
    [9/2 9/2]
    """

    slopes: RationalMatrix
    inverse_gram: RationalMatrix
    directions: RationalMatrix

    @classmethod
    def spanned_by(cls, columns: RationalMatrix, in_its_coordinates: bool = False) -> Hull:
        """Return the hull spanned by the independent columns of a matrix K.

        Parameters
        ----------
        columns
            The matrix K, shape (n_0, k).
        in_its_coordinates
            Whether rows give slopes along the coordinates v of x = p + K v, not along x.
        """
        along = columns.transpose()
        unit = RationalMatrix.identity(columns.ncols)
        inverse_gram = solve(along @ columns, unit)
        if inverse_gram is None:
            raise AssertionError("the columns are independent")
        return cls(unit if in_its_coordinates else columns, inverse_gram, along)

    def gradients(self, rows: RationalMatrix) -> RationalMatrix:
        """Return the gradients along the hull, shape (m, n_0), of functions with these slopes."""
        return rows @ self.slopes @ self.inverse_gram @ self.directions

    def squared_norm(self, row: Sequence[int]) -> Fraction:
        """Return the squared length of the gradient along the hull."""
        slopes = RationalMatrix.from_integers([list(row)]) @ self.slopes
        ((squared_norm,),) = (slopes @ self.inverse_gram @ slopes.transpose()).rows()
        return squared_norm
