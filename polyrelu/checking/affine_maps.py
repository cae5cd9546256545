"""Networks that are affine on a node, by the signs of their neurons."""

from __future__ import annotations

from collections.abc import Sequence

from polyrelu.checking.arithmetic import Form, bits_of_form
from polyrelu.checking.meter import Meter, longest
from polyrelu.checking.networks import Network
from polyrelu.checking.pairs import Domain

# -- Exact maps of a node


class ExactMap:
    """A network that is affine on a node, by the signs of all its neurons."""

    def __init__(
        self, network: Network, domain: Domain, signs: list[list[int]], meter: Meter
    ) -> None:
        self.network, self.domain, self.signs, self.meter = network, domain, signs, meter

    def of_outputs(self, weights: Sequence[int]) -> tuple[Form, int]:
        """A combination of outputs as a form in the coordinates, over a denominator."""
        depth = len(self.network.layers)
        if self.network.last == "relu":
            weights = self.masked(weights, depth)
        return self.of_layer(depth, weights)

    def masked(self, weights: Sequence[int], number: int) -> list[int]:
        """Weights of activations as weights of preactivations."""
        return [w if s > 0 else 0 for w, s in zip(weights, self.signs[number - 1], strict=True)]

    def of_layer(self, number: int, weights: Sequence[int]) -> tuple[Form, int]:
        """A combination of preactivations of a layer."""
        constant, scale, row = 0, 1, list(weights)
        for below in range(number, 0, -1):
            layer = self.network.layers[below - 1]
            bits = max(longest([row]), constant.bit_length(), scale.bit_length())
            self.meter.pay(len(layer.rows) * (len(layer.rows[0]) + 2), bits, layer.bits)
            constant = constant * layer.denominator + sum(
                w * b for w, b in zip(row, layer.bias, strict=True)
            )
            scale *= layer.denominator
            sums = [0] * len(layer.rows[0])
            for w, entries in zip(row, layer.rows, strict=True):
                if w:
                    sums = [s + w * x for s, x in zip(sums, entries, strict=True)]
            row = self.masked(sums, below - 1) if below > 1 else sums
        return self.of_inputs(row, constant, scale)

    def of_inputs(self, row: Sequence[int], constant: int, scale: int) -> tuple[Form, int]:
        """A combination of inputs and a constant over a scale."""
        inputs, common = self.domain.inputs, self.domain.scale
        size = sum(map(len, inputs)) + len(inputs)
        self.meter.pay(2 * size, longest([row]), max(common.bit_length(), longest_form(inputs)))
        found: Form = {0: constant * common}
        for w, form in zip(row, inputs, strict=True):
            if w:
                for symbol, x in form.items():
                    found[symbol] = found.get(symbol, 0) + w * x
        return found, scale * common


def longest_form(forms: Sequence[Form]) -> int:
    """The bits of the longest coefficient."""
    return max(map(bits_of_form, forms), default=0)
