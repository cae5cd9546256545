"""What to try after a comparison of two networks that reached a limit."""

from __future__ import annotations

from polyrelu.outcomes import NextStep
from polyrelu.proofs.larger_limits import larger_limits
from polyrelu.support.budget import Budget

__all__ = ["after_limit"]


def after_limit(budget: Budget, num_inputs: int, is_whole_space: bool) -> tuple[NextStep, ...]:
    """Return the steps after a comparison of two networks that reached a limit of a budget."""
    domain = "" if is_whole_space else ", domain"
    texts, arguments, options = larger_limits(budget)
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
