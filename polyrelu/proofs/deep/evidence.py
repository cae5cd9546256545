"""Theorem D: what a certificate lists (FORMAT.md §3.9).

A ridge stands there as its two neurons and the mask of the neurons that are on, under a plane that it meets. So the
point itself, whose coordinates are long, does not appear; the checker works it out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from polyrelu.exact import format_integer, format_rational
from polyrelu.proofs.deep.families import Families, Family
from polyrelu.proofs.deep.hypotheses import DeepHypotheses
from polyrelu.proofs.deep.planes import Plane, Spot
from polyrelu.proofs.deep.ridges import DeepNetwork, Piece, Ridge
from polyrelu.proofs.deep.unseen_weights import shown_sources

__all__ = ["evidence"]


def evidence(
    space: DeepNetwork,
    planes: Sequence[Plane],
    ridges: Mapping[Ridge, Spot],
    hypotheses: DeepHypotheses,
    places: Collection[int],
    layers: int,
) -> dict[str, dict[str, Any]]:
    """The evidence for each hypothesis but the membership.

    Parameters
    ----------
    planes, ridges : some ridges, each with the number of a plane that it meets.
    hypotheses : of `evaluate` at these ridges.
    places : of the neurons that the claim is about, ascending; what concerns others is left out.
    layers : in so many hidden layers families are joined.
    """
    slices, order = _slices(planes, ridges)
    families, first = Families(space, order), dict[Piece, int]()
    for i, ridge in enumerate(order):
        for piece in ridge.pieces:
            first.setdefault(families.root(piece), i)

    def entry(family: Family) -> list[int]:
        return [family.place, first[families.root(family.key)]]

    chosen = [hypotheses.known[place].families[0] for place in places]
    joined, sighted = (
        [entry(family) for family in some if space.layer_of[family.place] <= layers]
        for some in (hypotheses.joined_by_crossing, hypotheses.joined_by_weights)
    )
    sources = shown_sources(space, order, hypotheses.known) if len(places) == space.size else []
    return {
        "ridges": {"slices": slices},
        "families": {
            "chosen": [entry(family) for family in chosen],
            "joined": joined,
        },
        "signs": {},
        "weights": {
            "joined": sighted,
            "order": [h - space.starts[-3] for h in sources],
        },
    }


def _slices(
    planes: Sequence[Plane], ridges: Mapping[Ridge, Spot]
) -> tuple[list[dict[str, Any]], list[Ridge]]:
    """The planes that are needed with their ridges, and the ridges in the order in which they stand there."""
    own: dict[int, list[Ridge]] = {}
    for ridge, spot in ridges.items():
        own.setdefault(spot.plane, []).append(ridge)
    slices = [
        {
            "point": list(map(format_rational, planes[number].point)),
            "directions": [
                [str(entry) for entry in direction] for direction in planes[number].directions
            ],
            "ridges": [[ridge.u, ridge.v, format_integer(ridge.mask)] for ridge in some],
        }
        for number, some in own.items()
    ]
    return slices, [ridge for some in own.values() for ridge in some]
