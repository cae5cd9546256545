"""Affine functions above rows on a node where neurons are open, with exact weights."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import common_denominator
from polyrelu.checking.forms import Interval, JointForms, SignCuts
from polyrelu.checking.grid import GridLayer
from polyrelu.checking.meter import Meter, longest, require
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.text import RATIONAL, OneOf, rational
from polyrelu.checking.trees import bits_of

# -- Rows with slopes

#: The slope of a neuron of f, or the slopes of a neuron of g with its partner.
SLOPES = OneOf((("f", int, int, RATIONAL), ("g", int, int, RATIONAL, RATIONAL)))


#: The network, the layer from 1, the index.
NeuronKey = tuple[int, int, int]


class LayerWeights(NamedTuple):
    """Weights of the neurons of a layer, integers over a common denominator."""

    numbers: list[int]
    scale: int


class RelaxedRow:
    """A row on its way down the layers: weights of neurons of f and of g, and a constant."""

    def __init__(
        self,
        networks: Sequence[Network],
        layers: Sequence[GridLayer],
        forms: JointForms,
        cuts: SignCuts,
        factor: int,
        meter: Meter,
    ) -> None:
        self.networks, self.layers, self.forms, self.meter = networks, layers, forms, meter
        self.cuts, self.factor, self.constant = cuts, factor, Fraction(0)
        self.slopes = dict[NeuronKey, tuple[Fraction, Fraction]]()
        self.multiples = dict[NeuronKey, Fraction]()
        self.by_layer = dict[int, list[NeuronKey]]()

    def read_slopes(self, entries: Any) -> None:
        """Slopes by network, layer and index, in ascending order."""
        last = (-1, 0, 0)
        for name, number, index, *texts in entries:
            key = ("fg".index(name), number, index)
            require(last < key, "slopes in strictly ascending order")
            require(key[0] < len(self.networks), "a neuron of f", "one of g")
            network = self.networks[key[0]]
            require(1 <= number <= network.num_hidden_layers(), "a layer with a ReLU", str(number))
            width = network.widths[number]
            require(index < width, f"neurons below {width}", str(index))
            first, *rest = (self.factor * rational(text, self.meter) for text in texts)
            self.slopes[key], last = (first, rest[0] if rest else Fraction(0)), key
            self.by_layer.setdefault(number, []).append(key)

    def to_inputs(self, weights: Sequence[LayerWeights]) -> list[LayerWeights]:
        """Weights of inputs that are above weights of outputs, up to the constant."""
        parts = list(weights)
        for number in range(len(self.layers), 0, -1):
            if self.layers[number - 1].is_hidden:
                parts = self.below_relu(number, parts)
            pairs = zip(self.networks, parts, strict=True)
            parts = [self.below(network.layers[number - 1], part) for network, part in pairs]
        return parts

    def below(self, layer: Layer, part: LayerWeights) -> LayerWeights:
        """Weights of what a layer reads; its biases go into the constant."""
        row, scale = part
        bits = max(longest([row]), scale.bit_length())
        self.meter.pay(len(layer.rows) * (len(layer.rows[0]) + 2), bits, layer.bits)
        bias = sum(w * b for w, b in zip(row, layer.bias, strict=True))
        self.add(Fraction(bias, scale * layer.denominator))
        sums = [0] * len(layer.rows[0])
        for w, entries in zip(row, layer.rows, strict=True):
            if w:
                sums = [s + w * x for s, x in zip(sums, entries, strict=True)]
        return LayerWeights(sums, scale * layer.denominator)

    def add(self, number: Fraction) -> None:
        """Add to the constant."""
        self.meter.pay_divisions(6, bits_of(number), bits_of(self.constant))
        self.constant += number

    def below_relu(self, number: int, parts: Sequence[LayerWeights]) -> list[LayerWeights]:
        """Weights of preactivations that are above weights of activations."""
        rest = [list(part.numbers) for part in parts]
        above = [dict[int, Fraction]() for _ in parts]
        listed = self.by_layer.get(number, [])
        for key in sorted(listed, key=lambda key: -key[0]):  # g first: its neurons have partners
            self.replace(key, parts, rest, above)
        for (which, layer, index), multiple in self.multiples.items():
            if layer == number:
                change = self.cuts[which, layer, index] * multiple
                above[which][index] = above[which].get(index, Fraction(0)) + change
        signs = self.forms.signs[number - 1]
        found = list[LayerWeights]()
        for part, numbers, new, known in zip(parts, rest, above, signs, strict=False):
            for i, sign in enumerate(known):
                fact = "slopes of all open neurons"
                require(sign != 0 or not numbers[i], fact, f"none of neuron {i}")
                numbers[i] = numbers[i] if sign > 0 else 0
            found.append(self.joined(LayerWeights(numbers, part.scale), new))
        return found

    def joined(self, part: LayerWeights, new: dict[int, Fraction]) -> LayerWeights:
        """Weights with fractions added to some of them."""
        meter, (numbers, scale) = self.meter, part
        fractions = [Fraction(1, scale), *new.values()]
        common = common_denominator(fractions, "a common denominator of slopes", meter)
        bits = max(longest([numbers]), *map(bits_of, fractions), common.bit_length())
        meter.pay(len(numbers) + 4 * len(new), bits, common.bit_length())
        row = [x * (common // scale) for x in numbers]
        for i, x in new.items():
            row[i] += x.numerator * (common // x.denominator)
        return LayerWeights(row, common)

    def replace(
        self,
        key: NeuronKey,
        parts: Sequence[LayerWeights],
        rest: list[list[int]],
        above: list[dict[int, Fraction]],
    ) -> None:
        """Replace the activations of a neuron, and of its partner, by slopes and a constant."""
        which, number, index = key
        ends = [self.layers[number - 1].partners[index], index] if which else [index]
        weights = [Fraction(0), Fraction(0)]
        for k, i in enumerate(ends):
            if i >= 0:
                weights[k] = Fraction(rest[k][i], parts[k].scale)
                rest[k][i] = 0
                above[k][i] = above[k].get(i, Fraction(0)) + self.slopes[key][k]
        self.add(self.largest(key, weights))

    def largest(self, key: NeuronKey, weights: Sequence[Fraction]) -> Fraction:
        """The largest s max(z, 0) + t max(z', 0) - P z - Q z' at the corners."""
        which, number, index = key
        (s, t), (p, q) = weights, self.slopes[key]
        if which:
            scale = self.layers[number - 1].scales[index]
            corners = corners_of_pair(*self.forms.pair_ends[number - 1][index])
            t, q = t * scale, q * scale
        else:
            low, high = self.forms.ends[number - 1][index]
            corners = [(x, 0) for x in (low, high, 0) if low <= x <= high]
        numbers = (s, t, p, q)
        common = common_denominator(numbers, "a common denominator of slopes", self.meter)
        bits = sum(map(bits_of, numbers))
        self.meter.pay(8 * len(corners) + 8, bits, longest(corners) + common.bit_length())
        a, b, c, e = (x.numerator * (common // x.denominator) for x in numbers)
        best = max(a * max(x, 0) + b * max(y, 0) - c * x - e * y for x, y in corners)
        return Fraction(best, common << self.forms.grid)


def corners_of_pair(z: Interval, d: Interval, y: Interval) -> list[tuple[int, int]]:
    """All vertices of the polygon of z, y and y - z, cut at z = 0 and at y = 0."""
    found = [(x, t) for x in (*z, 0) for t in (*y, 0, x + d[0], x + d[1])]
    found += [(t - step, t) for t in (*y, 0) for step in d]
    return [
        (x, t)
        for x, t in found
        if z[0] <= x <= z[1] and y[0] <= t <= y[1] and d[0] <= t - x <= d[1]
    ]
