"""Affine maps of many activation patterns, and derivatives of the outputs in one activation.

`affine_map_table` computes the maps of all patterns of a complex; `Network.affine_map` computes
one. Patterns that agree on their first layers share the computation of these layers: patterns are
grouped by their first layers, and in a group only the last hidden layer differs. Its
preactivations, the rows of one matrix Z, are the same for the whole group, and the outputs of all
its patterns are one product of masked copies of the last weights with Z.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.network.network import READ, Network
from polyrelu.network.patterns import (
    ActivationPattern,
    NeuronId,
    SignVector,
    expect_neuron,
    need_pattern,
)
from polyrelu.support.arguments import expect
from polyrelu.support.typing import BigIntegers, Indices, Mask

__all__ = ["affine_map_table", "output_derivative"]


def affine_map_table(network: Network, active: Mask) -> tuple[int, BigIntegers]:
    """Compute the affine maps [A | c] of many activation patterns.

    Parameters
    ----------
    network
        Any network.
    active
        Boolean array of activation patterns, shape (patterns, hidden neurons), the neurons in the
        order of `Network.neurons`. This encoding, and not a sequence of `ActivationPattern`, lets
        numpy group the patterns; complexes keep their signs in arrays anyway.

    Returns
    -------
    tuple[int, BigIntegers]
        A positive common denominator, and the numerators over it, shape (patterns, n_L, n_0 + 1).

    Raises
    ------
    NetworkError
        The array has another shape, or entries that are not truth values.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 1]), ([["1/2", 3]], [0])])
    >>> active = np.array([[True, False], [True, True], [False, False]])
    >>> denominator, table = affine_map_table(net, active)
    >>> denominator, table.tolist()
    (2, [[[1, 0]], [[-5, 6]], [[0, 0]]])
    """
    network = expect(network, Network, "network", READ)
    active = expect(active, np.ndarray, "active", "np.array(patterns, dtype=bool) makes one")
    count = sum(network.widths[1 : network.num_hidden_layers + 1])
    if active.ndim != 2 or active.shape[1] != count:
        raise NetworkError(f"patterns of shape {active.shape} for {count} hidden neurons")
    if active.dtype != np.bool_:
        raise NetworkError(f"patterns must be an array of truth values, not of {active.dtype}")
    groups = list(_groups(network, active))
    denominator = math.lcm(*(maps.denominator for _, maps in groups))
    table = np.empty((len(active), network.num_outputs, network.num_inputs + 1), dtype=object)
    for rows, maps in groups:
        factor = denominator // maps.denominator
        numerators = np.array(maps.integer_rows(), dtype=object) * factor
        table[rows] = numerators.reshape(len(rows), *table.shape[1:])
    return denominator, table


def output_derivative(
    network: Network, signs: ActivationPattern | SignVector, neuron: NeuronId
) -> RationalMatrix:
    """Compute the derivative of the outputs in the activation of one hidden neuron.

    The neurons of later layers pass their preactivation on if they are active, and give 0
    otherwise.

    Parameters
    ----------
    network
        Any network.
    signs
        Activation pattern of the later layers; neurons of sign 1 in a sign vector are active.
    neuron
        A hidden neuron.

    Returns
    -------
    RationalMatrix
        The derivative, a column of shape (n_L, 1).

    Raises
    ------
    IndexError
        The network has no such hidden neuron.
    NetworkError
        The pattern has other layers or widths than the network.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 1]), ([[2, 3], [5, 7]], [0, 0]), ([[1, 10]], [0])])
    >>> str(output_derivative(net, SignVector(((1, -1), (-1, 1))), NeuronId(1, 0)))
    '[50]'
    """
    network = expect(network, Network, "network", READ)
    neuron = expect_neuron(neuron)
    need_pattern(signs, network.widths[1 : network.num_hidden_layers + 1])
    if not (
        1 <= neuron.layer <= network.num_hidden_layers
        and 0 <= neuron.index < network.widths[neuron.layer]
    ):
        raise IndexError(f"the network has no hidden neuron {neuron.index} in layer {neuron.layer}")
    unit = [[int(i == neuron.index)] for i in range(network.widths[neuron.layer])]
    derivatives = {neuron.layer: RationalMatrix.from_integers(unit)}
    for number in range(neuron.layer + 1, network.depth + 1):
        layer = network.layers[number - 1]
        derivative = RationalMatrix.zeros(layer.width, 1)
        for block in layer.blocks:
            if block.source in derivatives:
                derivative = derivative + block @ derivatives[block.source]
        if number <= network.num_hidden_layers:
            derivative = derivative.scale_rows([int(sign > 0) for sign in signs.layers[number - 1]])
        derivatives[number] = derivative
    return derivatives[network.depth]


def _groups(network: Network, active: Mask) -> Iterator[tuple[Indices, RationalMatrix]]:
    """Groups of patterns with the same first layers: their row numbers, and their maps stacked."""
    source = RationalMatrix.identity(network.num_inputs).beside(
        RationalMatrix.zeros(network.num_inputs, 1)
    )
    starts = np.cumsum([0, *network.widths[1 : network.num_hidden_layers + 1]])
    waiting = [(np.arange(len(active)), [source])]
    while waiting:
        rows, activations = waiting.pop()
        number = len(activations)
        z = network.layer_forms(number, activations)
        if number > network.num_hidden_layers:
            yield rows, _repeated(z, len(rows))
            continue
        masks = active[rows][:, starts[number - 1] : starts[number]]
        if number == network.num_hidden_layers:
            yield rows, _outputs(network, z, activations, masks)
            continue
        distinct, which = np.unique(masks, axis=0, return_inverse=True)
        for i, mask in enumerate(distinct.tolist()):
            members = rows[which.ravel() == i]
            waiting.append((members, [*activations, z.scale_rows([int(on) for on in mask])]))


def _outputs(
    network: Network, z: RationalMatrix, activations: Sequence[RationalMatrix], masks: Mask
) -> RationalMatrix:
    """The stacked maps of patterns that differ in the last hidden layer, whose forms are `z`."""
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
    """Copies of a matrix stacked on top of each other."""
    return RationalMatrix.from_integers(
        rows.integer_rows() * times, rows.denominator, ncols=rows.ncols
    )
