"""Candidates for theorem `one-sided`: neurons that seem to have one sign where a guard is active.

Networks are evaluated in floats at many points and in many directions, and what no sample
contradicts is a candidate. Candidates are only guesses, which `one_sided` proves or drops, so
samples decide what is tried and never what is true. They depend on the seed alone, because
certificates depend on the candidates and on their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import Polyhedron
from polyrelu.network import Network, NeuronId
from polyrelu.proofs.interior import Interior
from polyrelu.support.typing import Floats

__all__ = [
    "OneSidedCandidate",
    "apparently_bounded_neurons",
    "sample_points",
    "sampled_candidates",
]


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """Numbers of sample points, and the tolerance of their signs.

    Attributes
    ----------
    num_points
        Number of sample points, and of sample directions.
    max_hyperplanes
        Maximum number of first-layer hyperplanes that meet at a sampled corner.
    max_matrix_entries
        Maximum number of entries of all matrices of sampled corners together.
    radii
        Sizes of the random vectors from the origin or from a corner to a sample point.
    tolerance
        A value may be 0 in exact arithmetic if it is at most this share of the sum of the sizes of
        its terms.
    """

    num_points: int = 6000
    max_hyperplanes: int = 24
    max_matrix_entries: int = 2_000_000
    radii: tuple[float, ...] = tuple((10.0 ** np.arange(-2, 5)).tolist())
    tolerance: float = 1e-9


SETTINGS = SamplingSettings()


class OneSidedCandidate(NamedTuple):
    """A neuron that seems to have one sign wherever its guard is active.

    Attributes
    ----------
    neuron
        The neuron, in layer 1 or later.
    sign
        1 for z ≥ 0, -1 for z ≤ 0.
    guard
        A neuron of a hidden layer that the neuron's layer reads, in a plain stack the layer before;
        None for the constant guard, which is active everywhere.
    """

    neuron: NeuronId
    sign: int
    guard: NeuronId | None = None


def sampled_candidates(
    network: Network, seed: int = 0, domain: Polyhedron | None = None
) -> list[OneSidedCandidate]:
    """Return the candidates that no sample point contradicts.

    The points are inside the domain. On R^n they have all sizes and lie around the origin and
    around corners of first-layer hyperplanes. Candidates come layer by layer, because later layers
    take longer, and those without a guard come first. A guard is active at some sample points, and
    a neuron with a guard takes the opposite sign, too, so it is no candidate without a guard.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [-1, -1]), ([[2, -1], [1, 1]], [0, 1]), ([[1, 1]], [0])])
    >>> for candidate in sampled_candidates(net):
    ...     print(candidate.neuron, candidate.sign, candidate.guard)
    NeuronId(layer=2, index=1) 1 None
    NeuronId(layer=2, index=0) -1 NeuronId(layer=1, index=1)
    NeuronId(layer=2, index=0) 1 NeuronId(layer=1, index=0)
    """
    candidates: list[OneSidedCandidate] = []
    with np.errstate(all="ignore"):
        signs = _signs_in_floats(network, sample_points(network, seed, domain), True)
    for number in range(1, network.depth):
        signs_here = signs[number - 1]
        occurring = {side: (signs_here == side).any(axis=0) for side in (1, -1)}
        for side in (-1, 1):
            candidates += [
                OneSidedCandidate(NeuronId(number, int(v)), side)
                for v in np.flatnonzero(~occurring[-side])
            ]
        for source in (block.source for block in network.layers[number - 1].blocks):
            if source:
                pair = signs[source - 1], signs_here
                candidates += _candidates_with_guard(number, source, pair, occurring)
    return candidates


def _candidates_with_guard(
    number: int,
    source: int,
    signs: tuple[NDArray[np.int8], NDArray[np.int8]],
    occurring: dict[int, NDArray[np.bool_]],
) -> list[OneSidedCandidate]:
    """Return the candidates of a layer with guards in a layer that it reads."""
    candidates, (before, signs_here) = [], signs
    active = (before == 1).astype(np.float64)
    for side in (-1, 1):
        # at how many points neuron v has the other sign while neuron h is active, shape (h, v)
        contradictions = active.T @ (signs_here == -side)
        is_candidate = (contradictions == 0) & (active.sum(axis=0) > 0)[:, None] & occurring[-side]
        for h, v in np.argwhere(is_candidate):
            guard = NeuronId(source, int(h))
            candidates.append(OneSidedCandidate(NeuronId(number, int(v)), side, guard))
    return candidates


def apparently_bounded_neurons(
    network: Network, seed: int = 0, domain: Polyhedron | None = None
) -> dict[NeuronId, set[int]]:
    """Return neurons whose preactivation seems to be bounded from above (1) or from below (-1).

    A side is listed if the preactivation does not grow to that side in any sample direction; all
    are listed on a bounded domain.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[2, 1], [1, -1]], [0, 1]), ([[1, 1]], [0])])
    >>> apparently_bounded_neurons(net)
    {NeuronId(layer=2, index=0): {-1}}
    """
    if domain is not None and domain.is_bounded():
        hidden = (
            NeuronId(layer, i)
            for layer in range(1, network.depth)
            for i in range(network.widths[layer])
        )
        return {neuron: {1, -1} for neuron in hidden}
    directions = np.random.default_rng(seed).standard_normal(
        (SETTINGS.num_points, network.num_inputs)
    )
    with np.errstate(all="ignore"):
        signs = _signs_in_floats(network, directions, False)
    bounded_sides: dict[NeuronId, set[int]] = {}
    for number, signs_here in enumerate(signs, 1):
        for v in range(signs_here.shape[1]):
            sides = {side for side in (1, -1) if not (signs_here[:, v] == side).any()}
            if sides:
                bounded_sides[NeuronId(number, v)] = sides
    return bounded_sides


def sample_points(network: Network, seed: int, domain: Polyhedron | None) -> Floats:
    """Return points in a domain, or around the origin and common zeros of first-layer neurons.

    Each common zero takes a matrix of its own, so there are fewer of them if there are many inputs.
    """
    rng = np.random.default_rng(seed)
    if domain is not None:
        return Interior(domain).points(rng, SETTINGS.num_points)
    weight, bias = network.weight(1).to_floats(), network.bias(1).to_floats()[:, 0]
    size, num_points = network.num_inputs, SETTINGS.num_points
    points: Floats = rng.standard_normal((num_points, size))
    points *= rng.choice(SETTINGS.radii, (num_points, 1))
    count = min(len(bias), size, SETTINGS.max_hyperplanes)
    affordable = SETTINGS.max_matrix_entries // (count * size)
    num_corners = max(1, min(num_points // 2, affordable))
    chosen = rng.permuted(np.tile(np.arange(len(bias)), (num_corners, 1)), axis=1)[:, :count]
    corners = np.linalg.pinv(weight[chosen]) @ -bias[chosen][..., None]
    points[:num_corners] += np.nan_to_num(corners[..., 0])
    return points


def _signs_in_floats(network: Network, points: Floats, with_bias: bool) -> list[NDArray[np.int8]]:
    """Return the signs of all hidden neurons at some points, shape (points, width) for each layer.

    A sign is 0 where floats cannot tell.
    """
    signs, values = [], [points]
    for layer in network.layers[:-1]:
        bias = layer.bias.to_floats()[:, 0] * with_bias
        z, size = np.zeros((len(points), layer.width)) + bias, np.abs(bias)
        for block in layer.blocks:
            weight = block.weight.to_floats()
            z = z + values[block.source] @ weight.T
            size = size + np.abs(values[block.source]) @ np.abs(weight.T)
        signs.append(np.where(np.abs(z) > SETTINGS.tolerance * size, np.sign(z), 0).astype(np.int8))
        values.append(np.maximum(z, 0))
    return signs
