"""The function of a network from its breakpoint complex, the weights, and one affine map.

Across a cell of codimension 1 the affine map changes by ω [n | β] (`tropical_weights`), so a search
from region to region computes all maps; a domain is convex, so it reaches every region. The weights
belong to a function if and only if the changes along every closed path add up to 0. This is checked
at every cell of codimension 1 that the search did not use.

Source: the three-layer paper (arXiv 2605.18319), Theorem 1.
"""

from __future__ import annotations

from fractions import Fraction

import networkx as nx

from polyrelu.breakpoints.tropical_weights import BreakpointComplex, expect_breakpoints
from polyrelu.complex.completeness import require_complete
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix
from polyrelu.network import AffineMap
from polyrelu.support.arguments import expect, expect_integer

__all__ = ["reconstruct"]

#: The rows [A | c] of an affine map, one for each output.
Rows = list[list[Fraction]]


def reconstruct(
    breakpoints: BreakpointComplex, region: int, affine_map: AffineMap
) -> list[AffineMap]:
    """Compute the affine maps of all regions from the weights and one affine map.

    Parameters
    ----------
    breakpoints
        Cells and weights; no other information on the network is used.
    region
        The number of a region.
    affine_map
        The map on this region. On a domain of lower dimension the results agree with the maps of
        the network on the domain if this map does.

    Returns
    -------
    list of AffineMap
        The map on each region.

    Raises
    ------
    DomainError
        There is no such region, the map has another shape, or the weights belong to no function;
        or the complex is incomplete, or a part of one.

    Notes
    -----
    Source: the three-layer paper (arXiv 2605.18319), Theorem 1.

    Examples
    --------
    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1], [1]], [0, -1]), ([[1, -2]], [0])]))
    >>> start = cells.locate([-1]).index
    >>> maps = reconstruct(breakpoint_complex(cells), start, cells.region(start).affine_map)
    >>> sorted(str(found.matrix) for found in maps)
    ['[-1]', '[0]', '[1]']
    """
    breakpoints = expect_breakpoints(breakpoints)
    region = expect_integer(region, "region")
    affine_map = expect(
        affine_map, AffineMap, "affine_map", "cells.region(number).affine_map is one"
    )
    cells = breakpoints.cells
    require_complete(cells, "reconstruction")
    shape = (breakpoints.weights.shape[1], cells.network.num_inputs)
    if affine_map.matrix.shape != shape or not 0 <= region < cells.num_regions:
        got = f"region {region} with a map of shape {affine_map.matrix.shape}"
        raise DomainError(
            f"a map of shape {shape} on one of the {cells.num_regions} regions is needed, not {got}"
        )
    pairs = list(zip(breakpoints.plus.tolist(), breakpoints.minus.tolist(), strict=True))
    graph = nx.Graph()
    graph.add_nodes_from(range(cells.num_regions))
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
                f"no function has these weights: they do not add up around the cell "
                f"{breakpoints.facets[position]} between the regions {plus} and {minus}"
            )
    return [_affine_map(maps[index]) for index in range(cells.num_regions)]


def _changed(rows: Rows, breakpoints: BreakpointComplex, position: int, sign: int) -> Rows:
    """The map on the other side of a cell; `sign` is 1 on the way to its side `plus`, else -1."""
    form, divisor = breakpoints.forms[position].tolist(), breakpoints.divisors[position]
    factors = [sign * weight / divisor for weight in breakpoints.weights[position].tolist()]
    return [
        [entry + factor * x for entry, x in zip(row, form, strict=True)] if factor else row
        for row, factor in zip(rows, factors, strict=True)
    ]


def _affine_map(rows: Rows) -> AffineMap:
    """The affine map with the rows [A | c]."""
    augmented = RationalMatrix.from_rows(rows)
    inputs = augmented.ncols - 1
    return AffineMap(augmented.take(columns=range(inputs)), augmented.take(columns=[inputs]))
