"""The command that writes a network in another format: what it says, and what it refuses."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from polyrelu import from_arrays, load, save
from polyrelu.network import LeakyStack
from tests.cli.commands import run, run_json


@pytest.fixture
def thirds(tmp_path: Path) -> str:
    """A network of numbers that no float is."""
    name = str(tmp_path / "thirds.json")
    save(from_arrays([([["1/3", "1/2"]], [0]), ([[1]], ["2/3"])]), name)
    return name


def test_a_chain_of_formats_keeps_the_weights(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, hashes = "example:digits", set()
    for ending in ("nnet", "onnx", "npz", "json"):
        output = str(tmp_path / f"net.{ending}")
        status, found = run_json(capsys, "convert", name, output)
        assert (status, found["exact"], found["largest_difference"]) == (0, True, "0")
        assert found["output"] == output
        hashes.add(found["sha256"])
        name = output
    assert hashes == {load(name).sha256} == {load("example:digits").sha256}


def test_rounding_is_said(thirds: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = str(tmp_path / "net.npz")
    status, found = run_json(capsys, "convert", thirds, output)
    assert (status, found["numbers"], found["exact"]) == (0, "float64", False)
    moved = Fraction(2, 3) - Fraction(2 / 3)
    assert Fraction(found["largest_difference"]) >= moved
    assert Fraction(found["largest_difference"]) < moved * Fraction(100001, 100000)
    assert load(output).bias(2)[0, 0] == Fraction(2 / 3)
    out = run(capsys, "convert", thirds, output)[1]
    assert f"written  {output}\nnumbers  float64; rounded; each moved by at most 3.7" in out
    out = run(capsys, "convert", thirds, str(tmp_path / "net.json.json"))[1]
    assert "numbers  exact rationals; none moved" in out


def test_a_type_can_be_asked_for(
    thirds: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = str(tmp_path / "net.npz")
    _, found = run_json(capsys, "convert", thirds, output, "--numbers", "float32")
    assert (found["numbers"], found["exact"]) == ("float32", False)
    assert found["largest_difference"] == "1.98683e-8"
    status, _, err = run(capsys, "convert", thirds, f"{output}.json", "--numbers", "float32")
    assert (status, "leave numbers (--numbers) out" in err) == (2, True)


def test_what_the_reading_assumed_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["1,1,1,1", "1,1", "0", "0", "0", "1,0", "2,1", "0.1", "0"]
    (tmp_path / "net.nnet").write_text("".join(f"{line},\n" for line in lines))
    given, output = str(tmp_path / "net.nnet"), str(tmp_path / "net.json")
    out = run(capsys, "convert", given, output, "--rounding", "text=float32")[1]
    assert "rounding: text: float32" in out
    assert "caution: the normalisation of the header is not applied" in out
    assert load(output).weight(1)[0, 0] == Fraction(13421773, 2**27)


def test_leaky_relus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`info` says which networks `identify` takes for stacks of leaky ReLUs."""
    pytest.importorskip("onnx")
    stack = from_arrays([([[1, 2], [3, -1]], [1, 0]), ([[1, 1]], [0])])
    first, second = (str(tmp_path / f"net{ending}") for ending in (".json", ".onnx"))
    save(LeakyStack(Fraction(1, 4), stack).network(), first)
    said = "the network is a stack of leaky ReLUs of slope 1/4, and identify answers among such"
    skipping = "leaky ReLUs make connections that skip layers just like these, so that"
    assert f"note         {skipping} {said}" in run(capsys, "info", first)[1]
    assert "note" not in run(capsys, "convert", first, second)[1]
    assert f"note         {said}" in run(capsys, "info", second)[1]
    assert any(said in note for note in run_json(capsys, "info", second)[1]["notes"])
    save(LeakyStack(Fraction(-1), stack).network(), first)
    assert "note" not in run(capsys, "info", first)[1]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("net.txt", "FILE net.txt: networks are written as .json, .onnx, .npz, .nnet, .pt, .pth"),
        ("thirds.json", "FILE thirds.json: this would overwrite thirds.json; choose another name"),
        ("none/net.json", "FILE 'none/net.json': cannot write: there is no such folder"),
    ],
)
def test_outputs_are_checked_first(
    output: str,
    message: str,
    thirds: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    before = Path(thirds).read_bytes()
    status, _, err = run(capsys, "convert", "thirds.json", output)
    assert (status, err.count("\n")) == (2, 1)
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["thirds.json"]
    assert Path(thirds).read_bytes() == before
