"""Rooms keep to themselves what is private (docs/development/architecture.md)."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.generators.files import ROOT
from tests.generators.sources import PACKAGE, nodes_of, parsed

#: Words of a docstring that reserve something for its own room.
INTERNAL = re.compile(
    r"\b(internal|private) to\b|\broom-internal\b|; no other room imports it", re.IGNORECASE
)


def room_of(path: Path) -> str:
    """The first folder below the package, or the name of a module that stands in none."""
    parts = path.relative_to(ROOT / "polyrelu").with_suffix("").parts
    return parts[0]


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def members_of(kind: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Names of methods, fields and attributes of a class, with their docstrings."""
    for node in ast.walk(kind):
        if isinstance(node, ast.FunctionDef):
            yield node.name, ast.get_docstring(node) or ""
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, ""
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, ""


def owners_of_members() -> dict[str, set[str]]:
    """The rooms whose classes have a member that is private, or that is said to be internal."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in PACKAGE:
        for kind in nodes_of(path, ast.ClassDef):
            for name, text in members_of(kind):
                if is_private(name) or (name[0] != "_" and INTERNAL.search(text)):
                    found[name].add(room_of(path))
    return found


def test_no_room_reads_private_members_of_another() -> None:
    owners = owners_of_members()
    assert "_arrays" in owners  # of the complex
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.attr} of {owners[node.attr]}"
        for path in PACKAGE
        for node in nodes_of(path, ast.Attribute)
        if node.attr in owners
        and room_of(path) not in owners[node.attr]
        and node.attr not in ("_replace", "_exit", "_asdict")  # of the standard library
    ]
    assert not found


def imports_of(path: Path) -> Iterator[tuple[int, str, str]]:
    """Lines, modules and names of the imports of a module."""
    for node in nodes_of(path, ast.ImportFrom):
        yield from ((node.lineno, node.module or "", alias.name) for alias in node.names)
    for other in nodes_of(path, ast.Import):
        yield from ((other.lineno, alias.name, "") for alias in other.names)


def test_no_room_imports_what_another_keeps() -> None:
    """Private names, and modules whose docstring says that they are internal to their room."""
    kept = tuple(
        ".".join(["polyrelu", *path.relative_to(ROOT / "polyrelu").with_suffix("").parts])
        for path in PACKAGE
        if INTERNAL.search(ast.get_docstring(parsed(path)) or "")
    )
    assert "polyrelu.complex.engine.__init__" in kept
    kept = tuple(name.removesuffix(".__init__") for name in kept)
    found = [
        f"{path.relative_to(ROOT)}:{line}: {module}.{name}"
        for path in PACKAGE
        for line, module, name in imports_of(path)
        if module.startswith("polyrelu.")
        and module.split(".")[1] != room_of(path)
        and (is_private(name) or f"{module}.{name}".startswith(kept))
    ]
    assert not found


def test_no_room_calls_constructors_that_another_keeps() -> None:
    """Walks, for instance, are made by functions that read their arguments first."""
    makers = {
        kind.name: room_of(path)
        for path in PACKAGE
        for kind in nodes_of(path, ast.ClassDef)
        for name, text in members_of(kind)
        if name == "__init__" and re.search("room-internal", text, re.IGNORECASE)
    }
    assert "LineWalk" in makers
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.func.id}"
        for path in PACKAGE
        for node in nodes_of(path, ast.Call)
        if isinstance(node.func, ast.Name)
        and makers.get(node.func.id, room_of(path)) != room_of(path)
    ]
    assert not found
