"""A network file as a graph of operations: what readers build, before neurons are put into layers.

Values are tensors with the shapes the file gives them; entries count in row-major order. Numbers of the file stay numpy
arrays until an operation needs them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.formats.graph.operations import Add, Constant, Input, Join, Linear, Operation, Relu
from polyrelu.network import Network
from polyrelu.support.limits import WIDTH_LIMIT

__all__ = ["Graph", "Node", "Value", "graph_of"]


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor in a graph: the node that makes it, and its shape."""

    node: int
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Node:
    """An operation on earlier nodes, by number."""

    operation: Operation
    inputs: tuple[int, ...]
    size: int


@dataclass(slots=True)
class Graph:
    """Operations in an order in which they can be done.

    Attributes
    ----------
    nodes : the operations.
    names : the runtime's name of a node's value, in the file's order: what can be compared.
    output : the node whose value is the network's output.
    """

    nodes: list[Node] = field(default_factory=list)
    names: dict[str, Value] = field(default_factory=dict)
    output: int = -1

    def inputs(self, shapes: Sequence[tuple[int, ...]]) -> list[Value]:
        """Add the network's inputs, which together are one vector, in this order; their values."""
        sizes = [math.prod(shape) for shape in shapes]
        firsts = [sum(sizes[:i]) for i in range(len(sizes))]
        return [
            self.add(Input(first, size, sum(sizes)), (), shape)
            for first, size, shape in zip(firsts, sizes, shapes, strict=True)
        ]

    def constant(self, column: RationalMatrix, shape: tuple[int, ...]) -> Value:
        """A constant as a value."""
        return self.add(Constant(column), (), shape)

    def add(self, operation: Operation, inputs: Sequence[Value], shape: tuple[int, ...]) -> Value:
        """The value of an operation."""
        size = math.prod(shape)
        if not 1 <= size <= WIDTH_LIMIT:
            raise NetworkError(
                f"a value of shape {list(shape)}; values have 1 to {WIDTH_LIMIT} entries"
            )
        self.nodes.append(Node(operation, tuple(value.node for value in inputs), size))
        return Value(len(self.nodes) - 1, shape)

    def join(self, values: Sequence[Value]) -> Value:
        """The entries of some values, one after the other."""
        return self.add(Join(), values, (sum(value.size for value in values),))

    def finish(self, outputs: Sequence[Value]) -> None:
        """Set the network's outputs, which together are one vector, in this order."""
        self.output = (outputs[0] if len(outputs) == 1 else self.join(outputs)).node


def graph_of(network: Network) -> Graph:
    """The operations of a network: in each layer a sum of affine maps, then ReLU."""
    graph = Graph()
    activations = graph.inputs([(network.inputs,)])
    for number, layer in enumerate(network.layers, 1):
        shape = (layer.width,)
        *skipping, last = layer.blocks
        total = graph.add(Linear(last.entries, layer.bias), [activations[last.source]], shape)
        for block in skipping:
            part = graph.add(Linear(block.entries), [activations[block.source]], shape)
            total = graph.add(Add(), [total, part], shape)
        activations.append(
            graph.add(Relu(), [total], shape) if number <= network.hidden_layers else total
        )
    graph.finish(activations[-1:])
    return graph
