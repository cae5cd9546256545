"""Evidence about one neuron: which families belong to one neuron of every competitor (Theorem D).

For each hidden neuron one family is chosen, and others are joined to it; `layer_evidence` does both
as far as crossings alone allow. The joining by linear systems is in `linear_systems`. The prover
and the checker must agree on when a family may be joined, so a change here needs a change of
FORMAT.md §3.9. Mathematics: docs/theory/deep.md, section "Families and chains".

A neuron h of the layer before *crosses* a family if h is active at some of its pieces and inactive
at others. A family of layer ℓ has a *full chain* if its chain up has L-1-ℓ steps. Then its neuron
in a competitor is in no later layer than ℓ; and it is in no earlier one, because the earlier layers
are known when layer ℓ is considered. The chosen family has a full chain. Another family of the same
neuron v with a full chain can be joined to the set of v

* if ℓ = 1: always, because the hyperplanes of the neurons of the first layer are different;
* if ℓ > 1, *by crossing*: if some h crosses both the family and the set of v; if the chosen
  families of layer ℓ are pairwise *distinguished* by crossing; and if the family is distinguished
  from the sets of the other neurons of the layer. The sets of two neurons v ≠ w are distinguished
  if the rows v and w of W[ℓ] are independent on the h that cross both;
* if ℓ > 1 and layer ℓ-1 is known with its signs, *by weights*: the same conditions with "the weight
  on h is determined" in place of "h crosses".

FORMAT.md has other words for these things, which the first table of docs/theory/deep.md lists.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from polyrelu.proofs.deep.families import Family
from polyrelu.proofs.deep.ridges import DeepNetwork
from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.support.typing import Mask

__all__ = [
    "LayerEvidence",
    "NeuronEvidence",
    "all_have_full_chains",
    "are_distinguished",
    "are_pairwise_distinguished",
    "bits_of",
    "has_full_chain",
    "join_families",
    "layer_evidence",
]


@dataclass(frozen=True, slots=True, eq=False)
class NeuronEvidence:
    """What some families of one neuron v = (ℓ, i) prove; all masks are of layer ℓ-1.

    Attributes
    ----------
    neuron
        Number of v.
    families
        The chosen family and those that were joined to it, in this order.
    active, inactive
        Masks of the neurons that are active, inactive, at some piece of these families.
    crossed_by
        Mask of the neurons that cross one of the families.
    num_determined_weights
        Mask of the neurons h for which the weight of v on h is determined, up to one factor for v,
        once the signs of layer ℓ-1 are.
    """

    neuron: int
    families: tuple[Family, ...]
    num_active: int
    num_inactive: int
    crossed_by: int
    num_determined_weights: int

    @classmethod
    def of(cls, family: Family) -> NeuronEvidence:
        """Return the evidence of one family, which determines the weights on what crosses it."""
        return cls(
            family.neuron,
            (family,),
            family.num_active,
            family.num_inactive,
            family.crossed_by,
            family.crossed_by,
        )

    def joined_with(self, other: NeuronEvidence) -> NeuronEvidence:
        """Return the evidence of the families of both."""
        return NeuronEvidence(
            self.neuron,
            (*self.families, *other.families),
            self.num_active | other.num_active,
            self.num_inactive | other.num_inactive,
            self.crossed_by | other.crossed_by,
            self.num_determined_weights | other.num_determined_weights,
        )

    def with_determined(self, weights: int) -> NeuronEvidence:
        """Return the same evidence with more determined weights, given as a mask."""
        return replace(self, num_determined_weights=self.num_determined_weights | weights)

    @property
    def masks(self) -> Iterator[int]:
        """The masks of the pieces of all the families."""
        return (mask for family in self.families for mask in family.masks)

    @property
    def oriented(self) -> bool:
        """Whether one of the families is oriented."""
        return any(family.oriented for family in self.families)


@dataclass(frozen=True, slots=True, eq=False)
class LayerEvidence:
    """The families of all neurons, chosen, joined or neither.

    Attributes
    ----------
    chosen
        For each neuron number with a piece, the chosen family with what was joined to it.
    unjoined
        For each neuron number, the families with full chains that were not joined.
    joined
        The families that were joined by crossing, in an order in which that is allowed.
    """

    chosen: dict[int, NeuronEvidence]
    unjoined: dict[int, list[NeuronEvidence]]
    joined: list[Family]


def layer_evidence(deep_network: DeepNetwork, families: Iterable[Family]) -> LayerEvidence:
    """Choose a family for each neuron, and join others by crossing."""
    by_neuron: defaultdict[int, list[Family]] = defaultdict(list)
    for family in families:
        by_neuron[family.neuron].append(family)
    result = LayerEvidence({}, defaultdict(list), [])
    for neuron, families_of_neuron in by_neuron.items():
        best = max(families_of_neuron, key=lambda family: _preference(deep_network, family))
        others = [
            family
            for family in families_of_neuron
            if family is not best and has_full_chain(deep_network, family)
        ]
        others.sort(key=lambda family: _preference(deep_network, family), reverse=True)
        result.chosen[neuron] = NeuronEvidence.of(best)
        result.unjoined[neuron] = list(map(NeuronEvidence.of, others))
    if deep_network.is_searched_by_sight and deep_network.among != "sparse":
        for layer in range(3, deep_network.depth):
            _choose_again(deep_network, layer, result)
    for layer in range(1, deep_network.depth):
        neurons = deep_network.neurons_in(layer)
        if all_have_full_chains(deep_network, neurons, result.chosen):
            crossed_by = {neuron: result.chosen[neuron].crossed_by for neuron in neurons}
            if layer == 1 or are_pairwise_distinguished(deep_network, neurons, crossed_by):
                joined = join_families(deep_network, neurons, result.chosen, result.unjoined)
                result.joined.extend(joined)
    return result


def _choose_again(deep_network: DeepNetwork, layer: int, evidence: LayerEvidence) -> None:
    """Choose other families for a layer ℓ ≥ 2 if the chosen ones cannot be distinguished.

    Two neurons h are looked for that are active together at pieces of most neurons of the layer, so
    that the families with these pieces have two weights in common. Neurons that are not
    distinguished yet then take the family that is distinguished from most others.
    """
    neurons = deep_network.neurons_in(layer)
    if not all_have_full_chains(deep_network, neurons, evidence.chosen):
        return
    active = {v: _likely_known(deep_network, evidence.chosen[v]) for v in neurons}
    if are_pairwise_distinguished(deep_network, neurons, active):
        return
    families = {v: [evidence.chosen[v], *evidence.unjoined[v]] for v in neurons}
    known = {v: [_likely_known(deep_network, own) for own in families[v]] for v in neurons}
    chosen = _with_a_pair_in_common(deep_network, layer, known)
    _distinguish(deep_network, known, chosen)
    for v in neurons:
        evidence.chosen[v] = families[v].pop(chosen[v])
        evidence.unjoined[v] = families[v]


def _with_a_pair_in_common(
    deep_network: DeepNetwork, layer: int, known: Mapping[int, Sequence[int]]
) -> dict[int, int]:
    """Return for each neuron the number of the family that shows most, if possible two chosen h.

    `known` has for each family of each neuron of the layer the mask of the h with known weights.
    The two h are active together in families of most neurons.
    """
    start, width = deep_network.starts[layer - 2], deep_network.widths[layer - 1]
    tables = {
        v: np.array([_bits_as_array(mask >> start, width) for mask in masks])
        for v, masks in known.items()
    }
    together = np.zeros((width, width), dtype=np.int64)
    for table in tables.values():
        together += table.T.astype(np.float32) @ table.astype(np.float32) > 0
    np.fill_diagonal(together, 0)
    pair = list(np.unravel_index(int(np.argmax(together)), together.shape))
    return {
        v: int(np.argmax(width * table[:, pair].all(axis=1) + np.count_nonzero(table, axis=1)))
        for v, table in tables.items()
    }


def _distinguish(
    deep_network: DeepNetwork, known: Mapping[int, Sequence[int]], chosen: dict[int, int]
) -> None:
    """Change the chosen numbers of families of neurons that are not distinguished from others."""
    active = {v: masks[chosen[v]] for v, masks in known.items()}

    def num_distinguished(v: int, mask: int) -> int:
        """Return from how many neurons v is distinguished by its weights on the h of a mask."""
        return sum(are_distinguished(deep_network, v, w, mask & active[w]) for w in known if w != v)

    def is_short(v: int) -> bool:
        """Return whether a neuron is not distinguished from all others."""
        return num_distinguished(v, active[v]) < len(known) - 1

    for _ in range(SETTINGS.choices):
        short = list(filter(is_short, known))
        if not short:
            return
        for v in filter(is_short, short):
            counts = [float(num_distinguished(v, mask)) for mask in known[v]]
            counts[chosen[v]] -= 0.5  # rather another one than the same again
            chosen[v] = int(np.argmax(counts))
            active[v] = known[v][chosen[v]]


def _likely_known(deep_network: DeepNetwork, own: NeuronEvidence) -> int:
    """Return the mask of the neurons h on which the pieces of some families may show the weights.

    The gradients of the h that are active at a piece can be independent only if no fewer neurons
    are active in each earlier layer.
    """
    layer = deep_network.layer_of[own.neuron]
    for mask in own.masks:
        counts = [(mask & deep_network.layer_mask[k]).bit_count() for k in range(1, layer)]
        if min(counts) < counts[-1]:
            return own.crossed_by
    return own.num_active


def _bits_as_array(mask: int, width: int) -> Mask:
    """Return the lowest bits of a mask as an array."""
    text = np.frombuffer((mask & (1 << width) - 1).to_bytes(width // 8 + 1, "little"), np.uint8)
    return np.unpackbits(text, count=width, bitorder="little").view(np.bool_)


def all_have_full_chains(
    deep_network: DeepNetwork, neurons: Iterable[int], chosen: Mapping[int, NeuronEvidence]
) -> bool:
    """Return whether each of the neurons has a chosen family, with a full chain."""
    return all(
        neuron in chosen and has_full_chain(deep_network, chosen[neuron].families[0])
        for neuron in neurons
    )


def join_families(
    deep_network: DeepNetwork,
    neurons: Sequence[int],
    chosen: dict[int, NeuronEvidence],
    unjoined: dict[int, list[NeuronEvidence]],
    determine: Callable[[NeuronEvidence], NeuronEvidence] | None = None,
) -> list[Family]:
    """Join to the chosen families of a layer all families that can be joined and add evidence.

    Parameters
    ----------
    deep_network
        The network.
    neurons
        Numbers of the neurons of the layer. What was chosen for them is pairwise distinguished.
    chosen, unjoined
        As in `LayerEvidence`; both are changed.
    determine
        The function that adds the weights which the pieces of some families determine. With it
        families are joined by weights, without it by crossing.

    Returns
    -------
    list of Family
        The families that were joined, in an order in which that is allowed.
    """
    waiting = [candidate for neuron in neurons for candidate in unjoined[neuron]]
    joined, has_joined = list[Family](), True
    while has_joined:
        later, has_joined = list[NeuronEvidence](), False
        for candidate in waiting:
            joined_so_far = chosen[candidate.neuron]
            if determine is None:
                is_useful, evidence = _adds_evidence(joined_so_far, candidate), candidate
            else:
                is_useful = bool(candidate.num_active & ~joined_so_far.num_determined_weights)
                evidence = determine(candidate) if is_useful else candidate
            if not is_useful:
                continue
            if _can_join(deep_network, neurons, chosen, evidence, determine is not None):
                chosen[candidate.neuron], has_joined = joined_so_far.joined_with(evidence), True
                joined += candidate.families
            else:
                later.append(evidence)
        waiting = later
    for neuron in neurons:
        unjoined[neuron] = [candidate for candidate in waiting if candidate.neuron == neuron]
    return joined


def has_full_chain(deep_network: DeepNetwork, family: Family) -> bool:
    """Return whether the chain up from a family has the full length L-1-ℓ."""
    return family.chain_length == deep_network.depth - 1 - deep_network.layer_of[family.neuron]


def are_pairwise_distinguished(
    deep_network: DeepNetwork, neurons: Sequence[int], known: Mapping[int, int]
) -> bool:
    """Return whether any two rows of a layer are independent on the h known of both.

    `known` has a mask of neurons h of the layer before for each neuron.
    """
    return all(
        are_distinguished(deep_network, v, w, known[v] & known[w])
        for i, v in enumerate(neurons)
        for w in neurons[:i]
    )


def are_distinguished(deep_network: DeepNetwork, v: int, w: int, common: int) -> bool:
    """Return whether two rows of a layer are independent on the neurons of a mask."""
    a, b = deep_network.integer_row(v), deep_network.integer_row(w)
    start, first = deep_network.starts[deep_network.layer_of[v] - 2], -1
    for h in bits_of(common >> start):
        if first < 0 and (a[h] or b[h]):
            first = h
        elif first >= 0 and a[first] * b[h] != a[h] * b[first]:
            return True
    return False


def bits_of(mask: int) -> Iterator[int]:
    """Return the positions of the ones in a mask, in ascending order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _preference(deep_network: DeepNetwork, family: Family) -> tuple[bool, int, int]:
    """Sort key by which a family is chosen; the largest one is best.

    Neurons that cross the family distinguish it, and so do neurons that are active at its pieces,
    whose weights may be determined.
    """
    return (
        has_full_chain(deep_network, family),
        family.crossed_by.bit_count() + family.num_active.bit_count(),
        len(family.masks),
    )


def _adds_evidence(joined: NeuronEvidence, candidate: NeuronEvidence) -> bool:
    """Return whether a family adds active or crossing neurons, or an orientation."""
    return bool(
        candidate.num_active & ~joined.num_active
        or candidate.crossed_by & ~joined.crossed_by
        or (candidate.oriented and not joined.oriented)
    )


def _can_join(
    deep_network: DeepNetwork,
    neurons: Sequence[int],
    chosen: Mapping[int, NeuronEvidence],
    candidate: NeuronEvidence,
    by_weights: bool,
) -> bool:
    """Return whether a family may be joined, by crossing or by weights, to its neuron's set."""
    if deep_network.layer_of[candidate.neuron] == 1:
        return True
    known = candidate.num_determined_weights if by_weights else candidate.crossed_by
    others = {
        neuron: chosen[neuron].num_determined_weights if by_weights else chosen[neuron].crossed_by
        for neuron in neurons
    }
    common = known & others[candidate.neuron]
    if deep_network.among == "sparse":
        common &= deep_network.read_before(candidate.neuron)
    return bool(common) and all(
        are_distinguished(deep_network, candidate.neuron, w, known & others[w])
        for w in neurons
        if w != candidate.neuron
    )
