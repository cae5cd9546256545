"""The fixed rule of certificates of bounds (FORMAT.md §5.8) in floats, for many boxes at a time.

Only the roundings and the errors of the rule are left out. The search uses it as a guess of which
boxes the rule in integers accepts, since that takes much longer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyrelu.proofs.deviation.backward import Boxes
from polyrelu.proofs.deviation.float_pair import FloatPair, Floats
from polyrelu.proofs.deviation.relaxations import Corners, Range, Relaxation

__all__ = ["row_bounds"]


@dataclass(slots=True)
class _Forms:
    """Forms: centers, shape (boxes, neurons), and coefficients (boxes, neurons, generators)."""

    center: Floats
    coefficients: Floats

    @classmethod
    def product(cls, weight: Floats, forms: _Forms) -> _Forms:
        """Return the forms of rows of weights."""
        return cls(forms.center @ weight.T, np.matmul(weight, forms.coefficients))

    def __add__(self, other: _Forms) -> _Forms:
        return _Forms(self.center + other.center, self.coefficients + other.coefficients)

    def range(self) -> Range:
        """Return the least and largest values."""
        radius = np.abs(self.coefficients).sum(axis=2)
        return Range(self.center - radius, self.center + radius)

    def scaled(self, factors: Floats) -> _Forms:
        """Return the forms times a factor for each neuron."""
        return _Forms(self.center * factors, self.coefficients * factors[:, :, None])

    def grown(self, number: int) -> _Forms:
        """Return the forms with more generators, of coefficient 0."""
        boxes, neurons, _ = self.coefficients.shape
        zeros = np.zeros((boxes, neurons, number), self.coefficients.dtype)
        return _Forms(self.center, np.concatenate([self.coefficients, zeros], axis=2))


def row_bounds(pair: FloatPair, boxes: Boxes) -> Floats:
    """Return upper bounds of the rows of two networks on boxes, shape (boxes, rows)."""
    inputs = _Forms(boxes.middle, boxes.radius[:, :, None] * np.eye(pair.num_inputs))
    a, change = inputs, None
    for m in range(pair.depth):
        a, change = _layer(pair, m, a, change)
    return _rows(pair, inputs, a, change)


def _rows(pair: FloatPair, inputs: _Forms, a: _Forms, change: _Forms | None) -> Floats:
    """Return upper bounds of all rows, given the forms of the last activations and differences."""
    rows = pair.rows
    found = _Forms.product(rows.joint, a)
    if change is not None:
        found += _Forms.product(rows.on_g, change)
    on_x = _Forms.product(rows.on_x, inputs)
    found += on_x.grown(a.coefficients.shape[2] - pair.num_inputs)
    return found.range().high + rows.constant


def _layer(
    pair: FloatPair, m: int, a: _Forms, change: _Forms | None
) -> tuple[_Forms, _Forms | None]:
    """Return the forms of activations of f, and of the differences of partners."""
    z = _Forms.product(pair.weights[m], a)
    z.center += pair.biases[m]
    ours = z.range()
    if pair.is_single:
        values, new = _activated(z, ours)
        return _with_generators(values, new), None
    D = _Forms.product(pair.weight_changes[m], a)
    if change is not None:
        D += _Forms.product(pair.other_weights[m], change)
    D.center += pair.bias_changes[m]
    partner = _partners(pair, m, z)
    partner_range, theirs, moved = partner.range(), (partner + D).range(), D.range()
    moved.cut(theirs.low - partner_range.high, theirs.high - partner_range.low)
    values, new = _activated(z, ours)
    is_last = m == pair.depth - 1
    differences, more = _changed(partner, D, partner_range, theirs, moved, is_last)
    size = values.coefficients.shape[2]
    values = _with_generators(values, new)
    differences = _with_generators(differences.grown(values.coefficients.shape[2] - size), more)
    extra = differences.coefficients.shape[2] - values.coefficients.shape[2]
    return values.grown(extra), differences


def _partners(pair: FloatPair, m: int, forms: _Forms) -> _Forms:
    """Return the forms of the partners, 0 without one."""
    center = pair.of_partners(m, forms.center)
    coefficients = pair.of_partners(m, forms.coefficients.swapaxes(1, 2)).swapaxes(1, 2)
    return _Forms(center, coefficients)


def _activated(z: _Forms, ends: Range) -> tuple[_Forms, Floats]:
    """Return the forms of max(z, 0), and the coefficients of new generators."""
    relaxed = Relaxation(ends)
    half = relaxed.offset / 2
    found = z.scaled(relaxed.upper_slope)
    found.center += half
    return found, half


def _changed(
    z: _Forms, D: _Forms, ends: Range, theirs: Range, moved: Range, is_last: bool
) -> tuple[_Forms, Floats]:
    """Return the forms of the differences of partners, and the coefficients of new generators."""
    is_on, other_on = ends.low >= 0, theirs.low >= 0
    q = other_on.astype(z.center.dtype)
    p = q - is_on
    middle, reach = np.zeros_like(q), np.zeros_like(q)
    place = np.nonzero(~(ends.is_stable & theirs.is_stable))
    if len(place[0]):
        known = other_on[place], (theirs.high <= 0)[place]
        corners = Corners(ends.at(place), moved.at(place), *known)
        slopes = Relaxation(ends).upper_slope[place], Relaxation(theirs).upper_slope[place]
        band = corners.narrowest(*slopes)
        for part, values in zip((p, q, middle, reach), band, strict=True):
            part[place] = values
    if not is_last:
        differs = is_on & (theirs.high <= 0) | (ends.high <= 0) & other_on
        differs &= ~(is_on & other_on) & (moved.high - moved.low < ends.high - ends.low)
        p[differs], q[differs] = 0, 0.5
        reach[differs] = np.maximum(-moved.low, moved.high)[differs] / 2
    found = z.scaled(p) + D.scaled(q)
    found.center += middle
    return found, reach


def _with_generators(forms: _Forms, new: Floats) -> _Forms:
    """Return forms with a generator for each coefficient of a box that is not 0."""
    is_new: NDArray[np.bool_] = new != 0
    number = int(is_new.sum(axis=1).max(initial=0))
    found = forms.grown(number)
    box, neuron = np.nonzero(is_new)
    place = (np.cumsum(is_new, axis=1) - 1)[box, neuron]
    start = forms.coefficients.shape[2]
    found.coefficients[box, neuron, start + place] = new[box, neuron]
    return found
