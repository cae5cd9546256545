"""Bottleneck networks: the canonical position, golden pairs, mutated certificates."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from polyrelu import Polyhedron, checker, equivalent, from_arrays
from polyrelu.exact import RationalMatrix
from polyrelu.network import Network, from_document
from polyrelu.outcomes import Equivalent, NotEquivalent
from polyrelu.proofs.equivalence.bottleneck_parts import hidden_parts
from polyrelu.proofs.equivalence.bottleneck_points import difference_candidates
from polyrelu.proofs.equivalence.bottleneck_tree import unshared_atoms
from polyrelu.proofs.equivalence.canonical_position import canonical_position
from polyrelu.proofs.trees.expressions import JointNetwork
from tests.generators.bottleneck_stacks import (
    different,
    equal_pair,
    flip,
    hiding_stack,
    independent_rows,
    least_shift,
    plain_stack,
    several_hidden,
    translate,
)
from tests.generators.campaigns import few_and_all
from tests.generators.equivalent_pairs import Stack, dead, evaluate, permutation, scaling
from tests.generators.tree_documents import mutants, with_count, written
from tests.oracles.judge import certificate_bytes

#: σ(σ(x) - σ(y) - 1) on the plane; moved by -1; flipped at y as well.
GOLDEN = (([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0]))
MOVED = (([[1, 0], [0, 1]], [-1, 0]), ([[1, -1]], [0]), ([[1]], [0]))
FLIPPED = (([[1, -1], [0, -1]], [-1, 0]), ([[1, -1]], [0]), ([[1]], [0]))


def proved(first: Network, second: Network) -> Equivalent:
    outcome = equivalent(first, second)
    assert isinstance(outcome, Equivalent), outcome
    assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"
    assert outcome.search.num_programs == 0
    return outcome


def network(stack: Stack) -> Network:
    return from_arrays(stack.layers)


def joint_of(first: Network, second: Network) -> JointNetwork:
    whole = RationalMatrix.zeros(first.num_inputs, 1).beside(
        RationalMatrix.identity(first.num_inputs)
    )
    return JointNetwork(first, second, whole)


# -- golden pairs --------------------------------------------------------------------------------


def test_translation_takes_three_leaves() -> None:
    search = proved(from_arrays(GOLDEN), from_arrays(MOVED)).search
    assert (search.route, search.num_nodes, search.num_leaves) == ("bottleneck", 5, 3)


@pytest.mark.parametrize("first", [GOLDEN, MOVED])
def test_a_flip_takes_four_leaves(first: Any) -> None:
    search = proved(from_arrays(first), from_arrays(FLIPPED)).search
    assert (search.route, search.num_nodes, search.num_leaves) == ("bottleneck", 7, 4)


def test_further_than_the_least_shift() -> None:
    first = from_arrays(GOLDEN)
    beyond = from_arrays(
        [([[1, 0], [0, 1]], ["-1048577/1048576", 0]), ([[1, -1]], ["1/1048576"]), ([[1]], [0])]
    )
    outcome = equivalent(first, beyond)
    assert isinstance(outcome, NotEquivalent)
    assert first(outcome.witness.x) != beyond(outcome.witness.x)


def test_rows_with_one_entry_and_the_constant_zero() -> None:
    """σ(σ(x) - 1) and σ(σ(x - 1)): the second one is linear in its only neuron."""
    first = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 0], [0, 1]], [-1, 0]), ([[1, 1]], [0])])
    second = from_arrays([([[1, 0], [0, 1]], [-1, 0]), ([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    assert proved(first, second).search.route == "bottleneck"


def test_two_neurons_hidden_by_one_row_and_its_opposite() -> None:
    """σ(u - v) = u - v + σ(v - u): either of them may be taken for the hidden one."""
    first = from_arrays([([[1, 1], [0, 1]], [0, 0]), ([[1, -1]], [0]), ([[1]], [0])])
    second = from_arrays([([[1, 2], [0, -1]], [3, 0]), ([[1, -1]], [-3]), ([[1]], [0])])
    turned = from_arrays(
        [([[1, 1], [0, 1]], [0, 0]), ([[-1, 1], [1, 0], [0, 1]], [0, 0, 0]), ([[1, 1, -1]], [0])]
    )
    other = canonical_position(first)
    assert canonical_position(turned) == other
    assert equivalent(second, turned).status == equivalent(second, first).status


def test_a_flip_that_two_neurons_allow() -> None:
    """Both rows have -h_1 / h_0 = 2, so neuron 1 may be flipped.

    The last neuron has different ratios in the two rows, so it may not.
    """
    above = [[1, -2, -1], [3, -6, -1]], [-1, -2]
    first = from_arrays([([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 1, 2]), above, ([[1, -5]], [3])])
    second = from_arrays(
        [([[1, -2, 0], [0, -1, 0], [0, 0, 1]], [-2, -1, 2]), above, ([[1, -5]], [3])]
    )
    wrong = from_arrays(
        [([[1, 0, -1], [0, 1, 0], [0, 0, -1]], [-2, 1, -2]), above, ([[1, -5]], [3])]
    )
    search = proved(first, second).search
    assert (search.route, search.num_nodes) == ("bottleneck", 7)
    assert equivalent(first, wrong).status == "refuted"


def test_a_constant_and_a_rare_hat() -> None:
    """A network that reads nothing beside one that is 0 nearly everywhere."""
    unit = [[int(i == j) for j in range(12)] for i in range(12)]
    second = from_arrays([(unit, [-1000] * 12), ([[1, *[-1000] * 11]], [0]), ([[1]], [7])])
    first = from_arrays([(unit, [0] * 12), ([[-1] * 12], [0]), ([[1]], [7])])
    outcome = equivalent(first, second)
    assert isinstance(outcome, NotEquivalent)
    assert list(first(outcome.witness.x)) == [7]
    assert list(second(outcome.witness.x)) != [7]


@pytest.mark.parametrize("after", [1, 24])
def test_wide_pairs_take_few_nodes(after: int) -> None:
    chance = Random(after)
    first = hiding_stack(chance, 24, 24, after, 1)
    second = first.copy()
    translate(second, least_shift(second) / 3)
    for k in range(1, 24 if after == 1 else 1):
        flip(second, k)
    dead(second, 2, chance)
    permutation(second, 1, chance)
    scaling(second, 2, chance)
    assert proved(network(first), network(second)).search.num_nodes <= 7


def test_a_tree_for_each_hidden_neuron() -> None:
    first, second = several_hidden(Random(12), 4, 2)
    outcome = proved(network(first), network(second))
    assert outcome.search.route == "bottleneck"
    assert outcome.search.num_nodes <= 7 * 4
    assert len(outcome.certificate.parts) > 1


def test_neurons_that_read_a_hidden_one_only() -> None:
    """max(max(y_j, 0) - 1, 0) = max(max(y_j - 1, 0), 0) in three places.

    The second network is linear in each of these first-layer neurons.
    """
    rows, unit = [[1, 2, 0], [0, 1, 3], [1, 0, 1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    first = from_arrays([(rows, [0] * 3), (unit, [-1] * 3), ([[1, 2, 3]], [0])])
    second = from_arrays([(rows, [-1] * 3), (unit, [0] * 3), ([[1, 2, 3]], [0])])
    outcome = proved(first, second)
    assert (outcome.search.route, len(outcome.certificate.parts)) == ("bottleneck", 3)


def test_parts_add_up() -> None:
    """If some neurons are left out, there are no parts."""
    pair = [network(stack) for stack in several_hidden(Random(12), 4, 2)]
    found = [canonical_position(net) for net in pair]
    positions = [position for position in found if position is not None]
    joint = joint_of(*pair)
    own = unshared_atoms(joint)
    assert len(hidden_parts(joint, pair, positions, own)) == len(own) // 2
    for atom in own:
        assert hidden_parts(joint, pair, positions, [other for other in own if other != atom]) == []


def test_a_hidden_neuron_among_many_orientations() -> None:
    """The hidden neuron is shifted too far, which is the only difference that the function shows.

    After flips, 20 other rows have the wrong orientation, and the function does not show it.
    """
    chance = Random(1)
    first = hiding_stack(chance, 40, 40, 1, 1)
    second = first.copy()
    translate(second, least_shift(second) - Fraction(1, 2**20))
    permutation(second, 1, chance)
    outcome = equivalent(network(first), network(second))
    assert isinstance(outcome, NotEquivalent)
    assert outcome.search.route == "bottleneck"


# -- where it does not apply ---------------------------------------------------------------------


def test_other_domains_take_the_general_proof() -> None:
    outcome = equivalent(
        from_arrays(GOLDEN), from_arrays(FLIPPED), Polyhedron.box([-5, -5], [5, 5])
    )
    assert isinstance(outcome, Equivalent)
    assert outcome.search.route != "bottleneck"


@pytest.mark.parametrize(
    "layers",
    [
        [([[1, 2]], [0]), ([[1]], [0])],
        [([[1, 2], [2, 4]], [0, 1]), ([[1, -1], [1, 1]], [0, -1]), ([[1, 2]], [0])],
        [([[0, 0], [2, 1]], [1, 1]), ([[-1, -1]], [0]), ([[1]], [0])],
        [([[1]], [0]), ([[1]], [-1]), ([[1]], [-1]), ([[1]], [0])],
    ],
    ids=["one hidden layer", "dependent rows", "constant", "three hidden layers"],
)
def test_no_canonical_position(layers: list[Any]) -> None:
    assert canonical_position(from_arrays(layers)) is None


@pytest.mark.parametrize("depth", [2, 3])
def test_no_canonical_position_with_a_relu_at_the_end(depth: int) -> None:
    assert canonical_position(from_arrays(GOLDEN[:depth], last="relu")) is None


# -- the canonical position ----------------------------------------------------------------------


def test_the_canonical_network_has_the_function() -> None:
    """Of any parameters; in plain fractions."""
    chance = Random(0)
    for _ in range(150):
        width = chance.randint(1, 4)
        makers = (plain_stack, hiding_stack)
        stack = chance.choice(makers)(chance, width + 1, width, chance.randint(1, 3), 2)
        if chance.random() < 0.5:
            rows, bias = stack.layers[1]
            stack.layers[1] = (
                [[Fraction(chance.randint(-1, 1)) for _ in w] for w in rows],
                [-abs(b) for b in bias],
            )
        found = canonical_position(network(stack))
        for _ in range(20 if found else 0):
            x = [Fraction(chance.randint(-40, 40), 4) for _ in range(width + 1)]
            assert found is not None
            assert list(found.network(x)) == evaluate(stack, x), stack


@pytest.mark.parametrize(
    ("above", "heads"),
    [
        (([[1, -2], [0, 1]], [-1, 0]), ([[1, 1]], [0])),
        (([[1, -2], [1, 0]], [-1, 0]), ([[1, 1]], [0])),
        (([[-1, -2]], [3]), ([[1]], [0])),
        (([[1, -2], [2, -1]], [-1, -3]), ([[1, 1]], [0])),
        (([[1, -2], [-1, 2]], [-1, 1]), ([[1, -1]], [0])),
    ],
    ids=[
        "a neighbour is read linearly",
        "the neuron itself is",
        "only the constant",
        "two ratios",
        "an opposite pair",
    ],
)
def test_what_must_not_be_moved(above: Any, heads: Any) -> None:
    """Where hiding is spoilt, nothing moves that would change the function."""
    net = from_arrays([([[1, 2], [-1, 1]], [1, 2]), above, heads])
    found = canonical_position(net)
    assert found is not None
    points = [[Fraction(a, 2), Fraction(b, 2)] for a in range(-12, 13) for b in range(-12, 13)]
    assert found.network.evaluate(points) == net.evaluate(points)


def test_pairs_with_one_function_have_one_canonical_position() -> None:
    for seed in range(60):
        first, second, kind = equal_pair(Random(seed))
        one, other = (canonical_position(network(stack)) for stack in (first, second))
        assert one is not None
        assert other is not None
        assert not joint_of(one.network, other.network).difference, (seed, kind)


def test_difference_candidates() -> None:
    """Without random points first: different canonical positions differ at one of the places."""
    found = 0
    for seed in range(60):
        chance = Random(seed)
        width = chance.randint(2, 5)
        first = hiding_stack(
            chance, width, width, chance.randint(1, 3), 1, zeros=chance.choice((0.0, 0.3))
        )
        second, kind = different(chance, first)
        one, other = (canonical_position(network(stack)) for stack in (first, second))
        assert one is not None
        assert other is not None
        joint = joint_of(one.network, other.network)
        if joint.difference:
            places = difference_candidates(one.network, other.network, joint, 0)
            assert any(evaluate(first, list(x)) != evaluate(second, list(x)) for x in places), (
                seed,
                kind,
            )
            found += 1
    assert found > 40


# -- certificates --------------------------------------------------------------------------------


def same_function(claim: Any) -> bool:
    """Whether two inline networks agree at many points."""
    pair = [from_document(claim[key]["inline"]) for key in ("network", "other")]
    chance = Random(0)
    points = [
        [Fraction(chance.randint(-40, 40), chance.choice((1, 8))) for _ in range(2)]
        for _ in range(300)
    ]
    return pair[0].evaluate(points) == pair[1].evaluate(points)


@pytest.mark.parametrize("step", few_and_all(19, 5))
def test_mutated_certificates_die_or_are_true(step: int) -> None:
    outcome = proved(from_arrays(GOLDEN), from_arrays(FLIPPED))
    document = [json.loads(line) for line in outcome.certificate.lines()]
    count = accepted = 0
    for mutant in itertools.islice(mutants(document), 0, None, step):
        for fixed in (mutant, with_count(mutant)):
            count += 1
            if checker.check_bytes(written(fixed)).verdict == "accepted":
                accepted += 1
                assert same_function(fixed[0]["claim"]), fixed
    assert count > 1000 / step
    assert accepted < count / 4


def test_the_tree_does_not_prove_another_pair() -> None:
    """A second network moved or flipped in another way, or too far, under the old tree."""
    first, right = from_arrays(GOLDEN), from_arrays(FLIPPED)
    document = [json.loads(line) for line in proved(first, right).certificate.lines()]
    wrong = [
        (([[1, -1], [0, -1]], ["-1/2", 0]), ([[1, -1]], [0]), ([[1]], [0])),
        (([[1, -1], [0, -1]], ["-5/4", 0]), ([[1, -1]], ["1/4"]), ([[1]], [0])),
        (([[1, -1], [0, 1]], [-1, 0]), ([[1, -1]], [0]), ([[1]], [0])),
    ]
    for layers in wrong:
        other = from_arrays(layers)
        assert equivalent(first, other).status == "refuted"
        same = equivalent(other, other)
        assert isinstance(same, Equivalent)
        document[0]["claim"]["other"] = json.loads(next(same.certificate.lines()))["claim"]["other"]
        assert checker.check_bytes(written(document)).verdict == "rejected"


def test_independent_rows() -> None:
    """The generator keeps its promise."""
    chance = Random(3)
    for _ in range(50):
        rows, _ = independent_rows(chance, 4, 5)
        assert (
            canonical_position(from_arrays([(rows, [0] * 4), ([[1, 2, 3, 4]], [0]), ([[1]], [0])]))
            is not None
        )
