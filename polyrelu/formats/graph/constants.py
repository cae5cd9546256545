"""Exact arithmetic on the constants of a file.

The functions here turn numpy arrays of floats, integers or `Fraction` objects into arrays of exact
numbers (dtype object), so that readers can compute with stored numbers without rounding. Integers
stay Python integers, because some operations (shapes, integer division) treat them differently from
fractions.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact import FLOAT32, FLOAT64, FloatFormat, RationalMatrix
from polyrelu.support.typing import Array

__all__ = ["FLOAT_FORMATS", "exact", "reciprocals"]

#: The binary formats of the number types that numpy names "float32" and "float64".
FLOAT_FORMATS: dict[str, FloatFormat] = {"float32": FLOAT32, "float64": FLOAT64}


def exact(array: Array) -> Array:
    """Return the array with exact numbers: integers stay integers, floats become fractions.

    >>> exact(np.array([0.5, 2.0], np.float32)).tolist()
    [Fraction(1, 2), Fraction(2, 1)]
    """
    if array.dtype.kind in "iuO":
        return array.astype(object)
    flat = np.empty(array.size, dtype=object)
    flat[:] = list(RationalMatrix.from_array(np.ascontiguousarray(array).reshape(-1)).entries())
    return flat.reshape(array.shape)


def reciprocals(array: Array) -> Array:
    """Return 1 / entry for each entry of an array of exact numbers.

    A zero entry raises a `NetworkError`.
    """
    if (array == 0).any():
        raise NetworkError("division by a constant that is 0")
    return np.asarray(np.vectorize(lambda entry: 1 / Fraction(entry), otypes=[object])(array))
