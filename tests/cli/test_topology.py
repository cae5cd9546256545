"""`polyrelu topology`: what it prints, errors, Ctrl-C."""

from __future__ import annotations

import json
import signal
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from polyrelu.formats import save
from polyrelu.network import from_arrays
from polyrelu.support.progress import ProgressStep
from tests.cli.commands import help_of, run, run_json

#: ||x| + |y| - 2|, and x and y
RING = from_arrays(
    [([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1] * 4, [-1] * 4], [-2, 2]), ([[1, 1]], [0])]
)
PAIR = from_arrays([([[1, 0], [0, 1]], [0, "1/3"])])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two networks, to work in."""
    monkeypatch.chdir(tmp_path)
    save(RING, tmp_path / "ring.json")
    save(PAIR, tmp_path / "pair.json")
    return tmp_path


def validate(document: object) -> None:
    schema = json.loads((files("polyrelu") / "schemas" / "output.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    status, document = run_json(capsys, "topology", *arguments)
    assert status == 0
    validate(document)
    return document


def test_the_object(capsys: pytest.CaptureFixture[str]) -> None:
    document = found(capsys, "ring.json", "--level", "1/2")
    assert document.pop("seconds") >= 0
    assert (document.pop("reason"), document.pop("next")) == (None, [])
    assert document == {
        "command": "topology",
        "status": "ok",
        "domain": "R^n",
        "set": "level",
        "output": 0,
        "level": "1/2",
        "label": None,
        "dimension": 1,
        "f_vector": [8, 8, 0],
        "components": 2,
        "betti_q": [2, 2, 0],
        "betti_gf2": [2, 2, 0],
        "torsion": [[], [], []],
        "euler": 0,
        "euler_compact": 0,
        "lineality_dim": 0,
        "complete": True,
        "rounding": "none",
        "caveats": [],
    }


@pytest.mark.parametrize(
    ("arguments", "betti", "euler_compact"),
    [
        (["ring.json", "--level", "0"], [1, 1, 0], 0),
        (["ring.json", "--level=-0.5"], [0, 0, 0], 0),
        (["ring.json", "--level=-1/2"], [0, 0, 0], 0),
        (["ring.json", "--sublevel", "1e0"], [1, 1, 0], 0),
        (["ring.json", "--superlevel", "1"], [2, 1, 0], 1),
        (["ring.json", "--superlevel", "1", "--domain", "box:-2,2"], [5, 0, 0], 5),
        (["ring.json", "--boundary"], [1, 1, 0], 0),
        (["ring.json", "--class", "0"], [1, 1, 0], 0),
        (["ring.json", "--class", "1"], [1, 0, 0], 1),
        (["pair.json", "--boundary"], [1, 0, 0], -1),
        (["pair.json", "--class", "1", "--domain", "orthant"], [1, 0, 0], 0),
        (["pair.json", "--level", "1/3", "--output", "1"], [1, 0, 0], -1),
    ],
)
def test_sets(
    arguments: list[str], betti: list[int], euler_compact: int, capsys: pytest.CaptureFixture[str]
) -> None:
    document = found(capsys, *arguments)
    assert (document["betti_q"], document["betti_gf2"], document["euler_compact"]) == (
        betti,
        betti,
        euler_compact,
    )
    assert document["components"] == betti[0]
    assert document["euler"] == betti[0] - betti[1] + betti[2]


def test_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "topology", "ring.json", "--sublevel", "0.5")
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert (status, err) == (0, "")
    assert (lines["set"], lines["level"], lines["betti_q"], lines["torsion"]) == (
        "sublevel",
        "1/2",
        "1 1 0",
        "- - -",
    )
    assert "label" not in lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["ring.json"],
            "one of the arguments --level --sublevel --superlevel --boundary --class is required",
        ),
        (["ring.json", "--level", "1", "--boundary"], "not allowed with argument --level"),
        (["ring.json", "--level", "1/0"], "--level '1/0': expected an integer, a decimal"),
        (["ring.json", "--level", "nan"], "--level 'nan': expected"),
        (["ring.json", "--level", "1", "--output", "1"], "there is no output 1, only 0 to 0"),
        (
            ["ring.json", "--level", "1", "--output", "x"],
            "--output 'x': expected the number of an output, from 0",
        ),
        (["ring.json", "--boundary", "--output", "0"], "--output: only for --level"),
        (
            ["ring.json", "--class", "two"],
            "--class 'two': expected the number of an output, from 0",
        ),
        (["ring.json", "--class", "2"], "there is no class 2, only 0 to 1"),
        (["ring.json", "--boundary", "--domain", "cube"], "domain 'cube' is not understood"),
        (["missing.json", "--boundary"], "missing.json: "),
    ],
)
def test_errors(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, document = run_json(capsys, "topology", *arguments)
    assert (status, document["status"]) == (2, "error")
    assert message in document["error"]
    validate(document)


@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c(
    as_json: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(self: object, step: ProgressStep) -> None:
        if step.num_done == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("polyrelu.support.progress.ProgressLine.show", press)
    status, out, err = run(capsys, "topology", "ring.json", "--level", "1", *["--json"] * as_json)
    assert status == 3
    assert err == "interrupted; stopping after this neuron (Ctrl-C again: at once)\n"
    if as_json:
        document = json.loads(out)
        validate(document)
        assert (document["status"], document["complete"], document["level"]) == (
            "undecided",
            False,
            "1",
        )
        assert {
            document[key] for key in ("dimension", "components", "euler", "betti_q", "f_vector")
        } == {None}
    else:
        assert "interrupted: nothing is known of the set" in out
        assert "betti_q" not in out


def test_classes_are_counted_from_zero(capsys: pytest.CaptureFixture[str]) -> None:
    """Text and help say which classes there are; the key of the object stays `label`."""
    arguments = ("topology", "example:xor", "--class", "1", "--domain", "box:-1,2")
    assert "class (0 to 1)    1\n" in run(capsys, *arguments)[1]
    assert run_json(capsys, *arguments)[1]["label"] == 1
    words = " ".join(help_of(capsys, "topology").split())
    assert "K from 0 to the number of outputs - 1" in words
