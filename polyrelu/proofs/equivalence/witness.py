"""Points where two networks differ: random ones before a proof, or those that a proof points at.

All arithmetic is exact. Points stay in the domain by construction: a random step goes along an
integer direction, by a multiple of 1/8 of the way to the boundary. A point of difference is
simplified before it is shown, so that its coordinates are short numbers; each simplified point is
evaluated again.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.proofs.trees.expressions import Expressions
from polyrelu.proofs.trees.node_polyhedron import (
    HomogeneousPoint,
    NodePolyhedron,
    homogeneous,
    value_sign,
)
from polyrelu.proofs.trees.sparse_forms import SparseForm
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_node

__all__ = ["Mover", "along", "difference_point", "random_points", "simplex_around", "simplified"]

#: Whether the two networks differ at a point.
Differs = Callable[[HomogeneousPoint], bool]


@dataclass(frozen=True, slots=True)
class PointSettings:
    """Limits of the choice and of the simplification of points.

    Attributes
    ----------
    max_zero_trials
        Maximum number of points that are evaluated to replace coordinates of a point by 0.
    max_unit_points
        Maximum number of unit points, for each sign, among the first points of a polyhedron.
    step_sizes
        The sizes of random steps, in turn, in directions in which the polyhedron is unbounded.
    """

    max_zero_trials: int = 64
    max_unit_points: int = 8
    step_sizes: tuple[Fraction | int, ...] = (1, 8, 64, 1024, Fraction(1, 16))


SETTINGS = PointSettings()


class Mover:
    """Random steps inside a polyhedron that is given by rows over (1, y), each meaning row ≥ 0."""

    def __init__(self, rows: Sequence[SparseForm], seed: int) -> None:
        self._rows, self._rng = rows, random.Random(seed)

    def random_neighbour(self, point: HomogeneousPoint, scale: Fraction | int) -> HomogeneousPoint:
        """Return a point on a random line through a point, strictly inside if that point is.

        `scale` is the size of the step where the boundary is farther away.
        """
        if len(point) == 1:
            return point
        rng = self._rng
        direction = [rng.choice((0, rng.randint(-8, 8))) for _ in point[1:]]
        if not any(direction):
            direction[rng.randrange(len(direction))] = rng.choice((-1, 1))
        limit = self.distance_to_boundary(point, direction)
        step = scale * Fraction(rng.randint(1, 7), 8)
        if limit is not None and step >= limit:
            step = limit * Fraction(rng.randint(1, 7), 8)
        return along(point, direction, step)

    def distance_to_boundary(
        self, point: HomogeneousPoint, direction: Sequence[int]
    ) -> Fraction | None:
        """Return the largest step along a direction inside the polyhedron; None if unbounded."""
        limit: Fraction | None = None
        for row in self._rows:
            slope = sum(
                entry * direction[column - 1] for column, entry in zip(*row, strict=True) if column
            )
            if slope < 0:
                slack = _value_at(row, point)
                limit = min(limit, slack / -slope) if limit is not None else slack / -slope
        return limit


def along(
    point: HomogeneousPoint, direction: Sequence[int], step: Fraction | int
) -> HomogeneousPoint:
    """Return point + step · direction."""
    return homogeneous(
        [Fraction(p, point[0]) + step * r for p, r in zip(point[1:], direction, strict=True)]
    )


def random_points(
    polyhedron: NodePolyhedron, start: HomogeneousPoint, seed: int
) -> Iterator[HomogeneousPoint]:
    """Yield points of a polyhedron without end: first simple ones, then random ones."""
    yield from filter(polyhedron.contains, _simple_points(len(start) - 1))
    yield start
    mover, current = Mover(polyhedron.constraints(), seed), start
    for number in range(1 << 62):
        size = SETTINGS.step_sizes[number % len(SETTINGS.step_sizes)]
        current = mover.random_neighbour(start if number % 4 == 0 else current, size)
        yield current


def _simple_points(size: int) -> Iterator[HomogeneousPoint]:
    """Yield 0, the vectors with all entries 1 or -1, and some unit vectors with both signs."""
    yield (1, *[0] * size)
    for sign in (1, -1):
        yield (1, *[sign] * size)
        yield from (
            (1, *(sign * (k == j) for k in range(size)))
            for j in range(min(size, SETTINGS.max_unit_points))
        )


def simplex_around(polyhedron: NodePolyhedron, inner: HomogeneousPoint) -> list[HomogeneousPoint]:
    """Return 1 + d points of a polyhedron in general position, given a point strictly inside."""
    mover, size = Mover(polyhedron.constraints(), 0), len(inner) - 1
    found = [inner]
    for j in range(size):
        direction = [int(k == j) for k in range(size)]
        limit = mover.distance_to_boundary(inner, direction)
        found.append(along(inner, direction, 1 if limit is None else min(Fraction(1), limit)))
    return found


def difference_point(
    polyhedron: NodePolyhedron,
    expressions: Expressions,
    points: list[HomogeneousPoint],
    differs: Differs,
    seed: int,
    budget: Budget,
) -> HomogeneousPoint:
    """Return a point of difference in a polyhedron where the difference is a sum of affine atoms.

    The difference must not vanish as a form. If an atom with a coefficient bends inside the
    polyhedron, the difference is not affine around a general point of its hyperplane, so it does
    not vanish at this point and at both of two points beside it. If no atom bends, the difference
    is affine. The search goes on with other points until a point is found.
    """
    difference = expressions.difference
    forms = {term.symbol: term.form for term in expressions.terms}
    used = {column for row in difference for column in row.columns if column in forms}
    bends = [forms[column] for column in sorted(used)]
    mover, centre = Mover(polyhedron.constraints(), seed), polyhedron.interior_point()
    while True:
        budget.spend(price_of_node(len(forms), len(centre)))
        for candidate in _candidates(mover, centre, difference, bends, points, len(centre)):
            if polyhedron.contains(candidate) and differs(candidate):
                return candidate
        centre = mover.random_neighbour(centre, 1)


def _candidates(
    mover: Mover,
    centre: HomogeneousPoint,
    difference: list[SparseForm],
    bends: list[SparseForm],
    points: list[HomogeneousPoint],
    width: int,
) -> Iterator[HomogeneousPoint]:
    """Yield the centre, and points beside it and beside a general point of each hyperplane."""
    yield centre
    for form in bends:
        crossing = _zero_between(form, centre, points)
        if crossing is not None:
            yield from _points_beside(mover, crossing, _slope(form, width), bends)
    for row in difference:
        yield from _points_beside(mover, centre, _slope(row, width), bends)


def _points_beside(
    mover: Mover, point: HomogeneousPoint, direction: list[int], bends: list[SparseForm]
) -> Iterator[HomogeneousPoint]:
    """Yield the point and two points on each side, before or on the next zero of another form."""
    yield point
    for sign in (1, -1):
        way = [sign * entry for entry in direction]
        steps = sorted(
            step for form in bends if (step := _step_to_zero(form, point, way)) is not None
        )
        nearest = min(steps[:1] or [Fraction(1)])
        limit = mover.distance_to_boundary(point, way)
        if limit is not None:
            nearest = min(nearest, limit)
        for step in (nearest, nearest / 2):
            yield along(point, way, step)


def _zero_between(
    form: SparseForm, inner: HomogeneousPoint, points: list[HomogeneousPoint]
) -> HomogeneousPoint | None:
    """Return a point where the form is 0, between an inner point and one of the points, or None."""
    sign = value_sign(form, inner)
    if sign == 0:
        return inner
    for point in points:
        if value_sign(form, point) == -sign:
            size, other_size = abs(_value_at(form, inner)), abs(_value_at(form, point))
            share = size / (size + other_size)
            return homogeneous(
                [
                    Fraction(a, inner[0]) * (1 - share) + Fraction(b, point[0]) * share
                    for a, b in zip(inner[1:], point[1:], strict=True)
                ]
            )
    return None


def _step_to_zero(
    form: SparseForm, point: HomogeneousPoint, direction: list[int]
) -> Fraction | None:
    """Return the step along a direction to the zero of a form, or None if the zero is not ahead."""
    slope = sum(entry * direction[c - 1] for c, entry in zip(*form, strict=True) if c)
    step = -_value_at(form, point) / slope if slope else Fraction()
    return step if step > 0 else None


def _value_at(form: SparseForm, point: HomogeneousPoint) -> Fraction:
    return Fraction(
        sum(entry * point[column] for column, entry in zip(*form, strict=True)), point[0]
    )


def _slope(row: SparseForm, width: int) -> list[int]:
    """Return the coefficients of the coordinates, divided by their common divisor."""
    slope = [0] * (width - 1)
    for column, entry in zip(*row, strict=True):
        if 1 <= column < width:
            slope[column - 1] = entry
    divisor = math.gcd(*slope) or 1
    return [entry // divisor for entry in slope]


def simplified(
    point: HomogeneousPoint, is_good: Callable[[HomogeneousPoint], bool]
) -> HomogeneousPoint:
    """Return a good point with short coordinates near a good point.

    The number of binary digits after the point is minimised by doubling and halving; then
    coordinates are replaced by 0 where the point stays good.

    >>> simplified((1000, 501, 333), lambda p: p[1] > 0)
    (1, 1, 0)
    """
    if not any(point[1:]):
        return point
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


def _with_zeros(
    point: HomogeneousPoint, is_good: Callable[[HomogeneousPoint], bool]
) -> HomogeneousPoint:
    """Return a good point with coordinates replaced by 0, in ranges that get smaller."""
    best, tried, size = point, 0, len(point) - 1
    length = size
    while length:
        for start in range(1, 1 + size, length):
            if not any(best[start : start + length]):
                continue
            if tried == SETTINGS.max_zero_trials:
                return best
            tried += 1
            cleared = list(best[1:])
            cleared[start - 1 : start - 1 + length] = [0] * len(best[start : start + length])
            shorter = homogeneous([Fraction(entry, best[0]) for entry in cleared])
            best = shorter if is_good(shorter) else best
        length //= 2
    return best


def _rounded(point: HomogeneousPoint, digits: int) -> HomogeneousPoint:
    """Return the point with coordinates rounded to some binary digits after the point."""
    return homogeneous(
        [Fraction(round(Fraction(entry << digits, point[0])), 1 << digits) for entry in point[1:]]
    )
