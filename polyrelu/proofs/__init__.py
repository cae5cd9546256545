"""Provers: one theorem, one module, with the proof written out beside it. `identify` and `equivalent` try
several."""

from polyrelu.proofs.conserved import (
    ConservedLayer,
    conserved_matrix,
    conserved_quantities,
    derivative_along_flow,
    drift_of_step,
    equal_patterns,
    loss_gradients,
)
from polyrelu.proofs.conserved_symbolic import NoQuantity, symbolic_derivative, translation_has_no_quantity
from polyrelu.proofs.equivalence import equivalent
from polyrelu.proofs.identifiability import identify
from polyrelu.proofs.linear_neurons import BoundProof, LinearEvidence, linear_evidence, linear_neurons
from polyrelu.proofs.outcome import (
    Attempt,
    Equivalent,
    Identifiable,
    NotEquivalent,
    NotIdentifiable,
    Outcome,
    PartlyIdentifiable,
    Proved,
    Refuted,
    RegionsListed,
    Search,
    Undecided,
    Witness,
    Work,
)
from polyrelu.proofs.regions import certify_regions

__all__ = [
    "Attempt",
    "BoundProof",
    "ConservedLayer",
    "Equivalent",
    "Identifiable",
    "LinearEvidence",
    "NoQuantity",
    "NotEquivalent",
    "NotIdentifiable",
    "Outcome",
    "PartlyIdentifiable",
    "Proved",
    "Refuted",
    "RegionsListed",
    "Search",
    "Undecided",
    "Witness",
    "Work",
    "certify_regions",
    "conserved_matrix",
    "conserved_quantities",
    "derivative_along_flow",
    "drift_of_step",
    "equal_patterns",
    "equivalent",
    "identify",
    "linear_evidence",
    "linear_neurons",
    "loss_gradients",
    "symbolic_derivative",
    "translation_has_no_quantity",
]
