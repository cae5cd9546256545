"""Calls of public functions with arguments that do not fit: every call must end in a plain way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polyrelu.errors import PolyreluError

#: Values of types that no parameter for a network, a complex or another object of polyrelu has.
WRONG: tuple[Any, ...] = (3, 2.5, None, "no such file", b"", object(), [], {}, True, float("nan"))


def outcome(call: Callable[[], object]) -> str:
    """Return the one line of the error of a call; an empty text if the call succeeds.

    Errors that are no `PolyreluError` pass through, and fail the test.
    """
    try:
        call()
    except PolyreluError as error:
        text = str(error)
        assert text
        assert "\n" not in text
        return text
    return ""
