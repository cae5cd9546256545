"""Homology of level sets and other subcomplexes of random networks, by a second method.

The second method is the order complex of the face poset, unbounded cells included, with plain
elimination. Further checks are duality and Euler characteristics.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from polyrelu.complex import PolyhedralComplex, Subcomplex, canonical_complex, point_in
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays
from polyrelu.topology import (
    betti_numbers,
    decision_boundary,
    decision_region,
    homology,
    level_set,
    sublevel_set,
    superlevel_set,
)
from tests.generators.campaigns import case, few_and_all, few_fast
from tests.generators.quantised_networks import (
    DOMAINS,
    KINDS,
    brute_domain,
    brute_layers,
    quantised_network,
    random_domain,
)
from tests.generators.random_networks import KINDS as GAUSSIAN_KINDS, random_network
from tests.oracles import cells_on_domain as brute, order_complex

#: The networks of each kind on R^n, and of each kind of domain.
SEEDS = range(8)
#: Chains of faces up to which the second method is used.
CHAINS = 4000

Outputs = tuple[Fraction, ...]
Rule = Callable[[Outputs], bool]


# --- Sets --------------------------------------------------------------------------------------


def random_set(network: Network, domain: Polyhedron, rng: Random) -> tuple[Subcomplex, Rule]:
    """A set, and whether a point with given outputs belongs to it.

    Levels are often values at special points.
    """
    output = rng.randrange(network.num_outputs)
    point = domain.relative_interior_point()
    assert point is not None
    values = [
        network(point)[output],
        network([0] * network.num_inputs)[output],
        Fraction(0),
        Fraction(rng.randint(-3, 3), 2),
    ]
    level, label = rng.choice(values), rng.randrange(max(network.num_outputs, 2))
    single = network.num_outputs == 1
    choices: list[tuple[Callable[[], Subcomplex], Rule]] = [
        (lambda: level_set(network, level, domain, output=output), lambda f: f[output] == level),
        (lambda: sublevel_set(network, level, domain, output=output), lambda f: f[output] <= level),
        (
            lambda: superlevel_set(network, level, domain, output=output),
            lambda f: f[output] >= level,
        ),
        (
            lambda: decision_boundary(network, domain),
            lambda f: f[0] == 0 if single else f.count(max(f)) > 1,
        ),
        (
            lambda: decision_region(network, label, domain),
            lambda f: (f[0] >= 0 if label else f[0] <= 0) if single else f[label] == max(f),
        ),
    ]
    make, rule = rng.choice(choices)
    return make(), rule


def check_membership(part: Subcomplex, network: Network, rule: Rule) -> None:
    """Evaluate a point inside every cell by the network itself."""
    cells = part.cells
    every = [
        cell for k in range(cells.lineality_dim, cells.dimension + 1) for cell in cells.cells(k)
    ]
    outputs = network.evaluate([point_in(cells, cell) for cell in every])
    assert [cell in part for cell in every] == [rule(values) for values in outputs]


def random_closure(cells: PolyhedralComplex, rng: Random) -> Subcomplex:
    masks = {}
    for k in range(cells.lineality_dim, cells.dimension + 1):
        share = rng.choice([0, 0.1, 0.4, 0.8])
        masks[k] = np.array([rng.random() < share for _ in range(cells.size(k))], dtype=bool)
    return Subcomplex.closure(cells, masks)


# --- The second method -------------------------------------------------------------------------


def signs_of(part: Subcomplex) -> tuple[list[list[int]], list[int]]:
    """The signs of constraints of the domain and of neurons on all cells, and their dimensions."""
    cells = part.cells
    keys: list[list[int]] = []
    dimensions: list[int] = []
    for k in range(cells.lineality_dim, cells.dimension + 1):
        rows = np.concatenate([cells.constraint_signs(k), cells.signs(k)], axis=1)[part.indices(k)]
        keys += rows.tolist()
        dimensions += [k] * len(rows)
    return keys, dimensions


def check_homology(
    part: Subcomplex, keys: list[list[int]], dimensions: list[int], rng: Random
) -> bool:
    """Compare with the order complex; whether it was small enough."""
    found = homology(part)
    assert found.euler_with_compact_support == sum((-1) ** k for k in dimensions)
    faces = order_complex.faces_by_signs(keys)
    characteristics = [0, 2] if rng.random() < 0.7 else [3]
    for characteristic in characteristics:
        try:
            expected = order_complex.betti_numbers(faces, characteristic, CHAINS)
        except order_complex.TooManyChainsError:
            return False
        length = len(part.masks)
        assert (
            betti_numbers(part, characteristic=characteristic)
            == tuple(expected + [0] * length)[:length]
        )
        assert not any(expected[length:])
        assert found.euler_characteristic == sum((-1) ** k * b for k, b in enumerate(expected))
    return True


def check(network: Network, domain: Polyhedron, rng: Random) -> bool:
    """Check a random network; whether both of its sets were compared with the order complex."""
    try:
        part, rule = random_set(network, domain, rng)
        cells = canonical_complex(network, domain)
    except DomainError:  # a skip connection reads directions that layer 1 does not read
        assert not network.is_plain
        return check(
            network,
            domain.intersect(Polyhedron.box([-7] * network.num_inputs, [7] * network.num_inputs)),
            rng,
        )
    check_membership(part, network, rule)
    other = random_closure(cells, rng)
    compared = [check_homology(subset, *signs_of(subset), rng) for subset in (part, other)]
    return all(compared)


def degenerate_networks_on_the_whole_space(seeds: range) -> None:
    for kind in KINDS:
        compared = 0
        for seed in seeds:
            with case(kind, seed):
                rng = Random(f"topology {kind} {seed}")
                network = quantised_network(kind, rng)
                compared += check(network, Polyhedron.universe(network.num_inputs), rng)
        assert compared > len(seeds) // 2, kind


def degenerate_networks_on_domains(seeds: range) -> None:
    for kind in DOMAINS:
        compared = 0
        for seed in seeds:
            with case(kind, seed):
                rng = Random(f"topology domain {kind} {seed}")
                network = quantised_network(rng.choice(KINDS), rng)
                compared += check(network, random_domain(kind, network.num_inputs, rng), rng)
        assert compared > len(seeds) // 2, kind


def networks_with_several_outputs(seeds: range) -> None:
    for kind in GAUSSIAN_KINDS:
        compared = 0
        for seed in seeds[:4]:
            with case(kind, seed):
                rng = Random(f"topology {kind} {seed}")
                network = from_arrays(random_network(kind, rng), rng.choice(["affine", "relu"]))
                compared += check(network, Polyhedron.universe(network.num_inputs), rng)
        assert compared >= len(seeds) // 8, kind


CAMPAIGNS: list[Callable[[range], None]] = [
    degenerate_networks_on_the_whole_space,
    degenerate_networks_on_domains,
    networks_with_several_outputs,
]


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_few_networks(campaign: Callable[[range], None]) -> None:
    campaign(SEEDS[:1])


@pytest.mark.slow
def test_many_networks() -> None:
    for campaign in CAMPAIGNS:
        campaign(SEEDS)


# --- A third one: cells, signs and sets by brute force as well ---------------------------------


def layers_with_level(network: Network, level: Fraction) -> list[brute.Layer]:
    """The hidden layers, and one more with f - level, where f is the first output."""
    hidden = brute_layers(network)
    if network.last == "relu":
        row = [[Fraction(int(k == 0)) for k in range(network.num_outputs)]]
        return [*hidden, ([(network.depth, row)], [-level])]
    last = network.layers[-1]
    blocks = [(block.source, [list(block.weight.row(0))]) for block in last.blocks]
    return [*hidden, (blocks, [last.bias[0, 0] - level])]


@pytest.mark.parametrize("kind", KINDS)
def test_level_sets_by_brute_force_alone(kind: str) -> None:
    for seed in range(2):
        rng = Random(f"brute {kind} {seed}")
        network = quantised_network(kind, rng)
        domain = random_domain(rng.choice(DOMAINS), network.num_inputs, rng)
        point = domain.relative_interior_point()
        assert point is not None
        level = rng.choice([network(point)[0], Fraction(rng.randint(-2, 2))])
        cells = brute.cells_on_domain(layers_with_level(network, level), brute_domain(domain))
        inside = {key: cell for key, cell in cells.items() if network(cell.point)[0] == level}
        part = level_set(network, level, domain=domain)
        check_homology(
            part, [list(key) for key in inside], [cell.dimension for cell in inside.values()], rng
        )


# --- Duality and Euler characteristics ---------------------------------------------------------


def generic_network(seed: int) -> Network:
    rng = Random(f"generic {seed}")
    widths = rng.choice([(2, 5, 4, 1), (2, 7, 1), (3, 5, 3, 1), (3, 6, 1)])
    layers = [
        (
            [[Fraction(rng.gauss(0, 1)) for _ in range(n)] for _ in range(m)],
            [Fraction(rng.gauss(0, 1)) for _ in range(m)],
        )
        for n, m in pairwise(widths)
    ]
    weights, _ = layers[-1]
    if rng.random() < 0.8:  # mostly positive outgoing weights make many bounded level sets
        weights[:] = [[abs(w) if rng.random() < 0.85 else w for w in row] for row in weights]
    return from_arrays(layers)


@pytest.mark.parametrize("count", few_and_all(24, 40))
def test_alexander_and_poincare_duality(count: int) -> None:
    """A bounded level c through no vertex is a closed manifold M of dimension n - 1 with a collar,
    so f ≤ c and f ≥ c together have the homology of R^n without M."""
    checked = holes = 0
    for seed in range(count):
        network = generic_network(seed)
        size, cells = network.num_inputs, canonical_complex(network)
        values = {network(cells.vertex(index))[0] for index in range(cells.size(0))}
        ordered = sorted(values)
        place = len(ordered) * (1 + seed % 4) // 5
        level = (ordered[place - 1] + ordered[place]) / 2
        part = level_set(network, level)
        if part.dimension < 0 or any(part.cells.vertices_and_rays(cell)[1] for cell in part):
            continue
        found = homology(part)
        assert found.torsion == ((),) * (size + 1)
        betti = found.betti[:size]
        assert betti == betti[::-1]  # Poincaré
        below, above = (
            homology(make(network, level)).betti for make in (sublevel_set, superlevel_set)
        )
        outside = [a + b for a, b in zip(below, above, strict=True)]
        outside[0] -= 1
        assert outside == [
            *betti[::-1],
            0,
        ]  # Alexander; in dimension n - 1 also the class around all of M
        checked += 1
        holes += betti[0] > 1
    assert checked > count / 4
    assert holes > 0


@pytest.mark.parametrize("kind", few_fast(KINDS, 5))
def test_inclusion_and_exclusion(kind: str) -> None:
    """f ≤ c and f ≥ c cover the domain, which is contractible, and meet in f = c."""
    for seed in range(6):
        rng = Random(f"inclusion {kind} {seed}")
        network = quantised_network(kind, rng)
        domain = random_domain(rng.choice(DOMAINS), network.num_inputs, rng)
        level = Fraction(rng.randint(-2, 2), rng.choice([1, 2]))
        below, above, both = (
            homology(make(network, level, domain=domain))
            for make in (sublevel_set, superlevel_set, level_set)
        )
        assert (
            below.euler_characteristic + above.euler_characteristic == 1 + both.euler_characteristic
        )
        whole = canonical_complex(
            network, Polyhedron.box([0] * network.num_inputs, [1] * network.num_inputs)
        )
        everything = Subcomplex.closure(
            whole, {whole.dimension: np.ones(whole.num_regions, dtype=bool)}
        )
        found = homology(everything)
        assert found.betti == (1, *[0] * network.num_inputs)
        assert found.euler_characteristic == found.euler_with_compact_support == 1
