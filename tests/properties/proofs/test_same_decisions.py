"""Decisions of random pairs of classifiers against a look at all regions of both networks."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from polyrelu import Network, check_file, from_arrays, same_decisions
from polyrelu.formats import read_vnnlib
from polyrelu.outcomes import DifferentDecisions, SameDecisions
from tests.generators.campaigns import case, few_and_all
from tests.oracles.queries import has_solution


def random_pair(rng: Random, num_outputs: int) -> tuple[Network, Network]:
    """A network of one input and a copy with a few other numbers in its last layer."""
    widths = [1, *(rng.randint(1, 3) for _ in range(rng.randint(0, 2))), num_outputs]
    layers: list[tuple[list[list[int]], list[int]]] = [
        (
            [[rng.randint(-3, 3) for _ in range(n)] for _ in range(m)],
            [rng.randint(-3, 3) for _ in range(m)],
        )
        for n, m in pairwise(widths)
    ]
    rows, bias = layers[-1]
    steps = [Fraction(0), Fraction(1, 3), Fraction(-1), Fraction(-3)]
    moved = [b + rng.choice(steps) for b in bias]
    factor = rng.choice([1, 1, 2])
    changed = [[factor * x for x in row] for row in rows], [factor * b for b in moved]
    return from_arrays(layers), from_arrays([*layers[:-1], changed])


def differs(pair: tuple[Network, Network], num_outputs: int, margin: int, folder: Path) -> bool:
    """Whether the decisions differ on [-2, 2], asked as a query."""
    cases = ""
    for i in range(num_outputs):
        others = [k for k in range(num_outputs) if k != i]
        clear = " ".join(f"(> (- P[{i}] P[{k}]) {margin})" for k in others)
        cases += "".join(f"(and {clear} (>= Q[{j}] Q[{i}]))" for j in others)
    path = folder / "query.vnnlib"
    path.write_text(
        "(vnnlib-version <2.0>)"
        + "".join(
            f"(declare-network {name} (declare-input {x} real [1])"
            f"(declare-output {y} real [{num_outputs}]))"
            for name, x, y in (("f", "A", "P"), ("g", "B", "Q"))
        )
        + f"(assert (== A[0] B[0])) (assert (and (>= A[0] -2) (<= A[0] 2)))(assert (or {cases}))"
    )
    return has_solution(read_vnnlib(path), pair)


@pytest.mark.parametrize("seeds", few_and_all(range(20), range(100)))
def test_random_classifiers(seeds: range, tmp_path: Path) -> None:
    answers, path = Counter[str](), tmp_path / "proof.cert"
    for seed in seeds:
        with case(seed):
            rng = Random(seed)
            num_outputs, margin = rng.randint(2, 3), rng.choice([0, 0, 1, 3])
            pair = random_pair(rng, num_outputs)
            outcome = same_decisions(*pair, "box:-2,2", margin=margin, budget=1_000)
            expected = differs(pair, num_outputs, margin, tmp_path)
            answers[outcome.status] += 1
            if isinstance(outcome, SameDecisions):
                assert not expected
                outcome.save(path)
                assert check_file(path).verdict == "accepted"
            elif isinstance(outcome, DifferentDecisions):
                (best,) = outcome.first_best
                f = sorted(outcome.witness.f)
                assert expected
                assert outcome.second_best != (best,)
                assert f[-1] - f[-2] > margin
    assert min(answers["proved"], answers["refuted"]) > len(seeds) / 10
    assert answers["undecided"] <= len(seeds) / 5
