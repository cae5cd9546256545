"""The shipped JSON Schemas describe what the commands print and write."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from polyrelu.cli.main import main
from tests.generators.files import CERTIFICATES


def validator(name: str) -> Any:
    schema = json.loads((files("polyrelu") / "schemas" / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.slow
def test_what_the_commands_print(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> Any:
        main(list(arguments))
        return json.loads(capsys.readouterr().out)

    certificate, other = str(tmp_path / "cert.json"), tmp_path / "other.json"
    layer = {
        "denominator": "1",
        "bias": " ".join(["0"] * 10),
        "weights": [{"from": 0, "rows": [" ".join(["1"] * 64)] * 10}],
    }
    network = {
        "format": "polyrelu-network",
        "version": 1,
        "inputs": 64,
        "layers": [layer],
        "last": "affine",
    }
    other.write_text(json.dumps(network))
    outputs = [
        run("identify", "example:digits", "-o", certificate, "--json"),
        run("info", "example:digits", "--json"),
        run("info", "--engine", "--json"),
        run("check", certificate, "--json"),
        run("show", certificate, "--json"),
        run("runtime-error", "example:digits", "--domain", "box:0,16", "-o", certificate, "--json"),
        run("check", certificate, "--json"),
        run("show", certificate, "--json"),
        run("equivalent", "example:digits", "example:digits", "-o", certificate, "--json"),
        run("check", certificate, "--json"),
        run("show", certificate, "--json"),
        run("equivalent", "example:digits", str(other), "-o", certificate, "--json"),
        run("check", certificate, "--json"),
        run("show", certificate, "--json"),
        run("equivalent", "example:digits", str(other), "--budget", "0", "--json"),
        run("info", "missing.npz", "--json"),
    ]
    statuses = [
        "proved",
        "ok",
        "ok",
        "accepted",
        "ok",
        "proved",
        "accepted",
        "ok",
        "proved",
        "accepted",
        "ok",
    ]
    statuses += ["refuted", "accepted", "ok", "undecided", "error"]
    assert [output["status"] for output in outputs] == statuses
    for output in outputs:
        validator("output").validate(output)


@pytest.mark.parametrize(
    "path", sorted(CERTIFICATES.glob("valid/*.json")), ids=lambda path: path.stem
)
def test_valid_certificates(path: Path) -> None:
    name = "network" if path.name.endswith(".network.json") else "certificate"
    validator(name).validate(json.loads(path.read_text()))


def test_a_certificate_with_a_float_does_not_validate() -> None:
    document = json.loads((CERTIFICATES / "valid" / "affine.json").read_text())
    document["version"] = 1.5
    assert not validator("certificate").is_valid(document)
