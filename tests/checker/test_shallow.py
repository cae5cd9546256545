"""The rule of the theorem on one hidden layer."""

from __future__ import annotations

from polyrelu import checker
from tests.generators.certificates import (
    altered,
    spelled,
    verdict,
)


def test_limit_of_assignments() -> None:
    """Exact ranks cost too much: eight hyperplanes, one doubled, give 1024 pairs (D, eps)."""
    for bits, wanted in ((300, "accepted"), (4000, "unreadable")):
        document = altered("shallow-assignments")
        network = document["claim"]["network"]["inline"]
        network["inputs"] = 8
        rows = [" ".join(spelled((2**bits + 1) * (i == k)) for k in range(8)) for i in range(8)]
        rows += [rows[0].replace(rows[0].split()[0], "-" + rows[0].split()[0])]
        network["layers"] = [
            {
                "denominator": "1",
                "bias": " ".join(["1"] * 8 + ["-1"]),
                "weights": [{"from": 0, "rows": rows}],
            },
            {
                "denominator": "1",
                "bias": "0",
                "weights": [{"from": 1, "rows": [" ".join(["1"] * 9)]}],
            },
        ]
        network["layers"][1]["weights"][0]["rows"] = [
            " ".join(str(int(i % 8 == o) + (i == 8)) for i in range(9)) for o in range(8)
        ]
        network["layers"][1]["bias"] = " ".join(["0"] * 8)
        answer = verdict(document)
        assert answer[0] == wanted, answer
        assert wanted == "accepted" or "beyond the limits" in answer[2]


def test_limit_of_determinants() -> None:
    size = checker.MAX_DETERMINANT + 1
    document = altered("shallow-independent")
    network = document["claim"]["network"]["inline"]
    network["inputs"] = 2
    block = {"from": 0, "rows": [f"{i} 1" for i in range(1, size + 1)]}
    network["layers"] = [
        {"denominator": "1", "bias": " ".join(["1"] * size), "weights": [block]},
        {
            "denominator": "1",
            "bias": "0",
            "weights": [{"from": 1, "rows": [" ".join(["1"] * size)]}],
        },
    ]
    entries = [[0, k] for k in range(2)]
    evidence = document["proof"]["hypotheses"][1]["evidence"]
    evidence["entries"] = entries
    assert verdict(document)[:2] == ("rejected", "unique")
    network["layers"][1]["weights"][0]["rows"] = [" ".join(["1"] * size)] * size
    network["layers"][1]["bias"] = " ".join(["0"] * size)
    evidence["entries"] = [[o, 0] for o in range(size)]
    answer = verdict(document)
    assert answer[:2] == ("unreadable", "unique"), answer
