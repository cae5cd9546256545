"""Points, edges and polygons of a complex inside the box of a picture, exactly.

A cell of dimension 2 is the cycle of its vertices, which its edges order; vertices at infinity take part. In
homogeneous coordinates (x, t), t = 1 at points and 0 at directions, the cycle spans a pointed cone, and a side of the
box cuts it like a polygon: vertices outside are dropped, and where the cycle passes through the side, the positive
combination of the two neighbours on it comes in.

Cells that contain lines are cut to the strip lo ≤ x ≤ hi of as many axes as there are lines before: then they contain
none, and every point of a minimal face stands for the two ends of a segment, or the four corners of a parallelogram.

Vertices are solved for exactly, which takes time in large networks. `for_picture` takes instead the floats that the
complex is certain of, where they are within 2^-20 of the length of the shortest side: nobody sees the difference. The
same cells are seen, with as many corners, for every point knows how far off it may be, and where that leaves open on
which side of the frame a point lies the vertices of the cell are solved for after all.

**How far off.** Let p, q be off by at most d, e in each coordinate, V > 0 > W their distances to a side of the frame
with their signs. The point on the side is p + λ (q - p), λ = V / (V - W), and as V and W are off by at most d and e,
λ is off by at most δ = max(d, e) / (V - W - d - e). So the point is off by at most max(d, e) + (|q - p| + d + e) δ,
|·| the largest coordinate. If q is a direction, which is always exact, it is p + V/|W| q, and off by d + |q| d / |W|.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

from polyrelu.complex import Cell, PolyhedralComplex
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix, column_basis, positive_primitive, solve
from polyrelu.plot.view import View
from polyrelu.support.typing import IntegerRow, Point

__all__ = ["Clipped", "floats"]


#: Parameters of networks whose vertices are all solved for exactly.
_MODERATE = 20_000

#: What part of a side of the frame cannot be seen.
_UNSEEN = Fraction(1, 2**20)


@dataclass(frozen=True, slots=True)
class _Corner:
    """A point or direction in homogeneous coordinates, and how far off its coordinates may be; 0 if it is exact."""

    row: IntegerRow
    error: Fraction = Fraction(0)

    def distance(self, side: IntegerRow) -> Fraction:
        """To a side of the frame, positive inside; for a direction how fast that grows. Certain in its sign.

        Raises
        ------
        _UnsureError : the sign is open.
        """
        value = sum(a * x for a, x in zip(side, self.row, strict=True))
        scale = sum(map(abs, side[:-1])) * (self.row[-1] or 1)  # only one entry of a side is not 0
        found = Fraction(value, scale)
        if self.error and abs(found) <= self.error:
            raise _UnsureError
        return found


class _UnsureError(Exception):
    """Floats do not tell on which side of the frame a point lies."""


class Clipped:
    """The cells of a complex inside the box of a view, in the coordinates of its axes.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.plot.view import view_of
    >>> cells = canonical_complex(from_arrays([([[1, 1]], [0]), ([[1]], [0])]))    # two half-planes
    >>> inside = Clipped(cells, view_of(cells, [0, 1]))
    >>> [[tuple(map(str, point)) for point in inside.cell(2, index)] for index in range(2)]
    [[('0', '0'), ('1', '0'), ('1', '1'), ('0', '1')], []]
    """

    def __init__(self, cells: PolyhedralComplex, view: View, exact: bool = True) -> None:
        """`view` is one of the complex; see `for_picture` on `exact`."""
        if cells.dimension != view.dimension:
            raise DomainError(
                f"a view with {view.dimension} axes of a complex of dimension {cells.dimension}"
            )
        self.cells, self.view = cells, view
        self._sides = view.sides
        rows = [*view.axes, cells.network.inputs]
        self._embedding = cells.frame.embedding.take(rows=rows).integer_rows()
        self._strip, self._lines = _strip_of(cells, view)
        self._known: dict[int, _Corner] = {}
        self._unseen = (
            min(high - low for low, high in zip(view.lower, view.upper, strict=True)) * _UNSEEN
        )
        #: how far off the coordinates of a vertex may be, for each unit of its radius; None if all are solved for
        self._scale: Fraction | None = None
        if not (exact or self._strip):
            largest = max(abs(entry) for row in self._embedding for entry in row)
            self._scale = Fraction(largest * len(self._embedding[0]), self._embedding[-1][-1])

    @classmethod
    def for_picture(cls, cells: PolyhedralComplex, view: View) -> Clipped:
        """Exact in networks of a moderate size, and as exact as a picture can show in large ones."""
        return cls(cells, view, exact=cells.network.parameters <= _MODERATE)

    def cell(self, dimension: int, index: int) -> list[Point]:
        """A cell of dimension 0, 1 or 2 inside the box.

        Returns
        -------
        The point, the two ends, or the corners in cyclic order; nothing if the part inside has a lower dimension.
        """
        try:
            path = self._inside(dimension, index)
        except _UnsureError:
            for vertex in self._corners(dimension, index):
                self._known[vertex] = self._solved(vertex)
            path = self._inside(dimension, index)
        points = _distinct(
            [tuple(Fraction(entry, end.row[-1]) for entry in end.row[:-1]) for end in path]
        )
        return points if len(points) > dimension else []

    def _inside(self, dimension: int, index: int) -> list[_Corner]:
        """The path of a cell, cut by all sides."""
        path = self._path(dimension, index)
        for side in self._sides:
            path = _cut(path, side, closed=dimension == 2)
        if any(corner.error > self._unseen for corner in path):
            raise _UnsureError
        return path

    def meets(self, region: int) -> bool:
        """Whether a region of the complex and the inside of the box have points in common."""
        point = self.cells.interior_point(region)
        axes, lower, upper = self.view.axes, self.view.lower, self.view.upper
        if all(
            low < point[axis] < high for axis, low, high in zip(axes, lower, upper, strict=True)
        ):
            return True
        closure = self.cells.region_polyhedron(region)
        return (
            closure.intersect(self.view.box_in(closure.ambient_dimension)).dimension
            == self.cells.dimension
        )

    def all_cells(
        self, dimension: int, indices: Sequence[int]
    ) -> Iterator[tuple[int, list[Point]]]:
        """Those of the cells that are seen, with their numbers."""
        for index in indices:
            if points := self.cell(dimension, index):
                yield index, points

    def on_frame(self, points: Sequence[Point]) -> bool:
        """Whether all points lie on one side of the box."""
        return any(
            all(
                sum((a * x for a, x in zip(side, point, strict=False)), Fraction(side[-1])) == 0
                for point in points
            )
            for side in self._sides
        )

    def _corners(self, dimension: int, index: int) -> Sequence[int]:
        """The numbers of the generators of a cell."""
        generators, cell = self.cells.generators, Cell(dimension, index)
        is_polygon = dimension == self.cells.lineality_dim + 2
        return generators.cycle(cell) if is_polygon else generators.of(cell)

    def _path(self, dimension: int, index: int) -> list[_Corner]:
        """The corners in homogeneous coordinates, before any side has cut; in a strip if there are lines."""
        found = [self._spread(self._corner(vertex)) for vertex in self._corners(dimension, index)]
        if len(found) == 2 and dimension == 2:  # go back along the second one
            found[1].reverse()
        return [corner for corners in found for corner in corners]

    def _corner(self, vertex: int) -> _Corner:
        if vertex not in self._known:
            self._known[vertex] = self._near(vertex) or self._solved(vertex)
        return self._known[vertex]

    def _solved(self, vertex: int) -> _Corner:
        return _Corner(self._embedded(self.cells.generators.exact(vertex)))

    def _embedded(self, y: Sequence[int]) -> IntegerRow:
        return positive_primitive(
            [sum(a * b for a, b in zip(row, y, strict=True)) for row in self._embedding]
        )

    def _near(self, vertex: int) -> _Corner | None:
        """A point as far as floats know it; None where that is not enough, and of directions."""
        (*y, t), radius = self.cells.generators.approximate(vertex)
        if self._scale is None or t != 1 or not math.isfinite(radius):
            return None
        error = self._scale * Fraction(radius)
        if error > self._unseen:
            return None
        row = self._embedded(_integers([Fraction(entry) for entry in (*y, t)]))
        for entry, low, high in zip(row, self.view.lower, self.view.upper, strict=False):
            x = Fraction(entry, row[-1])
            if (
                min(abs(x - low), abs(x - high)) <= error
            ):  # then it is solved for, and not the whole cell
                return None
        return _Corner(row, error)

    def _spread(self, corner: _Corner) -> list[_Corner]:
        """The point itself; with lines, where those through it enter and leave the strip. A direction is turned to
        one along the strip."""
        if not self._strip:
            return [corner]
        row = corner.row
        bounds = [(self.view.lower[j], self.view.upper[j]) for j in self._strip]
        found = []
        for ends in _around(bounds) if row[-1] else [(Fraction(),) * len(bounds)]:
            moved = [Fraction(entry) for entry in row]
            for j, bound, line in zip(self._strip, ends, self._lines, strict=True):
                step = row[-1] * bound - row[j]
                moved = [a + step * b for a, b in zip(moved, (*line, Fraction()), strict=True)]
            found.append(_Corner(_integers(moved)))
        return found


def floats(points: Sequence[Point]) -> list[tuple[float, ...]]:
    """The nearest floats.

    Raises
    ------
    DomainError : a coordinate is beyond the range of floats.
    """
    try:
        return [tuple(entry.numerator / entry.denominator for entry in point) for point in points]
    except OverflowError:
        raise DomainError(
            "a coordinate is beyond the range of floats (about 1.8e308): give a smaller box, or a smaller domain"
        ) from None


def _strip_of(cells: PolyhedralComplex, view: View) -> tuple[list[int], list[Point]]:
    """Axes along which the lines of the complex can be told apart, and lines that go along one of them each."""
    if not cells.lineality:
        return [], []
    lines = RationalMatrix.from_integers(
        [[line[axis] for axis in view.axes] for line in cells.lineality]
    )
    strip = list(column_basis(lines))
    inverse = solve(lines.take(columns=strip), RationalMatrix.identity(len(strip)))
    if inverse is None:
        raise AssertionError("the axes tell the lines apart")
    return strip, [tuple(row) for row in (inverse @ lines).rows()]


def _around(bounds: Sequence[tuple[Fraction, Fraction]]) -> list[Point]:
    """The corners of an interval or a rectangle, in cyclic order."""
    corners: list[Point] = list(product(*bounds))
    return (
        corners
        if len(corners) < 4
        else [corners[0], corners[1], corners[3], corners[2], *corners[4:]]
    )


def _cut(path: Sequence[_Corner], side: IntegerRow, closed: bool) -> list[_Corner]:
    """The part of a path, or of the polygon in a closed one, where a side is not negative."""
    values = [corner.distance(side) for corner in path]
    if all(value >= 0 for value in values):
        return list(path)
    found = []
    steps = list(pairwise(zip(path, values, strict=True)))
    if closed and path:
        steps.append(((path[-1], values[-1]), (path[0], values[0])))
    for (corner, value), (after, next_value) in steps:
        if value >= 0:
            found.append(corner)
        if value * next_value < 0:
            found.append(_between(corner, value, after, next_value))
    if not closed and values[-1] >= 0:
        found.append(path[-1])
    return found


def _between(one: _Corner, value: Fraction, other: _Corner, other_value: Fraction) -> _Corner:
    """The point on a side of the frame, of which two corners have distances of different signs."""
    factors = abs(other_value) * (other.row[-1] or 1), abs(value) * (one.row[-1] or 1)
    row = _integers(
        [factors[0] * a + factors[1] * b for a, b in zip(one.row, other.row, strict=True)]
    )
    return _Corner(
        row,
        _error_between(one, value, other, other_value) if one.error or other.error else Fraction(0),
    )


def _error_between(
    one: _Corner, value: Fraction, other: _Corner, other_value: Fraction
) -> Fraction:
    """How far off that point is; see the module."""
    if not one.row[-1]:
        one, value, other, other_value = other, other_value, one, value
    larger = max(one.error, other.error)
    if not other.row[-1]:
        return larger + max(map(abs, other.row)) * larger / abs(other_value)
    apart = (
        abs(value) + abs(other_value) - one.error - other.error
    )  # positive, as the signs are certain
    steps = (
        Fraction(a, one.row[-1]) - Fraction(b, other.row[-1])
        for a, b in zip(one.row, other.row, strict=True)
    )
    return larger + (max(map(abs, steps)) + one.error + other.error) * larger / apart


def _integers(row: Sequence[Fraction]) -> IntegerRow:
    """A positive multiple, in integers."""
    common = math.lcm(*(entry.denominator for entry in row))
    return positive_primitive([entry.numerator * (common // entry.denominator) for entry in row])


def _distinct(points: Sequence[Point]) -> list[Point]:
    """Without the repetitions that cuts through a vertex make; they stand next to each other."""
    return list(dict.fromkeys(points))
