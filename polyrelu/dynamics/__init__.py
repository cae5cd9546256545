"""What training conserves: quantities along gradient flow, and the neurons that stay linear."""

from polyrelu.dynamics.conserved import (
    ConservedLayer,
    conserved_matrix,
    conserved_quantities,
    derivative_along_flow,
    drift_of_step,
    equal_patterns,
    loss_gradients,
)
from polyrelu.dynamics.linear_neurons import (
    BoundProof,
    LinearEvidence,
    linear_evidence,
    linear_neurons,
)
from polyrelu.dynamics.symbolic import NoQuantity, symbolic_derivative, translation_has_no_quantity

__all__ = [
    "BoundProof",
    "ConservedLayer",
    "LinearEvidence",
    "NoQuantity",
    "conserved_matrix",
    "conserved_quantities",
    "derivative_along_flow",
    "drift_of_step",
    "equal_patterns",
    "linear_evidence",
    "linear_neurons",
    "loss_gradients",
    "symbolic_derivative",
    "translation_has_no_quantity",
]
