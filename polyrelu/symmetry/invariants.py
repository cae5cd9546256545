"""Invariants of a plain stack under permutation and positive scaling of its hidden neurons (FORMAT.md §3.5).

Layer by layer, a neuron gets a colour: its scaled bias and the multiset of its scaled weights, each with the colour
of the neuron it comes from. Related networks have the same colours, so different colours prove that two networks
are not related. The converse fails for look-alike neurons, where `network.related` decides; here one layer is
evidence that is easy to check.
"""

from __future__ import annotations

from fractions import Fraction

from polyrelu.limits import SCALE_BIT_LIMIT, is_affordable
from polyrelu.network import Network

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
    states = [_inputs(first), _inputs(second)]
    for layer in range(1, first.depth + 1):
        states = [_next(network, layer, state, names) for network, state in zip((first, second), states, strict=True)]
        colours = [[colour for colour, _ in state] for state in states]
        if layer < first.depth:
            colours = [sorted(own) for own in colours]
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


_State = list[tuple[int, Fraction]]  # colour and scale of each neuron


def _inputs(network: Network) -> _State:
    return [(-1 - i, Fraction(1)) for i in range(network.inputs)]


def _next(network: Network, layer: int, before: _State, names: dict[object, int]) -> _State:
    state: _State = []
    for row, bias in zip(network.weight(layer).rows(), network.bias(layer).entries(), strict=True):
        entries = [(colour, w * scale) for w, (colour, scale) in zip(row, before, strict=True) if w * scale != 0]
        size = sum((abs(e) for _, e in entries), abs(bias))
        divisor = size if layer < network.depth and size else Fraction(1)
        key = (layer, bias / divisor, tuple(sorted((colour, e / divisor) for colour, e in entries)))
        state.append((names.setdefault(key, len(names)), size))
    return state
