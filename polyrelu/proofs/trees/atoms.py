"""The atoms of two networks, which are found while their layers are read.

`expressions` says what an atom is. The order in which atoms are found, and which neurons share one,
are part of the certificate format (FORMAT.md §5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from polyrelu.exact import AnyMatrix
from polyrelu.network import Layer, Network
from polyrelu.proofs.trees.sparse_forms import (
    ZERO,
    RationalForms,
    SparseForm,
    add_product,
    lowest_terms,
    negated,
    primitive_row,
    row_from_entries,
    scaled_rows,
)

__all__ = ["Atom", "AtomTable", "Neuron", "outputs_over_atoms", "sign_of_coefficients"]


class Neuron(NamedTuple):
    """A neuron of one of two networks.

    Attributes
    ----------
    network
        Number of the network, 0 or 1.
    layer
        Number of the layer, from 1.
    index_in_layer
        Index in the layer, from 0.
    """

    network: int
    layer: int
    index_in_layer: int


@dataclass(frozen=True, slots=True)
class Atom:
    """An atom max(form, 0) of a joint network.

    Attributes
    ----------
    symbol
        The number by which forms refer to the atom.
    form
        A primitive form over 1, the coordinates and earlier atoms.
    neuron
        The first neuron with this form, up to a positive factor.
    level
        1 if the form is affine in the coordinates, otherwise one more than the highest level of an
        atom in the form; 0 for the atom of a lifted neuron.
    """

    symbol: int
    form: SparseForm
    neuron: Neuron
    level: int


def sign_of_coefficients(row: SparseForm, inputs: int) -> int:
    """Return the sign of a form that its coefficients alone show, or 0.

    It is 1 (-1) if no input occurs and all coefficients are positive (negative), because atoms are
    nonnegative.
    """
    first = row.columns[0] if row.columns else 0
    if first == 0 and len(row.columns) > 1:
        first = row.columns[1]
    if 1 <= first <= inputs or not row.columns:
        return 0
    return 1 if min(row.numerators) > 0 else -1 if max(row.numerators) < 0 else 0


class AtomTable:
    """The atoms of two networks while their layers are read.

    Attributes
    ----------
    atoms
        The atoms found so far, in order.
    lifted
        The atoms of the lifted neurons, by symbol.
    """

    def __init__(self, inputs: int, dimension: int, lift: Mapping[Neuron, int]) -> None:
        self._inputs, self._dimension, self._lifted_symbols = inputs, dimension, lift
        self.atoms: list[Atom] = []
        self.lifted: dict[int, Atom] = {}
        self._symbols: dict[SparseForm, Atom] = {}
        self._networks_with: dict[int, set[int]] = {}  # the networks with an atom, by symbol

    def common(self) -> list[Neuron]:
        """Return the neurons of `JointNetwork.common`."""
        common: dict[int, Neuron] = {}
        for atom in self.atoms:
            inner = (column for column in atom.form.columns if column > self._dimension)
            if len(self._networks_with[atom.symbol]) > 1 and all(
                column in common for column in inner
            ):
                common[atom.symbol] = atom.neuron
        return list(common.values())

    def activation(self, row: SparseForm, sign: int, neuron: Neuron) -> SparseForm:
        """Return the positive part of a preactivation, over the preactivation's denominator.

        `sign` is the sign that the neuron's weights show, or 0.
        """
        sign = sign or sign_of_coefficients(row, self._inputs)
        if sign or not row.columns:
            return row if sign > 0 else ZERO
        form, factor = primitive_row(row)
        opposite = self._symbols.get(negated(form)) if form not in self._symbols else None
        atom = opposite or self._symbols.get(form) or self._new(form, neuron)
        self._networks_with.setdefault(atom.symbol, set()).add(neuron.network)
        if opposite is None:
            return SparseForm((atom.symbol,), (factor,))
        entries = dict(zip(*row, strict=True))  # max(t, 0) = t + max(-t, 0)
        entries[atom.symbol] = entries.get(atom.symbol, 0) + factor
        return row_from_entries(entries)

    def _new(self, form: SparseForm, neuron: Neuron) -> Atom:
        """Enter an atom for the form of a neuron, with a symbol and level if it has none.

        A neuron whose activation is a coordinate of a lifted domain has its symbol already.
        """
        symbol, level = self._lifted_symbols.get(neuron, 0), 0
        if not symbol:
            symbol = 1 + self._dimension + len(self.atoms)
            inner = [
                self.atoms[c - 1 - self._dimension].level
                for c in form.columns
                if c > self._dimension
            ]
            level = 1 + max(inner, default=0)
        atom = Atom(symbol, form, neuron, level)
        self._symbols[form] = atom
        if level:
            self.atoms.append(atom)
        else:
            self.lifted[symbol] = atom
        return atom


def outputs_over_atoms(
    network: Network,
    number: int,
    inputs: RationalForms,
    table: AtomTable,
    check: Callable[[], None],
) -> RationalForms:
    """Enter the activations of a network in the table; return its output rows and denominator."""
    activations = [inputs]
    for layer_number, layer in enumerate(network.layers, 1):
        check()
        weights = _IntegerLayer(layer)
        rows, denominator = weights.preactivations(activations)
        if layer_number > network.num_hidden_layers:
            return rows, denominator
        signs = weights.signs(activations)
        positive_parts = [
            table.activation(row, sign, Neuron(number, layer_number, i))
            for i, (row, sign) in enumerate(zip(rows, signs, strict=True))
        ]
        activations.append((positive_parts, denominator))
    return activations[-1]


class _IntegerLayer:
    """The weights and biases of a layer as integers over one denominator."""

    def __init__(self, layer: Layer) -> None:
        parts: list[AnyMatrix] = [layer.bias, *(block.entries for block in layer.blocks)]
        self._denominator = math.lcm(*(part.denominator for part in parts))
        factors = [self._denominator // part.denominator for part in parts]
        self._bias = [row[0] * factors[0] for row in layer.bias.integer_rows()]
        self._blocks = [
            (block.source, scaled_rows(block.entries, factor))
            for block, factor in zip(layer.blocks, factors[1:], strict=True)
        ]

    def signs(self, activations: Sequence[RationalForms]) -> list[int]:
        """Return the sign of each preactivation that the neuron's weights show, or 0.

        A sign is shown if the neuron reads no input and its bias and its weights on activations
        that are not 0 have one sign. The form of the neuron need not show this sign, because flips
        write an activation as a difference.
        """
        least, greatest = list(self._bias), list(self._bias)
        for source, weights in self._blocks:
            rows, _ = activations[source]
            for i, weight in enumerate(weights):
                present = [w for j, w in zip(*weight, strict=True) if rows[j].columns]
                if source == 0 and present:
                    present = [1, -1]
                least[i], greatest[i] = min([least[i], *present]), max([greatest[i], *present])
        return [
            1 if low >= 0 else -1 if high <= 0 else 0
            for low, high in zip(least, greatest, strict=True)
        ]

    def preactivations(self, activations: Sequence[RationalForms]) -> RationalForms:
        """Return the preactivations as rows over a denominator, given all earlier activations."""
        common = math.lcm(*(activations[source][1] for source, _ in self._blocks))
        sums: list[dict[int, int]] = [{0: bias * common} for bias in self._bias]
        for source, weights in self._blocks:
            rows, denominator = activations[source]
            add_product(sums, weights, rows, common // denominator)
        return lowest_terms(
            [row_from_entries(entries) for entries in sums], self._denominator * common
        )
