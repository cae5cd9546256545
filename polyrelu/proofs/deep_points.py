"""Theorem D: the hypotheses, evaluated exactly at given rational points (statement and proof: proofs/deep.md).

**Theorem D.** Let θ be a plain stack with hidden layers 1 … L-1, n_0 ≥ 2. Choose one family (`deep_families`) for each
hidden neuron (ℓ, i), such that

* (D1) *layers*: a chain of L-1-ℓ crossings leads up from its level, and a chain of ℓ-1 crossings leads down.

Join to it other families of the neuron, as `deep_neurons` says; what follows is about the pieces of all of them. Let

* (D2) *weights*: if ℓ ≥ 2, for every neuron h of layer ℓ-1 W[ℓ]_ih ≠ 0, and h be on at some piece of (ℓ, i); if
  ℓ = L-1, the weight may be shown otherwise instead (`deep_unseen`);
* (D3) *signs*: for each layer m < L-1 a homogeneous linear system have only the solution 0; or some neuron of layer m+1
  be crossed by all neurons of layer m, and for each v of layer m+1 the equations below have no other solution with all
  p_h = 0 = t_vh.

The unknowns are a number p_h for each neuron h of layer m that is not oriented and crosses some neuron of layer m+1,
and numbers s_vh and t_vh for each neuron v of layer m+1 and each h that does not cross it, t_vh only if h is not
oriented. At each piece of each v an equation holds, Σ_h c_h ∇z_h = 0 with

* c_h = W[m+1]_vh p_h if h crosses v (0 if h is oriented),
* c_h = s_vh if h does not cross v and is on, c_h = t_vh if it is off (0 if it is oriented).

*Oriented* is a neuron with a piece at which no other neuron of its layer is on, so that f is constant on one side.

Then every competitor η (supertransversal, all masked products with nonempty masks nonzero) with f_η = f_θ has η ~ θ.

*Which signs the points show.* Where the whole system of (D3) has only the solution 0, no competitor whatever can have
other signs (*flips*) in layer m; for m = L-1 the same is shown by the equations Σ_h p_h W[L]_oh ∇z_h = 0 for each
output o and each cell of full dimension, p_h for each h that is not oriented. Elsewhere flips are excluded by the class
of competitors alone: a network with such a flip has a masked product that is 0, and so has θ.

Only a part of all pieces and cells is known from the points. More of them never hurt: a longer list gives longer
chains, larger families, more equations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import Rational, eliminate_mod
from polyrelu.network import Network, NeuronId, SignVector
from polyrelu.proofs.deep_families import Families
from polyrelu.proofs.deep_neurons import Portrait, portraits
from polyrelu.proofs.deep_ridges import Ridge, Space, ridge_at, whole_space
from polyrelu.proofs.deep_unseen import admissible, sources, unshown_pairs

__all__ = ["DeepHypotheses", "Missing", "deep_hypotheses", "evaluate"]

Want = Literal["piece", "up", "down", "on", "weight", "independent", "signs"]


@dataclass(frozen=True, slots=True)
class Missing:
    """A part of a hypothesis that the points do not show.

    Attributes
    ----------
    want : ``piece``: the neuron has none (no family can be chosen); ``up`` and ``down`` (D1): its chains are too short;
        ``on`` (D2): none of its pieces has `other` on; ``weight`` (D2): its weight on `other` is 0; ``independent``
        (D3): the s_vh and t_vh of the neuron v are not determined; ``signs`` (D3): the p_h of the layer are not.
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
            "on": f"{_name(self.other)} is not on at any known piece of {_name(self.neuron)}",
            "weight": f"the weight of {_name(self.neuron)} on {_name(self.other)} is 0",
            "independent": f"the weights of {_name(self.neuron)} on neurons that do not cross it are not determined: "
            f"rank short by {self.short}",
            "signs": f"the signs of layer {self.layer} are not determined: rank short by {self.short}",
        }
        return texts[self.want]


@dataclass(frozen=True, slots=True, eq=False)
class DeepHypotheses:
    """What some points show of the hypotheses of Theorem D.

    Attributes
    ----------
    known : the chosen family of each neuron that has a piece, with those that were joined to it.
    missing : empty if all hypotheses hold.
    by_class : the layers in which flips are excluded by the class of competitors alone. If there are flips, then
        neither the network nor any competitor with its function is in the class.
    """

    known: dict[NeuronId, Portrait]
    missing: tuple[Missing, ...]
    by_class: tuple[int, ...]

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


def evaluate(space: Space, ridges: Sequence[Ridge], families: Families) -> DeepHypotheses:
    """The hypotheses, with the ridges and their families already worked out; `space` is that of `whole_space`."""
    network = space.network
    known = portraits(network, families.all())
    absent = [neuron for neuron in network.neurons() if neuron not in known]
    missing = [Missing("piece", neuron.layer, neuron) for neuron in absent]
    missing += _layers(network, known)
    missing += _weights(network, known, unshown_pairs(space, ridges, known))
    by_class: list[int] = []
    if not absent:
        for layer in range(1, network.depth - 1):
            signs = _signs(space, layer, known)
            missing += signs.missing
            by_class += [layer] * signs.by_class
        by_class += [network.depth - 1] * (not _last_signs_shown(space, ridges, known))
    return DeepHypotheses(known, tuple(missing), tuple(by_class))


def _layers(network: Network, known: dict[NeuronId, Portrait]) -> Iterator[Missing]:
    """(D1)."""
    for neuron, portrait in known.items():
        family = portrait.families[0]
        up, down = network.depth - 1 - neuron.layer - family.up, neuron.layer - 1 - family.down
        if up:
            yield Missing("up", neuron.layer, neuron, short=up)
        if down:
            yield Missing("down", neuron.layer, neuron, short=down)


def _weights(network: Network, known: dict[NeuronId, Portrait], unshown: set[tuple[int, int]]) -> Iterator[Missing]:
    """(D2). Where h crosses, the weight is not 0, because the neuron bends there. Of the last hidden layer there are
    only some pairs whose weight is not shown elsewhere."""
    for neuron, portrait in known.items():
        before = neuron.layer - 1
        weights = network.weight(neuron.layer).signs()[neuron.index]
        for h in range(network.widths[before] if before else 0):
            if not portrait.on[h] and (neuron.layer < network.depth - 1 or (neuron.index, h) in unshown):
                yield Missing("on", neuron.layer, neuron, NeuronId(before, h))
            elif not weights[h]:
                yield Missing("weight", neuron.layer, neuron, NeuronId(before, h))


@dataclass(frozen=True, slots=True)
class _Signs:
    """(D3) for one layer: what is missing, and whether the signs rest on the class of competitors alone."""

    missing: tuple[Missing, ...]
    by_class: bool


def _signs(space: Space, layer: int, known: dict[NeuronId, Portrait]) -> _Signs:
    """(D3) for a layer m < L-1."""
    width = space.network.widths[layer]
    above = [known[NeuronId(layer + 1, i)] for i in range(space.network.widths[layer + 1])]
    open_ = np.array([not known[NeuronId(layer, h)].oriented for h in range(width)])
    missing = tuple(_short(space, layer, above, open_))
    if not missing or not any(v.crossed.all() for v in above):
        return _Signs(missing, by_class=False)
    return _Signs(tuple(_short(space, layer, above, np.zeros(width, dtype=bool))), by_class=True)


def _short(space: Space, layer: int, above: list[Portrait], open_: NDArray[np.bool_]) -> Iterator[Missing]:
    """By how much the system is short of full rank, with p_h and t_vh for the h that are marked only.

    For each v its own unknowns are eliminated; what is left has the p_h only.
    """
    unknown = np.flatnonzero(open_ & np.logical_or.reduce([v.crossed for v in above])).tolist()
    left: list[list[int]] = []
    for row, v in zip(space.network.weight(layer + 1).integer_rows(), above, strict=True):
        own, equations = _equations(space, layer, v, row, open_, unknown)
        rank, rest = eliminate_mod(equations, own)
        if rank < own:
            yield Missing("independent", layer + 1, v.neuron, short=own - rank)
        left += rest
    rank = eliminate_mod(left, len(unknown))[0]
    if rank < len(unknown):
        yield Missing("signs", layer, short=len(unknown) - rank)


def _equations(
    space: Space, layer: int, v: Portrait, weights: list[int], open_: NDArray[np.bool_], unknown: list[int]
) -> tuple[int, list[list[int]]]:
    """The equations at the pieces of v: how many s_vh and t_vh there are, whose columns come first, and the rows."""
    ons = np.flatnonzero(~v.crossed & v.on).tolist()
    offs = np.flatnonzero(~v.crossed & v.off & open_).tolist()
    factors = [weights[h] if v.crossed[h] else 0 for h in unknown]
    equations: list[list[int]] = []
    for signs in _cells(layer, v, np.flatnonzero(~v.crossed).tolist()):
        sign = signs.layers[layer - 1]
        for gradient in space.gradients(layer, signs):
            row = [gradient[h] if sign[h] > 0 else 0 for h in ons]
            row += [gradient[h] if sign[h] < 0 else 0 for h in offs]
            equations.append(row + [f * gradient[h] for f, h in zip(factors, unknown, strict=True)])
    return len(ons) + len(offs), equations


def _cells(layer: int, v: Portrait, apart: list[int]) -> Iterable[SignVector]:
    """Signs at pieces of v that give different equations: these depend on the layers before m, and on what does not
    cross."""
    cells = {}
    for piece in v.pieces:
        signs = piece.signs.layers
        cells[signs[: layer - 1], tuple(signs[layer - 1][h] for h in apart)] = piece.signs
    return cells.values()


def _last_signs_shown(space: Space, ridges: Sequence[Ridge], known: dict[NeuronId, Portrait]) -> bool:
    """Whether the sectors of the ridges determine the signs of layer L-1; it stops as soon as the rank is full."""
    network = space.network
    layer = network.depth - 1
    weights = network.weight(network.depth).integer_rows()
    unknown = [h for h in range(network.widths[layer]) if not known[NeuronId(layer, h)].oriented]
    basis: list[list[int]] = []
    cells: Iterable[SignVector] = (signs for ridge in ridges for signs in ridge.sectors)
    if left := sources(network, known):
        cells = admissible(network, left, cells)
    for signs in _distinct_before(layer, cells):
        if len(basis) == len(unknown):
            break
        gradients = space.gradients(layer, signs)
        equations = [[row[h] * gradient[h] for h in unknown] for gradient in gradients for row in weights]
        basis = eliminate_mod([*basis, *equations], 0)[1]
    return len(basis) == len(unknown)


def _distinct_before(layer: int, cells: Iterable[SignVector]) -> Iterator[SignVector]:
    """Cells with different signs in the layers before the given one."""
    seen: set[tuple[tuple[int, ...], ...]] = set()
    for signs in cells:
        if signs.layers[: layer - 1] not in seen:
            seen.add(signs.layers[: layer - 1])
            yield signs


def _name(neuron: NeuronId | None) -> str:
    return "" if neuron is None else f"({neuron.layer}, {neuron.index})"
