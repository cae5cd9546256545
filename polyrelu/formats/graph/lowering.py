"""From a graph of operations to layers of neurons.

Every σ in the lowering of an operation (`operations.py`) adds a *group* of neurons. The level of a
group is one more than the highest level among the groups that its affine forms contain, where the
input has level 0; the groups of one level, in the order of the graph, form a layer of the network.
A chain of affine maps and ReLUs becomes a plain stack; branches become blocks on earlier layers,
that is, connections that skip layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError
from polyrelu.exact import (
    AnyMatrix,
    RationalMatrix,
    SparseMatrix,
    as_dense,
    as_sparse,
    multiply,
    num_products,
    num_stored,
)
from polyrelu.formats.graph.operations import (
    MERGED,
    AffineForms,
    Input,
    Linear,
    Operation,
    Relu,
    Take,
)
from polyrelu.formats.graph.values import Graph
from polyrelu.formats.meter import need
from polyrelu.network import Block, Layer, Network
from polyrelu.support.limits import DEPTH_LIMIT

__all__ = ["Lowered", "lower"]

#: Maximum number of neurons of a lowered network.
_NEURON_LIMIT = 3 * 10**6


@dataclass(frozen=True, slots=True)
class Lowered:
    """A network, and each value of the graph as affine forms of its activations.

    Attributes
    ----------
    network
        The network.
    forms
        The affine forms of each node of the graph.
    places
        For each group of neurons, its layer and the number of its first neuron in the layer. Group
        0 is the input, which is layer 0.
    notes
        Which operations were folded or merged.
    """

    network: Network
    forms: tuple[AffineForms, ...]
    places: tuple[tuple[int, int], ...]
    notes: tuple[str, ...]

    def values(self, node: int, activations: Sequence[RationalMatrix]) -> RationalMatrix:
        """Evaluate a node exactly from the activations of the network at several points.

        `activations` holds a[0], a[1], …, each of shape (neurons, points); the result has shape
        (size of the node, points).
        """
        forms, count = self.forms[node], activations[0].ncols
        total = forms.offset @ RationalMatrix.from_integers([[1] * count])
        for group, part in forms.parts.items():
            layer, first = self.places[group]
            rows = activations[layer]
            if (first, part.ncols) != (0, rows.nrows):
                rows = rows.take(rows=range(first, first + part.ncols))
            total = total + as_dense(multiply(part, rows))
        return total


def lower(graph: Graph) -> Lowered:
    """Lower a graph to a network of ReLU layers.

    >>> from polyrelu.formats.graph.operations import Relu
    >>> graph = Graph()
    >>> (x,) = graph.inputs([(1, 2)])
    >>> graph.finish([graph.add(Relu(), [x], (1, 2))])
    >>> str(lower(graph).network.architecture)
    '2-2 (trailing ReLU)'
    """
    groups, forms = NeuronGroups(), list[AffineForms]()
    for node in graph.nodes:
        inputs = [forms[i] for i in node.inputs]
        _ask_for_work(node.operation, inputs)
        forms.append(node.operation.lower(inputs, groups))
    total = next(node.operation.total for node in graph.nodes if isinstance(node.operation, Input))
    network, places = groups.network(total, forms[graph.output])
    return Lowered(network, tuple(forms), places, tuple(dict.fromkeys(groups.notes)))


#: Entries that stand for the place of a part of the forms, whatever its size, and copies of entries
#: that an operation may make.
_ENTRIES_OF_PART, _COPIES = 16, 3
#: How many times faster dense matrices are multiplied than sparse ones.
_DENSE_SPEED = 16
#: Number of bits of two factors from which a product takes longer.
_SHORT_BITS = 256


def _ask_for_work(operation: Operation, inputs: Sequence[AffineForms]) -> None:
    """Ask the meter for the entries and products of lowering an operation (`formats/meter.py`)."""
    need(entries=_ENTRIES_OF_PART * (1 + sum(len(forms.parts) for forms in inputs)))
    if isinstance(operation, Relu):
        return
    if isinstance(operation, Linear):
        (forms,) = inputs
        for part in (*forms.parts.values(), forms.offset):
            _ask_for_product(operation.matrix, part)
        return
    for group in {group for forms in inputs for group in forms.parts}:
        parts = [forms.parts[group] for forms in inputs if group in forms.parts]
        if isinstance(operation, Take):
            need(entries=sum(_num_taken(part, operation.chosen) for part in parts))
        elif all(isinstance(part, SparseMatrix) for part in parts):
            need(entries=_COPIES * sum(map(num_stored, parts)))
        else:
            need(entries=_COPIES * sum(forms.size for forms in inputs) * parts[0].ncols)


def _ask_for_product(left: AnyMatrix, right: AnyMatrix) -> None:
    """Ask the meter for the product of two matrices."""
    pairs = num_products(left, right)
    if not pairs:
        return
    length = 1 + (left.bits + right.bits) // _SHORT_BITS
    is_sparse = [isinstance(part, SparseMatrix) for part in (left, right)]
    size = left.nrows * right.ncols
    need(
        products=length * (pairs if any(is_sparse) else -(-pairs // _DENSE_SPEED)),
        entries=length * (min(size, pairs) if all(is_sparse) else size),
    )


def _num_taken(part: AnyMatrix, chosen: NDArray[np.int64]) -> int:
    """Return the number of stored entries of the chosen rows of a matrix."""
    if isinstance(part, SparseMatrix):
        return int(np.append(np.diff(part.starts), 0)[chosen].sum())
    return len(chosen) * part.ncols


class NeuronGroups:
    """The groups of neurons that arise while a graph is lowered."""

    def __init__(self) -> None:
        self._preactivations: list[AffineForms] = []  # group g has index g - 1
        self._levels = [0]  # by group, the input included
        self._num_neurons = 0
        self.notes: list[str] = []

    def relu(self, forms: AffineForms) -> AffineForms:
        """Return σ(forms), as the activations of a new group of neurons.

        Constant and nonnegative forms need no neurons.
        """
        if forms.nonnegative:
            self.note(f"a ReLU {MERGED}")
            return forms
        if not forms.parts:
            self.note("a ReLU of constants is a constant")
            return AffineForms({}, forms.offset.relu(), nonnegative=True)
        self._num_neurons += forms.size
        if self._num_neurons > _NEURON_LIMIT:
            raise NetworkError(f"more than {_NEURON_LIMIT} neurons")
        self._levels.append(1 + max(self._levels[group] for group in forms.parts))
        if self._levels[-1] > DEPTH_LIMIT:
            raise NetworkError(f"more than {DEPTH_LIMIT} layers")
        preactivation = AffineForms(forms.parts, forms.offset)
        self._preactivations.append(preactivation)
        return AffineForms(
            {len(self._preactivations): SparseMatrix.identity(forms.size)},
            RationalMatrix.zeros(forms.size, 1),
            preactivation,
            True,
        )

    def note(self, text: str) -> None:
        """Keep a note on an operation that was folded or merged."""
        self.notes.append(text)

    def network(
        self, inputs: int, output: AffineForms
    ) -> tuple[Network, tuple[tuple[int, int], ...]]:
        """Assemble the network with this output; return it with the places of the groups.

        The places are as in `Lowered.places`.
        """
        top = max(self._levels)
        members: list[list[int]] = [[] for _ in range(top + 1)]
        for group, level in enumerate(self._levels):
            members[level].append(group)
        sizes = [inputs, *(forms.size for forms in self._preactivations)]
        widths = [sum(sizes[group] for group in groups) for groups in members]
        firsts = _first_neurons(members, sizes)
        assembly = _Assembly(members, self._levels, widths, firsts)
        layers = [
            assembly.layer([self._preactivations[g - 1] for g in members[level]], level)
            for level in range(1, top + 1)
        ]
        last = assembly.layer([output], top + 1)
        places = tuple((self._levels[group], firsts[group]) for group in range(len(self._levels)))
        # If the output is exactly the last layer of activations, the network ends in that ReLU.
        if layers and output.preactivation is not None and _is_identity(last):
            return Network(inputs, tuple(layers), "relu"), places
        return Network(inputs, (*layers, last)), places


def _first_neurons(members: list[list[int]], sizes: list[int]) -> dict[int, int]:
    """Return, for each group, the number of its first neuron in its layer."""
    firsts = {}
    for groups in members:
        first = 0
        for group in groups:
            firsts[group] = first
            first += sizes[group]
    return firsts


@dataclass(frozen=True, slots=True)
class _Assembly:
    """Builds layers from groups of neurons.

    Attributes
    ----------
    members
        The groups of each level, the input being level 0.
    levels
        The level of each group.
    widths
        The number of neurons of each level.
    firsts
        For each group, the number of its first neuron in its layer.
    """

    members: list[list[int]]
    levels: list[int]
    widths: list[int]
    firsts: dict[int, int]

    def layer(self, rows: list[AffineForms], level: int) -> Layer:
        """Build the layer whose pre-activations are the given forms, stacked.

        Zero blocks are left out, except the block on the layer directly before.
        """
        read = {self.levels[group] for forms in rows for group in forms.parts}
        blocks = []
        for source in sorted(read | {level - 1}):
            weight = self._weight(rows, source)
            if source == level - 1 or not weight.is_zero():
                blocks.append(Block(source, weight))
        bias = rows[0].offset
        for forms in rows[1:]:
            bias = bias.over(forms.offset)
        return Layer(tuple(blocks), bias)

    def _weight(self, rows: list[AffineForms], source: int) -> AnyMatrix:
        """Return the weights of the stacked forms on the neurons of level `source`."""
        groups = self.members[source]
        if len(rows) == len(groups) == 1 and groups[0] in rows[0].parts:
            return rows[0].parts[groups[0]]
        height = sum(forms.size for forms in rows)
        placed, top = list[SparseMatrix](), 0
        for forms in rows:
            for group in groups:
                if group in forms.parts:
                    part = self._placed(forms.parts[group], height, top, group, source)
                    need(entries=2 * num_stored(part))
                    placed.append(part)
            top += forms.size
        return SparseMatrix.sum((height, self.widths[source]), placed)

    def _placed(
        self, part: AnyMatrix, height: int, top: int, group: int, source: int
    ) -> SparseMatrix:
        """Return a part of the weights on a level, placed in a matrix of zeros.

        The rows of the part start at `top`; its columns start at the first neuron of the group.
        """
        entries = as_sparse(part)
        return entries.placed((height, self.widths[source]), top, self.firsts[group])


def _is_identity(layer: Layer) -> bool:
    entries = layer.blocks[-1].entries
    if len(layer.blocks) > 1 or not layer.bias.is_zero() or entries.nrows != entries.ncols:
        return False
    return as_sparse(entries).is_identity()
