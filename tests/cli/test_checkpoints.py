"""Audits, reports and other commands that go on from a checkpoint, and what is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from polyrelu.formats import save
from polyrelu.network import from_arrays
from tests.cli.commands import begun, checkpoint_size, run, run_json
from tests.generators.claims_of_items import claims_of_items
from tests.generators.planted_faults import small_network

NET = small_network(1)
COMMANDS = {
    "audit": ["audit", "net.json", "--against", "claims.json"],
    "report": ["report", "net.json", "-o", "r.md", "--domain", "box:-1,1", "--budget", "500"],
    "dimension": ["dimension", "net.json", "-o", "cert.json"],
    "injective": ["injective", "net.json", "-o", "cert.json"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a network and claims, to work in."""
    monkeypatch.chdir(tmp_path)
    save(NET, tmp_path / "net.json")
    save(small_network(2), tmp_path / "other.json")
    (tmp_path / "claims.json").write_text(json.dumps(claims_of_items(NET)))
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_checkpoints_are_made_and_foreign_ones_refused(
    capsys: pytest.CaptureFixture[str], folder: Path, command: list[str]
) -> None:
    before = run_json(capsys, *command)
    written = {path.name: path.read_bytes() for path in folder.iterdir()}
    kept = [*command, "--checkpoint", "work.db"]
    for _ in range(2):
        after = run_json(capsys, *kept)
        assert after[0] == before[0] in (0, 1)
        assert {**after[1], "seconds": 0} == {**before[1], "seconds": 0}
        files = {name: (folder / name).read_bytes() for name in written}
        assert files == written
    assert (folder / "work.db").exists()
    kept[1] = "other.json"
    status, _, error = run(capsys, *kept)
    assert status == 2
    assert "work.db: a checkpoint of other work (another network" in error
    (folder / "work.db").write_text("something else")
    status, _, error = run(capsys, *kept)
    assert status == 2
    assert "work.db: not a checkpoint" in error


@pytest.mark.parametrize(
    ("command", "options", "text"),
    [
        ("audit", ["--jobs", "0"], "--jobs 0: must be 1 or more"),
        ("audit", ["--checkpoint", "claims.json"], "would overwrite claims.json"),
        ("audit", ["--against", "torch", "--jobs", "2"], "--jobs: for files of claims"),
        ("audit", ["--html", "a.html", "--checkpoint", "a.html"], "would overwrite a.html"),
        ("report", ["--checkpoint", "r.md"], "would overwrite r.md"),
        ("report", ["--checkpoint", "none/work.db"], "cannot write: there is no such folder"),
        ("dimension", ["--checkpoint", "cert.json"], "would overwrite cert.json"),
        ("injective", ["--checkpoint", "cert.json"], "would overwrite cert.json"),
        ("injective", ["--lipschitz", "--jobs", "2"], "--jobs: for the question without"),
        ("injective", ["--left-inverse", "--checkpoint", "w.db"], "--checkpoint: for the question"),
    ],
)
def test_wrong_options(
    capsys: pytest.CaptureFixture[str], folder: Path, command: str, options: list[str], text: str
) -> None:
    before = sorted(folder.iterdir())
    status, _, error = run(capsys, *COMMANDS[command], *options)
    assert status == 2
    assert text in error
    assert sorted(folder.iterdir()) == before


def test_an_open_answer_says_where_its_work_is(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    rows = np.random.default_rng(1).standard_normal((44, 6)).tolist()
    save(from_arrays([(rows, [0] * len(rows))], last="relu"), folder / "layer.json")
    command = ["injective", "layer.json", "--budget", "2"]
    status, out, _ = run(capsys, *command, "--checkpoint", "work.db")
    assert status == 3
    words = " ".join(out.split())
    assert "was used up: finished tasks are in work.db; the same command with a larger" in words
    assert "--checkpoint work.db" in words


def _program(folder: Path, *options: str) -> subprocess.Popen[str]:
    words = ["audit", "net.json", "--against", "claims.json", "--markdown", "out.md"]
    return begun(folder, *words, "--checkpoint", "work.db", *options)


@pytest.mark.slow
def test_the_same_page_after_two_kills(folder: Path) -> None:
    large = small_network(1, (2, 24, 16, 2))
    whole, killed = folder / "whole", folder / "killed"
    document = claims_of_items(large)
    for place in (whole, killed):
        place.mkdir()
        save(large, place / "net.json")
        (place / "claims.json").write_text(json.dumps(document))
    program = _program(whole)
    program.communicate()
    assert program.returncode == 1
    for end in (signal.SIGKILL, signal.SIGTERM):
        before = checkpoint_size(killed / "work.db")
        program = _program(killed, "--jobs", "2")
        while checkpoint_size(killed / "work.db") <= before and program.poll() is None:
            time.sleep(0.01)  # until something new is kept
        program.send_signal(end)
        program.communicate()
        (killed / "out.md").unlink(missing_ok=True)
    program = _program(killed, "--jobs", "2")
    program.communicate()
    assert program.returncode == 1
    assert (killed / "out.md").read_bytes() == (whole / "out.md").read_bytes()
