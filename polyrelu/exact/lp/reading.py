"""What users hand in, as integer rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from polyrelu.errors import DomainError
from polyrelu.exact.matrix import RationalMatrix
from polyrelu.exact.rational import to_fraction

__all__ = ["Numbers", "read_bounds", "read_rows"]

Numbers = Sequence[object]


def read_rows(
    rows: Iterable[Numbers] | RationalMatrix, right: Numbers, columns: int
) -> tuple[list[list[int]], list[int]]:
    """Integer rows [a | c] and the positive number by which each was multiplied.

    Raises
    ------
    DomainError : the number of right-hand sides or the length of a row does not fit.
    """
    table = rows.rows() if isinstance(rows, RationalMatrix) else list(rows)
    if len(table) != len(right):
        raise DomainError(f"{len(table)} rows need as many right-hand sides, got {len(right)}")
    integers, scales = [], []
    for index, (row, side) in enumerate(zip(table, right, strict=True)):
        if len(row) != columns:
            raise DomainError(f"row {index} has {len(row)} entries, but there are {columns} variables")
        entries, scale = _integers([*row, side])
        integers.append(entries)
        scales.append(scale)
    return integers, scales


def _integers(row: list[object]) -> tuple[list[int], int]:
    if all(type(entry) is int for entry in row):
        return row, 1  # type: ignore[return-value]
    fractions = [to_fraction(entry) for entry in row]
    scale = math.lcm(*(entry.denominator for entry in fractions))
    return [entry.numerator * (scale // entry.denominator) for entry in fractions], scale


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
