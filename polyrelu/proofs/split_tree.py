"""Split trees for the equality of two networks on a domain: the theorem is in ``equivalence.md``, the file format in
FORMAT.md §5.

A node of the tree is a polyhedron with an interior. There the two networks are expressions over the signs that are
known (`symmetry.forms`). What their difference contains decides what to do:

1. nothing: the node is a leaf;
2. atoms whose affine form has one sign on the polyhedron: the sign is recorded, with the multipliers that prove it, and
   the expressions are written again;
3. atoms whose form contains other atoms: the node is split at an affine form below them that takes both signs;
4. affine forms only, each taking both signs if it has a coefficient: the difference is a sum Σ C_h max(h, 0) + affine that does not vanish, so
   the networks differ somewhere in the polyhedron, and a point is found.

So the neurons of the last layer are never split, nor is any neuron that cancels or whose sign is clear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.certificate import NodeRecord, SignRecord
from polyrelu.proofs.limits import Budget
from polyrelu.proofs.region import Coordinates, Path, Point, Proof, value_sign
from polyrelu.proofs.relaxation import Bounds, affine_below
from polyrelu.symmetry.forms import Atom, Expressions, KnownSigns, NetworkForms, Neuron, Row, Values, negated

__all__ = ["Failure", "Sample", "Statistics", "search"]


@dataclass(slots=True)
class Statistics:
    """How much work a search was.

    Attributes
    ----------
    nodes, leaves, signs, depth : of the tree so far.
    programs : linear programs.
    closed : the share of the tree that is done, when every split halves it.
    """

    nodes: int = 0
    leaves: int = 0
    signs: int = 0
    depth: int = 0
    programs: int = 0
    closed: float = 0.0


@dataclass(frozen=True, slots=True)
class Sample:
    """A known point of a polyhedron, with the signs of all neurons there."""

    point: Point
    values: Values


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
    cut: tuple[Row, Fraction] | None  # the form that is nonnegative from here on, and its unit
    known: KnownSigns
    samples: list[Sample]


def search(
    forms: NetworkForms,
    coordinates: Coordinates,
    record: Callable[[NodeRecord], None],
    budget: Budget,
    statistics: Statistics,
) -> Failure | None:
    """Prove that two networks agree on a domain, or find where they differ.

    The records of the tree are handed out in prefix order; they prove the equality if None is returned. Raises
    `LimitReached` when the budget is used up.
    """
    return _Search(forms, Path(coordinates), budget, statistics).run(record)


class _Search:
    def __init__(self, forms: NetworkForms, path: Path, budget: Budget, statistics: Statistics) -> None:
        self._forms, self._path, self._budget, self._statistics = forms, path, budget, statistics
        self._bounds: dict[Neuron, Bounds] = {}

    def run(self, record: Callable[[NodeRecord], None]) -> Failure | None:
        path, statistics = self._path, self._statistics
        waiting = [_Open(0, None, KnownSigns(), [])]
        while waiting:
            node = waiting.pop()
            while path.depth and path.depth >= node.depth:
                path.pop()
            if node.cut is not None:
                path.push(*node.cut)
            settled = self._settle(node)
            if (differing := next((s for s in settled.samples if s.values.differ()), None)) is not None:
                return Failure(differing.point, path, settled.expressions, settled.samples)
            statistics.nodes += 1
            statistics.programs = path.programs
            statistics.depth = max(statistics.depth, node.depth)
            statistics.signs += sum(map(len, settled.rounds))
            if settled.differs:
                return Failure(None, path, settled.expressions, settled.samples)
            record(NodeRecord(settled.rounds, None if settled.split is None else settled.split.neuron))
            if settled.split is None:
                statistics.leaves += 1
                statistics.closed += 2.0**-node.depth
                continue
            form, unit = settled.split.form, settled.split.unit
            for sign in (-1, 1):  # the last one put is the first one visited
                side = form if sign > 0 else negated(form)
                samples = [sample for sample in settled.samples if value_sign(side, sample.point) >= 0]
                waiting.append(
                    _Open(node.depth + 1, (side, unit), settled.known.extended([(settled.split, sign)]), samples)
                )
        return None

    def _settle(self, node: _Open) -> _Settled:
        """A node with all signs that can be found without a split."""
        rounds: list[list[SignRecord]] = []
        known, samples = node.known, node.samples[-_SAMPLES:]
        while True:
            self._budget.check()
            expressions = self._forms.expressions(known)
            difference = expressions.difference()
            used = expressions.used(difference)
            found = self._signs(expressions, used, samples)
            if found:
                rounds.append([record for _, record in found])
                known = known.extended((atom, record.sign) for atom, record in found)
                continue
            split = None
            if difference and not all(atom.is_affine for atom in used):
                split = _choose(self._forms, used, known)
            return _Settled(rounds, known, samples, expressions, split, bool(difference) and split is None)

    def _signs(
        self, expressions: Expressions, used: list[Atom], samples: list[Sample]
    ) -> list[tuple[Atom, SignRecord]]:
        """The signs of atoms that are clear on the polyhedron of the node."""
        found = []
        for atom in used:
            place = self._forms.position(atom.neuron)
            for sign in (1, -1):
                if any(sample.values.signs[place] == -sign for sample in samples):
                    continue
                record = self._proved(expressions, atom, sign, samples)
                if record is not None:
                    found.append((atom, record))
                    break
        return found

    def _proved(self, expressions: Expressions, atom: Atom, sign: int, samples: list[Sample]) -> SignRecord | None:
        """The record of sign · form ≥ 0, if a linear program proves it."""
        relaxed = affine_below(atom.form, sign, expressions.atoms, expressions.dimension, {})
        if relaxed is None:
            return None
        answer = self._path.least(relaxed.coefficients)
        if not isinstance(answer, Proof):
            samples.append(Sample(answer, self._forms.values_at(answer)))
            return None
        rows = {
            i: multiplier * atom.unit for i, multiplier in answer.rows.items()
        }  # the record is about z = unit · form
        first = 1 + expressions.dimension
        slopes: dict[tuple[int, int, int], Fraction] = {
            expressions.atoms[symbol - first].neuron: slope for symbol, slope in relaxed.slopes.items()
        }
        return SignRecord(atom.neuron, sign, Fraction(), rows, slopes)


@dataclass(slots=True)
class _Settled:
    """A node after all clear signs were found."""

    rounds: list[list[SignRecord]]
    known: KnownSigns
    samples: list[Sample]
    expressions: Expressions
    split: Atom | None
    differs: bool


#: Points of a polyhedron that are kept for its parts.
_SAMPLES = 64


def _choose(forms: NetworkForms, used: list[Atom], known: KnownSigns) -> Atom:
    """The affine form to split at: one that other atoms contain."""
    inner = {column for atom in used if not atom.is_affine for column in atom.form.columns}
    candidates = [atom for atom in used if atom.is_affine and atom.symbol in inner]
    best, least = candidates[0], None
    for atom in candidates:
        left = []
        for sign in (1, -1):
            after = forms.expressions(known.extended([(atom, sign)]))
            left.append(len(after.used(after.difference())))
        score = (sum(left), min(left)) if MODE == "sum" else (max(left), min(left))
        if least is None or score < least:
            best, least = atom, score
    return best


MODE = "max"
