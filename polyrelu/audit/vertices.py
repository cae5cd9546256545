"""Lists of vertices and edges compared with the exact ones."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from polyrelu.audit.allowance import NEAREST, Allowance
from polyrelu.audit.causes import degenerate_vertex, held
from polyrelu.audit.comparing import SUSPECTED_TOLERANCE, Comparison, Difference, Question, finished
from polyrelu.audit.findings import Cause, Finding, number_text
from polyrelu.audit.ground_truth import GroundTruth, NetworkOrTruth, truth_of
from polyrelu.audit.measures import distance
from polyrelu.audit.point_matching import VertexIndex, matched
from polyrelu.audit.reports import AuditReport
from polyrelu.audit.tables import as_integers, as_numbers, floats_of, is_finite, row_of, with_width
from polyrelu.complex import Cell
from polyrelu.errors import ArgumentError
from polyrelu.exact import Rational
from polyrelu.formats import DomainLike
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Array, Indices

__all__ = ["audit_edges", "audit_vertices"]


def audit_vertices(
    network: NetworkOrTruth,
    vertices: object,
    domain: DomainLike = None,
    *,
    allowance: Allowance = NEAREST,
    tolerance: Rational = SUSPECTED_TOLERANCE,
    is_complete: bool = True,
    max_findings: int = 100,
    progress: Progress | None = None,
) -> AuditReport:
    """Compare a list of vertices with the exact vertices of the complex of a network.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or the result of `ground_truth`.
    vertices
        Coordinates, shape (vertices, n_0). Vertices on the boundary of the domain belong to them.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the whole space, or the domain of
        a `GroundTruth`.
    allowance
        When a claimed coordinate stands for an exact one.
    tolerance
        A distance below which the tool may merge vertices; it decides no verdict.
    is_complete
        Whether vertices that are not in the list are missing.
    max_findings
        Maximum number of differences that are explained; all are counted.
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut of the exact complex.

    Returns
    -------
    AuditReport
        A verdict for each vertex of the list, and the differences with exact witnesses.

    Raises
    ------
    DomainError
        As for `canonical_complex`.
    ArgumentError
        The vertices have another shape.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[3], [1]], [-1, 0]), ([[1, 1]], [0])])
    >>> report = audit_vertices(net, [[-1.0], [0.0], [0.333], [1.0]], "box:-1,1")
    >>> print(report.findings[0])
    wrong vertex: item 2 is next to a vertex that no item stands for
    witness: (1/3)
    distance: about 0.000333333
    """
    question = Question.of(allowance, tolerance, is_complete, max_findings)
    truth = truth_of(network, domain, progress)
    table = _points(truth, vertices)
    return finished("vertices", VertexComparison(truth, table, question), question)


def audit_edges(
    network: NetworkOrTruth,
    vertices: object,
    edges: object,
    domain: DomainLike = None,
    *,
    allowance: Allowance = NEAREST,
    is_complete: bool = True,
    max_findings: int = 100,
    progress: Progress | None = None,
) -> AuditReport:
    """Compare a list of bounded edges with the exact edges of the complex of a network.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or the result of `ground_truth`.
    vertices
        Coordinates of the ends of the edges, shape (vertices, n_0).
    edges
        Pairs of indices of vertices, shape (edges, 2). Unbounded edges have no pair.
    domain, allowance, is_complete, max_findings, progress
        As for `audit_vertices`.

    Returns
    -------
    AuditReport
        A verdict for each edge of the list, and the differences with exact witnesses.

    Raises
    ------
    DomainError
        As for `canonical_complex`.
    ArgumentError
        The arguments have another shape, or an index is out of range.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1]], [0]), ([[1]], [0])])
    >>> audit_edges(net, [[-1], [0], [1]], [[0, 2]], "box:-1,1")
    <AuditReport, edges: differs, 1 extra item, 2 missing items>
    """
    question = Question.of(allowance, is_complete=is_complete, max_findings=max_findings)
    truth = truth_of(network, domain, progress)
    table, pairs = _points(truth, vertices), as_integers(edges, 2, "edges")
    if pairs.size and (pairs.shape[1] != 2 or pairs.max() >= len(table)):
        raise ArgumentError(f"edges: expected pairs of indices of {len(table)} vertices")
    comparison = _EdgeComparison(truth, table, pairs.reshape(-1, 2), question)
    return finished("edges", comparison, question)


def _points(truth: GroundTruth, vertices: object) -> Array:
    """Return claimed vertices as a table of the right width."""
    return with_width(as_numbers(vertices, 2, "vertices"), truth.network.num_inputs, "vertices")


class VertexComparison(Comparison):
    """Claimed vertices beside the exact ones."""

    subject = "vertex"

    def __init__(self, truth: GroundTruth, table: Array, question: Question) -> None:
        self.truth, self.table, self.question = truth, table, question
        self.index = VertexIndex(truth.vertices, truth.vertex_floats, question.allowance)
        self.assigned = matched(self.index.candidates(table))
        self.num_exact = len(truth.vertices)

    @cached_property
    def _finite(self) -> Indices:
        """The claimed points that are finite."""
        return np.flatnonzero(is_finite(self.table).all(axis=1))

    def partner(self, item: int, missing: set[int]) -> int | None:
        """Return the exact vertex nearest to an item, if no item stands for it."""
        if not self.num_exact or not is_finite(self.table[item]).all():
            return None
        nearest = int(self.index.nearest(self.table[item : item + 1])[0])
        return nearest if nearest in missing else None

    def explain(self, difference: Difference) -> Finding:
        """Return a finding with witness, size and causes."""
        verdict, item, exact = difference
        if item is None:
            assert exact is not None
            return self._missing(exact)
        if not is_finite(self.table[item]).all():
            message = f"item {item}: a coordinate is not a finite number"
            return Finding("vertex", "extra", message, item)
        point = row_of(self.table, item)
        if exact is None:
            return self._extra(item)
        right = self.truth.vertices[exact]
        causes = held(degenerate_vertex(self.truth, exact))
        if verdict == "duplicated":
            first = int((self.assigned == exact).argmax())
            message = f"item {item} stands for the same vertex as item {first}"
            return Finding("vertex", verdict, message, item, exact, right, causes=causes)
        message = f"item {item} is next to a vertex that no item stands for"
        off = distance(point, right)
        return Finding("vertex", verdict, message, item, exact, right, off, "distance", causes)

    def _extra(self, item: int) -> Finding:
        """Return the finding about a point that is no vertex."""
        point = row_of(self.table, item)
        message = f"item {item} is no vertex"
        if not self.num_exact:
            return Finding("vertex", "extra", message, item, None, point)
        nearest = int(self.index.nearest(self.table[item : item + 1])[0])
        off = distance(point, self.truth.vertices[nearest])
        cause = None
        if not self.truth.domain.contains(point):
            cause = Cause("box edge", "the point lies outside the domain")
        return Finding("vertex", "extra", message, item, None, point, off, "distance", held(cause))

    def _missing(self, exact: int) -> Finding:
        """Return the finding about a vertex that no item stands for."""
        truth, right = self.truth, self.truth.vertices[exact]
        causes = held(
            self._merged(exact), degenerate_vertex(truth, exact), _on_boundary(truth, exact)
        )
        message, off, name = "a vertex is not in the list", None, ""
        if len(self._finite):
            near = self._nearest_item(exact)
            off, name = distance(row_of(self.table, near), right), "distance"
            message = f"a vertex is not in the list; item {near} is the nearest one"
        return Finding("vertex", "missing", message, None, exact, right, off, name, causes)

    def _nearest_item(self, exact: int) -> int:
        """Return the claimed point that looks nearest to an exact vertex."""
        rows = floats_of(self.table[self._finite])
        gaps = np.abs(rows - self.truth.vertex_floats[exact]).max(axis=1)
        return int(self._finite[gaps.argmin()])

    def _merged(self, exact: int) -> Cause | None:
        """Return the cause of a vertex that is nearer to another one than the tolerance."""
        right = self.truth.vertices[exact]
        gaps = np.abs(self.truth.vertex_floats - self.truth.vertex_floats[exact]).max(axis=1)
        gaps[exact] = np.inf
        if len(gaps) < 2:
            return None
        other = int(gaps.argmin())
        apart = distance(right, self.truth.vertices[other])
        if apart > self.question.tolerance:
            return None
        return Cause(
            "merged vertices",
            f"another exact vertex is at the distance {number_text(apart)}, within the tolerance "
            f"{number_text(self.question.tolerance)}",
        )


def _on_boundary(truth: GroundTruth, vertex: int) -> Cause | None:
    """Return the cause of a vertex on the boundary of the domain."""
    if truth.cells.inside(0)[Cell(0, vertex).index]:
        return None
    return Cause("box edge", "it lies on the boundary of the domain")


class _EdgeComparison(Comparison):
    """Claimed pairs of vertices beside the exact edges."""

    subject = "edge"

    def __init__(
        self, truth: GroundTruth, table: Array, pairs: Indices, question: Question
    ) -> None:
        self.truth, self.pairs = truth, pairs
        self.ends = VertexComparison(truth, table, question).assigned
        self._keys = sorted(truth.edges)
        number = {key: k for k, key in enumerate(self._keys)}
        ends = np.sort(self.ends[pairs], axis=1) if len(pairs) else pairs
        assigned = [number.get((a, b), -1) for a, b in ends.tolist()]
        self.assigned, self.num_exact = np.array(assigned, dtype=np.int64), len(self._keys)

    def explain(self, difference: Difference) -> Finding:
        """Return a finding with a point on the edge, or between its claimed ends."""
        verdict, item, exact = difference
        if exact is not None:
            a, b = (self.truth.vertices[k] for k in self._keys[exact])
            middle = tuple((x + y) / 2 for x, y in zip(a, b, strict=True))
            length = distance(a, b)
            message = "an edge is not in the list"
            if item is not None:
                message = f"item {item} is an edge that an item before it is"
            return Finding("edge", verdict, message, item, exact, middle, length, "length")
        assert item is not None  # only missing items have none
        return self._extra(item)

    def _extra(self, item: int) -> Finding:
        """Return the finding about a pair that is no edge."""
        ends = [int(self.ends[k]) for k in self.pairs[item].tolist()]
        if min(ends) < 0:
            message = f"item {item}: one of its ends is no vertex"
            return Finding("edge", "extra", message, item)
        a, b = (self.truth.vertices[k] for k in ends)
        middle = tuple((x + y) / 2 for x, y in zip(a, b, strict=True))
        cell = self.truth.cells.locate(middle)
        where = "outside the domain" if cell is None else f"in a cell of dimension {cell.dimension}"
        message = f"item {item}: no edge joins these vertices; the point between them lies {where}"
        return Finding("edge", "extra", message, item, None, middle)
