"""Breakpoint facets as a file: JSON with everything exact, CSV with a line for each facet, GraphML or GEXF with the
dual graph whose edges carry the weights."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import networkx as nx

from polyrelu.breakpoints.jumps import BreakpointComplex, TropicalWeight
from polyrelu.complex.export import graph_text, numbers_text
from polyrelu.complex.graphs import dual_graph
from polyrelu.errors import DomainError
from polyrelu.exact import format_rational
from polyrelu.support.text_files import layout, write_all

__all__ = ["BREAKPOINT_FORMATS", "breakpoints_document", "save_breakpoints", "weighted_dual_graph"]

BREAKPOINT_FORMATS = (".json", ".csv", ".graphml", ".gexf")


def breakpoints_document(breakpoints: BreakpointComplex) -> dict[str, Any]:
    """All cells of codimension 1 between two regions, with their weights, as a JSON document.

    See ``schemas/breakpoints.schema.json``. Numbers are exact, as text; facets and regions have the numbers of the
    complex (`polyrelu.complex.save_complex` writes it).

    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[2, 4]], [1]), ([["1/3"], [0]], [0, 0])])
    >>> (facet,) = breakpoints_document(breakpoint_complex(canonical_complex(net)))["facets"]
    >>> facet["normal"], facet["offset"], facet["weight"], facet["visible"]
    (['1', '2'], '1/2', ['2/3', '0'], True)
    """
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
        "outputs": cells.network.outputs,
        "regions": cells.regions,
        "facets": [_facet(facet) for facet in breakpoints],
    }


def save_breakpoints(breakpoints: BreakpointComplex, name: str | Path) -> None:
    """Write the weights in the format of the file's suffix, all of them or nothing.

    ``.json`` is `breakpoints_document`. ``.csv`` has a line for each facet: its number, the regions on its two sides,
    normal, offset and weight (numbers separated by blanks), and whether it is visible. ``.graphml`` and ``.gexf`` are
    `weighted_dual_graph`.

    Raises
    ------
    DomainError : another suffix.
    PolyreluError : the file cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> breakpoints = breakpoint_complex(canonical_complex(from_arrays([([[2, 4]], [1]), ([["1/3"]], [0])])))
    >>> with TemporaryDirectory() as folder:
    ...     save_breakpoints(breakpoints, f"{folder}/weights.csv")
    ...     print(Path(f"{folder}/weights.csv").read_text().rstrip())
    facet,plus,minus,normal,offset,weight,visible
    0,0,1,1 2,1/2,2/3,1
    """
    path = Path(name)
    if path.suffix not in BREAKPOINT_FORMATS:
        raise DomainError(
            f"{name}: breakpoints are written as {', '.join(BREAKPOINT_FORMATS)}; choose one of these endings"
        )
    if path.suffix == ".json":
        text = layout(breakpoints_document(breakpoints))
    elif path.suffix == ".csv":
        text = _csv(breakpoints)
    else:
        text = graph_text(weighted_dual_graph(breakpoints), path.suffix, complete=True)
    write_all([(path, text)])


def weighted_dual_graph(breakpoints: BreakpointComplex) -> nx.Graph:
    """The dual graph of the complex; edges have the attributes ``facet``, ``tropical_weight`` (exact, as text, one
    number for each output) and ``visible``.

    Not ``weight``, which graph programs, and GEXF itself, take for a float.

    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[2, 4]], [1]), ([["1/3"], [0]], [0, 0])])
    >>> list(weighted_dual_graph(breakpoint_complex(canonical_complex(net))).edges(data=True))
    [(0, 1, {'facet': 0, 'tropical_weight': '2/3 0', 'visible': True})]
    """
    graph = dual_graph(breakpoints.cells)
    for facet in breakpoints:
        edge = graph.edges[facet.plus, facet.minus]
        edge["tropical_weight"] = " ".join(numbers_text(facet.weight))
        edge["visible"] = facet.visible
    return graph


def _facet(facet: TropicalWeight) -> dict[str, Any]:
    return {
        "facet": facet.facet.index,
        "plus": facet.plus,
        "minus": facet.minus,
        "normal": numbers_text(facet.normal),
        "offset": format_rational(facet.offset),
        "weight": numbers_text(facet.weight),
        "visible": facet.visible,
    }


def _csv(breakpoints: BreakpointComplex) -> str:
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
