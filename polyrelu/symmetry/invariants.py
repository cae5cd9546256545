"""Invariants of a plain stack under permutation and positive scaling of its hidden neurons.

Different invariants prove that two networks are not related, and the number of a layer is all the
evidence that a checker needs (FORMAT.md §3.5). Equal invariants prove nothing: neurons of the same
colours may be connected in different ways, which `symmetry.related` decides.

Layer by layer, a neuron gets a colour, which stands for its scaled bias and the multiset of its
scaled weights, each with the colour of the neuron from which it comes. Related networks have the
same colours.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from polyrelu.errors import NetworkError
from polyrelu.formats.arguments import NetworkLike, as_network
from polyrelu.network import Network
from polyrelu.support.display import shortened
from polyrelu.support.limits import SCALE_BIT_LIMIT, is_affordable

__all__ = ["first_difference"]


def first_difference(first: NetworkLike, second: NetworkLike) -> int | None:
    """Find the first layer whose invariants differ.

    Parameters
    ----------
    first
        A network, or what `polyrelu.load` takes; a plain stack.
    second
        Another plain stack of the same architecture, in any of these forms.

    Returns
    -------
    int or None
        Number of the layer, from 1; None if all invariants are equal, or if the checker could not
        compute the invariants of that layer within its cost limit.

    Raises
    ------
    NetworkError
        A network has skip connections, or the architectures differ.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> zero = from_arrays([([[1]], [0]), ([[1]], [0])])
    >>> first_difference(zero, from_arrays([([[1]], [1]), ([[1]], [0])]))
    1
    """
    first, second = as_network(first), as_network(second)
    if first.architecture != second.architecture:
        raise NetworkError(
            f"the networks have different architectures, "
            f"{shortened(str(first.architecture))} and {shortened(str(second.architecture))}"
        )
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
    """The last layer up to which the checker computes invariants (FORMAT.md §3.6).

    The scales of the neurons grow by the bits of each layer.
    """
    bits = 1
    for number, layer in enumerate(network.layers, 1):
        before = network.widths[number - 1]
        bits += layer.bits
        if bits > SCALE_BIT_LIMIT or not is_affordable(layer.width * before, bits):
            return number - 1
        bits += (before + 1).bit_length()
    return network.depth


class _State(NamedTuple):
    """The colours of the neurons of a layer, and their scales.

    Attributes
    ----------
    colours
        The colour of each neuron.
    scales
        The scale of each neuron, an integer over `common`.
    common
        The common denominator of the scales.
    """

    colours: list[int]
    scales: list[int]
    common: int


def _inputs(network: Network) -> _State:
    """The state of the input layer, whose colours are all different."""
    return _State([-1 - i for i in range(network.num_inputs)], [1] * network.num_inputs, 1)


def _next(network: Network, layer: int, before: _State, names: dict[object, int]) -> _State:
    """The state of a layer; `names` maps the keys of both networks to colours."""
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
    """A key that is equal for equal vectors (bias, entries) up to positive scale.

    With a denominator, it is equal for equal vectors over that denominator only.
    """
    divisor = math.gcd(denominator, bias, *(e for _, e in entries)) or 1
    reduced = sorted((colour, e // divisor) for colour, e in entries)
    return layer, denominator // divisor, bias // divisor, tuple(reduced)
