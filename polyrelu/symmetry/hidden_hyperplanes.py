"""Hidden hyperplanes between two consecutive hidden layers: translation and flips.

Neuron j of layer ℓ is *hidden* by layer ℓ+1 when every row i there has W_ij ≥ 0, W_ik ≤ 0 for k ≠ j and b_i ≤ 0,
and some W_ij > 0 (with strict signs in the source; weak signs suffice for both symmetries, for any number of inputs
and any weights).

*Translation*: for every t with b_i ≤ t W_ij for all i, replacing b[ℓ]_j by b[ℓ]_j + t and b_i by b_i - t W_ij keeps
the function on all of R^n. *Proof.* Let s be the value of z[ℓ]_j and r = Σ_{k≠j} W_ik a_k + b_i ≤ b_i ≤ 0. Before:
σ(W_ij σ(s) + r), which is 0 for s ≤ 0. After: σ(W_ij σ(s+t) + r - t W_ij). If s + t ≥ 0 this is σ(W_ij s + r), the
same for s ≥ 0, and 0 for s < 0. If s + t < 0 it is σ(r - t W_ij) = 0, as r ≤ b_i ≤ t W_ij; and before, either s ≤
0, or s < -t with W_ij s + r ≤ -t W_ij + b_i ≤ 0: also 0. ∎

*Flip*, layer ℓ+1 a single neuron with row w, w_j > 0, w_k ≤ 0 for k ≠ j, b ≤ 0: negating row k of layer ℓ and
subtracting μ = |w_k|/w_j times row k from row j keeps the function. *Proof.* With z_k = y: s becomes s - μy, and
the sum inside the outer σ is w_j σ(s - μy) - |w_k| σ(-y) + r' with r' ≤ 0. If s > μy: w_j s - |w_k|(y + σ(-y)) + r'
= w_j s - |w_k| σ(y) + r', what stood there before if s > 0; if s ≤ 0 it is ≤ 0, and before it was ≤ 0. If s ≤ μy it
is ≤ 0; before, for s > 0, w_j s ≤ |w_k| y ≤ |w_k| σ(y), so ≤ 0 too. ∎ Flips of different k commute (row k of the
others is untouched), and each is its own inverse.

Source: three-layer symmetries, §5, with corrections (weak signs; explicit half-line of t).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polyrelu.errors import NetworkError
from polyrelu.exact import Rational, RationalMatrix, to_fraction
from polyrelu.network import Layer, Network, layer_from_rows

__all__ = ["flip", "hidden_neurons", "least_shift", "translate"]


def hidden_neurons(network: Network, layer: int) -> tuple[int, ...]:
    """The neurons of hidden layer `layer` (from 1) that hidden layer `layer` + 1 hides.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> hidden_neurons(net, 1)
    (0,)
    """
    if not 1 <= layer < network.hidden_layers or not network.is_plain:
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
    """The least admissible t of the translation, a number ≤ 0: the maximum of b_i / W_ij over rows with W_ij > 0."""
    bias, weight = network.bias(layer + 1), network.weight(layer + 1)
    return max(bias[i, 0] / weight[i, neuron] for i in range(weight.nrows) if weight[i, neuron] > 0)


def translate(network: Network, layer: int, neuron: int, shift: Rational) -> Network:
    """The network with the hidden neuron's bias raised by `shift`; the same function.

    Raises `NetworkError` if the neuron is not hidden or the shift is below `least_shift`.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> translate(net, 1, 0, 3)([5, 1]) == net([5, 1])
    True
    """
    t = to_fraction(shift)
    _need_hidden(network, layer, neuron)
    if t < least_shift(network, layer, neuron):
        raise NetworkError(
            f"the shift {t} is below the least admissible one, {least_shift(network, layer, neuron)}"
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


def flip(network: Network, layer: int, neuron: int, flipped: Sequence[int]) -> Network:
    """The network with the listed other neurons of the layer flipped; the same function.

    Raises `NetworkError` if layer + 1 has more than one neuron or does not hide the neuron.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> flip(net, 1, 0, [1]).weight(1).rows() == [(1, -1), (0, -1)]
    True
    """
    _need_hidden(network, layer, neuron)
    others = set(range(network.widths[layer])) - {neuron}
    if (
        network.widths[layer + 1] != 1
        or not set(flipped) <= others
        or len(set(flipped)) < len(flipped)
    ):
        raise NetworkError(
            "a flip needs a single neuron in the next layer, and distinct neurons beside the hidden one"
        )
    own, weights = network.layers[layer - 1], network.weight(layer + 1).row(0)
    rows = own.augmented().rows()
    for k in flipped:
        factor = -weights[k] / weights[neuron]
        rows[neuron] = tuple(a - factor * b for a, b in zip(rows[neuron], rows[k], strict=True))
        rows[k] = tuple(-entry for entry in rows[k])
    return network.replace_layers({layer: layer_from_rows(rows, layer - 1)})


def _need_hidden(network: Network, layer: int, neuron: int) -> None:
    if neuron not in hidden_neurons(network, layer):
        raise NetworkError(f"layer {layer + 1} does not hide neuron {neuron} of layer {layer}")
