"""How long the legs of a walk may be: the steps that an engine makes without asking.

A leg needs a cell on which nothing but one sign changes from step to step. Neurons that are 0 on
the cell, the one that a walk follows apart, must remain 0 whatever is switched: they read nothing,
or nothing that is active. The leg ends before it switches a neuron that they read.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from polyrelu.walks.affine_slice import AffineSlice
from polyrelu.walks.exact_line import CellOnLine
from polyrelu.walks.float_steps import LegLimits

__all__ = ["leg_lengths", "leg_limits"]

#: Number of steps of the first leg; each of the next ones has twice as many.
_FIRST_STEPS = 16
#: Maximum number of steps of a leg, and of products of weights in all of them: between two legs
#: Python looks for Ctrl-C.
_MOST_STEPS, _MOST_PRODUCTS = 512, 1 << 30


def leg_lengths(num_parameters: int) -> Iterator[int]:
    """Generate the maximum numbers of steps of successive legs in a network of some size.

    >>> lengths = leg_lengths(1 << 25)
    >>> [next(lengths) for _ in range(4)]
    [16, 32, 32, 32]
    """
    most = max(1, min(_MOST_STEPS, _MOST_PRODUCTS // max(1, num_parameters)))
    steps = min(_FIRST_STEPS, most)
    while True:
        yield steps
        steps = min(2 * steps, most)


def leg_limits(
    affine_slice: AffineSlice, cell: CellOnLine, most: int, followed: int | None = None
) -> LegLimits | None:
    """Return the limits of a leg from a cell; None if steps have to be made one by one.

    Parameters
    ----------
    affine_slice
        The network on a line or plane.
    cell
        The cell from which the leg starts.
    most
        Maximum number of steps.
    followed
        The place of the neuron whose bent hyperplane the walk follows.
    """
    if cell.back is None:
        return None
    zeros = np.flatnonzero(cell.signs == 0)
    others = zeros[zeros != followed]
    if not len(others):
        return LegLimits(most)
    read = affine_slice.read_by(others)
    on = cell.signs > 0
    on[[] if followed is None else [followed]] = True
    if read is None or (read & on).any():
        return None
    return LegLimits(most, watched=read)
