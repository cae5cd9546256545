"""Leaky ReLU stacks: networks of ReLU layers with skipping weights that a leaky ReLU makes.

Let φ(t) = max(t, 0) + s min(t, 0) = s t + (1 - s) max(t, 0), where the *slope* s is neither 0 nor
1. Layers z[1] = W[1] x + b[1] and z[ℓ] = W[ℓ] φ(z[ℓ-1]) + b[ℓ] are, as a `Network`,

    z[ℓ] = (1 - s) W[ℓ] max(z[ℓ-1], 0) + s W[ℓ] z[ℓ-1] + b[ℓ],

with the preactivations z[ℓ-1] written out as affine forms of earlier activations. The parameters W,
b and the slope can be read off such a network, so that nothing else has to be stored. They are kept
as the plain stack with the same weights and biases.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import RationalMatrix
from polyrelu.network.layers import Block, Layer
from polyrelu.network.network import Network
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed

__all__ = ["LeakyStack", "leaky_stack"]

#: Maximum number of products of numbers for reading off the parameters.
_MAX_PRODUCTS = 10**9


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
        layers = list[Layer]()
        for number, layer in enumerate(self.stack.layers, 1):
            before = layers[-1] if layers else None
            layers.append(_expanded(layer.weight, layer.bias, number, before, self.slope))
        return Network(self.stack.num_inputs, tuple(layers))


def _expanded(
    weight: RationalMatrix,
    bias: RationalMatrix,
    number: int,
    before: Layer | None,
    slope: Fraction,
) -> Layer:
    """Return a layer W φ(z) + b, where z are the preactivations of the layer before."""
    if before is None:
        return Layer((Block(0, weight),), bias)
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
        The slope and the parameters. Networks without skipping weights have slope 0 and are none.

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
    slope = _slope(network)
    if slope is None:
        return None
    layers = [network.layers[0]]
    for number, layer in enumerate(network.layers[1:], 2):
        before = network.layers[number - 2]
        weight = layer.weight.scale(1 / (1 - slope))
        bias = layer.bias - weight.scale(slope) @ before.bias
        if _expanded(weight, bias, number, before, slope) != layer:
            return None
        layers.append(Layer((Block(number - 1, weight),), bias))
    return LeakyStack(slope, Network(network.num_inputs, tuple(layers)))


def _slope(network: Network) -> Fraction | None:
    """Return the only slope that the first two layers allow, if the sizes allow to go on."""
    if network.last != "affine" or network.depth < 2 or len(network.layers[1].blocks) != 2:
        return None
    widths = network.widths
    products = sum(
        widths[k + 1] * widths[k] * sum(widths[block.source] for block in network.layers[k].blocks)
        for k in range(1, network.depth - 1)
    )
    if products + widths[2] * widths[1] * widths[0] > _MAX_PRODUCTS:
        return None
    skipping, weight = (block.weight for block in network.layers[1].blocks)
    together = weight @ network.layers[0].weight
    pairs = zip(skipping.entries(), together.entries(), strict=True)
    ratio = next((x / y for x, y in pairs if x and y), None)
    if ratio is None or ratio == -1:
        return None
    return ratio / (1 + ratio)
