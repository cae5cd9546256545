"""Fibers that come from the composition of two layers: hidden hyperplanes, translations and flips.

Here is the set of parameters that translations and flips of one hidden hyperplane reach, as a class
with members, dimension and number of components. `fiber` lists these sets, and `identify` and
`equivalent` meet the same symmetries through `polyrelu.symmetry.hidden_hyperplanes`, where they are
proved. A reader must know that dead neurons of layer ℓ+1 are set aside first: they do not hide
anything, they stay dead in every member, and they are free apart from that.

A neuron of layer ℓ+1 is *dead* here if none of its weights and not its bias is positive. Suppose
that every neuron of layer ℓ+1 that is not dead hides hyperplane j of layer ℓ. Then b[ℓ]_j may be
raised by every t ≥ max_i b[ℓ+1]_i / W[ℓ+1]_ij, where i runs over the neurons that are not dead. If
there is only one such neuron, any set of the other neurons of layer ℓ may be flipped as well. The
function stays the same at any depth, for generic parameters and others. With two hidden layers, n_0
≥ n_1 ≥ 2 and rank W[1] = n_1, the members are all generic parameters with the function, up to
permutation and scaling (the three-layer paper, arXiv 2605.18319, section 6).

The flips form a group with M_I M_J = M_{I Δ J}. They act on the rows of layer ℓ by the matrices
that `flip_matrix` returns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random

from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.exact import Rational, RationalMatrix, format_rational, to_fraction
from polyrelu.fibers.linear_part import random_source
from polyrelu.formats.arguments import NetworkLike, as_network
from polyrelu.network import Block, Layer, Network
from polyrelu.support.arguments import expect, expect_count, expect_index, expect_indices
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import Vector
from polyrelu.symmetry import rescale
from polyrelu.symmetry.hidden_hyperplanes import flip, hidden_neurons, least_shift, translate

__all__ = ["HiddenHyperplane", "flip_matrix", "hidden_hyperplane", "normalised"]


@dataclass(frozen=True, repr=False)
class HiddenHyperplane:
    """A hyperplane of layer ℓ that all neurons of layer ℓ+1 hide, apart from dead neurons.

    Objects are made by `hidden_hyperplane`.

    Attributes
    ----------
    network
        The network, a plain stack.
    layer
        The number ℓ of the layer of the hyperplane, counted from 1.
    neuron
        The neuron of layer ℓ whose hyperplane is hidden.
    dead
        The dead neurons of layer ℓ+1, in increasing order.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])])
    >>> hidden = hidden_hyperplane(net, 1)
    >>> hidden
    <HiddenHyperplane, neuron 0 of layer 1, shift at least -2, 2 components>
    >>> hidden.neuron, hidden.least_shift, hidden.num_components
    (0, Fraction(-2, 1), 2)
    """

    network: Network
    layer: int
    neuron: int
    dead: tuple[int, ...]

    def __repr__(self) -> str:
        shift = format_rational(self.least_shift)[:40]
        what = f"neuron {self.neuron} of layer {self.layer}, shift at least {shift}"
        return bracketed(
            f"HiddenHyperplane, {what}, {count_text([(self.num_components, 'component')])}"
        )

    @cached_property
    def _without_dead(self) -> Network:
        """The network without the dead neurons of layer ℓ+1."""
        return remove_neurons(self.network, self.layer + 1, self.dead)

    @property
    def least_shift(self) -> Fraction:
        """The least admissible shift t of the bias of the hidden neuron, a number ≤ 0."""
        return least_shift(self._without_dead, self.layer, self.neuron)

    @property
    def flippable(self) -> tuple[int, ...]:
        """The neurons of layer ℓ that can be flipped: all others if one neuron hides, else none."""
        width = self.network.widths[self.layer]
        single = self._without_dead.widths[self.layer + 1] == 1
        return tuple(k for k in range(width) if k != self.neuron) if single else ()

    @property
    def dimension(self) -> int:
        """The dimension of every component, modulo permutation and scaling.

        The translation contributes 1. Each dead neuron contributes its row up to scale and its
        outgoing column, n + m dimensions for n neurons in layer ℓ and m neurons in layer ℓ+2.
        """
        n, m = self.network.widths[self.layer], self.network.widths[self.layer + 2]
        return 1 + len(self.dead) * (n + m)

    @property
    def num_components(self) -> int:
        """The number of components: 2 to the number of neurons that can be flipped."""
        return 1 << len(self.flippable)

    def flips(self) -> Iterator[tuple[int, ...]]:
        """Yield the set of flipped neurons of each component, small sets first."""
        for size in range(len(self.flippable) + 1):
            yield from itertools.combinations(self.flippable, size)

    def member(
        self, *, flipped: Sequence[int] = (), shift: Rational = 0, seed: int | None = None
    ) -> Network:
        """Return the network with some neurons flipped and the hidden hyperplane translated.

        Parameters
        ----------
        flipped
            Neurons of layer ℓ to flip, a subset of `flippable`.
        shift
            The number t that is added to the bias of the hidden neuron, at least `least_shift`.
        seed
            If given, the dead neurons of layer ℓ+1 are replaced by random dead neurons; otherwise
            they stay as they are.

        Returns
        -------
        Network
            A network of the same architecture with the same function.

        Raises
        ------
        NetworkError
            A neuron cannot be flipped, or the shift is below `least_shift`.

        Examples
        --------
        >>> from polyrelu.network import from_arrays
        >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])])
        >>> hidden_hyperplane(net, 1).member(flipped=[1], shift="-1/2")([5, 1]) == net([5, 1])
        True
        """
        return self._member(flipped, shift, random_source(seed))

    def sample(self, seed: int = 0) -> Network:
        """Return a random member of a random component."""
        rng = Random(expect_count(seed, "seed"))
        flipped = [k for k in self.flippable if rng.random() < 0.5]
        return random_translation(self, flipped, rng)

    def _member(self, flipped: Sequence[int], shift: Rational, rng: Random | None) -> Network:
        """The network flipped and translated, with random dead neurons if `rng` is given."""
        chosen = expect_indices(flipped, self.network.widths[self.layer], "flipped")
        if not set(chosen) <= set(self.flippable):
            raise NetworkError(f"only the neurons {list(self.flippable)} can be flipped")
        moved = translate(self._without_dead, self.layer, self.neuron, to_fraction(shift))
        if chosen:
            moved = flip(moved, self.layer, self.neuron, sorted(chosen))
        return _restore_dead(moved, self.network, self.layer + 1, self.dead, rng)


def random_translation(hidden: HiddenHyperplane, flipped: Sequence[int], rng: Random) -> Network:
    """Return the network with some neurons flipped and a random shift and random dead neurons.

    The shift is at least `least_shift`, and of the size of the numbers at hand.
    """
    least = hidden.least_shift
    shift = least + max(abs(least), Fraction(1, 8)) * Fraction(rng.randint(0, 64), 16)
    return hidden._member(flipped, shift, rng)


def hidden_hyperplane(network: NetworkLike, layer: int) -> HiddenHyperplane | None:
    """Find the hyperplane of a hidden layer that the next hidden layer hides, if there is one.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; only plain stacks have hidden hyperplanes here.
    layer
        The number ℓ of a hidden layer, counted from 1.

    Returns
    -------
    HiddenHyperplane or None
        The hidden hyperplane of layer ℓ. None if no hyperplane is hidden, if all neurons of layer
        ℓ+1 are dead, or if layer ℓ+1 is not a hidden layer with weights after it.

    Raises
    ------
    ArgumentError
        There is no hidden layer ℓ.

    Notes
    -----
    Source: the three-layer paper (2026), Definition 3, arXiv 2605.18319, with dead neurons
    set aside.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> second = ([[1, -1], [-1, -1]], [-2, -1])
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), second, ([[1, 1]], [0])])
    >>> found = hidden_hyperplane(net, 1)
    >>> found.neuron, found.dead, found.least_shift, found.dimension
    (0, (1,), Fraction(-2, 1), 4)
    """
    network = as_network(network)
    layer = expect_index(layer, network.num_hidden_layers, "layer", 1)
    if not network.is_plain or layer == network.num_hidden_layers or layer + 1 >= network.depth:
        return None
    rows = network.layers[layer].augmented().rows()
    dead = tuple(i for i, row in enumerate(rows) if max(row) <= 0)
    if len(dead) == len(rows):
        return None
    neurons = hidden_neurons(remove_neurons(network, layer + 1, dead), layer)
    return HiddenHyperplane(network, layer, neurons[0], dead) if neurons else None


def flip_matrix(
    size: int, neuron: int, factors: Sequence[Rational], flipped: Sequence[int]
) -> RationalMatrix:
    """Return the matrix M with which a set of flips acts on the rows of a layer.

    For a flipped neuron k, row k of M is -e_k. The row of the hidden neuron j is e_j - Σ μ_k e_k,
    the sum over the flipped neurons. All other rows are unit vectors.

    Parameters
    ----------
    size
        The number of neurons of the layer.
    neuron
        The hidden neuron j.
    factors
        The numbers μ_k = |w_k| / w_j for every neuron k, where w is the row of the hiding neuron.
    flipped
        The flipped neurons, without j.

    Returns
    -------
    RationalMatrix
        The matrix M, shape (size, size).

    Raises
    ------
    ArgumentError
        There is no such neuron.
    NetworkError
        The factors are not `size` numbers, or neuron j is flipped.

    Notes
    -----
    Source: the three-layer paper (2026), section 5, arXiv 2605.18319, for normalised
    networks, where all μ_k are 1.

    Examples
    --------
    >>> print(flip_matrix(2, 0, [Fraction(0), Fraction(3)], [1]))
    [1 -3]
    [0 -1]
    """
    size = expect_count(size, "size", 1)
    neuron = expect_index(neuron, size, "neuron")
    chosen = expect_indices(flipped, size, "flipped")
    if isinstance(factors, str) or not isinstance(factors, Iterable):
        raise ArgumentError(f"factors: expected {size} numbers, got {type(factors).__name__}")
    numbers = RationalMatrix.column(factors)
    if numbers.nrows != size or neuron in chosen:
        raise NetworkError(f"flips need {size} factors, and leave neuron {neuron} as it is")
    rows = [[Fraction(int(i == k)) for k in range(size)] for i in range(size)]
    for k in chosen:
        rows[k][k] = Fraction(-1)
        rows[neuron][k] = -numbers[k, 0]
    return RationalMatrix.from_rows(rows, ncols=size)


def normalised(hidden: HiddenHyperplane) -> Network:
    """Rescale a network so that its only hiding neuron has the weights 1 and -1.

    Parameters
    ----------
    hidden
        A hidden hyperplane that a single neuron hides.

    Returns
    -------
    Network
        The network with the neurons of layer ℓ rescaled; it has the same function.

    Raises
    ------
    NetworkError
        More than one neuron hides, or the hiding neuron has a weight 0.
    ArgumentError
        The argument is no hidden hyperplane.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[2, -3]], [-2]), ([[1]], [0])])
    >>> normalised(hidden_hyperplane(net, 1)).weight(2).rows()
    [(Fraction(1, 1), Fraction(-1, 1))]
    """
    hidden = expect(
        hidden, HiddenHyperplane, "hidden", "hidden_hyperplane(network, layer) finds one"
    )
    network, layer = hidden.network, hidden.layer
    hiding = [i for i in range(network.widths[layer + 1]) if i not in hidden.dead]
    weights = network.weight(layer + 1).row(hiding[0])
    if len(hiding) != 1 or not all(weights):
        raise NetworkError("a network can be normalised if a single neuron hides, with no weight 0")
    return rescale(network, layer, [abs(weight) for weight in weights])


def remove_neurons(network: Network, layer: int, neurons: Sequence[int]) -> Network:
    """Return a plain stack without some neurons of a hidden layer and their outgoing weights."""
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


def _restore_dead(
    moved: Network, original: Network, layer: int, dead: Sequence[int], rng: Random | None
) -> Network:
    """Insert the dead neurons of a layer into a network without them.

    They come from the original network, or are random dead neurons if `rng` is given.
    """
    if not dead:
        return moved
    rows = iter(moved.layers[layer - 1].augmented().rows())
    columns = iter(moved.weight(layer + 1).transpose().rows())
    new_rows, new_columns = [], []
    for i in range(original.widths[layer]):
        if i not in dead:
            row, column = next(rows), next(columns)
        elif rng is None:
            row = original.layers[layer - 1].augmented().row(i)
            column = original.weight(layer + 1).transpose().row(i)
        else:
            row, column = _random_dead(original, layer, rng)
        new_rows.append(row)
        new_columns.append(column)
    weight = RationalMatrix.from_rows([row[:-1] for row in new_rows])
    bias = RationalMatrix.column([row[-1] for row in new_rows])
    outgoing = RationalMatrix.from_rows(new_columns).transpose()
    return moved.replace_layers(
        {
            layer: Layer((Block(layer - 1, weight),), bias),
            layer + 1: Layer((Block(layer, outgoing),), moved.bias(layer + 1)),
        }
    )


def _random_dead(network: Network, layer: int, rng: Random) -> tuple[Vector, Vector]:
    """Return a random row [w | b] < 0 for a layer, and a random outgoing column."""
    row = tuple(Fraction(-rng.randint(1, 16), 8) for _ in range(network.widths[layer - 1] + 1))
    column = tuple(Fraction(rng.randint(-16, 16), 8) for _ in range(network.widths[layer + 1]))
    return row, column
