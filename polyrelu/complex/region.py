"""One region of a complex: its inequalities, its affine map, a point inside, its volume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.engine.affine_forms import certain_sign
from polyrelu.complex.engine.coordinates import Frame
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix, dot_sign, positive_primitive
from polyrelu.network import AffineMap, SignVector
from polyrelu.support.typing import Point

if TYPE_CHECKING:
    from polyrelu.complex.polyhedral_complex import PolyhedralComplex

__all__ = ["Region", "interior_point", "polyhedron_in_x", "region_of", "volume_of"]

Row = list[int]

#: Binary digits tried for a point inside before its exact mean of vertices is taken.
DIGITS = (0, 2, 4, 8, 12, 16, 24, 32, 40, 52)


@dataclass(frozen=True, slots=True)
class Region:
    """A cell of full dimension.

    Attributes
    ----------
    index : its number among the regions.
    signs : of the hidden neurons.
    polyhedron : its closure: one inequality for each facet, and the equations of the domain's affine hull.
    affine_map : of the network on it.
    interior_point : strictly inside all facets, with few digits where possible.
    bounded : whether it is bounded.
    """

    index: int
    signs: SignVector
    polyhedron: Polyhedron
    affine_map: AffineMap
    interior_point: Point
    bounded: bool


def region_of(cells: PolyhedralComplex, index: int) -> Region:
    """All about a region of a complete complex."""
    if not cells.complete:
        raise DomainError("the complex is incomplete: the network is not affine on its cells")
    _check_index(cells, index)
    signs = cells.signs_of_region(index)
    polyhedron, point = region_polyhedron(cells, index), interior_point(cells, index)
    bounded = bool(cells.bounded[index])
    return Region(index, signs, polyhedron, cells.network.affine_map(signs), point, bounded)


def region_polyhedron(cells: PolyhedralComplex, index: int) -> Polyhedron:
    """The closure of a region, of an incomplete complex too."""
    _check_index(cells, index)
    return polyhedron_in_x(cells.frame, cells.domain, _facet_rows(cells, index))


def interior_point(cells: PolyhedralComplex, index: int) -> Point:
    """The point inside a region, of an incomplete complex too."""
    _check_index(cells, index)
    return _point_inside(cells, index)


def _check_index(cells: PolyhedralComplex, index: int) -> None:
    if not 0 <= index < cells.regions:
        raise DomainError(f"there is no region {index}, only {cells.regions} regions")


def _facet_sides(cells: PolyhedralComplex, index: int) -> tuple[list[int], list[int]]:
    """The numbers of the forms of the facets that are not at infinity, and their signs inside."""
    if cells.frame.dimension == 0:
        return [], []
    signs = cells.all_signs[cells.dimension][index]
    numbers, inside = [], []
    for number in cells.facet_forms[cells.lattice_facets(index)].tolist():
        layer, member = cells.table.source(number)
        if (layer, member) != (0, -1):
            numbers.append(number)
            inside.append(1 if layer == 0 else int(signs[cells.neuron_positions[layer, member]]))
    return numbers, inside


def _facet_rows(cells: PolyhedralComplex, index: int) -> list[Row]:
    """The forms of the facets over (y, t), positive inside."""
    sides = zip(*_facet_sides(cells, index), strict=True)
    return [[inside * entry for entry in cells.table.exact_row(number)] for number, inside in sides]


def polyhedron_in_x(frame: Frame, domain: Polyhedron, forms: Sequence[Sequence[int]]) -> Polyhedron:
    """{x in the affine hull of the domain: all forms over (y, t) are ≥ 0}, an inequality for each form."""
    in_x = RationalMatrix.from_integers(forms, ncols=frame.dimension + 1) @ frame.coordinates
    rows = [
        positive_primitive([*(-entry for entry in row[:-1]), row[-1]])
        for row in in_x.integer_rows()
    ]
    full = frame.true_dimension == domain.ambient_dimension
    return Polyhedron(domain.ambient_dimension, tuple(rows), () if full else domain.affine_hull())


def _point_inside(cells: PolyhedralComplex, index: int) -> Point:
    """The mean of the vertices plus the directions, rounded if a rounded point is inside too."""
    numbers = cells.vertices_of(cells.frame.dimension, index)
    floats = cells.vertex_store.coordinates.buffer[numbers]
    at_infinity = floats[:, -1] == 0
    points, directions = floats[~at_infinity, :-1], floats[at_infinity, :-1]
    with np.errstate(all="ignore"):
        mean = points.mean(axis=0) + directions.sum(axis=0)
    if np.isfinite(mean).all() and np.abs(mean).max(initial=0.0) < 2.0**60:
        sides = _facet_sides(cells, index)
        for digits in DIGITS:
            rounded = [round(value * 2**digits) for value in mean.tolist()]
            if _is_inside(cells, *sides, [*rounded, 1 << digits]):
                return cells.frame.embedded([*rounded, 1 << digits])
    return cells.frame.embedded(
        _exact_mean([cells.vertex_store.exact(number) for number in numbers])
    )


def float_bounds(
    rows: NDArray[np.float64], errors: NDArray[np.float64], y: NDArray[np.float64]
) -> Any:
    """How far off the values of float forms F with errors E are at points y of floats, computed in any order:
    |F|₁ (d + 4) u max|y| + 2 E |y|₁ (see `vertices`)."""
    sizes = np.abs(y)
    unit = (y.shape[-1] + 4) * 2.0**-53 * (1 + 2.0**-20)
    return np.abs(rows).sum(axis=-1) * unit * sizes.max(axis=-1) + 2 * (
        1 + 2.0**-20
    ) * errors * sizes.sum(axis=-1)


@np.errstate(all="ignore")
def _is_inside(
    cells: PolyhedralComplex, numbers: list[int], inside: list[int], point: list[int]
) -> bool:
    """Whether forms have their signs inside at a point (y, t). Floats decide where they can."""
    unresolved = list(zip(numbers, inside, strict=True))
    if max(map(abs, point)) <= 1 << 53:
        q = np.array(point, dtype=np.float64)
        rows, errors = cells.table.rows.buffer[numbers], cells.table.errors.buffer[numbers]
        signs = certain_sign(rows @ q, float_bounds(rows, errors, q)) * np.array(
            inside, dtype=np.int8
        )
        if (signs == -1).any():
            return False
        unresolved = [
            pair for pair, sign in zip(unresolved, signs.tolist(), strict=True) if sign != 1
        ]
    return all(
        dot_sign(cells.table.exact_row(number), point) * sign > 0 for number, sign in unresolved
    )


def _exact_mean(vertices: list[Row]) -> Row:
    points = [vertex for vertex in vertices if vertex[-1]]
    directions = [vertex for vertex in vertices if not vertex[-1]]
    total = [Fraction()] * len(vertices[0])
    for *y, t in points:
        total = [a + Fraction(b, t * len(points)) for a, b in zip(total, [*y, t], strict=True)]
    for direction in directions:
        total = [a + b for a, b in zip(total, direction, strict=True)]
    return RationalMatrix.from_rows([total]).primitive_rows()[0]


def volume_of(cells: PolyhedralComplex, index: int) -> Fraction:
    """The exact volume of a bounded region of a domain of full dimension.

    The region is cut into simplices: cones from one of its vertices over the facets that do not contain it, and so on.
    """
    if cells.dimension != cells.network.inputs:
        raise DomainError("regions of a lower-dimensional domain have no rational volume")
    _check_index(cells, index)
    if not cells.bounded[index]:
        raise DomainError(f"region {index} is unbounded")
    store, size = cells.vertex_store, cells.frame.dimension
    total = Fraction()
    for simplex in _simplices(cells, size, cells.inner[size][index]):
        corners = [[Fraction(entry, row[-1]) for entry in row] for row in map(store.exact, simplex)]
        total += abs(RationalMatrix.from_rows(corners).determinant())
    for k in range(2, size + 1):
        total /= k
    return total


def _simplices(cells: PolyhedralComplex, k: int, cell: int) -> list[list[int]]:
    """The vertex numbers of a triangulation of a bounded cell of inner dimension k, by lattice numbers."""
    if k == 0:
        return [[int(cell)]]
    apex = cells.lattice_vertices(k, cell)[0]
    found = []
    for facet in cells.lattice_faces(k, cell):
        if apex not in cells.lattice_vertices(k - 1, facet):
            found += [[apex, *simplex] for simplex in _simplices(cells, k - 1, facet)]
    return found
