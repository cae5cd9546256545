"""Lengths on the affine hull of a domain.

On a domain in a lower-dimensional affine space p + K v a function has a gradient along the hull only, the vector g of
the span of K with dg(v) = (K v)·g. A row r that gives the slopes r·x on the hull, whichever of the many that agree
there, has the gradient r K (KᵀK)^{-1} Kᵀ, of squared length r K (KᵀK)^{-1} Kᵀ rᵀ. Both are rational.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import RationalMatrix, solve

__all__ = ["Hull"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hull:
    """The directions of an affine space, and how rows of slopes are read.

    Attributes
    ----------
    reading : r ↦ r · reading gives the slopes along the columns of K.
    dual : (KᵀK)^{-1}, shape (k, k): the scalar product of slopes.
    directions : Kᵀ, shape (k, n_0).

    >>> diagonal = Hull.spanned_by(RationalMatrix.from_integers([[1], [1]]))
    >>> diagonal.square([0, 9]), str(diagonal.gradients(RationalMatrix.from_integers([[0, 9], [3, 6]])))
    (Fraction(81, 2), '[9/2 9/2]\\n[9/2 9/2]')
    """

    reading: RationalMatrix
    dual: RationalMatrix
    directions: RationalMatrix

    @classmethod
    def spanned_by(cls, columns: RationalMatrix, in_its_coordinates: bool = False) -> Hull:
        """Of a matrix K with independent columns; rows give slopes along x, or along v if they are in the coordinates
        v of x = p + K v."""
        along = columns.transpose()
        unit = RationalMatrix.identity(columns.ncols)
        dual = solve(along @ columns, unit)
        if dual is None:
            raise AssertionError("the columns are independent")
        return cls(unit if in_its_coordinates else columns, dual, along)

    def gradients(self, rows: RationalMatrix) -> RationalMatrix:
        """The gradients along the hull, shape (m, n_0), of the functions with these slopes."""
        return rows @ self.reading @ self.dual @ self.directions

    def square(self, row: Sequence[int]) -> Fraction:
        """The squared length of the gradient along the hull."""
        slopes = RationalMatrix.from_integers([list(row)]) @ self.reading
        ((found,),) = (slopes @ self.dual @ slopes.transpose()).rows()
        return found
