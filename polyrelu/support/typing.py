"""Names of types that many rooms share: arrays by the kind of their entries, points, rows.

One name has one meaning in the whole package. The docstrings of the functions that take or give
such values say their shapes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Array",
    "BigIntegers",
    "Floats",
    "Indices",
    "IntegerRow",
    "Mask",
    "Point",
    "Signs",
    "Vector",
    "Words",
]

#: Entries of any kind.
Array: TypeAlias = NDArray[Any]
#: Python integers of any size.
BigIntegers: TypeAlias = NDArray[np.object_]
#: Floats of 64 bits.
Floats: TypeAlias = NDArray[np.float64]
#: Numbers of cells, rows or neurons.
Indices: TypeAlias = NDArray[np.int64]
#: The entries of an integer row, often [a | c] for the affine form a·x + c.
IntegerRow: TypeAlias = tuple[int, ...]
#: Truth values, often one for each hidden neuron.
Mask: TypeAlias = NDArray[np.bool_]
#: The exact coordinates of a point.
Point: TypeAlias = tuple[Fraction, ...]
#: Entries -1, 0 and 1.
Signs: TypeAlias = NDArray[np.int8]
#: The exact entries of a vector that is no point: a direction, a row, a column.
Vector: TypeAlias = tuple[Fraction, ...]
#: Sets of up to 64 signs, one bit each.
Words: TypeAlias = NDArray[np.uint64]
