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
the signs at q (`float_steps`). That q lies ahead is known from a neuron that vanishes at the back
end of the cell, which has its sign on the cell on the whole line ahead, or from the exact start of
the walk. If no form has a zero ahead, the bounds may decide that as well. What they leave open is
decided by comparing zeros as rational numbers. The proof is in docs/theory/walks.md, section "The
end of a cell".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import dot_sign
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import Floats, Point, Signs
from polyrelu.walks.affine_slice import AffineSlice
from polyrelu.walks.compiled import steps_on
from polyrelu.walks.exact_line import CellOnLine, ExactLine, floats_of
from polyrelu.walks.float_steps import Aim, Leg, LegLimits, LineAhead, Step
from polyrelu.walks.unbounded import UnboundedCell

__all__ = ["CellEndSearch", "WalkStatistics"]

#: Maximum number of gaps between guessed zeros among which the exact search takes the widest one.
_ZEROS_AHEAD = 12


@dataclass(slots=True, repr=False)
class WalkStatistics:
    """Counts of the decisions that a walk has made so far.

    Attributes
    ----------
    num_steps
        Number of cells whose end the walk has searched for. Walks search some cells ahead.
    num_exact_steps
        Number of these searches that needed exact arithmetic.
    num_fully_exact_steps
        Number of the searches in `num_exact_steps` that compared the zeros of all neurons.
    num_exact_continuations
        Number of ends of cells beyond which the signs were computed exactly. Beyond the other ends
        exactly one neuron has another sign than on the cell.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.walks import walk_line
    >>> walk = walk_line(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]), [-1], [1])
    >>> len(list(walk)), walk.statistics
    (3, <WalkStatistics, 3 steps, 0 of them exact, 0 fully exact, 0 exact continuations>)
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
class _Zeros:
    """The line in floats, and some of the first guessed zeros ahead.

    Attributes
    ----------
    aim
        The line.
    parameters
        The parameters τ of the zeros, ascending; at least one.
    """

    aim: Aim
    parameters: Floats

    def tau_in_widest_gap(self) -> float:
        """Return a parameter τ in the widest gap between zeros, or beyond the only one."""
        zeros = self.parameters
        if len(zeros) < 2:
            return float(zeros[0]) + max(abs(float(zeros[0])), 1.0)
        before = int(np.argmax(np.diff(zeros)))
        # Halves first: the sum of the two zeros may overflow.
        return float(zeros[before]) / 2 + float(zeros[before + 1]) / 2


class CellEndSearch:
    """Finds the neurons that vanish at the end of a cell, for the cells of one walk in order.

    Parameters
    ----------
    affine_slice
        The network on a line or plane.
    start
        The start of the walk, k exact numbers.
    statistics
        The counts to update.

    Attributes
    ----------
    forms
        The float forms on the current cell. The walk brings them to each cell that it enters,
        unless a leg has led it there.
    position
        The approximate position of the walk in floats, k numbers; for guesses only.
    point_beyond
        For k = 1 a float point that certainly lies beyond the end of the cell that was found last;
        None if no such point is known.
    """

    def __init__(self, affine_slice: AffineSlice, start: Point, statistics: WalkStatistics) -> None:
        self._slice, self._statistics, self._start = affine_slice, statistics, start
        self._no_ray = (0.0,) * affine_slice.dimension
        self.forms = steps_on(affine_slice)
        self.position: Sequence[float] = floats_of(start).tolist()
        self.point_beyond: float | None = None
        self._is_first = True

    def leg(self, cell: CellOnLine, limits: LegLimits) -> Leg:
        """Make steps from a cell whose neuron `back` is known, as far as floats decide them."""
        line = LineAhead(cell.carrier, cell.back, self._no_ray, self.position)
        leg = self.forms.run(line, limits)
        self.position = line.position
        self._statistics.num_steps += len(leg.switched)
        return leg

    def enter(self, signs: Signs) -> None:
        """Bring the float forms to the cell with the given signs."""
        before = self.forms.signs
        (changed,) = np.nonzero(before != signs)
        if len(changed) == 1 and signs[changed[0]] == -before[changed[0]]:
            self.forms.flip(int(changed[0]))
            return
        (switched,) = np.nonzero((before > 0) != (signs > 0))
        lowest = (
            self._slice.layer_of(int(switched[0])) if len(switched) else len(self._slice.layers)
        )
        self.forms.update(signs, lowest + 1)

    def neurons_at_end(self, cell: CellOnLine) -> list[int]:
        """Return the neurons that vanish at the end of a cell ahead and are not 0 on the cell.

        Parameters
        ----------
        cell
            The cell and its line. The first one contains the start of the walk or begins there.

        Returns
        -------
        list of int
            Their places, ascending; empty if the cell is unbounded ahead.
        """
        self._statistics.num_steps += 1
        self.point_beyond = None
        is_first, self._is_first = self._is_first, False
        ray = self._no_ray if cell.ray is None else floats_of(cell.ray).tolist()
        line = LineAhead(cell.carrier, cell.back, ray, self.position)
        step = self.forms.decided(line)
        if step is not None and (
            cell.back is not None or (is_first and self._is_ahead(cell, step))
        ):
            self.position, self.point_beyond = step.near, step.beyond[0]
            return [step.place]
        if step is None:
            unbounded = UnboundedCell(self._slice, self.forms, cell)
            if unbounded.is_certain:
                self._statistics.num_exact_steps += unbounded.is_exact
                return []
        return self._neurons_by_exact_zeros(cell, self._zeros(cell, line))

    def _is_ahead(self, cell: CellOnLine, step: Step) -> bool:
        """Return whether the point beyond a step lies ahead of the start, exactly."""
        assert cell.ray is not None
        kept = 0 if cell.carrier is None else 1 - self.forms.moved_coordinate(cell.carrier)
        return (Fraction(step.beyond[kept]) - self._start[kept]) * cell.ray[kept] > 0

    def _zeros(self, cell: CellOnLine, line: LineAhead) -> _Zeros | None:
        """Return some of the first guessed zeros ahead; None if there seem to be none."""
        aim = self.forms.aim(line)
        if aim is None:
            return None
        zeros = self.forms.zeros_ahead(aim, cell.back)
        zeros = zeros[np.isfinite(zeros)]
        return _Zeros(aim, np.sort(zeros)[: _ZEROS_AHEAD + 1]) if len(zeros) else None

    # -- exact arithmetic -----------------------------------------------------------------------

    def _neurons_by_exact_zeros(self, cell: CellOnLine, guess: _Zeros | None) -> list[int]:
        """Return the neurons that vanish at the end of a cell, by exact arithmetic.

        There are none if the cell is unbounded. Neurons that have their sign on the cell at a point
        q farther on, proved in floats, need not be compared if another neuron vanishes before q.
        """
        self._statistics.num_exact_steps += 1
        line = cell.exact_line(self._slice)
        if guess is not None:
            q = self.forms.point_on_line(cell.carrier, guess.aim, guess.tau_in_widest_gap())
            signs = (
                self.forms.signs_at(q, cell.carrier, guess.aim.moved)
                if np.isfinite(q).all()
                else None
            )
            if signs is not None:
                candidates = np.flatnonzero((signs != cell.signs) & (cell.signs != 0))
                kept = 0 if cell.carrier is None else 1 - guess.aim.moved
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
        self.position = floats_of(line.point_at(least)).tolist()
        return [place for place, zero in zeros.items() if zero == least]
