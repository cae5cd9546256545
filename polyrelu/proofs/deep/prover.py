"""Theorem D: the prover for deep networks among regular or transversal competitors.

The theorem is about plain stacks with an affine output, at least one hidden layer and n_0 ≥ 2. Its
hypotheses are statements about finitely many *ridges*, on which two neurons vanish; `hypotheses`
has them in full. The prover walks along bent hyperplanes to find ridges (`search`), selects few of
them (`selection`) and lists these in a certificate (`evidence`). Statement and proof:
docs/theory/deep.md.

The competitors are the *transversal* parameters (FORMAT.md §3.1): a cell of codimension k has
exactly k zeros, and no masked product vanishes. All parameters except a set of measure zero are
transversal, whatever the widths. If f is not constant around the ridges, the theorem holds for the
larger class of *regular* parameters, which restricts cells of codimensions 0 and 1 only. It
contains the parameters that Phuong and Lampert (2020) call general.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from polyrelu.certificate import Hypothesis, PartClaim
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, NeuronId
from polyrelu.outcomes import Attempt
from polyrelu.proofs.deep.evidence import evidence
from polyrelu.proofs.deep.families import Families
from polyrelu.proofs.deep.hypotheses import DeepHypotheses, Missing, evaluate, neuron_name
from polyrelu.proofs.deep.ridges import Competitors, Ridge
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.deep.selection import select_ridges
from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.proofs.deep.walk_tasks import walk
from polyrelu.proofs.membership import deep_membership, sparse_membership
from polyrelu.support.budget import BudgetLike
from polyrelu.support.parallel import Checkpoint, Execution, TaskStream, Workers
from polyrelu.version import __version__

__all__ = [
    "PART",
    "THEOREM",
    "BeforeWalk",
    "check_checkpoint",
    "extend_to_regular",
    "obstruction",
    "part_of",
    "prove",
    "prove_part",
    "prove_search",
    "run_search",
    "theorem_of",
]

#: The names of Theorem D and of Theorem D in part in certificates.
THEOREM, PART = "deep", "deep-part"

#: The same for sparse competitors.
_SPARSE_THEOREM, _SPARSE_PART = "deep-sparse", "deep-sparse-part"

#: Called before each walk with the search, which ends if the answer is False.
BeforeWalk: TypeAlias = Callable[[DeepSearch], bool]


def theorem_of(among: Competitors) -> str:
    """Return the name of Theorem D for a class of competitors."""
    return _SPARSE_THEOREM if among == "sparse" else THEOREM


def part_of(among: Competitors) -> str:
    """Return the name of Theorem D in part for a class of competitors."""
    return _SPARSE_PART if among == "sparse" else PART


def prove(network: Network, seed: int = 0, budget: BudgetLike = None) -> list[Hypothesis] | Attempt:
    """Search for ridges and prove the hypotheses of Theorem D.

    Parameters
    ----------
    network
        A plain stack with an affine output, at least one hidden layer and n_0 ≥ 2.
    seed
        Seed of the search. It determines the sequence of ridges that the search finds; the budget
        determines where this sequence ends.
    budget
        Units of work, or a `Budget`; None for no limit: the search ends when it is idle, which may
        take very long.

    Returns
    -------
    list of Hypothesis or Attempt
        The hypotheses with evidence, or what was not found.

    Raises
    ------
    DomainError
        Theorem D is not about this network.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2])
    >>> hypotheses = prove(from_arrays([first, second, ([[1, 2]], [0])]), budget=1000)
    >>> [hypothesis.id for hypothesis in hypotheses]
    ['ridges', 'families', 'signs', 'weights', 'membership']
    """
    return prove_search(run_search(network, seed, budget))


def run_search(
    network: Network,
    seed: int = 0,
    budget: BudgetLike = None,
    checkpoint: str | Path | None = None,
    before_walk: BeforeWalk | None = None,
    among: Competitors = "transversal",
    domain: Polyhedron | None = None,
    workers: Workers | None = None,
) -> DeepSearch:
    """Search for ridges, unless an obstruction shows that the hypotheses fail.

    Parameters
    ----------
    network, seed
        As for `prove`.
    budget
        Units of work, or a `Budget`; None for no limit.
    checkpoint
        A file that keeps the walks, whatever ends the search. Walks in it are not made again, so
        that another call, also with a larger budget, soon is where this one ended.
    before_walk
        Called before each walk with the search, which ends if the answer is False.
    among
        The class of competitors, which decides what ridges are good.
    domain
        The domain on whose interior competitors agree; None for R^n.
    workers
        Who makes the walks; None for this process.

    Returns
    -------
    DeepSearch
        The search, with the ridges that it met; they depend neither on the workers nor on the file.
    """
    search = DeepSearch(network, seed, among, domain)
    if obstruction(network, among) is None:
        with _walks(search, workers, checkpoint) as stream:
            search.run(budget, may_walk=_asking(search, before_walk), stream=stream)
    return search


@contextmanager
def _walks(
    search: DeepSearch, workers: Workers | None, checkpoint: str | Path | None
) -> Iterator[TaskStream]:
    """Open the stream of the walks of a search for the time of a block."""
    entries = _entries(search.network, search.seed, search.domain)
    with Execution.opened(workers, checkpoint, entries) as execution:
        context = search.context
        with execution.stream(walk, context, context.among) as stream:
            yield stream


def check_checkpoint(
    checkpoint: str | Path, network: Network, seed: int, domain: Polyhedron | None
) -> None:
    """Refuse a file, if it is there, that does not keep the walks of such a search.

    Parameters
    ----------
    checkpoint, network, seed, domain
        As for `run_search`.

    Raises
    ------
    DomainError
        The file is no checkpoint of this version, or one of another question.
    PolyreluError
        The file cannot be opened, or another process uses it.
    """
    if os.path.exists(checkpoint):
        Checkpoint(checkpoint, _entries(network, seed, domain)).close()


def _entries(network: Network, seed: int, domain: Polyhedron | None) -> dict[str, str]:
    """Return what a checkpoint compares; it serves all classes of competitors."""
    return {
        "question": "ridges",
        "version": __version__,
        "network": network.sha256,
        "domain": "R^n" if domain is None else domain.sha256,
        "seed": str(seed),
    }


def _asking(search: DeepSearch, before_walk: BeforeWalk | None) -> Callable[[], bool] | None:
    """Return the function that calls `before_walk` with a search."""
    return None if before_walk is None else lambda: before_walk(search)


def extend_to_regular(
    search: DeepSearch,
    budget: BudgetLike,
    before_walk: BeforeWalk | None = None,
    workers: Workers | None = None,
    checkpoint: str | Path | None = None,
) -> DeepSearch:
    """Continue a search that is enough for transversal competitors for regular ones.

    Parameters
    ----------
    search
        The search.
    budget
        Units of work for the additional walks, or a `Budget`; None for no limit.
    before_walk
        Called before each of them with the given search; they end if the answer is False.
    workers, checkpoint
        As for `run_search`.

    Returns
    -------
    DeepSearch
        A search that is enough for regular competitors, or the given one.
    """
    if search.deep_network.among != "transversal" or not search.hypotheses.hold:
        return search
    regular = search.among_regular()
    may_walk = _asking(search, before_walk)
    with _walks(regular, workers, checkpoint) as stream:
        hypotheses = regular.run(budget, SETTINGS.regular_rounds, may_walk, stream)
    return regular if hypotheses.hold else search


def prove_search(
    search: DeepSearch, check: Callable[[], None] | None = None
) -> list[Hypothesis] | Attempt:
    """Return the hypotheses with evidence from the ridges of a search, or what is missing.

    `check` is called again and again while ridges are selected; it may raise an exception.
    """
    name = theorem_of(search.deep_network.among)
    reason = obstruction(search.network, search.deep_network.among)
    if reason is not None:
        return Attempt(name, reason)
    if not search.hypotheses.hold:
        return _not_found(search)
    size, layers = search.deep_network.size, search.network.depth - 1
    try:
        return _evidence(
            search, name, range(size), layers, _checked(lambda found: found.hold, check)
        )
    except _OutsideError as error:
        return prove_search(search.without(error.ridges), check)


class _OutsideError(Exception):
    """Ridges of a search that are not inside its domain, though floats said so."""

    def __init__(self, ridges: Collection[Ridge]) -> None:
        self.ridges = ridges


def _checked(
    is_enough: Callable[[DeepHypotheses], bool], check: Callable[[], None] | None
) -> Callable[[DeepHypotheses], bool]:
    """Return a decision about hypotheses that calls `check` first."""

    def decide(found: DeepHypotheses) -> bool:
        """Call `check`, which may raise, before the decision."""
        if check is not None:
            check()
        return is_enough(found)

    return decide


def prove_part(
    search: DeepSearch, check: Callable[[], None] | None = None
) -> tuple[PartClaim, list[Hypothesis]] | None:
    """Return what the theorem proves in part, with evidence; None if that is nothing.

    `check` is as for `prove_search`.
    """
    determined = search.hypotheses.determined
    among = search.deep_network.among
    if not determined.num_layers or obstruction(search.network, among) is not None:
        return None

    def is_enough(other: DeepHypotheses) -> bool:
        """Return whether fewer ridges determine what all ridges determine."""
        if not determined.neurons:
            return other.determined.num_layers >= determined.num_layers
        # with other neurons than the claim has, the signs may rest on these other neurons
        return other.determined == determined

    start = search.deep_network.starts[determined.num_layers]
    neurons = [*range(start), *(start + i for i in determined.neurons)]
    claim = PartClaim(
        search.network,
        determined.num_layers,
        determined.neurons,
        among=among,
        domain=search.domain,
    )
    try:
        return claim, _evidence(
            search, part_of(among), neurons, determined.num_layers, _checked(is_enough, check)
        )
    except _OutsideError as error:
        return prove_part(search.without(error.ridges), check)


def _evidence(
    search: DeepSearch,
    theorem: str,
    neurons: Collection[int],
    layers: int,
    is_enough: Callable[[DeepHypotheses], bool],
) -> list[Hypothesis]:
    """Select ridges for a claim, check that their planes meet them, and list them."""
    network = search.deep_network
    selected = select_ridges(network, list(search.ridges), search.hypotheses, neurons, is_enough)
    for ridge in selected:
        if not (search.has_its_type(ridge) and search.is_met_by_its_plane(ridge)):
            raise DomainError(
                "the checkpoint shows a ridge that is not there; delete it and search again"
            )
    outside = search.outside_domain(selected)
    if outside:
        raise _OutsideError(outside)
    ridges = {ridge: search.ridges[ridge] for ridge in selected}
    hypotheses = evaluate(network, selected, Families(network, selected))
    membership = sparse_membership if network.among == "sparse" else deep_membership
    evidence_of = evidence(network, search.planes, ridges, hypotheses, neurons, layers)
    return [
        *(Hypothesis(theorem, name, entry) for name, entry in evidence_of.items()),
        Hypothesis(theorem, "membership", membership(search.network)),
    ]


def obstruction(network: Network, among: Competitors = "transversal") -> str | None:
    """Return a reason why the hypotheses fail whatever ridges there are; None if none is known."""
    for layer in range(1, network.depth):
        signs = network.weight(layer).signs()
        if layer > 1 and among != "sparse" and not signs.all():
            i, h = (int(indices[0]) for indices in (signs == 0).nonzero())
            neuron, other = neuron_name(NeuronId(layer, i)), neuron_name(NeuronId(layer - 1, h))
            return f"weights: the weight of {neuron} on {other} is 0"
        if layer < network.depth - 1 and network.widths[layer] == 1:
            return f"families: layer {layer} has one neuron, and later layers no ridges with it"
    return None


def _not_found(search: DeepSearch) -> Attempt:
    """Return the attempt that names what is missing, one part of each kind, and lists all parts.

    The kinds come in the order in which the search needs them, each with the number of its parts.
    """
    missing, counts = search.hypotheses.missing, Counter(e.kind for e in search.hypotheses.missing)
    first = {entry.kind: entry for entry in reversed(missing)}
    kinds = list(dict.fromkeys(entry.kind for entry in missing))
    named = [_with_count(first[kind], counts[kind]) for kind in kinds[: SETTINGS.named_missing]]
    end = ", and the last walks met no new one" if search.is_idle else ""
    names = ", neurons as (layer, index)" if any(e.neuron_id for e in first.values()) else ""
    reason = f"not found, with {len(search.ridges)} ridges{end}{names}: {'; '.join(named)}"
    return Attempt(theorem_of(search.deep_network.among), reason, tuple(map(str, missing)))


def _with_count(entry: Missing, count: int) -> str:
    """Return a missing part in words, with the number of parts of its kind if there are more."""
    return f"{entry} (one of {count} of this kind)" if count > 1 else str(entry)
