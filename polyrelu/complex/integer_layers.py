"""`IntegerLayers`: a network over the coordinates of a frame in integers, a denominator a layer.

Let z[ℓ] be the preactivations of layer ℓ as forms over (y, t). With the denominators Z[ℓ] chosen
here, Ẑ[ℓ] = Z[ℓ] z[ℓ] are integer forms, and

    Ẑ[ℓ] = Σ_k Ŵ[ℓ,k] I[k] Ẑ[k] + C[ℓ],      Ŵ[ℓ,k] = (Z[ℓ] / Z[k]) W[ℓ,k],

over the hidden layers k that layer ℓ reads, with the diagonal matrices I[k] of active neurons. The
integers C[ℓ] hold the bias and what the layer reads from the input. Every entry of Ŵ and C is an
integer, since Z[ℓ] is a multiple of Z[ℓ-1] times the denominators of layer ℓ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.frame import Frame
from polyrelu.exact import RationalMatrix
from polyrelu.exact.integer_arrays import largest
from polyrelu.exact.matrix import integers_over
from polyrelu.network import Layer, Network

__all__ = ["IntegerLayer", "IntegerLayers"]


@dataclass(frozen=True, slots=True, eq=False)
class IntegerLayer:
    """A layer as integers.

    Attributes
    ----------
    denominator
        The number Z of the layer.
    blocks
        The matrices Ŵ by the hidden layer that they read; int64 or Python integers.
    row_sums, column_sums
        For each block the largest sum of absolute values in a row, and in a column.
    """

    denominator: int
    blocks: Mapping[int, NDArray[Any]]
    row_sums: Mapping[int, int]
    column_sums: Mapping[int, int]

    @property
    def num_terms(self) -> int:
        """The number of hidden neurons that the layer reads."""
        return sum(block.shape[1] for block in self.blocks.values())


class IntegerLayers:
    """The hidden layers of a network as integers, and its output layer on request.

    Attributes
    ----------
    layers
        The hidden layers, from layer 1 on.
    constants
        The forms C of each layer, int64 or Python integers, shape (n, d + 1).
    bounds
        For each layer a number that no entry of Ẑ, C and Ŵ exceeds, whatever the activations.
    """

    def __init__(self, network: Network, frame: Frame) -> None:
        self.layers: list[IntegerLayer] = []
        self.constants: list[NDArray[Any]] = []
        self.bounds: list[int] = []
        for number, layer in enumerate(network.layers[: network.num_hidden_layers], 1):
            constant = frame.first_layer if number == 1 else _constant(layer, frame)
            self.layers.append(self._integers(layer, constant.denominator))
            self.constants.append(integers_over(constant, self.layers[-1].denominator))
            bound = largest(self.constants[-1])
            for source, row_sum in self.layers[-1].row_sums.items():
                bound += row_sum * max(self.bounds[source - 1], 1)
            self.bounds.append(bound)

    def outputs(self, layer: Layer) -> IntegerLayer:
        """Return an output layer; what it adds to the activations of hidden layers is left out."""
        return self._integers(layer, 1)

    def _integers(self, layer: Layer, constant_denominator: int) -> IntegerLayer:
        """Return the layer with the least denominator Z for the denominators before it."""
        hidden = [block for block in layer.blocks if block.source]
        denominator = self._denominator(len(self.layers))
        denominator *= math.lcm(*(block.weight.denominator for block in hidden))
        denominator *= constant_denominator // math.gcd(denominator, constant_denominator)
        blocks = {
            block.source: integers_over(
                block.weight, denominator // self._denominator(block.source)
            )
            for block in hidden
        }
        return IntegerLayer(
            denominator,
            blocks,
            {source: _largest_sum(block) for source, block in blocks.items()},
            {source: _largest_sum(block.T) for source, block in blocks.items()},
        )

    def _denominator(self, number: int) -> int:
        """The number Z of a hidden layer, 1 for the input."""
        return self.layers[number - 1].denominator if number else 1


def _constant(layer: Layer, frame: Frame) -> RationalMatrix:
    """The bias and what the layer reads from the input, as forms over (y, t)."""
    total = RationalMatrix.zeros(layer.width, frame.dimension).beside(layer.bias)
    inputs = frame.embedding.take(rows=range(frame.embedding.nrows - 1))
    for block in layer.blocks:
        if block.source == 0:
            total = total + block @ inputs
    return total


def _largest_sum(integers: NDArray[Any]) -> int:
    """The largest sum of absolute values in a row; in two halves where int64 might overflow."""
    if not integers.size:
        return 0
    magnitudes = np.abs(integers)
    if integers.dtype == object:
        return int(magnitudes.sum(axis=1).max())
    high, low = (magnitudes >> 32).sum(axis=1), (magnitudes & 0xFFFFFFFF).sum(axis=1)
    return max((int(a) << 32) + int(b) for a, b in zip(high, low, strict=True))
