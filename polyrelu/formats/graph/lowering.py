"""From a graph of operations to layers of neurons.

Every ReLU of the graph makes a *group* of neurons; its level is one more than the highest level it reads. The groups of
a level, in the order of the graph, are a layer of the network. A chain of affine maps and ReLUs becomes the plain stack
that it is; branches become blocks on earlier layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polyrelu.errors import NetworkError
from polyrelu.exact import (
    AnyMatrix,
    RationalMatrix,
    SparseMatrix,
    add,
    as_dense,
    as_sparse,
    multiply,
)
from polyrelu.formats.graph.operations import Forms, Input
from polyrelu.formats.graph.values import Graph
from polyrelu.network import Block, Layer, Network

__all__ = ["Lowered", "lower"]

_NEURON_LIMIT = 3 * 10**6


@dataclass(frozen=True, slots=True)
class Lowered:
    """A network, and each value of the graph as affine forms of its activations.

    Attributes
    ----------
    network : the network.
    forms : for each node of the graph.
    places : for each group of neurons (0: the input) its layer and its first neuron there.
    notes : what was merged.
    """

    network: Network
    forms: tuple[Forms, ...]
    places: tuple[tuple[int, int], ...]
    notes: tuple[str, ...]

    def values(self, node: int, activations: Sequence[RationalMatrix]) -> RationalMatrix:
        """The exact value of a node, shape (size, points), from a[0], a[1], … of the network at some points."""
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
    """The network of a graph.

    >>> from polyrelu.formats.graph.operations import Relu
    >>> graph = Graph()
    >>> (x,) = graph.inputs([(1, 2)])
    >>> graph.finish([graph.add(Relu(), [x], (1, 2))])
    >>> str(lower(graph).network.architecture)
    '2-2 (trailing ReLU)'
    """
    layers, forms = Layers(), list[Forms]()
    for node in graph.nodes:
        forms.append(node.operation.lower([forms[i] for i in node.inputs], layers))
    total = next(node.operation.total for node in graph.nodes if isinstance(node.operation, Input))
    network, places = layers.network(total, forms[graph.output])
    return Lowered(network, tuple(forms), places, tuple(dict.fromkeys(layers.notes)))


class Layers:
    """Groups of neurons, gathered while a graph is lowered."""

    def __init__(self) -> None:
        self._groups: list[Forms] = []  # group g is _groups[g - 1]
        self._levels = [0]
        self.notes: list[str] = []

    def relu(self, forms: Forms) -> Forms:
        """σ(forms): a new group of neurons; none for constants and for what is σ of something already."""
        if forms.nonnegative:
            self.notes.append(
                "a ReLU of values that the operation before leaves nonnegative was merged with it"
            )
            return forms
        if not forms.parts:
            return Forms({}, forms.offset.relu(), nonnegative=True)
        if sum(group.size for group in self._groups) + forms.size > _NEURON_LIMIT:
            raise NetworkError(f"more than {_NEURON_LIMIT} neurons")
        self._levels.append(1 + max(self._levels[group] for group in forms.parts))
        self._groups.append(Forms(forms.parts, forms.offset))
        own = {len(self._groups): SparseMatrix.identity(forms.size)}
        return Forms(
            dict(own), RationalMatrix.zeros(forms.size, 1), Forms(forms.parts, forms.offset), True
        )

    def network(self, inputs: int, output: Forms) -> tuple[Network, tuple[tuple[int, int], ...]]:
        """The network with this output, and the place of each group."""
        top = max(self._levels)
        members: list[list[int]] = [[] for _ in range(top + 1)]
        for group, level in enumerate(self._levels):
            members[level].append(group)
        sizes = [inputs, *(forms.size for forms in self._groups)]
        widths, firsts = (
            [sum(sizes[group] for group in groups) for groups in members],
            _firsts(members, sizes),
        )
        assembly = _Assembly(members, widths, firsts)
        layers = [
            assembly.layer([self._groups[g - 1] for g in members[level]], level)
            for level in range(1, top + 1)
        ]
        last = assembly.layer([output], top + 1)
        places = tuple((self._levels[group], firsts[group]) for group in range(len(self._levels)))
        if (
            layers and output.before is not None and _is_identity(last)
        ):  # the activations themselves
            return Network(inputs, tuple(layers), "relu"), places
        return Network(inputs, (*layers, last)), places


def _firsts(members: list[list[int]], sizes: list[int]) -> dict[int, int]:
    """For each group its first neuron in the layer."""
    firsts = {}
    for groups in members:
        first = 0
        for group in groups:
            firsts[group] = first
            first += sizes[group]
    return firsts


@dataclass(frozen=True, slots=True)
class _Assembly:
    """Groups side by side: by level the groups, the widths, and where each group starts."""

    members: list[list[int]]
    widths: list[int]
    firsts: dict[int, int]

    def layer(self, rows: list[Forms], level: int) -> Layer:
        """The layer of the given rows; zero blocks are left out except the one from the layer before."""
        read = {group for forms in rows for group in forms.parts}
        blocks = []
        for source in range(level):
            if source < level - 1 and read.isdisjoint(self.members[source]):
                continue
            weight = self._weight(rows, source)
            if source == level - 1 or not weight.is_zero():
                blocks.append(Block(source, weight))
        bias = rows[0].offset
        for forms in rows[1:]:
            bias = bias.over(forms.offset)
        return Layer(tuple(blocks), bias)

    def _weight(self, rows: list[Forms], source: int) -> AnyMatrix:
        groups = self.members[source]
        if len(rows) == len(groups) == 1 and groups[0] in rows[0].parts:
            return rows[0].parts[groups[0]]
        height = sum(forms.size for forms in rows)
        total: AnyMatrix = SparseMatrix.from_entries((height, self.widths[source]), [], [], [])
        top = 0
        for forms in rows:
            for group in groups:
                if group in forms.parts:
                    total = add(total, self._placed(forms.parts[group], height, top, group, source))
            top += forms.size
        return total

    def _placed(
        self, part: AnyMatrix, height: int, top: int, group: int, source: int
    ) -> SparseMatrix:
        entries = as_sparse(part)
        return SparseMatrix.from_entries(
            (height, self.widths[source]),
            entries.row_of_entries() + top,
            entries.columns + self.firsts[group],
            entries.numerators,
            entries.denominator,
        )


def _is_identity(layer: Layer) -> bool:
    entries = layer.blocks[-1].entries
    if len(layer.blocks) > 1 or not layer.bias.is_zero() or entries.nrows != entries.ncols:
        return False
    return as_sparse(entries).is_identity()
