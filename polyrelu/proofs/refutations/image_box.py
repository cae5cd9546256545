"""Boxes that hold the image of a layer, and what a neuron may do that is never seen to bend there.

Interval arithmetic over all of R^n gives a box for the activations of each layer. A neuron of the next layer whose
preactivation is never negative on the box is linear there, one whose preactivation is never positive is dead, whatever
the signs of its weights. So both have other parameters with the same function (theorem `bounded-replacement`; proof:
box.md beside this module). This is a symmetry that no two consecutive layers show: the box depends on all layers
before.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from polyrelu.network import Network
from polyrelu.proofs.refutations.one_layer import Alternative, LayerPair, Vector, layer_pair, plus
from polyrelu.support.limits import SCALE_BIT_LIMIT, is_affordable

__all__ = ["BoundedAlternative", "Interval", "bounded_alternatives", "image_box"]

_VARIANTS = 2
_PAIRS = 8


class Interval(NamedTuple):
    """All numbers from `low` to `high`; None is an infinite end.

    >>> Interval(Fraction(0), None)
    Interval(low=Fraction(0, 1), high=None)
    """

    low: Fraction | None
    high: Fraction | None


Box: TypeAlias = tuple[Interval, ...]


class BoundedAlternative(NamedTuple):
    """A network that differs in layers `layer` and `layer` + 1, why it has the same function, and a bound on the bits
    of the box and of the rows of layer `layer` together, as the checker computes them."""

    layer: int
    explanation: str
    other: Network
    bits: int


def image_box(network: Network, layer: int) -> Box:
    """A box that holds the activations a[layer] of a plain stack at every input in R^n; layer 0 is the input.

    The ends are what interval arithmetic gives: they need not be attained. The layer is taken as a hidden one.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[-1, -2], [1, 0]], [3, 0]), ([[1, 1]], [0])])
    >>> [[str(end) for end in interval] for interval in image_box(net, 2)]
    [['0', '3'], ['0', 'None']]
    """
    box: Box = (Interval(None, None),) * network.inputs
    for number in range(1, layer + 1):
        box = _next_box(network, number, box)
    return box


def _next_box(network: Network, layer: int, before: Box) -> Box:
    return tuple(map(_positive_part, _ranges(network, layer, before)))


def _ranges(network: Network, layer: int, box: Box) -> list[Interval]:
    """The intervals of the preactivations z[layer] over a box for the layer before; each is sharp by itself."""
    scale = math.lcm(*(end.denominator for interval in box for end in interval if end is not None))
    low, high = (
        [None if end is None else int(end * scale) for end in ends]
        for ends in zip(*box, strict=True)
    )
    table = network.layers[layer - 1].augmented()
    common = table.denominator * scale
    return [
        Interval(*(None if end is None else Fraction(end, common) for end in ends))
        for ends in (
            (_extreme(row, low, high, scale), _extreme(row, high, low, scale))
            for row in table.integer_rows()
        )
    ]


def _extreme(
    row: list[int], near: list[int | None], far: list[int | None], scale: int
) -> int | None:
    """w·u + b over `scale`, row = [w | b], u_k = near_k where w_k > 0 and far_k where w_k < 0; None if infinite."""
    total = row[-1] * scale
    for w, a, b in zip(row[:-1], near, far, strict=True):
        if w:
            end = a if w > 0 else b
            if end is None:
                return None
            total += w * end
    return total


def _positive_part(interval: Interval) -> Interval:
    zero = Fraction(0)
    return Interval(
        max(interval.low or zero, zero), None if interval.high is None else max(interval.high, zero)
    )


def bounded_alternatives(network: Network, rng: random.Random) -> Iterator[BoundedAlternative]:
    """Networks with the same function as a plain stack, because neurons are dead or linear on the box of the layer
    before, but not by the signs of their rows alone.

    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[-1, -2], [-2, -1]], [1, 1])
    >>> net = from_arrays([first, second, ([[-1, -1], [1, -1]], [3, 0]), ([[1, 1]], [0])])
    >>> found = next(bounded_alternatives(net, random.Random(0)))
    >>> found.explanation
    'neuron 0 of layer 3 is linear on the box of all values that layer 2 can take'
    >>> found.other([5, 7]) == net([5, 7])
    True
    """
    box, bits = image_box(network, 0), 1
    for layer in range(2, network.depth):
        grown = _bits_of_box(network, layer - 1, bits)
        if grown is None:
            return
        box, bits = _next_box(network, layer - 1, box), grown
        for explanation, other in _on_box(layer_pair(network, layer), box, rng):
            own = max(net.layers[layer - 1].bits for net in (network, other))
            yield BoundedAlternative(layer, explanation, other, 2 * max(bits, own))


def _bits_of_box(network: Network, layer: int, before: int) -> int | None:
    """A bound on the bits of the ends of the layer's box, over their common denominator, from the one of the layer
    before; None if computing the box is beyond the limits of FORMAT.md §3.6."""
    own, terms = network.layers[layer - 1], network.widths[layer - 1] + 1
    bits = before + own.bits
    affordable = bits <= SCALE_BIT_LIMIT and is_affordable(2 * own.width * terms, bits)
    return bits + terms.bit_length() if affordable else None


def _on_box(pair: LayerPair, box: Box, rng: random.Random) -> Iterator[Alternative]:
    ranges = _ranges(pair.network, pair.layer, box)
    place = f"on the box of all values that layer {pair.layer - 1} can take"
    linear = [i for i, (low, _) in enumerate(ranges) if low is not None and low >= 0]
    for i, (row, interval) in enumerate(zip(pair.rows, ranges, strict=True)):
        if interval.high is not None and interval.high <= 0 < max(row):
            yield from _dead(pair, i, f"{pair.name(i)} is dead {place}", rng)
        if i in linear and min(row) < 0:
            yield from _linear(pair, i, f"{pair.name(i)} is linear {place}", rng)
    for i, k in itertools.islice(itertools.permutations(linear, 2), _PAIRS):
        if min(pair.rows[i]) < 0:
            yield _mixed(
                pair,
                i,
                k,
                f"neurons {i} and {k} of layer {pair.layer} are linear {place}, so they can mix",
            )


def _dead(pair: LayerPair, i: int, explanation: str, rng: random.Random) -> Iterator[Alternative]:
    """A lower bias keeps the neuron dead."""
    for _ in range(_VARIANTS):
        yield explanation, pair.replaced({i: _raised(pair.rows[i], -_shift(rng))}, {})


def _linear(pair: LayerPair, i: int, explanation: str, rng: random.Random) -> Iterator[Alternative]:
    """A higher bias keeps the neuron linear, and the next layer's bias takes it back."""
    for _ in range(_VARIANTS):
        shift = _shift(rng)
        offset = plus(pair.offset, pair.columns[i], -shift)
        yield explanation, pair.replaced({i: _raised(pair.rows[i], shift)}, {}, offset)


def _mixed(pair: LayerPair, i: int, k: int, explanation: str) -> Alternative:
    """Row i becomes r_i + r_k, and neuron k gives back what neuron i now adds."""
    one = Fraction(1)
    column = plus(pair.columns[k], pair.columns[i], -one)
    return explanation, pair.replaced({i: plus(pair.rows[i], pair.rows[k], one)}, {k: column})


def _raised(row: Vector, shift: Fraction) -> Vector:
    return (*row[:-1], row[-1] + shift)


def _shift(rng: random.Random) -> Fraction:
    return Fraction(rng.randint(1, 64), 16)
