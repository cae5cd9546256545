"""A split tree of at most seven nodes for two networks that differ by moved hidden hyperplanes.

The tree proves the equality of two networks that differ by translations and flips without linear
programs: a record is guessed and verified by comparing coefficients. If a guess fails, no tree is
claimed, and the general search goes on. That the guesses are right in exact canonical position is
proved in docs/theory/bottleneck_pairs.md, proposition 1.

The networks have most first-layer neurons in common, up to a factor that is negative after a flip;
the others are the hidden neurons that were moved. Only these are split. Every other sign follows
from the inequality of one split, with the slope 1 for all flipped neurons or for none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.certificate import NodeRecord, SignRecord
from polyrelu.exact.form_bounds import RelaxationSlopes
from polyrelu.proofs.trees.expressions import Expressions, JointNetwork, KnownSigns, Term
from polyrelu.proofs.trees.node_polyhedron import NonnegativityProof
from polyrelu.proofs.trees.relaxation import affine_lower_bound
from polyrelu.proofs.trees.search import TreeStatistics, sign_record
from polyrelu.proofs.trees.settings import SETTINGS
from polyrelu.proofs.trees.sparse_forms import SparseForm, negated
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_program

__all__ = ["fits_one_tree", "flipped_atoms", "hidden_tree", "unshared_atoms"]


def fits_one_tree(unshared: Collection[object]) -> bool:
    """Return whether the atoms that the networks do not share are few enough to be split."""
    return len(unshared) <= SETTINGS.max_hidden_splits


def flipped_atoms(joint: JointNetwork, rows: list[SparseForm]) -> frozenset[int]:
    """Return the first-layer atoms that the second network has with the other sign.

    `rows` are the primitive rows of the second network's first layer.
    """
    opposite = {negated(row) for row in rows}
    return frozenset(
        atom.symbol for atom in joint.atoms if atom.level == 1 and atom.form in opposite
    )


def unshared_atoms(joint: JointNetwork) -> list[int]:
    """Return the first-layer atoms, by symbol, that occur in one network only."""
    common = set(joint.common)
    return [atom.symbol for atom in joint.atoms if atom.level == 1 and atom.neuron not in common]


def hidden_tree(
    joint: JointNetwork,
    flipped: frozenset[int],
    record: Callable[[NodeRecord], None],
    budget: Budget,
    statistics: TreeStatistics,
) -> bool:
    """Prove on R^d that the difference vanishes, by splits at the atoms that one network has alone.

    The records of the tree are handed to `record` in prefix order; they prove the equality if True
    is returned. `flipped` are the atoms, by symbol, that one network has with the other sign.
    """
    unshared = unshared_atoms(joint)
    return fits_one_tree(unshared) and _HiddenTree(
        joint, unshared, flipped, record, budget, statistics
    ).grow(KnownSigns(), [])


@dataclass(slots=True)
class _HiddenTree:
    """A tree that splits only unshared atoms; the fields are the arguments of `hidden_tree`."""

    joint: JointNetwork
    unshared: list[int]
    flipped: frozenset[int]
    record: Callable[[NodeRecord], None]
    budget: Budget
    statistics: TreeStatistics

    def grow(self, known: KnownSigns, splits: list[tuple[SparseForm, int]]) -> bool:
        """Record the subtree below a node; return whether it proves the equality there.

        The node is given by the forms that are nonnegative there, with their factors.
        """
        rounds: list[list[SignRecord]] = []
        while True:
            self.budget.spend(price_of_program(self.joint.dimension, 2 * self.joint.dimension))
            expressions = self.joint.expressions(known)
            found = list(self._sign_records(expressions, splits))
            if not found:
                break
            rounds.append([record for _, record in found])
            known = known.extended((term, record.sign) for term, record in found)
        split = next(
            (term for term in expressions.terms if term.symbol in self.unshared and term.is_affine),
            None,
        )
        if expressions.difference and split is None:
            return False
        self._count(expressions, rounds, len(splits))
        if split is None or not expressions.difference:
            self.record(NodeRecord(rounds, None))
            return True
        self.record(NodeRecord(rounds, self.joint.atom_number(split.symbol)))
        sides = ((1, split.form), (-1, negated(split.form)))
        return all(
            self.grow(known.extended([(split, sign)]), [*splits, (form, split.factor)])
            for sign, form in sides
        )

    def _count(self, expressions: Expressions, rounds: list[list[SignRecord]], depth: int) -> None:
        self.statistics.num_nodes += 1
        self.statistics.depth = max(self.statistics.depth, depth)
        self.statistics.num_signs += sum(map(len, rounds))
        if not expressions.difference:
            self.statistics.num_leaves += 1
            self.statistics.closed += 2.0**-depth / self.statistics.num_trees

    def _sign_records(
        self, expressions: Expressions, splits: list[tuple[SparseForm, int]]
    ) -> Iterator[tuple[Term, SignRecord]]:
        """Yield the terms whose sign follows from one split, with the records that prove it."""
        forms = {term.symbol: term.form for term in expressions.terms}
        for term in expressions.terms:
            if term.atom.level == 1 and term.symbol not in self.unshared:
                continue
            for sign in (-1, 1):
                found = self._sign_record(term, sign, forms, splits)
                if found is not None:
                    yield term, found
                    break

    def _sign_record(
        self,
        term: Term,
        sign: int,
        forms: dict[int, SparseForm],
        splits: list[tuple[SparseForm, int]],
    ) -> SignRecord | None:
        """Return the record of sign · form ≥ 0, with one slope for all flipped atoms, or None."""
        for slope in (0, 1):
            slopes = {
                symbol: RelaxationSlopes(Fraction(slope), Fraction(slope))
                for symbol in self.flipped
                if slope
            }
            below = affine_lower_bound(term.form, sign, forms, self.joint.dimension, {}, slopes)
            if below is None or (slope and not below.slopes):
                return None
            proof = _proof_from_one_split(below.coefficients, splits)
            if proof is not None:
                return sign_record(self.joint, term, sign, proof, below.slopes)
        return None


def _proof_from_one_split(
    form: dict[int, Fraction], splits: list[tuple[SparseForm, int]]
) -> NonnegativityProof | None:
    """Return a proof that an affine form is a multiple of one split's form plus a constant ≥ 0."""
    form = dict(form)
    constant = form.pop(0, Fraction())
    if not form:
        return NonnegativityProof({}) if constant >= 0 else None
    place = next(iter(form))
    for number, (row, factor) in enumerate(splits):
        entries = {column: Fraction(entry) for column, entry in zip(*row, strict=True)}
        offset = entries.pop(0, Fraction())
        multiplier = form[place] / entries[place] if place in entries else Fraction()
        if multiplier <= 0 or constant < multiplier * offset or len(form) != len(entries):
            continue
        if all(form.get(column) == multiplier * entry for column, entry in entries.items()):
            return NonnegativityProof({number: multiplier / factor})
    return None
