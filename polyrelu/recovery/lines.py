"""The breakpoints of a piecewise affine function on a line, found by queries.

Two affine pieces that are known at the two ends of an interval meet in one point. If the function
has the value of both there, this is taken for the only breakpoint between them; otherwise the
interval is divided. So a breakpoint costs few queries, and exact values give exact breakpoints. A
function with further breakpoints between two pieces that a query did not hit would be read wrongly:
what is recovered has to be compared with the function afterwards.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from polyrelu.exact.vectors import add_multiple
from polyrelu.recovery.oracle import Oracle, difference, scaled
from polyrelu.support.typing import Point, Vector

__all__ = ["Breakpoint", "Line", "Piece", "breakpoints_on", "piece_at", "whole_line"]

#: An interval is divided at most so often.
_MAX_DEPTH = 120
#: The step of a piece is made smaller at most so often, and by this factor.
_MAX_STEPS, _SHRINK = 40, 8
#: How far lines are followed in R^n, by exact values and by others.
_FAR, _FAR_IN_FLOATS = Fraction(2) ** 40, Fraction(2) ** 7


class Line(NamedTuple):
    """The points point + t direction."""

    point: Point
    direction: Vector

    def at(self, t: Fraction) -> Point:
        """Return a point of the line."""
        return add_multiple(self.point, self.direction, t)


class Piece(NamedTuple):
    """A function on a line near t: value + (s - t) slope at s. The step is what it was seen on."""

    t: Fraction
    value: Vector
    slope: Vector
    step: Fraction

    def at(self, t: Fraction) -> Vector:
        """Return the value of the affine function at t."""
        return add_multiple(self.value, self.slope, t - self.t)

    def growth(self, t: Fraction) -> Fraction:
        """Return how much larger than at t itself the error of the affine function is there."""
        return 1 + abs(t - self.t) / self.step


class Breakpoint(NamedTuple):
    """A breakpoint on a line, and the nearest places before and after it that are known."""

    t: Fraction
    before: Fraction
    after: Fraction


def piece_at(oracle: Oracle, line: Line, t: Fraction, room: Fraction) -> Piece | None:
    """Return the affine piece around t; None if t is too near to a breakpoint.

    The function is asked at t and at two points on its two sides, at most `room` away.
    """
    value, step = oracle(line.at(t)), room
    for _ in range(_MAX_STEPS):
        slope = scaled(difference(oracle(line.at(t + step)), value), 1 / step)
        piece = Piece(t, value, slope, step)
        other = t - step * Fraction(3, 4)
        if oracle.same(oracle(line.at(other)), piece.at(other)):
            return piece
        step /= _SHRINK
        if not oracle.is_exact and step < Fraction(1, 2**30):
            return None
    return None


def breakpoints_on(oracle: Oracle, line: Line, low: Fraction, high: Fraction) -> list[Breakpoint]:
    """Return the breakpoints between two places, in order."""
    room = (high - low) / 64
    first = piece_at(oracle, line, low + room, room)
    last = piece_at(oracle, line, high - room, room)
    if first is None or last is None:
        return []
    found = list[Fraction]()
    _search(oracle, line, first, last, 0, found)
    ends = [low, *found, high]
    return [Breakpoint(t, ends[k], ends[k + 2]) for k, t in enumerate(found)]


def _search(
    oracle: Oracle, line: Line, first: Piece, last: Piece, depth: int, found: list[Fraction]
) -> None:
    """Append the breakpoints between two pieces."""
    if depth > _MAX_DEPTH or last.t - first.t <= 0:
        return
    growth = max(first.growth(last.t), last.growth(first.t))
    if oracle.same(first.at(last.t), last.value, growth) and oracle.same(
        last.at(first.t), first.value, growth
    ):
        places = _places_between(oracle, first.t, last.t)
        if all(oracle.same(first.at(t), oracle(line.at(t)), growth) for t in places):
            return
    else:
        t = _meeting_place(oracle, line, first, last)
        if t is not None:
            found.append(t)
            return
    between = _divided(oracle, line, first, last)
    if between is not None:
        _search(oracle, line, first, between, depth + 1, found)
        _search(oracle, line, between, last, depth + 1, found)


def _meeting_place(oracle: Oracle, line: Line, first: Piece, last: Piece) -> Fraction | None:
    """Return where two pieces meet if the function has no other breakpoint between them."""
    slopes = difference(last.slope, first.slope)
    k = max(range(len(slopes)), key=lambda i: abs(slopes[i]))
    if not slopes[k]:
        return None
    t = first.t + (first.value[k] - last.at(first.t)[k]) / slopes[k]
    if not first.t < t < last.t:
        return None
    growth = max(first.growth(t), last.growth(t))
    if not oracle.same(first.at(t), last.at(t), growth):
        return None
    if not oracle.same(first.at(t), oracle(line.at(t)), growth):
        return None
    near = min(t - first.t, last.t - t, max(abs(t), Fraction(1)))
    for piece, sign in ((first, -1), (last, 1)):
        inside = t + sign * near / (2**24 if oracle.is_exact else 2**8)
        if not oracle.same(piece.at(inside), oracle(line.at(inside)), piece.growth(inside)):
            return None
    return t


def _divided(oracle: Oracle, line: Line, first: Piece, last: Piece) -> Piece | None:
    """Return a piece between two others; far from 0 the interval is divided by its exponents."""
    for _ in range(8):
        t = oracle.between(*_middle_part(first.t, last.t))
        piece = piece_at(oracle, line, t, min(t - first.t, last.t - t) / 4)
        if piece is not None:
            return piece
    return None


def _middle_part(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Return a part of an interval; around 0 it is the part between -1 and 1, if that is small."""
    if low < -16 and high > 16:
        return Fraction(-1), Fraction(1)
    for one, other, sign in ((low, high, 1), (-high, -low, -1)):
        least = max(one, Fraction(1))
        if one >= 0 and other > 16 * least:
            place = sign * Fraction(2) ** ((_exponent(least) + _exponent(other)) // 2)
            ends = place * Fraction(3, 4), place * Fraction(5, 4)
            return min(ends), max(ends)
    return low, high


def _places_between(oracle: Oracle, low: Fraction, high: Fraction) -> list[Fraction]:
    """Return random places between two others, more of them around 0 in a wide interval."""
    found = [oracle.between(low, high)]
    for exponent in (0, 2, 4, 6):
        inner, outer = max(low, -(Fraction(2) ** exponent)), min(high, Fraction(2) ** exponent)
        if low < inner < outer < high:
            found.append(oracle.between(inner, outer))
    return found


def _exponent(x: Fraction) -> int:
    """Return the exponent of the power of 2 next to a positive number."""
    return x.numerator.bit_length() - x.denominator.bit_length()


def whole_line(oracle: Oracle, line: Line) -> list[Breakpoint]:
    """Return the breakpoints on a line within the domain; in R^n, up to very far."""
    low, high = oracle.reach(line.point, line.direction)
    far = _FAR if oracle.is_exact else _FAR_IN_FLOATS
    return breakpoints_on(oracle, line, -far if low is None else low, far if high is None else high)
