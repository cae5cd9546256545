"""What users hand in, as integer rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from typing import cast

from polyrelu.errors import DomainError
from polyrelu.exact.matrix import RationalMatrix
from polyrelu.exact.rational import to_fraction

__all__ = ["Numbers", "read_bounds", "read_rows"]

Numbers = Sequence[object]


def read_rows(
    rows: Sequence[Numbers] | RationalMatrix, right: Numbers, columns: int
) -> tuple[list[list[int]], list[int]]:
    """Integer rows [a | c] and the positive number by which each was multiplied.

    Raises
    ------
    DomainError : the number of right-hand sides or the length of a row does not fit.
    """
    if isinstance(rows, RationalMatrix):
        rows = rows.rows()
    table = [[*row, side] for row, side in zip(rows, right, strict=False)]
    _need_shape(rows, right, columns)
    if set(map(type, chain.from_iterable(table))) == {int}:
        return cast("list[list[int]]", table), [1] * len(table)
    cleared = [_cleared(row) for row in table]
    return [row for row, _ in cleared], [scale for _, scale in cleared]


def _need_shape(rows: Sequence[Numbers], right: Numbers, columns: int) -> None:
    if len(rows) != len(right):
        raise DomainError(f"{len(rows)} rows need as many right-hand sides, got {len(right)}")
    for index, length in enumerate(map(len, rows)):
        if length != columns:
            raise DomainError(f"row {index} has {length} entries, but there are {columns} variables")


def _cleared(row: list[object]) -> tuple[list[int], int]:
    """The row without denominators, and their common multiple."""
    ratios = [to_fraction(entry).as_integer_ratio() for entry in row]
    scale = math.lcm(*{denominator for _, denominator in ratios})
    if scale == 1:
        return [numerator for numerator, _ in ratios], 1
    return [numerator * (scale // denominator) for numerator, denominator in ratios], scale


def read_bounds(bounds: Sequence[object] | None, columns: int) -> list[Fraction | None]:
    """One number or None for each column.

    Raises
    ------
    DomainError : not as many bounds as columns.
    """
    if bounds is None:
        return [None] * columns
    if len(bounds) != columns:
        raise DomainError(f"{columns} variables need as many bounds, got {len(bounds)}")
    return [None if bound is None else to_fraction(bound) for bound in bounds]
