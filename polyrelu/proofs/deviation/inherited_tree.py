"""A tree whose nodes inherit the intervals of neurons, by the rule of certificates in the core.

The search in floats bounds the neurons of a box from the bounds on the box around it. The rule of
leaves `inherited` (FORMAT.md, section 5.8) does the same in integers, so that it follows the cuts
of that search nearly without further ones. Nodes that are cut have records `intervals`, as long as
there is room for intervals. Bounds of rows at a record hold below as well, so that a leaf has the
best ones of them and of its own.

Nodes with the largest bounds are cut first: whenever the work ends, every leaf has a bound.
"""

from __future__ import annotations

import base64
import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import nearest_vector
from polyrelu.proofs.deviation.backward import Boxes
from polyrelu.proofs.deviation.box_bounds import bound_boxes
from polyrelu.proofs.deviation.box_tree import BoxTree
from polyrelu.proofs.deviation.compiled_rule import CompiledRule
from polyrelu.proofs.deviation.problem import ExactPoint, Problem, objective_of
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.proofs.deviation.task_groups import close_groups
from polyrelu.support.budget import Budget, Check
from polyrelu.support.parallel import TaskStream
from polyrelu.support.parallel.wire import (
    exact_numbers,
    exact_texts,
    packed,
)
from polyrelu.support.prices import price_of_boxes
from polyrelu.support.progress import Progress, report

__all__ = ["InheritedTree", "TooLongNumbersError", "close_subtrees", "price_in_core"]

#: The integers of all intervals on a box.
Ends: TypeAlias = NDArray[np.int64]

#: The bound of a row about which nothing is known: the core finds only smaller numbers.
_UNBOUNDED = 1 << 200


class TooLongNumbersError(Exception):
    """The core cannot bound a box; the other leaves serve then."""


class OpenNode(NamedTuple):
    """A leaf whose bounds are too large, or that was not bounded yet.

    Attributes
    ----------
    node
        Its number in the tree.
    hint
        Its number in the tree of a search, which says where to cut; -1 if it is not there.
    low, high
        The corners of its box.
    ends
        The intervals of neurons that hold on it: the ones that were found on it, or on a node
        above; None at the root before its own are found.
    has_own
        Whether they were found on it.
    rows
        The least bounds of the rows on the path to it, as integers: its own, and the known ones.
    known
        The least bounds at the records above it.
    """

    node: int
    hint: int
    low: ExactPoint
    high: ExactPoint
    ends: Ends | None
    has_own: bool
    rows: tuple[int, ...]
    known: tuple[int, ...]


@dataclass(slots=True)
class InheritedTree:
    """A tree of cuts; each leaf has bounds by the rule of leaves `inherited`.

    Parameters
    ----------
    problem
        What is bounded.
    rule
        The rule in the core.
    limit
        The bound below which leaves are closed.
    hint
        The cuts of a search, which are followed.

    Attributes
    ----------
    tree
        The cuts.
    kept
        The nodes whose intervals are inherited.
    closed
        The least bounds of the rows on the path to each closed leaf, as integers.
    stuck
        The same of leaves that are not closed and cannot be cut.
    """

    problem: Problem
    rule: CompiledRule
    limit: Fraction
    hint: BoxTree
    tree: BoxTree = field(default_factory=BoxTree)
    kept: set[int] = field(default_factory=set)
    closed: dict[int, tuple[int, ...]] = field(default_factory=dict)
    stuck: dict[int, tuple[int, ...]] = field(default_factory=dict)
    #: The other leaves; the one that is cut next has the least number in front.
    _heap: list[tuple[float, int, OpenNode]] = field(default_factory=list)
    #: Whether the newest leaves are cut first, as in a task, so that few are left when it ends.
    _newest_first: bool = False
    #: The largest integer of each row with which it is small enough.
    _limits: tuple[int, ...] = ()
    #: Whether each row has a clause of its own.
    _is_simple: bool = False

    def __post_init__(self) -> None:
        clauses = self.problem.clauses
        self._is_simple = sorted(clauses) == [(k,) for k in range(len(self.problem.rows))]
        self._limits = tuple(self.rule.largest_integers(self.limit))

    @property
    def _unit(self) -> Fraction:
        """The width of the grid."""
        return Fraction(1, 1 << self.rule.grid)

    def start(self) -> None:
        """Bound the root. Raise TooLongNumbersError if the core cannot do that."""
        problem, rows = self.problem, (_UNBOUNDED,) * len(self._limits)
        root = OpenNode(0, 0, problem.lower, problem.upper, None, False, rows, rows)
        self._add(self._bounded([root]))

    def close(
        self, budget: Budget, progress: Progress | None = None, tasks: TaskStream | None = None
    ) -> None:
        """Cut leaves until all of them are closed; with a stream of tasks, by these.

        Raise TooLongNumbersError if the core cannot bound a box.
        """
        counted, first = budget.part(None), SETTINGS.task_work
        while self._heap:
            if tasks is not None and counted.spent >= first and len(self._heap) > 1:
                self._close_by_tasks(budget, progress, tasks)
                return
            self._step(counted)
            self._report(progress, len(self._heap))

    def cut_first(self, num_nodes: int, check: Check) -> None:
        """Cut leaves while there are not `num_nodes`. Raise TooLongNumbersError as `close` does.

        `check` is called before each step, and may raise.
        """
        while self._heap and self.tree.num_nodes + 1 < num_nodes:
            check()
            self._step(Budget())

    @property
    def open_nodes(self) -> dict[int, tuple[int, ...]]:
        """The least bounds of the rows on the path to each leaf that is not closed."""
        return {**self.stuck, **{entry.node: entry.rows for _, _, entry in self._heap}}

    def _report(self, progress: Progress | None, num_open: int) -> None:
        details = {"at most": -self._heap[0][0]} if self._heap else {}
        num_closed = len(self.closed)
        total, what = num_closed + num_open, "checking boxes in integers"
        report(progress, what, num_closed, total, "boxes", details)

    def _step(self, budget: Budget) -> None:
        """Cut some of the leaves with the largest bounds, and bound the parts.

        After an interruption the leaves are as before.
        """
        price = price_in_core(self.problem, 2)
        number = min(SETTINGS.in_step(SETTINGS.boxes_per_check // 2, price), len(self._heap))
        taken = [heapq.heappop(self._heap) for _ in range(number)]
        num_nodes = self.tree.num_nodes
        try:
            budget.spend(price_in_core(self.problem, 2 * number))
            bounded = self._bounded(self._cut([entry for _, _, entry in taken]))
        except BaseException:
            self.tree.num_nodes = num_nodes
            for place in taken:
                heapq.heappush(self._heap, place)
                self.tree.cuts.pop(place[1], None)
                self.kept.discard(place[1])
                self.stuck.pop(place[1], None)
            raise
        self._add(bounded)

    def _cut(self, entries: Sequence[OpenNode]) -> list[OpenNode]:
        """Cut leaves, and return the parts; leaves that cannot be cut are noted."""
        parts = list[OpenNode]()
        for entry, cut in zip(entries, self._cuts(entries), strict=True):
            if cut is None:
                self.stuck[entry.node] = entry.rows
            else:
                parts += self._parts(entry, *cut)
        return parts

    def _cuts(self, entries: Sequence[OpenNode]) -> list[tuple[int, int, int] | None]:
        """Return for each leaf a coordinate, and the numbers of its parts in the tree of hints.

        None where a box is not wider than the grid, on which its parts would not be smaller: a path
        has no more cuts than checkers read.
        """
        found = list[tuple[int, int, int] | None]()
        others = [entry for entry in entries if entry.hint not in self.hint.cuts]
        coordinates = iter(self._best_coordinates(others) if others else [])
        for entry in entries:
            cut = self.hint.cuts.get(entry.hint)
            if cut is not None:
                found.append((cut.coordinate, cut.below, cut.above))
                continue
            j = next(coordinates)
            found.append((j, -1, -1) if entry.high[j] - entry.low[j] > self._unit else None)
        return found

    def _best_coordinates(self, entries: Sequence[OpenNode]) -> list[int]:
        """Return for each box the coordinate on which the losses of the relaxation depend most."""
        low, high = (
            np.array([nearest_vector(end) for end in ends])
            for ends in zip(*_corners(entries), strict=True)
        )
        found = bound_boxes(self.problem.double, Boxes(low, high))
        scores = found.split_scores(self.problem.deciding_rows(found.upper))
        is_movable = [
            [b - a > self._unit for a, b in zip(*corners, strict=True)]
            for corners in _corners(entries)
        ]
        return [int(j) for j in np.where(is_movable, scores, -np.inf).argmax(axis=1)]

    def _parts(self, entry: OpenNode, j: int, below: int, above: int) -> list[OpenNode]:
        """Cut a leaf at the middle of a coordinate; its parts inherit its intervals.

        `below` and `above` are the numbers of the parts in the tree of hints. Without intervals of
        its own the leaf has no record, and checkers do not bound rows on it.
        """
        low, high = entry.low, entry.high
        at = ((low[j] + high[j]) / 2,)
        first, second = self.tree.cut(entry.node, j)
        rows = entry.known
        if entry.has_own:
            self.kept.add(entry.node)
            rows = entry.rows
        same = entry.ends, False, rows, rows
        return [
            OpenNode(first, below, low, high[:j] + at + high[j + 1 :], *same),
            OpenNode(second, above, low[:j] + at + low[j + 1 :], high, *same),
        ]

    def _bounded(self, entries: Sequence[OpenNode]) -> list[OpenNode]:
        """Return leaves with their own bounds, and intervals as far as there is room for them."""
        if not entries:  # all leaves of a step may be too small to be cut
            return []
        wanted = [self._open_rows(entry.rows) for entry in entries]
        boxes, known = _corners(entries), [entry.ends for entry in entries]
        found = self.rule.inherited(boxes, known, wanted)
        if found is None:
            raise TooLongNumbersError
        bounded = list[OpenNode]()
        room = SETTINGS.stored_integers // max(1, self.rule.num_ends) - len(self._heap)
        for entry, bounds in zip(entries, found, strict=True):
            if bounds is None:  # the box is empty
                self.closed[entry.node] = self._limits
                continue
            pairs = zip(entry.rows, bounds.rows, strict=True)
            rows = tuple(old if new is None else min(old, new) for old, new in pairs)
            if room > 0:
                entry = entry._replace(ends=bounds.ends.copy(), has_own=True)
                room -= 1
            bounded.append(entry._replace(rows=rows))
        return bounded

    def _open_rows(self, rows: Sequence[int]) -> list[bool]:
        """Return which rows belong to clauses none of whose rows is small enough."""
        is_large = [bound > limit for bound, limit in zip(rows, self._limits, strict=True)]
        if self._is_simple:
            return is_large
        found = [False] * len(rows)
        for clause in self.problem.clauses:
            if all(is_large[i] for i in clause):
                for i in clause:
                    found[i] = True
        return found

    def _add(self, entries: Sequence[OpenNode]) -> None:
        """Note leaves as closed, or as open."""
        for entry in entries:
            if not any(self._open_rows(entry.rows)):
                self.closed[entry.node] = entry.rows
                continue
            key = float(entry.node)
            if not self._newest_first:
                key = objective_of(self.rule.in_floats(entry.rows), self.problem.clauses)
            heapq.heappush(self._heap, (-key, entry.node, entry))

    # -- tasks -------------------------------------------------------------------------------------

    def _close_by_tasks(self, budget: Budget, progress: Progress | None, tasks: TaskStream) -> None:
        """Let tasks close the open leaves."""
        left = deque(entry for _, _, entry in sorted(self._heap))
        self._heap, note = [], partial(self._report, progress)
        try:
            close_groups(left, 1, tasks, self._task, self._graft, budget, note)
        finally:
            self._add(left)

    def _task(self, group: Sequence[OpenNode]) -> bytes:
        """Return a task as bytes."""
        constants = self.problem.constants
        return packed(
            {
                "kind": "subtrees",
                "work": SETTINGS.task_work_of_leaves,
                "row": self.problem.chosen,
                "constants": None if constants is None else exact_texts(constants),
                "limit": exact_texts([self.limit]),
                "grid": self.rule.grid,
                "hints": [_hints_below(self.hint, entry.hint) for entry in group],
                "nodes": [_texts(entry) for entry in group],
            }
        )

    def _graft(self, group: Sequence[OpenNode], result: Any) -> list[OpenNode]:
        """Put the cuts and bounds of a task into the tree; return the leaves that are left."""
        if result["is_too_long"]:
            raise TooLongNumbersError
        nodes, hints = [entry.node for entry in group], [entry.hint for entry in group]
        for number, j, is_kept in result["cuts"]:
            nodes += self.tree.cut(nodes[number], j)
            cut = self.hint.cuts.get(hints[number])
            hints += (-1, -1) if cut is None else (cut.below, cut.above)
            if is_kept:
                self.kept.add(nodes[number])
        for listed, found in ((result["closed"], self.closed), (result["stuck"], self.stuck)):
            for number, rows in listed:
                found[nodes[number]] = tuple(int(text, 16) for text in rows)
        return [_open_node(entry, nodes[number], hints[number]) for number, entry in result["left"]]

    def close_for_a_while(self, entries: Sequence[Any], work: float) -> bytes:
        """Close subtrees as a task, and return what `_graft` takes."""
        self._newest_first = True
        self.tree = BoxTree(num_nodes=len(entries))
        budget = Budget()
        self._add([_open_node(entry, k, k) for k, entry in enumerate(entries)])
        try:
            while self._heap and budget.spent < work:
                self._step(budget)
        except TooLongNumbersError:  # is an answer, which comes in the order of the tasks
            return packed({"is_too_long": True, "work": budget.spent})
        cuts = [[node, cut.coordinate, node in self.kept] for node, cut in self.tree.cuts.items()]
        closed, stuck = (
            [[node, [f"{x:x}" for x in rows]] for node, rows in found.items()]
            for found in (self.closed, self.stuck)
        )
        left = [[entry.node, _texts(entry)] for _, _, entry in sorted(self._heap)[::-1]]
        found = {"cuts": cuts, "closed": closed, "stuck": stuck, "left": left}
        return packed({**found, "is_too_long": False, "work": budget.spent})


def price_in_core(problem: Problem, number: int) -> float:
    """Return the work for bounds on some boxes by the rule in the core, if all neurons are open."""
    pair = problem.double
    num_rows = 2 * sum(pair.widths) + len(problem.rows)
    return price_of_boxes(number, SETTINGS.inherited_price * num_rows * pair.num_products)


def close_subtrees(problem: Problem, rule: CompiledRule, task: Any) -> bytes:
    """Do a task of a tree with inherited intervals, for the problem that it names."""
    hint = BoxTree(num_nodes=len(task["hints"]))
    for root, listed in enumerate(task["hints"]):
        _add_hints(hint, root, listed)
    tree = InheritedTree(problem, rule, exact_numbers(task["limit"])[0], hint)
    return tree.close_for_a_while(task["nodes"], task["work"])


def _corners(entries: Sequence[OpenNode]) -> list[tuple[ExactPoint, ExactPoint]]:
    """Return the corners of the boxes of leaves."""
    return [(entry.low, entry.high) for entry in entries]


def _hints_below(hint: BoxTree, root: int) -> list[int]:
    """Return the coordinates of the cuts of a subtree in prefix order, -1 for leaves."""
    found, stack = list[int](), [root]
    while stack:
        cut = hint.cuts.get(stack.pop())
        found.append(-1 if cut is None else cut.coordinate)
        if cut is not None:
            stack += [cut.above, cut.below]
    return found


def _add_hints(hint: BoxTree, root: int, listed: Sequence[int]) -> None:
    """Add the cuts of `_hints_below` to a tree."""
    stack = [root]
    for coordinate in listed:
        node = stack.pop()
        if coordinate >= 0:
            below, above = hint.cut(node, coordinate)
            stack += [above, below]


def _texts(entry: OpenNode) -> list[Any]:
    """Return an open leaf as lists and texts."""
    ends = None if entry.ends is None else entry.ends.astype("<i8").tobytes()
    return [
        exact_texts(entry.low),
        exact_texts(entry.high),
        None if ends is None else base64.b64encode(ends).decode("ascii"),
        entry.has_own,
        *([f"{bound:x}" for bound in rows] for rows in (entry.rows, entry.known)),
    ]


def _open_node(texts: Sequence[Any], node: int, hint: int) -> OpenNode:
    """Return the leaf of `_texts`."""
    low, high, ends, has_own, rows, known = texts
    return OpenNode(
        node,
        hint,
        exact_numbers(low),
        exact_numbers(high),
        None if ends is None else np.frombuffer(base64.b64decode(ends), "<i8").astype(np.int64),
        bool(has_own),
        *(tuple(int(text, 16) for text in listed) for listed in (rows, known)),
    )
