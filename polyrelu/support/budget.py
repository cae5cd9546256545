"""Limits of time and memory, and Ctrl-C, for long searches.

A search calls `Budget.check` between two of its steps, so that it stops in a consistent state and
can report what it has found. `LimitReached` is a control flow, not an error: the search answers
"undecided".
"""

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
    """Raised when a search has to stop; the message is a sentence that says why."""


class CertificateLimit(LimitReached):
    """Raised when a proof exists but exceeds the limits of certificate files."""


class Budget:
    """The time and memory that a search may use.

    Parameters
    ----------
    seconds
        Time from now on; None for no limit.
    megabytes
        Resident memory of the whole process, in units of 2^20 bytes; None for no limit.
    interrupt
        Record of Ctrl-C, which stops the search as a limit does.

    Examples
    --------
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
        """Return a budget for an attempt that may fail: a share of the time that is left.

        Parameters
        ----------
        share
            Part of the remaining time, between 0 and 1; the memory limit stays.

        Returns
        -------
        Budget
            The new budget, counted from now on.
        """
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
    """Bytes of resident memory now; on systems without /proc, the largest number so far."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
