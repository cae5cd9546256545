"""Running a command of `polyrelu` in this process, with its output, or in another one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path
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


def begun(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Begin the program in a process of its own, in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "polyrelu", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def checkpoint_size(path: Path) -> int:
    """Return the size of a checkpoint, with the file that SQLite has beside it."""
    files_of_it = [path, path.with_name(f"{path.name}-wal")]
    return sum(file.stat().st_size for file in files_of_it if file.exists())
