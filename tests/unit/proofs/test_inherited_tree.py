"""Trees whose nodes inherit the intervals of neurons."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import polyrelu
from polyrelu._core import chosen_engine
from polyrelu.errors import PolyreluError
from polyrelu.outcomes import DeviationBounds, Undecided
from polyrelu.proofs.deviation import (
    box_search,
    certified,
    inherited_tree,
    task_groups,
    tree_tasks,
)
from polyrelu.proofs.deviation.arguments import bounded_coordinates, corners_of
from polyrelu.proofs.deviation.box_tree import BoxTree
from polyrelu.proofs.deviation.certified import CertifiedTree
from polyrelu.proofs.deviation.compiled_rule import CompiledRule
from polyrelu.proofs.deviation.deviation import _Question
from polyrelu.proofs.deviation.inherited_tree import (
    InheritedTree,
    TooLongNumbersError,
    price_in_core,
)
from polyrelu.proofs.deviation.problem import Problem, deviation_rows
from polyrelu.proofs.deviation.rounded import RoundedRule
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.proofs.deviation.tree_tasks import do_task
from polyrelu.support.budget import Budget, LimitReached
from polyrelu.support.parallel import Serial
from polyrelu.support.parallel.wire import packed, unpacked
from polyrelu.symmetry.matching import align, match
from tests.generators.close_networks import close_pair
from tests.generators.workers import Backwards, Counted, Wrong

F = Fraction

#: The result of a task that did nothing.
NOTHING_DONE = {"cuts": [], "closed": [], "stuck": [], "left": [], "is_too_long": False, "work": 1}

pytestmark = pytest.mark.skipif(
    chosen_engine().name != "compiled", reason="the compiled core is not installed"
)


@pytest.fixture(autouse=True)
def _always_inherit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nodes inherit intervals wherever they can, and divide small searches."""
    change(monkeypatch, share_of_plain=2.0, task_work=2, task_work_of_leaves=3, num_ahead=6)


def change(monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    """Change settings of the searches."""
    settings = replace(vars(certified)["SETTINGS"], **options)
    for module in (box_search, certified, inherited_tree, task_groups):
        monkeypatch.setattr(module, "SETTINGS", settings)


def the_deviation(**options: Any) -> DeviationBounds:
    found = polyrelu.deviation(*close_pair((4, 12, 12, 2)), "box:-1,1", gap="1/4", **options)
    assert isinstance(found, DeviationBounds), found
    return found


def kinds(found: DeviationBounds) -> Counter[str]:
    """Return how many nodes of each kind there are; cuts have no name."""
    lines = found.certificate.to_bytes().splitlines()[1:-1]
    return Counter(line.split(b'"')[1].decode() for line in lines if b'"' in line)


def test_all_leaves_inherit_and_the_checker_accepts_them(tmp_path: Path) -> None:
    found = the_deviation()
    counted = kinds(found)
    assert set(counted) == {"inherited", "intervals"}
    assert counted["inherited"] == counted["intervals"] + 1 > SETTINGS.least_inherited
    found.save(tmp_path / "bounds.cert")
    report = polyrelu.check_file(tmp_path / "bounds.cert", budget=10**12)
    assert report.verdict == "accepted", report


def test_order_and_interruptions_change_nothing(tmp_path: Path) -> None:
    counted = Counted()
    expected = the_deviation(workers=counted).certificate.to_bytes()
    assert counted.num_done > 6
    assert the_deviation().certificate.to_bytes() == expected
    assert the_deviation(workers=Backwards()).certificate.to_bytes() == expected
    path = tmp_path / "work.db"
    for _ in range(2):
        assert the_deviation(workers=Serial(), checkpoint=path).certificate.to_bytes() == expected


@pytest.mark.parametrize(
    "result",
    [
        {**NOTHING_DONE, "cuts": [[9, 0, True]]},
        {**NOTHING_DONE, "closed": [[99, ["0"]]]},
        {**NOTHING_DONE, "left": [[0, []]]},
        {**NOTHING_DONE, "work": math.inf},
        {"work": 1, "is_too_long": False},
        {"work": 1},
    ],
)
def test_results_of_another_form_are_refused(result: dict[str, Any]) -> None:
    with pytest.raises(PolyreluError, match="is not understood"):
        the_deviation(workers=Wrong(packed(result)))


def test_without_room_nodes_inherit_from_further_above(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    everything = kinds(the_deviation())
    change(monkeypatch, stored_integers=300)
    found = the_deviation()
    counted = kinds(found)
    assert 0 < counted["intervals"] < counted["inherited"] - 1
    assert counted["inherited"] >= everything["inherited"]
    found.save(tmp_path / "bounds.cert")
    assert polyrelu.check_file(tmp_path / "bounds.cert", budget=10**12).verdict == "accepted"


@pytest.mark.parametrize(("seed", "task_work"), [(1, 2_000), (1, 2), (6, 2_000)])
def test_bounds_at_nodes_without_a_record_do_not_count_below(
    seed: int, task_work: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    change(monkeypatch, stored_integers=300, task_work=task_work, least_inherited=4)
    pair = close_pair((4, 6, 6, 3), seed)
    answer = polyrelu.deviation(*pair, "box:-1,1", gap="1/50", budget=120)
    found = answer.bounds if isinstance(answer, Undecided) else answer
    assert isinstance(found, DeviationBounds)
    assert 0 < kinds(found)["intervals"] < kinds(found)["inherited"] - 1
    found.save(tmp_path / "bounds.cert")
    report = polyrelu.check_file(tmp_path / "bounds.cert", budget=10**12)
    assert report.verdict == "accepted", report


def inherited(limit: Fraction, domain: str = "box:-1,1") -> InheritedTree:
    """Return a tree without hints."""
    net, copy = close_pair((4, 12, 12, 2))
    coordinates = bounded_coordinates(polyrelu.parse_domain(domain, 4))
    rows, corners = deviation_rows(2), corners_of(coordinates)
    pair, clauses = align(net, copy, match(net, copy)), tuple((k,) for k in range(4))
    problem = Problem(net, copy, pair, rows, clauses, coordinates, *corners)
    rule = RoundedRule(net, copy, coordinates)
    core = CompiledRule.of(rule, problem.rows)
    assert core is not None
    return InheritedTree(problem, core, limit, BoxTree())


def test_boxes_as_narrow_as_the_grid_are_left_open() -> None:
    """Also where no leaf of a step can be cut."""
    tree = inherited(F(0), f"box:0,1/{2**45}")
    tree.start()
    tree.close(Budget())
    assert set(tree.open_nodes) == set(tree.stuck) == {0}
    assert not tree.closed


def test_bounds_fall_while_leaves_are_cut() -> None:
    tree = inherited(F(0))
    tree.start()
    largest = list[Fraction]()
    for _ in range(30):
        largest.append(
            max(
                tree.problem.exact_objective(tree.rule.bounds_of(rows))
                for rows in (*tree.closed.values(), *tree.open_nodes.values())
            )
        )
        with pytest.raises(LimitReached):
            tree.close(Budget(price_in_core(tree.problem, 32) * 1.5))
    assert largest == sorted(largest, reverse=True)
    assert largest[-1] < largest[0] / 2
    assert tree.tree.num_leaves == len(tree.closed) + len(tree.open_nodes)


def test_boxes_as_narrow_as_the_grid_are_not_cut() -> None:
    tree = inherited(F(0))
    tree.start()
    entry = tree._heap[0][2]
    unit = F(1, 1 << tree.rule.grid)
    for width, is_cut in ((unit, False), (2 * unit, True)):
        narrow = entry._replace(high=tuple(x + width for x in entry.low))
        assert (tree._cuts([narrow]) != [None]) == is_cut


def test_a_limit_leaves_a_bound_for_each_leaf() -> None:
    pair = close_pair((4, 12, 12, 2))
    found = polyrelu.deviation(*pair, "box:-1,1", gap="1/1000", budget=400)
    assert isinstance(found, Undecided), found
    assert isinstance(found.bounds, DeviationBounds)
    assert set(kinds(found.bounds)) == {"inherited", "intervals"}
    assert found.bounds.at_most < 4 * found.bounds.at_least


@pytest.mark.parametrize("num_good", [0, 4])
def test_boxes_that_are_too_long_for_the_core_get_other_leaves(
    monkeypatch: pytest.MonkeyPatch, num_good: int
) -> None:
    before, num_calls = CompiledRule.inherited, 0

    def some(rule: CompiledRule, *given: Any) -> Any:
        nonlocal num_calls
        num_calls += 1
        return before(rule, *given) if num_calls <= num_good else None

    monkeypatch.setattr(CompiledRule, "inherited", some)
    assert not set(kinds(the_deviation())) & {"inherited", "intervals"}
    assert num_calls == num_good + 1
    with pytest.raises(TooLongNumbersError):
        inherited(F(0)).start()


@pytest.mark.parametrize("name", ["of", "inherited"])
def test_where_no_node_can_inherit_proofs_come_before_a_long_search(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    seen = list[int]()
    before = _Question._by_rounds

    def by_rounds(question: _Question, budget: Budget) -> Any:
        seen.append(question.search.num_boxes)
        return before(question, budget)

    monkeypatch.setattr(_Question, "_by_rounds", by_rounds)
    monkeypatch.setattr(CompiledRule, name, lambda *_: None)
    found = polyrelu.deviation(*close_pair((4, 12, 12, 2)), "box:-1,1", gap=2, time_limit=60)
    assert isinstance(found, DeviationBounds), found
    assert seen == [0]


def test_too_long_numbers_in_a_task_are_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes in the order of the tasks: workers may do some that are never taken."""
    bound, answers = CompiledRule.inherited, list[bool]()

    def of_large_boxes(rule: CompiledRule, boxes: Any, *others: Any) -> Any:
        is_small = any(high[0] - low[0] < 1 for low, high in boxes)
        return None if is_small else bound(rule, boxes, *others)

    def do(*task: Any) -> bytes:
        result = do_task(*task)
        answers.append(unpacked(result).get("is_too_long", False))
        return result

    monkeypatch.setattr(CompiledRule, "inherited", of_large_boxes)
    monkeypatch.setattr(tree_tasks, "do_task", do)
    options: list[dict[str, Any]] = [{}, {"workers": Counted()}, {"workers": Backwards()}]
    listed = [the_deviation(**entry).certificate.to_bytes() for entry in options]
    assert any(answers)
    assert listed[0] == listed[1] == listed[2]
    assert b"inherited" not in listed[0]


def test_leaves_without_inherited_intervals_are_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[float]()
    before = CertifiedTree._share_of_plain

    def share(tree: CertifiedTree) -> float:
        seen.append(before(tree))
        return seen[-1]

    monkeypatch.setattr(CertifiedTree, "_share_of_plain", share)
    for least, is_plain in ((0.0, True), (2.0, False)):
        change(monkeypatch, share_of_plain=least)
        assert ("inherited" in kinds(the_deviation())) != is_plain
    assert seen
    assert all(0 <= x <= 1 for x in seen)


def test_a_proof_that_a_limit_ends_is_replaced_by_few_boxes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Here most leaves are closed without inherited intervals, and the others cost too much."""
    change(monkeypatch, share_of_plain=0.8)
    pair = close_pair((5, 10, 10, 1), seed=1)
    found = polyrelu.deviation(*pair, "box:-1,1", gap="1/10", budget=500)
    bounds = found.bounds if isinstance(found, Undecided) else found
    assert isinstance(bounds, DeviationBounds)
    assert bounds.at_most < F(12, 10) * bounds.at_least


@pytest.mark.parametrize("number", [1, 3])
def test_an_interruption_leaves_the_boxes_that_are_done(
    number: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    steps, bounded = list[int](), InheritedTree._bounded

    def interrupted(tree: InheritedTree, entries: Any) -> Any:
        steps.append(len(entries))
        if len(steps) > number:
            raise LimitReached("it is enough")
        return bounded(tree, entries)

    monkeypatch.setattr(InheritedTree, "_bounded", interrupted)
    pair = close_pair((4, 12, 12, 2))
    found = polyrelu.deviation(*pair, "box:-1,1", gap="1/1000", budget=400)
    assert isinstance(found, Undecided), found
    assert isinstance(found.bounds, DeviationBounds)
    assert len(steps) == number + 1
    assert kinds(found.bounds)["inherited"] == found.bounds.search.num_leaves
    found.bounds.save(tmp_path / "bounds.cert")
    assert polyrelu.check_file(tmp_path / "bounds.cert", budget=10**12).verdict == "accepted"
