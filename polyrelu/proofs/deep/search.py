"""Theorem D: a search for ridges that show the hypotheses (`deep_points` evaluates them).

Bent hyperplanes are walked along in planes, from cell to cell. The signs of a walk are certain, so that what it meets
are ridges; floats choose the planes and nothing else. First planes are random; then the search goes for what is
missing:

* a chain up from a family of v: it *climbs*, from a crossing with a neuron of the next layer along that neuron's bent
  hyperplane, in the same plane, until this one crosses the next layer, and so on;
* pieces of v with h on (or on and off): it *aims*, in a plane through a known piece of v, one direction of which leads
  along the bent hyperplane of v towards the zeros of an h.

The planes are those of `deep_planes`.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import DomainError
from polyrelu.network import Network
from polyrelu.proofs.deep.families import Families
from polyrelu.proofs.deep.hypotheses import DeepHypotheses, Missing, evaluate, sketch
from polyrelu.proofs.deep.neuron_evidence import bits_of
from polyrelu.proofs.deep.planes import InPlane, Plane, Planes, Spot, rounded, short, unit
from polyrelu.proofs.deep.ridges import (
    Competitors,
    DeepNetwork,
    Piece,
    Ridge,
    deep_network,
    mask_of,
)
from polyrelu.walks import CrossingPoint, bent_walk_from

__all__ = ["DeepSearch"]

#: A random walk, an aimed one, one that climbs, and the ways to a start, anywhere and near, meet so many cells at most.
_RANDOM, _AIMED, _CLIMB, _WAY, _NEAR = 60, 40, 25, 300, 20

#: At least so many walks, for each hidden neuron, between two evaluations; and at least this share of all walks.
_WALKS, _GROWTH = 2, 0.25

#: All hypotheses are evaluated whenever there are so many times as many walks as the last time.
_PATIENCE = 2

#: So many walks without a new ridge, and half of all, end a search.
_IDLE = 200

#: The share of walks in random planes, and so many pieces from which a walk may start are compared.
_SHARE, _STARTS = 0.1, 8

#: The share of known ridges among the points from which a zero is looked for; so many times a neuron without a piece
#: has as good a chance as the others.
_FROM_KNOWN, _HOPE = 0.3, 4

#: If no more than so much is missing, the zeros of the neurons that are never on are walked along, too.
_FEW = 32

#: The share of aimed walks that go for many neurons at once.
_TOGETHER = 0.4

#: The share of walks elsewhere, for a neuron that some neurons are never on with.
_AFRESH = 0.25

#: So many crossings are tried to climb from.
_TRIES = 4


class DeepSearch:
    """A search for ridges; it can be continued, and the same seed finds the same ridges.

    Parameters
    ----------
    network : a plain stack with an affine output, at least one hidden layer, n_0 ≥ 2; others raise `DomainError`.
    seed : for the planes.
    among : the class of competitors, which says what ridges are good.

    Attributes
    ----------
    space : the network with what is worked out for its ridges.
    seed : as given.
    random : the source of all choices.
    ridges : what was found, and where.
    walks : how many walks there were.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
    >>> search = DeepSearch(net)
    >>> print(search.run(rounds=20))
    all hypotheses hold
    """

    def __init__(self, network: Network, seed: int = 0, among: Competitors = "transversal") -> None:
        self.network, self.seed = network, seed
        self.space: DeepNetwork = deep_network(network, among)
        self.ridges: dict[Ridge, Spot] = {}
        self.walks = 0
        self.random = Random(seed)
        self._families = Families(self.space)
        self._places: dict[Piece, Spot] = {}
        self._steps_up: defaultdict[int, list[Ridge]] = defaultdict(list)
        self._planes = Planes(self.space)
        self._first: dict[int, Piece] = {}
        self._climbed: set[Piece] = set()
        self._tries: defaultdict[int, int] = defaultdict(int)
        self._last_success = self._evaluated = 0
        self._hypotheses: DeepHypotheses | None = None

    @property
    def planes(self) -> list[Plane]:
        """The planes in which there were walks, by their numbers."""
        return self._planes.all

    @property
    def hypotheses(self) -> DeepHypotheses:
        """What the ridges show so far."""
        if self._hypotheses is None:
            self._hypotheses = evaluate(self.space, list(self.ridges), self._families)
        return self._hypotheses

    @property
    def idle(self) -> bool:
        """Whether so many walks have met no new ridge that there may be no others."""
        return self.walks - self._last_success > _IDLE + self.walks // 2

    def among_regular(self) -> DeepSearch:
        """What it has met, as it counts among regular competitors, in another search, which can go on from there."""
        other = DeepSearch(self.network, self.seed, "regular")
        other.walks, other.planes[:], other.random = (
            self.walks,
            self.planes,
            Random(f"{self.seed}, {self.walks}"),
        )
        for ridge, spot in self.ridges.items():
            other.add(other.space.ridge(ridge.u, ridge.v, ridge.mask), spot)
        other._last_success = self._last_success
        return other

    def run(
        self,
        time_limit: float | None = None,
        rounds: int | None = None,
        progress: Callable[[DeepSearch], bool] | None = None,
    ) -> DeepHypotheses:
        """Search until the hypotheses hold, or nothing new is met any more (`idle`), or for so many seconds or rounds;
        what was found is kept. `progress` is called before each walk, and ends the search if it says no.
        """
        deadline = None if time_limit is None else time.monotonic() + time_limit

        def goes_on() -> bool:
            return (deadline is None or time.monotonic() < deadline) and (
                progress is None or progress(self)
            )

        count, found = 0, self.hypotheses
        while found.missing and not self.idle and (rounds is None or count < rounds):
            if not self._round(found, goes_on):
                break
            found = self._look()
            count += 1
        return self.hypotheses

    def _look(self) -> DeepHypotheses:
        """What is missing now. All hypotheses are evaluated if chains and neurons that are on are there, and whenever
        so many walks were made since the last time that there may be enough."""
        self._hypotheses = None
        found = sketch(self.space, self._families)
        if found.missing and self.walks < _PATIENCE * self._evaluated:
            return found
        self._evaluated = self.walks
        return self.hypotheses

    def add(self, ridge: Ridge, spot: Spot) -> None:
        """Take in a ridge."""
        if ridge in self.ridges:
            return
        self.ridges[ridge] = spot
        self._families.add(ridge)
        self._last_success = self.walks
        for piece in ridge.pieces:
            self._places.setdefault(piece, spot)
            self._first.setdefault(piece.place, piece)
        if self._leads_up(ridge):
            self._steps_up[ridge.u].append(ridge)

    # -- what to do next ------------------------------------------------------------------------------------------

    def _round(self, found: DeepHypotheses, goes_on: Callable[[], bool]) -> bool:
        """Some walks for what is missing; whether there was time for all of them."""
        wanted = self._wanted(found)
        for _ in range(max(_WALKS * self.space.size, int(_GROWTH * self.walks))):
            if not wanted:
                return True
            if not goes_on():
                self._hypotheses = None
                return False
            hopes = [self._hope(place, want) for place, want in wanted.items()]
            (neuron,) = self.random.choices(list(wanted), hopes)
            if not self._step(found, neuron, wanted[neuron]):
                del wanted[neuron]
        return True

    def _hope(self, place: int, want: _Want) -> float:
        """How often to walk for a neuron: more if it misses more, and less and less if it may have no zero at all."""
        if want.piece:
            return min(1.0, _HOPE / (1 + self._tries[place]))
        return max(0.2, want.off / (self.space.before(place).bit_count() or 1))

    def _wanted(self, found: DeepHypotheses) -> dict[int, _Want]:
        """For each neuron that misses something, what to go for."""
        wanted: dict[int, _Want] = {}
        for missing in found.missing:
            if missing.want == "signs":
                for place in self._most_crossed(found, missing.layer + 1):
                    wanted.setdefault(place, _Want(crossed=True))
            elif missing.neuron is not None and missing.want != "weight":
                wanted.setdefault(self.space.place(missing.neuron), _Want()).include(missing)
                if (
                    missing.other is not None and len(found.missing) <= _FEW
                ):  # its own zeros may show the weight (D2')
                    wanted.setdefault(self.space.place(missing.other), _Want(crossed=True))
        return wanted

    def _most_crossed(self, found: DeepHypotheses, layer: int) -> list[int]:
        """The neurons of a layer that are crossed by most neurons of the layer before."""
        known = found.known
        places = [place for place in self.space.places(layer) if place in known]
        return sorted(places, key=lambda place: -known[place].crossed.bit_count())[:3]

    def _step(self, found: DeepHypotheses, place: int, want: _Want) -> bool:
        """One walk for a neuron; whether it still misses something, as far as that is easily told."""
        self.walks += 1
        known = found.known.get(place)
        first = known.families[0].key if known is not None else self._first.get(place)
        if first is None or self.random.random() < _SHARE:
            self._explore(place)
            return True
        root = self._families.root(first)
        members, before = self._families.members(root), self.space.before(place)
        if want.up and self.random.random() < 1 / 2:
            return not self._climb(root)
        if want.crossed or want.piece:
            unresolved = before & ~(members.on & members.off)
        else:
            nowhere = before & ~self._families.on[place]
            unresolved = nowhere or before & ~(members.on | (known.on if known else 0))
            if nowhere and self.random.random() < _AFRESH:
                self._explore(place)
                return True
            if nowhere and self.random.random() < 1 / 2:  # from any family
                start = self._start(place, self._families.pieces[place], unresolved)
                self._aim(start, unresolved)
                self._place(start)
                return True
        self._aim(self._start(place, members.masks, unresolved), unresolved)
        return bool(unresolved or want.up or want.piece)

    # -- walks ----------------------------------------------------------------------------------------------------

    def _explore(self, place: int) -> None:
        """Both ways along a bent hyperplane, from a zero that is looked for from some point, in a random plane."""
        self._tries[place] += 1
        number = self._planes.add(self._plane_for(place))
        if number is None:
            return
        start = self._planes.zero(number, place, ((1, 0), (-1, 0)), _WAY)
        for reverse in (False, True):
            self._walk(number, place, start, reverse, _RANDOM)

    def _plane_for(self, place: int) -> Plane:
        """A plane through a random point, the first direction of which leads towards zeros of a neuron, as far as that
        is seen from there."""
        layer, x = self.space.layer_of[place], self._anywhere()
        form = self.space.float_forms(layer, self.space.float_mask(x))[
            place - self.space.starts[layer - 1]
        ]
        way = (
            -np.sign(form @ np.append(x, 1.0))
            * form[:-1]
            / (float(np.linalg.norm(form[:-1])) or 1.0)
        )
        second = tuple(self.random.randint(-9, 9) for _ in x)
        return Plane(rounded(x), (short(way + self._noise(len(x)) / 4), second))

    def _anywhere(self) -> NDArray[np.float64]:
        """A random point, at any scale, or a known ridge."""
        if self._first and self.random.random() < _FROM_KNOWN:
            seen = self.random.choice(list(self._first))
            return self._where(Piece(seen, self.random.choice(self._families.pieces[seen])))
        scale = 2.0 ** self.random.randint(
            -6, 4 + min(12, self.walks // 40)
        )  # some zeros lie far out
        return np.array(
            [scale * self.random.randint(-64, 64) / 16 for _ in range(self.network.inputs)]
        )

    def _noise(self, size: int) -> NDArray[np.float64]:
        """A random unit vector."""
        noise = np.array([self.random.gauss(0, 1) for _ in range(size)])
        return np.asarray(noise / np.linalg.norm(noise), dtype=np.float64)

    def _start(self, place: int, masks: Sequence[int], unresolved: int) -> Piece:
        """Of some pieces the one that is nearest to a zero of one of some neurons; any piece if there are none."""
        pieces = dict.fromkeys(
            Piece(place, self.random.choice(masks)) for _ in range(_STARTS if unresolved else 1)
        )
        if not unresolved:
            return next(iter(pieces))
        return min(pieces, key=lambda piece: self._targets(piece, unresolved).distances.min())

    def _aim(self, piece: Piece, unresolved: int) -> None:
        """Along the bent hyperplane of a neuron, from a known piece, towards the zeros of some neurons that are on (or
        off) at all its known pieces, the nearest one or many at once; in a random direction if there are none."""
        normal = self._form(piece)[:-1]
        along, limit = self._noise(len(normal)), _AIMED
        if unresolved:
            targets = self._targets(piece, unresolved)
            together = len(targets.values) > 1 and self.random.random() < _TOGETHER
            way = targets.to_many(len(normal) - 1) if together else targets.to_nearest()
            limit += 2 * len(targets.values) if together else 0
            along = unit(way) + self.random.choice((0, 0.1, 1)) * along
        number = self._planes.add(Plane(rounded(self._where(piece)), (short(along), short(normal))))
        if number is not None:
            start = self._planes.on_piece(number, piece) or self._planes.zero(
                number, piece.place, ((0, 1), (0, -1)), _NEAR
            )
            self._walk(number, piece.place, start, False, limit)

    def _targets(self, piece: Piece, unresolved: int) -> _Targets:
        """Neurons of the layer before, seen from a piece."""
        layer, x = self.space.layer_of[piece.place], np.append(self._where(piece), 1.0)
        normal = self._form(piece)[:-1]
        start = self.space.starts[layer - 2]
        forms = self.space.float_forms(layer - 1, piece.mask)[
            [h - start for h in bits_of(unresolved)]
        ]
        ways = forms[:, :-1]
        return _Targets(forms @ x, ways - np.outer(ways @ normal / (normal @ normal or 1), normal))

    def _place(self, piece: Piece) -> None:
        """Climb from the family of a piece, once."""
        root = self._families.root(piece)
        if root not in self._climbed and self.space.layer_of[piece.place] < self.network.depth - 1:
            self._climbed.add(root)
            self._climb(root)

    def _climb(self, root: Piece) -> bool:
        """From crossings of a family with the next layer on upwards, in the plane of each; whether it got to the last
        hidden layer."""
        masks = set(self._families.members(root).masks)
        fitting = [
            ridge for ridge in self._steps_up[root.place] if ridge.ray(ridge.u, True).mask in masks
        ]
        for ridge in self.random.sample(fitting, min(len(fitting), _TRIES)):
            found: Ridge | None = ridge
            while found is not None and self.space.layer_of[found.v] < self.network.depth - 1:
                found = self._next_step_up(found)
            if found is not None:
                return True
        return False

    def _next_step_up(self, ridge: Ridge) -> Ridge | None:
        """From a ridge along the bent hyperplane of its later neuron to a crossing with the layer after that one."""
        number = self.ridges[ridge].plane
        start = self._planes.meeting(number, ridge)
        for reverse in (False, True):
            for found in self._met(number, ridge.v, start, reverse, _CLIMB):
                if found.u == ridge.v and self._leads_up(found):
                    return found
        return None

    def _leads_up(self, ridge: Ridge) -> bool:
        """Whether a neuron of one layer meets one of the next layer."""
        return (
            ridge.kind in ("B", "C")
            and self.space.layer_of[ridge.v] == self.space.layer_of[ridge.u] + 1
        )

    def _walk(
        self, number: int, place: int, start: InPlane | None, reverse: bool, limit: int
    ) -> None:
        for _ in self._met(number, place, start, reverse, limit):
            pass

    def _met(
        self, number: int, place: int, start: InPlane | None, reverse: bool, limit: int
    ) -> Iterator[Ridge]:
        """The ridges on a walk; none without a start, or if the bent hyperplane branches there."""
        if start is None:
            return
        try:
            walk = bent_walk_from(
                self._planes.slice(number), self.space.neuron(place), start, reverse=reverse
            )
            for piece in islice(walk, limit):
                start_of, end = piece.start, piece.end
                if start_of is not None and end is not None:  # better than the ridge at its end
                    middle = ((a + b) / 2 for a, b in zip(start_of.near, end.near, strict=True))
                    self._places[Piece(place, mask_of(piece.track.signs))] = Spot(number, *middle)
                if isinstance(end, CrossingPoint) and np.count_nonzero(end.at == 0) == 2:
                    u, v = sorted((end.u, end.v))
                    ridge = self.space.ridge(u, v, mask_of(end.at))
                    self.add(ridge, Spot(number, *end.near))
                    yield ridge
        except DomainError:
            return

    def confirms(self, ridge: Ridge) -> bool:
        """Whether the plane that is kept for a ridge meets it, exactly."""
        return self._planes.meeting(self.ridges[ridge].plane, ridge) is not None

    def _where(self, piece: Piece) -> NDArray[np.float64]:
        """A point near a piece."""
        return self._planes.near(self._places[piece])

    def _form(self, piece: Piece) -> NDArray[np.float64]:
        """[∇z | z(0)] of its own neuron on a piece, in floats."""
        layer = self.space.layer_of[piece.place]
        found: NDArray[np.float64] = self.space.float_forms(layer, piece.mask)[
            piece.place - self.space.starts[layer - 1]
        ]
        return found


@dataclass(frozen=True, slots=True)
class _Targets:
    """Neurons whose zeros a walk along a bent hyperplane should meet: their values where it starts, and their gradients
    along it, as rows. In floats."""

    values: NDArray[np.float64]
    gradients: NDArray[np.float64]

    @property
    def distances(self) -> NDArray[np.float64]:
        """About how far the zeros are."""
        sizes = np.linalg.norm(self.gradients, axis=1)
        with np.errstate(all="ignore"):
            found: NDArray[np.float64] = np.where(sizes > 0, np.abs(self.values) / sizes, np.inf)
        return found

    def to_nearest(self) -> NDArray[np.float64]:
        """The direction to the nearest zero."""
        i = int(np.argmin(self.distances))
        return np.asarray(-np.sign(self.values[i]) * self.gradients[i], dtype=np.float64)

    def to_many(self, most: int) -> NDArray[np.float64]:
        """The way to where all the neurons have the other sign, at most so many of them, near ones first."""
        near = np.argsort(self.distances, kind="stable")[:most]
        found = np.linalg.lstsq(self.gradients[near], -2 * self.values[near], rcond=1e-6)[0]
        return np.asarray(found, dtype=np.float64)


@dataclass(slots=True)
class _Want:
    """What is missing of a neuron: a piece; a chain up; that neurons cross it; how many are never on."""

    piece: bool = False
    up: bool = False
    crossed: bool = False
    off: int = 0

    def include(self, missing: Missing) -> None:
        """One thing more."""
        self.piece |= missing.want == "piece"
        self.up |= missing.want == "up"
        self.crossed |= missing.want == "independent"
        self.off += missing.want == "on"
