"""Provers: one theorem, one module, with the proof written out beside it. `identify` and `equivalent` try
several."""

from polyrelu.proofs.equivalence.prover import equivalent
from polyrelu.proofs.identify import identify
from polyrelu.proofs.region_cover import certify_regions

__all__ = [
    "certify_regions",
    "equivalent",
    "identify",
]
