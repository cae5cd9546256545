"""Gradients, and how they jump at a breakpoint: the hyperplane through it, and the weight."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from polyrelu.exact import dot
from polyrelu.exact.vectors import add_multiple
from polyrelu.recovery.lines import Breakpoint, Line
from polyrelu.recovery.oracle import Oracle, difference, scaled
from polyrelu.support.typing import Point, Vector

__all__ = ["Hyperplane", "Jump", "gradient_at", "is_bent_at", "jump_at"]

#: The step of a gradient is made smaller at most so often, and by this factor.
_MAX_STEPS, _SHRINK = 40, 16


class Hyperplane(NamedTuple):
    """The points x with normal·x = offset; the largest entry of the normal is 1 or -1."""

    normal: Vector
    offset: Fraction

    def at(self, x: Point) -> Fraction:
        """Return normal·x - offset."""
        return dot(self.normal, x) - self.offset

    def agrees(self, other: Hyperplane, oracle: Oracle) -> bool:
        """Whether two hyperplanes are equal, up to the errors of the oracle."""
        k = max(range(len(self.normal)), key=lambda i: abs(self.normal[i]))
        factor = other.normal[k] / self.normal[k]
        ours = (*scaled(self.normal, factor), factor * self.offset)
        theirs = (*other.normal, other.offset)
        size = Fraction(1) + abs(self.offset)
        return all(oracle.is_small(a - b, size) for a, b in zip(ours, theirs, strict=True))


class Jump(NamedTuple):
    """Where a gradient jumps by weight ⊗ normal, in the direction of the normal."""

    point: Point
    hyperplane: Hyperplane
    weight: Vector


def gradient_at(oracle: Oracle, x: Point, room: Fraction) -> tuple[Vector, ...] | None:
    """Return the rows of the gradient around a point; None if it is too near to a breakpoint.

    The function is asked at x, at n points near it, and at one more on the other side.
    """
    value, step, size = oracle(x), room, oracle.num_inputs
    for _ in range(_MAX_STEPS):
        columns = list[Vector]()
        for i in range(size):
            moved = tuple(entry + step * (k == i) for k, entry in enumerate(x))
            columns.append(scaled(difference(oracle(moved), value), 1 / step))
        back = tuple(-step * abs(oracle.entry()) for _ in range(size))
        wanted = value
        for column, change in zip(columns, back, strict=True):
            wanted = add_multiple(wanted, column, change)
        if oracle.same(oracle(add_multiple(x, back, Fraction(1))), wanted, Fraction(size)):
            return tuple(zip(*columns, strict=True))
        step /= _SHRINK
        if not oracle.is_exact and step < Fraction(1, 2**30):
            return None
    return None


def jump_at(oracle: Oracle, line: Line, place: Breakpoint) -> Jump | None:
    """Return the jump at a breakpoint of a line; None if several surfaces meet there.

    The normal points along the line.
    """
    room = min(place.after - place.t, place.t - place.before) / 4
    point = line.at(place.t)
    for _ in range(_MAX_STEPS):
        sides = (place.t - room, place.t + room)
        gradients = [gradient_at(oracle, line.at(t), room / 4) for t in sides]
        if all(
            gradient is not None and _reaches(oracle, line.at(t), gradient, point)
            for t, gradient in zip(sides, gradients, strict=True)
        ):
            before, after = (gradient or () for gradient in gradients)
            rows = [difference(b, a) for a, b in zip(before, after, strict=True)]
            return _factored(oracle, rows, line, point)
        room /= _SHRINK
        if not oracle.is_exact and room < Fraction(1, 2**20):
            return None
    return None


def _reaches(oracle: Oracle, x: Point, gradient: Sequence[Vector], point: Point) -> bool:
    """Whether an affine function around x has the value of the oracle at another point."""
    change = difference(point, x)
    wanted = tuple(v + dot(row, change) for v, row in zip(oracle(x), gradient, strict=True))
    return oracle.same(oracle(point), wanted, Fraction(16))


def _factored(oracle: Oracle, rows: list[Vector], line: Line, point: Point) -> Jump | None:
    """Write a matrix of rank 1 as weight ⊗ normal."""
    row = max(rows, key=lambda r: max(map(abs, r)))
    size = max(map(abs, row))
    if not size:
        return None
    k = next(i for i, entry in enumerate(row) if abs(entry) == size)
    normal = scaled(row, 1 / row[k])
    along = dot(normal, line.direction)
    if oracle.is_small(along, Fraction(1)):
        return None
    if along < 0:
        normal = scaled(normal, Fraction(-1))
    weight = tuple(r[k] / normal[k] for r in rows)
    for one, v in zip(rows, weight, strict=True):
        if not all(oracle.is_small(a - v * n, size) for a, n in zip(one, normal, strict=True)):
            return None
    return Jump(point, Hyperplane(normal, dot(normal, point)), weight)


def is_bent_at(oracle: Oracle, x: Point, normal: Vector, step: Fraction) -> bool:
    """Whether the gradient jumps at x in the direction of a normal, within a step."""
    middle, ahead, back = (oracle(add_multiple(x, normal, t)) for t in (Fraction(0), step, -step))
    wanted = scaled(add_multiple(ahead, back, Fraction(1)), Fraction(1, 2))
    return not oracle.same(middle, wanted)
