"""The planes of a search, and points in them: exact points, and approximate ones in floats.

A search walks in planes of R^{n_0}; a plane is known by its number in `Planes.all`. The points that
planes are laid through, and their directions, have few digits, which keeps exact arithmetic fast.
Floats here only say where to search next.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from random import Random
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import DomainError
from polyrelu.exact import meeting_direction, nearest_float
from polyrelu.proofs.deep.ridges import DeepNetwork, Piece, Ridge
from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.proofs.interior import Interior
from polyrelu.support.typing import Floats, Signs
from polyrelu.walks import AffineSlice, first_zero

__all__ = [
    "Location",
    "Plane",
    "PlanePoint",
    "Planes",
    "integer_direction",
    "random_unit_vector",
    "rounded_point",
    "unit_vector",
]

#: The coordinates (s, t) of a point in a plane.
PlanePoint: TypeAlias = tuple[Fraction, Fraction]


class Plane(NamedTuple):
    """The points p + s B_1 + t B_2 of R^{n_0}.

    Attributes
    ----------
    point
        The point p.
    directions
        The directions B_1 and B_2.
    """

    point: tuple[Fraction, ...]
    directions: tuple[tuple[int, ...], tuple[int, ...]]


class Location(NamedTuple):
    """Where a search met a ridge or a piece.

    Attributes
    ----------
    plane
        The number of a plane.
    s, t
        Approximate coordinates in this plane.
    """

    plane: int
    s: float
    t: float


class Planes:
    """The planes in which a search has walked.

    Parameters
    ----------
    deep_network
        The network.
    interior
        The domain of the search; None for R^n.

    Attributes
    ----------
    all
        The planes, in the order of their numbers.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2])
    >>> planes = Planes(DeepNetwork.of(from_arrays([first, second, ([[1, 2]], [0])])))
    >>> planes.add(Plane((Fraction(0), Fraction(1)), ((1, 0), (0, 1))))
    0
    >>> planes.ridge_point(0, Ridge(0, 2, 0b10, "C"))  # z_0 = x, z_2 = 1 - y vanish, z_1 = y > 0
    (Fraction(0, 1), Fraction(0, 1))
    """

    def __init__(self, deep_network: DeepNetwork, interior: Interior | None = None) -> None:
        self.all: list[Plane] = []
        self._network, self._interior = deep_network, interior
        self._walls: OrderedDict[int, Floats] = OrderedDict()
        self._slices: OrderedDict[int, AffineSlice] = OrderedDict()

    def add(self, plane: Plane) -> int | None:
        """Add a plane and return its number; None if its directions are dependent."""
        if _are_dependent(*plane.directions):
            return None
        self.all.append(plane)
        return len(self.all) - 1

    def slice(self, number: int) -> AffineSlice:
        """Return the network on a plane.

        Raises
        ------
        DomainError
            The directions are dependent, which happens in planes from files.
        """
        if number not in self._slices:
            plane = self.all[number]
            new = AffineSlice(self._network.network, plane.point, plane.directions)
            self._slices[number] = new
            if len(self._slices) > SETTINGS.remembered_slices:
                self._slices.popitem(last=False)
        return self._slices[number]

    def is_inside(self, number: int, point: Sequence[float | Fraction]) -> bool:
        """Return whether a point of a plane is clearly inside the domain, in floats.

        Parameters
        ----------
        number
            Number of the plane.
        point
            Coordinates (s, t) in the plane.
        """
        if self._interior is None:
            return True
        constant, first, second = self._walls_of(number, self._interior)
        with np.errstate(all="ignore"):
            distances = constant + float(point[0]) * first + float(point[1]) * second
        return self._interior.is_clearly_inside(distances)

    def _walls_of(self, number: int, interior: Interior) -> Floats:
        """Return the distances to the walls on a plane, shape (3, num_walls)."""
        if number not in self._walls:
            plane = self.all[number]
            directions = np.array([_floats(direction) for direction in plane.directions])
            self._walls[number] = interior.on_plane(_floats(plane.point), directions)
            if len(self._walls) > SETTINGS.remembered_slices:
                self._walls.popitem(last=False)
        return self._walls[number]

    def _farthest(self, number: int, heading: tuple[int, int]) -> float:
        """Return the multiple of a heading at which a ray from the origin leaves the domain."""
        if self._interior is None:
            return math.inf
        constant, first, second = self._walls_of(number, self._interior)
        speeds = -(heading[0] * first + heading[1] * second)
        ahead = speeds > 0
        return float((constant[ahead] / speeds[ahead]).min(initial=math.inf))

    def zero_of(
        self, number: int, neuron: int, headings: Sequence[tuple[int, int]], limit: int
    ) -> PlanePoint | None:
        """Find a zero of a neuron on one of the rays that leave the origin of a plane.

        Parameters
        ----------
        number
            Number of the plane.
        neuron
            Number of the neuron.
        headings
            Directions of the rays in the plane, tried in this order.
        limit
            Maximum number of cells per ray.

        Returns
        -------
        PlanePoint or None
            The first zero on the first ray that has one inside the domain; None if none has.
        """
        for heading in headings:
            try:
                zero = first_zero(
                    self.slice(number),
                    self._network.neuron_id(neuron),
                    heading=heading,
                    limit=limit,
                    farthest=self._farthest(number, heading),
                )
            except DomainError:
                continue
            if zero is not None and self.is_inside(number, zero):
                return zero
        return None

    def piece_point(self, number: int, piece: Piece) -> PlanePoint | None:
        """Return the point where the second axis of a plane meets a piece, if there is one."""
        plane, signs = self.slice(number), self._signs(piece.mask, piece.neuron)
        ((_, slope, value),) = plane.rows(signs, [piece.neuron])
        if not slope:
            return None
        point = Fraction(0), Fraction(-value, slope)
        if not self.is_inside(number, point):
            return None
        return point if np.array_equal(plane.signs_at(point), signs) else None

    def ridge_point(self, number: int, ridge: Ridge) -> PlanePoint | None:
        """Return the one point where a plane meets a ridge, exactly; otherwise None.

        There is one if a walk in the plane met the ridge; a file may claim so wrongly.
        """
        signs = self._signs(ridge.mask, ridge.u, ridge.v)
        try:
            x, y, w = meeting_direction(self.slice(number).rows(signs, [ridge.u, ridge.v]))
        except (DomainError, ValueError):  # dependent directions, or dependent forms
            return None
        if not w:
            return None
        point = Fraction(x, w), Fraction(y, w)
        return point if np.array_equal(self.slice(number).signs_at(point), signs) else None

    def near(self, location: Location) -> Floats:
        """Return the approximate point of R^{n_0} at a location."""
        plane = self.all[location.plane]
        first, second = (_floats(direction) for direction in plane.directions)
        farthest = SETTINGS.farthest_coordinate
        with np.errstate(all="ignore"):
            point = _floats(plane.point) + location.s * first + location.t * second
            return np.clip(np.nan_to_num(point), -farthest, farthest)

    def _signs(self, mask: int, *zeros: int) -> Signs:
        """Return the signs of all hidden neurons, from the mask of active ones and the zeros."""
        signs = np.where(self._network.unpack(mask), 1, -1).astype(np.int8)
        signs[list(zeros)] = 0
        return signs


def _are_dependent(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Return whether two vectors do not span a plane."""
    pivot = next((i for i, entry in enumerate(first) if entry), None)
    if pivot is None:
        return True
    a, b = first[pivot], second[pivot]
    return all(a * y == b * x for x, y in zip(first, second, strict=True))


def rounded_point(point: Floats, digits: int = SETTINGS.point_digits) -> tuple[Fraction, ...]:
    """Round the coordinates of a point to few binary digits after the point."""
    unit = 2**digits
    return tuple(Fraction(round(x * unit), unit) for x in point.tolist())


def integer_direction(vector: Floats, size: int = SETTINGS.direction_size) -> tuple[int, ...]:
    """Return small integers that are nearly proportional to a vector; zeros for the zero vector."""
    largest = float(np.abs(vector).max())
    return tuple(round(float(x) / largest * size) if largest else 0 for x in vector)


def random_unit_vector(random: Random, size: int) -> Floats:
    """Return a random vector of length 1."""
    noise = np.array([random.gauss(0, 1) for _ in range(size)])
    return np.asarray(noise / np.linalg.norm(noise), dtype=np.float64)


def unit_vector(vector: Floats) -> Floats:
    """Return the vector of length 1 in the direction of a vector; the zero vector stays zero."""
    with np.errstate(over="ignore"):
        length = np.linalg.norm(vector)
    if not np.isfinite(length):  # the sum of squares overflows
        vector = np.nan_to_num(vector) * 2.0**-600
        length = np.linalg.norm(vector)
    return np.asarray(vector / (length or 1), dtype=np.float64)


def _floats(numbers: Iterable[Fraction | int]) -> NDArray[np.float64]:
    """Return exact numbers as floats; huge ones are cut to the largest float."""
    return np.array([nearest_float(x.numerator, x.denominator) for x in numbers], dtype=np.float64)
