"""Theorem D, the families: pieces that belong to one neuron of every competitor, and the order of their layers.

*Families* are the connected components of pieces of one neuron under the links of good ridges. *Levels* are the
connected components of families under crossings of type A, where two neurons of one layer meet: in a competitor, all
families of a level lie in one layer. A crossing of type B or C leads from the level of u *up* to the level of v, which
in a competitor lies in a later layer. So chains up bound the layer of a family from above.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from polyrelu.proofs.deep.ridges import Crossing, DeepNetwork, Piece, Ridge

__all__ = ["Families", "Family", "Members"]

_Item = TypeVar("_Item", bound=Hashable)


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Pieces of one neuron that are linked.

    Attributes
    ----------
    place : of the neuron (ℓ, i).
    masks : of the pieces, in no particular order.
    on, off : masks of the neurons of layer ℓ-1 that are on, off, at some piece.
    up : the length of the longest chain of levels that leads up from its own.
    oriented : whether no other neuron of the layer is on at one of the pieces, so that f is constant on the side on
        which the neuron is off.
    """

    place: int
    masks: list[int]
    on: int
    off: int
    up: int
    oriented: bool

    @property
    def crossed(self) -> int:
        """The mask of the neurons of layer ℓ-1 that cross it."""
        return self.on & self.off

    @property
    def key(self) -> Piece:
        """A piece, to tell families apart."""
        return Piece(self.place, self.masks[0])

    def __str__(self) -> str:
        return f"family of neuron {self.place} with {len(self.masks)} piece{'s' * (len(self.masks) != 1)}"


class _Classes(Generic[_Item]):
    """Union-find."""

    def __init__(self) -> None:
        self._parent: dict[_Item, _Item] = {}

    def root(self, item: _Item) -> _Item:
        """The representative of a class; a new item is a class of its own."""
        parent = self._parent
        top = parent.setdefault(item, item)
        while parent[top] != top:
            top = parent[top]
        while parent[item] != top:
            parent[item], item = top, parent[item]
        return top

    def join(self, one: _Item, other: _Item) -> None:
        """Unite two classes; the representative of the second one stands for both."""
        self._parent[self.root(one)] = self.root(other)

    def __contains__(self, item: _Item) -> bool:
        return item in self._parent


@dataclass(slots=True, eq=False)
class Members:
    """The pieces of a family so far."""

    masks: list[int]
    on: int
    off: int
    oriented: bool


class Families:
    """All families that some ridges show; ridges can be added at any time.

    Attributes
    ----------
    pieces : by the place of their neuron, the masks of all pieces.
    on : by the place of a neuron, the mask of the neurons of the layer before that are on at some piece.

    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.proofs.deep.ridges import deep_network, ridge_at
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
    >>> space = deep_network(net)
    >>> for family in Families(space, [ridge_at(space, [0, 1])]).all():
    ...     print(family, family.up)
    family of neuron 2 with 2 pieces 0
    family of neuron 0 with 1 piece 1
    """

    def __init__(self, space: DeepNetwork, ridges: Iterable[Ridge] = ()) -> None:
        self._space = space
        self._classes: _Classes[Piece] = _Classes()
        self._members: dict[Piece, Members] = {}
        self._crossings: list[Crossing] = []
        self.pieces: defaultdict[int, list[int]] = defaultdict(list)
        self.on: defaultdict[int, int] = defaultdict(int)
        for ridge in ridges:
            self.add(ridge)

    def add(self, ridge: Ridge) -> None:
        """Take in what a good ridge shows."""
        if ridge.crossing is None:
            return
        for piece in ridge.pieces:
            self._add_piece(piece)
        for one, other in ridge.links:
            self._link(one, other)
        self._crossings.append(ridge.crossing)

    def root(self, piece: Piece) -> Piece:
        """The representative of the family of a piece; families grow, and representatives change."""
        return self._classes.root(piece)

    def members(self, piece: Piece) -> Members:
        """The pieces of the family of a piece."""
        return self._members[self._classes.root(piece)]

    def all(self) -> list[Family]:
        """All families, in the order in which the first piece of each was found."""
        levels = self._levels()
        up = self._chains(levels)
        return [
            Family(root.place, own.masks, own.on, own.off, up[levels.root(root)], own.oriented)
            for root, own in self._members.items()
        ]

    def _add_piece(self, piece: Piece) -> None:
        if piece in self._classes:
            return
        self._classes.root(piece)
        before, own = (
            self._space.before(piece.place),
            self._space.layer_mask[self._space.layer_of[piece.place]],
        )
        self.pieces[piece.place].append(piece.mask)
        self.on[piece.place] |= piece.mask & before
        self._members[piece] = Members(
            [piece.mask], piece.mask & before, ~piece.mask & before, not piece.mask & own
        )

    def _link(self, one: Piece, other: Piece) -> None:
        a, b = self._classes.root(one), self._classes.root(other)
        if a == b:
            return
        if len(self._members[a].masks) > len(self._members[b].masks):
            a, b = b, a
        self._classes.join(a, b)
        small, large = self._members.pop(a), self._members[b]
        large.masks += small.masks
        large.on, large.off, large.oriented = (
            large.on | small.on,
            large.off | small.off,
            large.oriented | small.oriented,
        )

    def _levels(self) -> _Classes[Piece]:
        levels: _Classes[Piece] = _Classes()
        for crossing in self._crossings:
            if crossing.kind == "A":
                levels.join(self.root(crossing.u), self.root(crossing.v))
        return levels

    def _chains(self, levels: _Classes[Piece]) -> defaultdict[Piece, int]:
        """The longest chain up from each level. All families of a level are of one layer of the network, and crossings
        lead to later layers, so that one pass in the order of the layers is enough."""
        edges = {
            (levels.root(self.root(crossing.u)), levels.root(self.root(crossing.v)))
            for crossing in self._crossings
            if crossing.kind != "A"
        }
        layer_of, up = self._space.layer_of, defaultdict[Piece, int](int)
        for low, high in sorted(edges, key=lambda edge: -layer_of[edge[0].place]):
            up[low] = max(up[low], up[high] + 1)
        return up
