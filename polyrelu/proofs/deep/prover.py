"""Theorem D: deep networks, competitors that are regular or transversal (statement and proof: docs/theory/deep.md).

**Theorem D** is about plain stacks with an affine output, at least one hidden layer and n_0 ≥ 2. Its hypotheses are
statements about finitely many *ridges*, where two neurons vanish; `deep_points` has them in full. Ridges are looked for
by walks along bent hyperplanes (`deep_search`); few of them are kept (`deep_selection`) and listed (`deep_evidence`).

The competitors are the *transversal* parameters (FORMAT.md §3.1): a cell of codimension k has exactly k zeros, and no
masked product vanishes. All parameters but a set of measure zero are, whatever the widths. If f is not constant around
the ridges, the larger class of *regular* parameters will do, of which codimensions 0 and 1 only are asked; it contains
what Phuong and Lampert (2020) call general.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeAlias

from polyrelu.certificate import Hypothesis, PartClaim
from polyrelu.errors import DomainError
from polyrelu.network import Network, NeuronId
from polyrelu.outcomes import Attempt
from polyrelu.proofs.deep.checkpoint import load_search, save_search
from polyrelu.proofs.deep.evidence import evidence
from polyrelu.proofs.deep.families import Families
from polyrelu.proofs.deep.hypotheses import DeepHypotheses, Missing, evaluate
from polyrelu.proofs.deep.ridges import Competitors
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.deep.selection import few_ridges
from polyrelu.proofs.membership import deep_membership

__all__ = [
    "PART",
    "THEOREM",
    "SearchProgress",
    "extend_to_regular",
    "obstruction",
    "prove",
    "prove_part",
    "prove_search",
    "run_search",
]

THEOREM, PART = "deep", "deep-part"

SearchProgress: TypeAlias = Callable[[DeepSearch], bool]

#: Seconds between two times that a search is written to its file.
_SECONDS_BETWEEN_CHECKPOINTS = 300.0

#: So many rounds of walks, for regular competitors, follow a search that was enough for transversal ones: often these
#: meet the few clear ridges that are missing.
_MORE_ROUNDS = 4

#: So many things that are missing are named.
_NAMED = 3


def prove(
    network: Network, seed: int = 0, time_limit: float | None = None
) -> list[Hypothesis] | Attempt:
    """The hypotheses with evidence, or what was not found in so many seconds.

    Without a limit the search ends when it has met nothing new for long (`DeepSearch.idle`), which may take very long.
    What it meets depends on the seed only, how much of that on the time.

    Raises
    ------
    DomainError : not a plain stack with an affine output, at least one hidden layer, and n_0 ≥ 2.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
    >>> [h.id for h in prove(net, time_limit=60)]
    ['ridges', 'families', 'signs', 'weights', 'membership']
    """
    return prove_search(run_search(network, seed, time_limit))


def run_search(
    network: Network,
    seed: int = 0,
    time_limit: float | None = None,
    checkpoint: str | Path | None = None,
    progress: SearchProgress | None = None,
    among: Competitors = "transversal",
) -> DeepSearch:
    """A search for ridges, of so many seconds; none if it is known that the hypotheses fail.

    Parameters
    ----------
    checkpoint : a file from which the search goes on, if it is there, and in which it is kept in the end, whatever ends it.
    progress : called before each walk; the search ends if it says no.
    among : the class of competitors, which says what ridges are good.
    """
    if checkpoint is None:
        search = DeepSearch(network, seed, among)
        if obstruction(network) is None:
            search.run(time_limit, progress=progress)
        return search
    search = load_search(network, checkpoint, seed, among)
    if obstruction(network) is None:
        try:
            search.run(time_limit, progress=_saving(checkpoint, progress))
        finally:
            save_search(search, checkpoint)
    return search


def _saving(checkpoint: str | Path, progress: SearchProgress | None) -> SearchProgress:
    """Also writes the file from time to time, because not everything that ends a process lets it do so."""
    saved = time.monotonic()

    def reporting(search: DeepSearch) -> bool:
        nonlocal saved
        if time.monotonic() - saved > _SECONDS_BETWEEN_CHECKPOINTS:
            save_search(search, checkpoint)
            saved = time.monotonic()
        return progress is None or progress(search)

    return reporting


def extend_to_regular(
    search: DeepSearch, time_limit: float | None, progress: SearchProgress | None = None
) -> DeepSearch:
    """A search for regular competitors that goes on from a given one, if that is enough for transversal ones and a few
    more walks make it enough for regular ones; otherwise the given search.

    Parameters
    ----------
    time_limit : seconds for these walks.
    progress : called before each of them with the given search, the one that is kept; they end if it says no.
    """
    if search.space.among == "regular" or not search.hypotheses.hold:
        return search
    regular = search.among_regular()
    found = regular.run(
        time_limit, _MORE_ROUNDS, None if progress is None else lambda _: progress(search)
    )
    return regular if found.hold else search


def prove_search(search: DeepSearch) -> list[Hypothesis] | Attempt:
    """The hypotheses with evidence, or what the search has not found."""
    reason = obstruction(search.network)
    if reason is not None:
        return Attempt(THEOREM, reason)
    if not search.hypotheses.hold:
        return _not_found(search)
    layers = search.network.depth - 1
    return _evidence(search, THEOREM, range(search.space.size), layers, lambda found: found.hold)


def prove_part(search: DeepSearch) -> tuple[PartClaim, list[Hypothesis]] | None:
    """What the theorem says in part, with evidence; None if that is nothing."""
    found = search.hypotheses.determined
    if not found.layers or obstruction(search.network) is not None:
        return None

    def is_enough(other: DeepHypotheses) -> bool:
        own = other.determined
        if not found.neurons:
            return own.layers >= found.layers
        return (
            own == found
        )  # with other neurons than those of the claim the signs may rest on these others

    start = search.space.starts[found.layers]
    places = [*range(start), *(start + i for i in found.neurons)]
    claim = PartClaim(search.network, found.layers, found.neurons, among=search.space.among)
    return claim, _evidence(search, PART, places, found.layers, is_enough)


def _evidence(
    search: DeepSearch,
    theorem: str,
    places: Collection[int],
    layers: int,
    enough: Callable[[DeepHypotheses], bool],
) -> list[Hypothesis]:
    space = search.space
    some = few_ridges(space, list(search.ridges), search.hypotheses, places, enough)
    for ridge in some:
        if not search.confirms(ridge):
            raise DomainError(
                "the file of the search shows a ridge that is not there; delete it and search again"
            )
    ridges = {ridge: search.ridges[ridge] for ridge in some}
    found = evidence(
        space, search.planes, ridges, evaluate(space, some, Families(space, some)), places, layers
    )
    return [
        *(Hypothesis(theorem, name, entry) for name, entry in found.items()),
        Hypothesis(theorem, "membership", deep_membership(search.network)),
    ]


def obstruction(network: Network) -> str | None:
    """What makes the hypotheses fail whatever ridges there are."""
    for layer in range(1, network.depth):
        signs = network.weight(layer).signs()
        if layer > 1 and not signs.all():
            i, h = (int(places[0]) for places in (signs == 0).nonzero())
            return f"weights: the weight of {_name(NeuronId(layer, i))} on {_name(NeuronId(layer - 1, h))} is 0"
        if layer < network.depth - 1 and network.widths[layer] == 1:
            return f"families: layer {layer} has one neuron, and later layers no ridges with it"
    return None


def _not_found(search: DeepSearch) -> Attempt:
    """What is missing: shortened, and all of it."""
    missing = search.hypotheses.missing
    named: list[Missing] = []
    for entry in missing:  # one of each sort first
        if all(entry.want != other.want for other in named):
            named.append(entry)
    texts = [str(entry) for entry in named[:_NAMED]]
    rest = len(missing) - len(texts)
    more = f"; and {rest} more" if rest else ""
    end = ", and the last walks met no new one" if search.idle else ""
    reason = f"not found, with {len(search.ridges)} ridges{end}: {'; '.join(texts)}{more}"
    return Attempt(THEOREM, reason, tuple(map(str, missing)))


def _name(neuron: NeuronId) -> str:
    return f"({neuron.layer}, {neuron.index})"
