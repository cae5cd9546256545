"""Linear bounds of functionals of hidden layers, computed backwards, for many boxes at a time.

A functional S·a + G·d + k of the activations of a layer is replaced, layer by layer, by an upper
bound in terms of the layer before, until it is an affine function C·x + k of the input, whose
maximum over a box is known. All arrays have a row of functionals for each box: S has the shape
(boxes, functionals, neurons).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyrelu.proofs.deviation.float_pair import FloatPair, Floats
from polyrelu.proofs.deviation.relaxations import PairRelaxation, Relaxation

__all__ = ["AffineBound", "Boxes", "bound_alone", "bound_pair"]


@dataclass(slots=True)
class Boxes:
    """Boxes by their corners, shape (boxes, n_0)."""

    low: Floats
    high: Floats

    def __len__(self) -> int:
        return len(self.low)

    @property
    def middle(self) -> Floats:
        """The middle of each box."""
        return (self.low + self.high) / 2

    @property
    def radius(self) -> Floats:
        """Half the lengths of the sides of each box."""
        return (self.high - self.low) / 2


@dataclass(slots=True)
class AffineBound:
    """Upper bounds C·x + k of functionals.

    Attributes
    ----------
    slope
        C, shape (boxes, functionals, n_0).
    constant
        k, shape (boxes, functionals).
    losses
        What the relaxation of each neuron adds to the bound, for each hidden layer from the last
        one down, shape (boxes, functionals, neurons); empty unless asked for.
    """

    slope: Floats
    constant: Floats
    losses: list[Floats]

    def maximum(self, boxes: Boxes) -> Floats:
        """Return the maximum over each box, shape (boxes, functionals)."""
        at_middle = _times(self.slope, boxes.middle) + self.constant
        return at_middle + _times(np.abs(self.slope), boxes.radius)


def bound_alone(
    weights: Sequence[Floats],
    biases: Sequence[Floats],
    relaxations: Sequence[Relaxation],
    functional: Floats,
    constant: Floats,
    with_losses: bool = False,
) -> AffineBound:
    """Bound functionals of the last of some layers of one network."""
    S, k, losses = functional, constant, list[Floats]()
    for relaxation, weight, bias in zip(
        reversed(relaxations), weights[::-1], biases[::-1], strict=True
    ):
        positive = np.maximum(S, 0)
        if with_losses:
            losses.append(positive * relaxation.offset[:, None])
        k = k + _times(positive, relaxation.offset)
        S = S * relaxation.lower_slope[:, None]
        positive *= (relaxation.upper_slope - relaxation.lower_slope)[:, None]
        S += positive
        k = k + S @ bias
        S = _product(S, weight)
    return AffineBound(S, k, losses)


def bound_pair(
    pair: FloatPair,
    relaxations: Sequence[tuple[Relaxation, PairRelaxation]],
    on_a: Floats,
    on_d: Floats,
    constant: Floats,
    with_losses: bool = False,
) -> AffineBound:
    """Bound functionals S·a + G·d of the last of some layers of two networks."""
    S, G, k, losses = on_a, on_d, constant, list[Floats]()
    for m in range(len(relaxations) - 1, -1, -1):
        alone, joint = relaxations[m]
        (p, q, r), (p_low, q_low, r_low) = joint.upper, joint.lower
        positive, grown = np.maximum(S, 0), np.maximum(G, 0)
        k = k + _times(positive, alone.offset) + _times(grown, r - r_low) + _times(G, r_low)
        if with_losses:
            loss = pair.to_partners(m, grown * (r - r_low)[:, None] + G * r_low[:, None])
            losses.append(loss + positive * alone.offset[:, None])
        on_z = G * p_low[:, None]
        on_z += grown * (p - p_low)[:, None]
        on_z = pair.to_partners(m, on_z)
        on_z += S * alone.lower_slope[:, None]
        positive *= (alone.upper_slope - alone.lower_slope)[:, None]
        on_z += positive
        on_change = G * q_low[:, None]
        grown *= (q - q_low)[:, None]
        on_change += grown
        k = k + on_z @ pair.biases[m] + on_change @ pair.bias_changes[m]
        S = _product(on_z, pair.weights[m]) + _product(on_change, pair.weight_changes[m])
        G = _product(on_change, pair.other_weights[m])
    return AffineBound(S, k, losses)


def _times(matrices: Floats, vectors: Floats) -> Floats:
    """Return the product of a matrix and a vector for each box."""
    product: Floats = np.matmul(matrices, vectors[:, :, None])[..., 0]
    return product


def _product(functionals: Floats, weight: Floats) -> Floats:
    """Return functionals of a layer as functionals of the layer before."""
    boxes, rows, width = functionals.shape
    flat = functionals.reshape(boxes * rows, width) @ weight
    return flat.reshape(boxes, rows, weight.shape[1])
