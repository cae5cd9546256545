"""A command of `polyrelu` run in this process, and what it printed."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from polyrelu.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit status, what stood on stdout and what on stderr."""
    status = main(list(arguments))
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit status and the one object of ``--json``, which is as its schema says."""
    status, out, _ = run(capsys, *arguments, "--json")
    found: dict[str, Any] = json.loads(out)
    _outputs().validate(found)
    return status, found


@cache
def _outputs() -> Any:
    schema = json.loads((files("polyrelu") / "schemas" / "output.schema.json").read_text())
    return jsonschema.Draft202012Validator(schema)
