"""Polyhedra against PPL, called directly in this process, and against shapes of known faces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb, gcd
from random import Random
from typing import Any

import pytest

from polyrelu.exact import Optimal, Polyhedron, RationalMatrix
from tests.generators.random_polyhedra import KINDS, Description, random_description, redescribed
from tests.oracles import ppl_polyhedra as oracle
from tests.oracles.plain import Matrix, Vector

COUNT = 12


def _descriptions(name: str, kind: str, count: int = COUNT) -> Iterator[tuple[Random, Description]]:
    rng = Random(f"{name} {kind}")
    for _ in range(count):
        yield rng, random_description(kind, rng)


def _by_ppl(rows: Description | Polyhedron) -> Any:
    columns = rows.columns if isinstance(rows, Description) else rows.ambient_dimension
    return oracle.from_rows(columns, rows.inequalities, rows.equations)


def _value(objective: Sequence[int], vector: Sequence[Fraction | int]) -> Fraction:
    return sum((a * Fraction(x) for a, x in zip(objective, vector, strict=True)), Fraction())


# --- The random polyhedra themselves ------------------------------------------------------------


def test_the_random_polyhedra_are_of_all_sorts() -> None:
    """The generator makes all kinds: empty, bounded or not, flat or not, points, with lines."""
    seen: Counter[str] = Counter()
    for kind in KINDS:
        for _, rows in _descriptions("sorts", kind):
            ppl = _by_ppl(rows)
            size, dimension = oracle.sizes(ppl), oracle.dimension(ppl)
            seen["empty"] += dimension < 0
            seen["point"] += dimension == 0
            seen["flat"] += 0 < dimension < rows.columns
            seen["full"] += dimension == rows.columns
            seen["pointed and unbounded"] += size.rays > 0 and not size.lines
            seen["with lines"] += size.lines > 0
            seen["bounded"] += dimension > 0 and ppl.is_bounded()
            seen["redundant"] += size.inequalities < len(rows.inequalities)
    assert min(seen.values()) >= 10, seen


# --- One polyhedron -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_emptiness_dimension_and_boundedness(kind: str) -> None:
    for _, rows in _descriptions("dimension", kind):
        polyhedron, ppl = rows.polyhedron(), _by_ppl(rows)
        assert polyhedron.is_empty() == ppl.is_empty(), rows
        assert polyhedron.dimension == oracle.dimension(ppl), rows
        assert polyhedron.is_bounded() == ppl.is_bounded(), rows


@pytest.mark.parametrize("kind", KINDS)
def test_lineality_space_and_affine_hull(kind: str) -> None:
    for _, rows in _descriptions("lineality", kind):
        polyhedron, ppl = rows.polyhedron(), _by_ppl(rows)
        if ppl.is_empty():
            continue
        basis, hull = polyhedron.lineality_space(), polyhedron.affine_hull()
        assert len(basis) == oracle.sizes(ppl).lines, rows
        span = oracle.from_generators(rows.columns, [[Fraction(0)] * rows.columns], [], basis)
        assert span == oracle.lineality_space(ppl), rows
        assert oracle.from_rows(rows.columns, [], hull).contains(ppl), rows
        assert len(hull) == rows.columns - oracle.dimension(ppl), rows


@pytest.mark.parametrize("kind", KINDS)
def test_relative_interior_point(kind: str) -> None:
    for _, rows in _descriptions("interior", kind):
        polyhedron, ppl = rows.polyhedron(), _by_ppl(rows)
        point = polyhedron.relative_interior_point()
        if point is None:
            assert ppl.is_empty(), rows
            continue
        assert oracle.is_relatively_interior(ppl, point), rows
        assert polyhedron.contains(point), rows
        inner = polyhedron.interior_point()
        assert (inner is not None) == (oracle.dimension(ppl) == rows.columns), rows
        assert inner is None or oracle.is_relatively_interior(ppl, inner), rows


@pytest.mark.parametrize("kind", KINDS)
def test_irredundant_is_the_same_set_by_as_few_rows_as_possible(kind: str) -> None:
    for _, rows in _descriptions("irredundant", kind):
        found, ppl = rows.polyhedron().irredundant(), _by_ppl(rows)
        assert _by_ppl(found) == ppl, rows
        size = oracle.sizes(ppl)
        if ppl.is_empty():
            assert (found.inequalities, found.equations) == (((*[0] * rows.columns, -1),), ()), rows
        else:
            assert (len(found.inequalities), len(found.equations)) == (
                size.inequalities,
                size.equations,
            ), rows


@pytest.mark.parametrize("kind", KINDS)
def test_irredundant_has_the_promised_form(kind: str) -> None:
    """Echelon form with positive pivots, zeros in the pivot columns, primitive rows, sorted."""
    for _, rows in _descriptions("form", kind):
        found = rows.polyhedron().irredundant()
        pivots = [next(j for j, entry in enumerate(row) if entry) for row in found.equations]
        assert pivots == sorted(set(pivots)), rows
        assert all(row[pivot] > 0 for row, pivot in zip(found.equations, pivots, strict=True)), rows
        everything = [*found.inequalities, *found.equations]
        assert all(gcd(*row) == 1 for row in everything), rows
        for pivot in pivots:
            assert sum(row[pivot] != 0 for row in everything) == 1, rows
        assert list(found.inequalities) == sorted(found.inequalities), rows
        assert found.irredundant() == found, rows


@pytest.mark.parametrize("kind", KINDS)
def test_other_rows_for_the_same_set_have_the_same_irredundant_ones(kind: str) -> None:
    for rng, rows in _descriptions("canonical", kind):
        other = redescribed(rows, rng)
        assert _by_ppl(other) == _by_ppl(rows), "the test's own fault"
        assert other.polyhedron().irredundant() == rows.polyhedron().irredundant(), (rows, other)
        assert other.polyhedron().equals(rows.polyhedron()), (rows, other)


# --- Generators ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_generators_and_back(kind: str) -> None:
    for rng, rows in _descriptions("generators", kind):
        polyhedron, ppl = rows.polyhedron(), _by_ppl(rows)
        found, size = polyhedron.generators(), oracle.sizes(ppl)
        assert (len(found.points), len(found.rays), len(found.lines)) == (
            size.points,
            size.rays,
            size.lines,
        ), rows
        assert oracle.from_generators(rows.columns, found.points, found.rays, found.lines) == ppl, (
            rows
        )
        assert list(found.points) == sorted(found.points), rows
        back = Polyhedron.from_generators(found.points, found.rays, found.lines, rows.columns)
        assert back.equals(polyhedron), rows
        if not size.lines:  # vertices and extreme rays are unique
            assert redescribed(rows, rng).polyhedron().generators() == found, rows


@pytest.mark.parametrize("number", ["integers", "fractions", "60 bits"])
def test_hulls_of_random_generators(number: str) -> None:
    """Superfluous and repeated generators, zero rays and lines, opposite rays."""
    rng = Random(f"hulls {number}")
    for _ in range(4 * COUNT):
        columns = rng.randint(1, 4)
        points = [_vector(number, rng, columns) for _ in range(rng.randint(1, 6))]
        rays = [_direction(number, rng, columns) for _ in range(rng.choice([0, 0, 1, 2, 4]))]
        lines = [_direction(number, rng, columns) for _ in range(rng.choice([0, 0, 0, 1, 2]))]
        hull = Polyhedron.from_generators([*points, points[0]], rays, lines)
        ppl = oracle.from_generators(
            columns, points, [r for r in rays if any(r)], [d for d in lines if any(d)]
        )
        assert _by_ppl(hull) == ppl, (points, rays, lines)
        size = oracle.sizes(ppl)
        assert (len(hull.inequalities), len(hull.equations)) == (size.inequalities, size.equations)


def _vector(number: str, rng: Random, columns: int) -> Vector:
    largest = 2**60 if number == "60 bits" else 3
    least = 1 if number == "integers" else largest
    return [Fraction(rng.randint(-largest, largest), rng.randint(1, least)) for _ in range(columns)]


def _direction(number: str, rng: Random, columns: int) -> tuple[int, ...]:
    largest = 2**60 if number == "60 bits" else 1
    return tuple(rng.randint(-largest, largest) for _ in range(columns))


# --- Two polyhedra ------------------------------------------------------------------------------


def _pairs(name: str, kind: str) -> Iterator[tuple[Description, Description]]:
    """Unrelated ones, one inside the other, the same one twice."""
    for rng, rows in _descriptions(name, kind):
        other = random_description(rng.choice(KINDS), rng, rows.columns)
        kept = [row for row in rows.inequalities if rng.random() < 0.7]
        part = Description(
            rows.columns, rows.inequalities + other.inequalities, rows.equations + other.equations
        )
        yield (
            rows,
            rng.choice(
                [other, other, part, redescribed(rows, rng), Description(rows.columns, kept, [])]
            ),
        )


@pytest.mark.parametrize("kind", KINDS)
def test_includes_and_equals(kind: str) -> None:
    for left, right in _pairs("includes", kind):
        p, q, ppl_p, ppl_q = left.polyhedron(), right.polyhedron(), _by_ppl(left), _by_ppl(right)
        includes, included = ppl_p.contains(ppl_q), ppl_q.contains(ppl_p)
        assert (p.includes(q), q.includes(p)) == (includes, included), (left, right)
        assert p.equals(q) == q.equals(p) == (ppl_p == ppl_q), (left, right)


def test_the_pairs_are_of_all_sorts() -> None:
    seen: Counter[tuple[bool, bool]] = Counter()
    for kind in KINDS:
        for left, right in _pairs("includes", kind):
            p, q = _by_ppl(left), _by_ppl(right)
            seen[p.contains(q), q.contains(p)] += not p.is_empty()
    assert len(seen) == 4
    assert min(seen.values()) >= 5, seen


@pytest.mark.parametrize("kind", KINDS)
def test_intersect(kind: str) -> None:
    for left, right in _pairs("intersect", kind):
        common = left.polyhedron().intersect(right.polyhedron())
        assert _by_ppl(common) == oracle.intersection(_by_ppl(left), _by_ppl(right)), (left, right)


# --- Points and directions ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_maximize_agrees_with_the_generators(kind: str) -> None:
    for rng, rows in _descriptions("maximize", kind):
        objective = [rng.randint(-3, 3) for _ in range(rows.columns)]
        best, found = rows.polyhedron().maximize(objective), rows.polyhedron().generators()
        values = [_value(objective, point) for point in found.points]
        rising = any(_value(objective, ray) > 0 for ray in found.rays)
        rising |= any(_value(objective, line) != 0 for line in found.lines)
        expected = None if rising or not values else max(values)
        assert (best.value if isinstance(best, Optimal) else None) == expected, (rows, objective)


@pytest.mark.parametrize("kind", KINDS)
def test_contains(kind: str) -> None:
    """Random points, vertices, and points between and beyond them."""
    for rng, rows in _descriptions("contains", kind):
        polyhedron, ppl = rows.polyhedron(), _by_ppl(rows)
        points = [[Fraction(rng.randint(-6, 6), 2) for _ in range(rows.columns)] for _ in range(4)]
        vertices = [list(vertex) for vertex in polyhedron.generators().points]
        points += vertices
        for first, second in product(vertices[:2], repeat=2):
            points.append(
                [
                    x + (x - y) * Fraction(rng.randint(-2, 2), 2)
                    for x, y in zip(first, second, strict=True)
                ]
            )
        for point in points:
            alone = oracle.from_generators(rows.columns, [point])
            assert polyhedron.contains(point) == ppl.contains(alone), (rows, point)


# --- Maps ---------------------------------------------------------------------------------------


def _map(rng: Random, nrows: int, ncols: int) -> tuple[Matrix, Vector]:
    """Of any rank, with some fractions."""
    matrix = [
        [Fraction(rng.randint(-2, 2), rng.choice([1, 1, 2])) for _ in range(ncols)]
        for _ in range(nrows)
    ]
    if nrows > 1 and rng.random() < 0.3:
        matrix[0] = [-2 * entry for entry in matrix[1]]
    return matrix, [Fraction(rng.randint(-3, 3), rng.choice([1, 2, 3])) for _ in range(nrows)]


def _values(matrix: Matrix, offset: Vector, point: Sequence[Fraction]) -> Vector:
    pairs = zip(matrix, offset, strict=True)
    return [sum((a * x for a, x in zip(row, point, strict=True)), shift) for row, shift in pairs]


@pytest.mark.parametrize("kind", KINDS)
def test_image(kind: str) -> None:
    for rng, rows in _descriptions("image", kind):
        matrix, offset = _map(rng, rng.randint(0, 4), rows.columns)
        found = rows.polyhedron().image(
            RationalMatrix.from_rows(matrix, ncols=rows.columns), offset
        )
        assert _by_ppl(found) == oracle.image(*rows, matrix, offset), (rows, matrix, offset)


@pytest.mark.parametrize("kind", KINDS)
def test_preimage(kind: str) -> None:
    for rng, rows in _descriptions("preimage", kind):
        size, polyhedron = rng.randint(0, 4), rows.polyhedron()
        matrix, offset = _map(rng, rows.columns, size)
        found = polyhedron.preimage(RationalMatrix.from_rows(matrix, ncols=size), offset)
        expected = oracle.preimage(size, rows.inequalities, rows.equations, matrix, offset)
        assert _by_ppl(found) == expected, (rows, matrix, offset)
        assert found.dimension == oracle.dimension(expected), (rows, matrix, offset)
        for _ in range(8):
            point = [Fraction(rng.randint(-4, 4), rng.choice([1, 2])) for _ in range(size)]
            assert found.contains(point) == polyhedron.contains(_values(matrix, offset, point)), (
                rows,
                point,
            )


@pytest.mark.parametrize("kind", KINDS)
def test_maps_without_offset(kind: str) -> None:
    for rng, rows in _descriptions("linear maps", kind, COUNT // 4):
        matrix, _ = _map(rng, rows.columns, rows.columns)
        linear, zero = RationalMatrix.from_rows(matrix), [0] * rows.columns
        assert rows.polyhedron().image(linear) == rows.polyhedron().image(linear, zero)
        assert rows.polyhedron().preimage(linear) == rows.polyhedron().preimage(linear, zero)


@pytest.mark.parametrize("kind", KINDS)
def test_project(kind: str) -> None:
    """On any columns in any order, repeated or not."""
    for rng, rows in _descriptions("project", kind):
        chosen = [rng.randrange(rows.columns) for _ in range(rng.randint(0, 4))]
        unit = [[Fraction(i == j) for i in range(rows.columns)] for j in chosen]
        expected = oracle.image(*rows, unit, [Fraction(0)] * len(chosen))
        assert _by_ppl(rows.polyhedron().project(chosen)) == expected, (rows, chosen)


# --- Known shapes -------------------------------------------------------------------------------

Points = list[tuple[int, ...]]


def _exact(points: Sequence[tuple[int, ...]]) -> list[tuple[Fraction, ...]]:
    return [tuple(map(Fraction, point)) for point in points]


def _cube(n: int) -> Points:
    return list(product((-1, 1), repeat=n))


def _cross_polytope(n: int) -> Points:
    return [tuple(sign * (i == j) for j in range(n)) for i in range(n) for sign in (1, -1)]


def _simplex(n: int) -> Points:
    return [(0,) * n, *(tuple(int(i == j) for j in range(n)) for i in range(n))]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_cubes(n: int) -> None:
    cube = Polyhedron.box([-1] * n, [1] * n)
    assert list(cube.generators().points) == _exact(sorted(_cube(n)))
    hull = Polyhedron.from_generators(_cube(n))
    assert len(hull.inequalities) == 2 * n
    assert hull.irredundant() == cube.irredundant()
    assert len(cube.project(range(n - 1)).generators().points) == 2 ** (n - 1)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_cross_polytopes(n: int) -> None:
    """|x_1| + … + |x_n| ≤ 1."""
    signs = _cube(n)
    by_rows = Polyhedron.from_constraints(signs, [1] * len(signs))
    hull = Polyhedron.from_generators(_cross_polytope(n))
    assert set(hull.inequalities) == {(*row, 1) for row in signs}
    assert by_rows.irredundant() == hull.irredundant()
    assert list(by_rows.generators().points) == _exact(sorted(_cross_polytope(n)))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_simplices(n: int) -> None:
    """In R^n by n + 1 facets, and the standard one, of dimension n in R^(n+1)."""
    simplex = Polyhedron.from_generators(_simplex(n))
    below = [tuple(-entry for entry in row) for row in _simplex(n)[1:]]
    assert set(simplex.inequalities) == {*((*row, 0) for row in below), (*[1] * n, 1)}
    standard = Polyhedron.orthant(n + 1).intersect(
        Polyhedron.from_constraints([], [], [[1] * (n + 1)], [1])
    )
    assert standard.dimension == n
    assert len(standard.irredundant().inequalities) == n + 1
    assert list(standard.generators().points) == _exact(sorted(_simplex(n + 1)[1:]))
    assert standard.project(range(n)).equals(simplex)


@pytest.mark.parametrize(
    ("vertices", "n"), [(m, n) for n in (2, 3, 4, 5) for m in range(n + 1, 10)]
)
def test_cyclic_polytopes(vertices: int, n: int) -> None:
    """Points on the moment curve: all are vertices, and McMullen's bound on facets is attained."""
    curve = [tuple(t**k for k in range(1, n + 1)) for t in range(vertices)]
    half = n // 2
    even = vertices * comb(vertices - half, half) // (vertices - half)
    facets = 2 * comb(vertices - half - 1, half) if n % 2 else even
    hull = Polyhedron.from_generators(curve)
    assert len(hull.inequalities) == facets
    assert list(hull.generators().points) == _exact(curve)
    assert set(hull.irredundant().inequalities) == set(hull.inequalities)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_a_cube_cut_at_every_corner(n: int) -> None:
    """The cuts Σ ±x_i ≤ r: redundant for r ≥ n; the cube's facets are as long as r > 1."""
    cube, corners = Polyhedron.box([-1] * n, [1] * n), _cube(n)
    for room, expected in [(n, 2 * n), (Fraction(2 * n + 1, 2), 2 * n), (1, 2**n if n > 1 else 2)]:
        cut = cube.intersect(Polyhedron.from_constraints(corners, [room] * len(corners)))
        assert len(cut.irredundant().inequalities) == expected
    between = cube.intersect(
        Polyhedron.from_constraints(corners, [Fraction(2 * n - 1, 2)] * len(corners))
    )
    assert len(between.irredundant().inequalities) == (2 * n + 2**n if n > 1 else 2)


def test_a_permutahedron_is_flat() -> None:
    """conv of the permutations of (1, 2, 3, 4): 24 vertices, and a facet for each proper subset."""
    points = [
        (a, b, c, d)
        for a, b, c, d in product((1, 2, 3, 4), repeat=4)
        if {a, b, c, d} == {1, 2, 3, 4}
    ]
    hull = Polyhedron.from_generators(points)
    assert (hull.dimension, len(hull.inequalities), len(hull.equations)) == (3, 14, 1)
    subsets = [subset for size in (1, 2, 3) for subset in combinations(range(4), size)]
    least = [sum(range(1, len(subset) + 1)) for subset in subsets]
    rows = [[-(j in subset) for j in range(4)] for subset in subsets]
    by_rows = Polyhedron.from_constraints(rows, [-bound for bound in least], [[1] * 4], [10])
    assert by_rows.irredundant() == hull.irredundant()
    assert list(by_rows.generators().points) == _exact(sorted(points))
