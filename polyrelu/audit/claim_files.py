"""Audits of whole files: each claim of a file becomes a report.

Files that a claims file names, such as the other network of a matching or the query of a
counterexample, must lie in its folder: a claims file may come from a stranger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from polyrelu.audit.allowance import Allowance
from polyrelu.audit.bounds import audit_bounds
from polyrelu.audit.claims import (
    ActivationPatterns,
    HalfSpaces,
    LocalMaps,
    RegionClaims,
    SignVectors,
    VertexLists,
)
from polyrelu.audit.comparing import SUSPECTED_TOLERANCE, Question
from polyrelu.audit.counterexamples import audit_counterexamples
from polyrelu.audit.counts import adjacency_report, audit_counts
from polyrelu.audit.deviations import audit_deviation
from polyrelu.audit.ground_truth import GroundTruth, ground_truth
from polyrelu.audit.judging import ALONE, entries_of
from polyrelu.audit.lipschitz import audit_lipschitz
from polyrelu.audit.matchings import audit_function, audit_matching
from polyrelu.audit.outputs import gradient_report, output_report
from polyrelu.audit.radii import radius_report
from polyrelu.audit.region_findings import RegionComparison
from polyrelu.audit.regions import region_comparison, region_report
from polyrelu.audit.reports import AuditReport
from polyrelu.audit.tables import as_integers, read_number
from polyrelu.audit.topology import audit_persistence, audit_topology
from polyrelu.audit.vertices import audit_edges, audit_vertices
from polyrelu.errors import ArgumentError, DomainError, NetworkError
from polyrelu.exact import Polyhedron
from polyrelu.formats import (
    ClaimsFile,
    DomainLike,
    Imported,
    NetworkLike,
    as_domain,
    as_imported,
    read_claims,
)
from polyrelu.support.parallel import Execution, Workers
from polyrelu.support.progress import Progress

__all__ = ["audit_claims"]


def audit_claims(
    network: NetworkLike,
    claims: ClaimsFile | str | Path,
    domain: DomainLike = None,
    *,
    max_findings: int = 100,
    progress: Progress | None = None,
    workers: Workers | None = None,
    checkpoint: str | Path | None = None,
) -> tuple[AuditReport, ...]:
    """Compare all claims of a file with the exact answers.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    claims
        What `polyrelu.formats.read_claims` returns, or the name of a .json, .csv or .npz file.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the domain that the file names, or
        the whole space.
    max_findings
        Maximum number of differences of each report that are explained; all are counted.
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut of the exact complex, and after
        each part of a list.
    workers
        Who compares the parts of the lists (`polyrelu.support.parallel`); None for this process.
    checkpoint
        A file that keeps what is compared; if it exists, the work goes on from there. Claims that
        are not compared one by one, such as counts, are computed again.

    Returns
    -------
    tuple of AuditReport
        A report for each claim.

    Raises
    ------
    DomainError
        The file cannot be read, or names another domain than the caller; or the checkpoint belongs
        to another question.
    NetworkError
        The network cannot be read.
    ArgumentError
        A claim does not fit the network.

    Examples
    --------
    >>> file = ClaimsFile("answer", {"counts": {"regions": 3}}, {"domain": "box:-1,1"})
    >>> audit_claims([([[1]], [0]), ([[1]], [0])], file)
    (<AuditReport, counts: differs, 1 wrong item>,)
    """
    file = claims if isinstance(claims, ClaimsFile) else read_claims(claims)
    try:
        audit = _File(as_imported(network), file, domain, max_findings, progress)
        entries = {} if checkpoint is None else audit.entries()
        with Execution.opened(workers, checkpoint, entries) as audit.execution:
            return tuple(audit.reports())
    except ArgumentError as error:
        raise ArgumentError(f"{file.source}: {error}") from None


class _File:
    """A file of claims with its network, domain and ground truth."""

    def __init__(
        self,
        imported: Imported,
        file: ClaimsFile,
        domain: DomainLike,
        max_findings: int,
        progress: Progress | None,
    ) -> None:
        self.imported, self.network = imported, imported.network
        self.claims, self.settings = file.claims, file.settings
        self.folder, self.progress = Path(file.source).parent, progress
        named, size = file.settings.get("domain"), self.network.num_inputs
        self.domain: Polyhedron = as_domain(named if domain is None else domain, size)
        if None not in (named, domain) and as_domain(named, size) != self.domain:
            raise DomainError(
                f"{file.source}: it names the domain {str(named)[:40]}, which is another one than "
                "the domain that is given; leave that one out"
            )
        self.max_findings = max_findings
        self.arithmetic = str(self.settings.get("arithmetic", "float64"))
        self.tolerance = self._number("tolerance", SUSPECTED_TOLERANCE)
        ulps, absolute = self._number("ulps", "1/2"), self._number("absolute", 0)
        self.allowance = Allowance(ulps, absolute, self.arithmetic)
        self.has_allowance = "ulps" in self.settings or "absolute" in self.settings
        self._truth: GroundTruth | None = None
        self.execution = ALONE

    def entries(self) -> dict[str, str]:
        """Return what a checkpoint compares."""
        known = {"claims": self.claims, "settings": self.settings}
        return entries_of("audit", self.imported, self.domain.sha256, known)

    def _number(self, name: str, default: object) -> Fraction:
        """Return a setting that is a number."""
        try:
            return read_number(self.settings.get(name, default))
        except NetworkError as error:
            raise ArgumentError(f"{name}: {error}") from None

    @property
    def truth(self) -> GroundTruth:
        """The exact complex, computed for the first claim that needs it."""
        if self._truth is None:
            self._truth = ground_truth(self.network, self.domain, progress=self.progress)
        return self._truth

    def reports(self) -> Iterator[AuditReport]:
        """Yield the report of each claim."""
        yield from self._lists()
        yield from self._values()
        simple: dict[str, Callable[[Any], AuditReport]] = {
            "counts": lambda c: audit_counts(self.truth, c, tolerance=self.tolerance),
            "lipschitz": self._lipschitz,
            "deviation": self._deviation,
            "counterexamples": self._counterexamples,
            "matching": self._matching,
            "function": lambda c: audit_function(self.network, self._beside(c), self.domain),
            "persistence": self._persistence,
        }
        for name, audit in simple.items():
            if name in self.claims:
                yield audit(_expect_object(self.claims[name], name, name != "function"))
        if "topology" in self.claims:
            sets = self.claims["topology"]
            for claim in sets if isinstance(sets, list) else [sets]:
                yield self._topology(_expect_object(claim, "topology"))

    # -- lists -------------------------------------------------------------------------------------

    def _region_lists(self) -> Iterator[RegionClaims]:
        """Yield the lists of regions of the file."""
        claims = self.claims
        if "signs" in claims:
            yield SignVectors(claims["signs"])
        if "activations" in claims:
            yield ActivationPatterns(claims["activations"])
        if "interior_points" in claims:
            maps = claims.get("matrices"), claims.get("offsets")
            yield LocalMaps(claims["interior_points"], *maps)
        if "half_spaces" in claims:
            yield _half_spaces(claims["half_spaces"])
        if "vertex_lists" in claims:
            yield _vertex_lists(claims["vertex_lists"])

    def _lists(self) -> Iterator[AuditReport]:
        """Yield the reports about lists of regions, vertices, edges and neighbours."""
        settings: dict[str, Any] = {
            "allowance": self.allowance,
            "is_complete": self.settings.get("complete", True),
            "max_findings": self.max_findings,
        }
        question = Question.of(tolerance=self.tolerance, **settings)
        compared, how = list[RegionComparison](), (self.execution, self.progress)
        for claim in list(self._region_lists()):
            compared.append(region_comparison(self.truth, claim, question, *how))
            yield region_report(claim, compared[-1], question)
        if "adjacency" in self.claims:
            if not compared:
                raise ArgumentError("adjacency: the file has no list of regions beside it")
            yield adjacency_report(compared[0], self.claims["adjacency"], question)
        if "vertices" in self.claims:
            self.truth.know_vertices(*how)
            points = self.claims["vertices"]
            yield audit_vertices(self.truth, points, tolerance=self.tolerance, **settings)
            if "edges" in self.claims:
                yield audit_edges(self.truth, points, self.claims["edges"], **settings)
        elif "edges" in self.claims:
            raise ArgumentError("edges: the file has no list of vertices beside them")

    # -- values ------------------------------------------------------------------------------------

    def _values(self) -> Iterator[AuditReport]:
        """Yield the reports about outputs, gradients, bounds and radii."""
        claims = self.claims
        allowance = self.allowance if self.has_allowance else None
        how = (self.arithmetic, allowance, self.max_findings, self.execution, self.progress)
        points = claims.get("output_points")
        for name in ("output_values", "gradients"):
            if name in claims and points is None:
                raise ArgumentError(f"{name}: the file has no output_points beside them")
        if "output_values" in claims:
            yield output_report(self.imported, points, claims["output_values"], *how)
        if "gradients" in claims:
            yield gradient_report(self.network, points, claims["gradients"], *how)
        if "lower" in claims or "upper" in claims:
            bounds = claims.get("lower"), claims.get("upper")
            yield audit_bounds(self.network, *bounds, self.domain)
        if "radii" in claims:
            yield radius_report(
                self.network,
                claims.get("radius_points", []),
                claims["radii"],
                str(claims.get("radius_norm", "linf")),
                claims.get("labels"),
                self.domain,
                self.max_findings,
                self.execution,
                self.progress,
            )

    # -- claims of JSON only -----------------------------------------------------------------------

    def _beside(self, name: object) -> Path:
        """Return a file in the folder of the claims."""
        if not isinstance(name, str) or not name or Path(name).name != name or "\\" in name:
            raise DomainError(f"{str(name)[:80]!r}: expected the name of a file beside the claims")
        return self.folder / name

    def _lipschitz(self, claim: Mapping[str, Any]) -> AuditReport:
        _only(claim, "lipschitz", "constant", "norm")
        norm, constant = str(claim.get("norm", "l2")), _needed(claim, "lipschitz", "constant")
        return audit_lipschitz(self.network, constant, self.domain, norm=norm)

    def _deviation(self, claim: Mapping[str, Any]) -> AuditReport:
        _only(claim, "deviation", "other", "at_most")
        other = self._beside(_needed(claim, "deviation", "other"))
        bound = _needed(claim, "deviation", "at_most")
        return audit_deviation(self.network, other, bound, self.domain)

    def _counterexamples(self, claim: Mapping[str, Any]) -> AuditReport:
        _only(claim, "counterexamples", "query", "files")
        query = self._beside(_needed(claim, "counterexamples", "query"))
        files = _needed(claim, "counterexamples", "files")
        if not isinstance(files, list):
            raise ArgumentError("counterexamples: files: expected a list of names")
        return audit_counterexamples(self.network, query, [self._beside(name) for name in files])

    def _matching(self, claim: Mapping[str, Any]) -> AuditReport:
        _only(claim, "matching", "other", "permutations", "scales")
        other = self._beside(_needed(claim, "matching", "other"))
        permutations = _needed(claim, "matching", "permutations")
        scales = claim.get("scales")
        return audit_matching(self.network, other, permutations, scales, allowance=self.allowance)

    def _persistence(self, claim: Mapping[str, Any]) -> AuditReport:
        names = ("output", "superlevel", "characteristic")
        _only(claim, "persistence", "intervals", *names)
        intervals = _needed(claim, "persistence", "intervals")
        return audit_persistence(
            self.network,
            intervals,
            self.domain,
            allowance=self.allowance,
            **{name: claim[name] for name in names if name in claim},
        )

    def _topology(self, claim: Mapping[str, Any]) -> AuditReport:
        names = ("kind", "level", "output", "label", "characteristic")
        _only(claim, "topology", "betti", *names)
        return audit_topology(
            self.network,
            _needed(claim, "topology", "betti"),
            domain=self.domain,
            tolerance=self.tolerance,
            **{name: claim[name] for name in names if name in claim},
        )


def _expect_object(claim: Any, name: str, is_object: bool = True) -> Any:
    """Return a claim that is an object, or a text where that is meant."""
    if not isinstance(claim, Mapping if is_object else str):
        raise ArgumentError(f"{name}: expected {'an object' if is_object else 'a text'} of JSON")
    return claim


def _only(claim: Mapping[str, Any], name: str, *known: str) -> None:
    """Refuse keys of a claim that are not known."""
    for key in claim:
        if key not in known:
            raise ArgumentError(f"{name}: unknown key {key[:40]!r}; known are {', '.join(known)}")


def _needed(claim: Mapping[str, Any], name: str, key: str) -> Any:
    """Return an entry that a claim must have."""
    if key not in claim:
        raise ArgumentError(f"{name}: the key {key!r} is missing")
    return claim[key]


def _half_spaces(claim: Any) -> HalfSpaces:
    """Return half-spaces: rows with numbers of regions, or a list of objects with A and c."""
    if isinstance(claim, Mapping):
        return HalfSpaces(*_ragged(claim, "half_spaces"))
    if not isinstance(claim, Sequence) or not all(isinstance(r, Mapping) for r in claim):
        raise ArgumentError("half_spaces: expected a list of objects with A and c")
    return HalfSpaces.of(
        [(_needed(r, "half_spaces", "A"), _needed(r, "half_spaces", "c")) for r in claim]
    )


def _vertex_lists(claim: Any) -> VertexLists:
    """Return vertex lists: rows with numbers of regions, or a list of lists."""
    if isinstance(claim, Mapping):
        return VertexLists(*_ragged(claim, "vertex_lists"))
    if not isinstance(claim, Sequence):
        raise ArgumentError("vertex_lists: expected a list of lists of points")
    return VertexLists.of(list(claim))


def _ragged(claim: Mapping[str, Any], name: str) -> tuple[Any, Any, int]:
    """Return rows, the region of each row, and the number of regions."""
    _only(claim, name, "rows", "regions")
    rows, owners = _needed(claim, name, "rows"), _needed(claim, name, "regions")
    numbers = as_integers(owners, 1, f"{name}: regions")
    size = int(numbers.max()) + 1 if len(numbers) else 0
    if size > 2 * len(numbers) + 1:
        raise ArgumentError(f"{name}: regions: number them from 0 without gaps")
    return rows, numbers, size
