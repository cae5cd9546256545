"""The points at which all neurons of layer 1 are active, many at once, in floats.

If W[1] has full row rank, every vector y > 0 is z[1](x) for some x, so that all neurons of layer 1
may be active together, and y are coordinates in which the first layer is the identity. Floats here
only choose where a search looks; what they lead to is decided exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyrelu.network import Network
from polyrelu.support.typing import Floats, Indices, Mask

__all__ = ["NeuronPerPoint", "Orthant"]

#: One neuron of a layer for each point: the layer, and an array with an index for each point.
NeuronPerPoint = tuple[int, Indices]


class Orthant:
    """The coordinates y = z[1] > 0 of a plain network, and its preactivations there.

    `Orthant.of` is the constructor that checks the network.

    Attributes
    ----------
    last_layer
        The number H of the last hidden layer.
    widths
        The widths n_0, …, n_H.
    size
        A size of coordinates y_i for which biases matter little.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 0], [0, 2]], [0, 1]), ([[1, -1], [1, 1]], [1, -2])
    >>> orthant = Orthant.of(from_arrays([first, second, ([[1, 2]], [0])]))
    >>> y = np.array([[3.0, 5.0]])
    >>> orthant.inputs(y), orthant.values(y)[1]
    (array([[3., 2.]]), array([[-1.,  6.]]))
    """

    def __init__(self, rows: Sequence[Floats], columns: Indices, size: float) -> None:
        self.last_layer = len(rows)
        self.widths: tuple[int, ...] = (rows[0].shape[1] - 1, *(len(row) for row in rows))
        self.size = size
        self._weights = [np.ascontiguousarray(row[:, :-1]) for row in rows]
        self._biases = [row[:, -1] for row in rows]
        self._columns = columns
        self._inverse = np.linalg.inv(self._weights[0][:, columns])

    @classmethod
    def of(cls, network: Network, share: float = 160.0, least: float = 1e-6) -> Orthant | None:
        """Return the coordinates; None if W[1] has no full row rank, as far as floats tell.

        Parameters
        ----------
        network
            A plain stack.
        share
            The size of the coordinates as a multiple of the largest bias, or of 1.
        least
            Pivots below this share of the largest one count as 0.
        """
        rows = [layer.augmented().to_floats() for layer in network.layers[:-1]]
        if not all(np.isfinite(row).all() for row in rows):
            return None
        columns = _independent_columns(rows[0][:, :-1], least)
        if columns is None:
            return None
        largest = max(1.0, *(float(np.abs(row[:, -1]).max()) for row in rows))
        return cls(rows, columns, share * largest)

    def inputs(self, points: Floats) -> Floats:
        """Return inputs x with z[1](x) = y, with as many coordinates that may be nonzero."""
        found = np.zeros((len(points), self.widths[0]))
        found[:, self._columns] = (points - self._biases[0]) @ self._inverse.T
        return found

    def values(self, points: Floats, zeros: Sequence[NeuronPerPoint] = ()) -> list[Floats]:
        """Return z[1], …, z[H] at points; neurons in `zeros` pass on negative values, too.

        So the affine forms of the cells where they are active are evaluated, also beyond them.
        """
        values, everywhere = [points], np.arange(len(points))
        for layer in range(2, self.last_layer + 1):
            active = np.maximum(values[-1], 0.0)
            for number, indices in zeros:
                if number == layer - 1:
                    active[everywhere, indices] = values[-1][everywhere, indices]
            values.append(active @ self._weights[layer - 1].T + self._biases[layer - 1])
        return values

    def slopes(
        self, values: Sequence[Floats], zeros: Sequence[NeuronPerPoint] = (), leak: float = 0.0
    ) -> list[Floats]:
        """Return the derivatives of the activations: 1 for active neurons, `leak` for others.

        Neurons in `zeros` count as active.
        """
        found = [np.where(value > 0, 1.0, leak) for value in values]
        for layer, indices in zeros:
            found[layer - 1][np.arange(len(indices)), indices] = 1.0
        return found

    def gradients(
        self, slopes: Sequence[Floats], layer: int, coefficients: Indices | Floats
    ) -> Floats:
        """Return ∇_y of one preactivation of a layer at each point, or of a sum of multiples.

        Parameters
        ----------
        slopes
            The derivatives of the activations.
        layer
            The layer ℓ.
        coefficients
            An index of a neuron for each point, or multiples, shape (points, n_ℓ).
        """
        if coefficients.ndim == 1:
            rows = np.eye(self.widths[1]) if layer == 1 else self._weights[layer - 1]
            found = rows[coefficients]
        else:
            found = coefficients if layer == 1 else coefficients @ self._weights[layer - 1]
        for number in range(layer - 1, 1, -1):
            found = (found * slopes[number - 1]) @ self._weights[number - 1]
        return np.asarray(found, dtype=np.float64)

    def all_gradients(self, active: Sequence[Mask], layer: int) -> Floats:
        """Return ∇_y of all neurons of a layer ℓ ≥ 2 at one point with these active neurons."""
        below = self._weights[1]
        for number in range(2, layer):
            is_on = active[number - 1]
            below = self._weights[number][:, is_on] @ below[is_on]
        return np.asarray(below, dtype=np.float64)

    def forms(self, vectors: Floats, active: Mask) -> Floats:
        """Return the preactivations of all hidden neurons on a plane, as affine forms.

        Parameters
        ----------
        vectors
            A point of the plane and two directions, shape (3, n_0).
        active
            Which hidden neurons are active, a row for each of the results.

        Returns
        -------
        NDArray
            Shape (len(active), 3, number of hidden neurons): constants and two slopes.
        """
        below = np.broadcast_to(vectors, (len(active), *vectors.shape))
        found, start = list[Floats](), 0
        for weights, biases in zip(self._weights, self._biases, strict=True):
            below = below @ weights.T
            below[:, 0] += biases
            found.append(below)
            below = below * active[:, None, start : start + len(biases)]
            start += len(biases)
        return np.concatenate(found, axis=2)

    def on_plane(self, vectors: Floats) -> Floats:
        """Return a point of R^{n_0} and two directions in the coordinates y."""
        found = vectors @ self._weights[0].T
        found[0] += self._biases[0]
        return np.asarray(found, dtype=np.float64)

    def forms_from(self, vectors: Floats, active: Mask) -> Floats:
        """Return what `forms` does, for a point and directions in the coordinates y."""
        below = np.broadcast_to(vectors, (len(active), *vectors.shape))
        found, start = [below], 0
        for weights, biases in zip(self._weights[1:], self._biases[1:], strict=True):
            below = (below * active[:, None, start : start + weights.shape[1]]) @ weights.T
            below[:, 0] += biases
            found.append(below)
            start += weights.shape[1]
        return np.concatenate(found, axis=2)

    def neuron_of(self, number: int) -> tuple[int, int]:
        """Return layer and index of the neuron with a number, the inverse of `number`."""
        layer = 1
        while number >= self.widths[layer]:
            number -= self.widths[layer]
            layer += 1
        return layer, number

    def number(self, layer: int, index: int) -> int:
        """Return the number of a hidden neuron, as the deep search counts them."""
        return int(sum(self.widths[1:layer])) + index

    def signs(self, values: Sequence[Floats]) -> Mask:
        """Return which hidden neurons are active, one row for each point."""
        return np.concatenate([value > 0 for value in values], axis=1)


def _independent_columns(matrix: Floats, least_pivot: float) -> Indices | None:
    """Return as many columns as a matrix has rows, far from dependent, by pivoting; else None."""
    rest, chosen = matrix.copy(), list[int]()
    if matrix.shape[0] > matrix.shape[1]:
        return None
    lengths = np.einsum("ij,ij->j", rest, rest)
    least = least_pivot**2 * float(lengths.max())
    for _ in range(matrix.shape[0]):
        best = int(np.argmax(lengths))
        if lengths[best] <= least:
            return None
        chosen.append(best)
        unit = rest[:, best] / np.sqrt(lengths[best])
        rest -= np.outer(unit, unit @ rest)
        lengths = np.einsum("ij,ij->j", rest, rest)
        lengths[chosen] = 0.0
    return np.sort(np.array(chosen, dtype=np.int64))
