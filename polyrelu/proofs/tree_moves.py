"""Other networks with the same function whose equality is proved by a split tree.

A neuron that seems to have one sign, everywhere or wherever another one is active, may have it for
a reason that no linear program shows (`refutations.one_sided`). In small networks a split tree
visits all cases: the network with the changed weight is compared with the given one by the prover
of `equivalence`, and the tree is the evidence of theorem `tree-equal` (FORMAT.md §3.3).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from polyrelu.certificate import TreeCertificate
from polyrelu.errors import NetworkError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from polyrelu.outcomes import Equivalent
from polyrelu.proofs.equivalence.prover import equivalent_within
from polyrelu.proofs.refutations.moves import Move
from polyrelu.proofs.refutations.one_sided import alternatives_of
from polyrelu.proofs.refutations.sampled_candidates import OneSidedCandidate
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.symmetry import first_difference

__all__ = ["THEOREM", "is_small", "tree_moves"]

THEOREM = "tree-equal"


@dataclass(frozen=True, slots=True)
class TreeMoveSettings:
    """Limits of the search.

    Attributes
    ----------
    max_inputs
        Maximum number of inputs.
    max_neurons
        Maximum number of hidden neurons.
    max_candidates
        Maximum number of candidates that are tried.
    share_of_candidate
        Share of the work that is left for a candidate.
    max_nodes
        Maximum number of nodes of a tree.
    max_bytes
        Maximum number of bytes of the nodes of a tree.
    """

    max_inputs: int = 8
    max_neurons: int = 128
    max_candidates: int = 64
    share_of_candidate: float = 1 / 4
    max_nodes: int = 5_000
    max_bytes: int = 4_000_000


SETTINGS = TreeMoveSettings()


def is_small(network: Network) -> bool:
    """Return whether split trees are tried for a network.

    >>> from polyrelu.network import from_arrays
    >>> is_small(from_arrays([([[1]], [0]), ([[1]], [0])]))
    True
    """
    hidden = sum(network.widths[1 : 1 + network.num_hidden_layers])
    return (
        network.is_plain
        and network.depth >= 2
        and network.num_inputs <= SETTINGS.max_inputs
        and hidden <= SETTINGS.max_neurons
    )


def tree_moves(
    network: Network,
    candidates: Iterable[OneSidedCandidate],
    budget: Budget,
    seed: int = 0,
    domain: Polyhedron | None = None,
) -> Iterator[Move]:
    """Yield networks with the same function on the domain that are not related to a plain stack.

    Candidates with a guard are tried if they say that a neuron is off. The budget may end the
    search.

    >>> from polyrelu.network import NeuronId, from_arrays
    >>> net = from_arrays([([[1], [-1]], [-1, -1]), ([[2, -1], [-1, 3]], [1, -1]), ([[1, 1]], [0])])
    >>> candidate = OneSidedCandidate(NeuronId(2, 1), -1, NeuronId(1, 0))
    >>> move = next(tree_moves(net, [candidate], Budget(1000)))
    >>> move.explanation.partition(", ")[0]
    'neuron 1 of layer 2 is off wherever neuron 0 of layer 1 is on'
    >>> len(move.evidence["nodes"]), move.other([3]) == net([3])
    (3, True)
    """
    if not is_small(network):
        return
    rng = Random(seed)
    chosen = (c for c in candidates if c.sign < 0 or c.guard is None)
    for candidate in itertools.islice(chosen, SETTINGS.max_candidates):
        try:
            explanation, other = next(alternatives_of(network, candidate, rng, domain))
        except NetworkError:  # too long numbers in the other network
            continue
        difference = first_difference(network, other)
        if difference is None:
            continue
        if not budget.has_work:
            return
        evidence = _evidence(network, other, budget, seed, domain)
        if evidence is not None:
            yield Move(THEOREM, evidence, other, difference, explanation)


def _evidence(
    network: Network, other: Network, budget: Budget, seed: int, domain: Polyhedron | None
) -> dict[str, object] | None:
    """Return a tree that proves two networks equal, if one is found that a certificate may hold."""
    try:
        trial = budget.trial(SETTINGS.share_of_candidate)
        answer = equivalent_within(network, other, domain, seed, SETTINGS.max_nodes, trial)
    except WorkLimit:
        return None
    if not isinstance(answer, Equivalent) or not isinstance(answer.certificate, TreeCertificate):
        return None
    if answer.certificate.log.size > SETTINGS.max_bytes:
        return None
    return answer.certificate.evidence()
