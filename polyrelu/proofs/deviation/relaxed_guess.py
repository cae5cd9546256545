"""Guesses of slopes and multiples for affine bounds of rows on a node, by programs in floats.

The program of `RelaxedLeaf.maximize` has a share of each corner of each group; its dual multipliers
are slopes and multiples. What they prove is computed in exact numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from polyrelu.certificate import LinearRow
from polyrelu.exact import ElasticProgram, as_float, nearest_float, nearest_vector
from polyrelu.proofs.deviation.grid_layers import Neuron
from polyrelu.proofs.deviation.open_groups import OpenGroup, RowEvidence, Slopes
from polyrelu.proofs.deviation.relaxed_leaf import RelaxedLeaf
from polyrelu.proofs.deviation.rounded import RoundedRule
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.support.budget import Check, no_check
from polyrelu.support.typing import Floats

__all__ = ["FloatLayers", "RelaxedGuess", "RelaxedPrograms"]


class FloatLayers:
    """The layers of one network or a pair in floats, for all nodes of a box."""

    def __init__(
        self, rule: RoundedRule, lower: Sequence[Fraction], upper: Sequence[Fraction]
    ) -> None:
        networks = [rule.first] if rule.second is None else [rule.first, rule.second]
        self.weights = [[layer.weight.to_floats() for layer in net.layers] for net in networks]
        self.biases = [[layer.bias.to_floats()[:, 0] for layer in net.layers] for net in networks]
        low, high = nearest_vector(lower), nearest_vector(upper)
        self.middle, self.reach = (low + high) / 2, (high - low) / 2
        self.inputs = rule.coordinates.inputs.to_floats()
        self.num_hidden = rule.first.num_hidden_layers

    def to_cube(self, rows: Floats) -> Floats:
        """Return affine functions of y as functions of the cube [-1, 1]^d, the constant first."""
        constants = rows[:, :1] + (rows[:, 1:] @ self.middle)[:, None]
        return np.concatenate([constants, rows[:, 1:] * self.reach], axis=1)


@dataclass(frozen=True, slots=True)
class RelaxedGuess:
    """What floats say of a row on a node.

    Attributes
    ----------
    value, point
        The bound, and where it is attained.
    evidence
        Slopes and multiples that should prove it.
    shares
        The shares of all corners there.
    """

    value: float
    point: Floats
    evidence: RowEvidence
    shares: Floats


class RelaxedPrograms:
    """The linear programs of a node, one for each row.

    Columns are the coordinates on the cube, the shares of all corners, and violations. `check` is
    called now and then, and may raise.
    """

    def __init__(self, layers: FloatLayers, leaf: RelaxedLeaf, check: Check = no_check) -> None:
        self._layers, self._leaf, self._check = layers, leaf, check
        self._size = len(layers.middle)
        self._corners = [_in_floats(group, 1 << leaf.rule.grid) for group in leaf.groups]
        ends = np.cumsum([0, *map(len, self._corners)])
        self._own = [slice(a, b) for a, b in pairwise(ends.tolist())]
        self._num_corners = int(ends[-1])
        size = self._size + self._num_corners
        sums = np.zeros((len(self._own), size))
        for line, own in zip(sums, self._own, strict=True):
            line[self._size :][own] = 1
        equations, inequalities = (
            np.array(rows).reshape(-1, 1 + size)
            for rows in (self._equations(), self._inequalities())
        )
        self.shape = len(equations) + len(inequalities), size
        least = np.concatenate([np.full(self._size, -1.0), np.zeros(self._num_corners)])
        self._program = ElasticProgram(sums, equations, inequalities, least, np.ones(size))

    @staticmethod
    def num_entries(leaf: RelaxedLeaf) -> int:
        """Return the number of entries that the programs of a node have, at most."""
        num_groups = len(leaf.groups)
        num_rows = 2 * num_groups + len(leaf.cuts) + len(leaf.oblique)
        num_corners = sum(len(group.corners) for group in leaf.groups)
        num_columns = len(leaf.lower) + num_corners + 2 * num_rows
        return (num_groups + num_rows) * num_columns

    # -- rows --------------------------------------------------------------------------------------

    def _equations(self) -> list[Floats]:
        """Return for each group: z, and the difference from z, are sums of shares of corners."""
        found = list[Floats]()
        for group, corners, own in zip(self._leaf.groups, self._corners, self._own, strict=True):
            self._check()
            parts = list[tuple[Floats, Floats]]()
            for which, index in enumerate((group.first, group.second)):
                if index >= 0:
                    form = self._of_neuron(which, group.layer, index)
                    parts.append((form / _scale(group, which), corners[:, which]))
            if len(parts) == 2:
                parts[1] = parts[1][0] - parts[0][0], corners[:, 2]
            for form, ends in parts:
                form[1 + self._size :][own] -= ends
                found.append(form)
        return found

    def _inequalities(self) -> list[Floats]:
        """Return the functions that are not negative on the node: cuts, and oblique sides."""
        found = [
            side * self._of_neuron(which, layer, index)
            for which, layer, index, side in self._leaf.cuts.values()
        ]
        for slack in self._leaf.oblique.values():
            form = np.zeros(1 + self._size + self._num_corners)
            form[: 1 + self._size] = self._layers.to_cube(nearest_vector(slack)[None])[0]
            found.append(form)
        return found

    def _of_neuron(self, which: int, layer: int, index: int) -> Floats:
        """Return a preactivation as an affine function of all columns, the constant first."""
        part = np.zeros(len(self._layers.biases[which][layer - 1]))
        part[index] = 1
        return self._below(which, layer, part, is_activated=False)

    def _of_row(self, row: LinearRow) -> Floats:
        """Return a row in the same way, and note the weights of all groups."""
        layers = self._layers
        inputs = np.zeros(len(layers.inputs))
        for j, x in row.x.items():
            inputs[j] = as_float(x)
        found = np.zeros(1 + self._size + self._num_corners)
        found[: 1 + self._size] = layers.to_cube((inputs @ layers.inputs)[None])[0]
        found[0] += as_float(row.constant)
        depth = len(layers.weights[0])
        for which, weights in enumerate((row.f, row.g)[: len(layers.weights)]):
            part = np.zeros(len(layers.biases[which][-1]))
            for i, x in weights.items():
                part[i] = as_float(x)
            found += self._below(which, depth, part, is_activated=depth == layers.num_hidden)
        return found

    def _below(self, which: int, layer: int, part: Floats, *, is_activated: bool) -> Floats:
        """Return weights of neurons of a layer as an affine function of all columns."""
        layers, constant = self._layers, 0.0
        shares = np.zeros(self._num_corners)
        for number in range(layer, 0, -1):
            if number < layer or is_activated:
                part = part.copy()
                for group, corners, own in zip(
                    self._leaf.groups, self._corners, self._own, strict=True
                ):
                    index = (group.first, group.second)[which]
                    if group.layer == number and index >= 0:
                        scale = part[index] * _scale(group, which)
                        shares[own] += scale * np.maximum(corners[:, which], 0)
                        part[index] = 0
                part *= np.array(self._leaf.signs[number - 1][which]) > 0
            constant += float(part @ layers.biases[which][number - 1])
            part = part @ layers.weights[which][number - 1]
        form = layers.to_cube((part @ layers.inputs)[None])[0]
        form[0] += constant
        return np.concatenate([form, shares])

    # -- programs ----------------------------------------------------------------------------------

    def guess(self, row: LinearRow) -> RelaxedGuess | None:
        """Return slopes and multiples for a row; None where floats have none."""
        form = self._of_row(row)
        found = self._program.maximize(form[1:], self._check)
        if found is None:
            return None
        value, point, duals = found
        return RelaxedGuess(
            value + form[0],
            self._layers.middle + self._layers.reach * point[: self._size],
            self._evidence(duals),
            point[self._size :],
        )

    def _evidence(self, duals: Floats) -> RowEvidence:
        """Return the dual multipliers as exact numbers."""
        place, slopes = 0, dict[Neuron, Slopes]()
        for group in self._leaf.groups:
            if group.first < 0 or group.second < 0:
                q = _short(float(duals[place])) / group.scale
                place += 1
                slopes[group.neuron] = (q,) if group.second < 0 else (Fraction(0), q)
                continue
            by_value, by_change = (_short(float(x)) for x in duals[place : place + 2])
            slopes[group.neuron] = by_value - by_change, by_change / group.scale
            place += 2
        numbers = [*self._leaf.cuts, *self._leaf.oblique]
        multiples = {
            number: _short(float(x))
            for number, x in zip(numbers, duals[place:], strict=True)
            if x > 0
        }
        return RowEvidence(multiples, slopes)

    def losses(
        self, guess: RelaxedGuess, weights: Mapping[Neuron, tuple[Fraction, Fraction]]
    ) -> list[float]:
        """Return how far the bound of each group is above its function, at the point of a guess."""
        found = list[float]()
        for group, corners, own in zip(self._leaf.groups, self._corners, self._own, strict=True):
            s, t = (as_float(x) for x in weights[group.neuron])
            t *= as_float(group.scale)
            shares, ends = guess.shares[own], corners[:, :2]
            values = np.maximum(np.vstack([ends, shares @ ends]), 0) @ np.array([s, t])
            found.append(float(shares @ values[:-1] - values[-1]))
        return found


def _scale(group: OpenGroup, which: int) -> float:
    """Return the number by which the corners of a neuron are multiplied."""
    return as_float(group.scale) if which else 1.0


def _in_floats(group: OpenGroup, unit: int) -> Floats:
    """Return the corners z, y and y - z of a group."""
    rows = [(z, y, y - z) for z, y in group.corners]
    return np.array([[nearest_float(x, unit) for x in row] for row in rows])


def _short(multiplier: float) -> Fraction:
    """Return a multiplier with few bits."""
    mantissa, exponent = math.frexp(multiplier)
    bits = SETTINGS.bits_of_multiples
    return Fraction(round(mantissa * 2**bits)) * Fraction(2) ** (exponent - bits)
