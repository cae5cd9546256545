"""Deviations of small pairs of networks, against all vertices of the stacked network.

    python -m benchmarks.deviation_small_pairs [--pairs 1000]

For each pair the maximum is exact, and equal to the one at the vertices; it is also asked for as a
number (proved) and a little less (refuted), and every certificate is checked. CPU seconds.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import polyrelu
from benchmarks.reporting import write_results
from polyrelu.outcomes import DeviationBounds, DeviationExceeded
from tests.generators.deviation_pairs import largest_at_vertices, small_pair


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000)
    number = parser.parse_args().pairs
    rng, started = random.Random(29), time.process_time()
    wrong, counts = list[int](), {"exact": 0, "proved": 0, "refuted": 0, "accepted": 0}
    for index in range(number):
        one, two = small_pair(rng)
        nets = polyrelu.from_arrays(one), polyrelu.from_arrays(two)
        value = largest_at_vertices(one, two)
        answers = [polyrelu.deviation(*nets, "box:-1,1", seed=index)]
        for share in [Fraction(1), Fraction(999, 1000)][: 2 if value else 1]:
            at_most = share * value
            answers.append(polyrelu.deviation(*nets, "box:-1,1", at_most=at_most, seed=index))
        _count(counts, answers)
        found = answers[0]
        is_right = isinstance(found, DeviationBounds)
        if not (is_right and found.at_least == found.at_most == value):  # type: ignore[union-attr]
            wrong.append(index)
        if index % 50 == 49 or index == number - 1:
            seconds = round(time.process_time() - started)
            results = {"pairs": index + 1, "wrong": wrong, **counts, "cpu seconds": seconds}
            write_results("deviation_small_pairs", results, is_shown=index == number - 1)


def _count(counts: dict[str, int], answers: list[Any]) -> None:
    """Count the answers and the certificates that are accepted."""
    counts["exact"] += isinstance(answers[0], DeviationBounds) and answers[0].is_exact
    counts["proved"] += len(answers) > 1 and isinstance(answers[1], DeviationBounds)
    counts["refuted"] += len(answers) > 2 and isinstance(answers[2], DeviationExceeded)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pair.cert"
        for answer in answers:
            if answer.certificate is not None:
                answer.certificate.save(path)
                counts["accepted"] += polyrelu.check_file(path).verdict == "accepted"


if __name__ == "__main__":
    main()
