"""Tables of claimed numbers: arrays of floats as they are, or of fractions where needed.

A table keeps the floats of a tool bit by bit; `entry` gives an entry as the exact number that it
is. NaN and infinities are kept too, since a tool may give them; they stand for no exact number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.exact import nearest_float, to_fraction
from polyrelu.support.limits import NUMBER
from polyrelu.support.typing import Array, Floats, Indices, Signs

__all__ = [
    "as_integers",
    "as_numbers",
    "as_signs",
    "entry",
    "floats_of",
    "is_finite",
    "read_number",
    "row_of",
    "with_width",
]


def as_numbers(values: object, axes: int, name: str) -> Array:
    """Return an array of float64, or of fractions if an entry is no float.

    >>> as_numbers([[1, 0.5]], 2, "points").dtype, as_numbers([["1/3", 2]], 2, "points")[0, 0]
    (dtype('float64'), Fraction(1, 3))
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    array = values if isinstance(values, np.ndarray) else _array_of(values, name)
    if array.ndim != axes and array.size == 0:
        array = array.reshape([0] * axes)
    if array.ndim != axes:
        raise ArgumentError(f"{name}: expected an array with {axes} axes, got {array.ndim}")
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return array.astype(np.float64)
    if array.dtype.kind == "b":
        return array.astype(np.float64)
    if array.dtype.kind in "iu" and (array.size == 0 or np.abs(array).max() < 2**53):
        return array.astype(np.float64)
    return _fractions(array, name)


def _array_of(values: object, name: str) -> Array:
    """Return nested lists as an array; the entries are numbers and texts of numbers."""
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise ArgumentError(f"{name}: expected lists or an array, got {type(values).__name__}")
    try:
        array = np.array(values)
        if array.dtype.kind not in "bfiu":
            array = np.array(values, dtype=object)
    except ValueError:
        raise ArgumentError(f"{name}: the rows have different lengths") from None
    return array


def _fractions(array: Array, name: str) -> Array:
    """Return an array of fractions."""
    exact = np.empty(array.shape, dtype=object)
    try:
        exact.ravel()[:] = [_number(value) for value in array.ravel().tolist()]
    except NetworkError as error:
        raise ArgumentError(f"{name}: {error}") from None
    return exact


def _number(value: Any) -> Fraction | float:
    """Return a number exactly; NaN and infinities stay floats."""
    if isinstance(value, float) and not math.isfinite(value):
        return value
    return read_number(value)


def read_number(value: Any) -> Fraction:
    """Return an exact number, also from a text such as 0.25 or 1e-6.

    >>> read_number("1e-6"), read_number(0.5)
    (Fraction(1, 1000000), Fraction(1, 2))
    """
    is_text = isinstance(value, str) and NUMBER.fullmatch(value)
    return Fraction(value) if is_text else to_fraction(value)


def as_signs(values: object, width: int, name: str, least: int = -1) -> Signs:
    """Return rows of signs from `least` to 1, shape (k, width).

    >>> as_signs([[1, -1]], 2, "signs").tolist()
    [[1, -1]]
    """
    table = as_numbers(values, 2, name)
    if table.size == 0:
        table = table.reshape(len(table), width)
    if table.shape[1] != width:
        raise ArgumentError(f"{name}: {table.shape[1]} signs in a row, but {width} hidden neurons")
    if not np.isin(table, range(least, 2)).all():
        raise ArgumentError(f"{name}: entries must be integers from {least} to 1")
    return table.astype(np.int8)


def as_integers(values: object, axes: int, name: str) -> Indices:
    """Return an array of integers of at least 0.

    >>> as_integers([[0, 3]], 2, "pairs").tolist()
    [[0, 3]]
    """
    table = as_numbers(values, axes, name)
    if table.dtype == object or not (np.floor(table) == table).all() or (table < 0).any():
        raise ArgumentError(f"{name}: expected integers of at least 0")
    return table.astype(np.int64)


def with_width(table: Array, width: int, name: str) -> Array:
    """Return a table whose rows have a given length; a table without rows is made to fit.

    >>> with_width(np.zeros((0, 0)), 2, "points").shape
    (0, 2)
    """
    if not table.size:
        return table.reshape(0, width) if width else table
    if table.shape[1] != width:
        raise ArgumentError(f"{name}: {table.shape[1]} entries in a row, {width} are needed")
    return table


def is_finite(table: Array) -> Array:
    """Return whether each entry is a number."""
    if table.dtype != object:
        return np.asarray(np.isfinite(table))
    flat = [isinstance(value, Fraction) for value in table.ravel().tolist()]
    return np.array(flat, dtype=bool).reshape(table.shape)


def entry(value: Any) -> Fraction:
    """Return an entry of a table as the exact number that it is."""
    return value if isinstance(value, Fraction) else Fraction(float(value))


def floats_of(table: Array) -> Floats:
    """Return the entries as the nearest floats, the largest float beyond their range.

    >>> floats_of(as_numbers([[str(10**400), "1/2"]], 2, "points")).tolist()
    [[1.7976931348623157e+308, 0.5]]
    """
    if table.dtype != object:
        return table
    flat = [
        nearest_float(value.numerator, value.denominator) if isinstance(value, Fraction) else value
        for value in table.ravel().tolist()
    ]
    return np.array(flat, dtype=np.float64).reshape(table.shape)


def row_of(table: Array, index: int) -> tuple[Fraction, ...]:
    """Return a row of a table as exact numbers."""
    return tuple(map(entry, table[index]))
