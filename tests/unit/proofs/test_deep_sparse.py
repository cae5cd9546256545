"""Theorem D among sparse competitors: zero weights, ridges without a bend, signs, the checker."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import polyrelu
from polyrelu import Network, checker
from polyrelu.outcomes import Identifiable
from polyrelu.proofs.deep import prover as deep
from polyrelu.proofs.deep.ridges import DeepNetwork, Ridge, ridge_at
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.membership import sparse_membership
from tests.generators.files import CERTIFICATES, NETS
from tests.oracles.judge import plain
from tests.oracles.local_fiber import is_locally_rigid

#: Neuron (2, 0) does not read neuron (1, 2).
FIRST = ([[-2, -1], [-3, 2], [1, 1]], [-2, -3, -3])
SECOND = ([[-3, 1, 0], [-1, 3, 3]], [-4, -1])
PRUNED = polyrelu.from_arrays([FIRST, SECOND, ([[1, 2]], [0])])

VALID = CERTIFICATES / "valid" / "sparse.json"


def searched(network: Network, budget: int = 300) -> DeepSearch:
    return deep.run_search(network, 0, budget, None, None, "sparse")


def verdict(document: dict[str, Any]) -> tuple[str, str]:
    report = checker.check_bytes(json.dumps(document).encode())
    return report.verdict, report.step


def test_zero_weights_are_proved_among_sparse_parameters(tmp_path: Path) -> None:
    outcome = polyrelu.identify(PRUNED)
    assert isinstance(outcome, Identifiable)
    assert (outcome.theorem, outcome.certificate.claim.among) == ("deep-sparse", "sparse")
    path = tmp_path / "cert.json"
    outcome.certificate.save(path)
    report = checker.check_file(path)
    assert report.verdict == "accepted"
    assert "among sparse parameters" in report.statement


def test_no_claim_among_classes_that_exclude_zeros() -> None:
    outcome = polyrelu.identify(PRUNED, among="regular", budget=300)
    assert outcome.status == "undecided"
    assert "the weight of (2, 0) on (1, 2) is 0" in str(outcome)


def test_a_network_without_zeros_is_proved_among_sparse_parameters_if_asked() -> None:
    layers = [([[1, 0], [0, 1]], [0, 0]), ([[-2, -1], [1, -2]], [2, 1]), ([[1, 1]], [0])]
    outcome = polyrelu.identify(polyrelu.from_arrays(layers), among="sparse")
    assert isinstance(outcome, Identifiable)
    assert outcome.certificate.claim.among == "sparse"


def test_a_free_weight_is_not_determined() -> None:
    """Neuron (2, 0) is off wherever (1, 0) is on, so that a weight 0 may be any smaller number."""
    second = ([[0, -1, 2], [-1, 3, 3]], [-1, -1])
    first, last = ([[1, 0], [1, 1], [-1, 0]], [0, 1, -1]), ([[1, 2]], [0])
    network = polyrelu.from_arrays([first, second, last])
    lowered = ([[-3, -1, 2], [-1, 3, 3]], [-1, -1])
    other = polyrelu.from_arrays([first, lowered, last])
    assert polyrelu.equivalent(network, other).status == "proved"
    assert not searched(network).hypotheses.hold


def network_layer(network: Network, number: int) -> Any:
    rows, bias = network.weight(number).rows(), network.bias(number).rows()
    return [list(row) for row in rows], [row[0] for row in bias]


@pytest.mark.parametrize(
    ("bias", "output", "point", "kind", "links"),
    [
        (-1, 1, (0, 3), "L", 2),  # x and h: h does not read x, and both are visible
        (-5, 1, (0, 3), "V", 1),  # x is not visible, since the only neuron that reads it is off
        (-1, 0, (0, 3), "U", 1),  # h is not visible, since no output reads it
        (-5, 1, (5, 0), "C", 1),  # y and g
    ],
)
def test_types_of_ridges(
    bias: int, output: int, point: tuple[int, int], kind: str, links: int
) -> None:
    """Layer 1: x and y; layer 2: h = y - 3 and g = x + y + bias."""
    second = ([[0, 1], [1, 1]], [-3, bias])
    layers = [([[1, 0], [0, 1]], [0, 0]), second, ([[output, 1]], [0])]
    ridge = ridge_at(DeepNetwork.of(polyrelu.from_arrays(layers), "sparse"), point)
    assert isinstance(ridge, Ridge)
    assert (ridge.kind, len(ridge.links)) == (kind, links)


def test_what_holds_is_locally_rigid() -> None:
    """The exact kernel of the Jacobian, in which zero weights may move, has scalings only."""
    rng, held = Random(5), 0
    for _ in range(60):
        layers = [random_layer(2, 3, rng), random_layer(3, 2, rng), ([[1, rng.randint(2, 5)]], [0])]
        layers[1][0][0][rng.randrange(3)] = 0
        network = polyrelu.from_arrays(layers)
        if searched(network, 60).hypotheses.hold:
            held += 1
            assert is_locally_rigid(plain(network)), layers
    assert held >= 2


def random_layer(num_inputs: int, width: int, rng: Random) -> Any:
    rows = [[rng.randint(-5, 5) or 1 for _ in range(num_inputs)] for _ in range(width)]
    return rows, [rng.randint(-5, 5) for _ in range(width)]


@pytest.mark.skipif(not NETS.exists(), reason="needs networks from elsewhere")
def test_a_pruned_controller() -> None:
    """A fifth of the weights between the hidden layers of a published network, set to 0."""
    network = polyrelu.load(NETS / "more" / "nnl_car_controller_5_20_60_0.07.pt")
    layers = [network_layer(network, number) for number in (1, 2, 3)]
    rows = layers[1][0]
    smallest = sorted(abs(x) for row in rows for x in row)[len(rows) ** 2 // 5]
    layers[1] = ([[x if abs(x) > smallest else 0 for x in row] for row in rows], layers[1][1])
    outcome = polyrelu.identify(polyrelu.from_arrays(layers), budget=20_000)
    assert outcome.status == "proved"
    assert outcome.theorem == "deep-sparse"


# -- the checker -----------------------------------------------------------------------------------


def test_every_ridge_of_the_file_is_needed() -> None:
    document = json.loads(VALID.read_text())
    assert verdict(document) == ("accepted", "")
    slices = document["proof"]["hypotheses"][0]["evidence"]["slices"]
    for place, plane in enumerate(slices):
        for ridge in range(len(plane["ridges"])):
            other = copy.deepcopy(document)
            del other["proof"]["hypotheses"][0]["evidence"]["slices"][place]["ridges"][ridge]
            assert verdict(other)[0] in ("rejected", "unreadable")


@pytest.mark.parametrize("among", ["all", "regular", "transversal", "generic"])
def test_the_theorem_is_about_sparse_parameters(among: str) -> None:
    document = json.loads(VALID.read_text())
    document["claim"]["among"] = among
    assert verdict(document) == ("rejected", "claim")


@pytest.mark.parametrize("theorem", ["deep", "deep-part", "deep-sparse-part"])
def test_other_theorems_are_about_other_claims(theorem: str) -> None:
    document = json.loads(VALID.read_text())
    document["proof"]["theorem"] = theorem
    assert verdict(document)[0] == "rejected"


def test_zeros_refute_no_membership() -> None:
    document = json.loads(VALID.read_text())
    membership = document["proof"]["hypotheses"][-1]
    membership["evidence"] = {
        "status": "refuted", "method": "product", "rows": [0], "column": 2
    }  # fmt: skip
    assert verdict(document) == ("rejected", "membership")
    assert sparse_membership(PRUNED) == {"status": "open"}


def test_no_sources() -> None:
    document = json.loads(VALID.read_text())
    document["proof"]["hypotheses"][3]["evidence"]["order"] = [0]
    assert verdict(document) == ("rejected", "weights")
