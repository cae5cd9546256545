"""Points as users hand them to networks: one or many, as sequences, arrays or tensors.

An array of numpy and a tensor of PyTorch are read by their methods `tolist`, which keep every
number as it is; neither library is imported for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.exact import Rational

__all__ = ["NumberArray", "OnePoint", "Points", "read_batch", "read_points"]


class NumberArray(Protocol):
    """An array of numpy or a tensor of PyTorch."""

    @property
    def shape(self) -> Any: ...

    def tolist(self) -> Any: ...


#: The coordinates of one point.
OnePoint: TypeAlias = Sequence[Rational]
#: Several points, which may be rows of an array.
Points: TypeAlias = Sequence[OnePoint | NumberArray] | NumberArray


def read_points(value: object, size: int, name: str = "x") -> tuple[list[list[Any]], bool]:
    """Return the points that an argument stands for, and whether there is one point only.

    Parameters
    ----------
    value
        A point of shape (size,), or points of shape (k, size): a sequence, an array or a tensor. An
        empty sequence has no points.
    size
        The number of coordinates of each point.
    name
        The name of the parameter, for the error.

    Returns
    -------
    tuple of list of list and bool
        The coordinates of each point as they were given, and whether the argument was one point.

    Raises
    ------
    ArgumentError
        The argument is neither a sequence nor an array.
    NetworkError
        The shape is another one.

    Examples
    --------
    >>> read_points([1, "1/2"], 2), read_points([[1, 2], [3, 4]], 2)
    (([[1, '1/2']], True), ([[1, 2], [3, 4]], False))
    """
    expected = f"{name}: expected a point of shape ({size},) or points of shape (k, {size})"
    entries = _entries(value, expected)
    rows = [_members(entry) for entry in entries]
    if entries and all(row is None for row in rows):
        _need_sizes([entries], size, expected, f"shape ({len(entries)},)")
        return [entries], True
    return _checked_rows(rows, size, expected), False


def read_batch(value: object, size: int, name: str = "points") -> list[list[Any]]:
    """Return the points that an argument of shape (k, size) stands for.

    Parameters
    ----------
    value
        The points, as in `read_points`.
    size
        The number of coordinates of each point.
    name
        The name of the parameter, for the error.

    Returns
    -------
    list of list
        The coordinates of each point as they were given.

    Raises
    ------
    ArgumentError
        The argument is neither a sequence nor an array, or it is one point.
    NetworkError
        The shape is another one.

    Examples
    --------
    >>> read_batch([[1, 2]], 2)
    [[1, 2]]
    """
    expected = f"{name}: expected points of shape (k, {size})"
    entries = _entries(value, expected)
    rows = [_members(entry) for entry in entries]
    if entries and all(row is None for row in rows):
        raise ArgumentError(f"{expected}, got shape ({len(entries)},); [{name}] makes one row")
    return _checked_rows(rows, size, expected)


def _entries(value: object, expected: str) -> list[Any]:
    """The members of a sequence, or the rows of an array."""
    members = _members(value)
    if members is None:
        kind = "an array without axes" if _is_array(value) else type(value).__name__
        raise ArgumentError(f"{expected}, got {kind}")
    return members


def _members(value: object) -> list[Any] | None:
    """The members of a sequence or an array; None of a number, a text or another object."""
    if _is_array(value):
        listed = value.tolist()  # type: ignore[attr-defined]
        return listed if isinstance(listed, list) else None
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return list(value)
    return None


def _is_array(value: object) -> bool:
    return hasattr(value, "tolist") and hasattr(value, "shape")


def _checked_rows(rows: list[list[Any] | None], size: int, expected: str) -> list[list[Any]]:
    """The rows, if each is a point of the size."""
    found = [row for row in rows if row is not None]
    if len(found) < len(rows):
        raise NetworkError(f"{expected}, got a mixture of numbers and rows")
    if len(set(map(len, found))) > 1:
        raise NetworkError(f"{expected}, got rows of different lengths")
    if found and any(_members(entry) is not None for row in found for entry in row):
        raise NetworkError(f"{expected}, got more than two axes")
    width = len(found[0]) if found else size
    _need_sizes(found, size, expected, f"shape ({len(found)}, {width})")
    return found


def _need_sizes(rows: list[list[Any]], size: int, expected: str, found: str) -> None:
    if any(len(row) != size for row in rows):
        raise NetworkError(f"{expected}, got {found}")
