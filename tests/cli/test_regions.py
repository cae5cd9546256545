"""The command `regions`: counts, tables, interruptions, and what it refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from polyrelu.formats import save
from polyrelu.network import from_arrays
from tests.cli.commands import begun, checkpoint_size, run, run_json


def test_regions_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "regions", "example:bends", "--domain", "box:-2,2")
    assert status == 0
    whole = run_json(capsys, "complex", "example:bends", "--domain", "box:-2,2")[1]
    assert f"regions           {whole['regions']}\n" in out
    assert f"bounded_regions   {whole['bounded_regions']}\n" in out


def test_a_table_by_two_jobs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, jobs in (("one", "1"), ("two", "2")):
        status, found = run_json(
            capsys,
            *("regions", "example:bends", "-o", str(tmp_path / f"{name}.csv")),
            *("--jobs", jobs, "--columns", "signs,bounded"),
        )
        assert (status, found["reason"]) == (0, None)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    lines = (tmp_path / "one.csv").read_text().splitlines()
    assert lines[0] == "region,signs,bounded"
    assert len(lines) == found["regions"] + 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--columns", "signs"], "--columns says what the file of -o has; give -o FILE too"),
        (["-o", "regions.txt"], "written as .csv, .parquet; choose one of these endings"),
        (["-o", "regions.csv", "--columns", "sign"], "column 'sign': choose from signs"),
        (["--jobs", "0"], "--jobs 0: must be 1 or more"),
        (["--jobs", "2", "--dask", "tcp://x:1"], "--dask: the cluster decides how many"),
        (["--checkpoint", "missing/work.db"], "cannot write: there is no such folder"),
        (["-o", "a.csv", "--checkpoint", "a.csv"], "would overwrite a.csv"),
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
    status, _, error = run(capsys, "regions", "example:xor", *options)
    assert status == 2
    assert text in error
    assert list(tmp_path.iterdir()) == []


def _large(path: Path) -> None:
    """Write a network whose regions take some seconds."""
    rng = Random(5)
    layers = []
    for inputs, outputs in ((3, 40), (40, 12), (12, 3)):
        weight = [[rng.randint(-99, 99) for _ in range(inputs)] for _ in range(outputs)]
        layers.append((weight, [rng.randint(-99, 99) for _ in range(outputs)]))
    save(from_arrays(layers), path)


def _program(folder: Path, *options: str) -> subprocess.Popen[str]:
    words = ["regions", "net.json", "--domain", "box:-1,1", "-o", "regions.csv"]
    return begun(folder, *words, "--checkpoint", "work.db", *options)


@pytest.mark.slow
def test_the_same_bytes_after_three_kills(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
        _large(folder / "net.json")
    program = _program(whole)
    assert program.communicate()[1] == ""
    assert program.returncode == 0
    for end in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, None):
        before = checkpoint_size(killed / "work.db")
        program = _program(killed, "--jobs", "2")
        if end is not None:  # as soon as something new is kept
            while checkpoint_size(killed / "work.db") <= before + 20_000 and program.poll() is None:
                time.sleep(0.01)
            assert program.poll() is None
            program.send_signal(end)
        out, error = program.communicate()
        if end is None:
            break
        assert program.returncode == (-9 if end is signal.SIGKILL else 3)
        if end is signal.SIGTERM:
            assert "undecided: interrupted: finished tasks are in work.db; the same command" in out
            assert error == ""
        assert not (killed / "regions.csv").exists()
    assert program.returncode == 0
    assert (killed / "regions.csv").read_bytes() == (whole / "regions.csv").read_bytes()


FULL = """
import resource, signal, sys
from polyrelu.cli.main import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then writing more is an error, as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_a_full_disk_is_an_error_and_the_checkpoint_stays(tmp_path: Path) -> None:
    """Files cannot grow beyond a limit; without it the same command goes on."""
    _large(tmp_path / "net.json")
    options = ["regions", "net.json", "--domain", "box:-1,1", "-o", "regions.csv"]
    options += ["--checkpoint", "work.db"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", FULL.format(limit=300_000), *options]
    ended = subprocess.run(
        command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
    assert "work.db: cannot use the checkpoint" in ended.stderr or "cannot write" in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.json", "work.db"]
    assert checkpoint_size(tmp_path / "work.db") > 20_000
    program = _program(tmp_path)
    assert program.communicate()[1] == ""
    assert program.returncode == 0
    found = (tmp_path / "regions.csv").read_bytes()
    (tmp_path / "work.db").unlink()
    assert _program(tmp_path).wait() == 0
    assert (tmp_path / "regions.csv").read_bytes() == found
