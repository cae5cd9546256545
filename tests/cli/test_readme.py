"""The shell commands of the README are the ones that CI runs."""

from __future__ import annotations

import re

from tests.generators.files import ROOT


def test_ci_runs_the_commands_of_the_readme() -> None:
    ci = (ROOT / ".ci" / "run").read_text()
    commands = re.findall(r'^ *readme "(.+)"$', ci, re.MULTILINE)
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(commands) == 2
    assert all(command in lines for command in commands)
