"""Arithmetic on numbers of a file alone, done exactly, and what that means for a float runtime.

A runtime computes such numbers too, and rounds. Where its result cannot be the exact one, nothing is known of the
difference (after a subtraction it may be as large as the result), so that no rounding bound is given for the network.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError
from polyrelu.exact import FLOAT32, FLOAT64, RationalMatrix
from polyrelu.importers.imported import Draft

__all__ = ["exact", "folded", "folded_product", "reciprocals"]

Array: TypeAlias = NDArray[Any]

_FORMATS = {"float32": FLOAT32, "float64": FLOAT64}


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


def folded(draft: Draft, operation: Callable[..., Any], *numbers: Array) -> Array:
    """The operation on exact numbers; integers from integers are integers again.

    One operation of a runtime gives the exact result if its format holds that; otherwise the format is no longer
    among those with a bound.
    """
    result = np.asarray(operation(*(exact(array) for array in numbers)))
    if all(type(entry) is int for entry in result.reshape(-1)):
        return result.astype(np.int64)
    _restrict(draft, lambda name: all(_FORMATS[name].holds(Fraction(entry)) for entry in result.reshape(-1)))
    return result


def folded_product(draft: Draft, left: Array, right: Array) -> Array:
    """The matrix product of exact numbers. A runtime's is exact if all its partial sums are: if the sum of the sizes of
    the terms, as integers over one denominator, fits the mantissa."""
    result = np.asarray(np.matmul(exact(left), exact(right)))
    sizes = np.asarray(np.matmul(np.abs(exact(left)), np.abs(exact(right))))
    unit = _unit(left) * _unit(right)
    largest = max((Fraction(entry) for entry in sizes.reshape(-1)), default=Fraction(0)) / unit
    _restrict(draft, lambda name: largest < 2 ** _FORMATS[name].precision and unit >= Fraction(1, 2**100))
    return result


def _unit(array: Array) -> Fraction:
    """A number of which all entries are integer multiples."""
    return Fraction(1, RationalMatrix.from_array(exact(array).reshape(-1)).denominator)


def _restrict(draft: Draft, holds: Callable[[str], bool]) -> None:
    lost = {name for name in draft.bounded if not holds(name)}
    if lost:
        draft.bounded -= lost
        draft.notes.append(
            f"numbers computed from constants alone are exact, where a runtime rounds them ({', '.join(sorted(lost))})"
        )
