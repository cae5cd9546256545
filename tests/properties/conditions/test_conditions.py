"""Conditions of theorems against brute force, on random networks, most of them degenerate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice
from random import Random

import pytest

from polyrelu.complex import Cell, PolyhedralComplex, bent_hyperplane, canonical_complex
from polyrelu.conditions import (
    Limits,
    ZeroExtremum,
    affine_pieces,
    conditions,
    linear_regions_property,
    noncollinear_pieces,
    pairwise_crossings,
    pl_general,
    supertransversality,
    transparency,
    zero_extrema,
)
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, NeuronId, from_arrays
from tests.generators.campaigns import case, few_and_all, some_and_all
from tests.generators.quantised_networks import (
    DOMAINS,
    KINDS,
    brute_domain,
    brute_layers,
    quantised_network,
    random_domain,
)
from tests.generators.random_networks import KINDS as STACKS, random_network
from tests.oracles import conditions as brute
from tests.oracles.cells_on_domain import Key, Layer, sign_key

Point = tuple[Fraction, ...]


def all_layers(network: Network) -> list[Layer]:
    """The layers in the form of the oracles, including the output layer."""
    return brute_layers(Network(network.num_inputs, network.layers, "relu"))


class Sample:
    """A network, its cells, and the cells that brute force finds."""

    def __init__(self, network: Network, domain: Polyhedron) -> None:
        self.network = network
        self.cells = canonical_complex(network, domain)
        self.known = brute.stars(
            all_layers(network), network.num_hidden_layers, brute_domain(domain)
        )

    def key(self, point: Point) -> Key:
        """The signs at a point, from its values."""
        return sign_key(self.known.layers[: self.known.hidden], self.known.domain, point)

    def key_of(self, cell: Cell, point: Point) -> Key:
        """The signs of a cell of the evidence, from the point that the evidence gives."""
        assert self.cells.locate(point) == cell
        return self.key(point)


def cornered(rng: Random) -> Network:
    """A network with two inputs and small integers whose later neurons often cross all others.

    The signs of the weights are chosen such that they cross all neurons of the layer before.
    """

    def rows(low: int, high: int, width: int, bias: int) -> tuple[list[list[int]], list[int]]:
        weights = [[rng.randint(low, high) for _ in range(2)] for _ in range(width)]
        return weights, [-rng.randint(0, bias) for _ in range(width)]

    hidden = [rows(-3, 3, 2, 1), rows(1, 4, 2, 3), rows(1, 3, rng.randint(1, 2), 6)][
        : rng.randint(2, 3)
    ]
    return from_arrays([*hidden, ([[1] * len(hidden[-1][1])], [0])])


def covering(rng: Random) -> Network:
    """A network with two inputs whose layers are seldom off.

    The rows of a layer point in all directions, or in two opposite ones.
    """
    first = [[rng.randint(1, 3), rng.randint(-1, 1)], [rng.randint(-1, 1), rng.randint(1, 3)]]
    first.append([rng.randint(-3, -1), rng.randint(-3, -1)])
    second = [[rng.randint(1, 4) for _ in first], [-rng.randint(1, 4) for _ in first]]
    biases = [rng.randint(0, 2) for _ in first], [-rng.randint(1, 9), rng.randint(1, 15)]
    return from_arrays(
        [(first, biases[0]), (second, biases[1]), ([[rng.randint(1, 3), rng.randint(1, 3)]], [1])]
    )


def networks_on_domains() -> Iterator[tuple[Network, Polyhedron]]:
    for kind in KINDS:
        for domain in DOMAINS:
            rng = Random(f"conditions {kind} {domain}")
            network = quantised_network(kind, rng)
            yield network, random_domain(domain, network.num_inputs, rng)
    for seed in range(120):
        make = covering if seed % 2 else cornered
        yield make(Random(f"crossing {seed}")), Polyhedron.universe(2)
    for kind in STACKS:
        for seed in range(6):
            network = from_arrays(random_network(kind, Random(f"conditions {kind} {seed}")))
            if network.num_inputs < 4:
                yield network, Polyhedron.universe(network.num_inputs)


def samples(every: int) -> list[Sample]:
    """Return a sample for every n-th of the networks."""
    found = []
    for network, domain in islice(networks_on_domains(), 0, None, every):
        try:
            found.append(Sample(network, domain))
        except DomainError:  # a skip connection reads along lines of the first layer
            assert not network.is_plain
    return found


def check_supertransversality(known_samples: list[Sample]) -> None:
    statuses = Counter[str]()
    for sample in known_samples:
        found, wrong = supertransversality(sample.cells), brute.wrong_cells(sample.known)
        statuses[found.status] += 1
        assert found.status == ("fails" if wrong else "holds")
        assert found.num_checked == len(sample.known.cells.keys) - len(wrong)
        if found.evidence is not None:
            key = sample.key_of(found.evidence.cell, found.evidence.point)
            assert key in wrong
            assert key.count(0) == found.evidence.num_zeros != found.evidence.codimension
    assert min(statuses["holds"], statuses["fails"]) > len(known_samples) // 9


def check_transparency(known_samples: list[Sample]) -> None:
    statuses = Counter[str]()
    for sample in known_samples:
        found, opaque = transparency(sample.cells), brute.opaque_cells(sample.known)
        statuses[found.status] += 1
        assert found.status == ("fails" if opaque else "holds")
        pairs = zip(sample.known.cells.keys, sample.known.cells.dimensions, strict=True)
        regions = {key for key, dimension in pairs if dimension == sample.cells.dimension}
        assert found.num_checked == len(regions - {key for key, _ in opaque})
        if found.evidence is not None:
            region = Cell(sample.cells.dimension, found.evidence.region)
            assert (sample.key_of(region, found.evidence.point), found.evidence.layer) in opaque
    assert min(statuses["holds"], statuses["fails"]) > len(known_samples) // 9


def check_linear_regions(known_samples: list[Sample]) -> None:
    statuses = Counter[str]()
    for sample in known_samples:
        found = linear_regions_property(sample.cells)
        invisible, facets = brute.invisible_facets(sample.known)
        statuses[found.status] += len(facets) > 0
        assert found.status == ("fails" if invisible else "holds")
        assert found.num_checked == len(facets) - len(invisible)
        if found.evidence is not None:
            key = sample.key_of(found.evidence.facet, found.evidence.point)
            assert key in invisible
            one, other = found.evidence.regions
            between = sample.cells.facets_to_neighbours(one)
            place = between.index(found.evidence.facet)
            assert sample.cells.neighbours(one)[place] == other
    assert min(statuses["holds"], statuses["fails"]) > len(known_samples) // 9


def check_zero_extrema(known_samples: list[Sample]) -> None:
    statuses = Counter[str]()
    for sample in known_samples:
        everything = brute.extrema(sample.known)
        for outputs in (True, False):
            expected = {
                unit: cells
                for unit, cells in everything.items()
                if outputs or unit[0] <= sample.known.hidden
            }
            found = zero_extrema(sample.cells, outputs=outputs)
            statuses[f"{found.status} {outputs}"] += 1
            bad = [unit for unit, cells in expected.items() if any(cells.values())]
            assert found.status == ("fails" if bad else "holds")
            assert found.num_checked == sum(
                not is_bad for cells in expected.values() for is_bad in cells.values()
            )
            if found.evidence is not None:
                check_extremum(sample, bad[0], expected[bad[0]], found.evidence)
    assert min(statuses.values()) > len(known_samples) // 9
    assert len(statuses) == 4


def check_extremum(
    sample: Sample, unit: tuple[int, int], cells: dict[Key, bool], evidence: ZeroExtremum
) -> None:
    """The evidence is the first unit and a largest cell; points near the cell show its kind."""
    assert evidence.unit == NeuronId(*unit)
    key = sample.key_of(evidence.cell, evidence.point)
    assert cells[key]
    dimensions = dict(zip(sample.known.cells.keys, sample.known.cells.dimensions, strict=True))
    assert evidence.cell.dimension == max(
        dimensions[key] for key, is_bad in cells.items() if is_bad
    )
    own = sample.known.cells.keys.index(key)
    centre, signs = sample.known.cells.points[own], set()
    for region in sample.known.cells.around(own, sample.cells.dimension):
        end = sample.known.cells.points[region]
        near = [a + (b - a) / 2**20 for a, b in zip(centre, end, strict=True)]
        value = brute.values(sample.known.layers, near)[unit[0] - 1][unit[1]]
        signs.add((value > 0) - (value < 0))
    if evidence.kind == "minimum":
        assert signs <= {0, 1}
    elif evidence.kind == "maximum":
        assert signs <= {0, -1}
    else:
        assert signs == {0}
    if unit[0] <= sample.known.hidden:
        assert (1 in signs) == (evidence.kind == "minimum")


def check_crossings(known_samples: list[Sample]) -> None:
    statuses = Counter[str]()
    for sample in known_samples:
        if not sample.network.is_plain:
            continue
        found, expected = pairwise_crossings(sample.cells), brute.crossing_ridges(sample.known)
        statuses[found.status] += len(expected) > 0
        evidence = found.evidence
        assert evidence is not None
        with_cell = {(c.earlier, c.later) for c in evidence.found}
        assert with_cell == {as_neurons(pair) for pair, ridges in expected.items() if ridges}
        assert set(evidence.missing) == {
            as_neurons(pair) for pair, ridges in expected.items() if not ridges
        }
        assert found.status == ("fails" if evidence.missing else "holds")
        assert found.num_checked == len(evidence.found)
        keys = keys_by_cell(sample.cells, sample.cells.dimension - 2)
        for crossing in evidence.found:
            one, other = crossing.earlier, crossing.later
            ridges = expected[(one.layer, one.index), (other.layer, other.index)]
            assert keys[crossing.cell] in ridges
    assert min(statuses["holds"], statuses["fails"]) > len(known_samples) // 30


def as_neurons(pair: brute.Pair) -> tuple[NeuronId, NeuronId]:
    return NeuronId(*pair[0]), NeuronId(*pair[1])


def keys_by_cell(cells: PolyhedralComplex, dimension: int) -> dict[Cell, Key]:
    if not cells.lineality_dim <= dimension:
        return {}
    rows = zip(
        cells.constraint_signs(dimension).tolist(), cells.signs(dimension).tolist(), strict=True
    )
    return {Cell(dimension, i): (*one, *other) for i, (one, other) in enumerate(rows)}


def check_supertransversal_networks_cross_where_their_bent_hyperplanes_meet(
    known_samples: list[Sample],
) -> None:
    met = Counter[bool]()
    for sample in known_samples:
        cells = sample.cells
        if not sample.network.is_plain or supertransversality(cells).status != "holds":
            continue
        evidence = pairwise_crossings(cells).evidence
        assert evidence is not None
        crossing = {(c.earlier, c.later) for c in evidence.found}
        for earlier in cells.neurons:
            for later in cells.neurons:
                if later.layer == earlier.layer + 1:
                    common = bent_hyperplane(cells, earlier) & bent_hyperplane(cells, later)
                    meet = any(cells.inside(cell.dimension)[cell.index] for cell in common)
                    assert ((earlier, later) in crossing) == meet
                    met[meet] += 1
    assert min(met[True], met[False]) > len(known_samples) // 9


def check_what_follows_from_supertransversality(known_samples: list[Sample]) -> None:
    """Hidden neurons change their signs wherever they are 0.

    The neurons that are 0 at a point act there like coordinates. And a cell of codimension 1,
    where one neuron is 0, is visible if all later layers have a neuron that is on there (not 0, so
    z ≥ 0 suffices) and masked products do not vanish.
    """
    counts = Counter[str]()
    for sample in known_samples:
        found = {
            condition.name: condition.status
            for condition in conditions(sample.cells, limits=Limits(20_000, 1))
        }
        if found["supertransversal"] == "holds":
            counts["extrema"] += 1
            assert zero_extrema(sample.cells, outputs=False).status == "holds"
            if (
                found["masked_ranks"] == found["transparent"] == "holds"
                and sample.network.last == "affine"
            ):
                counts["regions"] += 1
                assert found["lra"] == "holds"
    assert counts["extrema"] > len(known_samples) // 6
    assert counts["regions"] >= len(known_samples) // 30


def plain_networks() -> Iterator[Network]:
    for kind in KINDS[:-2]:
        for seed in range(8):
            yield quantised_network(kind, Random(f"pieces {kind} {seed}"))
    for kind in STACKS:
        for seed in range(16):
            yield from_arrays(random_network(kind, Random(f"pieces {kind} {seed}")))


@pytest.mark.parametrize("every", few_and_all(9, 1))
def test_collinear_pieces(every: int) -> None:
    statuses, networks = Counter[str](), 0
    for network in islice(plain_networks(), 0, None, every):
        layers = [
            ([list(row) for row in layer.weight.rows()], list(layer.bias.entries()))
            for layer in network.layers
        ]
        vectors = brute.pieces(layers)
        if len(vectors) > 85:
            continue
        networks += 1
        assert {
            index_of(p.unit, p.masks): list(p.vector) for p in affine_pieces(network)
        } == vectors
        found, pairs = (
            noncollinear_pieces(network),
            {frozenset(pair) for pair in brute.collinear_pairs(vectors)},
        )
        statuses[found.status] += 1
        assert found.status == ("fails" if pairs else "holds")
        if found.evidence is None:
            assert found.num_checked == len(vectors)
            assert noncollinear_pieces(network, limit=len(vectors)).status == "holds"
            assert noncollinear_pieces(network, limit=len(vectors) - 1).status == "unchecked"
        else:
            first, second = found.evidence.first, found.evidence.second
            assert (
                frozenset((index_of(first.unit, first.masks), index_of(second.unit, second.masks)))
                in pairs
            )
            assert list(first.vector) == vectors[index_of(first.unit, first.masks)]
            assert list(second.vector) == vectors[index_of(second.unit, second.masks)]
            order = list(affine_pieces(network))
            earlier = {index_of(p.unit, p.masks) for p in order[: found.num_checked]}
            assert not any(pair <= earlier for pair in pairs)
            assert order[found.num_checked] == second
            assert noncollinear_pieces(network, limit=found.num_checked).status == "unchecked"
            assert noncollinear_pieces(network, limit=found.num_checked + 1) == found
    assert networks > 150 / every
    assert min(statuses["holds"], statuses["fails"]) > 30 / every


def index_of(unit: NeuronId, masks: tuple[tuple[int, ...], ...]) -> brute.Index:
    return unit.layer, unit.index, tuple(sum(1 << i for i in mask) for mask in masks)


def check_all_conditions_at_once(known_samples: list[Sample]) -> None:
    limits = Limits(products=200, pieces=200)
    for sample in known_samples[::4]:
        found = {condition.name: condition for condition in conditions(sample.cells, limits=limits)}
        plain, affine = sample.network.is_plain, sample.network.last == "affine"
        full = sample.cells.dimension == sample.network.num_inputs
        undefined = {name for name, condition in found.items() if condition.status == "undefined"}
        expected = (
            set() if plain else {"masked_ranks", "generic", "noncollinear", "pl_general", "tpic"}
        )
        expected |= set() if affine else {"noncollinear", "pl_general"}
        expected |= set() if full else {"pl_general"}
        assert undefined == expected
        assert found["transparent"] == transparency(sample.cells)
        assert found["lra"] == linear_regions_property(sample.cells)
        assert found["no_zero_extrema"] == zero_extrema(sample.cells)
        if "pl_general" not in undefined:
            assert found["pl_general"] == pl_general(sample.cells, limits=limits)
            parts = [
                found[name].status for name in ("masked_ranks", "noncollinear", "no_zero_extrema")
            ]
            worst = (
                "fails" if "fails" in parts else "unchecked" if "unchecked" in parts else "holds"
            )
            assert found["pl_general"].status == worst


CHECKS: list[Callable[[list[Sample]], None]] = [
    check_supertransversality,
    check_transparency,
    check_linear_regions,
    check_zero_extrema,
    check_crossings,
    check_supertransversal_networks_cross_where_their_bent_hyperplanes_meet,
    check_what_follows_from_supertransversality,
    check_all_conditions_at_once,
]


@pytest.fixture(scope="module")
def few_samples() -> list[Sample]:
    return samples(8)


@pytest.mark.parametrize("check", CHECKS)
def test_some_networks(check: Callable[[list[Sample]], None], few_samples: list[Sample]) -> None:
    check(few_samples)


@pytest.mark.parametrize("every", some_and_all(3, 1))
def test_many_networks(every: int) -> None:
    known_samples = samples(every)
    assert len(known_samples) > 200 / every
    for check in CHECKS:
        with case(check.__name__):
            check(known_samples)
