"""Tensor operations on the values of a graph, as ONNX, PyTorch and Keras define them, in terms of a few operations.

All of them work on the numbers of the entries: an array of the entries' indices goes through numpy exactly as the
entries would, and says which entry lands where. Channels come first: (batch, channels, …). Numbers of the file are
numpy arrays of floats, integers, or objects (`Fraction`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError
from polyrelu.exact import AnyMatrix, FloatFormat, RationalMatrix, SparseMatrix, inverse_root, stack
from polyrelu.formats.graph.constants import reciprocals
from polyrelu.formats.graph.operations import (
    Add,
    Clip,
    LeakyRelu,
    Linear,
    Maximum,
    Minimum,
    Operation,
    Relu,
    Take,
)
from polyrelu.formats.graph.values import Graph, Value
from polyrelu.support.typing import Array, Indices

__all__ = [
    "Array",
    "Pads",
    "Window",
    "add",
    "add_constant",
    "average_pool",
    "batch_norm",
    "clip",
    "column",
    "concat",
    "conv",
    "conv_transpose",
    "divide",
    "indices",
    "leaky_relu",
    "limited",
    "matmul",
    "matmul_from_left",
    "max_pool",
    "maximum",
    "minimum",
    "multiply",
    "plain_window",
    "plus_value",
    "relu",
    "reshape",
    "sum_over",
    "view",
]

Pads: TypeAlias = Sequence[tuple[int, int]]

#: Entries that a convolution, a product or a window may write down, zeros left out: about a gigabyte.
_ENTRY_LIMIT = 10**7


# --- Which entry lands where -----------------------------------------------------------------------------


def limited(shape: Sequence[int]) -> tuple[int, ...]:
    """The shape, if a tensor of this shape is worth beginning; a small file can ask for a huge one."""
    if math.prod(shape) > _ENTRY_LIMIT:
        raise NetworkError(f"shape {list(shape)} has more than {_ENTRY_LIMIT} entries")
    return tuple(shape)


def indices(shape: tuple[int, ...]) -> Indices:
    """The numbers of the entries of a tensor, in its shape."""
    return np.arange(math.prod(shape), dtype=np.int64).reshape(shape)


def view(graph: Graph, x: Value, chosen: Indices) -> Value:
    """The tensor whose entries are those of x with the given numbers; -1 stands for 0."""
    flat = np.ascontiguousarray(chosen, dtype=np.int64).reshape(-1)
    if np.array_equal(flat, np.arange(x.size)):
        return Value(x.node, chosen.shape)
    return graph.add(Take(flat), [x], chosen.shape)


def reshape(x: Value, shape: Sequence[int]) -> Value:
    """The same entries under another shape."""
    if math.prod(shape) != x.size:
        raise NetworkError(f"cannot reshape a value of shape {list(x.shape)} to {list(shape)}")
    return Value(x.node, tuple(shape))


def concat(graph: Graph, values: Sequence[Value], axis: int) -> Value:
    """The tensors one after the other along an axis."""
    if len(values) == 1:
        return values[0]
    firsts = np.cumsum([0, *(value.size for value in values)])
    tables = [
        indices(value.shape) + first for value, first in zip(values, firsts[:-1], strict=True)
    ]
    try:
        chosen = np.concatenate(tables, axis=axis)
    except ValueError:
        raise NetworkError(
            f"cannot concatenate shapes {[list(v.shape) for v in values]} along axis {axis}"
        ) from None
    return view(graph, graph.join(values), chosen)


def _broadcast(graph: Graph, values: Sequence[Value]) -> list[Value]:
    try:
        shape = limited(np.broadcast_shapes(*(value.shape for value in values)))
    except NetworkError:
        raise
    except ValueError:
        shapes = " and ".join(str(list(value.shape)) for value in values)
        raise NetworkError(f"shapes {shapes} do not fit together") from None
    return [view(graph, value, np.broadcast_to(indices(value.shape), shape)) for value in values]


def _with_constant(graph: Graph, x: Value, constant: Array) -> tuple[Value, Array]:
    """A value and a constant in their common shape."""
    try:
        shape = limited(np.broadcast_shapes(x.shape, constant.shape))
    except NetworkError:
        raise
    except ValueError:
        raise NetworkError(
            f"a constant of shape {list(constant.shape)} does not fit a value of shape {list(x.shape)}"
        ) from None
    return view(graph, x, np.broadcast_to(indices(x.shape), shape)), np.broadcast_to(
        constant, shape
    )


# --- Numbers of the file ---------------------------------------------------------------------------------


def column(array: Array) -> RationalMatrix:
    """The exact numbers of an array, in row-major order, as a column."""
    return RationalMatrix.from_array(np.ascontiguousarray(array).reshape(-1))


def _integers(array: Array) -> tuple[NDArray[np.object_], int]:
    """The exact numbers of an array as integers over a denominator, flat."""
    exact = RationalMatrix.from_array(np.ascontiguousarray(array).reshape(1, -1))
    flat = np.empty(array.size, dtype=object)
    flat[:] = exact.integer_rows()[0] if array.size else []
    return flat, exact.denominator


def _wired(
    shape: tuple[int, int], rows: Indices, columns: Indices, weights: Indices, numbers: Array
) -> SparseMatrix:
    """The matrix with number ``weights[i]`` of the array at (rows[i], columns[i]), where the column is not -1."""
    rows, columns, weights = (
        np.ascontiguousarray(a).reshape(-1) for a in np.broadcast_arrays(rows, columns, weights)
    )
    inside = columns >= 0
    if int(inside.sum()) > _ENTRY_LIMIT:
        raise NetworkError(f"its matrix has more than {_ENTRY_LIMIT} entries")
    values, denominator = _integers(numbers)
    return SparseMatrix.from_entries(
        shape, rows[inside], columns[inside], values[weights[inside]], denominator
    )


# --- Entry by entry --------------------------------------------------------------------------------------


def add(graph: Graph, x: Value, y: Value, sign: int = 1) -> Value:
    """x + y, or x - y with sign -1."""
    x, y = _broadcast(graph, [x, y])
    return graph.add(Add(sign), [x, y], x.shape)


def add_constant(graph: Graph, x: Value, constant: Array) -> Value:
    """x + constant."""
    x, constant = _with_constant(graph, x, constant)
    return graph.add(Linear(SparseMatrix.identity(x.size), column(constant)), [x], x.shape)


def multiply(
    graph: Graph, x: Value, constant: Array, extra_roundings: int = 0, stretch: float = 1.0
) -> Value:
    """x · constant; the last two as in `Linear`."""
    x, constant = _with_constant(graph, x, constant)
    matrix = SparseMatrix.diagonal(column(constant))
    return graph.add(Linear(matrix, None, None, extra_roundings, stretch), [x], x.shape)


def divide(graph: Graph, x: Value, divisors: Array, bounded: set[str]) -> Value:
    """x / exact numbers. Where a runtime may take a divisor for 0, and divide by it, its format is not bounded."""
    quotients = reciprocals(divisors)
    smallest = min((abs(Fraction(entry)) for entry in divisors.reshape(-1)), default=Fraction(1))
    bounded -= {
        name
        for name, exponent in (("float32", 126), ("float64", 1000))
        if smallest < Fraction(1, 2**exponent)
    }
    return multiply(graph, x, quotients, extra_roundings=2)


def relu(graph: Graph, x: Value) -> Value:
    """max(x, 0)."""
    return graph.add(Relu(), [x], x.shape)


def leaky_relu(graph: Graph, x: Value, slopes: Array) -> Value:
    """x where it is positive, slope · x elsewhere; slope -1 is the absolute value."""
    x, slopes = _with_constant(graph, x, slopes)
    return graph.add(LeakyRelu(tuple(column(slopes).entries())), [x], x.shape)


def clip(graph: Graph, x: Value, low: Fraction | None, high: Fraction | None) -> Value:
    """min(max(x, low), high)."""
    return graph.add(Clip(low, high), [x], x.shape)


def maximum(graph: Graph, x: Value, y: Value) -> Value:
    """max(x, y)."""
    return _of_two(graph, Maximum(), x, y)


def minimum(graph: Graph, x: Value, y: Value) -> Value:
    """min(x, y)."""
    return _of_two(graph, Minimum(), x, y)


def _of_two(graph: Graph, operation: Operation, x: Value, y: Value) -> Value:
    x, y = _broadcast(graph, [x, y])
    return x if x == y else graph.add(operation, [x, y], x.shape)


# --- Products --------------------------------------------------------------------------------------------


def matmul(
    graph: Graph,
    x: Value,
    weight: Array,
    offset: Array | None = None,
    factors: Sequence[Fraction] = (),
) -> Value:
    """x · weight + offset with the shapes of `numpy.matmul`; the offset is broadcast to the product.

    `factors` are those by which a runtime multiplies products or offset on the way (they are in the numbers already).
    """
    shape = _product_shape(x.shape, weight.shape)
    if weight.ndim == 2 and x.size == x.shape[-1]:  # one row: the common case, and dense
        matrix: AnyMatrix = RationalMatrix.from_array(np.ascontiguousarray(weight.T))
    else:
        left, right = _as_stacks(indices(x.shape), indices(weight.shape))
        matrix = _contraction(
            shape, x.size, left[..., :, None, :], right.swapaxes(-1, -2)[..., None, :, :], weight
        )
    return _linear(graph, x, matrix, offset, shape, *_scaling(weight, factors))


def plus_value(graph: Graph, product: Value, y: Value, factor: Fraction) -> Value:
    """A product that `matmul` made, plus factor · y: one sum, since a runtime may start from y."""
    made = graph.nodes[product.node]
    products = cast(Linear, made.operation)
    added = SparseMatrix.identity(y.size).scale_rows([factor] * y.size)
    matrix = stack([products.matrix.transpose(), added.transpose()]).transpose()
    stretch = products.stretch * max(1.0, _float(abs(factor)), _float(1 / abs(factor)))
    both = graph.join([Value(made.inputs[0], (graph.nodes[made.inputs[0]].size,)), y])
    return graph.add(
        Linear(matrix, None, None, products.extra_roundings + 2, stretch), [both], product.shape
    )


def _scaling(weight: Array, factors: Sequence[Fraction]) -> tuple[int, float]:
    """Extra roundings and the stretch of products with factors: of the numbers on the way none is larger or smaller by
    more than the factors and the weights make it."""
    if all(factor == 1 for factor in factors):
        return 0, 1.0
    stretch = max(
        1.0,
        float(np.abs(RationalMatrix.from_array(weight.reshape(-1)).to_floats()).max(initial=0.0)),
    )
    for factor in factors:
        if factor:
            stretch *= max(1.0, _float(abs(factor)), _float(1 / abs(factor)))
    return 3, stretch * (1 + 2.0**-40)


def _float(number: Fraction) -> float:
    return float(RationalMatrix.column([number]).to_floats()[0, 0])


def matmul_from_left(
    graph: Graph,
    weight: Array,
    x: Value,
    offset: Array | None = None,
    factors: Sequence[Fraction] = (),
) -> Value:
    """weight · x + offset, as `matmul`."""
    shape = _product_shape(weight.shape, x.shape)
    if weight.ndim == 2 and x.size == (x.shape[-2] if len(x.shape) > 1 else x.size):
        matrix: AnyMatrix = RationalMatrix.from_array(np.ascontiguousarray(weight))
    else:
        left, right = _as_stacks(indices(weight.shape), indices(x.shape))
        matrix = _contraction(
            shape, x.size, right.swapaxes(-1, -2)[..., None, :, :], left[..., :, None, :], weight
        )
    return _linear(graph, x, matrix, offset, shape, *_scaling(weight, factors))


def _product_shape(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a product, if it and its terms are not too many."""
    rows, columns = left[-2:-1], right[-1:] if len(right) > 1 else ()
    terms = right[-2] if len(right) > 1 else right[0] if right else 0
    try:
        stack = np.broadcast_shapes(left[:-2], right[:-2])
    except ValueError:
        stack, terms = (), 0
    if not left or left[-1] != terms:
        raise NetworkError(f"cannot multiply shapes {list(left)} and {list(right)}")
    limited([*stack, *rows, *columns, terms])
    return (*stack, *rows, *columns)


def _as_stacks(left: Indices, right: Indices) -> tuple[Indices, Indices]:
    """Vectors as matrices of one row, one column."""
    return (left[None] if left.ndim == 1 else left), (right[:, None] if right.ndim == 1 else right)


def _contraction(
    shape: tuple[int, ...], size: int, columns: Indices, weights: Indices, numbers: Array
) -> SparseMatrix:
    """The matrix of out[o] = Σ_k numbers[weights[o, k]] x[columns[o, k]], o running over the output."""
    columns, weights = np.broadcast_arrays(columns, weights)
    rows = np.arange(math.prod(shape), dtype=np.int64)
    terms = columns.shape[-1]
    return _wired(
        (len(rows), size),
        rows[:, None],
        columns.reshape(len(rows), terms),
        weights.reshape(len(rows), terms),
        numbers,
    )


def _linear(
    graph: Graph,
    x: Value,
    matrix: AnyMatrix,
    offset: Array | None,
    shape: tuple[int, ...],
    extra_roundings: int = 0,
    stretch: float = 1.0,
) -> Value:
    added = None
    if offset is not None:
        try:
            added = column(np.broadcast_to(offset, shape))
        except ValueError:
            raise NetworkError(
                f"a constant of shape {list(offset.shape)} does not fit a value of shape {list(shape)}"
            ) from None
    return graph.add(Linear(matrix, added, None, extra_roundings, stretch), [x], shape)


def sum_over(graph: Graph, x: Value, axes: Sequence[int], factor: Fraction, keep: bool) -> Value:
    """factor · the sum over some axes (a mean: one over their size)."""
    axes = tuple(range(len(x.shape))[axis] for axis in axes)
    others = [axis for axis in range(len(x.shape)) if axis not in axes]
    table = np.transpose(indices(x.shape), (*others, *axes))
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    if not keep:
        shape = tuple(x.shape[axis] for axis in others)
    numbers = np.array([factor], dtype=object)
    columns = table.reshape(math.prod(shape), -1)
    matrix = _contraction(shape, x.size, columns, np.zeros_like(columns), numbers)
    return _linear(
        graph, x, matrix, None, shape, *((0, 1.0) if factor == 1 else (2, _float(1 / factor)))
    )


# --- Windows ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Window:
    """What a convolution or a pooling slides over its input: a size, a stride, a dilation and the padding before and
    after, for each spatial dimension. `up` counts as runtimes do that round up: also a last window that overlaps the
    end, but none that starts in the padding there."""

    kernel: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    pads: Pads
    up: bool = False

    def counts(self, sizes: Sequence[int]) -> list[int]:
        """How many windows fit each spatial dimension of an input."""
        entries = zip(sizes, self.kernel, self.strides, self.dilations, self.pads, strict=True)
        return [_count(*entry, self.up) for entry in entries]

    def transposed_sizes(self, sizes: Sequence[int], extra: Sequence[int]) -> list[int]:
        """The spatial sizes that a transposed convolution makes of these, with `extra` entries at each end."""
        entries = zip(
            sizes, self.kernel, self.strides, self.dilations, self.pads, extra, strict=True
        )
        return [
            (size - 1) * stride + dilation * (width - 1) + 1 - sum(pad) + more
            for size, width, stride, dilation, pad, more in entries
        ]


def plain_window(kernel: Sequence[int], strides: Sequence[int]) -> Window:
    """A window that is neither dilated nor padded."""
    return Window(kernel, strides, [1] * len(kernel), [(0, 0)] * len(kernel))


def _count(
    size: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int], up: bool
) -> int:
    room = size + sum(pads) - (dilation * (kernel - 1) + 1)
    count = -(-room // stride) + 1 if up else room // stride + 1
    if count < 1:
        padded = size + sum(pads)
        raise NetworkError(
            f"a window of size {kernel}, dilation {dilation}, does not fit {padded} entries"
        )
    return count - 1 if up and (count - 1) * stride >= size + pads[0] else count


def _windows(shape: tuple[int, ...], window: Window) -> Indices:
    """The entries of each window, shape (batch, channels, …positions, …kernel): -1 padding, -2 beyond it."""
    limited(
        [*shape[:2], *(size + sum(pad) for size, pad in zip(shape[2:], window.pads, strict=True))]
    )
    counts = window.counts(shape[2:])
    limited([*shape[:2], *counts, *window.kernel])
    table = np.pad(indices(shape), [(0, 0), (0, 0), *window.pads], constant_values=-1)
    steps = zip(counts, window.kernel, window.strides, window.dilations, strict=True)
    for axis, (count, width, stride, dilation) in enumerate(steps):
        places = np.arange(count)[:, None] * stride + np.arange(width) * dilation
        beyond = max(0, int(places.max()) + 1 - table.shape[2 + axis])
        extra = [(0, beyond if i == 2 + axis else 0) for i in range(table.ndim)]
        table = np.take(np.pad(table, extra, constant_values=-2), places, axis=2 + axis)
        table = np.moveaxis(table, 3 + axis, -1)
    return table


def conv(
    graph: Graph,
    x: Value,
    kernel: Array,
    bias: Array | None,
    window: Window,
    groups: int,
) -> Value:
    """Convolution with zero padding; x (batch, C, …), kernel (M, C / groups, …), bias (M,).

    >>> graph = Graph()
    >>> (x,) = graph.inputs([(1, 1, 4)])
    >>> conv(graph, x, np.array([[[1, 2]]]), None, Window([2], [2], [1], [(0, 1)]), 1).shape
    (1, 1, 2)
    """
    batch, channels, *_ = x.shape
    filters, own, *widths = kernel.shape
    if len(x.shape) != kernel.ndim or groups < 1 or channels != own * groups or filters % groups:
        raise NetworkError(
            f"a kernel of shape {list(kernel.shape)} in {groups} groups meets shape {list(x.shape)}"
        )
    table = np.maximum(_windows(x.shape, window), -1)
    places = table.shape[2 : 2 + len(widths)]
    limited([batch, kernel.size, *places])
    table = table.reshape(batch, groups, own, math.prod(places), math.prod(widths))
    # axes: batch, group, filter of the group, position | channel of the group, offset in the window
    columns = table.transpose(0, 1, 3, 2, 4)[:, :, None]
    weights = indices(kernel.shape).reshape(1, groups, filters // groups, 1, own, -1)
    shape = (batch, filters, *places)
    rows = indices((batch, groups, filters // groups, math.prod(places)))[..., None, None]
    matrix = _wired((math.prod(shape), x.size), rows, columns, weights, kernel)
    added = None if bias is None else bias.reshape(-1, *(1 for _ in places))
    return _linear(graph, x, matrix, added, shape)


def conv_transpose(
    graph: Graph,
    x: Value,
    kernel: Array,
    bias: Array | None,
    window: Window,
    groups: int,
    spatial: Sequence[int],
) -> Value:
    """Transposed convolution onto the spatial sizes given; x (batch, C, …), kernel (C, M / groups, …), bias (M,)."""
    batch, channels, *sizes = x.shape
    own, filters, *widths = kernel.shape
    limited([batch, *kernel.shape, *sizes])
    limited([batch, filters * groups, *(max(size, 0) for size in spatial)])
    if len(x.shape) != kernel.ndim or groups < 1 or channels != own or channels % groups:
        raise NetworkError(
            f"a kernel of shape {list(kernel.shape)} in {groups} groups meets shape {list(x.shape)}"
        )
    # where input position i and offset k in the window land, for all axes together; -1 outside
    target = np.zeros((1, 1), dtype=np.int64)
    steps = zip(sizes, widths, window.strides, window.dilations, window.pads, spatial, strict=True)
    for size, width, stride, dilation, pad, out in steps:
        place = np.arange(size)[:, None] * stride + np.arange(width) * dilation - pad[0]
        place = np.where((place >= 0) & (place < out), place, -1)
        both = np.where((target[:, None, :, None] < 0) | (place[None, :, None, :] < 0), -1,
                        target[:, None, :, None] * out + place[None, :, None, :])  # fmt: skip
        target = both.reshape(target.shape[0] * size, target.shape[1] * width)
    # axes: batch, group, channel of the group, filter of the group, position, offset
    share, total = channels // groups, math.prod(spatial)
    inputs = indices((batch, groups, share, math.prod(sizes)))[:, :, :, None, :, None]
    weights = indices((groups, share, filters, math.prod(widths)))[None, :, :, :, None, :]
    outputs = indices((batch, groups, filters))[:, :, None, :, None, None] * total + target
    outputs, inputs, weights = np.broadcast_arrays(
        np.where(target < 0, -1, outputs), inputs, weights
    )
    shape = (batch, filters * groups, *spatial)
    # `_wired` leaves out negative columns: build the transposed matrix, whose columns are the outputs
    matrix = _wired((x.size, math.prod(shape)), inputs, outputs, weights, kernel).transpose()
    added = None if bias is None else bias.reshape(-1, *(1 for _ in spatial))
    return _linear(graph, x, matrix, added, shape)


def max_pool(graph: Graph, x: Value, window: Window) -> Value:
    """The maximum of each window; padding never wins, since it is not there.

    >>> graph = Graph()
    >>> (x,) = graph.inputs([(1, 1, 4)])
    >>> max_pool(graph, x, Window([3], [1], [1], [(1, 1)])).shape
    (1, 1, 4)
    """
    table = _windows(x.shape, window)
    shape = table.shape[: len(x.shape)]
    return reshape(
        _maximum_of(graph, x, np.maximum(table.reshape(math.prod(shape), -1), -1)), shape
    )


def _maximum_of(graph: Graph, x: Value, members: Indices) -> Value:
    """The maxima of the entries listed in each row; -1 is no entry. Pairs first, then pairs of pairs: a level for each
    doubling, and no pair is taken twice."""
    if (members.max(axis=1) < 0).any():
        raise NetworkError("a window lies in the padding altogether")
    members = np.take_along_axis(
        members, np.argsort(members < 0, axis=1, kind="stable"), axis=1
    )  # entries first
    pool = x
    while members.shape[1] > 1:
        if members.shape[1] % 2:
            members = np.pad(members, ((0, 0), (0, 1)), constant_values=-1)
        first, second = members[:, 0::2], members[:, 1::2]
        if (second < 0).all():  # a window of two has one entry beside its padding
            members = first
            continue
        pairs, numbers = np.unique(
            np.stack([first, second], axis=-1)[second >= 0], axis=0, return_inverse=True
        )
        left, right = (view(graph, pool, pairs[:, side]) for side in (0, 1))
        members = first.copy()
        members[second >= 0] = pool.size + numbers.reshape(-1)
        pool = graph.join([pool, maximum(graph, left, right)])
    return view(graph, pool, members[:, 0])


def average_pool(graph: Graph, x: Value, window: Window, count_padding: bool) -> Value:
    """The mean of each window, over its entries or over its entries and its padding."""
    table = _windows(x.shape, window)
    shape = table.shape[: len(x.shape)]
    members = table.reshape(math.prod(shape), -1)
    counts = (members >= (-1 if count_padding else 0)).sum(axis=1)
    if not counts.all():
        raise NetworkError("a window lies in the padding altogether")
    numbers = np.array([Fraction(1, int(count)) for count in counts], dtype=object)
    matrix = _contraction(shape, x.size, members, np.arange(len(members))[:, None], numbers)
    return _linear(graph, x, matrix, None, shape, 2, float(counts.max()))


def batch_norm(
    graph: Graph,
    x: Value,
    scale: Array,
    bias: Array,
    mean: Array,
    variance: Array,
    epsilon: Fraction,
    to: FloatFormat,
) -> tuple[Value, int]:
    """(x - mean) / √(variance + ε) · scale + bias for each channel, and how many factors 1/√ had to be rounded."""
    channels = x.shape[1] if len(x.shape) > 1 else 0
    if not scale.shape == bias.shape == mean.shape == variance.shape == (channels,):
        raise NetworkError(
            f"its parameters do not have shape [{channels}], the channels of a value {list(x.shape)}"
        )
    variances = list(column(variance).entries())
    squares = [entry + epsilon for entry in variances]
    if min(variances) < 0 or min(squares) < Fraction(1, 2**120):
        raise NetworkError(
            "a variance is negative, or variance + epsilon is below 2^-120: no runtime can divide by it"
        )
    roots = [inverse_root(square, to) for square in squares]
    rounded = sum(root * root * square != 1 for root, square in zip(roots, squares, strict=True))
    factors = [g * root for g, root in zip(column(scale).entries(), roots, strict=True)]
    shifts = [m * f for m, f in zip(column(mean).entries(), factors, strict=True)]
    offsets = [b - s for b, s in zip(column(bias).entries(), shifts, strict=True)]
    spreads = [abs(b) + abs(s) for b, s in zip(column(bias).entries(), shifts, strict=True)]
    channel = np.broadcast_to(
        np.arange(channels).reshape(-1, *(1 for _ in x.shape[2:])), x.shape
    ).reshape(-1)
    spread_out = [
        RationalMatrix.column([numbers[c] for c in channel])
        for numbers in (factors, offsets, spreads)
    ]
    matrix = SparseMatrix.diagonal(spread_out[0])
    linear = Linear(matrix, spread_out[1], spread_out[2], 10, _stretch_of_norm(scale, mean, roots))
    return graph.add(linear, [x], x.shape), rounded


def _stretch_of_norm(scale: Array, mean: Array, roots: Sequence[Fraction]) -> float:
    """Whatever the order: x, the mean and their difference are multiplied by the scale and divided by the deviation."""
    deviations = [_float(root) for root in roots]
    largest_mean, largest_scale = (
        float(np.abs(column(array).to_floats()).max()) for array in (mean, scale)
    )
    stretch = (1 + largest_mean) * max(1.0, largest_scale)
    return stretch * max(1.0, *deviations) * max(1.0, 1 / min(deviations)) * (1 + 2.0**-40)
