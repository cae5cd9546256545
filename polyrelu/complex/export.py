"""A complex as a file: JSON with everything exact, CSV with one line for each region, GraphML or GEXF with the dual
graph."""

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
from polyrelu.complex.polyhedral_complex import PolyhedralComplex
from polyrelu.complex.region_graph import RegionGraph
from polyrelu.errors import DomainError
from polyrelu.exact import format_rational
from polyrelu.network import AffineMap, SignVector, affine_map_table
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

FORMATS = (".json", ".csv", ".graphml", ".gexf")
REGION_FORMATS = (".csv", ".graphml", ".gexf")

_T = TypeVar("_T")


#: Called with the number of regions that are ready to be written.
Written = Callable[[int], None]


def save_complex(
    cells: PolyhedralComplex, name: str | Path, progress: Written | None = None
) -> None:
    """Write a complex in the format of the file's suffix, all of it or nothing.

    ``.json`` is described in ``schemas/complex.schema.json``. ``.csv`` has one line for each region: its number, signs,
    whether it is bounded, the number of facets, a point inside, the rows of [A | c] of its affine map x ↦ A x + c
    separated by ";", and whether the complex is complete. ``.graphml`` and ``.gexf`` are the
    dual graph, see `dual_graph`.

    Raises
    ------
    DomainError : another suffix.
    PolyreluError : the file cannot be written.

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
    path = Path(name)
    if path.suffix not in FORMATS:
        raise DomainError(
            f"{name}: a complex is written as {', '.join(FORMATS)}; choose one of these endings"
        )
    write_all([(path, _text(cells, path.suffix, progress))])


def _text(cells: PolyhedralComplex, suffix: str, progress: Written | None) -> str:
    if suffix == ".json":
        return layout(to_document(cells, progress))
    if suffix == ".csv":
        return _csv(_csv_lines(cells), cells.complete, progress)
    return graph_text(dual_graph(cells), suffix, cells.complete)


def graph_text(graph: nx.Graph, suffix: str, complete: bool) -> str:
    """Room-internal and for `polyrelu.breakpoints`: a graph as ``.graphml`` or ``.gexf``.

    GraphML says of the whole graph whether it is complete. GEXF has no attributes of graphs: there its
    name is "complete" or "incomplete". Its date is left out, so that equal graphs are equal files.
    """
    if suffix == ".graphml":
        graph.graph["complete"] = complete
        return "\n".join(nx.generate_graphml(graph))
    graph.graph["name"] = "complete" if complete else "incomplete"
    return re.sub(r' lastmodifieddate="[^"]*"', "", "\n".join(nx.generate_gexf(graph)), count=1)


def _counted(items: Iterable[_T], progress: Written | None) -> Iterator[_T]:
    for number, item in enumerate(items):
        if progress is not None:
            progress(number)
        yield item


def to_document(cells: PolyhedralComplex, progress: Written | None = None) -> dict[str, Any]:
    """The complex as a JSON document; see ``schemas/complex.schema.json``.

    Signs are texts of "+", "0" and "-", one letter for each entry of ``neurons`` or inequality of the domain. Vertices
    and directions are listed once; regions refer to them by number.
    """
    points: dict[tuple[str, ...], int] = {}
    directions: dict[tuple[str, ...], int] = {}
    dimensions = range(cells.lineality_dim, cells.dimension + 1)
    indices = _counted(range(cells.regions), progress)
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
                "facets": _lists(cells, k),
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
    vertices, rays = cells.vertices_and_rays(Cell(cells.dimension, index))
    found = [
        [table.setdefault(tuple(numbers_text(entries)), len(table)) for entries in rows]
        for table, rows in ((points, vertices), (directions, rays))
    ]
    return {"bounded": bool(cells.bounded[index]), "vertices": found[0], "directions": found[1]}


def numbers_text(entries: Sequence[Fraction] | Sequence[int]) -> list[str]:
    """Room-internal and for `polyrelu.breakpoints`: exact numbers as they stand in files."""
    return [format_rational(Fraction(entry)) for entry in entries]


def _lists(cells: PolyhedralComplex, dimension: int) -> list[list[int]]:
    offsets, entries = cells.facets(dimension)
    listed = entries.tolist()
    return [listed[start:stop] for start, stop in pairwise(offsets.tolist())]


def _letters(signs: list[int]) -> str:
    return "".join("-0+"[sign + 1] for sign in signs)


def save_regions(regions: RegionGraph, name: str | Path) -> None:
    """Write regions without their faces, as .csv, .graphml or .gexf; see `save_complex`.

    Raises
    ------
    DomainError : another suffix.
    PolyreluError : the file cannot be written.
    """
    path = Path(name)
    if path.suffix not in REGION_FORMATS:
        raise DomainError(
            f"{name}: regions are written as {', '.join(REGION_FORMATS)}; choose one of these endings"
        )
    if path.suffix in (".graphml", ".gexf"):
        text = graph_text(regions.graph, path.suffix, regions.complete)
    else:
        lines = (
            (
                one.signs,
                one.bounded,
                len(one.polyhedron.inequalities),
                one.interior_point,
                _rows(one.affine_map),
            )
            for one in regions.all_regions
        )
        text = _csv(lines, regions.complete, None)
    write_all([(path, text)])


#: Signs, whether it is bounded, its facets, a point inside, and the rows of [A | c], none if they are not known.
_CsvLine = tuple[SignVector, bool, int, Sequence[Fraction], Iterable[Sequence[Fraction]]]

#: Affine maps with about so many numbers are computed at a time: many, for regions share much of the work.
_BLOCK = 4_000_000


def _csv(regions: Iterable[_CsvLine], complete: bool, progress: Written | None) -> str:
    """One line for each region, see `save_complex`."""
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
    """The regions of an incomplete complex have no affine maps."""
    offsets = cells.facets(cells.dimension)[0]
    maps = _maps(cells) if cells.complete else repeat([])
    for index, (point, rows) in enumerate(zip(interior_points(cells), maps, strict=False)):
        facets = int(offsets[index + 1] - offsets[index])
        yield cells.signs_of_region(index), bool(cells.bounded[index]), facets, point, rows


def _maps(cells: PolyhedralComplex) -> Iterator[list[list[Fraction]]]:
    """[A | c] of all regions, some at a time."""
    active = cells.signs(cells.dimension) > 0
    block = max(1, _BLOCK // (cells.network.outputs * (cells.network.inputs + 1)))
    for start in range(0, cells.regions, block):
        denominator, table = affine_map_table(cells.network, active[start : start + block])
        for rows in table.tolist():
            yield [[Fraction(entry, denominator) for entry in row] for row in rows]


def _rows(found: AffineMap) -> list[tuple[Fraction, ...]]:
    return list(found.matrix.beside(found.offset).rows())
