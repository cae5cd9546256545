"""Tasks on several processes and on a cluster: the same results in the same order, whoever dies."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from math import isqrt
from pathlib import Path
from random import Random
from typing import Any

import pytest

from polyrelu.errors import ArgumentError, DomainError, PolyreluError
from polyrelu.support.parallel import (
    Checkpoint,
    Processes,
    Serial,
    Workers,
    run_tasks,
    workers_for,
)
from polyrelu.support.parallel.batches import do_batch
from tests.generators.campaigns import few_some_and_all
from tests.generators.parallel_tasks import deadly, failing, squared, threads, unhurried

QUESTION = {"question": "squares", "network": "a1"}


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param(Serial()),
        pytest.param(Processes(1), marks=pytest.mark.slow),
        pytest.param(Processes(3)),
    ],
    ids=repr,
)
def test_results_come_in_the_order_of_the_tasks(workers: Workers) -> None:
    found = list(run_tasks(squared, 2, range(40), workers))
    assert found == [str(2 * n**2).encode() for n in range(40)]


@pytest.mark.parametrize("workers", [Serial(), Processes(2)], ids=repr)
def test_tasks_that_follow_from_results(workers: Workers, tmp_path: Path) -> None:
    """They come after all others, in the order of the results that they follow from."""

    def more(result: bytes) -> Iterator[int]:
        """Let two tasks follow from each result of a number below 5."""
        number = isqrt(int(result) // 2)
        return iter((10 + 2 * number, 11 + 2 * number) if number < 5 else ())

    expected = [0, 7, 3, 10, 11, 16, 17]
    found = run_tasks(squared, 2, [0, 7, 3], workers, more=more)
    assert [isqrt(int(result) // 2) for result in found] == expected
    with Checkpoint(tmp_path / "work.db", QUESTION) as checkpoint:
        begun = run_tasks(squared, 2, [0, 7, 3], None, checkpoint, more=more)
        for _ in range(5):
            next(begun)
        again = run_tasks(squared, 2, [0, 7, 3], workers, checkpoint, more=more)
        assert [isqrt(int(result) // 2) for result in again] == expected


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    before = multiprocessing.active_children()
    assert list(run_tasks(unhurried, str(tmp_path), range(12), Processes(2))) == [
        bytes([n]) for n in range(12)
    ]
    assert (tmp_path / "killed").exists()
    assert multiprocessing.active_children() == before


def test_workers_that_always_die_are_an_error() -> None:
    with pytest.raises(PolyreluError, match=r"died 3 times, one after the other .* use fewer jobs"):
        list(run_tasks(deadly, None, [1, 2], Processes(1)))


def test_all_processes_are_started_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the context is large, so that the first process is ready before the second."""
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    found = set(run_tasks(threads, bytes(10**7), range(40), Processes(2)))
    assert all(entry.endswith(b" 1") for entry in found)


def test_work_that_cannot_be_sent() -> None:
    with pytest.raises(ArgumentError, match=r"cannot be sent to other processes .*lambda"):
        list(run_tasks(lambda context, task: b"", None, [1, 2], Processes(2)))
    assert multiprocessing.active_children() == []


def test_processes_that_cannot_be_started() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 16, limits[1]))
    try:
        with pytest.raises(PolyreluError, match=r"cannot start 32 processes: .*; use fewer jobs"):
            list(run_tasks(squared, 2, [1, 2], Processes(32)))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("workers", [Serial(), Processes(2)], ids=repr)
def test_errors_of_tasks_reach_the_caller(workers: Workers) -> None:
    with pytest.raises(DomainError, match=r"task \d: no such domain"):
        list(run_tasks(failing, None, range(2), workers))


def test_a_process_of_a_cluster_does_one_task_at_a_time() -> None:
    """Its threads wait for each other, since tasks share what the process remembers."""

    def overlaps(open_tasks: list[int], task: int) -> bytes:
        """Return the number of tasks that were open in between."""
        open_tasks.append(task)
        time.sleep(0.005)
        found = bytes([len(open_tasks)])
        open_tasks.remove(task)
        return found

    shared = list[int]()
    with ThreadPoolExecutor(4) as threads:
        found = threads.map(lambda task: do_batch(overlaps, shared, (task,)), range(8))
        assert list(found) == [[b"\x01"]] * 8


def test_an_abandoned_run_leaves_no_processes() -> None:
    results = run_tasks(squared, 2, range(1000), Processes(2))
    assert next(results) == b"0"
    results.close()  # type: ignore[attr-defined]
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("jobs", "cluster", "text"),
    [
        (10**6, None, "jobs: expected at most 256, got 1000000"),
        (0, None, "jobs: expected an integer, at least 1"),
        (2, "tcp://127.0.0.1:1", "leave this"),
    ],
)
def test_wrong_choices(jobs: int, cluster: str | None, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        workers_for(jobs, cluster)


# -- checkpoints -----------------------------------------------------------------------------------


def _some(path: Path, number: int) -> None:
    """Do the first tasks, and stop."""
    with Checkpoint(path, QUESTION) as checkpoint:
        results = run_tasks(squared, 2, range(9), None, checkpoint)
        for _ in range(number):
            next(results)


def test_work_goes_on_where_it_ended(tmp_path: Path) -> None:
    path, steps = tmp_path / "work.db", list[str]()
    _some(path, 4)
    with Checkpoint(path, QUESTION) as checkpoint:
        assert checkpoint.done() == {0, 1, 2, 3}
        found = run_tasks(
            squared, 2, range(9), None, checkpoint, progress=lambda step: steps.append(str(step))
        )
        assert list(found) == [str(2 * n**2).encode() for n in range(9)]
    assert steps[0] == "working: 5 of 9 tasks"
    assert len(steps) == 5


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            {**QUESTION, "network": "b2"},
            r"of other work \(network: a1 in place of b2\); name another file",
        ),
        ({**QUESTION, "domain": "x"}, r"\(domain: nothing in place of x\)"),
        ({"network": "a1"}, r"\(question: squares in place of nothing\)"),
        ({**QUESTION, "network": "b" * 64, "seed": "2"}, r"\(another network; seed: nothing in"),
    ],
)
def test_checkpoints_of_other_questions(
    tmp_path: Path, question: dict[str, str], text: str
) -> None:
    _some(tmp_path / "work.db", 1)
    with pytest.raises(DomainError, match=text):
        Checkpoint(tmp_path / "work.db", question)


def test_a_file_in_use(tmp_path: Path) -> None:
    with (
        Checkpoint(tmp_path / "work.db", QUESTION),
        pytest.raises(PolyreluError, match="another process uses this checkpoint"),
    ):
        Checkpoint(tmp_path / "work.db", QUESTION)


def test_an_empty_file_is_a_new_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "work.db").touch()
    with Checkpoint(tmp_path / "work.db", QUESTION) as checkpoint:
        assert checkpoint.done() == set()


@pytest.mark.parametrize("name", [":memory:", "file:work.db", "file:work.db?mode=memory"])
def test_names_that_mean_something_to_sqlite(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _some(Path(name), 3)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with Checkpoint(name, QUESTION) as checkpoint:
        assert checkpoint.done() == {0, 1, 2}


def _run(statement: str) -> Callable[[Path], None]:
    """Return a damage: a statement of SQL."""

    def damage(path: Path) -> None:
        """Run the statement."""
        connection = sqlite3.connect(path)
        with connection:
            connection.executescript(statement)
        connection.close()

    return damage


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _noise(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "text": lambda path: path.write_text("no database"),
    "cut": _cut,
    "noise": _noise,
    "version": _run("PRAGMA user_version = 2"),
    "application": _run("PRAGMA application_id = 7"),
    "table": _run("CREATE TABLE more (x)"),
    "view": _run("CREATE VIEW more AS SELECT * FROM results"),
    "trigger": _run("CREATE TRIGGER t AFTER INSERT ON results BEGIN SELECT 1; END"),
    "column": _run("DROP TABLE results; CREATE TABLE results (task, data, digest)"),
    "entry": _run("UPDATE question SET value = x'00'"),
    "digest": _run("UPDATE results SET data = x'ff' WHERE task = 1"),
    "result": _run("UPDATE results SET data = 'text'"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_files_are_errors_in_a_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / "work.db"
    _some(path, 3)
    DAMAGES[name](path)
    with pytest.raises(PolyreluError) as error, Checkpoint(path, QUESTION) as checkpoint:
        list(run_tasks(squared, 2, range(9), None, checkpoint))
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_databases_of_other_programs_are_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "own.db"
    _run("CREATE TABLE own (x); INSERT INTO own VALUES (1)")(path)
    before = path.read_bytes()
    with pytest.raises(PolyreluError, match="another format"):
        Checkpoint(path, QUESTION)
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == [path]


def _answer(path: Path) -> list[bytes] | str:
    """Return the results with a checkpoint, or the error about it."""
    try:
        with Checkpoint(path, QUESTION) as checkpoint:
            return list(run_tasks(squared, 2, range(9), None, checkpoint))
    except PolyreluError as error:
        return str(error)


@pytest.mark.parametrize("number", few_some_and_all(60, 600, 2000))
def test_any_damaged_byte_is_seen_or_changes_nothing(tmp_path: Path, number: int) -> None:
    """A byte that means nothing to SQLite may change; all others are an error in a line."""
    whole, path = tmp_path / "whole.db", tmp_path / "work.db"
    _some(whole, 9)
    data, rng = whole.read_bytes(), Random(4)
    expected = [str(2 * n**2).encode() for n in range(9)]
    for _ in range(number):
        damaged = bytearray(data)
        for place in rng.sample(range(len(data)), rng.randint(1, 4)):
            damaged[place] = rng.randrange(256)
        path.write_bytes(damaged[: rng.randrange(len(data))] if rng.random() < 0.2 else damaged)
        found = _answer(path)
        if isinstance(found, str):
            assert str(path) in found
            assert "\n" not in found
        else:
            assert found == expected


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(PolyreluError, match=r"work\.db: cannot "):
        Checkpoint(tmp_path / "missing" / "work.db", QUESTION)
    with pytest.raises(PolyreluError, match="cannot read"):
        Checkpoint(tmp_path, QUESTION)


PROGRAM = """
from polyrelu.support.parallel import Processes, run_tasks
from tests.generators.parallel_tasks import unhurried
if __name__ == "__main__":
    results = run_tasks(unhurried, {folder!r}, [0, 1] * 500, Processes(2))
    print([next(results)], flush=True)
    list(results)
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="reads the list of processes from /proc")
def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(folder=str(tmp_path)))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, env=environment
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline()
        workers = list(_children(program.pid))
        assert len(workers) >= 2
        program.kill()
    end = time.monotonic() + 20
    while any(_is_alive(worker) for worker in workers):
        assert time.monotonic() < end
        time.sleep(0.05)


def _children(parent: int) -> Iterator[int]:
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            yield int(entry.parent.name)


def _is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
