"""Narrower intervals and bounds by the rule in integers, from later layers back to the first one.

A leaf `backward` (FORMAT.md, section 5.8) has the forms of the rule, and bounds open neurons and
rows a second time: multiples of activations are replaced by multiples of preactivations, layer by
layer, each network for itself. All weights of activations may be rounded up, since activations are
not negative; so there are no errors to count before the first layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import RationalMatrix
from polyrelu.proofs.deviation.grid_layers import (
    GridForms,
    GridLayer,
    GridRun,
    GridStart,
    Neuron,
    shortest,
)
from polyrelu.proofs.deviation.grid_products import LONGEST, GridMatrix, Table, shifted_product
from polyrelu.proofs.deviation.relu_bands import SLOPE_BITS, Interval, chord_slope, sign_of

__all__ = ["BackwardLayer", "BackwardRun", "Outputs", "ceiled_product"]

#: Integer weights of the outputs of a network, by index, for several rows.
Outputs: TypeAlias = Sequence[Mapping[int, int]]


class BackwardLayer:
    """The weights and biases of a layer on the grid, one column for each neuron.

    Attributes
    ----------
    matrix
        W and b, transposed, the biases last.
    slack
        1 if any number was rounded, 0 otherwise.
    """

    def __init__(self, weight: RationalMatrix, bias: RationalMatrix, grid: int) -> None:
        self.matrix = GridMatrix(weight.beside(bias).transpose(), grid)
        self.slack = int(self.matrix.is_rounded)

    def below(self, weights: Table, grid: int) -> tuple[Table, Table]:
        """Return weights of activations and constants above weights of preactivations.

        Tables have a column for each functional.
        """
        found = ceiled_product(self.matrix, weights, grid)
        if self.slack:
            sums = np.maximum(weights, 0).astype(object).sum(axis=0)
            found = found.astype(object) - (-sums >> grid)
        found = shortest(found)
        return found[:-1], found[-1]


def ceiled_product(matrix: GridMatrix, weights: Table, grid: int) -> Table:
    """Return the product of a matrix with a table, over 2^grid, rounded up."""
    table = -weights
    is_short = matrix.is_short and not table.dtype.hasobject
    is_short = is_short and matrix.largest_product(table) >> grid < 1 << LONGEST - 2
    found, _ = shifted_product([(matrix, table if is_short else table.astype(object))], grid)
    return -found


class _Relu(NamedTuple):
    """A layer of ReLUs: which are on, and intervals and slopes of the open ones."""

    is_on: NDArray[np.bool_]
    is_open: NDArray[np.intp]
    is_steep: NDArray[np.bool_]
    slopes: Table
    low: Table
    high: Table

    @classmethod
    def of(cls, ends: Sequence[Interval]) -> _Relu:
        """Return the layer with these intervals."""
        signs = np.array([sign_of(*x) for x in ends], dtype=np.intp)
        is_open = np.flatnonzero(signs == 0)
        chosen = [ends[i] for i in is_open.tolist()]
        columns = (
            np.array(numbers, dtype=object)[:, None]
            for numbers in (
                [chord_slope(*x) for x in chosen],
                [low for low, _ in chosen],
                [high for _, high in chosen],
            )
        )
        steep = np.array([high > -low for low, high in chosen], dtype=bool)[:, None]
        return cls(signs > 0, is_open, steep, *columns)

    def below(self, weights: Table, grid: int) -> tuple[Table, Table]:
        """Return weights of preactivations and constants above weights of activations."""
        found = np.where(self.is_on[:, None], weights, np.zeros_like(weights))
        if not len(self.is_open):
            return found, np.zeros(weights.shape[1], dtype=object)
        own = weights[self.is_open].astype(object)
        is_positive = own > 0
        slope = np.where(
            is_positive, own * self.slopes >> SLOPE_BITS, np.where(self.is_steep, own, 0)
        )
        found[self.is_open] = slope
        gaps = np.maximum(-slope * self.low, (own - slope) * self.high)
        total = np.where(is_positive, gaps, 0).sum(axis=0)
        return found, -(-total >> grid)


class BackwardRun(GridRun):
    """A run of the rule in which open neurons are bounded backwards too.

    Parameters
    ----------
    grid, cuts, start
        As for `GridRun`.
    layers
        The layers of the first network, and of the second one over its scales.
    """

    def __init__(
        self,
        grid: int,
        cuts: Mapping[Neuron, int],
        start: GridStart,
        layers: Sequence[Sequence[BackwardLayer]],
    ) -> None:
        super().__init__(grid, cuts, start)
        self.layers = layers
        self._relus: list[list[_Relu]] = [[], []]
        self._places = list[int]()

    def add(self, number: int, layer: GridLayer) -> bool:
        """Add a layer; return False if no point of the box has the signs."""
        if number == 1:
            self._places = list(layer.partners)
        is_possible = super().add(number, layer)
        if layer.is_hidden and is_possible:
            others = [ends.y for ends in self.pair_ends[-1]]
            self._relus[0].append(_Relu.of(self.ends[-1]))
            self._relus[1].append(_Relu.of(others))
        return is_possible

    def _narrowed(self, number: int, which: int, ends: list[Interval]) -> list[Interval]:
        """Return the intervals of neurons, the open ones of later layers bounded backwards."""
        is_open = [i for i, x in enumerate(ends) if not sign_of(*x)]
        if number == 1 or not is_open or self.is_empty:
            return ends
        count = len(is_open)
        weights = np.zeros(
            (len(ends), 2 * count), dtype=np.int64 if self.grid < LONGEST else object
        )
        weights[is_open, range(count)] = 1 << self.grid
        weights[is_open, range(count, 2 * count)] = -1 << self.grid
        constant, table = self._descended(number, which, weights)
        bounds = self._bounds(constant, [(which, table)])
        limits = [-(-int(x) >> self.grid) for x in bounds]
        found = list(ends)
        for i, above, below in zip(is_open, limits[:count], limits[count:], strict=True):
            low, high = ends[i]
            found[i] = max(low, -below), min(high, above)
        self.is_empty = any(low > high for low, high in found)
        return found

    def _narrowed_pairs(
        self,
        number: int,
        partners: Sequence[Interval],
        changes: Sequence[Interval],
        others: list[Interval],
    ) -> list[Interval]:
        """Return the intervals of neurons of the second network, also by their partners."""
        found = [
            (max(y[0], z[0] + d[0]), min(y[1], z[1] + d[1]))
            for z, d, y in zip(partners, changes, others, strict=True)
        ]
        self.is_empty = self.is_empty or any(low > high for low, high in found)
        return self._narrowed(number, 1, found)

    def _descended(self, number: int, which: int, weights: Table) -> tuple[Table, Table]:
        """Return constants, and weights of the first layer, above weights of preactivations."""
        constant = np.zeros(weights.shape[1], dtype=object)
        for above in range(number, 1, -1):
            weights, more = self.layers[which][above - 1].below(weights, self.grid)
            constant = constant + more
            weights, more = self._relus[which][above - 2].below(weights, self.grid)
            constant = constant + more
        return constant, weights

    def _bounds(
        self, constant: Table, parts: Sequence[tuple[int, Table]], inputs: Table | None = None
    ) -> Table:
        """Return bounds over 2^(2S) of weights of the first layers, and of inputs."""
        error = np.zeros(len(constant), dtype=object)
        size = self.start.z.table.shape[1]
        total = np.zeros((len(constant), size), dtype=object) if inputs is None else inputs
        for which, weights in parts:
            forms = self._firsts[which]
            used = weights.any(axis=1)
            own = weights[used].astype(object)
            total = total + own.T.dot(forms.table[used].astype(object))
            error = error + np.abs(own).sum(axis=0) * forms.error
        radius = np.abs(total[:, 1:]).sum(axis=1)
        found: Table = (constant << self.grid) + total[:, 0] + radius + error
        return found

    @cached_property
    def _firsts(self) -> list[GridForms]:
        """The forms of the preactivations of the first layers."""
        z, d = self.start.z, self.start.d
        if d is None:
            return [z]
        table = d.table.astype(object)
        for m, place in enumerate(self._places):
            if place >= 0:
                table[m] += z.table[place].astype(object)
        return [z, GridForms(table, z.error + d.error, 0)]

    def row_bounds(self, outputs: Sequence[Outputs], inputs: Table, error: Table) -> list[Fraction]:
        """Return upper bounds of rows after all layers.

        Parameters
        ----------
        outputs
            For each network the weights of its outputs in each row.
        inputs
            The forms of the inputs' part of each row.
        error
            Their errors.
        """
        parts, constant = list[tuple[int, Table]](), error
        number = len(self.layers[0])
        for which, listed in enumerate(outputs[: len(self.layers)]):
            width = self.layers[which][-1].matrix.width
            weights = np.zeros((width, len(listed)), dtype=object)
            for k, row in enumerate(listed):
                for i, w in row.items():
                    weights[i, k] = w << self.grid
            if len(self._relus[which]) == number:
                weights, more = self._relus[which][-1].below(weights, self.grid)
                constant = constant + more
            found, table = self._descended(number, which, shortest(weights))
            constant = constant + found
            parts.append((which, table))
        bounds = self._bounds(constant, parts, inputs << self.grid)
        return [Fraction(int(x), 1 << 2 * self.grid) for x in bounds]
