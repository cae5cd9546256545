"""Other parameters of one hidden layer and the layer after it, with the same map on their domain.

Layers ℓ and ℓ + 1 of a plain stack make the map u ↦ V σ(W u + b) + c, on R^n for ℓ = 1 and on the
orthant u ≥ 0 for ℓ ≥ 2. Each function below finds one kind of freedom of this map. All are exact
identities on the domain, whatever the other weights are, and so are replacements in the sense of
FORMAT.md §3.3.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import RationalMatrix, primitive
from polyrelu.network import Block, Layer, Network, layer_from_rows
from polyrelu.proofs.refutations.settings import SETTINGS
from polyrelu.proofs.shallow.vanishing_sums import paid_vanishing_subset
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_layer
from polyrelu.support.typing import Vector

__all__ = ["Alternative", "LayerPair", "layer_pair", "one_layer_alternatives", "plus_multiple"]


#: The reason why another network has the same function, and this network.
Alternative = tuple[str, Network]


@dataclass(frozen=True, slots=True)
class LayerPair:
    """Layers ℓ and ℓ + 1 of a network.

    Attributes
    ----------
    network
        The network, a plain stack.
    layer
        The number ℓ, from 1.
    rows
        The rows [w | b] of the neurons of layer ℓ.
    columns
        Their outgoing weights v.
    offset
        The biases c of layer ℓ + 1.
    """

    network: Network
    layer: int
    rows: tuple[Vector, ...]
    columns: tuple[Vector, ...]
    offset: Vector

    @property
    def on_orthant(self) -> bool:
        """Whether the map's domain is the orthant, because a hidden layer comes before, and not
        R^n.
        """
        return self.layer > 1

    def replaced(
        self, rows: dict[int, Vector], columns: dict[int, Vector], offset: Vector | None = None
    ) -> Network:
        """Return the network with some rows and columns, and perhaps the offset, replaced."""
        hidden = [rows.get(i, row) for i, row in enumerate(self.rows)]
        heads = [columns.get(i, column) for i, column in enumerate(self.columns)]
        bias = self.offset if offset is None else offset
        outgoing = Layer(
            (Block(self.layer, RationalMatrix.from_rows(heads).transpose()),),
            RationalMatrix.column(bias),
        )
        return self.network.replace_layers(
            {self.layer: layer_from_rows(hidden, self.layer - 1), self.layer + 1: outgoing}
        )

    def name(self, neuron: int) -> str:
        """Return the name of a neuron of layer ℓ in words."""
        return f"neuron {neuron} of layer {self.layer}"


def layer_pair(network: Network, layer: int) -> LayerPair:
    """Return layers ℓ = `layer` and ℓ + 1 of a plain stack."""
    hidden, after = network.layers[layer - 1], network.layers[layer]
    return LayerPair(
        network,
        layer,
        tuple(hidden.augmented().rows()),
        tuple(after.weight.transpose().rows()),
        tuple(after.bias.entries()),
    )


def one_layer_alternatives(
    network: Network, layer: int, rng: random.Random, budget: Budget
) -> Iterator[Alternative]:
    """Yield networks with the same function that differ in layers ℓ = `layer` and ℓ + 1 only.

    Each network comes with the reason why the function is the same. A `LimitReached` says that the
    budget is used up.
    """
    before, own, after = network.widths[layer - 1 : layer + 2]
    budget.spend(price_of_layer(own * (before + 1 + after)))
    pair = layer_pair(network, layer)
    kinds: tuple[Callable[[LayerPair, random.Random], Iterator[Alternative]], ...] = (
        _unused_neurons,
        _dead_neurons,
        _linear_neurons,
        _shared_hyperplanes,
    )
    for kind in kinds:
        yield from kind(pair, rng)
    yield from _vanishing_sums(pair, budget)


def _unused_neurons(pair: LayerPair, rng: random.Random) -> Iterator[Alternative]:
    """Yield alternatives for neurons with outgoing weights 0."""
    for i, column in enumerate(pair.columns):
        if not any(column):
            row = pair.rows[i]
            # several biases, because one of them may give the old row up to scale
            for bias in (row[-1] + 1, Fraction(1), Fraction(-1)):
                explanation = f"{pair.name(i)} has outgoing weights 0, so its row is free"
                yield explanation, pair.replaced({i: (*row[:-1], bias)}, {})


def _dead_neurons(pair: LayerPair, rng: random.Random) -> Iterator[Alternative]:
    """Yield alternatives for neurons that are never positive.

    On the orthant their rows have no positive entry; on R^n their weights are 0 and the bias is ≤
    0.
    """
    for i, row in enumerate(pair.rows):
        if max(row) > 0 or (any(row[:-1]) and not pair.on_orthant):
            continue
        explanation = f"{pair.name(i)} is dead: its preactivation is never positive"
        if pair.on_orthant:
            for _ in range(SETTINGS.num_variants):
                changed = tuple(Fraction(-rng.randint(1, 64), 16) for _ in row)
                yield explanation, pair.replaced({i: changed}, {})
        else:
            yield explanation, pair.replaced({i: (*row[:-1], Fraction(0 if row[-1] else -1))}, {})


def _linear_neurons(pair: LayerPair, rng: random.Random) -> Iterator[Alternative]:
    """Yield alternatives for neurons that are never negative.

    Such a neuron is affine on the domain, so its bias can move into the next layer's bias.
    """
    for i, row in enumerate(pair.rows):
        if min(row) < 0 or not any(row) or (any(row[:-1]) and not pair.on_orthant):
            continue
        explanation = f"{pair.name(i)} is linear on its domain: its preactivation is never negative"
        shifts = [-row[-1]]
        if any(row[:-1]):
            shifts = [Fraction(rng.randint(1, 64), 16) for _ in range(SETTINGS.num_variants)]
        for shift in shifts:
            changed = (*row[:-1], row[-1] + shift)
            offset = plus_multiple(pair.offset, pair.columns[i], -shift)
            yield explanation, pair.replaced({i: changed}, {}, offset)


def _shared_hyperplanes(pair: LayerPair, rng: random.Random) -> Iterator[Alternative]:
    """Yield alternatives for two neurons on one hyperplane.

    Neurons with one orientation can trade outgoing weights. Neurons with opposite orientations that
    cancel on their hyperplane can move it.
    """
    seen: dict[tuple[tuple[int, ...], bool], tuple[int, Fraction]] = {}
    for i, row in enumerate(pair.rows):
        if not any(row[:-1]):
            continue
        normal, scale = primitive(row)
        same, opposite = seen.get((normal, scale > 0)), seen.get((normal, scale < 0))
        if same is not None:
            yield from _trade_outgoing_weights(pair, same, (i, scale))
        if opposite is not None:
            yield from _moved_together(pair, opposite, (i, scale))
        seen[normal, scale > 0] = (i, scale)


def _trade_outgoing_weights(
    pair: LayerPair, first: tuple[int, Fraction], second: tuple[int, Fraction]
) -> Iterator[Alternative]:
    """Yield alternatives for σ(s h) and σ(s' h), where s and s' have one sign.

    For every vector t, the outgoing weights v + s'·t and v' - s·t make the same sum.
    """
    (i, s), (k, t) = first, second
    ones = (Fraction(1),) * len(pair.offset)
    explanation = (
        f"neurons {i} and {k} of layer {pair.layer} have one row up to scale, so they can trade "
        "outgoing weights"
    )
    for factor in (1, 2):  # two, because one of them may merely exchange the two neurons
        columns = {
            i: plus_multiple(pair.columns[i], ones, factor * abs(t)),
            k: plus_multiple(pair.columns[k], ones, -factor * abs(s)),
        }
        yield explanation, pair.replaced({}, columns)


def _moved_together(
    pair: LayerPair, first: tuple[int, Fraction], second: tuple[int, Fraction]
) -> Iterator[Alternative]:
    """Yield the alternative in which two cancelling neurons move their common hyperplane.

    If s and s' have opposite signs and |s| v = -|s'| v', then v σ(s h) + v' σ(s' h) is linear.
    """
    (i, s), (k, t) = first, second
    if any(abs(s) * a + abs(t) * b for a, b in zip(pair.columns[i], pair.columns[k], strict=True)):
        return
    rows = {
        i: (*pair.rows[i][:-1], pair.rows[i][-1] + s),
        k: (*pair.rows[k][:-1], pair.rows[k][-1] + t),
    }
    explanation = (
        f"neurons {i} and {k} of layer {pair.layer} bend on one hyperplane and cancel there, so it "
        "can move"
    )
    yield explanation, pair.replaced(rows, {}, plus_multiple(pair.offset, pair.columns[i], -s))


def _vanishing_sums(pair: LayerPair, budget: Budget) -> Iterator[Alternative]:
    """Yield the alternative in which all neurons of a set S with Σ_{i∈S} v_i w_i = 0 are flipped.

    By σ(t) = t + σ(-t), negating all their rows changes the map by a constant only.
    """
    subset = paid_vanishing_subset(pair.network, pair.layer, budget).subset
    if subset is None:
        return
    rows = {i: tuple(-entry for entry in pair.rows[i]) for i in subset}
    offset = pair.offset
    for i in subset:
        offset = plus_multiple(offset, pair.columns[i], pair.rows[i][-1])
    names = ", ".join(map(str, subset))
    explanation = (
        f"neurons {names} of layer {pair.layer} can be flipped together: their linear parts cancel"
    )
    yield explanation, pair.replaced(rows, {}, offset)


def plus_multiple(vector: Vector, direction: Vector, factor: Fraction) -> Vector:
    """Return vector + factor · direction."""
    return tuple(a + factor * b for a, b in zip(vector, direction, strict=True))
