"""Bounds of rows of outputs on many boxes at a time, from the bounds on the boxes around them.

The bounds of all neurons on a box also hold on its parts, so that only neurons that are open, that
is without a known sign, are bounded again there. Rows of outputs are bounded twice: with the joint
relaxation of both networks, and with each neuron relaxed alone; the better bound counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from polyrelu.proofs.deviation.backward import AffineBound, Boxes, bound_alone, bound_pair
from polyrelu.proofs.deviation.float_pair import FloatPair, Floats
from polyrelu.proofs.deviation.relaxations import PairRelaxation, Range, Relaxation

__all__ = ["BoxBounds", "LayerRanges", "bound_boxes", "unknown_ranges"]


@dataclass(slots=True)
class LayerRanges:
    """Bounds of a layer: z of f, y of g, and the change y - z; only z for one network."""

    z: Range
    y: Range | None
    change: Range | None

    def take(self, boxes: NDArray[np.intp]) -> LayerRanges:
        """Return the bounds on chosen boxes."""
        if self.y is None or self.change is None:
            return LayerRanges(self.z.take(boxes), None, None)
        return LayerRanges(self.z.take(boxes), self.y.take(boxes), self.change.take(boxes))

    @classmethod
    def joined(cls, parts: Sequence[LayerRanges]) -> LayerRanges:
        """Return the bounds on the boxes of several steps, one after the other."""

        def one(ranges: Sequence[Range | None]) -> Range | None:
            """Return the bounds of one kind, None if there are none."""
            known = [r for r in ranges if r is not None]
            if not known:
                return None
            low, high = ([getattr(r, end) for r in known] for end in ("low", "high"))
            return Range(np.concatenate(low), np.concatenate(high))

        z = one([part.z for part in parts])
        assert z is not None
        return cls(z, one([part.y for part in parts]), one([part.change for part in parts]))

    def copy(self) -> LayerRanges:
        """Return a copy."""
        if self.y is None or self.change is None:
            return LayerRanges(self.z.copy(), None, None)
        return LayerRanges(self.z.copy(), self.y.copy(), self.change.copy())


@dataclass(slots=True)
class BoxBounds:
    """Bounds of rows of outputs on boxes.

    Attributes
    ----------
    upper
        Upper bounds of the rows, shape (boxes, rows).
    joint, alone
        The bounds by the joint relaxation (infinite if it was not asked for) and by relaxations of
        single neurons, of which `upper` is the smaller one.
    slope
        The linear part of the bound that was better, shape (boxes, rows, n_0).
    ranges
        The bounds of all layers, for the parts of the boxes.
    losses
        Losses of the better relaxation for each hidden layer, from the first one on.
    sensitivities
        Absolute slopes of the preactivations in the inputs, shape (boxes, neurons, n_0).
    """

    upper: Floats
    joint: Floats
    alone: Floats
    slope: Floats
    ranges: list[LayerRanges]
    losses: list[Floats]
    sensitivities: list[Floats]


def unknown_ranges(pair: FloatPair, num_boxes: int) -> list[LayerRanges]:
    """Return bounds that say nothing."""

    def ranges(layer: int) -> LayerRanges:
        """Return the bounds of one layer."""
        z = Range.unknown(num_boxes, pair.widths[layer], pair.dtype)
        if pair.is_single:
            return LayerRanges(z, None, None)
        width = len(pair.other_biases[layer])
        return LayerRanges(z, *(Range.unknown(num_boxes, width, pair.dtype) for _ in range(2)))

    return [ranges(layer) for layer in range(pair.depth)]


def bound_boxes(
    pair: FloatPair, boxes: Boxes, known: Sequence[LayerRanges], is_joint: bool = True
) -> BoxBounds:
    """Bound all rows of outputs on boxes.

    Parameters
    ----------
    pair
        Both networks with the rows.
    boxes
        The boxes.
    known
        Bounds of each layer that hold already.
    is_joint
        Whether the joint relaxation is used; never for one network.
    """
    passes = _Pass(pair, boxes, is_joint and not pair.is_single)
    for ranges in known:
        passes.add_layer(ranges.copy())
    return passes.rows()


@dataclass(slots=True)
class _Pass:
    """Bounds of layer after layer."""

    pair: FloatPair
    boxes: Boxes
    is_joint: bool
    ranges: list[LayerRanges] = field(default_factory=list)
    sensitivities: list[Floats] = field(default_factory=list)
    ours: list[Relaxation] = field(default_factory=list)
    theirs: list[Relaxation] = field(default_factory=list)
    joint: list[tuple[Relaxation, PairRelaxation]] = field(default_factory=list)

    def add_layer(self, ranges: LayerRanges) -> None:
        """Bound the open neurons of the next layer, and relax them."""
        if not self.ranges:
            self._bound_first(ranges)
        else:
            self._bound_open(ranges)
        partner = self._tighten(ranges)
        self.ranges.append(ranges)
        self.ours.append(Relaxation(ranges.z))
        if ranges.y is not None:
            self.theirs.append(Relaxation(ranges.y))
            if self.is_joint and ranges.change is not None:
                relaxed = PairRelaxation(partner, ranges.y, ranges.change)
                self.joint.append((self.ours[-1], relaxed))

    def _tighten(self, ranges: LayerRanges) -> Range:
        """Let each of the three bounds follow from the others; return the partners' bounds."""
        z, y, change = ranges.z, ranges.y, ranges.change
        if y is None or change is None:
            return z
        place = len(self.ranges)
        partner = Range(*(self.pair.of_partners(place, values) for values in (z.low, z.high)))
        change.cut(y.low - partner.high, y.high - partner.low)
        partner.cut(y.low - change.high, y.high - change.low)
        y.cut(partner.low + change.low, partner.high + change.high)
        return partner

    def _bound_first(self, ranges: LayerRanges) -> None:
        """Bound the first layer, which is affine in x."""
        pair, middle, radius = self.pair, self.boxes.middle, self.boxes.radius

        def cut(known: Range, weight: Floats, bias: Floats) -> None:
            """Intersect bounds with the ranges of affine functions."""
            centre, width = middle @ weight.T + bias, radius @ np.abs(weight).T
            known.cut(centre - width, centre + width)

        cut(ranges.z, pair.weights[0], pair.biases[0])
        if ranges.y is not None and ranges.change is not None:
            cut(ranges.y, pair.other_weights[0], pair.other_biases[0])
            cut(ranges.change, pair.weight_changes[0], pair.bias_changes[0])
        shape = (len(self.boxes), *pair.weights[0].shape)
        self.sensitivities.append(np.broadcast_to(np.abs(pair.weights[0]), shape))

    def _bound_open(self, ranges: LayerRanges) -> None:
        """Bound the open neurons of a later layer backwards."""
        pair, m = self.pair, len(self.ranges)
        ours, theirs = self._open_neurons(ranges)
        found = np.zeros((len(self.boxes), pair.widths[m], pair.num_inputs), pair.dtype)
        self.sensitivities.append(found)
        if ours.shape[1]:
            weight, bias = _signed(pair.weights[m], ours), _signed(pair.biases[m], ours)
            z = bound_alone(pair.weights[:m], pair.biases[:m], self.ours, weight, bias)
            self._cut(ranges.z, ours, z)
            slope = np.abs(z.slope[:, : ours.shape[1]])
            np.put_along_axis(found, ours[:, :, None], slope, axis=1)
        if ranges.y is None or ranges.change is None or not theirs.shape[1]:
            return
        weight = _signed(pair.other_weights[m], theirs)
        bias = _signed(pair.other_biases[m], theirs)
        before = pair.other_weights[:m], pair.other_biases[:m]
        self._cut(ranges.y, theirs, bound_alone(*before, self.theirs, weight, bias))
        if self.is_joint:
            change = _signed(pair.weight_changes[m], theirs)
            bias = _signed(pair.bias_changes[m], theirs)
            self._cut(ranges.change, theirs, bound_pair(pair, self.joint, change, weight, bias))

    def _open_neurons(self, ranges: LayerRanges) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return neurons of f and of g that are open, or whose partners are; for each box."""
        is_open = ~ranges.z.is_stable
        if ranges.y is None:
            return _padded(is_open), _padded(is_open[:, :0])
        place = len(self.ranges)
        theirs = ~ranges.y.is_stable
        touched = self.pair.to_partners(place, theirs[:, None].astype(self.pair.dtype))[:, 0] > 0
        theirs = theirs | (self.pair.of_partners(place, is_open.astype(self.pair.dtype)) > 0)
        return _padded(is_open | touched), _padded(theirs)

    def _cut(self, known: Range, chosen: NDArray[np.intp], bound: AffineBound) -> None:
        """Intersect bounds of chosen neurons with new ones, of both signs."""
        limits, number = bound.maximum(self.boxes), chosen.shape[1]
        _cut_at(known.high, chosen, limits[:, :number], np.minimum)
        _cut_at(known.low, chosen, -limits[:, number:], np.maximum)

    def rows(self) -> BoxBounds:
        """Bound the rows of outputs."""
        alone = self._rows_alone()
        upper = alone_upper = alone.maximum(self.boxes)
        joint_upper, slope, losses = np.full_like(upper, np.inf), alone.slope, alone.losses
        if self.is_joint:
            rows = self.pair.rows
            functionals = self._copies(rows.joint), self._copies(rows.on_g)
            joint = bound_pair(
                self.pair, self.joint, *functionals, self._copies(rows.constant), with_losses=True
            )
            joint.slope = joint.slope + rows.on_x
            joint_upper = joint.maximum(self.boxes)
            upper = np.minimum(alone_upper, joint_upper)
            is_joint = (joint_upper < alone_upper)[:, :, None]
            slope = np.where(is_joint, joint.slope, slope)
            pairs = zip(joint.losses, losses, strict=True)
            losses = [np.where(is_joint, one, other) for one, other in pairs]
        return BoxBounds(
            upper, joint_upper, alone_upper, slope, self.ranges, losses[::-1], self.sensitivities
        )

    def _rows_alone(self) -> AffineBound:
        """Bound the rows with each neuron relaxed alone."""
        pair, rows = self.pair, self.pair.rows
        functional, constant = self._copies(rows.on_f), self._copies(rows.constant)
        ours = pair.weights, pair.biases, self.ours
        found = bound_alone(*ours, functional, constant, with_losses=True)
        if not pair.is_single:
            other, zero = self._copies(rows.on_g), np.zeros_like(constant)
            theirs = pair.other_weights, pair.other_biases, self.theirs
            more = bound_alone(*theirs, other, zero, with_losses=True)
            found.slope, found.constant = found.slope + more.slope, found.constant + more.constant
            layers = range(pair.depth - 1, -1, -1)
            pairs = zip(found.losses, more.losses, layers, strict=True)
            found.losses = [a + pair.to_partners(m, b) for a, b, m in pairs]
        found.slope = found.slope + rows.on_x
        return found

    def _copies(self, values: Floats) -> Floats:
        """Return an array once for each box."""
        return np.broadcast_to(values, (len(self.boxes), *values.shape))


def _padded(is_open: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the indices of open neurons, and of others up to the largest number of a box."""
    number = int(is_open.sum(axis=1).max(initial=0))
    return np.argsort(~is_open, axis=1, kind="stable")[:, :number]


def _signed(values: Floats, chosen: NDArray[np.intp]) -> Floats:
    """Return the values of chosen neurons, then their negatives."""
    return np.concatenate([values[chosen], -values[chosen]], axis=1)


def _cut_at(
    limits: Floats, chosen: NDArray[np.intp], values: Floats, better: Callable[..., Floats]
) -> None:
    """Replace limits of chosen neurons where the values are better."""
    old = np.take_along_axis(limits, chosen, axis=1)
    np.put_along_axis(limits, chosen, better(old, values), axis=1)
