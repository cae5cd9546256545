"""The neurons of layer 2 by their surfaces, and equations for the sides of layer 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import RationalMatrix, dot, kernel
from polyrelu.exact.vectors import add_multiple
from polyrelu.recovery.choices import Choices, choices
from polyrelu.recovery.jumps import Hyperplane
from polyrelu.recovery.oracle import Oracle, difference, scaled
from polyrelu.recovery.surfaces import CellSigns, Surface, signs_at
from polyrelu.support.typing import Point, Vector

__all__ = ["Neuron", "groupings", "orientations", "with_sides_of"]


@dataclass(frozen=True)
class Neuron:
    """A neuron of layer 2, by one or several parts of its surface; all in one scale.

    Attributes
    ----------
    weight
        Its output weights, for the scale of `bends`.
    bends
        By neuron of layer 1: the weight from it, up to the scale.
    pieces
        By cell of layer 1: the piece there. The preactivation is normal·x - offset in the cell.
    point
        A point of the surface.
    """

    weight: Vector
    bends: dict[int, Fraction]
    pieces: dict[CellSigns, Hyperplane]
    point: Point


def groupings(
    oracle: Oracle, surfaces: Sequence[tuple[Surface, Point]], limit: int
) -> Iterator[list[Neuron]]:
    """Yield the ways in which surfaces may be parts of the surfaces of few or many neurons.

    Two parts that bend at a common hyperplane are known to be of one neuron or not. For others
    both are possible if their output weights are positive multiples. At most `limit` ways.
    """
    parts = [Neuron(s.weight, dict(s.bends), dict(s.pieces), point) for s, point in surfaces]
    waiting = [_surely_joined(oracle, parts)]
    seen = list[list[Neuron]]()
    while waiting and len(seen) < limit:
        neurons = waiting.pop(0)
        if neurons in seen:
            continue
        seen.append(neurons)
        yield neurons
        for i, one in enumerate(neurons):
            for k, other in enumerate(neurons[:i]):
                if len(waiting) > limit:
                    break
                rest = [n for j, n in enumerate(neurons) if j not in (i, k)]
                waiting += [
                    _surely_joined(oracle, [*rest, _joined(other, one, factor)])
                    for factor in _factors(oracle, other, one)
                    if not set(one.bends) & set(other.bends)
                ]


def _surely_joined(oracle: Oracle, parts: Sequence[Neuron]) -> list[Neuron]:
    """Join the parts whose common bends show that they are of one neuron."""
    found = list[Neuron]()
    for part in parts:
        for k, neuron in enumerate(found):
            factors = _factors(oracle, neuron, part)
            if factors and set(part.bends) & set(neuron.bends):
                rest = [*found[:k], *found[k + 1 :]]
                found = _surely_joined(oracle, [*rest, _joined(neuron, part, factors[0])])
                break
        else:
            found.append(part)
    return found


def _joined(neuron: Neuron, part: Neuron, factor: Fraction) -> Neuron:
    """Return a neuron with one more part, whose normals are multiplied by a factor."""
    pieces = {
        signs: Hyperplane(scaled(plane.normal, factor), factor * plane.offset)
        for signs, plane in part.pieces.items()
    }
    bends = {k: factor * bend for k, bend in part.bends.items()}
    return Neuron(neuron.weight, bends | neuron.bends, pieces | neuron.pieces, neuron.point)


def _factors(oracle: Oracle, neuron: Neuron, part: Neuron) -> list[Fraction]:
    """Return the factors that may bring a part to the scale of a neuron.

    The output weights must be positive multiples; all common bends are positive multiples, or all
    are negative ones. A cell has one piece of a neuron.
    """
    k = max(range(len(neuron.weight)), key=lambda i: abs(neuron.weight[i]))
    size = part.weight[k] / neuron.weight[k]
    if size <= 0 or set(part.pieces) & set(neuron.pieces):
        return []
    rest = difference(part.weight, scaled(neuron.weight, size))
    if not all(oracle.is_small(entry, abs(part.weight[k])) for entry in rest):
        return []
    common = set(part.bends) & set(neuron.bends)
    return [
        factor
        for factor in (size, -size)
        if all(
            oracle.is_small(factor * part.bends[i] - neuron.bends[i], 1 + abs(neuron.bends[i]))
            for i in common
        )
    ]


def _side_at(planes: list[Hyperplane], neuron: Neuron, x: Point) -> int | None:
    """Return the sign of a preactivation of layer 2 at a point, in the orientation of its pieces.

    On the way from x to the surface the sign does not change before the first cell that has a
    piece. None if x or the way meets the surface or a corner of the cells.
    """
    signs = list(signs_at(planes, x))
    if not all(signs):
        return None
    direction, place = difference(neuron.point, x), x
    slopes = [dot(plane.normal, direction) for plane in planes]
    crossings = sorted(
        (-plane.at(x) / slope, k)
        for k, (plane, slope) in enumerate(zip(planes, slopes, strict=True))
        if slope and 0 < -plane.at(x) / slope < 1
    )
    while tuple(signs) not in neuron.pieces and crossings:
        t, k = crossings.pop(0)
        signs[k] = -signs[k]
        place = add_multiple(x, direction, t)
    piece = neuron.pieces.get(tuple(signs))
    value = Fraction(0) if piece is None else piece.at(place)
    return None if not value else 1 if value > 0 else -1


def with_sides_of(
    planes: list[Hyperplane], neurons: Sequence[Neuron], points: Sequence[Point]
) -> list[tuple[Point, tuple[bool, ...]]]:
    """Return the points with the neurons of layer 2 that are positive there, where that is seen."""
    found = list[tuple[Point, tuple[bool, ...]]]()
    for x in points:
        sides = [_side_at(planes, neuron, x) for neuron in neurons]
        if None not in sides:
            found.append((x, tuple(side == 1 for side in sides)))
    return found


def orientations(
    oracle: Oracle, planes: Sequence[Hyperplane], neurons: Sequence[Neuron], limit: int
) -> Choices:
    """Solve for the sides of layer 1: 1 for a neuron that is on where its plane is negative.

    In a cell the normal of a neuron of layer 2 is the sum of a u over the neurons of layer 1 that
    are on there (a: the weight, u: the normal of the hyperplane), which is linear in the unknowns.
    Neurons at whose hyperplanes the surface is not seen to bend may be on with any weight.
    """
    rows, right = list[Vector](), list[Fraction]()
    for neuron in neurons:
        unseen = [plane.normal for k, plane in enumerate(planes) if k not in neuron.bends]
        matrix = RationalMatrix.from_rows(unseen, ncols=oracle.num_inputs)
        for test in kernel(matrix).transpose().rows():
            parts = {k: a * dot(test, planes[k].normal) for k, a in neuron.bends.items()}
            row = tuple(parts.get(k, Fraction(0)) for k in range(len(planes)))
            for signs, piece in neuron.pieces.items():
                on = sum((part for k, part in parts.items() if signs[k] > 0), Fraction(0))
                value = on - dot(test, piece.normal)
                if (row, value) not in zip(rows, right, strict=True):
                    rows.append(row)
                    right.append(value)
    near = Fraction(0) if oracle.is_exact else Fraction(1, 2**16)
    return choices(rows, tuple(right), len(planes), limit, near)
