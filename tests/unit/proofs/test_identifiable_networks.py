"""Networks that are made to be identifiable, and smaller networks that are proved to be minimal."""

from __future__ import annotations

import json

import pytest

import polyrelu
from polyrelu import checker
from polyrelu.errors import NetworkError
from polyrelu.outcomes import SizeBound
from polyrelu.proofs import identifiable_network, minimal_network, size_bound

#: Widths that grow, shrink and do both.
FAST = [(2, 2, 1), (2, 3, 2, 1), (3, 2, 4, 2)]
SLOW = [(2, 4, 3, 5, 1), (2, 2, 2, 2, 1)]


@pytest.mark.parametrize(
    "widths", [*FAST, *(pytest.param(widths, marks=pytest.mark.slow) for widths in SLOW)], ids=str
)
def test_any_widths(widths: tuple[int, ...]) -> None:
    made = identifiable_network(widths, seed=1)
    network = made.certificate.claim.network
    assert network.widths == widths
    document, _ = made.certificate.to_document()
    report = checker.check_bytes(json.dumps(document).encode())
    assert report.verdict == "accepted"
    assert "is identifiable on R^n among" in report.statement
    assert made.membership in ("open", "verified")
    again = identifiable_network(widths, seed=1)
    assert again.certificate.claim.network == network
    bound = size_bound(network, among="transversal", budget=2_000)
    assert isinstance(bound, SizeBound)
    assert bound.at_least <= network.num_hidden_layers


def test_widths_that_are_refused() -> None:
    for widths in ((2, 1, 2), (1, 2, 1), (2, 1), (2, 2)):
        with pytest.raises(NetworkError, match="widths: expected"):
            identifiable_network(widths)


def test_minimal_networks() -> None:
    """Redundant neurons are left out; the rest is counted by hyperplanes, or by layers."""
    first = ([[1, 0], [3, 0], [0, 1], [0, 0], [1, 1]], [0, 0, 0, 2, 0])
    found = minimal_network(polyrelu.from_arrays([first, ([[1, 1, 1, 4, 0]], [7])]))
    assert (found.network.widths, found.is_minimal) == ((2, 2, 1), True)
    assert isinstance(found.bound, SizeBound)
    assert found.bound.at_least == 2
    assert found.simplified.outcome.status == "proved"
    maximum = minimal_network("example:twins-a")  # one line, but not with one neuron
    assert not maximum.is_minimal
    assert "perhaps not minimal" in repr(maximum)
    hidden = minimal_network("example:hidden")
    assert hidden.is_minimal
    assert polyrelu.identify(hidden.network).status == "refuted"
