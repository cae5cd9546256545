"""Theorems about networks with at most two hidden layers, claim identifiable."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, combinations, groupby, product
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import (
    Matrix,
    Row,
    check_determinant,
    check_indices,
    common_denominator,
    dot,
    pivot_columns,
    primitive_plane,
)
from polyrelu.checking.claims import WHOLE_SPACE
from polyrelu.checking.meter import Meter, longest, require, well_formed
from polyrelu.checking.networks import Layer
from polyrelu.checking.pairs import check_inside, domain_of_competitors, scaled_point
from polyrelu.checking.text import RATIONAL, OneOf, rational
from polyrelu.checking.theorems import (
    MAX_DETERMINANT,
    MEMBERSHIP,
    PRIMES,
    SUBSETS,
    Case,
    check_subset_sums,
    layers_of,
    theorem,
)

# ---- affine, shallow


INTERIOR = "the points are strictly inside the domain"


@theorem(
    "affine",
    kind="identifiable",
    among=("all",),
    page="theory/shallow.md",
    evidence={"inside": {"points": [[RATIONAL]]}},
    says={"inside": INTERIOR},
    optional=("inside",),
)
def affine(case: Case) -> None:
    """L = 1: f determines W and b, on any domain with an interior."""
    layers_of(case, 1)
    points_inside(case, 1)


def points_inside(case: Case, count: int) -> list[list[Fraction]]:
    """The listed points, strictly inside the claim's domain; none if this is R^n."""
    domain = domain_of_competitors(case)
    is_listed = "inside" in case.evidence
    is_wanted = case.claim["domain"] != WHOLE_SPACE
    case.meter.step = "inside"
    fact = "points inside the domain" if is_wanted else "no points for R^n"
    require(is_listed == is_wanted, fact, "none" if is_wanted else "some")
    if not is_wanted:
        return []
    texts = case.hypothesis("inside")["points"]
    require(len(texts) == count, f"{count} points", str(len(texts)))
    return [check_inside(domain, point, case.meter) for point in texts]


def check_whole_space(case: Case) -> None:
    """The proof of the theorem needs all of R^n."""
    case.meter.step = "claim"
    require(case.claim["domain"] == WHOLE_SPACE, "the domain R^n", "another one")


#: Maximum number of pairs (D, eps) of an assignment.
MAX_PAIRS = 2**16


class Hyperplane(NamedTuple):
    """A hyperplane h, and the neurons (scale, index) whose rows [w|b] are scale * h."""

    h: Row
    neurons: list[tuple[int, int]]

    def own_sign(self) -> int:
        """The sign of its one neuron against h; 0 if it carries two."""
        return 0 if len(self.neurons) == 2 else 1 if self.neurons[0][0] > 0 else -1

    def bend(self, upper: Layer) -> list[int]:
        """Twice the coefficient of |h|, times both denominators."""
        return [sum(v[i] * abs(scale) for scale, i in self.neurons) for v in upper.rows]


@theorem(
    "shallow",
    kind="identifiable",
    among=("all",),
    page="theory/shallow.md",
    evidence={
        "inside": {"points": [[RATIONAL]]},
        "visible": {},
        "unique": OneOf((*SUBSETS, {"method": "assignments"})),
    },
    says={
        "inside": f"{INTERIOR}, and each neuron of layer 1 is 0 at its point",
        "visible": "rows, columns and doubled hyperplanes do not vanish, and no two rows are "
        "positive multiples",
        "unique": "no other orientations give this function",
    },
    optional=("inside",),
)
def shallow(case: Case) -> None:
    """L = 2: every neuron is visible, and no other orientations give the same linear part.

    On a domain every hyperplane has to meet its interior, and none may be doubled: a neuron to
    spare could bend outside of the domain.
    """
    lower, upper = layers_of(case, 2)
    points = points_inside(case, len(lower.rows))
    for i, x in enumerate(points):
        check_zero(lower, i, x, case.meter)
    case.hypothesis("visible")
    require(all(map(any, lower.rows)), "every w_i nonzero", "a zero row")
    require(all(map(any, upper.columns())), "every v_i nonzero", "a zero column")
    planes = hyperplanes_of(lower, case.meter)
    for plane in planes:
        signs = {scale > 0 for scale, _ in plane.neurons}
        require(len(signs) == len(plane.neurons), "no rows that are positive multiples")
    case.meter.pay(2 * len(lower.rows) * len(upper.rows), upper.bits, lower.bits)
    bends = [plane.bend(upper) for plane in planes]
    require(all(map(any, bends)), "v_i + lambda v_k nonzero at doubled hyperplanes", "zero")

    evidence = case.hypothesis("unique")
    is_doubled = len(planes) < len(lower.rows)
    is_assigned = evidence["method"] == "assignments"
    require(not (points and is_doubled), "no doubled hyperplane on a domain", "one")
    require(is_assigned == is_doubled, "the method for this network", evidence["method"])
    if is_assigned:
        Assignments(lower, upper, planes, bends, case.meter).check()
    else:
        check_subset_sums(evidence, lower, upper, case.meter)


def check_zero(layer: Layer, i: int, x: list[Fraction], meter: Meter) -> None:
    """Neuron i of layer 1 is 0 at a point."""
    scale = common_denominator(x, "a common denominator of a point", meter)
    point = [*scaled_point(x, scale, meter), scale]
    meter.pay(len(point), longest([point]), layer.bits)
    value = dot([*layer.rows[i], layer.bias[i]], point)
    require(value == 0, "a point where its neuron is 0", "another value")


def hyperplanes_of(lower: Layer, meter: Meter) -> list[Hyperplane]:
    """The hyperplanes of the neurons of layer 1, each once."""
    rows = [(*primitive_plane(row, meter), i) for i, row in enumerate(lower.augmented())]
    meter.pay(8 * len(rows) * len(rows).bit_length(), lower.bits)
    rows.sort()
    groups = groupby(rows, lambda entry: entry[0])
    return [Hyperplane(h, [(scale, i) for _, scale, i in group]) for h, group in groups]


class Assignments:
    """The method for networks with doubled hyperplanes.

    M is `slope`, C_k is `bends[k]`, both times twice the denominators of both layers. Rows of R and
    h_k lie in the row space of W[1], columns of R in the column space of W[2], so that some columns
    and rows are enough for ranks.
    """

    def __init__(
        self,
        lower: Layer,
        upper: Layer,
        planes: Sequence[Hyperplane],
        bends: Matrix,
        meter: Meter,
    ) -> None:
        self.own, self.meter = tuple(plane.own_sign() for plane in planes), meter
        self.num_doubled = self.own.count(0)
        self.sizes = range(self.num_doubled % 2, self.num_doubled + 1, 2)
        self.count_pairs()
        inputs = pivot_columns(lower.rows, meter)
        outputs = pivot_columns(upper.columns(), meter)
        self.linear = [[plane.h[k] for k in inputs] for plane in planes]
        self.slope = [
            [sum(v * w[k] for v, w in zip(upper.rows[o], lower.rows, strict=True)) for k in inputs]
            for o in outputs
        ]
        self.parts = [
            [[bend[o] * x for x in h] for o in outputs]
            for h, bend in zip(self.linear, bends, strict=True)
        ]

    def count_pairs(self) -> None:
        """There are few pairs (D, eps); each of them is paid for, and its rank later."""
        p, count = len(self.own), MAX_PAIRS + 1
        if p <= 64:
            count = sum(math.comb(p, size) << (p - size) for size in self.sizes)
        message = f"beyond the limits: more than {MAX_PAIRS} pairs (D, eps)"
        well_formed(count <= MAX_PAIRS, message)
        self.meter.pay(count * p * p)

    def check(self) -> None:
        """The conditions on ranks, for every D and eps."""
        doubled = [h for h, sign in zip(self.linear, self.own, strict=True) if not sign]
        is_independent = len(pivot_columns(doubled, self.meter)) == self.num_doubled
        require(is_independent, "doubled hyperplanes with independent linear parts")
        places = range(len(self.own))
        for free in chain.from_iterable(combinations(places, size) for size in self.sizes):
            kernel = [self.linear[k] for k in free]
            for signs in product(*((0,) if k in free else (1, -1) for k in places)):
                if signs != self.own:
                    left = self.rank_on_kernel(kernel, signs)
                    needed = (self.num_doubled - len(free)) // 2
                    require(left > needed, "only the network's own assignment", f"rank {left}")

    def rank_on_kernel(self, kernel: Matrix, signs: Sequence[int]) -> int:
        """The rank of R(D, eps) restricted to the common kernel of the h_k, k in D."""
        size = len(self.own) * len(self.slope)
        self.meter.pay(size * len(self.slope[0]) if self.slope else 0, longest(self.slope))
        rest = [
            [
                x - sum(s * part[o][k] for s, part in zip(signs, self.parts, strict=True))
                for k, x in enumerate(row)
            ]
            for o, row in enumerate(self.slope)
        ]
        together = pivot_columns([*kernel, *rest], self.meter)
        return len(together) - len(pivot_columns(kernel, self.meter))


# ---- line


@theorem(
    "line",
    kind="identifiable",
    among=("all",),
    page="theory/line.md",
    evidence={"direction": {}, "bends": {}, "unique": SUBSETS},
    says={
        "direction": "the first layer is not constant",
        "bends": "all bends of the second layer are there and different",
        "unique": "no other orientations give this function",
    },
)
def line(case: Case) -> None:
    """L = 3, n_1 = 1: the breakpoints on the line fix everything up to orientations."""
    check_whole_space(case)
    first, lower, upper = layers_of(case, 3)
    require(len(first.rows) == 1, "n_1 = 1", str(case.network))
    case.hypothesis("direction")
    require(any(first.rows[0]), "W[1] nonzero", "zero")
    case.hypothesis("bends")
    bends = [(row[0], a) for row, a in zip(lower.rows, lower.bias, strict=True)]
    require(all(x > 0 > a or x < 0 < a for x, a in bends), "A_i a_i < 0 for every i")
    quotients = {primitive_plane(bend, case.meter)[0] for bend in bends}
    require(len(quotients) == len(bends), "pairwise different quotients a_i/A_i")
    require(any(x > 0 for x, _ in bends), "some A_i > 0", "one sign only")
    require(any(x < 0 for x, _ in bends), "some A_i < 0", "one sign only")
    check_subset_sums(case.hypothesis("unique"), lower, upper, case.meter)


# ---- bottleneck

WITNESS = OneOf(({"row": int, "positive": [(int, RATIONAL)]}, {"flat": True}))


@theorem(
    "bottleneck",
    kind="identifiable",
    among=("generic",),
    page="theory/bottleneck.md",
    evidence={
        "rank": {"prime": PRIMES, "columns": [int]},
        "rows": {},
        "unique": SUBSETS,
        "hyperplanes": {"witnesses": [WITNESS]},
        "membership": MEMBERSHIP,
    },
    optional=("unique",),
    says={
        "rank": "W[1] has full row rank",
        "rows": "second-layer hyperplanes are visible and different",
        "unique": "no other orientations give this function",
        "hyperplanes": "every first-layer hyperplane has a witness",
    },
)
def bottleneck(case: Case) -> None:
    """L = 3, n_1 >= 2, among generic competitors: Theorem P."""
    check_whole_space(case)
    first, lower, upper = layers_of(case, 3)
    require(len(first.rows) >= 2, "n_1 >= 2", str(case.network))
    check_rank(case.hypothesis("rank"), first, case.meter)

    case.hypothesis("rows")
    rows = lower.augmented()
    require(all(min(row) < 0 for row in rows), "a negative entry in every row [A_i|a_i]")
    require(all(max(row) > 0 for row in rows), "a positive entry in every row [A_i|a_i]")
    planes = {primitive_plane(row, case.meter)[0] for row in rows}
    require(len(planes) == len(rows), "no rows [A_i|a_i] that are multiples")
    require(all(map(any, upper.columns())), "nonzero columns of V", "a zero column")

    if "unique" in case.evidence:  # superfluous, and still true in old certificates
        check_subset_sums(case.hypothesis("unique"), lower, upper, case.meter)

    witnesses = case.hypothesis("hyperplanes")["witnesses"]
    require(len(witnesses) == len(first.rows), f"{len(first.rows)} witnesses", str(len(witnesses)))
    for j, witness in enumerate(witnesses):
        if "flat" in witness:
            check_flat(lower, upper, j, case.meter)
        else:
            check_corner(lower, upper, j, witness, case.meter)


def check_rank(evidence: Any, layer: Layer, meter: Meter) -> None:
    """W[1] has full row rank: a maximal minor is nonzero modulo a prime."""
    columns, prime, size = evidence["columns"], int(evidence["prime"]), len(layer.rows)
    check_indices(columns, len(layer.rows[0]), "columns", size)
    message = f"beyond the limits: a determinant of size above {MAX_DETERMINANT}"
    well_formed(size <= MAX_DETERMINANT, message)
    bits = layer.bits
    meter.pay(2 * size * len(layer.rows[0]), bits, bits)
    rows = [[row[c] for c in columns] for row in layer.primitive_rows()]
    check_determinant(rows, prime, meter)


def check_corner(lower: Layer, upper: Layer, j: int, witness: Any, meter: Meter) -> None:
    """Condition (c) at a point z, z_j = 0: all h but h_i are nonzero, and the gradient jumps."""
    i, place = witness["row"], f"j = {j}"
    point = {k: rational(x, meter) for k, x in witness["positive"]}
    check_indices([k for k, _ in witness["positive"]], len(lower.rows[0]), "coordinates")
    require(i < len(lower.rows), "a row of A", place)
    require(j not in point, "z_j = 0", place)
    require(all(x > 0 for x in point.values()), "listed z_k > 0", place)
    h = values_at(lower, point, meter)
    row = lower.rows[i]
    require(h[i] == 0, f"h_{i} = 0", place)
    require(h.count(0) == 1, f"h_k nonzero for every k but {i}", place)
    require(row[j] != 0, "A_ij nonzero", place)
    require(any(row[k] for k in point), "some A_ik nonzero with z_k > 0", place)
    active = [k for k, x in enumerate(h) if x > 0]
    if not active:
        return
    meter.pay((len(active) + 2) * len(upper.rows), upper.bits, lower.bits)
    jump = [sum(v[k] * lower.rows[k][j] for k in active) for v in upper.rows]
    require(any(jump), "J nonzero", place)
    across = [x + v[i] * row[j] for x, v in zip(jump, upper.rows, strict=True)]
    require(any(across), "J + V_i A_ij nonzero", place)


def values_at(lower: Layer, point: dict[int, Any], meter: Meter) -> list[int]:
    """The numbers h at the point z that has some coordinates > 0, all times a positive number."""
    scale = common_denominator(point.values(), "a common denominator", meter)
    scaled = [(k, x.numerator * (scale // x.denominator)) for k, x in point.items()]
    bits = longest([[scale], [x for _, x in scaled]])
    meter.pay(len(scaled) + len(lower.rows) * (len(scaled) + 1), bits, lower.bits)
    return [
        sum(w[k] * x for k, x in scaled) + a * scale
        for w, a in zip(lower.rows, lower.bias, strict=True)
    ]


def check_flat(lower: Layer, upper: Layer, j: int, meter: Meter) -> None:
    """Condition (c'): on z_j = 0 every h_i has one sign, and the gradient jumps there."""
    meter.pay(len(lower.rows) * (len(lower.rows[0]) + len(upper.rows)), lower.bits, upper.bits)
    for row, a in zip(lower.rows, lower.bias, strict=True):
        others = [x for k, x in enumerate(row) if k != j]
        is_positive, is_negative = a > 0 and min(others) >= 0, a < 0 and max(others) <= 0
        require(is_positive or is_negative, "every h_i of one sign where z_j = 0", f"j = {j}")
    active = [k for k, a in enumerate(lower.bias) if a > 0]
    jumps = any(sum(v[k] * lower.rows[k][j] for k in active) for v in upper.rows)
    require(jumps, "a nonzero sum of V_i A_ij over a_i > 0", f"j = {j}")
