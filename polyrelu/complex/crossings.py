"""`Crossings`: which neurons change their activation between neighbouring regions, and the forms.

A cell F of codimension 1 between two regions is crossed from the region `minus` to the region
`plus`. The first neuron, in the order of `Network.neurons`, whose activation differs has the same
earlier activations on both sides, so that its preactivation is one affine function around F: it
vanishes exactly on the hyperplane of F, and `plus` is the side on which the neuron is active. In
general position it is the only neuron that changes.

Every change also needs the preactivation of its neuron on the side `minus`, an integer form Ẑ. It
vanishes on F, so that Ẑ = κ [n | β] with the primitive normal n of F; up to the sign the integer κ
is the greatest common divisor of the normal of Ẑ, its *content*. Few forms belong to many cells, so
that each is computed once, modulo primes (`polyrelu.exact.residues`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.activations import RegionActivations, unpacked
from polyrelu.complex.frame import Frame
from polyrelu.complex.integer_layers import IntegerLayer, IntegerLayers
from polyrelu.exact.integer_arrays import as_objects
from polyrelu.exact.matrix import integers_over
from polyrelu.exact.residues import Residues
from polyrelu.network import Network
from polyrelu.support.display import count_text
from polyrelu.support.typing import Floats, Indices, Mask

__all__ = ["ENTRIES_AT_A_TIME", "Crossings", "masked_sums", "ranges_of_equal"]

#: Approximate maximum number of entries of temporary arrays.
ENTRIES_AT_A_TIME = 1 << 21
_BITS = 32


@dataclass(frozen=True, slots=True, eq=False)
class Crossings:
    """The F cells of codimension 1 between two regions, and the N changes of activations there.

    Attributes
    ----------
    plus, minus
        The regions on the two sides of each cell, shape (F,).
    cells
        The position of the cell of each change, ascending, shape (N,).
    layers, neurons
        The layer and the neuron of each change, in the order of `Network.neurons` for each cell.
    forms
        The row of `rows` for each change.
    firsts
        The first change of each cell, shape (F,).
    rows
        Different forms over (x, 1) in primitive integers, shape (number of forms, n_0 + 1). The
        forms of the first changes are those that vanish on the cells, positive on `plus`.
    divisors
        The greatest common divisor of the normal of each row, 1 for the form 0.
    contents
        The greatest common divisor of the normal of each form Ẑ, 0 for the form 0.
    layered
        The layers as integers.
    """

    plus: Indices
    minus: Indices
    cells: Indices
    layers: Indices
    neurons: Indices
    forms: Indices
    firsts: Indices
    rows: NDArray[Any]
    divisors: NDArray[Any]
    contents: NDArray[Any]
    layered: IntegerLayers

    def __repr__(self) -> str:
        counts = [(len(self.plus), "cell"), (len(self.cells), "change"), (len(self.rows), "form")]
        return f"<Crossings, {count_text(counts)}>"

    def at(self, positions: Indices) -> Crossings:
        """Return the crossings of some of the cells, given by ascending positions."""
        numbers = np.full(len(self.plus), -1, dtype=np.int64)
        numbers[positions] = np.arange(len(positions))
        cells = numbers[self.cells]
        kept = np.flatnonzero(cells >= 0)
        cells = cells[kept]
        return replace(
            self,
            plus=self.plus[positions],
            minus=self.minus[positions],
            cells=cells,
            layers=self.layers[kept],
            neurons=self.neurons[kept],
            forms=self.forms[kept],
            firsts=np.flatnonzero(np.diff(cells, prepend=-1)),
        )

    @classmethod
    def between(
        cls, network: Network, frame: Frame, active: RegionActivations, pairs: Indices
    ) -> Crossings:
        """Return the crossings between pairs of neighbouring regions."""
        layered = IntegerLayers(network, frame)
        cells, layers, neurons = _changes(active, pairs)
        firsts = np.flatnonzero(np.diff(cells, prepend=-1))
        if len(firsts) != len(pairs):
            raise AssertionError("some neuron is active on one side of each cell only")
        first_is_plus = _is_active(active, layers[firsts], neurons[firsts], pairs[:, 0])
        plus = np.where(first_is_plus, pairs[:, 0], pairs[:, 1])
        minus = np.where(first_is_plus, pairs[:, 1], pairs[:, 0])
        wanted, forms = _distinct_forms(active, layers, neurons, minus[cells])
        integers = _FormValues(layered, active, frame.dimension + 1).integers(wanted)
        rows, divisors, contents = _primitive_over_inputs(integers, frame)
        return cls(
            plus, minus, cells, layers, neurons, forms, firsts, rows, divisors, contents, layered
        )


# -- changes ---------------------------------------------------------------------------------------


def _changes(active: RegionActivations, pairs: Indices) -> tuple[Indices, Indices, Indices]:
    """Return position, layer and neuron of all changes, ordered by all three."""
    words = np.concatenate([*active.words, np.zeros((len(active), 0), np.uint32)], axis=1)
    differences = words[pairs[:, 0]] ^ words[pairs[:, 1]]
    cells, columns = np.nonzero(differences)
    left = differences[cells, columns]
    keys = []
    places = (cells * words.shape[1] + columns) * _BITS
    while len(left):
        lowest = left & (~left + np.uint32(1))
        keys.append(places + np.frexp(lowest.astype(np.float64))[1] - 1)
        left = left ^ lowest
        more = np.flatnonzero(left)
        left, places = left[more], places[more]
    ordered = np.concatenate(keys) if keys else np.zeros(0, dtype=np.int64)
    if len(keys) > 1:
        ordered.sort()
    places, bits = np.divmod(ordered, _BITS)
    cells, columns = np.divmod(places, max(words.shape[1], 1))
    counts = [part.shape[1] for part in active.words]
    layers = np.repeat(np.arange(1, len(counts) + 1), counts)[columns]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return cells, layers, (columns - starts[layers - 1]) * _BITS + bits


def _is_active(
    active: RegionActivations, layers: Indices, neurons: Indices, regions: Indices
) -> Mask:
    """Return for each i whether a neuron is active on a region."""
    result = np.zeros(len(layers), dtype=bool)
    for layer, words in enumerate(active.words, 1):
        here = np.flatnonzero(layers == layer)
        column, bit = np.divmod(neurons[here], _BITS)
        result[here] = (words[regions[here], column] >> bit.astype(np.uint32)) & np.uint32(1)
    return result


@dataclass(frozen=True, slots=True, eq=False)
class _Wanted:
    """Forms that are wanted in a layer: neurons, and a region for each, ordered by neuron.

    Attributes
    ----------
    rows
        The rows of the result.
    neurons, prefixes
        The neurons, and numbers as in `RegionActivations.prefixes`.
    """

    rows: Indices
    neurons: Indices
    prefixes: Indices


def _distinct_forms(
    active: RegionActivations, layers: Indices, neurons: Indices, regions: Indices
) -> tuple[list[_Wanted], Indices]:
    """Return the different forms of neurons on regions, by layers, and the row of each."""
    forms, wanted, count = np.zeros(len(layers), dtype=np.int64), [], 0
    for layer, (width, prefixes) in enumerate(zip(active.widths, active.prefixes, strict=True), 1):
        here = np.flatnonzero(layers == layer)
        num_prefixes = int(prefixes.max(initial=0)) + 1
        keys = neurons[here] * num_prefixes + prefixes[regions[here]]
        known, which = _distinct(keys, num_prefixes * width)
        forms[here] = which + count
        wanted.append(_Wanted(np.arange(len(known)) + count, *np.divmod(known, num_prefixes)))
        count += len(known)
    return wanted, forms


def _distinct(keys: Indices, limit: int) -> tuple[Indices, Indices]:
    """Return the different keys below a limit, ascending, and the place of each key among them."""
    if limit > ENTRIES_AT_A_TIME:
        known, which = np.unique(keys, return_inverse=True)
        return known, which.ravel()
    places = np.zeros(limit, dtype=np.int64)
    places[keys] = 1
    known = np.flatnonzero(places)
    places[known] = np.arange(len(known))
    return known, places[keys]


# -- forms -----------------------------------------------------------------------------------------


class _FormValues:
    """The integer forms Ẑ of neurons on regions, computed modulo primes layer by layer."""

    def __init__(self, layered: IntegerLayers, active: RegionActivations, width: int) -> None:
        self._layered, self._active, self._width = layered, active, width
        #: for each layer a region for every number in `RegionActivations.prefixes`
        self._regions = []
        for prefixes in active.prefixes:
            regions = np.zeros(int(prefixes.max(initial=0)) + 1, dtype=np.int64)
            regions[prefixes] = np.arange(len(prefixes))
            self._regions.append(regions)

    def integers(self, wanted: list[_Wanted]) -> NDArray[Any]:
        """Return the wanted forms over (y, t), shape (number of forms, d + 1)."""
        bounds = self._layered.bounds
        terms = max((layer.num_terms for layer in self._layered.layers), default=1)
        system = Residues.for_matrices(max(bounds, default=1), max(terms, 1))
        found = [np.empty((len(system), len(part.rows), self._width)) for part in wanted]
        for part, residues in system.parts(self._entries(), ENTRIES_AT_A_TIME):
            for layer, values in enumerate(self._values(residues, wanted)):
                found[layer][part] = values
        tables = [
            system.integers(values, bound) for values, bound in zip(found, bounds, strict=True)
        ]
        return np.concatenate([np.zeros((0, self._width), dtype=np.int64), *tables])

    def _entries(self) -> int:
        """Number of entries of the largest table of forms."""
        sizes = [
            len(regions) * width
            for regions, width in zip(self._regions[:-1], self._active.widths, strict=False)
        ]
        weights = [block.size for layer in self._layered.layers for block in layer.blocks.values()]
        return max([*(size * self._width for size in sizes), *weights, 1])

    def _values(self, system: Residues, wanted: list[_Wanted]) -> Iterator[Floats]:
        """Generate the residues of the wanted forms of each layer, shape (K, forms, d + 1)."""
        dense: list[Floats] = []  # of each layer before the last, shape (K, n, regions, d + 1)
        for number, layer in enumerate(self._layered.layers, 1):
            constants = system.of(self._layered.constants[number - 1])
            part = wanted[number - 1]
            if number < len(wanted):
                dense.append(self._dense(system, layer, number, constants, dense))
                yield dense[-1][:, part.neurons, part.prefixes]
            else:
                yield self._chosen(system, layer, part, constants, dense)

    def _dense(
        self,
        system: Residues,
        layer: IntegerLayer,
        number: int,
        constants: Floats,
        dense: list[Floats],
    ) -> Floats:
        """Return all forms of a layer on all its regions."""
        regions = self._regions[number - 1]
        total = np.repeat(constants[:, :, None], len(regions), axis=2)
        for source, block in layer.blocks.items():
            prefixes = self._active.prefixes[source - 1][regions]
            activations = np.take(dense[source - 1], prefixes, axis=2)
            activations = activations * self._active.active(source, regions).T[None, :, :, None]
            flat = activations.reshape(*activations.shape[:2], -1)
            total += (system.of(block) @ flat).reshape(total.shape)
            system.reduced(total)
        return total

    def _chosen(
        self,
        system: Residues,
        layer: IntegerLayer,
        wanted: _Wanted,
        constants: Floats,
        dense: list[Floats],
    ) -> Floats:
        """Return the wanted forms of the last layer."""
        total = constants[:, wanted.neurons]
        regions = self._regions[-1][wanted.prefixes]
        for source, block in layer.blocks.items():
            weights, forms = system.of(block), dense[source - 1]
            words = self._active.words[source - 1][regions]
            if forms.shape[2] == 1:  # the same forms everywhere
                table = partial(_table, weights, forms[:, :, 0])
                total += masked_sums(system, words, wanted.neurons, block.shape[1], table)
            else:
                prefixes = self._active.prefixes[source - 1][regions]
                active = self._active.active(source, regions)
                _add_products(total, weights, forms, (wanted.neurons, prefixes, active))
            system.reduced(total)
        return total


def _table(weights: Floats, forms: Floats, neuron: int) -> Floats:
    """Return the products of the weights of a neuron (K, n) and forms, shape (K, n, d + 1)."""
    return weights[:, neuron, :, None] * forms


def _add_products(
    total: Floats,
    weights: Floats,
    forms: Floats,
    wanted: tuple[Indices, Indices, NDArray[np.uint8]],
) -> None:
    """Add the sums over active neurons of weights times forms, in blocks of wanted forms."""
    neurons, prefixes, active = wanted
    by_prefix = np.ascontiguousarray(forms.transpose(0, 2, 1, 3))
    step = max(1, ENTRIES_AT_A_TIME // max(1, by_prefix[:, 0].size))
    for start in range(0, len(neurons), step):
        part = slice(start, start + step)
        factors = np.take(weights, neurons[part], axis=1) * active[part]
        total[:, part] += np.einsum(
            "kpj,kpjc->kpc", factors, np.take(by_prefix, prefixes[part], axis=1)
        )


def masked_sums(
    system: Residues,
    words: NDArray[np.uint32],
    groups: Indices,
    width: int,
    table: Callable[[int], Floats],
) -> Floats:
    """Return sums of rows of tables over the bits of words: one matrix product for each group.

    Parameters
    ----------
    system
        The residues of the tables; sums of `width` of them must be small enough.
    words
        Packed bits of N sets of rows.
    groups
        The group of each set, ascending, shape (N,).
    width
        The number of rows of a table.
    table
        The table of a group, not reduced, shape (K, width, c).

    Returns
    -------
    Floats
        The sums, shape (K, N, c).
    """
    parts = []
    for group, part in ranges_of_equal(groups):
        rows = system.reduced(table(group))
        flat = rows.transpose(1, 0, 2).reshape(width, -1)
        sums = unpacked(words[part], width).astype(np.float64) @ flat
        parts.append(sums.reshape(len(sums), len(rows), -1).transpose(1, 0, 2))
    if not parts:
        return np.asarray(table(0)[:, :0])
    return np.concatenate(parts, axis=1)


def ranges_of_equal(ordered: Indices) -> Iterator[tuple[int, slice]]:
    """Generate each value of an ascending array with the range where it stands."""
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    ends = np.append(starts[1:], len(ordered)).tolist()
    for start, stop in zip(starts.tolist(), ends, strict=False):
        yield int(ordered[start]), slice(start, stop)


def _primitive_over_inputs(
    integers: NDArray[Any], frame: Frame
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return `_primitive` of forms over (y, t) as forms over (x, 1).

    The contents belong to the forms times the denominator of the coordinates.
    """
    coordinates = frame.coordinates
    matrix = integers_over(coordinates, coordinates.denominator)
    is_unit = ((matrix == 0) | (matrix == 1)).all() and (matrix.sum(axis=0) <= 1).all()
    if not is_unit:
        return _primitive(as_objects(integers) @ as_objects(matrix))
    # Every coordinate y is a coordinate of x, so that the greatest common divisors are the same.
    short, divisors, contents = _primitive(integers)
    rows = np.zeros((len(integers), coordinates.ncols), dtype=integers.dtype)
    places, columns = np.nonzero(matrix)
    rows[:, columns] = short[:, places]
    return rows, divisors, contents


def _primitive(integers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the primitive multiples of forms, the divisors of their normals, and the contents."""
    contents = _common_divisors(integers[:, :-1].T)
    divisors = _common_divisors(np.stack([contents, integers[:, -1]]))
    divisors = np.where(divisors == 0, 1, divisors)
    return integers // divisors[:, None], np.where(contents == 0, 1, contents // divisors), contents


def _common_divisors(columns: NDArray[Any]) -> NDArray[Any]:
    """Return the greatest common divisors along the first axis."""
    if columns.dtype != object:
        return np.asarray(np.gcd.reduce(columns, axis=0))
    found = np.empty(columns.shape[1], dtype=object)
    found[:] = list(map(math.gcd, *columns.tolist())) if len(columns) else 0
    return found
