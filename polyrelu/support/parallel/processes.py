"""Tasks in processes of this machine."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from multiprocessing.connection import wait as wait_for_end
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pickle import PicklingError
from typing import Any

from polyrelu.errors import ArgumentError, PolyreluError
from polyrelu.support.arguments import expect_count
from polyrelu.support.interrupts import postponed_interrupts
from polyrelu.support.parallel.tasks import AHEAD, Numbered, TaskFunction

__all__ = ["MAX_JOBS", "Processes"]

#: Maximum number of processes.
MAX_JOBS = 256

#: How often workers may die, one after the other, without any task being finished in between.
_MAX_DEATHS = 3
#: Variables that give the number of threads of libraries; a worker uses one.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLYRELU_THREADS")

#: Function and context of the tasks of this process, if it is a worker.
_WORK: list[tuple[TaskFunction, Any]] = []


class Processes:
    """Does tasks in several processes, each on one core.

    A worker that dies is replaced, and its tasks are begun again. A program that uses this class
    has to keep its own main part behind ``if __name__ == "__main__":``, because the processes
    import its module.

    Parameters
    ----------
    number
        How many processes there are.

    Raises
    ------
    ArgumentError
        The number is not a positive integer, or too large.
    """

    def __init__(self, number: int) -> None:
        self.number = expect_count(number, "jobs", 1)
        if number > MAX_JOBS:
            raise ArgumentError(
                f"jobs: expected at most {MAX_JOBS}, got {number}; more than the cores of the "
                "machine are of no use"
            )

    def __repr__(self) -> str:
        return f"<Processes, {self.number}>"

    def results(
        self, function: TaskFunction, context: Any, tasks: Iterable[Numbered]
    ) -> Iterator[tuple[int, bytes]]:
        """See `Workers`."""
        begun, source, deaths = list[Numbered](), iter(tasks), 0
        while True:
            pool: _Pool | None = None
            try:
                resource_tracker.ensure_running()  # which lets Ctrl-C through where it begins
                with postponed_interrupts():
                    pool = _Pool(self.number, function, context, begun)
                    pool.start()
                for number, result in pool.results(source):
                    deaths = 0
                    yield number, result
                return
            except BrokenProcessPool:
                deaths += 1
                if deaths == _MAX_DEATHS:
                    raise PolyreluError(
                        f"worker processes died {deaths} times, one after the other (often for "
                        "lack of memory); use fewer jobs"
                    ) from None
                begun = pool.unfinished() if pool is not None else begun
            finally:
                if pool is not None:
                    pool.end()


class _Pool:
    """Worker processes until one of them dies; tasks that were begun before come first."""

    def __init__(
        self, number: int, function: TaskFunction, context: Any, begun: Sequence[Numbered]
    ) -> None:
        self._number, self._begun = number, deque(begun)
        processes = multiprocessing.get_context("spawn")
        self._are_all_started = processes.Event()
        self._pool = ProcessPoolExecutor(
            number,
            processes,
            initializer=_begin,
            initargs=(function, context, self._are_all_started),
        )
        self._processes = set[BaseProcess]()
        self._tasks = dict[Future[bytes], Numbered]()

    def start(self) -> None:
        """Start all processes.

        An executor starts a process for a task if none is idle, so that processes wait until all
        of them are there. One that began later could use more threads, and be hit by Ctrl-C.
        """
        before = set(multiprocessing.active_children())
        try:
            with _one_thread():
                for _ in range(self._number):
                    self._pool.submit(os.getpid)
        except BrokenPipeError:  # a process died while it was started
            raise BrokenProcessPool from None
        except OSError as error:
            raise PolyreluError(
                f"cannot start {self._number} processes: {error.strerror or error}; use fewer jobs"
            ) from None
        except (PicklingError, AttributeError, TypeError) as error:
            raise ArgumentError(
                f"the work cannot be sent to other processes ({error}); its function has to stand "
                "at the top level of a module, and its values must be such that can be pickled"
            ) from None
        finally:
            self._processes = set(multiprocessing.active_children()) - before
        self._are_all_started.set()

    def results(self, source: Iterator[Numbered]) -> Iterator[tuple[int, bytes]]:
        """Do tasks that were begun before, then new ones."""
        while self._begun:
            self._begin(self._begun[0])
            self._begun.popleft()
        while True:
            while self._may_begin() and (entry := next(source, None)) is not None:
                self._begin(entry)
            if not self._tasks:
                return
            finished = wait(self._tasks, return_when=FIRST_COMPLETED).done
            for future in sorted(finished, key=lambda each: self._tasks[each][0]):
                result = future.result()
                number, _ = self._tasks.pop(future)
                yield number, result

    def unfinished(self) -> list[Numbered]:
        """Return the tasks that were begun and not finished."""
        return sorted([*self._begun, *self._tasks.values()], key=lambda entry: entry[0])

    def end(self) -> None:
        """End all processes, whatever they do."""
        for process in self._processes:
            with contextlib.suppress(OSError):
                process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)
        # The traceback of a broken pool refers to this object, and so would keep its semaphores.
        del self._pool, self._are_all_started

    def _begin(self, entry: Numbered) -> None:
        """Hand a task to the workers, and keep it until it is finished."""
        future: Future[bytes] = Future()
        future.set_exception(BrokenProcessPool())
        with contextlib.suppress(BrokenProcessPool):
            future = self._pool.submit(_do, entry[1])
        self._tasks[future] = entry

    def _may_begin(self) -> bool:
        """Whether the workers want a task, and not too many results wait for an earlier one."""
        if len(self._tasks) >= 2 * self._number:
            return False
        numbers = [number for number, _ in self._tasks.values()]
        return not numbers or max(numbers) - min(numbers) < AHEAD * self._number


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let processes that start within the block use one thread each."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _begin(function: TaskFunction, context: Any, are_all_started: Event) -> None:
    """Prepare a worker process: Ctrl-C is for the process that began it, and it ends with that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _WORK[:] = [(function, context)]
    are_all_started.wait()


def _end_with_parent() -> None:
    """End this process when its parent has ended, even by SIGKILL."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for_end([parent.sentinel])
        os._exit(1)


def _do(task: Any) -> bytes:
    """Do a task in a worker process."""
    ((function, context),) = _WORK
    return function(context, task)
