"""Along the zero set of one neuron inside a plane, from cell to cell, with no complex and in any dimension.

In the plane x = p + s_1 B_1 + s_2 B_2 the *bent hyperplane* of a neuron v, where z_v is 0 next to points where it is
not, consists of *pieces*: cells of dimension 1, known by their signs, with sign 0 at v. They end where other neurons
vanish.

**Ridges.** Let exactly one neuron u vanish at the end of a piece that does not vanish on it, v being the only neuron
that is 0 on the piece (neurons that stay 0 whatever is switched here do not count). Then

* (v, u) takes all four pairs of signs around the point, in four sectors, all other signs being constant. Say u does not
  lie in an earlier layer than v (else exchange them: z_v is not constant on z_u = 0, where it vanishes only in this
  point). Then z_v = 0 is a line around the point. The form of u with v on and the one with v off are equal on this
  line, and change their sign at the point; so on either side of the line there is one ray on which u vanishes.
* So one piece of v follows, with the opposite sign of u.
* The neurons that stay 0 read no neuron that is on. If they have no weights on the input either, they are 0 around the
  point in R^{n_0}, and the sectors lie in open cells of R^{n_0}. Across a ray only one neuron w is switched, so that f
  jumps by c z_w, c the derivative of f by the activation of w; as z_w is not constant, the ray is *visible* (the full
  gradient of f jumps) exactly if c ≠ 0.
* If one of them has weights on the input, the plane lies in its zero set: it takes both signs next to the plane, and f
  need not have a gradient in the sectors. Then there is none to ask for, and no ray is called visible.

**Ties.** At every other end of a piece the cells around it are worked out exactly (`star`). If exactly one ray of the
bent hyperplane leaves besides the one the walk came on, it goes on there; otherwise it stops, for nothing says which
ray it should take.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from polyrelu.errors import DomainError
from polyrelu.exact import Rational, RationalMatrix, meeting_direction, positive_primitive
from polyrelu.network import Network, NeuronId, SignVector, output_derivative
from polyrelu.support.typing import Floats, IntegerRow, Point, Signs
from polyrelu.walks.affine_slice import AffineSlice, exact_vector
from polyrelu.walks.line import walk_line
from polyrelu.walks.ray_shooting import EventSearch, Track, WalkStatistics
from polyrelu.walks.star import Ray, Star, star_around

__all__ = [
    "BentPiece",
    "BentWalk",
    "Corner",
    "Ending",
    "Ridge",
    "StepLimitError",
    "Tie",
    "bent_walk_from",
    "first_zero",
    "walk_bent_hyperplane",
    "zero_in_plane",
]

#: Signs of (v, u) at a sector or a ray around a ridge.
Pair: TypeAlias = tuple[int, int]
Ending = Literal["unbounded", "closed", "tie", "limit"]

_SECTORS: tuple[Pair, ...] = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_RAYS: tuple[Pair, ...] = ((0, 1), (0, -1), (1, 0), (-1, 0))


class StepLimitError(DomainError):
    """So many steps as were asked for have decided nothing."""


@dataclass(frozen=True, eq=False, repr=False)
class Corner:
    """The end of a piece: a point of the plane, exact numbers worked out when they are asked for.

    Attributes
    ----------
    track : of the piece before it.
    at : signs at the point.
    near : about where the point is, in plane coordinates; a guess in floats.
    """

    part: AffineSlice
    track: Track
    at: Signs
    near: tuple[float, float]

    @cached_property
    def point(self) -> tuple[Fraction, Fraction]:
        """The point in plane coordinates, exactly."""
        assert self.track.carrier is not None
        vanishing = int(np.flatnonzero(self.at != self.track.signs)[0])
        places = sorted((self.track.carrier, vanishing))
        x, y, w = meeting_direction(self.part.rows(self.track.signs, places))
        return Fraction(x, w), Fraction(y, w)

    @property
    def embedded(self) -> Point:
        """The point in R^{n_0}."""
        return self.part.embed(self.point)

    @property
    def zeros(self) -> tuple[NeuronId, ...]:
        """All neurons that vanish at the point."""
        return self.part.neurons(np.flatnonzero(self.at == 0))

    @property
    def signs(self) -> SignVector:
        """The signs at the point."""
        return self.part.sign_vector(self.at)

    def __repr__(self) -> str:
        zeros = ", ".join(f"({neuron.layer}, {neuron.index})" for neuron in self.zeros)
        return f"<{type(self).__name__}, {zeros} at ({self.point[0]}, {self.point[1]})>"


@dataclass(frozen=True, eq=False, repr=False)
class Ridge(Corner):
    """A point at which exactly two neurons vanish, v that is walked along and u, and four sectors meet.

    Neurons that are 0 on all of the sectors do not count; `zeros` names them with the others.

    Attributes
    ----------
    v, u : their places in the flat arrays of signs.
    """

    v: int
    u: int

    @property
    def neuron(self) -> NeuronId:
        """v."""
        return self.part.neuron(self.v)

    @property
    def other(self) -> NeuronId:
        """u."""
        return self.part.neuron(self.u)

    @cached_property
    def through_plane(self) -> tuple[NeuronId, ...]:
        """The neurons that are 0 on all sectors and not around the point in R^{n_0}: their zero sets contain the plane
        there, so that the sectors lie in no open cells."""
        others = (
            place
            for place in np.flatnonzero(self.at == 0).tolist()
            if place not in (self.v, self.u)
        )
        return self.part.neurons(place for place in others if self.part.reads_input(place))

    @property
    def sectors(self) -> dict[Pair, SignVector]:
        """The signs of the four sectors, by the signs of (v, u)."""
        return {pair: self.part.sign_vector(self._with(pair)) for pair in _SECTORS}

    @property
    def rays(self) -> dict[Pair, SignVector]:
        """The signs of the four rays, by the signs of (v, u), one of which is 0."""
        return {pair: self.part.sign_vector(self._with(pair)) for pair in _RAYS}

    def gradients(self) -> dict[Pair, RationalMatrix]:
        """The exact gradient of f on R^{n_0} in each sector, shape (n_L, n_0), by the signs of (v, u).

        It takes the time of four products of all weight matrices; `visible` does not need them.

        Raises
        ------
        DomainError : the plane lies in the zero set of another neuron (`through_plane`), so that f need not have a
            gradient there.
        """
        self._check_open()
        maps = self.part.network.affine_maps(self.sectors.values())
        return {pair: found.matrix for pair, found in zip(_SECTORS, maps, strict=True)}

    @cached_property
    def visible(self) -> dict[Pair, bool]:
        """Whether the full gradient of f jumps across each of the four rays, by the signs of (v, u).

        Neurons that vanish on a whole neighbourhood count as off.

        Raises
        ------
        DomainError : as `gradients`.
        """
        self._check_open()
        switched = {pair: self.v if pair[0] == 0 else self.u for pair in _RAYS}
        return {
            pair: not self._influence(pair, place).is_zero() for pair, place in switched.items()
        }

    def _influence(self, pair: Pair, place: int) -> RationalMatrix:
        """The derivative of the outputs by the activation of a neuron on a ray."""
        signs = self.part.sign_vector(self._with(pair))
        return output_derivative(self.part.network, signs, self.part.neuron(place))

    @cached_property
    def bends(self) -> bool:
        """Whether the bent hyperplane of the later one of the two neurons bends at the earlier one."""
        if self.part.layer_of(self.u) == self.part.layer_of(self.v):
            return False
        earlier, later = sorted((self.u, self.v))
        normals = []
        for sign in (1, -1):
            signs = self.at.copy()
            signs[earlier] = sign
            normals.append(self.part.rows(signs, [later])[0])
        (a, b, _), (c, d, _) = normals
        return a * d != b * c

    def _check_open(self) -> None:
        if self.through_plane:
            neuron = self.through_plane[0]
            raise DomainError(
                f"the plane lies in the zero set of neuron {neuron.index} of layer {neuron.layer}, where f need not "
                "have a gradient; move the plane a little"
            )

    def _with(self, pair: Pair) -> Signs:
        signs = self.at.copy()
        signs[[self.v, self.u]] = pair
        return signs


@dataclass(frozen=True, eq=False, repr=False)
class Tie(Corner):
    """A point at which more than two neurons vanish, or the zero set of v ends or branches.

    Attributes
    ----------
    star : the cells of the plane around it, signs in flat arrays.
    rays_of_neuron : those that belong to the bent hyperplane.
    """

    star: Star
    rays_of_neuron: tuple[Ray, ...]

    @property
    def sectors(self) -> tuple[SignVector, ...]:
        """The signs of the sectors, counterclockwise in plane coordinates."""
        return tuple(map(self.part.sign_vector, self.star.sectors))

    @property
    def rays(self) -> tuple[SignVector, ...]:
        """The signs of the rays; ray i lies before sector i."""
        return tuple(self.part.sign_vector(ray.signs) for ray in self.star.rays)


@dataclass(frozen=True, eq=False, repr=False)
class BentPiece:
    """A piece of the bent hyperplane in the plane.

    Attributes
    ----------
    start : where the walk entered it; None for the first piece.
    end : where it ends ahead; None if it is unbounded there.
    ending : why the walk stops here: the piece is ``unbounded``; the next one is the first one again (``closed``); it
        ends in a ``tie`` from which no ray or several rays of the bent hyperplane lead on; it is the last of so many
        pieces as were asked for (``limit``). None if a piece follows.
    origin : where the walk starts, in plane coordinates; it lies in the first piece or at its end.
    """

    part: AffineSlice
    track: Track
    start: Ridge | Tie | None
    end: Ridge | Tie | None
    ending: Ending | None
    origin: tuple[Fraction, Fraction]

    @property
    def signs(self) -> SignVector:
        """The signs on the piece."""
        return self.part.sign_vector(self.track.signs)

    @cached_property
    def heading(self) -> IntegerRow:
        """The primitive integer direction, in plane coordinates, that points ahead."""
        return positive_primitive(self.track.exact_line(self.part).heading)

    @property
    def inner(self) -> tuple[Fraction, Fraction]:
        """A point inside the piece, in plane coordinates, exactly."""
        start = self.origin if self.start is None else self.start.point
        end = None if self.end is None else self.end.point
        if end is None:
            return start[0] + self.heading[0], start[1] + self.heading[1]
        return (start[0] + end[0]) / 2, (start[1] + end[1]) / 2

    def __repr__(self) -> str:
        return f"<BentPiece {self.signs}, from {self.start or 'the start'} to {self.end or self.ending or 'the end'}>"


class BentWalk(Iterator[BentPiece]):
    """The pieces of a bent hyperplane, made by `walk_bent_hyperplane`.

    Attributes
    ----------
    part : the plane; ``part.embed`` leads from plane coordinates to R^{n_0}.
    statistics : how many ends of pieces were found so far, and how many needed exact arithmetic.
    """

    def __init__(
        self,
        part: AffineSlice,
        place: int,
        origin: tuple[Fraction, Fraction],
        ray: Ray,
        limit: int | None,
    ) -> None:
        """Use `walk_bent_hyperplane`."""
        self.part, self.statistics = part, WalkStatistics()
        self._place, self._origin, self._limit = place, origin, limit
        self._pieces = self._walk(ray)

    def __next__(self) -> BentPiece:
        return next(self._pieces)

    def _walk(self, ray: Ray) -> Iterator[BentPiece]:
        search = EventSearch(self.part, self._origin, self.statistics)
        track: Track | None = self._along(ray)
        start: Ridge | Tie | None = None
        signs = np.zeros(
            self.part.size, dtype=np.int8
        )  # of the forms in the search, which are not there yet
        count = 0
        while track is not None:
            self._update(search, signs, track.signs, everything=count == 0)
            signs, count = track.signs, count + 1
            vanishing = search.next(track)
            end, following = self._end_of(track, vanishing, search.position)
            ending = self._ending(end, following, ray, count)
            yield BentPiece(self.part, track, start, end, ending, self._origin)
            start, track = end, None if ending else following

    def _update(self, search: EventSearch, before: Signs, signs: Signs, everything: bool) -> None:
        changed = np.flatnonzero((before > 0) != (signs > 0))
        if everything:
            search.forms.update(signs)
        elif len(changed):
            search.forms.update(signs, self.part.layer_of(int(changed[0])) + 1)

    def _along(self, ray: Ray) -> Track:
        """The track on a ray: some neuron that is 0 on it has a form that is not constant, v if possible."""
        zeros = np.flatnonzero(ray.signs == 0).tolist()
        rows = dict(zip(zeros, self.part.rows(ray.signs, zeros), strict=True))
        carrier = next(place for place in (self._place, *zeros) if any(rows[place][:-1]))
        return Track(ray.signs, carrier, None, ray.direction)

    def _end_of(
        self, track: Track, vanishing: list[int], position: Floats
    ) -> tuple[Ridge | Tie | None, Track | None]:
        """The end of a piece, and the next one if there is one way on."""
        if not vanishing:
            return None, None
        near = float(position[0]), float(position[1])
        part, at = self.part, track.signs.copy()
        at[vanishing] = 0
        if len(vanishing) == 1 and self._is_ridge(track, vanishing[0]):
            (u,) = vanishing
            beyond = track.signs.copy()
            beyond[u] = -beyond[u]
            return Ridge(part, track, at, near, self._place, u), Track(
                beyond, track.carrier, u, None
            )
        self.statistics.ties += 1
        star = star_around(part, at)
        rays = star.rays_of(self._place)
        onwards = [ray for ray in rays if not np.array_equal(ray.signs, track.signs)]
        return Tie(part, track, at, near, star, tuple(rays)), self._along(onwards[0]) if len(
            onwards
        ) == 1 else None

    def _is_ridge(self, track: Track, u: int) -> bool:
        """Whether all that is 0 on the piece, but v, stays 0 when v and u are switched."""
        others, on = np.flatnonzero(track.signs == 0), track.signs > 0
        on[[self._place, u]] = True
        return self.part.stay_zero(others[others != self._place], on)

    def _ending(
        self, end: Ridge | Tie | None, following: Track | None, first: Ray, count: int
    ) -> Ending | None:
        if end is None:
            return "unbounded"
        if following is None:
            return "tie"
        if np.array_equal(following.signs, first.signs):
            return "closed"
        return "limit" if count == self._limit else None


def walk_bent_hyperplane(
    network: Network,
    neuron: NeuronId,
    point: Sequence[Rational],
    directions: Sequence[Sequence[Rational]],
    start: Sequence[Rational] = (0, 0),
    *,
    reverse: bool = False,
    limit: int | None = None,
) -> BentWalk:
    """The pieces of a neuron's bent hyperplane in a plane, one after the other, with certified signs.

    Parameters
    ----------
    network : any network, degenerate ones and skip connections included.
    neuron : v.
    point, directions : the plane p + s_1 B_1 + s_2 B_2: n_0 exact numbers, and two rows of them, independent. Short
        numbers make exact arithmetic fast.
    start : a point of the zero set in plane coordinates, such as `zero_in_plane` finds.
    reverse : of the directions in which the bent hyperplane leaves the start, walk in the one whose first coordinate
        (the second one, if that is 0) is negative, not positive.
    limit : at most so many pieces.

    Returns
    -------
    An iterator over `BentPiece`, lazy. The first piece contains the start, or starts there.

    Raises
    ------
    DomainError : a point or direction has not n_0 coordinates, or something else than exact numbers; the directions are
        dependent; there is no such neuron; it does not vanish at the start, or vanishes all around it, or only there;
        or it branches there, so that several rays lead in the direction that was asked for, or none.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> walk = walk_bent_hyperplane(net, NeuronId(2, 0), [0, 0], [[1, 0], [0, 1]], ["1/2", "1/2"])
    >>> for piece in walk:
    ...     print(piece.signs, piece.ending, piece.end and (piece.end.other, piece.end.point, piece.end.bends))
    ++|0 None (NeuronId(layer=1, index=1), (Fraction(1, 1), Fraction(0, 1)), True)
    +-|0 unbounded None
    """
    return bent_walk_from(
        _plane(network, point, directions), neuron, start, reverse=reverse, limit=limit
    )


def bent_walk_from(
    part: AffineSlice,
    neuron: NeuronId,
    start: Sequence[Rational] = (0, 0),
    *,
    reverse: bool = False,
    limit: int | None = None,
) -> BentWalk:
    """As `walk_bent_hyperplane`, in a plane that is there already; several walks in one plane share its work.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> plane = AffineSlice(net, [0, 0], [[1, 0], [0, 1]])
    >>> [str(piece.signs) for piece in bent_walk_from(plane, NeuronId(2, 0), ["1/2", "1/2"])]
    ['++|0', '+-|0']
    """
    place = part.place(neuron)
    s, t = exact_vector("the start", start, 2)
    _check_limit(limit, "pieces")
    at = part.signs_at((s, t))
    name = f"neuron {neuron.index} of layer {neuron.layer}"
    if at[place]:
        raise DomainError(
            f"{name} is not 0 at the start; zero_in_plane finds a point of the plane where it is"
        )
    star = star_around(part, at)
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
            f"{len(chosen)} of {len(rays)} rays of {name} leave the start in this direction; start inside a piece"
        )
    return BentWalk(part, place, (s, t), chosen[0], limit)


def zero_in_plane(
    network: Network,
    neuron: NeuronId,
    point: Sequence[Rational],
    directions: Sequence[Sequence[Rational]],
    heading: Sequence[Rational] = (1, 0),
    limit: int | None = None,
) -> tuple[Fraction, Fraction] | None:
    """The first zero of a neuron on the way from a point of a plane, a start for `walk_bent_hyperplane`.

    Parameters
    ----------
    network, neuron, point, directions : as there.
    heading : the way is p + t (h_1 B_1 + h_2 B_2), t ≥ 0.
    limit : look at so many cells at most.

    Returns
    -------
    The zero in plane coordinates; None if there is none on the way.

    Raises
    ------
    DomainError : as there; or the heading is 0. `StepLimitError` if there is none within the limit, but the way goes
        on.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> zero_in_plane(net, NeuronId(2, 0), [0, "1/3"], [[1, 0], [0, 1]])
    (Fraction(2, 3), Fraction(0, 1))
    """
    return first_zero(_plane(network, point, directions), neuron, heading, limit)


def first_zero(
    part: AffineSlice,
    neuron: NeuronId,
    heading: Sequence[Rational] = (1, 0),
    limit: int | None = None,
) -> tuple[Fraction, Fraction] | None:
    """As `zero_in_plane`, in a plane that is there already.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> first_zero(AffineSlice(net, [0, "1/3"], [[1, 0], [0, 1]]), NeuronId(2, 0))
    (Fraction(2, 3), Fraction(0, 1))
    """
    _check_limit(limit, "cells")
    place = part.place(neuron)
    h = exact_vector("the heading", heading, 2)
    if not part.signs_at((0, 0))[place]:
        return Fraction(0), Fraction(0)
    target = part.embed(h)
    direction = [x - p for x, p in zip(target, part.point, strict=True)]
    for count, cell in enumerate(walk_line(part.network, part.point, direction), 1):
        if cell.end is not None and not cell.end.at[place]:
            return cell.end.t * h[0], cell.end.t * h[1]
        if count == limit and cell.end is not None:
            raise StepLimitError(
                f"no zero in the first {limit} cells, but the way goes on; give a larger limit"
            )
    return None


def _plane(
    network: Network, point: Sequence[Rational], directions: Sequence[Sequence[Rational]]
) -> AffineSlice:
    if len(directions) != 2:
        raise DomainError(f"a plane has two directions, not {len(directions)}")
    return AffineSlice(network, point, directions)


def _check_limit(limit: int | None, what: str) -> None:
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise DomainError(f"at most {limit} {what}: the limit must be an integer, at least 1")
