"""Linear bounds of functionals of hidden layers, computed backwards, for many boxes at a time.

A functional S·a + G·d + k of the activations of a layer is replaced, layer by layer, by an upper
bound in terms of the layer before, until it is an affine function C·x + k of the input, whose
maximum over a box is known. Every functional has a box of its own, with its relaxations: S has the
shape (functionals, neurons), and boxes have as many functionals as they need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.proofs.deviation.float_pair import FloatPair, Floats
from polyrelu.proofs.deviation.half_spaces import HalfSpaces
from polyrelu.proofs.deviation.relaxations import PairRelaxation, Relaxation

__all__ = ["AffineBound", "Boxes", "Places", "bound_alone", "bound_pair"]

#: The index of the box of each functional.
Places: TypeAlias = NDArray[np.intp]


@dataclass(slots=True)
class Boxes:
    """Boxes by their corners, shape (boxes, n_0)."""

    low: Floats
    high: Floats

    def __len__(self) -> int:
        return len(self.low)

    def take(self, places: Sequence[int]) -> Boxes:
        """Return some of the boxes."""
        return Boxes(self.low[list(places)], self.high[list(places)])

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
        C, shape (functionals, n_0).
    constant
        k, shape (functionals,).
    losses
        What the relaxation of each neuron adds to the bound at most, for each hidden layer from the
        last one down, shape (functionals, neurons); empty unless asked for.
    """

    slope: Floats
    constant: Floats
    losses: list[Floats]

    def maximum(self, boxes: Boxes, place: Places, sides: HalfSpaces | None = None) -> Floats:
        """Return the maximum of each functional over its box, or a bound of it over a part."""
        slope, at_middle = self.slope, _dots(self.slope, boxes.middle[place]) + self.constant
        if sides is not None:
            ends = boxes.middle, boxes.radius
            slope, at_middle = sides.add_multiples(place, slope, at_middle, *ends)
        return at_middle + _dots(np.abs(slope), boxes.radius[place])


def bound_alone(
    weights: Sequence[Floats],
    biases: Sequence[Floats],
    relaxations: Sequence[Relaxation],
    place: Places,
    functional: Floats,
    constant: Floats,
    with_losses: bool = False,
) -> AffineBound:
    """Bound functionals of the last of some layers of one network, each on the box at its place.

    Parameters
    ----------
    weights, biases
        The hidden layers up to this one, shapes (neurons, neurons before) and (neurons,).
    relaxations
        The relaxations of their neurons on all boxes.
    place
        The index of the box of each functional, shape (functionals,).
    functional, constant
        S and k, shapes (functionals, neurons of the last layer) and (functionals,).
    with_losses
        Whether the losses of all neurons are returned as well.

    Notes
    -----
    Where S is positive, σ(z) is replaced by its upper bound λ z + o, elsewhere by its lower bound
    κ z. Source: Zhang, Weng, Chen, Hsieh, Daniel (2018, arXiv 1811.00866).
    """
    S, k, losses = functional, constant, list[Floats]()
    for relaxation, weight, bias in zip(
        reversed(relaxations), weights[::-1], biases[::-1], strict=True
    ):
        slope, rise, offset = relaxation.of_boxes(place)
        positive = np.maximum(S, 0)
        if with_losses:
            losses.append(positive * offset + (positive - S) * relaxation.gap[place])
        k = k + _dots(positive, offset)
        S = S * slope
        positive *= rise
        S += positive
        k = k + S @ bias
        S = S @ weight
    return AffineBound(S, k, losses)


def bound_pair(
    pair: FloatPair,
    relaxations: Sequence[tuple[Relaxation, PairRelaxation]],
    place: Places,
    on_a: Floats,
    on_d: Floats,
    constant: Floats,
    with_losses: bool = False,
) -> AffineBound:
    """Bound functionals S·a + G·d of the last of some layers of two networks.

    Parameters
    ----------
    pair
        The networks.
    relaxations
        For each hidden layer up to this one the relaxation of a, and the joint one of d.
    place
        The index of the box of each functional, shape (functionals,).
    on_a, on_d, constant
        S, G and k, shapes (functionals, neurons of f), (functionals, neurons of g) and
        (functionals,).
    with_losses
        Whether the losses of all neurons of f are returned as well.

    Notes
    -----
    The bounds of d are p z + q D + r, z being the partner's preactivation: so G becomes weights of
    the preactivations of f, and of the differences D, which depend on a and d of the layer before.
    """
    S, G, k, losses = on_a, on_d, constant, list[Floats]()
    for m in range(len(relaxations) - 1, -1, -1):
        alone, joint = relaxations[m]
        slope, rise, offset = alone.of_boxes(place)
        p, q, r, more_p, more_q, more_r = joint.of_boxes(place)
        positive, grown = np.maximum(S, 0), np.maximum(G, 0)
        k = k + _dots(positive, offset) + _dots(grown, more_r) + _dots(G, r)
        if with_losses:
            above, below = joint.gaps[:, place]
            losses.append(pair.to_partners(m, grown * above + (grown - G) * below))
            losses[-1] += positive * offset + (positive - S) * alone.gap[place]
        on_z = G * p
        on_z += grown * more_p
        on_z = pair.to_partners(m, on_z)
        S = S * slope
        positive *= rise
        on_z += S
        on_z += positive
        on_change = G * q
        grown *= more_q
        on_change += grown
        k = k + on_z @ pair.biases[m] + on_change @ pair.bias_changes[m]
        S = on_z @ pair.weights[m] + on_change @ pair.weight_changes[m]
        G = on_change @ pair.other_weights[m]
    return AffineBound(S, k, losses)


def _dots(one: Floats, other: Floats) -> Floats:
    """Return the product of each row with a row."""
    found: Floats = np.einsum("ij,ij->i", one, other)
    return found
