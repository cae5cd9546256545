"""Bounds by several jobs: the same certificates, also after kills, and what is refused."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from polyrelu.formats import save
from tests.cli.commands import begun, checkpoint_size, run, run_json
from tests.generators.close_networks import close_pair

QUERY = """
(declare-const X_0 Real)
(declare-const X_1 Real)
(declare-const Y_0 Real)
(assert (and (>= X_0 0) (<= X_0 1) (>= X_1 0) (<= X_1 1)))
(assert (>= Y_0 9))
"""


@pytest.mark.parametrize(
    "command",
    [
        ["deviation", "example:twins-a", "example:twins-b", "--domain", "box:-1,1"],
        ["range", "example:bends", "--domain", "box:-1,1"],
        ["same-decisions", "example:digits", "example:digits"],
        ["verify", "example:xor", "q.vnnlib"],
        ["equivalent", "example:twins-a", "example:twins-b"],
    ],
    ids=lambda command: command[0],
)
def test_checkpoints_are_made_and_foreign_ones_refused(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.vnnlib").write_text(QUERY)
    asked = [*command, "--budget", "50", "--checkpoint", "work.db"]
    before = run_json(capsys, *command, "--budget", "50")
    after = run_json(capsys, *asked)
    assert after[0] == before[0]
    assert after[1]["status"] == before[1]["status"]
    assert (tmp_path / "work.db").exists()
    status, _, error = run(capsys, *asked, "--seed", "7")
    assert status == 2
    assert "work.db: a checkpoint of other work (seed: 0 in place of 7); name another file" in error


def test_an_open_answer_says_where_its_work_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, network in zip(("a.json", "b.json"), close_pair((4, 12, 12, 2)), strict=True):
        save(network, tmp_path / name)
    command = ["deviation", "a.json", "b.json", "--domain", "box:-1,1", "--budget", "40"]
    status, out, _ = run(capsys, *command, "--checkpoint", "work.db")
    assert status == 3
    words = " ".join(out.split())
    assert (
        "of work was used up: finished tasks are in work.db; the same command with a larger"
        in words
    )
    assert "--checkpoint work.db" in out  # in the next step
    status, out, _ = run(capsys, *command)
    assert status == 3
    assert "work.db" not in out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--jobs", "0"], "--jobs 0: must be 1 or more"),
        (["--lipschitz", "1", "--jobs", "2"], "--lipschitz works in one process"),
        (["--lipschitz", "1", "--seed", "2"], "--lipschitz makes no random choices"),
        (["--output-index", "1"], "--output-index 1: expected an index from 0 to 0"),
        (["--output-index", "-1"], "--output-index -1: expected an index from 0 to 0"),
        (["--checkpoint", "missing/work.db"], "cannot write: there is no such folder"),
        (["-o", "a.cert", "--checkpoint", "a.cert"], "would overwrite a.cert"),
    ],
)
def test_wrong_options(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    options: list[str],
    text: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, error = run(capsys, "range", "example:xor", "--domain", "box:0,1", *options)
    assert status == 2
    assert text in error
    assert list(tmp_path.iterdir()) == []


def _program(folder: Path, *options: str) -> subprocess.Popen[str]:
    words = ["deviation", "a.json", "b.json", "--domain", "box:-1/2,1/2", "--at-most", "1/14"]
    return begun(folder, *words, "-o", "found.cert", "--checkpoint", "work.db", *options)


@pytest.mark.slow
def test_the_same_certificate_after_two_kills(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
        for name, network in zip(("a.json", "b.json"), close_pair((5, 24, 24, 2)), strict=True):
            save(network, folder / name)
    program = _program(whole)
    program.communicate()
    assert program.returncode == 0
    for end in (signal.SIGKILL, signal.SIGTERM):
        before = checkpoint_size(killed / "work.db")
        program = _program(killed, "--jobs", "2")
        while checkpoint_size(killed / "work.db") <= before + 12_000 and program.poll() is None:
            time.sleep(0.01)  # until something new is kept
        assert program.poll() is None
        program.send_signal(end)
        out, _ = program.communicate()
        assert program.returncode == (-9 if end is signal.SIGKILL else 3)
        if end is signal.SIGTERM:
            words = " ".join(out.split())
            assert "interrupted: finished tasks are in work.db; the same command goes on" in words
        (killed / "found.cert").unlink(missing_ok=True)
    program = _program(killed, "--jobs", "2")
    program.communicate()
    assert program.returncode == 0
    assert (killed / "found.cert").read_bytes() == (whole / "found.cert").read_bytes()
