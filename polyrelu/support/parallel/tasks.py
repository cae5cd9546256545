"""Tasks in order, done by workers and kept in a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias

from polyrelu.support.parallel.checkpoint import Checkpoint
from polyrelu.support.progress import Progress, report

__all__ = ["AHEAD", "Numbered", "Serial", "Task", "TaskFunction", "Workers", "run_tasks"]

#: What a task is: anything that can be pickled.
Task: TypeAlias = Any
#: A function at the top level of a module, from the context and a task to bytes.
TaskFunction: TypeAlias = Callable[[Any, Task], bytes]
#: The number of a task, and the task.
Numbered: TypeAlias = tuple[int, Task]

#: Number of tasks for each worker that may be begun while an earlier task is not finished. It
#: bounds the results that wait for their turn.
AHEAD = 16


class Workers(Protocol):
    """What does tasks: this process, other processes, or a cluster.

    A process does one task at a time, so that functions of tasks may remember what they made.

    Attributes
    ----------
    number
        How many tasks are done at the same time.
    """

    number: int

    def results(
        self, function: TaskFunction, context: Any, tasks: Iterable[Numbered]
    ) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the result of each task, in the order in which they end."""


class Serial:
    """Does one task after the other, in this process.

    Examples
    --------
    >>> def power(context, task):
    ...     return str(context**task).encode()
    >>> list(Serial().results(power, 2, [(0, 5), (1, 6)]))
    [(0, b'32'), (1, b'64')]
    """

    number = 1

    def __repr__(self) -> str:
        return "<Serial>"

    def results(
        self, function: TaskFunction, context: Any, tasks: Iterable[Numbered]
    ) -> Iterator[tuple[int, bytes]]:
        """See `Workers`."""
        for number, task in tasks:
            yield number, function(context, task)


def run_tasks(
    function: TaskFunction,
    context: Any,
    tasks: Iterable[Task],
    workers: Workers | None = None,
    checkpoint: Checkpoint | None = None,
    *,
    more: Callable[[bytes], Iterable[Task]] | None = None,
    stage: str = "working",
    unit: str = "tasks",
    progress: Progress | None = None,
) -> Iterator[bytes]:
    """Yield the results of all tasks, in the order of the tasks.

    Parameters
    ----------
    function, context, tasks
        What is done. For other processes the function has to be importable by its name, and context
        and tasks have to be small enough to be sent; the context is sent once.
    workers
        Who does it; None for this process.
    checkpoint
        Results that are in it are not computed again, and new ones are added as they come.
    more
        Returns the tasks that follow from a result. They come after all tasks that are known when
        the result is yielded, so that their order does not depend on the workers either.
    stage, unit, progress
        What is reported after each task, see `polyrelu.support.ProgressStep`.

    Yields
    ------
    bytes
        The result of the next task.

    Examples
    --------
    >>> def square(context, task):
    ...     return bytes([task**2])
    >>> list(run_tasks(square, None, [3, 1, 2]))
    [b'\\t', b'\\x01', b'\\x04']
    """
    done = checkpoint.done() if checkpoint is not None else set[int]()
    queue, waiting, number = _Queue(tasks, done), dict[int, bytes](), 0
    source = _Source(function, context, Serial() if workers is None else workers, queue)
    try:
        while number < len(queue.tasks):
            while number not in done and number not in waiting:
                other, result = source.one_more()
                if checkpoint is not None:
                    checkpoint.add(other, result)
                waiting[other] = result
                queue.num_done += 1
                report(progress, stage, queue.num_done, len(queue.tasks), unit)
            if number in waiting:
                result = waiting.pop(number)
            elif checkpoint is not None:
                result = checkpoint.result(number)
            if more is not None:
                queue.extend(more(result))
            yield result
            number += 1
    finally:
        source.close()


class _Queue:
    """Tasks that are not begun; workers take them as they can, and more may come later."""

    def __init__(self, tasks: Iterable[Task], done: set[int]) -> None:
        self.tasks, self._done, self._next = list[Task](), done, 0
        self.num_done = 0
        self.extend(tasks)

    def extend(self, tasks: Iterable[Task]) -> None:
        """Add tasks."""
        first = len(self.tasks)
        self.tasks.extend(tasks)
        self.num_done += sum(number in self._done for number in range(first, len(self.tasks)))

    def __iter__(self) -> Iterator[Numbered]:
        return self

    def __length_hint__(self) -> int:
        """Return how many tasks are not begun, or were done before."""
        return len(self.tasks) - self._next

    def __next__(self) -> Numbered:
        while self._next in self._done:
            self._next += 1
        if self._next >= len(self.tasks):
            raise StopIteration
        self._next += 1
        return self._next - 1, self.tasks[self._next - 1]


class _Source:
    """Results of tasks: from workers, which begin when there is more than one task."""

    def __init__(
        self, function: TaskFunction, context: Any, workers: Workers, queue: _Queue
    ) -> None:
        self._function, self._context, self._workers = function, context, workers
        self._queue = queue
        self._results: Iterator[tuple[int, bytes]] | None = None

    def one_more(self) -> tuple[int, bytes]:
        """Return the number and the result of a task that was not done before."""
        if self._results is None:
            if len(self._queue.tasks) - self._queue.num_done <= 1:  # not worth a start of processes
                number, task = next(self._queue)
                return number, self._function(self._context, task)
            self._results = self._workers.results(self._function, self._context, self._queue)
        return next(self._results)

    def close(self) -> None:
        """End the workers."""
        close = getattr(self._results, "close", None)
        if close is not None:
            close()
