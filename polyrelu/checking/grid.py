"""The weights of one or two networks on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import common_denominator
from polyrelu.checking.meter import Meter, cells_of, longest, quote, require
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.text import RATIONAL, OneOf, rational

# -- Weights on the grid

MIN_GRID, MAX_GRID = 8, 4_096
#: A partner with its scale, or none.
PARTNER = OneOf(((), (int, RATIONAL)))


class GridRows(NamedTuple):
    """A matrix times 2^S, rounded down; its largest row sum of absolute values; 1 if rounded."""

    rows: list[list[int]]
    norm: int
    rounded: int

    def growth(self, error: int, sizes: int, grid: int) -> int:
        """The error of a product: what comes from the other factor, and from rounded weights."""
        return -(-self.norm * error >> grid) + self.rounded * -(-sizes >> grid)


class GridLayer(NamedTuple):
    """A layer of f, and the layer of the differences; `partners` are -1 for none.

    `own` and `bias` are W and b. The differences are Delta a + V d + delta, with Delta in
    `by_values`, V in `by_differences` and delta in `shift`. `is_bias_exact` and `is_shift_exact`
    say whether nothing of the bias and of delta was rounded.
    """

    own: GridRows
    bias: list[int]
    by_values: GridRows
    by_differences: GridRows
    shift: list[int]
    partners: list[int]
    scales: list[Fraction]
    is_hidden: bool
    is_bias_exact: bool
    is_shift_exact: bool


class Partners(NamedTuple):
    """The partners of the neurons of a layer of g, -1 for none, and their scales."""

    places: list[int]
    scales: list[Fraction]


def same_partners(width: int) -> Partners:
    """Every neuron has the partner with its own index."""
    return Partners(list(range(width)), [Fraction(1)] * width)


def read_matching(matching: Any, f: Network, g: Network, meter: Meter) -> list[Partners]:
    """The partners in every layer, the inputs first; outputs have themselves."""
    depth = len(f.layers)
    if not matching:
        for layer, (one, two) in enumerate(zip(f.widths, g.widths, strict=True)):
            require(one == two, "equal widths where no matching is given", f"layer {layer}")
        return [same_partners(width) for width in f.widths]
    require(len(matching) == depth - 1, f"partners for {depth - 1} layers", str(len(matching)))
    found = [same_partners(f.widths[0])]
    for number, entries in enumerate(matching, 1):
        count = g.widths[number]
        require(len(entries) == count, f"{count} entries of partners", str(len(entries)))
        meter.hold(cells_of(4 * count, 0))
        places, scales = list[int](), list[Fraction]()
        for entry in entries:
            place, scale = (entry[0], rational(entry[1], meter)) if entry else (-1, Fraction(1))
            require(place < f.widths[number], f"neurons below {f.widths[number]}", str(place))
            require(scale > 0, "scales that are positive", quote(entry[1:]))
            places.append(place)
            scales.append(scale)
        found.append(Partners(places, scales))
    return [*found, same_partners(f.widths[-1])]


def rounded_row(numbers: Sequence[int], denominator: int, grid: int) -> tuple[list[int], bool]:
    """Numbers over a denominator times 2^S, rounded down, and whether nothing was rounded."""
    pairs = [divmod(x << grid, denominator) for x in numbers]
    return [x for x, _ in pairs], not any(rest for _, rest in pairs)


def rounded_rows(rows: Sequence[tuple[Sequence[int], int]], grid: int, meter: Meter) -> GridRows:
    """Rows with their denominators on the grid."""
    bits = longest([*(row for row, _ in rows), [d for _, d in rows]]) + grid
    size = sum(len(row) for row, _ in rows)
    meter.pay_divisions(size, bits, bits)
    meter.hold(cells_of(size, bits))
    made = [rounded_row(row, denominator, grid) for row, denominator in rows]
    norm = max(sum(map(abs, row)) for row, _ in made)
    return GridRows([row for row, _ in made], norm, int(not all(exact for _, exact in made)))


NO_ROWS = GridRows([], 0, 0)


def grid_layers(
    f: Network, g: Network | None, matching: Any, grid: int, meter: Meter
) -> list[GridLayer]:
    """All layers on the grid; without g there are no differences."""
    partners = [] if g is None else read_matching(matching, f, g, meter)
    found = list[GridLayer]()
    for number, layer in enumerate(f.layers):
        own = rounded_rows([(row, layer.denominator) for row in layer.rows], grid, meter)
        bias, is_exact = rounded_row(layer.bias, layer.denominator, grid)
        is_hidden = number < f.num_hidden_layers()
        if g is None:
            made = GridLayer(own, bias, NO_ROWS, NO_ROWS, [], [], [], is_hidden, is_exact, True)
            found.append(made)
            continue
        before, after = partners[number], partners[number + 1]
        aligned, delta, shift = layer_differences(layer, g.layers[number], before, after, meter)
        by_values = rounded_rows(delta, grid, meter)
        by_differences = rounded_rows(aligned, grid, meter)
        moved = [rounded_row([x], denominator, grid) for x, denominator in shift]
        found.append(
            GridLayer(
                own,
                bias,
                by_values,
                by_differences,
                [row[0] for row, _ in moved],
                after.places,
                after.scales,
                is_hidden,
                is_exact,
                is_shift_exact=all(exact for _, exact in moved),
            )
        )
    return found


RowOver = tuple[list[int], int]


def layer_differences(
    one: Layer, two: Layer, before: Partners, after: Partners, meter: Meter
) -> tuple[list[RowOver], list[RowOver], list[tuple[int, int]]]:
    """V, Delta and delta of a layer, exact, each row over its denominator."""
    common = common_denominator(before.scales, "a common denominator of scales", meter)
    factors = [x.numerator * (common // x.denominator) for x in before.scales]
    size, bits = len(two.rows) * (len(factors) + len(one.rows[0])), longest([factors])
    scale_bits = max(max(x.numerator, x.denominator).bit_length() for x in after.scales)
    total = bits + two.bits + common.bit_length() + scale_bits
    meter.pay(4 * size, one.bits, total)
    meter.hold(cells_of(2 * size, one.bits + total))
    aligned, delta, shift = list[RowOver](), list[RowOver](), list[tuple[int, int]]()
    for m, (row, c) in enumerate(zip(two.rows, two.bias, strict=True)):
        scale, place = after.scales[m], after.places[m]
        over = two.denominator * common * scale.numerator
        numbers = [w * x * scale.denominator for w, x in zip(row, factors, strict=True)]
        aligned.append((numbers, over))
        sums = [0] * len(one.rows[0])
        for k, x in zip(before.places, numbers, strict=True):
            if k >= 0:
                sums[k] += x * one.denominator
        constant = c * common * scale.denominator * one.denominator
        if place >= 0:
            sums = [x - w * over for x, w in zip(sums, one.rows[place], strict=True)]
            constant -= one.bias[place] * over
        delta.append((sums, over * one.denominator))
        shift.append((constant, over * one.denominator))
    return aligned, delta, shift
