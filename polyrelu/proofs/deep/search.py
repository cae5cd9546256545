"""The search for ridges that prove the hypotheses of Theorem D (`hypotheses` evaluates them).

A search walks along bent hyperplanes in planes of R^{n_0}, from cell to cell. The signs of a walk
are exact, so what it finds are ridges; floats choose the planes and nothing else. A change of the
order in which random numbers are drawn changes the certificates that a seed leads to.

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
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import TypeAlias

import numpy as np

from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from polyrelu.proofs.deep.both_signs import points_with_both_signs
from polyrelu.proofs.deep.families import Families
from polyrelu.proofs.deep.hypotheses import (
    DeepHypotheses,
    Missing,
    evaluate,
    evaluate_without_systems,
)
from polyrelu.proofs.deep.neuron_evidence import NeuronEvidence, bits_of
from polyrelu.proofs.deep.newton import CommonZeros
from polyrelu.proofs.deep.orthant import Orthant
from polyrelu.proofs.deep.planes import (
    Location,
    Plane,
    Planes,
    integer_direction,
    random_unit_vector,
    rounded_point,
    unit_vector,
)
from polyrelu.proofs.deep.planes_inside import PlanesInside
from polyrelu.proofs.deep.planes_of_ridges import PlaneOfRidges, planes_of_ridges
from polyrelu.proofs.deep.ridges import Competitors, DeepNetwork, Piece, Ridge, mask_of
from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.proofs.deep.sight import Judge, RidgePoint, SightSearch
from polyrelu.proofs.deep.triangles import Triangles
from polyrelu.proofs.deep.walk_tasks import Step, WalkContext, WalkOrder, steps_of, walk
from polyrelu.proofs.interior import UNSTRETCHED, ExactWalls, Interior, Stretch
from polyrelu.support.budget import Budget, BudgetLike, as_budget
from polyrelu.support.parallel import TaskStream
from polyrelu.support.prices import (
    price_of_cell,
    price_of_evaluation,
    price_of_ray,
    price_of_samples,
)
from polyrelu.support.typing import Floats

__all__ = ["DeepSearch"]

#: The steps of each way of a walk.
_Ways: TypeAlias = list[list[Step | None]]
#: Orders for walks, which are sent what was met, and in the end whether more of them may help.
_Walks: TypeAlias = Generator[WalkOrder, _Ways, bool]


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
    ridges
        The ridges that were found, each with the location where a walk met it.
    walks
        Number of walks so far.
    random
        The source of all random choices.
    budget
        What pays for walks and evaluations, the one that `run` was given last.

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
        self.ridges: dict[Ridge, Location] = {}
        self.walks = 0
        self.random = Random(seed)
        self.budget = Budget()
        self._cell_price = price_of_cell(network.num_parameters)
        self._families = Families(self.deep_network)
        self._locations: dict[Piece, Location] = {}
        self._steps_up: defaultdict[int, list[Ridge]] = defaultdict(list)
        interior = None if domain is None else Interior(domain)
        self._inside = None if interior is None else PlanesInside(self.deep_network, interior)
        self._planes = Planes(self.deep_network, interior)
        self._first_piece: dict[int, Piece] = {}
        self._climbed: set[Piece] = set()
        self._random_tries: defaultdict[int, int] = defaultdict(int)
        self._walks_at_last_ridge = self._walks_at_last_evaluation = 0
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
        return self._planes.all

    @property
    def hypotheses(self) -> DeepHypotheses:
        """What the ridges prove so far."""
        if self._hypotheses is None:
            self.budget.pay(price_of_evaluation(len(self.ridges)))
            self._hypotheses = evaluate(self.deep_network, list(self.ridges), self._families)
        return self._hypotheses

    @property
    def is_idle(self) -> bool:
        """Whether the number of walks since the last new ridge exceeds the settings' limit."""
        walks = SETTINGS.idle_walks
        if self.domain is not None:
            walks = SETTINGS.idle_walks_on_domain
        limit = walks + int(SETTINGS.idle_share * self.walks)
        return self.walks - self._walks_at_last_ridge > limit

    @cached_property
    def _common_zeros(self) -> CommonZeros:
        return CommonZeros(self.network)

    @property
    def _is_dry(self) -> bool:
        """Whether walks have long found nothing of the pieces and active neurons that are missing.

        Common zeros are looked for on R^n only.
        """
        walks = self.walks - self._walks_at_least_missing
        rounds = SETTINGS.dry_rounds * SETTINGS.walks_per_neuron * self.deep_network.size
        is_dry = walks > max(SETTINGS.dry_walks, SETTINGS.dry_share * self.walks, rounds)
        return self._inside is None and is_dry

    def among_regular(self) -> DeepSearch:
        """Return a resumable search with the same ridges, reclassified for regular competitors."""
        return self._copy("regular", frozenset())

    def without(self, ridges: Collection[Ridge]) -> DeepSearch:
        """Return a resumable search that has forgotten some ridges."""
        return self._copy(self.deep_network.among, ridges)

    def _copy(self, among: Competitors, forgotten: Collection[Ridge]) -> DeepSearch:
        copy = DeepSearch(self.network, self.seed, among, self.domain)
        copy.walks, copy.planes[:] = self.walks, self.planes
        copy.random = Random(f"{self.seed}, {self.walks}")
        kept = [ridge for ridge in self.ridges if ridge not in forgotten]
        pairs, masks = [(ridge.u, ridge.v) for ridge in kept], [ridge.mask for ridge in kept]
        for ridge, again in zip(kept, copy.deep_network.ridges(pairs, masks), strict=True):
            copy.add(again, self.ridges[ridge])
        copy._walks_at_last_ridge = self._walks_at_last_ridge
        return copy

    def has_its_type(self, ridge: Ridge) -> bool:
        """Return whether the type of a ridge is right; in the file of a search it may be wrong."""
        return self.deep_network.ridges([(ridge.u, ridge.v)], [ridge.mask]) == [ridge]

    def is_met_by_its_plane(self, ridge: Ridge) -> bool:
        """Return whether the plane stored for a known ridge meets this ridge, in exact arithmetic.

        It does if a walk met the ridge; the file of a search may claim so wrongly.
        """
        return self._planes.ridge_point(self.ridges[ridge].plane, ridge) is not None

    def outside_domain(self, ridges: Iterable[Ridge]) -> list[Ridge]:
        """Return the given known ridges whose point is not inside the domain, exactly.

        Walks decide this in floats. The point is the one where a walk met the ridge.
        """
        if self.domain is None:
            return []
        walls, found = ExactWalls(self.domain), list[Ridge]()
        for ridge in ridges:
            number = self.ridges[ridge].plane
            point = self._planes.ridge_point(number, ridge)
            if point is None or not walls.has_inside(self._planes.slice(number).embed(point)):
                found.append(ridge)
        return found

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
        self.budget = as_budget(budget)
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
        without_systems = evaluate_without_systems(self.deep_network, self._families)
        next_evaluation = SETTINGS.evaluation_growth * self._walks_at_last_evaluation
        if without_systems.missing and self.walks < next_evaluation:
            return without_systems
        self._walks_at_last_evaluation = self.walks
        return self.hypotheses

    def add(self, ridge: Ridge, location: Location) -> None:
        """Add a ridge with the location where it was met, unless the ridge is known."""
        if ridge in self.ridges:
            return
        self.ridges[ridge] = location
        self._families.add(ridge)
        self._walks_at_last_ridge = self.walks
        for piece in ridge.pieces:
            self._locations.setdefault(piece, location)
            self._first_piece.setdefault(piece.neuron, piece)
        if self._leads_up(ridge):
            self._steps_up[ridge.u].append(ridge)

    def _has_seen_nearly_all(self, missing: Mapping[int, int]) -> bool:
        """Return whether so few pairs are missing in each layer that walks may show them."""
        widths = self.network.widths
        return all(
            count <= SETTINGS.last_layer_missing * widths[layer - 1] * widths[layer]
            for layer, count in missing.items()
        )

    def _last_layer(self, orthant: Orthant, are_good: Judge) -> list[PlaneOfRidges]:
        """Return planes with ridges of the last hidden layer, after all other layers were seen.

        They have work of their own, because the other layers need nearly all of it.
        """
        work = self.budget.total_work
        budget = self.budget.apart(None if work is None else work * SETTINGS.last_layer_share)
        known = points_with_both_signs(orthant, orthant.depth, self.random, budget)
        return Triangles(orthant, known, budget, are_good).planes()

    def _look(self) -> None:
        """Search by sight, in networks that are large and have the right shape for it."""
        if self.domain is not None or not self.deep_network.is_searched_by_sight:
            return
        orthant = Orthant.of(self.network)
        if orthant is None:
            return
        # ridges that are good for regular competitors are so for transversal ones
        network = DeepNetwork.of(self.network, "regular")

        def ridges_at(points: Sequence[RidgePoint]) -> list[Ridge]:
            """Return the ridges at points, with their types."""
            pairs = [tuple(orthant.number(*neuron) for neuron in point.neurons) for point in points]
            masks = [mask_of(point.active) for point in points]
            return network.ridges([(min(pair), max(pair)) for pair in pairs], masks)

        def are_good(points: Sequence[RidgePoint]) -> list[bool]:
            """Return which points are points of good ridges."""
            return [ridge.kind is not None for ridge in ridges_at(points)]

        try:
            with np.errstate(all="ignore"):
                sight = SightSearch(orthant, self.random, self.budget, are_good)
                points = sight.ridge_points()
                planes = list(planes_of_ridges(orthant, points, are_good))
                if self._has_seen_nearly_all(sight.missing):
                    planes += self._last_layer(orthant, are_good)
        except np.linalg.LinAlgError:  # numbers beyond the range of floats
            return
        for found in planes:
            number = self._planes.add(found.plane)
            ridges = ridges_at([point for point, _ in found.ridges])
            if number is not None:
                for ridge, (_, (s, t)) in zip(ridges, found.ridges, strict=True):
                    self.add(ridge, Location(number, s, t))

    # -- which neuron to walk for -----------------------------------------------------------------

    def _round(self, hypotheses: DeepHypotheses, may_continue: Callable[[], bool]) -> bool:
        """Make some walks for what is missing; return whether all of them were made.

        In large networks some walks are begun before earlier ones are finished, so that others can
        make them at the same time, also while hypotheses are evaluated.
        """
        goals, begun = self._goals(hypotheses), self._begun
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

    def _go_on(self, goals: dict[int, _Goal]) -> None:
        """Take what the first of the walks met that were begun."""
        first = self._begun.popleft()
        ways = steps_of(self._stream.take(), first.num_ways, self.deep_network.size)
        self._advance(first, goals, ways)

    def _advance(
        self,
        walks: _BegunWalks,
        goals: dict[int, _Goal],
        ways: _Ways | None = None,
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

    def _chance(self, neuron: int, goal: _Goal) -> float:
        """Return the relative chance of a walk for a neuron.

        It grows with what is missing. For a neuron without a piece it falls from try to try,
        because there may be no zero at all.
        """
        if goal.piece:
            return min(1.0, SETTINGS.full_chance_tries / (1 + self._random_tries[neuron]))
        num_before = self.deep_network.mask_before(neuron).bit_count()
        return max(SETTINGS.least_chance, goal.never_active / (num_before or 1))

    def _goals(self, hypotheses: DeepHypotheses) -> dict[int, _Goal]:
        """Return, for each neuron that misses something, what its walks look for."""
        network, goals = self.deep_network, dict[int, _Goal]()
        for missing in hypotheses.missing:
            if missing.kind == "signs":
                for neuron in self._most_crossed(hypotheses, missing.layer + 1):
                    goals.setdefault(neuron, _Goal(crossings=True))
            # no walk helps against a weight that is 0
            elif missing.neuron_id is not None and missing.kind != "weight":
                neuron = network.number_of(missing.neuron_id)
                goals.setdefault(neuron, _Goal()).include(missing)
                if missing.input_id is not None and len(hypotheses.missing) <= SETTINGS.few_missing:
                    # the zeros of this neuron may determine the weight (D2')
                    goals.setdefault(network.number_of(missing.input_id), _Goal(crossings=True))
        return goals

    def _most_crossed(self, hypotheses: DeepHypotheses, layer: int) -> list[int]:
        """Return the neurons of a layer that are crossed by most neurons of the layer before."""
        chosen = hypotheses.chosen
        neurons = [neuron for neuron in self.deep_network.neurons_in(layer) if neuron in chosen]
        neurons.sort(key=lambda neuron: -chosen[neuron].crossed_by.bit_count())
        return neurons[: SETTINGS.sign_neurons]

    def _walks_for(self, hypotheses: DeepHypotheses, neuron: int, goal: _Goal) -> _Walks:
        """Make one walk for a neuron, or a climb; return whether more of them may help."""
        self.walks += 1
        evidence = hypotheses.chosen.get(neuron)
        is_wanted = self._is_dry and (goal.piece or goal.never_active > 0)
        if is_wanted and self.random.random() < SETTINGS.newton_share:
            yield from self._walk_at_common_zeros(neuron, evidence)
            return True
        first = evidence.families[0].key if evidence is not None else self._first_piece.get(neuron)
        share = SETTINGS.random_plane_share
        if self._inside is not None:
            share = SETTINGS.random_plane_share_on_domain
        if first is None or self.random.random() < share:
            yield from self._walk_in_random_plane(neuron)
            return True
        root = self._families.root(first)
        if goal.chain and self._inside is not None and (yield from self._walk_from_above(neuron)):
            return True
        family, before = self._families.growing_family(root), self.deep_network.mask_before(neuron)
        if goal.chain and self.random.random() < SETTINGS.climb_share:
            return not (yield from self._climb(root))
        if goal.crossings or goal.piece:
            targets = before & ~family.crossed_by
        else:
            nowhere_active = before & ~self._families.active[neuron]
            joined_active = evidence.num_active if evidence is not None else 0
            targets = nowhere_active or before & ~(family.num_active | joined_active)
            if nowhere_active and (yield from self._walk_for_nowhere_active(neuron, targets)):
                return True
        start = self._starting_piece(neuron, family.masks, targets)
        yield from self._walk_towards(start, targets)
        return bool(targets or goal.chain or goal.piece)

    def _walk_from_above(self, neuron: int) -> _Walks:
        """Walk along a bent hyperplane of the next layer towards the zeros of a neuron.

        On a domain its own pieces may lie where the ways to the next layer are cut off. Return
        whether such a walk was made; it is left to chance.
        """
        if self.random.random() >= SETTINGS.from_above_share:
            return False
        above = self.deep_network.neurons_in(self.deep_network.layer_of[neuron] + 1)
        known = [v for v in above if v in self._first_piece]
        if not known:
            return False
        v = self.random.choice(known)
        start = self._starting_piece(v, self._families.pieces[v], 1 << neuron)
        yield from self._walk_towards(start, 1 << neuron)
        return True

    def _walk_for_nowhere_active(self, neuron: int, targets: int) -> _Walks:
        """Walk for neurons that are active at no known piece: in a random plane or from any family.

        Return whether such a walk was made; it is left to chance.
        """
        if self.random.random() < SETTINGS.elsewhere_share:
            yield from self._walk_in_random_plane(neuron)
            return True
        if self.random.random() < SETTINGS.any_family_share:
            start = self._starting_piece(neuron, self._families.pieces[neuron], targets)
            yield from self._walk_towards(start, targets)
            yield from self._climb_once(start)
            return True
        return False

    def _walk_at_common_zeros(self, neuron: int, evidence: NeuronEvidence | None) -> _Walks:
        """Walk at zeros of a neuron, and of one of those before it that are active at no piece."""
        network, neurons = self.deep_network, [self.deep_network.neuron_id(neuron)]
        if evidence is not None:
            before = network.mask_before(neuron)
            missing = before & ~self._families.active[neuron] or before & ~evidence.num_active
            if missing:
                neurons.append(network.neuron_id(self.random.choice(list(bits_of(missing)))))
        points = np.array([self._random_point() for _ in range(SETTINGS.newton_points)])
        self.budget.pay(price_of_samples(self.network.num_parameters))
        zeros = self._common_zeros.near(neurons, points)
        for x in zeros[: SETTINGS.newton_walks]:
            gradients = [self._common_zeros.gradient(other, x) for other in neurons]
            with np.errstate(all="ignore"):
                normal = unit_vector(gradients[0])
                along = self._random_unit_vector(len(x))
                if len(gradients) > 1:
                    along = unit_vector(gradients[1] - (gradients[1] @ normal) * normal)
                start = x - SETTINGS.newton_start * (1 + np.abs(x).max()) * normal
            if not np.isfinite([start, normal, along]).all():
                continue
            plane = self._plane(start, normal, along)
            number = self._planes.add(plane)
            if number is not None:
                limit = SETTINGS.aimed_walk_cells
                for steps in (yield WalkOrder(plane, neuron, None, (False, True), limit)):
                    self._take(number, neuron, steps)
        return True

    # -- walks ------------------------------------------------------------------------------------

    def _walk_in_random_plane(self, neuron: int) -> _Walks:
        """Walk both ways along a bent hyperplane in a random plane."""
        self._random_tries[neuron] += 1
        if self._inside is None:
            plane = self._random_plane(neuron)
        else:
            plane = self._inside.plane(neuron, self.random, self._random_point)
        number = self._planes.add(plane)
        if number is None:
            return True
        self.budget.pay(price_of_ray(self.network.num_parameters))
        ways = (False, True)
        met = yield WalkOrder(plane, neuron, None, ways, SETTINGS.random_walk_cells)
        for steps in met:
            self._take(number, neuron, steps)
        return True

    def _random_plane(self, neuron: int) -> Plane:
        """Return a plane through a random point of R^n.

        The first direction is the sum of the direction in which the affine form of the neuron at
        the point decreases in size, and of a shorter random vector. The second one is random.
        """
        x = self._random_point()
        form = self.deep_network.float_form(neuron, self.deep_network.float_mask(x))
        towards = (
            -np.sign(form @ np.append(x, 1.0))
            * form[:-1]
            / (float(np.linalg.norm(form[:-1])) or 1.0)
        )
        size = SETTINGS.random_direction_size
        second = tuple(self.random.randint(-size, size) for _ in x)
        noise = SETTINGS.random_plane_noise * self._random_unit_vector(len(x))
        return Plane(rounded_point(x), (integer_direction(towards + noise), second))

    def _plane(self, x: Floats, first: Floats, second: Floats) -> Plane:
        """Return the plane through a point along two directions, with few digits."""
        if self._inside is not None:
            return self._inside.laid(x, first, second)
        return Plane(rounded_point(x), (integer_direction(first), integer_direction(second)))

    def _random_point(self) -> Floats:
        """Return a random point at a random scale, or a point near a known piece."""
        if self._first_piece and self.random.random() < SETTINGS.known_ridge_share:
            neuron = self.random.choice(list(self._first_piece))
            return self._point_near(
                Piece(neuron, self.random.choice(self._families.pieces[neuron]))
            )
        if self._inside is not None:
            return self._inside.random_point(self.random)
        # some zeros lie far out, so that scales grow with the number of walks
        lowest, highest = SETTINGS.scale_exponents
        highest += min(SETTINGS.scale_growth, self.walks // SETTINGS.walks_per_scale)
        scale = 2.0 ** self.random.randint(lowest, highest)
        steps, unit = SETTINGS.coordinate_steps, SETTINGS.coordinate_unit
        return np.array(
            [
                scale * self.random.randint(-steps, steps) * unit
                for _ in range(self.network.num_inputs)
            ]
        )

    def _random_unit_vector(self, size: int) -> Floats:
        return random_unit_vector(self.random, size)

    def _starting_piece(self, neuron: int, masks: Sequence[int], targets: int) -> Piece:
        """Return a piece of a neuron: of some random ones, the one nearest to a zero of a target.

        `masks` has the masks of the neuron's pieces, and `targets` is the mask of the target
        neurons. If it is 0, one random piece is returned.
        """
        count = SETTINGS.compared_pieces if targets else 1
        pieces = dict.fromkeys(Piece(neuron, self.random.choice(masks)) for _ in range(count))
        if not targets:
            return next(iter(pieces))
        return min(pieces, key=lambda piece: self._targets(piece, targets).distances.min())

    def _walk_towards(self, piece: Piece, targets: int) -> _Walks:
        """Walk along the bent hyperplane of a neuron, from a known piece, towards target neurons.

        The walk heads for the nearest zero of a target neuron or for the zeros of several together;
        in a random direction if `targets`, a mask, is 0.
        """
        stretch = self._stretch(piece)
        normal = stretch.pull(self.deep_network.float_form(*piece)[:-1])
        along, limit = self._random_unit_vector(len(normal)), SETTINGS.aimed_walk_cells
        if targets:
            goals = self._targets(piece, targets)
            count = len(goals.values)
            together = count > 1 and self.random.random() < SETTINGS.together_share
            towards = goals.to_several(len(normal) - 1) if together else goals.to_nearest()
            limit += SETTINGS.cells_per_target * count if together else 0
            along = unit_vector(towards) + self.random.choice(SETTINGS.aim_noises) * along
        directions = stretch.push(along), stretch.push(normal)
        plane = self._plane(self._point_near(piece), *directions)
        number = self._planes.add(plane)
        if number is not None:
            (steps,) = yield WalkOrder(plane, piece.neuron, piece, (False,), limit)
            self._take(number, piece.neuron, steps)
        return True

    def _targets(self, piece: Piece, targets: int) -> _Targets:
        """Return values and gradients, at a piece, of the neurons in the mask `targets`.

        On a domain, the gradients are in stretched coordinates (`Interior.stretch`).
        """
        network, x = self.deep_network, np.append(self._point_near(piece), 1.0)
        layer, stretch = network.layer_of[piece.neuron] - 1, self._stretch(piece)
        normal = stretch.pull(network.float_form(*piece)[:-1])
        rows = [network.index_in_layer(h) for h in bits_of(targets)]
        forms = network.float_forms(layer, piece.mask)[rows]
        gradients = stretch.pull(forms[:, :-1])
        across = np.outer(gradients @ normal / (normal @ normal or 1), normal)
        return _Targets(forms @ x, gradients - across)

    def _stretch(self, piece: Piece) -> Stretch:
        """Return the coordinates near a piece in which all walls of the domain are far enough."""
        if self._inside is None:
            return UNSTRETCHED
        return self._inside.interior.stretch(self._point_near(piece))

    def _climb_once(self, piece: Piece) -> _Walks:
        """Climb from the family of a piece, once, if its layer is not the last hidden one."""
        root, layer = self._families.root(piece), self.deep_network.layer_of[piece.neuron]
        if root not in self._climbed and layer < self.network.depth - 1:
            self._climbed.add(root)
            yield from self._climb(root)
        return True

    def _climb(self, root: Piece) -> _Walks:
        """Climb from crossings of a family with the next layer, in the plane of each crossing.

        Return whether a climb reached the last hidden layer.
        """
        masks = set(self._families.growing_family(root).masks)
        crossings = [
            ridge for ridge in self._steps_up[root.neuron] if ridge.ray(ridge.u, True).mask in masks
        ]
        last, count = self.network.depth - 1, min(len(crossings), SETTINGS.climb_starts)
        for ridge in self.random.sample(crossings, count):
            step: Ridge | None = ridge
            while step is not None and self.deep_network.layer_of[step.v] < last:
                step = yield from self._next_step_up(step)
            if step is not None:
                return True
        return False

    def _next_step_up(self, ridge: Ridge) -> Generator[WalkOrder, _Ways, Ridge | None]:
        """Walk along the later neuron of a ridge to a crossing with the layer after it."""
        number = self.ridges[ridge].plane
        found = yield from self._step_up_in(number, ridge)
        if found is None and self._inside is not None:
            # both ways along the later neuron may lead to one side of the first axis
            point, (first, second) = self.planes[number]
            turned = self._planes.add(Plane(point, (second, first)))
            assert turned is not None
            found = yield from self._step_up_in(turned, ridge)
        return found

    def _step_up_in(self, number: int, ridge: Ridge) -> Generator[WalkOrder, _Ways, Ridge | None]:
        """Walk both ways along the later neuron of a ridge, in a plane."""
        plane, limit = self.planes[number], SETTINGS.climb_cells
        for reverse in (False, True):
            (steps,) = yield WalkOrder(plane, ridge.v, ridge, (reverse,), limit)
            found = self._take(number, ridge.v, steps, self._is_step_up_from(ridge.v))
            if found is not None:
                return found
        return None

    def _is_step_up_from(self, neuron: int) -> Callable[[Ridge], bool]:
        """Return the decision whether a ridge joins a neuron to one of the next layer."""
        return lambda met: met.u == neuron and self._leads_up(met)

    def _leads_up(self, ridge: Ridge) -> bool:
        """Return whether a good ridge joins neurons of two successive layers."""
        layer_of = self.deep_network.layer_of
        return ridge.kind in ("B", "C") and layer_of[ridge.v] == layer_of[ridge.u] + 1

    def _take(
        self,
        number: int,
        neuron: int,
        steps: Sequence[Step | None],
        is_enough: Callable[[Ridge], bool] | None = None,
    ) -> Ridge | None:
        """Pay for a walk along a neuron in a plane, and add the ridges that it met.

        Return the first ridge that is enough; what comes after it is left out.
        """
        for step in steps:
            self.budget.pay(self._cell_price)
            if step is None:
                break
            if step.middle is not None:
                # the middle is a better location for the piece than a ridge at its end
                self._locations[Piece(neuron, step.mask)] = Location(number, *step.middle)
            if step.ridge is not None:
                self.add(step.ridge, Location(number, *step.end))
                if is_enough is not None and is_enough(step.ridge):
                    return step.ridge
        return None

    def _point_near(self, piece: Piece) -> Floats:
        """Return an approximate point on a piece."""
        return self._planes.near(self._locations[piece])


@dataclass(frozen=True, slots=True)
class _Targets:
    """Neurons whose zeros a walk along a bent hyperplane should meet, in floats.

    Attributes
    ----------
    values
        Their preactivations at the start of the walk, shape (count,).
    gradients
        The components of their gradients along the bent hyperplane, shape (count, n_0).
    """

    values: Floats
    gradients: Floats

    @property
    def distances(self) -> Floats:
        """Approximate distances of the zeros, shape (count,); infinite if there is none."""
        lengths = np.linalg.norm(self.gradients, axis=1)
        with np.errstate(all="ignore"):
            distances: Floats = np.where(lengths > 0, np.abs(self.values) / lengths, np.inf)
        return distances

    def to_nearest(self) -> Floats:
        """Return the direction to the nearest zero."""
        i = int(np.argmin(self.distances))
        return np.asarray(-np.sign(self.values[i]) * self.gradients[i], dtype=np.float64)

    def to_several(self, count: int) -> Floats:
        """Return the least-squares displacement that changes the sign of several values.

        The values belong to the `count` neurons whose zeros are nearest.
        """
        near = np.argsort(self.distances, kind="stable")[:count]
        changes = -SETTINGS.overshoot * self.values[near]
        displacement = np.linalg.lstsq(
            self.gradients[near], changes, rcond=SETTINGS.singular_value_cutoff
        )[0]
        return np.asarray(displacement, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _BegunWalks:
    """Walks for a neuron, one after the other, the first of which is begun, in a number of ways."""

    neuron: int
    orders: _Walks
    num_ways: int = 0


@dataclass(slots=True)
class _Goal:
    """What the walks for a neuron look for.

    Attributes
    ----------
    piece
        A first piece of the neuron.
    chain
        A longer chain up.
    crossings
        More neurons that cross its family.
    never_active
        Number of neurons of the layer before that are active at none of its pieces.
    """

    piece: bool = False
    chain: bool = False
    crossings: bool = False
    never_active: int = 0

    def include(self, missing: Missing) -> None:
        """Record that `missing` still has to be found for this neuron."""
        self.piece |= missing.kind == "piece"
        self.chain |= missing.kind == "chain"
        self.crossings |= missing.kind == "independent"
        self.never_active += missing.kind == "active"
