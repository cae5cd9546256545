"""Sparse integer rows over symbols, the arithmetic of `forms`.

A row is a linear form over the symbols 1, coordinates and atoms; rows of a layer stand over one denominator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from polyrelu.exact import AnyMatrix, SparseMatrix, integer_product

__all__ = [
    "ZERO",
    "Rows",
    "SparseForm",
    "accumulate",
    "add_product",
    "integer_row",
    "longest",
    "lowest_terms",
    "negated",
    "primitive_row",
    "row_of",
    "scaled_rows",
    "sparse_row",
    "substituted",
]


class SparseForm(NamedTuple):
    """A sparse integer row over the symbols 1, coordinates, atoms (in this order, from 0); columns ascend."""

    columns: tuple[int, ...]
    numerators: tuple[int, ...]


Rows: TypeAlias = tuple[list[SparseForm], int]  # over one denominator


ZERO = SparseForm((), ())


def row_of(entries: Mapping[int, int]) -> SparseForm:
    """The row with some entries, by column."""
    kept = sorted((column, entry) for column, entry in entries.items() if entry)
    return SparseForm(tuple(column for column, _ in kept), tuple(entry for _, entry in kept))


def integer_row(entries: Mapping[int, Fraction]) -> SparseForm:
    """A positive multiple of a row of rational entries, given by column."""
    common = math.lcm(*(entry.denominator for entry in entries.values()))
    return row_of({column: int(entry * common) for column, entry in entries.items()})


def negated(row: SparseForm) -> SparseForm:
    """The row times -1."""
    return SparseForm(row.columns, tuple(-entry for entry in row.numerators))


def primitive_row(row: SparseForm) -> tuple[SparseForm, int]:
    """(h, g), row = g h, g > 0, the entries of h without a common divisor."""
    divisor = math.gcd(*row.numerators)
    if divisor == 1:
        return row, 1
    return SparseForm(row.columns, tuple(entry // divisor for entry in row.numerators)), divisor


def sparse_row(row: Sequence[int]) -> SparseForm:
    """The row of a list of all entries."""
    columns = tuple(j for j, entry in enumerate(row) if entry)
    return SparseForm(columns, tuple(row[j] for j in columns))


def _dense(row: SparseForm, place: Mapping[int, int], factor: int) -> list[int]:
    """The row as a list, column j at place[j], other columns left out."""
    line = [0] * len(place)
    for column, entry in zip(*row, strict=True):
        if column in place:
            line[place[column]] = entry * factor
    return line


def accumulate(sums: dict[int, int], row: SparseForm, factor: int) -> None:
    """Add a multiple of a row to sums by column."""
    for column, entry in zip(*row, strict=True):
        sums[column] = sums.get(column, 0) + factor * entry


def lowest_terms(rows: list[SparseForm], denominator: int) -> Rows:
    """The same numbers over the least denominator: they grow from layer to layer otherwise."""
    divisor = math.gcd(denominator, *(math.gcd(*row.numerators) for row in rows))
    if divisor == 1:
        return rows, denominator
    return [
        SparseForm(row.columns, tuple(x // divisor for x in row.numerators)) for row in rows
    ], denominator // divisor


def scaled_rows(matrix: AnyMatrix, factor: int) -> list[SparseForm]:
    """The numerators of a matrix, times a factor, row by row."""
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
    """Add factor · weights · rows. Rows of one entry, the most frequent ones, cost one step for each weight."""
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
    table = [_dense(rows[j], place, factor) for j in several]
    position = {j: k for k, j in enumerate(several)}
    product = integer_product([_dense(weight, position, 1) for weight in weights], table)
    for entries, line in zip(sums, product, strict=True):
        for column, entry in zip(used, line, strict=True):
            if entry:
                entries[column] = entries.get(column, 0) + entry


def substituted(rows: Sequence[SparseForm], values: Mapping[int, SparseForm]) -> list[SparseForm]:
    """Rows with values put in for their symbols."""
    symbols = sorted({column for row in rows for column in row.columns})
    place = {symbol: j for j, symbol in enumerate(symbols)}
    sums: list[dict[int, int]] = [{} for _ in rows]
    weights = [
        SparseForm(tuple(place[column] for column in row.columns), row.numerators) for row in rows
    ]
    add_product(sums, weights, [values[symbol] for symbol in symbols], 1)
    return [row_of(entries) for entries in sums]


def longest(rows: Sequence[SparseForm]) -> int:
    """The bits of the longest numerator."""
    return max((max(map(abs, row.numerators), default=0).bit_length() for row in rows), default=0)
