"""Domains of claims about pairs of networks, and the claim not-equivalent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import (
    Form,
    add_to,
    bits_of_form,
    common_denominator,
    dot,
    without_zeros,
)
from polyrelu.checking.claims import WHOLE_SPACE
from polyrelu.checking.meter import Meter, cells_of, longest, require, well_formed
from polyrelu.checking.networks import Network
from polyrelu.checking.text import RATIONAL, integers, rationals
from polyrelu.checking.theorems import Case, theorem

# ==== 3.8 Domains of pairs, and theorem point ====

#: Of a single coordinate: a bound from below (True) or from above.
Sides = dict[tuple[int, bool], Fraction]


class Domain(NamedTuple):
    """{x: a x <= c, e x = f} in the coordinates y, the variables without pivot.

    `inputs` and the `slacks` c - a x are forms over `scale`; y_k is the entry free[k - 1] of x.
    """

    scale: int
    inputs: list[Form]
    slacks: list[Form]
    sides: Sides
    inequalities: list[list[int]]
    equations: list[list[int]]
    free: list[int]

    def dimension(self) -> int:
        """The number of coordinates y."""
        return len(self.free)

    def check_point(self, x: Sequence[Fraction], meter: Meter) -> int:
        """The point satisfies all rows; returns the common denominator of its coordinates."""
        require(len(x) == len(self.inputs), "a point of the domain", f"{len(x)} coordinates")
        scale = common_denominator(x, "a common denominator of a point", meter)
        point = scaled_point(x, scale, meter)
        point.append(-scale)
        rows = [*self.inequalities, *self.equations]
        meter.pay(len(point) * len(rows), longest([point]), longest(rows))
        fact = "a point of the domain"
        require(all(dot(row, point) <= 0 for row in self.inequalities), fact, "an inequality fails")
        require(not any(dot(row, point) for row in self.equations), fact, "an equation fails")
        return scale


def scaled_point(x: Sequence[Fraction], scale: int, meter: Meter) -> list[int]:
    """The coordinates times a common denominator."""
    meter.pay_divisions(2 * len(x), scale.bit_length(), longest([[entry.numerator for entry in x]]))
    return [entry.numerator * (scale // entry.denominator) for entry in x]


def read_domain(document: Any, num_inputs: int, meter: Meter) -> Domain:
    """The equations are in reduced echelon form: each gives its first variable by the free ones."""
    inequalities, equations = (
        [integers(row, meter) for row in document[key]] for key in ("inequalities", "equations")
    )
    for row in (*inequalities, *equations):
        message = f"rows need {num_inputs} coefficients and a right-hand side"
        well_formed(len(row) == num_inputs + 1, message, "claim.domain")
    meter.step = "claim.domain"
    pivots = pivots_of_echelon(equations)
    is_pivot = set(pivots)
    free = [j for j in range(num_inputs) if j not in is_pivot]
    reciprocals = [Fraction(1, row[j]) for row, j in zip(equations, pivots, strict=True)]
    scale = common_denominator(reciprocals, "a common multiple of the pivots", meter)
    substituted = len(equations) * (len(free) + 1)
    meter.pay(num_inputs + 4 * substituted, longest(equations), scale.bit_length())
    grown = longest(equations) + scale.bit_length()
    meter.hold(cells_of(2 * (num_inputs + substituted), grown))
    x = {j: {k: scale} for k, j in enumerate(free, 1)}
    for row, j in zip(equations, pivots, strict=True):
        factor = scale // row[j]
        forms = {k: -factor * row[i] for k, i in enumerate(free, 1)}
        x[j] = without_zeros({0: factor * row[-1], **forms})
    inputs = [x[j] for j in range(num_inputs)]
    bits = max(scale.bit_length(), *map(bits_of_form, inputs))
    slacks = [slack_of(row, inputs, scale, bits, meter) for row in inequalities]
    sides = sides_of(slacks, meter)
    return Domain(scale, inputs, slacks, sides, inequalities, equations, free)


#: R^n, in a rule that needs slacks and sides only.
EVERYWHERE = Domain(1, [], [], {}, [], [], [])


def domain_of_competitors(case: Case) -> Domain:
    """The domain of a claim about competitors, which agree where all slacks are positive.

    For R^n nothing is paid.
    """
    document = case.claim["domain"]
    if document == WHOLE_SPACE:
        return EVERYWHERE
    domain = read_domain(document, case.network.widths[0], case.meter)
    require(not domain.equations, "a domain without equations", f"{len(domain.equations)} of them")
    return domain


def check_inside(domain: Domain, texts: list[str], meter: Meter) -> list[Fraction]:
    """A point at which all inequalities that are not constant are strict; its coordinates."""
    x = rationals(texts, meter)
    scale = domain.check_point(x, meter)
    point = scaled_point(x, scale, meter)
    y = [scale, *(point[j] for j in domain.free)]
    bits = longest([y])
    for slack in domain.slacks:
        meter.pay(2 + len(slack), bits, longest([slack.values()]))
        inside = not slack or sum(a * y[symbol] for symbol, a in slack.items()) > 0
        require(inside, "a point strictly inside", "a point on the boundary")
    return x


def pivots_of_echelon(equations: list[list[int]]) -> list[int]:
    """The pivots, if the equations are in reduced echelon form with positive pivots."""
    fact, pivots = "equations in reduced echelon form, positive pivots", list[int]()
    for row in equations:
        pivot = next((j for j, x in enumerate(row[:-1]) if x), -1)
        require(pivot > (pivots[-1] if pivots else -1), fact, "pivots that do not ascend")
        require(row[pivot] > 0, fact, "a negative pivot")
        pivots.append(pivot)
    for j in pivots:
        count = sum(1 for row in equations if row[j])
        require(count == 1, fact, "a column with a pivot and more")
    return pivots


def slack_of(
    row: Sequence[int], inputs: Sequence[Form], scale: int, bits: int, meter: Meter
) -> Form:
    """c - a x >= 0 as a form, times the scale; `bits` bound the inputs and the scale."""
    used = [(a, form) for a, form in zip(row[:-1], inputs, strict=True) if a]
    meter.pay(2 + len(row) + sum(2 + len(form) for _, form in used), longest([row]), bits)
    slack = {0: scale * row[-1]}
    for a, form in used:
        add_to(slack, form, -a)
    meter.hold(cells_of(2 * len(slack), bits_of_form(slack)))
    return without_zeros(slack)


def sides_of(slacks: Sequence[Form], meter: Meter) -> Sides:
    """The best bounds of single coordinates by inequalities with one coordinate."""
    sides: Sides = {}
    for slack in slacks:
        coordinates = [j for j in slack if j]
        if len(coordinates) != 1:
            continue
        (j,), constant = coordinates, slack.get(0, 0)
        bits = longest([[slack[j], constant]])
        meter.pay(37)
        meter.pay_divisions(3, bits, bits)
        limit, is_lower = Fraction(-constant, slack[j]), slack[j] > 0
        old = sides.get((j, is_lower), limit)
        sides[j, is_lower] = max(old, limit) if is_lower else min(old, limit)
    return sides


def check_pair(one: Network, two: Network) -> None:
    """Two networks can be compared."""
    require(one.widths[0] == two.widths[0], "equally many inputs", f"{one}; {two}")
    require(one.widths[-1] == two.widths[-1], "equally many outputs", f"{one}; {two}")


@theorem(
    "point",
    kind="not-equivalent",
    page="theory/equivalence.md",
    evidence={"point": {"x": [RATIONAL]}, "values": {"f": [RATIONAL], "g": [RATIONAL]}},
    says={
        "point": "the point belongs to the domain",
        "values": "both networks were evaluated there, and differ",
    },
)
def point(case: Case) -> None:
    """The point is in the domain, and the outputs are as stated, and differ."""
    meter = case.meter
    meter.step = "claim"
    check_pair(case.network, case.other)
    domain = read_domain(case.claim["domain"], case.network.widths[0], meter)
    x = rationals(case.hypothesis("point")["x"], meter)
    domain.check_point(x, meter)
    values = case.hypothesis("values")
    for key, network in (("f", case.network), ("g", case.other)):
        stated = rationals(values[key], meter)
        require(outputs(network, x, meter) == stated, f"the outputs {key}(x)", "other numbers")
    require(values["f"] != values["g"], "different outputs", "equal ones")


def least_common_multiple(numbers: Sequence[int], meter: Meter) -> int:
    """The least common multiple, paid for step by step."""
    common = 1
    for x in numbers:
        if x != common:
            meter.pay_divisions(2, common.bit_length(), x.bit_length())
            common = math.lcm(common, x)
    return common


def outputs(network: Network, x: Sequence[Fraction], meter: Meter) -> list[Fraction]:
    """The exact outputs at a point, over common denominators."""
    return outputs_and_signs(network, x, meter)[0]


def outputs_and_signs(
    network: Network, x: Sequence[Fraction], meter: Meter
) -> tuple[list[Fraction], list[list[int]]]:
    """The same, and the preactivations of each layer times a positive number."""
    scale = common_denominator(x, "a common denominator of a point", meter)
    activations, preactivations = [(scaled_point(x, scale, meter), scale)], list[list[int]]()
    for number, layer in enumerate(network.layers, 1):
        sources = [*layer.earlier, (number - 1, layer.rows)]
        blocks = [(rows, *activations[source]) for source, rows in sources]
        common = least_common_multiple([denominator for _, _, denominator in blocks], meter)
        bits = longest(values for _, values, _ in blocks) + common.bit_length()
        size = sum(len(rows) * (2 + len(values)) for rows, values, _ in blocks)
        meter.pay(size, bits, layer.bits)
        z = [b * common for b in layer.bias]
        for rows, values, denominator in blocks:
            factor = common // denominator
            z = [a + factor * dot(row, values) for a, row in zip(z, rows, strict=True)]
        scale = common * layer.denominator
        total = max(longest([z]), scale.bit_length())
        meter.pay_divisions(2 * len(z), total, total)
        divisor = math.gcd(scale, *z)
        preactivations.append(z)
        if number <= network.num_hidden_layers():
            z = [max(a, 0) for a in z]
        activations.append(([a // divisor for a in z], scale // divisor))
    values, scale = activations[-1]
    return [Fraction(a, scale) for a in values], preactivations
