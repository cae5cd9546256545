"""Affine forms of activations and of differences on a box, by the fixed rule of section 5.8."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

from polyrelu.checking.grid import GridLayer, GridRows
from polyrelu.checking.meter import GROWN_BITS, Meter, cells_of, longest, well_formed
from polyrelu.checking.packing import Packing

# -- Forms on a box

#: Slopes are integers over 2^SLOPE.
SLOPE = 16
FULL = 1 << SLOPE
#: Bits of a slot beyond those that were needed when it was made.
SPARE_BITS = 24

Interval = tuple[int, int]
#: The intervals of the partner of a neuron of g, of the difference, and its own.
PairEnds = tuple[Interval, Interval, Interval]
#: Cuts by sign above a node: network, layer from 1, index, and the side.
SignCuts = dict[tuple[int, int, int], int]


class FormList(NamedTuple):
    """Forms with one error: centers and packed coefficients; `sizes` bound what they stand for.

    `largest` bounds all coefficients.
    """

    centers: list[int]
    packed: list[int]
    error: int
    sizes: list[int]
    largest: int


class Relaxed(NamedTuple):
    """A form p Z + q D over 2^SLOPE, what is added to its center, and a new coefficient."""

    p: int
    q: int
    added: int
    new: int


class EmptyNode(Exception):  # noqa: N818
    """No point of the box has the signs of a node."""


def sign_of(ends: Interval) -> int:
    """1 if never negative, -1 if never positive, 0 if open."""
    return 1 if ends[0] >= 0 else -1 if ends[1] <= 0 else 0


def intersection(one: Interval, two: Interval) -> Interval:
    """What two intervals have in common; the first end is the larger one if it is nothing."""
    return max(one[0], two[0]), min(one[1], two[1])


def nonempty(ends: Interval) -> Interval:
    """The interval of a neuron or of a difference; the node is empty if there is none."""
    if ends[0] > ends[1]:
        raise EmptyNode
    return ends


def cut_by_sign(ends: Interval, side: int) -> Interval:
    """The part of an interval with a sign; all of it if the side is 0."""
    low, high = ends
    return (max(low, 0), high) if side > 0 else (low, min(high, 0)) if side < 0 else ends


def slope_of(ends: Interval) -> int:
    """The slope of the chord of max(z, 0)."""
    low, high = ends
    return FULL if low >= 0 else 0 if high <= 0 else FULL * high // (high - low)


def relaxed_neuron(ends: Interval) -> Relaxed:
    """max(z, 0) of an open neuron lies in s z + [0, 2 w]."""
    slope = slope_of(ends)
    gap = max(-slope * ends[0], (FULL - slope) * ends[1])
    half = -(-gap >> SLOPE + 1)
    return Relaxed(slope, 0, half, half)


def nearest(x: int, ends: Interval) -> int:
    """The number in an interval that is next to x."""
    return min(max(x, ends[0]), ends[1])


def corners(z: Interval, d: Interval) -> list[tuple[int, int]]:
    """All vertices of the rectangle of z and D cut by z = 0 and z + D = 0."""
    zero = nearest(0, z)
    on_d = (z[0], z[1], zero, nearest(-d[0], z), nearest(-d[1], z))
    found = [(x, y) for y in d for x in on_d]
    return found + [(x, nearest(-x, d)) for x in (z[0], z[1], zero)]


def differences_at_corners(z: Interval, d: Interval, y: Interval) -> list[tuple[int, int, int]]:
    """The difference of max(z + D, 0) and max(z, 0) times FULL at all corners, with z and D."""
    sign = sign_of(y)
    return [
        (FULL * ((x + t if sign > 0 or (sign == 0 and x + t > 0) else 0) - max(x, 0)), x, t)
        for x, t in corners(z, d)
    ]


def relaxed_pair(z: Interval, d: Interval, y: Interval) -> Relaxed:
    """The difference of max(z + D, 0) and max(z, 0), with the narrowest band of all candidates."""
    upper, points = slope_of(y), differences_at_corners(z, d, y)
    candidates = [(0, FULL // 2), (upper - slope_of(z), upper), (0, upper)]
    if d[0] < 0 < d[1]:
        candidates.insert(1, (0, FULL * d[1] // (d[1] - d[0])))
    best, chosen = -1, Relaxed(0, 0, 0, 0)
    for p, q in candidates:
        values = [value - p * x - q * t for value, x, t in points]
        low, high = min(values), max(values)
        if best < 0 or high - low < best:
            best, middle = high - low, low + high >> SLOPE + 1
            reach = max(-(-high >> SLOPE) - middle, middle - (low >> SLOPE))
            chosen = Relaxed(p, q, middle, reach)
    return chosen


def decided(sign: int) -> Relaxed:
    """max(z, 0) of a neuron with a known sign."""
    return Relaxed(FULL if sign > 0 else 0, 0, 0, 0)


def decided_pair(z: Interval, d: Interval, y: Interval, is_last: bool) -> Relaxed:
    """The difference where both signs are known.

    The slopes are whole numbers times FULL; or the signs differ, and it lies between 0 and D.
    """
    s, t = sign_of(z), sign_of(y)
    if s != t and not is_last and d[1] - d[0] < z[1] - z[0]:
        return Relaxed(0, FULL // 2, 0, -(-max(-d[0], d[1]) // 2))
    return Relaxed(*decided_slopes(z, y), 0, 0)


def decided_slopes(z: Interval, y: Interval) -> tuple[int, int]:
    """The difference is p z + q D over FULL where both signs are known."""
    q = FULL if sign_of(y) > 0 else 0
    return q - FULL if sign_of(z) > 0 else q, q


class InputForms(NamedTuple):
    """The inputs: centers, for each the coefficients of some generators, one error and sizes."""

    centers: list[int]
    terms: list[list[tuple[int, int]]]
    error: int
    sizes: list[int]
    largest: int


class JointForms:
    """The forms of all layers on one node, made layer by layer.

    `values` are the forms of f, `differences` the forms of g minus f, `signs` the signs of the
    neurons of f and of g in each hidden layer, `ends` the intervals of the neurons of f, and
    `pair_ends` for each neuron of g the intervals of its partner, of the difference and its own.
    `kept` are the forms of neurons that were cut by sign: center, coefficients, error.
    """

    def __init__(self, inputs: InputForms, count: int, grid: int, slot: int, meter: Meter) -> None:
        self.inputs, self.grid, self.meter = inputs, grid, meter
        self.packing = Packing(slot, count)
        self.values: InputForms | FormList = inputs
        self.differences = FormList([], [], 0, [], 0)
        self.signs = list[tuple[list[int], list[int]]]()
        self.ends = list[list[Interval]]()
        self.pair_ends = list[list[PairEnds]]()
        self.kept = dict[tuple[int, int, int], tuple[int, list[int], int]]()
        self.new = list[tuple[int, int, int]]()  # which list, index, new coefficient
        self.num_hidden = 0

    def run(self, layers: Sequence[GridLayer], cuts: SignCuts) -> None:
        """Make the forms of all layers."""
        self.num_hidden = sum(layer.is_hidden for layer in layers)
        for number, layer in enumerate(layers, 1):
            z, d = self.forms_of(layer)
            self.values, self.differences = z, d
            self.see(number, layer, z, d)
            if layer.is_hidden:
                self.activate(number, layer, z, d, cuts)

    def forms_of(self, layer: GridLayer) -> tuple[FormList, FormList]:
        """The forms of the preactivations of a layer, and of their differences."""
        self.widen(layer)
        self.charge(layer)
        z = self.preactivations(layer.own, layer.bias, layer.is_bias_exact)
        others = layer.by_differences
        return z, self.preactivations(layer.by_values, layer.shift, layer.is_shift_exact, others)

    def see(self, number: int, layer: GridLayer, z: FormList, d: FormList) -> None:
        """Look at the forms of the preactivations of a layer, and of their differences."""

    def narrowed(self, which: int, number: int, index: int, ends: Interval) -> Interval:
        """The interval of a neuron, whose forms are all that is known about it."""
        return ends

    def narrowed_pair(
        self, number: int, index: int, z: Interval, d: Interval, y: Interval
    ) -> Interval:
        """The interval of a neuron of g, given the intervals of its partner and of the change."""
        return y

    def narrowed_change(
        self, number: int, index: int, z: Interval, d: Interval, y: Interval
    ) -> tuple[Interval, Interval]:
        """The intervals of the change and of a neuron of g, given its partner's interval too."""
        return d, y

    def charge(self, layer: GridLayer) -> None:
        """Pay for a layer, and hold its forms."""
        meter, n, m = self.meter, len(layer.own.rows), len(layer.partners)
        values, differences, slot = self.values, self.differences, self.packing.slot
        bits = max(longest([values.centers, differences.centers]), values.error.bit_length())
        bits = max(bits, differences.error.bit_length(), slot * (self.packing.count + 1))
        norm = max(rows.norm for rows in (layer.own, layer.by_values, layer.by_differences))
        meter.hold(cells_of(4 * (n + m), bits + slot * (n + m)))
        meter.units(8_000 * (n + m + 2))
        if isinstance(values, InputForms):
            size = sum(map(len, values.terms)) + len(values.centers) + 4 * self.packing.count
            own = max(slot, longest([values.centers]), values.error.bit_length())
            meter.pay((n + m) * size, own, norm.bit_length())
        else:
            products = (n + m) * len(values.centers) + m * len(differences.centers)
            meter.pay(products, bits, norm.bit_length())
        meter.pay(16 * (n + 2 * m), bits)

    def widen(self, layer: GridLayer) -> None:
        """Make the slots as long as the numbers of a layer need."""
        values, differences, packing = self.values, self.differences, self.packing
        most = (layer.own.norm + layer.by_values.norm) * values.largest
        most += layer.by_differences.norm * differences.largest
        shift = max(0, SLOPE - self.grid)
        self.make_room(most.bit_length() + shift + packing.count.bit_length() + 4)

    def make_room(self, bits: int) -> None:
        """Make the slots as long as numbers of these bits need."""
        values, differences, packing = self.values, self.differences, self.packing
        if bits <= packing.slot:
            return
        message = f"beyond the limits: numbers of more than {GROWN_BITS} bits"
        well_formed(bits <= GROWN_BITS, message)
        self.meter.pay(4 * packing.count * (len(values.centers) + len(differences.centers)), bits)
        self.packing = Packing(bits + SPARE_BITS + 7 & ~7, packing.count)
        if isinstance(values, FormList):
            self.values, self.differences = (
                forms._replace(packed=[self.packing.pack(packing.digits(x)) for x in forms.packed])
                for forms in (values, differences)
            )

    def products(self, rows: GridRows, forms: InputForms | FormList) -> tuple[list[int], list[int]]:
        """The products of rows with forms: centers and packed coefficients."""
        centers = [sum(map(mul, row, forms.centers)) for row in rows.rows]
        if isinstance(forms, FormList):
            return centers, [sum(map(mul, row, forms.packed)) for row in rows.rows]
        packed = list[int]()
        for row in rows.rows:
            digits = [0] * self.packing.count
            for w, terms in zip(row, forms.terms, strict=True):
                for k, x in terms:
                    digits[k] += w * x
            packed.append(self.packing.pack(digits))
        return centers, packed

    def preactivations(
        self,
        rows: GridRows,
        bias: Sequence[int],
        is_exact: bool,
        others: GridRows | None = None,
    ) -> FormList:
        """Rows times the values, and others times the differences, over 2^S."""
        packing, grid = self.packing, self.grid
        centers, packed = self.products(rows, self.values)
        error = rows.growth(self.values.error, sum(self.values.sizes), grid)
        largest = rows.norm * self.values.largest
        if others is not None and self.differences.centers:
            more = self.products(others, self.differences)
            centers = [x + y for x, y in zip(centers, more[0], strict=True)]
            packed = [x + y for x, y in zip(packed, more[1], strict=True)]
            error += others.growth(self.differences.error, sum(self.differences.sizes), grid)
            largest += others.norm * self.differences.largest
        is_exact = is_exact and not any(x & (1 << grid) - 1 for x in centers)
        is_exact = is_exact and all(packing.is_multiple(x, grid) for x in packed)
        centers = [(x >> grid) + b for x, b in zip(centers, bias, strict=True)]
        packed = [packing.floored(x, grid) for x in packed]
        error += 0 if is_exact else packing.count + 2
        return FormList(centers, packed, error, [], (largest >> grid) + 1)

    def activate(
        self, number: int, layer: GridLayer, z: FormList, d: FormList, cuts: SignCuts
    ) -> None:
        """The activations of a hidden layer, and their differences."""
        radius = self.packing.radius
        radii = [radius(x) for x in z.packed]
        ends = [(c - r - z.error, c + r + z.error) for c, r in zip(z.centers, radii, strict=True)]
        for i in range(len(ends)):
            ends[i] = self.cut(cuts, (0, number, i), ends[i], z.centers[i], z.packed[i], z.error)
            ends[i] = self.narrowed(0, number, i, ends[i])
        largest, self.new = max(radii), []
        self.ends.append(ends)
        self.pair_ends.append([])
        own = [relaxed_neuron(x) if not sign_of(x) else decided(sign_of(x)) for x in ends]
        self.differences, signs = self.pairs(number, layer, z, d, ends, largest, cuts)
        self.values = self.combined(0, own, list(range(len(ends))), z, None, largest)
        self.values = self.values._replace(sizes=[max(high, 0) for _, high in ends])
        self.signs.append((list(map(sign_of, ends)), signs))
        self.add_generators()

    def pairs(
        self,
        number: int,
        layer: GridLayer,
        z: FormList,
        d: FormList,
        ends: Sequence[Interval],
        largest: int,
        cuts: SignCuts,
    ) -> tuple[FormList, list[int]]:
        """The differences of activations, and the signs of the neurons of g.

        `z` and `d` are the forms of the preactivations of f, and of the differences from them;
        `ends` are the intervals of f, and `largest` bounds the coefficients of `z`.
        """
        made, sizes, signs, radius = list[Relaxed](), list[int](), list[int](), self.packing.radius
        error, most = z.error + d.error, 0
        for m, place in enumerate(layer.partners):
            own = ends[place] if place >= 0 else (0, 0)
            center = d.centers[m] + (z.centers[place] if place >= 0 else 0)
            packed = d.packed[m] + (z.packed[place] if place >= 0 else 0)
            reach = radius(packed) + error
            y = center - reach, center + reach
            y = self.cut(cuts, (1, number, m), y, center, packed, error)
            reach = radius(d.packed[m])
            most = max(most, reach)
            low, high = d.centers[m] - reach - d.error, d.centers[m] + reach + d.error
            y = self.narrowed_pair(number, m, own, (low, high), y)
            (low, high), y = self.narrowed_change(number, m, own, (low, high), y)
            low, high = max(low, y[0] - own[1]), min(high, y[1] - own[0])
            if low > high:
                raise EmptyNode
            signs.append(sign_of(y))
            self.pair_ends[-1].append((own, (low, high), y))
            made.append(self.relaxed(own, (low, high), y, number))
            sizes.append(max(-low, high))
        found = self.combined(1, made, layer.partners, z, d, largest + most)
        return found._replace(sizes=sizes), signs

    def relaxed(self, z: Interval, d: Interval, y: Interval, number: int) -> Relaxed:
        """The difference of a neuron from its partner, in a layer."""
        if sign_of(z) and sign_of(y):
            return decided_pair(z, d, y, number == self.num_hidden)
        return relaxed_pair(z, d, y)

    def cut(
        self,
        cuts: SignCuts,
        neuron: tuple[int, int, int],
        ends: Interval,
        center: int,
        packed: int,
        error: int,
    ) -> Interval:
        """The interval of a neuron, cut by a sign above the node; then its form is kept."""
        side = cuts.get(neuron, 0)
        if not side:
            return ends
        self.meter.pay(4 * self.packing.count, self.packing.slot)
        self.meter.hold(cells_of(2 * self.packing.count, self.packing.slot))
        self.kept[neuron] = center, self.packing.digits(packed), error
        return nonempty(cut_by_sign(ends, side))

    def combined(
        self,
        which: int,
        relaxed: Sequence[Relaxed],
        places: Sequence[int],
        z: FormList,
        d: FormList | None,
        largest: int,
    ) -> FormList:
        """The forms (p Z + q D) / FULL with what is added; new generators are noted.

        `which` is 0 for activations of f and 1 for differences, `places` has the neuron of f for
        each of them, -1 for none, and `largest` bounds the coefficients of Z and D.
        """
        centers, packed, most = list[int](), list[int](), largest + 1
        packing, is_exact = self.packing, True
        for i, (p, q, added, new) in enumerate(relaxed):
            place = places[i]
            center = p * z.centers[place] if p and place >= 0 else 0
            coefficients = p * z.packed[place] if p and place >= 0 else 0
            if d is not None and q:
                center += q * d.centers[i]
                coefficients += q * d.packed[i]
            is_exact = is_exact and not center & FULL - 1
            is_exact = is_exact and packing.is_multiple(coefficients, SLOPE)
            centers.append((center >> SLOPE) + added)
            packed.append(packing.floored(coefficients, SLOPE) if coefficients else 0)
            if new:
                self.new.append((which, i, new))
                most = max(most, new)
        error = z.error + (0 if d is None else d.error) + (0 if is_exact else packing.count + 1)
        return FormList(centers, packed, error, [], most)

    def add_generators(self) -> None:
        """Every new coefficient gets a generator of its own, first the ones of f."""
        self.new.sort()
        self.make_room(max((x for _, _, x in self.new), default=0).bit_length() + 2)
        packing, lists = self.packing, (self.values, self.differences)
        for k, (which, i, coefficient) in enumerate(self.new):
            packed: list[int] = lists[which].packed  # type: ignore[union-attr]
            packed[i] += coefficient << packing.slot * (packing.count + k)
        self.packing = Packing(packing.slot, packing.count + len(self.new))
