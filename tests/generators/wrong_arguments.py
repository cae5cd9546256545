"""Calls of public functions with arguments that do not fit: every call must end in a plain way."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from polyrelu.errors import PolyreluError


class Unrelated:
    """An object of a class that nothing knows; its text is the same in every process."""

    def __repr__(self) -> str:
        return "<an unrelated object>"


#: Values of types that no parameter for a network, a complex or another object of polyrelu has.
WRONG: tuple[Any, ...] = (
    3,
    2.5,
    None,
    "no such file",
    b"",
    Unrelated(),
    [],
    {},
    True,
    float("nan"),
)


def outcome(call: Callable[[], object]) -> str:
    """Return the one line of the error of a call; an empty text if the call succeeds.

    An answer must be able to show itself.

    Errors that are no `PolyreluError` pass through, and fail the test.
    """
    try:
        answer = call()
        str(answer), repr(answer)
    except PolyreluError as error:
        text = str(error)
        assert text
        assert "\n" not in text
        return text
    return ""


def calls_with(
    function: Callable[..., object], good: tuple[Any, ...], options: dict[str, Any], wrong: object
) -> list[Callable[[], object]]:
    """Return calls in each of which one argument is replaced by a wrong one."""
    calls: list[Callable[[], object]] = []
    for place in range(len(good)):
        arguments = (*good[:place], wrong, *good[place + 1 :])
        calls.append(partial(function, *arguments, **options))
    for name in options:
        changed = {**options, name: wrong}
        calls.append(partial(function, *good, **changed))
    return calls
