"""The forms of all hidden neurons on one cell in floats, each number with an error bound; signs that they decide.

The forms are those of `slices`: rows F over (s, 1) with F[ℓ] = C[ℓ] + Σ W[ℓ,j] M[j] F[j]. Crossing into another cell
changes only what stands above the neurons that were switched, and only that is computed again.

**Error bound.** Stars mark exact numbers, u = 2^-53, N is the number of weights that a layer reads. For every entry of
every row there is an E with |F - F*| ≤ E. Each number w* of a layer is rounded to the nearest float w. Put |w|' = |w| +
2^-1000, or ∞ where w* was cut to the largest float; then |w - w*| ≤ u |w|' and |w*| ≤ (1 + u) |w|' in every case, where
w is 0 or subnormal too. Entry by entry, the sum being over the neurons i that are on,

    |F_j - F_j*| ≤ Σ |w_ji - w_ji*| |F_i| + Σ |w_ji*| |F_i - F_i*| + |C_j - C_j*| + rounding,

and N products and N sums, in any order, with or without fused multiply-adds, round by at most (N + 1) u (1 + 2^-20) (Σ
|w_ji| |F_i| + |C_j|), N < 2^30, plus 2^-1074 for each product that underflows. So

    E_j = Σ |w_ji|' (2 (N + 4) u |F_i| + (1 + 2^-20) E_i) + 2 (N + 4) u |C_j|' + 2^-1000,

where doubling the first and the third part and 2^-20 in the second pay for terms of second order and for the rounding
of the bound itself, which is a sum of numbers ≥ 0 with a relative error below (N + 8) u. What overflows is infinite or
not a number from there on, in F and in E, and decides nothing.

E is kept entry by entry, and not for a row as a whole, so that nothing depends on how long the directions are.

**A sign at a point.** For floats q, with z = F (q, 1), in the same way

    |z - z*| ≤ G (|q|, 1) (1 + 2^-20) + 2^-1000,    G = E + 2 (k + 4) u |F|.

**A sign at a point of a line z_v = 0 in the plane.** Points of that line with rational coordinates are no floats. Take
floats q near it, and a coordinate c in which a_v, the linear part of z_v, is surely not 0. The point q* of the line
whose other coordinate is that of q is off by |z_v*(q)| / |a_vc*| ≤ δ = (|z_v| + its bound) / (|F_vc| - E_vc), (1 +
2^-10) times that for rounding, so that z_j*(q*) is off by (|F_jc| + E_jc) δ more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from polyrelu.exact import AnyMatrix, RationalMatrix, SparseMatrix
from polyrelu.network import Network
from polyrelu.support.typing import Floats, Signs
from polyrelu.walks.affine_slice import AffineSlice

__all__ = ["Floats", "LocalForms"]


_UNIT = 2.0**-53
_TINY = 2.0**-1000
_SLACK = 1 + 2.0**-20
_LARGEST = float(np.finfo(np.float64).max)

#: (source, w, |w|') of every block of a layer.
_Blocks: TypeAlias = tuple[tuple[int, Floats, Floats], ...]


@dataclass(frozen=True, slots=True)
class _FloatLayer:
    """A layer in floats: C and its part of the bound, transposed; its blocks; 2 (N + 4) u."""

    constant: Floats
    constant_errors: Floats
    blocks: _Blocks
    rounding: float

    @classmethod
    def of(cls, constant: RationalMatrix, blocks: _Blocks) -> _FloatLayer:
        """The layer with an exact C, shape (n, k + 1)."""
        rounding = 2 * (sum(weights.shape[1] for _, weights, _ in blocks) + 4) * _UNIT
        floats = np.ascontiguousarray(constant.to_floats().T)
        return cls(floats, rounding * (_magnitudes(floats) + _TINY) + _TINY, blocks, rounding)


class LocalForms:
    """Float forms on the cell with the signs given last.

    Attributes
    ----------
    columns, errors, margins : F, E and G of all hidden neurons, transposed, shape (k + 1, neurons).
    scales : how large the forms are in each coordinate, roughly, shape (k,); for guesses only.
    """

    def __init__(self, part: AffineSlice) -> None:
        self._slice = part
        weights = _weights_in_floats(_ByIdentity(part.network))
        self._layers = [
            _FloatLayer.of(layer.constant, own)
            for layer, own in zip(part.layers, weights, strict=False)
        ]
        shape = part.dimension + 1, part.size
        self.columns, self.errors, self.margins = (np.zeros(shape) for _ in range(3))
        largest = [np.abs(layer.constant[:-1]).max(axis=1, initial=0.0) for layer in self._layers]
        scales = np.max(largest, axis=0) if largest else np.ones(part.dimension)
        self.scales: Floats = np.where(scales > 0, scales, 1.0)

    @np.errstate(all="ignore")
    def update(self, signs: Signs, first: int = 1) -> None:
        """Compute the forms of the layers from `first` on again, for the given signs."""
        on = signs > 0
        for number in range(first, len(self._layers) + 1):
            layer, part = self._layers[number - 1], self._slice.part(number)
            columns, errors = layer.constant.copy(), layer.constant_errors.copy()
            for source, weights, magnitudes in layer.blocks:
                below = self._slice.part(source)
                read = np.where(on[below], self.columns[:, below], 0.0)
                unsure = layer.rounding * np.abs(read) + _SLACK * np.where(
                    on[below], self.errors[:, below], 0.0
                )
                for c in range(len(columns)):  # for two or three columns faster than one product
                    columns[c] += weights @ read[c]
                    errors[c] += magnitudes @ unsure[c]
            self.columns[:, part], self.errors[:, part] = columns, errors
            self.margins[:, part] = errors + 2 * (self._slice.dimension + 4) * _UNIT * np.abs(
                columns
            )

    @np.errstate(all="ignore")
    def signs_at(self, q: Floats, carrier: int | None, coordinate: int) -> Signs | None:
        """The signs that are certain at q, or at q* on the line where the carrier vanishes; 2 where they are not.

        Returns
        -------
        None if the carrier may not depend on the coordinate c of q*.
        """
        point = np.append(q, 1.0)
        values = point @ self.columns
        bounds = np.abs(point) @ self.margins
        if carrier is not None:
            slopes, unsure = np.abs(self.columns[coordinate]), self.errors[coordinate]
            steepness = slopes[carrier] - unsure[carrier]
            if not steepness > 0:
                return None
            distance = (
                (abs(values[carrier]) + _SLACK * bounds[carrier] + _TINY)
                / steepness
                * (1 + 2.0**-10)
            )
            bounds += (slopes + unsure) * distance
        certain = (np.abs(values) > bounds * _SLACK + _TINY) & np.isfinite(values)
        return np.where(certain, np.sign(values), 2).astype(np.int8)


class _ByIdentity:
    """A network as a key, without looking at its weights; it keeps the network, so that no other one takes its id."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and self.network is other.network

    def __hash__(self) -> int:
        return id(self.network)


@lru_cache(maxsize=2)
def _weights_in_floats(key: _ByIdentity) -> list[_Blocks]:
    """The weights of the hidden layers on earlier hidden layers; many walks in one network share them."""
    found = []
    for layer in key.network.layers[: key.network.hidden_layers]:
        blocks = [
            (block.source, _dense(block.entries)) for block in layer.blocks if block.source > 0
        ]
        found.append(
            tuple((source, floats, _magnitudes(floats) + _TINY) for source, floats in blocks)
        )
    return found


def _dense(matrix: AnyMatrix) -> Floats:
    """All entries as floats, the zeros of a sparse matrix without a detour."""
    if not isinstance(matrix, SparseMatrix):
        return matrix.to_floats()
    floats = np.zeros(matrix.shape)
    floats[matrix.row_of_entries(), matrix.columns] = matrix.to_floats()
    return floats


def _magnitudes(floats: Floats) -> Floats:
    """Absolute values, infinite for numbers that were cut to the largest float."""
    sizes = np.abs(floats)
    return np.where(sizes >= _LARGEST, np.inf, sizes)
