"""Lists that are compared in parts: the same reports whoever does it, also after an end."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu import audit
from polyrelu.audit import judging
from polyrelu.audit.ground_truth import _Vertices
from polyrelu.audit.half_spaces import HalfSpaceComparison
from polyrelu.audit.local_maps import LocalMapComparison
from polyrelu.audit.outputs import _Gradients, _Outputs
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.support.parallel import Processes, Workers
from polyrelu.support.parallel.wire import packed
from tests.generators.claims_of_items import claims_of_items
from tests.generators.planted_faults import BOX, small_network
from tests.generators.workers import Backwards, Counted, Wrong

NET = small_network(1)


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("claims") / "claims.json"
    path.write_text(json.dumps(claims_of_items(NET)))
    return path


@pytest.fixture
def short_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a task have a few items, so that each list has many tasks."""
    for judge in (HalfSpaceComparison, LocalMapComparison, _Outputs, _Gradients):
        monkeypatch.setattr(judge, "items_per_task", 5)
    monkeypatch.setattr(_Vertices, "items_per_task", 7)


def answers(claims: Path, **options: Any) -> list[dict[str, Any]]:
    """All that is reported about the claims."""
    return [
        {**report.to_json(), "verdicts": report.verdicts}
        for report in audit.audit_claims(NET, claims, **options)
    ]


@pytest.fixture(scope="module")
def expected(claims: Path) -> list[dict[str, Any]]:
    """The reports of one process, in which no list is divided."""
    found = answers(claims)
    assert [report["agrees"] for report in found].count(False) == 8
    return found


@pytest.mark.usefixtures("short_tasks")
@pytest.mark.parametrize("workers", [Counted(), Backwards()], ids=["in order", "backwards"])
def test_reports_do_not_depend_on_the_workers(
    claims: Path, expected: list[dict[str, Any]], workers: Counted
) -> None:
    assert answers(claims, workers=workers) == expected
    assert workers.num_done > 20


@pytest.mark.slow
@pytest.mark.usefixtures("short_tasks")
def test_reports_of_two_processes(claims: Path, expected: list[dict[str, Any]]) -> None:
    assert answers(claims, workers=Processes(2)) == expected


@pytest.mark.usefixtures("short_tasks")
def test_an_audit_goes_on_from_every_task(
    claims: Path, expected: list[dict[str, Any]], tmp_path: Path
) -> None:
    kept, total = tmp_path / "work.db", 0
    for end in (1, 4, 9, 2, None):
        workers = Counted(end)
        if end is None:
            assert answers(claims, workers=workers, checkpoint=kept) == expected
        else:
            with pytest.raises(SystemExit):
                answers(claims, workers=workers, checkpoint=kept)
        total += workers.num_done
    alone = Counted()
    assert answers(claims, workers=alone) == expected
    assert alone.num_done - 1 <= total <= alone.num_done  # a last task alone needs no workers
    nothing = Counted()
    assert answers(claims, workers=nothing, checkpoint=kept) == expected
    assert nothing.num_done == 0


def test_a_checkpoint_of_other_claims_is_refused(claims: Path, tmp_path: Path) -> None:
    kept = tmp_path / "work.db"
    answers(claims, checkpoint=kept)
    document = json.loads(claims.read_text())
    document["radii"][0] = 2
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document))
    with pytest.raises(DomainError, match=r"other work .another claims.; name another file"):
        answers(other, checkpoint=kept)
    with pytest.raises(DomainError, match="another network"):
        audit.audit_claims(small_network(2), claims, checkpoint=kept)


def test_findings_do_not_matter_for_a_checkpoint(claims: Path, tmp_path: Path) -> None:
    kept, nothing = tmp_path / "work.db", Counted()
    answers(claims, checkpoint=kept, max_findings=0)
    answers(claims, checkpoint=kept, max_findings=3, workers=nothing)
    assert nothing.num_done == 0


@pytest.mark.parametrize("number", [0, 2], ids=["too few", "too many"])
def test_wrong_results_of_workers_are_refused(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(LocalMapComparison, "items_per_task", 1)
    points = audit.LocalMaps(np.array([[0.5, 0.25], [0.25, 0.5]]))
    wrong = Wrong(packed([[0, False]] * number))
    with pytest.raises(PolyreluError, match="not understood"):
        audit.audit_regions(NET, points, BOX, workers=wrong)


@pytest.mark.parametrize("region", [-2, 10**6])
def test_a_region_that_does_not_exist_is_refused(
    monkeypatch: pytest.MonkeyPatch, region: int
) -> None:
    monkeypatch.setattr(LocalMapComparison, "items_per_task", 1)
    points = audit.LocalMaps(np.array([[0.5, 0.25], [0.25, 0.5]]))
    wrong = Wrong(packed([[region, False]]))
    with pytest.raises(PolyreluError, match="not understood"):
        audit.audit_regions(NET, points, BOX, workers=wrong)


def test_lists_of_regions_have_checkpoints_of_their_own(tmp_path: Path) -> None:
    truth = audit.ground_truth(NET, BOX)
    points = audit.LocalMaps(np.array([[0.5, 0.25], [0.25, 0.5]]))
    again: Workers = Counted()
    first = audit.audit_regions(truth, points, checkpoint=tmp_path / "work.db")
    assert (
        audit.audit_regions(NET, points, BOX, workers=again, checkpoint=tmp_path / "work.db")
        == first
    )
    assert isinstance(again, Counted)
    assert again.num_done == 0
    with pytest.raises(DomainError, match="another claims"):
        audit.audit_regions(truth, points, allowance=audit.EXACT, checkpoint=tmp_path / "work.db")


def test_a_ground_truth_travels_without_its_cells() -> None:
    truth = audit.ground_truth(NET, BOX)
    data = pickle.dumps(truth)
    assert len(data) < 20_000
    again = pickle.loads(data)
    assert "cells" not in again.__dict__
    assert (again.region_signs == truth.region_signs).all()
    assert again.vertices == truth.vertices


def test_hashes_tell_values_apart() -> None:
    values = [
        [1, 2],
        [[1], 2],
        [1, [2]],
        ["1", 2],
        [1.0, 2],
        {"1": 2},
        np.array([1, 2]),
        np.array([1.0, 2.0]),
        np.array([[1, 2]]),
        np.array([1, 2], dtype=object),
        "1, 2",
        None,
    ]
    assert len({judging._digest(value) for value in values}) == len(values)
    assert judging._digest({"a": 1, "b": 2}) == judging._digest({"b": 2, "a": 1})
