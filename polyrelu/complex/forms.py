"""The affine forms that cut the cells: in floats with an error bound, and exactly on demand.

A form is a row [a | b] over (y, t). Group 0 holds the forms that are the same everywhere: infinity (t itself), then
the domain's constraints. Group ℓ holds the preactivations of the n neurons of layer ℓ on each of the R top cells that
the layers before have cut out (its *regions*), a table of shape (R, n, d + 1); layer 1 has one region. A form is known
by its number, its row in all tables joined.

**Error bound.** For every float row F there is an E with |F* - F| ≤ E in every entry, F* the exact row; u = 2^-53.
Groups 0 and 1 are rounded from exact numbers: E = u max|F| + 2^-1000, or 0 if nothing was rounded. On a region of a
later layer z_j = Σ_i w_ji a_i + b_j t, the a_i being forms of earlier layers, only those that are on. Let A_i ≥ |a_i|
in every entry, and N the number of products in a sum. Products and sums round by at most (N + 1) u (Σ|w_ji| A_i +
|b_j|), rounding w and b adds u times the same, the errors of the a_i add Σ|w_ji| E_i. Doubling the first two pays for
terms of second order and for the rounding of the bound itself, as long as N < 2^40:

    E_j = Σ|w_ji| (2 (N + 4) u A_i + (1 + 2^-20) E_i) + 2 (N + 4) u |b_j| + 2^-1000.

Only active neurons count, each with its own error: with norms instead, 20 layers need thousands of exact decisions.
Beyond the range of floats: |w_ji| is counted as 2^-1000 more than it is, which pays for what rounds to 0 or to a
subnormal number, and as infinite where it was cut to the largest float. Where E is not finite, all is decided exactly.

Where all weights and all forms so far are exact and multiples of 2^-q, q ≤ 1000, and Σ|w_ji| A_i + |b_j| < 2^(53-q),
nothing rounds: E = 0. So networks of small integers stay exact, and their many exact zeros are seen in floats.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.arrays import Growable
from polyrelu.complex.frame import Frame
from polyrelu.exact import RationalMatrix
from polyrelu.network import Layer, Network

__all__ = ["FormTable"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_UNIT = 2.0**-53
_TINY = 2.0**-1000
_GRID_LIMIT = 1000
_LARGEST = float(np.finfo(np.float64).max)
#: Forms computed at a time.
_BLOCK = 1 << 14


@dataclass(frozen=True, slots=True)
class _Group:
    """The forms of one layer.

    Attributes
    ----------
    first : number of the first form.
    width : n.
    parents : for each region the region of the layer before that contains it, shape (R,).
    active : which neurons of the layer before are on there, shape (R, n of the layer before).
    """

    first: int
    width: int
    parents: Indices
    active: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _FloatLayer:
    """A layer in floats: (source, weights) for every block, and the bias.

    `grid` is the least q for which weights and bias are exact multiples of 2^-q, None if there is none.
    """

    blocks: list[tuple[int, Floats]]
    bias: Floats
    grid: int | None


class FormTable:
    """All forms met so far.

    Attributes
    ----------
    rows, errors : float rows, shape (number of forms, d + 1), and the E of each.
    """

    def __init__(self, network: Network, frame: Frame) -> None:
        self._network, self._frame = network, frame
        infinity = RationalMatrix.from_integers([[0] * frame.dimension + [1]])
        self._global = infinity.over(frame.constraints)
        rows, errors, _ = _rounded(self._global)
        self.rows, self.errors = Growable(rows), Growable(errors)
        self._groups: list[_Group] = []
        self._inputs = _rounded(frame.embedding.take(rows=range(network.inputs)))
        self._grid: int | None = None  # q of all layers so far, None if something was rounded
        self._exact_layers: dict[tuple[int, int], RationalMatrix] = {}
        self._exact_rows: dict[int, list[int]] = {}
        self._known_sizes: dict[int, Floats] = {}

    def copy(self) -> FormTable:
        """A copy to which other layers can be added."""
        other = copy.copy(self)
        # Appending to a full buffer moves it, so the rows themselves need not be copied.
        other.rows, other.errors = Growable(self.rows.rows), Growable(self.errors.rows)
        other._groups = list(self._groups)
        other._exact_layers, other._exact_rows, other._known_sizes = {}, {}, {}
        return other

    @property
    def layers(self) -> int:
        """The number of layers whose forms are known."""
        return len(self._groups)

    def number(self, layer: int, regions: Indices, neuron: int) -> Indices:
        """The numbers of the forms of a neuron of a layer (from 1) on regions of that layer."""
        group = self._groups[layer - 1]
        return group.first + regions * group.width + neuron

    def layer_rows(self, layer: int) -> Floats:
        """The table of a layer, shape (R, n, d + 1); a view."""
        group = self._groups[layer - 1]
        count = len(group.parents) * group.width
        rows: Floats = self.rows.rows[group.first : group.first + count]
        return rows.reshape(len(group.parents), group.width, self._frame.dimension + 1)

    def layer_errors(self, layer: int) -> Floats:
        """The E of the forms of a layer, shape (R, n); a view."""
        group = self._groups[layer - 1]
        errors: Floats = self.errors.rows[group.first : group.first + len(group.parents) * group.width]
        return errors.reshape(len(group.parents), group.width)

    # -- adding layers --------------------------------------------------------------------------------------------

    def add_first_layer(self) -> None:
        """Append the forms of layer 1, the same on the whole domain."""
        matrix = self._frame.first_layer
        rows, errors, self._grid = _rounded(matrix)
        everywhere = np.zeros(1, dtype=np.int64)
        self._groups.append(_Group(self.rows.size, matrix.nrows, everywhere, np.zeros((1, 0), dtype=bool)))
        self.rows.append(rows)
        self.errors.append(errors)

    def add_layer(self, parents: Indices, active: NDArray[np.bool_]) -> None:
        """Append the forms of the next layer on its R regions.

        Parameters
        ----------
        parents : for each region the region of the layer before that contains it, shape (R,).
        active : which neurons of the layer before are on there, shape (R, n of the layer before).
        """
        layer = _in_floats(self._network.layers[self.layers])
        width = len(layer.bias)
        self._groups.append(_Group(self.rows.size, width, parents, active))
        grid = self._next_grid(layer)
        rows = self.rows.extend(len(parents) * width).reshape(len(parents), width, -1)
        errors = self.errors.extend(len(parents) * width).reshape(len(parents), width)
        largest = 0.0
        step = max(1, _BLOCK // max(width, 1))
        for start in range(0, len(parents), step):
            part = slice(start, min(start + step, len(parents)))
            largest = max(largest, self._fill(layer, np.arange(part.start, part.stop), rows[part], errors[part]))
        if grid is not None and largest < 2.0 ** (53 - grid):
            errors[:] = 0.0
            self._grid = grid
        else:
            self._grid = None

    def _next_grid(self, layer: _FloatLayer) -> int | None:
        """The q of the next layer, if its sums are small enough."""
        grids = [self._grid, *(self._inputs[2] for source, _ in layer.blocks if source == 0)]
        known = [grid for grid in grids if grid is not None]
        if layer.grid is None or len(known) < len(grids):
            return None
        grid = max(known) + layer.grid
        return grid if grid <= _GRID_LIMIT else None

    @np.errstate(all="ignore")
    def _fill(self, layer: _FloatLayer, regions: Indices, rows: Floats, errors: Floats) -> float:
        """Write the rows on some regions of the newest layer, shape (R, n, d + 1), and their E, shape (R, n).

        Returns
        -------
        A bound of all sums.
        """
        step = 2 * (sum(weights.shape[1] for _, weights in layer.blocks) + 4) * _UNIT
        errors[:] = step * _magnitudes(layer.bias) + _TINY
        largest = float(np.abs(layer.bias).max(initial=0.0))
        for number, (source, weights) in enumerate(layer.blocks):
            activations, sizes, old = self._activations(source, regions)
            products = np.tensordot(activations, weights, axes=(1, 1)).transpose(0, 2, 1)  # one for all regions
            rows[:] = products if number == 0 else rows + products
            magnitudes = _magnitudes(weights) + _TINY
            errors += (step * sizes + (1 + 2.0**-20) * old) @ magnitudes.T
            largest += float(sizes.max(initial=0.0)) * float(magnitudes.sum(axis=1).max(initial=0.0))
        rows[:, :, -1] += layer.bias
        return largest

    def _activations(self, source: int, regions: Indices) -> tuple[Floats, Floats, Floats]:
        """Activations of an earlier layer, or the input (source 0), on regions of the newest layer; A and E of each."""
        if source == 0:
            rows, errors, _ = self._inputs
            count = len(regions)
            sizes = _largest_entries(rows)
            return np.broadcast_to(rows, (count, *rows.shape)), np.tile(sizes, (count, 1)), np.tile(errors, (count, 1))
        ancestors, active = self._ancestors(source, regions)
        sizes = self._sizes(source)[ancestors] * active
        return (
            self.layer_rows(source)[ancestors] * active[:, :, None],
            sizes,
            self.layer_errors(source)[ancestors] * active,
        )

    def _sizes(self, layer: int) -> Floats:
        """The largest entry of each form of a layer, shape (R, n)."""
        if layer not in self._known_sizes:
            self._known_sizes[layer] = _largest_entries(self.layer_rows(layer))
        return self._known_sizes[layer]

    def _ancestors(self, source: int, regions: Indices) -> tuple[Indices, NDArray[np.bool_]]:
        """The regions of layer `source` around regions of the newest layer, and its active neurons there."""
        for group in self._groups[:source:-1]:
            regions = group.parents[regions]
        group = self._groups[source]
        return group.parents[regions], group.active[regions]

    def source(self, number: int) -> tuple[int, int]:
        """(layer, neuron) of a form; (0, i) for constraint i of the domain, (0, -1) for infinity."""
        if number < self._global.nrows:
            return 0, number - 1
        layer = next(k for k in range(self.layers, 0, -1) if self._groups[k - 1].first <= number)
        group = self._groups[layer - 1]
        return layer, (number - group.first) % group.width

    # -- exact rows -----------------------------------------------------------------------------------------------

    def exact_row(self, number: int) -> list[int]:
        """A positive multiple of a form, in integers."""
        if number not in self._exact_rows:
            self._exact_rows[number] = self._exact_row(number)
        return self._exact_rows[number]

    def _exact_row(self, number: int) -> list[int]:
        if number < self._global.nrows:
            return self._global.take(rows=[number]).primitive_rows()[0]
        layer = next(k for k in range(self.layers, 0, -1) if self._groups[k - 1].first <= number)
        group = self._groups[layer - 1]
        region, neuron = divmod(number - group.first, group.width)
        return self._exact_layer(layer, region).take(rows=[neuron]).primitive_rows()[0]

    def _exact_layer(self, layer: int, region: int) -> RationalMatrix:
        """All forms of a layer on one of its regions, shape (n, d + 1)."""
        key = layer, region
        if key not in self._exact_layers:
            self._exact_layers[key] = self._computed_layer(layer, region)
        return self._exact_layers[key]

    def _computed_layer(self, layer: int, region: int) -> RationalMatrix:
        if layer == 1:
            return self._frame.first_layer
        weights = self._network.layers[layer - 1]
        chain = {layer: region}  # the region of each layer around this one
        for k in range(layer - 1, 0, -1):
            chain[k] = int(self._groups[k].parents[chain[k + 1]])
        total = _bias_form(weights, self._frame.dimension)
        for block in weights.blocks:
            if block.source == 0:
                total += block.weight @ self._frame.embedding.take(rows=range(self._network.inputs))
                continue
            on = np.flatnonzero(self._groups[block.source].active[chain[block.source + 1]]).tolist()
            if on:
                forms = self._exact_layer(block.source, chain[block.source]).take(rows=on)
                total += block.weight.take(columns=on) @ forms
        return total


def _bias_form(layer: Layer, dimension: int) -> RationalMatrix:
    return RationalMatrix.zeros(layer.width, dimension).beside(layer.bias)


def _rounded(matrix: RationalMatrix) -> tuple[Floats, Floats, int | None]:
    """The nearest floats, the E of each row, and the grid if nothing was rounded."""
    floats = matrix.to_floats()
    grid = _grid(matrix)
    if grid is not None:
        return floats, np.zeros(matrix.nrows), grid
    return floats, _magnitudes(floats).max(axis=1, initial=0.0) * _UNIT + _TINY, None


def _largest_entries(rows: Floats) -> Floats:
    """max |F| over the last, short axis; column by column that is much faster."""
    return np.asarray(reduce(np.maximum, np.moveaxis(np.abs(rows), -1, 0)))


def _magnitudes(floats: Floats) -> Floats:
    """Absolute values, infinite for numbers that were cut to the largest float."""
    sizes = np.abs(floats)
    return np.where(sizes >= _LARGEST, np.inf, sizes)


def _grid(matrix: RationalMatrix) -> int | None:
    """The least q ≥ 0 such that all entries are multiples of 2^-q, if they then fit into 53 bits; else None."""
    denominator = matrix.denominator
    if denominator & (denominator - 1) or denominator.bit_length() > 500 or matrix.bits > 53:
        return None
    return denominator.bit_length() - 1


def _in_floats(layer: Layer) -> _FloatLayer:
    grids = [_grid(matrix) for matrix in (layer.bias, *(block.weight for block in layer.blocks))]
    known = [grid for grid in grids if grid is not None]
    return _FloatLayer(
        [(block.source, block.weight.to_floats()) for block in layer.blocks],
        layer.bias.to_floats()[:, 0],
        max(known) if len(known) == len(grids) else None,
    )
