"""Boxes that contain the image of a layer, and the freedom of neurons that are affine on them.

Interval arithmetic over all of R^n gives a box for the activations of each layer. A neuron of the
next layer whose preactivation is never negative on the box is linear there, and a neuron whose
preactivation is never positive is dead, whatever the signs of its weights. Both have other
parameters with the same function (theorem `bounded-replacement`; the proof is in
docs/theory/box.md). Two consecutive layers alone do not show this freedom, because the box depends
on all layers before. The checker computes the same box, so its ends and costs must be computed as
FORMAT.md §3.3 says.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from polyrelu.proofs.refutations.one_layer import Alternative, LayerPair, layer_pair, plus_multiple
from polyrelu.proofs.refutations.settings import SETTINGS
from polyrelu.support.limits import SCALE_BIT_LIMIT, is_affordable
from polyrelu.support.typing import Vector

__all__ = [
    "BoundedAlternative",
    "Interval",
    "bits_of_image_box",
    "bounded_alternatives",
    "box_of_inputs",
    "image_box",
    "preactivation_intervals",
]


class Interval(NamedTuple):
    """All numbers from `low` to `high`; None is an infinite end.

    >>> Interval(Fraction(0), None)
    Interval(low=Fraction(0, 1), high=None)
    """

    low: Fraction | None
    high: Fraction | None


#: The product of one interval for each neuron of a layer.
Box: TypeAlias = tuple[Interval, ...]


class BoundedAlternative(NamedTuple):
    """A network with the same function that differs in two consecutive layers.

    Attributes
    ----------
    layer
        The first of the two layers.
    explanation
        Why the function is the same.
    other
        The other network.
    bits
        A bound on the bits of the numbers that the checker computes for the box and for the rows of
        the layer together.
    """

    layer: int
    explanation: str
    other: Network
    bits: int


def box_of_inputs(domain: Polyhedron | None, num_inputs: int) -> Box:
    """Return the box around a domain that its inequalities in one coordinate give; R^n for None.

    >>> box_of_inputs(Polyhedron.box([0], [2]), 1)
    (Interval(low=Fraction(0, 1), high=Fraction(2, 1)),)
    """
    low: list[Fraction | None] = [None] * num_inputs
    high: list[Fraction | None] = [None] * num_inputs
    for row in () if domain is None else domain.inequalities:
        used = [j for j, a in enumerate(row[:-1]) if a]
        if len(used) == 1:
            (j,) = used
            end = Fraction(row[-1], row[j])
            if row[j] > 0:
                high[j] = end if (old := high[j]) is None else min(old, end)
            else:
                low[j] = end if (old := low[j]) is None else max(old, end)
    return tuple(map(Interval, low, high))


def image_box(network: Network, layer: int) -> Box:
    """Return a box that contains the activations of a layer of a plain stack at every input in R^n.

    The ends are the results of interval arithmetic and need not be attained. Layer 0 is the input;
    other layers are taken as hidden ones.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[-1, -2], [1, 0]], [3, 0]), ([[1, 1]], [0])])
    >>> [[str(end) for end in interval] for interval in image_box(net, 2)]
    [['0', '3'], ['0', 'None']]
    """
    box = box_of_inputs(None, network.num_inputs)
    for number in range(1, layer + 1):
        box = _next_box(network, number, box)
    return box


def _next_box(network: Network, layer: int, before: Box) -> Box:
    return tuple(map(_positive_part, preactivation_intervals(network, layer, before)))


def preactivation_intervals(network: Network, layer: int, box: Box) -> list[Interval]:
    """Return the intervals of a layer's preactivations over a box; each is sharp by itself."""
    scale = math.lcm(*(end.denominator for interval in box for end in interval if end is not None))
    low, high = (
        [None if end is None else int(end * scale) for end in ends]
        for ends in zip(*box, strict=True)
    )
    table = network.layers[layer - 1].augmented()
    common = table.denominator * scale
    found = []
    for row in table.integer_rows():
        ends = (
            _weighted_sum_of_ends(row, low, high, scale),
            _weighted_sum_of_ends(row, high, low, scale),
        )
        found.append(Interval(*(None if end is None else Fraction(end, common) for end in ends)))
    return found


def _weighted_sum_of_ends(
    row: list[int], near: list[int | None], far: list[int | None], scale: int
) -> int | None:
    """Return w·u + b over `scale` for a corner u of the box, or None if it is infinite.

    The row is [w | b]; u_k is near_k where w_k > 0 and far_k where w_k < 0.
    """
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


def bounded_alternatives(
    network: Network, rng: random.Random, domain: Polyhedron | None = None
) -> Iterator[BoundedAlternative]:
    """Yield networks with the same function, by neurons that are dead or linear on the image box.

    The functions agree on the domain; without one, on R^n, and neurons whose rows show this by
    their signs alone are left out.

    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[-1, -2], [-2, -1]], [1, 1])
    >>> net = from_arrays([first, second, ([[-1, -1], [1, -1]], [3, 0]), ([[1, 1]], [0])])
    >>> found = next(bounded_alternatives(net, random.Random(0)))
    >>> found.explanation
    'neuron 0 of layer 3 is linear on the box of all values that layer 2 can take'
    >>> found.other([5, 7]) == net([5, 7])
    True
    """
    box = box_of_inputs(domain, network.num_inputs)
    bits = _bits_of_ends(box)
    for layer in range(1 if domain else 2, network.depth):
        if layer > 1:
            grown = _bits_of_box(network, layer - 1, bits)
            if grown is None:
                return
            box, bits = _next_box(network, layer - 1, box), grown
        for explanation, other in _alternatives_on_box(layer_pair(network, layer), box, rng):
            bits_of_weights = max(net.layers[layer - 1].bits for net in (network, other))
            yield BoundedAlternative(layer, explanation, other, 2 * max(bits, bits_of_weights))


def _bits_of_ends(box: Box) -> int:
    """Return the bits of the longest end of a box, over the common denominator of all ends."""
    ends = [end for interval in box for end in interval if end is not None]
    scale = math.lcm(*(end.denominator for end in ends))
    return max((abs(int(end * scale)).bit_length() for end in ends), default=1) or 1


def bits_of_image_box(network: Network, depth: int) -> int | None:
    """Return a bound on the bits of the ends of the box of a hidden layer, or of R^n for layer 0.

    It is None if the box is beyond the limits of the checker.
    """
    bits: int | None = 1
    for layer in range(1, depth + 1):
        bits = None if bits is None else _bits_of_box(network, layer, bits)
    return bits


def _bits_of_box(network: Network, layer: int, before: int) -> int | None:
    """Return a bound on the bits of the ends of a layer's box, or None beyond the checker's limits.

    The ends are integers over their common denominator; `before` is the bound for the layer before.
    The limits are given in FORMAT.md §3.6.
    """
    weights, terms = network.layers[layer - 1], network.widths[layer - 1] + 1
    bits = before + weights.bits
    affordable = bits <= SCALE_BIT_LIMIT and is_affordable(2 * weights.width * terms, bits)
    return bits + terms.bit_length() if affordable else None


def _alternatives_on_box(pair: LayerPair, box: Box, rng: random.Random) -> Iterator[Alternative]:
    """Yield the alternatives of one layer whose inputs lie in the given box."""
    ranges = preactivation_intervals(pair.network, pair.layer, box)
    place = f"on the box of all values that layer {pair.layer - 1} can take"
    if pair.layer == 1:
        place = "on the box around the domain"
    linear = [i for i, (low, _) in enumerate(ranges) if low is not None and low >= 0]
    for i, (row, interval) in enumerate(zip(pair.rows, ranges, strict=True)):
        if interval.high is not None and interval.high <= 0 < _largest(pair, row):
            yield from _dead(pair, i, f"{pair.name(i)} is dead {place}", rng)
        if i in linear and -_largest(pair, [-entry for entry in row]) < 0:
            yield from _linear(pair, i, f"{pair.name(i)} is linear {place}", rng)
    for i, k in itertools.islice(itertools.permutations(linear, 2), SETTINGS.max_mixed_pairs):
        if -_largest(pair, [-entry for entry in pair.rows[i]]) < 0:
            names = f"neurons {i} and {k} of layer {pair.layer}"
            yield _mixed(pair, i, k, f"{names} are linear {place}, so they can mix")


def _largest(pair: LayerPair, row: Sequence[Fraction]) -> Fraction:
    """Return the largest entry of a row [w | b]; in layer 1 the size of the largest weight.

    Behind a hidden layer no entry above 0 shows without a box that the neuron is dead.
    """
    return max(row) if pair.on_orthant else max(map(abs, row[:-1]))


def _dead(pair: LayerPair, i: int, explanation: str, rng: random.Random) -> Iterator[Alternative]:
    """Yield alternatives in which a dead neuron has a lower bias."""
    for _ in range(SETTINGS.num_box_variants):
        yield (
            explanation,
            pair.replaced({i: _with_shifted_bias(pair.rows[i], -_random_shift(rng))}, {}),
        )


def _linear(pair: LayerPair, i: int, explanation: str, rng: random.Random) -> Iterator[Alternative]:
    """Yield alternatives in which a linear neuron's bias is raised and the next layer's lowered."""
    for _ in range(SETTINGS.num_box_variants):
        shift = _random_shift(rng)
        offset = plus_multiple(pair.offset, pair.columns[i], -shift)
        yield explanation, pair.replaced({i: _with_shifted_bias(pair.rows[i], shift)}, {}, offset)


def _mixed(pair: LayerPair, i: int, k: int, explanation: str) -> Alternative:
    """Return the alternative in which row i is r_i + r_k and neuron k cancels the new term."""
    one = Fraction(1)
    column = plus_multiple(pair.columns[k], pair.columns[i], -one)
    return explanation, pair.replaced(
        {i: plus_multiple(pair.rows[i], pair.rows[k], one)}, {k: column}
    )


def _with_shifted_bias(row: Vector, shift: Fraction) -> Vector:
    return (*row[:-1], row[-1] + shift)


def _random_shift(rng: random.Random) -> Fraction:
    return Fraction(rng.randint(1, 64), 16)
