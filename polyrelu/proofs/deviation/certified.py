"""The leaves of a search by the rule in integers that checkers follow, cut again where it fails.

The rule is weaker than the bounds of the search, and takes longer. Boxes are first bounded by the
same rule in floats, many at a time, and cut until that suffices; then integers decide.

Where that takes longer, leaves are divided into tasks, whether there are several workers or not
(`close_boxes`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from polyrelu.certificate import BoundsNode, SubBox, TreeLog
from polyrelu.exact import RationalMatrix, as_float, nearest_vector
from polyrelu.proofs.deviation.arguments import until_limit
from polyrelu.proofs.deviation.backward import Boxes
from polyrelu.proofs.deviation.box_bounds import bound_boxes
from polyrelu.proofs.deviation.box_tree import BoxTree
from polyrelu.proofs.deviation.compiled_rule import CompiledRule
from polyrelu.proofs.deviation.float_forms import backward_row_bounds, row_bounds
from polyrelu.proofs.deviation.float_pair import FloatPair, Floats
from polyrelu.proofs.deviation.inherited_tree import (
    InheritedTree,
    TooLongNumbersError,
    price_in_core,
)
from polyrelu.proofs.deviation.outside import outside_node
from polyrelu.proofs.deviation.problem import ExactPoint, Problem
from polyrelu.proofs.deviation.rounded import LeafKind, RoundedRule
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.proofs.deviation.task_groups import close_groups
from polyrelu.support.budget import Budget
from polyrelu.support.parallel import TaskStream
from polyrelu.support.parallel.wire import (
    exact_numbers,
    exact_texts,
    packed,
)
from polyrelu.support.prices import price_of_boxes, price_of_forms, price_of_generators
from polyrelu.support.progress import Progress, report

__all__ = ["CertifiedTree", "close_boxes", "first_tree", "grid_for"]

_Box = tuple[int, ExactPoint, ExactPoint]

#: The kinds of leaves without numbers, the cheapest first.
_KINDS: tuple[LeafKind, ...] = ("leaf", "backward", "joint")


def _joint_row_bounds(pair: FloatPair, boxes: Boxes) -> Floats:
    """Return upper bounds of the rows that are near the bounds of leaves `joint`."""
    return bound_boxes(pair, boxes).upper


#: What floats say of the bounds of leaves.
_BOUNDS: dict[LeafKind, Callable[[FloatPair, Boxes], Floats]] = {
    "leaf": row_bounds,
    "backward": backward_row_bounds,
    "joint": _joint_row_bounds,
}


def grid_for(problem: Problem, size: Fraction) -> int:
    """Return the bits of a grid that is much finer than bounds of a size, and than large weights.

    Large weights need small boxes, whose corners have to be on the grid.
    """
    needed = [44]
    if size > 0:
        needed.append(36 + size.denominator.bit_length() - size.numerator.bit_length())
    stacks = [problem.pair.first, problem.pair.second or ()]
    largest = max(_integer_part(weight) for stack in stacks for weight, _ in stack)
    needed.append(24 + 2 * largest.bit_length())
    return min(max(needed), SETTINGS.max_grid)


def _integer_part(matrix: RationalMatrix) -> int:
    """Return the integer part of the largest absolute value of an entry."""
    numerators = matrix.integer_array()
    if not numerators.size:
        return 0
    return max(int(numerators.max()), -int(numerators.min())) // matrix.denominator


@dataclass(slots=True)
class CertifiedTree:
    """A tree of cuts whose leaves are closed by the rule in integers, or open.

    Parameters
    ----------
    problem
        What is bounded.
    tree
        Cuts to begin with; more are added.
    limit
        The bound that is to be proved.
    rule
        The rule in integers.

    Attributes
    ----------
    bounds
        The exact bounds of the objective on the leaves to which the rule was applied.
    row_bounds
        The same for each row, where nodes do not inherit intervals.
    inherits
        Whether nodes inherit the intervals of neurons (`inherited_tree`); None if that is to be
        found out.
    """

    problem: Problem
    tree: BoxTree
    limit: Fraction
    rule: RoundedRule
    inherits: bool | None = None
    bounds: dict[int, Fraction] = field(default_factory=dict)
    row_bounds: dict[int, list[Fraction]] = field(default_factory=dict)
    _closed: set[int] = field(default_factory=set)
    _kept: set[int] = field(default_factory=set)
    _records: dict[int, BoundsNode] = field(default_factory=dict)

    def close(
        self,
        budget: Budget,
        progress: Progress | None = None,
        may_cut: bool = True,
        tasks: TaskStream | None = None,
    ) -> None:
        """Apply the rule to all leaves, and cut those that it does not close.

        Without cuts, every leaf gets a bound, and is closed where that is small enough. With a
        stream of tasks, these do what is left after some work.
        """
        budget.check()
        if may_cut and self.choose_leaves() and self._close_inheriting(budget, progress, tasks):
            return
        counted, first = budget.part(None), SETTINGS.task_work
        stack = list(self._leaves())[::-1]
        while stack:
            if tasks is not None and counted.spent >= first and len(stack) > 1:
                self._close_by_tasks(stack, budget, progress, tasks)
                return
            self._close_some(stack, counted, may_cut)
            self._report(progress, len(stack))

    @property
    def may_inherit(self) -> bool:
        """Whether nodes can inherit intervals if no numbers are too long for the core."""
        return self.problem.second is not None and self.core is not None

    @property
    def can_inherit(self) -> bool:
        """Whether nodes can inherit intervals: of two networks, where the core bounds the root."""
        if self.core is None or not self.may_inherit:
            return False
        root, every_row = (self.problem.lower, self.problem.upper), [True] * len(self.problem.rows)
        return self.core.inherited([root], [None], [every_row]) is not None

    @property
    def has_many_leaves(self) -> bool:
        """Whether there are enough leaves for inherited intervals to be worth their records."""
        return self.tree.num_leaves >= SETTINGS.least_inherited

    def choose_leaves(self) -> bool:
        """Return whether nodes are to inherit intervals, if that is not known yet.

        Not if most leaves of the search are closed without that: these need no records for inner
        nodes, and checkers need less time for them.
        """
        if self.inherits is None:
            may_inherit = self.has_many_leaves and self.can_inherit
            self.inherits = may_inherit and self._share_of_plain() < SETTINGS.share_of_plain
        return self.inherits

    def _share_of_plain(self) -> float:
        """Return the share of some leaves that are closed without inherited intervals."""
        leaves = list(self._leaves())
        number = SETTINGS.in_step(SETTINGS.leaves_tried, price_in_core(self.problem, 2))
        taken = leaves[:: max(1, len(leaves) // number)]
        assert self.core is not None
        found = self.core.bounds([(low, high) for _, low, high in taken], self._kinds[-1])
        good = [x is not None and (x.is_empty or self._holds(x.rows)) for x in found]
        return sum(good) / len(good)

    def _close_inheriting(
        self, budget: Budget, progress: Progress | None, tasks: TaskStream | None
    ) -> bool:
        """Follow the cuts with inherited intervals; return False if the core cannot do that.

        Every leaf gets a bound, also if a limit ends the work.
        """
        assert self.core is not None
        found = InheritedTree(self.problem, self.core, self.limit, self.tree)
        try:
            found.start()
            found.close(budget, progress, tasks)
        except TooLongNumbersError:
            return False
        except BaseException:
            self._take(found)
            raise
        self._take(found)
        return True

    def bound_few(self, num_nodes: int, budget: Budget) -> bool:
        """Cut the leaves with the largest bounds, up to `num_nodes` nodes; all leaves get bounds.

        They inherit intervals; return False if the core cannot do that. A limit of the budget that
        is reached already does not count; another interruption leaves the bounds that are done, and
        so does the end of a share of a limit of time.
        """
        assert self.core is not None
        found = InheritedTree(self.problem, self.core, self.limit, self.tree)
        late = Budget(seconds=budget.seconds and SETTINGS.fallback_time * budget.seconds)
        try:
            found.start()
            until_limit(partial(found.cut_first, num_nodes, late.check_others), budget)
        except TooLongNumbersError:
            return False
        self._take(found)
        return True

    def _take(self, found: InheritedTree) -> None:
        """Take the cuts and bounds of a tree with inherited intervals."""
        self.tree, self._kept, self._closed = found.tree, found.kept, set(found.closed)
        for node, numbers in (*found.closed.items(), *found.open_nodes.items()):
            self.bounds[node] = found.rule.objective_of(numbers, self.problem.clauses)
            self._records[node] = BoundsNode("inherited")

    def _close_some(self, stack: list[_Box], budget: Budget, may_cut: bool = True) -> None:
        """Apply the rule to the last boxes of a stack, and cut those that fail."""
        price = price_of_boxes(1, 4 * self._num_products())
        number = min(SETTINGS.in_step(SETTINGS.boxes_per_check, price), len(stack))
        taken = [stack.pop() for _ in range(number)]
        core, scores = self.core, dict[int, Floats]()
        is_pair = self.problem.second is not None
        if core is not None and is_pair and not may_cut:
            failed = self._left_by_core(taken, budget, core, self._kinds[-1])
        elif core is not None and is_pair:
            failed = self._those_that_fail_in_core(taken, budget, core, scores)
        else:
            failed = taken
            for kind in self._kinds:
                failed = self._those_that_fail(failed, budget, may_cut, kind)
        if failed and may_cut:
            budget.spend(price_of_boxes(len(failed), 4 * self._num_products()))
            stack += self._cut(failed, scores)

    def _those_that_fail(
        self, taken: list[_Box], budget: Budget, may_cut: bool, kind: LeafKind
    ) -> list[_Box]:
        """Apply the rule of leaves of a kind to boxes that floats do not rule out."""
        if not taken:
            return []
        boxes, factor = _in_floats(taken), 1 if kind == "leaf" else 4
        budget.spend(price_of_boxes(len(taken), factor * self._num_products()))
        guesses = self.problem.objective(_BOUNDS[kind](self.problem.double, boxes))
        guesses = np.where(self.problem.meets(boxes.low, boxes.high), guesses, -np.inf)
        failed = list[_Box]()
        for box, guess in zip(taken, guesses.tolist(), strict=True):
            is_likely = not as_float(self.limit) < guess < np.inf
            if not may_cut:  # each leaf gets a bound, perhaps a better one
                is_likely = kind == "leaf" or guess < as_float(self.bounds[box[0]])
            if is_likely:
                factor = 1 + _KINDS.index(kind)
                budget.spend(factor * price_of_forms(self.problem.size, len(box[1])))
            if not (is_likely and self._is_closed(box, budget, kind)):
                failed.append(box)
        return failed

    @property
    def _kinds(self) -> tuple[LeafKind, ...]:
        """The kinds of leaves that differ."""
        return _KINDS if self.problem.second is not None else _KINDS[:2]

    @property
    def core(self) -> CompiledRule | None:
        """The rule in the core, where it serves: domains with oblique sides need forms."""
        return CompiledRule.of(self.rule, self.problem.rows) if self.problem.is_box else None

    def _those_that_fail_in_core(
        self,
        taken: list[_Box],
        budget: Budget,
        core: CompiledRule,
        scores: dict[int, Floats],
    ) -> list[_Box]:
        """Apply the rule to boxes by the core, where floats do not rule all kinds of leaves out.

        Kinds that close none of the first boxes are left out. Notes by node how much the losses
        depend on each coordinate.
        """
        boxes = _in_floats(taken)
        budget.spend(price_of_boxes(len(taken), 4 * self._num_products()))
        found = bound_boxes(self.problem.double, boxes)
        guesses = self.problem.objective(found.upper).tolist()
        table = found.split_scores(self.problem.deciding_rows(found.upper))
        scores.update((box[0], row) for box, row in zip(taken, table, strict=True))
        likely, failed = list[_Box](), list[_Box]()
        for box, guess in zip(taken, guesses, strict=True):
            (failed if as_float(self.limit) < guess < np.inf else likely).append(box)
        for kind in self._kinds:
            tried = SETTINGS.boxes_tried
            left = self._left_by_core(likely[:tried], budget, core, kind)
            is_useless = len(left) == tried and kind != self._kinds[-1]
            rest = likely[tried:]
            likely = left + (rest if is_useless else self._left_by_core(rest, budget, core, kind))
        return failed + likely

    def _left_by_core(
        self, boxes: list[_Box], budget: Budget, core: CompiledRule, kind: LeafKind
    ) -> list[_Box]:
        """Apply the rule of leaves of a kind to boxes; return those that it does not close."""
        if not boxes:
            return []
        price = (1 + _KINDS.index(kind)) * price_of_forms(self.problem.size, len(boxes[0][1]))
        budget.spend(len(boxes) * price)
        left = list[_Box]()
        found = core.bounds([(low, high) for _, low, high in boxes], kind)
        for box, bounds in zip(boxes, found, strict=True):
            if bounds is None:
                is_closed = self._is_closed(box, budget, kind)
            else:
                number = bounds.num_new_generators
                budget.spend(price_of_generators(self.problem.size, number))
                is_closed = self._note(box[0], bounds.is_empty, bounds.rows, kind)
            if not is_closed:
                left.append(box)
        return left

    def _close_by_tasks(
        self, stack: list[_Box], budget: Budget, progress: Progress | None, tasks: TaskStream
    ) -> None:
        """Let tasks close the boxes of a stack."""
        least, note = SETTINGS.least_steps, partial(self._report, progress)
        close_groups(deque(reversed(stack)), least, tasks, self._task, self._graft, budget, note)

    def _task(self, group: Sequence[_Box]) -> bytes:
        """Return a task as bytes."""
        constants = self.problem.constants
        return packed(
            {
                "kind": "leaves",
                "work": SETTINGS.task_work_of_leaves,
                "row": self.problem.chosen,
                "constants": None if constants is None else exact_texts(constants),
                "limit": exact_texts([self.limit]),
                "grid": self.rule.grid,
                "boxes": [[exact_texts(low), exact_texts(high)] for _, low, high in group],
            }
        )

    def _graft(self, group: Sequence[_Box], result: Any) -> list[_Box]:
        """Put the cuts and bounds of a task into the tree; return the boxes that are left."""
        boxes = list(group)
        for number, j in result["cuts"]:
            boxes += self._parts(boxes[number], j)
        for number, is_closed, texts, record in result["bounds"]:
            node, (bound, *rows) = boxes[number][0], exact_numbers(texts)
            self.bounds[node], self.row_bounds[node] = bound, rows
            if is_closed:
                self._closed.add(node)
            if record:
                self._records[node] = _record_from(record)
        return [boxes[number] for number in result["left"]]

    def close_for_a_while(self, stack: list[_Box], work: float) -> bytes:
        """Close boxes as a task, and return what `_graft` takes."""
        budget = Budget()
        while stack and budget.spent < work:
            self._close_some(stack, budget)
        bounds = [
            [
                node,
                node in self._closed,
                exact_texts([bound, *self.row_bounds[node]]),
                _record_texts(self._records.get(node)),
            ]
            for node, bound in self.bounds.items()
        ]
        return packed(
            {
                "cuts": [[node, cut.coordinate] for node, cut in self.tree.cuts.items()],
                "bounds": bounds,
                "left": [node for node, _, _ in stack[::-1]],
                "work": budget.spent,
            }
        )

    def _leaves(self) -> Iterator[_Box]:
        boxes = self.tree.boxes(self.problem.lower, self.problem.upper)
        return (box for box in boxes if box[0] not in self.tree.cuts)

    def _num_products(self) -> int:
        """Number of products of floats for the forms on a box."""
        return self.problem.size * 2 * sum(self.problem.first.widths)

    def _is_closed(self, box: _Box, budget: Budget, kind: LeafKind) -> bool:
        """Apply the rule to a leaf, and note its bound."""
        node, low, high = box
        found = None if self.core is None else self.core.bounds([(low, high)], kind)[0]
        if found is not None:
            budget.spend(price_of_generators(self.problem.size, found.num_new_generators))
            return self._note(node, found.is_empty, found.rows, kind)
        leaf = self.rule.leaf(low, high, kind=kind, check=budget.check_others)
        budget.spend(price_of_generators(self.problem.size, leaf.num_new_generators))
        rows = leaf.upper_bounds(self.problem.rows)
        holds = self._note(node, leaf.is_empty, rows, kind)
        if not holds and kind == "leaf":
            limits = [self.limit] * len(self.problem.clauses)
            outside = outside_node(self.problem, self.rule, leaf, (low, high), rows, limits)
            if outside is not None:
                self._records[node], self.bounds[node] = outside, self.limit
                self.row_bounds[node] = [self.limit] * len(rows)
                self._closed.add(node)
                holds = True
        return holds

    def _note(self, node: int, is_empty: bool, rows: list[Fraction], kind: LeafKind) -> bool:
        """Note the bounds of the rows on a leaf, if they are better; return whether it is closed.

        An empty leaf has no bounds.
        """
        holds = is_empty or self._holds(rows)
        bound = self.limit if is_empty else self.problem.exact_objective(rows)
        if holds or kind == "leaf" or bound < self.bounds.get(node, bound + 1):
            self.bounds[node] = bound
            self.row_bounds[node] = rows or [self.limit] * len(self.problem.rows)
            if kind != "leaf":
                self._records[node] = BoundsNode(kind)
        if holds:
            self._closed.add(node)
        return holds

    def _holds(self, rows: list[Fraction]) -> bool:
        """Whether each clause has a row whose bound is small enough."""
        holds = [
            bound < self.limit or (bound == self.limit and not row.is_strict)
            for bound, row in zip(rows, self.problem.rows, strict=True)
        ]
        return all(any(holds[i] for i in clause) for clause in self.problem.clauses)

    def _cut(self, failed: list[_Box], known: dict[int, Floats]) -> list[_Box]:
        """Cut boxes where the losses of the relaxation are largest; return the parts.

        By node it may be known how much the losses depend on each coordinate.
        """
        unknown = [box for box in failed if box[0] not in known]
        if unknown:
            found = bound_boxes(self.problem.double, _in_floats(unknown))
            rows = self.problem.deciding_rows(found.upper)
            scores = found.split_scores(rows)
            known.update((box[0], row) for box, row in zip(unknown, scores, strict=True))
        parts = list[_Box]()
        for node, low, high in failed:
            score = known[node]
            movable = [a < b for a, b in zip(low, high, strict=True)]
            if not any(movable):
                continue
            j = int(np.where(movable, score, -np.inf).argmax())
            self.bounds.pop(node, None)
            self.row_bounds.pop(node, None)
            self._records.pop(node, None)
            parts += self._parts((node, low, high), j)[::-1]
        return parts

    def _parts(self, box: _Box, j: int) -> list[_Box]:
        """Cut a box at the middle of a coordinate."""
        node, low, high = box
        at = ((low[j] + high[j]) / 2,)
        below, above = self.tree.cut(node, j)
        return [
            (below, low, high[:j] + at + high[j + 1 :]),
            (above, low[:j] + at + low[j + 1 :], high),
        ]

    def _report(self, progress: Progress | None, num_left: int) -> None:
        done = len(self._closed)
        report(progress, "checking boxes in integers", done, done + num_left, "boxes")

    @property
    def num_closed(self) -> int:
        """Number of leaves that are closed."""
        return len(self._closed)

    @property
    def num_open(self) -> int:
        """Number of leaves that are not closed."""
        return self.tree.num_leaves - len(self._closed)

    @property
    def largest_bound(self) -> Fraction | None:
        """The largest bound of a leaf; None if a leaf has no bound."""
        if len(self.bounds) < self.tree.num_leaves:
            return None
        return max(self.bounds.values())

    @property
    def largest_row_bounds(self) -> list[Fraction]:
        """The largest bound of each row on a leaf, once each leaf has a bound."""
        return [max(bounds) for bounds in zip(*self.row_bounds.values(), strict=True)]

    def log(self, limit: Fraction | None = None) -> tuple[TreeLog, tuple[SubBox, ...], Fraction]:
        """Return the nodes for a certificate, the boxes of open leaves, and the share covered.

        With a limit, leaves with bounds up to it are closed too.
        """
        nodes, excluded = TreeLog(), list[SubBox]()
        volume = Fraction(0)
        depth = {0: 0}
        for node, low, high in self.tree.boxes(self.problem.lower, self.problem.upper):
            if (cut := self.tree.cuts.get(node)) is not None:
                if node in self._kept:
                    nodes.add(BoundsNode("intervals"))
                nodes.add(BoundsNode("cut", coordinate=cut.coordinate))
                depth[cut.below] = depth[cut.above] = depth[node] + 1
                continue
            is_closed = node in self._closed
            if limit is not None and node in self.bounds:
                is_closed = is_closed or self.bounds[node] <= limit
            plain = BoundsNode("leaf" if is_closed else "open")
            nodes.add(self._records.get(node, plain) if is_closed else plain)
            if is_closed:
                volume += Fraction(1, 1 << depth[node])
            else:
                excluded.append(SubBox(low, high))
        return nodes, tuple(excluded), volume


def first_tree(
    new_tree: Callable[[BoxTree], CertifiedTree],
    boxes: BoxTree,
    number: int,
    budget: Budget,
    progress: Progress | None,
) -> CertifiedTree:
    """Return the first cuts of a search, at most `number` nodes, with a bound for every leaf.

    After a limit of time or memory, or Ctrl-C, trees of fewer nodes come first: the command ends
    soon, on a busy machine perhaps before the last tree is done, and then the one before it counts.
    """
    numbers, found = [number], None
    while numbers[0] > 2 and budget.why_stopped() is not None:
        numbers.insert(0, max(2, numbers[0] // SETTINGS.fallback_growth))
    for few in numbers:
        tree = new_tree(boxes.first_cuts(few))
        close = partial(tree.close, Budget(), progress, may_cut=False)
        if found is None:
            close()
        elif until_limit(close, budget) is not None:
            return found
        found = tree
    return tree


def _in_floats(boxes: list[_Box]) -> Boxes:
    """Return boxes in floats."""
    low = np.array([nearest_vector(low) for _, low, _ in boxes])
    return Boxes(low, np.array([nearest_vector(high) for _, _, high in boxes]))


def close_boxes(problem: Problem, rule: RoundedRule, task: Any) -> bytes:
    """Do a task of a tree whose leaves are closed, for the problem that it names."""
    corners = [tuple(map(exact_numbers, box)) for box in task["boxes"]]
    stack = [(node, low, high) for node, (low, high) in enumerate(corners)]
    limit = exact_numbers(task["limit"])[0]
    tree = CertifiedTree(problem, BoxTree(num_nodes=len(stack)), limit, rule)
    return tree.close_for_a_while(stack[::-1], task["work"])


def _record_texts(node: BoundsNode | None) -> list[Any]:
    """Return the kind and the multiples of a leaf, nothing for a plain one."""
    if node is None:
        return []
    listed = [
        [clause, row, list(multiples), exact_texts(multiples.values())]
        for clause, row, multiples in node.multiples
    ]
    return [node.kind, listed]


def _record_from(record: Sequence[Any]) -> BoundsNode:
    """Return the leaf of `_record_texts`."""
    kind, entries = record
    listed = [
        (clause, row, dict(zip(numbers, exact_numbers(texts), strict=True)))
        for clause, row, numbers, texts in entries
    ]
    return BoundsNode(kind, multiples=listed)
