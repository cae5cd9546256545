"""Numbers of cells, and pairs of neighbouring regions, compared with the exact ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from polyrelu.audit.allowance import EXACT, NEAREST, Allowance
from polyrelu.audit.claims import RegionClaims
from polyrelu.audit.comparing import (
    SUSPECTED_TOLERANCE,
    Comparison,
    Difference,
    Question,
    finished,
    report_of,
)
from polyrelu.audit.findings import Cause, Finding, Verdict, number_text
from polyrelu.audit.ground_truth import GroundTruth, NetworkOrTruth, truth_of
from polyrelu.audit.measures import inradius
from polyrelu.audit.region_findings import RegionComparison
from polyrelu.audit.regions import region_comparison
from polyrelu.audit.reports import AuditReport
from polyrelu.audit.tables import as_integers
from polyrelu.complex import Cell, canonical_complex, point_in
from polyrelu.errors import ArgumentError
from polyrelu.exact import Rational
from polyrelu.formats import DomainLike
from polyrelu.support.arguments import expect_integer, expect_one_of
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Indices

__all__ = ["COUNTS", "audit_adjacency", "audit_counts"]

#: Maximum number of regions whose inradii are computed to explain a count.
_MAX_MEASURED = 5000
#: What can be counted, and what it is.
COUNTS = {
    "regions": "regions",
    "bounded_regions": "bounded regions",
    "activation_patterns": "activation patterns of regions",
    "vertices": "vertices",
    "edges": "edges",
    "adjacent_pairs": "pairs of neighbouring regions",
}


def audit_counts(
    network: NetworkOrTruth,
    counts: Mapping[str, int],
    domain: DomainLike = None,
    *,
    tolerance: Rational = SUSPECTED_TOLERANCE,
    max_findings: int = 100,
    progress: Progress | None = None,
) -> AuditReport:
    """Compare numbers of cells with the exact numbers.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or the result of `ground_truth`.
    counts
        Numbers by name: ``regions``, ``bounded_regions``, ``activation_patterns``, ``vertices``,
        ``edges``, ``adjacent_pairs``, or ``cells_K`` for the cells of dimension K.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the whole space, or the domain of
        a `GroundTruth`.
    tolerance
        A tolerance that the tool may use; it explains differences and decides no verdict.
    max_findings
        Maximum number of differences that are explained; all are counted.
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut of the exact complex.

    Returns
    -------
    AuditReport
        A verdict for each number.

    Raises
    ------
    DomainError
        As for `canonical_complex`.
    ArgumentError
        A name is unknown, or a count is no integer.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, "1/1000000000"]), ([[1, 1]], [0])])
    >>> print(audit_counts(net, {"regions": 2}, "box:-1,1").findings[0])
    wrong count: the number of regions is given as 2, it is 3
    cause: sliver: 1 region has an inradius of at most 1/1000000
    """
    question = Question.of(EXACT, tolerance, max_findings=max_findings)
    expect_one_of(counts, (Mapping,), "counts", 'such as {"regions": 7}')
    claimed = {str(name): expect_integer(value, str(name)) for name, value in counts.items()}
    truth = truth_of(network, domain, progress)
    exact = {name: _count(truth, name) for name in claimed}
    names = list(claimed)
    verdicts: list[Verdict] = [
        "right" if claimed[name] == exact[name] else "wrong" for name in names
    ]

    def explain(item: int) -> Finding:
        """Return the finding about an item."""
        name = names[item]
        what = COUNTS.get(name, f"cells of dimension {name.removeprefix('cells_')}")
        message = f"the number of {what} is given as {claimed[name]}, it is {exact[name]}"
        causes = _causes_of_count(truth, name, claimed[name], exact[name], question)
        return Finding("count", "wrong", message, item, causes=causes)

    return report_of("counts", verdicts, explain, question)


def _count(truth: GroundTruth, name: str) -> int:
    """Return the exact number with a name."""
    cells = truth.cells
    if name.startswith("cells_") and name[6:].isdecimal() and len(name) < 10:
        return cells.size(int(name[6:]))
    if name == "activation_patterns":
        return len(np.unique(np.packbits(truth.region_signs > 0, axis=1), axis=0))
    numbers = {
        "regions": lambda: cells.num_regions,
        "bounded_regions": lambda: cells.num_bounded_regions,
        "vertices": lambda: cells.size(0),
        "edges": lambda: cells.size(1),
        "adjacent_pairs": lambda: len(cells.adjacency()),
    }
    if name not in numbers:
        raise ArgumentError(
            f"counts: {name[:40]!r} is not counted; {', '.join(COUNTS)} and cells_K are"
        )
    return numbers[name]()


def _causes_of_count(
    truth: GroundTruth, name: str, claimed: int, exact: int, question: Question
) -> tuple[Cause, ...]:
    """Return the causes that explain exactly the claimed number."""
    causes = []
    if name == "regions" and claimed < exact and truth.num_regions <= _MAX_MEASURED:
        found = [inradius(truth.cells.region_polyhedron(k)) for k in range(truth.num_regions)]
        thin = sum(entry is not None and entry[0] <= question.tolerance for entry in found)
        if thin == exact - claimed:
            several = "1 region has" if thin == 1 else f"{thin} regions have"
            radius = f"an inradius of at most {number_text(question.tolerance)}"
            causes.append(Cause("sliver", f"{several} {radius}"))
    if name in ("vertices", "edges") or name.startswith("cells_"):
        dimension = {"vertices": 0, "edges": 1}.get(name)
        dimension = int(name[6:]) if dimension is None else dimension
        if 0 <= dimension < truth.cells.dimension and exact:
            inside = int(truth.cells.inside(dimension).sum())
            if inside == claimed:
                causes.append(Cause("box edge", f"{inside} of them are inside the domain"))
    for other in ("bounded_regions", "activation_patterns"):
        if name == "regions" and claimed == _count(truth, other):
            causes.append(Cause("another count", f"it is the number of {COUNTS[other]}"))
    rounded = truth.with_float32_weights
    if rounded is not None:
        other_truth = GroundTruth(canonical_complex(rounded, truth.domain))
        if _count(other_truth, name) == claimed:
            causes.append(Cause("float32 weights", "it is right for weights rounded to float32"))
    return tuple(causes)


def audit_adjacency(
    network: NetworkOrTruth,
    claims: RegionClaims,
    pairs: object,
    domain: DomainLike = None,
    *,
    allowance: Allowance = NEAREST,
    is_complete: bool = True,
    max_findings: int = 100,
    progress: Progress | None = None,
) -> AuditReport:
    """Compare pairs of neighbouring regions with the exact pairs that have a common facet.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or the result of `ground_truth`.
    claims
        The regions that the pairs are about, in any of the forms of `audit_regions`.
    pairs
        Pairs of indices of claimed regions, shape (pairs, 2).
    domain, allowance, is_complete, max_findings, progress
        As for `audit_regions`.

    Returns
    -------
    AuditReport
        A verdict for each pair, and the differences with exact witnesses.

    Raises
    ------
    DomainError
        As for `canonical_complex`.
    ArgumentError
        The arguments have another shape, or an index is out of range.

    Examples
    --------
    >>> from polyrelu.audit import SignVectors
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])
    >>> regions = SignVectors([[-1, -1], [1, -1], [1, 1]])
    >>> print(audit_adjacency(net, regions, [[0, 1], [0, 2]]).findings[0])
    extra pair: item 1: the regions ++ and -- have no common facet
    """
    question = Question.of(allowance, is_complete=is_complete, max_findings=max_findings)
    truth = truth_of(network, domain, progress)
    return adjacency_report(region_comparison(truth, claims, question), pairs, question)


def adjacency_report(assigned: RegionComparison, pairs: object, question: Question) -> AuditReport:
    """Return the report on claimed pairs of neighbours, for regions that are compared already."""
    table = as_integers(pairs, 2, "pairs").reshape(-1, 2)
    if len(table) and table.max() >= len(assigned.assigned):
        raise ArgumentError(f"pairs: expected indices of {len(assigned.assigned)} regions")
    numbers = [assigned.region_of(k) if k >= 0 else -1 for k in assigned.assigned.tolist()]
    regions = np.array(numbers, dtype=np.int64)[table] if len(table) else table
    return finished("adjacency", _PairComparison(assigned.truth, regions), question)


class _PairComparison(Comparison):
    """Claimed pairs of regions beside the exact ones."""

    subject = "pair"
    rule = "a pair is right if the closures of the regions have a common facet"

    def __init__(self, truth: GroundTruth, regions: Indices) -> None:
        self.truth, self.regions = truth, np.sort(regions, axis=1)
        exact = truth.cells.adjacency()
        self.num_exact = len(exact)
        known = self._numbers
        assigned = [known.get((a, b), -1) for a, b in self.regions.tolist()]
        self.assigned = np.array(assigned, dtype=np.int64)

    @cached_property
    def _numbers(self) -> dict[tuple[int, int], int]:
        """The number of each exact pair."""
        pairs = self.truth.cells.adjacency().tolist()
        return {(a, b): number for number, (a, b) in enumerate(pairs)}

    def _text(self, pair: tuple[int, int]) -> str:
        one, other = (self.truth.cells.signs_of_region(k) for k in pair)
        return f"the regions {one} and {other}"

    def explain(self, difference: Difference) -> Finding:
        """Return a finding with a point on the common facet."""
        verdict, item, exact = difference
        if exact is None:
            assert item is not None  # only missing items have none
            a, b = self.regions[item].tolist()
            if a < 0:
                message = f"item {item}: one of its regions is no region of the network"
            else:
                message = f"item {item}: {self._text((a, b))} have no common facet"
            return Finding("pair", "extra", message, item)
        a, b = self.truth.cells.adjacency()[exact].tolist()
        facet = Cell(self.truth.cells.dimension - 1, int(self.truth.cells.common_facets()[exact]))
        point = point_in(self.truth.cells, facet)
        message = f"{self._text((a, b))} have a common facet"
        if item is not None:
            message = f"item {item}: an item before it is the same pair"
        return Finding("pair", verdict, message, item, exact, point)
