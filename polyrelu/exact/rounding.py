"""Rounding of exact numbers to the float formats, to nearest, ties to even: for import steps that cannot be exact.

numpy and Python round to float64 only, and a float32 reached through a float64 may be rounded twice; here every format
is reached in one step, from a rational or from an inverse square root.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.errors import NetworkError

__all__ = ["FLOAT32", "FLOAT64", "FloatFormat", "exact_root", "inverse_root"]


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A binary float format: bits of precision, least exponent of a subnormal's last bit, largest finite number."""

    name: str
    precision: int
    least: int
    largest: Fraction

    def nearest(self, value: Fraction) -> Fraction:
        """The nearest number of the format, ties to even; beyond its range an error.

        >>> FLOAT32.nearest(Fraction(1, 10))
        Fraction(13421773, 134217728)
        """
        if not value:
            return value
        step = self._step(abs(value))
        rounded = Fraction(round(value / step)) * step  # `round` of a Fraction takes ties to even
        if abs(rounded) > self.largest:
            raise NetworkError(f"a number is too large for {self.name}")
        return rounded

    def holds(self, value: Fraction) -> bool:
        """Whether the number is one of the format's."""
        power = value.denominator
        if power & (power - 1) or abs(value) > self.largest:
            return False
        step = self._step(abs(value)) if value else Fraction(1)
        return (value / step).denominator == 1

    def _step(self, size: Fraction) -> Fraction:
        """The distance between neighbouring numbers around `size` > 0, below a power of two that it is not."""
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= size < Fraction(2) ** exponent  # now 2^exponent <= size < 2^(exponent + 1)
        return Fraction(2) ** max(exponent - self.precision + 1, self.least)


FLOAT32 = FloatFormat("float32", 24, -149, Fraction((2**24 - 1) * 2**104))
FLOAT64 = FloatFormat("float64", 53, -1074, Fraction((2**53 - 1) * 2**971))


def exact_root(value: Fraction) -> Fraction | None:
    """The square root of a rational number ≥ 0, if it is rational.

    >>> exact_root(Fraction(9, 4)), exact_root(Fraction(2))
    (Fraction(3, 2), None)
    """
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return root if root * root == value else None


def inverse_root(value: Fraction, format_: FloatFormat) -> Fraction:
    """1/√value for a rational value > 0: exact if it is rational, else the nearest number of the format.

    >>> inverse_root(Fraction(1, 4), FLOAT32), inverse_root(Fraction(2), FLOAT64) == Fraction(0.5**0.5)
    (Fraction(2, 1), True)
    """
    root = exact_root(value)
    if root is not None:
        return 1 / root
    square = 1 / value
    # An integer s with s < 2^shift/√value < s + 1, long enough to round; the middle stands for the irrational number.
    size = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    shift = max(0, format_.precision + 4 - size)
    below = math.isqrt((square.numerator << 2 * shift) // square.denominator)
    return format_.nearest(Fraction(2 * below + 1, 2 << shift))
