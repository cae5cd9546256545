"""Two hidden layers behind a bottleneck: 1,000 pairs with one function, 1,000 changed pairs.

Every certificate is accepted, and every point is evaluated in plain fractions. Where a change has
no effect, the functions agree at many points in plain fractions.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from polyrelu import checker, equivalent, from_arrays
from polyrelu.outcomes import Equivalent, NotEquivalent
from tests.generators.bottleneck_stacks import different, equal_pair, several_hidden
from tests.generators.equivalent_pairs import Stack, evaluate
from tests.oracles.judge import certificate_bytes

#: What proves pairs in one fiber: never a search for splits.
CHEAP = {"expressions", "bottleneck"}


def answer(first: Stack, second: Stack, explanation: object) -> Equivalent | NotEquivalent:
    outcome = equivalent(from_arrays(first.layers), from_arrays(second.layers))
    assert isinstance(outcome, Equivalent | NotEquivalent), (explanation, outcome)
    assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted", explanation
    return outcome


@pytest.mark.parametrize("part", range(10))
def test_pairs_in_one_fiber(part: int) -> None:
    """1,000 pairs: permuted, scaled, translated, flipped, turned, with dead neurons, degenerate."""
    routes: Counter[str] = Counter()
    for seed in range(100 * part, 100 * part + 100):
        first, second, kind = equal_pair(Random(seed))
        outcome = answer(first, second, (seed, kind))
        assert isinstance(outcome, Equivalent), (seed, kind)
        assert outcome.search.route in CHEAP, (seed, kind, outcome.search)
        assert outcome.search.nodes <= 7
        routes[outcome.search.route] += 1
    assert routes["bottleneck"] > 50


@pytest.mark.parametrize("part", range(10))
def test_pairs_in_different_fibers(part: int) -> None:
    """1,000 pairs with one change in the second network.

    The change is a shift that is too large, a flip that is not undone, another weight, or another
    orientation.
    """
    verdicts: Counter[str] = Counter()
    for seed in range(10**6 + 100 * part, 10**6 + 100 * part + 100):
        chance = Random(seed)
        first, _, kind = equal_pair(chance)
        second, change = different(chance, first, hides=kind != "plain")
        outcome = answer(first, second, (seed, kind, change))
        verdicts[outcome.status] += 1
        if isinstance(outcome, NotEquivalent):
            f, g = (evaluate(stack, list(outcome.witness.x)) for stack in (first, second))
            assert (tuple(f), tuple(g)) == (outcome.witness.f, outcome.witness.g)
            assert f != g, (seed, kind, change)
            assert outcome.search.route in ("points", "bottleneck"), (
                seed,
                kind,
                change,
                outcome.search,
            )
            continue
        for _ in range(60):
            x = [
                Fraction(chance.randint(-640, 640), chance.choice((1, 8, 64)))
                for _ in range(first.inputs)
            ]
            assert evaluate(first, x) == evaluate(second, x), (seed, kind, change)
    assert verdicts["refuted"] > 75


@pytest.mark.parametrize("part", range(2))
def test_several_hidden_neurons(part: int) -> None:
    """100 pairs with up to five hidden neurons: one small tree for each."""
    for seed in range(50 * part, 50 * part + 50):
        chance = Random(seed)
        count = chance.randint(1, 5)
        first, second = several_hidden(chance, count, chance.randint(0, 3))
        outcome = answer(first, second, seed)
        assert isinstance(outcome, Equivalent), seed
        assert outcome.search.route in CHEAP, (seed, outcome.search)
        assert outcome.search.nodes <= 7 * count
