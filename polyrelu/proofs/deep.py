"""Theorem D: deep networks, competitors that are transversal (statement and proof: proofs/deep.md).

**Theorem D** is about plain stacks with an affine output, at least one hidden layer and n_0 ≥ 2. Its hypotheses are
statements about finitely many *ridges*, where two neurons vanish; `deep_points` has them in full. Ridges are looked for
by walks along bent hyperplanes (`deep_search`); few of them are kept (`deep_selection`) and listed (`deep_evidence`).

The competitors are the *transversal* parameters (FORMAT.md §3.1): a cell of codimension k has exactly k zeros, and no
masked product vanishes. All parameters but a set of measure zero are, whatever the widths.
"""

from __future__ import annotations

from collections import Counter

from polyrelu.certificate import Hypothesis
from polyrelu.network import Network, NeuronId
from polyrelu.proofs.deep_evidence import evidence
from polyrelu.proofs.deep_families import Families
from polyrelu.proofs.deep_points import DeepHypotheses, Missing, evaluate
from polyrelu.proofs.deep_search import DeepSearch
from polyrelu.proofs.deep_selection import few_ridges
from polyrelu.proofs.membership import transversal_membership
from polyrelu.proofs.outcome import Attempt

__all__ = ["THEOREM", "prove"]

THEOREM = "deep"

#: So many things that are missing are named.
_NAMED = 3


def prove(network: Network, seed: int = 0, time_limit: float | None = None) -> list[Hypothesis] | Attempt:
    """The hypotheses with evidence, or what was not found in so many seconds.

    Without a limit the search may not end. What it finds depends on the seed only.

    Raises
    ------
    DomainError : not a plain stack with an affine output, at least one hidden layer, and n_0 ≥ 2.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
    >>> [h.id for h in prove(net, time_limit=60)]
    ['ridges', 'families', 'signs', 'weights', 'membership']
    """
    search = DeepSearch(network, seed)
    impossible = _impossible(network)
    if impossible is not None:
        return Attempt(THEOREM, impossible)
    found = search.run(time_limit)
    if not found.hold:
        return Attempt(THEOREM, _not_found(found, len(search.ridges), time_limit))
    return hypotheses(search)


def hypotheses(search: DeepSearch) -> list[Hypothesis]:
    """The hypotheses with evidence, from a search that found that they hold."""
    space, network = search.space, search.network
    some = few_ridges(space, list(search.ridges), search.hypotheses)
    ridges = {ridge: search.ridges[ridge] for ridge in some}
    found = evidence(space, search.planes, ridges, evaluate(space, some, Families(space, some)), range(space.size))
    return [
        *(Hypothesis(THEOREM, name, entry) for name, entry in found.items()),
        Hypothesis(THEOREM, "membership", transversal_membership(network)),
    ]


def _impossible(network: Network) -> str | None:
    """What makes the hypotheses fail whatever ridges there are."""
    for layer in range(1, network.depth):
        signs = network.weight(layer).signs()
        if layer > 1 and not signs.all():
            i, h = (int(places[0]) for places in (signs == 0).nonzero())
            return f"weights: the weight of {_name(NeuronId(layer, i))} on {_name(NeuronId(layer - 1, h))} is 0"
        if layer < network.depth - 1 and network.widths[layer] == 1:
            return f"families: layer {layer} has one neuron, and later layers no ridges with it"
    return None


def _not_found(found: DeepHypotheses, ridges: int, time_limit: float | None) -> str:
    """What is missing, shortened."""
    counts = Counter(missing.want for missing in found.missing)
    named: list[Missing] = []
    for missing in found.missing:  # one of each sort first
        if all(missing.want != other.want for other in named):
            named.append(missing)
    texts = [str(missing) for missing in named[:_NAMED]]
    rest = sum(counts.values()) - len(texts)
    more = f"; and {rest} more" if rest else ""
    limit = "" if time_limit is None else f" in {time_limit:g} s"
    return f"not found{limit}, with {ridges} ridges: {'; '.join(texts)}{more}"


def _name(neuron: NeuronId) -> str:
    return f"({neuron.layer}, {neuron.index})"
