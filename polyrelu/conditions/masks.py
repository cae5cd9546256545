"""Masks: nonempty sets of neurons of a layer that a masked product keeps."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

__all__ = ["masks_of"]


def masks_of(width: int) -> Iterator[tuple[int, ...]]:
    """Generate all nonempty sets of neurons of a layer, small ones first.

    >>> list(masks_of(2))
    [(0,), (1,), (0, 1)]
    """
    for size in range(1, width + 1):
        yield from combinations(range(width), size)
