"""Reader of ONNX files: one walk through the graph of the file, node by node.

Every name of the file stands for an operand: a numpy array (initializers, constants, and everything
computed from these alone) or a value of the graph. `onnx/operations.py` turns each node into
operations of the graph; nodes on which no output depends are ignored, and unknown nodes are refused
by name. A symbolic first dimension of an input is the batch and becomes 1; several inputs are
concatenated to one input vector, several outputs to one output vector.
"""

from __future__ import annotations

import heapq
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.graph.values import Graph, Value
from polyrelu.formats.hints import hinted
from polyrelu.formats.imported import Draft
from polyrelu.formats.meter import allow_file, need
from polyrelu.formats.onnx.functions import with_inlined_functions
from polyrelu.formats.onnx.operations import OnnxNode, Reader, handler_of
from polyrelu.formats.onnx.runtime import runtime_or_reason
from polyrelu.formats.onnx.tails import Outputs, chosen_outputs, hints_of, needed_nodes
from polyrelu.formats.options import ReadOptions
from polyrelu.support.limits import PARAMETER_LIMIT, WIDTH_LIMIT

__all__ = ["read_onnx"]

#: The first opset version whose operations are read.
_FIRST_OPSET = 6


class UnsupportedOperationError(NetworkFileError):
    """The error for a node whose operation is not read."""

    def __init__(self, node: OnnxNode, problem: str) -> None:
        error = node.fail(problem)
        super().__init__(error.path, error.place, error.problem)
        self.node = node.proto


def read_onnx(path: Path, options: ReadOptions) -> Draft:
    """Read the operations of an ONNX file.

    A `NetworkFileError` names the first node that cannot be taken exactly.
    """
    model = _parse(path)
    constants = {
        tensor.name: _array(path, tensor, tensor.name) for tensor in model.graph.initializer
    }
    if len(constants) < len(model.graph.initializer):
        raise NetworkFileError(path, "graph", "two initializers have one name")
    if model.graph.sparse_initializer:
        raise NetworkFileError(
            path, "graph", "sparse initializers are not supported; store the weights densely"
        )
    outputs = chosen_outputs(path, model, options)
    reader = _reader_at_inputs(path, model, constants, options)
    reader.stripped = set(outputs.stripped)
    reader.draft.caveats += outputs.cautions
    _evaluate_all(reader, model, outputs)
    _set_outputs(reader, outputs)
    reader.draft.runtime = runtime_or_reason(model, list(reader.graph.names))
    return reader.draft


def _parse(path: Path) -> Any:
    """Return the ONNX model of a file, without its external data."""
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
    return with_inlined_functions(path, model)


def _reader_at_inputs(
    path: Path, model: Any, constants: dict[str, NDArray[Any]], options: ReadOptions
) -> Reader:
    """Return a reader that has defined the initializers (`constants`) and the inputs of a model."""
    opset = _opset(path, model)
    entries = [entry for entry in model.graph.input if entry.name not in constants]
    if not entries or not model.graph.output:
        raise NetworkFileError(path, "graph", "it has no input, or no output")
    if options.input_shape is not None and len(entries) > 1:
        raise NetworkFileError(
            path, "graph", f"an input shape was given, but there are {len(entries)} inputs"
        )
    producer = f", from {model.producer_name[:80]}" if model.producer_name else ""
    graph = Graph()
    draft = Draft(f"onnx, opset {opset}{producer}", graph)
    types = {_float_type(path, entry) for entry in entries}
    draft.arithmetic = types.pop() if len(types) == 1 else ""
    draft.input_shapes = [
        _input_shape(path, entry, options.input_shape, len(entries) == 1) for entry in entries
    ]
    try:
        inputs = graph.inputs(draft.input_shapes)
    except NetworkError as error:
        raise NetworkFileError(path, "graph", str(error)) from None
    values: dict[str, Value | NDArray[Any]] = dict(constants)
    for entry, value in zip(entries, inputs, strict=True):
        if entry.name in values:
            raise NetworkFileError(path, "graph", f"the name {entry.name[:80]!r} is defined twice")
        values[entry.name] = value
    draft.inputs = [(entry.name, x.size) for entry, x in zip(entries, inputs, strict=True)]
    draft.notes += _notes_on_inputs([entry.name for entry in entries], inputs)
    return Reader(path, draft, graph, options, values, opset)


def _opset(path: Path, model: Any) -> int:
    """Return the opset version of a model, which the package onnx must know."""
    opset = max(
        (entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")),
        default=0,
    )
    if opset < _FIRST_OPSET:
        _check_domains(path, model)
    if opset < 1:
        raise NetworkFileError(path, "", "no opset is named, so the file is damaged or not ONNX")
    from onnx.defs import onnx_opset_version

    if opset < _FIRST_OPSET:
        problem = f"opset {opset} is older than {_FIRST_OPSET}, the first that is read"
        raise NetworkFileError(path, "", f"{problem}; export the file again with a newer one")
    if opset > onnx_opset_version():
        problem = f"opset {opset} is newer than {onnx_opset_version()}, the last that the installed"
        raise NetworkFileError(path, "", f"{problem} onnx knows; update onnx")
    return opset


def _check_domains(path: Path, model: Any) -> None:
    """Refuse an operation of another domain than ONNX's own, which has other versions."""
    for proto in needed_nodes(model, [entry.name for entry in model.graph.output]):
        if not _is_standard(proto):
            name = (proto.name or next(iter(proto.output), ""))[:80]
            raise NetworkFileError(
                path,
                f"node {name!r} ({proto.op_type[:40]})",
                _not_read(proto),
            )


def _notes_on_inputs(names: list[str], inputs: list[Value]) -> list[str]:
    """Return a note on each input: its shape, and its coordinates if there are several inputs."""
    notes, first = list[str](), 0
    for name, value in zip(names, inputs, strict=True):
        where = ""
        if len(names) > 1:
            where = f" {name!r}, coordinates {first} to {first + value.size - 1},"
        sample = "one sample (a symbolic first dimension is the batch, taken as 1)"
        notes.append(f"input{where} of shape {list(value.shape)}, {sample}")
        first += value.size
    return notes


#: The float types of ONNX, with the names that numpy uses.
_FLOAT_TYPES = {
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "FLOAT16": "float16",
    "BFLOAT16": "bfloat16",
}


def _float_type(path: Path, entry: Any) -> str:
    """Return the name of the float type of an input."""
    import onnx

    kind = entry.type.tensor_type.elem_type
    element = (
        onnx.TensorProto.DataType.Name(kind)
        if kind in onnx.TensorProto.DataType.values()
        else "unknown"
    )
    if element not in _FLOAT_TYPES:
        raise NetworkFileError(
            path, f"input {entry.name!r}", f"its type is {element.lower()}; expected a float type"
        )
    return _FLOAT_TYPES[element]


def _input_shape(
    path: Path, entry: Any, given: tuple[int, ...] | None, is_only: bool
) -> tuple[int, ...]:
    """Return the shape of one sample of an input.

    A leading symbolic dimension is the batch and becomes 1. The shape that the user gives, if any,
    fills the sizes that the file leaves open, and must agree with the others.
    """
    sizes = [
        d.dim_value if d.HasField("dim_value") else 0 for d in entry.type.tensor_type.shape.dim
    ]
    if given is not None:
        if sizes and (
            len(sizes) != len(given)
            or any(a not in (0, b) for a, b in zip(sizes, given, strict=True))
        ):
            shown = ", ".join(str(size or "?") for size in sizes)
            problem = f"the file says [{shown}], batch included; the shape given is {list(given)}"
            raise NetworkFileError(path, f"input {entry.name!r}", problem)
        sizes = list(given)
    if len(sizes) > 1 and sizes[0] < 1:
        sizes[0] = 1
    if math.prod(sizes) > WIDTH_LIMIT:
        raise NetworkFileError(
            path, f"input {entry.name!r}", f"shape {sizes} has more than {WIDTH_LIMIT} entries"
        )
    if not sizes or min(sizes) < 1:
        say_it = "; say it with --input-shape" if is_only else ""
        problem = f"shape {sizes} is not fixed after the batch dimension{say_it}"
        raise NetworkFileError(path, f"input {entry.name!r}", problem)
    return tuple(sizes)


def _evaluate_all(reader: Reader, model: Any, outputs: Outputs) -> None:
    """Evaluate all nodes on which an output depends."""
    # Constants come first, because some exporters write them after the nodes that read them.
    for proto in (node for node in model.graph.node if _is_constant(node)):
        node = OnnxNode(reader, proto)
        node.define(_constant_node(reader.path, node))
    waiting = [node for node in needed_nodes(model, outputs.names) if not _is_constant(node)]
    try:
        for proto in waiting:  # before any work, which may take long
            _check_operation(OnnxNode(reader, proto))
        _evaluate_in_order(reader, waiting)
    except UnsupportedOperationError as error:
        raise hinted(error, *hints_of(reader.path, model, error.node, reader.options)) from None


def _evaluate_in_order(reader: Reader, nodes: list[Any]) -> None:
    """Evaluate nodes in the file's order, but each node after the nodes that it reads."""
    missing = [
        {name for name in node.input if name and name not in reader.values} for node in nodes
    ]
    readers: dict[str, list[int]] = {}
    for number, names in enumerate(missing):
        for name in names:
            readers.setdefault(name, []).append(number)
    ready = [number for number, names in enumerate(missing) if not names]
    done = 0
    while ready:
        node = nodes[heapq.heappop(ready)]
        _evaluate(reader, node)
        done += 1
        for name in node.output:
            for number in readers.pop(name, []) if name in reader.values else []:
                missing[number].discard(name)
                if not missing[number]:
                    heapq.heappush(ready, number)
    if done < len(nodes):
        raise _unknown_input(
            reader, next(node for node, names in zip(nodes, missing, strict=True) if names)
        )


def _unknown_input(reader: Reader, proto: Any) -> NetworkFileError:
    """Return the error for a node that reads an undefined name."""
    name = next(name for name in proto.input if name and name not in reader.values)
    return OnnxNode(reader, proto).fail(
        f"its input {name!r} does not come from the network's input or a constant"
    )


def _evaluate(reader: Reader, proto: Any) -> None:
    """Evaluate a node whose inputs are defined, and define its outputs."""
    node = OnnxNode(reader, proto)
    if any(name in reader.stripped for name in proto.output):
        reader.draft.caveats.append(
            f"the {proto.op_type} after the last layer was stripped: outputs are its inputs"
        )
        reader.altered.update(proto.output)
        node.define(node.input(0))
        return
    handler = handler_of(proto)
    if handler is None:
        raise UnsupportedOperationError(node, _not_read(proto))
    try:
        result = handler(node)
    except NetworkFileError:
        raise
    except NetworkError as error:
        raise node.fail(str(error)) from None
    except (
        LookupError,
        TypeError,
        ValueError,
        ArithmeticError,
        AttributeError,
        MemoryError,
    ) as error:
        # Handlers raise these on too few inputs, attributes of a wrong type, or missing axes.
        kind = type(error).__name__
        raise node.fail(
            f"its inputs or attributes are not those of this operation ({kind})"
        ) from None
    node.check_attributes()
    node.define(*(result if isinstance(result, list) else [result]))


def _check_operation(node: OnnxNode) -> None:
    """Raise an error for a node whose operation is not read, unless the node is left out."""
    if any(name in node.reader.stripped for name in node.proto.output):
        return
    if handler_of(node.proto) is None:
        raise UnsupportedOperationError(node, _not_read(node.proto))


def _not_read(proto: Any) -> str:
    """Return the words for an operation that is not read."""
    domain = "" if _is_standard(proto) else f" of {proto.domain[:80]!r}"
    problem = f"this operation{domain} is not supported"
    for words, reason in _REASONS.items():
        if any(word in str(proto.op_type) for word in words):
            return f"{problem}: {reason}"
    return problem


#: Why operations with one of some words in their names are not read, and what helps if anything.
_REASONS = {
    ("uantize", "QLinear"): "a quantised network rounds on its way; export the float model",
    ("LinearClassifier",): (
        "a linear model is one affine map without a neuron; "
        "polyrelu.from_arrays([(model.coef_, model.intercept_)]) reads it from scikit-learn"
    ),
    ("LinearRegressor",): (
        "a linear model is one affine map without a neuron; "
        "polyrelu.from_arrays([([model.coef_], [model.intercept_])]) reads it from scikit-learn"
    ),
    ("TreeEnsemble",): "decision trees jump, which no ReLU network does",
    ("SVM",): "the kernel of a support vector machine is not piecewise linear",
}


def _is_standard(proto: Any) -> bool:
    return proto.domain in ("", "ai.onnx")


def _is_constant(proto: Any) -> bool:
    return _is_standard(proto) and proto.op_type == "Constant"


def _constant_node(path: Path, node: OnnxNode) -> NDArray[Any]:
    """Return the array of a Constant node."""
    for attribute in node.proto.attribute:
        if attribute.name == "value":
            return _array(path, attribute.t, next(iter(node.proto.output), ""))
        if attribute.name in ("value_float", "value_floats"):
            values = attribute.f if attribute.name == "value_float" else list(attribute.floats)
            return np.array(values, dtype=np.float32)
        if attribute.name in ("value_int", "value_ints"):
            integers = attribute.i if attribute.name == "value_int" else list(attribute.ints)
            return np.array(integers, dtype=np.int64)
    raise node.fail("a constant without a dense numeric value")


def _set_outputs(reader: Reader, outputs: Outputs) -> None:
    """Set the output vector of the graph: the chosen values, concatenated."""
    values = []
    for name in outputs.names:
        if name not in reader.values:
            raise NetworkFileError(reader.path, f"output {name!r}", "no node makes it")
        values.append(reader.as_value(reader.values[name]))
        reader.draft.outputs.append((name, values[-1].size))
    if len(values) > 1:
        names = ", ".join(
            f"{name!r} ({v.size})" for name, v in zip(outputs.names, values, strict=True)
        )
        reader.draft.notes.append(f"outputs one after the other: {names}")
    reader.graph.finish(values)


# --- Tensors of the file --------------------------------------------------------------------------


def _array(path: Path, tensor: Any, name: str) -> NDArray[Any]:
    """Return a tensor of the file as an array, and store its external data in the model.

    Arrays of text get a string type, because arrays of objects hold exact numbers in this package.
    """
    from onnx import numpy_helper

    count = math.prod(tensor.dims)
    if not 0 <= count <= PARAMETER_LIMIT or any(size < 0 for size in tensor.dims):
        raise NetworkFileError(
            path,
            f"tensor {name!r}",
            f"shape {list(tensor.dims)[:8]} has more than {PARAMETER_LIMIT} entries",
        )
    if tensor.data_location == 1:
        # The runtime gets the same bytes.
        tensor.CopyFrom(_with_external_data(path, tensor, name))
    try:
        array = np.asarray(numpy_helper.to_array(tensor))
        return array.astype(str) if array.dtype == object else array
    except (ValueError, TypeError, KeyError) as error:
        raise NetworkFileError(path, f"tensor {name!r}", f"cannot be read: {error}") from None


def _with_external_data(path: Path, tensor: Any, name: str) -> Any:
    """Return a copy of a tensor with its bytes, from a file in the folder of the model.

    Files outside that folder are refused, so that a model cannot read other files of the user.
    """
    from onnx import TensorProto
    from onnx.helper import tensor_dtype_to_np_dtype

    def fail(problem: str) -> NetworkFileError:
        """Return an error about the tensor."""
        return NetworkFileError(path, f"tensor {name!r}", problem)

    where = {entry.key: entry.value for entry in tensor.external_data}
    location, folder = where.get("location", ""), Path(os.path.realpath(path)).parent
    try:
        file = Path(os.path.realpath(folder / location))
        first, length = int(where.get("offset", "0")), int(where.get("length", "-1"))
    except (OSError, ValueError) as error:
        raise fail(f"its external data {location[:80]!r} cannot be read: {error}") from None
    if not location or not file.is_relative_to(folder):
        raise fail(f"its external data {location[:80]!r} is not in the model's folder")
    if os.path.exists(file) and not os.path.isfile(file):
        raise fail(f"its external data {location[:80]!r} cannot be read: not a regular file")
    if length < 0:  # the file gives no length: the shape and type determine it
        length = (
            math.prod(tensor.dims) * np.dtype(tensor_dtype_to_np_dtype(tensor.data_type)).itemsize
        )
    try:
        allow_file(str(file), file.stat().st_size)
        if not 0 <= first <= first + length <= max(file.stat().st_size, first):
            raise fail(
                f"its external data {location[:80]!r} is too short for {length} bytes from byte "
                f"{first}"
            )
        need(unpacked=length)
        with file.open("rb") as stream:
            stream.seek(first)
            data = stream.read(length)
    except OSError as error:
        reason = error.strerror or error
        raise fail(
            f"its external data {location[:80]!r} cannot be read: {reason}; keep it beside the "
            "model"
        ) from None
    return TensorProto(
        dims=tensor.dims, data_type=tensor.data_type, name=tensor.name, raw_data=data
    )
