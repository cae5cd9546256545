"""Random queries about small networks against a look at all cases in all regions."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from polyrelu import Network, check_file, from_arrays, verify
from polyrelu.formats import Counterexample, check_counterexample, counterexample_text, read_vnnlib
from polyrelu.outcomes import PropertyFails, PropertyHolds
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.vnnlib_files import random_property
from tests.oracles.queries import has_solution


def random_network(rng: Random, num_inputs: int, num_outputs: int) -> Network:
    widths = [num_inputs, *(rng.randint(1, 4) for _ in range(rng.randint(0, 2))), num_outputs]
    layers = [
        (
            [[rng.randint(-2, 2) for _ in range(n)] for _ in range(m)],
            [rng.randint(-2, 2) for _ in range(m)],
        )
        for n, m in pairwise(widths)
    ]
    return from_arrays(layers, rng.choice(["affine", "affine", "relu"]))


def is_decimal(point: Counterexample) -> bool:
    """Whether all values are decimals, which files of counterexamples hold exactly."""
    return all(10**400 % value.denominator == 0 for value in point.values.values())


@pytest.mark.parametrize("seeds", few_some_and_all(range(30), range(120), range(300)))
def test_random_queries(seeds: range, tmp_path: Path) -> None:
    """Answers agree with the oracle, certificates are accepted, counterexamples are right."""
    path, proof, answers = tmp_path / "query.vnnlib", tmp_path / "proof.cert", Counter[str]()
    for seed in seeds:
        with case(seed):
            rng = Random(seed)
            num_networks = 1 + (rng.random() < 0.4)
            text, *sizes = random_property(rng, num_networks)
            path.write_text(text)
            networks = [random_network(rng, *sizes) for _ in range(num_networks)]
            given = dict(zip("fg", networks, strict=False)) if num_networks == 2 else networks[0]
            query = read_vnnlib(path)
            outcome, expected = verify(given, query), has_solution(query, networks)
            answers[outcome.status] += 1
            if isinstance(outcome, PropertyHolds):
                assert not expected
                for certificate in outcome.certificates[:2]:
                    certificate.save(proof)
                    assert check_file(proof).verdict == "accepted"
            elif isinstance(outcome, PropertyFails):
                assert expected
                proof.write_text(counterexample_text(query, outcome.counterexample.values))
                found = check_counterexample(query, proof, given).is_counterexample
                assert found or not is_decimal(outcome.counterexample)
            else:
                assert outcome.margin[0] is not None
                assert outcome.margin[0] >= 0
    assert answers["undecided"] <= len(seeds) / 50
    assert min(answers["proved"], answers["refuted"]) > len(seeds) / 5
