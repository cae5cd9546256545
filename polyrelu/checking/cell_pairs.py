"""Injectivity of a network by its cells, claim injective."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import Form, bits_of_form, pivot_columns, reduce_into
from polyrelu.checking.expressions import JointNetwork
from polyrelu.checking.injectivity import part_of_claim, the_kernel
from polyrelu.checking.meter import Meter, cells_of, require
from polyrelu.checking.pairs import read_domain
from polyrelu.checking.text import OneOf
from polyrelu.checking.theorems import PRIMES, Case, theorem
from polyrelu.checking.trees import SIGN, SPLIT, ListedNodes, Node, Tree

# ==== 5.4 Injectivity by cells: theorem cell-pairs ====

CELL_LEAF = {"signs": [[SIGN]], "leaf": "cell"}


class CellMap(NamedTuple):
    """The inequalities of a leaf, each row >= 0 at (y, 1), and the outputs there as such rows."""

    slacks: list[list[int]]
    outputs: list[list[int]]


@theorem(
    "cell-pairs",
    kind="injective",
    page="theory/injectivity.md",
    evidence={
        "cells": {"prime": PRIMES, "nodes": [OneOf((SPLIT, CELL_LEAF))]},
        "pairs": {"pairs": [[[int]]]},
    },
    says={
        "cells": "the leaves of the tree cover the domain, and the network is affine and injective "
        "on each of them",
        "pairs": "on each pair of leaves equal outputs imply equal points",
    },
)
def cell_pairs(case: Case) -> None:
    """On each leaf, and on each pair of leaves, different points have different outputs."""
    meter, part = case.meter, part_of_claim(case)
    domain = read_domain(case.claim["domain"], part.widths[0], meter)
    evidence, size = case.hypothesis("cells"), domain.dimension()
    prime, cells = int(evidence["prime"]), list[CellMap]()
    joint = JointNetwork([part], domain, [], meter)

    def close(node: Node, _: Any) -> None:
        """The network is affine on the leaf, and its matrix has full rank."""
        require(not node.terms, "all signs known", f"{len(node.terms)} of them unknown")
        slacks = [dense(form, size, meter) for form, _ in node.state.slacks]
        cell = CellMap(slacks, [dense(node.substituted(f), size, meter) for f in joint.outputs])
        basis = dict[int, int]()
        for row in cell.outputs:
            reduce_into(basis, [x % prime for x in row[:-1]], prime, meter)
        require(len(basis) == size, f"rank {size} modulo {prime}", str(len(basis)))
        cells.append(cell)

    nodes = ListedNodes(evidence["nodes"], meter)
    Tree(joint, list(range(len(joint.atoms))), nodes).check(CELL_LEAF, close)
    nodes.check_end()
    listed, num_pairs = case.hypothesis("pairs")["pairs"], len(cells) * (len(cells) - 1) // 2
    require(len(listed) == num_pairs, f"{num_pairs} pairs", str(len(listed)))
    pairs = ((cells[i], cells[j]) for j in range(len(cells)) for i in range(j))
    for number, (pair, supports) in enumerate(zip(pairs, listed, strict=True)):
        meter.step = f"pairs[{number}]"
        CellPair(*pair, size, meter).check(supports)


def dense(form: Form, size: int, meter: Meter) -> list[int]:
    """A form in the coordinates as a row, its constant last."""
    meter.pay(2 * (size + 1))
    meter.hold(cells_of(2 * size, bits_of_form(form)))
    return [form.get(symbol, 0) for symbol in (*range(1, size + 1), 0)]


class CellPair:
    """Two leaves: the rows over (u, v, 1), u in the first and v in the second one.

    In order: the inequalities at u, those at v, the differences of the outputs, and 1.
    """

    def __init__(self, one: CellMap, two: CellMap, size: int, meter: Meter) -> None:
        self.one, self.two, self.size, self.meter = one, two, size, meter
        self.first_output = len(one.slacks) + len(two.slacks)
        self.last = self.first_output + len(one.outputs)
        meter.pay(20 + 2 * len(one.outputs))
        self.zeros = set(range(self.first_output, self.last))  # rows that are 0 at a collision

    def row(self, i: int) -> list[int]:
        """A row over (u, v, 1)."""
        self.meter.pay(6 * (self.size + 1))
        nothing = [0] * self.size
        if i < len(self.one.slacks):
            row = self.one.slacks[i]
            return [*row[:-1], *nothing, row[-1]]
        if i < self.first_output:
            row = self.two.slacks[i - len(self.one.slacks)]
            return [*nothing, *row]
        if i == self.last:
            return [*nothing, *nothing, 1]
        row, other = (cell.outputs[i - self.first_output] for cell in (self.one, self.two))
        return [*row[:-1], *(-x for x in other[:-1]), row[-1] - other[-1]]

    def check(self, supports: list[list[int]]) -> None:
        """Dependences show a contradiction, or rows that are 0, so that u = v."""
        for number, chosen in enumerate(supports):
            multipliers = self.dependence(chosen)
            used = [i for i, x in zip(chosen, multipliers, strict=True) if x]
            if self.last in used:
                require(number == len(supports) - 1, "nothing after a contradiction", "more")
                return
            self.zeros.update(used)
        self.check_equal()

    def dependence(self, chosen: Sequence[int]) -> list[int]:
        """The multipliers, >= 0 on rows that need not be 0, of one of which the others follow."""
        self.meter.units(1_000)
        self.meter.hold(4 * len(chosen) * (self.size + 1))
        require(max(chosen, default=0) <= self.last, f"rows up to {self.last}")
        require(len({*chosen}) == len(chosen), "different rows")
        rows = [self.row(i) for i in chosen]
        multipliers = the_kernel([list(row) for row in zip(*rows, strict=True)], self.meter)
        self.meter.release(4 * len(chosen) * (self.size + 1))
        require(bool(multipliers), "rows with one dependence, up to a factor")
        signed = [x for i, x in zip(chosen, multipliers, strict=True) if i not in self.zeros]
        same_sign = all(x >= 0 for x in signed) or all(x <= 0 for x in signed)
        require(same_sign, "a dependence with multipliers >= 0")
        return multipliers

    def check_equal(self) -> None:
        """u = v follows from the rows that are 0."""
        size = len(self.zeros) + self.size
        self.meter.pay(8 * size * (self.size + 1))
        equations = [self.row(i) for i in sorted(self.zeros)]
        differences = [[0] * (2 * self.size + 1) for _ in range(self.size)]
        for j, row in enumerate(differences):
            row[j], row[self.size + j] = 1, -1
        rank = len(pivot_columns(equations, self.meter))
        both = len(pivot_columns([*equations, *differences], self.meter))
        require(both == rank, "equal points from equal outputs", "perhaps different ones")
