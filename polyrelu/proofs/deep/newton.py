"""Common zeros of a few neurons, by Newton's method from many points at once, in floats.

Where a neuron h of the layer before v is active at no known piece of v, the place where it is may
be so thin that walks along v pass by. A common zero of v and h has such a piece beside it. All is
piecewise linear, so Newton's method ends after finitely many steps once it is in the right cell.
Inactive neurons have a small slope at first, so that points are not caught where all are inactive.
This is for walks, in networks of any widths; `aim.common_zeros` does the same in the coordinates of
the search by sight, where points must not leave the orthant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyrelu.network import Network, NeuronId
from polyrelu.support.typing import Floats

__all__ = ["CommonZeros"]


@dataclass(frozen=True, slots=True)
class NewtonSettings:
    """How points are moved.

    Attributes
    ----------
    steps
        Number of steps.
    leak
        Slope of inactive neurons at the first step; it falls to 0 in half of the steps.
    longest
        The largest length of a step, as a share of the length of the point.
    tolerance
        A neuron counts as zero below this share of the length of the point and its gradient.
    """

    steps: int = 60
    leak: float = 0.2
    longest: float = 0.5
    tolerance: float = 1e-9


SETTINGS = NewtonSettings()


class CommonZeros:
    """Newton's method for the neurons of a plain stack.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-2])
    >>> zeros = CommonZeros(from_arrays([first, second, ([[1]], [0])]))
    >>> neurons = [NeuronId(2, 0), NeuronId(1, 0)]
    >>> zeros.near(neurons, np.array([[3.0, 1.0]])).round(6).tolist()
    [[0.0, 2.0]]
    """

    def __init__(self, network: Network) -> None:
        self._weights = [network.weight(k).to_floats() for k in range(1, network.depth)]
        self._biases = [network.bias(k).to_floats()[:, 0] for k in range(1, network.depth)]

    def near(self, neurons: Sequence[NeuronId], points: Floats) -> Floats:
        """Return common zeros of some neurons that are reached from points, shape (k, n_0)."""
        last = max(neuron.layer for neuron in neurons)
        with np.errstate(all="ignore"):
            for step in range(SETTINGS.steps):
                leak = SETTINGS.leak * max(0.0, 1 - 2 * step / SETTINGS.steps)
                values, gradients = self._forms(neurons, self._values(points, last), leak)
                points = _moved(points, values, gradients)
            values, gradients = self._forms(neurons, self._values(points, last), 0.0)
            sizes = 1 + np.linalg.norm(points, axis=1)
            limits = SETTINGS.tolerance * sizes[:, None] * np.linalg.norm(gradients, axis=2)
            is_zero = ((np.abs(values) < limits) & np.isfinite(values)).all(axis=1)
        return np.asarray(points[is_zero], dtype=np.float64)

    def gradient(self, neuron: NeuronId, point: Floats) -> Floats:
        """Return the gradient of a neuron at a point; not finite beyond the range of floats."""
        with np.errstate(all="ignore"):
            values = self._values(point[None], neuron.layer)
            gradients = self._forms([neuron], values, 0.0)[1]
        return np.asarray(gradients[0, 0], dtype=np.float64)

    def _values(self, points: Floats, last: int) -> list[Floats]:
        """Return the preactivations of all layers up to one, shape (points, width) each."""
        values, active = list[Floats](), points
        for weight, bias in zip(self._weights[:last], self._biases[:last], strict=True):
            values.append(active @ weight.T + bias)
            active = np.maximum(values[-1], 0)
        return values

    def _forms(
        self, neurons: Sequence[NeuronId], values: Sequence[Floats], leak: float
    ) -> tuple[Floats, Floats]:
        """Return values and gradients of neurons, shapes (points, k) and (points, k, n_0)."""
        slopes = [np.where(z > 0, 1.0, leak) for z in values]
        gradients = list[Floats]()
        for layer, index in ((neuron.layer, neuron.index) for neuron in neurons):
            gradient = np.repeat(self._weights[layer - 1][index][None], len(values[0]), axis=0)
            for k in range(layer - 2, -1, -1):
                gradient = (gradient * slopes[k]) @ self._weights[k]
            gradients.append(gradient)
        of_neurons = [values[neuron.layer - 1][:, neuron.index] for neuron in neurons]
        return np.stack(of_neurons, axis=1), np.stack(gradients, axis=1)


def _moved(points: Floats, values: Floats, gradients: Floats) -> Floats:
    """Return the points after a step of Newton's method, the shortest one, cut to a length."""
    gram = gradients @ gradients.transpose(0, 2, 1)
    gram[~np.isfinite(gram)] = 0
    factors = np.einsum("pij,pj->pi", np.linalg.pinv(gram, hermitian=True), values)
    steps = -np.einsum("pij,pi->pj", gradients, factors)
    longest = SETTINGS.longest * (1 + np.linalg.norm(points, axis=1))
    lengths = np.maximum(np.linalg.norm(steps, axis=1), np.finfo(np.float64).tiny)
    return np.asarray(points + steps * np.minimum(1, longest / lengths)[:, None], dtype=np.float64)
