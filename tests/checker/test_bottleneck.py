"""The rule of Theorem P."""

from __future__ import annotations

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
