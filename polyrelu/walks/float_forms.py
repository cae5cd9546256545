"""Float forms of all hidden neurons on one cell, with an error bound for each number.

A walk reads the signs at a point from these forms wherever the bounds decide them, and uses exact
arithmetic only for the rest. As in `affine_slice`, the forms are the rows F over (s, 1) of F[ℓ] =
C[ℓ] + Σ W[ℓ,j] M[j] F[j]. `update` computes them afresh. A step into another cell switches one
neuron u, and `flip` adds to the forms of later layers, or subtracts, their derivatives by the
activation of u times the form of u.

For every entry F there is a bound E with |F - F*| ≤ E, where F* is the exact number. Let u = 2^-53
be the unit roundoff, N the number of weights that a neuron of the layer reads, and |w|' = |w| +
2^-1000 (∞ where a weight exceeds the floats). With the sum over the neurons i that are on,

    E_j = Σ |w_ji|' (2 (N + 4) u |F_i| + (1 + 2^-20) E_i) + 2 (N + 4) u |C_j|' + 2^-1000,

and at floats q the form z = F (q, 1) satisfies |z - z*| ≤ G (|q|, 1) (1 + 2^-20) + 2^-1000, where
G = E + 2 (k + 4) u |F|. The proof, the bounds after flips, and the bound at points of a line z_v =
0, are in docs/theory/walks.md, section "The error bound of float forms".

All sums are made in one order, term by term, and no library chooses another: the compiled core
(`compiled`) computes the same bits, and so does every machine.
"""

from __future__ import annotations

import numpy as np

from polyrelu.exact import UNDECIDED
from polyrelu.support.typing import Floats, Signs
from polyrelu.walks.affine_slice import AffineSlice
from polyrelu.walks.float_weights import (
    SLACK,
    UNDERFLOW,
    UNIT_ROUNDOFF,
    weights_in_floats,
)

__all__ = ["LocalForms", "combined"]

#: Factor of the distance from the line of the carrier, for rounding
#: (docs/theory/walks.md, "The error bound of float forms").
_DISTANCE_SLACK = 1 + 2.0**-10
#: Factor of what one flip rounds in a form; same section.
_FLIP_ROUNDING = 4 * UNIT_ROUNDOFF


class LocalForms:
    """Float forms on one cell, given by the signs of the last `update` and the later flips.

    Parameters
    ----------
    affine_slice
        The network on a line or plane.

    Attributes
    ----------
    columns, errors
        F and E of all hidden neurons, transposed, shape (k + 1, num_neurons).
    signs
        The flat signs of the cell, shape (num_neurons,).
    scales
        The rough size of the forms in each coordinate, shape (k,); for guesses only.
    num_flips
        Number of flips since the last `update` of all layers.
    """

    def __init__(self, affine_slice: AffineSlice) -> None:
        self._slice = affine_slice
        self.layers = weights_in_floats(affine_slice.network).layers
        shape = affine_slice.dimension + 1, affine_slice.num_neurons
        self.constants, self.constant_errors = affine_slice.constants_in_floats
        self.columns, self.errors = np.zeros(shape), np.zeros(shape)
        self.signs: Signs = np.zeros(affine_slice.num_neurons, dtype=np.int8)
        self.num_flips = 0
        largest = np.abs(self.constants[:-1]).max(axis=1, initial=0.0)
        self.scales: Floats = np.where(largest > 0, largest, 1.0)

    @property
    def margins(self) -> Floats:
        """The numbers G of all hidden neurons, transposed, shape (k + 1, num_neurons)."""
        at_point = 2 * (self._slice.dimension + 4) * UNIT_ROUNDOFF
        return np.asarray(self.errors + at_point * np.abs(self.columns))

    def update(self, signs: Signs, first: int = 1) -> None:
        """Recompute the forms of layer `first` and all later layers for the given flat signs."""
        self.signs[:] = signs
        if first == 1:
            self.num_flips = 0
        self._refresh(first)

    @np.errstate(all="ignore")
    def _refresh(self, first: int) -> None:
        """Compute the forms of layer `first` and all later layers afresh."""
        for number in range(first, len(self.layers) + 1):
            layer, places = self.layers[number - 1], self._slice.layer_slice(number)
            self.columns[:, places] = self.constants[:, places]
            self.errors[:, places] = self.constant_errors[:, places]
            for source, weights, sizes, _ in layer.blocks:
                below = self._slice.layer_slice(source)
                on = np.flatnonzero(self.signs[below] > 0)
                for c in range(len(self.columns) if len(on) else 0):
                    values, errors = self.columns[c, below][on], self.errors[c, below][on]
                    of_errors = layer.rounding * np.abs(values) + SLACK * errors
                    _add_rows(self.columns[c, places], weights[on], values)
                    _add_rows(self.errors[c, places], sizes[on], of_errors)

    @np.errstate(all="ignore")
    def flip(self, place: int) -> None:
        """Give a neuron the opposite sign, and change the forms of later layers accordingly."""
        self.signs[place] = -self.signs[place]
        self.num_flips += 1
        values, errors = self.columns[:, place], self.errors[:, place]
        of_gains = SLACK * errors + _FLIP_ROUNDING * np.abs(values)
        of_errors = SLACK * (np.abs(values) + errors)
        for number, (gains, error) in self._gains(place).items():
            places = self._slice.layer_slice(number)
            for c, least in enumerate(error * of_errors + UNDERFLOW):
                self.columns[c, places] += gains * values[c]
                rounding = _FLIP_ROUNDING * np.abs(self.columns[c, places])
                self.errors[c, places] += (np.abs(gains) * of_gains[c] + rounding) + least

    def _gains(self, place: int) -> dict[int, tuple[Floats, float]]:
        """Return the derivatives of later layers by what a flip adds, with a bound on their errors.

        Layers that read no active neuron which the flip changes are left out.
        """
        flipped = self._slice.layer_of(place)
        found: dict[int, tuple[Floats, float]] = {}
        for number in range(flipped + 1, len(self.layers) + 1):
            layer = self.layers[number - 1]
            gains, error = np.zeros(layer.width), UNDERFLOW
            for source, weights, _, largest in layer.blocks:
                below = self._slice.layer_slice(source)
                if source == flipped:
                    on = np.array([place - below.start])
                    factors = np.array([1.0 if self.signs[place] > 0 else -1.0])
                    of_errors = np.array([layer.rounding])
                elif source in found:
                    on = np.flatnonzero(self.signs[below] > 0)
                    factors, of_source = found[source][0][on], found[source][1]
                    of_errors = layer.rounding * np.abs(factors) + SLACK * of_source
                else:
                    continue
                if len(on):
                    _add_rows(gains, weights[on], factors)
                    terms = [error, *(largest[on] * of_errors)]
                    error = float(np.add.accumulate(terms)[-1])
                    found[number] = gains, error
        return found

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
        values, bounds = combined(self.columns, q), combined(self.margins, np.abs(q))
        if carrier is not None:
            slopes, errors = np.abs(self.columns[coordinate]), self.errors[coordinate]
            least_slope = slopes[carrier] - errors[carrier]
            if not least_slope > 0:  # also NaN
                return None
            distance = (
                (abs(values[carrier]) + SLACK * bounds[carrier] + UNDERFLOW)
                / least_slope
                * _DISTANCE_SLACK
            )
            bounds += (slopes + errors) * distance
        certain = (np.abs(values) > bounds * SLACK + UNDERFLOW) & np.isfinite(values)
        return np.where(certain, np.sign(values), UNDECIDED).astype(np.int8)


def combined(columns: Floats, point: Floats) -> Floats:
    """Return the combination of columns, shape (k + 1, n), with the factors (point, 1)."""
    found = columns[0] * point[0] if len(point) else np.zeros(columns.shape[1])
    for c in range(1, len(point)):
        found += columns[c] * point[c]
    found += columns[-1]
    return np.asarray(found)


def _add_rows(sums: Floats, rows: Floats, factors: Floats) -> None:
    """Add rows times factors to a vector, one after the other; shapes (n,), (m, n), (m,)."""
    terms = np.empty((len(rows) + 1, len(sums)))
    terms[0] = sums
    np.multiply(rows, factors[:, None], out=terms[1:])
    sums[:] = np.add.accumulate(terms, axis=0)[-1]
