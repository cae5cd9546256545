"""Points, edges and polygons of a complex inside the box of a picture, exactly.

Every module that draws takes the shapes of cells from here. Results are rational, and cells are
never dropped or kept by mistake, because every decision about the frame is one about exact signs.
The floats that large networks use instead of exact vertices carry error bounds (below); a change of
the arithmetic has to keep these bounds valid.

**Cutting.** A cell of dimension 2 is the cycle of its vertices, in the order that its edges give;
vertices at infinity take part. In homogeneous coordinates (x, t), with t = 1 at points and t = 0 at
directions, the cycle spans a pointed cone, and a side of the box cuts this cone like a polygon: the
vertices outside are dropped, and where the cycle passes through the side, the positive combination
of the two neighbours that lies on the side comes in.

**Lines.** If the cells contain lines, the complex is cut to a strip first: lo ≤ x ≤ hi for as many
axes as the lineality space has dimensions. The cells of the strip contain no lines, and each point
of a minimal face becomes the two ends of a segment, or the four corners of a parallelogram.

**Floats.** Solving for vertices exactly takes time in large networks. `Clipped.for_picture` takes
instead the floats of the complex where their certain error is at most 2^-20 of the shortest side
of the frame, which is less than a picture shows. The cells and the numbers of their corners are the
same as with exact vertices: each point knows its error, and where the error leaves open on which
side of the frame a point lies, the vertices of the cell are solved for exactly.

**Errors.** Let p and q be points with errors at most d and e in each coordinate, and V > 0 > W
their signed distances to a side of the frame. The point on the side is p + λ (q - p) with
λ = V / (V - W). As V and W have errors at most d and e, λ has an error of at most
δ = max(d, e) / (V - W - d - e). So the point has an error of at most
max(d, e) + (|q - p| + d + e) δ, where |·| is the largest absolute coordinate. If q is a direction,
which is always exact, the point is p + V/|W| q, with an error of at most d + |q| d / |W|.
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


#: Maximum number of parameters of networks whose vertices are all solved for exactly.
_EXACT_PARAMETERS = 20_000

#: The part of a side of the frame that a picture does not show.
_INVISIBLE_PART = Fraction(1, 2**20)


@dataclass(frozen=True, slots=True)
class _Corner:
    """A point or direction in homogeneous coordinates, with an error bound.

    Attributes
    ----------
    row
        Integers (x, t); the point is x / t, and t = 0 at a direction.
    error
        Bound of the error in each coordinate of the point; 0 if the point is exact.
    """

    row: IntegerRow
    error: Fraction = Fraction(0)

    def distance(self, side: IntegerRow) -> Fraction:
        """Return the distance to a side of the frame, positive inside; its sign is certain.

        For a direction it is the growth of this distance along the direction.

        Raises
        ------
        _UnsureError
            The error of the point leaves the sign open.
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
    >>> cells = canonical_complex(from_arrays([([[1, 1]], [0]), ([[1]], [0])]))  # two half-planes
    >>> inside = Clipped(cells, view_of(cells, [0, 1]))
    >>> [[tuple(map(str, point)) for point in inside.cell(2, index)] for index in range(2)]
    [[('0', '0'), ('1', '0'), ('1', '1'), ('0', '1')], []]
    """

    def __init__(self, cells: PolyhedralComplex, view: View, exact: bool = True) -> None:
        """Clip `cells` to `view`, a view of the same complex; see `for_picture` about `exact`."""
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
        self._tolerance = (
            min(high - low for low, high in zip(view.lower, view.upper, strict=True))
            * _INVISIBLE_PART
        )
        #: Error of the coordinates of a vertex for each unit of its radius; None if all vertices
        #: are solved for exactly.
        self._error_scale: Fraction | None = None
        if not (exact or self._strip):
            largest = max(abs(entry) for row in self._embedding for entry in row)
            self._error_scale = Fraction(largest * len(self._embedding[0]), self._embedding[-1][-1])

    @classmethod
    def for_picture(cls, cells: PolyhedralComplex, view: View) -> Clipped:
        """Return clipped cells, exact up to what a picture shows if the network is large."""
        return cls(cells, view, exact=cells.network.parameters <= _EXACT_PARAMETERS)

    def cell(self, dimension: int, index: int) -> list[Point]:
        """Return a cell of dimension 0, 1 or 2 inside the box.

        Returns
        -------
        list of Point
            The point, the two ends, or the corners in cyclic order; nothing if the part inside the
            box has a lower dimension than the cell.
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
        """Return the path of a cell, cut by all sides of the box."""
        path = self._path(dimension, index)
        for side in self._sides:
            path = _cut(path, side, closed=dimension == 2)
        if any(corner.error > self._tolerance for corner in path):
            raise _UnsureError
        return path

    def meets(self, region: int) -> bool:
        """Return whether a region of the complex meets the interior of the box."""
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
        """Yield the cells that meet the box: each index with the points of the cell."""
        for index in indices:
            if points := self.cell(dimension, index):
                yield index, points

    def on_frame(self, points: Sequence[Point]) -> bool:
        """Return whether all points lie on one side of the box."""
        return any(
            all(
                sum((a * x for a, x in zip(side, point, strict=False)), Fraction(side[-1])) == 0
                for point in points
            )
            for side in self._sides
        )

    def _corners(self, dimension: int, index: int) -> Sequence[int]:
        """Return the generators of a cell, by their numbers; in cyclic order for a polygon."""
        generators, cell = self.cells.generators, Cell(dimension, index)
        is_polygon = dimension == self.cells.lineality_dim + 2
        return (
            generators.numbers_in_cyclic_order(cell) if is_polygon else generators.numbers_of(cell)
        )

    def _path(self, dimension: int, index: int) -> list[_Corner]:
        """Return the corners before any side has cut; within the strip if there are lines."""
        found = [
            self._ends_in_strip(self._corner(vertex)) for vertex in self._corners(dimension, index)
        ]
        if len(found) == 2 and dimension == 2:  # a quadrilateral goes back along the second side
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
        """Return a vertex by its floats, with their error.

        It is None for directions, where the error is too large, and where the error leaves open on
        which side of the frame the vertex lies; then the vertex is solved for exactly.
        """
        (*y, t), radius = self.cells.generators.approximate(vertex)
        if self._error_scale is None or t != 1 or not math.isfinite(radius):
            return None
        error = self._error_scale * Fraction(radius)
        if error > self._tolerance:
            return None
        row = self._embedded(_integers([Fraction(entry) for entry in (*y, t)]))
        for entry, low, high in zip(row, self.view.lower, self.view.upper, strict=False):
            x = Fraction(entry, row[-1])
            # Only this vertex is solved for exactly, not the whole cell.
            if min(abs(x - low), abs(x - high)) <= error:
                return None
        return _Corner(row, error)

    def _ends_in_strip(self, corner: _Corner) -> list[_Corner]:
        """Return the points where the lines through a corner enter and leave the strip.

        Without lines it is the corner itself. A direction is moved along the lines until it is
        parallel to the strip.
        """
        if not self._strip:
            return [corner]
        row = corner.row
        bounds = [(self.view.lower[j], self.view.upper[j]) for j in self._strip]
        found = []
        for ends in _corners_of_box(bounds) if row[-1] else [(Fraction(),) * len(bounds)]:
            moved = [Fraction(entry) for entry in row]
            for j, bound, line in zip(self._strip, ends, self._lines, strict=True):
                step = row[-1] * bound - row[j]
                moved = [a + step * b for a, b in zip(moved, (*line, Fraction()), strict=True)]
            found.append(_Corner(_integers(moved)))
        return found


def floats(points: Sequence[Point]) -> list[tuple[float, ...]]:
    """Return the floats nearest to exact coordinates.

    Raises
    ------
    DomainError
        A coordinate is beyond the range of floats.
    """
    try:
        return [tuple(entry.numerator / entry.denominator for entry in point) for point in points]
    except OverflowError:
        raise DomainError(
            "a coordinate is beyond the range of floats (about 1.8e308): give a smaller box, "
            "or a smaller domain"
        ) from None


def _strip_of(cells: PolyhedralComplex, view: View) -> tuple[list[int], list[Point]]:
    """Return axes that tell the lines of the complex apart, and a basis of the lines for them.

    The i-th line of the basis moves the i-th of these axes by 1, and the other ones not at all.
    """
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


def _corners_of_box(bounds: Sequence[tuple[Fraction, Fraction]]) -> list[Point]:
    """Return the ends of an interval, or the corners of a rectangle in cyclic order."""
    corners: list[Point] = list(product(*bounds))
    return (
        corners
        if len(corners) < 4
        else [corners[0], corners[1], corners[3], corners[2], *corners[4:]]
    )


def _cut(path: Sequence[_Corner], side: IntegerRow, closed: bool) -> list[_Corner]:
    """Return the part of a path, or of the polygon that it bounds, on the inner side of a side."""
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
    """Return the point on a side of the frame between two corners on different sides of it."""
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
    """Return the error bound of this point; the text of the module proves it."""
    if not one.row[-1]:
        one, value, other, other_value = other, other_value, one, value
    larger = max(one.error, other.error)
    if not other.row[-1]:
        return larger + max(map(abs, other.row)) * larger / abs(other_value)
    # This is positive, because the signs of the distances are certain.
    apart = abs(value) + abs(other_value) - one.error - other.error
    steps = (
        Fraction(a, one.row[-1]) - Fraction(b, other.row[-1])
        for a, b in zip(one.row, other.row, strict=True)
    )
    return larger + (max(map(abs, steps)) + one.error + other.error) * larger / apart


def _integers(row: Sequence[Fraction]) -> IntegerRow:
    """Return a positive multiple of a row, in coprime integers."""
    common = math.lcm(*(entry.denominator for entry in row))
    return positive_primitive([entry.numerator * (common // entry.denominator) for entry in row])


def _distinct(points: Sequence[Point]) -> list[Point]:
    """Return the points without repetitions, which come from cuts through a vertex."""
    return list(dict.fromkeys(points))
