"""Best-first search over boxes of inputs for bounds of an objective.

The box with the largest bound is cut next, at the middle of the coordinate that the losses of the
relaxation depend on most; where few neurons are open, its bound may also come from parts of it
(`sign_parts`). Many boxes are bounded in one step. Floats only guess here: the cuts are
the result, and the bounds of the leaves are computed again in integers (`certified`).

A search that takes longer is divided into tasks, whether there are several workers or not: each
task is a search of bounded length that begins with some of the boxes (`search_boxes`).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from polyrelu.exact import as_float, nearest_vector
from polyrelu.proofs.deviation.backward import Boxes
from polyrelu.proofs.deviation.box_bounds import BoxBounds, KnownBounds, bound_boxes
from polyrelu.proofs.deviation.box_tree import BoxTree
from polyrelu.proofs.deviation.float_pair import Floats
from polyrelu.proofs.deviation.points import BestPoint
from polyrelu.proofs.deviation.problem import Problem
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.proofs.deviation.sign_parts import SignParts
from polyrelu.support.budget import Budget
from polyrelu.support.parallel import TaskStream
from polyrelu.support.parallel.wire import (
    exact_numbers,
    exact_texts,
    packed,
    understood,
    unpacked,
    work_of,
)
from polyrelu.support.prices import price_of_boxes
from polyrelu.support.progress import Progress, report

__all__ = ["BoxSearch", "Goal", "search_boxes"]


@dataclass(frozen=True, slots=True)
class Goal:
    """When a box needs no further cut.

    Attributes
    ----------
    limit
        The bound that is to be proved; None where bounds are to be close to the best point.
    gap
        How far above the best value a bound may be: a share of that value, or of `scale`.
    scale
        What the gap is a share of; None for the best value.
    floor
        Least bound that is worth a search, where no limit is given.
    """

    limit: Fraction | None = None
    gap: Fraction = Fraction(1, 100)
    scale: Fraction | None = None
    floor: Fraction | None = None

    def bound(self, best: Fraction) -> Fraction:
        """Return the bound up to which boxes are left alone."""
        if self.limit is not None:
            return self.limit
        wanted = best + self.gap * (abs(best) if self.scale is None else self.scale)
        return wanted if self.floor is None else max(wanted, self.floor)

    def to_texts(self) -> list[list[str]]:
        """Return the goal for a task."""
        numbers = (self.limit, self.gap, self.scale, self.floor)
        return [[] if number is None else exact_texts([number]) for number in numbers]

    @classmethod
    def from_texts(cls, texts: Sequence[Sequence[str]]) -> Goal:
        """Return the goal of a task."""
        limit, gap, scale, floor = (exact_numbers(text)[0] if text else None for text in texts)
        return cls(limit, gap or Fraction(0), scale, floor)


@dataclass(slots=True)
class _Open:
    """A box that may be cut, with its node and the bounds known on the box around it.

    `known` is a row of a table of `KnownBounds`; None if it was not stored. Cuts by signs are tried
    from the depth `next_try` on.
    """

    node: int
    depth: int
    low: Floats
    high: Floats
    upper: float
    known: Floats | None
    next_try: int = 0


class BoxSearch:
    """A search that can be stopped after each step.

    Parameters
    ----------
    problem
        What is bounded.
    best
        The best point so far.
    goal
        When to stop.
    dtype
        The format of the floats.
    by_signs
        Whether bounds of boxes may come from cuts by signs (`SignParts`). The rule of certificates
        does not follow these: it needs more boxes then than the search had.

    Attributes
    ----------
    tree
        The cuts so far.
    num_boxes
        Number of boxes and parts of boxes that were bounded.
    closed_share
        Share of the volume that needs no further cut.
    leaf_bounds
        The bounds of the closed boxes in floats, by the number of the node.
    """

    def __init__(
        self,
        problem: Problem,
        best: BestPoint,
        goal: Goal,
        dtype: DTypeLike = np.float64,
        by_signs: bool = False,
    ) -> None:
        self._by_signs = by_signs
        self._pair = pair = problem.floats(dtype)
        self._dtype, self._work, self._num_steps = np.dtype(dtype), 0.0, 0
        self._problem, self.best, self.goal = problem, best, goal
        self.tree, self.num_boxes, self.closed_share = BoxTree(), 0, 0.0
        self.leaf_bounds = dict[int, float]()
        self._num_poor, self._is_joint = 0, not pair.is_single
        low, high = (
            nearest_vector(corner).astype(pair.dtype) for corner in (problem.lower, problem.upper)
        )
        self._movable = np.array(
            [a < b for a, b in zip(problem.lower, problem.upper, strict=True)], dtype=bool
        )
        self._unknown = KnownBounds.unknown(pair, 1).table[0]
        self._heap = list[tuple[float, int, _Open]]()
        self._push(_Open(0, 0, low, high, np.inf, None))

    @property
    def is_finished(self) -> bool:
        """Whether no box is open."""
        return not self._heap

    @property
    def upper(self) -> float:
        """The bound of the objective in floats."""
        still_open = (entry[2].upper for entry in self._heap)
        return max([*self.leaf_bounds.values(), *still_open])

    @property
    def num_open(self) -> int:
        """Number of open boxes."""
        return len(self._heap)

    def run(
        self,
        budget: Budget,
        progress: Progress | None = None,
        is_over: Callable[[], bool] = lambda: False,
        tasks: TaskStream | None = None,
    ) -> None:
        """Cut boxes until none is open, or `is_over` says so; after some work, by tasks."""
        while self._heap and not is_over():
            is_long = self._work >= SETTINGS.task_work or self._num_steps >= SETTINGS.steps_per_task
            if tasks is not None and is_long and len(self._heap) > 1:
                self._run_tasks(budget, progress, is_over, tasks)
                return
            self._step(budget)
            self._report(progress, len(self._heap))

    def _report(self, progress: Progress | None, num_open: int) -> None:
        num_closed = len(self.leaf_bounds)
        total, details = num_closed + num_open, self._details()
        report(progress, "bounding boxes", num_closed, total, "boxes", details)

    def _run_tasks(
        self,
        budget: Budget,
        progress: Progress | None,
        is_over: Callable[[], bool],
        tasks: TaskStream,
    ) -> None:
        """Cut boxes by tasks; those with the largest bounds are the next ones."""
        groups = deque[list[_Open]]()
        try:
            while (self._heap or groups) and not is_over():
                while self._heap and len(groups) < SETTINGS.num_ahead:
                    groups.append(self._next_group())
                    tasks.add(self._task(groups[-1]))
                result = unpacked(tasks.take())
                budget.spend(work_of(result))
                with understood():
                    self._graft(groups.popleft(), result)
                self._report(progress, len(self._heap) + sum(map(len, groups)))
        finally:
            tasks.forget()
            for box in (box for group in groups for box in group):
                self._push(box)

    def _next_group(self) -> list[_Open]:
        """Take the boxes of a task: fewer where there are few for all tasks."""
        share = len(self._heap) // SETTINGS.num_ahead
        number = min(max(SETTINGS.least_steps, share), SETTINGS.boxes_per_task, len(self._heap))
        return [heapq.heappop(self._heap)[2] for _ in range(number)]

    def _task(self, group: Sequence[_Open]) -> bytes:
        """Return a task as bytes."""
        constants = self._problem.constants
        return packed(
            {
                "kind": "boxes",
                "work": SETTINGS.task_work,
                "row": self._problem.chosen,
                "constants": None if constants is None else exact_texts(constants),
                "goal": self.goal.to_texts(),
                "format": self._dtype.name,
                "joint": self._is_joint,
                "signs": self._by_signs,
                "best": exact_texts([self.best.known_value]),
                "boxes": [[box.low.tolist(), box.high.tolist(), box.upper] for box in group],
            }
        )

    def _graft(self, group: Sequence[_Open], result: Any) -> None:
        """Put the cuts of a task into the tree, and what it found beside them."""
        boxes = list(group)
        for number, j in result["cuts"]:
            boxes += self._parts(boxes[number], j)
        for number, upper in result["leaves"]:
            self.leaf_bounds[boxes[number].node] = upper
            self.closed_share += 2.0 ** -boxes[number].depth
        for number, upper in result["open"]:
            boxes[number].upper = upper
            self._push(boxes[number])
        self.num_boxes += result["boxes"]
        self.best.num_points += result["points"]
        if result["point"]:
            self.best.offer_exactly([exact_numbers(result["point"])])
        self._is_joint = result["joint"]

    def _parts(self, box: _Open, j: int) -> list[_Open]:
        """Cut a box at the middle of a coordinate."""
        low, high = box.low.copy(), box.high.copy()
        low[j] = high[j] = (box.low[j] + box.high[j]) / 2
        below, above = self.tree.cut(box.node, j)
        return [
            _Open(node, box.depth + 1, start, end, box.upper, None, box.next_try)
            for node, start, end in ((below, box.low, high), (above, low, box.high))
        ]

    def _details(self) -> dict[str, float]:
        """Return what a progress line shows beside the number of boxes."""
        found = {"percent closed": 100 * self.closed_share}
        if self.best.value is not None:
            found["at least"] = as_float(self.best.value)
        if self._heap and self.goal.limit is None and np.isfinite(self._heap[0][2].upper):
            found["at most"] = self._heap[0][2].upper
        return found

    def _step(self, budget: Budget) -> None:
        """Bound the boxes with the largest bounds, and cut those that need it."""
        price = self._price(1, not self._pair.is_single)
        number = min(SETTINGS.in_step(SETTINGS.boxes_per_step, price), len(self._heap))
        taken = [heapq.heappop(self._heap)[2] for _ in range(number)]
        is_joint = self._is_joint or self._tries_again()
        price = self._price(number, is_joint)
        try:
            budget.spend(price)
        except BaseException:
            for box in taken:
                self._push(box)
            raise
        self._work += price
        self._num_steps += 1
        boxes = Boxes(np.stack([b.low for b in taken]), np.stack([b.high for b in taken]))
        limit = self._limit()
        tables = [self._unknown if box.known is None else box.known for box in taken]
        known = KnownBounds.joined(self._pair, tables)
        wanted = self._problem.open_rows(known.rows, limit)
        wanted[:, 0] |= ~wanted.any(axis=1)
        found = bound_boxes(self._pair, boxes, known, wanted, is_joint)
        self.num_boxes += number
        before = np.array([box.upper for box in taken])
        upper = np.minimum(self._problem.objective(found.upper), before)
        upper = np.where(self._problem.meets(boxes.low, boxes.high), upper, -np.inf)
        if is_joint:
            self._watch_gain(found)
        rows = self._problem.deciding_rows(found.upper)
        slope = found.slope[found.places(rows)]
        corners = np.where(slope > 0, boxes.high, boxes.low)
        self.best.offer(np.concatenate([corners, boxes.middle]).astype(np.float64))
        if self._by_signs:
            upper = self._bounds_by_signs(taken, boxes, found, upper, budget)
        self._divide(taken, boxes, found, upper, rows)

    def _bounds_by_signs(
        self,
        taken: list[_Open],
        boxes: Boxes,
        found: BoxBounds,
        upper: Floats,
        budget: Budget,
    ) -> Floats:
        """Return smaller bounds of the boxes whose bounds are too large, by cuts of signs."""
        limit, num_open = self._limit(), found.known.num_open()
        chosen = [
            i
            for i, box in enumerate(taken)
            if limit < upper[i] < np.inf
            and num_open[i] <= SETTINGS.max_signs
            and box.depth >= box.next_try
        ]
        if not chosen:
            return upper
        parts = SignParts(self._problem, self._pair, boxes.take(chosen), limit, self._is_joint)
        smaller = parts.bounds(found.take(chosen, self._pair), partial(self._pay, budget))
        self.num_boxes += parts.num_parts - len(chosen)
        upper = upper.copy()
        upper[chosen] = np.minimum(upper[chosen], smaller)
        if parts.points:
            self.best.offer(np.concatenate(parts.points).astype(np.float64))
        for i in chosen:
            if upper[i] > limit:
                taken[i].next_try = taken[i].depth + SETTINGS.sign_pause
        return upper

    def _pay(self, budget: Budget, number: int) -> None:
        """Pay for parts of boxes."""
        price = self._price(number, self._is_joint)
        budget.spend(price)
        self._work += price

    def _divide(
        self,
        taken: list[_Open],
        boxes: Boxes,
        found: BoxBounds,
        upper: Floats,
        rows: NDArray[np.intp],
    ) -> None:
        """Cut the boxes whose bounds are too large, and note the others as leaves."""
        limit = self._limit()
        scores = np.where(self._movable, found.split_scores(rows), -np.inf)
        is_stored = len(self._heap) <= SETTINGS.max_stored
        for i, box in enumerate(taken):
            is_decided = upper[i] <= limit or not upper[i] < np.inf  # beyond the range of floats
            j = None if is_decided else self._coordinate(box, scores[i])
            if j is None:
                self.leaf_bounds[box.node] = float(upper[i])
                self.closed_share += 2.0**-box.depth
                continue
            known = found.known.table[i].copy() if is_stored else None  # not all of the table
            for part in self._parts(box, j):
                part.upper, part.known = float(upper[i]), known
                self._push(part)

    def _coordinate(self, box: _Open, scores: Floats) -> int | None:
        """Return the coordinate at whose middle a box is cut; None where floats have no middle."""
        if not len(scores):  # the domain is a point
            return None
        j = int(scores.argmax())
        middle = (box.low[j] + box.high[j]) / 2
        return j if box.low[j] < middle < box.high[j] else None

    def _limit(self) -> float:
        """Return the bound up to which boxes are left alone."""
        if self.goal.limit is None and self.best.value is None:
            return -np.inf
        return as_float(self.goal.bound(self.best.value or Fraction(0)))

    def _push(self, box: _Open) -> None:
        heapq.heappush(self._heap, (-box.upper, box.node, box))

    def _tries_again(self) -> bool:
        """Return whether the next step uses the joint relaxation although it was given up.

        The boxes with the largest bounds may all lie where it gains nothing, and others come later.
        """
        return not self._pair.is_single and self._num_steps % SETTINGS.steps_between_tries == 0

    def _watch_gain(self, found: BoxBounds) -> None:
        """Give the joint relaxation up while it gains nothing where neurons are open."""
        if len(found.upper) < SETTINGS.boxes_per_step:
            return
        if self.goal.limit is not None:  # many bounds of neurons profit, although few rows do
            return
        alone, joint = map(self._problem.objective, (found.alone, found.joint))
        # Where no neuron is open, both bounds are equal, which says nothing about other boxes.
        gains = (alone - SETTINGS.joint_gain * joint)[found.is_open]
        if not len(gains):
            return
        self._num_poor = self._num_poor + 1 if np.median(gains) < 0 else 0
        self._is_joint = self._num_poor < SETTINGS.num_poor_steps

    def _price(self, number: int, is_joint: bool) -> float:
        kinds = 1 if self._pair.is_single else 4 if is_joint else 2
        num_rows = 2 * sum(self._pair.widths) + len(self._problem.rows)
        return price_of_boxes(number, kinds * num_rows * self._pair.num_products)

    # -- one task ----------------------------------------------------------------------------------

    def begin_task(self, task: Any) -> None:
        """Put the boxes of a task in the place of the root."""
        self._is_joint, self._heap, self.tree = task["joint"], [], BoxTree(num_nodes=0)
        for low, high, upper in task["boxes"]:
            first, last = (np.array(end, self._pair.dtype) for end in (low, high))
            self._push(_Open(self.tree.num_nodes, 0, first, last, upper, None))
            self.tree.num_nodes += 1

    def run_task(self, work: float) -> bytes:
        """Cut the boxes of a task for a while, and return what `_graft` takes."""
        before = self.best.value
        while self._heap and not self._is_task_over(work):
            self._step(Budget())
        return packed(
            {
                "cuts": [[node, cut.coordinate] for node, cut in self.tree.cuts.items()],
                "leaves": list(self.leaf_bounds.items()),
                "open": [[box.node, box.upper] for _, _, box in sorted(self._heap)],
                "boxes": self.num_boxes,
                "points": self.best.num_points,
                "point": exact_texts(self.best.y) if self.best.value != before else [],
                "joint": self._is_joint,
                "work": self._work,
            }
        )

    def _is_task_over(self, work: float) -> bool:
        if not self._num_steps:
            return False
        if self._work >= work or self._num_steps >= SETTINGS.steps_per_task:
            return True
        if self.goal.limit is not None and self.best.known_value > self.goal.limit:
            return True
        is_short = self._num_steps < SETTINGS.least_steps
        return not is_short and len(self._heap) < SETTINGS.least_boxes


def search_boxes(problem: Problem, task: Any) -> bytes:
    """Do a task of a search, for the problem that it names."""
    best = BestPoint(problem)
    best.value = exact_numbers(task["best"])[0]
    goal, dtype = Goal.from_texts(task["goal"]), np.dtype(task["format"])
    search = BoxSearch(problem, best, goal, dtype, task["signs"])
    search.begin_task(task)
    return search.run_task(task["work"])
