"""Exact arithmetic on the constants of a file."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.support.typing import Array

__all__ = ["exact", "reciprocals"]


def exact(array: Array) -> Array:
    """The array with exact numbers: integers stay integers, floats become fractions.

    >>> exact(np.array([0.5, 2.0], np.float32)).tolist()
    [Fraction(1, 2), Fraction(2, 1)]
    """
    if array.dtype.kind in "iuO":
        return array.astype(object)
    flat = np.empty(array.size, dtype=object)
    flat[:] = list(RationalMatrix.from_array(np.ascontiguousarray(array).reshape(-1)).entries())
    return flat.reshape(array.shape)


def reciprocals(array: Array) -> Array:
    """1 / entry of exact numbers; a zero is a `NetworkError`."""
    if (array == 0).any():
        raise NetworkError("division by a constant that is 0")
    return np.asarray(np.vectorize(lambda entry: 1 / Fraction(entry), otypes=[object])(array))
