"""`polyrelu report`: files, the JSON object, limits and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import run, run_json


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = run_json(
        capsys, "report", "example:hidden", "-o", "r.html", "--domain", "box:-2,2"
    )
    assert (status, found["status"], found["written"]) == (0, "ok", ["r.html"])
    assert (found["identifiable"], found["regions"], found["open"]) == ("refuted", 6, [])
    assert [path.name for path in folder.iterdir()] == ["r.html"]


def test_a_slice_and_files_beside(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.json").write_text(json.dumps({"points": [[0] * 64, [1] * 64, [0, 9] * 32]}))
    given = ["example:digits", "-o", "r.md", "--show", "slice:s.json", "--budget", "500"]
    status, out, _ = run(capsys, "report", *given)
    assert status == 0
    assert "Identifiability: proved" in out
    assert "written: r.md" in out
    assert Path("digits.identify.cert.json").exists() or list(folder.glob("*.cert.json.gz"))


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (["-o", "r.docx"], ".html, .md, .tex"),
        (["-o", "no/r.html"], "no such folder"),
        (["-o", "r.html", "--show", "box:0"], "box"),
        (["-o", "r.html", "--domain", "box:1,0"], "empty"),
        (["-o", "r.html", "--budget", "-1"], "must be 0 or more"),
        (["-o", "r.html", "--show", "slice:none.json"], "none.json"),
    ],
)
def test_errors(
    given: list[str], error: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run(capsys, "report", "example:bends", *given)
    assert status == 2
    assert error in err
    assert not list(folder.iterdir())


def test_a_time_limit_still_gives_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    status, found = run_json(
        capsys, "report", "example:digits", "-o", "r.html", "--time-limit", "0"
    )
    if status == 3:  # the limit came while the file was read
        assert found["status"] == "undecided"
        return
    assert status == 0
    assert found["open"]
    assert "time limit" in Path("r.html").read_text()
