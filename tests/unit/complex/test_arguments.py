"""Public functions of `polyrelu.complex` with arguments of every kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu import from_arrays, save
from polyrelu.complex import (
    Cell,
    Subcomplex,
    bent_hyperplane,
    canonical_complex,
    dual_graph,
    face_poset,
    failed_checks,
    fold_set,
    linear_regions,
    point_in,
    region_graph,
    save_complex,
    save_regions,
    skeleton,
    stream_complex,
    supertransversality_violation,
    walk_regions,
)
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import NeuronId
from tests.generators.wrong_arguments import WRONG, outcome

PAIRS: Any = [([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])]
NETWORK = from_arrays(PAIRS)
CELLS = canonical_complex(NETWORK, Polyhedron.box([-2, -2], [2, 2]))
REGIONS = region_graph(NETWORK)
SKELETON = skeleton(NETWORK)

#: The functions of a network and a domain, each with a number that must not depend on the form in
#: which the arguments are given.
OF_NETWORKS: dict[str, Callable[..., object]] = {
    "canonical_complex": lambda *a: canonical_complex(*a).f_vector,
    "stream_complex": lambda *a: sum(part.num_regions for part in stream_complex(*a)),
    "region_graph": lambda *a: region_graph(*a).num_regions,
    "skeleton": lambda *a: skeleton(*a).f_vector,
    "walk_regions": lambda *a: len(list(walk_regions(*a))),
}
#: The functions of a complex.
OF_COMPLEXES: dict[str, Callable[[Any], object]] = {
    "bent_hyperplane": lambda cells: bent_hyperplane(cells, NeuronId(1, 0)),
    "dual_graph": dual_graph,
    "face_poset": face_poset,
    "failed_checks": failed_checks,
    "fold_set": lambda cells: fold_set(cells, NeuronId(1, 0)),
    "linear_regions": linear_regions,
    "point_in": lambda cells: point_in(cells, Cell(0, 0)),
    "save_complex": lambda cells: save_complex(cells, "nowhere/cells.csv"),
    "supertransversality_violation": supertransversality_violation,
    "closure": lambda cells: Subcomplex.closure(cells, {}),
}


@pytest.mark.parametrize("name", OF_NETWORKS)
def test_networks_and_domains_in_every_form(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = OF_NETWORKS[name]
    monkeypatch.chdir(tmp_path)
    save(NETWORK, "net.json")
    box = Polyhedron.box([-2, -2], [2, 2])
    expected = function(NETWORK, box)
    for network in (PAIRS, "net.json", tmp_path / "net.json"):
        assert function(network, "box:-2,2") == expected
        assert function(network) == function(NETWORK)


@pytest.mark.parametrize("name", OF_NETWORKS)
@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_wrong_networks_and_domains(name: str, wrong: object) -> None:
    function = OF_NETWORKS[name]
    assert outcome(lambda: function(wrong))
    assert bool(outcome(lambda: function(NETWORK, wrong))) == (wrong is not None)
    assert "R^3" in outcome(lambda: function(NETWORK, Polyhedron.universe(3)))
    assert "box:1,2,3" in outcome(lambda: function(NETWORK, "box:1,2,3"))


@pytest.mark.parametrize("function", [stream_complex, walk_regions])
def test_generators_check_their_arguments_at_once(function: Callable[..., object]) -> None:
    with pytest.raises(ArgumentError, match="domain: expected a Polyhedron"):
        function(NETWORK, 3)


@pytest.mark.parametrize("name", OF_COMPLEXES)
@pytest.mark.parametrize("wrong", [*WRONG, NETWORK, REGIONS], ids=lambda wrong: repr(wrong)[:20])
def test_something_else_in_place_of_a_complex(name: str, wrong: object) -> None:
    with pytest.raises(ArgumentError, match=r"canonical_complex.* makes a complex"):
        OF_COMPLEXES[name](wrong)


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_wrong_neurons_cells_and_files(wrong: object) -> None:
    calls: list[Callable[[Any], object]] = [
        lambda value: bent_hyperplane(CELLS, value),
        lambda value: fold_set(CELLS, value),
        lambda value: point_in(CELLS, value),
        lambda value: save_complex(CELLS, value),
        lambda value: save_regions(REGIONS, value),
        lambda value: save_regions(value, "regions.csv"),
        CELLS.sign_vector,
        CELLS.vertices_and_rays,
        CELLS.generators.numbers_of,
        CELLS.generators.numbers_in_cyclic_order,
        lambda value: CELLS.locate([value]),
        lambda value: Subcomplex.closure(CELLS, {0: value}),
    ]
    assert all(outcome(lambda call=call: call(wrong)) for call in calls)  # type: ignore[misc]


@pytest.mark.parametrize("wrong", [value for value in WRONG if value != 3], ids=repr)
def test_wrong_dimensions_and_indices(wrong: object) -> None:
    calls: list[Callable[[Any], object]] = [
        CELLS.size,
        CELLS.cells,
        CELLS.constraint_signs,
        CELLS.inside,
        CELLS.facets,
        CELLS.facet_forms,
        CELLS.neighbours,
        CELLS.region,
        CELLS.region_polyhedron,
        CELLS.interior_point,
        CELLS.volume,
        CELLS.vertex,
        CELLS.signs_of_region,
        CELLS.generators.exact,
        CELLS.generators.input_coordinates,
        CELLS.generators.approximate,
        CELLS.generators.points_inside,
        bent_hyperplane(CELLS, NeuronId(1, 0)).indices,
        REGIONS.region,
        SKELETON.signs,
        SKELETON.vertex,
        SKELETON.ray,
    ]
    fine = [CELLS.facet_forms] if isinstance(wrong, list) else []
    for call in calls:
        assert bool(outcome(lambda call=call: call(wrong))) == (call not in fine)  # type: ignore[misc]
    by_default = wrong is None
    assert bool(outcome(lambda: CELLS.signs(wrong))) != by_default  # type: ignore[arg-type]
    assert bool(outcome(lambda: REGIONS.signs(wrong))) != by_default  # type: ignore[arg-type]


def test_indices_out_of_range() -> None:
    for index in (-1, 10**6):
        for call in (
            CELLS.region,
            CELLS.neighbours,
            CELLS.volume,
            CELLS.interior_point,
            CELLS.vertex,
            CELLS.generators.exact,
            CELLS.generators.approximate,
            REGIONS.region,
            SKELETON.vertex,
            SKELETON.ray,
            lambda index: CELLS.facet_forms([index]),  # type: ignore[arg-type]
            lambda index: point_in(CELLS, Cell(1, index)),
            lambda index: CELLS.sign_vector(Cell(2, index)),
            lambda index: bent_hyperplane(CELLS, NeuronId(1, index)),
            lambda index: fold_set(CELLS, NeuronId(index, 0)),
        ):
            assert str(index) in outcome(lambda call=call, index=index: call(index)) or (  # type: ignore[misc]
                "expected" in outcome(lambda call=call, index=index: call(index))  # type: ignore[misc]
            )


def test_points_that_do_not_fit() -> None:
    for point, message in (
        ([1], r"point: expected a point of shape \(2,\) or points of shape \(k, 2\)"),
        ([1, "x"], "point: 'x' is not exact text"),
        ([1, float("inf")], "point: inf is not a finite number"),
        ([[1], [2]], r"point: .* got shape \(2, 1\)"),
    ):
        with pytest.raises(DomainError, match=message):
            CELLS.locate(point)  # type: ignore[arg-type]
    assert CELLS.locate(np.array([0.5, 0.25])) == CELLS.locate(["1/2", "1/4"])
    points = np.array([[0.5, 0.25], [-1, 0]])
    assert CELLS.locate(points) == [CELLS.locate(point) for point in points]


def test_integers_of_numpy_are_indices() -> None:
    number = np.int64(1)
    assert CELLS.region(number).index == 1  # type: ignore[arg-type]
    assert CELLS.signs(np.int8(2)).shape == (7, 3)  # type: ignore[arg-type]
    assert REGIONS.region(number).index == 1  # type: ignore[arg-type]


def test_options_are_named() -> None:
    with pytest.raises(TypeError):
        canonical_complex(NETWORK, None, print)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        stream_complex(NETWORK, None, 5)  # type: ignore[call-arg]


def test_signs_and_adjacency_have_one_shape() -> None:
    cells = canonical_complex(NETWORK)
    assert cells.signs().shape == REGIONS.signs().shape == (cells.num_regions, len(REGIONS.neurons))
    assert np.array_equal(cells.signs(), cells.signs(2))
    assert np.array_equal(REGIONS.signs(), REGIONS.signs(2))
    pairs = [
        {frozenset(str(found.region(int(i)).signs) for i in pair) for pair in found.adjacency()}
        for found in (cells, REGIONS)
    ]
    assert pairs[0] == pairs[1]
    assert cells.adjacency().shape == REGIONS.adjacency().shape == (9, 2)
    assert len(cells.common_facets()) == 9
    with pytest.raises(DomainError, match="canonical_complex has all of them"):
        REGIONS.signs(1)


def test_sets_of_cells() -> None:
    part = bent_hyperplane(CELLS, NeuronId(2, 0))
    assert len(list(CELLS)) == len(CELLS) == sum(CELLS.f_vector)
    assert len(list(part)) == len(part) == sum(part.f_vector)
    assert set(part) < set(CELLS)
    assert Cell(2, 6) in CELLS
    assert all(
        other not in CELLS and other not in part
        for other in (Cell(2, 7), Cell(3, 0), Cell(-1, 0), Cell(0, -1), 3, None)
    )
    assert list(REGIONS) == REGIONS.all_regions
    assert len(REGIONS) == 7
    for wrong in (3, None, CELLS):
        with pytest.raises(TypeError):
            part | wrong
