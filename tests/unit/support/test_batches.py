"""Batches of tasks: every task is done once, whatever the workers manage within their time."""

from __future__ import annotations

import ctypes
from random import Random

import pytest

from polyrelu.errors import DomainError
from polyrelu.support.parallel import batches
from polyrelu.support.parallel.batches import Batch, Batches, do_batch
from tests.generators.parallel_tasks import failing_at, squared


@pytest.mark.parametrize("seed", range(5))
def test_every_task_is_done_once(seed: int) -> None:
    rng = Random(seed)
    source = Batches([(number, f"{number}") for number in range(500)], 3)
    open_batches, done = list[Batch](), list[int]()
    while (batch := source.next()) is not None or open_batches:
        if batch is not None:
            open_batches.append(batch)
            assert [f"{number}" for number in batch.numbers] == list(batch.tasks)
        if batch is None or rng.random() < 0.5:
            finished = open_batches.pop(rng.randrange(len(open_batches)))
            num_done = rng.randint(1, len(finished.tasks))
            done += finished.numbers[:num_done]
            source.note(finished, num_done)
    assert sorted(done) == list(range(500))


def test_batches_grow_while_they_are_finished_and_shrink_at_the_end() -> None:
    source, sizes = Batches([(number, number) for number in range(100)], 2), []
    while (batch := source.next()) is not None:
        sizes.append(len(batch.tasks))
        source.note(batch, len(batch.tasks))
    assert sizes == [1, 2, 4, 8, 16, 17, 13, 9, 7, 5, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1]


def test_tasks_that_come_back_are_the_first_of_the_next_batch() -> None:
    source = Batches([(number, number) for number in range(100)], 1)
    for _ in range(3):
        batch = source.next()
        assert batch is not None
        source.note(batch, len(batch.tasks))
    batch = source.next()
    assert batch is not None
    assert batch.numbers == tuple(range(7, 15))
    source.note(batch, 3)
    batch = source.next()
    assert batch is not None
    assert batch.numbers == (10, 11, 12)


def test_a_worker_begins_no_task_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert do_batch(squared, 1, range(5)) == [b"0", b"1", b"4", b"9", b"16"]
    monkeypatch.setattr(batches, "_SECONDS", 0)
    assert do_batch(squared, 1, range(5)) == [b"0"]


def test_results_before_an_error_are_kept() -> None:
    assert do_batch(failing_at, 2, range(5)) == [b"0", b"1"]
    with pytest.raises(DomainError, match="task 2: no such domain"):
        do_batch(failing_at, 2, range(2, 5))


@pytest.mark.parametrize(("value", "num_calls"), [("65536", 2), ("100000", 0), (None, 0)])
def test_only_the_setting_of_dask_is_changed(
    value: str | None, num_calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = list[tuple[int, int]]()

    class Library:
        @staticmethod
        def mallopt(name: int, number: int) -> int:
            """Note the call."""
            calls.append((name, number))
            return 1

    monkeypatch.setattr(ctypes, "CDLL", lambda _: Library)
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    if value is not None:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", value)
    batches._keep_freed_memory.cache_clear()
    do_batch(squared, 1, range(2))
    do_batch(squared, 1, range(2))
    batches._keep_freed_memory.cache_clear()
    assert len(calls) == num_calls


def test_other_c_libraries_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    batches._keep_freed_memory.cache_clear()
    assert do_batch(squared, 1, [3]) == [b"9"]
    batches._keep_freed_memory.cache_clear()
