"""Refutations by split trees, where linear programs are too weak."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from polyrelu import NeuronId, checker, from_arrays, identify
from polyrelu.outcomes import NotIdentifiable
from polyrelu.proofs.refutations.one_sided import one_sided_neurons
from polyrelu.proofs.refutations.sampled_candidates import OneSidedCandidate
from polyrelu.proofs.tree_moves import SETTINGS, tree_moves
from polyrelu.support.budget import Budget
from tests.oracles.judge import certificate_bytes

Stack = list[tuple[list[list[Any]], list[Any]]]

#: Neuron 1 of layer 3 is 3 max(q, 0) - 3 max(p, 0), q - p = max(x - 3, 0) - 1. It is dead, because
#: q is negative where x > 4.
DEAD: Stack = [
    ([[3], [1], [1]], [1, 2, -3]),
    ([[-3, 2, -2], [-3, 2, -1]], [3, 2]),
    ([[1, -3], [-3, 3]], [1, 0]),
    ([[2, 3]], [-2]),
]
#: Neuron 0 of layer 3 is off wherever neuron 0 of layer 2 is on.
OFF: Stack = [
    ([[3], [2], [-2]], [1, 3, 1]),
    ([[1, 2, -1], [-2, 1, 1]], [-2, -3]),
    ([[-3, 3], [2, 2]], [-3, 1]),
    ([[2, -2]], [0]),
]
CASES = [
    (DEAD, OneSidedCandidate(NeuronId(3, 1), -1)),
    (OFF, OneSidedCandidate(NeuronId(3, 0), -1, NeuronId(2, 0))),
]


@pytest.mark.parametrize(("layers", "candidate"), CASES, ids=["dead", "off"])
def test_cases_prove_what_no_program_proves(layers: Stack, candidate: OneSidedCandidate) -> None:
    """The other network has the same values, also where one of its neurons bends."""
    network = from_arrays(layers)
    assert not one_sided_neurons(network, [candidate])
    move = next(tree_moves(network, [candidate], Budget(2000)))
    assert (move.theorem, move.difference) == ("tree-equal", 3)
    places = [Fraction(k, 12) for k in range(-100, 100)]
    assert all(move.other([x]) == network([x]) for x in places)


def test_identify_refutes_by_cases() -> None:
    """Neuron 1 of layer 3 is dead; a tree of cases is found first, and the checker accepts it."""
    layers: Stack = [
        ([[-2, 1], [1, -3], [-3, 1]], [2, -1, 2]),
        ([[2, -3, 2], [1, 1, 1], [-3, 1, 3]], [2, -2, 3]),
        ([[3, -3, -1], [-1, -2, -3]], [3, 3]),
        ([[1, -1]], [3]),
    ]
    outcome = identify(from_arrays(layers), budget=50)
    assert isinstance(outcome, NotIdentifiable)
    assert outcome.certificate.theorem == "one-sided-cases"
    assert outcome.explanation == "neuron 1 of layer 3 is dead: it is never positive on R^n"
    assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"


def test_wrong_candidates_and_large_networks_give_nothing() -> None:
    """Neuron 0 of layer 3 is on at x = 0; and no tree is tried with too many inputs."""
    network = from_arrays(DEAD)
    wrong = OneSidedCandidate(NeuronId(3, 0), -1)
    assert not list(tree_moves(network, [wrong], Budget(2000)))
    zeros = [0] * SETTINGS.max_inputs
    wide = from_arrays([([[w, *zeros] for (w,) in DEAD[0][0]], DEAD[0][1]), *DEAD[1:]])
    assert not list(tree_moves(wide, [CASES[0][1]], Budget(2000)))
