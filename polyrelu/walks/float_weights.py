"""The weights of hidden layers on hidden layers, as floats and as integers.

They are kept for the networks used last, since a search walks in many planes of one network.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import AnyMatrix, RationalMatrix, SparseMatrix
from polyrelu.exact.integer_arrays import FactorInFloats
from polyrelu.exact.matrix import integers_over
from polyrelu.network import Block, Network
from polyrelu.support.typing import Floats

__all__ = [
    "SLACK",
    "UNDERFLOW",
    "UNIT_ROUNDOFF",
    "FloatBlock",
    "FloatLayer",
    "FloatWeights",
    "IntegerBlock",
    "magnitudes",
    "weights_in_floats",
]

#: The unit roundoff u of float64.
UNIT_ROUNDOFF = 2.0**-53
#: An upper bound on the total underflow in one number and in its error bound.
UNDERFLOW = 2.0**-1000
#: Factor of error bounds for terms of second order and for the rounding of the bounds themselves
#: (docs/theory/walks.md, "The error bound of float forms").
SLACK = 1 + 2.0**-20
#: Number of entries of weights on the input from which on, and up to which, they are cut into
#: pieces once, for products with one plane after the other.
_LEAST_CUT, _MOST_CUT = 1 << 10, 1 << 24
#: The largest float64; larger exact numbers are cut to it.
_LARGEST = float(np.finfo(np.float64).max)


class FloatBlock(NamedTuple):
    """The weights of a layer on an earlier hidden layer, transposed.

    Attributes
    ----------
    source
        The earlier layer.
    weights, sizes
        The weights w, and |w|' = |w| + 2^-1000, shape (n_source, n); infinite where an exact weight
        exceeds the floats.
    largest
        The largest |w|' of each neuron of the source, shape (n_source,).
    """

    source: int
    weights: Floats
    sizes: Floats
    largest: Floats


@dataclass(frozen=True, slots=True, eq=False)
class FloatLayer:
    """The weights of a hidden layer in floats.

    Attributes
    ----------
    width
        The number of neurons.
    blocks
        The weights on earlier hidden layers.
    rounding
        The number 2 (N + 4) u, where N is the number of weights that a neuron reads.
    """

    width: int
    blocks: tuple[FloatBlock, ...]
    rounding: float


class IntegerBlock(NamedTuple):
    """The weights on one earlier layer: integers, shape (n, n_source), over a denominator."""

    source: int
    integers: NDArray[Any]
    denominator: int


@dataclass(frozen=True, slots=True, eq=False)
class FloatWeights:
    """All hidden layers of a network in floats.

    Attributes
    ----------
    network
        The network.
    layers
        Its hidden layers.
    """

    network: Network
    layers: tuple[FloatLayer, ...]
    _integers: dict[tuple[int, int], IntegerBlock] = field(default_factory=dict)
    _factors: dict[int, FactorInFloats | None] = field(default_factory=dict)

    def integer_blocks(self, number: int) -> list[IntegerBlock] | None:
        """Return the weights of a layer, from 1, as integers; None if they are kept sparse."""
        found = []
        for block in self.network.layers[number - 1].blocks:
            if block.source == 0:
                continue
            if isinstance(block.entries, SparseMatrix):
                return None
            key = number, block.source
            if key not in self._integers:
                denominator = block.entries.denominator
                integers = integers_over(block.entries, denominator)
                self._integers[key] = IntegerBlock(block.source, integers, denominator)
            found.append(self._integers[key])
        return found

    def times_input_weights(self, number: int, embedding: RationalMatrix) -> RationalMatrix | None:
        """Return the weights of a layer on the input times a matrix; None if it has none."""
        for block in self.network.layers[number - 1].blocks:
            if block.source == 0:
                return self._product(number, block, embedding)
        return None

    def _product(self, number: int, block: Block, embedding: RationalMatrix) -> RationalMatrix:
        """Return the product of an input block with a matrix."""
        entries, rows = block.entries, block.shape[0] * block.shape[1]
        if isinstance(entries, SparseMatrix) or not _LEAST_CUT <= rows <= _MOST_CUT:
            return block @ embedding
        if number not in self._factors:
            integers = integers_over(entries, entries.denominator)
            is_short = integers.dtype != object
            self._factors[number] = FactorInFloats(integers) if is_short else None
        factor = self._factors[number]
        if factor is None:
            return block @ embedding
        right = integers_over(embedding, embedding.denominator)
        return RationalMatrix.from_integer_array(
            factor.times(right), entries.denominator * embedding.denominator
        )


class _ByIdentity:
    """A network as a cache key that is compared by identity.

    The key keeps the network alive, so no other network gets its id.
    """

    def __init__(self, network: Network) -> None:
        self.network = network

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and self.network is other.network

    def __hash__(self) -> int:
        return id(self.network)


def weights_in_floats(network: Network) -> FloatWeights:
    """Return the weights of a network; the last two networks are remembered."""
    return _weights_in_floats(_ByIdentity(network))


@lru_cache(maxsize=2)
def _weights_in_floats(key: _ByIdentity) -> FloatWeights:
    layers = []
    for layer in key.network.layers[: key.network.num_hidden_layers]:
        hidden = [block for block in layer.blocks if block.source > 0]
        blocks = []
        for block in hidden:
            nearest = np.ascontiguousarray(_dense(block.entries).T)
            floats = np.copysign(magnitudes(nearest), nearest)
            sizes = np.abs(floats) + UNDERFLOW
            largest = sizes.max(axis=1, initial=UNDERFLOW)
            blocks.append(FloatBlock(block.source, floats, sizes, largest))
        num_read = sum(block.shape[1] for block in hidden)
        rounding = 2 * (num_read + 4) * UNIT_ROUNDOFF
        layers.append(FloatLayer(layer.width, tuple(blocks), rounding))
    return FloatWeights(key.network, tuple(layers))


def _dense(matrix: AnyMatrix) -> Floats:
    """Return all entries of a matrix as floats."""
    if not isinstance(matrix, SparseMatrix):
        return matrix.to_floats()
    floats = np.zeros(matrix.shape)
    floats[matrix.row_of_entries(), matrix.columns] = matrix.to_floats()
    return floats


def magnitudes(floats: Floats) -> Floats:
    """Return absolute values, infinite for numbers that were cut to the largest float."""
    sizes = np.abs(floats)
    return np.where(sizes >= _LARGEST, np.inf, sizes)
