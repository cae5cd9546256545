"""Theorem D, one neuron from its families: which families belong to one neuron of every competitor (docs/theory/deep.md).

A family *crosses* a neuron h of the layer before if h is on at some of its pieces and off at others. It is *placed* if
its chain up is as long as it can be: then it lies in no later layer of a competitor than its own, ℓ, and in no earlier
one, because these are known when layer ℓ is looked at. One placed family is chosen
for each neuron. Another placed family of the same neuron can be joined to it

* if ℓ = 1: always, because the hyperplanes of the neurons of the first layer are different;
* if ℓ > 1, *by crossing*: if it and the set of v cross a common h, and if all the chosen families of layer ℓ are
  pairwise told apart, and it is told apart from those of the other neurons of the layer. Sets of two neurons v ≠ w are
  *told apart* if the rows v and w of W[ℓ] are independent on the h that both cross;
* if ℓ > 1 and the layer before is known with its signs, *by sight*: the same with "see" for "cross" (`deep_rows`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from polyrelu.proofs.deep.families import Family
from polyrelu.proofs.deep.ridges import DeepNetwork

__all__ = [
    "LayerEvidence",
    "NeuronEvidence",
    "all_placed",
    "bits_of",
    "distinguished",
    "enlarged",
    "is_placed",
    "layer_evidence",
    "pairwise_distinguished",
]


@dataclass(frozen=True, slots=True, eq=False)
class NeuronEvidence:
    """What is known of one neuron v = (ℓ, i); the masks are of layer ℓ-1.

    Attributes
    ----------
    place : of v.
    families : the chosen family and those that were joined to it, in this order.
    on, off : whether each neuron is on, off, at some piece.
    crossed : whether one of the families crosses it.
    seen : whether its weight is determined up to the factor of v, once the signs of layer ℓ-1 are.
    """

    place: int
    families: tuple[Family, ...]
    on: int
    off: int
    crossed: int
    seen: int

    @classmethod
    def of(cls, family: Family, seen: int = 0) -> NeuronEvidence:
        """Of one family."""
        return cls(
            family.place, (family,), family.on, family.off, family.crossed, family.crossed | seen
        )

    def joined(self, other: NeuronEvidence) -> NeuronEvidence:
        """With the families of another one."""
        return NeuronEvidence(
            self.place,
            (*self.families, *other.families),
            self.on | other.on,
            self.off | other.off,
            self.crossed | other.crossed,
            self.seen | other.seen,
        )

    def seeing(self, seen: int) -> NeuronEvidence:
        """With more that is seen."""
        return NeuronEvidence(
            self.place, self.families, self.on, self.off, self.crossed, self.seen | seen
        )

    @property
    def masks(self) -> Iterator[int]:
        """Of the pieces of all the families."""
        return (mask for family in self.families for mask in family.masks)

    @property
    def oriented(self) -> bool:
        """Whether no other neuron of its layer is on at one of the pieces, so that f is constant on the off side."""
        return any(family.oriented for family in self.families)


@dataclass(frozen=True, slots=True, eq=False)
class LayerEvidence:
    """What some families show, layer by layer.

    Attributes
    ----------
    chosen : one portrait for each neuron that has a piece, by its place, with what was joined by crossing.
    left : the portraits of placed families that were not joined.
    order : the families that were joined by crossing, in the order in which that is allowed.
    """

    chosen: dict[int, NeuronEvidence]
    left: dict[int, list[NeuronEvidence]]
    order: list[Family]


def layer_evidence(space: DeepNetwork, families: Iterable[Family]) -> LayerEvidence:
    """Choose and join families."""
    found: defaultdict[int, list[Family]] = defaultdict(list)
    for family in families:
        found[family.place].append(family)
    result = LayerEvidence({}, defaultdict(list), [])
    for place, own in found.items():
        best = max(own, key=lambda family: _merit(space, family))
        rest = [family for family in own if family is not best and is_placed(space, family)]
        rest.sort(key=lambda family: _merit(space, family), reverse=True)
        result.chosen[place] = NeuronEvidence.of(best)
        result.left[place] = list(map(NeuronEvidence.of, rest))
    for layer in range(1, space.network.depth):
        places = space.places(layer)
        if all_placed(space, places, result.chosen):
            crossed = {place: result.chosen[place].crossed for place in places}
            if layer == 1 or pairwise_distinguished(space, places, crossed):
                result.order.extend(enlarged(space, places, result.chosen, result.left))
    return result


def all_placed(
    space: DeepNetwork, places: Iterable[int], chosen: dict[int, NeuronEvidence]
) -> bool:
    """Whether each of some neurons has a family that is placed."""
    return all(place in chosen and is_placed(space, chosen[place].families[0]) for place in places)


def enlarged(
    space: DeepNetwork,
    places: Sequence[int],
    chosen: dict[int, NeuronEvidence],
    left: dict[int, list[NeuronEvidence]],
    look: Callable[[NeuronEvidence], NeuronEvidence] | None = None,
) -> list[Family]:
    """Join to the chosen portraits of a layer, which are pairwise told apart, what can be joined and shows something
    more: by crossing, or by sight if it is given how to look. Both dictionaries are changed.

    Returns
    -------
    The families that were joined, in the order in which that is allowed.
    """
    waiting, order, found = [part for place in places for part in left[place]], list[Family](), True
    while found:
        later, found = list[NeuronEvidence](), False
        for part in waiting:
            own = chosen[part.place]
            if not _shows_more(own, part) if look is None else not part.on & ~own.seen:
                continue
            seeing = part if look is None else look(part)
            if _can_join(space, places, chosen, seeing, by_weights=look is not None):
                chosen[part.place], found = own.joined(seeing), True
                order += part.families
            else:
                later.append(seeing)
        waiting = later
    for place in places:
        left[place] = [part for part in waiting if part.place == place]
    return order


def is_placed(space: DeepNetwork, family: Family) -> bool:
    """Whether a chain up fixes the layer of a family in every competitor, given the layers before."""
    return family.up == space.network.depth - 1 - space.layer_of[family.place]


def pairwise_distinguished(
    space: DeepNetwork, places: Sequence[int], known: dict[int, int]
) -> bool:
    """Whether the rows of the neurons of a layer are pairwise independent on what is known of both, given as masks."""
    return all(
        distinguished(space, v, w, known[v] & known[w])
        for i, v in enumerate(places)
        for w in places[:i]
    )


def distinguished(space: DeepNetwork, v: int, w: int, common: int) -> bool:
    """Whether the rows of two neurons of a layer are independent on some neurons of the layer before."""
    a, b, start = space.row(v), space.row(w), space.starts[space.layer_of[v] - 2]
    first = -1
    for h in bits_of(common >> start):
        if first < 0 and (a[h] or b[h]):
            first = h
        elif first >= 0 and a[first] * b[h] != a[h] * b[first]:
            return True
    return False


def bits_of(mask: int) -> Iterator[int]:
    """The places of the ones in a mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _merit(space: DeepNetwork, family: Family) -> tuple[bool, int, int]:
    """What makes a family a good choice: what crosses it tells it apart, and so does what is on, by sight."""
    return (
        is_placed(space, family),
        family.crossed.bit_count() + family.on.bit_count(),
        len(family.masks),
    )


def _shows_more(own: NeuronEvidence, part: NeuronEvidence) -> bool:
    """Whether a family shows something that is not known, before anything is seen but by crossing."""
    return bool(
        part.on & ~own.on or part.crossed & ~own.crossed or (part.oriented and not own.oriented)
    )


def _can_join(
    space: DeepNetwork,
    places: Sequence[int],
    chosen: dict[int, NeuronEvidence],
    part: NeuronEvidence,
    by_weights: bool,
) -> bool:
    if space.layer_of[part.place] == 1:
        return True
    known = part.seen if by_weights else part.crossed
    others = {
        place: chosen[place].seen if by_weights else chosen[place].crossed for place in places
    }
    return bool(known & others[part.place]) and all(
        distinguished(space, part.place, w, known & others[w]) for w in places if w != part.place
    )
