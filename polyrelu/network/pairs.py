"""Two networks side by side as one network, and networks with fewer or more inputs.

The hidden layers of the pair have the neurons of the first and then of the second network; its
outputs are the outputs of both. The canonical complex of a pair is the common refinement of the
complexes of the two networks.
"""

from __future__ import annotations

from collections.abc import Sequence

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.network.layers import Block, Layer
from polyrelu.network.network import READ, Network
from polyrelu.support.arguments import expect

__all__ = ["ends_affine", "on_inputs", "side_by_side", "with_input_signs"]


def ends_affine(network: Network) -> Network:
    """Return the same function as a network that ends in an affine layer.

    A network that ends in a ReLU gets the identity as its last layer.

    Examples
    --------
    >>> from polyrelu.network.network import from_arrays
    >>> ends_affine(from_arrays([([[1]], [0])], last="relu")).widths
    (1, 1, 1)
    """
    network = expect(network, Network, "network", READ)
    if network.last == "affine":
        return network
    size = network.num_outputs
    last = Layer((Block(network.depth, RationalMatrix.identity(size)),), _zeros(size))
    return Network(network.num_inputs, (*network.layers, last))


def side_by_side(first: Network, second: Network) -> Network:
    """Return the network x ↦ (f(x), g(x)).

    Raises
    ------
    NetworkError
        The networks have different numbers of inputs.

    Examples
    --------
    >>> from polyrelu.network.network import from_arrays
    >>> deep = from_arrays([([[1, 1]], [0]), ([[1]], [-1]), ([[2]], [0])])
    >>> pair = side_by_side(deep, from_arrays([([[1, 0]], [5])]))
    >>> pair.widths, [str(entry) for entry in pair([3, 4])]
    ((2, 1, 1, 2), ['12', '8'])
    """
    first, second = ends_affine(first), ends_affine(second)
    if first.num_inputs != second.num_inputs:
        raise NetworkError(
            f"networks with {first.num_inputs} and with {second.num_inputs} inputs have no pair"
        )
    depth = max(first.depth, second.depth) - 1
    widths = [first.num_inputs]
    for layer in range(1, depth + 1):
        hidden = [net.layers[layer - 1].width for net in (first, second) if layer < net.depth]
        widths.append(sum(hidden))
    layers = []
    for layer in range(1, depth + 2):
        parts = []
        for net, offset in ((first, None), (second, first)):
            own = net.depth if layer == depth + 1 else layer
            if own < net.depth or layer == depth + 1:
                parts.append(_placed(net.layers[own - 1], offset, widths))
        layers.append(_stacked(parts, layer - 1, widths))
    return Network(first.num_inputs, tuple(layers))


#: The weights of some rows by their source, and the bias.
_Rows = tuple[dict[int, RationalMatrix], RationalMatrix]


def _placed(layer: Layer, before: Network | None, widths: Sequence[int]) -> _Rows:
    """The rows of a layer over the neurons of the pair, behind the neurons of another network."""
    blocks = {}
    for block in layer.blocks:
        weight, source = block.weight, block.source
        is_shared = before is not None and 0 < source < before.depth
        left = before.layers[source - 1].width if before is not None and is_shared else 0
        right = widths[source] - left - weight.ncols
        padded = RationalMatrix.zeros(weight.nrows, left).beside(weight)
        blocks[source] = padded.beside(RationalMatrix.zeros(weight.nrows, right))
    return blocks, layer.bias


def _stacked(parts: Sequence[_Rows], last: int, widths: Sequence[int]) -> Layer:
    """The layer with the rows of all parts, which reads at least the layer before."""
    sources = sorted({source for blocks, _ in parts for source in blocks} | {last})
    blocks = []
    for source in sources:
        weight = RationalMatrix.zeros(0, widths[source])
        for own, bias in parts:
            weight = weight.over(own.get(source, RationalMatrix.zeros(bias.nrows, widths[source])))
        if source == last or not weight.is_zero():
            blocks.append(Block(source, weight))
    bias = parts[0][1]
    for _, other in parts[1:]:
        bias = bias.over(other)
    return Layer(tuple(blocks), bias)


def on_inputs(network: Network, chosen: Sequence[int]) -> Network:
    """Return the network as a function of some inputs, with 0 for all others.

    Examples
    --------
    >>> from polyrelu.network.network import from_arrays
    >>> on_inputs(from_arrays([([[1, 2, 3]], [4])]), [2])([1])
    (Fraction(7, 1),)
    """
    network = expect(network, Network, "network", READ)
    layers = []
    for number, layer in enumerate(network.layers):
        blocks = [
            Block(0, block.weight.take(columns=list(chosen))) if block.source == 0 else block
            for block in layer.blocks
        ]
        kept = [block for block in blocks if block.source == number or not block.entries.is_zero()]
        layers.append(Layer(tuple(kept), layer.bias))
    return Network(len(chosen), tuple(layers), network.last)


def with_input_signs(network: Network) -> Network:
    """Return the same function with a neuron for each input in layer 1, which nothing reads.

    Its complex is cut along the coordinate hyperplanes, and the signs of these neurons, which are
    the first ones of layer 1, are the signs of the inputs.

    Examples
    --------
    >>> from polyrelu.network.network import from_arrays
    >>> with_input_signs(from_arrays([([[2]], [1]), ([[3]], [0])])).widths
    (1, 2, 1)
    """
    network = expect(network, Network, "network", READ)
    size = network.num_inputs
    signs = Network(
        size,
        (
            Layer((Block(0, RationalMatrix.identity(size)),), _zeros(size)),
            Layer((Block(1, RationalMatrix.zeros(1, size)),), _zeros(1)),
        ),
    )
    pair = side_by_side(signs, network)
    last = pair.layers[-1]
    rows = range(1, last.width)
    blocks = [Block(block.source, block.weight.take(rows=rows)) for block in last.blocks]
    outputs = Layer(tuple(blocks), last.bias.take(rows=rows))
    return Network(size, (*pair.layers[:-1], outputs))


def _zeros(size: int) -> RationalMatrix:
    """A column of zeros."""
    return RationalMatrix.zeros(size, 1)
