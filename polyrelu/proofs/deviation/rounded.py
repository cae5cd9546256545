"""The fixed rule of certificates of bounds, for provers (FORMAT.md, section 5.8).

A leaf of such a certificate holds no numbers: the checker computes affine forms of all activations,
and of the differences of two networks, in integers on a grid, rounded outwards. Here are the same
integers, computed in another way. The rule and its proof stand in docs/theory/deviation.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from polyrelu.certificate import LinearRow
from polyrelu.exact import RationalMatrix, nearest_float
from polyrelu.network import Network
from polyrelu.proofs.deviation.grid_products import LONGEST, GridMatrix, Table, shifted_product
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.typing import Floats

__all__ = ["LayerPartners", "Neuron", "RoundedLeaf", "RoundedRule"]

#: The network (0 or 1), the layer from 1, the index.
Neuron: TypeAlias = tuple[int, int, int]
#: For each hidden layer the partners of the neurons of the second network, and their scales.
LayerPartners: TypeAlias = Sequence[tuple[int, Fraction] | None]
_Interval: TypeAlias = tuple[int, int]
_Corners: TypeAlias = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
#: Center and radius of each coordinate on the grid.
_Box: TypeAlias = tuple[tuple[int, int], ...]

#: Slopes are integers over 2^16.
_SLOPE_BITS = 16
_ONE = 1 << _SLOPE_BITS
_LOW_BITS = 32


class _Layer(NamedTuple):
    """A layer on the grid: of the first network, and of the differences."""

    own: GridMatrix
    bias: Table
    by_values: GridMatrix | None
    by_differences: GridMatrix | None
    shift: Table | None
    partners: tuple[int, ...]
    scales: tuple[Fraction, ...]
    is_hidden: bool
    is_bias_exact: bool
    is_shift_exact: bool


class _Forms(NamedTuple):
    """Forms as rows, the center first; their common error, and the sum of their sizes."""

    table: Table
    error: int
    sizes: int


class _Start(NamedTuple):
    """The inputs of a box, and the preactivations of the first layer and their differences."""

    inputs: _Forms
    z: _Forms
    d: _Forms | None


@dataclass(frozen=True, slots=True)
class RoundedLeaf:
    """The forms of one or two networks on a box with signs of some neurons.

    Attributes
    ----------
    is_empty
        Whether the rule shows that no point of the box has these signs. Then there are no forms.
    signs
        For each hidden layer the signs of the neurons of the first network, and of the second one;
        0 for open neurons.
    sources
        The neurons whose relaxations made the generators after the ones of the coordinates, in
        their order. A neuron of the second network stands for the difference from its partner.
    """

    is_empty: bool
    signs: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    sources: tuple[Neuron, ...]
    _rule: RoundedRule
    _box: _Box
    _forms: tuple[_Forms, ...]
    _kept: tuple[tuple[Table, int], ...]

    @property
    def num_new_generators(self) -> int:
        """The number of generators of open neurons, which the work grows with."""
        return 0 if self.is_empty else self._forms[-1].table.shape[1] - 1 - len(self._box)

    @property
    def open_neurons(self) -> list[Neuron]:
        """The open neurons, the first layers first."""
        return [
            (which, layer, i)
            for layer, both in enumerate(self.signs, 1)
            for which, signs in enumerate(both)
            for i, sign in enumerate(signs)
            if sign == 0
        ]

    def upper_bound(
        self, row: LinearRow, multiples: Mapping[int, Fraction] | None = None
    ) -> Fraction:
        """Return the upper bound of a row, with multiples of inequalities and cuts by sign."""
        weights = _integer_weights(row)
        total, error = _combination(weights[1:], self._forms)
        if not multiples:
            found = int(total[0]) + int(np.abs(total[1:]).sum()) + error
            return Fraction(found, weights[0] << self._rule.grid) + row.constant
        scale = math.lcm(*(x.denominator for x in multiples.values()))
        exact, excess = total.astype(object) * scale, error * scale
        for number, multiple in multiples.items():
            entries, own_error = self._constraint(number)
            factor = multiple.numerator * (scale // multiple.denominator) * weights[0]
            exact[: len(entries)] += factor * entries
            excess += factor * own_error
        bound = Fraction(exact[0] + np.abs(exact[1:]).sum() + excess)
        return bound / (scale * weights[0] << self._rule.grid) + row.constant

    def input_parts(self, row: LinearRow) -> list[int]:
        """Return how much a row depends on each coordinate: sizes of its first generators."""
        weights = _integer_weights(row)
        total, _ = _combination(weights[1:], self._forms)
        return [abs(int(entry)) for entry in total[1 : 1 + len(self._box)]]

    def float_form(self, row: LinearRow) -> Floats:
        """Return the form of a row in floats, the center first."""
        weights = _integer_weights(row)
        total, _ = _combination(weights[1:], self._forms)
        found = _to_floats(total, weights[0] << self._rule.grid)
        found[0] += nearest_float(row.constant.numerator, row.constant.denominator)
        return found

    def float_constraints(self) -> tuple[list[int], Floats]:
        """Return forms that are not negative on the node, in floats, and their numbers.

        The sides of the domain's box are left out.
        """
        count = self._rule.num_inequalities
        numbers = [*self._rule.oblique, *range(count, count + len(self._kept))]
        found = np.zeros((len(numbers), self._forms[1].table.shape[1]))
        for row, number in zip(found, numbers, strict=True):
            entries, _ = self._constraint(number)
            row[: len(entries)] = _to_floats(entries, 1 << self._rule.grid)
        return numbers, found

    def holds(self, row: LinearRow, multiples: Mapping[int, Fraction] | None = None) -> bool:
        """Return whether the upper bound of a row is at most 0, or negative if it is strict."""
        bound = self.upper_bound(row, multiples)
        return bound < 0 if row.is_strict else bound <= 0

    def is_closed(self, clauses: Sequence[Sequence[LinearRow]]) -> bool:
        """Return whether each clause has a row that holds, so that the node can be a leaf."""
        return self.is_empty or all(any(map(self.holds, clause)) for clause in clauses)

    def _constraint(self, number: int) -> tuple[Table, int]:
        """Return the form of an inequality of the domain or of a cut by sign, and its error."""
        count = self._rule.num_inequalities
        if number >= count:
            entries, error = self._kept[number - count]
            return entries.astype(object), error
        constant, *row = self._rule.slack(number)
        center = (constant * (1 << self._rule.grid)) + sum(
            (a * m for a, (m, _) in zip(row, self._box, strict=True)), Fraction(0)
        )
        reach = [a * r for a, (_, r) in zip(row, self._box, strict=True)]
        return np.array([center, *reach], dtype=object), 0


def _integer_weights(row: LinearRow) -> tuple[int, dict[int, int], dict[int, int], dict[int, int]]:
    """Return a denominator, and the weights of inputs, values and differences over it.

    The second network is the first one plus the difference.
    """
    entries = [*row.f.values(), *row.g.values(), *row.x.values()]
    common = math.lcm(*(x.denominator for x in entries))
    x, f, g = (
        {i: a.numerator * (common // a.denominator) for i, a in part.items()}
        for part in (row.x, row.f, row.g)
    )
    own = {i: f.get(i, 0) + g.get(i, 0) for i in {*f, *g}}
    return common, x, own, g


def _combination(weights: tuple[dict[int, int], ...], forms: Sequence[_Forms]) -> tuple[Table, int]:
    """Return a combination of forms, and its error."""
    used = [
        (weight, part, i)
        for listed, part in zip(weights, forms, strict=False)
        for i, weight in listed.items()
        if weight
    ]
    size = sum(abs(w) for w, _, _ in used)
    is_short = all(not part.table.dtype.hasobject for _, part, _ in used)
    is_short = is_short and size.bit_length() + LONGEST < 63
    total = np.zeros(forms[1].table.shape[1], dtype=np.int64 if is_short else object)
    for weight, part, i in used:
        entries = part.table[i]
        total[: len(entries)] += weight * (entries if is_short else entries.astype(object))
    return total, sum(abs(w) * part.error for w, part, _ in used)


class RoundedRule:
    """The rule for one network or a pair on a domain.

    Attributes
    ----------
    first, second
        The networks; the second one is None if there is only one.
    coordinates
        The domain.
    grid
        The number S: all numbers are integers over 2^S.
    num_inequalities
        The number of inequalities of the domain.
    oblique
        The numbers of those in several coordinates.
    """

    def __init__(
        self,
        first: Network,
        second: Network | None,
        coordinates: DomainCoordinates,
        matching: Sequence[LayerPartners] = (),
        grid: int = 44,
    ) -> None:
        self.first, self.second = first, second
        self.grid, self.coordinates = grid, coordinates
        forms = coordinates.inequalities
        self.num_inequalities = len(forms)
        self.oblique = [n for n, form in enumerate(forms) if form and sum(map(bool, form[0])) > 1]
        self._last: tuple[_Corners, _Box, _Start] | None = None
        pairs = [] if second is None else _all_partners(first, second, matching)
        self._layers = [
            self._layer(first, second, number, pairs) for number in range(1, first.depth + 1)
        ]

    def _layer(
        self, first: Network, second: Network | None, number: int, pairs: Sequence[LayerPartners]
    ) -> _Layer:
        """Return a layer on the grid."""
        is_hidden = number <= first.num_hidden_layers
        weight, bias = first.weight(number), first.bias(number)
        own, on_grid = GridMatrix(weight, self.grid), GridMatrix(bias, self.grid)
        own_bias, is_exact = on_grid.rows[:, 0], not on_grid.is_rounded
        if second is None:
            return _Layer(own, own_bias, None, None, None, (), (), is_hidden, is_exact, True)
        before, after = pairs[number - 1], pairs[number]
        scales = _scales(after)
        inverse = [1 / scale for scale in scales]
        aligned = second.weight(number).scale_columns(_scales(before)).scale_rows(inverse)
        places = tuple(-1 if entry is None else entry[0] for entry in after)
        chosen = _selection(places, weight.nrows)
        sources = tuple(-1 if entry is None else entry[0] for entry in before)
        by_values = aligned @ _selection(sources, weight.ncols) - chosen @ weight
        shift = GridMatrix(second.bias(number).scale_rows(inverse) - chosen @ bias, self.grid)
        return _Layer(
            own,
            own_bias,
            GridMatrix(by_values, self.grid),
            GridMatrix(aligned, self.grid),
            shift.rows[:, 0],
            places,
            scales,
            is_hidden,
            is_exact,
            not shift.is_rounded,
        )

    def leaf(
        self,
        lower: Sequence[Fraction],
        upper: Sequence[Fraction],
        signs: Mapping[Neuron, int] | None = None,
    ) -> RoundedLeaf:
        """Return the forms on a box in the coordinates, with signs of neurons cut from the root."""
        box, start = self._start((tuple(lower), tuple(upper)))
        run = _Run(self.grid, signs or {}, start)
        for number, layer in enumerate(self._layers, 1):
            if not run.add(number, layer):
                return RoundedLeaf(True, (), (), self, box, (), ())
        forms = (run.inputs, run.values, *([run.differences] if run.differences else []))
        kept = tuple(run.kept[neuron] for neuron in signs or {})
        return RoundedLeaf(False, tuple(run.signs), tuple(run.sources), self, box, forms, kept)

    def partner(self, layer: int, index: int) -> int:
        """Return the partner in the first network of a neuron of the second one, -1 without one."""
        return self._layers[layer - 1].partners[index]

    def scale(self, neuron: Neuron) -> Fraction:
        """Return the positive number by which the forms of a neuron are divided.

        Only a neuron of the second network with a partner has a number other than 1.
        """
        which, layer, index = neuron
        return self._layers[layer - 1].scales[index] if which else Fraction(1)

    def slack(self, number: int) -> tuple[Fraction, ...]:
        """Return an inequality of the domain, c - a·x, as a row in (1, y)."""
        *a, c = self.coordinates.domain.inequalities[number]
        row = (RationalMatrix.from_rows([[-x for x in a]]) @ self.coordinates.inputs).row(0)
        return (row[0] + c, *row[1:])

    @cached_property
    def slacks(self) -> list[tuple[Fraction, ...]]:
        """The inequalities of the domain, c - a·x as rows in (1, y)."""
        return [self.slack(number) for number in range(self.num_inequalities)]

    def _start(self, corners: _Corners) -> tuple[_Box, _Start]:
        """Return a box on the grid, its inputs and its first layer, which no cut by sign changes.

        Box and first layer of the last call are kept, since many nodes of a tree have one box.
        """
        if self._last is None or self._last[0] != corners:
            box = tuple(map(self._on_grid, *corners))
            inputs = self._inputs(box)
            z, d = _layer_forms(self._layers[0], inputs, None, self.grid)
            self._last = corners, box, _Start(inputs, z, d)
        return self._last[1:]

    def _on_grid(self, low: Fraction, high: Fraction) -> tuple[int, int]:
        """Return center and radius of an interval."""
        unit = 1 << self.grid
        bottom, top = low * unit, high * unit
        center = (bottom + top) // 2
        return center, max(0, -((bottom - center) // 1), -((center - top) // 1))

    def _inputs(self, box: Sequence[tuple[int, int]]) -> _Forms:
        """Return the forms of the inputs."""
        matrix = self.coordinates.inputs
        numerators, common = matrix.integer_array().astype(object), matrix.denominator
        centers = numerators[:, 0] << self.grid
        centers = centers + numerators[:, 1:].dot(np.array([m for m, _ in box], dtype=object))
        reach = numerators[:, 1:] * np.array([r for _, r in box], dtype=object)
        scaled = np.concatenate([centers[:, None], reach], axis=1)
        table = scaled // common
        error = len(box) + 1 if (table * common != scaled).any() else 0
        sizes = int(np.abs(table).sum()) + len(table) * error
        return _Forms(_shortest(table), error, sizes)


def _shortest(table: Table) -> Table:
    """Return a table as int64 if its numbers are short."""
    is_short = not table.size or int(np.abs(table).sum(axis=1).max()).bit_length() <= LONGEST
    return table.astype(np.int64) if is_short else table


def _selection(places: Sequence[int], width: int) -> RationalMatrix:
    """Return the matrix with a 1 in each row at its place, and none where that is -1."""
    table = np.zeros((len(places), width), dtype=np.int64)
    for row, place in enumerate(places):
        if place >= 0:
            table[row, place] = 1
    return RationalMatrix.from_integer_array(table, 1)


def _all_partners(
    first: Network, second: Network, matching: Sequence[LayerPartners]
) -> list[LayerPartners]:
    """Return partners of inputs, of all hidden layers, and of outputs."""
    same: list[LayerPartners] = [[(i, Fraction(1)) for i in range(w)] for w in first.widths]
    return [same[0], *matching, same[-1]] if matching else same


def _scales(partners: LayerPartners) -> tuple[Fraction, ...]:
    """Return the scales of neurons, 1 for those without a partner."""
    return tuple(Fraction(1) if entry is None else entry[1] for entry in partners)


def _to_floats(entries: Table, denominator: int) -> Floats:
    """Return integers, or fractions, over a denominator in floats."""
    if entries.dtype != object:
        found: Floats = entries.astype(np.float64) * nearest_float(1, denominator)
        return found
    return np.array(
        [nearest_float(x.numerator, x.denominator * denominator) for x in entries.tolist()]
    )


def _layer_forms(
    layer: _Layer, values: _Forms, differences: _Forms | None, grid: int
) -> tuple[_Forms, _Forms | None]:
    """Return the forms of preactivations of a layer, and of their differences."""
    z = _preactivations([(layer.own, values)], layer.bias, layer.is_bias_exact, grid)
    if layer.by_values is None or layer.by_differences is None:
        return z, None
    terms = [(layer.by_values, values)]
    if differences is not None:
        terms.append((layer.by_differences, differences))
    return z, _preactivations(terms, layer.shift, layer.is_shift_exact, grid)


def _preactivations(
    terms: Sequence[tuple[GridMatrix, _Forms]], bias: Table | None, is_bias_exact: bool, grid: int
) -> _Forms:
    """Return sums of products of matrices with forms, and the bias."""
    tables = [(matrix, forms.table) for matrix, forms in terms]
    largest = sum(matrix.largest_product(table) for matrix, table in tables)
    offset = max(map(abs, bias.tolist()), default=0) if bias is not None else 0
    is_short = (largest >> grid) + offset < 1 << LONGEST - 1
    if not is_short or not all(matrix.is_short for matrix, _ in tables):
        tables = [(matrix, table.astype(object)) for matrix, table in tables]
    elif any(table.dtype == object for _, table in tables):
        tables = [(matrix, _shortest(table)) for matrix, table in tables]
    found, is_exact = shifted_product(tables, grid)
    if bias is not None:
        found[:, 0] += bias if found.dtype == object else bias.astype(np.int64)
    num_generators = max(table.shape[1] for _, table in tables) - 1
    error = sum(matrix.error(forms.error, forms.sizes, grid) for matrix, forms in terms)
    rounding = 0 if is_exact and is_bias_exact else num_generators + 2
    return _Forms(found, error + rounding, 0)


class _Run:
    """One run of the rule, layer by layer."""

    def __init__(self, grid: int, cuts: Mapping[Neuron, int], start: _Start) -> None:
        self.grid, self.cuts, self.start = grid, cuts, start
        self.inputs = self.values = start.inputs
        self.differences = None
        self.sources = list[Neuron]()
        self.signs = list[tuple[tuple[int, ...], tuple[int, ...]]]()
        self.kept = dict[Neuron, tuple[Table, int]]()
        self.is_empty = False

    values: _Forms
    differences: _Forms | None

    def add(self, number: int, layer: _Layer) -> bool:
        """Add a layer; return False if no point of the box has the signs."""
        z, d = self.start.z, self.start.d
        if number > 1:
            z, d = _layer_forms(layer, self.values, self.differences, self.grid)
        if layer.is_hidden:
            z, d = self._activate(number, layer, z, d)
        self.values, self.differences = z, d
        return not self.is_empty

    def _activate(
        self, number: int, layer: _Layer, z: _Forms, d: _Forms | None
    ) -> tuple[_Forms, _Forms | None]:
        """Return the forms of activations, and of their differences."""
        ends = self._ends(number, 0, z.table, z.error)
        relaxed = [_neuron(low, high) for low, high in ends]
        pairs, signs = list[_Pair](), list[int]()
        if d is not None:
            pairs, signs = self._pairs(number, layer, z, d, ends)
        own_signs = tuple(_sign(low, high) for low, high in ends)
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
        values = _Forms(_with_columns(table, own_new, count, total), error, sizes)
        if d is None:
            return values, None
        chosen = _rows(z.table, layer.partners)
        slopes = [pair.p for pair in pairs], [pair.q for pair in pairs]
        table, is_exact = _scaled(chosen, slopes[0], d.table, slopes[1])
        table[:, 0] += np.array([pair.center for pair in pairs], dtype=table.dtype)
        table = _with_columns(table, new, count + len(own_new), total)
        sizes = sum(pair.size for pair in pairs)
        error = z.error + d.error + (0 if is_exact else count)
        return values, _Forms(table, error, sizes)

    def _ends(self, number: int, which: int, table: Table, error: int) -> list[_Interval]:
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

    def _pairs(
        self, number: int, layer: _Layer, z: _Forms, d: _Forms, ends: Sequence[_Interval]
    ) -> tuple[list[_Pair], list[int]]:
        """Return the relaxations of differences, and the signs of the second network."""
        both = _rows(z.table, layer.partners) + d.table
        others = self._ends(number, 1, both, z.error + d.error)
        radii = np.abs(d.table[:, 1:]).sum(axis=1).tolist()
        centers = d.table[:, 0].tolist()
        found, signs = list[_Pair](), list[int]()
        for m, place in enumerate(layer.partners):
            own, other = (ends[place] if place >= 0 else (0, 0)), others[m]
            low = max(centers[m] - radii[m] - d.error, other[0] - own[1])
            high = min(centers[m] + radii[m] + d.error, other[1] - own[0])
            signs.append(_sign(*other))
            if low > high:
                self.is_empty = True
                break
            found.append(_pair(own, (low, high), other))
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
        return np.asarray(total >> _SLOPE_BITS), not (total & _ONE - 1).any()
    mask = (1 << _LOW_BITS) - 1
    zeros = np.zeros_like(one)
    low = sum(((table & mask) * entries for table, entries in columns), zeros)
    high = sum(((table >> _LOW_BITS) * entries for table, entries in columns), zeros)
    is_exact = not (low & _ONE - 1).any()
    return np.asarray((low >> _SLOPE_BITS) + (high << _LOW_BITS - _SLOPE_BITS)), is_exact


def _sign(low: int, high: int) -> int:
    """Return the sign of a neuron, 0 if it is open."""
    return 1 if low >= 0 else -1 if high <= 0 else 0


def _slope(low: int, high: int) -> int:
    """Return the slope of the chord of a ReLU, over 2^16."""
    if low >= 0:
        return _ONE
    return 0 if high <= 0 else (high << _SLOPE_BITS) // (high - low)


def _neuron(low: int, high: int) -> tuple[int, int]:
    """Return the slope of a ReLU, and half of the width of its band."""
    slope = _slope(low, high)
    if slope in (0, _ONE) and _sign(low, high):
        return slope, 0
    gap = max(-slope * low, (_ONE - slope) * high)
    return slope, -(-gap // (2 * _ONE))


class _Pair(NamedTuple):
    """The difference of two ReLUs is near p z + q D: slopes, the band, the size."""

    p: int
    q: int
    center: int
    radius: int
    size: int


def _pair(z: _Interval, d: _Interval, y: _Interval) -> _Pair:
    """Return the relaxation of max(z + D, 0) - max(z, 0)."""
    own, other, size = _sign(*z), _sign(*y), max(-d[0], d[1])
    if own and other:
        q = _ONE if other > 0 else 0
        return _Pair(q - (_ONE if own > 0 else 0), q, 0, 0, size)
    chord, upper = _slope(*z), _slope(*y)
    slopes = [(0, _ONE // 2)]
    if d[0] < 0 < d[1]:
        slopes.append((0, (d[1] << _SLOPE_BITS) // (d[1] - d[0])))
    slopes += [(upper - chord, upper), (0, upper)]
    points = _corners(z, d)
    values = [_ONE * (_relu(x + t, other) - max(x, 0)) for x, t in points]
    best: tuple[int, int, int, int, int] | None = None
    for p, q in slopes:
        rest = [v - p * x - q * t for v, (x, t) in zip(values, points, strict=True)]
        low, high = min(rest), max(rest)
        if best is None or high - low < best[0]:
            best = high - low, p, q, low, high
    assert best is not None
    _, p, q, low, high = best
    center = (low + high) // (2 * _ONE)
    radius = max(-(-high // _ONE) - center, center - low // _ONE)
    return _Pair(p, q, center, radius, size)


def _relu(y: int, sign: int) -> int:
    """Return max(y, 0), or what it is by the sign."""
    return y if sign > 0 else 0 if sign < 0 else max(y, 0)


def _corners(z: _Interval, d: _Interval) -> list[tuple[int, int]]:
    """Return the vertices of a rectangle that is cut by z = 0 and z + D = 0, and more points."""

    def clipped(x: int, ends: _Interval) -> int:
        """The number of an interval that is next to x."""
        return min(max(x, ends[0]), ends[1])

    middle = clipped(0, z)
    found = [(x, t) for t in d for x in (z[0], z[1], middle, clipped(-d[0], z), clipped(-d[1], z))]
    return found + [(x, clipped(-x, d)) for x in (z[0], z[1], middle)]
