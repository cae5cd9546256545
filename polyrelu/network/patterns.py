"""Neurons, sign vectors and activation patterns: the names of cells and of affine pieces."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ActivationPattern", "NeuronId", "SignVector"]


@dataclass(frozen=True, slots=True, order=True)
class NeuronId:
    """A neuron: its layer, counted from 1, and its index in the layer, counted from 0."""

    layer: int
    index: int


@dataclass(frozen=True, slots=True)
class SignVector:
    """The signs -1, 0, 1 of the preactivations of the hidden neurons, layer by layer.

    It names a cell of the canonical complex. Signs 0 and -1 give the same affine map.

    >>> print(SignVector(((1, -1), (0,))))
    +-|0
    """

    layers: tuple[tuple[int, ...], ...]

    def active(self, layer: int) -> tuple[int, ...]:
        """The indices of the neurons of a hidden layer (from 1) with sign 1."""
        return tuple(i for i, sign in enumerate(self.layers[layer - 1]) if sign > 0)

    def __str__(self) -> str:
        return "|".join("".join("-0+"[sign + 1] for sign in layer) for layer in self.layers)


@dataclass(frozen=True, slots=True)
class ActivationPattern:
    """Which hidden neurons are active (have a positive preactivation), layer by layer.

    It names an affine piece of a network's function: active neurons pass their preactivation on,
    the others give 0. A sign vector says more, since it tells zero from negative.
    """

    layers: tuple[tuple[bool, ...], ...]

    def __str__(self) -> str:
        return "|".join("".join(".+"[active] for active in layer) for layer in self.layers)
