"""Arrays that several objects share and nobody may change."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["freeze_arrays", "read_only"]

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
