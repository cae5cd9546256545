"""Campaigns over many cases: a few of the cases as a fast test, all of them as a slow one.

A slow test runs many cases, and `case` names the one that fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest
from hypothesis import settings

__all__ = ["case", "examples", "few_and_all", "few_fast"]

T = TypeVar("T")


def few_and_all(few: T, everything: T) -> list[pytest.ParameterSet]:
    """Return two values of a parameter; the test that gets the second one is marked slow."""
    return [
        pytest.param(few, id="few"),
        pytest.param(everything, id="all", marks=pytest.mark.slow),
    ]


def few_fast(cases: Iterable[T], number: int) -> list[pytest.ParameterSet]:
    """Return all cases as values of a parameter, those after the first ones marked slow.

    It is for families of cases that together take more than two seconds.
    """
    return [
        pytest.param(value, marks=[pytest.mark.slow] if place >= number else [])
        for place, value in enumerate(cases)
    ]


def examples(number: int) -> settings:
    """Return the settings of a property with a number of examples.

    The quick part of the tests tries a share of them (`tests/conftest.py`).
    """
    return settings(max_examples=max(5, number * settings().max_examples // 100))


@contextmanager
def case(*names: object) -> Iterator[None]:
    """Add the names of a case to the message of its failure."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {', '.join(map(str, names))}")
        raise
