"""Where a walk leaves a cell: which neurons vanish first along a line, decided rigorously.

A walk is in a cell on which every preactivation is affine. It follows a line: the only one there is (k = 1), or the one
on which a neuron, the *carrier*, is 0 (k = 2). Seen from inside the cell, the neurons that vanish first ahead are those
of sign σ_j ≠ 0 whose form, times σ_j, falls along the line and whose zero comes first. A form has at most one
zero on the line, so

    if at a point q of the line one neuron j has sign -σ_j and all others that are not 0 on the cell have their sign
    σ_i, then the walk from the cell to q meets exactly one zero, that of j, and no other neuron vanishes there.

**Floats.** They guess the zeros, take a point q between the first and the second one, and the bounds of `local_forms`
decide these signs. That q lies ahead and not behind is among them, as long as j is not the neuron that vanished at the
event before, at the back end of the cell: that one has sign -σ behind it, so that q is ahead if it keeps its sign. It
is never taken for j, whatever the floats say about its slope: a form has one zero, and its zero lies behind.

**Exactly.** Where a sign stays open, or where nothing tells ahead from behind yet, q is taken a few zeros farther on,
where the gap is widest. Neurons that surely have their sign there do not vanish before q; the zeros of the others are
compared as rational numbers, and if the first one comes no later than q the answer is found. If not, all neurons are
compared.

Exact points on the line are P/w + τ r: for k = 1, P/w = 0 and r = 1; for k = 2, with the carrier's row (a, b), P/w = -b
a / |a|² and r = ±(-a_2, a_1), the sign chosen so that r points ahead.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import dot_sign, nearest_float
from polyrelu.support.typing import Floats, IntegerRow, Point, Signs
from polyrelu.walks.affine_slice import AffineSlice
from polyrelu.walks.float_forms import LocalForms

__all__ = ["EventSearch", "ExactLine", "Track", "WalkStatistics"]

#: So many zeros ahead are looked at for a wide gap.
_AHEAD = 12


@dataclass(slots=True)
class WalkStatistics:
    """What a walk has decided so far, and how.

    Attributes
    ----------
    steps : ends of cells that were looked for.
    exact : how many of them needed exact arithmetic.
    complete : how many of these needed all neurons exactly, as unbounded ends always do.
    ties : points at which the signs beyond were worked out exactly, because one sign change does not tell them.
    """

    steps: int = 0
    exact: int = 0
    complete: int = 0
    ties: int = 0


@dataclass(frozen=True, slots=True)
class Track:
    """The line through a cell, and which way is ahead.

    Attributes
    ----------
    signs : of the cell.
    carrier : a neuron whose form is not constant and vanishes on the line (k = 2); None for k = 1.
    back : a neuron, not 0 on the cell, that vanishes at its back end; None if none is known.
    ray : an exact direction that points ahead; needed where `back` is None.
    """

    signs: Signs
    carrier: int | None
    back: int | None
    ray: IntegerRow | None

    def exact_line(self, part: AffineSlice) -> ExactLine:
        """P, w and r."""
        if self.carrier is None:
            return ExactLine((0,), 1, (1,))
        (row,) = part.rows(self.signs, [self.carrier])
        a, b, c = row
        heading = (-b, a)
        if self.ray is not None:
            ahead = dot_sign(heading, self.ray)
        else:
            assert self.back is not None
            (behind,) = part.rows(self.signs, [self.back])
            ahead = dot_sign(heading, behind[:-1]) * int(self.signs[self.back])
        return ExactLine((-c * a, -c * b), a * a + b * b, (ahead * heading[0], ahead * heading[1]))


@dataclass(frozen=True, slots=True)
class ExactLine:
    """The points origin / weight + τ heading, all integers, weight > 0."""

    origin: IntegerRow
    weight: int
    heading: IntegerRow

    def zero_of(self, row: IntegerRow) -> Fraction:
        """τ at the zero of a form that is not constant on the line."""
        slope = sum(a * r for a, r in zip(row[:-1], self.heading, strict=True))
        value = sum(a * p for a, p in zip(row, (*self.origin, self.weight), strict=True))
        return Fraction(-value, slope * self.weight)

    def at(self, tau: Fraction) -> Point:
        """The point at τ."""
        return tuple(
            Fraction(p, self.weight) + tau * r
            for p, r in zip(self.origin, self.heading, strict=True)
        )

    def where(self, coordinate: int, value: float) -> Fraction:
        """τ at the point with a given coordinate."""
        return (Fraction(value) - Fraction(self.origin[coordinate], self.weight)) / self.heading[
            coordinate
        ]


@dataclass(frozen=True, slots=True)
class _Guess:
    """The line in floats, start + τ heading, and the zeros ahead, τ ascending, of the neurons `order`.

    `free` is the coordinate in which a point is moved onto the line, `other` the one that it keeps (k = 2).
    """

    start: Floats
    heading: Floats
    order: NDArray[np.int64]
    zeros: Floats
    free: int
    other: int

    def beyond(self, count: int) -> float:
        """τ in the gap after so many zeros."""
        if count < len(self.zeros):
            return (
                float(self.zeros[count - 1]) / 2 + float(self.zeros[count]) / 2
            )  # their sum may overflow
        last = float(self.zeros[-1])
        return last + max(abs(last), 1.0)

    def widest_gap(self) -> int:
        """How many of the first zeros lie before the widest gap."""
        if len(self.zeros) < 2:
            return 1
        return int(np.argmax(np.diff(self.zeros[: _AHEAD + 1]))) + 1


class EventSearch:
    """Finds the first zeros ahead, cell after cell.

    Attributes
    ----------
    forms : the float forms, which the walk keeps up to date.
    position : about where the walk is, shape (k,); for guesses only.
    passed : a float point (k = 1) that is surely beyond the event found last; None if none is known.
    """

    def __init__(self, part: AffineSlice, position: Point, statistics: WalkStatistics) -> None:
        self._slice, self._statistics = part, statistics
        self.forms = LocalForms(part)
        self.position = _floats(position)
        self.passed: float | None = None

    def next(self, track: Track) -> list[int]:
        """The neurons that vanish where the cell ends ahead and not on the cell, ascending; none if it never ends."""
        self._statistics.steps += 1
        self.passed = None
        guess = self._guess(track)
        if guess is not None and track.back is not None:
            found = self._by_floats(track, guess)
            if found is not None:
                return [found]
        return self._exactly(track, guess)

    # -- floats ---------------------------------------------------------------------------------------------------

    @np.errstate(all="ignore")
    def _guess(self, track: Track) -> _Guess | None:
        """The zeros ahead as floats see them; None if they see none."""
        columns, start, heading, free = self.forms.columns, self.position, np.ones(1), 0
        if track.carrier is not None:
            row = columns[:, track.carrier]
            free = int(np.argmax(np.abs(row[:2]) / self.forms.scales))
            start = start.copy()
            start[free] = -(row[1 - free] * start[1 - free] + row[2]) / row[free]
            heading = self._heading(track, row)
        slopes = heading @ columns[:-1]
        values = start @ columns[:-1] + columns[-1]
        falls = slopes * track.signs < 0
        if track.back is not None:
            falls[track.back] = (
                False  # it rises, although its float slope, if that is all error, may deny it
            )
        ahead = np.flatnonzero(falls)
        zeros = -values[ahead] / slopes[ahead]
        finite = np.isfinite(zeros)
        ahead, zeros = ahead[finite], zeros[finite]
        if not len(zeros):
            return None
        if len(zeros) > 2 * _AHEAD:
            near = np.argpartition(zeros, _AHEAD)[: _AHEAD + 1]
            ahead, zeros = ahead[near], zeros[near]
        order = np.argsort(zeros)
        return _Guess(start, heading, ahead[order], zeros[order], free, 1 - free)

    def _heading(self, track: Track, row: Floats) -> Floats:
        """The line's direction, ahead if the floats are right: where they are not, the sign of `back` tells."""
        heading: Floats = np.array([-row[1], row[0]]) / np.abs(row[:2]).max()
        if track.ray is not None:
            points_ahead = bool(heading @ _floats(track.ray) > 0)
        else:
            assert track.back is not None
            points_ahead = bool(
                heading @ self.forms.columns[:2, track.back] * track.signs[track.back] > 0
            )
        return heading if points_ahead else -heading

    @np.errstate(all="ignore")
    def _point(self, track: Track, guess: _Guess, tau: float) -> Floats:
        """About the point at τ, moved onto the line."""
        q = np.asarray(guess.start + tau * guess.heading, dtype=np.float64)
        if track.carrier is not None:
            row = self.forms.columns[:, track.carrier]
            q[guess.free] = -(row[guess.other] * q[guess.other] + row[2]) / row[guess.free]
        return q

    def _by_floats(self, track: Track, guess: _Guess) -> int | None:
        """The one neuron that vanishes first, if the float bounds prove it: it is not `back`, which keeps its sign, so
        that q lies ahead."""
        q = self._point(track, guess, guess.beyond(1))
        found = self.forms.signs_at(q, track.carrier, guess.free)
        if found is None:
            return None
        first = int(guess.order[0])
        changed = (found != track.signs) & (track.signs != 0)
        if found[first] != -track.signs[first] or np.count_nonzero(changed) != 1:
            return None
        self.position = guess.start + float(guess.zeros[0]) * guess.heading
        self.passed = float(q[0])
        return first

    # -- exactly --------------------------------------------------------------------------------------------------

    def _exactly(self, track: Track, guess: _Guess | None) -> list[int]:
        self._statistics.exact += 1
        line = track.exact_line(self._slice)
        if guess is not None:
            q = self._point(track, guess, guess.beyond(guess.widest_gap()))
            found = (
                self.forms.signs_at(q, track.carrier, guess.free) if np.isfinite(q).all() else None
            )
            if found is not None:
                open_ = np.flatnonzero((found != track.signs) & (track.signs != 0))
                kept = guess.other if track.carrier is not None else 0
                first = self._first(track, line, open_, line.where(kept, float(q[kept])))
                if first:
                    return first
        self._statistics.complete += 1
        return self._first(track, line, np.flatnonzero(track.signs), None)

    def _first(
        self, track: Track, line: ExactLine, places: NDArray[np.int64], limit: Fraction | None
    ) -> list[int]:
        """Those among some neurons whose zeros ahead come first, if they come no later than the limit."""
        zeros: dict[int, Fraction] = {}
        for place, row in zip(
            places.tolist(), self._slice.rows(track.signs, places.tolist()), strict=True
        ):
            if dot_sign(row[:-1], line.heading) * int(track.signs[place]) < 0:
                zeros[place] = line.zero_of(row)
        least = min(zeros.values(), default=None)
        if least is None or (limit is not None and least > limit):
            return []
        self.position = _floats(line.at(least))
        return [place for place, zero in zeros.items() if zero == least]


def _floats(numbers: Point | IntegerRow) -> Floats:
    return np.array(
        [nearest_float(number.numerator, number.denominator) for number in numbers],
        dtype=np.float64,
    )
