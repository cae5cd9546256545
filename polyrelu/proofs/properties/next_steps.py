"""What to try after a property was left undecided."""

from __future__ import annotations

from polyrelu.formats import VnnlibQuery
from polyrelu.outcomes import NextStep
from polyrelu.support.budget import Budget

__all__ = ["larger_limits", "next_steps"]

#: Factor between a limit that was reached and the next one.
_FACTOR = 10


def larger_limits(budget: Budget) -> tuple[list[str], str, list[str]]:
    """Return larger limits of a budget in words, as arguments of a call, and as options."""
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


def next_steps(budget: Budget, query: VnnlibQuery) -> tuple[NextStep, ...]:
    """Return the steps after a search that reached a limit of a budget."""
    texts, arguments, options = larger_limits(budget)
    if not texts:
        return ()
    own = [declared.name for declared in query.networks if not declared.equal_to]
    given = "net" if len(own) == 1 else f"{{{own[0]!r}: net, {own[1]!r}: other}}"
    return (
        NextStep(
            f"allow {' and '.join(texts)}",
            f"polyrelu.verify({given}, {query.source!r}{arguments})",
            ("verify", *("NET", "OTHER")[: len(own)], query.source, *options),
        ),
    )
