"""The selection of few ridges that still prove the hypotheses of Theorem D.

A search finds thousands of ridges, and most of them are not needed. `select_ridges` picks ridges
that are likely to be enough, evaluates the hypotheses at them, adds ridges at the neurons that miss
something, and leaves out afterwards what can be left out. The evaluation decides: whatever is
picked, what is returned is enough.

Of a family two things are needed: a crossing that leads up to a family with a full chain, and
pieces at which the neurons of the layer before are active and inactive. Pieces belong to one family
only if paths of links connect them, so ridges are picked along short paths.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from polyrelu.proofs.deep.families import Families, Family
from polyrelu.proofs.deep.hypotheses import DeepHypotheses, evaluate
from polyrelu.proofs.deep.neuron_evidence import has_full_chain
from polyrelu.proofs.deep.ridges import Crossing, DeepNetwork, Piece, Ridge
from polyrelu.proofs.deep.settings import SETTINGS

__all__ = ["select_ridges"]

#: Shortest paths of links from the kept pieces of a family: for each reached piece the piece before
#: it and the index of the ridge that links both. Near pieces come first.
_Paths: TypeAlias = dict[Piece, tuple[Piece, int]]


def select_ridges(
    deep_network: DeepNetwork,
    ridges: Sequence[Ridge],
    hypotheses: DeepHypotheses,
    neurons: Collection[int],
    is_enough: Callable[[DeepHypotheses], bool] = lambda found: found.hold,
) -> list[Ridge]:
    """Select few of the ridges that are enough for a claim.

    Parameters
    ----------
    deep_network
        The network.
    ridges
        Ridges that are enough together.
    hypotheses
        The hypotheses evaluated at all these ridges.
    neurons
        Numbers of the neurons that the claim is about.
    is_enough
        Decides whether the hypotheses evaluated at some ridges are enough for the claim.

    Returns
    -------
    list of Ridge
        Some of the ridges, in their order.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.proofs.deep.search import DeepSearch
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2])
    >>> search = DeepSearch(from_arrays([first, second, ([[1, 2]], [0])]))
    >>> hypotheses = search.run(rounds=20)
    >>> few = select_ridges(search.deep_network, list(search.ridges), hypotheses, range(4))
    >>> 2 <= len(few) <= len(search.ridges)
    True
    """

    def are_enough(some: Sequence[Ridge]) -> bool:
        """Return whether some ridges alone show enough."""
        return is_enough(evaluate(deep_network, some, Families(deep_network, some)))

    wanted = [hypotheses.chosen[neuron].families for neuron in neurons]
    cost = max(1, max(deep_network.widths[1:-1]) // SETTINGS.wide_layer) ** 2
    if cost == 1:
        used = _Selection(deep_network, ridges, chain.from_iterable(wanted)).used
    else:  # trials cannot repair much, so that more is chosen before
        used = _Selection(deep_network, ridges, chain.from_iterable(map(_covering, wanted))).shown()
    picked = _repaired(deep_network, ridges, used, is_enough)
    found = picked if picked is not None else list(ridges)
    budget = (SETTINGS.selection_ridges + 2 * len(found)) // cost
    return _reduced(found, are_enough, budget)


def _covering(families: Sequence[Family]) -> Sequence[Family]:
    """Return families of a neuron with all active and all crossing neurons of all its families.

    The chosen family comes first; then, again and again, the one that adds most.
    """
    kept, rest = [families[0]], list(families[1:])
    active, crossing = families[0].num_active, families[0].crossed_by

    def gain(family: Family) -> int:
        """Return how many neurons a family adds."""
        added = family.num_active & ~active, family.crossed_by & ~crossing
        return sum(mask.bit_count() for mask in added)

    while rest:
        best = max(rest, key=gain)
        if not gain(best):
            break
        kept.append(best)
        rest.remove(best)
        active, crossing = active | best.num_active, crossing | best.crossed_by
    return kept


def _repaired(
    deep_network: DeepNetwork,
    ridges: Sequence[Ridge],
    used: set[int],
    is_enough: Callable[[DeepHypotheses], bool],
) -> list[Ridge] | None:
    """Return few ridges that are enough: picked ridges, given by their indices, and repairs.

    A repair adds all ridges at the neurons that still miss something. None is returned if the
    ridges are not enough after the permitted number of repairs.
    """
    for _ in range(SETTINGS.selection_repairs):
        chosen = [ridges[i] for i in sorted(used)]
        hypotheses = evaluate(deep_network, chosen, Families(deep_network, chosen))
        if is_enough(hypotheses):
            return chosen
        repairs = _indices_at(ridges, _neurons_short_of(deep_network, hypotheses))
        if repairs <= used:
            return None
        used |= repairs
    return None


def _indices_at(ridges: Sequence[Ridge], neurons: set[int]) -> set[int]:
    """Return the indices of the ridges at which one of some neurons vanishes."""
    return {i for i, ridge in enumerate(ridges) if ridge.u in neurons or ridge.v in neurons}


def _neurons_short_of(deep_network: DeepNetwork, hypotheses: DeepHypotheses) -> set[int]:
    """Return the numbers of the neurons whose pieces may prove what is missing."""
    neurons: set[int] = set()
    for missing in hypotheses.missing:
        if missing.neuron_id is None:
            neurons.update(deep_network.neurons_in(missing.layer + 1))
            continue
        neurons.add(deep_network.number_of(missing.neuron_id))
        if missing.input_id is not None and missing.layer == deep_network.depth - 1:
            # the weights on a source are determined at the zeros of the source
            neurons.add(deep_network.number_of(missing.input_id))
    return neurons


def _reduced(
    ridges: list[Ridge], are_enough: Callable[[Sequence[Ridge]], bool], budget: int
) -> list[Ridge]:
    """Leave out parts of the ridges that are not needed, large parts first.

    `budget` is the number of ridges that may be evaluated, all trials together.
    """
    size = len(ridges) // 2
    while size and budget > 0:
        start = 0
        while start < len(ridges) and budget > 0:
            shorter = ridges[:start] + ridges[start + size :]
            budget -= len(shorter)
            if are_enough(shorter):
                ridges = shorter
            else:
                start += size
        size //= 2
    return ridges


@dataclass(slots=True, eq=False)
class _KeptFamily:
    """A family, and what is kept of it.

    Attributes
    ----------
    family
        The family among all ridges.
    masks
        Masks of the pieces that are kept.
    active, inactive
        Masks of the neurons of the layer before that are active, inactive, at a kept piece.
    """

    family: Family
    masks: set[int] = field(default_factory=set)
    num_active: int = 0
    num_inactive: int = 0


class _Selection:
    """Picks ridges for some families; `used` has the indices of the picked ridges."""

    def __init__(
        self, deep_network: DeepNetwork, ridges: Sequence[Ridge], families: Iterable[Family]
    ) -> None:
        wanted = list(families)
        self._network, self._ridges = deep_network, ridges
        self.used: set[int] = set()
        self._families = Families(deep_network, ridges)
        self._all = {self._families.root(family.key): family for family in self._families.all()}
        self._links: defaultdict[Piece, list[tuple[Piece, int]]] = defaultdict(list)
        self._steps_up: defaultdict[Piece, list[int]] = defaultdict(list)
        self._same_layer: defaultdict[Piece, list[int]] = defaultdict(list)
        for i, ridge in enumerate(ridges):
            self._index(i, ridge)
        self._kept = {self._families.root(family.key): _KeptFamily(family) for family in wanted}
        waiting = list(self._kept.values())
        while waiting:
            waiting += self._pick_step_up(waiting.pop())
        for family in wanted:
            self._pick_pieces(self._kept[self._families.root(family.key)])

    def shown(self) -> set[int]:
        """Return the picked ridges, and others that show the kept families which they do not show.

        Where one piece of a family of the last hidden layer is enough, no ridge was picked for it.
        """
        at = defaultdict[Piece, list[int]](list)
        for i, ridge in enumerate(self._ridges):
            for piece in ridge.pieces:
                at[piece].append(i)
        first = {Piece(kept.family.neuron, min(kept.masks)) for kept in self._kept.values()}
        used, left = set(self.used), first
        left -= {piece for i in used for piece in self._ridges[i].pieces}
        for piece in sorted(left):
            if piece in left:
                best = max(at[piece], key=lambda i: len(left.intersection(self._ridges[i].pieces)))
                used.add(best)
                left.difference_update(self._ridges[best].pieces)
        return used

    def _index(self, i: int, ridge: Ridge) -> None:
        """Enter the links of a ridge, and its crossing under the families that meet there."""
        for one, other in ridge.links:
            self._links[one].append((other, i))
            self._links[other].append((one, i))
        if ridge.crossing is None:
            return
        layer_of = self._network.layer_of
        roots = [self._families.root(piece) for piece in (ridge.crossing.u, ridge.crossing.v)]
        if ridge.kind == "A":
            for root in roots:
                self._same_layer[root].append(i)
        elif layer_of[ridge.v] == layer_of[ridge.u] + 1 and self._has_full_chain(roots[1]):
            self._steps_up[roots[0]].append(i)

    def _has_full_chain(self, root: Piece) -> bool:
        return has_full_chain(self._network, self._all[root])

    def _crossing(self, i: int) -> Crossing:
        """Return the crossing of a ridge that is known to be good."""
        crossing = self._ridges[i].crossing
        assert crossing is not None
        return crossing

    def _pick_step_up(self, kept: _KeptFamily) -> list[_KeptFamily]:
        """Pick a crossing that leads up from a family; return families that are new."""
        root = self._families.root(kept.family.key)
        is_last = self._network.layer_of[kept.family.neuron] == self._network.depth - 1
        if is_last or not self._has_full_chain(root):
            return []
        if root in self._steps_up:
            return self._pick(self._best_step(self._steps_up[root]))
        for i in self._same_layer[root]:  # a family of the same layer that it crosses may lead up
            crossing = self._crossing(i)
            if any(
                self._families.root(piece) in self._steps_up for piece in (crossing.u, crossing.v)
            ):
                return self._pick(i)
        return []

    def _best_step(self, steps: Iterable[int]) -> int:
        """Return a crossing with a family that is kept anyway, if there is one; else the first."""
        steps = list(steps)
        for i in steps:
            if self._families.root(self._crossing(i).v) in self._kept:
                return i
        return steps[0]

    def _pick(self, i: int) -> list[_KeptFamily]:
        """Pick a ridge, and paths of links to its pieces; return the families that are new."""
        crossing, new = self._crossing(i), list[_KeptFamily]()
        self.used.add(i)
        for piece in (crossing.u, crossing.v):
            root = self._families.root(piece)
            if root not in self._kept:
                self._kept[root] = _KeptFamily(self._all[root])
                new.append(self._kept[root])
            self._connect(self._kept[root], piece)
        return new

    def _keep(self, kept: _KeptFamily, mask: int) -> None:
        """Keep a piece of a family."""
        before = self._network.mask_before(kept.family.neuron)
        kept.masks.add(mask)
        kept.num_active |= mask & before
        kept.num_inactive |= ~mask & before

    def _connect(self, kept: _KeptFamily, target: Piece) -> None:
        """Pick a path from the kept pieces to a piece."""
        if not kept.masks:
            self._keep(kept, target.mask)
        elif target.mask not in kept.masks:
            self._keep_path(kept, target, self._shortest_paths(kept))

    def _pick_pieces(self, kept: _KeptFamily) -> None:
        """Pick paths until the kept pieces have all active and inactive neurons of the family."""
        if not kept.masks:
            self._keep(kept, kept.family.masks[0])
        while (
            kept.family.num_active & ~kept.num_active
            or kept.family.num_inactive & ~kept.num_inactive
        ):
            paths = self._shortest_paths(kept)
            self._keep_path(kept, self._best_target(kept, paths), paths)

    def _shortest_paths(self, kept: _KeptFamily) -> _Paths:
        """Return shortest paths from the kept pieces to all other pieces of a family."""
        paths: _Paths = {}
        queue = [Piece(kept.family.neuron, mask) for mask in sorted(kept.masks)]
        for piece in queue:
            for other, ridge in self._links[piece]:
                if other not in paths and other.mask not in kept.masks:
                    paths[other] = piece, ridge
                    queue.append(other)
        return paths

    def _best_target(self, kept: _KeptFamily, paths: _Paths) -> Piece:
        """Return the end of the path that adds most active and inactive neurons per ridge."""
        before = self._network.mask_before(kept.family.neuron)
        along: dict[Piece, tuple[int, int, int]] = {}
        best, best_gain = next(iter(paths)), 0.0
        for piece, (previous, _) in paths.items():
            length, active, inactive = along.get(previous, (0, kept.num_active, kept.num_inactive))
            length += 1
            active, inactive = active | piece.mask & before, inactive | ~piece.mask & before
            along[piece] = length, active, inactive
            num_new = (active & ~kept.num_active).bit_count() + (
                inactive & ~kept.num_inactive
            ).bit_count()
            if num_new / length > best_gain:
                best, best_gain = piece, num_new / length
        return best

    def _keep_path(self, kept: _KeptFamily, target: Piece, paths: _Paths) -> None:
        """Keep the pieces of a path, and pick its ridges."""
        while target in paths:
            previous, ridge = paths[target]
            self._keep(kept, target.mask)
            self.used.add(ridge)
            target = previous
