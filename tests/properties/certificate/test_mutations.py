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

from polyrelu import checker
from tests.generators.campaigns import case
from tests.generators.certificate_mutants import NETWORKS, mutants, original
from tests.oracles.mutants import reason_it_is_true


def test_the_originals_use_every_theorem_but_five() -> None:
    """The originals use every theorem but five; no prover uses `flip` and `tree-equal`.

    `replacement` is `bounded-replacement` on a larger box, and written only beyond its limits. It,
    `point` and `deep-part` are mutated with the hand-made certificates, `tree` with the tree files.
    """
    theorems = {original(name)[1] for name in NETWORKS}
    of_trees = {"tree", "regions"}
    others = {"flip", "point", "deep-part", "tree-equal", "replacement"}
    assert theorems == set(checker.THEOREMS) - others - of_trees


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
    check_mutants(name, 29)


@pytest.mark.slow
def test_all_mutants_die_or_are_true() -> None:
    for name in NETWORKS:
        with case(name):
            check_mutants(name, 1)
