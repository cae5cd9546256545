"""The syntax trees of the project's own modules, read once in a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

from tests.generators.files import ROOT

__all__ = ["PACKAGE", "nodes_of", "parsed"]

Node = TypeVar("Node", bound=ast.AST)

#: The modules of the package, without the checker file, which is built from some of them.
PACKAGE = sorted({*(ROOT / "polyrelu").rglob("*.py")} - {ROOT / "polyrelu" / "checker.py"})


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _by_type(path: Path) -> dict[type[ast.AST], list[ast.AST]]:
    """The nodes of a module of those types that tests look at."""
    found: dict[type[ast.AST], list[ast.AST]] = {
        kind: []
        for kind in (
            ast.Attribute,
            ast.Call,
            ast.ClassDef,
            ast.FunctionDef,
            ast.Import,
            ast.ImportFrom,
        )
    }
    for node in ast.walk(parsed(path)):
        if type(node) in found:
            found[type(node)].append(node)
    return found


def nodes_of(path: Path, kind: type[Node]) -> Iterator[Node]:
    """The nodes of a type anywhere in a module."""
    for node in _by_type(path)[kind]:
        assert isinstance(node, kind)
        yield node
