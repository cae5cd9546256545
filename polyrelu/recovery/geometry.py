"""Random points on hyperplanes, and on the common part of two hyperplanes within a cell."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polyrelu.exact import Polyhedron, RationalMatrix, dot, kernel
from polyrelu.exact.vectors import add_multiple
from polyrelu.recovery.jumps import Hyperplane
from polyrelu.recovery.lines import Line
from polyrelu.recovery.oracle import Oracle, scaled
from polyrelu.support.typing import Point, Vector

__all__ = ["common_point", "moved_within", "tangents"]


def tangents(hyperplanes: Sequence[Hyperplane], size: int) -> list[Vector]:
    """Return a basis of the directions along all of the hyperplanes, with entries of 1 at most."""
    matrix = RationalMatrix.from_rows([h.normal for h in hyperplanes], ncols=size)
    columns = kernel(matrix).transpose().rows()
    return [scaled(column, 1 / max(map(abs, column))) for column in columns]


def moved_within(
    oracle: Oracle, point: Point, basis: Sequence[Vector], walls: Sequence[Hyperplane]
) -> Point:
    """Return a random point near another one, on the same sides of all walls."""
    direction: Vector = (Fraction(0),) * len(point)
    for vector in basis:
        direction = add_multiple(direction, vector, oracle.entry())
    if not any(direction):
        return point
    limits = [Fraction(1)]
    for wall in walls:
        slope = dot(wall.normal, direction)
        if slope:
            limits.append(abs(wall.at(point) / slope))
    limits += [abs(end) for end in oracle.reach(point, direction) if end is not None]
    return Line(point, direction).at(oracle.between(Fraction(0), min(limits)))


def common_point(
    oracle: Oracle,
    meeting: Sequence[Hyperplane],
    cell: Sequence[tuple[Hyperplane, int]],
) -> Point | None:
    """Return a point of all meeting hyperplanes strictly inside a cell; None if there is none.

    The cell is given by hyperplanes, with the sign that it has there.
    """
    size = oracle.num_inputs
    inequalities = [
        (*scaled(wall.normal, Fraction(-sign)), -sign * wall.offset) for wall, sign in cell
    ]
    if oracle.domain is not None:
        inequalities += [tuple(map(Fraction, row)) for row in oracle.domain.inequalities]
    equations = [(*plane.normal, plane.offset) for plane in meeting]
    region = Polyhedron.from_constraints(
        [row[:-1] for row in inequalities],
        [row[-1] for row in inequalities],
        [row[:-1] for row in equations],
        [row[-1] for row in equations],
        ambient_dimension=size,
    )
    point = region.relative_interior_point()
    if point is None or any(not wall.at(point) for wall, _ in cell):
        return None
    walls = [wall for wall, _ in cell]
    return moved_within(oracle, point, tangents(meeting, size), walls)
