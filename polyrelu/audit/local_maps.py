"""Regions as interior points with affine maps: the region around each point, then its exact map."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from polyrelu.audit.causes import held, zero_neurons
from polyrelu.audit.claims import LocalMaps
from polyrelu.audit.comparing import Question
from polyrelu.audit.findings import Cause, Finding, number_text
from polyrelu.audit.ground_truth import GroundTruth
from polyrelu.audit.region_findings import JudgedRegions, signs_text
from polyrelu.audit.tables import entry, is_finite, row_of, with_width
from polyrelu.errors import ArgumentError
from polyrelu.exact import nearest_float
from polyrelu.support.typing import Array, BigIntegers, Floats, Indices, Point

__all__ = ["LocalMapComparison"]


class LocalMapComparison(JudgedRegions):
    """Claimed points and maps beside the regions that contain the points."""

    subject, items_per_task = "regions as interior points", 16384

    def __init__(self, truth: GroundTruth, claims: LocalMaps, question: Question) -> None:
        size = truth.network.num_inputs
        self.points = with_width(claims.interior_points, size, "interior_points")
        super().__init__(truth, claims, question)
        self.claimed = _tables(claims, (truth.network.num_outputs, size))

    def judge(self, items: range) -> list[tuple[int, bool]]:
        """Return the region around the point of each item, and whether its map is wrong."""
        points = self.points[items.start : items.stop]
        finite = is_finite(points).all(axis=1)
        regions = np.full(len(points), -1, dtype=np.int64)
        regions[finite] = self.truth.regions_at(points[finite])[0]
        wrong = np.zeros(len(points), dtype=bool)
        inside = np.flatnonzero(regions >= 0)
        if self.claimed is not None and len(inside):
            wrong[inside] = self._are_wrong(inside + items.start, regions[inside])
        return list(zip(regions.tolist(), wrong.tolist(), strict=True))

    def _are_wrong(self, items: Indices, regions: Indices) -> list[bool]:
        """Return which items have another map than the regions around their points."""
        denominator, maps = self.truth.maps_of(regions)
        equal, claimed = self._equal_floats(items, denominator, maps), self.claimed
        assert claimed is not None
        return [
            not equal[k] and self._worst(claimed[item], maps[k], denominator) is not None
            for k, item in enumerate(items.tolist())
        ]

    def _equal_floats(self, items: Indices, denominator: int, maps: BigIntegers) -> Array:
        """Return which items have the nearest floats of their exact maps, if these are allowed."""
        allowance = self.question.allowance
        assert self.claimed is not None
        if self.claimed.dtype == object or not allowance.allows_nearest:
            return np.zeros(len(items), dtype=bool)
        exact = _floats(maps, denominator)[:, :, : self.claimed.shape[2]]
        return np.asarray((self.claimed[items] == exact).reshape(len(items), -1).all(axis=1))

    def _worst(
        self, claimed: Array, exact: Array, denominator: int
    ) -> tuple[int, int, Fraction] | None:
        worst: tuple[int, int, Fraction] | None = None
        for i, j in np.ndindex(claimed.shape):
            right = Fraction(int(exact[i, j]), denominator)
            if not is_finite(claimed[i : i + 1, j])[0]:
                return i, j, Fraction(0)
            error = abs(entry(claimed[i, j]) - right)
            if error > self.question.allowance.bound(right) and (not worst or error > worst[2]):
                worst = (i, j, error)
        return worst

    def wrong(self, item: int, exact: int) -> Finding:
        """Return the finding about a wrong affine map."""
        assert self.claimed is not None
        denominator, maps = self.truth.maps_of([exact])
        found = self._worst(self.claimed[item], maps[0], denominator)
        assert found is not None
        i, j, error = found
        right = Fraction(int(maps[0][i, j]), denominator)
        place = "offset" if j == self.truth.network.num_inputs else f"derivative by input {j}"
        message = (
            f"item {item} gives the {place} of output {i} as {self.claimed[item][i, j]} on the "
            f"region {signs_text(self.truth, exact)}, where it is {number_text(right)}"
        )
        causes = held(
            self._map_of_neighbour(item, exact),
            self._map_of_float32(item, exact),
            zero_neurons(self.truth, exact),
        )
        point = row_of(self.points, item)
        name = "largest difference" if error else ""
        return Finding("region", "wrong", message, item, exact, point, error or None, name, causes)

    def _map_of_neighbour(self, item: int, exact: int) -> Cause | None:
        """Return the cause of a map that belongs to a neighbouring region."""
        assert self.claimed is not None
        neighbours = self.truth.cells.neighbours(exact)
        denominator, maps = self.truth.maps_of(neighbours)
        for region, map_ in zip(neighbours, maps, strict=True):
            if self._worst(self.claimed[item], map_, denominator) is None:
                text = signs_text(self.truth, region)
                return Cause("map of a neighbour", f"it is the map of the region {text} next to it")
        return None

    def _map_of_float32(self, item: int, exact: int) -> Cause | None:
        """Return the cause of a map that is right for the network with rounded weights."""
        rounded = self.truth.with_float32_weights
        if rounded is None or self.claimed is None:
            return None
        map_ = rounded.affine_map(self.truth.cells.signs_of_region(exact))
        table = map_.matrix.beside(map_.offset)
        rows = np.array(table.integer_rows(), dtype=object)
        if self._worst(self.claimed[item], rows, table.denominator) is not None:
            return None
        return Cause("float32 weights", "it is the map of the weights rounded to float32")

    def extra(self, item: int) -> Finding:
        """Return the finding about a point that is inside no region."""
        truth, point = self.truth, self.points[item]
        if not is_finite(point).all():
            message = f"item {item}: a coordinate of the point is not a finite number"
            return Finding("region", "extra", message, item)
        exact = row_of(self.points, item)
        excess = _excess(truth, exact)
        if excess:
            message = f"item {item}: the point lies outside the domain"
            causes = (Cause("box edge", f"it misses a constraint by {number_text(excess)}"),)
            return Finding("region", "extra", message, item, None, exact, excess, "excess", causes)
        cell = truth.cells.locate(exact)
        assert cell is not None
        message = (
            f"item {item}: the point lies in a cell of dimension {cell.dimension}, on the boundary "
            "of regions"
        )
        return Finding("region", "extra", message, item, None, exact)


def _excess(truth: GroundTruth, point: Point) -> Fraction:
    """Return by how much a point misses the domain, as its distance from a half-space."""
    worst = Fraction(0)
    rows = [*truth.domain.inequalities, *truth.domain.equations]
    for number, row in enumerate(rows):
        value = sum((a * x for a, x in zip(row, point, strict=False)), Fraction(-row[-1]))
        if number >= len(truth.domain.inequalities):
            value = abs(value)
        if value > 0:
            worst = max(worst, value / sum(map(abs, row[:-1])))
    return worst


def _tables(claims: LocalMaps, shape: tuple[int, int]) -> Array | None:
    """Return the claimed maps [A | b], or A alone without offsets; None without maps."""
    if claims.matrices is None:
        return None
    if claims.matrices.shape[1:] != shape and len(claims):
        raise ArgumentError(f"matrices: expected shape (regions, {shape[0]}, {shape[1]})")
    if claims.offsets is None:
        return claims.matrices
    if claims.offsets.shape[1:] != shape[:1] and len(claims):
        raise ArgumentError(f"offsets: expected shape (regions, {shape[0]})")
    return np.concatenate([claims.matrices, claims.offsets[:, :, None]], axis=2)


def _floats(numerators: Array, denominator: int) -> Floats:
    """Return the nearest floats of integers over a denominator."""
    flat = [nearest_float(n, denominator) for n in numerators.ravel().tolist()]
    return np.array(flat, dtype=np.float64).reshape(numerators.shape)
