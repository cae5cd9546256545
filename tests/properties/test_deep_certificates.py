"""Certificates of Theorem D: prover against checker, subsets of ridges, forged ones for networks with symmetries."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import pytest

import polyrelu
from polyrelu import Network, Proved, checker
from polyrelu.certificate import Certificate, Claim, Hypothesis
from polyrelu.network import NeuronId, to_document
from polyrelu.proofs import deep
from polyrelu.proofs.deep_evidence import families_evidence, ridges_evidence
from polyrelu.proofs.deep_families import Families
from polyrelu.proofs.deep_neurons import Portrait
from polyrelu.proofs.deep_points import deep_hypotheses, evaluate
from polyrelu.proofs.deep_ridges import Ridge, Space, whole_space
from polyrelu.proofs.deep_search import DeepSearch
from polyrelu.proofs.deep_unseen import shown_sources
from polyrelu.proofs.membership import transversal_membership
from polyrelu.proofs.outcome import Attempt
from tests.judge import plain
from tests.oracles.local_fiber import is_locally_rigid

SOURCES = [([[-2, -1], [3, 2], [1, 1]], [0, -2, 0]), ([[-1, 1, 3], [1, 1, -2]], [1, 1]), ([[-1, 3]], [-1])]
THREE = [([[-2, -2], [1, -3]], [-3, 0]), ([[-3, -1], [-2, 3]], [3, 0]), ([[1, -2], [-3, 1]], [2, -2]),
         ([[-2, -2]], [0])]  # fmt: skip
PLANES = [([[1, 0, 1], [0, 1, -1], [1, 1, 2]], [0, 1, -1]), ([[1, -2, 1], [-1, 1, 2], [2, 1, -1]], [1, -1, 2]),
          ([[1, 2, -1]], [0])]  # fmt: skip


def random_net(widths: tuple[int, ...], seed: int) -> Network:
    rng = Random(seed)

    def number(size: float) -> Fraction:
        return Fraction(round(rng.gauss(0, size) * 256) or 1, 256)

    return polyrelu.from_arrays([
        ([[number(1) for _ in range(n)] for _ in range(m)], [number(0.5) for _ in range(m)])
        for n, m in pairwise(widths)
    ])  # fmt: skip


def document(network: Network, hypotheses: list[Hypothesis]) -> dict[str, Any]:
    claim = Claim("identifiable", network, "transversal")
    return Certificate(claim, "deep", tuple(hypotheses)).to_document()[0]


def verdict(found: dict[str, Any]) -> checker.Report:
    return checker.check_bytes(json.dumps(found).encode())


def evidence(found: dict[str, Any], name: str) -> dict[str, Any]:
    entries: list[dict[str, Any]] = found["proof"]["hypotheses"]
    return next(dict(entry)["evidence"] for entry in entries if entry["id"] == name)


def proved(network: Network) -> dict[str, Any]:
    found = deep.prove(network, time_limit=20)
    assert not isinstance(found, Attempt), found
    return document(network, found)


def forged(space: Space, ridges: list[Ridge]) -> tuple[dict[str, Any], bool]:
    """The best certificate that some ridges give, and whether the hypotheses hold."""
    network = space.network
    listed, ridges = ridges_evidence(space, ridges)
    result = evaluate(space, ridges, Families(ridges))
    families: dict[str, Any] = {"chosen": [0] * sum(network.widths[1:-1]), "joined": []}
    if all(_listed(ridges, result.known, neuron) for neuron in network.neurons()):
        families = families_evidence(space, ridges, result.known)
    order = shown_sources(space, ridges, result.known)
    made = {"ridges": listed, "families": families, "weights": {"order": order}, "signs": {},
            "membership": {"status": "open"}}  # fmt: skip
    return document(network, [Hypothesis("deep", name, entry) for name, entry in made.items()]), result.hold


def _listed(ridges: list[Ridge], known: dict[NeuronId, Portrait], neuron: NeuronId) -> bool:
    """Whether every family of the neuron has a piece at a good ridge."""
    at = {piece for ridge in ridges if ridge.kind is not None for piece in ridge.pieces}
    return neuron in known and all(not at.isdisjoint(family.pieces) for family in known[neuron].families)


@pytest.mark.parametrize("layers", [SOURCES, THREE, PLANES], ids=["sources", "three hidden layers", "planes"])
def test_identify(layers: Any) -> None:
    network = polyrelu.from_arrays(layers)
    outcome = polyrelu.identify(network, among="transversal", time_limit=20)
    assert isinstance(outcome, Proved)
    assert (outcome.theorem, outcome.certificate.claim.among) == ("deep", "transversal")
    assert verdict(outcome.certificate.to_document()[0]).verdict == "accepted"
    assert is_locally_rigid(plain(network)) is not False


@pytest.mark.parametrize(
    ("widths", "seeds"),
    [
        ((3, 4, 3, 3, 2), 3),
        ((6, 5, 5, 2), 2),
        ((3, 5, 4, 2), 2),
        ((2, 4, 3, 1), 2),
        ((2, 2, 2, 2, 1), 2),
        ((2, 3, 1), 2),
    ],
    ids=str,
)
def test_what_is_proved_is_accepted(widths: tuple[int, ...], seeds: int) -> None:
    """And nothing that is accepted has a curve of parameters with its function."""
    for seed in range(seeds):
        network = random_net(widths, seed)
        found = deep.prove(network, time_limit=1)
        if isinstance(found, Attempt):
            assert "not found in 1 s" in found.reason
            continue
        report = verdict(document(network, found))
        assert report.verdict == "accepted", report
        assert len(network.widths) > 4 or is_locally_rigid(plain(network)) is not False


@pytest.mark.parametrize("layers", [SOURCES, THREE, PLANES], ids=["sources", "three hidden layers", "planes"])
def test_subsets_of_ridges(layers: Any) -> None:
    """The checker accepts what some ridges give iff `deep_hypotheses` says that the hypotheses hold."""
    network = polyrelu.from_arrays(layers)
    search, space, rng = DeepSearch(network), whole_space(network), Random(1)
    search.run(time_limit=20)
    ridges, verdicts = list(search.ridges.values()), set[bool]()
    for _ in range(60):
        some = rng.sample(ridges, rng.randint(1, len(ridges)))
        found, hold = forged(space, some)
        assert hold == deep_hypotheses(network, [ridge.point for ridge in some]).hold
        report = verdict(found)
        assert report.verdict == ("accepted" if hold else "rejected"), report
        verdicts.add(hold)
    assert verdicts == {True, False}


@pytest.mark.parametrize("layers", [SOURCES, THREE, PLANES], ids=["sources", "three hidden layers", "planes"])
def test_no_ridge_can_be_dropped_and_any_can_be_repeated(layers: Any) -> None:
    found = proved(polyrelu.from_arrays(layers))
    slices = evidence(found, "ridges")["slices"]
    starts = [sum(len(entry["ridges"]) for entry in slices[:i]) for i in range(len(slices))]
    for i, entry in enumerate(slices):
        for k in range(len(entry["ridges"])):
            shorter = copy.deepcopy(found)
            del evidence(shorter, "ridges")["slices"][i]["ridges"][k]
            gone = starts[i] + k
            families = evidence(shorter, "families")
            families["chosen"] = [max(r - (r > gone), 0) for r in families["chosen"]]
            families["joined"] = [[w, max(r - (r > gone), 0)] for w, r in families["joined"]]
            assert verdict(shorter).verdict == "rejected"
            longer = copy.deepcopy(found)
            evidence(longer, "ridges")["slices"].append({**entry, "ridges": [entry["ridges"][k]]})
            assert verdict(longer).verdict == "accepted"


def test_moved_planes() -> None:
    """A plane that is moved a little still meets the ridge; far away it does not."""
    found = proved(polyrelu.from_arrays(PLANES))
    verdicts = []
    for shift in (Fraction(0), Fraction(1, 10**6), Fraction(10**6)):
        moved = copy.deepcopy(found)
        for entry in evidence(moved, "ridges")["slices"]:
            entry["fixed"] = [str(Fraction(x) + shift) for x in entry["fixed"]]
        verdicts.append(verdict(moved).verdict)
    assert (verdicts[0], verdicts[2]) == ("accepted", "rejected")


def twin(layers: Any) -> Any:
    """A neuron of the second layer twice, its outgoing weights shared."""
    first, (weight, bias), (out, c), *rest = layers
    shared = [[Fraction(row[0], 2), *row[1:], Fraction(row[0], 2)] for row in out]
    return [first, ([*weight, weight[0]], [*bias, bias[0]]), (shared, c), *rest]


def dead(layers: Any) -> Any:
    """A further neuron of the second layer that is off everywhere."""
    first, (weight, bias), (out, c), *rest = layers
    return [first, ([*weight, [-1] * len(weight[0])], [*bias, -1]), ([[*row, 1] for row in out], c), *rest]


def linear(layers: Any) -> Any:
    """A further neuron of the second layer that is on everywhere."""
    first, (weight, bias), (out, c), *rest = layers
    return [first, ([*weight, [1] * len(weight[0])], [*bias, 1]), ([[*row, 1] for row in out], c), *rest]


def hidden(layers: Any) -> Any:
    """A further neuron of the first layer, with its hyperplane hidden from the second layer."""
    (weight, bias), (upper, _), *rest = layers
    rows = [[*(-abs(x) for x in row), 1] for row in upper]
    return [([*weight, [1] * len(weight[0])], [*bias, 1]), (rows, [-1 - i for i in range(len(rows))]), *rest]


@pytest.mark.parametrize("change", [twin, dead, linear, hidden])
@pytest.mark.parametrize("layers", [SOURCES, THREE, PLANES], ids=["sources", "three hidden layers", "planes"])
def test_networks_with_symmetries_are_never_accepted(layers: Any, change: Any) -> None:
    network = polyrelu.from_arrays(change(layers))
    search, space, rng = DeepSearch(network), whole_space(network), Random(2)
    search.run(rounds=20)
    assert not search.hypotheses.hold
    ridges = list(search.ridges.values())
    for _ in range(10):
        some = rng.sample(ridges, rng.randint(1, len(ridges)))
        found, hold = forged(space, some)
        assert not hold
        families, count = evidence(found, "families"), len(evidence(found, "families")["chosen"])
        for _ in range(10):
            assert verdict(found).verdict == "rejected"
            families["chosen"] = [rng.randrange(len(some)) for _ in range(count)]
            families["joined"] = [[rng.randrange(count), rng.randrange(len(some))] for _ in range(rng.randint(0, 3))]


def test_reasons() -> None:
    """What cannot hold is said without a search; what was not found is shortened."""
    zero = deep.prove(polyrelu.from_arrays([SOURCES[0], ([[0, 1, 3], [1, 1, -2]], [1, 1]), SOURCES[2]]))
    assert isinstance(zero, Attempt)
    assert zero.reason == "weights: the weight of (2, 0) on (1, 0) is 0"
    narrow = deep.prove(polyrelu.from_arrays([([[1, 2]], [0]), ([[1], [-1]], [-1, 2]), ([[1, 1]], [0])]))
    assert isinstance(narrow, Attempt)
    assert "layer 1 has one neuron" in narrow.reason
    outcome = polyrelu.identify(polyrelu.from_arrays(SOURCES), time_limit=0)
    assert outcome.status == "undecided"
    assert "not found in 0 s, with 0 ridges: (1, 0) has no piece; and 4 more" in str(outcome).replace("\n    ", " ")


def test_the_same_seed_gives_the_same_certificate() -> None:
    one, two = (proved(polyrelu.from_arrays(SOURCES)) for _ in range(2))
    assert one == two


def test_a_proof_among_transversal_parameters_is_one_among_generic_ones() -> None:
    network = polyrelu.from_arrays(SOURCES)
    assert polyrelu.identify(network, among="generic", time_limit=20).status == "proved"
    assert polyrelu.identify(network, among="all", time_limit=20).status != "proved"
    three = polyrelu.from_arrays(THREE)  # no generic class
    assert polyrelu.identify(three, among="generic", time_limit=20).status == "undecided"


def test_membership_refuted_by_a_masked_product() -> None:
    """W[3]_0 W[2] has a zero entry: no transversal parameter can have such weights, and the certificate says so."""
    layers = [([[1, 2], [3, 4]], [5, 6]), ([[1, 2], [3, -1]], [7, 8]), ([[1, 2], [2, 6]], [0, 0]), ([[1, 1]], [0])]
    network = polyrelu.from_arrays(layers)
    refuted = transversal_membership(network)
    assert refuted == {"status": "refuted", "method": "masks", "layer": 1, "masks": [[1], [0, 1], [0]]}
    document = checker.read_network(to_document(network), "network")
    checker.check_membership("identifiable", "transversal", document, refuted)
    with pytest.raises(checker.Stop):
        checker.check_membership("identifiable", "transversal", document, {**refuted, "masks": [[0], [0, 1], [0]]})
    with pytest.raises(checker.Stop):
        checker.check_membership("identifiable", "generic", document, refuted)
