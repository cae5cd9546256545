"""One region of a complex: its inequalities, a point inside, its volume.

`Region` is the public type. The functions below it compute its parts from the arrays of the complex
(`CellArrays`); `PolyhedralComplex` and `interior_points` call them.

A point inside a region is the mean of its vertices plus its ray directions, rounded to as few
binary digits as possible. Whether a rounded point is inside is decided by the signs of the forms of
the facets: in floats with a rigorous bound, and exactly where floats leave a sign open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.complex.engine.affine_forms import signs_of_values
from polyrelu.complex.engine.cells import CellArrays
from polyrelu.complex.frame import Frame
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix, dot_sign, positive_primitive
from polyrelu.network import AffineMap, SignVector
from polyrelu.support.arguments import expect_integer
from polyrelu.support.display import count_text, shortened
from polyrelu.support.typing import Floats, Point

__all__ = [
    "BINARY_DIGITS",
    "Region",
    "float_bounds",
    "point_inside",
    "polyhedron_in_x",
    "region_index",
    "region_polyhedron",
    "region_volume",
]

#: Numbers of binary digits after the point that are tried for a point inside, in order. Where none
#: suffices, the exact mean of the vertices is taken.
BINARY_DIGITS = (0, 2, 4, 8, 12, 16, 24, 32, 40, 52)


def region_index(index: int, num_regions: int) -> int:
    """Return the number of a region that a user named, or raise `DomainError`."""
    index = expect_integer(index, "index")
    if not 0 <= index < num_regions:
        raise DomainError(f"there is no region {index}, only {num_regions} regions")
    return index


@dataclass(frozen=True, slots=True)
class Region:
    """A cell of full dimension.

    Attributes
    ----------
    index
        The number of the region among all regions.
    signs
        The signs of the hidden neurons on the region.
    polyhedron
        The closure of the region: one inequality for each facet, and the equations of the affine
        hull of the domain.
    affine_map
        The affine map by which the network acts on the region.
    interior_point
        A point strictly inside all facets, with few binary digits where possible.
    bounded
        Whether the region is bounded.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[2]], [-1]), ([[3]], [0])]))
    >>> region = cells.region(0)
    >>> str(region.signs), region.polyhedron.inequalities, region.interior_point
    ('+', ((-2, -1),), (Fraction(2, 1),))
    """

    index: int
    signs: SignVector
    polyhedron: Polyhedron
    affine_map: AffineMap
    interior_point: Point
    bounded: bool

    def __repr__(self) -> str:
        facets = count_text([(len(self.polyhedron.inequalities), "facet")])
        extent = "bounded" if self.bounded else "unbounded"
        return f"<Region {self.index}, signs {shortened(str(self.signs))}, {facets}, {extent}>"


# -- inequalities ----------------------------------------------------------------------------------


def _facet_sides(arrays: CellArrays, index: int) -> tuple[list[int], list[int]]:
    """The numbers of the forms of the facets that are not at infinity, and their signs inside."""
    size = arrays.dimension
    if size == 0:
        return [], []
    signs = arrays.signs(size)[index]
    facets, _ = arrays.lattice.facets_of(size, arrays.finite[size][[index]])
    numbers, inside = [], []
    for number in arrays.facet_forms[facets].tolist():
        if not arrays.is_at_infinity(number):
            column = arrays.column_of_form(number)
            numbers.append(number)
            inside.append(1 if column < 0 else int(signs[column]))
    return numbers, inside


def region_polyhedron(arrays: CellArrays, domain: Polyhedron, index: int) -> Polyhedron:
    """The closure of a region, of an incomplete complex too."""
    sides = zip(*_facet_sides(arrays, index), strict=True)
    forms = [
        [inside * entry for entry in arrays.table.exact_row(number)] for number, inside in sides
    ]
    return polyhedron_in_x(arrays.frame, domain, forms)


def polyhedron_in_x(frame: Frame, domain: Polyhedron, forms: Sequence[Sequence[int]]) -> Polyhedron:
    """The points x of the affine hull of the domain where all forms over (y, t) are ≥ 0.

    The polyhedron has an inequality for each form.
    """
    in_x = RationalMatrix.from_integers(forms, ncols=frame.dimension + 1) @ frame.coordinates
    rows = [
        positive_primitive([*(-entry for entry in row[:-1]), row[-1]])
        for row in in_x.integer_rows()
    ]
    full = frame.true_dimension == domain.ambient_dimension
    return Polyhedron(domain.ambient_dimension, tuple(rows), () if full else domain.affine_hull())


# -- a point inside --------------------------------------------------------------------------------


def point_inside(arrays: CellArrays, index: int) -> Point:
    """A point inside a region: the mean of its generators, rounded if that point is inside too."""
    numbers = arrays.vertices_of(arrays.dimension, index)
    floats = arrays.vertices.coordinates.buffer[numbers]
    at_infinity = floats[:, -1] == 0
    points, directions = floats[~at_infinity, :-1], floats[at_infinity, :-1]
    with np.errstate(all="ignore"):
        mean = points.mean(axis=0) + directions.sum(axis=0)
    if np.isfinite(mean).all() and np.abs(mean).max(initial=0.0) < 2.0**60:
        sides = _facet_sides(arrays, index)
        for digits in BINARY_DIGITS:
            rounded = [round(value * 2**digits) for value in mean.tolist()]
            if _is_inside(arrays, *sides, [*rounded, 1 << digits]):
                return arrays.frame.embedded([*rounded, 1 << digits])
    exact = [arrays.vertices.exact(number) for number in numbers]
    return arrays.frame.embedded(_exact_mean(exact))


def float_bounds(rows: Floats, errors: Floats, points: Floats) -> Floats:
    """Bounds on the errors of values of forms at points (y, t) of exact floats.

    For a float form F with error E the bound is |F|₁ (d + 4) u max|y| + 2 E |y|₁, for sums in any
    order; see docs/theory/float_signs.md, section 7. The last axis of `rows` and `points` has the
    coordinates.
    """
    sizes = np.abs(points)
    unit = (points.shape[-1] + 4) * 2.0**-53 * (1 + 2.0**-20)
    rounding = np.abs(rows).sum(axis=-1) * unit * sizes.max(axis=-1)
    return np.asarray(rounding + 2 * (1 + 2.0**-20) * errors * sizes.sum(axis=-1))


@np.errstate(all="ignore")
def _is_inside(arrays: CellArrays, numbers: list[int], inside: list[int], point: list[int]) -> bool:
    """Whether forms have their signs inside at a point (y, t). Floats decide where they can."""
    undecided = list(zip(numbers, inside, strict=True))
    if max(map(abs, point)) <= 1 << 53:
        y = np.array(point, dtype=np.float64)
        rows, errors = arrays.table.rows.buffer[numbers], arrays.table.errors.buffer[numbers]
        signs = signs_of_values(rows @ y, float_bounds(rows, errors, y))
        signs = signs * np.array(inside, dtype=np.int8)
        if (signs == -1).any():
            return False
        undecided = [
            pair for pair, sign in zip(undecided, signs.tolist(), strict=True) if sign != 1
        ]
    return all(
        dot_sign(arrays.table.exact_row(number), point) * sign > 0 for number, sign in undecided
    )


def _exact_mean(vertices: list[list[int]]) -> list[int]:
    """The exact mean of the points plus the sum of the directions, in homogeneous coordinates."""
    points = [vertex for vertex in vertices if vertex[-1]]
    directions = [vertex for vertex in vertices if not vertex[-1]]
    total = [Fraction()] * len(vertices[0])
    for *y, t in points:
        total = [a + Fraction(b, t * len(points)) for a, b in zip(total, [*y, t], strict=True)]
    for direction in directions:
        total = [a + b for a, b in zip(total, direction, strict=True)]
    return RationalMatrix.from_rows([total]).primitive_rows()[0]


# -- volume ----------------------------------------------------------------------------------------


def region_volume(arrays: CellArrays, index: int) -> Fraction:
    """The exact volume of a bounded region of a domain of full dimension.

    The region is cut into simplices: cones from one of its vertices over the simplices of the
    facets that do not contain that vertex.
    """
    size = arrays.dimension
    total = Fraction()
    for simplex in _simplices(arrays, size, int(arrays.finite[size][index])):
        rows = map(arrays.vertices.exact, simplex)
        corners = [[Fraction(entry, row[-1]) for entry in row] for row in rows]
        total += abs(RationalMatrix.from_rows(corners).determinant())
    for k in range(2, size + 1):
        total /= k
    return total


def _simplices(arrays: CellArrays, k: int, cell: int) -> list[list[int]]:
    """The vertices of the simplices of a triangulation of a bounded lattice cell."""
    if k == 0:
        return [[cell]]
    apex = arrays.lattice.vertices_of(k, cell)[0]
    simplices = []
    for facet in arrays.lattice.facets_of(k, np.array([cell]))[0].tolist():
        if apex not in arrays.lattice.vertices_of(k - 1, facet):
            simplices += [[apex, *simplex] for simplex in _simplices(arrays, k - 1, facet)]
    return simplices
