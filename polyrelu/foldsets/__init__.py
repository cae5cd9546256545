"""Fold-sets as objects: their canonical form, what bends at what, and the theorem behind them.

The fold-set of a function is the set where it is not differentiable
(`breakpoint_complex(cells).subcomplex`); the unit fold-set of a neuron is
`polyrelu.complex.fold_set`. The room decomposes unions of them into piece-wise hyperplanes
(`canonical_surface`), draws their dependency graph, and checks the hypotheses of the theorem of
Phuong and Lampert (2020) on top of it.
"""

from polyrelu.foldsets.assignment import misplaced_pieces
from polyrelu.foldsets.construction import IdentifiableNetwork, construct_identifiable
from polyrelu.foldsets.dependency import dependency_graph, paths_of_length
from polyrelu.foldsets.hypotheses import DependencyPath, phuong_lampert
from polyrelu.foldsets.surfaces import (
    FoldPiece,
    PiecewiseLinearSurface,
    canonical_surface,
    unit_fold_sets,
)
from polyrelu.foldsets.truncation import ImagePart, image_parts, truncated_network

__all__ = [
    "DependencyPath",
    "FoldPiece",
    "IdentifiableNetwork",
    "ImagePart",
    "PiecewiseLinearSurface",
    "canonical_surface",
    "construct_identifiable",
    "dependency_graph",
    "image_parts",
    "misplaced_pieces",
    "paths_of_length",
    "phuong_lampert",
    "truncated_network",
    "unit_fold_sets",
]
