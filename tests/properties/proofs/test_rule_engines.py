"""The rule of certificates of bounds in Python and in the compiled core: the same integers."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import get_args

import numpy as np
import pytest

import polyrelu
from polyrelu import Polyhedron
from polyrelu._core import VARIABLE, chosen_engine
from polyrelu.certificate import LinearRow
from polyrelu.proofs.deviation.compiled_rule import CompiledRule
from polyrelu.proofs.deviation.grid_layers import Neuron
from polyrelu.proofs.deviation.rounded import LeafKind, RoundedRule
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.random_rules import random_rule

F = Fraction

pytestmark = pytest.mark.skipif(
    chosen_engine().name != "compiled", reason="the compiled core is not installed"
)


def _box(random: Random, size: int) -> tuple[list[Fraction], list[Fraction]]:
    lower = [F(random.randint(-24, 12), 24) for _ in range(size)]
    return lower, [x + F(random.randint(0, 12), random.choice([12, 700])) for x in lower]


def _signs(random: Random, rule: RoundedRule) -> tuple[dict[Neuron, int], np.ndarray]:
    """Return signs of some neurons, and the same in the order of the core."""
    found, listed = dict[Neuron, int](), list[int]()
    for number in range(1, rule.first.num_hidden_layers + 1):
        for which, network in enumerate((rule.first, rule.second)):
            for i in range(0 if network is None else network.widths[number]):
                sign = random.choice([0] * 12 + [1, -1])
                listed.append(sign)
                if sign:
                    found[which, number, i] = sign
    return found, np.array([listed], dtype=np.int8)


@pytest.mark.parametrize("number", few_some_and_all(60, 600, 1_500))
def test_both_engines_have_the_same_bounds(number: int) -> None:
    num_long = num_empty = 0
    for seed in range(number):
        random = Random(seed)
        rule, _ = random_rule(random)
        on_g = {0: F(-1), 1: F(random.randint(-3, 3))} if rule.second is not None else {}
        rows = (
            LinearRow({0: F(1)}, on_g),
            LinearRow({1: F(2, 3)}, on_g, {0: F(random.randint(-2, 2), 5)}, F(1, 7)),
        )
        core = CompiledRule.of(rule, rows)
        if core is None:  # the grid is too fine
            num_long += 1
            continue
        box = _box(random, rule.first.num_inputs)
        for cuts, signs in (({}, None), _signs(random, rule)):
            for kind in get_args(LeafKind):
                (found,) = core.bounds([box], kind, signs)
                if found is None:
                    num_long += 1
                    continue
                leaf = rule.leaf(*box, cuts, kind)
                with case(seed):
                    assert found.is_empty == leaf.is_empty
                    if leaf.is_empty:
                        num_empty += 1
                        continue
                    assert found.rows == leaf.upper_bounds(rows)
                    assert found.num_new_generators == leaf.num_new_generators
    assert num_empty > 0
    assert num_long < number


def test_numbers_that_are_too_long_are_left_to_python() -> None:
    net = polyrelu.from_arrays([([[2**20], [-(2**20)]], [0, 1]), ([[2**18, 1]], [0])])
    coordinates = DomainCoordinates.of(Polyhedron.box([-1], [1]))
    rows = (LinearRow({0: F(1)}),)
    core = CompiledRule.of(RoundedRule(net, None, coordinates, grid=40), rows)
    assert core is not None
    assert core.bounds([([F(-1)], [F(1)])], "backward") == [None]
    assert CompiledRule.of(RoundedRule(net, None, coordinates, grid=90), rows) is None


def test_another_engine_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "numpy")
    net = polyrelu.from_arrays([([[1]], [0]), ([[1]], [0])])
    rule = RoundedRule(net, None, DomainCoordinates.of(Polyhedron.box([-1], [1])))
    assert CompiledRule.of(rule, (LinearRow({0: F(1)}),)) is None
