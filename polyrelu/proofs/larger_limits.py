"""Larger limits to propose after a search that reached one."""

from __future__ import annotations

from collections.abc import Collection

from polyrelu.support.budget import Budget

__all__ = ["larger_limits", "limits_after"]

#: Factor between a limit that was reached and the next one.
_FACTOR = 10
#: The arguments of limits, and how the reason of a search that one of them ended begins.
_BEGINS = {
    "budget": "the budget",
    "time_limit": "the time limit",
    "memory_limit": "the memory limit",
}


def larger_limits(budget: Budget) -> tuple[list[str], str, list[str]]:
    """Return larger limits of a budget in words, as arguments of a call, and as options.

    >>> larger_limits(Budget(100_000))
    (['1000000 units of work'], ', budget=1000000', ['--budget', '1000000'])
    """
    return _larger(budget, tuple(_BEGINS))


def limits_after(budget: Budget, reason: str) -> tuple[list[str], str, list[str]]:
    """Return the limit that ended a search, in words `reason`, but larger, as `larger_limits`.

    Nothing is returned if no limit was the reason.

    >>> limits_after(Budget(100_000, seconds=60), "the time limit of 60 seconds was reached")
    (['600 s'], ', time_limit=600', ['--time-limit', '600'])
    """
    names = [name for name, begin in _BEGINS.items() if reason.startswith(begin)]
    return _larger(budget, names)


def _larger(budget: Budget, names: Collection[str]) -> tuple[list[str], str, list[str]]:
    """Return larger limits with some names, as above."""
    texts, arguments, options = list[str](), "", list[str]()
    limits = (
        ("budget", budget.total_work, 60_000.0, "units of work"),
        ("time_limit", budget.seconds, 60.0, "s"),
        ("memory_limit", budget.megabytes, 1024.0, "MiB"),
    )
    for name, limit, least, unit in limits:
        if name not in names:
            continue
        if limit is not None:
            more = f"{max(_FACTOR * limit, least):.15g}"
            texts.append(f"{more} {unit}")
            arguments += f", {name}={more}"
            options += [f"--{name.replace('_', '-')}", more]
    return texts, arguments, options
