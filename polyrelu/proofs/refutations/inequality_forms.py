"""Linear forms over the inputs and activations of a network that are valid inequalities.

`valid_inequalities` says which they are, and derives further ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

from polyrelu.exact import Polyhedron, column_basis
from polyrelu.network import Layer, Network, NeuronId
from polyrelu.proofs.refutations.settings import SETTINGS

__all__ = [
    "GUARD",
    "ONE",
    "DerivedInequality",
    "Form",
    "Inequality",
    "InequalityForms",
    "Multipliers",
    "add_multiple",
    "denominator_of",
]

#: Integer coefficients by symbol. Symbol 0 is the constant 1; then come the inputs and then the
#: activations of the hidden neurons, layer by layer.
Form: TypeAlias = dict[int, int]


class Inequality(NamedTuple):
    """The name of a valid inequality; `InequalityForms.inequality` returns its form.

    `one_sided` translates these names into the numbers that FORMAT.md §3.3 gives to facts.

    Attributes
    ----------
    kind
        ``one``: 1 ≥ 0. ``activation``: a ≥ 0. ``relu``: d a - t ≥ 0. ``guard``: t - d a ≥ 0 for the
        guard. ``domain``: c - a·x ≥ 0. ``derived``: G - q d a ≥ 0.
    number
        The neuron number for ``activation`` and ``relu``; the index in
        `InequalityForms.derivations` for ``derived``, and in the inequalities of the domain for
        ``domain``; 0 for the others.
    """

    kind: Literal["one", "activation", "relu", "guard", "domain", "derived"]
    number: int = 0


#: The inequality 1 ≥ 0, and t - d a ≥ 0 for the guard.
ONE, GUARD = Inequality("one"), Inequality("guard")

#: Nonnegative integers by the inequalities that they multiply.
Multipliers: TypeAlias = dict[Inequality, int]


class DerivedInequality(NamedTuple):
    """The inequality q d a ≤ G for the activation a of a neuron.

    Attributes
    ----------
    neuron
        The neuron number.
    scale
        The factor q.
    upper
        The multipliers of the valid inequalities whose sum is G.
    remainder
        The multipliers of valid inequalities such that their sum is at most G - q t, with a
        difference whose coefficients show that it is nonnegative.
    form
        The form G - q d a.
    """

    neuron: int
    scale: int
    upper: Multipliers
    remainder: Multipliers
    form: Form


def denominator_of(layer: Layer) -> int:
    """Return the least common denominator of the weights and biases of a layer."""
    weights = (block.entries.denominator for block in layer.blocks)
    return math.lcm(layer.bias.denominator, *weights)


class _IntegerLayer(NamedTuple):
    """The rows of a layer by the layers that it reads, and its bias, over one denominator."""

    denominator: int
    blocks: list[tuple[int, list[list[int]]]]
    bias: list[int]

    @classmethod
    def of(cls, layer: Layer) -> _IntegerLayer:
        """Bring the weights and the biases of a layer over their common denominator."""
        weights = [(block.source, block.weight) for block in layer.blocks]
        common = denominator_of(layer)
        factors = [common // w.denominator for _, w in weights]
        blocks = [
            (source, [[factor * x for x in row] for row in w.integer_rows()])
            for (source, w), factor in zip(weights, factors, strict=True)
        ]
        factor = common // layer.bias.denominator
        return cls(common, blocks, [factor * row[0] for row in layer.bias.integer_rows()])


class InequalityForms:
    """The forms of the valid inequalities of a network.

    Attributes
    ----------
    network
        The network.
    domain
        The domain, a polyhedron without equations; None for R^n.
    walls
        The forms c - a·x of its inequalities.
    first
        The symbol of the activation of neuron 0.
    layers
        The layer of each hidden neuron, by its number.
    denominators
        For each layer the denominator of its integer rows.
    derivations
        The inequalities that were derived so far, in order.
    unguarded
        The names of the derived inequalities that hold without a guard.
    """

    def __init__(self, network: Network, domain: Polyhedron | None = None) -> None:
        self.network, self.domain = network, domain
        self.walls = [_slack(row) for row in (() if domain is None else domain.inequalities)]
        widths = network.widths
        self._starts = list(accumulate(widths, initial=1))
        self.first = self._starts[1]
        tables = [_IntegerLayer.of(layer) for layer in network.layers]
        self.denominators = [table.denominator for table in tables]
        self._tables = tables
        self.layers = [number for number in range(1, network.depth) for _ in range(widths[number])]
        self.derivations: list[DerivedInequality] = []
        self.unguarded: list[Inequality] = []
        self._relu_inequalities: dict[int, Form] = {}

    @cached_property
    def dependent_inputs(self) -> frozenset[int]:
        """Return the symbols of inputs that no linear program has to look at.

        In every form here the coefficients of the inputs are a sum of multiples of rows of W[1], if
        there is no domain, and later layers do not read the inputs. So they vanish if those vanish
        that belong to a basis of its columns.
        """
        weight = self.network.weight(1)
        is_large = weight.nrows * weight.ncols > SETTINGS.max_basis_entries
        if not self.network.is_plain:
            return frozenset()
        if self.domain is not None or weight.nrows >= weight.ncols or is_large:
            return frozenset()
        return frozenset(range(1, self.first)) - {1 + j for j in column_basis(weight)}

    def number_of(self, neuron: NeuronId) -> int:
        """Return the number of a hidden neuron, counted from 0 layer by layer."""
        return self._starts[neuron.layer] + neuron.index - self.first

    def num_neurons_before(self, layer: int) -> int:
        """Return the number of hidden neurons in the layers before a layer."""
        return self._starts[layer] - self.first

    def preactivation(self, neuron: NeuronId, sign: int = 1) -> Form:
        """Return sign · the preactivation of a neuron, over the denominator of its layer."""
        table = self._tables[neuron.layer - 1]
        form = {0: sign * table.bias[neuron.index]}
        for source, rows in table.blocks:
            entries = enumerate(rows[neuron.index], self._starts[source])
            form.update((symbol, sign * w) for symbol, w in entries if w)
        return form

    def inequality(self, name: Inequality, guard: int | None = None) -> Form:
        """Return the form of a valid inequality.

        `guard` is the neuron number of the guard, which only `GUARD` needs; its form is valid where
        the guard is active.
        """
        match name.kind:
            case "activation":
                return {self.first + name.number: 1}
            case "relu":
                return self.relu_inequality(name.number)
            case "domain":
                return self.walls[name.number]
            case "derived":
                return self.derivations[name.number].form
            case "guard":
                return {symbol: -w for symbol, w in self.relu_inequality(guard or 0).items()}
            case "one":
                return {0: 1}

    def neuron_id(self, neuron: int) -> NeuronId:
        """Return the layer and the index of a neuron with a given number."""
        layer = self.layers[neuron]
        return NeuronId(layer, self.first + neuron - self._starts[layer])

    def relu_inequality(self, neuron: int) -> Form:
        """Return the form d a - t of a neuron, which is kept; nobody may change it."""
        if (kept := self._relu_inequalities.get(neuron)) is None:
            kept = self.preactivation(self.neuron_id(neuron), -1)
            kept[self.first + neuron] = self.denominators[self.layers[neuron] - 1]
            self._relu_inequalities[neuron] = kept
        return kept

    def append(self, derivation: DerivedInequality, guard: int | None = None) -> Inequality:
        """Append a derived inequality, with its form computed; return its name."""
        form: Form = {}
        for name, factor in derivation.upper.items():
            add_multiple(form, self.inequality(name, guard), factor)
        denominator = self.denominators[self.layers[derivation.neuron] - 1]
        add_multiple(form, {self.first + derivation.neuron: denominator}, -derivation.scale)
        self.derivations.append(derivation._replace(form=form))
        return Inequality("derived", len(self.derivations) - 1)


def _slack(row: Sequence[int]) -> Form:
    """Return the form c - a·x of an inequality [a | c] of the domain."""
    form = {symbol: -a for symbol, a in enumerate(row[:-1], 1) if a}
    return {0: row[-1], **form} if row[-1] else form


def add_multiple(sums: Form, form: Form, factor: int) -> None:
    """Add factor · form to sums, in place."""
    for symbol, w in form.items():
        sums[symbol] = sums.get(symbol, 0) + factor * w
