"""Small steps in building networks that several rooms need."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polyrelu.exact import RationalMatrix
from polyrelu.network.layers import Block, Layer
from polyrelu.network.network import Network

__all__ = ["layer_from_rows", "with_output_at_zero_of"]


def layer_from_rows(rows: Sequence[Sequence[Fraction]], source: int) -> Layer:
    """A layer of a plain stack from its rows [w | b]; `source` is the layer before (0: the input).

    >>> layer_from_rows([(Fraction(1), Fraction(2), Fraction(3))], 0).weight.shape
    (1, 2)
    """
    weight = RationalMatrix.from_rows([row[:-1] for row in rows])
    return Layer((Block(source, weight),), RationalMatrix.column([row[-1] for row in rows]))


def with_output_at_zero_of(network: Network, model: Network) -> Network:
    """The network with its output bias changed so that it takes the same value at 0 as `model`."""
    zero = [0] * network.inputs
    correction = RationalMatrix.column(
        [a - b for a, b in zip(model(zero), network(zero), strict=True)]
    )
    last = network.layers[-1]
    return network.replace_layers({network.depth: Layer(last.blocks, last.bias + correction)})
