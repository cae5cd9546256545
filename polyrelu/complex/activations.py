"""`RegionActivations`: the activation patterns of all regions, packed into bits.

Affine maps and gradient jumps depend on which neurons are active, not on signs 0 or -1. A complex
has thousands of regions and hundreds of neurons, so that a bit for each pair is read much faster
than the table `PolyhedralComplex.signs`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.engine.cells import CellArrays
from polyrelu.network import ActivationPattern
from polyrelu.support.arrays import read_only
from polyrelu.support.display import count_text
from polyrelu.support.typing import Indices

__all__ = ["PackedBits", "RegionActivations", "unpacked"]

#: Rows of bits, 32 of them in a word, the bit of least value first.
PackedBits = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class RegionActivations:
    """Which neurons are active on each region of a complex, and which regions agree on layers.

    Attributes
    ----------
    widths
        The number of neurons of each hidden layer.
    words
        For each hidden layer its activations on all regions: bit j of column w belongs to neuron
        32 w + j; shape (regions, number of words).
    prefixes
        For each hidden layer a number of every region, shape (regions,). Regions with equal numbers
        agree on the activations of all layers before that layer.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]))
    >>> cells.activations, sorted(cells.activations.words[0][:, 0].tolist())
    (<RegionActivations, 3 regions, 2 neurons>, [0, 1, 3])
    """

    widths: tuple[int, ...]
    words: tuple[PackedBits, ...]
    prefixes: tuple[Indices, ...]

    @classmethod
    def of_regions(cls, arrays: CellArrays) -> RegionActivations:
        """Return the activations on the regions of finished arrays."""
        count = arrays.table.num_layers if arrays.neurons else 0
        layers = range(1, count + 1)
        widths = [0] * count
        for neuron in arrays.neurons:
            widths[neuron.layer - 1] += 1
        words = tuple(read_only(arrays.active_words(layer)) for layer in layers)
        prefixes = tuple(read_only(arrays.prefixes(layer)) for layer in layers)
        return cls(tuple(widths), words, prefixes)

    def __len__(self) -> int:
        return len(self.words[0]) if self.words else 0

    def __repr__(self) -> str:
        counts = [(len(self), "region"), (sum(self.widths), "neuron")]
        return f"<RegionActivations, {count_text(counts)}>"

    def active(self, layer: int, regions: Indices) -> NDArray[np.uint8]:
        """Return the activations of a hidden layer on regions as 0 and 1, shape (k, n)."""
        return unpacked(self.words[layer - 1][regions], self.widths[layer - 1])

    def pattern(self, region: int) -> ActivationPattern:
        """Return the activation pattern of a region."""
        rows = [
            self.active(layer, np.array([region]))[0] for layer in range(1, len(self.words) + 1)
        ]
        return ActivationPattern(tuple(tuple(row.astype(bool).tolist()) for row in rows))


def unpacked(words: PackedBits, count: int) -> NDArray[np.uint8]:
    """Return the first bits of rows of words as 0 and 1, shape (k, count).

    >>> unpacked(np.array([[5]], dtype=np.uint32), 4).tolist()
    [[1, 0, 1, 0]]
    """
    octets = np.ascontiguousarray(words, dtype="<u4").view(np.uint8)
    bits: NDArray[np.uint8] = np.unpackbits(octets, axis=1, count=count, bitorder="little")
    return bits
