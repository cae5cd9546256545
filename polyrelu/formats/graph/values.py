"""A network file as a graph of tensor operations: what readers build before layers are formed.

A `Value` is a tensor with the shape that the file gives it; its entries are numbered in row-major
order. The nodes of a `Graph` are in an order in which they can be evaluated, and numbers of the
file stay numpy arrays until an operation needs them as exact numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.formats.graph.operations import Add, Constant, Input, Join, Linear, Operation, Relu
from polyrelu.formats.meter import need
from polyrelu.network import Network
from polyrelu.support.limits import WIDTH_LIMIT

__all__ = ["Graph", "Node", "Value", "graph_of"]


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor in a graph.

    Attributes
    ----------
    node
        Number of the node that computes the tensor.
    shape
        Shape of the tensor.
    """

    node: int
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Node:
    """An operation in a graph.

    Attributes
    ----------
    operation
        The operation.
    inputs
        Numbers of the earlier nodes that the operation reads.
    size
        Number of entries of the result.
    """

    operation: Operation
    inputs: tuple[int, ...]
    size: int


@dataclass(slots=True)
class Graph:
    """Operations in an order in which they can be evaluated.

    Attributes
    ----------
    nodes
        The operations.
    names
        The values that the file names, in the file's order. These are the values that can be
        compared with a runtime, under the names that the runtime uses.
    output
        Number of the node whose value is the network's output.
    """

    nodes: list[Node] = field(default_factory=list)
    names: dict[str, Value] = field(default_factory=dict)
    output: int = -1

    def inputs(self, shapes: Sequence[tuple[int, ...]]) -> list[Value]:
        """Add the network's inputs and return their values.

        The inputs, concatenated in this order, are the input vector of the network.
        """
        sizes = [math.prod(shape) for shape in shapes]
        firsts = [sum(sizes[:i]) for i in range(len(sizes))]
        return [
            self.add(Input(first, size, sum(sizes)), (), shape)
            for first, size, shape in zip(firsts, sizes, shapes, strict=True)
        ]

    def constant(self, column: RationalMatrix, shape: tuple[int, ...]) -> Value:
        """Add a constant, given as a column of its entries, and return its value."""
        return self.add(Constant(column), (), shape)

    def add(self, operation: Operation, inputs: Sequence[Value], shape: tuple[int, ...]) -> Value:
        """Add an operation and return its result, a value of the given shape."""
        size = math.prod(shape)
        if not 1 <= size <= WIDTH_LIMIT:
            raise NetworkError(
                f"a value of shape {list(shape)}; values have 1 to {WIDTH_LIMIT} entries"
            )
        need(entries=2 * size)
        self.nodes.append(Node(operation, tuple(value.node for value in inputs), size))
        return Value(len(self.nodes) - 1, shape)

    def join(self, values: Sequence[Value]) -> Value:
        """Concatenate the entries of several values into one vector."""
        return self.add(Join(), values, (sum(value.size for value in values),))

    def finish(self, outputs: Sequence[Value]) -> None:
        """Set the network's output vector: the outputs, concatenated in this order."""
        self.output = (outputs[0] if len(outputs) == 1 else self.join(outputs)).node


def graph_of(network: Network) -> Graph:
    """Return the graph that computes a network layer by layer: sums of affine maps, then ReLU."""
    graph = Graph()
    activations = graph.inputs([(network.num_inputs,)])
    for number, layer in enumerate(network.layers, 1):
        shape = (layer.width,)
        *skipping, last = layer.blocks
        total = graph.add(Linear(last.entries, layer.bias), [activations[last.source]], shape)
        for block in skipping:
            part = graph.add(Linear(block.entries), [activations[block.source]], shape)
            total = graph.add(Add(), [total, part], shape)
        activations.append(
            graph.add(Relu(), [total], shape) if number <= network.num_hidden_layers else total
        )
    graph.finish(activations[-1:])
    return graph
