"""Rounding of exact numbers to float formats, to nearest with ties to even.

Some import steps cannot be exact, such as the inverse square root of a batch normalisation, and are
rounded as the float runtime would. numpy and Python round to float64 only, and a float32 that is
rounded through a float64 may be rounded twice; here every format is reached in one step, from a
rational or from an inverse square root.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact.rational import to_fraction
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed

__all__ = ["FLOAT32", "FLOAT64", "FloatFormat", "exact_root", "inverse_root"]


@dataclass(frozen=True, slots=True, repr=False)
class FloatFormat:
    """A binary float format.

    Attributes
    ----------
    name
        The name that messages use.
    precision
        Number of bits of the significand.
    least
        Exponent e of the least positive (subnormal) number 2^e.
    largest
        The largest finite number.

    Examples
    --------
    >>> FLOAT32.holds(Fraction(1, 2)), FLOAT32.holds(Fraction(1, 10))
    (True, False)
    """

    name: str
    precision: int
    least: int
    largest: Fraction

    def nearest(self, value: Fraction) -> Fraction:
        """Return the nearest number of the format, ties to even.

        Parameters
        ----------
        value
            Any fraction.

        Returns
        -------
        Fraction
            The rounded number.

        Raises
        ------
        NetworkError
            The rounded number is beyond the range of the format.

        Examples
        --------
        >>> FLOAT32.nearest(Fraction(1, 10))
        Fraction(13421773, 134217728)
        """
        value = to_fraction(value)
        if not value:
            return value
        step = self._step(abs(value))
        rounded = Fraction(round(value / step)) * step  # `round` of a Fraction takes ties to even
        if abs(rounded) > self.largest:
            raise NetworkError(f"a number is too large for {self.name}")
        return rounded

    def holds(self, value: Fraction) -> bool:
        """Return whether a number is a number of the format."""
        value = to_fraction(value)
        power = value.denominator
        if power & (power - 1) or abs(value) > self.largest:
            return False
        step = self._step(abs(value)) if value else Fraction(1)
        return (value / step).denominator == 1

    def spacing(self, value: Fraction) -> Fraction:
        """Return the unit in the last place: the distance between the numbers around a value.

        For 2^e ≤ |value| < 2^(e+1) it is 2^(e - precision + 1), and near 0 the least number.

        Examples
        --------
        >>> FLOAT64.spacing(Fraction(3, 2)) == Fraction(1, 2**52)
        True
        """
        value = abs(to_fraction(value))
        return self._step(value) if value else Fraction(2) ** self.least

    def __repr__(self) -> str:
        return bracketed(f"FloatFormat {self.name}")

    def _step(self, size: Fraction) -> Fraction:
        """Return the distance between the neighbouring numbers low ≤ size < high of the format."""
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= size < Fraction(2) ** exponent  # now 2^exponent <= size < 2^(exponent + 1)
        return Fraction(2) ** max(exponent - self.precision + 1, self.least)


#: IEEE 754 binary32 and binary64.
FLOAT32 = FloatFormat("float32", 24, -149, Fraction((2**24 - 1) * 2**104))
FLOAT64 = FloatFormat("float64", 53, -1074, Fraction((2**53 - 1) * 2**971))


def exact_root(value: Fraction) -> Fraction | None:
    """Compute the square root of a rational number if it is rational.

    Parameters
    ----------
    value
        A number ≥ 0.

    Returns
    -------
    Fraction or None
        The root; None if it is irrational.

    Examples
    --------
    >>> exact_root(Fraction(9, 4)), exact_root(Fraction(2))
    (Fraction(3, 2), None)
    """
    value = to_fraction(value)
    if value < 0:
        raise DomainError("value: a negative number has no root")
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return root if root * root == value else None


def inverse_root(value: Fraction, format_: FloatFormat) -> Fraction:
    """Compute 1/√value, exactly if it is rational, otherwise rounded once.

    Parameters
    ----------
    value
        A rational number > 0.
    format_
        The format to which an irrational number is rounded.

    Returns
    -------
    Fraction
        The exact value, or the nearest number of the format.

    Examples
    --------
    >>> inverse_root(Fraction(1, 4), FLOAT32)
    Fraction(2, 1)
    >>> inverse_root(Fraction(2), FLOAT64) == Fraction(0.5**0.5)
    True
    """
    value, format_ = to_fraction(value), expect(format_, FloatFormat, "format_", "such as FLOAT32")
    if value <= 0:
        raise DomainError("value: only a positive number has an inverse root")
    root = exact_root(value)
    if root is not None:
        return 1 / root
    square = 1 / value
    # The integer s with s < 2^shift/√value < s + 1 is long enough to round: the irrational number
    # and the middle of the interval have the same nearest number.
    size = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    shift = max(0, format_.precision + 4 - size)
    below = math.isqrt((square.numerator << 2 * shift) // square.denominator)
    return format_.nearest(Fraction(2 * below + 1, 2 << shift))
