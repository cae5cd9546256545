"""Non-identifiable networks with identifiable parts: all three claims certified and attacked."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest

import polyrelu
from polyrelu import Network, NetworkError, checker
from polyrelu.fibers.not_localizable import NotLocalizable, not_localizable
from polyrelu.outcomes import Identifiable, NotIdentifiable
from polyrelu.proofs.membership import can_be_verified
from polyrelu.proofs.refutations.image_box import image_box
from polyrelu.proofs.refutations.moves import moves
from tests.generators.campaigns import few_and_all, few_some_and_all
from tests.oracles.judge import certificate_bytes, contradictions, is_identifiable_by_signs, plain
from tests.oracles.plain import evaluate

Widths = tuple[int, int, int, int, int]


def admissible(limit: Widths) -> list[Widths]:
    """All admissible widths up to a limit, (n_0, …, n_4) with n_0 at most n_1 + 1."""
    found = []
    for n0, n1, n2, n3, n4 in product(*(range(1, n + 1) for n in limit)):
        if n1 + 1 >= n0 >= n1 >= n2 and n1 >= 2 and (n2 >= 2 or n3 >= 2):
            found.append((n0, n1, n2, n3, n4))
    return found


def certified(network: Network) -> Identifiable | NotIdentifiable:
    """The verdict of `identify`, whose certificate the checker accepts."""
    outcome = polyrelu.identify(network)
    assert isinstance(outcome, Identifiable | NotIdentifiable), (network.widths, outcome)
    assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted", network.widths
    return outcome


def check_claims(example: NotLocalizable) -> None:
    widths = example.network.widths
    first, second = certified(example.first), certified(example.second)
    assert isinstance(first, Identifiable)
    assert isinstance(second, Identifiable)
    assert (first.theorem, second.theorem) == (
        "bottleneck",
        "bottleneck" if widths[2] > 1 else "line",
    )
    for outcome, network in ((first, example.first), (second, example.second)):
        assert outcome.membership == "verified" or not can_be_verified(network), widths
    composition = certified(example.network)
    assert isinstance(composition, NotIdentifiable)
    assert composition.theorem == "bounded-replacement", widths


@pytest.mark.parametrize("step", few_some_and_all(15, 3, 1))
def test_widths_up_to_6_6_5_4_3(step: int) -> None:
    every = admissible((6, 6, 5, 4, 3))
    assert len(every) > 300
    some = [*every[::step], (6, 6, 5, 4, 3), (6, 2, 2, 1, 1), (9, 2, 1, 2, 1)]
    for seed, widths in enumerate(some):
        check_claims(not_localizable(widths, seed=seed))


@pytest.mark.parametrize("widths", [(20, 15, 12, 30, 4), (12, 12, 1, 12, 3)])
def test_wide_networks(widths: Widths) -> None:
    check_claims(not_localizable(widths))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "widths", [(2, 2, 2, 1, 1), (3, 2, 2, 1, 2), (2, 2, 1, 2, 1), (2, 2, 2, 2, 1)]
)
def test_tiny_widths_withstand_attacks(widths: Widths, seed: int) -> None:
    """Independent tests agree with the certificates.

    The compositions have no curve of parameters (exact Jacobians), no move and identifiable signs
    (Theorem 5). The other network that refutes identifiability has the same function by brute
    force.
    """
    example = not_localizable(widths, seed=seed)
    for part in (example.first, example.second):
        assert contradictions(plain(part), certified(part)) == []
        assert list(moves(part)) == []
        assert part.widths[1] == 1 or is_identifiable_by_signs(plain(part))
    assert contradictions(plain(example.network), certified(example.network)) == []
    assert {move.theorem for move in moves(example.network)} == {"bounded-replacement"}


def test_the_parts_are_the_layers_of_the_network() -> None:
    example = not_localizable((3, 3, 2, 4, 2), seed=5)
    layers = plain(example.network)
    assert plain(example.first) == layers[:3]
    assert plain(example.second) == layers[1:]
    assert all(high is not None for _, high in image_box(example.network, 2))
    assert all(low > 0 for low, _ in image_box(example.network, 3) if low is not None)


def test_the_same_seed_gives_the_same_network_and_numbers_are_small() -> None:
    for widths in admissible((4, 4, 3, 3, 2)):
        one, two = not_localizable(widths, seed=3), not_localizable(list(widths), seed=3)
        assert one.network.sha256 == two.network.sha256
        numbers = [x for weight, bias in plain(one.network) for row in (*weight, bias) for x in row]
        assert max(max(abs(x.numerator), x.denominator) for x in numbers) < 1000
    assert (
        not_localizable((2, 2, 2, 2, 1), seed=0).network
        != not_localizable((2, 2, 2, 2, 1), seed=1).network
    )


@pytest.mark.parametrize(
    ("widths", "remedy"),
    [
        ((2, 2, 2, 2), "five positive integers"),
        ((2, 2, 0, 2, 1), "five positive integers"),
        ((2, 2, "2", 2, 1), "five positive integers"),
        ((2, 3, 2, 2, 1), "take 2 >= n_1 >= n_2"),
        ((3, 2, 3, 2, 1), "take 3 >= n_1 >= n_2"),
        ((3, 1, 1, 2, 1), "take n_1 >= 2"),
        ((3, 2, 1, 1, 1), "take n_2 >= 2 or n_3 >= 2"),
    ],
)
def test_other_widths_are_refused(widths: tuple[int, ...], remedy: str) -> None:
    with pytest.raises(NetworkError, match=remedy):
        not_localizable(widths)


@pytest.mark.parametrize("step", few_and_all(4, 1))
def test_one_neuron_in_each_of_two_hidden_layers_is_never_identifiable(step: int) -> None:
    """Why n_1 = 1, and n_2 = n_3 = 1, are not admissible: small integers, all signs and zeros."""
    rng = Random(7)
    small, signs = range(-2, 3), (-1, 0, 2)
    for a, b, w, v in list(product(small, small, signs, signs))[::step]:
        bias, last = rng.randint(-3, 3), rng.randint(-3, 3)
        layers = [([[w, 0]], [bias]), ([[a]], [b]), ([[v], [0]], [last, 1])]
        outcome = polyrelu.identify(polyrelu.from_arrays(layers))
        assert isinstance(outcome, NotIdentifiable), layers
        assert contradictions(plain(polyrelu.from_arrays(layers)), outcome) == [], layers


def test_the_function_of_one_variable_read_from_the_other_side() -> None:
    """σ(a + Aσ(s)) = a - σ(a + Aσ(-s - a/A)) for A < 0 < a, as the proof uses."""
    for a, slope in product((1, 2, 5), (-1, -3)):
        one = plain(polyrelu.from_arrays([([[1]], [0]), ([[slope]], [a]), ([[1]], [0])]))
        shift = Fraction(a, -slope)
        two = plain(polyrelu.from_arrays([([[-1]], [shift]), ([[slope]], [a]), ([[-1]], [a])]))
        for k in range(-40, 41):
            x = [shift * k / 7]
            assert evaluate(one, x) == evaluate(two, x)
