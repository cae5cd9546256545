"""Resource bombs: each small file gets its verdict early, whatever it would cost to finish.

`benchmarks/checker_bombs.py` runs the same families with files of up to a megabyte, and measures
time and memory.
"""

from __future__ import annotations

import time

import pytest

from polyrelu import checker
from tests.generators.campaigns import few_fast
from tests.generators.checker_bombs import BOMBS

#: Units that a small bomb may cost here, and seconds that this may take on a machine under load.
BUDGET, SECONDS = 2**29, 20


@pytest.mark.parametrize("name", few_fast(BOMBS, 12))
def test_a_small_bomb(name: str) -> None:
    data = BOMBS[name].make(BOMBS[name].small)
    started = time.process_time()
    report = checker.check_bytes(data, budget=BUDGET)
    assert time.process_time() - started < SECONDS
    assert report.verdict in ("rejected", "unreadable")
    assert report.verdict == "unreadable" or report.cost <= BUDGET
    assert len(str(report)) < 1_500


@pytest.mark.parametrize("name", ["lists", "numbers", "objects", "strings"])
def test_values_are_counted_before_they_are_read(name: str) -> None:
    """A text of many values costs more than the budget before `json` sees it."""
    data = BOMBS[name].make(2_000_000)
    started = time.process_time()
    report = checker.check_bytes(data, budget=2**30)
    assert time.process_time() - started < 2
    assert (report.verdict, report.step) == ("unreadable", "reading")
    assert "beyond the limits" in report.got
