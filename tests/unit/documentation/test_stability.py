"""The page on what is stable has every public module, and one version stands everywhere."""

from __future__ import annotations

import re
from importlib import import_module

import polyrelu
from tests.generators.files import ROOT

#: Public modules that are no packages.
SINGLE = {"checker", "errors", "selftest"}
PAGE = (ROOT / "docs/reference/stability.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| `([\w.]+)` \| (.+?) \|", PAGE.partition("| module of")[2], re.M))


def test_every_public_module_is_settled_or_young() -> None:
    package = ROOT / "polyrelu"
    found = {
        ".".join(path.parent.relative_to(package).parts)
        for path in package.glob("*/**/__init__.py")
        if not path.parent.name.startswith("_") and "\n__all__ = [" in path.read_text("utf-8")
    }
    assert len(found) > 25
    assert list(ROWS) == sorted(found | SINGLE)
    assert {re.split(r"\W", how)[0] for how in ROWS.values()} == {"settled", "young"}


def test_names_on_the_page_exist() -> None:
    for module, how in ROWS.items():
        names = import_module(f"polyrelu.{module}").__all__ if "`" in how else []
        assert set(re.findall(r"`(\w+)`", how)) <= set(names)


def test_one_version_everywhere() -> None:
    version = polyrelu.__version__
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.findall(r"^## (\S+)", changes, re.M)[0] == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"In version {version.rpartition('.')[0]} " in PAGE
