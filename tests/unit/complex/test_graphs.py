"""Bent hyperplanes, fold-sets, supertransversality and graphs, in cases known by hand."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import networkx as nx
import pytest

from polyrelu.complex import (
    Cell,
    PolyhedralComplex,
    Subcomplex,
    bent_hyperplane,
    canonical_complex,
    fold_set,
    supertransversality_violation,
)
from polyrelu.complex.graphs import dual_graph, face_poset, linear_regions
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import NeuronId, from_arrays
from tests.generators.quantised_networks import quantised_network

UNIT = [[1, 0], [0, 1]]


def complex_of(
    *layers: tuple[list[list[int]], list[int]], domain: Polyhedron | None = None
) -> PolyhedralComplex:
    """The complex of a network with given hidden layers; the output sums the last of them."""
    return canonical_complex(from_arrays([*layers, ([[1] * len(layers[-1][1])], [0])]), domain)


def counts(part: Subcomplex) -> list[int]:
    """The numbers of cells by dimension."""
    return list(part.f_vector)


# -- Bent hyperplanes and fold-sets ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("layers", "bent", "fold"),
    [
        # the line itself, cut at a point
        ([(UNIT, [0, 0]), ([[1, 1]], [-1])], [2, 3, 0], [2, 3, 0]),
        # |x| in the plane, 0 on a line, positive on both sides
        ([([[1, 0], [-1, 0], [0, 1]], [0, 0, 0]), ([[1, 1, 0]], [0])], [1, 2, 0], [1, 2, 0]),
        # -|x|: never positive, so there is no fold
        ([([[1, 0], [-1, 0], [0, 1]], [0, 0, 0]), ([[-1, -1, 0]], [0])], [1, 2, 0], [0, 0, 0]),
        # 0 on the open quadrant x, y < 0, positive elsewhere: the boundary of the quadrant
        ([(UNIT, [0, 0]), ([[1, 1]], [0])], [1, 2, 0], [1, 2, 0]),
        # dead, 0 on the quadrant and negative elsewhere: no fold
        ([(UNIT, [0, 0]), ([[-1, -1]], [0])], [1, 2, 0], [0, 0, 0]),
        # 0 on the quadrant, x - y elsewhere: the boundary of the quadrant and the diagonal;
        # positive only below the diagonal
        ([(UNIT, [0, 0]), ([[1, -1]], [0])], [1, 3, 0], [1, 2, 0]),
        # identically 0, and never 0
        ([(UNIT, [0, 0]), ([[0, 0]], [0])], [0, 0, 0], [0, 0, 0]),
        ([(UNIT, [0, 0]), ([[1, 1]], [1])], [0, 0, 0], [0, 0, 0]),
        ([(UNIT, [0, 0]), ([[-1, -1]], [-1])], [0, 0, 0], [0, 0, 0]),
    ],
)
def test_of_a_neuron_of_the_second_layer(
    layers: list[tuple[list[list[int]], list[int]]], bent: list[int], fold: list[int]
) -> None:
    cells = complex_of(*layers)
    assert counts(bent_hyperplane(cells, NeuronId(2, 0))) == bent
    assert counts(fold_set(cells, NeuronId(2, 0))) == fold


def test_of_neurons_of_the_first_layer_on_a_box() -> None:
    cells = complex_of(([[1, 0], [1, 1]], [0, -2]), domain=Polyhedron.box([-1, -1], [1, 1]))
    for find in (bent_hyperplane, fold_set):
        assert counts(find(cells, NeuronId(1, 0))) == [2, 1, 0]
        # x + y = 2 meets the box in a corner: it is 0 next to the box, and negative inside
        assert counts(find(cells, NeuronId(1, 1))) == (
            [1, 0, 0] if find is bent_hyperplane else [0, 0, 0]
        )


def test_no_cells_below_the_lineality_dimension() -> None:
    cells = complex_of(([[1, 1]], [0]))
    assert counts(bent_hyperplane(cells, NeuronId(1, 0))) == [0, 1, 0]


@pytest.mark.parametrize("neuron", [NeuronId(1, 2), NeuronId(2, 0), NeuronId(0, 0)])
def test_neurons_that_do_not_exist(neuron: NeuronId) -> None:
    message = f"there is no hidden neuron {neuron.index} in layer {neuron.layer}"
    for find in (bent_hyperplane, fold_set):
        with pytest.raises(DomainError, match=message):
            find(complex_of((UNIT, [0, 0])), neuron)


# -- Supertransversality ---------------------------------------------------------------------------


def test_generic_hyperplanes_are_supertransversal() -> None:
    assert (
        supertransversality_violation(
            complex_of(([[1, 0], [0, 1], [1, 1]], [0, 0, 1]), ([[1, 2, 5]], [-3]))
        )
        is None
    )
    assert supertransversality_violation(complex_of(([[1, 1]], [0]))) is None  # with lines
    box = Polyhedron.box([-1, -1], [2, 3])
    assert supertransversality_violation(complex_of((UNIT, [0, 0]), domain=box)) is None


@pytest.mark.parametrize(
    ("layers", "domain", "dimension", "zeros"),
    [
        ([([[1, 0], [0, 1], [1, 1]], [0, 0, 0])], None, 0, 3),  # three lines through a point
        ([([[1, 0], [2, 0], [0, 1]], [1, 2, 0])], None, 1, 2),  # one line twice
        ([(UNIT, [0, 0]), ([[1, 1]], [0])], None, 2, 1),  # 0 on an open region
        ([(UNIT, [0, 0]), ([[1, 1], [2, 2]], [-1, -2])], None, 1, 2),  # one bent line twice
        (
            [([[1, 1]], [-2])],
            Polyhedron.box([-1, -1], [1, 1]),
            0,
            3,
        ),  # through a corner of the domain
        ([([[1, 0]], [1])], Polyhedron.box([-1, -1], [1, 1]), 1, 2),  # along a side of the domain
    ],
)
def test_violations(
    layers: list[tuple[list[list[int]], list[int]]],
    domain: Polyhedron | None,
    dimension: int,
    zeros: int,
) -> None:
    cells = complex_of(*layers, domain=domain)
    found = supertransversality_violation(cells)
    assert found is not None
    assert found.dimension == dimension
    signs = [*cells.signs(dimension)[found.index], *cells.constraint_signs(dimension)[found.index]]
    assert signs.count(0) == zeros != cells.dimension - dimension


# -- Graphs ----------------------------------------------------------------------------------------


def test_dual_graph_of_points_on_a_line() -> None:
    cells = complex_of(([[1]] * 5, [0, -1, -2, -3, -4]))
    graph = dual_graph(cells)
    assert sorted(dict(graph.degree()).values()) == [1, 1, 2, 2, 2, 2]
    assert nx.is_connected(graph)
    ends = [node for node, degree in graph.degree() if degree == 1]
    assert {graph.nodes[node]["signs"] for node in ends} == {"+++++", "-----"}
    assert [graph.nodes[node]["bounded"] for node in graph] == [
        graph.degree(node) == 2 for node in graph
    ]
    for one, other, data in graph.edges(data=True):
        between = cells.vertex(data["facet"])
        assert between in cells.vertices_and_rays(Cell(1, one))[0]
        assert between in cells.vertices_and_rays(Cell(1, other))[0]


def test_dual_graph_of_a_hypercube() -> None:
    unit = [[int(i == j) for j in range(3)] for i in range(3)]
    for domain in (None, Polyhedron.box([-1] * 3, [1] * 3), Polyhedron.box([-1] * 3, [None] * 3)):
        graph = dual_graph(complex_of((unit, [0] * 3), domain=domain))
        assert nx.is_isomorphic(graph, nx.hypercube_graph(3))


def test_dual_graph_of_one_region() -> None:
    graph = dual_graph(complex_of(([[0]], [1]), domain=Polyhedron.box([0], [1])))
    assert (list(graph.nodes(data=True)), list(graph.edges)) == (
        [(0, {"signs": "+", "bounded": True})],
        [],
    )
    point = dual_graph(complex_of(([[1]], [0]), domain=Polyhedron.box([0], [0])))
    assert (list(point.nodes(data=True)), list(point.edges)) == (
        [(0, {"signs": "0", "bounded": True})],
        [],
    )


def test_face_poset_of_a_box() -> None:
    poset = face_poset(complex_of(([[1, 0, 0]], [7]), domain=Polyhedron.box([0] * 3, [1] * 3)))
    assert sorted(node.dimension for node in poset) == [0] * 8 + [1] * 12 + [2] * 6 + [3]
    assert poset.out_degree(Cell(3, 0)) == 6
    assert {poset.out_degree(node) for node in poset if node.dimension == 2} == {4}
    assert {poset.in_degree(node) for node in poset if node.dimension == 0} == {3}
    assert all(above.dimension == below.dimension + 1 for above, below in poset.edges)
    assert len(nx.descendants(poset, Cell(3, 0))) == 26


def test_face_poset_with_lines() -> None:
    poset = face_poset(complex_of(([[1, 1], [1, 1]], [0, -1])))
    assert sorted(poset) == [Cell(1, 0), Cell(1, 1), Cell(2, 0), Cell(2, 1), Cell(2, 2)]
    assert sorted(poset.out_degree(node) for node in poset) == [0, 0, 1, 1, 2]


def test_linear_regions_merge_what_has_one_affine_map() -> None:
    # |x - t| for t = 0, 1, 2 with weights 1, 0, -1: the middle neurons change nothing
    rows, biases = [[1], [-1]] * 3, [0, 0, -1, 1, -2, 2]
    cells = canonical_complex(from_arrays([(rows, biases), ([[1, 1, 0, 0, -1, -1]], [0])]))
    by_position = sorted(range(4), key=lambda index: cells.region(index).interior_point)
    merged = linear_regions(cells)
    assert sorted(map(len, merged)) == [1, 1, 2]
    assert sorted(by_position[1:3]) in merged
    for left, right in pairwise(by_position):
        same = any({left, right} <= set(part) for part in merged)
        assert same == (cells.region(left).affine_map == cells.region(right).affine_map)


def test_linear_regions_are_connected_through_facets() -> None:
    cells = canonical_complex(
        from_arrays([(UNIT, [0, 0]), ([[1, -1], [-1, 1]], [0, 0]), ([[1, 1]], [0])])
    )
    parts = linear_regions(cells)
    assert sorted(index for part in parts for index in part) == list(range(cells.num_regions))
    maps = [cells.region(part[0]).affine_map for part in parts]
    for part in parts:
        assert len({cells.region(index).affine_map for index in part}) == 1
    assert len(parts) == len(set(maps)) == 5  # |max(x, 0) - max(y, 0)| is 0, x, y, x - y or y - x


def test_linear_regions_with_equal_maps_that_do_not_touch() -> None:
    # a hat: 0, x, 2 - x, 0 again; the two ends have one map, but are two regions
    cells = canonical_complex(from_arrays([([[1], [1], [1]], [0, -1, -2]), ([[1, -2, 1]], [0])]))
    assert list(map(len, linear_regions(cells))) == [1, 1, 1, 1]


def test_neighbours_are_the_edges_of_the_dual_graph() -> None:
    for kind in ("integers", "concurrent", "dead", "open zero"):
        cells = canonical_complex(quantised_network(kind, Random(f"neighbours {kind}")))
        graph = dual_graph(cells)
        for index in range(cells.num_regions):
            found = cells.neighbours(index)
            facets = [facet.index for facet in cells.facets_to_neighbours(index)]
            assert set(zip(found, facets, strict=True)) == {
                (other, graph.edges[index, other]["facet"]) for other in graph.neighbors(index)
            }
            assert len(found) == graph.degree(index)
    with pytest.raises(DomainError):
        cells.neighbours(cells.num_regions)
