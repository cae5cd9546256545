"""Docstrings of all public names pass numpydoc's validation."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
from typing import Any

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

from tests.generators.files import ROOT
from tests.generators.sources import PACKAGE, nodes_of

ROOMS = (
    "breakpoints",
    "certificate",
    "complex",
    "conditions",
    "dynamics",
    "errors",
    "exact",
    "fibers",
    "formats",
    "network",
    "outcomes",
    "plot",
    "proofs",
    "report",
    "support",
    "symmetry",
    "topology",
    "training",
    "walks",
)

#: Not asked for: the summary on a line of its own (GL01), an extended summary (ES01), "See Also"
#: (SA01), types, which stand in the signature (PR04, RT02), and the order of sections (GL07).
IGNORED = {"GL01", "ES01", "SA01", "PR04", "RT02", "GL07"}
#: About the signature of a class: a dataclass documents its fields, functions make the others.
OF_PARAMETERS = {"PR01", "PR02", "PR03"}


def public_names() -> list[str]:
    """The dotted names in the `__all__` of every public submodule that carry docstrings."""
    found = []
    for room in ROOMS:
        module = importlib.import_module(f"polyrelu.{room}")
        for name in module.__all__:
            member = getattr(module, name)
            is_ours = str(getattr(member, "__module__", "")).startswith("polyrelu")
            if is_ours and (inspect.isclass(member) or inspect.isroutine(member)):
                found.append(f"polyrelu.{room}.{name}")
    return found


def member_of(name: str) -> Any:
    """The function or class of a dotted name."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def objections(name: str) -> list[str]:
    """What numpydoc says against the docstring, and which fields of a dataclass it leaves out."""
    member = member_of(name)
    ignored = IGNORED | (OF_PARAMETERS if inspect.isclass(member) else set())
    if inspect.isclass(member) and issubclass(member, BaseException):
        ignored = ignored | {"EX01"}
    found = [
        f"{code}: {text}"
        for code, text in validate(get_doc_object(member))["errors"]
        if code not in ignored
    ]
    if inspect.isclass(member) and dataclasses.is_dataclass(member):
        listed = {
            part.strip()
            for entry in get_doc_object(member)["Attributes"]
            for part in entry.name.split(",")
        }
        fields = {
            field.name for field in dataclasses.fields(member) if not field.name.startswith("_")
        }
        if missing := fields - listed:
            found.append(f"fields without a description: {', '.join(sorted(missing))}")
    return found


@pytest.mark.parametrize("name", public_names())
def test_docstring(name: str) -> None:
    """Parameters, returns, errors and an example, in numpydoc's layout."""
    assert not objections(name)


def public_members() -> list[tuple[str, str]]:
    """The public methods and properties that the public classes define themselves."""
    found = []
    for name in public_names():
        member = member_of(name)
        if inspect.isclass(member):
            found += [
                (name, attribute)
                for attribute, value in vars(member).items()
                if not attribute.startswith("_")
                and (inspect.isroutine(value) or isinstance(value, property))
            ]
    return found


def test_members_have_a_sentence() -> None:
    """A method or property of a public class says what it is, in a sentence with a full stop."""
    without = []
    for name, attribute in public_members():
        text = inspect.getdoc(getattr(member_of(name), attribute)) or ""
        if not text.split("\n\n")[0].strip().endswith((".", "?", ":")):
            without.append(f"{name}.{attribute}")
    assert not without


def test_functions_inside_others_say_what_they_do() -> None:
    """A `handler` is what the function around it says that it returns."""
    silent = [
        f"{path.relative_to(ROOT)}:{inner.lineno}: {inner.name}"
        for path in PACKAGE
        for outer in nodes_of(path, ast.FunctionDef)
        for inner in ast.walk(outer)
        if isinstance(inner, ast.FunctionDef)
        and inner is not outer
        and inner.name != "handler"
        and ast.get_docstring(inner) is None
    ]
    assert not silent
