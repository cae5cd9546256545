"""Moves of networks of blocks in which one hidden neuron has another row and bias.

Skip connections, max pooling and concatenations make layers that read several layers before them.
A hidden neuron that no later layer reads, or that is dead on a box of all values that it reads, may
have any other row with this property; one that is never negative there may have another bias, if
the biases of later layers make up for it. And σ(t) = t + σ(-t): a neuron may be negated if the
layers that read it read what it reads, too, as in max(a, b) = b + σ(a - b) = a + σ(b - a). The
theorem is Theorem 5 of docs/theory/architectures.md. The checker computes the same boxes and
invariants, as FORMAT.md §3.14 says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError
from polyrelu.exact import (
    Polyhedron,
    RationalMatrix,
    SparseMatrix,
    add,
    as_dense,
    as_sparse,
    multiply,
    take_rows,
)
from polyrelu.network import Block, Layer, Network
from polyrelu.proofs.blocks.block_move import BlockMove
from polyrelu.proofs.blocks.names import NeuronNames
from polyrelu.proofs.refutations.image_box import Interval, box_of_inputs
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.limits import SCALE_BIT_LIMIT, is_affordable
from polyrelu.support.prices import price_of_layer

__all__ = ["THEOREM", "block_moves", "can_check_boxes"]

#: The name of the theorem in certificates.
THEOREM = "blocks-neuron"


def block_moves(
    network: Network, budget: Budget, domain: Polyhedron | None = None
) -> Iterator[BlockMove]:
    """Yield moves of a network until the work of the budget is used up.

    The functions agree on the domain; without one, on R^n.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [2]], [1, -3]), ([[1, 1]], [0])])
    >>> next(block_moves(net, Budget(), Polyhedron.box([0], [1]))).explanation
    'neuron 0 of layer 1 is never negative on the box around the domain'
    """
    names = NeuronNames(network)
    try:
        for move in chain(
            _unused(network, budget), _one_sided(network, budget, domain), _flipped(network, budget)
        ):
            number, i = move.evidence["layer"], move.evidence["neuron"]
            mine, others = (
                names.of_neuron(net.layers[number - 1], number, i) for net in (network, move.other)
            )
            if mine != others:
                yield move
    except (NetworkError, WorkLimit):  # too long numbers in the other network, or no work left
        return


def _unused(network: Network, budget: Budget) -> Iterator[BlockMove]:
    """Yield a move for each hidden neuron that no later layer reads."""
    budget.spend(price_of_layer(sum(map(_num_nonzeros, network.layers))))
    for number in range(1, network.depth):
        used = [_is_read(network, number, later) for later in range(number + 1, network.depth + 1)]
        for i in np.flatnonzero(~np.logical_or.reduce(used)).tolist():
            if other := _without_weights(network, number, i):
                text = f"neuron {i} of layer {number} is unused, as its outgoing weights are 0"
                yield _move(number, i, "unused", other, text)


def _one_sided(network: Network, budget: Budget, domain: Polyhedron | None) -> Iterator[BlockMove]:
    """Yield moves of neurons that have one sign on the boxes of all values that they read."""
    boxes = [Ends.of(box_of_inputs(domain, network.num_inputs))]
    for number in range(1, network.depth):
        budget.spend(price_of_layer(_num_nonzeros(network.layers[number - 1])))
        if not _is_affordable(network, number, boxes):
            return
        ends = _preactivations(network, number, boxes)
        place = "on the box of all values that the layers before can take"
        if number == 1:
            place = "on R^n" if domain is None else "on the box around the domain"
        for i, (low, high) in enumerate(zip(ends.low, ends.high, strict=True)):
            name = f"neuron {i} of layer {number} is"
            if high is not None and high <= 0:
                if other := _without_weights(network, number, i):
                    yield _move(number, i, "dead", other, f"{name} dead {place}")
            elif low is not None and low >= 0:
                least = Fraction(low, ends.denominator)
                other = _with_shifted_bias(network, number, i, least)
                yield _move(number, i, "linear", other, f"{name} never negative {place}")
        boxes.append(ends.positive_part())


def _move(number: int, i: int, case: str, other: Network, text: str) -> BlockMove:
    return BlockMove(THEOREM, {"layer": number, "neuron": i, "case": case}, {}, other, text)


def can_check_boxes(
    network: Network, depth: int, domain: Polyhedron | None, budget: Budget
) -> bool:
    """Return whether the checker can compute the boxes of a number of layers, and of the inputs.

    >>> from polyrelu.network import from_arrays
    >>> can_check_boxes(from_arrays([([[1]], [0]), ([[1]], [0])]), 1, None, Budget())
    True
    """
    boxes = [Ends.of(box_of_inputs(domain, network.num_inputs))]
    for number in range(1, depth + 1):
        budget.spend(price_of_layer(_num_nonzeros(network.layers[number - 1])))
        if not _is_affordable(network, number, boxes):
            return False
        boxes.append(_preactivations(network, number, boxes).positive_part())
    return _is_affordable(network, depth + 1, boxes)


def _num_nonzeros(layer: Layer) -> int:
    """Return the number of nonzero weights of a layer."""
    return sum(as_sparse(block.entries).num_nonzeros for block in layer.blocks)


def _flipped(network: Network, budget: Budget) -> Iterator[BlockMove]:
    """Yield moves of neurons that are negated."""
    bits = 2 * max(layer.bits for layer in network.layers) + 8
    if not is_affordable(4 * network.num_parameters, bits):
        return
    for number in range(1, network.depth):
        budget.spend(price_of_layer(sum(map(_num_nonzeros, network.layers))))
        for i in _candidates(network, number):
            budget.spend(price_of_layer(_num_nonzeros(network.layers[number - 1])))
            if other := _with_negated_row(network, number, i):
                text = (
                    f"neuron {i} of layer {number} can be negated, since max(t, 0) = t + max(-t, 0)"
                    " and what reads it also reads what it reads"
                )
                yield _move(number, i, "flip", other, text)


def _candidates(network: Network, number: int) -> list[int]:
    """Return the neurons for which each layer that reads them reads what they read."""
    blocks = network.layers[number - 1].blocks
    reads = {b.source: np.diff(as_sparse(b.entries).starts) > 0 for b in blocks}
    good = np.ones(network.widths[number], dtype=bool)
    for later in range(number + 1, network.depth + 1):
        is_read = _is_read(network, number, later)
        for source in reads.keys() - {b.source for b in network.layers[later - 1].blocks}:
            good &= ~(is_read & reads[source])
    found: list[int] = np.flatnonzero(good).tolist()
    return found


def _is_read(network: Network, number: int, later: int) -> NDArray[np.bool_]:
    """Return for each neuron of a layer whether a later layer reads it."""
    found = np.zeros(network.widths[number], dtype=bool)
    for block in network.layers[later - 1].blocks:
        if block.source == number:
            found[as_sparse(block.entries).columns] = True
    return found


# -- intervals -----------------------------------------------------------------------------------


class Ends(NamedTuple):
    """Lower and upper ends of intervals over one denominator; None is infinite."""

    low: list[int | None]
    high: list[int | None]
    denominator: int

    @classmethod
    def of(cls, box: Sequence[Interval]) -> Ends:
        """Return the ends of a box."""
        ends = [end for interval in box for end in interval if end is not None]
        scale = math.lcm(*(end.denominator for end in ends))
        low, high = (
            [None if end is None else int(end * scale) for end in side]
            for side in zip(*box, strict=True)
        )
        return cls(low, high, scale)

    def positive_part(self) -> Ends:
        """Return the ends of the activations."""
        low: list[int | None] = [max(end or 0, 0) for end in self.low]
        high = [None if end is None else max(end, 0) for end in self.high]
        return Ends(low, high, self.denominator)

    @property
    def bits(self) -> int:
        """The bits of the longest number."""
        ends = [abs(end) for end in (*self.low, *self.high) if end is not None]
        return max([self.denominator, *ends]).bit_length()


def _common(network: Network, number: int, boxes: Sequence[Ends]) -> int:
    """Return a common denominator of the boxes that a layer reads."""
    blocks = network.layers[number - 1].blocks
    return math.lcm(*(boxes[block.source].denominator for block in blocks))


def _is_affordable(network: Network, number: int, boxes: Sequence[Ends]) -> bool:
    """Return whether the checker can compute the box of a layer, and compare two networks.

    It reads all weights, also those that are 0.
    """
    layer = network.layers[number - 1]
    bits = _common(network, number, boxes).bit_length() + layer.bits
    bits += max(boxes[block.source].bits for block in layer.blocks)
    longest = max(bits, *(layer.bits for layer in network.layers))
    size = 2 * network.num_parameters
    size += 6 * sum(layer.width * (3 + block.shape[1]) for block in layer.blocks)
    return bits <= SCALE_BIT_LIMIT and is_affordable(size, longest + 8)


def _preactivations(network: Network, number: int, boxes: Sequence[Ends]) -> Ends:
    """Return intervals of the preactivations of a layer, over one denominator."""
    layer = network.layers[number - 1]
    common = _common(network, number, boxes)
    scale = math.lcm(
        layer.bias.denominator, *(as_sparse(b.entries).denominator for b in layer.blocks)
    )
    factor = common * scale // layer.bias.denominator
    bias = [row[0] * factor for row in layer.bias.integer_rows()]
    low, high = list[int | None](bias), list[int | None](bias)
    for block in layer.blocks:
        entries, box = as_sparse(block.entries), boxes[block.source]
        factor = scale // entries.denominator * (common // box.denominator)
        for i, (columns, numerators) in enumerate(entries.rows_of_entries()):
            low[i] = _plus(low[i], factor, _sum(columns, numerators, box.low, box.high))
            high[i] = _plus(high[i], factor, _sum(columns, numerators, box.high, box.low))
    return Ends(low, high, common * scale)


def _plus(total: int | None, factor: int, end: int | None) -> int | None:
    return None if total is None or end is None else total + factor * end


def _sum(
    columns: list[int], numerators: list[int], near: list[int | None], far: list[int | None]
) -> int | None:
    """Return the sum of w_k u_k, u_k an entry of `near` where w_k > 0 and of `far` elsewhere."""
    total = 0
    for k, w in zip(columns, numerators, strict=True):
        end = near[k] if w > 0 else far[k]
        if end is None:
            return None
        total += int(w) * end
    return total


# -- other networks ------------------------------------------------------------------------------


def _without_weights(network: Network, number: int, i: int) -> Network | None:
    """Return the network with the row 0 and the bias -1 or 0 in the place of a neuron's.

    It is None if a block would become 0, which no file has.
    """
    layer = network.layers[number - 1]
    factors = [int(k != i) for k in range(layer.width)]
    blocks = tuple(Block(b.source, b.entries.scale_rows(factors)) for b in layer.blocks)
    if any(as_sparse(block.entries).is_zero() for block in blocks[:-1]):
        return None
    was_zero = all(
        as_sparse(old.entries).num_nonzeros == as_sparse(new.entries).num_nonzeros
        for old, new in zip(layer.blocks, blocks, strict=True)
    )
    own = layer.bias[i, 0]
    bias = _with_entry(layer.bias, i, Fraction(0 if was_zero and own < 0 else -1))
    return network.replace_layers({number: Layer(blocks, bias)})


def _with_shifted_bias(network: Network, number: int, i: int, least: Fraction) -> Network:
    """Return the network with another bias of a neuron whose preactivation is at least `least`.

    It is larger by 1, or 0 where the neuron is a positive constant.
    """
    layer = network.layers[number - 1]
    own = layer.bias[i, 0]
    shift = -own if 0 < own <= least else Fraction(1)
    changed = {number: Layer(layer.blocks, _with_entry(layer.bias, i, own + shift))}
    unit = RationalMatrix.column([int(k == i) for k in range(layer.width)])
    for later, reader in enumerate(network.layers[number:], number + 1):
        for block in reader.blocks:
            if block.source == number:
                bias = reader.bias - (block @ unit).scale(shift)
                changed[later] = Layer(reader.blocks, bias)
    return network.replace_layers(changed)


def _with_negated_row(network: Network, number: int, i: int) -> Network | None:
    """Return the network with a neuron that is negated; None if a layer that reads it cannot."""
    layer = network.layers[number - 1]
    row = {b.source: _row(b, i) for b in layer.blocks if not _row(b, i).is_zero()}
    signs = [1 - 2 * (k == i) for k in range(layer.width)]
    negated = tuple(Block(b.source, b.entries.scale_rows(signs)) for b in layer.blocks)
    own = layer.bias[i, 0]
    changed = {number: Layer(negated, _with_entry(layer.bias, i, -own))}
    for later, reader in enumerate(network.layers[number:], number + 1):
        column = next((_column(b, i) for b in reader.blocks if b.source == number), None)
        if column is None or column.is_zero():
            continue
        blocks = tuple(
            Block(b.source, add(b.entries, multiply(column, row[b.source])))
            if b.source in row
            else b
            for b in reader.blocks
        )
        is_complete = row.keys() <= {block.source for block in blocks}
        if not is_complete or any(as_sparse(b.entries).is_zero() for b in blocks[:-1]):
            return None
        changed[later] = Layer(blocks, reader.bias + as_dense(column).scale(own))
    return network.replace_layers(changed)


def _row(block: Block, i: int) -> SparseMatrix:
    """Return a row of a block."""
    return as_sparse(take_rows(block.entries, np.array([i])))


def _column(block: Block, i: int) -> SparseMatrix:
    """Return a column of a block."""
    unit = SparseMatrix.selection(np.array([i]), block.shape[1]).transpose()
    return as_sparse(block.entries).times_sparse(unit)


def _with_entry(column: RationalMatrix, i: int, entry: Fraction) -> RationalMatrix:
    """Return a column with another entry."""
    entries = list(column.entries())
    entries[i] = entry
    return RationalMatrix.column(entries)
