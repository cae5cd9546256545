"""The two engines of linear programs, a tableau for small ones and guesses: tests use both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from polyrelu.exact.lp import linear_program

__all__ = ["ROUTES", "engine"]

ROUTES = ("tableau", "guesses")


@contextmanager
def engine(route: str) -> Iterator[None]:
    """Solve programs of every size by one engine within a block."""
    with patch.object(linear_program, "is_small", return_value=route == "tableau"):
        yield
