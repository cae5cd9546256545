"""The inputs of a float runtime, made from the flat input vector of a network.

A network has one input vector; a file may have several inputs of any shape, which are the
consecutive parts of that vector. Both callers of a runtime (`comparison`, `float_outputs`) use this
module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["split_sample"]


def split_sample(point: NDArray[Any], shapes: Sequence[tuple[int, ...]]) -> list[NDArray[Any]]:
    """Split a flat sample into arrays of the given shapes.

    >>> [part.tolist() for part in split_sample(np.arange(4), [(1, 2), (2,)])]
    [[[0, 1]], [2, 3]]
    """
    arrays, first = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        arrays.append(point[first : first + size].reshape(shape))
        first += size
    return arrays
