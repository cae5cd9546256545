"""What files of regions say about each region: the columns, for CSV and for Parquet.

The rows of a part of a complex become one piece of a file. A piece of CSV is text, a piece of
Parquet is a table of Arrow in the form in which Arrow sends tables; neither has the numbers of the
regions, which are added when the pieces are put together in order.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from polyrelu.complex.export import affine_maps_of_regions
from polyrelu.complex.interior_points import interior_points
from polyrelu.complex.polyhedral_complex import PolyhedralComplex
from polyrelu.errors import DomainError
from polyrelu.exact import format_rational
from polyrelu.support.arguments import expect_list
from polyrelu.support.parquet import packed_table

__all__ = ["COLUMNS", "NUMBER", "chosen_columns", "piece_of"]

#: The first column: the number of the region in the file, from 0.
NUMBER = "region"


@dataclass(frozen=True, slots=True)
class _Row:
    """A region: signs as text, and numbers that are computed when a column asks for them."""

    signs: str
    bounded: bool
    facets: int
    point: Sequence[Fraction]
    affine_map: Sequence[Sequence[Fraction]]

    @property
    def outputs(self) -> list[Fraction]:
        """The outputs at the point."""
        point = [*self.point, Fraction(1)]
        return [
            sum((a * x for a, x in zip(row, point, strict=True)), Fraction(0))
            for row in self.affine_map
        ]

    @property
    def largest(self) -> int:
        """The largest output at the point, the first one of several."""
        outputs = self.outputs
        return outputs.index(max(outputs))


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a file of regions: the kind of its entries (`support.parquet`), and these."""

    kind: str
    value: Callable[[_Row], Any]


#: The columns in order; docs/reference/tables.md describes them.
COLUMNS = {
    "signs": Column("text", lambda row: row.signs),
    "bounded": Column("truth", lambda row: row.bounded),
    "facets": Column("integer", lambda row: row.facets),
    "interior_point": Column("numbers", lambda row: row.point),
    "outputs": Column("numbers", lambda row: row.outputs),
    "largest": Column("integer", lambda row: row.largest),
    "affine_map": Column("rows", lambda row: row.affine_map),
}
_NEED_POINT = {"interior_point", "outputs", "largest"}
_NEED_MAP = {"affine_map", "outputs", "largest"}


def chosen_columns(names: object) -> tuple[str, ...]:
    """Return the columns of some names, in the order of the file; all of them for None.

    Examples
    --------
    >>> chosen_columns(["facets", "signs"])
    ('signs', 'facets')
    """
    if names is None:
        return tuple(COLUMNS)
    wanted = expect_list(names, "columns")
    for name in wanted:
        if name not in COLUMNS:
            raise DomainError(f"column {name!r}: choose from {', '.join(COLUMNS)}")
    return tuple(name for name in COLUMNS if name in wanted)


def piece_of(part: PolyhedralComplex, columns: Sequence[str], suffix: str) -> bytes:
    """Return the regions of a part as a piece of a file with the given suffix."""
    rows = _rows(part, set(columns))
    if suffix == ".csv":
        return _csv_piece(rows, columns)
    return _arrow_piece(rows, columns)


def _rows(part: PolyhedralComplex, columns: set[str]) -> Iterator[_Row]:
    """Yield the regions of a part; points and maps are empty where no column needs them."""
    count = part.num_regions
    nothing: Sequence[Any] = ()
    points = interior_points(part) if columns & _NEED_POINT else iter([nothing] * count)
    maps = affine_maps_of_regions(part) if columns & _NEED_MAP else iter([nothing] * count)
    offsets = part.facets(part.dimension)[0].tolist()
    bounded = part.bounded.tolist()
    signs = _sign_texts(part) if "signs" in columns else iter([""] * count)
    for index, (text, point, rows) in enumerate(zip(signs, points, maps, strict=True)):
        facets = offsets[index + 1] - offsets[index]
        yield _Row(text, bool(bounded[index]), facets, point, rows)


def _sign_texts(part: PolyhedralComplex) -> Iterator[str]:
    """Yield the signs of each region as `SignVector` prints them."""
    widths = part.network.widths[1 : part.network.num_hidden_layers + 1]
    borders = list(accumulate(widths, initial=0))
    for row in part.signs(part.dimension).tolist():
        letters = "".join("-0+"[sign + 1] for sign in row)
        yield "|".join(letters[start:end] for start, end in pairwise(borders))


def _csv_piece(rows: Iterator[_Row], columns: Sequence[str]) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for row in rows:
        writer.writerow(_text(COLUMNS[name], row) for name in columns)
    return stream.getvalue().encode("ascii")


def _text(column: Column, row: _Row) -> str:
    """Return an entry of CSV."""
    value = column.value(row)
    if column.kind == "rows":
        return "; ".join(" ".join(map(format_rational, entries)) for entries in value)
    if column.kind == "numbers":
        return " ".join(map(format_rational, value))
    return str(int(value)) if column.kind == "truth" else str(value)


def _arrow_piece(rows: Iterator[_Row], columns: Sequence[str]) -> bytes:
    entries: dict[str, list[Any]] = {name: [] for name in columns}
    for row in rows:
        for name, values in entries.items():
            values.append(_plain(COLUMNS[name], row))
    return packed_table({name: COLUMNS[name].kind for name in columns}, entries)


def _plain(column: Column, row: _Row) -> Any:
    """Return an entry of Parquet."""
    value = column.value(row)
    if column.kind == "rows":
        return [list(map(format_rational, entries)) for entries in value]
    return list(map(format_rational, value)) if column.kind == "numbers" else value
