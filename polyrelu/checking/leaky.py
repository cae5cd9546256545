"""Theorems about leaky ReLU stacks: their parameters, proofs and refutations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from polyrelu.checking.arithmetic import Matrix, common_denominator, dot, reduce_into
from polyrelu.checking.claims import WHOLE_SPACE
from polyrelu.checking.identifiability import shallow
from polyrelu.checking.meter import GROWN_BITS, Meter, cells_of, longest, require, well_formed
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.pairs import check_inside, domain_of_competitors, scaled_point
from polyrelu.checking.refutations import Changed, changed_layers, check_refutation
from polyrelu.checking.replacement import Box, box_of_inputs, check_maps
from polyrelu.checking.ridges import ON_OUTPUTS
from polyrelu.checking.text import RATIONAL, rational, rationals
from polyrelu.checking.theorems import MEMBERSHIP, PRIMES, THEOREMS, Case, theorem

# ==== 3.13 Leaky ReLU stacks ====


class Slope:
    """The slope p/q of a leaky ReLU, as integers p, q > 0 and the size and sign of q - p."""

    def __init__(self, text: str, meter: Meter) -> None:
        value = rational(text, meter)
        require(value > 0, "a slope above 0", "another one", "claim.architecture")
        require(value != 1, "a slope other than 1", "1", "claim.architecture")
        self.p, self.q = value.numerator, value.denominator
        self.gap, self.sign = abs(self.q - self.p), 1 if self.q > self.p else -1
        self.bits = max(self.p.bit_length(), self.q.bit_length())


def stack_of(network: Network, slope: Slope, meter: Meter) -> Network:
    """The plain stack with the weights and biases of a leaky ReLU stack.

    Its layers have integers without a common divisor, as in a file.
    """
    meter.step = "architecture"
    require(network.last == "affine", "an affine output", str(network))
    layers = [network.layers[0]]
    require(not network.layers[0].earlier, "one block in layer 1")
    for number, layer in enumerate(network.layers[1:], 2):
        check_leak(network, number, slope, meter)
        before = network.layers[number - 2]
        scale = slope.gap * before.denominator
        factor = slope.p * slope.sign
        bits = layer.bits + before.bits + 2 * slope.bits
        meter.pay(4 * len(layer.rows) * (len(layer.rows[0]) + 2), layer.bits, bits)
        rows = [[slope.q * slope.sign * before.denominator * x for x in row] for row in layer.rows]
        bias = [
            b * scale - factor * dot(row, before.bias)
            for row, b in zip(layer.rows, layer.bias, strict=True)
        ]
        layers.append(reduced_layer(layer.denominator * scale, bias, rows, meter))
    return network._replace(layers=layers)


def check_leak(network: Network, number: int, slope: Slope, meter: Meter) -> None:
    """The skipping weights of a layer are what the leak of the layer before makes them."""
    layer, before = network.layers[number - 1], network.layers[number - 2]
    given = dict(layer.earlier)
    for source, rows in [*before.earlier, (number - 2, before.rows)]:
        width = len(rows[0])
        meter.pay(len(layer.rows) * (len(rows) + 2) * width, layer.bits, before.bits)
        meter.pay(2 * len(layer.rows) * width, before.bits + slope.bits, layer.bits + slope.bits)
        columns = list(zip(*rows, strict=True))
        skipping = given.pop(source, [[0] * width] * len(layer.rows))
        scale, factor = slope.gap * before.denominator, slope.p * slope.sign
        for mine, row in zip(skipping, layer.rows, strict=True):
            same = all(
                x * scale == factor * dot(row, column)
                for x, column in zip(mine, columns, strict=True)
            )
            require(same, "the leaky ReLU stack of this slope", f"layer {number}")
    require(not given, "the leaky ReLU stack of this slope", f"layer {number} reads more")


def reduced_layer(denominator: int, bias: list[int], rows: list[list[int]], meter: Meter) -> Layer:
    """A layer over its least denominator."""
    bits = max(denominator.bit_length(), longest([bias, *rows]))
    message = f"beyond the limits: numbers of more than {GROWN_BITS} bits"
    well_formed(bits <= GROWN_BITS, message)
    meter.pay_divisions(2 * len(rows) * (len(rows[0]) + 2), bits, bits)
    meter.hold(cells_of(len(rows) * len(rows[0]), bits))
    divisor = denominator
    for row in [bias, *rows]:
        divisor = math.gcd(divisor, *row)
    bias, rows = [x // divisor for x in bias], [[x // divisor for x in row] for row in rows]
    denominator //= divisor
    return Layer(denominator, bias, rows, [], max(denominator.bit_length(), longest([bias, *rows])))


def case_of_stacks(case: Case) -> tuple[Case, Slope]:
    """The same case about the plain stacks with the parameters, and the slope."""
    slope = Slope(case.claim["architecture"]["slope"], case.meter)
    stacks = [stack_of(case.network, slope, case.meter)]
    if "other" in case.claim:
        stacks.append(stack_of(case.other, slope, case.meter))
    return Case(stacks, case.claim, case.evidence, case.meter), slope


# ---- leaky-shallow


@theorem(
    "leaky-shallow",
    kind="identifiable",
    among=("all",),
    architecture="leaky",
    page="theory/architectures.md",
    evidence=THEOREMS["shallow"].evidence,
    says=THEOREMS["shallow"].says,
    optional=("inside",),
)
def leaky_shallow(case: Case) -> None:
    """L = 2: the fiber has the weights and first biases of the fiber of the ReLU network."""
    shallow(case_of_stacks(case)[0])


# ---- leaky-chains


@theorem(
    "leaky-chains",
    kind="identifiable",
    among=("regular",),
    architecture="leaky",
    page="theory/architectures.md",
    evidence={
        "rank": {"prime": PRIMES},
        "chains": {"points": [[RATIONAL]]},
        "membership": {"status": "open"},
    },
    says={
        "rank": "the weights of every hidden layer have full row rank",
        "chains": "at each point one neuron of every hidden layer is 0, each of them bends the "
        "next one, and all of them bend the outputs; every hidden neuron is 0 at one of the points",
    },
)
def leaky_chains(case: Case) -> None:
    """Independent rows, and points at which one neuron of each hidden layer is 0."""
    case, slope = case_of_stacks(case)
    network, meter = case.network, case.meter
    evidence = case.hypothesis("rank")
    require(len(network.layers) >= 2, "a hidden layer", str(network))
    prime = int(evidence["prime"])
    for number, layer in enumerate(network.layers[:-1], 1):
        meter.pay(2 * len(layer.rows) * len(layer.rows[0]), layer.bits, 64)
        rank = rank_modulo(layer.primitive_rows(), prime, meter)
        require(rank == len(layer.rows), f"independent rows of W[{number}]", f"rank {rank}")
    domain = domain_of_competitors(case)
    texts, found = case.hypothesis("chains")["points"], set[tuple[int, int]]()
    message = f"beyond the limits: more than {MAX_CHAIN} hidden layers"
    well_formed(len(network.layers) - 1 <= MAX_CHAIN, message)
    columns = [columns_modulo(layer, prime, meter) for layer in network.layers]
    for text in texts:
        if case.claim["domain"] == WHOLE_SPACE:
            size = network.widths[0]
            require(len(text) == size, f"{size} coordinates", str(len(text)))
            x = rationals(text, meter)
        else:
            x = check_inside(domain, text, meter)
        signs = signs_at(network, slope, x, meter)
        zeros = Chain(network, slope, signs, columns, prime, meter).check()
        found.update(enumerate(zeros, 1))
    wanted = sum(network.widths[1:-1])
    require(len(found) == wanted, "every hidden neuron 0 at a point", f"{len(found)} of {wanted}")


def rank_modulo(rows: Matrix, prime: int, meter: Meter) -> int:
    """The rank of a matrix modulo a prime."""
    basis = dict[int, int]()
    meter.hold(len(rows) * len(rows[0]))
    for row in rows:
        reduce_into(basis, [x % prime for x in row], prime, meter)
    return len(basis)


def columns_modulo(layer: Layer, prime: int, meter: Meter) -> list[list[int]]:
    """The columns of an integer multiple of W[l] modulo a prime."""
    size = len(layer.rows) * len(layer.rows[0])
    meter.pay_divisions(size, layer.bits, prime.bit_length())
    meter.hold(size)
    return [[x % prime for x in column] for column in layer.columns()]


#: Maximum number of hidden layers of a chain, whose cost doubles with each of them.
MAX_CHAIN = 20


class Chain:
    """A point at which one neuron of each hidden layer is 0, with derivatives modulo a prime.

    `columns` has the columns of integer multiples of W[l], and `slopes` the numbers p and q by
    which neurons that are off and on are multiplied, in place of s = p/q and 1.
    """

    def __init__(
        self,
        network: Network,
        slope: Slope,
        signs: list[list[int]],
        columns: list[list[list[int]]],
        prime: int,
        meter: Meter,
    ) -> None:
        self.network, self.signs, self.columns = network, signs, columns
        self.prime, self.meter = prime, meter
        self.slopes = slope.p % prime, slope.q % prime
        for number, layer in enumerate(signs, 1):
            fact = f"one neuron of layer {number} that is 0"
            require(layer.count(0) == 1, fact, f"{layer.count(0)} of them")
        self.zeros = [layer.index(0) for layer in signs]

    def check(self) -> list[int]:
        """Check the conditions of a chain, and return its neurons."""
        self.check_links()
        self.check_gradients()
        self.check_visible()
        return self.zeros

    def check_links(self) -> None:
        """Each neuron of the chain bends the next one, which reads a second neuron."""
        for number, (h, v) in enumerate(zip(self.zeros, self.zeros[1:], strict=False), 2):
            row = self.network.layers[number - 1].rows[v]
            require(row[h] != 0, f"a nonzero weight of neuron {v} of layer {number} on {h}", "0")
            others = any(w for k, w in enumerate(row) if k != h)
            require(others, f"a second nonzero weight of neuron {v} of layer {number}", "none")

    def check_gradients(self) -> None:
        """The gradients of the neurons of the chain are independent, where all of them are off."""
        rows = list[list[int]]()
        for number in range(len(self.zeros), 0, -1):
            if rows:
                rows = [self.behind(number, row) for row in rows]
            rows.append(
                [int(h == self.zeros[number - 1]) for h in range(len(self.signs[number - 1]))]
            )
            rows = self.times(rows, number)
        rank = rank_modulo(rows, self.prime, self.meter)
        require(rank == len(rows), "independent gradients of the neurons of a chain", str(rank))

    def check_visible(self) -> None:
        """The outputs bend at each neuron of the chain, whatever the signs of the later ones.

        One combination of the outputs is enough, with powers of a large number. Its derivative
        by the activations of a layer is a combination of `rows`: of the first one, where all
        neurons of the chain are off, and of one for each later neuron of the chain that is on.
        """
        outputs = [pow(ON_OUTPUTS, o, self.prime) for o in range(self.network.widths[-1])]
        rows, sides = self.times([outputs], len(self.zeros) + 1), [[1]]
        for number in range(len(self.zeros), 0, -1):
            t = self.zeros[number - 1]
            entries = [row[t] for row in rows]
            self.meter.pay_modular(4 * len(sides) * len(rows))
            self.meter.hold(2 * len(sides) * len(rows))
            values = [dot(side, entries) % self.prime for side in sides]
            require(all(values), f"outputs that bend at neuron {t} of layer {number}", "none")
            rows = [self.behind(number, row) for row in rows]
            rows.append(
                [(self.slopes[1] - self.slopes[0]) * int(h == t) for h in range(len(rows[0]))]
            )
            rows = self.times(rows, number)
            pairs = list(zip(sides, values, strict=True))
            sides = [[*side, x] for side, value in pairs for x in (0, value)]

    def behind(self, number: int, row: Sequence[int]) -> list[int]:
        """Derivatives by the preactivations of a layer, from those by its activations."""
        off, on = self.slopes
        signs = self.signs[number - 1]
        return [(on if s > 0 else off) * x % self.prime for s, x in zip(signs, row, strict=True)]

    def times(self, rows: Matrix, number: int) -> list[list[int]]:
        """Rows times the weights of a layer."""
        columns = self.columns[number - 1]
        self.meter.pay_modular(2 * len(rows) * len(columns) * len(columns[0]))
        return [[dot(row, column) % self.prime for column in columns] for row in rows]


def signs_at(
    network: Network, slope: Slope, x: Sequence[Fraction], meter: Meter
) -> list[list[int]]:
    """The signs of the hidden neurons of a leaky ReLU stack at a point, layer by layer."""
    scale = common_denominator(x, "a common denominator of a point", meter)
    values, found = scaled_point(x, scale, meter), list[list[int]]()
    for layer in network.layers[:-1]:
        bits = longest([values, [scale]]) + slope.bits
        well_formed(
            bits <= GROWN_BITS, f"beyond the limits: numbers of more than {GROWN_BITS} bits"
        )
        meter.pay(len(layer.rows) * (len(values) + 4), bits, layer.bits)
        z = [dot(row, values) + b * scale for row, b in zip(layer.rows, layer.bias, strict=True)]
        found.append([(a > 0) - (a < 0) for a in z])
        values = [(slope.q if a > 0 else slope.p) * a for a in z]
        scale *= layer.denominator * slope.q
        total = longest([values, [scale]])
        meter.pay_divisions(2 * len(z), total, total)
        divisor = math.gcd(scale, *values)
        values, scale = [a // divisor for a in values], scale // divisor
    return found


# ---- leaky-replacement


@theorem(
    "leaky-replacement",
    kind="not-identifiable",
    among=("all",),
    architecture="leaky",
    page="theory/architectures.md",
    evidence={
        "architecture": {},
        "same-function": {"layer": int},
        "not-related": {"layer": int},
        "membership": MEMBERSHIP,
    },
    says=THEOREMS["replacement"].says,
)
def leaky_replacement(case: Case) -> None:
    """The maps of layers l and l+1 agree on the box that interval arithmetic gives."""
    stacks, slope = case_of_stacks(case)
    check_refutation(stacks, lambda one: check_leaky_maps(one, slope))


def check_leaky_maps(case: Case, slope: Slope) -> None:
    """As for `bounded-replacement`: q phi(t) = q max(t, 0) - p max(-t, 0)."""
    changed, box = changed_layers(case), box_of_inputs(case)
    for layer in case.network.layers[: changed.number - 1]:
        box = leaky_box(layer, box, slope, case.meter)
    pairs = ((changed.lower, changed.upper), changed.others)
    doubled = [in_two_parts(lower, upper, slope, case.meter) for lower, upper in pairs]
    check_maps(Changed(changed.number, *doubled[0], doubled[1]), box, case.meter)


def in_two_parts(lower: Layer, upper: Layer, slope: Slope, meter: Meter) -> tuple[Layer, Layer]:
    """Layers of ReLUs with the same map, with a second neuron for negative arguments."""
    rows, columns = [*lower.rows, *lower.rows], len(upper.rows[0])
    meter.pay(2 * len(rows) * len(lower.rows[0]))
    meter.pay(2 * len(upper.rows) * (columns + 1), upper.bits, slope.bits)
    meter.hold(2 * len(rows) * len(lower.rows[0]))
    rows = [[-x for x in row] if i >= columns else row for i, row in enumerate(rows)]
    bias = [*lower.bias, *(-b for b in lower.bias)]
    outgoing = [[*(slope.q * x for x in row), *(-slope.p * x for x in row)] for row in upper.rows]
    offset, bits = [slope.q * b for b in upper.bias], upper.bits + slope.bits
    return (
        Layer(lower.denominator, bias, rows, [], lower.bits),
        Layer(upper.denominator * slope.q, offset, outgoing, [], bits),
    )


def leaky_box(layer: Layer, box: Box, slope: Slope, meter: Meter) -> Box:
    """A box that holds the activations of a hidden layer for all inputs in a box."""
    bits = box.bits() + layer.bits + slope.bits
    well_formed(
        bits <= GROWN_BITS,
        f"beyond the limits: a box with ends of more than {GROWN_BITS} bits",
    )
    meter.pay(4 * len(layer.rows) * (len(box.lower) + 2), box.bits(), layer.bits + slope.bits)
    lower, upper = list[Any](), list[Any]()
    for row in layer.augmented():
        low, high = box.supremum(row, -1), box.supremum(row)
        lower.append(None if low is None else -low * (slope.q if low < 0 else slope.p))
        upper.append(None if high is None else high * (slope.q if high > 0 else slope.p))
    return Box(lower, upper, box.denominator * layer.denominator * slope.q)
