"""Sparse integer linear forms over symbols, with the arithmetic to substitute them.

A `SparseForm` is a linear form over the symbols 1, coordinates and atoms (`expressions`), which are
numbered in this order from 0. The rows of one network layer have one common denominator, so
that all arithmetic is done with integers. Columns of a form always ascend and no entry is 0: forms
are compared and hashed as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import compress
from typing import NamedTuple, TypeAlias

from polyrelu.exact import AnyMatrix, SparseMatrix, integer_product

__all__ = [
    "ZERO",
    "RationalForms",
    "SparseForm",
    "add_multiple",
    "add_product",
    "bits_of_longest",
    "integer_row",
    "lowest_terms",
    "negated",
    "primitive_row",
    "row_from_entries",
    "scaled_rows",
    "sparse_row",
    "substitute",
]


class SparseForm(NamedTuple):
    """An integer linear form over the symbols 1, coordinates and atoms, in this order.

    Attributes
    ----------
    columns
        The symbols with a coefficient that is not 0, ascending; symbol 0 is the constant 1.
    numerators
        Their coefficients.
    """

    columns: tuple[int, ...]
    numerators: tuple[int, ...]


#: Rows of integers and their common denominator.
RationalForms: TypeAlias = tuple[list[SparseForm], int]

ZERO = SparseForm((), ())


def row_from_entries(entries: Mapping[int, int]) -> SparseForm:
    """Return the form with the given coefficients by column; zeros are dropped."""
    kept = sorted((column, entry) for column, entry in entries.items() if entry)
    return SparseForm(tuple(column for column, _ in kept), tuple(entry for _, entry in kept))


def integer_row(entries: Mapping[int, Fraction]) -> SparseForm:
    """Return a positive multiple of a form with rational coefficients, given by column."""
    common = math.lcm(*(entry.denominator for entry in entries.values()))
    return row_from_entries({column: int(entry * common) for column, entry in entries.items()})


def negated(row: SparseForm) -> SparseForm:
    """Return the form times -1."""
    return SparseForm(row.columns, tuple(-entry for entry in row.numerators))


def primitive_row(row: SparseForm) -> tuple[SparseForm, int]:
    """Return (h, g) with form = g h, g > 0, and coefficients of h without a common divisor."""
    divisor = math.gcd(*row.numerators)
    if divisor == 1:
        return row, 1
    return SparseForm(row.columns, tuple(entry // divisor for entry in row.numerators)), divisor


def sparse_row(row: Sequence[int]) -> SparseForm:
    """Return the form with the given list of all coefficients."""
    return SparseForm(tuple(compress(range(len(row)), row)), tuple(filter(None, row)))


def _dense_row(row: SparseForm, place: Mapping[int, int], factor: int) -> list[int]:
    """Return factor · form as a list, column j at place[j]; others are dropped."""
    line = [0] * len(place)
    for column, entry in zip(*row, strict=True):
        if column in place:
            line[place[column]] = entry * factor
    return line


def add_multiple(sums: dict[int, int], row: SparseForm, factor: int) -> None:
    """Add factor · form to the sums by column, in place."""
    for column, entry in zip(*row, strict=True):
        sums[column] = sums.get(column, 0) + factor * entry


def lowest_terms(rows: list[SparseForm], denominator: int) -> RationalForms:
    """Return the same rational rows over the least denominator.

    Without this step the numbers grow from layer to layer.
    """
    divisor = math.gcd(denominator, *(math.gcd(*row.numerators) for row in rows))
    if divisor == 1:
        return rows, denominator
    return [
        SparseForm(row.columns, tuple(x // divisor for x in row.numerators)) for row in rows
    ], denominator // divisor


def scaled_rows(matrix: AnyMatrix, factor: int) -> list[SparseForm]:
    """Return the rows of numerators of a matrix, times a factor."""
    if isinstance(matrix, SparseMatrix):
        rows = [
            SparseForm(tuple(columns), tuple(entries))
            for columns, entries in matrix.rows_of_entries()
        ]
    else:
        rows = [sparse_row(row) for row in matrix.integer_rows()]
    return [
        SparseForm(row.columns, tuple(entry * factor for entry in row.numerators)) for row in rows
    ]


def add_product(
    sums: list[dict[int, int]], weights: list[SparseForm], rows: list[SparseForm], factor: int
) -> None:
    """Add factor · weights · rows to the sums, in place.

    Rows of one entry, which are by far the most frequent ones, cost one step for each weight.
    """
    single = {
        j: (row.columns[0], row.numerators[0] * factor)
        for j, row in enumerate(rows)
        if len(row.columns) == 1
    }
    for entries, weight in zip(sums, weights, strict=True):
        for j, w in zip(*weight, strict=True):
            if j in single:
                column, size = single[j]
                entries[column] = entries.get(column, 0) + w * size
    several = [j for j, row in enumerate(rows) if len(row.columns) > 1]
    if not several:
        return
    used = sorted({column for j in several for column in rows[j].columns})
    place = {column: k for k, column in enumerate(used)}
    table = [_dense_row(rows[j], place, factor) for j in several]
    position = {j: k for k, j in enumerate(several)}
    product = integer_product([_dense_row(weight, position, 1) for weight in weights], table)
    for entries, line in zip(sums, product, strict=True):
        for column, entry in zip(used, line, strict=True):
            if entry:
                entries[column] = entries.get(column, 0) + entry


def substitute(rows: Sequence[SparseForm], values: Mapping[int, SparseForm]) -> list[SparseForm]:
    """Return the rows with each symbol replaced by its value, which is a form again."""
    symbols = sorted({column for row in rows for column in row.columns})
    place = {symbol: j for j, symbol in enumerate(symbols)}
    sums: list[dict[int, int]] = [{} for _ in rows]
    weights = [
        SparseForm(tuple(place[column] for column in row.columns), row.numerators) for row in rows
    ]
    add_product(sums, weights, [values[symbol] for symbol in symbols], 1)
    return [row_from_entries(entries) for entries in sums]


def bits_of_longest(rows: Sequence[SparseForm]) -> int:
    """Return the number of bits of the longest coefficient of some rows."""
    return max((max(map(abs, row.numerators), default=0).bit_length() for row in rows), default=0)
