"""Lipschitz constants by intervals of gradients, on the leaves of trees of cuts."""

from __future__ import annotations

from fractions import Fraction
from operator import mul
from typing import Any

from polyrelu.checking.arithmetic import check_indices
from polyrelu.checking.bounds import (
    COVERED,
    BoundsTree,
    Leaf,
    NumberedMultiples,
    check_cuts,
    domain_of_bounds,
    enter_bounds,
)
from polyrelu.checking.clauses import ClauseRow
from polyrelu.checking.meter import Meter, longest, quote, require
from polyrelu.checking.networks import Layer
from polyrelu.checking.pairs import Domain, check_inside, outputs
from polyrelu.checking.text import rational, rationals
from polyrelu.checking.theorems import Case
from polyrelu.checking.trees import bits_of

# -- Lipschitz constants

#: The row 0: with multiples of inequalities it shows that a node has no interior.
NOTHING = ClauseRow((), (), (), Fraction(0), is_strict=False)


class GradientLeaf(Leaf):
    """A leaf on which gradients are bounded, or which has no interior."""

    def __init__(self, tree: BoundsTree, record: Any) -> None:
        kind = record[0] if record else ""
        has_slopes, inherits = kind in ("relaxed", "shown"), kind in ("inherited", "intervals")
        require(not has_slopes, "nodes without slopes in claims about gradients", "others")
        fact = "nodes without inherited intervals in claims about gradients"
        require(not inherits, fact, "others")
        super().__init__(tree, record)
        claim, self.layers = tree.case.claim, tree.case.network.layers
        self.outputs, self.norm = claim["outputs"], claim["norm"]
        self.bound = rational(claim["at-most"], self.meter)

    def check(self, shown: int) -> None:
        """The gradients of all outputs are as short as claimed, or the node has no interior."""
        if 0 in self.listed:
            self.check_flat(self.read_multiples(self.listed[0][1]))
            return
        fact = "gradients on the leaf as short as claimed"
        for i in self.outputs:
            size, scale = self.size(i)
            self.meter.pay(4, longest([[size, scale]]), bits_of(self.bound))
            require(size <= self.bound * scale, fact, f"longer ones of output {i}")

    def check_flat(self, multiples: NumberedMultiples) -> None:
        """Inequalities add up to at most 0, so that they are 0 on the node, or it is empty."""
        largest = self.value(NOTHING, multiples)
        fact = "inequalities that add up to at most 0"
        require(largest <= 0, fact, "a positive number")
        if largest == 0:
            forms = [self.affine_inequality(n)[0] for n, x in multiples if x and self.maps]
            bends = any(x for form in forms for symbol, x in form.items() if symbol)
            require(bends, "an inequality that is not constant", "constants only")

    def size(self, i: int) -> tuple[int, int]:
        """A bound of the norm of gradients of an output, or of its square, over a denominator."""
        scale, signs = 1, [own for own, _ in self.forms.signs]
        low = [int(k == i) for k in range(len(self.layers[-1].rows))]
        high = [*low]
        for number in range(len(self.layers), 0, -1):
            layer = self.layers[number - 1]
            if number <= len(signs):
                low, high = masked_ends(low, high, signs[number - 1])
            low, high = gradient_below(layer, low, high, self.meter)
            scale *= layer.denominator
        reach = [max(-x, y) for x, y in zip(low, high, strict=True)]
        bits = longest([reach, [scale]])
        self.meter.pay(len(reach) + 2, bits, bits)
        if self.norm == "2":
            return sum(map(mul, reach, reach)), scale * scale
        return (sum(reach) if self.norm == "1" else max(reach)), scale


def masked_ends(low: list[int], high: list[int], signs: list[int]) -> tuple[list[int], list[int]]:
    """Intervals of derivatives by activations as those by preactivations."""
    return (
        [x if s > 0 else min(x, 0) if s == 0 else 0 for x, s in zip(low, signs, strict=True)],
        [x if s > 0 else max(x, 0) if s == 0 else 0 for x, s in zip(high, signs, strict=True)],
    )


def gradient_below(
    layer: Layer, low: list[int], high: list[int], meter: Meter
) -> tuple[list[int], list[int]]:
    """Intervals of derivatives by what a layer reads, times its denominator."""
    width = len(layer.rows[0])
    meter.pay(4 * len(layer.rows) * width, longest([low, high]), layer.bits)
    below, above = [0] * width, [0] * width
    for row, x, y in zip(layer.rows, low, high, strict=True):
        if x or y:
            products = [(w * x, w * y) if w > 0 else (w * y, w * x) for w in row]
            below = [s + p for s, (p, _) in zip(below, products, strict=True)]
            above = [s + q for s, (_, q) in zip(above, products, strict=True)]
    return below, above


def check_quotient_of_points(case: Case, domain: Domain) -> None:
    """A point inside, and two points whose outputs are as far from each other as claimed."""
    claim, meter = case.claim, case.meter
    texts = case.hypothesis("points")
    require(len(texts) == 3, "3 points", str(len(texts)))
    check_inside(domain, texts[0], meter)
    x, y = (rationals(point, meter) for point in texts[1:])
    for point in (x, y):
        domain.check_point(point, meter)
    bound = rational(claim["at-least"], meter)
    require(x != y or bound <= 0, "two different points", "one point twice")
    f, g = (outputs(case.network, point, meter) for point in (x, y))
    bits = sum(map(bits_of, (*x, *y, *f, *g)))
    meter.pay_divisions(8 * (len(x) + len(f)), bits, bits)
    steps = [abs(a - b) for a, b in zip(x, y, strict=True)]
    apart = max(abs(f[i] - g[i]) for i in claim["outputs"])
    fact = f"outputs that are as far apart as {quote(claim['at-least'])} says"
    if claim["norm"] == "2":
        far = apart**2 >= bound * sum((s * s for s in steps), Fraction(0))
    else:
        distance = max(steps) if claim["norm"] == "1" else sum(steps, Fraction(0))
        far = apart >= bound * distance
    require(far, fact, "nearer ones")


def check_lipschitz(case: Case) -> None:
    """Points show the lower bound, gradients on the leaves the upper one."""
    domain, claim = domain_of_bounds(case), case.claim
    require(bool(claim["outputs"]), "an output", "none")
    check_indices(claim["outputs"], case.network.widths[-1], "outputs")
    check_quotient_of_points(case, domain)
    check_cuts(case, domain, [[NOTHING]], GradientLeaf)


enter_bounds(
    "lipschitz",
    "a point is inside the domain, and the outputs at two points of it are as far apart as claimed",
    f"the gradients of the outputs are bounded as claimed {COVERED}",
    check_lipschitz,
)
