"""Verdicts of `identify` on random networks against brute force.

The long run is benchmarks/identify_campaign.py.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

import polyrelu
from polyrelu import Proved, Undecided
from polyrelu.proofs.membership import generic_membership
from tests.generators.campaigns import few_some_and_all
from tests.generators.random_networks import KINDS, THREE_LAYER_KINDS, random_network
from tests.oracles.grid import grid_table
from tests.oracles.judge import contradictions, is_identifiable_by_signs, unrelated_members

COUNT = 40


@pytest.mark.parametrize("count", few_some_and_all(COUNT // 16, COUNT // 3, COUNT))
def test_verdicts_withstand_brute_force(count: int) -> None:
    for kind in KINDS:
        rng = Random(f"verdicts {kind}")
        for _ in range(count):
            layers = random_network(kind, rng)
            outcome = polyrelu.identify(polyrelu.from_arrays(layers))
            assert contradictions(layers, outcome) == [], (kind, layers)


@pytest.mark.parametrize("kind", THREE_LAYER_KINDS)
def test_agrees_with_the_sign_condition_on_generic_networks(kind: str) -> None:
    rng = Random(f"signs {kind}")
    seen = 0
    for _ in range(COUNT):
        layers = random_network(kind, rng)
        network = polyrelu.from_arrays(layers)
        if generic_membership(network)["status"] != "verified":
            continue
        seen += 1
        outcome = polyrelu.identify(network)
        assert not isinstance(outcome, Undecided), layers
        assert isinstance(outcome, Proved) == is_identifiable_by_signs(layers), layers
    assert seen > COUNT // 2


@pytest.mark.parametrize(
    ("widths", "values", "count"),
    [
        ((1, 1, 1), (-2, -1, 0, 1, 2), 40),
        ((1, 2, 1), (-1, 0, 1), 20),
        pytest.param((1, 1, 2, 1), (-2, -1, 1), 80, marks=pytest.mark.slow),
        pytest.param((2, 2, 1, 1), (-1, 0, 1), 20, marks=pytest.mark.slow),
        pytest.param((2, 2, 1, 1), (-1, 0, 1), 60, marks=[pytest.mark.slow, pytest.mark.campaign]),
    ],
)
def test_no_member_on_a_grid_contradicts_a_proof(
    widths: tuple[int, ...], values: tuple[int, ...], count: int
) -> None:
    table = grid_table(widths, tuple(values))
    rng = Random(f"grid {widths}")
    proved = 0
    size = len(values) ** _parameters(widths)
    for index in rng.sample(range(size), min(size, count * 10)):
        layers = table.network(index)
        outcome = polyrelu.identify(polyrelu.from_arrays(layers))
        if isinstance(outcome, Proved):
            proved += 1
            assert unrelated_members(layers, values, outcome) == [], layers
        if proved == count:
            break
    assert proved > 0


def _parameters(widths: tuple[int, ...]) -> int:
    return sum((n + 1) * m for n, m in pairwise(widths))
