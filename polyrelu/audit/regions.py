"""Lists of regions, in any of the forms of `claims`, compared with the exact regions."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

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
from polyrelu.audit.judging import ALONE, entries_of
from polyrelu.audit.local_maps import LocalMapComparison
from polyrelu.audit.region_findings import JudgedRegions, RegionComparison
from polyrelu.audit.reports import AuditReport
from polyrelu.audit.sign_lists import PatternComparison, SignComparison
from polyrelu.audit.vertex_lists import VertexListComparison
from polyrelu.exact import Rational
from polyrelu.formats import DomainLike, as_imported
from polyrelu.support.arguments import expect_one_of
from polyrelu.support.parallel import Execution, Workers
from polyrelu.support.progress import Progress

__all__ = ["audit_regions", "region_comparison", "region_report"]


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
    workers: Workers | None = None,
    checkpoint: str | Path | None = None,
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
        Called with a `polyrelu.support.ProgressStep` after each cut of the exact complex, and after
        each part of the list.
    workers
        Who compares the parts of the list (`polyrelu.support.parallel`); None for this process.
    checkpoint
        A file that keeps what is compared; if it exists, the work goes on from there.

    Returns
    -------
    AuditReport
        A verdict for each region of the list, and the differences with exact witnesses.

    Raises
    ------
    DomainError
        As for `canonical_complex`; or the checkpoint belongs to another question.
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
    entries = {} if checkpoint is None else _entries(truth, claims, question)
    with Execution.opened(workers, checkpoint, entries) as execution:
        comparison = region_comparison(truth, claims, question, execution, progress)
    return region_report(claims, comparison, question)


def _entries(truth: GroundTruth, claims: RegionClaims, question: Question) -> dict[str, str]:
    """Return what a checkpoint compares; settings of findings do not matter for verdicts."""
    known = {
        "form": _TITLES[type(claims)],
        "tables": [getattr(claims, field.name) for field in fields(claims)],
        "allowance": repr(question.allowance),
    }
    return entries_of("audit of regions", as_imported(truth.network), truth.domain.sha256, known)


def region_report(
    claims: RegionClaims, comparison: RegionComparison, question: Question
) -> AuditReport:
    """Return the report of a comparison."""
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
    truth: GroundTruth,
    claims: RegionClaims,
    question: Question,
    execution: Execution = ALONE,
    progress: Progress | None = None,
) -> RegionComparison:
    """Return claimed regions beside the exact ones; parts of long lists are tasks."""
    expect_one_of(claims, tuple(_TITLES), "claims", "SignVectors(rows) makes one")
    if isinstance(claims, SignVectors):
        return SignComparison(truth, claims, question)
    if isinstance(claims, ActivationPatterns):
        return PatternComparison(truth, claims, question)
    if isinstance(claims, VertexLists):
        truth.know_vertices(execution, progress)
        return VertexListComparison(truth, claims, question)
    judged: JudgedRegions = (
        LocalMapComparison(truth, claims, question)
        if isinstance(claims, LocalMaps)
        else HalfSpaceComparison(truth, claims, question)
    )
    judged.decide(execution, progress)
    return judged
