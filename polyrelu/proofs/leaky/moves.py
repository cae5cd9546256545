"""Moves of leaky ReLU stacks: other parameters with the same function.

Two consecutive layers make the map u ↦ V φ(W u + b) + c. On R^n, which may be all that the layers
before reach, other V, W and b keep the map for some c iff they do so with ReLUs in the place of φ
(docs/theory/architectures.md, Theorem 1). So the moves of one hidden layer of ReLUs, with other c,
are moves of leaky ones. On a domain, a neuron that has one sign on the box of all values can take
another bias.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from polyrelu.errors import NetworkError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.network import Block, Layer, LeakyStack, Network
from polyrelu.proofs.refutations.image_box import (
    Interval,
    box_of_inputs,
    preactivation_intervals,
)
from polyrelu.proofs.refutations.moves import Move
from polyrelu.proofs.refutations.one_layer import one_layer_alternatives
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.limits import SCALE_BIT_LIMIT, is_affordable
from polyrelu.support.prices import price_of_layer
from polyrelu.symmetry.invariants import first_difference

__all__ = ["THEOREM", "leaky_moves"]

#: The name of the theorem in certificates.
THEOREM = "leaky-replacement"
#: The layer, why the functions agree, and the parameters of the other stack.
_Proposal = tuple[int, str, Network]


def leaky_moves(
    leaky: LeakyStack, seed: int, budget: Budget, domain: Polyhedron | None = None
) -> Iterator[Move]:
    """Yield moves of a leaky ReLU stack until the work of the budget is used up.

    The functions agree on the domain; without one, on R^n.

    >>> from polyrelu.network import from_arrays
    >>> stack = from_arrays([([[1], [2]], [1, 2]), ([[1, 1]], [0])])
    >>> next(leaky_moves(LeakyStack(Fraction(1, 2), stack), 0, Budget())).explanation
    'neurons 0 and 1 of layer 1 have one row up to scale, so they can trade outgoing weights'
    """
    rng = random.Random(seed)
    try:
        for layer, explanation, stack in _proposals(leaky, rng, budget, domain):
            difference = first_difference(leaky.stack, stack)
            if difference is not None and _is_affordable(leaky.stack, stack, layer):
                other = LeakyStack(leaky.slope, stack).network()
                yield Move(THEOREM, {"layer": layer}, other, difference, explanation)
    except (NetworkError, WorkLimit):  # too long numbers in the other network, or no work left
        return


def _proposals(
    leaky: LeakyStack, rng: random.Random, budget: Budget, domain: Polyhedron | None
) -> Iterator[_Proposal]:
    """Yield possible moves."""
    for layer in range(1, leaky.stack.depth):
        yield from _on_space(leaky, layer, rng, budget)
    if domain is not None:
        yield from _on_boxes(leaky, domain, rng, budget)


def _on_space(
    leaky: LeakyStack, layer: int, rng: random.Random, budget: Budget
) -> Iterator[_Proposal]:
    """Yield the moves of two layers that keep their map on R^n."""
    stack = leaky.stack
    lower, upper = stack.layers[layer - 1 : layer + 1]
    pair = Network(
        stack.widths[layer - 1],
        (
            Layer((Block(0, lower.weight),), lower.bias),
            Layer((Block(1, upper.weight),), upper.bias),
        ),
    )
    for explanation, found in one_layer_alternatives(pair, 1, rng, budget):
        weight, bias = found.weight(2), found.bias(1)
        constant = upper.weight @ _leaky(lower.bias, leaky.slope) + upper.bias
        offset = constant - weight @ _leaky(bias, leaky.slope)
        other = _replaced(stack, layer, (found.weight(1), bias), (weight, offset))
        yield layer, _in_words(explanation, pair, found, layer), other


def _leaky(column: RationalMatrix, slope: Fraction) -> RationalMatrix:
    """The leaky ReLU of a column."""
    return RationalMatrix.column([x if x > 0 else slope * x for x in column.entries()])


def _in_words(explanation: str, pair: Network, found: Network, layer: int) -> str:
    """Return why the functions agree; neurons without incoming weights are constant."""
    rows = zip(pair.weight(1).rows(), pair.layers[0].augmented().rows(), strict=True)
    others = found.layers[0].augmented().rows()
    for i, ((row, old), new) in enumerate(zip(rows, others, strict=True)):
        if old != new and not any(row) and any(pair.weight(2).transpose().row(i)):
            return f"neuron {i} of layer {layer} is constant, since its incoming weights are 0"
    return explanation.replace("layer 1", f"layer {layer}")


def _replaced(
    stack: Network,
    layer: int,
    lower: tuple[RationalMatrix, RationalMatrix],
    upper: tuple[RationalMatrix, RationalMatrix],
) -> Network:
    """Return a plain stack with other weights and biases in two consecutive layers."""
    return stack.replace_layers(
        {
            number: Layer((Block(number - 1, weight),), bias)
            for number, (weight, bias) in ((layer, lower), (layer + 1, upper))
        }
    )


def _on_boxes(
    leaky: LeakyStack, domain: Polyhedron, rng: random.Random, budget: Budget
) -> Iterator[_Proposal]:
    """Yield moves of neurons that have one sign on the box of all values of the layer before."""
    stack, box = leaky.stack, box_of_inputs(domain, leaky.stack.num_inputs)
    bits = 0
    for layer in range(1, stack.depth):
        bits += stack.layers[layer - 1].bits + leaky.slope.denominator.bit_length() + 8
        if bits > SCALE_BIT_LIMIT:
            return
        budget.spend(price_of_layer(stack.widths[layer] * (stack.widths[layer - 1] + 1)))
        ranges = preactivation_intervals(stack, layer, box)
        for i, interval in enumerate(ranges):
            if move := _shifted(leaky, layer, i, interval, rng):
                yield move
        box = tuple(_leaky_interval(interval, leaky.slope) for interval in ranges)


def _leaky_interval(interval: Interval, slope: Fraction) -> Interval:
    """Return the leaky ReLU of an interval."""
    low, high = (None if x is None else x if x > 0 else slope * x for x in interval)
    return Interval(low, high)


def _shifted(
    leaky: LeakyStack, layer: int, i: int, interval: Interval, rng: random.Random
) -> _Proposal | None:
    """Return the move that shifts the bias of a neuron of one sign; None if it has two."""
    shift = Fraction(rng.randint(1, 64), 16)
    if interval.low is not None and interval.low >= 0:
        factor, text = shift, "never negative"
    elif interval.high is not None and interval.high <= 0:
        factor, shift, text = -leaky.slope * shift, -shift, "never positive"
    else:
        return None
    stack = leaky.stack
    lower, upper = stack.layers[layer - 1 : layer + 1]
    unit = RationalMatrix.column([int(k == i) for k in range(lower.width)])
    other = _replaced(
        stack,
        layer,
        (lower.weight, lower.bias + unit.scale(shift)),
        (upper.weight, upper.bias - (upper.weight @ unit).scale(factor)),
    )
    place = "around the domain" if layer == 1 else f"of all values that layer {layer - 1} can take"
    return layer, f"neuron {i} of layer {layer} is {text} on the box {place}", other


def _is_affordable(stack: Network, other: Network, layer: int) -> bool:
    """Return whether the checker can compare the maps of two consecutive layers."""
    before, own, after = stack.widths[layer - 1 : layer + 2]
    pairs = zip(
        stack.layers[layer - 1].augmented().rows(),
        stack.weight(layer + 1).transpose().rows(),
        other.layers[layer - 1].augmented().rows(),
        other.weight(layer + 1).transpose().rows(),
        strict=True,
    )
    differing = sum((row, column) != (new, replaced) for row, column, new, replaced in pairs)
    bits = 64 + 2 * sum(net.layers[k].bits for net in (stack, other) for k in (layer - 1, layer))
    return is_affordable(8 * differing * before * after + 8 * own * (before + after), bits)
