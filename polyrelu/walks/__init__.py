"""Walks from cell to cell without a complex: along a line, or along one bent hyperplane in a plane.

A walk certifies every sign that it reports: error bounds decide most signs in floats, exact
arithmetic decides the rest. Its cost is proportional to the number of cells that it meets, whatever
the number of inputs and the number of all cells. The proofs stand in docs/theory/walks.md.
"""

from polyrelu.walks.affine_slice import AffineSlice
from polyrelu.walks.bent_hyperplane import (
    BentWalk,
    StepLimitError,
    bent_walk_from,
    first_zero,
    walk_bent_hyperplane,
    zero_in_plane,
)
from polyrelu.walks.bent_pieces import BentPiece, Corner, CrossingPoint, Ending, Tie
from polyrelu.walks.line import LineCell, LineEvent, LineWalk, walk_line
from polyrelu.walks.ray_shooting import WalkStatistics
from polyrelu.walks.star import Ray, Star

__all__ = [
    "AffineSlice",
    "BentPiece",
    "BentWalk",
    "Corner",
    "CrossingPoint",
    "Ending",
    "LineCell",
    "LineEvent",
    "LineWalk",
    "Ray",
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
