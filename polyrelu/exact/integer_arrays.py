"""Arrays of exact integers: int64 where they are short, Python integers where they are long.

Matrices of a file have millions of entries. numpy computes with int64 some twenty times faster than
with Python integers, but wraps around in silence, so that every function here bounds its results
before it computes with int64, and uses Python integers (dtype object) where the bound is too large.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact.floats import SMALL_BITS, nearest_float
from polyrelu.support.typing import Indices

__all__ = [
    "FactorInFloats",
    "as_integers",
    "as_objects",
    "common_divisor",
    "distinct",
    "joined",
    "largest",
    "longest",
    "nearest_floats",
    "product_in_floats",
    "products",
    "quotients",
    "shortened",
    "sums",
    "sums_of_runs",
]

#: Integers of at most this number of bits are floats.
_MANTISSA_BITS = 53
#: Number of bits of a piece of a `FactorInFloats`.
_PIECE_BITS = 26
#: Maximum number of pieces of a factor in `product_in_floats`.
_MAX_PIECES = 4
#: Number of low bits that are added apart from the others where a sum may be long.
_LOW_BITS = 31
#: An int64 divided by 2 to this power, or a smaller one, does not underflow in float64.
_SAFE_EXPONENT = 900


def longest(integers: NDArray[Any]) -> int:
    """Return the bit length of the longest of the integers in an array, 0 if it is empty.

    >>> longest(np.array([3, -4]))
    3
    """
    if not integers.size:
        return 0
    return max(int(integers.max()).bit_length(), int(integers.min()).bit_length())


def largest(integers: NDArray[Any]) -> int:
    """Return the largest absolute value of the integers in an array, 0 if it is empty.

    >>> largest(np.array([3, -4]))
    4
    """
    return max(int(integers.max()), -int(integers.min())) if integers.size else 0


def shortened(integers: NDArray[Any]) -> NDArray[Any]:
    """Return an array of integers as int64 if all have at most `SMALL_BITS` bits, else unchanged.

    >>> shortened(np.array([3, -4], dtype=object)).dtype.name
    'int64'
    """
    if integers.dtype == object and longest(integers) <= SMALL_BITS:
        return integers.astype(np.int64)
    return integers


def as_integers(integer: int) -> NDArray[Any]:
    """Return an integer as an array of shape (1,): int64 if it is short, else a Python integer."""
    return shortened(np.array([integer], dtype=object))


def as_objects(integers: NDArray[Any]) -> NDArray[np.object_]:
    """Return an array of Python integers."""
    return integers if integers.dtype == object else integers.astype(object)


def products(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Return the products of two arrays of integers, entry by entry, with broadcasting.

    >>> products(np.array([1 << 40, 3]), np.array([1 << 40, 2])).tolist() == [1 << 80, 6]
    True
    """
    if object not in (left.dtype, right.dtype) and longest(left) + longest(right) <= SMALL_BITS:
        return np.asarray(left * right)
    return np.asarray(as_objects(left) * as_objects(right))


def sums(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Return the sums of two arrays of integers, entry by entry.

    >>> sums(np.array([1 << 62, 3]), np.array([1 << 62, 2])).tolist() == [1 << 63, 5]
    True
    """
    is_short = object not in (left.dtype, right.dtype)
    if is_short and max(longest(left), longest(right)) < SMALL_BITS:
        return np.asarray(left + right)
    return np.asarray(as_objects(left) + as_objects(right))


def quotients(integers: NDArray[Any], divisor: int) -> NDArray[Any]:
    """Return the quotients of integers by a common divisor of all of them."""
    if integers.dtype != object and divisor.bit_length() > SMALL_BITS:
        return integers  # all are 0
    return np.asarray(integers // divisor)


def sums_of_runs(integers: NDArray[Any], starts: Indices) -> NDArray[Any]:
    """Return the sums of the consecutive runs of an array that start at the given places.

    >>> sums_of_runs(np.array([1, 2, 3]), np.array([0, 2])).tolist()
    [3, 3]
    """
    if integers.dtype != object:
        terms = int(np.diff(starts, append=len(integers)).max(initial=0))
        if longest(integers) + terms.bit_length() > SMALL_BITS:
            high = np.add.reduceat(integers >> _LOW_BITS, starts)
            low = np.add.reduceat(integers & ((1 << _LOW_BITS) - 1), starts)
            return joined(high, low, _LOW_BITS)
    return np.asarray(np.add.reduceat(integers, starts))


def joined(high: NDArray[Any], low: NDArray[Any], bits: int) -> NDArray[Any]:
    """Return the integers high · 2^bits + low, where arrays of int64 have at most 62 bits.

    >>> joined(np.array([1, 1 << 40]), np.array([-1, 0]), 30).tolist() == [2**30 - 1, 2**70]
    True
    """
    if object not in (high.dtype, low.dtype):
        carried = high + (low >> bits)
        if longest(carried) + bits <= SMALL_BITS:
            return np.asarray((carried << bits) + (low & ((1 << bits) - 1)))
    return np.asarray((as_objects(high) << bits) + as_objects(low))


def product_in_floats(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any] | None:
    """Return the exact product of two tables of integers, computed in float64.

    The left factor is cut into pieces so short that no sum needs more bits than float64 has. The
    result is None if the pieces would be too many.

    >>> product_in_floats(np.array([[1 << 40, 3]]), np.array([[1 << 20], [2]])).tolist()
    [[1152921504606846982]]
    """
    if object in (left.dtype, right.dtype):
        return None
    bits = _MANTISSA_BITS - longest(right) - left.shape[1].bit_length()
    count = -(-longest(left) // max(bits, 1))
    if bits < 1 or not 1 <= count <= _MAX_PIECES:
        return None
    factor, total = right.astype(np.float64), None
    for place in reversed(range(count)):
        piece = left >> place * bits
        if place < count - 1:
            piece &= (1 << bits) - 1
        part = (piece.astype(np.float64) @ factor).astype(np.int64)
        total = part if total is None else joined(total, part, bits)
    return total


class FactorInFloats:
    """A table of int64 that is multiplied with many tables, exactly and in float64.

    Both factors are cut into pieces so short that no sum needs more bits than float64 has; this one
    is cut once.

    Examples
    --------
    >>> factor = FactorInFloats(np.array([[1 << 40, 3]]))
    >>> factor.times(np.array([[1 << 30], [2]])).tolist() == [[2**70 + 6]]
    True
    """

    def __init__(self, table: NDArray[Any]) -> None:
        self._pieces = _pieces(table, longest(table), _PIECE_BITS)

    def times(self, right: NDArray[Any]) -> NDArray[Any]:
        """Return the product with a table of int64 or Python integers."""
        bits = _MANTISSA_BITS - _PIECE_BITS - len(right).bit_length()
        digits = _pieces(right, longest(right), bits)
        factor, width = np.hstack(digits), right.shape[1]
        total: NDArray[Any] | None = None
        for piece in self._pieces:
            parts = (piece @ factor).astype(np.int64)
            product = parts[:, :width]
            for start in range(width, parts.shape[1], width):
                product = joined(product, parts[:, start : start + width], bits)
            total = product if total is None else joined(total, product, _PIECE_BITS)
        assert total is not None
        return total


def _pieces(integers: NDArray[Any], length: int, bits: int) -> list[NDArray[np.float64]]:
    """Return the digits of integers of at most `length` bits to the base 2^bits, highest first."""
    found: list[NDArray[np.float64]] = []
    for place in reversed(range(max(1, -(-length // bits)))):
        digits = integers >> place * bits
        if found:
            digits = digits & ((1 << bits) - 1)
        found.append(digits.astype(np.float64))
    return found


def common_divisor(denominator: int, integers: NDArray[Any]) -> int:
    """Return the greatest common divisor of a positive denominator and all integers of an array.

    >>> common_divisor(8, np.array([12, 20])), common_divisor(6, np.array([], dtype=np.int64))
    (4, 6)
    """
    if denominator == 1 or not integers.size:
        return denominator
    if denominator & (denominator - 1) == 0:  # a power of two, as in every matrix of floats
        bits = int(np.bitwise_or.reduce(integers, axis=None))
        return min(denominator, bits & -bits) if bits else denominator
    if integers.dtype != object:
        return math.gcd(denominator, int(np.gcd.reduce(integers, axis=None)))
    common = denominator
    for entry in integers.ravel().tolist():
        common = math.gcd(common, entry)
        if common == 1:
            break
    return common


def distinct(integers: NDArray[Any]) -> tuple[NDArray[Any], Indices]:
    """Return the distinct integers of an array, and for each entry its place among these.

    >>> [part.tolist() for part in distinct(np.array([7, 5, 7]))]
    [[7, 5], [0, 1, 0]]
    """
    places: dict[int, int] = {}
    codes = [places.setdefault(entry, len(places)) for entry in integers.tolist()]
    found = np.empty(len(places), dtype=integers.dtype)
    found[:] = list(places)
    return found, np.array(codes, dtype=np.int64)


def nearest_floats(numerators: NDArray[Any], denominator: int) -> NDArray[np.float64]:
    """Return the float that is nearest to each quotient of integers over one denominator.

    Beyond the range of floats it is the largest finite one with the sign.

    >>> nearest_floats(np.array([1, -3]), 4).tolist()
    [0.25, -0.75]
    """
    if numerators.dtype != object:
        exponent = denominator.bit_length() - 1
        if denominator == 1 << exponent and exponent <= _SAFE_EXPONENT:
            # The conversion to float64 rounds, the division by a power of two does not.
            return np.ldexp(numerators.astype(np.float64), -exponent)
        if max(denominator.bit_length(), longest(numerators)) <= _MANTISSA_BITS:
            return np.asarray(numerators / denominator)  # of two floats, which rounds once
        numerators = numerators.astype(object)
    try:
        return np.asarray(numerators / denominator).astype(np.float64)
    except OverflowError:
        floats = [nearest_float(entry, denominator) for entry in numerators.ravel().tolist()]
        return np.array(floats, dtype=np.float64).reshape(numerators.shape)
