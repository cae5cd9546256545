"""The command line of the checker file: what it prints, and its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from polyrelu import checker
from tests.generators.campaigns import few_fast
from tests.generators.certificates import (
    INVALID,
    MALFORMED,
    STATUS,
    VALID,
    name,
    run_checker,
    run_checker_alone,
)
from tests.generators.checker_bombs import BOMBS
from tests.generators.files import CERTIFICATES, ROOT


@pytest.mark.parametrize("path", [*VALID[:3], *INVALID[:3], *MALFORMED[:3]], ids=name)
def test_command(path: Path) -> None:
    report = checker.check_file(path)
    status = STATUS[report.verdict]
    plain = run_checker(path)
    assert plain.returncode == status
    assert len(plain.stderr.splitlines()) == (status == 2)
    assert plain.stdout.startswith({0: "accepted", 1: "rejected", 2: ""}[status])
    as_json = run_checker("--json", path)
    assert as_json.returncode == status
    document = json.loads(as_json.stdout)
    assert set(document) == {
        "command",
        "status",
        "error",
        "verdict",
        "statement",
        "theorem",
        "hypotheses",
        "assumed",
        "trusted",
        "networks",
        "step",
        "expected",
        "got",
        "cost",
    }
    assert document["command"] == "check"
    assert document["status"] == {0: "accepted", 1: "rejected", 2: "error"}[status]
    assert document["hypotheses"] == list(report.hypotheses)


@pytest.mark.parametrize("path", [VALID[0], INVALID[0], MALFORMED[0]], ids=name)
def test_a_process_of_its_own(path: Path) -> None:
    """The file alone says the same."""
    found, wanted = run_checker_alone(path), run_checker(path)
    assert (found.returncode, found.stdout, found.stderr) == (
        wanted.returncode,
        wanted.stdout,
        wanted.stderr,
    )


def test_usage() -> None:
    for arguments in (
        [],
        ["--budget", "0", "a"],
        ["--budget", "x", "a"],
        ["--budget"],
        ["--network"],
        ["--network", "x"],
        ["--unknown"],
        ["--unknown", "a"],
        ["a", "-x"],
        ["a", "--json=1"],
        ["a", "--network"],
    ):
        result = run_checker(*arguments)
        assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)


def test_help_and_version() -> None:
    for arguments in (["--help"], ["-h"], ["--help", "missing.json"]):
        found = run_checker(*arguments)
        assert (found.returncode, found.stderr) == (0, "")
        assert found.stdout.startswith("usage: checker.py [--json]")
        assert "--budget UNITS" in found.stdout
    found = run_checker("--version")
    assert (found.returncode, found.stdout.split()[-1]) == (0, "1")


def test_several_certificates() -> None:
    """Each has its line, and the worst status counts."""
    good, bad, ugly = VALID[0], INVALID[0], MALFORMED[0]
    for paths, status in (([good, good], 0), ([good, bad, good], 1), ([bad, ugly, good], 2)):
        found = run_checker(*paths)
        assert found.returncode == status
        heads = [line for line in found.stdout.splitlines() if not line.startswith(" ")]
        assert len(heads) + len(found.stderr.splitlines()) == len(paths)
        answers = [json.loads(line) for line in run_checker("--json", *paths).stdout.splitlines()]
        assert [answer["file"] for answer in answers] == [f"'{path}'" for path in paths]
        assert max(STATUS[answer["verdict"]] for answer in answers) == status


def test_budget() -> None:
    """A budget that is too small is named; the cost that is stated is enough."""
    cost = json.loads(run_checker("--json", VALID[0]).stdout)["cost"]
    assert run_checker("--budget", str(cost), VALID[0]).returncode == 0
    found = run_checker("--budget", str(cost - 1), VALID[0])
    assert found.returncode == 2
    assert "beyond the limits" in found.stderr
    assert "which --budget raises" in found.stderr


@pytest.mark.parametrize(
    "arguments",
    few_fast(
        [
            [VALID[0]],
            ["--json", INVALID[0]],
            [MALFORMED[0]],
            ["--json", VALID[0]],
            [INVALID[0]],
            ["--json", MALFORMED[0]],
        ],
        2,
    ),
)
def test_outputs_that_cannot_be_written(arguments: list[str | Path]) -> None:
    """A full disk, a closed pipe or no output: status 0, 1 or 2, and a line, but no traceback."""
    path = Path(arguments[-1])
    file = str(ROOT / "polyrelu" / "checker.py")
    command = [sys.executable, "-I", "-S", file, *map(str, arguments)]
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert found.returncode == 2
        assert 1 <= len(found.stderr.splitlines()) <= 2
        assert "Traceback" not in found.stderr
        found = subprocess.run(command, stdout=full, stderr=full, text=True, check=False)
        assert found.returncode == 2
    reader, writer = os.pipe()
    os.close(reader)
    found = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert found.returncode == 2
    assert "Traceback" not in found.stderr
    shell = subprocess.run(
        ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *command], capture_output=True, check=False
    )
    assert shell.returncode == STATUS[checker.check_file(path).verdict]


def test_about(tmp_path: Path) -> None:
    """A certificate about another network is rejected; a pair is about both of its networks."""
    for stem, wanted in (("affine", [0]), ("replacement-line", [0, 1]), ("point", [0, 0])):
        claim = json.loads((CERTIFICATES / "valid" / f"{stem}.json").read_text())["claim"]
        networks = [claim[key]["inline"] for key in ("network", "other") if key in claim]
        for k, (network, status) in enumerate(zip(networks, wanted, strict=True)):
            file = tmp_path / f"{k}.json"
            file.write_text(json.dumps(network))
            found = run_checker("--about", file, CERTIFICATES / "valid" / f"{stem}.json")
            assert (found.returncode, found.stderr) == (status, ""), (stem, k)
            assert ("step: about" in found.stdout) == bool(status)


def test_about_files_that_are_no_networks(tmp_path: Path) -> None:
    packed = tmp_path / "lists.json"
    packed.write_bytes(BOMBS["lists"].make(30_000_000))
    valid = VALID[0]
    for file in (packed, valid, tmp_path / "missing.json", tmp_path):
        found = run_checker("--about", file, valid)
        assert (found.returncode, found.stdout, len(found.stderr.splitlines())) == (2, "", 1)
        assert found.stderr.startswith("polyrelu: --about: ")
