"""The conditions that theorems on deep networks ask for, each with evidence that it holds or fails.

Each condition has a function that returns a `Condition`; its module defines it, with the source and
what it means on boxes, on slices and for other networks. Bounds on the work are never passed in
silence: beyond them the status of a condition is "unchecked".
"""

from polyrelu.conditions.collinear import (
    AffinePiece,
    CollinearPieces,
    affine_pieces,
    noncollinear_pieces,
)
from polyrelu.conditions.condition import Condition, Parts
from polyrelu.conditions.crossings import Crossings, TransverseCrossing, pairwise_crossings
from polyrelu.conditions.general import Limits, generic, pl_general
from polyrelu.conditions.genericity import (
    DeficientProduct,
    MaskedProduct,
    WrongCell,
    masked_ranks,
    supertransversality,
)
from polyrelu.conditions.linear_regions import InvisibleFacet, linear_regions_property
from polyrelu.conditions.report import conditions
from polyrelu.conditions.transparency import OpaqueRegion, transparency
from polyrelu.conditions.zero_extrema import ZeroExtremum, zero_extrema

__all__ = [
    "AffinePiece",
    "CollinearPieces",
    "Condition",
    "Crossings",
    "DeficientProduct",
    "InvisibleFacet",
    "Limits",
    "MaskedProduct",
    "OpaqueRegion",
    "Parts",
    "TransverseCrossing",
    "WrongCell",
    "ZeroExtremum",
    "affine_pieces",
    "conditions",
    "generic",
    "linear_regions_property",
    "masked_ranks",
    "noncollinear_pieces",
    "pairwise_crossings",
    "pl_general",
    "supertransversality",
    "transparency",
    "zero_extrema",
]
