"""Theorem D, the families: pieces that belong to one neuron of every competitor, and the order of their layers.

*Families* are the connected components of pieces of one neuron under the links of good ridges. *Levels* are the
connected components of families under crossings of type A, where two neurons of one layer meet: in a competitor, all
families of a level lie in one layer. A crossing of type B or C leads from the level of u *up* to the level of v, which
in a competitor lies in a later layer. So chains up and down bound the layer of a family from both sides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from polyrelu.network import NeuronId
from polyrelu.proofs.deep_ridges import Crossing, Piece, Ridge

__all__ = ["Families", "Family"]

_Item = TypeVar("_Item", bound=Hashable)


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Pieces of one neuron that are linked.

    Attributes
    ----------
    neuron : (ℓ, i).
    pieces : in the order in which they were found.
    up, down : the lengths of the longest chains of levels that lead up and down from its own.
    oriented : whether no other neuron of the layer is on at one of the pieces, so that f is constant on the side on
        which the neuron is off.
    """

    neuron: NeuronId
    pieces: tuple[Piece, ...]
    up: int
    down: int
    oriented: bool

    def __str__(self) -> str:
        pieces = "1 piece" if len(self.pieces) == 1 else f"{len(self.pieces)} pieces"
        return f"family of ({self.neuron.layer}, {self.neuron.index}) with {pieces}"


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
        """Unite two classes."""
        self._parent[self.root(one)] = self.root(other)

    def items(self) -> Iterable[_Item]:
        """All items, in the order in which they came."""
        return self._parent


class Families:
    """All families that some ridges show; ridges can be added at any time.

    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.proofs.deep_ridges import ridge_at, whole_space
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
    >>> families = Families()
    >>> families.add(ridge_at(whole_space(net), [0, 1]))
    >>> for family in families.all():
    ...     print(family, family.up, family.down)
    family of (2, 0) with 2 pieces 0 1
    family of (1, 0) with 1 piece 1 0
    """

    def __init__(self, ridges: Iterable[Ridge] = ()) -> None:
        self._classes: _Classes[Piece] = _Classes()
        self._crossings: dict[Crossing, None] = {}
        self._oriented: set[Piece] = set()
        for ridge in ridges:
            self.add(ridge)

    def add(self, ridge: Ridge) -> None:
        """Take in what a ridge shows; its visible rays are pieces even if it is not good."""
        for piece in ridge.pieces:
            self._classes.root(piece)
        for one, other in ridge.links:
            self._classes.join(one, other)
        if ridge.crossing is not None:
            self._crossings[ridge.crossing] = None
        self._oriented.update(ridge.oriented)

    def root(self, piece: Piece) -> Piece:
        """The representative of the family of a piece; families grow, and representatives change."""
        return self._classes.root(piece)

    def all(self) -> list[Family]:
        """All families, in the order of their first pieces."""
        members: defaultdict[Piece, list[Piece]] = defaultdict(list)
        for piece in list(self._classes.items()):
            members[self._classes.root(piece)].append(piece)
        levels = self._levels()
        up, down = self._chains(levels)
        return [
            Family(
                root.neuron,
                tuple(pieces),
                up[levels.root(root)],
                down[levels.root(root)],
                not self._oriented.isdisjoint(pieces),
            )
            for root, pieces in members.items()
        ]

    def of_neurons(self) -> dict[NeuronId, list[Family]]:
        """The families of each neuron that has one, large ones first."""
        found: defaultdict[NeuronId, list[Family]] = defaultdict(list)
        for family in self.all():
            found[family.neuron].append(family)
        return {neuron: sorted(families, key=lambda f: -len(f.pieces)) for neuron, families in found.items()}

    def _levels(self) -> _Classes[Piece]:
        levels: _Classes[Piece] = _Classes()
        for crossing in self._crossings:
            if crossing.kind == "A":
                levels.join(self.root(crossing.u), self.root(crossing.v))
        return levels

    def _chains(self, levels: _Classes[Piece]) -> tuple[defaultdict[Piece, int], defaultdict[Piece, int]]:
        """The longest chains up and down from each level. All families of a level are of one layer of the network, and
        crossings lead to later layers, so that one pass in the order of the layers is enough."""
        edges = {
            (levels.root(self.root(crossing.u)), levels.root(self.root(crossing.v)))
            for crossing in self._crossings
            if crossing.kind != "A"
        }
        up: defaultdict[Piece, int] = defaultdict(int)
        down: defaultdict[Piece, int] = defaultdict(int)
        for low, high in sorted(edges, key=lambda edge: -edge[0].neuron.layer):
            up[low] = max(up[low], up[high] + 1)
        for low, high in sorted(edges, key=lambda edge: edge[1].neuron.layer):
            down[high] = max(down[high], down[low] + 1)
        return up, down
