"""Arrays that several objects share and nobody may change."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["freeze_arrays", "read_only", "sorted_distinct"]

Scalar = TypeVar("Scalar", bound=np.generic)


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a view of an array through which its entries cannot be changed.

    Examples
    --------
    >>> read_only(np.zeros(2))[0] = 1
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """
    view: NDArray[Any] = array.view()
    view.flags.writeable = False
    return view


def freeze_arrays(thing: Any) -> None:
    """Put a read-only view in the place of every array of a frozen dataclass."""
    for field in fields(thing):
        value = getattr(thing, field.name)
        if isinstance(value, np.ndarray):
            object.__setattr__(thing, field.name, read_only(value))


def sorted_distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct ones of some integers in ascending order.

    `np.unique` puts them into a table of hashes first, which takes much longer for the numbers of
    pairs that come nearly in order.

    Examples
    --------
    >>> sorted_distinct(np.array([3, 1, 3, 2])).tolist()
    [1, 2, 3]
    """
    ordered = np.sort(numbers, axis=None, kind="stable")
    is_new = np.ones(len(ordered), dtype=bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return np.asarray(ordered[is_new])
