"""Two points whose images are near, relative to their distance: a search in floats.

On each cell the least singular vector of the active rows gives a pair inside the cell. Pairs across
cells may be nearer, by a factor up to 2 in squares; they are looked for around points where many
cells meet, and improved step by step. What is found is rounded and evaluated exactly by the caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FloatLayers", "near_pairs"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NearPairSettings:
    """Limits of the search.

    Attributes
    ----------
    num_improved
        Number of pairs that are improved.
    num_steps
        Number of steps for each of them.
    max_centres
        Maximum number of points around which pairs are tried.
    """

    num_improved: int = 6
    num_steps: int = 300
    max_centres: int = 200


_SETTINGS = NearPairSettings()


@dataclass(frozen=True, slots=True)
class FloatLayers:
    """A plain stack on {y : limits · (y, 1) ≥ 0}, in floats.

    Attributes
    ----------
    weights, biases
        The layers; the first one reads the coordinates y.
    last_is_relu
        Whether the last layer has a ReLU.
    lengths
        The matrix B with |x|² = yᵀ B y for differences.
    limits
        The inequalities, shape (k, d + 1).
    """

    weights: Sequence[NDArray[np.float64]]
    biases: Sequence[Vector]
    last_is_relu: bool
    lengths: NDArray[np.float64]
    limits: NDArray[np.float64]

    def quotients(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> Vector:
        """The quotients of squared distances, ∞ outside of the domain."""
        difference = x - y
        long = np.einsum("ij,jk,ik->i", difference, self.lengths, difference)
        short = ((self._values(x) - self._values(y)) ** 2).sum(axis=1)
        is_inside = self._inside(x) & self._inside(y) & (long > 0)
        return np.where(is_inside, short / np.where(long > 0, long, 1), np.inf)

    def _values(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True), 1):
            points = points @ weight.T + bias
            if number < len(self.weights) or self.last_is_relu:
                points = np.maximum(points, 0)
        return points

    def _inside(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        homogeneous = np.hstack([points, np.ones((len(points), 1))])
        slacks = homogeneous @ self.limits.T
        return np.asarray(np.all(slacks >= 0, axis=1), dtype=np.bool_)


def near_pairs(
    layers: FloatLayers, centres: Sequence[Vector], directions: Sequence[Vector], seed: int
) -> Iterator[tuple[Vector, Vector]]:
    """Yield pairs with small quotients, the best ones first."""
    centre = np.array(centres)[: _SETTINGS.max_centres]
    direction = np.array(directions)[: _SETTINGS.max_centres]
    firsts, seconds = list[NDArray[np.float64]](), list[NDArray[np.float64]]()
    for size in (2.0**-12, 2.0**-4, 0.5, 1.0, 8.0, 64.0):
        moved = centre[:, None, :] + size * direction[None, :, :]
        back = centre[:, None, :] - size * direction[None, :, :]
        here = np.broadcast_to(centre[:, None, :], moved.shape)
        for one, two in ((moved, back), (moved, here), (here, back)):
            firsts.append(one.reshape(-1, centre.shape[1]))
            seconds.append(two.reshape(-1, centre.shape[1]))
    x, y = np.vstack(firsts), np.vstack(seconds)
    found = layers.quotients(x, y)
    order = np.argsort(found, kind="stable")[: _SETTINGS.num_improved]
    improved = [
        _improved(layers, x[i], y[i], seed) for i in order.tolist() if np.isfinite(found[i])
    ]
    for _, one, two in sorted(improved, key=lambda entry: entry[0]):
        yield one, two


def _improved(layers: FloatLayers, x: Vector, y: Vector, seed: int) -> tuple[float, Vector, Vector]:
    """Move both points at random, by shorter and shorter steps, wherever the quotient falls."""
    random = np.random.default_rng(seed)
    best = float(layers.quotients(x[None], y[None])[0])
    step = 0.25 * float(np.abs(x - y).max())
    for _ in range(_SETTINGS.num_steps):
        moves = step * random.uniform(-1, 1, (8, 2, len(x)))
        firsts, seconds = x + moves[:, 0], y + moves[:, 1]
        values = layers.quotients(firsts, seconds)
        k = int(values.argmin())
        if values[k] < best:
            best, x, y = float(values[k]), firsts[k], seconds[k]
        else:
            step *= 0.93
    return best, x, y
