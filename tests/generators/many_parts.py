"""Small files of very many parts, or of parts that say they are huge, for each format.

Nothing is compressed here: the work is in what a reader makes of each part.
"""

from __future__ import annotations

import io
import json
import struct
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from onnx import helper

from tests.generators.exported_programs import node as exported_node, program, tensor, write_program

__all__ = ["MANY_PARTS"]

_HEAD = {"format": "polyrelu-network", "version": 1}


def _field(number: int, content: bytes) -> bytes:
    """A field of a protocol buffer that has a length."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    digits = []
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


def _onnx(nodes: bytes) -> bytes:
    """A model with these nodes, in the bytes of protocol buffers."""
    values = (helper.make_tensor_value_info(name, 1, [1, 2]) for name in "xy")
    described = [value.SerializeToString() for value in values]
    graph = nodes + _field(11, described[0]) + _field(12, described[1])
    return b"\x08\x08" + _field(7, graph) + _field(8, b"\x10\x0d")


def _relu(first: bytes, result: bytes) -> bytes:
    return _field(1, _field(1, first) + _field(2, result) + _field(4, b"Relu"))


def _many_relus() -> bytes:
    """One value that 45,000 nodes read."""
    return _onnx(b"".join(_relu(b"x", b"%x" % i) for i in range(45_000)) + _relu(b"x", b"y"))


def _layer(rows: list[str], bias: str = "1") -> dict[str, Any]:
    return {"denominator": "1", "bias": bias, "weights": [{"from": 0, "rows": rows}]}


def _json(inputs: int, *layers: dict[str, Any]) -> bytes:
    document = {**_HEAD, "inputs": inputs, "layers": layers, "last": "affine"}
    return json.dumps(document).encode()


def _eran(layers: int, columns: int, entry: str = "1") -> bytes:
    row = ",".join([entry] * columns)
    return f"ReLU\n[[{row}]]\n[0]\n".encode() * layers


def _zip(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _h5(fill: Callable[[Any], None]) -> bytes:
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        fill(file)
    return buffer.getvalue()


def _unwritten_kernel(file: Any) -> None:
    """A kernel of 900 million numbers of which none was written."""
    size = 30_000
    layer = {"name": "dense", "units": size, "activation": "relu"}
    layers = [{"class_name": "Dense", "config": {**layer, "batch_input_shape": [None, size]}}]
    file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": layers})
    group = file.create_group("model_weights/dense/dense")
    group.create_dataset("kernel:0", shape=(size, size), dtype="f4", chunks=(1000, 1000))
    group.create_dataset("bias:0", shape=(size,), dtype="f4")
    file["model_weights"].attrs["layer_names"] = [b"dense"]
    names = [b"dense/kernel:0", b"dense/bias:0"]
    file["model_weights/dense"].attrs["weight_names"] = names


def _keras_of_activations() -> bytes:
    """A model of 9,000 layers."""
    layers: list[dict[str, Any]] = [
        {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [None, 3]}}
    ]
    for number in range(9000):
        entry = {"name": f"a{number}", "activation": "relu"}
        layers.append({"class_name": "Activation", "config": entry})
    config = {"class_name": "Sequential", "config": {"name": "m", "layers": layers}}
    return _zip(
        {
            "config.json": json.dumps(config).encode(),
            "metadata.json": b'{"keras_version": "3.0.0"}',
            "model.weights.h5": _h5(lambda file: None),
        }
    )


def _element(kind: int, content: bytes) -> bytes:
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def _mat(name: bytes, kind: int, shape: tuple[int, int], *parts: bytes) -> bytes:
    head = [_element(6, struct.pack("<II", kind, 0)), _element(5, struct.pack("<ii", *shape))]
    return _element(14, b"".join([*head, _element(1, name), *parts]))


_MAT_HEADER = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H2s", 0x0100, b"IM")


def _mat_of_cells() -> bytes:
    """Cell arrays in cell arrays."""
    inner = _mat(b"", 6, (0, 0), _element(9, b""))
    for _ in range(5000):
        inner = _mat(b"", 1, (1, 1), inner)
    return _MAT_HEADER + _mat(b"W", 1, (1, 1), inner)


def _mat_of_columns() -> bytes:
    """A sparse matrix of 200,000 empty columns."""
    starts = struct.pack("<200001i", *[0] * 200_001)
    parts = [_element(5, bytes(4)), _element(5, starts), _element(9, bytes(8))]
    return _MAT_HEADER + _mat(b"W", 5, (200_000, 200_000), *parts)


def _safetensors() -> bytes:
    """Thousands of tensors without a number."""
    entry = {"dtype": "F32", "shape": [0, 0], "data_offsets": [0, 0]}
    header = json.dumps({f"{i}.weight": entry for i in range(12_000)}).encode()
    return struct.pack("<Q", len(header)) + header


def _torch(value: Callable[[Any], Any]) -> bytes:
    import torch

    buffer = io.BytesIO()
    torch.save(value(torch), buffer)
    return buffer.getvalue()


def _pt2_of_relus() -> bytes:
    """A program of 3,000 operations."""
    nodes = [
        exported_node(
            "relu.default", f"h{i + 1}" if i < 2999 else "y", tensor(f"h{i}" if i else "x")
        )
        for i in range(3000)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "net.pt2")
        write_program(path, program(nodes, {}, ("s0", 3), "y"), {})
        return path.read_bytes()


#: The content of each file, as a function, by the ending of the file and a name.
MANY_PARTS: dict[tuple[str, str], Callable[[], bytes]] = {
    (".onnx", "nodes without content"): lambda: _onnx(b"\x0a\x00" * 480_000),
    (".onnx", "attributes without content"): lambda: _onnx(
        _field(1, _relu(b"x", b"y")[2:] + b"\x2a\x00" * 480_000)
    ),
    (".onnx", "many readers of a value"): _many_relus,
    (".json", "a row of 400,000 numbers"): lambda: _json(2, _layer(["1 " * 400_000 + "1"])),
    (".json", "12,000 layers"): lambda: _json(1, *[_layer(["1"])] * 12_000),
    (".eran", "45,000 layers"): lambda: _eran(45_000, 1),
    (".eran", "small numbers"): lambda: _eran(1, 130_000, "1e-999"),
    (".nnet", "many numbers in a line"): lambda: b"//\n" + b"1," * 450_000 + b"\n",
    (".npz", "many members"): lambda: _zip({str(i): b"" for i in range(8500)}),
    (".zip", "many members"): lambda: _zip({str(i): b"" for i in range(8500)}),
    (".pt", "one number for all"): lambda: _torch(
        lambda torch: {"0.weight": torch.ones(1, 1).expand(8000, 8000)}
    ),
    (".pt", "a list of nothing"): lambda: _torch(lambda torch: {"a": [None] * 900_000}),
    (".pt2", "3,000 operations"): _pt2_of_relus,
    (".safetensors", "12,000 tensors"): _safetensors,
    (".h5", "numbers that were not written"): lambda: _h5(_unwritten_kernel),
    (".keras", "9,000 layers"): _keras_of_activations,
    (".mat", "cells in cells"): _mat_of_cells,
    (".mat", "columns"): _mat_of_columns,
}
