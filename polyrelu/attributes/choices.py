"""Which branch every piecewise linear operation of a graph takes at points, with a proof.

At a point, each entry of a ReLU, a maximum, a minimum, a leaky ReLU or a clip takes one of its
branches. `float_error.ranges_at` encloses all exact values of a graph; a branch is *certain* if the
enclosures show a strict inequality, which then holds in a neighbourhood of the point, since all
values are continuous.

Images have constant parts, and so maxima of equal numbers are common. Two rules show that such a
tie does no harm:

* an entry *vanishes* if it is 0 in a neighbourhood of the point: a certainly inactive ReLU, a sum
  of vanishing entries without a constant, a maximum of vanishing entries, and so on. For a ReLU of
  a vanishing entry both branches are right;
* an entry is *irrelevant* if the outputs do not depend on it near the point: every path from it to
  an output goes through an operation whose certain branch ignores it.

So the network is affine around the point, with the affine map that any choice of the other branches
gives, if every relevant entry has a certain branch or vanishes (*certified* point).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from polyrelu.exact import as_float
from polyrelu.formats.graph.enclosures import FloatMatrix, floats_above, floats_below
from polyrelu.formats.graph.float_error import Range, float_arithmetic, ranges_at
from polyrelu.formats.graph.operations import (
    Add,
    Clip,
    Constant,
    Join,
    LeakyRelu,
    Linear,
    Maximum,
    Minimum,
    Relu,
    Take,
)
from polyrelu.formats.graph.values import Graph
from polyrelu.support.typing import Floats, Mask

__all__ = ["BRANCHING", "Choices", "GraphFloats", "choices_at"]

#: The operations that have branches.
BRANCHING = (Relu, LeakyRelu, Maximum, Minimum, Clip)


class GraphFloats:
    """A graph with the matrices of its affine maps in floats, and their transposes.

    Attributes
    ----------
    graph
        The graph.
    matrices, transposes
        The matrices of the nodes that are affine maps, by the numbers of the nodes.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        linear = {
            number: node.operation.matrix
            for number, node in enumerate(graph.nodes)
            if isinstance(node.operation, Linear)
        }
        self.matrices = {number: FloatMatrix(matrix) for number, matrix in linear.items()}
        self.transposes = {
            number: FloatMatrix(matrix.transpose()) for number, matrix in linear.items()
        }

    @property
    def num_entries(self) -> int:
        """The number of entries of all values together."""
        return sum(node.size for node in self.graph.nodes)


@dataclass(frozen=True, slots=True)
class Choices:
    """The branches of all operations of a graph at points, arrays of shape (entries, points).

    Attributes
    ----------
    active
        For each node with branches whether the entries take the first one: the ReLU is active, the
        first value is the maximum, the number is within the limits of a clip.
    certain
        Whether that branch is right in a neighbourhood of the point, or makes no difference.
    limits
        For each clip the limit that an entry takes, 0 where it is within the limits.
    finite
        Whether no number on the way to the outputs exceeds the floats, shape (points,).
    num_outputs, num_points
        The numbers of outputs and points.
    """

    active: dict[int, Mask]
    certain: dict[int, Mask]
    limits: dict[int, Floats]
    finite: Mask
    num_outputs: int
    num_points: int


def choices_at(floats: GraphFloats, points: Floats) -> Choices:
    """Return the branches at points, the columns of an array of floats."""
    graph = floats.graph
    ranges = ranges_at(graph, points, float_arithmetic("float64"))
    active, certain, limits = dict[int, Mask](), dict[int, Mask](), dict[int, Floats]()
    for number, node in enumerate(graph.nodes):
        if isinstance(node.operation, BRANCHING):
            inputs = [ranges[i] for i in node.inputs]
            active[number], certain[number] = _branch(node.operation, inputs)
            if isinstance(node.operation, Clip):
                limits[number] = _limits(node.operation, inputs[0], active[number])
    if not all(known.all() for known in certain.values()):
        _add_vanishing(floats, active, certain, points.shape[1])
    output = ranges[graph.output]
    finite: Mask = np.asarray(np.isfinite(output.low + output.high).all(axis=0))
    return Choices(active, certain, limits, finite, len(output.low), points.shape[1])


def _branch(operation: Any, inputs: list[Range]) -> tuple[Mask, Mask]:
    """Return the likely branch of each entry, and whether it is certain."""
    x = inputs[0]
    match operation:
        case Maximum():
            return _is_larger(x, inputs[1])
        case Minimum():
            return _is_larger(inputs[1], x)
        case Clip(low, high):
            everywhere = np.ones(x.low.shape, dtype=bool)
            beyond, known = ~everywhere, everywhere
            for limit, side in ((low, _below), (high, _above)):
                if limit is not None:
                    outside, is_known = side(x, limit)
                    beyond, known = beyond | outside, known & is_known
            return ~beyond, known
    return _above(x, Fraction())


def _limits(operation: Clip, x: Range, inside: Mask) -> Floats:
    """Return the limits that the entries beyond the limits of a clip take."""
    low, high = (
        end if limit is None else as_float(limit)
        for limit, end in ((operation.low, -np.inf), (operation.high, np.inf))
    )
    with np.errstate(invalid="ignore"):
        return np.where(inside, 0.0, np.minimum(np.maximum(x.low / 2 + x.high / 2, low), high))


def _is_larger(x: Range, y: Range) -> tuple[Mask, Mask]:
    """Return where x > y is likely, and where that, or its contrary, is certain."""
    with np.errstate(invalid="ignore"):
        is_larger = x.low / 2 + x.high / 2 > y.low / 2 + y.high / 2
    return is_larger, (x.low > y.high) | (x.high < y.low)


def _above(x: Range, limit: Fraction) -> tuple[Mask, Mask]:
    """Return where x is likely to exceed a limit, and where that, or its contrary, is certain."""
    return _is_larger(x, _around(limit))


def _below(x: Range, limit: Fraction) -> tuple[Mask, Mask]:
    """Return where x is likely to be below a limit, and where that, or the contrary, is certain."""
    return _is_larger(_around(limit), x)


def _around(limit: Fraction) -> Range:
    """Return a range of floats around a number."""
    if not limit:
        return Range(*np.zeros((3, 1, 1)))
    low, high = floats_below([limit])[:, None], floats_above([limit])[:, None]
    return Range(low, high, np.zeros((1, 1)))


def _add_vanishing(
    floats: GraphFloats, active: dict[int, Mask], certain: dict[int, Mask], count: int
) -> None:
    """Mark branches as certain where all values that they choose from vanish."""
    vanishing = list[Mask]()
    for number, node in enumerate(floats.graph.nodes):
        inputs = [vanishing[i] for i in node.inputs]
        is_zero = _vanishes(floats, number, inputs, count)
        if isinstance(node.operation, Relu | LeakyRelu | Maximum | Minimum):
            both = np.logical_and.reduce(inputs)
            certain[number] |= both
            chosen = _chosen_vanishes(node.operation, inputs, active[number])
            is_zero = both | (certain[number] & chosen)
        vanishing.append(is_zero)


def _chosen_vanishes(operation: Any, inputs: list[Mask], active: Mask) -> Mask:
    """Return where the value of the branch that is taken vanishes."""
    match operation:
        case Relu():
            return ~active | inputs[0]
        case LeakyRelu():
            return inputs[0]
    return np.where(active, inputs[0], inputs[1])


def _vanishes(floats: GraphFloats, number: int, inputs: list[Mask], count: int) -> Mask:
    """Return where an operation without branches gives 0 around the points."""
    node = floats.graph.nodes[number]
    match node.operation:
        case Constant(column):
            return np.repeat(column.signs() == 0, count, axis=1)
        case Linear(_, offset):
            present = np.where(inputs[0], 0.0, 1.0)
            reach = floats.matrices[number].products(present[:, :0], present)[1]
            is_zero = reach == 0
            return is_zero if offset is None else np.asarray(is_zero & (offset.signs() == 0))
        case Take(chosen):
            return np.where((chosen < 0)[:, None], True, inputs[0][chosen])
        case Join():
            return np.concatenate(inputs)
        case Add():
            return np.asarray(inputs[0] & inputs[1])
    return np.zeros((node.size, count), dtype=bool)
