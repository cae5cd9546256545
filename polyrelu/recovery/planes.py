"""Jumps on random lines, grouped by their hyperplanes.

The set where a neuron of a later layer vanishes is bent where it meets a hyperplane of layer 1. So
a line meets a hyperplane of a piece of it mostly where the function is not bent, while the function
is bent on nearly all of a hyperplane of layer 1, unless later neurons hide it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polyrelu.exact import RationalMatrix, rank, solve
from polyrelu.exact.vectors import add_multiple
from polyrelu.recovery.jumps import Hyperplane, Jump, jump_at
from polyrelu.recovery.lines import Line, whole_line
from polyrelu.recovery.oracle import Oracle, difference
from polyrelu.support.typing import Point

__all__ = [
    "find_jumps",
    "first_layers",
    "hyperplanes_of",
    "random_corner",
    "random_line",
]

#: The share of all lines that meet a frequent hyperplane in a jump.
_FREQUENT = Fraction(1, 4)
#: The largest number of sets of hyperplanes that are tried for layer 1.
_MAX_SETS = 8


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

    It passes near a point, if one is given, or else near a corner of the planes, if they have one.
    """
    line = random_line(oracle)
    point = random_corner(oracle, planes) if through is None else _beside(oracle, through)
    if point is not None:
        line = Line(point, line.direction)
    jumps = (jump_at(oracle, line, place) for place in whole_line(oracle, line))
    return [jump for jump in jumps if jump is not None]


def _beside(oracle: Oracle, x: Point) -> Point | None:
    """Return a random point near another one, at which two hyperplanes may meet."""
    point = add_multiple(x, oracle.direction(), Fraction(1, 2**12))
    return point if oracle.domain is None or point in oracle.domain else None


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


def first_layers(
    oracle: Oracle, groups: Sequence[tuple[Hyperplane, list[Jump]]], num_lines: int
) -> list[list[Hyperplane]]:
    """Return sets of hyperplanes that may be all of layer 1, likely ones first.

    The gradient jumps equally at all points of a piece of layer 2, and a piece lies in one cell of
    layer 1. So a hyperplane is of layer 1 if it has jumps of several weights, or jumps on both
    sides of another one of layer 1. If that gives too few, those with most jumps are added.
    """
    sure = [k for k, (_, members) in enumerate(groups) if _has_several_weights(oracle, members)]
    frequent = [k for k, (_, members) in enumerate(groups) if len(members) >= _FREQUENT * num_lines]
    starts = [sure] if sure else _crossing(groups)
    starts += [frequent[:size] for size in range(1, len(frequent) + 1)]
    found = list[list[int]]()
    for start in starts:
        closed = sorted(_closed(groups, start))
        if closed and closed not in found:
            found.append(closed)
    return [[groups[k][0] for k in some] for some in found[:_MAX_SETS]]


def _has_several_weights(oracle: Oracle, members: Sequence[Jump]) -> bool:
    """Whether the jumps on a hyperplane differ."""
    first = members[0].weight
    size = max(map(abs, first))
    return any(
        not all(oracle.is_small(d, size) for d in difference(jump.weight, first))
        for jump in members[1:]
    )


def _crossing(groups: Sequence[tuple[Hyperplane, list[Jump]]]) -> list[list[int]]:
    """Return sets of hyperplanes that cross where both go on, the sets with most jumps first.

    Where two of layer 1 cross, both go on, and so do two of layer 2; of one of each, one is bent.
    """
    found = list[set[int]]()
    for k in range(len(groups)):
        others = {
            i for i in range(len(groups)) if _is_divided(groups, i, k) and _is_divided(groups, k, i)
        }
        joined = [some for some in found if some & others]
        found = [some for some in found if not some & others]
        found.append({k}.union(*joined))
    return [
        sorted(some) for some in sorted(found, key=lambda s: -sum(len(groups[k][1]) for k in s))
    ]


def _is_divided(groups: Sequence[tuple[Hyperplane, list[Jump]]], k: int, by: int) -> bool:
    """Whether a hyperplane has jumps on both sides of another one."""
    values = [groups[by][0].at(jump.point) for jump in groups[k][1]]
    return k != by and min(values) < 0 < max(values)


def _closed(groups: Sequence[tuple[Hyperplane, list[Jump]]], start: Sequence[int]) -> set[int]:
    """Return hyperplanes with all that have jumps on both sides of one of them."""
    found, waiting = set(start), list(start)
    while waiting:
        wall = waiting.pop()
        for k in range(len(groups)):
            if k not in found and _is_divided(groups, k, wall):
                found.add(k)
                waiting.append(k)
    return found
