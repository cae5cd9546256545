"""What to try after a question about injectivity that reached a limit."""

from __future__ import annotations

from polyrelu.outcomes import NextStep
from polyrelu.support.budget import Budget

__all__ = ["after_limit"]

#: Factor between a limit that was reached and the next one.
_FACTOR = 10


def after_limit(budget: Budget) -> tuple[NextStep, ...]:
    """Return the step with larger limits, if there are limits.

    >>> print(*after_limit(Budget(200)))
    allow 2000 units of work: polyrelu.injective(net, domain, budget=2000)
    """
    texts, arguments, options = [], "", list[str]()
    for name, limit, unit in (
        ("budget", budget.total_work, "units of work"),
        ("time_limit", budget.seconds, "s"),
        ("memory_limit", budget.megabytes, "MiB"),
    ):
        if limit is not None and limit != float("inf"):
            more = f"{max(_FACTOR * limit, 60):.15g}"
            texts.append(f"{more} {unit}")
            arguments += f", {name}={more}"
            options += [f"--{name.replace('_', '-')}", more]
    if not texts:
        return ()
    return (
        NextStep(
            f"allow {' and '.join(texts)}",
            f"polyrelu.injective(net, domain{arguments})",
            ("injective", "NET", *options),
        ),
    )
