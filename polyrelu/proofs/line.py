"""Two hidden layers, the first of width one: identifiability among all parameters.

The function depends on one variable only, and its breakpoints on that line determine the
parameters. The sign pattern of Theorem 5 of the three-layer paper (arXiv 2605.18319) is not enough
here: for n_1 = 1, σ(1 - σ(x)) = 1 - σ(1 - σ(1 - x)) although no neuron is dead, linear or hidden.
Statement and proof: docs/theory/line.md.

**Theorem.** Write A = W[2], a = b[2], V = W[3]. Let L = 3, n_1 = 1 and W[1] ≠ 0. Suppose that
A_i a_i < 0 for every second-layer neuron i, that the quotients a_i/A_i are pairwise different, that
both signs of A_i occur, and that no nonempty S has Σ_{i∈S} V_i A_i = 0. Then every parameter of the
architecture with the same function on R^n is related to θ.
"""

from __future__ import annotations

from fractions import Fraction

from polyrelu.certificate import Hypothesis
from polyrelu.network import Network
from polyrelu.outcomes import Attempt
from polyrelu.proofs.shallow.vanishing_sums import no_vanishing_sum
from polyrelu.support.budget import Budget

__all__ = ["THEOREM", "prove"]

#: The name of the theorem in certificates.
THEOREM = "line"


def prove(network: Network, budget: Budget | None = None) -> list[Hypothesis] | Attempt:
    """Return the hypotheses with evidence, or why the theorem does not apply.

    A `LimitReached` says that the budget ended the comparison of all sums.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1]], [0]), ([[1], [-1]], [-1, 2]), ([[1, 2]], [0])])
    >>> [h.id for h in prove(net)]
    ['direction', 'bends', 'unique']
    """
    if network.weight(1).is_zero():
        return Attempt(THEOREM, "direction: W[1] = 0")
    rows = network.layers[1].augmented().rows()
    failure = _failure_of_bends([(a, b) for a, b in rows])
    if failure is not None:
        return Attempt(THEOREM, f"bends: {failure}")
    evidence = no_vanishing_sum(THEOREM, network, 2, budget)
    if isinstance(evidence, Attempt):
        return evidence
    return [
        Hypothesis(THEOREM, "direction"),
        Hypothesis(THEOREM, "bends"),
        Hypothesis(THEOREM, "unique", evidence),
    ]


def _failure_of_bends(rows: list[tuple[Fraction, Fraction]]) -> str | None:
    """Why the breakpoints of the rows (A_i, a_i) do not satisfy the hypotheses; None if they do."""
    for i, (a, b) in enumerate(rows):
        if a * b >= 0:
            return f"second-layer neuron {i} has no breakpoint inside the image"
    if len({b / a for a, b in rows}) < len(rows):
        return "two second-layer neurons bend at the same place"
    if len({a > 0 for a, _ in rows}) < 2:
        return "all second-layer neurons have the same orientation"
    return None
