"""The command `polyrelu same-decisions`: the largest output, and the smallest one."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyrelu import from_arrays, save
from tests.cli.commands import run, run_json


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs x, -x and 2, and the same with a third cost 1."""
    monkeypatch.chdir(tmp_path)
    for name, third in (("f.json", 2), ("g.json", 1)):
        save(from_arrays([([[1], [-1], [0]], [0, 0, third])]), name)


def test_the_smallest_output(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["same-decisions", "f.json", "g.json", "--domain", "box:1/2,1"]
    status, found = run_json(capsys, *arguments, "--choose", "smallest", "-o", "same.cert")
    assert (status, found["status"], found["choose"]) == (0, "proved", "smallest")
    assert found["classes"] == [1]
    status, out, _ = run(capsys, "check", "same.cert")
    assert status == 0
    assert "the same output of the second one is smaller than all others" in " ".join(out.split())
    _, out, _ = run(capsys, "show", "same.cert")
    assert "the same output of the second is smaller than all others" in " ".join(out.split())
    status, found = run_json(capsys, *arguments)
    assert (status, found["choose"], found["best"]) == (1, "largest", [[2], [0, 2]])


def test_next_steps_go_on_with_the_choice(capsys: pytest.CaptureFixture[str]) -> None:
    """The costs x and -x, and x + 3/32 and -x: they differ where x is between -3/64 and 0."""
    save(from_arrays([([[1], [-1], [0]], ["3/32", 0, 1])]), "h.json")
    command = ["same-decisions", "f.json", "h.json", "--domain", "box:-1,1"]
    status, found = run_json(capsys, *command, "--choose", "smallest")
    assert status == 1
    assert found["statement"].startswith("At a point the first network chooses class")
    assert ", the smallest output, by " in found["statement"]
    (step,) = found["next"]
    assert "same-decisions f.json h.json" in step
    assert "--choose smallest" in step
    again = step.partition("polyrelu ")[2].split()
    status, found = run_json(capsys, *again)
    assert (status, found["status"]) == (0, "proved")


def test_an_unknown_choice(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, error = run(capsys, "same-decisions", "f.json", "g.json", "--choose", "least")
    assert status == 2
    assert "invalid choice: 'least'" in error


def test_multiples_say_the_factor(capsys: pytest.CaptureFixture[str]) -> None:
    """Differences of outputs that are multiples of each other; the others have no factor."""
    rows = [[1, 0], [0, 1]]
    save(from_arrays([(rows, [0, 1]), (rows, [0, 0])]), "one.json")
    save(from_arrays([(rows, [0, 1]), ([["2/3", 0], [0, "2/3"]], [5, 5])]), "two.json")
    arguments = ["same-decisions", "one.json", "two.json", "--domain", "box:-1,1"]
    status, found = run_json(capsys, *arguments)
    assert (status, found["factor"]) == (0, "2/3")
    assert "2/3 times" in run(capsys, *arguments)[1]
    status, found = run_json(capsys, "same-decisions", "one.json", "one.json", *arguments[3:])
    assert (status, found["factor"]) == (0, None)
