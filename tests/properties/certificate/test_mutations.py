"""Certificates mutated leaf by leaf: no mutant crashes the checker, and accepted ones are true.

The hash of a network that a mutant changes is recomputed, so that the checker has to look at its
content. An accepted mutant needs a reason: it makes the same claim as the original, with other
evidence or remarks, or the new claim is true by a route that shares nothing with the checker. On
this route the prover decides the mutated network anew, and brute force finds nothing against it.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice
from random import Random

import pytest

from benchmarks.certificate_mutations import verdicts_of
from polyrelu import checker
from tests.generators.campaigns import case, some_and_all
from tests.generators.certificate_mutants import NETWORKS, ORIGINALS, mutants, original
from tests.oracles.mutants import reason_it_is_true

#: The theorems of FORMAT.md 5.8, whose certificates tests/checker/test_bounds_mutants.py mutates.
BOUNDS = {"deviation", "range", "holds", "same-decisions", "lipschitz"}


def test_the_originals_use_every_theorem() -> None:
    """The recorded campaign has an original for every other theorem that the checker knows."""
    theorems = {original(name)[1] for name in ORIGINALS}
    assert theorems == set(checker.THEOREMS) - BOUNDS


@pytest.mark.parametrize("name", ["flip", "point", "deep-part-neurons", "cells by vertices"])
def test_some_mutants_of_the_campaign(name: str) -> None:
    """The benchmark's mutants of originals that are not mutated here otherwise."""
    verdicts, false = verdicts_of(name, 90, seed=2)
    assert not false
    assert verdicts["rejected"] > 3
    assert verdicts["unreadable"] > 3


def check_mutants(name: str, every: int) -> None:
    """Check that every n-th mutant of a certificate is refused or true."""
    document, _ = original(name)
    assert checker.check_bytes(json.dumps(document).encode()).verdict == "accepted"
    verdicts: Counter[str] = Counter()
    for text, mutant in islice(mutants(document, Random(name)), 0, None, every):
        report = checker.check_bytes(text.encode())
        verdicts[report.verdict] += 1
        if report.verdict == "accepted":
            assert mutant is not None, text
            assert reason_it_is_true(document, mutant) != "", text
    assert sum(verdicts.values()) > 300 / every
    assert verdicts["accepted"] < sum(verdicts.values()) / 3


@pytest.mark.parametrize("name", NETWORKS)
def test_some_mutants_die_or_are_true(name: str) -> None:
    check_mutants(name, 67)


@pytest.mark.parametrize("every", some_and_all(5, 1))
def test_many_mutants_die_or_are_true(every: int) -> None:
    for name in NETWORKS:
        with case(name):
            check_mutants(name, every)
