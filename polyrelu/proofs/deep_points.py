"""Theorem D: the hypotheses, evaluated exactly at given rational points (statement and proof: proofs/deep.md).

**Theorem D.** Let θ be a plain stack with hidden layers 1 … L-1, n_0 ≥ 2. Choose one family (`deep_families`) for each
hidden neuron (ℓ, i), such that

* (D1) *layers*: a chain of L-1-ℓ crossings leads up from its level, and a chain of ℓ-1 crossings leads down;
* (D2) *weights*: if ℓ ≥ 2, every neuron h of layer ℓ-1 is on at some piece of the family, and W[ℓ]_ih ≠ 0;
* (D3) *signs*: for each hidden layer m a homogeneous linear system has only the solution 0. If m < L-1, its unknowns
  are a number p_h for each neuron h of layer m that crosses a family of layer m+1 and is not oriented, and s_vh for
  each neuron v of layer m+1 and each h that is on at all pieces of the family of v; its equations are
  Σ_h s_vh ∇z_h = Σ_h p_h W[m+1]_vh ∇z_h at each piece of the family of each v, the first sum over the h that are on
  at all of its pieces, the second one over those that cross it, on at some and off at others, and are not oriented.
  If m = L-1, the unknowns are p_h for each h that is not oriented, and the equations Σ_h p_h W[L]_oh ∇z_h = 0 for each
  output o and each cell of full dimension.

*Oriented* is a neuron with f constant on one side of a piece of its family, on which it is off.

Then every competitor η (supertransversal, all masked products with nonempty masks nonzero) with f_η = f_θ has η ~ θ.

Only a part of all pieces and cells is known from the points. More of them never hurt: a longer list gives longer
chains, more h that cross, more equations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import Rational, eliminate_mod
from polyrelu.network import Network, NeuronId, SignVector
from polyrelu.proofs.deep_families import Families, Family
from polyrelu.proofs.deep_ridges import Ridge, flat_signs, ridge_at, whole_space
from polyrelu.walks import AffineSlice
from polyrelu.walks.slices import Signs

__all__ = ["DeepHypotheses", "Missing", "deep_hypotheses", "evaluate"]

Want = Literal["piece", "up", "down", "on", "weight", "independent", "signs"]


@dataclass(frozen=True, slots=True)
class Missing:
    """A part of a hypothesis that the points do not show.

    Attributes
    ----------
    want : ``piece``: the neuron has none (no family can be chosen); ``up`` and ``down`` (D1): its chains are too short;
        ``on`` (D2): no piece of its family has `other` on; ``weight`` (D2): its weight on `other` is 0; ``independent``
        (D3): the s_vh of the neuron v are not determined; ``signs`` (D3): the p_h of the layer are not.
    layer : of the neuron, or of the p_h.
    neuron, other : None where they have no meaning.
    short : by how many crossings, or by how much in rank; 0 where this has no meaning.
    """

    want: Want
    layer: int
    neuron: NeuronId | None = None
    other: NeuronId | None = None
    short: int = 0

    def __str__(self) -> str:
        texts: dict[Want, str] = {
            "piece": f"{_name(self.neuron)} has no piece",
            "up": f"the chain up from {_name(self.neuron)} is too short by {self.short}",
            "down": f"the chain down from {_name(self.neuron)} is too short by {self.short}",
            "on": f"{_name(self.other)} is not on at any piece of the family of {_name(self.neuron)}",
            "weight": f"the weight of {_name(self.neuron)} on {_name(self.other)} is 0",
            "independent": f"where all pieces of the family of {_name(self.neuron)} have neurons on, their gradients "
            f"are dependent: rank short by {self.short}",
            "signs": f"the signs of layer {self.layer} are not determined: rank short by {self.short}",
        }
        return texts[self.want]


@dataclass(frozen=True, slots=True, eq=False)
class DeepHypotheses:
    """What some points show of the hypotheses of Theorem D.

    Attributes
    ----------
    families : the one that was chosen for each neuron that has a piece.
    missing : empty if all hypotheses hold.
    """

    families: dict[NeuronId, Family]
    missing: tuple[Missing, ...]

    @property
    def hold(self) -> bool:
        """Whether all hypotheses hold, so that the theorem applies."""
        return not self.missing

    def __str__(self) -> str:
        return "all hypotheses hold" if self.hold else "\n".join(map(str, self.missing))


def deep_hypotheses(network: Network, points: Iterable[Sequence[Rational]]) -> DeepHypotheses:
    """Evaluate the hypotheses of Theorem D at rational points; points that lie on no ridge show nothing.

    Parameters
    ----------
    network : a plain stack with an affine output, at least one hidden layer, n_0 ≥ 2.
    points : points of R^{n_0}, exact numbers.

    Raises
    ------
    DomainError : another network, or a point with another number of coordinates.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
    >>> points = [(0, 1), (-1, 1), (0, 2), (2, 0), ("1/2", "3/2")]
    >>> print(deep_hypotheses(net, points))
    all hypotheses hold
    >>> print(deep_hypotheses(net, points[:3]))
    (1, 1) has no piece
    """
    space = whole_space(network)
    ridges = [found for point in points if isinstance(found := ridge_at(space, point), Ridge)]
    return evaluate(space, ridges, Families(ridges))


def evaluate(space: AffineSlice, ridges: Sequence[Ridge], families: Families) -> DeepHypotheses:
    """The hypotheses, with the ridges and their families already worked out; `space` is that of `whole_space`."""
    network = space.network
    chosen = _chosen(network, families)
    absent = [neuron for neuron in network.neurons() if neuron not in chosen]
    missing = [Missing("piece", neuron.layer, neuron) for neuron in absent]
    missing += _layers(network, chosen)
    views = {neuron: _View.of(network, family) for neuron, family in chosen.items() if neuron.layer > 1}
    missing += _weights(network, views)
    if not absent:
        oriented = {neuron for neuron, family in chosen.items() if family.oriented}
        for layer in range(1, network.depth - 1):
            missing += _signs(space, layer, views, oriented)
        missing += _last_signs(space, ridges, oriented)
    return DeepHypotheses(chosen, tuple(missing))


@dataclass(frozen=True, slots=True)
class _View:
    """The layer before, as a family of layer ℓ ≥ 2 meets it.

    Attributes
    ----------
    on, off : whether each of its neurons is on, off, at some piece.
    cells : signs at pieces, one for each choice of active neurons in the layers before it: on these alone the gradients
        of its neurons depend.
    """

    on: NDArray[np.bool_]
    off: NDArray[np.bool_]
    cells: tuple[SignVector, ...]

    @classmethod
    def of(cls, network: Network, family: Family) -> _View:
        """Of a family, from the signs of its pieces."""
        before = family.neuron.layer - 1
        signs = np.array([piece.signs.layers[before - 1] for piece in family.pieces])
        cells = {piece.signs.layers[: before - 1]: piece.signs for piece in family.pieces}
        return cls((signs > 0).any(axis=0), (signs < 0).any(axis=0), tuple(cells.values()))

    @property
    def always(self) -> list[int]:
        """The neurons that are on at all pieces."""
        return np.flatnonzero(self.on & ~self.off).tolist()


def _chosen(network: Network, families: Families) -> dict[NeuronId, Family]:
    """One family for each neuron: with complete chains, if there is one; the one at which most neurons of the layer
    before are on; the largest one."""

    def merit(family: Family) -> tuple[bool, int, int]:
        layer = family.neuron.layer
        complete = family.up == network.depth - 1 - layer and family.down == layer - 1
        on = int(_View.of(network, family).on.sum()) if layer > 1 else 0
        return complete, on, len(family.pieces)

    found = families.of_neurons()
    return {neuron: max(found[neuron], key=merit) for neuron in network.neurons() if neuron in found}


def _layers(network: Network, chosen: dict[NeuronId, Family]) -> Iterator[Missing]:
    """(D1)."""
    for neuron, family in chosen.items():
        up, down = network.depth - 1 - neuron.layer - family.up, neuron.layer - 1 - family.down
        if up:
            yield Missing("up", neuron.layer, neuron, short=up)
        if down:
            yield Missing("down", neuron.layer, neuron, short=down)


def _weights(network: Network, views: dict[NeuronId, _View]) -> Iterator[Missing]:
    """(D2). Where h crosses the family, the weight is not 0, because the neuron bends there."""
    for neuron, view in views.items():
        before = neuron.layer - 1
        weights = network.weight(neuron.layer).signs()[neuron.index]
        for h in range(network.widths[before]):
            if not view.on[h]:
                yield Missing("on", neuron.layer, neuron, NeuronId(before, h))
            elif not weights[h]:
                yield Missing("weight", neuron.layer, neuron, NeuronId(before, h))


def _signs(space: AffineSlice, layer: int, views: dict[NeuronId, _View], oriented: set[NeuronId]) -> Iterator[Missing]:
    """(D3) for a layer m < L-1. For each v its own unknowns are eliminated; what is left has the p_h only."""
    network = space.network
    weights = network.weight(layer + 1).integer_rows()
    left: list[list[int]] = []
    unknown = _crossing(network, layer, views, oriented)
    for i, row in enumerate(weights):
        view = views[NeuronId(layer + 1, i)]
        always = view.always
        crosses = view.on & view.off
        factors = [row[h] if crosses[h] else 0 for h in unknown]
        equations = [
            [*(gradient[h] for h in always), *(f * gradient[h] for f, h in zip(factors, unknown, strict=True))]
            for gradient in _gradients(space, layer, view.cells)
        ]
        rank, rest = eliminate_mod(equations, len(always))
        if rank < len(always):
            yield Missing("independent", layer + 1, NeuronId(layer + 1, i), short=len(always) - rank)
        left += rest
    yield from _undetermined(layer, left, len(unknown))


def _crossing(network: Network, layer: int, views: dict[NeuronId, _View], oriented: set[NeuronId]) -> list[int]:
    """The neurons h of a layer that have a p_h: not oriented, and on and off at some family of the next layer."""
    crosses = [view.on & view.off for neuron, view in views.items() if neuron.layer == layer + 1]
    some = np.logical_or.reduce(crosses)
    return [h for h in range(network.widths[layer]) if some[h] and NeuronId(layer, h) not in oriented]


def _last_signs(space: AffineSlice, ridges: Sequence[Ridge], oriented: set[NeuronId]) -> Iterator[Missing]:
    """(D3) for m = L-1, from the sectors of all ridges; it stops as soon as the rank is full."""
    network = space.network
    layer = network.depth - 1
    weights = network.weight(network.depth).integer_rows()
    unknown = [h for h in range(network.widths[layer]) if NeuronId(layer, h) not in oriented]
    basis: list[list[int]] = []
    for signs in _distinct_before(layer, ridges):
        if len(basis) == len(unknown):
            break
        equations = [
            [row[h] * gradient[h] for h in unknown]
            for gradient in _gradients(space, layer, [signs])
            for row in weights
        ]
        basis = eliminate_mod([*basis, *equations], 0)[1]
    yield from _undetermined(layer, basis, len(unknown))


def _distinct_before(layer: int, ridges: Sequence[Ridge]) -> Iterator[SignVector]:
    """Sectors of ridges with different signs in the layers before the given one."""
    seen: set[tuple[tuple[int, ...], ...]] = set()
    for ridge in ridges:
        for signs in ridge.sectors:
            if signs.layers[: layer - 1] not in seen:
                seen.add(signs.layers[: layer - 1])
                yield signs


def _gradients(space: AffineSlice, layer: int, cells: Iterable[SignVector]) -> Iterator[list[int]]:
    """For each cell and each coordinate of x the derivatives of all z_h of a layer, times one positive number."""
    for signs in cells:
        yield from _linear_part(space, flat_signs(signs), layer)


def _linear_part(space: AffineSlice, signs: Signs, layer: int) -> list[list[int]]:
    return space.forms(signs, layer).transpose().integer_rows()[:-1]


def _undetermined(layer: int, equations: list[list[int]], unknowns: int) -> Iterator[Missing]:
    rank = eliminate_mod(equations, unknowns)[0] if equations else 0
    if rank < unknowns:
        yield Missing("signs", layer, short=unknowns - rank)


def _name(neuron: NeuronId | None) -> str:
    return "" if neuron is None else f"({neuron.layer}, {neuron.index})"
