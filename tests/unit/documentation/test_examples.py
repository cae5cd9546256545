"""The Python sessions of README and documentation run, and their links lead somewhere."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.generators.files import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: The page that shows how a docstring looks.
NO_SESSIONS = ["docs/development/style.md"]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", [p for p in PAGES if _named(p) not in NO_SESSIONS], ids=_named)
def test_python_sessions(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS)
    assert failed == 0


@pytest.mark.parametrize("page", PAGES, ids=_named)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"(?s)```.*?```", "", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target
