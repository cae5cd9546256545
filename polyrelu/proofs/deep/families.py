"""Families of pieces, and chains of families through the layers (Theorem D).

All pieces of a *family* belong to one neuron of every competitor, and *chains* bound the layer of
that neuron from above. Ridges can be added to `Families` at any time, which the search does;
`Families.all` is then called again. Mathematics: docs/theory/deep.md, section "Families and
chains".

*Families* are the connected components of the pieces of one neuron under the links of good ridges.
*Levels* are the connected components of families under crossings of type A, where two neurons of
one layer meet: in a competitor, all families of a level lie in one layer. A crossing of type B or C
leads *up* from the level of u to the level of v, which lies in a later layer in every competitor. A
chain of such steps therefore leaves room for as many later layers above a family as it has steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from polyrelu.proofs.deep.ridges import Crossing, DeepNetwork, Piece, Ridge

__all__ = ["Families", "Family", "GrowingFamily"]

_Item = TypeVar("_Item", bound=Hashable)


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Linked pieces of one neuron v = (ℓ, i).

    Attributes
    ----------
    neuron
        Number of v.
    masks
        Masks of the pieces, in no particular order.
    active, inactive
        Masks of the neurons of layer ℓ-1 that are active, inactive, at some piece.
    chain_length
        Number of steps of the longest chain that leads up from the level of the family.
    oriented
        Whether no other neuron of the layer is active at one of the pieces; then f is constant on
        the side on which v is inactive.
    """

    neuron: int
    masks: list[int]
    num_active: int
    num_inactive: int
    chain_length: int
    oriented: bool

    @property
    def crossed_by(self) -> int:
        """Mask of the neurons of layer ℓ-1 that are active at some piece, inactive at another."""
        return self.num_active & self.num_inactive

    @property
    def key(self) -> Piece:
        """One of the pieces, which tells the family from others."""
        return Piece(self.neuron, self.masks[0])

    def __str__(self) -> str:
        plural = "s" if len(self.masks) != 1 else ""
        return f"family of neuron {self.neuron} with {len(self.masks)} piece{plural}"


class _DisjointSets(Generic[_Item]):
    """Union-find with path compression."""

    def __init__(self) -> None:
        self._parent: dict[_Item, _Item] = {}

    def root(self, item: _Item) -> _Item:
        """Return the representative of a set; a new item is a set of its own."""
        parent = self._parent
        top = parent.setdefault(item, item)
        while parent[top] != top:
            top = parent[top]
        while parent[item] != top:
            parent[item], item = top, parent[item]
        return top

    def join(self, one: _Item, other: _Item) -> None:
        """Unite two sets; the representative of the second one represents the union."""
        self._parent[self.root(one)] = self.root(other)

    def __contains__(self, item: _Item) -> bool:
        return item in self._parent


@dataclass(slots=True, eq=False)
class GrowingFamily:
    """The pieces of a family among the ridges so far; the fields are as in `Family`."""

    masks: list[int]
    num_active: int
    num_inactive: int
    oriented: bool

    @property
    def crossed_by(self) -> int:
        """Mask of the neurons of the layer before that cross the family."""
        return self.num_active & self.num_inactive


class Families:
    """All families of some ridges; ridges can be added at any time.

    Attributes
    ----------
    pieces
        For each neuron number, the masks of all pieces of the neuron.
    active
        For each neuron number, the mask of the neurons of the layer before that are active at some
        piece of the neuron.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.proofs.deep.ridges import ridge_at
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2])
    >>> net = DeepNetwork.of(from_arrays([first, second, ([[1, 2]], [0])]))
    >>> for family in Families(net, [ridge_at(net, [0, 1])]).all():
    ...     print(family, family.chain_length)
    family of neuron 2 with 2 pieces 0
    family of neuron 0 with 1 piece 1
    """

    def __init__(self, deep_network: DeepNetwork, ridges: Iterable[Ridge] = ()) -> None:
        self._network = deep_network
        self._sets: _DisjointSets[Piece] = _DisjointSets()
        self._growing: dict[Piece, GrowingFamily] = {}
        self._crossings: list[Crossing] = []
        self.pieces: defaultdict[int, list[int]] = defaultdict(list)
        self.active: defaultdict[int, int] = defaultdict(int)
        for ridge in ridges:
            self.add(ridge)

    def add(self, ridge: Ridge) -> None:
        """Add the pieces, links and the crossing of a good ridge; another ridge changes nothing."""
        links = ridge.links
        for piece in ridge.pieces_of(links):
            self._add_piece(piece)
        for one, other in links:
            self._link(one, other)
        if (crossing := ridge.crossing) is not None:
            self._crossings.append(crossing)

    def root(self, piece: Piece) -> Piece:
        """Return the representative of the family of a piece; it changes as families grow."""
        return self._sets.root(piece)

    def growing_family(self, piece: Piece) -> GrowingFamily:
        """Return what is known of the family of a piece so far."""
        return self._growing[self._sets.root(piece)]

    def all(self) -> list[Family]:
        """Return all families, in the order in which the first piece of each was found."""
        # Many ridges say the same about families, which only grow.
        self._crossings = list(dict.fromkeys(map(self._between_roots, self._crossings)))
        levels = self._levels()
        chain_lengths = self._chain_lengths(levels)
        return [
            Family(
                root.neuron,
                growing.masks,
                growing.num_active,
                growing.num_inactive,
                chain_lengths[levels.root(root)],
                growing.oriented,
            )
            for root, growing in self._growing.items()
        ]

    def _add_piece(self, piece: Piece) -> None:
        if piece in self._sets:
            return
        self._sets.root(piece)
        network = self._network
        before = network.mask_before(piece.neuron)
        own_layer = network.layer_mask[network.layer_of[piece.neuron]]
        self.pieces[piece.neuron].append(piece.mask)
        self.active[piece.neuron] |= piece.mask & before
        self._growing[piece] = GrowingFamily(
            [piece.mask], piece.mask & before, ~piece.mask & before, not piece.mask & own_layer
        )

    def _link(self, one: Piece, other: Piece) -> None:
        """Unite the families of two pieces; the larger one keeps its representative."""
        a, b = self._sets.root(one), self._sets.root(other)
        if a == b:
            return
        if len(self._growing[a].masks) > len(self._growing[b].masks):
            a, b = b, a
        self._sets.join(a, b)
        small, large = self._growing.pop(a), self._growing[b]
        large.masks += small.masks
        large.num_active |= small.num_active
        large.num_inactive |= small.num_inactive
        large.oriented |= small.oriented

    def _between_roots(self, crossing: Crossing) -> Crossing:
        """Return what a crossing says about families, at their representatives."""
        return Crossing(crossing.kind, self.root(crossing.u), self.root(crossing.v))

    def _levels(self) -> _DisjointSets[Piece]:
        """Return the families that lie in one layer; crossings are between representatives."""
        levels: _DisjointSets[Piece] = _DisjointSets()
        for crossing in self._crossings:
            if crossing.kind == "A":
                levels.join(crossing.u, crossing.v)
        return levels

    def _chain_lengths(self, levels: _DisjointSets[Piece]) -> defaultdict[Piece, int]:
        """Return the number of steps of the longest chain up from each level.

        All families of a level lie in one layer of the network, and crossings lead to later layers,
        so one pass through the layers from the last one to the first one is enough.
        """
        steps = {
            (levels.root(crossing.u), levels.root(crossing.v))
            for crossing in self._crossings
            if crossing.kind != "A"
        }
        layer_of, lengths = self._network.layer_of, defaultdict[Piece, int](int)
        for low, high in sorted(steps, key=lambda step: -layer_of[step[0].neuron]):
            lengths[low] = max(lengths[low], lengths[high] + 1)
        return lengths
