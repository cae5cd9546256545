"""Certificates of bounds with one entry changed: they are rejected, or still true.

Counts of nodes and hashes of networks are made right again, so that changed networks get a chance.
"""

from __future__ import annotations

from random import Random

import pytest

from polyrelu import checker
from tests.generators.bounds_examples import ACCEPTED
from tests.generators.campaigns import case, few_and_all
from tests.generators.tree_documents import Document, mutants, with_count, written
from tests.oracles.bounds import is_true

#: Claims about networks of one input.
ON_A_LINE = {
    name: file
    for name, file in ACCEPTED.items()
    if file[0]["claim"]["network"]["inline"]["inputs"] == 1
}


def check_mutant(name: str, number: int, file: Document) -> bool:
    """Return whether a mutant is accepted; then its claim is true."""
    report = checker.check_bytes(written(file), budget=2**28)
    if report.verdict != "accepted":
        assert report.expected
        return False
    with case(name, number):
        assert is_true(file[0]["claim"])
    return True


@pytest.mark.parametrize("every", few_and_all(61, 5))
def test_mutants(every: int) -> None:
    num_accepted = num_rejected = 0
    for name, file in ON_A_LINE.items():
        assert is_true(file[0]["claim"]), name
        first = Random(name).randrange(every)
        for number, mutant in enumerate(mutants(file)):
            if number % every == first:
                is_accepted = check_mutant(name, number, with_count(mutant))
                num_accepted += is_accepted
                num_rejected += not is_accepted
    assert num_accepted > 0
    assert num_rejected > 50
