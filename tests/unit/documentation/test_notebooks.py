"""Notebooks are committed without outputs; the build of the documentation runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.generators.files import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def cells_of(path: Path, kind: str) -> list[dict[str, Any]]:
    """The cells of one kind, in order."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in document["cells"] if cell["cell_type"] == kind]


def test_there_are_fourteen() -> None:
    assert [path.name[:2] for path in NOTEBOOKS] == [f"{number:02}" for number in range(1, 15)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_outputs(path: Path) -> None:
    for cell in cells_of(path, "code"):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_installs_first_and_asks_last(path: Path) -> None:
    assert "pip install" in "".join(cells_of(path, "code")[0]["source"])
    texts = ["".join(cell["source"]) for cell in cells_of(path, "markdown")]
    assert texts[0].startswith("# ")
    assert texts[-1].startswith("## Exercises")
