"""The dependency graph of a piece-wise linear surface: which pieces bend at which others.

Its vertices are the pieces of the canonical form. Edges lead from a piece H to a piece H' of larger
order, in three versions:

* "meeting": H meets the closure of H' inside the domain. The main text of Phuong and Lampert (2020,
  section 6) asks for relint H ∩ cl H' ≠ ∅, their appendix (Definition A.5) for H ∩ cl H' ≠ ∅.
  These are the same: a piece g ∩ P with P open is open in the hyperplane g, so that relint H = H.
* "closures": cl H meets cl H' inside the domain, as at the end of their proof of Lemma A.17 (62).
* "bending": H' ends at H. There is a cell R of codimension 2 in H and in the closure of H' around
  which, on the side of H' of H, no other cell of the surface lies, and on the other side no cell of
  the surface lies in the hyperplane of H'.

Their Lemma A.18, that a path of length m forces the layer of its start to be at least m below the
last one, is true for "bending" and false for the other two (`docs/theory/foldsets.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Literal

import networkx as nx
import numpy as np

from polyrelu.complex import Cell, Subcomplex
from polyrelu.complex.interior_points import point_in
from polyrelu.foldsets.surfaces import FoldPiece, PiecewiseLinearSurface, expect_surface
from polyrelu.support.arguments import expect_choice, expect_count
from polyrelu.support.typing import IntegerRow, Point

__all__ = ["dependency_graph", "path_points", "paths_of_length"]

#: The versions of an edge.
Edges = Literal["meeting", "closures", "bending"]


def dependency_graph(surface: PiecewiseLinearSurface, *, edges: Edges = "meeting") -> nx.DiGraph:
    """Return the dependency graph of a surface, with a point for each edge.

    Parameters
    ----------
    surface
        A surface in canonical form.
    edges
        "meeting" for edges from H to H' where H meets the closure of H', as Phuong and Lampert
        define them; "closures" where their closures meet; "bending" where H' ends at H.

    Returns
    -------
    networkx.DiGraph
        The vertices are the numbers of the pieces in `surface.pieces`, with the attributes `order`,
        `hyperplane` and `units`. Edges have the attributes `cell`, a cell of the largest dimension
        where the two meet, and `point`, an exact point inside it.

    Notes
    -----
    Source: Phuong and Lampert (2020), Definition A.5; the corrected Lemma A.18 in
    `docs/theory/foldsets.md`.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.foldsets import canonical_surface, unit_fold_sets
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> graph = dependency_graph(canonical_surface(unit_fold_sets(canonical_complex(net))))
    >>> sorted(graph.edges)
    [(0, 3), (0, 4), (1, 2), (1, 4)]
    >>> [str(entry) for entry in graph.edges[0, 4]["point"]]
    ['1', '0']
    """
    surface = expect_surface(surface)
    expect_choice(edges, ("meeting", "closures", "bending"), "edges")
    graph = nx.DiGraph()
    for number, piece in enumerate(surface.pieces):
        graph.add_node(number, order=piece.order, hyperplane=piece.hyperplane, units=piece.units)
    closures = [surface.closure(piece) for piece in surface.pieces]
    inner = closures if edges == "closures" else _pieces(surface, closures)
    bends = _Bends(surface) if edges == "bending" else None
    for one, other in combinations(range(len(closures)), 2):
        if surface.pieces[one].order < surface.pieces[other].order:
            common = inner[one] & closures[other]
            if bends is None:
                found = _inside(common)
            else:
                found = bends.cells(common, surface.pieces[one], surface.pieces[other])
            if (cell := next(found, None)) is not None:
                graph.add_edge(one, other, cell=cell, point=point_in(surface.cells, cell))
    return graph


def paths_of_length(graph: nx.DiGraph, length: int) -> list[list[int]]:
    """Return, for each vertex where a directed path of a length starts, one such path.

    Parameters
    ----------
    graph
        A dependency graph, or another directed graph without cycles.
    length
        The number of edges of the paths.

    Returns
    -------
    list of list of int
        The paths as lists of vertices, by ascending start.

    Examples
    --------
    >>> import networkx as nx
    >>> paths_of_length(nx.DiGraph([(0, 2), (2, 3), (1, 3)]), 1)
    [[0, 2], [1, 3], [2, 3]]
    >>> paths_of_length(nx.DiGraph([(0, 2), (2, 3), (1, 3)]), 2)
    [[0, 2, 3]]
    """
    length = expect_count(length, "length")
    longest: dict[int, list[int]] = {}
    for vertex in reversed(list(nx.topological_sort(graph))):
        after = [longest[other] for other in sorted(graph.successors(vertex))]
        longest[vertex] = [vertex, *max(after, key=len, default=[])]
    return [
        longest[vertex][: length + 1] for vertex in sorted(graph) if len(longest[vertex]) > length
    ]


def path_points(graph: nx.DiGraph, path: Sequence[int]) -> tuple[Point, ...]:
    """Return the point of each edge of a path."""
    return tuple(graph.edges[edge]["point"] for edge in pairwise(path))


def _pieces(surface: PiecewiseLinearSurface, closures: list[Subcomplex]) -> list[Subcomplex]:
    """The cells of each piece: its closure without the closures of pieces of lower orders."""
    lower = [surface.box(order) for order in range(surface.order + 1)]
    found = []
    for piece, closure in zip(surface.pieces, closures, strict=True):
        pairs = zip(closure.masks, lower[piece.order - 1].masks, strict=True)
        found.append(Subcomplex(surface.cells, tuple(a & ~b for a, b in pairs)))
    return found


def _inside(part: Subcomplex) -> Iterator[Cell]:
    """Generate the cells of a part inside the domain, by descending dimension."""
    cells = part.cells
    for k in range(cells.dimension - 1, cells.lineality_dim - 1, -1):
        yield from (Cell(k, i) for i in np.flatnonzero(part.masks[k] & cells.inside(k)).tolist())


class _Bends:
    """The cells of codimension 1 of a surface around cells of codimension 2."""

    def __init__(self, surface: PiecewiseLinearSurface) -> None:
        self._cells = surface.cells
        self._around: dict[int, list[int]] = {}
        k = surface.cells.dimension - 1
        if k > surface.cells.lineality_dim:
            offsets, entries = surface.cells.facets(k)
            for facet in surface.part.indices(k).tolist():
                for ridge in entries[offsets[facet] : offsets[facet + 1]].tolist():
                    self._around.setdefault(ridge, []).append(facet)

    def cells(self, common: Subcomplex, early: FoldPiece, late: FoldPiece) -> Iterator[Cell]:
        """Generate the cells of codimension 2 at which the late piece ends at the early one."""
        own = set(late.facets.tolist())
        for cell in _inside(common):
            if cell.dimension == self._cells.dimension - 2:
                around = self._around[cell.index]
                sides = {facet: self._sign(early.hyperplane, facet) for facet in around}
                (side,) = {sides[facet] for facet in own.intersection(around)}
                near = {facet for facet in around if sides[facet] == side}
                beyond = (facet for facet in around if sides[facet] == -side)
                if near <= own and all(self._sign(late.hyperplane, facet) for facet in beyond):
                    yield cell

    def _sign(self, row: IntegerRow, facet: int) -> int:
        """The sign of a row [a | b] on a cell of codimension 1 that its hyperplane does not cut."""
        point = point_in(self._cells, Cell(self._cells.dimension - 1, facet))
        value = sum((a * x for a, x in zip(row, point, strict=False)), Fraction(row[-1]))
        return (value > 0) - (value < 0)
