"""Sixty planted faults of twelve kinds are found and named; three hundred correct answers pass."""

from __future__ import annotations

import pytest

from tests.generators.campaigns import case, few_and_all
from tests.generators.planted_faults import KINDS, correct_answers, planted


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", few_and_all(range(1), range(1, 5)))
def test_a_fault_is_found_and_named(kind: str, seeds: range) -> None:
    for seed in seeds:
        with case(kind, seed):
            fault = planted(kind, seed)
            assert not fault.report.agrees
            texts = [str(f) for f in fault.report.findings if f.verdict == fault.verdict]
            assert any(all(words in text for words in fault.named) for text in texts), texts
            assert fault.count in (None, fault.report.num_findings)


@pytest.mark.parametrize("seeds", few_and_all(range(1), range(1, 10)))
def test_correct_answers_agree(seeds: range) -> None:
    for seed in seeds:
        reports = dict(correct_answers(seed))
        assert len(reports) == 30
        for name, report in reports.items():
            with case(name, seed):
                assert report.agrees
                assert report.num_findings == 0
