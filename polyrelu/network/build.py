"""Small steps in building networks that several rooms need."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.network.layers import Block, Layer
from polyrelu.network.network import READ, Network
from polyrelu.support.arguments import expect, expect_count, expect_list

__all__ = ["layer_from_rows", "with_output_at_zero_of"]


def layer_from_rows(rows: Sequence[Sequence[Fraction]], source: int) -> Layer:
    """Build a layer of a plain stack from its rows [w | b].

    Parameters
    ----------
    rows
        Weights and bias of each neuron, shape (n_ℓ, n_source + 1).
    source
        Number of the layer before; 0 is the input.

    Returns
    -------
    Layer
        The layer with one block.

    Raises
    ------
    NetworkError
        An entry is not an exact number, or the rows have different lengths.

    Examples
    --------
    >>> layer_from_rows([(Fraction(1), Fraction(2), Fraction(3))], 0).weight.shape
    (1, 2)
    """
    source = expect_count(source, "source")
    table = [expect_list(row, "rows") for row in expect_list(rows, "rows")]
    if not all(table):
        raise NetworkError("rows: a row [w | b] needs at least its bias")
    weight = RationalMatrix.from_rows([row[:-1] for row in table])
    return Layer((Block(source, weight),), RationalMatrix.column([row[-1] for row in table]))


def with_output_at_zero_of(network: Network, model: Network) -> Network:
    """Change the output bias of a network so that its value at 0 is the value of `model` there.

    Parameters
    ----------
    network
        The network to change.
    model
        A network with the same numbers of inputs and outputs.

    Returns
    -------
    Network
        The network with the new output bias.

    Raises
    ------
    NetworkError
        The networks have different numbers of inputs or outputs.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net, model = from_arrays([([[1]], [5])]), from_arrays([([[2]], [3])])
    >>> with_output_at_zero_of(net, model)([0])
    (Fraction(3, 1),)
    """
    network, model = (
        expect(network, Network, "network", READ),
        expect(model, Network, "model", READ),
    )
    if (network.num_inputs, network.num_outputs) != (model.num_inputs, model.num_outputs):
        raise NetworkError(
            f"a network from R^{network.num_inputs} to R^{network.num_outputs}, "
            f"but the model maps R^{model.num_inputs} to R^{model.num_outputs}"
        )
    zero = [0] * network.num_inputs
    correction = RationalMatrix.column(
        [a - b for a, b in zip(model(zero), network(zero), strict=True)]
    )
    last = network.layers[-1]
    return network.replace_layers({network.depth: Layer(last.blocks, last.bias + correction)})
