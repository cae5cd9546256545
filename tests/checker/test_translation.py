"""The rule translation, and the invariants of refutations."""

from __future__ import annotations

from tests.generators.certificates import (
    altered,
    spelled,
    verdict,
)


def test_limit_of_scales() -> None:
    """In deep networks the scales of the invariants grow."""
    document = altered("translation")
    for key in ("network", "other"):
        layers = document["claim"][key]["inline"]["layers"]
        last = layers.pop()
        width = len(layers[-1]["bias"].split())
        for _ in range(9):
            rows = [
                " ".join(spelled((16**4094 + 1) * (i == k)) for k in range(width))
                for i in range(width)
            ]
            block = {"from": len(layers), "rows": rows}
            layers.append({"denominator": "1", "bias": " ".join(["0"] * width), "weights": [block]})
        last["weights"][0]["from"] = len(layers)
        layers.append(last)
    depth = len(layers)
    document["proof"]["hypotheses"][2]["evidence"]["layer"] = depth
    answer = verdict(document)
    assert answer[:2] == ("unreadable", "not-related"), answer
    assert "beyond the limits" in answer[2]
