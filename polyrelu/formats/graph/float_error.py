"""A proved bound on the rounding errors that a float runtime adds to the exact function of a graph.

The comparison of a file with its runtime (`runtimes/comparison.py`) and the certified bounds of
`runtime_error` both rest on `ranges`, which gives for each node of a graph an interval for the
exact values and a bound on the error of the runtime's value. Every formula is proved here or in
`docs/theory/rounding.md`; the checker has its own rule for plain stacks and must accept the bounds.

**Model.** Each operation of the graph is computed in one binary format with unit roundoff u (2^-24
for float32), rounding to nearest. The products and the offset of an affine map are added in any
order, with or without fused multiply-adds. The inputs are numbers of the format. Any number below
the normal range may be replaced by 0, which loses at most `tiny`. The model excludes runtimes that
fuse several nodes, compute in a shorter format (TF32, bfloat16) or transform convolutions
(Winograd, FFT).

**Bound.** Consider a row of an affine map with n nonzero weights. Whatever the order, the runtime
gives the exact value for slightly changed numbers: every term is multiplied by a factor 1 + θ with
|θ| ≤ γ_k = ku/(1 - ku), where k = n + 2 + extra roundings counts n products and additions, the
bias, and the rounding of a weight that the format does not hold. Let e bound the errors of the
inputs and m their sizes. Then the error of the result is at most

    |W|e + γ_k(|W|(m + e) + |b|) + 3(n + 2)·tiny·(1 + max(m + e)).

Source: Higham, Accuracy and Stability of Numerical Algorithms, §3.1 and §4.2. The last summand
bounds what n weights, products and sums lose to underflow, at most 2(n + 2)·tiny·(1 + max(m + e)),
times later factors of at most 1 + γ_k ≤ 4/3 (the bound is infinite unless ku < 1/4). With extra
roundings more can be lost: there 4 takes the place of 3, and the stretch is a factor of it. ReLU,
maximum, minimum and clip do not round and are 1-Lipschitz. The sizes m come from intervals for the
exact values.

**Computation.** The bound itself is computed in float64. All quantities are nonnegative, so a
computed sum of n products is too small by a factor of at most 1 + (n + 2)·2^-53. `round_up`
multiplies it by 1 + (n + 4)·2^-52 and adds 2^-1000 for underflow, which gives an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact import (
    FLOAT32,
    FLOAT64,
    FloatFormat,
    RationalMatrix,
    SparseMatrix,
)
from polyrelu.formats.graph.enclosures import (
    EPSILON,
    FloatMatrix,
    absolute_values,
    difference_below,
    floats_above,
    floats_below,
    round_up,
    sum_above,
)
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
    Operation,
    Relu,
    Take,
)
from polyrelu.formats.graph.values import Graph, Node
from polyrelu.support.typing import Floats, Indices

__all__ = ["BOUNDED", "Arithmetic", "Corners", "Range", "float_arithmetic", "ranges", "ranges_at"]

#: The least and the greatest corner of a box.
Corners: TypeAlias = tuple[Sequence[Fraction], Sequence[Fraction]]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The arithmetic of a runtime: one binary float format, rounding to nearest.

    Attributes
    ----------
    format
        The float format.
    unit
        The unit roundoff, 2^-precision.
    tiny
        Numbers smaller than this in absolute value may be replaced by 0.
    largest
        The largest finite number.
    """

    format: FloatFormat
    unit: float
    tiny: float
    largest: float


_ARITHMETICS = {
    "float32": Arithmetic(FLOAT32, 2.0**-24, 2.0**-126, float(FLOAT32.largest)),
    "float64": Arithmetic(FLOAT64, 2.0**-53, 2.0**-1000, float(FLOAT64.largest)),
}


#: The names of the arithmetics for which a rounding bound is proved.
BOUNDED = frozenset(_ARITHMETICS)


def float_arithmetic(name: str, bounded: Collection[str] = BOUNDED) -> Arithmetic:
    """Return the arithmetic of a number type.

    A `NetworkError` is raised if no rounding bound is known for it. `bounded` names the arithmetics
    in which the rounding of a graph is bounded (`Draft.bounded`).
    """
    if name not in _ARITHMETICS:
        raise NetworkError(
            f"no rounding bound is known for {name or 'mixed'} arithmetic, only for float32 and "
            "float64"
        )
    if name not in bounded:
        raise NetworkError(
            f"no rounding bound is known for {name}: numbers were computed from constants, or "
            "rounded by a rule, and are further away from the runtime's than its operations round"
        )
    return _ARITHMETICS[name]


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds on a value over several boxes, as arrays of shape (entries, boxes).

    Attributes
    ----------
    low, high
        Lower and upper bounds on the exact entries.
    error
        Upper bounds on |entry of the runtime - exact entry|.
    """

    low: Floats
    high: Floats
    error: Floats

    @property
    def size(self) -> Floats:
        """Upper bounds on the absolute values of the exact entries."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


def ranges(graph: Graph, boxes: Sequence[Corners], runtime: Arithmetic) -> list[Range]:
    """Return, for each node of a graph, the range of its value over each of the input boxes.

    >>> from polyrelu.formats.graph.operations import Linear
    >>> graph = Graph()
    >>> (x,) = graph.inputs([(2,)])
    >>> weight = RationalMatrix.from_rows([[3, 5]])
    >>> graph.finish([graph.add(Linear(weight), [x], (1,))])
    >>> box = ([Fraction(0)] * 2, [Fraction(1)] * 2)
    >>> output = ranges(graph, [box], float_arithmetic("float32"))[-1]
    >>> bool(8 <= output.high[0, 0] < 8.001), bool(0 < output.error[0, 0] < 1e-5)
    (True, True)
    """
    with np.errstate(over="ignore"):
        low = np.stack([floats_below(corner) for corner, _ in boxes], axis=1)
        high = np.stack([floats_above(corner) for _, corner in boxes], axis=1)
    return _ranges(graph, (low, high), runtime)


def ranges_at(graph: Graph, points: Floats, runtime: Arithmetic) -> list[Range]:
    """Return, for each node of a graph, the range of its value at points.

    The points are the columns of an array of floats.
    """
    return _ranges(graph, (points, points), runtime)


def _ranges(graph: Graph, box: tuple[Floats, Floats], runtime: Arithmetic) -> list[Range]:
    """Return the ranges of all nodes; `box` holds bounds on the coordinates of the input."""
    results: list[Range] = []
    for node in graph.nodes:
        operation, inputs = _with_merged_bias(graph, node)
        with np.errstate(over="ignore", invalid="ignore"):
            result = _range(operation, [results[i] for i in inputs], box, runtime)
        results.append(_without_nan(result))
    return results


def _with_merged_bias(graph: Graph, node: Node) -> tuple[Operation, tuple[int, ...]]:
    """Return the operation of a node and its inputs, with a bias merged into the product before it.

    A product followed by the addition of a bias is bounded as one sum, in any order. The bound
    holds for the order of the two nodes, and it is smaller than the sum of two separate bounds.
    """
    operation = node.operation
    if (
        isinstance(operation, Linear)
        and operation.offset is not None
        and _adds_offset_once(operation)
    ):
        before = graph.nodes[node.inputs[0]]
        products = before.operation
        if (
            isinstance(products, Linear)
            and products.offset is None
            and isinstance(operation.matrix, SparseMatrix)
            and operation.matrix.is_identity()
        ):
            return replace(products, offset=operation.offset), before.inputs
    return operation, node.inputs


def _adds_offset_once(operation: Linear) -> bool:
    """Return whether the runtime adds the offset as one number, without extra roundings."""
    return operation.spread is None and not operation.extra_roundings


def _without_nan(bounds: Range) -> Range:
    """Replace NaN, the result of opposite infinities, by infinite bounds."""
    low, high = (
        np.where(np.isnan(bound), limit, bound)
        for bound, limit in ((bounds.low, -np.inf), (bounds.high, np.inf))
    )
    return Range(low, high, np.where(np.isnan(bounds.error), np.inf, bounds.error))


def _range(
    operation: Any, x: list[Range], box: tuple[Floats, Floats], runtime: Arithmetic
) -> Range:
    """Return the range of the result of an operation, given the ranges `x` of its inputs.

    `box` holds lower and upper bounds on the coordinates of the network's input.
    """
    match operation:
        case Input(first, size, _):
            low, high = (corners[first : first + size] for corners in box)
            return Range(low, high, np.full(low.shape, runtime.tiny))
        case Constant(column):
            return _range_of_constant(column, box[0].shape[1], runtime)
        case Linear():
            return _range_of_linear(operation, x[0], runtime)
        case Take(chosen):
            return _range_of_taken(x[0], chosen)
        case Join():
            return Range(
                np.concatenate([part.low for part in x]),
                np.concatenate([part.high for part in x]),
                np.concatenate([part.error for part in x]),
            )
        case Add(sign):
            second = x[1] if sign > 0 else Range(-x[1].high, -x[1].low, x[1].error)
            return _range_of_sum(x[0], second, runtime)
        case Relu():
            return _range_of_relu(x[0], runtime)
        case Maximum():
            return _range_of_extreme(np.maximum, x, runtime)
        case Minimum():
            return _range_of_extreme(np.minimum, x, runtime)
        case LeakyRelu(slopes):
            return _range_of_leaky_relu(_floats_of(slopes), x[0], runtime)
        case Clip(low, high):
            return _range_of_clip(low, high, x[0], runtime)
    raise NetworkError(f"no rounding bound is known for {type(operation).__name__}")


def _range_of_taken(x: Range, chosen: Indices) -> Range:
    """Return the ranges of the chosen entries; index -1 gives an exact 0."""
    absent = (chosen < 0)[:, None]
    low, high, error = (np.where(absent, 0.0, part[chosen]) for part in (x.low, x.high, x.error))
    return Range(low, high, error)


def _range_of_extreme(
    extreme: Callable[[Floats, Floats], Floats], x: list[Range], runtime: Arithmetic
) -> Range:
    """Return the range of the maximum or minimum of two values."""
    first, second = x
    error = round_up(np.maximum(first.error, second.error) + runtime.tiny, 1)
    return Range(extreme(first.low, second.low), extreme(first.high, second.high), error)


def _range_of_constant(column: RationalMatrix, boxes: int, runtime: Arithmetic) -> Range:
    """Return the range of a constant, whose entries the runtime rounds if it does not hold them."""
    held = np.array([[runtime.format.holds(entry)] for entry in column.entries()])
    floats = column.to_floats()
    low, high = (np.repeat(np.nextafter(floats, end), boxes, axis=1) for end in (-np.inf, np.inf))
    size = np.maximum(np.abs(low), np.abs(high))
    error = np.where(
        held & (size >= runtime.tiny), 0.0, round_up(runtime.unit * size + runtime.tiny, 2)
    )
    return Range(low, high, np.where(size < runtime.largest, error, np.inf))


def _range_of_linear(operation: Linear, x: Range, runtime: Arithmetic) -> Range:
    """Return the range of an affine map, by the formula in the docstring of the module."""
    weights = FloatMatrix(operation.matrix)
    offset = (
        np.zeros((weights.rows, 1)) if operation.offset is None else operation.offset.to_floats()
    )
    spread = operation.spread if operation.spread is not None else operation.offset
    bias = np.zeros((weights.rows, 1))
    if spread is not None:
        bias = round_up(absolute_values(spread.to_floats()), 1)
    # Interval for the exact values. Weights, centre and offset are rounded to float64 here, each by
    # a factor of at most 1 + 2^-53; `slack` bounds the effect.
    centre = x.low / 2 + x.high / 2
    radius = round_up(np.maximum(x.high - centre, centre - x.low), 1)
    slack = (weights.terms + 6) * EPSILON
    reach = round_up(x.size + x.error, 1)
    image, spreads, sizes, reaches, errors = weights.products(
        centre, radius, np.abs(centre), reach, x.error
    )
    blur = round_up(spreads + slack * (sizes + bias), weights.terms + 2)
    middle = image + offset
    # Error bound of the runtime.
    count = weights.terms + 2 + operation.extra_roundings
    gamma = count * runtime.unit / (1 - count * runtime.unit)
    sums = round_up(reaches + bias, weights.terms + 1)
    stretch = operation.stretch
    losses = (4 if _is_scaled(operation) else 3) * stretch * (weights.terms + 2)
    underflow = losses * runtime.tiny * (1 + np.max(reach, axis=0, initial=0.0))
    error = round_up(errors + gamma * sums + underflow, weights.terms + 4)
    sizes = np.maximum(
        round_up(sums * (1 + gamma), 2), np.max(1 + reach, axis=0, initial=weights.largest)
    )
    fits = stretch * sizes < runtime.largest / 2
    error = np.where((count * runtime.unit < 0.25) & fits, error, np.inf)
    return Range(difference_below(middle, blur), sum_above(middle, blur), error)


def _is_scaled(operation: Linear) -> bool:
    """Whether a runtime may do more than multiply by the weights and add."""
    return operation.extra_roundings > 0 or operation.stretch != 1


def _range_of_sum(x: Range, y: Range, runtime: Arithmetic) -> Range:
    """Return the range of x + y, a single rounded addition."""
    sums = round_up(x.size + y.size + x.error + y.error, 4)
    error = round_up(x.error + y.error + runtime.unit * sums + 4 * runtime.tiny, 5)
    error = np.where(sums * (1 + 2 * runtime.unit) < runtime.largest, error, np.inf)
    return Range(difference_below(x.low, -y.low), sum_above(x.high, y.high), error)


def _range_of_relu(x: Range, runtime: Arithmetic) -> Range:
    """Return the range of the ReLU.

    Where the exact value is at most high ≤ 0, the exact activation is 0 and the activation of the
    runtime is at most high + error.
    """
    error = np.where(
        x.high <= 0, np.minimum(x.error, np.maximum(sum_above(x.high, x.error), 0.0)), x.error
    )
    return Range(np.maximum(x.low, 0.0), np.maximum(x.high, 0.0), round_up(error + runtime.tiny, 1))


def _range_of_leaky_relu(slopes: Floats, x: Range, runtime: Arithmetic) -> Range:
    """Return the range of a leaky ReLU, whose slopes and products the runtime rounds."""
    sizes = round_up(absolute_values(slopes), 1)
    ends = [np.where(end < 0, slopes * end, end) for end in (x.low, x.high)]
    blur = round_up(EPSILON * np.maximum(np.abs(ends[0]), np.abs(ends[1])), 2)
    crosses = (x.low < 0) & (x.high > 0)
    low = difference_below(np.minimum(*ends), blur)
    high = sum_above(np.maximum(*ends), blur)
    reach = round_up(np.maximum(-x.low, 0.0) + x.error, 1)
    rounding = 2.5 * runtime.unit * sizes * reach + 4 * runtime.tiny * (1 + reach)
    error = round_up(np.maximum(sizes, 1.0) * x.error + rounding, 5)
    error = np.where(sizes * (1 + reach) < runtime.largest / 2, error, np.inf)
    return Range(
        np.where(crosses, np.minimum(low, 0.0), low),
        np.where(crosses, np.maximum(high, 0.0), high),
        error,
    )


def _floats_of(numbers: Sequence[Fraction]) -> Floats:
    """Return the nearest floats of a column of numbers of which few are distinct."""
    distinct = dict.fromkeys(numbers)
    floats = RationalMatrix.column(distinct).to_floats()[:, 0].tolist()
    known = dict(zip(distinct, floats, strict=True))
    return np.fromiter((known[number] for number in numbers), np.float64, len(numbers))[:, None]


def _range_of_clip(
    low: Fraction | None, high: Fraction | None, x: Range, runtime: Arithmetic
) -> Range:
    """Return the range of a clip, whose limits the runtime rounds if it does not hold them."""
    bottom, top, error = x.low, x.high, round_up(x.error + runtime.tiny, 1)
    for limit in (low, high):
        if limit is not None and not runtime.format.holds(limit):
            size = max(abs(floats_below([limit])[0]), abs(floats_above([limit])[0]))
            moved = runtime.unit * size + runtime.tiny if size < runtime.largest else np.inf
            error = round_up(error + moved, 2)
    if low is not None:
        bottom = np.maximum(bottom, floats_below([low])[0])
        top = np.maximum(top, floats_above([low])[0])
    if high is not None:
        bottom = np.minimum(bottom, floats_below([high])[0])
        top = np.minimum(top, floats_above([high])[0])
    return Range(bottom, top, error)
