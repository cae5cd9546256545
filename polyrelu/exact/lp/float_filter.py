"""A float filter: the certain signs of many rows at a point, from one float product.

The exact simplex method looks for violated rows, and most rows hold by a margin that floats show.
Only the rows whose sign is `UNDECIDED` are computed exactly. Every number that enters the product
has to satisfy the error bounds below.

Let u = 2^-53. A float row [â | ŝ | ĉ] is the integer row divided by a power of two, where each
entry has a relative error of at most u or, if it underflowed, an absolute error of at most 2^-1022;
the same holds for a float coordinate x̂. With n entries in the row, the computed value of â·x̂ + ŝ
t̂ - ĉ differs from its exact value by at most γ_n S + n 2^-1022, in any order of the operations,
where γ_k = ku / (1 - ku) and S = Σ|â_j x̂_j| + |ŝ t̂| + |ĉ|. The errors of the entries and
coordinates add 2u S, up to second order, and n 2^-1022 (2^100 + 1). The computed S is at least (1 -
γ_n) S - n 2^-1022. Therefore, for n < 2^20 and |x̂_j| < 2^100, the total error is below (2n + 16) u
fl(S) + 2^-900, and a computed value of a larger absolute value has the right sign. Signs at points
with larger coordinates, and signs of rows with clamped right-hand sides, are never certain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyrelu.exact.floats import UNDECIDED
from polyrelu.exact.lp.highs import CLAMP
from polyrelu.support.typing import Floats, Signs

__all__ = ["certain_signs"]

#: The unit roundoff u of float64.
_UNIT_ROUNDOFF = 2.0**-53
#: Least absolute value of a coordinate for which the error bound does not hold.
_COORDINATE_LIMIT = 2.0**100
#: Least number of entries of a row for which the error bound does not hold.
_LENGTH_LIMIT = 1 << 20
#: Absolute part of the error bound, which accounts for underflow.
_UNDERFLOW = 2.0**-900


def certain_signs(table: Floats, point: Sequence[float]) -> Signs:
    """Compute the sign of a·x + s t - c for every row where floats determine it.

    Parameters
    ----------
    table
        Float rows [a | s | c], shape (m, n + 2).
    point
        The nearest floats to the exact values of x and t, shape (n + 1,).

    Returns
    -------
    Array
        The signs -1 or 1 where they are certain, `UNDECIDED` elsewhere, shape (m,). A value that is
        exactly 0 is always undecided.
    """
    vector = np.array([*point, -1.0])
    magnitudes = np.abs(vector)
    if len(vector) >= _LENGTH_LIMIT or not (magnitudes < _COORDINATE_LIMIT).all():  # also NaN
        return np.full(len(table), UNDECIDED, dtype=np.int8)
    size = np.abs(table) @ magnitudes
    value = table @ vector
    bound = (2 * len(vector) + 16) * _UNIT_ROUNDOFF * size + _UNDERFLOW
    certain = np.abs(value) > bound
    certain &= size < CLAMP
    return np.where(certain, np.sign(value), UNDECIDED).astype(np.int8)
