"""The question whether a network's function determines its parameters: the function `identify`.

`identify` tries the theorems that apply to the architecture, then looks for another network with
the same function, and then searches for ridges (Theorem D), the one step that may take long. The
order of these steps decides which certificate is found first, so a change of the order changes
results.

First come the theorems that need no search. If none proves the claim, moves along the fiber are
tried: another concrete network with the same function refutes it. Then Theorem D is tried with a
budget of work; neurons that had one sign only at all ridges it met may refute the claim as well.
What remains is undecided, and is reported with the hypothesis that failed and with what is proved
in part.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from polyrelu.certificate import Among, Certificate, Claim, Hypothesis, PartClaim
from polyrelu.exact import Polyhedron
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_imported
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
from polyrelu.proofs.blocks.identify_blocks import NOT_PLAIN, identify_blocks
from polyrelu.proofs.deep import prover as deep
from polyrelu.proofs.deep.one_sided_candidates import one_sided_candidates
from polyrelu.proofs.deep.ridges import Competitors
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.functional_dimension import (
    certify_functional_dimension,
    has_functional_dimension,
)
from polyrelu.proofs.interior import expect_interior
from polyrelu.proofs.leaky.identify_leaky import decidable_stack, identify_leaky
from polyrelu.proofs.membership import (
    can_be_verified,
    generic_membership,
    has_generic_class,
    num_conditions,
)
from polyrelu.proofs.next_steps import (
    REFUTED_AMONG_ALL,
    Question,
    after_refutation,
    after_skipping,
)
from polyrelu.proofs.provenance import with_sources
from polyrelu.proofs.refutations import one_sided
from polyrelu.proofs.refutations.cases.moves import case_moves
from polyrelu.proofs.refutations.containment.moves import containment_moves
from polyrelu.proofs.refutations.fiber_moves import fiber_moves
from polyrelu.proofs.refutations.moves import Move, moves
from polyrelu.proofs.refutations.one_sided import one_sided_moves
from polyrelu.proofs.refutations.sampled_candidates import OneSidedCandidate, sampled_candidates
from polyrelu.proofs.shallow import prover as shallow, trailing
from polyrelu.proofs.tree_moves import is_small, tree_moves
from polyrelu.support.arguments import (
    expect,
    expect_choice,
    expect_count,
    expect_function,
    expect_path,
)
from polyrelu.support.budget import (
    ENDINGS,
    OUT_OF_MEMORY,
    Budget,
    BudgetLike,
    LimitReached,
    as_budget,
)
from polyrelu.support.interrupts import Interrupt, deferred_interrupt
from polyrelu.support.limits import PARAMETER_LIMIT
from polyrelu.support.parallel import Workers
from polyrelu.support.prices import price_of_cell, price_of_membership, price_of_samples
from polyrelu.support.progress import Progress, report
from polyrelu.version import __version__

__all__ = ["NOT_PLAIN", "identify"]


@dataclass(frozen=True, slots=True)
class IdentifySettings:
    """How `identify` divides its work.

    Attributes
    ----------
    budget
        Units of work for the search for ridges (Theorem D), by default: about a minute.
    share_of_others
        Share of this work that each other search gets, besides: for points of Theorem P, for simple
        changes, for zonotopes, and twice for refutations by linear programs.
    share_of_large
        Share of this work for refutations by large linear programs, which come last.
    share_of_cases
        Share of this work for refutations by trees of cases, which come after them.
    least_for_others
        Units of work that each other search gets at least, unless the budget is a part of another.
    grace_share
        Share of a time limit in which it is still worked out what is proved in part.
    grace
        Number of seconds for that after Ctrl-C.
    max_moves
        Maximum number of other networks whose membership in the generic class is tested.
    """

    budget: int = 60_000
    share_of_others: float = 1 / 6
    share_of_large: float = 1 / 3
    share_of_cases: float = 1 / 2
    least_for_others: float = one_sided.SETTINGS.budget
    grace_share: float = 0.1
    grace: float = 1.0
    max_moves: int = 64


SETTINGS = IdentifySettings()

#: The classes of competitors, with the classes that each one contains.
_CLASSES: dict[Among, tuple[Among, ...]] = {
    "all": ("all", "regular", "sparse", "transversal", "generic"),
    "regular": ("regular", "transversal", "generic"),
    "sparse": ("sparse", "transversal", "generic"),
    "transversal": ("transversal", "generic"),
    "generic": ("generic",),
}

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
    domain: DomainLike = None,
    *,
    among: Among | None = None,
    seed: int = 0,
    budget: BudgetLike = SETTINGS.budget,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    checkpoint: str | Path | None = None,
    functional_dimension: bool = False,
    progress: Progress | None = None,
    workers: Workers | None = None,
) -> Outcome:
    """Prove or refute that a network is identifiable on R^n, or on a domain.

    A network is identifiable if every competitor with the same function is equal to it up to the
    order of hidden neurons and positive scaling.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes. Networks that are neither plain stacks nor stacks
        of leaky ReLUs are only refuted, among all networks whose layers read the same layers.
    domain
        Where competitors have the same function: R^n by default, or the interior of a domain, such
        as ``"box:0,1"``. They may differ outside. Theorem P and the theorem for one neuron in layer
        1 are about R^n only.
    among
        The class of competitors: ``"all"``, ``"regular"``, ``"sparse"``, ``"transversal"`` or
        ``"generic"`` parameters of the architecture (FORMAT.md §3.1); on a domain, conditions on
        cells are about those that meet its interior. By default the theorems among all and among
        generic parameters are tried, then another network with the same function is looked for,
        then Theorem D is tried among transversal and regular parameters, or, if a weight between
        hidden layers is 0, among sparse ones.
    seed
        Seed of the searches for points, shifts and ridges. The same seed and budget give the same
        answer and the same certificate, on every machine.
    budget
        Units of work for the search for ridges and, where the first layer is one neuron or the only
        hidden one, for sums of subsets and assignments of neurons to hyperplanes; or a `Budget`
        with all limits; None: until nothing new is met. A unit is about a millisecond. The search
        for points of Theorem P and the one for simple changes of layers have a sixth of it each,
        refutations by linear programs twice, by contained zonotopes and by split trees once; larger
        programs have a third, and trees of cases a half; and each of them has at least 10,000
        units, unless the `Budget` is a part of another one. A search that is enough for transversal
        competitors makes some more walks for regular ones, within the budget.
    time_limit
        Seconds for the whole call; None for no limit. After this time the answer is `Undecided`.
        Ctrl-C ends the search for ridges in the same way.
    memory_limit
        Limit of the memory of the process in MiB; no limit by default.
    checkpoint
        A file that keeps the walks of this search, whatever ends it. The same call goes on from
        there, also with a larger budget, and gives the same certificate as without interruption.
    functional_dimension
        Whether the answer gets bounds of the functional dimension as well, a rank at points in all
        regions of small networks, and at points on lines through others. This time is not part of
        the budget.
    progress
        Called with a `polyrelu.support.ProgressStep` before each walk of this search and after the
        last one. The number of walks to come is unknown.
    workers
        Who makes the walks of this search (`polyrelu.support.parallel`); None for this process. The
        answer does not depend on it.

    Returns
    -------
    Identifiable, NotIdentifiable or Undecided
        A proof; another network with the same function; or what was tried, with what could be
        proved in part. A proof among all parameters is also a proof among the parameters of any
        class. A proof among regular parameters is also a proof among transversal ones, and, with
        two hidden layers, a proof among transversal parameters is a proof among generic ones; a
        refutation among generic parameters is one among transversal and regular ones. The first
        proof that is found is returned; name a class to ask for a stronger one.

    Raises
    ------
    NetworkError
        The network cannot be read.
    ArgumentError
        An argument has a wrong type, or lies outside its range.
    DomainError
        The domain is not understood, or it has no interior.
    PolyreluError
        The checkpoint cannot be read or written, or it is one of another question.

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
    >>> identify(from_arrays([([[1]], [-2]), ([[1]], [0])]), "box:-1,1").explanation
    'neuron 0 of layer 1 is dead on the box around the domain'
    """
    limits = as_budget(budget, time_limit, memory_limit)
    read = as_imported(network)
    _check_arguments(among, seed, checkpoint, progress)
    expect(functional_dimension, bool, "functional_dimension")
    place = _place(domain, read.network.num_inputs)
    file = None if checkpoint is None else str(checkpoint)
    if file is not None:  # also where an answer comes before the search
        deep.check_checkpoint(file, read.network, seed, place)
    question = Question(read.network, among, seed, limits.work, limits.seconds, file, place)
    outcome = with_sources(_Identification(question, limits, progress, workers).outcome(), read)
    if not functional_dimension or not has_functional_dimension(read.network):
        return outcome
    return replace(outcome, dimension=certify_functional_dimension(read, place, seed=seed))


class _Identification:
    """The attempts to answer a question, and what they have found so far."""

    def __init__(
        self,
        question: Question,
        limits: Budget,
        progress: Progress | None,
        workers: Workers | None,
    ) -> None:
        self._question, self._limits, self._progress = question, limits, progress
        self._workers = workers
        self._least_for_others = least_for_others(limits)
        self._network, self._among, self._domain = (
            question.network,
            question.among,
            question.domain,
        )
        self._attempts: list[Attempt] = []
        self._refuted: Attempt | None = None
        self._search: DeepSearch | None = None

    def outcome(self) -> Outcome:
        """Return the answer; `Undecided` if a limit is reached."""
        network = self._network
        if (count := network.num_parameters) > PARAMETER_LIMIT:
            return Undecided(
                f"the network has {count:,} weights and biases, zeros included, and a certificate "
                f"can hold {PARAMETER_LIMIT:,} (FORMAT.md §2)",
                next=() if network.is_plain else after_skipping(network),
            )
        try:
            if network.is_plain:
                return self._answer()
            leaky = decidable_stack(network)
            if leaky is None:
                return identify_blocks(self._question, self._limits)
            return identify_leaky(leaky, self._question, self._limits)
        except ENDINGS as error:
            if (reason := self._limits.reason_of(error)) is None:
                raise
        return self._after_limit(reason)

    def _answer(self) -> Outcome:
        network, among = self._network, self._among
        for theorem, competitors, prover in self._theorems():
            self._limits.check_others()
            found = _try_theorem(self._question, theorem, competitors, prover)
            if isinstance(found, Identifiable):
                return found
            self._attempts.append(found)
        refuted = self._refute()
        if isinstance(refuted, NotIdentifiable):
            return refuted
        self._refuted = refuted
        may_prove = among == "sparse" or _implies(network, "regular", among)
        if _may_be_deep(network) and may_prove:
            return self._by_ridges()
        late = self._refute_late(None)
        return late if isinstance(late, NotIdentifiable) else self._undecided()

    def _by_ridges(self) -> Outcome:
        """Return the answer of a search for ridges."""
        with deferred_interrupt() as interrupt:
            self._limits = limits = self._limits.with_interrupt(interrupt)
            before_walk = _reporting(self._progress, interrupt)
            search = self._search_ridges(limits, before_walk)
            competitors = search.deep_network.among
            proof = _try_theorem(
                self._question,
                deep.theorem_of(competitors),
                competitors,
                lambda: deep.prove_search(search, limits.check_time),
            )
            if isinstance(proof, Identifiable):
                return proof
            self._attempts.append(proof)
            limits.check_others()
            before_walk(search)
            candidates = one_sided_candidates(search)
            late = self._refute_by_programs(candidates)
            if not isinstance(late, NotIdentifiable):
                late = self._refute_late(candidates)
            if isinstance(late, NotIdentifiable):
                return late
            part = _part(search, limits.check_others)
        return self._undecided(part)

    @property
    def _tried(self) -> tuple[Attempt, ...]:
        """All attempts, the refutations last."""
        return (*self._attempts, *([] if self._refuted is None else [self._refuted]))

    def _budget_of_others(self, share: float = SETTINGS.share_of_others) -> Budget:
        work, least = self._limits.total_work, self._least_for_others
        return self._limits.apart(None if work is None else max(least, work * share))

    def _theorems(self) -> Iterator[tuple[str, Among, _Prover]]:
        """The theorems for the architecture but Theorem D, each with its competitors."""
        network, seed, budget = self._network, self._question.seed, self._limits
        domain = self._domain
        if network.last != "affine":
            yield from self._theorems_before_relu()
            return
        if network.depth == 1:
            yield "affine", "all", lambda: shallow.prove_affine(domain)
        elif network.depth == 2:
            yield shallow.THEOREM, "all", lambda: shallow.prove(network, budget, domain)
        elif domain is not None:
            return
        elif network.depth == 3 and network.widths[1] == 1:
            yield line.THEOREM, "all", lambda: line.prove(network, budget)
        elif network.depth == 3:
            others = self._budget_of_others()
            yield bottleneck.THEOREM, "generic", lambda: bottleneck.prove(network, seed, others)

    def _theorems_before_relu(self) -> Iterator[tuple[str, Among, _Prover]]:
        """The theorems for networks that end in a ReLU."""
        network, seed, domain = self._network, self._question.seed, self._domain
        if network.depth == 1:
            yield trailing.AFFINE, "all", lambda: trailing.prove_affine(network, domain)
        elif network.depth == 2:
            budget = self._limits
            yield trailing.SHALLOW, "all", lambda: trailing.prove(network, seed, budget, domain)

    def _refute(self) -> NotIdentifiable | Attempt:
        """Refute by moves of all kinds; those that take linear programs come only if needed."""
        network, domain, seed = self._network, self._domain, self._question.seed
        budget = self._budget_of_others()
        candidates: Iterator[Move] = itertools.chain(
            moves(network, seed, budget, domain), fiber_moves(network, seed, budget)
        )
        first = next(candidates, None)
        if first is not None:
            return _refute_by(self._question, itertools.chain([first], candidates), budget)
        return self._refute_by_programs(None)

    def _refute_by_programs(
        self, candidates: list[OneSidedCandidate] | None
    ) -> NotIdentifiable | Attempt:
        """Refute by neurons that linear programs show to have one sign where another is on."""
        found = one_sided_moves(
            self._network,
            candidates,
            budget=self._budget_of_others(),
            seed=self._question.seed,
            domain=self._domain,
        )
        return _refute_by(self._question, found, self._budget_of_others())

    def _refute_late(self, candidates: list[OneSidedCandidate] | None) -> NotIdentifiable | Attempt:
        """Refute in the same way, by steps which would delay the rest."""
        late: NotIdentifiable | Attempt = Attempt("other networks", _NO_MOVE)
        for found in self._late_moves(candidates):
            late = _refute_by(self._question, found, self._budget_of_others())
            if isinstance(late, NotIdentifiable):
                break
        return late

    def _late_moves(self, candidates: list[OneSidedCandidate] | None) -> Iterator[Iterator[Move]]:
        """Yield the moves of late steps: contained zonotopes, large programs, trees of cases.

        Without a search for ridges large programs come first, since they make candidates of their
        own.
        """
        network, domain, seed = self._network, self._domain, self._question.seed
        if candidates is not None:
            yield self._contained(candidates)
        budget = self._budget_of_others(SETTINGS.share_of_large)
        yield one_sided_moves(network, candidates, budget, seed, domain, with_large=True)
        budget = self._budget_of_others(SETTINGS.share_of_cases)
        if candidates is None:
            if price_of_samples(network.num_parameters) > (budget.total_work or math.inf):
                return
            candidates = sampled_candidates(network, seed, domain)
            yield self._contained(candidates)
        yield case_moves(network, candidates, budget, seed, domain)
        if is_small(network):
            yield tree_moves(network, candidates, self._budget_of_others(), seed, domain)

    def _contained(self, candidates: list[OneSidedCandidate]) -> Iterator[Move]:
        """Return moves by zonotopes inside others, which are about all of R^n."""
        if self._domain is not None:
            return iter(())
        return containment_moves(
            self._network, candidates, self._budget_of_others(), self._question.seed
        )

    def _search_ridges(self, limits: Budget, before_walk: deep.BeforeWalk) -> DeepSearch:
        """Search for ridges, and go on for regular competitors where that promises something."""
        question = self._question
        wanted = self._competitors()

        def noting(search: DeepSearch) -> bool:
            """Keep the search, so that a limit may end it with what it has found."""
            self._search = search
            return before_walk(search)

        search = self._search = deep.run_search(
            self._network,
            question.seed,
            limits,
            question.checkpoint,
            noting,
            wanted,
            self._domain,
            self._workers,
        )
        return deep.extend_to_regular(search, limits, noting, self._workers, question.checkpoint)

    def _competitors(self) -> Competitors:
        """Return the class of competitors of the search for ridges.

        Where it is left open, they may have zero weights if the network has some.
        """
        network, work = self._network, self._limits.work_left
        if self._among in ("regular", "sparse"):
            return self._among
        price = price_of_cell(network.num_parameters) * sum(network.widths[1:-1])
        if self._among is not None or (work is not None and work < price):
            return "transversal"
        inner = (network.weight(layer).signs() for layer in range(2, network.depth))
        return "transversal" if all(signs.all() for signs in inner) else "sparse"

    def _undecided(self, part: PartlyIdentifiable | None = None) -> Undecided:
        return Undecided(
            _reason(self._question, self._attempts),
            self._tried,
            part=part,
            next=self._question.steps(self._tried, self._search),
        )

    def _after_limit(self, reason: str) -> Undecided:
        """Return what is done when a limit of time or memory is reached, or after Ctrl-C."""
        seconds = (
            SETTINGS.grace
            if self._limits.seconds is None
            else SETTINGS.grace_share * self._limits.seconds
        )
        grace, part = Budget(seconds=seconds), None
        if self._search is not None and reason != OUT_OF_MEMORY:
            with contextlib.suppress(LimitReached, KeyboardInterrupt):
                part = _part(self._search, grace.check)
        return Undecided(
            reason,
            self._tried,
            part=part,
            next=self._question.steps_after_limit(reason, self._search),
        )


def least_for_others(limits: Budget) -> float:
    """Return what each other search gets at least; a part of a budget stays a part of it.

    Otherwise a report with a small budget would take minutes for a single linear program.
    """
    return 0.0 if limits.is_part else SETTINGS.least_for_others


def _place(domain: DomainLike, num_inputs: int) -> Polyhedron | None:
    """Return the domain of a question; None for R^n."""
    place = as_domain(domain, num_inputs)
    if not any(map(any, (*place.inequalities, *place.equations))):
        return None
    expect_interior(place, "identify")
    return place


def _check_arguments(among: object, seed: object, checkpoint: object, progress: object) -> None:
    if among is not None:
        expect_choice(among, tuple(_CLASSES), "among")
    expect_count(seed, "seed")
    if checkpoint is not None:
        expect_path(checkpoint, "checkpoint")
    expect_function(progress, "progress")


def _reporting(progress: Progress | None, interrupt: Interrupt) -> deep.BeforeWalk:
    """Return the function that reports a search, and says whether it goes on."""

    def before_walk(search: DeepSearch) -> bool:
        """Report the search, and return whether Ctrl-C was not pressed."""
        found = {"ridges": len(search.ridges)}
        report(progress, "searching for ridges", search.walks, None, "walks", found)
        return not interrupt.requested

    return before_walk


def _part(search: DeepSearch, check: Callable[[], None]) -> PartlyIdentifiable | None:
    """What Theorem D proves in part, among regular competitors if nothing is lost by that."""
    determined = search.hypotheses.determined
    if search.deep_network.among == "transversal" and determined.num_layers:
        regular = search.among_regular()
        if regular.hypotheses.determined == determined:
            search = regular
    found = deep.prove_part(search, check)
    if found is None:
        return None
    claim, hypotheses = found
    name = deep.part_of(search.deep_network.among)
    return PartlyIdentifiable(_certificate(claim, name, hypotheses))


def _try_theorem(
    question: Question, theorem: str, competitors: Among, prover: _Prover
) -> Identifiable | Attempt:
    """Try a theorem, if its class of competitors contains the wanted class."""
    if not _implies(question.network, competitors, question.among):
        return Attempt(theorem, f"its competitors are the {competitors} parameters only")
    found = prover()
    if isinstance(found, Attempt):
        return found
    claim = Claim("identifiable", question.network, competitors, domain=question.domain)
    return Identifiable(_certificate(claim, theorem, found))


def _implies(network: Network, competitors: Among, among: Among | None) -> bool:
    """Whether a proof among `competitors` is a proof among the wanted class."""
    if among == "generic" and not has_generic_class(network):
        return competitors in ("all", among)
    return among is None or among in _CLASSES[competitors]


def _may_be_deep(network: Network) -> bool:
    """Whether Theorem D is tried; the theorem for one hidden layer has weaker hypotheses."""
    return network.last == "affine" and network.depth >= 3 and network.num_inputs >= 2


def _refute_by(
    question: Question, candidates: Iterator[Move], budget: Budget
) -> NotIdentifiable | Attempt:
    """Refute by the first move into the wanted class; by default prefer the generic class.

    A generic network is transversal, hence regular, so that a refutation among generic parameters
    is one among the parameters of every class. The budget pays for the proofs that other networks
    are generic.
    """
    network, among, first = question.network, question.among, next(candidates, None)
    if first is None:
        return Attempt("other networks", _NO_MOVE)
    if among != "all" and can_be_verified(network):
        price = price_of_membership(num_conditions(network))
        for move in itertools.chain([first], itertools.islice(candidates, SETTINGS.max_moves)):
            budget.check_others()
            if not budget.has_work:
                break
            budget.pay(price)
            membership = generic_membership(move.other)
            if membership["status"] == "verified":
                return _refuted(question, "generic", move, membership)
    if among in ("generic", "transversal", "sparse", "regular"):
        why = (
            _why_not_generic(network)
            if among == "generic"
            else f"no other network found is known to be {among}"
        )
        return Attempt(first.theorem, f"{first.explanation}; but {why}; {REFUTED_AMONG_ALL}")
    return _refuted(question, "all", first, {"status": "verified", "method": "every"})


def _why_not_generic(network: Network) -> str:
    if not has_generic_class(network):
        return "the generic class is defined for two hidden layers and an affine output only"
    return "none of the other networks found is known to be generic"


def _refuted(
    question: Question, among: Among, move: Move, membership: dict[str, object]
) -> NotIdentifiable:
    hypotheses = [
        Hypothesis(move.theorem, "architecture"),
        Hypothesis(move.theorem, "same-function", move.evidence),
        Hypothesis(move.theorem, "not-related", {"layer": move.difference}),
        Hypothesis(move.theorem, "membership", membership),
    ]
    network, domain = question.network, question.domain
    claim = Claim("not-identifiable", network, among, move.other, domain)
    return NotIdentifiable(
        _certificate(claim, move.theorem, hypotheses),
        move.other,
        move.explanation,
        next=after_refutation(
            network, move.theorem, _one_sided_neuron(move), is_on_domain=domain is not None
        ),
    )


def _one_sided_neuron(move: Move) -> tuple[NeuronId, int] | None:
    """Return the neuron with one sign everywhere, and the sign, if a move is about one."""
    match move.evidence:
        case {"source": [], "layer": int(layer), "signs": [[int(index), sign, *_]]}:
            return NeuronId(layer, index), 1 if sign == "+" else -1
    return None


def _certificate(
    claim: Claim | PartClaim, theorem: str, hypotheses: list[Hypothesis]
) -> Certificate:
    return Certificate(claim, theorem, tuple(hypotheses), {"tool": f"polyrelu {__version__}"})


def _reason(question: Question, attempts: list[Attempt]) -> str:
    not_found = "no other network of the class with the same function was found"
    if attempts:
        return f"no theorem applied, and {not_found}"
    network, place = question.network, "" if question.domain is None else " on a domain"
    shape = (
        "networks that end in a ReLU"
        if network.last == "relu"
        else f"{network.num_hidden_layers} hidden layers"
    ) + place
    return f"no theorem here covers {shape}, and {not_found}"
