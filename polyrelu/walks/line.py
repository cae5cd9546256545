"""The cells along a line, one after the other, with no complex and in any dimension.

A cell of the line x = p + t d is an open interval of t on which the signs of all neurons are constant. A neuron can be
0 on all of it, where the line runs inside its zero set or through a region on which it is identically 0; this is
ordinary. Between two cells lies an event, a point at which the signs are others. Several neurons may vanish there at
once: the walk goes through, because on a line there is one way on.

What vanishes first is decided by `events`. Beyond an event of one neuron its sign is the opposite one and all others
stay, unless a neuron that was 0 on the cell reads, directly or not, what has been switched; then the signs beyond are
worked out exactly, layer by layer (`AffineSlice.signs_beyond`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from polyrelu.errors import DomainError
from polyrelu.exact import Rational
from polyrelu.network import Network, NeuronId, SignVector
from polyrelu.support.typing import Point, Signs
from polyrelu.walks.affine_slice import AffineSlice, exact_vector
from polyrelu.walks.ray_shooting import EventSearch, Track, WalkStatistics

__all__ = ["LineCell", "LineEvent", "LineWalk", "walk_line"]


@dataclass(frozen=True, eq=False, repr=False)
class LineEvent:
    """A point of the line at which the signs change; exact numbers are worked out when they are asked for."""

    part: AffineSlice
    before: Signs
    at: Signs
    beyond: Signs

    @cached_property
    def t(self) -> Fraction:
        """The parameter, exactly."""
        (row,) = self.part.rows(self.before, [int(np.flatnonzero(self.at != self.before)[0])])
        return Fraction(-row[1], row[0])

    @property
    def point(self) -> Point:
        """The point of R^{n_0}."""
        return self.part.embed([self.t])

    @property
    def neurons(self) -> tuple[NeuronId, ...]:
        """The neurons that vanish here and not on both sides."""
        return self.part.neurons(
            np.flatnonzero((self.at == 0) & ((self.before != 0) | (self.beyond != 0)))
        )

    @property
    def is_tie(self) -> bool:
        """Whether there are several of them."""
        return len(self.neurons) > 1

    @property
    def signs(self) -> SignVector:
        """The signs at the point."""
        return self.part.sign_vector(self.at)

    def __repr__(self) -> str:
        zeros = ", ".join(f"({neuron.layer}, {neuron.index})" for neuron in self.neurons)
        return f"<LineEvent, {zeros} at t = {self.t}>"


@dataclass(frozen=True, eq=False, repr=False)
class LineCell:
    """An open interval of the line on which all signs are constant.

    Attributes
    ----------
    start, end : the events at its ends. `start` is None on the first cell, which may begin before the start of the
        walk. `end` is None on the last one: it is unbounded, or the end of the walk lies inside.
    first, last : the parameters at which the walk starts and ends (None: never); what lies beyond them is not looked
    at.
    """

    part: AffineSlice
    flat: Signs
    start: LineEvent | None
    end: LineEvent | None
    first: Fraction
    last: Fraction | None

    @property
    def signs(self) -> SignVector:
        """The signs on the cell."""
        return self.part.sign_vector(self.flat)

    @property
    def inner(self) -> Fraction:
        """A parameter inside the cell: the middle of what was walked, 1 beyond its start if that has no end."""
        start = self.first if self.start is None else self.start.t
        end = self.last if self.end is None else self.end.t
        return start + 1 if end is None else (start + end) / 2

    @property
    def derivative(self) -> tuple[Fraction, ...]:
        """The derivative of every output along the direction, exactly; the whole affine map is
        ``network.affine_map(cell.signs)``, if no neuron is 0 on the cell and not around it."""
        return tuple(self.part.affine_map(self.signs).matrix.entries())

    def __repr__(self) -> str:
        return (
            f"<LineCell {self.signs}, from {self.start or 'the start'} to {self.end or 'the end'}>"
        )


class LineWalk(Iterator[LineCell]):
    """The cells along a line, made by `walk_line`.

    Attributes
    ----------
    statistics : how many events were found so far, and how many needed exact arithmetic.
    """

    def __init__(self, part: AffineSlice, start: Fraction, end: Fraction | None) -> None:
        """Use `walk_line`."""
        self.statistics = WalkStatistics()
        self._slice, self._first, self._last = part, start, end
        self._cells = self._walk()

    def __next__(self) -> LineCell:
        return next(self._cells)

    def _walk(self) -> Iterator[LineCell]:
        part, event = self._slice, None
        search = EventSearch(part, (self._first,), self.statistics)
        signs, back = part.signs_beyond(part.signs_at([self._first]), (1,)), None
        search.forms.update(signs)
        while True:
            vanishing = search.next(Track(signs, None, back, (1,)))
            following = self._event(signs, vanishing)
            if (
                following is not None
                and self._last is not None
                and not self._comes_by_the_end(following, search)
            ):
                following = None
            yield LineCell(part, signs, event, following, self._first, self._last)
            if following is None or (
                self._last is not None and search.passed is None and following.t == self._last
            ):
                return
            changed = np.flatnonzero((following.beyond > 0) != (signs > 0))
            if len(changed):
                search.forms.update(following.beyond, part.layer_of(int(changed[0])) + 1)
            # The lowest of the neurons that vanish: nothing below it was switched, so that it has its other sign now.
            signs, event, back = following.beyond, following, vanishing[0]

    def _event(self, before: Signs, vanishing: list[int]) -> LineEvent | None:
        if not vanishing:
            return None
        part, at, beyond = self._slice, before.copy(), before.copy()
        on = before > 0
        at[vanishing], on[vanishing], beyond[vanishing] = 0, True, -before[vanishing]
        if len(vanishing) > 1 or not part.stay_zero(np.flatnonzero(before == 0), on):
            self.statistics.ties += 1
            beyond = part.signs_beyond(at, (1,))
        return LineEvent(part, before, at, beyond)

    def _comes_by_the_end(self, event: LineEvent, search: EventSearch) -> bool:
        assert self._last is not None
        if search.passed is not None and Fraction(search.passed) <= self._last:
            return True
        search.passed = None
        return event.t <= self._last


def walk_line(
    network: Network,
    point: Sequence[Rational],
    direction: Sequence[Rational],
    start: Rational = 0,
    end: Rational | None = None,
) -> LineWalk:
    """The cells of a network along the points p + t d, t from `start` on, in order, with certified signs.

    Parameters
    ----------
    network : any network, degenerate ones and skip connections included.
    point, direction : p and d, n_0 exact numbers each, d not 0. Short numbers make exact arithmetic fast.
    start, end : the first and the last t; without an end the walk goes on until the last cell, which is unbounded.

    Returns
    -------
    An iterator over `LineCell`, lazy; the first cell is the one just beyond `start`. An event at t = `end` is the last
    one that is reported.

    Raises
    ------
    DomainError : a point or direction has not n_0 coordinates, or something else than exact numbers; the direction is
        0; the end is not after the start.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[1, -2]], ["-1/2"]), ([[1]], [0])])
    >>> for cell in walk_line(net, [-1], [1]):
    ...     print(cell.signs, cell.derivative[0], cell.end and (str(cell.end.t), str(cell.end.signs)))
    --|- 0 ('1', '0-|-')
    +-|- 0 ('3/2', '+-|0')
    +-|+ 1 ('2', '+0|+')
    ++|+ -1 ('5/2', '++|0')
    ++|- 0 None
    """
    vector = exact_vector("the direction", direction, network.inputs)
    if not any(vector):
        raise DomainError("the direction is 0; give one that leads somewhere")
    (first,) = exact_vector("the start", [start], 1)
    last = None if end is None else exact_vector("the end", [end], 1)[0]
    if last is not None and last <= first:
        raise DomainError(
            "the end of the line is not after its start; walk the other way with the opposite direction"
        )
    return LineWalk(AffineSlice(network, point, [vector]), first, last)
