"""Theorems about another network with the same function, claim not-identifiable."""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import (
    Form,
    Matrix,
    Row,
    add_to,
    added,
    bits_of_form,
    check_indices,
    dot,
    primitive_plane,
)
from polyrelu.checking.invariants import invariants
from polyrelu.checking.meter import GROWN_BITS, Meter, longest, require, well_formed
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.text import NATURAL, RATIONAL, integer, rational
from polyrelu.checking.theorems import MEMBERSHIP, Case, Rule, theorem

# ---- Refutations: replacement, bounded-replacement, one-sided, translation, flip, line-equal


def refutation(name: str, page: str, evidence: Mapping[str, Any]) -> Callable[[Rule], Rule]:
    """Enter a rule that checks `same-function`; the other hypotheses are common to all."""

    def enter(same_function: Rule) -> Rule:
        def rule(case: Case) -> None:
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
                "same-function": "they compute the same real function",
                "not-related": "they differ in an invariant of permutations and positive scalings",
            },
        )(rule)
        return same_function

    return enter


def check_refutation(case: Case, same_function: Rule) -> None:
    """The hypotheses in their order; membership of `other` is checked by the caller."""
    one, two = case.network, case.other
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


# -- replacement, bounded-replacement


@refutation("replacement", "theory/shallow.md", {"layer": int})
def replacement(case: Case) -> None:
    """The maps of layers l and l+1 agree on R^n or, behind a hidden layer, on the orthant.

    This is `bounded-replacement` on a larger box.
    """
    changed = changed_layers(case)
    check_maps(changed, largest_box(changed), case.meter)


@refutation("bounded-replacement", "theory/box.md", {"layer": int})
def bounded_replacement(case: Case) -> None:
    """The maps of layers l and l+1 agree on the box that interval arithmetic gives."""
    changed = changed_layers(case)
    box = image_box(case.network, changed.number - 1, case.meter)
    check_maps(changed, box, case.meter)


#: A lower or an upper end of an interval; None is infinite.
End = int | None


class Box(NamedTuple):
    """Lower and upper ends of coordinates, over one denominator."""

    lower: list[End]
    upper: list[End]
    denominator: int

    def bits(self) -> int:
        """The bits of the longest number."""
        return longest([[x or 0 for x in (*self.lower, *self.upper)], [self.denominator]])

    def supremum(self, row: Sequence[int], sign: int = 1) -> End:
        """The largest value of sign * row.(u, 1) on the box, times the denominator."""
        total = sign * row[-1] * self.denominator
        for w, low, high in zip(row[:-1], self.lower, self.upper, strict=True):
            if w:
                end = high if sign * w > 0 else low
                if end is None:
                    return None
                total += sign * w * end
        return total


def largest_box(changed: Changed) -> Box:
    """What layer l reads: R^n, or the orthant behind a hidden layer."""
    size = len(changed.lower.rows[0])
    return Box([None if changed.number == 1 else 0] * size, [None] * size, 1)


def image_box(network: Network, depth: int, meter: Meter) -> Box:
    """A box that holds the activations of a hidden layer at all inputs, by interval arithmetic."""
    box = Box([None] * network.widths[0], [None] * network.widths[0], 1)
    for layer in network.layers[:depth]:
        bits = box.bits() + layer.bits
        message = f"beyond the limits: a box with ends of more than {GROWN_BITS} bits"
        well_formed(bits <= GROWN_BITS, message)
        meter.pay(4 * len(layer.rows) * (len(box.lower) + 1), box.bits(), layer.bits)
        rows = layer.augmented()
        lowest, highest = ([box.supremum(row, sign) for row in rows] for sign in (-1, 1))
        box = Box(
            [max(-x, 0) if x is not None else 0 for x in lowest],
            [max(x, 0) if x is not None else None for x in highest],
            box.denominator * layer.denominator,
        )
    return box


def check_maps(changed: Changed, box: Box, meter: Meter) -> None:
    """The maps of layers l and l+1 of two networks agree on a box."""
    AbsoluteValueForm(changed, box, meter).check()


class AbsoluteValueForm:
    """The difference of two maps u -> V max(W u + b, 0) + c on a box, as a sum of |h|.

    Coordinates with equal ends are put in; over the others, which have an interior, `common` times
    the difference is a sum of terms[h, s] max(s h.(u, 1), 0), h as in `primitive_plane`, s a sign,
    plus a constant.
    """

    def __init__(self, changed: Changed, box: Box, meter: Meter) -> None:
        self.meter, self.terms = meter, dict[tuple[Row, int], list[int]]()
        ends = list(enumerate(zip(box.lower, box.upper, strict=True)))
        self.free = [k for k, (x, y) in ends if x is None or x != y]
        self.fixed = [(k, x) for k, (x, y) in ends if x is not None and x == y]
        lower, upper = ([side[k] for k in self.free] for side in (box.lower, box.upper))
        self.box, self.box_bits = Box(lower, upper, box.denominator), box.bits()
        self.constant = [0] * len(changed.upper.rows)
        pairs = ((changed.lower, changed.upper), changed.others)
        self.common = 1
        for first, second in pairs:
            product = first.denominator * second.denominator
            self.common = self.common * product // math.gcd(self.common, product)
        for sign, (first, second) in zip((1, -1), pairs, strict=True):
            self.add(sign * self.common // (first.denominator * second.denominator), first, second)

    def add(self, factor: int, lower: Layer, upper: Layer) -> None:
        """Add a multiple of one of the maps, times both denominators."""
        scale, num_outputs = self.box.denominator, len(upper.rows)
        self.meter.pay(2 * len(lower.rows) * len(lower.rows[0]), lower.bits, self.box_bits)
        columns = upper.columns()
        for row, column in zip(lower.augmented(), columns, strict=True):
            constant = row[-1] * scale + sum(row[k] * x for k, x in self.fixed)
            restricted = [*(row[k] * scale for k in self.free), constant]
            h, size = primitive_plane(restricted, self.meter)
            weight = factor * abs(size)
            self.meter.pay(2 * num_outputs, weight.bit_length(), longest([column]))
            key = h, -1 if size < 0 else 1
            old = self.terms.get(key) or [0] * num_outputs
            self.terms[key] = [x + weight * y for x, y in zip(old, column, strict=True)]
        for o, b in enumerate(upper.bias):
            self.constant[o] += 2 * factor * lower.denominator * scale * b

    def check(self) -> None:
        """All coefficients of |h| are zero, and so is the affine rest."""
        left = {key: value for key, value in self.terms.items() if any(value)}
        bits = longest([*left.values(), [self.common]])
        size = len(left) * (len(self.free) + 1)
        self.meter.pay(2 * size, self.box_bits, longest(h for h, _ in left))
        self.meter.pay(size * len(self.constant), bits, longest(h for h, _ in left))
        affine = [[*([0] * len(self.free)), c] for c in self.constant]
        for (h, sign), coefficient in left.items():
            slope = self.twice_the_slope(h, sign, coefficient, left)
            for row, c in zip(affine, coefficient, strict=True):
                if slope * c:
                    row[:] = [x + slope * c * y for x, y in zip(row, h, strict=True)]
        require(not any(map(any, affine)), "equal affine parts", "different ones")

    def twice_the_slope(
        self, h: Row, sign: int, coefficient: list[int], left: Mapping[tuple[Row, int], list[int]]
    ) -> int:
        """The factor of h in twice the affine part of max(t, 0), t = sign h.(u, 1) on the box.

        2 max(t, 0) is |t| + t where t changes its sign, 2t where t >= 0, and 0 where t <= 0.
        """
        highest, lowest = self.box.supremum(h), self.box.supremum(h, -1)
        is_positive = highest is None or highest > 0
        is_negative = lowest is None or lowest > 0
        if is_positive and is_negative:
            opposite = left.get((h, -sign), [])
            cancels = [-x for x in coefficient] == opposite
            require(cancels, "equal coefficients of |h|", "different ones")
            return sign
        is_active = is_positive if sign > 0 else is_negative
        return 2 * sign if is_active else 0


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


# -- one-sided

MULTIPLES = [(int, NATURAL)]
SIGN_MARK = re.compile("[+-]")


class Facts:
    """Forms that are >= 0 at every input or, with a source, wherever the source is on.

    Facts 2k and 2k+1 are a and d a - t of neuron k, as a = max(t/d, 0); from 2N on come `more`: 1,
    what the source adds, what steps add. The N neurons of layers before layer `number` are numbered
    from 0, layer by layer. Symbols: 0 for 1, then the inputs, then the neurons.
    """

    def __init__(self, network: Network, number: int, source: list[int], meter: Meter) -> None:
        self.layers, self.meter, self.more = network.layers, meter, [{0: 1}]
        self.starts = list(accumulate(network.widths[:number], initial=1))
        self.num_neurons = self.starts[-1] - self.starts[1]
        for j in source:
            own, t = self.neuron(self.num_neurons - network.widths[number - 1] + j)
            self.more.append(added(t, own, -1))

    def form(self, number: int, row: Sequence[int]) -> Form:
        """A row of [W | b] of a layer as a form."""
        self.meter.pay(2 * len(row))
        return {0: row[-1], **dict(enumerate(row[:-1], self.starts[number - 1]))}

    def neuron(self, k: int) -> tuple[Form, Form]:
        """The forms d a and t of neuron k."""
        symbol = self.starts[1] + k
        number = bisect(self.starts, symbol) - 1
        layer, i = self.layers[number - 1], symbol - self.starts[number]
        return {symbol: layer.denominator}, self.form(number, [*layer.rows[i], layer.bias[i]])

    def fact(self, number: int) -> Form:
        """A fact by its number."""
        known = 2 * self.num_neurons + len(self.more)
        require(number < known, f"a fact below {known}", str(number))
        if number >= 2 * self.num_neurons:
            return self.more[number - 2 * self.num_neurons]
        k, is_gap = divmod(number, 2)
        return added(*self.neuron(k), -1) if is_gap else {self.starts[1] + k: 1}

    def without(self, form: Form, multiples: Any, sign: int = -1) -> Form:
        """A form minus multiples of facts; plus them if the sign is 1."""
        rest = dict(form)
        self.meter.pay(2 * len(form))
        for number, text in multiples:
            factor, fact = integer(text), self.fact(number)
            self.meter.units(1_000 + 200 * len(fact))
            self.meter.pay(len(fact), bits_of_form(fact), factor.bit_length())
            add_to(rest, fact, sign * factor)
        return rest

    def check_follows(self, form: Form, multiples: Any) -> None:
        """The form is a sum of these multiples of facts, and of multiples of activations and 1."""
        rest = self.without(form, multiples)
        for symbol, x in rest.items():
            is_input = 1 <= symbol < self.starts[1]
            require(not is_input or x == 0, "facts that leave nothing of the inputs", "an input")
            require(x >= 0, "facts that leave nonnegative multiples of activations", "others")

    def add_step(self, k: int, scale: str, above: Any, gap: Any) -> None:
        """The fact G - q d a >= 0, G a sum of multiples of facts, because q t <= G as well."""
        require(k < self.num_neurons, "a neuron of the layers before", str(k))
        q = integer(scale)
        require(q > 0, "a positive factor of a step", "0")
        bound, (own, t) = self.without({}, above, 1), self.neuron(k)
        self.meter.pay(4 * len(t), bits_of_form(t), q.bit_length())
        self.check_follows(added(bound, t, -q), gap)
        self.more.append(added(bound, own, -q))
        size = 4 + bits_of_form(self.more[-1]) // 512
        self.meter.hold(size * len(self.more[-1]))


@refutation(
    "one-sided",
    "theory/one_sided.md",
    {
        "layer": int,
        "source": [int],
        "steps": [(int, NATURAL, MULTIPLES, MULTIPLES)],
        "signs": [(int, SIGN_MARK, NATURAL, MULTIPLES)],
    },
)
def one_sided(case: Case) -> None:
    """Neurons of layer l have one sign wherever the source is on; their weights on it change.

    Without a source, the constant 1 takes its place.
    """
    evidence, changed, meter = case.evidence["same-function"], changed_layers(case), case.meter
    source, width = evidence["source"], len(changed.lower.rows[0])
    require(len(source) <= 1, "at most one source", str(len(source)))
    require(not source or changed.number > 1, "a source in a hidden layer", "an input")
    require(all(h < width for h in source), f"a source below {width}")
    facts = Facts(case.network, changed.number, source, meter)
    for step in evidence["steps"]:
        facts.add_step(*step)
    old, new = over_common_denominator(changed.lower, changed.others[0], meter)
    rows = changed.upper.augmented()
    scale = changed.lower.denominator * changed.others[0].denominator
    meter.pay(2 * len(rows) * len(rows[0]), longest(rows), scale.bit_length())
    above = [[x * scale for x in row] for row in rows]
    place = source[0] if source else width
    check_indices([v for v, *_ in evidence["signs"]], len(old), "neurons with signs")
    for v, sign, text, multiples in evidence["signs"]:
        factor = integer(text)
        require(factor > 0, "a positive factor of a sign", "0")
        for row in (old[v], new[v]):
            meter.pay(len(row), longest([row]), factor.bit_length())
            own = [factor * x if sign == "+" else -factor * x for x in row]
            facts.check_follows(facts.form(changed.number, own), multiples)
        change, old[v][place] = new[v][place] - old[v][place], new[v][place]
        if sign == "+":
            meter.pay(2 * len(above), change.bit_length(), longest(rows))
            for row, weights in zip(above, changed.upper.rows, strict=True):
                row[-1] -= weights[v] * change
    require(old == new, "equal layers l but for the weights of `signs` on the source")
    if source:
        kept = all(row[-1] == b * scale for row, b in zip(above, changed.upper.bias, strict=True))
        require(kept, "changes that cancel in layer l+1")
    check_layer(changed.others[1], above, changed.upper.denominator * scale, meter)


def over_common_denominator(
    one: Layer, two: Layer, meter: Meter
) -> tuple[list[list[int]], list[list[int]]]:
    """The rows [W|b] of two layers over the product of their denominators."""
    size = len(one.rows) * (len(one.rows[0]) + 1)
    meter.pay(size, one.bits, two.denominator.bit_length())
    meter.pay(size, two.bits, one.denominator.bit_length())
    left = [[x * two.denominator for x in row] for row in one.augmented()]
    right = [[x * one.denominator for x in row] for row in two.augmented()]
    return left, right
