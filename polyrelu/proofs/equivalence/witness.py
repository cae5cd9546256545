"""Points where two networks differ: random ones before a proof is tried, and those that a failed proof points at.

All arithmetic is exact. Points stay in the domain by construction: a random move goes along an integer direction, a
multiple of 1/8 of the way to the boundary. Of a point that serves a simpler one is looked for.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from polyrelu.proofs.trees.expressions import Expressions
from polyrelu.proofs.trees.node_polyhedron import NodePolyhedron, Point, homogeneous, value_sign
from polyrelu.proofs.trees.sparse_forms import SparseForm
from polyrelu.support.budget import Budget

__all__ = ["Mover", "along", "difference_point", "random_points", "simplex_at", "simplified"]

Differs = Callable[[Point], bool]

#: Points that are evaluated to clear coordinates.
_MOST_TRIALS = 64
#: Unit points that are tried in each direction.
_UNITS = 8
#: Sizes of the steps of random points where nothing bounds them.
_SCALES = (1, 8, 64, 1024, Fraction(1, 16))


class Mover:
    """Random moves inside a polyhedron given by rows over (1, y), each ≥ 0."""

    def __init__(self, rows: Sequence[SparseForm], seed: int) -> None:
        self._rows, self._chance = rows, random.Random(seed)

    def moved(self, point: Point, scale: Fraction | int) -> Point:
        """Another point, on a random line through this one; strictly inside if this one is."""
        if len(point) == 1:
            return point
        chance = self._chance
        direction = [chance.choice((0, chance.randint(-8, 8))) for _ in point[1:]]
        if not any(direction):
            direction[chance.randrange(len(direction))] = chance.choice((-1, 1))
        limit = self.room(point, direction)
        step = scale * Fraction(chance.randint(1, 7), 8)
        return along(
            point,
            direction,
            step if limit is None or step < limit else limit * Fraction(chance.randint(1, 7), 8),
        )

    def room(self, point: Point, direction: Sequence[int]) -> Fraction | None:
        """How far one can go before the first row is 0; None if there is no end."""
        limit: Fraction | None = None
        for row in self._rows:
            slope = sum(
                entry * direction[column - 1] for column, entry in zip(*row, strict=True) if column
            )
            if slope < 0:
                slack = _value(row, point)
                limit = min(limit, slack / -slope) if limit is not None else slack / -slope
        return limit


def along(point: Point, direction: Sequence[int], step: Fraction | int) -> Point:
    """point + step · direction."""
    return homogeneous(
        [Fraction(p, point[0]) + step * r for p, r in zip(point[1:], direction, strict=True)]
    )


def random_points(path: NodePolyhedron, start: Point, seed: int) -> Iterator[Point]:
    """Points of a polyhedron without end: the simplest ones that belong to it, then random ones."""
    yield from filter(path.contains, _simple_points(len(start) - 1))
    yield start
    mover, current = Mover(path.constraints(), seed), start
    for number in range(1 << 62):
        current = mover.moved(start if number % 4 == 0 else current, _SCALES[number % len(_SCALES)])
        yield current


def _simple_points(size: int) -> Iterator[Point]:
    """0, all ones, and some unit points."""
    yield (1, *[0] * size)
    for sign in (1, -1):
        yield (1, *[sign] * size)
        yield from ((1, *(sign * (k == j) for k in range(size))) for j in range(min(size, _UNITS)))


def simplex_at(path: NodePolyhedron, inner: Point) -> list[Point]:
    """1 + d points of a polyhedron in general position: one strictly inside, and one beside it for each coordinate."""
    mover, size = Mover(path.constraints(), 0), len(inner) - 1
    found = [inner]
    for j in range(size):
        direction = [int(k == j) for k in range(size)]
        room = mover.room(inner, direction)
        found.append(along(inner, direction, 1 if room is None else min(Fraction(1), room)))
    return found


def difference_point(
    path: NodePolyhedron,
    expressions: Expressions,
    points: list[Point],
    differs: Differs,
    seed: int,
    budget: Budget,
) -> Point:
    """A point of the polyhedron where networks differ whose difference is a sum of affine atoms that do not vanish.

    If an atom with a coefficient bends inside the polyhedron, the difference is not affine around a general point of
    its hyperplane, so it does not vanish at that point and at both points beside it; if none does, it is affine.
    """
    difference = expressions.difference
    forms = {term.symbol: term.form for term in expressions.terms}
    used = {column for row in difference for column in row.columns if column in forms}
    bends = [forms[column] for column in sorted(used)]
    mover, centre = Mover(path.constraints(), seed), path.interior_point()
    while True:
        budget.check()
        for candidate in _candidates(mover, centre, difference, bends, points, len(centre)):
            if path.contains(candidate) and differs(candidate):
                return candidate
        centre = mover.moved(centre, 1)


def _candidates(
    mover: Mover,
    centre: Point,
    difference: list[SparseForm],
    bends: list[SparseForm],
    points: list[Point],
    width: int,
) -> Iterator[Point]:
    yield centre
    for form in bends:
        crossing = _crossing(form, centre, points)
        if crossing is not None:
            yield from _beside(mover, crossing, _slope(form, width), bends)
    for row in difference:
        yield from _beside(mover, centre, _slope(row, width), bends)


def _beside(
    mover: Mover, point: Point, direction: list[int], bends: list[SparseForm]
) -> Iterator[Point]:
    """The point, and on both sides the nearest point where another form is 0 and one that is nearer."""
    yield point
    for sign in (1, -1):
        way = [sign * entry for entry in direction]
        steps = sorted(step for form in bends if (step := _until(form, point, way)) is not None)
        nearest = min(steps[:1] or [Fraction(1)])
        limit = mover.room(point, way)
        if limit is not None:
            nearest = min(nearest, limit)
        for step in (nearest, nearest / 2):
            yield along(point, way, step)


def _crossing(form: SparseForm, inner: Point, points: list[Point]) -> Point | None:
    """A point strictly inside where the form is 0, on the way from an inner point to one on the other side."""
    sign = value_sign(form, inner)
    if sign == 0:
        return inner
    for point in points:
        if value_sign(form, point) == -sign:
            here, there = abs(_value(form, inner)), abs(_value(form, point))
            share = here / (here + there)
            return homogeneous(
                [
                    Fraction(a, inner[0]) * (1 - share) + Fraction(b, point[0]) * share
                    for a, b in zip(inner[1:], point[1:], strict=True)
                ]
            )
    return None


def _until(form: SparseForm, point: Point, direction: list[int]) -> Fraction | None:
    """How far it is to the zero of a form, if it lies ahead."""
    slope = sum(entry * direction[c - 1] for c, entry in zip(*form, strict=True) if c)
    step = -_value(form, point) / slope if slope else Fraction()
    return step if step > 0 else None


def _value(form: SparseForm, point: Point) -> Fraction:
    return Fraction(
        sum(entry * point[column] for column, entry in zip(*form, strict=True)), point[0]
    )


def _slope(row: SparseForm, width: int) -> list[int]:
    """The coefficients of the coordinates, without a common divisor."""
    slope = [0] * (width - 1)
    for column, entry in zip(*row, strict=True):
        if 1 <= column < width:
            slope[column - 1] = entry
    divisor = math.gcd(*slope) or 1
    return [entry // divisor for entry in slope]


def simplified(point: Point, is_good: Callable[[Point], bool]) -> Point:
    """A good point with short coordinates near a good point: with as few binary digits after the point as serve,
    found by doubling and halving their number, then with coordinates 0.

    >>> simplified((1000, 501, 333), lambda p: p[1] > 0)
    (1, 1, 0)
    """
    digits, low = 0, -1
    while not is_good(_rounded(point, digits)):
        if 1 << digits >= 2 * point[0] * max(map(abs, point)):
            return point
        low, digits = digits, max(1, 2 * digits)
    while digits - low > 1:
        middle = (digits + low) // 2
        if is_good(_rounded(point, middle)):
            digits = middle
        else:
            low = middle
    return _with_zeros(_rounded(point, digits), is_good)


def _with_zeros(point: Point, is_good: Callable[[Point], bool]) -> Point:
    """With coordinates 0 wherever a point stays good: halves are tried first, then smaller and smaller ranges."""
    best, tried = point, 0
    size = len(point) - 1
    length = size
    while length and tried < _MOST_TRIALS:
        for start in range(0, size, length):
            cleared = [
                0 if start <= j < start + length else entry for j, entry in enumerate(best[1:])
            ]
            if tried < _MOST_TRIALS and cleared != list(best[1:]):
                tried += 1
                shorter = homogeneous([Fraction(entry, best[0]) for entry in cleared])
                best = shorter if is_good(shorter) else best
        length //= 2
    return best


def _rounded(point: Point, digits: int) -> Point:
    return homogeneous(
        [Fraction(round(Fraction(entry << digits, point[0])), 1 << digits) for entry in point[1:]]
    )
