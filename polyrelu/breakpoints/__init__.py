"""The breakpoint complex of a network: gradient jumps and tropical weights at facets.

From the weights follow balancing, the reconstruction of the function, and the tropical rational
form; `closed_form` computes the same jumps from the parameters alone, as an independent check. All
weights belong to primitive integer normals (`tropical_weights`), so every number here is rational
and exact.
"""

from polyrelu.breakpoints.balancing import is_balanced, oriented_sum, unbalanced_ridge
from polyrelu.breakpoints.closed_form import closed_form_jump, output_derivative, vanishing_neuron
from polyrelu.breakpoints.export import (
    BREAKPOINT_FORMATS,
    breakpoints_document,
    save_breakpoints,
    weighted_dual_graph,
)
from polyrelu.breakpoints.rational_form import (
    DualCell,
    TropicalPolynomial,
    TropicalRational,
    tropical_form,
)
from polyrelu.breakpoints.reconstruction import AffineMaps, reconstruct
from polyrelu.breakpoints.tropical_weights import (
    BreakpointComplex,
    TropicalWeight,
    breakpoint_complex,
)

__all__ = [
    "BREAKPOINT_FORMATS",
    "AffineMaps",
    "BreakpointComplex",
    "DualCell",
    "TropicalPolynomial",
    "TropicalRational",
    "TropicalWeight",
    "breakpoint_complex",
    "breakpoints_document",
    "closed_form_jump",
    "is_balanced",
    "oriented_sum",
    "output_derivative",
    "reconstruct",
    "save_breakpoints",
    "tropical_form",
    "unbalanced_ridge",
    "vanishing_neuron",
    "weighted_dual_graph",
]
