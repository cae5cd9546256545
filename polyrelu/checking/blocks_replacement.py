"""Refutations for networks of blocks that change a layer, and the layers that read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from polyrelu.checking.arithmetic import Matrix
from polyrelu.checking.blocks import (
    Expected,
    blocks_of,
    boxes_of,
    check_architecture,
    check_different_invariants,
    check_rows,
    common_of,
    hidden_layer,
)
from polyrelu.checking.meter import Meter, require
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.refutations import Changed
from polyrelu.checking.replacement import AbsoluteValueForm, Box
from polyrelu.checking.theorems import MEMBERSHIP, Case, theorem


@theorem(
    "blocks-replacement",
    kind="not-identifiable",
    among=("all",),
    architecture="blocks",
    page="theory/architectures.md",
    evidence={
        "architecture": {},
        "same-function": {"layer": int},
        "not-related": {"layer": int},
        "membership": MEMBERSHIP,
    },
    says={
        "architecture": "both networks have layers of the same widths, which read the same layers",
        "same-function": "they compute the same real function on the domain: one layer, and the "
        "layers that read it, have the same maps",
        "not-related": "they differ in an invariant of permutations and positive scalings",
    },
)
def blocks_replacement(case: Case) -> None:
    """Layer l and each layer that reads it have one map on the box of all values before l."""
    check_architecture(case)
    case.hypothesis("same-function")
    number = hidden_layer(case)
    readers = readers_of(case.network, number)
    check_equal_layers(case, {number, *readers})
    boxes = boxes_of(case, number - 1)
    for reader in readers:
        check_reader(case, Reading(number, reader), boxes)
    check_different_invariants(case)


def readers_of(network: Network, number: int) -> list[int]:
    """The layers that read a layer."""
    later = range(number + 1, len(network.layers) + 1)
    return [k for k in later if any(source == number for source, _ in blocks_of(network, k))]


def check_equal_layers(case: Case, changed: set[int]) -> None:
    """All layers but some are equal."""
    pairs = zip(case.network.layers, case.other.layers, strict=True)
    for k, (mine, others) in enumerate(pairs, 1):
        if k not in changed:
            require(mine == others, f"equal layers {k}", "different ones")


class Reading(NamedTuple):
    """Layer l = `number`, and a layer that reads it."""

    number: int
    reader: int


def check_reader(case: Case, pair: Reading, boxes: Sequence[Box]) -> None:
    """The maps of layer l and of a reader agree on the box; behind l the reader's blocks are equal.

    The coordinates are the neurons of all layers before l that one of the two layers reads.
    """
    one, two, meter = case.network, case.other, case.meter
    first, second = (network.layers[pair.reader - 1] for network in (one, two))
    blocks = zip(blocks_of(one, pair.reader), blocks_of(two, pair.reader), strict=True)
    for (source, rows), (_, others) in blocks:
        if source > pair.number:
            same = Expected(pair.reader, rows, -1, [0] * len(rows), [], 1)
            check_rows(same, others, first, second, meter)
    read = {source for k in pair for source, _ in blocks_of(one, k) if source < pair.number}
    sources = sorted(read)
    common, bits = common_of(boxes, sources, meter)
    meter.pay(sum(4 * len(boxes[k].lower) for k in sources), bits, common.bit_length())
    box = joint_box([boxes[k] for k in sources], common)
    form = AbsoluteValueForm(changed_neurons(case, pair, sources), box, meter)
    for sign, network in ((1, one), (-1, two)):
        layer = network.layers[pair.reader - 1]
        linear = [(k, rows) for k, rows in blocks_of(network, pair.reader) if k < pair.number]
        if linear:
            width = [one.widths[k] for k in sources]
            table = joint_rows(dict(linear), sources, width, len(layer.rows), meter)
            form.add_linear(sign * form.common // layer.denominator, table)
    form.check()


def joint_box(boxes: Sequence[Box], common: int) -> Box:
    """The product of boxes, over a common denominator."""
    lower, upper = (
        [
            None if end is None else end * (common // box.denominator)
            for box in boxes
            for end in (box.lower if is_lower else box.upper)
        ]
        for is_lower in (True, False)
    )
    return Box(lower, upper, common)


def joint_rows(
    blocks: Mapping[int, Matrix],
    sources: Sequence[int],
    widths: Sequence[int],
    size: int,
    meter: Meter,
) -> list[list[int]]:
    """Rows on the neurons of several layers one after the other, 0 where nothing is read."""
    meter.pay(size * sum(widths))
    meter.hold(size * sum(widths))
    return [
        [
            x
            for source, width in zip(sources, widths, strict=True)
            for x in (blocks[source][i] if source in blocks else [0] * width)
        ]
        for i in range(size)
    ]


def changed_neurons(case: Case, pair: Reading, sources: Sequence[int]) -> Changed:
    """The neurons of layer l that differ in their rows, or in the weights of the reader on them.

    Of the reader only its weights on them and its biases are kept.
    """
    one, two, meter = case.network, case.other, case.meter
    sides = [side_of(network, pair, meter) for network in (one, two)]
    (lower, upper), (below, above) = (
        (network.layers[pair.number - 1], network.layers[pair.reader - 1]) for network in (one, two)
    )
    size = one.widths[pair.number] * (1 + len(upper.rows))
    size += sum(len(rows) * len(rows[0]) for _, rows in blocks_of(one, pair.number))
    meter.pay(2 * size, max(lower.bits, upper.bits), max(below.bits, above.bits))
    found = list[int]()
    for i, (mine, others) in enumerate(zip(*(side.neurons for side in sides), strict=True)):
        same = is_same(mine, lower.denominator, others, below.denominator)
        column, other = (side.columns[i] for side in sides)
        if not (same and is_same(column, upper.denominator, other, above.denominator)):
            found.append(i)
    first, second = (
        changed_layers_of(network, side, found, pair, (sources, meter))
        for network, side in zip((one, two), sides, strict=True)
    )
    return Changed(pair.number, *first, second)


class ReadNeurons(NamedTuple):
    """The rows [b|W] of the neurons of layer l, and the weights of a reader on them."""

    neurons: list[list[int]]
    columns: list[tuple[int, ...]]


def side_of(network: Network, pair: Reading, meter: Meter) -> ReadNeurons:
    """The neurons of layer l of a network."""
    layer, blocks = network.layers[pair.number - 1], blocks_of(network, pair.number)
    read = dict(blocks_of(network, pair.reader))[pair.number]
    meter.hold(len(layer.bias) * (1 + len(read) + sum(len(rows[0]) for _, rows in blocks)))
    neurons = [[b, *(x for _, rows in blocks for x in rows[i])] for i, b in enumerate(layer.bias)]
    return ReadNeurons(neurons, list(zip(*read, strict=True)))


def is_same(row: Sequence[int], d: int, other: Sequence[int], e: int) -> bool:
    """Whether row / d and other / e are equal."""
    return all(x * e == y * d for x, y in zip(row, other, strict=True))


def changed_layers_of(
    network: Network,
    side: ReadNeurons,
    found: list[int],
    pair: Reading,
    space: tuple[Sequence[int], Meter],
) -> tuple[Layer, Layer]:
    """Layer l with some of its neurons, on all coordinates, and what reads them."""
    (sources, meter), layer = space, network.layers[pair.number - 1]
    reader = network.layers[pair.reader - 1]
    widths = [network.widths[k] for k in sources]
    blocks = {k: [rows[i] for i in found] for k, rows in blocks_of(network, pair.number)}
    rows = joint_rows(blocks, sources, widths, len(found), meter)
    bias = [layer.bias[i] for i in found]
    weights = [[side.columns[i][o] for i in found] for o in range(len(reader.rows))]
    return (
        Layer(layer.denominator, bias, rows, [], layer.bits),
        Layer(reader.denominator, reader.bias, weights, [], reader.bits),
    )
