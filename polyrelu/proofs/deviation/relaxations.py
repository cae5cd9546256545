"""Linear relaxations of ReLU neurons, alone and in pairs, for many boxes at a time.

A neuron of f has the preactivation z, its partner in g has z + D. With a = σ(z) and
d = σ(z + D) - σ(z), the relaxations are a ≤ λ z + o, a ≥ κ z, and p z + q D + r as an upper and as
a lower bound of d. Any slopes p, q are possible: the offset r is the extreme value of the piecewise
linear function d - p z - q D on the box of (z, D), which it takes at one of the at most 13 vertices
that z = 0 and z + D = 0 cut out of the box (docs/theory/deviation.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.proofs.deviation.float_pair import Floats

Mask: TypeAlias = NDArray[np.bool_]

__all__ = ["Corners", "PairRelaxation", "Range", "Relaxation"]


@dataclass(slots=True)
class Range:
    """Lower and upper bounds of the neurons of a layer, shape (boxes, neurons)."""

    low: Floats
    high: Floats

    @classmethod
    def unknown(cls, num_boxes: int, num_neurons: int, dtype: np.dtype[Any]) -> Range:
        """Return bounds that say nothing."""
        shape = (num_boxes, num_neurons)
        return cls(np.full(shape, -np.inf, dtype), np.full(shape, np.inf, dtype))

    @property
    def is_stable(self) -> Mask:
        """Which neurons have one sign on the box."""
        return (self.low >= 0) | (self.high <= 0)

    @property
    def width(self) -> Floats:
        """How far the ends are apart."""
        return self.high - self.low

    def copy(self) -> Range:
        """Return a copy."""
        return Range(self.low.copy(), self.high.copy())

    def cut(self, low: Floats, high: Floats) -> None:
        """Intersect with other bounds."""
        np.maximum(self.low, low, out=self.low)
        np.minimum(self.high, high, out=self.high)

    def at(self, place: tuple[NDArray[np.intp], ...]) -> Range:
        """Return the bounds of chosen neurons, flat."""
        return Range(self.low[place], self.high[place])

    def take(self, boxes: NDArray[np.intp]) -> Range:
        """Return the bounds on chosen boxes."""
        return Range(self.low[boxes], self.high[boxes])


class Relaxation:
    """The usual relaxation of single neurons: κ z ≤ σ(z) ≤ λ z + o.

    Attributes
    ----------
    lower_slope, upper_slope, offset
        κ, λ and o, shape (boxes, neurons).
    gap
        How much σ(z) exceeds κ z at most. The other bound exceeds σ(z) by at most o.
    """

    __slots__ = ("_table", "gap", "lower_slope", "offset", "upper_slope")

    def __init__(self, z: Range) -> None:
        dtype = z.low.dtype
        is_stable, is_on = z.is_stable, z.low >= 0
        width = np.where(is_stable, 1, z.high - z.low)
        slope = np.where(is_stable, is_on, z.high / width)
        self.upper_slope = slope.astype(dtype)
        self.lower_slope = np.where(is_stable, is_on, z.high > -z.low).astype(dtype)
        self.offset = np.where(is_stable, 0, -slope * z.low).astype(dtype)
        self.gap = np.where(is_stable, 0, np.minimum(z.high, -z.low)).astype(dtype)
        rise = self.upper_slope - self.lower_slope
        self._table = np.stack([self.lower_slope, rise, self.offset], axis=1)

    def of_boxes(self, place: NDArray[np.intp]) -> Floats:
        """Return κ, λ - κ and o of chosen boxes, shape (3, boxes, neurons)."""
        return self._table[place].swapaxes(0, 1)


class PairRelaxation:
    """The relaxation of d for pairs of neurons: slopes p and q, and an offset r, for both bounds.

    Attributes
    ----------
    gaps
        How far the upper and the lower bound are from d at most, shape (2, boxes, neurons).
    """

    __slots__ = ("_table", "gaps")

    def __init__(self, z: Range, y: Range, change: Range) -> None:
        first, second = Relaxation(z), Relaxation(y)
        is_on, other_on = (z.low >= 0), (y.low >= 0) & (y.high > 0)
        p = other_on.astype(z.low.dtype) - is_on
        q = other_on.astype(z.low.dtype)
        self.gaps = np.zeros((2, *p.shape), p.dtype)
        upper = (p, q, np.zeros_like(p), self.gaps[0])
        lower = (p.copy(), q.copy(), np.zeros_like(p), self.gaps[1])
        place = np.nonzero(~(z.is_stable & y.is_stable))
        if len(place[0]):
            known = other_on[place], (y.high <= 0)[place]
            corner = Corners(z.at(place), change.at(place), *known)
            ours = first.lower_slope[place], first.upper_slope[place]
            theirs = second.lower_slope[place], second.upper_slope[place]
            above = (theirs[1] - ours[0], theirs[1])
            below = (theirs[0] - ours[1], theirs[0])
            for bound, sign, other in ((upper, 1, above), (lower, -1, below)):
                for part, values in zip(bound, corner.best(sign, other), strict=True):
                    part[place] = values
        more = [up - low for up, low in zip(upper[:3], lower[:3], strict=True)]
        self._table = np.stack([*lower[:3], *more], axis=1)

    def of_boxes(self, place: NDArray[np.intp]) -> Floats:
        """Return p, q and r of the lower bound, and what the upper one adds to each."""
        return self._table[place].swapaxes(0, 1)


class Corners:
    """The vertices of subdivided boxes of (z, D), with the values of d, shape (13, pairs)."""

    def __init__(self, ends: Range, change: Range, is_on: Mask, is_off: Mask) -> None:
        low, high, least, most = ends.low, ends.high, change.low, change.high
        zero = np.clip(0, low, high)
        z = [low, high, zero, np.clip(-least, low, high), np.clip(-most, low, high)]
        at = [low, high, zero]
        self._z = np.stack([*z, *z, *at])
        self._change = np.stack(
            [*[least] * 5, *[most] * 5, *(np.clip(-point, least, most) for point in at)]
        )
        self._d = _changes(self._z, self._change, is_on, is_off)
        self._middle = (low + high) / 2, (least + most) / 2
        width = np.where(most > least, most - least, 1)
        self._chord = np.clip(most / width, 0, 1)
        self._chord[least >= 0], self._chord[most <= 0] = 1, 0
        self._zero = np.zeros_like(low)

    def best(self, sign: int, other: tuple[Floats, Floats]) -> tuple[Floats, ...]:
        """Return slopes, offset and gap of the upper (1) or lower (-1) bound, best in the middle.

        The candidates are the bound by the Lipschitz constant, and the given slopes.
        """
        lipschitz = self._chord if sign > 0 else 1 - self._chord
        candidates = [self._with_offset(sign, self._zero, lipschitz)]
        candidates.append(self._with_offset(sign, *other))
        z, change = self._middle
        one, two = (sign * (p * z + q * change + r) for p, q, r, _ in candidates)
        is_better = two < one
        return tuple(np.where(is_better, b, a) for a, b in zip(*candidates, strict=True))

    def narrowest(self, ours: Floats, theirs: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return slopes p and q, and middle and reach of the narrowest band around d.

        The slopes given belong to the chords of max(z, 0) and of max(z + D, 0).
        """
        half = np.full_like(ours, 0.5)
        crosses = (self._chord > 0) & (self._chord < 1)
        candidates = [
            (self._zero, half),
            (self._zero, np.where(crosses, self._chord, half)),
            (theirs - ours, theirs),
            (self._zero, theirs),
        ]
        bands = np.stack([np.stack(self._band(p, q)) for p, q in candidates])
        best = (bands[:, 1] - bands[:, 0]).argmin(axis=0)[None]
        p, q = (np.take_along_axis(np.stack(s), best, 0)[0] for s in zip(*candidates, strict=True))
        low, high = (np.take_along_axis(bands[:, i], best, 0)[0] for i in (0, 1))
        return p, q, (low + high) / 2, (high - low) / 2

    def _band(self, p: Floats, q: Floats) -> tuple[Floats, Floats]:
        rest = self._d - p * self._z - q * self._change
        return rest.min(axis=0), rest.max(axis=0)

    def _with_offset(self, sign: int, p: Floats, q: Floats) -> tuple[Floats, ...]:
        low, high = self._band(p, q)
        return p, q, high if sign > 0 else low, high - low


def _changes(z: Floats, change: Floats, is_on: Mask, is_off: Mask) -> Floats:
    """Return σ(z + D) - σ(z) without cancellation, where signs of z + D may be known."""
    y = z + change
    positive = np.where(is_on, change, np.maximum(change, -z))
    unknown = np.where(z >= 0, positive, np.where(is_on, y, np.maximum(y, 0)))
    return np.where(is_off, -np.maximum(z, 0), unknown)
