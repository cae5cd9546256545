"""Pages name all classes of competitors, and say which contains which."""

from __future__ import annotations

import re

import pytest

from polyrelu.proofs.identify import _CLASSES
from tests.cli.commands import help_of
from tests.generators.files import ROOT

DOCS = ROOT / "docs"


def test_a_row_for_each_class() -> None:
    page = (DOCS / "how-to" / "claims.md").read_text("utf-8").partition("## Classes")[2]
    rows = re.findall(r"^\| (\w+) \|", page.partition("## ")[0], re.MULTILINE)
    assert rows == ["class", *_CLASSES]
    glossary = (DOCS / "theory" / "glossary.md").read_text("utf-8")
    assert f"{', '.join(f'*{name}*' for name in [*_CLASSES][:-1])} or *generic*" in glossary


def test_which_contains_which(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither of regular and sparse parameters contains the other."""
    assert "regular" not in _CLASSES["sparse"]
    assert "sparse" not in _CLASSES["regular"]
    text = " ".join(help_of(capsys, "identify").split())
    assert "regular and sparse contain transversal, which contains generic" in text
    page = " ".join((DOCS / "how-to" / "claims.md").read_text("utf-8").split())
    assert "The regular and the sparse parameters both contain the transversal ones" in page
