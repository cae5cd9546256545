"""``.npz`` archives of numbered operations; `test_load.py` tests archives of W1, b1, …."""

from __future__ import annotations

import io
import random
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats import save_npz
from polyrelu.formats.graph.lowering import lower
from polyrelu.formats.imported import Draft
from polyrelu.formats.load import load
from polyrelu.formats.npz import read_npz
from polyrelu.formats.options import ReadOptions
from polyrelu.network import Block, Layer, Network, from_arrays
from tests.generators.files import NETS as _NETS

Array = NDArray[Any]

_A = [np.array([[1.5, -2.0, 0.25], [0.5, 1.0, 3.0]]), np.array([[1.0], [-1.0], [0.125]])]
_B = [np.array([0.5, -1.0, 2.0]), np.array([0.1])]

_EMPTY = np.zeros(0)


def _file(folder: Path, members: dict[str, Any]) -> Path:
    path = folder / "net.npz"
    np.savez(path, **members)
    return path


def _read(folder: Path, members: dict[str, Any]) -> Draft:
    return read_npz(_file(folder, members), ReadOptions())


def _network(draft: Draft) -> Network:
    if draft.graph is None:
        assert draft.network is not None
        return draft.network
    return lower(draft.graph).network


def _members(*kinds: str) -> dict[str, Any]:
    """Return the members of operations of these kinds, numbered from 0.

    Dense operations have the arrays above; the kind "" leaves a number out.
    """
    found, layer = dict[str, Any](), 0
    for number, kind in enumerate(kinds):
        if kind == "dense":
            found |= {f"{number:04}.dense.A": _A[layer], f"{number:04}.dense.b": _B[layer]}
            layer += 1
        elif kind:
            found[f"{number:04}.{kind}._"] = _EMPTY
    return found


def _expected() -> Network:
    return from_arrays([(a.T, b) for a, b in zip(_A, _B, strict=True)])


_ASSUMED = "the archive has no activations: a ReLU between consecutive affine maps is assumed"


def test_operations_in_order(tmp_path: Path) -> None:
    draft = _read(tmp_path, dict(reversed(_members("dense", "relu", "dense").items())))
    assert _network(draft) == _expected()
    assert draft.notes == draft.caveats == []
    assert draft.steps == ["affine [1, 3]", "relu [1, 3]", "affine [1, 1]"]
    assert (draft.num_stored, draft.dtypes, draft.format) == (
        13,
        {"float64"},
        "npz, numbered operations",
    )


def test_activations_that_were_not_saved_are_assumed_and_noted(tmp_path: Path) -> None:
    draft = _read(tmp_path, _members("dense", "", "dense"))
    assert _network(draft) == _expected()
    assert draft.caveats == [_ASSUMED]
    alone = _read(tmp_path, _members("dense"))
    assert alone.caveats == []
    assert str(_network(alone).architecture) == "2-3"


def test_consecutive_dense_layers_are_one_map(tmp_path: Path) -> None:
    draft = _read(tmp_path, _members("dense", "dense"))
    network = _network(draft)
    assert str(network.architecture) == "2-1"
    assert network([1, 2])[0] == Fraction(
        float((np.array([1, 2]) @ _A[0] + _B[0]) @ _A[1][:, 0])
    ) + Fraction(0.1)
    assert draft.caveats == []


def test_a_relu_at_the_end(tmp_path: Path) -> None:
    assert (
        str(_network(_read(tmp_path, _members("dense", "relu"))).architecture)
        == "2-3 (trailing ReLU)"
    )


def test_squeeze_last_at_the_end(tmp_path: Path) -> None:
    draft = _read(tmp_path, _members("dense", "relu", "dense", "squeeze_last"))
    assert _network(draft) == _expected()
    assert draft.notes == [
        "squeeze_last at the end makes a number of the one output: nothing to do"
    ]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_number_types(dtype: str, tmp_path: Path) -> None:
    weight, bias = np.array([[1.5, -2.0]]).astype(dtype), np.array([3, 0.25]).astype(dtype)
    draft = _read(tmp_path, {"0000.dense.A": weight, "0000.dense.b": bias})
    assert _network(draft) == from_arrays([(weight.T, bias)])
    assert draft.dtypes == {dtype}


_BAD: dict[str, tuple[dict[str, Any], str]] = {
    "elu": (
        _members("dense", "elu", "dense"),
        r"operation 1 \(elu\): this operation is not supported; supported are",
    ),
    "sine": (_members("sin", "dense"), r"operation 0 \(sin\): this operation is not supported"),
    "squeeze of several outputs": (
        _members("dense", "squeeze_last"),
        r"operation 1 \(squeeze_last\): this",
    ),
    "squeeze in between": (
        _members("dense", "squeeze_last", "dense"),
        r"operation 1 \(squeeze_last\)",
    ),
    "squeeze alone": (_members("squeeze_last"), r"operation 0 \(squeeze_last\)"),
    "relu first": (
        _members("relu", "dense"),
        r"operation 0 \(relu\): it does not follow a dense layer",
    ),
    "relu twice": (
        _members("dense", "relu", "relu", "dense"),
        r"operation 2 \(relu\): it does not follow a dense",
    ),
    "an operation missing": (_members("dense", "relu", "", "dense"), "operation 2: it is missing"),
    "the first missing": (_members("", "dense"), "operation 0: it is missing"),
    "activations missing here and there": (
        {**_members("dense", "", "dense"), "0003.relu._": _EMPTY},
        "operation 1: it is missing",
    ),
    "two kinds": (
        {**_members("dense"), "0000.relu._": _EMPTY},
        "'0000.relu._': number 0 stands for 'dense' already",
    ),
    "a number in two ways": (
        {**_members("dense"), "0.dense.A": _A[0]},
        "number 0 stands for 'dense' already",
    ),
    "no bias": (
        {"0000.dense.A": _A[0]},
        r"operation 0 \(dense\): expected the arrays A and b; it has A",
    ),
    "another array": (
        {**_members("dense"), "0000.dense.c": _EMPTY},
        "expected the arrays A and b; it has A, b, c",
    ),
    "transposed": (
        {"0000.dense.A": _A[0].T, "0000.dense.b": _B[0]},
        r"operation 0 \(dense\): expected shapes \(in",
    ),
    "layers that do not fit": (
        {**_members("dense", "relu"), "0002.dense.A": _A[0], "0002.dense.b": _B[0]},
        r"operation 2 \(dense\): it takes 2 values, the one before gives 3",
    ),
    "no neurons": (
        {"0000.dense.A": np.zeros((2, 0)), "0000.dense.b": _EMPTY},
        r"operation 0 \(dense\): expected",
    ),
    "nan": (
        {"0000.dense.A": [[np.nan]], "0000.dense.b": [0.0]},
        r"operation 0 \(dense\): entry \[0, 0\] is nan",
    ),
    "text": ({"0000.dense.A": [["a"]], "0000.dense.b": [0.0]}, "not supported"),
    "truth values": ({"0000.dense.A": [[True]], "0000.dense.b": [0.0]}, "not supported"),
    "other names beside": ({**_members("dense"), "W1": _A[0]}, "expected the arrays W1, b1"),
}


@pytest.mark.parametrize("name", _BAD)
def test_archives_that_are_refused(name: str, tmp_path: Path) -> None:
    members, says = _BAD[name]
    path = _file(tmp_path, members)
    with pytest.raises(NetworkFileError, match=says) as caught:
        read_npz(path, ReadOptions())
    assert caught.value.path == path
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400 + len(str(path))


def test_sizes_are_checked_before_reading(tmp_path: Path) -> None:
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000), }\n"
    content = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode()
    path = tmp_path / "net.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for part in "Ab":
            archive.writestr(f"0000.dense.{part}.npy", content)
    with pytest.raises(NetworkFileError, match="more than 30000000"):
        read_npz(path, ReadOptions())


def test_damaged_archives_give_a_network_or_one_line(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, **_members("dense", "relu", "dense"))
    content, chance, path, survived = buffer.getvalue(), random.Random(1), tmp_path / "net.npz", 0
    for number in range(600):
        damaged = bytearray(content)
        position = chance.randrange(len(damaged))
        if number % 4 == 0:
            del damaged[position:]
        elif number % 4 == 1:
            damaged[position] = chance.randrange(256)
        else:
            damaged[position] ^= 1 << chance.randrange(8)
        path.write_bytes(bytes(damaged))
        try:
            _network(read_npz(path, ReadOptions()))
        except NetworkError as error:
            assert "\n" not in str(error)  # noqa: PT017
        else:
            survived += 1
    assert 0 < survived < 300


# --- Writing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "kind"), [("3/8", "float32"), (str(2**30 + 1), "float64"), ("1/1048577", "")]
)
def test_exact_arrays(number: str, kind: str, tmp_path: Path) -> None:
    """The smallest type that holds all numbers; if there is none, the nearest float64."""
    network = from_arrays([([[number, 0], [1, -2]], [0, number]), ([[1, 1]], [number])])
    path = tmp_path / "net.npz"
    written = save_npz(network, path)
    back = load(path)
    assert written.exact == bool(kind) == (back == network)
    assert written.largest_difference == abs(back.weight(1)[0, 0] - Fraction(number))
    kind = kind or "float64"
    assert written.numbers == kind
    with np.load(path) as archive:
        assert {name: archive[name].shape for name in archive.files} == {
            "W1": (2, 2),
            "b1": (2,),
            "W2": (1, 2),
            "b2": (1,),
        }
        assert {archive[name].dtype.name for name in archive.files} == {kind}


def test_networks_that_the_arrays_cannot_hold(tmp_path: Path) -> None:
    skipping = _with_skip()
    trailing = Network(1, from_arrays([([[1]], [0])]).layers, last="relu")
    with pytest.raises(NetworkError, match=r"only plain stacks .*save the network as \.json"):
        save_npz(skipping, tmp_path / "net.npz")
    with pytest.raises(NetworkError, match="end in an affine layer, not in a ReLU"):
        save_npz(trailing, tmp_path / "net.npz")
    with pytest.raises(NetworkFileError, match=r"save_npz writes files that end in \.npz"):
        save_npz(from_arrays([([[1]], [0])]), tmp_path / "net.json")
    assert not list(tmp_path.iterdir())


def _with_skip() -> Network:
    """x + y + σ(x): the output has weights on the inputs, one of which no neuron reads."""
    first, last = from_arrays([([[1, 0]], [0]), ([[1]], [0])]).layers
    both = from_arrays([([[1, 1]], [0])]).layers[0].weight
    return Network(2, (first, Layer((Block(0, both), *last.blocks), last.bias)))


# --- Files from elsewhere -------------------------------------------------------------------------


def _shared_network(name: str) -> Draft:
    path = _NETS / name
    if not path.is_file():
        pytest.skip("the collection of networks is not here")
    return read_npz(path, ReadOptions())


def test_an_implicit_surface_with_relu() -> None:
    draft = _shared_network("sdf_fox.npz")
    network = _network(draft)
    assert str(network.architecture) == "3-32-32-32-32-32-32-32-32-1"
    assert draft.dtypes == {"float32"}
    assert draft.caveats == []
    with np.load(_NETS / "sdf_fox.npz") as archive:
        x = np.array([0.25, -0.5, 0.125])
        for number in range(0, 17, 2):
            x = x @ archive[f"{number:04}.dense.A"].astype(float) + archive[f"{number:04}.dense.b"]
            x = np.maximum(x, 0) if number < 16 else x
    assert float(network([0.25, -0.5, 0.125])[0]) == pytest.approx(x[0], rel=1e-9)


def test_an_implicit_surface_with_elu_is_refused() -> None:
    with pytest.raises(
        NetworkFileError, match=r"operation 1 \(elu\): this operation is not supported"
    ):
        _shared_network("sdf_bunny_3d.npz")
