"""The complex as graphs: regions and their common facets, cells and their facets, linear regions.

Exports, the command line and the tests use these graphs. They are `networkx` graphs with plain
Python numbers, so that they can be written to files as they are.
"""

from __future__ import annotations

import networkx as nx
import numpy as np

from polyrelu.complex.cell import Cell
from polyrelu.complex.polyhedral_complex import PolyhedralComplex, expect_complex
from polyrelu.errors import DomainError

__all__ = ["dual_graph", "face_poset", "linear_regions"]


def dual_graph(cells: PolyhedralComplex) -> nx.Graph:
    """Return the graph of the regions, joined where a cell of codimension 1 lies between them.

    Parameters
    ----------
    cells
        A complex, an incomplete one too.

    Returns
    -------
    networkx.Graph
        Nodes 0, 1, … are the regions, with the attributes `signs` (a text with layers separated by
        "|") and `bounded`. Edges have the attribute `facet`, the index of the cell between the two
        regions.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])
    >>> sorted(degree for _, degree in dual_graph(canonical_complex(net)).degree())
    [1, 1, 2]
    """
    cells = expect_complex(cells)
    graph = nx.Graph()
    for index in range(cells.num_regions):
        graph.add_node(
            index, signs=str(cells.signs_of_region(index)), bounded=bool(cells.bounded[index])
        )
    facets = cells.common_facets().tolist()
    for (one, other), facet in zip(cells.adjacency().tolist(), facets, strict=True):
        graph.add_edge(one, other, facet=facet)
    return graph


def face_poset(cells: PolyhedralComplex) -> nx.DiGraph:
    """Return the Hasse diagram of the face order: edges lead from cells to their facets.

    Parameters
    ----------
    cells
        A complex, an incomplete one too.

    Returns
    -------
    networkx.DiGraph
        The nodes are all cells, named by `Cell`. Faces at infinity are left out.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])
    >>> poset = face_poset(canonical_complex(net))
    >>> len(poset), poset.number_of_edges()
    (5, 4)
    """
    cells = expect_complex(cells)
    graph = nx.DiGraph()
    for dimension in range(cells.lineality_dim, cells.dimension + 1):
        graph.add_nodes_from(cells.cells(dimension))
        if dimension > cells.lineality_dim:
            offsets, entries = cells.facets(dimension)
            owners = np.repeat(np.arange(cells.size(dimension)), np.diff(offsets))
            for owner, face in zip(owners.tolist(), entries.tolist(), strict=True):
                graph.add_edge(Cell(dimension, owner), Cell(dimension - 1, face))
    return graph


def linear_regions(cells: PolyhedralComplex) -> list[list[int]]:
    """Merge the regions of a complex where neighbours have the same affine map.

    Parameters
    ----------
    cells
        A complete complex.

    Returns
    -------
    list of list of int
        Sorted lists of region indices. The regions of a list are connected through facets, and the
        network is one affine map on their union, which need not be convex.

    Raises
    ------
    DomainError
        The complex is incomplete.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1], [1]], [0, 0, -1]), ([[1, -1, 0]], [0])])   # f(x) = x
    >>> linear_regions(canonical_complex(net))
    [[0, 1, 2]]
    """
    network = expect_complex(cells).network
    if not cells.complete:
        raise DomainError("the complex is incomplete: the network is not affine on its cells")
    maps = list(
        network.affine_maps(cells.signs_of_region(index) for index in range(cells.num_regions))
    )
    graph = nx.Graph()
    graph.add_nodes_from(range(cells.num_regions))
    graph.add_edges_from(
        (one, other) for one, other in cells.adjacency().tolist() if maps[one] == maps[other]
    )
    return sorted(sorted(part) for part in nx.connected_components(graph))
