"""Breakpoint facets as files: exact JSON, CSV with a line for each facet, and weighted dual graphs.

The graphs are GraphML or GEXF files of the dual graph, whose edges carry the weights.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import networkx as nx

from polyrelu.breakpoints.tropical_weights import (
    BreakpointComplex,
    TropicalWeight,
    expect_breakpoints,
)
from polyrelu.complex import PolyhedralComplex
from polyrelu.complex.export import graph_text, numbers_text
from polyrelu.complex.graphs import dual_graph
from polyrelu.errors import DomainError
from polyrelu.exact import format_rational
from polyrelu.support.arguments import expect_path
from polyrelu.support.parquet import parquet_pieces
from polyrelu.support.text_files import layout_bytes, write_all

__all__ = ["BREAKPOINT_FORMATS", "breakpoints_document", "save_breakpoints", "weighted_dual_graph"]

#: The suffixes of the files that `save_breakpoints` writes.
BREAKPOINT_FORMATS = (".json", ".csv", ".parquet", ".graphml", ".gexf")


def breakpoints_document(breakpoints: BreakpointComplex) -> dict[str, Any]:
    """Return all cells of codimension 1 between two regions, with weights, as a JSON document.

    The schema is ``schemas/breakpoints.schema.json``. Numbers are exact, as text. Facets and
    regions have the numbers of the complex, which `polyrelu.complex.save_complex` writes.

    Parameters
    ----------
    breakpoints
        The weights of a complex.

    Returns
    -------
    dict
        The document.

    Examples
    --------
    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[2, 4]], [1]), ([["1/3"], [0]], [0, 0])])
    >>> (facet,) = breakpoints_document(breakpoint_complex(canonical_complex(net)))["facets"]
    >>> facet["normal"], facet["offset"], facet["weight"], facet["visible"]
    (['1', '2'], '1/2', ['2/3', '0'], True)
    """
    breakpoints = expect_breakpoints(breakpoints)
    cells = breakpoints.cells
    return {
        "format": "polyrelu-breakpoints",
        "version": 1,
        "network": cells.network.sha256,
        "domain": {
            "inequalities": [numbers_text(row) for row in cells.domain.inequalities],
            "equations": [numbers_text(row) for row in cells.domain.equations],
        },
        "dimension": cells.dimension,
        "outputs": cells.network.num_outputs,
        "regions": cells.num_regions,
        "piece": _piece(cells),
        "facets": [_facet(facet) for facet in breakpoints],
    }


def save_breakpoints(breakpoints: BreakpointComplex, name: str | Path) -> None:
    """Write the weights to a file in the format of its suffix, all of them or nothing.

    A ``.json`` file contains `breakpoints_document`. A ``.csv`` file has a line for each facet:
    its number, the regions on its two sides, normal, offset and weight (numbers separated by
    blanks), and whether it is visible; a ``.parquet`` file has the same columns. The files
    ``.graphml`` and ``.gexf`` contain `weighted_dual_graph`.

    Parameters
    ----------
    breakpoints
        The weights of a complex.
    name
        The path of the file.

    Raises
    ------
    DomainError
        The suffix is none of the `BREAKPOINT_FORMATS`.
    PolyreluError
        The file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[2, 4]], [1]), ([["1/3"]], [0])]))
    >>> with TemporaryDirectory() as folder:
    ...     save_breakpoints(breakpoint_complex(cells), f"{folder}/weights.csv")
    ...     print(Path(f"{folder}/weights.csv").read_text().rstrip())
    facet,plus,minus,normal,offset,weight,visible
    0,0,1,1 2,1/2,2/3,1
    """
    breakpoints, path = expect_breakpoints(breakpoints), expect_path(name, "name")
    if path.suffix not in BREAKPOINT_FORMATS:
        raise DomainError(
            f"{name}: breakpoints are written as {', '.join(BREAKPOINT_FORMATS)}; choose one of "
            "these endings"
        )
    if path.suffix == ".json":
        content: str | Iterator[bytes] = layout_bytes(breakpoints_document(breakpoints))
    elif path.suffix == ".csv":
        content = _csv(breakpoints)
    elif path.suffix == ".parquet":
        content = parquet_pieces(_TABLE, _parts(breakpoints))
    else:
        content = graph_text(weighted_dual_graph(breakpoints), path.suffix, complete=True)
    write_all([(path, content)])


def weighted_dual_graph(breakpoints: BreakpointComplex) -> nx.Graph:
    """Build the dual graph of the complex with the weights at its edges.

    Each edge has the attributes ``facet``, ``tropical_weight`` (exact, as text, one number for
    each output) and ``visible``. The name ``weight`` is avoided because graph programs, and GEXF
    itself, take it for a float.

    Parameters
    ----------
    breakpoints
        The weights of a complex.

    Returns
    -------
    networkx.Graph
        A graph whose nodes are the regions.

    Examples
    --------
    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[2, 4]], [1]), ([["1/3"], [0]], [0, 0])])
    >>> list(weighted_dual_graph(breakpoint_complex(canonical_complex(net))).edges(data=True))
    [(0, 1, {'facet': 0, 'tropical_weight': '2/3 0', 'visible': True})]
    """
    graph = dual_graph(expect_breakpoints(breakpoints).cells)
    for facet in breakpoints:
        edge = graph.edges[facet.plus, facet.minus]
        edge["tropical_weight"] = " ".join(numbers_text(facet.weight))
        edge["visible"] = facet.visible
    return graph


def _piece(cells: PolyhedralComplex) -> dict[str, Any]:
    """The affine function on region 0: with the jumps it determines the function everywhere."""
    found = cells.region(0).affine_map
    return {
        "region": 0,
        "linear": [numbers_text(row) for row in found.matrix.rows()],
        "constant": numbers_text(list(found.offset.entries())),
    }


def _facet(facet: TropicalWeight) -> dict[str, Any]:
    """The JSON object of a facet."""
    return {
        "facet": facet.facet.index,
        "plus": facet.plus,
        "minus": facet.minus,
        "normal": numbers_text(facet.normal),
        "offset": format_rational(facet.offset),
        "weight": numbers_text(facet.weight),
        "visible": facet.visible,
    }


#: The columns of a Parquet file of weights, and how many rows it has in a group.
_TABLE = {
    "facet": "large",
    "plus": "large",
    "minus": "large",
    "normal": "numbers",
    "offset": "text",
    "weight": "numbers",
    "visible": "truth",
}
_BLOCK = 4096


def _parts(breakpoints: BreakpointComplex) -> Iterator[dict[str, list[Any]]]:
    """The rows of a Parquet file of weights, in blocks."""
    facets = iter(breakpoints)
    while block := [_facet(facet) for facet in islice(facets, _BLOCK)]:
        yield {name: [row[name] for row in block] for name in _TABLE}


def _csv(breakpoints: BreakpointComplex) -> str:
    """The text of the CSV file, without the last line break."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["facet", "plus", "minus", "normal", "offset", "weight", "visible"])
    for facet in breakpoints:
        normal, weight = (" ".join(numbers_text(row)) for row in (facet.normal, facet.weight))
        numbers = (facet.facet.index, facet.plus, facet.minus)
        writer.writerow(
            [*numbers, normal, format_rational(facet.offset), weight, int(facet.visible)]
        )
    return stream.getvalue().rstrip("\n")
