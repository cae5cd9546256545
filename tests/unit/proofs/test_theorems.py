"""Golden cases of the theorems: proved, refuted and open claims, each with its class."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import polyrelu
from polyrelu import Proved, Undecided, checker
from polyrelu.certificate import THEOREMS, Certificate, Claim, Hypothesis
from polyrelu.outcomes import NotIdentifiable
from polyrelu.proofs.membership import generic_membership
from polyrelu.proofs.refutations.moves import moves
from polyrelu.proofs.refutations.reversed_line import reversed_line
from polyrelu.support.text_files import layout
from polyrelu.symmetry import flip, hidden_neurons, translate
from polyrelu.symmetry.hidden_hyperplanes import least_shift
from tests.generators.campaigns import few_and_all
from tests.generators.random_networks import random_network
from tests.oracles.grid import related, same_function
from tests.oracles.judge import certificate_bytes, contradictions, plain

Stack = list[tuple[list[list[Any]], list[Any]]]

ABSOLUTE: Stack = [([[1], [-1]], [0, 0]), ([[1, 1]], [0])]
TWO_ABSOLUTES: Stack = [([[1], [-1], [1], [-1]], [0, 0, -1, 1]), ([[1, 1, 1, 1]], [0])]
STAR: Stack = [([[1, 0], [-1, 0], [0, 1]], [0, 0, 0]), ([[1, 1, 1], [1, 0, 2]], [0, 0])]
PLANE_OF_ABSOLUTES: Stack = [
    ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, 0, 0, 0]),
    ([[1, 1, 1, 1]], [0]),
]
LINE: Stack = [([[2]], [1]), ([[1], [-1]], [-1, 3]), ([[1, 2]], [0])]
BOTTLENECK: Stack = [([[1, 0], [1, 1]], [0, 1]), ([[1, -2], [-3, 1]], [1, 1]), ([[1, 1]], [0])]


@pytest.mark.parametrize(
    ("layers", "theorem", "among"),
    [
        ([([[1, 2]], [3])], "affine", "all"),
        (ABSOLUTE, "shallow", "all"),
        (STAR, "shallow", "all"),
        (LINE, "line", "all"),
        (BOTTLENECK, "bottleneck", "generic"),
    ],
)
def test_proved(layers: Stack, theorem: str, among: str) -> None:
    outcome = polyrelu.identify(polyrelu.from_arrays(layers))
    assert isinstance(outcome, Proved)
    assert (outcome.certificate.theorem, outcome.certificate.claim.among) == (theorem, among)
    assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"


@pytest.mark.parametrize(
    ("layers", "word"),
    [
        ([([[1], [1]], [0, 0]), ([[1, 1]], [0])], "trade"),
        ([([[1], [2]], [0, 1]), ([[1, 0]], [0])], "outgoing weights 0"),
        ([([[1], [0]], [0, 1]), ([[1, 1]], [0])], "linear"),
        ([([[1], [0]], [0, -1]), ([[1, 1]], [0])], "dead"),
        ([([[1], [-1]], [0, 0]), ([[1, -1]], [0])], "cancel"),
        ([([[1, 0], [0, 1], [-1, -1]], [0, 0, 1]), ([[1, 1, 1]], [0])], "flipped together"),
        (TWO_ABSOLUTES, "flipped together"),
        (PLANE_OF_ABSOLUTES, "other neurons"),
        ([([[1, 0], [0, 1]], [0, 0]), ([[1, 2]], [3]), ([[1]], [0])], "linear"),
        ([([[1, 0], [0, 1]], [0, 0]), ([[-1, -2]], [-3]), ([[1]], [0])], "dead"),
        ([([[1, 0], [0, 1]], [0, 0]), ([[1, -2]], [-3]), ([[1]], [0])], "hides"),
        ([([[1]], [0]), ([[-1]], [1]), ([[1]], [0])], "read from the other side"),
        (
            [([[1]], [0]), ([[-2]], [3]), ([[-1], [2]], [4, -5]), ([[1, 1]], [0])],
            "is linear on the box",
        ),
        (
            [([[1]], [0]), ([[-2]], [3]), ([[-2], [1]], [2, -3]), ([[1, 1]], [0])],
            "is dead on the box",
        ),
    ],
)
def test_refuted(layers: Stack, word: str) -> None:
    outcome = polyrelu.identify(polyrelu.from_arrays(layers))
    assert isinstance(outcome, NotIdentifiable)
    assert word in outcome.explanation
    exact = [
        ([[Fraction(w) for w in row] for row in weight], [Fraction(b) for b in bias])
        for weight, bias in layers
    ]
    assert contradictions(exact, outcome) == []


def test_one_absolute_value_beside_a_second_direction_is_identifiable_but_two_are_not() -> None:
    """For one output, two doubled hyperplanes leave a linear function of rank one to a pair."""
    assert polyrelu.identify(polyrelu.from_arrays(STAR)).status == "proved"
    assert polyrelu.identify(polyrelu.from_arrays(PLANE_OF_ABSOLUTES)).status == "refuted"
    two_outputs = [PLANE_OF_ABSOLUTES[0], ([[1, 2, 1, 5], [1, -7, 3, 1]], [0, 0])]
    assert polyrelu.identify(polyrelu.from_arrays(two_outputs)).status == "proved"


@pytest.mark.parametrize(
    ("layers", "reason"),
    [
        (
            [([[1, 0], [0, 1], [1, 1]], [1, 2, 3]), ([[1, -2, 1]], [1]), ([[1]], [0])],
            "wider than the input",
        ),
        (
            [([[1, 2], [2, 4]], [1, 1]), ([[1, -2], [-3, 1]], [1, 2]), ([[1, 1]], [0])],
            "does not have rank",
        ),
    ],
)
def test_undecided_names_the_hypothesis(layers: Stack, reason: str) -> None:
    outcome = polyrelu.identify(polyrelu.from_arrays(layers), budget=0)
    assert isinstance(outcome, Undecided)
    assert reason in outcome.attempts[0].reason
    with pytest.raises(TypeError, match="not a truth value"):
        bool(outcome)


def test_width_one_is_not_covered_by_theorem_five() -> None:
    """σ(1 - σ(x)) = 1 - σ(1 - σ(1 - x)): unrelated parameters, no dead, linear or hidden neuron."""
    net = polyrelu.from_arrays([([[1]], [0]), ([[-1]], [1]), ([[1]], [0])])
    other = polyrelu.from_arrays([([[-1]], [1]), ([[-1]], [1]), ([[-1]], [1])])
    assert reversed_line(net) == other
    assert all(net([Fraction(k, 8)]) == other([Fraction(k, 8)]) for k in range(-16, 17))
    assert not related(plain(net), plain(other))
    assert hidden_neurons(net, 1) == ()


def test_among_all_is_not_claimed_where_only_generic_competitors_are_excluded() -> None:
    outcome = polyrelu.identify(polyrelu.from_arrays(BOTTLENECK), among="all")
    assert isinstance(outcome, Undecided)


def test_a_class_without_a_known_member_refutes_nothing() -> None:
    """The dead neuron gives other parameters, but none that is known to be generic."""
    layers: Stack = [([[1, 0], [0, 1]], [0, 0]), ([[-1, -1], [1, 0]], [-1, -2]), ([[1, 1]], [0])]
    net = polyrelu.from_arrays(layers)
    assert polyrelu.identify(net, among="all").status == "refuted"
    assert polyrelu.identify(net).status == "refuted"
    assert polyrelu.identify(net, among="generic").status == "undecided"


def test_refutations_reach_into_deep_networks() -> None:
    layers: Stack = [
        ([[1, 2], [3, -1]], [1, 1]),
        ([[1, -1], [2, 1]], [0, -1]),
        ([[-1, -2], [1, -1]], [-1, 1]),
        ([[1, 1], [2, -1]], [0, 1]),
        ([[1, -3]], [2]),
    ]
    outcome = polyrelu.identify(polyrelu.from_arrays(layers))
    assert isinstance(outcome, NotIdentifiable)
    assert outcome.explanation.startswith("neuron 0 of layer 3 is dead")
    assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"


@pytest.mark.slow
def test_flips_form_a_group_and_translations_a_half_line() -> None:
    rng = Random(3)
    found = 0
    while found < 10:
        net = polyrelu.from_arrays(random_network("hiding", rng))
        (neuron,) = hidden_neurons(net, 1)
        least = least_shift(net, 1, neuron)
        assert same_function(plain(net), plain(translate(net, 1, neuron, least)))
        with pytest.raises(polyrelu.NetworkError, match="least admissible"):
            translate(net, 1, neuron, least - Fraction(1, 10**6))
        others = [k for k in range(net.widths[1]) if k != neuron]
        if net.widths[2] == 1 and len(others) > 1:
            found += 1
            first, second = flip(net, 1, neuron, others[:1]), flip(net, 1, neuron, others)
            assert flip(first, 1, neuron, others[:1]) == net
            assert flip(first, 1, neuron, others[1:]) == second
            assert same_function(plain(net), plain(second))


def test_flip_certificates_are_accepted() -> None:
    """`identify` prefers the translation that exists beside every flip; both have a rule."""
    network = polyrelu.from_arrays(
        [([[1, 0], [1, 1]], [0, 1]), ([[2, -1]], [-1]), ([[1], [3]], [0, 1])]
    )
    (move,) = [move for move in moves(network) if move.theorem == "flip"]
    evidence: list[dict[str, Any]] = [
        {},
        move.evidence,
        {"layer": move.difference},
        {"status": "verified", "method": "every"},
    ]
    names = THEOREMS["flip"].hypotheses
    hypotheses = tuple(
        Hypothesis("flip", name, entry) for name, entry in zip(names, evidence, strict=True)
    )
    claim = Claim("not-identifiable", network, "all", move.other)
    document, _ = Certificate(claim, "flip", hypotheses).to_document()
    assert checker.check_bytes(layout(document).encode()).verdict == "accepted"
    document["claim"]["other"]["inline"]["layers"][0]["bias"] = "1 -1"
    assert checker.check_bytes(layout(document).encode()).verdict != "accepted"


def test_a_free_pair_of_neurons_can_stand_anywhere() -> None:
    """With two doubled hyperplanes and one output, a free pair makes any rank-one function."""
    layers: Stack = [PLANE_OF_ABSOLUTES[0], ([[1, 2, 1, 3]], [0])]
    network = polyrelu.from_arrays(layers)
    outcome = polyrelu.identify(network)
    assert isinstance(outcome, NotIdentifiable)
    assert contradictions(plain(network), outcome) == []


@pytest.mark.parametrize(
    "arguments", [(0, 0, [1]), (1, 0, [-2]), (1, 0, [7]), (1, 0, [0]), (1, 0, [1, 1]), (2, 0, [1])]
)
def test_flips_that_are_none_are_refused(arguments: tuple[int, int, list[int]]) -> None:
    network = polyrelu.from_arrays(
        [([[1, 0], [1, 1]], [0, 1]), ([[2, -1]], [-1]), ([[1], [3]], [0, 1])]
    )
    layer, neuron, flipped = arguments
    with pytest.raises(polyrelu.PolyreluError):
        flip(network, layer, neuron, flipped)


def test_arguments_of_identify() -> None:
    network = polyrelu.from_arrays(BOTTLENECK)
    with pytest.raises(polyrelu.PolyreluError, match="got str 'Generic'"):
        polyrelu.identify(network, among="Generic")  # type: ignore[arg-type]
    with pytest.raises(polyrelu.PolyreluError, match="cannot read"):
        polyrelu.identify("net.onnx")


def test_a_shift_below_the_half_line_changes_the_function() -> None:
    net = polyrelu.from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    moved = polyrelu.from_arrays([([[1, 0], [0, 1]], [-2, 0]), ([[1, -1]], [1]), ([[1]], [0])])
    assert least_shift(net, 1, 0) == -1
    assert not same_function(plain(net), plain(moved))


@pytest.mark.parametrize("networks", few_and_all(40, 240))
def test_moves_keep_the_function_on_degenerate_networks(networks: int) -> None:
    rng, seen = Random(11), set()
    for _ in range(networks):
        layers = random_network("degenerate", rng)
        for move in list(moves(polyrelu.from_arrays(layers)))[:3]:
            seen.add(move.theorem)
            assert same_function(layers, plain(move.other)), move.explanation
            assert not related(layers, plain(move.other)), move.explanation
    assert seen >= {"bounded-replacement", "translation", "line-equal"}


def test_membership_of_degenerate_networks() -> None:
    def status(layers: Stack) -> str:
        return str(generic_membership(polyrelu.from_arrays(layers))["status"])

    assert status(BOTTLENECK) == "verified"
    assert status([BOTTLENECK[0], ([[1, 0], [-3, 1]], [1, 1]), BOTTLENECK[2]]) == "refuted"
    assert status([BOTTLENECK[0], ([[1, -2], [-3, 1]], [0, 1]), BOTTLENECK[2]]) == "refuted"
    assert status([BOTTLENECK[0], ([[1, -2], [-1, 1]], [1, 1]), BOTTLENECK[2]]) == "refuted"
    assert status([([[1, 1], [1, 1]], [0, 1]), *BOTTLENECK[1:]]) == "open"


def test_the_same_seed_gives_the_same_certificate(tmp_path: Path) -> None:
    net = polyrelu.from_arrays(random_network("gaussian", Random(5)))
    texts = []
    for name in ("a.json", "b.json"):
        outcome = polyrelu.identify(net, seed=7)
        assert isinstance(outcome, Proved | NotIdentifiable)
        texts.append(outcome.save(tmp_path / name)[-1].read_text())
    assert texts[0] == texts[1]
