"""A network's function from its breakpoint complex, the weights, and its affine map on one region.

Across a cell of codimension 1 the affine map changes by ω [n | β] (see `jumps`), so walking from region to region gives
all maps; a domain is convex, so every region is reached. The weights belong to a function if and only if the changes
along every closed way add up to 0: that is checked at every cell of codimension 1 that the walk did not use.

Source: the three-layer paper, Theorem 1.
"""

from __future__ import annotations

from fractions import Fraction

import networkx as nx

from polyrelu.breakpoints.jumps import BreakpointComplex
from polyrelu.complex.completeness import require_complete
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix
from polyrelu.network import AffineMap

__all__ = ["reconstruct"]

Rows = list[list[Fraction]]


def reconstruct(
    breakpoints: BreakpointComplex, region: int, affine_map: AffineMap
) -> list[AffineMap]:
    """The affine maps of all regions.

    Parameters
    ----------
    breakpoints : cells and weights; nothing else of the network is used.
    region, affine_map : the number of one region and the map on it. On a domain of lower dimension the other maps agree
        with those of the network on the domain if this one does.

    Raises
    ------
    DomainError : there is no such region, the map has another shape, or the weights are those of no function; the
        cells are incomplete or a part.

    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1], [1]], [0, -1]), ([[1, -2]], [0])]))
    >>> start = cells.locate([-1]).index
    >>> maps = reconstruct(breakpoint_complex(cells), start, cells.region(start).affine_map)
    >>> sorted(str(found.matrix) for found in maps)
    ['[-1]', '[0]', '[1]']
    """
    cells = breakpoints.cells
    require_complete(cells, "reconstruction")
    shape = (breakpoints.weights.shape[1], cells.network.inputs)
    if affine_map.matrix.shape != shape or not 0 <= region < cells.regions:
        got = f"region {region} with a map of shape {affine_map.matrix.shape}"
        raise DomainError(
            f"a map of shape {shape} on one of the {cells.regions} regions is needed, not {got}"
        )
    pairs = list(zip(breakpoints.plus.tolist(), breakpoints.minus.tolist(), strict=True))
    graph = nx.Graph()
    graph.add_nodes_from(range(cells.regions))
    graph.add_edges_from((*pair, {"position": position}) for position, pair in enumerate(pairs))
    maps: dict[int, Rows] = {
        region: [list(row) for row in affine_map.matrix.beside(affine_map.offset).rows()]
    }
    for known, new in nx.bfs_edges(graph, region):
        position = graph.edges[known, new]["position"]
        maps[new] = _changed(
            maps[known], breakpoints, position, 1 if new == pairs[position][0] else -1
        )
    for position, (plus, minus) in enumerate(pairs):
        if _changed(maps[minus], breakpoints, position, 1) != maps[plus]:
            raise DomainError(
                f"no function has these weights: they do not add up around the cell {breakpoints.facets[position]} "
                f"between the regions {plus} and {minus}"
            )
    return [_affine_map(maps[index]) for index in range(cells.regions)]


def _changed(rows: Rows, breakpoints: BreakpointComplex, position: int, sign: int) -> Rows:
    """The map on the other side of a cell of codimension 1."""
    form, divisor = breakpoints.forms[position].tolist(), breakpoints.divisors[position]
    factors = [sign * weight / divisor for weight in breakpoints.weights[position].tolist()]
    return [
        [entry + factor * x for entry, x in zip(row, form, strict=True)] if factor else row
        for row, factor in zip(rows, factors, strict=True)
    ]


def _affine_map(rows: Rows) -> AffineMap:
    whole = RationalMatrix.from_rows(rows)
    return AffineMap(
        whole.take(columns=range(whole.ncols - 1)), whole.take(columns=[whole.ncols - 1])
    )
