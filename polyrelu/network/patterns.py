"""Names of neurons, of cells and of affine pieces: `NeuronId`, `SignVector`, `ActivationPattern`.

A cell of the canonical complex is named by the signs of all preactivations, an affine piece of the
network's function by the set of active neurons; several cells share a piece. All three types are
immutable, so that they serve as dictionary keys.

An activation pattern has three encodings in the project:

* `ActivationPattern` is the type of the public functions about one pattern, such as
  `Network.affine_map`. They take a `SignVector` as well, and read it as its activation pattern.
* A boolean array of shape (patterns, neurons), the hidden neurons in the order of
  `Network.neurons`, holds many patterns at once. `affine_map_table` and the complexes use it,
  because numpy then groups and compares patterns without a Python loop.
* An integer with one bit for each hidden neuron in the same order (a *mask*) is what
  `polyrelu.proofs.deep` uses. Its searches intersect and compare millions of sets of neurons, and
  an integer does that in one operation.

`ActivationPattern.from_row` converts a row of the second encoding into the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.support.arguments import expect, expect_integer, expect_list, expect_one_of
from polyrelu.support.display import bracketed
from polyrelu.support.typing import Mask

__all__ = ["ActivationPattern", "NeuronId", "SignVector", "expect_neuron", "need_pattern"]


@dataclass(frozen=True, slots=True, order=True)
class NeuronId:
    """A neuron by its place in the network.

    Attributes
    ----------
    layer
        Number of the layer, from 1.
    index
        Index of the neuron in its layer, from 0.

    Examples
    --------
    >>> NeuronId(1, 3) < NeuronId(2, 0)
    True
    """

    layer: int
    index: int


@dataclass(frozen=True, slots=True, repr=False)
class ActivationPattern:
    """The set of active hidden neurons, layer by layer.

    A neuron is active where its preactivation is positive. A pattern names an affine piece of the
    network's function: active neurons pass their preactivation on, the others give 0. A
    `SignVector` is finer, since it distinguishes the preactivation 0 from a negative one.

    Attributes
    ----------
    layers
        For each hidden layer, whether each of its neurons is active.

    Examples
    --------
    >>> pattern = ActivationPattern(((True, False), (True,)))
    >>> print(pattern)
    +.|+
    >>> pattern.active(1)
    (0,)
    """

    layers: tuple[tuple[bool, ...], ...]

    @classmethod
    def from_row(cls, row: Mask | Sequence[bool], widths: Sequence[int]) -> ActivationPattern:
        """Build a pattern from one row of a boolean array of patterns.

        Parameters
        ----------
        row
            Whether each hidden neuron is active, in the order of `Network.neurons`, shape (N,).
        widths
            Number of neurons of each hidden layer; the sum is N.

        Returns
        -------
        ActivationPattern
            The same pattern, layer by layer.

        Raises
        ------
        NetworkError
            The row is not an array of truth values of shape (N,).

        Examples
        --------
        >>> ActivationPattern.from_row([True, False, True], [2, 1]).layers
        ((True, False), (True,))
        """
        values = np.asarray(expect_list(row, "row"))
        widths = [expect_integer(width, "widths") for width in expect_list(widths, "widths")]
        if values.shape != (sum(widths),) or (values.size and values.dtype != np.bool_):
            raise NetworkError(
                f"an activation pattern of {sum(widths)} neurons needs as many truth values, "
                f"not an array of {values.dtype} of shape {values.shape}"
            )
        active: list[bool] = values.tolist()
        ends = pairwise(accumulate(widths, initial=0))
        return cls(tuple(tuple(active[start:end]) for start, end in ends))

    def active(self, layer: int) -> tuple[int, ...]:
        """Return the indices of the active neurons of a hidden layer, ascending.

        Parameters
        ----------
        layer
            Number of the hidden layer, from 1.

        Returns
        -------
        tuple of int
            Indices in the layer, from 0.

        Raises
        ------
        IndexError
            There is no hidden layer of that number.
        """
        return _active(self.layers, layer)

    def __repr__(self) -> str:
        return bracketed(f"ActivationPattern {self}")

    def __str__(self) -> str:
        return "|".join("".join(".+"[active] for active in layer) for layer in self.layers)


@dataclass(frozen=True, slots=True, repr=False)
class SignVector:
    """The signs of the preactivations of all hidden neurons, layer by layer.

    A sign vector names a cell of the canonical complex. The signs 0 and -1 give the same affine
    map, so that several sign vectors have one `activation_pattern`.

    Attributes
    ----------
    layers
        For each hidden layer the signs -1, 0 or 1 of its neurons.

    Examples
    --------
    >>> signs = SignVector(((1, -1), (0,)))
    >>> print(signs)
    +-|0
    >>> print(signs.activation_pattern)
    +.|.
    """

    layers: tuple[tuple[int, ...], ...]

    @property
    def activation_pattern(self) -> ActivationPattern:
        """The activation pattern: which neurons have sign 1."""
        return ActivationPattern(tuple(tuple(s > 0 for s in layer) for layer in self.layers))

    def active(self, layer: int) -> tuple[int, ...]:
        """Return the indices of the neurons of a hidden layer with sign 1, ascending.

        Parameters
        ----------
        layer
            Number of the hidden layer, from 1.

        Returns
        -------
        tuple of int
            Indices in the layer, from 0.

        Raises
        ------
        IndexError
            There is no hidden layer of that number.
        """
        return _active(self.layers, layer)

    def __repr__(self) -> str:
        return bracketed(f"SignVector {self}")

    def __str__(self) -> str:
        return "|".join("".join("-0+"[sign + 1] for sign in layer) for layer in self.layers)


def expect_neuron(value: object) -> NeuronId:
    """Return an argument that names a neuron by two integers.

    >>> expect_neuron((1, 0))
    Traceback (most recent call last):
        ...
    polyrelu.errors.ArgumentError: neuron: expected NeuronId, got tuple; NeuronId(layer, index)
    makes one
    """
    neuron = expect(value, NeuronId, "neuron", "NeuronId(layer, index) makes one")
    layer, index = neuron.layer, neuron.index
    if type(layer) is int and type(index) is int:
        return neuron
    return NeuronId(expect_integer(layer, "layer"), expect_integer(index, "index"))


def need_pattern(signs: ActivationPattern | SignVector, widths: Sequence[int]) -> None:
    """Refuse a pattern unless its hidden layers have the given widths.

    >>> need_pattern(SignVector(((1, -1),)), (2,))
    """
    expect_one_of(signs, (ActivationPattern, SignVector), "signs", "Network.sign_vector makes one")
    sizes = list(map(len, signs.layers))
    if sizes != list(widths):
        raise NetworkError(
            f"a pattern of layers of {sizes} neurons does not fit a network "
            f"with hidden layers of {list(widths)}"
        )


def _active(layers: Sequence[Sequence[int]], number: int) -> tuple[int, ...]:
    """The indices of the positive entries of a layer, numbered from 1."""
    number = expect_integer(number, "layer")
    if not 1 <= number <= len(layers):
        raise IndexError(f"there is no hidden layer {number}: they count from 1 to {len(layers)}")
    return tuple(i for i, entry in enumerate(layers[number - 1]) if entry > 0)
