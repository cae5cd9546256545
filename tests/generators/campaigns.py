"""Campaigns over many cases: a few of the cases as a fast test, all of them as a slow one.

A slow test runs many cases, and `case` names the one that fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

__all__ = ["case", "few_and_all"]

T = TypeVar("T")


def few_and_all(few: T, everything: T) -> list[pytest.ParameterSet]:
    """Return two values of a parameter; the test that gets the second one is marked slow."""
    return [
        pytest.param(few, id="few"),
        pytest.param(everything, id="all", marks=pytest.mark.slow),
    ]


@contextmanager
def case(*names: object) -> Iterator[None]:
    """Add the names of a case to the message of its failure."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {', '.join(map(str, names))}")
        raise
