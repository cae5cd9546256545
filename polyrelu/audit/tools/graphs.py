"""Dual graphs of networkx: nodes are regions, edges are pairs of neighbours."""

from __future__ import annotations

from typing import Any

from polyrelu.audit.claims import ActivationPatterns, LocalMaps, RegionClaims, SignVectors
from polyrelu.audit.counts import audit_adjacency
from polyrelu.audit.ground_truth import NetworkOrTruth, truth_of
from polyrelu.audit.regions import audit_regions
from polyrelu.audit.reports import AuditReport
from polyrelu.errors import ArgumentError
from polyrelu.formats import DomainLike

__all__ = ["audit_graph"]

#: The attributes of nodes that name a region.
_NAMES = ("signs", "activations", "point")


def audit_graph(
    network: NetworkOrTruth, graph: Any, domain: DomainLike = None, *, max_findings: int = 100
) -> tuple[AuditReport, AuditReport]:
    """Compare a dual graph with the exact one: regions first, pairs of neighbours second.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or the result of `ground_truth`.
    graph
        A `networkx.Graph` whose nodes have one of the attributes ``signs`` (a text of ``+``, ``-``
        and ``0`` with layers apart by ``|``, or a sequence of numbers), ``activations`` or
        ``point``. `polyrelu.complex.dual_graph` makes such a graph.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the whole space.
    max_findings
        Maximum number of differences that are explained; all are counted.

    Returns
    -------
    tuple of AuditReport
        The reports about regions and about pairs.

    Raises
    ------
    ArgumentError
        A node has none of the attributes, or the nodes do not fit the network.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex, dual_graph
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])
    >>> graph = dual_graph(canonical_complex(net))
    >>> graph.remove_edge(*next(iter(graph.edges)))
    >>> [report.agrees for report in audit_graph(net, graph)]
    [True, False]
    """
    if not hasattr(graph, "nodes") or not hasattr(graph, "edges"):
        raise ArgumentError(f"graph: expected a graph of networkx, got {type(graph).__name__}")
    truth = truth_of(network, domain)
    number = {node: k for k, node in enumerate(graph.nodes)}
    pairs = [[number[a], number[b]] for a, b in graph.edges]
    claims = _claims([graph.nodes[node] for node in graph.nodes])
    regions = audit_regions(truth, claims, max_findings=max_findings)
    return regions, audit_adjacency(truth, claims, pairs, max_findings=max_findings)


def _claims(nodes: list[Any]) -> RegionClaims:
    """Return the regions that the attributes of nodes name."""
    for name in _NAMES:
        if nodes and all(name in attributes for attributes in nodes):
            rows = [attributes[name] for attributes in nodes]
            if name == "point":
                return LocalMaps(rows)
            if name == "activations":
                return ActivationPatterns(rows)
            return SignVectors([_signs(row) for row in rows])
    raise ArgumentError(f"graph: each node needs one of the attributes {', '.join(_NAMES)}")


def _signs(value: Any) -> list[int]:
    """Return signs that are given as text or as numbers."""
    if not isinstance(value, str):
        return list(value)
    meaning = {"+": 1, "-": -1, "0": 0}
    if not set(value) <= {*meaning, "|"}:
        raise ArgumentError(f"graph: {value[:40]!r} is no text of the signs + - 0")
    return [meaning[character] for character in value if character != "|"]
