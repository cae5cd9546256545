"""The search for ridges that prove the hypotheses of Theorem D (`hypotheses` evaluates them).

In wide networks on R^n a search by sight comes first (`ridges_by_sight`), which makes no walks. It
is followed by walks along bent hyperplanes in planes of R^{n_0}, from cell to cell (`walk_maker`).
The signs of a walk are exact, so what it finds are ridges; floats choose the planes and nothing
else. A change of the order in which random numbers are drawn changes the certificates that a seed
leads to.

The first planes are random. Then the search looks for what is missing:

* a longer chain up from a family of v: it *climbs*. From a crossing with a neuron of the next layer
  it follows the bent hyperplane of that neuron, in the same plane, until this one crosses the layer
  after it, and so on;
* pieces of v at which h is active (or pieces with both signs of h): it *aims*. It walks along the
  bent hyperplane of v from a known piece, in a plane one direction of which leads towards the zeros
  of h. If no walk has found anything of this kind for long, it looks for common zeros of v and h
  (`newton`), and walks along v from there.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from random import Random

from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from polyrelu.proofs.deep.findings import Findings
from polyrelu.proofs.deep.goals import NeuronGoal, goals_of
from polyrelu.proofs.deep.hypotheses import DeepHypotheses, evaluate, evaluate_without_systems
from polyrelu.proofs.deep.planes import Location, Plane
from polyrelu.proofs.deep.ridges import Competitors, DeepNetwork, Ridge
from polyrelu.proofs.deep.ridges_by_sight import ridges_by_sight
from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.proofs.deep.walk_maker import WalkMaker, Walks, Ways
from polyrelu.proofs.deep.walk_tasks import WalkContext, steps_of, walk
from polyrelu.proofs.interior import Interior
from polyrelu.support.budget import Budget, BudgetLike, as_budget
from polyrelu.support.parallel import TaskStream
from polyrelu.support.prices import price_of_evaluation

__all__ = ["DeepSearch"]


class DeepSearch:
    """A search for ridges; it can be continued, and the same seed finds the same ridges.

    Parameters
    ----------
    network
        A plain stack with an affine output, at least one hidden layer and n_0 ≥ 2; for others
        `DomainError` is raised.
    seed
        Seed of the random choices.
    among
        The class of competitors, which decides what ridges are good.
    domain
        The domain on whose interior competitors agree, without equations and with an interior;
        None for R^n. Walks start inside of it and end where they leave it.

    Attributes
    ----------
    network, seed, domain
        As given.
    deep_network
        The network with what is computed once for all of its ridges.
    random
        The source of all random choices.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2])
    >>> search = DeepSearch(from_arrays([first, second, ([[1, 2]], [0])]))
    >>> print(search.run(rounds=20))
    all hypotheses hold
    """

    def __init__(
        self,
        network: Network,
        seed: int = 0,
        among: Competitors = "transversal",
        domain: Polyhedron | None = None,
    ) -> None:
        self.network, self.seed, self.domain = network, seed, domain
        self.deep_network = DeepNetwork.of(network, among)
        self.random = Random(seed)
        interior = None if domain is None else Interior(domain)
        self._findings = Findings(self.deep_network, interior)
        self._maker = WalkMaker(self._findings, interior, self.random)
        self._walks_at_last_evaluation = 0
        self._least_missing, self._walks_at_least_missing = math.inf, 0
        self._hypotheses: DeepHypotheses | None = None
        is_large = self.deep_network.size >= SETTINGS.together_neurons
        self._num_together = SETTINGS.walks_together if is_large else 1
        self._stream, self._begun = TaskStream(walk, self.context), deque[_BegunWalks]()

    @property
    def context(self) -> WalkContext:
        """What the walks of this search share."""
        return WalkContext(self.network, self.domain, self.deep_network.among)

    @property
    def planes(self) -> list[Plane]:
        """The planes in which there were walks, in the order of their numbers."""
        return self._findings.planes.all

    @property
    def ridges(self) -> dict[Ridge, Location]:
        """The ridges that were found, each with the location where a walk met it."""
        return self._findings.ridges

    @property
    def walks(self) -> int:
        """Number of walks so far."""
        return self._findings.walks

    @property
    def budget(self) -> Budget:
        """What pays for walks and evaluations, the one that `run` was given last."""
        return self._maker.budget

    @property
    def hypotheses(self) -> DeepHypotheses:
        """What the ridges prove so far."""
        if self._hypotheses is None:
            self.budget.pay(price_of_evaluation(len(self.ridges)))
            families = self._findings.families
            self._hypotheses = evaluate(self.deep_network, list(self.ridges), families)
        return self._hypotheses

    @property
    def is_idle(self) -> bool:
        """Whether the number of walks since the last new ridge exceeds the settings' limit."""
        walks = SETTINGS.idle_walks
        if self.domain is not None:
            walks = SETTINGS.idle_walks_on_domain
        limit = walks + int(SETTINGS.idle_share * self.walks)
        return self.walks - self._findings.walks_at_last_ridge > limit

    @property
    def _is_dry(self) -> bool:
        """Whether walks have long found nothing of the pieces and active neurons that are missing.

        Common zeros are looked for on R^n only.
        """
        walks = self.walks - self._walks_at_least_missing
        rounds = SETTINGS.dry_rounds * SETTINGS.walks_per_neuron * self.deep_network.size
        is_dry = walks > max(SETTINGS.dry_walks, SETTINGS.dry_share * self.walks, rounds)
        return self.domain is None and is_dry

    def among_regular(self) -> DeepSearch:
        """Return a resumable search with the same ridges, reclassified for regular competitors."""
        return self._copy("regular", frozenset())

    def without(self, ridges: Collection[Ridge]) -> DeepSearch:
        """Return a resumable search that has forgotten some ridges."""
        return self._copy(self.deep_network.among, ridges)

    def _copy(self, among: Competitors, forgotten: Collection[Ridge]) -> DeepSearch:
        copy = DeepSearch(self.network, self.seed, among, self.domain)
        own, found = self._findings, copy._findings
        found.walks, found.planes.all[:] = own.walks, own.planes.all
        copy.random.seed(f"{self.seed}, {self.walks}")
        kept = [ridge for ridge in own.ridges if ridge not in forgotten]
        pairs, masks = [(ridge.u, ridge.v) for ridge in kept], [ridge.mask for ridge in kept]
        for ridge, again in zip(kept, copy.deep_network.ridges(pairs, masks), strict=True):
            found.add(again, own.ridges[ridge])
        found.walks_at_last_ridge = own.walks_at_last_ridge
        return copy

    def has_its_type(self, ridge: Ridge) -> bool:
        """Return whether the type of a ridge is right; in the file of a search it may be wrong."""
        return self.deep_network.ridges([(ridge.u, ridge.v)], [ridge.mask]) == [ridge]

    def is_met_by_its_plane(self, ridge: Ridge) -> bool:
        """Return whether the plane stored for a known ridge meets this ridge, in exact arithmetic.

        It does if a walk met the ridge; the file of a search may claim so wrongly.
        """
        return self._findings.is_met_by_its_plane(ridge)

    def outside_domain(self, ridges: Iterable[Ridge]) -> list[Ridge]:
        """Return the given known ridges whose point is not inside the domain, exactly.

        Walks decide this in floats. The point is the one where a walk met the ridge.
        """
        return [] if self.domain is None else self._findings.outside(self.domain, ridges)

    def run(
        self,
        budget: BudgetLike = None,
        rounds: int | None = None,
        may_walk: Callable[[], bool] | None = None,
        stream: TaskStream | None = None,
    ) -> DeepHypotheses:
        """Search until the hypotheses hold, the search is idle, or a limit is reached.

        Parameters
        ----------
        budget
            Units of work, or a `Budget`; None for no limit. A walk that has begun is finished.
        rounds
            Maximum number of rounds; a round is some walks and an evaluation.
        may_walk
            Asked before each walk; the search ends if the answer is False.
        stream
            Makes the walks, by `walk_tasks.walk` and the `context` of this search; by default in
            this process.

        Returns
        -------
        DeepHypotheses
            What all ridges of the search prove, also the ridges of earlier runs.
        """
        self._maker.budget = as_budget(budget)
        if not self.ridges and not self.walks:
            self._look()

        def may_continue() -> bool:
            """Return whether work is left, and the caller wants another walk."""
            is_left = self.budget.has_work and self.budget.why_stopped() is None
            return is_left and (may_walk is None or may_walk())

        own = self._stream
        self._stream = own if stream is None else stream
        try:
            self._rounds(rounds, may_continue)
        finally:
            self._begun.clear()
            self._stream.forget()
            self._stream = own  # the caller closes the other one
        return self.hypotheses

    def _rounds(self, limit: int | None, may_continue: Callable[[], bool]) -> None:
        """Make rounds until nothing is missing, the search is idle, or a limit is reached."""
        made, hypotheses = 0, self.hypotheses
        while hypotheses.missing and not self.is_idle and (limit is None or made < limit):
            if not self._round(hypotheses, may_continue):
                break
            hypotheses = self._evaluate()
            count = sum(entry.kind in ("piece", "active") for entry in hypotheses.missing)
            if count < self._least_missing:
                self._least_missing, self._walks_at_least_missing = count, self.walks
            made += 1

    def _evaluate(self) -> DeepHypotheses:
        """Return what the ridges prove now, with or without the linear systems.

        The linear systems are solved if no chain and no active neuron is missing, and whenever the
        number of walks has grown enough since they were solved last.
        """
        self._hypotheses = None
        self.budget.pay(price_of_evaluation(0))
        without_systems = evaluate_without_systems(self.deep_network, self._findings.families)
        next_evaluation = SETTINGS.evaluation_growth * self._walks_at_last_evaluation
        if without_systems.missing and self.walks < next_evaluation:
            return without_systems
        self._walks_at_last_evaluation = self.walks
        return self.hypotheses

    def add(self, ridge: Ridge, location: Location) -> None:
        """Add a ridge with the location where it was met, unless the ridge is known."""
        self._findings.add(ridge, location)

    def _look(self) -> None:
        """Search by sight, in networks that are large and have the right shape for it."""
        if self.domain is not None or not self.deep_network.is_searched_by_sight:
            return
        for plane, ridges in ridges_by_sight(self.deep_network, self.random, self.budget):
            number = self._findings.planes.add(plane)
            if number is not None:
                for ridge, (s, t) in ridges:
                    self.add(ridge, Location(number, s, t))

    # -- which neuron to walk for -----------------------------------------------------------------

    def _round(self, hypotheses: DeepHypotheses, may_continue: Callable[[], bool]) -> bool:
        """Make some walks for what is missing; return whether all of them were made.

        In large networks some walks are begun before earlier ones are finished, so that others can
        make them at the same time, also while hypotheses are evaluated.
        """
        goals, begun = goals_of(self.deep_network, hypotheses), self._begun
        least = SETTINGS.walks_per_neuron * self.deep_network.size
        for _ in range(max(least, int(SETTINGS.growth * self.walks))):
            if not goals:
                break
            if not may_continue():
                self._hypotheses = None
                while begun and self.budget.why_stopped() is None:
                    self._go_on(goals)
                return False
            chances = [self._chance(neuron, goal) for neuron, goal in goals.items()]
            (neuron,) = self.random.choices(list(goals), chances)
            walks = self._walks_for(hypotheses, neuron, goals[neuron])
            self._advance(_BegunWalks(neuron, walks), goals)
            while len(begun) >= self._num_together:
                self._go_on(goals)
        return True

    def _go_on(self, goals: dict[int, NeuronGoal]) -> None:
        """Take what the first of the walks met that were begun."""
        first = self._begun.popleft()
        ways = steps_of(self._stream.take(), first.num_ways, self.deep_network.size)
        self._advance(first, goals, ways)

    def _advance(
        self,
        walks: _BegunWalks,
        goals: dict[int, NeuronGoal],
        ways: Ways | None = None,
    ) -> None:
        """Begin the next walk for a neuron; after the last one, drop a goal that is hopeless."""
        try:
            order = next(walks.orders) if ways is None else walks.orders.send(ways)
        except StopIteration as end:
            if not end.value:
                goals.pop(walks.neuron, None)
            return
        self._stream.add(order.packed())
        self._begun.append(replace(walks, num_ways=len(order.reverses)))

    def _chance(self, neuron: int, goal: NeuronGoal) -> float:
        """Return the relative chance of a walk for a neuron.

        It grows with what is missing. For a neuron without a piece it falls from try to try,
        because there may be no zero at all.
        """
        if goal.piece:
            return min(1.0, SETTINGS.full_chance_tries / (1 + self._maker.random_tries[neuron]))
        num_before = self.deep_network.mask_before(neuron).bit_count()
        return max(SETTINGS.least_chance, goal.never_active / (num_before or 1))

    def _walks_for(self, hypotheses: DeepHypotheses, neuron: int, goal: NeuronGoal) -> Walks:
        """Make one walk for a neuron, or a climb; return whether more of them may help."""
        findings, maker = self._findings, self._maker
        findings.walks += 1
        evidence = hypotheses.chosen.get(neuron)
        is_wanted = self._is_dry and (goal.piece or goal.never_active > 0)
        if is_wanted and self.random.random() < SETTINGS.newton_share:
            yield from maker.at_common_zeros(neuron, evidence)
            return True
        first = (
            evidence.families[0].key if evidence is not None else findings.first_piece.get(neuron)
        )
        share = SETTINGS.random_plane_share
        if self.domain is not None:
            share = SETTINGS.random_plane_share_on_domain
        if first is None or self.random.random() < share:
            yield from maker.in_random_plane(neuron)
            return True
        root = findings.families.root(first)
        if goal.chain and self.domain is not None and (yield from self._walk_from_above(neuron)):
            return True
        family, before = (
            findings.families.growing_family(root),
            self.deep_network.mask_before(neuron),
        )
        if goal.chain and self.random.random() < SETTINGS.climb_share:
            return not (yield from maker.climb(root))
        if goal.crossings or goal.piece:
            targets = before & ~family.crossed_by
        else:
            nowhere_active = before & ~findings.families.active[neuron]
            joined_active = evidence.num_active if evidence is not None else 0
            targets = nowhere_active or before & ~(family.num_active | joined_active)
            if nowhere_active and (yield from self._walk_for_nowhere_active(neuron, targets)):
                return True
        start = maker.starting_piece(neuron, family.masks, targets)
        yield from maker.towards(start, targets)
        return bool(targets or goal.chain or goal.piece)

    def _walk_from_above(self, neuron: int) -> Walks:
        """Walk along a bent hyperplane of the next layer towards the zeros of a neuron.

        On a domain its own pieces may lie where the ways to the next layer are cut off. Return
        whether such a walk was made; it is left to chance.
        """
        if self.random.random() >= SETTINGS.from_above_share:
            return False
        findings, maker = self._findings, self._maker
        above = self.deep_network.neurons_in(self.deep_network.layer_of[neuron] + 1)
        known = [v for v in above if v in findings.first_piece]
        if not known:
            return False
        v = self.random.choice(known)
        start = maker.starting_piece(v, findings.families.pieces[v], 1 << neuron)
        yield from maker.towards(start, 1 << neuron)
        return True

    def _walk_for_nowhere_active(self, neuron: int, targets: int) -> Walks:
        """Walk for neurons that are active at no known piece: in a random plane or from any family.

        Return whether such a walk was made; it is left to chance.
        """
        maker = self._maker
        if self.random.random() < SETTINGS.elsewhere_share:
            yield from maker.in_random_plane(neuron)
            return True
        if self.random.random() < SETTINGS.any_family_share:
            pieces = self._findings.families.pieces[neuron]
            start = maker.starting_piece(neuron, pieces, targets)
            yield from maker.towards(start, targets)
            yield from maker.climb_once(start)
            return True
        return False


@dataclass(frozen=True, slots=True)
class _BegunWalks:
    """Walks for a neuron, one after the other, the first of which is begun, in a number of ways."""

    neuron: int
    orders: Walks
    num_ways: int = 0
