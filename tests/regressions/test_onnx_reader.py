"""Mistakes that reviews of the ONNX reader and attacks on it found; each test failed once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats import load, read, runtime_error
from tests.generators.onnx_files import constant, model, node, write

Graph = tuple[list[Any], list[Any], Sequence[int | str]]


def _ints(name: str, *values: int) -> Any:
    return constant(name, list(values), np.int64)


_BN = [
    constant("s", [1.5, 0, -2]),
    constant("b", [0.5, 1, -1]),
    constant("m", [1, -0.5, 0.25]),
    constant("v", [4, 1, 0.25]),
]


# --- Found by reading the code, each a regression -------------------------------------------------


def _exact_values(content: bytes, tmp_path: Path, x: Sequence[float]) -> list[Fraction]:
    return list(load(write(tmp_path, "net.onnx", content), compare=False)(x))


def test_two_ones_in_a_row_are_no_identity(tmp_path: Path) -> None:
    content = model([node("MatMul", "xw", "y")], [constant("w", [[1, 0], [1, 0]])], (2, 2))
    assert _exact_values(content, tmp_path, [1, 2, 3, 4]) == [3, 0, 7, 0]
    assert read(write(tmp_path, "net.onnx", content)).comparison.runtime


def test_constants_that_a_runtime_rounds_have_no_bound(tmp_path: Path) -> None:
    """The number 3 · float32(1/3) - 1 is 2^-25 exactly, and 0 in float32."""
    nodes = [node("Mul", "ct", "d"), node("Sub", "do", "e"), node("Mul", "xe", "y")]
    constants = [constant("c", 1 / 3), constant("t", 3), constant("o", 1)]
    imported = read(write(tmp_path, "net.onnx", model(nodes, constants)))
    assert imported.network([1, 0])[0] == 3 * Fraction(float(np.float32(1 / 3))) - 1
    assert "no rounding bound is known for float32" in imported.comparison.reason
    with pytest.raises(NetworkError, match="computed from constants"):
        runtime_error(imported, "box:0,1")
    exact_in_float64 = runtime_error(imported, "box:0,1", arithmetic="float64")
    assert exact_in_float64.worst is not None


def test_sums_may_start_from_the_bias(tmp_path: Path) -> None:
    """All terms are below half a unit of the bias; a sum that starts from the bias loses them."""
    weight, inputs = 0.99 * 2.0**-25, 1000
    nodes = [
        node("Gemm", "xwb", "h"),
        node("LeakyRelu", "h", "l", alpha=0.5),
        node("Gemm", "lv", "y"),
    ]
    constants = [constant("w", [[weight]] * inputs), constant("b", [1]), constant("v", [[1]])]
    imported = read(write(tmp_path, "net.onnx", model(nodes, constants, (1, inputs))))
    found = runtime_error(imported, ([1] * inputs, [1] * inputs))
    assert found.worst is not None
    assert found.worst > inputs * Fraction(float(np.float32(weight))) * Fraction(9, 10)
    separate = [
        node("MatMul", "xw", "h"),
        node("Add", "hb", "g"),
        node("LeakyRelu", "g", "y", alpha=0.5),
    ]
    fused = read(write(tmp_path, "net.onnx", model(separate, constants[:2], (1, inputs))))
    worst = runtime_error(fused, ([1] * inputs, [1] * inputs)).worst
    assert worst is not None
    assert worst > inputs * Fraction(float(np.float32(weight))) * Fraction(9, 10)


_BEYOND: dict[str, tuple[Graph, float]] = {
    "products before a small alpha": (
        ([node("Gemm", "xw", "y", alpha=1e-30)], [constant("w", [[1e20]])], (1, 1)),
        1e20,
    ),
    "a sum before its mean": (([node("ReduceMean", "x", "y", axes=[1])], [], (1, 4)), 2e38),
    "a slope": (([node("PRelu", "xs", "y")], [constant("s", [1e30])], (1, 1)), -1e20),
    "an average pool": (([node("AveragePool", "x", "y", kernel_shape=[4])], [], (1, 1, 4)), 2e38),
}


@pytest.mark.parametrize("name", _BEYOND)
def test_numbers_on_the_way_may_overflow(name: str, tmp_path: Path) -> None:
    (nodes, constants, shape), x = _BEYOND[name]
    imported = read(write(tmp_path, "net.onnx", model(nodes, constants, shape)), compare=False)
    corner = [Fraction(float(np.float32(x)))] * imported.network.num_inputs
    assert runtime_error(imported, (corner, corner)).worst is None


def test_small_weights_may_be_lost_before_a_large_alpha(tmp_path: Path) -> None:
    content = model(
        [node("Gemm", "xw", "y", alpha=2.0**100)], [constant("w", [[2.0**-140]])], (1, 1)
    )
    found = runtime_error(read(write(tmp_path, "net.onnx", content), compare=False), "box:1,1")
    assert found.worst is not None
    assert found.worst >= Fraction(1, 2**40)


def test_a_tail_that_something_else_reads_is_in_the_middle(tmp_path: Path) -> None:
    nodes = [node("Softmax", "x", "s"), node("Gemm", "sw", "y")]
    content = model(nodes, [constant("w", np.eye(2))], more_outputs=["s"])
    with pytest.raises(NetworkFileError, match=r"\(Softmax\)"):
        load(write(tmp_path, "net.onnx", content), strip_tail=True)


def test_limits_beyond_float32_bind_in_float64(tmp_path: Path) -> None:
    limits = [constant("a", 1e39, np.float64)]
    content = model([node("Clip", "xa", "y")], limits, (1, 1), element=TensorProto.DOUBLE)
    assert _exact_values(content, tmp_path, [0]) == [Fraction(1e39)]
    content = model([node("Clip", "xa", "y")], [constant("a", np.finfo(np.float32).max)], (1, 1))
    assert _exact_values(content, tmp_path, [0]) == [Fraction(float(np.finfo(np.float32).max))]


def test_numbers_without_dimensions(tmp_path: Path) -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "si", "n"),
        node("Cast", "n", "f", to=TensorProto.FLOAT),
        node("Neg", "f", "g"),
        node("Mul", "xg", "h"),
        node("Sub", "hf", "y"),
    ]
    content = model(nodes, [constant("i", 1, np.int64)], (1, 3))
    assert _exact_values(content, tmp_path, [1, 2, 3]) == [-6, -9, -12]


def test_a_cast_that_rounds_constants_is_reported(tmp_path: Path) -> None:
    nodes = [
        node("Cast", "c", "h", to=TensorProto.FLOAT16),
        node("Cast", "h", "d", to=TensorProto.FLOAT),
        node("Add", "xd", "y"),
    ]
    imported = read(write(tmp_path, "net.onnx", model(nodes, [constant("c", [0.1, 0.5])])))
    assert imported.network([0, 0])[0] == Fraction(float(np.float16(0.1)))
    assert imported.caveats == ("the file rounds 1 of 2 constants to float16 (Cast)",)


def test_nodes_keep_the_order_of_the_file(tmp_path: Path) -> None:
    nodes = [
        node("Relu", "x", "a"),
        node("Neg", "a", "b"),
        node("Abs", "x", "c"),
        node("Add", "bc", "y"),
    ]
    imported = read(write(tmp_path, "net.onnx", model(nodes)))
    assert [step.split()[0] for step in imported.steps] == ["Relu", "Neg", "Abs", "Add"]
    shuffled = [nodes[3], nodes[1], nodes[2], nodes[0]]
    assert load(write(tmp_path, "net.onnx", model(shuffled)), compare=False).widths == (2, 4, 2)


def test_long_chains_take_linear_time(tmp_path: Path) -> None:
    nodes = [node("Add", [f"v{i}" if i else "x", "c"], f"v{i + 1}") for i in range(3000)]
    content = model(nodes, [constant("c", [1, 2])], output="v3000")
    started = time.process_time()
    assert _exact_values(content, tmp_path, [0, 0]) == [3000, 6000]
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    "shapes", [((1000, 1), (1, 10**6)), ((10**6, 1), (1, 10**6)), ((3000, 3000), (3000, 3000))]
)
def test_huge_products_are_refused_at_once(
    shapes: tuple[tuple[int, int], ...], tmp_path: Path
) -> None:
    left, right = shapes
    nodes = [node("Expand", "xs", "a"), node("Expand", "ct", "d"), node("MatMul", "ad", "y")]
    constants = [_ints("s", *left), constant("c", [[1]]), _ints("t", *right)]
    with pytest.raises(NetworkFileError):
        load(write(tmp_path, "net.onnx", model(nodes, constants, (1, 1))))


def test_an_input_shape_must_not_contradict_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "net.onnx", model([node("Relu", "x", "y")], shape=("batch", 4)))
    assert load(path, input_shape=[1, 4]).num_inputs == 4
    for shape in ([1, 6], [4]):
        with pytest.raises(NetworkFileError, match=r"the file says \[\?, 4\]"):
            load(path, input_shape=shape)


@pytest.mark.parametrize("operation", ["Dropout", "BatchNormalization"])
def test_training_mode_of_old_opsets(operation: str, tmp_path: Path) -> None:
    """Before opset 7 a node without is_test = 1 is in training mode."""
    inputs = "x" if operation == "Dropout" else "xsbmv"
    for attributes, is_read in (({}, False), ({"is_test": 0}, False), ({"is_test": 1}, True)):
        nodes = [node(operation, inputs, "y", **attributes)]
        path = write(tmp_path, "net.onnx", model(nodes, _BN, (1, 3), opset=6))
        if is_read:
            assert load(path).widths == (3, 3)
        else:
            with pytest.raises(NetworkFileError, match="training mode"):
                load(path)


def test_nothing_to_compare_is_reported(tmp_path: Path) -> None:
    imported = read(
        write(tmp_path, "net.onnx", model([node("Softmax", "x", "y")])), strip_tail=True
    )
    assert "gives no value that the network has" in imported.comparison.reason


@pytest.mark.parametrize("thing", [42, None, object()])
def test_things_that_are_no_networks(thing: Any) -> None:
    with pytest.raises(NetworkError, match="expected a file name, pairs"):
        load(thing)


# --- Found by an attacker, each a regression ------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(np.inf, 3), (3, -np.inf)])
@pytest.mark.parametrize("opset", [6, 13])
def test_limits_that_are_infinite_on_the_wrong_side(
    low: float, high: float, opset: int, tmp_path: Path
) -> None:
    nodes, constants = [node("Clip", "xab", "y")], [constant("a", low), constant("b", high)]
    if opset < 11:
        nodes, constants = [node("Clip", "x", "y", min=float(low), max=float(high))], []
    with pytest.raises(NetworkFileError, match="infinite on the wrong side"):
        load(write(tmp_path, "net.onnx", model(nodes, constants, opset=opset)))


def test_a_minimum_above_the_maximum(tmp_path: Path) -> None:
    """The result is max everywhere, even if min is the largest float32."""
    largest = float(np.finfo(np.float32).max)
    content = model([node("Clip", "xab", "y")], [constant("a", largest), constant("b", 3)], (1, 2))
    assert _exact_values(content, tmp_path, [-5, 7]) == [3, 3]


def test_batch_norm_with_more_outputs_is_training(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("BatchNormalization", list("xsbmv"), ["y", "a", "c", "d", "e"], "n_y")
    ]
    with pytest.raises(NetworkFileError, match="training mode"):
        load(write(tmp_path, "net.onnx", model(nodes, _BN, (4, 3), opset=9)))


def test_casts_of_computed_numbers(tmp_path: Path) -> None:
    nodes = [
        node("Add", "ab", "c"),
        node("Cast", "c", "d", to=TensorProto.FLOAT16),
        node("Cast", "d", "e", to=1),
        node("Add", "xe", "y"),
    ]
    constants = [constant("a", 1), constant("b", 2.0**-12)]
    with pytest.raises(NetworkFileError, match="rounds numbers that the file computes"):
        load(write(tmp_path, "net.onnx", model(nodes, constants)))
    same = [
        node("Add", "ab", "c"),
        node("Cast", "c", "d", to=TensorProto.FLOAT),
        node("Add", "xd", "y"),
    ]
    assert _exact_values(model(same, constants), tmp_path, [0, 0])[0] == 1 + Fraction(1, 2**12)


def test_integers_do_not_wrap_around(tmp_path: Path) -> None:
    nodes = [
        node("Mul", "ab", "c"),
        node("Cast", "c", "d", to=TensorProto.FLOAT),
        node("Add", "xd", "y"),
    ]
    with pytest.raises(NetworkFileError, match="exceed 31 bits"):
        load(write(tmp_path, "net.onnx", model(nodes, [_ints("a", 2**20), _ints("b", 2**20)])))


@pytest.mark.parametrize("opset", [1, 5, 9999])
def test_opsets_that_are_not_known(opset: int, tmp_path: Path) -> None:
    with pytest.raises(NetworkFileError, match=rf"opset {opset} is (older than 6, the|newer than)"):
        load(write(tmp_path, "net.onnx", model([node("Relu", "x", "y")], opset=opset)))


@pytest.mark.parametrize(
    "bad",
    [
        node("Relu", [""], "y"),
        node("Cast", "x", "y"),
        node("Cast", "x", "y", to=0),
        node("Cast", "x", "y", to=-1),
        node("Gemm", ["x", ""], "y"),
        node("Gather", "xx", "y"),
        node("Slice", "xss", "y"),
    ],
)
def test_nodes_that_are_nonsense(bad: Any, tmp_path: Path) -> None:
    with pytest.raises(NetworkFileError):
        load(write(tmp_path, "net.onnx", model([bad], [_ints("s", 3)])))


_GREEDY: dict[str, list[Any]] = {
    "squares of squares": [
        *(node("Mul", [f"c{i}"] * 2, f"c{i + 1}") for i in range(30)),
        node("Add", ["x", "c30"], "y"),
    ],
    "a large constant squared": [
        node("ConstantOfShape", "s", "a"),
        node("Mul", "aa", "b"),
        node("ReduceSum", "b", "y"),
    ],
    "a large product": [
        node("ConstantOfShape", "t", "a"),
        node("MatMul", "aa", "b"),
        node("ReduceSum", "b", "y"),
    ],
    "a wide sum": [
        node("ConstantOfShape", "t", "a"),
        node("Unsqueeze", "ao", "b"),
        node("Unsqueeze", "aq", "c"),
        node("Add", "bc", "d"),
        node("ReduceSum", "d", "y"),
    ],
    "many copies": [
        node("ConstantOfShape", "t", "a"),
        node("Concat", ["a"] * 9, "b", axis=0),
        node("Concat", ["b"] * 9, "c", axis=0),
        node("ReduceSum", "c", "y"),
    ],
}


@pytest.mark.parametrize("name", _GREEDY)
def test_small_files_that_need_huge_arrays(name: str, tmp_path: Path) -> None:
    constants = [
        _ints("s", 2500, 2500),
        _ints("t", 1500, 1500),
        _ints("o", 0),
        _ints("q", 2),
        constant("c0", 1.1),
    ]
    started = time.process_time()
    with pytest.raises(NetworkFileError):
        load(write(tmp_path, "net.onnx", model(_GREEDY[name], constants)))
    assert time.process_time() - started < 20


def test_deep_networks_take_linear_time(tmp_path: Path) -> None:
    nodes = [
        n
        for i in range(400)
        for n in (
            node("Relu", [f"z{i}" if i else "x"], f"r{i}"),
            node("Sub", [f"r{i}", "c"], f"z{i + 1}"),
        )
    ]
    started = time.process_time()
    network = load(
        write(tmp_path, "net.onnx", model(nodes, [constant("c", 0.3)], (1, 1), output="z400")),
        compare=False,
    )
    assert network.depth == 401
    assert time.process_time() - started < 5


def test_nothing_of_a_file_reaches_the_terminal_raw(tmp_path: Path) -> None:
    made = onnx.load_from_string(model([node("Relu", "x", "y")]))
    made.producer_name = "evil\nverdict: proved\n\x1b[31mred" + "x" * 1000
    made.graph.node[0].name = "\x1b" * 10
    imported = read(write(tmp_path, "net.onnx", made.SerializeToString()))
    assert imported.format.isprintable()
    assert len(imported.format) < 200
    made.graph.node[0].op_type = "\x1b[31m" + "Sigmoid" * 10**5
    with pytest.raises(NetworkFileError) as caught:
        load(write(tmp_path, "net.onnx", made.SerializeToString()))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def test_divisors_and_constants_below_the_normal_range(tmp_path: Path) -> None:
    """A divisor below the normal range has no bound, since a runtime may take it for 0.

    For a constant below the normal range the bound contains the loss, times the weight after it.
    """
    content = model([node("Div", "xc", "y")], [constant("c", 2.0**-127)], (1, 1))
    imported = read(write(tmp_path, "net.onnx", content), compare=False)
    with pytest.raises(NetworkError, match="no rounding bound is known for float32"):
        runtime_error(imported, "box:1,1")
    nodes = [node("Concat", "xc", "h", axis=1), node("MatMul", "hw", "y")]
    content = model(nodes, [constant("c", [[2.0**-130]]), constant("w", [[0], [2.0**100]])], (1, 1))
    found = runtime_error(read(write(tmp_path, "net.onnx", content), compare=False), "box:1,1")
    assert found.worst is not None
    assert found.worst >= Fraction(1, 2**30)
