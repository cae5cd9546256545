"""Canonical surfaces and dependency graphs against a line arrangement in the plane."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.conditions import affine_pieces, pl_general, transparency
from polyrelu.exact import primitive
from polyrelu.foldsets import (
    PiecewiseLinearSurface,
    canonical_surface,
    dependency_graph,
    paths_of_length,
    unit_fold_sets,
)
from polyrelu.network import Network, from_arrays
from tests.generators.campaigns import case, few_and_all
from tests.oracles.surfaces import Arrangement, PlanePiece, Segment, edges_between, pieces_of

RADIUS = 2


def plane_network(rng: Random, largest: int = 2) -> Network:
    """A network with two inputs and one to three hidden layers of small integers."""
    depth = rng.choice((1, 2, 2, 3))
    hidden = [rng.randint(1, 3 if depth < 3 else 2) for _ in range(depth)]
    widths = [2, *hidden, 1]
    return from_arrays(
        [
            (
                [[rng.randint(-largest, largest) for _ in range(n)] for _ in range(m)],
                [rng.randint(-largest, largest) for _ in range(m)],
            )
            for n, m in pairwise(widths)
        ]
    )


def arrangement_of(network: Network) -> Arrangement:
    """All lines on which a neuron can fold, whatever the other neurons do."""
    lines = set()
    for piece in affine_pieces(network):
        if any(piece.vector[:-1]) and piece.unit.layer < network.depth:
            row, _ = primitive(piece.vector)
            sign = 1 if row[:2] > (0, 0) else -1
            lines.add((sign * row[0], sign * row[1], sign * row[2]))
    # With masks that are empty in some layer a neuron is constant: it has no line.
    return Arrangement(sorted(lines), RADIUS)


def bends(network: Network) -> Callable[[Segment], bool]:
    """Whether the function is not differentiable on a segment."""

    def is_fold(segment: Segment) -> bool:
        low, middle, high = network([segment.beside(-1), segment.middle, segment.beside(1)])
        return low[0] + high[0] != 2 * middle[0]

    return is_fold


def folds(network: Network) -> Callable[[Segment], bool]:
    """Whether some neuron is 0 on a segment and positive beside it."""

    def is_fold(segment: Segment) -> bool:
        places = [segment.beside(-1), segment.middle, segment.beside(1)]
        rows = [
            row
            for table in network.preactivations(places)[: network.num_hidden_layers]
            for row in table.rows()
        ]
        return any(z == 0 and max(low, high) > 0 for low, z, high in rows)

    return is_fold


def matched(
    surface: PiecewiseLinearSurface, expected: list[PlanePiece], arrangement: Arrangement
) -> dict[int, int]:
    """The numbers of the oracle's pieces by those of the surface; the two must agree."""
    of_facet = {
        int(facet): number for number, piece in enumerate(surface) for facet in piece.facets
    }
    of_segment = {
        segment: number for number, piece in enumerate(expected) for segment in piece.segments
    }
    pairs: dict[int, int] = {}
    for segment in arrangement.segments:
        cell = surface.cells.locate(segment.middle)
        assert cell is not None
        ours = of_facet.get(cell.index) if cell.dimension == 1 else None
        theirs = of_segment.get(segment)
        assert (ours is None) == (theirs is None)
        if ours is not None and theirs is not None:
            assert pairs.setdefault(ours, theirs) == theirs
    assert sorted(pairs) == list(range(len(surface)))
    assert sorted(pairs.values()) == list(range(len(expected)))
    return pairs


def compare(
    cells: PolyhedralComplex,
    surface: PiecewiseLinearSurface,
    arrangement: Arrangement,
    is_fold: Callable[[Segment], bool],
) -> None:
    """Compare pieces, orders, lines, coverage and edges with those of the oracle."""
    expected = pieces_of(arrangement, is_fold)
    pairs = matched(surface, expected, arrangement)
    for ours, theirs in pairs.items():
        piece, plane = surface.pieces[ours], expected[theirs]
        assert (piece.order, piece.hyperplane) == (plane.order, plane.line)
    covered = frozenset().union(*(piece.segments for piece in expected))
    assert surface.is_surface == all(
        segment in covered for segment in arrangement.segments if is_fold(segment)
    )
    graph = dependency_graph(surface)
    assert {(pairs[one], pairs[other]) for one, other in graph.edges} == edges_between(
        expected, RADIUS
    )
    assert set(graph.edges) <= set(dependency_graph(surface, edges="closures").edges)
    for one, other, data in graph.edges(data=True):
        assert all(-RADIUS < entry < RADIUS for entry in data["point"])
        for number in (one, other):
            *normal, offset = surface.pieces[number].hyperplane
            value = sum((n * x for n, x in zip(normal, data["point"], strict=True)), Fraction(0))
            assert value + offset == 0


@pytest.mark.parametrize("seeds", few_and_all(range(6), range(1000)))
def test_pieces_and_edges(seeds: range) -> None:
    for seed in seeds:
        with case(seed):
            network = plane_network(Random(seed))
            cells = canonical_complex(network, f"box:-{RADIUS},{RADIUS}")
            arrangement = arrangement_of(network)
            units = canonical_surface(unit_fold_sets(cells))
            compare(cells, units, arrangement, folds(network))
            breaks = canonical_surface(breakpoint_complex(cells).subcomplex)
            compare(cells, breaks, arrangement, bends(network))


@pytest.mark.parametrize("seeds", few_and_all(range(20), range(1000)))
def test_lemmas(seeds: range) -> None:
    """Corollary A.1 for all networks; Lemmas A.15 and A.18 for general ones."""
    for seed in seeds:
        with case(seed):
            network = plane_network(Random(seed), 7)
            cells = canonical_complex(network, f"box:-{RADIUS},{RADIUS}")
            for layers in range(1, network.num_hidden_layers + 1):
                surface = canonical_surface(unit_fold_sets(cells, layers))
                assert surface.is_surface
                assert surface.order <= layers
                if pl_general(cells).status == "holds":
                    check_layers(surface, layers)
            if pl_general(cells).status == transparency(cells).status == "holds":
                inside = unit_fold_sets(cells).masks[1] & cells.inside(1)
                assert (inside == breakpoint_complex(cells).subcomplex.masks[1]).all()


def check_layers(surface: PiecewiseLinearSurface, layers: int) -> None:
    """Check Lemma A.18, corrected: orders and paths bound the layers of the neurons of a piece."""
    graph = dependency_graph(surface, edges="bending")
    assert set(graph.edges) <= set(dependency_graph(surface).edges)
    for piece in surface:
        assert all(unit.layer >= piece.order for unit in piece.units)
        assert piece.units
    for length in range(layers):
        for start, *_ in paths_of_length(graph, length):
            assert all(unit.layer <= layers - length for unit in surface.pieces[start].units)
