"""Theorems about another network with the same function, claim not-identifiable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import Matrix, Row, check_indices, dot
from polyrelu.checking.invariants import invariants
from polyrelu.checking.meter import Meter, longest, require
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.pairs import domain_of_competitors
from polyrelu.checking.text import RATIONAL, rational
from polyrelu.checking.theorems import MEMBERSHIP, Case, Rule, theorem

# ---- Refutations: translation, flip, line-equal


def refutation(name: str, page: str, evidence: Mapping[str, Any]) -> Callable[[Rule], Rule]:
    """Enter a rule that checks `same-function`; the other hypotheses are common to all."""

    def enter(same_function: Rule) -> Rule:
        """Register the whole refutation, and return the given rule unchanged."""

        def check_all(case: Case) -> None:
            """Check all hypotheses of the refutation."""
            check_refutation(case, same_function)

        theorem(
            name,
            kind="not-identifiable",
            among=("all", "generic"),
            page=page,
            evidence={
                "architecture": {},
                "same-function": evidence,
                "not-related": {"layer": int},
                "membership": MEMBERSHIP,
            },
            says={
                "architecture": "both networks have one architecture",
                "same-function": "they compute the same real function on the domain",
                "not-related": "they differ in an invariant of permutations and positive scalings",
            },
        )(check_all)
        return same_function

    return enter


def check_refutation(case: Case, same_function: Rule) -> None:
    """The hypotheses in their order; membership of `other` is checked by the caller."""
    one, two = case.network, case.other
    case.domain = domain_of_competitors(case)
    case.hypothesis("architecture")
    require(one.widths == two.widths, "equal widths", f"{one}; {two}")
    require(one.last == two.last, "equal last activations", f"{one}; {two}")
    case.hypothesis("same-function")
    same_function(case)
    layer, numbers = case.hypothesis("not-related")["layer"], dict[Row, int]()
    require(1 <= layer <= len(one.layers), "a layer of the networks", str(layer))
    mine, others = (invariants(network, layer, numbers, case.meter) for network in (one, two))
    require(mine != others, "different invariants", "equal ones")


class Changed(NamedTuple):
    """The layers l and l+1 in which two networks may differ, l = `number`."""

    number: int
    lower: Layer
    upper: Layer
    others: tuple[Layer, Layer]


def changed_layers(case: Case, count: int = 2) -> Changed:
    """The evidence's layer l; all layers but `count` of them from l on are equal."""
    one, two, number = case.network, case.other, case.evidence["same-function"]["layer"]
    last = len(one.layers)
    require(1 <= number < last, f"a layer from 1 to {last - 1}", str(number))
    for k, (mine, others) in enumerate(zip(one.layers, two.layers, strict=True), 1):
        if not number <= k < number + count:
            require(mine == others, f"equal layers {k}", "different ones")
    changed = two.layers[number - 1], two.layers[number]
    return Changed(number, one.layers[number - 1], one.layers[number], changed)


def changed_neuron(case: Case, changed: Changed) -> int:
    """The evidence's neuron j of layer l; layer l+1 is hidden."""
    j: int = case.evidence["same-function"]["neuron"]
    is_hidden = changed.number + 1 <= case.network.num_hidden_layers()
    require(is_hidden, "a layer below a hidden one", f"layer {changed.number}")
    require(j < len(changed.lower.rows), f"a neuron of layer {changed.number}", str(j))
    return j


def check_layer(layer: Layer, rows: Matrix, denominator: int, meter: Meter) -> None:
    """The layer of `other` is the given [W|b] over the given denominator."""
    size = sum(map(len, rows))
    meter.pay(size, longest(rows), layer.denominator.bit_length())
    meter.pay(size, layer.bits, denominator.bit_length())
    for mine, others in zip(rows, layer.augmented(), strict=True):
        same = [x * layer.denominator for x in mine] == [x * denominator for x in others]
        require(same, "the layers of `other` as the theorem says", "another one")


# -- translation, flip


@refutation(
    "translation",
    "theory/hidden_hyperplanes.md",
    {"layer": int, "neuron": int, "shift": RATIONAL},
)
def translation(case: Case) -> None:
    """A neuron is shifted that alone has positive weights in the next layer."""
    changed, meter = changed_layers(case), case.meter
    j = changed_neuron(case, changed)
    p, q = rational(case.evidence["same-function"]["shift"], meter).as_integer_ratio()
    lower, upper = changed.lower, changed.upper
    sizes = sum(len(layer.rows) * (len(layer.rows[0]) + 1) for layer in (lower, upper))
    bits = max(p.bit_length(), q.bit_length())
    meter.pay(sizes, max(lower.bits, upper.bits), bits)
    below, above = ([[q * x for x in row] for row in layer.augmented()] for layer in (lower, upper))
    below[j][-1] += p * lower.denominator
    for i, (row, b) in enumerate(zip(upper.rows, upper.bias, strict=True)):
        require(row[j] >= 0, "W_ij >= 0", f"i = {i}")
        require(all(x <= 0 for k, x in enumerate(row) if k != j), "W_ik <= 0", f"i = {i}")
        require(b <= 0, "b_i <= 0", f"i = {i}")
        require(b * q <= p * row[j], "b_i <= t W_ij", f"i = {i}")
        above[i][-1] -= p * row[j]
    check_layer(changed.others[0], below, q * lower.denominator, meter)
    check_layer(changed.others[1], above, q * upper.denominator, meter)


@refutation("flip", "theory/hidden_hyperplanes.md", {"layer": int, "neuron": int, "flipped": [int]})
def flip(case: Case) -> None:
    """Neurons beside a hidden one are negated, with a single neuron in the next layer.

    Layer l of `other` is computed over the denominator times w_j; in |w_k|/w_j the denominator of w
    cancels.
    """
    changed, meter = changed_layers(case, count=1), case.meter
    j, flipped = changed_neuron(case, changed), case.evidence["same-function"]["flipped"]
    w, bias, old = changed.upper.rows[0], changed.upper.bias[0], changed.lower.augmented()
    check_indices(flipped, len(w), "neurons to flip")
    require(len(flipped) > 0, "neurons to flip", "none")
    require(j not in flipped, "neurons k != j to flip", f"j = {j}")
    require(len(changed.upper.rows) == 1, "one neuron in layer l+1")
    require(w[j] > 0, "w_j > 0")
    require(all(x <= 0 for k, x in enumerate(w) if k != j), "w_k <= 0 for k != j")
    require(bias <= 0, "a bias <= 0 in layer l+1")
    meter.pay((len(old) + len(flipped)) * len(old[0]), changed.lower.bits, longest([w]))
    rows = [[w[j] * x for x in row] for row in old]
    for k in flipped:
        rows[k] = [-x for x in rows[k]]
        rows[j] = [x + w[k] * y for x, y in zip(rows[j], old[k], strict=True)]  # w_k = -|w_k|
    check_layer(changed.others[0], rows, changed.lower.denominator * w[j], meter)


# -- line-equal


@refutation("line-equal", "theory/line.md", {})
def line_equal(case: Case) -> None:
    """L = 3, n_1 = 1, W[1] parallel: two piecewise affine functions of one variable are equal.

    The input t on one axis c decides. The functions are equal iff they agree at all breakpoints of
    both and at a point beyond either end.
    """
    one, two, meter = case.network, case.other, case.meter
    require(len(one.layers) == 3, "L = 3", str(one))
    require(one.last == "affine", "an affine output", str(one))
    require(one.widths[1] == 1, "n_1 = 1", str(one))
    r, s = one.layers[0].rows[0], two.layers[0].rows[0]
    c = next((k for k, x in enumerate(r) if x), 0)
    require(r[c] != 0, "a nonzero row W[1] of the network", "zero")
    require(s[c] != 0, "a row W[1] of `other` that is parallel to it", "a zero entry")
    bits = longest([r, s])
    meter.pay(2 * len(r), bits, bits)
    require(all(x * s[c] == y * r[c] for x, y in zip(r, s, strict=True)), "parallel rows W[1]")
    points = sorted_breakpoints(case, c)
    for t in (points[0] - 1, *points, points[-1] + 1):
        same = on_axis(one, c, t, meter) == on_axis(two, c, t, meter)
        require(same, "equal values at breakpoints", "different ones")


def sorted_breakpoints(case: Case, c: int) -> list[Fraction]:
    """The inputs on axis c where a neuron vanishes."""
    points = list[Fraction]()
    for network in (case.network, case.other):
        first, lower, _ = network.layers
        zeros = [
            Fraction(-a, row[0]) for row, a in zip(lower.rows, lower.bias, strict=True) if row[0]
        ]
        case.meter.pay(34 * (len(zeros) + 1))
        case.meter.pay_divisions(6 * (len(zeros) + 1), lower.bits + first.bits, first.bits)
        for u in (Fraction(0), *zeros):
            points.append((u * first.denominator - first.bias[0]) / first.rows[0][c])
    bits = max(x.numerator.bit_length() + x.denominator.bit_length() for x in points)
    case.meter.pay(4 * len(points) * len(points).bit_length(), bits, bits)
    points.sort()
    return [x for k, x in enumerate(points) if k == 0 or x != points[k - 1]]


def on_axis(network: Network, c: int, t: Fraction, meter: Meter) -> list[Fraction]:
    """The outputs where coordinate c of the input is t and the others are 0, if n_1 = 1."""
    first, lower, upper = network.layers
    z = (first.rows[0][c] * t + first.bias[0]) / first.denominator
    p, q = max(z, Fraction(0)).as_integer_ratio()
    bits = max(p.bit_length(), q.bit_length())
    meter.pay(4 * len(lower.rows) + 20, lower.bits, bits)
    active = [max(row[0] * p + a * q, 0) for row, a in zip(lower.rows, lower.bias, strict=True)]
    q *= lower.denominator
    meter.pay(len(upper.rows) * (len(active) + 10), longest([active, [q]]), upper.bits)
    scale = q * upper.denominator
    rows = zip(upper.rows, upper.bias, strict=True)
    return [Fraction(dot(v, active) + b * q, scale) for v, b in rows]
