"""Small files that ask for gigabytes or for hours, by the ending of the file and a name."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tests.generators.many_parts import MANY_PARTS
from tests.generators.onnx_files import constant, model, node

__all__ = ["BOMBS"]


def _convolutions(number: int, size: int, channels: int, width: int) -> bytes:
    """Convolutions without a ReLU between them, which a network multiplies out."""
    nodes, last, pad = [], "x", width // 2
    for i in range(number):
        kernel = "first" if i == 0 else "further"
        output = "y" if i == number - 1 else f"v{i}"
        nodes.append(node("Conv", [last, kernel], output, pads=[pad] * 4))
        last = output
    generator = np.random.default_rng(0)
    constants = [
        constant("first", generator.normal(size=(channels, 1, width, width))),
        constant("further", generator.normal(size=(channels, channels, width, width))),
    ]
    return model(nodes, constants, (1, 1, size, size))


def _pools(number: int, size: int, width: int) -> bytes:
    """Means over windows without a ReLU between them."""
    nodes, last = [], "x"
    for i in range(number):
        output = "y" if i == number - 1 else f"v{i}"
        pads = [width // 2] * 4
        nodes.append(
            node(
                "AveragePool",
                [last],
                output,
                kernel_shape=[width, width],
                strides=[1, 1],
                pads=pads,
                count_include_pad=1,
            )
        )
        last = output
    return model(nodes, [], (1, 1, size, size))


def _repeated(operation: str, number: int, shape: tuple[int, ...], **attributes: Any) -> bytes:
    """One operation on a large value, many times."""
    nodes, last = [], "x"
    for i in range(number):
        output = "y" if i == number - 1 else f"v{i}"
        nodes.append(node(operation, [last], output, **attributes))
        last = output
    return model(nodes, [], shape)


def _large_constant(
    rest: list[Any], shape: tuple[int, ...], size: int, value: float = 0.1
) -> bytes:
    """Nodes that read the constant ``c`` of a given number of equal entries."""
    fill = helper.make_tensor("fill", TensorProto.FLOAT, [1], [value])
    nodes = [node("ConstantOfShape", ["shape"], "c", value=fill), *rest]
    return model(nodes, [constant("shape", [size], np.int64)], shape)


def _added_constants() -> bytes:
    """Thirty sums of constants of two million entries."""
    sums = [node("Add", ["c" if i == 0 else f"c{i}", "c"], f"c{i + 1}") for i in range(30)]
    rest = [*sums, node("ReduceSum", ["c30"], "s", keepdims=0), node("Add", ["x", "s"], "y")]
    return _large_constant(rest, (1, 2), 2 * 10**6)


def _doubled_constant() -> bytes:
    """A constant that is joined to itself again and again."""
    nodes = [node("Concat", [f"c{i}", f"c{i}"], f"c{i + 1}", axis=0) for i in range(40)]
    nodes.append(node("Add", ["x", "c40"], "y"))
    return model(nodes, [constant("c0", [1.0, 2.0])], (1, 2))


def _doubled_value() -> bytes:
    """A value that is joined to itself again and again."""
    nodes = [node("Concat", [f"v{i}", f"v{i}"], f"v{i + 1}", axis=1) for i in range(30)]
    return model([node("Relu", ["x"], "v0"), *nodes, node("Relu", ["v30"], "y")], [], (1, 2))


def _residual_chain(number: int) -> bytes:
    """A chain of sums x + σ(x), each of which reads all earlier neurons."""
    nodes, last = [], "x"
    for i in range(number):
        output = "y" if i == number - 1 else f"v{i}"
        nodes += [node("Relu", [last], f"r{i}"), node("Add", [last, f"r{i}"], output)]
        last = output
    return model(nodes, [], (1, 1))


def _branches(number: int, size: int) -> bytes:
    """Many branches of wide layers that are added up at the end."""
    nodes = [node("Mul", ["x", f"c{i}"], f"v{i}") for i in range(number)]
    nodes += [node("Relu", [f"v{i}"], f"r{i}") for i in range(number)]
    nodes.append(node("Sum", [f"r{i}" for i in range(number)], "y"))
    return model(nodes, [constant(f"c{i}", [i + 1.0]) for i in range(number)], (1, size))


def _products(number: int, size: int) -> bytes:
    """A chain of dense products without a ReLU between them."""
    weight = np.random.default_rng(0).normal(size=(size, size))
    nodes, last = [], "x"
    for i in range(number):
        output = "y" if i == number - 1 else f"v{i}"
        nodes.append(node("MatMul", [last, "w"], output))
        last = output
    return model(nodes, [constant("w", weight)], (1, size))


def _long_numbers(number: int) -> bytes:
    """A number that is multiplied again and again."""
    nodes, last = [], "x"
    for i in range(number):
        output = "y" if i == number - 1 else f"v{i}"
        nodes.append(node("Mul", [last, "c"], output))
        last = output
    return model(nodes, [constant("c", [0.1])], (1, 2))


def _dead_runtime() -> bytes:
    """A node on which nothing depends, with which a runtime would fill the memory."""
    nodes = [
        node("Relu", ["x"], "y"),
        node("ConstantOfShape", ["shape"], "dead"),
        node("Add", ["dead", "dead"], "more"),
    ]
    return model(nodes, [constant("shape", [10**6, 10**4], np.int64)], (1, 2))


def _zip(members: dict[str, bytes], compression: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _npy(header: str, data: bytes) -> bytes:
    text = header.encode() + b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def _npz_of_text() -> bytes:
    """An array of one text of 400 million letters."""
    header = "{'descr': '<U400000000', 'fortran_order': False, 'shape': (1,), }"
    content = bz2.compress(_npy(header, bytes(10**6)))
    return _raw_zip("W1.npy", content, 12, 160 * 10**7)


def _raw_zip(name: str, packed: bytes, method: int, size: int) -> bytes:
    """Return a zip file of one member that claims a size."""
    encoded = name.encode()
    fields = (method, 0, 0x21, 0, len(packed), size, len(encoded))
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 46, 0, *fields[:3], *fields[3:], 0) + encoded
    central = struct.pack("<4s6H3L5H2L", b"PK\1\2", 46, 46, 0, *fields, 0, 0, 0, 0, 0, 0) + encoded
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local) + len(packed), 0)
    return local + packed + central + end


def _npz_of_zeros() -> bytes:
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (5000, 5000), }"
    return _zip({"W1.npy": _npy(header, bytes(8 * 25 * 10**6))}, zipfile.ZIP_DEFLATED)


def _keras_of_lists() -> bytes:
    text = b"[" + b"[]," * (2**24) + b"[]]"
    members = {"config.json": text, "metadata.json": text, "model.weights.h5": b""}
    return _zip(members, zipfile.ZIP_DEFLATED)


def _keras_deep() -> bytes:
    text = b"[" * 10**6
    return _zip(
        {"config.json": text, "metadata.json": b"{}", "model.weights.h5": b""},
        zipfile.ZIP_DEFLATED,
    )


def _keras_of_zeros() -> bytes:
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        for i in range(20):
            file.create_dataset(
                f"layers/dense_{i}/vars/0",
                shape=(1000, 1400),
                dtype="f8",
                chunks=(1000, 1400),
                compression="gzip",
                data=np.zeros((1000, 1400)),
            )
    model_text = json.dumps({"class_name": "Sequential", "config": {"layers": []}}).encode()
    members = {
        "config.json": model_text,
        "metadata.json": b"{}",
        "model.weights.h5": buffer.getvalue(),
    }
    return _zip(members, zipfile.ZIP_DEFLATED)


def _mat_of_zeros() -> bytes:
    """A compressed variable W of 200 MB."""
    size = 200 * 10**6
    name = struct.pack("<HH4s", 1, 1, b"W\0\0\0")
    head = struct.pack("<IIII", 6, 8, 6, 0) + struct.pack("<IIii", 5, 8, size // 8, 1) + name
    content = head + struct.pack("<II", 9, size) + bytes(size)
    packed = zlib.compress(struct.pack("<II", 14, len(content)) + content, 6)
    header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H2s", 0x0100, b"IM")
    return header + struct.pack("<II", 15, len(packed)) + packed


def _nnet_of_sizes() -> bytes:
    sizes = ",".join(["5000"] * 9)
    return f"// \n8,5000,5000,5000,\n{sizes},\n0,\n0,\n0,\n0,\n0,\n1,\n".encode()


def _nnet_of_long_numbers() -> bytes:
    numbers = "1e-999," * 100
    rows = (numbers + "\n") * 300
    return f"//\n1,100,300,300,\n100,300,\n0,\n0,\n0,\n0,\n0,\n{rows}".encode() + b"1,\n" * 300


def _gz_of_spaces() -> bytes:
    return gzip.compress(b" " * (2 * 10**8))


def _json_of_lists() -> bytes:
    return b'{"a":' + b"[" * 450_000 + b"]" * 450_000 + b"}"


def _gz_of_lists() -> bytes:
    return gzip.compress(b"[" + b"[]," * (2 * 10**7) + b"[]]")


def _gz_of_keys() -> bytes:
    """Many keys, of which the last one stands twice."""
    keys = ",".join(f'"{k}":0' for k in range(120_000))
    return gzip.compress(f'{{{keys},"119999":0}}'.encode())


def _gz_of_rows() -> bytes:
    """A layer of many zeros."""
    row = " ".join(["0"] * 10**6)
    layer = {"denominator": "1", "bias": "1", "weights": [{"from": 0, "rows": [row] * 30}]}
    head = {"format": "polyrelu-network", "version": 1, "inputs": 10**6}
    return gzip.compress(json.dumps({**head, "layers": [layer], "last": "affine"}).encode())


#: The content of each bomb, as a function, by the ending of the file and a name.
BOMBS: dict[tuple[str, str], Callable[[], bytes]] = {
    (".onnx", "two convolutions"): lambda: _convolutions(2, 90, 8, 9),
    (".onnx", "eight convolutions"): lambda: _convolutions(8, 100, 3, 5),
    (".onnx", "six average pools"): lambda: _pools(6, 300, 9),
    (".onnx", "one average pool"): lambda: _pools(1, 990, 3),
    (".onnx", "absolute values"): lambda: _repeated("Abs", 1, (1, 900_000)),
    (".onnx", "many absolute values"): lambda: _repeated("Abs", 40, (1, 900_000)),
    (".onnx", "many transposes"): lambda: _repeated("Transpose", 1000, (900, 1000)),
    (".onnx", "many flattenings"): lambda: _repeated("Flatten", 5000, (900, 1000)),
    (".onnx", "many ReLUs"): lambda: _repeated("LeakyRelu", 3000, (1, 300)),
    (".onnx", "added constants"): _added_constants,
    (".onnx", "a doubled constant"): _doubled_constant,
    (".onnx", "a doubled value"): _doubled_value,
    (".onnx", "a chain of sums"): lambda: _residual_chain(9000),
    (".onnx", "many branches"): lambda: _branches(1000, 900),
    (".onnx", "dense products"): lambda: _products(100, 480),
    (".onnx", "long numbers"): lambda: _long_numbers(8000),
    (".onnx", "a dead node"): _dead_runtime,
    (".npz", "a text of 400 million letters"): _npz_of_text,
    (".npz", "zeros"): _npz_of_zeros,
    (".keras", "lists"): _keras_of_lists,
    (".keras", "depth"): _keras_deep,
    (".keras", "zeros"): _keras_of_zeros,
    (".mat", "zeros"): _mat_of_zeros,
    (".nnet", "sizes"): _nnet_of_sizes,
    (".nnet", "long numbers"): _nnet_of_long_numbers,
    (".json.gz", "spaces"): _gz_of_spaces,
    (".json.gz", "lists"): _gz_of_lists,
    (".json.gz", "keys"): _gz_of_keys,
    (".json.gz", "rows"): _gz_of_rows,
    (".json", "depth"): _json_of_lists,
    **MANY_PARTS,
}
