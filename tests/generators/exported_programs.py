"""Small ``.pt2`` archives written by hand, as ``torch.export.save`` would write them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polyrelu.support.typing import Array

#: The numbers of the float types in the format.
_TYPES = {"float16": 6, "float32": 7, "float64": 8}


def tensor(name: str) -> dict[str, Any]:
    """An argument, or a result, that is a tensor."""
    return {"as_tensor": {"name": name}}


def node(operation: str, result: str, *args: dict[str, Any], **named: Any) -> dict[str, Any]:
    """A node that calls an operation of ATen with arguments by position and by name."""
    inputs = [{"name": "", "arg": arg, "kind": 1} for arg in args]
    inputs += [{"name": name, "arg": arg, "kind": 2} for name, arg in named.items()]
    target = operation if operation.startswith("torch.") else f"torch.ops.aten.{operation}"
    return {"target": target, "inputs": inputs, "outputs": [tensor(result)], "metadata": {}}


def _described(array: Array) -> dict[str, Any]:
    strides = [stride // array.itemsize for stride in array.strides]
    return {
        "dtype": _TYPES[array.dtype.name],
        "sizes": [{"as_int": size} for size in array.shape],
        "strides": [{"as_int": stride} for stride in strides],
        "storage_offset": {"as_int": 0},
        "layout": 7,
    }


def program(
    nodes: Sequence[dict[str, Any]],
    tensors: Mapping[str, Array],
    sizes: Sequence[int | str],
    output: str,
) -> dict[str, Any]:
    """The JSON document of a program with one input x; a size that is text is a symbol."""
    specs: list[dict[str, Any]] = [
        {"parameter": {"arg": {"name": name}, "parameter_name": name}} for name in tensors
    ]
    shape = [
        {"as_int": size} if isinstance(size, int) else {"as_expr": {"expr_str": size}}
        for size in sizes
    ]
    return {
        "graph_module": {
            "graph": {"nodes": list(nodes), "tensor_values": {"x": {"sizes": shape}}},
            "signature": {
                "input_specs": [*specs, {"user_input": {"arg": tensor("x")}}],
                "output_specs": [{"user_output": {"arg": tensor(output)}}],
            },
        },
        "torch_version": "2.14.1",
    }


def write_program(
    path: Path, document: object, tensors: Mapping[str, Array], **changed: bytes
) -> None:
    """Write an archive; files of it can be given other contents (byteorder=b"big")."""
    files = {"byteorder": b"little", "models/model.json": json.dumps(document).encode()}
    config = {}
    for number, (name, array) in enumerate(tensors.items()):
        entry = {"path_name": f"weight_{number}", "use_pickle": False}
        config[name] = {**entry, "tensor_meta": _described(array)}
        files[f"data/weights/weight_{number}"] = np.ascontiguousarray(array).tobytes()
    files["data/weights/model_weights_config.json"] = json.dumps({"config": config}).encode()
    files["data/constants/model_constants_config.json"] = b'{"config": {}}'
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**files, **changed}.items():
            archive.writestr(f"net/{name}", content)
