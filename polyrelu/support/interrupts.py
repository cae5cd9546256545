"""Ctrl-C handled when a long computation can stop in a consistent state.

Within `deferred_interrupt` the first Ctrl-C only sets a flag, which a `Budget` reads between two
steps. A second Ctrl-C raises KeyboardInterrupt at once, so that a user is never locked in.

A program that wants to end soon after the first Ctrl-C, or SIGTERM, runs within a `Watch`. It
raises KeyboardInterrupt where a computation does not stop by itself, and ends the process where
even that is swallowed, as it is in some imports.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from polyrelu.support.temporary import remove_unfinished

__all__ = ["Interrupt", "Watch", "deferred_interrupt", "postponed_interrupts", "quit_with"]

#: Seconds from the first Ctrl-C to the KeyboardInterrupt that ends what has not stopped by itself,
#: and then to the end of the process; and between two looks at the limits of a `Watch`.
_GRACE, _LAST_GRACE, _TICK = 1.0, 0.6, 0.1
#: The same after SIGTERM: batch systems wait about half a minute before they kill a program, and on
#: a busy machine it may take some seconds until processes have ended and files are closed.
_GRACE_OF_TERM = 20.0


class Interrupt:
    """The record of a deferred Ctrl-C.

    Attributes
    ----------
    requested
        Whether Ctrl-C was pressed.
    is_forced
        Whether it was pressed again.
    """

    __slots__ = ("is_forced", "requested")

    def __init__(self) -> None:
        self.requested = self.is_forced = False


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
        if not first:
            self._interrupt.is_forced = True
        if first and isinstance(self._previous, Watch):
            self._previous.expect_end(is_raised=False)
        if first and self._notice is not None:
            self._notice()
        if not first or isinstance(self._previous, _Note):
            self._previous(number, frame)

    def request(self) -> None:
        """Record that the computation has to end, as after Ctrl-C but without the notice."""
        self._interrupt.requested = True
        if isinstance(self._previous, _Note):
            self._previous.request()


class Watch:
    """Ends a program at Ctrl-C and at limits, whatever it is doing in Python.

    It belongs to the main thread, and there is one of them at a time.

    Parameters
    ----------
    quit_process
        Called to end the process at a second Ctrl-C, and where KeyboardInterrupt was swallowed.
        None: KeyboardInterrupt is raised again.

    Attributes
    ----------
    reason
        Why KeyboardInterrupt was raised, if that was a limit.
    """

    def __init__(self, quit_process: Callable[[], object] | None = None) -> None:
        self._quit = quit_process
        self._why_stopped: Callable[[], str | None] | None = None
        self._grace, self._grace_of_press = _GRACE, _GRACE
        self.reason: str | None = None
        self._pressed, self._raised = False, False
        self._end: float | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Watch:
        if threading.current_thread() is threading.main_thread():
            if self._quit is not None:
                self._start_guard(self._quit)
            if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
                self._previous[signal.SIGINT] = signal.signal(signal.SIGINT, self)
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                self._previous[signal.SIGTERM] = signal.signal(signal.SIGTERM, self._terminate)
            self._previous[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._tick)
        return self

    def limit(self, why_stopped: Callable[[], str | None], grace: float) -> None:
        """Look at limits ten times a second from now on.

        Parameters
        ----------
        why_stopped
            Returns which limit is reached, in words, or None.
        grace
            Seconds that a computation which defers Ctrl-C has to end by itself; then
            KeyboardInterrupt is raised, as it is at once in all others.
        """
        self._why_stopped, self._grace = why_stopped, grace
        if self._previous:
            signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)

    def _start_guard(self, quit_process: Callable[[], object]) -> None:
        """Start a thread that ends the process while the main thread is in compiled code.

        Signal handlers of Python wait until such a call returns.
        """
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        guard = threading.Thread(target=self._guard, args=(reader, quit_process), daemon=True)
        guard.start()

    def _guard(self, reader: int, quit_process: Callable[[], object]) -> None:
        """Read signals as they come, and end the process after Ctrl-C where nothing else does."""
        end: float | None = None
        while True:
            left = None if end is None else max(end - time.monotonic(), 0)
            if not select.select([reader], [], [], left)[0]:
                if not self._pressed or self._end is not None:
                    quit_process()
                end = None
                continue
            signals = os.read(reader, 64)
            presses = signals.count(signal.SIGINT) + signals.count(signal.SIGTERM)
            if presses and (end is not None or presses > 1):
                time.sleep(_TICK)  # usually a handler is faster
                quit_process()
            elif presses:
                grace = _GRACE_OF_TERM if signal.SIGTERM in signals else _GRACE
                end = time.monotonic() + grace + _LAST_GRACE + _TICK

    def __exit__(self, *_: object) -> None:
        if self._previous:
            signal.setitimer(signal.ITIMER_REAL, 0)
            if self._quit is not None:
                signal.set_wakeup_fd(-1)
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle Ctrl-C where nothing defers it."""
        if self._pressed and self._quit is not None:
            self._quit()
        self.expect_end(is_raised=True)
        raise KeyboardInterrupt

    @property
    def is_raised(self) -> bool:
        """Whether KeyboardInterrupt was raised, and the computation has not ended since."""
        return self._raised

    def expect_end(self, is_raised: bool) -> None:
        """Note the first Ctrl-C, and start the time within which the computation has to end.

        `is_raised` says that KeyboardInterrupt was raised already.
        """
        self._pressed, self._raised = True, is_raised
        self._end = time.monotonic() + self._grace_of_press
        if self._previous:
            signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)

    def finish(self) -> None:
        """Note that the computation after a Ctrl-C or a limit has ended; the rest is to say so."""
        if self._end is not None:
            self._end, self._why_stopped, self._raised = None, None, False

    def forget_limit(self) -> None:
        """Stop looking at limits: there is an answer, which is still to be printed or written."""
        self._why_stopped = None

    def _terminate(self, _number: int, frame: FrameType | None) -> None:
        """Handle SIGTERM, by which batch systems end programs, as a Ctrl-C with more time.

        Shells let the programs that they start in the background ignore Ctrl-C.
        """
        handler = signal.getsignal(signal.SIGINT)
        self._grace_of_press = _GRACE_OF_TERM
        (handler if callable(handler) else self)(signal.SIGINT, frame)

    def _tick(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._end is not None and now >= self._end:
            if self._raised and self.reason is None and self._quit is not None:
                self._quit()
            self._raised, self._end = True, now + _LAST_GRACE
            raise KeyboardInterrupt
        if self._why_stopped is not None and (reason := self._why_stopped()) is not None:
            self.reason, self._why_stopped = reason, None
            self._raised, self._end = True, now + self._grace
            handler = signal.getsignal(signal.SIGINT)
            if not isinstance(handler, _Note):
                raise KeyboardInterrupt
            handler.request()


@contextmanager
def postponed_interrupts() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait until the block is left; the processes it starts ignore Ctrl-C.

    Outside the main thread nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = list[tuple[int, FrameType | None]]()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    own = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in own:
        signal.signal(number, lambda pressed, frame: came.append((pressed, frame)))
    # New processes inherit what is blocked. Other threads of this one do not block it, so that the
    # handlers are needed as well.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in own.items():
            signal.signal(number, handler)
        for pressed, frame in came[:1]:
            own[signal.Signals(pressed)](pressed, frame)


def quit_with(status: int, *lines: tuple[int, str]) -> None:
    """End the process at once, after lines to file descriptors: nothing is flushed or closed.

    Temporary files are removed.
    """
    for descriptor, line in lines:
        with contextlib.suppress(OSError):
            os.write(descriptor, f"{line}\n".encode())
    remove_unfinished()
    os._exit(status)


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
        if isinstance(previous, Watch):
            previous.finish()
