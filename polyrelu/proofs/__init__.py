"""Provers: one theorem, one module, with the proof written out beside it. `identify` and `equivalent` try them all."""

from polyrelu.proofs.equivalence import equivalent
from polyrelu.proofs.identifiability import identify
from polyrelu.proofs.outcome import (
    Attempt,
    Equivalent,
    Identifiable,
    NotEquivalent,
    NotIdentifiable,
    Outcome,
    Proved,
    Refuted,
    Search,
    Undecided,
    Witness,
)

__all__ = [
    "Attempt",
    "Equivalent",
    "Identifiable",
    "NotEquivalent",
    "NotIdentifiable",
    "Outcome",
    "Proved",
    "Refuted",
    "Search",
    "Undecided",
    "Witness",
    "equivalent",
    "identify",
]
