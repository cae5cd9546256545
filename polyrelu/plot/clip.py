"""Points, edges and polygons of a complex, cut by the box of a picture.

Every module that draws takes the shapes of cells from here. A cell is kept if and only if its part
inside the box has the dimension of the cell, which is always decided exactly. The coordinates are
rational numbers: exact ones in small networks, and in large networks floats within an error that no
picture shows (below). A change of the arithmetic has to keep these error bounds valid.

The *box* is the product of the intervals that the picture shows (`View.lower`, `View.upper`). A
*side* of the box is one of its bounding hyperplanes, a row [a | b] with a·x + b ≥ 0 inside. The
*generators* of a cell are its vertices and ray directions, by their numbers in the complex
(`CellGenerators`). A *corner* is a generator in the coordinates of the picture, or a point where a
side has cut the cell. A cell becomes a *path* of corners, and each side cuts the path.

**Cutting.** A cell of dimension 2 is the cycle of its generators, in the order that its edges give;
directions, as vertices at infinity, take part. In homogeneous coordinates (x, t), with t = 1 at
points and t = 0 at directions, the cycle spans a pointed cone, and a side of the box cuts this cone
like a polygon: corners outside are dropped, and where the cycle passes through the side, the
positive combination of the two neighbours that lies on the side is inserted.

**Lines.** If the cells contain lines, the complex is first cut to a strip: lo ≤ x ≤ hi for as many
axes as the lineality space has dimensions. The cells of the strip contain no lines, and each point
of a minimal face becomes the two ends of a segment, or the four corners of a parallelogram.

**Floats.** The exact coordinates of vertices take a long time in large networks. There
`Clipped.for_picture` takes the floats of the complex, if their certain error is at most 2^-20 of
the shortest edge of the box, which is less than a picture shows. Each corner has an error bound. If
the bound leaves open whether a corner lies inside a side of the box, the vertices of the cell are
computed exactly. So the same cells are kept, with the same numbers of corners, as with exact
vertices.

**Errors.** Let p and q be points with errors at most d and e in each coordinate, and V > 0 > W
their signed distances to a side of the box. The point on the side is p + λ (q - p) with
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
from typing import TypeVar

from polyrelu.complex import Cell, PolyhedralComplex
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix, column_basis, positive_primitive, solve
from polyrelu.plot.view import View
from polyrelu.support.progress import Progress, SizedIterable, reported
from polyrelu.support.typing import IntegerRow, Point

__all__ = ["Clipped", "floats"]

_T = TypeVar("_T")


#: Maximum number of parameters of networks whose vertices are all computed exactly.
_EXACT_PARAMETERS = 20_000

#: The part of the shortest edge of the box that a picture does not show.
_INVISIBLE_PART = Fraction(1, 2**20)


@dataclass(frozen=True, slots=True)
class _Corner:
    """A corner of a cell: a point or direction in homogeneous coordinates, with an error bound.

    Attributes
    ----------
    row
        Integers (x, t); the point is x / t, and t = 0 at a direction.
    error
        Bound on the error in each coordinate of the point; 0 if the point is exact.
    """

    row: IntegerRow
    error: Fraction = Fraction(0)

    def distance(self, side: IntegerRow) -> Fraction:
        """Return the signed distance to a side of the box, positive inside; its sign is certain.

        For a direction this is the rate at which the distance grows along the direction.

        Raises
        ------
        _UndecidedSideError
            The error of the point leaves the sign open.
        """
        value = sum(a * x for a, x in zip(side, self.row, strict=True))
        scale = sum(map(abs, side[:-1])) * (self.row[-1] or 1)  # only one entry of a side is not 0
        distance = Fraction(value, scale)
        if self.error and abs(distance) <= self.error:
            raise _UndecidedSideError
        return distance


class _UndecidedSideError(Exception):
    """The error of a point leaves open whether the point lies inside a side of the box."""


class Clipped:
    """The cells of a complex, cut by the box of a view, in the coordinates of its axes.

    Attributes
    ----------
    cells
        The complex.
    view
        The axes and the box.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.plot.view import view_of
    >>> cells = canonical_complex(from_arrays([([[1, 1]], [0]), ([[1]], [0])]))  # two half-planes
    >>> inside = Clipped(cells, view_of(cells, box=[0, 1]))
    >>> [[tuple(map(str, point)) for point in inside.cell(2, index)] for index in range(2)]
    [[('0', '0'), ('1', '0'), ('1', '1'), ('0', '1')], []]
    """

    def __init__(
        self,
        cells: PolyhedralComplex,
        view: View,
        exact: bool = True,
        progress: Progress | None = None,
    ) -> None:
        """Make the cells of a complex in a view of this complex.

        If `exact` is False, floats take the place of exact vertices; see the module's docstring.
        Cells that are cut one after the other are reported to `progress`.
        """
        if cells.dimension != view.dimension:
            raise DomainError(
                f"a view with {view.dimension} axes of a complex of dimension {cells.dimension}"
            )
        self.cells, self.view = cells, view
        self._progress, self._sides = progress, view.sides
        rows = [*view.axes, cells.network.num_inputs]
        self._embedding = cells.frame.embedding.take(rows=rows).integer_rows()
        self._strip, self._lines = _strip_of(cells, view)
        #: The corners of the generators so far, by the number of the generator.
        self._corners: dict[int, _Corner] = {}
        #: Maximum error of a coordinate in the picture.
        self._max_error = (
            min(high - low for low, high in zip(view.lower, view.upper, strict=True))
            * _INVISIBLE_PART
        )
        #: The error of the coordinates of a vertex in the picture divided by its radius in the
        #: complex; None if all vertices are computed exactly.
        self._error_scale: Fraction | None = None
        if not (exact or self._strip):
            largest = max(abs(entry) for row in self._embedding for entry in row)
            self._error_scale = Fraction(largest * len(self._embedding[0]), self._embedding[-1][-1])

    @classmethod
    def for_picture(
        cls, cells: PolyhedralComplex, view: View, progress: Progress | None
    ) -> Clipped:
        """Return clipped cells, exact in small networks and within an invisible error in large."""
        is_small = cells.network.num_parameters <= _EXACT_PARAMETERS
        return cls(cells, view, is_small, progress)

    def cell(self, dimension: int, index: int) -> list[Point]:
        """Return the part of a cell of dimension 0, 1 or 2 inside the box.

        Returns
        -------
        list of Point
            The point, the two ends, or the corners in cyclic order. The list is empty if the part
            inside the box has a lower dimension than the cell.
        """
        try:
            path = self._cut_path(dimension, index)
        except _UndecidedSideError:
            for generator in self._generators_of(dimension, index):
                self._corners[generator] = self._exact_corner(generator)
            path = self._cut_path(dimension, index)
        points = _distinct(
            [tuple(Fraction(entry, end.row[-1]) for entry in end.row[:-1]) for end in path]
        )
        return points if len(points) > dimension else []

    def _cut_path(self, dimension: int, index: int) -> list[_Corner]:
        """Return the path of a cell, cut by all sides of the box."""
        path = self._uncut_path(dimension, index)
        for side in self._sides:
            path = _cut(path, side, closed=dimension == 2)
        if any(corner.error > self._max_error for corner in path):
            raise _UndecidedSideError
        return path

    def has_region(self, region: int) -> bool:
        """Return whether a region of the complex has a point in the interior of the box."""
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

    def cells_in_box(
        self, dimension: int, indices: Sequence[int]
    ) -> Iterator[tuple[int, list[Point]]]:
        """Yield the index and the points of each cell of a list that `cell` does not find empty."""
        for index in self.reported(indices):
            if points := self.cell(dimension, index):
                yield index, points

    def reported(self, cells: SizedIterable[_T]) -> Iterator[_T]:
        """Yield some cells, and report each of them once it is drawn."""
        return reported(cells, self._progress, "drawing", "cells")

    def is_on_side(self, points: Sequence[Point]) -> bool:
        """Return whether one side of the box contains all points."""
        return any(
            all(
                sum((a * x for a, x in zip(side, point, strict=False)), Fraction(side[-1])) == 0
                for point in points
            )
            for side in self._sides
        )

    def _generators_of(self, dimension: int, index: int) -> Sequence[int]:
        """Return the numbers of the generators of a cell, for a polygon in cyclic order."""
        generators, cell = self.cells.generators, Cell(dimension, index)
        is_polygon = dimension == self.cells.lineality_dim + 2
        return (
            generators.numbers_in_cyclic_order(cell) if is_polygon else generators.numbers_of(cell)
        )

    def _uncut_path(self, dimension: int, index: int) -> list[_Corner]:
        """Return the corners of a cell, cut by the strip only, if the cells contain lines."""
        pieces = [
            self._ends_in_strip(self._corner(generator))
            for generator in self._generators_of(dimension, index)
        ]
        if len(pieces) == 2 and dimension == 2:
            # A quadrilateral between two parallel segments: its cycle goes back along the second.
            pieces[1].reverse()
        return [corner for piece in pieces for corner in piece]

    def _corner(self, generator: int) -> _Corner:
        """Return the corner of a generator, in floats where they are good enough."""
        if generator not in self._corners:
            corner = self._float_corner(generator) or self._exact_corner(generator)
            self._corners[generator] = corner
        return self._corners[generator]

    def _exact_corner(self, generator: int) -> _Corner:
        return _Corner(self._embedded(self.cells.generators.exact(generator)))

    def _embedded(self, y: Sequence[int]) -> IntegerRow:
        """Return the coordinates (x, t) of the picture for (y, t) of the complex."""
        return positive_primitive(
            [sum(a * b for a, b in zip(row, y, strict=True)) for row in self._embedding]
        )

    def _float_corner(self, generator: int) -> _Corner | None:
        """Return the corner of a vertex by its floats, with their error.

        The result is None if floats are not used, for directions, if the error is too large, and if
        the error leaves open whether the vertex lies inside each side of the box.
        """
        (*y, t), radius = self.cells.generators.approximate(generator)
        if self._error_scale is None or t != 1 or not math.isfinite(radius):
            return None
        error = self._error_scale * Fraction(radius)
        if error > self._max_error:
            return None
        row = self._embedded(_integers([Fraction(entry) for entry in (*y, t)]))
        for entry, low, high in zip(row, self.view.lower, self.view.upper, strict=False):
            x = Fraction(entry, row[-1])
            # Decided here, so that only this vertex is computed exactly, not the whole cell.
            if min(abs(x - low), abs(x - high)) <= error:
                return None
        return _Corner(row, error)

    def _ends_in_strip(self, corner: _Corner) -> list[_Corner]:
        """Return the points where the lines through a corner enter and leave the strip.

        Without lines the result is the corner itself. A direction is moved along the lines until it
        is parallel to the strip.
        """
        if not self._strip:
            return [corner]
        row = corner.row
        bounds = [(self.view.lower[j], self.view.upper[j]) for j in self._strip]
        corners = []
        for ends in _corners_of_box(bounds) if row[-1] else [(Fraction(),) * len(bounds)]:
            moved = [Fraction(entry) for entry in row]
            for j, bound, line in zip(self._strip, ends, self._lines, strict=True):
                step = row[-1] * bound - row[j]
                moved = [a + step * b for a, b in zip(moved, (*line, Fraction()), strict=True)]
            corners.append(_Corner(_integers(moved)))
        return corners


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
    """Return axes that bound the lines of a complex, and a basis of the lineality space.

    There are as many axes as lines in the basis. Along the i-th line, the i-th of these axes grows
    at rate 1, and the others are constant. Both lists are empty for a complex without lines.
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
    """Return the part of a path that lies inside a side of the box.

    A closed path stands for the polygon that it bounds.
    """
    values = [corner.distance(side) for corner in path]
    if all(value >= 0 for value in values):
        return list(path)
    corners = []
    steps = list(pairwise(zip(path, values, strict=True)))
    if closed and path:
        steps.append(((path[-1], values[-1]), (path[0], values[0])))
    for (corner, value), (after, next_value) in steps:
        if value >= 0:
            corners.append(corner)
        if value * next_value < 0:
            corners.append(_between(corner, value, after, next_value))
    if not closed and values[-1] >= 0:
        corners.append(path[-1])
    return corners


def _between(one: _Corner, value: Fraction, other: _Corner, other_value: Fraction) -> _Corner:
    """Return the point of a side of the box between a corner inside and a corner outside.

    The values are the signed distances of the corners to the side.
    """
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
    """Return the error bound of this point; the docstring of the module proves it."""
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
    """Return the points without the repetitions that cuts through a corner make."""
    return list(dict.fromkeys(points))
