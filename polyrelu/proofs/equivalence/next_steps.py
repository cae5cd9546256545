"""What to try after a comparison of two networks that reached a limit."""

from __future__ import annotations

from polyrelu.outcomes import NextStep
from polyrelu.support.budget import Budget

__all__ = ["after_limit"]

#: Factor between a limit that was reached and the next one.
_FACTOR = 10


def after_limit(budget: Budget, num_inputs: int, is_whole_space: bool) -> tuple[NextStep, ...]:
    """Return the steps after a comparison of two networks that reached a limit of a budget."""
    domain = "" if is_whole_space else ", domain"
    texts, arguments, options = [], "", list[str]()
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
    found = []
    if texts:
        found.append(
            NextStep(
                f"allow {' and '.join(texts)}",
                f"polyrelu.equivalent(net, other{domain}{arguments})",
                ("equivalent", "NET", "OTHER", *options),
            )
        )
    if is_whole_space:
        box = f"polyrelu.Polyhedron.box([-1] * {num_inputs}, [1] * {num_inputs})"
        found.append(
            NextStep(
                "compare them on a box",
                f"polyrelu.equivalent(net, other, {box}{arguments})",
                ("equivalent", "NET", "OTHER", "--domain", "box:-1,1", *options),
            )
        )
    return tuple(found)
