"""How far sign · z may be below 0 in a case: a linear program in floats over a cone.

The program of `relaxation` mostly has no minimum, so that it says whether a case is open and not
how near it is to its end. Here a variable t > 0 stands for the constant 1 in all rows, which makes
the points a cone, and the size of a point is at most 1: the sum of t and of |z| in layer 1. The
minimum tells how much is left to be shown, and comparing it before and after a split tells what the
split is worth. A case whose minimum is 0 may be open all the same, at points of a size beyond the
inverse of the least t; the program of `relaxation` decides it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from polyrelu.exact.lp.warm_program import WarmProgram
from polyrelu.proofs.refutations.cases.relaxation import Relaxation
from polyrelu.proofs.refutations.cases.scope import Scope
from polyrelu.support.typing import Floats

__all__ = ["Cone", "ConeAnswer"]


@dataclass(frozen=True, slots=True)
class ConeSettings:
    """Constants of the programs.

    Attributes
    ----------
    least
        The least value of t: without one, directions would count in which a case has no points.
    tolerance
        Values above minus this number are taken for 0.
    small
        Gaps up to this number are taken for 0.
    """

    least: float = 1e-5
    tolerance: float = 1e-8
    small: float = 1e-9


SETTINGS = ConeSettings()


class ConeAnswer(NamedTuple):
    """What the program says of a case.

    Attributes
    ----------
    value
        The minimum of sign · z, 0 if the case seems to be closed.
    gaps
        For each neuron how much its unknown sign may matter, shape (num_neurons,).
    is_real
        Whether the point of the minimum shows that sign · z is negative where the guard is active.
    """

    value: float
    gaps: Floats
    is_real: bool


class Cone:
    """The program of a candidate over a cone, in which signs of neurons can be fixed.

    Parameters
    ----------
    scope
        The candidate and the neurons that matter.
    relaxation
        Its program, whose known signs are taken over with `fix`.
    """

    def __init__(self, scope: Scope, relaxation: Relaxation) -> None:
        self._scope, self._relaxation = scope, relaxation
        self._program = self._made_program()
        if scope.guard is not None:
            self.fix(scope.guard, 1)

    def fix(self, neuron: int, sign: int) -> None:
        """Fix the sign of a neuron; 0 makes it unknown again."""
        place = self._relaxation.num_inputs + neuron
        self._program.bound(place, 0, 0 if sign < 0 else np.inf)
        self._program.bound(place + self._scope.num_neurons, 0, 0 if sign > 0 else np.inf)

    def answer(self) -> ConeAnswer:
        """Return what the program says of the current case; it is closed if HiGHS gives up."""
        found, nothing = self._program.minimize(), np.zeros(self._scope.num_neurons)
        if found is None or found.value is None or found.value >= -SETTINGS.tolerance:
            return ConeAnswer(0.0, nothing, False)
        gaps = self._relaxation.gaps(found.point, SETTINGS.small)
        is_real = self._relaxation.is_real(found.point, float(found.point[-1]))
        return ConeAnswer(found.value, gaps, is_real)

    def _made_program(self) -> WarmProgram:
        """Return the program: the rows of the other one with t for 1, and the size of a point."""
        table, relaxation = self._relaxation.table, self._relaxation
        count, width = self._scope.num_neurons, self._scope.starts[1]
        inputs = relaxation.num_inputs
        place = 2 * count - width  # the row of the least value
        bounds = np.where(np.isfinite(table.least), table.least, table.most)
        matrix = np.column_stack([table.matrix, -bounds])
        least, most = (np.where(np.isfinite(side), 0, side) for side in (table.least, table.most))
        matrix[place] = 0
        matrix[place, [-1, *range(inputs, inputs + width)]] = 1
        if self._scope.reads_inputs:
            matrix[place, inputs + count : inputs + count + width] = 1
        least[place], most[place] = -np.inf, 1
        costs, lower = (
            np.append(table.costs, relaxation.bias),
            np.append(table.lower, SETTINGS.least),
        )
        return WarmProgram(matrix, costs, lower, np.full(len(lower), np.inf), least, most)
