"""Fibers that come from composing two layers: hidden hyperplanes, their translations and flips.

If every neuron of layer ℓ+1 that is not dead hides hyperplane j of layer ℓ (`polyrelu.symmetry.hidden_hyperplanes`; dead: no weight
and bias is positive), then b[ℓ]_j may be raised by every t ≥ max_i b[ℓ+1]_i / W[ℓ+1]_ij, and if there is only one such
neuron, the others of layer ℓ may be flipped, in any set. Dead neurons stay dead. These are parameters with the same
function at any depth, generic or not. With two hidden layers, n_0 ≥ n_1 ≥ 2 and rank W[1] = n_1 they are all generic
ones up to permutation and scaling (three-layer symmetries, section 6).

The flips are a group, M_I M_J = M_{I Δ J}: they act on the rows of layer ℓ by the matrices of `flip_matrix`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random

from polyrelu.errors import NetworkError
from polyrelu.exact import Rational, RationalMatrix, to_fraction
from polyrelu.network import Block, Layer, Network
from polyrelu.symmetry import rescale
from polyrelu.symmetry.hidden_hyperplanes import flip, hidden_neurons, least_shift, translate

__all__ = ["HiddenHyperplane", "flip_matrix", "hidden_hyperplane", "normalised"]


@dataclass(frozen=True)
class HiddenHyperplane:
    """A hyperplane of layer ℓ that all neurons of layer ℓ+1 hide which are not dead; made by `hidden_hyperplane`.

    Attributes
    ----------
    network, layer, neuron : which one.
    dead : the dead neurons of layer ℓ+1.
    """

    network: Network
    layer: int
    neuron: int
    dead: tuple[int, ...]

    @cached_property
    def _alive(self) -> Network:
        """The network without the dead neurons."""
        return without(self.network, self.layer + 1, self.dead)

    @property
    def least_shift(self) -> Fraction:
        """The least t, a number ≤ 0."""
        return least_shift(self._alive, self.layer, self.neuron)

    @property
    def flippable(self) -> tuple[int, ...]:
        """The neurons of layer ℓ that can be flipped: none, or all others."""
        width = self.network.widths[self.layer]
        single = self._alive.widths[self.layer + 1] == 1
        return tuple(k for k in range(width) if k != self.neuron) if single else ()

    @property
    def dimension(self) -> int:
        """Of every component: one for the translation, and what dead neurons may do: a row, and what goes out of it."""
        n, m = self.network.widths[self.layer], self.network.widths[self.layer + 2]
        return 1 + len(self.dead) * (n + m)

    @property
    def components(self) -> int:
        """Their number: 2 to the number of neurons that can be flipped."""
        return 1 << len(self.flippable)

    def flips(self) -> Iterator[tuple[int, ...]]:
        """The sets of flipped neurons, one for each component."""
        for size in range(len(self.flippable) + 1):
            yield from itertools.combinations(self.flippable, size)

    def member(
        self, flipped: Sequence[int] = (), shift: Rational = 0, rng: Random | None = None
    ) -> Network:
        """The network with these neurons flipped and the hyperplane moved by `shift`; with `rng`, dead neurons change.

        Raises
        ------
        NetworkError : neurons that cannot be flipped, or a shift below `least_shift`.

        >>> from polyrelu.network import from_arrays
        >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])])
        >>> hidden_hyperplane(net, 1).member([1], "-1/2")([5, 1]) == net([5, 1])
        True
        """
        if not set(flipped) <= set(self.flippable):
            raise NetworkError(f"only the neurons {list(self.flippable)} can be flipped")
        moved = translate(self._alive, self.layer, self.neuron, to_fraction(shift))
        if flipped:
            moved = flip(moved, self.layer, self.neuron, sorted(flipped))
        return _with_dead(moved, self.network, self.layer + 1, self.dead, rng)

    def sample(self, rng: Random) -> Network:
        """A random member of a random component."""
        flipped = [k for k in self.flippable if rng.random() < 0.5]
        return self.member(flipped, self.random_shift(rng), rng)

    def random_shift(self, rng: Random) -> Fraction:
        """A random admissible shift of about the size of the numbers at hand."""
        size = max(abs(self.least_shift), Fraction(1, 8))
        return self.least_shift + size * Fraction(rng.randint(0, 64), 16)


def hidden_hyperplane(network: Network, layer: int) -> HiddenHyperplane | None:
    """The hyperplane of hidden layer `layer` (from 1) that the next hidden layer hides, if there is one.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [-1, -1]], [-2, -1]), ([[1, 1]], [0])])
    >>> found = hidden_hyperplane(net, 1)
    >>> found.neuron, found.dead, found.least_shift, found.dimension
    (0, (1,), Fraction(-2, 1), 4)
    """
    if not network.is_plain or not 1 <= layer < network.hidden_layers or layer + 1 >= network.depth:
        return None
    rows = network.layers[layer].augmented().rows()
    dead = tuple(i for i, row in enumerate(rows) if max(row) <= 0)
    if len(dead) == len(rows):
        return None
    found = hidden_neurons(without(network, layer + 1, dead), layer)
    return HiddenHyperplane(network, layer, found[0], dead) if found else None


def flip_matrix(
    size: int, neuron: int, factors: Sequence[Fraction], flipped: Sequence[int]
) -> RationalMatrix:
    """The matrix M with which a set of flips acts on the rows of a layer of `size` neurons.

    Row k of M is -e_k for flipped k, the row of the hidden neuron is e_j - Σ μ_k e_k, the others are unit vectors.

    Parameters
    ----------
    factors : μ_k = |w_k| / w_j for every neuron k.

    >>> print(flip_matrix(2, 0, [Fraction(0), Fraction(3)], [1]))
    [1 -3]
    [0 -1]
    """
    rows = [[Fraction(int(i == k)) for k in range(size)] for i in range(size)]
    for k in flipped:
        rows[k][k] = Fraction(-1)
        rows[neuron][k] = -factors[k]
    return RationalMatrix.from_rows(rows, ncols=size)


def normalised(hidden: HiddenHyperplane) -> Network:
    """The network rescaled so that the neuron that hides has the weights 1 and -1, where it has no weight 0.

    Raises
    ------
    NetworkError : more than one neuron hides, or a weight is 0.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[2, -3]], [-2]), ([[1]], [0])])
    >>> normalised(hidden_hyperplane(net, 1)).weight(2).rows()
    [(Fraction(1, 1), Fraction(-1, 1))]
    """
    network, layer = hidden.network, hidden.layer
    alive = [i for i in range(network.widths[layer + 1]) if i not in hidden.dead]
    weights = network.weight(layer + 1).row(alive[0])
    if len(alive) != 1 or not all(weights):
        raise NetworkError("a network can be normalised if a single neuron hides, with no weight 0")
    return rescale(network, layer, [abs(weight) for weight in weights])


def without(network: Network, layer: int, neurons: Sequence[int]) -> Network:
    """A plain stack without some neurons of a hidden layer."""
    if not neurons:
        return network
    kept = [i for i in range(network.widths[layer]) if i not in neurons]
    own, after = network.layers[layer - 1], network.layers[layer]
    return network.replace_layers(
        {
            layer: Layer((Block(layer - 1, own.weight.take(rows=kept)),), own.bias.take(rows=kept)),
            layer + 1: Layer((Block(layer, after.weight.take(columns=kept)),), after.bias),
        }
    )


def _with_dead(
    moved: Network, model: Network, layer: int, dead: Sequence[int], rng: Random | None
) -> Network:
    """The network with the dead neurons of a layer put back: as they were, or others that are dead as well."""
    if not dead:
        return moved
    rows, columns = (
        iter(moved.layers[layer - 1].augmented().rows()),
        iter(moved.weight(layer + 1).transpose().rows()),
    )
    new_rows, new_columns = [], []
    for i in range(model.widths[layer]):
        if i not in dead:
            new_rows.append(next(rows))
            new_columns.append(next(columns))
        elif rng is None:
            new_rows.append(model.layers[layer - 1].augmented().row(i))
            new_columns.append(
                tuple(model.weight(layer + 1)[o, i] for o in range(model.widths[layer + 1]))
            )
        else:
            new_rows.append(
                tuple(Fraction(-rng.randint(1, 16), 8) for _ in range(model.widths[layer - 1] + 1))
            )
            new_columns.append(
                tuple(Fraction(rng.randint(-16, 16), 8) for _ in range(model.widths[layer + 1]))
            )
    weight = RationalMatrix.from_rows([row[:-1] for row in new_rows])
    bias = RationalMatrix.column([row[-1] for row in new_rows])
    outgoing = RationalMatrix.from_rows(new_columns).transpose()
    return moved.replace_layers(
        {
            layer: Layer((Block(layer - 1, weight),), bias),
            layer + 1: Layer((Block(layer, outgoing),), moved.bias(layer + 1)),
        }
    )
