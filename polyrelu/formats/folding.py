"""Constant folding: exact arithmetic on constants of a file, and its effect on rounding bounds.

Graphs of ONNX and PyTorch may compute numbers from stored numbers alone; readers compute these
exactly, with the functions here. A runtime computes them too, and rounds. Where its result may
differ from the exact one, nothing is known about the difference (after a subtraction it may be as
large as the result), so the float format is removed from `Draft.bounded` and gets no rounding
bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.formats.graph.constants import FLOAT_FORMATS, exact
from polyrelu.formats.imported import Draft
from polyrelu.formats.meter import need
from polyrelu.support.typing import Array

__all__ = ["folded", "folded_product"]


@dataclass(frozen=True, slots=True)
class FoldingLimits:
    """Limits on what a file may compute from constants; a few hundred bytes can ask for gigabytes.

    Attributes
    ----------
    entries
        Maximum number of entries of a result.
    products
        Maximum number of scalar products in a matrix product.
    bits
        Maximum number of bits of a numerator or denominator.
    integer_bits
        Number of bits below which integers stay; a runtime wraps around in larger ones.
    """

    entries: int = 2 * 10**6
    products: int = 2 * 10**7
    bits: int = 4096
    integer_bits: int = 31


_LIMITS = FoldingLimits()
#: How many times longer a fraction takes than an entry or a product of matrices.
_FRACTION_COST = 30


def folded(draft: Draft, operation: Callable[..., Any], *numbers: Array) -> Array:
    """Apply an elementwise operation to constants exactly; integers give integers.

    One operation of a runtime gives the exact result if its float format holds that result. A
    format that does not hold some result is removed from `draft.bounded`.
    """
    num_entries = math.prod(np.broadcast_shapes(*(array.shape for array in numbers)))
    if num_entries > _LIMITS.entries:
        raise NetworkError(
            f"more than {_LIMITS.entries} numbers are computed from constants; store the result "
            "instead"
        )
    need(entries=_FRACTION_COST * num_entries)
    result = np.asarray(operation(*(exact(array) for array in numbers)))
    _check_size(result)
    if all(type(entry) is int for entry in result.reshape(-1)):
        return result.astype(np.int64)
    _restrict(
        draft,
        lambda name: all(FLOAT_FORMATS[name].holds(Fraction(entry)) for entry in result.flat),
    )
    return result


def folded_product(draft: Draft, left: Array, right: Array) -> Array:
    """Return the exact matrix product of two constants.

    The product of a runtime is exact if all partial sums are exact. That holds if the absolute
    values of the terms, as integer multiples of one unit, have a sum that fits the mantissa; a
    float format for which it may fail is removed from `draft.bounded`.
    """
    terms = left.shape[-1] if left.ndim else 1
    num_products = left.size * (right.size // max(terms, 1))
    if num_products > _LIMITS.products or max(left.size, right.size) > _LIMITS.entries:
        raise NetworkError(
            "a large product is computed from constants alone; store the result instead"
        )
    need(products=_FRACTION_COST * num_products)
    need(entries=_FRACTION_COST * (left.size + right.size))
    result = np.asarray(np.matmul(exact(left), exact(right)))
    _check_size(result)
    sizes = np.asarray(np.matmul(np.abs(exact(left)), np.abs(exact(right))))
    unit = _unit(left) * _unit(right)
    largest = max((Fraction(entry) for entry in sizes.reshape(-1)), default=Fraction(0)) / unit
    _restrict(
        draft,
        lambda name: largest < 2 ** FLOAT_FORMATS[name].precision and unit >= Fraction(1, 2**100),
    )
    return result


def _check_size(result: Array) -> None:
    """Raise a `NetworkError` if a number has too many bits."""
    for entry in result.reshape(-1):
        number = Fraction(entry)
        if max(number.numerator.bit_length(), number.denominator.bit_length()) > _LIMITS.bits:
            raise NetworkError(
                f"numbers of more than {_LIMITS.bits} bits are computed from constants"
            )
        if type(entry) is int and abs(entry) >= 2**_LIMITS.integer_bits:
            raise NetworkError(
                f"integers computed from constants exceed {_LIMITS.integer_bits} bits, where a "
                "runtime wraps around"
            )


def _unit(array: Array) -> Fraction:
    """Return a unit: a number such that all entries are integer multiples of it."""
    return Fraction(1, RationalMatrix.from_array(exact(array).reshape(-1)).denominator)


def _restrict(draft: Draft, is_exact: Callable[[str], bool]) -> None:
    """Remove the float formats in which a runtime may round from `draft.bounded`, with a note."""
    lost = {name for name in draft.bounded if not is_exact(name)}
    if lost:
        draft.bounded -= lost
        draft.notes.append(
            "numbers computed from constants alone are exact, where a runtime rounds them "
            f"({', '.join(sorted(lost))})"
        )
