"""Provers of claims about networks: `identify`, `equivalent`, `simplify` and others.

Each theorem has a module or a folder of its own, whose docstring names the page of docs/theory with
the proof. A prover answers with an outcome (`polyrelu.outcomes`), and a decided outcome carries a
certificate that `polyrelu.checker`, which shares no code with this room, re-derives.
"""

from polyrelu.proofs.equivalence.prover import equivalent
from polyrelu.proofs.identify import identify
from polyrelu.proofs.region_cover import certify_complex, certify_regions
from polyrelu.proofs.runtime_error import prove_runtime_error
from polyrelu.proofs.simplification import Simplified, simplify

__all__ = [
    "Simplified",
    "certify_complex",
    "certify_regions",
    "equivalent",
    "identify",
    "prove_runtime_error",
    "simplify",
]
