"""Walks along the bent hyperplane of one neuron inside a plane, without a complex.

In the plane x = p + s_1 B_1 + s_2 B_2 the *bent hyperplane* of a neuron v is the set where z_v is 0
next to points where it is not. It consists of *pieces*: cells of dimension 1, determined by their
signs, with sign 0 at v. A piece ends where other neurons vanish.

* **Crossing points.** If exactly one neuron u vanishes at the end of a piece and not on the piece,
  and v is the only neuron that is 0 on the piece (neurons that remain 0 whatever is switched are
  not counted), then (v, u) takes all four pairs of signs around the point, in four sectors, and
  exactly one piece of v follows, with the opposite sign of u. A ray between two sectors is
  *visible* (the full gradient of f jumps) exactly if the derivative of f with respect to the
  activation of the neuron that is switched there is not 0.
* **Ties.** At every other end of a piece the star of the point is computed exactly (`star`). If
  exactly one ray of the bent hyperplane leaves the point besides the ray on which the walk came,
  the walk continues on it. Otherwise the walk stops, because nothing says which ray it should
  take.

The proofs, and the case of a plane inside the zero set of another neuron, stand in
docs/theory/walks.md, section "Crossing points".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from polyrelu.errors import DomainError
from polyrelu.exact import Rational
from polyrelu.formats import NetworkLike, as_point
from polyrelu.network import NeuronId
from polyrelu.support.arguments import expect, expect_list
from polyrelu.support.display import count_text
from polyrelu.walks.affine_slice import AffineSlice
from polyrelu.walks.bent_pieces import BentPiece, CrossingPoint, Ending, PieceSeries, Tie
from polyrelu.walks.exact_line import CellOnLine
from polyrelu.walks.legs import leg_lengths, leg_limits
from polyrelu.walks.line import LineWalk, neuron_text
from polyrelu.walks.ray_shooting import CellEndSearch, WalkStatistics
from polyrelu.walks.star import Ray, star_around

__all__ = [
    "BentWalk",
    "StepLimitError",
    "bent_walk_from",
    "first_zero",
    "walk_bent_hyperplane",
    "zero_in_plane",
]


class StepLimitError(DomainError):
    """The number of cells that the caller allowed did not suffice to decide the question."""


class BentWalk(Iterator[BentPiece]):
    """An iterator over the pieces of a bent hyperplane, made by `walk_bent_hyperplane`.

    Attributes
    ----------
    plane
        The network on the plane; ``plane.embed`` converts plane coordinates to points of R^{n_0}.
    statistics
        How many ends of pieces the walk has found so far, and how many of them needed exact
        arithmetic.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, -2]), ([[1, 1]], [0])])
    >>> walk = walk_bent_hyperplane(net, NeuronId(1, 0), [0, 0], [[1, 0], [0, 1]])
    >>> len(list(walk)), walk.statistics.num_steps
    (2, 2)
    """

    def __init__(
        self,
        plane: AffineSlice,
        place: int,
        origin: tuple[Fraction, Fraction],
        ray: Ray,
        limit: int | None,
    ) -> None:
        """Room-internal; use `walk_bent_hyperplane`."""
        self.plane, self.statistics = plane, WalkStatistics()
        self._place, self._origin, self._limit = place, origin, limit
        self._pieces = self._walk(ray)

    def __repr__(self) -> str:
        neuron = neuron_text([self.plane.neuron_at(self._place)])
        return f"<BentWalk of {neuron}, {count_text([(self.statistics.num_steps, 'step')])} so far>"

    def __iter__(self) -> Iterator[BentPiece]:
        return self._pieces

    def __next__(self) -> BentPiece:
        return next(self._pieces)

    def _walk(self, ray: Ray) -> Iterator[BentPiece]:
        """Generate the pieces from the one on the given ray."""
        plane, lengths = self.plane, leg_lengths(self.plane.network.num_parameters)
        search, walked = CellEndSearch(plane, self._origin, self.statistics), 0
        first = self._along(ray)
        cell: CellOnLine | None = first
        part = PieceSeries(plane, self._place, self._origin, first)
        search.forms.update(ray.signs)
        while cell is not None:
            most = (
                next(lengths) if self._limit is None else min(next(lengths), self._limit - walked)
            )
            limits = leg_limits(plane, cell, most, self._place)
            if limits is not None:
                limits.first = ray.signs
                leg = search.leg(cell, limits)
                part, count = part.leg(cell, leg), len(leg.switched)
                walked += count
                ending: Ending | None = "closed" if leg.is_closed else None
                ending = ending or ("limit" if walked == self._limit else None)
                for index in range(count - 1):
                    yield BentPiece(part, index)
                if count:
                    yield BentPiece(part, count - 1, ending)
                    signs, u = search.forms.signs.copy(), int(leg.switched[-1])
                    cell = CellOnLine(signs, cell.carrier, u, None)
                if ending is not None:
                    return
                if count == most:
                    continue
            walked += 1
            vanishing = search.neurons_at_end(cell)
            end, following = self._end_of(cell, vanishing, search.position)
            ending = self._ending(end, following, ray, walked)
            part = part.single(cell, end)
            yield BentPiece(part, 0, ending)
            cell = None if ending else following
            if cell is not None:
                search.enter(cell.signs)

    def _along(self, ray: Ray) -> CellOnLine:
        """Return the cell on a ray, with the direction of the ray ahead.

        Its carrier is a neuron that is 0 on the ray and whose form is not constant, v if possible.
        """
        zeros = np.flatnonzero(ray.signs == 0).tolist()
        rows = dict(zip(zeros, self.plane.rows(ray.signs, zeros), strict=True))
        carrier = next(place for place in (self._place, *zeros) if any(rows[place][:-1]))
        return CellOnLine(ray.signs, carrier, None, ray.direction)

    def _end_of(
        self, cell: CellOnLine, vanishing: list[int], position: Sequence[float]
    ) -> tuple[CrossingPoint | Tie | None, CellOnLine | None]:
        """Return the end of a piece, and the cell of the next piece if there is exactly one way on.

        Parameters
        ----------
        cell
            The piece.
        vanishing
            The places of the neurons that vanish at its end and not on it; none if it is unbounded.
        position
            The end in floats, approximately.
        """
        if not vanishing:
            return None, None
        near = position[0], position[1]
        plane, at = self.plane, cell.signs.copy()
        at[vanishing] = 0
        if len(vanishing) == 1 and self._is_crossing(cell, vanishing[0]):
            (u,) = vanishing
            beyond = cell.signs.copy()
            beyond[u] = -beyond[u]
            return CrossingPoint(plane, cell, at, near, self._place, u), CellOnLine(
                beyond, cell.carrier, u, None
            )
        self.statistics.num_exact_continuations += 1
        star = star_around(plane, at)
        rays = star.rays_of(self._place)
        onwards = [ray for ray in rays if not np.array_equal(ray.signs, cell.signs)]
        following = self._along(onwards[0]) if len(onwards) == 1 else None
        return Tie(plane, cell, at, near, star, tuple(rays)), following

    def _is_crossing(self, cell: CellOnLine, u: int) -> bool:
        """Whether the neurons ≠ v that are 0 on the piece remain 0 when v and u are switched."""
        others, on = np.flatnonzero(cell.signs == 0), cell.signs > 0
        on[[self._place, u]] = True
        return self.plane.remain_zero(others[others != self._place], on)

    def _ending(
        self, end: CrossingPoint | Tie | None, following: CellOnLine | None, first: Ray, count: int
    ) -> Ending | None:
        """Why the walk stops after a piece; None if it continues."""
        if end is None:
            return "unbounded"
        if following is None:
            return "tie"
        if np.array_equal(following.signs, first.signs):
            return "closed"
        return "limit" if count == self._limit else None


def walk_bent_hyperplane(
    network: NetworkLike,
    neuron: NeuronId,
    point: Sequence[Rational],
    directions: Sequence[Sequence[Rational]],
    *,
    start: Sequence[Rational] = (0, 0),
    reverse: bool = False,
    limit: int | None = None,
) -> BentWalk:
    """Walk along the bent hyperplane of a neuron in a plane, piece by piece, with certified signs.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; degenerate networks and skip connections are
        included.
    neuron
        The neuron v.
    point, directions
        The plane p + s_1 B_1 + s_2 B_2: the point p, n_0 exact numbers, and two independent
        directions of n_0 exact numbers each. Short numbers make exact arithmetic fast.
    start
        Plane coordinates of a zero of v, for example from `zero_in_plane`.
    reverse
        The bent hyperplane leaves the start in two directions. The walk takes the one whose first
        coordinate (the second one, if the first is 0) is positive; with `reverse`, the other one.
    limit
        Maximum number of pieces; None for all of them.

    Returns
    -------
    BentWalk
        A lazy iterator over `BentPiece`. The first piece contains the start or begins there.

    Raises
    ------
    DomainError
        The point or a direction does not have n_0 coordinates, or an entry is not an exact number;
        the directions are dependent; there is no such neuron; v does not vanish at the start, or
        vanishes on a neighbourhood of it, or only there; or the bent hyperplane branches or ends
        at the start, so that not exactly one ray leads in the direction that was asked for.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> plane, start = [[1, 0], [0, 1]], ["1/2", "1/2"]
    >>> for piece in walk_bent_hyperplane(net, NeuronId(2, 0), [0, 0], plane, start=start):
    ...     print(piece.signs, piece.ending, piece.end)
    ++|0 None <CrossingPoint, (1, 1), (2, 0) at (1, 0)>
    +-|0 unbounded None
    """
    return bent_walk_from(
        _plane(network, point, directions), neuron, start=start, reverse=reverse, limit=limit
    )


def bent_walk_from(
    plane: AffineSlice,
    neuron: NeuronId,
    *,
    start: Sequence[Rational] = (0, 0),
    reverse: bool = False,
    limit: int | None = None,
) -> BentWalk:
    """Walk along a bent hyperplane in a plane that exists already.

    Several walks in one plane share the forms that it has cached.

    Parameters
    ----------
    plane
        The network on a plane.
    neuron, start, reverse, limit
        The arguments of `walk_bent_hyperplane`.

    Returns
    -------
    BentWalk
        The pieces, as from `walk_bent_hyperplane`.

    Raises
    ------
    DomainError
        The neuron, the start or the limit is not valid, as for `walk_bent_hyperplane`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> plane = AffineSlice(net, [0, 0], [[1, 0], [0, 1]])
    >>> [str(piece.signs) for piece in bent_walk_from(plane, NeuronId(2, 0), start=["1/2", "1/2"])]
    ['++|0', '+-|0']
    """
    plane = _expect_plane(plane)
    place = plane.place(neuron)
    s, t = as_point(start, 2, "the start")
    _check_limit(limit, "pieces")
    at = plane.signs_at((s, t))
    name = f"neuron {neuron.index} of layer {neuron.layer}"
    if at[place]:
        raise DomainError(
            f"{name} is not 0 at the start; zero_in_plane finds a point of the plane where it is"
        )
    star = star_around(plane, at)
    rays = star.rays_of(place)
    if not rays:
        around = any(signs[place] for signs in star.sectors)
        where = "nowhere else around the start" if around else "all around the start"
        raise DomainError(
            f"{name} is 0 {where} in the plane; start at another point or in another plane"
        )
    chosen = [ray for ray in rays if (ray.direction < (0, 0)) == reverse]
    if len(chosen) != 1:
        raise DomainError(
            f"{len(chosen)} of {len(rays)} rays of {name} leave the start in this direction; start "
            "inside a piece"
        )
    return BentWalk(plane, place, (s, t), chosen[0], limit)


def zero_in_plane(
    network: NetworkLike,
    neuron: NeuronId,
    point: Sequence[Rational],
    directions: Sequence[Sequence[Rational]],
    *,
    heading: Sequence[Rational] = (1, 0),
    limit: int | None = None,
) -> tuple[Fraction, Fraction] | None:
    """Find the first zero of a neuron on a half-line in a plane.

    It is a start for `walk_bent_hyperplane`.

    Parameters
    ----------
    network, neuron, point, directions
        The arguments of `walk_bent_hyperplane`.
    heading
        The direction h of the half-line p + t (h_1 B_1 + h_2 B_2), t ≥ 0.
    limit
        Maximum number of cells of the half-line to examine; None for all of them.

    Returns
    -------
    tuple or None
        The zero in plane coordinates; None if the neuron has no zero on the half-line.

    Raises
    ------
    DomainError
        The neuron or the plane is not valid, as for `walk_bent_hyperplane`, or the heading is 0.
    StepLimitError
        The first `limit` cells contain no zero, and the half-line continues.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> zero_in_plane(net, NeuronId(2, 0), [0, "1/3"], [[1, 0], [0, 1]])
    (Fraction(2, 3), Fraction(0, 1))
    """
    plane = _plane(network, point, directions)
    return first_zero(plane, neuron, heading=heading, limit=limit)


def first_zero(
    plane: AffineSlice,
    neuron: NeuronId,
    *,
    heading: Sequence[Rational] = (1, 0),
    limit: int | None = None,
    farthest: float = math.inf,
) -> tuple[Fraction, Fraction] | None:
    """Find the first zero of a neuron on a half-line in a plane that exists already.

    Parameters
    ----------
    plane
        The network on a plane.
    neuron, heading, limit
        The arguments of `zero_in_plane`.
    farthest
        The half-line is followed up to about this multiple of the heading.

    Returns
    -------
    tuple or None
        The zero in plane coordinates; None if the neuron has no zero on the half-line.

    Raises
    ------
    DomainError
        There is no such neuron, or the heading is 0.
    StepLimitError
        The first `limit` cells contain no zero, and the half-line continues.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> first_zero(AffineSlice(net, [0, "1/3"], [[1, 0], [0, 1]]), NeuronId(2, 0))
    (Fraction(2, 3), Fraction(0, 1))
    """
    plane = _expect_plane(plane)
    _check_limit(limit, "cells")
    place = plane.place(neuron)
    h = as_point(heading, 2, "the heading")
    if not plane.signs_at((0, 0))[place]:
        return Fraction(0), Fraction(0)
    if not any(h):
        raise DomainError("the direction is 0; give one that leads somewhere")
    line, count = plane.line(h), 0
    for stretch in LineWalk(line, Fraction(0), None).stretches(place):
        num_events = len(stretch.points_beyond)
        if place in stretch.vanishing and (limit is None or count + num_events <= limit):
            *others, event = stretch.events(line)
            is_far = farthest < math.inf and bool(others) and others[-1].t > farthest
            return None if is_far else (event.t * h[0], event.t * h[1])
        count += num_events
        if num_events and farthest < math.inf:
            *_, event = stretch.events(line)
            if event.t > farthest:
                return None
        if limit is not None and count >= limit:
            raise StepLimitError(
                f"no zero in the first {limit} cells, but the way goes on; give a larger limit"
            )
    return None


def _plane(
    network: NetworkLike, point: Sequence[Rational], directions: Sequence[Sequence[Rational]]
) -> AffineSlice:
    """The network on a plane; an error if there are not exactly two directions."""
    directions = expect_list(directions, "directions")
    if len(directions) != 2:
        raise DomainError(f"a plane has two directions, not {len(directions)}")
    return AffineSlice(network, point, directions)


def _expect_plane(plane: object) -> AffineSlice:
    """A network on a plane, or an error."""
    remedy = "AffineSlice(network, point, directions) makes one"
    found = expect(plane, AffineSlice, "plane", remedy)
    if found.dimension != 2:
        raise DomainError(f"a plane has two directions, not {found.dimension}")
    return found


def _check_limit(limit: int | None, what: str) -> None:
    """Refuse limits that are not positive integers."""
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise DomainError(f"at most {limit} {what}: the limit must be an integer, at least 1")
