"""Float arrays as exact integers over a power of two, and exact quotients as nearest floats.

Float filters all over the package report signs that floats leave open in one way, as `UNDECIDED`.

Networks have millions of float weights, so that numpy shifts the mantissas of whole arrays instead
of a Python loop over the weights. The conversion is exact, subnormal numbers included.

A finite IEEE number is m·2^e with an integer m. For an array with least exponent e_min the integers
m·2^(e - e_min) over the common denominator 2^(-e_min) are exact. They fit int64 if the exponents
differ by little, which is the ordinary case; otherwise they are Python integers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError, PolyreluError

__all__ = [
    "SMALL_BITS",
    "UNDECIDED",
    "as_float",
    "expect_rounding_to_nearest",
    "integer_array",
    "integers_from_floats",
    "nearest_float",
    "nearest_vector",
]

#: The entry of an array of signs -1, 0 and 1 where floats do not decide the sign.
UNDECIDED = 2

#: Integers of at most this number of bits are short: int64 holds them and their negatives.
SMALL_BITS = 63
#: Bits of the significand of a float64.
_MANTISSA_BITS = 53
#: The least positive float64, a subnormal number.
_LEAST = np.array([5e-324])


#: A float and less than half a unit in its last place: their sum is the float if it is rounded.
_ONE, _LITTLE = 1.0, 2.0**-60


def expect_rounding_to_nearest() -> None:
    """Refuse to compute if floats are not rounded to nearest, as the proofs of all bounds suppose.

    The mode belongs to the thread, and another library may have changed it: importing pplpy 0.9
    sets it to upwards. The package itself runs PPL in a process of its own.

    Raises
    ------
    PolyreluError
        Sums are rounded in another way.

    Examples
    --------
    >>> expect_rounding_to_nearest()
    """
    if _ONE + _LITTLE != _ONE or _ONE - _LITTLE != _ONE:
        raise PolyreluError(
            "floats are not rounded to nearest here, since another library has changed this (pplpy "
            "does when it is imported): call ctypes.CDLL(None).fesetround(0) after that"
        )


def integers_from_floats(array: NDArray[Any]) -> tuple[list[int], int]:
    """Convert an array of floats to exact integers over a power of two.

    Parameters
    ----------
    array
        Finite floats of 16, 32 or 64 bits or bfloat16, any shape.

    Returns
    -------
    tuple of list of int and int
        The integers in row-major order and the least denominator 2^k, k ≥ 0, with
        ``array.ravel()[i] == integers[i] / denominator``.

    Raises
    ------
    NetworkError
        The entries are of another type or not finite, or the process flushes subnormal numbers
        to 0.

    Examples
    --------
    >>> integers_from_floats(np.array([0.75, -3.0]))
    ([3, -12], 4)
    """
    integers, denominator = integer_array(array)
    return integers.tolist(), denominator


def integer_array(array: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return what `integers_from_floats` returns, with the integers in an array.

    They are int64 if they have at most `SMALL_BITS` bits, and else Python integers.
    """
    if np.multiply(_LEAST, 1.0) == 0:  # some runtimes switch this on for the whole process
        raise NetworkError(
            "this process takes subnormal numbers for 0 (flush to zero); "
            "switch that off to read weights"
        )
    values = _as_float64(array).ravel()
    finite = np.isfinite(values)
    if not finite.all():
        where = np.unravel_index(int(np.argmin(finite)), array.shape)
        place = "[" + ", ".join(str(int(index)) for index in where) + "]"
        raise NetworkError(
            f"entry {place} is {values[int(np.argmin(finite))]}, not a finite number"
        )
    mantissas, exponents = _odd_mantissas(values)
    nonzero = mantissas != 0
    if not nonzero.any():
        return np.zeros(values.size, dtype=np.int64), 1
    least = min(int(exponents[nonzero].min()), 0)
    shifts = np.where(nonzero, exponents - least, 0)
    return _shifted(mantissas, shifts), 1 << -least


def nearest_float(numerator: int, denominator: int) -> float:
    """Return the float that is nearest to a quotient of integers.

    Parameters
    ----------
    numerator
        Any integer.
    denominator
        A positive integer.

    Returns
    -------
    float
        The nearest float; beyond the range of floats, the largest finite one with the sign.

    Examples
    --------
    >>> nearest_float(1, 3), nearest_float(-(10**400), 1)
    (0.3333333333333333, -1.7976931348623157e+308)
    """
    try:
        return numerator / denominator
    except OverflowError:
        return sys.float_info.max if numerator > 0 else -sys.float_info.max


def as_float(value: Fraction | int) -> float:
    """Return the float that is nearest to a rational number.

    Parameters
    ----------
    value
        The number.

    Returns
    -------
    float
        The float; beyond the range of floats, the largest finite one with the sign.

    Examples
    --------
    >>> as_float(Fraction(1, 4)), as_float(10**400)
    (0.25, 1.7976931348623157e+308)
    """
    return nearest_float(value.numerator, value.denominator)


def nearest_vector(values: Iterable[Fraction | int]) -> NDArray[np.float64]:
    """Return the floats that are nearest to rational numbers.

    Parameters
    ----------
    values
        The numbers.

    Returns
    -------
    numpy.ndarray
        The floats; beyond the range of floats, the largest finite one with the sign.

    Examples
    --------
    >>> nearest_vector([Fraction(1, 2), -(10**400)]).tolist()
    [0.5, -1.7976931348623157e+308]
    """
    return np.array([as_float(value) for value in values], dtype=np.float64)


def _as_float64(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return the array as float64; `longdouble` is refused, since its conversion is not exact."""
    if array.dtype.name not in ("float16", "float32", "float64", "bfloat16"):
        raise NetworkError(
            f"weights of type {array.dtype.name} are not supported; "
            "use float16, bfloat16, float32 or float64"
        )
    with np.errstate(invalid="ignore"):  # signalling NaNs are reported by the caller
        return array.astype(np.float64)


def _odd_mantissas(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return odd integers (or 0) and exponents, for the least common denominator."""
    fractions, exponents = np.frexp(values)
    mantissas = np.ldexp(fractions, _MANTISSA_BITS).astype(np.int64)
    low_bit = np.where(mantissas == 0, 1, mantissas & -mantissas)
    trailing = np.frexp(low_bit.astype(np.float64))[1].astype(np.int64) - 1
    return mantissas >> trailing, exponents.astype(np.int64) - _MANTISSA_BITS + trailing


def _shifted(mantissas: NDArray[np.int64], shifts: NDArray[np.int64]) -> NDArray[Any]:
    """Return the integers mantissa · 2^shift."""
    bits = np.frexp(np.abs(mantissas).astype(np.float64))[1] + shifts
    if int(bits.max()) <= SMALL_BITS:
        return mantissas << shifts
    integers = np.empty(mantissas.size, dtype=object)
    integers[:] = [
        number << shift for number, shift in zip(mantissas.tolist(), shifts.tolist(), strict=True)
    ]
    return integers
