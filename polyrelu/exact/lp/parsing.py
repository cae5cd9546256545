"""User input as integer rows, fractions and indices; other input raises `DomainError`.

Rows become integers here, once, so that the solvers work without denominators.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import chain
from typing import cast

from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact.matrix import RationalMatrix
from polyrelu.exact.rational import to_fraction

__all__ = ["Numbers", "read_bounds", "read_rows"]

#: Numbers of any exact kinds, see `to_fraction`.
Numbers = Sequence[object]


def read_rows(
    rows: Sequence[Numbers] | RationalMatrix, right: Numbers, columns: int
) -> tuple[list[list[int]], list[int]]:
    """Read rows as integer rows [a | c].

    Parameters
    ----------
    rows
        Coefficients, shape (m, columns).
    right
        Right-hand sides, shape (m,).
    columns
        Number of variables.

    Returns
    -------
    tuple of list of list of int and list of int
        The integer rows, and the positive integer by which each row was multiplied.

    Raises
    ------
    DomainError
        The number of right-hand sides or the length of a row does not fit, or an entry is not an
        exact number.
    """
    if isinstance(rows, RationalMatrix):
        rows = rows.rows()
    try:
        table = [[*row, side] for row, side in zip(rows, right, strict=False)]
        _need_shape(rows, right, columns)
    except TypeError:
        raise DomainError(
            "expected a list of rows, each a list of numbers, and a list of right-hand sides"
        ) from None
    if set(map(type, chain.from_iterable(table))) == {int}:
        return cast("list[list[int]]", table), [1] * len(table)
    integers = [_without_denominators(row) for row in table]
    return [row for row, _ in integers], [scale for _, scale in integers]


def read_vector(vector: Numbers, columns: int, what: str) -> list[int]:
    """Return the entries as integers, and last the positive integer that multiplied them."""
    try:
        length = len(vector)
    except TypeError:
        raise DomainError(f"{what} must be a list of {columns} numbers") from None
    if length != columns or isinstance(vector, str):
        raise DomainError(f"{what} has {length} entries, but there are {columns} variables")
    integers, scale = _without_denominators(list(vector))
    return [*integers, scale]


def read_number(value: object, what: str) -> Fraction:
    """Return an exact number as a fraction; `what` names it in messages."""
    try:
        return to_fraction(value)
    except NetworkError as error:
        raise DomainError(f"{what}: {error}") from None


def read_index(value: object, what: str) -> int:
    """Return a Python or numpy integer, no truth value; `what` names it in messages."""
    with suppress(TypeError):
        if not isinstance(value, bool):
            return operator.index(value)  # type: ignore[arg-type]
    raise DomainError(f"the {what} must be an integer, not {value!r}")


def _need_shape(rows: Sequence[Numbers], right: Numbers, columns: int) -> None:
    """Raise `DomainError` if the shapes do not fit."""
    if len(rows) != len(right):
        raise DomainError(f"{len(rows)} rows need as many right-hand sides, got {len(right)}")
    for index, (row, length) in enumerate(zip(rows, map(len, rows), strict=True)):
        if isinstance(row, str):
            raise DomainError(f"row {index} is a text, not a list of numbers")
        if length != columns:
            raise DomainError(
                f"row {index} has {length} entries, but there are {columns} variables"
            )


def _without_denominators(row: list[object]) -> tuple[list[int], int]:
    """Return the least positive integer multiple of a row, and the multiplier."""
    if set(map(type, row)) == {int}:
        return cast("list[int]", row), 1
    try:
        ratios = [to_fraction(entry).as_integer_ratio() for entry in row]
    except NetworkError as error:
        raise DomainError(str(error)) from None
    scale = math.lcm(*{denominator for _, denominator in ratios})
    if scale == 1:
        return [numerator for numerator, _ in ratios], 1
    return [numerator * (scale // denominator) for numerator, denominator in ratios], scale


def read_bounds(bounds: Sequence[object] | None, columns: int) -> list[Fraction | None]:
    """Read one bound or None for each column; `bounds` may be None as a whole.

    Parameters
    ----------
    bounds
        Exact numbers or None, shape (columns,); None for no bounds.
    columns
        Number of variables.

    Returns
    -------
    list of Fraction or None
        The bounds.

    Raises
    ------
    DomainError
        The number of bounds does not fit, or a bound is infinite or not an exact number.
    """
    if bounds is None:
        return [None] * columns
    try:
        length = len(bounds)
    except TypeError:
        raise DomainError(
            f"bounds must be a list of {columns} numbers, None where there is no bound"
        ) from None
    if length != columns:
        raise DomainError(f"{columns} variables need as many bounds, got {length}")
    for j, bound in enumerate(bounds):
        if isinstance(bound, float) and math.isinf(bound):
            raise DomainError(f"bound {j} is infinite; write None where there is no bound")
    return [
        None if bound is None else read_number(bound, f"bound {j}")
        for j, bound in enumerate(bounds)
    ]
