"""Bounds of inverse Lipschitz constants, claim inverse-lipschitz."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from polyrelu.checking.cell_pairs import CELL_LEAF
from polyrelu.checking.expressions import JointNetwork
from polyrelu.checking.injectivity import orthant, part_of_claim
from polyrelu.checking.meter import Meter, longest, quote, require
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.pairs import Domain, check_inside, outputs, read_domain, slack_of
from polyrelu.checking.text import RATIONAL, OneOf, rational, rationals
from polyrelu.checking.theorems import Case, theorem
from polyrelu.checking.trees import SPLIT, ListedNodes, Node, Tree, bits_of

# ==== 5.5 Inverse Lipschitz constants: theorem inverse-lipschitz ====

LAYER_BOUND = {"at-least": RATIONAL, "nodes": [OneOf((SPLIT, CELL_LEAF))]}


@theorem(
    "inverse-lipschitz",
    kind="inverse-lipschitz",
    page="theory/inverse_lipschitz.md",
    evidence={
        "interior": {"x": [RATIONAL]},
        "layers": {"layers": [LAYER_BOUND]},
        "pair": {"x": [RATIONAL], "y": [RATIONAL], "f": [RATIONAL], "g": [RATIONAL]},
    },
    says={
        "interior": "the point is strictly inside the domain",
        "layers": "the squared bounds of the layers hold on all cells, and their product is as "
        "large as claimed",
        "pair": "two points of the domain were evaluated, and are as near as claimed",
    },
)
def inverse_lipschitz(case: Case) -> None:
    """A bound from below for each layer, and one from above by two points."""
    meter, part = case.meter, part_of_claim(case)
    domain = read_domain(case.claim["domain"], part.widths[0], meter)
    check_inside(domain, case.hypothesis("interior")["x"], meter)
    listed, product = case.hypothesis("layers")["layers"], Fraction(1)
    require(part.is_plain(), "layers that read only the layer before")
    require(len(listed) == len(part.layers), f"{len(part.layers)} layers", str(len(listed)))
    here = domain
    for number, (layer, entry) in enumerate(zip(part.layers, listed, strict=True), 1):
        if number > 1:
            here = orthant(part.widths[number - 1], meter)
        meter.step = f"layers[{number - 1}]"
        bound = rational(entry["at-least"], meter)
        require(bound > 0, "bounds that are positive", quote(entry["at-least"]))
        is_affine = number == len(part.layers) and part.last == "affine"
        LayerBound(layer, here, meter).check(bound, entry["nodes"], is_affine=is_affine)
        meter.pay(1, bits_of(product), bits_of(bound))
        product *= bound
    meter.step = "layers"
    wanted = rational(case.claim["at-least"], meter)
    require(wanted > 0, "a bound that is positive", quote(case.claim["at-least"]))
    require(product >= wanted, f"at least {quote(case.claim['at-least'])}", "a smaller product")
    check_quotient(case, part, domain)


def check_quotient(case: Case, part: Network, domain: Domain) -> None:
    """|f(x) - f(y)|^2 <= at-most |x - y|^2 for two different points."""
    meter, pair = case.meter, case.hypothesis("pair")
    x, y, f, g = (rationals(pair[key], meter) for key in ("x", "y", "f", "g"))
    for one, stated, key in ((x, f, "f(x)"), (y, g, "f(y)")):
        domain.check_point(one, meter)
        require(outputs(part, one, meter) == stated, f"the outputs {key}", "other numbers")
    require(x != y, "two different points", "one point twice")
    limit = rational(case.claim["at-most"], meter)
    short, long = squared_distance(f, g, meter), squared_distance(x, y, meter)
    meter.pay(4, bits_of(limit), bits_of(long))
    require(short <= limit * long, f"at most {quote(case.claim['at-most'])}", "a larger quotient")


def squared_distance(x: Sequence[Fraction], y: Sequence[Fraction], meter: Meter) -> Fraction:
    """|x - y|^2."""
    bits = sum(bits_of(a) for a in (*x, *y))
    meter.pay_divisions(8 * len(x), bits, bits)
    total = Fraction(0)
    for a, b in zip(x, y, strict=True):
        total += (a - b) ** 2
    return total


class LayerBound:
    """The rows of a layer in the coordinates of its domain, and the lengths there."""

    def __init__(self, layer: Layer, domain: Domain, meter: Meter) -> None:
        self.layer, self.domain, self.meter, self.size = layer, domain, meter, domain.dimension()
        bits = max(domain.scale.bit_length(), longest(form.values() for form in domain.inputs))
        symbols = range(1, self.size + 1)
        meter.pay(2 * (len(layer.rows) + len(domain.inputs)) * (self.size + 1))
        forms = [
            slack_of([*(-w for w in row), 0], domain.inputs, domain.scale, bits, meter)
            for row in layer.rows
        ]
        self.rows = [[form.get(symbol, 0) for symbol in symbols] for form in forms]
        lengths = [[form.get(symbol, 0) for symbol in symbols] for form in domain.inputs]
        self.lengths = self.gram(lengths)

    def gram(self, rows: Sequence[Sequence[int]]) -> list[list[int]]:
        """The sum of the squares of rows, as a symmetric matrix."""
        bits, size = longest(rows), self.size
        self.meter.pay(size * size * (len(rows) + 1), bits, bits)
        self.meter.hold(2 * size * size)
        columns = list(zip(*rows, strict=True)) or [()] * size
        return [[sum(a * b for a, b in zip(c, e, strict=True)) for e in columns] for c in columns]

    def check(self, bound: Fraction, nodes: list[Any], *, is_affine: bool) -> None:
        """The squared bound holds: everywhere for an affine map, with 1/2 for rows that switch."""
        everything = (1 << len(self.rows)) - 1
        if is_affine:
            require(not nodes, "no nodes for an affine layer", str(len(nodes)))
            self.check_definite([everything], bound)
            return
        patterns, always = self.patterns(nodes), everything
        for pattern in patterns:
            always &= pattern
        for pattern in sorted(patterns):
            self.check_definite([pattern, always], 2 * bound)

    def patterns(self, nodes: list[Any]) -> set[int]:
        """The neurons that are on, for each leaf of a tree that covers the domain."""
        network = Network([len(self.layer.rows[0]), len(self.rows)], [self.layer], "relu", "")
        joint, found = JointNetwork([network], self.domain, [], self.meter), set[int]()
        place = self.meter.step

        def close(node: Node, _: Any) -> None:
            """No neuron changes its sign on the leaf."""
            require(not node.terms, "all signs known", f"{len(node.terms)} of them unknown")
            self.meter.hold(4 + len(self.rows) // 64)
            found.add(sum(1 << j for j, f in enumerate(joint.outputs) if node.substituted(f)))

        listed = ListedNodes(nodes, self.meter)
        Tree(joint, list(range(len(joint.atoms))), listed).check(CELL_LEAF, close)
        self.meter.step = place
        listed.check_end()
        return found

    def check_definite(self, patterns: Sequence[int], bound: Fraction) -> None:
        """The sum of the squares of the rows of all patterns is at least bound times lengths."""
        self.meter.pay(4 * len(self.rows))
        rows = [row for pattern in patterns for j, row in enumerate(self.rows) if pattern >> j & 1]
        total, p, q = self.gram(rows), bound.numerator, bound.denominator
        factor = p * self.layer.denominator**2
        bits = max(longest(total), longest(self.lengths))
        self.meter.pay(2 * self.size**2, bits, factor.bit_length() + q.bit_length())
        matrix = [
            [q * a - factor * b for a, b in zip(one, two, strict=True)]
            for one, two in zip(total, self.lengths, strict=True)
        ]
        fact = "squares of rows that are as large as the bound of the layer asks for"
        require(is_semidefinite(matrix, self.meter), fact, "less in some direction")
        self.meter.release(2 * self.size**2)


def is_semidefinite(matrix: list[list[int]], meter: Meter) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue.

    Bareiss with pivots on the diagonal: all numbers are minors, divisions are exact.
    """
    rest, last, bits, number = matrix, 1, longest(matrix), 0
    while rest:
        size = (number + 1) * (bits + 10)
        meter.pay(10 + 2 * len(rest) ** 2, size, size)
        meter.pay_divisions(len(rest) ** 2, 2 * size, size)
        place = next((k for k, row in enumerate(rest) if row[k]), None)
        if place is None:
            return not any(map(any, rest))
        pivot = rest[place]
        if pivot[place] < 0:
            return False
        kept = [k for k in range(len(rest)) if k != place]
        rest = [
            [(pivot[place] * rest[k][c] - rest[k][place] * pivot[c]) // last for c in kept]
            for k in kept
        ]
        last, number = pivot[place], number + 1
    return True
