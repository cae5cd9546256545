"""The signs of all neurons at one point, decided in floats where bounds allow it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from polyrelu.exact import UNDECIDED, nearest_float
from polyrelu.support.typing import Floats, Point, Signs
from polyrelu.walks.float_weights import SLACK, UNDERFLOW, UNIT_ROUNDOFF, FloatLayer

__all__ = ["signs_by_layer"]


def signs_by_layer(
    constants: tuple[Floats, Floats],
    layers: Sequence[FloatLayer],
    offsets: Sequence[int],
    point: Point,
    signs: Signs,
) -> Iterator[Signs]:
    """Generate the signs of one layer after the other at a point of an affine subspace.

    docs/theory/walks.md, "The error bound of float forms", derives the bounds.

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
        Flat signs, shape (n,). The caller writes the right signs of each layer into it before the
        next layer is asked for.

    Yields
    ------
    Array
        The signs of a layer, `UNDECIDED` where the bounds do not decide.
    """
    values, bounds = _constants_at(constants, point)
    for number, layer in enumerate(layers):
        places = slice(offsets[number], offsets[number + 1])
        with np.errstate(all="ignore"):
            for source, weights, sizes, _ in layer.blocks:
                first = offsets[source - 1]
                rows = np.flatnonzero(signs[first : offsets[source]] > 0)
                active, errors = values[rows + first], bounds[rows + first]
                values[places] += active @ weights[rows]
                uncertainties = layer.rounding * np.abs(active) + SLACK * errors
                bounds[places] += uncertainties @ sizes[rows]
            z, bound = values[places], bounds[places]
            certain = (np.abs(z) > bound * SLACK + UNDERFLOW) & np.isfinite(z)
            found = np.where(certain, np.sign(z), UNDECIDED).astype(np.int8)
        yield found


@np.errstate(all="ignore")
def _constants_at(constants: tuple[Floats, Floats], point: Point) -> tuple[Floats, Floats]:
    """Return C (s, 1) of all neurons and bounds on the errors, shape (n,)."""
    s = np.array([*(nearest_float(x.numerator, x.denominator) for x in point), 1.0])
    floats, errors = constants
    at_point = 2 * (len(point) + 4) * UNIT_ROUNDOFF
    margins = errors + at_point * np.abs(floats)
    return s @ floats, (np.abs(s) + UNDERFLOW) @ margins
