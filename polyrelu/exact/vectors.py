"""Arithmetic of exact vectors given as tuples of fractions or integers.

These functions serve code that handles single rows [w | b], outgoing columns and points, where a
`RationalMatrix` would be heavier than the arithmetic. All results are `fractions.Fraction`s, also
for integer arguments, so they may be compared and hashed together with other exact numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from polyrelu.support.typing import Vector

__all__ = ["add_multiple", "dot", "linear_combination", "negated"]

_Entries = Sequence[int | Fraction]


def dot(left: _Entries, right: _Entries) -> Fraction:
    """Compute the scalar product of two exact vectors.

    Parameters
    ----------
    left
        Fractions or integers.
    right
        Fractions or integers, the same number.

    Returns
    -------
    Fraction
        The scalar product.

    Examples
    --------
    >>> dot([1, Fraction(1, 2)], [3, 4])
    Fraction(5, 1)
    """
    total = sum((a * b for a, b in zip(left, right, strict=True)), Fraction())
    return cast(Fraction, total)  # an integer plus the start value is a Fraction


def negated(vector: Vector) -> Vector:
    """Return the vector with the opposite sign.

    >>> negated((Fraction(1), Fraction(-2)))
    (Fraction(-1, 1), Fraction(2, 1))
    """
    return tuple(-entry for entry in vector)


def add_multiple(vector: Vector, other: Vector, factor: Fraction) -> Vector:
    """Return vector + factor * other.

    >>> add_multiple((Fraction(1), Fraction(0)), (Fraction(2), Fraction(4)), Fraction(1, 2))
    (Fraction(2, 1), Fraction(2, 1))
    """
    return tuple(a + factor * b for a, b in zip(vector, other, strict=True))


def linear_combination(vectors: Sequence[Vector], weights: Sequence[Fraction]) -> Vector:
    """Return the sum of the vectors times their weights; at least one vector is given.

    >>> unit_vectors = [(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))]
    >>> linear_combination(unit_vectors, [Fraction(2), Fraction(3)])
    (Fraction(2, 1), Fraction(3, 1))
    """
    return tuple(dot(weights, entries) for entries in zip(*vectors, strict=True))
