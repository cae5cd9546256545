"""The geometry of pictures: exact clipping, cyclic order, slices, and what matplotlib receives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from mpl_toolkits.mplot3d import art3d  # type: ignore[import-untyped,unused-ignore]

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.complex import Cell, PolyhedralComplex, Subcomplex, canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.formats import parse_slice, save
from polyrelu.network import Block, Layer, Network, from_arrays
from polyrelu.plot import (
    draw_boundary,
    draw_cells,
    draw_graph,
    draw_layers,
    draw_level_set,
    draw_subcomplex,
    draw_surface,
    draw_weights,
    draw_zero_sets,
    picture,
    view_of,
)
from polyrelu.plot.canvas import new_figure
from polyrelu.plot.clip import Clipped, floats
from polyrelu.plot.parts import boundary_in_domain, zero_set
from polyrelu.plot.sets import classes_of
from polyrelu.plot.slices import on_axes
from polyrelu.plot.values import lifted_regions
from polyrelu.plot.view import window
from polyrelu.plot.weights import unit_weight
from polyrelu.topology import decision_boundary, level_set
from tests.cli.commands import run_json
from tests.generators.campaigns import case, few_and_all, few_some_and_all
from tests.generators.quantised_networks import KINDS, quantised_network

Point = tuple[Fraction, ...]
Polygon = frozenset[Point]

UNIT = [[1, 0], [0, 1]]
BOX = (Fraction(-3, 2), Fraction(7, 3))
DIAGONAL = Polyhedron.from_constraints([], [], [[1, -1]], [0])


def random_network(inputs: int, layers: int, seed: int, outputs: int = 2) -> Network:
    """Return a plain network with small fractions."""
    rng = Random(f"plot {inputs} {layers} {seed}")
    widths = [inputs, *[4] * layers, outputs]

    def numbers(count: int) -> list[Fraction]:
        return [Fraction(rng.randint(-7, 7), rng.randint(1, 3)) for _ in range(count)]

    return from_arrays([([numbers(a) for _ in range(b)], numbers(b)) for a, b in pairwise(widths)])


def networks(inputs: int) -> Iterator[tuple[Network, PolyhedralComplex]]:
    """Degenerate and ordinary networks with their complexes on R^n, some of which contain lines."""
    for kind in KINDS:
        for seed in range(8):
            network = quantised_network(kind, Random(f"plot {kind} {seed}"))
            if network.num_inputs == inputs:
                try:
                    yield network, canonical_complex(network)
                except DomainError:  # a skip connection reads more than the first layer does
                    continue
    for seed in range(3):
        network = random_network(inputs, 2, seed)
        yield network, canonical_complex(network)
    for rows in ([[1, 2, 3]], [[1, 0, 2], [0, 1, 1]], [[0, 0, 1], [0, 0, -2]], [[0, 0, 0]]):
        flat = from_arrays(
            [([row[-inputs:] for row in rows], [1] * len(rows)), ([[1] * len(rows)], [0])]
        )
        yield flat, canonical_complex(flat)


def polygons(
    cells: PolyhedralComplex, box: tuple[Fraction, Fraction], dimension: int
) -> set[Polygon]:
    """Return the cells inside the box that are not on its boundary, as sets of corners."""
    inside = Clipped(cells, view_of(cells, box=box))
    if dimension < cells.lineality_dim:
        return set()
    found = [points for _, points in inside.cells_in_box(dimension, range(cells.size(dimension)))]
    assert all(len(set(points)) == len(points) for points in found)
    return {frozenset(points) for points in found if not inside.is_on_side(points)}


# --- Clipping -------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", few_and_all(range(1, 3), range(1, 4)))
def test_clipped_cells_are_the_cells_of_the_clipped_domain(sizes: range) -> None:
    """Cells of R^n cut by the sides of the box equal the cells of the complex on the box."""
    for inputs in sizes:
        with case(inputs):
            check_clipped_cells(inputs)


def check_clipped_cells(inputs: int) -> None:
    lines = set()
    for network, cells in networks(inputs):
        lines.add(cells.lineality_dim)
        boxed = canonical_complex(network, Polyhedron.box([BOX[0]] * inputs, [BOX[1]] * inputs))
        for dimension in range(min(inputs, 2) + 1):
            assert polygons(cells, BOX, dimension) == polygons(boxed, BOX, dimension)
    assert lines == set(range(inputs + 1))


def cross(a: Point, b: Point, c: Point) -> Fraction:
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])


def test_corners_go_around() -> None:
    """Corners turn to the same side, once around: shoelace and triangles from a corner agree."""
    tried = 0
    for _, cells in networks(2):
        for _, points in Clipped(cells, view_of(cells, box=BOX)).cells_in_box(
            2, range(cells.num_regions)
        ):
            turns = [
                cross(*(points[(i + k) % len(points)] for k in range(3)))
                for i in range(len(points))
            ]
            assert all(turn > 0 for turn in turns) or all(turn < 0 for turn in turns)
            fans = [cross(points[0], points[i], points[i + 1]) for i in range(1, len(points) - 1)]
            assert all(fan * turns[0] > 0 for fan in fans)
            tried += 1
    assert tried > 100


def texts(points: list[Point]) -> set[str]:
    return {" ".join(map(str, point)) for point in points}


def test_a_quadrant_and_a_ray_by_hand() -> None:
    cells = canonical_complex(from_arrays([(UNIT, [0, 0]), ([[1, 1]], [0])]))
    box: Any = [(-1, 2), ("-1/2", 1)]
    inside = Clipped(cells, view_of(cells, box=box))
    location = cells.locate([5, 5])
    assert location is not None
    assert texts(inside.cell(2, location.index)) == {"0 0", "2 0", "2 1", "0 1"}
    ray = cells.locate([0, -7])
    assert ray is not None
    assert texts(inside.cell(1, ray.index)) == {"0 0", "0 -1/2"}
    assert texts(inside.cell(0, 0)) == {"0 0"}


def test_what_only_touches_the_frame_is_not_seen() -> None:
    cells = canonical_complex(from_arrays([(UNIT, [0, 0]), ([[1, 1]], [0])]))
    inside = Clipped(cells, view_of(cells, box=[(0, 1), (-1, 1)]))
    seen = [index for index, _ in inside.cells_in_box(2, range(cells.num_regions))]
    assert len(seen) == 2
    left = cells.locate([-1, 0])  # an edge that meets the box in one point
    assert left is not None
    assert inside.cell(1, left.index) == []
    line = cells.locate([0, 1])  # an edge on the side of the box
    assert line is not None
    assert inside.is_on_side(inside.cell(1, line.index))


def test_certain_floats_in_place_of_exact_vertices() -> None:
    """Certain floats are close enough, and only the vertices on the frame are solved for."""
    for seed in range(3):
        network = random_network(2, 3, seed)
        box = Polyhedron.box([BOX[0]] * 2, [BOX[1]] * 2)
        rounded, exact = canonical_complex(network, box), canonical_complex(network, box)
        before = rounded.statistics.num_exact_vertices
        near = Clipped(rounded, view_of(rounded, box=BOX), exact=False)
        all_near = [near.cell(1, index) for index in range(rounded.size(1))]
        solved = rounded.statistics.num_exact_vertices - before
        assert (
            0
            < solved
            <= int((rounded.constraint_signs(0) == 0).any(axis=1).sum())
            < rounded.size(0)
        )
        whole = Clipped(exact, view_of(exact, box=BOX))
        unseen, differ = (BOX[1] - BOX[0]) / 2**20, False
        for index, found in enumerate(all_near):
            for one, other in zip(found, whole.cell(1, index), strict=True):
                assert all(abs(a - b) <= unseen for a, b in zip(one, other, strict=True))
                differ |= one != other
        assert differ


@pytest.mark.slow
def test_edges_past_the_corners_of_the_frame() -> None:
    """Exact arithmetic decides on which side of a corner an edge passes, in any dimension."""
    rng, seen = Random("corners"), set()
    for trial in range(60):
        inputs = 2 + trial % 2
        slopes = [Fraction(rng.randint(1, 9), rng.randint(1, 9)) for _ in range(inputs)]
        off = rng.choice([0, 1, -1]) * Fraction(1, 2 ** rng.choice([50, 56, 64, 90]))
        rows = [slopes, *([rng.randint(-9, 9) for _ in range(inputs)] for _ in range(2))]
        # The point lies next to the corner (1, …, 1) of the frame.
        network = from_arrays([(rows, [-sum(slopes) + off, 1, 2]), ([[1, 1, 1]], [0])])
        domain = Polyhedron.box([-7] * inputs, [Fraction(22, 3)] * inputs)
        cells = canonical_complex(network, domain if trial % 3 else None)
        view = view_of(cells, box=[-1, 1])
        near, whole = Clipped(cells, view, exact=False), Clipped(cells, view)
        for dimension in range(3):
            for index in range(cells.size(dimension)):
                found, expected = near.cell(dimension, index), whole.cell(dimension, index)
                assert len(found) == len(expected)
                distances = (
                    abs(a - b)
                    for pair in zip(found, expected, strict=True)
                    for a, b in zip(*pair, strict=True)
                )
                assert max(distances, default=0) <= Fraction(2, 2**20)
                seen.add((dimension, bool(found)))
    assert len(seen) == 6


def area(points: list[tuple[Fraction, ...]]) -> Fraction:
    """Return the area of a polygon, by the shoelace formula."""
    turned = [*points[1:], points[0]]
    return (
        abs(
            sum(
                (a[0] * b[1] - a[1] * b[0] for a, b in zip(points, turned, strict=True)), Fraction()
            )
        )
        / 2
    )


@pytest.mark.parametrize("seeds", few_some_and_all(range(5), range(15), range(30)))
def test_regions_fill_the_frame(seeds: range) -> None:
    """Unbounded cells and cells with lines are clipped exactly.

    All areas add up, and every corner lies in its region.
    """
    for kind in KINDS:
        with case(kind):
            check_that_regions_fill_the_frame(kind, seeds)


def check_that_regions_fill_the_frame(kind: str, seeds: range) -> None:
    frame = [[Fraction(-3), Fraction(4)], [Fraction(-1, 2), Fraction(5)]]
    tried = 0
    for seed in seeds:
        network = quantised_network(kind, Random(f"picture {kind} {seed}"))
        if network.num_inputs != 2:
            continue
        try:
            cells = canonical_complex(network)
        except DomainError:
            continue
        view, tried = view_of(cells, box=frame), tried + 1
        polygons = dict(Clipped(cells, view).cells_in_box(2, range(cells.num_regions)))
        assert sum(area(points) for points in polygons.values()) == 7 * Fraction(11, 2)
        for index, points in polygons.items():
            assert all(cells.region(index).polyhedron.contains(point) for point in points)
    assert tried or kind == "bottleneck" or len(seeds) < 30


# --- Views ----------------------------------------------------------------------------------------


def test_the_default_box() -> None:
    triangle = Polyhedron.from_generators([[0, 0], [3, 1], [1, "5/2"]], (), (), 2)
    view = window(triangle)[1]
    assert view.caption == "box [0, 3] × [0, 5/2]"
    assert window(Polyhedron.orthant(2))[1].caption == "box [-1, 1] × [-1, 1]"


def test_axes_of_a_slice() -> None:
    plane = Polyhedron.from_generators([[1, 2, 0, 1]], (), [[0, 1, 1, 0], [0, 0, 0, 1]], 4)
    view = window(plane)[1]
    assert (view.axes, view.labels, view.num_inputs) == ((2, 3), ("$x_{2}$", "$x_{3}$"), 4)
    assert view.caption == "box [-1, 1] × [-1, 1], slice of R^4"


@pytest.mark.parametrize(
    ("domain", "box", "says"),
    [
        (Polyhedron.universe(4), None, "the domain has 4"),
        (Polyhedron.box([0, 0], [0, 0]), None, "the domain has 0"),
        (Polyhedron.universe(2), [1, 2, 3], r"\(low, high\), or 2 such pairs"),
        (Polyhedron.universe(2), [(0, 1)], r"\(low, high\), or 2 such pairs"),
        (
            Polyhedron.universe(2),
            [(0, 1), (1, 1)],
            "side 1 of the box is empty: 1 is not less than 1",
        ),
        (Polyhedron.box([5, 5], [6, 6]), [-1, 1], "shows nothing of the inside"),
        (Polyhedron.box([1, 1], [2, 2]), [-1, 1], "shows nothing of the inside"),
        (Polyhedron.from_constraints([[1, 0], [-1, 0]], [0, -1]), None, "empty"),
    ],
)
def test_wrong_views(domain: Polyhedron, box: object, says: str) -> None:
    with pytest.raises(DomainError, match=says):
        window(domain, box)  # type: ignore[arg-type]


def test_the_network_on_a_slice() -> None:
    """A network on a slice has the same values, and its domain the same points.

    This holds also where later layers read the input.
    """
    plain = random_network(4, 1, 0)
    skip = Block(0, plain.weight(1).take(rows=[1, 2]))
    layers = (plain.layers[0], Layer((skip, *plain.layers[1].blocks), plain.bias(2)))
    network = Network(4, layers)
    plane = Polyhedron.from_constraints(
        [[1, 0, 0, 0], [0, 1, 1, 0]], [2, 1], [[1, 2, 0, 1], [0, 1, 3, -1]], ["1/2", 2], 4
    )
    flat, part, axes, _ = on_axes(network, plane)
    assert (flat.num_inputs, axes) == (2, (2, 3))
    inside = set()
    for s, t in product(range(-4, 5), repeat=2):
        y = 2 - 3 * s + t
        x = [Fraction(1, 2) - 2 * y - t, Fraction(y), Fraction(s), Fraction(t)]
        assert flat([s, t]) == network(x)
        assert part.contains([s, t]) == plane.contains(x)
        inside.add(part.contains([s, t]))
    assert inside == {True, False}


def test_a_slice_is_drawn_like_the_complex_on_it() -> None:
    network = random_network(4, 2, 1)
    plane = Polyhedron.from_generators([[1, 0, 2, 1]], (), [[1, 1, 1, 0], [2, 0, 0, 1]], 4)
    found = picture(network, plane, what="weights", box=BOX)
    assert found.view.names == (2, 3)
    cells = canonical_complex(network, window(plane, BOX)[0])
    weights = breakpoint_complex(cells)
    assert found.counts["visible facets"] == sum(facet.weight[0] != 0 for facet in weights)
    assert found.figure.axes[0].get_xlabel() == "$x_{2}$"


def test_slices_are_drawn_in_their_coordinates(tmp_path: Path) -> None:
    """Coordinates go along p1 - p0 and p2 - p0, so that the points are (0, 0), (1, 0) and (0, 1).

    This holds also for points that span R^n.
    """
    for inputs, points in (
        (4, [[1, 0, 2, 1], [2, 1, 3, 1], [3, 0, 2, 2]]),
        (2, [[1, 2], [0, 4], [2, 5]]),
    ):
        network = random_network(inputs, 2, 1)
        (tmp_path / "slice.json").write_text(json.dumps({"points": points}))
        part = parse_slice(f"slice:{tmp_path}/slice.json", inputs)
        flat, domain, names, linear = on_axes(network, part)
        assert (names, domain.inequalities, linear is not None) == (("s", "t"), (), True)
        for s, t in product((Fraction(0), Fraction(1), Fraction(-1, 3)), repeat=2):
            x = [p + s * (a - p) + t * (b - p) for p, a, b in zip(*points, strict=True)]
            assert flat([s, t]) == network(x)
        found = picture(network, part, what="complex")
        assert (
            found.view.caption
            == f"box [-1, 2] × [-1, 2], slice p0 + s (p1 - p0) + t (p2 - p0) of R^{inputs}"
        )
        assert found.figure.axes[0].get_xlabel() == "$s$"
        assert picture(network, part, what="complex", box=[0, 1]).view.upper == (
            Fraction(1),
            Fraction(1),
        )
        (tmp_path / "slice.json").write_text(
            json.dumps({"points": points, "range": [[0, 3], [-1, 0]]})
        )
        part = parse_slice(f"slice:{tmp_path}/slice.json", inputs)
        assert picture(network, part, what="zeros").view.caption.startswith(
            "box [0, 3] × [-1, 0], slice p0"
        )


def test_a_mesh_of_a_slice_through_points(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The surface of max(|x|, |y|, |z|) on a skew slice is in the coordinates of the slice."""
    rows = [[2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]
    network = from_arrays(
        [([[s * a for a in row] for row in rows for s in (1, -1)], [0] * 6), ([[1] * 6], [0])]
    )
    points = [[0, 0, 0, 0], [1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 1, 1]]
    (tmp_path / "slice.json").write_text(json.dumps({"points": points}))
    save(network, tmp_path / "net.json")
    command = [
        "plot",
        str(tmp_path / "net.json"),
        "--domain",
        f"slice:{tmp_path}/slice.json",
        "-o",
        f"{tmp_path}/m.obj",
    ]
    status, found = run_json(capsys, *command, "--what", "level", "--level", "2")
    assert (status, found["axes"], found["drawn"]["faces"]) == (0, ["s", "t", "u"], 8)
    text = (tmp_path / "m.obj").read_text()
    assert "x = s, y = t, z = u" in text
    assert {line for line in text.splitlines() if line.startswith("v 1")} == {"v 1.0 0.0 0.0"}


def test_weights_on_a_slice_are_measured_along_it() -> None:
    """The colours belong to lengths along the slice in R^n, not to lengths in the coordinates."""
    network = random_network(4, 2, 1, outputs=1)
    plane = Polyhedron.from_generators([[1, 0, 2, 1]], (), [[1, 1, 1, 0], [2, 0, 0, 1]], 4)
    ax = picture(network, plane, what="weights", box=BOX).figure.axes[1]  # the scale of colours
    largest = max(
        abs(unit_weight(facet, 0))
        for facet in breakpoint_complex(canonical_complex(network, window(plane, BOX)[0]))
    )
    low, high = ax.get_ylim()
    assert (low, high) == pytest.approx((-largest, largest)) or high < largest / 2
    (facet,) = breakpoint_complex(
        canonical_complex(from_arrays([([[1, 2]], [0]), ([[3]], [0])]), DIAGONAL)
    )
    assert unit_weight(facet, 0) == pytest.approx(9 / 2**0.5)


# --- What matplotlib is given ---------------------------------------------------------------------


def drawn(ax: Any) -> list[list[list[tuple[float, ...]]]]:
    """Return the corners of all polygons and segments of Axes, one list for each collection."""
    return [
        [list(map(tuple, path.vertices.tolist())) for path in part.get_paths()]
        for part in ax.collections
    ]


@pytest.mark.slow
def test_drawn_regions_and_edges_are_the_clipped_ones() -> None:
    for network, cells in networks(2):
        ax = draw_cells(cells, box=BOX)
        inside = Clipped(cells, view_of(cells, box=BOX))
        regions = [floats(points) for _, points in inside.cells_in_box(2, range(cells.num_regions))]
        fills, *edges = drawn(ax)
        assert [
            corners[: len(points)] for corners, points in zip(fills, regions, strict=True)
        ] == regions
        if cells.lineality_dim < 2:
            expected = {
                frozenset(floats(points))
                for _, points in inside.cells_in_box(1, range(cells.size(1)))
            }
            found = [frozenset(segment) for part in edges for segment in part]
            assert len(found) == len(set(found))
            assert set(found) == expected, network


def test_edges_have_the_colour_of_their_layer() -> None:
    """The network has two lines of layer 1 and the line x⁺ + y⁺ = 1 of layer 2, bent twice."""
    network = from_arrays([(UNIT, [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    ax = draw_cells(canonical_complex(network), box=[-2, 2])
    assert [len(part) for part in drawn(ax)] == [7, 6, 3]
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["layer 1", "layer 2"]
    collections: Any = ax.collections[1:]
    first, second = (part.get_colors()[0].tolist() for part in collections)
    assert first != second


def test_the_boundary_of_the_domain_is_drawn_but_not_the_frame() -> None:
    triangle = Polyhedron.from_generators([[-2, -2], [2, -2], [0, 2]], (), (), 2)
    cells = canonical_complex(from_arrays([([[1, 0]], [0]), ([[1]], [0])]), triangle)
    regions, border, edges = drawn(draw_cells(cells))
    # The lowest side, which has two edges, lies on the frame.
    assert [len(part) for part in (regions, border, edges)] == [
        2,
        2,
        1,
    ]
    boxed = canonical_complex(
        from_arrays([([[1, 0]], [0]), ([[1]], [0])]), Polyhedron.box([-1, -1], [1, 1])
    )
    assert [len(part) for part in drawn(draw_cells(boxed))] == [2, 1]


def test_layers_in_colour_and_grey() -> None:
    network = from_arrays([(UNIT, [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    cells = canonical_complex(network)
    figure = draw_layers(cells, box=[-2, 2])
    panels = [[len(part) for part in drawn(ax)] for ax in figure.axes]
    assert panels == [[6], [6, 3]]
    assert [ax.get_title() for ax in figure.axes] == [
        "layer 1: 2 neurons, 6 edges",
        "layer 2: 1 neuron, 3 edges",
    ]
    assert [len(part) for part in drawn(draw_zero_sets(cells, box=[-2, 2]))] == [6, 3]


def test_points_and_open_regions_of_a_subcomplex() -> None:
    """|x| + |y| is 0 at a point, which is drawn as a point; x⁺ + y⁺ is 0 on a quadrant."""
    diamond = from_arrays([([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1] * 4], [0])])
    point = draw_level_set(level_set(diamond, 0))
    assert len(point.lines) == 1
    assert np.array(point.lines[0].get_data()).tolist() == [[0.0], [0.0]]
    quadrant = level_set(from_arrays([(UNIT, [0, 0]), ([[1, 1]], [0])]), 0)
    ax = draw_level_set(quadrant)
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["equal", "above"]
    assert [len(part) for part in drawn(ax)] == [1, 3, 2]  # the quadrant, the others, its two sides
    assert [len(part) for part in drawn(draw_subcomplex(quadrant))] == [1]


def test_no_edges_inside_an_open_region_of_a_level_set() -> None:
    network = from_arrays([([*UNIT, [1, 2]], [0, 0, 1]), ([[1, 1, 0]], [0])])
    part = level_set(network, 0)
    assert (part.f_vector, boundary_in_domain(part).f_vector) == ((3, 5, 2), (3, 4, 0))
    outside = {cell for cell in boundary_in_domain(part) if cell.dimension == 1}
    assert all(0 in vertex for cell in outside for vertex in part.cells.vertices_and_rays(cell)[0])


@pytest.mark.slow
def test_polygons_in_space() -> None:
    for _, cells in networks(3):
        if cells.lineality_dim > 2:
            continue
        part = Subcomplex.closure(cells, {2: np.ones(cells.size(2), dtype=bool)})
        ax = draw_subcomplex(part, box=BOX)
        inside = Clipped(cells, view_of(cells, box=BOX))
        expected = [floats(points) for _, points in inside.cells_in_box(2, range(cells.size(2)))]
        collections = [part for part in ax.collections if isinstance(part, art3d.Poly3DCollection)]
        assert len(collections) == bool(expected)
        if expected:
            found = [np.array(face).tolist() for face in collections[0]._faces]
            assert [face[: len(points)] for face, points in zip(found, expected, strict=True)] == [
                [list(point) for point in points] for points in expected
            ]


# --- Weights, classes, heights --------------------------------------------------------------------


def test_weights_are_red_where_convex_and_grey_where_invisible() -> None:
    network = from_arrays(
        [([[1, 0], [0, 1], [1, 1], [2, 2]], [0, 0, -1, -2]), ([[3, -1, 2, -1]], [0])]
    )
    breakpoints = breakpoint_complex(canonical_complex(network))
    ax = draw_weights(breakpoints, box=[-2, 2])
    invisible, visible = parts = list[Any](ax.collections)
    assert len(parts) == 2
    weights = [unit_weight(facet, 0) for facet in breakpoints if facet.weight[0]]
    assert (len(invisible.get_paths()), len(visible.get_paths())) == (
        len(breakpoints) - len(weights),
        len(weights),
    )
    assert sorted({round(weight, 9) for weight in weights}) == [-1.0, 3.0]
    found: dict[bool, set[bool]] = {}
    for path, colour in zip(visible.get_paths(), visible.get_colors(), strict=True):
        (x, _), (z, _) = path.vertices.tolist()
        found.setdefault(x == z == 0, set()).add(bool(colour[0] > colour[2]))
    assert found == {True: {True}, False: {False}}  # on x = 0 the weight is 3, on y = 0 it is -1
    assert len(ax.figure.axes) == 2  # the colour bar
    assert "output 0" in ax.figure.axes[1].get_ylabel()


def test_unit_weights_are_the_euclidean_ones() -> None:
    for seed in range(3):
        for facet in breakpoint_complex(canonical_complex(random_network(2, 2, seed))):
            for output in range(2):
                exact = float(facet.euclidean()[output])
                assert unit_weight(facet, output) == pytest.approx(exact, rel=1e-15, abs=0)


def test_classes_are_those_of_the_network() -> None:
    seen = set()
    for outputs in (1, 2, 3, 4):
        for seed in range(4):
            network = random_network(2, 1, seed, outputs)
            boundary = decision_boundary(network)
            labels = classes_of(boundary, outputs)
            for index in range(boundary.cells.num_regions):
                values = network(boundary.cells.interior_point(index))
                scores = [-values[0], values[0]] if outputs == 1 else list(values)
                best = [label for label, score in enumerate(scores) if score == max(scores)]
                assert labels[index] == (best[0] if len(best) == 1 else -1)
                seen.add((outputs, int(labels[index])))
    assert {(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)} <= seen


def test_a_boundary_of_another_network_is_refused() -> None:
    boundary = decision_boundary(random_network(2, 1, 0))
    with pytest.raises(DomainError, match="not the decision boundary of a network with 4 outputs"):
        draw_boundary(boundary, 4)


@pytest.mark.parametrize("inputs", [1, 2])
def test_heights_are_values(inputs: int) -> None:
    network = random_network(inputs, 2, 2)
    cells = canonical_complex(network)
    pieces = lifted_regions(cells, Clipped(cells, view_of(cells, box=BOX)), 1)
    assert len(pieces) > 2
    for *point, value in (corner for piece in pieces for corner in piece):
        assert value == network(point)[1]


def test_breakpoints_of_a_graph() -> None:
    """The third neuron cancels the second one, so that there is no breakpoint at 1."""
    network = from_arrays([([[1], [1], [2]], [0, -1, -2]), ([[1, 2, -1]], [5])])
    ax = draw_graph(canonical_complex(network), box=[-2, 3])
    assert np.array(ax.lines[0].get_data()).tolist() == [[0.0], [5.0]]
    assert ax.get_title() == "output 0: 2 pieces, 1 breakpoint\nbox [-2, 3]"
    assert ax.get_xlim() == (-2, 3)


def test_a_surface() -> None:
    network = from_arrays([(UNIT, [0, 0]), ([[1, 1]], [2])])
    ax = draw_surface(canonical_complex(network))
    assert ax.get_zlabel() == "output 0"  # type: ignore[attr-defined]
    low, high = ax.get_zlim()  # type: ignore[attr-defined]
    assert low < 2 < 4 < high


# --- Axes of one's own ----------------------------------------------------------------------------


def test_axes_of_the_caller() -> None:
    cells = canonical_complex(from_arrays([(UNIT, [0, 0]), ([[1, 1]], [0])]))
    figure = new_figure()
    ax = figure.add_subplot()
    ax.set_title("mine")
    assert draw_cells(cells, ax=ax) is ax
    assert ax.get_title() == "mine"
    assert draw_zero_sets(cells, ax=ax) is ax
    with pytest.raises(DomainError, match="projection='3d'"):
        draw_surface(cells, ax=ax)
    with pytest.raises(DomainError, match="plane Axes"):
        draw_cells(cells, ax=figure.add_subplot(projection="3d"))


def test_wrong_dimensions() -> None:
    line, plane = (
        canonical_complex(random_network(1, 1, 0)),
        canonical_complex(random_network(2, 1, 0)),
    )
    for draw in (draw_cells, draw_zero_sets, draw_layers, draw_surface):
        with pytest.raises(DomainError, match="dimension"):
            draw(line)
    with pytest.raises(DomainError, match="dimension 1, not 2"):
        draw_graph(plane)
    with pytest.raises(DomainError, match="dimension 2 or 3, not 1"):
        draw_weights(breakpoint_complex(line))
    with pytest.raises(DomainError, match="there is no output 2, only 0 to 1"):
        draw_surface(plane, output=2)


def test_no_hidden_layer() -> None:
    cells = canonical_complex(from_arrays([([[1, 2]], [0])]))
    with pytest.raises(DomainError, match="no hidden layer"):
        draw_layers(cells)
    assert draw_cells(cells).get_title().startswith("1 region, 0 edges")


def test_zero_sets_are_bent_hyperplanes() -> None:
    cells = canonical_complex(random_network(2, 2, 0))
    columns = [i for i, neuron in enumerate(cells.neurons) if neuron.layer == 2]
    for cell in zero_set(cells, 2):
        assert (cells.signs(cell.dimension)[cell.index, columns] == 0).any()
    edges = {int(index) for index in zero_set(cells, 2).indices(1)}
    for index in range(cells.size(1)):
        assert (index in edges) == bool((cells.signs(1)[index, columns] == 0).any())
    assert Cell(2, 0) not in zero_set(cells, 2)
