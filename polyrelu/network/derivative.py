"""How the outputs depend on the activation of one neuron."""

from __future__ import annotations

from polyrelu.exact import RationalMatrix
from polyrelu.network.network import Network, NeuronId, SignVector

__all__ = ["output_derivative"]


def output_derivative(network: Network, signs: SignVector, neuron: NeuronId) -> RationalMatrix:
    """The derivative of the outputs in the activation of a hidden neuron, other neurons passing by their signs.

    Returns
    -------
    A column, shape (m, 1).

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 1]), ([[2, 3], [5, 7]], [0, 0]), ([[1, 10]], [0])])
    >>> str(output_derivative(net, SignVector(((1, -1), (-1, 1))), NeuronId(1, 0)))
    '[50]'
    """
    unit = [[int(i == neuron.index)] for i in range(network.widths[neuron.layer])]
    changes = {neuron.layer: RationalMatrix.from_integers(unit)}
    for number in range(neuron.layer + 1, network.depth + 1):
        layer = network.layers[number - 1]
        change = RationalMatrix.zeros(layer.width, 1)
        for block in layer.blocks:
            if block.source in changes:
                change = change + block @ changes[block.source]
        if number <= network.hidden_layers:
            change = change.scale_rows([int(sign > 0) for sign in signs.layers[number - 1]])
        changes[number] = change
    return changes[network.depth]
