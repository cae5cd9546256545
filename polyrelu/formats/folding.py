"""Arithmetic on numbers of a file alone, done exactly, and what that means for a float runtime.

A runtime computes such numbers too, and rounds. Where its result cannot be the exact one, nothing is known of the
difference (after a subtraction it may be as large as the result), so that no rounding bound is given for the network.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact import FLOAT32, FLOAT64, RationalMatrix
from polyrelu.formats.graph.constants import exact
from polyrelu.formats.imported import Draft
from polyrelu.support.typing import Array

__all__ = ["folded", "folded_product"]

#: What a file may compute from constants: entries of a result, products of a matrix product, bits of a number. A file
#: of a few hundred bytes can ask for gigabytes.
_ENTRIES, _PRODUCTS, _BITS = 2 * 10**6, 2 * 10**7, 4096


_FORMATS = {"float32": FLOAT32, "float64": FLOAT64}


def folded(draft: Draft, operation: Callable[..., Any], *numbers: Array) -> Array:
    """The operation on exact numbers; integers from integers are integers again.

    One operation of a runtime gives the exact result if its format holds that; otherwise the format is no longer
    among those with a bound.
    """
    if math.prod(np.broadcast_shapes(*(array.shape for array in numbers))) > _ENTRIES:
        raise NetworkError(
            f"more than {_ENTRIES} numbers are computed from constants; store the result instead"
        )
    result = np.asarray(operation(*(exact(array) for array in numbers)))
    _check_size(result)
    if all(type(entry) is int for entry in result.reshape(-1)):
        return result.astype(np.int64)
    _restrict(
        draft,
        lambda name: all(_FORMATS[name].holds(Fraction(entry)) for entry in result.reshape(-1)),
    )
    return result


def folded_product(draft: Draft, left: Array, right: Array) -> Array:
    """The matrix product of exact numbers. A runtime's is exact if all its partial sums are: if the sum of the sizes of
    the terms, as integers over one denominator, fits the mantissa."""
    terms = left.shape[-1] if left.ndim else 1
    if (
        left.size * (right.size // max(terms, 1)) > _PRODUCTS
        or max(left.size, right.size) > _ENTRIES
    ):
        raise NetworkError(
            "a large product is computed from constants alone; store the result instead"
        )
    result = np.asarray(np.matmul(exact(left), exact(right)))
    _check_size(result)
    sizes = np.asarray(np.matmul(np.abs(exact(left)), np.abs(exact(right))))
    unit = _unit(left) * _unit(right)
    largest = max((Fraction(entry) for entry in sizes.reshape(-1)), default=Fraction(0)) / unit
    _restrict(
        draft, lambda name: largest < 2 ** _FORMATS[name].precision and unit >= Fraction(1, 2**100)
    )
    return result


def _check_size(result: Array) -> None:
    for entry in result.reshape(-1):
        number = Fraction(entry)
        if max(number.numerator.bit_length(), number.denominator.bit_length()) > _BITS:
            raise NetworkError(f"numbers of more than {_BITS} bits are computed from constants")
        if type(entry) is int and abs(entry) >= 2**31:
            raise NetworkError(
                "integers computed from constants exceed 31 bits, where a runtime wraps around"
            )


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
