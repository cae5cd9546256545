"""The commands `minimal`, `dimension` and `fingerprint`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polyrelu.cli.main import main
from tests.cli.commands import run, run_json


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The JSON object of a command, which is in the shipped schema."""
    return run_json(capsys, *arguments)[1]


def test_bounds_and_their_certificates(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cert = str(tmp_path / "cert.json")
    found = checked(capsys, "minimal", "example:bends", "-o", cert)
    assert (found["at_least"], found["own_size"], found["theorem"]) == (2, 2, "jumps")
    assert checked(capsys, "check", cert)["status"] == "accepted"
    found = checked(capsys, "minimal", "example:bends", "--among", "transversal", "-o", cert)
    assert (found["at_least"], found["theorem"]) == (2, "bends")
    assert checked(capsys, "check", cert)["status"] == "accepted"
    found = checked(capsys, "dimension", "example:bends", "-o", cert)
    assert (found["at_least"], found["at_most"], found["parameters"]) == (11, 11, 15)
    assert checked(capsys, "check", cert)["status"] == "accepted"
    status, out, _ = run(capsys, "show", cert)
    assert status == 0
    assert "functional dimension" in out


def test_open_questions_and_errors(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = checked(capsys, "minimal", "example:xor", "--domain", "box:0,1/4")
    assert (found["status"], found["at_least"], found["theorem"]) == ("undecided", None, None)
    few = checked(capsys, "dimension", "example:bends", "--points", "3")
    assert few["at_least"] <= 3 < few["at_most"]
    status, _, err = run(
        capsys, "minimal", "example:xor", "--quantity", "neurons", "--among", "regular"
    )
    assert status == 2
    assert "--among regular: bounds on hidden layers only" in err
    status, _, err = run(
        capsys, "dimension", "example:xor", "-o", str(tmp_path / "no" / "cert.json")
    )
    assert (status, "no such folder" in err) == (2, True)


def test_fingerprints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fingerprint", "example:twins-a", "example:twins-b", "example:xor"]) == 0
    texts = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [name for _, name in texts] == ["example:twins-a", "example:twins-b", "example:xor"]
    assert texts[0][0] == texts[1][0] != texts[2][0]
    found = checked(capsys, "fingerprint", "example:twins-a", "--domain", "box:0,1")
    assert found["fingerprints"]["example:twins-a"] != texts[0][0]


def test_the_dimension_in_answers_of_identify(capsys: pytest.CaptureFixture[str]) -> None:
    """Proved, refuted, undecided; nothing is said unless it is asked for."""
    for name, bounds in (("example:bends", (11, 11)), ("example:twins-a", (9, 10))):
        found = checked(capsys, "identify", name, "--functional-dimension")
        assert tuple(found["functional_dimension"].values()) == bounds
        assert "functional_dimension" not in checked(capsys, "identify", name)
    _, out, _ = run(capsys, "identify", "example:hidden", "--functional-dimension")
    assert "functional dimension: between 7 and 8 of 11 parameters" in out
    _, out, _ = run(
        capsys, "identify", "example:twins-a", "--among", "regular", "--functional-dimension"
    )
    assert "undecided" in out
    assert "functional dimension: between 9 and 10 of 13 parameters" in out
