"""The surface on which a neuron of layer 2 vanishes, followed from cell to cell of layer 1.

In a cell of the hyperplanes of layer 1 a preactivation z of layer 2 is affine, so its surface {z =
0} is all of a hyperplane there. Where it meets the hyperplane {u·x = c} of a neuron of layer 1, the
gradient of z changes by a u, where a is the weight from this neuron to z, whichever of the two
sides the neuron is on. So the bends of a surface show the weights of z, relative to its normal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

from polyrelu.exact import dot
from polyrelu.exact.vectors import add_multiple
from polyrelu.recovery.geometry import common_point
from polyrelu.recovery.jumps import Hyperplane, Jump, is_bent_at
from polyrelu.recovery.lines import Line, piece_at
from polyrelu.recovery.oracle import Oracle, difference, scaled
from polyrelu.support.typing import Point, Vector

__all__ = ["CellSigns", "Surface", "follow", "is_straight", "look_at_pieces", "signs_at"]

#: Of this number of pieces of a surface it is seen whether they are visible.
_NUM_LOOKED_AT = 8
#: A sign for each hyperplane of layer 1.
CellSigns = tuple[int, ...]


@dataclass
class Surface:
    """What was seen of the surface of a neuron of layer 2.

    Attributes
    ----------
    weight
        The output weights of the neuron, for the normals below.
    pieces
        By the signs of layer 1: a normal and an offset; not scaled to a largest entry of 1.
    bends
        By neuron of layer 1: the weight from it, for the normals above.
    places
        By the signs of layer 1: a point of the piece, or of its boundary, that was seen.
    lost
        Two points of a piece, one that was seen and one at which the function is not bent; None if
        the surface went on wherever it meets a hyperplane of layer 1, and was seen in all pieces.
    """

    weight: Vector
    pieces: dict[CellSigns, Hyperplane] = field(default_factory=dict)
    bends: dict[int, Fraction] = field(default_factory=dict)
    places: dict[CellSigns, Point] = field(default_factory=dict)
    lost: tuple[Point, Point] | None = None

    def has(self, oracle: Oracle, jump: Jump, signs: CellSigns) -> bool:
        """Whether a jump belongs to the surface."""
        piece = self.pieces.get(signs)
        return piece is not None and piece.agrees(jump.hyperplane, oracle)


def signs_at(planes: list[Hyperplane], x: Point) -> CellSigns:
    """Return the signs of x beside hyperplanes."""
    values = (plane.at(x) for plane in planes)
    return tuple((value > 0) - (value < 0) for value in values)


def follow(oracle: Oracle, planes: list[Hyperplane], jump: Jump) -> Surface:
    """Follow a surface through all cells of layer 1 that it reaches."""
    surface = Surface(jump.weight)
    start = signs_at(planes, jump.point)
    surface.pieces[start], surface.places[start] = jump.hyperplane, jump.point
    waiting = [start]
    while waiting:
        signs = waiting.pop()
        for k, plane in enumerate(planes):
            beyond = (*signs[:k], -signs[k], *signs[k + 1 :])
            if beyond in surface.pieces or not signs[k]:
                continue
            piece = surface.pieces[signs]
            meeting = _meeting_point(oracle, planes, piece, signs, k)
            if meeting is None:
                continue
            bend = _bend(oracle, planes, Meeting(meeting, piece, k, signs[k]), surface.weight)
            known = surface.bends.get(k, bend)
            if bend is None or known is None or not _agree(oracle, bend, known):
                surface.lost = surface.places[signs], meeting
                continue
            surface.bends[k], surface.places[beyond] = known, meeting
            surface.pieces[beyond] = _beyond(piece, plane, signs[k], known)
            waiting.append(beyond)
    return surface


def _agree(oracle: Oracle, one: Fraction, other: Fraction) -> bool:
    """Whether two bends are equal, up to the errors of the oracle."""
    return oracle.is_small(one - other, 1 + max(abs(one), abs(other)))


class Meeting(NamedTuple):
    """A point at which a piece of a surface meets hyperplane k of layer 1, from the side `sign`."""

    point: Point
    piece: Hyperplane
    k: int
    sign: int


def _meeting_point(
    oracle: Oracle, planes: list[Hyperplane], piece: Hyperplane, signs: CellSigns, k: int
) -> Point | None:
    """Return a random point at which a piece in a cell leaves it through hyperplane k."""
    cell = [(plane, signs[i]) for i, plane in enumerate(planes) if i != k and signs[i]]
    return common_point(oracle, [piece, planes[k]], cell)


def _bend(
    oracle: Oracle, planes: list[Hyperplane], meeting: Meeting, weight: Vector
) -> Fraction | None:
    """Return by how many normals of hyperplane k the gradient of a neuron changes there.

    A line beyond the hyperplane, parallel to it, meets the surface in one point. None if there is
    no breakpoint with the weight of the surface on it.
    """
    x, piece, k, sign = meeting
    normal = planes[k].normal
    square = dot(normal, normal)
    along = add_multiple(piece.normal, normal, -dot(piece.normal, normal) / square)
    inwards = scaled(normal, Fraction(-sign) / square)
    if not any(along):
        return None
    size, room = dot(piece.normal, along), _room(planes, x, along, k)
    for step in (room / 16**j for j in range(8 if oracle.is_exact else 3)):
        for height in (step / 2**6, step / 2**14, step / 2**24)[: 3 if oracle.is_exact else 1]:
            line = Line(add_multiple(x, inwards, height), along)
            t = _place_of_jump(oracle, line, step, scaled(weight, size))
            if t is not None:
                return -dot(piece.normal, inwards) - Fraction(t / height) * size
    return None


def _room(planes: list[Hyperplane], x: Point, along: Vector, k: int) -> Fraction:
    """Return a step from x in a direction and back that meets no hyperplane but number k."""
    slopes = [(plane.at(x), dot(plane.normal, along)) for i, plane in enumerate(planes) if i != k]
    return min([Fraction(1), *(abs(value / slope) for value, slope in slopes if slope)]) / 4


def _place_of_jump(oracle: Oracle, line: Line, step: Fraction, jump: Vector) -> Fraction | None:
    """Return where the slope on a line changes by `jump` between -step and step."""
    first = piece_at(oracle, line, -step, step / 4)
    last = piece_at(oracle, line, step, step / 4)
    if first is None or last is None:
        return None
    found = difference(last.slope, first.slope)
    size = max(map(abs, jump))
    if not all(oracle.is_small(a - b, size) for a, b in zip(found, jump, strict=True)):
        return None
    i = max(range(len(jump)), key=lambda k: abs(jump[k]))
    t = first.t + (first.value[i] - last.at(first.t)[i]) / found[i]
    if not first.t < t < last.t:
        return None
    growth = max(first.growth(t), last.growth(t))
    value = oracle(line.at(t))
    agrees = oracle.same(first.at(t), value, growth) and oracle.same(last.at(t), value, growth)
    return t if agrees else None


def is_straight(oracle: Oracle, planes: list[Hyperplane], surface: Surface) -> bool:
    """Whether the function is bent at another point of the first piece of a surface.

    A surface of a later layer is bent where none of layer 1 is.
    """
    signs, piece = next(iter(surface.pieces.items()))
    cell = [(plane, sign) for plane, sign in zip(planes, signs, strict=True) if sign]
    step = Fraction(1, 2**30) if oracle.is_exact else Fraction(1, 2**12)
    for _ in range(2):
        point = common_point(oracle, [piece], cell)
        if point is None or not is_bent_at(oracle, point, piece.normal, step):
            return False
    return True


def look_at_pieces(oracle: Oracle, planes: list[Hyperplane], surface: Surface) -> None:
    """See whether the function is bent at a random point of each of the first pieces."""
    step = Fraction(1, 2**30) if oracle.is_exact else Fraction(1, 2**12)
    for signs, piece in islice(surface.pieces.items(), _NUM_LOOKED_AT):
        cell = [(plane, sign) for plane, sign in zip(planes, signs, strict=True) if sign]
        point = common_point(oracle, [piece], cell)
        if point is not None and not is_bent_at(oracle, point, piece.normal, step):
            surface.lost = surface.places[signs], point
            return


def _beyond(piece: Hyperplane, plane: Hyperplane, sign: int, bend: Fraction) -> Hyperplane:
    """Return the piece on the other side of a hyperplane of layer 1."""
    change = -sign * bend
    return Hyperplane(
        add_multiple(piece.normal, plane.normal, change), piece.offset + change * plane.offset
    )
