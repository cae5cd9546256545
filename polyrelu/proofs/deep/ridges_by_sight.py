"""The search by sight as a whole: which networks it is for, and the ridges that it hands over.

`sight` covers the layers before the last hidden one, `both_signs` and `triangles` the last one. All
of them work in the coordinates of `orthant` and in floats. Here what they found becomes ridges with
their types, in planes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

import numpy as np

from polyrelu.network import NeuronId
from polyrelu.proofs.deep.both_signs import points_with_both_signs
from polyrelu.proofs.deep.orthant import Orthant
from polyrelu.proofs.deep.planes import Plane
from polyrelu.proofs.deep.planes_of_ridges import PlaneOfRidges, planes_of_ridges
from polyrelu.proofs.deep.ridges import DeepNetwork, Ridge, mask_of
from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.proofs.deep.sight import Judge, RidgePoint, SightSearch
from polyrelu.proofs.deep.triangles import Triangles
from polyrelu.support.budget import Budget

__all__ = ["ridges_by_sight"]


def ridges_by_sight(
    deep_network: DeepNetwork, random: Random, budget: Budget
) -> Iterator[tuple[Plane, list[tuple[Ridge, tuple[float, float]]]]]:
    """Yield planes, with ridges in them and their approximate coordinates (s, t).

    Nothing is found if W[1] has no full row rank, or for numbers beyond the range of floats.

    Parameters
    ----------
    deep_network
        The network, with at least three hidden layers, and the class of competitors.
    random
        The source of all random choices.
    budget
        What pays for the layers before the last hidden one; the last one has work of its own.
    """
    orthant = Orthant.of(deep_network.network)
    if orthant is None:
        return
    strict = deep_network
    if deep_network.among == "transversal":
        # ridges that are good for regular competitors are so for transversal ones
        strict = DeepNetwork.of(deep_network.network, "regular")

    def are_good(points: Sequence[RidgePoint]) -> list[bool]:
        """Return which points are points of good ridges."""
        return [ridge.kind is not None for ridge in _ridges_at(strict, points)]

    try:
        with np.errstate(all="ignore"):
            planes = _planes(orthant, random, budget, are_good)
    except np.linalg.LinAlgError:  # numbers beyond the range of floats
        return
    for found in planes:
        points, places = zip(*found.ridges, strict=True)
        yield found.plane, list(zip(_ridges_at(deep_network, points), places, strict=True))


def _ridges_at(deep_network: DeepNetwork, points: Sequence[RidgePoint]) -> list[Ridge]:
    """Return the ridges at points, with their types."""
    number = deep_network.number_of
    pairs = [sorted(number(NeuronId(*neuron)) for neuron in point.neurons) for point in points]
    masks = [mask_of(point.active) for point in points]
    return deep_network.ridges([(u, v) for u, v in pairs], masks)


def _planes(
    orthant: Orthant, random: Random, budget: Budget, are_good: Judge
) -> list[PlaneOfRidges]:
    """Return planes with ridges: first of the layers before the last hidden one, then of that."""
    search = SightSearch(orthant, random, budget, are_good)
    planes = list(planes_of_ridges(orthant, search.ridge_points(), are_good))
    if _are_nearly_all_seen(orthant, search.missing):
        planes += _last_layer(orthant, random, budget, are_good)
    return planes


def _are_nearly_all_seen(orthant: Orthant, missing: Mapping[int, int]) -> bool:
    """Return whether so few pairs are missing in each layer that walks may show them."""
    widths = orthant.widths
    return all(
        count <= SETTINGS.last_layer_missing * widths[layer - 1] * widths[layer]
        for layer, count in missing.items()
    )


def _last_layer(
    orthant: Orthant, random: Random, budget: Budget, are_good: Judge
) -> list[PlaneOfRidges]:
    """Return planes with ridges of the last hidden layer, after all other layers were seen.

    They have work of their own, because the other layers need nearly all of it.
    """
    work = budget.total_work
    own = budget.apart(None if work is None else work * SETTINGS.last_layer_share)
    known = points_with_both_signs(orthant, orthant.last_layer, random, own)
    return Triangles(orthant, known, own, are_good).planes()
