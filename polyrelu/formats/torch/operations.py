"""The supported operations of PyTorch, each as a function of a `TorchStep` and its arguments.

Here is one handler for each layer of ``torch.nn``, each function and each method of tensors that
polyrelu knows; the tables at the end list them. The walk through a traced module calls them with
the arguments that PyTorch would give, by position or by PyTorch's names. A handler must refuse
every argument whose effect it does not implement.

An argument is a value of the graph, a constant array, or plain Python: numbers, shapes, slices.
Operations that only move entries compute a table of positions (`_moved`), so they apply to values
and to constants. Arithmetic on constants alone is exact.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError
from polyrelu.formats.folding import folded, folded_product
from polyrelu.formats.graph import tensors
from polyrelu.formats.graph.constants import exact, reciprocals
from polyrelu.formats.graph.tensors import Pads, Window, plain_window
from polyrelu.formats.graph.values import Graph, Value
from polyrelu.formats.imported import Draft
from polyrelu.formats.options import ReadOptions
from polyrelu.formats.torch.tensors import stored_tensor
from polyrelu.support.typing import Array

__all__ = ["FUNCTIONS", "LAYERS", "METHODS", "Handler", "StepError", "TorchStep", "TraceReader"]

Handler: TypeAlias = Callable[..., Any]


class StepError(NetworkError):
    """An error whose message names the node of the trace."""


@dataclass(slots=True)
class TraceReader:
    """The state of the walk through one traced module.

    Attributes
    ----------
    draft
        The network that is read, with its notes.
    graph
        The graph that is built.
    options
        The options of the user.
    values
        The result of each node so far: a value, an array, or plain Python.
    counted
        The tensors that entered the function so far, by identity.
    """

    draft: Draft
    graph: Graph
    options: ReadOptions
    values: dict[Any, Any] = field(default_factory=dict)
    counted: dict[int, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TorchStep:
    """One node of the trace, with its name and the name of its operation."""

    reader: TraceReader
    name: str
    kind: str

    @property
    def graph(self) -> Graph:
        """The graph that is built."""
        return self.reader.graph

    def fail(self, problem: str) -> StepError:
        """Return the error for a problem with this node."""
        return StepError(f"node {self.name!r} ({self.kind}): {problem}")

    def tensor(self, tensor: Any) -> Array:
        """Return the exact numbers of a parameter or buffer, which are counted once."""
        stored = stored_tensor(tensor)
        try:
            array = stored.numbers()
        except NetworkError as error:
            raise self.fail(f"a tensor of the module cannot be read: {error}") from None
        if id(tensor) not in self.reader.counted:
            self.reader.counted[id(tensor)] = tensor  # kept, so that its id is not used again
            self.reader.draft.dtypes.add(stored.kind)
            self.reader.draft.num_stored += array.size
        return array

    def number(self, number: Any) -> Fraction:
        """Return a number of the program exactly.

        By the rule ``attributes`` a float is the float64 that it is, or its shortest decimal.
        """
        if isinstance(number, int):
            return Fraction(number)
        if not isinstance(number, float) or not math.isfinite(number):
            raise self.fail(f"{str(number)[:40]} is not a finite number")
        rule, decimal = self.reader.options.rounding.attributes, Fraction(repr(number))
        if decimal != Fraction(number):
            self.reader.draft.rounding.add(f"attributes: {rule}")
        return decimal if rule == "decimal" else Fraction(number)

    def limit(self, number: Any) -> Fraction | None:
        """Return a limit of a clip, or None if the argument is None or infinite."""
        return None if number is None or number in (math.inf, -math.inf) else self.number(number)

    def constant(self, known: Any) -> Array:
        """Return a constant array or number as an array; refuse values that depend on the input."""
        if isinstance(known, Value):
            raise self.fail("one of its parameters depends on the input")
        return (
            known if isinstance(known, np.ndarray) else np.array(self.number(known), dtype=object)
        )

    def value(self, known: Any) -> Value:
        """Return a value of the graph; a constant becomes a value."""
        if isinstance(known, Value):
            return known
        array = self.constant(known)
        return self.graph.constant(tensors.column(array), array.shape)


# --- Operations that move entries -----


def _moved(step: TorchStep, x: Any, table: NDArray[np.int64]) -> Any:
    """Return the entries of x at the positions in a table, in the shape of the table."""
    if isinstance(x, Value):
        if not table.size:
            raise step.fail("nothing is left of the value")
        return tensors.take_entries(step.graph, x, table)
    # numpy returns a bare number for an index without dimensions
    return np.asarray(x.reshape(-1)[table])


def _sizes_given(sizes: Sequence[Any]) -> list[int]:
    """Return sizes or axes that are separate arguments or one sequence."""
    given = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    return [int(size) for size in given]


def _completed(step: TorchStep, sizes: list[int], total: int) -> list[int]:
    """Return the sizes with the number in place of a size -1."""
    known = math.prod(size for size in sizes if size != -1)
    if sizes.count(-1) == 1 and known > 0:
        sizes = [total // known if size == -1 else size for size in sizes]
    if math.prod(sizes) != total or min(sizes, default=1) < 1:
        raise step.fail(f"cannot reshape {total} entries to {sizes}")
    return sizes


def _reshape(step: TorchStep, x: Any, *shape: Any) -> Any:
    table = tensors.indices(x.shape)
    return _moved(step, x, table.reshape(_completed(step, _sizes_given(shape), table.size)))


def _flatten(step: TorchStep, x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    rank = len(x.shape)
    first, last = range(rank)[start_dim], range(rank)[end_dim]
    if first > last:
        raise step.fail(f"dimensions {start_dim} to {end_dim} of a value of shape {list(x.shape)}")
    shape = (*x.shape[:first], math.prod(x.shape[first : last + 1]), *x.shape[last + 1 :])
    return _moved(step, x, tensors.indices(x.shape).reshape(shape))


def _unflatten(step: TorchStep, x: Any, dim: int, sizes: Sequence[int]) -> Any:
    axis = range(len(x.shape))[dim]
    shape = (
        *x.shape[:axis],
        *_completed(step, [int(size) for size in sizes], x.shape[axis]),
        *x.shape[axis + 1 :],
    )
    return _moved(step, x, tensors.indices(x.shape).reshape(shape))


def _transpose(step: TorchStep, x: Any, dim0: int, dim1: int) -> Any:
    return _moved(step, x, np.swapaxes(tensors.indices(x.shape), dim0, dim1))


def _permute(step: TorchStep, x: Any, *dims: Any) -> Any:
    return _moved(step, x, np.transpose(tensors.indices(x.shape), _sizes_given(dims)))


def _t(step: TorchStep, x: Any) -> Any:
    if len(x.shape) > 2:
        raise step.fail(f"a value of shape {list(x.shape)} is not a matrix")
    return _moved(step, x, tensors.indices(x.shape).T)


def _squeeze(step: TorchStep, x: Any, dim: Any = None) -> Any:
    rank = len(x.shape)
    axes = range(rank) if dim is None else [range(rank)[axis] for axis in _sizes_given([dim])]
    table = np.squeeze(tensors.indices(x.shape), tuple(axis for axis in axes if x.shape[axis] == 1))
    return _moved(step, x, table)


def _unsqueeze(step: TorchStep, x: Any, dim: int) -> Any:
    return _moved(step, x, np.expand_dims(tensors.indices(x.shape), dim))


def _getitem(step: TorchStep, x: Any, index: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return x[index]
    for part in index if isinstance(index, tuple) else [index]:
        is_slice = isinstance(part, slice) and (part.step is None or part.step > 0)
        if not (is_slice or part is None or part is Ellipsis or type(part) is int):
            raise step.fail("only numbers and slices are supported as indices")
    return _moved(step, x, np.asarray(tensors.indices(x.shape)[index]))


def _size(step: TorchStep, x: Any, dim: int | None = None) -> Any:
    return tuple(x.shape) if dim is None else x.shape[dim]


def _dim(step: TorchStep, x: Any) -> int:
    return len(x.shape)


def _getattr(step: TorchStep, x: Any, name: str) -> Any:
    """Return the shape, the rank or the transpose of a tensor."""
    if name == "T":
        return _moved(step, x, tensors.indices(x.shape).T)
    if name not in ("shape", "ndim"):
        raise step.fail(f"the attribute {name!r} of a tensor is not supported")
    return tuple(x.shape) if name == "shape" else len(x.shape)


def _cat(step: TorchStep, parts: Sequence[Any], dim: int = 0) -> Any:
    if all(isinstance(entry, np.ndarray) for entry in parts):
        return np.concatenate([exact(step.constant(entry)) for entry in parts], axis=dim)
    return tensors.concat(step.graph, [step.value(entry) for entry in parts], dim)


def _pad(
    step: TorchStep, x: Any, pad: Sequence[int], mode: str = "constant", value: Any = None
) -> Any:
    """Pad with a constant; the amounts are given for the last dimension first."""
    if mode != "constant":
        raise step.fail(f"mode {mode!r} is not supported")
    if len(pad) % 2 or len(pad) > 2 * len(x.shape) or min(pad, default=0) < 0:
        raise step.fail(f"padding {list(pad)} of a value of shape {list(x.shape)} is not supported")
    pairs = [(int(pad[i]), int(pad[i + 1])) for i in range(0, len(pad), 2)]
    amounts = [(0, 0)] * (len(x.shape) - len(pairs)) + pairs[::-1]
    tensors.checked_shape(
        [size + sum(amount) for size, amount in zip(x.shape, amounts, strict=True)]
    )
    x, filling = step.value(x), step.number(value or 0)
    if not filling:
        return tensors.take_entries(
            step.graph, x, np.pad(tensors.indices(x.shape), amounts, constant_values=-1)
        )
    joined = step.graph.join([x, step.value(np.array([filling], dtype=object))])
    return tensors.take_entries(
        step.graph, joined, np.pad(tensors.indices(x.shape), amounts, constant_values=x.size)
    )


def _identity(step: TorchStep, x: Any, *_: Any) -> Any:
    return x


def _dropout(
    step: TorchStep, x: Any, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Any:
    """Return x, since dropout does nothing at inference."""
    if training:
        raise step.fail(
            "with training=True it is not a function of the input; pass training=self.training"
        )
    step.reader.draft.notes.append("Dropout does nothing at inference")
    return x


# --- Entry by entry -----


def _folded(step: TorchStep, operation: Callable[..., Any], *known: Any) -> Array:
    """Apply an operation to constants alone, exactly."""
    return folded(step.reader.draft, operation, *(step.constant(entry) for entry in known))


def _both_constant(x: Any, y: Any) -> bool:
    """Whether neither argument depends on the input."""
    return not isinstance(x, Value) and not isinstance(y, Value)


def _check_alpha(step: TorchStep, alpha: Any) -> None:
    """Refuse a factor of the second summand."""
    if alpha != 1:
        raise step.fail("alpha is not supported")


def _add(step: TorchStep, x: Any, y: Any, alpha: Any = 1) -> Any:
    _check_alpha(step, alpha)
    if _both_constant(x, y):
        return _folded(step, operator.add, x, y)
    if isinstance(x, Value) and isinstance(y, Value):
        return tensors.add(step.graph, x, y)
    value, constant = (x, y) if isinstance(x, Value) else (y, x)
    return tensors.add_constant(step.graph, value, step.constant(constant))


def _sub(step: TorchStep, x: Any, y: Any, alpha: Any = 1) -> Any:
    _check_alpha(step, alpha)
    if _both_constant(x, y):
        return _folded(step, operator.sub, x, y)
    if isinstance(x, Value) and isinstance(y, Value):
        return tensors.add(step.graph, x, y, -1)
    if isinstance(x, Value):
        return tensors.add_constant(step.graph, x, _neg(step, y))
    return tensors.add_constant(step.graph, _neg(step, y), step.constant(x))


def _mul(step: TorchStep, x: Any, y: Any) -> Any:
    if _both_constant(x, y):
        return _folded(step, operator.mul, x, y)
    if isinstance(x, Value) and isinstance(y, Value):
        raise step.fail("a product of two values that depend on the input is not piecewise linear")
    value, constant = (x, y) if isinstance(x, Value) else (y, x)
    return tensors.multiply(step.graph, value, step.constant(constant))


def _div(step: TorchStep, x: Any, y: Any) -> Any:
    if isinstance(y, Value):
        raise step.fail("division by a value that depends on the input is not affine")
    divisors = exact(step.constant(y))
    if not isinstance(x, Value):
        return _folded(step, lambda a, b: a * reciprocals(b), x, y)
    step.reader.draft.bounded &= tensors.arithmetics_dividing_by(divisors)
    return tensors.divide(step.graph, x, divisors)


def _neg(step: TorchStep, x: Any) -> Any:
    if isinstance(x, Value):
        return tensors.multiply(step.graph, x, np.array(-1))
    return _folded(step, operator.neg, x)


def _relu(step: TorchStep, x: Any, inplace: bool = False) -> Any:
    return tensors.relu(step.graph, step.value(x))


def _leaky_relu(
    step: TorchStep, x: Any, negative_slope: float = 0.01, inplace: bool = False
) -> Any:
    return tensors.leaky_relu(step.graph, step.value(x), step.constant(negative_slope))


def _prelu(step: TorchStep, x: Any, weight: Any) -> Any:
    x, slopes = step.value(x), step.constant(weight)
    channels = x.shape[1] if len(x.shape) > 1 else 1
    if slopes.size not in (1, channels):
        raise step.fail(
            f"{slopes.size} slopes for {channels} channels of a value of shape {list(x.shape)}"
        )
    slopes = (
        slopes.reshape(()) if slopes.size == 1 else slopes.reshape(-1, *(1 for _ in x.shape[2:]))
    )
    return tensors.leaky_relu(step.graph, x, slopes)


def _abs(step: TorchStep, x: Any) -> Any:
    return tensors.leaky_relu(step.graph, step.value(x), np.array(-1))


def _clamp(step: TorchStep, x: Any, min: Any = None, max: Any = None) -> Any:
    return tensors.clip(step.graph, step.value(x), step.limit(min), step.limit(max))


def _clamp_max(step: TorchStep, x: Any, max: Any) -> Any:
    return _clamp(step, x, None, max)


def _hardtanh(
    step: TorchStep, x: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Any:
    return _clamp(step, x, min_val, max_val)


def _relu6(step: TorchStep, x: Any, inplace: bool = False) -> Any:
    return _clamp(step, x, 0, 6)


def _hardsigmoid(step: TorchStep, x: Any, inplace: bool = False) -> Any:
    """Clip x + 3 to [0, 6] and divide it by 6."""
    return _div(step, _clamp(step, _add(step, step.value(x), 3), 0, 6), 6)


def _of_two_tensors(of_two: Callable[[Graph, Value, Value], Value]) -> Handler:
    """Return the handler of the maximum or the minimum of two tensors."""

    def handler(step: TorchStep, x: Any, y: Any) -> Any:
        if not all(isinstance(entry, (Value, np.ndarray)) for entry in (x, y)):
            raise step.fail("only the maximum or minimum of two tensors is supported")
        return of_two(step.graph, step.value(x), step.value(y))

    return handler


# --- Products and reductions -----


def _matmul(step: TorchStep, x: Any, y: Any) -> Any:
    if _both_constant(x, y):
        return folded_product(step.reader.draft, step.constant(x), step.constant(y))
    if isinstance(x, Value) and isinstance(y, Value):
        raise step.fail("a product of two values that depend on the input is not piecewise linear")
    if isinstance(x, Value):
        return tensors.matmul(step.graph, x, step.constant(y))
    return tensors.matmul_from_left(step.graph, step.constant(x), y)


def _linear(step: TorchStep, x: Any, weight: Any, bias: Any = None) -> Any:
    offset = None if bias is None else step.constant(bias)
    return tensors.matmul(step.graph, step.value(x), step.constant(weight).T, offset)


def _reduction(mean: bool) -> Handler:
    """Return the handler of the sum, or of the mean, over some axes."""

    def handler(step: TorchStep, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        x = step.value(x)
        rank = len(x.shape)
        axes = (
            list(range(rank))
            if dim is None
            else [range(rank)[axis] for axis in _sizes_given([dim])]
        )
        count = math.prod(x.shape[axis] for axis in axes)
        return tensors.sum_over(
            step.graph, x, axes, Fraction(1, count) if mean else Fraction(1), bool(keepdim)
        )

    return handler


# --- Windows -----


def _per_dimension(sizes: Any, rank: int) -> list[int]:
    """Return a size for each dimension; a single size stands for all of them."""
    given = [int(size) for size in (sizes if isinstance(sizes, (tuple, list)) else [sizes])]
    if len(given) not in (1, rank):
        raise NetworkError(f"sizes {given} for {rank} dimensions")
    return given if len(given) == rank else given * rank


def _on_batch(step: TorchStep, x: Any, rank: int, window: Callable[[Value], Value]) -> Value:
    """Apply an operation to a batch, or to a single sample (channels, …) as a batch of one."""
    x = step.value(x)
    if len(x.shape) not in (rank + 1, rank + 2):
        raise step.fail(
            f"its input has shape {list(x.shape)}; expected a batch, channels and {rank} dimensions"
        )
    if len(x.shape) == rank + 2:
        return window(x)
    result = window(tensors.reshape(x, (1, *x.shape)))
    return tensors.reshape(result, result.shape[1:])


def _conv(
    step: TorchStep,
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    kernel, offset = step.constant(weight), None if bias is None else step.constant(bias)
    rank = kernel.ndim - 2
    strides, dilations = _per_dimension(stride, rank), _per_dimension(dilation, rank)
    window = Window(
        kernel.shape[2:], strides, dilations, _pads(step, padding, kernel.shape[2:], dilations)
    )
    return _on_batch(
        step, x, rank, lambda x: tensors.conv(step.graph, x, kernel, offset, window, groups)
    )


def _pads(step: TorchStep, padding: Any, kernel: Sequence[int], dilations: Sequence[int]) -> Pads:
    """Return the padding at both ends of each dimension."""
    if padding == "valid":
        return [(0, 0)] * len(kernel)
    if padding == "same":  # if the total is odd, the end gets one more
        totals = [dilation * (size - 1) for size, dilation in zip(kernel, dilations, strict=True)]
        return [(total // 2, total - total // 2) for total in totals]
    if isinstance(padding, str):
        raise step.fail(f"padding {padding!r} is not supported")
    return [(size, size) for size in _per_dimension(padding, len(kernel))]


def _max_pool(rank: int) -> Handler:
    """Return the handler of the largest entry of each window."""

    def handler(
        step: TorchStep,
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        if return_indices:
            raise step.fail("return_indices is not supported")
        kernel, dilations = _per_dimension(kernel_size, rank), _per_dimension(dilation, rank)
        strides, pads = _strides(stride, kernel), _pads(step, padding, kernel, dilations)
        window = Window(kernel, strides, dilations, pads, ceil_mode)
        return _on_batch(step, x, rank, lambda x: tensors.max_pool(step.graph, x, window))

    return handler


def _strides(stride: Any, kernel: list[int]) -> list[int]:
    """Return the strides of a pooling, by default the size of the window."""
    return (
        list(kernel)
        if stride is None or stride in ((), [])
        else _per_dimension(stride, len(kernel))
    )


def _average_pool(rank: int) -> Handler:
    """Return the handler of the mean entry of each window."""

    def handler(
        step: TorchStep,
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        if divisor_override is not None:
            raise step.fail("divisor_override is not supported")
        kernel = _per_dimension(kernel_size, rank)
        strides, pads = _strides(stride, kernel), _pads(step, padding, kernel, kernel)
        window = Window(kernel, strides, [1] * rank, pads, ceil_mode)
        return _on_batch(
            step, x, rank, lambda x: tensors.average_pool(step.graph, x, window, count_include_pad)
        )

    return handler


def _adaptive_average_pool(rank: int) -> Handler:
    """Return the handler of average pooling to a given size that divides the size of the input."""

    def handler(step: TorchStep, x: Any, output_size: Any) -> Any:
        def pool(x: Value) -> Value:
            """Pool a batch of values."""
            given = output_size if isinstance(output_size, (tuple, list)) else [output_size] * rank
            sizes = x.shape[2:]
            counts = [
                size if count is None else int(count)
                for size, count in zip(sizes, given, strict=True)
            ]
            if min(counts) < 1 or any(
                size % count for size, count in zip(sizes, counts, strict=True)
            ):
                raise step.fail(f"output size {counts} does not divide the sizes {list(sizes)}")
            kernel = [size // count for size, count in zip(sizes, counts, strict=True)]
            return tensors.average_pool(step.graph, x, plain_window(kernel, kernel), False)

        return _on_batch(step, x, rank, pool)

    return handler


# --- Layers -----


def _bias(step: TorchStep, layer: Any) -> Array | None:
    """Return the bias of a layer, or None if it has none."""
    return None if layer.bias is None else step.tensor(layer.bias)


def _linear_layer(step: TorchStep, layer: Any, x: Any) -> Any:
    return _linear(step, x, step.tensor(layer.weight), _bias(step, layer))


def _check_padding_mode(step: TorchStep, layer: Any) -> None:
    """Refuse padding by other numbers than zeros."""
    if layer.padding_mode != "zeros":
        raise step.fail(f"padding_mode {layer.padding_mode!r} is not supported")


def _conv_layer(step: TorchStep, layer: Any, x: Any) -> Any:
    _check_padding_mode(step, layer)
    weight, bias = step.tensor(layer.weight), _bias(step, layer)
    return _conv(step, x, weight, bias, layer.stride, layer.padding, layer.dilation, layer.groups)


def _conv_transpose_layer(step: TorchStep, layer: Any, x: Any) -> Any:
    _check_padding_mode(step, layer)
    kernel, bias = step.tensor(layer.weight), _bias(step, layer)
    rank = kernel.ndim - 2
    strides, dilations, pads, extra = (
        _per_dimension(sizes, rank)
        for sizes in (layer.stride, layer.dilation, layer.padding, layer.output_padding)
    )

    window = Window(kernel.shape[2:], strides, dilations, [(pad, pad) for pad in pads])

    def transposed(x: Value) -> Value:
        """Apply the transposed convolution to a batch of values."""
        spatial = window.transposed_sizes(x.shape[2:], extra)
        return tensors.conv_transpose(step.graph, x, kernel, bias, window, layer.groups, spatial)

    return _on_batch(step, x, rank, transposed)


def _batch_norm_layer(ranks: Sequence[int]) -> Handler:
    """Return the batch normalisation, with the running statistics, for values with these ranks."""

    def handler(step: TorchStep, layer: Any, x: Any) -> Any:
        x = step.value(x)
        if layer.running_mean is None or layer.running_var is None:
            raise step.fail(
                "without running statistics (track_running_stats=False) it mixes the samples of a "
                "batch"
            )
        if len(x.shape) not in ranks:
            raise step.fail(f"its input has shape {list(x.shape)}")
        mean, variance = step.tensor(layer.running_mean), step.tensor(layer.running_var)
        scale = np.ones(mean.shape) if layer.weight is None else step.tensor(layer.weight)
        bias = np.zeros(mean.shape) if layer.bias is None else step.tensor(layer.bias)
        rules = step.reader.options.rounding
        epsilon = step.number(float(layer.eps))
        result, rounded = tensors.batch_norm(
            step.graph, x, scale, bias, mean, variance, epsilon, rules.roots
        )
        step.reader.draft.bounded &= tensors.arithmetics_normalising_by(variance, epsilon)
        if rounded:
            step.reader.draft.rounding.add(f"batchnorm: {rules.batchnorm}")
            if rules.batchnorm == "float32":
                step.reader.draft.bounded.discard("float64")
        step.reader.draft.notes.append(
            f"{step.kind}: {rounded} of {mean.size} factors 1/√(var+ε) are rounded"
        )
        return result

    return handler


def _prelu_layer(step: TorchStep, layer: Any, x: Any) -> Any:
    return _prelu(step, x, step.tensor(layer.weight))


def _dropout_layer(step: TorchStep, layer: Any, x: Any) -> Any:
    return _dropout(step, x, training=False)


def _unflatten_layer(step: TorchStep, layer: Any, x: Any) -> Any:
    if not isinstance(layer.dim, int):
        raise step.fail("named dimensions are not supported")
    return _unflatten(step, x, layer.dim, layer.unflattened_size)


def _max_pool_layer(rank: int) -> Handler:
    """Return the handler of a layer that takes the largest entry of each window."""
    pool = _max_pool(rank)

    def handler(step: TorchStep, layer: Any, x: Any) -> Any:
        return pool(
            step,
            x,
            layer.kernel_size,
            layer.stride,
            layer.padding,
            layer.dilation,
            layer.ceil_mode,
            layer.return_indices,
        )

    return handler


def _average_pool_layer(rank: int) -> Handler:
    """Return the handler of a layer that takes the mean entry of each window."""
    pool = _average_pool(rank)

    def handler(step: TorchStep, layer: Any, x: Any) -> Any:
        divisor = getattr(layer, "divisor_override", None)  # AvgPool1d has none
        return pool(
            step,
            x,
            layer.kernel_size,
            layer.stride,
            layer.padding,
            layer.ceil_mode,
            layer.count_include_pad,
            divisor,
        )

    return handler


def _layer_handler(function: Handler, *attributes: str) -> Handler:
    """Return the handler of a layer that is a function of x and of some attributes of the layer."""

    def handler(step: TorchStep, layer: Any, x: Any) -> Any:
        return function(step, x, *(getattr(layer, name) for name in attributes))

    return handler


def _each_rank(name: str, of_rank: Callable[[int], Handler]) -> dict[str, Handler]:
    """Return the handlers of an operation in one, two and three dimensions."""
    return {name.format(rank): of_rank(rank) for rank in (1, 2, 3)}


# --- The supported operations -----

#: Layers by their names in ``torch.nn``.
LAYERS: dict[str, Handler] = {
    "Linear": _linear_layer,
    "Identity": _layer_handler(_identity),
    "ReLU": _layer_handler(_relu),
    "ReLU6": _layer_handler(_relu6),
    "LeakyReLU": _layer_handler(_leaky_relu, "negative_slope"),
    "PReLU": _prelu_layer,
    "Hardtanh": _layer_handler(_hardtanh, "min_val", "max_val"),
    "Hardsigmoid": _layer_handler(_hardsigmoid),
    "Flatten": _layer_handler(_flatten, "start_dim", "end_dim"),
    "Unflatten": _unflatten_layer,
    "Dropout": _dropout_layer,
    "AlphaDropout": _dropout_layer,
    "FeatureAlphaDropout": _dropout_layer,
    "BatchNorm1d": _batch_norm_layer((2, 3)),
    "BatchNorm2d": _batch_norm_layer((4,)),
    "BatchNorm3d": _batch_norm_layer((5,)),
    **_each_rank("Dropout{}d", lambda _: _dropout_layer),
    **_each_rank("Conv{}d", lambda _: _conv_layer),
    **_each_rank("ConvTranspose{}d", lambda _: _conv_transpose_layer),
    **_each_rank("MaxPool{}d", _max_pool_layer),
    **_each_rank("AvgPool{}d", _average_pool_layer),
    **_each_rank(
        "AdaptiveAvgPool{}d",
        lambda rank: _layer_handler(_adaptive_average_pool(rank), "output_size"),
    ),
    **_each_rank("ZeroPad{}d", lambda _: _layer_handler(_pad, "padding")),
    **_each_rank(
        "ConstantPad{}d",
        lambda _: _layer_handler(lambda s, x, p, v: _pad(s, x, p, value=v), "padding", "value"),
    ),
}


def _in_place(function: Handler) -> Handler:
    """Return the handler of an operation that writes its result into its first argument."""

    def handler(step: TorchStep, x: Any, *args: Any, **kwargs: Any) -> Any:
        result = function(step, x, *args, **kwargs)
        if getattr(result, "shape", None) != getattr(x, "shape", None):
            raise step.fail("its result has another shape than the tensor it writes into")
        return result

    return handler


#: Operations that are functions of torch and methods of tensors.
_COMMON: dict[str, Handler] = {
    "abs": _abs,
    "add": _add,
    "clamp": _clamp,
    "clamp_max": _clamp_max,
    "clamp_min": _clamp,
    "clip": _clamp,
    "clone": _identity,
    "detach": _identity,
    "div": _div,
    "flatten": _flatten,
    "matmul": _matmul,
    "maximum": _of_two_tensors(tensors.maximum),
    "mean": _reduction(True),
    "minimum": _of_two_tensors(tensors.minimum),
    "mul": _mul,
    "neg": _neg,
    "permute": _permute,
    "relu": _relu,
    "reshape": _reshape,
    "squeeze": _squeeze,
    "sub": _sub,
    "sum": _reduction(False),
    "t": _t,
    "transpose": _transpose,
    "unflatten": _unflatten,
    "unsqueeze": _unsqueeze,
}

#: Operations that write into their first argument; their names have a final underscore.
_IN_PLACE: dict[str, Handler] = {
    f"{name}_": _in_place(_COMMON[name])
    for name in ("abs", "add", "clamp", "clamp_max", "clamp_min", "clip", "div", "mul", "neg")
}
_IN_PLACE |= {"relu_": _in_place(_relu), "sub_": _in_place(_sub)}

#: Methods of tensors by name.
METHODS: dict[str, Handler] = {
    **_COMMON,
    **_IN_PLACE,
    "contiguous": _identity,
    "dim": _dim,
    "size": _size,
    "view": _reshape,
}

_FUNCTIONAL: dict[str, Handler] = {
    "dropout": _dropout,
    "hardsigmoid": _hardsigmoid,
    "hardtanh": _hardtanh,
    "hardtanh_": _in_place(_hardtanh),
    "leaky_relu": _leaky_relu,
    "leaky_relu_": _in_place(_leaky_relu),
    "linear": _linear,
    "pad": _pad,
    "prelu": _prelu,
    "relu": _relu,
    "relu_": _in_place(_relu),
    "relu6": _relu6,
    **_each_rank("conv{}d", lambda _: _conv),
    **_each_rank("max_pool{}d", _max_pool),
    **_each_rank("avg_pool{}d", _average_pool),
    **_each_rank("adaptive_avg_pool{}d", _adaptive_average_pool),
}

_OPERATORS: dict[str, Handler] = {
    "abs": _abs,
    "add": _add,
    "getitem": _getitem,
    "iadd": _in_place(_add),
    "imul": _in_place(_mul),
    "isub": _in_place(_sub),
    "itruediv": _in_place(_div),
    "matmul": _matmul,
    "mul": _mul,
    "neg": _neg,
    "sub": _sub,
    "truediv": _div,
}

#: Functions by their dotted names. One function may have several names.
FUNCTIONS: dict[str, Handler] = {
    **{f"torch.{name}": handler for name, handler in (_COMMON | _IN_PLACE).items()},
    "torch.cat": _cat,
    "torch.concat": _cat,
    "torch.max": _of_two_tensors(tensors.maximum),
    "torch.min": _of_two_tensors(tensors.minimum),
    **{f"torch.max_pool{rank}d": _max_pool(rank) for rank in (1, 2, 3)},
    **{f"torch.nn.functional.{name}": handler for name, handler in _FUNCTIONAL.items()},
    **{f"operator.{name}": handler for name, handler in _OPERATORS.items()},
    "builtins.getattr": _getattr,
}
