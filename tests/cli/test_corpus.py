"""The command `polyrelu corpus`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polyrelu import check_file, load
from polyrelu.corpus import corpus_entries
from tests.cli.commands import run, run_json


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "corpus", "list", "--kind", "topology")
    assert (status, err) == (0, "")
    assert "corpus:topology-torus  topology  3-6-3-1\n  ||x| + |y| - 2| + |z|: a solid" in out
    assert out.endswith("\n10 networks, corpus version 1\n")
    _, found = run_json(capsys, "corpus", "list", "--tag", "sliver", "--max-inputs", "1")
    chosen = corpus_entries(tag="sliver", max_inputs=1)
    assert [entry["name"] for entry in found["entries"]] == [entry.name for entry in chosen]


def test_get(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "corpus", "get", "sattelberg-triangle")
    assert status == 0
    for line in (
        "claim (false): In width at most two every polytope extends to infinity. the triangle",
        "bounded_regions   1",
        "output 0 on box:-2,2: [0, 1]",
        "identifiability: ",
        "injective on R^n: refuted",
    ):
        assert line in out
    net, certificate = tmp_path / "net.onnx", tmp_path / "cert.json"
    _, found = run_json(capsys, "corpus", "get", "corpus:pair-half-a", "-o", str(net))
    assert found["answers"]["equivalence"][0]["status"] == "refuted"
    assert "equivalent" in found["certificates"]
    assert load(net) == load("corpus:pair-half-a")
    arguments = ("corpus", "get", "pair-half-a", "--certificate", "equivalent", "-o")
    assert run(capsys, *arguments, str(certificate))[0] == 0
    assert check_file(certificate).verdict == "accepted"


def test_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "corpus"
    arguments = ("corpus", "export", str(folder), "--kind", "topology", "--formats", "json,npz")
    status, found = run_json(capsys, *arguments)
    assert (status, found["folder"], found["num_networks"]) == (0, str(folder), 10)
    assert {path.name for path in (folder / "topology" / "topology-disc").iterdir()} == {
        *("answers.json", "network.json", "network.npz"),
        *("complex.cert.json", "identify.cert.json"),
    }
    status, _, err = run(capsys, *arguments)
    assert (status, err.count("\n")) == (2, 1)
    assert "no empty folder" in err


def test_networks_open_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_json(capsys, "info", "corpus:sliver-strip-60")[1]["architecture"] == [2, 3, 1]
    assert run_json(capsys, "complex", "corpus:concurrent-5")[1]["regions"] == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["get"], "corpus get needs the NAME of a network"),
        (["export"], "corpus export needs the name of a new FOLDER"),
        (["list", "xor"], "corpus list takes no name"),
        (["list", "-o", "a.json"], "-o means nothing for corpus list; leave it out"),
        (["get", "xor", "--max-inputs", "2"], "--max-inputs means nothing for corpus get"),
        (["get", "xor", "--certificate", "identify"], "--certificate needs -o FILE"),
        (["get", "xor", "--certificate", "x", "-o", "a"], "has the certificates complex, identify"),
        (["get", "xor", "-o", "a.txt"], "networks are written as .json, .onnx"),
        (["get", "xr"], "no such network in the corpus; did you mean xor?"),
        (["list", "--kind", "nice"], "kind 'nice': choose from deep, degenerate"),
        (["export", "new", "--formats", "json,"], "formats: '' is none of json, onnx, npz"),
        (["export", "new", "--max-inputs", "0"], "entries: no network was chosen"),
        (["lst"], "did you mean list?"),
    ],
)
def test_errors(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "corpus", *arguments, "--json")
    assert (status, err.count("\n"), json.loads(out)["status"]) == (2, 1, "error")
    assert message in err
    assert not list(tmp_path.iterdir())
