"""What to try after a property was left undecided."""

from __future__ import annotations

from polyrelu.formats import VnnlibQuery
from polyrelu.outcomes import NextStep
from polyrelu.proofs.larger_limits import larger_limits
from polyrelu.support.budget import Budget

__all__ = ["next_steps"]


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
