"""The network that applies a network and then a plain stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.network import Block, Layer, Network

__all__ = ["composed"]


def composed(first: Network, second: Network) -> Network:
    """Return x ↦ second(first(x)); an affine last layer of the first one joins the next layer.

    The second network is a plain stack.

    >>> from polyrelu.network import from_arrays
    >>> both = from_arrays([([[1], [-1]], [0, 0])], last="relu")
    >>> back = from_arrays([([[1, -1]], [0])])
    >>> composed(both, back)((-3,))
    (Fraction(-3, 1),)
    >>> str(composed(back, both).architecture)
    '2-2 (trailing ReLU)'
    """
    if first.widths[-1] != second.num_inputs:
        raise NetworkError(
            f"the second network has {second.num_inputs} inputs, and the first one "
            f"{first.widths[-1]} outputs"
        )
    last: Literal["affine", "relu"] = "affine"
    if second.num_hidden_layers == second.depth:
        last = "relu"
    if first.num_hidden_layers == first.depth:
        return Network(first.num_inputs, (*first.layers, *_moved(second.layers, first.depth)), last)
    *kept, affine = first.layers
    layer, *rest = second.layers
    moved = _moved(rest, first.depth - 1)
    return Network(first.num_inputs, (*kept, _joined(layer, affine), *moved), last)


def _moved(layers: Sequence[Layer], steps: int) -> list[Layer]:
    """Return layers that read later activations."""
    return [
        Layer(
            tuple(Block(block.source + steps, block.entries) for block in layer.blocks), layer.bias
        )
        for layer in layers
    ]


def _joined(layer: Layer, affine: Layer) -> Layer:
    """Return a layer that reads what an affine layer reads in place of its values."""
    weight = layer.weight
    blocks = tuple(Block(block.source, weight @ _dense(block)) for block in affine.blocks)
    return Layer(blocks, layer.bias + weight @ affine.bias)


def _dense(block: Block) -> RationalMatrix:
    entries = block.entries
    return entries if isinstance(entries, RationalMatrix) else entries.to_dense()
