"""Lists of regions, in any of the forms of `claims`, compared with the exact regions."""

from __future__ import annotations

from polyrelu.audit.allowance import NEAREST, Allowance
from polyrelu.audit.claims import (
    ActivationPatterns,
    HalfSpaces,
    LocalMaps,
    RegionClaims,
    SignVectors,
    VertexLists,
)
from polyrelu.audit.comparing import SUSPECTED_TOLERANCE, Question, finished
from polyrelu.audit.ground_truth import GroundTruth, NetworkOrTruth, truth_of
from polyrelu.audit.half_spaces import HalfSpaceComparison
from polyrelu.audit.local_maps import LocalMapComparison
from polyrelu.audit.region_findings import RegionComparison
from polyrelu.audit.reports import AuditReport
from polyrelu.audit.sign_lists import PatternComparison, SignComparison
from polyrelu.audit.vertex_lists import VertexListComparison
from polyrelu.exact import Rational
from polyrelu.formats import DomainLike
from polyrelu.support.arguments import expect_one_of
from polyrelu.support.progress import Progress

__all__ = ["audit_regions", "region_comparison"]


def audit_regions(
    network: NetworkOrTruth,
    claims: RegionClaims,
    domain: DomainLike = None,
    *,
    allowance: Allowance = NEAREST,
    tolerance: Rational = SUSPECTED_TOLERANCE,
    is_complete: bool = True,
    max_findings: int = 100,
    progress: Progress | None = None,
) -> AuditReport:
    """Compare a list of regions with the exact regions of a network.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or the result of `ground_truth`.
    claims
        The regions: `SignVectors`, `ActivationPatterns`, `LocalMaps`, `HalfSpaces` or
        `VertexLists`. Vertex lists stand for the bounded regions.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the whole space, or the domain of
        a `GroundTruth`.
    allowance
        When a claimed number stands for an exact one. Signs are compared exactly.
    tolerance
        A tolerance that the tool may use; it explains differences and decides no verdict.
    is_complete
        Whether regions that are not in the list are missing.
    max_findings
        Maximum number of differences that are explained; all are counted.
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut of the exact complex.

    Returns
    -------
    AuditReport
        A verdict for each region of the list, and the differences with exact witnesses.

    Raises
    ------
    DomainError
        As for `canonical_complex`.
    ArgumentError
        The claims do not fit the network.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, "-1/1000000000"]), ([[1, 1]], [0])])
    >>> report = audit_regions(net, SignVectors([[-1, -1], [1, 1]]), "box:-1,1")
    >>> print(report.findings[0])
    missing region: the region +- is not in the list
    witness: (1/2000000000)
    inradius: 1/2000000000
    cause: sliver: its inradius 1/2000000000 is at most 1/1000000, and a tool with that tolerance
    takes the region for empty
    """
    expect_one_of(claims, tuple(_TITLES), "claims", "SignVectors(rows) makes one")
    question = Question.of(allowance, tolerance, is_complete, max_findings)
    truth = truth_of(network, domain, progress)
    comparison = region_comparison(truth, claims, question)
    notes = comparison.notes if isinstance(comparison, VertexListComparison) else []
    return finished(_TITLES[type(claims)], comparison, question, notes)


#: What the forms of lists are called in reports.
_TITLES: dict[type, str] = {
    SignVectors: "regions as sign vectors",
    ActivationPatterns: "regions as activation patterns",
    LocalMaps: "regions as interior points",
    HalfSpaces: "regions as half-spaces",
    VertexLists: "regions as vertex lists",
}


def region_comparison(
    truth: GroundTruth, claims: RegionClaims, question: Question
) -> RegionComparison:
    """Return claimed regions beside the exact ones."""
    expect_one_of(claims, tuple(_TITLES), "claims", "SignVectors(rows) makes one")
    if isinstance(claims, SignVectors):
        return SignComparison(truth, claims, question)
    if isinstance(claims, ActivationPatterns):
        return PatternComparison(truth, claims, question)
    if isinstance(claims, LocalMaps):
        return LocalMapComparison(truth, claims, question)
    if isinstance(claims, HalfSpaces):
        return HalfSpaceComparison(truth, claims, question)
    return VertexListComparison(truth, claims, question)
