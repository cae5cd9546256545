"""The pieces of a bent hyperplane in a plane, and the points where they end.

`bent_hyperplane` walks along them, and says what crossing points and ties are.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix, meeting_direction, positive_primitive
from polyrelu.network import NeuronId, SignVector, output_derivative
from polyrelu.support.display import shortened
from polyrelu.support.typing import Floats, IntegerRow, Point, Signs
from polyrelu.walks.affine_slice import AffineSlice
from polyrelu.walks.exact_line import CellOnLine
from polyrelu.walks.float_steps import Leg
from polyrelu.walks.line import neuron_text
from polyrelu.walks.star import Ray, Star

__all__ = ["BentPiece", "Corner", "CrossingPoint", "Ending", "PieceSeries", "Tie"]

#: The signs of (v, u) on a sector or a ray around a crossing point.
Pair: TypeAlias = tuple[int, int]
#: Why a walk stops after a piece.
Ending = Literal["unbounded", "closed", "tie", "limit"]

_SECTORS: tuple[Pair, ...] = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_RAYS: tuple[Pair, ...] = ((0, 1), (0, -1), (1, 0), (-1, 0))


@dataclass(frozen=True, eq=False, repr=False)
class Corner:
    """The end of a piece, a point of the plane; exact numbers are computed when asked for.

    Attributes
    ----------
    plane
        The network on the plane.
    cell
        The piece before the point, and its line.
    at
        The signs of all hidden neurons at the point, a flat array of shape (num_neurons,).
    near
        Approximate plane coordinates of the point in floats; a guess without a bound.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.walks import walk_bent_hyperplane
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, -2]), ([[1, 1]], [0])])
    >>> piece = next(walk_bent_hyperplane(net, NeuronId(1, 0), [0, 0], [[1, 0], [0, 1]]))
    >>> isinstance(piece.end, Corner), str(piece.end.signs)
    (True, '00')
    """

    plane: AffineSlice
    cell: CellOnLine
    at: Signs
    near: tuple[float, float]

    @cached_property
    def point(self) -> tuple[Fraction, Fraction]:
        """The exact plane coordinates of the point."""
        assert self.cell.carrier is not None
        vanishing = int(np.flatnonzero(self.at != self.cell.signs)[0])
        places = sorted((self.cell.carrier, vanishing))
        x, y, w = meeting_direction(self.plane.rows(self.cell.signs, places))
        return Fraction(x, w), Fraction(y, w)

    @property
    def embedded(self) -> Point:
        """The point in R^{n_0}."""
        return self.plane.embed(self.point)

    @property
    def zeros(self) -> tuple[NeuronId, ...]:
        """All neurons that vanish at the point."""
        return self.plane.neurons_at(np.flatnonzero(self.at == 0))

    @property
    def signs(self) -> SignVector:
        """The sign vector at the point."""
        return self.plane.sign_vector(self.at)

    def __repr__(self) -> str:
        x, y = (shortened(str(entry)) for entry in self.point)
        return f"<{type(self).__name__}, {neuron_text(self.zeros)} at ({x}, {y})>"


@dataclass(frozen=True, eq=False, repr=False)
class CrossingPoint(Corner):
    """A point at which the zero sets of exactly two neurons v and u cross.

    Four sectors meet at the point.

    The walk follows the neuron v. Neurons that are 0 on all four sectors are not counted, although
    `zeros` names them with v and u.

    Attributes
    ----------
    plane
        The network on the plane.
    cell
        The piece before the point, and its line.
    at
        The signs of all hidden neurons at the point, a flat array of shape (num_neurons,).
    near
        Approximate plane coordinates of the point in floats; a guess without a bound.
    v, u
        The places of the two neurons in the flat arrays.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.walks import walk_bent_hyperplane
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, -2]), ([[1, 1]], [0])])
    >>> piece = next(walk_bent_hyperplane(net, NeuronId(1, 0), [0, 0], [[1, 0], [0, 1]]))
    >>> piece.end, piece.end.other, piece.end.bends
    (<CrossingPoint, (1, 0), (1, 1) at (0, 2)>, NeuronId(layer=1, index=1), False)
    """

    v: int
    u: int

    @property
    def neuron(self) -> NeuronId:
        """The neuron v, whose bent hyperplane the walk follows."""
        return self.plane.neuron_at(self.v)

    @property
    def other(self) -> NeuronId:
        """The neuron u, which the walk crosses."""
        return self.plane.neuron_at(self.u)

    @cached_property
    def through_plane(self) -> tuple[NeuronId, ...]:
        """The neurons that are 0 on all sectors but not on a neighbourhood of the point in R^{n_0}.

        Around the point the zero sets of these neurons contain the plane, so the sectors lie in no
        open cells of R^{n_0}.
        """
        others = (
            place
            for place in np.flatnonzero(self.at == 0).tolist()
            if place not in (self.v, self.u)
        )
        return self.plane.neurons_at(place for place in others if self.plane.reads_input(place))

    @property
    def sectors(self) -> dict[Pair, SignVector]:
        """The sign vectors of the four sectors, by the signs of (v, u)."""
        return {pair: self.plane.sign_vector(self._signs_with(pair)) for pair in _SECTORS}

    @property
    def rays(self) -> dict[Pair, SignVector]:
        """The sign vectors of the four rays, by the signs of (v, u), one of which is 0."""
        return {pair: self.plane.sign_vector(self._signs_with(pair)) for pair in _RAYS}

    def gradients(self) -> dict[Pair, RationalMatrix]:
        """Return the exact gradient of f on R^{n_0} in each sector, by the signs of (v, u).

        The cost is four products of all weight matrices; `visible` does not need them.

        Returns
        -------
        dict
            Matrices of shape (n_L, n_0).

        Raises
        ------
        DomainError
            The plane lies in the zero set of another neuron (`through_plane`), so f need not have a
            gradient in the sectors.
        """
        self._check_open()
        maps = self.plane.network.affine_maps(self.sectors.values())
        return {pair: found.matrix for pair, found in zip(_SECTORS, maps, strict=True)}

    @cached_property
    def visible(self) -> dict[Pair, bool]:
        """Whether the gradient of f on R^{n_0} jumps across each ray, by the signs of (v, u).

        Neurons that vanish on a whole neighbourhood count as off.

        Raises
        ------
        DomainError
            The plane lies in the zero set of another neuron (`through_plane`), so f need not have a
            gradient in the sectors.
        """
        self._check_open()
        switched = {pair: self.v if pair[0] == 0 else self.u for pair in _RAYS}
        return {
            pair: not self._output_derivative(pair, place).is_zero()
            for pair, place in switched.items()
        }

    def _output_derivative(self, pair: Pair, place: int) -> RationalMatrix:
        """The derivative of the outputs with respect to the activation of a neuron on a ray."""
        signs = self.plane.sign_vector(self._signs_with(pair))
        return output_derivative(self.plane.network, signs, self.plane.neuron_at(place))

    @cached_property
    def bends(self) -> bool:
        """Whether the bent hyperplane of the later of the two neurons bends at the earlier one."""
        if self.plane.layer_of(self.u) == self.plane.layer_of(self.v):
            return False
        earlier, later = sorted((self.u, self.v))
        normals = []
        for sign in (1, -1):
            signs = self.at.copy()
            signs[earlier] = sign
            normals.append(self.plane.rows(signs, [later])[0])
        (a, b, _), (c, d, _) = normals
        return a * d != b * c

    def _check_open(self) -> None:
        """Refuse to give gradients where the plane lies in the zero set of another neuron."""
        if self.through_plane:
            neuron = self.through_plane[0]
            raise DomainError(
                f"the plane lies in the zero set of neuron {neuron.index} of layer {neuron.layer}, "
                "where f need not "
                "have a gradient; move the plane a little"
            )

    def _signs_with(self, pair: Pair) -> Signs:
        """The flat signs around the point with the given signs of (v, u)."""
        signs = self.at.copy()
        signs[[self.v, self.u]] = pair
        return signs


@dataclass(frozen=True, eq=False, repr=False)
class Tie(Corner):
    """A point at which more than two neurons vanish, or the zero set of v ends or branches.

    Attributes
    ----------
    plane
        The network on the plane.
    cell
        The piece before the point, and its line.
    at
        The signs of all hidden neurons at the point, a flat array of shape (num_neurons,).
    near
        Approximate plane coordinates of the point in floats; a guess without a bound.
    star
        The cells of the plane around the point.
    rays_of_neuron
        The rays of the star that belong to the bent hyperplane of v.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.walks import walk_bent_hyperplane
    >>> net = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    >>> piece = next(walk_bent_hyperplane(net, NeuronId(1, 0), [0, -1], [[1, 0], [0, 1]]))
    >>> piece.end, len(piece.end.sectors), piece.ending
    (<Tie, (1, 0), (1, 1), (1, 2) at (0, 1)>, 6, None)
    """

    star: Star
    rays_of_neuron: tuple[Ray, ...]

    @property
    def sectors(self) -> tuple[SignVector, ...]:
        """The sign vectors of the sectors, counterclockwise in plane coordinates."""
        return tuple(map(self.plane.sign_vector, self.star.sectors))

    @property
    def rays(self) -> tuple[SignVector, ...]:
        """The sign vectors of the rays; ray i lies before sector i."""
        return tuple(self.plane.sign_vector(ray.signs) for ray in self.star.rays)


class PieceSeries:
    """What successive pieces of a walk have in common; room-internal.

    All of them end at crossing points, or there is only one. Signs and ends are made when they are
    asked for: a walk meets many pieces of which nobody reads all.
    """

    __slots__ = (
        "_ends",
        "_known",
        "_near",
        "_switched",
        "cell",
        "origin",
        "place",
        "plane",
        "start",
    )

    def __init__(
        self,
        plane: AffineSlice,
        place: int,
        origin: tuple[Fraction, Fraction],
        cell: CellOnLine,
        start: CrossingPoint | Tie | None = None,
    ) -> None:
        """Make an empty series from a cell on, which the walk entered at a point."""
        self.plane, self.place, self.origin = plane, place, origin
        self.cell, self.start = cell, start
        self._ends: list[CrossingPoint | Tie | None] = []
        self._switched: list[int] = []
        self._near: Floats = np.zeros((0, 2))
        self._known = 0, cell

    def leg(self, cell: CellOnLine, leg: Leg) -> PieceSeries:
        """Return the series of the pieces of a leg that starts on a cell, behind this series."""
        series = self._following(cell)
        series._switched, series._near = leg.switched.tolist(), leg.near
        series._ends = [None] * len(series._switched)
        return series

    def single(self, cell: CellOnLine, end: CrossingPoint | Tie | None) -> PieceSeries:
        """Return the series of one piece, behind this series."""
        series = self._following(cell)
        series._ends = [end]
        return series

    def _following(self, cell: CellOnLine) -> PieceSeries:
        start = self.end_of(len(self._ends) - 1) if self._ends else self.start
        return PieceSeries(self.plane, self.place, self.origin, cell, start)

    def cell_of(self, index: int) -> CellOnLine:
        """Return a piece as a cell; its signs are made from the cell that was asked for last."""
        if index == 0:
            return self.cell
        number, cell = self._known
        if index == number:
            return cell
        if index < number:
            number, cell = 0, self.cell
        signs = cell.signs.copy()
        for u in self._switched[number:index]:
            signs[u] = -signs[u]
        cell = CellOnLine(signs, self.cell.carrier, self._switched[index - 1], None)
        self._known = index, cell
        return cell

    def start_of(self, index: int) -> CrossingPoint | Tie | None:
        """Return the point at which the walk entered a piece; None for its first piece."""
        return self.start if index == 0 else self.end_of(index - 1)

    def end_of(self, index: int) -> CrossingPoint | Tie | None:
        """Return the point at which a piece ends ahead; None if it is unbounded there."""
        end = self._ends[index]
        if end is None and self._switched:
            cell, u = self.cell_of(index), self._switched[index]
            at, (x, y) = cell.signs.copy(), self._near[index].tolist()
            at[u] = 0
            end = self._ends[index] = CrossingPoint(self.plane, cell, at, (x, y), self.place, u)
        return end


class BentPiece:
    """A piece of the bent hyperplane in the plane.

    Attributes
    ----------
    ending
        Why the walk stops after this piece: ``unbounded`` if the piece is unbounded ahead;
        ``closed`` if the first piece follows again; ``tie`` if it ends at a tie from which no ray
        or several rays of the bent hyperplane lead on; ``limit`` if it is the last piece that the
        caller asked for. None if another piece follows.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.walks import walk_bent_hyperplane
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, -2]), ([[1, 1]], [0])])
    >>> walk = walk_bent_hyperplane(net, NeuronId(1, 0), [0, 0], [[1, 0], [0, 1]])
    >>> [(str(piece.signs), piece.heading, piece.ending) for piece in walk]
    [('0-', (0, 1), None), ('0+', (0, 1), 'unbounded')]
    """

    __slots__ = ("_index", "_series", "ending")

    def __init__(self, series: PieceSeries, index: int, ending: Ending | None = None) -> None:
        """Room-internal; use `walk_bent_hyperplane`."""
        self._series, self._index, self.ending = series, index, ending

    @property
    def plane(self) -> AffineSlice:
        """The network on the plane."""
        return self._series.plane

    @property
    def cell(self) -> CellOnLine:
        """The piece as a cell of dimension 1, and its line."""
        return self._series.cell_of(self._index)

    @property
    def start(self) -> CrossingPoint | Tie | None:
        """The point at which the walk entered the piece; None for the first piece."""
        return self._series.start_of(self._index)

    @property
    def end(self) -> CrossingPoint | Tie | None:
        """The point at which the piece ends ahead; None if it is unbounded there."""
        return self._series.end_of(self._index)

    @property
    def origin(self) -> tuple[Fraction, Fraction]:
        """The start of the walk in plane coordinates; it lies in the first piece or at its end."""
        return self._series.origin

    @property
    def signs(self) -> SignVector:
        """The sign vector on the piece."""
        return self.plane.sign_vector(self.cell.signs)

    @property
    def heading(self) -> IntegerRow:
        """The primitive integer direction, in plane coordinates, in which the walk goes."""
        return positive_primitive(self.cell.exact_line(self.plane).heading)

    @property
    def inner(self) -> tuple[Fraction, Fraction]:
        """The exact plane coordinates of a point inside the piece."""
        start = self.origin if self.start is None else self.start.point
        end = None if self.end is None else self.end.point
        if end is None:
            return start[0] + self.heading[0], start[1] + self.heading[1]
        return (start[0] + end[0]) / 2, (start[1] + end[1]) / 2

    def __repr__(self) -> str:
        end = "the next piece" if self.ending is None else self.ending
        return f"<BentPiece {shortened(str(self.signs))}, heading {self._heading_text}, then {end}>"

    @property
    def _heading_text(self) -> str:
        """The direction of the walk, as much of it as a line holds."""
        return shortened(f"({', '.join(map(str, self.heading))})")
