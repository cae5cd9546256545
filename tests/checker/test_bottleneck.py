"""The rule of Theorem P."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random

import pytest

from polyrelu import checker, from_arrays
from polyrelu.certificate import Certificate, Claim
from polyrelu.network import Network
from polyrelu.proofs import bottleneck
from polyrelu.proofs.membership import generic_membership
from tests.generators.campaigns import few_and_all
from tests.generators.certificates import (
    altered,
    verdict,
)


def test_limit_of_a_point() -> None:
    """A common denominator of many long denominators would be too long."""
    document = altered("bottleneck-corner-minors")
    positive = [[k, f"1/{hex(16**4094 + 2 * k + 1)}"] for k in range(1, 41)]
    network = document["claim"]["network"]["inline"]
    network["layers"][0] = {
        "denominator": "1",
        "bias": " ".join(["0"] * 41),
        "weights": [
            {"from": 0, "rows": [" ".join(str(int(i == k)) for k in range(41)) for i in range(41)]}
        ],
    }
    network["inputs"] = 41
    network["layers"][1]["weights"][0]["rows"] = [
        " ".join(["1"] * 41),
        " ".join(["1"] * 40 + ["2"]),
    ]
    network["layers"][1]["bias"] = "-1 -1"
    hypotheses = {h["id"]: h["evidence"] for h in document["proof"]["hypotheses"]}
    hypotheses["rank"]["columns"] = list(range(41))
    hypotheses["unique"].clear()
    outputs = network["layers"][2]["weights"][0]["rows"]
    network["layers"][2]["weights"][0]["rows"] = ["1 1" for _ in outputs]
    hypotheses["unique"].update(method="subset-sums", multiplier="3")
    hypotheses["hyperplanes"]["witnesses"] = [{"row": 0, "positive": positive}] * 41
    answer = verdict(document)
    assert answer[:2] == ("unreadable", "hyperplanes"), answer
    assert "beyond the limits" in answer[2]


def with_a_vanishing_sum(rng: Random) -> tuple[Network, Network]:
    """Return a network with V_0 A_0 + V_1 A_1 = 0, and the one with these two neurons flipped.

    Both have one function: max(-t, 0) = max(t, 0) - t, and the sum of the forms t is a constant.
    """
    first = [[rng.randint(-3, 3) for _ in range(2)] for _ in range(2)], [1, -2]
    row, other = [rng.randint(1, 3), -rng.randint(1, 3)], [-rng.randint(1, 3), rng.randint(1, 3)]
    rows = [row, [-x for x in row], other]
    bias = [rng.randint(1, 3), rng.randint(1, 3), rng.choice((-2, -1, 1))]
    weights = [1, 1, rng.choice((-2, 2, 3))]
    flipped = [[-x for x in row], row, other], [-bias[0], -bias[1], bias[2]]
    constant = bias[0] + bias[1]
    theta = from_arrays([first, (rows, bias), ([weights], [0])])
    return theta, from_arrays([first, flipped, ([weights], [constant])])


@pytest.mark.parametrize("count", few_and_all(150, 400))
def test_theorem_p_without_subset_sums(count: int) -> None:
    """A network that failed at vanishing sums only is proved among generic competitors.

    It has another one with its function, which is not generic: there the same sum vanishes.
    """
    rng, proved = Random(3), 0
    for _ in range(count):
        theta, eta = with_a_vanishing_sum(rng)
        hypotheses = bottleneck.prove(theta)
        points = [[Fraction(rng.randint(-60, 60), 7) for _ in range(2)] for _ in range(20)]
        assert all(theta(x) == eta(x) for x in points)
        if not isinstance(hypotheses, list):
            continue
        proved += 1
        claim = Claim("identifiable", theta, "generic")
        document, _ = Certificate(claim, "bottleneck", tuple(hypotheses)).to_document()
        report = checker.check_bytes(json.dumps(document).encode())
        assert report.verdict == "accepted", report
        assert "unique" not in [h["id"] for h in report.hypotheses]
        assert "nobody in the class computes its function" in report.statement
        assert generic_membership(eta)["status"] == "refuted"
    assert proved > count / 80


def test_older_certificates_keep_the_superfluous_hypothesis() -> None:
    """Subset sums may stand in a certificate, and must be right there."""
    document = altered("bottleneck-corner-minors")
    assert verdict(document)[0] == "accepted"
    hypotheses = document["proof"]["hypotheses"]
    assert [h["id"] for h in hypotheses][2] == "unique"
    hypotheses[2]["evidence"] = {"method": "independent", "prime": "2147483647", "entries": []}
    assert verdict(document)[:2] == ("rejected", "unique")
    del hypotheses[2]
    assert verdict(document)[0] == "accepted"
    del hypotheses[2]
    assert verdict(document)[0] == "unreadable"
