"""Invariants of a plain stack under permutation and positive scaling of its hidden neurons (FORMAT.md §3.5).

Layer by layer, a neuron gets a colour: its scaled bias and the multiset of its scaled weights, each with the colour
of the neuron it comes from. Related networks have the same colours, so different colours prove that two networks
are not related. The converse fails for look-alike neurons, where `network.related` decides; here one layer is
evidence that is easy to check.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from polyrelu.network import Network
from polyrelu.support.limits import SCALE_BIT_LIMIT, is_affordable

__all__ = ["first_difference"]


def first_difference(first: Network, second: Network) -> int | None:
    """The first layer (from 1) whose invariants differ, or None (also if no checker could compute them).

    Both must be plain stacks of one architecture.

    >>> from polyrelu.network import from_arrays
    >>> first_difference(from_arrays([([[1]], [0]), ([[1]], [0])]), from_arrays([([[1]], [1]), ([[1]], [0])]))
    1
    """
    names: dict[object, int] = {}
    checkable = min(_checkable_depth(first), _checkable_depth(second))
    mine = theirs = _inputs(first)
    for layer in range(1, first.depth + 1):
        shared = mine is theirs and first.layers[layer - 1] == second.layers[layer - 1]
        mine = _next(first, layer, mine, names)
        theirs = mine if shared else _next(second, layer, theirs, names)
        colours = [
            state.colours if layer == first.depth else sorted(state.colours)
            for state in (mine, theirs)
        ]
        if colours[0] != colours[1]:
            return layer if layer <= checkable else None
    return None


def _checkable_depth(network: Network) -> int:
    """The last layer up to which the checker computes invariants (FORMAT.md §3.6): scales grow by a layer's bits."""
    bits = 1
    for number, layer in enumerate(network.layers, 1):
        before = network.widths[number - 1]
        bits += layer.bits
        if bits > SCALE_BIT_LIMIT or not is_affordable(layer.width * before, bits):
            return number - 1
        bits += (before + 1).bit_length()
    return network.depth


class _State(NamedTuple):
    """Of the neurons of a layer: the colours, and the scales as integers over a common denominator."""

    colours: list[int]
    scales: list[int]
    common: int


def _inputs(network: Network) -> _State:
    return _State([-1 - i for i in range(network.inputs)], [1] * network.inputs, 1)


def _next(network: Network, layer: int, before: _State, names: dict[object, int]) -> _State:
    table = network.layers[layer - 1].augmented()
    common = before.common * table.denominator
    colours, scales = [], []
    for *weights, b in table.integer_rows():
        bias = b * before.common
        entries = [
            (c, w * s)
            for w, c, s in zip(weights, before.colours, before.scales, strict=True)
            if w * s
        ]
        colours.append(
            names.setdefault(
                _key(layer, bias, entries, common if layer == network.depth else 0), len(names)
            )
        )
        scales.append(sum((abs(e) for _, e in entries), abs(bias)))
    divisor = math.gcd(common, *scales)
    return _State(colours, [scale // divisor for scale in scales], common // divisor)


def _key(layer: int, bias: int, entries: list[tuple[int, int]], denominator: int) -> object:
    """Equal for equal vectors (bias, entries) up to positive scale; with a denominator, for equal vectors over it."""
    divisor = math.gcd(denominator, bias, *(e for _, e in entries)) or 1
    reduced = sorted((colour, e // divisor) for colour, e in entries)
    return layer, denominator // divisor, bias // divisor, tuple(reduced)
