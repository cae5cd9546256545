"""The exact maximum of an objective: leaves on which the networks are affine.

The search begins with the boxes of a tree. A node with few open neurons is cut by the sign of one
of them, and so is a node whose box was cut without use. The boxes of other nodes are cut, in the
coordinate in which the relaxation loses most. Where no neuron is open, a linear program has the
maximum of each row exactly. When no node is left, the best value is the maximum.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from polyrelu.certificate import BoundsNode, TreeLog
from polyrelu.exact import nearest_vector
from polyrelu.proofs.deviation.backward import Boxes
from polyrelu.proofs.deviation.box_bounds import bound_boxes
from polyrelu.proofs.deviation.box_tree import BoxTree
from polyrelu.proofs.deviation.exact_leaf import ExactLeaf, ExactMaximum
from polyrelu.proofs.deviation.grid_layers import Neuron
from polyrelu.proofs.deviation.outside import outside_node
from polyrelu.proofs.deviation.points import BestPoint
from polyrelu.proofs.deviation.problem import ExactPoint, Problem
from polyrelu.proofs.deviation.rounded import RoundedLeaf, RoundedRule
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.support.budget import Budget
from polyrelu.support.prices import (
    price_of_boxes,
    price_of_forms,
    price_of_generators,
    price_of_program,
)
from polyrelu.support.progress import Progress, report

__all__ = ["ExactSearch"]


@dataclass(slots=True)
class _Node:
    """A box with signs of neurons, in the order in which they were cut.

    `num_open` is the number of open neurons of the box around it, and `num_idle` the number of cuts
    of boxes in a row that have not made it smaller.
    """

    low: ExactPoint
    high: ExactPoint
    cuts: dict[Neuron, int]
    num_open: int = 0
    num_idle: int = 0
    record: BoundsNode | None = None
    parts: tuple[_Node, ...] = ()


@dataclass(slots=True)
class ExactSearch:
    """A search that can be stopped after each node.

    Parameters
    ----------
    problem
        What is maximised, with one row in each clause.
    best
        The best point of each clause, which the search improves; all have one if they are parts of
        one question.
    rule
        The rule in integers.

    Attributes
    ----------
    num_nodes
        Number of nodes that were looked at.
    """

    problem: Problem
    best: Sequence[BestPoint]
    rule: RoundedRule
    num_nodes: int = 0
    _waiting: list[tuple[Fraction, int, _Node]] = field(default_factory=list)
    _number: int = 0
    _root: _Node = field(init=False)

    def start(self, tree: BoxTree) -> None:
        """Begin with the boxes of a tree."""
        nodes = dict[int, _Node]()
        for number, low, high in tree.boxes(self.problem.lower, self.problem.upper):
            nodes[number] = _Node(low, high, {})
        for number, cut in tree.cuts.items():
            nodes[number].record = BoundsNode("cut", coordinate=cut.coordinate)
            nodes[number].parts = nodes[cut.below], nodes[cut.above]
        self._root = nodes[0]
        for node in nodes.values():
            if node.record is None:
                self._push(node, Fraction(0))

    def run(self, budget: Budget, progress: Progress | None = None) -> None:
        """Look at nodes until none is left."""
        while self._waiting:
            _, _, node = heapq.heappop(self._waiting)
            budget.spend(price_of_forms(self.problem.size, len(node.low)))
            self._visit(node, budget)
            self.num_nodes += 1
            done, left = self.num_nodes, len(self._waiting)
            report(progress, "looking for the exact maximum", done, done + left, "nodes")

    def log(self) -> TreeLog:
        """Return the nodes for a certificate."""
        found, stack = TreeLog(), [self._root]
        while stack:
            node = stack.pop()
            assert node.record is not None  # no node is left
            found.add(node.record)
            stack += node.parts[::-1]
        return found

    @property
    def num_leaves(self) -> int:
        """The number of leaves of the tree."""
        number, stack = 0, [self._root]
        while stack:
            node = stack.pop()
            number += not node.parts
            stack += node.parts
        return number

    def _excess(self, bounds: Sequence[Fraction]) -> Fraction:
        """Return by how much bounds of the rows exceed the best values, at most."""
        return max(
            bounds[row] - best.known_value
            for (row,), best in zip(self.problem.clauses, self.best, strict=True)
        )

    def _visit(self, node: _Node, budget: Budget) -> None:
        """Close a node, or cut it."""
        leaf = self.rule.leaf(node.low, node.high, node.cuts, check=budget.check_others)
        budget.spend(price_of_generators(self.problem.size, leaf.num_new_generators))
        if leaf.is_empty:
            node.record = BoundsNode("leaf")
            return
        bounds = [leaf.upper_bound(row) for row in self.problem.rows]
        excess = self._excess(bounds)
        if excess <= 0:
            node.record = BoundsNode("leaf")
            return
        limits = [best.known_value for best in self.best]
        box = node.low, node.high
        outside = outside_node(self.problem, self.rule, leaf, box, bounds, limits)
        if outside is not None:
            node.record = outside
            return
        neurons = leaf.open_neurons
        if not neurons:
            self._solve(node, leaf, budget)
        elif len(neurons) <= SETTINGS.max_open_neurons or not self._may_cut(node, len(neurons)):
            self._cut_sign(node, neurons[0], excess)
        else:
            self._cut_box(node, excess, budget)

    def _solve(self, node: _Node, leaf: RoundedLeaf, budget: Budget) -> None:
        """Find the exact maxima of the rows; a leaf lists them all."""
        exact = ExactLeaf(self.rule, leaf, node.low, node.high, node.cuts)
        listed = []
        for number, ((row,), best) in enumerate(zip(self.problem.clauses, self.best, strict=True)):
            budget.spend(price_of_program(1 + len(node.cuts), len(node.low)))
            found = exact.maximize(self.problem.rows[row], best.known_value)
            if found.point is not None and _exceeds(found, best):
                best.offer_exactly([tuple(found.point)])
            listed.append((number, 0, found.multiples))
        node.record = BoundsNode("exact", multiples=listed)

    def _may_cut(self, node: _Node, num_open: int) -> bool:
        """Whether cutting the box may help: it does not where many neurons are 0 at one point."""
        node.num_idle = node.num_idle + 1 if num_open >= node.num_open else 0
        node.num_open = num_open
        if node.num_idle > SETTINGS.max_idle_cuts * len(node.low):
            return False
        is_small = len(node.low) <= SETTINGS.max_split_inputs
        return is_small and any(a < b for a, b in zip(node.low, node.high, strict=True))

    def _cut_sign(self, node: _Node, neuron: Neuron, excess: Fraction) -> None:
        node.record = BoundsNode("sign", neuron=neuron)
        cuts = ({**node.cuts, neuron: sign} for sign in (1, -1))
        self._divide(node, [_Node(node.low, node.high, part) for part in cuts], excess)

    def _cut_box(self, node: _Node, excess: Fraction, budget: Budget) -> None:
        """Cut a box where the losses of the relaxation are largest."""
        pair = self.problem.double
        budget.spend(price_of_boxes(1, 10 * self.problem.size * sum(pair.widths)))
        corners = ([nearest_vector(end)] for end in (node.low, node.high))
        boxes = Boxes(*map(np.array, corners))
        found = bound_boxes(pair, boxes)
        score = found.split_scores(self.problem.deciding_rows(found.upper))[0]
        movable = [a < b for a, b in zip(node.low, node.high, strict=True)]
        j = int(np.where(movable, score, -np.inf).argmax())
        at = ((node.low[j] + node.high[j]) / 2,)
        node.record = BoundsNode("cut", coordinate=j)
        history = node.num_open, node.num_idle
        first = _Node(node.low, node.high[:j] + at + node.high[j + 1 :], node.cuts, *history)
        second = _Node(node.low[:j] + at + node.low[j + 1 :], node.high, node.cuts, *history)
        self._divide(node, [first, second], excess)

    def _divide(self, node: _Node, parts: list[_Node], excess: Fraction) -> None:
        """Put the parts of a node into the tree; they are visited later."""
        node.parts = tuple(parts)
        for part in parts:
            self._push(part, excess)

    def _push(self, node: _Node, excess: Fraction) -> None:
        self._number += 1
        heapq.heappush(self._waiting, (-excess, self._number, node))


def _exceeds(found: ExactMaximum, best: BestPoint) -> bool:
    return found.value is not None and found.value > best.known_value
