"""Counts of linear regions by every definition, against a line arrangement in the plane."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import networkx as nx
import pytest

from polyrelu.complex import canonical_complex, dual_graph
from polyrelu.foldsets import RegionCounts, dual_graph_statistics, region_counts
from polyrelu.network import Network, from_arrays
from tests.generators.campaigns import case, few_some_and_all
from tests.oracles.plane_networks import RADIUS, arrangement_of, bends, plane_network
from tests.oracles.surfaces import Arrangement

STEP = Fraction(1, 10**14)
Point = tuple[Fraction, Fraction]
Face = tuple[int, ...]


def test_each_definition_differs_from_the_next_one() -> None:
    """The five networks of docs/how-to/count-regions.md."""
    axes = ([[1, 0], [0, 1]], [0, 0])
    folded = [([[0, 1], [1, 0], [-1, 0]], [0, 0, 0]), ([[1, 0, 0], [1, -1, -1]], [0, 0])]
    hat = from_arrays([([[1], [1], [1]], [1, 0, -1]), ([[1, -2, 1]], [0])])
    corner = from_arrays([axes, ([[1, 0], [1, -1]], [0, 0]), ([[1, -1]], [0])])
    counts = [
        region_counts(canonical_complex(net))
        for net in (
            from_arrays([([[1], [-1]], [0, 0]), ([[1, -1]], [0])]),
            corner,
            from_arrays([*folded, ([[1, 1]], [0])]),
            hat,
        )
    ]
    assert counts[0] == RegionCounts(3, 2, (1, 1), 1, 1, 1)
    assert (counts[1].convex_bounds[0], counts[1].num_open_connected) == (4, 3)
    assert (counts[2].num_open_connected, counts[2].num_closed_connected) == (5, 4)
    assert counts[2].convex_bounds[0] < counts[2].convex_bounds[1]
    assert (counts[3].num_closed_connected, counts[3].num_affine) == (4, 3)


def value_map(net: Network, point: Point) -> tuple[Fraction, ...]:
    """The affine map near a point that lies on no line, by differences."""
    x, y = point
    (a,), (b,), (c,) = net([[x, y], [x + STEP, y], [x, y + STEP]])
    p, q = (b - a) / STEP, (c - a) / STEP
    return p, q, a - p * x - q * y


def pattern(net: Network, point: Point) -> tuple[bool, ...]:
    tables = net.preactivations([point])[: net.num_hidden_layers]
    return tuple(entry > 0 for table in tables for (entry,) in table.rows())


def expected(net: Network, arrangement: Arrangement) -> tuple[int, int, int, int, int, int]:
    """Activation, proper, open, closed, affine, and the number of open regions not convex."""
    faces: dict[Face, Point] = {}
    graph, touching = nx.Graph(), nx.Graph()
    around: dict[Point, list[Face]] = {}
    patterns = set()
    is_fold, walls = bends(net), []
    for segment in arrangement.segments:
        sides = []
        for sign in (-1, 1):
            point = segment.beside(sign)
            sides.append(arrangement.face(point))
            faces.setdefault(sides[-1], point)
        patterns.add(pattern(net, segment.middle))
        graph.add_nodes_from(sides)
        if is_fold(segment):
            walls.append((segment.line, sides))
        else:
            graph.add_edge(*sides)
        for end in segment.ends:
            if max(map(abs, end)) < RADIUS:
                around.setdefault(end, []).extend(sides)
    if not faces:
        faces[()] = (Fraction(0), Fraction(0))
        graph.add_node(())
    maps = {face: value_map(net, point) for face, point in faces.items()}
    patterns |= {pattern(net, point) for point in around}
    proper = {pattern(net, point) for point in faces.values()}
    touching.add_nodes_from(faces)
    touching.add_edges_from(graph.edges)
    for members in around.values():
        for one in members:
            touching.add_edges_from((one, two) for two in members if maps[one] == maps[two])
    parts = list(nx.connected_components(graph))
    number = {face: k for k, part in enumerate(parts) for face in part}
    bent = set()
    for line, sides in walls:
        for part in {number[face] for face in sides}:
            a, b, c = line
            found = [a * faces[f][0] + b * faces[f][1] + c for f in parts[part]]
            if min(found) < 0 < max(found):
                bent.add(part)
    return (
        len(patterns | proper),
        len(proper),
        len(parts),
        nx.number_connected_components(touching),
        len(set(maps.values())),
        len(bent),
    )


@pytest.mark.parametrize("seeds", few_some_and_all(range(4), range(50), range(1000)))
def test_counts(seeds: range) -> None:
    for seed in seeds:
        with case(seed):
            net = plane_network(Random(seed))
            cells = canonical_complex(net, f"box:-{RADIUS},{RADIUS}")
            found = region_counts(cells)
            *numbers, num_bent = expected(net, arrangement_of([net]))
            low, high = found.convex_bounds
            assert numbers == [
                found.num_activation,
                found.num_proper,
                found.num_open_connected,
                found.num_closed_connected,
                found.num_affine,
            ]
            assert low == found.num_open_connected + num_bent
            assert low <= high
            chain = [high, found.num_open_connected, found.num_closed_connected, found.num_affine]
            assert chain == sorted(chain, reverse=True)
            assert found.num_proper <= found.num_activation


@pytest.mark.parametrize("seeds", few_some_and_all(range(4), range(50), range(1000)))
def test_dual_graphs(seeds: range) -> None:
    """Against networkx, and the bound on the mean degree."""
    for seed in seeds:
        with case(seed):
            cells = canonical_complex(plane_network(Random(seed)))
            found, graph = dual_graph_statistics(cells), dual_graph(cells)
            lengths = dict(nx.all_pairs_shortest_path_length(graph))
            assert found.diameter == max(max(row.values()) for row in lengths.values())
            degrees = [len(cells.neighbours(index)) for index in range(cells.num_regions)]
            assert (found.least_degree, found.greatest_degree) == (min(degrees), max(degrees))
            assert found.mean_degree == Fraction(sum(degrees), len(degrees)) <= 4
