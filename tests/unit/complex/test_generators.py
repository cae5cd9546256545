"""Generators and facet forms: the exact access to coordinates that other rooms use."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from polyrelu.complex import Cell, PolyhedralComplex, canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, positive_primitive
from polyrelu.network import from_arrays

PLANE = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
LINES = from_arrays([([[1, 1, 0], [1, -1, 0]], [0, "1/3"]), ([[2, 1]], [-1]), ([[1]], [0])])
SLICE = Polyhedron.from_constraints([], [], [[1, 1, 2]], [1])

COMPLEXES = {
    "plane": (PLANE, None),
    "box": (PLANE, Polyhedron.box([-1, -2], [3, 3])),
    "lines": (LINES, None),
    "lower dimension": (LINES, SLICE),
}


@pytest.fixture(params=COMPLEXES)
def cells(request: pytest.FixtureRequest) -> PolyhedralComplex:
    """A complex on the whole space, on a box, with lines, and on a plane in space."""
    return canonical_complex(*COMPLEXES[request.param])


def all_cells(cells: PolyhedralComplex) -> list[Cell]:
    """All cells of all dimensions."""
    return [cell for k in range(cells.dimension + 1) for cell in cells.cells(k)]


def test_generators_are_vertices_and_rays(cells: PolyhedralComplex) -> None:
    generators = cells.generators
    assert int(generators.is_vertex.sum()) == cells.size(cells.lineality_dim)
    for cell in all_cells(cells):
        rows = [generators.input_coordinates(number) for number in generators.numbers_of(cell)]
        points, rays = cells.vertices_and_rays(cell)
        assert [tuple(Fraction(x, t) for x in row) for *row, t in rows if t] == points
        assert [positive_primitive(row) for *row, t in rows if not t] == rays


def test_floats_are_as_close_as_their_radius(cells: PolyhedralComplex) -> None:
    for number in np.flatnonzero(cells.generators.is_vertex).tolist():
        floats, radius = cells.generators.approximate(number)
        *y, t = cells.generators.exact(number)
        for approximate, entry in zip(floats, [*y, t], strict=True):
            assert abs(Fraction(approximate) - Fraction(entry, t)) <= Fraction(radius)


def test_cycles_go_around_polygons(cells: PolyhedralComplex) -> None:
    """Neighbours of a cycle have an edge of the cell in common, or are directions."""
    generators, k = cells.generators, cells.lineality_dim
    offsets, entries = cells.facets(min(k + 2, cells.dimension))
    for cell in cells.cells(k + 2):
        edges = entries[offsets[cell.index] : offsets[cell.index + 1]]
        sides = {frozenset(generators.numbers_of(Cell(k + 1, int(edge)))) for edge in edges}
        cycle = generators.numbers_in_cyclic_order(cell)
        assert sorted(cycle) == generators.numbers_of(cell)
        pairs = {frozenset(pair) for pair in zip(cycle, cycle[1:] + cycle[:1], strict=True)}
        at_infinity = {pair for pair in pairs if not generators.is_vertex[list(pair)].any()}
        assert pairs - at_infinity == sides - at_infinity


def test_marks_spread_to_cells(cells: PolyhedralComplex) -> None:
    generators = cells.generators
    marks = np.uint64(1) << np.arange(len(generators), dtype=np.uint64)
    spread = generators.marks_of_cells(marks)
    for cell in all_cells(cells):
        mask = sum(1 << number for number in generators.numbers_of(cell))
        assert int(spread[cell.dimension][cell.index]) == mask


def test_points_inside(cells: PolyhedralComplex) -> None:
    for k in range(cells.lineality_dim, cells.dimension + 1):
        for cell, row in zip(cells.cells(k), cells.generators.points_inside(k), strict=True):
            assert cells.locate(cells.frame.embedded(row.tolist())) == cell


def test_facet_forms_vanish_on_their_cells(cells: PolyhedralComplex) -> None:
    k = cells.dimension - 1
    forms = cells.facet_forms(np.arange(cells.size(k)))
    points = cells.generators.points_inside(k)
    for index, which in enumerate(forms.which.tolist()):
        assert np.dot(forms.rows[which], points[index]) == 0
        column = int(forms.columns[which])
        zeros = cells.signs(k) if column >= 0 else cells.constraint_signs(k)
        assert (zeros[index] == 0).any() if column < 0 else zeros[index, column] == 0


def test_tables_of_signs_are_kept_and_read_only(cells: PolyhedralComplex) -> None:
    signs = cells.signs(cells.dimension)
    assert signs is cells.signs(cells.dimension)
    with pytest.raises(ValueError, match="read-only"):
        signs[0, 0] = 0
    assert all(len(cells.signs(k)) == 0 for k in range(cells.lineality_dim))


def test_cells_that_do_not_exist(cells: PolyhedralComplex) -> None:
    for cell in (
        Cell(-1, 0),
        Cell(cells.dimension + 1, 0),
        Cell(cells.dimension, cells.num_regions),
    ):
        with pytest.raises(DomainError, match=r"there (are|is) no cell"):
            cells.generators.numbers_of(cell)
    with pytest.raises(DomainError, match="are no cycle"):
        cells.generators.numbers_in_cyclic_order(Cell(cells.lineality_dim, 0))
