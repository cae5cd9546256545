"""Invariants of neurons under permutation and positive scaling, in networks of blocks.

They are the invariants of FORMAT.md §3.5 with all layers that a layer reads in the place of one:
the ray of the bias and of the scaled weights, by the invariants of the neurons that are read.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from itertools import chain
from typing import NamedTuple

from polyrelu.exact import as_sparse
from polyrelu.network import Layer, Network
from polyrelu.support.limits import SCALE_BIT_LIMIT, is_affordable

__all__ = ["NeuronNames"]


class _Named(NamedTuple):
    """Invariants of the neurons of a layer, and their scales over one denominator."""

    names: list[int]
    scales: list[int]
    common: int


class NeuronNames:
    """Numbers that are equal for neurons with equal invariants, computed layer by layer.

    Parameters
    ----------
    network
        The network.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2], [2, 4]], [3, 6]), ([[1, 1]], [0])])
    >>> names = NeuronNames(net)
    >>> names.of_neuron(net.layers[0], 1, 0) == names.of_neuron(net.layers[0], 1, 1)
    True
    """

    def __init__(self, network: Network) -> None:
        self._network, self._numbers = network, dict[Hashable, int]()
        inputs = [self._number((0, j)) for j in range(network.num_inputs)]
        self._layers = [_Named(inputs, [1] * len(inputs), 1)]

    def is_affordable(self, number: int) -> bool:
        """Return whether the checker can compare the invariants of a layer in two networks.

        The layers before are the network's in both.
        """
        layers = self._network.layers[:number]
        self.of_neuron(layers[-1], number, 0)
        scales = max(max(named.scales) for named in self._layers).bit_length()
        bits = scales + max(2 * named.common.bit_length() for named in self._layers)
        bits += max(layer.bits for layer in layers)
        entries = sum(
            as_sparse(block.entries).num_nonzeros for layer in layers for block in layer.blocks
        )
        entries += sum(4 * layer.width for layer in layers)
        return bits <= SCALE_BIT_LIMIT and is_affordable(24 * entries, bits)

    def of_neuron(self, layer: Layer, number: int, i: int) -> int:
        """Return the invariant of a neuron of a layer; the layers before are the network's."""
        while len(self._layers) < number:
            below = self._network.layers[len(self._layers) - 1]
            self._layers.append(self._named(len(self._layers), below, range(below.width)))
        return self._named(number, layer, [i]).names[0]

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _named(self, number: int, layer: Layer, chosen: Iterable[int]) -> _Named:
        """Return the invariants of some neurons of a layer."""
        blocks = [(self._layers[b.source], as_sparse(b.entries)) for b in layer.blocks]
        common = math.lcm(*(read.common for read, _ in blocks))
        scale = math.lcm(layer.bias.denominator, *(w.denominator for _, w in blocks))
        factor = common * scale // layer.bias.denominator
        bias = [row[0] * factor for row in layer.bias.integer_rows()]
        tables = [
            (read, common // read.common * (scale // w.denominator), w.starts, w.columns, numbers)
            for read, w in blocks
            for numbers in [w.numerators]
        ]
        names, scales = list[int](), list[int]()
        for i in chosen:
            terms = [
                (read.names[j], int(x) * factor * read.scales[j])
                for read, factor, starts, columns, numbers in tables
                for j, x in zip(
                    columns[starts[i] : starts[i + 1]].tolist(),
                    numbers[starts[i] : starts[i + 1]].tolist(),
                    strict=True,
                )
                if read.scales[j]
            ]
            divisor = math.gcd(bias[i], *(x for _, x in terms)) or 1
            pairs = sorted((name, x // divisor) for name, x in terms)
            key = (number, bias[i] // divisor, *chain.from_iterable(pairs))
            names.append(self._number(key))
            scales.append(sum(abs(x) for _, x in terms) + abs(bias[i]))
        return _Named(names, scales, common * scale)
