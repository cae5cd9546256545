"""Bounds of inverse Lipschitz constants of networks by their cells, claim inverse-lipschitz."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from polyrelu.checking.cell_pairs import CELL_LEAF, dense
from polyrelu.checking.expressions import JointNetwork
from polyrelu.checking.injectivity import part_of_claim
from polyrelu.checking.lipschitz import check_quotient, is_semidefinite
from polyrelu.checking.meter import Meter, longest, quote, require
from polyrelu.checking.pairs import Domain, read_domain
from polyrelu.checking.text import RATIONAL, ROW, OneOf, integers, rational
from polyrelu.checking.theorems import Case, theorem
from polyrelu.checking.trees import SPLIT, ListedNodes, Node, Tree, bits_of

# ==== 5.7 Inverse Lipschitz constants by cells: theorem monotone ====


@theorem(
    "monotone",
    kind="inverse-lipschitz",
    page="theory/inverse_lipschitz.md",
    evidence={
        "map": {
            "rows": [ROW],
            "at-least": RATIONAL,
            "at-most": RATIONAL,
            "nodes": [OneOf((SPLIT, CELL_LEAF))],
        },
        "pair": {"x": [RATIONAL], "y": [RATIONAL], "f": [RATIONAL], "g": [RATIONAL]},
    },
    says={
        "map": "after the map all cells of a tree that covers the domain stretch every direction "
        "forwards, and the map is as short as the claimed bound asks for",
        "pair": "two points of the domain were evaluated, and are as near as claimed",
    },
)
def monotone(case: Case) -> None:
    """A linear map A of the outputs after which the network is monotone, and two points."""
    meter, part = case.meter, part_of_claim(case)
    domain = read_domain(case.claim["domain"], part.widths[0], meter)
    evidence, size = case.hypothesis("map"), domain.dimension()
    rows = [integers(text, meter) for text in evidence["rows"]]
    meter.step = "map"
    fits = len(rows) == size and all(len(row) == part.widths[-1] for row in rows)
    require(fits, f"{size} rows of {part.widths[-1]} numbers", "another shape")
    low, high = (rational(evidence[key], meter) for key in ("at-least", "at-most"))
    require(min(low, high) > 0, "bounds that are positive", "one that is not")
    joint = JointNetwork([part], domain, [], meter)
    meter.step = "map"
    check = MapCheck(rows, domain, joint.denominator, meter)
    check.check_length(high)

    def close(node: Node, _: Any) -> None:
        """The symmetric part of A M is at least as large as the bound, M the map on the leaf."""
        require(not node.terms, "all signs known", f"{len(node.terms)} of them unknown")
        before = meter.cells
        columns = [dense(node.substituted(form), size, meter) for form in joint.outputs]
        check.check_leaf(columns, low)
        meter.release(meter.cells - before)

    nodes = ListedNodes(evidence["nodes"], meter)
    Tree(joint, list(range(len(joint.atoms))), nodes).check(CELL_LEAF, close)
    nodes.check_end()
    meter.step = "map"
    wanted = rational(case.claim["at-least"], meter)
    meter.pay(4, bits_of(low) + bits_of(high), bits_of(wanted) + bits_of(low))
    require(wanted > 0, "a bound that is positive", quote(case.claim["at-least"]))
    require(wanted <= low**2 / high, f"at least {quote(case.claim['at-least'])}", "less")
    check_quotient(case, part, domain)


class MapCheck:
    """The map A of the outputs, in the coordinates of a domain."""

    def __init__(
        self, rows: list[list[int]], domain: Domain, denominator: int, meter: Meter
    ) -> None:
        self.rows, self.denominator, self.meter = rows, denominator, meter
        self.size, self.scale = domain.dimension(), domain.scale
        inputs = [dense(form, self.size, meter)[:-1] for form in domain.inputs]
        self.lengths = self.products(list(zip(*inputs, strict=True)), inputs)

    def products(
        self, left: Sequence[Sequence[int]], right: Sequence[Sequence[int]]
    ) -> list[list[int]]:
        """The product of two matrices, with as many rows and columns as there are coordinates."""
        self.meter.pay(self.size**2 * (len(right) + 1), longest(left), longest(right))
        self.meter.hold(2 * self.size**2)
        columns = list(zip(*right, strict=True)) or [()] * self.size
        return [[sum(a * b for a, b in zip(row, c, strict=True)) for c in columns] for row in left]

    def check_length(self, high: Fraction) -> None:
        """|A' u|^2 <= high |x|^2 for the transpose A' and all directions u."""
        squares = self.products(self.rows, list(zip(*self.rows, strict=True)))
        factor = high.denominator * self.scale**2
        matrix = self.difference(self.lengths, high.numerator, squares, factor)
        require(is_semidefinite(matrix, self.meter), "a map that is as short", "a longer one")

    def check_leaf(self, columns: Sequence[Sequence[int]], low: Fraction) -> None:
        """u A M u >= low |x|^2 for all directions u."""
        product = self.products(self.rows, [row[:-1] for row in columns])
        twice = [
            [a + b for a, b in zip(row, column, strict=True)]
            for row, column in zip(product, zip(*product, strict=True), strict=True)
        ]
        factor = 2 * low.numerator * self.denominator
        matrix = self.difference(twice, low.denominator * self.scale**2, self.lengths, factor)
        require(is_semidefinite(matrix, self.meter), "a monotone map", "less in some direction")

    def difference(
        self, left: list[list[int]], p: int, right: list[list[int]], q: int
    ) -> list[list[int]]:
        """p left - q right."""
        bits = max(longest(left), longest(right))
        self.meter.pay(2 * self.size**2, bits, max(p.bit_length(), q.bit_length()))
        return [
            [p * a - q * b for a, b in zip(one, two, strict=True)]
            for one, two in zip(left, right, strict=True)
        ]
