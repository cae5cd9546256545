"""Certificates of Theorem D, prover against checker.

Whole claims and claims in part, subsets of ridges, and forged certificates for networks with
symmetries.
"""

from __future__ import annotations

import copy
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import pytest

import polyrelu
from polyrelu import Network, Proved, checker
from polyrelu.certificate import Claim, Hypothesis
from polyrelu.errors import DomainError
from polyrelu.network import to_document
from polyrelu.outcomes import Attempt, Undecided
from polyrelu.proofs.deep import prover as deep
from polyrelu.proofs.deep.hypotheses import Determined, deep_hypotheses
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.membership import deep_membership
from tests.generators.campaigns import case, few_and_all
from tests.generators.deep_documents import verdict
from tests.generators.deep_searches import (
    accepted,
    document,
    listed,
    part_document,
    search_at,
    whole_document,
    with_ridges,
)
from tests.generators.ridge_points import ridge_points
from tests.oracles.judge import plain
from tests.oracles.local_fiber import is_locally_rigid

SOURCES = [
    ([[-2, -1], [3, 2], [1, 1]], [0, -2, 0]),
    ([[-1, 1, 3], [1, 1, -2]], [1, 1]),
    ([[-1, 3]], [-1]),
]
#: A network that is proved among transversal competitors only.
TRANSVERSAL = [
    ([[-1, 3], [2, 3], [-3, -1]], [-1, 1, 2]),
    ([[3, -1, 1], [-1, 3, 3]], [-1, -1]),
    ([[3, -2]], [1]),
]
THREE = [
    ([[-2, -2], [1, -3]], [-3, 0]),
    ([[-3, -1], [-2, 3]], [3, 0]),
    ([[1, -2], [-3, 1]], [2, -2]),
    ([[-2, -2]], [0]),
]
PLANES = [
    ([[1, 0, 1], [0, 1, -1], [1, 1, 2]], [0, 1, -1]),
    ([[1, -2, 1], [-1, 1, 2], [2, 1, -1]], [1, -1, 2]),
    ([[1, 2, -1]], [0]),
]


def random_net(widths: tuple[int, ...], seed: int) -> Network:
    rng = Random(seed)

    def number(size: float) -> Fraction:
        return Fraction(round(rng.gauss(0, size) * 256) or 1, 256)

    return polyrelu.from_arrays(
        [
            ([[number(1) for _ in range(n)] for _ in range(m)], [number(0.5) for _ in range(m)])
            for n, m in pairwise(widths)
        ]
    )


def integer_net(widths: tuple[int, ...], seed: int) -> Network:
    rng = Random(seed)
    size = rng.choice((3, 9))
    return polyrelu.from_arrays(
        [
            (
                [[rng.choice((-1, 1)) * rng.randint(1, size) for _ in range(n)] for _ in range(m)],
                [rng.randint(-size, size) for _ in range(m)],
            )
            for n, m in pairwise(widths)
        ]
    )


def written(network: Network, hypotheses: list[Hypothesis]) -> dict[str, Any]:
    return document(Claim("identifiable", network, "transversal"), "deep", hypotheses)


def proved(network: Network) -> dict[str, Any]:
    found = deep.prove(network, budget=20_000)
    assert not isinstance(found, Attempt), found
    return written(network, found)


@pytest.mark.parametrize(
    "layers", [SOURCES, THREE, PLANES], ids=["sources", "three hidden layers", "planes"]
)
def test_identify(layers: Any) -> None:
    network = polyrelu.from_arrays(layers)
    outcome = polyrelu.identify(network, among="transversal", budget=20_000)
    assert isinstance(outcome, Proved)
    assert outcome.theorem == "deep"
    assert outcome.certificate.claim.among == ("transversal" if layers is THREE else "regular")
    assert verdict(outcome.certificate.to_document()[0]).verdict == "accepted"
    assert is_locally_rigid(plain(network)) is not False


#: Widths and seeds.
RANDOM = [
    ((2, 3, 1), 0),
    ((6, 5, 5, 2), 0),
    ((2, 2, 2, 2, 1), 0),
    ((3, 4, 3, 3, 2), 0),
    ((3, 4, 3, 3, 2), 1),
    ((3, 4, 3, 3, 2), 2),
    ((6, 5, 5, 2), 1),
    ((3, 5, 4, 2), 0),
    ((3, 5, 4, 2), 1),
    ((2, 4, 3, 1), 0),
    ((2, 4, 3, 1), 1),
    ((2, 2, 2, 2, 1), 1),
    ((2, 3, 1), 1),
]


@pytest.mark.parametrize("cases", few_and_all(RANDOM[:3], RANDOM))
def test_what_is_proved_is_accepted(cases: list[tuple[tuple[int, ...], int]]) -> None:
    """No network whose certificate is accepted has a curve of parameters with its function."""
    for widths, seed in cases:
        with case(widths, seed):
            network = random_net(widths, seed)
            found = deep.prove(network, budget=1000)
            if isinstance(found, Attempt):
                assert found.reason.startswith("not found, with ")
                assert found.missing
                continue
            report = verdict(written(network, found))
            assert report.verdict == "accepted", report
            assert len(network.widths) > 4 or is_locally_rigid(plain(network)) is not False


@pytest.mark.parametrize(
    ("layers", "among"),
    [
        (SOURCES, "transversal"),
        (THREE, "transversal"),
        (PLANES, "transversal"),
        (PLANES, "regular"),
    ],
    ids=["sources", "three hidden layers", "planes", "regular competitors"],
)
def test_subsets_of_ridges(layers: Any, among: Any) -> None:
    """The checker accepts what some ridges give iff `evaluate` says that the hypotheses hold."""
    network = polyrelu.from_arrays(layers)
    search, rng, verdicts = DeepSearch(network, 0, among), Random(1), set[bool]()
    search.run(budget=20_000)
    ridges = list(search.ridges)
    for _ in range(60):
        part = with_ridges(search, rng.sample(ridges, rng.randint(1, len(ridges))))
        assert accepted(whole_document(part)) == part.hypotheses.hold
        verdicts.add(part.hypotheses.hold)
    assert verdicts == {True, False}


def test_what_a_search_shows_regular_competitors() -> None:
    """Only the types of ridges change for regular competitors, and the search is unchanged."""
    for layers in (TRANSVERSAL, PLANES):
        search = DeepSearch(polyrelu.from_arrays(layers))
        before = str(search.run(rounds=10))
        other = search.among_regular()
        assert [ridge[:3] for ridge in other.ridges] == [ridge[:3] for ridge in search.ridges]
        kinds = [(one.kind, two.kind) for one, two in zip(search.ridges, other.ridges, strict=True)]
        assert all(two in (one, None) and two != "C" for one, two in kinds)
        assert {one != two for one, two in kinds} == {True, False}
        assert accepted(whole_document(other)) == other.hypotheses.hold == (layers is PLANES)
        assert str(search.hypotheses) == before == "all hypotheses hold"


def test_among_regular_competitors_only_such_proofs_count() -> None:
    """A proof among transversal competitors proves nothing about all regular ones.

    The answer lists what is missing.
    """
    network = polyrelu.from_arrays(TRANSVERSAL)
    assert polyrelu.identify(network, among="transversal", budget=20_000).status == "proved"
    outcome = polyrelu.identify(network, among="regular", budget=1000)
    assert isinstance(outcome, polyrelu.Undecided)
    assert any(attempt.theorem == "deep" and attempt.missing for attempt in outcome.attempts)
    assert outcome.part is not None
    assert outcome.part.certificate.claim.among == "regular"


@pytest.mark.parametrize(
    "layers", [SOURCES, THREE, PLANES], ids=["sources", "three hidden layers", "planes"]
)
def test_all_ridges_of_the_complex(layers: Any) -> None:
    """Ridges at given points prove the same as the points, and few of them are enough."""
    network = polyrelu.from_arrays(layers)
    points: Any = ridge_points(network)
    search = search_at(network, points)
    assert search.hypotheses.hold == deep_hypotheses(network, points).hold is True
    found = deep.prove_search(search)
    assert not isinstance(found, Attempt)
    assert accepted(written(network, found))
    assert accepted(whole_document(search))


@pytest.mark.parametrize(
    "layers", [SOURCES, THREE, PLANES], ids=["sources", "three hidden layers", "planes"]
)
def test_no_ridge_can_be_dropped_and_any_can_be_repeated(layers: Any) -> None:
    found = proved(polyrelu.from_arrays(layers))
    slices = listed(found, "ridges")["slices"]
    starts = [sum(len(entry["ridges"]) for entry in slices[:i]) for i in range(len(slices))]
    for i, entry in enumerate(slices):
        for k in range(len(entry["ridges"])):
            shorter = copy.deepcopy(found)
            del listed(shorter, "ridges")["slices"][i]["ridges"][k]
            gone = starts[i] + k
            for name, key in (
                ("families", "chosen"),
                ("families", "joined"),
                ("weights", "joined"),
            ):
                entries = listed(shorter, name)[key]
                listed(shorter, name)[key] = [[w, max(r - (r > gone), 0)] for w, r in entries]
            assert verdict(shorter).verdict == "rejected"
            longer = copy.deepcopy(found)
            listed(longer, "ridges")["slices"].append({**entry, "ridges": [entry["ridges"][k]]})
            assert verdict(longer).verdict == "accepted"


def test_moved_planes() -> None:
    """Planes that are moved a little still meet the ridges; after a long move some do not."""
    found = proved(polyrelu.from_arrays(PLANES))

    def moved(axis: int, shift: Fraction) -> bool:
        other = copy.deepcopy(found)
        for entry in listed(other, "ridges")["slices"]:
            entry["point"][axis] = str(Fraction(entry["point"][axis]) + shift)
        return accepted(other)

    assert all(moved(axis, Fraction(1, 10**6)) for axis in range(3))
    assert not all(moved(axis, Fraction(sign * 10**6)) for axis in range(3) for sign in (-1, 1))


def twin(layers: Any) -> Any:
    """A second copy of a neuron of the second layer that shares its outgoing weights."""
    first, (weight, bias), (out, c), *rest = layers
    shared = [[Fraction(row[0], 2), *row[1:], Fraction(row[0], 2)] for row in out]
    return [first, ([*weight, weight[0]], [*bias, bias[0]]), (shared, c), *rest]


def dead(layers: Any) -> Any:
    """A further neuron of the second layer that is inactive everywhere."""
    first, (weight, bias), (out, c), *rest = layers
    return [
        first,
        ([*weight, [-1] * len(weight[0])], [*bias, -1]),
        ([[*row, 1] for row in out], c),
        *rest,
    ]


def linear(layers: Any) -> Any:
    """A further neuron of the second layer that is active everywhere."""
    first, (weight, bias), (out, c), *rest = layers
    return [
        first,
        ([*weight, [1] * len(weight[0])], [*bias, 1]),
        ([[*row, 1] for row in out], c),
        *rest,
    ]


def hidden(layers: Any) -> Any:
    """A further neuron of the first layer, with its hyperplane hidden from the second layer."""
    (weight, bias), (upper, _), *rest = layers
    rows = [[*(-abs(x) for x in row), 1] for row in upper]
    return [
        ([*weight, [1] * len(weight[0])], [*bias, 1]),
        (rows, [-1 - i for i in range(len(rows))]),
        *rest,
    ]


@pytest.mark.parametrize("change", [twin, dead, linear, hidden])
@pytest.mark.parametrize(
    "layers",
    [
        pytest.param(SOURCES, id="sources"),
        pytest.param(THREE, id="three hidden layers", marks=pytest.mark.slow),
        pytest.param(PLANES, id="planes", marks=pytest.mark.slow),
    ],
)
def test_networks_with_symmetries_are_never_accepted(layers: Any, change: Any) -> None:
    network = polyrelu.from_arrays(change(layers))
    search, rng = DeepSearch(network), Random(2)
    search.run(rounds=3, budget=2000)
    assert not search.hypotheses.hold
    ridges = list(search.ridges)
    for _ in range(6):
        part = with_ridges(search, rng.sample(ridges, rng.randint(1, len(ridges))))
        assert not part.hypotheses.hold
        found = whole_document(part)
        families, count, rows = (
            listed(found, "families"),
            search.deep_network.size,
            len(part.ridges),
        )
        for _ in range(6):
            assert not accepted(found)
            families["chosen"] = [[neuron, rng.randrange(rows)] for neuron in range(count)]
            families["joined"] = [
                [rng.randrange(count), rng.randrange(rows)] for _ in range(rng.randint(0, 3))
            ]


def test_reasons() -> None:
    """An obstruction is reported without a search; the list of missing parts is shortened."""
    zero = deep.prove(
        polyrelu.from_arrays([SOURCES[0], ([[0, 1, 3], [1, 1, -2]], [1, 1]), SOURCES[2]])
    )
    assert isinstance(zero, Attempt)
    assert zero.reason == "weights: the weight of (2, 0) on (1, 0) is 0"
    narrow = deep.prove(
        polyrelu.from_arrays([([[1, 2]], [0]), ([[1], [-1]], [-1, 2]), ([[1, 1]], [0])])
    )
    assert isinstance(narrow, Attempt)
    assert "layer 1 has one neuron" in narrow.reason
    outcome = polyrelu.identify(polyrelu.from_arrays(SOURCES), budget=0)
    assert isinstance(outcome, Undecided)
    (attempt,) = (attempt for attempt in outcome.attempts if attempt.theorem == "deep")
    signs = "the signs of layer 1 are not determined: rank short by 3"
    found = f"neurons as (layer, index): (1, 0) has no piece (one of 5 of this kind); {signs}"
    assert attempt.reason == f"not found, with 0 ridges, {found}"
    assert attempt.missing == (
        *(f"{n} has no piece" for n in ("(1, 0)", "(1, 1)", "(1, 2)", "(2, 0)", "(2, 1)")),
        signs,
    )
    assert outcome.part is None


def test_the_same_seed_gives_the_same_certificate() -> None:
    one, two = (proved(polyrelu.from_arrays(SOURCES)) for _ in range(2))
    assert one == two


def test_a_proof_among_transversal_parameters_is_one_among_generic_ones() -> None:
    network = polyrelu.from_arrays(SOURCES)
    assert polyrelu.identify(network, among="generic", budget=20_000).status == "proved"
    assert polyrelu.identify(network, among="all", budget=1000).status != "proved"
    three = polyrelu.from_arrays(THREE)  # no generic class
    assert polyrelu.identify(three, among="generic", budget=1000).status == "undecided"


def test_membership_refuted_by_a_masked_product() -> None:
    """W[3]_0 W[2] has a zero entry, which no transversal parameter can have."""
    layers = [
        ([[1, 2], [3, 4]], [5, 6]),
        ([[1, 2], [3, -1]], [7, 8]),
        ([[1, 2], [2, 6]], [0, 0]),
        ([[1, 1]], [0]),
    ]
    network = polyrelu.from_arrays(layers)
    refuted = deep_membership(network)
    assert refuted == {
        "status": "refuted",
        "method": "masks",
        "layer": 1,
        "masks": [[1], [0, 1], [0]],
    }
    parsed = checker.read_network(to_document(network), "network", checker.Meter())
    checker.check_membership("identifiable", "transversal", parsed, refuted, checker.Meter())
    with pytest.raises(checker.Stop):
        checker.check_membership(
            "identifiable",
            "transversal",
            parsed,
            {**refuted, "masks": [[0], [0, 1], [0]]},
            checker.Meter(),
        )
    with pytest.raises(checker.Stop):
        checker.check_membership("identifiable", "generic", parsed, refuted, checker.Meter())


# -- in part ---------------------------------------------------------------------------------------


def beyond(network: Network, part: Determined) -> list[Determined]:
    """The claims in part with one layer, or one neuron, more."""
    more = []
    if part.num_layers < network.depth - 2:
        more.append(Determined(part.num_layers + 1, ()))
    if part.num_layers:
        width = network.widths[part.num_layers + 1]
        others = [i for i in range(width) if i not in part.neurons]
        more += [Determined(part.num_layers, tuple(sorted((*part.neurons, i)))) for i in others]
    return more


@pytest.mark.parametrize(
    ("widths", "seeds"),
    [
        ((2, 3, 3, 1), (1, 2, 9)),
        ((3, 3, 2, 2), (1, 2, 3)),
        ((2, 3, 2, 3, 1), (0, 4, 12)),
        ((2, 2, 3, 3, 1), (3, 9, 12)),
        ((2, 2, 2, 2, 1), (2, 7)),
        ((2, 2, 2, 2, 1), ()),
    ],
    ids=str,
)
def test_parts_of_subsets_of_ridges(widths: tuple[int, ...], seeds: tuple[int, ...]) -> None:
    """The checker accepts the claims of the prover about some ridges, and no stronger ones.

    Claims are whole or in part, and their certificates list all these ridges or a selection.
    """
    kinds, networks = (
        set[bool](),
        [integer_net(widths, seed) for seed in seeds] or [polyrelu.from_arrays(THREE)],
    )
    for seed, network in enumerate(networks):
        rng, search = Random(seed), DeepSearch(network)
        search.run(rounds=2, budget=2000)
        ridges = list(search.ridges)
        for _ in range(4):
            some = with_ridges(
                search, rng.sample(ridges, rng.randint(1 + len(ridges) // 2, len(ridges)))
            )
            kinds.add(compare_in_part(some))
    assert True in kinds or widths == (2, 2, 2, 2, 1)


def compare_in_part(some: DeepSearch) -> bool:
    """Compare prover and checker; return whether something is proved in part only."""
    hold, part = some.hypotheses.hold, some.hypotheses.determined
    assert accepted(whole_document(some)) == hold
    if hold:
        return False
    assert not any(accepted(part_document(some, more)) for more in beyond(some.network, part))
    found = deep.prove_part(some)
    assert (found is not None) == (part.num_layers > 0)
    if found is None:
        return False
    claim, hypotheses = found
    assert (claim.num_layers, tuple(claim.neurons)) == (part.num_layers, part.neurons)
    assert accepted(document(claim, deep.PART, hypotheses))
    assert accepted(part_document(some, part))
    return True


def test_nothing_in_part_where_it_is_impossible() -> None:
    network = polyrelu.from_arrays([SOURCES[0], ([[0, 1, 3], [1, 1, -2]], [1, 1]), SOURCES[2]])
    search = DeepSearch(network)
    search.run(rounds=10)
    assert search.hypotheses.determined.num_layers == 1
    assert isinstance(deep.prove_search(search), Attempt)
    assert deep.prove_part(search) is None


def test_a_ridge_that_is_not_there_leads_to_no_certificate() -> None:
    """The planes of the search are replaced by others that do not meet the ridges."""
    network = polyrelu.from_arrays(PLANES)
    search = DeepSearch(network)
    search.run(budget=20_000)
    moved = with_ridges(search, search.ridges)
    moved.planes[:] = [
        plane._replace(point=(plane.point[0] + 10**6, *plane.point[1:])) for plane in search.planes
    ]
    assert moved.hypotheses.hold
    with pytest.raises(DomainError, match="a ridge that is not there"):
        deep.prove_search(moved)
