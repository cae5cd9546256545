"""The fixed rule of certificates of bounds (FORMAT.md §5.8) in floats, for many boxes at a time.

Only the roundings and the errors of the rule are left out. The search uses it as a guess of which
boxes the rule in integers accepts, since that takes much longer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyrelu.proofs.deviation.backward import AffineBound, Boxes, Places, bound_alone
from polyrelu.proofs.deviation.float_pair import FloatPair, Floats
from polyrelu.proofs.deviation.relaxations import Corners, Range, Relaxation

__all__ = ["backward_row_bounds", "row_bounds"]


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
    return _FormRun(pair, boxes).row_bounds()


def backward_row_bounds(pair: FloatPair, boxes: Boxes) -> Floats:
    """Return the same as leaves `backward` have them."""
    return _BackwardRun(pair, boxes).row_bounds()


class _FormRun:
    """Forms of all layers on boxes."""

    def __init__(self, pair: FloatPair, boxes: Boxes) -> None:
        self.pair, self.boxes = pair, boxes
        self.inputs = _Forms(boxes.middle, boxes.radius[:, :, None] * np.eye(pair.num_inputs))

    def row_bounds(self) -> Floats:
        """Return upper bounds of the rows."""
        a, change = self.inputs, None
        for m in range(self.pair.depth):
            a, change = self._layer(m, a, change)
        return _rows(self.pair, self.inputs, a, change)

    def _layer(self, m: int, a: _Forms, change: _Forms | None) -> tuple[_Forms, _Forms | None]:
        """Return the forms of activations of f, and of the differences of partners."""
        pair = self.pair
        z = _Forms.product(pair.weights[m], a)
        z.center += pair.biases[m]
        ours = self._narrowed(m, 0, z.range())
        values, new = _activated(z, ours)
        if pair.is_single:
            return _with_generators(values, new), None
        D = _Forms.product(pair.weight_changes[m], a)
        if change is not None:
            D += _Forms.product(pair.other_weights[m], change)
        D.center += pair.bias_changes[m]
        partner = _partners(pair, m, z)
        theirs, moved = (partner + D).range(), D.range()
        ends = Range(*(pair.of_partners(m, x) for x in (ours.low, ours.high)))
        theirs = self._narrowed_pairs(m, ends, moved, theirs)
        moved.cut(theirs.low - ends.high, theirs.high - ends.low)
        is_last = m == pair.depth - 1
        differences, more = _changed(partner, D, ends, theirs, moved, is_last)
        size = values.coefficients.shape[2]
        values = _with_generators(values, new)
        differences = _with_generators(differences.grown(values.coefficients.shape[2] - size), more)
        extra = differences.coefficients.shape[2] - values.coefficients.shape[2]
        return values.grown(extra), differences

    def _narrowed(self, m: int, which: int, ends: Range) -> Range:
        """Return the intervals of neurons."""
        return ends

    def _narrowed_pairs(self, m: int, ends: Range, moved: Range, theirs: Range) -> Range:
        """Return the intervals of neurons of g."""
        return theirs


class _BackwardRun(_FormRun):
    """The same with open neurons and rows bounded backwards too, each network for itself."""

    def __init__(self, pair: FloatPair, boxes: Boxes) -> None:
        super().__init__(pair, boxes)
        self.weights = pair.weights, pair.other_weights
        self.biases = pair.biases, pair.other_biases
        self.relaxed = list[Relaxation](), list[Relaxation]()

    def row_bounds(self) -> Floats:
        """Return upper bounds of the rows."""
        by_forms, rows = super().row_bounds(), self.pair.rows
        place, number = np.nonzero(np.ones(by_forms.shape, dtype=bool))
        found = self._bound(0, self.pair.depth, place, rows.on_f[number], rows.constant[number])
        if not self.pair.is_single:
            zero = np.zeros_like(found.constant)
            other = self._bound(1, self.pair.depth, place, rows.on_g[number], zero)
            found.slope, found.constant = found.slope + other.slope, found.constant + other.constant
        found.slope = found.slope + rows.on_x[number]
        bounds = found.maximum(self.boxes, place).reshape(by_forms.shape)
        return np.minimum(by_forms, bounds)

    def _bound(
        self, which: int, m: int, place: Places, functional: Floats, constant: Floats
    ) -> AffineBound:
        """Bound functionals of the activations before a layer."""
        before = self.weights[which][:m], self.biases[which][:m], self.relaxed[which]
        return bound_alone(*before, place, functional, constant)

    def _narrowed(self, m: int, which: int, ends: Range) -> Range:
        """Return the intervals of neurons, the open ones of later layers bounded backwards."""
        place, neurons = np.nonzero(~ends.is_stable)
        if m and len(place):
            weight, bias = self.weights[which][m][neurons], self.biases[which][m][neurons]
            twice = np.concatenate([place, place])
            functionals = np.concatenate([weight, -weight]), np.concatenate([bias, -bias])
            limits = self._bound(which, m, twice, *functionals).maximum(self.boxes, twice)
            above, below = np.split(limits, 2)
            ends.high[place, neurons] = np.minimum(ends.high[place, neurons], above)
            ends.low[place, neurons] = np.maximum(ends.low[place, neurons], -below)
        self.relaxed[which].append(Relaxation(ends))
        return ends

    def _narrowed_pairs(self, m: int, ends: Range, moved: Range, theirs: Range) -> Range:
        """Return the intervals of neurons of g, also by their partners."""
        theirs.cut(ends.low + moved.low, ends.high + moved.high)
        return self._narrowed(m, 1, theirs)


def _rows(pair: FloatPair, inputs: _Forms, a: _Forms, change: _Forms | None) -> Floats:
    """Return upper bounds of all rows, given the forms of the last activations and differences."""
    rows = pair.rows
    found = _Forms.product(rows.joint, a)
    if change is not None:
        found += _Forms.product(rows.on_g, change)
    on_x = _Forms.product(rows.on_x, inputs)
    found += on_x.grown(a.coefficients.shape[2] - pair.num_inputs)
    return found.range().high + rows.constant


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
