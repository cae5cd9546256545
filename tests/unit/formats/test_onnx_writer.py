"""Plain stacks written as ONNX files: reading back, running, rounding, refusals."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from polyrelu import Network, NetworkError, NetworkFileError, PolyreluError, from_arrays, load
from polyrelu.exact import RationalMatrix, SparseMatrix, as_sparse
from polyrelu.formats import save_onnx
from polyrelu.network import Block, Layer
from tests.generators.onnx_files import session_of

pytest.importorskip("onnx")


def random_stack(
    widths: list[int], dtype: Any, last: Literal["affine", "relu"] = "affine", seed: int = 0
) -> Network:
    rng = np.random.default_rng(seed)
    pairs = [
        (rng.normal(size=(m, n)).astype(dtype), rng.normal(size=m).astype(dtype))
        for n, m in pairwise(widths)
    ]
    return from_arrays(pairs, last)


@pytest.mark.parametrize("last", ["affine", "relu"])
@pytest.mark.parametrize("widths", [[1, 1], [2, 3], [1, 1, 1], [3, 1, 4, 2], [5, 8, 8, 8, 3]])
@pytest.mark.parametrize("numbers", ["float32", "float64"])
def test_read_back_and_run(
    tmp_path: Path, widths: list[int], numbers: str, last: Literal["affine", "relu"]
) -> None:
    """The file gives the same network, and onnxruntime the same values within rounding errors."""
    import onnx

    network = random_stack(widths, numbers, last)
    written = save_onnx(network, tmp_path / "net.onnx")
    assert (written.numbers, written.exact, written.largest_difference) == (
        numbers,
        True,
        Fraction(0),
    )
    assert written.files == (tmp_path / "net.onnx",)
    assert load(tmp_path / "net.onnx") == network
    model = onnx.load(str(tmp_path / "net.onnx"))
    onnx.checker.check_model(model, full_check=True)
    points = np.random.default_rng(1).normal(size=(7, widths[0])).astype(numbers)
    (values,) = session_of(model.SerializeToString()).run(["y"], {"x": points})
    assert values.shape == (7, widths[-1])
    expected = network.evaluate([[Fraction(float(entry)) for entry in point] for point in points])
    tolerance = 1e-4 if numbers == "float32" else 1e-12
    for row, exact in zip(values, expected, strict=True):
        assert all(abs(float(a) - b) <= tolerance for a, b in zip(row, exact, strict=True))


def test_one_weight_decides_the_number_type(tmp_path: Path) -> None:
    single, double = 1 + 2.0**-23, 1 + 2.0**-24
    for value, numbers in (
        (single, "float32"),
        (double, "float64"),
        (2.0**200, "float64"),
        (5e-324, "float64"),
    ):
        network = from_arrays([([[value]], [0.5]), ([[1.0]], [0.0])])
        written = save_onnx(network, tmp_path / "net.onnx")
        assert (written.numbers, written.exact) == (numbers, True)
        assert load(tmp_path / "net.onnx", compare=False) == network


def test_rounding_is_to_nearest_and_reported(tmp_path: Path) -> None:
    third, tiny = Fraction(1, 3), Fraction(1, 2**1200)
    network = from_arrays([([[third, 1]], [tiny]), ([[2]], [Fraction(2**60 + 1)])])
    written = save_onnx(network, tmp_path / "net.onnx")
    assert (written.numbers, written.exact, written.largest_difference) == (
        "float64",
        False,
        Fraction(1),
    )
    back = load(tmp_path / "net.onnx")
    assert back.weight(1)[0, 0] == Fraction(1 / 3)
    assert back.bias(1)[0, 0] == 0
    assert back.bias(2)[0, 0] == 2**60
    # A number that is rounded to 0 does not make a float32 file.
    written = save_onnx(from_arrays([([[1]], [tiny])]), tmp_path / "net.onnx")
    assert (written.numbers, written.exact, written.largest_difference) == ("float64", False, tiny)


def test_sparse_weights_are_written_with_their_zeros(tmp_path: Path) -> None:
    rows = [[int(i == j) for j in range(300)] for i in range(300)]
    weight = as_sparse(RationalMatrix.from_integers(rows))
    layer = Layer((Block(0, weight),), RationalMatrix.zeros(300, 1))
    assert isinstance(layer.blocks[0].entries, SparseMatrix)
    network = Network(300, (layer,))
    assert save_onnx(network, tmp_path / "net.onnx").exact
    assert load(tmp_path / "net.onnx") == network


def test_what_is_refused(tmp_path: Path) -> None:
    small = from_arrays([([[1]], [0])])
    with pytest.raises(NetworkFileError, match=r"end in \.onnx"):
        save_onnx(small, tmp_path / "net.onnx.gz")
    with pytest.raises(NetworkError, match="b1 has an entry beyond the range of float64"):
        save_onnx(from_arrays([([[1]], [Fraction(10**309)])]), tmp_path / "net.onnx")
    with pytest.raises(PolyreluError, match="cannot write"):
        save_onnx(small, tmp_path / "nowhere" / "net.onnx")
    assert list(tmp_path.iterdir()) == []


def test_the_largest_float_is_written(tmp_path: Path) -> None:
    greatest = sys.float_info.max
    assert save_onnx(from_arrays([([[greatest]], [-greatest])]), tmp_path / "net.onnx").exact
    # The nearest float64 of this number is the greatest one, but the number is beyond the range.
    beyond = Fraction(greatest) + 1
    with pytest.raises(NetworkError, match="beyond the range"):
        save_onnx(from_arrays([([[beyond]], [0])]), tmp_path / "net.onnx")
    assert math.isfinite(greatest)


def test_two_gigabytes_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    """A network of 20,000 × 20,000 weights, all but one of them 0."""
    size = 20_000
    weight = SparseMatrix.from_entries((size, size), np.array([0]), np.array([0]), [1])
    network = Network(size, (Layer((Block(0, weight),), RationalMatrix.zeros(size, 1)),))
    with pytest.raises(NetworkError, match=r"2 GB; save the network as \.json"):
        save_onnx(network, tmp_path / "net.onnx")


def test_without_onnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(
        NetworkFileError, match=r"writing ONNX needs the package onnx .* pip install onnx"
    ):
        save_onnx(from_arrays([([[1]], [0])]), tmp_path / "net.onnx")
    assert list(tmp_path.iterdir()) == []
