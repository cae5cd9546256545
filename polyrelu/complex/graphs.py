"""The complex as graphs: regions and their common facets, all cells and their facets, regions of linearity."""

from __future__ import annotations

import networkx as nx
import numpy as np

from polyrelu.complex.cell import Cell
from polyrelu.complex.polyhedral_complex import PolyhedralComplex

__all__ = ["dual_graph", "face_poset", "linear_regions"]


def dual_graph(cells: PolyhedralComplex) -> nx.Graph:
    """Regions as nodes 0, 1, …, an edge for every cell of codimension 1 between two of them.

    Nodes have the attributes ``signs`` (text, layers separated by "|" as everywhere) and ``bounded``, edges ``facet``,
    the number of the cell between.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> graph = dual_graph(canonical_complex(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])))
    >>> sorted(degree for _, degree in graph.degree())
    [1, 1, 2]
    """
    graph = nx.Graph()
    for index in range(cells.regions):
        graph.add_node(
            index, signs=str(cells.signs_of_region(index)), bounded=bool(cells.bounded[index])
        )
    for one, other, facet in cells.adjacency().tolist():
        graph.add_edge(one, other, facet=facet)
    return graph


def face_poset(cells: PolyhedralComplex) -> nx.DiGraph:
    """All cells, with an edge from every cell to each of its facets (the Hasse diagram of the face order)."""
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
    """The regions, merged where neighbours have the same affine map: sorted lists of region numbers.

    A set of the result is connected through facets, and the network is one affine map on it; it need not be convex.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1], [1]], [0, 0, -1]), ([[1, -1, 0]], [0])])   # x, with three neurons
    >>> linear_regions(canonical_complex(net))
    [[0, 1, 2]]
    """
    network = cells.network
    maps = list(network.affine_maps(cells.signs_of_region(index) for index in range(cells.regions)))
    graph = nx.Graph()
    graph.add_nodes_from(range(cells.regions))
    graph.add_edges_from(
        (one, other) for one, other, _ in cells.adjacency().tolist() if maps[one] == maps[other]
    )
    return sorted(sorted(part) for part in nx.connected_components(graph))
