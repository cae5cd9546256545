"""The question whether a network's function determines its parameters: the function `identify`.

`identify` tries the theorems that apply to the architecture, then looks for another network with
the same function, and then searches for ridges (Theorem D), the one step that may take long. The
order of these steps decides which certificate is found first, so a change of the order changes
results.

First come the theorems that need no search. If none proves the claim, moves along the fiber are
tried: another concrete network with the same function refutes it. Then Theorem D is tried for a
limited time; neurons that had one sign only at all ridges it met may refute the claim as well. What
remains is undecided, and is reported with the hypothesis that failed and with what is proved in
part.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from polyrelu.certificate import Among, Certificate, Claim, Hypothesis, PartClaim
from polyrelu.formats import NetworkLike, as_imported
from polyrelu.network import Network, NeuronId
from polyrelu.outcomes import (
    Attempt,
    Identifiable,
    NotIdentifiable,
    Outcome,
    PartlyIdentifiable,
    Undecided,
)
from polyrelu.proofs import bottleneck, line
from polyrelu.proofs.deep import prover as deep
from polyrelu.proofs.deep.one_sided_candidates import one_sided_candidates
from polyrelu.proofs.deep.ridges import Competitors
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.membership import can_be_verified, generic_membership, has_generic_class
from polyrelu.proofs.next_steps import (
    REFUTED_AMONG_ALL,
    Question,
    after_refutation,
    after_skipping,
)
from polyrelu.proofs.provenance import with_sources
from polyrelu.proofs.refutations.fiber_moves import fiber_moves
from polyrelu.proofs.refutations.moves import Move, moves
from polyrelu.proofs.refutations.one_sided import one_sided_moves
from polyrelu.proofs.shallow import prover as shallow
from polyrelu.support.arguments import (
    expect_choice,
    expect_function,
    expect_integer,
    expect_limit,
    expect_path,
)
from polyrelu.support.interrupts import Interrupt, deferred_interrupt
from polyrelu.support.progress import Progress, report
from polyrelu.version import __version__

__all__ = ["NOT_PLAIN", "identify"]

#: The reason why nothing is tried for networks that are no plain stacks.
NOT_PLAIN = (
    "no theorem here covers networks whose layers read more than the layer before (through skip "
    "connections, leaky ReLU, max pooling and the like)"
)

#: Seconds for the search for ridges (Theorem D).
TIME_LIMIT = 60.0

#: The classes of competitors; each contains those after it.
_CLASSES: tuple[Among, ...] = ("all", "regular", "transversal", "generic")

#: Maximum number of other networks whose membership in the generic class is tested.
_MOVE_LIMIT = 64

_NO_MOVE = (
    "none was found by looking, layer by layer, for unused, dead, linear, duplicate, cancelling "
    "and hidden neurons by the signs of their rows and by interval bounds, in the fibers of narrow "
    "layers, and for neurons that linear programs show to have one sign wherever another one is "
    "on; other networks with the same function may exist all the same"
)

#: Tries a theorem: its hypotheses with evidence, or the reason why it does not apply.
_Prover: TypeAlias = Callable[[], list[Hypothesis] | Attempt]


def identify(
    network: NetworkLike,
    *,
    among: Among | None = None,
    seed: int = 0,
    time_limit: float | None = TIME_LIMIT,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Prove or refute that a network is identifiable on R^n.

    A network is identifiable if every competitor with the same function is equal to it up to the
    order of hidden neurons and positive scaling.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes. Networks that are no plain stacks are `Undecided`.
    among
        The class of competitors: ``"all"``, ``"regular"``, ``"transversal"`` or ``"generic"``
        parameters of the architecture (FORMAT.md §3.1). By default the theorems among all and among
        generic parameters are tried, then another network with the same function is looked for,
        then Theorem D is tried among transversal and regular parameters.
    seed
        Seed of the searches for points, shifts and ridges; unless time ends a search (`time_limit`,
        or the 10 seconds of refutations by inequalities), the same seed gives the same
        certificate.
    time_limit
        Seconds for the search for ridges, the one step that may take long; None: until it meets
        nothing new. Ctrl-C ends the search as well, and no other network is looked for afterwards.
        A search that is enough for transversal competitors makes some more walks for regular ones,
        within the limit.
    checkpoint
        A file in which this search is stored, whatever ends it: it continues from the file if the
        file exists.
    progress
        Called with a `polyrelu.support.ProgressStep` before each walk of this search and after the
        last one. The number of walks to come is unknown.

    Returns
    -------
    Identifiable, NotIdentifiable or Undecided
        A proof; another network with the same function; or what was tried, with what could be
        proved in part. A proof among all parameters is also a proof among the parameters of any
        class. A proof among regular parameters is also a proof among transversal ones, and, with
        two hidden layers, a proof among transversal parameters is a proof among generic ones. The
        first proof that is found is returned; name a class to ask for a stronger one.

    Raises
    ------
    NetworkError
        The network cannot be read.
    ArgumentError
        An argument has a wrong type, or lies outside its range.
    PolyreluError
        The checkpoint cannot be read or written.

    Notes
    -----
    Sources: docs/theory/shallow.md and docs/theory/deep.md for one and for several hidden layers;
    docs/theory/bottleneck.md, which extends Theorem 5 of the three-layer paper, arXiv 2605.18319;
    Phuong and Lampert (2020); docs/theory/deep.md says how their theorem and Theorem D are related.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> identify(from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])).status
    'proved'
    >>> identify(from_arrays([([[1], [1]], [0, 0]), ([[1, 1]], [0])])).explanation
    'neurons 0 and 1 of layer 1 have one row up to scale, so they can trade outgoing weights'
    """
    read = as_imported(network)
    _check_arguments(among, seed, time_limit, checkpoint, progress)
    return with_sources(_answer(read.network, among, seed, time_limit, checkpoint, progress), read)


def _answer(
    network: Network,
    among: Among | None,
    seed: int,
    time_limit: float | None,
    checkpoint: str | Path | None,
    progress: Progress | None,
) -> Outcome:
    """Try the theorems that fit the shape of the network, then to refute, then Theorem D."""
    if not network.is_plain:
        return Undecided(NOT_PLAIN, next=after_skipping(network))
    question = Question(
        network, among, seed, time_limit, None if checkpoint is None else str(checkpoint)
    )
    attempts: list[Attempt] = []
    for theorem, competitors, prover in _theorems(network, seed):
        found = _try_theorem(network, among, theorem, competitors, prover)
        if isinstance(found, Identifiable):
            return found
        attempts.append(found)
    refuted = _refute(network, among, seed)
    if isinstance(refuted, NotIdentifiable):
        return refuted
    if not _may_be_deep(network) or not _implies(network, "regular", among):
        tried = (*attempts, refuted)
        return Undecided(_reason(network, attempts), tried, next=question.steps(tried, None))
    with deferred_interrupt() as interrupt:
        before_walk = _reporting(progress, interrupt)
        search = _search_ridges(network, among, seed, time_limit, checkpoint, before_walk)
        competitors = search.deep_network.among
        proof = _try_theorem(
            network, among, deep.THEOREM, competitors, lambda: deep.prove_search(search)
        )
        goes_on = before_walk(search)
    if isinstance(proof, Identifiable):
        return proof
    attempts.append(proof)
    if goes_on:
        late_moves = one_sided_moves(network, one_sided_candidates(search), seed=seed)
        late = _refute_by(network, among, late_moves)
        if isinstance(late, NotIdentifiable):
            return late
    tried = (*attempts, refuted)
    return Undecided(
        _reason(network, attempts),
        tried,
        part=_part(search),
        next=question.steps(tried, search),
    )


def _check_arguments(
    among: object, seed: object, time_limit: object, checkpoint: object, progress: object
) -> None:
    if among is not None:
        expect_choice(among, _CLASSES, "among")
    expect_integer(seed, "seed")
    expect_limit(time_limit, "time_limit")
    if checkpoint is not None:
        expect_path(checkpoint, "checkpoint")
    expect_function(progress, "progress")


def _reporting(progress: Progress | None, interrupt: Interrupt) -> deep.BeforeWalk:
    """Return the function that reports a search, and says whether it goes on."""

    def before_walk(search: DeepSearch) -> bool:
        found = {"ridges": len(search.ridges)}
        report(progress, "searching for ridges", search.walks, None, "walks", found)
        return not interrupt.requested

    return before_walk


def _search_ridges(
    network: Network,
    among: Among | None,
    seed: int,
    time_limit: float | None,
    checkpoint: str | Path | None,
    before_walk: deep.BeforeWalk,
) -> DeepSearch:
    """Search for ridges, and go on for regular competitors where that promises something."""
    wanted: Competitors = "regular" if among == "regular" else "transversal"
    started = time.monotonic()
    search = deep.run_search(network, seed, time_limit, checkpoint, before_walk, wanted)
    left = None if time_limit is None else time_limit - (time.monotonic() - started)
    return deep.extend_to_regular(search, left, before_walk)


def _part(search: DeepSearch) -> PartlyIdentifiable | None:
    """What Theorem D proves in part, among regular competitors if nothing is lost by that."""
    determined = search.hypotheses.determined
    if search.deep_network.among != "regular" and determined.num_layers:
        regular = search.among_regular()
        if regular.hypotheses.determined == determined:
            search = regular
    found = deep.prove_part(search)
    if found is None:
        return None
    claim, hypotheses = found
    return PartlyIdentifiable(_certificate(claim, deep.PART, hypotheses))


def _try_theorem(
    network: Network, among: Among | None, theorem: str, competitors: Among, prover: _Prover
) -> Identifiable | Attempt:
    """Try a theorem, if its class of competitors contains the wanted class."""
    if not _implies(network, competitors, among):
        return Attempt(theorem, f"its competitors are the {competitors} parameters only")
    found = prover()
    if isinstance(found, Attempt):
        return found
    return Identifiable(_certificate(Claim("identifiable", network, competitors), theorem, found))


def _implies(network: Network, competitors: Among, among: Among | None) -> bool:
    """Whether a proof among `competitors` is a proof among the wanted class."""
    if among == "generic" and not has_generic_class(network):
        return competitors in ("all", among)
    return among is None or _CLASSES.index(competitors) <= _CLASSES.index(among)


def _may_be_deep(network: Network) -> bool:
    """Whether Theorem D is tried; the theorem for one hidden layer has weaker hypotheses."""
    return network.last == "affine" and network.depth >= 3 and network.num_inputs >= 2


def _theorems(network: Network, seed: int) -> Iterator[tuple[str, Among, _Prover]]:
    """The theorems for the architecture that need no long search, each with its competitors."""
    if network.last != "affine":
        return
    if network.depth == 1:
        yield "affine", "all", list
    elif network.depth == 2:
        yield shallow.THEOREM, "all", lambda: shallow.prove(network)
    elif network.depth == 3 and network.widths[1] == 1:
        yield line.THEOREM, "all", lambda: line.prove(network)
    elif network.depth == 3:
        yield bottleneck.THEOREM, "generic", lambda: bottleneck.prove(network, seed)


def _refute(network: Network, among: Among | None, seed: int) -> NotIdentifiable | Attempt:
    """Refute by the moves of all kinds; those that take linear programs come only if needed."""
    candidates: Iterator[Move] = itertools.chain(moves(network, seed), fiber_moves(network, seed))
    first = next(candidates, None)
    if first is None:
        return _refute_by(network, among, one_sided_moves(network, seed=seed))
    return _refute_by(network, among, itertools.chain([first], candidates))


def _refute_by(
    network: Network, among: Among | None, candidates: Iterator[Move]
) -> NotIdentifiable | Attempt:
    """Refute by the first move into the wanted class; by default prefer the generic class."""
    first = next(candidates, None)
    if first is None:
        return Attempt("other networks", _NO_MOVE)
    if among in (None, "generic") and can_be_verified(network):
        for move in itertools.chain([first], itertools.islice(candidates, _MOVE_LIMIT)):
            membership = generic_membership(move.other)
            if membership["status"] == "verified":
                return _refuted(network, "generic", move, membership)
    if among in ("generic", "transversal", "regular"):
        why = _why_not_generic(network) if among == "generic" else f"it is not known to be {among}"
        return Attempt(first.theorem, f"{first.explanation}; but {why}; {REFUTED_AMONG_ALL}")
    return _refuted(network, "all", first, {"status": "verified", "method": "every"})


def _why_not_generic(network: Network) -> str:
    if not has_generic_class(network):
        return "the generic class is defined for two hidden layers and an affine output only"
    return "none of the other networks found is known to be generic"


def _refuted(
    network: Network, among: Among, move: Move, membership: dict[str, object]
) -> NotIdentifiable:
    hypotheses = [
        Hypothesis(move.theorem, "architecture"),
        Hypothesis(move.theorem, "same-function", move.evidence),
        Hypothesis(move.theorem, "not-related", {"layer": move.difference}),
        Hypothesis(move.theorem, "membership", membership),
    ]
    claim = Claim("not-identifiable", network, among, move.other)
    return NotIdentifiable(
        _certificate(claim, move.theorem, hypotheses),
        move.other,
        move.explanation,
        next=after_refutation(network, _one_sided_neuron(move)),
    )


def _one_sided_neuron(move: Move) -> tuple[NeuronId, int] | None:
    """Return the neuron with one sign on R^n, and the sign, if a move is about one."""
    match move.evidence:
        case {"source": [], "layer": int(layer), "signs": [[int(index), sign, *_]]}:
            return NeuronId(layer, index), 1 if sign == "+" else -1
    return None


def _certificate(
    claim: Claim | PartClaim, theorem: str, hypotheses: list[Hypothesis]
) -> Certificate:
    return Certificate(claim, theorem, tuple(hypotheses), {"tool": f"polyrelu {__version__}"})


def _reason(network: Network, attempts: list[Attempt]) -> str:
    not_found = "no other network of the class with the same function was found"
    if attempts:
        return f"no theorem applied, and {not_found}"
    shape = (
        "networks that end in a ReLU"
        if network.last == "relu"
        else f"{network.num_hidden_layers} hidden layers"
    )
    return f"no theorem here covers {shape}, and {not_found}"
