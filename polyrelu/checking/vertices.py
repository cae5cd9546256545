"""Complexes by their vertices: every edge ends at a listed vertex, or is a ray."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import (
    Form,
    add_to,
    bits_of_form,
    check_indices,
    pivot_columns,
    reduced,
)
from polyrelu.checking.meter import GROWN_BITS, Meter, cells_of, longest, require, well_formed
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.pairs import Domain, read_domain
from polyrelu.checking.ridges import ones
from polyrelu.checking.text import NATURAL, OneOf, fit, integer
from polyrelu.checking.theorems import Case, theorem

# ==== 5.3 Vertices: theorems vertices and complex (any networks) ====

# Forms are integer rows over (y, t), t = 1 at points and 0 at directions, up to positive factors.
# They are numbered: the inequalities of the domain that are not constant, then the hidden neurons
# layer by layer. Bit n of a mask belongs to form n.

#: For each coordinate of (y, t), an entry for each of several forms.
Columns = list[list[int]]
#: Maximum depth of lists of cells in a line.
MAX_LISTS = 7


def cell_shape(num_lists: int) -> OneOf:
    """The entry of a cell: zeros below it that are positive, its zeros, perhaps cells above it."""
    bare = ([int], [int])
    return OneOf((bare, (*bare, [cell_shape(num_lists - 1)])) if num_lists else (bare,))


VERTEX = OneOf(((NATURAL, [int]), (NATURAL, [int], [cell_shape(MAX_LISTS - 1)])))


def mask_of(places: Sequence[int], size: int, meter: Meter) -> int:
    """The integer of `size` bits in which these are 1."""
    meter.units(80 * size)
    digits = bytearray(b"0") * (size + 1)
    for n in places:
        digits[size - n] = 49  # the digit 1
    return int(digits, 2)


def combination(columns: Columns, vector: Sequence[int]) -> list[int]:
    """The values of forms at a vector."""
    found = [0] * len(columns[0])
    for column, x in zip(columns, vector, strict=True):
        if x:
            found = [s + x * a for s, a in zip(found, column, strict=True)]
    return found


class LayerForms(NamedTuple):
    """The preactivations of a layer times a positive scale: own + the sum over the blocks.

    `own` is what the input and the biases give; a block has for each neuron of its source the
    weights on it. `bits` bound all forms of the layer, whatever neurons are on.
    """

    start: int
    width: int
    own: Columns
    blocks: list[tuple[int, list[tuple[int, ...]]]]
    own_bits: int
    block_bits: int
    bits: int


class Forms:
    """The forms of a domain and of all neurons, for any set of neurons that are on.

    The forms of layer 2 are kept for one set of neurons of layer 1, and follow it.
    """

    def __init__(self, network: Network, domain: Domain, meter: Meter) -> None:
        self.meter = meter
        slacks = [slack for slack in domain.slacks if any(slack)]
        constants = [slack.get(0, 0) for slack in domain.slacks if not any(slack)]
        require(min(constants, default=0) >= 0, "a domain that is not empty", "it is empty")
        scales, parts = [1], list[list[Form]]()
        hidden = network.layers[: network.num_hidden_layers()]
        for layer in hidden:
            parts.append(self.input_part(layer, scales, domain))
            self.meter.pay(1, scales[-1].bit_length(), layer.bits)
            scales.append(scales[-1] * layer.denominator)
            message = f"beyond the limits: layers over a denominator of more than {GROWN_BITS} bits"
            well_formed(scales[-1].bit_length() <= GROWN_BITS, message)
        kept = self.coordinates([*slacks, *(form for part in parts for form in part)], domain)
        self.lineality, self.dimension = domain.dimension() - len(kept), len(kept)
        self.symbols = [*(k + 1 for k in kept), 0]
        self.slacks = self.columns(slacks)
        self.num_slacks = self.size = len(slacks)
        self.layers = list[LayerForms]()
        for layer, part in zip(hidden, parts, strict=True):
            self.layers.append(self.layer_forms(layer, part, scales))
            self.size += len(part)
        self.starts = [0, *(layer.start for layer in self.layers)]
        self.slack_bits = max(map(bits_of_form, slacks), default=0)
        self.all_bits = max([self.slack_bits, *(layer.bits for layer in self.layers)])
        self.mask = self.pattern = 0  # what is on in `second`: all forms, neurons of layer 1
        self.second: Columns = []
        if len(self.layers) > 1:
            second = self.layers[1]
            meter.hold(cells_of(second.width * (self.dimension + 1), second.bits))
            self.second = [*second.own]

    def input_part(self, layer: Layer, scales: list[int], domain: Domain) -> list[Form]:
        """What the input and the biases give to the preactivations of a layer."""
        number, scale = len(scales), scales[-1]
        blocks = [*layer.earlier, (number - 1, layer.rows)]
        rows = blocks[0][1] if blocks[0][0] == 0 else []
        sizes, bits = [len(form) for form in domain.inputs], scale.bit_length()
        products = sum(len(rows) * (1 + size) for size in sizes) + 2 * len(layer.bias)
        inputs = max(map(bits_of_form, domain.inputs), default=0) + domain.scale.bit_length()
        self.meter.pay(2 * products, layer.bits + bits, inputs)
        found = [{0: b * scale * domain.scale} for b in layer.bias]
        for form, row in zip(found, rows, strict=False):
            for w, x in zip(row, domain.inputs, strict=True):
                add_to(form, x, w * scale)
        longest_form = max(map(bits_of_form, found))
        self.meter.hold(cells_of(2 * sum(map(len, found)), longest_form))
        return found

    def coordinates(self, forms: Sequence[Form], domain: Domain) -> list[int]:
        """Coordinates on which all forms together depend in as many ways as on all of them."""
        rows = [form for form in forms if any(form)]
        cells, free = len(rows) * domain.dimension(), range(1, domain.dimension() + 1)
        self.meter.pay(cells + len(forms))
        self.meter.hold(cells)
        kept = pivot_columns([[form.get(k, 0) for k in free] for form in rows], self.meter)
        self.meter.release(cells)
        return kept

    def columns(self, forms: Sequence[Form]) -> Columns:
        """Forms as columns over the coordinates that are kept, and t."""
        self.meter.pay(len(forms) * len(self.symbols))
        self.meter.hold(len(forms) * len(self.symbols))  # the numbers are held already
        return [[form.get(symbol, 0) for form in forms] for symbol in self.symbols]

    def layer_forms(self, layer: Layer, part: Sequence[Form], scales: Sequence[int]) -> LayerForms:
        """A layer whose blocks are multiplied so that all its terms have one scale."""
        number, own_bits = len(self.layers) + 1, max(map(bits_of_form, part))
        blocks, block_bits, bits = list[tuple[int, list[tuple[int, ...]]]](), 0, own_bits
        for source, rows in [*layer.earlier, (number - 1, layer.rows)]:
            if source == 0:
                continue
            source_bits = scales[source].bit_length()
            growth = scales[number - 1].bit_length() - source_bits + 1
            self.meter.pay_divisions(1, growth, source_bits)
            factor = scales[number - 1] // scales[source]
            self.meter.pay(2 * len(rows) * len(rows[0]), factor.bit_length(), layer.bits)
            self.meter.hold(
                cells_of(2 * len(rows) * len(rows[0]), factor.bit_length() + layer.bits)
            )
            scaled = [[w * factor for w in row] for row in rows]
            blocks.append((source - 1, list(zip(*scaled, strict=True))))
            block_bits = max(block_bits, longest(scaled))
            width = len(rows[0]).bit_length()
            bits = max(bits, longest(scaled) + self.layers[source - 1].bits + width)
        bits += (1 + len(blocks)).bit_length()
        own = self.columns(part)
        return LayerForms(self.size, len(part), own, blocks, own_bits, block_bits, bits)

    def on(self, k: int, mask: int) -> list[int]:
        """The neurons of a layer, counted from 0, that are on."""
        layer = self.layers[k]
        self.meter.units(2_000 + 60 * layer.width + self.size // 16)
        return ones(mask >> layer.start & (1 << layer.width) - 1)

    def move(self, mask: int) -> None:
        """Make the forms of layer 2 those for the neurons of a mask."""
        if len(self.layers) < 2 or mask == self.mask:
            return
        self.mask, (first, second) = mask, self.layers[:2]
        wanted = mask >> first.start & (1 << first.width) - 1
        changed = self.pattern ^ wanted
        if not changed:
            return
        steps = changed.bit_count() * (self.dimension + 1)
        self.meter.pay(steps * (second.width + 10), first.own_bits, second.block_bits)
        weights = second.blocks[-1][1]
        for j in ones(changed):
            sign = 1 if wanted >> j & 1 else -1
            for c, column in enumerate(first.own):
                if x := sign * column[j]:
                    pairs = zip(self.second[c], weights[j], strict=True)
                    self.second[c] = [s + x * w for s, w in pairs]
        self.pattern = wanted

    def values(self, vector: Sequence[int], mask: int) -> list[int]:
        """The values of all forms at (y, t), the neurons of a mask being on and all others off."""
        self.move(mask)
        bits, width = longest([vector]), self.dimension + 1
        held = cells_of(2 * self.size, bits + self.all_bits)
        self.meter.hold(held)
        near = self.num_slacks + sum(layer.width for layer in self.layers[:2])
        self.meter.pay(width * (near + 10), bits, self.all_bits)
        tables = [layer.own for layer in self.layers[:1]] + [self.second][: len(self.layers) - 1]
        found = [combination(table, vector) for table in tables]
        for k in range(2, len(self.layers)):
            layer = self.layers[k]
            self.meter.units(3_000)
            self.meter.pay(width * layer.width, bits, layer.own_bits)
            z = combination(layer.own, vector)
            for source, columns in layer.blocks:
                on = self.on(source, mask)
                size = self.layers[source].bits + bits + width.bit_length()
                self.meter.pay(len(on) * (layer.width + 10), layer.block_bits, size)
                for j in on:
                    if x := found[source][j]:
                        z = [s + x * w for s, w in zip(z, columns[j], strict=True)]
            found.append(z)
        slacks = combination(self.slacks, vector)
        self.meter.release(held)
        return [*slacks, *(z for part in found for z in part)]

    def row(self, n: int, mask: int) -> list[int]:
        """A form over (y, t), the neurons of a mask being on."""
        self.meter.pay(2 * self.dimension + 6)
        k = bisect_right(self.starts, n) - 2 if n >= self.num_slacks else -1
        if k < 0:
            return [column[n] for column in self.slacks]
        i = n - self.layers[k].start
        if k == 0:
            return [column[i] for column in self.layers[0].own]
        self.move(mask)
        if k == 1:
            return [column[i] for column in self.second]
        return self.deep_row(k, i, mask)

    def deep_row(self, k: int, i: int, mask: int) -> list[int]:
        """The form of a neuron of layer 3 or later, by the chain rule from above."""
        factors = [dict[int, int]() for _ in range(k)] + [{i: 1}]
        row, width, bits = [0] * (self.dimension + 1), self.dimension + 1, self.layers[k].bits
        self.meter.hold(held := cells_of(self.layers[k].start, bits))
        self.meter.units(500 * k)
        for m in reversed(range(k + 1)):
            layer, entries = self.layers[m], factors[m]
            if not entries:
                continue
            self.meter.units(2_000)
            self.meter.pay(len(entries) * (width + 10), bits, layer.bits)
            table = self.second if m == 1 else layer.own
            for j, x in entries.items():
                row = [s + x * column[j] for s, column in zip(row, table, strict=True)]
            for source, columns in layer.blocks if m > 1 else ():
                on = self.on(source, mask)
                self.meter.pay(len(on) * (len(entries) + 4), bits, layer.block_bits)
                for h in on:
                    column = columns[h]
                    add = sum(x * column[j] for j, x in entries.items())
                    factors[source][h] = factors[source].get(h, 0) + add
        self.meter.release(held)
        return row

    def line(
        self, rows: Sequence[Sequence[int]], fixed: Sequence[int]
    ) -> tuple[list[int], list[int]] | None:
        """A vector, up to a factor, on which rows vanish and whose coordinates `fixed` are 0.

        Also the places of rows that are independent of those before. None if the vectors are not
        a line. Bareiss: all numbers are minors, and divisions are exact.
        """
        free = [c for c in range(self.dimension + 1) if c not in fixed]
        rest = [(place, [row[c] for c in free]) for place, row in enumerate(rows)][::-1]
        bits, last = longest(row for _, row in rest), 1
        self.meter.hold(held := cells_of(len(rows) * len(free), len(free) * (bits + 10)))
        done, basis, pivots = list[list[int]](), list[int](), list[int]()
        while rest and len(done) < len(free):
            place, pivot = rest.pop()
            self.meter.units(40 * len(free))
            c = next((c for c, x in enumerate(pivot) if x), -1)
            if c < 0:
                continue
            p, size = pivot[c], (len(done) + 1) * (bits + 10)
            others = (len(done) + len(rest)) * len(free)
            self.meter.pay(2 * others + 10, size, size)
            self.meter.pay_divisions(others, 2 * size, size)
            done = [reduced(row, pivot, c, p, last) for row in done]
            rest = [(n, reduced(row, pivot, c, p, last)) for n, row in rest]
            done.append(pivot)
            basis.append(place)
            pivots.append(c)
            last = p
        self.meter.release(held)
        if len(done) != len(free) - 1:
            return None
        (open_column,) = set(range(len(free))) - set(pivots)
        vector = [0] * (self.dimension + 1)
        vector[free[open_column]] = last
        for row, c in zip(done, pivots, strict=True):
            vector[free[c]] = -row[open_column]
        return vector, basis


# -- Cells around a cell


class Cell(NamedTuple):
    """A cell around a vertex: the forms that are positive and those that are not 0, as masks.

    `basis` are zeros whose forms are independent, each of those before; there are as many of them
    as the codimension. `fixed` are coordinates of (y, t), as many as the dimension and 1, such that
    no vector along the cell but 0 vanishes on them.
    """

    positive: int
    nonzero: int
    zeros: list[int]
    basis: list[int]
    fixed: tuple[int, ...]


class Star(NamedTuple):
    """The keys of cells around a cell: all of one dimension more, and the counted ones.

    Counted are all cells, in lists by dimension, the cell itself first, or the regions alone.
    """

    above: list[int]
    counted: list[list[int]]


class Around:
    """The cells around vertices, each by a key: its positive forms, then its nonzero ones."""

    def __init__(self, forms: Forms, meter: Meter, *, is_complex: bool) -> None:
        self.forms, self.meter, self.is_complex = forms, meter, is_complex
        self.bytes_of_key = forms.size // 4 + 1
        self.key_cells = 3 + self.bytes_of_key // 64

    def key(self, cell: Cell) -> int:
        """The key of a cell; the key of a cell around it has the same bits and more."""
        return cell.positive << self.forms.size | cell.nonzero

    def packed(self, key: int) -> bytes:
        """A key for a table, hashed as text: nobody can make many hashes collide."""
        return key.to_bytes(self.bytes_of_key, "big")

    def vertex(self, record: Any) -> tuple[Cell, list[int]]:
        """A vertex as a cell, and its point: the signs of all forms there are as listed."""
        forms, zeros = self.forms, record[1]
        positive = integer(record[0])
        require(positive < 1 << forms.size, f"a mask below 2^{forms.size}", "a larger one")
        check_indices(zeros, forms.size, "zeros")
        found = forms.line([forms.row(n, positive) for n in zeros], ())
        if found is None or found[0][-1] == 0:
            require(False, "zeros with exactly one common point", "none, or more")
            raise AssertionError
        point, places = found
        if point[-1] < 0:
            point = [-x for x in point]
        values = forms.values(point, positive)
        self.meter.units(40_000 + 150 * forms.size)
        signs = "".join(["1" if z > 0 else "0" for z in reversed(values)] or ["0"])
        require(int(signs, 2) == positive, "the positive forms of the point", "other ones")
        found_zeros = [n for n, z in enumerate(values) if not z]
        require(found_zeros == zeros, "the zeros of the point", "other ones")
        inside = min(values[: forms.num_slacks], default=0) >= 0
        require(inside, "a point of the domain", "an inequality fails")
        nonzero = (1 << forms.size) - 1 ^ mask_of(zeros, forms.size, self.meter)
        basis = [zeros[place] for place in places]
        return Cell(positive, nonzero, zeros, basis, (forms.dimension,)), point

    def face(self, cell: Cell, entry: Any) -> Cell:
        """A listed cell of one dimension more around a cell: the signs in a direction."""
        forms, (positive, zeros) = self.forms, entry[:2]
        check_indices(positive, forms.size, "positive forms")
        check_indices(zeros, forms.size, "zeros")
        listed, own = {*positive, *zeros}, set(cell.zeros)
        self.meter.units(400 * (len(cell.zeros) + len(listed)))
        is_new = listed <= own and len(listed) == len(positive) + len(zeros) and zeros != cell.zeros
        require(is_new, "signs of the zeros of the cell below, not all of them 0")
        mask = cell.positive | mask_of(positive, forms.size, self.meter)
        rows = {n: forms.row(n, mask) for n in cell.zeros}
        found = forms.line([rows[n] for n in zeros], cell.fixed)
        if found is None:
            require(False, "zeros with one direction in common", "none, or more")
            raise AssertionError
        (direction, places), wanted = found, dict.fromkeys(cell.zeros, -1)
        wanted |= dict.fromkeys(positive, 1) | dict.fromkeys(zeros, 0)
        size = len(direction) * len(rows)
        self.meter.pay(2 * size, longest([direction]), longest(rows.values()))
        slopes = {n: sum(map(int.__mul__, row, direction)) for n, row in rows.items()}
        first = next(n for n in cell.zeros if wanted[n])
        turn = 1 if slopes[first] * wanted[first] > 0 else -1
        for n, slope in slopes.items():
            sign = turn * ((slope > 0) - (slope < 0))
            require(sign == wanted[n], f"form {n} with the sign {wanted[n]}", str(sign))
            require(sign >= 0 or n >= forms.num_slacks, "a cell in the domain", f"form {n} < 0")
        moved = [n for n in cell.zeros if wanted[n]]
        nonzero = cell.nonzero | mask_of(moved, forms.size, self.meter)
        column = next(c for c, x in enumerate(direction) if x)
        basis = [zeros[place] for place in places]
        return Cell(mask, nonzero, zeros, basis, (*cell.fixed, column))

    def star(self, cell: Cell, listed: Any) -> Star:
        """All cells around a cell: all signs of its zeros, or the listed cells of one dimension
        more, and those around them."""
        key = self.key(cell)
        if not cell.basis:
            require(listed is None, "no list at a region", "one")
            return Star([], [[key]])
        if len(cell.zeros) == len(cell.basis):
            require(listed is None, "no list at a cell with independent zeros", "one")
            return self.spanned(key, self.sides(key, cell))
        require(listed is not None, "a list of cells where zeros are dependent", "none")
        faces = [self.face(cell, entry) for entry in listed]
        if all(len(entry) == 2 for entry in listed):
            groups = self.frame(cell, faces)
            if groups is not None:
                return self.spanned(key, groups)
        return self.joined(cell, faces, [entry[2] if len(entry) > 2 else None for entry in listed])

    def sides(self, key: int, cell: Cell) -> list[list[int]]:
        """For each zero the keys with its signs: both, but 1 alone for inequalities."""
        size, groups = self.forms.size, list[list[int]]()
        for n in cell.zeros:
            bit = 1 << n
            above = key | bit << size | bit
            groups.append([above] if n < self.forms.num_slacks else [above, key | bit])
        return groups

    def frame(self, cell: Cell, faces: Sequence[Cell]) -> list[list[int]] | None:
        """The faces by the form of the basis that is not 0 there, if they are these and no others.

        None also if a zero has opposite signs on two faces of different forms.
        """
        signs, num_slacks = dict[tuple[int, bool], Cell](), self.forms.num_slacks
        self.meter.units(200 * len(faces) * (len(cell.basis) + 1))
        for face in faces:
            moved = [n for n in cell.basis if face.nonzero >> n & 1]
            if len(moved) != 1:
                return None
            signs[moved[0], bool(face.positive >> moved[0] & 1)] = face
        sides = (True, False)
        wanted = [(n, side) for n in cell.basis for side in sides if side or n >= num_slacks]
        if len(faces) != len(wanted) or any(place not in signs for place in wanted):
            return None
        self.meter.pay(len(faces) ** 2, self.forms.size, 0)
        for (n, one), (m, other) in combinations([(n, signs[n, s]) for n, s in wanted], 2):
            against = one.positive ^ other.positive
            if n != m and against & one.nonzero & other.nonzero:
                return None
        return [[self.key(signs[n, s]) for n, s in wanted if n == m] for m in cell.basis]

    def spanned(self, key: int, groups: list[list[int]]) -> Star:
        """The cells of which each moves along at most one side of every group."""
        above = [side for group in groups for side in group]
        if not self.is_complex:
            self.pay_keys(math.prod(map(len, groups)))
            keys = [key]
            for group in groups:
                keys = [old | side for old in keys for side in group]
            return Star(above, [keys])
        self.pay_keys(math.prod(1 + len(group) for group in groups))
        levels: list[list[int]] = [[key]]
        for group in groups:
            moved = [[old | side for old in level for side in group] for level in levels]
            pairs = zip([*levels, []], [[], *moved], strict=True)
            levels = [one + two for one, two in pairs]
        return Star(above, levels)

    def pay_keys(self, count: int) -> None:
        """Pay for keys that are made and put into tables; they are held until the next vertex."""
        self.meter.pay(4 * count, 2 * self.forms.size, 0)
        self.meter.hold(2 * count * self.key_cells)

    def joined(self, cell: Cell, faces: Sequence[Cell], lists: Sequence[Any]) -> Star:
        """The cells around all faces, where each cell of two dimensions more has two of them."""
        above, count = [self.key(face) for face in faces], dict[bytes, int]()
        require(len({*map(self.packed, above)}) == len(above), "different cells", "one twice")
        require(len(above) > 0, "a cell", "none")
        codimension = len(cell.basis)
        require(codimension > 1, "both sides of a cell of codimension 1", "other cells")
        tables = [dict[bytes, int]() for _ in range(codimension + 1 if self.is_complex else 1)]
        tables[0] = {self.packed(key): key for key in [self.key(cell)] if self.is_complex}
        for face, listed in zip(faces, lists, strict=True):
            star = self.star(face, listed)
            self.pay_keys(len(star.above))
            for key in star.above:
                count[self.packed(key)] = count.get(self.packed(key), 0) + 1
            for table, keys in zip(reversed(tables), reversed(star.counted), strict=False):
                self.pay_keys(len(keys))
                table |= {self.packed(key): key for key in keys}
        fact = "two listed cells at each cell of one dimension more"
        require(all(number == 2 for number in count.values()), fact, "another number of them")
        return Star(above, [list(table.values()) for table in tables])


# -- The complex


class Skeleton:
    """The vertices, the edges and the counted cells that were seen."""

    def __init__(self, around: Around, meter: Meter) -> None:
        self.around, self.forms, self.meter = around, around.forms, meter
        self.vertices = set[bytes]()
        #: By edge the nonzero forms of its vertex; None for an edge with two vertices.
        self.edges = dict[bytes, int | None]()
        size = self.forms.dimension + 1 if around.is_complex else 1
        self.cells = [set[bytes]() for _ in range(size)]

    def add(self, record: Any) -> None:
        """Add a vertex with the cells around it."""
        around, cell = self.around, self.around.vertex(record)[0]
        own = around.packed(around.key(cell))
        require(own not in self.vertices, "another vertex", "one twice")
        self.meter.hold(around.key_cells)
        self.vertices.add(own)
        before = self.meter.cells
        star = around.star(cell, record[2] if len(record) > 2 else None)
        around.pay_keys(len(star.above))
        self.meter.release(self.meter.cells - before)
        for key in star.above:
            edge = around.packed(key)
            if edge not in self.edges:
                self.meter.hold(2 * around.key_cells)
                self.edges[edge] = cell.nonzero
                continue
            require(self.edges[edge] is not None, "an edge with two ends", "a third one")
            self.edges[edge] = None
        for table, keys in zip(self.cells, star.counted, strict=True):
            old = len(table)
            table.update(map(around.packed, keys))
            self.meter.hold(around.key_cells * (len(table) - old))

    def check_rays(self) -> None:
        """Every edge that one vertex has is unbounded."""
        for edge, nonzero in self.edges.items():
            if nonzero is not None:
                self.check_ray(int.from_bytes(edge, "big"), nonzero)

    def check_ray(self, key: int, below: int) -> None:
        """Along an edge no form gets the other sign; `below` are the nonzero forms at its end."""
        forms, size = self.forms, self.forms.size
        positive, nonzero = key >> size, key & (1 << size) - 1
        zeros = ones((1 << size) - 1 ^ nonzero)
        self.meter.units(60 * size)
        rows = [forms.row(n, positive) for n in zeros]
        found = forms.line(rows, (forms.dimension,))
        if found is None:
            require(False, "zeros with one direction in common", "none, or more")
            raise AssertionError
        slopes = forms.values(found[0], positive)
        n = ones(nonzero & ~below)[0]
        turn = 1 if (slopes[n] > 0) == bool(positive >> n & 1) else -1
        self.meter.units(200 * size)
        for n, slope in enumerate(slopes):
            wanted = (1 if positive >> n & 1 else -1) * (nonzero >> n & 1)
            fact = "an edge with two vertices, or a ray"
            require(wanted * turn * slope >= 0, fact, f"form {n} changes its sign")


def check_vertices(case: Case, *, is_complex: bool) -> tuple[Forms, list[int]]:
    """Read the vertices; return the forms, and the numbers of cells that were counted."""
    meter, count = case.meter, case.evidence["vertices"]
    domain = read_domain(case.claim["domain"], case.network.widths[0], meter)
    meter.step = "vertices"
    forms = Forms(case.network, domain, meter)
    require(count > 0, "a vertex", "none")
    skeleton = Skeleton(Around(forms, meter, is_complex=is_complex), meter)
    for _ in range(count):
        record = case.lines.read()
        fit(record, VERTEX, meter.step)
        skeleton.add(record)
    meter.step = "edges"
    skeleton.check_rays()
    return forms, list(map(len, skeleton.cells))


SAYS = {
    "vertices": "every listed point is a vertex, and the cells around it are known",
    "edges": "every edge at a vertex ends at another one of the list, or is a ray",
}


@theorem(
    "vertices",
    kind="regions",
    page="theory/vertices.md",
    evidence={"vertices": int},
    says=SAYS,
)
def vertices(case: Case) -> None:
    """All regions of a network, by the vertices."""
    _, counts = check_vertices(case, is_complex=False)
    case.meter.step = "claim.count"
    require(counts == [case.claim["count"]], f"{counts[0]} regions", str(case.claim["count"]))
    case.lines.check_end(case.evidence["vertices"])


@theorem(
    "complex",
    kind="complex",
    page="theory/vertices.md",
    evidence={"vertices": int},
    says=SAYS,
)
def complex_by_vertices(case: Case) -> None:
    """All cells of a network, by the vertices."""
    forms, counts = check_vertices(case, is_complex=True)
    case.meter.step = "claim.f-vector"
    found, claimed = [0] * forms.lineality + counts, case.claim["f-vector"]
    require(len(claimed) == len(found), f"{len(found)} numbers", str(len(claimed)))
    for k, (number, other) in enumerate(zip(found, claimed, strict=True)):
        require(number == other, f"{number} cells of dimension {k}", str(other))
    case.lines.check_end(case.evidence["vertices"])
