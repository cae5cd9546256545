"""Provers: one theorem, one module, with the proof written out beside it. `identify` tries them all."""

from polyrelu.proofs.identifiability import identify
from polyrelu.proofs.outcome import Attempt, Outcome, Proved, Refuted, Undecided

__all__ = ["Attempt", "Outcome", "Proved", "Refuted", "Undecided", "identify"]
