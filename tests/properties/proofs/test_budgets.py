"""Answers and certificates depend on seed and budget, and on no clock."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from random import Random

import pytest

import polyrelu
from polyrelu import Network, from_arrays
from polyrelu.outcomes import Undecided
from polyrelu.proofs.refutations.one_sided import one_sided_moves
from polyrelu.support import Budget, ProgressStep
from tests.generators.files import NETS

#: A network that takes some rounds of walks.
RIDGES = from_arrays(
    [
        ([[3, 1], [-2, 5], [1, -4], [7, 2]], [1, -3, 2, -5]),
        ([[2, -1, 3, 1], [-1, 4, 1, -2], [3, 2, -5, 1], [1, -3, 2, 4]], [-4, 2, 1, -7]),
        ([[1, -2, 3, 1]], [0]),
    ]
)


_ACAS_XU = "acasxu_1_1_marabou.onnx"


def _slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every look at a clock find that an hour has passed, as after a stop of the process."""
    hours = itertools.count(1)
    for name in ("monotonic", "perf_counter", "process_time", "time"):
        monkeypatch.setattr(time, name, lambda: 3600.0 * next(hours))


def _bytes_of(outcome: polyrelu.outcomes.Outcome) -> list[object]:
    proved = outcome.part if isinstance(outcome, polyrelu.Undecided) else outcome
    attempts = outcome.attempts if isinstance(outcome, polyrelu.Undecided) else ()
    text = None if proved is None else str(proved.certificate.to_document())
    return [outcome.status, str(outcome), attempts, text]


def _twice(answer: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    first = answer()
    with monkeypatch.context() as patch:
        _slow_clock(patch)
        assert answer() == first


@pytest.mark.parametrize("budget", [0, 150, 1500])
def test_ridges_do_not_look_at_clocks(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer() -> object:
        return _bytes_of(polyrelu.identify(RIDGES, among="transversal", budget=budget))

    _twice(answer, monkeypatch)


def test_more_budget_finds_more() -> None:
    """The budget is what ends the search, and a search with more of it begins in the same way."""
    walks = []
    for budget in (50, 400):
        steps: list[ProgressStep] = []
        polyrelu.identify(RIDGES, among="regular", budget=budget, progress=steps.append)
        walks.append(steps[-1].num_done)
    assert 0 < walks[0] < walks[1]


def test_refutations_do_not_look_at_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    net = from_arrays(
        [
            ([[1], [-1]], [-1, -1]),
            ([[2, -1], [-1, 3]], [1, -1]),
            ([[1, 1]], [0]),
        ]
    )

    def answer() -> object:
        return _bytes_of(polyrelu.identify(net, budget=0))

    _twice(answer, monkeypatch)
    assert answer() == answer()
    assert polyrelu.identify(net, budget=0).status == "refuted"


def test_programs_are_paid() -> None:
    """Without work nothing is refuted; a larger budget refutes, and pays for it."""
    net = from_arrays(
        [
            ([[1], [-1]], [-1, -1]),
            ([[2, -1], [-1, 3]], [1, -1]),
            ([[1, 1]], [0]),
        ]
    )
    assert list(one_sided_moves(net, budget=0.1)) == []
    budget = Budget(1000)
    assert next(one_sided_moves(net, budget=budget)).theorem == "one-sided"
    assert 0 < budget.spent < 1000


def test_comparisons_do_not_look_at_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    hinges = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 1, -1]), ([[1, -1, 2]], [0])])
    other = from_arrays([([[2, 0], [0, -1], [1, 1]], [0, -1, -1]), ([["1/2", -1, 2]], [0])])

    def answer() -> object:
        outcome = polyrelu.equivalent(hinges, other, "box:-1,1", budget=2000)
        return outcome.status, str(outcome)

    _twice(answer, monkeypatch)


def test_a_budget_of_a_comparison_is_named() -> None:
    digits = polyrelu.load("example:digits")
    outcome = polyrelu.equivalent(digits, polyrelu.load("example:digits"), budget=0)
    assert isinstance(outcome, polyrelu.Undecided)
    assert "the budget of 0 units of work was used up" in str(outcome)
    assert "budget=60000" in outcome.next[0].call


@pytest.mark.slow
@pytest.mark.skipif(not (NETS / _ACAS_XU).exists(), reason="foreign networks")
def test_a_large_refutation_does_not_look_at_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under load this network was undecided: its second linear program takes eleven seconds."""
    network = polyrelu.load(NETS / _ACAS_XU)
    _slow_clock(monkeypatch)
    outcome = polyrelu.identify(network)
    assert outcome.status == "refuted"
    assert "neuron 37 of layer 2 is off wherever neuron 1 of layer 1 is on" in str(outcome)


def doubled_hyperplanes(count: int) -> Network:
    """One hidden layer whose first two hyperplanes have neurons of both orientations."""
    rng = Random(count)
    rows = [[rng.randint(-9, 9) for _ in range(count + 1)] for _ in range(count)]
    rows += [[-entry for entry in row] for row in rows[:2]]
    first = ([row[:-1] for row in rows], [row[-1] for row in rows])
    second = [[rng.randint(1, 9) for _ in rows] for _ in range(count)]
    return from_arrays([first, (second, [0] * count)])


def test_assignments_of_one_hidden_layer_are_paid() -> None:
    """A budget and a limit of time end the visit of all assignments to hyperplanes."""
    net = doubled_hyperplanes(7)
    small = polyrelu.identify(net, budget=100)
    assert isinstance(small, Undecided)
    assert "the budget of 100 units of work was used up" in small.reason
    started = time.process_time()
    assert isinstance(polyrelu.identify(net, time_limit=0.2), Undecided)
    assert time.process_time() - started < 1.5
