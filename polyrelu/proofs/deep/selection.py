"""Theorem D: few ridges out of many that still show the hypotheses.

A search meets thousands of ridges; most of them are not needed. What is needed of a family: a crossing that leads up,
to a family that is placed itself, and pieces that show the neurons of the layer before on and off. `few_ridges` picks
crossings and short paths of links to such pieces, makes sure that what is wanted still holds, and leaves out what can
be left out on top of that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from polyrelu.proofs.deep.families import Families, Family
from polyrelu.proofs.deep.hypotheses import DeepHypotheses, evaluate
from polyrelu.proofs.deep.neuron_evidence import is_placed
from polyrelu.proofs.deep.ridges import DeepNetwork, Piece, Ridge

__all__ = ["few_ridges"]

#: So many ridges are evaluated, all trials together, to leave some of them out; fewer in wide networks, where the
#: linear systems are large.
_TRIALS = 20_000

#: So often what is still missing is added to the ridges that were picked.
_REPAIRS = 6


def few_ridges(
    space: DeepNetwork,
    ridges: Sequence[Ridge],
    hypotheses: DeepHypotheses,
    places: Collection[int],
    enough: Callable[[DeepHypotheses], bool] = lambda found: found.hold,
) -> list[Ridge]:
    """Some of the ridges that are enough.

    Parameters
    ----------
    hypotheses : of all the ridges.
    places : of the neurons that the claim is about.
    enough : whether what was evaluated at some ridges is enough; it is for all of them.

    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.proofs.deep.search import DeepSearch
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
    >>> search = DeepSearch(net)
    >>> hypotheses = search.run(rounds=20)
    >>> found = few_ridges(search.space, list(search.ridges), hypotheses, range(4))
    >>> 2 <= len(found) <= len(search.ridges)
    True
    """

    def hold(some: Sequence[Ridge]) -> bool:
        return enough(evaluate(space, some, Families(space, some)))

    wanted = [family for place in places for family in hypotheses.known[place].families]
    picked = _picked(space, ridges, wanted, enough)
    found, cost = (
        picked if picked is not None else list(ridges),
        (max(space.network.widths[1:-1]) // 32) ** 2,
    )
    return _thinned(found, hold, (_TRIALS + 2 * len(found)) // max(1, cost))


def _picked(
    space: DeepNetwork,
    ridges: Sequence[Ridge],
    wanted: Sequence[Family],
    enough: Callable[[DeepHypotheses], bool],
) -> list[Ridge] | None:
    """Few ridges, and all at the pieces of neurons for which these are too few; None if that is not enough."""
    used = _Selection(space, ridges, wanted).used
    for _ in range(_REPAIRS):
        chosen = [ridges[i] for i in sorted(used)]
        found = evaluate(space, chosen, Families(space, chosen))
        if enough(found):
            return chosen
        more = _at_neurons(ridges, _short_of(space, found))
        if more <= used:
            return None
        used |= more
    return None


def _at_neurons(ridges: Sequence[Ridge], places: set[int]) -> set[int]:
    return {i for i, ridge in enumerate(ridges) if ridge.u in places or ridge.v in places}


def _short_of(space: DeepNetwork, found: DeepHypotheses) -> set[int]:
    """The neurons whose pieces may show what is missing."""
    places: set[int] = set()
    for entry in found.missing:
        if entry.neuron is None:
            places.update(space.places(entry.layer + 1))
        else:
            places.add(space.place(entry.neuron))
            if (
                entry.other is not None and entry.layer == space.network.depth - 1
            ):  # a source is shown at its own zeros
                places.add(space.place(entry.other))
    return places


def _thinned(
    ridges: list[Ridge], hold: Callable[[Sequence[Ridge]], bool], left: int
) -> list[Ridge]:
    """Without parts, large ones first, that are not needed; as long as no more than so many ridges are evaluated, all
    trials together."""
    size = len(ridges) // 2
    while size and left > 0:
        start = 0
        while start < len(ridges) and left > 0:
            shorter = ridges[:start] + ridges[start + size :]
            left -= len(shorter)
            if hold(shorter):
                ridges = shorter
            else:
                start += size
        size //= 2
    return ridges


@dataclass(slots=True, eq=False)
class _Part:
    """A family, and what is kept of it: masks of pieces, and what they show on and off of the layer before."""

    family: Family
    masks: set[int] = field(default_factory=set)
    on: int = 0
    off: int = 0


class _Selection:
    """Picks ridges; `used` has their places in the list."""

    def __init__(
        self, space: DeepNetwork, ridges: Sequence[Ridge], wanted: Sequence[Family]
    ) -> None:
        self._space, self._ridges = space, ridges
        self.used: set[int] = set()
        self._families = Families(space, ridges)
        self._all = {self._families.root(family.key): family for family in self._families.all()}
        self._links: defaultdict[Piece, list[tuple[Piece, int]]] = defaultdict(list)
        self._up: defaultdict[Piece, list[int]] = defaultdict(list)
        self._beside: defaultdict[Piece, list[int]] = defaultdict(list)
        for i, ridge in enumerate(ridges):
            self._enter(i, ridge)
        self._parts = {self._families.root(family.key): _Part(family) for family in wanted}
        waiting = list(self._parts.values())
        while waiting:
            waiting += self._support(waiting.pop())
        for family in wanted:
            self._cover(self._parts[self._families.root(family.key)])

    def _enter(self, i: int, ridge: Ridge) -> None:
        """Note where a ridge links, leads up, and meets neurons of one layer."""
        for one, other in ridge.links:
            self._links[one].append((other, i))
            self._links[other].append((one, i))
        if ridge.crossing is None:
            return
        roots = [self._families.root(piece) for piece in (ridge.crossing.u, ridge.crossing.v)]
        if ridge.kind == "A":
            for root in roots:
                self._beside[root].append(i)
        elif self._space.layer_of[ridge.v] == self._space.layer_of[ridge.u] + 1 and self._is_placed(
            roots[1]
        ):
            self._up[roots[0]].append(i)

    def _is_placed(self, root: Piece) -> bool:
        return is_placed(self._space, self._all[root])

    def _support(self, part: _Part) -> list[_Part]:
        """A crossing that leads up from a family; the families that are new and need one themselves."""
        root = self._families.root(part.family.key)
        if self._space.layer_of[
            part.family.place
        ] == self._space.network.depth - 1 or not self._is_placed(root):
            return []
        if root in self._up:
            return self._take(self._best_step(self._up[root]))
        for i in self._beside[root]:  # a neuron of the same layer that it meets leads up
            crossing = self._ridges[i].crossing
            assert crossing is not None
            if any(self._families.root(piece) in self._up for piece in (crossing.u, crossing.v)):
                return self._take(i)
        return []

    def _best_step(self, steps: Iterable[int]) -> int:
        """A crossing with a family that is kept anyway, if there is one."""
        steps = list(steps)
        for i in steps:
            crossing = self._ridges[i].crossing
            assert crossing is not None
            if self._families.root(crossing.v) in self._parts:
                return i
        return steps[0]

    def _take(self, i: int) -> list[_Part]:
        """Keep a ridge, and paths of links to it; the families that are new."""
        crossing, new = self._ridges[i].crossing, list[_Part]()
        assert crossing is not None
        self.used.add(i)
        for piece in (crossing.u, crossing.v):
            root = self._families.root(piece)
            if root not in self._parts:
                self._parts[root] = _Part(self._all[root])
                new.append(self._parts[root])
            self._reach(self._parts[root], piece)
        return new

    def _keep(self, part: _Part, mask: int) -> None:
        before = self._space.before(part.family.place)
        part.masks.add(mask)
        part.on, part.off = part.on | mask & before, part.off | ~mask & before

    def _reach(self, part: _Part, target: Piece) -> None:
        """A path from what is kept to a piece."""
        if not part.masks:
            self._keep(part, target.mask)
        elif target.mask not in part.masks:
            self._walk(part, target, self._tree(part))

    def _cover(self, part: _Part) -> None:
        """Paths until all is shown that the family shows, those first that show most on their way."""
        if not part.masks:
            self._keep(part, part.family.masks[0])
        while part.family.on & ~part.on or part.family.off & ~part.off:
            tree = self._tree(part)
            self._walk(part, self._best(part, tree), tree)

    def _tree(self, part: _Part) -> dict[Piece, tuple[Piece, int]]:
        """Shortest ways from what is kept to all pieces, near ones first: the one before, the ridge between them."""
        tree: dict[Piece, tuple[Piece, int]] = {}
        queue = [Piece(part.family.place, mask) for mask in sorted(part.masks)]
        for piece in queue:
            for other, ridge in self._links[piece]:
                if other not in tree and other.mask not in part.masks:
                    tree[other] = piece, ridge
                    queue.append(other)
        return tree

    def _best(self, part: _Part, tree: dict[Piece, tuple[Piece, int]]) -> Piece:
        """The end of the path that shows most for its length."""
        before = self._space.before(part.family.place)
        on_way: dict[Piece, tuple[int, int, int]] = {}
        best, merit = next(iter(tree)), 0.0
        for piece, (start, _) in tree.items():
            length, on, off = on_way.get(start, (0, part.on, part.off))
            length, on, off = length + 1, on | piece.mask & before, off | ~piece.mask & before
            on_way[piece] = length, on, off
            value = ((on & ~part.on).bit_count() + (off & ~part.off).bit_count()) / length
            if value > merit:
                best, merit = piece, value
        return best

    def _walk(self, part: _Part, target: Piece, tree: dict[Piece, tuple[Piece, int]]) -> None:
        while target in tree:
            before, ridge = tree[target]
            self._keep(part, target.mask)
            self.used.add(ridge)
            target = before
