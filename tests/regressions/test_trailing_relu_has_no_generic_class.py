"""A network that ends in a ReLU was refuted among generic parameters, a class not defined for it.

The network had a hidden hyperplane. The checker rejected the certificate.
"""

from __future__ import annotations

import polyrelu
from polyrelu import checker
from polyrelu.outcomes import NotIdentifiable
from tests.oracles.judge import certificate_bytes


def test_refuted_among_all() -> None:
    layers = [([[1, 0], [0, 1]], [0, 0]), ([[1, -2], [2, -1]], [-3, -1]), ([[1, 1]], [0])]
    outcome = polyrelu.identify(polyrelu.from_arrays(layers, last="relu"))
    assert isinstance(outcome, NotIdentifiable)
    assert outcome.certificate.claim.among == "all"
    assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"
    assert (
        polyrelu.identify(polyrelu.from_arrays(layers, last="relu"), among="generic").status
        == "undecided"
    )
