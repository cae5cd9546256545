"""Hidden hyperplanes between two consecutive hidden layers: translation and flips.

A neuron whose hyperplane the next layer hides can be moved, and in some cases its neighbours can be
flipped, without a change of the function. The fiber of a network with such a neuron is larger than
permutation and scaling explain, so that the network is not identifiable.

Neuron j of layer ℓ is *hidden* by layer ℓ+1 if every row i of that layer has W_ij ≥ 0, W_ik ≤ 0 for
k ≠ j and b_i ≤ 0, and some row has W_ij > 0. Weak signs suffice for both symmetries, for any number
of inputs and any weights. Certificates name this file as the place of the proofs; they are on the
page docs/theory/hidden_hyperplanes.md. Source: the three-layer paper (2026), section 5, arXiv
2605.18319, which requires strict signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polyrelu.errors import NetworkError
from polyrelu.exact import Rational, RationalMatrix, format_rational, to_fraction
from polyrelu.formats.arguments import NetworkLike, as_network
from polyrelu.network import Layer, Network, layer_from_rows
from polyrelu.support.arguments import expect_index, expect_integer, expect_list
from polyrelu.support.display import shortened

__all__ = ["flip", "hidden_neurons", "least_shift", "translate"]


def hidden_neurons(network: NetworkLike, layer: int) -> tuple[int, ...]:
    """Find the neurons of a hidden layer that the next hidden layer hides.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; if it is not a plain stack, no neuron counts as
        hidden.
    layer
        Number of the hidden layer, from 1.

    Returns
    -------
    tuple of int
        The index of the hidden neuron, at most one; empty also if no hidden layer comes after the
        layer.

    Raises
    ------
    ArgumentError
        There is no hidden layer of that number.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> hidden_neurons(net, 1)
    (0,)
    """
    network = as_network(network)
    layer = expect_index(layer, network.num_hidden_layers, "layer", 1)
    if layer == network.num_hidden_layers or not network.is_plain:
        return ()
    signs = network.weight(layer + 1).signs()
    if (network.bias(layer + 1).signs() > 0).any():
        return ()
    positive = (signs > 0).any(axis=0)
    if positive.sum() != 1:
        return ()
    neuron = int(positive.argmax())
    return () if (signs[:, neuron] < 0).any() else (neuron,)


def least_shift(network: Network, layer: int, neuron: int) -> Fraction:
    """Return the least admissible translation of a hidden neuron, a number ≤ 0."""
    bias, weight = network.bias(layer + 1), network.weight(layer + 1)
    return max(bias[i, 0] / weight[i, neuron] for i in range(weight.nrows) if weight[i, neuron] > 0)


def translate(network: NetworkLike, layer: int, neuron: int, shift: Rational) -> Network:
    """Translate the hyperplane of a hidden neuron; the function stays the same.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; a plain stack.
    layer
        Number of the hidden layer, from 1.
    neuron
        Index of a neuron that the next layer hides, from 0.
    shift
        The number that is added to the neuron's bias; the biases of the next layer make up for it.

    Returns
    -------
    Network
        The changed network.

    Raises
    ------
    NetworkError
        The neuron is not hidden, or the shift is less than the least admissible one.

    Notes
    -----
    Source: the three-layer paper (2026), section 5, arXiv 2605.18319. Proof:
    docs/theory/hidden_hyperplanes.md, "Translation".

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> translate(net, 1, 0, 3)([5, 1]) == net([5, 1])
    True
    """
    network, t = as_network(network), to_fraction(shift)
    layer, neuron = _hidden_place(network, layer, neuron)
    if t < least_shift(network, layer, neuron):
        raise NetworkError(
            f"the shift {_text(t)} is below the least admissible one, "
            f"{_text(least_shift(network, layer, neuron))}"
        )
    own, after = network.layers[layer - 1], network.layers[layer]
    raised = [b + (t if i == neuron else 0) for i, b in enumerate(own.bias.entries())]
    lowered = after.bias - after.weight.take(columns=[neuron]).scale(t)
    return network.replace_layers(
        {
            layer: Layer(own.blocks, RationalMatrix.column(raised)),
            layer + 1: Layer(after.blocks, lowered),
        }
    )


def flip(network: NetworkLike, layer: int, neuron: int, flipped: Sequence[int]) -> Network:
    """Flip neurons beside a hidden one whose next layer is a single neuron; the function stays.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; a plain stack whose layer `layer` + 1 is a single
        hidden neuron.
    layer
        Number of the hidden layer, from 1.
    neuron
        Index of the neuron that the next layer hides, from 0.
    flipped
        Distinct indices of other neurons of the layer, whose rows are negated; the hidden neuron's
        row makes up for it.

    Returns
    -------
    Network
        The changed network.

    Raises
    ------
    NetworkError
        Layer `layer` + 1 has more than one neuron or does not hide the neuron, or an index is
        wrong.

    Notes
    -----
    Source: the three-layer paper (2026), section 5, arXiv 2605.18319. Proof:
    docs/theory/hidden_hyperplanes.md, "Flips".

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> flip(net, 1, 0, [1]).weight(1).rows() == [(1, -1), (0, -1)]
    True
    """
    network = as_network(network)
    layer, neuron = _hidden_place(network, layer, neuron)
    chosen = [expect_integer(k, "flipped") for k in expect_list(flipped, "flipped")]
    others = set(range(network.widths[layer])) - {neuron}
    if (
        network.widths[layer + 1] != 1
        or not set(chosen) <= others
        or len(set(chosen)) < len(chosen)
    ):
        raise NetworkError(
            "a flip needs a single neuron in the next layer, "
            "and distinct neurons beside the hidden one"
        )
    own, weights = network.layers[layer - 1], network.weight(layer + 1).row(0)
    rows = own.augmented().rows()
    for k in chosen:
        factor = -weights[k] / weights[neuron]
        rows[neuron] = tuple(a - factor * b for a, b in zip(rows[neuron], rows[k], strict=True))
        rows[k] = tuple(-entry for entry in rows[k])
    return network.replace_layers({layer: layer_from_rows(rows, layer - 1)})


def _hidden_place(network: Network, layer: int, neuron: int) -> tuple[int, int]:
    """The layer and the index of a hidden neuron; others raise `NetworkError`."""
    layer, neuron = expect_integer(layer, "layer"), expect_integer(neuron, "neuron")
    if neuron not in hidden_neurons(network, layer):
        raise NetworkError(f"layer {layer + 1} does not hide neuron {neuron} of layer {layer}")
    return layer, neuron


def _text(number: Fraction) -> str:
    """A number for an error; a long one is shortened."""
    return shortened(format_rational(number))
