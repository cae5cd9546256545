"""Weights, balancing, reconstruction and tropical forms of networks that can be checked by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb
from random import Random

import pytest

from polyrelu.breakpoints import (
    breakpoint_complex,
    closed_form_jump,
    is_balanced,
    oriented_sum,
    reconstruct,
    tropical_form,
    unbalanced_ridge,
)
from polyrelu.complex import Cell, PolyhedralComplex, canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.network import AffineMap, from_arrays

UNIT = [[1, 0], [0, 1]]


def corner() -> PolyhedralComplex:
    """The network max(x, 0) + 2 max(y, 0)."""
    return canonical_complex(from_arrays([(UNIT, [0, 0]), ([[1, 2]], [0])]))


def test_a_tropical_form_holds_on_its_domain_only() -> None:
    network = from_arrays([(UNIT, [0, 0]), ([[1, 2]], [0])])
    (form,) = tropical_form(canonical_complex(network, Polyhedron.box([1, 1], [2, 2])))
    assert form([1, 2]) == network([1, 2])[0]
    for part in (form, form.numerator, form.denominator):
        with pytest.raises(
            DomainError, match="outside the domain on which the tropical form holds"
        ):
            part([-1, 1])
    (form,) = tropical_form(
        canonical_complex(network, Polyhedron.from_constraints([], [], [[1, -1]], [0]))
    )
    assert form([3, 3]) == 9
    with pytest.raises(DomainError, match="outside the domain"):
        form([3, 4])


# --- Weights -----------------------------------------------------------------------------------


def test_weights_of_a_corner() -> None:
    breakpoints = breakpoint_complex(corner())
    found = sorted((facet.normal, int(facet.offset), int(facet.weight[0])) for facet in breakpoints)
    assert found == [((0, 1), 0, 2), ((0, 1), 0, 2), ((1, 0), 0, 1), ((1, 0), 0, 1)]
    assert breakpoints.subcomplex.f_vector == (1, 4, 0)


def test_euclidean_weights_are_for_normals_of_length_one() -> None:
    breakpoints = breakpoint_complex(
        canonical_complex(from_arrays([([[3, 4]], ["1/2"]), ([["2/3"], [-1]], [0, 0])]))
    )
    (facet,) = breakpoints
    assert (facet.normal, facet.offset) == ((3, 4), Fraction(1, 2))
    assert facet.weight == (Fraction(2, 3), Fraction(-1))
    assert [str(entry) for entry in facet.euclidean()] == ["10/3", "-5"]
    assert str(facet.jump) == "[2 8/3]\n[-3 -4]"


def test_on_a_slice_lengths_are_those_along_it() -> None:
    """The function 3 max(x + 2 y, 0) on x = y, whichever coordinate is free.

    It grows by 9/√2 for each step of length 1.
    """
    diagonal = Polyhedron.from_constraints([], [], [[1, -1]], [0])
    for row in ([1, 2], [2, 1]):
        breakpoints = breakpoint_complex(
            canonical_complex(from_arrays([([row], [0]), ([[3]], [0])]), diagonal)
        )
        (facet,) = breakpoints
        assert (facet.normal, facet.weight) == ((0, 1), (Fraction(9),))
        assert (str(facet.jump), str(closed_form_jump(breakpoints, 0))) == (
            "[9/2 9/2]",
            "[9/2 9/2]",
        )
        assert [str(entry) for entry in facet.euclidean()] == ["9*sqrt(2)/2"]


def test_lengths_do_not_depend_on_the_order_of_the_inputs() -> None:
    """The lengths do not depend on which coordinates are free; the jump lies along the slice."""
    rng = Random("order")
    for _ in range(6):
        rows = [[rng.randint(-4, 4) for _ in range(4)] for _ in range(3)]
        directions = [[rng.randint(-3, 3) for _ in range(4)] for _ in range(2)]
        found = []
        for order in ([0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]):
            network = from_arrays(
                [([[row[j] for j in order] for row in rows], [1, 2, -1]), ([[1, -2, 3]], [0])]
            )
            plane = Polyhedron.from_generators(
                [[0] * 4], (), [[row[j] for j in order] for row in directions], 4
            )
            facets = [
                facet
                for facet in breakpoint_complex(canonical_complex(network, plane))
                if facet.visible
            ]
            lengths = sorted(facet.weight[0] ** 2 * facet.squared_norm for facet in facets)
            found.append(lengths)
            for facet in facets:
                (jump,) = facet.jump.rows()
                length = facet.weight[0] ** 2 * facet.squared_norm
                assert sum(entry * entry for entry in jump) == length
                assert all(
                    sum(a * b for a, b in zip(row, jump, strict=True)) == 0
                    for row, _ in _equations(plane)
                )
        assert found[0] == found[1] == found[2]


def _equations(plane: Polyhedron) -> list[tuple[list[int], int]]:
    return [(list(row[:-1]), row[-1]) for row in plane.affine_hull()]


def test_normals_are_primitive_where_the_row_is_not() -> None:
    (facet,) = breakpoint_complex(canonical_complex(from_arrays([([[6, -9]], [1]), ([[1]], [0])])))
    assert (facet.normal, facet.offset, facet.weight) == ((2, -3), Fraction(1, 3), (Fraction(3),))


def test_invisible_facets() -> None:
    """The function is max(x, 0) - max(-x, 0) = x."""
    breakpoints = breakpoint_complex(
        canonical_complex(from_arrays([([[1], [-1]], [0, 0]), ([[1, -1]], [0])]))
    )
    assert [facet.visible for facet in breakpoints] == [False]
    assert breakpoints.subcomplex.dimension == -1
    assert closed_form_jump(breakpoints, 0) is None, "two neurons vanish there"


def test_the_domain_has_no_weights_on_its_boundary() -> None:
    cells = canonical_complex(
        from_arrays([([[1, 0]], [0]), ([[1]], [0])]), Polyhedron.box([0, 0], [1, 1])
    )
    breakpoints = breakpoint_complex(cells)
    assert len(breakpoints) == 0
    with pytest.raises(DomainError, match="not between two regions"):
        breakpoints.weight(0)


def test_points_and_networks_without_neurons() -> None:
    affine = from_arrays([([[1, 2]], [3])])
    for domain in (
        Polyhedron.universe(2),
        Polyhedron.box([1, 1], [1, 1]),
        Polyhedron.box([0, 0], [1, 1]),
    ):
        cells = canonical_complex(affine, domain)
        breakpoints = breakpoint_complex(cells)
        assert (len(breakpoints), is_balanced(breakpoints)) == (0, True)
        assert breakpoints.subcomplex.dimension == -1
        (found,) = reconstruct(breakpoints, 0, cells.region(0).affine_map)
        assert found == cells.region(0).affine_map
        (form,) = tropical_form(cells)
        assert form([1, 1]) == 6


def test_normals_on_a_slice_read_free_coordinates() -> None:
    """On x_0 = 1 the neuron x_0 + 2 x_1 is 1 + 2 x_1."""
    domain = Polyhedron.from_constraints([], [], [[1, 0]], [1])
    (facet,) = breakpoint_complex(
        canonical_complex(from_arrays([([[1, 2]], [0]), ([[1]], [0])]), domain)
    )
    assert (facet.normal, facet.offset, facet.weight) == ((0, 1), Fraction(1, 2), (Fraction(2),))


# --- Balancing and reconstruction --------------------------------------------------------------


def test_the_sum_around_a_vertex() -> None:
    breakpoints = breakpoint_complex(corner())
    assert oriented_sum(breakpoints, 0) == [[0, 0, 0]]
    with pytest.raises(DomainError, match="no cell 1 of codimension 2"):
        oriented_sum(breakpoints, 1)


def test_reconstruction_needs_a_map_of_the_right_shape() -> None:
    breakpoints = breakpoint_complex(corner())
    wrong = AffineMap(RationalMatrix.zeros(1, 3), RationalMatrix.zeros(1, 1))
    right = AffineMap(RationalMatrix.zeros(1, 2), RationalMatrix.zeros(1, 1))
    for region, affine_map in ((0, wrong), (4, right), (-1, right)):
        with pytest.raises(DomainError, match="a map of shape"):
            reconstruct(breakpoints, region, affine_map)


def test_reconstruction_with_another_constant() -> None:
    cells = corner()
    moved = AffineMap(RationalMatrix.zeros(1, 2), RationalMatrix.column([7]))
    start = cells.locate([-1, -1])
    assert start is not None
    maps = reconstruct(breakpoint_complex(cells), start.index, moved)
    for index, found in enumerate(maps):
        point = cells.region(index).interior_point
        assert found(point)[0] == cells.network(point)[0] + 7


# --- Tropical forms ----------------------------------------------------------------------------


def test_the_dual_of_a_corner_is_a_rectangle() -> None:
    (form,) = tropical_form(corner())
    polytope = form.numerator.newton_polytope
    corners = {tuple(map(int, point)) for point in polytope.generators().points}
    assert corners == {(0, 0), (1, 0), (0, 2), (1, 2)}
    top = form.numerator.dual_subdivision[-1]
    assert (top.dimension, top.terms, top.cell) == (2, (0, 1, 2, 3), corner().locate([0, 0]))
    assert [list(map(int, term)) for term in form.denominator.terms] == [[0, 0, 0]]


@pytest.mark.parametrize(("inputs", "neurons"), [(1, 4), (2, 3), (2, 5), (3, 4)])
def test_one_hidden_layer_has_zonotopes(inputs: int, neurons: int) -> None:
    """If all output weights are positive, p has a term for each region and q is 0.

    The Newton polytope is a zonotope, whose vertices belong to the unbounded regions, and the
    volumes of the dual cells are the volumes of its parallelotopes.
    """
    rows = [[(i + 1) ** j for j in range(inputs)] for i in range(neurons)]
    bias = [
        (i + 1) ** inputs for i in range(neurons)
    ]  # points of the moment curve: in general position
    cells = canonical_complex(from_arrays([(rows, bias), ([[1] * neurons], [0])]))
    (form,) = tropical_form(cells)
    assert (
        len(form.numerator.terms)
        == cells.num_regions
        == sum(comb(neurons, k) for k in range(inputs + 1))
    )
    assert (
        len(form.numerator.newton_polytope.generators().points)
        == cells.num_regions - cells.num_bounded_regions
    )
    top = [cell for cell in form.numerator.dual_subdivision if cell.dimension == inputs]
    assert len(top) == comb(neurons, inputs) == cells.f_vector[0]
    assert all(len(cell.terms) == 2**inputs for cell in top)


def test_a_difference_that_is_affine() -> None:
    """In max(x, 0) - max(-x, 0) = x both p and q bend, but their difference does not."""
    cells = canonical_complex(from_arrays([([[1], [-1]], [0, 0]), ([[1, -1]], [0])]))
    (form,) = tropical_form(cells)
    assert (len(form.numerator.terms), len(form.denominator.terms)) == (2, 2)
    assert [form([x]) for x in (-3, 0, 5)] == [-3, 0, 5]


def test_incomplete_complexes_are_refused() -> None:
    cells = corner()
    cells.complete = False
    for find in (breakpoint_complex, tropical_form):
        with pytest.raises(DomainError, match="incomplete"):
            find(cells)


# --- Weights that are those of no network ------------------------------------------------------


def test_wrong_weights_are_found_out() -> None:
    """Wrong weights do not cancel around the vertex, and do not add up on the way around it."""
    cells = corner()
    breakpoints = breakpoint_complex(cells)
    wrong = replace(breakpoints, weights=breakpoints.weights.copy())
    wrong.weights[0] += 1
    assert unbalanced_ridge(breakpoints) is None
    assert unbalanced_ridge(wrong) == Cell(0, 0)
    assert any(map(any, oriented_sum(wrong, 0)))
    with pytest.raises(
        DomainError, match="no function has these weights: they do not add up around the cell"
    ):
        reconstruct(wrong, 0, cells.region(0).affine_map)


def test_cells_that_have_no_weight() -> None:
    """Cells on the boundary of the domain, and numbers of cells that do not exist."""
    network = from_arrays([([[1]], [0]), ([[1]], [0])])
    breakpoints = breakpoint_complex(canonical_complex(network, Polyhedron.box([-1], [1])))
    (inner,) = breakpoints.facets.tolist()
    assert breakpoints.weight(inner).weight == (Fraction(1),)
    for facet in {0, 1, 2, 3, -1} - {inner}:
        with pytest.raises(DomainError, match="is not between two regions"):
            breakpoints.weight(facet)
