"""The leaves of a search by the rule in integers that checkers follow, cut again where it fails.

The rule is weaker than the bounds of the search, and takes longer. Boxes are first bounded by the
same rule in floats, many at a time, and cut until that suffices; then integers decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from polyrelu.certificate import BoundsNode, SubBox, TreeLog
from polyrelu.exact import as_float, nearest_vector
from polyrelu.proofs.deviation.backward import Boxes
from polyrelu.proofs.deviation.box_bounds import bound_boxes
from polyrelu.proofs.deviation.box_tree import BoxTree
from polyrelu.proofs.deviation.float_forms import row_bounds
from polyrelu.proofs.deviation.outside import outside_node
from polyrelu.proofs.deviation.problem import ExactPoint, Problem
from polyrelu.proofs.deviation.rounded import RoundedLeaf, RoundedRule
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_boxes, price_of_forms, price_of_generators
from polyrelu.support.progress import Progress, report

__all__ = ["CertifiedTree", "grid_for"]

_Box = tuple[int, ExactPoint, ExactPoint]


def grid_for(problem: Problem, size: Fraction) -> int:
    """Return the bits of a grid that is much finer than bounds of a size, and than large weights.

    Large weights need small boxes, whose corners have to be on the grid.
    """
    needed = [44]
    if size > 0:
        needed.append(36 + size.denominator.bit_length() - size.numerator.bit_length())
    stacks = [problem.pair.first, problem.pair.second or ()]
    largest = max(
        (abs(entry) for stack in stacks for weight, _ in stack for entry in weight.entries()),
        default=Fraction(0),
    )
    needed.append(24 + 2 * int(largest).bit_length())
    return min(max(needed), SETTINGS.max_grid)


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
        The same for each row.
    """

    problem: Problem
    tree: BoxTree
    limit: Fraction
    rule: RoundedRule
    bounds: dict[int, Fraction] = field(default_factory=dict)
    row_bounds: dict[int, list[Fraction]] = field(default_factory=dict)
    _closed: set[int] = field(default_factory=set)
    _outside: dict[int, BoundsNode] = field(default_factory=dict)

    def close(self, budget: Budget, progress: Progress | None = None, may_cut: bool = True) -> None:
        """Apply the rule to all leaves, and cut those that it does not close.

        Without cuts, every leaf gets a bound, and is closed where that is small enough.
        """
        budget.check()
        stack = list(self._leaves())[::-1]
        while stack:
            number = min(SETTINGS.boxes_per_check, len(stack))
            taken = [stack.pop() for _ in range(number)]
            boxes = _in_floats(taken)
            budget.spend(price_of_boxes(number, self._num_products()))
            guesses = self.problem.objective(row_bounds(self.problem.double, boxes))
            guesses = np.where(self.problem.meets(boxes.low, boxes.high), guesses, -np.inf)
            failed = list[int]()
            for i, (node, low, high) in enumerate(taken):
                is_too_large = as_float(self.limit) < guesses[i] < np.inf
                is_likely = not is_too_large or not may_cut
                if is_likely:
                    budget.spend(price_of_forms(self.problem.size, len(low)))
                if not (is_likely and self._is_closed(node, low, high, budget)) and may_cut:
                    failed.append(i)
            if failed:
                budget.spend(price_of_boxes(len(failed), 4 * self._num_products()))
                stack += self._cut([taken[i] for i in failed])
            self._report(progress, len(stack))

    def _leaves(self) -> Iterator[_Box]:
        boxes = self.tree.boxes(self.problem.lower, self.problem.upper)
        return (box for box in boxes if box[0] not in self.tree.cuts)

    def _num_products(self) -> int:
        """Number of products of floats for the forms on a box."""
        return self.problem.size * 2 * sum(self.problem.first.widths)

    def _is_closed(self, node: int, low: ExactPoint, high: ExactPoint, budget: Budget) -> bool:
        """Apply the rule to a leaf, and note its bound."""
        leaf = self.rule.leaf(low, high)
        budget.spend(price_of_generators(self.problem.size, leaf.num_new_generators))
        rows = [leaf.upper_bound(row) for row in self.problem.rows]
        self.bounds[node] = self.problem.exact_objective(rows)
        self.row_bounds[node] = rows
        if not self._holds(leaf, rows):
            limits = [self.limit] * len(self.problem.clauses)
            outside = outside_node(self.problem, self.rule, leaf, (low, high), rows, limits)
            if outside is None:
                return False
            self._outside[node] = outside
            self.bounds[node] = self.limit
            self.row_bounds[node] = [self.limit] * len(rows)
        self._closed.add(node)
        return True

    def _holds(self, leaf: RoundedLeaf, rows: list[Fraction]) -> bool:
        """Whether each clause has a row whose bound is small enough."""
        if leaf.is_empty:
            return True
        holds = [
            bound < self.limit or (bound == self.limit and not row.is_strict)
            for bound, row in zip(rows, self.problem.rows, strict=True)
        ]
        return all(any(holds[i] for i in clause) for clause in self.problem.clauses)

    def _cut(self, failed: list[_Box]) -> list[_Box]:
        """Cut boxes where the losses of the relaxation are largest; return the parts."""
        boxes, pair = _in_floats(failed), self.problem.double
        found = bound_boxes(pair, boxes)
        rows = self.problem.deciding_rows(found.upper)
        scores = found.split_scores(boxes, rows)
        parts = list[_Box]()
        for (node, low, high), score in zip(failed, scores, strict=True):
            movable = [a < b for a, b in zip(low, high, strict=True)]
            if not any(movable):
                continue
            j = int(np.where(movable, score, -np.inf).argmax())
            self.bounds.pop(node, None)
            self.row_bounds.pop(node, None)
            below, above = self.tree.cut(node, j)
            at = ((low[j] + high[j]) / 2,)
            parts.append((above, low[:j] + at + low[j + 1 :], high))
            parts.append((below, low, high[:j] + at + high[j + 1 :]))
        return parts

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
                nodes.add(BoundsNode("cut", coordinate=cut.coordinate))
                depth[cut.below] = depth[cut.above] = depth[node] + 1
                continue
            is_closed = node in self._closed
            if limit is not None and node in self.bounds:
                is_closed = is_closed or self.bounds[node] <= limit
            plain = BoundsNode("leaf" if is_closed else "open")
            nodes.add(self._outside.get(node, plain))
            if is_closed:
                volume += Fraction(1, 1 << depth[node])
            else:
                excluded.append(SubBox(low, high))
        return nodes, tuple(excluded), volume


def _in_floats(boxes: list[_Box]) -> Boxes:
    """Return boxes in floats."""
    low = np.array([nearest_vector(low) for _, low, _ in boxes])
    return Boxes(low, np.array([nearest_vector(high) for _, _, high in boxes]))
