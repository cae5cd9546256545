"""Two points with equal outputs, from one point where the active rows do not span the space.

Let y be strictly inside the domain, and v ≠ 0 orthogonal to all rows that are not negative at y.
Then y and y + ε v have equal outputs for every small ε > 0 (docs/theory/injectivity.md, claim 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from polyrelu.exact import RationalMatrix, dot, kernel, primitive
from polyrelu.proofs.injectivity.layer_system import LayerSystem
from polyrelu.proofs.injectivity.settings import SETTINGS

__all__ = ["colliding_points"]

PointPair = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]


def colliding_points(system: LayerSystem, place: Sequence[int]) -> PointPair | None:
    """Return two inputs with equal outputs, or None if the place does not lead to any.

    Parameters
    ----------
    system
        The layer.
    place
        The point y as (s y, s), s > 0.

    Examples
    --------
    >>> from polyrelu.exact import Polyhedron
    >>> from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
    >>> plane = DomainCoordinates.of(Polyhedron.universe(2))
    >>> identity = RationalMatrix.identity(2)
    >>> system = LayerSystem.of(identity, RationalMatrix.zeros(2, 1), plane)
    >>> [list(map(str, point)) for point in colliding_points(system, [3, -3, 3])]
    [['1', '-1'], ['1', '0']]
    >>> colliding_points(system, [1, 1, 1]) is None
    True
    """
    exact = (*(Fraction(entry, place[-1]) for entry in place[:-1]), Fraction(1))
    if _direction(system, exact) is None:
        return None
    for y in (*_rounded(exact), exact):
        if (direction := _direction(system, y)) is not None:
            step = _step(system, y, direction)
            *here, _ = y
            there = [a + step * b for a, b in zip(here, direction, strict=True)]
            return system.to_inputs(here), system.to_inputs(there)
    return None


def _rounded(point: Sequence[Fraction]) -> Iterator[tuple[Fraction, ...]]:
    """Yield the point rounded to few bits, then to more."""
    for bits in SETTINGS.witness_bits:
        yield tuple(Fraction(round(entry * 2**bits), 2**bits) for entry in point)


def _direction(system: LayerSystem, y: Sequence[Fraction]) -> tuple[int, ...] | None:
    """Return a vector orthogonal to all neurons that are not negative at y, if y is inside."""
    if any(dot(row, y) <= 0 for row in system.limits):
        return None
    rows = [row[:-1] for row in system.neurons if dot(row, y) >= 0]
    found = kernel(RationalMatrix.from_integers(rows, ncols=system.dimension))
    if not found.ncols:
        return None
    return primitive([found[i, 0] for i in range(found.nrows)])[0]


def _step(system: LayerSystem, y: Sequence[Fraction], direction: Sequence[int]) -> Fraction:
    """Return a step of length about 1 at most that keeps negative rows so, and the domain."""
    limit = Fraction(1, max(map(abs, direction)))
    rows = [(row, 1) for row in system.neurons] + [(row, -1) for row in system.limits]
    for row, sign in rows:
        value, slope = sign * dot(row, y), sign * dot(row[:-1], direction)
        if value < 0 < slope:
            limit = min(limit, -value / slope)
    return Fraction(1, 1 << (math.ceil(1 / limit) - 1).bit_length())
