"""Certificates of bounds of small networks: documents by hand, and trees of all signs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any, TypeAlias

from polyrelu.certificate import BoundsCertificate, BoundsClaim, BoundsNode, LinearRow, TreeLog
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays
from polyrelu.proofs.deviation.exact_leaf import ExactLeaf
from polyrelu.proofs.deviation.grid_layers import Neuron
from polyrelu.proofs.deviation.rounded import RoundedLeaf, RoundedRule
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from tests.generators.tree_documents import Document

__all__ = [
    "SignTree",
    "document",
    "perturbed",
    "random_layers",
    "rows_of_deviation",
    "sides",
]

Point: TypeAlias = Sequence[Fraction | int]


def document(
    claim: BoundsClaim,
    points: Sequence[Point],
    nodes: Sequence[BoundsNode],
    grid: int = 30,
    matching: Sequence[Sequence[tuple[int, Fraction] | None]] = (),
) -> Document:
    """Return a certificate as header, nodes and footer."""
    log = TreeLog()
    for node in nodes:
        log.add(node)
    exact = tuple(tuple(map(Fraction, point)) for point in points)
    partners = tuple(map(tuple, matching))
    certificate = BoundsCertificate(claim, grid, exact, log, partners)
    return [json.loads(line) for line in certificate.lines()]


def _number(random: Random, kind: int) -> Fraction:
    if kind == 0:
        return Fraction(random.randint(-3, 3))
    if kind == 3:
        large = random.choice([1, -1]) * 2 ** random.randint(0, 70) + random.randint(0, 3)
        digits = 10 ** random.randint(1, 30)
        small = Fraction(random.randint(-9, 9), random.randint(1, digits))
        return random.choice([Fraction(large), small, Fraction(random.gauss(0, 1))])
    if kind == 1:
        return Fraction(random.randint(-100, 100), random.choice([1, 2, 3, 7, 10, 64]))
    return Fraction(random.gauss(0, 1))


def random_layers(
    random: Random, widths: Sequence[int], last: str = "affine", kind: int | None = None
) -> Network:
    """Return a network with small integers, fractions, floats (kinds 0 to 2), some of them 0.

    Numbers of kind 3 are from tiny to huge.
    """
    kind = random.randint(0, 2) if kind is None else kind
    layers = list[tuple[Any, Any]]()
    for width, size in pairwise(widths):
        rows = [
            [0 if random.random() < 0.1 else _number(random, kind) for _ in range(width)]
            for _ in range(size)
        ]
        layers.append((rows, [_number(random, kind) for _ in range(size)]))
    return from_arrays(layers, last="relu" if last == "relu" else "affine")


def perturbed(random: Random, network: Network, size: Fraction) -> Network:
    """Return a network whose weights differ by at most so much."""

    def near(x: Fraction) -> Fraction:
        return x + size * Fraction(random.randint(-8, 8), 8)

    return from_arrays(
        [
            (
                [list(map(near, row)) for row in network.weight(number).rows()],
                list(map(near, network.bias(number).entries())),
            )
            for number in range(1, network.depth + 1)
        ],
        last=network.last,
    )


def rows_of_deviation(num_outputs: int) -> list[LinearRow]:
    """Return f_i - g_i and g_i - f_i for all outputs."""
    return [
        LinearRow({i: Fraction(s)}, {i: Fraction(-s)}) for i in range(num_outputs) for s in (1, -1)
    ]


def sides(rule: RoundedRule) -> tuple[list[Fraction], list[Fraction]]:
    """Return the box around a domain, by its inequalities in one coordinate."""
    lower, upper = dict[int, Fraction](), dict[int, Fraction]()
    for constant, *row in rule.slacks:
        used = [k for k, x in enumerate(row) if x]
        if len(used) == 1:
            (k,), end = used, -constant / row[used[0]]
            if row[k] > 0:
                lower[k] = max(end, lower.get(k, end))
            else:
                upper[k] = min(end, upper.get(k, end))
    size = rule.coordinates.dimension
    return [lower[k] for k in range(size)], [upper[k] for k in range(size)]


class SignTree:
    """A tree that cuts open neurons until there are none, with the exact maximum of some rows.

    Each row is a clause of its own. `value` is the largest value of all rows, `point` an input
    where it is attained.
    """

    def __init__(
        self, first: Network, second: Network | None, domain: Polyhedron, rows: Sequence[LinearRow]
    ) -> None:
        self.rule = RoundedRule(first, second, DomainCoordinates.of(domain))
        self.rows, self.nodes = rows, list[BoundsNode]()
        self.value: Fraction | None = None
        self.point: tuple[Fraction, ...] = ()
        self.lower, self.upper = sides(self.rule)
        self._visit({})

    def _visit(self, cuts: dict[Neuron, int]) -> None:
        leaf = self.rule.leaf(self.lower, self.upper, cuts)
        if leaf.is_empty:
            self.nodes.append(BoundsNode("leaf"))
            return
        neuron = _open_neuron(leaf)
        if neuron is None:
            self._close(leaf, cuts)
            return
        self.nodes.append(BoundsNode("sign", neuron=neuron))
        for side in (1, -1):
            self._visit({**cuts, neuron: side})

    def _close(self, leaf: RoundedLeaf, cuts: dict[Neuron, int]) -> None:
        exact, listed = ExactLeaf(self.rule, leaf, self.lower, self.upper, cuts), []
        for clause, row in enumerate(self.rows):
            best = exact.maximize(row, Fraction(0))
            if best.multiples:
                listed.append((clause, 0, best.multiples))
            if best.value is None or best.point is None:
                continue
            if self.value is None or best.value > self.value:
                self.value, self.point = best.value, self._input(best.point)
        self.nodes.append(BoundsNode("exact", multiples=listed))

    def _input(self, y: Sequence[Fraction]) -> tuple[Fraction, ...]:
        matrix = self.rule.coordinates.inputs
        return tuple(
            constant + sum((a * t for a, t in zip(row, y, strict=True)), Fraction(0))
            for constant, *row in matrix.rows()
        )


def _open_neuron(leaf: RoundedLeaf) -> Neuron | None:
    for number, signs in enumerate(leaf.signs, 1):
        for which, part in enumerate(signs):
            if 0 in part:
                return which, number, part.index(0)
    return None
