"""Theorem `one-sided` on random networks with two to four hidden layers.

Moves are compared with evaluation and with the general prover. Half of the networks have a planted
neuron that is dead, linear, or of one sign where another one is on, behind bounds that intervals do
not show.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import pytest

import polyrelu
from polyrelu import Network, NeuronId, checker
from polyrelu.outcomes import NotIdentifiable
from polyrelu.proofs.refutations.moves import Move
from polyrelu.proofs.refutations.one_sided import one_sided_moves, one_sided_neurons
from polyrelu.proofs.refutations.sampled_candidates import OneSidedCandidate
from polyrelu.support.text_files import layout
from tests.generators.campaigns import case, few_and_all, few_some_and_all
from tests.generators.moves import (
    changed_documents,
    move_document,
    points_of_all_sizes,
    verdict,
)
from tests.oracles.judge import plain
from tests.oracles.plain import Network as Plain, evaluate, preactivations

Kind = tuple[int, int, int | None]  # layer, sign, guard


def gaussian(rng: Random) -> Fraction:
    return Fraction(round(rng.gauss(0, 1) * 8) or 1, 8)


def random_stack(rng: Random) -> Plain:
    """Gaussian weights of few digits."""
    widths = [
        rng.randint(2, 4),
        *(rng.randint(2, 5) for _ in range(rng.randint(2, 4))),
        rng.randint(1, 2),
    ]
    return [
        ([[gaussian(rng) for _ in range(n)] for _ in range(m)], [gaussian(rng) for _ in range(m)])
        for n, m in itertools.pairwise(widths)
    ]


def planted(rng: Random) -> tuple[Plain, OneSidedCandidate]:
    """Return a stack with a neuron of one sign, and this neuron as a candidate.

    Its preactivation is ±(2 max(t, 0) - max(t - 1, 0) + c) for two neurons of the layer before,
    with c ≥ 0, or with c ≥ -2 where max(t - 1, 0) is positive.
    """
    layers = random_stack(rng)
    number = rng.randrange(1, len(layers) - 1)
    rows, bias = layers[number - 1]
    rows[1], bias[1] = list(rows[0]), bias[0] - 1
    sign, guard = rng.choice([1, -1]), rng.choice([None, 1])
    size = len(rows)
    weights = [
        Fraction(2 * sign),
        Fraction(-sign),
        *(Fraction(sign * rng.randint(0, 2)) for _ in range(size - 2)),
    ]
    layers[number][0][0] = weights
    layers[number][1][0] = sign * Fraction(
        rng.randint(0, 3) if guard is None else -rng.randint(1, 2)
    )
    before = None if guard is None else NeuronId(number, guard)
    return layers, OneSidedCandidate(NeuronId(number + 1, 0), sign, before)


def kind(move: Move) -> str:
    return next(word for word in ("dead", "linear", "off", "raised") if word in move.explanation)


def judged(layers: Plain, move: Move, rng: Random) -> str:
    """A move is checked by everything that there is; the kind of the move."""
    network, other = polyrelu.from_arrays(layers), plain(move.other)
    for x in points_of_all_sizes(network.num_inputs, rng):
        assert evaluate(layers, x) == evaluate(other, x), (layers, move.explanation)
    assert not polyrelu.related(network, move.other)
    assert verdict(move_document(network, move)) == "accepted", layers
    return kind(move)


@pytest.mark.parametrize("count", few_some_and_all(6, 60, 200))
def test_random_networks_are_refuted_rightly(count: int) -> None:
    rng, seen, proved = Random("one-sided"), Counter[str](), 0
    for number in range(count):
        layers = random_stack(rng)
        with case(number):
            network = polyrelu.from_arrays(layers)
            for word, moves in itertools.groupby(one_sided_moves(network), kind):
                move = next(iter(moves))
                seen[word] += bool(judged(layers, move, rng))
                if seen[word] % 5 == 1:
                    outcome = polyrelu.equivalent(network, move.other, time_limit=20)
                    assert outcome.status != "refuted", layers
                    proved += outcome.status == "proved"
    assert min(seen[word] for word in ("dead", "linear", "off", "raised")) >= count // 100, seen
    assert proved > count // 10


@pytest.mark.parametrize("count", few_and_all(12, 150))
def test_planted_neurons_are_found(count: int) -> None:
    rng, seen = Random("planted"), Counter[tuple[int, bool]]()
    for _ in range(count):
        layers, candidate = planted(rng)
        network = polyrelu.from_arrays(layers)
        assert one_sided_neurons(network, [candidate]) == [candidate], layers
        seen[candidate.sign, candidate.guard is None] += 1
        for move in itertools.islice(one_sided_moves(network, [candidate]), 1):
            judged(layers, move, rng)
    assert len(seen) == 4


def claims(network: Network, rng: Random) -> Iterator[OneSidedCandidate]:
    """Anything, mostly false."""
    for _ in range(6):
        layer = rng.randint(2, network.depth - 1)
        guard = rng.choice([None, NeuronId(layer - 1, rng.randrange(network.widths[layer - 1]))])
        yield OneSidedCandidate(
            NeuronId(layer, rng.randrange(network.widths[layer])), rng.choice([1, -1]), guard
        )


@pytest.mark.parametrize("count", few_and_all(10, 100))
def test_what_is_proved_of_arbitrary_suspects_is_true(count: int) -> None:
    rng, proved = Random("suspects"), 0
    for _ in range(count):
        layers = random_stack(rng)
        network = polyrelu.from_arrays(layers)
        found = one_sided_neurons(network, claims(network, rng))
        proved += len(found)
        for x in points_of_all_sizes(network.num_inputs, rng) if found else ():
            z = preactivations(layers, x)
            for neuron, sign, guard in found:
                if guard is None or z[guard.layer - 1][guard.index] > 0:
                    assert sign * z[neuron.layer - 1][neuron.index] >= 0, layers
    assert proved > count // 5


@pytest.mark.slow
def test_changed_certificates_are_true_or_die() -> None:
    """One integer of either network changed: what is accepted still has one function."""
    rng, rejected = Random("changed"), 0
    for _ in range(12):
        layers, _ = planted(rng)
        network = polyrelu.from_arrays(layers)
        move = next(iter(one_sided_moves(network)), None)
        documents = [move_document(network, move)] if move is not None else []
        for document, which in itertools.product(documents, ("network", "other")):
            for mutant in changed_documents(document, which):
                if checker.check_bytes(layout(mutant).encode("ascii")).verdict == "accepted":
                    assert agree(mutant, rng)
                else:
                    rejected += 1
    assert rejected > 300


def agree(document: dict[str, Any], rng: Random) -> bool:
    pair = [
        plain(polyrelu.network.from_document(document["claim"][key]["inline"]))
        for key in ("network", "other")
    ]
    return all(
        evaluate(pair[0], x) == evaluate(pair[1], x)
        for x in points_of_all_sizes(len(pair[0][0][0][0]), rng)
    )


def test_identify_refutes_by_it_where_nothing_else_does() -> None:
    rng, seen = Random("identify"), 0
    for _ in range(30):
        layers = random_stack(rng)
        outcome = polyrelu.identify(polyrelu.from_arrays(layers), budget=0)
        if isinstance(outcome, NotIdentifiable) and outcome.theorem == "one-sided":
            seen += 1
            document, _ = outcome.certificate.to_document()
            assert checker.check_bytes(layout(document).encode("ascii")).verdict == "accepted"
    assert seen > 3


@pytest.mark.parametrize("layers", [2, 1])
def test_too_shallow(layers: int) -> None:
    network = polyrelu.from_arrays([([[1, 0], [0, 1]], [0, 0])] * layers)
    assert one_sided_neurons(network) == []
    assert list(one_sided_moves(network)) == []


def test_suspects_must_fit() -> None:
    network = polyrelu.from_arrays([([[1, 0], [0, 1]], [0, 0])] * 3)
    for candidate in (
        OneSidedCandidate(NeuronId(3, 0), 1),
        OneSidedCandidate(NeuronId(2, 0), 1, NeuronId(2, 1)),
    ):
        with pytest.raises(polyrelu.PolyreluError):
            one_sided_neurons(network, [candidate])
