"""Pairs of small networks that are equal, on all of R^n or on a domain, for tests of tree files.

Their trees have splits, bounds on a box, equations of a domain, lifted neurons, and parts.
"""

from __future__ import annotations

from typing import Any

from polyrelu import Polyhedron, from_arrays
from polyrelu.network import Network

__all__ = ["CASES", "DEEP", "HINGES", "PLANE", "stack"]


def stack(*layers: Any) -> Network:
    return from_arrays(list(layers))


HINGES = (
    stack(([[1]], [0]), ([[1]], [-1]), ([[2]], [0])),  # 2 max(max(x, 0) - 1, 0)
    stack(([[1]], [-1]), ([[1]], [0]), ([[2]], [0])),  # 2 max(max(x - 1, 0), 0)
)
PLANE = (
    stack(([[1, 1], [1, -1], [-1, 1]], [0, 0, 0]), ([[1, 1, -1]], [0]), ([[1]], [0])),
    stack(
        ([[1, -1], [2, 0], [-2, 0]], [0, 0, 0]),
        ([[1, -1, 1], [0, 1, 0], [0, 0, 1]], [0, 0, 0]),
        ([[1, 1, -1]], [0]),
    ),
)
BOX = (
    stack(([[1, 2], [1, -1]], [0, 3]), ([[1, -1], [-2, -1]], [0, 1]), ([[1, 1]], [0])),
    stack(([[1, 2], [1, -1]], [0, 3]), ([[1, -1], [0, 0]], [0, 0]), ([[1, 1]], [0])),
)
DEEP = (
    stack(
        ([[1], [-1], [2]], [0, 1, -3]),
        ([[1, 1, -2], [1, -1, 1]], [0, 1]),
        ([[1, -1]], [0]),
        ([[1]], [-1]),
        ([[1]], [0]),
    ),
    stack(
        ([[1], [-1], [2]], [0, 1, -3]),
        ([[1, 1, -2], [1, -1, 1]], [0, 1]),
        ([[1, -1]], [-1]),
        ([[1]], [0]),
        ([[1]], [0]),
    ),
)
TWO_PLACES = (
    stack(([[1], [2]], [0, 3]), ([[1, 0], [0, 1]], [-1, -2]), ([[1, 1]], [0])),
    stack(([[1], [2]], [-1, 1]), ([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])),
)
CASES: dict[str, tuple[tuple[Network, Network], Polyhedron | None]] = {
    "splits": (HINGES, None),
    "two inputs": (PLANE, None),
    "bounds on a box": (BOX, Polyhedron.box([0, 0], [1, "3/2"])),
    "lifted": (DEEP, None),
    "parts": (TWO_PLACES, None),
    "slice": (PLANE, Polyhedron.from_constraints([[1, 0]], [7], [[1, -2]], [1])),
}
