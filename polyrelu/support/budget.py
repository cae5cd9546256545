"""Budgets of work, limits of time and memory, and Ctrl-C, for long searches.

A search pays for each of its steps with `Budget.spend`. Prices depend on sizes only, never on a
clock, so that a seed and a budget determine the answer on every machine and under any load. The
limits of time and memory are for people who wait: they turn an answer into "undecided", and nothing
else. `LimitReached` is a control flow, not an error.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from polyrelu.errors import ArgumentError
from polyrelu.support.arguments import expect_limit
from polyrelu.support.interrupts import Interrupt

__all__ = [
    "ENDINGS",
    "Budget",
    "BudgetLike",
    "CertificateLimit",
    "Check",
    "LimitReached",
    "WorkLimit",
    "as_budget",
    "no_check",
]

#: What a long step calls now and then: it raises if a limit is reached, as `Budget.check_others`.
Check: TypeAlias = Callable[[], None]

_MIB = 1 << 20

INTERRUPTED = "interrupted"
OUT_OF_MEMORY = "the memory ran out"


class LimitReached(Exception):  # noqa: N818 - not an error: the search answers undecided
    """Raised when a search has to stop; the message is a sentence that says why."""


class CertificateLimit(LimitReached):
    """Raised when a proof exists but exceeds the limits of certificate files."""


class WorkLimit(LimitReached):
    """Raised when a budget of work is used up."""


def no_check() -> None:
    """Let a long step go on: there is no limit."""


#: The exceptions by which a limit or Ctrl-C may end a computation; `Budget.reason_of` tells whether
#: one has. Products of numpy on Python objects go on after a KeyboardInterrupt, which Python then
#: reports as a SystemError.
ENDINGS: tuple[type[BaseException], ...] = (
    LimitReached,
    KeyboardInterrupt,
    MemoryError,
    SystemError,
)


class Budget:
    """The work, time and memory that a computation may use.

    Parameters
    ----------
    work
        Units of work; None for no limit. A unit is about a millisecond on a processor of 2020, and
        each operation has a fixed price: docs/how-to/budgets.md lists the prices.
    seconds
        Time from now on; None for no limit.
    megabytes
        Resident memory of the whole process, in units of 2^20 bytes; None for no limit.
    interrupt
        Record of Ctrl-C, which stops the computation as a limit does.

    Attributes
    ----------
    work, seconds, megabytes
        As given.
    spent
        Units of work that were paid.

    Examples
    --------
    >>> budget = Budget(work=10)
    >>> budget.spend(4)
    >>> budget.spend(7)
    Traceback (most recent call last):
    polyrelu.support.budget.WorkLimit: the budget of 10 units of work was used up
    >>> Budget(seconds=0).check()
    Traceback (most recent call last):
    polyrelu.support.budget.LimitReached: the time limit of 0 seconds was reached
    """

    def __init__(
        self,
        work: float | None = None,
        seconds: float | None = None,
        megabytes: int | None = None,
        interrupt: Interrupt | None = None,
    ) -> None:
        expect_limit(work, "budget")
        expect_limit(seconds, "time_limit")
        expect_limit(megabytes, "memory_limit")
        self.work, self.seconds, self.megabytes = work, seconds, megabytes
        self.spent = 0.0
        self._interrupt = interrupt
        self._started = time.monotonic()
        self._whole: Budget | None = None

    def __repr__(self) -> str:
        limits = (("work", self.work), ("seconds", self.seconds), ("megabytes", self.megabytes))
        given = ", ".join(f"{name}={limit:g}" for name, limit in limits if limit is not None)
        return f"<Budget, {given or 'no limit'}, spent {self.spent:.0f}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return what goes on in another process: limits and work, and the time since the start.

        Ctrl-C is for the process that began the other one.
        """
        now = {"elapsed": time.monotonic() - self._started, "at": time.time()}
        return {**self.__dict__, **now, "_interrupt": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        elapsed, at = state.pop("elapsed"), state.pop("at")
        self.__dict__.update(state)
        self._started = time.monotonic() - elapsed - max(time.time() - at, 0.0)

    def trial(self, share: float) -> Budget:
        """Return a budget for an attempt that may fail: a share of the work that is left.

        What the attempt spends is spent here as well; the other limits are the same ones.

        Parameters
        ----------
        share
            Part of the remaining work, between 0 and 1.
        """
        left = self.work_left
        return self.part(None if left is None else share * left)

    def part(self, work: float | None) -> Budget:
        """Return a budget with work of its own, and the limits of time and memory of this one."""
        part = Budget(work, self.seconds, self.megabytes, self._interrupt)
        part._started, part._whole = self._started, self
        return part

    def apart(self, work: float | None) -> Budget:
        """Return a `part` whose work is not spent here."""
        part = self.part(work)
        part._whole = None
        return part

    def early(self, share: float) -> Budget:
        """Return a part with all of the work, and a share of the limit of time."""
        part = self.part(None)
        part.seconds = None if self.seconds is None else share * self.seconds
        return part

    def with_interrupt(self, interrupt: Interrupt) -> Budget:
        """Return a part with all of the work, which also stops at a recorded Ctrl-C."""
        part = self.part(None)
        part._interrupt = interrupt
        return part

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    @property
    def is_part(self) -> bool:
        """Whether what is spent here is spent in another budget as well."""
        return self._whole is not None

    @property
    def total_work(self) -> float | None:
        """The work of this budget, or of the one that it is a part of."""
        return self._whole.total_work if self.work is None and self._whole else self.work

    @property
    def work_left(self) -> float | None:
        """The work that is left, here and in the budgets that this one is a part of."""
        own = None if self.work is None else max(self.work - self.spent, 0)
        limits = [own, self._whole.work_left if self._whole is not None else None]
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def has_work(self) -> bool:
        """Whether some of the work is left, here and in the budgets that this one is a part of."""
        is_left = self.work is None or self.spent < self.work
        return is_left and (self._whole is None or self._whole.has_work)

    def pay(self, work: float) -> None:
        """Note some work that was done, without a check."""
        self.spent += work
        if self._whole is not None:
            self._whole.pay(work)

    def pays(self, work: float) -> bool:
        """Pay for some work if this much is left and no other limit is reached.

        Returns
        -------
        bool
            Whether it was paid.

        Examples
        --------
        >>> budget = Budget(work=10)
        >>> budget.pays(8), budget.pays(3), budget.work_left
        (True, False, 2.0)
        """
        left = self.work_left
        if (left is not None and left < work) or self.why_stopped() is not None:
            return False
        self.pay(work)
        return True

    def spend(self, work: float) -> None:
        """Pay for some work, and check all limits."""
        self.pay(work)
        self.check()

    def check(self) -> None:
        """Raise `LimitReached` if a limit is reached, `WorkLimit` if the work is used up."""
        self.check_others()
        self.check_work()

    def check_work(self) -> None:
        """Raise `WorkLimit` if the work is used up."""
        if self.work is not None and (self.spent > self.work or self.work == 0):
            raise WorkLimit(f"{self._name()} of work was used up")
        if self._whole is not None:
            self._whole.check_work()

    def _name(self) -> str:
        """Return the limit of work in words; a part names the whole budget, which was given."""
        total = None if self._whole is None else self._whole.total_work
        given, units = self.work if total is None else total, "units"
        share = "the" if given == self.work else f"a share of {self.work:g} of the"
        if given == 1:
            units = "unit"
        return f"{share} budget of {given:g} {units}"

    def check_others(self) -> None:
        """Raise `LimitReached` if a limit of time or memory is reached, or after Ctrl-C."""
        if (why := self.why_stopped()) is not None:
            raise LimitReached(why)

    def check_time(self) -> None:
        """Raise `LimitReached` if the limit of time or memory is reached."""
        if (why := self._why_out_of_time()) is not None:
            raise LimitReached(why)

    def why_stopped(self) -> str | None:
        """Return in words which limit of time or memory is reached, or Ctrl-C; None if none is."""
        if self._interrupt is not None and self._interrupt.is_forced:
            return None
        if (why := self._why_out_of_time()) is not None:
            return why
        return INTERRUPTED if self._interrupt is not None and self._interrupt.requested else None

    def reason_of(self, error: BaseException) -> str | None:
        """Return why a computation ended by an exception, if that was a limit; otherwise None.

        KeyboardInterrupt ends a computation where it does not look at the limits by itself.
        """
        if isinstance(error, LimitReached):
            return str(error)
        if isinstance(error, MemoryError):
            return OUT_OF_MEMORY
        return self.why_stopped() if _is_interrupt(error) else None

    def _total_seconds(self) -> float | None:
        """Return the limit of time that was given to the whole."""
        whole = None if self._whole is None else self._whole._total_seconds()
        return self.seconds if whole is None else whole

    def _why_out_of_time(self) -> str | None:
        if self.seconds is not None and time.monotonic() - self._started >= self.seconds:
            given = self._total_seconds()
            seconds = "second" if given == 1 else "seconds"
            return f"the time limit of {given:g} {seconds} was reached"
        if self.megabytes is not None and resident_memory() >= self.megabytes * _MIB:
            return f"the memory limit of {self.megabytes} MiB was reached"
        return None


def _is_interrupt(error: BaseException) -> bool:
    """Whether an exception is a KeyboardInterrupt, or a SystemError that has come of one."""
    while isinstance(error, SystemError) and error.__cause__ is not None:
        error = error.__cause__
    return isinstance(error, KeyboardInterrupt)


#: A budget, or units of work; None for no limit.
BudgetLike: TypeAlias = Budget | float | None


def as_budget(
    budget: BudgetLike, time_limit: float | None = None, memory_limit: int | None = None
) -> Budget:
    """Return the budget that the arguments of a function describe.

    Examples
    --------
    >>> as_budget(50, time_limit=3)
    <Budget, work=50, seconds=3, spent 0>
    >>> as_budget(Budget(50), time_limit=3)
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: time_limit: give it to the Budget, as Budget(work, seconds)
    """
    if not isinstance(budget, Budget):
        return Budget(budget, time_limit, memory_limit)
    if time_limit is not None:
        raise ArgumentError("time_limit: give it to the Budget, as Budget(work, seconds)")
    if memory_limit is not None:
        raise ArgumentError("memory_limit: give it to the Budget, as Budget(megabytes=…)")
    return budget


def resident_memory() -> int:
    """Return the bytes of resident memory; the largest number so far on systems without /proc."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
