"""Lines, phrases and sizes that the style page rules out (docs/development/style.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.generators.files import ROOT
from tests.generators.sources import PACKAGE, nodes_of, parsed

CODE = sorted(
    path for name in ("polyrelu", "tests", "benchmarks") for path in (ROOT / name).rglob("*.py")
)
MARKDOWN = [
    path
    for path in [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "polyrelu").rglob("*.md"),
    ]
    if path.name != "CHANGELOG.md"
]

#: Phrases of a private dialect, with a word of what to write instead.
DIALECT = {
    r"\bso many\b": "say what is counted",
    r"\bone thing more\b": "say which",
    r"\bthat of\b": "repeat the noun",
    r"\bthose of\b": "repeat the noun",
    r"\bthe same (by|with|for|in|at|as) (the|a) other\b": "say what it does",
}
LONGEST_FUNCTION = 60


def name_of(path: Path) -> str:
    """The path as it stands in the project."""
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("paths", [CODE, MARKDOWN], ids=["code", "Markdown"])
def test_lines_have_at_most_100_columns(paths: list[Path]) -> None:
    """Tables and links in Markdown cannot be broken; marks for the type checker do not count."""
    wide = {name_of(path): numbers for path in paths if (numbers := wide_lines(path))}
    assert not wide


def wide_lines(path: Path) -> list[int]:
    """The numbers of the lines of a file that have more than 100 columns."""
    return [
        number
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(re.sub(r"  # type: ignore.*", "", line)) > 100
        and not (path.suffix == ".md" and re.match(r"\s*(\||\[|!\[)", line))
    ]


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Docstrings and comments, with the lines where they begin."""
    text = path.read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if "#" in line and (found := re.search(r"(?:^|\s)#:? (.*)", line)):
            yield number, found[1]
    holders: list[ast.Module | ast.ClassDef | ast.FunctionDef] = [parsed(path)]
    holders += [*nodes_of(path, ast.ClassDef), *nodes_of(path, ast.FunctionDef)]
    for node in holders:
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            yield first.lineno, str(first.value.value)


def test_no_dialect() -> None:
    """Docstrings and comments of the package."""
    any_phrase = re.compile("|".join(DIALECT), re.IGNORECASE)
    found = [
        f"{name_of(path)}:{number}: {match[0]}"
        for path in PACKAGE
        for number, text in prose(path)
        if (match := any_phrase.search(text))
    ]
    assert not found, "see DIALECT for what to write instead"


def test_functions_are_short() -> None:
    """Bodies without their docstrings."""
    assert not [name for path in PACKAGE for name in long_functions(path)]


def long_functions(path: Path) -> list[str]:
    """The functions of a module whose bodies are too long."""
    found = []
    for node in nodes_of(path, ast.FunctionDef):
        assert node.end_lineno is not None
        docstring = (ast.get_docstring(node, clean=False) or "").count("\n") + 1
        if node.end_lineno - node.lineno - docstring > LONGEST_FUNCTION:
            found.append(f"{name_of(path)}:{node.name}")
    return found
