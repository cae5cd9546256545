"""Properties on boxes of many inputs, proved by cuts at signs, and mutants of their certificates.

    python -m benchmarks.properties_by_signs [--properties 300] [--mutants 40]

The networks have 24 inputs and depend on one sum of them, so that brute force decides every claim,
those of the mutants as well. Clauses, partners, grids and nodes are mutated. CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from random import Random

from benchmarks.reporting import write_results
from polyrelu import checker
from tests.generators.tree_documents import written
from tests.generators.wide_properties import drawn_property, mutants_of_evidence


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--properties", type=int, default=300)
    parser.add_argument("--mutants", type=int, default=40, help="mutants of each certificate")
    options = parser.parse_args()
    counts, wrong, started = Counter[str](), list[str](), time.process_time()
    for seed in range(options.properties):
        wrong += [f"{seed}: {what}" for what in _faults(seed, options.mutants, counts)]
    seconds = round(time.process_time() - started)
    results = {**dict(sorted(counts.items())), "wrong": wrong, "cpu seconds": seconds}
    write_results("properties_by_signs", results)
    sys.exit(bool(wrong))


def _faults(seed: int, num_mutants: int, counts: Counter[str]) -> list[str]:
    """Return what is wrong about one property."""
    drawn, faults = drawn_property(seed), list[str]()
    found, is_true = drawn.proof(seed), drawn.is_true
    counts["true" if is_true else "false"] += 1
    if found.point is not None:
        counts["points"] += 1
        faults += ["a point of no clause"] * (drawn.excess(found.point) < 0)
    if found.certificate is None:
        return faults
    counts["proved"] += 1
    data = found.certificate.to_bytes()
    faults += ["a proof of a false property"] * (not is_true)
    faults += ["a proof that is rejected"] * (checker.check_bytes(data).verdict != "accepted")
    file = [json.loads(line) for line in data.splitlines()]
    for mutant in mutants_of_evidence(file, Random(seed), num_mutants):
        verdict = checker.check_bytes(written(mutant), budget=2**30).verdict
        counts[f"mutants {verdict}"] += 1
        is_wrong = verdict == "accepted" and not drawn.is_true_with(mutant[0]["claim"])
        faults += [f"a false mutant: {mutant[0]['claim']['clauses']}"] * is_wrong
    return faults


if __name__ == "__main__":
    main()
