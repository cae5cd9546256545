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
from tests.generators.campaigns import case, few_and_all, few_some_and_all
from tests.generators.equivalent_pairs import Stack, evaluate
from tests.oracles.judge import certificate_bytes

#: What proves pairs in one fiber: never a search for splits.
CHEAP = {"expressions", "bottleneck"}


def answer(first: Stack, second: Stack, explanation: object) -> Equivalent | NotEquivalent:
    outcome = equivalent(from_arrays(first.layers), from_arrays(second.layers))
    assert isinstance(outcome, Equivalent | NotEquivalent), (explanation, outcome)
    assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted", explanation
    return outcome


@pytest.mark.parametrize("campaign", few_some_and_all((1, 15), (3, 100), (10, 100)))
def test_pairs_in_one_fiber(campaign: tuple[int, int]) -> None:
    """1,000 pairs: permuted, scaled, translated, flipped, turned, with dead neurons, degenerate."""
    blocks, size = campaign
    for block in range(blocks):
        routes: Counter[str] = Counter()
        for seed in range(size * block, size * block + size):
            first, second, kind = equal_pair(Random(seed))
            outcome = answer(first, second, (seed, kind))
            assert isinstance(outcome, Equivalent), (seed, kind)
            assert outcome.search.route in CHEAP, (seed, kind, outcome.search)
            assert outcome.search.num_nodes <= 7
            routes[outcome.search.route] += 1
        assert routes["bottleneck"] > size // 2


@pytest.mark.parametrize("campaign", few_some_and_all((1, 12), (3, 100), (10, 100)))
def test_pairs_in_different_fibers(campaign: tuple[int, int]) -> None:
    """1,000 pairs with one change in the second network.

    The change is a shift that is too large, a flip that is not undone, another weight, or another
    orientation.
    """
    blocks, size = campaign
    for block in range(blocks):
        refuted = 0
        for seed in range(10**6 + size * block, 10**6 + size * block + size):
            with case(seed):
                refuted += is_refuted_after_a_change(seed)
        assert refuted > 3 * size // 4


def is_refuted_after_a_change(seed: int) -> bool:
    """Check the answer for a changed pair, and return whether the functions differ."""
    chance = Random(seed)
    first, _, kind = equal_pair(chance)
    second, change = different(chance, first, hides=kind != "plain")
    outcome = answer(first, second, (kind, change))
    if isinstance(outcome, NotEquivalent):
        f, g = (evaluate(stack, list(outcome.witness.x)) for stack in (first, second))
        assert (tuple(f), tuple(g)) == (outcome.witness.f, outcome.witness.g)
        assert f != g, (kind, change)
        assert outcome.search.route in ("points", "bottleneck"), (kind, change, outcome.search)
        return True
    for _ in range(60):
        x = [
            Fraction(chance.randint(-640, 640), chance.choice((1, 8, 64)))
            for _ in range(first.inputs)
        ]
        assert evaluate(first, x) == evaluate(second, x), (kind, change)
    return False


@pytest.mark.parametrize("seeds", few_and_all(range(5), range(100)))
def test_several_hidden_neurons(seeds: range) -> None:
    """100 pairs with up to five hidden neurons: one small tree for each."""
    for seed in seeds:
        chance = Random(seed)
        count = chance.randint(1, 5)
        first, second = several_hidden(chance, count, chance.randint(0, 3))
        outcome = answer(first, second, seed)
        assert isinstance(outcome, Equivalent), seed
        assert outcome.search.route in CHEAP, (seed, outcome.search)
        assert outcome.search.num_nodes <= 7 * count
