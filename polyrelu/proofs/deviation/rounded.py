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
from typing import Any, Literal, TypeAlias

import numpy as np

from polyrelu.certificate import LinearRow
from polyrelu.exact import RationalMatrix, nearest_float
from polyrelu.network import Network
from polyrelu.proofs.deviation.backward_rule import BackwardLayer, BackwardRun
from polyrelu.proofs.deviation.grid_layers import (
    GridForms,
    GridLayer,
    GridRun,
    GridStart,
    Neuron,
    PairEnds,
    layer_forms,
    shortest,
)
from polyrelu.proofs.deviation.grid_products import LONGEST, GridMatrix, Table
from polyrelu.proofs.deviation.joint_rule import JointLayer, JointRun
from polyrelu.proofs.deviation.relu_bands import Interval
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.budget import Check, no_check
from polyrelu.support.typing import Floats

__all__ = ["LayerPartners", "LeafKind", "RoundedLeaf", "RoundedRule", "integer_weights"]

#: Leaves without numbers: by forms; with backward bounds of each network; of both networks at once.
LeafKind: TypeAlias = Literal["leaf", "backward", "joint"]

#: For each hidden layer the partners of the neurons of the second network, and their scales.
LayerPartners: TypeAlias = Sequence[tuple[int, Fraction] | None]
_Corners: TypeAlias = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
#: Center and radius of each coordinate on the grid.
_Box: TypeAlias = tuple[tuple[int, int], ...]


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
    ends, pair_ends
        For each hidden layer the intervals of the neurons of the first network, and for each
        neuron of the second one the intervals of its partner, of the difference, and its own.
    sources
        The neurons whose relaxations made the generators after the ones of the coordinates, in
        their order. A neuron of the second network stands for the difference from its partner.
    """

    is_empty: bool
    signs: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    ends: tuple[list[Interval], ...]
    pair_ends: tuple[list[PairEnds], ...]
    sources: tuple[Neuron, ...]
    _rule: RoundedRule
    _box: _Box
    _forms: tuple[GridForms, ...]
    _kept: tuple[tuple[Table, int], ...]
    _run: GridRun

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
        weights = integer_weights(row)
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

    def upper_bounds(self, rows: Sequence[LinearRow]) -> list[Fraction]:
        """Return upper bounds of rows; on leaves `backward` and `joint` the best ones of all."""
        found = [self.upper_bound(row) for row in rows]
        if not isinstance(self._run, BackwardRun):
            return found
        return list(map(min, found, self._backward_bounds(self._run, rows)))

    def _backward_bounds(self, run: BackwardRun, rows: Sequence[LinearRow]) -> list[Fraction]:
        """Return the backward bounds of rows; on a leaf `joint` the better ones of two."""
        size = len(self._box)
        inputs, errors = np.zeros((len(rows), 1 + size), dtype=object), list[int]()
        outputs: tuple[list[dict[int, int]], ...] = ([], [])
        scales = list[int]()
        for k, row in enumerate(rows):
            scale, x, both, other = integer_weights(row)
            outputs[0].append({i: w - other.get(i, 0) for i, w in both.items()})
            outputs[1].append(other)
            entries, error = _combination((x,), self._forms)
            inputs[k] = entries[: 1 + size]
            errors.append(error)
            scales.append(scale)
        counted = np.array(errors, dtype=object)
        bounds = run.row_bounds(outputs, inputs, counted)
        if isinstance(run, JointRun):
            bounds = list(map(min, bounds, run.joint_row_bounds(outputs, inputs, counted)))
        return [
            bound / scale + row.constant
            for bound, scale, row in zip(bounds, scales, rows, strict=True)
        ]

    def input_parts(self, row: LinearRow) -> list[int]:
        """Return how much a row depends on each coordinate: sizes of its first generators."""
        weights = integer_weights(row)
        total, _ = _combination(weights[1:], self._forms)
        return [abs(int(entry)) for entry in total[1 : 1 + len(self._box)]]

    def float_form(self, row: LinearRow) -> Floats:
        """Return the form of a row in floats, the center first."""
        weights = integer_weights(row)
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


def integer_weights(row: LinearRow) -> tuple[int, dict[int, int], dict[int, int], dict[int, int]]:
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


def _combination(
    weights: tuple[dict[int, int], ...], forms: Sequence[GridForms]
) -> tuple[Table, int]:
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
    layers
        The layers on the grid.
    in_core
        Rows, and the rule for them in the compiled core, once it was asked for (`CompiledRule`).
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
        self.in_core: tuple[Sequence[LinearRow], Any] | None = None
        self._last: tuple[_Corners, _Box, GridStart] | None = None
        pairs = [] if second is None else _all_partners(first, second, matching)
        self._partners = pairs
        self.layers = [
            self._layer(first, second, number, pairs) for number in range(1, first.depth + 1)
        ]

    def _layer(
        self, first: Network, second: Network | None, number: int, pairs: Sequence[LayerPartners]
    ) -> GridLayer:
        """Return a layer on the grid."""
        is_hidden = number <= first.num_hidden_layers
        is_last = number == first.num_hidden_layers
        weight, bias = first.weight(number), first.bias(number)
        own, on_grid = GridMatrix(weight, self.grid), GridMatrix(bias, self.grid)
        own_bias, is_exact = on_grid.rows[:, 0], not on_grid.is_rounded
        if second is None:
            none = None, None, None, (), ()
            return GridLayer(own, own_bias, *none, is_hidden, is_last, is_exact, True)
        (aligned, _), (by_values, moved) = _differences(first, second, number, pairs)
        shift = GridMatrix(moved, self.grid)
        return GridLayer(
            own,
            own_bias,
            GridMatrix(by_values, self.grid),
            GridMatrix(aligned, self.grid),
            shift.rows[:, 0],
            _places(pairs[number]),
            _scales(pairs[number]),
            is_hidden,
            is_last,
            is_exact,
            not shift.is_rounded,
        )

    def leaf(
        self,
        lower: Sequence[Fraction],
        upper: Sequence[Fraction],
        signs: Mapping[Neuron, int] | None = None,
        kind: LeafKind = "leaf",
        check: Check = no_check,
    ) -> RoundedLeaf:
        """Return the forms on a box in the coordinates, with signs of neurons cut from the root.

        On leaves `backward` and `joint` intervals are narrower, and take longer. `check` is called
        now and then, and may raise.
        """
        box, start = self._start((tuple(lower), tuple(upper)), check)
        run = GridRun(self.grid, signs or {}, start)
        if kind == "joint" and self.second is not None:
            layers = self.backward_layers, self._joint_layers
            run = JointRun(self.grid, signs or {}, start, *layers)
        elif kind != "leaf":
            run = BackwardRun(self.grid, signs or {}, start, self.backward_layers)
        run.check = check
        for number, layer in enumerate(self.layers, 1):
            if not run.add(number, layer):
                return RoundedLeaf(True, (), (), (), (), self, box, (), (), run)
        forms = (run.inputs, run.values, *([run.differences] if run.differences else []))
        kept = tuple(run.kept[neuron] for neuron in signs or {})
        return RoundedLeaf(
            False,
            tuple(run.signs),
            tuple(run.ends),
            tuple(run.pair_ends),
            tuple(run.sources),
            self,
            box,
            forms,
            kept,
            run,
        )

    @cached_property
    def backward_layers(self) -> list[list[BackwardLayer]]:
        """The layers of both networks for bounds from later layers to the first one."""
        numbers, grid = range(1, self.first.depth + 1), self.grid
        layers = [(self.first.weight(n), self.first.bias(n)) for n in numbers]
        found = [[BackwardLayer(*layer, grid) for layer in layers]]
        if self.second is not None:
            aligned = (_aligned(self.second, n, self._partners) for n in numbers)
            found.append([BackwardLayer(*layer, grid) for layer in aligned])
        return found

    @cached_property
    def _joint_layers(self) -> list[JointLayer]:
        """The layers of both networks for the same with differences."""
        assert self.second is not None
        found = list[JointLayer]()
        for number in range(1, self.first.depth + 1):
            own = self.first.weight(number), self.first.bias(number)
            others, changes = _differences(self.first, self.second, number, self._partners)
            found.append(JointLayer(own, changes, others[0], self.grid))
        return found

    def partner(self, layer: int, index: int) -> int:
        """Return the partner in the first network of a neuron of the second one, -1 without one."""
        return self.layers[layer - 1].partners[index]

    def scale(self, neuron: Neuron) -> Fraction:
        """Return the positive number by which the forms of a neuron are divided.

        Only a neuron of the second network with a partner has a number other than 1.
        """
        which, layer, index = neuron
        return self.layers[layer - 1].scales[index] if which else Fraction(1)

    def slack(self, number: int) -> tuple[Fraction, ...]:
        """Return an inequality of the domain, c - a·x, as a row in (1, y)."""
        *a, c = self.coordinates.domain.inequalities[number]
        row = (RationalMatrix.from_rows([[-x for x in a]]) @ self.coordinates.inputs).row(0)
        return (row[0] + c, *row[1:])

    @cached_property
    def slacks(self) -> list[tuple[Fraction, ...]]:
        """The inequalities of the domain, c - a·x as rows in (1, y)."""
        return [self.slack(number) for number in range(self.num_inequalities)]

    def _start(self, corners: _Corners, check: Check) -> tuple[_Box, GridStart]:
        """Return a box on the grid, its inputs and its first layer, which no cut by sign changes.

        Box and first layer of the last call are kept, since many nodes of a tree have one box.
        """
        if self._last is None or self._last[0] != corners:
            box = tuple(map(self.on_grid, *corners))
            inputs = self._inputs(box)
            z, d = layer_forms(self.layers[0], inputs, None, self.grid, check)
            self._last = corners, box, GridStart(inputs, z, d)
        return self._last[1:]

    def on_grid(self, low: Fraction, high: Fraction) -> tuple[int, int]:
        """Return center and radius of an interval."""
        (first, below), (last, above) = (
            (end.numerator << self.grid, end.denominator) for end in (low, high)
        )
        center = (first * above + last * below) // (2 * below * above)
        return center, max(0, center - first // below, -(-last // above) - center)

    def _inputs(self, box: Sequence[tuple[int, int]]) -> GridForms:
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
        return GridForms(shortest(table), error, sizes)


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


def _aligned(
    second: Network, number: int, pairs: Sequence[LayerPartners]
) -> tuple[RationalMatrix, RationalMatrix]:
    """Return weights and biases of a layer of the second network over the scales."""
    inverse = [1 / scale for scale in _scales(pairs[number])]
    weight = second.weight(number).scale_columns(_scales(pairs[number - 1]))
    return weight.scale_rows(inverse), second.bias(number).scale_rows(inverse)


def _differences(
    first: Network, second: Network, number: int, pairs: Sequence[LayerPartners]
) -> tuple[tuple[RationalMatrix, RationalMatrix], tuple[RationalMatrix, RationalMatrix]]:
    """Return the aligned layer of the second network, and what it adds to its partners' layer."""
    weight, bias = first.weight(number), first.bias(number)
    aligned, shift = _aligned(second, number, pairs)
    chosen = _selection(_places(pairs[number]), weight.nrows)
    below = _selection(_places(pairs[number - 1]), weight.ncols)
    return (aligned, shift), (aligned @ below - chosen @ weight, shift - chosen @ bias)


def _places(partners: LayerPartners) -> tuple[int, ...]:
    """Return the indices of partners, -1 without one."""
    return tuple(-1 if entry is None else entry[0] for entry in partners)


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
