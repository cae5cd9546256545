"""Refutations for networks of blocks by neurons of one sign wherever another neuron is on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from polyrelu.checking.arithmetic import check_indices
from polyrelu.checking.blocks import (
    blocks_of,
    check_architecture,
    check_different_invariants,
    hidden_layer,
    row_of,
)
from polyrelu.checking.blocks_replacement import check_equal_layers, is_same, readers_of
from polyrelu.checking.meter import Meter, longest, require
from polyrelu.checking.networks import Network
from polyrelu.checking.one_sided import MULTIPLES, SIGN_MARK, Facts
from polyrelu.checking.text import NATURAL, integer
from polyrelu.checking.theorems import MEMBERSHIP, Case, theorem


@theorem(
    "blocks-one-sided",
    kind="not-identifiable",
    among=("all",),
    architecture="blocks",
    page="theory/architectures.md",
    evidence={
        "architecture": {},
        "same-function": {
            "layer": int,
            "source": [int],
            "steps": [(int, NATURAL, MULTIPLES, MULTIPLES)],
            "signs": [(int, SIGN_MARK, NATURAL, MULTIPLES)],
        },
        "not-related": {"layer": int},
        "membership": MEMBERSHIP,
    },
    says={
        "architecture": "both networks have layers of the same widths, which read the same layers",
        "same-function": "they compute the same real function on the domain: neurons of one layer "
        "have one sign wherever one neuron that they read is on",
        "not-related": "they differ in an invariant of permutations and positive scalings",
    },
)
def blocks_one_sided(case: Case) -> None:
    """Neurons of layer l have one sign wherever the source is on; their weights on it change."""
    check_architecture(case)
    evidence = case.hypothesis("same-function")
    number, network = hidden_layer(case), case.network
    place = place_of_source(network, number, evidence["source"])
    neurons = [] if place is None else [sum(network.widths[1 : place.layer]) + place.neuron]
    facts = Facts(case, number, neurons)
    for step in evidence["steps"]:
        facts.add_step(*step)
    check_indices([v for v, *_ in evidence["signs"]], network.widths[number], "neurons with signs")
    for v, sign, factor, multiples in evidence["signs"]:
        check_signs(case, facts, number, SignProof(v, sign, integer(factor), multiples))
    readers = readers_of(network, number)
    check_equal_layers(case, {number, *readers})
    changes = check_layer_with_signs(case, number, place, evidence["signs"])
    for reader in readers:
        check_reader_of_signs(case, (number, reader), place, changes)
    check_different_invariants(case)


class SourceNeuron(NamedTuple):
    """A neuron of a hidden layer."""

    layer: int
    neuron: int


def place_of_source(network: Network, number: int, source: list[int]) -> SourceNeuron | None:
    """The source [k, h], a neuron of a hidden layer that layer l reads; None for the constant 1."""
    require(len(source) in (0, 2), "no source, or its layer and neuron", str(len(source)))
    if not source:
        return None
    read = [k for k, _ in blocks_of(network, number) if k]
    require(source[0] in read, f"a source in a hidden layer that layer {number} reads")
    require(source[1] < network.widths[source[0]], f"a neuron of layer {source[0]}")
    return SourceNeuron(*source)


class SignProof(NamedTuple):
    """A neuron, its sign, and a proof of a multiple of it."""

    neuron: int
    sign: str
    factor: int
    multiples: object


def check_signs(case: Case, facts: Facts, number: int, given: SignProof) -> None:
    """The neuron has the sign in both networks, by the same multiples."""
    require(given.factor > 0, "a positive factor of a sign", "0")
    layers = case.network.layers[number - 1], case.other.layers[number - 1]
    scales = layers[1].denominator, layers[0].denominator
    for network, layer, scale in zip((case.network, case.other), layers, scales, strict=True):
        factor = scale * (given.factor if given.sign == "+" else -given.factor)
        row = row_of(network, number, given.neuron)
        size = 1 + sum(len(weights) for _, weights in row)
        case.meter.pay(size, layer.bits, factor.bit_length())
        own = [(source, [factor * x for x in weights]) for source, weights in row]
        form = facts.form(own, factor * layer.bias[given.neuron])
        facts.check_follows(form, given.multiples)


class Changes(NamedTuple):
    """Numerators, over one scale, of the changes of neurons that are never negative."""

    numerators: dict[int, int]
    scale: int

    def bits(self) -> int:
        """The bits of the longest number."""
        return longest([[*self.numerators.values(), self.scale]])


def check_layer_with_signs(
    case: Case,
    number: int,
    place: SourceNeuron | None,
    signs: Sequence[tuple[int, str, str, object]],
) -> Changes:
    """Layer l is equal but for the weights of `signs` on the source, or their biases."""
    networks, meter = (case.network, case.other), case.meter
    layers = [network.layers[number - 1] for network in networks]
    tables = [table_of(network, number, place, meter) for network in networks]
    (d, e), bits = (layer.denominator for layer in layers), max(layer.bits for layer in layers)
    chosen = {v: sign for v, sign, *_ in signs}
    meter.pay(sum(2 * len(row) for row in tables[0].rows), bits, bits)
    for row, other in zip(*(table.rows for table in tables), strict=True):
        same = is_same(row, d, other, e)
        require(same, f"equal layers {number} but for the weights of `signs` on the source")
    meter.pay(2 * len(tables[0].weights), bits, bits)
    changes = dict[int, int]()
    for v, (x, y) in enumerate(zip(*(table.weights for table in tables), strict=True)):
        change = y * d - x * e
        require(not change or v in chosen, "changed weights of `signs` only", f"neuron {v}")
        if change and chosen[v] == "+":
            changes[v] = change
    return Changes(changes, d * e)


class SplitLayer(NamedTuple):
    """A layer: its weights on the source, or biases without a source, and all other numbers."""

    weights: list[int]
    rows: list[list[int]]


def table_of(network: Network, number: int, place: SourceNeuron | None, meter: Meter) -> SplitLayer:
    """A layer with the weights on the source taken out; they are 0 if it is not read."""
    layer, blocks = network.layers[number - 1], blocks_of(network, number)
    weights, rows = list[int](), list[list[int]]()
    size = len(layer.bias) * (1 + sum(len(table[0]) for _, table in blocks))
    meter.pay(size)
    meter.hold(size)
    for i, b in enumerate(layer.bias):
        row = [b]
        weights.append(b if place is None else 0)
        for source, table in blocks:
            row += table[i]
            if place is not None and source == place.layer:
                weights[-1] = table[i][place.neuron]
                row[place.neuron - len(table[i])] = 0
        if place is None:
            row[0] = 0
        rows.append(row)
    return SplitLayer(weights, rows)


def check_reader_of_signs(
    case: Case, layers: tuple[int, int], place: SourceNeuron | None, changes: Changes
) -> None:
    """A reader has less weight on the source, or a smaller bias, by what the changes add to it."""
    one, two, meter = case.network, case.other, case.meter
    number, reader = layers
    first, second = one.layers[reader - 1], two.layers[reader - 1]
    d, e, read = first.denominator, second.denominator, dict(blocks_of(one, reader))
    bits, own = max(first.bits, second.bits), changes.bits()
    meter.pay(len(first.bias) * (len(changes.numerators) + 6), bits + own, bits)
    totals = [sum(n * row[v] for v, n in changes.numerators.items()) for row in read[number]]
    fact = f"changes that cancel in layer {reader}, which does not read the source"
    require(place is None or place.layer in read or not any(totals), fact, "others")
    tables = [table_of(network, reader, place, meter) for network in (one, two)]
    meter.pay(sum(2 * len(row) for row in tables[0].rows), bits, bits)
    for row, other in zip(*(table.rows for table in tables), strict=True):
        same = is_same(row, d, other, e)
        require(same, f"layer {reader} of `other` as the theorem says", "another one")
    for total, x, y in zip(totals, *(table.weights for table in tables), strict=True):
        same = (x * changes.scale - total) * e == y * d * changes.scale
        require(same, f"layer {reader} of `other` as the theorem says", "another one")
