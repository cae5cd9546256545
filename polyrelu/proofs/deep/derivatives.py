"""Derivatives at ridges modulo a prime, for many ridges at once.

The compiled core computes them where it is installed, numpy does the same work elsewhere. The
numbers are integers below the prime, so that both give the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyrelu._core import chosen_engine
from polyrelu.support.typing import Floats

__all__ = ["Derivatives", "Jumps", "derivatives_of"]


class Jumps(NamedTuple):
    """Derivatives modulo p at a ridge with the zeros u and v, both taken as inactive.

    Attributes
    ----------
    bend
        Derivative of z_v with respect to the activation of u.
    at_u, at_v
        Derivatives of the outputs with respect to the activations of u and of v.
    """

    bend: float
    at_u: Floats
    at_v: Floats


class Derivatives:
    """Derivatives at the ridges of a plain stack, in numpy.

    Parameters
    ----------
    weights
        The weights modulo the prime of all layers after the first one, shape (n_ℓ, n_{ℓ-1}).
    prime
        A prime modulo which sums of n_ℓ products are exact in floats.
    """

    def __init__(self, weights: Sequence[Floats], prime: int) -> None:
        self._weights, self._prime = list(weights), prime
        self._starts = [0, *accumulate(table.shape[1] for table in weights)]

    def jumps(self, pairs: Sequence[tuple[int, int]], masks: Sequence[int]) -> list[Jumps]:
        """Return the derivatives at ridges (u, v) on which the neurons of a mask are active."""
        found = []
        for (u, v), bits in zip(pairs, self._bits(masks), strict=True):
            active = np.unpackbits(bits, count=self._starts[-1], bitorder="little").view(np.bool_)
            bend, at_u = self._by(u, v, active)
            found.append(Jumps(bend, at_u, self._by(v, v, active)[1]))
        return found

    def _bits(self, masks: Sequence[int]) -> NDArray[np.uint8]:
        """Return masks as bits, a row for each."""
        size = self._starts[-1] // 8 + 1
        data = b"".join([mask.to_bytes(size, "little") for mask in masks])
        return np.frombuffer(data, dtype=np.uint8).reshape(len(masks), size)

    def _by(self, w: int, v: int, active: NDArray[np.bool_]) -> tuple[float, Floats]:
        """Return derivatives modulo p of z_v and of the outputs by the activation of w."""
        first = int(np.searchsorted(self._starts, w, side="right")) - 1
        bend, column = 0.0, self._weights[first][:, w - self._starts[first]]
        for number in range(first + 1, len(self._weights)):
            start, stop = self._starts[number : number + 2]
            if start <= v < stop:
                bend = float(column[v - start])
            column = np.mod(self._weights[number] @ (column * active[start:stop]), self._prime)
        return bend, column


class _CompiledDerivatives(Derivatives):
    """The same in the compiled core."""

    def __init__(self, weights: Sequence[Floats], prime: int) -> None:
        from polyrelu._core.compiled import Derivatives as Core

        super().__init__(weights, prime)
        self._core = Core([np.ascontiguousarray(table.T) for table in weights], float(prime))

    def jumps(self, pairs: Sequence[tuple[int, int]], masks: Sequence[int]) -> list[Jumps]:
        """See `Derivatives`."""
        table = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
        bends, at_u, at_v = self._core.jumps(table, self._bits(masks))
        return [*map(Jumps, bends.tolist(), at_u, at_v)]


def derivatives_of(weights: Sequence[Floats], prime: int) -> Derivatives:
    """Return the derivatives of a plain stack, by the engine that `chosen_engine` names.

    >>> found = derivatives_of([np.array([[2.0, 3.0]]), np.array([[5.0]])], 101)
    >>> (jumps,) = found.jumps([(0, 2)], [0b010])
    >>> jumps.bend, jumps.at_u.tolist(), jumps.at_v.tolist()
    (2.0, [0.0], [5.0])
    """
    compiled = chosen_engine().name == "compiled"
    return (_CompiledDerivatives if compiled else Derivatives)(weights, prime)
