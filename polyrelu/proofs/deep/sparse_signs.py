"""The signs of a layer among sparse competitors, which may have zero weights: condition (D3*).

A neuron v of the next layer says nothing about the sign of a neuron h that it does not read. So
the neurons v are taken one after the other, and each of them determines the signs of some h that
it reads; the signs that are known make the systems of later ones smaller. The checker does the
same (FORMAT.md §3.9). Mathematics: docs/theory/sparse.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polyrelu.proofs.deep.linear_systems import sign_system
from polyrelu.proofs.deep.neuron_evidence import NeuronEvidence, bits_of
from polyrelu.proofs.deep.ridges import DeepNetwork

__all__ = ["undetermined_signs"]


def undetermined_signs(
    deep_network: DeepNetwork,
    layer: int,
    chosen: Mapping[int, NeuronEvidence],
    above: Sequence[NeuronEvidence],
) -> int:
    """Return the mask of the neurons of a layer whose signs are not determined.

    Parameters
    ----------
    deep_network
        The network.
    layer
        The layer m < L-1 whose signs are in question.
    chosen
        The evidence about the neurons of layer m, by their numbers.
    above
        The evidence about the neurons of layer m+1 that may be used.
    """
    oriented = sum(
        1 << neuron
        for neuron in deep_network.neurons_in(layer)
        if neuron in chosen and chosen[neuron].oriented
    )
    left, before = deep_network.layer_mask[layer] & ~oriented, -1
    while left and left != before:
        before = left
        for v in above:
            if left & deep_network.read_before(v.neuron):
                left &= ~_determined_by(deep_network, layer, v, left)
    return left


def _determined_by(deep_network: DeepNetwork, layer: int, v: NeuronEvidence, left: int) -> int:
    """Return the mask of the neurons, of those that are left, whose signs v determines."""
    read = deep_network.read_before(v.neuron) & left
    if v.crossed_by == deep_network.mask_before(v.neuron):
        start = deep_network.starts[layer - 1]
        slopes = [deep_network.slopes(layer, mask) for mask in v.masks]
        return sum(1 << h for h in bits_of(read) if any(part[h - start] for part in slopes))
    system = sign_system(deep_network, layer, v, left)
    if system.own_deficit or len(system.remaining) < (v.crossed_by & read).bit_count():
        return 0
    return read & (v.crossed_by | v.num_active)
