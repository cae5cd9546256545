"""The affine forms that cut the cells: in floats with an error bound, and exactly on demand.

A form is a row [a | b] over (y, t). Group 0 holds the forms that are the same everywhere: infinity (t itself), then
the domain's constraints. Group ℓ holds the preactivations of the n neurons of layer ℓ on each of the R top cells that
the layers before have cut out (its *regions*), a table of shape (R, n, d + 1); layer 1 has one region. The last hidden
layer (from the second on) has the largest table and nothing above it that needs all of it, so its forms are computed
where something is cut, and its signs at vertices without them (`signs_at`). A form is known by its number, its row in
all tables joined.

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

A form is 0, and E = 0, where no neuron that it reads is on and its bias is 0, or where its weights and bias are all 0.
Where all weights and all forms so far are exact and multiples of 2^-q, q ≤ 1000, and Σ|w_ji| A_i + |b_j| < 2^(53-q),
nothing rounds: E = 0. So networks of small integers stay exact.

**Signs of the last layer at a vertex** (ŷ, radius r, see `vertices`): its form z_j is Σ_i w_ji a_i + b_j t, and the a_i
that are on have values â_i with known errors ε_i ≥ |a_i* - â_i|. As above, with the rounding of t (|t* - t̂| ≤ r),

    |z_j* - ẑ_j| ≤ Σ|w_ji| (2 (N + 4) u |â_i| + (1 + 2^-20) ε_i) + |b_j| (2 (N + 4) u |t̂| + (1 + 2^-20) r) + 2^-900,

|w_ji| and |b_j| counted as above. Products that underflow, in the values or in this bound, are off by 2^-1074 each, for
which 2^-900 pays. Signs that this leaves open are decided with the form, whose bound is finer.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.engine.arrays import Growable
from polyrelu.complex.frame import Frame
from polyrelu.exact import RationalMatrix
from polyrelu.network import Layer, Network
from polyrelu.support.typing import Floats, Indices

__all__ = ["INFINITY", "FormTable", "LastLayerQuery", "certain_sign", "largest_and_sum"]

#: The source (layer, index) of the form t, which vanishes at infinity.
INFINITY = (0, -1)

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
    is_dense : whether all R n forms have a row; else see `FormTable.add_forms`.
    """

    first: int
    width: int
    parents: Indices
    active: NDArray[np.bool_]
    is_dense: bool


@dataclass(frozen=True, slots=True)
class _FloatLayer:
    """A layer in floats.

    Attributes
    ----------
    blocks : (source, weights) for every block.
    magnitudes : |weights| as they are counted in bounds, of every block.
    bias : shape (n,).
    grid : the least q for which weights and bias are exact multiples of 2^-q, None if there is none.
    no_bias, no_form : neurons whose bias is 0; whose weights are 0 as well. Exactly.
    """

    blocks: list[tuple[int, Floats]]
    magnitudes: list[Floats]
    bias: Floats
    grid: int | None
    no_bias: NDArray[np.bool_]
    no_form: NDArray[np.bool_]

    def uncertainty(self, sizes: Floats, errors: Floats | float) -> Floats:
        """2 (N + 4) u (size) + (1 + 2^-20) (error): what a number read by this layer adds to its bounds."""
        products = sum(weights.shape[1] for _, weights in self.blocks)
        return np.asarray(2 * (products + 4) * _UNIT * sizes + (1 + 2.0**-20) * errors)


@dataclass(frozen=True, slots=True)
class _Read:
    """What R regions read from an earlier layer of width n.

    Attributes
    ----------
    rows : shape (R, n, d + 1), or (n, d + 1) if they are the same everywhere.
    sizes, norms, errors : their largest entries, 1-norms and E, shape (R, n) or (n,).
    active : which neurons are on, shape (R, n).
    """

    rows: Floats
    sizes: Floats
    norms: Floats
    errors: Floats
    active: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LastLayerQuery:
    """Vertices at which the last layer is asked for signs.

    Attributes
    ----------
    coordinates, radii : see `vertices`, shapes (m, d + 1) and (m,).
    spread, sums : a form F with error E is known there up to |F|₁ spread + E sums, shape (m,).
    regions : regions of the last layer that contain them, shape (m,).
    """

    coordinates: Floats
    radii: Floats
    spread: Floats
    sums: Floats
    regions: Indices


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
        self._known_sizes: dict[int, tuple[Floats, Floats]] = {}
        self._last: _FloatLayer | None = None  # the layer whose forms are added one by one
        self._last_pairs = Growable(
            np.zeros((0, 2), dtype=np.int64)
        )  # (region, neuron) of each of them

    def copy(self) -> FormTable:
        """A copy to which other layers can be added."""
        other = copy.copy(self)
        # Appending to a full buffer moves it, so the rows themselves need not be copied.
        other.rows, other.errors = Growable(self.rows.rows), Growable(self.errors.rows)
        other._last_pairs = Growable(self._last_pairs.rows)
        other._groups = list(self._groups)
        other._exact_layers, other._exact_rows, other._known_sizes = {}, {}, {}
        return other

    @property
    def layers(self) -> int:
        """The number of layers whose forms are known."""
        return len(self._groups)

    @property
    def nbytes(self) -> int:
        """The bytes of rows, errors and what is known of the forms of the last layer."""
        return int(
            self.rows.buffer.nbytes + self.errors.buffer.nbytes + self._last_pairs.buffer.nbytes
        )

    def is_dense(self, layer: int) -> bool:
        """Whether all forms of a layer have rows; if not, use `signs_at` and `add_forms`."""
        return self._groups[layer - 1].is_dense

    def regions(self, layer: int) -> int:
        """The number of regions of a layer."""
        return len(self._groups[layer - 1].parents)

    @property
    def width_before_last(self) -> int:
        """The number of inputs that the last layer reads, over all blocks."""
        return (
            0 if self._last is None else sum(weights.shape[1] for _, weights in self._last.blocks)
        )

    def first_number(self, layer: int) -> int:
        """The number of the form of neuron 0 on region 0 of a dense layer; the form of neuron j on region r comes j +
        r·width later."""
        return self._groups[layer - 1].first

    def layer_rows(self, layer: int) -> Floats:
        """The table of a dense layer, shape (R, n, d + 1); a view."""
        group = self._groups[layer - 1]
        count = len(group.parents) * group.width
        rows: Floats = self.rows.rows[group.first : group.first + count]
        return rows.reshape(len(group.parents), group.width, self._frame.dimension + 1)

    def layer_errors(self, layer: int) -> Floats:
        """The E of the forms of a dense layer, shape (R, n); a view."""
        group = self._groups[layer - 1]
        errors: Floats = self.errors.rows[
            group.first : group.first + len(group.parents) * group.width
        ]
        return errors.reshape(len(group.parents), group.width)

    def layer_norms(self, layer: int) -> Floats:
        """The 1-norms of the forms of a dense layer, shape (R, n)."""
        return self._sizes(layer)[1]

    # -- adding layers --------------------------------------------------------------------------------------------

    def add_first_layer(self) -> None:
        """Append the forms of layer 1, the same on the whole domain."""
        matrix = self._frame.first_layer
        rows, errors, self._grid = _rounded(matrix)
        everywhere = np.zeros(1, dtype=np.int64)
        self._groups.append(
            _Group(self.rows.size, matrix.nrows, everywhere, np.zeros((1, 0), dtype=bool), True)
        )
        self.rows.append(rows)
        self.errors.append(errors)

    def add_layer(self, parents: Indices, active: NDArray[np.bool_]) -> None:
        """Append the next layer on its R regions: its forms, unless it is the last one.

        Parameters
        ----------
        parents : for each region the region of the layer before that contains it, shape (R,).
        active : which neurons of the layer before are on there, shape (R, n of the layer before).
        """
        layer = _in_floats(self._network.layers[self.layers])
        width = len(layer.bias)
        is_last = self.layers + 1 == self._network.hidden_layers
        self._groups.append(_Group(self.rows.size, width, parents, active, not is_last))
        self._grid = self._next_grid(layer)
        if is_last:
            self._last = layer
            return
        rows = self.rows.extend(len(parents) * width).reshape(len(parents), width, -1)
        errors = self.errors.extend(len(parents) * width).reshape(len(parents), width)
        step = max(1, _BLOCK // max(width, 1))
        for start in range(0, len(parents), step):
            part = slice(start, min(start + step, len(parents)))
            self._fill(layer, np.arange(part.start, part.stop), rows[part], errors[part])

    def _next_grid(self, layer: _FloatLayer) -> int | None:
        """The q of the newest layer, if it is exact."""
        grids = [self._grid, *(self._inputs[2] for source, _ in layer.blocks if source == 0)]
        known = [grid for grid in grids if grid is not None]
        if layer.grid is None or len(known) < len(grids):
            return None
        grid = max(known) + layer.grid
        largest = float(np.abs(layer.bias).max(initial=0.0))
        for (source, _), magnitudes in zip(layer.blocks, layer.magnitudes, strict=True):
            sizes = largest_and_sum(self._inputs[0])[0] if source == 0 else self._sizes(source)[0]
            largest += float(sizes.max(initial=0.0)) * float(
                magnitudes.sum(axis=1).max(initial=0.0)
            )
        return grid if grid <= _GRID_LIMIT and largest < 2.0 ** (53 - grid) else None

    @np.errstate(all="ignore")
    def _fill(self, layer: _FloatLayer, regions: Indices, rows: Floats, errors: Floats) -> None:
        """Write the rows on some regions of the newest layer, shape (R, n, d + 1), and their E, shape (R, n)."""
        errors[:] = layer.uncertainty(_magnitudes(layer.bias), 0.0) + _TINY
        is_on = np.zeros(len(regions), dtype=bool)
        for number, (source, weights) in enumerate(layer.blocks):
            read = self._read(source, regions)
            is_on |= read.active.any(axis=1)
            activations = read.rows * read.active[:, :, None]
            products = np.tensordot(activations, weights, axes=(1, 1)).transpose(
                0, 2, 1
            )  # one for all regions
            rows[:] = products if number == 0 else rows + products
            errors += (layer.uncertainty(read.sizes, read.errors) * read.active) @ layer.magnitudes[
                number
            ].T
        rows[:, :, -1] += layer.bias
        if self._grid is not None:
            errors[:] = 0.0
        errors[:, layer.no_form] = 0.0
        errors[np.ix_(~is_on, layer.no_bias)] = 0.0

    # -- the last layer -------------------------------------------------------------------------------------------

    @np.errstate(all="ignore")
    def add_forms(self, regions: Indices, neurons: Indices) -> Indices:
        """Append the forms of neurons of the last layer on its regions, pair by pair; their numbers."""
        layer, first, count = self._last, self.rows.size, len(regions)
        assert layer is not None
        rows, errors = self.rows.append_empty(count), self.errors.append_empty(count)
        step = max(1, _BLOCK // max(weights.shape[1] for _, weights in layer.blocks))
        for start in range(0, count, step):
            part = slice(start, start + step)
            self._fill_pairs(layer, regions[part], neurons[part], rows[part], errors[part])
        self._last_pairs.append(np.stack([regions, neurons], axis=1))
        return np.arange(first, first + count)

    def _fill_pairs(
        self, layer: _FloatLayer, regions: Indices, neurons: Indices, rows: Floats, errors: Floats
    ) -> None:
        rows[:] = 0.0
        errors[:] = layer.uncertainty(_magnitudes(layer.bias[neurons]), 0.0) + _TINY
        is_on = np.zeros(len(regions), dtype=bool)
        for (source, weights), magnitudes in zip(layer.blocks, layer.magnitudes, strict=True):
            read = self._read(source, regions)
            is_on |= read.active.any(axis=1)
            rows += np.matmul((weights[neurons] * read.active)[:, None, :], read.rows)[:, 0]
            errors += (
                layer.uncertainty(read.sizes, read.errors) * read.active * magnitudes[neurons]
            ).sum(axis=1)
        rows[:, -1] += layer.bias[neurons]
        if self._grid is not None:
            errors[:] = 0.0
        errors[layer.no_form[neurons] | (layer.no_bias[neurons] & ~is_on)] = 0.0

    @np.errstate(all="ignore")
    def signs_at(self, at: LastLayerQuery) -> NDArray[np.int8]:
        """Signs of the last layer at vertices, shape (m, n), 2 where floats do not decide."""
        layer = self._last
        assert layer is not None
        t, bias = at.coordinates[:, -1:], _magnitudes(layer.bias) + _TINY
        values = t * layer.bias
        bounds = layer.uncertainty(np.abs(t), at.radii[:, None]) * bias + 2.0**-900
        for (source, weights), magnitudes in zip(layer.blocks, layer.magnitudes, strict=True):
            activations, errors = self._values_at(source, at)
            values += activations @ weights.T
            bounds += layer.uncertainty(np.abs(activations), errors) @ magnitudes.T
        return certain_sign(values, bounds)

    def _values_at(self, source: int, at: LastLayerQuery) -> tuple[Floats, Floats]:
        """The values at vertices of the neurons of a layer that are on in given regions, and their errors."""
        read = self._read(source, at.regions)
        rows = read.rows
        product = (
            at.coordinates @ rows.T
            if rows.ndim == 2
            else np.matmul(rows, at.coordinates[:, :, None])[:, :, 0]
        )
        bounds = read.norms * at.spread[:, None] + read.errors * at.sums[:, None]
        return product * read.active, bounds * read.active

    # -- reading earlier layers -----------------------------------------------------------------------------------

    def _read(self, source: int, regions: Indices) -> _Read:
        """What regions of the newest layer read from a layer, or from the input (source 0)."""
        if source == 0:
            rows, errors, _ = self._inputs
            return _Read(
                rows, *largest_and_sum(rows), errors, np.ones((len(regions), len(rows)), dtype=bool)
            )
        ancestors, active = self._ancestors(source, regions)
        rows, errors, (sizes, norms) = (
            self.layer_rows(source),
            self.layer_errors(source),
            self._sizes(source),
        )
        if len(rows) == 1:
            return _Read(rows[0], sizes[0], norms[0], errors[0], active)
        return _Read(rows[ancestors], sizes[ancestors], norms[ancestors], errors[ancestors], active)

    def _sizes(self, layer: int) -> tuple[Floats, Floats]:
        """The largest entry and the 1-norm of each form of a layer, shape (R, n)."""
        if layer not in self._known_sizes:
            self._known_sizes[layer] = largest_and_sum(self.layer_rows(layer))
        return self._known_sizes[layer]

    def _ancestors(self, source: int, regions: Indices) -> tuple[Indices, NDArray[np.bool_]]:
        """The regions of layer `source` around regions of the newest layer, and its active neurons there."""
        regions, group = self.ancestors(source + 1, regions), self._groups[source]
        return group.parents[regions], group.active[regions]

    def ancestors(self, layer: int, regions: Indices) -> Indices:
        """The regions of a layer around regions of the newest layer."""
        for group in self._groups[: layer - 1 : -1]:
            regions = group.parents[regions]
        return regions

    def source(self, number: int) -> tuple[int, int]:
        """(layer, neuron) of a form; (0, i) for constraint i of the domain, (0, -1) for infinity."""
        if number < self._global.nrows:
            return 0, number - 1
        layer, _, neuron = self._located(number)
        return layer, neuron

    def _located(self, number: int) -> tuple[int, int, int]:
        """Layer, region and neuron of a form that is not global."""
        layer = next(k for k in range(self.layers, 0, -1) if self._groups[k - 1].first <= number)
        group = self._groups[layer - 1]
        if not group.is_dense:
            region, neuron = self._last_pairs.buffer[number - group.first]
            return layer, int(region), int(neuron)
        return layer, *divmod(number - group.first, group.width)

    # -- exact rows -----------------------------------------------------------------------------------------------

    def exact_row(self, number: int) -> list[int]:
        """A positive multiple of a form, in integers."""
        if number not in self._exact_rows:
            self._exact_rows[number] = self._exact_row(number)
        return self._exact_rows[number]

    def _exact_row(self, number: int) -> list[int]:
        if number < self._global.nrows:
            return self._global.take(rows=[number]).primitive_rows()[0]
        layer, region, neuron = self._located(number)
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


def certain_sign(values: Floats, bounds: Floats) -> NDArray[np.int8]:
    """The signs of values that are off by at most the bounds, 2 where that leaves them open."""
    certain = (np.abs(values) > bounds) & np.isfinite(
        values
    )  # where a product has overflowed, even the sign is wrong
    return np.where(certain, np.sign(values), 2).astype(np.int8)


def _bias_form(layer: Layer, dimension: int) -> RationalMatrix:
    return RationalMatrix.zeros(layer.width, dimension).beside(layer.bias)


def _rounded(matrix: RationalMatrix) -> tuple[Floats, Floats, int | None]:
    """The nearest floats, the E of each row, and the grid if nothing was rounded."""
    floats = matrix.to_floats()
    grid = _grid(matrix)
    if grid is not None:
        return floats, np.zeros(matrix.nrows), grid
    return floats, _magnitudes(floats).max(axis=1, initial=0.0) * _UNIT + _TINY, None


@np.errstate(over="ignore")
def largest_and_sum(rows: Floats) -> tuple[Floats, Floats]:
    """max |F| and |F|₁ over the last, short axis; column by column that is much faster."""
    columns, zero = np.abs(np.moveaxis(rows, -1, 0)), np.zeros(rows.shape[:-1])
    return np.asarray(reduce(np.maximum, columns, zero)), np.asarray(reduce(np.add, columns, zero))


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
    blocks = [(block.source, block.weight.to_floats()) for block in layer.blocks]
    no_bias = layer.bias.signs()[:, 0] == 0
    no_weights = np.all([(block.weight.signs() == 0).all(axis=1) for block in layer.blocks], axis=0)
    return _FloatLayer(
        blocks,
        [_magnitudes(weights) + _TINY for _, weights in blocks],
        layer.bias.to_floats()[:, 0],
        max(known) if len(known) == len(grids) else None,
        no_bias,
        no_bias & no_weights,
    )
