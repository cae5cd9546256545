"""The Python sessions and the shell commands of README and documentation run."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from tests.generators.files import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=_named)
def test_python_sessions(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS)
    assert failed == 0


@pytest.mark.parametrize("page", PAGES, ids=_named)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"(?s)```.*?```", "", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
        if target != "format.md":  # made by docs/hooks.py
            assert (page.parent / target).exists(), target


def shell_commands(page: Path) -> list[list[str]]:
    """The commands `polyrelu …` in the shell blocks of a page, split into words."""
    blocks = re.findall(r"(?s)```sh\n(.*?)```", page.read_text(encoding="utf-8"))
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    commands = [shlex.split(line, comments=True) for line in lines if "polyrelu " in line]
    return [words[words.index("polyrelu") + 1 :] for words in commands if "polyrelu" in words]
