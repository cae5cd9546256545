"""ONNX files: the graph is walked once, and every node becomes operations of `tensors.py` (`onnx_operations.py`).

Names of the file stand for numpy arrays (initializers, constants, and what is computed from them alone) or for values
of the graph. A symbolic first dimension of an input is the batch and taken as 1; several inputs, and several outputs,
are put one after the other. Only nodes that an output depends on are looked at. A node that is not known is refused by
its name.
"""

from __future__ import annotations

import heapq
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.graph.values import Graph, Value
from polyrelu.formats.imported import Draft
from polyrelu.formats.onnx.operations import OPERATIONS, OnnxNode, Reader
from polyrelu.formats.onnx.runtime import runtime_or_reason
from polyrelu.formats.options import ReadOptions
from polyrelu.support.limits import PARAMETER_LIMIT, WIDTH_LIMIT

__all__ = ["read_onnx"]

#: What `--strip-tail` takes away after the last layer, and what may stand between.
_TAILS = {"Softmax", "LogSoftmax", "Sigmoid", "Tanh", "HardSwish", "Softplus"}
_VIEWS = {"Identity", "Flatten", "Reshape", "Squeeze", "Unsqueeze", "Cast", "Dropout"}


def read_onnx(path: Path, options: ReadOptions) -> Draft:
    """The operations of an ONNX file; `NetworkFileError` names the first node that cannot be taken exactly."""
    model = _parsed(path)
    constants = {
        tensor.name: _array(path, tensor, tensor.name) for tensor in model.graph.initializer
    }
    if len(constants) < len(model.graph.initializer):
        raise NetworkFileError(path, "graph", "two initializers have one name")
    if model.graph.sparse_initializer:
        raise NetworkFileError(
            path, "graph", "sparse initializers are not supported; store the weights densely"
        )
    reader = _start(path, model, constants, options)
    _walk(reader, model)
    _finish(reader, model)
    reader.draft.runtime = runtime_or_reason(model, list(reader.graph.names))
    return reader.draft


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


def _start(
    path: Path, model: Any, constants: dict[str, NDArray[Any]], options: ReadOptions
) -> Reader:
    opset = max(
        (entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")),
        default=0,
    )
    if opset < 1:
        raise NetworkFileError(path, "", "no opset is named, so the file is damaged or not ONNX")
    from onnx.defs import onnx_opset_version

    if not 6 <= opset <= onnx_opset_version():
        known = f"opset {opset} is not one of 6 to {onnx_opset_version()}, which the installed onnx knows"
        raise NetworkFileError(path, "", f"{known}; convert the file, or update onnx")
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
    draft.input_shapes = [_input_shape(path, entry, options.input_shape) for entry in entries]
    values: dict[str, Value | NDArray[Any]] = dict(constants)
    try:
        inputs = graph.inputs(draft.input_shapes)
    except NetworkError as error:
        raise NetworkFileError(path, "graph", str(error)) from None
    first = 0
    for entry, value in zip(entries, inputs, strict=True):
        if entry.name in values:
            raise NetworkFileError(path, "graph", f"the name {entry.name[:80]!r} is defined twice")
        values[entry.name] = value
        where = (
            ""
            if len(entries) == 1
            else f" {entry.name!r}, coordinates {first} to {first + value.size - 1},"
        )
        sample = "one sample (a symbolic first dimension is the batch, taken as 1)"
        draft.notes.append(f"input{where} of shape {list(value.shape)}, {sample}")
        first += value.size
    return Reader(
        path,
        draft,
        graph,
        options,
        values,
        opset,
        _stripped(model) if options.strip_tail else set(),
    )


def _stripped(model: Any) -> set[str]:
    """The outputs of nodes that `--strip-tail` leaves out: between them and an output of the graph are only views."""
    makers = {name: node for node in model.graph.node for name in node.output}
    uses = [name for node in model.graph.node for name in node.input]
    outputs = [entry.name for entry in model.graph.output]
    found, waiting = set[str](), list(outputs)
    while waiting:
        name = waiting.pop()
        node = makers.get(name)
        if node is None or not node.input or uses.count(name) + outputs.count(name) > 1:
            continue  # something else reads it: then it is in the middle
        if node.op_type in _TAILS:
            found.add(name)
        elif node.op_type in _VIEWS:
            waiting.append(node.input[0])
    return found


#: The float types of ONNX, and what a runtime computes with.
_FLOATS = {"FLOAT": "float32", "DOUBLE": "float64", "FLOAT16": "float16", "BFLOAT16": "bfloat16"}


def _float_type(path: Path, entry: Any) -> str:
    import onnx

    kind = entry.type.tensor_type.elem_type
    element = (
        onnx.TensorProto.DataType.Name(kind)
        if kind in onnx.TensorProto.DataType.values()
        else "unknown"
    )
    if element not in _FLOATS:
        raise NetworkFileError(
            path, f"input {entry.name!r}", f"its type is {element.lower()}; expected a float type"
        )
    return _FLOATS[element]


def _input_shape(path: Path, entry: Any, given: tuple[int, ...] | None) -> tuple[int, ...]:
    """The shape of one sample: a leading symbolic dimension is the batch and becomes 1. A given shape stands in for
    sizes that the file leaves open."""
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
        problem = f"shape {sizes} is not fixed after the batch dimension; say it with --input-shape"
        raise NetworkFileError(path, f"input {entry.name!r}", problem)
    return tuple(sizes)


def _walk(reader: Reader, model: Any) -> None:
    constants = [node for node in model.graph.node if _is_constant(node)]
    for proto in constants:  # first of all: some exporters write them after their use
        node = OnnxNode(reader, proto)
        node.define(_constant_node(reader.path, node))
    waiting = [node for node in model.graph.node if not _is_constant(node)]
    needed = _needed(model)
    waiting = [node for node in waiting if any(name in needed for name in node.output)]
    _in_order(reader, waiting)


def _in_order(reader: Reader, nodes: list[Any]) -> None:
    """Do the nodes in the file's order, except where one stands before what it reads."""
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
        _step(reader, node)
        done += 1
        for name in node.output:
            for number in readers.pop(name, []) if name in reader.values else []:
                missing[number].discard(name)
                if not missing[number]:
                    heapq.heappush(ready, number)
    if done < len(nodes):
        raise _unknown_name(
            reader, next(node for node, names in zip(nodes, missing, strict=True) if names)
        )


def _unknown_name(reader: Reader, proto: Any) -> NetworkFileError:
    name = next(name for name in proto.input if name and name not in reader.values)
    return OnnxNode(reader, proto).fail(
        f"its input {name!r} does not come from the network's input or a constant"
    )


def _needed(model: Any) -> set[str]:
    """The names that the outputs depend on; other nodes are dead code."""
    makers = {name: node for node in model.graph.node for name in node.output}
    needed: set[str] = set()
    waiting = [entry.name for entry in model.graph.output]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += makers[name].input if name in makers else ()
    return needed


def _step(reader: Reader, proto: Any) -> None:
    node = OnnxNode(reader, proto)
    if any(name in reader.stripped for name in proto.output):
        reader.draft.caveats.append(
            f"the {proto.op_type} after the last layer was stripped: outputs are its inputs"
        )
        reader.altered.update(proto.output)
        node.define(node.input(0))
        return
    handler = OPERATIONS.get(proto.op_type) if _is_standard(proto) else None
    if handler is None:
        is_tail, asked = proto.op_type in _TAILS, reader.options.strip_tail
        hint = (
            "; --strip-tail (strip_tail=True) leaves it out after the last layer"
            if is_tail and not asked
            else ""
        )
        raise node.fail(f"this operation is not supported{hint}")
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
        # too few inputs, attributes of a wrong type, axes that are not there
        kind = type(error).__name__
        raise node.fail(
            f"its inputs or attributes are not those of this operation ({kind})"
        ) from None
    node.check_attributes()
    node.define(*(result if isinstance(result, list) else [result]))


def _is_standard(proto: Any) -> bool:
    return proto.domain in ("", "ai.onnx")


def _is_constant(proto: Any) -> bool:
    return _is_standard(proto) and proto.op_type == "Constant"


def _constant_node(path: Path, node: OnnxNode) -> NDArray[Any]:
    for attribute in node.proto.attribute:
        if attribute.name == "value":
            return _array(path, attribute.t, next(iter(node.proto.output), ""))
        if attribute.name in ("value_float", "value_floats"):
            values = attribute.f if attribute.name == "value_float" else list(attribute.floats)
            return np.array(values, dtype=np.float32)
        if attribute.name in ("value_int", "value_ints"):
            return np.array(
                attribute.i if attribute.name == "value_int" else list(attribute.ints),
                dtype=np.int64,
            )
    raise node.fail("a constant without a dense numeric value")


def _finish(reader: Reader, model: Any) -> None:
    outputs = []
    for entry in model.graph.output:
        if entry.name not in reader.values:
            raise NetworkFileError(reader.path, f"output {entry.name!r}", "no node makes it")
        outputs.append(reader.as_value(reader.values[entry.name]))
    if len(outputs) > 1:
        names = ", ".join(
            f"{e.name!r} ({v.size})" for e, v in zip(model.graph.output, outputs, strict=True)
        )
        reader.draft.notes.append(f"outputs one after the other: {names}")
    reader.graph.finish(outputs)


# --- Tensors of the file ---------------------------------------------------------------------------------


def _array(path: Path, tensor: Any, name: str) -> NDArray[Any]:
    from onnx import numpy_helper

    count = math.prod(tensor.dims)
    if not 0 <= count <= PARAMETER_LIMIT or any(size < 0 for size in tensor.dims):
        raise NetworkFileError(
            path,
            f"tensor {name!r}",
            f"shape {list(tensor.dims)[:8]} has more than {PARAMETER_LIMIT} entries",
        )
    if tensor.data_location == 1:
        tensor.CopyFrom(_with_external_data(path, tensor, name))  # a runtime gets the same bytes
    try:
        array = np.asarray(numpy_helper.to_array(tensor))
        return (
            array.astype(str) if array.dtype == object else array
        )  # text; objects are exact numbers here
    except (ValueError, TypeError, KeyError) as error:
        raise NetworkFileError(path, f"tensor {name!r}", f"cannot be read: {error}") from None


def _with_external_data(path: Path, tensor: Any, name: str) -> Any:
    """A copy of the tensor with its bytes, from a file beside the model; nothing outside its folder is read."""
    from onnx import TensorProto
    from onnx.helper import tensor_dtype_to_np_dtype

    def fail(problem: str) -> NetworkFileError:
        return NetworkFileError(path, f"tensor {name!r}", problem)

    where = {entry.key: entry.value for entry in tensor.external_data}
    location, folder = where.get("location", ""), path.resolve().parent
    try:
        file = (folder / location).resolve()
        first, length = int(where.get("offset", "0")), int(where.get("length", "-1"))
    except (OSError, ValueError) as error:
        raise fail(f"its external data {location[:80]!r} cannot be read: {error}") from None
    if not location or not file.is_relative_to(folder):
        raise fail(f"its external data {location[:80]!r} is not in the model's folder")
    if file.exists() and not file.is_file():
        raise fail(f"its external data {location[:80]!r} cannot be read: not a regular file")
    if length < 0:  # then the shape says it
        length = (
            math.prod(tensor.dims) * np.dtype(tensor_dtype_to_np_dtype(tensor.data_type)).itemsize
        )
    try:
        if not 0 <= first <= first + length <= max(file.stat().st_size, first):
            raise fail(
                f"its external data {location[:80]!r} is too short for {length} bytes from byte {first}"
            )
        with file.open("rb") as stream:
            stream.seek(first)
            data = stream.read(length)
    except OSError as error:
        reason = error.strerror or error
        raise fail(
            f"its external data {location[:80]!r} cannot be read: {reason}; keep it beside the model"
        ) from None
    copy = TensorProto(
        dims=tensor.dims, data_type=tensor.data_type, name=tensor.name, raw_data=data
    )
    return copy
