"""Theorem D: few ridges out of many that still show the hypotheses.

A search meets thousands of ridges; most of them are not needed. What is needed of a family: at least one crossing that
leads up and one that leads down, to families that are kept themselves, and pieces that show the neurons of the layer
before on and off. `few_ridges` picks crossings and short paths of links to such pieces, makes sure that the hypotheses
still hold, and leaves out what can be left out on top of that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from polyrelu.network import NeuronId
from polyrelu.proofs.deep_families import Families, Family
from polyrelu.proofs.deep_points import DeepHypotheses, Missing, evaluate
from polyrelu.proofs.deep_ridges import Piece, Ridge, Space

__all__ = ["few_ridges"]

#: So many ridges are evaluated, all trials together, to leave some of them out.
_TRIALS = 60_000

#: So often what is still missing is added to the ridges that were picked.
_REPAIRS = 6


def few_ridges(space: Space, ridges: Sequence[Ridge], hypotheses: DeepHypotheses) -> list[Ridge]:
    """Ridges, all of them good, that show the hypotheses of Theorem D, which hold with all of them.

    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.proofs.deep_search import DeepSearch
    >>> from polyrelu.proofs.deep_ridges import whole_space
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
    >>> search = DeepSearch(net)
    >>> hypotheses = search.run(rounds=20)
    >>> found = few_ridges(whole_space(net), list(search.ridges.values()), hypotheses)
    >>> 2 <= len(found) <= len(search.ridges)
    True
    """
    good = [ridge for ridge in ridges if ridge.kind is not None]
    for chosen in (_picked(space, good, hypotheses), _in_use(good, hypotheses), good):
        if chosen is not None and _hold(space, chosen):
            return _thinned(space, chosen)
    return list(ridges)


def _hold(space: Space, ridges: Sequence[Ridge]) -> bool:
    return evaluate(space, ridges, Families(ridges)).hold


def _picked(space: Space, good: list[Ridge], hypotheses: DeepHypotheses) -> list[Ridge] | None:
    """Few ridges, and all at the pieces of neurons for which these are too few; None if that is not enough."""
    used = _Selection(good, hypotheses).used
    for _ in range(_REPAIRS):
        chosen = [good[i] for i in sorted(used)]
        missing = evaluate(space, chosen, Families(chosen)).missing
        if not missing:
            return chosen
        pieces = {
            piece for part in map(hypotheses.known.get, _neurons(space, missing)) if part for piece in part.pieces
        }
        more = {i for i, ridge in enumerate(good) if not pieces.isdisjoint(ridge.pieces)}
        if more <= used:
            return None
        used |= more
    return None


def _neurons(space: Space, missing: Iterable[Missing]) -> set[NeuronId]:
    """The neurons whose pieces may show what is missing."""
    found: set[NeuronId] = set()
    for entry in missing:
        if entry.neuron is not None:
            found.add(entry.neuron)
        else:
            found |= {NeuronId(entry.layer + 1, i) for i in range(space.network.widths[entry.layer + 1])}
    return found


def _in_use(good: list[Ridge], hypotheses: DeepHypotheses) -> list[Ridge]:
    """All ridges of the families that are used."""
    kept = {piece for portrait in hypotheses.known.values() for piece in portrait.pieces}
    return [ridge for ridge in good if all(not kept.isdisjoint(link) for link in ridge.links)]


def _thinned(space: Space, ridges: list[Ridge]) -> list[Ridge]:
    """Without parts, large ones first, that are not needed; as far as the trials go."""
    size, left = len(ridges) // 2, _TRIALS + 10 * len(ridges)
    while size and left > 0:
        start = 0
        while start < len(ridges) and left > 0:
            shorter = ridges[:start] + ridges[start + size :]
            left -= len(shorter)
            if _hold(space, shorter):
                ridges = shorter
            else:
                start += size
        size //= 2
    return ridges


@dataclass(slots=True, eq=False)
class _Part:
    """A family, and what is kept of it: pieces, and which neurons of the layer before they show on and off, as bits."""

    family: Family
    pieces: set[Piece] = field(default_factory=set)
    shown: int = 0


class _Selection:
    """Crossings and links that are kept: `used` has the indices of their ridges."""

    def __init__(self, ridges: Sequence[Ridge], hypotheses: DeepHypotheses) -> None:
        self.used: set[int] = set()
        self._links: defaultdict[Piece, list[tuple[Piece, int]]] = defaultdict(list)
        self._shows: dict[Piece, int] = {}
        self._parts = _kept_families(hypotheses)
        self._part_of = {piece: part for part in self._parts for piece in part.family.pieces}
        self._first = {neuron: portrait.families[0] for neuron, portrait in hypotheses.known.items()}
        for i, ridge in enumerate(ridges):
            for one, other in ridge.links:
                self._links[one].append((other, i))
                self._links[other].append((one, i))
        self._cross(ridges)
        for part in self._parts:
            self._cover(part)

    def _cross(self, ridges: Sequence[Ridge]) -> None:
        """For each family a crossing up and one down, between consecutive layers and with a chosen family."""
        done: set[tuple[Family, str]] = set()
        for i, ridge in enumerate(ridges):
            if ridge.kind in (None, "A") or ridge.v.layer != ridge.u.layer + 1 or ridge.crossing is None:
                continue
            low, high = (self._part_of.get(piece) for piece in (ridge.crossing.u, ridge.crossing.v))
            if low is None or high is None:
                continue
            up = (low.family, "up") not in done and self._is_chosen(high)
            down = (high.family, "down") not in done and self._is_chosen(low)
            if up or down:
                done |= {(low.family, "up")} if self._is_chosen(high) else set()
                done |= {(high.family, "down")} if self._is_chosen(low) else set()
                self.used.add(i)
                self._reach(low, ridge.crossing.u)
                self._reach(high, ridge.crossing.v)

    def _is_chosen(self, part: _Part) -> bool:
        return self._first[part.family.neuron] is part.family

    def _bits(self, piece: Piece) -> int:
        """The neurons of the layer before that are on at a piece, and, shifted by one, those that are off."""
        if piece not in self._shows:
            layer = piece.neuron.layer - 2
            signs = piece.signs.layers[layer] if layer >= 0 else ()
            self._shows[piece] = sum(1 << (2 * h + (sign < 0)) for h, sign in enumerate(signs))
        return self._shows[piece]

    def _keep(self, part: _Part, piece: Piece) -> None:
        part.pieces.add(piece)
        part.shown |= self._bits(piece)

    def _reach(self, part: _Part, target: Piece) -> None:
        """A path from what is kept to a piece."""
        if not part.pieces:
            self._keep(part, target)
        elif target not in part.pieces:
            self._walk(part, target, self._tree(part))

    def _cover(self, part: _Part) -> None:
        """Paths until all is shown that the family shows, those first that show most on their way."""
        if not part.pieces:
            self._keep(part, part.family.pieces[0])
        wanted = 0
        for piece in part.family.pieces:
            wanted |= self._bits(piece)
        while wanted & ~part.shown:
            tree = self._tree(part)
            self._walk(part, self._best(part, tree), tree)

    def _tree(self, part: _Part) -> dict[Piece, tuple[Piece, int]]:
        """Shortest ways from what is kept to all pieces, near ones first: the one before, the ridge between them."""
        tree: dict[Piece, tuple[Piece, int]] = {}
        queue = [piece for piece in part.family.pieces if piece in part.pieces]
        for piece in queue:
            for other, ridge in self._links[piece]:
                if other not in tree and other not in part.pieces:
                    tree[other] = piece, ridge
                    queue.append(other)
        return tree

    def _best(self, part: _Part, tree: dict[Piece, tuple[Piece, int]]) -> Piece:
        """The end of the path that shows most for its length."""
        on_way: dict[Piece, tuple[int, int]] = {}
        best, merit = next(iter(tree)), 0.0
        for piece, (before, _) in tree.items():
            length, shown = on_way.get(before, (0, part.shown))
            on_way[piece] = length + 1, shown | self._bits(piece)
            value = (on_way[piece][1] & ~part.shown).bit_count() / (length + 1)
            if value > merit:
                best, merit = piece, value
        return best

    def _walk(self, part: _Part, target: Piece, tree: dict[Piece, tuple[Piece, int]]) -> None:
        while target in tree:
            before, ridge = tree[target]
            self._keep(part, target)
            self.used.add(ridge)
            target = before


def _kept_families(hypotheses: DeepHypotheses) -> list[_Part]:
    """The chosen families, and those that were joined and show something that those before them do not."""
    kept: list[_Part] = []
    for portrait in hypotheses.known.values():
        seen: set[tuple[NeuronId, int, int]] = set()
        for family in portrait.families:
            layer = family.neuron.layer - 2
            shows = {
                (family.neuron, h, sign)
                for piece in family.pieces
                for h, sign in enumerate(piece.signs.layers[layer] if layer >= 0 else ())
            }
            if family is portrait.families[0] or not shows <= seen:
                kept.append(_Part(family))
                seen |= shows
    return kept
