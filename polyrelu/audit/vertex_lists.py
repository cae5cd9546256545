"""Bounded regions as lists of vertices: vertices are matched first, then lists of their numbers.

A bounded region is determined by its vertices. Lists with a vertex that stands for none are
compared with the region with which they share most vertices.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import islice, product

import numpy as np

from polyrelu.audit.causes import degenerate_region, held, sliver
from polyrelu.audit.claims import VertexLists
from polyrelu.audit.comparing import Question
from polyrelu.audit.findings import Finding
from polyrelu.audit.ground_truth import GroundTruth
from polyrelu.audit.measures import distance, inradius
from polyrelu.audit.point_matching import VertexIndex
from polyrelu.audit.region_findings import RegionComparison, signs_text
from polyrelu.audit.tables import is_finite, row_of, with_width
from polyrelu.support.typing import Array, Indices, Point

__all__ = ["VertexListComparison"]

#: Maximum number of readings of a list whose points may stand for several vertices each.
_MAX_READINGS = 64


class VertexListComparison(RegionComparison):
    """Claimed lists of vertices beside the bounded regions."""

    def __init__(self, truth: GroundTruth, claims: VertexLists, question: Question) -> None:
        size = truth.network.num_inputs
        self.points = with_width(claims.rows, size, "vertex lists")
        self.claims, self._starts = claims, claims.starts.tolist()
        self._bounded = np.flatnonzero(truth.cells.bounded)
        self._number = {region: k for k, region in enumerate(self._bounded.tolist())}
        index = VertexIndex(truth.vertices, truth.vertex_floats, question.allowance)
        self._index, (distinct, which) = index, _distinct(self.points)
        near = index.candidates(distinct)
        self.candidates = [near[k] for k in which.tolist()]
        known = {truth.vertices_of(r).tobytes(): k for r, k in self._number.items()}
        assigned = [self._region(item, known) for item in range(len(claims))]
        super().__init__(truth, question, np.array(assigned, dtype=np.int64))
        self.num_exact = len(self._bounded)

    @property
    def notes(self) -> list[str]:
        """A note about unbounded regions, which have no list of vertices."""
        others = self.truth.num_regions - self.num_exact
        return [f"{others} unbounded regions have no list of vertices"] if others else []

    def region_of(self, exact: int) -> int:
        """Return the number of a bounded region."""
        return int(self._bounded[exact])

    def _readings(self, item: int) -> list[list[int]]:
        return self.candidates[self._starts[item] : self._starts[item + 1]]

    def _region(self, item: int, known: dict[bytes, int]) -> int:
        """Return the region with exactly the vertices that a list stands for, -1 if none has."""
        readings = self._readings(item)
        if not readings or not all(readings):
            return -1
        for reading in islice(product(*readings), _MAX_READINGS):
            found = known.get(np.unique(np.array(reading, dtype=np.int64)).tobytes())
            if found is not None:
                return found
        return -1

    @cached_property
    def _regions_of_vertices(self) -> tuple[Indices, Indices]:
        """The offsets and entries of the bounded regions around each vertex."""
        offsets, entries = self.truth.vertices_of_regions
        owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        keep = np.isin(owners, self._bounded)
        order = np.argsort(entries[keep], kind="stable")
        count = self.truth.cells.size(0)
        starts = np.searchsorted(entries[keep][order], np.arange(count + 1))
        return starts, owners[keep][order]

    def partner(self, item: int, missing: set[int]) -> int | None:
        """Return the missing region with which a list shares most vertices, if it shares one."""
        starts, owners = self._regions_of_vertices
        shared: Counter[int] = Counter()
        for near in self._readings(item):
            for vertex in near[:1]:
                shared.update(owners[starts[vertex] : starts[vertex + 1]].tolist())
        likely = [
            (-count, region) for region, count in shared.items() if self._number[region] in missing
        ]
        return self._number[min(likely)[1]] if likely else None

    def wrong(self, item: int, exact: int) -> Finding:
        """Return the finding about a list that is not the list of vertices of a region."""
        region = self.region_of(exact)
        vertices, rows = self.truth.vertices_of(region), self._rows(item)
        used = {k for near in self._readings(item) for k in near}
        absent = [k for k in vertices.tolist() if k not in used]
        text = signs_text(self.truth, region)
        radius = inradius(self.truth.cells.region_polyhedron(region))
        causes = held(
            sliver(radius[0] if radius else None, self.question.tolerance),
            degenerate_region(self.truth, region),
        )
        strange = [
            i for i, near in enumerate(self._readings(item)) if not set(near) & set(vertices)
        ]
        if strange and is_finite(rows[strange[0]]).all():
            point = row_of(rows, strange[0])
            where = min(absent or vertices.tolist(), key=lambda k: distance(point, self._vertex(k)))
            message = f"item {item}: point {strange[0]} of it is no vertex of the region {text}"
            off = distance(point, self._vertex(where))
            exact_point = self._vertex(where)
            return Finding(
                "region", "wrong", message, item, region, exact_point, off, "distance", causes
            )
        if strange:
            message = f"item {item}: a coordinate of point {strange[0]} is not a finite number"
            return Finding("region", "wrong", message, item, region, None, causes=causes)
        message = f"item {item}: {len(absent)} of the vertices of the region {text} are not in it"
        witness = self._vertex(absent[0]) if absent else None
        return Finding("region", "wrong", message, item, region, witness, causes=causes)

    def _rows(self, item: int) -> Array:
        return self.points[self._starts[item] : self._starts[item + 1]]

    def _vertex(self, number: int) -> Point:
        return self.truth.vertices[number]

    def extra(self, item: int) -> Finding:
        """Return the finding about a list that shares no vertex with a missing region."""
        readings = self._readings(item)
        known = sum(map(bool, readings))
        message = (
            f"item {item}: no region has these vertices; {known} of {len(readings)} points are "
            "vertices of the complex"
        )
        rows = self._rows(item)
        strange = [i for i, near in enumerate(readings) if not near and is_finite(rows[i]).all()]
        if not strange:
            return Finding("region", "extra", message, item)
        point = row_of(rows, strange[0])
        near = int(self._index.nearest(rows[strange[:1]])[0])
        off = distance(point, self.truth.vertices[near])
        return Finding("region", "extra", message, item, None, point, off, "distance")


def _distinct(rows: Array) -> tuple[Array, Indices]:
    """Return the distinct rows, and for each row the number of its distinct one."""
    if rows.dtype == object or not rows.size:
        return rows, np.arange(len(rows))
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return rows[first], which.ravel()
