"""Half-spaces that contain the part of a box where some neurons have given signs.

A sign says that a preactivation, or its negative, is not negative. An affine function that is not
smaller is not negative there either. Maxima of affine functions over the part are at most those
over the box after multiples of these functions have been added (`add_multiples`), and the box can
be made smaller (`shrunk`). For many boxes at a time, each with as many half-spaces as it needs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polyrelu.proofs.deviation.float_pair import Floats

__all__ = ["HalfSpaces"]

#: How often all half-spaces are looked at for one maximum.
_SWEEPS = 2
#: By which part of itself a maximum has to become smaller to count as smaller.
_GAIN = 2.0**-16


class HalfSpaces:
    """Half-spaces s·x + c ≥ 0 of boxes; those that a box does not have are 0 ≥ 0.

    Attributes
    ----------
    slopes, constants
        s and c, one array for each place in the lists of the boxes, with a row for each box.
    is_empty
        The boxes of which nothing is left, shape (boxes,).
    """

    def __init__(self, num_boxes: int, num_inputs: int, dtype: np.dtype[np.floating]) -> None:
        self._shape, self._dtype = (num_boxes, num_inputs), dtype
        self._counts = np.zeros(num_boxes, dtype=np.intp)
        self.slopes, self.constants = list[Floats](), list[Floats]()
        self.is_empty = np.zeros(num_boxes, dtype=bool)

    def add(self, box: int, slope: Floats, constant: float) -> None:
        """Append a half-space to the list of a box."""
        place = int(self._counts[box])
        if place == len(self.slopes):
            self.slopes.append(np.zeros(self._shape, self._dtype))
            self.constants.append(np.zeros(self._shape[0], self._dtype))
        self.slopes[place][box], self.constants[place][box] = slope, constant
        self._counts[box] += 1

    def shrunk(self, middle: Floats, radius: Floats) -> tuple[Floats, Floats]:
        """Return middle and radius of the boxes without what one half-space cuts off."""
        middle, radius = middle.copy(), radius.copy()
        for slopes, constants in zip(self.slopes, self.constants, strict=True):
            sizes = np.abs(slopes)
            largest = constants + (slopes * middle).sum(axis=1) + (sizes * radius).sum(axis=1)
            self.is_empty |= largest < 0
            excess = 2 * sizes * radius - largest[:, None]
            is_cut = (excess > 0) & ~self.is_empty[:, None]
            half = np.where(is_cut, excess / np.where(is_cut, sizes, 1) / 2, 0)
            radius = np.maximum(radius - half, 0)
            middle += np.where(slopes > 0, half, -half)
        return middle, radius

    def add_multiples(
        self, place: NDArray[np.intp], slope: Floats, at_middle: Floats, middle: Floats, r: Floats
    ) -> tuple[Floats, Floats]:
        """Return functionals, and their values in the middle, with multiples for small maxima.

        Parameters
        ----------
        place
            The index of the box of each functional.
        slope, at_middle
            The functionals, shapes (functionals, n_0) and (functionals,).
        middle, r
            The middle and the radius of each box.
        """
        slope, at_middle, radius = slope.copy(), at_middle.copy(), r[place]
        for _ in range(_SWEEPS):
            for slopes, constants in zip(self.slopes, self.constants, strict=True):
                u = slopes[place]
                u_at = (constants + (slopes * middle).sum(axis=1))[place]
                best = _best_multiples(slope, u, u_at, radius)
                slope += best[:, None] * u
                at_middle += best * u_at
        return slope, at_middle


def _best_multiples(slope: Floats, u: Floats, u_at: Floats, radius: Floats) -> Floats:
    """Return multiples of u, not negative, with which the maxima of functionals are least."""
    best, least = np.zeros_like(u_at), (np.abs(slope) * radius).sum(axis=1)
    for j in range(u.shape[1]):
        is_there = u[:, j] != 0
        multiple = np.where(is_there, slope[:, j] / np.where(is_there, -u[:, j], 1), 0)
        multiple = np.maximum(multiple, 0)
        rest = np.abs(slope + multiple[:, None] * u)
        total = multiple * u_at + (rest * radius).sum(axis=1)
        # Roundings do not decide between multiples that are equally good.
        is_less = total < least - np.abs(least) * _GAIN
        best, least = np.where(is_less, multiple, best), np.where(is_less, total, least)
    return best
