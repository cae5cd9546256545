"""`Budget`: prices are paid, limits are named, parts share what they are parts of."""

from __future__ import annotations

import signal
import time
from fractions import Fraction

import numpy as np
import pytest

from polyrelu.errors import ArgumentError
from polyrelu.support.budget import ENDINGS, Budget, LimitReached, WorkLimit, as_budget
from polyrelu.support.interrupts import Interrupt


def test_work_is_used_up_at_the_price_that_exceeds_it() -> None:
    budget = Budget(10)
    budget.spend(10)
    assert not budget.has_work
    with pytest.raises(WorkLimit, match="the budget of 10 units of work was used up"):
        budget.spend(1)


def test_only_what_is_left_is_paid() -> None:
    budget = Budget(10)
    part = budget.part(6)
    assert part.pays(5)
    assert not part.pays(2)
    assert budget.pays(5)
    assert not budget.pays(1)
    assert budget.spent == 10
    assert Budget().pays(1e9)
    assert not Budget(seconds=0).pays(1)


def test_no_work_at_all() -> None:
    with pytest.raises(WorkLimit):
        Budget(0).check()
    assert not Budget(0).has_work
    assert Budget().has_work


def test_an_early_part_ends_sooner_and_names_the_whole_limit() -> None:
    whole = Budget(work=10, seconds=3600)
    early = whole.early(0)
    with pytest.raises(LimitReached, match="the time limit of 3600 seconds was reached"):
        early.check()
    whole.check()
    assert 0 <= whole.elapsed < 3600
    assert Budget(work=1).early(0.5).seconds is None


def test_a_trial_spends_from_the_whole() -> None:
    whole = Budget(100)
    trial = whole.trial(0.3)
    trial.spend(30)
    with pytest.raises(WorkLimit, match="a share of 30 of the budget of 100 units"):
        trial.spend(1)
    assert whole.spent == 31
    whole.spend(60)
    late = whole.part(50)
    with pytest.raises(WorkLimit, match="of 100 units"):
        late.spend(20)
    assert whole.trial(0.5).work == 0


def test_a_part_without_work_of_its_own() -> None:
    whole = Budget(5, seconds=60)
    part = whole.with_interrupt(Interrupt())
    assert (part.work, part.total_work, part.seconds) == (None, 5, 60)
    part.pay(1)
    assert part.trial(0.5).work == 2  # half of the four units that are left
    part.pay(5)
    assert not part.has_work
    assert part.trial(0.5).work == 0
    apart = whole.apart(7)
    apart.spend(7)
    assert whole.spent == 6


@pytest.mark.parametrize("work", [None, 10.0])
def test_time_is_no_work(work: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part has the time of the whole, counted from the same start."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    whole = Budget(work, seconds=2.5)
    now[0] += 2
    part = whole.trial(0.5)
    part.check()
    now[0] += 1
    with pytest.raises(LimitReached, match=r"the time limit of 2\.5 seconds was reached") as found:
        part.check()
    assert not isinstance(found.value, WorkLimit)
    with pytest.raises(LimitReached):
        part.check_time()


def test_memory() -> None:
    with pytest.raises(LimitReached, match="the memory limit of 1 MiB was reached"):
        Budget(megabytes=1).check()
    Budget(megabytes=10**6).check()


def test_ctrl_c_stops_once_and_is_raised_when_pressed_again() -> None:
    interrupt = Interrupt()
    budget = Budget(interrupt=interrupt)
    assert budget.reason_of(KeyboardInterrupt()) is None
    interrupt.requested = True
    assert budget.reason_of(KeyboardInterrupt()) == "interrupted"
    budget.check_time()
    with pytest.raises(LimitReached, match="interrupted"):
        budget.check_others()
    interrupt.is_forced = True
    assert budget.reason_of(KeyboardInterrupt()) is None


def test_reasons_of_other_errors() -> None:
    budget = Budget()
    assert budget.reason_of(MemoryError()) == "the memory ran out"
    assert budget.reason_of(LimitReached("enough")) == "enough"
    assert budget.reason_of(ValueError()) is None


def test_ctrl_c_within_a_product_of_numpy() -> None:
    """Products of Python objects turn a KeyboardInterrupt into a SystemError."""

    def press(*_: object) -> None:
        raise KeyboardInterrupt

    row = np.array([Fraction(i + 1, 7) for i in range(200)], dtype=object)
    matrix = np.array([row] * 200)
    previous = signal.signal(signal.SIGALRM, press)
    caught: BaseException | None = None
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        while True:
            matrix.dot(row)
    except ENDINGS as error:
        caught = error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert caught is not None
    assert "the time limit of 0 seconds" in str(Budget(seconds=0).reason_of(caught))
    assert Budget().reason_of(caught) is None
    assert Budget(seconds=0).reason_of(SystemError("of another kind")) is None


def test_arguments() -> None:
    budget = Budget(3)
    assert as_budget(budget) is budget
    assert as_budget(None).work is None
    with pytest.raises(ArgumentError, match="budget: expected a number, at least 0"):
        as_budget(-1)
    with pytest.raises(ArgumentError, match="memory_limit"):
        as_budget(budget, memory_limit=3)
