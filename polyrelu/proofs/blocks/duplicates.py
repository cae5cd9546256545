"""Duplicate neurons of networks of blocks, which can trade outgoing weights.

If two neurons of a layer read the same with proportional weights and biases, a layer that reads
them has the same values when it reads more of the one and so much less of the other. The theorem is
Theorem 6 of docs/theory/architectures.md, the rule of the checker in FORMAT.md §3.14.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256
from typing import NamedTuple

from polyrelu.errors import NetworkError
from polyrelu.exact import AnyMatrix, Polyhedron, SparseMatrix, add, as_sparse
from polyrelu.network import Block, Layer, Network
from polyrelu.proofs.blocks.block_move import BlockMove
from polyrelu.proofs.blocks.moves import can_check_boxes
from polyrelu.proofs.blocks.names import NeuronNames
from polyrelu.proofs.blocks.settings import SETTINGS
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.prices import price_of_layer

__all__ = ["THEOREM", "duplicate_moves"]

#: The name of the theorem in certificates.
THEOREM = "blocks-replacement"


class _Duplicates(NamedTuple):
    """Two neurons of a layer; the row and bias of the second one are `ratio` times the first's."""

    first: int
    second: int
    ratio: Fraction


def duplicate_moves(
    network: Network, budget: Budget, domain: Polyhedron | None = None
) -> Iterator[BlockMove]:
    """Yield networks in which two duplicate neurons have traded outgoing weights.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [2]], [-1, -2]), ([[1, 1]], [0])])
    >>> move = next(duplicate_moves(net, Budget()))
    >>> [str(x) for x in move.other.weight(2).row(0)]
    ['3', '0']
    """
    names = NeuronNames(network)
    try:
        for number in range(1, network.depth):
            entries = sum(
                as_sparse(b.entries).num_nonzeros for b in network.layers[number - 1].blocks
            )
            budget.spend(price_of_layer(entries))
            for pair in _duplicates(network.layers[number - 1]):
                reader = _first_reader(network, number)
                is_affordable = can_check_boxes(network, number - 1, domain, budget)
                if is_affordable and names.is_affordable(reader):
                    yield from _traded(network, number, reader, pair, names)
    except (NetworkError, WorkLimit):  # too long numbers in the other network, or no work left
        return


def _duplicates(layer: Layer) -> Iterator[_Duplicates]:
    """Yield pairs of neurons of a layer whose rows and biases are positive multiples."""
    tables = [as_sparse(block.entries) for block in layer.blocks]
    common = math.lcm(layer.bias.denominator, *(table.denominator for table in tables))
    factors = [common // table.denominator for table in tables]
    factor, biases = common // layer.bias.denominator, layer.bias.integer_rows()
    seen = dict[bytes, tuple[int, int]]()
    for i, rows in enumerate(zip(*(table.rows_of_entries() for table in tables), strict=True)):
        weights = [
            [scale * int(x) for x in numbers]
            for (_, numbers), scale in zip(rows, factors, strict=True)
        ]
        bias = factor * biases[i][0]
        size = math.gcd(bias, *(x for numbers in weights for x in numbers))
        if any(weights):
            primitive = [[x // size for x in numbers] for numbers in weights]
            key = repr((bias // size, [columns for columns, _ in rows], primitive))
            digest = sha256(key.encode()).digest()
            if digest in seen:
                first, own = seen[digest]
                yield _Duplicates(first, i, Fraction(size, own))
            seen[digest] = i, size


def _first_reader(network: Network, number: int) -> int:
    """Return the first layer that reads a layer."""
    return next(
        later
        for later in range(number + 1, network.depth + 1)
        if any(block.source == number for block in network.layers[later - 1].blocks)
    )


def _traded(
    network: Network, number: int, reader: int, pair: _Duplicates, names: NeuronNames
) -> Iterator[BlockMove]:
    """Yield networks in which a neuron of the first reader has traded weights on two neurons."""
    layer = network.layers[reader - 1]
    for amount in SETTINGS.amounts:
        blocks = tuple(
            Block(b.source, _with_trade(b, pair, amount)) if b.source == number else b
            for b in layer.blocks
        )
        changed = Layer(blocks, layer.bias)
        is_zero = any(as_sparse(block.entries).is_zero() for block in blocks[:-1])
        own, other = (names.of_neuron(given, reader, 0) for given in (layer, changed))
        if not is_zero and own != other:
            text = (
                f"neurons {pair.first} and {pair.second} of layer {number} have one row up to "
                "scale, so they can trade outgoing weights"
            )
            yield BlockMove(
                THEOREM,
                {"layer": number},
                {"layer": reader},
                network.replace_layers({reader: changed}),
                text,
            )


def _with_trade(block: Block, pair: _Duplicates, amount: int) -> AnyMatrix:
    """Return the weights with more weight of neuron 0 on the first neuron, for the second one's."""
    p, q = pair.ratio.as_integer_ratio()
    moved = SparseMatrix.from_entries(
        block.shape, [0, 0], [pair.first, pair.second], [amount * p, -amount * q]
    )
    return add(block.entries, moved)
