"""A complex as a file: JSON with exact numbers, CSV with a line per region, or a graph.

`save_complex` writes complexes and `save_regions` writes region graphs; both write the file at once
or not at all. Other programs read the keys of JSON, which `schemas/complex.schema.json` fixes, the
columns of CSV and the attributes of graphs.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any, TypeVar

import networkx as nx

from polyrelu.complex.cell import Cell
from polyrelu.complex.graphs import dual_graph
from polyrelu.complex.interior_points import interior_points
from polyrelu.complex.polyhedral_complex import PolyhedralComplex, expect_complex
from polyrelu.complex.region import Region
from polyrelu.complex.region_graph import RegionGraph
from polyrelu.errors import DomainError
from polyrelu.exact import format_rational
from polyrelu.network import SignVector, affine_map_table
from polyrelu.support.arguments import expect, expect_path
from polyrelu.support.text_files import layout, write_all

__all__ = [
    "FORMATS",
    "REGION_FORMATS",
    "graph_text",
    "numbers_text",
    "save_complex",
    "save_regions",
    "to_document",
]

#: Suffixes of the files that `save_complex` writes.
FORMATS = (".json", ".csv", ".graphml", ".gexf")
#: Suffixes of the files that `save_regions` writes.
REGION_FORMATS = (".csv", ".graphml", ".gexf")

_T = TypeVar("_T")

#: Called with the number of regions that are ready to be written.
RegionProgress = Callable[[int], None]


def save_complex(
    cells: PolyhedralComplex, name: str | Path, *, progress: RegionProgress | None = None
) -> None:
    """Write a complex to a file in the format of its suffix, all of it or nothing.

    `.json` is described in `schemas/complex.schema.json`. `.csv` has a line for each region: its
    number, its signs, whether it is bounded, the number of its facets, a point inside, the rows of
    [A | c] of its affine map x ↦ A x + c separated by ";", and whether the complex is complete.
    `.graphml` and `.gexf` contain the dual graph, see `dual_graph`.

    Parameters
    ----------
    cells
        A complex; for an incomplete one the CSV file has no affine maps.
    name
        The name of the file; its suffix is one of .json, .csv, .graphml and .gexf.
    progress
        Called with the number of regions that are ready to be written.

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
    write_all([(path, _text(cells, path.suffix, progress))])


def _text(cells: PolyhedralComplex, suffix: str, progress: RegionProgress | None) -> str:
    if suffix == ".json":
        return layout(to_document(cells, progress))
    if suffix == ".csv":
        return _csv(_csv_lines(cells), cells.complete, progress)
    return graph_text(dual_graph(cells), suffix, cells.complete)


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


def _counted(items: Iterable[_T], progress: RegionProgress | None) -> Iterator[_T]:
    """The items; before each of them `progress` is called with its number."""
    for number, item in enumerate(items):
        if progress is not None:
            progress(number)
        yield item


def to_document(cells: PolyhedralComplex, progress: RegionProgress | None = None) -> dict[str, Any]:
    """Return the complex as a JSON document; see `schemas/complex.schema.json`.

    Signs are texts of "+", "0" and "-", with a letter for each entry of `neurons` or for each
    inequality of the domain. Vertices and directions are listed once; regions refer to them by
    number.
    """
    points: dict[tuple[str, ...], int] = {}
    directions: dict[tuple[str, ...], int] = {}
    dimensions = range(cells.lineality_dim, cells.dimension + 1)
    indices = _counted(range(cells.num_regions), progress)
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
        "vertices": [list(point) for point in points],
        "directions": [list(direction) for direction in directions],
        "regions": regions,
        "cells": {
            str(k): {
                "signs": [_letters(row) for row in cells.signs(k).tolist()],
                "domain_signs": [_letters(row) for row in cells.constraint_signs(k).tolist()],
                "facets": _facet_lists(cells, k),
            }
            for k in dimensions
        },
    }


def _region(
    cells: PolyhedralComplex,
    index: int,
    points: dict[tuple[str, ...], int],
    directions: dict[tuple[str, ...], int],
) -> dict[str, Any]:
    """A region by numbers of vertices and directions; new ones are added to the tables."""
    vertices, rays = cells.vertices_and_rays(Cell(cells.dimension, index))
    found = [
        [table.setdefault(tuple(numbers_text(entries)), len(table)) for entries in rows]
        for table, rows in ((points, vertices), (directions, rays))
    ]
    return {"bounded": bool(cells.bounded[index]), "vertices": found[0], "directions": found[1]}


def numbers_text(entries: Sequence[Fraction] | Sequence[int]) -> list[str]:
    """Return exact numbers as texts, in the form in which they stand in files."""
    return [format_rational(Fraction(entry)) for entry in entries]


def _facet_lists(cells: PolyhedralComplex, dimension: int) -> list[list[int]]:
    offsets, entries = cells.facets(dimension)
    listed = entries.tolist()
    return [listed[start:stop] for start, stop in pairwise(offsets.tolist())]


def _letters(signs: list[int]) -> str:
    return "".join("-0+"[sign + 1] for sign in signs)


def save_regions(regions: RegionGraph, name: str | Path) -> None:
    """Write regions without their faces to a file, in the formats of `save_complex`.

    Parameters
    ----------
    regions
        A region graph, an incomplete one too.
    name
        The name of the file; its suffix is .csv, .graphml or .gexf.

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
    if path.suffix not in REGION_FORMATS:
        raise DomainError(
            f"{name}: regions are written as {', '.join(REGION_FORMATS)}; "
            "choose one of these endings"
        )
    if path.suffix in (".graphml", ".gexf"):
        text = graph_text(regions.graph, path.suffix, regions.complete)
    else:
        lines = map(_csv_line, regions.all_regions)
        text = _csv(lines, regions.complete, None)
    write_all([(path, text)])


#: Signs of a region, whether it is bounded, the number of its facets, a point inside, and the rows
#: of [A | c], which are missing for regions of an incomplete complex.
_CsvLine = tuple[SignVector, bool, int, Sequence[Fraction], Iterable[Sequence[Fraction]]]

#: Approximate number of entries of the affine maps that are computed at a time. Large blocks are
#: faster, because regions share much of the work.
_ENTRIES_PER_BLOCK = 4_000_000


def _csv(regions: Iterable[_CsvLine], complete: bool, progress: RegionProgress | None) -> str:
    """The text of a CSV file with a line for each region, see `save_complex`."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(
        ["region", "signs", "bounded", "facets", "interior_point", "affine_map", "complete"]
    )
    for index, (signs, bounded, facets, point, rows) in enumerate(_counted(regions, progress)):
        coordinates = " ".join(map(format_rational, point))
        affine_map = "; ".join(" ".join(map(format_rational, row)) for row in rows)
        writer.writerow(
            [index, str(signs), int(bounded), facets, coordinates, affine_map, int(complete)]
        )
    return stream.getvalue().rstrip("\n")


def _csv_lines(cells: PolyhedralComplex) -> Iterator[_CsvLine]:
    """The lines of a complex; regions of an incomplete complex have no affine maps."""
    offsets = cells.facets(cells.dimension)[0]
    maps = _maps(cells) if cells.complete else repeat([])
    for index, (point, rows) in enumerate(zip(interior_points(cells), maps, strict=False)):
        facets = int(offsets[index + 1] - offsets[index])
        yield cells.signs_of_region(index), bool(cells.bounded[index]), facets, point, rows


def _maps(cells: PolyhedralComplex) -> Iterator[list[list[Fraction]]]:
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
