"""A split tree of at most seven nodes for two networks that differ by hidden hyperplanes: translation and flips.

The theorem is in ``equivalence.md``, "Bottleneck networks". The networks have first-layer neurons in common, up to a
factor that may be negative (a flip), and few that one of them has alone: the hidden ones. Only these are split. Every
other sign follows from the inequality of one split, with the slope 1 for all flipped neurons or for none. So there are
no linear programs: a record is guessed and verified by comparing coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.certificate import NodeRecord, SignRecord
from polyrelu.exact.form_bounds import RelaxationSlopes
from polyrelu.proofs.trees.expressions import Expressions, JointNetwork, KnownSigns, Term
from polyrelu.proofs.trees.node_polyhedron import NonnegativityProof
from polyrelu.proofs.trees.relaxation import affine_lower_bound
from polyrelu.proofs.trees.search import TreeStatistics, sign_record
from polyrelu.proofs.trees.sparse_forms import SparseForm, negated
from polyrelu.support.budget import Budget

__all__ = ["MOST_SPLITS", "flipped_atoms", "hidden_tree", "own_atoms"]

#: Atoms that may be split in one tree.
MOST_SPLITS = 2


def flipped_atoms(joint: JointNetwork, rows: list[SparseForm]) -> frozenset[int]:
    """The first-layer atoms that the second network, given by the primitive rows of its first layer, has with the other
    sign."""
    opposite = {negated(row) for row in rows}
    return frozenset(
        atom.symbol for atom in joint.atoms if atom.level == 1 and atom.form in opposite
    )


def own_atoms(joint: JointNetwork) -> list[int]:
    """The first-layer atoms, by symbol, that one network has alone."""
    common = set(joint.common)
    return [atom.symbol for atom in joint.atoms if atom.level == 1 and atom.neuron not in common]


def hidden_tree(
    joint: JointNetwork,
    flipped: frozenset[int],
    record: Callable[[NodeRecord], None],
    budget: Budget,
    progress: TreeStatistics,
) -> bool:
    """Prove on R^d that the difference vanishes, by splits at the atoms that one network has alone.

    The records of the tree are handed out in prefix order; they prove it if True is returned. `flipped` are the atoms
    that one of the networks has with the other sign, by symbol.
    """
    own = own_atoms(joint)
    return len(own) <= MOST_SPLITS and _Tree(joint, own, flipped, record, budget, progress).grow(
        KnownSigns(), []
    )


@dataclass(slots=True)
class _Tree:
    joint: JointNetwork
    own: list[int]
    flipped: frozenset[int]
    record: Callable[[NodeRecord], None]
    budget: Budget
    progress: TreeStatistics

    def grow(self, known: KnownSigns, cuts: list[tuple[SparseForm, int]]) -> bool:
        """The part of the tree below a node, given by the forms that are nonnegative there, with their factors."""
        rounds: list[list[SignRecord]] = []
        while True:
            self.budget.check()
            expressions = self.joint.expressions(known)
            self.progress.spend(*expressions.cost)
            found = list(self._signs(expressions, cuts))
            if not found:
                break
            rounds.append([record for _, record in found])
            known = known.extended((term, record.sign) for term, record in found)
        split = next(
            (term for term in expressions.terms if term.symbol in self.own and term.is_affine), None
        )
        if expressions.difference and split is None:
            return False
        self._count(expressions, rounds, len(cuts))
        if split is None or not expressions.difference:
            self.record(NodeRecord(rounds, None))
            return True
        self.record(NodeRecord(rounds, self.joint.number(split.symbol)))
        sides = ((1, split.form), (-1, negated(split.form)))
        return all(
            self.grow(known.extended([(split, sign)]), [*cuts, (form, split.factor)])
            for sign, form in sides
        )

    def _count(self, expressions: Expressions, rounds: list[list[SignRecord]], depth: int) -> None:
        self.progress.nodes += 1
        self.progress.depth = max(self.progress.depth, depth)
        self.progress.signs += sum(map(len, rounds))
        if not expressions.difference:
            self.progress.leaves += 1
            self.progress.closed += 2.0**-depth / self.progress.trees

    def _signs(
        self, expressions: Expressions, cuts: list[tuple[SparseForm, int]]
    ) -> Iterator[tuple[Term, SignRecord]]:
        forms = {term.symbol: term.form for term in expressions.terms}
        for term in expressions.terms:
            if term.atom.level == 1 and term.symbol not in self.own:
                continue
            for sign in (-1, 1):
                found = self._sign(term, sign, forms, cuts)
                if found is not None:
                    yield term, found
                    break

    def _sign(
        self,
        term: Term,
        sign: int,
        forms: dict[int, SparseForm],
        cuts: list[tuple[SparseForm, int]],
    ) -> SignRecord | None:
        """The record of sign · form ≥ 0, with the slope 0 or 1 for all flipped atoms, if that is enough."""
        for slope in (0, 1):
            slopes = {
                symbol: RelaxationSlopes(Fraction(slope), Fraction(slope))
                for symbol in self.flipped
                if slope
            }
            below = affine_lower_bound(term.form, sign, forms, self.joint.dimension, {}, slopes)
            if below is None or (slope and not below.slopes):
                return None
            proof = _by_one_cut(below.coefficients, cuts)
            if proof is not None:
                return sign_record(self.joint, term, sign, proof, self.progress, below.slopes)
        return None


def _by_one_cut(form: dict[int, Fraction], cuts: list[tuple[SparseForm, int]]) -> NonnegativityProof | None:
    """A proof that an affine form is nonnegative: it is a constant ≥ 0 more than a multiple of one of the cuts."""
    form = dict(form)
    constant = form.pop(0, Fraction())
    if not form:
        return NonnegativityProof({}) if constant >= 0 else None
    place = next(iter(form))
    for number, (row, factor) in enumerate(cuts):
        entries = {column: Fraction(entry) for column, entry in zip(*row, strict=True)}
        offset = entries.pop(0, Fraction())
        multiplier = form[place] / entries[place] if place in entries else Fraction()
        if multiplier <= 0 or constant < multiplier * offset or len(form) != len(entries):
            continue
        if all(form.get(column) == multiplier * entry for column, entry in entries.items()):
            return NonnegativityProof({number: multiplier / factor})
    return None
