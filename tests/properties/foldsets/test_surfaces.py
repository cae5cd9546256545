"""Canonical surfaces and dependency graphs against a line arrangement in the plane."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

import pytest

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.conditions import pl_general, transparency
from polyrelu.foldsets import (
    PiecewiseLinearSurface,
    canonical_surface,
    dependency_graph,
    paths_of_length,
    unit_fold_sets,
)
from tests.generators.campaigns import case, few_some_and_all
from tests.oracles.plane_networks import RADIUS, arrangement_of, bends, folds, plane_network
from tests.oracles.surfaces import Arrangement, PlanePiece, Segment, edges_between, pieces_of


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


@pytest.mark.parametrize("seeds", few_some_and_all(range(3), range(40), range(1000)))
def test_pieces_and_edges(seeds: range) -> None:
    for seed in seeds:
        with case(seed):
            network = plane_network(Random(seed))
            cells = canonical_complex(network, f"box:-{RADIUS},{RADIUS}")
            arrangement = arrangement_of([network])
            units = canonical_surface(unit_fold_sets(cells))
            compare(cells, units, arrangement, folds(network))
            breaks = canonical_surface(breakpoint_complex(cells).subcomplex)
            compare(cells, breaks, arrangement, bends(network))


@pytest.mark.parametrize("seeds", few_some_and_all(range(8), range(100), range(1000)))
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
