"""`polyrelu check` with several certificates: a line each, and the greatest exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import polyrelu
from polyrelu import Proved
from tests.cli.commands import run, run_json


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two valid certificates, a changed one, and a file that is none."""
    for name in ("xor", "bends"):
        outcome = polyrelu.identify(polyrelu.load(f"example:{name}"), budget=2000)
        assert isinstance(outcome, Proved)
        outcome.certificate.save(tmp_path / f"{name}.json")
    document = json.loads((tmp_path / "xor.json").read_text())
    doubled = polyrelu.from_arrays([([[1, 1], [1, 1]], [1, 1]), ([[2, -4]], [-1])])
    polyrelu.save(doubled, tmp_path / "doubled.json")
    inline = json.loads((tmp_path / "doubled.json").read_text())
    document["claim"]["network"] = {"sha256": doubled.sha256, "inline": inline}
    (tmp_path / "changed.json").write_text(json.dumps(document))
    (tmp_path / "other.json").write_text("{}")
    return tmp_path


def _files(folder: Path, *names: str) -> list[str]:
    return [str(folder / f"{name}.json") for name in names]


def test_all_are_accepted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = _files(folder, "xor", "bends")
    status, out, err = run(capsys, "check", *files)
    lines = out.splitlines()
    assert (status, len(lines), err) == (0, 2, "")
    assert all(
        line.startswith(f"accepted: {file}: Network ")
        for line, file in zip(lines, files, strict=True)
    )


@pytest.mark.parametrize(
    ("names", "worst", "word"),
    [
        (("xor", "changed", "bends"), 1, "rejected"),
        (("other", "xor", "changed"), 2, "error"),
        (("xor", "xor"), 0, "accepted"),
    ],
)
def test_the_worst_status(
    names: tuple[str, ...],
    worst: int,
    word: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = _files(folder, *names)
    assert run(capsys, "check", *files)[0] == worst
    status, answer = run_json(capsys, "check", *files)
    assert (status, answer["status"]) == (worst, word)
    assert [entry["file"] for entry in answer["certificates"]] == files


def test_why_not(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is missing is a line like the others, and does not end the command."""
    _, out, _ = run(capsys, "check", *_files(folder, "missing", "other", "changed", "xor"))
    missing, other, changed, xor = out.splitlines()
    assert missing.startswith("unreadable: ")
    assert "no such file" in missing
    assert "expected the keys" in other
    assert changed.startswith(f"rejected: {folder / 'changed.json'}: ")
    assert "expected" in changed
    assert xor.startswith("accepted: ")


def test_networks_beside_are_passed_over(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They come with `*.json`; the ending alone does not hide a certificate."""
    polyrelu.save(polyrelu.load("example:xor"), folder / "xor.network.json")
    (folder / "bends.json").rename(folder / "bends.network.json")
    files = _files(folder, "xor", "xor.network", "bends.network")
    status, out, _ = run(capsys, "check", *files)
    assert (status, [line.split(": ")[1] for line in out.splitlines()]) == (0, files[::2])
    status, _, err = run(capsys, "check", *2 * _files(folder, "xor.network"))
    assert status == 2
    assert "none of the files is a certificate" in err


def test_about(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [*_files(folder, "xor", "bends", "other"), "--about", "example:bends"]
    status, answer = run_json(capsys, "check", *arguments)
    assert status == 2
    assert [entry["status"] for entry in answer["certificates"]] == [
        "rejected",
        "accepted",
        "error",
    ]
    assert answer["certificates"][0]["step"] == "about"
