"""Lipschitz constants of outputs on a polyhedron, by a search for the longest gradient.

Nodes are boxes with signs of neurons. Their gradients lie in intervals, whose norm bounds the
constant there; the node with the largest bound is cut first. A node whose neurons all have known
signs, and which has an interior, is part of a cell: its bound is the norm of a gradient. So when
such a node comes first, its bound is the constant, exactly (docs/theory/deviation.md, Claim 9).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from polyrelu.certificate import BoundsCertificate, BoundsNode, LipschitzBoundClaim, TreeLog
from polyrelu.errors import DomainError
from polyrelu.exact import LinearProgram, Optimal, RationalMatrix, as_float
from polyrelu.network import Network
from polyrelu.proofs.deviation.arguments import corners_of
from polyrelu.proofs.deviation.exact_leaf import ExactLeaf
from polyrelu.proofs.deviation.grid_layers import Neuron
from polyrelu.proofs.deviation.rounded import RoundedLeaf, RoundedRule
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_forms, price_of_gradients
from polyrelu.support.progress import Progress, report
from polyrelu.version import __version__

__all__ = ["LipschitzSearch", "Norm"]

Norm: TypeAlias = Literal["1", "2", "inf"]
_Point: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class _Settings:
    """Constants of the search.

    Attributes
    ----------
    neurons_to_cut
        Maximum number of open neurons of a node that is cut by sign; others are cut at a
        coordinate.
    stored_forms
        Number of nodes whose forms are kept.
    """

    neurons_to_cut: int = 4
    stored_forms: int = 2_000


_SETTINGS = _Settings()


@dataclass(slots=True)
class _Node:
    """A node: box, signs, what follows it, and what closes it."""

    lower: _Point
    upper: _Point
    cuts: dict[Neuron, int]
    bound: Fraction = Fraction(0)
    leaf: RoundedLeaf | None = None
    record: BoundsNode = field(default_factory=lambda: BoundsNode("leaf"))
    below: list[int] = field(default_factory=list)


class LipschitzSearch:
    """A search for the longest gradient of some outputs of a plain stack.

    Parameters
    ----------
    network
        A plain stack.
    coordinates
        A bounded polyhedron with an interior, whose sides are among its inequalities.
    outputs
        The outputs.
    norm
        The norm of gradients.

    Attributes
    ----------
    at_least, at_most
        Bounds of the constant, squared for the 2-norm.
    num_nodes, num_leaves
        The numbers of nodes and leaves so far.
    """

    def __init__(
        self, network: Network, coordinates: DomainCoordinates, outputs: Sequence[int], norm: Norm
    ) -> None:
        if coordinates.domain.equations:
            raise DomainError("the domain has no interior, so that gradients mean nothing on it")
        self.network, self.norm, self.outputs = network, norm, tuple(outputs)
        self.rule, self.inside = RoundedRule(network, None, coordinates), coordinates.inside
        self._chosen = RationalMatrix.identity(network.num_outputs).take(rows=self.outputs)
        #: The positive and the negative part of the weights of each layer.
        self._parts = [
            (weight.relu(), -(-weight).relu())
            for weight in map(network.weight, range(1, network.depth + 1))
        ]
        self.nodes = list[_Node]()
        self._heap = list[tuple[Fraction, int]]()
        #: A point with the gradient of an output there, the longest one so far.
        self._best: tuple[Fraction, _Point, _Point] | None = None
        lower, upper = corners_of(coordinates)
        self._root = lower, upper
        self._price = price_of_forms(network.num_parameters, len(lower))
        self._price += price_of_gradients(len(self.outputs), network.num_parameters)

    def run(self, gap: Fraction, budget: Budget, progress: Progress | None = None) -> None:
        """Cut nodes until the bounds are apart by at most a share of the lower one."""
        if not self.nodes:
            budget.spend(self._price)
            self._add(*self._root, {})
            self._try(self.inside)
        while self._heap and self.at_most > (1 + gap) * self.at_least:
            budget.spend(2 * self._price)
            self._expand(heapq.heappop(self._heap)[1])
            details = {"at least": as_float(self.at_least), "at most": as_float(self.at_most)}
            report(progress, "looking for long gradients", self.num_nodes, None, "nodes", details)

    @property
    def at_least(self) -> Fraction:
        """The longest gradient that was found."""
        return Fraction(0) if self._best is None else self._best[0]

    @property
    def at_most(self) -> Fraction:
        """What no gradient exceeds."""
        largest = max((-bound for bound, _ in self._heap[:1]), default=Fraction(0))
        return max(largest, self.at_least)

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    @property
    def num_leaves(self) -> int:
        """The number of leaves."""
        return sum(not node.below for node in self.nodes)

    def certificate(self, at_most: Fraction) -> BoundsCertificate:
        """Return the certificate of the lower bound, and of an upper bound that is proved."""
        domain = self.rule.coordinates.domain
        claim = LipschitzBoundClaim(
            self.network, domain, self.outputs, self.norm, self.at_least, at_most
        )
        tool = {"tool": f"polyrelu {__version__}"}
        points = self._inside_points()
        return BoundsCertificate(claim, self.rule.grid, points, self._log(), (), tool)

    def _add(self, lower: _Point, upper: _Point, cuts: dict[Neuron, int]) -> int:
        """Add a node, and return its number."""
        node, number = _Node(lower, upper, cuts), len(self.nodes)
        node.leaf = self.rule.leaf(lower, upper, cuts)
        self.nodes.append(node)
        if not node.leaf.is_empty:
            node.bound = max(map(self._norm_of, self._reaches(node.leaf)))
            heapq.heappush(self._heap, (-node.bound, number))
        if len(self.nodes) > _SETTINGS.stored_forms:
            node.leaf = None  # made again where the node is cut
        if self._is_small and not cuts:
            self._try(tuple((low + high) / 2 for low, high in zip(lower, upper, strict=True)))
        return number

    def _try(self, point: _Point) -> None:
        """Take the gradients at a point inside where no neuron is 0."""
        if any(_value(row, point) <= 0 for row in map(self.rule.slack, self.rule.oblique)):
            return
        activations, signs = RationalMatrix.column(point), list[list[int]]()
        for number in range(1, self.network.num_hidden_layers + 1):
            z = self.network.weight(number) @ activations + self.network.bias(number)
            signs.append(z.signs()[:, 0].tolist())
            activations = z.relu()
        if not any(0 in layer for layer in signs):
            self._take(point, self._gradients(signs))

    def _take(self, point: _Point, gradients: Sequence[_Point]) -> None:
        """Note the longest of some gradients at a point, if it is longer than those before."""
        longest = max(gradients, key=self._norm_of)
        length = self._norm_of(longest)
        if self._best is None or length > self._best[0]:
            self._best = length, point, longest

    def _expand(self, number: int) -> None:
        """Cut a node, or decide it if no neuron is open."""
        node = self.nodes[number]
        if node.leaf is None:
            node.leaf = self.rule.leaf(node.lower, node.upper, node.cuts)
        open_neurons = [
            (0, layer, i)
            for layer, (signs, _) in enumerate(node.leaf.signs, 1)
            for i, sign in enumerate(signs)
            if sign == 0
        ]
        if not open_neurons:
            self._decide(node)
        elif len(open_neurons) <= _SETTINGS.neurons_to_cut or not self._is_small:
            node.record = BoundsNode("sign", neuron=open_neurons[0])
            for side in (1, -1):
                cuts = {**node.cuts, open_neurons[0]: side}
                node.below.append(self._add(node.lower, node.upper, cuts))
        else:
            self._halve(node)
        node.leaf = None

    @property
    def _is_small(self) -> bool:
        """Whether boxes are cut."""
        return len(self.inside) <= SETTINGS.max_split_inputs

    def _halve(self, node: _Node) -> None:
        """Cut a node at the middle of its widest side, compared with the domain."""
        ends = zip(node.lower, node.upper, *self._root, strict=True)
        widths = [(high - low) / (top - bottom) for low, high, bottom, top in ends]
        k = widths.index(max(widths))
        middle = (node.lower[k] + node.upper[k]) / 2
        node.record = BoundsNode("cut", coordinate=k)
        upper = (*node.upper[:k], middle, *node.upper[k + 1 :])
        lower = (*node.lower[:k], middle, *node.lower[k + 1 :])
        node.below.append(self._add(node.lower, upper, node.cuts))
        node.below.append(self._add(lower, node.upper, node.cuts))

    def _decide(self, node: _Node) -> None:
        """Find a point inside of a node without open neurons, or show that there is none."""
        assert node.leaf is not None
        exact = ExactLeaf(self.rule, node.leaf, node.lower, node.upper, node.cuts)
        point, multiples = _inside_of(exact.constraints, node.lower, node.upper)
        if point is None:
            node.record = BoundsNode("exact", multiples=[(0, 0, multiples)])
            return
        signs = [own for own, _ in node.leaf.signs]
        self._take(point, self._gradients(signs))

    def _gradients(self, signs: Sequence[Sequence[int]]) -> list[_Point]:
        """Return the gradients of all outputs by the signs of hidden neurons."""
        found = self._chosen
        for number in range(self.network.depth, 0, -1):
            if number <= len(signs):
                found = found.scale_columns([int(sign > 0) for sign in signs[number - 1]])
            found = found @ self.network.weight(number)
        return found.rows()

    def _reaches(self, leaf: RoundedLeaf) -> list[_Point]:
        """Return bounds of the absolute values of all derivatives, a list for each output.

        From the outputs down, derivatives by the activations of a layer lie between `low` and
        `high`, shape (outputs, neurons).
        """
        low = high = self._chosen
        for number in range(self.network.depth, 0, -1):
            if number <= len(leaf.signs):
                signs = leaf.signs[number - 1][0]
                low, high = -_masked(-low, signs), _masked(high, signs)
            positive, negative = self._parts[number - 1]
            low, high = low @ positive + high @ negative, high @ positive + low @ negative
        pairs = zip((-low).rows(), high.rows(), strict=True)
        return [tuple(map(max, *pair)) for pair in pairs]

    def _norm_of(self, derivatives: Sequence[Fraction]) -> Fraction:
        """Return the norm, squared for the 2-norm."""
        sizes = [abs(x) for x in derivatives]
        if self.norm == "inf":
            return max(sizes)
        return sum((x * x if self.norm == "2" else x for x in sizes), Fraction(0))

    def _inside_points(self) -> tuple[_Point, ...]:
        """Return a point inside, and two points that show the lower bound."""
        if self._best is None:
            return self.inside, self.inside, self.inside
        _, point, gradient = self._best
        if self.norm == "2":
            direction = gradient
        elif self.norm == "1":
            direction = tuple(Fraction(-1 if x < 0 else 1) for x in gradient)
        else:
            longest = max(range(len(gradient)), key=lambda j: abs(gradient[j]))
            direction = tuple(Fraction(int(j == longest)) for j in range(len(gradient)))
        if not any(direction):
            direction = tuple(Fraction(1) for _ in gradient)
        return self.inside, point, self._step(point, direction, gradient)

    def _step(self, point: _Point, direction: _Point, gradient: _Point) -> _Point:
        """Return a point in a direction, so near that the gradient is the same."""
        values = {i: self.network(point)[i] for i in self.outputs}
        change = sum((g * v for g, v in zip(gradient, direction, strict=True)), Fraction(0))
        domain, step = self.rule.coordinates.domain, Fraction(1)
        while True:
            end = tuple(x + step * v for x, v in zip(point, direction, strict=True))
            if domain.contains(end):
                found = self.network(end)
                if any(abs(found[i] - values[i]) == abs(step * change) for i in self.outputs):
                    return end
            step /= 2

    def _log(self) -> TreeLog:
        """Return the nodes in prefix order."""
        log, stack = TreeLog(), [0]
        while stack:
            node = self.nodes[stack.pop()]
            log.add(node.record)
            stack += reversed(node.below)
        return log


def _masked(upper: RationalMatrix, signs: Sequence[int]) -> RationalMatrix:
    """Return upper ends of derivatives by preactivations, given those by activations.

    Open neurons have some slope between 0 and 1.
    """
    active = upper.scale_columns([int(sign > 0) for sign in signs])
    return active + upper.relu().scale_columns([int(sign == 0) for sign in signs])


def _value(row: Sequence[Fraction], point: _Point) -> Fraction:
    """Return the value of a row in (1, y) at a point."""
    return row[0] + sum((a * y for a, y in zip(row[1:], point, strict=True)), Fraction(0))


def _inside_of(
    constraints: Mapping[int, Sequence[Fraction]], lower: _Point, upper: _Point
) -> tuple[_Point | None, Mapping[int, Fraction]]:
    """Return a point of a box where inequalities are strict, or multiples that show there is none.

    The variables are y and t; every inequality is at least t, and so is the distance from each side
    as a share of the width.
    """
    size = len(lower)
    constants = {n: row[0] for n, row in constraints.items() if not any(row[1:])}
    for number, constant in constants.items():
        if constant < 0:
            return None, {number: Fraction(1)}
    program = LinearProgram(size + 1, [*lower, None], [*upper, 1])
    numbers = [n for n in constraints if n not in constants]
    rows = [[*(-x for x in constraints[n][1:]), Fraction(1)] for n in numbers]
    right = [constraints[n][0] for n in numbers]
    for k, (low, high) in enumerate(zip(lower, upper, strict=True)):
        for side, end in ((-1, -low), (1, high)):
            rows.append([*(Fraction(side * int(j == k)) for j in range(size)), high - low])
            right.append(end)
    program.add_inequalities(rows, right)
    found = program.maximize([*([0] * size), 1])
    assert isinstance(found, Optimal)
    if found.value > 0:
        return found.point[:size], {}
    multiples = found.multipliers.rows.items()
    return None, {numbers[n]: x for n, x in multiples if n < len(numbers) and x}
