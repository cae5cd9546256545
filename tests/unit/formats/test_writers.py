"""Networks written in every format: reading back, names, rounding, refusals, whole files."""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from polyrelu import Network, NetworkError, NetworkFileError, PolyreluError, from_arrays, load, read
from polyrelu.exact import RationalMatrix, as_sparse
from polyrelu.formats import WRITTEN, save, save_nnet, save_onnx, save_torch
from polyrelu.formats.graph import tensors
from polyrelu.formats.graph.lowering import lower
from polyrelu.formats.graph.values import Graph
from polyrelu.network import Block, Layer, LeakyStack

SHARED = os.environ.get("POLYRELU_SHARED")
THIRDS = from_arrays([([["1/3", 1]], [0]), ([[2]], ["1/7"])])
FLOATS = [ending for ending in WRITTEN if ending != ".json"]


def need(ending: str) -> None:
    """Skip a test where the package of the format is not installed."""
    packages = {".onnx": "onnx", ".pt": "torch", ".pth": "torch"}
    if ending in packages:
        pytest.importorskip(packages[ending])


def skipping_network() -> Network:
    """A network whose third layer reads all layers before it, the input with sparse weights."""
    first, second = from_arrays([([[1, -2], [3, 4]], [5, 6]), ([[1, -1], [2, 1]], [0, -1])]).layers
    sparse = as_sparse(RationalMatrix.from_rows([[0, "1/2"]]))
    blocks = (
        Block(0, sparse),
        Block(1, RationalMatrix.from_rows([[7, 8]])),
        Block(2, RationalMatrix.from_rows([[-1, "3/4"]])),
    )
    third = Layer(blocks, RationalMatrix.column(["1/8"]))
    return Network(2, (first, second, third))


@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.parametrize("numbers", ["float32", "float64"])
def test_read_back(ending: str, numbers: str, tmp_path: Path) -> None:
    """The weights are random floats of all sizes, subnormal ones included."""
    need(ending)
    rng = np.random.default_rng(0)
    scales = 10.0 ** rng.integers(-45, 38, size=(4, 3)).astype(float)
    weight = (rng.normal(size=(4, 3)) * scales).astype(numbers)
    weight[0, 0] = np.finfo(numbers).smallest_subnormal
    network = from_arrays([(weight, np.arange(4.0)), (np.ones((2, 4)), np.zeros(2))])
    written = save(network, tmp_path / f"net{ending}")
    assert (written.files, written.exact) == ((tmp_path / f"net{ending}",), True)
    expected = {".json": "exact rationals", ".nnet": "decimal text"}.get(ending, numbers)
    assert written.numbers == expected
    assert load(tmp_path / f"net{ending}") == network


@pytest.mark.parametrize("ending", FLOATS)
def test_the_largest_difference_is_exact(ending: str, tmp_path: Path) -> None:
    need(ending)
    path = tmp_path / f"net{ending}"
    for numbers in (None, "float32", "float64"):
        written = save(THIRDS, path, numbers=numbers)
        back = load(path)
        differences = [
            abs(a - b)
            for one, other in zip(THIRDS.layers, back.layers, strict=True)
            for matrix, found in ((one.weight, other.weight), (one.bias, other.bias))
            for a, b in zip(matrix.entries(), found.entries(), strict=True)
        ]
        assert written.largest_difference == max(differences) > 0
        assert not written.exact


@pytest.mark.parametrize("ending", FLOATS)
def test_numbers_round_once(ending: str, tmp_path: Path) -> None:
    """Rounded to float64 first, this number would become a tie and go to the other float32."""
    need(ending)
    number = 1 + Fraction(1, 2**24) + Fraction(1, 2**60)
    save(from_arrays([([[number]], [0])]), tmp_path / f"net{ending}", numbers="float32")
    assert load(tmp_path / f"net{ending}").weight(1)[0, 0] == 1 + Fraction(1, 2**23)


@pytest.mark.parametrize("ending", WRITTEN)
def test_the_same_bytes_every_time(ending: str, tmp_path: Path) -> None:
    need(ending)
    contents = []
    for name in ("a", "b"):
        (file,) = save(THIRDS, tmp_path / f"{name}{ending}").files
        contents.append(file.read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize("ending", WRITTEN)
def test_nothing_is_half_written(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the last step fails, the older file stays as it is, and no other file is left."""
    need(ending)
    path = tmp_path / f"net{ending}"
    save(THIRDS, path)
    before = path.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(PolyreluError, match="cannot write: No space left"):
        save(from_arrays([([[5]], [5])]), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_connections_that_skip_layers(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    network = skipping_network()
    written = save_onnx(network, tmp_path / "net.onnx")
    assert (written.numbers, written.exact) == ("float32", True)
    assert load(tmp_path / "net.onnx") == network
    for ending in (".npz", ".nnet", ".pt"):
        with pytest.raises(NetworkError, match=r"only plain stacks .* save .* as \.json or \.onnx"):
            save(network, tmp_path / f"net{ending}")


def operations(path: Path) -> list[str]:
    """The operations of an ONNX file that are no affine maps."""
    import onnx

    found = [node.op_type for node in onnx.load(str(path)).graph.node]
    return [name for name in found if name not in ("Gemm", "Sum")]


def leaky_network(*slopes: str, last: Literal["affine", "relu"] = "affine") -> Network:
    """A network with leaky ReLUs after its two hidden layers, or a ReLU at its end."""
    weights = [[[1, 2], [3, -1], [1, 1]], [[1, -1, 2], [2, 1, 1]], [[1, 3]]]
    graph = Graph()
    (value,) = graph.inputs([(1, 2)])
    for number, weight in enumerate(weights):
        value = tensors.matmul(graph, value, np.array(weight).T, np.arange(len(weight)))
        if number < 2:
            slope = np.array(Fraction(slopes[number]), dtype=object)
            value = tensors.leaky_relu(graph, value, slope)
    graph.finish([tensors.relu(graph, value) if last == "relu" else value])
    return lower(graph).network


FOUR = ["Relu", "Sub", "Mul", "Add"]


@pytest.mark.parametrize(
    ("slopes", "numbers", "expected"),
    [
        (("1/4", "1/4"), None, ["LeakyRelu", "LeakyRelu"]),
        (("1/4", "-1/2"), None, ["LeakyRelu", "LeakyRelu"]),
        (("0", "-1"), "float64", ["Relu", "Abs"]),
        (("0", "3"), "float64", ["Relu", *FOUR]),
        (("1/10", "1/4"), None, FOUR + FOUR),
        (("1/10", "1/4"), "float32", ["LeakyRelu", "LeakyRelu"]),
    ],
)
@pytest.mark.parametrize("last", ["affine", "relu"])
def test_leaky_relus(
    slopes: tuple[str, str],
    numbers: str | None,
    expected: list[str],
    last: Literal["affine", "relu"],
    tmp_path: Path,
) -> None:
    """They are written as such, a slope that is no float being rounded as a weight is."""
    pytest.importorskip("onnx")
    network = leaky_network(*slopes, last=last)
    written = save(network, tmp_path / "net.onnx", numbers=numbers)
    ends = ["Relu"] if last == "relu" else []
    assert operations(tmp_path / "net.onnx") == expected + ends
    assert bool(written.notes) == ("Sub" in expected)
    type_ = np.float32 if written.numbers == "float32" else np.float64
    rounded = [Fraction(float(type_(Fraction(slope)))) for slope in slopes]
    moved = [abs(near - Fraction(slope)) for near, slope in zip(rounded, slopes, strict=True)]
    assert written.largest_difference == max(moved)
    back = read(tmp_path / "net.onnx")
    assert back.network == leaky_network(*map(str, rounded), last=last)
    assert back.comparison.runtime or back.comparison.reason.endswith("not installed")


def test_weights_that_are_exact_only_as_skipping_connections(tmp_path: Path) -> None:
    """As a stack of leaky ReLUs of slope 1/3 this network would have to be rounded."""
    pytest.importorskip("onnx")
    stack = from_arrays([([[3, 6], [9, -3]], [0, 3]), ([["3/2", "3/2"]], [1])])
    network = LeakyStack(Fraction(1, 3), stack).network()
    thirds = from_arrays([([[1, 2], [3, -1]], [0, 1]), ([["1/3", "1/3"]], [1])])
    assert save(network, tmp_path / "a.onnx").exact
    assert load(tmp_path / "a.onnx") == network
    assert operations(tmp_path / "a.onnx") == ["Relu"]
    assert not save(LeakyStack(Fraction(1, 3), thirds).network(), tmp_path / "b.onnx").exact
    assert set(FOUR) == set(operations(tmp_path / "b.onnx"))


def test_leaky_relus_have_no_place_in_other_formats(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    save(leaky_network("1/4", "1/4"), tmp_path / "net.onnx")
    for ending in (".npz", ".nnet", ".pt"):
        with pytest.raises(NetworkError, match=r"has leaky ReLUs.* and \.\w+ files hold no slopes"):
            save(tmp_path / "net.onnx", tmp_path / f"net{ending}")
    written = save(tmp_path / "net.onnx", tmp_path / "net.json")
    assert "written as ReLUs and connections that skip layers: leaky ReLU" in written.notes


@pytest.mark.parametrize("ending", [".npz", ".nnet", ".pt"])
def test_a_relu_at_the_end(ending: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="end in an affine layer, not in a ReLU"):
        save(from_arrays([([[1]], [0])], "relu"), tmp_path / f"net{ending}")
    assert list(tmp_path.iterdir()) == []


# --- Names of inputs and outputs ------------------------------------------------------------------


def model_with_names(path: Path, inputs: list[str], outputs: list[str]) -> None:
    """Write an ONNX file with named inputs of two entries and named outputs of one."""
    from onnx import TensorProto, helper, numpy_helper, save_model

    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name in names]
        for names, size in ((inputs, 2), (outputs, 1))
    ]
    weight = np.arange(2.0 * len(inputs) * len(outputs), dtype=np.float32)
    weights = numpy_helper.from_array(weight.reshape(2 * len(inputs), len(outputs)), "A")
    nodes = [
        helper.make_node("Concat", inputs, ["joined"], axis=1),
        helper.make_node("MatMul", ["joined", "A"], ["sum"]),
        helper.make_node("Split", ["sum"], outputs, axis=1),
    ]
    graph = helper.make_graph(nodes, "named", ends[0], ends[1], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=6)
    save_model(model, str(path))


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [(["obs"], ["act"]), (["W1", "b1"], ["z1", "y", "sizes"]), (["y"], ["x"])],
)
def test_names_are_kept_by_onnx(inputs: list[str], outputs: list[str], tmp_path: Path) -> None:
    """Also names that the writer would have given to other values."""
    pytest.importorskip("onnx")
    model_with_names(tmp_path / "a.onnx", inputs, outputs)
    first = read(tmp_path / "a.onnx")
    assert [name for name, _ in first.inputs] == inputs
    assert save(first, tmp_path / "b.onnx").notes == ()
    second = read(tmp_path / "b.onnx")
    assert (second.inputs, second.outputs) == (first.inputs, first.outputs)
    assert second.network == first.network
    assert second.comparison.runtime or second.comparison.reason.endswith("not installed")


def test_layers_as_large_as_their_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written is read again, where a shape of the same size would be too large."""
    pytest.importorskip("onnx")
    network = from_arrays([(np.eye(30).tolist(), [1] * 30)])
    save(network, tmp_path / "a.onnx")
    monkeypatch.setattr(tensors, "_MAX_ENTRIES", 500)
    assert read(tmp_path / "a.onnx").network == network


def test_names_without_a_place_are_said(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    model_with_names(tmp_path / "a.onnx", ["obs"], ["act"])
    for ending in (".json", ".npz", ".nnet"):
        written = save(tmp_path / "a.onnx", tmp_path / f"b{ending}")
        note = f"names of inputs and outputs ('obs', 'act') have no place in {ending} files"
        assert written.notes == (note,)
    assert save(THIRDS, tmp_path / "c.npz").notes == ()


@pytest.mark.slow
@pytest.mark.skipif(SHARED is None, reason="networks from elsewhere")
@pytest.mark.parametrize(
    "name",
    [
        "layerzoo/maxpool.onnx",
        "marabou_multiinput_add.onnx",
        "marabou_mnist5x20_leaky.onnx",
        "nnet_kerastestnetwork.h5",
        "rl_cartpole.onnx",
        "tll_n2_NM8_0.onnx",
    ],
)
def test_networks_from_elsewhere(name: str, tmp_path: Path) -> None:
    """Written as ONNX, exactly or not, and read back with the names of inputs and outputs."""
    assert SHARED is not None
    pytest.importorskip("onnx")
    pytest.importorskip("h5py")
    first = read(Path(SHARED, "nets", name), compare=False)
    written = save(first, tmp_path / "again.onnx")
    second = read(tmp_path / "again.onnx")
    assert second.inputs == first.inputs or not first.inputs
    assert second.outputs == first.outputs
    assert (second.network == first.network) == written.exact
    assert second.network.widths == first.network.widths


# --- Single formats -------------------------------------------------------------------------------


def test_nnet_decimals(tmp_path: Path) -> None:
    """Finite decimals are exact whatever their size; others get 17 digits."""
    tiny, long = Fraction(1, 10**900), Fraction(1, 5**400)
    network = from_arrays([([[tiny, long]], ["1/10"])])
    assert save_nnet(network, tmp_path / "net.nnet").exact
    assert load(tmp_path / "net.nnet") == network
    written = save_nnet(THIRDS, tmp_path / "net.nnet")
    assert "\n0.33333333333333333,1,\n" in (tmp_path / "net.nnet").read_text()
    assert written.largest_difference == Fraction(1, 3 * 10**17)
    smaller = from_arrays([([[Fraction(1, 3 * 10**1200)]], [0])])
    assert save_nnet(smaller, tmp_path / "net.nnet").largest_difference == Fraction(1, 3 * 10**1200)
    assert load(tmp_path / "net.nnet").weight(1).is_zero()


def test_nnet_normalises_nothing(tmp_path: Path) -> None:
    save_nnet(THIRDS, tmp_path / "net.nnet")
    plain = load(tmp_path / "net.nnet")
    assert read(tmp_path / "net.nnet").caveats == ()
    assert load(tmp_path / "net.nnet", normalisation="both") == plain


def test_a_module_takes_the_state_dict(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    network = from_arrays([([[1, 2], [3, 4], [5, 6]], [0, 1, 2]), ([[1, -1, 2]], [3])])
    save_torch(network, tmp_path / "net.pt")
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    module.load_state_dict(torch.load(tmp_path / "net.pt", weights_only=True))
    assert load(module) == network


@pytest.mark.parametrize(("ending", "package"), [(".onnx", "onnx"), (".pt", "torch")])
def test_without_the_package(
    ending: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(NetworkFileError, match=f"needs the package {package} .*pip install"):
        save(THIRDS, tmp_path / f"net{ending}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", FLOATS)
def test_numbers_beyond_the_range(ending: str, tmp_path: Path) -> None:
    need(ending)
    large = from_arrays([([[10**39]], [0])])
    assert save(large, tmp_path / f"net{ending}").numbers in ("float64", "decimal text")
    with pytest.raises(NetworkError, match="W1 has an entry beyond the range of float32"):
        save(large, tmp_path / f"net{ending}", numbers="float32")
    with pytest.raises(NetworkError, match="W1 has an entry beyond the range of float64"):
        save(from_arrays([([[Fraction(10**400, 3)]], [0])]), tmp_path / f"net{ending}")


def test_choices_that_mean_nothing(tmp_path: Path) -> None:
    with pytest.raises(NetworkFileError, match="networks are written as"):
        save(THIRDS, tmp_path / "net.txt")
    with pytest.raises(NetworkFileError, match="native files hold exact numbers"):
        save(THIRDS, tmp_path / "net.json", numbers="float32")
    with pytest.raises(PolyreluError, match="numbers: choose from 'float32', 'float64'"):
        save(THIRDS, tmp_path / "net.npz", numbers="float16")
    assert list(tmp_path.iterdir()) == []
