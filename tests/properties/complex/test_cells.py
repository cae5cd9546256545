"""The complex against brute force, on random networks and domains, most of them degenerate."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, islice
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from polyrelu.complex import (
    Cell,
    PolyhedralComplex,
    bent_hyperplane,
    canonical_complex,
    fold_set,
    stream_complex,
    supertransversality_violation,
)
from polyrelu.complex.graphs import dual_graph, face_poset, linear_regions
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays
from polyrelu.symmetry import permute, rescale
from tests.generators.campaigns import case, examples, some_and_all
from tests.generators.files import ROOT
from tests.generators.quantised_networks import (
    DOMAINS,
    KINDS,
    brute_domain,
    brute_layers,
    dimensions_by_signs,
    quantised_network,
    random_domain,
)
from tests.generators.random_networks import KINDS as STACKS, random_network
from tests.generators.strategies import exact_network, plain_stacks
from tests.oracles import cells_on_domain as brute
from tests.oracles.plain import Network as Stack

Point = tuple[Fraction, ...]
Marks = NDArray[np.bool_]


#: A campaign takes one case of k, or more.
Campaign = Callable[[int], None]


def samples(kind: str, rounds: int, seed: int = 0) -> Iterator[tuple[Network, Polyhedron]]:
    """Networks of one kind on domains of all kinds."""
    for number in range(rounds):
        for domain in DOMAINS:
            rng = Random(f"{kind} {domain} {seed} {number}")
            network = quantised_network(kind, rng)
            yield network, random_domain(domain, network.num_inputs, rng)


def every(
    step: int, kinds: Sequence[str], rounds: int, seed: int = 0
) -> Iterator[tuple[tuple[str, int], Network, Polyhedron]]:
    """Yield every k-th sample of each kind and its name, on other domains for other kinds."""
    for index, kind in enumerate(kinds):
        chosen = islice(enumerate(samples(kind, rounds, seed)), index % step, None, step)
        for number, (network, domain) in chosen:
            yield (kind, number), network, domain


def all_signs(cells: PolyhedralComplex, dimension: int) -> NDArray[np.int8]:
    return np.concatenate([cells.constraint_signs(dimension), cells.signs(dimension)], axis=1)


def keys(cells: PolyhedralComplex) -> dict[brute.Key, Cell]:
    """All cells, by the signs with which the brute-force enumeration names them."""
    return {
        tuple(row): Cell(k, i)
        for k in range(cells.lineality_dim, cells.dimension + 1)
        for i, row in enumerate(all_signs(cells, k).tolist())
    }


def is_face(faces: NDArray[np.int8], cells: NDArray[np.int8]) -> Marks:
    """Whether the signs of each face arise from the signs of each cell, shape (cells, faces)."""
    lower, upper = faces[None], cells[:, None]
    below: Marks = ((lower == 0) | (lower == upper)).all(axis=2)
    return below


def facet_matrix(cells: PolyhedralComplex, dimension: int) -> Marks:
    """Whether each cell of a dimension has each facet, shape (cells, facets)."""
    offsets, entries = cells.facets(dimension)
    matrix = np.zeros((cells.size(dimension), cells.size(dimension - 1)), dtype=bool)
    matrix[np.repeat(np.arange(len(matrix)), np.diff(offsets)), entries] = True
    assert matrix.sum() == len(entries)
    return matrix


# -- Brute force -----------------------------------------------------------------------------------


def check_cells(cells: PolyhedralComplex, expected: dict[brute.Key, brute.Cell]) -> None:
    """Compare signs, dimensions, vertices, rays, counts, bounded flags and `locate`."""
    assert dimensions_by_signs(cells) == {signs: cell.dimension for signs, cell in expected.items()}
    count = Counter(cell.dimension for cell in expected.values())
    assert cells.f_vector == tuple(count[k] for k in range(cells.dimension + 1))
    assert cells.num_regions == count[max(count)]
    assert (
        {cell.lines for cell in expected.values()}
        == {cells.lineality_dim}
        == {len(cells.lineality)}
    )
    bounded = 0
    for signs, cell in keys(cells).items():
        other = expected[signs]
        points, rays = cells.vertices_and_rays(cell)
        assert len(points) == len(set(points)) == len(other.corners)
        assert len(rays) == len(set(rays)) == len(other.rays)
        if not cells.lineality:
            assert set(points) == other.corners
            assert set(rays) == other.rays
        if cell.dimension == cells.dimension:
            assert cells.bounded[cell.index] == (not other.rays and not other.lines)
            bounded += not other.rays and not other.lines
        assert cells.locate(other.point) == cell
    assert cells.num_bounded_regions == bounded


def check_order(cells: PolyhedralComplex) -> None:
    """Compare the order that facets generate with the face order of signs."""
    reached: dict[tuple[int, int], Marks] = {}
    for upper in range(cells.lineality_dim + 1, cells.dimension + 1):
        facets = facet_matrix(cells, upper)
        for lower in range(upper - 1, cells.lineality_dim - 1, -1):
            below = facets if lower == upper - 1 else facets @ reached[upper - 1, lower]
            reached[upper, lower] = below
            assert (below == is_face(all_signs(cells, lower), all_signs(cells, upper))).all()


def check_adjacency(cells: PolyhedralComplex) -> None:
    """Compare neighbours with pairs of regions that have a common face of codimension 1."""
    if cells.dimension == cells.lineality_dim:
        assert len(cells.adjacency()) == 0
        return
    below = is_face(all_signs(cells, cells.dimension - 1), all_signs(cells, cells.dimension))
    expected = {
        (int(one), int(other), facet)
        for facet in range(below.shape[1])
        for one, other in combinations(np.flatnonzero(below[:, facet]), 2)
    }
    pairs, facets = cells.adjacency().tolist(), cells.common_facets().tolist()
    found = [(one, other, facet) for (one, other), facet in zip(pairs, facets, strict=True)]
    assert all(one < other for one, other in pairs)
    assert set(found) == expected
    assert len(found) == len(expected)


def check_euler(cells: PolyhedralComplex) -> None:
    """Check Σ (-1)^k f_k: ±1 if the domain is bounded modulo lines, and 0 otherwise."""
    lines = cells.domain.lineality_space()
    cone = cells.domain.generators()
    expected = 0 if cone.rays else (-1) ** len(lines)
    assert sum((-1) ** k * count for k, count in enumerate(cells.f_vector)) == expected


def check_subcomplexes(cells: PolyhedralComplex) -> None:
    """Compare bent hyperplanes and fold-sets with the face order of signs."""
    dimensions = range(cells.lineality_dim, cells.dimension + 1)
    for column, neuron in enumerate(cells.neurons):
        bent, fold = bent_hyperplane(cells, neuron), fold_set(cells, neuron)
        for k in dimensions:
            near_any, near_positive = np.zeros((2, cells.size(k)), dtype=bool)
            for upper in dimensions[k - cells.lineality_dim :]:
                signs = cells.signs(upper)[:, column]
                below = is_face(all_signs(cells, k), all_signs(cells, upper))
                near_any |= below[signs != 0].any(axis=0)
                near_positive |= below[signs > 0].any(axis=0)
            zero = cells.signs(k)[:, column] == 0
            assert (bent.masks[k] == (zero & near_any)).all()
            assert (fold.masks[k] == (zero & near_positive)).all()
    zeros = {k: (all_signs(cells, k) == 0).sum(axis=1) for k in dimensions}
    generic = all((zeros[k] == cells.dimension - k).all() for k in dimensions)
    violation = supertransversality_violation(cells)
    assert (violation is None) == generic
    if violation is not None:
        assert zeros[violation.dimension][violation.index] != cells.dimension - violation.dimension


def check(network: Network, domain: Polyhedron) -> PolyhedralComplex:
    """Run all checks above on a complex."""
    cells = canonical_complex(network, domain)
    check_cells(cells, brute.cells_on_domain(brute_layers(network), brute_domain(domain)))
    check_order(cells)
    check_adjacency(cells)
    check_euler(cells)
    return cells


def brute_force_on_all_kinds_of_domains(step: int) -> None:
    for name, network, domain in every(step, KINDS, 2):
        with case(*name):
            cells = check(network, domain)
            if name[1] % 3 == 0:
                check_subcomplexes(cells)


def brute_force_on_the_whole_space(step: int) -> None:
    for kind in STACKS:
        rng = Random(f"whole space {kind}")
        for number in range(max(6 // step, 1)):
            network = exact_network(random_network(kind, rng))
            with case(kind, number):
                check(network, Polyhedron.universe(network.num_inputs))


def wide(rng: Random) -> tuple[Network, Polyhedron]:
    """More than 32 neurons in both layers and more than 32 constraints.

    Only the last rows are no multiples of the first ones, so that the base is spread over several
    words of signs.
    """
    rows = [[rng.choice([0, 1, -1, 2]), 0] for _ in range(34)] + [[1, 1], [rng.randint(0, 1), 1]]
    second = [[rng.randint(-1, 1) * (rng.random() < 0.02) for _ in rows] for _ in range(33)]
    first = rows, [rng.randint(-1, 1) for _ in rows]
    network = from_arrays(
        [first, (second, [rng.randint(-1, 1) for _ in second]), ([[1] * 33], [0])]
    )
    loose = [([1, 0], rng.randint(2, 9)) for _ in range(33)] + [
        ([0, rng.choice([1, -1])], 2)
    ] * rng.randint(0, 1)
    return network, Polyhedron.from_constraints(
        [row for row, _ in loose], [side for _, side in loose]
    )


@pytest.mark.slow
def test_more_than_one_word_of_signs() -> None:
    rng = Random("wide")
    for _ in range(4):
        check(*wide(rng))


# -- Points ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS[::3])
def test_locate_agrees_with_signs(kind: str) -> None:
    rng = Random(f"locate {kind}")
    for network, domain in samples(kind, 1, seed=1):
        cells = canonical_complex(network, domain)
        by_signs = keys(cells)
        layers, rows = brute_layers(network), brute_domain(domain)
        points = [cells.vertex(index) for index in range(min(cells.size(cells.lineality_dim), 12))]
        points += [
            tuple((a + b) / 2 for a, b in zip(*pair, strict=True))
            for pair in combinations(points[:5], 2)
        ]
        points += [
            tuple(Fraction(rng.randint(-12, 12), 4) for _ in range(network.num_inputs))
            for _ in range(20)
        ]
        for point in points:
            found = cells.locate(point)
            assert (found is None) == (not domain.contains(point))
            if found is not None:
                assert found == by_signs[brute.sign_key(layers, rows, point)]
                assert cells.sign_vector(found) == network.sign_vector(point)


# -- Regions ---------------------------------------------------------------------------------------


def check_region(cells: PolyhedralComplex, index: int) -> None:
    """Compare polyhedron, vertices, rays and affine map of a region with the network."""
    region = cells.region(index)
    points, rays = cells.vertices_and_rays(Cell(cells.dimension, index))
    generators = region.polyhedron.generators()
    assert (len(generators.points), len(generators.rays)) == (len(points), len(rays))
    if cells.lineality:
        lines = [list(map(int, line)) for line in cells.lineality]
        assert Polyhedron.from_generators(points, rays, lines).equals(region.polyhedron)
    else:
        assert (set(generators.points), set(generators.rays)) == (set(points), set(rays))
    canonical = region.polyhedron.irredundant()
    assert len(canonical.inequalities) == len(region.polyhedron.inequalities)
    assert (
        len(canonical.equations)
        == len(region.polyhedron.equations)
        == cells.network.num_inputs - cells.dimension
    )
    assert cells.locate(region.interior_point) == Cell(cells.dimension, index)
    assert region.bounded == (not rays and not cells.lineality)
    assert region.signs == cells.network.sign_vector(region.interior_point)
    for point in (*points, region.interior_point):
        assert region.polyhedron.contains(point)
        if cells.network.last == "affine":
            assert region.affine_map(point) == cells.network(point)


def regions(step: int) -> None:
    for name, network, domain in every(step, KINDS, 1, seed=2):
        with case(*name):
            cells = canonical_complex(network, domain)
            for index in range(0, cells.num_regions, max(1, cells.num_regions // 3)):
                check_region(cells, index)


@pytest.mark.parametrize("kind", KINDS)
def test_volumes_of_a_box_add_up(kind: str) -> None:
    rng = Random(f"volumes {kind}")
    for _ in range(4):
        network = quantised_network(kind, rng)
        box = random_domain("box", network.num_inputs, rng)
        low, high = box.generators().points[0], box.generators().points[-1]
        total = Fraction(1)
        for a, b in zip(low, high, strict=True):
            total *= b - a
        cells = canonical_complex(network, box)
        volumes = [cells.volume(index) for index in range(cells.num_regions)]
        assert min(volumes) > 0
        assert sum(volumes) == total
        merged = linear_regions(cells)
        assert sorted(index for part in merged for index in part) == list(range(cells.num_regions))


@pytest.mark.parametrize("kind", KINDS[::4])
def test_graphs_are_those_of_facets_and_neighbours(kind: str) -> None:
    for network, domain in samples(kind, 1, seed=3):
        cells = canonical_complex(network, domain)
        graph, poset = dual_graph(cells), face_poset(cells)
        edges = {(min(a, b), max(a, b)) for a, b in cells.adjacency().tolist()}
        assert {(min(edge), max(edge)) for edge in graph.edges} == edges
        assert list(graph) == list(range(cells.num_regions))
        assert len(poset) == sum(cells.f_vector)
        for k in range(cells.lineality_dim + 1, cells.dimension + 1):
            pairs = {
                (Cell(k, int(i)), Cell(k - 1, int(j)))
                for i, j in np.argwhere(facet_matrix(cells, k))
            }
            assert {edge for edge in poset.edges if edge[0].dimension == k} == pairs


# -- Parts -----------------------------------------------------------------------------------------


def ends(cells: PolyhedralComplex, index: int) -> tuple[list[Point], list[tuple[int, ...]]]:
    points, rays = cells.vertices_and_rays(Cell(cells.dimension, index))
    return sorted(points), sorted(rays)


def check_parts(network: Network, domain: Polyhedron, limit: int) -> None:
    whole = canonical_complex(network, domain)
    places = {whole.signs_of_region(index): index for index in range(whole.num_regions)}
    assert len(places) == whole.num_regions
    for part in stream_complex(network, domain, limit=limit):
        check_order(part)
        for index in range(part.num_regions):
            other = places.pop(
                part.signs_of_region(index)
            )  # raises an error if a region occurs twice
            assert part.bounded[index] == whole.bounded[other]
            assert ends(part, index) == ends(whole, other)
        if part.num_regions:
            check_region(part, 0)
    assert not places


def parts_have_the_regions_of_the_whole(step: int) -> None:
    for name, network, domain in every(step, KINDS[1::3], 1, seed=4):
        for limit in (1, 5):
            with case(*name, limit):
                check_parts(network, domain, limit)


# -- Campaigns -------------------------------------------------------------------------------------

CAMPAIGNS: list[Campaign] = [
    brute_force_on_all_kinds_of_domains,
    brute_force_on_the_whole_space,
    regions,
    parts_have_the_regions_of_the_whole,
]


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_few_networks(campaign: Campaign) -> None:
    campaign(15)


@pytest.mark.parametrize("step", some_and_all(4, 1))
def test_many_networks(step: int) -> None:
    for campaign in CAMPAIGNS:
        campaign(step)


# -- Invariance ------------------------------------------------------------------------------------


def shape(cells: PolyhedralComplex) -> tuple[object, ...]:
    return cells.f_vector, cells.num_bounded_regions, cells.lineality_dim


@examples(40)
@given(plain_stacks(widths=[2, 3, 2, 1]) | plain_stacks(widths=[3, 2, 2, 1]), st.data())
@pytest.mark.slow
def test_permutations_and_positive_scalings(stack: Stack, data: st.DataObject) -> None:
    network = exact_network(stack)
    changed = network
    for layer in (1, 2):
        width = network.widths[layer]
        changed = permute(changed, layer, data.draw(st.permutations(range(width))))
        factors = st.sampled_from(
            [Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(2**60), Fraction(1, 2**60)]
        )
        changed = rescale(
            changed, layer, data.draw(st.lists(factors, min_size=width, max_size=width))
        )
    for domain in (
        None,
        Polyhedron.box([-1] * network.num_inputs, [Fraction(3, 2)] * network.num_inputs),
    ):
        assert shape(canonical_complex(changed, domain)) == shape(
            canonical_complex(network, domain)
        )


@examples(25)
@given(plain_stacks(widths=[2, 4, 2, 1]), st.integers(-3, 3), st.integers(1, 3))
def test_boxes_seen_as_polyhedra(stack: Stack, corner: int, size: int) -> None:
    """The same box with other inequalities has other constraint signs and the same cells."""
    network = exact_network(stack)
    box = Polyhedron.box([corner, corner], [corner + size, corner + size])
    points = box.generators().points
    other = Polyhedron.from_generators([*points, [corner + Fraction(size, 3)] * 2])
    loose = box.intersect(Polyhedron.from_constraints([[1, 1], [0, 1]], [2 * (corner + size), 100]))
    assert shape(canonical_complex(network, box)) == shape(canonical_complex(network, other))
    assert shape(canonical_complex(network, box)) == shape(canonical_complex(network, loose))


# -- Order -----------------------------------------------------------------------------------------

_DIGEST = """
import hashlib
from random import Random
from polyrelu.complex import canonical_complex
from tests.generators.quantised_networks import quantised_network, random_domain
found = hashlib.sha256()
for kind in ("integers", "skip connections", "open zero"):
    rng = Random(kind)
    network = quantised_network(kind, rng)
    cells = canonical_complex(network, random_domain("box", network.num_inputs, rng))
    for k in range(cells.dimension + 1):
        found.update(cells.signs(k).tobytes() + cells.facets(k)[1].tobytes())
print(found.hexdigest())
"""


def test_cells_have_the_same_numbers_in_every_run() -> None:
    root = ROOT
    digests = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", _DIGEST],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 1
