"""Float forms of all hidden neurons on one cell, with an error bound for each number.

A walk reads the signs at a point from these forms wherever the bounds decide them, and uses exact
arithmetic only for the rest. As in `affine_slice`, the forms are the rows F over (s, 1) of F[ℓ] =
C[ℓ] + Σ W[ℓ,j] M[j] F[j]; a step into another cell recomputes only the layers after the first
neuron that is switched.

For every entry F there is a bound E with |F - F*| ≤ E, where F* is the exact number. Let u = 2^-53
be the unit roundoff, N the number of weights that a neuron of the layer reads, and |w|' = |w| +
2^-1000 (∞ where a weight was cut to the largest float). With the sum over the neurons i that are
on,

    E_j = Σ |w_ji|' (2 (N + 4) u |F_i| + (1 + 2^-20) E_i) + 2 (N + 4) u |C_j|' + 2^-1000,

and at floats q the form z = F (q, 1) satisfies |z - z*| ≤ G (|q|, 1) (1 + 2^-20) + 2^-1000, where
G = E + 2 (k + 4) u |F|. The proof, and the bound at points of a line z_v = 0, are in
docs/theory/walks.md, section "The error bound of float forms".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from polyrelu.exact import UNDECIDED, AnyMatrix, RationalMatrix, SparseMatrix
from polyrelu.network import Network
from polyrelu.support.typing import Floats, Signs
from polyrelu.walks.affine_slice import AffineSlice

__all__ = ["Floats", "LocalForms"]


#: The unit roundoff u of float64.
_UNIT_ROUNDOFF = 2.0**-53
#: An upper bound on the total underflow in one number and in its error bound.
_UNDERFLOW = 2.0**-1000
#: Factor of error bounds for terms of second order and for the rounding of the bounds themselves
#: (docs/theory/walks.md, "The error bound of float forms").
_SLACK = 1 + 2.0**-20
#: Factor of the distance from the line of the carrier, for rounding; same section.
_DISTANCE_SLACK = 1 + 2.0**-10
#: The largest float64; larger exact numbers are cut to it.
_LARGEST = float(np.finfo(np.float64).max)

#: The source layer, w and |w|' of every block of a layer.
_Blocks: TypeAlias = tuple[tuple[int, Floats, Floats], ...]


@dataclass(frozen=True, slots=True)
class _FloatLayer:
    """A layer in floats.

    Attributes
    ----------
    constant
        C transposed, shape (k + 1, n).
    constant_errors
        The part of the error bound that stems from C, shape (k + 1, n).
    blocks
        The weights on earlier hidden layers.
    rounding
        The number 2 (N + 4) u.
    """

    constant: Floats
    constant_errors: Floats
    blocks: _Blocks
    rounding: float

    @classmethod
    def of(cls, constant: RationalMatrix, blocks: _Blocks) -> _FloatLayer:
        """Return the layer with an exact C, shape (n, k + 1), and the given blocks."""
        rounding = 2 * (sum(weights.shape[1] for _, weights, _ in blocks) + 4) * _UNIT_ROUNDOFF
        floats = np.ascontiguousarray(constant.to_floats().T)
        errors = rounding * (_magnitudes(floats) + _UNDERFLOW) + _UNDERFLOW
        return cls(floats, errors, blocks, rounding)


class LocalForms:
    """Float forms on one cell, given by the signs of the last `update`.

    Parameters
    ----------
    affine_slice
        The network on a line or plane.

    Attributes
    ----------
    columns, errors, margins
        F, E and G of all hidden neurons, transposed, shape (k + 1, num_neurons).
    scales
        The rough size of the forms in each coordinate, shape (k,); for guesses only.
    """

    def __init__(self, affine_slice: AffineSlice) -> None:
        self._slice = affine_slice
        weights = _weights_in_floats(_ByIdentity(affine_slice.network))
        self._layers = [
            _FloatLayer.of(layer.constant, blocks)
            for layer, blocks in zip(affine_slice.layers, weights, strict=False)
        ]
        shape = affine_slice.dimension + 1, affine_slice.num_neurons
        self.columns, self.errors, self.margins = (np.zeros(shape) for _ in range(3))
        largest = [np.abs(layer.constant[:-1]).max(axis=1, initial=0.0) for layer in self._layers]
        scales = np.max(largest, axis=0) if largest else np.ones(affine_slice.dimension)
        self.scales: Floats = np.where(scales > 0, scales, 1.0)

    @np.errstate(all="ignore")
    def update(self, signs: Signs, first: int = 1) -> None:
        """Recompute the forms of layer `first` and all later layers for the given flat signs."""
        on = signs > 0
        for number in range(first, len(self._layers) + 1):
            layer, places = self._layers[number - 1], self._slice.layer_slice(number)
            columns, errors = layer.constant.copy(), layer.constant_errors.copy()
            for source, weights, magnitudes in layer.blocks:
                below = self._slice.layer_slice(source)
                activations = np.where(on[below], self.columns[:, below], 0.0)
                uncertainty = layer.rounding * np.abs(activations) + _SLACK * np.where(
                    on[below], self.errors[:, below], 0.0
                )
                for c in range(len(columns)):  # faster than one matrix product for 2 or 3 columns
                    columns[c] += weights @ activations[c]
                    errors[c] += magnitudes @ uncertainty[c]
            self.columns[:, places], self.errors[:, places] = columns, errors
            at_point = 2 * (self._slice.dimension + 4) * _UNIT_ROUNDOFF
            self.margins[:, places] = errors + at_point * np.abs(columns)

    @np.errstate(all="ignore")
    def signs_at(self, q: Floats, carrier: int | None, coordinate: int) -> Signs | None:
        """Return the signs at q, or at a point q* beside q on a line, where floats decide them.

        Parameters
        ----------
        q
            A point in floats, shape (k,).
        carrier
            The place of the neuron that is 0 on the line; None for the signs at q itself.
        coordinate
            The coordinate c in which q* differs from q, if there is a carrier.

        Returns
        -------
        Array or None
            Flat signs, `UNDECIDED` where the bounds do not decide, shape (num_neurons,); None if
            the bounds do not exclude that the form of the carrier is independent of the coordinate
            c.
        """
        point = np.append(q, 1.0)
        values = point @ self.columns
        bounds = np.abs(point) @ self.margins
        if carrier is not None:
            slopes, errors = np.abs(self.columns[coordinate]), self.errors[coordinate]
            least_slope = slopes[carrier] - errors[carrier]
            if not least_slope > 0:  # also NaN
                return None
            distance = (
                (abs(values[carrier]) + _SLACK * bounds[carrier] + _UNDERFLOW)
                / least_slope
                * _DISTANCE_SLACK
            )
            bounds += (slopes + errors) * distance
        certain = (np.abs(values) > bounds * _SLACK + _UNDERFLOW) & np.isfinite(values)
        return np.where(certain, np.sign(values), UNDECIDED).astype(np.int8)


class _ByIdentity:
    """A network as a cache key that is compared by identity.

    The key keeps the network alive, so no other network gets its id.
    """

    def __init__(self, network: Network) -> None:
        self.network = network

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and self.network is other.network

    def __hash__(self) -> int:
        return id(self.network)


@lru_cache(maxsize=2)
def _weights_in_floats(key: _ByIdentity) -> list[_Blocks]:
    """Return the weights of hidden layers on hidden layers, shared by all walks in a network."""
    weights = []
    for layer in key.network.layers[: key.network.num_hidden_layers]:
        blocks = [
            (block.source, _dense(block.entries)) for block in layer.blocks if block.source > 0
        ]
        weights.append(
            tuple((source, floats, _magnitudes(floats) + _UNDERFLOW) for source, floats in blocks)
        )
    return weights


def _dense(matrix: AnyMatrix) -> Floats:
    """Return all entries of a matrix as floats."""
    if not isinstance(matrix, SparseMatrix):
        return matrix.to_floats()
    floats = np.zeros(matrix.shape)
    floats[matrix.row_of_entries(), matrix.columns] = matrix.to_floats()
    return floats


def _magnitudes(floats: Floats) -> Floats:
    """Return absolute values, infinite for numbers that were cut to the largest float."""
    sizes = np.abs(floats)
    return np.where(sizes >= _LARGEST, np.inf, sizes)
