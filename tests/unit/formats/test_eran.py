"""``.eran`` files: layers, activations, normalisation, rounding, and refusals by line."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import pytest

from polyrelu import NetworkFileError, from_arrays, load, read

SHARED = os.environ.get("POLYRELU_SHARED")
TEXT = "ReLU\n[[1, -2.5], [0.1, 1e-1]]\n[0, 3]\nAffine\n[[1, 2]]\n[-.5]\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "net.eran"


def test_layers(file: Path) -> None:
    file.write_text(TEXT)
    expected = from_arrays([([[1, "-5/2"], ["1/10", "1/10"]], [0, 3]), ([[1, 2]], ["-1/2"])])
    found = read(file)
    assert found.network == expected
    assert (found.format, found.rounding, found.num_stored) == ("eran", "text: exact", 9)
    assert found.steps == ("affine [2, 2]", "relu [2]", "affine [1, 2]")
    rounded = load(file, rounding="text=float32").weight(1)[1, 0]
    assert rounded == Fraction(13421773, 2**27)


def test_hard_tanh(file: Path) -> None:
    """A clip to [-1, 1], which becomes two neurons."""
    file.write_text("HardTanh\n[[2]]\n[1]\n")
    network = load(file)
    assert [network([x])[0] for x in ("-2", "-1/2", "-1/4", "0", "5")] == [
        -1,
        0,
        Fraction(1, 2),
        1,
        1,
    ]


def test_a_relu_at_the_end(file: Path) -> None:
    file.write_text("ReLU\n[[1, 1]]\n[0]\n")
    assert load(file) == from_arrays([([[1, 1]], [0])], "relu")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Normalize mean=[0.5] std=[0.25]", (3, -7)),
        ("Normalize mean=[0.5, 0] std=[0.25, 2]", (3, Fraction(1, 4))),
    ],
)
def test_normalisation(line: str, expected: tuple[Fraction, ...], file: Path) -> None:
    """One mean and deviation for all inputs, or one for each."""
    file.write_text(f"{line}\nAffine\n[[1, 0], [0, 1]]\n[1, 1]\n")
    found = read(file)
    assert found.network([1, "-3/2"]) == expected
    assert found.notes == ("the normalisation (x - mean) / std is part of the network",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has no layers"),
        (
            "Conv2D\n[1]\n[1]\n",
            "line 1: 'Conv2D' is not supported; supported are ReLU",
        ),
        (TEXT + "Sigmoid\n[[1]]\n[0]\n", "line 7: 'Sigmoid' is not supported"),
        (TEXT + "Affine\n[[1]]\n", "line 7: weights and biases of this layer are missing"),
        (TEXT + "Affine\n[[1, 2]]\n[0]\n", "line 8: 2 weights a row, the layer before has 1"),
        ("Affine\n[[1, 2], [3]]\n[0, 0]\n", "line 2: 2 rows of [1, 2] weights, but 2 biases"),
        ("Affine\n[[1, 2]]\n[0, 0]\n", "line 2: 1 rows of [2] weights, but 2 biases"),
        ("Affine\n[1, 2]\n[0]\n", "line 2: expected a list of rows of weights"),
        ("Affine\n[[1, 2]]\n0\n", "line 3: expected a list of biases"),
        ("Affine\n[[1, nan]]\n[0]\n", "line 2: 'nan' is not a decimal number"),
        ("Affine\n[[1, ]]\n[0]\n", "line 2: '' is not a decimal number"),
        ("Affine\n[[1, 1e9999]]\n[0]\n", "line 2: '1e9999' is not a decimal number"),
        (f"Affine\n[[{'1' * 2000}]]\n[0]\n", "is not a decimal number with an exponent of at most"),
        (
            "Normalize mean=[1,1,1] std=[1]\n" + TEXT,
            "line 1: 3 means and 1 deviations for 2",
        ),
        ("Normalize mean=[1] std=[0]\n" + TEXT, "line 1: a deviation is 0"),
    ],
)
def test_refusals(text: str, message: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(NetworkFileError) as error:
        load(file)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{file}: ")


def test_float32_overflow_is_named(file: Path) -> None:
    file.write_text("Affine\n[[1e300]]\n[0]\n")
    with pytest.raises(NetworkFileError, match="line 2: '1e300': a number is too large"):
        load(file, rounding="text=float32")


@pytest.mark.skipif(SHARED is None, reason="networks from elsewhere")
def test_a_file_from_elsewhere() -> None:
    assert SHARED is not None
    found = read(Path(SHARED, "nets", "syrenn_quadcopter.eran"))
    assert found.network.widths == (2, 240, 200, 2, 1)
    assert found.num_stored == 240 * 3 + 200 * 241 + 201
    assert all(abs(y) <= 1 for x in ([0, 0], [5, -5], [-9, 2]) for y in found.network(x))
