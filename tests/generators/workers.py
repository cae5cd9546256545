"""Workers that count tasks, end the program in one of them, or do them in the wrong order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["Backwards", "Counted", "Wrong"]


class Counted:
    """Does tasks in this process, and ends the program in one of them if that is wanted."""

    number = 1

    def __init__(self, end: int | None = None) -> None:
        self.num_done, self.end = 0, end

    def results(
        self, function: Any, context: Any, tasks: Iterable[tuple[int, Any]]
    ) -> Iterator[tuple[int, bytes]]:
        """See `Workers`."""
        for number, task in tasks:
            if self.num_done == self.end:
                raise SystemExit
            self.num_done += 1
            yield number, function(context, task)


class Backwards(Counted):
    """Does the tasks that are there in the wrong order."""

    def results(
        self, function: Any, context: Any, tasks: Iterable[tuple[int, Any]]
    ) -> Iterator[tuple[int, bytes]]:
        """See `Workers`."""
        source, listed = iter(tasks), list[tuple[int, Any]]()
        while True:
            listed += iter(lambda: next(source, None), None)
            number, task = listed.pop()
            self.num_done += 1
            yield number, function(context, task)


class Wrong(Counted):
    """Gives the same bytes for every task."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data

    def results(
        self, function: Any, context: Any, tasks: Iterable[tuple[int, Any]]
    ) -> Iterator[tuple[int, bytes]]:
        """See `Workers`."""
        return ((number, self.data) for number, _ in tasks)
