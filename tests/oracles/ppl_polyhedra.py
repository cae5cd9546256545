"""Rational polyhedra directly from PPL, in this process.

The package itself asks a worker process or linear programs. A row [a | c] is a·x ≤ c or a·x = c, in
integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from tests.oracles.parma import C_Polyhedron, Linear_Expression, line, point, ray
from tests.oracles.plain import Matrix, Vector

Row = tuple[int, ...]


class Sizes(NamedTuple):
    """The numbers of constraints and generators of a minimal description."""

    inequalities: int
    equations: int
    points: int
    rays: int
    lines: int


def from_rows(columns: int, inequalities: Iterable[Row], equations: Iterable[Row] = ()) -> Any:
    """{x ∈ R^columns : inequalities, equations}."""
    polyhedron = C_Polyhedron(columns, "universe")
    for row in inequalities:
        polyhedron.add_constraint(_remainder(row) >= 0)
    for row in equations:
        polyhedron.add_constraint(_remainder(row) == 0)
    return polyhedron


def from_generators(
    columns: int,
    points: Iterable[Sequence[Fraction]],
    rays: Iterable[Row] = (),
    lines: Iterable[Row] = (),
) -> Any:
    """conv(points) + cone(rays) + span(lines); empty without points."""
    polyhedron = C_Polyhedron(columns, "empty")
    for row in points:
        scale = math.lcm(*(entry.denominator for entry in row))
        polyhedron.add_generator(
            point(Linear_Expression([int(entry * scale) for entry in row], 0), scale)
        )
    for direction in rays:
        polyhedron.add_generator(ray(Linear_Expression(list(direction), 0)))
    for direction in lines:
        polyhedron.add_generator(line(Linear_Expression(list(direction), 0)))
    return polyhedron


def lineality_space(polyhedron: Any) -> Any:
    """The directions d with x + R d inside for every point x, as a polyhedron through 0."""
    columns = polyhedron.space_dimension()
    generators = polyhedron.minimized_generators()
    lines = [tuple(int(entry) for entry in g.coefficients()) for g in generators if g.is_line()]
    return from_generators(columns, [[Fraction(0)] * columns], [], lines)


def sizes(polyhedron: Any) -> Sizes:
    """The sizes of the minimal descriptions."""
    constraints, generators = (
        list(polyhedron.minimized_constraints()),
        list(polyhedron.minimized_generators()),
    )
    return Sizes(
        sum(constraint.is_inequality() for constraint in constraints),
        sum(constraint.is_equality() for constraint in constraints),
        sum(generator.is_point() for generator in generators),
        sum(generator.is_ray() for generator in generators),
        sum(generator.is_line() for generator in generators),
    )


def dimension(polyhedron: Any) -> int:
    """The dimension of the set, -1 if it is empty."""
    return -1 if polyhedron.is_empty() else int(polyhedron.affine_dimension())


def intersection(left: Any, right: Any) -> Any:
    """The common points."""
    common = C_Polyhedron(left)
    common.intersection_assign(right)
    return common


def is_relatively_interior(polyhedron: Any, candidate: Sequence[Fraction]) -> bool:
    """Whether a point satisfies the equations of the hull and, strictly, all facet inequalities."""
    for constraint in polyhedron.minimized_constraints():
        terms = zip(constraint.coefficients(), candidate, strict=True)
        value = sum((int(a) * x for a, x in terms), Fraction(int(constraint.inhomogeneous_term())))
        if value < 0 or (value == 0) != constraint.is_equality():
            return False
    return not polyhedron.is_empty()


def image(
    columns: int,
    inequalities: Iterable[Row],
    equations: Iterable[Row],
    matrix: Matrix,
    offset: Vector,
) -> Any:
    """The image {matrix x + offset} of the polyhedron with these constraints.

    It is the graph {(y, x)} without its last coordinates.
    """
    size = len(matrix)
    graph = from_rows(
        size + columns,
        [(*[0] * size, *row) for row in inequalities],
        [(*[0] * size, *row) for row in equations],
    )
    for i, row in enumerate(_cleared(matrix, offset)):
        unit = [row[-1] * (i == j) for j in range(size)]
        graph.add_constraint(_remainder((*unit, *(-entry for entry in row[:-2]), row[-2])) == 0)
    graph.remove_higher_space_dimensions(size)
    return graph


def preimage(
    size: int, inequalities: Iterable[Row], equations: Iterable[Row], matrix: Matrix, offset: Vector
) -> Any:
    """The set of y ∈ R^size for which x = matrix y + offset satisfies the constraints.

    It is computed from the graph {(y, x)}.
    """
    columns = len(matrix)
    graph = from_rows(
        size + columns,
        [(*[0] * size, *row) for row in inequalities],
        [(*[0] * size, *row) for row in equations],
    )
    for i, row in enumerate(_cleared(matrix, offset)):
        unit = [row[-1] * (i == j) for j in range(columns)]
        graph.add_constraint(_remainder((*(-entry for entry in row[:-2]), *unit, row[-2])) == 0)
    graph.remove_higher_space_dimensions(size)
    return graph


def _cleared(matrix: Matrix, offset: Vector) -> list[Row]:
    """Integer rows [a | b | s] with s y_i = a·x + b."""
    rows = [[*row, shift] for row, shift in zip(matrix, offset, strict=True)]
    scales = [math.lcm(*(entry.denominator for entry in row)) for row in rows]
    return [
        (*(int(entry * scale) for entry in row), scale)
        for row, scale in zip(rows, scales, strict=True)
    ]


def _remainder(row: Row) -> Any:
    """c - a·x."""
    return Linear_Expression([-entry for entry in row[:-1]], row[-1])
