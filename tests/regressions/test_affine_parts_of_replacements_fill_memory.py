"""A layer of one neuron between many inputs and many outputs asked for a full table of zeros."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

from polyrelu import checker
from polyrelu.network import from_document
from tests.generators.files import CERTIFICATES


def _network(size: int, bias: int) -> Any:
    zeros = " ".join(["0"] * size)
    rows = [{"from": 0, "rows": [zeros]}], [{"from": 1, "rows": ["1"] * size}]
    layers = [
        {"denominator": "1", "bias": bias_row, "weights": weights}
        for bias_row, weights in zip((str(bias), zeros), rows, strict=True)
    ]
    document = {
        "format": "polyrelu-network",
        "version": 1,
        "inputs": size,
        "layers": layers,
        "last": "affine",
    }
    return {"sha256": from_document(document).sha256, "inline": document}


def test_memory_is_linear_in_the_file() -> None:
    """The table had 2,000² entries for a file of 40 kilobytes, which nothing paid for."""
    text = (CERTIFICATES / "valid" / "bounded-replacement-domain.json").read_text()
    certificate = json.loads(text)
    certificate["claim"] |= {
        "network": _network(2_000, -1),
        "other": _network(2_000, -2),
        "domain": "R^n",
    }
    for hypothesis in certificate["proof"]["hypotheses"][1:3]:
        hypothesis["evidence"] = {"layer": 1}
    data = json.dumps(certificate).encode()
    tracemalloc.start()
    report = checker.check_bytes(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (report.verdict, report.step) == ("rejected", "not-related")
    assert peak < 10_000_000
