"""Split trees divided into tasks: the same bytes whoever does them, also after interruptions."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import polyrelu
from polyrelu import Network, checker, from_arrays
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.foldsets import clique_instance
from polyrelu.outcomes import Equivalent, NotEquivalent, Undecided
from polyrelu.proofs.trees import subtrees
from polyrelu.proofs.trees.settings import SETTINGS
from polyrelu.support.parallel import Processes, Serial
from polyrelu.support.parallel.wire import packed
from tests.generators.workers import Backwards, Counted, Wrong
from tests.oracles.judge import certificate_bytes

#: A network that is 0 everywhere, because its graph has no triangle.
HIDDEN_ZERO = clique_instance(3, 2, product([(0, 0), (0, 1)], product([1, 2], [0, 1]))).network


@pytest.fixture(autouse=True)
def _short_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide small trees; the length of a task is sent with it."""
    short = replace(SETTINGS, task_work=20, num_ahead=6, nodes_per_task=3)
    monkeypatch.setattr(subtrees, "SETTINGS", short)


def hat(height: int) -> Network:
    """Return a network that is not 0 on a thin slice of the cube, unless the height is 0."""
    ends = [-Fraction(1, 3) - Fraction(k, 2**20) for k in range(3)]
    return from_arrays([([[1, 1, 1]] * 3, ends), ([[height, -2 * height, height]], [0])])


def the_answer(height: int = 0, **options: Any) -> Any:
    """Return whether the network that is 0 is a hat of this height."""
    return polyrelu.equivalent(HIDDEN_ZERO, hat(height), "box:0,1/2", **options)


def the_bytes(height: int, **options: Any) -> bytes:
    """Return the certificate of the answer."""
    found = the_answer(height, **options)
    assert isinstance(found, NotEquivalent if height else Equivalent), found
    return certificate_bytes(found)


@pytest.mark.parametrize("height", [0, 1])
def test_order_and_interruptions_change_nothing(height: int, tmp_path: Path) -> None:
    counted, backwards = Counted(), Backwards()
    expected = the_bytes(height, workers=counted)
    assert counted.num_done > 6
    assert the_bytes(height) == expected
    assert the_bytes(height, workers=backwards) == expected
    path = tmp_path / "work.db"
    for end in (3, 1, 2):
        with pytest.raises(SystemExit):
            the_bytes(height, workers=Counted(end), checkpoint=path)
    rest = Counted()
    assert the_bytes(height, workers=rest, checkpoint=path) == expected
    assert 0 < rest.num_done <= counted.num_done - 6
    nothing = Counted()
    assert the_bytes(height, workers=nothing, checkpoint=path) == expected
    assert nothing.num_done == 0
    assert checker.check_bytes(expected).verdict == "accepted"


def test_the_same_tree_as_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    divided = the_answer().search
    monkeypatch.setattr(subtrees, "SETTINGS", replace(SETTINGS, task_work=math.inf))
    whole = the_answer().search
    assert (divided.num_nodes, divided.num_leaves) == (whole.num_nodes, whole.num_leaves)
    assert (divided.depth, divided.num_signs) == (whole.depth, whole.num_signs)
    assert divided.closed == whole.closed == 1


@pytest.mark.parametrize(
    "jobs", [pytest.param(2), pytest.param(4, marks=pytest.mark.slow)], ids=str
)
def test_processes_change_nothing(jobs: int) -> None:
    assert the_bytes(0, workers=Processes(jobs)) == the_bytes(0)


def test_a_budget_means_the_same_for_all_workers(tmp_path: Path) -> None:
    path, found = tmp_path / "work.db", []
    for workers, file in ((None, None), (Serial(), path), (Backwards(), None)):
        answer = the_answer(budget=150, workers=workers, checkpoint=file)
        assert isinstance(answer, Undecided)
        found.append(answer)
    assert found[0] == found[1] == found[2]
    whole, rest = Counted(), Counted()
    expected = the_bytes(0, workers=whole)
    assert the_bytes(0, workers=rest, checkpoint=path) == expected  # now with more work
    assert rest.num_done < whole.num_done


def test_a_checkpoint_of_another_question_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    the_answer(checkpoint=path)
    with pytest.raises(DomainError, match=r"other work \(another second network"):
        the_answer(1, checkpoint=path)
    with pytest.raises(DomainError, match=r"other work \(seed: 0 in place of 1\)"):
        the_answer(seed=1, checkpoint=path)


COUNTS = [1, 1, 0, 0, 0, 1.0]


@pytest.mark.parametrize(
    "data",
    [
        b"no",
        packed([]),
        packed({"work": 1}),
        packed({"work": 1, "counts": COUNTS, "differs": None, "records": [[]], "left": []}),
        packed({"work": 1, "counts": COUNTS, "differs": [[], []], "records": [], "left": []}),
        packed({"work": 1, "counts": COUNTS, "differs": None, "records": [], "left": [3]}),
    ],
    ids=repr,
)
def test_results_of_another_form_are_errors(data: bytes) -> None:
    class Once(Wrong):
        """Gives these bytes once."""

        def results(self, function: Any, context: Any, tasks: Any) -> Any:
            """See `Workers`."""
            for number, task in tasks:
                yield number, self.data if number == 0 else function(context, task)

    with pytest.raises(PolyreluError, match="is not understood; delete the checkpoint"):
        the_answer(workers=Once(data))
