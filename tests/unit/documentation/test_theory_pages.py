"""The theory pages: their parts, formulas, names and citations (test_examples runs them)."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

import polyrelu
from polyrelu import checker
from tests.generators.files import ROOT

FOLDER = ROOT / "docs" / "theory"
PAGES = sorted(FOLDER.glob("*.md"))

#: The parts of every page about a theorem, in this order.
PARTS = ["Statement", "Hypotheses", "Proof", "Checking rule", "Example", "References"]
#: Pages about something else: words, lists, experiments.
OTHER_PAGES = {
    "bibliography",
    "conventions",
    "corrections",
    "experiments",
    "glossary",
    "index",
    "related-work",
    "statements",
}


@pytest.mark.parametrize("theorem", checker.THEOREMS)
def test_the_index_has_every_theorem(theorem: str) -> None:
    """It stands in the table beside a page that names it, and in FORMAT.md."""
    rows = [row for row in (FOLDER / "index.md").read_text("utf-8").splitlines() if "](" in row]
    (row,) = (row for row in rows if f"`{theorem}`" in row)
    page = FOLDER / row.partition("](")[2].partition(")")[0]
    assert theorem in page.read_text("utf-8")
    assert f"`{theorem}`" in (ROOT / "polyrelu/certificate/FORMAT.md").read_text("utf-8")


def name_of(page: Path) -> str:
    """The name of a page without its ending."""
    return page.stem


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_underscores_are_subscripts(page: Path) -> None:
    """Markdown takes `x'_v … I_{k}` for emphasis; emphasis is written with asterisks."""
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = [
        child for token in markdown.parse(page.read_text("utf-8")) for child in token.children or []
    ]
    assert not [
        token.map for token in tokens if token.tag in ("em", "strong") and "_" in token.markup
    ]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_numbers_at_line_ends_stay_there(page: Path) -> None:
    """Markdown takes a line that begins with `0.` for a list; lists of ours begin with 1."""
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    lists = [token for token in tokens if token.type == "ordered_list_open"]
    assert not [token.map for token in lists if token.attrGet("start") is not None]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_signs_at_line_starts_stay_in_the_formula(page: Path) -> None:
    """Markdown takes `> 0`, `+ t` and `- t` at the start of a line for quotes and lists."""
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    lists = [token for token in tokens if token.type == "bullet_list_open"]
    assert not [token.map for token in tokens if token.type == "blockquote_open"]
    assert {token.markup for token in lists} <= {"*"}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_parts_of_a_theorem_page(page: Path) -> None:
    """Statement, hypotheses, proof, checking rule, example and references, in this order."""
    if page.stem in OTHER_PAGES:
        return
    headings = re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert [heading for heading in headings if heading in PARTS] == PARTS


def resolved(name: str) -> Any:
    """The object of a dotted name below `polyrelu`."""
    found: Any = polyrelu
    parts = name.split(".")
    for k in range(1, len(parts)):
        if not hasattr(found, parts[k]):
            importlib.import_module(".".join(parts[: k + 1]))
        found = getattr(found, parts[k])
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_names_exist(page: Path) -> None:
    """Every dotted name of the package that a page mentions."""
    for name in re.findall(r"`(polyrelu(?:\.\w+)+)`", page.read_text(encoding="utf-8")):
        resolved(name)


def test_works_that_pages_cite_are_in_the_bibliography() -> None:
    """Every arXiv id of the theory pages."""
    listed = (FOLDER / "bibliography.md").read_text(encoding="utf-8")
    cited = {
        number
        for page in PAGES
        for number in re.findall(r"arXiv (\d{4}\.\d{5})", page.read_text(encoding="utf-8"))
    }
    assert not {number for number in cited if number not in listed}


def test_index_lists_every_page() -> None:
    """The site shows the pages in the order of the index."""
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert {page.name for page in PAGES} - {"index.md"} == set(
        re.findall(r"\(([\w-]+\.md)\)", index)
    )


def test_pages_and_figures_are_shipped() -> None:
    """The wheel has the pages that the checker names, with their figures."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    files = settings["tool"]["setuptools"]["data-files"]
    assert files["share/doc/polyrelu/theory"] == ["docs/theory/*.md"]
    assert files["share/doc/polyrelu/theory/figures"] == ["docs/theory/figures/*.svg"]
