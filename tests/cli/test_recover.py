"""`polyrelu recover`: networks from values and from weights, and points that teach."""

from __future__ import annotations

import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from polyrelu import checker, related
from polyrelu.formats import load, save
from polyrelu.network import from_arrays
from tests.cli.commands import run, run_json

HIDDEN = from_arrays([([[1, 2], [3, -1]], [0, 2]), ([[1, -2]], [5])])


@pytest.fixture
def hidden(tmp_path: Path) -> str:
    name = str(tmp_path / "hidden.json")
    save(HIDDEN, name)
    return name


def test_a_network_is_recovered(
    hidden: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again, certificate = str(tmp_path / "again.json"), str(tmp_path / "same.json")
    options = ("-o", again, "--certificate", certificate)
    status, found = run_json(capsys, "recover", "--oracle", hidden, *options)
    assert (status, found["status"], found["has_the_parameters"]) == (0, "proved", True)
    assert related(load(again), HIDDEN)
    assert checker.check_file(certificate).verdict == "accepted"


def test_values_are_kept(hidden: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("recover", "--oracle", hidden, "--certificate")
    file = tmp_path / "values.db"
    for name in ("once.json", "again.json"):
        options = ("--checkpoint", str(file))
        assert run(capsys, *command, str(tmp_path / name), *options)[0] == 0
    assert run(capsys, *command, str(tmp_path / "plain.json"))[0] == 0
    written = {(tmp_path / f"{name}.json").read_bytes() for name in ("once", "again", "plain")}
    assert len(written) == 1
    with closing(sqlite3.connect(file)) as checkpoint:
        (kept,) = checkpoint.execute("SELECT count(*) FROM results").fetchone()
    assert kept == run_json(capsys, *command[:-1])[1]["queries"]
    status, _, error = run(capsys, *command[:-1], "--domain", "box:0,1", *options)
    assert (status, "of other work (another domain" in error) == (2, True)
    for wrong, text in ((("--teach", "t"), "keeps the values"), (("--certificate", str(file)), "")):
        status, _, error = run(capsys, *command[:-1], *wrong, *options)
        assert (status, text in error) == (2, True)


def test_from_weights(hidden: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights, again = str(tmp_path / "weights.json"), str(tmp_path / "again.json")
    run(capsys, "complex", hidden, "--weights", weights)
    status, out, _ = run(capsys, "recover", weights, "-o", again)
    assert status == 3
    assert "elsewhere nothing is proved" in out
    assert related(load(again), HIDDEN)
    (step,) = (line for line in out.splitlines() if line.startswith("next: "))
    words = shlex.split(step.partition(": polyrelu ")[2])
    assert run(capsys, *[hidden if word == "NET" else word for word in words])[0] == 0
    assert "next: " not in run(capsys, "recover", weights)[1]


def test_more_values(hidden: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the bound on the number of values ended a search, a larger one is the next step."""
    status, found = run_json(capsys, "recover", "--oracle", hidden, "--queries", "30")
    assert (status, found["status"], found["network"]) == (3, "undecided", None)
    (step,) = found["next"]
    words = shlex.split(step.partition(": polyrelu ")[2])
    assert words[words.index("--queries") + 1] == "300"
    assert words.count("--queries") == 1
    assert run(capsys, *words)[0] == 0


def test_points_teach(hidden: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points, again = str(tmp_path / "points.json"), str(tmp_path / "again.json")
    options = ("--teach", points, "-o", again)
    status, found = run_json(capsys, "recover", "--oracle", hidden, *options)
    assert (status, found["status"], found["queries"]) == (0, "proved", 10)
    assert related(load(again), HIDDEN)
    assert checker.check_file(points).verdict == "accepted"
    status, out, _ = run(capsys, "recover", "--oracle", hidden, "--teach", points)
    assert "Every network with one hidden layer of at most 2 neurons" in out
    status, out, _ = run(capsys, "show", points)
    assert "by its values at 10 points" in " ".join(out.split())


def test_no_points_teach(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, points = str(tmp_path / "double.json"), tmp_path / "points.json"
    save(from_arrays([([[1, 2], [2, 4]], [1, 2]), ([[1, 1]], [0])]), name)
    status, found = run_json(capsys, "recover", "--oracle", name, "--teach", str(points))
    assert (status, found["status"]) == (3, "undecided")
    assert "same hyperplane" in found["statement"]
    assert not points.exists()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--teach", "a.json"], "either a file of breakpoints or --oracle"),
        (["weights.json", "--teach", "a.json"], "--teach needs --oracle"),
        (["--oracle", "example:xor", "--teach", "a", "--domain", "box:0,1"], "is about R^n"),
        (["--oracle", "example:twins-a", "--teach", "/nowhere/a.json"], "/nowhere"),
        (["weights.json", "--certificate", "a.json"], "--certificate needs --oracle"),
        (["/nowhere/weights.json"], "cannot read"),
    ],
)
def test_wrong_options(
    options: list[str], text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, _, err = run(capsys, "recover", *options)
    assert status == 2
    assert text in err
    assert len(err.strip().splitlines()) == 1


def test_a_network_in_the_place_of_breakpoints(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The error says what writes such a file, and what takes a network."""
    (tmp_path / "net.onnx").write_bytes(b"\x08\x08\x8a")
    status, _, err = run(capsys, "recover", str(tmp_path / "net.onnx"))
    assert (status, err.count("\n")) == (2, 1)
    assert "not a JSON file of breakpoints (no text); `polyrelu complex NET --weights" in err
    assert "--oracle NET takes a network" in err
    for name, text in (("native.json", "not a file of breakpoints"), ("cut.json", "damaged")):
        document = '{"format": "polyrelu-breakpoints", "piece": 1}' if text == "damaged" else "{}"
        (tmp_path / name).write_text(document.replace("{}", '{"format": "polyrelu-network"}'))
        status, _, err = run(capsys, "recover", str(tmp_path / name))
        assert (status, err.count("\n"), err.count("--weights FILE")) == (2, 1, 1)
        assert f"{name}: " in err
        assert text in err
