"""Maxima over cubes with a few inequalities, and dual multipliers, in floating point.

Searches use them as guesses: any multipliers ≥ 0 give an upper bound, and the caller computes the
bound of rounded multipliers exactly.
"""

from __future__ import annotations

import numpy as np

from polyrelu.exact.lp.highs import FloatSolver
from polyrelu.support.typing import Floats

__all__ = ["float_maximum"]

#: How much more than the objective a violated inequality counts.
_PENALTY = 1e3


def float_maximum(
    objective: Floats, rows: Floats, constants: Floats
) -> tuple[Floats, Floats] | None:
    """Return a guess of the maximum over [-1, 1]^n where some affine functions are not negative.

    Parameters
    ----------
    objective
        A linear function, shape (n,).
    rows, constants
        The functions rows · x + constants, shapes (m, n) and (m,).

    Returns
    -------
    tuple or None
        A point, shape (n,), and a multiplier ≥ 0 of each function, shape (m,); None if the solver
        has none. Where no point of the cube has functions that are not negative, multipliers are
        large.

    Examples
    --------
    >>> point, multipliers = float_maximum(
    ...     np.array([2.0, 1.0]), np.array([[-1.0, -1.0]]), np.array([0.5])
    ... )
    >>> point.tolist(), multipliers.tolist()
    ([1.0, -0.5], [1.0])
    """
    num_rows, size = rows.shape
    scales = np.abs(rows).max(axis=1, initial=0)
    scales = np.where(scales > 0, scales, 1)
    largest = np.abs(objective).max(initial=0)
    if not np.isfinite(rows).all() or not 0 < largest < np.inf:
        return None
    solver = FloatSolver(
        np.concatenate([-rows / scales[:, None], -np.eye(num_rows)], axis=1),
        np.full(num_rows, -np.inf),
        constants / scales,
        np.concatenate([np.full(size, -1.0), np.zeros(num_rows)]),
        np.concatenate([np.ones(size), np.full(num_rows, np.inf)]),
    )
    penalties = np.full(num_rows, -_PENALTY)
    point, multipliers = solver.primal_and_dual(np.concatenate([objective / largest, penalties]))
    multipliers = np.maximum(multipliers, 0) * (largest / scales)
    if len(point) < size or not (np.isfinite(point).all() and np.isfinite(multipliers).all()):
        return None
    return np.clip(point[:size], -1, 1), multipliers
