"""The operations of ATen that exported programs call, by their names without ``torch.ops.aten``.

Most handlers are those for modules; the arguments have the same order. An operation in place, whose
name ends in an underscore, has the handler of the operation without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from polyrelu.formats.graph import tensors
from polyrelu.formats.graph.tensors import Window
from polyrelu.formats.graph.values import Value
from polyrelu.formats.torch.operations import FUNCTIONS, METHODS, Handler, TorchStep

__all__ = ["TAILS", "handler_of", "writes"]

#: Operations that `strip_tail` leaves out at an output.
TAILS = frozenset(
    {"_softmax", "softmax", "_log_softmax", "log_softmax", "sigmoid", "tanh", "log_sigmoid"}
)


def handler_of(operation: str) -> Handler | None:
    """Return the handler of an operation such as ``relu.default``; None if it is not supported."""
    name, _, overload = operation.partition(".")
    return _ATEN.get(f"{name.removesuffix('_')}.{overload}")


def writes(operation: str) -> bool:
    """Return whether an operation writes into its first argument."""
    return operation.partition(".")[0].endswith("_")


def _functional(name: str) -> Handler:
    return FUNCTIONS[f"torch.nn.functional.{name}"]


def _unchanged(step: TorchStep, x: Any, **_: Any) -> Any:
    return x


def _dropout(step: TorchStep, x: Any, p: float, train: bool) -> Any:
    if train:
        problem = "the program was exported in training mode; export model.eval()"
        raise step.fail(problem)
    return _functional("dropout")(step, x, p, False)


def _batch_norm(
    step: TorchStep,
    x: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Any:
    if training:
        problem = "the program was exported in training mode; export model.eval()"
        raise step.fail(problem)
    if mean is None or variance is None:
        raise step.fail("without running statistics it mixes the samples of a batch")
    means, variances = step.constant(mean), step.constant(variance)
    scale = np.ones(means.shape) if weight is None else step.constant(weight)
    offset = np.zeros(means.shape) if bias is None else step.constant(bias)
    rules, draft = step.reader.options.rounding, step.reader.draft
    result, rounded = tensors.batch_norm(
        step.graph, step.value(x), scale, offset, means, variances, step.number(eps), rules.roots
    )
    if rounded:
        draft.rounding.add(f"batchnorm: {rules.batchnorm}")
        if rules.batchnorm == "float32":
            draft.bounded.discard("float64")
    draft.notes.append(f"{step.kind}: {rounded} of {means.size} factors 1/√(var+ε) are rounded")
    return result


def _batch_norm_at_inference(
    step: TorchStep,
    x: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    momentum: float,
    eps: float,
) -> Any:
    """Return the result, and nothing for the statistics that nobody reads."""
    result = _batch_norm(step, x, weight, bias, mean, variance, False, momentum, eps)
    return [result, None, None]


def _addmm(
    step: TorchStep, offset: Any, x: Any, y: Any, *, beta: float = 1, alpha: float = 1
) -> Any:
    if beta != 1 or alpha != 1:
        raise step.fail("beta and alpha other than 1 are not supported")
    if isinstance(x, Value) and not isinstance(y, Value) and not isinstance(offset, Value):
        return _functional("linear")(step, x, step.constant(y).T, offset)
    return METHODS["add"](step, METHODS["matmul"](step, x, y), offset)


def _rsub(step: TorchStep, x: Any, y: Any, alpha: float = 1) -> Any:
    return METHODS["sub"](step, y, x, alpha)


def _slice(
    step: TorchStep,
    x: Any,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    stride: int = 1,
) -> Any:
    axis = range(len(x.shape))[dim]
    chosen = (*([slice(None)] * axis), slice(start, end, stride))
    return FUNCTIONS["operator.getitem"](step, x, chosen)


def _select(step: TorchStep, x: Any, dim: int, index: int) -> Any:
    axis = range(len(x.shape))[dim]
    return FUNCTIONS["operator.getitem"](step, x, (*([slice(None)] * axis), index))


def _split_with_sizes(step: TorchStep, x: Any, sizes: Sequence[int], dim: int = 0) -> Any:
    ends = np.cumsum([0, *sizes]).tolist()
    if min(sizes, default=0) < 1 or ends[-1] != x.shape[dim]:
        raise step.fail(f"sizes {list(sizes)[:8]} of a dimension of size {x.shape[dim]}")
    return [_slice(step, x, dim, first, end) for first, end in pairwise(ends)]


def _split(step: TorchStep, x: Any, size: int, dim: int = 0) -> Any:
    total = x.shape[dim]
    if size < 1:
        raise step.fail(f"parts of size {size}")
    sizes = [size] * (total // size) + ([total % size] if total % size else [])
    return _split_with_sizes(step, x, sizes, dim)


def _chunk(step: TorchStep, x: Any, chunks: int, dim: int = 0) -> Any:
    if chunks < 1:
        raise step.fail(f"{chunks} parts")
    return _split(step, x, -(-x.shape[dim] // chunks), dim)


def _pad_constant(step: TorchStep, x: Any, pad: Sequence[int], value: Any = 0) -> Any:
    return _functional("pad")(step, x, pad, "constant", value)


def _max_pool_with_indices(step: TorchStep, x: Any, *sizes: Any) -> Any:
    """Return the maxima, and nothing for the indices that nobody reads."""
    return [_functional("max_pool2d")(step, x, *sizes), None]


def _conv_transpose(
    step: TorchStep,
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Sequence[int] = (1,),
    padding: Sequence[int] = (0,),
    output_padding: Sequence[int] = (0,),
    groups: int = 1,
    dilation: Sequence[int] = (1,),
) -> Any:
    kernel, value = step.constant(weight), step.value(x)
    rank = kernel.ndim - 2
    if len(value.shape) != rank + 2:
        raise step.fail(f"its input has shape {list(value.shape)}; expected a batch")
    strides, pads, extra, dilations = (
        list(sizes) * (rank // len(sizes)) for sizes in (stride, padding, output_padding, dilation)
    )
    window = Window(kernel.shape[2:], strides, dilations, [(pad, pad) for pad in pads])
    spatial = window.transposed_sizes(value.shape[2:], extra)
    offset = None if bias is None else step.constant(bias)
    return tensors.conv_transpose(step.graph, value, kernel, offset, window, groups, spatial)


def _convolution(
    step: TorchStep,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Any:
    if transposed:
        sizes = (stride, padding, output_padding, groups, dilation)
        return _conv_transpose(step, x, weight, bias, *sizes)
    return _functional("conv2d")(step, x, weight, bias, stride, padding, dilation, groups)


_ATEN: dict[str, Handler] = {
    **{
        f"{name}.default": METHODS[name]
        for name in (
            "abs",
            "clamp",
            "clamp_max",
            "clamp_min",
            "detach",
            "flatten",
            "matmul",
            "maximum",
            "mean",
            "minimum",
            "neg",
            "permute",
            "relu",
            "reshape",
            "squeeze",
            "sum",
            "t",
            "unsqueeze",
            "view",
        )
    },
    **{
        f"{name}.{overload}": METHODS[name]
        for name in ("add", "div", "mul", "sub")
        for overload in ("Tensor", "Scalar")
    },
    **{
        f"{name}.default": _functional(name)
        for name in (
            "hardsigmoid",
            "hardtanh",
            "leaky_relu",
            "linear",
            "pad",
            "prelu",
            "relu6",
            *(f"{kind}{rank}d" for rank in (1, 2, 3) for kind in ("conv", "max_pool", "avg_pool")),
            *(f"adaptive_avg_pool{rank}d" for rank in (1, 2, 3)),
        )
    },
    **{f"conv{rank}d.padding": _functional(f"conv{rank}d") for rank in (1, 2, 3)},
    **{
        f"{name}.default": _unchanged
        for name in ("alias", "clone", "contiguous", "lift_fresh_copy")
    },
    "_adaptive_avg_pool2d.default": _functional("adaptive_avg_pool2d"),
    "_native_batch_norm_legit_no_training.default": _batch_norm_at_inference,
    "_unsafe_view.default": METHODS["view"],
    "addmm.default": _addmm,
    "batch_norm.default": _batch_norm,
    "cat.default": FUNCTIONS["torch.cat"],
    "chunk.default": _chunk,
    "constant_pad_nd.default": _pad_constant,
    "conv_transpose1d.default": _conv_transpose,
    "conv_transpose2d.input": _conv_transpose,
    "conv_transpose3d.input": _conv_transpose,
    "convolution.default": _convolution,
    "dropout.default": _dropout,
    "feature_dropout.default": _dropout,
    "flatten.using_ints": METHODS["flatten"],
    "max.other": METHODS["maximum"],
    "max_pool2d_with_indices.default": _max_pool_with_indices,
    "mean.dim": METHODS["mean"],
    "min.other": METHODS["minimum"],
    "mm.default": METHODS["matmul"],
    "rsub.Scalar": _rsub,
    "select.int": _select,
    "slice.Tensor": _slice,
    "split.Tensor": _split,
    "split_with_sizes.default": _split_with_sizes,
    "squeeze.dim": METHODS["squeeze"],
    "squeeze.dims": METHODS["squeeze"],
    "sum.dim_IntList": METHODS["sum"],
    "sym_size.int": METHODS["size"],
    "transpose.int": METHODS["transpose"],
    "unflatten.int": METHODS["unflatten"],
}
