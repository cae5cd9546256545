"""Rational scalars: conversions between Python, numpy and FLINT numbers and text, all exact.

Inside the package a scalar is a `fractions.Fraction`; whatever a user hands in goes through
`to_fraction`. Text follows the grammar of ``certificate/FORMAT.md`` §1, which has one spelling for
every number: decimal below 10^1000, hexadecimal from there on, because reading long decimals takes
quadratic time (and Python refuses more than 4,300 digits).
"""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational as RationalNumber
from typing import Any, TypeAlias

import flint
import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.support.arguments import expect, expect_count
from polyrelu.support.limits import BIT_LIMIT

__all__ = [
    "Rational",
    "decimal_above",
    "decimal_below",
    "format_integer",
    "format_rational",
    "parse_integer",
    "parse_rational",
    "primitive",
    "to_fraction",
]

#: The exact numbers that public functions take. A float means the dyadic rational that it is.
Rational: TypeAlias = "int | float | str | Fraction | np.integer[Any] | np.floating[Any]"

#: Integers from here on are written in hexadecimal digits (FORMAT.md §1).
_DECIMAL_LIMIT = 10**1000
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,999}|-?0x[1-9a-f][0-9a-f]{0,4095}", re.ASCII)


def to_fraction(value: object) -> Fraction:
    """Convert a number to the fraction that it is, without rounding.

    Parameters
    ----------
    value
        An int, Fraction, finite float (the dyadic rational that it is), numpy scalar, FLINT integer
        or rational, text of the form ``p`` or ``p/q``, or an array or tensor without axes.

    Returns
    -------
    Fraction
        The exact value.

    Raises
    ------
    NetworkError
        The value is not finite, a truth value, text of another form, or of another type.

    Examples
    --------
    >>> to_fraction(0.1)
    Fraction(3602879701896397, 36028797018963968)
    >>> to_fraction("-2/3")
    Fraction(-2, 3)
    """
    if type(value) is Fraction:
        return value
    if isinstance(value, (bool, np.bool_)):
        raise NetworkError(f"{value!r} is a truth value, not a number")
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, (int, np.integer)):
        return Fraction(int(value))
    if isinstance(value, (float, np.floating)):
        return _dyadic(value)
    if isinstance(value, (flint.fmpz, flint.fmpq)):
        quotient = flint.fmpq(value)
        return Fraction(int(quotient.p), int(quotient.q))
    if isinstance(value, RationalNumber):
        return Fraction(int(value.numerator), int(value.denominator))
    if getattr(value, "ndim", None) == 0 and not isinstance(value, np.generic):
        return to_fraction(value.item())  # type: ignore[attr-defined]
    raise NetworkError(
        f"{type(value).__name__} is not an exact number; "
        "use int, float, Fraction or text like '2/3'"
    )


def _of_text(text: str) -> Fraction:
    try:
        return parse_rational(text)
    except NetworkError:
        raise NetworkError(
            f"{_quote(text)} is not exact text: write an integer or a fraction in lowest terms "
            "such as '-2/3', or a number without quotes"
        ) from None


def _dyadic(value: float | np.floating[Any]) -> Fraction:
    if not np.isfinite(value):
        raise NetworkError(f"{float(value)} is not a finite number")
    numerator, denominator = value.as_integer_ratio()
    return Fraction(int(numerator), int(denominator))


def format_integer(number: int) -> str:
    """Write an integer in the one spelling of network and certificate files (FORMAT.md §1).

    Parameters
    ----------
    number
        Any integer.

    Returns
    -------
    str
        The text.

    Raises
    ------
    NetworkError
        The integer has more bits than the files may hold.

    Examples
    --------
    >>> format_integer(-12), format_integer(10**1000)[:12]
    ('-12', '0x3ce36c7e77')
    """
    if abs(number) < _DECIMAL_LIMIT:
        return str(number)
    if number.bit_length() > BIT_LIMIT:
        raise NetworkError(
            f"a number of {number.bit_length()} bits; "
            f"network and certificate files hold {BIT_LIMIT} at most"
        )
    return ("-" if number < 0 else "") + hex(abs(number))


def format_rational(value: Fraction) -> str:
    """Write a rational in the one spelling of the files, ``p`` or ``p/q`` in lowest terms.

    Parameters
    ----------
    value
        Any fraction.

    Returns
    -------
    str
        The text.

    Raises
    ------
    NetworkError
        The numerator or denominator has more bits than the files may hold.

    Examples
    --------
    >>> format_rational(Fraction(4, -6))
    '-2/3'
    """
    if type(value) is not Fraction:
        value = to_fraction(value)
    if value.denominator == 1:
        return format_integer(value.numerator)
    return f"{format_integer(value.numerator)}/{format_integer(value.denominator)}"


def parse_integer(text: str) -> int:
    """Read an integer in the grammar of the files; other text raises `NetworkError`.

    >>> parse_integer("-43")
    -43
    """
    if not _INTEGER.fullmatch(text):
        raise NetworkError(
            f"{_quote(text)} is not an integer in the files' grammar (FORMAT.md, section 1)"
        )
    if "x" not in text:
        return int(text)
    number = int(text, 16)
    if abs(number) < _DECIMAL_LIMIT:
        raise NetworkError(f"{_quote(text)}: integers below 10^1000 are written in decimal")
    return number


def parse_rational(text: str) -> Fraction:
    """Read a rational in the grammar of the files (FORMAT.md §1).

    Parameters
    ----------
    text
        An integer ``p``, or ``p/q`` in lowest terms with q ≥ 2.

    Returns
    -------
    Fraction
        The number.

    Raises
    ------
    NetworkError
        The text has another form.

    Examples
    --------
    >>> parse_rational("3/4")
    Fraction(3, 4)
    """
    head, slash, tail = expect(text, str, "text", "to_fraction takes numbers").partition("/")
    if not slash:
        return Fraction(parse_integer(head))
    numerator, denominator = parse_integer(head), parse_integer(tail)
    if denominator < 2 or Fraction(numerator, denominator).denominator != denominator:
        raise NetworkError(
            f"{_quote(text)} is not in lowest terms with a denominator of at least 2"
        )
    return Fraction(numerator, denominator)


def decimal_above(value: Fraction, *, digits: int = 6) -> str:
    """Write the least decimal number of a given length that is not smaller than the value.

    Parameters
    ----------
    value
        Any fraction.
    digits
        Number of significant digits.

    Returns
    -------
    str
        The decimal number.

    Examples
    --------
    >>> decimal_above(Fraction(1, 3)), decimal_above(Fraction(-1, 3))
    ('0.333334', '-0.333333')
    >>> decimal_above(Fraction(10**900 + 1))
    '1.00001e+900'
    """
    return _decimal(value, digits, decimal.ROUND_CEILING)


def decimal_below(value: Fraction, *, digits: int = 6) -> str:
    """Write the largest decimal number of a given length that is not larger than the value.

    Parameters
    ----------
    value
        Any fraction.
    digits
        Number of significant digits.

    Returns
    -------
    str
        The decimal number.

    Examples
    --------
    >>> decimal_below(Fraction(2, 3), digits=3)
    '0.666'
    """
    return _decimal(value, digits, decimal.ROUND_FLOOR)


def _decimal(value: Fraction, digits: int, rounding: str) -> str:
    value, digits = to_fraction(value), expect_count(digits, "digits", 1)
    context = decimal.Context(digits, rounding, decimal.MIN_EMIN, decimal.MAX_EMAX)
    quotient = context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
    return str(quotient).lower() if quotient else "0"


def primitive(row: Sequence[Fraction] | Sequence[int]) -> tuple[tuple[int, ...], Fraction]:
    """Write a nonzero row as a multiple of a primitive integer row.

    Parameters
    ----------
    row
        Rational entries, one of them not 0.

    Returns
    -------
    tuple of IntegerRow and Fraction
        The primitive row h, whose first nonzero entry is positive, and the factor s with row = s·h.

    Examples
    --------
    >>> primitive([Fraction(-1, 2), Fraction(3)])
    ((1, -6), Fraction(-1, 2))
    """
    common = math.lcm(*(entry.denominator for entry in row))
    integers = [entry.numerator * (common // entry.denominator) for entry in row]
    content = math.gcd(*integers)
    if next(entry for entry in integers if entry) < 0:
        content = -content
    return tuple(entry // content for entry in integers), Fraction(content, common)


def _quote(text: str) -> str:
    """Return the text in quotes, shortened for a message."""
    return repr(text if len(text) <= 40 else text[:37] + "...")
