"""The rules replacement and bounded-replacement."""

from __future__ import annotations

import json
from typing import Any

import pytest

from polyrelu import checker
from polyrelu.certificate import Certificate, Claim, Hypothesis
from polyrelu.network import from_arrays
from polyrelu.proofs.refutations import image_box
from polyrelu.proofs.refutations.moves import moves
from tests.generators.certificates import (
    altered,
    rehash,
    spelled,
    verdict,
)


@pytest.mark.parametrize("theorem", ["replacement", "bounded-replacement"])
def test_cost_of_coefficients(theorem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long divisor of a row is multiplied by every outgoing weight, which is paid for."""
    monkeypatch.setattr(checker, "UNITS_PER_CELL", 1)  # so that the cost is the work alone
    neurons, outputs, costs = 10, 400, []
    for number in (16**4094, 1):
        document = altered("replacement-line")
        document["proof"]["theorem"] = theorem
        for key, last in (("network", 0), ("other", number)):
            bias = " ".join(["0"] * (neurons - 1) + [spelled(last)])
            first = {"from": 0, "rows": [spelled(number)] * neurons}
            second = {"from": 1, "rows": [" ".join(["1"] * neurons)] * outputs}
            layers = [
                {"denominator": "1", "bias": bias, "weights": [first]},
                {"denominator": "1", "bias": " ".join(["0"] * outputs), "weights": [second]},
            ]
            document["claim"][key]["inline"] |= {"inputs": 1, "layers": layers}
        rehash(document)
        report = checker.check_bytes(json.dumps(document).encode())
        assert (report.verdict, report.step) == ("rejected", "same-function")
        costs.append(report.cost)
    assert costs[0] - costs[1] > 2_000 * 2 * neurons * outputs


def test_limit_of_boxes() -> None:
    """In deep networks with long numbers the ends of the boxes grow; infinite ends do not."""
    for place, wanted in ((1, ("rejected", "not-related")), (2, ("unreadable", "same-function"))):
        document = altered("bounded-replacement-linear")
        for key in ("network", "other"):
            layers = document["claim"][key]["inline"]["layers"]
            for _ in range(5):
                long = {
                    "denominator": "1",
                    "bias": "0",
                    "weights": [{"from": 0, "rows": [spelled(16**4094 + 1)]}],
                }
                layers.insert(place, long)
            for k, layer in enumerate(layers):
                layer["weights"][0]["from"] = k
        document["proof"]["hypotheses"][1]["evidence"]["layer"] = 8
        document["proof"]["hypotheses"][2]["evidence"]["layer"] = 1
        answer = verdict(document)
        assert answer[:2] == wanted, answer
        assert wanted[0] == "rejected" or "beyond the limits: a box" in answer[2]


@pytest.mark.parametrize("stem", ["replacement-line", "replacement-orthant"])
def test_a_replacement_is_one_on_the_box(stem: str) -> None:
    """Maps that agree on R^n or on the orthant agree on the box, so that provers write one id."""
    document = altered(stem)
    assert verdict(document)[0] == "accepted"
    document["proof"]["theorem"] = "bounded-replacement"
    assert verdict(document)[0] == "accepted"


def test_the_theorem_that_provers_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is `replacement` only where the box is beyond the limits."""
    layers = [([[1, 2], [3, 4]], [5, 6]), ([[1, 1], [2, 1]], [1, 1]), ([[1, 0]], [0])]
    network = from_arrays(layers)
    found = [move for move in moves(network) if move.evidence == {"layer": 2}]
    assert {move.theorem for move in found} == {"bounded-replacement"}
    monkeypatch.setattr(image_box, "SCALE_BIT_LIMIT", 3)
    limited = [move for move in moves(network) if move.evidence == {"layer": 2}]
    assert {move.theorem for move in limited} == {"replacement"}
    for move in (found[0], limited[0]):
        claim = Claim("not-identifiable", network, "all", other=move.other)
        evidence: dict[str, dict[str, Any]] = {
            "architecture": {},
            "same-function": move.evidence,
            "not-related": {"layer": move.difference},
            "membership": {"status": "verified", "method": "every"},
        }
        hypotheses = tuple(Hypothesis(move.theorem, *entry) for entry in evidence.items())
        document, _ = Certificate(claim, move.theorem, hypotheses).to_document()
        assert verdict(document)[0] == "accepted"
