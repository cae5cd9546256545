"""The cells along a line, in order, in any dimension and without a complex.

A cell of the line x = p + t d is an open interval of t on which the signs of all neurons are
constant. A neuron may be 0 on all of it, where the line runs inside its zero set or through a
region on which it is identically 0. Between two cells lies an event, a point with other signs.
Several neurons may vanish at one event; the walk continues, because a line has only one way on.

`CellEndSearch` decides which neurons vanish first, over whole legs where floats suffice. Beyond an
event of one neuron, this neuron has the opposite sign and all others keep theirs, unless a neuron
that was 0 on the cell reads, directly or through other neurons, the neuron that was switched. In
this case, and beyond events of several neurons, the signs are computed exactly, layer by layer
(`AffineSlice.signs_beyond`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from polyrelu.errors import DomainError
from polyrelu.exact import Rational
from polyrelu.formats import NetworkLike, as_network, as_point
from polyrelu.network import NeuronId, SignVector
from polyrelu.support.display import count_text, shortened
from polyrelu.support.typing import Point, Signs
from polyrelu.walks.affine_slice import AffineSlice
from polyrelu.walks.exact_line import CellOnLine
from polyrelu.walks.legs import leg_lengths, leg_limits
from polyrelu.walks.ray_shooting import CellEndSearch, WalkStatistics

__all__ = ["LineCell", "LineEvent", "LineWalk", "Stretch", "neuron_text", "walk_line"]


@dataclass(frozen=True, eq=False, repr=False)
class LineEvent:
    """A point of the line at which the signs change; exact numbers are computed when asked for.

    Attributes
    ----------
    line
        The network on the line.
    before, at, beyond
        The signs of all hidden neurons before, at and beyond the point, flat arrays of shape
        (num_neurons,).

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[2]], [-1]), ([[1]], [0])])
    >>> cell = next(walk_line(net, [0], [1]))
    >>> cell.end, cell.end.t, cell.end.is_tie
    (<LineEvent, (1, 0) at t = 1/2>, Fraction(1, 2), False)
    """

    line: AffineSlice
    before: Signs
    at: Signs
    beyond: Signs

    @cached_property
    def t(self) -> Fraction:
        """The exact parameter t of the event."""
        (row,) = self.line.rows(self.before, [int(np.flatnonzero(self.at != self.before)[0])])
        return Fraction(-row[1], row[0])

    @property
    def point(self) -> Point:
        """The point of the event in R^{n_0}."""
        return self.line.embed([self.t])

    @property
    def neurons(self) -> tuple[NeuronId, ...]:
        """The neurons that vanish at the event and not on both sides of it."""
        return self.line.neurons_at(
            np.flatnonzero((self.at == 0) & ((self.before != 0) | (self.beyond != 0)))
        )

    @property
    def is_tie(self) -> bool:
        """Whether several neurons vanish at the event and not on both sides of it."""
        return len(self.neurons) > 1

    @property
    def signs(self) -> SignVector:
        """The sign vector at the event."""
        return self.line.sign_vector(self.at)

    def __repr__(self) -> str:
        return f"<LineEvent, {neuron_text(self.neurons)} at t = {shortened(str(self.t))}>"


@dataclass(frozen=True, eq=False, repr=False)
class LineCell:
    """An open interval of the line on which all signs are constant.

    Attributes
    ----------
    line
        The network on the line.
    flat
        The signs of all hidden neurons on the cell, a flat array of shape (num_neurons,).
    start
        The event at which the cell begins; None on the first cell, which may begin before the walk.
    end
        The event at which the cell ends; None on the last cell, which is unbounded or contains the
        end of the walk.
    first, last
        The parameters at which the walk starts and ends (None: it does not end); nothing beyond
        them is examined.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[2]], [-1]), ([[3]], [0])])
    >>> [(str(cell.signs), cell.inner, cell.derivative) for cell in walk_line(net, [0], [1])]
    [('-', Fraction(1, 4), (Fraction(0, 1),)), ('+', Fraction(3, 2), (Fraction(6, 1),))]
    """

    line: AffineSlice
    flat: Signs
    start: LineEvent | None
    end: LineEvent | None
    first: Fraction
    last: Fraction | None

    @property
    def signs(self) -> SignVector:
        """The sign vector on the cell."""
        return self.line.sign_vector(self.flat)

    @property
    def inner(self) -> Fraction:
        """A parameter t inside the walked part of the cell.

        It is the middle of this part, or its start plus 1 if the part is unbounded.
        """
        start = self.first if self.start is None else self.start.t
        end = self.last if self.end is None else self.end.t
        return start + 1 if end is None else (start + end) / 2

    @property
    def derivative(self) -> tuple[Fraction, ...]:
        """The exact derivative of each output along the direction d, n_L numbers.

        The affine map on R^{n_0} around the cell is ``network.affine_map(cell.signs)``, provided
        every neuron that is 0 on the cell is also 0 on a neighbourhood of it in R^{n_0}.
        """
        return tuple(self.line.affine_map(self.signs).matrix.entries())

    def __repr__(self) -> str:
        begin = "the start" if self.start is None else f"t = {shortened(str(self.start.t))}"
        end = "the end" if self.end is None else f"t = {shortened(str(self.end.t))}"
        return f"<LineCell {shortened(str(self.signs))}, from {begin} to {end}>"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Successive cells of a line; room-internal.

    Attributes
    ----------
    before
        The flat signs on the first cell.
    switched
        The places of the neurons that vanish and take the opposite sign at successive events, one
        at each; if there is an `event`, all that vanish there.
    points_beyond
        For each event a float parameter that certainly lies beyond it; None if none is known.
    event
        The only event, if more may happen there than that one neuron takes the opposite sign.
    is_unbounded
        Whether the walk ends with the first cell; then there is no event.
    """

    before: Signs
    switched: list[int]
    points_beyond: Sequence[float | None]
    event: LineEvent | None = None
    is_unbounded: bool = False

    @property
    def vanishing(self) -> list[int]:
        """The places of the neurons that vanish at the last event and not on the cell before it."""
        return self.switched if self.event is not None else self.switched[-1:]

    def events(self, line: AffineSlice) -> Iterator[LineEvent]:
        """Generate the events."""
        if self.event is not None:
            yield self.event
            return
        before = self.before
        for place in self.switched:
            at, beyond = before.copy(), before.copy()
            at[place], beyond[place] = 0, -before[place]
            yield LineEvent(line, before, at, beyond)
            before = beyond


class LineWalk(Iterator[LineCell]):
    """An iterator over the cells along a line, made by `walk_line`.

    Attributes
    ----------
    statistics
        The number of cells whose end the walk has searched for, and how often exactly.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> walk = walk_line(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]), [-1], [1])
    >>> [str(cell.signs) for cell in walk], walk.statistics.num_steps
    (['--', '+-', '++'], 3)
    """

    def __init__(self, line: AffineSlice, start: Fraction, end: Fraction | None) -> None:
        """Room-internal; use `walk_line`."""
        self.statistics = WalkStatistics()
        self._line, self._first, self._last = line, start, end
        self._cells = self._walk()

    def __repr__(self) -> str:
        start = f"from t = {shortened(str(self._first))}"
        end = "" if self._last is None else f" to {shortened(str(self._last))}"
        return (
            f"<LineWalk {start}{end}, {count_text([(self.statistics.num_steps, 'step')])} so far>"
        )

    def __next__(self) -> LineCell:
        return next(self._cells)

    def _walk(self) -> Iterator[LineCell]:
        """Generate the cells in order."""
        line, first, last = self._line, self._first, self._last
        start: LineEvent | None = None
        for stretch in self.stretches():
            for event, point in zip(stretch.events(line), stretch.points_beyond, strict=True):
                if self._is_over(event, point):
                    end = event if event.t == last else None
                    yield LineCell(line, event.before, start, end, first, last)
                    return
                yield LineCell(line, event.before, start, event, first, last)
                start = event
            if stretch.is_unbounded:
                yield LineCell(line, stretch.before, start, None, first, last)

    def _is_over(self, event: LineEvent, point_beyond: float | None) -> bool:
        """Return whether an event comes at the end of the walk or later."""
        if self._last is None:
            return False
        if point_beyond is not None and Fraction(point_beyond) <= self._last:
            return False
        return event.t >= self._last

    def stretches(self, target: int | None = None) -> Iterator[Stretch]:
        """Generate the walk in parts; room-internal.

        Parameters
        ----------
        target
            The place of a neuron. Where it vanishes, a part ends.
        """
        line, lengths = self._line, leg_lengths(self._line.network.num_parameters)
        search = CellEndSearch(line, (self._first,), self.statistics)
        signs = line.signs_beyond(line.signs_at([self._first]), (1,))
        cell = CellOnLine(signs, None, None, (1,))
        search.forms.update(signs)
        while True:
            limits = leg_limits(line, cell, next(lengths))
            if limits is not None:
                limits.target = target
                leg = search.leg(cell, limits)
                if len(leg.switched):
                    switched = leg.switched.tolist()
                    yield Stretch(cell.signs, switched, leg.beyond[:, 0].tolist())
                    cell = CellOnLine(search.forms.signs.copy(), None, switched[-1], (1,))
                if len(leg.switched) == limits.most or cell.back == target is not None:
                    continue
            vanishing = search.neurons_at_end(cell)
            if not vanishing:
                yield Stretch(cell.signs, [], [], is_unbounded=True)
                return
            at, beyond = self._event(cell.signs, vanishing)
            event = LineEvent(line, cell.signs, at, beyond)
            yield Stretch(cell.signs, vanishing, [search.point_beyond], event)
            search.enter(beyond)
            # Nothing below the lowest neuron that vanishes was switched, so this neuron now has
            # the opposite sign.
            cell = CellOnLine(beyond, None, vanishing[0], (1,))

    def _event(self, before: Signs, vanishing: list[int]) -> tuple[Signs, Signs]:
        """Return the signs at the point where the given neurons vanish, and beyond it."""
        line, at, beyond = self._line, before.copy(), before.copy()
        on = before > 0
        at[vanishing], on[vanishing], beyond[vanishing] = 0, True, -before[vanishing]
        if len(vanishing) > 1 or not line.remain_zero(np.flatnonzero(before == 0), on):
            self.statistics.num_exact_continuations += 1
            beyond = line.signs_beyond(at, (1,))
        return at, beyond


def walk_line(
    network: NetworkLike,
    point: Sequence[Rational],
    direction: Sequence[Rational],
    *,
    start: Rational = 0,
    end: Rational | None = None,
) -> LineWalk:
    """Walk through the cells of a network along the points p + t d, in order, with certified signs.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; degenerate networks and skip connections are
        included.
    point, direction
        The point p and the direction d ≠ 0, n_0 exact numbers each. Short numbers make exact
        arithmetic fast.
    start, end
        The first and the last parameter t. Without an end the walk continues to the last cell,
        which is unbounded.

    Returns
    -------
    LineWalk
        A lazy iterator over `LineCell`. The first cell is the one just beyond `start`. An event at
        t = `end` is the last one that is reported.

    Raises
    ------
    DomainError
        The point or the direction does not have n_0 coordinates, or an entry is not an exact
        number; the direction is 0; the end is not after the start.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[1, -2]], ["-1/2"]), ([[1]], [0])])
    >>> for cell in walk_line(net, [-1], [1]):
    ...     end = cell.end and (str(cell.end.t), str(cell.end.signs))
    ...     print(cell.signs, cell.derivative[0], end)
    --|- 0 ('1', '0-|-')
    +-|- 0 ('3/2', '+-|0')
    +-|+ 1 ('2', '+0|+')
    ++|+ -1 ('5/2', '++|0')
    ++|- 0 None
    """
    network = as_network(network)
    vector = as_point(direction, network.num_inputs, "the direction")
    if not any(vector):
        raise DomainError("the direction is 0; give one that leads somewhere")
    (first,) = as_point([start], 1, "the start")
    last = None if end is None else as_point([end], 1, "the end")[0]
    if last is not None and last <= first:
        raise DomainError(
            "the end of the line is not after its start; walk the other way with the opposite "
            "direction"
        )
    return LineWalk(AffineSlice(network, point, [vector]), first, last)


def neuron_text(neurons: Iterable[NeuronId]) -> str:
    """Return neurons as pairs (layer, index), as much of them as a line holds."""
    return shortened(", ".join(f"({neuron.layer}, {neuron.index})" for neuron in neurons))
