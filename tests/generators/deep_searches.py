"""Searches of Theorem D without walks, and their certificates.

A search gets ridges at given points, or some ridges of another search. Its certificate lists all of
them, whether its hypotheses hold or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from polyrelu import Network, checker
from polyrelu.certificate import Certificate, Claim, Hypothesis, PartClaim
from polyrelu.exact import Rational, to_fraction
from polyrelu.proofs.deep.evidence import evidence
from polyrelu.proofs.deep.hypotheses import DeepHypotheses, Determined
from polyrelu.proofs.deep.planes import Location, Plane
from polyrelu.proofs.deep.ridges import Ridge, ridge_at
from polyrelu.proofs.deep.search import DeepSearch
from tests.generators.deep_documents import verdict

__all__ = [
    "accepted",
    "document",
    "listed",
    "part_document",
    "search_at",
    "whole_document",
    "with_ridges",
]


def search_at(network: Network, points: Iterable[Sequence[Rational]]) -> DeepSearch:
    """A search with the ridges at some points, each in a plane parallel to two axes."""
    search = DeepSearch(network)
    for point in points:
        ridge = ridge_at(search.deep_network, point)
        assert isinstance(ridge, Ridge), ridge
        search.planes.append(_plane(search, ridge, tuple(map(to_fraction, point))))
        search.add(ridge, Location(len(search.planes) - 1, 0.0, 0.0))
    return search


def _plane(search: DeepSearch, ridge: Ridge, point: tuple[Fraction, ...]) -> Plane:
    """A plane along two axes in which the gradients of both neurons are independent."""
    deep_network = search.deep_network
    layers = [deep_network.layer_of[w] for w in ridge[:2]]
    forms = [
        deep_network.gradients(layer, ridge.mask, len(point))[w - deep_network.starts[layer - 1]]
        for layer, w in zip(layers, ridge[:2], strict=True)
    ]
    a, b = ([int(x) for x in form] for form in forms)
    inputs, prime = len(point), search.deep_network.prime
    i, j = next(
        (i, j) for i, j in combinations(range(inputs), 2) if (a[i] * b[j] - a[j] * b[i]) % prime
    )
    first, second = (tuple(int(k == axis) for k in range(inputs)) for axis in (i, j))
    return Plane(point, (first, second))


def with_ridges(search: DeepSearch, ridges: Iterable[Ridge]) -> DeepSearch:
    """A search with some of the ridges of another search."""
    other = DeepSearch(search.network, search.seed, search.deep_network.among)
    other.planes[:] = list(search.planes)
    for ridge in ridges:
        other.add(ridge, search.ridges[ridge])
    return other


def whole_document(search: DeepSearch) -> dict[str, Any]:
    """The certificate of the whole claim that lists all ridges."""
    claim = Claim("identifiable", search.network, search.deep_network.among)
    return _document(
        search, claim, "deep", range(search.deep_network.size), search.network.depth - 1
    )


def part_document(search: DeepSearch, part: Determined) -> dict[str, Any]:
    """The certificate of a claim in part that lists all ridges."""
    start = search.deep_network.starts[part.num_layers]
    neurons = [*range(start), *(start + i for i in part.neurons)]
    claim = PartClaim(
        search.network, part.num_layers, part.neurons, among=search.deep_network.among
    )
    return _document(search, claim, "deep-part", neurons, part.num_layers)


def _document(
    search: DeepSearch, claim: Claim | PartClaim, theorem: str, neurons: Sequence[int], layers: int
) -> dict[str, Any]:
    made = _evidence(search, search.hypotheses, neurons, layers) | {
        "membership": {"status": "open"}
    }
    return document(
        claim, theorem, [Hypothesis(theorem, name, entry) for name, entry in made.items()]
    )


def _evidence(
    search: DeepSearch, found: DeepHypotheses, neurons: Sequence[int], layers: int
) -> dict[str, dict[str, Any]]:
    known = [neuron for neuron in neurons if neuron in found.chosen]
    made = evidence(search.deep_network, search.planes, search.ridges, found, known, layers)
    chosen = dict(made["families"]["chosen"])
    made["families"]["chosen"] = [[neuron, chosen.get(neuron, 0)] for neuron in neurons]
    return made


def document(
    claim: Claim | PartClaim, theorem: str, hypotheses: Sequence[Hypothesis]
) -> dict[str, Any]:
    """A certificate as a document."""
    return Certificate(claim, theorem, tuple(hypotheses)).to_document()[0]


def listed(found: dict[str, Any], name: str) -> dict[str, Any]:
    """The evidence of a hypothesis in a document, as an object that may be changed."""
    entries: list[dict[str, Any]] = found["proof"]["hypotheses"]
    return next(dict(entry)["evidence"] for entry in entries if entry["id"] == name)


def accepted(found: dict[str, Any]) -> bool:
    """Whether the checker accepts; it must not find the file unreadable."""
    report: checker.CheckReport = verdict(found)
    assert report.verdict in ("accepted", "rejected"), report
    return report.verdict == "accepted"
