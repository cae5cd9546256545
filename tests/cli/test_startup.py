"""What a start of the program costs: counts of imported modules, which no busy machine changes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.generators.files import ROOT


def imported_by(statement: str) -> list[str]:
    """Return the modules that a statement imports in a new process."""
    program = (
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nbefore = set(sys.modules)\n"
        f"try:\n    {statement}\nexcept SystemExit:\n    pass\n"
        "print(*sorted(set(sys.modules) - before), file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr.split()


@pytest.mark.parametrize(
    ("statement", "most_own", "most"),
    [
        ("import polyrelu", 5, 40),
        ("from polyrelu.cli.main import main; main(['--help'])", 60, 156),
    ],
)
def test_few_modules_are_imported(statement: str, most_own: int, most: int) -> None:
    """A module takes about half a millisecond, so that import and help stay below 0.15 seconds."""
    names = imported_by(statement)
    own = [name for name in names if name.partition(".")[0] == "polyrelu"]
    assert 0 < len(own) <= most_own, own
    assert len(names) <= most, names
