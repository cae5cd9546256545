"""Ctrl-C at a moment of one's own choosing."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interrupt", "deferred_interrupt"]


class Interrupt:
    """Whether Ctrl-C was pressed."""

    __slots__ = ("requested",)

    def __init__(self) -> None:
        self.requested = False


class _Note:
    """A handler that notes the first Ctrl-C and passes on what follows.

    Within another block of this kind the first one is noted there as well.
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
    """Within the block the first Ctrl-C is only noted; the second one raises `KeyboardInterrupt` as always.

    Off the main thread, or where the user has no Python handler, nothing changes.

    Parameters
    ----------
    notice : called when Ctrl-C is noted.
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
