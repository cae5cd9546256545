"""Campaigns over many cases: a few of the cases as a fast test, more of them as a slow one.

A slow test runs many cases, and `case` names the one that fails. Where all cases take longer than
seven seconds or so, they are a third test, marked `campaign`, which runs if it is asked for
(docs/development/tests.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest
from hypothesis import settings

__all__ = ["case", "examples", "few_and_all", "few_fast", "few_some_and_all", "some_and_all"]

T = TypeVar("T")


def few_and_all(few: T, everything: T) -> list[pytest.ParameterSet]:
    """Return two values of a parameter; the test that gets the second one is marked slow."""
    return [
        pytest.param(few, id="few"),
        pytest.param(everything, id="all", marks=pytest.mark.slow),
    ]


def some_and_all(some: T, everything: T) -> list[pytest.ParameterSet]:
    """Return two values of a parameter, for a slow test and for a campaign."""
    campaign = [pytest.mark.slow, pytest.mark.campaign]
    return [
        pytest.param(some, id="some", marks=pytest.mark.slow),
        pytest.param(everything, id="all", marks=campaign),
    ]


def few_some_and_all(few: T, some: T, everything: T) -> list[pytest.ParameterSet]:
    """Return three values of a parameter: for a fast test, a slow one and a campaign."""
    return [pytest.param(few, id="few"), *some_and_all(some, everything)]


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
