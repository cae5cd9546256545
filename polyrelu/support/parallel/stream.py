"""Tasks of searches, which depend on the results of earlier tasks.

A search adds tasks and takes their results in the order in which it added them. As long as it
chooses tasks from the results that it has taken, and keeps a number of tasks waiting that does not
depend on the workers, it goes the same way with one worker and with many.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from polyrelu.support.parallel.checkpoint import Checkpoint
from polyrelu.support.parallel.tasks import Numbered, Serial, TaskFunction, Workers

__all__ = ["Execution", "TaskStream"]

#: Bytes of the hash that stand in front of a result in a checkpoint.
_DIGEST_SIZE = 32


class TaskStream:
    """Tasks in a row, done by workers and kept in a checkpoint.

    A checkpoint knows a task by its bytes, so that a search may go on from another place, for
    example with a larger budget. Processes begin to work when two tasks wait for the first time.

    Parameters
    ----------
    function
        A function at the top level of a module, from the context and the bytes of a task to bytes.
    context
        What all tasks share; it is sent to each worker once.
    workers
        Who does the tasks; None for this process.
    checkpoint
        Results that are in it are not computed again, and new ones are added as they come.
    name
        What the context is, in a checkpoint that also has tasks with others.
    keeps
        Whether a result is kept; None for all. Results that a limit of time has cut short are not.

    Attributes
    ----------
    num_waiting
        Number of tasks whose results were not taken.

    Examples
    --------
    >>> with TaskStream(lambda context, task: task * context, 2) as stream:
    ...     stream.add(b"ab")
    ...     stream.add(b"c")
    ...     print(stream.take(), stream.take(), stream.num_waiting)
    b'abab' b'cc' 0
    """

    def __init__(
        self,
        function: TaskFunction,
        context: Any,
        workers: Workers | None = None,
        checkpoint: Checkpoint | None = None,
        name: str = "",
        keeps: Callable[[bytes], bool] | None = None,
    ) -> None:
        self._function, self._context = function, context
        self._workers = Serial() if workers is None else workers
        self._checkpoint, self._name = checkpoint, name.encode("utf-8")
        self._keeps = keeps
        self._done = checkpoint.done() if checkpoint is not None else set[int]()
        self._queue = _GrowingQueue()
        self._results: Iterator[tuple[int, bytes]] | None = None
        self._tasks, self._came = dict[int, bytes](), dict[int, bytes]()
        self._first, self._next = 0, 0

    def __enter__(self) -> TaskStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def num_waiting(self) -> int:
        """Number of tasks whose results were not taken."""
        return self._next - self._first

    def add(self, task: bytes) -> None:
        """Add a task."""
        number, self._next = self._next, self._next + 1
        kept = self._kept(task)
        if kept is not None:
            self._came[number] = kept
            return
        self._tasks[number] = task
        self._queue.append((number, task))

    def take(self) -> bytes:
        """Return the result of the first task that waits."""
        number = self._first
        while number not in self._came:
            self._note(*self._one_more())
        self._first += 1
        return self._came.pop(number)

    def forget(self) -> None:
        """Drop all tasks that wait; those that were begun are finished, and kept as the others."""
        for number, _ in self._queue.taken():
            del self._tasks[number]
        self._came.clear()
        self._first = self._next

    def close(self) -> None:
        """End the processes."""
        close = getattr(self._results, "close", None)
        if close is not None:
            close()
        self._results = None

    def _one_more(self) -> tuple[int, bytes]:
        """Return a task that was done, and its result."""
        if self._results is None:
            if len(self._queue) > 1:
                self._results = self._workers.results(self._function, self._context, self._queue)
            else:  # not worth a start of processes
                number, task = next(self._queue)
                return number, self._function(self._context, task)
        try:
            return next(self._results)
        except BaseException:  # an interrupt has ended the workers
            self._results = None
            raise

    def _note(self, number: int, result: bytes) -> None:
        """Keep a result in the checkpoint, and for the search if it still waits for it."""
        task = self._tasks.pop(number)
        if self._checkpoint is not None and (self._keeps is None or self._keeps(result)):
            digest = self._digest(task)
            self._checkpoint.add(_place(digest), digest + result)
            self._done.add(_place(digest))
        if number >= self._first:
            self._came[number] = result

    def _kept(self, task: bytes) -> bytes | None:
        """Return the result of a task from the checkpoint, if it is there."""
        digest = self._digest(task)
        if self._checkpoint is None or _place(digest) not in self._done:
            return None
        kept = self._checkpoint.result(_place(digest))
        return kept[_DIGEST_SIZE:] if kept[:_DIGEST_SIZE] == digest else None

    def _digest(self, task: bytes) -> bytes:
        """Return the hash of a task and of the name of the context."""
        return hashlib.sha256(b"%d:%s%s" % (len(self._name), self._name, task)).digest()


@dataclass(frozen=True, slots=True)
class Execution:
    """Who does the tasks of a question, and where their results are kept.

    Attributes
    ----------
    workers
        Who does them; None for this process.
    checkpoint
        Where results are kept; None if they are not.
    """

    workers: Workers | None = None
    checkpoint: Checkpoint | None = None

    @classmethod
    @contextmanager
    def opened(
        cls, workers: Workers | None, path: str | Path | None, question: Mapping[str, str]
    ) -> Iterator[Execution]:
        """Open the checkpoint of a question, if there is one, for the time of a block."""
        with ExitStack() as stack:
            kept = None
            if path is not None:
                kept = stack.enter_context(Checkpoint(path, question))
            yield cls(workers, kept)

    @property
    def is_plain(self) -> bool:
        """Whether this process does everything, and nothing is kept."""
        alone = self.workers is None or isinstance(self.workers, Serial)
        return alone and self.checkpoint is None

    def stream(
        self,
        function: TaskFunction,
        context: Any,
        name: str = "",
        keeps: Callable[[bytes], bool] | None = None,
    ) -> TaskStream:
        """Return a stream of tasks, as `TaskStream` describes it."""
        return TaskStream(function, context, self.workers, self.checkpoint, name, keeps)


class _GrowingQueue:
    """Tasks that are not begun; workers take them as they can, and more may come later."""

    def __init__(self) -> None:
        self._tasks = deque[Numbered]()

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[Numbered]:
        return self

    def __next__(self) -> Numbered:
        if not self._tasks:
            raise StopIteration
        return self._tasks.popleft()

    def append(self, entry: Numbered) -> None:
        """Add a task."""
        self._tasks.append(entry)

    def taken(self) -> list[Numbered]:
        """Take all tasks."""
        found = list(self._tasks)
        self._tasks.clear()
        return found


def _place(digest: bytes) -> int:
    """Return the number of a task in a checkpoint, an integer of SQLite that is not negative."""
    return int.from_bytes(digest[:8], "big") >> 1
