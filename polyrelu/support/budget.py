"""Time, memory and Ctrl-C for long searches, which ask between two steps."""

from __future__ import annotations

import os
import resource
import sys
import time

from polyrelu.support.arguments import expect_limit
from polyrelu.support.interrupts import Interrupt

__all__ = ["Budget", "CertificateLimit", "LimitReached"]

_MIB = 1 << 20


class LimitReached(Exception):  # noqa: N818 - not an error: the search answers undecided
    """A search cannot go on; the message is a sentence that says why."""


class CertificateLimit(LimitReached):
    """What was found cannot be written: it is beyond the limits of certificate files."""


class Budget:
    """What a search may use.

    Parameters
    ----------
    seconds : from now on; None for no limit.
    megabytes : resident memory of the whole process (in units of 2^20 bytes); None for no limit.
    interrupt : noted Ctrl-C.

    >>> Budget(seconds=0).check()
    Traceback (most recent call last):
    polyrelu.support.budget.LimitReached: the time limit of 0 seconds was reached
    """

    def __init__(
        self,
        seconds: float | None = None,
        megabytes: int | None = None,
        interrupt: Interrupt | None = None,
    ) -> None:
        expect_limit(seconds, "time_limit")
        expect_limit(megabytes, "memory_limit")
        self._seconds, self._megabytes, self._interrupt = seconds, megabytes, interrupt
        self._started = time.monotonic()

    def trial(self, share: float) -> Budget:
        """A budget for an attempt that may be given up: a share of the time that is left."""
        left = (
            None
            if self._seconds is None
            else max(self._started + self._seconds - time.monotonic(), 0)
        )
        return Budget(None if left is None else share * left, self._megabytes, self._interrupt)

    def check(self) -> None:
        """Raise `LimitReached` if a limit is reached."""
        if self._interrupt is not None and self._interrupt.requested:
            raise LimitReached("interrupted")
        if self._seconds is not None and time.monotonic() - self._started >= self._seconds:
            raise LimitReached(f"the time limit of {self._seconds:g} seconds was reached")
        if self._megabytes is not None and _resident() >= self._megabytes * _MIB:
            raise LimitReached(f"the memory limit of {self._megabytes} MiB was reached")


def _resident() -> int:
    """Bytes of resident memory now; where the system does not say, the most so far."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
