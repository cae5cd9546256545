"""How far two networks are from each other on a domain: bounds from both sides, with a certificate.

First neurons are matched and points are tried; then boxes are cut, with bounds in floats, until
these are close to the best point or below the number asked for (`box_search`). At last the leaves
are bounded again by the rule in integers that checkers follow (`certified`), and cut further where
it needs that (`inherited_tree`). With many inputs the whole domain gets one bound, and then signs
of neurons are cut instead of boxes (`sign_search`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polyrelu.certificate import BoundsCertificate, BoundsNode, DeviationClaim, SubBox, TreeLog
from polyrelu.exact import decimal_above, format_rational
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_imported
from polyrelu.network import Network
from polyrelu.outcomes import (
    BoundStatistics,
    DeviationBounds,
    DeviationExceeded,
    NextStep,
    Undecided,
    Witness,
)
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
from polyrelu.proofs.deviation.clause_limits import GoalLimits
from polyrelu.proofs.deviation.compiled_rule import CompiledRule
from polyrelu.proofs.deviation.depths import equally_deep
from polyrelu.proofs.deviation.exact_search import ExactSearch
from polyrelu.proofs.deviation.inherited_tree import price_in_core
from polyrelu.proofs.deviation.points import BestPoint
from polyrelu.proofs.deviation.problem import Problem, deviation_rows
from polyrelu.proofs.deviation.rounded import LayerPartners, RoundedRule
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
from polyrelu.support.prices import (
    price_of_forms,
    price_of_generators,
    price_of_samples,
)
from polyrelu.support.progress import Progress
from polyrelu.symmetry.matching import Matching, align, match
from polyrelu.version import __version__

__all__ = ["deviation"]

DeviationAnswer = DeviationBounds | DeviationExceeded | Undecided


def deviation(
    first: NetworkLike,
    second: NetworkLike,
    domain: DomainLike,
    *,
    at_most: object = None,
    gap: object = Fraction(1, 100),
    outputs: Sequence[int] | None = None,
    seed: int = 0,
    budget: BudgetLike = SETTINGS.budget,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    workers: Workers | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> DeviationAnswer:
    """Bound the largest difference of the outputs of two networks on a bounded domain.

    Parameters
    ----------
    first, second
        Plain stacks with equally many inputs and outputs, or what `polyrelu.load` takes. Widths may
        differ: neurons are matched first. Where depths differ, one network gets layers that change
        no value, and the certificate is about that network.
    domain
        A bounded polyhedron, or the text of one such as ``"box:-1,1"``.
    at_most
        A number: prove that no difference exceeds it, or find a point where one does. By default
        bounds are computed.
    gap
        Without `at_most`: how far the upper bound may be above the lower one, as a share of it.
    outputs
        The indices of the outputs that count; all by default.
    seed
        Seed of the points that are tried.
    budget
        Units of work, or a `Budget` with all limits; None for no limit. Half of the work is for
        the search in floats, and the rest for the proof in integers.
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
    DeviationBounds or DeviationExceeded or Undecided
        Bounds with a certificate, within the gap or at most the number asked for; a point where the
        difference is larger than that; or the reason why neither was found, with the bounds that
        were proved, or the part of the domain on which the number is one, as `part`.

    Raises
    ------
    NetworkError
        A network cannot be read or is no plain stack, or the networks cannot be compared.
    DomainError
        The domain is not understood, is empty or unbounded, or has another dimension; or the
        checkpoint belongs to another question.
    ArgumentError
        An argument has a wrong type, or lies outside its range.

    Notes
    -----
    The statement is about real arithmetic with the exact weights, at every point of the domain.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> copy = from_arrays([([[1], ["-7/8"]], [0, 0]), ([[1, 1]], [0])])
    >>> deviation(net, copy, "box:-1,1", at_most="1/4").status
    'proved'
    >>> deviation(net, copy, "box:-1,1", at_most="1/10").witness.x
    (Fraction(-1, 1),)
    """
    read = as_imported(first), as_imported(second)
    one, two, note = equally_deep(*(entry.network for entry in read))
    expect_function(progress, "progress")
    limit = None if at_most is None else not_negative(at_most, "at_most")
    question = _Question(
        one,
        two,
        bounded_coordinates(as_domain(domain, one.num_inputs)),
        chosen_outputs(outputs, one),
        Goal(limit, not_negative(gap, "gap")),
        expect_count(seed, "seed"),
        progress,
        match(one, two),
        note,
    )
    limits = as_budget(budget, time_limit, memory_limit)
    with (
        np.errstate(all="ignore"),
        Execution.opened(workers, checkpoint, question.entries()) as execution,
        deferred_interrupt() as interrupt,
        tree_tasks(question.problem, question.partners, execution) as question.tasks,
    ):
        answer = question.answer(limits.with_interrupt(interrupt))
    return with_sources(answer, *read)


class _Proved(NamedTuple):
    """A bound on the whole domain: the nodes of its tree, the grid, and the work for it."""

    at_most: Fraction
    log: TreeLog
    grid: int
    statistics: BoundStatistics


@dataclass(slots=True)
class _Question:
    """Two networks on a domain, and what was found so far."""

    first: Network
    second: Network
    coordinates: DomainCoordinates
    outputs: tuple[int, ...]
    goal: Goal
    seed: int
    progress: Progress | None
    matching: tuple[Matching, ...]
    note: dict[str, str]
    problem: Problem = field(init=False)
    best: BestPoint = field(init=False)
    search: BoxSearch = field(init=False)
    limits: Budget = field(init=False)
    tasks: TaskStream = field(init=False)

    def __post_init__(self) -> None:
        rows = deviation_rows(self.first.num_outputs, self.outputs)
        pair = align(self.first, self.second, self.matching)
        clauses = tuple((i,) for i in range(len(rows)))
        lower, upper = corners_of(self.coordinates)
        self.problem = Problem(
            self.first, self.second, pair, rows, clauses, self.coordinates, lower, upper
        )
        if not pair.matching:
            self.matching = ()
        self.best = BestPoint(self.problem)

    @property
    def partners(self) -> list[LayerPartners]:
        """The partners of the neurons of each layer."""
        return [entry.pairs for entry in self.matching]

    def entries(self) -> dict[str, str]:
        """Return what a checkpoint compares."""
        limit = self.goal.limit
        return {
            "question": "deviation",
            "version": __version__,
            "first network": self.first.sha256,
            "second network": self.second.sha256,
            "domain": self.coordinates.domain.sha256,
            "at most": "" if limit is None else exact_texts([limit])[0],
            "gap": exact_texts([self.goal.gap])[0],
            "outputs": " ".join(map(str, self.outputs)),
            "seed": str(self.seed),
        }

    def answer(self, budget: Budget) -> DeviationAnswer:
        """Search, then certify what was found."""
        self.limits = budget
        why = until_limit(lambda: budget.spend(price_of_samples(self.problem.size)), budget)
        if why is not None:
            return Undecided(why, next=self._next_steps(why))
        until_limit(lambda: self.best.start(self.seed, budget), budget)
        if len(self.problem.lower) > SETTINGS.max_split_inputs:
            return self._by_signs(budget)
        self.search = BoxSearch(self.problem, self.best, self._goal(), self._float_format())
        left = budget.work_left
        half = budget.part(None if left is None else left / 2)
        is_small = len(self.problem.lower) <= SETTINGS.max_exact_inputs
        if self.goal.limit is not None and is_small:
            found = self._small_bounds(half)
            if found is not None:
                return found
        is_timed = self.goal.limit is None and budget.seconds is not None and not is_small
        if is_timed:
            return self._within_time(budget)
        why = until_limit(lambda: self._search(half), half)
        if self._is_exceeded():
            return self._exceeded()
        if self.goal.limit is None and is_small and budget.why_stopped() is None:
            found = self._exactly(self.search.tree, budget.trial(SETTINGS.exact_share))
            if found is not None:
                return found
        tree = self._tree_of_search()
        if self.goal.limit is not None or why is None or self.search.num_boxes:
            work = partial(tree.close, budget, self.progress, tasks=self.tasks)
            again = until_limit(work, budget)
            is_done = self.goal.limit is not None or self.search.is_finished
            why = again if again is not None or (is_done and not tree.num_open) else why
        is_bounded = tree.largest_bound is not None
        is_useful = is_bounded if self.goal.limit is None else tree.num_closed > 0
        if tree.num_open and not is_useful:
            tree = self._fallback(budget)
        return self._bounds(tree, why)

    def _tree_of_search(self) -> CertifiedTree:
        """Return a tree that follows the cuts of the search.

        Where nodes inherit intervals, leaves get smaller bounds until a limit; otherwise the bound
        to be proved is one in reach.
        """
        tree = self._new_tree(self.search.tree)
        if tree.choose_leaves():
            return tree
        plain = self._new_tree(tree.tree, self._limit_in_reach())
        plain.inherits = False
        return plain

    def _within_time(self, budget: Budget) -> DeviationAnswer:
        """Search for a share of the time, and prove the bounds found, as far as the rest allows.

        After a short search, leaves without inherited intervals are tried first: checkers need less
        time for them.
        """
        if not self._new_tree(BoxTree()).can_inherit:
            return self._by_rounds(budget)
        time_left = budget.seconds or 0
        until, late = budget.early(0), budget.early(SETTINGS.proof_share)
        until.seconds = budget.elapsed + SETTINGS.float_share * time_left
        until_limit(partial(self._search, until, is_alone=True), until)
        tree = self._new_tree(self.search.tree)
        if not tree.has_many_leaves:
            return self._by_rounds(budget)
        if self.search.is_finished and budget.elapsed < SETTINGS.quick_share * time_left:
            plain, soon = self._new_tree(tree.tree.copy()), budget.early(SETTINGS.float_share)
            plain.inherits = False
            if until_limit(partial(plain.close, soon, self.progress), soon) is None:
                return self._bounds(plain, None)
        tree.inherits = True
        why = until_limit(partial(tree.close, late, self.progress), late)
        return self._bounds(self._fallback(budget) if tree.largest_bound is None else tree, why)

    def _by_rounds(self, budget: Budget) -> DeviationAnswer:
        """Search and prove by turns, each time a smaller bound, until a limit of time.

        How long a proof takes, compared with the search, is known from the turn before.
        """
        late, proved = budget.early(SETTINGS.proof_share), None
        pause = SETTINGS.search_share * (budget.seconds or 0)
        searching = 0.0
        while True:
            started, until = budget.elapsed, budget.early(0)
            until.seconds = started + pause
            why = until_limit(partial(self._search, until, is_alone=True), until)
            middle = budget.elapsed
            searching += middle - started
            is_over = why is not None and middle < until.seconds
            if is_over or not (self.search.num_boxes and self.search.upper < np.inf):
                break
            tree = self._new_tree(self.search.tree.copy(), self._limit_in_reach())
            again = until_limit(partial(tree.close, late, self.progress, tasks=self.tasks), late)
            if again is not None:
                why = again
                break
            proved = tree
            if self.search.is_finished:
                break
            proving = budget.elapsed - middle
            left = SETTINGS.proof_share * (budget.seconds or 0) - budget.elapsed
            pause = (
                min(SETTINGS.search_growth, (left - proving) / (searching + proving)) * searching
            )
            if pause < searching / 8:
                break
        return self._bounds(self._fallback(budget) if proved is None else proved, why)

    def _goal(self) -> Goal:
        """Return when to stop; differences below the noise of floats are no aim of a search."""
        floor = self._size_seen() / (2**44 if self._at_least else 2**30)
        return self.goal if self.goal.limit is not None else replace(self.goal, floor=floor)

    def _by_signs(self, budget: Budget) -> DeviationAnswer:
        """Bound both networks at once on the whole box, or cut signs of neurons there.

        Where no point shows a difference, a bound below the noise of floats is no answer; whether
        the difference is 0 is tried with a part of the work.
        """
        goal, clauses = self._goal(), range(len(self.problem.clauses))
        whole = self._bound_at_once(goal, budget)
        if whole is not None and whole.at_most <= goal.bound(self._at_least):
            return self._answer_of_proved(whole, None)
        search, why = self._cut_signs(goal, budget)
        if search.is_finished and not self._at_least and self.goal.limit is None:
            exact, _ = self._cut_signs(self.goal, budget.trial(SETTINGS.exact_share))
            search, goal = (exact, self.goal) if exact.is_finished else (search, goal)
        if self._is_exceeded():
            return self._exceeded()
        if not search.has_root(budget):
            return self._without_bound(whole, why or "no bound was found")
        bound, limit = max(map(search.bound, clauses)), goal.bound(self._at_least)
        if whole is not None and whole.at_most < bound:
            return self._answer_of_proved(whole, why)
        at_most = bound
        if bound > self._at_least:
            at_most = limit if search.is_finished and self.goal.limit else _rounded_up(bound, limit)
        log = search.log([at_most] * len(clauses))
        statistics = search.statistics(self.best.num_points)
        return self._answer_of_proved(_Proved(at_most, log, search.rule.grid, statistics), why)

    def _without_bound(self, whole: _Proved | None, why: str) -> DeviationAnswer:
        """Return what is known where time ended before any sign was cut."""
        if whole is not None:
            return self._answer_of_proved(whole, why)
        statistics = BoundStatistics(num_points=self.best.num_points)
        return Undecided(why, search=statistics, next=self._next_steps(why))

    def _answer_of_proved(self, found: _Proved, why: str | None) -> DeviationAnswer:
        """Return a bound that is proved on the whole domain: an answer, or a part of one."""
        at_most, log, grid, statistics = found
        return self._answer_of(at_most, log, (), Fraction(1), grid, statistics, why)

    def _bound_at_once(self, goal: Goal, budget: Budget) -> _Proved | None:
        """Return the bound of one leaf `joint`, if the compiled core finds it; otherwise None.

        Not for very large networks: it looks at no limit of time.
        """
        price = price_in_core(self.problem, 1)
        if price > SETTINGS.max_price_at_once:
            return None
        rule = self._rule(goal.bound(self._at_least))
        core = CompiledRule.of(rule, self.problem.rows) if self.problem.is_box else None
        if core is None or not (self._at_least or self.goal.limit):
            return None
        if until_limit(lambda: budget.spend(price), budget) is not None:
            return None
        (found,) = core.bounds([(self.problem.lower, self.problem.upper)], "joint")
        if found is None:
            return None
        log, bound = TreeLog(), self.problem.exact_objective(found.rows)
        log.add(BoundsNode("joint"))
        at_most = _rounded_up(bound, goal.bound(self._at_least))
        statistics = BoundStatistics(
            num_nodes=1, num_leaves=1, closed=1.0, num_points=self.best.num_points
        )
        return _Proved(at_most, log, rule.grid, statistics)

    def _cut_signs(self, goal: Goal, budget: Budget) -> tuple[SignSearch, str | None]:
        """Return a search by signs for a goal, and what stopped it early."""
        rule = self._rule(goal.bound(self._at_least))
        everywhere = [self.best] * len(self.problem.clauses)
        search = SignSearch(self.problem, everywhere, rule, GoalLimits(goal))
        work = partial(search.run, budget, self.progress, self._is_exceeded, self.tasks)
        why = until_limit(work, budget)
        return search, why

    def _small_bounds(self, budget: Budget) -> DeviationAnswer | None:
        """Return an answer with few inputs: after a short search, or the exact maximum."""
        tree, part = self._new_tree(BoxTree()), budget.trial(SETTINGS.first_share)
        if not self._seems_equal():
            until_limit(lambda: self._search(part), part)
            if self._is_exceeded():
                return self._exceeded()
            if self.search.is_finished:
                tree = self._new_tree(self.search.tree)
                until_limit(partial(tree.close, part, self.progress, tasks=self.tasks), part)
                if not tree.num_open:
                    return self._bounds(tree, None)
        found = self._exactly(BoxTree(), budget.trial(SETTINGS.exact_share))
        return self._exceeded() if self._is_exceeded() else found

    def _exactly(self, boxes: BoxTree, budget: Budget) -> DeviationBounds | None:
        """Return the exact maximum, if it is found with the work given, on boxes to begin with."""
        tree = self._new_tree(boxes)
        everywhere = [self.best] * len(self.problem.clauses)
        search = ExactSearch(self.problem, everywhere, tree.rule)
        search.start(boxes)
        if until_limit(lambda: search.run(budget, self.progress), budget) is not None:
            return None
        statistics = self._statistics(tree, Fraction(1))
        statistics.num_leaves = search.num_leaves
        value = self._at_least
        certificate = self._certificate(value, search.log(), (), tree.rule.grid)
        seen = self.best.values_seen(self._worst_output())
        return DeviationBounds(
            certificate, self._witness, value, value, seen, Fraction(1), statistics
        )

    def _search(self, budget: Budget, *, is_alone: bool = False) -> None:
        """Cut boxes, unless the networks seem equal: the exact maximum is tried then.

        Alone, without tasks, a search may end at any time with the bound that it has reached: the
        boxes of tasks that have not come back have old bounds.
        """
        if self.goal.limit is None and self._seems_equal():
            return
        tasks = None if is_alone else self.tasks
        self.search.run(budget, self.progress, self._is_exceeded, tasks)

    def _seems_equal(self) -> bool:
        """Whether no point shows a difference, and a proof that there is none is in reach."""
        return self._at_least == 0 and len(self.problem.lower) <= SETTINGS.max_exact_inputs

    def _float_format(self) -> type[np.floating]:
        """Return the format of floats: short ones where the limit is large enough for them."""
        limit = self.goal.limit
        is_large = limit is not None and limit > Fraction(1, 1000) * self._size_seen()
        return np.float32 if is_large else np.float64

    def _size_seen(self) -> Fraction:
        """Return the largest absolute value of an output at the best point."""
        return max(map(abs, self.first(self.best.x)), default=Fraction(0))

    def _is_exceeded(self) -> bool:
        """Whether a point shows more than the number asked for."""
        limit = self.goal.limit
        return limit is not None and self.best.value is not None and self.best.value > limit

    # -- certificates ------------------------------------------------------------------------------

    def _limit_in_reach(self) -> Fraction:
        """Return the bound that is to be proved; it is larger where a search has ended early."""
        limit = self.search.goal.bound(self._at_least)
        if self.goal.limit is not None or self.search.is_finished or not self.search.num_boxes:
            return limit
        upper = self.search.upper
        return limit if not upper < np.inf else max(limit, _slightly_above(upper))

    def _new_tree(self, tree: BoxTree, limit: Fraction | None = None) -> CertifiedTree:
        """Return a tree whose leaves are to be closed by the rule."""
        limit = self.search.goal.bound(self._at_least) if limit is None else limit
        return CertifiedTree(self.problem, tree, limit, self._rule(limit))

    def _rule(self, limit: Fraction) -> RoundedRule:
        """Return the rule on a grid that is fine enough for a bound."""
        grid = grid_for(self.problem, limit)
        return RoundedRule(self.first, self.second, self.coordinates, self.partners, grid)

    def _fallback(self, budget: Budget) -> CertifiedTree:
        """Return few cuts, of the search if it made some, with a bound for every leaf."""
        tree = self._new_tree(self.search.tree)
        number = self._few_nodes(tree, budget)
        if tree.may_inherit and tree.bound_few(number, budget):
            return tree
        return first_tree(self._new_tree, self.search.tree, number, budget, self.progress)

    def _few_nodes(self, tree: CertifiedTree, budget: Budget) -> int:
        """Return how many nodes of the search get bounds where nothing better is proved."""
        if tree.core is not None:
            number, per_second = SETTINGS.fallback_leaves
            if budget.seconds is not None:
                number = min(number, int(per_second * budget.seconds))
            share = min(1, SETTINGS.fallback_price / price_in_core(self.problem, 1))
            return 2 * max(1, int(number * share))
        size, num_neurons = self.problem.size, 2 * sum(self.first.widths)
        price = 6 * price_of_forms(size, len(self.problem.lower))  # each kind of leaves
        price += 3 * price_of_generators(size, num_neurons)
        return few_nodes(price, budget)

    @property
    def _at_least(self) -> Fraction:
        return self.best.known_value

    @property
    def _witness(self) -> Witness:
        x = self.best.x
        return Witness(x, self.first(x), self.second(x))

    def _bounds(self, tree: CertifiedTree, why: str | None) -> DeviationAnswer:
        """Return the bounds that a tree proves: within the goal, or as a part."""
        at_most = tree.limit
        if self.goal.limit is None:
            at_most = _rounded_up(tree.largest_bound, tree.limit)
        log, excluded, covered = tree.log(at_most)
        statistics = self._statistics(tree, covered)
        return self._answer_of(at_most, log, excluded, covered, tree.rule.grid, statistics, why)

    def _answer_of(
        self,
        at_most: Fraction,
        log: TreeLog,
        excluded: tuple[SubBox, ...],
        covered: Fraction,
        grid: int,
        search: BoundStatistics,
        why: str | None,
    ) -> DeviationAnswer:
        """Return a bound that is proved: an answer, or a part of one."""
        found = DeviationBounds(
            self._certificate(at_most, log, excluded, grid),
            self._witness,
            self._at_least,
            at_most,
            self.best.values_seen(self._worst_output()),
            covered,
            search,
        )
        if not excluded and at_most <= self.goal.bound(self._at_least):
            return found
        reason = why or "the bounds could not be brought closer"
        return Undecided(reason, search=found.search, bounds=found, next=self._next_steps(reason))

    def _next_steps(self, why: str) -> tuple[NextStep, ...]:
        """Return what to try where the bounds are not close enough."""
        limit = self.goal.limit
        given = "" if limit is None else f", at_most={format_rational(limit)!r}"
        call, command = f"deviation(net, other, domain{given}", ("deviation", "NET", "OTHER")
        steps = longer_search(self.limits, why, call, command)
        if self.best.value is None or self.best.value:
            return steps
        call = "polyrelu.equivalent(net, other, domain)"
        return NextStep("ask for equality", call, ("equivalent", "NET", "OTHER")), *steps

    def _exceeded(self) -> DeviationExceeded:
        """Return the point at which the difference is too large."""
        log, limit = TreeLog(), self.goal.limit
        assert limit is not None
        log.add(BoundsNode("open"))
        everything = (SubBox(self.problem.lower, self.problem.upper),)
        certificate = self._certificate(
            self._at_least, log, everything, grid_for(self.problem, limit)
        )
        statistics = BoundStatistics(num_points=self.best.num_points)
        return DeviationExceeded(certificate, limit, self._witness, statistics)

    def _certificate(
        self, at_most: Fraction, log: TreeLog, excluded: tuple[SubBox, ...], grid: int
    ) -> BoundsCertificate:
        """Return the certificate of an upper bound, and of the difference at the best point."""
        domain = self.coordinates.domain
        outputs = self.outputs
        claim = DeviationClaim(
            self.first, self.second, domain, outputs, self._at_least, at_most, excluded
        )
        matching = tuple(entry.pairs for entry in self.matching)
        tool = {"tool": f"polyrelu {__version__}", **self.note}
        return BoundsCertificate(claim, grid, (self.best.x,), log, matching, tool)

    def _worst_output(self) -> int:
        """Return the output that differs most at the best point."""
        f, g = self.first(self.best.x), self.second(self.best.x)
        return max(self.outputs, key=lambda i: abs(f[i] - g[i]))

    def _statistics(self, tree: CertifiedTree, covered: Fraction) -> BoundStatistics:
        """Return the work of the search, for a tree that covers a share of the box."""
        return BoundStatistics(
            num_nodes=tree.tree.num_nodes,
            num_leaves=tree.tree.num_leaves,
            closed=float(covered),
            num_points=self.best.num_points,
            num_boxes=self.search.num_boxes,
        )


def _slightly_above(bound: float) -> Fraction:
    """Return a short decimal above a bound in floats, by more than roundings may matter."""
    return Fraction(decimal_above(Fraction(bound) + abs(Fraction(bound)) / 1_000, digits=4))


def _rounded_up(bound: Fraction | None, limit: Fraction) -> Fraction:
    """Return a short decimal above a bound, if it does not exceed the limit."""
    if bound is None:
        return limit
    short = Fraction(decimal_above(bound, digits=8))
    return short if short <= limit or bound > limit else bound
