"""Rooms keep to themselves what is private (docs/development/architecture.md)."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.generators.files import ROOT

PACKAGE = ROOT / "polyrelu"
MODULES = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name != "checker.py"  # built from `checking`
}
#: Words of a docstring that reserve something for its own room.
INTERNAL = re.compile(
    r"\b(internal|private) to\b|\broom-internal\b|; no other room imports it", re.IGNORECASE
)


def room_of(path: Path) -> str:
    """The first folder below the package, or the name of a module that stands in none."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
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
    for path, tree in MODULES.items():
        for kind in ast.walk(tree):
            if isinstance(kind, ast.ClassDef):
                for name, text in members_of(kind):
                    if is_private(name) or (name[0] != "_" and INTERNAL.search(text)):
                        found[name].add(room_of(path))
    return found


def test_no_room_reads_private_members_of_another() -> None:
    owners = owners_of_members()
    assert "_arrays" in owners  # of the complex
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.attr} of {owners[node.attr]}"
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in owners
        and room_of(path) not in owners[node.attr]
        and node.attr not in ("_replace", "_exit", "_asdict")  # of the standard library
    ]
    assert not found


def imports_of(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Lines, modules and names of the imports from the package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polyrelu"):
            yield from ((node.lineno, str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, "") for alias in node.names)


def test_no_room_imports_what_another_keeps() -> None:
    """Private names, and modules whose docstring says that they are internal to their room."""
    kept = tuple(
        ".".join(["polyrelu", *path.relative_to(PACKAGE).with_suffix("").parts])
        for path, tree in MODULES.items()
        if INTERNAL.search(ast.get_docstring(tree) or "")
    )
    assert "polyrelu.complex.engine.__init__" in kept
    kept = tuple(name.removesuffix(".__init__") for name in kept)
    found = [
        f"{path.relative_to(ROOT)}:{line}: {module}.{name}"
        for path, tree in MODULES.items()
        for line, module, name in imports_of(tree)
        if f"{module}.".split(".")[1] not in ("", room_of(path))
        and (is_private(name) or f"{module}.{name}".startswith(kept))
    ]
    assert not found


def test_no_room_calls_constructors_that_another_keeps() -> None:
    """Walks, for instance, are made by functions that read their arguments first."""
    makers = {
        kind.name: room_of(path)
        for path, tree in MODULES.items()
        for kind in ast.walk(tree)
        if isinstance(kind, ast.ClassDef)
        for name, text in members_of(kind)
        if name == "__init__" and re.search("room-internal", text, re.IGNORECASE)
    }
    assert "LineWalk" in makers
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.func.id}"
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and makers.get(node.func.id, room_of(path)) != room_of(path)
    ]
    assert not found
