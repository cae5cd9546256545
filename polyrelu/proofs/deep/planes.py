"""Theorem D, the planes of a search, and points in them: exact ones, and guesses in floats.

A plane is known by its number. Points that planes are laid through and directions have few digits, which keeps exact
arithmetic fast.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import DomainError
from polyrelu.exact import meeting_direction, nearest_float
from polyrelu.proofs.deep.ridges import DeepNetwork, Piece, Ridge
from polyrelu.support.typing import Signs
from polyrelu.walks import AffineSlice, first_zero

__all__ = ["InPlane", "Plane", "Planes", "Spot", "rounded", "short", "unit"]

#: The coordinates of a point in a plane.
InPlane: TypeAlias = tuple[Fraction, Fraction]

#: Binary digits of the coordinates of points that planes are laid through, and the largest entry of their directions.
_DIGITS, _LARGEST = 24, 1000

#: Points farther out than this are moved here before a plane is laid through them.
_FAR = 2.0**200

#: So many networks on planes are remembered.
_REMEMBERED = 64


class Plane(NamedTuple):
    """The points p + s B_1 + t B_2 of R^{n_0}."""

    point: tuple[Fraction, ...]
    directions: tuple[tuple[int, ...], tuple[int, ...]]


class Spot(NamedTuple):
    """Where a ridge or a piece was found: the number of a plane, and about where in it."""

    plane: int
    s: float
    t: float


class Planes:
    """The planes in which there were walks.

    Attributes
    ----------
    all : by their numbers.

    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.proofs.deep.ridges import deep_network
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
    >>> planes = Planes(deep_network(net))
    >>> planes.add(Plane((Fraction(0), Fraction(1)), ((1, 0), (0, 1))))
    0
    >>> planes.meeting(0, Ridge(0, 2, 0b10, "C"))  # z_0 = x and z_2 = 1 - y vanish here, z_1 = y is on
    (Fraction(0, 1), Fraction(0, 1))
    """

    def __init__(self, space: DeepNetwork) -> None:
        self.all: list[Plane] = []
        self._space = space
        self._slices: OrderedDict[int, AffineSlice] = OrderedDict()

    def add(self, plane: Plane) -> int | None:
        """The number of a new plane; None if its directions are dependent."""
        try:
            part = AffineSlice(self._space.network, plane.point, plane.directions)
        except DomainError:
            return None
        self.all.append(plane)
        self._remember(len(self.all) - 1, part)
        return len(self.all) - 1

    def slice(self, number: int) -> AffineSlice:
        """The network on a plane.

        Raises
        ------
        DomainError : the directions are dependent (in planes from files).
        """
        if number not in self._slices:
            plane = self.all[number]
            self._remember(number, AffineSlice(self._space.network, plane.point, plane.directions))
        return self._slices[number]

    def _remember(self, number: int, part: AffineSlice) -> None:
        self._slices[number] = part
        if len(self._slices) > _REMEMBERED:
            self._slices.popitem(last=False)

    def zero(
        self, number: int, place: int, headings: Sequence[tuple[int, int]], limit: int
    ) -> InPlane | None:
        """The first zero of a neuron on the ways from the origin of a plane, each so many cells long at most."""
        for heading in headings:
            try:
                found = first_zero(self.slice(number), self._space.neuron(place), heading, limit)
            except DomainError:
                continue
            if found is not None:
                return found
        return None

    def on_piece(self, number: int, piece: Piece) -> InPlane | None:
        """The point of a piece on the second axis of a plane, if there is one."""
        part, signs = self.slice(number), self._signs(piece.mask, piece.place)
        ((_, slope, value),) = part.rows(signs, [piece.place])
        if not slope:
            return None
        start = Fraction(0), Fraction(-value, slope)
        return start if np.array_equal(part.signs_at(start), signs) else None

    def meeting(self, number: int, ridge: Ridge) -> InPlane | None:
        """Where a plane meets a ridge, exactly; None if it does not, or not in one point.

        It does if a walk met the ridge there; a file may say otherwise (`deep_state`).
        """
        signs = self._signs(ridge.mask, ridge.u, ridge.v)
        try:
            x, y, w = meeting_direction(self.slice(number).rows(signs, [ridge.u, ridge.v]))
        except (DomainError, ValueError):  # dependent directions, or forms
            return None
        if not w:
            return None
        point = Fraction(x, w), Fraction(y, w)
        return point if np.array_equal(self.slice(number).signs_at(point), signs) else None

    def near(self, spot: Spot) -> NDArray[np.float64]:
        """About where a spot is in R^{n_0}."""
        plane = self.all[spot.plane]
        first, second = (_floats(direction) for direction in plane.directions)
        with np.errstate(all="ignore"):
            return np.clip(
                np.nan_to_num(_floats(plane.point) + spot.s * first + spot.t * second), -_FAR, _FAR
            )

    def _signs(self, mask: int, *zeros: int) -> Signs:
        signs = np.where(self._space.bits(mask), 1, -1).astype(np.int8)
        signs[list(zeros)] = 0
        return signs


def rounded(point: NDArray[np.float64]) -> tuple[Fraction, ...]:
    """A point with few digits."""
    return tuple(Fraction(round(x * 2**_DIGITS), 2**_DIGITS) for x in point.tolist())


def short(vector: NDArray[np.float64]) -> tuple[int, ...]:
    """A direction in short integers."""
    largest = float(np.abs(vector).max())
    return tuple(round(float(x) / largest * _LARGEST) if largest else 0 for x in vector)


def unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """A vector of length 1 in the same direction; 0 stays 0."""
    with np.errstate(over="ignore"):
        size = np.linalg.norm(vector)
    if not np.isfinite(size):  # too long for floats
        vector = np.nan_to_num(vector) * 2.0**-600
        size = np.linalg.norm(vector)
    return np.asarray(vector / (size or 1), dtype=np.float64)


def _floats(numbers: Iterable[Fraction | int]) -> NDArray[np.float64]:
    """Exact numbers, huge ones cut to the largest float."""
    return np.array([nearest_float(x.numerator, x.denominator) for x in numbers], dtype=np.float64)
