"""Stacks with leaky ReLUs, found by their weights: slopes of layers, and networks that are none."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from polyrelu.exact import RationalMatrix
from polyrelu.network import (
    Block,
    Layer,
    LeakyStack,
    Network,
    from_arrays,
    leaky_slopes,
    leaky_stack,
)

SLOPES = [Fraction(0), Fraction(1, 4), Fraction(-1), Fraction(3)]


def random_rows(rng: Random, height: int, width: int) -> RationalMatrix:
    """Integers from -2 to 2, so that products are often zero."""
    return RationalMatrix.from_rows(
        [[rng.randint(-2, 2) for _ in range(width)] for _ in range(height)]
    )


def expanded(stack: Network, slopes: list[Fraction]) -> Network:
    """The network of a stack whose layers have these slopes, from the definition."""
    forms = [{0: RationalMatrix.identity(stack.num_inputs)}]
    offsets = [RationalMatrix.zeros(stack.num_inputs, 1)]
    layers = list[Layer]()
    for number, layer in enumerate(stack.layers, 1):
        parts = {source: layer.weight @ part for source, part in forms[-1].items()}
        bias = layer.bias + layer.weight @ offsets[-1]
        blocks = [Block(k, part) for k, part in sorted(parts.items()) if not part.is_zero()]
        if not blocks or blocks[-1].source < number - 1:
            blocks.append(Block(number - 1, RationalMatrix.zeros(layer.width, layer.weight.ncols)))
        layers.append(Layer(tuple(blocks), bias))
        if number < stack.depth:
            slope = slopes[number - 1]
            leaks = {source: part.scale(slope) for source, part in parts.items()} if slope else {}
            forms.append(leaks | {number: RationalMatrix.identity(layer.width).scale(1 - slope)})
            offsets.append(bias.scale(slope))
    return Network(stack.num_inputs, tuple(layers))


@pytest.mark.parametrize("seed", range(40))
def test_what_is_found_is_the_network(seed: int) -> None:
    rng = Random(seed)
    widths = [rng.randint(1, 3) for _ in range(rng.randint(3, 5))]
    pairs = [(random_rows(rng, b, a), random_rows(rng, b, 1)) for a, b in pairwise(widths)]
    stack = from_arrays(pairs)
    slopes = [rng.choice(SLOPES) for _ in widths[2:]]
    network = expanded(stack, slopes)
    found = leaky_slopes(network)
    assert (found is None) == network.is_plain
    if found is not None:
        assert expanded(found[1], list(found[0])) == network
    one = expanded(stack, slopes[:1] * len(slopes))
    single = leaky_stack(one)
    if slopes[0] and not (pairs[1][0] @ pairs[0][0]).is_zero():
        assert single == LeakyStack(slopes[0], stack)
        assert single is not None
        assert single.network() == one


def test_networks_that_are_none() -> None:
    first = from_arrays([([[1, 2], [3, -1]], [0, 1])]).layers[0]
    weight = RationalMatrix.from_rows([[1, 1]])
    for skipping in ([[1, 0]], [[4, 2]], [[-4, -1]]):  # W = [[4, 1]] is the product
        blocks = (Block(0, RationalMatrix.from_rows(skipping)), Block(1, weight))
        network = Network(2, (first, Layer(blocks, RationalMatrix.column([0]))))
        assert leaky_slopes(network) is None
        assert leaky_stack(network) is None
