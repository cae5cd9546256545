"""The interior of a domain in floats: random points in it, and distances to its walls.

Searches on a domain start inside of it and stay there. Floats here only say where to search; what
goes into a certificate is compared with the inequalities exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, nearest_float
from polyrelu.support.typing import Floats

__all__ = ["UNSTRETCHED", "ExactWalls", "Interior", "Stretch", "expect_interior", "is_inside"]


@dataclass(frozen=True, slots=True)
class InteriorSettings:
    """How points of a domain are drawn.

    Attributes
    ----------
    margin
        Points whose distance to a wall is below this share of the distance of the middle point to
        its nearest wall count as outside.
    steps
        Number of random steps from the middle point to a random point, if the domain is no box.
    farthest_exponents
        Where the domain is unbounded, coordinates are drawn up to 2^e times the unit, e random
        between these numbers.
    corner_share
        Share of the points of a box that are drawn near a corner.
    corner_exponent
        Points near a corner of a box are at 2^-e times the distance of other points, e random up to
        this number.
    nearly
        Share of the way to a wall that a step makes.
    point_digits
        Number of binary digits of a coordinate after the point, for a unit of 1.
    """

    margin: float = 2.0**-20
    steps: int = 6
    farthest_exponents: tuple[int, int] = (-2, 6)
    corner_share: float = 0.2
    corner_exponent: int = 10
    nearly: float = 1 - 2.0**-6
    point_digits: int = 24


SETTINGS = InteriorSettings()


def expect_interior(domain: Polyhedron, command: str) -> None:
    """Refuse a domain without interior.

    Raises
    ------
    DomainError
        The domain has equations, or no interior.
    """
    if domain.equations or domain.interior_point() is None:
        raise DomainError(
            f"{command}: the domain has no interior in R^{domain.ambient_dimension}; give a domain "
            "of full dimension, without equations"
        )


def is_inside(domain: Polyhedron, point: Sequence[Fraction]) -> bool:
    """Return whether all inequalities of a domain are strict at a point, in exact arithmetic.

    >>> is_inside(Polyhedron.box([0, 0], [1, 1]), (Fraction(1, 2), Fraction(1)))
    False
    """
    return ExactWalls(domain).has_inside(point)


class ExactWalls:
    """The inequalities of a domain that are not 0, for comparisons with many points.

    >>> ExactWalls(Polyhedron.orthant(2)).has_inside((Fraction(1), Fraction(1, 3)))
    True
    """

    def __init__(self, domain: Polyhedron) -> None:
        self._rows = [
            [(j, a) for j, a in enumerate(row) if a] for row in domain.inequalities if any(row)
        ]

    def has_inside(self, point: Sequence[Fraction]) -> bool:
        """Return whether all of them are strict at a point."""
        scale = math.lcm(*(x.denominator for x in point))
        entries = [*(x.numerator * (scale // x.denominator) for x in point), -scale]
        return all(sum(a * entries[j] for j, a in row) < 0 for row in self._rows)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Coordinates d of displacements T d from a point in which no wall is nearer than about 1.

    Attributes
    ----------
    factors
        The matrix T, shape (n, n), or its diagonal, shape (n,); None for the identity.

    Examples
    --------
    >>> stretch = Stretch(np.array([1.0, 3.0]))
    >>> stretch.push(np.array([1.0, 1.0])).tolist()
    [1.0, 3.0]
    """

    factors: Floats | None

    def push(self, vector: Floats) -> Floats:
        """Return the displacement T d for coordinates d, shape (n,)."""
        if self.factors is None:
            return vector
        pushed = self.factors * vector if self.factors.ndim == 1 else self.factors @ vector
        return np.asarray(pushed, dtype=np.float64)

    def pull(self, gradients: Floats) -> Floats:
        """Return gradients with respect to the coordinates, shape (n,) or (count, n)."""
        if self.factors is None:
            return gradients
        one = self.factors.ndim == 1
        return np.asarray(gradients * self.factors if one else gradients @ self.factors)


#: The coordinates of R^n, which has no walls.
UNSTRETCHED = Stretch(None)


class Interior:
    """A domain with an interior, in floats.

    Parameters
    ----------
    domain
        The domain, a polyhedron without equations that has an interior and some inequality.

    Attributes
    ----------
    domain
        The domain.

    Examples
    --------
    >>> interior = Interior(Polyhedron.box([0, 0], [1, 3]))
    >>> points = interior.points(np.random.default_rng(0), 100)
    >>> points.shape, bool((interior.distances(points) > 0).all())
    ((100, 2), True)
    """

    def __init__(self, domain: Polyhedron) -> None:
        self.domain = domain
        self._sides = _sides(domain)
        rows = [_unit_row(row) for row in domain.inequalities if any(row[:-1])]
        walls = np.array([] if self._sides is not None else rows, dtype=np.float64)
        walls = walls.reshape(-1, domain.ambient_dimension + 1)
        self._normals, self._offsets = walls[:, :-1], walls[:, -1]
        middle = domain.interior_point()
        if middle is None:
            raise DomainError("the domain has no interior; give one of full dimension")
        self._middle = np.array([nearest_float(x.numerator, x.denominator) for x in middle])
        self._radius = min(float(self.distances(self._middle).min(initial=np.inf)), 1e9)

    @property
    def point_digits(self) -> int:
        """Number of binary digits that coordinates of points need to stay inside when rounded."""
        needed = -math.floor(math.log2(self._radius)) if self._radius > 0 else 0
        return SETTINGS.point_digits + max(0, needed)

    def distances(self, points: Floats) -> Floats:
        """Return the distances of points to all walls, positive inside.

        Parameters
        ----------
        points
            One point, shape (n,), or several, shape (count, n).

        Returns
        -------
        Array
            Shape (num_walls,) or (count, num_walls). A box has two walls for each coordinate, some
            of them infinitely far.
        """
        if self._sides is not None:
            low, high = self._sides
            return np.concatenate([points - low, high - points], axis=-1)
        return np.asarray(self._offsets - points @ self._normals.T, dtype=np.float64)

    def _speeds(self, directions: Floats) -> Floats:
        """Return how fast the distances to all walls shrink along some directions."""
        if self._sides is not None:
            return np.concatenate([-directions, directions], axis=-1)
        return np.asarray(directions @ self._normals.T, dtype=np.float64)

    def on_plane(self, point: Floats, directions: Floats) -> Floats:
        """Return the distances to all walls as affine functions on a plane.

        Parameters
        ----------
        point
            A point of the plane, shape (n,).
        directions
            Two directions, shape (2, n).

        Returns
        -------
        Array
            A row for the constant and one for each direction, shape (3, num_walls).
        """
        return np.vstack([self.distances(point), -self._speeds(directions)])

    def stretch(self, point: Floats) -> Stretch:
        """Return coordinates for displacements from a point inside, with the walls at about 1.

        In a box each coordinate is stretched by the distance to the nearer end, elsewhere an
        ellipsoid inside the domain becomes a ball.
        """
        if self._sides is not None:
            low, high = self._sides
            nearest = np.minimum(point - low, high - point)
            nearest = np.where(np.isfinite(nearest), nearest, np.abs(point) + 1)
            return Stretch(np.maximum(nearest, SETTINGS.margin * self._radius))
        rows = self._normals / np.maximum(
            self.distances(point), SETTINGS.margin * self._radius
        ).reshape(-1, 1)
        values, vectors = np.linalg.eigh(rows.T @ rows)
        least = 1 / (np.abs(point).max() + 1) ** 2
        return Stretch(np.asarray(vectors / np.sqrt(np.maximum(values, least))))

    def farthest(self, point: Floats, direction: Floats) -> Floats:
        """Return a point of the domain that lies far in a direction, seen from a point inside.

        In a bounded box it is the corner; elsewhere it lies between the point and the wall.
        """
        if self._sides is not None:
            low, high = self._sides
            size = np.abs(point).max() + 1
            low = np.where(np.isfinite(low), low, point - size)
            high = np.where(np.isfinite(high), high, point + size)
            ends = np.where(direction > 0, high, np.where(direction < 0, low, point))
            return np.asarray(point + SETTINGS.nearly * (ends - point))
        stretch = self.stretch(point)
        along = stretch.push(stretch.pull(direction))
        along = along / (float(np.linalg.norm(along)) or 1.0)
        speeds, size = self._speeds(along), float(np.abs(point).max()) + 1
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(speeds > 0, self.distances(point) / speeds, np.inf)
        return np.asarray(point + SETTINGS.nearly * min(float(times.min()), size) * along)

    def is_clearly_inside(self, distances: Floats) -> bool:
        """Return whether distances to all walls are above the margin."""
        return bool((distances > SETTINGS.margin * self._radius).all())

    def points(self, rng: np.random.Generator, count: int) -> Floats:
        """Return random points in the interior, shape (count, n).

        In a box, each point has its own shares of coordinates near the lower and the upper ends, so
        that not all points look like noise around the middle, and some points lie near a corner, at
        a random scale: there a network with many inputs often has more regions.
        """
        found = self._walked(rng, count) if self._sides is None else self._in_box(rng, count)
        outside = ~(self.distances(found) > SETTINGS.margin * self._radius).all(axis=1)
        found[outside] = self._middle
        return found

    def _in_box(self, rng: np.random.Generator, count: int) -> Floats:
        assert self._sides is not None
        low, high = self._sides
        shape = count, len(low)
        unit = 2.0 ** rng.integers(*SETTINGS.farthest_exponents, (count, 1), endpoint=True)
        bottom = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - unit, -unit))
        top = np.where(np.isfinite(high), high, bottom + np.where(np.isfinite(low), unit, 2 * unit))
        share = rng.random(shape)
        ends = rng.dirichlet((1, 1, 1), count)
        kind, near = rng.random(shape), rng.random(shape) / 64
        share = np.where(kind < ends[:, :1], near, share)
        share = np.where(kind > 1 - ends[:, 1:2], 1 - near, share)
        scale = 2.0 ** -rng.integers(0, SETTINGS.corner_exponent, (count, 1), endpoint=True)
        scale = np.where(rng.random((count, 1)) < SETTINGS.corner_share, scale, 1.0)
        kinds = rng.random((count, 1))
        corner = np.where(kinds < 0.5, 0.0, np.where(kinds < 0.75, 1.0, rng.random(shape).round()))
        share = corner + scale * (share - corner)
        return np.asarray(bottom + share * (top - bottom), dtype=np.float64)

    def _walked(self, rng: np.random.Generator, count: int) -> Floats:
        """Return points after some random steps from the middle point, each inside the domain."""
        points = np.tile(self._middle, (count, 1))
        unit = 2.0 ** rng.integers(*SETTINGS.farthest_exponents, (count, 1), endpoint=True)
        for _ in range(SETTINGS.steps):
            along = rng.standard_normal(points.shape)
            along /= np.linalg.norm(along, axis=1, keepdims=True)
            speeds, distances = self._speeds(along), self.distances(points)
            with np.errstate(divide="ignore", invalid="ignore"):
                times = distances / speeds
            ahead = np.where(speeds > 0, times, np.inf).min(axis=1, keepdims=True)
            behind = np.where(speeds < 0, times, -np.inf).max(axis=1, keepdims=True)
            ahead, behind = np.minimum(ahead, unit), np.maximum(behind, -unit)
            points = points + along * (behind + rng.random((count, 1)) * (ahead - behind))
        return points


def _unit_row(row: Sequence[int]) -> list[float]:
    """Return a row [a | c] of integers in floats, with a of length about 1."""
    length = math.isqrt(sum(a * a for a in row[:-1]))
    scale = max(1, length)
    return [nearest_float(entry, scale) for entry in row]


def _sides(domain: Polyhedron) -> tuple[Floats, Floats] | None:
    """Return lower and upper ends of the coordinates if all walls bound one; infinite ends too."""
    size = domain.ambient_dimension
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    for row in domain.inequalities:
        used = [j for j, a in enumerate(row[:-1]) if a]
        if len(used) > 1:
            return None
        for j in used:
            end = nearest_float(row[-1], row[j]) if row[j] > 0 else -nearest_float(row[-1], -row[j])
            if row[j] > 0:
                high[j] = min(high[j], end)
            else:
                low[j] = max(low[j], end)
    return low, high
