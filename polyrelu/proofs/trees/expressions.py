"""Networks as expressions over atoms, given the signs of some neurons.

On a polyhedron where some neurons are known to be nonnegative or nonpositive, a network is an
expression in the coordinates and in *atoms* max(h, 0), where h is a linear form over 1, the
coordinates and earlier atoms. The split trees (`search`) prove that the difference of two such
expressions is 0, and certificates number the atoms as `JointNetwork` does. So the order and the
forms of the atoms are part of the certificate format (FORMAT.md §5): the checker rebuilds them
independently.

Forms are primitive integer rows, and each form stands for one atom:

* a neuron whose preactivation is g·h, g > 0, has the activation g·max(h, 0);
* a neuron whose preactivation is -g·h has the activation -g·h + g·max(h, 0), because max(t, 0) = t
  + max(-t, 0);
* a form without inputs whose coefficients are all nonnegative is its own positive part, and the
  positive part of a form without inputs whose coefficients are all nonpositive is 0, because atoms
  and the coordinates of lifted neurons are nonnegative;
* the same holds for the preactivation of a neuron whose bias and weights on activations have one
  sign, whatever its form looks like.

Therefore neurons that are permuted, scaled, flipped, doubled, cancelled, dead or linear for a
reason that the signs of the weights show have one common expression, in whatever layers they stand.
Computing it takes time linear in the number of weights, unless flips have to be written out.

The expression depends on the network and the known signs, not only on the function: two networks
with equal expressions are equal, and two equal networks may have different expressions. Where all
forms are affine in the coordinates, the expression is the absolute-value normal form
(`symmetry.absolute_value`), and then equal functions have equal expressions once the atoms that do
not bend on the polyhedron are removed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from polyrelu.exact import RationalMatrix
from polyrelu.network import Network
from polyrelu.proofs.trees.atoms import (
    Atom,
    AtomTable,
    Neuron,
    outputs_over_atoms,
    sign_of_coefficients,
)
from polyrelu.proofs.trees.sparse_forms import (
    ZERO,
    RationalForms,
    SparseForm,
    add_multiple,
    negated,
    primitive_row,
    row_from_entries,
    sparse_row,
    substitute,
)

__all__ = ["Expressions", "JointNetwork", "KnownSigns", "Term"]


class JointNetwork:
    """Two networks over common atoms, reduced to the atoms that their difference needs.

    Attributes
    ----------
    inputs
        The number d' of coordinates that stand for inputs and may have any sign.
    dimension
        The number d of all coordinates; coordinates d' + 1, …, d stand for the activations of the
        lifted neurons.
    atoms
        The atoms that the difference needs, in the order of their symbols: by level, then by first
        neuron.
    difference
        The rows of first - second that are not zero, each primitive.
    lifted
        The atoms of the lifted neurons; their forms are affine in the coordinates before them.
    common
        The neurons that can be lifted, in order: the first neurons of the atoms that occur in both
        networks and whose forms contain only such atoms.

    Examples
    --------
    Two networks whose neurons are flipped, scaled and permuted:

    >>> from polyrelu.network import from_arrays
    >>> one = from_arrays([([[1], [2]], [0, 1]), ([[3, 4]], [0])])
    >>> two = from_arrays([([[-4], [2]], [-2, 0]), ([[2, "3/2"]], [4])])
    >>> joint = JointNetwork(one, two, RationalMatrix.from_integers([[0, 1]]))
    >>> joint.difference, joint.atoms
    ([SparseForm(columns=(1,), numerators=(1,))], [])
    """

    def __init__(
        self,
        first: Network,
        second: Network,
        inputs: RationalMatrix,
        lifted: Sequence[Neuron] = (),
        check: Callable[[], None] | None = None,
    ) -> None:
        """Join two networks.

        Parameters
        ----------
        first, second
            Networks with equally many inputs and outputs.
        inputs
            The inputs as affine forms in d' coordinates, shape (n, 1 + d'), the constant in front.
        lifted
            Neurons whose activations become further coordinates.
        check
            Called before each layer; it may raise to stop the computation.
        """
        self.inputs = inputs.ncols - 1
        self.dimension = self.inputs + len(lifted)
        table = AtomTable(
            self.inputs,
            self.dimension,
            {neuron: 1 + self.inputs + k for k, neuron in enumerate(lifted)},
        )
        start = [sparse_row(row) for row in inputs.integer_rows()], inputs.denominator
        pair = enumerate((first, second))
        outputs = [
            outputs_over_atoms(network, number, start, table, check or (lambda: None))
            for number, network in pair
        ]
        self.lifted = [table.lifted[1 + self.inputs + k] for k in range(len(lifted))]
        difference = _difference(*outputs)
        needed = _needed_atoms(difference, table.atoms, self.dimension)
        self.atoms, self.difference = _renumbered(needed, difference, self.dimension)
        self.common = table.common()
        self._levels = [list(group) for _, group in groupby(self.atoms, key=_level)]

    def atom_number(self, symbol: int) -> int:
        """Return the number of an atom in certificates, from 0, given its symbol."""
        return symbol - 1 - self.dimension

    @property
    def lifted_neurons(self) -> tuple[Neuron, ...]:
        """The neurons whose activations are coordinates."""
        return tuple(atom.neuron for atom in self.lifted)

    def part(self, difference: list[SparseForm]) -> JointNetwork:
        """Return the joint network of another difference over the same atoms."""
        joint = copy.copy(self)
        joint.difference = difference
        joint.atoms = _needed_atoms(difference, self.atoms, self.dimension)
        joint._levels = [list(group) for _, group in groupby(joint.atoms, key=_level)]
        return joint

    def expressions(self, known: KnownSigns) -> Expressions:
        """Return the difference where the known signs hold.

        Its terms are the atoms that are left, under the symbols of the joint network. Of several
        atoms with proportional forms the first one stays.
        """
        values: dict[int, SparseForm] = {
            column: SparseForm((column,), (1,)) for column in range(1 + self.dimension)
        }
        terms: dict[SparseForm, Term] = {}
        for level in self._levels:
            rows = substitute([atom.form for atom in level], values)
            for atom, row in zip(level, rows, strict=True):
                values[atom.symbol] = self._activation(atom, row, known, terms)
        difference = [
            primitive_row(row)[0] for row in substitute(self.difference, values) if row.columns
        ]
        return Expressions(
            self,
            difference,
            _needed_terms(difference, terms.values(), self.dimension),
        )

    def _activation(
        self, atom: Atom, row: SparseForm, known: KnownSigns, terms: dict[SparseForm, Term]
    ) -> SparseForm:
        """Return the value of an atom whose form has become `row`."""
        if not row.columns:
            return row
        sign = known.atoms.get(atom.symbol, 0) or sign_of_coefficients(row, self.inputs)
        if not sign:
            form, factor = primitive_row(row)
            sign = known.forms.get(form, 0)
            if not sign:
                return _positive_part(row, form, factor, atom, terms, self.dimension)
        return row if sign > 0 else ZERO

    def values_at(self, point: Sequence[int]) -> tuple[dict[int, int], bool]:
        """Return the values of all atoms' forms at a point, and whether the networks differ there.

        The point (t, t·y) and the values are homogeneous integers. A lifted coordinate counts as
        independent of the others.
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
    forms
        The signs of affine forms, by primitive form; a form and its negative are both listed.
    atoms
        The signs of atoms whose form was not affine when the sign was found, by symbol.
    """

    forms: Mapping[SparseForm, int] = field(default_factory=dict)
    atoms: Mapping[int, int] = field(default_factory=dict)

    def extended(self, new_signs: Iterable[tuple[Term, int]]) -> KnownSigns:
        """Return these signs together with the signs of further terms' forms."""
        forms, atoms = dict(self.forms), dict(self.atoms)
        for term, sign in new_signs:
            if term.is_affine:
                forms[term.form], forms[negated(term.form)] = sign, -sign
            else:
                atoms |= {symbol: sign * orientation for symbol, orientation in term.atoms}
        return KnownSigns(forms, atoms)


@dataclass(slots=True)
class Term:
    """max(form, 0) with the form that an atom has on some polyhedron.

    Attributes
    ----------
    atom
        The atom whose symbol the term has.
    form
        The current form, primitive.
    factor
        The positive number with: the atom's own form is equal to factor · form on the polyhedron.
    is_affine
        Whether the form contains no atoms.
    atoms
        The atoms with this form up to a positive factor, marked 1, or up to a negative factor,
        marked -1.
    """

    atom: Atom
    form: SparseForm
    factor: int
    is_affine: bool
    atoms: list[tuple[int, int]]

    @property
    def symbol(self) -> int:
        """The symbol of the term's atom, by which forms refer to the term."""
        return self.atom.symbol


@dataclass(frozen=True, slots=True)
class Expressions:
    """The difference of two networks on a polyhedron.

    Attributes
    ----------
    joint
        The joint network.
    difference
        The rows that are not zero, each primitive.
    terms
        The terms that the difference contains, the terms that their forms contain, and so on, in
        order.
    """

    joint: JointNetwork
    difference: list[SparseForm]
    terms: list[Term]


def _positive_part(
    row: SparseForm,
    form: SparseForm,
    factor: int,
    atom: Atom,
    terms: dict[SparseForm, Term],
    dimension: int,
) -> SparseForm:
    """Return factor · max(form, 0) as a row, registering the term of the form if it is new.

    If the negative of the form has a term, max(t, 0) = t + max(-t, 0) is used.
    """
    term = terms.get(form)
    if term is None and (opposite := terms.get(negated(form))) is not None:
        opposite.atoms.append((atom.symbol, -1))
        entries = dict(zip(*row, strict=True))
        entries[opposite.symbol] = entries.get(opposite.symbol, 0) + factor
        return row_from_entries(entries)
    if term is None:
        is_affine = form.columns[-1] <= dimension
        term = terms[form] = Term(atom, form, factor, is_affine, [])
    term.atoms.append((atom.symbol, 1))
    return SparseForm((term.symbol,), (factor,))


def _difference(first: RationalForms, second: RationalForms) -> list[SparseForm]:
    """Return the rows of first - second that are not zero, each primitive."""
    (rows, p), (other_rows, q) = first, second
    nonzero_rows = []
    for row, subtracted in zip(rows, other_rows, strict=True):
        sums: dict[int, int] = {}
        add_multiple(sums, row, q)
        add_multiple(sums, subtracted, -p)
        difference = row_from_entries(sums)
        if difference.columns:
            nonzero_rows.append(primitive_row(difference)[0])
    return nonzero_rows


def _needed_atoms(rows: list[SparseForm], atoms: Sequence[Atom], dimension: int) -> list[Atom]:
    """Return the atoms that rows contain, the atoms in their forms, and so on, sorted by level."""
    needed = {column for row in rows for column in row.columns if column > dimension}
    for atom in reversed(atoms):
        if atom.symbol in needed:
            needed.update(column for column in atom.form.columns if column > dimension)
    return sorted((atom for atom in atoms if atom.symbol in needed), key=_level)


def _renumbered(
    atoms: list[Atom], rows: list[SparseForm], dimension: int
) -> tuple[list[Atom], list[SparseForm]]:
    """Return the atoms and rows with the atoms' symbols renumbered in their order."""
    new = {atom.symbol: 1 + dimension + number for number, atom in enumerate(atoms)}

    def renamed(row: SparseForm) -> SparseForm:
        """Return a row with the new symbols."""
        return row_from_entries(
            {new.get(column, column): entry for column, entry in zip(*row, strict=True)}
        )

    atoms = [replace(atom, symbol=new[atom.symbol], form=renamed(atom.form)) for atom in atoms]
    return atoms, [renamed(row) for row in rows]


def _needed_terms(rows: Iterable[SparseForm], terms: Iterable[Term], dimension: int) -> list[Term]:
    """Return the terms that rows contain, the terms in their forms, and so on, in order."""
    listed = list(terms)  # sorted by level: a form contains earlier terms only
    needed = {column for row in rows for column in row.columns if column > dimension}
    for term in reversed(listed):
        if term.symbol in needed and not term.is_affine:
            needed.update(column for column in term.form.columns if column > dimension)
    return [term for term in listed if term.symbol in needed]


def _level(atom: Atom) -> int:
    return atom.level
