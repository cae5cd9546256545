"""Properties on boxes of many inputs, proved by cuts at signs, against brute force."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest

from polyrelu import checker
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.tree_documents import written
from tests.generators.wide_properties import drawn_property, mutants_of_evidence


@pytest.mark.parametrize("number", few_some_and_all(12, 50, 100))
def test_proofs_by_signs(number: int) -> None:
    """Proofs are of true claims, and what the checker accepts of their mutants is true."""
    counts = Counter[str]()
    for seed in range(number):
        drawn = drawn_property(seed)
        found, random = drawn.proof(seed), Random(seed)
        with case(seed):
            if found.point is not None:
                assert drawn.excess(found.point) >= 0
            counts["true" if drawn.is_true else "false"] += 1
            if found.certificate is None:
                continue
            counts["proved"] += 1
            assert drawn.is_true
            data = found.certificate.to_bytes()
            assert checker.check_bytes(data).verdict == "accepted"
            file = [json.loads(line) for line in data.splitlines()]
            for mutant in mutants_of_evidence(file, random, 3):
                verdict = checker.check_bytes(written(mutant), budget=2**30).verdict
                assert verdict != "accepted" or drawn.is_true_with(mutant[0]["claim"])
    assert counts["proved"] > 0.8 * counts["true"] > 0
    assert counts["false"]
