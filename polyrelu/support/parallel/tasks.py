"""Tasks in order, done by workers and kept in a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    tasks: Sequence[Task],
    workers: Workers | None = None,
    checkpoint: Checkpoint | None = None,
    *,
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
    missing = ((number, task) for number, task in enumerate(tasks) if number not in done)
    num_done = sum(number < len(tasks) for number in done)
    if workers is None or len(tasks) - num_done <= 1:  # not worth a start of processes
        workers = Serial()
    new = workers.results(function, context, missing)
    waiting = dict[int, bytes]()
    try:
        for number in range(len(tasks)):
            while number not in done and number not in waiting:
                other, result = next(new)
                if checkpoint is not None:
                    checkpoint.add(other, result)
                waiting[other] = result
                num_done += 1
                report(progress, stage, num_done, len(tasks), unit)
            if number in waiting:
                yield waiting.pop(number)
            elif checkpoint is not None:
                yield checkpoint.result(number)
    finally:
        close = getattr(new, "close", None)
        if close is not None:
            close()
