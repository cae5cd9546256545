"""Piece-wise linear surfaces in a square by brute force over a line arrangement.

All lines on which a neuron can fold are intersected with each other, and a segment of a line is a
fold if the function bends at its middle, tested by evaluation at three points. Components are sets
of faces of the arrangement, named by their signs. Nothing is taken from the complex of the network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

__all__ = ["Arrangement", "PlanePiece", "edges_between", "pieces_of"]

Point = tuple[Fraction, Fraction]
Line = tuple[int, int, int]
#: A step across a line that is smaller than every distance in the tests.
STEP = Fraction(1, 10**12)


@dataclass(frozen=True)
class Segment:
    """A segment of a line between neighbouring points of intersection."""

    line: Line
    ends: tuple[Point, Point]

    @property
    def middle(self) -> Point:
        """The middle of the segment."""
        (a, b), (c, d) = self.ends
        return (a + c) / 2, (b + d) / 2

    def beside(self, sign: int) -> Point:
        """A point beside the middle."""
        x, y = self.middle
        size = abs(self.line[0]) + abs(self.line[1])
        return x + sign * STEP * self.line[0] / size, y + sign * STEP * self.line[1] / size


@dataclass(frozen=True)
class PlanePiece:
    """A piece: its order, its line, the segments that make it up, and its component."""

    order: int
    line: Line
    segments: frozenset[Segment]
    removed: frozenset[Segment]


class Arrangement:
    """All segments of some lines in the open square (-r, r)²."""

    def __init__(self, lines: Sequence[Line], radius: int) -> None:
        self.radius, self.lines = radius, [line for line in lines if _crosses(line, radius)]
        walls = [(1, 0, radius), (1, 0, -radius), (0, 1, radius), (0, 1, -radius)]
        self.segments: list[Segment] = []
        for line in self.lines:
            points = {
                point
                for other in [*self.lines, *walls]
                if (point := _meet(line, other)) and max(map(abs, point)) <= radius
            }
            ordered = sorted(points)
            self.segments += [Segment(line, ends) for ends in pairwise(ordered)]

    def face(self, point: Point) -> tuple[int, ...]:
        """The signs of all lines at a point."""
        values = (a * point[0] + b * point[1] + c for a, b, c in self.lines)
        return tuple((value > 0) - (value < 0) for value in values)


def pieces_of(arrangement: Arrangement, is_fold: Callable[[Segment], bool]) -> list[PlanePiece]:
    """The pieces of the surface of all segments that are folds."""
    folds = frozenset(filter(is_fold, arrangement.segments))
    sides = {
        segment: tuple(arrangement.face(segment.beside(sign)) for sign in (-1, 1))
        for segment in arrangement.segments
    }
    found: list[PlanePiece] = []
    removed: frozenset[Segment] = frozenset()
    order = 0
    while True:
        order += 1
        parent: dict[tuple[int, ...], tuple[int, ...]] = {}
        for segment, (one, other) in sides.items():
            if segment not in removed:
                parent[_root(parent, one)] = _root(parent, other)
        groups: dict[tuple[Line, tuple[int, ...]], list[Segment]] = {}
        for segment, (one, _) in sides.items():
            if segment not in removed:
                groups.setdefault((segment.line, _root(parent, one)), []).append(segment)
        new = [
            PlanePiece(order, line, frozenset(group), removed)
            for (line, _), group in groups.items()
            if folds.issuperset(group)
        ]
        if not new:
            return found
        found += new
        removed = removed.union(*(piece.segments for piece in new))


def _root(parent: dict[tuple[int, ...], tuple[int, ...]], face: tuple[int, ...]) -> tuple[int, ...]:
    """The face that stands for the component of a face."""
    while parent.setdefault(face, face) != face:
        face = parent[face]
    return face


def edges_between(pieces: Sequence[PlanePiece], radius: int) -> set[tuple[int, int]]:
    """The edges of the dependency graph, as the appendix of Phuong and Lampert defines them."""
    found = set()
    for (i, one), (j, other) in combinations(enumerate(pieces), 2):
        for (a, low), (b, high) in (((i, one), (j, other)), ((j, other), (i, one))):
            if low.order < high.order:
                ends = {end for segment in high.segments for end in segment.ends}
                middles = {segment.middle for segment in high.segments}
                if any(_in_piece(point, low, radius) for point in ends | middles):
                    found.add((a, b))
    return found


def _in_piece(point: Point, piece: PlanePiece, radius: int) -> bool:
    """Whether a point lies in a piece, which is open in its line."""
    return (
        max(map(abs, point)) < radius
        and any(_on(point, segment) for segment in piece.segments)
        and not any(_on(point, segment) for segment in piece.removed)
    )


def _on(point: Point, segment: Segment) -> bool:
    a, b, c = segment.line
    low, high = segment.ends
    return a * point[0] + b * point[1] + c == 0 and low <= point <= high


def _crosses(line: Line, radius: int) -> bool:
    a, b, c = line
    values = [a * x + b * y + c for x in (-radius, radius) for y in (-radius, radius)]
    return min(values) < 0 < max(values)


def _meet(one: Line, other: Line) -> Point | None:
    (a, b, c), (d, e, f) = one, other
    determinant = a * e - b * d
    if not determinant:
        return None
    return Fraction(b * f - c * e, determinant), Fraction(c * d - a * f, determinant)
