"""Intervals of neurons on a node that begin with the ones of a node above: `intervals`."""

from __future__ import annotations

from collections.abc import Sequence

from polyrelu.checking.backward import BackwardRows, relu_layer
from polyrelu.checking.boxes import KeptIntervals
from polyrelu.checking.forms import (
    FormList,
    InputForms,
    Interval,
    PairEnds,
    SignCuts,
    cut_by_sign,
    intersection,
    nonempty,
    sign_of,
)
from polyrelu.checking.grid import GridLayer
from polyrelu.checking.joint import JointBackwardForms, consistent
from polyrelu.checking.meter import cells_of, longest

# -- Inherited intervals


class InheritedForms(JointBackwardForms):
    """The intervals of a leaf `inherited` or a record `intervals`, with forms of layer 1 only.

    `above` has the intervals that are inherited. A neuron whose sign follows from them, and a pair
    with two such neurons, gets no further bounds.
    """

    def __init__(
        self,
        inputs: InputForms,
        count: int,
        grid: int,
        slot: int,
        rows: BackwardRows,
        above: KeptIntervals,
    ) -> None:
        super().__init__(inputs, count, grid, slot, rows)
        self.above = above

    def run(self, layers: Sequence[GridLayer], cuts: SignCuts) -> None:
        """Find the intervals of all layers, from the forms of the first one."""
        z, d = self.forms_of(layers[0])
        self.see(1, layers[0], z, d)
        for number, layer in enumerate(layers, 1):
            if layer.is_hidden:
                self.bound_layer(number, layer, z, d, cuts)

    def bound_layer(
        self, number: int, layer: GridLayer, z: FormList, d: FormList, cuts: SignCuts
    ) -> None:
        """Find the intervals of a layer; `z` and `d` are the forms of the first one."""
        self.meter.units(4_000 * (len(layer.bias) + len(layer.partners) + 2))
        ends, pairs = list[Interval](), list[PairEnds]()
        for i in range(len(layer.bias)):
            ends.append(self.bounded(0, number, i, self.given(number, i, z), cuts))
            self.meter.hold(cells_of(6, longest(ends[-1:])))
        for m, place in enumerate(layer.partners):
            own = ends[place] if place >= 0 else (0, 0)
            pairs.append((own, *self.pair(number, m, own, self.given_pair(number, m, z, d), cuts)))
            self.meter.hold(cells_of(15, longest(pairs[-1])))
        self.ends.append(ends)
        self.pair_ends.append(pairs)
        self.relus[0].append(relu_layer(ends))
        self.relus[1].append(relu_layer([y for _, _, y in pairs]))
        self.add_lines(layer)

    def given(self, number: int, i: int, z: FormList) -> Interval | None:
        """What is known of a neuron of f without bounds: by its form, and inherited."""
        known = self.above.ends[number - 1][i] if self.above.ends else None
        if number > 1:
            return known
        return narrower(around(z.centers[i], self.packing.radius(z.packed[i]) + z.error), known)

    def given_pair(
        self, number: int, m: int, z: FormList, d: FormList
    ) -> tuple[Interval, Interval] | None:
        """The same for the difference of a neuron of g from its partner, and for the neuron."""
        known = self.above.pair_ends[number - 1][m][1:] if self.above.ends else None
        if number > 1:
            return known
        radius, place, center, packed = self.packing.radius, self.places[m], 0, 0
        if place >= 0:
            center, packed = z.centers[place], z.packed[place]
        change = around(d.centers[m], radius(d.packed[m]) + d.error)
        reach = radius(d.packed[m] + packed) + z.error + d.error
        y = around(d.centers[m] + center, reach)
        if known is None:
            return change, y
        return intersection(change, known[0]), intersection(y, known[1])

    def bounded(
        self, which: int, number: int, index: int, given: Interval | None, cuts: SignCuts
    ) -> Interval:
        """The interval of a neuron, with backward bounds if it is unknown, or open in later layers.

        Unknown are only intervals of later layers.
        """
        side = cuts.get((which, number, index), 0)
        ends = None if given is None else cut_by_sign(given, side)
        if ends is None or (number > 1 and not sign_of(ends)):
            ends = cut_by_sign(narrower(self.bounds(which, number, index), ends), side)
        return nonempty(ends)

    def pair(
        self,
        number: int,
        m: int,
        own: Interval,
        given: tuple[Interval, Interval] | None,
        cuts: SignCuts,
    ) -> tuple[Interval, Interval]:
        """The intervals of the difference and of a neuron of g, given its partner's interval."""
        if given is None:
            y = self.bounded(1, number, m, None, cuts)
            return consistent(own, self.bounds_of_change(number, m), y)
        change, y = given
        y = cut_by_sign(y, cuts.get((1, number, m), 0))
        y = nonempty(narrower(y, (own[0] + change[0], own[1] + change[1])))
        y = self.bounded(1, number, m, y, cuts)
        if number > 1 and not (sign_of(own) and sign_of(y)):
            change = narrower(change, self.bounds_of_change(number, m))
        return consistent(own, change, y)


def around(center: int, reach: int) -> Interval:
    """The interval around a center."""
    return center - reach, center + reach


def narrower(one: Interval, two: Interval | None) -> Interval:
    """What an interval has in common with another one, if there is one."""
    return one if two is None else intersection(one, two)
