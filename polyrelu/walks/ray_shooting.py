"""The end of a cell ahead of a walk: the neurons that vanish there, decided rigorously.

A walk follows a line through the cells of a network that is restricted to an affine subspace of
dimension k = 1 or 2 (`AffineSlice`). On the cell where the walk is, every preactivation is an
affine form. For k = 1 the line is the whole subspace; for k = 2 it is the line on which the form of
one neuron, the *carrier*, vanishes. The cell *ends* at the first point ahead on the line where a
neuron vanishes that is not 0 on the cell.

The search rests on one criterion. Let q be a point of the line ahead of the cell, and evaluate at q
the forms of the cell. If one neuron has the opposite of its sign on the cell, and all others that
are not 0 on the cell have the same sign at q as on the cell, then only this one neuron vanishes
between the cell and q, and the cell ends at its zero.

Floats guess the zeros and a point q between the first two, and the bounds of `float_forms` decide
the signs at q. That q lies ahead is known from a neuron that vanishes at the back end of the cell:
it has its sign on the cell on the whole line ahead. If a sign at q remains undecided, or if no
neuron at the back end is known, the zeros are compared as rational numbers. The proof is in
docs/theory/walks.md, section "The end of a cell".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import dot_sign, nearest_float
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import Floats, IntegerRow, Point, Signs
from polyrelu.walks.affine_slice import AffineSlice
from polyrelu.walks.float_forms import LocalForms

__all__ = ["CellEndSearch", "CellOnLine", "ExactLine", "WalkStatistics"]

#: Maximum number of gaps between guessed zeros among which the exact search takes the widest one.
_ZEROS_AHEAD = 12


@dataclass(slots=True, repr=False)
class WalkStatistics:
    """Counts of the decisions that a walk has made so far.

    Attributes
    ----------
    num_steps
        Number of cells whose end the walk has searched for.
    num_exact_steps
        Number of these searches that needed exact arithmetic.
    num_fully_exact_steps
        Number of the searches in `num_exact_steps` that compared the zeros of all neurons. The
        searches in unbounded cells are among them.
    num_exact_continuations
        Number of ends of cells beyond which the signs were computed exactly. Beyond the other ends
        exactly one neuron has another sign than on the cell.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.walks import walk_line
    >>> walk = walk_line(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]), [-1], [1])
    >>> len(list(walk)), walk.statistics
    (3, <WalkStatistics, 3 steps, 2 of them exact, 1 fully exact, 0 exact continuations>)
    """

    num_steps: int = 0
    num_exact_steps: int = 0
    num_fully_exact_steps: int = 0
    num_exact_continuations: int = 0

    def __repr__(self) -> str:
        steps = f"{self.num_exact_steps} of them exact, {self.num_fully_exact_steps} fully exact"
        return bracketed(
            f"WalkStatistics, {count_text([(self.num_steps, 'step')])}, {steps}, "
            f"{count_text([(self.num_exact_continuations, 'exact continuation')])}"
        )


@dataclass(frozen=True, slots=True)
class CellOnLine:
    """A cell, the line that a walk follows through it, and which way on the line is ahead.

    Attributes
    ----------
    signs
        The signs on the cell, a flat array of shape (num_neurons,).
    carrier
        The place of the carrier, whose form vanishes on the line and is not constant; None for
        k = 1.
    back
        The place of a neuron that is not 0 on the cell and vanishes at its back end; None if no
        such neuron is known.
    ray
        A direction that points ahead, k integers. It can be None if `back` is known.
    """

    signs: Signs
    carrier: int | None
    back: int | None
    ray: IntegerRow | None

    def exact_line(self, affine_slice: AffineSlice) -> ExactLine:
        """Return the exact line, whose heading points ahead."""
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
    """A line as the set of its points origin / weight + τ heading, with a parameter τ.

    Attributes
    ----------
    origin
        An integer vector, k entries.
    weight
        A positive integer.
    heading
        The integer direction, k entries.
    """

    origin: IntegerRow
    weight: int
    heading: IntegerRow

    def zero_of(self, row: IntegerRow) -> Fraction:
        """Return the parameter τ of the zero of a form [a | b] that is not constant on the line."""
        slope = sum(a * r for a, r in zip(row[:-1], self.heading, strict=True))
        value = sum(a * p for a, p in zip(row, (*self.origin, self.weight), strict=True))
        return Fraction(-value, slope * self.weight)

    def point_at(self, tau: Fraction) -> Point:
        """Return the point with parameter τ."""
        return tuple(
            Fraction(p, self.weight) + tau * r
            for p, r in zip(self.origin, self.heading, strict=True)
        )

    def tau_at(self, coordinate: int, value: float) -> Fraction:
        """Return the parameter τ of the point with a given value of one coordinate."""
        return (Fraction(value) - Fraction(self.origin[coordinate], self.weight)) / self.heading[
            coordinate
        ]


@dataclass(frozen=True, slots=True)
class _FloatLine:
    """The line in floats, start + τ heading, and the guessed zeros ahead.

    Attributes
    ----------
    start, heading
        A point of the line and its direction ahead, shape (k,).
    places
        The places of the neurons with a zero ahead, by ascending zero.
    zeros
        The parameters τ of these zeros, ascending.
    moved
        The coordinate that is changed to move a float point onto the line (k = 2).
    kept
        The other coordinate (k = 2).
    """

    start: Floats
    heading: Floats
    places: NDArray[np.int64]
    zeros: Floats
    moved: int
    kept: int

    def tau_after(self, count: int) -> float:
        """Return a parameter τ between the first `count` zeros and the next one."""
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


class CellEndSearch:
    """Finds the neurons that vanish at the end of a cell, for the cells of one walk in order.

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
        The float forms on the current cell. The walk updates them when it enters a cell.
    position
        The approximate position of the walk in floats, shape (k,); for guesses only.
    point_beyond
        For k = 1 a float point that certainly lies beyond the end of the cell that was found last;
        None if no such point is known.
    """

    def __init__(
        self, affine_slice: AffineSlice, position: Point, statistics: WalkStatistics
    ) -> None:
        self._slice, self._statistics = affine_slice, statistics
        self.forms = LocalForms(affine_slice)
        self.position = _floats(position)
        self.point_beyond: float | None = None

    def neurons_at_end(self, cell: CellOnLine) -> list[int]:
        """Return the neurons that vanish at the end of a cell ahead and are not 0 on the cell.

        Parameters
        ----------
        cell
            The cell and its line.

        Returns
        -------
        list of int
            Their places, ascending; empty if the cell is unbounded ahead.
        """
        self._statistics.num_steps += 1
        self.point_beyond = None
        line = self._float_line(cell)
        if line is not None and cell.back is not None:
            neuron = self._neuron_by_floats(cell, line)
            if neuron is not None:
                return [neuron]
        return self._neurons_by_exact_zeros(cell, line)

    # -- floats ---------------------------------------------------------------------------------

    @np.errstate(all="ignore")
    def _float_line(self, cell: CellOnLine) -> _FloatLine | None:
        """Return the line in floats with the guessed zeros ahead; None if there seem to be none."""
        columns, start, heading, moved = self.forms.columns, self.position, np.ones(1), 0
        if cell.carrier is not None:
            row = columns[:, cell.carrier]
            moved = int(np.argmax(np.abs(row[:2]) / self.forms.scales))
            start = start.copy()
            start[moved] = -(row[1 - moved] * start[1 - moved] + row[2]) / row[moved]
            heading = self._heading(cell, row)
        slopes = heading @ columns[:-1]
        values = start @ columns[:-1] + columns[-1]
        approaches_zero = slopes * cell.signs < 0
        if cell.back is not None:
            # The absolute value of the form of `back` grows ahead. Its float slope can have the
            # wrong sign if the slope is smaller than its error.
            approaches_zero[cell.back] = False
        ahead = np.flatnonzero(approaches_zero)
        zeros = -values[ahead] / slopes[ahead]
        finite = np.isfinite(zeros)
        ahead, zeros = ahead[finite], zeros[finite]
        if not len(zeros):
            return None
        if len(zeros) > 2 * _ZEROS_AHEAD:
            near = np.argpartition(zeros, _ZEROS_AHEAD)[: _ZEROS_AHEAD + 1]
            ahead, zeros = ahead[near], zeros[near]
        order = np.argsort(zeros)
        return _FloatLine(start, heading, ahead[order], zeros[order], moved, 1 - moved)

    def _heading(self, cell: CellOnLine, row: Floats) -> Floats:
        """Return the direction of the line on which a float form is 0; it probably points ahead.

        If it points back, so that q lies behind the cell, the sign of the neuron `back` at q or the
        exact comparison of zeros shows it.
        """
        heading: Floats = np.array([-row[1], row[0]]) / np.abs(row[:2]).max()
        if cell.ray is not None:
            points_ahead = bool(heading @ _floats(cell.ray) > 0)
        else:
            assert cell.back is not None
            points_ahead = bool(
                heading @ self.forms.columns[:2, cell.back] * cell.signs[cell.back] > 0
            )
        return heading if points_ahead else -heading

    @np.errstate(all="ignore")
    def _point(self, cell: CellOnLine, line: _FloatLine, tau: float) -> Floats:
        """Return the float point with parameter τ, moved onto the line as far as floats allow."""
        q = np.asarray(line.start + tau * line.heading, dtype=np.float64)
        if cell.carrier is not None:
            row = self.forms.columns[:, cell.carrier]
            q[line.moved] = -(row[line.kept] * q[line.kept] + row[2]) / row[line.moved]
        return q

    def _neuron_by_floats(self, cell: CellOnLine, line: _FloatLine) -> int | None:
        """Return the only neuron that vanishes at the end of a cell, if the float bounds prove it.

        It is not the neuron `back`, which therefore has its sign on the cell at q: q lies ahead.
        """
        q = self._point(cell, line, line.tau_after(1))
        signs = self.forms.signs_at(q, cell.carrier, line.moved)
        if signs is None:
            return None
        first = int(line.places[0])
        differs = (signs != cell.signs) & (cell.signs != 0)
        if signs[first] != -cell.signs[first] or np.count_nonzero(differs) != 1:
            return None
        self.position = line.start + float(line.zeros[0]) * line.heading
        self.point_beyond = float(q[0])
        return first

    # -- exact arithmetic -----------------------------------------------------------------------

    def _neurons_by_exact_zeros(self, cell: CellOnLine, guess: _FloatLine | None) -> list[int]:
        """Return the neurons that vanish at the end of a cell, by exact arithmetic.

        There are none if the cell is unbounded. Neurons that have their sign on the cell at a point
        q farther on, proved in floats, need not be compared if another neuron vanishes before q.
        """
        self._statistics.num_exact_steps += 1
        line = cell.exact_line(self._slice)
        if guess is not None:
            q = self._point(cell, guess, guess.tau_after(guess.widest_gap()))
            signs = (
                self.forms.signs_at(q, cell.carrier, guess.moved) if np.isfinite(q).all() else None
            )
            if signs is not None:
                candidates = np.flatnonzero((signs != cell.signs) & (cell.signs != 0))
                kept = guess.kept if cell.carrier is not None else 0
                tau_of_q = line.tau_at(kept, float(q[kept]))
                first = self._first_zeros(cell, line, candidates, tau_of_q)
                if first:
                    return first
        self._statistics.num_fully_exact_steps += 1
        return self._first_zeros(cell, line, np.flatnonzero(cell.signs), None)

    def _first_zeros(
        self, cell: CellOnLine, line: ExactLine, places: NDArray[np.int64], limit: Fraction | None
    ) -> list[int]:
        """Return the neurons, among the given ones, whose zeros ahead come first.

        The result is empty if no neuron has a zero ahead, or if the first zero has a parameter
        above the limit.
        """
        zeros: dict[int, Fraction] = {}
        for place, row in zip(
            places.tolist(), self._slice.rows(cell.signs, places.tolist()), strict=True
        ):
            if dot_sign(row[:-1], line.heading) * int(cell.signs[place]) < 0:
                zeros[place] = line.zero_of(row)
        least = min(zeros.values(), default=None)
        if least is None or (limit is not None and least > limit):
            return []
        self.position = _floats(line.point_at(least))
        return [place for place, zero in zeros.items() if zero == least]


def _floats(numbers: Point | IntegerRow) -> Floats:
    """Return the nearest floats of exact numbers."""
    return np.array(
        [nearest_float(number.numerator, number.denominator) for number in numbers],
        dtype=np.float64,
    )
