"""Linear systems of Theorem D, in signs and in weights, and the theorems deep and deep-part."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, compress
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import reduce_into, unpack
from polyrelu.checking.claims import DEEP_CLASSES
from polyrelu.checking.families import (
    Extent,
    Families,
    FamilySets,
    PieceSet,
    are_independent,
)
from polyrelu.checking.meter import require, well_formed
from polyrelu.checking.pairs import domain_of_competitors
from polyrelu.checking.ridges import Neurons, P, Ridge, Ridges, ones, product_sum
from polyrelu.checking.text import NATURAL, RATIONAL, ROW, OneOf
from polyrelu.checking.theorems import MEMBERSHIP, Case, theorem

# -- Linear systems


class Unknown(NamedTuple):
    """An unknown of a system: it multiplies the gradient of h, times a factor, in some states."""

    h: int  # index in the layer before
    states: tuple[bool, ...]  # where it counts: h is on, off
    factor: int


def rank_form(
    sets: FamilySets, derivatives: Any, own: PieceSet, unknowns: list[Unknown]
) -> dict[int, int]:
    """The echelon form of the equations at the pieces of a neuron, until the rank is full.

    At each piece the gradients of the layer before, each times its factor and its unknown, have the
    sum 0.
    """
    neurons, size, basis = sets.neurons, len(unknowns), dict[int, int]()
    layer, seen, relevant = neurons.layer[own.neuron] - 1, set[bytes](), 0
    for unknown in unknowns:
        if len(unknown.states) == 1:
            relevant |= 1 << neurons.starts[layer] + unknown.h
    for mask in own.masks:
        if len(basis) == size:
            break
        sets.meter.pay(8, neurons.count)
        key = neurons.key(mask & relevant | neurons.before(mask, layer))
        if key in seen:
            continue
        seen.add(key)
        add_equations(neurons, derivatives, layer, mask, unknowns, basis)
    return basis


def add_equations(
    neurons: Neurons,
    derivatives: Any,
    layer: int,
    mask: int,
    unknowns: list[Unknown],
    basis: dict[int, int],
) -> None:
    """The equations of one piece, one for each input, join the echelon form."""
    size, part = len(unknowns), neurons.part(mask, layer)
    places = [
        (c, unknown)
        for c, unknown in enumerate(unknowns)
        if (part >> unknown.h & 1 == 1) in unknown.states
    ]
    rows = [neurons.rows[layer][unknown.h] for _, unknown in places]
    neurons.meter.units(300 * size)
    if layer > 0:
        states = neurons.states_of(mask, layer - 1)
        neurons.meter.units(30 * len(rows) * len(states))
        rows = [[*compress(row, states)] for row in rows]
    for k in range(derivatives.num_inputs):
        equation = [0] * size
        below = derivatives.slopes(layer - 1, mask, k) if layer > 0 else []
        neurons.meter.pay_modular(len(rows) * (len(below) + 2) + size // 4)
        for (c, unknown), weights in zip(places, rows, strict=True):
            slope = product_sum(weights, below) if layer > 0 else weights[k]
            equation[c] = slope * unknown.factor % P
        reduce_into(basis, equation, P, neurons.meter)
        if len(basis) == size:
            return


def by_sight(sets: FamilySets, derivatives: Any, own: PieceSet) -> tuple[int, int]:
    """The neurons of the layer before that are on, off, at pieces that suffice by themselves.

    All earlier layers are on there. If the gradients of the whole layer before are independent,
    then the equations at one piece leave only 0 for all unknowns that count there.
    """
    neurons = sets.neurons
    layer, on, off = neurons.layer[own.neuron] - 1, 0, 0
    full = (1 << neurons.starts[layer]) - 1
    sets.meter.pay(6 * len(own.masks), neurons.count)
    for mask in own.masks:
        if mask & full == full and is_independent(sets, derivatives, layer):
            on, off = on | neurons.part(mask, layer), off | neurons.part(~mask, layer)
    return on, off


def is_independent(sets: FamilySets, derivatives: Any, layer: int) -> bool:
    """Whether the gradients of a layer are independent where all earlier layers are on."""
    neurons, basis = sets.neurons, dict[int, int]()
    width, full = neurons.widths[layer], (1 << neurons.starts[layer]) - 1
    if layer not in sets.independent:
        if width <= min([derivatives.num_inputs, *neurons.widths[:layer]]):
            unknowns = [Unknown(h, (True, False), 1) for h in range(width)]
            add_equations(neurons, derivatives, layer, full, unknowns, basis)
        sets.independent[layer] = len(basis) == width
    return sets.independent[layer]


# -- Signs (D3)


#: Maximum number of neurons of which all sets are tried, one after the other.
MAX_TRIED = 12


class OwnSystem(NamedTuple):
    """The equations at the pieces of a neuron v, in echelon form.

    Their unknowns are s_vh for the neurons `on`, t_vh for `off`, and p_h for `signs`, times W_vh.
    """

    weights: list[int]
    on: list[int]
    off: list[int]
    signs: list[int]
    rows: list[list[int]]


class SignSystem:
    """The system in the signs of one layer, at the pieces of neurons v of the layer above.

    Any set T of these neurons will do. Of each v first its own unknowns, s_vh and t_vh, are
    eliminated; then come the p_h of neurons h that are not oriented. Otherwise each set of these
    neurons, as those with other signs, is excluded by some v.
    """

    def __init__(self, sets: FamilySets, derivatives: Any, layer: int) -> None:
        self.sets, self.derivatives, self.layer = sets, derivatives, layer
        self.neurons = sets.neurons
        self.above = [v for v in sets.sets.values() if self.neurons.layer[v.neuron] == layer + 1]
        self.total, self.wanted, self.free = dict[int, int](), set[int](), 0
        self.systems = list[OwnSystem]()

    def check(self) -> None:
        """The layer's signs are determined, if neurons above belong to the claim."""
        if not self.above or any(self.is_crossed(own) for own in self.above):
            return
        self.free = self.not_oriented()
        if not any(self.is_enough(own) for own in self.above) and not self.all_excluded():
            got = f"{len(self.total)} of {len(self.wanted)}"
            require(False, f"full rank for layer {self.layer + 1}", got)

    def is_crossed(self, own: PieceSet) -> bool:
        """Whether at some piece of v all neurons of the layer that are on cross it."""
        self.sets.meter.pay(2 * len(own.masks), self.neurons.count)
        return any(not self.neurons.part(mask & ~own.crossed, self.layer) for mask in own.masks)

    def all_excluded(self) -> bool:
        """Whether each set of neurons that are not oriented is excluded by the system of some v."""
        free = ones(self.free)
        return len(free) <= MAX_TRIED and all(
            any(self.excludes(system, {*flipped}) for system in self.systems)
            for size in range(1, len(free) + 1)
            for flipped in combinations(free, size)
        )

    def excludes(self, system: OwnSystem, flipped: set[int]) -> bool:
        """Whether only 0 solves the system of v where the signs of these neurons are other ones."""
        num_on, num_own = len(system.on), len(system.on) + len(system.off)
        kept = [c for c, h in enumerate(system.on) if h not in flipped]
        kept += [num_on + c for c, h in enumerate(system.off) if h in flipped]
        known = [(c, system.weights[h]) for c, h in enumerate(system.on) if h in flipped]
        known += [(num_own + c, 1) for c, h in enumerate(system.signs) if h in flipped]
        size, basis = len(kept) + bool(known), dict[int, int]()
        for row in system.rows:
            self.sets.meter.pay_modular(size + len(known) + 4)
            equation = [row[c] for c in kept]
            if known:
                equation.append(sum(row[c] * x for c, x in known) % P)
            reduce_into(basis, equation, P, self.sets.meter)
            if len(basis) == size:
                return True
        return False

    def not_oriented(self) -> int:
        """The neurons of the layer at all of whose pieces some neuron of the layer is on."""
        found = 0
        for h, w in enumerate(self.neurons.neurons_of(self.layer)):
            masks = self.sets.sets[w].masks
            self.sets.meter.pay(2 * len(masks), self.neurons.count)
            if all(self.neurons.part(mask, self.layer) for mask in masks):
                found |= 1 << h
        return found

    def is_enough(self, own: PieceSet) -> bool:
        """Let v join T, if its own unknowns have full rank; whether the rank is full then."""
        neurons, layer = self.neurons, self.layer
        crossed, weights = (
            neurons.part(own.crossed, layer),
            neurons.rows[layer + 1][neurons.index(own.neuron)],
        )
        on, off = (neurons.part(side, layer) & ~crossed for side in (own.on, own.off))
        unknowns = [Unknown(h, (True,), 1) for h in ones(on)]
        unknowns += [Unknown(h, (False,), 1) for h in ones(off & self.free)]
        num_own = len(unknowns)
        signs = ones(crossed & self.free)
        seen_on, seen_off = by_sight(self.sets, self.derivatives, own)
        rest = on & ~seen_on | off & self.free & ~seen_off
        rest |= crossed & self.free & ~(seen_on | seen_off)
        if not rest and all(weights[h] for h in signs):
            return True
        unknowns += [Unknown(h, (True, False), weights[h]) for h in signs]
        basis = rank_form(self.sets, self.derivatives, own, unknowns)
        if len(basis) == len(unknowns):
            return True
        if self.free.bit_count() <= MAX_TRIED:
            self.keep(OwnSystem(weights, ones(on), ones(off & self.free), signs, []), basis)
        if sum(c < num_own for c in basis) < num_own:
            return False
        self.wanted.update(signs)
        for c, packed in basis.items():
            if c >= num_own:
                self.add(signs[c - num_own :], packed)
        return len(self.total) == len(self.wanted)

    def keep(self, system: OwnSystem, basis: dict[int, int]) -> None:
        """Keep the equations of v, without the factor that makes their first coefficient 1."""
        size = len(system.on) + len(system.off) + len(system.signs)
        self.sets.meter.units(60 * size * len(basis))
        self.sets.meter.hold(size * len(basis))
        for c, packed in basis.items():
            system.rows.append([0] * c + [1, *unpack(packed, size - c - 1, P)])
        self.systems.append(system)

    def add(self, signs: list[int], packed: int) -> None:
        """An equation in the p_h alone, its first coefficient 1, joins the ones from all of T."""
        row = [0] * self.neurons.widths[self.layer]
        for h, x in zip(signs, [1, *unpack(packed, len(signs) - 1, P)], strict=True):
            row[h] = x
        reduce_into(self.total, row, P, self.sets.meter)


# -- Weights (D2)


class WeightSystem:
    """Which weights between hidden layers are determined by the pieces of their neurons."""

    #: Whether weights may be 0; then there are no sources.
    may_be_zero = False

    def __init__(self, sets: FamilySets, derivatives: Any) -> None:
        self.sets, self.derivatives, self.neurons = sets, derivatives, sets.neurons

    def check(self, evidence: Any, ridges: Ridges) -> None:
        """No weight is 0, all of them are determined, or they are at sources (D2')."""
        for own in self.sets.sets.values():
            self.look_together(own)
        self.join_by_weights(evidence["joined"])
        undetermined = self.check_determined()
        order = evidence["order"]
        require(
            sorted(order) == sorted(undetermined),
            "an order of the sources",
            f"{len(undetermined)} sources",
        )
        if order:
            Sources(self.sets, ridges, undetermined).check(order)

    def look_together(self, own: PieceSet) -> None:
        """What a set shows together, or else what its members show by their own systems."""
        self.look(own)
        if own.on & ~own.determined and len(own.families) > 1:
            for family in own.families:
                self.look(family)
                own.determined |= family.determined

    def look(self, own: PieceSet) -> None:
        """The weights on what is on at some piece are determined if only 0 solves the system."""
        layer = self.neurons.layer[own.neuron]
        if layer == 0:
            return
        seen, _ = by_sight(self.sets, self.derivatives, own)
        hidden = ones(self.neurons.part(own.on & ~own.determined, layer - 1) & ~seen)
        unknowns = [Unknown(h, (True,), 1) for h in hidden]
        basis = rank_form(self.sets, self.derivatives, own, unknowns)
        if len(basis) == len(unknowns):
            own.determined |= own.on

    def join_by_weights(self, joined: Any) -> None:
        """Join families to sets by weights that both determine."""
        told_apart = set[int]()
        for w, number in joined:
            new = self.sets.next_family(w, number)
            own = self.sets.sets[w]
            self.sets.check_peers(w, told_apart, "determined")
            self.look(new)
            self.sets.check_joint(new, "determined", f"neuron {w}, ridge {number}")
            own.join(new)
            self.look(own)

    def check_determined(self) -> dict[int, list[int]]:
        """No weight is 0, and all are determined; the exceptions, in the last layer, by their h."""
        neurons, extent = self.neurons, self.sets.extent
        depth, undetermined = len(neurons.widths), dict[int, list[int]]()
        has_sources = extent.num_layers == depth and not self.may_be_zero
        last = depth - 1 if has_sources else -1
        for v, own in self.sets.sets.items():
            layer, name = neurons.layer[v], f"neuron {v}"
            if layer == 0:
                continue
            weights = neurons.network.layers[layer].rows[neurons.index(v)]
            require(self.may_be_zero or all(weights), "no weight 0", name)
            require(
                not own.on & ~own.determined, "all weights of neurons that are on determined", name
            )
            full = (1 << neurons.widths[layer - 1]) - 1
            off = ones(full & ~neurons.part(own.on, layer - 1))
            require(layer == last or not off, "all weights determined", name)
            for h in off:
                undetermined.setdefault(h, []).append(v)
        return undetermined


class Sources:
    """(D2'): neurons h of layer L-2 that are on at no piece of some v of layer L-1.

    Their weights are determined at their own zeros.
    """

    def __init__(
        self, sets: FamilySets, ridges: Ridges, undetermined: dict[int, list[int]]
    ) -> None:
        self.sets, self.ridges, self.undetermined = sets, ridges, undetermined
        self.neurons, self.meter = sets.neurons, sets.meter
        self.last = len(self.neurons.widths) - 1
        self.start = self.neurons.starts[self.last - 1]

    def check(self, order: list[int]) -> None:
        """The sources in their order: from each one on, those after it are off."""
        self.check_rows()
        left = sum(1 << self.start + h for h in order)
        self.check_sector(left)
        for h in order:
            left ^= 1 << self.start + h
            self.check_source(h, left)

    def check_rows(self) -> None:
        """Any two neurons of the last layer are independent where both see the layer before."""
        neurons, last, width = self.neurons, self.last, self.neurons.widths[self.last - 1]
        rows = [[x % P for x in row] for row in neurons.network.layers[last].augmented()]
        for v, w in combinations(neurons.neurons_of(last), 2):
            common = neurons.part(self.sets.sets[v].on & self.sets.sets[w].on, last - 1)
            self.meter.pay_modular(4 * (width + 1))
            apart = are_independent(
                rows[neurons.index(v)], rows[neurons.index(w)], [*ones(common), width]
            )
            require(apart, f"determined rows {v}, {w} that are independent")

    def check_sector(self, left: int) -> None:
        """On some sector all sources are off, and no layer before the last one is."""
        listed = self.ridges.listed
        self.meter.pay(8 * len(listed) * (self.last + 1), self.neurons.count)
        masks = (mask for ridge in listed for mask in ridge.sectors() if not mask & left)
        layers = range(self.last)
        found = any(all(self.neurons.part(mask, layer) for layer in layers) for mask in masks)
        require(found, "a sector where all sources are off")

    def check_source(self, h: int, left: int) -> None:
        """The jumps of the gradient at zeros of a source have full rank in the weights on it."""
        neurons, vs, basis = self.neurons, self.undetermined[h], dict[int, int]()
        self.meter.pay(2 * len(self.ridges.listed))
        top = neurons.starts[self.last]
        for mark in sorted(self.marks(self.start + h, vs, left)):
            for row in neurons.rows[self.last + 1]:
                self.meter.pay_modular(len(vs))
                equation = [row[v - top] * on % P for v, on in zip(vs, mark, strict=True)]
                reduce_into(basis, equation, P, self.meter)
        require(len(basis) == len(vs), f"full rank for source {h}", str(len(basis)))

    def marks(self, w: int, vs: list[int], left: int) -> set[tuple[bool, ...]]:
        """Which of some neurons are on, at the rays of listed ridges where w vanishes."""
        found = set[tuple[bool, ...]]()
        for ridge in self.ridges.listed:
            if w in (ridge.u, ridge.v):
                self.meter.pay(6 * len(vs), self.neurons.count)
                found.update(
                    tuple(bool(mask >> v & 1) for v in vs)
                    for mask in self.rays(ridge, w)
                    if not mask & left
                )
        return found

    def rays(self, ridge: Ridge, w: int) -> Iterable[int]:
        """The masks of the two rays of a ridge where w vanishes."""
        other = ridge.u + ridge.v - w
        return ridge.mask, ridge.mask | 1 << other


# -- The theorems

#: Maximum number of signs at all ridges together: ridges times hidden neurons.
MAX_SIGNS = 2**28
LISTED = [(int, int, NATURAL)]
OF_SOME_INPUTS = {
    "denominator": NATURAL,
    "point": ROW,
    "directions": (ROW, ROW),
    "ridges": LISTED,
}
SLICE = OneOf(
    (
        {"point": [RATIONAL], "directions": ([RATIONAL], [RATIONAL]), "ridges": LISTED},
        {"inputs": ROW, **OF_SOME_INPUTS},
        OF_SOME_INPUTS,
    )
)
DEEP_EVIDENCE = {
    "ridges": {"slices": [SLICE]},
    "families": {"chosen": [(int, int)], "joined": [(int, int)]},
    "signs": {},
    "weights": {"joined": [(int, int)], "order": [int]},
    "membership": MEMBERSHIP,
}
DEEP_SAYS = {
    "ridges": "each listed plane meets its ridges, inside the domain, where exactly two neurons "
    "vanish",
    "families": "every hidden neuron of the claim has a placed family, and the other families can "
    "be joined",
    "signs": "other signs in a hidden layer are excluded by crossings or by linear systems",
    "weights": "every weight between hidden layers of the claim is nonzero and determined",
}


@theorem(
    "deep",
    kind="identifiable",
    among=DEEP_CLASSES,
    page="theory/deep.md",
    evidence=DEEP_EVIDENCE,
    says=DEEP_SAYS,
)
@theorem(
    "deep-part",
    kind="determined",
    among=DEEP_CLASSES,
    page="theory/deep.md",
    evidence=DEEP_EVIDENCE,
    says=DEEP_SAYS,
)
def deep(case: Case) -> None:
    """Theorem D, as a whole or in part."""
    check_deep(case, Ridges, Families, FamilySets, SignSystem, WeightSystem)


def check_deep(
    case: Case,
    ridges_of: type[Ridges],
    families_of: type[Families],
    sets_of: type[FamilySets],
    signs_of: type[SignSystem],
    weights_of: type[WeightSystem],
) -> None:
    """Theorem D for a class of competitors, by the rules for its ridges, signs and weights."""
    network, meter = case.network, case.meter
    meter.step = "theorem"
    require(len(network.layers) >= 2, "a hidden layer", str(network))
    require(network.widths[0] >= 2, "n_0 >= 2", str(network))
    require(network.last == "affine", "an affine output", str(network))
    meter.step = "claim"
    domain, neurons = domain_of_competitors(case), Neurons(network, meter)
    meter.step = "claim"
    extent = Extent.of(neurons, case.claim)

    slices = case.hypothesis("ridges")["slices"]
    count = sum(len(entry["ridges"]) for entry in slices)
    message = f"beyond the limits: more than {MAX_SIGNS} signs at ridges"
    well_formed(count * neurons.count <= MAX_SIGNS, message)
    ridges = ridges_of(neurons, case.claim["among"] == "regular", domain)
    ridges.read(slices)

    evidence = case.hypothesis("families")
    sets = sets_of(families_of(ridges), extent)
    sets.choose(evidence["chosen"])
    sets.join_by_crossing(evidence["joined"])

    case.hypothesis("signs")
    for layer in range(len(neurons.widths) - 1):
        signs_of(sets, ridges.derivatives, layer).check()
    weights_of(sets, ridges.derivatives).check(case.hypothesis("weights"), ridges)
