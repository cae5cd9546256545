"""Equality of networks that are equal by construction, changed in one weight, or degenerate.

Small degenerate networks are compared with a complete decision procedure. Every certificate is
accepted, and every point is evaluated in plain fractions.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from polyrelu import Polyhedron, checker, equivalent
from polyrelu.exact import RationalMatrix
from polyrelu.network import Block, Layer, Network
from polyrelu.outcomes import Equivalent, NotEquivalent
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.equivalent_pairs import evaluate, network, nudged, pair
from tests.oracles.judge import certificate_bytes
from tests.oracles.one_input import differing_point

STEP = Fraction(1, 2**40)


@pytest.mark.parametrize("campaign", few_some_and_all((1, 10), (4, 50), (20, 50)))
def test_equal_by_construction(campaign: tuple[int, int]) -> None:
    """1,000 pairs of at least three composed changes are proved, three in ten or more by a tree."""
    blocks, size = campaign
    for block in range(blocks):
        routes: Counter[str] = Counter()
        for seed in range(size * block, size * block + size):
            made, _ = pair(seed)
            with case(seed, made.explanation):
                assert len(made.explanation) >= 3
                outcome = equivalent(network(made.first), network(made.second))
                assert isinstance(outcome, Equivalent), outcome
                routes[outcome.search.route] += 1
                report = checker.check_bytes(certificate_bytes(outcome))
                assert report.verdict == "accepted", report
        assert routes["tree"] + routes["prefix"] >= 3 * size // 10, routes
        assert routes["expressions"] >= size // 10


@pytest.mark.parametrize("campaign", few_some_and_all((1, 5), (4, 50), (20, 50)))
def test_one_weight_changed(campaign: tuple[int, int]) -> None:
    """1,000 pairs are refuted after a change of one weight by 2^-40.

    Where the change has no effect (a dead neuron), equality is proved.
    """
    blocks, size = campaign
    for block in range(blocks):
        refuted, seed = 0, 10**6 * (block + 1)
        while refuted < size:
            seed += 1
            with case(seed):
                refuted += is_refuted_after_a_change(seed)


def is_refuted_after_a_change(seed: int) -> bool:
    """Check the answer for a changed pair, and return whether the functions differ."""
    made, chance = pair(seed)
    changed = nudged(made.second, chance, chance.choice((1, -1)) * STEP)
    outcome = equivalent(network(made.first), network(changed))
    assert outcome.status != "undecided", (made.explanation, outcome)
    assert isinstance(outcome, Equivalent | NotEquivalent)
    report = checker.check_bytes(certificate_bytes(outcome))
    assert report.verdict == "accepted", made.explanation
    if isinstance(outcome, Equivalent):
        for _ in range(20):
            x = [
                Fraction(chance.randint(-640, 640), chance.choice((1, 8, 64)))
                for _ in range(made.first.inputs)
            ]
            assert evaluate(made.first, x) == evaluate(changed, x), made.explanation
        return False
    witness = outcome.witness
    f, g = (evaluate(stack, list(witness.x)) for stack in (made.first, changed))
    assert (tuple(f), tuple(g)) == (witness.f, witness.g), made.explanation
    assert f != g
    return True


def random_domain(chance: Random, size: int) -> Polyhedron:
    kind = chance.choice(["box", "small box", "orthant", "cone", "slice", "flat", "half-bounded"])
    if kind == "box":
        return Polyhedron.box([-chance.randint(0, 3)] * size, [chance.randint(0, 3)] * size)
    if kind == "small box":
        centre = [Fraction(chance.randint(-8, 8), 4) for _ in range(size)]
        return Polyhedron.box(
            [x - Fraction(1, 8) for x in centre], [x + Fraction(1, 8) for x in centre]
        )
    if kind == "orthant":
        return Polyhedron.orthant(size)
    if kind == "cone":
        rows = [[chance.randint(-3, 3) for _ in range(size)] for _ in range(3)]
        return Polyhedron.from_constraints(rows, [chance.randint(0, 4) for _ in range(3)])
    if kind == "slice":
        return Polyhedron.from_constraints(
            [], [], [[chance.randint(-3, 3) for _ in range(size)]], [0], size
        )
    if kind == "flat":
        return Polyhedron.from_constraints(
            [[1] * size, [-1] * size, [1] + [0] * (size - 1)], [1, -1, 5]
        )
    return Polyhedron.box(
        [chance.choice([None, -2]) for _ in range(size)], [chance.choice([None, 2])] * size
    )


@pytest.mark.parametrize("seeds", few_some_and_all(range(12), range(120), range(300)))
def test_on_all_kinds_of_domains(seeds: range) -> None:
    for seed in seeds:
        made, chance = pair(seed)
        domain = random_domain(chance, made.first.inputs)
        second = made.second if chance.random() < 0.6 else nudged(made.second, chance, STEP)
        outcome = equivalent(network(made.first), network(second), domain)
        assert isinstance(outcome, Equivalent | NotEquivalent), (seed, outcome)
        assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted", (
            seed,
            made.explanation,
        )
        if isinstance(outcome, NotEquivalent):
            x = list(outcome.witness.x)
            assert domain.contains(x)
            assert evaluate(made.first, x) != evaluate(second, x)
        assert isinstance(outcome, Equivalent) or second is not made.second, (
            seed,
            made.explanation,
        )


def degenerate(chance: Random, inputs: int, outputs: int) -> Network:
    """Return a small network of small integers with degeneracies of all kinds.

    It has zero rows, equal and opposite rows, connections that skip layers, and either end.
    """
    widths = [inputs, *(chance.randint(1, 3) for _ in range(chance.randint(0, 3))), outputs]
    layers = []
    for number in range(1, len(widths)):
        sources = [k for k in range(number - 1) if chance.random() < 0.3]
        blocks = []
        for source in [*sources, number - 1]:
            rows = [
                [chance.choice((-2, -1, 0, 0, 1, 1)) for _ in range(widths[source])]
                for _ in range(widths[number])
            ]
            if source == number - 1 or any(map(any, rows)):
                blocks.append(Block(source, RationalMatrix.from_rows(rows)))
        bias = [chance.choice((-1, 0, 0, 1)) for _ in range(widths[number])]
        layers.append(Layer(tuple(blocks), RationalMatrix.column(bias)))
    return Network(inputs, tuple(layers), chance.choice(("affine", "affine", "relu")))


def variant(chance: Random, network: Network) -> Network:
    """The network with one weight or bias changed, which often has no effect."""
    number = chance.randint(1, network.depth)
    layer = network.layers[number - 1]
    i, step = chance.randrange(layer.width), chance.choice((-1, 1))
    if chance.random() < 0.5:
        bias = list(layer.bias.entries())
        bias[i] += step
        return network.replace_layers({number: Layer(layer.blocks, RationalMatrix.column(bias))})
    rows = [list(row) for row in layer.weight.rows()]
    rows[i][chance.randrange(len(rows[i]))] += step
    block = Block(number - 1, RationalMatrix.from_rows(rows))
    return network.replace_layers({number: Layer((*layer.blocks[:-1], block), layer.bias)})


@pytest.mark.parametrize("campaign", few_some_and_all((1, 30), (2, 150), (10, 150)))
def test_one_input_against_a_complete_decision(campaign: tuple[int, int]) -> None:
    """The answer for networks of one input agrees with a comparison at all breakpoints."""
    blocks, size = campaign
    for block in range(blocks):
        verdicts: Counter[str] = Counter()
        chance = Random(block)
        for _ in range(size):
            first, second = (degenerate(chance, 1, 1) for _ in range(2))
            if chance.random() < 0.7:
                second = variant(chance, first)
            low, high = sorted(Fraction(chance.randint(-4, 4), 2) for _ in range(2))
            ends = chance.choice([(None, None), (low, high), (low, None), (None, high)])
            outcome = equivalent(first, second, Polyhedron.box([ends[0]], [ends[1]]))
            expected = differing_point(first, second, *ends)
            assert outcome.status == ("proved" if expected is None else "refuted"), (
                first,
                second,
                ends,
                expected,
            )
            assert isinstance(outcome, Equivalent | NotEquivalent)
            assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"
            verdicts[outcome.status] += 1
        assert min(verdicts["proved"], verdicts["refuted"]) > size // 15, verdicts


@pytest.mark.parametrize("campaign", few_some_and_all((1, 10), (2, 60), (5, 60)))
def test_two_inputs_along_lines(campaign: tuple[int, int]) -> None:
    """A proof on the plane holds on every line, where two networks are networks of one input."""
    blocks, size = campaign
    for block in range(blocks):
        chance, proved = Random(100 + block), 0
        for _ in range(size):
            first = degenerate(chance, 2, 1)
            second = variant(chance, first)
            outcome = equivalent(first, second)
            assert isinstance(outcome, Equivalent | NotEquivalent)
            assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"
            proved += outcome.status == "proved"
            for _ in range(6 if outcome.status == "proved" else 0):
                direction, start = ([chance.randint(-5, 5) for _ in range(2)] for _ in range(2))
                lines = [_on_a_line(network, direction, start) for network in (first, second)]
                assert differing_point(lines[0], lines[1], None, None) is None, (first, second)
        assert proved > size // 30


def _on_a_line(network: Network, direction: list[int], start: list[int]) -> Network:
    """The network of s ↦ f(start + s · direction)."""
    layers = []
    for layer in network.layers:
        bias, blocks = layer.bias, []
        for block in layer.blocks:
            weight = block.weight
            if block.source == 0:
                bias = bias + weight @ RationalMatrix.column(start)
                weight = weight @ RationalMatrix.column(direction)
            if not weight.is_zero() or block is layer.blocks[-1]:
                blocks.append(Block(block.source, weight))
        layers.append(Layer(tuple(blocks), bias))
    return Network(1, tuple(layers), network.last)
