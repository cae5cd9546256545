"""The forms of all layers on a box, in integers on a grid (FORMAT.md, section 5.8).

A `GridRun` goes through the layers of one network, or of a pair: forms of the preactivations, their
intervals, bands around the ReLUs (`relu_bands`), forms of the activations and of the differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np

from polyrelu.proofs.deviation.grid_products import LONGEST, GridMatrix, Table, shifted_product
from polyrelu.proofs.deviation.relu_bands import (
    ONE,
    SLOPE_BITS,
    Interval,
    PairBand,
    neuron_band,
    pair_band,
    sign_of,
)
from polyrelu.support.budget import Check, no_check

__all__ = [
    "GridForms",
    "GridLayer",
    "GridRun",
    "GridStart",
    "Neuron",
    "PairEnds",
    "layer_forms",
    "shortest",
]

#: The network (0 or 1), the layer from 1, the index.
Neuron: TypeAlias = tuple[int, int, int]

_LOW_BITS = 32


class GridLayer(NamedTuple):
    """A layer on the grid: of the first network, and of the differences."""

    own: GridMatrix
    bias: Table
    by_values: GridMatrix | None
    by_differences: GridMatrix | None
    shift: Table | None
    partners: tuple[int, ...]
    scales: tuple[Fraction, ...]
    is_hidden: bool
    is_last_hidden: bool
    is_bias_exact: bool
    is_shift_exact: bool


class GridForms(NamedTuple):
    """Forms as rows, the center first; their common error, and the sum of their sizes."""

    table: Table
    error: int
    sizes: int


class PairEnds(NamedTuple):
    """Intervals on a node: of the partner's z, of the difference D, and of z + D."""

    z: Interval
    d: Interval
    y: Interval


class GridStart(NamedTuple):
    """The inputs of a box, and the preactivations of the first layer and their differences."""

    inputs: GridForms
    z: GridForms
    d: GridForms | None


def shortest(table: Table) -> Table:
    """Return a table as int64 if its numbers are short."""
    is_short = not table.size or int(np.abs(table).sum(axis=1).max()).bit_length() <= LONGEST
    return table.astype(np.int64) if is_short else table


def layer_forms(
    layer: GridLayer,
    values: GridForms,
    differences: GridForms | None,
    grid: int,
    check: Check = no_check,
) -> tuple[GridForms, GridForms | None]:
    """Return the forms of preactivations of a layer, and of their differences.

    `check` is called now and then, and may raise.
    """
    z = _preactivations([(layer.own, values)], layer.bias, layer.is_bias_exact, grid, check)
    if layer.by_values is None or layer.by_differences is None:
        return z, None
    terms = [(layer.by_values, values)]
    if differences is not None:
        terms.append((layer.by_differences, differences))
    return z, _preactivations(terms, layer.shift, layer.is_shift_exact, grid, check)


def _preactivations(
    terms: Sequence[tuple[GridMatrix, GridForms]],
    bias: Table | None,
    is_bias_exact: bool,
    grid: int,
    check: Check,
) -> GridForms:
    """Return sums of products of matrices with forms, and the bias."""
    tables = [(matrix, forms.table) for matrix, forms in terms]
    largest = sum(matrix.largest_product(table) for matrix, table in tables)
    offset = max(map(abs, bias.tolist()), default=0) if bias is not None else 0
    is_short = (largest >> grid) + offset < 1 << LONGEST - 1
    if not is_short or not all(matrix.is_short for matrix, _ in tables):
        tables = [(matrix, table.astype(object)) for matrix, table in tables]
    elif any(table.dtype == object for _, table in tables):
        tables = [(matrix, shortest(table)) for matrix, table in tables]
    found, is_exact = shifted_product(tables, grid, check)
    if bias is not None:
        found[:, 0] += bias if found.dtype == object else bias.astype(np.int64)
    num_generators = max(table.shape[1] for _, table in tables) - 1
    error = sum(matrix.error(forms.error, forms.sizes, grid) for matrix, forms in terms)
    rounding = 0 if is_exact and is_bias_exact else num_generators + 2
    return GridForms(found, error + rounding, 0)


class GridRun:
    """One run of the rule, layer by layer."""

    def __init__(self, grid: int, cuts: Mapping[Neuron, int], start: GridStart) -> None:
        self.grid, self.cuts, self.start = grid, cuts, start
        self.check: Check = no_check
        self.inputs = self.values = start.inputs
        self.differences = None
        self.sources = list[Neuron]()
        self.signs = list[tuple[tuple[int, ...], tuple[int, ...]]]()
        self.ends = list[list[Interval]]()
        self.pair_ends = list[list[PairEnds]]()
        self.kept = dict[Neuron, tuple[Table, int]]()
        self.is_empty = False

    values: GridForms
    differences: GridForms | None

    def add(self, number: int, layer: GridLayer) -> bool:
        """Add a layer; return False if no point of the box has the signs."""
        z, d = self.start.z, self.start.d
        if number > 1:
            z, d = layer_forms(layer, self.values, self.differences, self.grid, self.check)
        if layer.is_hidden:
            z, d = self._activate(number, layer, z, d)
        self.values, self.differences = z, d
        return not self.is_empty

    def _activate(
        self, number: int, layer: GridLayer, z: GridForms, d: GridForms | None
    ) -> tuple[GridForms, GridForms | None]:
        """Return the forms of activations, and of their differences."""
        ends = self._narrowed(number, 0, self._ends(number, 0, z.table, z.error))
        self.ends.append(ends)
        self.pair_ends.append([])
        relaxed = [neuron_band(low, high) for low, high in ends]
        pairs, signs = list[PairBand](), list[int]()
        if d is not None:
            pairs, signs = self._pairs(number, layer, z, d, ends)
        own_signs = tuple(sign_of(low, high) for low, high in ends)
        self.signs.append((own_signs, tuple(signs)))
        if self.is_empty:
            return z, d
        added = [w for _, w in relaxed] + [x for p in pairs for x in (p.center, p.radius)]
        if max(map(abs, added), default=0).bit_length() > LONGEST:  # large errors, short forms
            z = z._replace(table=z.table.astype(object))
            d = None if d is None else d._replace(table=d.table.astype(object))
        count = z.table.shape[1]
        own_new = [(i, w) for i, (_, w) in enumerate(relaxed) if w]
        new = [(m, pair.radius) for m, pair in enumerate(pairs) if pair.radius]
        self.sources += [(0, number, i) for i, _ in own_new]
        self.sources += [(1, number, m) for m, _ in new]
        table, is_exact = _scaled(z.table, [s for s, _ in relaxed])
        table[:, 0] += np.array([w for _, w in relaxed], dtype=table.dtype)
        sizes = sum(max(high, 0) for _, high in ends)
        total = count + len(own_new) + len(new)
        error = z.error + (0 if is_exact else count)
        values = GridForms(_with_columns(table, own_new, count, total), error, sizes)
        if d is None:
            return values, None
        chosen = _rows(z.table, layer.partners)
        slopes = [pair.p for pair in pairs], [pair.q for pair in pairs]
        table, is_exact = _scaled(chosen, slopes[0], d.table, slopes[1])
        table[:, 0] += np.array([pair.center for pair in pairs], dtype=table.dtype)
        table = _with_columns(table, new, count + len(own_new), total)
        sizes = sum(pair.size for pair in pairs)
        error = z.error + d.error + (0 if is_exact else count)
        return values, GridForms(table, error, sizes)

    def _ends(self, number: int, which: int, table: Table, error: int) -> list[Interval]:
        """Return the intervals of neurons, cut by their signs."""
        radii = np.abs(table[:, 1:]).sum(axis=1).tolist()
        centers = table[:, 0].tolist()
        ends = [(c - r - error, c + r + error) for c, r in zip(centers, radii, strict=True)]
        for (where, layer, i), side in self.cuts.items():
            if (where, layer) == (which, number):
                self.kept[where, layer, i] = side * table[i], error
                low, high = ends[i]
                ends[i] = (max(low, 0), high) if side > 0 else (low, min(high, 0))
        self.is_empty = self.is_empty or any(low > high for low, high in ends)
        return ends

    def _narrowed(self, number: int, which: int, ends: list[Interval]) -> list[Interval]:
        """Return the intervals of neurons, of which only the forms are known."""
        return ends

    def _narrowed_pairs(
        self,
        number: int,
        partners: Sequence[Interval],
        changes: Sequence[Interval],
        others: list[Interval],
    ) -> list[Interval]:
        """Return the intervals of neurons of the second network."""
        return others

    def _narrowed_changes(
        self,
        number: int,
        partners: Sequence[Interval],
        changes: list[Interval],
        others: list[Interval],
    ) -> tuple[list[Interval], list[Interval]]:
        """Return the intervals of differences and of neurons of the second network."""
        return changes, others

    def _pairs(
        self, number: int, layer: GridLayer, z: GridForms, d: GridForms, ends: Sequence[Interval]
    ) -> tuple[list[PairBand], list[int]]:
        """Return the relaxations of differences, and the signs of the second network."""
        both = _rows(z.table, layer.partners) + d.table
        others = self._ends(number, 1, both, z.error + d.error)
        radii = np.abs(d.table[:, 1:]).sum(axis=1).tolist()
        centers = d.table[:, 0].tolist()
        partners = [ends[place] if place >= 0 else (0, 0) for place in layer.partners]
        changes = [(c - r - d.error, c + r + d.error) for c, r in zip(centers, radii, strict=True)]
        others = self._narrowed_pairs(number, partners, changes, others)
        changes, others = self._narrowed_changes(number, partners, changes, others)
        found, signs = list[PairBand](), list[int]()
        for own, change, other in zip(partners, changes, others, strict=True):
            low, high = max(change[0], other[0] - own[1]), min(change[1], other[1] - own[0])
            signs.append(sign_of(*other))
            if low > high:
                self.is_empty = True
                break
            self.pair_ends[-1].append(PairEnds(own, (low, high), other))
            found.append(pair_band(own, (low, high), other, layer.is_last_hidden))
        return found, signs


def _with_columns(table: Table, new: Sequence[tuple[int, int]], first: int, total: int) -> Table:
    """Return a table with new columns, which have one number each."""
    found = np.zeros((len(table), total), dtype=table.dtype)
    found[:, : table.shape[1]] = table
    for k, (row, entry) in enumerate(new):
        found[row, first + k] = entry
    return found


def _rows(table: Table, places: Sequence[int]) -> Table:
    """Return rows of a table; rows of zeros where there is no place."""
    found = table[list(places)]
    found[[m for m, place in enumerate(places) if place < 0]] = 0
    return found


def _scaled(
    one: Table, factors: Sequence[int], two: Table | None = None, more: Sequence[int] = ()
) -> tuple[Table, bool]:
    """Return rows times their factors over 2^16, rounded down; perhaps of a sum of two tables.

    The second value says whether nothing was rounded.
    """
    dtype = one.dtype if two is None or two.dtype == one.dtype else np.dtype(object)
    parts = [(one, factors)] if two is None else [(one, factors), (two, more)]
    columns = [
        (table.astype(dtype), np.array(entries, dtype=dtype)[:, None]) for table, entries in parts
    ]
    if dtype.hasobject:
        total = sum((table * entries for table, entries in columns), np.zeros_like(one, dtype))
        return np.asarray(total >> SLOPE_BITS), not (total & ONE - 1).any()
    mask = (1 << _LOW_BITS) - 1
    zeros = np.zeros_like(one)
    low = sum(((table & mask) * entries for table, entries in columns), zeros)
    high = sum(((table >> _LOW_BITS) * entries for table, entries in columns), zeros)
    is_exact = not (low & ONE - 1).any()
    return np.asarray((low >> SLOPE_BITS) + (high << _LOW_BITS - SLOPE_BITS)), is_exact
