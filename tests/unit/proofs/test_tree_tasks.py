"""Searches divided into tasks: the same bytes whoever does them, also after interruptions."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import polyrelu
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.outcomes import DeviationBounds, RangeBounds, Undecided
from polyrelu.proofs.deviation import (
    box_search,
    certified,
    inherited_tree,
    sign_search,
    task_groups,
)
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.support.budget import Budget
from polyrelu.support.parallel import Processes, Serial
from polyrelu.support.parallel.wire import packed, unpacked
from tests.generators.close_networks import close_pair
from tests.generators.workers import Backwards, Counted, Wrong


@pytest.fixture(autouse=True)
def _short_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide small searches; the length of a task is sent with it."""
    short = replace(SETTINGS, task_work=15, task_work_of_leaves=60, num_ahead=6)
    for module in (box_search, certified, inherited_tree, sign_search, task_groups):
        monkeypatch.setattr(module, "SETTINGS", short)


def the_deviation(**options: Any) -> bytes:
    """Return the certificate of a deviation, from a search by boxes and their leaves."""
    found = polyrelu.deviation(*close_pair((4, 12, 12, 2)), "box:-1,1", gap="1/4", **options)
    assert isinstance(found, DeviationBounds), found
    return found.certificate.to_bytes()


def the_signs(**options: Any) -> bytes:
    """Return the certificate of a deviation with many inputs, from a search by signs."""
    found = polyrelu.deviation(*close_pair((21, 6, 1)), "box:-1,1", gap="1/8", **options)
    assert isinstance(found, DeviationBounds), found
    return found.certificate.to_bytes()


def the_range(**options: Any) -> bytes:
    """Return the certificate of the ranges of two outputs."""
    found = polyrelu.output_range(close_pair((4, 6, 6, 2))[0], "box:-1,1", gap="1/8", **options)
    assert isinstance(found, RangeBounds), found
    return found.certificate.to_bytes()


@pytest.mark.parametrize("question", [the_deviation, the_signs, the_range])
def test_order_and_interruptions_change_nothing(question: Any, tmp_path: Path) -> None:
    counted, backwards = Counted(), Backwards()
    expected = question(workers=counted)
    assert counted.num_done > 6
    assert question() == expected
    assert question(workers=backwards) == expected
    path = tmp_path / "work.db"
    for end in (2, 1):
        with pytest.raises(SystemExit):
            question(workers=Counted(end), checkpoint=path)
    rest = Counted()
    assert question(workers=rest, checkpoint=path) == expected
    assert 0 < rest.num_done <= counted.num_done - 3
    nothing = Counted()
    assert question(workers=nothing, checkpoint=path) == expected
    assert nothing.num_done == 0


@pytest.mark.parametrize(
    "jobs", [pytest.param(2), pytest.param(4, marks=pytest.mark.slow)], ids=str
)
def test_processes_change_nothing(jobs: int) -> None:
    assert the_deviation(workers=Processes(jobs)) == the_deviation()


@pytest.mark.parametrize("question", [{"gap": "1/1000"}, {"at_most": "1/22"}], ids=str)
def test_a_budget_means_the_same_for_all_workers(question: Any, tmp_path: Path) -> None:
    found = []
    for workers, path in ((None, None), (Serial(), tmp_path / "work.db"), (Backwards(), None)):
        answer = polyrelu.deviation(
            *close_pair((4, 12, 12, 2)),
            "box:-1,1",
            budget=Budget(400),
            workers=workers,
            checkpoint=path,
            **question,
        )
        assert isinstance(answer, Undecided)
        assert answer.reason.endswith("units of work was used up")
        assert isinstance(answer.bounds, DeviationBounds)
        found.append(answer.bounds.certificate.to_bytes())
    assert found[0] == found[1] == found[2]


def test_a_checkpoint_of_another_question_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    the_deviation(checkpoint=path)
    with pytest.raises(DomainError, match=r"other work \(question: deviation in place of range\)"):
        the_range(checkpoint=path)
    with pytest.raises(DomainError, match=r"other work \(seed: 0 in place of 1\)"):
        the_deviation(checkpoint=path, seed=1)
    with pytest.raises(DomainError, match=r"\(another first network; another second network\)"):
        polyrelu.deviation(*close_pair((4, 3, 2)), "box:-1,1", gap="1/4", checkpoint=path)


BOXES = {"boxes": 1, "points": 1, "joint": True, "cuts": [], "leaves": [], "open": []}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no",
        packed([]),
        packed({"work": "1"}),
        packed(None),
        packed({"work": math.nan}),
        packed({"work": -1}),
        packed({"work": 10**400}),
        packed({**BOXES, "work": 1, "point": ["1/0"] * 4}),
    ],
    ids=repr,
)
def test_results_of_another_form_are_errors(
    data: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(PolyreluError, match="is not understood; delete the checkpoint"):
        the_deviation(workers=Wrong(data))


def test_entries_come_back() -> None:
    entries = {"open": [[0, float("inf")], [1, 0.1]], "cuts": [["-f/2", None, True]]}
    assert unpacked(packed(entries)) == entries
