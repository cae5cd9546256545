"""The evidence of a certificate of Theorem D, in the layout of FORMAT.md §3.9.

A ridge is listed under a plane that meets it, as its two neurons and the mask of the active ones.
The point itself, whose coordinates are long, does not appear: the checker computes it. A family is
listed as a neuron and the number of the first ridge that has one of its pieces, so that the order
of the ridges in the file decides these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from polyrelu.exact import format_integer, format_rational
from polyrelu.proofs.deep.families import Families, Family
from polyrelu.proofs.deep.hypotheses import DeepHypotheses
from polyrelu.proofs.deep.planes import Location, Plane
from polyrelu.proofs.deep.ridges import DeepNetwork, Piece, Ridge
from polyrelu.proofs.deep.source_weights import resolved_sources

__all__ = ["evidence", "slices_of"]


def evidence(
    deep_network: DeepNetwork,
    planes: Sequence[Plane],
    ridges: Mapping[Ridge, Location],
    hypotheses: DeepHypotheses,
    neurons: Collection[int],
    layers: int,
) -> dict[str, dict[str, Any]]:
    """Return the evidence for each hypothesis except the membership.

    Parameters
    ----------
    deep_network
        The network.
    planes
        The planes of the search, in the order of their numbers.
    ridges
        The ridges to list, each with its location.
    hypotheses
        The hypotheses evaluated at these ridges.
    neurons
        Numbers of the neurons that the claim is about, ascending; nothing else is listed.
    layers
        Number of hidden layers in which families are joined.

    Returns
    -------
    dict
        The JSON object of each hypothesis, by its name.
    """
    slices, order = slices_of(planes, ridges)
    families, first = Families(deep_network, order), dict[Piece, int]()
    for i, ridge in enumerate(order):
        for piece in ridge.pieces:
            first.setdefault(families.root(piece), i)

    def entry(family: Family) -> list[int]:
        """Return a family by its neuron and the first ridge with one of its pieces."""
        return [family.neuron, first[families.root(family.key)]]

    def entries(joined: Sequence[Family]) -> list[list[int]]:
        """Return the families of neurons in the layers of the claim."""
        return [
            entry(family) for family in joined if deep_network.layer_of[family.neuron] <= layers
        ]

    chosen = [hypotheses.chosen[neuron].families[0] for neuron in neurons]
    resolved = (
        resolved_sources(deep_network, order, hypotheses.chosen)
        if len(neurons) == deep_network.size
        else []
    )
    return {
        "ridges": {"slices": slices},
        "families": {
            "chosen": [entry(family) for family in chosen],
            "joined": entries(hypotheses.joined_by_crossing),
        },
        "signs": {},
        "weights": {
            "joined": entries(hypotheses.joined_by_weights),
            "order": [deep_network.index_in_layer(h) for h in resolved],
        },
    }


def slices_of(
    planes: Sequence[Plane], ridges: Mapping[Ridge, Location]
) -> tuple[list[dict[str, Any]], list[Ridge]]:
    """Return the planes that have ridges, with these ridges, and the ridges in the file's order."""
    by_plane: dict[int, list[Ridge]] = {}
    for ridge, location in ridges.items():
        by_plane.setdefault(location.plane, []).append(ridge)
    slices = list[dict[str, Any]]()
    last: str | None = None  # what `inputs` was, where it was listed last
    for number, own in by_plane.items():
        entry = _coordinates(planes[number])
        inputs = entry.get("inputs", last)
        if inputs == last:
            entry.pop("inputs", None)
        last = inputs
        ridges_there = [[ridge.u, ridge.v, format_integer(ridge.mask)] for ridge in own]
        slices.append({**entry, "ridges": ridges_there})
    return slices, [ridge for own in by_plane.values() for ridge in own]


def _coordinates(plane: Plane) -> dict[str, Any]:
    """Return a plane, without the inputs that are 0 everywhere on it if these are most of them."""
    point, directions = plane
    together = zip(point, *directions, strict=True)
    inputs = [k for k, coordinates in enumerate(together) if any(coordinates)]
    if 2 * len(inputs) >= len(point):
        return {
            "point": list(map(format_rational, point)),
            "directions": [[str(entry) for entry in direction] for direction in directions],
        }
    scale = math.lcm(*(x.denominator for x in point))
    return {
        "inputs": " ".join(map(str, inputs)),
        "denominator": format_integer(scale),
        "point": " ".join(format_integer(int(point[k] * scale)) for k in inputs),
        "directions": [" ".join(str(row[k]) for k in inputs) for row in directions],
    }
