"""ONNX files with a classifier's head or a scaler, outputs by name, functions of a file, advice."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from polyrelu.errors import NetworkFileError
from polyrelu.formats import read
from polyrelu.network import Network, from_arrays
from tests.generators.onnx_files import constant, model, node, write

_W1 = [[1.0, -2.0], [0.5, 1.0], [-1.0, 3.0]]
_B1 = [0.5, -1, 2]
_W2 = [[1.0, -1.0, 2.0], [0.0, 4.0, 1.0], [2.0, 0.25, -1.0]]
_B2 = [1.0, 0, -0.5]


def _scores(count: int = 3) -> Network:
    return from_arrays([(_W1, _B1), (_W2[:count], _B2[:count])])


def _perceptron(count: int = 3) -> tuple[list[Any], list[Any]]:
    """Nodes that compute scores of the input x under the name ``s``, and their constants."""
    nodes = [
        node("MatMul", "xa", "h"),
        node("Add", "hb", "i"),
        node("Relu", "i", "j"),
        node("MatMul", "jc", "k"),
        node("Add", "kd", "s"),
    ]
    constants = [
        constant("a", np.transpose(_W1)),
        constant("b", _B1),
        constant("c", np.transpose(_W2[:count])),
        constant("d", _B2[:count]),
    ]
    return nodes, constants


def _classifier(count: int) -> Any:
    """A classifier as converters of scikit-learn write it: labels and probabilities.

    With two classes there is one score s, and the probabilities are 1 - σ(s) and σ(s).
    """
    nodes, constants = _perceptron(count if count > 2 else 1)
    ml, labels = "ai.onnx.ml", list(range(count))
    if count > 2:
        nodes.append(node("Softmax", "s", "p", axis=1))
    else:
        nodes += [node("Sigmoid", "s", "q"), node("Sub", "1q", "r"), node("Concat", "rq", "p")]
        nodes[-1].attribute.append(helper.make_attribute("axis", 1))
        constants.append(constant("1", [1.0]))
    nodes += [
        helper.make_node("ArgMax", ["p"], ["m"], axis=1),
        helper.make_node("ArrayFeatureExtractor", ["z", "m"], ["e"], domain=ml),
        helper.make_node("Cast", ["e"], ["f"], to=TensorProto.INT64),
        helper.make_node("Reshape", ["f", "g"], ["label"]),
        helper.make_node("Identity", ["p"], ["probabilities"]),
    ]
    constants += [constant("z", labels, np.int64), constant("g", [-1], np.int64)]
    content = onnx.load_from_string(model(nodes, constants, (1, 2)))
    content.opset_import.append(helper.make_opsetid(ml, 1))
    del content.graph.output[:]
    content.graph.output.extend(
        [
            helper.make_tensor_value_info("label", TensorProto.INT64, [None]),
            helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, count]),
        ]
    )
    return bytes(content.SerializeToString())


@pytest.mark.parametrize("count", [2, 3])
def test_the_scores_of_a_classifier(count: int, tmp_path: Path) -> None:
    path = write(tmp_path, "net.onnx", _classifier(count))
    kind = "Softmax" if count > 2 else "Sigmoid"
    with pytest.raises(NetworkFileError, match=rf"\({kind}\): .*; --strip-tail .* leaves it out"):
        read(path)
    imported = read(path, strip_tail=True)
    assert imported.network == _scores(3 if count > 2 else 1)
    (caution,) = imported.caveats
    assert caution.startswith(f"the operations after 's' were stripped ({kind}")
    assert "of which the file makes 'label', 'probabilities'" in caution
    assert imported.comparison.worst < 1
    assert imported.comparison.num_values == 5


def test_an_output_by_name(tmp_path: Path) -> None:
    """Scores beside a second output; one alone, an inner value, and one that is not there."""
    nodes, constants = _perceptron()
    nodes += [node("Neg", "j", "y")]
    content = model(nodes, constants, (1, 2), more_outputs=["s"])
    path = write(tmp_path, "net.onnx", content)
    assert read(path).network.num_outputs == 6
    imported = read(path, output_name="s")
    assert imported.network == _scores()
    assert "the output is the value 's' alone; outputs of the file that were not read: 'y'" in (
        imported.caveats
    )
    inner = read(path, output_name="i").network
    assert inner == from_arrays([(_W1, _B1)])
    with pytest.raises(NetworkFileError, match="computes no value 'w'; its outputs are 'y', 's'"):
        read(path, output_name="w")


def test_choices_of_outputs_are_for_onnx(tmp_path: Path) -> None:
    np.savez(tmp_path / "net.npz", W1=np.array(_W1), b1=np.array(_B1))
    with pytest.raises(NetworkFileError, match=r"--output-name .* means nothing for a .npz file"):
        read(tmp_path / "net.npz", output_name="y")


def test_another_output_helps_where_one_is_not_supported(tmp_path: Path) -> None:
    """The network ends in scores, and in their error function, which no tail is."""
    nodes, constants = _perceptron()
    nodes += [node("Erf", "s", "y")]
    content = model(nodes, constants, (1, 2), more_outputs=["s"])
    path = write(tmp_path, "net.onnx", content)
    says = r"\(Erf\): this operation is not supported; --output-name s \(output_name='s'\) reads"
    with pytest.raises(NetworkFileError, match=says):
        read(path)
    assert read(path, output_name="s").network == _scores()


@pytest.mark.parametrize(
    ("nodes", "shape"),
    [
        ([node("Softmax", "s", "t"), node("MatMul", "tc", "y")], 3),
        ([node("Erf", "s", "y")], 3),
        ([node("Softmax", "s", "t"), node("Add", "ts", "y")], 3),
    ],
)
def test_no_advice_where_none_helps(nodes: Sequence[Any], shape: int, tmp_path: Path) -> None:
    first, constants = _perceptron()
    path = write(tmp_path, "net.onnx", model([*first, *nodes], constants, (1, 2)))
    with pytest.raises(NetworkFileError, match=r"not supported$"):
        read(path)
    with pytest.raises(NetworkFileError, match=r"not supported$"):
        read(path, strip_tail=True)


def test_an_operation_of_another_domain_with_an_old_opset(tmp_path: Path) -> None:
    tree = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml")
    for version in (1, 9):
        content = onnx.load_from_string(model([tree], [], (1, 2), opset=version))
        content.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
        path = write(tmp_path, "net.onnx", content.SerializeToString())
        with pytest.raises(NetworkFileError, match=r"operation of 'ai\.onnx\.ml' is not supp") as e:
            read(path)
        assert "opset" not in str(e.value)


@pytest.mark.parametrize(
    ("operation", "says"),
    [
        ("LinearClassifier", r"one affine map without a neuron; polyrelu\.from_arrays\("),
        ("TreeEnsembleClassifier", "decision trees jump"),
        ("SVMRegressor", "is not piecewise linear"),
        ("Imputer", "'ai.onnx.ml' is not supported$"),
    ],
)
def test_models_of_scikit_learn_that_are_no_networks(
    operation: str, says: str, tmp_path: Path
) -> None:
    foreign = helper.make_node(operation, ["x"], ["y"], domain="ai.onnx.ml")
    content = onnx.load_from_string(model([foreign], [], (1, 2)))
    content.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    with pytest.raises(NetworkFileError, match=says):
        read(write(tmp_path, "net.onnx", content.SerializeToString()))


def test_the_advice_for_linear_models_works() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    points, labels = [[0, 0], [1, 3], [2, 1]], [0, 1, 0]
    chosen = linear.LogisticRegression().fit(points, labels)
    network = from_arrays([(chosen.coef_, chosen.intercept_)])
    assert float(network([1, 2])[0]) == pytest.approx(chosen.decision_function([[1, 2]])[0])
    fitted = linear.LinearRegression().fit(points, labels)
    network = from_arrays([([fitted.coef_], [fitted.intercept_])])
    assert float(network([1, 2])[0]) == pytest.approx(fitted.predict([[1, 2]])[0])


def test_several_open_inputs_get_no_advice(tmp_path: Path) -> None:
    """--input-shape is for one input."""
    for second in "xz":
        more = [second] if second != "x" else []
        content = model([node("Add", ["x", second], "y")], [], ("n", "m"), more_inputs=more)
        path = write(tmp_path, "net.onnx", content)
        with pytest.raises(NetworkFileError, match="is not fixed after the batch") as caught:
            read(path)
        assert ("--input-shape" in str(caught.value)) == (not more)
        if not more:
            assert read(path, input_shape=(1, 3)).network([1, 2, 3]) == _exactly(2, 4, 6)


def _exactly(*numbers: int) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, numbers))


# --- Functions of a file --------------------------------------------------------------------------


def _function(name: str, nodes: Sequence[Any], attributes: Sequence[str] = ()) -> Any:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_function("own", name, ["x"], ["y"], list(nodes), opsets, list(attributes))


def _call(name: str, x: str, y: str, **attributes: Any) -> Any:
    return helper.make_node(name, [x], [y], domain="own", **attributes)


def _with_functions(nodes: Sequence[Any], functions: Sequence[Any]) -> Any:
    content = onnx.load_from_string(model(nodes, [constant("b", [1.0, -2])], (1, 2), opset=17))
    content.opset_import.append(helper.make_opsetid("own", 1))
    content.functions.extend(functions)
    return bytes(content.SerializeToString())


def test_functions_of_the_file_are_put_in_their_place(tmp_path: Path) -> None:
    """A function that calls another one with a slope: at (-4, 4) it gives (-1, 4) - (1, -2)."""
    leaky = helper.make_node("LeakyRelu", ["x"], ["y"])
    leaky.attribute.append(
        onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="slope")
    )
    inner = _function("Inner", [leaky], ["slope"])
    outer = _function("Outer", [_call("Inner", "x", "y", slope=0.25)])
    nodes = [_call("Outer", "x", "h"), node("Sub", "hb", "y")]
    imported = read(write(tmp_path, "net.onnx", _with_functions(nodes, [inner, outer])))
    assert imported.network([-4, 4]) == _exactly(-2, 6)
    assert imported.comparison.worst < 1


def test_functions_that_never_end_or_explode(tmp_path: Path) -> None:
    loop = [_function("A", [_call("B", "x", "y")]), _function("B", [_call("A", "x", "y")])]
    path = write(tmp_path, "net.onnx", _with_functions([_call("A", "x", "y")], loop))
    with pytest.raises(NetworkFileError, match=r"its function '[AB]' calls itself"):
        read(path)
    doubling = [_function("F0", [node("Relu", "x", "y")])]
    doubling += [
        _function(f"F{n}", [_call(f"F{n - 1}", "x", "h"), _call(f"F{n - 1}", "h", "y")])
        for n in range(1, 60)
    ]
    path = write(tmp_path, "net.onnx", _with_functions([_call("F59", "x", "y")], doubling))
    with pytest.raises(NetworkFileError, match="its functions stand for more than 100000 nodes"):
        read(path)


def _pair(entries: list[float]) -> list[Fraction]:
    """The exact numbers of float32 for two inputs; one number is for both."""
    return [Fraction(float(np.float32(entry))) for entry in entries] * (3 - len(entries))


def _with_scaler(folder: Path, offset: list[float], scale: list[float]) -> Path:
    """A perceptron after a scaler of ai.onnx.ml, as skl2onnx exports pipelines of scikit-learn."""
    nodes = [
        helper.make_node(
            "Scaler", ["x"], ["s"], "scaler", domain="ai.onnx.ml", offset=offset, scale=scale
        ),
        node("MatMul", ["s", "w"], "h"),
        node("Relu", "h", "y"),
    ]
    content = onnx.load_from_string(model(nodes, [constant("w", [[1, -1], [2, 3]])], (1, 2)))
    content.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    return write(folder, "net.onnx", content.SerializeToString())


@pytest.mark.parametrize(
    ("offset", "scale"), [([1.0, 0.5], [2.0, 0.25]), ([1.0], [2.0]), ([0.1, 0.3], [3.0, 0.5])]
)
def test_scalers_of_pipelines(offset: list[float], scale: list[float], tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    imported = read(_with_scaler(tmp_path, offset, scale))
    assert imported.comparison.runtime
    assert imported.num_stored == 4 + len(offset) + len(scale)
    assert imported.rounding == ("none" if 0.1 not in offset else "attributes: stored")
    (a, b), (p, q) = (_pair(entries) for entries in (offset, scale))
    s, t = (5 - a) * p, (7 - b) * q
    assert imported.network.evaluate([[5, 7]])[0] == (s + 2 * t, max(-s + 3 * t, 0))


def test_scalers_of_other_sizes(tmp_path: Path) -> None:
    with pytest.raises(
        NetworkFileError, match=r"'scaler' \(Scaler\): 3 offsets and 1 scales for 2"
    ):
        read(_with_scaler(tmp_path, [1.0, 2.0, 3.0], [1.0]))


@pytest.mark.parametrize("operation", ["QuantizeLinear", "DequantizeLinear", "QLinearMatMul"])
def test_quantised_networks_are_named(operation: str, tmp_path: Path) -> None:
    nodes = [node(operation, ["x", "s"], "y")]
    path = write(tmp_path, "net.onnx", model(nodes, [constant("s", 0.5)]))
    with pytest.raises(NetworkFileError, match=r"a quantised network rounds .* the float model$"):
        read(path)
