"""``.mat`` files that are made with scipy or byte by byte, and perceptrons of scikit-learn."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.exact import FLOAT32
from polyrelu.formats import read
from polyrelu.formats.graph.lowering import lower
from polyrelu.formats.imported import Draft
from polyrelu.formats.keras.reader import read_h5
from polyrelu.formats.matlab.files import Cells, Text, read_mat5
from polyrelu.formats.matlab.reader import read_mat
from polyrelu.formats.nnet import read_nnet
from polyrelu.formats.options import ReadOptions, Rounding
from polyrelu.formats.sklearn import draft_of_mlp, is_mlp
from polyrelu.network import Network, from_arrays
from tests.generators.campaigns import few_and_all
from tests.generators.files import NETS as _NETS

scipy_io = pytest.importorskip("scipy.io")

Array = NDArray[Any]

_W = [np.array([[1.5, -2.0], [0.25, 3.0], [0.0, 1.0]]), np.array([[1.0, -1.0, 0.125]])]
_B = [np.array([[0.5], [-1.0], [2.0]]), np.array([[0.1]])]


def _network(draft: Draft) -> Network:
    assert draft.graph is not None
    return lower(draft.graph).network


def _expected() -> Network:
    return from_arrays([(w, b[:, 0]) for w, b in zip(_W, _B, strict=True)])


def _cells(entries: Sequence[Any], column: bool = False) -> NDArray[np.object_]:
    cells = np.empty((len(entries), 1) if column else (1, len(entries)), dtype=object)
    for number, entry in enumerate(entries):
        cells.reshape(-1)[number] = entry
    return cells


def _mat(folder: Path, compressed: bool = False, **variables: Any) -> Path:
    path = folder / "net.mat"
    scipy_io.savemat(path, variables, do_compression=compressed)
    return path


def _good(folder: Path, compressed: bool = False, **more: Any) -> Path:
    return _mat(folder, compressed, **{"W": _cells(_W), "b": _cells(_B), **more})


# --- Networks of .mat files -----


@pytest.mark.parametrize("compressed", [False, True])
def test_weights_in_cells(compressed: bool, tmp_path: Path) -> None:
    draft = read_mat(_good(tmp_path, compressed), ReadOptions())
    assert _network(draft) == _expected()
    assert draft.caveats == [
        "the file names no activations (act_fcns): a ReLU between consecutive affine maps is "
        "assumed"
    ]
    assert (draft.dtypes, draft.num_stored, draft.arithmetic) == ({"float64"}, 13, "float64")
    assert draft.steps == ["affine [1, 3]", "relu [1, 3]", "affine [1, 1]"]


@pytest.mark.parametrize(
    "names",
    [
        np.array(["relu", "linear"]),
        np.array(["poslin", "purelin"]),
        _cells(["relu", "linear"]),
        _cells(["relu", "purelin"], column=True),
    ],
)
def test_named_activations(names: Any, tmp_path: Path) -> None:
    draft = read_mat(_good(tmp_path, act_fcns=names), ReadOptions())
    assert _network(draft) == _expected()
    assert draft.caveats == []


def test_linear_layers_and_a_relu_at_the_end(tmp_path: Path) -> None:
    draft = read_mat(_good(tmp_path, act_fcns=_cells(["linear", "relu"])), ReadOptions())
    network = _network(draft)
    assert str(network.architecture) == "2-1 (trailing ReLU)"
    for point in ([0, 0], [1, 2], [-4, 1]):
        expected = _W[1] @ (_W[0] @ np.array(point) + _B[0][:, 0]) + 0.125
        assert network(point)[0] == max(
            Fraction(0), Fraction(float(expected[0])) - Fraction(1, 8) + Fraction(0.1)
        )


def test_columns_rows_and_number_types(tmp_path: Path) -> None:
    """Cells in a column, biases as rows, float32 and integers give the same network."""
    weights = _cells([_W[0].astype(np.float32), (_W[1] * 8).astype(np.int16)], column=True)
    draft = read_mat(_mat(tmp_path, W=weights, b=_cells([b.T for b in _B])), ReadOptions())
    assert _network(draft) == from_arrays([(_W[0], _B[0][:, 0]), (_W[1] * 8, _B[1][:, 0])])
    assert draft.dtypes == {"float32", "int16", "float64"}
    assert draft.arithmetic == ""


def test_other_variables_are_named(tmp_path: Path) -> None:
    draft = read_mat(_good(tmp_path, means_for_scaling=np.zeros(3), s={"a": 1}), ReadOptions())
    assert "variables that were not read: means_for_scaling, s" in draft.caveats


@pytest.mark.parametrize("name", ["act_fcns", "activation_fcns", "actFunctions", "activations"])
def test_variables_that_name_activations(name: str, tmp_path: Path) -> None:
    good: dict[str, Any] = {name: _cells(["relu", "linear"])}
    draft = read_mat(_good(tmp_path, **good), ReadOptions())
    assert (_network(draft), draft.caveats) == (_expected(), [])
    other: dict[str, Any] = {name: _cells(["tansig", "linear"])}
    path = _good(tmp_path, **other)
    _refused("'tansig' is not supported", lambda: read_mat(path, ReadOptions()))


def test_more_names_of_activations_than_layers(tmp_path: Path) -> None:
    draft = read_mat(_good(tmp_path, act_fcns=_cells(["relu"] * 3)), ReadOptions())
    assert str(_network(draft).architecture) == "2-3-1 (trailing ReLU)"
    assert draft.caveats == [
        "act_fcns has 3 names of activations for 2 layers, all 'relu': every layer has this one"
    ]


def test_names_of_activations_that_differ(tmp_path: Path) -> None:
    more: dict[str, Any] = {
        "act_fcns": _cells(["relu", "linear"]),
        "activations": _cells(["relu", "relu"]),
    }
    path = _good(tmp_path, **more)
    _refused("they name different activations", lambda: read_mat(path, ReadOptions()))


def test_values_of_activations_are_not_their_names(tmp_path: Path) -> None:
    draft = read_mat(_good(tmp_path, activations=np.eye(3)), ReadOptions())
    assert "variables that were not read: activations" in draft.caveats


def test_further_dimensions_of_size_one(tmp_path: Path) -> None:
    """Layers of images of size 1: W of shape (out, in, 1, 1), b of shape (out, 1, 1)."""
    weights = _cells([w.reshape(*w.shape, 1, 1) for w in _W])
    biases = _cells([b.reshape(*b.shape, 1) for b in _B])
    assert _network(read_mat(_mat(tmp_path, W=weights, b=biases), ReadOptions())) == _expected()
    _refused(
        r"W\{1\}: expected a matrix of real numbers",
        lambda: read_mat(_good(tmp_path, W=_cells([np.ones((3, 2, 2)), _W[1]])), ReadOptions()),
    )


@pytest.mark.parametrize("compressed", [False, True])
def test_sparse_matrices(compressed: bool, tmp_path: Path) -> None:
    """Zeros that are stored or not, an empty column, and more room than entries."""
    sparse = pytest.importorskip("scipy.sparse")
    full = np.array([[0.0, 1.5, 0, -2], [0, 0, 0, 0.25], [0, 0, 0, 0], [0, -3, 0, 1]])
    stored = sparse.csc_matrix(full)
    stored.data[0] = 0.0
    full[0, 1] = 0.0
    bias = sparse.csc_matrix(np.array([[0.0], [2], [0], [-1]]))
    path = _mat(tmp_path, compressed, W=_cells([stored]), b=_cells([bias]))
    network = _network(read_mat(path, ReadOptions()))
    assert network == from_arrays([(full, np.array([0.0, 2, 0, -1]))])


@pytest.mark.parametrize(
    ("rows", "starts", "says"),
    [
        ([0, 5], [0, 1, 2], "a sparse matrix is not readable"),
        ([0, -1], [0, 1, 2], "a sparse matrix is not readable"),
        ([0, 1], [0, 2, 1], "a sparse matrix is not readable"),
        ([0, 1], [0, 1, 9], "a sparse matrix is not readable"),
        ([0, 1], [0, 2], "a sparse matrix is not readable"),
        ([0, 0], [0, 2, 2], "a sparse matrix has two entries at one place"),
    ],
)
def test_damaged_sparse_matrices(
    rows: list[int], starts: list[int], says: str, tmp_path: Path
) -> None:
    def integers(*numbers: int) -> bytes:
        content = struct.pack(f"<{len(numbers)}i", *numbers)
        return struct.pack("<II", 5, len(content)) + content + b"\0" * (-len(content) % 8)

    matrix = integers(5, len(rows)) + integers(2, 2)
    matrix += struct.pack("<II", 1, 1) + b"x".ljust(8, b"\0")
    matrix += integers(*rows) + integers(*starts) + struct.pack("<II2d", 9, 16, 1.5, -2.0)
    header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    path = tmp_path / "x.mat"
    path.write_bytes(header + struct.pack("<II", 14, len(matrix)) + matrix)
    with pytest.raises(NetworkFileError, match=says):
        read_mat5(path, lambda name: name == "x")


_BAD_MAT: dict[str, tuple[dict[str, Any], str]] = {
    "no b": ({"b": None}, "expected the cell arrays W and b; the file holds W"),
    "nothing": ({"W": None, "b": None}, "the file holds nothing"),
    "W a matrix": ({"W": np.eye(2)}, "W: expected a cell array of matrices"),
    "W of two dimensions": (
        {"W": np.array([[_W[0], _W[1]], [_W[0], _W[1]]], dtype=object)},
        "W: expected a cell",
    ),
    "a cell of text": (
        {"W": _cells([_W[0], "abc"])},
        r"W\{2\}: expected a matrix of real numbers",
    ),
    "a cell of complex numbers": (
        {"W": _cells([_W[0] + 1j, _W[1]])},
        r"W\{1\}: expected a matrix of real",
    ),
    "a cell of truth values": (
        {"W": _cells([_W[0] > 0, _W[1]])},
        r"W\{1\}: expected a matrix",
    ),
    "a bias that is a matrix": (
        {"b": _cells([np.eye(3), _B[1]])},
        r"b\{1\}: expected a column, got shape \(3, 3\)",
    ),
    "a bias too few": (
        {"b": _cells(_B[:1])},
        "W has 2 cells and b 1; expected one of each a layer",
    ),
    "no layers": ({"W": _cells([]), "b": _cells([])}, "(W has 0 cells|expected a cell array)"),
    "a bias too long": (
        {"b": _cells([np.ones((4, 1)), _B[1]])},
        r"layer 1: expected shapes \(in, out\) and \(out,\)",
    ),
    "layers that do not fit": (
        {"W": _cells([_W[0], np.ones((1, 2))])},
        "layer 2: it takes 2 values, the one before",
    ),
    "an empty matrix": ({"W": _cells([np.zeros((3, 0)), _W[1]])}, "layer 1: expected shapes"),
    "nan": ({"W": _cells([_W[0] * np.nan, _W[1]])}, r"layer 1: entry \[0, 0\] is nan"),
    "tansig": (
        {"act_fcns": _cells(["tansig", "purelin"])},
        "layer 1: the activation 'tansig' is not supported; supp",
    ),
    "three activations": (
        {"act_fcns": _cells(["relu", "relu", "linear"])},
        "act_fcns: 3 names of activations for 2 layers",
    ),
    "activations as numbers": (
        {"act_fcns": np.eye(2)},
        "act_fcns: 0 names of activations for 2 layers",
    ),
}


def _refused(says: str, act: Callable[[], object]) -> None:
    with pytest.raises(NetworkError, match=says) as caught:
        act()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", _BAD_MAT)
def test_mat_files_that_are_refused(name: str, tmp_path: Path) -> None:
    changes, says = _BAD_MAT[name]
    variables = {"W": _cells(_W), "b": _cells(_B), **changes}
    path = _mat(tmp_path, **{key: value for key, value in variables.items() if value is not None})
    _refused(says, lambda: read_mat(path, ReadOptions()))


def test_a_normalisation_of_mat_files_is_refused(tmp_path: Path) -> None:
    _refused(
        "a normalisation in a .mat file is not read",
        lambda: read_mat(_good(tmp_path), ReadOptions(normalisation="inputs")),
    )


# --- The format -----


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_values_are_those_that_scipy_reads(kind: str, compressed: bool, tmp_path: Path) -> None:
    numbers = (np.random.default_rng(4).normal(size=(3, 4)) * 50).astype(kind)
    variables = {
        "a": numbers,
        "whole": np.arange(6.0).reshape(2, 3),
        "text": np.array(["ab", "cde"]),
        "none": np.zeros((0, 3)),
        "deep": np.arange(8.0).reshape(2, 2, 2),
        "cells": _cells([numbers, "word", _cells([1.5])]),
        "s": {"x": 1},
        "z": 1 + 2j,
        "t": True,
        "letters": np.array("ü∂"),
    }
    path = _mat(tmp_path, compressed, **variables)
    names, values = read_mat5(path, lambda name: name in variables)
    assert names == [name for name, _, _ in scipy_io.whosmat(path)]
    theirs = scipy_io.loadmat(path, mat_dtype=True)
    for name in ("a", "whole", "none", "deep"):
        ours = values[name]
        assert isinstance(ours, np.ndarray)
        assert ours.dtype == theirs[name].dtype
        assert np.array_equal(ours, theirs[name])
    assert values["text"] == Text(["ab ", "cde"])
    assert values["letters"] == Text(["ü∂"])
    assert values["s"] is values["z"] is values["t"] is None
    cells = values["cells"]
    assert isinstance(cells, Cells)
    assert (cells.shape, cells.entries[1]) == ((1, 3), Text(["word"]))
    assert np.array_equal(np.asarray(cells.entries[0]), numbers)


def _element(kind: int, content: bytes, order: str = "<") -> bytes:
    return struct.pack(f"{order}II", kind, len(content)) + content + bytes(-len(content) % 8)


def _matrix(name: bytes, kind: int, shape: Sequence[int], *parts: bytes, order: str = "<") -> bytes:
    return _element(
        14,
        b"".join(
            [
                _element(6, struct.pack(f"{order}II", kind, 0), order),
                _element(5, struct.pack(f"{order}{len(shape)}i", *shape), order),
                _element(1, name, order),
                *parts,
            ]
        ),
        order,
    )


def _bytes(*elements: bytes, order: str = "<") -> bytes:
    mark = {"<": b"IM", ">": b"MI"}[order]
    return (
        b"MATLAB 5.0 MAT-file".ljust(124)
        + struct.pack(f"{order}H", 0x0100)
        + mark
        + b"".join(elements)
    )


def _doubles(*entries: float, order: str = "<") -> bytes:
    return _element(9, struct.pack(f"{order}{len(entries)}d", *entries), order)


def test_files_of_the_other_byte_order(tmp_path: Path) -> None:
    path = tmp_path / "net.mat"
    cells = [
        _matrix(
            name,
            1,
            (1, 1),
            _matrix(b"", 6, shape, _doubles(*entries, order=">"), order=">"),
            order=">",
        )
        for name, shape, entries in ((b"W", (1, 2), (1.5, -2.0)), (b"b", (1, 1), (0.25,)))
    ]
    path.write_bytes(_bytes(*cells, order=">"))
    assert _network(read_mat(path, ReadOptions())) == from_arrays([([[1.5, -2.0]], [0.25])])


_ONE = _matrix(b"W", 6, (1, 1), _doubles(1.0))

_BAD_BYTES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "not a MAT file of version 5 to 7; save it with the option -v7"),
    "text": (b"W = {1}" * 40, "not a MAT file of version 5 to 7"),
    "version 7.3": (
        b"MATLAB 7.3 MAT-file, Platform".ljust(512) + b"\x89HDF",
        "saved as version 7.3; save it again",
    ),
    "HDF5": (b"\x89HDF\r\n\x1a\n", "saved as version 7.3"),
    "another version": (_bytes(_ONE)[:124] + b"\0\3IM" + _ONE, "not a MAT file of version 5 to 7"),
    "a number alone": (_bytes(_doubles(1.0)), "an element of type 9 where a variable was expected"),
    "half an element": (
        _bytes(_ONE)[:-12],
        "an element of [0-9]+ bytes, of which [0-9]+ are there",
    ),
    "half a tag": (_bytes(_ONE) + b"\1\2\3", "not a readable .mat file"),
    "half a compressed one": (
        _bytes(struct.pack("<II", 15, 20) + zlib.compress(_ONE)[:20]),
        "not a readable .mat",
    ),
    "compressed nonsense": (
        _bytes(struct.pack("<II", 15, 4) + b"abcd"),
        "not a readable .mat file",
    ),
    "two of one name": (_bytes(_ONE, _ONE), "two variables 'W'"),
    "a name that is none": (
        _bytes(_matrix(b"\x07", 6, (1, 1), _doubles(1.0))),
        "the name of a variable is not",
    ),
    "no shape": (_bytes(_element(14, _element(6, bytes(8)))), "a matrix ends early"),
    "a negative size": (
        _bytes(_matrix(b"W", 6, (1, -1), _doubles())),
        "flags or shape of a matrix are not readable",
    ),
    "too few numbers": (
        _bytes(_matrix(b"W", 6, (1, 2), _doubles(1.0))),
        "1 numbers where 2 were expected",
    ),
    "half a number": (
        _bytes(_matrix(b"W", 6, (1, 1), _element(9, b"abc"))),
        "not a readable .mat file",
    ),
    "numbers of no type": (
        _bytes(_matrix(b"W", 6, (1, 1), _element(99, bytes(8)))),
        "numbers of type 99",
    ),
    "numbers too large": (
        _bytes(_matrix(b"W", 8, (1, 1), _doubles(300.0))),
        "numbers that their type does not hold",
    ),
    "no numbers": (_bytes(_matrix(b"W", 6, (1, 1))), "a matrix ends early"),
    "too few cells": (
        _bytes(_matrix(b"W", 1, (1, 2), _matrix(b"", 6, (1, 1), _doubles(1.0)))),
        "1 cells where 2",
    ),
    "a cell that is none": (
        _bytes(_matrix(b"W", 1, (1, 1), _doubles(1.0))),
        "1 cells where 1 were expected",
    ),
    "too few letters": (
        _bytes(_matrix(b"W", 4, (1, 3), _element(16, b"ab"))),
        "2 characters where 3 were expected",
    ),
    "letters of no type": (_bytes(_matrix(b"W", 4, (1, 1), _doubles(1.0))), "text of type 9"),
    "letters that are none": (
        _bytes(_matrix(b"W", 4, (1, 1), _element(16, b"\xff"))),
        "not a readable .mat file",
    ),
}


@pytest.mark.parametrize("name", _BAD_BYTES)
def test_bytes_that_are_refused(name: str, tmp_path: Path) -> None:
    content, says = _BAD_BYTES[name]
    path = tmp_path / "net.mat"
    path.write_bytes(content)
    _refused(says, lambda: read_mat(path, ReadOptions()))


def test_cells_within_cells_have_an_end(tmp_path: Path) -> None:
    inner = _doubles(1.0)
    for _ in range(3000):
        inner = _matrix(b"", 1, (1, 1), inner)
    path = tmp_path / "net.mat"
    path.write_bytes(_bytes(_matrix(b"W", 1, (1, 1), inner)))
    _refused("nested too deeply", lambda: read_mat(path, ReadOptions()))


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("count", few_and_all(400, 1500))
def test_damaged_mat_files_give_a_network_or_one_line(
    compressed: bool, count: int, tmp_path: Path
) -> None:
    path = _good(tmp_path, compressed, act_fcns=np.array(["relu", "linear"]))
    content, chance, survived = path.read_bytes(), random.Random(7), 0
    for number in range(count):
        damaged = bytearray(content)
        position = chance.randrange(100, len(damaged))
        if number % 3 == 0:
            del damaged[position:]
        elif number % 3 == 1:
            damaged[position] ^= 1 << chance.randrange(8)
        else:
            damaged[position : position + chance.randint(0, 4)] = chance.randbytes(
                chance.randint(0, 5)
            )
        path.write_bytes(bytes(damaged))
        try:
            _network(read_mat(path, ReadOptions()))
        except NetworkError as error:
            assert "\n" not in str(error)  # noqa: PT017
        else:
            survived += 1
    assert count / 75 < survived < 2 * count / 3


# --- Files from elsewhere -----


def test_vcas_in_four_formats() -> None:
    """The .mat file has the float64 nearest to the decimals of .nnet, the .h5 file the float32."""
    path = _NETS / "vcas_pra01_20hu.mat"
    if not path.is_file():
        pytest.skip("the collection of networks is not here")
    draft = read_mat(path, ReadOptions())
    assert draft.caveats == []
    mat, h5 = _network(draft), _network(read_h5(path.with_suffix(".h5"), ReadOptions()))
    nnet = {
        rule: read_nnet(path.with_suffix(".nnet"), ReadOptions(Rounding(text=rule))).network
        for rule in ("exact", "float64", "float32")
    }
    assert mat == nnet["float64"]
    assert h5 == nnet["float32"]
    assert len({network.sha256 for network in nnet.values() if network is not None}) == 3
    for layer in range(1, 7):
        rounded = [FLOAT32.nearest(entry) for entry in mat.weight(layer).entries()]
        assert rounded == list(h5.weight(layer).entries())


# --- scikit-learn -----

_TABLE = np.random.default_rng(0).normal(size=(40, 3))


def _mlp(kind: str, target: Any, **settings: Any) -> Any:
    network = pytest.importorskip("sklearn.neural_network")
    return getattr(network, kind)(
        hidden_layer_sizes=(4, 3), max_iter=5, random_state=0, **settings
    ).fit(_TABLE, target)


@pytest.mark.filterwarnings("ignore")
def test_regressors() -> None:
    mlp = _mlp("MLPRegressor", _TABLE @ [[1, 0], [2, 1], [0, 1]])
    draft = draft_of_mlp(mlp, ReadOptions())
    network = _network(draft)
    assert str(network.architecture) == "3-4-3-2"
    for x, y in zip(_TABLE[:5], mlp.predict(_TABLE[:5]), strict=True):
        assert [float(value) for value in network(x.tolist())] == pytest.approx(
            y.tolist(), rel=1e-12, abs=1e-12
        )
    weights = [Fraction(float(entry)) for entry in mlp.coefs_[0].T.reshape(-1)]
    assert list(network.weight(1).entries()) == weights
    assert (draft.format, draft.caveats, draft.num_stored) == (
        "scikit-learn MLPRegressor",
        [],
        16 + 15 + 8,
    )
    assert draft.runtime == "scikit-learn is not used for comparison"


@pytest.mark.filterwarnings("ignore")
def test_identity_makes_an_affine_map() -> None:
    mlp = _mlp("MLPRegressor", _TABLE[:, 0], activation="identity")
    network = _network(draft_of_mlp(mlp, ReadOptions()))
    assert str(network.architecture) == "3-1"
    assert float(network(_TABLE[0].tolist())[0]) == pytest.approx(
        mlp.predict(_TABLE[:1])[0], rel=1e-12
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("classes", "tail"), [(2, "logistic"), (3, "softmax")])
def test_classifiers_end_in_a_tail(classes: int, tail: str) -> None:
    mlp = _mlp("MLPClassifier", np.arange(40) % classes)
    _refused(
        f"go through {tail}, which is not piecewise linear; strip_tail=True leaves it out",
        lambda: read(mlp),
    )
    draft = draft_of_mlp(mlp, ReadOptions(strip_tail=True))
    assert draft.caveats == [
        f"the {tail} after the last layer was stripped: outputs are its inputs"
    ]
    network = _network(draft)
    for x, shares in zip(_TABLE[:5], mlp.predict_log_proba(_TABLE[:5]), strict=True):
        outputs = [float(value) for value in network(x.tolist())]
        differences = outputs if classes == 2 else [outputs[1] - outputs[0]]
        assert differences[0] == pytest.approx(shares[1] - shares[0], abs=1e-9)


def _stand_in(**changes: Any) -> Any:
    """An object with the attributes of a fitted perceptron."""
    attributes = {
        "hidden_layer_sizes": (2,),
        "activation": "relu",
        "solver": "adam",
        "fit": None,
        "out_activation_": "identity",
        "coefs_": [np.ones((2, 2), np.float32), np.ones((2, 1), np.float32)],
        "intercepts_": [np.zeros(2, np.float32), np.zeros(1, np.float32)],
        **changes,
    }
    return SimpleNamespace(
        **{name: value for name, value in attributes.items() if value != "missing"}
    )


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"coefs_": "missing"},
            "this SimpleNamespace has no weights yet: call its method fit first",
        ),
        (
            {"activation": "tanh"},
            "the activation 'tanh' of this SimpleNamespace is not supported; supported are relu",
        ),
        (
            {"out_activation_": "cosine"},
            "the output activation 'cosine' of this SimpleNamespace is not supported",
        ),
        ({"out_activation_": "softmax"}, "go through softmax"),
        (
            {"coefs_": [np.ones((2, 2)), np.ones((3, 1))]},
            "layer 2: it takes 3 values, the one before gives 2",
        ),
        ({"intercepts_": [np.zeros(3), np.zeros(1)]}, "layer 1: expected shapes"),
        ({"coefs_": [np.full((2, 2), np.inf), np.ones((2, 1))]}, r"layer 1: entry \[0, 0\] is inf"),
        ({"coefs_": [], "intercepts_": []}, "there are no layers"),
    ],
)
def test_perceptrons_that_are_refused(changes: dict[str, Any], says: str) -> None:
    _refused(says, lambda: draft_of_mlp(_stand_in(**changes), ReadOptions()))


def test_what_looks_like_a_perceptron() -> None:
    assert is_mlp(_stand_in())
    assert is_mlp(_stand_in(coefs_="missing"))
    assert not is_mlp([([[1.0]], [0.0])])
    draft = draft_of_mlp(_stand_in(), ReadOptions())
    assert (draft.dtypes, draft.arithmetic) == ({"float32"}, "float32")


def test_unfitted_perceptrons_of_scikit_learn() -> None:
    network = pytest.importorskip("sklearn.neural_network")
    for kind in ("MLPClassifier", "MLPRegressor"):
        estimator = getattr(network, kind)()
        assert is_mlp(estimator)
        read_it = partial(draft_of_mlp, estimator, ReadOptions())
        _refused(f"this {kind} has no weights yet", read_it)


def test_errors_of_files_name_the_file(tmp_path: Path) -> None:
    path = _mat(tmp_path, W=_cells([_W[0], np.ones((1, 2))]), b=_cells(_B))
    with pytest.raises(NetworkFileError) as caught:
        read_mat(path, ReadOptions())
    assert caught.value.path == path
