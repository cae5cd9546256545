"""The linear program in floats about one case: how small sign · z can be, and why.

The unknowns are the inputs, if they matter, and for each neuron its activation a ≥ 0 and s ≥ 0 with
a - s = z. In a case where the neuron is active s = 0, and where it is inactive a = 0; nothing else
is known of a product a s. For neurons of layer 2 and later a is at most the sum of the positive
terms of z. Rows are scaled to length 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from polyrelu.exact import RationalMatrix
from polyrelu.exact.lp.warm_program import FloatSolution, WarmProgram
from polyrelu.proofs.refutations.cases.scope import Scope
from polyrelu.support.typing import Floats

__all__ = ["CaseAnswer", "ProgramTable", "Relaxation"]


@dataclass(frozen=True, slots=True)
class RelaxationSettings:
    """Constants of the programs.

    Attributes
    ----------
    small
        Coefficients that are smaller than this share of the largest one are taken for 0.
    tolerance
        Smaller values are taken for 0.
    """

    small: float = 1e-9
    tolerance: float = 1e-7


SETTINGS = RelaxationSettings()


class ProgramTable(NamedTuple):
    """A program: minimise costs · x for lower ≤ x and least ≤ A x ≤ most, A the matrix."""

    matrix: Floats
    costs: Floats
    lower: Floats
    least: Floats
    most: Floats


class CaseAnswer(NamedTuple):
    """What a program says of a case.

    Attributes
    ----------
    is_open
        Whether sign · z may be negative.
    is_impossible
        Whether the case itself seems to be impossible.
    gaps
        For each neuron how much its unknown sign may matter, shape (num_neurons,).
    slopes
        The share of z in the lower bound of each activation; -1 for an upper bound, and nan where
        the activation seems to have the coefficient 0.
    multipliers
        The multiples of ± z ≥ 0 for neurons of known sign, of a - z ≥ 0 for others, and of the
        inequalities of the domain, in this order, shape (num_neurons + inequalities,).
    is_real
        Whether the point of the solution shows that sign · z is negative where the guard is active.
    """

    is_open: bool
    is_impossible: bool
    gaps: Floats
    slopes: Floats
    multipliers: Floats
    is_real: bool


class Relaxation:
    """The program of a candidate, in which signs of neurons can be fixed.

    Attributes
    ----------
    signs
        The sign of each neuron in the current case, 0 if it is unknown.
    num_entries
        The number of coefficients of the program.
    table
        The program without known signs. Its columns are the inputs that matter, the activations a,
        and the s; its last rows are the least value and the inequalities of the domain.
    num_inputs
        The number of inputs that matter.
    bias
        The constant term of sign · z.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope, count = scope, scope.num_neurons
        self._weights, self._biases, last, self._lengths = _scaled_layers(scope)
        self._wall_lengths = _lengths(_wall_rows(scope)[:, :-1])
        self._row = scope.candidate.sign * last[:-1]
        self.bias = float(scope.candidate.sign * last[-1])
        self.num_inputs = self._weights[0].shape[1] if scope.reads_inputs else 0
        self._first = 0 if scope.reads_inputs else scope.starts[1]
        self.signs = np.zeros(count, dtype=np.int8)
        self._importance = self._importances()
        self.table = table = self._made_table()
        upper = np.full(len(table.lower), np.inf)
        self._program = WarmProgram(
            table.matrix, table.costs, table.lower, upper, table.least, table.most
        )
        self.num_entries = self._program.num_entries
        if scope.guard is not None:
            self.fix(scope.guard, 1)

    def fix(self, neuron: int, sign: int) -> None:
        """Fix the sign of a neuron; 0 makes it unknown again."""
        self.signs[neuron] = sign
        start, count = self.num_inputs, self._scope.num_neurons
        self._program.bound(start + neuron, 0, 0 if sign < 0 else np.inf)
        self._program.bound(start + count + neuron, 0, 0 if sign > 0 else np.inf)

    def answer(self) -> CaseAnswer:
        """Return what the program says of the current case; it is open if HiGHS gives up."""
        found = self._program.minimize()
        if found is None:
            gaps = self._importance * (self.signs == 0)
            gaps[: self._first] = 0
            nothing = np.zeros(len(gaps) + len(self._wall_lengths))
            return CaseAnswer(True, False, gaps, nothing[: len(gaps)], nothing, False)
        slopes, multipliers = self._reasons(found)
        if found.value is None:
            gaps = np.zeros(len(self.signs))
            return CaseAnswer(False, True, gaps, slopes, multipliers, False)
        is_open = found.value + self.bias < -SETTINGS.tolerance
        gaps = self.gaps(found.point, SETTINGS.tolerance)
        is_real = is_open and self.is_real(found.point)
        return CaseAnswer(is_open, False, gaps, slopes, multipliers, is_real)

    def gaps(self, point: Floats, tolerance: float) -> Floats:
        """Return how much the unknown sign of each neuron may matter at a point of the program."""
        start, count = self.num_inputs, self._scope.num_neurons
        active, other = np.split(point[start : start + 2 * count], 2)
        gaps = np.minimum(active, other) * (self.signs == 0)
        gaps[: self._first] = 0
        gaps[gaps <= tolerance] = 0
        return np.asarray(gaps * self._importance, dtype=np.float64)

    def is_real(self, point: Floats, one: float = 1.0) -> bool:
        """Return whether the network itself has sign · z < 0 < z of the guard at a point.

        `one` is what stands for the constant 1.
        """
        scope, values = self._scope, point[: self.num_inputs]
        layers = list(zip(self._weights, self._biases, strict=True))
        if not scope.reads_inputs:
            values, layers = point[: scope.starts[1]], layers[1:]
        z = values
        for weight, bias in layers:
            z = weight @ values + bias * one
            values = np.maximum(z, 0)
        guard = scope.guard
        is_active = guard is None or z[guard - scope.starts[-2]] > SETTINGS.tolerance
        return bool(is_active and self._row @ values + self.bias * one < -SETTINGS.tolerance)

    def _reasons(self, found: FloatSolution) -> tuple[Floats, Floats]:
        """Return the slopes and multipliers that the multipliers of the rows say.

        The multiplier of a - s = z is the coefficient of z in what is left of sign · z, once the
        activations of later layers are replaced by their bounds.
        """
        scope, count = self._scope, len(self.signs)
        own, above = found.duals[:count], np.zeros(count)
        above[scope.starts[1] :] = found.duals[count : 2 * count - scope.starts[1]]
        left = self._coefficients(own, above, found.value is None)
        with np.errstate(all="ignore"):
            share = np.clip(np.nan_to_num(own / left), 0, 1)
        slopes = np.where(left < 0, -1, share)
        slopes[np.abs(left) <= SETTINGS.small * np.abs(left).max(initial=0)] = np.nan
        slopes[: self._first] = 0
        multipliers = np.where(self.signs > 0, left - own, own) / self._lengths
        multipliers[: self._first] = 0
        walls = found.duals[2 * count - scope.starts[1] + 1 :] / self._wall_lengths
        return slopes, np.maximum(np.concatenate([multipliers, walls]), 0)

    def _coefficients(self, own: Floats, above: Floats, is_impossible: bool) -> Floats:
        """Return the coefficient of each activation before it is replaced by its bound."""
        starts = self._scope.starts
        parts = [self._row * (not is_impossible)]
        for j in range(len(self._weights) - 1, 0, -1):
            later, weight = slice(starts[j], starts[j + 1]), self._weights[j]
            parts.append(own[later] @ weight + above[later] @ np.maximum(weight, 0))
        return np.concatenate(parts[::-1])

    def _importances(self) -> Floats:
        """Return how much the output changes with each activation, at most."""
        found, size = [np.abs(self._row)], np.abs(self._row)
        for weight in self._weights[:0:-1]:
            size = size @ np.abs(weight)
            found.append(size)
        return np.concatenate(found[::-1])

    def _made_table(self) -> ProgramTable:
        """Return the program: rows a - s - W a = b, upper bounds of a, and the least value."""
        scope, starts = self._scope, self._scope.starts
        count, inputs = scope.num_neurons, self.num_inputs
        matrix = np.zeros((2 * count - starts[1] + 1 + len(self._wall_lengths), inputs + 2 * count))
        right, most = np.zeros(len(matrix)), np.full(len(matrix), np.inf)
        for j, (weight, bias) in enumerate(zip(self._weights, self._biases, strict=True)):
            here = slice(starts[j], starts[j + 1])
            before = slice(0, inputs) if j == 0 else _shifted(starts[j - 1], starts[j], inputs)
            if j or scope.reads_inputs:
                matrix[here, before] = -weight
                matrix[here, inputs:][:, here] = np.eye(len(bias))
                matrix[here, inputs + count :][:, here] = -np.eye(len(bias))
                right[here] = most[here] = bias
            if j:
                rows = _shifted(starts[j], starts[j + 1], count - starts[1])
                matrix[rows, before] = -np.maximum(weight, 0)
                matrix[rows, inputs:][:, here] = np.eye(len(bias))
                right[rows], most[rows] = -np.inf, np.maximum(bias, 0)
        costs = np.zeros(inputs + 2 * count)
        costs[inputs + starts[-2] : inputs + count] = self._row
        place = 2 * count - starts[1]
        matrix[place], right[place] = costs, -1 - self.bias
        walls = _wall_rows(scope) / self._wall_lengths[:, None]
        for row, wall in enumerate(walls, place + 1):
            matrix[row, :inputs], right[row] = -wall[:-1], -wall[-1]
        lower = np.zeros(inputs + 2 * count)
        lower[:inputs] = -np.inf
        return ProgramTable(matrix, costs, lower, right, most)


def _wall_rows(scope: Scope) -> Floats:
    """Return the rows [a | c] of a·x ≤ c of the domain, shape (inequalities, inputs + 1)."""
    rows = [] if scope.domain is None else scope.domain.inequalities
    if not rows:
        return np.zeros((0, scope.network.num_inputs + 1))
    return RationalMatrix.from_rows(rows).to_floats()


def _shifted(start: int, stop: int, shift: int) -> slice:
    return slice(start + shift, stop + shift)


def _lengths(rows: Floats) -> Floats:
    """Return the lengths of rows, 1 for rows of zeros."""
    lengths = np.sqrt((rows**2).sum(axis=1))
    return np.where(lengths > 0, lengths, 1.0)


def _scaled_layers(scope: Scope) -> tuple[list[Floats], list[Floats], Floats, Floats]:
    """Return weights and biases of scaled neurons, the row of the candidate's neuron, and scales.

    The scales are what the preactivations of the neurons before were divided by, over the scale of
    the candidate's neuron.

    Layer 1 reads the inputs at which coefficients have to vanish only, if there is no domain.
    """
    weights, biases, scales = list[Floats](), list[Floats](), list[Floats]()
    scale = np.ones(scope.layers[0].weight.ncols)
    for rows in (*scope.layers, scope.last):
        weight, bias = rows.weight.to_floats() * scale, rows.bias.to_floats()[:, 0]
        scale = _lengths(weight)
        scales.append(scale)
        weights.append(weight / scale[:, None])
        biases.append(bias / scale)
    weights[0] = weights[0][:, list(scope.inputs)] if scope.reads_inputs else weights[0]
    last = np.append(weights[-1][0], biases[-1][0])
    return weights[:-1], biases[:-1], last, np.concatenate(scales[:-1]) / scales[-1]
