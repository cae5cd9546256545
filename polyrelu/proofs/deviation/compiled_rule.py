"""The rule of certificates by the compiled core, for many boxes at a time.

The core has integers of 128 bits. It finds the integers of `rounded.RoundedRule`, or says that they
are too long for it; the rule in Python serves then.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from fractions import Fraction
from math import ceil, floor
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu._core import chosen_engine, num_threads
from polyrelu.certificate import LinearRow
from polyrelu.exact import as_float
from polyrelu.proofs.deviation.grid_layers import GridLayer
from polyrelu.proofs.deviation.grid_products import GridMatrix
from polyrelu.proofs.deviation.problem import objective_of
from polyrelu.proofs.deviation.rounded import LeafKind, RoundedRule, integer_weights

__all__ = ["CompiledRule", "FoundBounds", "InheritedBounds"]

_Corners: TypeAlias = tuple[Sequence[Fraction], Sequence[Fraction]]
_KINDS: tuple[LeafKind, ...] = ("leaf", "backward", "joint")
_Matrix: TypeAlias = tuple[NDArray[np.int64], bool]


class _State(IntEnum):
    """What the core says of a box."""

    BOUNDED, EMPTY, TOO_LONG = range(3)


class _Core(Protocol):
    """See `polyrelu._core.compiled.GridRule`."""

    def bound(
        self,
        centers: NDArray[np.int64],
        radii: NDArray[np.int64],
        signs: NDArray[np.int8] | None,
        kind: int,
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
        """Apply the rule to boxes."""

    def bound_inherited(
        self,
        centers: NDArray[np.int64],
        radii: NDArray[np.int64],
        signs: NDArray[np.int8] | None,
        known: NDArray[np.int64],
        is_known: NDArray[np.uint8],
        wanted: NDArray[np.uint8],
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
        """Apply the rule of leaves `inherited` to boxes."""

    @property
    def num_ends(self) -> int:
        """Number of integers of all intervals of a box."""


class FoundBounds(NamedTuple):
    """What the rule finds on a box: bounds of the rows, none if no point has the signs."""

    is_empty: bool
    rows: list[Fraction]
    num_new_generators: int


class InheritedBounds(NamedTuple):
    """What the rule of leaves `inherited` finds on a box.

    Attributes
    ----------
    ends
        The integers of all intervals.
    rows
        Bounds of the rows as integers, see `CompiledRule.bounds_of`; None for rows not asked for.
    """

    ends: NDArray[np.int64]
    rows: list[int | None]


class CompiledRule:
    """The rule for some rows in the core.

    Parameters
    ----------
    rule
        The rule; its domain has no equations.
    rows
        The rows.
    """

    def __init__(self, rule: RoundedRule, rows: Sequence[LinearRow], core: _Core) -> None:
        self._rule, self._core = rule, core
        self._rows = [(integer_weights(row)[0], row.constant) for row in rows]
        self._strict = [row.is_strict for row in rows]
        self._is_uniform = len(set(self._rows)) == 1  # all rows have one scale and one constant

    @classmethod
    def of(cls, rule: RoundedRule, rows: Sequence[LinearRow]) -> CompiledRule | None:
        """Return the rule in the core; None where that is not installed, or has no such numbers."""
        if chosen_engine().name != "compiled" or rule.coordinates.domain.equations:
            return None
        if rule.in_core is None or rule.in_core[0] is not rows:
            try:
                made: CompiledRule | None = cls(rule, rows, _in_core(rule, rows))
            except (OverflowError, ValueError):
                made = None
            rule.in_core = rows, made
        found: CompiledRule | None = rule.in_core[1]
        return found

    def bounds(
        self,
        boxes: Sequence[_Corners],
        kind: LeafKind,
        signs: NDArray[np.int8] | None = None,
    ) -> list[FoundBounds | None]:
        """Return bounds on boxes, None where the numbers are too long.

        `signs` has a row for each box: layer by layer the signs of neurons of the first network,
        then of the second one, 0 for those that were not cut.
        """
        on_grid = self._on_grid(boxes)
        if on_grid is None:
            return [None] * len(boxes)
        centers, radii = on_grid
        last = _KINDS.index(kind)
        if self._rule.second is None:
            last = min(last, _KINDS.index("backward"))
        states, generators, high, low = self._core.bound(centers, radii, signs, last)
        numbers = (high[:, : last + 1].astype(object) << 64) + low[:, : last + 1]
        listed = zip(states.tolist(), generators.tolist(), numbers.tolist(), strict=True)
        return [self._found(*entry) for entry in listed]

    def inherited(
        self,
        boxes: Sequence[_Corners],
        known: Sequence[NDArray[np.int64] | None],
        wanted: Sequence[Sequence[bool]],
        signs: NDArray[np.int8] | None = None,
    ) -> list[InheritedBounds | None] | None:
        """Return bounds on boxes by the rule of leaves `inherited`, None for empty ones.

        Parameters
        ----------
        boxes
            The corners of the boxes.
        known
            For each box the intervals that hold on it already, None for none.
        wanted
            For each box which rows are bounded.
        signs
            As for `bounds`.

        Returns
        -------
        list or None
            None altogether if the numbers of any box are too long.
        """
        on_grid = self._on_grid(boxes)
        if on_grid is None:
            return None
        table = np.zeros((len(boxes), self.num_ends), dtype=np.int64)
        for row, ends in zip(table, known, strict=True):
            if ends is not None:
                row[:] = ends
        is_known = np.array([ends is not None for ends in known], dtype=np.uint8)
        asked = np.array(wanted, dtype=np.uint8)
        states, found, high, low = self._core.bound_inherited(
            *on_grid, signs, table, is_known, asked
        )
        if (states == _State.TOO_LONG).any():
            return None
        numbers = ((high.astype(object) << 64) + low).astype(np.object_)
        numbers[asked == 0] = None
        return [
            None if state == _State.EMPTY else InheritedBounds(ends, rows)
            for state, ends, rows in zip(states.tolist(), found, numbers.tolist(), strict=True)
        ]

    @property
    def grid(self) -> int:
        """The bits of the grid."""
        return self._rule.grid

    @property
    def num_ends(self) -> int:
        """Number of integers of all intervals of a box."""
        return self._core.num_ends

    def bounds_of(self, rows: Sequence[int]) -> list[Fraction]:
        """Return the bounds of rows that integers of `inherited` stand for."""
        grid, pairs = self._rule.grid, zip(rows, self._rows, strict=True)
        return [Fraction(bound, scale << 2 * grid) + c for bound, (scale, c) in pairs]

    def objective_of(self, rows: Sequence[int], clauses: Sequence[Sequence[int]]) -> Fraction:
        """Return the largest bound of a clause, which is the least one of its rows."""
        if self._is_uniform:  # one fraction in place of one for each row
            (scale, constant), grid = self._rows[0], self._rule.grid
            return Fraction(objective_of(rows, clauses), scale << 2 * grid) + constant
        return objective_of(self.bounds_of(rows), clauses)

    def in_floats(self, rows: Sequence[int]) -> list[float]:
        """Return what integers of `inherited` stand for, in floats."""
        grid, pairs = self._rule.grid, zip(rows, self._rows, strict=True)
        return [bound / (scale << 2 * grid) + as_float(c) for bound, (scale, c) in pairs]

    def largest_integers(self, limit: Fraction) -> list[int]:
        """Return the largest integer for each row with which its bound is at most a limit.

        It is less than the limit if the row is strict.
        """
        found = list[int]()
        for is_strict, (scale, constant) in zip(self._strict, self._rows, strict=True):
            value = (limit - constant) * (scale << 2 * self._rule.grid)
            found.append(ceil(value) - 1 if is_strict else floor(value))
        return found

    def _on_grid(
        self, boxes: Sequence[_Corners]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Return centers and radii of boxes on the grid; None if they are too long."""
        on_grid = [[self._rule.on_grid(*ends) for ends in zip(*box, strict=True)] for box in boxes]
        if any(max(map(abs, pair)) >> 62 for box in on_grid for pair in box):
            return None
        both = np.array(on_grid, dtype=np.int64).reshape(len(boxes), -1, 2)
        return np.ascontiguousarray(both[:, :, 0]), np.ascontiguousarray(both[:, :, 1])

    def _found(self, state: int, generators: int, numbers: list[list[int]]) -> FoundBounds | None:
        """Return the bounds of a box, given integers for each kind of leaf."""
        if state == _State.TOO_LONG:
            return None
        if state == _State.EMPTY:
            return FoundBounds(True, [], 0)
        grid, bounds = self._rule.grid, list[Fraction]()
        for k, (scale, constant) in enumerate(self._rows):
            least = min([numbers[0][k] << grid, *(part[k] for part in numbers[1:])])
            bound = Fraction(least, scale << 2 * grid)
            bounds.append(bound + constant if constant else bound)
        return FoundBounds(False, bounds, generators)


def _in_core(rule: RoundedRule, rows: Sequence[LinearRow]) -> _Core:
    from polyrelu._core import compiled

    is_single = rule.second is None
    layers = [_layer(rule, number, layer) for number, layer in enumerate(rule.layers)]
    tables = [
        np.zeros((len(rows), width), dtype=np.int64)
        for width in (
            rule.first.num_inputs,
            rule.first.num_outputs,
            0 if is_single else rule.first.num_outputs,
        )
    ]
    for k, row in enumerate(rows):
        for table, weights in zip(tables, integer_weights(row)[1:], strict=True):
            for i, weight in weights.items():
                table[k, i] = weight
    on_x, on_values, on_differences = tables
    inputs = rule.first.num_inputs
    made: _Core = compiled.GridRule(
        rule.grid, inputs, is_single, layers, (on_x, on_values, on_differences), num_threads()
    )
    return made


def _layer(rule: RoundedRule, number: int, layer: GridLayer) -> tuple[Any, ...]:
    """Return the tables of a layer."""
    none = np.zeros((0, 0), dtype=np.int64), False
    by_values = by_differences = shift = other_bias = none
    if layer.by_values is not None and layer.by_differences is not None:
        other = rule.backward_layers[1][number]
        by_values, by_differences = _matrix(layer.by_values), _matrix(layer.by_differences)
        assert layer.shift is not None
        shift = layer.shift.astype(np.int64), not layer.is_shift_exact
        other_bias = other.matrix.rows[-1].astype(np.int64), bool(other.slack)
    return (
        _matrix(layer.own),
        (layer.bias.astype(np.int64), not layer.is_bias_exact),
        by_values,
        by_differences,
        shift,
        other_bias,
        np.array(layer.partners, dtype=np.int32),
        layer.is_hidden,
        layer.is_last_hidden,
    )


def _matrix(matrix: GridMatrix) -> _Matrix:
    return matrix.rows.astype(np.int64), matrix.is_rounded
