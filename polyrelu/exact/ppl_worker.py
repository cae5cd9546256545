"""The process that runs PPL, and the only file that imports it: ``python -P ppl_worker.py``.

Reads pickled requests ``(operation, arguments)`` on standard input and answers ``(True, result)`` or ``(False, text)``
on standard output, until its input ends. All numbers are Python integers: a row [a | c] is a·x ≤ c or a·x = c, a point
is [numerators | denominator], a ray or line its coordinates. Not imported by the package; see `ppl_door`.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ppl import C_Polyhedron, Linear_Expression, line, point, ray

Row = Sequence[int]
Rows = Sequence[Row]


def generators(columns: int, inequalities: Rows, equations: Rows) -> tuple[list[Row], list[Row], list[Row]]:
    """Minimal points, rays and lines of {x : inequalities, equations}; no points if it is empty."""
    return _generators(_from_constraints(columns, inequalities, equations))


def constraints(columns: int, points: Rows, rays: Rows, lines: Rows) -> tuple[list[Row], list[Row]]:
    """Minimal inequalities and equations of conv(points) + cone(rays) + span(lines); there must be a point."""
    polyhedron = C_Polyhedron(columns, "empty")
    for row in points:
        polyhedron.add_generator(point(Linear_Expression(list(row[:-1]), 0), row[-1]))
    for row in rays:
        polyhedron.add_generator(ray(Linear_Expression(list(row), 0)))
    for row in lines:
        polyhedron.add_generator(line(Linear_Expression(list(row), 0)))
    return _constraints(polyhedron)


def _from_constraints(columns: int, inequalities: Rows, equations: Rows) -> Any:
    polyhedron = C_Polyhedron(columns, "universe")
    for row in inequalities:
        polyhedron.add_constraint(_remainder(row) >= 0)
    for row in equations:
        polyhedron.add_constraint(_remainder(row) == 0)
    return polyhedron


def _remainder(row: Row) -> Any:
    """c - a·x."""
    return Linear_Expression([-entry for entry in row[:-1]], row[-1])


def _generators(polyhedron: Any) -> tuple[list[Row], list[Row], list[Row]]:
    points: list[Row] = []
    rays: list[Row] = []
    lines: list[Row] = []
    for generator in polyhedron.minimized_generators():
        coordinates = [int(entry) for entry in generator.coefficients()]
        if generator.is_point():
            points.append([*coordinates, int(generator.divisor())])
        else:
            (lines if generator.is_line() else rays).append(coordinates)
    return points, rays, lines


def _constraints(polyhedron: Any) -> tuple[list[Row], list[Row]]:
    inequalities: list[Row] = []
    equations: list[Row] = []
    for constraint in polyhedron.minimized_constraints():
        row = [*(-int(entry) for entry in constraint.coefficients()), int(constraint.inhomogeneous_term())]
        (equations if constraint.is_equality() else inequalities).append(row)
    return inequalities, equations


def main() -> None:
    """Answer requests until there are no more."""
    operations: dict[str, Callable[..., object]] = {"generators": generators, "constraints": constraints}
    source, target = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            name, arguments = pickle.load(source)
        except EOFError:
            return
        try:
            answer: tuple[bool, object] = True, operations[name](*arguments)
        except Exception as error:  # whatever happens is the caller's to report
            answer = False, f"{type(error).__name__}: {error}"
        pickle.dump(answer, target, protocol=pickle.HIGHEST_PROTOCOL)
        target.flush()


if __name__ == "__main__":
    main()
