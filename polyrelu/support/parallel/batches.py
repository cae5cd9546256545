"""Tasks in batches, for workers to which every message costs more than a short task.

Each task of Dask costs the scheduler, the client and the worker some milliseconds. So what is sent
to a worker is a batch of tasks. The worker does them for a quarter of a second and returns their
results; those that it has not begun come back, and are sent again. Short tasks thereby travel in
large batches and long ones alone. No result depends on that.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from operator import length_hint
from typing import Any

from polyrelu.support.parallel.tasks import Numbered, Task, TaskFunction

__all__ = ["Batch", "Batches", "do_batch"]

#: Seconds after which a worker begins no other task of a batch, and most tasks of a batch.
_SECONDS, _MAX_TASKS = 0.25, 1 << 10

#: The variable by which Dask has workers give freed memory back, and the value that Dask gives it.
_VARIABLE, _OF_DASK = "MALLOC_TRIM_THRESHOLD_", "65536"
#: Names of two parameters in glibc's malloc.h, and the largest values that glibc gives to them.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = (-1, 1 << 26), (-3, 1 << 25)

#: Held while this process, a worker of Dask, does a task.
_ONE_TASK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Batch:
    """Tasks that a worker does one after the other, and the number of batches before this one."""

    place: int
    numbers: tuple[int, ...]
    tasks: tuple[Task, ...]


class Batches:
    """Batches of the tasks of a source, as large as a worker does them in the time for a batch.

    The last tasks are shared out among the workers, in smaller and smaller batches.
    """

    def __init__(self, source: Iterable[Numbered], num_workers: int) -> None:
        self._source, self._num_workers = iter(source), num_workers
        self._returned = deque[Numbered]()
        self._size, self._count = 1, 0

    def next(self) -> Batch | None:
        """Return the next batch, if there is a task that is not begun."""
        waiting = len(self._returned) + length_hint(self._source)
        size = min(self._size, max(1, waiting // (2 * self._num_workers)))
        entries = [self._returned.popleft() for _ in range(min(size, len(self._returned)))]
        entries += islice(self._source, size - len(entries))
        if not entries:
            return None
        numbers, tasks = zip(*entries, strict=True)
        self._count += 1
        return Batch(self._count, numbers, tasks)

    def note(self, batch: Batch, num_done: int) -> None:
        """Note how many tasks of a batch were done; the others come first now."""
        entries = list(zip(batch.numbers, batch.tasks, strict=True))
        self._returned.extendleft(reversed(entries[num_done:]))
        if num_done < len(entries):
            self._size = num_done
        elif num_done >= self._size:
            self._size = min(2 * self._size, _MAX_TASKS)


def do_batch(function: TaskFunction, context: Any, tasks: Sequence[Task]) -> list[bytes]:
    """Do tasks until the time for a batch is over, and return the results of those that are done.

    Tasks share what they remember, so that no other thread of this process does one meanwhile.
    """
    _keep_freed_memory()
    results, end = list[bytes](), time.monotonic() + _SECONDS
    for task in tasks:
        try:
            with _ONE_TASK:
                results.append(function(context, task))
        except Exception:
            if results:  # these are kept, and the task is begun again
                break
            raise
        if time.monotonic() >= end:
            break
    return results


@cache
def _keep_freed_memory() -> None:
    """Let this process keep freed memory for what it allocates next, if Dask forbade it.

    Dask starts workers with a variable, by which glibc gives freed memory back to the system as
    soon as there are 64 kB of it, and gets it again for the next task: a quarter of the time of
    short tasks. This sets what glibc itself comes to in a process that frees large arrays, where
    nobody sets the variable. Another value of it is the choice of somebody, and stays.
    """
    if os.name != "posix" or os.environ.get(_VARIABLE) != _OF_DASK:
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # other C libraries have no such parameters
        for name, value in (_TRIM_THRESHOLD, _MMAP_THRESHOLD):
            mallopt(name, value)
