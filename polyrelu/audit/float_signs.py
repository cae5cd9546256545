"""Signs of neurons at many points in floats, with a bound that says which of them are certain.

Let W' and b' be the nearest floats of the weights of a layer with n inputs, a' the computed
activations before it, off by at most e, and u the unit roundoff. A sum of n products and the bias,
added in any order, with or without fused multiply-adds, is off by at most
(n + 1) u / (1 - (n + 1) u) times S = |W'| |a'| + |b'|. The rounding of weights adds at most u S,
and the error of a' at most |W| e. So (n + 4) u S + |W'| e, with a factor for the rounding of the
bound itself and a summand for underflow, bounds the error of a preactivation; a ReLU makes no error
larger.
"""

from __future__ import annotations

import numpy as np

from polyrelu.exact import UNDECIDED
from polyrelu.network import Network
from polyrelu.support.typing import Floats, Signs

__all__ = ["FloatSigns"]

_UNIT = 2.0**-53
#: More than the relative errors of all operations on bounds.
_SLACK = 1 + 1e-6
#: More than all errors by underflow together, where activations are at most `_LARGEST`.
_UNDERFLOW, _LARGEST = 1e-290, 1e15


class FloatSigns:
    """The hidden layers of a plain stack in floats.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> layers = FloatSigns(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]))
    >>> layers.at(np.array([[0.5], [1.0]])).tolist()
    [[1, -1], [1, 2]]
    """

    def __init__(self, network: Network) -> None:
        numbers = range(1, network.num_hidden_layers + 1)
        self._layers = [
            (network.weight(k).to_floats().T, network.bias(k).to_floats()[:, 0]) for k in numbers
        ]

    @np.errstate(all="ignore")
    def at(self, points: Floats) -> Signs:
        """Return the signs at points that are within u |x| of the floats given, shape (k, n).

        The entry is `UNDECIDED` where the bound does not decide.
        """
        values, errors = points, _UNIT * np.abs(points) + _UNDERFLOW
        parts = [np.zeros((len(points), 0), dtype=np.int8)]
        usable = np.abs(points).max(axis=1, initial=0.0) <= _LARGEST
        for weight, bias in self._layers:
            sizes = np.abs(weight)
            rounding = (len(weight) + 4) * _UNIT * (np.abs(values) @ sizes + np.abs(bias))
            errors = _SLACK * (rounding + errors @ sizes) + _UNDERFLOW
            z = values @ weight + bias
            certain = (np.abs(z) > errors) & np.isfinite(z) & usable[:, None]
            parts.append(np.where(certain, np.sign(z), UNDECIDED).astype(np.int8))
            values = np.maximum(z, 0)
            usable &= values.max(axis=1, initial=0.0) <= _LARGEST
        return np.concatenate(parts, axis=1)
