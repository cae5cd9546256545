"""Homology of spaces that are known: shapes, torsion, sets of all kinds of networks; errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from random import Random

import numpy as np
import pytest

from polyrelu.complex import PolyhedralComplex, Subcomplex, canonical_complex, point_in
from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.network import Block, Layer, Network, from_arrays
from polyrelu.support.progress import ProgressStep
from polyrelu.topology import (
    Homology,
    UnfinishedError,
    betti_numbers,
    decision_boundary,
    decision_region,
    homology,
    level_set,
    sublevel_set,
    superlevel_set,
)
from polyrelu.topology.chains import Boundary, cellular_chains
from polyrelu.topology.smith import chain_divisors, elementary_divisors

Simplex = tuple[int, ...]

#: |x| + |y|
NORM = from_arrays([([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1] * 4], [0])])


def norm(size: int) -> Network:
    """The sum of the absolute values of the inputs."""
    rows = [[sign * int(i == j) for j in range(size)] for i in range(size) for sign in (1, -1)]
    return from_arrays([(rows, [0] * len(rows)), ([[1] * len(rows)], [0])])


def skipping(
    inputs: int, layers: list[tuple[dict[int, list[list[int]]], list[int]]], last: str = "affine"
) -> Network:
    built = []
    for blocks, bias in layers:
        entries = tuple(
            Block(source, RationalMatrix.from_rows(rows)) for source, rows in sorted(blocks.items())
        )
        built.append(Layer(entries, RationalMatrix.column(bias)))
    return Network(inputs, tuple(built), "relu" if last == "relu" else "affine")


def full(cells: PolyhedralComplex) -> Subcomplex:
    return Subcomplex.closure(cells, {cells.dimension: np.ones(cells.num_regions, dtype=bool)})


# --- Known shapes ------------------------------------------------------------------------------


def test_circle_point_and_nothing() -> None:
    circle = homology(level_set(NORM, 1))
    assert (circle.betti, circle.betti_mod_2, circle.torsion) == (
        (1, 1, 0),
        (1, 1, 0),
        ((), (), ()),
    )
    assert (circle.euler_characteristic, circle.euler_with_compact_support) == (0, 0)
    assert homology(level_set(NORM, 0)).betti == (1, 0, 0)
    nothing = level_set(NORM, -1)
    assert (nothing.f_vector, nothing.dimension) == ((0, 0, 0), -1)
    assert homology(nothing) == Homology((0, 0, 0), ((), (), ()), 0, 0)


def test_disk_and_its_outside() -> None:
    assert homology(sublevel_set(NORM, 1)) == Homology((1, 0, 0), ((), (), ()), 1, 1)
    # the plane without an open disk: a circle, and with compact support a half-open annulus
    assert homology(superlevel_set(NORM, 1)) == Homology((1, 1, 0), ((), (), ()), 0, 0)


@pytest.mark.parametrize(
    ("size", "betti"),
    [(1, (2, 0)), (3, (1, 0, 1, 0)), (4, (1, 0, 0, 1, 0)), (5, (1, 0, 0, 0, 1, 0))],
)
def test_spheres(size: int, betti: tuple[int, ...]) -> None:
    found = homology(level_set(norm(size), "3/2"))
    assert found.betti == found.betti_mod_2 == betti
    assert (
        found.euler_characteristic
        == found.euler_with_compact_support
        == (0 if size % 2 == 0 else 2)
    )


def test_two_circles_beside_and_within_each_other() -> None:
    """The sets ||x| - 3| + |y| = 1 and ||x| + |y| - 3| = 1."""
    beside = from_arrays(
        [
            ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4),
            ([[1, 1, 0, 0], [-1, -1, 0, 0], [0, 0, 1, 1]], [-3, 3, 0]),
            ([[1, 1, 1]], [0]),
        ]
    )
    assert homology(level_set(beside, 1)).betti == (2, 2, 0)
    assert homology(sublevel_set(beside, 1)).betti == (2, 0, 0)
    assert homology(superlevel_set(beside, 1)).betti == (1, 2, 0)
    assert homology(level_set(beside, 3)).betti == (1, 2, 0)  # they touch
    within = from_arrays(
        [
            ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4),
            ([[1] * 4, [-1] * 4], [-3, 3]),
            ([[1, 1]], [0]),
        ]
    )
    assert homology(level_set(within, 1)).betti == (2, 2, 0)
    assert homology(sublevel_set(within, 1)).betti == (1, 1, 0)
    assert homology(superlevel_set(within, 1)).betti == (2, 1, 0)


def torus() -> Network:
    """The function ||x| + |y| - 2| + |z|."""
    return from_arrays(
        [
            ([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], [0] * 6),
            ([[1, 1, 1, 1, 0, 0], [-1, -1, -1, -1, 0, 0], [0, 0, 0, 0, 1, 1]], [-2, 2, 0]),
            ([[1, 1, 1]], [0]),
        ]
    )


def test_torus() -> None:
    found = homology(level_set(torus(), "1/2"))
    assert (found.betti, found.betti_mod_2, found.euler_characteristic) == (
        (1, 2, 1, 0),
        (1, 2, 1, 0),
        0,
    )
    assert homology(sublevel_set(torus(), "1/2")).betti == (1, 1, 0, 0)  # a solid torus
    assert homology(superlevel_set(torus(), "1/2")).betti == (1, 1, 1, 0)
    assert homology(level_set(torus(), 0)).betti == (1, 1, 0, 0)  # its core
    assert homology(level_set(torus(), 2)).betti == (1, 1, 1, 0)  # a sphere whose poles touch
    assert homology(level_set(torus(), 3)).betti == (1, 0, 1, 0)  # a sphere


# --- Unbounded shapes --------------------------------------------------------------------------


def test_two_parallel_lines_have_no_vertices() -> None:
    net = from_arrays([([[1, 1], [-1, -1]], [0, 0]), ([[1, 1]], [0])])
    lines = level_set(net, 2)
    assert (lines.cells.lineality_dim, lines.f_vector) == (1, (0, 2, 0))
    assert homology(lines) == Homology((2, 0, 0), ((), (), ()), 2, -2)
    assert homology(superlevel_set(net, 2)) == Homology(
        (2, 0, 0), ((), (), ()), 2, 0
    )  # closed half-planes
    assert homology(sublevel_set(net, 2)) == Homology(
        (1, 0, 0), ((), (), ()), 1, -1
    )  # a closed strip


def test_two_branches_like_a_hyperbola() -> None:
    """The set |x| - |y| = 1."""
    net = from_arrays([([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1, 1, -1, -1]], [0])])
    assert homology(level_set(net, 1)) == Homology((2, 0, 0), ((), (), ()), 2, -2)
    assert homology(level_set(net, 0)) == Homology(
        (1, 0, 0), ((), (), ()), 1, -3
    )  # a cross: a point and four rays


def test_cylinder() -> None:
    """The set |x| + |y| = 1 in R^3, and in R^4 with lines along no axis.

    The first layer has rank 2.
    """
    net = from_arrays([([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], [0] * 4), ([[1] * 4], [0])])
    cylinder = level_set(net, 1)
    assert (cylinder.cells.lineality_dim, cylinder.f_vector) == (1, (0, 4, 4, 0))
    assert homology(cylinder) == Homology((1, 1, 0, 0), ((), (), (), ()), 0, 0)
    assert betti_numbers(cylinder, characteristic=2) == (1, 1, 0, 0)
    skew = from_arrays(
        [([[1, 1, 1, 0], [-1, -1, -1, 0], [0, 1, 0, 2], [0, -1, 0, -2]], [0] * 4), ([[1] * 4], [0])]
    )
    assert homology(level_set(skew, 1)).betti == (1, 1, 0, 0, 0)
    assert level_set(skew, 1).f_vector == (0, 0, 4, 4, 0)


def test_cylinder_cut_off_and_half_cylinder() -> None:
    net = from_arrays([([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], [0] * 4), ([[1] * 4], [0])])
    half = Polyhedron.from_constraints([[0, 0, -1]], [0])
    assert homology(level_set(net, 1, domain=half)) == Homology(
        (1, 1, 0, 0), ((), (), (), ()), 0, 0
    )
    quarter = Polyhedron.orthant(3)
    assert homology(level_set(net, 1, domain=quarter)).betti == (1, 0, 0, 0)
    box = Polyhedron.box([-1, -1, -5], [1, 1, 5])
    assert homology(level_set(net, 1, domain=box)).betti == (1, 1, 0, 0)


def test_whole_space_half_plane_and_constants() -> None:
    for size in (1, 2, 3):
        constant = from_arrays([([[0] * size], [3])])
        for part in (level_set(constant, 3), sublevel_set(constant, 3), sublevel_set(constant, 4)):
            assert part.f_vector == (*[0] * size, 1)
            found = homology(part)
            assert found.betti == (1, *[0] * size)
            assert (found.euler_characteristic, found.euler_with_compact_support) == (
                1,
                (-1) ** size,
            )
        assert homology(level_set(constant, 2)).betti == (0, *[0] * size)
    half = sublevel_set(from_arrays([([[1, 2]], [0])]), 5)
    assert (half.f_vector, homology(half).betti) == ((0, 1, 1), (1, 0, 0))


def test_unbounded_cells_around_bounded_holes() -> None:
    """The plane without the open triangle between three lines, and the three lines alone."""
    cells = canonical_complex(
        from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    )
    outside = Subcomplex.closure(cells, {2: ~cells.bounded})
    lines = Subcomplex.closure(cells, {1: np.ones(9, dtype=bool)})
    assert homology(outside) == Homology((1, 1, 0), ((), (), ()), 0, 0)
    assert homology(lines) == Homology((1, 1, 0), ((), (), ()), 0, -6)
    assert homology(full(cells)) == Homology((1, 0, 0), ((), (), ()), 1, 1)


def test_open_regions_on_the_level() -> None:
    """max(|x| - 1, 0) is 0 on an interval; in x + y two neurons cancel."""
    net = from_arrays([([[1], [-1]], [-1, -1]), ([[1, 1]], [0])])
    assert level_set(net, 0).f_vector == (2, 1)
    ring = from_arrays(
        [
            ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4),
            ([[1] * 4, [1] * 4], [-1, -2]),
            ([[1, -1]], [0]),
        ]
    )
    assert homology(level_set(ring, 0)).betti == (1, 0, 0)
    outside = level_set(ring, 1)  # 1 where |x| + |y| ≥ 2
    assert (outside.dimension, homology(outside).betti) == (2, (1, 1, 0))


# --- Other networks ----------------------------------------------------------------------------


def test_a_trailing_relu() -> None:
    """f = max(|x| + |y| - 1, 0): the level 0 is a disk, the level 1 a circle."""
    net = from_arrays([([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1] * 4], [-1])], "relu")
    assert homology(level_set(net, 0)).betti == homology(sublevel_set(net, 0)).betti == (1, 0, 0)
    assert level_set(net, 0).dimension == 2
    assert homology(level_set(net, 1)).betti == (1, 1, 0)
    assert level_set(net, -1).dimension == sublevel_set(net, "-1/2").dimension == -1
    assert homology(superlevel_set(net, 0)).betti == (1, 0, 0)
    assert decision_boundary(net).f_vector == level_set(net, 0).f_vector


def test_an_output_that_reads_the_input() -> None:
    """f = x + max(y, 0), where layer 1 does not read x: on the plane, a strip and a box."""
    net = skipping(2, [({0: [[0, 1]]}, [0]), ({0: [[1, 0]], 1: [[1]]}, [0])])
    graph = level_set(net, 5)
    assert (graph.dimension, graph.cells.lineality_dim) == (1, 0)
    assert homology(graph) == Homology((1, 0, 0), ((), (), ()), 1, -1)
    assert (
        homology(sublevel_set(net, 5)).betti == homology(superlevel_set(net, 5)).betti == (1, 0, 0)
    )
    assert (
        homology(
            level_set(net, 5, domain=Polyhedron.box([-9, -9], [9, 9]))
        ).euler_with_compact_support
        == 1
    )
    strip = Polyhedron.from_constraints([[1, 0], [-1, 0]], [1, 1])
    assert homology(level_set(net, 0, domain=strip)) == Homology((1, 0, 0), ((), (), ()), 1, 0)
    for cell in graph:
        assert net(point_in(graph.cells, cell)) == (Fraction(5),)


def test_skips_from_the_input_to_hidden_layers() -> None:
    """A hidden layer reads a direction of the input that layer 1 does not read.

    There is a second skip connection from layer 1.
    """
    net = skipping(
        3,
        [({0: [[0, 1, 0]]}, [0]), ({0: [[1, 0, 0]], 1: [[1]]}, [-1]), ({1: [[1]], 2: [[2]]}, [0])],
    )
    part = level_set(net, 2)
    assert part.cells.lineality_dim == 1
    for cell in part:
        assert net(point_in(part.cells, cell)) == (Fraction(2),)
    assert homology(part).betti == (1, 0, 0, 0)


def test_a_skip_that_a_combination_cancels() -> None:
    """Both outputs read x directly; their difference does not."""
    net = skipping(1, [({0: [[1]]}, [0]), ({0: [[1], [1]], 1: [[1], [-1]]}, [0, -2])])
    boundary = decision_boundary(net)
    assert [
        boundary.cells.vertex(int(index)) for index in boundary.indices(0)
    ] == []  # 2 max(x, 0) + 2 > 0
    assert homology(decision_region(net, 0)).betti == (1, 0)


def test_a_network_without_hidden_layers() -> None:
    assert level_set(from_arrays([([[1, 1]], [-1])]), 0).f_vector == (0, 1, 0)
    net = from_arrays([([[1]], [-1])], "relu")
    assert level_set(net, 0).f_vector == (1, 1)
    assert level_set(net, 1).f_vector == (1, 0)


def test_outputs_and_exact_levels() -> None:
    net = from_arrays([([[1], [2]], [0, "1/3"])])
    third, zero = level_set(net, "1/3", output=1), level_set(net, "1/3")
    assert [part.cells.vertex(int(part.indices(0)[0])) for part in (third, zero)] == [
        (0,),
        (Fraction(1, 3),),
    ]
    tenth = level_set(net, 0.1)
    assert tenth.cells.vertex(int(tenth.indices(0)[0])) == (Fraction(0.1),)
    assert level_set(net, Fraction(1, 10)).cells.vertex(0) == (Fraction(1, 10),)


# --- Decisions ---------------------------------------------------------------------------------


def test_three_outputs() -> None:
    """The outputs x, y and 1: three sectors, with a tripod between them."""
    net = from_arrays([([[1, 0], [0, 1], [0, 0]], [0, 0, 1])])
    boundary = decision_boundary(net)
    assert (boundary.f_vector, homology(boundary)) == (
        (1, 3, 0),
        Homology((1, 0, 0), ((), (), ()), 1, -2),
    )
    for label in range(3):
        assert decision_region(net, label).f_vector == (1, 2, 1)
    assert homology(decision_boundary(net, Polyhedron.box([2, 2], [3, 3]))).betti == (1, 0, 0)
    assert decision_boundary(net, Polyhedron.box([2, 0], [3, 1])).dimension == -1


def test_ties_below_the_largest_output_are_no_boundary() -> None:
    net = from_arrays([([[1], [1], [0]], [0, 0, 5])])
    boundary = decision_boundary(net)
    assert (boundary.f_vector, boundary.dimension) == ((1, 1), 1)  # x ≥ 5
    low = decision_boundary(net, Polyhedron.box([-1], [1]))
    assert low.dimension == -1


def test_outputs_of_a_trailing_relu_that_are_all_zero() -> None:
    net = from_arrays([([[1, 0], [0, 1]], [0, 0])], "relu")
    boundary = decision_boundary(net)  # the third quadrant and the diagonal
    assert (boundary.f_vector, homology(boundary).betti) == ((1, 3, 1), (1, 0, 0))
    assert homology(decision_region(net, 0)).betti == (1, 0, 0)


def test_a_single_output_has_two_classes() -> None:
    net = from_arrays([([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1] * 4], [-1])])
    assert homology(decision_boundary(net)).betti == (1, 1, 0)
    assert homology(decision_region(net, 0)).betti == (1, 0, 0)
    assert homology(decision_region(net, 1)).betti == (1, 1, 0)


# --- Torsion: simplicial complexes within a simplex --------------------------------------------


def within_simplex(vertices: int, simplices: Sequence[Sequence[int]]) -> Subcomplex:
    """An abstract simplicial complex as faces of the standard simplex in R^(vertices - 1)."""
    size = vertices - 1
    simplex = Polyhedron.from_constraints(
        [*([-int(i == j) for j in range(size)] for i in range(size)), [1] * size], [*[0] * size, 1]
    )
    cells = canonical_complex(from_arrays([([[0] * size], [0])]), simplex)
    numbers = {
        cells.vertex(v): next((i for i, x in enumerate(cells.vertex(v), 1) if x), 0)
        for v in range(vertices)
    }
    wanted = {frozenset(entry) for entry in simplices}
    masks = {}
    for k in range(size + 1):
        corners = [cells.vertices_and_rays(cell)[0] for cell in cells.cells(k)]
        masks[k] = np.array(
            [frozenset(numbers[point] for point in row) in wanted for row in corners], dtype=bool
        )
    assert sum(int(mask.sum()) for mask in masks.values()) == len(wanted)
    return Subcomplex.closure(cells, masks)


PROJECTIVE_PLANE = ["013", "014", "024", "025", "035", "123", "125", "145", "234", "345"]


def test_projective_plane() -> None:
    triangles = [tuple(map(int, text)) for text in PROJECTIVE_PLANE]
    part = within_simplex(6, triangles)
    assert part.f_vector == (6, 15, 10, 0, 0, 0)
    found = homology(part)
    assert found.betti == (1, 0, 0, 0, 0, 0)
    assert found.torsion == ((), (2,), (), (), (), ())
    assert found.betti_mod_2 == (1, 1, 1, 0, 0, 0)
    assert betti_numbers(part, characteristic=3) == found.betti
    assert found.euler_characteristic == found.euler_with_compact_support == 1


def grid(turned: bool) -> list[Simplex]:
    """A torus or Klein bottle from 3 × 3 squares, each cut into two triangles."""

    def vertex(i: int, j: int) -> int:
        if i == 3 and turned:
            j = -j
        return 3 * (i % 3) + j % 3

    found: list[Simplex] = []
    for i in range(3):
        for j in range(3):
            a, b, c, d = vertex(i, j), vertex(i + 1, j), vertex(i, j + 1), vertex(i + 1, j + 1)
            found += [(a, b, d), (a, c, d)]
    return found


def test_klein_bottle_and_torus() -> None:
    klein = homology(within_simplex(9, grid(turned=True)))
    assert klein.betti[:3] == (1, 1, 0)
    assert klein.torsion[:3] == ((), (2,), ())
    assert klein.betti_mod_2[:3] == (1, 2, 1)
    plain = homology(within_simplex(9, grid(turned=False)))
    assert (plain.betti[:3], plain.torsion) == ((1, 2, 1), ((),) * 9)


def moore(order: int) -> list[Simplex]:
    """A disk whose boundary runs `order` times around the triangle 0 1 2.

    It consists of rings of vertices 3 + i, and a middle.
    """
    rim = 3 * order
    middle = 3 + rim
    found: list[Simplex] = []
    for i in range(rim):
        inner, following = 3 + i, 3 + (i + 1) % rim
        outer, next_outer = i % 3, (i + 1) % 3
        found += [
            (outer, next_outer, inner),
            (next_outer, inner, following),
            (inner, following, middle),
        ]
    return found


def divisors_of(vertices: int, triangles: Sequence[Simplex]) -> list[tuple[int, tuple[int, ...]]]:
    """The elementary divisors of the simplicial boundary maps, with vertices in ascending order."""
    names = [sorted({s for t in triangles for s in combinations(sorted(t), k)}) for k in (1, 2, 3)]
    assert len(names[0]) == vertices
    none = np.zeros(0, dtype=np.int64)
    chains = [Boundary(0, np.zeros(vertices + 1, dtype=np.int64), none, none.astype(np.int8))]
    for k in (1, 2):
        places = {simplex: i for i, simplex in enumerate(names[k - 1])}
        faces = [[places[s[:i] + s[i + 1 :]] for i in range(k + 1)] for s in names[k]]
        signs = np.array([[(-1) ** i for i in range(k + 1)]] * len(faces), dtype=np.int8)
        offsets = np.arange(len(faces) + 1) * (k + 1)
        chains.append(Boundary(len(names[k - 1]), offsets, np.array(faces).ravel(), signs.ravel()))
    return chain_divisors(chains)


@pytest.mark.parametrize("order", [2, 3, 4, 5, 6, 12])
def test_moore_spaces(order: int) -> None:
    """H_1 = Z/order; the space is a disk for order 1."""
    vertices = 4 + 3 * order
    _, (edges, none), (units, others) = divisors_of(vertices, moore(order))
    assert (edges, none, others) == (vertices - 1, (), (order,))
    assert units + 1 == 9 * order  # H_2 = 0: all triangles


def test_torsion_over_all_fields() -> None:
    """H_1 contains Z/2 + Z/12, and H_2 contains Z/3 and Z^2."""
    found = Homology((1, 0, 2, 0), ((), (2, 12), (3,), ()), 3, 3)
    assert found.betti_over(0) == found.betti_over(5) == (1, 0, 2, 0)
    assert found.betti_over(2) == found.betti_mod_2 == (1, 2, 4, 0)
    assert found.betti_over(3) == (1, 1, 4, 1)


# --- The parts ---------------------------------------------------------------------------------


def dense(boundary: Boundary) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    matrix = np.zeros((boundary.rows, boundary.columns), dtype=np.int64)
    columns = np.repeat(np.arange(boundary.columns), np.diff(boundary.offsets))
    np.add.at(matrix, (boundary.facets, columns), boundary.signs)
    return matrix


def test_boundaries_of_boundaries_are_zero() -> None:
    rng = Random("boundaries")
    for widths in [(2, 7, 5, 1), (3, 5, 2, 1), (4, 3, 2, 1), (5, 2, 1)]:
        layers = [
            (
                [[rng.randint(-3, 3) for _ in range(n)] for _ in range(m)],
                [rng.randint(-3, 3) for _ in range(m)],
            )
            for n, m in pairwise(widths)
        ]
        cells = canonical_complex(
            from_arrays(layers), Polyhedron.box([-2] * widths[0], [3] * widths[0])
        )
        chains = cellular_chains(full(cells))
        assert [chain.columns for chain in chains] == list(cells.f_vector)
        for below, above in pairwise(chains):
            assert set(np.unique(above.signs).tolist()) == {-1, 1}
            assert not (dense(below) @ dense(above)).any()
            assert (np.abs(dense(above)).sum(axis=0) == np.diff(above.offsets)).all()


def test_only_bounded_cells_count() -> None:
    cells = canonical_complex(
        from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    )
    assert [chain.columns for chain in cellular_chains(full(cells))] == [3, 3, 1]


def minors(rows: list[list[int]], size: int) -> int:
    """The greatest common divisor of all minors of a given size."""
    found = 0
    for chosen in combinations(rows, size):
        for columns in combinations(range(len(rows[0])), size):
            part = RationalMatrix.from_integers([[row[c] for c in columns] for row in chosen])
            found = math.gcd(found, int(part.determinant()))
    return found


@pytest.mark.parametrize("entries", [(-1, 1), (-2, 2), (-4, 6), (-12, 12)])
def test_elementary_divisors_against_minors(entries: tuple[int, int]) -> None:
    """The product of the first k divisors is the gcd of the minors of size k."""
    for seed in range(60):
        rng = Random(f"{entries} {seed}")
        height, width = rng.randint(1, 4), rng.randint(1, 4)
        factor = rng.choice([1, 1, 2, 6])
        rows = [[factor * rng.randint(*entries) for _ in range(width)] for _ in range(height)]
        ones, others = elementary_divisors([{c: x for c, x in enumerate(row) if x} for row in rows])
        product, expected = 1, [*[1] * ones, *others]
        for size in range(1, min(height, width) + 1):
            product *= expected[size - 1] if size <= len(expected) else 0
            assert product == minors(rows, size)
        assert all(b % a == 0 for a, b in pairwise(expected))
        assert all(divisor > 1 for divisor in others)


# --- Errors ------------------------------------------------------------------------------------


def test_there_is_no_such_output_or_label() -> None:
    two = from_arrays([([[1], [2]], [0, 0])])
    with pytest.raises(DomainError, match="no output 2, only 0 to 1"):
        level_set(two, 0, output=2)
    with pytest.raises(DomainError, match="no output -1"):
        sublevel_set(two, 0, output=-1)
    with pytest.raises(DomainError, match="no class 2, only 0 to 1"):
        decision_region(two, 2)
    with pytest.raises(DomainError, match="no class 2, only 0 to 1"):
        decision_region(from_arrays([([[1]], [0])]), 2)
    with pytest.raises(NetworkError, match="nan is not a finite number"):
        level_set(two, float("nan"))
    with pytest.raises(DomainError, match="the domain is empty"):
        level_set(two, 0, domain=Polyhedron.from_constraints([[1], [-1]], [0, -1]))


def test_domains_that_do_not_fit() -> None:
    net = skipping(2, [({0: [[0, 1]]}, [0]), ({0: [[1, 0]], 1: [[1]]}, [0])])
    for network in (net, NORM):
        with pytest.raises(DomainError, match=r"in R\^3, but the network has 2 inputs"):
            level_set(network, 0, domain=Polyhedron.orthant(3))
        with pytest.raises(DomainError, match="domain 'R' is not understood"):
            level_set(network, 0, domain="R")


def test_no_field_has_this_characteristic() -> None:
    part = level_set(NORM, 1)
    for wrong in (1, -2, 4, 91, 2**61, True):
        with pytest.raises(DomainError, match="no field has the characteristic"):
            betti_numbers(part, characteristic=wrong)
    assert (
        betti_numbers(part, characteristic=2**61 - 1)
        == betti_numbers(part, characteristic=7)
        == (1, 1, 0)
    )


def test_sets_that_are_not_closed() -> None:
    cells = canonical_complex(NORM)
    masks = tuple(np.full(cells.size(k), k > 0) for k in range(3))
    with pytest.raises(DomainError, match="without one of its faces"):
        homology(Subcomplex(cells, masks))


def test_no_neurons_for_directions_that_the_equations_of_the_domain_see() -> None:
    """The output reads y, which only the equation y = 2 of the domain reads.

    No vertex is missing, and no cell is cut in two.
    """
    network = skipping(2, [({0: [[1, 0]]}, [0]), ({0: [[0, 1]], 1: [[1]]}, [0])])
    line = Polyhedron.from_constraints([], [], [[0, 1]], [2])
    part = level_set(network, 3, domain=line)
    assert part.cells.network.widths[1] == 1
    assert part.f_vector == (1, 0)
    assert level_set(network, 3).cells.network.widths[1] == 2


def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    import signal

    def press(step: ProgressStep) -> None:
        if step.num_done == 3:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # tests in the background ignore Ctrl-C
    try:
        with pytest.raises(UnfinishedError, match="incomplete"):
            level_set(NORM, 1, progress=press)
    finally:
        signal.signal(signal.SIGINT, before)
    assert issubclass(UnfinishedError, DomainError)
