"""Theorem D: the hypotheses, evaluated exactly at given rational points (statement and proof: docs/theory/deep.md).

**Theorem D.** Let θ be a plain stack with hidden layers 1 … L-1, n_0 ≥ 2. Choose one family (`deep_families`) for each
hidden neuron (ℓ, i), such that

* (D1) *layers*: a chain of L-1-ℓ crossings leads up from its level.

Join to it other families of the neuron, as `deep_neurons` says; what follows is about the pieces of all of them. Let

* (D2) *weights*: if ℓ ≥ 2, for every neuron h of layer ℓ-1 W[ℓ]_ih ≠ 0, and (ℓ, i) see h (`deep_rows`): h is on at
  some piece, and it crosses, or a linear system has full rank; if ℓ = L-1, the weight may be shown otherwise instead
  if h is on at no piece (`deep_unseen`);
* (D3) *signs*: for each layer m < L-1 some neuron of layer m+1 be crossed by all neurons of layer m; or a linear system
  (`deep_rows`) have only the solution 0.

Then every competitor η (all transversal networks; all regular ones if only clear ridges count, `deep_ridges`) with
f_η = f_θ has η ~ θ.

*Which signs the points show.* Where the system of (D3) has only the solution 0, other signs (*flips*) in layer m would
make a weight of the competitor 0. Elsewhere flips are excluded by the class of competitors alone: a network with such a
flip has a masked product that is 0, and so has θ.

**In part.** If something is missing in some layer, what holds for the layers before still determines them
(`determined`).

Only a part of all pieces and cells is known from the points. More of them never hurt: a longer list gives longer
chains, larger families, more equations. The theorem leaves the choice of families free, and the order of the joins; one
choice is made here, the one that promises most, so that in rare cases more points show less *here*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from polyrelu.exact import Rational
from polyrelu.network import Network, NeuronId
from polyrelu.proofs.deep.families import Families, Family
from polyrelu.proofs.deep.linear_systems import (
    is_crossed_by_all,
    join_by_weights,
    signs_short_of,
    with_determined_weights,
)
from polyrelu.proofs.deep.neuron_evidence import (
    LayerEvidence,
    NeuronEvidence,
    bits_of,
    is_placed,
    layer_evidence,
)
from polyrelu.proofs.deep.ridges import Competitors, DeepNetwork, Ridge, deep_network, ridge_at
from polyrelu.proofs.deep.unseen_weights import shown_sources, sources

__all__ = ["DeepHypotheses", "Determined", "Missing", "deep_hypotheses", "evaluate", "sketch"]

Want = Literal["piece", "up", "on", "weight", "independent", "signs"]


@dataclass(frozen=True, slots=True)
class Missing:
    """A part of a hypothesis that the points do not show.

    Attributes
    ----------
    want : ``piece``: the neuron has none (no family can be chosen); ``up`` (D1): its chain is too short; ``on`` (D2):
        none of its pieces has `other` on; ``weight`` (D2): its weight on `other` is 0; ``independent`` (D2): its
        weights on some neurons that are on, but do not cross it, are not determined; ``signs`` (D3): those of the
        layer are not.
    layer : of the neuron, or of the signs.
    neuron, other : None where they have no meaning.
    short : by how many crossings, or by how much in rank, or how many weights; 0 where this has no meaning.
    """

    want: Want
    layer: int
    neuron: NeuronId | None = None
    other: NeuronId | None = None
    short: int = 0

    def __str__(self) -> str:
        weights = "1 weight" if self.short == 1 else f"{self.short} weights"
        texts: dict[Want, str] = {
            "piece": f"{_name(self.neuron)} has no piece",
            "up": f"the chain up from {_name(self.neuron)} is too short by {self.short}",
            "on": f"{_name(self.other)} is not on at any known piece of {_name(self.neuron)}",
            "weight": f"the weight of {_name(self.neuron)} on {_name(self.other)} is 0",
            "independent": f"{weights} of {_name(self.neuron)} on neurons that do not cross it: not determined",
            "signs": f"the signs of layer {self.layer} are not determined: rank short by {self.short}",
        }
        return texts[self.want]


@dataclass(frozen=True, slots=True)
class Determined:
    """What Theorem D says in part of all competitors with the same function.

    Attributes
    ----------
    layers : M: layers before M are determined, and the rows of layer M up to signs; 0 if nothing is.
    neurons : indices of neurons of layer M+1 whose rows are determined up to signs; then the signs of layer M are too.
    """

    layers: int
    neurons: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DeepHypotheses:
    """What some points show of the hypotheses of Theorem D.

    Attributes
    ----------
    known : by its place, the chosen family of each neuron that has a piece, with those that were joined to it.
    joined_by_crossing, joined_by_weights : the families that were joined, in an order in which that is allowed.
    missing : empty if all hypotheses hold.
    determined : what they show in part; meaningful if something is missing.
    """

    known: dict[int, NeuronEvidence]
    joined_by_crossing: list[Family]
    joined_by_weights: list[Family]
    missing: tuple[Missing, ...]
    determined: Determined

    @property
    def hold(self) -> bool:
        """Whether all hypotheses hold, so that the theorem applies."""
        return not self.missing

    def __str__(self) -> str:
        return "all hypotheses hold" if self.hold else "\n".join(map(str, self.missing))


def deep_hypotheses(
    network: Network, points: Iterable[Sequence[Rational]], among: Competitors = "transversal"
) -> DeepHypotheses:
    """Evaluate the hypotheses of Theorem D at rational points; points that lie on no ridge show nothing.

    Parameters
    ----------
    network : a plain stack with an affine output, at least one hidden layer, n_0 ≥ 2.
    points : points of R^{n_0}, exact numbers.
    among : the class of competitors, ``"transversal"`` or ``"regular"``, which says what ridges are good.

    Raises
    ------
    DomainError : another network or class, or a point with another number of coordinates.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
    >>> points = [(0, 1), (-1, 1), (0, 2), (2, 0), ("1/2", "3/2")]
    >>> print(deep_hypotheses(net, points))
    all hypotheses hold
    >>> print(deep_hypotheses(net, points[:3]))
    (1, 1) has no piece
    """
    space = deep_network(network, among)
    ridges = [found for point in points if isinstance(found := ridge_at(space, point), Ridge)]
    return evaluate(space, ridges, Families(space, ridges))


def evaluate(space: DeepNetwork, ridges: Sequence[Ridge], families: Families) -> DeepHypotheses:
    """The hypotheses, with the ridges and their families already worked out; `space` is that of `deep_network`."""
    found = layer_evidence(space, families.all())
    signs = {
        layer: list(_signs(space, layer, found.chosen))
        for layer in range(1, space.network.depth - 1)
    }
    by_crossing = dict(found.chosen)  # what signs are about
    joined: list[Family] = []
    for layer in range(2, space.network.depth):
        joined += join_by_weights(space, layer, found)
    missing = [
        *_layers(space, found.chosen),
        *_weights(space, found, _unshown(space, ridges, found.chosen)),
    ]
    missing += [entry for layer in signs.values() for entry in layer]
    return DeepHypotheses(
        found.chosen,
        found.order,
        joined,
        tuple(missing),
        _determined(space, found, by_crossing, missing),
    )


def sketch(space: DeepNetwork, families: Families) -> DeepHypotheses:
    """What is missing of chains and of neurons that are on, without any linear system: much faster, and not all.

    Neurons that are on at no piece of any family come first; only if there are none, those that are on at no piece of
    the chosen family and of what is joined to it by crossing.
    """
    found = layer_evidence(space, families.all())
    missing = list(_layers(space, found.chosen))
    missing += _unseen(space, found.chosen, families.on)
    if not missing:
        missing += _unseen(
            space, found.chosen, {place: portrait.on for place, portrait in found.chosen.items()}
        )
    return DeepHypotheses(found.chosen, found.order, [], tuple(missing), Determined(0, ()))


def _unseen(space: DeepNetwork, places: Iterable[int], on: Mapping[int, int]) -> Iterator[Missing]:
    for place in places:
        for h in bits_of(space.before(place) & ~on[place]):
            yield Missing("on", space.layer_of[place], space.neuron(place), space.neuron(h))


def _layers(space: DeepNetwork, known: dict[int, NeuronEvidence]) -> Iterator[Missing]:
    """(D1)."""
    for place in range(space.size):
        neuron = space.neuron(place)
        if place not in known:
            yield Missing("piece", neuron.layer, neuron)
        elif not is_placed(space, known[place].families[0]):
            up = space.network.depth - 1 - neuron.layer - known[place].families[0].up
            yield Missing("up", neuron.layer, neuron, short=up)


def _unshown(
    space: DeepNetwork, ridges: Sequence[Ridge], known: dict[int, NeuronEvidence]
) -> set[int]:
    """The places of the sources whose weights the ridges do not show elsewhere."""
    left = sources(space, known)
    return set(left) - set(shown_sources(space, ridges, known)) if left else set()


def _weights(space: DeepNetwork, found: LayerEvidence, unshown: set[int]) -> Iterator[Missing]:
    """(D2). Where h crosses, the weight is not 0, because the neuron bends there."""
    for place, portrait in found.chosen.items():
        neuron, before = space.neuron(place), space.before(place)
        if neuron.layer == 1:
            continue
        for h, weight in enumerate(space.row(place)):
            if not weight:
                yield Missing("weight", neuron.layer, neuron, NeuronId(neuron.layer - 1, h))
        for h in bits_of(before & ~portrait.on):
            if neuron.layer < space.network.depth - 1 or h in unshown:
                yield Missing("on", neuron.layer, neuron, space.neuron(h))
        if unseen := (portrait.on & ~portrait.seen).bit_count():
            yield Missing("independent", neuron.layer, neuron, short=unseen)


def _signs(space: DeepNetwork, layer: int, known: dict[int, NeuronEvidence]) -> Iterator[Missing]:
    """(D3) for a layer m < L-1."""
    above = [known[place] for place in space.places(layer + 1) if place in known]
    placed = [part for part in above if is_placed(space, part.families[0])]
    if not is_crossed_by_all(space, placed):
        short = signs_short_of(space, layer, known, placed)
        if short:
            yield Missing("signs", layer, short=short)


def _determined(
    space: DeepNetwork,
    found: LayerEvidence,
    by_crossing: dict[int, NeuronEvidence],
    missing: Sequence[Missing],
) -> Determined:
    """The theorem in part: as many layers as possible, and neurons of the next one, in which nothing is joined."""
    last = space.network.depth - 1
    bad = {entry.neuron.layer for entry in missing if entry.neuron is not None}
    unsigned = {entry.layer for entry in missing if entry.want == "signs"}
    layers = 0
    while layers < last - 1 and layers not in unsigned and layers + 1 not in bad:
        layers += 1
    if not layers:
        return Determined(0, ())
    parts = [
        _alone(space, found.chosen[place])
        for place in space.places(layers + 1)
        if place in found.chosen
    ]
    good = [
        part
        for part in parts
        if is_placed(space, part.families[0]) and part.seen == space.before(part.place)
    ]
    good = [part for part in good if all(space.row(part.place))]
    if not is_crossed_by_all(space, good) and signs_short_of(space, layers, by_crossing, good):
        good = []
    return Determined(layers, tuple(space.neuron(part.place).index for part in good))


def _alone(space: DeepNetwork, part: NeuronEvidence) -> NeuronEvidence:
    """The chosen family without those that were joined."""
    own = NeuronEvidence.of(part.families[0])
    return with_determined_weights(space, own) if own.on == space.before(own.place) else own


def _name(neuron: NeuronId | None) -> str:
    return "" if neuron is None else f"({neuron.layer}, {neuron.index})"
