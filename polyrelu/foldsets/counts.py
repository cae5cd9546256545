"""The number of linear regions by every definition, and statistics of the dual graph.

Stargalla, Hertrich and Reichman (2025, arXiv 2505.16716) list definitions of "linear region" that
are in use and are not equivalent. In our words, inside a convex domain:

* *activation regions*: sets of all points with one activation pattern, that is, with the same
  neurons positive, of any dimension; *proper* ones have interior;
* *convex regions*: the least number of polyhedra with interior in a polyhedral complex on each of
  which the function is affine;
* *open connected regions*: maximal open connected sets on which the function is affine;
* *closed connected regions*: the same regions, joined where their closures meet and the affine maps
  are equal;
* *affine regions*: different affine maps on sets with interior.

Each number is at most the number before it in the order activation, proper, convex, open connected,
closed connected, affine.

The number of convex regions is between bounds. A complex cuts each open connected region that is
not convex at least once. If all are convex and meet facet to facet, they are a complex themselves,
since convex polyhedra that cover a convex set and meet facet to facet meet face to face (Gruber and
Ryškov, 1989). Otherwise the canonical complex gives the upper bound. On complexes with very many
hyperplanes convexity is not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import networkx as nx
import numpy as np

from polyrelu.breakpoints import BreakpointComplex, breakpoint_complex
from polyrelu.complex import PolyhedralComplex
from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import expect_complex
from polyrelu.errors import DomainError
from polyrelu.foldsets.surfaces import Hyperplanes
from polyrelu.network import affine_map_table
from polyrelu.support.display import bracketed
from polyrelu.support.typing import Indices

__all__ = ["DualGraphStatistics", "RegionCounts", "dual_graph_statistics", "region_counts"]


@dataclass(frozen=True, slots=True, repr=False)
class RegionCounts:
    """The number of linear regions by each definition.

    Attributes
    ----------
    num_activation
        Activation patterns of points inside the domain.
    num_proper
        Activation patterns on sets with interior.
    convex_bounds
        A lower and an upper bound for the number of convex regions; equal where it is known.
    num_open_connected
        Maximal open connected sets on which the function is affine.
    num_closed_connected
        The same, joined where closures meet and the maps are equal.
    num_affine
        Different affine maps.

    Examples
    --------
    >>> RegionCounts(4, 3, (2, 3), 2, 2, 1)
    <RegionCounts, activation 4, proper 3, convex 2 to 3, open 2, closed 2, affine 1>
    """

    num_activation: int
    num_proper: int
    convex_bounds: tuple[int, int]
    num_open_connected: int
    num_closed_connected: int
    num_affine: int

    def __repr__(self) -> str:
        low, high = self.convex_bounds
        convex = str(low) if low == high else f"{low} to {high}"
        return bracketed(
            f"RegionCounts, activation {self.num_activation}, proper {self.num_proper}, convex "
            f"{convex}, open {self.num_open_connected}, closed {self.num_closed_connected}, "
            f"affine {self.num_affine}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class DualGraphStatistics:
    """Degrees and distances in the graph of regions and their common facets.

    Attributes
    ----------
    num_regions, num_edges
        The numbers of vertices and edges.
    least_degree, greatest_degree
        The least and the greatest number of neighbours of a region.
    mean_degree
        The mean number of neighbours.
    diameter
        The greatest distance between two regions.

    Examples
    --------
    >>> DualGraphStatistics(4, 4, 2, 2, Fraction(2), 2)
    <DualGraphStatistics, 4 regions, degrees 2 to 2, mean 2, diameter 2>
    """

    num_regions: int
    num_edges: int
    least_degree: int
    greatest_degree: int
    mean_degree: Fraction
    diameter: int

    def __repr__(self) -> str:
        return bracketed(
            f"DualGraphStatistics, {self.num_regions} regions, degrees {self.least_degree} to "
            f"{self.greatest_degree}, mean {self.mean_degree}, diameter {self.diameter}"
        )


def dual_graph_statistics(cells: PolyhedralComplex) -> DualGraphStatistics:
    """Compute exact degrees and the diameter of the dual graph of a complex.

    Parameters
    ----------
    cells
        A complete complex. The diameter takes time in proportion to the number of edges times the
        number of regions in the worst case, and usually much less.

    Returns
    -------
    DualGraphStatistics
        The statistics.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one.

    Notes
    -----
    Gaines and Bi (2026, arXiv 2606.07728) bound the mean degree by 2 n_0.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    >>> dual_graph_statistics(canonical_complex(net))
    <DualGraphStatistics, 7 regions, degrees 2 to 3, mean 18/7, diameter 3>
    """
    cells = expect_complex(cells)
    require_complete(cells, "statistics of the dual graph")
    graph = nx.Graph()
    graph.add_nodes_from(range(cells.num_regions))
    graph.add_edges_from(cells.adjacency().tolist())
    degrees = [degree for _, degree in graph.degree()]
    edges = graph.number_of_edges()
    return DualGraphStatistics(
        len(graph),
        edges,
        min(degrees),
        max(degrees),
        Fraction(2 * edges, len(graph)),
        nx.diameter(graph, usebounds=True),
    )


def region_counts(cells: PolyhedralComplex) -> RegionCounts:
    """Count the linear regions of a network by every definition in use.

    Parameters
    ----------
    cells
        A complete complex, of any network on any domain.

    Returns
    -------
    RegionCounts
        The numbers, and bounds for the number of convex regions.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one.

    Notes
    -----
    Source: Stargalla, Hertrich and Reichman (2025, arXiv 2505.16716).

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])    # x
    >>> region_counts(canonical_complex(net))
    <RegionCounts, activation 3, proper 2, convex 1, open 1, closed 1, affine 1>
    """
    cells = expect_complex(cells)
    require_complete(cells, "counts of regions")
    patterns = [
        cells.signs(k)[cells.inside(k)] > 0 for k in range(cells.lineality_dim, cells.dimension + 1)
    ]
    maps = _map_numbers(cells)
    breakpoints = breakpoint_complex(cells)
    pairs = cells.adjacency()
    parts = _joined(cells.num_regions, pairs[~breakpoints.visible].tolist())
    closed = _joined(cells.num_regions, _touching(cells, maps))
    num_open = int(parts.max()) + 1
    return RegionCounts(
        len(np.unique(np.concatenate(patterns), axis=0)),
        len(np.unique(patterns[-1], axis=0)),
        _convex_bounds(breakpoints, parts, num_open),
        num_open,
        int(closed.max()) + 1,
        int(maps.max()) + 1,
    )


def _map_numbers(cells: PolyhedralComplex) -> Indices:
    """A number for the affine map of each region, equal for equal maps on the domain."""
    _, table = affine_map_table(cells.network, cells.signs() > 0)
    on_hull = np.array(cells.frame.on_hull.integer_rows(), dtype=object)
    flat = table.reshape(-1, table.shape[-1]) @ on_hull
    known: dict[tuple[int, ...], int] = {}
    rows = flat.reshape(len(table), -1).tolist()
    return np.array([known.setdefault(tuple(row), len(known)) for row in rows], dtype=np.int64)


def _joined(size: int, pairs: Sequence[Sequence[int]]) -> Indices:
    """The number of the connected part of each region, numbered by their first regions."""
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(pairs)
    labels = np.zeros(size, dtype=np.int64)
    for number, members in enumerate(nx.connected_components(graph)):
        labels[list(members)] = number
    return labels


def _touching(cells: PolyhedralComplex, maps: Indices) -> list[tuple[int, int]]:
    """Pairs of regions with one map whose closures meet in a cell inside the domain."""
    below: list[set[int]] = [{index} for index in range(cells.num_regions)]
    found = []
    for k in range(cells.dimension, cells.lineality_dim, -1):
        offsets, entries = cells.facets(k)
        above, below = below, [set() for _ in range(cells.size(k - 1))]
        for index, regions in enumerate(above):
            for face in entries[offsets[index] : offsets[index + 1]].tolist():
                below[face] |= regions
        inside = cells.inside(k - 1)
        for face, regions in enumerate(below):
            if inside[face]:
                first: dict[int, int] = {}
                for region in sorted(regions):
                    found.append((first.setdefault(int(maps[region]), region), region))
    return found


def _convex_bounds(
    breakpoints: BreakpointComplex, parts: Indices, num_open: int
) -> tuple[int, int]:
    """Bounds for the least number of regions of a complex on which the function is affine."""
    cells = breakpoints.cells
    wanted = np.zeros(cells.size(cells.dimension - 1) if cells.dimension else 0, dtype=bool)
    wanted[breakpoints.facets[breakpoints.visible]] = True
    if not wanted.any():
        return 1, 1
    try:
        planes = Hyperplanes.of(cells, wanted)
    except DomainError:  # too many to look at
        return num_open, max(num_open, cells.num_regions)
    pairs = parts[cells.adjacency()[breakpoints.visible]]
    number_of = planes.numbers[breakpoints.facets[breakpoints.visible]]
    crossed: set[int] = set()
    sides: dict[tuple[int, int], set[int]] = {}
    for plane in np.unique(number_of).tolist():
        here = pairs[number_of == plane]
        for part in np.unique(here).tolist():
            if (planes.crossed[plane] & (parts == part)).any():
                crossed.add(part)
        for one, other in here.tolist():
            sides.setdefault((plane, one), set()).add(other)
            sides.setdefault((plane, other), set()).add(one)
    crossed |= _on_both_sides(planes, parts, pairs, number_of)
    low = num_open + len(crossed)
    is_complex = not crossed and all(len(others) == 1 for others in sides.values())
    return low, low if is_complex else max(low, cells.num_regions)


def _on_both_sides(
    planes: Hyperplanes, parts: Indices, pairs: Indices, number_of: Indices
) -> set[int]:
    """The parts that have regions on both sides of a hyperplane at their boundary."""
    found: set[int] = set()
    for plane in np.unique(number_of).tolist():
        sides = planes.sides[plane]
        for part in np.unique(pairs[number_of == plane]).tolist():
            here = sides[parts == part]
            if here.min() < 0 < here.max():
                found.add(part)
    return found
