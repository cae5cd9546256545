"""From the outputs of a graph back to its inputs: derivatives, and which entries matter.

Both passes go through the operations in reverse order, with an array of shape (entries, vectors)
for each value. The derivative follows the branches that were chosen, in floats; it has a vector for
each output and point. The constant b of an affine map W x + b is the sum of what reaches the
offsets of the operations, so that it depends on the branches only, and not on the point. The other
pass follows every branch that is not certainly ignored, with one vector for each point, and asks
only whether the outputs depend on an entry; its positive numbers are rounded upwards
(`FloatMatrix`), so that an entry that matters is never lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polyrelu.attributes.choices import BRANCHING, Choices, GraphFloats
from polyrelu.exact import nearest_vector
from polyrelu.formats.graph.operations import (
    Add,
    Clip,
    Constant,
    Input,
    Join,
    LeakyRelu,
    Linear,
    Maximum,
    Minimum,
    Take,
)
from polyrelu.support.typing import Floats, Indices, Mask

__all__ = ["certified_points", "dual_points"]


def dual_points(floats: GraphFloats, choices: Choices) -> Floats:
    """Return the rows [W | b] of all outputs by the branches, shape (points, n_L, n_0 + 1)."""
    outputs, points = choices.num_outputs, choices.num_points
    seed = np.repeat(np.eye(outputs), points, axis=1)
    derivatives = _Derivatives(floats, choices)
    found = np.vstack([derivatives.inputs_of(seed), derivatives.constants])
    return np.ascontiguousarray(found.T.reshape(outputs, points, -1).swapaxes(0, 1))


def certified_points(floats: GraphFloats, choices: Choices) -> Mask:
    """Return at which points each entry that matters has a certain branch, shape (points,)."""
    known = choices.finite.copy()
    if all(certain.all() for certain in choices.certain.values()):
        return known
    reach = _Reach(floats, choices)
    reach.inputs_of(np.ones((choices.num_outputs, choices.num_points)))
    for number, certain in choices.certain.items():
        if number in reach.relevant:
            known &= (certain | ~reach.relevant[number]).all(axis=0)
    return known


class _Derivatives:
    """The pass that computes derivatives."""

    def __init__(self, floats: GraphFloats, choices: Choices) -> None:
        self.floats, self.choices = floats, choices
        #: What reaches the offsets of the operations, shape (vectors,).
        self.constants: Floats = np.zeros(0)

    def inputs_of(self, seed: Floats) -> Floats:
        """Return what reaches the inputs, shape (n_0, vectors), from a seed at the outputs."""
        graph = self.floats.graph
        arriving = {graph.output: seed}
        self.constants = np.zeros(seed.shape[1])
        result: Floats | None = None
        for number in range(graph.output, -1, -1):
            values = arriving.pop(number, None)
            if values is None:
                continue
            node = graph.nodes[number]
            self.add_constants(number, values)
            if isinstance(node.operation, Input):
                first, size, total = (
                    node.operation.first,
                    node.operation.size,
                    node.operation.total,
                )
                result = np.zeros((total, seed.shape[1])) if result is None else result
                result[first : first + size] += values
                continue
            for source, part in zip(node.inputs, self.through(number, values), strict=True):
                arriving[source] = arriving[source] + part if source in arriving else part
        inputs = next(n.operation.total for n in graph.nodes if isinstance(n.operation, Input))
        return np.zeros((inputs, seed.shape[1])) if result is None else result

    def through(self, number: int, values: Floats) -> list[Floats]:
        """Return what reaches each input of a node."""
        node = self.floats.graph.nodes[number]
        if isinstance(node.operation, BRANCHING):
            return self.branch(number, values)
        sizes = [self.floats.graph.nodes[source].size for source in node.inputs]
        match node.operation:
            case Linear():
                return [self.linear(number, values)]
            case Take(chosen):
                return [_scattered(chosen, values, sizes[0])]
            case Join():
                return np.split(values, np.cumsum(sizes)[:-1])
            case Add(sign):
                return [values, self.signed(values, sign)]
        return []

    def add_constants(self, number: int, values: Floats) -> None:
        """Add what reaches the offset of a node."""
        operation = self.floats.graph.nodes[number].operation
        if isinstance(operation, Constant):
            self.constants += operation.column.to_floats()[:, 0] @ values
        elif isinstance(operation, Linear) and operation.offset is not None:
            self.constants += operation.offset.to_floats()[:, 0] @ values
        elif isinstance(operation, Clip):
            limits = self.choices.limits[number][:, None]
            split = values.reshape(len(values), -1, limits.shape[2])
            self.constants += (limits * split).sum(axis=0).ravel()

    def linear(self, number: int, values: Floats) -> Floats:
        """Return the product with the transpose of a matrix."""
        return self.floats.transposes[number].products(values, values[:, :0])[0]

    def signed(self, values: Floats, sign: int) -> Floats:
        """Return what reaches the second input of a sum or difference."""
        return values if sign > 0 else -values

    def branch(self, number: int, values: Floats) -> list[Floats]:
        """Return what reaches the inputs of an operation with branches."""
        operation = self.floats.graph.nodes[number].operation
        active = self.choices.active[number]
        points = active.shape[1]
        split = values.reshape(len(values), -1, points)
        first: Any = np.where(active[:, None], split, 0.0)
        if isinstance(operation, LeakyRelu):
            slopes = _slopes(operation)
            first = np.where(active[:, None], split, slopes[:, None, None] * split)
        parts = [first]
        if isinstance(operation, Maximum | Minimum):
            parts.append(split - first)
        return [part.reshape(values.shape) for part in parts]


class _Reach(_Derivatives):
    """The pass that finds the entries on which the outputs depend; values are 0 or 1."""

    def __init__(self, floats: GraphFloats, choices: Choices) -> None:
        super().__init__(floats, choices)
        #: For each node with branches whether its entries matter, shape (entries, points).
        self.relevant: dict[int, Mask] = {}

    def add_constants(self, number: int, values: Floats) -> None:
        """Leave out the offsets."""

    def linear(self, number: int, values: Floats) -> Floats:
        """Return which entries the sums read."""
        reached = self.floats.transposes[number].products(values[:, :0], values)[1]
        return np.where(reached == 0, 0.0, 1.0)  # NaN, of a weight beyond the floats, matters

    def signed(self, values: Floats, sign: int) -> Floats:
        """Return what reaches the second input of a sum or difference."""
        return values

    def branch(self, number: int, values: Floats) -> list[Floats]:
        """Return what may reach the inputs of an operation with branches."""
        operation = self.floats.graph.nodes[number].operation
        active, certain = self.choices.active[number], self.choices.certain[number]
        self.relevant[number] = values > 0
        if isinstance(operation, LeakyRelu):
            return [values]
        first = np.where(certain & ~active, 0.0, values)
        if isinstance(operation, Maximum | Minimum):
            return [first, np.where(certain & active, 0.0, values)]
        return [first]


def _slopes(operation: LeakyRelu) -> Floats:
    """Return the slopes as floats; few of them are distinct."""
    distinct = list(dict.fromkeys(operation.slopes))
    known = dict(zip(distinct, nearest_vector(distinct).tolist(), strict=True))
    return np.array([known[slope] for slope in operation.slopes])


def _scattered(chosen: Indices, values: Floats, size: int) -> Floats:
    """Return the sums of the rows of values by the entry that each was taken from."""
    result = np.zeros((size, values.shape[1]))
    present = np.flatnonzero(chosen >= 0)
    places = chosen[present]
    if len(np.unique(places)) == len(places):
        result[places] = values[present]
    else:
        np.add.at(result, places, values[present])
    return result
