"""`polyrelu simplify`: what it prints and writes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyrelu.formats import load, save
from polyrelu.network import from_arrays
from tests.cli.commands import run, run_json

#: A duplicate and a dead neuron; the second and third output weights differ.
LARGE = from_arrays(
    [
        ([[1, 0], [0, 1], [2, 0]], [0, "1/2", 0]),
        ([[1, -2, 0], [-1, -1, -1]], [1, 0]),
        ([[3, 4]], ["1/4"]),
    ]
)


@pytest.fixture
def large(tmp_path: Path) -> str:
    name = str(tmp_path / "large.json")
    save(LARGE, name)
    return name


@pytest.mark.parametrize("ending", ["json", "npz", "onnx", "nnet"])
def test_the_smaller_network_is_written(
    ending: str, large: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small, certificate = str(tmp_path / f"small.{ending}"), str(tmp_path / "same.json")
    status, out, err = run(capsys, "simplify", large, "-o", small, "--certificate", certificate)
    assert (status, err) == (0, "")
    assert "neuron 2 of layer 1: its outgoing weights are 0, so nothing reads it" in out
    assert "neuron 1 of layer 2: it is dead" in out
    assert f"network: {small}" in out
    assert load(small).widths == (2, 2, 1, 1)
    assert run(capsys, "equivalent", large, small)[0] == 0
    assert run(capsys, "check", certificate, "--about", large)[0] == 0


def test_json(large: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = run_json(capsys, "simplify", large)
    assert (status, found["status"], found["widths"]) == (0, "proved", [2, 2, 1, 1])
    assert [(entry["layer"], entry["index"]) for entry in found["removed"]] == [(1, 2), (2, 1)]
    assert found["is_smallest"] is None
    assert found["certificate"] is None


def test_a_domain(large: str, capsys: pytest.CaptureFixture[str]) -> None:
    """On x_1 ≥ 1 neuron 1 of layer 1 is linear; where layer 2 has no neuron left, it goes."""
    status, found = run_json(capsys, "simplify", large, "--domain", "box:0,1;2,3")
    assert status == 0
    assert found["domain"] == "box:0,1;2,3"
    assert found["widths"] == [2, 1]


def test_numbers_that_floats_do_not_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    thirds, small = str(tmp_path / "thirds.json"), str(tmp_path / "small.onnx")
    save(from_arrays([([["1/3"], ["2/3"]], [0, 0]), ([[1, 1]], [0])]), thirds)
    _, out, _ = run(capsys, "simplify", thirds, "-o", small)
    assert "caution: " in out
    assert "float64 numbers, at most 1.85e-17 away" in out
    _, found = run_json(capsys, "simplify", thirds, "-o", str(tmp_path / "small.npz"))
    assert "holds the nearest float64 numbers" in found["caution"]


def test_refusals(large: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "simplify", large, "-o", str(tmp_path / "small.txt"))
    assert status == 2
    assert "networks are written as .json, .onnx, .npz" in err
    same = str(tmp_path / "same.json")
    status, _, err = run(capsys, "simplify", large, "-o", same, "--certificate", same)
    assert status == 2
    assert "choose two names" in err
    status, _, err = run(capsys, "simplify", large, "-o", large)
    assert status == 2
    assert "would overwrite" in err


def test_nothing_to_leave_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file that was asked for is written, and said to hold the given network."""
    given, small = tmp_path / "given.json", tmp_path / "small.json"
    save(from_arrays([([[1], [2]], [0, 1]), ([[1, 1]], [0])]), given)
    status, out, _ = run(capsys, "simplify", str(given), "-o", str(small))
    assert status == 0
    assert "0 neurons removed: Network 1-2-1" in out
    assert f"network: {small} (the given network, with no neuron left out)\n" in out
    assert small.read_bytes() == given.read_bytes()
