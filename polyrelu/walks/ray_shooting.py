"""Where a walk leaves a cell: the neurons that vanish first ahead on a line, decided rigorously.

A walk is in a cell on which every preactivation is affine and follows a line: the only one (k =
1), or the line on which the form of one neuron, the *carrier*, is 0 (k = 2). The search rests on
one criterion: if at a point q of the line one neuron has the opposite of its sign on the cell and
all others that are not 0 on the cell keep theirs, then the walk from the cell to q meets exactly
one zero, the zero of this neuron.

Floats guess the zeros and a point q between the first two, and the bounds of `float_forms` decide
the signs at q. Where a sign stays undecided, or where nothing tells yet which end of the cell lies
ahead, the zeros are compared as rational numbers. The proof, and what the neuron at the back end
of the cell is needed for, stand in docs/theory/walks.md, section "The end of a cell".
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

#: Maximum number of zeros ahead among which the exact search looks for the widest gap.
_ZEROS_AHEAD = 12


@dataclass(slots=True)
class WalkStatistics:
    """Counts of the decisions that a walk has made so far.

    Attributes
    ----------
    steps
        The number of ends of cells that the walk looked for.
    exact
        The number of these ends that needed exact arithmetic.
    complete
        The number of these ends for which the zeros of all neurons were compared exactly, as at
        every unbounded end.
    ties
        The number of points beyond which the signs were computed exactly, because they do not
        follow from one change of sign.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.walks import walk_line
    >>> walk = walk_line(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]), [-1], [1])
    >>> len(list(walk)), walk.statistics
    (3, WalkStatistics(steps=3, exact=2, complete=1, ties=0))
    """

    steps: int = 0
    exact: int = 0
    complete: int = 0
    ties: int = 0


@dataclass(frozen=True, slots=True)
class Track:
    """The line through a cell, and which way on it is ahead.

    Attributes
    ----------
    signs
        The signs of the cell, a flat array of shape (num_neurons,).
    carrier
        The place of a neuron whose form is not constant and vanishes on the line (k = 2); None for
        k = 1.
    back
        The place of a neuron that is not 0 on the cell and vanishes at its back end; None if no
        such neuron is known.
    ray
        An exact direction that points ahead, k integers; needed where `back` is None.
    """

    signs: Signs
    carrier: int | None
    back: int | None
    ray: IntegerRow | None

    def exact_line(self, affine_slice: AffineSlice) -> ExactLine:
        """Return the exact line with its direction ahead."""
        if self.carrier is None:
            return ExactLine((0,), 1, (1,))
        (row,) = affine_slice.rows(self.signs, [self.carrier])
        a, b, c = row
        heading = (-b, a)
        if self.ray is not None:
            ahead = dot_sign(heading, self.ray)
        else:
            assert self.back is not None
            (back_row,) = affine_slice.rows(self.signs, [self.back])
            ahead = dot_sign(heading, back_row[:-1]) * int(self.signs[self.back])
        return ExactLine((-c * a, -c * b), a * a + b * b, (ahead * heading[0], ahead * heading[1]))


@dataclass(frozen=True, slots=True)
class ExactLine:
    """The points origin / weight + τ heading of a line.

    Attributes
    ----------
    origin
        The integer vector P, k entries.
    weight
        A positive integer.
    heading
        The integer direction r, k entries.
    """

    origin: IntegerRow
    weight: int
    heading: IntegerRow

    def zero_of(self, row: IntegerRow) -> Fraction:
        """Return τ at the zero of a form [a | b] that is not constant on the line."""
        slope = sum(a * r for a, r in zip(row[:-1], self.heading, strict=True))
        value = sum(a * p for a, p in zip(row, (*self.origin, self.weight), strict=True))
        return Fraction(-value, slope * self.weight)

    def at(self, tau: Fraction) -> Point:
        """Return the point at τ."""
        return tuple(
            Fraction(p, self.weight) + tau * r
            for p, r in zip(self.origin, self.heading, strict=True)
        )

    def tau_at(self, coordinate: int, value: float) -> Fraction:
        """Return τ at the point with a given value of one coordinate."""
        return (Fraction(value) - Fraction(self.origin[coordinate], self.weight)) / self.heading[
            coordinate
        ]


@dataclass(frozen=True, slots=True)
class _Guess:
    """The line in floats, start + τ heading, and the guessed zeros ahead.

    Attributes
    ----------
    start, heading
        A point of the line and its direction ahead, shape (k,).
    order
        The places of the neurons with a zero ahead, by ascending zero.
    zeros
        The zeros τ of these neurons, ascending.
    free
        The coordinate in which a point is moved onto the line.
    other
        The coordinate that such a point keeps (k = 2).
    """

    start: Floats
    heading: Floats
    order: NDArray[np.int64]
    zeros: Floats
    free: int
    other: int

    def beyond(self, count: int) -> float:
        """Return τ in the gap after the first `count` zeros."""
        if count < len(self.zeros):
            # Halves first: the sum of the two zeros may overflow.
            return float(self.zeros[count - 1]) / 2 + float(self.zeros[count]) / 2
        last = float(self.zeros[-1])
        return last + max(abs(last), 1.0)

    def widest_gap(self) -> int:
        """Return the number of zeros before the widest gap."""
        if len(self.zeros) < 2:
            return 1
        return int(np.argmax(np.diff(self.zeros[: _ZEROS_AHEAD + 1]))) + 1


class EventSearch:
    """Finds the neurons that vanish first ahead, cell after cell.

    Parameters
    ----------
    affine_slice
        The network on a line or plane.
    position
        The start of the walk, k exact numbers.
    statistics
        The counts to update.

    Attributes
    ----------
    forms
        The float forms, which the walk keeps up to date.
    position
        The approximate position of the walk in floats, shape (k,); for guesses only.
    passed
        A float point (k = 1) that lies certainly beyond the event found last; None if none is
        known.
    """

    def __init__(
        self, affine_slice: AffineSlice, position: Point, statistics: WalkStatistics
    ) -> None:
        self._slice, self._statistics = affine_slice, statistics
        self.forms = LocalForms(affine_slice)
        self.position = _floats(position)
        self.passed: float | None = None

    def next(self, track: Track) -> list[int]:
        """Return the neurons that vanish at the end of a cell ahead and not on the cell.

        Parameters
        ----------
        track
            The cell and its line.

        Returns
        -------
        list of int
            Their places, ascending; empty if the cell is unbounded ahead.
        """
        self._statistics.steps += 1
        self.passed = None
        guess = self._guess(track)
        if guess is not None and track.back is not None:
            found = self._by_floats(track, guess)
            if found is not None:
                return [found]
        return self._exactly(track, guess)

    # -- floats ---------------------------------------------------------------------------------

    @np.errstate(all="ignore")
    def _guess(self, track: Track) -> _Guess | None:
        """The guessed zeros ahead; None if the floats find none."""
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
            # The form of `back` grows ahead, even if its float slope, which may be all error,
            # has the wrong sign.
            falls[track.back] = False
        ahead = np.flatnonzero(falls)
        zeros = -values[ahead] / slopes[ahead]
        finite = np.isfinite(zeros)
        ahead, zeros = ahead[finite], zeros[finite]
        if not len(zeros):
            return None
        if len(zeros) > 2 * _ZEROS_AHEAD:
            near = np.argpartition(zeros, _ZEROS_AHEAD)[: _ZEROS_AHEAD + 1]
            ahead, zeros = ahead[near], zeros[near]
        order = np.argsort(zeros)
        return _Guess(start, heading, ahead[order], zeros[order], free, 1 - free)

    def _heading(self, track: Track, row: Floats) -> Floats:
        """The direction of the line, pointing ahead if the floats are right.

        Where they are wrong, the sign of the neuron `back` shows it.
        """
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
        """The point at τ in floats, moved onto the line."""
        q = np.asarray(guess.start + tau * guess.heading, dtype=np.float64)
        if track.carrier is not None:
            row = self.forms.columns[:, track.carrier]
            q[guess.free] = -(row[guess.other] * q[guess.other] + row[2]) / row[guess.free]
        return q

    def _by_floats(self, track: Track, guess: _Guess) -> int | None:
        """The neuron that vanishes first, if the float bounds prove it; else None.

        It is not the neuron `back`, which keeps its sign, so the point q lies ahead.
        """
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

    # -- exact arithmetic -----------------------------------------------------------------------

    def _exactly(self, track: Track, guess: _Guess | None) -> list[int]:
        """The neurons that vanish first, by exact arithmetic; none if the cell is unbounded."""
        self._statistics.exact += 1
        line = track.exact_line(self._slice)
        if guess is not None:
            q = self._point(track, guess, guess.beyond(guess.widest_gap()))
            found = (
                self.forms.signs_at(q, track.carrier, guess.free) if np.isfinite(q).all() else None
            )
            if found is not None:
                undecided = np.flatnonzero((found != track.signs) & (track.signs != 0))
                kept = guess.other if track.carrier is not None else 0
                limit = line.tau_at(kept, float(q[kept]))
                first = self._first_zeros(track, line, undecided, limit)
                if first:
                    return first
        self._statistics.complete += 1
        return self._first_zeros(track, line, np.flatnonzero(track.signs), None)

    def _first_zeros(
        self, track: Track, line: ExactLine, places: NDArray[np.int64], limit: Fraction | None
    ) -> list[int]:
        """Return the neurons, among the given ones, whose zeros ahead come first.

        The result is empty if their zeros come later than the limit.
        """
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
    """The nearest floats of exact numbers."""
    return np.array(
        [nearest_float(number.numerator, number.denominator) for number in numbers],
        dtype=np.float64,
    )
