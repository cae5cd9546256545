"""Steps that leave neurons out of a plain stack without changing its function.

Each step is an identity of consecutive layers on the values that they can take: R^n or the domain
before layer 1, the orthant u ≥ 0 before later layers. Signs of neurons on the domain that were
proved elsewhere may be handed in. `simplification` decides which steps are made, and proves the
result to be equal to the network as given; nothing relies on the steps being right.

* A neuron with outgoing weights 0, or one that is never positive, is left out.
* A neuron with weights 0 is a constant, which the next biases take.
* Neurons with one row up to a positive factor are one neuron.
* Neurons that are never negative, with one outgoing column up to a positive factor, are one neuron.
* A layer that is affine on all its inputs is multiplied into the next layer.
* A layer that bends on fewer hyperplanes than it has neurons is written with fewer neurons, where
  its absolute-value normal form allows that (`fibers.smallest_layer`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from polyrelu.conditions.condition import neuron_text
from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix, primitive
from polyrelu.fibers import LayerFiber, LayerNeurons, layer_fiber, smallest_layer
from polyrelu.network import Block, Layer, Network, NeuronId
from polyrelu.proofs.refutations.one_layer import plus_multiple
from polyrelu.support.budget import Budget
from polyrelu.support.typing import Signs, Vector
from polyrelu.symmetry import LayerDomain

__all__ = ["NeuronRemovalSettings", "Removal", "layer_fiber_if_affordable"]


@dataclass(frozen=True, slots=True)
class NeuronRemovalSettings:
    """Limits of the search for a layer with fewer neurons.

    Attributes
    ----------
    max_fiber_products
        Maximum number of products of the normal form of a layer that is written with fewer neurons.
    max_choices
        Maximum number of choices of orientations that are tried for such a layer.
    """

    max_fiber_products: int = 200_000
    max_choices: int = 256


SETTINGS = NeuronRemovalSettings()


@dataclass(slots=True)
class Removal:
    """A plain stack from which neurons are removed, with the reasons.

    Attributes
    ----------
    network
        The network as it is now.
    names
        For each hidden layer before the last affine one, the neurons of the given network that its
        neurons come from.
    space
        The inputs of layer 1; None if they have no interior, or are too many constraints to use.
    place
        The inputs in words: "R^n" or "the domain".
    removed
        The reason for each neuron that was removed, by the neuron of the given network.
    budget
        The work for searches for layers with fewer neurons.
    """

    network: Network
    names: list[list[NeuronId]]
    space: LayerDomain | None
    place: str
    removed: dict[NeuronId, str] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)

    @classmethod
    def of(cls, network: Network, space: LayerDomain | None, place: str) -> Removal:
        """Start with all neurons of a plain stack."""
        names = [
            [NeuronId(layer, i) for i in range(network.widths[layer])]
            for layer in range(1, network.depth)
        ]
        return cls(network, names, space, place)

    def reasons(self) -> tuple[tuple[NeuronId, str], ...]:
        """Return the removed neurons in order, each with a sentence that says why."""
        return tuple(
            (n, f"{neuron_text(n)}: {reason}") for n, reason in sorted(self.removed.items())
        )

    def copy(self) -> Removal:
        """Return a copy, whose steps leave this one as it is."""
        names = [list(layer) for layer in self.names]
        return replace(self, names=names, removed=dict(self.removed))

    def remove_visible(self, rewrite: bool) -> None:
        """Make all steps that need no proof of signs, until none is left.

        With `rewrite`, layers may be written with other neurons, if they are fewer.
        """
        while any(self._step(layer) for layer in self._layers()) or (
            rewrite and any(self._rewrite(layer) for layer in self._layers())
        ):
            pass

    def remove_signed(self, signs: Mapping[NeuronId, int]) -> bool:
        """Use signs of neurons of the present network; return whether anything was removed."""
        for layer in self._layers():
            own = {n.index: sign for n, sign in signs.items() if n.layer == layer}
            dead = {i: self._dead_reason() for i, sign in own.items() if sign < 0}
            linear = {i for i, sign in own.items() if sign > 0} | set(self._visibly_linear(layer))
            # either changes the numbers of neurons, to which the signs belong
            if self._drop(layer, dead) or self._join_linear(layer, sorted(linear)):
                return True
        return False

    def _layers(self) -> range:
        """Return the numbers of the layers whose neurons may go, the last one first."""
        return range(self.network.depth - 1, 0, -1)

    # -- the steps; each returns whether it changed the network ------------------------------------

    def _step(self, layer: int) -> bool:
        if layer >= self.network.depth:
            return False
        return (
            self._remove_unused(layer)
            or self._remove_one_sided(layer)
            or self._join_equal(layer)
            or self._join_linear(layer, self._visibly_linear(layer))
        )

    def _remove_unused(self, layer: int) -> bool:
        used = self.network.weight(layer + 1).signs().any(axis=0)
        reason = "its outgoing weights are 0, so nothing reads it"
        return self._drop(layer, {int(i): reason for i in np.flatnonzero(~used)})

    def _remove_one_sided(self, layer: int) -> bool:
        """Remove neurons whose weights show that they are dead or constant."""
        signs = self._signs(layer)
        constant = ~signs[:, :-1].any(axis=1)
        positive = constant & (signs[:, -1] > 0)
        dead = (constant & ~positive) | ((layer > 1) & (signs.max(axis=1) <= 0))
        reasons = {int(i): self._dead_reason() for i in np.flatnonzero(dead)}
        bias = self.network.bias(layer + 1)
        if positive.any():
            chosen = np.flatnonzero(positive).tolist()
            values = self.network.bias(layer).take(rows=chosen)
            bias = bias + self.network.weight(layer + 1).take(columns=chosen) @ values
            text = "it is constant: its weights are 0, and the next biases take its value"
            reasons |= dict.fromkeys(chosen, text)
        return self._drop(layer, reasons, bias)

    def _dead_reason(self) -> str:
        return f"it is dead: its preactivation is never positive on {self.place}"

    def _join_equal(self, layer: int) -> bool:
        """Join neurons that have one row up to a positive factor."""
        similar: dict[bytes, list[int]] = {}
        for i, signs in enumerate(self._signs(layer)):
            similar.setdefault(signs.tobytes(), []).append(i)
        table = self.network.layers[layer - 1].augmented()
        first: dict[tuple[tuple[int, ...], bool], tuple[int, Fraction]] = {}
        factors: dict[int, tuple[int, Fraction]] = {}
        for i in (i for group in similar.values() if len(group) > 1 for i in group):
            normal, scale = primitive(table.row(i))
            kept, kept_scale = first.setdefault((normal, scale > 0), (i, scale))
            if kept != i:
                factors[i] = kept, scale / kept_scale
        if not factors:
            return False
        columns, names, reasons = self._columns(layer), self.names[layer - 1], {}
        for i, (kept, factor) in factors.items():
            columns[kept] = plus_multiple(columns[kept], columns[i], factor)
            reasons[i] = (
                f"its row is {_factor(factor)} the row of {neuron_text(names[kept])}, "
                "which takes over its outgoing weights"
            )
        return self._drop(layer, reasons, columns=columns)

    def _visibly_linear(self, layer: int) -> list[int]:
        """Return the neurons with nonnegative weights on activations, and a nonnegative bias."""
        if layer == 1:
            return []
        return [int(i) for i in np.flatnonzero(self._signs(layer).min(axis=1) >= 0)]

    def _join_linear(self, layer: int, linear: Sequence[int]) -> bool:
        """Join linear neurons with one column up to a positive factor, or multiply the layer in."""
        if linear and len(linear) == self.network.widths[layer]:
            return self._multiply_in(layer)
        if len(linear) < 2:
            return False
        rows, columns = self._rows(layer), self._columns(layer)
        first: dict[tuple[tuple[int, ...], bool], tuple[int, Fraction]] = {}
        reasons = {}
        for i in linear:
            direction, scale = primitive(columns[i])
            kept, kept_scale = first.setdefault((direction, scale > 0), (i, scale))
            if kept == i:
                continue
            rows[kept] = plus_multiple(rows[kept], rows[i], scale / kept_scale)
            reasons[i] = (
                f"it is linear (never negative on {self.place}), and is joined with the linear "
                f"{neuron_text(self.names[layer - 1][kept])}, "
                "whose outgoing weights are proportional"
            )
        return self._drop(layer, reasons, rows=rows)

    def _multiply_in(self, layer: int) -> bool:
        """Multiply a layer of linear neurons into the next layer."""
        hidden, after = self.network.layers[layer - 1], self.network.layers[layer]
        self._merge(layer, after.weight @ hidden.weight, after.weight @ hidden.bias + after.bias)
        return True

    def _rewrite(self, layer: int) -> bool:
        """Write a layer with fewer neurons if its normal form allows that."""
        if layer >= self.network.depth:
            return False
        fiber = layer_fiber_if_affordable(self.network, layer, self.space)
        if fiber is None or fiber.width == len(fiber.normals):
            return False
        if not fiber.normals:
            matrix = RationalMatrix.from_rows(fiber.form.matrix)
            self._merge(layer, matrix, RationalMatrix.column(fiber.form.offset))
            return True
        found = smallest_layer(fiber, max_assignments=SETTINGS.max_choices, budget=self.budget)
        if found.width >= fiber.width:
            return False
        try:
            network = self._written(layer, found.layer_neurons)
        except NetworkError:  # the numbers of the other neurons are too long for a file
            return False
        kept = _matched(self._rows(layer), found.layer_neurons.rows)
        names = self.names[layer - 1]
        for i in set(range(fiber.width)) - set(kept):
            self.removed[names[i]] = (
                f"the {found.width} other neurons of the layer make the same map on {self.place}, "
                "with other weights"
            )
        self.names[layer - 1] = [names[i] for i in kept]
        self.network = network
        return True

    def _written(self, layer: int, neurons: LayerNeurons) -> Network:
        """Return the network with other neurons in a layer."""
        hidden, outgoing = neurons.layers(layer - 1)
        return self.network.replace_layers({layer: hidden, layer + 1: outgoing})

    # -- changes of the network -------------------------------------------------------------------

    def _rows(self, layer: int) -> list[Vector]:
        return list(self.network.layers[layer - 1].augmented().rows())

    def _columns(self, layer: int) -> list[Vector]:
        return list(self.network.weight(layer + 1).transpose().rows())

    def _signs(self, layer: int) -> Signs:
        """Return the signs of the rows [w | b] of a layer."""
        return self.network.layers[layer - 1].augmented().signs()

    def _drop(
        self,
        layer: int,
        reasons: Mapping[int, str],
        bias: RationalMatrix | None = None,
        *,
        rows: Sequence[Vector] | None = None,
        columns: Sequence[Vector] | None = None,
    ) -> bool:
        """Leave out neurons of a layer, with new rows, columns or next biases for the others."""
        if not reasons:
            return False
        hidden, after = self.network.layers[layer - 1], self.network.layers[layer]
        bias = after.bias if bias is None else bias
        kept = [i for i in range(hidden.width) if i not in reasons]
        if not kept:
            zero = RationalMatrix.zeros(after.width, self.network.widths[layer - 1])
            self._merge(layer, zero, bias, reasons)
            return True
        table = hidden.augmented() if rows is None else RationalMatrix.from_rows(rows)
        inputs = table.ncols - 1
        weight = after.weight
        if columns is not None:
            weight = RationalMatrix.from_rows(columns).transpose()
        own = Layer(
            (Block(layer - 1, table.take(rows=kept, columns=range(inputs))),),
            table.take(rows=kept, columns=[inputs]),
        )
        outgoing = Layer((Block(layer, weight.take(columns=kept)),), bias)
        self.network = self.network.replace_layers({layer: own, layer + 1: outgoing})
        names = self.names[layer - 1]
        self.removed |= {names[i]: reason for i, reason in reasons.items()}
        self.names[layer - 1] = [names[i] for i in kept]
        return True

    def _merge(
        self,
        layer: int,
        weight: RationalMatrix,
        bias: RationalMatrix,
        reasons: Mapping[int, str] | None = None,
    ) -> None:
        """Leave out a whole layer; the next one reads the layer before with the given weights."""
        text = f"its layer is affine on {self.place}, and is multiplied into the next layer"
        names = self.names.pop(layer - 1)
        self.removed |= {n: (reasons or {}).get(i, text) for i, n in enumerate(names)}
        layers = [*self.network.layers[: layer - 1], Layer((Block(layer - 1, weight),), bias)]
        for number, later in enumerate(self.network.layers[layer + 1 :], layer + 1):
            layers.append(Layer((Block(number - 1, later.weight),), later.bias))
        self.network = Network(self.network.num_inputs, tuple(layers), self.network.last)


def layer_fiber_if_affordable(
    network: Network, layer: int, space: LayerDomain | None
) -> LayerFiber | None:
    """Return the fiber of a layer on its inputs; None if they are unknown or it is too large.

    `space` are the inputs of layer 1.
    """
    if layer == 1 and space is None:
        return None
    before, own, after = network.widths[layer - 1 : layer + 2]
    if own * (before + 1) * (after + 1) > SETTINGS.max_fiber_products:
        return None
    return layer_fiber(network, layer, space if layer == 1 else None)


def _matched(old: Sequence[Vector], new: Sequence[Vector]) -> list[int]:
    """Return an old row for each new one, with the same hyperplane where there is one."""
    found = dict[int, int]()
    left = dict(enumerate(old))
    for is_same in (_same_row, _same_hyperplane, lambda a, b: True):
        for k in (k for k in range(len(new)) if k not in found):
            place = next((i for i, row in left.items() if is_same(row, new[k])), None)
            if place is not None:
                found[k] = place
                del left[place]
    return [found[k] for k in range(len(new))]


def _same_row(first: Vector, second: Vector) -> bool:
    (h, s), (g, t) = primitive(first), primitive(second)
    return h == g and (s > 0) == (t > 0)


def _same_hyperplane(first: Vector, second: Vector) -> bool:
    return primitive(first)[0] == primitive(second)[0]


def _factor(factor: Fraction) -> str:
    return "equal to" if factor == 1 else f"{factor} times" if factor < 10**6 else "a multiple of"
