"""Theorem D among sparse competitors, which may have zero weights: theorem deep-sparse."""

from __future__ import annotations

from itertools import compress

from polyrelu.checking.families import Families, FamilySets, PieceSet
from polyrelu.checking.meter import require
from polyrelu.checking.ridges import P, Piece, Ridge, Ridges, ones
from polyrelu.checking.systems import (
    DEEP_EVIDENCE,
    DEEP_SAYS,
    SignSystem,
    Unknown,
    WeightSystem,
    check_deep,
    rank_form,
)
from polyrelu.checking.theorems import Case, theorem

# ---- Theorem D, sparse competitors: zero weights, and ridges without a bend


class SparseRidges(Ridges):
    """The listed ridges, with the types B, C, L, U and V."""

    links_u, links_v = ("B", "L", "U"), ("B", "C", "L", "V")

    def type_of(self, u: int, v: int, mask: int) -> str:
        """The type; c is exactly 0 where no path of nonzero weights leads from u to v."""
        neurons, derivatives = self.neurons, self.derivatives
        late, off = derivatives.influence(v, mask), derivatives.influence(u, mask)
        c = derivatives.bend(u, v, mask)
        if c == 0:
            if self.is_path(u, v, mask):
                return ""
            return ("L" if late else "U") if off else ("V" if late else "")
        if (off + c * late) % P == 0:
            return ""
        if late == 0:
            return "U"
        if off != 0:
            return "B"
        return "C" if neurons.part(mask, neurons.layer[v]) == 0 else ""

    def is_path(self, u: int, v: int, mask: int) -> bool:
        """Whether nonzero weights lead from u to v through neurons of the mask."""
        neurons = self.neurons
        first, last = neurons.layer[u], neurons.layer[v]
        if first == last:
            return False
        reached = [neurons.index(u)]
        for layer in range(first + 1, last + 1):
            rows = neurons.network.layers[layer].rows
            states = [1] * len(rows) if layer == last else neurons.states_of(mask, layer)
            neurons.meter.pay(len(rows) * (len(reached) + 1))
            on = compress(range(len(rows)), states)
            reached = [i for i in on if any(rows[i][j] for j in reached)]
        return neurons.index(v) in reached


class SparseFamilies(Families):
    """Families, and chains of ridges of the types B and C only, without levels."""

    def find_chains(self) -> None:
        """The longest chain of bends up from each family."""
        links, neurons = self.ridges.links, self.neurons
        steps = [
            (links.root(ridge.pieces[0]), links.root(ridge.pieces[1]))
            for ridge in self.ridges.listed
            if ridge.type in ("B", "C")
        ]
        for low, high in sorted(steps, key=lambda step: -neurons.layer[step[0][0]]):
            self.chains[low] = max(self.chains.get(low, 0), self.chains.get(high, 0) + 1)

    def named_root(self, ridge: Ridge, w: int, name: str) -> Piece:
        """The family of neuron w at a ridge, all of whose pieces there are visible."""
        is_shown = ridge.type in (
            self.ridges.links_v if w == ridge.v else (*self.ridges.links_u, "C")
        )
        require(is_shown, "a ridge with visible pieces of its neuron", name)
        return super().named_root(ridge, w, name)


class SparseSets(FamilySets):
    """Sets of families that are joined by weights that are not 0."""

    def common(self, new: PieceSet, own: PieceSet, by: str) -> int:
        """What both families share, if the neuron reads it."""
        return super().common(new, own, by) & read_before(self, own.neuron)


def read_before(sets: FamilySets, w: int) -> int:
    """The neurons of the layer before whose weights are not 0, as a mask of all neurons."""
    neurons, layer = sets.neurons, sets.neurons.layer[w]
    row = neurons.network.layers[layer].rows[neurons.index(w)]
    sets.meter.units(60 * len(row))
    return sum(1 << h for h, x in enumerate(row) if x) << neurons.starts[layer - 1]


class SparseSigns(SignSystem):
    """The signs of one layer: the neurons above say, one after the other, what they read."""

    def check(self) -> None:
        """The layer's signs are determined, if neurons above belong to the claim."""
        if not self.above:
            return
        self.free, before = self.not_oriented(), -1
        while self.free and self.free != before:
            before = self.free
            for own in self.above:
                read = read_before(self.sets, own.neuron) >> self.neurons.starts[self.layer]
                if read & self.free:
                    self.free &= ~self.determined_by(own, read & self.free)
        left = f"{self.free.bit_count()} without"
        require(not self.free, f"signs of layer {self.layer + 1} that are determined", left)

    def determined_by(self, own: PieceSet, read: int) -> int:
        """The neurons, of those that v reads and whose signs are unknown, that v determines."""
        neurons, layer = self.neurons, self.layer
        crossed = neurons.part(own.crossed, layer)
        if crossed == (1 << neurons.widths[layer]) - 1:
            return sum(1 << h for h in ones(read) if self.is_moving(own, h))
        on, off = (neurons.part(side, layer) & ~crossed for side in (own.on, own.off))
        weights = neurons.rows[layer + 1][neurons.index(own.neuron)]
        unknowns = [Unknown(h, (True,), 1) for h in ones(on)]
        unknowns += [Unknown(h, (False,), 1) for h in ones(off & self.free)]
        unknowns += [Unknown(h, (True, False), weights[h]) for h in ones(crossed & read)]
        basis = rank_form(self.sets, self.derivatives, own, unknowns)
        return read & (crossed | on) if len(basis) == len(unknowns) else 0

    def is_moving(self, own: PieceSet, h: int) -> bool:
        """Whether z_h is not constant at some piece of v."""
        w = self.neurons.starts[self.layer] + h
        return any(self.derivatives.along_direction(w, mask) % P for mask in own.masks)


class SparseWeights(WeightSystem):
    """Weights that may be 0; all of them are determined by the pieces of their neurons."""

    may_be_zero = True


#: What the hypotheses say; all but the weights is as for other competitors.
SPARSE_SAYS = {
    **DEEP_SAYS,
    "weights": "every weight between hidden layers of the claim is determined",
}


@theorem(
    "deep-sparse",
    kind="identifiable",
    among=("sparse",),
    page="theory/sparse.md",
    evidence=DEEP_EVIDENCE,
    says=SPARSE_SAYS,
)
@theorem(
    "deep-sparse-part",
    kind="determined",
    among=("sparse",),
    page="theory/sparse.md",
    evidence=DEEP_EVIDENCE,
    says=SPARSE_SAYS,
)
def deep_sparse(case: Case) -> None:
    """Theorem D among sparse competitors, as a whole or in part."""
    check_deep(case, SparseRidges, SparseFamilies, SparseSets, SparseSigns, SparseWeights)
