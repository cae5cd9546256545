"""Bounds of rows of outputs on many boxes at a time, from the bounds on the boxes around them.

The bounds of all neurons on a box also hold on its parts, so that only neurons that are open, that
is without a known sign, are bounded again there. Rows of outputs are bounded twice: with the joint
relaxation of both networks, and with each neuron relaxed alone; the better bound counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.proofs.deviation.backward import AffineBound, Boxes, Places, bound_alone, bound_pair
from polyrelu.proofs.deviation.compiled_bounds import bounder_of
from polyrelu.proofs.deviation.float_pair import FloatPair, Floats
from polyrelu.proofs.deviation.half_spaces import HalfSpaces
from polyrelu.proofs.deviation.relaxations import Mask, PairRelaxation, Range, Relaxation

__all__ = ["BoxBounds", "KnownBounds", "bound_boxes"]

#: Neurons, or rows, of some boxes: the indices of the boxes, and of the neurons in them.
Chosen: TypeAlias = tuple[Places, NDArray[np.intp]]


@dataclass(slots=True)
class LayerRanges:
    """Bounds of a layer: z of f, y of g, and the change y - z; only z for one network."""

    z: Range
    y: Range | None
    change: Range | None


class KnownBounds:
    """Bounds of all neurons and rows on some boxes, side by side in a table.

    Attributes
    ----------
    table
        A row of numbers for each box.
    layers
        The bounds of each layer, as parts of the table.
    rows
        Upper bounds of the rows, as a part of the table.
    """

    __slots__ = ("layers", "rows", "table")

    def __init__(self, pair: FloatPair, table: Floats) -> None:
        self.table, self.layers = table, list[LayerRanges]()
        columns = iter(_columns(pair))
        for _ in range(pair.depth):
            z = self._range(next(columns))
            others = None if pair.is_single else self._range(next(columns))
            change = None if pair.is_single else self._range(next(columns))
            self.layers.append(LayerRanges(z, others, change))
        start, width = next(columns)
        self.rows: Floats = table[:, start : start + width]

    def _range(self, columns: tuple[int, int]) -> Range:
        start, width = columns
        low, high = (self.table[:, at : at + width] for at in (start, start + width))
        return Range(low, high)

    def num_open(self) -> NDArray[np.intp]:
        """Return on how many neurons of f, or of g, the sign is not known on each box."""
        counts = np.zeros((2, len(self.table)), dtype=np.intp)
        for layer in self.layers:
            for count, ranges in zip(counts, (layer.z, layer.y), strict=True):
                if ranges is not None:
                    count += (~ranges.is_stable).sum(axis=1)
        found: NDArray[np.intp] = counts.max(axis=0)
        return found

    @classmethod
    def unknown(cls, pair: FloatPair, num_boxes: int) -> KnownBounds:
        """Return bounds that say nothing."""
        *layers, (start, width) = _columns(pair)
        table = np.full((num_boxes, start + width), np.inf, pair.dtype)
        for at, number in layers:
            table[:, at : at + number] = -np.inf
        return cls(pair, table)

    @classmethod
    def joined(cls, pair: FloatPair, rows: list[Floats]) -> KnownBounds:
        """Return bounds from a row of a table for each box."""
        return cls(pair, np.stack(rows))


def _columns(pair: FloatPair) -> Iterator[tuple[int, int]]:
    """Yield the first column and the number of neurons of each kind of bound; at last the rows."""
    start = 0
    for m in range(pair.depth):
        width, other = pair.widths[m], len(pair.other_biases[m])
        for number in [width] if pair.is_single else [width, other, other]:
            yield start, number
            start += 2 * number
    yield start, len(pair.rows.constant)


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
    known
        All bounds, for the parts of the boxes.
    rows
        The rows that were bounded, box after box.
    slope
        The linear part of the better bound of each of them, shape (number, n_0).
    scores
        How much of the losses of the better relaxation every coordinate is responsible for, for
        each of them, shape (number, n_0).
    worst
        For each of them the open neuron that loses most, as a column of a table of signs; -1
        without one, shape (number,).
    is_open
        The boxes on which a neuron of either network has no known sign, shape (boxes,).
    """

    upper: Floats
    joint: Floats
    alone: Floats
    known: KnownBounds
    rows: Chosen
    slope: Floats
    scores: Floats
    worst: NDArray[np.intp]
    is_open: Mask

    def places(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the places of a row of each box in `rows`; of another one if it is not there."""
        places = np.full(self.upper.shape, -1, dtype=np.intp)
        places[self.rows] = np.arange(len(self.rows[0]))
        chosen = places[np.arange(len(places)), rows]
        found: NDArray[np.intp] = np.where(chosen >= 0, chosen, places.max(axis=1, initial=-1))
        return found

    def take(self, boxes: Sequence[int], pair: FloatPair) -> BoxBounds:
        """Return the bounds on some of the boxes."""
        chosen = list(boxes)
        numbers = np.full(len(self.upper), -1)
        numbers[chosen] = np.arange(len(chosen))
        kept = np.nonzero(numbers[self.rows[0]] >= 0)[0]
        order = kept[np.argsort(numbers[self.rows[0][kept]], kind="stable")]
        known = KnownBounds(pair, self.known.table[chosen])
        return BoxBounds(
            known.rows,
            self.joint[chosen],
            self.alone[chosen],
            known,
            (numbers[self.rows[0][order]], self.rows[1][order]),
            self.slope[order],
            self.scores[order],
            self.worst[order],
            self.is_open[chosen],
        )

    def split_scores(self, rows: NDArray[np.intp]) -> Floats:
        """Return how much every coordinate is responsible for losses of a row of each box.

        The shape is (boxes, n_0).
        """
        found: Floats = self.scores[self.places(rows)]
        return found


def bound_boxes(
    pair: FloatPair,
    boxes: Boxes,
    known: KnownBounds | None = None,
    wanted: Mask | None = None,
    is_joint: bool = True,
    signs: NDArray[np.int8] | None = None,
) -> BoxBounds:
    """Bound rows of outputs on boxes.

    Parameters
    ----------
    pair
        Both networks with the rows.
    boxes
        The boxes.
    known
        Bounds that hold already, which are replaced by better ones; none by default.
    wanted
        Which rows are bounded on each box, at least one, shape (boxes, rows); all by default. The
        others keep the bounds that are known.
    is_joint
        Whether the joint relaxation is used; never for one network.
    signs
        Signs of neurons: the bounds are about the part of each box where these are right. A row for
        each box has the neurons of f, then of g, layer by layer; 0 for none. None by default.
    """
    known = KnownBounds.unknown(pair, len(boxes)) if known is None else known
    chosen = np.ones(known.rows.shape, dtype=bool) if wanted is None else wanted
    core = bounder_of(pair)
    if core is not None:
        mask = chosen.astype(np.uint8)
        joint, alone, slope, scores, worst, is_open = core.bound(
            boxes.low, boxes.high, known.table, mask, is_joint, signs
        )
        rows = _chosen(chosen)
        found = slope, scores, worst.astype(np.intp), is_open.view(np.bool_)
        return BoxBounds(known.rows, joint, alone, known, rows, *found)
    passes = _Pass(pair, boxes, is_joint and not pair.is_single, signs)
    for ranges in known.layers:
        passes.add_layer(ranges)
    return passes.rows(known, _chosen(chosen))


@dataclass(slots=True)
class _Pass:
    """Bounds of layer after layer."""

    pair: FloatPair
    boxes: Boxes
    is_joint: bool
    signs: NDArray[np.int8] | None = None
    sensitivities: list[tuple[Chosen, Floats]] = field(default_factory=list)
    ours: list[Relaxation] = field(default_factory=list)
    theirs: list[Relaxation] = field(default_factory=list)
    joint: list[tuple[Relaxation, PairRelaxation]] = field(default_factory=list)
    sides: HalfSpaces | None = None
    width: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.width = self.boxes.high - self.boxes.low
        if self.signs is not None:
            self.sides = HalfSpaces(len(self.boxes), self.pair.num_inputs, self.pair.dtype)

    def add_layer(self, ranges: LayerRanges) -> None:
        """Bound the open neurons of the next layer, and relax them."""
        if not self.ours:
            self._bound_first(ranges)
        else:
            self._bound_open(ranges)
        self._set_signs(ranges)
        partner = self._tighten(ranges)
        self.ours.append(Relaxation(ranges.z))
        if ranges.y is not None:
            self.theirs.append(Relaxation(ranges.y))
            if self.is_joint and ranges.change is not None:
                relaxed = PairRelaxation(partner, ranges.y, ranges.change)
                self.joint.append((self.ours[-1], relaxed))

    def _signs_of(self, is_other: bool) -> NDArray[np.int8]:
        """Return the signs of neurons of the present layer, of f or of g."""
        assert self.signs is not None
        pair, m = self.pair, len(self.ours)
        others = [0 if pair.is_single else len(bias) for bias in pair.other_biases]
        start = sum(pair.widths[:m]) + sum(others[:m]) + (pair.widths[m] if is_other else 0)
        return self.signs[:, start : start + (others if is_other else pair.widths)[m]]

    def _set_signs(self, ranges: LayerRanges) -> None:
        """Let bounds follow from the signs, and make the boxes smaller."""
        if self.sides is None:
            return
        for is_other, known in enumerate((ranges.z, ranges.y)):
            if known is None:
                continue
            signs = self._signs_of(bool(is_other))
            np.maximum(known.low, 0, out=known.low, where=signs > 0)
            np.minimum(known.high, 0, out=known.high, where=signs < 0)
            self.sides.is_empty |= ((known.low > known.high) & (signs != 0)).any(axis=1)
        middle, radius = self.sides.shrunk(self.boxes.middle, self.boxes.radius)
        self.boxes = Boxes(middle - radius, middle + radius)

    def _note_sides(self, is_other: bool, chosen: Chosen, slope: Floats, constant: Floats) -> None:
        """Note half-spaces, by bounds of chosen neurons and of their negatives."""
        if self.sides is None:
            return
        given, number = self._signs_of(is_other)[chosen], len(chosen[0])
        for i in np.nonzero(given)[0].tolist():
            at = i if given[i] > 0 else number + i
            self.sides.add(int(chosen[0][i]), slope[at], float(constant[at]))

    def _tighten(self, ranges: LayerRanges) -> Range:
        """Let each of the three bounds follow from the others; return the partners' bounds."""
        z, y, change = ranges.z, ranges.y, ranges.change
        if y is None or change is None:
            return z
        place = len(self.ours)
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
        ours, theirs = self._open_neurons(ranges)
        tables = pair.weights[0], pair.biases[0]
        self._note_sides(False, ours, *(_signed(table, ours) for table in tables))
        tables = pair.other_weights[0], pair.other_biases[0]
        self._note_sides(True, theirs, *(_signed(table, theirs) for table in tables))
        self.sensitivities.append((ours, np.abs(pair.weights[0][ours[1]])))

    def _bound_open(self, ranges: LayerRanges) -> None:
        """Bound the open neurons of a later layer backwards."""
        pair, m = self.pair, len(self.ours)
        ours, theirs = self._open_neurons(ranges)
        z = self._bound_alone(pair.weights, pair.biases, self.ours, ours)
        self._cut(ranges.z, ours, z)
        self._note_sides(False, ours, z.slope, z.constant)
        self.sensitivities.append((ours, np.abs(z.slope[: len(ours[0])])))
        if ranges.y is None or ranges.change is None or not len(theirs[0]):
            return
        y = self._bound_alone(pair.other_weights, pair.other_biases, self.theirs, theirs)
        self._cut(ranges.y, theirs, y)
        self._note_sides(True, theirs, y.slope, y.constant)
        if self.is_joint:
            on_a = _signed(pair.weight_changes[m], theirs)
            on_d = _signed(pair.other_weights[m], theirs)
            constant = _signed(pair.bias_changes[m], theirs)
            found = bound_pair(pair, self.joint, _twice(theirs), on_a, on_d, constant)
            self._cut(ranges.change, theirs, found)

    def _bound_alone(
        self,
        weights: list[Floats],
        biases: list[Floats],
        relaxations: list[Relaxation],
        chosen: Chosen,
    ) -> AffineBound:
        """Bound neurons of one network, and their negatives."""
        m = len(relaxations)
        functional, constant = _signed(weights[m], chosen), _signed(biases[m], chosen)
        before = weights[:m], biases[:m], relaxations
        return bound_alone(*before, _twice(chosen), functional, constant)

    def _open_neurons(self, ranges: LayerRanges) -> tuple[Chosen, Chosen]:
        """Return neurons of f and of g that are open, or whose partners are."""
        is_open = ~ranges.z.is_stable
        has_sign = is_open & False if self.signs is None else self._signs_of(False) != 0
        if ranges.y is None:
            return _chosen(is_open | has_sign), _chosen(is_open[:, :0])
        place = len(self.ours)
        theirs = ~ranges.y.is_stable
        touched = self.pair.to_partners(place, theirs.astype(self.pair.dtype)) > 0
        theirs = theirs | (self.pair.of_partners(place, is_open.astype(self.pair.dtype)) > 0)
        if self.signs is not None:
            theirs = theirs | (self._signs_of(True) != 0)
        return _chosen(is_open | touched | has_sign), _chosen(theirs)

    def _cut(self, known: Range, chosen: Chosen, bound: AffineBound) -> None:
        """Intersect bounds of chosen neurons with new ones, of both signs."""
        number = len(chosen[0])
        limits = bound.maximum(self.boxes, _twice(chosen), self.sides)
        known.high[chosen] = np.minimum(known.high[chosen], limits[:number])
        known.low[chosen] = np.maximum(known.low[chosen], -limits[number:])

    def rows(self, known: KnownBounds, chosen: Chosen) -> BoxBounds:
        """Bound chosen rows of outputs."""
        place, number = chosen
        found = self._rows_alone(chosen)
        alone, joint = known.rows.copy(), known.rows.copy()
        better = alone[chosen] = found.maximum(self.boxes, place, self.sides)
        joint[chosen] = np.inf
        if self.is_joint:
            rows = self.pair.rows
            functionals = rows.joint[number], rows.on_g[number], rows.constant[number]
            other = bound_pair(self.pair, self.joint, place, *functionals, with_losses=True)
            other.slope += rows.on_x[number]
            joint[chosen] = bounds = other.maximum(self.boxes, place, self.sides)
            is_joint = (bounds < better)[:, None]
            found.slope = np.where(is_joint, other.slope, found.slope)
            pairs = zip(other.losses, found.losses, strict=True)
            found.losses = [np.where(is_joint, one, two) for one, two in pairs]
            better = np.minimum(bounds, better)
        if self.sides is not None:
            better = np.where(self.sides.is_empty[place], -np.inf, better)
        known.rows[chosen] = np.minimum(known.rows[chosen], better)
        losses = found.losses[::-1]
        return BoxBounds(
            known.rows,
            joint,
            alone,
            known,
            chosen,
            found.slope,
            self._scores(known, place, losses),
            self._worst_signs(known, place, losses),
            self._has_open(known),
        )

    def _worst_signs(
        self, known: KnownBounds, place: Places, losses: list[Floats]
    ) -> NDArray[np.intp]:
        """Return the open neurons that lose most of functionals, see `BoxBounds.worst`."""
        columns = list[Floats]()
        for m, (lost, ranges) in enumerate(zip(losses, known.layers, strict=True)):
            is_open = ~ranges.z.is_stable[place]
            columns.append(np.where(is_open, lost, 0))
            if ranges.y is not None:
                partners = self.pair.of_partners(m, np.where(is_open, 0, lost))
                columns.append(np.where(ranges.y.is_stable[place], 0, partners))
        if not columns:
            return np.full(len(place), -1)
        table = np.concatenate(columns, axis=1).astype(np.float32)  # roundings decide nothing
        return np.where(table.max(axis=1, initial=0) > 0, table.argmax(axis=1), -1)

    def _scores(self, known: KnownBounds, place: Places, losses: list[Floats]) -> Floats:
        """Divide losses of functionals on the boxes at `place` among the coordinates."""
        width = self.width
        scores = 1e-12 * width[place]
        for lost, ((boxes, neurons), sensitivity), ranges in zip(
            losses, self.sensitivities, known.layers, strict=True
        ):
            parts = sensitivity * width[boxes]
            # What the inputs do not explain comes from losses of layers before.
            total = np.maximum(parts.sum(axis=1), ranges.z.width[boxes, neurons])
            shares = np.zeros((len(width), lost.shape[1], width.shape[1]), width.dtype)
            shares[boxes, neurons] = parts / np.where(total > 0, total, 1)[:, None]
            scores += np.einsum("fn,fnk->fk", lost, shares[place])
        return scores

    def _has_open(self, known: KnownBounds) -> Mask:
        """Return the boxes on which a neuron of either network has no known sign."""
        ranges = [r for layer in known.layers for r in (layer.z, layer.y) if r is not None]
        found: Mask = np.zeros(len(self.boxes), dtype=bool)
        for each in ranges:
            found |= (~each.is_stable).any(axis=1)
        return found

    def _rows_alone(self, chosen: Chosen) -> AffineBound:
        """Bound rows with each neuron relaxed alone."""
        pair, rows, (place, number) = self.pair, self.pair.rows, chosen
        functional, constant = rows.on_f[number], rows.constant[number]
        ours = pair.weights, pair.biases, self.ours
        found = bound_alone(*ours, place, functional, constant, with_losses=True)
        if not pair.is_single:
            other, zero = rows.on_g[number], np.zeros_like(constant)
            theirs = pair.other_weights, pair.other_biases, self.theirs
            more = bound_alone(*theirs, place, other, zero, with_losses=True)
            found.slope, found.constant = found.slope + more.slope, found.constant + more.constant
            layers = range(pair.depth - 1, -1, -1)
            pairs = zip(found.losses, more.losses, layers, strict=True)
            found.losses = [a + pair.to_partners(m, b) for a, b, m in pairs]
        found.slope = found.slope + rows.on_x[number]
        return found


def _chosen(mask: Mask) -> Chosen:
    """Return the places of a mask of shape (boxes, neurons)."""
    place, neurons = np.nonzero(mask)
    return place, neurons


def _signed(values: Floats, chosen: Chosen) -> Floats:
    """Return the values of chosen neurons, then their negatives."""
    found = values[chosen[1]]
    return np.concatenate([found, -found])


def _twice(chosen: Chosen) -> Places:
    """Return the boxes of chosen neurons, then once more for their negatives."""
    return np.concatenate([chosen[0], chosen[0]])
