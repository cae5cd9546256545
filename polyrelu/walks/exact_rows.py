"""The exact form of one neuron on a cell, from the last layer back to the first.

F[ℓ] has many rows, and a walk asks for few of them. The row of neuron j is e_j F[ℓ], a vector times
C[ℓ] + Σ W[ℓ,i] M[i] F[i]; the vectors e_j W[ℓ,i] M[i] have an entry for each active neuron only, so
that one row costs far less than the matrix.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import RationalMatrix
from polyrelu.exact.matrix import integers_over
from polyrelu.support.typing import Indices, Signs
from polyrelu.walks.float_weights import FloatWeights

__all__ = ["exact_row"]


class _Combination:
    """Rational numbers over one denominator, to which others are added."""

    def __init__(self, integers: NDArray[np.object_], denominator: int) -> None:
        self.integers, self.denominator = integers, denominator

    def add(self, integers: NDArray[np.object_], denominator: int) -> None:
        """Add numbers over another denominator."""
        common = math.lcm(self.denominator, denominator)
        self.integers = self.integers * (common // self.denominator) + integers * (
            common // denominator
        )
        self.denominator = common

    def times(self, matrix: NDArray[Any]) -> NDArray[np.object_]:
        """Return the numerators of the product with a matrix of integers."""
        if len(self.integers) == 1 and self.integers[0] == 1:
            return np.asarray(matrix[0].astype(object))
        return np.asarray(self.integers @ matrix.astype(object))


def exact_row(
    weights: FloatWeights,
    constants: Sequence[RationalMatrix],
    offsets: Sequence[int],
    signs: Signs,
    place: int,
) -> list[int] | None:
    """Return a positive multiple of the form [a | b] of one neuron, in integers.

    Parameters
    ----------
    weights
        The weights of the network.
    constants
        The matrices C of the hidden layers.
    offsets
        The place at which each hidden layer starts.
    signs
        Flat signs that determine the form.
    place
        The neuron.

    Returns
    -------
    list of int or None
        The row, k + 1 integers; None if a layer before has weights that are kept sparse.
    """
    last = int(np.searchsorted(offsets, place, side="right"))
    rows: dict[int, Indices] = {last: np.array([place - offsets[last - 1]])}
    factors = {last: _Combination(np.array([1], dtype=object), 1)}
    total = _Combination(np.zeros(constants[0].ncols, dtype=object), 1)
    for number in range(last, 0, -1):
        if number not in factors:
            continue
        factor, chosen, constant = factors[number], rows[number], constants[number - 1]
        integers = integers_over(constant, constant.denominator)[chosen]
        total.add(factor.times(integers), factor.denominator * constant.denominator)
        blocks = weights.integer_blocks(number)
        if blocks is None:
            return None
        for source, table, denominator in blocks:
            on = np.flatnonzero(signs[offsets[source - 1] : offsets[source]] > 0)
            if not len(on):
                continue
            product = factor.times(table[np.ix_(chosen, on)])
            if source in factors:
                factors[source].add(product, factor.denominator * denominator)
            else:
                rows[source] = on
                factors[source] = _Combination(product, factor.denominator * denominator)
    return [int(entry) for entry in total.integers]
