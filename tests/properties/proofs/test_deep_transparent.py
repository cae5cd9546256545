"""The theorem of Phuong and Lampert (2020) is contained in Theorem D.

Networks that satisfy its hypotheses on a box, as their complex shows, are proved identifiable among
a class of competitors that contains the class of that theorem.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu import Proved, checker
from polyrelu.network import Network
from tests.generators.campaigns import few_fast
from tests.generators.transparent import WIDTHS, has_hypotheses, transparent_network


def with_hypotheses(widths: tuple[int, ...], count: int, seed: int) -> list[Network]:
    rng, found = np.random.default_rng(seed), list[Network]()
    while len(found) < count:
        network = transparent_network(widths, rng)
        found += [network] if has_hypotheses(network) else []
    return found


@pytest.mark.parametrize("widths", few_fast(WIDTHS, 2), ids=str)
def test_networks_with_their_hypotheses_are_proved(widths: tuple[int, ...]) -> None:
    for network in with_hypotheses(widths, 4, seed=sum(widths)):
        outcome = polyrelu.identify(network, among="regular", budget=60_000)
        assert isinstance(outcome, Proved)
        assert (outcome.theorem, outcome.certificate.claim.among) == ("deep", "regular")
        report = checker.check_bytes(json.dumps(outcome.certificate.to_document()[0]).encode())
        assert report.verdict == "accepted"
        assert "among regular parameters" in report.statement


@pytest.mark.parametrize(
    ("among", "theorem", "competitors"),
    [
        (None, "bottleneck", "generic"),
        ("transversal", "deep", "regular"),
        ("generic", "bottleneck", "generic"),
    ],
)
def test_the_class_of_the_first_theorem_that_applies(
    among: Any, theorem: str, competitors: str
) -> None:
    """Theorem P comes first if its class is enough; Theorem D prefers regular competitors."""
    (network,) = with_hypotheses((3, 3, 2, 1), 1, seed=5)
    outcome = polyrelu.identify(network, among=among, budget=60_000)
    assert isinstance(outcome, Proved)
    assert (outcome.theorem, outcome.certificate.claim.among) == (theorem, competitors)
