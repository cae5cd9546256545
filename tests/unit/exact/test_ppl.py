"""The worker process of PPL: signals, threads, forks, and the ends of either process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from polyrelu.errors import PolyreluError
from polyrelu.exact import Polyhedron
from polyrelu.exact.ppl import client
from polyrelu.exact.ppl.client import constraints_of, generators_of
from tests.generators.files import ROOT as _ROOT

_SQUARE = [[1, 0, 1], [-1, 0, 0], [0, 1, 1], [0, -1, 0]]

#: Starts the worker, so that `pid` is its number, and has rows on which PPL computes for more than
#: ten seconds. A program in the background would ignore Ctrl-C.
_BEGIN = """
import os, random, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from polyrelu.exact.ppl import client
from polyrelu.exact.ppl.client import generators_of
interval, answer = [[1, 2], [-2, 1]], ([[-1, 2], [2, 1]], [], [])
rng = random.Random(1)
long = [[rng.randint(-99, 99) for _ in range(9)] + [1000] for _ in range(90)]
assert generators_of(1, interval, []) == answer
pid = client._worker._process.pid
"""


def _pid() -> int:
    """The identifier of the current worker process."""
    assert generators_of(1, [], []) == ([[0, 1]], [], [[1]])
    return int(client._worker._process.pid)


def _is_running(pid: int) -> bool:
    """Whether a process computes or waits; a process that ended may remain as a zombie."""
    found = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return found.stdout.strip()[:1] not in ("", "Z")


def _ends(pid: int, seconds: float = 5) -> bool:
    limit = time.monotonic() + seconds
    while _is_running(pid):
        if time.monotonic() > limit:
            os.kill(pid, signal.SIGKILL)
            return False
        time.sleep(0.02)
    return True


def _run(program: str, *options: str) -> str:
    """The standard output of a program that must succeed and write nothing to stderr."""
    found = subprocess.run(
        [sys.executable, *options, "-c", program],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")
    return found.stdout


@contextmanager
def _running(program: str) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A program in a session of its own that has printed some process numbers on one line."""
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        yield process, [int(word) for word in process.stdout.readline().split()]
    finally:
        process.kill()
        process.communicate()


def _complaint() -> str:
    try:
        generators_of(2, _SQUARE, [])
    except PolyreluError as error:
        return str(error)
    return ""


def _one_line(error: pytest.ExceptionInfo[PolyreluError], *words: str) -> None:
    text = str(error.value)
    assert "\n" not in text
    assert all(word in text for word in words), text


# --- What our process does not notice -----------------------------------------------------------


def test_our_process_stays_as_it_was() -> None:
    """PPL is not imported, the handler of Ctrl-C stays, nothing is printed, no pipe stays open."""
    program = """
import signal, sys
mine = lambda number, frame: None
signal.signal(signal.SIGINT, mine)
from polyrelu.exact import Polyhedron
square = Polyhedron.box([0, 0], [1, 1])
assert len(square.generators().points) == 4
assert Polyhedron.from_generators(square.generators().points).equals(square)
assert signal.getsignal(signal.SIGINT) is mine
assert not {"ppl", "cysignals", "gmpy2"} & set(sys.modules)
"""
    assert _run(program, "-X", "dev", "-W", "error") == ""


def test_the_handler_of_ctrl_c_is_kept() -> None:
    before = signal.getsignal(signal.SIGINT)
    assert constraints_of(1, [[-1, 2], [2, 1]], [], []) == ([[-2, 1], [1, 2]], [])
    assert len(Polyhedron.box([0], [1]).generators().points) == 2
    assert signal.getsignal(signal.SIGINT) is before


def test_one_process_answers_all_questions_out_of_reach_of_the_terminal() -> None:
    assert _pid() == _pid()
    assert os.getsid(_pid()) != os.getsid(0)


def test_numbers_of_any_length() -> None:
    huge = 7**10_000
    assert generators_of(1, [[-1, -huge], [huge, huge * huge + 1]], []) == (
        [[huge, 1], [huge * huge + 1, huge]],
        [],
        [],
    )
    assert constraints_of(1, [[huge, 1]], [[huge]], []) == ([[-1, -huge]], [])


# --- Threads ------------------------------------------------------------------------------------


def test_the_first_question_may_come_from_another_thread() -> None:
    program = """
import threading
from polyrelu.exact import Polyhedron
found = []
thread = threading.Thread(target=lambda: found.append(Polyhedron.box([0], [1]).generators()))
thread.start()
thread.join()
assert len(found[0].points) == 2
"""
    assert _run(program) == ""


def test_threads_get_their_own_answers() -> None:
    def wrong_answers(number: int) -> list[object]:
        asked = [(-number - 1, k + 1) for k in range(40)]
        found = [generators_of(1, [[-1, -low], [1, high]], []) for low, high in asked]
        expected: list[object] = [([[low, 1], [high, 1]], [], []) for low, high in asked]
        return [pair for pair in zip(found, expected, strict=True) if pair[0] != pair[1]]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(wrong_answers, range(8))) == [[]] * 8


# --- The worker fails ---------------------------------------------------------------------------


def test_after_the_worker_was_killed() -> None:
    """The next question may fail, with one line; the one after it does not."""
    for _ in range(3):
        os.kill(_pid(), signal.SIGKILL)
        assert "\n" not in _complaint()
        assert len(generators_of(2, _SQUARE, [])[0]) == 4


def test_a_worker_that_is_known_to_be_dead_is_replaced() -> None:
    pid = _pid()
    os.kill(pid, signal.SIGKILL)
    assert _ends(pid)
    assert _pid() != pid


@pytest.mark.parametrize("rows", [1, 3000])
def test_the_worker_is_killed_while_it_is_asked(rows: int) -> None:
    """Before it reads: a short question waits in the pipe, a long one breaks the pipe."""
    pid = _pid()
    os.kill(pid, signal.SIGSTOP)
    timer = threading.Timer(0.2, os.kill, (pid, signal.SIGKILL))
    timer.start()
    with pytest.raises(PolyreluError) as error:
        generators_of(2, [[10**100 + i, i, 1] for i in range(rows)], [])
    _one_line(error, "generators", "worker")
    timer.join()
    assert len(generators_of(2, _SQUARE, [])[0]) == 4
    assert _pid() != pid


def test_errors_of_ppl_are_one_line_and_do_no_harm() -> None:
    pid = _pid()
    questions: list[Callable[[], Any]] = [
        lambda: generators_of(1, [[1, 2, 3]], []),
        lambda: generators_of(1, [["one", 2]], []),  # type: ignore[list-item]
        lambda: constraints_of(1, [], [[1]], []),
        lambda: constraints_of(1, [[1, 0]], [], []),
        lambda: constraints_of(1, [[1, 1]], [[0]], []),
    ]
    for question in questions:
        with pytest.raises(PolyreluError) as error:
            question()
        _one_line(error, "PPL failed in")
    assert _pid() == pid


# --- Ctrl-C -------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="process groups")
@pytest.mark.slow
def test_ctrl_c_ends_a_long_computation() -> None:
    program = _BEGIN + "print(pid, flush=True)\ngenerators_of(9, long, [])\n"
    with _running(program) as (process, (worker,)):
        time.sleep(1)
        assert process.poll() is None
        assert _is_running(worker)
        start = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, complaint = process.communicate(timeout=10)
        assert time.monotonic() - start < 2
        assert complaint.splitlines()[-1] == "KeyboardInterrupt"
        assert process.returncode == -signal.SIGINT
        assert _ends(worker, 1)


def test_work_goes_on_after_ctrl_c() -> None:
    program = (
        _BEGIN
        + """
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    generators_of(9, long, [])
except KeyboardInterrupt:
    print("interrupted")
try:
    os.kill(pid, 0)
except ProcessLookupError:
    print("and stopped")
assert generators_of(1, interval, []) == answer
assert client._worker._process.pid != pid
"""
    )
    assert _run(program) == "interrupted\nand stopped\n"


def test_ctrl_c_twice_does_not_mix_up_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first while an answer is awaited, the second before the worker could be stopped."""

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    _pid()
    with monkeypatch.context() as patch:
        patch.setattr("pickle.load", interrupt)
        patch.setattr(client._worker, "stop", interrupt)
        with pytest.raises(KeyboardInterrupt):
            generators_of(2, _SQUARE, [])
    assert generators_of(1, [[1, 0]], []) == ([[0, 1]], [[-1]], [])


# --- Forks --------------------------------------------------------------------------------------

_FORK = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads, since Python 3.12
child = os.fork()
if child == 0:
    signal.alarm(20)
    right = generators_of(1, interval, []) == answer
    os._exit(0 if right and client._worker._process.pid != pid else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def test_a_forked_process_has_a_worker_of_its_own() -> None:
    ours = """
assert generators_of(1, interval, []) == answer
assert client._worker._process.pid == pid
"""
    assert _run(_BEGIN + _FORK + ours) == ""


def test_a_fork_while_another_thread_waits_for_an_answer() -> None:
    """The lock is taken in the parent and would never be released in the child."""
    busy = """
def ask():
    try:
        generators_of(9, long, [])
    except client.PolyreluError:
        pass
thread = threading.Thread(target=ask)
thread.start()
time.sleep(0.3)
"""
    assert _run(_BEGIN + busy + _FORK + "os.kill(pid, signal.SIGKILL)\nthread.join()\n") == ""


def test_a_pool_of_forked_processes() -> None:
    program = (
        _BEGIN
        + """
from multiprocessing import get_context
from polyrelu.exact import Polyhedron
def corners(n):
    return len(Polyhedron.box([0] * n, [1] * n).generators().points)
with get_context("fork").Pool(2) as pool:
    assert pool.map(corners, [1, 2, 3, 4, 5], chunksize=1) == [2, 4, 8, 16, 32]
"""
    )
    assert _run(program) == ""


# --- The parent ends ----------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_idle_worker_ends_with_its_parent(number: signal.Signals) -> None:
    with _running(_BEGIN + "print(pid, flush=True)\ntime.sleep(60)\n") as (process, (worker,)):
        assert _is_running(worker)
        process.send_signal(number)
        process.wait(timeout=10)
        assert _ends(worker)
        assert process.communicate()[1] == ""  # the worker writes to the same place


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels do not tell a computing process")
def test_a_computing_worker_ends_with_its_parent() -> None:
    with _running(_BEGIN + "print(pid, flush=True)\ngenerators_of(9, long, [])\n") as (
        process,
        (worker,),
    ):
        time.sleep(0.3)
        process.kill()
        assert _ends(worker)
        assert process.communicate()[1] == ""


def test_a_worker_ends_with_its_parent_although_a_forked_process_goes_on() -> None:
    fork = "child = os.fork()\nif child: print(pid, child, flush=True)\ntime.sleep(60)\n"
    with _running(_BEGIN + fork) as (process, (worker, child)):
        process.kill()
        assert _ends(worker)
        assert _is_running(child)
        os.kill(child, signal.SIGKILL)


def test_the_worker_ends_when_the_program_does() -> None:
    assert _ends(int(_run(_BEGIN + "print(pid)\n")))
