"""Temporary folders and files: nothing is left behind, however a program ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from polyrelu.support import temporary

PROGRAM = """
import sys
from pathlib import Path
from polyrelu.support.interrupts import quit_with
from polyrelu.support.temporary import temporary_folder
from polyrelu.support.text_files import write_all

place = Path(sys.argv[1])

def pieces():
    yield b"half of a file"
    with temporary_folder(place) as folder:
        Path(folder, "file").write_text("text")
        quit_with(3, (1, str(len(list(place.iterdir())))))

write_all([(place / "net.json", pieces())])
"""


def test_a_program_that_ends_at_once(tmp_path: Path) -> None:
    """There are a folder and half of a file; then nothing."""
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (3, "2\n", "")
    assert list(tmp_path.iterdir()) == []


def test_what_exists_is_known(tmp_path: Path) -> None:
    with temporary.temporary_folder(tmp_path) as folder:
        assert {Path(folder)} == temporary.UNFINISHED
    with pytest.raises(KeyError), temporary.temporary_folder(tmp_path):
        raise KeyError
    assert not temporary.UNFINISHED
    assert list(tmp_path.iterdir()) == []
