"""Good files of every format, and damaged copies of them."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from polyrelu.network import from_arrays, to_document
from tests.generators.bombs import BOMBS
from tests.generators.damage import damaged
from tests.generators.exported_programs import node as exported_node, program, tensor, write_program
from tests.generators.keras_models import h5_file, inner_models, keras_file
from tests.generators.random_onnx import random_graph

__all__ = ["ENDINGS", "any_damage", "damaged_files", "good_file", "good_files"]

_Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]

#: Sizes that no good file has.
_ABSURD = (0, -1, 1, 3, 127, 10**6, 2**31 - 1, 2**31, 2**32, 10**12, 2**63 - 1, -(2**63))


def _layers(*widths: int) -> _Layers:
    generator = np.random.default_rng(len(widths))
    return [
        (
            generator.normal(size=(m, n)).astype(np.float32),
            generator.normal(size=m).astype(np.float32),
        )
        for n, m in pairwise(widths)
    ]


def _zip(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


# --- Good files -----------------------------------------------------------------------------------


def _good_npz() -> list[bytes]:
    files = []
    for save in (np.savez, np.savez_compressed):
        buffer = io.BytesIO()
        arrays = dict[str, Any]()
        for number, (weight, bias) in enumerate(_layers(3, 4, 2), 1):
            arrays |= {f"W{number}": weight, f"b{number}": bias}
        save(buffer, **arrays)
        files.append(buffer.getvalue())
    return files


def _good_json() -> list[bytes]:
    network = from_arrays(_layers(3, 4, 2))
    return [json.dumps(to_document(network)).encode()]


def _good_nnet() -> list[bytes]:
    lines = ["// a comment", "2,3,2,4,", "3,4,2,", "0,", "0,0,0,", "1,1,1,", "0,0,0,0,", "1,1,1,1,"]
    for weight, bias in _layers(3, 4, 2):
        lines += [",".join(f"{x:.5e}" for x in row) + "," for row in weight]
        lines += [f"{x:.5e}," for x in bias]
    return ["\n".join(lines).encode()]


def _state() -> dict[str, Any]:
    import torch

    state = {}
    for number, (weight, bias) in enumerate(_layers(3, 4, 2)):
        state[f"{2 * number}.weight"] = torch.from_numpy(weight)
        state[f"{2 * number}.bias"] = torch.from_numpy(bias)
    return state


def _good_pt() -> list[bytes]:
    import torch

    files = []
    for content, zipped in ((_state(), True), ({"state_dict": _state()}, True), (_state(), False)):
        buffer = io.BytesIO()
        torch.save(content, buffer, _use_new_zipfile_serialization=zipped)
        files.append(buffer.getvalue())
    return files


def _good_sb3() -> list[bytes]:
    policy = (
        '{"policy_class": {"__module__": "stable_baselines3.dqn.policies"}, "policy_kwargs": {}}'
    )
    return [_zip({"policy.pth": _good_pt()[0], "data": policy.encode()}, zipfile.ZIP_STORED)]


def _good_safetensors() -> list[bytes]:
    from safetensors.numpy import save

    return [save({name: tensor.numpy() for name, tensor in _state().items()})]


def _dense_configuration() -> dict[str, Any]:
    layers: list[dict[str, Any]] = [
        {"class_name": "InputLayer", "config": {"batch_shape": [None, 3], "name": "input_1"}}
    ]
    for number, (width, activation) in enumerate(((4, "relu"), (2, "linear"))):
        config = {"name": f"dense_{number}", "units": width, "activation": activation}
        layers.append({"class_name": "Dense", "config": {**config, "use_bias": True}})
    return {"class_name": "Sequential", "config": {"name": "s", "layers": layers}}


def _good_h5() -> list[bytes]:
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.attrs["model_config"] = json.dumps(_dense_configuration())
        file.attrs["keras_version"] = "2.15.0"
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [b"dense_0", b"dense_1"]
        for number, (weight, bias) in enumerate(_layers(3, 4, 2)):
            name = f"dense_{number}"
            own = group.create_group(name)
            own.attrs["weight_names"] = [f"{name}/kernel:0".encode(), f"{name}/bias:0".encode()]
            own.create_dataset(f"{name}/kernel:0", data=weight.T)
            own.create_dataset(f"{name}/bias:0", data=bias)
    return [buffer.getvalue(), h5_file(*inner_models(first_use=1))]


def _good_keras() -> list[bytes]:
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        for number, (weight, bias) in enumerate(_layers(3, 4, 2)):
            place = f"layers/dense_{number}/vars" if number else "layers/dense/vars"
            own = file.create_group(place)
            own.attrs["name"] = f"dense_{number}"
            own.create_dataset("0", data=weight.T)
            own.create_dataset("1", data=bias)
    members = {
        "metadata.json": b'{"keras_version": "3.15.1"}',
        "config.json": json.dumps(_dense_configuration()).encode(),
        "model.weights.h5": buffer.getvalue(),
    }
    return [_zip(members), keras_file(*inner_models())]


def _element(kind: int, content: bytes) -> bytes:
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def _matrix(name: bytes, kind: int, shape: Sequence[int], *parts: bytes) -> bytes:
    head = [
        _element(6, struct.pack("<II", kind, 0)),
        _element(5, struct.pack(f"<{len(shape)}i", *shape)),
        _element(1, name),
    ]
    return _element(14, b"".join([*head, *parts]))


def _good_mat() -> list[bytes]:
    variables = []
    for name, place in ((b"W", 0), (b"b", 1)):
        arrays = [pair[place].astype(np.float64) for pair in _layers(3, 4, 2)]
        cells = [
            _matrix(
                b"",
                6,
                (len(array), array.size // len(array)),
                _element(9, array.tobytes(order="F")),
            )
            for array in arrays
        ]
        variables.append(_matrix(name, 1, (1, len(cells)), *cells))
    header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H2s", 0x0100, b"IM")
    packed = [
        struct.pack("<II", 15, len(content)) + content for content in map(zlib.compress, variables)
    ]
    return [header + b"".join(variables), header + b"".join(packed)]


def _good_eran() -> list[bytes]:
    lines = ["Normalize mean=[0.5, 0, 1] std=[1, 2, 0.25]"]
    for (weight, bias), kind in zip(_layers(3, 4, 2), ("ReLU", "Affine"), strict=True):
        lines += [kind, str(weight.tolist()), str(bias.tolist())]
    return ["\n".join(lines).encode()]


def _good_pt2() -> list[bytes]:
    ((weight, bias),) = _layers(3, 4)
    tensors = {"w": weight, "b": bias}
    nodes = [
        exported_node("linear.default", "z", tensor("x"), tensor("w"), tensor("b")),
        exported_node("relu.default", "y", tensor("z")),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "net.pt2")
        write_program(path, program(nodes, tensors, ("s0", 3), "y"), tensors)
        return [path.read_bytes()]


def _good_gz() -> list[bytes]:
    return [gzip.compress(content, mtime=0) for content in _good_onnx()]


def _good_onnx() -> list[bytes]:
    return [random_graph(seed) for seed in range(40)]


_GOOD: dict[str, Callable[[], list[bytes]]] = {
    ".onnx": _good_onnx,
    ".npz": _good_npz,
    ".json": _good_json,
    ".nnet": _good_nnet,
    ".pt": _good_pt,
    ".zip": _good_sb3,
    ".safetensors": _good_safetensors,
    ".h5": _good_h5,
    ".keras": _good_keras,
    ".mat": _good_mat,
    ".eran": _good_eran,
    ".onnx.gz": _good_gz,
    ".pt2": _good_pt2,
}
ENDINGS = tuple(_GOOD)


@lru_cache
def good_files(ending: str) -> list[bytes]:
    """The contents of readable files."""
    return _GOOD[ending]()


def good_file(ending: str) -> bytes:
    """The content of a readable file."""
    return good_files(ending)[0]


# --- Damage ---------------------------------------------------------------------------------------


def _truncated(chance: random.Random, content: bytes) -> bytes:
    return content[: chance.randrange(len(content))]


def _noisy(chance: random.Random, content: bytes) -> bytes:
    found = bytearray(content)
    for _ in range(chance.choice([4, 16, 64])):
        found[chance.randrange(len(found))] = chance.randrange(256)
    return bytes(found)


def _blanked(chance: random.Random, content: bytes) -> bytes:
    start = chance.randrange(len(content))
    length = chance.randint(1, 64)
    byte = chance.choice([b"\0", b"\xff", b"0", b"["])
    return content[:start] + byte * min(length, len(content) - start) + content[start + length :]


def _spliced(chance: random.Random, content: bytes) -> bytes:
    first, second = (chance.randrange(len(content)) for _ in range(2))
    return content[:first] + content[second:]


def _with_absurd_words(chance: random.Random, content: bytes) -> bytes:
    """Return a copy with absurd sizes over words of four or eight bytes, or over decimals."""
    found = bytearray(content)
    numbers = list(re.finditer(rb"[0-9]+", content))
    if numbers and chance.random() < 0.5:
        where = chance.choice(numbers)
        found[where.start() : where.end()] = str(chance.choice(_ABSURD)).encode()
        return bytes(found)
    width = chance.choice([4, 8])
    start = chance.randrange(max(1, len(found) - width))
    number = chance.choice(_ABSURD) & (256**width - 1)
    found[start : start + width] = number.to_bytes(width, chance.choice(["little", "big"]))
    return bytes(found)


_DAMAGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    damaged,
    damaged,
    _truncated,
    _noisy,
    _blanked,
    _spliced,
    _with_absurd_words,
    _with_absurd_words,
)


def any_damage(chance: random.Random, content: bytes) -> bytes:
    """Return a copy that is damaged somewhere."""
    if len(content) < 8:
        return chance.choice([b"", content + content])
    return chance.choice(_DAMAGES)(chance, content)


def _inside_archive(chance: random.Random, content: bytes) -> bytes:
    """Return an archive with a damaged member and the right checksum of it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice([key for key in members if members[key]])
    change = chance.randrange(10)
    if change == 0:
        del members[name]
    elif change == 1:
        members[name], other = b"", members[name]
        members[chance.choice(list(members))] = other
    else:
        members[name] = any_damage(chance, members[name])
    return _zip(members, chance.choice([0, 8, 12, 14]))


def _changed_graph(chance: random.Random, content: bytes) -> bytes:
    """Return an ONNX file whose graph has another wiring, other shapes or absurd attributes."""
    model = onnx.ModelProto.FromString(content)
    graph = model.graph
    for _ in range(chance.choice([1, 1, 2, 4])):
        chance.choice(
            [_rewired, _renamed, _reshaped, _absurd_attribute, _outside, _retyped, _repeated]
        )(chance, graph)
    return bytes(model.SerializeToString())


def _rewired(chance: random.Random, graph: Any) -> None:
    """Let a node read another value, perhaps one that is computed after it: a circle."""
    node = chance.choice(list(graph.node))
    names = [name for other in graph.node for name in other.output]
    names += [tensor.name for tensor in graph.initializer] + ["x", "", "nothing"]
    if node.input:
        node.input[chance.randrange(len(node.input))] = chance.choice(names)


def _renamed(chance: random.Random, graph: Any) -> None:
    node = chance.choice(list(graph.node))
    operations = ("Conv", "MatMul", "Gemm", "Reshape", "Concat", "MaxPool", "Expand", "Tile", "Pad")
    node.op_type = chance.choice([*operations, "Loop", "Softmax", "ConvTranspose", "Shape", "Cast"])


def _reshaped(chance: random.Random, graph: Any) -> None:
    if graph.initializer and chance.random() < 0.7:
        tensor = chance.choice(list(graph.initializer))
        if tensor.dims:
            tensor.dims[chance.randrange(len(tensor.dims))] = chance.choice(_ABSURD)
        return
    shape = graph.input[0].type.tensor_type.shape
    if shape.dim:
        chance.choice(list(shape.dim)).dim_value = chance.choice([*_ABSURD, 900, 1000, 30])


def _absurd_attribute(chance: random.Random, graph: Any) -> None:
    node = chance.choice(list(graph.node))
    for attribute in node.attribute:
        for place in range(len(attribute.ints)):
            if chance.random() < 0.5:
                attribute.ints[place] = chance.choice([*_ABSURD, 5, 9, 100])
        if attribute.HasField("i"):
            attribute.i = chance.choice(_ABSURD)
        if attribute.HasField("f"):
            attribute.f = chance.choice([float("nan"), float("inf"), 1e38, -1.0, 0.0])


def _outside(chance: random.Random, graph: Any) -> None:
    """Let a tensor read its numbers from a file outside the folder, or from too far inside."""
    if not graph.initializer:
        return
    tensor = chance.choice(list(graph.initializer))
    tensor.data_location = TensorProto.EXTERNAL
    tensor.ClearField("raw_data")
    places = ("/etc/passwd", "../outside", "damaged0.onnx", ".", "/dev/zero", "", "a" * 5000, "\0")
    entry = {"location": chance.choice(places), "offset": str(chance.choice(_ABSURD))}
    entry["length"] = str(chance.choice(_ABSURD))
    for key, value in entry.items():
        added = tensor.external_data.add()
        added.key, added.value = key, value


def _retyped(chance: random.Random, graph: Any) -> None:
    if graph.initializer:
        chance.choice(list(graph.initializer)).data_type = chance.randrange(26)


def _repeated(chance: random.Random, graph: Any) -> None:
    """Let a value go many times through the last node of its chain."""
    node = chance.choice(list(graph.node))
    if not node.input:
        return
    source = node.output[0]
    for number in range(chance.choice([3, 30])):
        copy = helper.make_node(
            node.op_type, [source, *list(node.input)[1:]], [f"{source}{number}"]
        )
        copy.attribute.extend(node.attribute)
        graph.node.append(copy)
        source = copy.output[0]
    graph.output[0].name = source


def damaged_files(ending: str, number: int, seed: int, bombs: bool = False) -> Iterator[bytes]:
    """Yield damaged files of a format, its bombs first if they are wanted."""
    chance = random.Random(f"{ending} {seed}")
    made = [make for (found, _), make in BOMBS.items() if bombs and found == ending]
    for place in range(number):
        if place < len(made):
            yield made[place]()
            continue
        content = chance.choice(good_files(ending))
        if ending == ".onnx.gz" and chance.random() < 0.6:
            plain = _changed_graph(chance, gzip.decompress(content))
            yield gzip.compress(plain, mtime=0)
        elif ending == ".onnx" and chance.random() < 0.6:
            yield _changed_graph(chance, content)
        elif zipfile.is_zipfile(io.BytesIO(content)) and chance.random() < 0.7:
            yield _inside_archive(chance, content)
        else:
            yield any_damage(chance, content)
