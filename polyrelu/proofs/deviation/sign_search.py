"""Bounds and exact maxima by cuts at the signs of neurons, for domains with many inputs.

Boxes of many inputs are not cut. A node has signs of some neurons of both networks on the whole box
of the domain. The rule of certificates has intervals of all neurons there. A linear program in
floats over the convex hulls of what is open guesses slopes and multiples with which rows have
smaller bounds; the bounds themselves are exact (`relaxed_leaf`). Clauses whose bounds are small
enough need nothing below the node. The node with the largest bound is cut next, at a neuron whose
relaxation adds most to it. Where a bound is as good as its limit up to roundings, the linear
program is solved in exact numbers.

A search that takes longer is divided into tasks, whether there are several workers or not: each
task is a search of bounded length below one node (`cut_signs`).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from polyrelu.certificate import BoundsNode, LinearRow, TreeLog
from polyrelu.exact import as_float, nearest_vector
from polyrelu.outcomes import BoundStatistics
from polyrelu.proofs.deviation.arguments import until_limit
from polyrelu.proofs.deviation.clause_limits import ClauseLimits, limits_from
from polyrelu.proofs.deviation.grid_layers import Neuron
from polyrelu.proofs.deviation.open_groups import OpenGroup, RowEvidence
from polyrelu.proofs.deviation.points import BestPoint
from polyrelu.proofs.deviation.problem import Problem
from polyrelu.proofs.deviation.relaxed_guess import FloatLayers, RelaxedPrograms
from polyrelu.proofs.deviation.relaxed_leaf import RelaxedLeaf
from polyrelu.proofs.deviation.rounded import RoundedLeaf, RoundedRule
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.support.budget import Budget, CertificateLimit
from polyrelu.support.limits import DEPTH_LIMIT_OF_TREES
from polyrelu.support.parallel import TaskStream
from polyrelu.support.parallel.wire import (
    exact_numbers,
    exact_texts,
    packed,
    understood,
    unpacked,
    work_of,
)
from polyrelu.support.prices import price_of_program, price_of_signs
from polyrelu.support.progress import Progress, report
from polyrelu.support.typing import Floats

__all__ = ["SignSearch", "cut_signs"]


_NO_EVIDENCE = RowEvidence()
_NO_WEIGHTS = (Fraction(0), Fraction(0))


@dataclass(slots=True)
class _Bound:
    """A bound of a row of a clause on a node, with evidence that proves it.

    `plain` is the bound that needs none, and `neuron` the best one to cut for it. Where the bound
    of a node was small enough, its parts inherit it.
    """

    row: int
    plain: Fraction
    value: Fraction
    evidence: RowEvidence = _NO_EVIDENCE
    neuron: Neuron | None = None
    is_guessed: bool = False


@dataclass(slots=True)
class _Node:
    """The signs of a node, and what is known of it.

    `neuron` is where it is cut; it is None if no neuron is open, or no cut is needed. `inherited`
    are the clauses with the bounds of a node above, which certificates show there. `rank` is the
    least excess of the node and those above it: bounds of a part may be larger than bounds of the
    whole, since where a neuron and its partner have different signs, later layers have wide bounds.
    """

    cuts: dict[Neuron, int]
    bounds: list[_Bound] = field(default_factory=list)
    inherited: frozenset[int] = frozenset()
    neuron: Neuron | None = None
    parts: tuple[_Node, ...] = ()
    rank: Fraction | None = None


@dataclass(slots=True)
class SignSearch:
    """A search that can be stopped after each node.

    Parameters
    ----------
    problem
        What is maximised.
    best
        The best point of each clause, which the search improves; all have one if they are parts of
        one question.
    rule
        The rule in integers.
    limits
        The number up to which the bound of each clause needs no further cut.

    Attributes
    ----------
    num_nodes
        Number of nodes so far.
    num_stuck
        Number of nodes without open neurons whose bounds are too large. There are some only where
        clauses have several rows, or points beyond a limit.
    """

    problem: Problem
    best: Sequence[BestPoint]
    rule: RoundedRule
    limits: ClauseLimits
    num_nodes: int = 0
    num_stuck: int = 0
    _waiting: list[tuple[Fraction, int, _Node]] = field(default_factory=list)
    _root: _Node | None = None
    _corners: tuple[Floats, Floats] = field(init=False)
    _layers: FloatLayers = field(init=False)

    def __post_init__(self) -> None:
        ends = self.problem.lower, self.problem.upper
        self._corners = nearest_vector(ends[0]), nearest_vector(ends[1])
        self._layers = FloatLayers(self.rule, *ends)

    def limit(self, clause: int) -> Fraction:
        """Return the number up to which the bound of a clause needs no further cut."""
        return self.limits.of(clause, self.best)

    def start(self, budget: Budget) -> None:
        """Bound the root. If a limit ends that after its forms are known, it keeps their bounds."""
        self._root, leaf = self._with_forms({}, budget)
        try:
            self._improve(self._root, leaf, budget)
        finally:
            self._push(self._root)

    def has_root(self, budget: Budget) -> bool:
        """Return whether the root is bounded, which is tried again after a limit.

        Where the work was used up it takes its time: the answer is to be the same on any machine.
        After a limit of time or Ctrl-C there are only some seconds.
        """
        if self._root is None:
            is_late = budget.why_stopped() is not None
            late = Budget(seconds=SETTINGS.seconds_of_root if is_late else None)
            until_limit(partial(self.start, late), late)
        return self._root is not None

    def run(
        self,
        budget: Budget,
        progress: Progress | None = None,
        is_over: Callable[[], bool] = lambda: False,
        tasks: TaskStream | None = None,
    ) -> None:
        """Cut nodes until none is left, or `is_over` says so; after some work, by tasks."""
        counted = budget.part(None)
        if self._root is None:
            self.start(counted)
        while self._waiting and not is_over():
            if tasks is not None and counted.spent >= SETTINGS.task_work and len(self._waiting) > 1:
                self._run_tasks(budget, progress, is_over, tasks)
                return
            entry = heapq.heappop(self._waiting)
            try:
                self._cut(entry[2], counted)
            except BaseException:
                heapq.heappush(self._waiting, entry)
                raise
            self._report(progress)

    def _report(self, progress: Progress | None) -> None:
        report(progress, "cutting signs", self.num_nodes, None, "nodes", self._details())

    def _run_tasks(
        self,
        budget: Budget,
        progress: Progress | None,
        is_over: Callable[[], bool],
        tasks: TaskStream,
    ) -> None:
        """Cut nodes by tasks; those with the largest excess are the next ones."""
        entries = deque[tuple[Fraction, int, _Node]]()
        try:
            while (self._waiting or entries) and not is_over():
                while self._waiting and len(entries) < SETTINGS.num_ahead:
                    if self._may_cut(self._waiting[0][2]):
                        entries.append(self._waiting[0])
                        tasks.add(self._task(entries[-1][2]))
                    heapq.heappop(self._waiting)
                if not entries:
                    break
                result = unpacked(tasks.take())
                budget.spend(work_of(result))
                with understood():
                    self._graft(entries.popleft()[2], result)
                self._report(progress)
        finally:
            tasks.forget()
            for entry in entries:
                heapq.heappush(self._waiting, entry)

    def _details(self) -> dict[str, float]:
        """Return what a progress line shows: bounds, where all clauses are about one number."""
        best = self.best[0]
        if best.value is None or any(other is not best for other in self.best):
            return {}
        found = {"at least": as_float(best.value)}
        if self._waiting:
            found["at most"] = as_float(self.limit(0) - self._waiting[0][0])
        return found

    @property
    def is_finished(self) -> bool:
        """Whether all leaves have bounds up to the limits."""
        return self._root is not None and not self._waiting and not self.num_stuck

    def statistics(self, num_points: int) -> BoundStatistics:
        """Return the work so far, with a number of points."""
        leaves = len(self._shown())
        return BoundStatistics(
            num_nodes=max(0, 2 * leaves - 1), num_leaves=leaves, closed=1.0, num_points=num_points
        )

    def bound(self, clause: int) -> Fraction:
        """Return the bound of a clause on the domain: at least the value at its best point."""
        best = self.best[clause].known_value
        found = [node.bounds[clause].value for node in self._shown() if node.bounds]
        return max([best, *found])

    def _shown(self) -> list[_Node]:
        """Return the leaves of the part of the tree that proves the smallest bounds."""
        whole, leaves = self._whole(), list[_Node]()
        stack = [self._root] if self._root is not None else []
        while stack:
            node = stack.pop()
            if id(node) in whole or not node.parts:
                leaves.append(node)
            else:
                stack += node.parts[::-1]
        return leaves

    def _whole(self) -> set[int]:
        """Return the nodes that prove at least as much as their parts do."""
        order, stack = list[_Node](), [self._root] if self._root is not None else []
        while stack:
            node = stack.pop()
            order.append(node)
            stack += node.parts
        excess, whole = dict[int, Fraction](), set[int]()
        for node in reversed(order):
            own = self._excess(node)
            parts = max((excess[id(part)] for part in node.parts), default=own)
            excess[id(node)] = min(own, max(parts, Fraction(0)))
            if node.parts and own <= max(parts, Fraction(0)):
                whole.add(id(node))
        return whole

    def log(self, limits: Sequence[Fraction]) -> TreeLog:
        """Return the nodes for a certificate of upper bounds of all clauses."""
        assert self._root is not None
        found, stack, whole = TreeLog(), [self._root], self._whole()
        while stack:
            node = stack.pop()
            if not node.parts or id(node) in whole:
                found.add(_leaf_record(node, limits))
                continue
            if _shown_here(node):
                found.add(_leaf_record(node, limits, is_shown=True))
            found.add(_cut_record(node))
            stack += node.parts[::-1]
        return found

    # -- nodes -------------------------------------------------------------------------------------

    def _may_cut(self, node: _Node) -> bool:
        """Whether a node has to be cut, which new points may have made unnecessary, and can be."""
        if self._excess(node) <= 0:
            return False
        if node.neuron is None:
            self.num_stuck += 1
            return False
        if len(node.cuts) >= DEPTH_LIMIT_OF_TREES:
            raise CertificateLimit(f"more than {DEPTH_LIMIT_OF_TREES} cuts below each other")
        return True

    def _cut(self, node: _Node, budget: Budget) -> None:
        """Cut a node, if that is necessary."""
        if not self._may_cut(node):
            return
        assert node.neuron is not None
        cuts = ({**node.cuts, node.neuron: sign} for sign in (1, -1))
        parts = [self._bounded(part, budget, node) for part in cuts]
        node.parts = tuple(parts)
        for part in parts:
            self._push(part, node.rank)

    def _push(self, node: _Node, above: Fraction | None = None) -> None:
        """Note a node, given the rank of the node above it."""
        self.num_nodes += 1
        excess = self._excess(node)
        node.rank = excess if above is None else min(excess, above)
        if excess > 0 and not node.parts:
            heapq.heappush(self._waiting, (-node.rank, self.num_nodes, node))

    def _excess(self, node: _Node) -> Fraction:
        """Return by how much the bounds of a node exceed their limits, at most."""
        return max(
            (found.value - self.limit(clause) for clause, found in enumerate(node.bounds)),
            default=Fraction(0),
        )

    def _bounded(self, cuts: dict[Neuron, int], budget: Budget, above: _Node) -> _Node:
        """Return a part of a node, with bounds of all clauses."""
        node, leaf = self._with_forms(cuts, budget, above)
        self._improve(node, leaf, budget)
        return node

    def _with_forms(
        self, cuts: dict[Neuron, int], budget: Budget, above: _Node | None = None
    ) -> tuple[_Node, RoundedLeaf]:
        """Return a node with the bounds that follow from forms, and the forms."""
        box = self.problem.lower, self.problem.upper
        budget.spend(price_of_signs(self.problem.size, len(box[0])))
        node = _Node(cuts)
        leaf = self.rule.leaf(*box, cuts, check=budget.check_others)
        if leaf.is_empty:
            return node, leaf
        if above is not None:
            node.inherited = self._closed(above)
        plain = [leaf.upper_bound(row) for row in self.problem.rows]
        for clause, rows in enumerate(self.problem.clauses):
            value, number = min((plain[row], number) for number, row in enumerate(rows))
            node.bounds.append(_Bound(number, value, value))
            if above is not None and clause in node.inherited:
                node.bounds[-1] = above.bounds[clause]
        return node, leaf

    def _closed(self, node: _Node) -> frozenset[int]:
        """Return the clauses whose bounds are small enough on a node."""
        bounds = enumerate(node.bounds)
        return frozenset(clause for clause, found in bounds if found.value <= self.limit(clause))

    def _improve(self, node: _Node, leaf: RoundedLeaf, budget: Budget) -> None:
        """Make the largest bounds smaller, and choose where the node is cut if it has to be.

        Where the linear programs would be too large, neither is done.
        """
        if self._excess(node) <= 0:
            return
        box, check = (self.problem.lower, self.problem.upper), budget.check_others
        relaxed = RelaxedLeaf(self.rule, leaf, *box, node.cuts)
        if RelaxedPrograms.num_entries(relaxed) > SETTINGS.max_program_entries:
            return
        programs = RelaxedPrograms(self._layers, relaxed, check)
        clause, found = self._worst(node)
        while found.value > self.limit(clause) and not found.is_guessed:
            self._guess(clause, found, relaxed, programs, budget)
            clause, found = self._worst(node)
        if found.value > self.limit(clause):
            node.neuron = found.neuron

    def _row(self, clause: int, number: int) -> LinearRow:
        return self.problem.rows[self.problem.clauses[clause][number]]

    def _worst(self, node: _Node) -> tuple[int, _Bound]:
        """Return the clause whose bound exceeds its limit most."""
        bounds = enumerate(node.bounds)
        return max(bounds, key=lambda entry: entry[1].value - self.limit(entry[0]))

    def _guess(
        self,
        clause: int,
        bound: _Bound,
        relaxed: RelaxedLeaf,
        programs: RelaxedPrograms,
        budget: Budget,
    ) -> None:
        """Look for a smaller bound of a clause, for the best cut, and try the point."""
        bound.is_guessed = True
        budget.spend(price_of_program(*programs.shape) / 10)
        row = self._row(clause, bound.row)
        guess, groups = programs.guess(row), relaxed.groups
        losses = [0.0] * len(groups)
        weights = {group.neuron: _NO_WEIGHTS for group in groups}
        if guess is not None:
            value, weights = relaxed.bound_and_weights(row, guess.evidence)
            if value < bound.value:
                bound.value, bound.evidence = value, guess.evidence
            losses = programs.losses(guess, weights)
            self.best[clause].offer(np.clip(guess.point, *self._corners)[None])
        if self._is_near(clause, bound) or not groups:
            self._maximize(clause, bound, relaxed, budget)
        if groups:
            group = groups[max(range(len(groups)), key=losses.__getitem__)]
            bound.neuron = _neuron_to_cut(group, weights[group.neuron], relaxed)

    def _is_near(self, clause: int, bound: _Bound) -> bool:
        """Whether a bound exceeds its limit by so little that roundings may be the reason."""
        limit = self.limit(clause)
        size = max(abs(limit), abs(bound.plain)) / (1 << SETTINGS.bits_of_roundings)
        return limit < bound.value <= limit + size

    def _maximize(self, clause: int, bound: _Bound, relaxed: RelaxedLeaf, budget: Budget) -> None:
        """Take the exact maxima of the relaxed rows of a clause, until one is small enough."""
        numbers = range(len(self.problem.clauses[clause]))
        for number in sorted(numbers, key=lambda number: number != bound.row):
            if bound.value <= self.limit(clause):
                break
            columns = len(self.problem.lower) + sum(len(g.corners) for g in relaxed.groups)
            lines = 1 + 3 * len(relaxed.groups) + len(relaxed.cuts) + len(relaxed.oblique)
            budget.spend(price_of_program(lines, columns))
            row = self._row(clause, number)
            found = relaxed.maximize(row)
            if found.point is not None:
                self.best[clause].offer_exactly([tuple(found.point)])
            value, evidence = found.value, found.evidence
            if value is None:
                evidence = relaxed.emptied(row, evidence, self.limit(clause))
                value = relaxed.upper_bound(row, evidence)
            if value < bound.value:
                bound.row, bound.value, bound.evidence = number, value, evidence

    # -- tasks -------------------------------------------------------------------------------------

    def _distinct(self) -> list[BestPoint]:
        """Return the best points, once if all clauses have the same one."""
        is_one = all(best is self.best[0] for best in self.best)
        return list(self.best[:1] if is_one else self.best)

    def _task(self, node: _Node) -> bytes:
        """Return a task as bytes."""
        return packed(
            {
                "kind": "signs",
                "work": SETTINGS.task_work,
                "row": self.problem.chosen,
                "constants": None,
                "grid": self.rule.grid,
                "limits": self.limits.to_json(),
                "best": exact_texts(best.known_value for best in self._distinct()),
                "cuts": [[*neuron, sign] for neuron, sign in node.cuts.items()],
                "bounds": _bound_entries(node),
                "inherited": sorted(node.inherited),
                "neuron": node.neuron,
            }
        )

    def run_task(self, task: Any) -> bytes:
        """Cut nodes below the one of a task for a while, and return what `_graft` takes."""
        budget, before = Budget(), [best.value for best in self._distinct()]
        cuts = {(which, layer, index): sign for which, layer, index, sign in task["cuts"]}
        self._root = root = _Node(cuts, list(_bounds_from(task["bounds"])))
        root.inherited = frozenset(task["inherited"])
        which, layer, index = task["neuron"]
        root.neuron = which, layer, index
        self._push(root)
        deep = False
        while self._waiting and budget.spent < task["work"] and not deep:
            node = heapq.heappop(self._waiting)[2]
            deep = len(node.cuts) >= DEPTH_LIMIT_OF_TREES
            if not deep:
                self._cut(node, budget)
        return packed(
            {
                "nodes": self._node_entries(root),
                "points": [best.num_points for best in self._distinct()],
                "found": [
                    exact_texts(best.y) if best.value != value else []
                    for best, value in zip(self._distinct(), before, strict=True)
                ],
                "work": budget.spent,
            }
        )

    def _node_entries(self, root: _Node) -> list[Any]:
        """Return the nodes below a node: pairs of parts, each with the number of the whole."""
        nodes, entries = deque([root]), list[Any]()
        number = 0
        while nodes:
            node = nodes.popleft()
            for part in node.parts:
                listed = _bound_entries(part, part.inherited)
                entries.append([number, listed, sorted(part.inherited), part.neuron])
            nodes += node.parts
            number += 1
        return entries

    def _graft(self, node: _Node, result: Any) -> None:
        """Put the nodes of a task below a node, and try the points that it found."""
        for best, num_points, found in zip(
            self._distinct(), result["points"], result["found"], strict=True
        ):
            best.num_points += num_points
            if found:
                best.offer_exactly([exact_numbers(found)])
        nodes, entries = [node], result["nodes"]
        for one, two in zip(entries[::2], entries[1::2], strict=True):
            whole = nodes[one[0]]
            if whole.neuron is None:
                raise ValueError("a part of a node that is not cut")
            for sign, (_, bounds, inherited, neuron) in ((1, one), (-1, two)):
                part = _Node({**whole.cuts, whole.neuron: sign}, list(_bounds_from(bounds)))
                part.inherited = frozenset(inherited)
                for clause in inherited:
                    part.bounds[clause] = whole.bounds[clause]
                part.neuron = neuron and tuple(neuron)
                whole.parts = *whole.parts, part
                nodes.append(part)
        for whole in nodes:
            for part in whole.parts:
                self._push(part, whole.rank)


def cut_signs(problem: Problem, rule: RoundedRule, task: Any) -> bytes:
    """Do a task of a search, for the problem that it names."""
    values, best = exact_numbers(task["best"]), list[BestPoint]()
    for clause, value in enumerate(values):
        best.append(BestPoint(problem if len(values) == 1 else problem.changed(clause)))
        best[-1].value = value
    everywhere = best * len(problem.clauses) if len(values) == 1 else best
    search = SignSearch(problem, everywhere, rule, limits_from(task["limits"]))
    return search.run_task(task)


def _neuron_to_cut(
    group: OpenGroup, weights: tuple[Fraction, Fraction], relaxed: RelaxedLeaf
) -> Neuron:
    """Return the open neuron of a group whose sign makes its bound better.

    An activation with a positive weight is convex: its bound is far above it in the middle. With a
    negative weight it is concave, and equals the bound by both of its slopes.
    """
    is_open = [
        index >= 0 and relaxed.signs[group.layer - 1][which][index] == 0
        for which, index in enumerate((group.first, group.second))
    ]
    is_second = is_open[1] and (weights[1] > 0 or not is_open[0])
    return (1, group.layer, group.second) if is_second else (0, group.layer, group.first)


def _bound_entries(node: _Node, left_out: frozenset[int] = frozenset()) -> list[Any]:
    """Return bounds for a task or a result; short entries for some that are known there."""
    return [
        [
            found.row,
            exact_texts([found.plain, found.value, *found.evidence.multiples.values()]),
            list(found.evidence.multiples),
            [[*neuron, exact_texts(p)] for neuron, p in found.evidence.slopes.items()],
        ]
        if clause not in left_out
        else [0, ["0/1", "0/1"], [], []]
        for clause, found in enumerate(node.bounds)
    ]


def _bounds_from(entries: Sequence[Any]) -> Iterator[_Bound]:
    """Yield the bounds of `_bound_entries`."""
    for row, texts, numbers, listed in entries:
        plain, value, *multiples = exact_numbers(texts)
        slopes = {(which, layer, i): exact_numbers(p) for which, layer, i, p in listed}
        evidence = RowEvidence(dict(zip(numbers, multiples, strict=True)), slopes)
        yield _Bound(row, plain, value, evidence)


def _cut_record(node: _Node) -> BoundsNode:
    assert node.neuron is not None
    return BoundsNode("sign", neuron=node.neuron)


def _shown_here(node: _Node) -> frozenset[int]:
    """Return the clauses that the parts of a node inherit, and that were not shown above it."""
    inherited = (part.inherited for part in node.parts)
    return frozenset[int]().union(*inherited) - node.inherited


def _leaf_record(node: _Node, limits: Sequence[Fraction], *, is_shown: bool = False) -> BoundsNode:
    """Return the record of a leaf, or of what is shown before a cut: rows that need evidence."""
    shown = _shown_here(node) if is_shown else range(len(node.bounds))
    listed = [
        (clause, found)
        for clause, (found, limit) in enumerate(zip(node.bounds, limits, strict=False))
        if found.plain > limit and clause in shown and clause not in node.inherited
    ]
    if not listed and not is_shown:
        return BoundsNode("leaf")
    return BoundsNode(
        "shown" if is_shown else "relaxed",
        multiples=[(clause, found.row, found.evidence.multiples) for clause, found in listed],
        slopes=[found.evidence.slopes for _, found in listed],
    )
