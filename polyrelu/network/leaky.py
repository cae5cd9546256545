"""Leaky ReLU stacks: networks of ReLU layers with skipping weights that leaky ReLUs make.

Let φ(t) = max(t, 0) + s min(t, 0) = s t + (1 - s) max(t, 0), where the *slope* s is neither 0 nor
1. Layers z[1] = W[1] x + b[1] and z[ℓ] = W[ℓ] φ(z[ℓ-1]) + b[ℓ] are, as a `Network`,

    z[ℓ] = (1 - s) W[ℓ] max(z[ℓ-1], 0) + s W[ℓ] z[ℓ-1] + b[ℓ],

with the preactivations z[ℓ-1] written out as affine forms of earlier activations. The parameters W,
b and the slope can be read off such a network, so that nothing else has to be stored. They are kept
as the plain stack with the same weights and biases. A slope of its own for each layer, also 0, can
be read off in the same way; writers of files do that.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import RationalMatrix, as_sparse
from polyrelu.network.layers import Block, Layer
from polyrelu.network.network import Network
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed

__all__ = ["LeakyStack", "leaky_slopes", "leaky_stack"]

#: Maximum number of products of numbers for reading off the parameters.
_MAX_PRODUCTS = 10**9
#: Number of bits of two factors from which a product takes longer.
_SHORT_BITS = 256


@dataclass(frozen=True, slots=True, repr=False)
class LeakyStack:
    """The parameters of a leaky ReLU stack.

    Attributes
    ----------
    slope
        The slope s of the leaky ReLU for negative arguments.
    stack
        The weights and biases, as the plain stack of ReLU layers that has the same ones; its
        function is another one.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> stack = from_arrays([([[1]], [0]), ([[2]], [3])])
    >>> network = LeakyStack(Fraction(1, 10), stack).network()
    >>> network([5]), network([-5])
    ((Fraction(13, 1),), (Fraction(2, 1),))
    """

    slope: Fraction
    stack: Network

    def __post_init__(self) -> None:
        expect(self.slope, Fraction, "slope")
        expect(self.stack, Network, "stack")

    def __repr__(self) -> str:
        return bracketed(f"LeakyStack {self.stack.architecture} of slope {self.slope}")

    def network(self) -> Network:
        """Return the network with skipping weights that computes the function."""
        layers = [self.stack.layers[0]]
        for number, layer in enumerate(self.stack.layers[1:], 2):
            layers.append(_expanded(layer.weight, layer.bias, number, layers[-1], self.slope))
        return Network(self.stack.num_inputs, tuple(layers))


def _expanded(
    weight: RationalMatrix, bias: RationalMatrix, number: int, before: Layer, slope: Fraction
) -> Layer:
    """Return a layer W φ(z) + b, where z are the preactivations of the layer before."""
    leak = weight.scale(slope)
    skipping = [Block(block.source, leak @ block.weight) for block in before.blocks]
    blocks = (
        *(block for block in skipping if not block.entries.is_zero()),
        Block(number - 1, weight.scale(1 - slope)),
    )
    return Layer(blocks, bias + leak @ before.bias)


def leaky_stack(network: Network) -> LeakyStack | None:
    """Return the parameters of a leaky ReLU stack; None for networks that are none.

    Parameters
    ----------
    network
        Any network.

    Returns
    -------
    LeakyStack or None
        The slope and the parameters. Networks without skipping weights have slope 0 and are none,
        and so are networks whose layers have different slopes, or that end in a ReLU.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> stack = from_arrays([([[1], [2]], [0, 1]), ([[2, 1]], [3])])
    >>> found = leaky_stack(LeakyStack(Fraction(1, 10), stack).network())
    >>> found.slope, found.stack == stack
    (Fraction(1, 10), True)
    >>> leaky_stack(stack) is None
    True
    """
    found = leaky_slopes(network) if network.last == "affine" else None
    if found is None or len(set(found[0])) != 1:
        return None
    return LeakyStack(found[0][0], found[1])


def leaky_slopes(network: Network) -> tuple[tuple[Fraction, ...], Network] | None:
    """Return the parameters of a stack whose ReLUs are leaky, each layer with a slope of its own.

    Parameters
    ----------
    network
        Any network.

    Returns
    -------
    tuple or None
        The slope after each layer but the last, 0 for a ReLU, and the weights and biases as in
        `LeakyStack`. A ReLU after the last layer is kept. The result is None for plain stacks, and
        where leaky ReLUs do not make the skipping weights.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> stack = from_arrays([([[1], [2]], [0, 1]), ([[2, 1]], [3])])
    >>> slopes, parameters = leaky_slopes(LeakyStack(Fraction(1, 10), stack).network())
    >>> slopes, parameters == stack
    ((Fraction(1, 10),), True)
    """
    if network.is_plain or _num_products(network) > _MAX_PRODUCTS:
        return None
    slopes, layers = list[Fraction](), [network.layers[0]]
    for number, layer in enumerate(network.layers[1:], 2):
        before = network.layers[number - 2]
        for slope in _candidates(layer, before, slopes[-1] if slopes else Fraction()):
            if (found := _parameters(layer, number, before, slope)) is not None:
                slopes.append(slope)
                layers.append(found)
                break
        else:
            return None
    return tuple(slopes), Network(network.num_inputs, tuple(layers), network.last)


def _num_products(network: Network) -> int:
    """Return how many products of short numbers it takes to read off the parameters."""
    widths, total = network.widths, 0
    for number, layer in enumerate(network.layers[:-1], 1):
        read = sum(widths[block.source] for block in layer.blocks)
        length = 1 + (layer.bits + network.layers[number].bits) // _SHORT_BITS
        total += length * widths[number + 1] * widths[number] * read
    return total


def _candidates(layer: Layer, before: Layer, last: Fraction) -> list[Fraction]:
    """Return the slopes that a layer may have, the first that fits being the answer.

    A skipping weight is s / (1 - s) times the same entry of the product of the weights on the layer
    before with its own weights. Without skipping weights a layer has slope 0, or any one if all
    products are 0; then it has the slope `last` of the layer before.
    """
    *skipping, weights = layer.blocks
    if not skipping:
        return [last, Fraction()] if last else [last]
    block = skipping[0]
    source, entries = block.source, as_sparse(block.entries)
    row, column = int(entries.row_of_entries()[0]), int(entries.columns[0])
    product = Fraction()
    for part in before.blocks:
        if part.source == source:
            chosen = weights.weight.take(rows=[row])
            product = (chosen @ part.weight.take(columns=[column]))[0, 0]
    if not product or (ratio := block.weight[row, column] / product) == -1:
        return []
    return [ratio / (1 + ratio)]


def _parameters(layer: Layer, number: int, before: Layer, slope: Fraction) -> Layer | None:
    """Return the weights and the bias of a layer after a leaky ReLU; None if it has another slope.

    The slope is not 1.
    """
    if not slope:
        return layer if len(layer.blocks) == 1 else None
    weight = layer.blocks[-1].weight.scale(1 / (1 - slope))
    bias = layer.bias - weight.scale(slope) @ before.bias
    if _expanded(weight, bias, number, before, slope) != layer:
        return None
    return Layer((Block(number - 1, weight),), bias)
