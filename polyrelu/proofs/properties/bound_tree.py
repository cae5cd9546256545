"""Proofs of clauses by a tree of cuts whose leaves hold no numbers (FORMAT.md, section 5.8).

Each node is a box of inputs, with signs of some neurons. The fixed rule of the certificates decides
whether a node is a leaf; it computes in integers, so that nothing has to be checked twice. Other
nodes are cut at the middle of the coordinate on which the rows of a clause depend most. Where few
neurons are open, their signs are cut instead. Where none is open, the networks are affine, and
exact linear programs close the node, or find a point where a clause fails.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from polyrelu.certificate import (
    BoundsCertificate,
    BoundsNode,
    DecisionsClaim,
    HoldsClaim,
    LinearRow,
    TreeLog,
)
from polyrelu.exact import Infeasible, LinearProgram, Optimal, RationalMatrix
from polyrelu.formats import Clause, ClauseRow
from polyrelu.network import Network
from polyrelu.outcomes import ProofStatistics
from polyrelu.proofs.deviation.grid_layers import Neuron
from polyrelu.proofs.deviation.rounded import RoundedLeaf, RoundedRule
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates, NodePolyhedron, homogeneous
from polyrelu.support.budget import Budget, CertificateLimit
from polyrelu.support.limits import DEPTH_LIMIT_OF_TREES
from polyrelu.support.prices import price_of_program, price_of_table
from polyrelu.support.progress import Progress, report
from polyrelu.support.typing import Point
from polyrelu.version import __version__

__all__ = ["BoundTree", "bound_at_root", "box_around", "has_box", "linear_rows"]


@dataclass(frozen=True, slots=True)
class BoundTreeSettings:
    """Numbers of the search.

    Attributes
    ----------
    max_cut_signs
        Largest number of open neurons for which signs are cut.
    max_coordinates
        Maximum dimension of a domain whose box is cut.
    max_nodes
        Maximum number of nodes.
    max_parameters_of_bounds
        Maximum number of weights and biases of networks for which an undecided answer has a bound.
    """

    max_cut_signs: int = 3
    max_coordinates: int = 12
    max_nodes: int = 400
    max_parameters_of_bounds: int = 200_000


SETTINGS = BoundTreeSettings()


def has_box(networks: Sequence[Network], coordinates: DomainCoordinates) -> bool:
    """Whether claims about clauses can be certified by a tree of cuts.

    The networks are plain stacks of one depth and one kind of last layer, and all coordinates have
    bounds.
    """
    kinds = {(network.depth, network.last) for network in networks}
    sides = NodePolyhedron.at_root(coordinates).sides()
    return (
        all(network.is_plain for network in networks)
        and len(kinds) == 1
        and coordinates.dimension > 0
        and len(sides) == 2 * coordinates.dimension
    )


def box_around(coordinates: DomainCoordinates) -> tuple[Point, Point]:
    """Return the corners of the box of a domain, in its coordinates, which all have bounds."""
    sides = NodePolyhedron.at_root(coordinates).sides()
    places = range(1, 1 + coordinates.dimension)
    return tuple(sides[j, 1] for j in places), tuple(sides[j, -1] for j in places)


def bound_at_root(
    networks: Sequence[Network], coordinates: DomainCoordinates, clauses: Sequence[Clause]
) -> Fraction | None:
    """Return a bound of the excess of all clauses on a domain, proved by the rule at its box.

    None where there is no box, or where this takes long.
    """
    size = sum(network.num_parameters for network in networks)
    if size > SETTINGS.max_parameters_of_bounds or not has_box(networks, coordinates):
        return None
    other = networks[1] if len(networks) > 1 else None
    sizes = networks[0].num_outputs, 0 if other is None else other.num_outputs
    rule = RoundedRule(networks[0], other, coordinates, _partners_in_order(networks))
    leaf = rule.leaf(*box_around(coordinates))
    return max(
        min(leaf.upper_bound(_linear_row(row, sizes)) / _scale(row) for row in clause.rows)
        for clause in clauses
    )


def linear_rows(clause: Clause, sizes: Sequence[int]) -> tuple[LinearRow, ...]:
    """Return the rows of a clause as they stand in a claim.

    `sizes` are the numbers of outputs of the first network and of the second one, which may be 0.
    """
    return tuple(_linear_row(row, sizes) for row in clause.rows)


def _linear_row(row: ClauseRow, sizes: Sequence[int]) -> LinearRow:
    """Return the negative of a row, times the common denominator of its coefficients."""
    f, g, x = dict[int, Fraction](), dict[int, Fraction](), dict[int, Fraction]()
    common = _scale(row)
    for place, coefficient in row.coefficients:
        if place < sizes[0]:
            f[place] = -common * coefficient
        elif place < sum(sizes):
            g[place - sizes[0]] = -common * coefficient
        else:
            x[place - sum(sizes)] = -common * coefficient
    return LinearRow(f, g, x, -common * row.constant, row.is_strict)


def _scale(row: ClauseRow) -> int:
    """Return the common denominator of the coefficients of a row."""
    return math.lcm(*(coefficient.denominator for _, coefficient in row.coefficients))


@dataclass(slots=True)
class _Node:
    """A node that is still to be visited: its box, and the signs of neurons, from the root on."""

    depth: int
    lower: Point
    upper: Point
    signs: dict[Neuron, int] = field(default_factory=dict)


class _FailingPoint(Exception):  # noqa: N818 - no error: it ends a search
    """Raised where a clause fails at a point, in coordinates."""

    def __init__(self, point: Point) -> None:
        self.point = point


class _TooManyCoordinatesError(Exception):
    """Raised where a box has more coordinates than cuts can deal with."""


class BoundTree:
    """A search for a tree of cuts.

    Parameters
    ----------
    claim
        What is claimed, about networks for which `has_box` holds.
    coordinates
        The domain.
    clauses
        The clauses of the claim.

    Attributes
    ----------
    search
        The work so far.
    """

    def __init__(
        self,
        claim: HoldsClaim | DecisionsClaim,
        coordinates: DomainCoordinates,
        clauses: Sequence[Sequence[LinearRow]],
    ) -> None:
        self._claim, self._coordinates, self._clauses = claim, coordinates, clauses
        self._networks = networks = list(claim.networks.values())
        self._matching = _partners_in_order(networks)
        self._rule = RoundedRule(networks[0], claim.other, coordinates, self._matching)
        self._log, self.search = TreeLog(), ProofStatistics()
        self._price = price_of_table(sum(network.num_parameters for network in networks))

    def run(
        self, budget: Budget, progress: Progress | None = None
    ) -> BoundsCertificate | Point | None:
        """Return a certificate, a point where a clause fails, or None if the tree is too large."""
        waiting = [_Node(0, *box_around(self._coordinates))]
        while waiting:
            node = waiting.pop()
            if self.search.num_nodes >= SETTINGS.max_nodes:
                return None
            if node.depth > DEPTH_LIMIT_OF_TREES:
                raise CertificateLimit(f"more than {DEPTH_LIMIT_OF_TREES} cuts below each other")
            budget.spend(self._price)
            try:
                record, children = self._visit(node, budget)
            except _TooManyCoordinatesError:
                return None
            except _FailingPoint as found:
                return self._coordinates.to_inputs(homogeneous(list(found.point)))
            self._log.add(record)
            waiting += reversed(children)
            self._count(node, not children, progress)
        unverified = {"tool": f"polyrelu {__version__}"}
        return BoundsCertificate(
            self._claim,
            self._rule.grid,
            (self._coordinates.inside,),
            self._log,
            self._matching,
            unverified,
        )

    def _count(self, node: _Node, is_leaf: bool, progress: Progress | None) -> None:
        self.search.num_nodes += 1
        self.search.depth = max(self.search.depth, node.depth)
        if is_leaf:
            self.search.num_leaves += 1
            self.search.closed += 2.0**-node.depth
        details = {"percent closed": 100 * self.search.closed}
        report(progress, "cutting boxes", self.search.num_nodes, None, "nodes", details)

    def _visit(self, node: _Node, budget: Budget) -> tuple[BoundsNode, list[_Node]]:
        """Return the record of a node, and the nodes below it."""
        leaf = self._rule.leaf(node.lower, node.upper, node.signs, check=budget.check_others)
        if leaf.is_closed(self._clauses):
            return BoundsNode("leaf"), []
        open_neurons = _open_neurons(leaf)
        if not open_neurons:
            budget.spend(price_of_program(len(node.signs) + 1, self._coordinates.dimension))
            affine = _AffineLeaf(self._networks, self._rule, node, leaf, self._coordinates)
            multiples = affine.closing_multiples(self._clauses)
            if multiples is not None:
                return BoundsNode("exact", multiples=multiples), []
        elif len(open_neurons) <= SETTINGS.max_cut_signs:
            return self._cut_sign(node, open_neurons[0])
        return self._cut_box(node, leaf)

    def _cut_sign(self, node: _Node, neuron: Neuron) -> tuple[BoundsNode, list[_Node]]:
        children = [
            _Node(node.depth + 1, node.lower, node.upper, {**node.signs, neuron: sign})
            for sign in (1, -1)
        ]
        return BoundsNode("sign", neuron=neuron), children

    def _cut_box(self, node: _Node, leaf: RoundedLeaf) -> tuple[BoundsNode, list[_Node]]:
        """Cut the coordinate on which the rows of an open clause depend most."""
        if self._coordinates.dimension > SETTINGS.max_coordinates:
            raise _TooManyCoordinatesError
        reach = self._dependence(leaf)
        widths = [high - low for low, high in zip(node.lower, node.upper, strict=True)]
        if not any(widths):
            raise CertificateLimit("the rule does not close a box of one point")
        j = max(range(len(reach)), key=lambda k: (widths[k] > 0, reach[k], widths[k]))
        middle = (node.lower[j] + node.upper[j]) / 2
        below = (*node.upper[:j], middle, *node.upper[j + 1 :])
        above = (*node.lower[:j], middle, *node.lower[j + 1 :])
        depth = node.depth + 1
        children = [
            _Node(depth, node.lower, below, node.signs),
            _Node(depth, above, node.upper, node.signs),
        ]
        return BoundsNode("cut", coordinate=j), children

    def _dependence(self, leaf: RoundedLeaf) -> list[Fraction]:
        """Return how much the first open clause depends on each coordinate within the box."""
        clause = next(rows for rows in self._clauses if not any(map(leaf.holds, rows)))
        return [sum(parts) for parts in zip(*map(leaf.input_parts, clause), strict=True)]


def _partners_in_order(
    networks: Sequence[Network],
) -> tuple[tuple[tuple[int, Fraction] | None, ...], ...]:
    """Return no list where widths are equal; otherwise neurons with one index are partners."""
    if len(networks) == 1 or networks[0].widths == networks[1].widths:
        return ()
    one = Fraction(1)
    return tuple(
        tuple((i, one) if i < width else None for i in range(other))
        for width, other in zip(networks[0].widths[1:-1], networks[1].widths[1:-1], strict=True)
    )


def _open_neurons(leaf: RoundedLeaf) -> list[Neuron]:
    """Return the neurons without a sign, layer by layer."""
    return [
        (which, layer, i)
        for layer, both in enumerate(leaf.signs, 1)
        for which, signs in enumerate(both)
        for i, sign in enumerate(signs)
        if sign == 0
    ]


class _AffineLeaf:
    """A node on which the networks are affine, with exact forms in its coordinates."""

    def __init__(
        self,
        networks: Sequence[Network],
        rule: RoundedRule,
        node: _Node,
        leaf: RoundedLeaf,
        coordinates: DomainCoordinates,
    ) -> None:
        self._node, self._size = node, coordinates.dimension
        self._inputs = coordinates.inputs.rows()
        self._outputs = list[list[tuple[Fraction, ...]]]()
        self._slacks = [list(row) for row in rule.slacks]
        cut = dict[Neuron, tuple[Fraction, ...]]()
        for which, network in enumerate(networks):
            activations = [coordinates.inputs]
            for layer in range(1, network.depth + 1):
                forms = network.weight(layer) @ activations[-1] + _constant(
                    network.bias(layer), activations[-1].ncols
                )
                if layer <= network.num_hidden_layers:
                    signs = leaf.signs[layer - 1][which]
                    rows = forms.rows()
                    cut |= {(which, layer, i): rows[i] for i in range(forms.nrows)}
                    forms = forms.scale_rows([int(sign > 0) for sign in signs])
                activations.append(forms)
            self._outputs.append(activations[-1].rows())
        self._slacks += [
            [sign * entry for entry in cut[neuron]] for neuron, sign in node.signs.items()
        ]

    def closing_multiples(
        self, clauses: Sequence[Sequence[LinearRow]]
    ) -> list[tuple[int, int, Mapping[int, Fraction]]] | None:
        """Return multiples that close the node, or None; raise if a clause fails at a point."""
        found = []
        for number, clause in enumerate(clauses):
            forms = [self._form(row) for row in clause]
            if any(
                _is_met(self._largest_on_box(form), row)
                for form, row in zip(forms, clause, strict=True)
            ):
                continue
            closing = self._closing(clause, forms)
            if closing is None:
                self._look_for_point(clause, forms)
                return None
            found.append((number, *closing))
        return found

    def _form(self, row: LinearRow) -> list[Fraction]:
        """Return a row as an affine form in (1, y)."""
        total = [row.constant, *[Fraction()] * self._size]
        outputs = [*self._outputs, []][:2]
        for part, forms in ((row.f, outputs[0]), (row.g, outputs[1]), (row.x, self._inputs)):
            for i, coefficient in part.items():
                total = [a + coefficient * b for a, b in zip(total, forms[i], strict=True)]
        return total

    def _largest_on_box(self, form: Sequence[Fraction]) -> Fraction:
        return form[0] + sum(
            max(a * low, a * high)
            for a, low, high in zip(form[1:], self._node.lower, self._node.upper, strict=True)
        )

    def _program(self, extra: int = 0) -> LinearProgram:
        """Return the inequalities of the domain and the cuts by sign, over y."""
        program = LinearProgram(
            self._size + extra,
            [*self._node.lower, *[None] * extra],
            [*self._node.upper, *[1] * extra],
        )
        left = [[*(-a for a in row[1:]), *[0] * extra] for row in self._slacks]
        if left:
            program.add_inequalities(left, [row[0] for row in self._slacks])
        return program

    def _closing(
        self, clause: Sequence[LinearRow], forms: Sequence[Sequence[Fraction]]
    ) -> tuple[int, Mapping[int, Fraction]] | None:
        """Return a row that holds on the node, with multiples of inequalities that show it."""
        program = self._program()
        for number, (row, form) in enumerate(zip(clause, forms, strict=True)):
            answer = program.maximize(form[1:])
            if isinstance(answer, Infeasible):
                return number, self._scaled(answer.multipliers.rows, form)
            if isinstance(answer, Optimal) and _is_met(answer.value + form[0], row):
                return number, {i: a for i, a in answer.multipliers.rows.items() if a}
        return None

    def _scaled(
        self, multipliers: Mapping[int, Fraction], form: Sequence[Fraction]
    ) -> dict[int, Fraction]:
        """Return multiples of inequalities without a common point that make a form negative."""
        total = [Fraction()] * (1 + self._size)
        for i, multiplier in multipliers.items():
            total = [a + multiplier * b for a, b in zip(total, self._slacks[i], strict=True)]
        below = -self._largest_on_box(total)  # positive
        factor = (abs(self._largest_on_box(form)) + 1) / below
        return {i: factor * a for i, a in multipliers.items() if a}

    def _look_for_point(
        self, clause: Sequence[LinearRow], forms: Sequence[Sequence[Fraction]]
    ) -> None:
        """Raise `_FailingPoint` if all rows of a clause fail at a point of the node."""
        program = self._program(extra=1)
        # A strict row fails where it is 0 or positive, another one where it is positive.
        program.add_inequalities(
            [
                [*(-a for a in form[1:]), 0 if row.is_strict else 1]
                for row, form in zip(clause, forms, strict=True)
            ],
            [form[0] for form in forms],
        )
        answer = program.maximize([*[0] * self._size, 1])
        has_slack = any(not row.is_strict for row in clause)
        if isinstance(answer, Optimal) and (answer.value > 0 or not has_slack):
            raise _FailingPoint(answer.point[:-1])


def _constant(bias: RationalMatrix, width: int) -> RationalMatrix:
    """Return a bias as constant forms."""
    return bias.beside(RationalMatrix.zeros(bias.nrows, width - 1))


def _is_met(largest: Fraction, row: LinearRow) -> bool:
    return largest < 0 if row.is_strict else largest <= 0
