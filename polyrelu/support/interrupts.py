"""Ctrl-C handled when a long computation can stop in a consistent state.

Within `deferred_interrupt` the first Ctrl-C only sets a flag, which a `Budget` reads between two
steps. A second Ctrl-C raises KeyboardInterrupt at once, so that a user is never locked in.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interrupt", "deferred_interrupt"]


class Interrupt:
    """The record of a deferred Ctrl-C.

    Attributes
    ----------
    requested
        Whether Ctrl-C was pressed.
    """

    __slots__ = ("requested",)

    def __init__(self) -> None:
        self.requested = False


class _Note:
    """A signal handler that records the first Ctrl-C and passes later ones to the previous handler.

    Inside another `deferred_interrupt` block the first Ctrl-C goes to the outer handler as well.
    """

    def __init__(
        self,
        interrupt: Interrupt,
        previous: Callable[..., object],
        notice: Callable[[], None] | None,
    ) -> None:
        self._interrupt, self._previous, self._notice = interrupt, previous, notice

    def __call__(self, number: int, frame: FrameType | None) -> None:
        first, self._interrupt.requested = not self._interrupt.requested, True
        if first and self._notice is not None:
            self._notice()
        if not first or isinstance(self._previous, _Note):
            self._previous(number, frame)


@contextmanager
def deferred_interrupt(notice: Callable[[], None] | None = None) -> Iterator[Interrupt]:
    """Record the first Ctrl-C within a block instead of raising `KeyboardInterrupt`.

    The second Ctrl-C raises `KeyboardInterrupt` as usual. Outside the main thread, or where the
    signal has no Python handler, nothing changes.

    Parameters
    ----------
    notice
        Called when Ctrl-C is recorded.

    Yields
    ------
    Interrupt
        The record of Ctrl-C.
    """
    interrupt = Interrupt()
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield interrupt
        return

    signal.signal(signal.SIGINT, _Note(interrupt, previous, notice))
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, previous)
