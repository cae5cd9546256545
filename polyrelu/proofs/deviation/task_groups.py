"""Leaves that tasks close, group by group, in an order that no worker changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.support.budget import Budget
from polyrelu.support.parallel import TaskStream
from polyrelu.support.parallel.wire import understood, unpacked, work_of

__all__ = ["close_groups"]

_Leaf = TypeVar("_Leaf")


def close_groups(
    left: deque[_Leaf],
    least: int,
    tasks: TaskStream,
    task_of: Callable[[Sequence[_Leaf]], bytes],
    graft: Callable[[Sequence[_Leaf], Any], Sequence[_Leaf]],
    budget: Budget,
    note: Callable[[int], None],
) -> None:
    """Let tasks close leaves until none is left; when it ends early, those in tasks are left too.

    Parameters
    ----------
    left
        The leaves, the next one first; it is changed.
    least
        The least number of leaves of a task, if there are as many.
    tasks
        Where tasks are done.
    task_of
        From a group of leaves to the bytes of a task.
    graft
        From a group and the result of its task to the leaves that are left.
    budget
        What pays for the work of the tasks.
    note
        Called with the number of leaves that are left, after each task.
    """
    groups = deque[list[_Leaf]]()
    try:
        while left or groups:
            while left and len(groups) < SETTINGS.num_ahead:
                share = max(least, len(left) // SETTINGS.num_ahead)
                number = min(SETTINGS.leaves_per_task, share, len(left))
                groups.append([left.popleft() for _ in range(number)])
                tasks.add(task_of(groups[-1]))
            result = unpacked(tasks.take())
            budget.spend(work_of(result))
            with understood():
                left.extendleft(graft(groups.popleft(), result)[::-1])
            note(len(left) + sum(map(len, groups)))
    finally:
        tasks.forget()
        for group in groups:
            left.extend(group)
