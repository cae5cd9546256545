"""Searches for injectivity in parts: the same answers from every part on, by whoever does it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import RationalMatrix
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import Injective, NotInjective, Undecided
from polyrelu.proofs.injectivity import node_search, settings
from polyrelu.proofs.injectivity.layer_system import LayerSystem
from polyrelu.proofs.injectivity.node_search import NodeSearch, NodeSearchSettings, PointFound
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.budget import Budget
from polyrelu.support.parallel import Checkpoint, Execution, Processes
from polyrelu.support.parallel.wire import packed
from tests.generators.workers import Backwards, Counted, Wrong

AXES = [[1, 0], [0, 1], [-1, 0], [0, -1]]


def stack(outputs: int, seed: int) -> Network:
    """[I; -I], then a layer of random integers, each with a ReLU."""
    chance = Random(seed)
    rows = [[chance.randint(-9, 9) for _ in range(4)] for _ in range(outputs)]
    bias = [chance.randint(-9, 9) for _ in range(outputs)]
    return from_arrays([(AXES, [0] * 4), (rows, bias)], last="relu")


def gaussian(rows: int, columns: int, seed: int) -> Network:
    table = np.random.default_rng(seed).standard_normal((rows, columns))
    return from_arrays([(table.tolist(), [0] * rows)], last="relu")


@pytest.fixture(params=["compiled", "python"])
def short_parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a search have many parts, with the compiled core and without."""
    few = NodeSearchSettings(nodes_per_call=4, calls_per_part=2)
    monkeypatch.setattr(node_search, "_SETTINGS", few)
    if request.param == "python":
        monkeypatch.setattr(node_search, "compiled_search", lambda *given, **more: None)
    else:
        pytest.importorskip("polyrelu._core.compiled")


class Stopped(Exception):  # noqa: N818 - the end of a process
    """Ends a search where a process would be killed."""


def stopped_after(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """End the search when it keeps a result after some others."""
    add, kept = Checkpoint.add, list[int]()

    def limited(self: Checkpoint, task: int, data: bytes) -> None:
        """Keep a result, or end the search."""
        if len(kept) == number:
            raise Stopped
        kept.append(task)
        add(self, task, data)

    monkeypatch.setattr(Checkpoint, "add", limited)


def told(outcome: Any) -> Any:
    """All that an outcome says."""
    if isinstance(outcome, Undecided):
        return outcome.reason, outcome.search
    return outcome.certificate.to_document(), outcome.search


@pytest.mark.usefixtures("short_parts")
def test_a_tree_goes_on_from_every_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    network = gaussian(44, 6, 1)
    expected = polyrelu.injective(network)
    assert isinstance(expected, Injective)
    kept, ends = tmp_path / "work.db", 0
    while True:
        with monkeypatch.context() as patch:
            stopped_after(patch, 3)
            try:
                found = polyrelu.injective(network, checkpoint=kept)
                break
            except Stopped:
                ends += 1
    assert ends > 3
    assert told(found) == told(expected)


def test_the_length_of_parts_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(3):
        network = gaussian(24, 4, seed)
        expected = told(polyrelu.injective(network))
        for calls, nodes in ((1, 1), (3, 5)):
            few = NodeSearchSettings(nodes_per_call=nodes, calls_per_part=calls)
            with monkeypatch.context() as patch:
                patch.setattr(node_search, "_SETTINGS", few)
                assert told(polyrelu.injective(network)) == expected


@pytest.mark.usefixtures("short_parts")
@pytest.mark.parametrize("share", [0.3, 0.5, 0.77])
def test_a_larger_budget_goes_on(tmp_path: Path, share: float) -> None:
    """The answer of a budget is the same whether parts are kept, and were kept before, or not."""
    network, kept, limits = gaussian(44, 6, 1), tmp_path / "work.db", Budget()
    assert polyrelu.injective(network, budget=limits).status == "proved"
    for part in (share, 0.9, share):
        budget = part * limits.spent
        expected = polyrelu.injective(network, budget=budget)
        found = polyrelu.injective(network, budget=budget, checkpoint=kept)
        assert isinstance(found, Undecided)
        assert told(found) == told(expected)
    found = polyrelu.injective(network, checkpoint=kept)
    assert told(found) == told(polyrelu.injective(network))


@pytest.mark.usefixtures("short_parts")
def test_a_point_in_a_later_part(tmp_path: Path) -> None:
    plane = DomainCoordinates.of(polyrelu.Polyhedron.universe(5))
    table = np.random.default_rng(3).standard_normal((20, 5)).tolist()
    system = LayerSystem.of(RationalMatrix.from_rows(table), RationalMatrix.zeros(20, 1), plane)
    places = []
    for _ in range(2):
        with Execution.opened(None, tmp_path / "work.db", {"question": "test"}) as execution:
            search = NodeSearch(system, 2**31 - 1)
            with pytest.raises(PointFound) as found:
                search.run(execution=execution)
            places.append((found.value.place, search.tree))
    assert places[0] == places[1]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("workers", [Counted(), Backwards()], ids=["in order", "backwards"])
def test_pairs_of_cells_by_workers(
    monkeypatch: pytest.MonkeyPatch, seed: int, workers: Counted
) -> None:
    monkeypatch.setattr(settings.SETTINGS.__class__, "pairs_per_task", 3)
    network = stack(8, seed)
    expected = polyrelu.injective(network)
    assert told(polyrelu.injective(network, workers=workers)) == told(expected)


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 4])
def test_pairs_of_cells_by_processes(number: int) -> None:
    network = stack(8, 2)
    expected = polyrelu.injective(network)
    assert expected.theorem == "cell-pairs"
    assert told(polyrelu.injective(network, workers=Processes(number))) == told(expected)


def test_pairs_of_cells_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network, kept = stack(8, 2), tmp_path / "work.db"
    expected = polyrelu.injective(network)
    for _ in range(3):
        with monkeypatch.context() as patch:
            stopped_after(patch, 1)
            with pytest.raises(Stopped):
                polyrelu.injective(network, checkpoint=kept)
    assert told(polyrelu.injective(network, checkpoint=kept)) == told(expected)


def test_a_checkpoint_of_another_question_is_refused(tmp_path: Path) -> None:
    network, kept = stack(8, 0), tmp_path / "work.db"
    assert isinstance(polyrelu.injective(network, checkpoint=kept), NotInjective)
    with pytest.raises(DomainError, match="layers: 1-2 in place of 1-1"):
        polyrelu.injective(network, layers=1, checkpoint=kept)
    with pytest.raises(DomainError, match="another domain"):
        polyrelu.injective(network, "box:0,1", checkpoint=kept)
    with pytest.raises(DomainError, match="another network"):
        polyrelu.injective(stack(8, 1), checkpoint=kept)


@pytest.mark.parametrize("result", [None, [], [[]] * 100, [{"points": [["1/0"]]}]], ids=str)
def test_wrong_pairs_are_refused(result: Any) -> None:
    with pytest.raises(PolyreluError, match="not understood"):
        polyrelu.injective(stack(8, 2), workers=Wrong(packed(result)))


@pytest.mark.parametrize(
    "part",
    [
        None,
        [],
        [[], [[[99], [0] * 20, 1.0, 0]], 0, 0, 0.0, 9],
        [[], [[[0, 0], [0] * 20, 1.0, 0]], 0, 0, 0.0, 9],
        [[], [[[0], [0], 1.0, 0]], 0, 0, 0.0, 9],
    ],
    ids=str,
)
def test_wrong_parts_are_refused(
    part: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes that a search of this layer cannot leave: the file is not from this program."""
    pytest.importorskip("polyrelu._core.compiled")
    network, kept = gaussian(20, 4, 1), tmp_path / "work.db"
    with monkeypatch.context() as patch:
        results = iter([packed(part)])
        patch.setattr(node_search, "_searched", lambda shared, task: next(results))
        with pytest.raises((PolyreluError, StopIteration)):
            polyrelu.injective(network, checkpoint=kept)
    with pytest.raises(PolyreluError, match="not understood"):
        polyrelu.injective(network, checkpoint=kept)
