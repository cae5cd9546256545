"""Invariants of permutations and positive scalings."""

from __future__ import annotations

import math
from itertools import chain

from polyrelu.checking.arithmetic import Row
from polyrelu.checking.meter import GROWN_BITS, Meter, longest, well_formed
from polyrelu.checking.networks import Layer, Network

# ==== 3.5 Invariants under ~ ====


def invariants(network: Network, depth: int, numbers: dict[Row, int], meter: Meter) -> list[int]:
    """The invariants of the neurons of layer `depth`, sorted if the layer is hidden.

    `numbers` gives equal invariants equal numbers, so that nothing nests. Scales are integers over
    a common denominator.
    """
    names, scales, common = list(range(network.widths[0])), [1] * network.widths[0], 1
    for number, layer in enumerate(network.layers[:depth], 1):
        bits = max(common, *scales).bit_length() + layer.bits
        message = f"beyond the limits: scales of more than {GROWN_BITS} bits"
        well_formed(bits <= GROWN_BITS, message)
        own = longest([scales, [common]])
        meter.pay_divisions(10 * len(layer.rows) * (len(names) + 4), layer.bits, own)
        meter.hold(len(layer.rows) * (len(names) + 4))
        is_last = number == len(network.layers)
        names, scales = names_of_layer(network, number, is_last, (names, scales, common), numbers)
        common *= layer.denominator
    return names if depth == len(network.layers) else sorted(names)


def names_of_layer(
    network: Network,
    number: int,
    is_last: bool,
    inputs: tuple[list[int], list[int], int],
    numbers: dict[Row, int],
) -> tuple[list[int], list[int]]:
    """Numbers of invariants, and scales, of the neurons of a layer.

    Vectors (b, e)/N of norm 1 are equal iff their primitive multiples are. The last layer is not
    divided by N, so that its common denominator joins the vector.
    """
    names, scales, common = inputs
    layer: Layer = network.layers[number - 1]
    found, new_scales = list[int](), list[int]()
    for row, b in zip(layer.rows, layer.bias, strict=True):
        front = [b * common, common * layer.denominator] if is_last else [b * common]
        e = [(n, w * s) for w, n, s in zip(row, names, scales, strict=True) if w * s]
        divisor = math.gcd(*front, *(x for _, x in e)) or 1
        pairs = sorted((n, x // divisor) for n, x in e)
        key = Row((number, *(x // divisor for x in front), *chain.from_iterable(pairs)))
        found.append(numbers.setdefault(key, len(numbers)))
        new_scales.append(sum(abs(x) for _, x in e) + abs(b * common))
    return found, new_scales
