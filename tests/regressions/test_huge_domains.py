"""Boxes and claims beyond the range of floats ended in an OverflowError, or never.

Floats were made of the ends of boxes without a limit, and a search in floats halved boxes on which
all bounds were infinite, at no price.
"""

from __future__ import annotations

import pytest

import polyrelu
from polyrelu import audit
from polyrelu.outcomes import RangeBounds, Undecided

HUGE = 10**350
DOMAIN = f"box:-{HUGE},{HUGE}"
LINE = polyrelu.from_arrays([([[1]], [0]), ([[1]], [0])])


def test_ranges_and_deviations() -> None:
    found = polyrelu.output_range("example:xor", DOMAIN, budget=3000)
    assert isinstance(found, RangeBounds)
    assert str(found.ranges[0]).endswith("largest value 1")
    ended = polyrelu.deviation("example:twins-a", "example:twins-b", DOMAIN, budget=300)
    assert isinstance(ended, Undecided)


@pytest.mark.parametrize(
    ("bound", "verdict"), [(str(10**400), "right"), (1e308, "right"), (f"1/{10**400}", "wrong")]
)
def test_half_spaces(bound: str | float, verdict: str) -> None:
    """A row -x <= bound, beside the sides of the region [-1, 0], may cut a part off it."""
    rows = [[-1, 1], [1, 0], [-1, bound], [-1, 0], [1, 1]]
    report = audit.audit_regions(LINE, audit.HalfSpaces(rows, [0, 0, 0, 1, 1], 2), "box:-1,1")
    assert report.verdicts == (verdict, "right")


def test_outputs_at_random_points() -> None:
    report = audit.audit_callable(LINE, lambda x: x.clip(min=0), f"box:0,{10**300}")
    assert report.agrees
