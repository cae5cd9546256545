"""Signs of many rows at a point in one float product, certain where it matters.

Let u = 2^-53, and let a float row [â | ŝ | ĉ] be the integer row divided by a power of two, each entry off by at most u
of itself or, where it underflowed, by 2^-1022; a float coordinate x̂ likewise. With n entries in the row, the products
and sums of â·x̂ + ŝ t̂ - ĉ, in any order, are off by at most γ_n S + n 2^-1022, γ_k = ku / (1 - ku) and
S = Σ|â_j x̂_j| + |ŝ t̂| + |ĉ|; the entries and coordinates add 2u S to that, up to second order, and
n 2^-1022 (2^100 + 1). The computed S is at least (1 - γ_n) S - n 2^-1022. So for n < 2^20 and |x̂_j| < 2^100 the error
is below (2n + 16) u fl(S) + 2^-900, and a computed value beyond that has the right sign. Larger coordinates and rows
with clamped right-hand sides are never certain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact.lp.highs import CLAMP

__all__ = ["certain_signs"]

_LARGEST = 2.0**100
_LONGEST = 1 << 20


def certain_signs(table: NDArray[np.float64], point: Sequence[float]) -> NDArray[np.float64]:
    """The sign of a·x + s t - c for every row where it is certain, 0 elsewhere.

    Parameters
    ----------
    table : float rows [a | s | c], shape (m, n + 2).
    point : float values of x and t, each the nearest float to the exact one.
    """
    vector = np.array([*point, -1.0])
    magnitudes = np.abs(vector)
    if len(vector) >= _LONGEST or not (magnitudes < _LARGEST).all():  # also NaN
        return np.zeros(len(table))
    size = np.abs(table) @ magnitudes
    value = table @ vector
    certain = np.abs(value) > (2 * len(vector) + 16) * 2.0**-53 * size + 2.0**-900
    certain &= size < CLAMP
    return np.where(certain, np.sign(value), 0.0)
