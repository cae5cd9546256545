"""Networks as expressions: what is left of them once the signs of some neurons are known.

On a polyhedron where some neurons are known to be nonnegative or nonpositive, a network is an expression in the
coordinates and in *atoms* max(h, 0), h a linear form over 1, the coordinates and earlier atoms. Forms are primitive
integer rows, and each stands for one atom: a neuron whose form is g·h, g > 0, has the activation g·max(h, 0); one whose
form is -g·h has the activation -g·h + g·max(h, 0), because max(t, 0) = t + max(-t, 0). A form without coordinates, with
nonnegative (nonpositive) coefficients on atoms and a constant of the same sign, is its own positive part (is 0); so is
the preactivation of a neuron whose weights on activations and bias have one sign, whatever its form.

So neurons that are permuted, scaled, flipped, doubled, cancelled, dead or linear for a reason that shows in the signs
of the weights meet in one expression, in whatever layers they stand, in time linear in the weights unless flips have to
be written out. The expression is a function of the network and the known signs, not of the function: two networks with
equal expressions are equal, and two equal ones may have different expressions. Where all forms are affine in the
coordinates it is the absolute-value normal form (`absolute_value`), and equal functions have equal expressions, once
the atoms that do not bend on the polyhedron are gone.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from polyrelu.exact import AnyMatrix, RationalMatrix
from polyrelu.network import Layer, Network
from polyrelu.proofs.trees.sparse_forms import (
    ZERO,
    Rows,
    SparseForm,
    accumulate,
    add_product,
    longest,
    lowest_terms,
    negated,
    primitive_row,
    row_of,
    scaled_rows,
    sparse_row,
    substituted,
)

__all__ = ["Atom", "Expressions", "JointNetwork", "KnownSigns", "Neuron", "Term"]


class Neuron(NamedTuple):
    """A neuron of one of several networks: the network's number from 0, the layer from 1, the place from 0."""

    network: int
    layer: int
    place: int


@dataclass(frozen=True, slots=True)
class Atom:
    """max(form, 0) in a joint network.

    Attributes
    ----------
    symbol : its column in rows.
    neuron : the first neuron with this form, up to a positive factor.
    level : 1 if the form is affine in the coordinates, else one more than the highest level of an atom in it.
    """

    symbol: int
    form: SparseForm
    neuron: Neuron
    level: int


class JointNetwork:
    """Two networks as one: the atoms that their difference needs, and the difference.

    Attributes
    ----------
    inputs : d', the columns of coordinates that stand for inputs and may have any sign.
    dimension : d, all coordinates; those from d' + 1 on stand for max(form, 0) of the atoms `lifted`.
    atoms : those that the difference needs, in the order of their columns: by level, then by first neuron.
    difference : the rows of first - second that are not zero, each primitive.
    lifted : the atoms of the lifted neurons; their forms are affine in the coordinates before.
    common : the neurons that can be lifted, in order: the first ones of atoms that both networks have, as they have all
        atoms in their forms.

    >>> from polyrelu.network import from_arrays
    >>> one = from_arrays([([[1], [2]], [0, 1]), ([[3, 4]], [0])])
    >>> two = from_arrays([([[-4], [2]], [-2, 0]), ([[2, "3/2"]], [4])])  # flipped, scaled, permuted
    >>> joint = JointNetwork(one, two, RationalMatrix.from_integers([[0, 1]]))
    >>> joint.difference, joint.atoms
    ([Row(columns=(1,), numerators=(1,))], [])
    """

    def __init__(
        self,
        first: Network,
        second: Network,
        inputs: RationalMatrix,
        lifted: Sequence[Neuron] = (),
        check: Callable[[], None] | None = None,
    ) -> None:
        """`inputs` has shape (n, 1 + d'): the inputs as affine forms in d' coordinates, the constant in front.

        `check` is called before each layer and may raise.
        """
        self.inputs = inputs.ncols - 1
        self.dimension = self.inputs + len(lifted)
        table = _Table(
            self.inputs,
            self.dimension,
            {neuron: 1 + self.inputs + k for k, neuron in enumerate(lifted)},
        )
        start = [sparse_row(row) for row in inputs.integer_rows()], inputs.denominator
        pair = enumerate((first, second))
        outputs = [
            _outputs(network, number, start, table, check or (lambda: None))
            for number, network in pair
        ]
        self.lifted = [table.lifted[1 + self.inputs + k] for k in range(len(lifted))]
        difference = _difference(*outputs)
        needed = _used(difference, table.atoms, self.dimension)
        self.atoms, self.difference = _renumbered(needed, difference, self.dimension)
        self.common = table.common()
        self._levels = [list(group) for _, group in groupby(self.atoms, key=_level)]

    def number(self, symbol: int) -> int:
        """The number of an atom, as certificates have it."""
        return symbol - 1 - self.dimension

    @property
    def lifted_neurons(self) -> tuple[Neuron, ...]:
        """The neurons that were lifted."""
        return tuple(atom.neuron for atom in self.lifted)

    def part(self, difference: list[SparseForm]) -> JointNetwork:
        """The same atoms with another difference over them; those that it does not need are left out."""
        found = copy.copy(self)
        found.difference = difference
        found.atoms = _used(difference, self.atoms, self.dimension)
        found._levels = [list(group) for _, group in groupby(found.atoms, key=_level)]
        return found

    def expressions(self, known: KnownSigns) -> Expressions:
        """The difference where the known signs hold.

        Its terms are the atoms that are left, under the symbols of the joint network; of atoms with proportional forms
        the first one stays.
        """
        values: dict[int, SparseForm] = {
            column: SparseForm((column,), (1,)) for column in range(1 + self.dimension)
        }
        terms: dict[SparseForm, Term] = {}
        operations = bits = 0
        for level in self._levels:
            rows = substituted([atom.form for atom in level], values)
            operations += sum(
                len(values[column].columns) for atom in level for column in atom.form.columns
            )
            bits = max(bits, longest(rows), longest([atom.form for atom in level]))
            for atom, row in zip(level, rows, strict=True):
                values[atom.symbol] = self._activation(atom, row, known, terms)
        difference = [
            primitive_row(row)[0] for row in substituted(self.difference, values) if row.columns
        ]
        return Expressions(
            self,
            difference,
            _used_terms(difference, terms.values(), self.dimension),
            (operations, bits),
        )

    def _activation(
        self, atom: Atom, row: SparseForm, known: KnownSigns, terms: dict[SparseForm, Term]
    ) -> SparseForm:
        """The value of an atom whose form has become a row."""
        if not row.columns:
            return row
        sign = known.atoms.get(atom.symbol, 0) or shown_sign(row, self.inputs)
        if not sign:
            form, factor = primitive_row(row)
            sign = known.forms.get(form, 0)
            if not sign:
                return _positive_part(row, form, factor, atom, terms, self.dimension)
        return row if sign > 0 else ZERO

    def values_at(self, point: Sequence[int]) -> tuple[dict[int, int], bool]:
        """The values of all atoms' forms at a point (t, t·y) in homogeneous integers; whether the difference is not 0.

        A lifted coordinate counts as independent of the others.
        """
        values = dict(enumerate(point))
        forms = {}
        for atom in self.atoms:
            z = sum([values[column] * entry for column, entry in zip(*atom.form, strict=True)])
            forms[atom.symbol] = z
            values[atom.symbol] = z if z > 0 else 0
        return forms, any(
            sum(values[c] * x for c, x in zip(*row, strict=True)) for row in self.difference
        )


@dataclass(frozen=True, slots=True)
class KnownSigns:
    """Signs that hold on a polyhedron: 1 for nonnegative, -1 for nonpositive.

    Attributes
    ----------
    forms : of affine forms, by primitive row; a form and its negative are both listed.
    atoms : of atoms whose form was not affine when their sign was found, by symbol.
    """

    forms: Mapping[SparseForm, int] = field(default_factory=dict)
    atoms: Mapping[int, int] = field(default_factory=dict)

    def extended(self, found: Iterable[tuple[Term, int]]) -> KnownSigns:
        """With the signs of further terms' forms."""
        forms, atoms = dict(self.forms), dict(self.atoms)
        for term, sign in found:
            if term.is_affine:
                forms[term.form], forms[negated(term.form)] = sign, -sign
            else:
                atoms |= {symbol: sign * orientation for symbol, orientation in term.atoms}
        return KnownSigns(forms, atoms)


@dataclass(slots=True)
class Term:
    """max(form, 0), with a form that is current on some polyhedron.

    Attributes
    ----------
    atom : the atom whose symbol it has; the atom's own form is now factor · form, factor > 0.
    is_affine : whether the form has coordinates only.
    atoms : the atoms with this form up to a positive factor (1) or a negative one (-1).
    """

    atom: Atom
    form: SparseForm
    factor: int
    is_affine: bool
    atoms: list[tuple[int, int]]

    @property
    def symbol(self) -> int:
        """Its column in rows."""
        return self.atom.symbol


@dataclass(frozen=True, slots=True)
class Expressions:
    """A difference of two networks on a polyhedron.

    Attributes
    ----------
    difference : its rows that are not zero, each primitive.
    terms : what it contains, what their forms contain, and so on, in order.
    cost : of writing it: products of two numbers, and the bits of the longest ones.
    """

    joint: JointNetwork
    difference: list[SparseForm]
    terms: list[Term]
    cost: tuple[int, int]


def shown_sign(row: SparseForm, inputs: int) -> int:
    """The sign that the coefficients of a row show: those of inputs vanish, the others have one sign."""
    first = row.columns[0] if row.columns else 0
    if first == 0 and len(row.columns) > 1:
        first = row.columns[1]
    if 1 <= first <= inputs or not row.columns:
        return 0
    return 1 if min(row.numerators) > 0 else -1 if max(row.numerators) < 0 else 0


def _positive_part(
    row: SparseForm,
    form: SparseForm,
    factor: int,
    atom: Atom,
    terms: dict[SparseForm, Term],
    dimension: int,
) -> SparseForm:
    """factor · max(form, 0) as a row, with the term of the form or of its negative: max(t, 0) = t + max(-t, 0)."""
    term = terms.get(form)
    if term is None and (opposite := terms.get(negated(form))) is not None:
        opposite.atoms.append((atom.symbol, -1))
        entries = dict(zip(*row, strict=True))
        entries[opposite.symbol] = entries.get(opposite.symbol, 0) + factor
        return row_of(entries)
    if term is None:
        is_affine = form.columns[-1] <= dimension
        term = terms[form] = Term(atom, form, factor, is_affine, [])
    term.atoms.append((atom.symbol, 1))
    return SparseForm((term.symbol,), (factor,))


# -- the two networks side by side --------------------------------------------------------------------------------


class _Table:
    """The atoms so far."""

    def __init__(self, inputs: int, dimension: int, lift: Mapping[Neuron, int]) -> None:
        self._inputs, self._dimension, self._lift = inputs, dimension, lift
        self.atoms: list[Atom] = []
        self.lifted: dict[int, Atom] = {}
        self._symbols: dict[SparseForm, Atom] = {}
        self._seen: dict[int, set[int]] = {}  # the networks that have an atom

    def common(self) -> list[Neuron]:
        """See `JointNetwork`."""
        found: dict[int, Neuron] = {}
        for atom in self.atoms:
            inner = (column for column in atom.form.columns if column > self._dimension)
            if len(self._seen[atom.symbol]) > 1 and all(column in found for column in inner):
                found[atom.symbol] = atom.neuron
        return list(found.values())

    def activation(self, row: SparseForm, sign: int, neuron: Neuron) -> SparseForm:
        """The positive part of a preactivation, both over one denominator; `sign` is what its weights show."""
        sign = sign or shown_sign(row, self._inputs)
        if sign or not row.columns:
            return row if sign > 0 else ZERO
        form, factor = primitive_row(row)
        opposite = self._symbols.get(negated(form)) if form not in self._symbols else None
        atom = opposite or self._symbols.get(form) or self._new(form, neuron)
        self._seen.setdefault(atom.symbol, set()).add(neuron.network)
        if opposite is None:
            return SparseForm((atom.symbol,), (factor,))
        entries = dict(zip(*row, strict=True))  # max(t, 0) = t + max(-t, 0)
        entries[atom.symbol] = entries.get(atom.symbol, 0) + factor
        return row_of(entries)

    def _new(self, form: SparseForm, neuron: Neuron) -> Atom:
        symbol, level = self._lift.get(neuron, 0), 0
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


def _outputs(
    network: Network, number: int, inputs: Rows, table: _Table, check: Callable[[], None]
) -> Rows:
    activations = [inputs]
    for layer_number, layer in enumerate(network.layers, 1):
        check()
        weights = _Weights(layer)
        rows, denominator = weights.preactivations(activations)
        if layer_number > network.hidden_layers:
            return rows, denominator
        signs = weights.signs(activations)
        found = [
            table.activation(row, sign, Neuron(number, layer_number, i))
            for i, (row, sign) in enumerate(zip(rows, signs, strict=True))
        ]
        activations.append((found, denominator))
    return activations[-1]


def _difference(first: Rows, second: Rows) -> list[SparseForm]:
    (mine, p), (other, q) = first, second
    found = []
    for ours, theirs in zip(mine, other, strict=True):
        sums: dict[int, int] = {}
        accumulate(sums, ours, q)
        accumulate(sums, theirs, -p)
        row = row_of(sums)
        if row.columns:
            found.append(primitive_row(row)[0])
    return found


def _used(rows: list[SparseForm], atoms: Sequence[Atom], dimension: int) -> list[Atom]:
    """The atoms that rows contain, and the atoms in their forms, and so on, by level."""
    needed = {column for row in rows for column in row.columns if column > dimension}
    for atom in reversed(atoms):
        if atom.symbol in needed:
            needed.update(column for column in atom.form.columns if column > dimension)
    return sorted((atom for atom in atoms if atom.symbol in needed), key=_level)


def _renumbered(
    atoms: list[Atom], rows: list[SparseForm], dimension: int
) -> tuple[list[Atom], list[SparseForm]]:
    """With the atoms' symbols in their order."""
    new = {atom.symbol: 1 + dimension + number for number, atom in enumerate(atoms)}

    def renamed(row: SparseForm) -> SparseForm:
        return row_of({new.get(column, column): entry for column, entry in zip(*row, strict=True)})

    atoms = [replace(atom, symbol=new[atom.symbol], form=renamed(atom.form)) for atom in atoms]
    return atoms, [renamed(row) for row in rows]


def _used_terms(rows: Iterable[SparseForm], terms: Iterable[Term], dimension: int) -> list[Term]:
    """The same for terms."""
    listed = list(terms)  # made in the order of levels: a form contains earlier ones only
    needed = {column for row in rows for column in row.columns if column > dimension}
    for term in reversed(listed):
        if term.symbol in needed and not term.is_affine:
            needed.update(column for column in term.form.columns if column > dimension)
    return [term for term in listed if term.symbol in needed]


def _level(atom: Atom) -> int:
    return atom.level


class _Weights:
    """A layer as integers over one denominator."""

    def __init__(self, layer: Layer) -> None:
        parts: list[AnyMatrix] = [layer.bias, *(block.entries for block in layer.blocks)]
        self._denominator = math.lcm(*(part.denominator for part in parts))
        factors = [self._denominator // part.denominator for part in parts]
        self._bias = [row[0] * factors[0] for row in layer.bias.integer_rows()]
        self._blocks = [
            (block.source, scaled_rows(block.entries, factor))
            for block, factor in zip(layer.blocks, factors[1:], strict=True)
        ]

    def signs(self, activations: Sequence[Rows]) -> list[int]:
        """The sign of each neuron that reads no input, and whose bias and weights on activations that are not 0 have
        one sign; 0 for the others. (A form need not show it: flips write an activation as a difference.)"""
        least, most = list(self._bias), list(self._bias)
        for source, weights in self._blocks:
            rows, _ = activations[source]
            for i, weight in enumerate(weights):
                present = [w for j, w in zip(*weight, strict=True) if rows[j].columns]
                if source == 0 and present:
                    present = [1, -1]
                least[i], most[i] = min([least[i], *present]), max([most[i], *present])
        return [
            1 if low >= 0 else -1 if high <= 0 else 0 for low, high in zip(least, most, strict=True)
        ]

    def preactivations(self, activations: Sequence[Rows]) -> Rows:
        """z as rows over a denominator, from the activations of the input and all layers before."""
        common = math.lcm(*(activations[source][1] for source, _ in self._blocks))
        sums: list[dict[int, int]] = [{0: bias * common} for bias in self._bias]
        for source, weights in self._blocks:
            rows, denominator = activations[source]
            add_product(sums, weights, rows, common // denominator)
        return lowest_terms([row_of(entries) for entries in sums], self._denominator * common)
