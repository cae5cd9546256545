"""Families of pieces in Theorem D: where they cross, and how they are joined."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import check_indices
from polyrelu.checking.meter import require
from polyrelu.checking.ridges import Classes, Neurons, P, Piece, Ridge, Ridges, ones

# -- Families


class Extent(NamedTuple):
    """How much a claim determines: all neurons of `num_layers` hidden layers, and some of the next.

    `num_full` layers are listed without gaps.
    """

    num_layers: int
    listed: list[int]
    num_full: int

    @classmethod
    def of(cls, neurons: Neurons, claim: Any) -> Extent:
        """The extent of a claim identifiable or determined."""
        depth = len(neurons.widths)
        num_layers, more = claim.get("layers", depth), claim.get("neurons", [])
        if claim["kind"] == "determined":
            fact = f"from 1 to {depth - 1} layers, the next one hidden"
            require(1 <= num_layers < depth, fact, str(num_layers))
        listed, num_full = list(range(neurons.starts[num_layers])), num_layers
        if more:
            check_indices(more, neurons.widths[num_layers], f"neurons of layer {num_layers + 1}")
            listed += [neurons.starts[num_layers] + i for i in more]
            num_full += len(more) == neurons.widths[num_layers]
        return cls(num_layers, listed, num_full)


class PieceSet:
    """Pieces of one neuron, of families that were joined.

    As masks of neurons of the layer before: where they are on, off, or crossed, that is, both
    within one family, and which of them have determined weights; the crossed ones have.
    """

    def __init__(self, neuron: int) -> None:
        self.neuron, self.masks, self.families = neuron, list[int](), list[PieceSet]()
        self.on = self.off = self.crossed = self.determined = 0

    def join(self, other: PieceSet) -> PieceSet:
        """With a family."""
        self.masks.extend(other.masks)
        self.families.append(other)
        self.on, self.off = self.on | other.on, self.off | other.off
        self.crossed |= other.crossed
        self.determined |= other.determined
        return self


class Families:
    """The families of linked pieces, and how long their chains of crossings are."""

    def __init__(self, ridges: Ridges) -> None:
        self.ridges, self.neurons, self.meter = ridges, ridges.neurons, ridges.neurons.meter
        self.used, self.members = set[Piece](), dict[Piece, list[int]]()
        links = ridges.links
        self.meter.units(4_000 * (len(links) + len(ridges.listed)))
        self.meter.hold(4 * len(links))
        for piece in list(links):
            mask = int.from_bytes(piece[1], "little")
            self.members.setdefault(links.root(piece), []).append(mask)
        self.levels, self.chains = Classes(), dict[Piece, int]()
        self.find_chains()

    def find_chains(self) -> None:
        """The longest chain up from each level; families that meet at type A are in one level."""
        links, neurons = self.ridges.links, self.neurons
        good = [ridge for ridge in self.ridges.listed if ridge.type]
        ends = [
            (ridge.type, links.root(ridge.pieces[0]), links.root(ridge.pieces[1])) for ridge in good
        ]
        for kind, low, high in ends:
            if kind == "A":
                self.levels.join(low, high)
        steps = [
            (self.levels.root(low), self.levels.root(high))
            for kind, low, high in ends
            if kind != "A"
        ]
        for low, high in sorted(steps, key=lambda step: -neurons.layer[step[0][0]]):
            self.chains[low] = max(self.chains.get(low, 0), self.chains.get(high, 0) + 1)

    def chain(self, root: Piece) -> int:
        """The length of the longest chain of crossings up from a family."""
        return self.chains.get(self.levels.root(root), 0)

    def family(self, w: int, number: int) -> PieceSet:
        """The family of neuron w at a ridge, placed and named for the first time."""
        neurons, listed = self.neurons, self.ridges.listed
        require(w < neurons.count, f"a neuron below {neurons.count}", str(w))
        require(number < len(listed), f"a ridge below {len(listed)}", str(number))
        ridge, layer, name = listed[number], neurons.layer[w], f"neuron {w}, ridge {number}"
        require(w in (ridge.u, ridge.v), f"a ridge of neuron {w}", f"ridge {number}")
        root = self.named_root(ridge, w, f"ridge {number}")
        require(root not in self.used, "families that are listed once", name)
        self.used.add(root)
        chain = self.chain(root)
        wanted = len(neurons.widths) - 1 - layer
        require(chain == wanted, f"a chain of {wanted} crossings up from neuron {w}", str(chain))
        return self.of_pieces(w, self.members[root])

    def named_root(self, ridge: Ridge, w: int, name: str) -> Piece:
        """The representative of the family of neuron w at a good ridge."""
        require(ridge.type != "", f"a good ridge of neuron {w}", name)
        return self.ridges.links.root(ridge.pieces[w == ridge.v])

    def of_pieces(self, w: int, masks: list[int]) -> PieceSet:
        """What some pieces of one family show."""
        neurons, layer, found = self.neurons, self.neurons.layer[w], PieceSet(w)
        found.masks = masks
        before = neurons.before(-1, layer) ^ neurons.before(-1, max(layer - 1, 0))
        self.meter.pay(6 * len(masks), neurons.count)
        for mask in masks:
            found.on, found.off = found.on | mask & before, found.off | ~mask & before
        found.crossed = found.determined = found.on & found.off
        return found


class FamilySets:
    """For each neuron of the claim the set of its families, as they are joined one by one."""

    def __init__(self, families: Families, extent: Extent) -> None:
        self.families, self.extent = families, extent
        self.neurons, self.meter = families.neurons, families.meter
        self.sets, self.independent = dict[int, PieceSet](), dict[int, bool]()

    def choose(self, chosen: Any) -> None:
        """The families F_w."""
        listed = self.extent.listed
        fact = f"families of {len(listed)} neurons, in order"
        require([w for w, _ in chosen] == listed, fact, str(len(chosen)))
        for w, number in chosen:
            self.sets[w] = PieceSet(w).join(self.families.family(w, number))

    def join_by_crossing(self, joined: Any) -> None:
        """Join families to sets by what both cross."""
        told_apart = set[int]()
        for w, number in joined:
            new = self.next_family(w, number)
            if self.neurons.layer[w] > 0:  # in the first layer nothing else is required
                self.check_peers(w, told_apart, "crossed")
                self.check_joint(new, "crossed", f"neuron {w}, ridge {number}")
            self.sets[w].join(new)

    def next_family(self, w: int, number: int) -> PieceSet:
        """A family that is to be joined, of a neuron in a layer that is listed as a whole."""
        new = self.families.family(w, number)
        is_full = self.neurons.layer[w] < self.extent.num_full
        require(is_full, "a neuron of a layer that is listed as a whole", f"neuron {w}")
        return new

    def peers(self, layer: int) -> list[PieceSet]:
        """The sets of the neurons of a layer."""
        return [self.sets[w] for w in self.neurons.neurons_of(layer)]

    def check_peers(self, w: int, told_apart: set[int], by: str) -> None:
        """The sets of a layer are told apart; what is joined to them later keeps them apart."""
        layer = self.neurons.layer[w]
        if layer in told_apart:
            return
        told_apart.add(layer)
        fact = f"sets of layer {layer + 1} that are told apart"
        for one, other in combinations(self.peers(layer), 2):
            require(self.are_apart(one, other, by), fact)

    def check_joint(self, new: PieceSet, by: str, name: str) -> None:
        """A family belongs to the set of its neuron, which it meets, and to no other set."""
        own = self.sets[new.neuron]
        fact = f"a family that can be joined: something {by} that the set shares"
        require(self.common(new, own, by) != 0, fact, name)
        fact = "a family that can be joined: told apart from the sets of other neurons"
        for other in self.peers(self.neurons.layer[new.neuron]):
            if other is not own:
                require(self.are_apart(new, other, by), fact, name)

    def common(self, new: PieceSet, own: PieceSet, by: str) -> int:
        """What both families share."""
        return int(getattr(new, by) & getattr(own, by))

    def are_apart(self, one: PieceSet, other: PieceSet, by: str) -> bool:
        """Whether the rows of two neurons are independent where both cross, or see, neurons."""
        neurons = self.neurons
        layer = neurons.layer[one.neuron]
        if layer == 0:
            return False
        a, b = (neurons.rows[layer][neurons.index(own.neuron)] for own in (one, other))
        common = neurons.part(getattr(one, by) & getattr(other, by), layer - 1)
        places = neurons.widths[layer - 1] // 4 + 4 * common.bit_count()
        self.meter.pay_modular(16 + places)
        return are_independent(a, b, ones(common))


def are_independent(a: Sequence[int], b: Sequence[int], places: list[int]) -> bool:
    """Whether two rows are independent modulo P at some places."""
    first = next((h for h in places if a[h] or b[h]), 0)
    return any((a[first] * b[h] - a[h] * b[first]) % P for h in places)
