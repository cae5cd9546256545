"""Region graphs against the face lattice and against brute force."""

from __future__ import annotations

import signal
from collections.abc import Callable
from itertools import combinations, islice
from random import Random

import networkx as nx
import pytest

from polyrelu.complex import (
    PolyhedralComplex,
    RegionGraph,
    canonical_complex,
    region_graph,
    walk_regions,
)
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays
from polyrelu.support.progress import ProgressStep
from tests.generators.campaigns import case, some_and_all
from tests.generators.quantised_networks import (
    DOMAINS,
    KINDS,
    brute_domain,
    brute_layers,
    quantised_network,
    random_domain,
)
from tests.generators.random_networks import KINDS as STACKS, random_network
from tests.generators.strategies import exact_network
from tests.oracles import cells_on_domain as brute

Signs = tuple[int, ...]


def pairs_by_signs(signs: list[Signs], pairs: list[list[int]]) -> set[frozenset[Signs]]:
    found = {frozenset((signs[one], signs[other])) for one, other in pairs}
    assert len(found) == len(pairs)
    return found


def check_against_the_lattice(found: RegionGraph, cells: PolyhedralComplex) -> None:
    """Compare regions, facets, neighbours and bounded flags with the complex."""
    expected = {
        str(cells.signs_of_region(index)): cells.region(index) for index in range(cells.num_regions)
    }
    assert found.num_regions == len(expected) == len({region.signs for region in found.all_regions})
    for region in found.all_regions:
        other = expected[str(region.signs)]
        assert sorted(region.polyhedron.inequalities) == sorted(other.polyhedron.inequalities)
        assert region.polyhedron.equations == other.polyhedron.equations
        assert (region.affine_map, region.bounded) == (other.affine_map, other.bounded)
        assert cells.network.sign_vector(region.interior_point) == region.signs
        assert region.polyhedron.contains(region.interior_point)
    assert (found.dimension, found.lineality_dim) == (cells.dimension, cells.lineality_dim)
    lattice_pairs = cells.adjacency().tolist()
    lattice_signs = [tuple(row) for row in cells.signs(cells.dimension).tolist()]
    walk_signs = [tuple(row) for row in found.signs().tolist()]
    assert pairs_by_signs(walk_signs, found.adjacency().tolist()) == pairs_by_signs(
        lattice_signs, lattice_pairs
    )


def check_against_brute_force(found: RegionGraph, network: Network, domain: Polyhedron) -> None:
    """Compare regions, neighbours and bounded flags with brute force, which needs no lattice."""
    constraints = len(domain.inequalities)
    expected = brute.cells_on_domain(brute_layers(network), brute_domain(domain))
    top = max(cell.dimension for cell in expected.values())
    regions = {key: cell for key, cell in expected.items() if cell.dimension == top}
    walls = [key for key, cell in expected.items() if cell.dimension == top - 1]
    bounded = {
        tuple(row): flag
        for row, flag in zip(found.signs().tolist(), found.bounded.tolist(), strict=True)
    }
    assert bounded == {
        key[constraints:]: not (cell.rays or cell.lines) for key, cell in regions.items()
    }
    pairs = {
        frozenset((one[constraints:], other[constraints:]))
        for wall in walls
        for one, other in combinations([key for key in regions if below(wall, key)], 2)
    }
    assert (
        pairs_by_signs([tuple(row) for row in found.signs().tolist()], found.adjacency().tolist())
        == pairs
    )


def below(face: Signs, cell: Signs) -> bool:
    return all(sign in (0, other) for sign, other in zip(face, cell, strict=True))


def check(network: Network, domain: Polyhedron) -> None:
    found = region_graph(network, domain)
    check_against_brute_force(found, network, domain)
    try:
        cells = canonical_complex(network, domain)
    except DomainError as error:
        assert "skip connection" in str(error)  # noqa: PT017
    else:
        check_against_the_lattice(found, cells)
    assert nx.is_connected(found.graph)


def all_kinds_of_networks_and_domains(step: int) -> None:
    for index, kind in enumerate(KINDS):
        for domain_kind in DOMAINS[index % step :: step]:
            rng = Random(f"walk {kind} {domain_kind}")
            network = quantised_network(kind, rng)
            with case(kind, domain_kind):
                check(network, random_domain(domain_kind, network.num_inputs, rng))


def stacks_on_the_whole_space(step: int) -> None:
    for kind in STACKS:
        rng = Random(f"walk {kind}")
        for number in range(max(3 // step, 1)):
            network = exact_network(random_network(kind, rng))
            with case(kind, number):
                check_against_the_lattice(region_graph(network), canonical_complex(network))


#: Each takes one case of k, or more.
CAMPAIGNS: list[Callable[[int], None]] = [
    all_kinds_of_networks_and_domains,
    stacks_on_the_whole_space,
]


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_few_networks(campaign: Callable[[int], None]) -> None:
    campaign(15)


@pytest.mark.parametrize("step", some_and_all(3, 1))
def test_many_networks(step: int) -> None:
    for campaign in CAMPAIGNS:
        campaign(step)


def test_skip_connections_that_read_more_than_the_first_layer() -> None:
    """Regions are found although the cells of the first layer contain lines."""
    rng, without_lattice = Random("blind first layers"), 0
    for _ in range(60):
        network = quantised_network("skip connections", rng)
        everywhere = Polyhedron.universe(network.num_inputs)
        try:
            canonical_complex(network)
        except DomainError:
            without_lattice += 1
            check_against_brute_force(region_graph(network), network, everywhere)
    assert without_lattice >= 3


def test_many_dimensions() -> None:
    """Four hyperplanes in general position in R^16; the lattice refuses sixteen of them."""
    rng = Random("many dimensions")
    rows = [[rng.randint(-99, 99) for _ in range(16)] for _ in range(4)]
    network = from_arrays([(rows, [rng.randint(-9, 9) for _ in rows]), ([[1] * 4], [0])])
    domain = Polyhedron.from_constraints(
        [[int(i == j) for j in range(16)] for i in range(16)] + [[-1] * 16], [1000] * 16 + [1000]
    )
    with pytest.raises(DomainError, match="too many to list"):
        canonical_complex(
            from_arrays([([[int(i == j) for j in range(16)] for i in range(16)], [0] * 16)], "relu")
        )
    found = region_graph(network, domain)
    assert (found.num_regions, len(found.adjacency()), found.num_bounded_regions) == (16, 32, 16)


def test_bounded_and_unbounded_regions() -> None:
    """The line x + y = 1 cuts the quadrant into a triangle and an unbounded region."""
    network = from_arrays([([[1, 1]], [-1]), ([[1]], [0])])
    found = region_graph(network, Polyhedron.orthant(2))
    assert dict(zip(found.signs()[:, 0].tolist(), found.bounded.tolist(), strict=True)) == {
        1: False,
        -1: True,
    }


def test_the_walk_is_lazy_and_numbers_stay() -> None:
    network = quantised_network("integers", Random(3))
    whole = list(walk_regions(network))
    assert [visit.region.index for visit in whole] == list(range(len(whole)))
    assert list(islice(walk_regions(network), 2)) == whole[:2]
    for index, visit in enumerate(whole):
        assert len(visit.neighbours) == len(visit.region.polyhedron.inequalities)
        assert all(
            index in whole[other].neighbours for other in visit.neighbours
        )  # the domain has no boundary


def test_ctrl_c_keeps_the_regions_so_far() -> None:
    network = quantised_network("integers", Random(3))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def press(step: ProgressStep) -> None:
        if step.num_done == 3:
            signal.raise_signal(signal.SIGINT)

    try:
        found = region_graph(network, progress=press)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (found.num_regions, found.complete) == (3, False)
    assert found.adjacency().max() < 3
    assert region_graph(network).complete
