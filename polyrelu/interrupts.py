"""Ctrl-C at a moment of one's own choosing."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interrupt", "deferred_interrupt"]


class Interrupt:
    """Whether Ctrl-C was pressed."""

    __slots__ = ("requested",)

    def __init__(self) -> None:
        self.requested = False


@contextmanager
def deferred_interrupt() -> Iterator[Interrupt]:
    """Within the block the first Ctrl-C is only noted; the second one raises `KeyboardInterrupt` as always.

    Off the main thread, or where the user has no Python handler, nothing changes.
    """
    interrupt = Interrupt()
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield interrupt
        return

    def note(number: int, frame: FrameType | None) -> None:
        if interrupt.requested:
            previous(number, frame)
        interrupt.requested = True

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, previous)
