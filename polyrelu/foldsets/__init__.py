"""Fold-sets as objects: their canonical form, what bends at what, and the theorem behind them.

The fold-set of a function is the set where it is not differentiable
(`breakpoint_complex(cells).subcomplex`); the unit fold-set of a neuron is
`polyrelu.complex.fold_set`. The room decomposes unions of them into piece-wise hyperplanes
(`canonical_surface`), makes their dependency graph, and checks the hypotheses of the theorem of
Phuong and Lampert (2020) on top of it. It also compares functions: where and by how much they bend
(`compare_breakpoints`), and whether they are equal, by a hash of the function (`fingerprint`).
"""

from polyrelu.foldsets.assignment import misplaced_pieces
from polyrelu.foldsets.blocks import rank_of_two_layers
from polyrelu.foldsets.chains import fingerprint
from polyrelu.foldsets.comparison import (
    BreakpointComparison,
    WeightDifference,
    compare_breakpoints,
)
from polyrelu.foldsets.construction import IdentifiableNetwork, construct_identifiable
from polyrelu.foldsets.counts import (
    DualGraphStatistics,
    RegionCounts,
    dual_graph_statistics,
    region_counts,
)
from polyrelu.foldsets.dependency import dependency_graph, paths_of_length
from polyrelu.foldsets.hard_instances import (
    CliqueInstance,
    clique_instance,
    random_clique_instance,
)
from polyrelu.foldsets.hypotheses import DependencyPath, phuong_lampert
from polyrelu.foldsets.jacobians import (
    FunctionalDimension,
    functional_dimension,
    points_in_cells,
)
from polyrelu.foldsets.surfaces import (
    FoldPiece,
    PiecewiseLinearSurface,
    canonical_surface,
    unit_fold_sets,
)
from polyrelu.foldsets.truncation import ImagePart, image_parts, truncated_network
from polyrelu.foldsets.visibility import (
    Anchor,
    HiddenFold,
    cancellation_free,
    honest,
    visible_hyperplanes,
)

__all__ = [
    "Anchor",
    "BreakpointComparison",
    "CliqueInstance",
    "DependencyPath",
    "DualGraphStatistics",
    "FoldPiece",
    "FunctionalDimension",
    "HiddenFold",
    "IdentifiableNetwork",
    "ImagePart",
    "PiecewiseLinearSurface",
    "RegionCounts",
    "WeightDifference",
    "cancellation_free",
    "canonical_surface",
    "clique_instance",
    "compare_breakpoints",
    "construct_identifiable",
    "dependency_graph",
    "dual_graph_statistics",
    "fingerprint",
    "functional_dimension",
    "honest",
    "image_parts",
    "misplaced_pieces",
    "paths_of_length",
    "phuong_lampert",
    "points_in_cells",
    "random_clique_instance",
    "rank_of_two_layers",
    "region_counts",
    "truncated_network",
    "unit_fold_sets",
    "visible_hyperplanes",
]
