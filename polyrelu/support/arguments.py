"""Checks of the arguments of public functions: one error for a wrong type, one for a wrong number.

Public functions call these before they do any work, so that a wrong argument is one sentence that
names the argument, what is expected and what came, and never an error from deep inside.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from numbers import Real
from pathlib import Path
from typing import Any, SupportsIndex, TypeVar

from polyrelu.errors import ArgumentError

__all__ = [
    "expect",
    "expect_choice",
    "expect_count",
    "expect_function",
    "expect_index",
    "expect_indices",
    "expect_integer",
    "expect_limit",
    "expect_list",
    "expect_one_of",
    "expect_path",
]

T = TypeVar("T")


def expect(value: object, kind: type[T], name: str, remedy: str = "") -> T:
    """Return an argument whose type is right.

    Parameters
    ----------
    value
        The argument.
    kind
        The type that it must have.
    name
        The name of the parameter, for the error.
    remedy
        How to make what is expected, for the error.

    Returns
    -------
    object
        The argument itself.

    Raises
    ------
    ArgumentError
        The argument has another type.

    Examples
    --------
    >>> expect(3, int, "limit")
    3
    >>> expect("3", int, "limit")
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: limit: expected int, got str '3'
    """
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    end = f"; {remedy}" if remedy else ""
    raise ArgumentError(f"{name}: expected {kind.__name__}, got {_described(value)}{end}")


def expect_integer(value: object, name: str) -> int:
    """Return an argument that is an integer of Python or NumPy; truth values are none.

    Examples
    --------
    >>> expect_integer(True, "dimension")
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: dimension: expected int, got bool True
    """
    if type(value) is int:
        return value
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        with suppress(TypeError):  # an array with several entries
            return operator.index(value)
    return expect(value, int, name)


def expect_count(value: object, name: str, least: int = 0) -> int:
    """Return an argument that is an integer of at least a given size.

    Examples
    --------
    >>> expect_count(-1, "limit", 1)
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: limit: expected an integer, at least 1, got -1
    """
    number = expect_integer(value, name)
    if number < least:
        raise ArgumentError(f"{name}: expected an integer, at least {least}, got {number}")
    return number


def expect_indices(values: object, size: int, name: str) -> tuple[int, ...]:
    """Return an argument that lists different ones of `size` things, counted from 0.

    Examples
    --------
    >>> expect_indices([2, 0], 3, "neurons")
    (2, 0)
    >>> expect_indices([1, 1], 3, "neurons")
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: neurons: 1 is given twice
    """
    indices = tuple(expect_index(value, size, name) for value in expect_list(values, name))
    if len(set(indices)) < len(indices):
        twice = next(index for index in indices if indices.count(index) > 1)
        raise ArgumentError(f"{name}: {twice} is given twice")
    return indices


def expect_index(value: object, size: int, name: str, first: int = 0) -> int:
    """Return an argument that numbers one of `size` things, counted from `first`.

    Examples
    --------
    >>> expect_index(2, 2, "output")
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: output: expected 0 to 1, got 2
    """
    number = expect_integer(value, name)
    if not first <= number < first + size:
        allowed = f"{first} to {first + size - 1}" if size else "nothing, as there are none"
        raise ArgumentError(f"{name}: expected {allowed}, got {number}")
    return number


def expect_list(value: object, name: str) -> list[Any]:
    """Return the members of an argument that is a sequence or an array, but no text.

    Examples
    --------
    >>> expect_list(((0, 1), (1, 0)), "directions")
    [(0, 1), (1, 0)]
    >>> expect_list(None, "directions")
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: directions: expected a sequence, got NoneType None
    """
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        with suppress(TypeError):  # an array without axes
            return list(value)
    raise ArgumentError(f"{name}: expected a sequence, got {_described(value)}")


def expect_path(value: object, name: str, remedy: str = "") -> Path:
    """Return an argument that is the name of a file; `remedy` ends the error.

    Examples
    --------
    >>> expect_path("cells.csv", "name").suffix
    '.csv'
    >>> expect_path(3, "name")
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: name: expected the name of a file, got int 3
    """
    if isinstance(value, str | os.PathLike) and value != "":  # Path("") is the folder
        return Path(value)
    end = f"; {remedy}" if remedy else ""
    raise ArgumentError(f"{name}: expected the name of a file, got {_described(value)}{end}")


def expect_one_of(value: object, kinds: tuple[type, ...], name: str, remedy: str = "") -> None:
    """Refuse an argument that has none of the given types; `remedy` ends the error.

    Examples
    --------
    >>> expect_one_of("net.npz", (bytes, int), "data", "open(…).read() makes bytes")
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: data: expected bytes or int, got str 'net.npz';
    open(…).read() makes bytes
    """
    if not isinstance(value, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        end = f"; {remedy}" if remedy else ""
        raise ArgumentError(f"{name}: expected {names}, got {_described(value)}{end}")


def expect_choice(value: object, choices: Iterable[str], name: str) -> None:
    """Refuse an argument that is none of the given texts.

    Examples
    --------
    >>> expect_choice("float16", ("float32", "float64"), "arithmetic")
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: arithmetic: choose from 'float32', 'float64', got str 'float16'
    """
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        names = ", ".join(map(repr, known))
        raise ArgumentError(f"{name}: choose from {names}, got {_described(value)}")


def expect_limit(value: object, name: str) -> None:
    """Refuse a limit that is neither None, for no limit, nor a number of at least 0.

    Examples
    --------
    >>> expect_limit("1", "time_limit")
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: time_limit: expected a number, at least 0, or None, got str '1'
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if value is not None and not (is_number and value >= 0):  # type: ignore[operator]
        problem = f"expected a number, at least 0, or None, got {_described(value)}"
        raise ArgumentError(f"{name}: {problem}")


def expect_function(value: object, name: str) -> None:
    """Refuse an argument that is neither None nor a function.

    Examples
    --------
    >>> expect_function(3, "progress")
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: progress: expected a function or None, got int 3
    """
    if value is not None and not callable(value):
        raise ArgumentError(f"{name}: expected a function or None, got {_described(value)}")


def _described(value: object) -> str:
    """The type of a value and, if it is short, its text."""
    text = repr(value) if isinstance(value, str | int | float | bool | type(None)) else ""
    kind = type(value).__name__
    return kind if not text or len(text) > 40 else f"{kind} {text}"
