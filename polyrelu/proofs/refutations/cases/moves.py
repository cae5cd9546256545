"""Other networks with the same function, by neurons whose sign a tree of cases proves.

Candidates come from sample points or from a search for ridges. Random ways down the tree say which
of them are false, and which of the others need the smallest trees; these are tried first.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from polyrelu.errors import NetworkError
from polyrelu.exact import Polyhedron, format_integer
from polyrelu.network import Network
from polyrelu.proofs.refutations.cases.leaf import Leaf
from polyrelu.proofs.refutations.cases.scope import Scope
from polyrelu.proofs.refutations.cases.tree import CaseSearch, CaseTree, Split
from polyrelu.proofs.refutations.moves import Move
from polyrelu.proofs.refutations.one_sided import alternatives_of
from polyrelu.proofs.refutations.sampled_candidates import OneSidedCandidate
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.prices import price_of_samples
from polyrelu.symmetry import first_difference

__all__ = ["THEOREM", "case_moves"]

THEOREM = "one-sided-cases"


@dataclass(frozen=True, slots=True)
class CaseMoveSettings:
    """Limits of the search for other networks.

    Attributes
    ----------
    max_candidates
        Maximum number of candidates that are looked at.
    max_neurons
        Maximum number of neurons that matter for a candidate.
    max_entries
        Maximum number of entries of the table of a program in floats.
    num_probes
        Number of random ways down for each candidate.
    max_compared, num_further_probes
        Number of promising candidates for which there are further ways down, and their number.
    share_for_probes
        Share of the work for these.
    share_of_tree
        Share of the work that is left for the tree of one candidate.
    max_bytes
        Maximum length of the numbers in a tree, in digits.
    """

    max_candidates: int = 200
    max_neurons: int = 600
    max_entries: int = 2_000_000
    num_probes: int = 4
    max_compared: int = 6
    num_further_probes: int = 20
    share_for_probes: float = 0.25
    share_of_tree: float = 0.6
    max_bytes: int = 40_000_000


SETTINGS = CaseMoveSettings()


def case_moves(
    network: Network,
    candidates: Iterable[OneSidedCandidate],
    budget: Budget,
    seed: int = 0,
    domain: Polyhedron | None = None,
) -> Iterator[Move]:
    """Yield networks with the same function on the domain that are not related to a plain stack.

    Candidates with a guard are tried if they say that a neuron is inactive. The budget may end the
    search.

    >>> from polyrelu.network import NeuronId, from_arrays
    >>> net = from_arrays([([[1], [-1]], [-1, -1]), ([[2, -1], [-1, 3]], [1, -1]), ([[1, 1]], [0])])
    >>> candidate = OneSidedCandidate(NeuronId(2, 1), -1, NeuronId(1, 0))
    >>> move = next(case_moves(net, [candidate], Budget(1000)))
    >>> move.explanation.partition(", ")[0]
    'neuron 1 of layer 2 is off wherever neuron 0 of layer 1 is on'
    >>> move.evidence["nodes"]
    [{'split': 1}, {'leaf': [['0', [[0, '1'], [3, '1']], []]]}, {'leaf': [['1', [[0, '1']], []]]}]
    """
    if not network.is_plain or network.depth < 3:
        return
    rng = Random(seed)
    with contextlib.suppress(WorkLimit):
        for scope in _promising(network, candidates, budget, rng, domain):
            tree = _tree(scope, budget)
            if tree is not None:
                yield from _moves(scope, tree, rng)


def _promising(
    network: Network,
    candidates: Iterable[OneSidedCandidate],
    budget: Budget,
    rng: Random,
    domain: Polyhedron | None,
) -> list[Scope]:
    """Return the candidates that no way down contradicts, those with the smallest trees first."""
    chosen = (c for c in candidates if c.neuron.layer > 1 and (c.sign < 0 or c.guard is None))
    probing = budget.trial(SETTINGS.share_for_probes)
    looked_at = itertools.islice(chosen, SETTINGS.max_candidates)
    scopes = _scopes(network, looked_at, probing, domain)
    found = _by_size(scopes, SETTINGS.num_probes, probing, rng)
    compared = found[: SETTINGS.max_compared]
    return _by_size(compared, SETTINGS.num_further_probes, probing, rng) or compared


def _scopes(
    network: Network,
    candidates: Iterable[OneSidedCandidate],
    budget: Budget,
    domain: Polyhedron | None,
) -> Iterator[Scope]:
    """Yield what matters for candidates, where it is not too much."""
    for candidate in candidates:
        budget.spend(price_of_samples(network.num_parameters) / SETTINGS.max_candidates)
        scope = Scope.of(network, candidate, domain)
        if _is_small(scope) and scope.has_ordinary_numbers:
            yield scope


def _by_size(scopes: Iterable[Scope], num_probes: int, budget: Budget, rng: Random) -> list[Scope]:
    """Return the candidates that no way down contradicts, in the order of the sizes of trees."""
    found = list[tuple[float, int, Scope]]()
    with contextlib.suppress(WorkLimit):
        for scope in scopes:
            size = CaseSearch(scope, budget).estimate(rng, num_probes)
            if size is not None:
                found.append((size, len(found), scope))
    return [scope for *_, scope in sorted(found, key=lambda entry: entry[:2])]


def _is_small(scope: Scope) -> bool:
    """Return whether programs about a candidate have a size that floats can solve often."""
    inputs = len(scope.inputs) if scope.domain is None else scope.network.num_inputs
    count = scope.num_neurons
    is_short = count <= SETTINGS.max_neurons
    return is_short and 2 * count * (2 * count + inputs) <= SETTINGS.max_entries


def _tree(scope: Scope, budget: Budget) -> CaseTree | None:
    """Return a tree for a candidate within a share of the work that is left, or None."""
    try:
        return CaseSearch(scope, budget.trial(SETTINGS.share_of_tree)).tree()
    except WorkLimit:
        return None


def _moves(scope: Scope, tree: CaseTree, rng: Random) -> Iterator[Move]:
    """Yield the networks that differ by what a tree allows, with the tree as evidence."""
    neuron, sign, guard = scope.candidate
    nodes = list(_nodes(scope, tree))
    evidence: dict[str, object] = {
        "layer": neuron.layer,
        "source": [] if guard is None else [guard.index],
        "signs": [[neuron.index, "+" if sign > 0 else "-"]],
        "nodes": nodes,
    }
    if sum(len(str(node)) for node in nodes) > SETTINGS.max_bytes:
        return
    alternatives = alternatives_of(scope.network, scope.candidate, rng, scope.domain)
    with contextlib.suppress(NetworkError):  # too long numbers in the other network
        for explanation, other in alternatives:
            difference = first_difference(scope.network, other)
            if difference is not None:
                yield Move(THEOREM, evidence, other, difference, explanation)


def _nodes(scope: Scope, tree: CaseTree) -> Iterator[dict[str, object]]:
    """Yield the nodes of FORMAT.md §3.3 in prefix order."""
    widths = scope.network.widths
    starts = list(accumulate(widths[1:], initial=0))
    numbers = [starts[j] + index for j, rows in enumerate(scope.layers) for index in rows.indices]
    count = starts[len(scope.layers)]
    waiting: list[CaseTree] = [tree]
    while waiting:
        case = waiting.pop()
        if isinstance(case, Split):
            yield {"split": numbers[case.neuron]}
            waiting += [case.inactive, case.active]
        else:
            yield {"leaf": [_record(case, numbers, count)]}


def _record(leaf: Leaf, numbers: list[int], count: int) -> list[object]:
    """Return the proof of a case as the file lists it, by the numbers of facts."""
    places = {"sign": 0, "relu": 1, "upper": 2}
    facts = [
        (3 * count + k if kind == "wall" else 3 * numbers[k] + places[kind], factor)
        for kind, multiples in leaf.multiples.items()
        for k, factor in multiples.items()
        if factor
    ]
    listed = sorted(numbers[k] for k in leaf.active)
    entries = [[number, format_integer(factor)] for number, factor in sorted(facts)]
    return [format_integer(leaf.scale), entries, listed]
