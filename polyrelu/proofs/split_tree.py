"""Split trees for the equality of two networks on a domain: the theorem is in ``equivalence.md``, the file format in
FORMAT.md §5.

A node of the tree is a polyhedron with an interior. There the two networks are expressions over the signs that are
known (`symmetry.forms`). What their difference contains decides what to do:

1. nothing: the node is a leaf;
2. atoms whose affine form has one sign on the polyhedron: the sign is recorded, with the multipliers that prove it, and
   the expressions are written again;
3. atoms whose form contains other atoms: the node is split at an affine form below them that takes both signs;
4. affine forms only, each taking both signs if it has a coefficient: the difference is a sum Σ C_h max(h, 0) + affine
   that does not vanish, so the networks differ somewhere in the polyhedron, and a point is found.

So the neurons of the last layer are never split, nor is any neuron that cancels or whose sign is clear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.certificate import NodeRecord, SignRecord
from polyrelu.limits import BIT_LIMIT, DEPTH_LIMIT_OF_TREES, TREE_COST_LIMIT
from polyrelu.proofs.bounds import BoxBounds
from polyrelu.proofs.limits import Budget, LimitReached
from polyrelu.proofs.region import Path, Point, Proof, value_sign
from polyrelu.proofs.relaxation import relaxed
from polyrelu.symmetry.forms import Expressions, JointNetwork, KnownSigns, Row, Term, negated

__all__ = ["Failure", "Sample", "Statistics", "search"]


@dataclass(slots=True)
class Statistics:
    """How much work a search was.

    Attributes
    ----------
    nodes, leaves, signs, depth : of the tree so far.
    programs : linear programs.
    closed : the share of the tree that is done, when every split halves it.
    cost : of checking it, in the unit of FORMAT.md §3.6, about.
    """

    nodes: int = 0
    leaves: int = 0
    signs: int = 0
    depth: int = 0
    programs: int = 0
    closed: float = 0.0
    cost: int = 0


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
    """Where the networks differ: at a point, or somewhere in a polyhedron where the difference is a sum of affine atoms
    that does not vanish."""

    point: Point | None
    path: Path
    expressions: Expressions
    samples: list[Sample]


@dataclass(slots=True)
class _Open:
    """A node that is still to be visited: where it hangs, and what is known there."""

    depth: int
    cut: tuple[Row, int] | None  # the form that is nonnegative from here on, and its factor
    known: KnownSigns
    samples: list[Sample]


def search(
    joint: JointNetwork,
    path: Path,
    record: Callable[[NodeRecord], None],
    budget: Budget,
    statistics: Statistics,
) -> Failure | None:
    """Prove that the difference of two networks vanishes on a polyhedron, or find where it does not.

    The records of the tree are handed out in prefix order; they prove the equality if None is returned. Raises
    `LimitReached` when the budget is used up.
    """
    return _Search(joint, path, budget, statistics).run(record)


class _Search:
    def __init__(self, joint: JointNetwork, path: Path, budget: Budget, statistics: Statistics) -> None:
        self._joint, self._path, self._budget, self._statistics = joint, path, budget, statistics
        self._programs = statistics.programs
        self._bounds = BoxBounds(joint, path.sides())

    def run(self, record: Callable[[NodeRecord], None]) -> Failure | None:
        path, statistics = self._path, self._statistics
        waiting = [_Open(0, None, KnownSigns(), [])]
        while waiting:
            node = waiting.pop()
            while path.depth and path.depth >= node.depth:
                path.pop()
            if node.cut is not None:
                path.push(*node.cut)
            if node.depth > DEPTH_LIMIT_OF_TREES:
                raise LimitReached(f"the certificate's limit of {DEPTH_LIMIT_OF_TREES} levels")
            settled = self._settle(node)
            statistics.nodes += 1
            statistics.programs = self._programs + path.programs
            statistics.depth = max(statistics.depth, node.depth)
            statistics.signs += sum(map(len, settled.rounds))
            differing = next((sample for sample in settled.samples if sample.differs), None)
            if settled.differs or differing is not None:
                point = None if differing is None else differing.point
                return Failure(point, path, settled.expressions, settled.samples)
            split = None if settled.split is None else settled.split.symbol - 1 - self._joint.dimension
            record(NodeRecord(settled.rounds, split))
            if settled.split is None:
                statistics.leaves += 1
                statistics.closed += 2.0**-node.depth
            else:
                waiting += _parts(node, settled, settled.split)
        return None

    def _settle(self, node: _Open) -> _Settled:
        """A node with all signs that can be found without a split."""
        rounds: list[list[SignRecord]] = []
        known, samples = node.known, node.samples[-_SAMPLES:]
        while True:
            self._budget.check()
            expressions = self._joint.expressions(known)
            self._statistics.cost += expressions.cost
            if self._statistics.cost > TREE_COST_LIMIT:
                raise LimitReached("the limit of what the checker takes an hour for")
            if node.depth == 0 and not rounds and (bounded := self._bounded(expressions)):
                rounds.append([record for _, records in bounded for record in records])
                known = known.extended((term, records[-1].sign) for term, records in bounded)
                continue
            found = self._signs(expressions, samples)
            if found:
                rounds.append([record for _, record in found])
                known = known.extended((term, record.sign) for term, record in found)
                continue
            split = None
            if not all(term.is_affine for term in expressions.terms):
                split = _choose(self._joint, expressions, known)
            differs = bool(expressions.difference) and split is None
            return _Settled(rounds, known, samples, expressions, split, differs)

    def _bounded(self, expressions: Expressions) -> list[tuple[Term, list[SignRecord]]]:
        """The signs at the root that bounds over the box of the domain prove, each with the records it needs."""
        found = []
        for term in expressions.terms:
            if (sign := self._bounds.signs.get(term.symbol, 0)) and (records := self._bounds.proved(term.symbol, sign)):
                found.append((term, records))
        return found

    def _signs(self, expressions: Expressions, samples: list[Sample]) -> list[tuple[Term, SignRecord]]:
        """The signs of terms that are clear on the polyhedron of the node."""
        found = []
        for term in expressions.terms:
            for sign in (1, -1):
                if any(sample.sign(term) == -sign for sample in samples):
                    continue
                record = self._proved(expressions, term, sign, samples)
                if record is not None:
                    found.append((term, record))
                    break
        return found

    def _proved(self, expressions: Expressions, term: Term, sign: int, samples: list[Sample]) -> SignRecord | None:
        """The record of sign · form ≥ 0, if a linear program proves it."""
        terms = {other.symbol: other for other in expressions.terms}
        forms = {symbol: other.form for symbol, other in terms.items()}
        bounds = {
            symbol: self._bounds.bounds_of(symbol).scaled(Fraction(1, other.factor)) for symbol, other in terms.items()
        }
        below = relaxed(term.form, sign, forms, self._joint.dimension, bounds, self._bounds.slopes)
        if below is None:
            return None
        answer = self._path.least(below.coefficients)
        if not isinstance(answer, Proof):
            samples.append(Sample(self._joint, answer))
            return None
        first = 1 + self._joint.dimension
        rows = {i: multiplier * term.factor for i, multiplier in answer.rows.items()}  # of the atom's own form
        if any(max(x.numerator.bit_length(), x.denominator.bit_length()) > BIT_LIMIT for x in rows.values()):
            raise LimitReached(f"the certificate's limit of {BIT_LIMIT} bits for a number")
        slopes = {symbol - first: slope for symbol, slope in below.slopes.items()}
        return SignRecord(term.symbol - first, sign, Fraction(), rows, slopes)


@dataclass(slots=True)
class _Settled:
    """A node after all clear signs were found."""

    rounds: list[list[SignRecord]]
    known: KnownSigns
    samples: list[Sample]
    expressions: Expressions
    split: Term | None
    differs: bool


#: Points of a polyhedron that are kept for its parts.
_SAMPLES = 64


def _parts(node: _Open, settled: _Settled, split: Term) -> list[_Open]:
    """Both sides of a split; the last one is visited first."""
    parts = []
    for sign in (-1, 1):
        side = split.form if sign > 0 else negated(split.form)
        samples = [sample for sample in settled.samples if value_sign(side, sample.point) >= 0]
        known = settled.known.extended([(split, sign)])
        parts.append(_Open(node.depth + 1, (side, split.factor), known, samples))
    return parts


def _choose(joint: JointNetwork, expressions: Expressions, known: KnownSigns) -> Term:
    """The affine form to split at: one that other terms contain."""
    inner = {column for term in expressions.terms if not term.is_affine for column in term.form.columns}
    candidates = [term for term in expressions.terms if term.is_affine and term.symbol in inner]
    best, least = candidates[0], None
    for term in candidates:
        left = [len(joint.expressions(known.extended([(term, sign)])).terms) for sign in (1, -1)]
        score = (max(left), min(left)) if MODE == "max" else (sum(left), max(left))
        if least is None or score < least:
            best, least = term, score
    return best


MODE = "max"
