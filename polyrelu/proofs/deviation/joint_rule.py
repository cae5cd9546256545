"""Narrower differences and bounds by the rule in integers, of both networks at once.

A leaf `joint` (FORMAT.md, section 5.8) goes back from later layers to the first one with weights of
the preactivations of the first network and of the differences of the second one from them. So it
knows, as forms do, what the networks have in common, and has slopes from both sides, as a leaf
`backward` has. Activations are not negative, so that their weights may be rounded up; for the
weights of differences, whose signs are not known, roundings are counted by their sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from polyrelu.exact import RationalMatrix
from polyrelu.proofs.deviation.backward_rule import (
    BackwardLayer,
    BackwardRun,
    Outputs,
    ceiled_product,
)
from polyrelu.proofs.deviation.grid_layers import GridLayer, GridStart, Neuron, PairEnds, shortest
from polyrelu.proofs.deviation.grid_products import LONGEST, GridMatrix, Table
from polyrelu.proofs.deviation.relu_bands import ONE, SLOPE_BITS, Interval, pair_lines, sign_of

__all__ = ["JointLayer", "JointRun"]


class JointLayer:
    """The weights of both networks on the grid, one column for each neuron.

    Attributes
    ----------
    on_values
        What weights of preactivations and of differences become on activations: W and b, below them
        Δ and δ, transposed, the biases last.
    on_differences
        The same for differences of activations: V, transposed.
    """

    def __init__(
        self,
        own: tuple[RationalMatrix, RationalMatrix],
        changes: tuple[RationalMatrix, RationalMatrix],
        others: RationalMatrix,
        grid: int,
    ) -> None:
        stacked = own[0].beside(own[1]).over(changes[0].beside(changes[1]))
        self.on_values = GridMatrix(stacked.transpose(), grid)
        self.on_differences = GridMatrix(others.transpose(), grid)

    def below(self, on_z: Table, on_d: Table, sizes: int, grid: int) -> tuple[Table, Table, Table]:
        """Return weights of activations and of their differences, and constants.

        Tables have a column for each functional; `sizes` is the sum of the sizes of differences.
        """
        both = shortest(np.concatenate([on_z.astype(object), on_d.astype(object)]))
        sums = np.maximum(both, 0).astype(object).sum(axis=0)
        found = ceiled_product(self.on_values, both, grid).astype(object) - (-sums >> grid)
        rest = 1 - (-np.abs(on_d).astype(object).sum(axis=0) >> grid)
        constants = found[-1] - (-(rest * sizes) >> grid)
        others = ceiled_product(self.on_differences, shortest(on_d), grid)
        return shortest(found[:-1]), shortest(others), constants


class _PairRelu(NamedTuple):
    """Affine functions above and below the differences of activations of a layer.

    They are p z + q D + r over 2^16, in columns: `above` has p, q and r, and so has `below`.
    `spare` is what roundings of slopes add at most, and `sizes` the sum of the sizes of the
    differences.
    """

    above: tuple[Table, Table, Table]
    below: tuple[Table, Table, Table]
    spare: Table
    partners: Sequence[int]
    sizes: int

    @classmethod
    def of(cls, ends: Sequence[PairEnds], partners: Sequence[int]) -> _PairRelu:
        """Return the layer with these intervals."""
        lines = [_lines(*x) for x in ends]
        above, below = (
            tuple(
                np.array([line[side][k] for line in lines], dtype=object)[:, None] for k in range(3)
            )
            for side in (0, 1)
        )
        spare = [
            0 if sign_of(*x.z) and sign_of(*x.y) else max(x.z[1], 0) + max(x.d[1], 0) for x in ends
        ]
        sizes = sum(max(-x.d[0], x.d[1]) for x in ends)
        column = np.array(spare, dtype=object)[:, None]
        return cls(above, below, column, partners, sizes)  # type: ignore[arg-type]

    def relax(self, weights: Table, on_z: Table, grid: int) -> tuple[Table, Table, Table]:
        """Return weights of preactivations and of differences, and constants.

        `weights` belong to differences of activations, `on_z` is what preactivations have already.
        """
        own = weights.astype(object)
        p, q, r = (np.where(own > 0, a, b) for a, b in zip(self.above, self.below, strict=True))
        found = on_z.astype(object)
        for m, place in enumerate(self.partners):
            if place >= 0:
                found[place] += own[m] * p[m] >> SLOPE_BITS
        added = -(-(own * r) >> SLOPE_BITS) + np.where(own != 0, self.spare, 0)
        return shortest(found), shortest(own * q >> SLOPE_BITS), -(-added.sum(axis=0) >> grid)


def _lines(z: Interval, d: Interval, y: Interval) -> tuple[tuple[int, int, int], ...]:
    """Return slopes and offset of the affine functions above and below a difference."""
    own, other = sign_of(*z), sign_of(*y)
    if not own or not other:
        return pair_lines(z, d, y)
    q = ONE if other > 0 else 0
    line = (q - ONE if own > 0 else q, q, 0)
    return line, line


class JointRun(BackwardRun):
    """A run of the rule in which differences are bounded backwards too.

    Parameters
    ----------
    grid, cuts, start, layers
        As for `BackwardRun`.
    joint
        The layers of both networks.
    """

    def __init__(
        self,
        grid: int,
        cuts: Mapping[Neuron, int],
        start: GridStart,
        layers: Sequence[Sequence[BackwardLayer]],
        joint: Sequence[JointLayer],
    ) -> None:
        super().__init__(grid, cuts, start, layers)
        self.joint = joint
        self._pairs_below = list[_PairRelu]()

    def add(self, number: int, layer: GridLayer) -> bool:
        """Add a layer; return False if no point of the box has the signs."""
        is_possible = super().add(number, layer)
        if layer.is_hidden and is_possible:
            self._pairs_below.append(_PairRelu.of(self.pair_ends[-1], layer.partners))
        return is_possible

    def _narrowed_changes(
        self,
        number: int,
        partners: Sequence[Interval],
        changes: list[Interval],
        others: list[Interval],
    ) -> tuple[list[Interval], list[Interval]]:
        """Return the intervals of differences and of neurons of the second network."""
        is_open = [
            m
            for m, (z, y) in enumerate(zip(partners, others, strict=True))
            if not sign_of(*z) or not sign_of(*y)
        ]
        if number > 1 and is_open and not self.is_empty:
            changes = self._bounded_changes(number, is_open, changes)
        found = [
            (max(d[0], y[0] - z[1]), min(d[1], y[1] - z[0]))
            for z, d, y in zip(partners, changes, others, strict=True)
        ]
        narrowed = [
            (max(y[0], z[0] + d[0]), min(y[1], z[1] + d[1]))
            for z, d, y in zip(partners, found, others, strict=True)
        ]
        self.is_empty = self.is_empty or any(low > high for low, high in [*found, *narrowed])
        return found, narrowed

    def _bounded_changes(
        self, number: int, is_open: Sequence[int], changes: Sequence[Interval]
    ) -> list[Interval]:
        """Return the intervals of differences, which are bounded backwards for open pairs."""
        count = len(is_open)
        dtype = np.int64 if self.grid < LONGEST else object
        on_d = np.zeros((len(changes), 2 * count), dtype=dtype)
        on_d[is_open, range(count)] = 1 << self.grid
        on_d[is_open, range(count, 2 * count)] = -1 << self.grid
        on_z = np.zeros((len(self.ends[-1]), 2 * count), dtype=dtype)
        constant = np.zeros(2 * count, dtype=object)
        bounds = self._joint_bounds(number, on_z, on_d, constant)
        limits = [-(-int(x) >> self.grid) for x in bounds]
        found = list(changes)
        for m, above, below in zip(is_open, limits[:count], limits[count:], strict=True):
            low, high = changes[m]
            found[m] = max(low, -below), min(high, above)
        return found

    def _joint_bounds(
        self,
        number: int,
        on_z: Table,
        on_d: Table,
        constant: Table,
        inputs: Table | None = None,
    ) -> Table:
        """Return bounds over 2^(2S) of weights of preactivations and of differences of a layer."""
        for above in range(number, 1, -1):
            relus = self._pairs_below[above - 2]
            on_a, on_change, more = self.joint[above - 1].below(on_z, on_d, relus.sizes, self.grid)
            constant = constant + more
            on_z, on_d, more = self._relaxed(above - 1, on_a, on_change)
            constant = constant + more
        z, d = self.start.z, self.start.d
        assert d is not None
        total = np.zeros((len(constant), z.table.shape[1]), dtype=object)
        total = total if inputs is None else inputs
        error = np.zeros(len(constant), dtype=object)
        for weights, forms in ((on_z, z), (on_d, d)):
            own = weights.astype(object)
            total = total + own.T.dot(forms.table.astype(object))
            error = error + np.abs(own).sum(axis=0) * forms.error
        radius = np.abs(total[:, 1:]).sum(axis=1)
        found: Table = (constant << self.grid) + total[:, 0] + radius + error
        return found

    def _relaxed(self, number: int, on_a: Table, on_change: Table) -> tuple[Table, Table, Table]:
        """Return weights of preactivations and of differences of a layer with a ReLU."""
        on_z, constant = self._relus[0][number - 1].below(on_a, self.grid)
        found, on_d, more = self._pairs_below[number - 1].relax(on_change, on_z, self.grid)
        return found, on_d, constant + more

    def joint_row_bounds(
        self, outputs: Sequence[Outputs], inputs: Table, error: Table
    ) -> list[Fraction]:
        """Return upper bounds of rows after all layers, with the arguments of `row_bounds`."""
        number, constant = len(self.joint), error
        tables = list[Table]()
        for listed, layers in zip(outputs, self.layers, strict=True):
            width = layers[-1].matrix.width
            weights = np.zeros((width, len(listed)), dtype=object)
            for k, row in enumerate(listed):
                for i, w in row.items():
                    weights[i, k] = w << self.grid
            tables.append(weights)
        on_z, on_d = tables[0] + tables[1], tables[1]  # outputs are partners of themselves
        if len(self._pairs_below) == number:
            on_z, on_d, more = self._relaxed(number, on_z, on_d)
            constant = constant + more
        bounds = self._joint_bounds(number, on_z, on_d, constant, inputs << self.grid)
        return [Fraction(int(x), 1 << 2 * self.grid) for x in bounds]
