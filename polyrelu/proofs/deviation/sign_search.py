"""Bounds and exact maxima by cuts at the signs of neurons, for domains with many inputs.

Boxes of many inputs are not cut. A node has signs of some neurons of both networks on the whole box
of the domain. The rule of certificates has affine forms there, of rows and of the neurons that were
cut. A linear program in floats, over the generators of these forms, guesses multiples of the cuts
with which rows have smaller bounds; the bounds themselves are computed in integers. The node with
the largest bound is cut next, at the neuron whose relaxation adds most to it. Where no neuron is
open, a linear program has the exact maximum.

A search that takes longer is divided into tasks, whether there are several workers or not: each
task is a search of bounded length below one node (`cut_signs`).
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from polyrelu.certificate import BoundsNode, LinearRow, TreeLog
from polyrelu.exact import as_float, float_maximum, nearest_vector
from polyrelu.outcomes import BoundStatistics
from polyrelu.proofs.deviation.clause_limits import ClauseLimits, limits_from
from polyrelu.proofs.deviation.exact_leaf import ExactLeaf
from polyrelu.proofs.deviation.grid_layers import Neuron
from polyrelu.proofs.deviation.points import BestPoint
from polyrelu.proofs.deviation.problem import Problem
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


@dataclass(slots=True)
class _Bound:
    """A bound of a row of a clause on a node, with multiples that prove it.

    `plain` is the bound without multiples.
    """

    row: int
    plain: Fraction
    value: Fraction
    multiples: Mapping[int, Fraction]
    is_guessed: bool = False


@dataclass(slots=True)
class _Node:
    """The signs of a node, and what is known of it.

    `neuron` is where it is cut; it is None if no neuron is open, and all maxima are exact. `rank`
    is the least excess of the node and those above it: bounds of a part may be larger than bounds
    of the whole, since where a neuron and its partner have different signs, later layers have wide
    bounds.
    """

    cuts: dict[Neuron, int]
    bounds: list[_Bound] = field(default_factory=list)
    neuron: Neuron | None = None
    is_exact: bool = False
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

    def __post_init__(self) -> None:
        ends = self.problem.lower, self.problem.upper
        self._corners = nearest_vector(ends[0]), nearest_vector(ends[1])

    def limit(self, clause: int) -> Fraction:
        """Return the number up to which the bound of a clause needs no further cut."""
        return self.limits.of(clause, self.best)

    def start(self, budget: Budget) -> None:
        """Bound the root."""
        self._root = self._bounded({}, [], budget)
        self._push(self._root)

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
            is_leaf = not node.parts or id(node) in whole
            found.add(_leaf_record(node, limits) if is_leaf else _cut_record(node))
            stack += () if is_leaf else node.parts[::-1]
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
        parts = [self._bounded(part, node.bounds, budget) for part in cuts]
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

    def _bounded(self, cuts: dict[Neuron, int], above: Sequence[_Bound], budget: Budget) -> _Node:
        """Return a node with bounds of all clauses, given the bounds of the node above."""
        budget.spend(price_of_signs(self.problem.size, len(self.problem.lower)))
        node = _Node(cuts)
        leaf = self.rule.leaf(self.problem.lower, self.problem.upper, cuts)
        if leaf.is_empty:
            return node
        plain = [leaf.upper_bound(row) for row in self.problem.rows]
        for clause, rows in enumerate(self.problem.clauses):
            value, number = min((plain[row], number) for number, row in enumerate(rows))
            node.bounds.append(_Bound(number, value, value, {}))
            known = above[clause].multiples if above and above[clause].row == number else {}
            if known and value > self.limit(clause):
                self._take(node.bounds[-1], clause, leaf, known)
        constraints = leaf.float_constraints()
        while constraints[0]:  # the clause with the largest bound decides
            clause, found = self._worst(node)
            if found.is_guessed or found.value <= self.limit(clause):
                break
            self._guess(found, clause, leaf, constraints, budget)
        if self._excess(node) > 0:
            self._choose(node, leaf, constraints, budget)
        return node

    def _row(self, clause: int, number: int) -> LinearRow:
        return self.problem.rows[self.problem.clauses[clause][number]]

    def _worst(self, node: _Node) -> tuple[int, _Bound]:
        """Return the clause whose bound exceeds its limit most."""
        bounds = enumerate(node.bounds)
        return max(bounds, key=lambda entry: entry[1].value - self.limit(entry[0]))

    def _take(
        self, bound: _Bound, clause: int, leaf: RoundedLeaf, multiples: Mapping[int, Fraction]
    ) -> None:
        """Take multiples if the bound of a clause is smaller with them."""
        row = self._row(clause, bound.row)
        value = leaf.upper_bound(row, multiples)
        if value < bound.value:
            bound.value, bound.multiples = value, multiples

    def _guess(
        self,
        bound: _Bound,
        clause: int,
        leaf: RoundedLeaf,
        constraints: tuple[list[int], Floats],
        budget: Budget,
    ) -> None:
        """Look for multiples with which the bound of a clause is smaller, and try the point."""
        numbers, table = constraints
        bound.is_guessed = True
        budget.spend(price_of_program(*table.shape) / 10)
        row = self._row(clause, bound.row)
        found = float_maximum(leaf.float_form(row)[1:], table[:, 1:], table[:, 0])
        if found is None:
            return
        point, multipliers = found
        pairs = zip(numbers, multipliers.tolist(), strict=True)
        multiples = {number: _short(multiplier) for number, multiplier in pairs if multiplier > 0}
        self._take(bound, clause, leaf, multiples)
        low, high = self._corners
        reach = point[: len(low)] * (high - low) / 2
        self.best[clause].offer(np.clip((low + high) / 2 + reach, low, high)[None])

    def _choose(
        self,
        node: _Node,
        leaf: RoundedLeaf,
        constraints: tuple[list[int], Floats],
        budget: Budget,
    ) -> None:
        """Choose the neuron whose relaxation adds most to the largest bound.

        An open neuron needs no relaxation if it equals a partner whose sign is known; and a pair
        whose signs are known, but differ, has one that no cut makes better.
        """
        losses = dict.fromkeys(leaf.open_neurons, 0.0)
        if not losses:
            self._solve(node, leaf, budget)
            return
        clause, worst = self._worst(node)
        form = leaf.float_form(self._row(clause, worst.row))
        for number, entries in zip(*constraints, strict=True):
            form = form + float(worst.multiples.get(number, 0)) * entries
        added = np.abs(form[1 + len(self.problem.lower) :])
        for source, loss in zip(leaf.sources, added.tolist(), strict=True):
            neuron = self._open_neuron(source, leaf)
            if neuron in losses:
                losses[neuron] += loss
        node.neuron = max(losses, key=lambda neuron: losses[neuron])

    def _open_neuron(self, source: Neuron, leaf: RoundedLeaf) -> Neuron:
        """Return the neuron whose sign makes a relaxation better: of a pair first the one of f."""
        which, layer, index = source
        if which:
            partner = self.rule.partner(layer, index)
            if partner >= 0 and leaf.signs[layer - 1][0][partner] == 0:
                return 0, layer, partner
        return source

    def _solve(self, node: _Node, leaf: RoundedLeaf, budget: Budget) -> None:
        """Find the exact maxima of the rows whose bounds are too large.

        On such a leaf the checker takes exact values of all rows, also of those that the rule
        bounds well enough. So all bounds become exact ones.
        """
        box = self.problem.lower, self.problem.upper
        exact, node.is_exact = ExactLeaf(self.rule, leaf, *box, node.cuts), True
        for clause, found in enumerate(node.bounds):
            node.bounds[clause] = self._exact_bound(clause, exact, found, budget)

    def _exact_bound(
        self, clause: int, exact: ExactLeaf, rounded: _Bound, budget: Budget
    ) -> _Bound:
        """Return the exact bound of a clause, given its bound by the rule."""
        limit, row = self.limit(clause), self._row(clause, rounded.row)
        plain = exact.upper_bound(row)
        found = _Bound(rounded.row, plain, plain, {})
        if plain > limit and rounded.multiples:
            multiples = exact.from_rounded(rounded.multiples)
            value = exact.upper_bound(row, multiples)
            if value < plain:
                found.value, found.multiples = value, multiples
        for number in range(len(self.problem.clauses[clause])):
            if found.value <= limit:
                break
            budget.spend(price_of_program(1 + len(exact.constraints), len(self.problem.lower)))
            answer = exact.maximize(self._row(clause, number), limit)
            value = limit if answer.value is None else answer.value
            if answer.point is not None:
                self.best[clause].offer_exactly([tuple(answer.point)])
            if value <= found.value:
                found.row, found.value, found.multiples = number, value, answer.multiples
        return found

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
                "bounds": _bound_entries(node.bounds),
                "neuron": node.neuron,
            }
        )

    def run_task(self, task: Any) -> bytes:
        """Cut nodes below the one of a task for a while, and return what `_graft` takes."""
        budget, before = Budget(), [best.value for best in self._distinct()]
        cuts = {(which, layer, index): sign for which, layer, index, sign in task["cuts"]}
        self._root = root = _Node(cuts, list(_bounds_from(task["bounds"])))
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
                entries.append([number, _bound_entries(part.bounds), part.neuron, part.is_exact])
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
            for sign, (_, bounds, neuron, is_exact) in ((1, one), (-1, two)):
                part = _Node({**whole.cuts, whole.neuron: sign}, list(_bounds_from(bounds)))
                part.neuron, part.is_exact = neuron and tuple(neuron), is_exact
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


def _bound_entries(bounds: Sequence[_Bound]) -> list[Any]:
    """Return bounds for a task or a result."""
    return [
        [
            found.row,
            exact_texts([found.plain, found.value, *found.multiples.values()]),
            list(found.multiples),
        ]
        for found in bounds
    ]


def _bounds_from(entries: Sequence[Any]) -> Iterator[_Bound]:
    """Yield the bounds of `_bound_entries`."""
    for row, texts, numbers in entries:
        plain, value, *multiples = exact_numbers(texts)
        yield _Bound(row, plain, value, dict(zip(numbers, multiples, strict=True)))


def _cut_record(node: _Node) -> BoundsNode:
    assert node.neuron is not None
    return BoundsNode("sign", neuron=node.neuron)


def _leaf_record(node: _Node, limits: Sequence[Fraction]) -> BoundsNode:
    """Return the record of a leaf, which lists the rows that need multiples."""
    pairs = zip(node.bounds, limits, strict=False)
    listed = [
        (clause, found.row, found.multiples)
        for clause, (found, limit) in enumerate(pairs)
        if found.plain > limit
    ]
    if node.is_exact:
        return BoundsNode("exact", multiples=listed)
    return BoundsNode("bounded", multiples=listed) if listed else BoundsNode("leaf")


def _short(multiplier: float) -> Fraction:
    """Return a multiplier with few bits."""
    mantissa, exponent = math.frexp(multiplier)
    bits = SETTINGS.bits_of_multiples
    return Fraction(round(mantissa * 2**bits)) * Fraction(2) ** (exponent - bits)
