"""Proofs for leaky ReLU stacks: theorems `leaky-shallow` and `leaky-chains`."""

from __future__ import annotations

from polyrelu.certificate import Hypothesis
from polyrelu.exact import Polyhedron, format_rational
from polyrelu.network import LeakyStack
from polyrelu.outcomes import Attempt
from polyrelu.proofs.leaky.search import ChainSearch
from polyrelu.proofs.shallow import prover as shallow
from polyrelu.support.budget import Budget

__all__ = ["CHAINS", "SHALLOW", "prove_chains", "prove_shallow"]

#: The names of the theorems in certificates.
SHALLOW, CHAINS = "leaky-shallow", "leaky-chains"
#: Maximum number of hidden layers of a chain.
_MAX_CHAIN = 20


def prove_shallow(
    leaky: LeakyStack, budget: Budget | None = None, domain: Polyhedron | None = None
) -> list[Hypothesis] | Attempt:
    """Return the hypotheses of theorem `leaky-shallow`, or why it does not apply.

    >>> from fractions import Fraction
    >>> from polyrelu.network import from_arrays
    >>> stack = from_arrays([([[1], [2]], [0, 2]), ([[1, 1]], [1])])
    >>> [hypothesis.id for hypothesis in prove_shallow(LeakyStack(Fraction(1, 2), stack))]
    ['visible', 'unique']
    """
    found = shallow.prove(leaky.stack, budget, domain)
    if isinstance(found, Attempt):
        return Attempt(SHALLOW, found.reason)
    return [Hypothesis(SHALLOW, part.id, part.evidence) for part in found]


def prove_chains(
    leaky: LeakyStack, seed: int, budget: Budget, domain: Polyhedron | None = None
) -> list[Hypothesis] | Attempt:
    """Return the hypotheses of theorem `leaky-chains`, or why it does not apply.

    >>> from fractions import Fraction
    >>> from polyrelu.network import from_arrays
    >>> layers = [([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [1, -2]], [-1, 1]), ([[1, 3]], [0])]
    >>> found = prove_chains(LeakyStack(Fraction(1, 2), from_arrays(layers)), 0, Budget())
    >>> [hypothesis.id for hypothesis in found]
    ['rank', 'chains', 'membership']
    """
    stack = leaky.stack
    depth = stack.num_hidden_layers
    if depth > _MAX_CHAIN or depth > stack.num_inputs:
        return Attempt(
            CHAINS,
            f"{depth} hidden layers, more than inputs or than {_MAX_CHAIN}, have no points at "
            "which a neuron of each of them is 0",
        )
    search = ChainSearch(leaky, domain, seed, budget)
    if not search.conditions.has_full_rank():
        return Attempt(
            CHAINS, "the rows of the weights of a hidden layer are dependent (modulo a prime)"
        )
    points = search.points()
    if search.missing is not None:
        layer, neuron = search.missing
        return Attempt(
            CHAINS,
            f"no point was found at which neuron {neuron} of layer {layer} and one neuron of each "
            "other hidden layer are 0, each bends the next one, and all of them bend the outputs",
        )
    texts = [list(map(format_rational, point)) for point in points]
    return [
        Hypothesis(CHAINS, "rank", {"prime": str(search.conditions.prime)}),
        Hypothesis(CHAINS, "chains", {"points": texts}),
        Hypothesis(CHAINS, "membership", {"status": "open"}),
    ]
