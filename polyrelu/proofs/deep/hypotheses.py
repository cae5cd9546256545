"""The hypotheses of Theorem D, evaluated exactly at given ridges or rational points.

`evaluate` says which hypotheses hold, what is missing, and what still holds in part. More ridges
never make a hypothesis false: a longer list gives longer chains, larger families and more
equations. The theorem leaves the choice of families and the order of joins free; one choice is made
here, the most promising one, so that in rare cases more ridges prove less *here*. Statement and
proof: docs/theory/deep.md.

**Theorem D.** Let θ be a plain stack with hidden layers 1 … L-1 and n_0 ≥ 2. Choose one family
(`families`) for each hidden neuron v = (ℓ, i), such that

* (D1) *layers*: a chain of L-1-ℓ steps leads up from its level.

Join other families of the neuron to it, as `neuron_evidence` says; what follows is about the pieces
of all of them. Suppose that

* (D2) *weights*: if ℓ ≥ 2, then for every neuron h of layer ℓ-1 the weight W_vh is nonzero and
  determined (`linear_systems`): h is active at some piece, and it crosses, or a linear system has
  full rank. If ℓ = L-1 and h is active at no piece of v, the weight may be determined by other
  cells instead (`source_weights`);
* (D3) *signs*: for each layer m < L-1, all neurons of layer m cross one neuron of layer m+1; or a
  linear system (`linear_systems`) has only the solution 0.

Then every competitor η with f_η = f_θ has η ~ θ. The competitors are all transversal networks, or
all regular ones if only clear ridges count as good (`ridges`).

**Signs.** Where the system of (D3) has only the solution 0, other signs in layer m would make a
weight of the competitor 0. In the first case of (D3) other signs are excluded by the class of
competitors alone: a network with such signs has a masked product that vanishes, and so has θ.

**In part.** If something is missing in some layer, the hypotheses about the layers before it still
determine these layers (`Determined`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from polyrelu.exact import Rational
from polyrelu.network import Network, NeuronId
from polyrelu.proofs.deep.families import Families, Family
from polyrelu.proofs.deep.linear_systems import (
    is_crossed_by_all,
    join_by_weights,
    sign_rank_deficit,
    with_determined_weights,
)
from polyrelu.proofs.deep.neuron_evidence import (
    LayerEvidence,
    NeuronEvidence,
    bits_of,
    has_full_chain,
    layer_evidence,
)
from polyrelu.proofs.deep.ridges import Competitors, DeepNetwork, Ridge, ridge_at
from polyrelu.proofs.deep.source_weights import resolved_sources, sources

__all__ = [
    "DeepHypotheses",
    "Determined",
    "Missing",
    "deep_hypotheses",
    "evaluate",
    "evaluate_without_systems",
    "neuron_name",
]

#: The kinds of missing parts; `Missing` explains them.
MissingKind: TypeAlias = Literal["piece", "chain", "active", "weight", "independent", "signs"]


@dataclass(frozen=True, slots=True)
class Missing:
    """A part of a hypothesis that the ridges do not prove.

    Attributes
    ----------
    kind
        ``piece``: the neuron has no piece, so that no family can be chosen. ``chain`` (D1): the
        chain up from its family is too short. ``active`` (D2): `input_id` is active at none of its
        pieces. ``weight`` (D2): its weight on `input_id` is 0. ``independent`` (D2): its weights on
        some neurons that are active, but do not cross it, are not determined. ``signs`` (D3): the
        signs of the layer are not determined.
    layer
        The layer of the neuron, or of the signs.
    neuron_id
        The neuron; None for signs.
    input_id
        A neuron of the layer before; None where it has no meaning.
    shortfall
        Number of steps, of ranks or of weights that are missing; 0 where it has no meaning.
    """

    kind: MissingKind
    layer: int
    neuron_id: NeuronId | None = None
    input_id: NeuronId | None = None
    shortfall: int = 0

    def __str__(self) -> str:
        neuron, h = _optional_name(self.neuron_id), _optional_name(self.input_id)
        weights = "1 weight" if self.shortfall == 1 else f"{self.shortfall} weights"
        texts: dict[MissingKind, str] = {
            "piece": f"{neuron} has no piece",
            "chain": f"the chain up from {neuron} is too short by {self.shortfall}",
            "active": f"{h} is not on at any known piece of {neuron}",
            "weight": f"the weight of {neuron} on {h} is 0",
            "independent": (
                f"{weights} of {neuron} on neurons that do not cross it: not determined"
            ),
            "signs": (
                f"the signs of layer {self.layer} are not determined: "
                f"rank short by {self.shortfall}"
            ),
        }
        return texts[self.kind]


@dataclass(frozen=True, slots=True)
class Determined:
    """What Theorem D proves in part about all competitors with the same function.

    Attributes
    ----------
    layers
        The number M: the layers before M are determined, and the rows of layer M up to signs; 0 if
        nothing is.
    neurons
        Indices of the neurons of layer M+1 whose rows are determined up to signs; if there are any,
        the signs of layer M are determined too.
    """

    layers: int
    neurons: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DeepHypotheses:
    """What some ridges prove of the hypotheses of Theorem D.

    Attributes
    ----------
    chosen
        For the number of each neuron with a piece, the evidence of the chosen family and of those
        that were joined to it.
    joined_by_crossing, joined_by_weights
        The families that were joined, in an order in which that is allowed.
    missing
        The missing parts; empty if all hypotheses hold.
    determined
        What the ridges prove in part; meaningful if something is missing.
    """

    chosen: dict[int, NeuronEvidence]
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
    """Evaluate the hypotheses of Theorem D at rational points.

    Parameters
    ----------
    network
        A plain stack with an affine output, at least one hidden layer and n_0 ≥ 2.
    points
        Points of R^{n_0}, exact numbers; those that lie on no ridge prove nothing.
    among
        The class of competitors, which decides what ridges are good.

    Returns
    -------
    DeepHypotheses
        The hypotheses at the ridges through the points.

    Raises
    ------
    DomainError
        Another network or class, or a point with another number of coordinates.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2])
    >>> net = from_arrays([first, second, ([[1, 2]], [0])])
    >>> points = [(0, 1), (-1, 1), (0, 2), (2, 0), ("1/2", "3/2")]
    >>> print(deep_hypotheses(net, points))
    all hypotheses hold
    >>> print(deep_hypotheses(net, points[:3]))
    (1, 1) has no piece
    """
    deep_network = DeepNetwork.of(network, among)
    ridges = [
        found for point in points if isinstance(found := ridge_at(deep_network, point), Ridge)
    ]
    return evaluate(deep_network, ridges, Families(deep_network, ridges))


def evaluate(
    deep_network: DeepNetwork, ridges: Sequence[Ridge], families: Families
) -> DeepHypotheses:
    """Evaluate the hypotheses at ridges whose families are already worked out."""
    found = layer_evidence(deep_network, families.all())
    signs = [
        entry
        for layer in range(1, deep_network.depth - 1)
        for entry in _missing_signs(deep_network, layer, found.chosen)
    ]
    by_crossing = dict(found.chosen)  # the signs concern these sets, without joins by weights
    joined: list[Family] = []
    for layer in range(2, deep_network.depth):
        joined += join_by_weights(deep_network, layer, found)
    unresolved = _unresolved_sources(deep_network, ridges, found.chosen)
    missing = [
        *_missing_chains(deep_network, found.chosen),
        *_missing_weights(deep_network, found, unresolved),
        *signs,
    ]
    return DeepHypotheses(
        found.chosen,
        found.joined,
        joined,
        tuple(missing),
        _determined(deep_network, found, by_crossing, missing),
    )


def evaluate_without_systems(deep_network: DeepNetwork, families: Families) -> DeepHypotheses:
    """Evaluate chains and active neurons only, much faster because without linear systems.

    Neurons that are active at no piece of any family are reported first. If there are none, those
    are reported that are active at no piece of the chosen family and of what is joined to it by
    crossing.
    """
    found = layer_evidence(deep_network, families.all())
    missing = list(_missing_chains(deep_network, found.chosen))
    missing += _never_active(deep_network, found.chosen, families.active)
    if not missing:
        active = {neuron: evidence.active for neuron, evidence in found.chosen.items()}
        missing += _never_active(deep_network, found.chosen, active)
    return DeepHypotheses(found.chosen, found.joined, [], tuple(missing), Determined(0, ()))


def _never_active(
    deep_network: DeepNetwork, neurons: Iterable[int], active: Mapping[int, int]
) -> Iterator[Missing]:
    """The pairs of a neuron and one of the layer before that is not in its mask `active`."""
    for neuron in neurons:
        for h in bits_of(deep_network.mask_before(neuron) & ~active[neuron]):
            neuron_id, input_id = deep_network.neuron_id(neuron), deep_network.neuron_id(h)
            yield Missing("active", neuron_id.layer, neuron_id, input_id)


def _missing_chains(
    deep_network: DeepNetwork, chosen: Mapping[int, NeuronEvidence]
) -> Iterator[Missing]:
    """What is missing of (D1)."""
    for neuron in range(deep_network.size):
        neuron_id = deep_network.neuron_id(neuron)
        if neuron not in chosen:
            yield Missing("piece", neuron_id.layer, neuron_id)
        elif not has_full_chain(deep_network, chosen[neuron].families[0]):
            full = deep_network.depth - 1 - neuron_id.layer
            shortfall = full - chosen[neuron].families[0].chain_length
            yield Missing("chain", neuron_id.layer, neuron_id, shortfall=shortfall)


def _unresolved_sources(
    deep_network: DeepNetwork, ridges: Sequence[Ridge], chosen: Mapping[int, NeuronEvidence]
) -> set[int]:
    """The numbers of the sources whose weights the ridges do not determine."""
    found = sources(deep_network, chosen)
    if not found:
        return set()
    return set(found) - set(resolved_sources(deep_network, ridges, chosen))


def _missing_weights(
    deep_network: DeepNetwork, found: LayerEvidence, unresolved: set[int]
) -> Iterator[Missing]:
    """What is missing of (D2); `unresolved` has the numbers of sources.

    Where h crosses, the weight on h is nonzero, because the neuron bends at h.
    """
    for neuron, evidence in found.chosen.items():
        neuron_id = deep_network.neuron_id(neuron)
        layer, before = neuron_id.layer, deep_network.mask_before(neuron)
        if layer == 1:
            continue
        for h, weight in enumerate(deep_network.integer_row(neuron)):
            if not weight:
                yield Missing("weight", layer, neuron_id, NeuronId(layer - 1, h))
        for h in bits_of(before & ~evidence.active):
            if layer < deep_network.depth - 1 or h in unresolved:
                yield Missing("active", layer, neuron_id, deep_network.neuron_id(h))
        if undetermined := (evidence.active & ~evidence.determined_weights).bit_count():
            yield Missing("independent", layer, neuron_id, shortfall=undetermined)


def _missing_signs(
    deep_network: DeepNetwork, layer: int, chosen: Mapping[int, NeuronEvidence]
) -> Iterator[Missing]:
    """What is missing of (D3) for a layer m < L-1."""
    above = [
        chosen[neuron]
        for neuron in deep_network.neurons_in(layer + 1)
        if neuron in chosen and has_full_chain(deep_network, chosen[neuron].families[0])
    ]
    if not is_crossed_by_all(deep_network, above):
        deficit = sign_rank_deficit(deep_network, layer, chosen, above)
        if deficit:
            yield Missing("signs", layer, shortfall=deficit)


def _determined(
    deep_network: DeepNetwork,
    found: LayerEvidence,
    by_crossing: Mapping[int, NeuronEvidence],
    missing: Sequence[Missing],
) -> Determined:
    """The theorem in part: as many layers as possible, and neurons of the next one.

    In the layer of these neurons nothing is joined.
    """
    bad_layers = {entry.neuron_id.layer for entry in missing if entry.neuron_id is not None}
    unsigned = {entry.layer for entry in missing if entry.kind == "signs"}
    layers = 0
    while (
        layers < deep_network.depth - 2 and layers not in unsigned and layers + 1 not in bad_layers
    ):
        layers += 1
    if not layers:
        return Determined(0, ())
    alone = [
        _chosen_alone(deep_network, found.chosen[neuron])
        for neuron in deep_network.neurons_in(layers + 1)
        if neuron in found.chosen
    ]
    good = [
        evidence
        for evidence in alone
        if has_full_chain(deep_network, evidence.families[0])
        and evidence.determined_weights == deep_network.mask_before(evidence.neuron)
        and all(deep_network.integer_row(evidence.neuron))
    ]
    if not is_crossed_by_all(deep_network, good) and sign_rank_deficit(
        deep_network, layers, by_crossing, good
    ):
        good = []
    return Determined(
        layers, tuple(deep_network.index_in_layer(evidence.neuron) for evidence in good)
    )


def _chosen_alone(deep_network: DeepNetwork, evidence: NeuronEvidence) -> NeuronEvidence:
    """The evidence of the chosen family without those that were joined to it."""
    own = NeuronEvidence.of(evidence.families[0])
    if own.active == deep_network.mask_before(own.neuron):
        return with_determined_weights(deep_network, own)
    return own


def neuron_name(neuron_id: NeuronId) -> str:
    """Return (layer, index), as messages name a neuron."""
    return f"({neuron_id.layer}, {neuron_id.index})"


def _optional_name(neuron_id: NeuronId | None) -> str:
    return "" if neuron_id is None else neuron_name(neuron_id)
