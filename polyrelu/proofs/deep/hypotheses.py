"""The hypotheses of Theorem D, evaluated exactly at given ridges or rational points.

`evaluate` says which of the conditions (D1), (D2), (D2') and (D3) the ridges prove, which parts are
missing, and what still follows from the theorem in part. The checker evaluates the same conditions
by the rules of FORMAT.md §3.9, so a change here needs a change of both.

The theorem, with its proof, is in docs/theory/deep.md; `ridges`, `families` and `neuron_evidence`
define its words. This module does the following with them.

* It takes the choices of families and of joins that `layer_evidence` and `join_by_weights` make.
  The theorem leaves these choices free. Further ridges never make a condition of the theorem false,
  but they may change the choices, so in rare cases more ridges prove less *here*.
* (D1), *layers*: each hidden neuron has a chosen family with a full chain.
* (D2), *weights*: each weight W_vh, with h in the layer before v, is nonzero and determined by the
  pieces of v. A weight on an h that is active at no piece of v is not determined by them, and it is
  missing unless (D2') applies.
* (D2'), *sources*: if v is in the last hidden layer, the zeros of such an h may determine the
  weights on h instead (`source_weights`).
* (D3), *signs*: for each layer m < L-1, either some neuron of layer m+1 has a piece at which it is
  crossed by all neurons of layer m that are active, or linear systems have only the solution 0
  (`linear_systems`).
* The theorem in part: if a condition fails for some layer, the conditions for earlier layers still
  determine these layers (`Determined`).

The class of competitors bears on the evaluation in one place only: it decides which ridges are
good.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from polyrelu.exact import Rational
from polyrelu.network import Network, NeuronId
from polyrelu.proofs.deep.families import Families, Family
from polyrelu.proofs.deep.linear_systems import (
    is_crossed_where_active,
    join_by_weights,
    sign_rank_deficit,
    with_determined_weights,
)
from polyrelu.proofs.deep.neuron_evidence import (
    NeuronEvidence,
    bits_of,
    has_full_chain,
    layer_evidence,
)
from polyrelu.proofs.deep.ridges import Competitors, DeepNetwork, Ridge, ridge_at
from polyrelu.proofs.deep.source_weights import resolved_sources, sources
from polyrelu.proofs.deep.sparse_signs import undetermined_signs

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
        ``piece`` (D1): the neuron has no piece, so that no family can be chosen. ``chain`` (D1):
        the chain up from the chosen family is too short. ``active`` (D2, D2'): `input_id` is active
        at no piece of the neuron, and its zeros do not determine the weight. ``weight`` (D2): the
        weight on `input_id` is 0. ``independent`` (D2): the weights on some neurons that are active
        at pieces, but do not cross, are not determined. ``signs`` (D3): the signs of the layer are
        not determined.
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
        verb = "is" if self.shortfall == 1 else "are"
        texts: dict[MissingKind, str] = {
            "piece": f"{neuron} has no piece",
            "chain": f"the chain up from {neuron} is too short by {self.shortfall}",
            "active": f"{h} is active at no known piece of {neuron}",
            "weight": f"the weight of {neuron} on {h} is 0",
            "independent": (
                f"{weights} of {neuron} on neurons that do not cross it {verb} not determined"
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
    num_layers
        The number M: the layers before M are determined, and the rows of layer M up to signs; 0 if
        nothing is.
    neurons
        Indices of the neurons of layer M+1 whose rows are determined up to signs; if there are any,
        the signs of layer M are determined too.
    """

    num_layers: int
    neurons: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DeepHypotheses:
    """What some ridges prove of the hypotheses of Theorem D.

    Attributes
    ----------
    chosen
        For the number of each neuron with a piece, the evidence of the chosen family and of the
        families that were joined to it.
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
    at_points = (ridge_at(deep_network, point) for point in points)
    ridges = [ridge for ridge in at_points if isinstance(ridge, Ridge)]
    return evaluate(deep_network, ridges, Families(deep_network, ridges))


def evaluate(
    deep_network: DeepNetwork, ridges: Sequence[Ridge], families: Families
) -> DeepHypotheses:
    """Evaluate the hypotheses at ridges, given the families of these ridges."""
    evidence = layer_evidence(deep_network, families.all())
    signs = [
        entry
        for layer in range(1, deep_network.depth - 1)
        for entry in _missing_signs(deep_network, layer, evidence.chosen)
    ]
    # A copy, because `join_by_weights` changes `evidence.chosen` in place, and the signs are about
    # the families that are joined by crossing only.
    by_crossing = dict(evidence.chosen)
    joined: list[Family] = []
    for layer in range(2, deep_network.depth):
        joined += join_by_weights(deep_network, layer, evidence)
    unresolved = _unresolved_sources(deep_network, ridges, evidence.chosen)
    missing = [
        *_missing_chains(deep_network, evidence.chosen),
        *_missing_weights(deep_network, evidence.chosen, unresolved),
        *signs,
    ]
    return DeepHypotheses(
        evidence.chosen,
        evidence.joined,
        joined,
        tuple(missing),
        _determined(deep_network, evidence.chosen, by_crossing, missing),
    )


def evaluate_without_systems(deep_network: DeepNetwork, families: Families) -> DeepHypotheses:
    """Evaluate chains and active neurons only, which is much faster.

    A neuron h of the layer before v is missing if it is active at no piece of any family of v. Only
    if no h and no chain is missing in this sense, the pieces of the chosen and joined families
    alone are considered.
    """
    evidence = layer_evidence(deep_network, families.all())
    missing = list(_missing_chains(deep_network, evidence.chosen))
    missing += _never_active(deep_network, evidence.chosen, families.active)
    if not missing:
        active = {neuron: of_neuron.num_active for neuron, of_neuron in evidence.chosen.items()}
        missing += _never_active(deep_network, evidence.chosen, active)
    return DeepHypotheses(evidence.chosen, evidence.joined, [], tuple(missing), Determined(0, ()))


def _never_active(
    deep_network: DeepNetwork, neurons: Iterable[int], active: Mapping[int, int]
) -> Iterator[Missing]:
    """Yield a missing part for each h of the layer before v that is not in the mask active[v]."""
    for neuron in neurons:
        for h in bits_of(deep_network.mask_before(neuron) & ~active[neuron]):
            neuron_id, input_id = deep_network.neuron_id(neuron), deep_network.neuron_id(h)
            yield Missing("active", neuron_id.layer, neuron_id, input_id)


def _missing_chains(
    deep_network: DeepNetwork, chosen: Mapping[int, NeuronEvidence]
) -> Iterator[Missing]:
    """Yield what is missing of (D1)."""
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
    """Return the numbers of the sources whose weights the ridges do not determine."""
    all_sources = sources(deep_network, chosen)
    if not all_sources or deep_network.among == "sparse":
        return set(all_sources)
    return set(all_sources) - set(resolved_sources(deep_network, ridges, chosen))


def _missing_weights(
    deep_network: DeepNetwork, chosen: Mapping[int, NeuronEvidence], unresolved: set[int]
) -> Iterator[Missing]:
    """Yield what is missing of (D2) and (D2'); `unresolved` has the numbers of sources.

    Where h crosses, the weight on h is nonzero, because the neuron bends at h.
    """
    for neuron, evidence in chosen.items():
        neuron_id = deep_network.neuron_id(neuron)
        layer, before = neuron_id.layer, deep_network.mask_before(neuron)
        if layer == 1:
            continue
        for h, weight in enumerate(deep_network.integer_row(neuron)):
            if not weight and deep_network.among != "sparse":
                yield Missing("weight", layer, neuron_id, NeuronId(layer - 1, h))
        for h in bits_of(before & ~evidence.num_active):
            if layer < deep_network.depth - 1 or h in unresolved:
                yield Missing("active", layer, neuron_id, deep_network.neuron_id(h))
        if undetermined := (evidence.num_active & ~evidence.num_determined_weights).bit_count():
            yield Missing("independent", layer, neuron_id, shortfall=undetermined)


def _missing_signs(
    deep_network: DeepNetwork, layer: int, chosen: Mapping[int, NeuronEvidence]
) -> Iterator[Missing]:
    """Yield what is missing of (D3) for a layer m < L-1."""
    above = [
        chosen[neuron]
        for neuron in deep_network.neurons_in(layer + 1)
        if neuron in chosen and has_full_chain(deep_network, chosen[neuron].families[0])
    ]
    if deep_network.among == "sparse":
        deficit = undetermined_signs(deep_network, layer, chosen, above).bit_count()
        if deficit:
            yield Missing("signs", layer, shortfall=deficit)
    elif not is_crossed_where_active(deep_network, above):
        deficit = sign_rank_deficit(deep_network, layer, chosen, above)
        if deficit:
            yield Missing("signs", layer, shortfall=deficit)


def _determined(
    deep_network: DeepNetwork,
    chosen: Mapping[int, NeuronEvidence],
    by_crossing: Mapping[int, NeuronEvidence],
    missing: Sequence[Missing],
) -> Determined:
    """Return what the theorem proves in part: the greatest M, then the neurons of layer M+1.

    The theorem in part allows joined families in layer M+1 only if Q is the whole layer, so only
    the chosen family of each of its neurons is used. `chosen` has the evidence with all joins,
    `by_crossing` the evidence without the joins by weights.
    """
    incomplete_layers = {entry.neuron_id.layer for entry in missing if entry.neuron_id is not None}
    unsigned = {entry.layer for entry in missing if entry.kind == "signs"}
    layers = 0
    while (
        layers < deep_network.depth - 2
        and layers not in unsigned
        and layers + 1 not in incomplete_layers
    ):
        layers += 1
    if not layers:
        return Determined(0, ())
    alone = [
        _chosen_alone(deep_network, chosen[neuron])
        for neuron in deep_network.neurons_in(layers + 1)
        if neuron in chosen
    ]
    determined = [
        evidence
        for evidence in alone
        if has_full_chain(deep_network, evidence.families[0])
        and evidence.num_determined_weights == deep_network.mask_before(evidence.neuron)
        and (deep_network.among == "sparse" or all(deep_network.integer_row(evidence.neuron)))
    ]
    if not _has_signs(deep_network, layers, by_crossing, determined):
        determined = []
    return Determined(
        layers, tuple(deep_network.index_in_layer(evidence.neuron) for evidence in determined)
    )


def _has_signs(
    deep_network: DeepNetwork,
    layer: int,
    chosen: Mapping[int, NeuronEvidence],
    above: Sequence[NeuronEvidence],
) -> bool:
    """Return whether some neurons of the next layer determine the signs of a layer: (D3)."""
    if deep_network.among == "sparse":
        return not undetermined_signs(deep_network, layer, chosen, above)
    return is_crossed_where_active(deep_network, above) or not sign_rank_deficit(
        deep_network, layer, chosen, above
    )


def _chosen_alone(deep_network: DeepNetwork, evidence: NeuronEvidence) -> NeuronEvidence:
    """Return the evidence of the chosen family without those that were joined to it."""
    alone = NeuronEvidence.of(evidence.families[0])
    if alone.num_active == deep_network.mask_before(alone.neuron):
        return with_determined_weights(deep_network, alone)
    return alone


def neuron_name(neuron_id: NeuronId) -> str:
    """Return (layer, index), as messages name a neuron."""
    return f"({neuron_id.layer}, {neuron_id.index})"


def _optional_name(neuron_id: NeuronId | None) -> str:
    return "" if neuron_id is None else neuron_name(neuron_id)
