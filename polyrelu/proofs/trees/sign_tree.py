"""Split trees that prove that chosen atoms have one sign, and with it an equality.

A dead neuron of a trained network is seldom dead for a reason that one linear program shows: on R^n
the activations of layer 1 have no upper bounds, so a record at the root (FORMAT.md §5) says nothing
about a neuron that reads one of them with a positive weight. But few splits are enough. Let t =
Σ w_k a_k + (affine), a_k = max(h_k, 0) with affine h_k, and let t ≤ 0 be the claim. On a polyhedron
where each h_k with w_k > 0 has one sign, t is affine but for terms with w_k < 0, and t ≤ 0 there if
and only if slopes 0 ≤ σ_k ≤ 1 exist such that t with σ_k h_k for a_k is ≤ 0: one linear program
decides that. So the tree splits only at forms h_k with w_k > 0 that take both signs, and has at
most as many leaves as the arrangement of their hyperplanes has cells (`num_cells`). The general
search (`search`) guesses the slopes, and splits at all h_k.

An atom in a form of an atom is handled in the same way, once the atoms in its own form have signs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from polyrelu.certificate import NodeRecord, SignRecord
from polyrelu.exact import LinearProgram
from polyrelu.proofs.trees.expressions import Expressions, JointNetwork, KnownSigns, Term
from polyrelu.proofs.trees.node_polyhedron import NodePolyhedron, NonnegativityProof, value_sign
from polyrelu.proofs.trees.search import Sample, TreeStatistics, sign_record
from polyrelu.proofs.trees.settings import SETTINGS
from polyrelu.proofs.trees.sparse_forms import SparseForm, bits_of_longest, negated
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_node, price_of_program

__all__ = ["SignNotProved", "num_cells", "sign_tree"]


class SignNotProved(Exception):  # noqa: N818 - no error: another way is tried
    """Raised when a tree does not prove the equality.

    Attributes
    ----------
    symbol
        The symbol of the atom whose sign does not hold, or takes too many nodes; None if signs are
        not enough.
    """

    def __init__(self, symbol: int | None) -> None:
        super().__init__("a sign was not proved")
        self.symbol = symbol


def num_cells(num_hyperplanes: int, dimension: int) -> int:
    """Return the number of cells of an arrangement in general position, the largest possible one.

    >>> num_cells(3, 2)
    7
    """
    return sum(math.comb(num_hyperplanes, k) for k in range(dimension + 1))


def sign_tree(
    joint: JointNetwork,
    polyhedron: NodePolyhedron,
    signs: Mapping[int, int],
    record: Callable[[NodeRecord], None],
    statistics: TreeStatistics,
    max_nodes: int,
    budget: Budget,
) -> None:
    """Prove that a difference vanishes because atoms have given signs.

    Parameters
    ----------
    joint
        The joint network.
    polyhedron
        The polyhedron of the root.
    signs
        The claimed signs of the atoms' own forms, by symbol: 1 for nonnegative, -1 for nonpositive.
    record
        Takes the records of the tree, in prefix order.
    statistics
        The work, which is counted on.
    max_nodes
        Maximum number of nodes in the statistics.
    budget
        The work for all nodes.

    Raises
    ------
    SignNotProved
        The tree does not exist or is too large.
    LimitReached
        The budget is used up.
    CertificateLimit
        The checker would not take the tree.
    """
    tree = _SignTree(joint, polyhedron, signs, statistics, budget)
    waiting = [_Node(0, None, KnownSigns(), [])]
    while waiting:
        node = waiting.pop()
        polyhedron.go_to(node.depth, node.cut)
        statistics.num_nodes += 1
        statistics.depth = max(statistics.depth, node.depth)
        split = tree.resolve(node)
        statistics.num_signs += sum(map(len, node.rounds))
        statistics.num_leaves += split is None
        number = None if split is None else joint.atom_number(split.symbol)
        record(NodeRecord(node.rounds, number))
        if split is not None:
            waiting += node.children(split)
        if waiting and statistics.num_nodes >= max_nodes:
            raise SignNotProved(tree.last)


@dataclass(slots=True)
class _Node:
    """A node of the tree.

    Attributes
    ----------
    depth
        The number of splits above it.
    cut
        The inequality that cuts its polyhedron out of the parent's; None at the root.
    known
        The signs that hold on its polyhedron.
    samples
        Known points of its polyhedron.
    rounds
        The records of the signs that are proved in it.
    """

    depth: int
    cut: tuple[SparseForm, int] | None
    known: KnownSigns
    samples: list[Sample]
    rounds: list[list[SignRecord]] = field(default_factory=list)

    def add(self, proved: Sequence[tuple[Term, SignRecord]]) -> None:
        """Add a round of records with the terms that they are about."""
        if proved:
            self.rounds.append([record for _, record in proved])
            self.known = self.known.extended((term, record.sign) for term, record in proved)

    def children(self, split: Term) -> Iterator[_Node]:
        """Yield both sides of a split; the last one is visited first."""
        for sign in (-1, 1):
            side = split.form if sign > 0 else negated(split.form)
            samples = [s for s in self.samples if value_sign(side, s.point) >= 0]
            known = self.known.extended([(split, sign)])
            cut = side, split.factor
            yield _Node(self.depth + 1, cut, known, samples[-SETTINGS.max_samples :])


@dataclass(slots=True)
class _SignTree:
    """The search at the nodes of one tree.

    Attributes
    ----------
    joint, polyhedron, signs, statistics, budget
        As given.
    last
        The symbol of the atom whose sign was asked for last.
    """

    joint: JointNetwork
    polyhedron: NodePolyhedron
    signs: Mapping[int, int]
    statistics: TreeStatistics
    budget: Budget
    last: int | None = None

    def resolve(self, node: _Node) -> Term | None:
        """Add the records of a node; return the term at which it is split, None at a leaf."""
        while True:
            expressions = self.joint.expressions(node.known)
            self.budget.spend(price_of_node(len(expressions.terms), self.joint.dimension))
            if not expressions.difference:
                return None
            term, sign = self._target(expressions)
            terms = {term.symbol: term for term in expressions.terms}
            obstacles = list(_obstacles(term, sign, terms))
            if not obstacles:
                proof = self._proof(term, sign, terms)
                if proof is not None:
                    node.add([(term, proof)])
                    continue
                obstacles = list(_affine_terms(term, terms, only_deep=True))
            if not obstacles:
                raise SignNotProved(self.last)
            split = self._first_crossing(node, obstacles)
            if split is not None:
                return split

    def _target(self, expressions: Expressions) -> tuple[Term, int]:
        """Return the first term with a claimed sign, and the sign of its form."""
        for term in expressions.terms:
            for symbol, orientation in term.atoms:
                if symbol in self.signs:
                    self.last = symbol
                    return term, self.signs[symbol] * orientation
        raise SignNotProved(None)

    def _first_crossing(self, node: _Node, terms: Sequence[Term]) -> Term | None:
        """Return the first affine term that takes both signs; add the records of those before."""
        proved = list[tuple[Term, SignRecord]]()
        split: Term | None = None
        for term in terms:
            record = self._sign_of(term, node.samples)
            if record is None:
                split = term
                break
            proved.append((term, record))
        node.add(proved)
        return split

    def _sign_of(self, term: Term, samples: list[Sample]) -> SignRecord | None:
        """Return the record of the sign of an affine term; points that show none are kept."""
        for sign in (1, -1):
            if any(sample.sign(term) == -sign for sample in samples):
                continue
            self._count_program(self.joint.dimension, 2 * self.joint.dimension)
            form = {c: sign * w for c, w in zip(*term.form, strict=True)}
            answer = self.polyhedron.prove_nonnegative(form)
            if isinstance(answer, NonnegativityProof):
                return sign_record(self.joint, term, sign, answer)
            samples.append(Sample(self.joint, answer))
        return None

    def _count_program(self, num_rows: int, num_columns: int) -> None:
        """Count a linear program of this size, and pay for it."""
        self.statistics.num_programs += 1
        self.budget.spend(price_of_program(num_rows, num_columns))

    def _proof(self, term: Term, sign: int, terms: Mapping[int, Term]) -> SignRecord | None:
        """Return the record of sign · form ≥ 0 with the best slopes of affine terms, if it holds.

        Each term in the form has a coefficient γ whose sign is `sign`. The unknowns are γ σ, σ the
        slope, between 0 and |γ|, and the multipliers of the polyhedron's inequalities.
        """
        form = {c: sign * w for c, w in zip(*term.form, strict=True)}
        used = [c for c in form if c in terms and terms[c].is_affine]
        rows = [*(negated(terms[c].form) for c in used), *self.polyhedron.constraints()]
        self._count_program(1 + self.joint.dimension, len(rows))
        found = _least_constant(form, rows, [form[c] for c in used], self.joint.dimension)
        if found is None:
            return None
        slopes = {c: x / form[c] for c, x in zip(used, found, strict=False) if x}
        rest = enumerate(found[len(used) :])
        proof = self.polyhedron.proof({i: x for i, x in rest if x})
        return sign_record(self.joint, term, sign, proof, slopes)


def _obstacles(term: Term, sign: int, terms: Mapping[int, Term]) -> Iterator[Term]:
    """Yield affine terms that need a sign before a linear program can bound sign · form below.

    These are terms with a negative coefficient, or affine terms in their forms.
    """
    for column, w in zip(*term.form, strict=True):
        if column in terms and sign * w < 0:
            if terms[column].is_affine:
                yield terms[column]
            else:
                yield from _affine_terms(terms[column], terms)


def _affine_terms(term: Term, terms: Mapping[int, Term], only_deep: bool = False) -> Iterator[Term]:
    """Yield the affine terms in a form, in the forms of its terms, and so on.

    With `only_deep`, those in the form itself are left out.
    """
    for column in term.form.columns:
        if column in terms and not (only_deep and terms[column].is_affine):
            if terms[column].is_affine:
                yield terms[column]
            else:
                yield from _affine_terms(terms[column], terms)


def _least_constant(
    form: Mapping[int, int], rows: Sequence[SparseForm], upper: Sequence[int], dimension: int
) -> list[Fraction] | None:
    """Return multiples x ≥ 0 of rows that agree with a form but for a constant that is too small.

    Σ x_i rows_i and the form have equal coefficients at the coordinates 1, …, `dimension`, and the
    constant of the sum is at most the form's; x_i ≤ upper_i for the first rows. Rows and form are
    scaled by powers of two to similar sizes, without which HiGHS gives up.
    """
    if not rows:
        is_constant = not any(form.get(j) for j in range(1, 1 + dimension))
        return [] if is_constant and form.get(0, 0) >= 0 else None
    bits = [bits_of_longest([row]) for row in rows]
    shifts = [max(bits) - b for b in bits]
    size = max(map(abs, form.values())).bit_length()
    table = [[0] * len(rows) for _ in range(1 + dimension)]
    for i, row in enumerate(rows):
        for column, w in zip(*row, strict=True):
            table[column][i] = w << shifts[i]
    limits = [Fraction(w, 1 << size + shifts[i]) for i, w in enumerate(upper)]
    program = LinearProgram(
        len(rows), [0] * len(rows), [*limits, *[None] * (len(rows) - len(limits))]
    )
    right = [Fraction(form.get(j, 0), 1 << size) for j in range(1 + dimension)]
    program.add_equations(table[1:], right[1:])
    answer = program.try_minimize(table[0])
    if answer is None or answer.value > right[0]:
        return None
    return [x * (1 << size + shift) for x, shift in zip(answer.point, shifts, strict=True)]
