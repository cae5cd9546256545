"""Steps of a walk from cell to cell, decided in floats.

A step is *decided* if the bounds of `float_forms` prove that exactly one neuron vanishes at the end
of the cell, by the criterion of docs/theory/walks.md, section "The end of a cell". `next_step`
decides one step, and `run` makes steps until it cannot decide one: a *leg* of the walk. The
compiled core makes the same steps with the same floats (`compiled`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyrelu.support.typing import Floats, Signs
from polyrelu.walks.float_forms import LocalForms, combined

__all__ = ["Aim", "FloatSteps", "Leg", "LegLimits", "LineAhead", "Step"]

#: Number of flips after which all forms are computed afresh.
_MOST_FLIPS = 64


@dataclass(slots=True)
class LineAhead:
    """The line that a walk follows through a cell, in floats, and which way is ahead.

    Attributes
    ----------
    carrier
        The place of the neuron that is 0 on the line (k = 2); None for k = 1.
    back
        The place of the neuron that vanishes at the back end of the cell; None if none is known.
    ray
        A direction that points ahead, k floats, if `back` is None.
    position
        Where the walk is, approximately, k floats.
    """

    carrier: int | None
    back: int | None
    ray: Sequence[float]
    position: Sequence[float]


class Step(NamedTuple):
    """The only neuron that vanishes at the end of a cell.

    Attributes
    ----------
    place
        Its place.
    beyond
        A point beyond the end. It lies ahead of the cell if `back` was known.
    near
        The end, approximately.
    """

    place: int
    beyond: Sequence[float]
    near: Sequence[float]


@dataclass(slots=True)
class LegLimits:
    """Where a leg ends, if every step is decided.

    Attributes
    ----------
    most
        Maximum number of steps.
    target
        The leg ends with the step at whose end this neuron vanishes; None for no such neuron.
    watched
        The leg ends before a step that switches one of these neurons, a mask over all places.
    first
        The leg ends on the cell with these flat signs.
    """

    most: int
    target: int | None = None
    watched: NDArray[np.bool_] | None = None
    first: Signs | None = None


@dataclass(slots=True)
class Leg:
    """Successive steps, at each of which one neuron vanishes and takes the opposite sign.

    Attributes
    ----------
    switched
        The places of the neurons.
    near, beyond
        Ends of the cells, approximately, and points beyond them, shape (steps, k).
    is_closed
        Whether the last step leads to the cell with the signs `first`.
    """

    switched: NDArray[np.int64]
    near: Floats
    beyond: Floats
    is_closed: bool


class FloatSteps(LocalForms):
    """Local forms that make steps; in numpy."""

    def next_step(self, line: LineAhead) -> Step | None:
        """Return the end of the cell ahead, or None if the bounds do not decide it."""
        with np.errstate(all="ignore"):
            guess = self._guess(line)
            return None if guess is None else self._checked(line, guess)

    def run(self, line: LineAhead, limits: LegLimits) -> Leg:
        """Make steps until a limit is reached or a step is not decided; `line.back` is known.

        The forms, and `line`, are moved along.
        """
        steps, is_closed = list[Step](), False
        while len(steps) < limits.most and not is_closed:
            step = self.decided(line)
            if step is None or (limits.watched is not None and limits.watched[step.place]):
                break
            steps.append(step)
            self.flip(step.place)
            line.back, line.position = step.place, step.near
            is_closed = limits.first is not None and np.array_equal(self.signs, limits.first)
            if step.place == limits.target:
                break
        shape = len(steps), self._slice.dimension
        return Leg(
            np.array([step.place for step in steps], dtype=np.int64),
            np.array([step.near for step in steps]).reshape(shape),
            np.array([step.beyond for step in steps]).reshape(shape),
            is_closed,
        )

    def decided(self, line: LineAhead) -> Step | None:
        """Return what `next_step` does, and compute the forms afresh before giving up."""
        if self.num_flips >= _MOST_FLIPS:
            self.update(self.signs)
        step = self.next_step(line)
        if step is None and self.num_flips:
            self.update(self.signs)
            step = self.next_step(line)
        return step

    def _guess(self, line: LineAhead) -> _Guess | None:
        """Return the first zero ahead and what lies behind it; None if there is no zero."""
        aim = self.aim(line)
        if aim is None:
            return None
        zeros = self.zeros_ahead(aim, line.back)
        least = float(zeros.min(initial=np.inf))
        if not least < np.inf:
            return None
        first = int(np.argmin(zeros))
        zeros[first] = np.inf
        second = float(zeros.min())
        # Halves first: the sum of the two zeros may overflow. A zero far away may be an error.
        beyond = min(least / 2 + second / 2, least + max(abs(least), 1.0))
        return _Guess(aim, first, least, beyond)

    def _checked(self, line: LineAhead, guess: _Guess) -> Step | None:
        """Return the step if one neuron alone has another sign beyond its guessed zero."""
        aim, first = guess.aim, guess.first
        q = self.point_on_line(line.carrier, aim, guess.beyond)
        signs = self.signs_at(q, line.carrier, aim.moved)
        if signs is None or signs[first] != -self.signs[first]:
            return None
        if np.count_nonzero((signs != self.signs) & (self.signs != 0)) != 1:
            return None
        near = aim.start + guess.zero * aim.heading
        return Step(first, q.tolist(), near.tolist())

    # -- what exact arithmetic uses as well -------------------------------------------------------

    @np.errstate(all="ignore")
    def aim(self, line: LineAhead) -> Aim | None:
        """Return a float point of the line and its direction, which probably points ahead.

        If it points back, so that points lie behind the cell, the sign of the neuron `back` there
        or the exact comparison of zeros shows it.
        """
        start = np.array(line.position, dtype=np.float64)
        if line.carrier is None:
            return Aim(start, np.ones(1), 0)
        row = self.columns[:, line.carrier]
        size = np.abs(row[:2]).max()
        if not (np.isfinite(row).all() and size > 0):
            return None
        moved = self.moved_coordinate(line.carrier)
        kept = 1 - moved
        start[moved] = -(row[kept] * start[kept] + row[2]) / row[moved]
        heading: Floats = np.array([-row[1], row[0]]) / size
        if line.back is None:
            ahead = heading[0] * line.ray[0] + heading[1] * line.ray[1]
        else:
            slopes = self.columns[:2, line.back]
            ahead = (heading[0] * slopes[0] + heading[1] * slopes[1]) * self.signs[line.back]
        return Aim(start, heading if ahead > 0 else -heading, moved)

    def moved_coordinate(self, carrier: int) -> int:
        """Return the coordinate that moves a float point onto the line of a neuron (k = 2)."""
        return int(np.argmax(np.abs(self.columns[:2, carrier]) / self.scales))

    @np.errstate(all="ignore")
    def zeros_ahead(self, aim: Aim, back: int | None) -> Floats:
        """Return the parameter of the zero ahead of each form, infinite if there is none.

        The absolute value of the form of `back` grows ahead. Its float slope can have the wrong
        sign if the slope is smaller than its error.
        """
        slopes = self.columns[0] * aim.heading[0]
        if len(aim.heading) == 2:
            slopes = slopes + self.columns[1] * aim.heading[1]
        zeros = -combined(self.columns, aim.start) / slopes
        is_ahead = np.isfinite(zeros) & (slopes * self.signs < 0)
        if back is not None:
            is_ahead[back] = False
        return np.where(is_ahead, zeros, np.inf)

    @np.errstate(all="ignore")
    def point_on_line(self, carrier: int | None, aim: Aim, tau: float) -> Floats:
        """Return the float point with parameter τ, moved onto the line as far as floats allow."""
        q: Floats = np.asarray(aim.start + tau * aim.heading, dtype=np.float64)
        if carrier is not None:
            row, kept = self.columns[:, carrier], 1 - aim.moved
            q[aim.moved] = -(row[kept] * q[kept] + row[2]) / row[aim.moved]
        return q


class Aim(NamedTuple):
    """A line in floats, start + τ heading.

    Attributes
    ----------
    start, heading
        A point of the line and its direction ahead, shape (k,).
    moved
        The coordinate that is changed to move a float point onto the line (k = 2).
    """

    start: Floats
    heading: Floats
    moved: int


class _Guess(NamedTuple):
    """The neuron with the first zero ahead, this zero, and a parameter before the second one."""

    aim: Aim
    first: int
    zero: float
    beyond: float
