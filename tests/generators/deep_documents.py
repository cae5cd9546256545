"""The best certificate of Theorem D at some points, made without the prover.

The families are those that the checker finds, and each of them is joined where the checker permits
it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

from polyrelu import Network, checker
from polyrelu.network import to_document

__all__ = ["best_document", "verdict"]

Point = Sequence[Fraction]
Part = tuple[int, Sequence[int]]


def verdict(document: dict[str, Any]) -> checker.CheckReport:
    """The report of the checker on a document."""
    return checker.check_bytes(json.dumps(document).encode())


def best_document(
    network: Network, points: Sequence[Point], part: Part | None = None
) -> dict[str, Any] | None:
    """A certificate that is accepted; None if none is.

    The points must lie on ridges, and sources are not searched for. `part` has layers and neurons
    of the claim *determined*; without it the claim is *identifiable*.
    """
    terms: dict[str, Any] = {"kind": "identifiable"}
    if part is not None:
        terms = {"kind": "determined", "layers": part[0], "neurons": list(part[1])}
    slices = [_slice(network, point) for point in points]
    chosen, rest = _families(network, terms, slices)
    if chosen is None:
        return None
    by_crossing: list[list[int]] = []
    by_weights: list[list[int]] = []

    def made() -> dict[str, Any]:
        return _document(
            network, terms, slices, {"chosen": chosen, "joined": by_crossing}, by_weights
        )

    for pair in rest:
        by_crossing.append(pair)
        if verdict(made()).step == "families":
            by_crossing.pop()
    for pair in [pair for pair in rest if pair not in by_crossing] * 2:
        if pair not in by_weights:
            by_weights.append(pair)
            if verdict(made()).expected.startswith(("a family", "sets", "a neuron of a layer")):
                by_weights.pop()
    return made() if verdict(made()).verdict == "accepted" else None


def _document(
    network: Network, terms: dict[str, Any], slices: Any, families: Any, by_weights: Any
) -> dict[str, Any]:
    evidence = {
        "ridges": {"slices": slices},
        "families": families,
        "signs": {},
        "weights": {"joined": by_weights, "order": []},
        "membership": {"status": "open"},
    }
    reference = {"sha256": network.sha256, "inline": to_document(network)}
    return {
        "format": "polyrelu-certificate",
        "version": 1,
        "claim": {"network": reference, "domain": "R^n", "among": "transversal", **terms},
        "proof": {
            "theorem": "deep" if terms["kind"] == "identifiable" else "deep-part",
            "hypotheses": [
                {"id": key, "status": "proved", "evidence": entry}
                for key, entry in evidence.items()
            ],
        },
        "unverified": {},
    }


def _slice(network: Network, point: Point) -> dict[str, Any]:
    """A random plane through a point, with the ridge at the point."""
    signs, x = list[int](), list(point)
    for layer in network.layers[:-1]:
        z = [
            sum((w * t for w, t in zip(row, x, strict=True)), b)
            for row, b in zip(layer.weight.rows(), layer.bias.entries(), strict=True)
        ]
        signs += [(value > 0) - (value < 0) for value in z]
        x = [max(value, Fraction(0)) for value in z]
    zeros, rng = [w for w, sign in enumerate(signs) if sign == 0], Random(str(point))
    mask = sum(1 << w for w, sign in enumerate(signs) if sign > 0)
    directions = [
        [str(rng.randint(-9, 9) + 99 * (k == i)) for k in range(len(point))] for i in range(2)
    ]
    return {
        "point": list(map(str, point)),
        "directions": directions,
        "ridges": [[*zeros, str(mask)]],
    }


def _families(
    network: Network, terms: dict[str, Any], slices: list[dict[str, Any]]
) -> tuple[list[list[int]] | None, list[list[int]]]:
    """For each neuron of the claim its largest family with a full chain, and the other ones.

    None if some neuron has no such family.
    """
    meter = checker.Meter()
    neurons = checker.Neurons(checker.read_network(to_document(network), "network", meter), meter)
    extent = checker.Extent.of(neurons, terms)
    ridges = checker.Ridges(neurons, is_regular=False)
    ridges.read(slices)
    families = checker.Families(ridges)
    found: dict[int, dict[checker.Piece, int]] = {}
    size: dict[checker.Piece, int] = {root: len(masks) for root, masks in families.members.items()}
    for number, ridge in enumerate(ridges.listed):
        for w, piece in zip(ridge[:2], ridge.pieces, strict=True) if ridge.type else ():
            root = ridges.links.root(piece)
            if families.chain(root) == len(neurons.widths) - 1 - neurons.layer[w]:
                found.setdefault(w, {}).setdefault(root, number)
    if not set(extent.listed) <= set(found):
        return None, []
    chosen, rest = list[list[int]](), list[list[int]]()
    for w in extent.listed:
        first, *others = sorted(found[w], key=lambda root: -size[root])
        chosen.append([w, found[w][first]])
        rest += [[w, found[w][root]] for root in others]
    return chosen, rest
