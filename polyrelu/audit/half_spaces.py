"""Regions as half-spaces A x ≤ c: each is compared with the region around a point inside it.

A float row [a | c] stands for a facet if some positive multiple of the exact row is as near to it,
in every entry, as the allowance says. Facets that no row stands for make the claimed set too large.
Rows that stand for no facet must hold on the region, or stand for a neuron or constraint that
vanishes nowhere inside; otherwise they cut a part off.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from polyrelu.audit.allowance import Allowance
from polyrelu.audit.causes import held, sliver, zero_neurons
from polyrelu.audit.claims import HalfSpaces
from polyrelu.audit.comparing import Question
from polyrelu.audit.findings import Cause, Finding
from polyrelu.audit.ground_truth import GroundTruth
from polyrelu.audit.measures import inradius, sign_polyhedron
from polyrelu.audit.region_findings import JudgedRegions, signs_text
from polyrelu.audit.tables import floats_of, is_finite, row_of, with_width
from polyrelu.complex import Cell
from polyrelu.errors import ArgumentError
from polyrelu.exact import Optimal, Polyhedron, RationalMatrix, as_float, nearest_vector
from polyrelu.support.typing import Array, Floats, IntegerRow, Point

__all__ = ["HalfSpaceComparison", "is_multiple"]

#: Number of facets that look most like a claimed row and are compared with it exactly.
_TRIED = 3
#: More than all errors by underflow together; less than the floats that stand for larger numbers.
_UNDERFLOW, _LARGEST = 2.0**-960, 2.0**1000


class HalfSpaceComparison(JudgedRegions):
    """Claimed polyhedra beside the regions that contain a point inside them."""

    subject, items_per_task = "regions as half-spaces", 256

    def __init__(self, truth: GroundTruth, claims: HalfSpaces, question: Question) -> None:
        size = truth.network.num_inputs
        self._size = size
        self._table = with_width(claims.rows, size + 1, "half-spaces [a | c]")
        if truth.domain.dimension != size:
            raise ArgumentError("half-spaces: the domain needs an interior")
        self._starts = claims.starts.tolist()
        super().__init__(truth, claims, question)

    @cached_property
    def _facets(self) -> _FacetRows:
        return _FacetRows(self.truth)

    def judge(self, items: range) -> list[tuple[int, bool]]:
        """Return the region around a point inside each item, and whether its rows describe it."""
        points = [self._point_inside(item) for item in items]
        known = np.array([point is not None for point in points], dtype=bool)
        regions = np.full(len(points), -1, dtype=np.int64)
        inside = [point for point in points if point is not None]
        if inside:
            regions[known] = self.truth.regions_at(np.array(inside, dtype=object))[0]
        pairs = zip(items, regions.tolist(), strict=True)
        return [(region, region >= 0 and not self._describes(k, region)) for k, region in pairs]

    def _rows(self, item: int) -> Array:
        return self._table[self._starts[item] : self._starts[item + 1]]

    def _polyhedron(self, item: int) -> Polyhedron | None:
        """Return the claimed set exactly; None if an entry is not a number."""
        rows = self._rows(item)
        if not is_finite(rows).all():
            return None
        exact = [row_of(rows, i) for i in range(len(rows))]
        return Polyhedron.from_constraints(
            [row[:-1] for row in exact], [row[-1] for row in exact], ambient_dimension=self._size
        )

    def _point_inside(self, item: int) -> Point | None:
        claimed = self._polyhedron(item)
        return None if claimed is None else claimed.interior_point()

    def _describes(self, item: int, region: int) -> bool:
        """Return whether the rows stand for all facets and cut nothing off."""
        facets, others = self._unmatched(item, region)
        return not facets and not self._cutting(item, region, others)

    def _unmatched(self, item: int, region: int) -> tuple[list[int], list[int]]:
        """Return the facets that no row stands for, and the rows that stand for no facet."""
        rows = self._rows(item)
        numbers = self._facets.of(region)
        floats = self._facets.floats(region)
        with np.errstate(all="ignore"):
            claimed = _normalised(floats_of(rows))
            order = np.abs(claimed[:, None, :] - floats[None]).max(axis=2).argsort(axis=1)
        open_facets, others = set(numbers), list[int]()
        for i, near in enumerate(order[:, :_TRIED].tolist()):
            row = row_of(rows, i)
            stands_for = (
                numbers[k]
                for k in near
                if is_multiple(row, self._facets.row(region, numbers[k]), self.question.allowance)
            )
            found = next(stands_for, None)
            if found is None:
                others.append(i)
            else:
                open_facets.discard(found)
        return sorted(open_facets), others

    def _cutting(self, item: int, region: int, others: Iterable[int]) -> list[tuple[int, Point]]:
        """Return the rows that cut a part off a region, each with a vertex or point beyond it."""
        rows, cutting = self._rows(item), []
        allowed: Sequence[IntegerRow] | None = None
        for i in others:
            row = row_of(rows, i)
            beyond = self._beyond(row, region)
            if beyond is None:
                continue
            if allowed is None:
                signs = self.truth.region_signs[region].tolist()
                cell = sign_polyhedron(self.truth.network, self.truth.domain, signs)
                allowed = cell.inequalities
            if not any(is_multiple(row, known, self.question.allowance) for known in allowed):
                cutting.append((i, beyond))
        return cutting

    def _beyond(self, row: Sequence[Fraction], region: int) -> Point | None:
        """Return a point of a region where a·x > c; None if there is none."""
        a, c = row[:-1], row[-1]
        numbers = self.truth.vertices_of(region)
        floats, weights, right = self.truth.vertex_floats[numbers], nearest_vector(a), as_float(c)
        with np.errstate(all="ignore"):
            values = floats @ weights - right
            bounds = _rounding_bounds(floats, weights, right)
        for k in np.flatnonzero(~(values < -bounds)).tolist():
            vertex = self.truth.vertices[int(numbers[k])]
            if sum((x * y for x, y in zip(a, vertex, strict=True)), Fraction()) > c:
                return vertex
        if self.truth.cells.bounded[region]:
            return None
        return _along_rays(self.truth, region, a, c)

    def wrong(self, item: int, exact: int) -> Finding:
        """Return the finding about rows that describe another set than the region."""
        facets, others = self._unmatched(item, exact)
        cutting = self._cutting(item, exact, others)
        text = signs_text(self.truth, exact)
        if cutting:
            number, point = cutting[0]
            row = row_of(self._rows(item), number)
            value = sum((a * x for a, x in zip(row, point, strict=False)), -row[-1])
            size = value / (sum(map(abs, row[:-1])) or 1)
            message = f"item {item}: row {number} cuts a part off the region {text}"
            return self._finding(item, exact, message, point, size)
        row_text = self._facets.row(exact, facets[0])
        farthest, gap = self._outside(item, row_text)
        message = f"item {item}: no row stands for one of the facets of the region {text}"
        return self._finding(item, exact, message, farthest, gap)

    def _outside(self, item: int, facet: IntegerRow) -> tuple[Point | None, Fraction | None]:
        """Return a claimed point beyond a facet, the farthest if possible, and its distance."""
        claimed = self._polyhedron(item)
        assert claimed is not None
        best = claimed.maximize(facet[:-1])
        if not isinstance(best, Optimal) or best.value <= facet[-1]:
            return self._point_inside(item), None
        return tuple(best.point), (best.value - facet[-1]) / sum(map(abs, facet[:-1]))

    def _finding(
        self, item: int, exact: int, message: str, point: Point | None, size: Fraction | None
    ) -> Finding:
        radius = inradius(self.truth.cells.region_polyhedron(exact))
        causes = held(
            sliver(radius[0] if radius else None, self.question.tolerance),
            zero_neurons(self.truth, exact),
        )
        name = "" if size is None else "distance"
        return Finding("region", "wrong", message, item, exact, point, size, name, causes)

    def extra(self, item: int) -> Finding:
        """Return the finding about rows without a point inside a region."""
        point = self._point_inside(item)
        if point is None:
            is_number = is_finite(self._rows(item)).all()
            problem = "the rows have no point strictly inside" if is_number else "an entry is NaN"
            return Finding("region", "extra", f"item {item}: {problem}", item)
        if self.truth.domain.contains(point):
            message = f"item {item}: a point strictly inside it is on the boundary of regions"
            return Finding("region", "extra", message, item, None, point)
        message = f"item {item}: it reaches outside the domain"
        cause = Cause("box edge", "a point strictly inside it violates a constraint of the domain")
        return Finding("region", "extra", message, item, None, point, causes=(cause,))


class _FacetRows:
    """The inequalities [a | c] of the facets of all regions, over the coordinates x."""

    def __init__(self, truth: GroundTruth) -> None:
        cells = truth.cells
        self._truth = truth
        self._offsets, self._entries = cells.facets(cells.dimension)
        forms = cells.facet_forms(np.arange(cells.size(cells.dimension - 1)))
        in_x = RationalMatrix.from_integers(forms.rows, ncols=cells.frame.dimension + 1)
        self._rows = [tuple(row) for row in (in_x @ cells.frame.coordinates).primitive_rows()]
        self._columns, self._which = forms.columns, forms.which
        exact = np.array([[float(Fraction(x)) for x in _scaled(row)] for row in self._rows])
        self._floats = exact.reshape(len(self._rows), truth.network.num_inputs + 1)

    def of(self, region: int) -> list[int]:
        """Return the forms of the facets of a region."""
        facets = self._entries[self._offsets[region] : self._offsets[region + 1]]
        return list(dict.fromkeys(self._which[facets].tolist()))

    def _side(self, region: int, number: int) -> int:
        """Return the sign of a form inside a region."""
        column = int(self._columns[number])
        return 1 if column < 0 else int(self._truth.region_signs[region, column])

    def row(self, region: int, number: int) -> IntegerRow:
        """Return [a | c] with a·x ≤ c on a region."""
        side, (*form, constant) = self._side(region, number), self._rows[number]
        return (*(-side * entry for entry in form), side * constant)

    def floats(self, region: int) -> Floats:
        """Return the rows of a region in floats, each divided by its largest entry."""
        numbers = self.of(region)
        sides = np.array([self._side(region, number) for number in numbers], dtype=np.float64)
        rows = self._floats[numbers] * sides[:, None]
        rows[:, :-1] *= -1
        return rows


def _rounding_bounds(points: Floats, weights: Floats, right: float) -> Floats:
    """Return bounds on the errors of a·x - c, all numbers being rounded to floats.

    With n products, each of two rounded numbers, and n additions in any order the error is at most
    (n + 4) u / (1 - (n + 4) u) times the sum of the absolute values, where u is the unit roundoff;
    4 more are for the rounding of the bound, and the summand is for underflow. The bound is
    infinite where numbers may be too large for a float.
    """
    sizes = np.abs(points) @ np.abs(weights) + abs(right)
    bounds = (len(weights) + 8) * 2.0**-53 * sizes + _UNDERFLOW
    largest = max(np.abs(weights).max(initial=0.0), abs(right))
    is_usable = (np.abs(points).max(axis=1, initial=0.0) < _LARGEST) & (largest < _LARGEST)
    return np.asarray(np.where(is_usable, bounds, np.inf))


def _scaled(row: IntegerRow) -> list[Fraction]:
    """Return a row divided by its largest entry."""
    largest = max(map(abs, row)) or 1
    return [Fraction(entry, largest) for entry in row]


def _normalised(rows: Floats) -> Floats:
    """Return float rows divided by their largest entries."""
    return np.asarray(rows / np.abs(rows).max(axis=1, keepdims=True, initial=1e-300))


def is_multiple(claimed: Sequence[Fraction], exact: IntegerRow, allowance: Allowance) -> bool:
    """Return whether a positive multiple of an exact row is within the allowance of a claimed row.

    >>> is_multiple([Fraction(0.1), Fraction(0.2)], (1, 2), Allowance())
    True
    """
    low, high = Fraction(0), None
    for value, right in zip(claimed, exact, strict=True):
        bound = allowance.bound(value)
        if not right:
            if abs(value) > bound:
                return False
            continue
        ends = sorted(((value - bound) / right, (value + bound) / right))
        low, high = max(low, ends[0]), ends[1] if high is None else min(high, ends[1])
        if low > high or high <= 0:
            return False
    return high is not None


def _along_rays(
    truth: GroundTruth, region: int, a: Sequence[Fraction], c: Fraction
) -> Point | None:
    """Return a point of an unbounded region where a·x > c, along one of its rays or lines."""
    cells = truth.cells
    points, rays = cells.vertices_and_rays(Cell(cells.dimension, region))
    lines = [direction for line in cells.lineality for direction in (line, [-x for x in line])]
    for start in points:
        value = sum((x * y for x, y in zip(a, start, strict=True)), Fraction())
        if value > c:
            return tuple(start)
        for ray in [*rays, *lines]:
            slope = sum((x * y for x, y in zip(a, ray, strict=True)), Fraction())
            if slope > 0:
                step = (c - value) / slope + 1
                return tuple(x + step * y for x, y in zip(start, ray, strict=True))
    return None
