"""Leaves with inherited intervals: the bounds of the core are the ones that the checker finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from polyrelu._core import chosen_engine
from polyrelu.certificate import BoundsNode, HoldsClaim, LinearRow, SubBox
from polyrelu.proofs.deviation.compiled_rule import CompiledRule
from polyrelu.proofs.deviation.rounded import LayerPartners, RoundedRule
from tests.generators.bounds_documents import document
from tests.generators.campaigns import case, few_and_all
from tests.generators.interval_trees import is_accepted, neurons_of
from tests.generators.random_rules import random_rule

F = Fraction

pytestmark = pytest.mark.skipif(
    chosen_engine().name != "compiled", reason="the compiled core is not installed"
)


class Path:
    """Cuts from the root of a tree to one leaf; the other leaves are open.

    `rows` are the least bounds of the rows on the nodes with intervals, and on the leaf. `is_empty`
    says whether a node of these has no point, and `is_long` whether numbers were too long for the
    core.
    """

    def __init__(self, random: Random, core: CompiledRule, rule: RoundedRule) -> None:
        self.core, self.random = core, random
        self.before, self.after = list[BoundsNode](), list[BoundsNode]()
        self.first, self.last = list[SubBox](), list[SubBox]()
        size, self.neurons = rule.first.num_inputs, _neurons(rule)
        self.low, self.high = (F(-1),) * size, (F(1),) * size
        self.signs = np.zeros((1, len(self.neurons)), dtype=np.int8)
        self.rows: list[int] = [1 << 200] * 2
        self.ends: NDArray[np.int64] | None = None
        self.is_empty = self.is_long = False
        for _ in range(random.randint(0, 5)):
            if random.random() < 0.7:
                self.before.append(BoundsNode("intervals"))
                self.ends = self.bound()
            if random.random() < 0.3 and not self.signs.all():
                self.cut_by_sign()
            else:
                self.cut()
        self.before.append(BoundsNode("inherited"))
        self.bound()

    def bound(self) -> NDArray[np.int64] | None:
        """Bound the rows on the box; return intervals."""
        if self.is_empty or self.is_long:
            return self.ends
        boxes = [(self.low, self.high)]
        found = self.core.inherited(boxes, [self.ends], [[True, True]], self.signs)
        self.is_long = found is None
        if found is None or found[0] is None:
            self.is_empty = not self.is_long
            return self.ends
        pairs = zip(self.rows, found[0].rows, strict=True)
        self.rows = [old if new is None else min(old, new) for old, new in pairs]
        return found[0].ends

    def cut(self) -> None:
        """Cut the box, and go on with one part."""
        low, high = list(self.low), list(self.high)
        j = self.random.randrange(len(low))
        low[j] = high[j] = (low[j] + high[j]) / 2
        self.before.append(BoundsNode("cut", coordinate=j))
        if self.random.random() < 0.5:
            self.after.insert(0, BoundsNode("open"))
            self.last.insert(0, SubBox(tuple(low), self.high))
            self.high = tuple(high)
        else:
            self.before.append(BoundsNode("open"))
            self.first.append(SubBox(self.low, tuple(high)))
            self.low = tuple(low)

    def cut_by_sign(self) -> None:
        """Cut by the sign of a neuron, and go on with one part."""
        place = self.random.choice(np.flatnonzero(self.signs[0] == 0).tolist())
        self.before.append(BoundsNode("sign", neuron=self.neurons[place]))
        self.signs[0, place] = self.random.choice([1, -1])
        if self.signs[0, place] > 0:
            self.after.insert(0, BoundsNode("open"))
            self.last.insert(0, SubBox(self.low, self.high))
        else:
            self.before.append(BoundsNode("open"))
            self.first.append(SubBox(self.low, self.high))


def _neurons(rule: RoundedRule) -> list[tuple[int, int, int]]:
    """Return all neurons with a ReLU in the order of the signs that the core takes."""
    networks = [rule.first] if rule.second is None else [rule.first, rule.second]
    return sorted(neurons_of(networks), key=lambda neuron: (neuron[1], neuron[0], neuron[2]))


def _shows(
    rule: RoundedRule,
    matching: Sequence[LayerPartners],
    path: Path,
    rows: Sequence[LinearRow],
    bounds: Sequence[Fraction],
) -> bool:
    """Whether the checker accepts bounds of rows on the leaf of a path."""
    domain = rule.coordinates.domain
    clauses = tuple(
        (replace(row, constant=row.constant - bound),)
        for row, bound in zip(rows, bounds, strict=True)
    )
    excluded = (*path.first, *path.last)
    claim = HoldsClaim(rule.first, domain, clauses, rule.second, excluded)
    nodes = [*path.before, *path.after]
    return is_accepted(document(claim, [(0,) * len(path.low)], nodes, rule.grid, matching))


@pytest.mark.parametrize("number", few_and_all(60, 1_500))
def test_the_checker_has_the_same_bounds(number: int) -> None:
    num_long = num_empty = num_compared = 0
    for seed in range(number):
        random = Random(seed)
        rule, matching = random_rule(random)
        on_g = {0: F(-1), 1: F(random.randint(-3, 3))} if rule.second is not None else {}
        rows = (
            LinearRow({0: F(1)}, on_g),
            LinearRow({1: F(2, 3)}, on_g, {0: F(random.randint(-2, 2), 5)}, F(1, 7)),
        )
        core = CompiledRule.of(rule, rows)
        if core is None:
            num_long += 1
            continue
        path = Path(random, core, rule)
        num_long += path.is_long
        num_empty += path.is_empty
        with case(seed):
            if path.is_empty:
                assert _shows(rule, matching, path, rows, [F(-(10**9))] * 2)
            elif not path.is_long:
                num_compared += 1
                bounds = core.bounds_of(path.rows)
                assert _shows(rule, matching, path, rows, bounds)
                for k in range(2):
                    less = list(bounds)
                    less[k] -= F(1, 1 << 2 * rule.grid + 4)
                    assert not _shows(rule, matching, path, rows, less)
    assert num_compared > number // 2
    assert num_empty > number // 60
    assert num_long < number // 4
