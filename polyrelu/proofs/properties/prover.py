"""Whether a property holds: a proof for each set of inputs, or a point that satisfies the query.

The property is a list of polyhedra with clauses (`formats.vnnlib.normal_form`). On each of them the
excess of the clauses is one network (`excess`), and the question is whether it is negative
everywhere. Points are tried first (`points`). Then a split tree proves that the positive part of
excess + δ is the zero function: the excess is at most -δ. A clause whose rows are all not strict
needs δ = 0 only; for others, δ is a part of the distance between 0 and the largest excess that was
found. If the proof ends at a point whose excess is higher, the best point of its region is found by
a linear program, and δ is chosen again. There are finitely many regions, so this ends with a point
or with a proof, unless the largest excess is 0 or not attained. Then all regions are visited, which
finds a point if there is one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polyrelu.certificate import (
    BoundsCertificate,
    Choice,
    DecisionsClaim,
    HoldsClaim,
    LinearRow,
    TreeCertificate,
)
from polyrelu.complex import walk_regions
from polyrelu.exact import RationalMatrix
from polyrelu.formats import (
    Counterexample,
    NetworkLike,
    PropertyPart,
    VnnlibQuery,
    check_counterexample,
    property_of,
    read_vnnlib,
)
from polyrelu.formats.violation import networks_of
from polyrelu.formats.vnnlib.doubts import doubts_about
from polyrelu.network import Block, Layer, Network
from polyrelu.outcomes import (
    Equivalent,
    NotEquivalent,
    ProofStatistics,
    PropertyFails,
    PropertyHolds,
    PropertyOutcome,
    PropertyUndecided,
)
from polyrelu.proofs.equivalence.prover import equivalent_within
from polyrelu.proofs.equivalence.witness import simplified
from polyrelu.proofs.properties.bound_tree import BoundTree, bound_at_root, has_box, linear_rows
from polyrelu.proofs.properties.box_proof import prove_by_boxes
from polyrelu.proofs.properties.excess import all_outputs, excess_network, positive_part
from polyrelu.proofs.properties.next_steps import next_steps
from polyrelu.proofs.properties.points import best_of_region, high_points, is_high_everywhere
from polyrelu.proofs.trees.node_polyhedron import (
    DomainCoordinates,
    HomogeneousPoint,
    NodePolyhedron,
)
from polyrelu.support.arguments import expect_count, expect_function, expect_one_of
from polyrelu.support.budget import ENDINGS, Budget, BudgetLike, LimitReached, as_budget
from polyrelu.support.display import widths_text
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.parallel import Execution, Workers
from polyrelu.support.parallel.wire import exact_texts, packed
from polyrelu.support.prices import price_of_cell
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Point
from polyrelu.version import __version__

__all__ = ["PartAnswer", "PartQuestion", "verify"]


@dataclass(frozen=True, slots=True)
class PropertySettings:
    """Numbers of the search.

    Attributes
    ----------
    max_polished
        Maximum number of points that are moved to the best point of their region.
    share_of_distance
        δ is this share of the distance between 0 and the largest excess that was found.
    max_trees
        Maximum number of trees that are tried for one set of inputs, with smaller and smaller δ.
    ascent_share
        Share of the remaining work for the points of one set of inputs.
    bounds_share
        Share of the remaining work for a tree of cuts, before split trees are tried.
    equality_share, max_nodes_of_equality
        Share of the work, and maximum number of nodes, of a proof that two classifiers are one
        function.
    max_points_of_multiples
        Maximum number of points that tell by what differences of outputs are multiplied.
    """

    max_polished: int = 2
    share_of_distance: Fraction = Fraction(1, 16)
    max_trees: int = 64
    ascent_share: float = 0.2
    bounds_share: float = 0.5
    equality_share: float = 0.1
    max_nodes_of_equality: int = 64
    max_points_of_multiples: int = 16


SETTINGS = PropertySettings()
_ALONE = Execution()

#: Why there is no certificate where a property holds with margin 0.
_TOUCHING = (
    "none of the {number} activation regions has a counterexample, but the largest margin is 0 at "
    "a point that another constraint excludes, so that no certificate shows it"
)
#: What is doubtful about a query that holds wherever it was tried.
_PROBABLY_NOT_NEGATED = (
    "the query holds at all points that were tried; a query says what a counterexample is, so if "
    "the file asserts what should hold, assert the negation"
)


def verify(
    network: NetworkLike | Mapping[str, NetworkLike],
    query: VnnlibQuery | str | Path,
    *,
    seed: int = 0,
    budget: BudgetLike = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    workers: Workers | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> PropertyOutcome:
    """Prove that no input satisfies a query, or find one that does.

    Parameters
    ----------
    network
        The network, as `polyrelu.load` takes it; where the query declares two, a mapping of their
        names to networks. A network that the query declares equal to another may be left out.
    query
        The name of a VNN-LIB file of version 1 or 2, or what `polyrelu.formats.read_vnnlib`
        returns. A point that satisfies it is a counterexample to the property.
    seed
        Seed of the points that are tried. The same seed and budget give the same answer.
    budget
        Units of work, or a `Budget` with all limits; no limit by default. A unit is about a
        millisecond.
    time_limit
        Seconds, after which the answer is undecided; no limit by default.
    memory_limit
        Limit of the memory of the process in MiB; no limit by default.
    workers
        Who does the tasks into which a long search is divided (`polyrelu.support.parallel`); None
        for this process alone. The answer is the same.
    checkpoint
        A file that keeps what is done; if it exists, the work goes on from there, also with a
        larger budget.
    progress
        Called with a `polyrelu.support.ProgressStep` after each node of a proof.

    Returns
    -------
    PropertyHolds or PropertyFails or PropertyUndecided
        A proof for each set of inputs of the query, an exact counterexample, or the reason why
        neither was found.

    Raises
    ------
    DomainError
        The file cannot be read, has too many cases, or asks about networks with different inputs;
        or the checkpoint belongs to another question.
    NetworkError
        A network cannot be read.
    ArgumentError
        An argument has a wrong type.

    Notes
    -----
    Numbers of the file are taken exactly, and so are the weights: the answer is about real
    arithmetic, whatever element type the file declares.

    Examples
    --------
    >>> from polyrelu.formats.vnnlib import Constraint, DeclaredNetwork, Tensor
    >>> declared = DeclaredNetwork("", (Tensor("X", "Real", (1,)),), (Tensor("Y", "Real", (1,)),))
    >>> inside = [Constraint(((0, Fraction(s)),), Fraction(-1), "<=", 1) for s in (1, -1)]
    >>> at_least_2 = Constraint(((1, Fraction(-1)),), Fraction(2), "<=", 2)
    >>> query = VnnlibQuery("|x| >= 2", "1.0", (declared,), (*inside, at_least_2))
    >>> verify([([[1], [-1]], [0, 0]), ([[1, 1]], [0])], query).status
    'proved'
    >>> verify([([[1], [-1]], [0, 0]), ([[2, 1]], [0])], query).counterexample.values
    {'X_0': Fraction(1, 1), 'Y_0': Fraction(2, 1)}
    """
    expect_one_of(query, (VnnlibQuery, str, Path), "query", "read_vnnlib makes one")
    asked = query if isinstance(query, VnnlibQuery) else read_vnnlib(query)
    networks = networks_of(asked, network)
    seed = expect_count(seed, "seed")
    expect_function(progress, "progress")
    limits = as_budget(budget, time_limit, memory_limit)
    entries = {} if checkpoint is None else _entries(asked, networks, seed)
    with (
        np.errstate(all="ignore"),
        Execution.opened(workers, checkpoint, entries) as execution,
        deferred_interrupt() as interrupt,
    ):
        return _Verification(
            asked, networks, seed, limits.with_interrupt(interrupt), progress, execution
        ).run()


def _entries(query: VnnlibQuery, networks: Sequence[Network], seed: int) -> dict[str, str]:
    """Return what a checkpoint compares."""
    digest = hashlib.sha256()
    for part in property_of(query).parts:
        digest.update(part.domain.sha256.encode("ascii"))
        for row in (row for clause in part.clauses for row in (*clause.rows, None)):
            texts = [] if row is None else [[i, *exact_texts([x])] for i, x in row.coefficients]
            ends = [] if row is None else [exact_texts([row.constant]), row.is_strict]
            digest.update(packed([texts, ends]))
    return {
        "question": "verify",
        "version": __version__,
        **{f"network {number}": net.sha256 for number, net in enumerate(networks, 1)},
        "property": digest.hexdigest(),
        "seed": str(seed),
    }


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """What was found about the clauses on one set of inputs.

    Attributes
    ----------
    certificate
        A proof that all clauses hold; None if there is none.
    point
        Where a clause fails; None if no such point was found.
    excess
        The largest excess that was found at a point; None if no point was evaluated.
    reason
        Why neither was found.
    search
        The work of the last tree.
    """

    certificate: TreeCertificate | BoundsCertificate | None = None
    point: Point | None = None
    excess: Fraction | None = None
    reason: str = ""
    search: ProofStatistics = field(default_factory=ProofStatistics)


class Decisions(NamedTuple):
    """What clauses say about the decisions of two networks (`decisions`)."""

    margin: Fraction
    choose: Choice


class PartQuestion:
    """Whether clauses hold on one set of inputs, and the points that were found.

    Parameters
    ----------
    part
        The set of inputs, not empty, and the clauses.
    networks
        One network or two.
    seed
        Seed of the points.
    decisions
        What the clauses mean if they say that two networks decide alike (`decisions`).
    execution
        Who does the tasks into which a long search is divided.

    Attributes
    ----------
    points
        Points of the domain that were tried.
    """

    def __init__(
        self,
        part: PropertyPart,
        networks: Sequence[Network],
        seed: int,
        decisions: Decisions | None = None,
        execution: Execution = _ALONE,
    ) -> None:
        self._execution = execution
        self._part, self._networks, self._seed = part, networks, seed
        self._decisions = decisions
        self._coordinates = DomainCoordinates.of(part.domain)
        self._root = NodePolyhedron.at_root(self._coordinates)
        self._outputs = all_outputs(networks)
        self._excess = excess_network(networks, part.clauses)
        self._best: tuple[Fraction, Point] | None = None
        self.points = list[Point]()

    @property
    def largest_excess(self) -> Fraction | None:
        """The largest excess that was found at a point."""
        return self._best and self._best[0]

    def bound(self) -> Fraction | None:
        """Return a proved bound of the excess; None if there is none."""
        return bound_at_root(self._networks, self._coordinates, self._part.clauses)

    def point_by_ascent(self, budget: Budget) -> Point | None:
        """Return a point where a clause fails, if an ascent finds one with a share of the work."""
        try:
            found = self._point_by_ascent(budget.trial(SETTINGS.ascent_share))
        except LimitReached:  # if the limit is the global one, the next check raises
            found = None
        budget.check()
        return found

    def _point_by_ascent(self, budget: Budget) -> Point | None:
        points = high_points(self._excess, self._coordinates, self._seed, budget)
        self.points += points
        for number, x in enumerate(points):
            polished = self._polished(x, budget) if number < SETTINGS.max_polished else []
            for point in (x, *polished):
                if (failing := self._failing(point)) is not None:
                    return failing
        return None

    def fails_everywhere(self) -> bool:
        """Whether a clause seems to fail at every point."""
        return is_high_everywhere(self._excess, self._coordinates, self._seed)

    def proof(self, budget: Budget, progress: Progress | None = None) -> PartAnswer:
        """Return a proof that all clauses hold, or a point where one fails."""
        if has_box(self._networks, self._coordinates):
            try:
                answer = self._by_bounds(budget.trial(SETTINGS.bounds_share), progress)
                if answer is None:
                    answer = self._by_boxes(budget.trial(SETTINGS.bounds_share), progress)
            except LimitReached:  # if the limit is the global one, the next check raises
                answer = None
            budget.check()
            if answer is not None:
                return answer
        return self._by_split_tree(budget, progress)

    def _by_bounds(self, budget: Budget, progress: Progress | None) -> PartAnswer | None:
        """Return the answer of a tree of cuts, or None if it would be too large."""
        claim, clauses = self._claim()
        tree = BoundTree(claim, self._coordinates, clauses)
        found = tree.run(budget, progress)
        if isinstance(found, BoundsCertificate):
            return PartAnswer(found, None, self.largest_excess, "", tree.search)
        if found is not None and (failing := self._failing(found)) is not None:
            return PartAnswer(None, failing, self.largest_excess)
        return None

    def _by_boxes(self, budget: Budget, progress: Progress | None) -> PartAnswer | None:
        """Return the answer of a search over boxes, or None if it finds none."""
        claim, clauses = self._claim()
        question = claim, self._coordinates, clauses, self._seed
        found = prove_by_boxes(*question, budget, progress, self._execution)
        if found.certificate is not None:
            return PartAnswer(found.certificate, None, self.largest_excess, "", found.search)
        if found.point is not None:
            for point in (found.point, *self._polished(found.point, budget)):
                if (failing := self._failing(point)) is not None:
                    return PartAnswer(None, failing, self.largest_excess)
        return None

    def _claim(self) -> tuple[HoldsClaim | DecisionsClaim, tuple[tuple[LinearRow, ...], ...]]:
        """Return the claim, and its clauses as the certificate numbers them."""
        sizes = [*(network.num_outputs for network in self._networks), 0]
        clauses = tuple(linear_rows(clause, sizes) for clause in self._part.clauses)
        first, domain = self._networks[0], self._coordinates.domain
        other = self._networks[1] if len(self._networks) > 1 else None
        if self._decisions is not None and other is not None:
            margin, choose = self._decisions
            return DecisionsClaim(first, other, domain, margin, choose=choose), clauses
        return HoldsClaim(first, domain, clauses, other), clauses

    def _by_split_tree(self, budget: Budget, progress: Progress | None) -> PartAnswer:
        """Return a proof about the excess, or a point where a clause fails."""
        for _ in range(SETTINGS.max_trees):
            added = self._added()
            claimed = positive_part(self._excess, added)
            zero = _zero(claimed)
            answer = equivalent_within(
                claimed, zero, self._coordinates.domain, self._seed, None, budget, progress
            )
            if isinstance(answer, Equivalent):
                return PartAnswer(answer.certificate, None, self.largest_excess, "", answer.search)
            if not isinstance(answer, NotEquivalent):
                return PartAnswer(None, None, self.largest_excess, answer.reason)
            before = self.largest_excess
            x = answer.witness.x
            for point in (x, *self._polished(x, budget)):
                if (failing := self._failing(point)) is not None:
                    return PartAnswer(None, failing, self.largest_excess)
            if before is not None and self._best is not None and self._best[0] <= before:
                break
            if self._best is not None and self._best[0] >= 0:
                break
        return self._by_regions(budget)

    def _by_regions(self, budget: Budget) -> PartAnswer:
        """Look at all regions, where the largest excess is 0 and a tree proves nothing."""
        price, number = price_of_cell(self._outputs.num_parameters), 0
        for visit in walk_regions(self._outputs, self._coordinates.domain):
            number += 1
            budget.spend(price)
            x = visit.region.interior_point
            for clause in self._part.clauses:
                points = best_of_region(self._outputs, self._coordinates, x, clause, budget)
                for point in points:
                    if (failing := self._failing(point)) is not None:
                        return PartAnswer(None, failing, self.largest_excess)
        return PartAnswer(None, None, self.largest_excess, _TOUCHING.format(number=number))

    def _added(self) -> list[Fraction]:
        """Return for each clause the δ with which it is proved."""
        distance = -self._best[0] if self._best is not None else Fraction(1)
        delta = _power_of_two_below(distance * SETTINGS.share_of_distance)
        return [
            delta if any(row.is_strict for row in clause.rows) else Fraction()
            for clause in self._part.clauses
        ]

    def _polished(self, x: Point, budget: Budget) -> list[Point]:
        """Return points of a region around x where the clause with the largest excess is worst."""
        values = self._excess(x)
        worst = self._part.clauses[max(range(len(values)), key=values.__getitem__)]
        return best_of_region(self._outputs, self._coordinates, x, worst, budget)

    def _failing(self, x: Point) -> Point | None:
        """Return a short point where a clause fails, if one fails at x; note the excess at x."""
        largest = max(self._excess(x))
        if self._best is None or largest > self._best[0]:
            self._best = largest, x
        if not self._fails(x):
            return None
        point = self._coordinates.to_coordinates(x)
        return self._coordinates.to_inputs(simplified(point, self._is_failing))

    def _is_failing(self, point: HomogeneousPoint) -> bool:
        return self._root.contains(point) and self._fails(self._coordinates.to_inputs(point))

    def _fails(self, x: Point) -> bool:
        values = [value for network in self._networks for value in network(x)]
        return not self._part.holds([*values, *x])


def _zero(network: Network) -> Network:
    """Return the zero function with the inputs and outputs of a network."""
    weight = RationalMatrix.zeros(network.num_outputs, network.num_inputs)
    layer = Layer((Block(0, weight),), RationalMatrix.zeros(network.num_outputs, 1))
    return Network(network.num_inputs, (layer,))


def _power_of_two_below(number: Fraction) -> Fraction:
    """Return a power of two that is less than a positive number, and at least a quarter of it.

    >>> _power_of_two_below(Fraction(3, 16)), _power_of_two_below(Fraction(5))
    (Fraction(1, 16), Fraction(2, 1))
    """
    exponent = number.numerator.bit_length() - number.denominator.bit_length() - 1
    return Fraction(2) ** exponent


@dataclass(slots=True)
class _Verification:
    """A query about networks, and what was found so far."""

    query: VnnlibQuery
    networks: Sequence[Network]
    seed: int
    budget: Budget
    progress: Progress | None
    execution: Execution = _ALONE
    doubts: tuple[str, ...] = ()
    questions: list[PartQuestion] = field(default_factory=list)
    are_all_asked: bool = False

    def run(self) -> PropertyOutcome:
        """Return the answer."""
        doubts = doubts_about(property_of(self.query))
        self.doubts = doubts.sentences
        try:
            return self._answer(doubts.parts)
        except ENDINGS as error:
            if (why := self.budget.reason_of(error)) is None:
                raise
            return self._undecided(why)

    def _answer(self, parts: Sequence[PropertyPart]) -> PropertyOutcome:
        """Return the answer for parts that are not empty, if no limit is reached."""
        for part in parts:
            self.budget.check()
            question = PartQuestion(part, self.networks, self.seed, None, self.execution)
            self.questions.append(question)
            point = self.questions[-1].point_by_ascent(self.budget)
            if point is not None:
                return self._fails(point, self.questions[-1])
        self.are_all_asked = True
        total, certificates = ProofStatistics(), list[TreeCertificate | BoundsCertificate]()
        for number, question in enumerate(self.questions):
            left = len(self.questions) - number
            share = self.budget if left == 1 else self.budget.trial(1 / left)
            answer = question.proof(share, self.progress)
            if answer.point is not None:
                return self._fails(answer.point, question)
            if answer.certificate is None:
                return self._undecided(answer.reason)
            certificates.append(answer.certificate)
            total = _added_work(total, answer.search)
        names = tuple(f"{widths_text(net.widths)} {net.sha256[:12]}…" for net in self.networks)
        return PropertyHolds(
            self.query.source, tuple(certificates), self.doubts, total, networks=names
        )

    def _fails(self, x: Point, question: PartQuestion) -> PropertyFails:
        """Return the answer of a point, after it was checked by the query itself."""
        values: dict[str, Fraction] = {}
        for number, network in enumerate(self.networks):
            for places, numbers in (
                (self.query.inputs_of(number), x),
                (self.query.outputs_of(number), network(x)),
            ):
                names = [self.query.variables[place] for place in places]
                values |= dict(zip(names, numbers, strict=True))
        point = Counterexample(self.query.source, values)
        names = [declared.name for declared in self.query.networks]
        check = check_counterexample(
            self.query, point, dict(zip(names, self.networks, strict=True))
        )
        if not check.is_counterexample:
            raise AssertionError(f"the query does not hold at the point that was found: {check}")
        doubts = self.doubts
        if question.fails_everywhere():
            doubts += (_PROBABLY_NOT_NEGATED,)
        return PropertyFails(self.query.source, point, check, doubts)

    def _undecided(self, reason: str) -> PropertyUndecided:
        found = [question.largest_excess for question in self.questions]
        low = max((excess for excess in found if excess is not None), default=None)
        bounds = [question.bound() for question in self.questions] or [None]
        known = [bound for bound in bounds if bound is not None]
        high = max(known) if len(known) == len(bounds) and self.are_all_asked else None
        steps = next_steps(self.budget, self.query)
        return PropertyUndecided(self.query.source, reason, (low, high), self.doubts, next=steps)


def _added_work(one: ProofStatistics, other: ProofStatistics) -> ProofStatistics:
    """Return the work of two proofs together."""
    return ProofStatistics(
        one.num_nodes + other.num_nodes,
        one.num_leaves + other.num_leaves,
        max(one.depth, other.depth),
        one.num_signs + other.num_signs,
        one.num_programs + other.num_programs,
        1.0,
    )
