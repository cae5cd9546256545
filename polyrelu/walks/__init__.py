"""Local walks that need no complex: from cell to cell along a line, or along one neuron's bent hyperplane in a plane.

Every sign is certain: float bounds decide most of them, exact arithmetic the rest. A walk costs time and memory for the
cells that it meets, whatever the number of inputs and of all cells.
"""

from polyrelu.walks.affine_slice import AffineSlice
from polyrelu.walks.bent_hyperplane import (
    BentPiece,
    BentWalk,
    Corner,
    Ending,
    Ridge,
    StepLimitError,
    Tie,
    bent_walk_from,
    first_zero,
    walk_bent_hyperplane,
    zero_in_plane,
)
from polyrelu.walks.line import LineCell, LineEvent, LineWalk, walk_line
from polyrelu.walks.ray_shooting import WalkStatistics
from polyrelu.walks.star import Ray, Star

__all__ = [
    "AffineSlice",
    "BentPiece",
    "BentWalk",
    "Corner",
    "Ending",
    "LineCell",
    "LineEvent",
    "LineWalk",
    "Ray",
    "Ridge",
    "Star",
    "StepLimitError",
    "Tie",
    "WalkStatistics",
    "bent_walk_from",
    "first_zero",
    "walk_bent_hyperplane",
    "walk_line",
    "zero_in_plane",
]
