"""Split trees for the equality of two networks on a domain: the theorem is in ``equivalence.md``, the file format in
FORMAT.md §5.

A node of the tree is a polyhedron with an interior. There the two networks are expressions over the signs that are
known (`symmetry.forms`). What their difference contains decides what to do:

1. nothing: the node is a leaf;
2. atoms whose affine form has one sign on the polyhedron: the sign is recorded, with the multipliers that prove it, and
   the expressions are written again;
3. atoms whose form contains other atoms: the node is split at an affine form below them that takes both signs, the one
   that the fewest of them contain;
4. affine forms only, each taking both signs if it has a coefficient: the difference is a sum Σ C_h max(h, 0) + affine
   that does not vanish, so the networks differ somewhere in the polyhedron, and a point is found.

So the neurons of the last layer are never split, nor is any neuron that cancels or whose sign is clear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from polyrelu.certificate import NodeRecord, SignRecord
from polyrelu.exact.form_bounds import FormBounds
from polyrelu.outcomes import ProofStatistics
from polyrelu.proofs.trees.bounds import BoxBounds
from polyrelu.proofs.trees.expressions import Expressions, JointNetwork, KnownSigns, Term
from polyrelu.proofs.trees.node_polyhedron import NodePolyhedron, Point, Proof, value_sign
from polyrelu.proofs.trees.relaxation import Relaxed, relaxed
from polyrelu.proofs.trees.sparse_forms import SparseForm, negated
from polyrelu.support.budget import Budget, CertificateLimit
from polyrelu.support.limits import BIT_LIMIT, TREE_COST_LIMIT

__all__ = ["Failure", "Sample", "TreeStatistics", "search", "sign_record"]

#: Points of a polyhedron that are kept for its parts.
_SAMPLES = 64


@dataclass(slots=True)
class TreeStatistics(ProofStatistics):
    """The work of a proof while it goes on.

    Attributes
    ----------
    trees : how many trees it will have.
    cost : of checking it, in the unit of FORMAT.md §3.6, about.
    """

    trees: int = 1
    cost: int = 0

    def spend(self, operations: int, bits: int) -> None:
        """Count what a step costs the checker."""
        self.cost += operations * (64 + bits) * (1 + bits // 2048)
        if self.cost > TREE_COST_LIMIT:
            raise CertificateLimit("the checker would take more than an hour for the certificate")


class Sample:
    """A known point of a polyhedron, with the values of all atoms' forms there."""

    __slots__ = ("differs", "forms", "point")

    def __init__(self, joint: JointNetwork, point: Point) -> None:
        self.point = point
        self.forms, self.differs = joint.values_at(point)

    def sign(self, term: Term) -> int:
        """The sign of a term's form."""
        value = self.forms[term.symbol]
        return (value > 0) - (value < 0)


@dataclass(slots=True)
class Failure:
    """Where the networks differ: at a point, or somewhere in the polyhedron of `path`, as it is now, where the
    difference is a sum of affine atoms that does not vanish."""

    point: Point | None
    path: NodePolyhedron
    expressions: Expressions
    samples: list[Sample]


def search(
    joint: JointNetwork,
    path: NodePolyhedron,
    record: Callable[[NodeRecord], None],
    budget: Budget,
    progress: TreeStatistics,
) -> Failure | None:
    """Prove that the difference of two networks vanishes on a polyhedron, or find where it does not.

    The records of the tree are handed out in prefix order; they prove the equality if None is returned. Raises
    `LimitReached` when the budget is used up, and `CertificateLimit` when the records could not be checked.
    """
    return _Search(joint, path, budget, progress).run(record)


@dataclass(slots=True)
class _Open:
    """A node that is still to be visited: where it hangs, and what is known there."""

    depth: int
    cut: tuple[SparseForm, int] | None  # the form that is nonnegative from here on, and its factor
    known: KnownSigns
    samples: list[Sample]


@dataclass(slots=True)
class _Settled:
    """A node after all clear signs were found: a leaf, a node to be split, or one where the networks differ."""

    rounds: list[list[SignRecord]]
    known: KnownSigns
    samples: list[Sample]
    expressions: Expressions
    split: Term | None = None

    @property
    def differs(self) -> bool:
        """Whether the difference is a sum of affine atoms that does not vanish."""
        return bool(self.expressions.difference) and self.split is None


class _Search:
    def __init__(
        self, joint: JointNetwork, path: NodePolyhedron, budget: Budget, progress: TreeStatistics
    ) -> None:
        self._joint, self._path, self._budget, self._progress = joint, path, budget, progress
        self._bounds = BoxBounds(joint, path.sides())

    def run(self, record: Callable[[NodeRecord], None]) -> Failure | None:
        """See `search`."""
        waiting = [_Open(0, None, KnownSigns(), [])]
        while waiting:
            node = waiting.pop()
            self._path.go_to(node.depth, node.cut)
            settled = self._settle(node)
            self._count(node, settled)
            differing = next((sample.point for sample in settled.samples if sample.differs), None)
            if settled.differs or differing is not None:
                return Failure(differing, self._path, settled.expressions, settled.samples)
            split = None if settled.split is None else self._joint.number(settled.split.symbol)
            record(NodeRecord(settled.rounds, split))
            if settled.split is not None:
                waiting += _parts(node, settled, settled.split)
        return None

    def _count(self, node: _Open, settled: _Settled) -> None:
        progress = self._progress
        progress.nodes += 1
        progress.depth = max(progress.depth, node.depth)
        progress.signs += sum(map(len, settled.rounds))
        if not settled.expressions.difference:
            progress.leaves += 1
            progress.closed += 2.0**-node.depth / progress.trees

    def _settle(self, node: _Open) -> _Settled:
        """A node with all signs that can be found without a split."""
        found = _Settled(
            [], node.known, node.samples[-_SAMPLES:], self._joint.expressions(node.known)
        )
        if node.depth == 0:
            self._use(found, self._bounded(found.expressions))
        while True:
            self._budget.check()
            self._progress.spend(*found.expressions.cost)
            if not self._use(found, self._signs(found)):
                break
        if not all(term.is_affine for term in found.expressions.terms):
            found.split = _rarest(found.expressions.terms)
        return found

    def _use(self, found: _Settled, records: list[SignRecord]) -> bool:
        """Write the expressions again with a round of records; whether there was anything new."""
        if not records:
            return False
        terms = {self._joint.number(term.symbol): term for term in found.expressions.terms}
        found.rounds.append(records)
        found.known = found.known.extended(
            (terms[record.atom], record.sign) for record in records if record.value >= 0
        )
        found.expressions = self._joint.expressions(found.known)
        return True

    def _bounded(self, expressions: Expressions) -> list[SignRecord]:
        """The records of signs that bounds over the box of the domain prove, and of the bounds they need."""
        records: list[SignRecord] = []
        for term in expressions.terms:
            self._budget.check()
            if sign := self._bounds.signs.get(term.symbol, 0):
                records += self._bounds.proved(term.symbol, sign) or []
        self._progress.spend(16 * len(records) * len(expressions.terms), 64)
        return records

    def _signs(self, found: _Settled) -> list[SignRecord]:
        """The records of signs of terms that are clear on the polyhedron of the node; points of it that are found on
        the way join the samples."""
        records: list[SignRecord] = []
        relaxation = _Relaxation(found.expressions, self._bounds)
        for term in found.expressions.terms:
            for sign in (1, -1):
                if any(sample.sign(term) == -sign for sample in found.samples):
                    continue
                self._budget.check()
                below = relaxation.below(term, sign)
                answer = None if below is None else self._path.least(below.coefficients)
                self._progress.programs += answer is not None
                if isinstance(answer, Proof) and below is not None:
                    records.append(
                        sign_record(self._joint, term, sign, answer, self._progress, below.slopes)
                    )
                    break
                if answer is not None and not isinstance(answer, Proof):
                    found.samples.append(Sample(self._joint, answer))
        return records


def sign_record(
    joint: JointNetwork,
    term: Term,
    sign: int,
    proof: Proof,
    progress: TreeStatistics,
    slopes: Mapping[int, Fraction] | None = None,
) -> SignRecord:
    """That sign · form ≥ 0, for the form of the term's atom, which is factor · (the term's form); slopes by symbols."""
    rows, slopes = (
        {i: multiplier * term.factor for i, multiplier in proof.rows.items()},
        slopes or {},
    )
    bits = max(
        (max(x.numerator.bit_length(), x.denominator.bit_length()) for x in rows.values()),
        default=0,
    )
    if bits > BIT_LIMIT:
        raise CertificateLimit(f"a proof would need numbers of more than {BIT_LIMIT} bits")
    progress.spend((len(rows) + len(slopes) + 1) * (1 + joint.dimension), bits * len(rows))
    numbered = {joint.number(symbol): slope for symbol, slope in slopes.items()}
    return SignRecord(joint.number(term.symbol), sign, Fraction(), rows, numbered)


@dataclass(slots=True)
class _Relaxation:
    """The forms of all terms of a node, with the bounds that are known at the root."""

    expressions: Expressions
    box: BoxBounds
    forms: dict[int, SparseForm] = field(init=False)
    bounds: dict[int, FormBounds] = field(init=False)

    def __post_init__(self) -> None:
        terms = self.expressions.terms
        self.forms = {term.symbol: term.form for term in terms}
        self.bounds = {
            term.symbol: self.box.bounds_of(term.symbol).scaled(Fraction(1, term.factor))
            for term in terms
        }

    def below(self, term: Term, sign: int) -> Relaxed | None:
        """An affine form below sign · (the term's form), if there is one."""
        dimension = self.expressions.joint.dimension
        return relaxed(term.form, sign, self.forms, dimension, self.bounds, self.box.slopes)


def _parts(node: _Open, settled: _Settled, split: Term) -> list[_Open]:
    """Both sides of a split; the last one is visited first."""
    parts = []
    for sign in (-1, 1):
        side = split.form if sign > 0 else negated(split.form)
        samples = [sample for sample in settled.samples if value_sign(side, sample.point) >= 0]
        known = settled.known.extended([(split, sign)])
        parts.append(_Open(node.depth + 1, (side, split.factor), known, samples))
    return parts


def _rarest(terms: list[Term]) -> Term:
    """The affine form to split at: of those that other terms contain, the one that the fewest contain.

    What was changed between the networks is rare, what they share is frequent. Measured on random pairs (nodes of 60
    trees): 766; the most frequent first 1,120, the first one 906, the one that leaves the fewest terms 714 in 1.4 times
    the time. Where a whole layer hides a neuron: 5 nodes, and more than 600 for the most frequent and the first one.
    """
    users: dict[int, int] = {}
    for term in terms:
        for column in () if term.is_affine else term.form.columns:
            users[column] = users.get(column, 0) + 1
    return min(
        (term for term in terms if term.is_affine and term.symbol in users),
        key=lambda term: users[term.symbol],
    )
