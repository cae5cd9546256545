"""Random plain stacks with neurons that the function does not need, of known kinds and number."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

from tests.oracles.plain import Network

__all__ = ["PLANTED", "degenerate_stack", "plant", "random_stack", "trained_like"]

#: The kinds of neurons that `plant` adds; each can be removed again.
PLANTED = ("unused", "dead", "doubled", "constant", "linear", "boxed", "ordered")


def random_stack(rng: Random, widths: tuple[int, ...]) -> Network:
    """Return a stack with dyadic Gaussian weights."""

    def number() -> Fraction:
        return Fraction(round(rng.gauss(0, 1) * 1024) or 1, 1024)

    return [
        ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
        for n, m in pairwise(widths)
    ]


def plant(rng: Random, net: Network, layer: int, kind: str) -> int:
    """Add neurons of a kind to a hidden layer; return how many can be removed again.

    Neurons of later layers stay what they are only if layers are planted in ascending order. The
    kind `linear` adds two linear neurons with proportional columns, of which one is needed; `boxed`
    a bounded neuron and one of the next layer that is dead because of the bound; `ordered` two
    neurons of layer 1, of which one is never above the other, and one of layer 2 that is dead
    because of that.
    """
    inputs, zero = len(net[layer - 1][0][0]), Fraction()
    if kind == "unused":
        _add(rng, net, layer, _row(rng, inputs), zero, zero=True)
    elif kind == "constant":
        _add(rng, net, layer, [zero] * inputs, Fraction(rng.randint(1, 3)))
    elif kind == "dead":
        row = [-abs(w) if layer > 1 else zero for w in _row(rng, inputs)]
        _add(rng, net, layer, row, -Fraction(rng.randint(0, 3)))
    elif kind == "doubled":
        weight, bias = net[layer - 1]
        factor = Fraction(rng.randint(1, 5), 2)
        _add(rng, net, layer, [factor * w for w in weight[0]], factor * bias[0])
    elif kind == "linear":
        return _plant_linear(rng, net, layer)
    elif kind == "boxed":
        return _plant_boxed(rng, net, layer)
    else:
        return _plant_ordered(rng, net, layer)
    return 1


def _plant_linear(rng: Random, net: Network, layer: int) -> int:
    if layer == 1:
        return 0
    for _ in range(2):
        row = [abs(w) for w in _row(rng, len(net[layer - 1][0][0]))]
        _add(rng, net, layer, row, Fraction(rng.randint(0, 3)))
    for later in net[layer][0]:
        later[-1] = 2 * later[-2]
    return 1


def _plant_boxed(rng: Random, net: Network, layer: int) -> int:
    if layer == 1 or layer + 2 > len(net):
        return 0
    row = [-abs(w) for w in _row(rng, len(net[layer - 1][0][0]))]
    _add(rng, net, layer, row, Fraction(2))
    reading = [-abs(w) for w in _row(rng, len(net[layer][0][0]))]
    _add(rng, net, layer + 1, [*reading[:-1], Fraction(1)], Fraction(-3))
    return 1


def _plant_ordered(rng: Random, net: Network, layer: int) -> int:
    if layer != 1 or len(net) < 3:
        return 0
    row = _row(rng, len(net[0][0][0]))
    _add(rng, net, 1, row, Fraction(1))
    _add(rng, net, 1, row, Fraction(-1))
    others = [Fraction()] * (len(net[1][0][0]) - 2)
    _add(rng, net, 2, [*others, Fraction(-1), Fraction(1)], Fraction())
    return 1


def _row(rng: Random, size: int) -> list[Fraction]:
    return [Fraction(round(rng.gauss(0, 1) * 64) or 1, 64) for _ in range(size)]


def _add(
    rng: Random, net: Network, layer: int, row: list[Fraction], bias: Fraction, zero: bool = False
) -> None:
    """Add a neuron to a layer, read by the next layer with random weights or with weights 0."""
    net[layer - 1][0].append(row)
    net[layer - 1][1].append(bias)
    for later in net[layer][0]:
        later.append(Fraction() if zero else Fraction(rng.randint(1, 9) * rng.choice((-1, 1)), 4))


def degenerate_stack(rng: Random) -> Network:
    """Return a small stack with weights -1, 0, 1, zero rows and columns, and widths 1."""
    widths = tuple(rng.choice((1, 1, 2, 3, 4)) for _ in range(rng.randint(2, 5)))
    net = [
        (
            [[Fraction(rng.randint(-1, 1)) for _ in range(n)] for _ in range(m)],
            [Fraction(rng.randint(-1, 1)) for _ in range(m)],
        )
        for n, m in pairwise(widths)
    ]
    weight, bias = net[rng.randrange(len(net))]
    kind = rng.choice(("row", "column", "matrix", "none"))
    if kind == "row":
        i = rng.randrange(len(weight))
        weight[i], bias[i] = [Fraction()] * len(weight[i]), Fraction(rng.randint(-1, 1))
    elif kind == "column":
        j = rng.randrange(len(weight[0]))
        for row in weight:
            row[j] = Fraction()
    elif kind == "matrix":
        weight[:] = [[Fraction()] * len(row) for row in weight]
    return net


def trained_like(seed: str, widths: tuple[int, ...] = (2, 10, 8, 1)) -> Network:
    """Return a stack with random weights in sixteenths and negative biases of later neurons."""
    rng = Random(seed)
    layers: Network = []
    for number, (before, own) in enumerate(pairwise(widths), 1):
        rows = [[Fraction(rng.randint(-32, 32), 16) for _ in range(before)] for _ in range(own)]
        shift = 0 if number == 1 or own == widths[-1] else 40
        bias = [Fraction(rng.randint(-32, 32) - shift, 16) for _ in range(own)]
        layers.append((rows, bias))
    return layers
