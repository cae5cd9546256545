"""Which values the outputs of a network take on a domain: bounds from both sides.

Each end of each range is searched for as a deviation is (`deviation`), with no second network. All
bounds have one certificate: the tree of the end that needed most boxes is cut further until all
rows are closed, or, in few dimensions, until all ends are known exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from polyrelu.certificate import (
    BoundsCertificate,
    LinearRow,
    OutputRange,
    RangeClaim,
    TreeLog,
)
from polyrelu.exact import decimal_above
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_imported
from polyrelu.network import Network
from polyrelu.outcomes import BoundStatistics, NextStep, RangeBounds, Undecided, ValueRange
from polyrelu.proofs.deviation.arguments import (
    bounded_coordinates,
    chosen_outputs,
    corners_of,
    few_nodes,
    longer_search,
    not_negative,
    until_limit,
)
from polyrelu.proofs.deviation.box_search import BoxSearch, Goal
from polyrelu.proofs.deviation.box_tree import BoxTree
from polyrelu.proofs.deviation.certified import CertifiedTree, first_tree, grid_for
from polyrelu.proofs.deviation.clause_limits import RangeLimits
from polyrelu.proofs.deviation.exact_search import ExactSearch
from polyrelu.proofs.deviation.points import BestPoint
from polyrelu.proofs.deviation.problem import Problem
from polyrelu.proofs.deviation.rounded import RoundedRule
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.proofs.deviation.sign_search import SignSearch
from polyrelu.proofs.deviation.tree_tasks import tree_tasks
from polyrelu.proofs.provenance import with_sources
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.arguments import expect_count, expect_function
from polyrelu.support.budget import Budget, BudgetLike, as_budget
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.parallel import Execution, TaskStream, Workers
from polyrelu.support.parallel.wire import exact_texts
from polyrelu.support.prices import price_of_forms, price_of_samples
from polyrelu.support.progress import Progress
from polyrelu.symmetry.matching import align
from polyrelu.version import __version__

__all__ = ["output_range"]


def output_range(
    network: NetworkLike,
    domain: DomainLike,
    *,
    gap: object = Fraction(1, 100),
    outputs: Sequence[int] | None = None,
    seed: int = 0,
    budget: BudgetLike = SETTINGS.budget,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    workers: Workers | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> RangeBounds | Undecided:
    """Bound the least and the largest value of each output on a bounded domain.

    Parameters
    ----------
    network
        A plain stack, or what `polyrelu.load` takes.
    domain
        A bounded polyhedron, or the text of one such as ``"box:-1,1"``.
    gap
        How far bounds of one end may be apart, as a share of the length of the range.
    outputs
        The indices of the outputs that count; all by default.
    seed
        Seed of the points that are tried.
    budget
        Units of work, or a `Budget` with all limits; None for no limit.
    time_limit
        Seconds; no limit by default.
    memory_limit
        MiB of the process; no limit by default.
    workers
        Who does the tasks into which a long search is divided (`polyrelu.support.parallel`); None
        for this process alone. The answer is the same.
    checkpoint
        A file that keeps what is done; if it exists, the work goes on from there, also with a
        larger budget.
    progress
        Called with a `polyrelu.support.ProgressStep` after each step.

    Returns
    -------
    RangeBounds or Undecided
        Bounds within the gap, with a certificate; or the reason why they are wider, with the bounds
        that were proved as `bounds`.

    Raises
    ------
    NetworkError
        The network cannot be read or is no plain stack.
    DomainError
        The domain is not understood, is empty or unbounded, or has another dimension; or the
        checkpoint belongs to another question.
    ArgumentError
        An argument has a wrong type, or lies outside its range.

    Notes
    -----
    On domains of at most three dimensions the ends are mostly found exactly.

    Examples
    --------
    >>> output_range("example:xor", "box:-1,1").ranges
    (<ValueRange, output 0: least value -3, largest value 1>,)
    """
    imported = as_imported(network)
    expect_function(progress, "progress")
    question = _Question(
        imported.network,
        bounded_coordinates(as_domain(domain, imported.network.num_inputs)),
        chosen_outputs(outputs, imported.network),
        not_negative(gap, "gap"),
        expect_count(seed, "seed"),
        progress,
    )
    limits = as_budget(budget, time_limit, memory_limit)
    with (
        np.errstate(all="ignore"),
        Execution.opened(workers, checkpoint, question.entries()) as execution,
        deferred_interrupt() as interrupt,
        tree_tasks(question.problem, (), execution) as question.tasks,
    ):
        answer = question.answer(limits.with_interrupt(interrupt))
    return with_sources(answer, imported)


@dataclass(slots=True)
class _Question:
    """The outputs of a network on a domain, and what was found so far."""

    network: Network
    coordinates: DomainCoordinates
    outputs: tuple[int, ...]
    gap: Fraction
    seed: int
    progress: Progress | None
    problem: Problem = field(init=False)
    best: list[BestPoint] = field(init=False, default_factory=list)
    tree: BoxTree = field(init=False, default_factory=BoxTree)
    num_boxes: int = 0
    tasks: TaskStream = field(init=False)

    def __post_init__(self) -> None:
        one, rows = Fraction(1), list[LinearRow]()
        for i in self.outputs:
            rows += [LinearRow({i: -one}), LinearRow({i: one})]
        clauses = tuple((k,) for k in range(len(rows)))
        self.problem = Problem(
            self.network,
            None,
            align(self.network, None),
            tuple(rows),
            clauses,
            self.coordinates,
            *corners_of(self.coordinates),
        )
        for k in range(len(rows)):
            self.best.append(BestPoint(self.problem.changed(k)))

    def entries(self) -> dict[str, str]:
        """Return what a checkpoint compares."""
        return {
            "question": "range",
            "version": __version__,
            "network": self.network.sha256,
            "domain": self.coordinates.domain.sha256,
            "gap": exact_texts([self.gap])[0],
            "outputs": " ".join(map(str, self.outputs)),
            "seed": str(self.seed),
        }

    def answer(self, budget: Budget) -> RangeBounds | Undecided:
        """Search for each end, then certify all of them."""
        why = until_limit(
            lambda: budget.spend(len(self.best) * price_of_samples(self.problem.size)), budget
        )
        if why is not None:
            return Undecided(why, next=self._next_steps(why, budget))
        for best in self.best:
            until_limit(partial(best.start, self.seed, budget), budget)
        if len(self.problem.lower) > SETTINGS.max_split_inputs or self._is_tiny():
            return self._by_signs(budget)
        left = budget.work_left
        share = budget.part(None if left is None else left / 2)
        for best in self.best:
            why = until_limit(partial(self._search, best, share), share) or why
        if len(self.problem.lower) <= SETTINGS.max_exact_inputs and budget.why_stopped() is None:
            found = self._exactly(budget.trial(SETTINGS.exact_share))
            if found is not None:
                return found
        tree = self._new_tree(self.tree)
        if why is None:
            why = until_limit(partial(tree.close, budget, self.progress, tasks=self.tasks), budget)
        if tree.num_open:
            number = few_nodes(self._price(), budget)
            tree = first_tree(self._new_tree, self.tree, number, budget, self.progress)
        return self._bounds(tree, why, budget)

    def _by_signs(self, budget: Budget) -> RangeBounds | Undecided:
        """Cut signs of neurons on the whole box."""
        rule = self._rule(min(self.gap * self._length(best) for best in self.best))
        search = SignSearch(self.problem, self.best, rule, RangeLimits(self.gap))
        why = until_limit(partial(search.run, budget, self.progress, tasks=self.tasks), budget)
        if not search.has_root(budget):
            why = why or "no bound was found"
            return Undecided(why, next=self._next_steps(why, budget))
        bounds = list(map(search.bound, range(len(self.best))))
        for k, best in enumerate(self.best):
            if bounds[k] > best.known_value:
                bounds[k] = Fraction(decimal_above(bounds[k], digits=8))
        statistics = search.statistics(sum(best.num_points for best in self.best))
        found = self._found(bounds, search.log(bounds), rule.grid, statistics)
        return found if why is None else self._undecided(found, why, budget)

    def _is_tiny(self) -> bool:
        """Whether floats of the values have few digits, or are 0: they say nothing of boxes."""
        longest = max(map(self._length, self.best), default=Fraction(0))
        return 0 < longest < Fraction(2) ** SETTINGS.least_exponent

    def _price(self) -> float:
        return 3 * price_of_forms(self.problem.size, len(self.problem.lower))

    def _search(self, best: BestPoint, budget: Budget) -> None:
        """Cut boxes for one end, and keep the largest tree."""
        size = len(self.problem.lower)
        if self.gap == 0 and size <= SETTINGS.max_exact_inputs:
            return
        search = BoxSearch(best.problem, best, Goal(None, self.gap, self._length(best)))
        try:
            search.run(budget, self.progress, tasks=self.tasks)
        finally:
            self.num_boxes += search.num_boxes
            if search.tree.num_nodes > self.tree.num_nodes:
                self.tree = search.tree

    def _length(self, best: BestPoint) -> Fraction:
        """Return the length of the range seen, for an end of it."""
        place = next(k for k, other in enumerate(self.best) if other is best)
        return best.known_value + self.best[place ^ 1].known_value

    def _limits(self) -> list[Fraction]:
        """Return the bound that is wanted for each row."""
        return [best.known_value + self.gap * self._length(best) for best in self.best]

    def _new_tree(self, tree: BoxTree) -> CertifiedTree:
        """Return a tree whose leaves are closed where no row exceeds its limit."""
        limits = self._limits()
        gaps = [self.gap * self._length(best) for best in self.best]
        problem = self.problem.changed(constants=[-limit for limit in limits])
        rule = self._rule(min(gaps))
        return CertifiedTree(problem, tree, Fraction(0), rule)

    def _rule(self, size: Fraction) -> RoundedRule:
        return RoundedRule(self.network, None, self.coordinates, (), grid_for(self.problem, size))

    def _exactly(self, budget: Budget) -> RangeBounds | None:
        """Return the exact ranges, if they are found with the work given."""
        search = ExactSearch(self.problem, self.best, self._rule(Fraction(1)))
        search.start(self.tree)
        if until_limit(lambda: search.run(budget, self.progress), budget) is not None:
            return None
        bounds = [best.known_value for best in self.best]
        statistics = self._statistics(search.log().nodes, search.num_leaves)
        return self._found(bounds, search.log(), search.rule.grid, statistics)

    def _bounds(
        self, tree: CertifiedTree, why: str | None, budget: Budget
    ) -> RangeBounds | Undecided:
        """Return the bounds that a tree proves: within the gap, or as a part."""
        limits, excess = self._limits(), tree.largest_bound
        assert excess is not None  # each leaf has a bound
        pairs = zip(tree.largest_row_bounds, limits, strict=True)
        bounds = [Fraction(decimal_above(bound + limit, digits=8)) for bound, limit in pairs]
        log, _, _ = tree.log(max(excess, tree.limit))
        statistics = self._statistics(log.nodes, tree.tree.num_leaves)
        found = self._found(bounds, log, tree.rule.grid, statistics)
        if not tree.num_open:
            return found
        return self._undecided(found, why or "the bounds could not be brought closer", budget)

    def _undecided(self, found: RangeBounds, why: str, budget: Budget) -> Undecided:
        """Return bounds that are wider than the gap."""
        steps = self._next_steps(why, budget)
        return Undecided(why, search=found.search, bounds=found, next=steps)

    def _next_steps(self, why: str, budget: Budget) -> tuple[NextStep, ...]:
        """Return what to try after a limit."""
        return longer_search(budget, why, "output_range(net, domain", ("range", "NET"))

    def _statistics(self, num_nodes: int, num_leaves: int) -> BoundStatistics:
        """Return the work of all searches, for a tree of this size."""
        return BoundStatistics(
            num_nodes=num_nodes,
            num_leaves=num_leaves,
            closed=1.0,
            num_points=sum(best.num_points for best in self.best),
            num_boxes=self.num_boxes,
        )

    def _found(
        self, bounds: Sequence[Fraction], log: TreeLog, grid: int, search: BoundStatistics
    ) -> RangeBounds:
        """Return the answer with given bounds of all rows."""
        ranges, entries, points = list[ValueRange](), list[OutputRange](), []
        for k, i in enumerate(self.outputs):
            least, largest = self.best[2 * k], self.best[2 * k + 1]
            minimum = -bounds[2 * k], -least.known_value
            maximum = largest.known_value, bounds[2 * k + 1]
            ranges.append(ValueRange(i, minimum, maximum, least.x, largest.x))
            entries.append(OutputRange(i, minimum, maximum))
            points += [least.x, largest.x]
        claim = RangeClaim(self.network, self.coordinates.domain, tuple(entries))
        tool = {"tool": f"polyrelu {__version__}"}
        certificate = BoundsCertificate(claim, grid, tuple(points), log, (), tool)
        return RangeBounds(certificate, tuple(ranges), search)
