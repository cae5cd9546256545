"""Checks of the arguments of public functions: one error for a wrong type, one for a wrong number.

Public functions call these before they do any work, so that a wrong argument is one sentence that
names the argument, what is expected and what came, and never an error from deep inside.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from polyrelu.errors import ArgumentError

__all__ = ["expect", "expect_count", "expect_index", "expect_indices"]

T = TypeVar("T")


def expect(value: object, kind: type[T], name: str, maker: str = "") -> T:
    """Return an argument whose type is right.

    Parameters
    ----------
    value
        The argument.
    kind
        The type that it must have.
    name
        The name of the parameter, for the error.
    maker
        What makes an argument of the right type, for the error.

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
    remedy = f"; {maker} makes one" if maker else ""
    raise ArgumentError(f"{name}: expected {kind.__name__}, got {_described(value)}{remedy}")


def expect_count(value: object, name: str, least: int = 0) -> int:
    """Return an argument that is an integer of at least a given size.

    Examples
    --------
    >>> expect_count(-1, "limit", 1)
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: limit: expected an integer, at least 1, got -1
    """
    number = expect(value, int, name)
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
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name}: expected a list of indices, got {_described(values)}")
    indices = tuple(expect_index(value, size, name) for value in values)
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
    number = expect(value, int, name)
    if not first <= number < first + size:
        allowed = f"{first} to {first + size - 1}" if size else "nothing, as there are none"
        raise ArgumentError(f"{name}: expected {allowed}, got {number}")
    return number


def _described(value: object) -> str:
    """The type of a value and, if it is short, its text."""
    text = repr(value) if isinstance(value, str | int | float | bool | type(None)) else ""
    kind = type(value).__name__
    return kind if not text or len(text) > 40 else f"{kind} {text}"
