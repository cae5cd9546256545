"""Maxima and dual multipliers in floating point, where constraints may be violated at a price.

Searches use them as guesses: any multipliers of the right signs give an upper bound, and the caller
computes the bound of rounded multipliers exactly. Where there is no feasible point, multipliers are
large.
"""

from __future__ import annotations

import numpy as np

from polyrelu.exact.lp.highs import FloatSolver
from polyrelu.support.budget import Check, no_check
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import Floats

__all__ = ["ElasticProgram"]

#: How much more than the objective a violated constraint counts.
_PENALTY = 1e3


class ElasticProgram:
    """A linear program over a box in floats, for any number of objectives.

    Parameters
    ----------
    sums
        Rows whose value is 1, shape (k, n).
    equations, inequalities
        Affine functions that are 0, and others that are not negative, shapes (m, 1 + n): the
        constants first. They may be violated.
    lower, upper
        The sides of the box, shape (n,).

    Examples
    --------
    >>> program = ElasticProgram(
    ...     np.zeros((0, 2)),
    ...     np.zeros((0, 3)),
    ...     np.array([[0.5, -1.0, -1.0]]),
    ...     np.full(2, -1.0),
    ...     np.ones(2),
    ... )
    >>> value, point, multipliers = program.maximize(np.array([2.0, 1.0]))
    >>> value, point.tolist(), multipliers.tolist()
    (1.5, [1.0, -0.5], [1.0])
    """

    def __init__(
        self, sums: Floats, equations: Floats, inequalities: Floats, lower: Floats, upper: Floats
    ) -> None:
        table = np.concatenate([equations, inequalities])
        sizes = np.abs(table[:, 1:]).max(axis=1, initial=0)
        self._scales = np.where(sizes > 0, sizes, 1)
        table = table / self._scales[:, None]
        self._is_finite = bool(np.isfinite(table).all())
        self._sides, self._num_sums, self._num_rows = (lower, upper), len(sums), len(table)
        self._least = np.where(np.arange(len(table)) < len(equations), table[:, 0], -np.inf)
        self._sums, self._table = sums, table
        self._solver: FloatSolver | None = None

    def __repr__(self) -> str:
        counts = [(len(self._sides[0]), "variable"), (self._num_sums + self._num_rows, "row")]
        return bracketed(f"ElasticProgram, {count_text(counts)}")

    def _made(self) -> FloatSolver:
        """Return the program; violations are columns."""
        excess, ends = np.eye(self._num_rows), np.ones(self._num_sums)
        nothing = np.zeros((self._num_sums, 2 * self._num_rows))
        matrix = np.concatenate([-self._table[:, 1:], -excess, excess], axis=1)
        lower, upper = self._sides
        return FloatSolver(
            np.concatenate([np.concatenate([self._sums, nothing], axis=1), matrix]),
            np.concatenate([ends, self._least]),
            np.concatenate([ends, self._table[:, 0]]),
            np.concatenate([lower, np.zeros(2 * self._num_rows)]),
            np.concatenate([upper, np.full(2 * self._num_rows, np.inf)]),
        )

    def maximize(
        self, objective: Floats, check: Check = no_check
    ) -> tuple[float, Floats, Floats] | None:
        """Return a guess of the maximum of a linear function.

        Parameters
        ----------
        objective
            The coefficients, shape (n,).
        check
            Called now and then; it may raise.

        Returns
        -------
        tuple or None
            The value, less the price of violations; a point, shape (n,); and the multipliers of
            equations and inequalities. None if the solver has none.
        """
        size = len(objective)
        largest = np.abs(objective).max(initial=0)
        if not (self._is_finite and 0 < largest < np.inf):
            return None
        self._solver = self._solver or self._made()
        costs = np.concatenate([objective / largest, np.full(2 * self._num_rows, -_PENALTY)])
        point, duals = self._solver.primal_and_dual(costs, check)
        if len(point) < size or not (np.isfinite(point).all() and np.isfinite(duals).all()):
            return None
        multipliers: Floats = duals[self._num_sums :] * largest / self._scales
        inside: Floats = np.clip(point[:size], *self._sides)
        return float(costs @ point) * float(largest), inside, multipliers
