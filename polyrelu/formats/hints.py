"""Advice in error messages that is shown only where following it works.

A reader that refuses something attaches a `Hint` to the error: the words, and the choices that a
user would then make. Before the error leaves `load.read`, the file is read with these choices, and
the words join the message if that succeeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.options import ReadOptions

__all__ = ["Hint", "hinted", "with_working_hint"]

_Error = TypeVar("_Error", bound=NetworkError)


@dataclass(frozen=True, slots=True)
class Hint:
    """Advice about an error.

    Attributes
    ----------
    text
        The words that follow the message.
    choices
        The fields of `ReadOptions` that the advice changes, with their new values.
    """

    text: str
    choices: dict[str, Any]


def hinted(error: _Error, *hints: Hint) -> _Error:
    """Attach hints to an error; of several hints the first that works is shown."""
    error.__dict__.setdefault("hints", []).extend(hints)
    return error


def with_working_hint(
    error: NetworkError, options: ReadOptions, attempt: Callable[[ReadOptions], object]
) -> NetworkError:
    """Return the error with its first hint that works.

    `attempt` reads the source with other options and raises an error if that fails.
    """
    for hint in error.__dict__.get("hints", ()):
        choices = replace(options, **hint.choices)
        if choices == options:
            continue
        try:
            attempt(choices)
        except NetworkError:
            continue
        if isinstance(error, NetworkFileError):
            return NetworkFileError(error.path, error.place, f"{error.problem}; {hint.text}")
        return type(error)(f"{error}; {hint.text}")
    return error
