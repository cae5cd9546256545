"""The affine forms that cut the cells: in floats with error bounds, and exactly on demand.

`FormTable` computes the preactivations of all neurons on all regions as rows [a | b] over (y, t),
the linear forms a·y + b t. The subdivision reads their float rows and errors, and exact rows where
floats leave a sign open. A change of the arithmetic here must keep the error bounds valid;
they are derived in docs/theory/float_signs.md, sections 1 to 3.

**Groups.** Group 0 holds the forms that are the same everywhere: infinity (the form t), then the
constraints of the domain. Group ℓ ≥ 1 holds the preactivations of the n neurons of layer ℓ on each
of the R top cells that the layers before have cut out, which are called its *regions*; they form a
table of shape (R, n, d + 1), and layer 1 has one region. The last hidden layer (if it is not the
first) has the largest table, and no later layer reads all of it. So its forms are computed only
where something is cut, and its signs at vertices without them (`signs_at`). A form is named by its
number, which is its row in all tables joined.

**Errors.** For every float row F the table knows a number E with |F* - F| ≤ E in every entry, where
F* is the exact row. E is 0 where nothing was rounded, as in networks of small integers.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.engine.arrays import Growable
from polyrelu.complex.frame import Frame
from polyrelu.exact import UNDECIDED, RationalMatrix
from polyrelu.network import Layer, Network
from polyrelu.support.typing import Floats, Indices

if TYPE_CHECKING:
    from polyrelu._core.compiled import LastLayerArrays, SourceArrays

__all__ = ["INFINITY", "FormTable", "LastLayerQuery", "largest_and_sum", "signs_of_values"]

#: The source (layer, index) of the form t, which vanishes at infinity.
INFINITY = (0, -1)

#: The unit roundoff u of floats.
_UNIT = 2.0**-53
#: Term of error bounds for numbers that round to 0 or to subnormal numbers
#: (docs/theory/float_signs.md, section 1).
_TINY = 2.0**-1000
#: The same for the signs of the last layer (section 3).
_LAST_LAYER_TINY = 2.0**-900
#: Factor of error bounds for terms of second order (section 1).
_SLACK = 1 + 2.0**-20
#: Largest q for which forms that are multiples of 2^-q are recognised as exact.
_LARGEST_GRID = 1000
_LARGEST_FLOAT = float(np.finfo(np.float64).max)
#: Number of forms that are computed at a time.
_FORMS_PER_BLOCK = 1 << 14


@dataclass(frozen=True, slots=True)
class _Group:
    """The forms of one layer on its R regions.

    Attributes
    ----------
    first
        The number of the first form.
    width
        The number n of neurons of the layer.
    parents
        For each region the region of the layer before that contains it, shape (R,).
    active
        Whether each neuron of the layer before is active there, shape (R, n of the layer before).
    is_dense
        Whether all R n forms have a row; otherwise `FormTable.add_forms` adds rows one by one.
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
    blocks
        The source layer and the weights of every block.
    magnitudes
        The absolute values of the weights of every block, as error bounds count them.
    bias
        The biases, shape (n,).
    grid
        The least q for which weights and biases are exact multiples of 2^-q, None if there is none.
    no_bias
        Whether the exact bias of each neuron is 0.
    no_form
        Whether the exact weights of each neuron are 0 too.
    """

    blocks: list[tuple[int, Floats]]
    magnitudes: list[Floats]
    bias: Floats
    grid: int | None
    no_bias: NDArray[np.bool_]
    no_form: NDArray[np.bool_]

    def uncertainty(self, sizes: Floats, errors: Floats | float) -> Floats:
        """Return what a number adds to the error bounds of the layer, per unit of the weight.

        The value is 2 (N + 4) u (size) + (1 + 2^-20) (error), for N products in a sum.
        """
        products = sum(weights.shape[1] for _, weights in self.blocks)
        return np.asarray(2 * (products + 4) * _UNIT * sizes + _SLACK * errors)


@dataclass(frozen=True, slots=True)
class _SourceForms:
    """The forms that R regions read from an earlier layer of width n.

    Attributes
    ----------
    rows
        The float rows, shape (R, n, d + 1), or (n, d + 1) if they are the same everywhere.
    sizes
        The largest entries of the rows, shape (R, n) or (n,).
    norms
        The 1-norms of the rows, shape (R, n) or (n,).
    errors
        The errors E of the rows, shape (R, n) or (n,).
    active
        Whether each neuron is active, shape (R, n).
    """

    rows: Floats
    sizes: Floats
    norms: Floats
    errors: Floats
    active: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LastLayerQuery:
    """Vertices at which the signs of the last layer are wanted.

    Attributes
    ----------
    coordinates
        Float coordinates (y, t), shape (m, d + 1).
    radii
        The radii of the vertices, see `Vertices`; shape (m,).
    spread
        The factor of |F|₁ in the error bound |F|₁ spread + E sums of a form's value, shape (m,).
    sums
        The factor of E in this bound, shape (m,).
    regions
        Regions of the last layer whose closures contain the vertices, shape (m,).
    """

    coordinates: Floats
    radii: Floats
    spread: Floats
    sums: Floats
    regions: Indices


class FormTable:
    """All forms that have been computed so far."""

    def __init__(self, network: Network, frame: Frame) -> None:
        self._network, self._frame = network, frame
        infinity = RationalMatrix.from_integers([[0] * frame.dimension + [1]])
        self._global = infinity.over(frame.constraints)
        rows, errors, _ = _rounded(self._global)
        self._rows, self._errors = Growable(rows), Growable(errors)
        #: rows and errors of the last layer that the compiled core has handed over
        self._handed_over: list[tuple[Floats, Floats]] = []
        self._groups: list[_Group] = []
        self._known_inputs: tuple[Floats, Floats, int | None] | None = None
        #: the q of all layers so far, None if something was rounded
        self._grid: int | None = None
        self._exact_layers: dict[tuple[int, int], RationalMatrix] = {}
        self._exact_rows: dict[int, list[int]] = {}
        self._known_sizes: dict[int, tuple[Floats, Floats]] = {}
        #: the last hidden layer, whose forms are added one by one
        self._last: _FloatLayer | None = None
        #: the region and the neuron of each form of the last hidden layer
        self._last_pairs = Growable(np.zeros((0, 2), dtype=np.int64))

    def copy(self) -> FormTable:
        """Return a copy to which other layers can be added."""
        other = copy.copy(self)
        # Appending to a full buffer moves it, so the rows themselves need not be copied.
        other._rows, other._errors = Growable(self.rows.rows), Growable(self.errors.rows)
        other._last_pairs = Growable(self._last_pairs.rows)
        other._handed_over = []
        other._groups = list(self._groups)
        other._exact_layers, other._exact_rows, other._known_sizes = {}, {}, {}
        return other

    @property
    def rows(self) -> Growable:
        """The float rows, shape (number of forms, d + 1)."""
        self._take_over()
        return self._rows

    @property
    def errors(self) -> Growable:
        """The error E of each row, shape (number of forms,)."""
        self._take_over()
        return self._errors

    def _take_over(self) -> None:
        """Append what the compiled core has handed over."""
        for rows, errors in self._handed_over:
            self._rows.append(rows)
            self._errors.append(errors)
        self._handed_over = []

    @property
    def _inputs(self) -> tuple[Floats, Floats, int | None]:
        """The rows, errors and q of the coordinates of the input."""
        if self._known_inputs is None:
            rows = range(self._network.num_inputs)
            self._known_inputs = _rounded(self._frame.embedding.take(rows=rows))
        return self._known_inputs

    @property
    def num_layers(self) -> int:
        """The number of layers whose forms are known."""
        return len(self._groups)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the rows, the errors and the list of forms of the last layer."""
        return int(
            self._rows.buffer.nbytes
            + self._errors.buffer.nbytes
            + self._last_pairs.buffer.nbytes
            + sum(rows.nbytes + errors.nbytes for rows, errors in self._handed_over)
        )

    def is_dense(self, layer: int) -> bool:
        """Return whether all forms of a layer have rows; if not, use `signs_at`, `add_forms`."""
        return self._groups[layer - 1].is_dense

    def regions(self, layer: int) -> int:
        """Return the number of regions of a layer."""
        return len(self._groups[layer - 1].parents)

    @property
    def width_before_last(self) -> int:
        """The number of inputs that the last layer reads, over all blocks."""
        return (
            0 if self._last is None else sum(weights.shape[1] for _, weights in self._last.blocks)
        )

    def first_number(self, layer: int) -> int:
        """Return the number of the form of neuron 0 on region 0 of a dense layer.

        The number of the form of neuron j on region r is larger by r·width + j.
        """
        return self._groups[layer - 1].first

    def layer_rows(self, layer: int) -> Floats:
        """Return the table of a dense layer, shape (R, n, d + 1); a view."""
        group = self._groups[layer - 1]
        count = len(group.parents) * group.width
        rows: Floats = self.rows.rows[group.first : group.first + count]
        return rows.reshape(len(group.parents), group.width, self._frame.dimension + 1)

    def layer_errors(self, layer: int) -> Floats:
        """Return the errors E of the forms of a dense layer, shape (R, n); a view."""
        group = self._groups[layer - 1]
        errors: Floats = self.errors.rows[
            group.first : group.first + len(group.parents) * group.width
        ]
        return errors.reshape(len(group.parents), group.width)

    def layer_norms(self, layer: int) -> Floats:
        """Return the 1-norms of the forms of a dense layer, shape (R, n)."""
        return self._sizes(layer)[1]

    # -- adding layers -----------------------------------------------------------------------------

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
        """Append the next layer on its R regions, with its forms unless it is the last one.

        Parameters
        ----------
        parents
            For each region the region of the layer before that contains it, shape (R,).
        active
            Whether each neuron of the layer before is active there, shape (R, n of that layer).
        """
        layer = _in_floats(self._network.layers[self.num_layers])
        width = len(layer.bias)
        is_last = self.num_layers + 1 == self._network.num_hidden_layers
        self._groups.append(_Group(self.rows.size, width, parents, active, not is_last))
        self._grid = self._next_grid(layer)
        if is_last:
            self._last = layer
            return
        rows = self.rows.extend(len(parents) * width).reshape(len(parents), width, -1)
        errors = self.errors.extend(len(parents) * width).reshape(len(parents), width)
        step = max(1, _FORMS_PER_BLOCK // max(width, 1))
        for start in range(0, len(parents), step):
            part = slice(start, min(start + step, len(parents)))
            self._fill(layer, np.arange(part.start, part.stop), rows[part], errors[part])

    def _next_grid(self, layer: _FloatLayer) -> int | None:
        """Return the q of the newest layer if it is exact, None otherwise."""
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
        return grid if grid <= _LARGEST_GRID and largest < 2.0 ** (53 - grid) else None

    @np.errstate(all="ignore")
    def _fill(self, layer: _FloatLayer, regions: Indices, rows: Floats, errors: Floats) -> None:
        """Write rows, shape (R, n, d + 1), and errors, shape (R, n), of the newest layer."""
        is_exact = self._grid is not None
        errors[:] = 0.0 if is_exact else layer.uncertainty(_magnitudes(layer.bias), 0.0) + _TINY
        is_on = np.zeros(len(regions), dtype=bool)
        for number, (source, weights) in enumerate(layer.blocks):
            read = self._source_forms(source, regions)
            is_on |= read.active.any(axis=1)
            activations = read.rows * read.active[:, :, None]
            # One matrix product for all regions.
            products = np.tensordot(activations, weights, axes=(1, 1)).transpose(0, 2, 1)
            rows[:] = products if number == 0 else rows + products
            if not is_exact:
                uncertain = layer.uncertainty(read.sizes, read.errors) * read.active
                errors += uncertain @ layer.magnitudes[number].T
        rows[:, :, -1] += layer.bias
        errors[:, layer.no_form] = 0.0
        errors[np.ix_(~is_on, layer.no_bias)] = 0.0

    # -- the last layer ----------------------------------------------------------------------------

    @np.errstate(all="ignore")
    def add_forms(self, regions: Indices, neurons: Indices) -> Indices:
        """Append forms of the last layer for pairs (region, neuron); return their numbers."""
        layer, first, count = self._last, self.rows.size, len(regions)
        assert layer is not None
        rows, errors = self.rows.append_empty(count), self.errors.append_empty(count)
        step = max(1, _FORMS_PER_BLOCK // max(weights.shape[1] for _, weights in layer.blocks))
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
            read = self._source_forms(source, regions)
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
        """Return the signs of the last layer at vertices, `UNDECIDED` where floats do not decide.

        The shape is (m, n).
        """
        layer = self._last
        assert layer is not None
        t, bias = at.coordinates[:, -1:], _magnitudes(layer.bias) + _TINY
        values = t * layer.bias
        bounds = layer.uncertainty(np.abs(t), at.radii[:, None]) * bias + _LAST_LAYER_TINY
        for (source, weights), magnitudes in zip(layer.blocks, layer.magnitudes, strict=True):
            activations, errors = self._values_at(source, at)
            values += activations @ weights.T
            bounds += layer.uncertainty(np.abs(activations), errors) @ magnitudes.T
        return signs_of_values(values, bounds)

    def _values_at(self, source: int, at: LastLayerQuery) -> tuple[Floats, Floats]:
        """Compute the activations of a layer at vertices, and their error bounds."""
        read = self._source_forms(source, at.regions)
        rows = read.rows
        product = (
            at.coordinates @ rows.T
            if rows.ndim == 2
            else np.matmul(rows, at.coordinates[:, :, None])[:, :, 0]
        )
        bounds = read.norms * at.spread[:, None] + read.errors * at.sums[:, None]
        return product * read.active, bounds * read.active

    # -- the last layer in the compiled core -------------------------------------------------------

    @property
    def num_last_forms(self) -> int:
        """The number of forms of the last layer."""
        return self._last_pairs.size

    def append_last_forms(self, rows: Floats, errors: Floats, pairs: Indices) -> None:
        """Append forms of the last layer that the core has made for pairs (region, neuron)."""
        if not len(pairs):
            return
        self._handed_over.append((rows, errors))
        if self._last_pairs.size:
            self._last_pairs.append(pairs)
        else:
            self._last_pairs = Growable(pairs)

    @np.errstate(all="ignore")
    def last_layer_arrays(self) -> LastLayerArrays:
        """Return what the core needs in order to make forms and decide signs of the last layer."""
        layer = self._last
        assert layer is not None
        magnitudes = _magnitudes(layer.bias)
        return {
            "bias": layer.bias,
            "bias_magnitudes": magnitudes + _TINY,
            "least_errors": layer.uncertainty(magnitudes, 0.0) + _TINY,
            "no_bias": layer.no_bias.view(np.uint8),
            "no_form": layer.no_form.view(np.uint8),
            "is_exact": self._grid is not None,
            "sources": [
                self._source_arrays(layer, *block)
                for block in zip(layer.blocks, layer.magnitudes, strict=True)
            ],
        }

    def _source_arrays(
        self, layer: _FloatLayer, block: tuple[int, Floats], magnitudes: Floats
    ) -> SourceArrays:
        """Return what the last layer reads from one source: tables, and their rows by region."""
        source, weights = block
        regions = np.arange(self.regions(self.num_layers))
        if source == 0:
            rows, errors, _ = self._inputs
            sizes, norms = largest_and_sum(rows)
            own = active_rows = np.zeros_like(regions)
            active = np.ones((1, len(rows)), dtype=bool)
        else:
            rows, errors = self.layer_rows(source), self.layer_errors(source)
            sizes, norms = self._sizes(source)
            group, active_rows = self._groups[source], self.ancestors(source + 1, regions)
            own, active = group.parents[active_rows], group.active
        return {
            "rows": rows,
            "errors": errors,
            "norms": norms,
            "uncertainties": layer.uncertainty(sizes, errors),
            "regions": own,
            "active_rows": active_rows,
            "active": active.view(np.uint8),
            "weights": weights,
            "magnitudes": magnitudes,
        }

    # -- reading earlier layers --------------------------------------------------------------------

    def _source_forms(self, source: int, regions: Indices) -> _SourceForms:
        """Return the forms that regions of the newest layer read from a layer, 0 for the input."""
        if source == 0:
            rows, errors, _ = self._inputs
            return _SourceForms(
                rows, *largest_and_sum(rows), errors, np.ones((len(regions), len(rows)), dtype=bool)
            )
        ancestors, active = self._ancestors(source, regions)
        rows, errors, (sizes, norms) = (
            self.layer_rows(source),
            self.layer_errors(source),
            self._sizes(source),
        )
        if len(rows) == 1:
            return _SourceForms(rows[0], sizes[0], norms[0], errors[0], active)
        return _SourceForms(
            rows[ancestors], sizes[ancestors], norms[ancestors], errors[ancestors], active
        )

    def _sizes(self, layer: int) -> tuple[Floats, Floats]:
        """Return the largest entry and the 1-norm of each form of a layer, shape (R, n)."""
        if layer not in self._known_sizes:
            self._known_sizes[layer] = largest_and_sum(self.layer_rows(layer))
        return self._known_sizes[layer]

    def _ancestors(self, source: int, regions: Indices) -> tuple[Indices, NDArray[np.bool_]]:
        """Return the regions of layer `source` around regions, and their active neurons."""
        regions, group = self.ancestors(source + 1, regions), self._groups[source]
        return group.parents[regions], group.active[regions]

    def ancestors(self, layer: int, regions: Indices) -> Indices:
        """Return the regions of a layer around regions of the newest layer."""
        for group in self._groups[: layer - 1 : -1]:
            regions = group.parents[regions]
        return regions

    def source(self, number: int) -> tuple[int, int]:
        """Return (layer, neuron) of a form; (0, i) for constraint i, or `INFINITY`."""
        if number < self._global.nrows:
            return 0, number - 1
        layer, _, neuron = self._located(number)
        return layer, neuron

    def keys(self, numbers: Indices) -> Indices:
        """Return keys that order forms by layer, region and neuron.

        The numbers of the last layer's forms depend on the order in which the forms were made.
        """
        keys, group = numbers.copy(), self._groups[-1]
        if not group.is_dense:
            late = keys >= group.first
            pairs = self._last_pairs.rows[keys[late] - group.first]
            keys[late] = group.first + pairs[:, 0] * group.width + pairs[:, 1]
        return keys

    def _located(self, number: int) -> tuple[int, int, int]:
        """Return layer, region and neuron of a form that is not global."""
        layer = next(
            k for k in range(self.num_layers, 0, -1) if self._groups[k - 1].first <= number
        )
        group = self._groups[layer - 1]
        if not group.is_dense:
            region, neuron = self._last_pairs.buffer[number - group.first]
            return layer, int(region), int(neuron)
        return layer, *divmod(number - group.first, group.width)

    # -- exact rows --------------------------------------------------------------------------------

    def exact_row(self, number: int) -> list[int]:
        """Return a positive multiple of a form, in primitive integers."""
        if number not in self._exact_rows:
            self._exact_rows[number] = self._exact_row(number)
        return self._exact_rows[number]

    def _exact_row(self, number: int) -> list[int]:
        if number < self._global.nrows:
            return self._global.take(rows=[number]).primitive_rows()[0]
        layer, region, neuron = self._located(number)
        return self._exact_layer(layer, region).take(rows=[neuron]).primitive_rows()[0]

    def _exact_layer(self, layer: int, region: int) -> RationalMatrix:
        """Return all forms of a layer on one of its regions, shape (n, d + 1)."""
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
                total += block.weight @ self._frame.embedding.take(
                    rows=range(self._network.num_inputs)
                )
                continue
            on = np.flatnonzero(self._groups[block.source].active[chain[block.source + 1]]).tolist()
            if on:
                forms = self._exact_layer(block.source, chain[block.source]).take(rows=on)
                total += block.weight.take(columns=on) @ forms
        return total


def signs_of_values(values: Floats, bounds: Floats) -> NDArray[np.int8]:
    """Return the signs of values with error bounds, `UNDECIDED` where a bound is too large."""
    # Where a product has overflowed, even the sign can be wrong.
    certain = (np.abs(values) > bounds) & np.isfinite(values)
    return np.where(certain, np.sign(values), UNDECIDED).astype(np.int8)


def _bias_form(layer: Layer, dimension: int) -> RationalMatrix:
    return RationalMatrix.zeros(layer.width, dimension).beside(layer.bias)


def _rounded(matrix: RationalMatrix) -> tuple[Floats, Floats, int | None]:
    """Return the nearest floats, the error E of each row, and q of `_grid` if E = 0."""
    floats = matrix.to_floats()
    grid = _grid(matrix)
    if grid is not None:
        return floats, np.zeros(matrix.nrows), grid
    return floats, _magnitudes(floats).max(axis=1, initial=0.0) * _UNIT + _TINY, None


@np.errstate(over="ignore")
def largest_and_sum(rows: Floats) -> tuple[Floats, Floats]:
    """Return max |F| and |F|₁ over the last axis, which is short.

    Column by column the computation is much faster than numpy's reduction along that axis.
    """
    columns, zero = np.abs(np.moveaxis(rows, -1, 0)), np.zeros(rows.shape[:-1])
    return np.asarray(reduce(np.maximum, columns, zero)), np.asarray(reduce(np.add, columns, zero))


def _magnitudes(floats: Floats) -> Floats:
    """Return absolute values, infinite where an entry was cut to the largest float."""
    sizes = np.abs(floats)
    return np.where(sizes >= _LARGEST_FLOAT, np.inf, sizes)


def _grid(matrix: RationalMatrix) -> int | None:
    """Find the least q ≥ 0 for which all entries are multiples of 2^-q of 53 bits, or None."""
    denominator = matrix.denominator
    if denominator & (denominator - 1) or denominator.bit_length() > 500 or matrix.bits > 53:
        return None
    return denominator.bit_length() - 1


def _in_floats(layer: Layer) -> _FloatLayer:
    grids = [_grid(matrix) for matrix in (layer.bias, *(block.weight for block in layer.blocks))]
    known = [grid for grid in grids if grid is not None]
    blocks = [(block.source, block.weight.to_floats()) for block in layer.blocks]
    no_bias = layer.bias.signs()[:, 0] == 0
    no_form = no_bias
    for block in layer.blocks:
        no_form = no_form & ~block.weight.signs().any(axis=1)
    return _FloatLayer(
        blocks,
        [_magnitudes(weights) + _TINY for _, weights in blocks],
        layer.bias.to_floats()[:, 0],
        max(known) if len(known) == len(grids) else None,
        no_bias,
        no_form,
    )
