"""The script that VNN-COMP calls."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from polyrelu import from_arrays, save
from polyrelu.cli.main import main
from tests.generators.files import ROOT

SCRIPT = ROOT / "docs" / "benchmarks" / "vnncomp" / "run_instance.sh"
HEAD = "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (and (>= X_0 -1) (<= X_0 1)))"


@pytest.mark.skipif(os.name != "posix", reason="a script of a POSIX shell")
@pytest.mark.parametrize(
    ("bound", "limit", "status", "first"),
    [
        pytest.param("2", "100", 0, "unsat", marks=pytest.mark.slow),
        pytest.param("0.5", "100", 0, "sat", marks=pytest.mark.slow),
        ("2", "0", 0, "timeout"),
        pytest.param("nan", "100", 1, "error", marks=pytest.mark.slow),
    ],
)
def test_answers(bound: str, limit: str, status: int, first: str, tmp_path: Path) -> None:
    save(from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])]), tmp_path / "net.json")
    (tmp_path / "query.vnnlib").write_text(f"{HEAD}(assert (>= Y_0 {bound}))")
    program = tmp_path / "polyrelu"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m polyrelu "$@"\n')
    program.chmod(0o755)
    paths = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    words = ["v1", "test", "net.json", "query.vnnlib", "result.txt", limit]
    done = subprocess.run(
        ["sh", str(SCRIPT), *words],
        cwd=tmp_path,
        env={**os.environ, **paths},
        check=False,
        timeout=100,
        capture_output=True,
    )
    assert done.returncode == status
    assert (tmp_path / "result.txt").read_text().splitlines()[0] == first
    if first == "unsat":
        assert main(["check", str(tmp_path / "result.txt.cert")]) == 0
