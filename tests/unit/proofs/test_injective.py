"""Whether layers and networks are injective: known cases, parts, domains, and limits."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu import ArgumentError, NetworkError, checker
from polyrelu.exact import RationalMatrix
from polyrelu.network import Block, Layer, Network
from polyrelu.outcomes import Injective, InjectivityStatistics, NotInjective, Undecided
from polyrelu.proofs.injectivity import node_search

AXES = [[1, 0], [0, 1], [-1, 0], [0, -1]]
BASIS = [[3, -8, 1], [4, 6, 0], [1, 1, 5]]
SCALED = [[-2 * x for x in BASIS[0]], [-x for x in BASIS[1]], [-3 * x for x in BASIS[2]]]


def layer(rows: Any, bias: Any = None) -> Network:
    """One ReLU layer."""
    return polyrelu.from_arrays([(rows, [0] * len(rows) if bias is None else bias)], last="relu")


def report_on(outcome: Injective | NotInjective | Undecided) -> checker.CheckReport:
    """What the checker says about the certificate."""
    assert not isinstance(outcome, Undecided), outcome
    document, _ = outcome.certificate.to_document()
    return checker.check_bytes(json.dumps(document).encode())


def status_of(network: Network, domain: str | None = None, **options: Any) -> str:
    """The status of an answer whose certificate is accepted."""
    outcome = polyrelu.injective(network, domain, **options)
    assert report_on(outcome).verdict == "accepted"
    return outcome.status


@pytest.mark.parametrize(
    ("rows", "bias", "status"),
    [
        (AXES[:3], None, "refuted"),  # Puthawala et al. (2020), equation (109)
        ([*BASIS, *SCALED, [0, 0, 0]], None, "proved"),  # equation (110)
        (AXES, None, "proved"),  # equation (111)
        ([*BASIS[::-1], *SCALED], None, "proved"),
        (BASIS, None, "refuted"),  # n rows are no directed spanning set
        ([*BASIS, *SCALED[:2]], None, "refuted"),  # fewer than 2n rows
        (AXES, [1, 1, -1, -1], "proved"),  # a translate
        (AXES, [1, 1, -2, -1], "refuted"),  # a strip where both rows are off
        (AXES, [1, 1, 0, 0], "proved"),  # strips where both rows are on
        ([[1], [-1]], [5, -5], "proved"),
        ([[0, 0]], [1], "refuted"),
        ([[1, 0], [2, 0], [-1, 0]], None, "refuted"),  # the rows span a line
    ],
)
def test_known_layers(rows: Any, bias: Any, status: str) -> None:
    assert status_of(layer(rows, bias)) == status


def test_the_false_lemma() -> None:
    """The layer is injective, and its rows with b ≥ 0 alone are not."""
    bias = [1, 1, -1, -1]
    kept = [row if b >= 0 else [0, 0] for row, b in zip(AXES, bias, strict=True)]
    assert status_of(layer(AXES, bias)) == "proved"
    assert status_of(layer(kept)) == "refuted"


@pytest.mark.parametrize(
    ("rows", "bias", "domain", "status"),
    [
        ([[1, 0], [0, 1]], [0, 0], "orthant", "proved"),
        ([[1, 0], [0, 1]], [0, -1], "orthant", "refuted"),
        ([[1, 0], [0, 1]], [1, 1], "box:-1,1", "proved"),  # the rows are 0 on the boundary only
        ([[1, 0], [0, 1]], [1, "9/10"], "box:-1,1", "refuted"),
        ([[1, 1]], [0], "box:0,1;2,2", "proved"),  # an edge
        ([[1, 1]], [0], "box:1,1;2,2", "proved"),  # a point
        ([[1, -1]], [0], "box:0,1;2,2", "refuted"),
    ],
)
def test_domains(rows: Any, bias: Any, domain: str, status: str) -> None:
    assert status_of(layer(rows, bias), domain) == status


def test_parts() -> None:
    """A network, each of its layers, and its first layers."""
    eye = [[int(i == j) for j in range(4)] for i in range(4)]
    net = polyrelu.from_arrays([(AXES, [0] * 4), (eye, [0] * 4), ([[1, 1, 1, 1]], [0])])
    assert status_of(net, layers=1) == status_of(net, "orthant", layers=2) == "proved"
    assert status_of(net, layers=2) == status_of(net, layers=3) == "refuted"
    assert status_of(net, layers=(1, 2)) == "proved"  # equation (4): layer 2 sees the orthant only
    for wrong in (0, 4, (2, 1), (1, 2, 3)):
        with pytest.raises(ArgumentError, match="layers: expected a layer from 1 to 3"):
            polyrelu.injective(net, layers=wrong)  # type: ignore[arg-type]


def test_affine_maps() -> None:
    tall: Any = [([[1, 2], [3, 4], [5, 6]], [1, 1, 1])]
    assert status_of(polyrelu.from_arrays(tall)) == "proved"
    assert status_of(polyrelu.from_arrays([([[1, 2]], [0])])) == "refuted"
    assert status_of(polyrelu.from_arrays([([[1, 2]], [0])]), "box:0,1;0,0") == "proved"


def test_a_part_that_reads_from_before() -> None:
    one = RationalMatrix.from_rows([[1]])
    zero = RationalMatrix.zeros(1, 1)
    blocks = (Block(0, one), Block(1, one))
    net = Network(1, (Layer((Block(0, one),), zero), Layer(blocks, zero)))
    with pytest.raises(NetworkError, match="layers 2 to 2 read activations from before layer 2"):
        polyrelu.injective(net, layers=2)


def random_stack(widths: list[int], seed: int) -> Network:
    """[I; -I], then layers of random integers, each with a ReLU."""
    chance, layers = Random(seed), list[Any]()
    for number, (inputs, outputs) in enumerate(pairwise(widths)):
        rows = [[chance.randint(-9, 9) for _ in range(inputs)] for _ in range(outputs)]
        bias = [0] * outputs if number == 0 else [chance.randint(-9, 9) for _ in range(outputs)]
        layers.append((AXES if number == 0 else rows, bias))
    return polyrelu.from_arrays(layers, last="relu")


@pytest.mark.parametrize(
    ("widths", "seed", "theorem"),
    [
        ([2, 4, 8], 0, "collision"),  # two cells
        ([2, 4, 8], 1, "collision"),  # one cell
        ([2, 4, 8], 2, "cell-pairs"),
        ([2, 4, 12], 2, "active-rows"),
        pytest.param([2, 4, 12], 0, "cell-pairs", marks=pytest.mark.slow),
        pytest.param([2, 4, 16], 0, "collision", marks=pytest.mark.slow),
    ],
)
def test_deep_networks(widths: list[int], seed: int, theorem: str) -> None:
    outcome = polyrelu.injective(random_stack(widths, seed))
    assert outcome.theorem == theorem
    assert report_on(outcome).verdict == "accepted"


def test_skip_connections() -> None:
    """x + max(x - 1, 0) is injective, x - 2 max(x, 0) is not; a residual block is decided so."""

    def block(weight: int, bias: int) -> Network:
        one, line = RationalMatrix.from_rows([[1]]), RationalMatrix.from_rows([[weight]])
        hidden = Layer((Block(0, one),), RationalMatrix.column([bias]))
        return Network(
            1, (hidden, Layer((Block(0, one), Block(1, line)), RationalMatrix.zeros(1, 1)))
        )

    assert status_of(block(1, -1)) == "proved"
    assert status_of(block(-2, 0)) == "refuted"
    assert status_of(block(-2, 0), "box:0,5") == "proved"


def test_slices_of_deep_networks() -> None:
    """On a line in the plane there is one coordinate."""
    net = polyrelu.from_arrays([([[1, 0], [-1, 0]], [0, 0]), ([[2, -1]], [0])])
    line = polyrelu.Polyhedron.from_constraints([], [], [[1, 1]], [1])
    outcome = polyrelu.injective(net, line)
    assert (outcome.status, outcome.theorem) == ("proved", "cell-pairs")
    assert report_on(outcome).verdict == "accepted"
    assert status_of(net) == "refuted"


def test_too_many_inputs_for_cells() -> None:
    eye = [[int(i == j) for j in range(7)] for i in range(7)]
    both = eye + [[-x for x in row] for row in eye]
    total = [[1] * 14, *([int(k == i) - int(k == i + 7) for k in range(14)] for i in range(7))]
    net = polyrelu.from_arrays([(both, [0] * 14), (total, [0] * 8)])
    outcome = polyrelu.injective(net)
    assert isinstance(outcome, Undecided)
    assert "cells are compared for at most 6 inputs" in str(outcome.attempts[0])


def gaussian(rows: int, columns: int, seed: int) -> Network:
    """A layer of normal numbers without biases."""
    return layer(np.random.default_rng(seed).standard_normal((rows, columns)))


def test_a_tree_with_nodes_of_all_kinds() -> None:
    """28 rows in four variables; another order of the rows and another prime change nothing."""
    outcome = polyrelu.injective(gaussian(28, 4, 1))
    assert isinstance(outcome, Injective)
    assert report_on(outcome).verdict == "accepted"
    assert outcome.search.closed == 1
    (tree,) = outcome.certificate.hypotheses[1].evidence["trees"]
    assert {kind for kind, _ in tree} >= {"split", "pack"}


def test_a_point_that_only_the_tree_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the local search the tree refutes."""
    from polyrelu.proofs.injectivity import least_active

    monkeypatch.setattr(least_active.LeastActive, "run", lambda self: None)
    outcome = polyrelu.injective(gaussian(20, 5, 3))
    assert isinstance(outcome, NotInjective)
    assert report_on(outcome).verdict == "accepted"
    assert outcome.search.num_programs > 0


@pytest.mark.parametrize("packed", [1, 2])
def test_fewer_packed_dependences(packed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits of the search change the tree, and not the answer."""
    few = node_search.NodeSearchSettings(max_packed=packed)
    monkeypatch.setattr(node_search, "_SETTINGS", few)
    assert status_of(gaussian(28, 4, 1)) == "proved"


def test_an_unlucky_prime() -> None:
    """Weights that vanish modulo the first prime of the format: the second one is taken."""
    prime = 2**31 - 1
    rows = [[prime, 1], [1, 0], [-prime, -1], [-1, 0], [1, prime], [-1, -prime]]
    outcome = polyrelu.injective(layer([[prime, 0], [0, 1], [-prime, 0], [0, -1]]))
    assert report_on(outcome).verdict == "accepted"  # rows are divided by their common divisor
    outcome = polyrelu.injective(layer([rows[0], [0, 1], rows[2], [0, -1]]))
    assert isinstance(outcome, Injective)
    assert outcome.certificate.hypotheses[1].evidence["prime"] == str(2**61 - 1)
    assert report_on(outcome).verdict == "accepted"


def test_a_budget() -> None:
    """Undecided with the share of the tree that is done, and with what to try next."""
    outcome = polyrelu.injective(gaussian(42, 6, 1), budget=60)
    assert isinstance(outcome, Undecided)
    assert isinstance(outcome.search, InjectivityStatistics)
    assert 0 < outcome.search.closed < 1
    assert outcome.search.num_active is not None
    assert "at least" in str(outcome)
    assert outcome.next[0].command == ("injective", "NET", "--budget", "600")
    assert polyrelu.injective(gaussian(42, 6, 1), budget=0).status == "undecided"
    same = polyrelu.injective(gaussian(42, 6, 1), budget=60)
    assert isinstance(same, Undecided)
    assert str(same) == str(outcome)


def test_witnesses_are_short() -> None:
    """Two points whose coordinates have few digits, where such points exist."""
    outcome = polyrelu.injective(layer(AXES[:3]))
    assert isinstance(outcome, NotInjective)
    assert all(abs(entry.numerator) < 9 for entry in (*outcome.witness.x, *outcome.witness.y))
    assert outcome.witness.value == (Fraction(0),) * 3
