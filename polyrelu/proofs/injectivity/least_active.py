"""A local search for a point of the domain with few active neurons.

A point is improved along random lines: on each line the signs change at finitely many places, so
the least number of active neurons on it is found by sorting them. All numbers are rounded integers,
or floats that come from single operations, so that the walk is the same on every machine. Where few
neurons are active, exact arithmetic decides whether they span (`colliding_points`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyrelu.proofs.injectivity.collisions import PointPair, colliding_points
from polyrelu.proofs.injectivity.layer_system import LayerSystem

__all__ = ["LeastActive"]


@dataclass(frozen=True, slots=True)
class LeastActiveSettings:
    """Limits of the local search.

    Attributes
    ----------
    lines_per_dimension
        Number of lines that are searched, for each dimension of the domain.
    lines_per_start
        Number of lines without improvement after which the walk starts again.
    size
        Largest coordinate of a point.
    """

    lines_per_dimension: int = 50
    lines_per_start: int = 60
    size: int = 2**20


_SETTINGS = LeastActiveSettings()


class LeastActive:
    """A walk to points with few active neurons.

    Parameters
    ----------
    system
        The layer.
    seed
        Seed of the lines.
    spend
        Called before each line.

    Attributes
    ----------
    num_active
        Least number of neurons that are not negative at the points so far; None before them.

    Examples
    --------
    >>> from polyrelu.exact import Polyhedron, RationalMatrix
    >>> from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
    >>> plane = DomainCoordinates.of(Polyhedron.universe(2))
    >>> weight = RationalMatrix.from_rows([[1, 0], [0, 1], [-1, 0]])
    >>> walk = LeastActive(LayerSystem.of(weight, RationalMatrix.zeros(3, 1), plane), 0)
    >>> found = walk.run()
    >>> found is not None, walk.num_active
    (True, 2)
    """

    def __init__(
        self, system: LayerSystem, seed: int, spend: Callable[[], None] = lambda: None
    ) -> None:
        self._system, self._spend = system, spend
        self._rows, self._size = system.rounded(), len(system.neurons)
        # A point outside of the domain counts as one with many active neurons.
        self._weights = np.ones(len(self._rows), dtype=np.int64)
        self._weights[self._size :] = -(self._size + 1)
        self._random = np.random.default_rng(seed)
        self.num_active: int | None = None

    def run(self) -> PointPair | None:
        """Search some lines; return two points with equal outputs, or None."""
        idle = _SETTINGS.lines_per_start
        for line in range(_SETTINGS.lines_per_dimension * self._system.dimension):
            self._spend()
            if idle == _SETTINGS.lines_per_start:
                point, count, idle = self._start(line), len(self._rows) * (self._size + 1), 0
                moved = point
            else:
                moved, idle = self._best_on_line(point, self._direction(point)), idle + 1
            now = self._count(moved)
            if now < count:
                idle = 0
                if (found := self._collision(moved, now)) is not None:
                    return found
            if now <= count:
                point, count = moved, now
        return None

    def _start(self, line: int) -> NDArray[np.int64]:
        """Return a point strictly inside the domain, moved away from most of the neurons."""
        *entries, scale = self._inside()
        inside = np.array([*entries, scale], dtype=np.float64)
        away = self._random.integers(-_SETTINGS.size, _SETTINGS.size, len(inside))
        if line == 0:
            away = -self._rows[: self._size].sum(axis=0)
        away[-1] = 0
        return self._best_on_line(_resized(inside), away)

    def _inside(self) -> list[int]:
        """Return a point strictly inside the domain as (s y, s)."""
        coordinates = self._system.coordinates
        scale, *entries = coordinates.to_coordinates(coordinates.inside)
        longest = max(scale, *map(abs, entries), _SETTINGS.size)
        return [entry * _SETTINGS.size // longest for entry in (*entries, scale)]

    def _direction(self, point: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a random direction, every second time one away from the active neurons."""
        size = _SETTINGS.size
        direction: NDArray[np.int64] = self._random.integers(-size, size, len(point))
        if self._random.integers(2):
            active = self._rows[: self._size] @ point >= 0
            factors = self._random.integers(0, 1024, self._size) * active
            direction = direction // 2 - factors @ self._rows[: self._size] // 1024
        return direction

    def _best_on_line(
        self, point: NDArray[np.int64], direction: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return a point of the line with least count, in the middle of a long interval."""
        values, slopes = self._rows @ point, self._rows @ direction
        crossing = np.flatnonzero(slopes)
        places = -values[crossing] / slopes[crossing]
        order = np.argsort(places, kind="stable")
        places, crossing = places[order], crossing[order]
        starts = int(self._weights[(slopes < 0) | ((slopes == 0) & (values > 0))].sum())
        changes = self._weights[crossing] * np.sign(slopes[crossing])
        counts = starts + np.concatenate([[0], np.cumsum(changes)])
        if not len(places):
            return point
        ends = np.concatenate([[places[0] - 1], places, [places[-1] + 1]])
        lengths = np.where(counts == counts.min(), ends[1:] - ends[:-1], -1.0)
        best = int(lengths.argmax())
        return _resized(point + (ends[best] + ends[best + 1]) / 2 * direction)

    def _count(self, point: NDArray[np.int64]) -> int:
        """Return the number of neurons that are not negative; more than all of them outside."""
        values = self._rows @ point
        outside = np.count_nonzero(values[self._size :] <= 0)
        return int(np.count_nonzero(values[: self._size] >= 0) + (self._size + 1) * outside)

    def _collision(self, point: NDArray[np.int64], count: int) -> PointPair | None:
        """Return two points with equal outputs if the active neurons do not span."""
        if count > self._size:
            return None
        self.num_active = count if self.num_active is None else min(self.num_active, count)
        if count > self._system.dimension + 2:
            return None
        return colliding_points(self._system, point.tolist())


def _resized(point: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a positive multiple with rounded entries of the largest size."""
    scale = _SETTINGS.size / max(float(np.abs(point).max()), 1e-300)
    found: NDArray[np.int64] = np.rint(point * scale).astype(np.int64)
    return found
