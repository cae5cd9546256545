"""The weights of all cells of codimension 1 as integers over one denominator.

With the changes and the contents κ of `polyrelu.complex.Crossings`, the weight of a cell F is

    ω_F = Σ_i D_i |κ_i| / Z,

over the neurons i that change at F, where D_i is the derivative of the outputs in the activation of
neuron i while the later layers are as on the side `plus`, multiplied by the denominators of these
layers. docs/theory/weights.md, section 1, proves the formula. No map of a region is computed.

The derivatives are computed backwards, from layer to layer, once for each activation pattern of the
later layers; all of it modulo primes. With skip connections a derivative is a sum over the layers
that read the neuron.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex import PolyhedralComplex
from polyrelu.complex.activations import RegionActivations
from polyrelu.complex.crossings import ENTRIES_AT_A_TIME, Crossings, masked_sums
from polyrelu.complex.integer_layers import IntegerLayer
from polyrelu.exact import RationalMatrix
from polyrelu.exact.floats import SMALL_BITS
from polyrelu.exact.integer_arrays import as_objects, largest, products, sums_of_runs
from polyrelu.exact.matrix import integers_over
from polyrelu.exact.residues import Residues
from polyrelu.network import Block, Layer, Network
from polyrelu.support.typing import Floats, Indices

__all__ = ["largest_change", "numerators", "output_layer"]

#: Number of bits in a word of activations.
_WORD_BITS = 32


def numerators(
    cells: PolyhedralComplex, layer: Layer, positions: Indices | None = None
) -> tuple[NDArray[Any], int]:
    """Return the weights of a network with the hidden neurons of a complex and an output layer.

    Parameters
    ----------
    cells
        The complex.
    layer
        The output layer.
    positions
        Ascending positions of cells in `Crossings`; None for all of them.

    Returns
    -------
    tuple
        int64 or Python integers, shape (cells, m), and their positive denominator.
    """
    crossings = cells.crossings
    outputs = crossings.layered.outputs(layer)
    if positions is not None:
        crossings = crossings.at(positions)
    derivatives = _Derivatives(crossings, cells.activations, outputs, layer.width).integers()
    contents = crossings.contents[crossings.forms]
    found = products(derivatives, contents[:, None])
    if len(found) > len(crossings.firsts):
        found = sums_of_runs(found, crossings.firsts)
    return found, outputs.denominator * cells.frame.coordinates.denominator


def output_layer(network: Network) -> Layer:
    """Return the layer after the hidden ones; the identity where the last layer has a ReLU."""
    if network.depth > network.num_hidden_layers:
        return network.layers[-1]
    unit = RationalMatrix.identity(network.num_outputs)
    block = Block(network.num_hidden_layers, unit)
    return Layer((block,), RationalMatrix.zeros(network.num_outputs, 1))


def largest_change(cells: PolyhedralComplex, layer: Layer) -> Fraction:
    """Return a number that no entry of the difference of the affine maps on two regions exceeds.

    The maps belong to the weights of `numerators`, modulo the equations of the affine hull. What
    hidden neurons add to a map is bounded by the bounds of the layers.
    """
    layered = cells.crossings.layered
    outputs = layered.outputs(layer)
    bound = sum(
        row_sum * layered.bounds[source - 1] for source, row_sum in outputs.row_sums.items()
    )
    coordinates = cells.frame.coordinates
    sums = np.abs(as_objects(integers_over(coordinates, coordinates.denominator))).sum(axis=0)
    return Fraction(2 * bound * max(sums.tolist()), outputs.denominator * coordinates.denominator)


@dataclass(frozen=True, slots=True, eq=False)
class _Patterns:
    """The different activation patterns of the layers after a layer, on some regions.

    Attributes
    ----------
    of_regions
        The number of the pattern on each of the regions.
    examples
        The position of a region with each pattern.
    """

    of_regions: Indices
    examples: Indices


class _Derivatives:
    """The derivatives of m outputs in the activations of the neurons that change."""

    def __init__(
        self, crossings: Crossings, active: RegionActivations, outputs: IntegerLayer, count: int
    ) -> None:
        self._crossings, self._active, self._count = crossings, active, count
        self._outputs, self._depth = outputs, len(active.widths)
        self._layers = [*crossings.layered.layers, outputs]
        self._bounds = self._bounds_of_layers()

    def _bounds_of_layers(self) -> list[int]:
        """Return for each hidden layer a number that no derivative and no weight exceeds."""
        bounds = [0] * self._depth
        for number in range(self._depth, 0, -1):
            direct = self._outputs.blocks.get(number)
            bound = 0 if direct is None else largest(direct)
            for reader in self._readers(number):
                column_sum = self._layers[reader - 1].column_sums[number]
                bound += max(bounds[reader - 1], 1) * column_sum
            bounds[number - 1] = bound
        return bounds

    def _readers(self, number: int) -> list[int]:
        """Return the hidden layers that read a layer."""
        later = range(number + 1, self._depth + 1)
        return [reader for reader in later if number in self._layers[reader - 1].blocks]

    def integers(self) -> NDArray[Any]:
        """Return the derivatives, int64 or Python integers, shape (number of changes, m)."""
        terms = max(self._active.widths, default=1)
        system = Residues.for_matrices(max(self._bounds, default=1), terms)
        is_short = max(self._bounds, default=0).bit_length() <= SMALL_BITS
        regions = self._crossings.plus[self._crossings.cells]
        found = np.empty((len(regions), self._count), dtype=np.int64 if is_short else object)
        step = self._regions_at_a_time()
        for start in range(0, len(self._active), step):
            chunk = np.arange(start, min(start + step, len(self._active)))
            if len(chunk) == len(self._active):
                changes = np.arange(len(regions))
            else:
                changes = np.flatnonzero((regions >= start) & (regions < start + step))
            self._fill(system, found, chunk, changes)
        return found

    def _regions_at_a_time(self) -> int:
        """Return for how many regions the arrays modulo one prime have not too many entries."""
        width = max(self._active.widths, default=1) if self._depth > 2 else 1
        return max(1, ENTRIES_AT_A_TIME // max(1, self._count * width))

    def _fill(
        self, system: Residues, found: NDArray[Any], chunk: Indices, changes: Indices
    ) -> None:
        """Write the derivatives of the changes whose regions `plus` are in a chunk."""
        crossings, by_layer = self._crossings, dict[int, Indices]()
        for number in range(1, self._depth + 1):
            here = changes[crossings.layers[changes] == number]
            if self._readers(number):
                by_layer[number] = here[np.argsort(crossings.neurons[here], kind="stable")]
            elif number in self._outputs.blocks:
                found[here] = self._outputs.blocks[number].T[crossings.neurons[here]]
            else:
                found[here] = 0
        values = {
            number: np.empty((len(system), len(here), self._count))
            for number, here in by_layer.items()
        }
        patterns = self._patterns(chunk)
        for part, residues in system.parts(self._entries(chunk, changes), ENTRIES_AT_A_TIME):
            dense = self._dense(residues, chunk, patterns)
            for number, here in by_layer.items():
                values[number][part] = self._of_changes(
                    residues, number, here, (dense, patterns, int(chunk[0]))
                )
        for number, here in by_layer.items():
            found[here] = system.integers(values[number], self._bounds[number - 1])

    def _entries(self, chunk: Indices, changes: Indices) -> int:
        """Return the number of entries of the largest array modulo one prime."""
        if self._depth > 2:
            return len(chunk) * self._count * max(self._active.widths)
        return len(changes) * self._count

    def _patterns(self, chunk: Indices) -> list[_Patterns]:
        """Return for each hidden layer the patterns of the layers after it."""
        numbers = np.zeros(len(chunk), dtype=np.uint64)
        patterns = [_Patterns(numbers.astype(np.int64), np.zeros(1, dtype=np.int64))]
        for words in self._active.words[:1:-1]:
            for column in words[chunk].T:
                keys = (numbers << np.uint64(_WORD_BITS)) | column
                known, which = np.unique(keys, return_inverse=True)
                numbers = which.ravel().astype(np.uint64)
            examples = np.zeros(len(known), dtype=np.int64)
            of_regions = numbers.astype(np.int64)
            examples[of_regions] = np.arange(len(chunk))
            patterns.append(_Patterns(of_regions, examples))
        return [patterns[0], *patterns[::-1]]  # the first entry stands for layer 1, and is not used

    def _dense(
        self, system: Residues, chunk: Indices, patterns: list[_Patterns]
    ) -> dict[int, Floats]:
        """Return all derivatives of the layers after the first, shape (K, patterns, m, n)."""
        dense: dict[int, Floats] = {}
        for number in range(self._depth, 1, -1):
            examples = patterns[number - 1].examples
            shape = (len(system), len(examples), self._count, self._active.widths[number - 1])
            total = np.zeros(shape)
            if number in self._outputs.blocks:
                total += system.of(self._outputs.blocks[number])[:, None]
            for reader in self._readers(number):
                of_reader = np.take(
                    dense[reader], patterns[reader - 1].of_regions[examples], axis=1
                )
                active = self._active.active(reader, chunk[examples])[None, :, None]
                flat = (of_reader * active).reshape(len(system), -1, of_reader.shape[3])
                block = system.of(self._layers[reader - 1].blocks[number])
                total += (flat @ block).reshape(shape)
                system.reduced(total)
            dense[number] = total
        return dense

    def _of_changes(
        self,
        system: Residues,
        number: int,
        changes: Indices,
        later: tuple[dict[int, Floats], list[_Patterns], int],
    ) -> Floats:
        """Return the derivatives of changes in one layer, ordered by neuron, shape (K, N, m)."""
        dense, patterns, first = later
        regions = self._crossings.plus[self._crossings.cells[changes]]
        neurons = self._crossings.neurons[changes]
        total = np.zeros((len(system), len(changes), self._count))
        if number in self._outputs.blocks:
            direct = system.of(self._outputs.blocks[number])
            total += direct[:, :, neurons].transpose(0, 2, 1)
        for reader in self._readers(number):
            block = system.of(self._layers[reader - 1].blocks[number])
            if dense[reader].shape[1] == 1:
                words = self._active.words[reader - 1][regions]
                table = partial(_table, dense[reader][:, 0], block)
                total += masked_sums(system, words, neurons, block.shape[1], table)
            else:
                which = patterns[reader - 1].of_regions[regions - first]
                active = self._active.active(reader, regions)
                _add_products(total, dense[reader], block, (neurons, which, active))
            system.reduced(total)
        return total


def _table(derivatives: Floats, block: Floats, neuron: int) -> Floats:
    """Return the products of derivatives (K, m, n) and the weights of a neuron, (K, n, m)."""
    return derivatives.transpose(0, 2, 1) * block[:, :, neuron, None]


def _add_products(
    total: Floats,
    derivatives: Floats,
    block: Floats,
    wanted: tuple[Indices, Indices, NDArray[np.uint8]],
) -> None:
    """Add the sums over active readers of derivatives times weights, in blocks of changes."""
    neurons, which, active = wanted
    step = max(1, ENTRIES_AT_A_TIME // max(1, derivatives[:, 0].size))
    for start in range(0, len(neurons), step):
        part = slice(start, start + step)
        weights = block[:, :, neurons[part]].transpose(0, 2, 1) * active[part]
        chosen = np.take(derivatives, which[part], axis=1)
        total[:, part] += np.einsum("kpj,kpmj->kpm", weights, chosen)
