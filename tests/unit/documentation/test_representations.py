"""What objects of all public types look like in a terminal and in a notebook."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.generators.public_objects import BUILDERS, public_types
from tests.generators.representations import COMMAND, GOLDEN, representations

#: Interfaces, which have no objects of their own.
ABSTRACT = {"polyrelu.fibers.FiberComponent"}


@cache
def objects() -> list[object]:
    """All objects."""
    pytest.importorskip("matplotlib")
    return [thing for build in BUILDERS for thing in build()]


def test_every_public_type_has_an_object() -> None:
    shown = set(map(type, objects()))
    assert {name for kind, name in public_types().items() if kind not in shown} == ABSTRACT
    assert not [kind.__name__ for kind in shown if kind not in public_types()]


def test_golden() -> None:
    """Every `repr`, `str`, HTML, LaTeX and the words of every SVG are as they were."""
    pytest.importorskip("matplotlib")
    found, known = representations(), GOLDEN.read_text(encoding="utf-8")
    changed = set(found.splitlines()) ^ set(known.splitlines())
    assert found == known, f"{sorted(changed)[:4]} changed; `{COMMAND}` renews the golden file"


def test_one_line() -> None:
    """A `repr` is one line of at most 100 printable characters without an address."""
    for thing in objects():
        text = repr(thing)
        assert text.isprintable()
        assert len(text) <= 100, text
        assert not re.search(r"0x[0-9a-f]{6}| at 0x|object at", text), text


def test_brackets() -> None:
    """A `repr` is either in <…> or an expression that makes an equal object."""
    for thing in objects():
        if not re.fullmatch("<.*>", repr(thing)) and not isinstance(thing, Exception):
            assert eval(repr(thing), {type(thing).__name__: type(thing)}) == thing
