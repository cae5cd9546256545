"""Some consecutive layers of a network as a network of their own."""

from __future__ import annotations

from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.network import Block, Layer, Network
from polyrelu.support.arguments import expect_integer

__all__ = ["layer_range", "part_of"]


def layer_range(layers: int | tuple[int, int] | None, depth: int) -> tuple[int, int]:
    """Return the first and the last layer that an argument means.

    >>> layer_range(None, 3), layer_range(2, 3), layer_range((1, 2), 3)
    ((1, 3), (2, 2), (1, 2))
    """
    if layers is None:
        return 1, depth
    ends: tuple[object, ...] = layers if isinstance(layers, tuple) else (layers, layers)
    first, last = (
        expect_integer(layer, "layers") for layer in (ends if len(ends) == 2 else (0, 0))
    )
    if not 1 <= first <= last <= depth:
        raise ArgumentError(
            f"layers: expected a layer from 1 to {depth}, or the first and the last one of a part"
        )
    return first, last


def part_of(network: Network, first: int, last: int) -> Network:
    """Return the layers from the first to the last one as a network.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2]], [0]), ([[3]], [0]), ([[4]], [0])])
    >>> str(part_of(net, 2, 2).architecture), part_of(net, 1, 3) == net
    ('1-1 (trailing ReLU)', True)
    """
    chosen = []
    for layer in network.layers[first - 1 : last]:
        if any(block.source < first - 1 for block in layer.blocks):
            raise NetworkError(
                f"layers {first} to {last} read activations from before layer {first}; a part from "
                "layer 1 on has all of them"
            )
        blocks = tuple(Block(block.source - first + 1, block.entries) for block in layer.blocks)
        chosen.append(Layer(blocks, layer.bias))
    is_hidden = last <= network.num_hidden_layers
    return Network(network.widths[first - 1], tuple(chosen), "relu" if is_hidden else "affine")
