"""Exported programs of PyTorch (``.pt2``): read as data, the same network as the module's."""

from __future__ import annotations

import json
import os
import zipfile
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from polyrelu import NetworkFileError, from_arrays, load, read
from tests.generators.exported_programs import node, program, tensor, write_program
from tests.generators.wrong_arguments import outcome

WEIGHT = np.array([[1, -2], [3, 0.5]], np.float32)
BIAS = np.array([0.25, -1], np.float32)
TENSORS = {"w": WEIGHT, "b": BIAS}
LINEAR = node("linear.default", "z", tensor("x"), tensor("w"), tensor("b"))
RELU = node("relu.default", "y", tensor("z"))
NET = from_arrays([(WEIGHT, BIAS)], "relu")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "net.pt2"


def written(path: Path, *nodes: dict[str, Any], output: str = "y", sizes: Any = ("s0", 2)) -> Path:
    write_program(path, program(nodes, TENSORS, sizes, output), TENSORS)
    return path


def test_a_small_program(file: Path) -> None:
    found = read(written(file, LINEAR, RELU))
    assert found.network == NET
    assert found.format == "exported program of PyTorch 2.14.1"
    assert (found.inputs, found.outputs) == ((("x", 2),), (("y", 2),))
    assert (found.dtypes, found.num_stored, found.arithmetic) == (("float32",), 6, "float32")
    assert "torch.export.load can run code of a file" in found.comparison.reason


def test_pytorch_is_not_needed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    assert load(written(file, LINEAR, RELU)) == NET


def test_parts_of_a_value(file: Path) -> None:
    """chunk, split and split_with_sizes give several results."""
    chosen: list[tuple[str, dict[str, Any]]] = [
        ("chunk.default", {"as_int": 2}),
        ("split.Tensor", {"as_int": 1}),
        ("split_with_sizes.default", {"as_ints": [1, 1]}),
    ]
    for operation, sizes in chosen:
        parts = node(operation, "", tensor("x"), sizes, {"as_int": 1})
        parts["outputs"] = [{"as_tensors": [{"name": "p"}, {"name": "q"}]}]
        swapped = {"as_tensors": [{"name": "q"}, {"name": "p"}]}
        joined = node("cat.default", "y", swapped, {"as_int": -1})
        assert load(written(file, parts, joined)) == from_arrays([([[0, 1], [1, 0]], [0, 0])])


def test_what_no_output_needs_is_not_read(file: Path) -> None:
    unknown = node("bernoulli.default", "noise", tensor("x"))
    assert load(written(file, unknown, LINEAR, RELU)) == NET


def test_strides_and_offsets(file: Path) -> None:
    """A tensor that is a view of its storage: the transpose of a matrix."""
    document = program([LINEAR, RELU], TENSORS, (1, 2), "y")
    write_program(file, document, {"w": WEIGHT.T, "b": BIAS})
    with zipfile.ZipFile(file) as archive:
        config = json.loads(archive.read("net/data/weights/model_weights_config.json"))
    assert config["config"]["w"]["tensor_meta"]["strides"] == [{"as_int": 1}, {"as_int": 2}]
    # The storage keeps the order of WEIGHT.T, so these strides read it as WEIGHT.T.T.
    storage = np.ascontiguousarray(WEIGHT.T)
    expected = np.lib.stride_tricks.as_strided(storage, (2, 2), (4, 8))
    assert load(file) == from_arrays([(expected, BIAS)], "relu")


# --- In place -------------------------------------------------------------------------------------


def test_harmless_writes(file: Path) -> None:
    """A ReLU in place whose input nobody reads again; a counter that nobody reads."""
    in_place = node("relu_.default", "y", tensor("z"))
    assert load(written(file, LINEAR, in_place)) == NET
    document = program([LINEAR, in_place], {**TENSORS, "n": BIAS[:1]}, (1, 2), "y")
    nodes = document["graph_module"]["graph"]["nodes"]
    nodes.insert(0, node("add_.Tensor", "count", tensor("n"), {"as_int": 1}))
    write_program(file, document, {**TENSORS, "n": BIAS[:1]})
    assert load(file) == NET


@pytest.mark.parametrize(
    "written_into",
    [
        [tensor("z")],
        [tensor("part")],
    ],
    ids=["value", "view"],
)
def test_writes_that_another_node_sees(written_into: list[Any], file: Path) -> None:
    part = node("slice.Tensor", "part", tensor("z"), {"as_int": 1}, {"as_int": 0}, {"as_int": 1})
    write = node("relu_.default", "w1", *written_into)
    total = node("add.Tensor", "y", tensor("z"), {"as_int": 1})
    with pytest.raises(NetworkFileError, match=r"node 'y' \(add\): .* node 'w1' wrote in place"):
        load(written(file, LINEAR, part, write, total))


def test_writes_into_parameters(file: Path) -> None:
    write = node("add_.Tensor", "b1", tensor("b"), {"as_int": 1})
    with pytest.raises(NetworkFileError, match="it writes into 'b', which another node reads"):
        load(written(file, write, LINEAR, RELU))


# --- What is refused ------------------------------------------------------------------------------


def test_operations_without_a_handler(file: Path) -> None:
    tail = node("softmax.int", "p", tensor("y"), {"as_int": 1})
    with pytest.raises(NetworkFileError, match=r"node 'p' \(softmax\): .*; --strip-tail"):
        load(written(file, LINEAR, RELU, tail, output="p"))
    with pytest.raises(NetworkFileError, match=r"operation is not supported$"):  # not at the end
        load(
            written(
                file, LINEAR, node("softmax.int", "p", tensor("z")), node("relu", "y", tensor("p"))
            )
        )
    written(file, LINEAR, RELU, tail, output="p")
    found = read(file, strip_tail=True)
    assert found.network == NET
    assert found.caveats == (
        "the softmax after the last layer was stripped: outputs are its inputs",
    )
    for operation, shown in (("sin.default", "sin"), ("torch.ops.mine.f.default", "torch")):
        with pytest.raises(NetworkFileError, match=rf"node 'y' \({shown}\): this operation is not"):
            load(written(file, LINEAR, node(operation, "y", tensor("z"))))


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (node("linear.default", "y", tensor("x"), tensor("v")), "it reads 'v', which is not"),
        (node("relu.default", "y"), "it is called with arguments that are not supported"),
        (node("relu.default", "y", tensor("z"), size={"as_int": 1}), "arguments that are not supp"),
        (node("relu.default", "y", {"as_graph": {}}), "arguments of kind as_graph are not supp"),
        (node("mul.Tensor", "y", tensor("z"), tensor("z")), "a product of two values"),
        (node("view.default", "y", tensor("z"), {"as_ints": [3, 1]}), "cannot reshape 2 entries"),
        (
            node("dropout.default", "y", tensor("z"), {"as_float": 0.5}, {"as_bool": True}),
            "the program was exported in training mode; export model.eval()",
        ),
    ],
)
def test_nodes_that_are_refused(last: dict[str, Any], message: str, file: Path) -> None:
    with pytest.raises(NetworkFileError) as error:
        load(written(file, LINEAR, last))
    assert f"{file}: node 'y' (" in str(error.value)
    assert message in str(error.value)


def test_programs_that_are_refused(file: Path) -> None:
    def refused(message: str, document: Any, **changed: bytes) -> None:
        write_program(file, document, TENSORS, **changed)
        with pytest.raises(NetworkFileError) as error:
            load(file)
        assert message in str(error.value)

    good = program([LINEAR, RELU], TENSORS, (1, 2), "y")
    refused("the program has no graph_module", {})
    refused("the program has no graph_module", [])
    refused("only little-endian files are read", good, byteorder=b"big")
    refused("only its first dimension, the batch, may be dynamic", program([], {}, (1, "s"), "y"))
    refused("inputs have 1 to 1000000 entries", program([], {}, (9999, 9999), "y"))
    refused("it reads 'y', which is not defined", program([], TENSORS, (1, 2), "y"))
    mutated = json.loads(json.dumps(good))
    mutated["graph_module"]["signature"]["output_specs"].append({"buffer_mutation": {}})
    refused("as modules in training mode do; export model.eval()", mutated)
    mutated["graph_module"]["signature"]["input_specs"].append({"custom_obj": {}})
    mutated["graph_module"]["signature"]["output_specs"].pop()
    refused("inputs: custom obj is not supported", mutated)


def test_archives_that_are_refused(file: Path) -> None:
    file.write_bytes(b"no archive")
    with pytest.raises(NetworkFileError, match=r"not a readable \.pt2 archive \(BadZipFile\)"):
        load(file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("serialized_exported_program.json", "{}")
    with pytest.raises(NetworkFileError, match=r"not an exported program with models/model\.json"):
        load(file)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("net/byteorder", "little")
        archive.writestr("net/models/model.json", b"[" * 2**25)
        for name in ("weights/model_weights", "constants/model_constants"):
            archive.writestr(f"net/data/{name}_config.json", '{"config": {}}')
    with pytest.raises(NetworkFileError, match="it unpacks to 33554432 bytes, more than 16777216"):
        load(file)


def test_tensors_that_are_refused(file: Path) -> None:
    def refused(message: str, **changes: Any) -> None:
        meta = {
            "dtype": 7,
            "sizes": [{"as_int": 2}, {"as_int": 2}],
            "strides": [{"as_int": 2}, {"as_int": 1}],
            "storage_offset": {"as_int": 0},
            "layout": 7,
            **changes,
        }
        entry = {"path_name": "weight_0", "use_pickle": False, "tensor_meta": meta}
        config = json.dumps({"config": {"w": entry}}).encode()
        product = node("mm.default", "y", tensor("x"), tensor("w"))
        document = program([product], {"w": WEIGHT}, (1, 2), "y")
        write_program(
            file, document, {"w": WEIGHT}, **{"data/weights/model_weights_config.json": config}
        )
        with pytest.raises(NetworkFileError) as error:
            load(file)
        assert message in str(error.value)

    refused("it reads beyond its bytes", storage_offset={"as_int": 1})
    refused("it reads beyond its bytes", strides=[{"as_int": 9}, {"as_int": 1}])
    refused("a size or stride is out of range", strides=[{"as_int": -1}, {"as_int": 1}])
    refused("its type (number 12) or its layout is not supported", dtype=12)
    refused("its type (number 7) or its layout is not supported", layout=3)
    refused("the program has no as_int", sizes=[{"as_expr": "s0"}, {"as_int": 2}])
    large = [{"as_int": 10**6}, {"as_int": 10**6}]
    refused("is not supported", sizes=large, strides=[{"as_int": 0}] * 2)


@pytest.mark.parametrize(
    "count", [100, pytest.param(2000, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_damaged_files(count: int, file: Path) -> None:
    """A damaged archive, or a damaged document in it, is read or refused in one line."""
    rng, refused = Random(count), 0
    whole = written(file, LINEAR, RELU).read_bytes()
    text = json.dumps(program([LINEAR, RELU], TENSORS, (1, 2), "y"))
    for number in range(count):
        data = bytearray(whole if number % 2 else text.encode())
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(data))
            if rng.random() < 0.5:
                data[place] = rng.choice(b'0129-[]{},":anx \xff')
            else:
                del data[place : place + rng.randint(1, 20)]
        if number % 2:
            file.write_bytes(bytes(data))
        else:
            write_program(file, {}, TENSORS, **{"models/model.json": bytes(data)})
        refused += bool(outcome(lambda: load(file)))
    assert refused > count / 2


# --- Against modules ------------------------------------------------------------------------------


def exported(path: Path, module: Any, *samples: Any, decompose: bool, batch: bool) -> Path:
    import torch

    shapes = tuple({0: torch.export.Dim("batch")} for _ in samples) if batch else None
    found = torch.export.export(module, samples, dynamic_shapes=shapes)
    torch.export.save(found.run_decompositions() if decompose else found, path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("decompose", [False, True], ids=["training", "core"])
def test_the_network_of_the_module(decompose: bool, file: Path) -> None:
    torch = pytest.importorskip("torch")
    nn, functional = torch.nn, torch.nn.functional

    class Convolutional(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(2, 3, 3, stride=2, padding=1)
            self.norm, self.up = nn.BatchNorm2d(3), nn.ConvTranspose2d(3, 2, 2, stride=2)
            self.linear, self.drop = nn.Linear(8, 4), nn.Dropout()

        def forward(self, x: Any) -> Any:
            x = functional.leaky_relu(self.norm(self.conv(x)), 0.125)
            x = functional.avg_pool2d(functional.max_pool2d(self.up(x), 2), 2)
            x = functional.hardtanh(torch.flatten(x, 1), -0.5, 2)
            a, b = x[:, :4], x[:, 4:]
            x = torch.cat([b - a, torch.maximum(a, b), x.abs()[:, 1:3], -x[:, :2].clamp(min=0)], 1)
            y = self.linear(x[:, :8])
            return self.drop(functional.relu(y)) + y.mean(1, keepdim=True)

    torch.manual_seed(0)
    module = Convolutional()
    module.norm.running_var.fill_(4 - module.norm.eps)
    sample = torch.randn(3, 2, 8, 8)
    path = exported(file, module.eval(), sample, decompose=decompose, batch=True)
    found = read(path)
    expected = read(module, input_shape=(1, 2, 8, 8))
    assert found.network == expected.network
    assert found.num_stored == expected.num_stored
    assert found.rounding == expected.rounding


def test_a_perceptron_of_pytorch(file: Path) -> None:
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(
        torch.nn.Linear(2, 3), torch.nn.ReLU(inplace=True), torch.nn.Linear(3, 1)
    )
    path = exported(file, module.eval(), torch.randn(1, 2), decompose=False, batch=False)
    assert load(path) == load(module)


@pytest.mark.slow
def test_a_module_in_training_mode(file: Path) -> None:
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)).train()
    path = exported(file, module, torch.randn(4, 2), decompose=False, batch=False)
    with pytest.raises(NetworkFileError, match=r"exported in training mode; export model\.eval"):
        load(path)


def test_numbers_of_the_program(file: Path) -> None:
    """A float of the program is the float64 that it is, or its shortest decimal."""
    scaled = node("mul.Tensor", "y", tensor("x"), {"as_float": 0.1})
    written(file, scaled)
    assert load(file).weight(1)[0, 0] == Fraction(0.1)
    found = read(file, rounding="attributes=decimal")
    assert found.network.weight(1)[0, 0] == Fraction(1, 10)
    assert found.rounding == "attributes: decimal"
    assert os.path.basename(file) == found.source
