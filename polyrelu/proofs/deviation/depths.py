"""Networks of unequal depths made equally deep, by layers that change no value.

Bounds of differences go layer by layer. After a layer with a ReLU all activations are at least 0,
so that a further layer with the identity and a ReLU changes nothing. Inputs have any sign; they go
through a layer as x = max(x, 0) - max(-x, 0).
"""

from __future__ import annotations

from polyrelu.exact import RationalMatrix
from polyrelu.network import Network, from_arrays

__all__ = ["equally_deep"]


def equally_deep(first: Network, second: Network) -> tuple[Network, Network, dict[str, str]]:
    """Return two networks with equally many layers and one kind of last layer, and a note.

    The note says how many layers were added; it is empty where none was. Networks that are no plain
    stacks, or have other numbers of inputs or outputs, come back as they are.
    """
    networks = [first, second]
    if not all(network.is_plain for network in networks):
        return first, second, {}
    last = "affine" if first.last != second.last else first.last
    depths = [net.depth + (net.last != last) for net in networks]
    depth = max(depths)
    deep = [_deepened(net, depth, net.last != last) for net in networks]
    added = [
        f"{depth - net.depth} in the {name} one"
        for name, net in zip(("first", "second"), networks, strict=True)
        if depth > net.depth
    ]
    note = f"layers that change no value were added: {' and '.join(added)}"
    return deep[0], deep[1], {"added-layers": note} if added else {}


def _deepened(network: Network, depth: int, ends_affine: bool) -> Network:
    """Return the network with as many layers; the last one is affine then if that is wanted."""
    missing = depth - network.depth - ends_affine
    layers = [(layer.weight, layer.bias) for layer in network.layers]
    size = network.num_outputs
    end = [(RationalMatrix.identity(size), RationalMatrix.zeros(size, 1))] if ends_affine else []
    if missing and network.depth == 1 and network.last == "affine":
        weight, bias = layers[0]
        one = RationalMatrix.identity(network.num_inputs)
        both, none = one.beside(-one).transpose(), RationalMatrix.zeros(2 * network.num_inputs, 1)
        layers = [(both, none), (weight.beside(-weight), bias)]
        missing -= 1
    place = len(layers) if network.last == "relu" else len(layers) - 1
    width = network.widths[-1] if network.last == "relu" else layers[-1][0].ncols
    more = (RationalMatrix.identity(width), RationalMatrix.zeros(width, 1))
    layers[place:place] = [more] * missing
    if not missing and len(layers) == network.depth and not end:
        return network
    return from_arrays([*layers, *end], "affine" if ends_affine else network.last)
