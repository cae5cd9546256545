"""Running a command of `polyrelu` in this process, with its output."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from polyrelu.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Return the exit status, and the texts on stdout and stderr."""
    status = main(list(arguments))
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """Return the exit status and the object of `--json`, which validates against its schema."""
    status, out, _ = run(capsys, *arguments, "--json")
    found: dict[str, Any] = json.loads(out)
    _outputs().validate(found)
    return status, found


@cache
def _outputs() -> Any:
    schema = json.loads((files("polyrelu") / "schemas" / "output.schema.json").read_text())
    return jsonschema.Draft202012Validator(schema)


def help_of(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """Return the text of `--help`, which ends the program."""
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    return capsys.readouterr().out
