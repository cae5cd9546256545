"""ONNX files of multi-layer perceptrons, lowered exactly to affine maps and ReLUs.

The graph is walked from its single input; every value that depends on the input is `_Value`: an affine map, not yet
written down as a matrix, of the activations of the last ReLU (or of the input), with the shape ONNX gives it. Gemm,
MatMul and elementwise arithmetic with constants are composed exactly; a ReLU closes a layer. Flatten, Reshape and
the like keep the row-major order of the entries of one sample, which is checked. Anything else is refused by its
name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.exact import RationalMatrix
from polyrelu.importers.imported import Imported
from polyrelu.limits import WIDTH_LIMIT
from polyrelu.network import Block, Layer, Network

__all__ = ["read_onnx"]


@dataclass(frozen=True, slots=True)
class _Value:
    """matrix · (scale * a) + offset, a the activations of the last closed layer; None stands for an identity or a
    zero."""

    shape: tuple[int, ...]
    size: int
    matrix: RationalMatrix | None = None
    scale: tuple[Fraction, ...] | None = None
    offset: RationalMatrix | None = None

    def reshaped(self, shape: tuple[int, ...]) -> _Value:
        """The same entries in row-major order under another shape."""
        return _Value(shape, self.size, self.matrix, self.scale, self.offset)

    def times(self, weight: RationalMatrix, shape: tuple[int, ...]) -> _Value:
        """weight · value."""
        matrix = weight if self.matrix is None else weight @ self.matrix
        offset = None if self.offset is None else weight @ self.offset
        if self.matrix is None and self.scale is not None:
            matrix = weight.scale_columns(self.scale)
        return _Value(shape, self.size, matrix, None, offset)

    def scaled(self, factors: list[Fraction]) -> _Value:
        """Entry i times factors[i]."""
        matrix = None if self.matrix is None else self.matrix.scale_rows(factors)
        scale = self.scale
        if self.matrix is None:
            scale = tuple(f * s for f, s in zip(factors, self.scale or (Fraction(1),) * len(factors), strict=True))
        offset = None if self.offset is None else self.offset.scale_rows(factors)
        return _Value(self.shape, self.size, matrix, scale, offset)

    def plus(self, column: RationalMatrix) -> _Value:
        """Value + column."""
        offset = column if self.offset is None else self.offset + column
        return _Value(self.shape, self.size, self.matrix, self.scale, offset)

    @property
    def is_activation(self) -> bool:
        """Whether nothing has happened since the last ReLU."""
        return self.matrix is None and self.scale is None and self.offset is None

    def layer(self, source: int) -> Layer:
        """The affine map written down."""
        width = math.prod(self.shape)
        matrix = self.matrix
        if matrix is None:
            matrix = RationalMatrix.identity(width)
            matrix = matrix if self.scale is None else matrix.scale_rows(self.scale)
        return Layer((Block(source, matrix),), self.offset or RationalMatrix.zeros(width, 1))


@dataclass(slots=True)
class _Graph:
    """The walk through one ONNX graph."""

    path: Path
    constants: dict[str, NDArray[Any]]
    values: dict[str, _Value]
    opset: int
    layers: list[Layer] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    dtypes: set[str] = field(default_factory=set)
    current: str = ""

    def fail(self, node: Any, problem: str) -> NetworkFileError:
        """The error that names this node."""
        name = node.name or next(iter(node.output), "")
        return NetworkFileError(self.path, f"node {name!r} ({node.op_type})", problem)

    def constant(self, node: Any, name: str) -> NDArray[Any]:
        """A constant of the file, or an error at this node."""
        if name not in self.constants:
            raise self.fail(node, f"input {name!r} is not a constant of the file")
        return self.constants[name]

    def weights(self, node: Any, name: str) -> NDArray[Any]:
        """A constant that enters the function, as numbers."""
        array = self.constant(node, name)
        if array.dtype.kind not in "fiuV" and array.dtype.name != "bfloat16":
            raise self.fail(node, f"constant {name!r} has type {array.dtype.name}, not numbers")
        self.dtypes.add(array.dtype.name)
        return array


def read_onnx(path: Path) -> Imported:
    """The network of an ONNX file; `NetworkFileError` names the first node that cannot be taken exactly."""
    model = _parsed(path)
    graph = _start(path, model)
    constants = [node for node in model.graph.node if _is_constant(node)]
    for node in constants:  # first of all: some exporters write them after their use
        _define(graph, node)
        graph.constants[node.output[0]] = _constant_node(graph, node)
    needed = _needed(model)
    for node in model.graph.node:
        if not _is_constant(node) and any(name in needed for name in node.output):
            _step(graph, node)
    network = _finish(graph, model)
    notes = list(dict.fromkeys(graph.notes))
    description = f"onnx, opset {graph.opset}" + (f", from {model.producer_name}" if model.producer_name else "")
    return Imported(network, description, tuple(graph.steps), tuple(sorted(graph.dtypes)), notes=tuple(notes))


def _parsed(path: Path) -> Any:
    try:
        import onnx
    except ImportError:
        raise NetworkFileError(
            path, "", "reading ONNX needs the package onnx (the extra [onnx]): pip install onnx"
        ) from None
    from google.protobuf.message import DecodeError

    try:
        model = onnx.load(str(path), load_external_data=False)
    except (DecodeError, OSError, ValueError) as error:
        raise NetworkFileError(path, "", f"not a readable ONNX file: {error}") from None
    if not model.graph.node:
        raise NetworkFileError(path, "", "not a readable ONNX file, or one without any node")
    return model


def _start(path: Path, model: Any) -> _Graph:
    constants = {tensor.name: _array(path, tensor, tensor.name) for tensor in model.graph.initializer}
    if len(constants) < len(model.graph.initializer):
        raise NetworkFileError(path, "graph", "two initializers have one name")
    inputs = [entry for entry in model.graph.input if entry.name not in constants]
    if len(inputs) != 1 or len(model.graph.output) != 1:
        raise NetworkFileError(
            path, "graph", f"{len(inputs)} inputs and {len(model.graph.output)} outputs; expected one of each"
        )
    opset = max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=0)
    if opset < 1:
        raise NetworkFileError(path, "", "no opset is named, so the file is damaged or not ONNX")
    shape = _input_shape(path, inputs[0])
    values = {inputs[0].name: _Value(shape, math.prod(shape))}
    notes = [f"input of shape {list(shape)}, one sample (a symbolic first dimension is the batch, taken as 1)"]
    return _Graph(path, constants, values, opset, current=inputs[0].name, notes=notes)


def _needed(model: Any) -> set[str]:
    """The names that the output depends on; other nodes are dead code."""
    makers = {name: node for node in model.graph.node for name in node.output}
    needed: set[str] = set()
    waiting = [entry.name for entry in model.graph.output]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += makers[name].input if name in makers else ()
    return needed


def _array(path: Path, tensor: Any, name: str) -> NDArray[Any]:
    from onnx import numpy_helper

    if tensor.data_location == 1:
        raise NetworkFileError(
            path, f"tensor {name!r}", "stored as external data, which is not supported yet; save it into the file"
        )
    try:
        return np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError, KeyError) as error:
        raise NetworkFileError(path, f"tensor {name!r}", f"cannot be read: {error}") from None


def _has_type(entry: Any) -> bool:
    import onnx

    return entry.type.tensor_type.elem_type in onnx.TensorProto.DataType.values()


def _input_shape(path: Path, entry: Any) -> tuple[int, ...]:
    """The shape of one sample: a leading symbolic dimension is the batch and becomes 1."""
    import onnx

    element = onnx.TensorProto.DataType.Name(entry.type.tensor_type.elem_type) if _has_type(entry) else "unknown"
    if element not in ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16"):
        raise NetworkFileError(path, f"input {entry.name!r}", f"its type is {element.lower()}; expected a float type")
    sizes = [d.dim_value if d.HasField("dim_value") else 0 for d in entry.type.tensor_type.shape.dim]
    if len(sizes) > 1 and sizes[0] < 1:
        sizes[0] = 1
    if math.prod(sizes) > WIDTH_LIMIT:
        raise NetworkFileError(path, f"input {entry.name!r}", f"shape {sizes} has more than {WIDTH_LIMIT} entries")
    if not sizes or min(sizes) < 1:
        raise NetworkFileError(path, f"input {entry.name!r}", f"shape {sizes} is not fixed after the batch dimension")
    return tuple(sizes)


def _step(graph: _Graph, node: Any) -> None:
    handler = _OPERATIONS.get(node.op_type) if _is_standard(node) else None
    if handler is None:
        raise graph.fail(node, f"this operation is not supported; supported are {', '.join(sorted(_OPERATIONS))}")
    _define(graph, node)
    try:
        value = handler(graph, node)
    except NetworkFileError:
        raise
    except NetworkError as error:
        raise graph.fail(node, str(error)) from None
    except (IndexError, TypeError, ValueError, OverflowError):  # too few inputs, attributes of a wrong type
        raise graph.fail(node, "its inputs or attributes are not those of this operation") from None
    graph.values[node.output[0]] = value
    graph.current = node.output[0]
    graph.steps.append(f"{node.op_type} {list(value.shape)}")


def _define(graph: _Graph, node: Any) -> None:
    """Every name is defined once."""
    if not node.output:
        raise graph.fail(node, "it has no output")
    if node.output[0] in graph.values or node.output[0] in graph.constants:
        raise graph.fail(node, f"the name {node.output[0]!r} is defined twice")


def _is_standard(node: Any) -> bool:
    return node.domain in ("", "ai.onnx")


def _is_constant(node: Any) -> bool:
    return _is_standard(node) and node.op_type == "Constant"


def _constant_node(graph: _Graph, node: Any) -> NDArray[Any]:
    for attribute in node.attribute:
        if attribute.name == "value":
            return _array(graph.path, attribute.t, node.output[0])
        if attribute.name in ("value_float", "value_floats"):
            values = attribute.f if attribute.name == "value_float" else list(attribute.floats)
            return np.array(values, dtype=np.float32)
        if attribute.name in ("value_int", "value_ints"):
            return np.array(attribute.i if attribute.name == "value_int" else list(attribute.ints), dtype=np.int64)
    raise graph.fail(node, "a constant without a dense numeric value")


def _data(graph: _Graph, node: Any, position: int = 0) -> _Value:
    """The one input that depends on the network's input; it must be the latest value, since branches are not
    supported yet."""
    name = node.input[position]
    if name not in graph.values:
        raise graph.fail(node, f"input {name!r} does not come from the network's input")
    if name != graph.current:
        raise graph.fail(node, "branches (a value used again later) are not supported yet")
    return graph.values[name]


def _attributes(graph: _Graph, node: Any, known: set[str]) -> dict[str, Any]:
    from onnx import helper

    found = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    unknown = set(found) - known
    if unknown:
        raise graph.fail(node, f"attribute {min(unknown, key=str)!r} is not supported")
    return found


def _gemm(graph: _Graph, node: Any) -> _Value:
    options = _attributes(graph, node, {"alpha", "beta", "transA", "transB", "broadcast"})
    value = _data(graph, node)
    if options.get("transA", 0):
        raise graph.fail(node, "transA = 1 mixes samples of a batch and is not supported")
    if len(value.shape) != 2 or value.shape[0] != 1:
        raise graph.fail(node, f"its input has shape {list(value.shape)}; expected [1, n]")
    weight = graph.weights(node, node.input[1])
    if weight.ndim != 2:
        raise graph.fail(node, f"the weights have shape {list(weight.shape)}, expected two dimensions")
    matrix = _scaled(
        RationalMatrix.from_array(weight if options.get("transB", 0) else weight.T), options.get("alpha", 1.0)
    )
    result = _apply(graph, node, value, matrix, (1, matrix.nrows))
    if len(node.input) < 3 or not node.input[2]:
        return result
    bias = _broadcast(graph, node, graph.weights(node, node.input[2]), result.shape)
    return result.plus(_scaled(RationalMatrix.from_array(bias), options.get("beta", 1.0)))


def _scaled(matrix: RationalMatrix, factor: float) -> RationalMatrix:
    return matrix if factor == 1.0 else matrix.scale(factor)


def _apply(graph: _Graph, node: Any, value: _Value, matrix: RationalMatrix, shape: tuple[int, ...]) -> _Value:
    if matrix.ncols != math.prod(value.shape):
        raise graph.fail(node, f"weights for {matrix.ncols} inputs meet a value of shape {list(value.shape)}")
    return value.times(matrix, shape)


def _matmul(graph: _Graph, node: Any) -> _Value:
    if node.input[0] in graph.constants:
        return _matmul_from_the_left(graph, node)
    value, weight = _data(graph, node), graph.weights(node, node.input[1])
    if weight.ndim != 2 or math.prod(value.shape[:-1]) != 1 or value.shape[-1] != weight.shape[0]:
        raise graph.fail(
            node, f"shapes {list(value.shape)} and {list(weight.shape)} are not a row vector times a matrix"
        )
    return value.times(RationalMatrix.from_array(weight.T), (*value.shape[:-1], weight.shape[1]))


def _matmul_from_the_left(graph: _Graph, node: Any) -> _Value:
    """Constant · value: the value is a vector, or a matrix with one column."""
    value, weight = _data(graph, node, 1), graph.weights(node, node.input[0])
    is_vector = len(value.shape) == 1
    is_column = len(value.shape) == 2 and value.shape[1] == 1
    if weight.ndim != 2 or not (is_vector or is_column) or value.shape[0] != weight.shape[1]:
        raise graph.fail(
            node, f"shapes {list(weight.shape)} and {list(value.shape)} are not a matrix times a column vector"
        )
    return value.times(RationalMatrix.from_array(weight), (weight.shape[0], *value.shape[1:]))


def _broadcast(graph: _Graph, node: Any, array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """A constant broadcast to the value's shape, as a flat array; it must not widen the value."""
    try:
        return np.ascontiguousarray(np.broadcast_to(array, shape)).reshape(-1)
    except ValueError:
        raise graph.fail(
            node, f"a constant of shape {list(array.shape)} does not fit a value of shape {list(shape)}"
        ) from None


def _elementwise(graph: _Graph, node: Any) -> tuple[_Value, RationalMatrix, bool]:
    """The value, the constant as a column, and whether the constant comes first."""
    options = _attributes(graph, node, {"axis", "broadcast"} if graph.opset < 7 else set())
    if len(node.input) != 2:
        raise graph.fail(node, "expected two inputs")
    first = node.input[0] in graph.constants
    value = _data(graph, node, int(first))
    array = graph.weights(node, node.input[int(not first)])
    if "axis" in options:  # before opset 7: where the constant's dimensions start
        array = array.reshape(array.shape + (1,) * (len(value.shape) - int(options["axis"]) - array.ndim))
    return value, RationalMatrix.from_array(_broadcast(graph, node, array, value.shape)), first


def _add(graph: _Graph, node: Any) -> _Value:
    value, column, _ = _elementwise(graph, node)
    return value.plus(column)


def _sub(graph: _Graph, node: Any) -> _Value:
    value, column, constant_first = _elementwise(graph, node)
    if constant_first:
        return value.scaled([Fraction(-1)] * column.nrows).plus(column)
    return value.plus(-column)


def _mul(graph: _Graph, node: Any) -> _Value:
    value, column, _ = _elementwise(graph, node)
    return value.scaled(list(column.entries()))


def _div(graph: _Graph, node: Any) -> _Value:
    value, column, constant_first = _elementwise(graph, node)
    divisors = list(column.entries())
    if constant_first:
        raise graph.fail(node, "division by a value that depends on the input is not affine")
    if 0 in divisors:
        raise graph.fail(node, "division by a constant that is 0")
    return value.scaled([1 / divisor for divisor in divisors])


def _relu(graph: _Graph, node: Any) -> _Value:
    _attributes(graph, node, set())
    value = _data(graph, node)
    if value.is_activation and graph.layers:
        graph.notes.append("a ReLU directly after a ReLU was merged with it")
        return value
    graph.layers.append(value.layer(len(graph.layers)))
    return _Value(value.shape, math.prod(value.shape))


def _same(graph: _Graph, node: Any) -> _Value:
    if node.input[0] in graph.constants:
        raise graph.fail(node, "applied to a constant; not supported yet")
    graph.notes.append(f"{node.op_type} does nothing at inference")
    if node.op_type == "Dropout" and len(node.input) > 2 and graph.constant(node, node.input[2]).any():
        raise graph.fail(node, "training mode is not a function of the input")
    return _data(graph, node)


def _flatten(graph: _Graph, node: Any) -> _Value:
    value = _data(graph, node)
    axis = _attributes(graph, node, {"axis"}).get("axis", 1)
    axis += len(value.shape) if axis < 0 else 0
    return value.reshaped((math.prod(value.shape[:axis]), math.prod(value.shape[axis:])))


def _reshape(graph: _Graph, node: Any) -> _Value:
    value = _data(graph, node)
    options = _attributes(graph, node, {"shape", "allowzero"})
    wanted = options.get("shape") if len(node.input) < 2 else graph.constant(node, node.input[1]).ravel().tolist()
    if not all(type(size) is int for size in wanted or []):
        raise graph.fail(node, "the new shape is not a list of integers")
    if not wanted or (options.get("allowzero", 0) and 0 in wanted):
        raise graph.fail(node, "the new shape is not given, or empty")
    sizes = [value.shape[i] if size == 0 and i < len(value.shape) else int(size) for i, size in enumerate(wanted)]
    if sizes.count(-1) == 1:
        known = -math.prod(sizes)
        sizes[sizes.index(-1)] = math.prod(value.shape) // known if known else 0
    if min(sizes) < 1 or math.prod(sizes) != math.prod(value.shape):
        raise graph.fail(node, f"cannot reshape one sample of shape {list(value.shape)} to {list(wanted)}")
    return value.reshaped(tuple(sizes))


_OPERATIONS: dict[str, Callable[[_Graph, Any], _Value]] = {
    "Add": _add,
    "Div": _div,
    "Dropout": _same,
    "Flatten": _flatten,
    "Gemm": _gemm,
    "Identity": _same,
    "MatMul": _matmul,
    "Mul": _mul,
    "Relu": _relu,
    "Reshape": _reshape,
    "Sub": _sub,
}


def _finish(graph: _Graph, model: Any) -> Network:
    name = model.graph.output[0].name
    if name != graph.current:
        raise NetworkFileError(
            graph.path, f"output {name!r}", "is not the value of the last node; branches are not supported yet"
        )
    value = graph.values[name]
    inputs = next(iter(graph.values.values())).size
    if value.is_activation and graph.layers:
        return Network(inputs, tuple(graph.layers), "relu")
    return Network(inputs, (*graph.layers, value.layer(len(graph.layers))), "affine")
