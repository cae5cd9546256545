"""Random points, some of them near corners of known hyperplanes, and comparisons there."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polyrelu.network import Network
from polyrelu.recovery.jumps import Hyperplane
from polyrelu.recovery.lines import Line
from polyrelu.recovery.oracle import Oracle
from polyrelu.recovery.planes import random_corner, random_line
from polyrelu.support.typing import Point

__all__ = ["first_difference", "sample_points"]


def sample_points(oracle: Oracle, count: int, planes: Sequence[Hyperplane] = ()) -> list[Point]:
    """Return random points of the domain, every other one near a corner of the planes."""
    found = list[Point]()
    for k in range(count):
        line = random_line(oracle)
        corner = random_corner(oracle, planes) if k % 2 else None
        if corner is not None:
            line = Line(corner, line.direction)
        low, high = oracle.reach(line.point, line.direction)
        size = Fraction(2) ** (k % 6)
        low = -size if low is None else max(low, -size)
        high = size if high is None else min(high, size)
        found.append(line.at(oracle.between(low, high)))
    return found


def first_difference(oracle: Oracle, network: Network, points: Sequence[Point]) -> Point | None:
    """Return the first point at which a network has other values than the oracle."""
    for x in points:
        growth = Fraction(2**12 if not oracle.is_exact else 1)
        if not oracle.same(tuple(network(x)), oracle(x), growth):
            return x
    return None
