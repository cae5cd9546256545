"""Clarkson's method against one linear program for each row and PPL, with ties; canonical rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import gcd
from random import Random
from typing import NamedTuple

import pytest

from polyrelu.exact import InteriorPoint, LinearProgram, Optimal, RationalMatrix, rank, solve
from polyrelu.exact.redundancy import (
    irredundant_rows,
    positive_primitive,
    reduced_equations,
    reduced_inequality,
)
from tests.generators.campaigns import case, few_and_all
from tests.oracles import ppl_polyhedra as oracle

Row = tuple[int, ...]
Point = tuple[Fraction, ...]

SIZES = ((6, 1), (12, 2), (24, 3), (40, 4), (60, 5), (60, 6))


class Case(NamedTuple):
    """Inequalities [a | c] and a point strictly inside them."""

    rows: list[Row]
    inside: Point


# --- Families -----------------------------------------------------------------------------------


def _moved(rng: Random, rows: Sequence[Row], inside: Sequence[int]) -> Case:
    """The same polyhedron elsewhere, its rows multiplied and in another order."""
    shift = [rng.randint(-4, 4) for _ in inside]
    moved = [
        (*row[:-1], row[-1] + sum(a * s for a, s in zip(row, shift, strict=False))) for row in rows
    ]
    scaled = [
        tuple(entry * factor for entry in row)
        for row in moved
        for factor in [rng.choice([1, 1, 1, 2, 3])]
    ]
    rng.shuffle(scaled)
    return Case(scaled, tuple(Fraction(x + s) for x, s in zip(inside, shift, strict=True)))


def _nonzero(rng: Random, n: int, largest: int) -> Row:
    while True:
        row = tuple(rng.randint(-largest, largest) for _ in range(n))
        if any(row):
            return row


def _small(rng: Random, m: int, n: int) -> Case:
    """Entries -1, 0, 1 at one distance or two from 0: ties for almost every ray from 0."""
    return _moved(rng, [(*_nonzero(rng, n, 1), rng.choice([1, 1, 2])) for _ in range(m)], [0] * n)


def _cone(rng: Random, m: int, n: int) -> Case:
    """All through 0, with (1, …, 1) inside."""
    rows: list[Row] = []
    while len(rows) < m:
        row = _nonzero(rng, n, 3)
        if sum(row):
            rows.append((*(-entry if sum(row) > 0 else entry for entry in row), 0))
    return _moved(rng, rows, [1] * n)


def _two_cones(rng: Random, m: int, n: int) -> Case:
    """Half of the rows through -(1, …, 1), the others through (1, …, 1), 0 inside: two apexes."""
    half = _cone(rng, m // 2, n).rows
    normals = [row[:-1] for row in half]
    rows = [(*normal, abs(sum(normal))) for normal in normals]
    return _moved(rng, rows + [(*(-entry for entry in row[:-1]), row[-1]) for row in rows], [0] * n)


def _repeated(rng: Random, m: int, n: int) -> Case:
    """A few facets many times: the same row, multiples, looser ones, sums of two."""
    facets = [(*_nonzero(rng, n, 3), rng.randint(1, 4)) for _ in range(max(2, m // 6))]
    rows = list(facets)
    while len(rows) < m:
        first, second, factor = rng.choice(facets), rng.choice(facets), rng.randint(1, 3)
        total = [a + b for a, b in zip(first, second, strict=True)]
        looser = [
            *(factor * entry for entry in first[:-1]),
            factor * first[-1] + rng.choice([0, 0, 1]),
        ]
        rows.append(tuple(rng.choice([looser, total if any(total[:-1]) else looser])))
    return _moved(rng, rows, [0] * n)


def _cross_polytope(rng: Random, m: int, n: int) -> Case:
    """|x_1| + … + |x_n| ≤ 1 and rows that touch it in one vertex or in a face."""
    rows = [(*signs, 1) for signs in product((1, -1), repeat=n)]
    touching = [_nonzero(rng, n, 1) for _ in range(max(0, m - len(rows)))]
    return _moved(rng, rows + [(*row, 1) for row in touching], [0] * n)


def _tangent(rng: Random, m: int, n: int) -> Case:
    """|a| about 10, all at one distance: nearly all rows are needed."""
    rows = []
    for _ in range(m):
        direction = [rng.gauss(0, 1) for _ in range(n)]
        length = sum(entry**2 for entry in direction) ** 0.5
        normal = [round(10 * entry / length) for entry in direction]
        rows.append((*normal, 20))
    return _moved(rng, rows, [0] * n)


def _loose(rng: Random, m: int, n: int) -> Case:
    """Nearly all rows are far away."""
    rows = [(*_nonzero(rng, n, 5), rng.randint(1, 100)) for _ in range(m)]
    return _moved(rng, rows, [0] * n)


def _long(rng: Random, m: int, n: int) -> Case:
    """60-bit numbers, in pairs that differ in the last bit."""
    rows: list[Row] = []
    for _ in range(m // 2):
        row = (*_nonzero(rng, n, 2**60), rng.randint(2**59, 2**60))
        rows += [row, tuple(entry + rng.choice([0, 0, 1]) for entry in row)]
    return _moved(rng, rows, [0] * n)


FAMILIES: dict[str, Callable[[Random, int, int], Case]] = {
    "small": _small,
    "cone": _cone,
    "two cones": _two_cones,
    "repeated": _repeated,
    "cross-polytope": _cross_polytope,
    "tangent": _tangent,
    "loose": _loose,
    "60 bits": _long,
}


# --- The method ---------------------------------------------------------------------------------


def _needed_one_by_one(rows: list[Row], columns: int) -> list[Row]:
    """The rows that remain if, from last to first, each row that the others imply is dropped."""
    kept = list(rows)
    for row in reversed(rows):
        others = list(kept)
        del others[len(others) - 1 - others[::-1].index(row)]
        program = LinearProgram(columns)
        program.add_inequalities([other[:-1] for other in others], [other[-1] for other in others])
        best = program.maximize(row[:-1])
        if isinstance(best, Optimal) and best.value <= row[-1]:
            kept = others
    return kept


def _other_inside(rows: list[Row], columns: int) -> Point:
    program = LinearProgram(columns)
    program.add_inequalities([row[:-1] for row in rows], [row[-1] for row in rows])
    answer = program.interior_point()
    assert isinstance(answer, InteriorPoint)
    return answer.point


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("m", "n"), SIZES[:4])
def test_the_same_rows_as_one_by_one(family: str, m: int, n: int) -> None:
    rng = Random(f"one by one {family} {m} {n}")
    for _ in range(2 if n < 4 else 1):
        rows, inside = FAMILIES[family](rng, m, n)
        found = irredundant_rows(rows, inside)
        assert found == _needed_one_by_one(rows, n), (rows, inside)
        assert irredundant_rows(rows, _other_inside(rows, n)) == found, (rows, inside)


@pytest.mark.parametrize("sizes", few_and_all(SIZES[::3], SIZES))
def test_the_same_set_by_as_few_rows_as_ppl(sizes: Sequence[tuple[int, int]]) -> None:
    for family, (m, n) in product(FAMILIES, sizes):
        with case(family, m, n):
            _compare_with_ppl(family, m, n)


def _compare_with_ppl(family: str, m: int, n: int) -> None:
    rng = Random(f"ppl {family} {m} {n}")
    rows, inside = FAMILIES[family](rng, m, n)
    found, whole = irredundant_rows(rows, inside), oracle.from_rows(n, rows)
    assert oracle.from_rows(n, found) == whole, (rows, inside)
    assert len(found) == sum(c.is_inequality() for c in whole.minimized_constraints()), (
        rows,
        inside,
    )
    positions = [rows.index(row) for row in found]
    assert positions == sorted(positions), (rows, inside)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_order_of_the_rows_does_not_matter(family: str) -> None:
    rng = Random(f"order {family}")
    for _ in range(5):
        rows, inside = FAMILIES[family](rng, 10, 3)
        expected = {positive_primitive(row) for row in irredundant_rows(rows, inside)}
        rng.shuffle(rows)
        assert {positive_primitive(row) for row in irredundant_rows(rows, inside)} == expected


def test_no_row_and_one_row() -> None:
    half = Fraction(1, 2)
    assert irredundant_rows([], (half, half)) == []
    assert irredundant_rows([(0, 3, 2)], (half, half)) == [(0, 3, 2)]
    assert irredundant_rows([], ()) == []


def test_rows_keep_their_order_and_their_scale() -> None:
    """The tightest row of a direction stays at its place; among equally tight rows, the first."""
    origin = (Fraction(0), Fraction(0))
    assert irredundant_rows([(1, 0, 5), (0, 1, 1), (2, 0, 2)], origin) == [(0, 1, 1), (2, 0, 2)]
    assert irredundant_rows([(4, 0, 4), (0, 1, 1), (2, 0, 2)], origin) == [(4, 0, 4), (0, 1, 1)]


@pytest.mark.parametrize("scale", [1, 10**30])
def test_a_ray_through_a_vertex_meets_rows_that_are_not_facets(scale: int) -> None:
    """The square |x|, |y| ≤ 1 and rows that touch only its corners, where rays from 0 meet ties."""
    square = [(1, 0, scale), (0, 1, scale), (-1, 0, scale), (0, -1, scale)]
    corners = [(a, b, (abs(a) + abs(b)) * scale) for a in (1, -1, 2, -2) for b in (1, -1, 3, -3)]
    for rows in (square + corners, corners + square):
        assert irredundant_rows(rows, (Fraction(0), Fraction(0))) == square
    outside = [(a, b, side + 1) for a, b, side in corners]
    cut = [(a, b, side - 1) for a, b, side in corners if abs(a) == abs(b) == 1]
    assert set(irredundant_rows(outside + square, (Fraction(0), Fraction(0)))) == set(square)
    assert set(irredundant_rows(cut + square, (Fraction(0), Fraction(0)))) == {
        *cut,
        *(square if scale > 1 else []),
    }


# --- Canonical rows -----------------------------------------------------------------------------


def _random_rows(rng: Random) -> list[Row]:
    """Of any rank."""
    columns, largest = rng.randint(1, 5), rng.choice([1, 3, 2**60])
    rows = [
        tuple(rng.randint(-largest, largest) for _ in range(columns + 1))
        for _ in range(rng.randint(1, 4))
    ]
    for _ in range(rng.randint(0, 2)):
        a, b = rng.choice(rows), rng.choice(rows)
        rows.append(tuple(2 * x - 3 * y for x, y in zip(a, b, strict=True)))
    return rows


def test_reduced_equations_are_the_reduced_echelon_form() -> None:
    rng = Random("echelon")
    for _ in range(200):
        rows = _random_rows(rng)
        found = reduced_equations(rows, len(rows[0]) - 1)
        matrix = RationalMatrix.from_integers(rows)
        assert len(found) == rank(matrix), rows
        pivots = [next(j for j, entry in enumerate(row) if entry) for row in found]
        assert pivots == sorted(set(pivots)), rows
        assert all(
            row[pivot] > 0 and gcd(*row) == 1 for row, pivot in zip(found, pivots, strict=True)
        ), rows
        assert all(sum(row[pivot] != 0 for row in found) == 1 for pivot in pivots), rows
        if found:  # and every row is a combination of them
            span = RationalMatrix.from_integers(found).transpose()
            assert solve(span, matrix.transpose()) is not None, rows
        shuffled = rng.sample(rows, len(rows))
        assert reduced_equations(shuffled, len(rows[0]) - 1) == found, rows


def test_reduced_inequality_is_a_positive_multiple_modulo_the_equations() -> None:
    rng = Random("inequality")
    for _ in range(200):
        rows = _random_rows(rng)
        equations = reduced_equations(rows[1:], len(rows[0]) - 1)
        found = reduced_inequality(rows[0], equations)
        assert gcd(*found) <= 1, rows
        assert all(found[next(j for j, e in enumerate(row) if e)] == 0 for row in equations), rows
        columns = RationalMatrix.from_integers([list(rows[0]), *equations]).transpose()
        found_column = RationalMatrix.column(found)
        solution = solve(columns, found_column)
        assert solution is not None, rows
        if any(found):
            assert solution[0, 0] > 0, rows


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ((0, 0), (0, 0)),
        ((0, -4), (0, -1)),
        ((-6, 9), (-2, 3)),
        ((5,), (1,)),
        ((7 * 2**70, 2**71), (7, 2)),
    ],
)
def test_positive_primitive(row: Row, expected: Row) -> None:
    assert positive_primitive(row) == expected
