"""Stacks of leaky ReLUs: parameters, proofs, refutations, and an attack on a small grid."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from polyrelu import Network, checker, from_arrays, identify, related
from polyrelu.formats.graph.lowering import lower
from polyrelu.formats.graph.operations import LeakyRelu
from polyrelu.formats.graph.values import Graph
from polyrelu.network import LeakyStack, leaky_stack
from polyrelu.outcomes import Attempt, Identifiable, NotIdentifiable, Undecided
from polyrelu.proofs.leaky.prover import prove_chains, prove_shallow
from polyrelu.support.budget import Budget
from tests.generators.campaigns import few_some_and_all
from tests.oracles.judge import certificate_bytes

Parameters = tuple[int, ...]

HALF = Fraction(1, 2)
#: Two hidden layers of two neurons, with two chain points.
HIDDEN = [([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [1, -2]], [-1, 1])]
CHAIN = from_arrays([*HIDDEN, ([[1, 3]], [0])])


def _value(stack: Network, slope: Fraction, point: list[Fraction]) -> list[Fraction]:
    """Return the function of a leaky ReLU stack, without its network."""
    values = point
    for number, layer in enumerate(stack.layers, 1):
        rows = layer.augmented().rows()
        z = [sum(map(Fraction.__mul__, row, [*values, Fraction(1)]), Fraction(0)) for row in rows]
        values = z if number == stack.depth else [x if x > 0 else slope * x for x in z]
    return values


@pytest.mark.parametrize("slope", [HALF, Fraction(3), Fraction(-2)])
def test_parameters_are_read_off_a_network(slope: Fraction) -> None:
    """The network has the function of the stack, and gives slope and stack back."""
    network = LeakyStack(slope, CHAIN).network()
    for point in ([2, -3], [-1, 5], ["-1/3", "-2/7"]):
        exact = [Fraction(x) for x in point]
        assert list(network(exact)) == _value(CHAIN, slope, exact)
    assert leaky_stack(network) == LeakyStack(slope, CHAIN)


def test_other_networks_are_no_leaky_stacks() -> None:
    """A plain stack, and a stack with two slopes."""
    assert leaky_stack(CHAIN) is None
    graph = Graph()
    (x,) = graph.inputs([(1, 2)])
    for slopes in ((HALF, HALF), (Fraction(1, 3), Fraction(1, 3))):
        x = graph.add(LeakyRelu(slopes), [x], (1, 2))
    graph.finish([x])
    assert leaky_stack(lower(graph).network) is None
    outcome = identify(lower(graph).network)
    assert isinstance(outcome, NotIdentifiable)
    assert outcome.certificate.theorem == "blocks-neuron"


@pytest.mark.parametrize("domain", [None, "box:-3,2"])
def test_chains_are_proved(domain: str | None) -> None:
    """On R^n and on a box, with a sentence that names the architecture."""
    outcome = identify(LeakyStack(HALF, CHAIN).network(), domain)
    assert isinstance(outcome, Identifiable)
    assert outcome.certificate.theorem == "leaky-chains"
    assert "leaky ReLUs of slope 1/2" in str(outcome.certificate.claim)
    report = checker.check_bytes(certificate_bytes(outcome))
    assert report.verdict == "accepted"
    assert "a leaky ReLU stack of slope 1/2" in report.statement


def test_outputs_of_small_weights_do_not_cancel() -> None:
    """One output is -3 times the other, so that a sum of small multiples of both could be 0."""
    stack = from_arrays([*HIDDEN, ([[-3, -9], [1, 3]], [0, 0])])
    outcome = identify(LeakyStack(HALF, stack).network())
    assert isinstance(outcome, Identifiable)
    assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"


def test_classes_of_plain_stacks_are_not_asked_for() -> None:
    outcome = identify(LeakyStack(HALF, CHAIN).network(), among="generic")
    assert isinstance(outcome, Undecided)
    assert "leaky ReLUs have the classes all and regular" in outcome.reason


@pytest.mark.parametrize(
    ("layers", "domain", "reason"),
    [
        ([([[1], [2]], [1, 2]), ([[1, 1]], [0])], None, "trade"),
        ([([[1], [2]], [1, 3]), ([[1, 0]], [0])], None, "outgoing weights 0"),
        ([([[1], [0]], [1, -3]), ([[1, 1]], [0])], None, "constant"),
        ([([[1], [1]], [1, -3]), ([[1, -1]], [0])], None, "flipped"),
        ([([[1], [2]], [1, 0]), ([[1, 1]], [0])], "box:0,1", "never negative"),
        ([([[1], [2]], [1, -4]), ([[1, 1]], [0])], "box:-1,1", "is never"),
    ],
)
def test_refutations(layers: list[object], domain: str | None, reason: str) -> None:
    """Each kind of move, behind a hidden layer as well; the checker accepts it."""
    first = ([[1]], [0])
    for before in ([], [first]) if domain is None else ([],):
        stack = from_arrays([*before, *layers])  # type: ignore[list-item]
        outcome = identify(LeakyStack(HALF, stack).network(), domain)
        assert isinstance(outcome, NotIdentifiable)
        assert reason in outcome.explanation
        assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"
        for x in (Fraction(1, 3), Fraction(1, 7)):
            assert outcome.other([x]) == outcome.certificate.claim.network([x])


def _of_grid(values: Parameters) -> Network:
    """Return two neurons on one input, from seven numbers."""
    w, b, v = values[:2], values[2:4], values[4:6]
    return from_arrays([([[x] for x in w], list(b)), ([list(v)], [values[6]])])


def _values(values: Parameters) -> tuple[int, ...]:
    """Return twice the function at k/6, times six, for slope 1/2."""
    neurons = list(zip(values[:2], values[2:4], values[4:6], strict=True))
    return tuple(
        12 * values[6] + sum(v * max(2 * z, z) for w, b, v in neurons for z in [w * k + 6 * b])
        for k in range(-20, 21)
    )


@pytest.mark.parametrize("count", few_some_and_all(12, 120, 400))
def test_nobody_in_a_grid_has_the_function_of_a_proved_stack(count: int) -> None:
    """Everybody with the same values is related to a stack that is proved."""
    classes = defaultdict[tuple[int, ...], list[Parameters]](list)
    for parameters in product((-1, 0, 1), repeat=7):
        classes[_values(parameters)].append(parameters)
    chosen = Random(0).sample(list(classes.values()), min(count, len(classes)))
    proved = 0
    for members in chosen:
        stack = _of_grid(members[0])
        if isinstance(prove_shallow(LeakyStack(HALF, stack)), list):
            proved += 1
            assert all(related(stack, _of_grid(other)) for other in members)
    assert 0 < proved < len(chosen)


def test_why_chains_are_not_found() -> None:
    """Dependent rows, more hidden layers than inputs, and a neuron without a chain."""
    wide = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 1]), ([[1, 1, 1]], [0])])
    deep = from_arrays([([[1]], [0]), ([[1]], [1]), ([[1]], [0])])
    loose = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 0], [1, -2]], [-1, 1]), ([[1, 3]], [0])])
    reasons = []
    for stack in (wide, deep, loose):
        found = prove_chains(LeakyStack(HALF, stack), 0, Budget())
        assert isinstance(found, Attempt)
        reasons.append(found.reason)
    assert "dependent" in reasons[0]
    assert "more than inputs" in reasons[1]
    assert "no point was found" in reasons[2]


@pytest.mark.parametrize(
    ("slope", "size", "domain"),
    [
        (HALF, 1, "box:-1e400,1e400"),
        (Fraction(10) ** 400, 1, None),
        (Fraction(1, 10**400), 1, "box:-1,1"),
        (HALF, 10**308, None),
        (HALF, 10**400, "box:-1e308,1e308"),
    ],
    ids=["domain", "slope", "short slope", "weights", "both"],
)
def test_numbers_beyond_the_range_of_floats(slope: Fraction, size: int, domain: str | None) -> None:
    """The search in floats finds no points there, or exact ones; it never fails."""
    layers = [([[size, 0], [0, size]], [0, 1]), ([[1, size], [1, -2]], [-1, 1]), ([[1, 3]], [0])]
    outcome = identify(LeakyStack(slope, from_arrays(layers)).network(), domain, budget=300)
    if not isinstance(outcome, Undecided):
        assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"
