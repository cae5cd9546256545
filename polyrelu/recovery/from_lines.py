"""The network that has the values of a teaching set, by the steps of the proof.

On every line the values show the pieces, so the breakpoints; breakpoints with equal jumps lie on
one hyperplane (docs/theory/teaching.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from polyrelu.exact import RationalMatrix, dot, kernel
from polyrelu.exact.vectors import add_multiple
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import TeachingSet
from polyrelu.recovery.oracle import Oracle, difference, scaled
from polyrelu.recovery.outer_layer import outer_layer
from polyrelu.support.arguments import expect
from polyrelu.support.typing import Point, Vector

__all__ = ["recover_taught"]


def recover_taught(taught: TeachingSet) -> Network | None:
    """Recover a network from the values at the points of a teaching set, and from nothing else.

    Parameters
    ----------
    taught
        A teaching set; its network is not looked at, only the points and values.

    Returns
    -------
    Network or None
        The network with these values; None if no network that the points teach has them.

    Examples
    --------
    >>> import polyrelu
    >>> hidden = polyrelu.from_arrays([([[1, 2], [3, -1]], [0, 2]), ([[1, -2]], [5])])
    >>> polyrelu.related(recover_taught(polyrelu.teaching_set(hidden)), hidden)
    True
    """
    lines = expect(taught, TeachingSet, "taught", "polyrelu.teaching_set returns one")
    rest, planes = list(lines.values), dict[Vector, list[Point]]()
    ends: tuple[Vector, Vector] | None = None
    for start, places in zip(lines.starts, lines.places, strict=True):
        own, rest = rest[: len(places)], rest[len(places) :]
        pieces = _pieces(places, own, ends)
        ends = ends or (pieces[0][2], pieces[-1][2])
        for one, two in pairwise(pieces):
            jump = difference(two[2], one[2])
            k = next((i for i, entry in enumerate(jump) if entry), None)
            if k is None:
                return None
            gap = two[1][k] - two[2][k] * two[0] - (one[1][k] - one[2][k] * one[0])
            place = add_multiple(start, lines.direction, -gap / jump[k])
            planes.setdefault(jump, []).append(place)
    if any(len(points) != len(lines.starts) for points in planes.values()):
        return None
    table = dict(zip(lines.points, lines.values, strict=True))
    return _network(Oracle(table.__getitem__, len(lines.direction)), lines, planes)


def _pieces(
    places: Sequence[Fraction], values: Sequence[Vector], ends: tuple[Vector, Vector] | None
) -> list[tuple[Fraction, Vector, Vector]]:
    """Return a place, the value there and the slope of each piece of a line."""
    samples = list(zip(places, values, strict=True))
    outer = [] if ends is None else [(*samples[0], ends[0]), (*samples[-1], ends[1])]
    inner = samples if ends is None else samples[1:-1]
    found = [
        (s, u, scaled(difference(v, u), 1 / (t - s)))
        for (s, u), (t, v) in zip(inner[::2], inner[1::2], strict=True)
    ]
    return [*outer[:1], *found, *outer[1:]]


def _network(
    oracle: Oracle, lines: TeachingSet, planes: dict[Vector, list[Point]]
) -> Network | None:
    """Return the network with given points of each hyperplane, by their jumps."""
    rows = list[Vector]()
    for points in planes.values():
        matrix = RationalMatrix.from_rows([(*x, Fraction(1)) for x in points])
        row = kernel(matrix).transpose().rows()[0]
        rows.append(scaled(row, 1 / dot(row[:-1], lines.direction)))

    def preactivations(x: Point) -> list[Fraction]:
        """Return the preactivations of the hidden layer."""
        return [dot(row, (*x, Fraction(1))) for row in rows]

    weights = list(planes)
    layer = outer_layer(oracle, preactivations, weights, lines.points, 1)
    if not layer.choices.solutions:
        return None
    signs = [Fraction(1 - 2 * r) for r in layer.choices.solutions[0]]
    first = [scaled(row, s) for row, s in zip(rows, signs, strict=True)]
    outgoing = list(zip(*weights, strict=True))
    hidden = ([row[:-1] for row in first], [row[-1] for row in first])
    return from_arrays([hidden, (outgoing, layer.biases[0])])
