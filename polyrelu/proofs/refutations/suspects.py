"""Neurons that are never seen to change their sign where another one is on, at many points and in many directions.

Floats look, and nothing is believed: what is suspected is proved or dropped (`one_sided`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyrelu.network import Network, NeuronId
from polyrelu.support.typing import Floats

__all__ = ["Suspect", "bounded_suspects", "seen_suspects"]


_POINTS = 6000
_MEETING = 24  # so many hyperplanes meet at most at a point that is looked at
_ROOM = 2_000_000  # numbers in the matrices of all these points together
_SIZES = 10.0 ** np.arange(-2, 5)
_BLUR = 1e-9  # values below this share of the sum of the terms' sizes may be 0


class Suspect(NamedTuple):
    """A neuron that seems to have one sign, 1 (z ≥ 0) or -1 (z ≤ 0), wherever the source is on, a neuron of the layer
    before; without a source, everywhere."""

    neuron: NeuronId
    sign: int
    source: NeuronId | None = None


def seen_suspects(network: Network, seed: int = 0) -> list[Suspect]:
    """What points of all sizes, and points near corners of the first layer's hyperplanes, do not contradict.

    Layer by layer, because later layers take longer, those without a source first. A source is seen on at some points,
    and its neurons are not suspected anyway.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [-1, -1]), ([[2, -1], [1, 1]], [0, 1]), ([[1, 1]], [0])])
    >>> for suspect in seen_suspects(net):
    ...     print(suspect.neuron, suspect.sign, suspect.source)
    NeuronId(layer=2, index=1) 1 None
    NeuronId(layer=2, index=0) -1 NeuronId(layer=1, index=1)
    NeuronId(layer=2, index=0) 1 NeuronId(layer=1, index=0)
    """
    found: list[Suspect] = []
    with np.errstate(all="ignore"):
        signs = _signs(network, _points(network, np.random.default_rng(seed)), True)
    for number in range(1, network.depth):
        here = signs[number - 1]
        seen = {side: (here == side).any(axis=0) for side in (1, -1)}
        for side in (-1, 1):
            found += [Suspect(NeuronId(number, int(v)), side) for v in np.flatnonzero(~seen[-side])]
        if number > 1:
            found += _pairs(number, signs[number - 2], here, seen)
    return found


def _pairs(
    number: int,
    before: NDArray[np.int8],
    here: NDArray[np.int8],
    seen: dict[int, NDArray[np.bool_]],
) -> list[Suspect]:
    found = []
    on = (before == 1).astype(np.float64)
    for side in (-1, 1):
        together = on.T @ (here == -side)  # how often neuron v has the other sign where h is on
        for h, v in np.argwhere((together == 0) & (on.sum(axis=0) > 0)[:, None] & seen[-side]):
            found.append(Suspect(NeuronId(number, int(v)), side, NeuronId(number - 1, int(h))))
    return found


def bounded_suspects(network: Network, seed: int = 0) -> dict[NeuronId, set[int]]:
    """Neurons whose preactivation does not seem to grow without end: 1 from above, -1 from below.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[2, 1], [1, -1]], [0, 1]), ([[1, 1]], [0])])
    >>> bounded_suspects(net)
    {NeuronId(layer=2, index=0): {-1}}
    """
    directions = np.random.default_rng(seed).standard_normal((_POINTS, network.inputs))
    with np.errstate(all="ignore"):
        signs = _signs(network, directions, False)
    found: dict[NeuronId, set[int]] = {}
    for number, here in enumerate(signs, 1):
        for v in range(here.shape[1]):
            sides = {side for side in (1, -1) if not (here[:, v] == side).any()}
            if sides:
                found[NeuronId(number, v)] = sides
    return found


def _points(network: Network, rng: np.random.Generator) -> Floats:
    """Points of all sizes around the origin, and around common zeros of neurons of the first layer: fewer of these if
    there are many inputs, because each takes a matrix of its own."""
    weight, bias = network.weight(1).to_floats(), network.bias(1).to_floats()[:, 0]
    steps: Floats = rng.standard_normal((_POINTS, network.inputs)) * rng.choice(
        _SIZES, (_POINTS, 1)
    )
    count = min(len(bias), network.inputs, _MEETING)
    many = max(1, min(_POINTS // 2, _ROOM // (count * network.inputs)))
    chosen = rng.permuted(np.tile(np.arange(len(bias)), (many, 1)), axis=1)[:, :count]
    corners = np.linalg.pinv(weight[chosen]) @ -bias[chosen][..., None]
    steps[:many] += np.nan_to_num(corners[..., 0])
    return steps


def _signs(network: Network, points: Floats, with_bias: bool) -> list[NDArray[np.int8]]:
    """The signs of all hidden neurons at some points, shape (points, width); 0 where floats may be wrong."""
    found, values = [], points
    for number in range(1, network.depth):
        weight, bias = (
            network.weight(number).to_floats(),
            network.bias(number).to_floats()[:, 0] * with_bias,
        )
        z = values @ weight.T + bias
        blur = _BLUR * (np.abs(values) @ np.abs(weight.T) + np.abs(bias))
        found.append(np.where(np.abs(z) > blur, np.sign(z), 0).astype(np.int8))
        values = np.maximum(z, 0)
    return found
