"""Families of equal pairs with two hidden layers of a given width, for benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np

from tests.generators.equivalent_pairs import BLOCKS, MOVES, Pair, Stack, random_stack

__all__ = ["FAMILIES", "Instance"]

#: A pair, and the half side of the box [-r, r]^n on which it is compared (None: R^n).
Instance = tuple[Pair, Fraction | None]


def _start(chance: Random, inputs: int, base: int) -> Pair:
    stack = random_stack(chance, [inputs, base, base, 1])
    return Pair(stack, stack.copy(), [inputs, base, base, 1])


def _moved(pair: Pair, chance: Random) -> Pair:
    """The second side permuted and rescaled."""
    for layer in (1, 2):
        MOVES["permutation"](pair.second, layer, chance)
        MOVES["scaling"](pair.second, layer, chance)
    return pair


def places(chance: Random, inputs: int, width: int) -> Instance:
    """A base of a quarter of the width, re-cut in as many places as fit."""
    pair = _start(chance, inputs, max(2, width // 4))
    while width - max(s.width(k) for s in (pair.first, pair.second) for k in (1, 2)) >= 3:
        name = chance.choice(list(BLOCKS))
        BLOCKS[name](pair, 1, chance)
        pair.explanation.append(name)
    return _moved(pair, chance), None


def _filled(chance: Random, inputs: int, width: int, fillers: list[str]) -> Pair:
    pair = _start(chance, inputs, 2)
    for name in chance.sample(["associative maximum", "nested hinge", "hidden translation"], 2):
        BLOCKS[name](pair, 1, chance)
        pair.explanation.append(name)
    for stack in (pair.first, pair.second):
        for layer in (1, 2):
            while stack.width(layer) < width:
                free = width - stack.width(layer)
                MOVES[chance.choice([f for f in fillers if f != "cancelling" or free > 1])](
                    stack, layer, chance
                )
    return _moved(pair, chance)


def dead_weight(chance: Random, inputs: int, width: int) -> Instance:
    """Two places, the rest of both networks dead neurons."""
    return _filled(chance, inputs, width, ["dead"]), None


def split_neurons(chance: Random, inputs: int, width: int) -> Instance:
    """Two places, the rest of both networks split and cancelling neurons."""
    return _filled(chance, inputs, width, ["splitting", "splitting", "cancelling"]), None


def hidden(chance: Random, inputs: int, width: int) -> Instance:
    """All of a dense second layer hides one neuron of the first, which is moved."""
    first = random_stack(chance, [inputs, width])
    weights = [[Fraction(-chance.randint(1, 8)) for _ in range(width)] for _ in range(width)]
    for row in weights:
        row[0] = Fraction(chance.randint(1, 8))
    biases = [Fraction(-chance.randint(1, 16)) for _ in range(width)]
    shift = max(b / row[0] for b, row in zip(biases, weights, strict=True)) / 2
    out = [[Fraction(chance.randint(-8, 8)) for _ in range(width)]], [Fraction(0)]
    ((rows, bias),) = first.layers
    one = Stack([(rows, bias), (weights, biases), out])
    moved = [b - shift * row[0] for b, row in zip(biases, weights, strict=True)]
    two = Stack([(rows, [bias[0] + shift, *bias[1:]]), (weights, moved), out]).copy()
    return _moved(Pair(one, two, [], ["hidden translation"]), chance), None


def pruned(chance: Random, inputs: int, width: int) -> Instance:
    """Return a dense float network, and the same without neurons that are inactive on a small box.

    Intervals show that these neurons are inactive.
    """
    radius, rng = Fraction(1, 32), np.random.default_rng(chance.getrandbits(32))
    widths = [inputs, width, width, 1]
    made = [(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise(widths)]
    low, high = np.full(inputs, -float(radius)), np.full(inputs, float(radius))
    one, two = Stack([]), Stack([])
    for number, (w, b) in enumerate(made, 1):
        top = np.maximum(w, 0) @ high + np.minimum(w, 0) @ low + b
        bottom = np.maximum(w, 0) @ low + np.minimum(w, 0) @ high + b
        off = (top < -1e-9) & (number < len(made))
        for stack, gone in ((one, np.zeros_like(off)), (two, off)):
            rows = [
                [Fraction(0) if gone[i] else Fraction(float(x)) for x in row]
                for i, row in enumerate(w)
            ]
            stack.layers.append(
                (rows, [Fraction(0) if gone[i] else Fraction(float(x)) for i, x in enumerate(b)])
            )
        low, high = np.maximum(bottom, 0), np.maximum(top, 0)
    return _moved(Pair(one, two, [], ["pruned"]), chance), radius


FAMILIES: dict[str, Callable[[Random, int, int], Instance]] = {
    "places": places,
    "dead weight": dead_weight,
    "split neurons": split_neurons,
    "hidden": hidden,
    "pruned": pruned,
}
