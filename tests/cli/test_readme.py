"""The README's Python session runs, and its shell commands are the ones CI runs."""

from __future__ import annotations

import doctest
import re

from tests.generators.files import ROOT


def test_python_session() -> None:
    failed, attempted = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert attempted >= 8
    assert failed == 0


def test_ci_runs_the_commands_of_the_readme() -> None:
    ci = (ROOT / ".ci" / "run").read_text()
    commands = re.findall(r'^ *readme "(.+)"$', ci, re.MULTILINE)
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(commands) == 2
    assert all(command in lines for command in commands)


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "polyrelu").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
