"""Best-first search over boxes of inputs for bounds of an objective.

The box with the largest bound is cut next, at the middle of the coordinate that the losses of the
relaxation depend on most. Many boxes are bounded in one step. Floats only guess here: the cuts are
the result, and the bounds of the leaves are computed again in integers (`certified`).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

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
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_boxes
from polyrelu.support.progress import Progress, report

__all__ = ["BoxSearch", "Goal"]


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


@dataclass(slots=True)
class _Open:
    """A box that may be cut, with its node and the bounds known on the box around it.

    `known` is a row of a table of `KnownBounds`; None if it was not stored.
    """

    node: int
    depth: int
    low: Floats
    high: Floats
    upper: float
    known: Floats | None


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

    Attributes
    ----------
    tree
        The cuts so far.
    num_boxes
        Number of boxes that were bounded.
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
    ) -> None:
        self._pair = pair = problem.floats(dtype)
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
        root = _Open(0, 0, low, high, np.inf, None)
        self._heap = [(0.0, 0, root)]

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
    ) -> None:
        """Cut boxes until none is open, or `is_over` says so."""
        while self._heap and not is_over():
            self._step(budget)
            report(
                progress,
                "bounding boxes",
                len(self.leaf_bounds),
                len(self.leaf_bounds) + len(self._heap),
                "boxes",
                self._details(),
            )

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
        number = min(SETTINGS.boxes_per_step, len(self._heap))
        taken = [heapq.heappop(self._heap)[2] for _ in range(number)]
        try:
            budget.spend(self._price(number))
        except BaseException:
            for box in taken:
                self._push(box)
            raise
        boxes = Boxes(np.stack([b.low for b in taken]), np.stack([b.high for b in taken]))
        limit = self._limit()
        tables = [self._unknown if box.known is None else box.known for box in taken]
        known = KnownBounds.joined(self._pair, tables)
        wanted = self._problem.open_rows(known.rows, limit)
        wanted[:, 0] |= ~wanted.any(axis=1)
        found = bound_boxes(self._pair, boxes, known, wanted, self._is_joint)
        self.num_boxes += number
        before = np.array([box.upper for box in taken])
        upper = np.minimum(self._problem.objective(found.upper), before)
        upper = np.where(self._problem.meets(boxes.low, boxes.high), upper, -np.inf)
        self._watch_gain(found)
        rows = self._problem.deciding_rows(found.upper)
        slope = found.slope[found.places(rows)]
        corners = np.where(slope > 0, boxes.high, boxes.low)
        self.best.offer(np.concatenate([corners, boxes.middle]).astype(np.float64))
        self._divide(taken, boxes, found, upper, rows)

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
        scores = np.where(self._movable, found.split_scores(boxes, rows), -np.inf)
        is_stored = len(self._heap) <= SETTINGS.max_stored
        for i, box in enumerate(taken):
            is_decided = upper[i] <= limit or not upper[i] < np.inf  # beyond the range of floats
            j = None if is_decided else self._coordinate(box, scores[i])
            if j is None:
                self.leaf_bounds[box.node] = float(upper[i])
                self.closed_share += 2.0**-box.depth
                continue
            below, above = self.tree.cut(box.node, j)
            low, high = box.low.copy(), box.high.copy()
            low[j] = high[j] = (box.low[j] + box.high[j]) / 2
            value, depth = float(upper[i]), box.depth + 1
            known = found.known.table[i].copy() if is_stored else None  # not all of the table
            for node, start, end in ((below, box.low, high), (above, low, box.high)):
                self._push(_Open(node, depth, start, end, value, known))

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

    def _watch_gain(self, found: BoxBounds) -> None:
        """Give the joint relaxation up if it gains nothing."""
        number = len(found.upper)
        if not self._is_joint or number < SETTINGS.boxes_per_step:
            return
        if self.goal.limit is not None:  # many bounds of neurons profit, although few rows do
            return
        alone, joint = map(self._problem.objective, (found.alone, found.joint))
        is_poor = bool(np.median(alone - SETTINGS.joint_gain * joint) < 0)
        self._num_poor = self._num_poor + 1 if is_poor else 0
        self._is_joint = self._num_poor < SETTINGS.num_poor_steps

    def _price(self, number: int) -> float:
        kinds = 1 if self._pair.is_single else 4 if self._is_joint else 2
        num_rows = 2 * sum(self._pair.widths) + len(self._problem.rows)
        return price_of_boxes(number, kinds * num_rows * self._pair.num_products)
