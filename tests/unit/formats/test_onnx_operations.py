"""Every operation of ONNX that is read, against onnxruntime, and known traps for readers of ONNX.

Weights and inputs are multiples of 1/8 and small, so that float32 does not round and equality is
exact.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from polyrelu.errors import NetworkFileError
from polyrelu.formats import load, read
from polyrelu.formats.onnx import operations
from polyrelu.network import from_arrays
from tests.generators.onnx_files import constant, model, node, session_of, write

Array = NDArray[Any]
Graph = tuple[list[Any], list[Any], Sequence[int | str]]

_R = random.Random(5)


def _eighths(*shape: int) -> Array:
    return np.array(
        [_R.randint(-16, 16) / 8 for _ in range(int(np.prod(shape)))], np.float32
    ).reshape(shape)


def _ints(name: str, *values: int) -> Any:
    return constant(name, list(values), np.int64)


_K = constant("k", _eighths(4, 2, 3, 3))
_B = constant("b", _eighths(4))
_IMAGE = (1, 2, 5, 6)

_CONV: dict[str, Graph] = {
    "conv": ([node("Conv", "xkb", "y")], [_K, _B], _IMAGE),
    "conv without bias": ([node("Conv", "xk", "y")], [_K], _IMAGE),
    "conv strides": ([node("Conv", "xkb", "y", strides=[2, 3])], [_K, _B], _IMAGE),
    "conv pads, different on each side": (
        [node("Conv", "xkb", "y", pads=[1, 0, 2, 3])],
        [_K, _B],
        _IMAGE,
    ),
    "conv dilations": (
        [node("Conv", "xkb", "y", dilations=[2, 1], pads=[1, 1, 1, 1])],
        [_K, _B],
        _IMAGE,
    ),
    "conv same upper": (
        [node("Conv", "xkb", "y", auto_pad="SAME_UPPER", strides=[2, 2])],
        [_K, _B],
        _IMAGE,
    ),
    "conv same lower": (
        [node("Conv", "xkb", "y", auto_pad="SAME_LOWER", strides=[2, 2])],
        [_K, _B],
        _IMAGE,
    ),
    "conv valid": (
        [node("Conv", "xkb", "y", auto_pad="VALID", kernel_shape=[3, 3])],
        [_K, _B],
        _IMAGE,
    ),
    "conv groups": (
        [node("Conv", "xk", "y", group=2)],
        [constant("k", _eighths(4, 1, 2, 2))],
        _IMAGE,
    ),
    "conv depthwise": (
        [node("Conv", "xk", "y", group=2)],
        [constant("k", _eighths(2, 1, 3, 2))],
        _IMAGE,
    ),
    "conv of one dimension": (
        [node("Conv", "xk", "y", strides=[2])],
        [constant("k", _eighths(3, 2, 3))],
        (1, 2, 7),
    ),
    "conv of three dimensions": (
        [node("Conv", "xk", "y")],
        [constant("k", _eighths(2, 1, 2, 2, 2))],
        (1, 1, 3, 4, 3),
    ),
    "conv of a batch of two": ([node("Conv", "xkb", "y")], [_K, _B], (2, 2, 4, 4)),
    "conv, conv": (
        [node("Conv", "xkb", "h", pads=[1, 1, 1, 1]), node("Conv", "hl", "y", pads=[1, 1, 1, 1])],
        [_K, _B, constant("l", _eighths(2, 4, 2, 2))],
        _IMAGE,
    ),
    "conv transpose": (
        [node("ConvTranspose", "xk", "y")],
        [constant("k", _eighths(2, 3, 3, 2))],
        (1, 2, 3, 3),
    ),
    "conv transpose, all attributes": (
        [
            node(
                "ConvTranspose",
                "xkb",
                "y",
                strides=[2, 3],
                pads=[1, 0, 0, 1],
                output_padding=[1, 2],
                dilations=[1, 2],
                group=2,
            )
        ],
        [constant("k", _eighths(4, 2, 3, 2)), constant("b", _eighths(4))],
        (1, 4, 3, 3),
    ),
}

_POOLS: dict[str, Graph] = {
    "max pool": ([node("MaxPool", "x", "y", kernel_shape=[2, 2], strides=[2, 2])], [], _IMAGE),
    "max pool that overlaps": ([node("MaxPool", "x", "y", kernel_shape=[3, 2])], [], _IMAGE),
    "max pool with padding": (
        [node("MaxPool", "x", "y", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])],
        [],
        _IMAGE,
    ),
    "max pool ceil": (
        [node("MaxPool", "x", "y", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)],
        [],
        (1, 1, 4, 6),
    ),
    "max pool ceil with padding": (
        [
            node(
                "MaxPool",
                "x",
                "y",
                kernel_shape=[2, 2],
                strides=[3, 3],
                pads=[1, 1, 1, 1],
                ceil_mode=1,
            )
        ],
        [],
        _IMAGE,
    ),
    "max pool dilations": (
        [node("MaxPool", "x", "y", kernel_shape=[2, 2], dilations=[2, 3])],
        [],
        _IMAGE,
    ),
    "max pool of single entries": (
        [node("MaxPool", "x", "y", kernel_shape=[2, 2], pads=[1, 1, 1, 1], strides=[3, 3])],
        [],
        (1, 2, 1, 1),
    ),
    "max pool same": (
        [node("MaxPool", "x", "y", kernel_shape=[2, 2], auto_pad="SAME_UPPER")],
        [],
        _IMAGE,
    ),
    "max pool of one dimension": ([node("MaxPool", "x", "y", kernel_shape=[5])], [], (1, 2, 7)),
    "average pool": ([node("AveragePool", "x", "y", kernel_shape=[2, 2])], [], _IMAGE),
    "average pool, padding counted": (
        [
            node(
                "AveragePool", "x", "y", kernel_shape=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1
            )
        ],
        [],
        _IMAGE,
    ),
    "average pool, padding not counted": (
        [node("AveragePool", "x", "y", kernel_shape=[2, 2], pads=[1, 1, 1, 1])],
        [],
        _IMAGE,
    ),
    "average pool ceil": (
        [node("AveragePool", "x", "y", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)],
        [],
        (1, 1, 5, 5),
    ),
    "global average pool": ([node("GlobalAveragePool", "x", "y")], [], (1, 3, 2, 4)),
    "global max pool": ([node("GlobalMaxPool", "x", "y")], [], (1, 2, 2, 3)),
}

_BN = [
    constant("s", [1.5, 0, -2]),
    constant("b", [0.5, 1, -1]),
    constant("m", [1, -0.5, 0.25]),
    constant("v", [4, 1, 0.25]),
]
_NORM: dict[str, Graph] = {
    "batch norm": ([node("BatchNormalization", "xsbmv", "y", epsilon=0.0)], _BN, (1, 3)),
    "batch norm of channels": (
        [node("BatchNormalization", "xsbmv", "y", epsilon=0.0)],
        _BN,
        (1, 3, 2, 2),
    ),
    "batch norm after gemm": (
        [node("Gemm", "xw", "h"), node("BatchNormalization", "hsbmv", "y", epsilon=0.0)],
        [*_BN, constant("w", _eighths(2, 3))],
        (1, 2),
    ),
    "batch norm before gemm": (
        [node("BatchNormalization", "xsbmv", "h", epsilon=0.0), node("Gemm", "hw", "y")],
        [*_BN, constant("w", _eighths(3, 2))],
        (1, 3),
    ),
    "batch norm before a padded conv": (
        [
            node("BatchNormalization", "xsbmv", "h", epsilon=0.0),
            node("Conv", "hk", "y", pads=[1, 1, 1, 1]),
        ],
        [*_BN, constant("k", _eighths(2, 3, 2, 2))],
        (1, 3, 3, 3),
    ),
    "batch norm after a conv and before relu": (
        [
            node("Conv", "xk", "c", pads=[1, 1, 1, 1]),
            node("BatchNormalization", "csbmv", "h", epsilon=0.0),
            node("Relu", "h", "y"),
        ],
        [*_BN, constant("k", _eighths(3, 2, 2, 2))],
        (1, 2, 3, 3),
    ),
}

_BENDS: dict[str, Graph] = {
    **{
        f"leaky relu {slope}": ([node("LeakyRelu", "x", "y", alpha=slope)], [], (1, 5))
        for slope in (0.5, 0.0, 1.0, -0.5, 2.0)
    },
    "prelu of channels": ([node("PRelu", "xs", "y")], [constant("s", _eighths(2, 1, 1))], _IMAGE),
    "prelu of the last axis": ([node("PRelu", "xs", "y")], [constant("s", _eighths(6))], _IMAGE),
    "prelu of one slope": ([node("PRelu", "xs", "y")], [constant("s", [-0.25])], _IMAGE),
    "clip": ([node("Clip", "xab", "y")], [constant("a", -0.5), constant("b", 0.75)], (1, 6)),
    "clip below": ([node("Clip", "xa", "y")], [constant("a", -0.5)], (1, 6)),
    "clip above": ([node("Clip", ["x", "", "b"], "y")], [constant("b", 0.75)], (1, 6)),
    "clip to nothing": ([node("Clip", "x", "y")], [], (1, 6)),
    "clip of a relu": (
        [node("Relu", "x", "r"), node("Clip", "rab", "y")],
        [constant("a", -1), constant("b", 1)],
        (1, 6),
    ),
    "clip of a relu above 0": (
        [node("Relu", "x", "r"), node("Clip", "rab", "y")],
        [constant("a", 0.5), constant("b", 1)],
        (1, 6),
    ),
    "clip of a relu to negative numbers": (
        [node("Relu", "x", "r"), node("Clip", "rab", "y")],
        [constant("a", -1), constant("b", -0.5)],
        (1, 6),
    ),
    "clip of a clip": (
        [node("Clip", "xab", "c"), node("Clip", "cdb", "y")],
        [constant("a", -1), constant("b", 1), constant("d", 0.5)],
        (1, 6),
    ),
    "relu of a clip": (
        [node("Clip", "xab", "c"), node("Relu", "c", "y")],
        [constant("a", -1), constant("b", 1)],
        (1, 6),
    ),
    "abs": (
        [node("Abs", "x", "h"), node("Gemm", "hw", "y")],
        [constant("w", _eighths(5, 2))],
        (1, 5),
    ),
    "relu of abs": ([node("Abs", "x", "h"), node("Relu", "h", "y")], [], (1, 5)),
    "neg": ([node("Neg", "x", "h"), node("Relu", "h", "y")], [], (1, 5)),
    "hard sigmoid": ([node("HardSigmoid", "x", "y", alpha=0.25, beta=0.5)], [], (1, 6)),
    "max of three": (
        [node("Max", "xcd", "y")],
        [constant("c", _eighths(3)), constant("d", _eighths(1, 3))],
        (1, 3),
    ),
    "min with a constant": (
        [node("Min", "xc", "h"), node("Relu", "h", "y")],
        [constant("c", _eighths(3))],
        (1, 3),
    ),
    "max of relus": (
        [
            node("Gemm", "xw", "g"),
            node("Relu", "g", "r"),
            node("Relu", "x", "s"),
            node("Max", "rs", "m"),
            node("Relu", "m", "y"),
        ],
        [constant("w", _eighths(3, 3))],
        (1, 3),
    ),
    "max of one": ([node("Max", "x", "y")], [], (1, 3)),
    "max of itself": ([node("Max", "xx", "y")], [], (1, 3)),
    "sum of three": (
        [node("Relu", "x", "r"), node("Sum", "xrc", "y")],
        [constant("c", _eighths(3))],
        (1, 3),
    ),
    "mean of two": ([node("Relu", "x", "r"), node("Mean", "xr", "y")], [], (1, 3)),
    "relu of a constant part": (
        [node("Mul", "xz", "h"), node("Add", "hc", "g"), node("Relu", "g", "y")],
        [constant("z", [0, 0, 1]), constant("c", [1, -1, 0])],
        (1, 3),
    ),
}

_MOVES: dict[str, Graph] = {
    "transpose to channels last, flatten, gemm": (
        [
            node("Transpose", "x", "t", perm=[0, 2, 3, 1]),
            node("Flatten", "t", "f"),
            node("Gemm", "fw", "y"),
        ],
        [constant("w", _eighths(12, 3))],
        (1, 2, 2, 3),
    ),
    "transpose without perm": ([node("Transpose", "x", "y")], [], (2, 3, 4)),
    "conv, flatten, gemm": (
        [
            node("Conv", "xkb", "c"),
            node("Relu", "c", "r"),
            node("Flatten", "r", "f"),
            node("Gemm", "fw", "y"),
        ],
        [_K, _B, constant("w", _eighths(48, 3))],
        _IMAGE,
    ),
    "slice": (
        [node("Slice", "xseat", "y")],
        [_ints("s", 1, -3), _ints("e", 4, 99), _ints("a", 2, -1), _ints("t", 2, 1)],
        _IMAGE,
    ),
    "slice backwards": (
        [node("Slice", "xseat", "y")],
        [_ints("s", -1, 4), _ints("e", -99, 0), _ints("a", 3, 2), _ints("t", -1, -2)],
        _IMAGE,
    ),
    "slice of all axes": (
        [node("Slice", "xse", "y")],
        [_ints("s", 0, 1), _ints("e", 1, 3)],
        (1, 4),
    ),
    "gather": (
        [node("Gather", "xi", "y", axis=1)],
        [constant("i", [[2, 0], [-1, 0]], np.int64)],
        (1, 4),
    ),
    "gather one": ([node("Gather", "xi", "y", axis=2)], [constant("i", 1, np.int64)], (1, 2, 3)),
    "split": (
        [helper.make_node("Split", ["x", "s"], ["p", "q"], "n_p", axis=1), node("Sub", "pq", "y")],
        [_ints("s", 1, 1)],
        (1, 2, 3),
    ),
    "concat of branches": (
        [
            node("Gemm", "xw", "g"),
            node("Relu", "g", "r"),
            node("Concat", "rxc", "j", axis=1),
            node("Gemm", "jv", "y"),
        ],
        [
            constant("w", _eighths(3, 2)),
            constant("c", _eighths(1, 1)),
            constant("v", _eighths(6, 2)),
        ],
        (1, 3),
    ),
    "concat along a last axis": (
        [node("Relu", "x", "r"), node("Concat", "xr", "y", axis=-1)],
        [],
        (2, 3),
    ),
    "squeeze, unsqueeze": (
        [node("Squeeze", "xa", "s"), node("Unsqueeze", "sb", "y")],
        [_ints("a", 0, 2), _ints("b", 0, -1)],
        (1, 2, 1, 3),
    ),
    "squeeze all": ([node("Squeeze", "x", "y")], [], (1, 2, 1, 3)),
    "expand": ([node("Expand", "xs", "y")], [_ints("s", 2, 3)], (1, 3)),
    "tile": ([node("Tile", "xs", "y")], [_ints("s", 2, 2)], (1, 3)),
    "pad": (
        [node("Pad", "xpv", "y")],
        [_ints("p", 0, 0, 1, 2, 0, 0, 0, 1), constant("v", 0.5)],
        _IMAGE,
    ),
    "pad with zeros": ([node("Pad", "xp", "y")], [_ints("p", 0, 1, 0, 2)], (1, 3)),
    "pad by reflection": (
        [node("Pad", "xp", "y", mode="reflect")],
        [_ints("p", 0, 1, 0, 2)],
        (1, 4),
    ),
    "pad by the edge": ([node("Pad", "xp", "y", mode="edge")], [_ints("p", 0, 1, 0, 2)], (1, 4)),
    "reduce mean": ([node("ReduceMean", "x", "y", axes=[2, 3], keepdims=0)], [], (1, 2, 2, 4)),
    "reduce sum": ([node("ReduceSum", "xa", "y")], [_ints("a", -1)], (1, 2, 3)),
    "reduce all": ([node("ReduceSum", "x", "y", keepdims=1)], [], (1, 2, 3)),
    "dropout with its mask": (
        [helper.make_node("Dropout", ["x"], ["d", "mask"], "n_d"), node("Relu", "d", "y")],
        [],
        (1, 3),
    ),
    "shape computed": (
        [
            node("Shape", "x", "s"),
            node("Gather", "si", "g", axis=0),
            node("Unsqueeze", "ga", "u"),
            node("Concat", "um", "t", axis=0),
            node("Reshape", "xt", "y"),
        ],
        [constant("i", 0, np.int64), _ints("a", 0), _ints("m", -1)],
        (1, 2, 3),
    ),
    "constant of shape": (
        [
            node(
                "ConstantOfShape",
                "s",
                "c",
                value=helper.make_tensor("v", TensorProto.FLOAT, [1], [0.5]),
            ),
            node("Add", "xc", "y"),
        ],
        [_ints("s", 1, 3)],
        (1, 3),
    ),
    "weights transposed": (
        [node("Transpose", "w", "t"), node("MatMul", "xt", "y")],
        [constant("w", _eighths(2, 3))],
        (1, 3),
    ),
    "weights computed": (
        [
            node("MatMul", "wv", "p"),
            node("Mul", "pc", "q"),
            node("Sub", "qc", "r"),
            node("Div", "rd", "s"),
            node("Gemm", "xs", "y"),
        ],
        [
            constant("w", _eighths(3, 2)),
            constant("v", _eighths(2, 3)),
            constant("c", 0.5),
            constant("d", 2),
        ],
        (1, 3),
    ),
    "cast of constants": (
        [node("Cast", "c", "d", to=TensorProto.FLOAT), node("Add", "xd", "y")],
        [_ints("c", 1, -2, 3)],
        (1, 3),
    ),
    "cast of the input": (
        [node("Cast", "x", "h", to=TensorProto.FLOAT), node("Relu", "h", "y")],
        [],
        (1, 3),
    ),
}

_PRODUCTS: dict[str, Graph] = {
    "residual": (
        [
            node("Gemm", "xw", "g"),
            node("Relu", "g", "r"),
            node("Gemm", "rv", "h"),
            node("Add", "hx", "y"),
        ],
        [constant("w", _eighths(3, 4)), constant("v", _eighths(4, 3))],
        (1, 3),
    ),
    "difference of branches": (
        [
            node("Relu", "x", "r"),
            node("Neg", "x", "n"),
            node("Relu", "n", "s"),
            node("Sub", "rs", "y"),
        ],
        [],
        (1, 3),
    ),
    "branches of different depth": (
        [
            node("Relu", "x", "r"),
            node("Gemm", "rw", "g"),
            node("Relu", "g", "s"),
            node("Add", "sr", "a"),
            node("Relu", "a", "y"),
        ],
        [constant("w", _eighths(3, 3))],
        (1, 3),
    ),
    "gemm transA": ([node("Gemm", "xw", "y", transA=1)], [constant("w", _eighths(3, 2))], (3, 1)),
    "gemm of a matrix": (
        [node("Gemm", "xwb", "y", alpha=0.5, beta=2.0)],
        [constant("w", _eighths(3, 2)), constant("b", _eighths(2, 1))],
        (2, 3),
    ),
    "gemm with the constant first": (
        [node("Gemm", "wxb", "y", transB=1, beta=0.5)],
        [constant("w", _eighths(2, 3)), constant("b", _eighths(1, 2))],
        (2, 3),
    ),
    "gemm that adds a value": (
        [node("Gemm", "xwx", "y", beta=-0.5)],
        [constant("w", _eighths(3, 3))],
        (2, 3),
    ),
    "matmul of a stack": ([node("MatMul", "xw", "y")], [constant("w", _eighths(3, 2))], (2, 2, 3)),
    "matmul by a stack": ([node("MatMul", "xw", "y")], [constant("w", _eighths(2, 3, 2))], (4, 3)),
    "matmul by a vector": ([node("MatMul", "xw", "y")], [constant("w", _eighths(3))], (2, 3)),
    "matmul from the left": ([node("MatMul", "wx", "y")], [constant("w", _eighths(4, 2))], (2, 3)),
    "matmul from the left by a stack": (
        [node("MatMul", "wx", "y")],
        [constant("w", _eighths(3, 4, 2))],
        (2, 3),
    ),
    "widening constant": ([node("Add", "xc", "y")], [constant("c", _eighths(4, 1))], (1, 3)),
    "widening product": ([node("Mul", "xc", "y")], [constant("c", _eighths(2, 1, 1))], (1, 3)),
    "broadcast of two values": (
        [node("ReduceSum", "xa", "s"), node("Sub", "xs", "y")],
        [_ints("a", 1)],
        (2, 3),
    ),
    "gemm of a symbolic batch": (
        [node("Gemm", "xw", "y")],
        [constant("w", _eighths(3, 3))],
        ("N", 3),
    ),
}

_GRAPHS = {**_CONV, **_POOLS, **_NORM, **_BENDS, **_MOVES, **_PRODUCTS}


@pytest.mark.parametrize("name", _GRAPHS)
def test_operations_compute_what_onnxruntime_computes(name: str, tmp_path: Path) -> None:
    nodes, constants, shape = _GRAPHS[name]
    content = model(nodes, constants, shape)
    imported = read(write(tmp_path, "net.onnx", content))
    session = session_of(content)
    fixed = tuple(size if isinstance(size, int) else 1 for size in shape)
    for _ in range(6):
        x = _eighths(*fixed) * _R.choice([1, 4])
        expected = session.run(None, {"x": x})[0].ravel()
        assert [
            float(v) for v in imported.network([float(v) for v in x.ravel()])
        ] == expected.tolist()
    assert imported.comparison.runtime.startswith("onnxruntime")


_OLD: dict[str, tuple[int, Graph]] = {
    "slice by attributes": (
        9,
        ([node("Slice", "x", "y", starts=[1], ends=[-1], axes=[1])], [], (1, 5)),
    ),
    "squeeze by attributes": (11, ([node("Squeeze", "x", "y", axes=[1])], [], (1, 1, 3))),
    "unsqueeze by attributes": (11, ([node("Unsqueeze", "x", "y", axes=[0, 3])], [], (1, 3))),
    "clip by attributes": (6, ([node("Clip", "x", "y", min=-0.5, max=0.25)], [], (1, 5))),
    "clip by one attribute": (6, ([node("Clip", "x", "y", max=0.25)], [], (1, 5))),
    "pad by attributes": (10, ([node("Pad", "x", "y", pads=[0, 1, 0, 2], value=0.5)], [], (1, 3))),
    "split by attributes": (
        11,
        (
            [
                helper.make_node("Split", ["x"], ["p", "q"], axis=1, split=[1, 2]),
                node("ReduceSum", "q", "s", axes=[1]),
                node("Add", "ps", "y"),
            ],
            [],
            (1, 3),
        ),
    ),
    "reshape of opset 7": (7, ([node("Reshape", "xs", "y")], [_ints("s", 0, 3, -1)], (1, 6))),
    "batch norm of opset 7": (
        7,
        ([node("BatchNormalization", "xsbmv", "y", epsilon=0.0, momentum=0.5)], _BN, (1, 3, 2)),
    ),
    "max pool of opset 7": (
        7,
        ([node("MaxPool", "x", "y", kernel_shape=[2, 2])], [], (1, 1, 3, 3)),
    ),
    "reduce mean of opset 18": (18, ([node("ReduceMean", "xa", "y")], [_ints("a", 1)], (2, 4))),
    "split of opset 18": (
        18,
        (
            [
                helper.make_node("Split", ["x"], ["p", "q"], axis=1, num_outputs=2),
                node("Concat", "qp", "y", axis=1),
            ],
            [],
            (1, 5),
        ),
    ),
    "pad of some axes": (
        18,
        ([node("Pad", ["x", "p", "", "a"], "y")], [_ints("p", 1, 2), _ints("a", 1)], (2, 3)),
    ),
    "squeeze of opset 21": (21, ([node("Squeeze", "xa", "y")], [_ints("a", 1)], (2, 1, 3))),
}


@pytest.mark.parametrize("name", _OLD)
def test_operations_of_other_opsets(name: str, tmp_path: Path) -> None:
    opset, (nodes, constants, shape) = _OLD[name]
    content = model(nodes, constants, shape, opset=opset)
    network = load(write(tmp_path, "net.onnx", content))
    session = session_of(content)
    for _ in range(4):
        x = _eighths(*(int(size) for size in shape))
        expected = session.run(None, {"x": x})[0].ravel()
        assert [float(v) for v in network([float(v) for v in x.ravel()])] == expected.tolist()


def test_prelu_before_opset_7_has_a_slope_for_each_channel(tmp_path: Path) -> None:
    """Before opset 7 slopes belong to channels; from opset 7 they are broadcast as in numpy.

    onnxruntime does not support the older version.
    """
    content = model([node("PRelu", "xs", "y")], [constant("s", [0.5, 2])], (1, 2, 2), opset=6)
    assert list(load(write(tmp_path, "net.onnx", content))([-1, -1, -1, -1])) == [
        Fraction(-1, 2),
        Fraction(-1, 2),
        -2,
        -2,
    ]


# --- Layers: what is kept, what costs nothing -----------------------------------------------------


def _shape(tmp_path: Path, name: str) -> tuple[tuple[int, ...], str, bool]:
    nodes, constants, shape = _GRAPHS[name]
    network = load(write(tmp_path, "net.onnx", model(nodes, constants, shape)))
    return network.widths, network.last, network.is_plain


def test_no_artificial_neurons(tmp_path: Path) -> None:
    assert _shape(tmp_path, "residual") == ((3, 4, 3), "affine", False)
    assert _shape(tmp_path, "leaky relu 0.5") == ((5, 5, 5), "affine", False)
    assert _shape(tmp_path, "leaky relu 0.0") == ((5, 5), "relu", True)
    assert _shape(tmp_path, "leaky relu 1.0") == ((5, 5), "affine", True)
    assert _shape(tmp_path, "abs") == ((5, 5, 2), "affine", False)
    assert _shape(tmp_path, "relu of abs") == ((5, 5, 5), "affine", False)
    assert _shape(tmp_path, "clip") == ((6, 12, 6), "affine", True)
    assert _shape(tmp_path, "relu of a clip") == ((6, 12, 6), "relu", True)
    assert _shape(tmp_path, "max of itself") == ((3, 3), "affine", True)
    assert _shape(tmp_path, "max pool of one dimension") == ((14, 10, 6, 6, 6), "affine", False)
    assert _shape(tmp_path, "concat of branches") == ((3, 2, 2), "affine", False)
    assert _shape(tmp_path, "conv, conv") == ((60, 84), "affine", True)
    assert _shape(tmp_path, "difference of branches") == ((3, 6, 3), "affine", True)


def test_clip_of_a_relu_is_a_clip(tmp_path: Path) -> None:
    """Clip(Relu(x), -1, 1) = Clip(x, 0, 1), and both give the same network."""
    nodes, constants, shape = _GRAPHS["clip of a relu"]
    direct = model([node("Clip", "xab", "y")], [constant("a", 0), constant("b", 1)], shape)
    assert load(write(tmp_path, "a.onnx", model(nodes, constants, shape))) == load(
        write(tmp_path, "b.onnx", direct)
    )


def test_relu_and_leaky_relu_are_kept_apart(tmp_path: Path) -> None:
    """A Relu node is a ReLU, and a LeakyRelu node keeps its slope."""
    plain = load(write(tmp_path, "a.onnx", model([node("Relu", "x", "y")])))
    leaky = load(write(tmp_path, "b.onnx", model([node("LeakyRelu", "x", "y", alpha=0.1)])))
    assert list(plain([-1, 2])) == [0, 2]
    assert list(leaky([-1, 2])) == [-Fraction(float(np.float32(0.1))), 2]


_FOLDED = {
    "a leaky ReLU of slope 1 is the identity and was left out": [
        node("LeakyRelu", "x", "y", alpha=1.0)
    ],
    "a leaky ReLU of slope 0 is a ReLU and was read as one": [
        node("LeakyRelu", "x", "y", alpha=0.0)
    ],
    "a leaky ReLU of values that the operation before leaves nonnegative was merged with it": [
        node("Abs", "x", "a"),
        node("LeakyRelu", "a", "y", alpha=0.5),
    ],
    "an absolute value of values that the operation before leaves nonnegative was merged with it": [
        node("Relu", "x", "a"),
        node("Abs", "a", "y"),
    ],
    "a clip without limits is the identity and was left out": [node("Clip", "x", "y")],
    "a clip whose lower limit is not below the upper one is a constant": [
        node("Constant", "", "one", value_float=1.0),
        node("Clip", ["x", "one", "one"], "y"),
    ],
    "a clip of values that the operation before leaves nonnegative was merged with it": [
        node("Constant", "", "zero", value_float=0.0),
        node("Relu", "x", "a"),
        node("Clip", ["a", "zero"], "y"),
    ],
    "a ReLU of constants is a constant": [
        node("Constant", "", "one", value_float=1.0),
        node("Clip", ["x", "one", "one"], "a"),
        node("Relu", "a", "y"),
    ],
}


@pytest.mark.parametrize("said", _FOLDED)
def test_folded_operations_are_said(said: str, tmp_path: Path) -> None:
    imported = read(write(tmp_path, "net.onnx", model(_FOLDED[said])))
    assert said in imported.notes


def test_relu6_keeps_its_limit(tmp_path: Path) -> None:
    content = model([node("Clip", "xab", "y")], [constant("a", 0), constant("b", 6)], (1, 3))
    assert list(load(write(tmp_path, "net.onnx", content))([-1, 5, 7])) == [0, 5, 6]


def test_limits_that_mean_none(tmp_path: Path) -> None:
    """Exporters write the ends of the range of float32, or infinities, where they mean no limit."""
    low, high = np.finfo(np.float32).min, np.inf
    content = model([node("Clip", "xab", "y")], [constant("a", low), constant("b", high)], (1, 3))
    assert load(write(tmp_path, "net.onnx", content)).widths == (3, 3)


def test_a_neuron_of_positive_bias_without_inputs_is_kept() -> None:
    """A pruner that drops the neuron changes the function to (-1/8, 0)."""
    network = from_arrays(
        [([[0, 0], [0, 0]], ["1/2", "1/4"]), ([[0, 0], ["-1/2", -1]], ["-1/8", 0])]
    )
    assert list(network([3, -7])) == [Fraction(-1, 8), Fraction(-1, 2)]


def test_pruned_networks_keep_what_a_bias_adds(tmp_path: Path) -> None:
    nodes = [node("Gemm", "xwb", "h"), node("Relu", "h", "r"), node("Gemm", "rvc", "y", transB=1)]
    constants = [
        constant("w", np.zeros((2, 2))),
        constant("b", [0.5, 0.25]),
        constant("v", [[0, 0], [-0.5, -1]]),
        constant("c", [-0.125, 0]),
    ]
    network = load(write(tmp_path, "net.onnx", model(nodes, constants, (1, 2))))
    assert network.widths == (2, 2, 2)
    assert list(network([3, -7])) == [Fraction(-1, 8), Fraction(-1, 2)]


def test_max_pool_does_not_invent_zeros(tmp_path: Path) -> None:
    content = model([node("MaxPool", "x", "y", kernel_shape=[3], pads=[1, 1])], [], (1, 1, 3))
    assert list(load(write(tmp_path, "net.onnx", content))([-3, -2, -5])) == [-2, -2, -2]


def test_gemm_on_four_dimensions_is_a_row(tmp_path: Path) -> None:
    """MATLAB's exporter writes such a Gemm, and onnxruntime refuses the file.

    Nothing is compared then, and the result gives the reason.
    """
    content = model(
        [node("Gemm", "xw", "y", transB=1)], [constant("w", _eighths(3, 2))], (1, 1, 1, 2)
    )
    imported = read(write(tmp_path, "net.onnx", content))
    assert imported.network.widths == (2, 3)
    assert any("Gemm of a value of shape [1, 1, 1, 2]" in note for note in imported.notes)
    assert "cannot run the file" in str(imported.comparison)
    with pytest.raises(NetworkFileError, match=r"its input has shape \[1, 1, 2, 2\]"):
        load(
            write(
                tmp_path,
                "two.onnx",
                model([node("Gemm", "xw", "y")], [constant("w", _eighths(2, 2))], (1, 1, 2, 2)),
            )
        )


def test_several_inputs_and_outputs_are_put_one_after_the_other(tmp_path: Path) -> None:
    nodes = [node("Relu", "z", "r"), node("Sub", "xr", "y")]
    imported = read(
        write(tmp_path, "net.onnx", model(nodes, more_inputs=["z"], more_outputs=["r"]))
    )
    assert list(imported.network([1, 2, 5, -5])) == [-4, 2, 5, 0]
    assert any("'z', coordinates 2 to 3" in note for note in imported.notes)
    assert any("outputs one after the other: 'y' (2), 'r' (2)" in note for note in imported.notes)


def test_unused_branches_cost_nothing(tmp_path: Path) -> None:
    nodes = [node("Relu", "x", "dead"), node("Gemm", "xw", "y")]
    assert load(write(tmp_path, "net.onnx", model(nodes, [constant("w", np.eye(2))]))).widths == (
        2,
        2,
    )


# --- Rounding rules -------------------------------------------------------------------------------


def test_batch_norm_is_rounded_only_where_it_must_be(tmp_path: Path) -> None:
    constants = [
        constant("s", [1, 1]),
        constant("b", [0, 0]),
        constant("m", [0, 0]),
        constant("v", [4, 2]),
    ]
    content = model([node("BatchNormalization", "xsbmv", "y", epsilon=0.0)], constants)
    path = write(tmp_path, "net.onnx", content)
    weights = {
        rule: read(path, rounding=rule) for rule in ("", "batchnorm=float64", "batchnorm=float32")
    }
    assert weights[""].rounding == "batchnorm: float64"
    assert weights[""].network == weights["batchnorm=float64"].network
    assert weights[""].network.weight(1).row(0)[0] == Fraction(1, 2)
    assert weights[""].network.weight(1).row(1)[1] == Fraction(0.5**0.5)
    assert weights["batchnorm=float32"].network.weight(1).row(1)[1] == Fraction(
        float(np.float32(0.5**0.5))
    )
    assert weights["batchnorm=float32"].rounding == "batchnorm: float32"
    assert any("1 of 2 factors" in note for note in weights[""].notes)
    assert weights[""].provenance["rounding"] == "batchnorm: float64"


def test_attributes_as_stored_or_as_their_decimal(tmp_path: Path) -> None:
    path = write(tmp_path, "net.onnx", model([node("LeakyRelu", "x", "y", alpha=0.1)]))
    stored, decimal = read(path), read(path, rounding="attributes=decimal")
    assert stored.network([-1, 0])[0] == -Fraction(float(np.float32(0.1)))
    assert decimal.network([-1, 0])[0] == Fraction(-1, 10)
    assert (stored.rounding, decimal.rounding) == ("attributes: stored", "attributes: decimal")
    dyadic = read(write(tmp_path, "dyadic.onnx", model([node("LeakyRelu", "x", "y", alpha=0.5)])))
    assert dyadic.rounding == "none"


@pytest.mark.parametrize(
    "rules", ["text", "text=exact,text=exact", "text=float16", "colour=red", "=", "batchnorm=exact"]
)
def test_unknown_rounding_rules(rules: str) -> None:
    with pytest.raises(ValueError, match="rounding"):
        load("example:digits", rounding=rules)


# --- Tails ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tail", ["Softmax", "Sigmoid", "LogSoftmax", "Tanh"])
def test_tails_are_stripped_on_request(tail: str, tmp_path: Path) -> None:
    nodes = [node("Gemm", "xw", "h"), node(tail, "h", "t"), node("Identity", "t", "y")]
    path = write(tmp_path, "net.onnx", model(nodes, [constant("w", np.eye(2))]))
    with pytest.raises(NetworkFileError, match=rf"\({tail}\).*--strip-tail"):
        load(path)
    imported = read(path, strip_tail=True)
    assert list(imported.network([2, -3])) == [2, -3]
    assert any(f"the {tail} after the last layer was stripped" in note for note in imported.caveats)
    assert imported.comparison.runtime


def test_what_looks_like_a_tail_in_the_middle_is_refused(tmp_path: Path) -> None:
    middle = [node("Sigmoid", "x", "h"), node("Relu", "h", "y")]
    twice = [node("Sigmoid", "x", "y"), node("Add", "yx", "z")]
    for nodes, output in ((middle, "y"), (twice, "z")):
        path = write(tmp_path, "net.onnx", model(nodes, output=output))
        with pytest.raises(NetworkFileError, match=r"\(Sigmoid\)") as error:
            load(path, strip_tail=True)
        assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


# --- External data --------------------------------------------------------------------------------


def _with_external(location: str, **where: int) -> bytes:
    tensor = TensorProto(
        name="w", data_type=TensorProto.FLOAT, dims=[2, 2], data_location=TensorProto.EXTERNAL
    )
    tensor.external_data.add(key="location", value=location)
    for key, value in where.items():
        tensor.external_data.add(key=key, value=str(value))
    return model([node("Gemm", "xw", "y")], [tensor])


def test_external_data_is_read_from_beside_the_model(tmp_path: Path) -> None:
    weights = _eighths(2, 2)
    write(tmp_path, "weights.bin", b"1234" + weights.tobytes() + b"more")
    imported = read(write(tmp_path, "net.onnx", _with_external("weights.bin", offset=4, length=16)))
    assert imported.network == from_arrays([(weights.T, np.zeros(2))])
    assert imported.comparison.runtime


@pytest.mark.parametrize(
    ("location", "says"),
    [
        ("missing.bin", "No such file"),
        ("../weights.bin", "not in the model's folder"),
        ("", "not in the model's folder"),
        ("/etc/passwd", "not in the model's folder"),
        ("short.bin", "too short"),
        (".", "not a regular file"),
        ("n" * 300, "File name too long"),
        ("link.bin", "not in the model's folder"),
        ("loop.bin", "Too many levels of symbolic links"),
    ],
)
def test_missing_external_data_fails_loudly(location: str, says: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    write(tmp_path, "weights.bin", np.eye(2, dtype=np.float32).tobytes())
    write(folder, "short.bin", b"1234")
    (folder / "link.bin").symlink_to(tmp_path / "weights.bin")
    (folder / "loop.bin").symlink_to("loop.bin")
    with pytest.raises(NetworkFileError, match=f"tensor 'w': its external data .*{says}"):
        load(write(folder, "net.onnx", _with_external(location, length=16)))


def test_external_data_of_the_wrong_size(tmp_path: Path) -> None:
    write(tmp_path, "weights.bin", b"12345678")
    for where in (
        {},
        {"length": 10**15},
        {"length": 10**30},
        {"offset": 10**18, "length": 16},
        {"offset": -1},
    ):
        with pytest.raises(
            NetworkFileError, match=r"tensor 'w': its external data 'weights\.bin' is too short"
        ):
            load(write(tmp_path, "net.onnx", _with_external("weights.bin", **where)))


# --- Refusals -------------------------------------------------------------------------------------

_REFUSED: dict[str, tuple[str, Graph]] = {
    "product of values": (
        r"\(Mul\): a product of two values",
        ([node("Relu", "x", "r"), node("Mul", "xr", "y")], [], (1, 2)),
    ),
    "matmul of values": (
        r"\(MatMul\): a product of two values",
        ([node("MatMul", "xx", "y")], [], (2, 2)),
    ),
    "cast to integers": (
        r"\(Cast\): to int64 rounds",
        ([node("Cast", "x", "y", to=TensorProto.INT64)], [], (1, 2)),
    ),
    "batch norm of the wrong length": (
        r"do not have shape \[2\]",
        ([node("BatchNormalization", "xsbmv", "y")], _BN, (1, 2)),
    ),
    "batch norm in training": (
        r"training mode",
        ([node("BatchNormalization", "xsbmv", "y", training_mode=1)], _BN, (1, 3)),
    ),
    "batch norm of negative variance": (
        r"a variance is negative",
        ([node("BatchNormalization", "xsbmv", "y")], [*_BN[:3], constant("v", [1, -1, 1])], (1, 3)),
    ),
    "conv of other channels": (
        r"\(Conv\): a kernel of shape \[4, 2, 3, 3\]",
        ([node("Conv", "xk", "y")], [_K], (1, 3, 5, 5)),
    ),
    "conv larger than the image": (
        r"does not fit",
        ([node("Conv", "xk", "y")], [_K], (1, 2, 2, 2)),
    ),
    "conv with kernel_shape of another": (
        r"kernel_shape \[2, 2\]",
        ([node("Conv", "xk", "y", kernel_shape=[2, 2])], [_K], _IMAGE),
    ),
    "pool in the padding": (
        r"in the padding",
        ([node("MaxPool", "x", "y", kernel_shape=[1], pads=[1, 1])], [], (1, 1, 3)),
    ),
    "negative pads": (
        r"pads are negative",
        ([node("MaxPool", "x", "y", kernel_shape=[2], pads=[-1, 1])], [], (1, 1, 3)),
    ),
    "slopes that widen": (
        r"\(PRelu\): a constant of shape \[2, 3\]",
        ([node("PRelu", "xs", "y")], [constant("s", _eighths(2, 3))], (1, 3)),
    ),
    "concat of shapes that do not fit": (
        r"cannot concatenate",
        ([node("Flatten", "x", "f"), node("Concat", "xf", "y", axis=1)], [], (1, 2, 3)),
    ),
    "split in too many": (
        r"\(Split\)",
        ([helper.make_node("Split", ["x"], ["y", "q", "r"], "n_y", axis=1)], [], (1, 2)),
    ),
    "gather out of range": (r"\(Gather\)", ([node("Gather", "xi", "y")], [_ints("i", 7)], (1, 2))),
    "slice of nothing": (
        r"nothing is left",
        ([node("Slice", "xse", "y")], [_ints("s", 0), _ints("e", 0)], (1, 2)),
    ),
    "softmax": (
        r"\(Softmax\): this operation is not supported; --strip-tail",
        ([node("Softmax", "x", "y")], [], (1, 2)),
    ),
    "cycle": (
        r"its input 'h' does not come",
        ([node("Add", "xh", "g"), node("Relu", "g", "h"), node("Relu", "h", "y")], [], (1, 2)),
    ),
    "huge expansion": (
        r"values have 1 to|\(Expand\)",
        ([node("Expand", "xs", "y")], [_ints("s", 10**5, 10**5)], (1, 1)),
    ),
    "huge constant": (
        r"has more than",
        (
            [node("ConstantOfShape", "s", "c"), node("Add", "xc", "y")],
            [_ints("s", 10**5, 10**5)],
            (1, 1),
        ),
    ),
    "huge padding": (
        r"\(Pad\)|values have",
        ([node("Pad", "xp", "y")], [_ints("p", 0, 10**7, 0, 10**7)], (1, 1)),
    ),
    "huge tile": (
        r"\(Tile\)|values have",
        ([node("Tile", "xs", "y")], [_ints("s", 10**4, 10**4)], (1, 1)),
    ),
    "huge window": (
        r"\(MaxPool\)",
        ([node("MaxPool", "x", "y", kernel_shape=[10**6], pads=[10**6, 10**6])], [], (1, 1, 3)),
    ),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_refusals(name: str, tmp_path: Path) -> None:
    says, (nodes, constants, shape) = _REFUSED[name]
    with pytest.raises(NetworkFileError, match=says):
        load(write(tmp_path, "net.onnx", model(nodes, constants, shape)))


@pytest.mark.parametrize(
    ("variance", "epsilon", "is_bounded"),
    [
        (1.0, 1e-5, True),
        (0.0, 1e-5, True),
        (1e-40, 1e-5, True),
        (2.0**-126, 2.0**-126, True),
        (2.0**-100, 2.0**-140, True),
        (2.0**-110, 2.0**-140, False),
        (2.0**-140, 2.0**-110, False),
    ],
)
def test_variances_below_the_normal_numbers(
    variance: float, epsilon: float, is_bounded: bool, tmp_path: Path
) -> None:
    """What a runtime may take for 0 has a bound only if the sum is at least 2^-101."""
    constants = [constant(n, [v]) for n, v in zip("sbmv", (1, 0, 0, variance), strict=True)]
    nodes = [node("BatchNormalization", "xsbmv", "y", epsilon=epsilon)]
    path = write(tmp_path, "net.onnx", model(nodes, constants, (1, 1)))
    if variance + epsilon < 2.0**-120:
        with pytest.raises(NetworkFileError, match="no runtime can divide"):
            read(path)
        return
    imported = read(path)
    assert ("float32" in imported.bounded) == is_bounded
    assert "float64" in imported.bounded
    assert (imported.comparison.reason == "") == is_bounded


def test_an_unsupported_operation_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node of the operation is the last one; no node before it is evaluated."""
    evaluated = list[object]()
    for name in ("MatMul", "Relu"):
        monkeypatch.setitem(operations.OPERATIONS, name, evaluated.append)
    nodes = [node("MatMul", ["x", "w"], "h"), node("Relu", ["h"], "r"), node("Erf", ["r"], "y")]
    path = write(tmp_path, "net.onnx", model(nodes, [constant("w", np.ones((2, 2)))]))
    with pytest.raises(NetworkFileError, match="'n_y' \\(Erf\\): this operation is not supported"):
        read(path)
    assert not evaluated
