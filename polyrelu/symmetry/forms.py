"""Networks as expressions: what is left of them once the signs of some neurons are known.

On a polyhedron where some neurons are known to be nonnegative or nonpositive, a network is an expression in the
coordinates and in *atoms* max(h, 0), h a linear form over 1, the coordinates and earlier atoms. Forms are primitive
integer rows, and each stands for one atom: a neuron whose form is g·h, g > 0, has the activation g·max(h, 0); one whose
form is -g·h has the activation -g·h + g·max(h, 0), because max(t, 0) = t + max(-t, 0). A form without coordinates, with
nonnegative (nonpositive) coefficients on atoms and a constant of the same sign, is its own positive part (is 0).

So neurons that are permuted, scaled, flipped, doubled, cancelled, dead or linear for a reason that shows in the signs
of the weights meet in one expression, in whatever layers they stand, in time linear in the weights unless flips have to
be written out. The expression is a function of the network and the known signs, not of the function: two networks with
equal expressions are equal, and two equal ones may have different expressions. Where all forms are affine in the
coordinates it is the absolute-value normal form (`absolute_value`), and equal functions have equal expressions, once
the atoms that do not bend on the polyhedron are gone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import AnyMatrix, RationalMatrix, SparseMatrix, integer_product
from polyrelu.network import Layer, Network

__all__ = ["Atom", "Expressions", "KnownSigns", "NetworkForms", "Neuron", "Row", "Values", "negated"]


class Row(NamedTuple):
    """A sparse integer row over the symbols 1, coordinates, atoms (in this order, from 0); columns ascend."""

    columns: tuple[int, ...]
    numerators: tuple[int, ...]


class Neuron(NamedTuple):
    """A neuron of one of several networks: the network's number from 0, the layer from 1, the place from 0."""

    network: int
    layer: int
    place: int


def negated(row: Row) -> Row:
    """The row times -1."""
    return Row(row.columns, tuple(-entry for entry in row.numerators))


@dataclass(frozen=True, slots=True)
class Atom:
    """max(form, 0), and the first neuron that has this form up to a positive factor.

    Attributes
    ----------
    symbol : its column in rows.
    unit : the preactivation of that neuron is unit · form.
    is_affine : whether the form has coordinates only.
    """

    symbol: int
    form: Row
    neuron: Neuron
    unit: Fraction
    is_affine: bool


@dataclass(frozen=True, slots=True)
class KnownSigns:
    """Signs that hold on a polyhedron: 1 for nonnegative, -1 for nonpositive.

    Attributes
    ----------
    forms : of affine forms, by primitive row; a form and its negative are both listed.
    neurons : of neurons whose form was not affine when their sign was found.
    """

    forms: Mapping[Row, int] = field(default_factory=dict)
    neurons: Mapping[Neuron, int] = field(default_factory=dict)

    def extended(self, found: Iterable[tuple[Atom, int]]) -> KnownSigns:
        """With the signs of further atoms' forms."""
        forms, neurons = dict(self.forms), dict(self.neurons)
        for atom, sign in found:
            if atom.is_affine:
                forms[atom.form], forms[negated(atom.form)] = sign, -sign
            else:
                neurons[atom.neuron] = sign
        return KnownSigns(forms, neurons)


_Rows: TypeAlias = tuple[list[Row], int]  # over one denominator


@dataclass(frozen=True, slots=True)
class Expressions:
    """The outputs of networks on a polyhedron as rows over the symbols.

    Attributes
    ----------
    dimension : the number d of coordinates; column 0 stands for 1, columns 1 … d for them, the rest for the atoms.
    atoms : in the order of their columns.
    outputs : for each network its outputs, integer rows over a denominator.
    """

    dimension: int
    atoms: list[Atom]
    outputs: list[_Rows]

    def difference(self) -> list[Row]:
        """The rows of outputs[0] - outputs[1] that are not zero, as primitive rows."""
        (first, p), (second, q) = self.outputs
        rows = []
        for mine, other in zip(first, second, strict=True):
            sums: dict[int, int] = {}
            _accumulate(sums, mine, q)
            _accumulate(sums, other, -p)
            row = _row(sums)
            if row.columns:
                rows.append(_primitive(row)[0])
        return rows

    def used(self, rows: Iterable[Row]) -> list[Atom]:
        """The atoms that rows contain, and the atoms in their forms, and so on, in order."""
        first = 1 + self.dimension
        needed = {column for row in rows for column in row.columns if column >= first}
        for atom in reversed(self.atoms):
            if atom.symbol in needed and not atom.is_affine:
                needed.update(column for column in atom.form.columns if column >= first)
        return [atom for atom in self.atoms if atom.symbol in needed]


@dataclass(frozen=True, slots=True)
class Values:
    """Networks at a point.

    Attributes
    ----------
    signs : of all hidden neurons, network by network, layer by layer.
    outputs : for each network its outputs as integers over a scale (and over the point's own t).
    """

    signs: NDArray[np.int8]
    outputs: list[tuple[list[int], int]]

    def differ(self) -> bool:
        """Whether the outputs of the first two networks differ."""
        (first, p), (second, q) = self.outputs
        return any(x * q != y * p for x, y in zip(first, second, strict=True))


class NetworkForms:
    """Networks, prepared to be written as expressions again and again.

    Parameters
    ----------
    networks : all with n inputs.
    inputs : shape (n, 1 + d), the inputs as affine forms in d coordinates, the constant in front.

    >>> from polyrelu.network import from_arrays
    >>> one = from_arrays([([[1], [2]], [0, 1]), ([[3, 4]], [0])])
    >>> two = from_arrays([([[-4], [2]], [-2, 0]), ([[2, "3/2"]], [4])])  # flipped, scaled, permuted
    >>> forms = NetworkForms([one, two], RationalMatrix.from_integers([[0, 1]]))
    >>> forms.expressions(KnownSigns()).difference()
    [Row(columns=(1,), numerators=(1,))]
    """

    def __init__(self, networks: Sequence[Network], inputs: RationalMatrix) -> None:
        self.dimension = inputs.ncols - 1
        self._networks = [[_Weights(layer) for layer in network.layers] for network in networks]
        self._hidden = [network.hidden_layers for network in networks]
        self._inputs: _Rows = ([_sparse(row) for row in inputs.integer_rows()], inputs.denominator)
        places = accumulate(
            (layer.width for network in networks for layer in network.layers[: network.hidden_layers]), initial=0
        )
        self._starts = [[next(places) for _ in range(hidden)] for hidden in self._hidden]
        self._first = [layers[0].preactivations([self._inputs]) for layers in self._networks]

    def expressions(self, known: KnownSigns) -> Expressions:
        """The outputs where the known signs hold."""
        table = _Table(self.dimension, known)
        outputs = [self._outputs(number, table) for number in range(len(self._networks))]
        return Expressions(self.dimension, table.atoms, outputs)

    def values_at(self, point: Sequence[int]) -> Values:
        """The signs of all hidden neurons, and the outputs, at a point (t, t·y) in homogeneous integers, t > 0."""
        signs, outputs = list[int](), list[tuple[list[int], int]]()
        inputs = [sum(x * point[c] for c, x in zip(*row, strict=True)) for row in self._inputs[0]]
        for layers, hidden in zip(self._networks, self._hidden, strict=True):
            activations, scales = [inputs], [self._inputs[1]]
            for number, layer in enumerate(layers, 1):
                z, scale = layer.values(activations, scales, point[0])
                scales.append(scale)
                if number <= hidden:
                    signs += [(x > 0) - (x < 0) for x in z]
                    z = [max(x, 0) for x in z]
                activations.append(z)
            outputs.append((activations[-1], scales[-1]))
        return Values(np.array(signs, dtype=np.int8), outputs)

    def position(self, neuron: Neuron) -> int:
        """Where a neuron's sign stands in `Values.signs`."""
        return self._starts[neuron.network][neuron.layer - 1] + neuron.place

    def _outputs(self, number: int, table: _Table) -> _Rows:
        layers, activations = self._networks[number], [self._inputs]
        for layer_number, layer in enumerate(layers, 1):
            rows, denominator = self._first[number] if layer_number == 1 else layer.preactivations(activations)
            if layer_number > self._hidden[number]:
                return rows, denominator
            found = [table.activation(row, denominator, Neuron(number, layer_number, i)) for i, row in enumerate(rows)]
            activations.append((found, denominator))
        return activations[-1]


class _Weights:
    """A layer as integers over one denominator."""

    def __init__(self, layer: Layer) -> None:
        parts: list[AnyMatrix] = [layer.bias, *(block.entries for block in layer.blocks)]
        self._denominator = math.lcm(*(part.denominator for part in parts))
        factors = [self._denominator // part.denominator for part in parts]
        self._bias = [row[0] * factors[0] for row in layer.bias.integer_rows()]
        self._blocks = [
            (block.source, _scaled_rows(block.entries, factor))
            for block, factor in zip(layer.blocks, factors[1:], strict=True)
        ]

    def values(self, activations: Sequence[list[int]], scales: Sequence[int], unit: int) -> tuple[list[int], int]:
        """z in integers over a scale and the unit of the point, from activations over theirs."""
        common = math.lcm(*(scales[source] for source, _ in self._blocks))
        z = [bias * common * unit for bias in self._bias]
        for source, weights in self._blocks:
            factor, a = common // scales[source], activations[source]
            for i, (columns, entries) in enumerate(weights):
                z[i] += factor * sum([w * a[j] for j, w in zip(columns, entries, strict=True)])
        return z, self._denominator * common

    def preactivations(self, activations: Sequence[_Rows]) -> _Rows:
        """z as rows over a denominator, from the activations of the input and all layers before."""
        common = math.lcm(*(activations[source][1] for source, _ in self._blocks))
        sums: list[dict[int, int]] = [{0: bias * common} for bias in self._bias]
        for source, weights in self._blocks:
            rows, denominator = activations[source]
            _add_product(sums, weights, rows, common // denominator)
        return _lowest_terms([_row(entries) for entries in sums], self._denominator * common)


def _add_product(sums: list[dict[int, int]], weights: list[Row], rows: list[Row], factor: int) -> None:
    """Add factor · weights · rows. Rows of one entry, the most frequent ones, cost one step for each weight."""
    single = {j: (row.columns[0], row.numerators[0] * factor) for j, row in enumerate(rows) if len(row.columns) == 1}
    for entries, weight in zip(sums, weights, strict=True):
        for j, w in zip(*weight, strict=True):
            if j in single:
                column, size = single[j]
                entries[column] = entries.get(column, 0) + w * size
    several = [j for j, row in enumerate(rows) if len(row.columns) > 1]
    if not several:
        return
    used = sorted({column for j in several for column in rows[j].columns})
    place = {column: k for k, column in enumerate(used)}
    table = [_dense(rows[j], place, factor) for j in several]
    position = {j: k for k, j in enumerate(several)}
    product = integer_product([_dense(weight, position, 1) for weight in weights], table)
    for entries, line in zip(sums, product, strict=True):
        for column, entry in zip(used, line, strict=True):
            if entry:
                entries[column] = entries.get(column, 0) + entry


class _Table:
    """The atoms so far, and what is known."""

    def __init__(self, dimension: int, known: KnownSigns) -> None:
        self.dimension, self.known = dimension, known
        self.atoms: list[Atom] = []
        self._symbols: dict[Row, int] = {}

    def activation(self, row: Row, denominator: int, neuron: Neuron) -> Row:
        """The positive part of a preactivation, both over one denominator."""
        if not row.columns:
            return row
        sign = self.known.neurons.get(neuron, 0) or self._shown(row)
        if not sign:
            form, factor = _primitive(row)
            sign = self.known.forms.get(form, 0)
            if not sign:
                return self._positive_part(row, form, factor, Fraction(factor, denominator), neuron)
        return row if sign > 0 else _ZERO

    def _shown(self, row: Row) -> int:
        """The sign that the coefficients show, if the row has no coordinates."""
        first_symbol = row.columns[0] or (row.columns[1] if len(row.columns) > 1 else self.dimension + 1)
        if first_symbol <= self.dimension:
            return 0
        return 1 if min(row.numerators) > 0 else -1 if max(row.numerators) < 0 else 0

    def _positive_part(self, row: Row, form: Row, factor: int, unit: Fraction, neuron: Neuron) -> Row:
        symbol = self._symbols.get(form)
        if symbol is None:
            opposite = self._symbols.get(negated(form))
            if opposite is not None:
                entries = dict(zip(*row, strict=True))
                entries[opposite] = entries.get(opposite, 0) + factor
                return _row(entries)
            symbol = 1 + self.dimension + len(self.atoms)
            self._symbols[form] = symbol
            self.atoms.append(Atom(symbol, form, neuron, unit, form.columns[-1] <= self.dimension))
        return Row((symbol,), (factor,))


_ZERO = Row((), ())


# -- rows -----------------------------------------------------------------------------------------------------------


def _row(entries: dict[int, int]) -> Row:
    kept = sorted((column, entry) for column, entry in entries.items() if entry)
    return Row(tuple(column for column, _ in kept), tuple(entry for _, entry in kept))


def _accumulate(sums: dict[int, int], row: Row, factor: int) -> None:
    for column, entry in zip(*row, strict=True):
        sums[column] = sums.get(column, 0) + factor * entry


def _primitive(row: Row) -> tuple[Row, int]:
    """(h, g), row = g h, g > 0, the entries of h without a common divisor."""
    divisor = math.gcd(*row.numerators)
    if divisor == 1:
        return row, 1
    return Row(row.columns, tuple(entry // divisor for entry in row.numerators)), divisor


def _lowest_terms(rows: list[Row], denominator: int) -> _Rows:
    """The same numbers over the least denominator: they grow from layer to layer otherwise."""
    divisor = math.gcd(denominator, *(math.gcd(*row.numerators) for row in rows))
    if divisor == 1:
        return rows, denominator
    return [Row(row.columns, tuple(x // divisor for x in row.numerators)) for row in rows], denominator // divisor


def _sparse(row: Sequence[int]) -> Row:
    columns = tuple(j for j, entry in enumerate(row) if entry)
    return Row(columns, tuple(row[j] for j in columns))


def _dense(row: Row, place: Mapping[int, int], factor: int) -> list[int]:
    """The row as a list, column j at place[j], other columns left out."""
    line = [0] * len(place)
    for column, entry in zip(*row, strict=True):
        if column in place:
            line[place[column]] = entry * factor
    return line


def _scaled_rows(matrix: AnyMatrix, factor: int) -> list[Row]:
    if isinstance(matrix, SparseMatrix):
        rows = [Row(tuple(columns), tuple(entries)) for columns, entries in matrix.rows_of_entries()]
    else:
        rows = [_sparse(row) for row in matrix.integer_rows()]
    return [Row(row.columns, tuple(entry * factor for entry in row.numerators)) for row in rows]
