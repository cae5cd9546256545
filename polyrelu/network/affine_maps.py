"""The affine maps of many activation patterns at once: what patterns have in common is computed once.

Patterns are grouped by their first layers. In a group only the last hidden layer differs, whose preactivations Z are
the same matrix, and the outputs of all patterns are one product of masked copies of the last weights with Z.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.network.network import Network
from polyrelu.network.patterns import NeuronId, SignVector
from polyrelu.support.typing import BigIntegers, Indices, Mask

__all__ = ["affine_map_table", "output_derivative"]


def affine_map_table(network: Network, active: Mask) -> tuple[int, BigIntegers]:
    """The affine maps [A | c] of activation patterns.

    Parameters
    ----------
    active : which hidden neurons pass, layer by layer, shape (number of patterns, number of hidden neurons).

    Returns
    -------
    a common denominator, and integers over it, shape (number of patterns, n_L, n_0 + 1).

    Raises
    ------
    NetworkError : another shape.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 1]), ([["1/2", 3]], [0])])
    >>> denominator, table = affine_map_table(net, np.array([[True, False], [True, True], [False, False]]))
    >>> denominator, table.tolist()
    (2, [[[1, 0]], [[-5, 6]], [[0, 0]]])
    """
    count = sum(network.widths[1 : network.hidden_layers + 1])
    if active.ndim != 2 or active.shape[1] != count:
        raise NetworkError(f"patterns of shape {active.shape} for {count} hidden neurons")
    groups = list(_groups(network, active))
    denominator = math.lcm(*(maps.denominator for _, maps in groups))
    table = np.empty((len(active), network.outputs, network.inputs + 1), dtype=object)
    for rows, maps in groups:
        factor = denominator // maps.denominator
        found = np.array(maps.integer_rows(), dtype=object) * factor
        table[rows] = found.reshape(len(rows), *table.shape[1:])
    return denominator, table


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


def _groups(network: Network, active: Mask) -> Iterator[tuple[Indices, RationalMatrix]]:
    """Groups of patterns with the same first layers, and their maps one below the other."""
    source = RationalMatrix.identity(network.inputs).beside(RationalMatrix.zeros(network.inputs, 1))
    starts = np.cumsum([0, *network.widths[1 : network.hidden_layers + 1]])
    waiting = [(np.arange(len(active)), [source])]
    while waiting:
        rows, activations = waiting.pop()
        number = len(activations)
        here = (
            active[rows][:, starts[number - 1] : starts[number]]
            if number <= network.hidden_layers
            else None
        )
        z = network.layer_forms(number, activations)
        if here is None:
            yield rows, _repeated(z, len(rows))
        elif number == network.hidden_layers:
            yield rows, _outputs(network, z, activations, here)
        else:
            masks, which = np.unique(here, axis=0, return_inverse=True)
            for i, mask in enumerate(masks.tolist()):
                waiting.append(
                    (
                        rows[which.ravel() == i],
                        [*activations, z.scale_rows([int(on) for on in mask])],
                    )
                )


def _outputs(
    network: Network, z: RationalMatrix, activations: Sequence[RationalMatrix], masks: Mask
) -> RationalMatrix:
    """The maps of patterns that differ in the last hidden layer, z its preactivations as forms."""
    if network.last == "relu":
        rows = np.where(masks[:, :, None], np.array(z.integer_rows(), dtype=object), 0)
        return RationalMatrix.from_integers(
            rows.reshape(-1, z.ncols).tolist(), z.denominator, ncols=z.ncols
        )
    silent = RationalMatrix.zeros(z.nrows, z.ncols)
    others = network.layer_forms(network.depth, [*activations, silent])
    weight = network.weight(network.depth)
    numerators = np.array(weight.integer_rows(), dtype=object)
    patterns = np.where(masks[:, None, :], numerators, 0).reshape(-1, z.nrows)
    product = RationalMatrix.from_integers(patterns.tolist(), weight.denominator, ncols=z.nrows) @ z
    return product + _repeated(others, len(masks))


def _repeated(rows: RationalMatrix, times: int) -> RationalMatrix:
    """The rows one below the other, several times."""
    return RationalMatrix.from_integers(
        rows.integer_rows() * times, rows.denominator, ncols=rows.ncols
    )
