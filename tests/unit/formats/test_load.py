"""Readers of network files: exact values, agreement with onnxruntime, one-line refusals.

The files that must be refused are listed in `BAD_FILES`; the tests of the command line use the same
list.
"""

from __future__ import annotations

import io
import json
import random
import struct
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from polyrelu.errors import NetworkFileError
from polyrelu.formats import load, read, save
from polyrelu.network import Network, from_arrays, to_document
from tests.generators.campaigns import examples, few_and_all
from tests.generators.damage import damaged
from tests.generators.onnx_files import constant, model, node, session_of, write
from tests.generators.strategies import exact_network, plain_stacks
from tests.oracles import plain

Array = NDArray[Any]


def _dyadic(random_: random.Random, *shape: int) -> Array:
    """Return multiples of 1/8 up to 2: float32 arithmetic on them is exact for small networks."""
    return np.array(
        [random_.randint(-16, 16) / 8 for _ in range(int(np.prod(shape)))], np.float32
    ).reshape(shape)


# --- Graphs that are read, compared with onnxruntime ----------------------------------------------

_R = random.Random(11)
_W = _dyadic(_R, 4, 3)
_B = _dyadic(_R, 4)
_V = _dyadic(_R, 2, 4)
_M = _dyadic(_R, 3)

Graph = tuple[list[Any], list[Any], Sequence[int | str]]

_GRAPHS: dict[str, Graph] = {
    "gemm": ([node("Gemm", "xwb", "y")], [constant("w", _W.T), constant("b", _B)], (1, 3)),
    "gemm transB": (
        [node("Gemm", "xwb", "y", transB=1)],
        [constant("w", _W), constant("b", _B)],
        (1, 3),
    ),
    "gemm without bias": ([node("Gemm", "xw", "y", transB=1)], [constant("w", _W)], (1, 3)),
    "gemm with an empty bias name": (
        [node("Gemm", ["x", "w", ""], "y", transB=1)],
        [constant("w", _W)],
        (1, 3),
    ),
    "gemm alpha and beta": (
        [node("Gemm", "xwb", "y", alpha=0.5, beta=-2.0)],
        [constant("w", _W.T), constant("b", _B)],
        (1, 3),
    ),
    "gemm alpha alone": ([node("Gemm", "xw", "y", alpha=-0.25)], [constant("w", _W.T)], (1, 3)),
    "gemm beta zero": (
        [node("Gemm", "xwb", "y", beta=0.0, transB=1)],
        [constant("w", _W), constant("b", _B)],
        (1, 3),
    ),
    "gemm scalar bias": (
        [node("Gemm", "xwb", "y", transB=1)],
        [constant("w", _W), constant("b", 0.5)],
        (1, 3),
    ),
    "gemm bias of length 1": (
        [node("Gemm", "xwb", "y", transB=1)],
        [constant("w", _W), constant("b", [0.5])],
        (1, 3),
    ),
    "gemm bias row": (
        [node("Gemm", "xwb", "y", transB=1)],
        [constant("w", _W), constant("b", _B[None])],
        (1, 3),
    ),
    "matmul add": (
        [node("MatMul", "xw", "u"), node("Add", "ub", "y")],
        [constant("w", _W.T), constant("b", _B)],
        (1, 3),
    ),
    "add with the constant first": (
        [node("MatMul", "xw", "u"), node("Add", "bu", "y")],
        [constant("w", _W.T), constant("b", _B)],
        (1, 3),
    ),
    "matmul of higher rank": ([node("MatMul", "xw", "y")], [constant("w", _W.T)], (1, 1, 3)),
    "matmul of a vector": ([node("MatMul", "xw", "y")], [constant("w", _W.T)], (3,)),
    "constant on the left of a vector": ([node("MatMul", "wx", "y")], [constant("w", _W)], (3,)),
    "constant on the left of a column": (
        [
            node("MatMul", "wx", "u"),
            node("Add", "ub", "h"),
            node("Relu", "h", "r"),
            node("MatMul", "vr", "y"),
        ],
        [constant("w", _W), constant("b", _B[:, None]), constant("v", _V)],
        (3, 1),
    ),
    "leading sub and div": (
        [node("Sub", "xm", "s"), node("Div", "sd", "t"), node("Gemm", "twb", "y", transB=1)],
        [constant("m", _M), constant("d", [0.5, -2, 4]), constant("w", _W), constant("b", _B)],
        (1, 3),
    ),
    "sub from a constant": (
        [node("Sub", "mx", "s"), node("Gemm", "sw", "y", transB=1)],
        [constant("m", _M), constant("w", _W)],
        (1, 3),
    ),
    "mul in either order": (
        [node("Mul", "xm", "s"), node("Mul", "ks", "t"), node("Add", "tm", "y")],
        [constant("m", _M), constant("k", -3)],
        (1, 3),
    ),
    "mul after gemm": (
        [
            node("Gemm", "xwb", "u", transB=1),
            node("Mul", "ub", "s"),
            node("Div", "sk", "t"),
            node("Sub", "bt", "y"),
        ],
        [constant("w", _W), constant("b", _B), constant("k", [[2]])],
        (1, 3),
    ),
    "flatten": (
        [node("Flatten", "x", "f"), node("Gemm", "fw", "y", transB=1)],
        [constant("w", _W)],
        (1, 3, 1, 1),
    ),
    "flatten, negative axis": (
        [node("Flatten", "x", "f", axis=-3), node("Gemm", "fw", "y", transB=1)],
        [constant("w", _W)],
        (1, 3, 1, 1),
    ),
    "flatten, axis 0": (
        [node("Flatten", "x", "f", axis=0), node("Gemm", "fw", "y", transB=1)],
        [constant("w", _W)],
        (1, 3),
    ),
    "reshape with 0 and -1": (
        [node("Reshape", "xs", "f"), node("Gemm", "fw", "y", transB=1)],
        [constant("s", [0, -1], np.int64), constant("w", _W)],
        (1, 1, 3),
    ),
    "reshape to a column and back": (
        [node("Reshape", "xs", "f"), node("MatMul", "wf", "u"), node("Reshape", "ut", "y")],
        [constant("s", [3, 1], np.int64), constant("w", _W), constant("t", [1, -1], np.int64)],
        (1, 3),
    ),
    "identity and dropout": (
        [
            node("Identity", "x", "i"),
            node("Dropout", "i", "d"),
            node("Gemm", "dw", "u", transB=1),
            node("Identity", "u", "y"),
        ],
        [constant("w", _W)],
        (1, 3),
    ),
    "dropout with a ratio and training mode off": (
        [node("Dropout", ["x", "q", "t"], "d"), node("Relu", "d", "y")],
        [constant("q", 0.5), constant("t", False, np.bool_)],
        (1, 3),
    ),
    "trailing relu": (
        [node("Gemm", "xwb", "h", transB=1), node("Relu", "h", "y")],
        [constant("w", _W), constant("b", _B)],
        (1, 3),
    ),
    "leading relu": (
        [node("Relu", "x", "r"), node("Gemm", "rw", "y", transB=1)],
        [constant("w", _W)],
        (1, 3),
    ),
    "relu twice": (
        [
            node("Gemm", "xw", "h", transB=1),
            node("Relu", "h", "r"),
            node("Relu", "r", "q"),
            node("Flatten", "q", "y"),
        ],
        [constant("w", _W)],
        (1, 3),
    ),
    "relu, scale, relu": (
        [
            node("Relu", "x", "r"),
            node("Mul", "rm", "s"),
            node("Relu", "s", "t"),
            node("Sub", "tm", "u"),
            node("Relu", "u", "y"),
        ],
        [constant("m", _M)],
        (1, 3),
    ),
    "two affine maps are merged": (
        [node("Gemm", "xwb", "h", transB=1), node("MatMul", "hv", "y")],
        [constant("w", _W), constant("b", _B), constant("v", _V.T)],
        (1, 3),
    ),
    "symbolic batch": (
        [
            node("Gemm", "xwb", "h", transB=1),
            node("Relu", "h", "r"),
            node("Gemm", "rv", "y", transB=1),
        ],
        [constant("w", _W), constant("b", _B), constant("v", _V)],
        ("batch", 3),
    ),
    "raw data and typed data": (
        [node("Gemm", "xwb", "y", transB=1)],
        [constant("w", _W), helper.make_tensor("b", TensorProto.FLOAT, [4], _B.tolist())],
        (1, 3),
    ),
    "constant nodes": (
        [
            node("Constant", (), "w", value=constant("w", _W)),
            node("Constant", (), "k", value_float=0.5),
            node("Constant", (), "b", value_floats=_B.tolist()),
            node("Gemm", "xwb", "h", transB=1),
            node("Mul", "hk", "y"),
        ],
        [],
        (1, 3),
    ),
}


@pytest.mark.parametrize("name", _GRAPHS)
def test_graphs_compute_what_onnxruntime_computes(name: str, tmp_path: Path) -> None:
    """Weights and inputs are multiples of 1/8, so float32 does not round and values are equal."""
    nodes, constants, shape = _GRAPHS[name]
    content = model(nodes, constants, shape)
    imported = read(write(tmp_path, "net.onnx", content))
    session = session_of(content)
    fixed = tuple(size if isinstance(size, int) else 1 for size in shape)
    random_ = random.Random(name)
    for _ in range(8):
        x = _dyadic(random_, *fixed)
        expected = session.run(None, {"x": x})[0].ravel()
        assert [
            float(v) for v in imported.network([float(v) for v in x.ravel()])
        ] == expected.tolist()
    assert imported.format.startswith("onnx, opset 13")
    assert imported.rounding == "none"  # no attribute here differs from its shortest decimal
    if name != "constant nodes":  # see test_float_attributes_are_float32
        assert imported.dtypes == (("float32",) if "dropout with" not in name else ())


def test_layers_as_they_are_read(tmp_path: Path) -> None:
    """Architectures, steps and notes of the graphs."""
    shapes = {name: read(write(tmp_path, "net.onnx", model(*_GRAPHS[name]))) for name in _GRAPHS}
    architectures = {name: str(imported.network.architecture) for name, imported in shapes.items()}
    assert architectures["trailing relu"] == "3-4 (trailing ReLU)"
    assert architectures["relu twice"] == "3-4 (trailing ReLU)"
    assert architectures["two affine maps are merged"] == "3-2"
    assert architectures["leading relu"] == "3-3-4"
    assert architectures["relu, scale, relu"] == "3-3-3-3 (trailing ReLU)"
    assert architectures["symbolic batch"] == "3-4-2"
    assert shapes["symbolic batch"].steps == ("Gemm [1, 4]", "Relu [1, 4]", "Gemm [1, 2]")
    assert any("merged" in note for note in shapes["relu twice"].notes)
    assert any("Dropout" in note for note in shapes["identity and dropout"].notes)
    assert architectures["flatten"] == "3-4"


def test_float_attributes_are_float32(tmp_path: Path) -> None:
    assert read(write(tmp_path, "net.onnx", model(*_GRAPHS["constant nodes"]))).dtypes == (
        "float32",
    )


def test_constant_nodes_after_their_use(tmp_path: Path) -> None:
    nodes, constants, shape = _GRAPHS["constant nodes"]
    late = [*nodes[3:], *nodes[:3]]
    ordered = load(write(tmp_path, "a.onnx", model(nodes, constants, shape)))
    assert load(write(tmp_path, "b.onnx", model(late, constants, shape))) == ordered


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("raw", [True, False])
def test_constants_of_every_float_type_are_exact(dtype: Any, raw: bool, tmp_path: Path) -> None:
    generator = np.random.default_rng(4)
    weight = (generator.normal(size=(3, 2)) * 10.0 ** generator.integers(-3, 3, (3, 2))).astype(
        dtype
    )
    limits: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    weight[0] = [limits.smallest_subnormal, limits.max]
    tensor = numpy_helper.from_array(weight, "w")
    if not raw:
        kind = helper.np_dtype_to_tensor_dtype(weight.dtype)
        tensor = helper.make_tensor(
            "w", kind, weight.shape, weight.ravel().astype(np.float64).tolist()
        )
        assert not tensor.HasField("raw_data")
    content = model([node("Gemm", "xw", "y", transB=1)], [tensor])
    imported = read(write(tmp_path, "net.onnx", content))
    assert list(imported.network.weight(1).entries()) == [
        Fraction(float(v)) for v in weight.ravel()
    ]
    assert imported.dtypes == (np.dtype(dtype).name,)


def test_float32_attributes_are_taken_as_they_are_stored(tmp_path: Path) -> None:
    content = model([node("Gemm", "xw", "y", alpha=0.1, transB=1)], [constant("w", [[1, 3]])])
    alpha = Fraction(float(np.float32(0.1)))
    assert load(write(tmp_path, "net.onnx", content)).weight(1).rows() == [(alpha, 3 * alpha)]


def test_initializers_that_are_listed_as_inputs_are_constants(tmp_path: Path) -> None:
    content = model(
        [node("Gemm", "xw", "y", transB=1)], [constant("w", [[1, 3]])], more_inputs=["w"]
    )
    assert str(load(write(tmp_path, "NET.ONNX", content)).architecture) == "2-1"


_UNIT = 2.0**-24


Pairs = list[tuple[Array, Array]]


def _random_perceptron(
    generator: np.random.Generator, widths: Sequence[int]
) -> tuple[bytes, Pairs]:
    """Return a model of Gaussian float32 weights, Gemm and MatMul-Add in turn, and its weights."""
    pairs = [
        (
            generator.normal(size=(m, n)).astype(np.float32),
            generator.normal(size=m).astype(np.float32),
        )
        for n, m in pairwise(widths)
    ]
    nodes: list[Any] = []
    constants: list[Any] = []
    current = "x"
    for i, (weight, bias) in enumerate(pairs):
        h = "y" if i == len(pairs) - 1 else f"h{i}"
        constants += [constant(f"w{i}", weight if i % 2 else weight.T), constant(f"b{i}", bias)]
        if i % 2:
            nodes.append(node("Gemm", [current, f"w{i}", f"b{i}"], h, transB=1))
        else:
            nodes += [
                node("MatMul", [current, f"w{i}"], f"u{i}"),
                node("Add", [f"b{i}", f"u{i}"], h),
            ]
        current = f"r{i}"
        if h != "y":
            nodes.append(node("Relu", [h], current))
    return model(nodes, constants, (1, widths[0])), pairs


@pytest.mark.parametrize(
    "widths", [(2, 3, 1), (4, 16, 16, 3), (10, 5, 7, 6, 2), (30, 40, 1)], ids=str
)
def test_random_networks_agree_with_onnxruntime_within_the_rounding_bound(
    widths: tuple[int, ...], tmp_path: Path
) -> None:
    """The differences are within the bound γ_k (|W||a| + |b|) of each layer, propagated by |W|.

    This standard bound holds for any order of summation.
    """
    generator = np.random.default_rng(list(widths))
    content, pairs = _random_perceptron(generator, widths)
    network, session = load(write(tmp_path, "net.onnx", content)), session_of(content)
    assert network.widths == widths
    for _ in range(6):
        x = generator.normal(size=(1, widths[0])).astype(np.float32)
        exact = network([float(v) for v in x[0]])
        size, error = np.abs(x[0].astype(np.float64)), np.zeros(widths[0])
        value = x[0].astype(np.float64)
        for weight, bias in pairs:
            absolute = np.abs(weight.astype(np.float64))
            terms = weight.shape[1] + 2
            gamma = terms * _UNIT / (1 - terms * _UNIT)
            error = absolute @ error + gamma * (absolute @ (size + error) + np.abs(bias))
            value = np.maximum(weight.astype(np.float64) @ value + bias, 0)
            size = np.abs(value)
        found = session.run(None, {"x": x})[0][0]
        for got, wanted, bound in zip(found, exact, error, strict=True):
            assert abs(Fraction(float(got)) - wanted) <= Fraction(1.001 * float(bound))
            assert bound < 1e-2 * (1 + abs(wanted))


# --- The other formats ----------------------------------------------------------------------------


@given(plain_stacks(), st.sampled_from(["affine", "relu"]))
@examples(40)
def test_native_files_round_trip(
    tmp_path_factory: pytest.TempPathFactory, layers: plain.Network, last: Any
) -> None:
    path = tmp_path_factory.mktemp("native") / "net.json"
    network = exact_network(layers, last)
    save(network, path)
    imported = read(path)
    assert imported.network == network
    assert path.read_bytes().isascii()
    assert imported.source == "net.json"
    save(imported.network, path)
    assert load(str(path)).sha256 == network.sha256


def test_native_files_hold_numbers_that_are_huge(tmp_path: Path) -> None:
    network = from_arrays([([[10**4000, Fraction(1, 3**300)]], [-(10**1000)])])
    save(network, tmp_path / "net.json")
    assert load(tmp_path / "net.json") == network


def _layers(generator: np.random.Generator, *widths: int) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    for i, (n, m) in enumerate(pairwise(widths), 1):
        arrays |= {f"W{i}": generator.normal(size=(m, n)), f"b{i}": generator.normal(size=m)}
    return arrays


def test_npz_files(tmp_path: Path) -> None:
    arrays = _layers(np.random.default_rng(0), 2, 3, *[2] * 10)
    arrays["W1"] = arrays["W1"].astype(np.float16)
    arrays["b1"] = np.array([1, 2, 3], dtype=np.int32)
    writers: list[Any] = [np.savez, np.savez_compressed]
    for writer in writers:
        writer(tmp_path / "net.npz", **arrays)
        imported = read(tmp_path / "net.npz")
        assert imported.network == from_arrays(
            [(arrays[f"W{i}"], arrays[f"b{i}"]) for i in range(1, 12)]
        )
        assert imported.dtypes == ("float16", "float64", "int32")
    assert load([(arrays["W1"], arrays["b1"])]).widths == (2, 3)
    assert load("example:digits").widths == (64, 32, 16, 10)


# --- Files that must be refused -------------------------------------------------------------------


@dataclass(frozen=True)
class Bad:
    """A file to refuse: its content (None: see `make`), and a part of the message."""

    name: str
    content: Callable[[], bytes | str] | None
    says: str
    make: Callable[[Path], None] | None = None

    def write(self, folder: Path) -> Path:
        """Write the file to the folder."""
        path = folder / self.name
        if self.make is not None:
            self.make(path)
        elif self.content is not None:
            write(folder, self.name, self.content())
        return path


def _onnx(says: str, nodes: Sequence[Any], constants: Sequence[Any] = (), **options: Any) -> Bad:
    return Bad("bad.onnx", lambda: model(nodes, constants, **options), says)


_EYE = constant("w", np.eye(2))
_GOOD_GEMM = node("Gemm", "xw", "h", transB=1)


def _external() -> Any:
    tensor = TensorProto(
        name="w", data_type=TensorProto.FLOAT, dims=[2, 2], data_location=TensorProto.EXTERNAL
    )
    tensor.external_data.add(key="location", value="weights.bin")
    return tensor


def _without_graph() -> bytes:
    made = onnx.load_model_from_string(model([_GOOD_GEMM], [_EYE]))
    made.ClearField("graph")
    return bytes(made.SerializeToString())


_BAD_ONNX: dict[str, Bad] = {
    "onnx: empty file": Bad("bad.onnx", lambda: b"", "not a readable ONNX file"),
    "onnx: text": Bad("bad.onnx", lambda: "hello world\n" * 20, "not a readable ONNX file"),
    "onnx: random bytes": Bad(
        "bad.onnx", lambda: random.Random(0).randbytes(500), "not a readable ONNX file"
    ),
    "onnx: no graph": Bad(
        "bad.onnx", _without_graph, "not a readable ONNX file, or one without any node"
    ),
    "onnx: sigmoid": _onnx(
        r"node 'n_y' \(Sigmoid\): .*not supported", [_GOOD_GEMM, node("Sigmoid", "h", "y")], [_EYE]
    ),
    "onnx: elu": _onnx(r"node 'n_y' \(Elu\)", [_GOOD_GEMM, node("Elu", "h", "y")], [_EYE]),
    "onnx: conv": _onnx(r"node 'n_y' \(Conv\)", [node("Conv", "xw", "y")], [_EYE]),
    "onnx: another domain": _onnx(
        r"node 'n_y' \(Relu\)", [helper.make_node("Relu", ["x"], ["y"], "n_y", domain="my")]
    ),
    "onnx: nan weight": _onnx(
        r"node 'n_y' \(Gemm\): .*nan", [node("Gemm", "xw", "y")], [constant("w", [[1], [np.nan]])]
    ),
    "onnx: inf weight": _onnx(
        r"node 'n_y' \(Add\): .*inf", [node("Add", "xw", "y")], [constant("w", [1, -np.inf])]
    ),
    "onnx: nan alpha": _onnx(
        r"node 'n_y' \(Gemm\): .*nan", [node("Gemm", "xw", "y", alpha=float("nan"))], [_EYE]
    ),
    "onnx: gemm shapes": _onnx(
        r"\(Gemm\): cannot multiply shapes \[1, 2\] and \[3, 3\]",
        [node("Gemm", "xw", "y")],
        [constant("w", np.eye(3))],
    ),
    "onnx: matmul shapes": _onnx(
        r"\(MatMul\): cannot multiply shapes \[1, 2\] and \[3, 3\]",
        [node("MatMul", "xw", "y")],
        [constant("w", np.eye(3))],
    ),
    "onnx: matmul from the left of a row": _onnx(
        r"\(MatMul\): cannot multiply shapes", [node("MatMul", "wx", "y")], [_EYE]
    ),
    "onnx: bias shape": _onnx(
        r"\(Gemm\): a constant of shape \[3\]",
        [node("Gemm", "xwb", "y")],
        [_EYE, constant("b", [1, 2, 3])],
    ),
    "onnx: gemm vector weights": _onnx(
        r"\(Gemm\): the weights have shape \[2\]",
        [node("Gemm", "xw", "y")],
        [constant("w", [1, 2])],
    ),
    "onnx: unknown attribute": _onnx(
        r"attribute 'gamma' is not supported", [node("Gemm", "xw", "y", gamma=1.0)], [_EYE]
    ),
    "onnx: unknown output": _onnx("output 'q'", [node("Relu", "x", "h")], output="q"),
    "onnx: undefined value": _onnx(
        r"\(Relu\): its input 'q' does not come", [node("Relu", "q", "y")]
    ),
    "onnx: division by zero": _onnx(
        r"\(Div\): division by a constant that is 0",
        [node("Div", "xb", "y")],
        [constant("b", [1, 0])],
    ),
    "onnx: division of a constant": _onnx(
        r"\(Div\): division by a value", [node("Div", "bx", "y")], [constant("b", 1)]
    ),
    "onnx: external data": Bad(
        "bad.onnx",
        lambda: model([node("Gemm", "xw", "y")], [_external()]),
        "tensor 'w': its external data 'weights.bin' cannot be read",
    ),
    "onnx: text constant": Bad(
        "bad.onnx",
        lambda: model(
            [node("Add", "xw", "y")], [helper.make_tensor("w", TensorProto.STRING, [1], [b"a"])]
        ),
        r"\(Add\): a constant has type str",
    ),
    "onnx: bool constant": _onnx(
        r"\(Add\): a constant has type bool",
        [node("Add", "xw", "y")],
        [constant("w", [True], np.bool_)],
    ),
    "onnx: complex constant": _onnx(
        r"\(Add\): a constant has type complex",
        [node("Add", "xw", "y")],
        [constant("w", [1j], np.complex64)],
    ),
    "onnx: too little data": Bad(
        "bad.onnx",
        lambda: model(
            [node("Add", "xw", "y")],
            [TensorProto(name="w", data_type=1, dims=[2], raw_data=b"1234")],
        ),
        "tensor 'w': cannot be read",
    ),
    "onnx: unknown size": _onnx(
        r"input 'x': shape \[1, 0\]", [node("Relu", "x", "y")], shape=("batch", "size")
    ),
    "onnx: no shape": _onnx("input 'x'", [node("Relu", "x", "y")], shape=()),
    "onnx: reshape to another size": _onnx(
        r"\(Reshape\): cannot reshape",
        [node("Reshape", "xs", "y")],
        [constant("s", [1, 3], np.int64)],
    ),
    "onnx: reshape with two -1": _onnx(
        r"\(Reshape\): cannot reshape",
        [node("Reshape", "xs", "y")],
        [constant("s", [-1, -1], np.int64)],
    ),
    "onnx: reshape by the input": _onnx(r"\(Reshape\)", [node("Reshape", "xx", "y")]),
    "onnx: training dropout": _onnx(
        r"\(Dropout\): training mode",
        [node("Dropout", ["x", "", "t"], "y")],
        [constant("t", True, np.bool_)],
    ),
    "onnx: text constant node": _onnx(
        r"\(Constant\): a constant without", [node("Constant", (), "y", value_string="a")]
    ),
    "onnx: gemm without weights": _onnx(r"\(Gemm\)", [node("Gemm", "x", "y")]),
    "onnx: relu without input": _onnx(r"\(Relu\)", [node("Relu", (), "y")]),
    "onnx: node without outputs": _onnx("output 'y'", [helper.make_node("Relu", ["x"], [])]),
    "onnx: constant without outputs": _onnx(
        r"\(Constant\)", [helper.make_node("Constant", [], [], value_float=1.0)]
    ),
    "onnx: reshape to nan": _onnx(
        r"\(Reshape\)", [node("Reshape", "xs", "y")], [constant("s", [np.nan])]
    ),
    "onnx: reshape to text": Bad(
        "bad.onnx",
        lambda: model(
            [node("Reshape", "xs", "y")], [helper.make_tensor("s", TensorProto.STRING, [1], [b"a"])]
        ),
        r"\(Reshape\)",
    ),
    "onnx: axis is text": _onnx(r"\(Flatten\)", [node("Flatten", "x", "y", axis="one")]),
    "onnx: integer division": _onnx(
        "int64", [node("Div", "xw", "y")], [constant("w", [2], np.int64)], element=TensorProto.INT64
    ),
}


def _archive(**arrays: Any) -> Callable[[], bytes]:
    def content() -> bytes:
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        return buffer.getvalue()

    return content


def _members(members: dict[str, bytes], flag: int = 0, method: int = 0) -> bytes:
    """Return a zip file; flag and method, if not 0, are patched into the headers of its members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    patched = bytearray(buffer.getvalue())
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        start = patched.find(signature)
        while start >= 0:
            if flag or method:
                patched[start + offset : start + offset + 4] = struct.pack("<HH", flag, method)
            start = patched.find(signature, start + 4)
    return bytes(patched)


def _npy(header: str, data: bytes = b"") -> bytes:
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode("latin1") + data


def _plain_npy(values: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(values), allow_pickle=True)
    return buffer.getvalue()


_GOOD_MEMBERS = {"W1.npy": _plain_npy([[1.0]]), "b1.npy": _plain_npy([0.0])}


def _npz(says: str, **arrays: Any) -> Bad:
    return Bad("bad.npz", _archive(**arrays), says)


def _zip(says: str, members: dict[str, bytes], flag: int = 0, method: int = 0) -> Bad:
    return Bad("bad.npz", lambda: _members(members, flag, method), says)


_HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }\n"

_BAD_NPZ: dict[str, Bad] = {
    "npz: empty file": Bad("bad.npz", lambda: b"", "not a readable .npz"),
    "npz: random bytes": Bad(
        "bad.npz", lambda: random.Random(1).randbytes(300), "not a readable .npz"
    ),
    "npz: half a file": Bad(
        "bad.npz", lambda: _archive(W1=np.eye(2), b1=np.zeros(2))()[:200], "not a readable .npz"
    ),
    "npz: wrong names": _npz(
        "expected the arrays W1, b1.* holds bias, weight", weight=np.eye(2), bias=np.zeros(2)
    ),
    "npz: no arrays": _npz("expected the arrays W1, b1.* holds nothing"),
    "npz: a gap in the numbers": _npz(
        "expected the arrays", W1=np.eye(1), b1=[0.0], W3=np.eye(1), b3=[0.0]
    ),
    "npz: no bias": _npz("expected the arrays", W1=np.eye(1), b1=[0.0], W2=np.eye(1)),
    "npz: another array": _npz("expected the arrays", W1=np.eye(1), b1=[0.0], extra=[0.0]),
    "npz: a pickled object": Bad(
        "bad.npz", _archive(W1=np.array([[None]]), b1=[0.0]), "not a readable .npz"
    ),
    "npz: a pickle": Bad("bad.npz", lambda: b"\x80\x04K\x01.", "not a readable .npz"),
    "npz: nan": _npz(r"layer 1, W: entry \[0, 1\] is nan", W1=[[1.0, np.nan]], b1=[0.0]),
    "npz: inf": _npz(
        r"layer 2, [Wb]: entry .* is -?inf", W1=[[1.0]], b1=[0.0], W2=[[1.0]], b2=[-np.inf]
    ),
    "npz: bias is a matrix": _npz(
        r"W1, b1: expected \(out, in\), \(out,\)", W1=[[1.0]], b1=[[0.0]]
    ),
    "npz: weight is a vector": _npz("W1, b1: expected", W1=[1.0], b1=[0.0]),
    "npz: widths": _npz(
        "layer 2: .*weights on layer 1 have shape", W1=[[1.0]], b1=[0.0], W2=[[1.0, 2.0]], b2=[0.0]
    ),
    "npz: bias length": _npz("layer 1: .*shape", W1=[[1.0]], b1=[0.0, 1.0]),
    "npz: no neurons": _npz("layer 1: the bias must be", W1=np.zeros((0, 2)), b1=np.zeros(0)),
    "npz: no inputs": _npz("at least one input", W1=np.zeros((2, 0)), b1=np.zeros(2)),
    "npz: text": _npz("not supported", W1=[["a"]], b1=[0.0]),
    "npz: truth values": _npz("not supported", W1=[[True]], b1=[0.0]),
    "npz: complex": _npz("not supported", W1=[[1j]], b1=[0.0]),
    "npz: long double": _npz("not supported", W1=np.array([[1]], dtype=np.longdouble), b1=[0.0]),
    "npz: a bad number": _zip(
        "expected the arrays", {**_GOOD_MEMBERS, "W²": b"", "a": _plain_npy([1.0])}
    ),
    "npz: shape is an expression": _zip(
        "not a readable .npz", {**_GOOD_MEMBERS, "W1.npy": _npy(_HEADER % "(10**0,)")}
    ),
    "npz: far too large": _zip(
        "more than 30000000", {**_GOOD_MEMBERS, "W1.npy": _npy(_HEADER % f"({10**18}, 1)")}
    ),
    "npz: checksum": Bad(
        "bad.npz",
        lambda: _archive(W1=[[1.5]], b1=[0.0])().replace(
            struct.pack("<d", 1.5), struct.pack("<d", 2.5)
        ),
        "not a readable .npz",
    ),
    "npz: one array": Bad("bad.npz", lambda: _plain_npy(np.eye(2)), "single .npy array"),
    "npz: members without the .npy format": _zip("not", {"W1": b"abc", "b1": b"abc"}),
    "npz: encrypted": _zip("not a readable .npz", _GOOD_MEMBERS, flag=1),
    "npz: unknown compression": _zip("not a readable .npz", _GOOD_MEMBERS, method=99),
    "npz: shape beyond 64 bits": _zip(
        "more than 30000000", {**_GOOD_MEMBERS, "W1.npy": _npy(_HEADER % f"({10**25}, 1)")}
    ),
    "npz: shape of truth values": _zip(
        "not a readable .npz", {**_GOOD_MEMBERS, "W1.npy": _npy(_HEADER % "(True, 1)", b"\0" * 8)}
    ),
    "npz: unfinished header": _zip(
        "not a readable .npz", {**_GOOD_MEMBERS, "W1.npy": _npy("{'descr': (")}
    ),
}

_DOCUMENT: dict[str, Any] = to_document(
    from_arrays([([[1, 2], [3, 4]], [5, 6]), ([["1/2", 1]], [0])])
)


def _edited(edit: Callable[[dict[str, Any]], object]) -> Callable[[], str]:
    def content() -> str:
        document = json.loads(json.dumps(_DOCUMENT))
        edit(document)
        return json.dumps(document)

    return content


def _json(says: str, edit: Callable[[dict[str, Any]], object]) -> Bad:
    return Bad("bad.json", _edited(edit), says)


def _text(says: str, old: str, new: str) -> Bad:
    return Bad("bad.json", lambda: json.dumps(_DOCUMENT).replace(old, new, 1), says)


_BAD_JSON: dict[str, Bad] = {
    "json: empty file": Bad("bad.json", lambda: "", "line 1, column 1"),
    "json: not json": Bad("bad.json", lambda: "{]", "line 1, column 2"),
    "json: half a file": Bad("bad.json", lambda: json.dumps(_DOCUMENT)[:150], "line 1"),
    "json: two documents": Bad("bad.json", lambda: json.dumps(_DOCUMENT) * 2, "Extra data"),
    "json: a list": Bad("bad.json", lambda: "[]", "the document: expected an object"),
    "json: null": Bad("bad.json", lambda: "null", "the document: expected an object"),
    "json: a certificate": Bad(
        "bad.json",
        lambda: '{"format": "polyrelu-certificate"}',
        "this is a certificate, not a network",
    ),
    "json: another format": _json("expected format", lambda d: d.update(format="other")),
    "json: another version": _json("version 1", lambda d: d.update(version=2)),
    "json: version true": _json("version 1", lambda d: d.update(version=True)),
    "json: version text": _json("version 1", lambda d: d.update(version="1")),
    "json: missing key": _json(
        "the document: expected an object with the keys", lambda d: d.pop("last")
    ),
    "json: extra key": _json(
        "the document: expected an object with the keys", lambda d: d.update(extra=1)
    ),
    "json: inputs text": _json("'inputs' a count", lambda d: d.update(inputs="2")),
    "json: inputs zero": _json("at least one input", lambda d: d.update(inputs=0)),
    "json: inputs wrong": _json("row 0: expected 3 numbers, got 2", lambda d: d.update(inputs=3)),
    "json: inputs huge": _json("not allowed", lambda d: d.update(inputs=10**9)),
    "json: layers an object": _json("'layers' a list", lambda d: d.update(layers={})),
    "json: no layers": _json("at least one input and one layer", lambda d: d.update(layers=[])),
    "json: last": _json("'last' either", lambda d: d.update(last="softmax")),
    "json: layer null": _json(
        "layer 2: expected an object", lambda d: d["layers"].__setitem__(1, None)
    ),
    "json: layer key": _json("layer 1: expected an object", lambda d: d["layers"][0].pop("bias")),
    "json: bias list": _json(
        "layer 1, bias: expected a row", lambda d: d["layers"][0].update(bias=[5, 6])
    ),
    "json: bias empty": _json("layer 1, bias: ''", lambda d: d["layers"][0].update(bias="")),
    "json: bias length": _json(
        "expected 3 rows, as", lambda d: d["layers"][0].update(bias="5 6 7")
    ),
    "json: two blanks": _json("layer 1, bias: ''", lambda d: d["layers"][0].update(bias="5  6")),
    "json: trailing blank": _json(
        "layer 1, bias: ''", lambda d: d["layers"][0].update(bias="5 6 ")
    ),
    "json: a tab": _json("backslashes", lambda d: d["layers"][0].update(bias="5\t6")),
    "json: rational entry": _json(
        "layer 1, bias: '1/2'", lambda d: d["layers"][0].update(bias="1/2 6")
    ),
    "json: denominator number": _json(
        "layer 1, denominator", lambda d: d["layers"][0].update(denominator=1)
    ),
    "json: denominator zero": _json(
        "layer 1: expected a positive", lambda d: d["layers"][0].update(denominator="0")
    ),
    "json: denominator negative": _json(
        "layer 2: expected a positive", lambda d: d["layers"][1].update(denominator="-2")
    ),
    "json: not lowest terms": _json(
        "layer 1: .*common factor 2",
        lambda d: d["layers"][0].update(
            denominator="2", bias="10 12", weights=[{"from": 0, "rows": ["2 4", "6 8"]}]
        ),
    ),
    "json: row too short": _json(
        "layer 1, weights from 0, row 1: expected 2 numbers, got 1",
        lambda d: d["layers"][0]["weights"][0].update(rows=["1 2", "3"]),
    ),
    "json: too few rows": _json(
        "expected 2 rows, as", lambda d: d["layers"][0]["weights"][0].update(rows=["1 2"])
    ),
    "json: no rows": _json(
        "'rows' a nonempty list", lambda d: d["layers"][0]["weights"][0].update(rows=[])
    ),
    "json: rows text": _json(
        "'rows' a nonempty list", lambda d: d["layers"][0]["weights"][0].update(rows="1 2")
    ),
    "json: row a list": _json(
        "weights from 0, row 1: expected",
        lambda d: d["layers"][0]["weights"][0].update(rows=["1 2", [3, 4]]),
    ),
    "json: no weights": _json("layer 1: its blocks", lambda d: d["layers"][0].update(weights=[])),
    "json: from text": _json(
        "'from' a count", lambda d: d["layers"][0]["weights"][0].update({"from": "0"})
    ),
    "json: from itself": _json(
        "an earlier layer, 0 to 0", lambda d: d["layers"][0]["weights"][0].update({"from": 1})
    ),
    "json: from true": _json(
        "'from' a count", lambda d: d["layers"][1]["weights"][0].update({"from": True})
    ),
    "json: zero skip": _json(
        "layer 2: a block of skipping weights is zero",
        lambda d: d["layers"][1]["weights"].insert(0, {"from": 0, "rows": ["0 0"]}),
    ),
    "json: plus sign": _json(r"layer 1, bias: '\+5'", lambda d: d["layers"][0].update(bias="+5 6")),
    "json: leading zero": _json(
        "layer 1, bias: '05'", lambda d: d["layers"][0].update(bias="05 6")
    ),
    "json: short hexadecimal": _json(
        "layer 1, bias: .*decimal", lambda d: d["layers"][0].update(bias="0x5 6")
    ),
    "json: long decimal": _json(
        "layer 1, bias: '111", lambda d: d["layers"][0].update(bias="1" * 6000 + " 6")
    ),
    "json: float": _text("'2.0' is not allowed", '"inputs": 2', '"inputs": 2.0'),
    "json: exponent": _text("'2e0' is not allowed", '"inputs": 2', '"inputs": 2e0'),
    "json: nan": _text("'NaN' is not allowed", '"inputs": 2', '"inputs": NaN'),
    "json: infinity": _text("'-Infinity' is not allowed", '"inputs": 2', '"inputs": -Infinity'),
    "json: long integer": _text("not allowed", '"inputs": 2', '"inputs": ' + "2" * 5000),
    "json: duplicate key": _text(
        "duplicate key 'inputs'", '"inputs": 2', '"inputs": 2, "inputs": 2'
    ),
    "json: non-ASCII": _text("only ASCII", '"polyrelu-network"', '"pölyrelu-network"'),
    "json: byte order mark": Bad(
        "bad.json", lambda: b"\xef\xbb\xbf" + json.dumps(_DOCUMENT).encode(), "only ASCII"
    ),
    "json: utf-16": Bad("bad.json", lambda: json.dumps(_DOCUMENT).encode("utf-16"), "only ASCII"),
    "json: full-width digit": _json("backslashes", lambda d: d["layers"][0].update(bias="１ 6")),
    "json: deep nesting": Bad(
        "bad.json", lambda: "[" * 100_000 + "]" * 100_000, "nested too deeply"
    ),
    "json: deep objects": Bad(
        "bad.json", lambda: '{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"
    ),
    "json: some nesting": Bad(
        "bad.json", lambda: "[" * 50 + "]" * 50, "the document: expected an object|nested"
    ),
    "json: too many bits": _json(
        "layer 1, bias", lambda d: d["layers"][0].update(bias="0x1" + "0" * 4096 + " 6")
    ),
    "json: escapes": _text("backslash", "polyrelu-network", r"polyrelu-\u006eetwork"),
    "json: minus zero": _text("not allowed|count", '"from": 0', '"from": -0'),
    "json: long format name": _json(
        "expected format.{,500}$", lambda d: d.update(format="x" * 10_000)
    ),
}

_BAD_NAMES: dict[str, Bad] = {
    "file: missing .onnx": Bad("missing.onnx", None, "cannot read: No such file"),
    "file: missing .npz": Bad("missing.npz", None, "cannot read: No such file"),
    "file: missing .json": Bad("missing.json", None, "cannot read: No such file"),
    "file: directory .onnx": Bad(
        "folder.onnx", None, "cannot read: Is a directory", make=Path.mkdir
    ),
    "file: directory .npz": Bad("folder.npz", None, "cannot read: Is a directory", make=Path.mkdir),
    "file: directory .json": Bad(
        "folder.json", None, "cannot read: Is a directory", make=Path.mkdir
    ),
    "file: unknown ending": Bad(
        "net.pkl", lambda: b"1", "unknown ending '.pkl'; known are .onnx, .*never opened"
    ),
    "file: no ending": Bad("net", lambda: b"1", "unknown ending ''"),
    "file: a line break in its name": Bad(
        "net\nwork.npz", lambda: b"1", "net work.npz: not a readable .npz"
    ),
}

#: Everything that must be refused, by a readable name.
BAD_FILES: dict[str, Bad] = {**_BAD_ONNX, **_BAD_NPZ, **_BAD_JSON, **_BAD_NAMES}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    bad = BAD_FILES[name]
    path = bad.write(tmp_path)
    with pytest.raises(NetworkFileError, match=bad.says) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(" ".join(str(path).split()))
    assert message.isprintable(), message
    assert len(message) < 600 + len(str(path))
    assert caught.value.path == path


def test_broadcasting_before_opset_7_starts_at_the_axis(tmp_path: Path) -> None:
    """Add-6: with axis = 1 a constant of length 3 runs along the second dimension of [1, 3, 3]."""
    nodes = [node("Add", "xw", "y", axis=1, broadcast=1)]
    content = model(nodes, [constant("w", [1, 2, 3])], shape=(1, 3, 3), opset=6)
    network = load(write(tmp_path, "old.onnx", content))
    assert list(network([0] * 9)) == [Fraction(k) for k in (1, 1, 1, 2, 2, 2, 3, 3, 3)]


def test_unknown_examples_name_the_known_ones() -> None:
    with pytest.raises(NetworkFileError, match="no such example; there are: example:digits"):
        load("example:nothing")
    with pytest.raises(NetworkFileError, match="no such example"):
        load("example:../examples/digits")


def test_names_with_a_null_byte() -> None:
    with pytest.raises(NetworkFileError):
        load("net\0.npz")


# --- Damaged files --------------------------------------------------------------------------------


def _good_files() -> dict[str, bytes]:
    """Return one good file of each format."""
    content, pairs = _random_perceptron(np.random.default_rng(9), (2, 3, 1))
    network = from_arrays(pairs)
    document = json.dumps(to_document(network)).encode()
    return {
        "onnx": content,
        "npz": _archive(W1=pairs[0][0], b1=pairs[0][1], W2=pairs[1][0], b2=pairs[1][1])(),
        "json": document,
    }


@pytest.mark.parametrize("ending", ["onnx", "npz", "json"])
def test_truncated_files_are_refused_at_every_length(ending: str, tmp_path: Path) -> None:
    content = _good_files()[ending]
    whole = load(write(tmp_path, f"whole.{ending}", content))
    survived = []
    for length in range(len(content)):
        path = write(tmp_path, f"cut.{ending}", content[:length])
        try:
            network = load(path)
        except NetworkFileError as error:
            assert str(error).isprintable()  # noqa: PT017
            continue
        assert network == whole
        survived.append(length)
    # Protobuf does not record its length: without the last field, the opset, the graph is complete.
    assert (
        not survived if ending != "onnx" else all(length > len(content) - 8 for length in survived)
    )


@pytest.mark.parametrize("ending", ["onnx", "npz", "json"])
@pytest.mark.parametrize("count", few_and_all(200, 800))
def test_damaged_files_give_a_network_or_one_line(ending: str, count: int, tmp_path: Path) -> None:
    """No damage raises anything but `NetworkFileError`."""
    content, random_ = _good_files()[ending], random.Random(5)
    read_anyway = 0
    for _ in range(count):
        path = write(tmp_path, f"damaged.{ending}", damaged(random_, content))
        try:
            network = load(path)
        except NetworkFileError as error:
            assert "\n" not in str(error)  # noqa: PT017
        else:
            read_anyway += 1
            assert isinstance(network, Network)
    assert read_anyway < count


def test_dead_nodes_are_left_out(tmp_path: Path) -> None:
    """A node on which no output depends changes nothing, not even if it is not supported."""
    nodes = [node("Sigmoid", "x", "dead"), node("Gemm", "xw", "y")]
    network = load(write(tmp_path, "dead.onnx", model(nodes, [constant("w", np.eye(2))])))
    assert list(network([3, 4])) == [Fraction(3), Fraction(4)]


def test_a_sole_symbolic_dimension_is_refused(tmp_path: Path) -> None:
    content = model([node("MatMul", "wx", "y")], [constant("w", np.eye(2))], shape=("N",))
    with pytest.raises(NetworkFileError, match="is not fixed after the batch dimension"):
        load(write(tmp_path, "symbolic.onnx", content))
