"""Tensor operations of ONNX, PyTorch and Keras, expressed in the operations of a graph.

Readers call these functions; each adds nodes to the graph and returns the resulting value. Most of
them work on *tables of indices*: the entries of a tensor are numbered in row-major order, an array
of these numbers in the tensor's shape goes through numpy exactly as the entries would, and the
result says which entry lands where. Tensors have the layout (batch, channels, …); numbers of the
file are numpy arrays of floats, integers or `Fraction` objects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, cast

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact import (
    AnyMatrix,
    FloatFormat,
    RationalMatrix,
    SparseMatrix,
    as_dense,
    inverse_root,
    stack,
    take_rows,
)
from polyrelu.formats.graph.constants import reciprocals
from polyrelu.formats.graph.float_error import BOUNDED, float_arithmetic
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
from polyrelu.formats.meter import need
from polyrelu.support.typing import Array, Indices

__all__ = [
    "QUOTIENT_ROUNDINGS",
    "Pads",
    "Window",
    "add",
    "add_constant",
    "add_to_product",
    "arithmetics_dividing_by",
    "arithmetics_normalising_by",
    "average_pool",
    "batch_norm",
    "checked_shape",
    "clip",
    "column",
    "concat",
    "conv",
    "conv_transpose",
    "divide",
    "indices",
    "leaky_relu",
    "matmul",
    "matmul_from_left",
    "max_pool",
    "maximum",
    "minimum",
    "multiply",
    "plain_window",
    "relu",
    "reshape",
    "sum_over",
    "take_entries",
]

Pads: TypeAlias = Sequence[tuple[int, int]]

#: Maximum number of nonzero entries of a matrix, or of entries of a table of indices, which takes
#: about a gigabyte.
_MAX_ENTRIES = 10**7

#: Number of bits of a number from which it counts as several entries.
_BITS_OF_ENTRY = 512

# Values of `Linear.extra_roundings` and `Linear.stretch`. They are justified in
# docs/theory/rounding.md, section "Operations of a graph".

#: Extra roundings of a quotient by a number of the file, and of a mean.
QUOTIENT_ROUNDINGS = 2
#: Extra roundings when a multiple of a tensor is added to a product.
_SUMMAND_ROUNDINGS = 2
#: Extra roundings of a product that a runtime multiplies by scale factors.
_SCALE_ROUNDINGS = 3
#: Extra roundings of a batch normalisation.
_NORMALISATION_ROUNDINGS = 10
#: Factor by which a stretch that is computed in float64 is enlarged.
_STRETCH_MARGIN = 1 + 2.0**-40

#: Least variance + ε of a batch normalisation.
_LEAST_VARIANCE = Fraction(1, 2**120)


# --- Tables of indices ----------------------------------------------------------------------------


def checked_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape, or raise a `NetworkError` if it has too many entries.

    Readers call this before they make an array, because a small file can ask for a huge one.
    """
    if math.prod(shape) > _MAX_ENTRIES:
        raise NetworkError(f"shape {list(shape)} has more than {_MAX_ENTRIES} entries")
    return tuple(shape)


def indices(shape: tuple[int, ...]) -> Indices:
    """Return the table of indices of a tensor: 0, 1, … in the given shape."""
    return np.arange(math.prod(shape), dtype=np.int64).reshape(shape)


def take_entries(graph: Graph, x: Value, chosen: Indices) -> Value:
    """Return the tensor of the entries of x that a table of indices names; index -1 gives 0."""
    flat = np.ascontiguousarray(chosen, dtype=np.int64).reshape(-1)
    if np.array_equal(flat, np.arange(x.size)):
        return Value(x.node, chosen.shape)
    return graph.add(Take(flat), [x], chosen.shape)


def reshape(x: Value, shape: Sequence[int]) -> Value:
    """Return the value in another shape with the same number of entries."""
    if math.prod(shape) != x.size:
        raise NetworkError(f"cannot reshape a value of shape {list(x.shape)} to {list(shape)}")
    return Value(x.node, tuple(shape))


def concat(graph: Graph, values: Sequence[Value], axis: int) -> Value:
    """Concatenate tensors along an axis."""
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
    return take_entries(graph, graph.join(values), chosen)


def _broadcast(graph: Graph, values: Sequence[Value]) -> list[Value]:
    """Broadcast values to their common shape."""
    try:
        shape = checked_shape(np.broadcast_shapes(*(value.shape for value in values)))
    except NetworkError:
        raise
    except ValueError:
        shapes = " and ".join(str(list(value.shape)) for value in values)
        raise NetworkError(f"shapes {shapes} do not fit together") from None
    return [
        take_entries(graph, value, np.broadcast_to(indices(value.shape), shape)) for value in values
    ]


def _with_constant(graph: Graph, x: Value, constant: Array) -> tuple[Value, RationalMatrix]:
    """Broadcast a value and a constant to their common shape, the constant as a column."""
    try:
        shape = checked_shape(np.broadcast_shapes(x.shape, constant.shape))
    except NetworkError:
        raise
    except ValueError:
        raise NetworkError(
            f"a constant of shape {list(constant.shape)} does not fit a value of shape "
            f"{list(x.shape)}"
        ) from None
    widened = take_entries(graph, x, np.broadcast_to(indices(x.shape), shape))
    return widened, _spread_column(constant, shape)


# --- Numbers of the file --------------------------------------------------------------------------


def column(array: Array) -> RationalMatrix:
    """Return the exact numbers of an array, in row-major order, as a column."""
    return RationalMatrix.from_array(np.ascontiguousarray(array).reshape(-1))


def _spread_column(array: Array, shape: tuple[int, ...]) -> RationalMatrix:
    """Return the exact numbers of an array that is broadcast to a shape, as a column."""
    numbers, places = column(array), np.broadcast_to(indices(array.shape), shape)
    need(entries=places.size * (1 + numbers.bits // _BITS_OF_ENTRY))
    return as_dense(take_rows(numbers, places.reshape(-1)))


def _sparse_matrix(
    shape: tuple[int, int],
    rows: Indices,
    columns: Indices,
    weights: Indices,
    numbers: Array,
    copies: tuple[int, int] = (1, 0),
) -> SparseMatrix:
    """Return the matrix with entry ``numbers[weights[i]]`` at (rows[i], columns[i]).

    The index arrays are broadcast together; `numbers` is indexed flat. Entries with row or column
    -1 are left out, and entries at the same place are added. `copies` says how many copies of these
    entries stand below each other, and what is added to the weights from one to the next.
    """
    size = math.prod(np.broadcast_shapes(rows.shape, columns.shape, weights.shape))
    need(entries=size * copies[0])
    rows, columns, weights = (
        np.ascontiguousarray(a).reshape(-1) for a in np.broadcast_arrays(rows, columns, weights)
    )
    inside = (columns >= 0) & (rows >= 0)
    if int(inside.sum()) * copies[0] > _MAX_ENTRIES:
        raise NetworkError(f"its matrix has more than {_MAX_ENTRIES} entries")
    return SparseMatrix.from_codes(
        shape, rows[inside], columns[inside], weights[inside], column(numbers), *copies
    )


# --- Entry by entry -------------------------------------------------------------------------------


def add(graph: Graph, x: Value, y: Value, sign: int = 1) -> Value:
    """Return x + y, or x - y if the sign is -1."""
    x, y = _broadcast(graph, [x, y])
    return graph.add(Add(sign), [x, y], x.shape)


def add_constant(graph: Graph, x: Value, constant: Array) -> Value:
    """Return x + constant."""
    x, added = _with_constant(graph, x, constant)
    return graph.add(Linear(SparseMatrix.identity(x.size), added), [x], x.shape)


def multiply(
    graph: Graph, x: Value, constant: Array, extra_roundings: int = 0, stretch: float = 1.0
) -> Value:
    """Return x · constant, entry by entry.

    The last two arguments are the fields of `Linear` of the same names.
    """
    x, factors = _with_constant(graph, x, constant)
    matrix = SparseMatrix.diagonal(factors)
    return graph.add(Linear(matrix, None, None, extra_roundings, stretch), [x], x.shape)


def divide(graph: Graph, x: Value, divisors: Array) -> Value:
    """Return x divided by exact numbers, entry by entry.

    The rounding of the quotient is bounded in the arithmetics `arithmetics_dividing_by(divisors)`.
    """
    return multiply(graph, x, reciprocals(divisors), extra_roundings=QUOTIENT_ROUNDINGS)


def arithmetics_dividing_by(divisors: Array) -> set[str]:
    """Return the names of the float arithmetics in which no divisor may be taken for 0.

    In the others nothing is known about a runtime's quotient.
    """
    smallest = min((abs(Fraction(entry)) for entry in divisors.reshape(-1)), default=Fraction(1))
    return {name for name in BOUNDED if smallest >= Fraction(float_arithmetic(name).tiny)}


def arithmetics_normalising_by(variance: Array, epsilon: Fraction) -> set[str]:
    """Return the names of the float arithmetics that give variance + ε to within one rounding more.

    A positive variance or ε below the normal numbers may be taken for 0. That does no more than one
    rounding of the sum if the sum is large enough; else nothing is known about a runtime's result.
    """
    numbers = list(column(variance).entries())
    names = set[str]()
    for name in BOUNDED:
        arithmetic = float_arithmetic(name)
        tiny, unit = Fraction(arithmetic.tiny), Fraction(arithmetic.unit)
        if all(
            entry + epsilon >= 2 * tiny / unit or not (0 < entry < tiny or 0 < epsilon < tiny)
            for entry in numbers
        ):
            names.add(name)
    return names


def relu(graph: Graph, x: Value) -> Value:
    """Return max(x, 0)."""
    return graph.add(Relu(), [x], x.shape)


def leaky_relu(graph: Graph, x: Value, slopes: Array) -> Value:
    """Return x where it is positive and slope · x elsewhere; slope -1 gives |x|."""
    x, spread = _with_constant(graph, x, slopes)
    return graph.add(LeakyRelu(tuple(spread.entries())), [x], x.shape)


def clip(graph: Graph, x: Value, low: Fraction | None, high: Fraction | None) -> Value:
    """Return min(max(x, low), high); a limit that is None does not bind."""
    return graph.add(Clip(low, high), [x], x.shape)


def maximum(graph: Graph, x: Value, y: Value) -> Value:
    """Return max(x, y)."""
    return _extreme_of_two(graph, Maximum(), x, y)


def minimum(graph: Graph, x: Value, y: Value) -> Value:
    """Return min(x, y)."""
    return _extreme_of_two(graph, Minimum(), x, y)


def _extreme_of_two(graph: Graph, operation: Operation, x: Value, y: Value) -> Value:
    """Return the maximum or minimum of two values, which is x itself if both are the same."""
    x, y = _broadcast(graph, [x, y])
    return x if x == y else graph.add(operation, [x, y], x.shape)


# --- Products -------------------------------------------------------------------------------------


def matmul(
    graph: Graph,
    x: Value,
    weight: Array,
    offset: Array | None = None,
    factors: Sequence[Fraction] = (),
) -> Value:
    """Return x · weight + offset with the shapes of `numpy.matmul`.

    The offset is broadcast to the shape of the product. `weight` and `offset` already contain all
    scale factors; `factors` names the factors by which a runtime multiplies products or the offset
    at run time, which matters for its rounding errors.
    """
    is_row = weight.ndim == 2 and bool(x.shape) and x.size == x.shape[-1]
    shape = _product_shape(x.shape, weight.shape, is_limited=not is_row)
    if is_row:  # as in most files: keep it dense
        need(entries=weight.size)
        matrix: AnyMatrix = RationalMatrix.from_array(np.ascontiguousarray(weight.T))
    else:
        left, right = _as_stacks(indices(x.shape), indices(weight.shape))
        matrix = _contraction(
            shape, x.size, left[..., :, None, :], right.swapaxes(-1, -2)[..., None, :, :], weight
        )
    return _affine(graph, x, matrix, offset, shape, *_effect_of_factors(weight, factors))


def add_to_product(graph: Graph, product: Value, y: Value, factor: Fraction) -> Value:
    """Return a product that `matmul` made, plus factor · y, as one affine map of both inputs.

    One sum is needed for the error bound, because a runtime may start the summation from y.
    """
    node = graph.nodes[product.node]
    products = cast(Linear, node.operation)
    added = SparseMatrix.identity(y.size).scale_rows([factor] * y.size)
    matrix = stack([products.matrix.transpose(), added.transpose()]).transpose()
    stretch = products.stretch * max(
        1.0, _nearest_float(abs(factor)), _nearest_float(1 / abs(factor))
    )
    (source,) = node.inputs
    both = graph.join([Value(source, (graph.nodes[source].size,)), y])
    return graph.add(
        Linear(matrix, None, None, products.extra_roundings + _SUMMAND_ROUNDINGS, stretch),
        [both],
        product.shape,
    )


def _effect_of_factors(weight: Array, factors: Sequence[Fraction]) -> tuple[int, float]:
    """Return `extra_roundings` and `stretch` of `Linear` for a product with scale factors.

    An intermediate result is larger or smaller than the inputs and the final terms at most by the
    product of the factors, of their reciprocals and of the largest weight, whatever the order.
    """
    if all(factor == 1 for factor in factors):
        return 0, 1.0
    stretch = max(
        1.0,
        float(np.abs(RationalMatrix.from_array(weight.reshape(-1)).to_floats()).max(initial=0.0)),
    )
    for factor in factors:
        if factor:
            stretch *= max(1.0, _nearest_float(abs(factor)), _nearest_float(1 / abs(factor)))
    return _SCALE_ROUNDINGS, stretch * _STRETCH_MARGIN


def _nearest_float(number: Fraction) -> float:
    """Return the nearest float64, the largest finite one beyond its range."""
    return float(RationalMatrix.column([number]).to_floats()[0, 0])


def matmul_from_left(
    graph: Graph,
    weight: Array,
    x: Value,
    offset: Array | None = None,
    factors: Sequence[Fraction] = (),
) -> Value:
    """Return weight · x + offset; shapes, offset and factors are as in `matmul`."""
    shape = _product_shape(weight.shape, x.shape)
    if weight.ndim == 2 and x.size == (x.shape[-2] if len(x.shape) > 1 else x.size):
        need(entries=weight.size)
        matrix: AnyMatrix = RationalMatrix.from_array(np.ascontiguousarray(weight))
    else:
        left, right = _as_stacks(indices(weight.shape), indices(x.shape))
        matrix = _contraction(
            shape, x.size, right.swapaxes(-1, -2)[..., None, :, :], left[..., :, None, :], weight
        )
    return _affine(graph, x, matrix, offset, shape, *_effect_of_factors(weight, factors))


def _product_shape(
    left: tuple[int, ...], right: tuple[int, ...], is_limited: bool = True
) -> tuple[int, ...]:
    """Return the shape of a product of tensors; too many products are a `NetworkError`.

    There is no limit where each weight of the file is in one product.
    """
    rows, columns = left[-2:-1], right[-1:] if len(right) > 1 else ()
    terms = right[-2] if len(right) > 1 else right[0] if right else 0
    try:
        batch = np.broadcast_shapes(left[:-2], right[:-2])
    except ValueError:
        batch, terms = (), 0
    if not left or left[-1] != terms:
        raise NetworkError(f"cannot multiply shapes {list(left)} and {list(right)}")
    if is_limited:
        checked_shape([*batch, *rows, *columns, terms])
    return (*batch, *rows, *columns)


def _as_stacks(left: Indices, right: Indices) -> tuple[Indices, Indices]:
    """Return a vector on the left as a matrix of one row, on the right as one of one column."""
    return (left[None] if left.ndim == 1 else left), (right[:, None] if right.ndim == 1 else right)


def _contraction(
    shape: tuple[int, ...], size: int, columns: Indices, weights: Indices, numbers: Array
) -> SparseMatrix:
    """Return the matrix of the map out[o] = Σ_k numbers[weights[o, k]] x[columns[o, k]].

    Here o runs over the entries of the output, which has the given shape, and x has `size` entries.
    """
    columns, weights = np.broadcast_arrays(columns, weights)
    rows = np.arange(math.prod(shape), dtype=np.int64)
    terms = columns.shape[-1]
    return _sparse_matrix(
        (len(rows), size),
        rows[:, None],
        columns.reshape(len(rows), terms),
        weights.reshape(len(rows), terms),
        numbers,
    )


def _affine(
    graph: Graph,
    x: Value,
    matrix: AnyMatrix,
    offset: Array | None,
    shape: tuple[int, ...],
    extra_roundings: int = 0,
    stretch: float = 1.0,
) -> Value:
    """Return matrix · x + offset in the given shape, to which the offset is broadcast.

    The last two arguments are the fields of `Linear` of the same names.
    """
    added = None
    if offset is not None:
        try:
            added = _spread_column(offset, shape)
        except ValueError:
            raise NetworkError(
                f"a constant of shape {list(offset.shape)} does not fit a value of shape "
                f"{list(shape)}"
            ) from None
    return graph.add(Linear(matrix, added, None, extra_roundings, stretch), [x], shape)


def sum_over(graph: Graph, x: Value, axes: Sequence[int], factor: Fraction, keep: bool) -> Value:
    """Return factor · (sum over some axes); 1 / (number of summands) as factor gives the mean.

    The summed axes get size 1 if `keep` is true, else they are removed.
    """
    axes = tuple(range(len(x.shape))[axis] for axis in axes)
    others = [axis for axis in range(len(x.shape)) if axis not in axes]
    table = np.transpose(indices(x.shape), (*others, *axes))
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    if not keep:
        shape = tuple(x.shape[axis] for axis in others)
    numbers = np.array([factor], dtype=object)
    columns = table.reshape(math.prod(shape), -1)
    matrix = _contraction(shape, x.size, columns, np.zeros_like(columns), numbers)
    if factor == 1:
        return _affine(graph, x, matrix, None, shape)
    return _affine(graph, x, matrix, None, shape, QUOTIENT_ROUNDINGS, _nearest_float(1 / factor))


# --- Windows --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Window:
    """The window that a convolution or a pooling slides over its input.

    Attributes
    ----------
    kernel, strides, dilations
        Size, stride and dilation for each spatial dimension.
    pads
        Number of padding entries before and after, for each spatial dimension.
    rounds_up
        Whether the number of windows is rounded up (``ceil_mode``): a last window that overlaps the
        end counts, unless it starts in the padding there.
    """

    kernel: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    pads: Pads
    rounds_up: bool = False

    def counts(self, sizes: Sequence[int]) -> list[int]:
        """Return the number of windows along each spatial dimension of an input."""
        entries = zip(sizes, self.kernel, self.strides, self.dilations, self.pads, strict=True)
        return [_num_windows(*entry, self.rounds_up) for entry in entries]

    def transposed_sizes(self, sizes: Sequence[int], extra: Sequence[int]) -> list[int]:
        """Return the spatial sizes of the output of a transposed convolution.

        `extra` entries are added at the end of each dimension (``output_padding``).
        """
        entries = zip(
            sizes, self.kernel, self.strides, self.dilations, self.pads, extra, strict=True
        )
        return [
            (size - 1) * stride + dilation * (width - 1) + 1 - sum(pad) + more
            for size, width, stride, dilation, pad, more in entries
        ]


def plain_window(kernel: Sequence[int], strides: Sequence[int]) -> Window:
    """Return a window that is neither dilated nor padded."""
    return Window(kernel, strides, [1] * len(kernel), [(0, 0)] * len(kernel))


def _num_windows(
    size: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int], rounds_up: bool
) -> int:
    """Return the number of windows along one dimension; the arguments are as in `Window`."""
    room = size + sum(pads) - (dilation * (kernel - 1) + 1)
    count = -(-room // stride) + 1 if rounds_up else room // stride + 1
    if count < 1:
        padded = size + sum(pads)
        raise NetworkError(
            f"a window of size {kernel}, dilation {dilation}, does not fit {padded} entries"
        )
    return count - 1 if rounds_up and (count - 1) * stride >= size + pads[0] else count


def _window_table(shape: tuple[int, ...], window: Window) -> Indices:
    """Return the table of indices of each window, shape (batch, channels, *positions, *kernel).

    Index -1 marks padding, -2 places beyond the padding, which a last window may reach if the
    number of windows is rounded up.
    """
    checked_shape(
        [*shape[:2], *(size + sum(pad) for size, pad in zip(shape[2:], window.pads, strict=True))]
    )
    counts = window.counts(shape[2:])
    need(entries=math.prod(checked_shape([*shape[:2], *counts, *window.kernel])))
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
    """Return the convolution of x with zero padding.

    The shapes are (batch, C, …) for x, (M, C / groups, …) for the kernel and (M,) for the bias.

    >>> graph = Graph()
    >>> (x,) = graph.inputs([(1, 1, 4)])
    >>> conv(graph, x, np.array([[[1, 2]]]), None, Window([2], [2], [1], [(0, 1)]), 1).shape
    (1, 1, 2)
    """
    batch, channels, *_ = x.shape
    filters, group_channels, *widths = kernel.shape
    if (
        len(x.shape) != kernel.ndim
        or groups < 1
        or channels != group_channels * groups
        or filters % groups
    ):
        raise NetworkError(
            f"a kernel of shape {list(kernel.shape)} in {groups} groups meets shape {list(x.shape)}"
        )
    table = np.maximum(_window_table(x.shape, window), -1)
    places = table.shape[2 : 2 + len(widths)]
    checked_shape([batch, kernel.size, *places])
    table = table.reshape(batch, groups, group_channels, math.prod(places), math.prod(widths))
    # Axes of the result: batch, group, filter of the group, position. Axes of the sum: channel of
    # the group, offset in the window.
    columns = table.transpose(0, 1, 3, 2, 4)[:, :, None]
    copies = filters if batch * groups == 1 else 1
    firsts = filters // groups // copies
    weights = indices(kernel.shape).reshape(1, groups, filters // groups, 1, group_channels, -1)
    shape = (batch, filters, *places)
    rows = indices((batch, groups, firsts, math.prod(places)))[..., None, None]
    matrix = _sparse_matrix(
        (math.prod(shape), x.size),
        rows,
        columns,
        weights[:, :, :firsts],
        kernel,
        (copies, math.prod(kernel.shape[1:])),
    )
    added = None if bias is None else bias.reshape(-1, *(1 for _ in places))
    return _affine(graph, x, matrix, added, shape)


def conv_transpose(
    graph: Graph,
    x: Value,
    kernel: Array,
    bias: Array | None,
    window: Window,
    groups: int,
    spatial: Sequence[int],
) -> Value:
    """Return the transposed convolution of x, with the given spatial sizes of the output.

    The shapes are (batch, C, …) for x, (C, M / groups, …) for the kernel and (M,) for the bias.
    """
    batch, channels, *sizes = x.shape
    kernel_channels, filters, *widths = kernel.shape
    checked_shape([batch, *kernel.shape, *sizes])
    checked_shape([batch, filters * groups, *(max(size, 0) for size in spatial)])
    if (
        len(x.shape) != kernel.ndim
        or groups < 1
        or channels != kernel_channels
        or channels % groups
    ):
        raise NetworkError(
            f"a kernel of shape {list(kernel.shape)} in {groups} groups meets shape {list(x.shape)}"
        )
    target = _transposed_targets(sizes, widths, window, spatial)
    # Axes: batch, group, channel of the group, filter of the group, position, offset in the window.
    share, total = channels // groups, math.prod(spatial)
    inputs = indices((batch, groups, share, math.prod(sizes)))[:, :, :, None, :, None]
    copies = filters if batch * groups == 1 else 1
    firsts = filters // copies
    weights = indices((groups, share, filters, math.prod(widths)))[None, :, :, :firsts, None, :]
    outputs = indices((batch, groups, firsts))[:, :, None, :, None, None] * total + target
    outputs, inputs, weights = np.broadcast_arrays(
        np.where(target < 0, -1, outputs), inputs, weights
    )
    shape = (batch, filters * groups, *spatial)
    matrix = _sparse_matrix(
        (math.prod(shape), x.size), outputs, inputs, weights, kernel, (copies, math.prod(widths))
    )
    added = None if bias is None else bias.reshape(-1, *(1 for _ in spatial))
    return _affine(graph, x, matrix, added, shape)


def _transposed_targets(
    sizes: Sequence[int], widths: Sequence[int], window: Window, spatial: Sequence[int]
) -> Indices:
    """Return the output position that an input position and an offset in the window reach.

    Positions and offsets are numbered over all spatial dimensions; the shape is (positions of the
    input, offsets). Positions outside the output are -1.
    """
    target = np.zeros((1, 1), dtype=np.int64)
    steps = zip(sizes, widths, window.strides, window.dilations, window.pads, spatial, strict=True)
    for size, width, stride, dilation, pad, out in steps:
        place = np.arange(size)[:, None] * stride + np.arange(width) * dilation - pad[0]
        place = np.where((place >= 0) & (place < out), place, -1)[None, :, None, :]
        earlier = target[:, None, :, None]
        both = np.where((earlier < 0) | (place < 0), -1, earlier * out + place)
        target = both.reshape(target.shape[0] * size, target.shape[1] * width)
    return target


def max_pool(graph: Graph, x: Value, window: Window) -> Value:
    """Return the maximum of each window over its entries, without the padding.

    >>> graph = Graph()
    >>> (x,) = graph.inputs([(1, 1, 4)])
    >>> max_pool(graph, x, Window([3], [1], [1], [(1, 1)])).shape
    (1, 1, 4)
    """
    table = _window_table(x.shape, window)
    shape = table.shape[: len(x.shape)]
    return reshape(
        _maxima_of_groups(graph, x, np.maximum(table.reshape(math.prod(shape), -1), -1)), shape
    )


def _maxima_of_groups(graph: Graph, x: Value, members: Indices) -> Value:
    """Return the maximum of the entries of x that each row of `members` lists; -1 is no entry.

    The maxima of pairs come first, then of pairs of pairs, and so on, so that ⌈log2⌉ of the row
    length bounds the number of layers. A pair that several rows share is computed once.
    """
    if (members.max(axis=1) < 0).any():
        raise NetworkError("a window lies in the padding altogether")
    entries_first = np.argsort(members < 0, axis=1, kind="stable")
    members = np.take_along_axis(members, entries_first, axis=1)
    pool = x
    while members.shape[1] > 1:
        if members.shape[1] % 2:
            members = np.pad(members, ((0, 0), (0, 1)), constant_values=-1)
        first, second = members[:, 0::2], members[:, 1::2]
        if (second < 0).all():  # no row lists more than one entry
            members = first
            continue
        pairs, numbers = np.unique(
            np.stack([first, second], axis=-1)[second >= 0], axis=0, return_inverse=True
        )
        left, right = (take_entries(graph, pool, pairs[:, side]) for side in (0, 1))
        members = first.copy()
        members[second >= 0] = pool.size + numbers.reshape(-1)
        pool = graph.join([pool, maximum(graph, left, right)])
    return take_entries(graph, pool, members[:, 0])


def average_pool(graph: Graph, x: Value, window: Window, count_padding: bool) -> Value:
    """Return the mean of each window over its entries, or over entries and padding."""
    table = _window_table(x.shape, window)
    shape = table.shape[: len(x.shape)]
    members = table.reshape(math.prod(shape), -1)
    counts = (members >= (-1 if count_padding else 0)).sum(axis=1)
    if not counts.all():
        raise NetworkError("a window lies in the padding altogether")
    distinct, places = np.unique(counts, return_inverse=True)
    numbers = np.array([Fraction(1, int(count)) for count in distinct], dtype=object)
    matrix = _contraction(shape, x.size, members, places.reshape(-1, 1), numbers)
    return _affine(graph, x, matrix, None, shape, QUOTIENT_ROUNDINGS, float(counts.max()))


def batch_norm(
    graph: Graph,
    x: Value,
    scale: Array,
    bias: Array,
    mean: Array,
    variance: Array,
    epsilon: Fraction,
    root_format: FloatFormat,
) -> tuple[Value, int]:
    """Return the batch normalisation of x, and the number of factors that had to be rounded.

    Each channel becomes (x - mean) / √(variance + ε) · scale + bias. A factor 1/√(variance + ε)
    that is irrational is rounded to `root_format`.
    """
    channels = x.shape[1] if len(x.shape) > 1 else 0
    if not scale.shape == bias.shape == mean.shape == variance.shape == (channels,):
        raise NetworkError(
            f"its parameters do not have shape [{channels}], the channels of a value "
            f"{list(x.shape)}"
        )
    variances = list(column(variance).entries())
    squares = [entry + epsilon for entry in variances]
    if min(variances) < 0 or min(squares) < _LEAST_VARIANCE:
        raise NetworkError(
            "a variance is negative, or variance + epsilon is below 2^-120: no runtime can divide "
            "by it"
        )
    roots = [inverse_root(square, root_format) for square in squares]
    rounded = sum(root * root * square != 1 for root, square in zip(roots, squares, strict=True))
    factors = [g * root for g, root in zip(column(scale).entries(), roots, strict=True)]
    shifts = [m * f for m, f in zip(column(mean).entries(), factors, strict=True)]
    offsets = [b - s for b, s in zip(column(bias).entries(), shifts, strict=True)]
    spreads = [abs(b) + abs(s) for b, s in zip(column(bias).entries(), shifts, strict=True)]
    channel = np.broadcast_to(
        np.arange(channels).reshape(-1, *(1 for _ in x.shape[2:])), x.shape
    ).reshape(-1)
    offset, spread = (
        as_dense(take_rows(RationalMatrix.column(numbers), channel))
        for numbers in (offsets, spreads)
    )
    places, shape = np.arange(x.size), (x.size, x.size)
    linear = Linear(
        SparseMatrix.from_codes(shape, places, places, channel, RationalMatrix.column(factors)),
        offset,
        spread,
        _NORMALISATION_ROUNDINGS,
        _stretch_of_norm(scale, mean, roots),
    )
    return graph.add(linear, [x], x.shape), rounded


def _stretch_of_norm(scale: Array, mean: Array, roots: Sequence[Fraction]) -> float:
    """Return the stretch of a batch normalisation (`Linear.stretch`), for any order of its steps.

    A runtime multiplies x, the mean or their difference by the scale and divides them by the
    standard deviation; the entries of `roots` are the reciprocals of the deviations.
    """
    reciprocals_of_deviations: list[float] = RationalMatrix.column(roots).to_floats()[:, 0].tolist()
    largest_mean, largest_scale = (
        float(np.abs(column(array).to_floats()).max()) for array in (mean, scale)
    )
    stretch = (1 + largest_mean) * max(1.0, largest_scale)
    largest = max(1.0, *reciprocals_of_deviations)
    return stretch * largest * max(1.0, 1 / min(reciprocals_of_deviations)) * _STRETCH_MARGIN
