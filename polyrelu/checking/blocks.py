"""Refutations for networks whose layers read several of the layers before them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

from polyrelu.checking.arithmetic import Matrix, Row
from polyrelu.checking.meter import GROWN_BITS, Meter, cells_of, longest, require, well_formed
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.pairs import domain_of_competitors, least_common_multiple
from polyrelu.checking.replacement import Box, End, box_of_inputs
from polyrelu.checking.theorems import MEMBERSHIP, Case, theorem

# ==== 3.14 Networks of blocks ====

UNUSED, DEAD, LINEAR, FLIP = "unused", "dead", "linear", "flip"


#: Weights of one neuron by the layers that it reads.
Weights = list[tuple[int, list[int]]]


class ChangedNeuron(NamedTuple):
    """Neuron i of layer l, l = `number`, in both networks: all its weights by source, and biases.

    The rows are over the denominators of the layers.
    """

    number: int
    i: int
    rows: tuple[Weights, Weights]
    biases: tuple[int, int]
    denominators: tuple[int, int]

    def shift(self, case: str, meter: Meter) -> Fraction:
        """What later biases lose for each unit of weight: 0, b' - b, or -b if it is flipped."""
        (b, c), (d, e) = self.biases, self.denominators
        bits = longest([self.biases, self.denominators])
        meter.pay(8, bits, bits)
        meter.pay_divisions(8, 2 * bits, 2 * bits)
        if case == LINEAR:
            return Fraction(c, e) - Fraction(b, d)
        return Fraction(-b, d) if case == FLIP else Fraction(0)


@theorem(
    "blocks-neuron",
    kind="not-identifiable",
    among=("all",),
    architecture="blocks",
    page="theory/architectures.md",
    evidence={
        "architecture": {},
        "same-function": {
            "layer": int,
            "neuron": int,
            "case": re.compile(f"{UNUSED}|{DEAD}|{LINEAR}|{FLIP}"),
        },
        "not-related": {},
        "membership": MEMBERSHIP,
    },
    says={
        "architecture": "both networks have layers of the same widths, which read the same layers",
        "same-function": "they compute the same real function on the domain: one neuron is "
        "unused, never positive or never negative there, or what reads it also reads what it reads",
        "not-related": "they differ in an invariant of permutations and positive scalings",
    },
)
def blocks_neuron(case: Case) -> None:
    """One hidden neuron has another row [W|b], and later biases make up for it."""
    one, two, meter = case.network, case.other, case.meter
    check_architecture(case)
    evidence = case.hypothesis("same-function")
    number, i = hidden_layer(case), evidence["neuron"]
    require(i < one.widths[number], f"a neuron of layer {number}", str(i))
    neuron = neuron_of(one, two, number, i)
    check_other_layers(one, two, neuron, evidence["case"], meter)
    check_case(case, neuron, evidence["case"])
    case.hypothesis("not-related")
    check_not_related(one, neuron, meter)


def check_architecture(case: Case) -> None:
    """Both networks have the same widths and last activation, and layers that read the same."""
    one, two = case.network, case.other
    case.domain = domain_of_competitors(case)
    case.hypothesis("architecture")
    require(one.widths == two.widths, "equal widths", f"{one}; {two}")
    require(one.last == two.last, "equal last activations", f"{one}; {two}")
    require(sources_of(one) == sources_of(two), "layers that read the same layers")


def hidden_layer(case: Case) -> int:
    """The evidence's layer, which is not the last one."""
    number: int = case.evidence["same-function"]["layer"]
    last = len(case.network.layers)
    require(1 <= number < last, f"a layer from 1 to {last - 1}", str(number))
    return number


def sources_of(network: Network) -> list[list[int]]:
    """The layers that each layer reads besides the one before."""
    return [[source for source, _ in layer.earlier] for layer in network.layers]


def blocks_of(network: Network, number: int) -> list[tuple[int, list[list[int]]]]:
    """All blocks of a layer: source, rows."""
    layer = network.layers[number - 1]
    return [*layer.earlier, (number - 1, layer.rows)]


def row_of(network: Network, number: int, i: int) -> Weights:
    """The weights of a neuron on all that it reads."""
    return [(source, rows[i]) for source, rows in blocks_of(network, number)]


def neuron_of(one: Network, two: Network, number: int, i: int) -> ChangedNeuron:
    """A neuron in both networks."""
    mine, others = (row_of(network, number, i) for network in (one, two))
    first, second = one.layers[number - 1], two.layers[number - 1]
    biases, denominators = (first.bias[i], second.bias[i]), (first.denominator, second.denominator)
    return ChangedNeuron(number, i, (mine, others), biases, denominators)


def check_other_layers(
    one: Network, two: Network, neuron: ChangedNeuron, name: str, meter: Meter
) -> None:
    """All else is equal, but for what makes up for a larger bias, or for a negated row [w|b].

    As max(t, 0) = t + max(-t, 0), a layer that reads a negated neuron with the weight v has v w
    more on what the neuron reads, and the bias v b more.
    """
    shift = neuron.shift(name, meter)
    for number in range(1, len(one.layers) + 1):
        skipped, column = (neuron.i if number == neuron.number else -1), [0] * one.widths[number]
        for source, rows in blocks_of(one, number):
            if source == neuron.number:
                column = [row[neuron.i] for row in rows]
        left = dict(neuron.rows[0]) if name == FLIP and any(column) else {}
        pairs = zip(blocks_of(one, number), blocks_of(two, number), strict=True)
        for (source, rows), (_, others) in pairs:
            added = left.pop(source, [])
            expected = Expected(number, rows, skipped, column, added, neuron.denominators[0])
            check_rows(expected, others, one.layers[number - 1], two.layers[number - 1], meter)
        wanted = f"a layer {number} that reads what the neuron reads"
        require(not any(map(any, left.values())), wanted, "another one")
        check_biases(one.layers[number - 1], two.layers[number - 1], column, shift, skipped, meter)


class Expected(NamedTuple):
    """A block of layer `number` of `other`: rows + column * added / denominator.

    One row may be any other, unless `skipped` is -1; without change `added` is empty.
    """

    number: int
    rows: Matrix
    skipped: int
    column: Sequence[int]
    added: Sequence[int]
    denominator: int


def check_rows(block: Expected, others: Matrix, first: Layer, second: Layer, meter: Meter) -> None:
    """The rows of a block of `other` are the expected ones."""
    d, e, q = first.denominator, second.denominator, block.denominator
    bits, own = max(first.bits, second.bits), longest([block.added, [q]])
    size = len(block.rows) * len(block.rows[0])
    meter.pay(2 * size, bits, bits if d != e else 0)
    is_added = any(block.added)
    if is_added:
        meter.pay(6 * size, bits + own, bits + own)
    for k, (row, other) in enumerate(zip(block.rows, others, strict=True)):
        if k == block.skipped:
            continue
        v = block.column[k]
        if v and is_added:
            row = [x * q + v * w for x, w in zip(row, block.added, strict=True)]
            same = [x * e for x in row] == [y * d * q for y in other]
        else:
            same = row == other if d == e else [x * e for x in row] == [y * d for y in other]
        wanted = f"the weights of neuron {k} of layer {block.number} as the theorem says"
        require(same, wanted, "different ones")


def check_biases(
    first: Layer,
    second: Layer,
    column: Sequence[int],
    shift: Fraction,
    skipped: int,
    meter: Meter,
) -> None:
    """The biases of a layer of `other`, but for one of them, are b - shift * column."""
    p, q = shift.as_integer_ratio()
    bits = max(first.bits, second.bits)
    meter.pay(5 * len(column), 2 * bits, bits + max(p.bit_length(), q.bit_length()))
    for k, (b, c, v) in enumerate(zip(first.bias, second.bias, column, strict=True)):
        if k != skipped:
            same = (b * q - p * v) * second.denominator == c * q * first.denominator
            require(same, "the biases of `other` as the theorem says", f"another one, {k}")


def check_case(case: Case, neuron: ChangedNeuron, name: str) -> None:
    """Nothing reads the neuron, or it has one sign on the box in both networks, or is negated."""
    if name == UNUSED:
        check_unused(case.network, neuron)
    elif name != FLIP:
        check_one_sign(case, neuron, 1 if name == DEAD else -1)
    if name in (LINEAR, FLIP):
        sign, (d, e) = (1 if name == LINEAR else -1), neuron.denominators
        for (_, row), (_, changed) in zip(*neuron.rows, strict=True):
            same = [x * e for x in row] == [sign * y * d for y in changed]
            require(same, f"weights of a {name} neuron", "other ones")
    if name == FLIP:
        (b, c), (d, e) = neuron.biases, neuron.denominators
        require(b * e == -c * d, "the bias of a flip neuron", "another one")


def check_unused(network: Network, neuron: ChangedNeuron) -> None:
    """No later layer reads the neuron."""
    for number in range(neuron.number + 1, len(network.layers) + 1):
        for source, rows in blocks_of(network, number):
            is_read = source == neuron.number and any(row[neuron.i] for row in rows)
            require(not is_read, f"an unused neuron {neuron.i}", f"layer {number} reads it")


def check_one_sign(case: Case, neuron: ChangedNeuron, sign: int) -> None:
    """The neuron, times the sign, is never positive on the box, in both networks."""
    boxes, meter, i = boxes_of(case, neuron.number - 1), case.meter, neuron.number - 1
    layer, other = case.network.layers[i], case.other.layers[i]
    common, bits = common_of(boxes, [source for source, _ in neuron.rows[0]], meter)
    size = sum(len(row) + 2 for _, row in neuron.rows[0])
    meter.pay(4 * size, bits + common.bit_length(), max(layer.bits, other.bits))
    for rows, bias in zip(neuron.rows, neuron.biases, strict=True):
        end = supremum(rows, bias, sign, boxes, common)
        fact = f"a neuron that is never {'positive' if sign > 0 else 'negative'} on the box"
        got = f"neuron {neuron.i} of layer {neuron.number}"
        has_sign = end is not None and end <= 0
        require(has_sign, fact, got)


def boxes_of(case: Case, depth: int) -> list[Box]:
    """Boxes that hold the inputs, and the activations of layers 1 to `depth`, on the domain."""
    boxes, network, meter = [box_of_inputs(case)], case.network, case.meter
    for number in range(1, depth + 1):
        layer, blocks = network.layers[number - 1], blocks_of(network, number)
        common, bits = common_of(boxes, [source for source, _ in blocks], meter)
        grown = bits + common.bit_length() + layer.bits
        message = f"beyond the limits: a box with ends of more than {GROWN_BITS} bits"
        well_formed(grown <= GROWN_BITS, message)
        size = sum(len(rows) * (len(rows[0]) + 2) for _, rows in blocks)
        meter.pay(4 * size, bits + common.bit_length(), layer.bits)
        meter.hold(cells_of(2 * len(layer.rows), grown))
        lower, upper = list[End](), list[End]()
        for k, b in enumerate(layer.bias):
            row = [(source, rows[k]) for source, rows in blocks]
            low, high = (supremum(row, b, sign, boxes, common) for sign in (-1, 1))
            lower.append(0 if low is None else max(-low, 0))
            upper.append(None if high is None else max(high, 0))
        boxes.append(Box(lower, upper, common * layer.denominator))
    return boxes


def common_of(boxes: Sequence[Box], sources: Sequence[int], meter: Meter) -> tuple[int, int]:
    """A common denominator of the boxes that a layer reads, and the bits of their ends."""
    common = least_common_multiple([boxes[source].denominator for source in sources], meter)
    message = f"beyond the limits: a box with ends of more than {GROWN_BITS} bits"
    well_formed(common.bit_length() <= GROWN_BITS, message)
    return common, max(boxes[source].bits() for source in sources)


def supremum(rows: Weights, bias: int, sign: int, boxes: Sequence[Box], common: int) -> End:
    """The largest value of sign * (sum of rows . activations + bias) on boxes, times `common`."""
    total = sign * bias * common
    for source, row in rows:
        end = boxes[source].supremum([*row, 0], sign)
        if end is None:
            return None
        total += end * (common // boxes[source].denominator)
    return total


# -- Invariants of neurons of networks of blocks


class Named(NamedTuple):
    """Numbers of invariants of the neurons of a layer, and their scales over one denominator."""

    names: list[int]
    scales: list[int]
    common: int


def check_not_related(network: Network, neuron: ChangedNeuron, meter: Meter) -> None:
    """The invariant of the neuron differs, and no other one of its layer does."""
    numbers = dict[Row, int]()
    known = names_below(network, neuron.number, numbers, meter), numbers
    (mine,), (other,) = (
        named(neuron.number, [rows], [bias], 1, known, meter).names
        for rows, bias in zip(neuron.rows, neuron.biases, strict=True)
    )
    require(mine != other, "different invariants", "equal ones")


def check_different_invariants(case: Case) -> None:
    """The invariants of the layer that the evidence names differ."""
    layer, numbers = case.hypothesis("not-related")["layer"], dict[Row, int]()
    last = len(case.network.layers)
    require(1 <= layer <= last, "a layer of the networks", str(layer))
    mine, others = (
        names_below(network, layer + 1, numbers, case.meter)[-1].names
        for network in (case.network, case.other)
    )
    if layer < last:
        mine, others = sorted(mine), sorted(others)
    require(mine != others, "different invariants", "equal ones")


def names_below(network: Network, stop: int, numbers: dict[Row, int], meter: Meter) -> list[Named]:
    """The invariants of inputs, and of the neurons of the layers before layer `stop`."""
    inputs = list(range(network.widths[0]))
    layers = [Named([name_of_key(Row((0, j)), numbers) for j in inputs], [1] * len(inputs), 1)]
    for number in range(1, stop):
        layer = network.layers[number - 1]
        rows = [row_of(network, number, k) for k in range(len(layer.rows))]
        is_last = number == len(network.layers)
        known = layers, numbers
        layers.append(named(number, rows, layer.bias, layer.denominator, known, meter, is_last))
    return layers


def name_of_key(key: Row, numbers: dict[Row, int]) -> int:
    """The number of an invariant: equal ones have equal numbers, so that nothing nests."""
    return numbers.setdefault(key, len(numbers))


def name_of_vector(
    number: int, front: list[int], e: list[tuple[int, int]], numbers: dict[Row, int]
) -> int:
    """The number of a neuron's invariant, by the primitive multiple of its vector (b, e)."""
    divisor = math.gcd(*front, *(x for _, x in e)) or 1
    pairs = sorted((name, x // divisor) for name, x in e)
    key = (number, *(x // divisor for x in front), *chain.from_iterable(pairs))
    return name_of_key(Row(key), numbers)


def named(
    number: int,
    rows: Sequence[Weights],
    biases: Sequence[int],
    denominator: int,
    known: tuple[list[Named], dict[Row, int]],
    meter: Meter,
    is_last: bool = False,
) -> Named:
    """The invariants of neurons of a layer: of each one its ray (b, e), as in 3.5.

    The invariant of an output is (b, e) itself, so that the common denominator joins the vector.
    """
    layers, numbers = known
    sources = [source for source, _ in rows[0]]
    common = least_common_multiple([layers[source].common for source in sources], meter)
    factors = [(source, common // layers[source].common) for source in sources]
    bits = longest([*(layers[source].scales for source in sources), [common]])
    bits += max(common.bit_length(), *(longest([row]) for weights in rows for _, row in weights))
    bits += longest([biases, [denominator]])
    well_formed(bits <= GROWN_BITS, f"beyond the limits: scales of more than {GROWN_BITS} bits")
    names, scales = list[int](), list[int]()
    for weights, b in zip(rows, biases, strict=True):
        size = sum(len(row) for _, row in weights)
        terms = sum(len(row) - row.count(0) for _, row in weights)
        meter.pay(2 * size)
        meter.pay_divisions(10 * (terms + 4), bits, bits)
        meter.hold(cells_of(2 * terms + 4, bits))
        e = [
            (name, w * scale * factor)
            for (source, factor), (_, row) in zip(factors, weights, strict=True)
            for w, name, scale in zip(row, *layers[source][:2], strict=True)
            if w * scale
        ]
        front = [b * common, common * denominator] if is_last else [b * common]
        names.append(name_of_vector(number, front, e, numbers))
        scales.append(sum(abs(x) for _, x in e) + abs(front[0]))
    return Named(names, scales, common * denominator)
