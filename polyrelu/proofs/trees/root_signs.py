"""Signs of neurons on a whole domain, proved without splits at the root of a tree.

On a box only the signs that the bounds in floats (`bounds`) claim are proved, in one round of
records. On any other polyhedron, R^n included, every atom's form is bounded on both sides, level by
level: by linear relaxation (`relaxation`) down to an affine form, and a linear program over the
domain. There a round of records is one level, after which the expressions are written again; so an
atom that was proved to be linear needs no upper bound in later levels. FORMAT.md §5 defines the
records. The search for split trees (`search`) goes on where these signs are not enough.

The work is limited by a count of operations and by a budget, so equal questions get equal answers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from polyrelu.certificate import NodeRecord, SignRecord
from polyrelu.exact import LinearProgram, Optimal
from polyrelu.exact.form_bounds import FormBounds, relaxation_slopes, rounded_down
from polyrelu.proofs.trees.atoms import Neuron
from polyrelu.proofs.trees.bounds import BoxBounds
from polyrelu.proofs.trees.expressions import Expressions, JointNetwork, KnownSigns, Term
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates, NodePolyhedron
from polyrelu.proofs.trees.relaxation import AffineLowerBound, affine_lower_bound
from polyrelu.proofs.trees.settings import SETTINGS
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.prices import price_of_products, price_of_program, price_of_table

__all__ = ["RootSigns", "root_signs"]


@dataclass(slots=True)
class RootSigns:
    """The signs that were proved, and the difference that they leave.

    Attributes
    ----------
    rounds
        The records that prove the signs, round by round.
    signs
        The sign of the preactivation of each neuron that is the first one of its atom: 1 for
        nonnegative, -1 for nonpositive. Only signs that needed a proof are listed.
    expressions
        The difference of the two networks under these signs.
    """

    rounds: list[list[SignRecord]]
    signs: dict[Neuron, int]
    expressions: Expressions

    @property
    def record(self) -> NodeRecord | None:
        """The only node of a tree that proves the equality, or None if a difference is left."""
        return None if self.expressions.difference else NodeRecord(self.rounds, None)


def root_signs(
    joint: JointNetwork,
    coordinates: DomainCoordinates,
    max_products: int = SETTINGS.max_products,
    budget: Budget | None = None,
) -> RootSigns:
    """Prove signs of atoms on a domain, until the difference vanishes or no more are found.

    Parameters
    ----------
    joint
        Two networks over common atoms, without lifted neurons.
    coordinates
        The domain.
    max_products
        Maximum number of products of two rational numbers in the relaxations.
    budget
        The work for all bounds; no limit by default.

    Returns
    -------
    RootSigns
        The signs that are proved within the budget, and the difference that is left.

    Examples
    --------
    >>> from polyrelu.exact import Polyhedron
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [1, 0]), ([[1, 2]], [0])])
    >>> zero, plane = from_arrays([([[0]], [0])]), DomainCoordinates.of(Polyhedron.box([0], [3]))
    >>> root_signs(JointNetwork(net, zero, plane.inputs), plane).signs
    {Neuron(network=0, layer=1, index_in_layer=0): 1,
     Neuron(network=0, layer=1, index_in_layer=1): 1}
    """
    search = _RootSearch(joint, coordinates, max_products, budget or Budget())
    with contextlib.suppress(WorkLimit):
        search.run()
    return search.found


@dataclass(slots=True)
class _RootSearch:
    """The state of `root_signs`.

    Attributes
    ----------
    joint, coordinates, max_products, budget
        As given.
    found
        What is proved so far.
    bounds
        Bounds of the atoms' own forms, by symbol.
    products
        The number of products so far.
    """

    joint: JointNetwork
    coordinates: DomainCoordinates
    max_products: int
    budget: Budget
    found: RootSigns = field(init=False)
    bounds: dict[int, FormBounds] = field(default_factory=dict)
    products: int = 0
    _known: KnownSigns = field(default_factory=KnownSigns)
    _program: LinearProgram | None = None

    def __post_init__(self) -> None:
        self.found = RootSigns([], {}, self.joint.expressions(self._known))

    @property
    def _sides(self) -> Mapping[tuple[int, int], Fraction]:
        return NodePolyhedron.at_root(self.coordinates).sides()

    @property
    def is_box(self) -> bool:
        """Whether every coordinate has a side at both ends, and no other inequality cuts."""
        sides = self._sides
        size = range(1, 1 + self.coordinates.dimension)
        rows = [row for row in self.coordinates.inequalities if row is not None]
        return all((j, side) in sides for j in size for side in (1, -1)) and all(
            sum(column > 0 for column in row.columns) == 1 for row in rows
        )

    def run(self) -> None:
        """Prove signs over a box by floats, otherwise level by level."""
        if self.is_box:
            self.by_floats()
        elif self.coordinates.dimension <= SETTINGS.max_coordinates:
            for level in sorted({atom.level for atom in self.joint.atoms}):
                if not self.found.expressions.difference or not self.bound_level(level):
                    break

    def _spend_products(self, number: int) -> None:
        self.products += number
        self.budget.spend(price_of_products(number))

    def by_floats(self) -> None:
        """Prove the signs that bounds in floats over the box claim."""
        size = len(self.joint.atoms)
        self.budget.spend(price_of_table(size * (1 + self.joint.dimension + size)))
        bounds, records = BoxBounds(self.joint, self._sides), list[SignRecord]()
        lengths = {
            self.joint.atom_number(atom.symbol): len(atom.form.columns) for atom in self.joint.atoms
        }
        for term in self.found.expressions.terms:
            if self.products > self.max_products:
                break
            if sign := bounds.signs.get(term.symbol, 0):
                proof = bounds.prove_sign(term.symbol, sign) or []
                self._spend_products(sum(lengths[k] for record in proof for k in record.slopes))
                records += proof
        self._apply(records)

    def bound_level(self, level: int) -> bool:
        """Bound the atoms of a level; return False if that would be too much work."""
        terms = {term.symbol: term for term in self.found.expressions.terms}
        own = [term for term in terms.values() if term.atom.level == level]
        records: list[SignRecord] = []
        for term in own:
            if self.products > self.max_products:
                return False
            records += self._bounded_on_both_sides(term, terms)
        self._apply(records)
        return True

    def _bounded_on_both_sides(self, term: Term, terms: Mapping[int, Term]) -> list[SignRecord]:
        """Bound a term from both sides as well as possible, and return the records."""
        records, ends = [], list[Fraction | None]()
        for sign in (1, -1):
            best = self._best_bound(term, sign, terms)
            if best is not None:
                records.append(best)
                if best.value >= 0:
                    # the other side of a sign that is known is not needed
                    known = (best.value, None) if sign > 0 else (None, -best.value)
                    self.bounds[term.symbol] = FormBounds(*known)
                    return [best]
            ends.append(None if best is None else sign * best.value)
        self.bounds[term.symbol] = FormBounds(*ends)
        return records

    def _best_bound(self, term: Term, sign: int, terms: Mapping[int, Term]) -> SignRecord | None:
        """Return the better of two bounds: with chosen slopes, and with slopes 0."""
        forms = {symbol: other.form for symbol, other in terms.items()}
        scaled = {
            symbol: self.bounds[symbol].scaled(Fraction(1, other.factor))
            for symbol, other in terms.items()
            if symbol in self.bounds
        }
        chosen = {symbol: relaxation_slopes(bound) for symbol, bound in scaled.items()}
        flat = {s: slopes for s, slopes in chosen.items() if slopes.lower == slopes.upper}
        best: SignRecord | None = None
        for slopes in (chosen, flat) if flat != chosen else (chosen,):
            below = affine_lower_bound(term.form, sign, forms, self.joint.dimension, scaled, slopes)
            sizes = (len(forms[symbol].columns) for symbol in (below.slopes if below else ()))
            self._spend_products(len(term.form.columns) + sum(sizes))
            record = None if below is None else self._record(term, sign, below)
            if record is not None and (best is None or record.value > best.value):
                best = record
        return best

    def _record(self, term: Term, sign: int, below: AffineLowerBound) -> SignRecord | None:
        """Return the record of the least value of an affine form on the domain, if there is one."""
        value, rows = below.coefficients.get(0, Fraction()), dict[int, Fraction]()
        if any(below.coefficients.keys() - {0}):
            least = self._minimum(below.coefficients)
            if least is None:
                return None
            value, rows = value + least[0], least[1]
        value *= term.factor
        value = Fraction() if value >= 0 else rounded_down(value, SETTINGS.significant_bits)
        slopes = {self.joint.atom_number(symbol): slope for symbol, slope in below.slopes.items()}
        multipliers = {number: entry * term.factor for number, entry in rows.items() if entry}
        return SignRecord(self.joint.atom_number(term.symbol), sign, value, multipliers, slopes)

    def _minimum(
        self, coefficients: Mapping[int, Fraction]
    ) -> tuple[Fraction, dict[int, Fraction]] | None:
        """Return the least value of a linear form, with the multipliers that prove it."""
        rows = self.coordinates.inequalities
        numbers = [i for i, row in enumerate(rows) if row is not None]
        if not numbers:
            return None
        if self._program is None:
            self._program = LinearProgram(self.joint.dimension)
            for row in (rows[i] for i in numbers):
                entries = dict(zip(*row, strict=True)) if row is not None else {}
                constant = entries.pop(0, 0)
                left = [-entries.get(j, 0) for j in range(1, 1 + self.joint.dimension)]
                self._program.add_inequalities([left], [constant])
        self.budget.spend(price_of_program(len(numbers), self.joint.dimension))
        objective = [coefficients.get(j, Fraction()) for j in range(1, 1 + self.joint.dimension)]
        answer = self._program.minimize(objective)
        if not isinstance(answer, Optimal):
            return None
        scales = self.coordinates.scales
        return answer.value, {
            numbers[i]: entry * scales[numbers[i]]
            for i, entry in answer.multipliers.rows.items()
            if entry
        }

    def _apply(self, records: list[SignRecord]) -> None:
        """Write the expressions again with a round of records."""
        if not records:
            return
        terms = {self.joint.atom_number(term.symbol): term for term in self.found.expressions.terms}
        proved = [record for record in records if record.value >= 0]
        for record in proved:
            self.found.signs[terms[record.atom].atom.neuron] = record.sign
        self._known = self._known.extended((terms[r.atom], r.sign) for r in proved)
        self.found.rounds.append(records)
        self.found.expressions = self.joint.expressions(self._known)
