"""The recovery algorithm that Rolnick and Kording published, in floats, as a baseline.

Algorithms 1 and 2 of the paper (arXiv 1910.00744), for one and two hidden layers. Boundary points
are found by bisection along random segments, hyperplanes by regression on boundary points nearby; a
hyperplane on which there are boundary points far away belongs to layer 1. From the other boundary
points the boundary of a neuron of layer 2 is followed across hyperplanes of layer 1; how its normal
turns there is its weight. The paper leaves open how signs are solved for; here all signs are tried,
and output weights are fitted to values by least squares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Baseline", "recover_baseline"]

Array = NDArray[np.float64]

#: Segments have ends in a cube of this half width; their number; the precision of bisections.
_SIZE, _NUM_SEGMENTS, _PRECISION = 8.0, 40, 1e-10
#: How often a boundary is followed for each hyperplane of layer 1, and how far beyond it.
_NUM_TURNS, _BEYOND = 20, 1e-3
#: How near the points of a regression are, and how many there are for each input.
_NEAR, _NUM_NEAR = 1e-4, 2
#: A hyperplane of layer 1 has boundaries at this share of this number of points of it.
_SHARE, _NUM_TESTED = 0.8, 10
#: The relative difference of slopes that counts as a jump.
_JUMP = 1e-5


@dataclass
class Baseline:
    """A function with a count of its values, and what was found.

    Attributes
    ----------
    function
        Takes a point, and returns its outputs.
    num_inputs
        The number of inputs.
    rng
        The source of random segments.
    num_queries
        How many values were asked for.
    max_queries
        After so many values the search ends.
    largest
        The largest value so far.
    planes, neurons
        The hyperplanes of layer 1; the weights and a boundary point of each neuron of layer 2.
    """

    function: Callable[[Array], Array]
    num_inputs: int
    rng: np.random.Generator
    max_queries: int
    num_queries: int = 0
    largest: float = 0.0
    planes: list[Array] = field(default_factory=list)
    neurons: list[tuple[Array, Array]] = field(default_factory=list)

    def value(self, x: Array) -> Array:
        """Ask for a value."""
        if self.num_queries >= self.max_queries:
            raise TimeoutError
        self.num_queries += 1
        found = self.function(x)
        self.largest = max(self.largest, float(np.abs(found).max()))
        return found

    def same(self, first: Array, last: Array, step: float) -> bool:
        """Whether two slopes are equal, up to the rounding of values."""
        error = 64 * 2.0**-52 * self.largest / step
        return bool(np.allclose(first, last, rtol=_JUMP, atol=error))

    def slope(self, x: Array, direction: Array, step: float) -> Array:
        """Return the derivative ahead of x, by a difference."""
        difference: Array = (self.value(x + step * direction) - self.value(x)) / step
        return difference

    # -- boundary points on a segment --------------------------------------------------------------

    def boundary_points(self, x: Array, y: Array) -> list[Array]:
        """Return the boundary points on a segment, by bisection of its slopes."""
        length = float(np.linalg.norm(y - x))
        u, step = (y - x) / length, min(1e-6, length / 64)
        found = list[float]()
        waiting = [(0.0, length, self.slope(x, u, step), self.slope(y - 2 * step * u, u, step))]
        while waiting:
            low, high, first, last = waiting.pop()
            if self.same(first, last, step):
                continue
            if high - low < max(_PRECISION, 8 * step):
                place = self._meeting(x, u, (low - 4 * step, high + 4 * step), step)
                if place is not None and all(abs(place - t) > 32 * step for t in found):
                    found.append(place)
                continue
            middle = (low + high) / 2
            slope = self.slope(x + middle * u, u, step)
            waiting += [(low, middle, first, slope), (middle, high, slope, last)]
        return [x + t * u for t in found]

    def _meeting(self, x: Array, u: Array, ends: tuple[float, float], step: float) -> float | None:
        """Return where the affine functions beside a short interval meet."""
        one, two = ends[0] - step, ends[1] + step
        first, last = self.slope(x + one * u, u, -step), self.slope(x + two * u, u, step)
        k = int(np.argmax(np.abs(last - first)))
        if self.same(first, last, step):
            return None
        gap = self.value(x + two * u)[k] - self.value(x + one * u)[k]
        return float(one + (last[k] * (two - one) - gap) / (last[k] - first[k]))

    def is_boundary(self, x: Array, normal: Array, step: float = 1e-5) -> bool:
        """Whether the slope jumps at a point."""
        before = self.slope(x - 2 * step * normal, normal, step)
        after = self.slope(x + step * normal, normal, step)
        return not self.same(before, after, step)

    # -- hyperplanes -------------------------------------------------------------------------------

    def hyperplane(self, point: Array) -> Array | None:
        """Return the hyperplane [normal | -offset] through boundary points near one."""
        points = [point]
        for _ in range(12 * _NUM_NEAR * self.num_inputs):
            if len(points) > _NUM_NEAR * self.num_inputs:
                break
            start, end = point + _NEAR * self.rng.standard_normal((2, self.num_inputs))
            points += self.boundary_points(start, end)[:1]
        if len(points) <= self.num_inputs:
            return None
        centre = np.mean(points, axis=0)
        _, sizes, rows = np.linalg.svd(np.array(points) - centre)
        if sizes[-1] > 1e-3 * sizes[-2 if self.num_inputs > 1 else 0] or sizes[0] == 0:
            return None
        return np.append(rows[-1], -rows[-1] @ centre)

    def is_of_layer_1(self, plane: Array) -> bool:
        """Whether there are boundaries at many points of a hyperplane."""
        normal, count = plane[:-1], 0
        for _ in range(_NUM_TESTED):
            x = self.rng.uniform(-_SIZE, _SIZE, self.num_inputs)
            count += self.is_boundary(x - (normal @ x + plane[-1]) * normal, normal)
        return count >= _SHARE * _NUM_TESTED

    def first_layer(self) -> list[tuple[Array, Array]]:
        """Find layer 1 (Algorithm 1), and return the boundary points that are left, with planes."""
        left = list[tuple[Array, Array]]()
        for _ in range(_NUM_SEGMENTS):
            ends = self.rng.uniform(-_SIZE, _SIZE, (2, self.num_inputs))
            for point in self.boundary_points(*ends):
                if any(abs(p[:-1] @ point + p[-1]) < 1e-6 for p in self.planes):
                    continue
                plane = self.hyperplane(point)
                if plane is None:
                    continue
                if self.is_of_layer_1(plane):
                    self.planes.append(plane)
                else:
                    left.append((point, plane))
        return left

    # -- layer 2 -----------------------------------------------------------------------------------

    def follow(self, point: Array, plane: Array) -> Array | None:
        """Return the weights of a neuron of layer 2 up to scale, and a point of it (Algorithm 2).

        From points of the boundary it is followed in random directions into new cells of layer 1,
        until all hyperplanes of layer 1 were crossed.
        """
        weights = np.full(len(self.planes), np.nan)
        pieces, cells = [(point, plane[:-1], 1.0)], {self._cell(point)}
        for _ in range(_NUM_TURNS * len(self.planes)):
            if not np.isnan(weights).any():
                break
            start, normal, scale = pieces[self.rng.integers(len(pieces))]
            direction = self.rng.standard_normal(self.num_inputs)
            direction -= (direction @ normal) * normal
            times = [-(p[:-1] @ start + p[-1]) / (p[:-1] @ direction) for p in self.planes]
            ahead = [(t, i) for i, t in enumerate(times) if t > 0]
            if not ahead:
                continue
            t, k = min(ahead)
            beyond = start + (t + _BEYOND) * direction
            cell = self._cell(beyond)
            if cell in cells:
                continue
            near = 20 * _BEYOND * normal
            found = self.boundary_points(beyond - near, beyond + near)
            found = [x for x in found if self._cell(x) == cell and self._is_off_planes(x)]
            other = self.hyperplane(found[0]) if found else None
            if other is None:
                continue
            u = self.planes[k][:-1]
            (c, w), *_ = np.linalg.lstsq(np.column_stack([other[:-1], -u]), normal, rcond=None)
            weights[k] = -scale * w * np.sign(u @ direction)
            cells.add(cell)
            pieces.append((found[0], other[:-1] * np.sign(c), scale * abs(c)))
        return None if np.isnan(weights).any() else np.append(weights, point)

    def _cell(self, x: Array) -> tuple[bool, ...]:
        """Return the sides of layer 1."""
        return tuple(bool(p[:-1] @ x + p[-1] > 0) for p in self.planes)

    def _is_off_planes(self, x: Array) -> bool:
        """Whether a point lies on no hyperplane of layer 1."""
        return all(abs(p[:-1] @ x + p[-1]) > 1e-7 for p in self.planes)

    def second_layer(self, left: list[tuple[Array, Array]]) -> None:
        """Find the neurons of layer 2."""
        for point, plane in left:
            found = self.follow(point, plane)
            if found is None:
                continue
            weights, place = found[: len(self.planes)], found[len(self.planes) :]
            ratio = weights / np.linalg.norm(weights)
            known = (abs(ratio @ other) / np.linalg.norm(other) for other, _ in self.neurons)
            if not any(size > 1 - 1e-6 for size in known):
                self.neurons.append((weights, place))

    # -- signs and output weights ------------------------------------------------------------------

    def fitted(self) -> tuple[float, Any]:
        """Return the least relative residual over all signs, and the function that has it."""
        points = self.rng.uniform(-_SIZE, _SIZE, (20 + 8 * len(self.planes), self.num_inputs))
        values = np.array([self.value(x) for x in points])
        best: tuple[float, Any] = (np.inf, None)
        count = len(self.planes)
        for signs in product((1.0, -1.0), repeat=count + len(self.neurons)):
            features = self._features(np.array(signs))
            table = np.column_stack([features(points), np.ones(len(points))])
            outgoing, *_ = np.linalg.lstsq(table, values, rcond=None)
            residual = float(np.abs(table @ outgoing - values).max() / np.abs(values).max())
            if residual < best[0]:
                best = (residual, (features, outgoing))
        return best

    def _features(self, signs: Array) -> Callable[[Array], Array]:
        """Return the last hidden layer for given orientations."""
        rows = np.array(self.planes) * signs[: len(self.planes), None]

        def first(points: Array) -> Array:
            return np.asarray(np.maximum(points @ rows[:, :-1].T + rows[:, -1], 0))

        if not self.neurons:
            return first
        weights = np.array([w for w, _ in self.neurons])
        places = np.array([p for _, p in self.neurons])
        biases = -np.sum(weights * first(places), axis=1)
        turned = signs[len(self.planes) :]
        return lambda points: np.maximum(turned * (first(points) @ weights.T + biases), 0)


def recover_baseline(
    function: Callable[[Array], Array], widths: tuple[int, ...], seed: int, max_queries: int
) -> tuple[bool, int]:
    """Return whether a network was recovered, and the number of values that were asked for.

    It counts as recovered if there are as many neurons as in the network, and the relative error at
    points of the fit is below 10^-4.
    """
    found = Baseline(function, widths[0], np.random.default_rng(seed), max_queries)
    try:
        left = found.first_layer()
        if len(found.planes) != widths[1]:
            return False, found.num_queries
        if len(widths) > 3:
            found.second_layer(left)
        if len(widths) > 3 and len(found.neurons) != widths[2]:
            return False, found.num_queries
        residual, _ = found.fitted()
    except TimeoutError:
        return False, found.num_queries
    return residual < 1e-4, found.num_queries
