"""Larger limits to propose after a search that reached one."""

from __future__ import annotations

from polyrelu.support.budget import Budget

__all__ = ["larger_limits"]

#: Factor between a limit that was reached and the next one.
_FACTOR = 10


def larger_limits(budget: Budget) -> tuple[list[str], str, list[str]]:
    """Return larger limits of a budget in words, as arguments of a call, and as options.

    >>> larger_limits(Budget(100_000))
    (['1000000 units of work'], ', budget=1000000', ['--budget', '1000000'])
    """
    texts, arguments, options = list[str](), "", list[str]()
    limits = (
        ("budget", budget.total_work, 60_000.0, "units of work"),
        ("time_limit", budget.seconds, 60.0, "s"),
        ("memory_limit", budget.megabytes, 1024.0, "MiB"),
    )
    for name, limit, least, unit in limits:
        if limit is not None:
            more = f"{max(_FACTOR * limit, least):.15g}"
            texts.append(f"{more} {unit}")
            arguments += f", {name}={more}"
            options += [f"--{name.replace('_', '-')}", more]
    return texts, arguments, options
