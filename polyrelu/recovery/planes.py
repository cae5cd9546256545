"""Jumps on random lines, grouped by their hyperplanes.

The set where a neuron of a later layer vanishes is bent where it meets a hyperplane of layer 1. So
a line meets a hyperplane of a piece of it mostly where the function is not bent, while the function
is bent on nearly all of a hyperplane of layer 1, unless later neurons hide it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polyrelu.exact import RationalMatrix, rank, solve
from polyrelu.recovery.jumps import Hyperplane, Jump, jump_at
from polyrelu.recovery.lines import Line, whole_line
from polyrelu.recovery.oracle import Oracle
from polyrelu.support.typing import Point

__all__ = ["find_jumps", "hyperplanes_of", "random_corner", "random_line"]


def random_line(oracle: Oracle) -> Line:
    """Return a random line that meets the domain."""
    inside: Point = (Fraction(0),) * oracle.num_inputs
    if oracle.domain is not None:
        inside = oracle.domain.relative_interior_point() or inside
    direction = oracle.direction()
    low, high = oracle.reach(inside, direction)
    start = Line(inside, direction)
    if low is not None and high is not None:
        inside = start.at(oracle.between(low, high))
    else:
        inside = start.at(oracle.entry())
    return Line(inside, oracle.direction())


def find_jumps(
    oracle: Oracle, planes: Sequence[Hyperplane] = (), through: Point | None = None
) -> list[Jump]:
    """Return the jumps at all breakpoints of a random line.

    It passes through a point, if one is given, or else near a corner of the planes, if they have
    one.
    """
    line = random_line(oracle)
    point = random_corner(oracle, planes) if through is None else through
    if point is not None:
        line = Line(point, line.direction)
    jumps = (jump_at(oracle, line, place) for place in whole_line(oracle, line))
    return [jump for jump in jumps if jump is not None]


def random_corner(oracle: Oracle, planes: Sequence[Hyperplane]) -> Point | None:
    """Return a random point near a point in which hyperplanes meet; None if these do not."""
    size = oracle.num_inputs
    if len(planes) < size:
        return None
    chosen = oracle.random.sample(list(planes), size)
    matrix = RationalMatrix.from_rows([plane.normal for plane in chosen])
    if rank(matrix) < size:
        return None
    found = solve(matrix, RationalMatrix.column(plane.offset for plane in chosen))
    assert found is not None
    corner = tuple(row[0] for row in found.rows())
    point = tuple(round(64 * x) / Fraction(64) + oracle.entry() for x in corner)
    return point if oracle.domain is None or point in oracle.domain else None


def hyperplanes_of(oracle: Oracle, jumps: list[Jump]) -> list[tuple[Hyperplane, list[Jump]]]:
    """Return the hyperplanes of jumps, each with its jumps, those with most jumps first."""
    found = list[tuple[Hyperplane, list[Jump]]]()
    for jump in jumps:
        for plane, members in found:
            if plane.agrees(jump.hyperplane, oracle):
                members.append(jump)
                break
        else:
            found.append((jump.hyperplane, [jump]))
    return sorted(found, key=lambda group: -len(group[1]))
