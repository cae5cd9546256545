"""Moves as certificate documents, changes of these documents, and points to compare networks at."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

from polyrelu import Network, NetworkError, checker
from polyrelu.certificate import THEOREMS, Certificate, Claim, Hypothesis
from polyrelu.network import from_document
from polyrelu.proofs.refutations.moves import Move
from polyrelu.support.text_files import layout

__all__ = ["changed_documents", "move_document", "points_of_all_sizes", "verdict"]


def move_document(network: Network, move: Move) -> dict[str, Any]:
    """Return the certificate of a move as a document."""
    membership = {"status": "verified", "method": "every"}
    entries: list[dict[str, Any]] = [{}, move.evidence, {"layer": move.difference}, membership]
    names = THEOREMS[move.theorem].hypotheses
    hypotheses = tuple(
        Hypothesis(move.theorem, name, entry) for name, entry in zip(names, entries, strict=True)
    )
    return Certificate(
        Claim("not-identifiable", network, "all", move.other), move.theorem, hypotheses
    ).to_document()[0]


def verdict(document: dict[str, Any]) -> str:
    """Return the verdict of the checker on a document."""
    return checker.check_bytes(layout(document).encode("ascii")).verdict


def points_of_all_sizes(inputs: int, rng: Random) -> list[list[Fraction]]:
    """Return points of all sizes, from the origin to very far away."""
    return [
        [Fraction(rng.randint(-(10**size), 10**size), rng.randint(1, 6)) for _ in range(inputs)]
        for size in (0, 1, 1, 1, 2, 2, 3, 6, 12)
        for _ in range(6)
    ]


def changed_documents(document: dict[str, Any], which: str) -> Iterator[dict[str, Any]]:
    """Yield documents in which one integer of a network is increased by one.

    Layers 2 to L are changed, and the hash of the network is recomputed.
    """
    layers = document["claim"][which]["inline"]["layers"]
    for number in range(1, len(layers)):
        texts = [(layers[number], "bias")] + [
            (layers[number]["weights"][0]["rows"], i)
            for i in range(len(layers[number]["weights"][0]["rows"]))
        ]
        for place, (holder, key) in enumerate(texts):
            for k in range(len(holder[key].split(" "))):
                new = copy.deepcopy(document)
                layer = new["claim"][which]["inline"]["layers"][number]
                target: Any = layer if place == 0 else layer["weights"][0]["rows"]
                parts = target[key].split(" ")
                parts[k] = str(int(parts[k]) + 1)
                target[key] = " ".join(parts)
                try:
                    new["claim"][which]["sha256"] = from_document(
                        new["claim"][which]["inline"]
                    ).sha256
                except NetworkError:  # a common divisor
                    continue
                yield new
