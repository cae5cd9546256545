"""A complex as a file: JSON with exact numbers, CSV with a line per region, or a graph.

`save_complex` writes complexes and `save_regions` writes region graphs; both write the file at once
or not at all. Other programs read the keys of JSON, which `schemas/complex.schema.json` fixes, the
columns of CSV and the attributes of graphs.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice, pairwise, repeat
from pathlib import Path
from typing import Any

import networkx as nx

from polyrelu.complex.cell import Cell
from polyrelu.complex.graphs import dual_graph
from polyrelu.complex.interior_points import interior_points, point_in
from polyrelu.complex.other_programs import PROGRAM_FORMATS, program_text
from polyrelu.complex.polyhedral_complex import PolyhedralComplex, expect_complex
from polyrelu.complex.region import Region
from polyrelu.complex.region_graph import RegionGraph
from polyrelu.errors import DomainError
from polyrelu.exact import format_rational
from polyrelu.network import SignVector, affine_map_table
from polyrelu.support.arguments import expect, expect_function, expect_path
from polyrelu.support.parquet import parquet_pieces
from polyrelu.support.progress import Progress, report, reported
from polyrelu.support.text_files import LazyList, layout_bytes, write_all
from polyrelu.support.typing import Signs

__all__ = [
    "FORMATS",
    "REGION_FORMATS",
    "affine_maps_of_regions",
    "graph_text",
    "numbers_text",
    "save_complex",
    "save_regions",
    "to_document",
]

#: Suffixes of the files that `save_complex` writes.
FORMATS = (".json", ".csv", ".parquet", ".graphml", ".gexf", *PROGRAM_FORMATS)
#: Suffixes of the files that `save_regions` writes.
REGION_FORMATS = (".csv", ".graphml", ".gexf")

#: Number of cells that are taken out of an array at a time.
_BLOCK = 4096
#: What `save_complex` and `save_regions` report.
_STAGE = "preparing the file"


def save_complex(
    cells: PolyhedralComplex, name: str | Path, *, progress: Progress | None = None
) -> None:
    """Write a complex to a file in the format of its suffix, all of it or nothing.

    `.json` is described in `schemas/complex.schema.json`. `.csv` has a line for each region: its
    number, its signs, whether it is bounded, the number of its facets, a point inside, the rows of
    [A | c] of its affine map x ↦ A x + c separated by ";", and whether the complex is complete.
    `.parquet` has a row for each cell of any dimension (docs/how-to/tables.md). `.graphml` and
    `.gexf` contain the dual graph, see `dual_graph`. `.polymake` and `.sage` are scripts that make
    the complex in these programs.

    Parameters
    ----------
    cells
        A complex; for an incomplete one the CSV file has no affine maps.
    name
        The name of the file; its suffix is one of .json, .csv, .parquet, .graphml, .gexf,
        .polymake and .sage.
    progress
        Called with a `polyrelu.support.ProgressStep` after each region, and for JSON while the text
        is written; graphs have no steps.

    Raises
    ------
    DomainError
        The file has another suffix.
    PolyreluError
        The file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[2]], [-1]), ([["1/3"]], [0])]))
    >>> with TemporaryDirectory() as folder:
    ...     save_complex(cells, f"{folder}/cells.csv")
    ...     print(Path(f"{folder}/cells.csv").read_text().rstrip())
    region,signs,bounded,facets,interior_point,affine_map,complete
    0,+,0,1,2,2/3 -1/3,1
    1,-,0,1,0,0 0,1
    """
    cells, path = expect_complex(cells), expect_path(name, "name")
    if path.suffix not in FORMATS:
        raise DomainError(
            f"{name}: a complex is written as {', '.join(FORMATS)}; choose one of these endings"
        )
    expect_function(progress, "progress")
    write_all([(path, _content(cells, path.suffix, progress))])


def _content(
    cells: PolyhedralComplex, suffix: str, progress: Progress | None
) -> str | Iterator[bytes]:
    if suffix == ".json":
        return _written(to_document(cells, progress), progress)
    if suffix == ".csv":
        return _csv(_csv_lines(cells, progress), cells.complete)
    if suffix == ".parquet":
        return parquet_pieces(_CELL_TABLE, _cell_parts(cells))
    if suffix in PROGRAM_FORMATS:
        return program_text(cells, suffix, progress)
    return graph_text(dual_graph(cells), suffix, cells.complete)


def _written(document: dict[str, Any], progress: Progress | None) -> Iterator[bytes]:
    """Yield a JSON file in parts of about a mebibyte, and report each of them."""
    for number, part in enumerate(layout_bytes(document), 1):
        yield part
        report(progress, "writing JSON", number, None, "MiB")


def graph_text(graph: nx.Graph, suffix: str, complete: bool) -> str:
    """Return the text of a `.graphml` or `.gexf` file of a graph.

    In GraphML the graph has an attribute `complete`. GEXF has no attributes of graphs; there the
    name of the graph is "complete" or "incomplete". The date is left out, so that equal graphs
    become equal files.
    """
    if suffix == ".graphml":
        graph.graph["complete"] = complete
        return "\n".join(nx.generate_graphml(graph))
    graph.graph["name"] = "complete" if complete else "incomplete"
    return re.sub(r' lastmodifieddate="[^"]*"', "", "\n".join(nx.generate_gexf(graph)), count=1)


def to_document(cells: PolyhedralComplex, progress: Progress | None = None) -> dict[str, Any]:
    """Return the complex as a document for `layout`; see `schemas/complex.schema.json`.

    Signs are texts of "+", "0" and "-", with a letter for each entry of `neurons` or for each
    inequality of the domain. Vertices and directions are listed once; regions refer to them by
    number.
    """
    points: dict[tuple[str, ...], int] = {}
    directions: dict[tuple[str, ...], int] = {}
    dimensions = range(cells.lineality_dim, cells.dimension + 1)
    indices = reported(range(cells.num_regions), progress, _STAGE, "regions")
    regions = [_region(cells, index, points, directions) for index in indices]
    return {
        "format": "polyrelu-complex",
        "version": 1,
        "network": cells.network.sha256,
        "domain": {
            "inequalities": [numbers_text(row) for row in cells.domain.inequalities],
            "equations": [numbers_text(row) for row in cells.domain.equations],
        },
        "complete": cells.complete,
        "neurons": [[neuron.layer, neuron.index] for neuron in cells.neurons],
        "f_vector": list(cells.f_vector),
        "lineality": [numbers_text(row) for row in cells.lineality],
        "vertices": LazyList(len(points), lambda: map(list, points)),
        "directions": LazyList(len(directions), lambda: map(list, directions)),
        "regions": LazyList(len(regions), lambda: map(_region_object, regions)),
        "cells": {
            str(k): {
                "signs": _letters(cells.signs(k)),
                "domain_signs": _letters(cells.constraint_signs(k)),
                "facets": _facet_lists(cells, k),
            }
            for k in dimensions
        },
    }


#: Whether a region is bounded, and the numbers of its vertices and directions.
_Region = tuple[bool, "array[int]", "array[int]"]


def _region(
    cells: PolyhedralComplex,
    index: int,
    points: dict[tuple[str, ...], int],
    directions: dict[tuple[str, ...], int],
) -> _Region:
    """A region by numbers of vertices and directions; new ones are added to the tables."""
    vertices, rays = cells.vertices_and_rays(Cell(cells.dimension, index))
    found = [
        array("q", [table.setdefault(tuple(numbers_text(entries)), len(table)) for entries in rows])
        for table, rows in ((points, vertices), (directions, rays))
    ]
    return bool(cells.bounded[index]), found[0], found[1]


def _region_object(region: _Region) -> dict[str, Any]:
    """The JSON object of a region."""
    bounded, vertices, directions = region
    return {"bounded": bounded, "vertices": list(vertices), "directions": list(directions)}


def numbers_text(entries: Sequence[Fraction] | Sequence[int]) -> list[str]:
    """Return exact numbers as texts, in the form in which they stand in files."""
    return [format_rational(Fraction(entry)) for entry in entries]


#: The columns of a Parquet file of cells.
_CELL_TABLE = {
    "dimension": "integer",
    "cell": "large",
    "signs": "text",
    "domain_signs": "text",
    "facets": "integers",
    "interior_point": "numbers",
}


def _cell_parts(cells: PolyhedralComplex) -> Iterator[dict[str, list[Any]]]:
    """The rows of a Parquet file of cells, in blocks."""
    for k in range(cells.lineality_dim, cells.dimension + 1):
        size = cells.size(k)
        rows = zip(
            _letters(cells.signs(k)),
            _letters(cells.constraint_signs(k)),
            _facet_lists(cells, k),
            (numbers_text(point_in(cells, cell)) for cell in cells.cells(k)),
            strict=True,
        )
        for first, last in _blocks(size):
            columns = [list(column) for column in zip(*islice(rows, last - first), strict=True)]
            numbers = list(range(first, last))
            columns = [[k] * len(numbers), numbers, *columns]
            yield dict(zip(_CELL_TABLE, columns, strict=True))


def _facet_lists(cells: PolyhedralComplex, dimension: int) -> LazyList[list[int]]:
    """The facets of each cell of a dimension."""
    offsets, entries = cells.facets(dimension)

    def lists() -> Iterator[list[int]]:
        """Yield the facets of one cell after the other."""
        for first, last in _blocks(len(offsets) - 1):
            ends = offsets[first : last + 1]
            listed = entries[ends[0] : ends[-1]].tolist()
            yield from (listed[start:stop] for start, stop in pairwise((ends - ends[0]).tolist()))

    return LazyList(len(offsets) - 1, lists)


def _letters(signs: Signs) -> LazyList[str]:
    """The signs of each cell as a text."""

    def texts() -> Iterator[str]:
        """Yield the signs of one cell after the other."""
        for first, last in _blocks(len(signs)):
            for row in signs[first:last].tolist():
                yield "".join("-0+"[sign + 1] for sign in row)

    return LazyList(len(signs), texts)


def _blocks(size: int) -> Iterator[tuple[int, int]]:
    """Cut range(size) into blocks of cells that are taken out of arrays at a time."""
    for start in range(0, size, _BLOCK):
        yield start, min(start + _BLOCK, size)


def save_regions(
    regions: RegionGraph, name: str | Path, *, progress: Progress | None = None
) -> None:
    """Write regions without their faces to a file, in the formats of `save_complex`.

    Parameters
    ----------
    regions
        A region graph, an incomplete one too.
    name
        The name of the file; its suffix is .csv, .graphml or .gexf.
    progress
        Called with a `polyrelu.support.ProgressStep` after each line of CSV; graphs have no steps.

    Raises
    ------
    DomainError
        The file has another suffix.
    PolyreluError
        The file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from polyrelu.complex import region_graph
    >>> from polyrelu.network import from_arrays
    >>> regions = region_graph(from_arrays([([[2]], [-1]), ([["1/3"]], [0])]))
    >>> with TemporaryDirectory() as folder:
    ...     save_regions(regions, f"{folder}/regions.csv")
    ...     print(Path(f"{folder}/regions.csv").read_text().splitlines()[0])
    region,signs,bounded,facets,interior_point,affine_map,complete
    """
    regions = expect(regions, RegionGraph, "regions", "region_graph(network, domain) makes one")
    path = expect_path(name, "name")
    expect_function(progress, "progress")
    if path.suffix not in REGION_FORMATS:
        raise DomainError(
            f"{name}: regions are written as {', '.join(REGION_FORMATS)}; "
            "choose one of these endings"
        )
    if path.suffix in (".graphml", ".gexf"):
        text = graph_text(regions.graph, path.suffix, regions.complete)
    else:
        regions_seen = reported(regions.all_regions, progress, _STAGE, "regions")
        text = _csv(map(_csv_line, regions_seen), regions.complete)
    write_all([(path, text)])


#: Signs of a region, whether it is bounded, the number of its facets, a point inside, and the rows
#: of [A | c], which are missing for regions of an incomplete complex.
_CsvLine = tuple[SignVector, bool, int, Sequence[Fraction], Iterable[Sequence[Fraction]]]

#: Approximate number of entries of the affine maps that are computed at a time. Large blocks are
#: faster, because regions share much of the work.
_ENTRIES_PER_BLOCK = 4_000_000


def _csv(regions: Iterable[_CsvLine], complete: bool) -> str:
    """The text of a CSV file with a line for each region, see `save_complex`."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(
        ["region", "signs", "bounded", "facets", "interior_point", "affine_map", "complete"]
    )
    for index, (signs, bounded, facets, point, rows) in enumerate(regions):
        coordinates = " ".join(map(format_rational, point))
        affine_map = "; ".join(" ".join(map(format_rational, row)) for row in rows)
        writer.writerow(
            [index, str(signs), int(bounded), facets, coordinates, affine_map, int(complete)]
        )
    return stream.getvalue().rstrip("\n")


def _csv_lines(cells: PolyhedralComplex, progress: Progress | None) -> Iterator[_CsvLine]:
    """The lines of a complex; regions of an incomplete complex have no affine maps."""
    offsets = cells.facets(cells.dimension)[0]
    maps = affine_maps_of_regions(cells) if cells.complete else repeat([])
    indices = reported(range(cells.num_regions), progress, _STAGE, "regions")
    for index, point, rows in zip(indices, interior_points(cells), maps, strict=False):
        facets = int(offsets[index + 1] - offsets[index])
        yield cells.signs_of_region(index), bool(cells.bounded[index]), facets, point, rows


def affine_maps_of_regions(cells: PolyhedralComplex) -> Iterator[list[list[Fraction]]]:
    """The rows of [A | c] of all regions in order, computed block by block."""
    active = cells.signs(cells.dimension) > 0
    block = max(
        1, _ENTRIES_PER_BLOCK // (cells.network.num_outputs * (cells.network.num_inputs + 1))
    )
    for start in range(0, cells.num_regions, block):
        denominator, table = affine_map_table(cells.network, active[start : start + block])
        for rows in table.tolist():
            yield [[Fraction(entry, denominator) for entry in row] for row in rows]


def _csv_line(region: Region) -> _CsvLine:
    """The line of a region of a region graph."""
    affine_map = region.affine_map
    return (
        region.signs,
        region.bounded,
        len(region.polyhedron.inequalities),
        region.interior_point,
        list(affine_map.matrix.beside(affine_map.offset).rows()),
    )
