"""Provers: one theorem, one module, with the proof written out beside it. `identify` and `equivalent` try
several."""

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
    RegionsListed,
    Search,
    Undecided,
    Witness,
    Work,
)
from polyrelu.proofs.regions import certify_regions

__all__ = [
    "Attempt",
    "Equivalent",
    "Identifiable",
    "NotEquivalent",
    "NotIdentifiable",
    "Outcome",
    "Proved",
    "Refuted",
    "RegionsListed",
    "Search",
    "Undecided",
    "Witness",
    "Work",
    "certify_regions",
    "equivalent",
    "identify",
]
