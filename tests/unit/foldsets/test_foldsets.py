"""Fold-sets of networks written down by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.complex import canonical_complex
from polyrelu.conditions import pl_general
from polyrelu.errors import ArgumentError, DomainError, NetworkError
from polyrelu.exact import Polyhedron
from polyrelu.foldsets import (
    canonical_surface,
    construct_identifiable,
    dependency_graph,
    image_parts,
    misplaced_pieces,
    paths_of_length,
    phuong_lampert,
    region_counts,
    surfaces,
    truncated_network,
    unit_fold_sets,
)
from polyrelu.network import NeuronId, from_arrays
from polyrelu.proofs import identify
from tests.generators.campaigns import case, few_fast, few_some_and_all
from tests.generators.transparent import has_paths

#: The golden case: general and transparent on (-1, 1)².
GOLDEN = from_arrays([([[-3, 3], [3, -2]], [2, -1]), ([[3, 3], [1, -2]], [-3, 6]), ([[1, 2]], [1])])
#: A general network against Lemma A.18 as it is printed.
AGAINST = from_arrays(
    [([[3, -5], [-1, -5]], [3, -4]), ([[1, -2], [5, -5]], [3, 1]), ([[3, -3]], [-5])]
)


def test_golden_case() -> None:
    cells = canonical_complex(GOLDEN, "box:-1,1")
    assert cells.f_vector == (12, 18, 7)
    surface = canonical_surface(unit_fold_sets(cells))
    assert surface.order == 2
    assert [piece.order for piece in surface] == [1, 1, 1, 2, 2, 2]
    flat = [piece.hyperplane for piece in surface if piece.order == 1]
    assert flat == [(3, -3, -2), (3, -2, -4), (3, -2, -1)]
    for edges in ("meeting", "bending"):
        graph = dependency_graph(surface, edges=edges)
        assert graph.number_of_edges() == 4
        starts = [surface.pieces[path[0]].units for path in paths_of_length(graph, 1)]
        assert starts == [(NeuronId(1, 0),), (NeuronId(1, 1),)]
    (wrong,) = misplaced_pieces(surface)
    assert (wrong.hyperplane, wrong.units) == ((3, -2, -4), (NeuronId(2, 1),))
    assert canonical_surface(breakpoint_complex(cells).subcomplex).is_surface
    report = phuong_lampert(cells)
    # Neuron 1 of layer 2 does not fold inside the image of layer 1, only on its boundary.
    assert str(report) == "phuong_lampert: fails, paths fails"
    assert str(report.evidence and report.evidence.conditions[-1]).endswith(
        "layer 2: paths start at 1 of 2 hyperplanes"
    )


def test_lemma_as_printed_is_wrong() -> None:
    cells = canonical_complex(AGAINST, "box:-2,2")
    assert pl_general(cells).status == "holds"
    surface = canonical_surface(unit_fold_sets(cells))
    layers = {
        edges: {
            unit.layer
            for start, *_ in paths_of_length(dependency_graph(surface, edges=edges), 1)
            for unit in surface.pieces[start].units
        }
        for edges in ("meeting", "bending")
    }
    assert layers == {"meeting": {1, 2}, "bending": {1}}


def test_a_set_that_is_no_surface() -> None:
    # f = max(x, 0) where y < 0, and beyond it layer 2 is off: the fold ends inside the domain.
    net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -9], [-1, -9]], [2, 2]), ([[1, -1]], [0])])
    cells = canonical_complex(net, "box:-1,1")
    surface = canonical_surface(breakpoint_complex(cells).subcomplex)
    assert not surface.is_surface
    assert "do not cover" in repr(surface)
    covered = {int(facet) for piece in surface for facet in piece.facets}
    assert not covered.intersection(surface.uncovered.tolist())
    assert surface.box(surface.order).f_vector[1] == len(covered)


def test_lineality_and_boundaries() -> None:
    line = from_arrays([([[1, 1, 0], [2, 2, 0]], [0, -1]), ([[1, 1]], [-3]), ([[1]], [0])])
    surface = canonical_surface(unit_fold_sets(canonical_complex(line)))
    assert [piece.order for piece in surface] == [1, 1, 1]
    assert not dependency_graph(surface).edges
    assert not dependency_graph(surface, edges="bending").edges
    # The ridge at (0, 1) lies on the boundary of the box.
    touching = from_arrays([([[2, 2], [2, -3]], [2, 3]), ([[1, 1]], [-3]), ([[1]], [0])])
    cells = canonical_complex(touching, "box:-1,1")
    graph = dependency_graph(canonical_surface(unit_fold_sets(cells)), edges="closures")
    for *_, data in graph.edges(data=True):
        assert max(map(abs, data["point"])) < 1


def test_paths_do_not_count_ridges_on_the_boundary() -> None:
    # Layer 2 meets x = 0 at (0, 1), on the boundary of the box, and nowhere else.
    net = from_arrays([([[1, 0], [1, 3]], [0, 4]), ([[1, 1]], [-7]), ([[1]], [0])])
    assert has_paths(canonical_complex(net, "box:-9,9"))
    assert not has_paths(canonical_complex(net, "box:-1,1"))


def test_truncations_and_images() -> None:
    cells = canonical_complex(GOLDEN, "box:-1,1")
    (part,) = image_parts(cells, 1)
    head, tail = truncated_network(GOLDEN, 1, 1), truncated_network(GOLDEN, 2)
    inside = [max(z, Fraction(0)) for z in head(part.point)]
    assert part.polyhedron.contains(inside)
    assert tail(inside) == GOLDEN(part.point)
    assert part.polyhedron == cells.domain.intersect(
        Polyhedron.from_constraints([[3, -3], [-3, 2]], [2, -1])
    ).image(head.weight(1), list(head.bias(1).entries()))
    assert [part.layer for part in image_parts(cells, 0)] == [0]
    with pytest.raises(NetworkError, match="no layers 3 to 2"):
        truncated_network(GOLDEN, 3, 2)
    with pytest.raises(NetworkError, match="no hidden layer 3"):
        next(image_parts(cells, 3))


def test_too_many_hyperplanes(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = canonical_complex(GOLDEN, "box:-1,1")
    assert region_counts(cells).convex_bounds == (7, 7)
    monkeypatch.setattr(surfaces, "_PAIR_LIMIT", 10)
    with pytest.raises(DomainError, match="6 hyperplanes and 7 regions are too many"):
        canonical_surface(unit_fold_sets(cells))
    assert region_counts(cells).convex_bounds == (7, 7)


def test_wrong_arguments() -> None:
    cells = canonical_complex(GOLDEN, "box:-1,1")
    with pytest.raises(ArgumentError, match=r"surface: .*canonical_surface"):
        dependency_graph(cells)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="edges"):
        dependency_graph(canonical_surface(unit_fold_sets(cells)), edges="some")  # type: ignore[arg-type]
    for widths in ((2, 3, 1), (2, 2, 2), (2, 1, 1), (2, 1), (2, 2)):
        with pytest.raises(NetworkError, match="widths"):
            construct_identifiable(widths)
    for domain in ("R^n", "orthant"):
        with pytest.raises(DomainError, match="bounded"):
            construct_identifiable((2, 2, 1), domain)


WIDTHS = [(2, 2, 1), (3, 3, 2, 1), (2, 2, 2, 2, 2, 1), (3, 2, 2, 2, 1), (3, 3, 3, 2, 1)]
WIDTHS += [(4, 4, 3, 1), (3, 3, 3, 3, 1), (2, 2, 2, 2, 2, 2, 1), (3, 3, 3, 2, 2, 1)]


@pytest.mark.parametrize("widths", few_fast(WIDTHS, 2), ids=str)
@pytest.mark.parametrize("seeds", few_some_and_all([0], [1], [2, 3]))
def test_construction(widths: tuple[int, ...], seeds: list[int]) -> None:
    for seed in seeds:
        with case(seed):
            made = construct_identifiable(widths, seed=seed)
            assert made.network.widths == widths
            assert made.report.status == "holds"
            assert identify(made.network).status == "proved"
            assert construct_identifiable(widths, seed=seed).network == made.network
            assert max(layer.bits for layer in made.network.layers) < 40


def test_construction_on_a_triangle() -> None:
    triangle = Polyhedron.from_generators([[0, 0], [3, 1], [1, "5/2"]])
    made = construct_identifiable((2, 2, 2, 1), triangle, seed=3)
    assert made.report.status == "holds"
    assert made.domain == triangle
