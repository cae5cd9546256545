"""One hidden layer: identifiability among all parameters of the architecture.

The theorem is an equivalence, but its last condition is a subset-sum problem, which is NP-hard. The
work is bounded: beyond 40 dependent neurons, or 2^16 assignments, the answer is open. Statement and
proof: docs/theory/shallow.md.

**Theorem.** Let f(x) = V σ(W x + b) + c with every w_i ≠ 0, every v_i ≠ 0, no two rows [w_i | b_i]
positive multiples of each other, and C_k ≠ 0 on every hyperplane that carries two neurons. Then θ
is identifiable on R^n among all parameters iff the linear parts of the hyperplanes with two neurons
are independent and no other assignment of neurons to hyperplanes gives the same linear part. If no
hyperplane carries two neurons, this says: iff no nonempty S has Σ_{i∈S} v_i w_i = 0. Where one of
the first conditions fails, θ is not identifiable, and `polyrelu.symmetry` constructs another
parameter.
"""

from __future__ import annotations

from typing import Any

from polyrelu.certificate import Hypothesis
from polyrelu.network import Network
from polyrelu.outcomes import Attempt
from polyrelu.proofs.shallow.assignments import (
    can_be_visited,
    has_doubled_hyperplane,
    hyperplanes,
    other_assignment,
    pairs_to_visit,
    why_not_visible,
)
from polyrelu.proofs.shallow.vanishing_sums import no_vanishing_sum
from polyrelu.support.budget import Budget

__all__ = ["THEOREM", "prove"]

#: The name of the theorem in certificates.
THEOREM = "shallow"


def prove(network: Network, budget: Budget | None = None) -> list[Hypothesis] | Attempt:
    """Return the hypotheses with evidence, or why the theorem does not apply.

    A `LimitReached` says that the budget ended the comparison of all sums or the visit of all
    assignments.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> [h.id for h in prove(net)], prove(net)[1].evidence
    (['visible', 'unique'], {'method': 'assignments'})
    """
    failure = why_not_visible(network)
    if failure is not None:
        return Attempt(THEOREM, failure)
    evidence = _unique(network, budget)
    if isinstance(evidence, Attempt):
        return evidence
    return [Hypothesis(THEOREM, "visible"), Hypothesis(THEOREM, "unique", evidence)]


def _unique(network: Network, budget: Budget | None) -> dict[str, Any] | Attempt:
    """Return the evidence that no other assignment to hyperplanes gives the same function."""
    if not has_doubled_hyperplane(network):
        return no_vanishing_sum(THEOREM, network, 1, budget)
    planes = hyperplanes(network)
    if not can_be_visited(network, planes):
        return Attempt(
            THEOREM,
            f"{pairs_to_visit(planes)} assignments of neurons to hyperplanes, beyond the bound",
        )
    if other_assignment(network, planes, budget) is not None:
        return Attempt(
            THEOREM, "another assignment of neurons to the hyperplanes gives the same function"
        )
    return {"method": "assignments"}
