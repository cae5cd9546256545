"""The signs of all neurons at one point, decided in floats where bounds allow it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from polyrelu.exact import UNDECIDED, nearest_float
from polyrelu.support.typing import Floats, Point, Signs
from polyrelu.walks.float_weights import SLACK, UNDERFLOW, UNIT_ROUNDOFF, FloatLayer

__all__ = ["signs_by_layer"]


@np.errstate(all="ignore")
def signs_by_layer(
    constants: tuple[Floats, Floats],
    layers: Sequence[FloatLayer],
    offsets: Sequence[int],
    point: Point,
    signs: Signs,
) -> Iterator[Signs]:
    """Generate the signs of one layer after the other at a point of an affine subspace.

    The bounds are those of docs/theory/walks.md, "The error bound of float forms", for values.

    Parameters
    ----------
    constants
        C of all hidden neurons in floats, transposed, and bounds on its errors, shape (k + 1, n).
    layers
        The weights of the hidden layers.
    offsets
        The place at which each hidden layer starts.
    point
        The coordinates s, k exact numbers.
    signs
        Flat signs, shape (n,). Those of a layer must be right when the next layer is asked for.

    Yields
    ------
    Array
        The signs of a layer, `UNDECIDED` where the bounds do not decide.
    """
    s = np.array([*(nearest_float(x.numerator, x.denominator) for x in point), 1.0])
    floats, errors = constants
    at_point = 2 * (len(point) + 4) * UNIT_ROUNDOFF
    values = s @ floats
    bounds = (np.abs(s) + UNDERFLOW) @ (errors + at_point * np.abs(floats))
    for number, layer in enumerate(layers):
        places = slice(offsets[number], offsets[number + 1])
        for source, weights, sizes, _ in layer.blocks:
            below = slice(offsets[source - 1], offsets[source])
            on = np.flatnonzero(signs[below] > 0) + below.start
            rows = on - below.start
            uncertainties = layer.rounding * np.abs(values[on]) + SLACK * bounds[on]
            values[places] += values[on] @ weights[rows]
            bounds[places] += uncertainties @ sizes[rows]
        z, bound = values[places], bounds[places]
        certain = (np.abs(z) > bound * SLACK + UNDERFLOW) & np.isfinite(z)
        yield np.where(certain, np.sign(z), UNDECIDED).astype(np.int8)
