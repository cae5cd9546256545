"""`polyrelu check` with the second checker: a stand-in for it on the search path says this or that.

What the real one says is tested in `tests/checker/test_verified.py`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from polyrelu import checker
from polyrelu.cli.second_checker import PROGRAM, find_second_checker
from tests.cli.commands import run, run_json
from tests.generators.files import CERTIFICATES

ACCEPTED, REJECTED = (
    CERTIFICATES / "valid" / "point.json",
    CERTIFICATES / "invalid" / "point-equal.json",
)
STATEMENT = checker.check_file(ACCEPTED).statement
OTHER = {"step": "line 1", "got": "range"}
NO = {"step": "line 7", "got": "not so", "cost": 5}
YES = {"statement": STATEMENT, "theorem": "point", "trusted": ["Coq"], "cost": 5}


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], Path]:
    """Install a program that gives an answer, and return the file with its arguments."""

    def install(verdict: str, report: Any) -> Path:
        seen = tmp_path / "arguments"
        text = json.dumps({"file": "cert", "verdict": verdict, **report}) if report else ""
        program = tmp_path / PROGRAM
        program.write_text(
            f"#!{sys.executable}\nimport sys\n"
            f"open({str(seen)!r}, 'w').write(' '.join(sys.argv[1:]))\nprint({text!r})\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr("polyrelu.cli.check.find_second_checker", find_second_checker)
        return seen

    return install


@pytest.mark.parametrize(
    ("path", "verdict", "report", "status", "line"),
    [
        (ACCEPTED, "accepted", YES, 0, f"{PROGRAM}: accepted\n  trusted: Coq"),
        (
            ACCEPTED,
            "not covered",
            {"step": "line 1", "got": "range"},
            0,
            f"{PROGRAM}: not covered (range)",
        ),
        (
            ACCEPTED,
            "unreadable",
            {"step": "line 7", "got": "beyond the limits: memory"},
            0,
            f"{PROGRAM}: unreadable (line 7: beyond the limits: memory)",
        ),
        (REJECTED, "rejected", NO, 1, f"{PROGRAM}: rejected (line 7: not so)"),
        (REJECTED, "unreadable", NO, 1, f"{PROGRAM}: unreadable (line 7: not so)"),
    ],
)
def test_side_by_side(
    path: Path,
    verdict: str,
    report: Any,
    status: int,
    line: str,
    answers: Callable[[str, Any], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    alone = run(capsys, "check", str(path))
    answers(verdict, report)
    assert run(capsys, "check", str(path)) == (status, f"{alone[1]}{line}\n", "")
    _, found = run_json(capsys, "check", str(path))
    assert found["status"] == found["verdict"] == ("rejected" if status else "accepted")
    assert found["second_checker"] == {**report, "verdict": verdict}
    _, out, _ = run(capsys, "check", str(path), str(path))
    assert [text.endswith(f" [second checker: {verdict}]") for text in out.splitlines()] == [
        True
    ] * 2


@pytest.mark.parametrize(
    ("path", "verdict", "report", "conflict"),
    [
        (ACCEPTED, "rejected", NO, f"checker.py says accepted, {PROGRAM} says rejected"),
        (ACCEPTED, "unreadable", NO, f"checker.py says accepted, {PROGRAM} says unreadable"),
        (REJECTED, "accepted", YES, f"checker.py says rejected, {PROGRAM} says accepted"),
        (ACCEPTED, "accepted", {**YES, "statement": "f = g"}, "they accept different sentences"),
    ],
)
def test_a_disagreement_is_an_error(
    path: Path,
    verdict: str,
    report: Any,
    conflict: str,
    answers: Callable[[str, Any], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers(verdict, report)
    status, out, err = run(capsys, "check", str(path))
    assert status == 2
    assert f"{PROGRAM}: {verdict}" in out
    assert err.startswith(f"{path}: the two checkers disagree: {conflict}")
    assert "please report it with this file" in err
    status, found = run_json(capsys, "check", str(path))
    assert (status, found["status"]) == (2, "error")
    assert conflict in found["error"]
    status, found = run_json(capsys, "check", str(ACCEPTED), str(path))
    assert (status, found["status"]) == (2, "error")


def test_its_arguments(
    answers: Callable[[str, Any], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Networks and the budget are passed on; the program computes with machine integers."""
    seen = answers("accepted", YES)
    network = str(CERTIFICATES / "network.json")
    run(capsys, "check", str(ACCEPTED), "--network", network, "--budget", "9" * 25)
    expected = f"--json --network {network} --budget {2**61} -- {ACCEPTED}"
    assert seen.read_text() == expected


def test_a_program_without_a_report(
    answers: Callable[[str, Any], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    answers("", None)
    status, out, _ = run(capsys, "check", str(ACCEPTED))
    assert status == 0
    assert out.endswith(f"{PROGRAM}: failed (start: {PROGRAM} ended with status 0 and no report)\n")
