"""Ridges that a certificate of Theorem D lists: their points, their types, their pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, compress
from operator import mul
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import check_indices, common_denominator
from polyrelu.checking.meter import Meter, longest, require
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.pairs import EVERYWHERE, Domain, scaled_point
from polyrelu.checking.text import integer, integers, rationals

# ==== 3.9 Ridges: theorems deep and deep-part ====

# Signs are exact; everything else only has to be nonzero, or of full rank, and is shown to be so
# modulo P.
P = 2**61 - 1
#: Bases of the multiples of the outputs, and of the direction in the input space.
ON_OUTPUTS, ON_INPUTS = 1234567890123456789, 987654321

#: A piece: the one neuron that vanishes on it, and the mask, as a key.
Piece = tuple[int, bytes]


def product_sum(left: Iterable[int], right: Iterable[int]) -> int:
    """The scalar product of two sequences that are known to be equally long."""
    return sum(map(mul, left, right))


class Neurons:
    """The hidden neurons, numbered layer by layer, and masks: bit w is 1 if neuron w is on.

    Layers are counted from 0 here. `rows` and `columns` are the weights modulo P.
    """

    def __init__(self, network: Network, meter: Meter) -> None:
        self.network, self.meter = network, meter
        self.widths = network.widths[1:-1]
        self.starts = [0, *accumulate(self.widths)]
        self.count = self.starts[-1]
        self.layer = [k for k, width in enumerate(self.widths) for _ in range(width)]
        self.rows = [residues(layer, meter) for layer in network.layers]
        self.columns = [list(zip(*rows, strict=True)) for rows in self.rows]
        self.bits = [layer.bits for layer in network.layers]
        self.growth = sum(map(growth_of, network.layers[:-1]))
        self.last_states = (-1, list[int]())

    def index(self, w: int) -> int:
        """The index of a neuron in its layer."""
        return w - self.starts[self.layer[w]]

    def neurons_of(self, layer: int) -> range:
        """The neurons of a layer."""
        return range(self.starts[layer], self.starts[layer + 1])

    def part(self, mask: int, layer: int) -> int:
        """The bits of one layer."""
        return mask >> self.starts[layer] & (1 << self.widths[layer]) - 1

    def before(self, mask: int, layer: int) -> int:
        """The bits of the layers before."""
        return mask & (1 << self.starts[layer]) - 1

    def key(self, mask: int) -> bytes:
        """A mask as a key of a dictionary: nobody can make the hashes of many collide."""
        return mask.to_bytes(self.count // 8 + 1, "little")

    def states(self, mask: int) -> list[int]:
        """For each neuron 1 if it is on, otherwise 0."""
        if mask != self.last_states[0]:
            self.meter.units(60 * self.count)
            self.last_states = mask, [*map(int, reversed(f"{mask:0{self.count}b}"))]
        return self.last_states[1]

    def states_of(self, mask: int, layer: int) -> list[int]:
        """For each neuron of a layer 1 if it is on, otherwise 0."""
        return self.states(mask)[self.starts[layer] : self.starts[layer + 1]]


def residues(layer: Layer, meter: Meter) -> list[list[int]]:
    """The weights of a layer modulo P, of the smallest size."""
    bits = layer.bits
    meter.pay(4 * len(layer.rows) * len(layer.rows[0]), bits, 61)
    half = P // 2
    return [[(x + half) % P - half for x in row] for row in layer.primitive_rows()]


def growth_of(layer: Layer) -> int:
    """The bits by which numbers can grow in a layer."""
    sums = [sum(map(abs, row)) + abs(b) for row, b in zip(layer.rows, layer.bias, strict=True)]
    return max(layer.denominator, *sums).bit_length()


def ones(mask: int) -> list[int]:
    """The places of the ones in a mask, ascending."""
    return [i for i, digit in enumerate(reversed(f"{mask:b}")) if digit == "1"]


# -- Exact forms on planes


class PlaneForms:
    """The preactivations on a plane point + s B_1 + t B_2, where the neurons of a mask are on.

    A form is (constant, slope, slope), times a number that its layer has in common; s and t may be
    scaled. A form is also packed into one integer, since weights then take one product for all
    three numbers. A layer stays while the mask has the same neurons before it. The slacks of the
    domain are forms of their own, times the denominator of the point.
    """

    def __init__(self, neurons: Neurons, entry: Any, domain: Domain = EVERYWHERE) -> None:
        self.neurons, self.meter = neurons, neurons.meter
        depth, first = len(neurons.widths), neurons.network.layers[0]
        vectors, scale = self.read(entry)
        self.width = max(longest(vectors), scale.bit_length()) + neurons.growth + 2
        num_inputs = neurons.network.widths[0]
        read = [any(form) for form in zip(*vectors, strict=True)]
        columns = [self.packed_form(form) for form in zip(*vectors, strict=True) if any(form)]
        operations = len(first.rows) * (len(columns) + 3 + (num_inputs - len(columns)) // 4)
        self.meter.pay(operations, 3 * self.width, neurons.bits[0])
        packed = [
            product_sum(compress(row, read), columns) + b * scale
            for row, b in zip(first.rows, first.bias, strict=True)
        ]
        self.scales = [scale * first.denominator] * depth
        self.known_for = [0] + [-1] * (depth - 1)
        self.packed, self.forms = [packed] * depth, [self.unpacked(packed)] * depth
        self.slacks = self.slacks_of(domain, vectors, scale)

    def read(self, entry: Any) -> tuple[list[list[int]], int]:
        """Point and directions as integers, and the denominator of the point."""
        if "inputs" in entry:
            return self.read_some(entry)
        num_inputs, vectors, scales = self.neurons.network.widths[0], list[list[int]](), list[int]()
        for name, texts in (
            ("point", entry["point"]),
            *(("direction", d) for d in entry["directions"]),
        ):
            row = rationals(texts, self.meter)
            require(len(row) == num_inputs, f"a {name} of {num_inputs} coordinates", str(len(row)))
            scales.append(common_denominator(row, "a common denominator", self.meter))
            vectors.append(scaled_point(row, scales[-1], self.meter))
        return vectors, scales[0]

    def read_some(self, entry: Any) -> tuple[list[list[int]], int]:
        """The same from the coordinates of some inputs; all others are 0."""
        num_inputs, scale = self.neurons.network.widths[0], integer(entry["denominator"])
        require(scale > 0, "a positive denominator", "0")
        inputs = integers(entry["inputs"], self.meter)
        require(inputs[0] >= 0, "inputs from 0 on", str(inputs[0]))
        check_indices(inputs, num_inputs, "inputs")
        vectors = list[list[int]]()
        for text in (entry["point"], *entry["directions"]):
            row, vector = integers(text, self.meter), [0] * num_inputs
            self.meter.units(50 * num_inputs)
            require(len(row) == len(inputs), f"{len(inputs)} coordinates", str(len(row)))
            for k, x in zip(inputs, row, strict=True):
                vector[k] = x
            vectors.append(vector)
        return vectors, scale

    def slacks_of(
        self, domain: Domain, vectors: list[list[int]], scale: int
    ) -> list[tuple[int, int, int]]:
        """The slacks c - a x of the domain that are not 0 everywhere, as forms on the plane."""
        slacks, found = [slack for slack in domain.slacks if slack], list[tuple[int, int, int]]()
        self.meter.pay(
            3 * sum(2 + len(slack) for slack in slacks),
            self.width,
            longest(slack.values() for slack in slacks),
        )
        for slack in slacks:
            pairs = [(symbol - 1, a) for symbol, a in slack.items() if symbol]
            c, x, y = (sum(a * vector[j] for j, a in pairs) for vector in vectors)
            found.append((c + scale * slack.get(0, 0), x, y))
        return found

    def packed_form(self, form: Sequence[int]) -> int:
        """The numbers of a form in one integer, with borrows."""
        c, a, b = form
        return c + (a << self.width) + (b << 2 * self.width)

    def unpacked(self, packed: list[int]) -> list[tuple[int, int, int]]:
        """The forms. All numbers are made positive by an offset before they are cut apart."""
        width, digit, half = self.width, (1 << self.width) - 1, 1 << self.width - 1
        self.meter.pay(8 * len(packed), 3 * width)
        offset = self.packed_form((half, half, half))
        shifted = [x + offset for x in packed]
        return [
            ((x & digit) - half, (x >> width & digit) - half, (x >> 2 * width) - half)
            for x in shifted
        ]

    def move(self, mask: int) -> None:
        """Let the neurons of a mask be on."""
        neurons = self.neurons
        for number, layer in enumerate(neurons.network.layers[1:-1], 1):
            before = neurons.before(mask, number)
            if before == self.known_for[number]:
                continue
            states = neurons.states_of(mask, number - 1)
            scale = self.scales[number - 1]
            active = [*compress(self.packed[number - 1], states)]
            operations = len(layer.rows) * (len(active) + 4 + len(states) // 4)
            self.meter.pay(operations, 3 * self.width, neurons.bits[number])
            self.packed[number] = [
                product_sum(compress(row, states), active) + b * scale
                for row, b in zip(layer.rows, layer.bias, strict=True)
            ]
            self.forms[number] = self.unpacked(self.packed[number])
            self.known_for[number], self.scales[number] = before, scale * layer.denominator

    def check_ridge(self, u: int, v: int, mask: int) -> None:
        """The point where u and v vanish lies on a ridge, with the signs of the mask."""
        neurons, name = self.neurons, f"neurons {u}, {v}"
        require(u < v < neurons.count, f"neurons u < v below {neurons.count}", name)
        require(mask >> neurons.count == 0, f"a mask of {neurons.count} bits", name)
        require(mask >> u & 1 == 0, "u not in the mask", name)
        require(mask >> v & 1 == 0, "v not in the mask", name)
        self.move(mask)
        (c, a, b), (z, x, y) = (self.forms[neurons.layer[w]][neurons.index(w)] for w in (u, v))
        p, q, r = a * y - b * x, b * z - c * y, c * x - a * z  # homogeneous coordinates, p for 1
        require(p != 0, "forms with exactly one common zero", name)
        p, q, r = (p, q, r) if p > 0 else (-p, -q, -r)
        self.meter.pay(2 * neurons.count, 2 * self.width, self.width)
        values = [c * p + a * q + b * r for forms in self.forms for c, a, b in forms]
        require(values.count(0) == 2, "exactly two zeros", name)
        signs = [x > 0 for x in values]
        require(signs == neurons.states(mask), "the signs of the mask", name)
        self.meter.pay(3 * len(self.slacks), 2 * self.width, longest(self.slacks))
        inside = all(c * p + a * q + b * r > 0 for c, a, b in self.slacks)
        require(inside, "a point strictly inside the domain", name)


# -- Derivatives modulo P


class Derivatives:
    """Derivatives where the neurons of a mask are on; some are kept from one mask to the next.

    g is a sum of multiples of the outputs: if its derivative is not 0, one of theirs is not.
    """

    #: Maximum number of derivatives by inputs that are kept.
    MAX_KEPT = 2**21

    def __init__(self, neurons: Neurons) -> None:
        self.neurons, self.meter = neurons, neurons.meter
        network = neurons.network
        self.num_inputs, depth = network.widths[0], len(neurons.widths)
        powers = [pow(ON_INPUTS, k, P) for k in range(1, self.num_inputs + 1)]
        along = tuple(product_sum(row, powers) % P for row in neurons.rows[0])
        self.by_input = [*neurons.columns[0], along]  # the direction is one more input
        self.on_outputs = [pow(ON_OUTPUTS, o, P) for o in range(1, network.widths[-1] + 1)]
        self.kept_influences = [(-1, list[int]())] * depth
        self.kept_slopes, self.num_kept = dict[tuple[int, int, bytes], list[int]](), 0

    def influence(self, w: int, mask: int) -> int:
        """The derivative of g by the activation of a neuron."""
        neurons = self.neurons
        layer = neurons.layer[w]
        column: Iterable[int] = neurons.columns[layer + 1][neurons.index(w)]
        if layer + 1 < len(neurons.widths):
            column = compress(column, neurons.states_of(mask, layer + 1))
        return product_sum(column, self.influences(layer + 1, mask)) % P

    def influences(self, layer: int, mask: int) -> list[int]:
        """The derivatives of g by the neurons of a layer that are on, or by the outputs."""
        neurons = self.neurons
        if layer == len(neurons.widths):
            return self.on_outputs
        above = mask >> neurons.starts[layer]
        if self.kept_influences[layer][0] != above:
            later = self.influences(layer + 1, mask)
            columns = compress(neurons.columns[layer + 1], neurons.states_of(mask, layer))
            width = neurons.network.widths[layer + 2]
            num_on = neurons.part(mask, layer).bit_count()
            self.meter.pay_modular(num_on * (len(later) + 2 + width // 4))
            if layer + 1 < len(neurons.widths):
                states = neurons.states_of(mask, layer + 1)
                found = [product_sum(compress(column, states), later) % P for column in columns]
            else:
                found = [product_sum(column, later) % P for column in columns]
            self.kept_influences[layer] = above, found
        return self.kept_influences[layer][1]

    def bend(self, u: int, v: int, mask: int) -> int:
        """The derivative of z_v by the activation of u in an earlier layer; 0 in the same one."""
        neurons = self.neurons
        first, last = neurons.layer[u], neurons.layer[v]
        if first == last:
            return 0
        column = self.kept_entries(first + 1, v, mask, neurons.columns[first + 1][neurons.index(u)])
        for layer in range(first + 2, last + 1):
            states = neurons.states_of(mask, layer - 1)
            rows = self.kept_entries(layer, v, mask, neurons.rows[layer])
            self.meter.pay_modular(len(rows) * (len(column) + 2 + len(states) // 4))
            column = [product_sum(compress(row, states), column) % P for row in rows]
        return int(column[0]) % P

    def kept_entries(self, layer: int, v: int, mask: int, entries: Sequence[Any]) -> list[Any]:
        """The entry of v in its own layer, or the entries of neurons that are on in one before."""
        neurons = self.neurons
        if layer == neurons.layer[v]:
            return [entries[neurons.index(v)]]
        return [*compress(entries, neurons.states_of(mask, layer))]

    def slopes(self, layer: int, mask: int, k: int) -> list[int]:
        """The derivatives of the neurons of a layer that are on, by input k.

        For k = n_0 they are the derivatives along the direction.
        """
        neurons = self.neurons
        self.meter.units(neurons.starts[layer + 1] // 4)
        key = layer, k, neurons.key(neurons.before(mask, layer + 1))
        if key not in self.kept_slopes:
            found = self.new_slopes(layer, mask, k)
            if self.num_kept + len(found) > self.MAX_KEPT:
                self.meter.release(2 * self.num_kept)
                self.kept_slopes.clear()
                self.num_kept = 0
            self.meter.hold(2 * len(found))
            self.kept_slopes[key] = found
            self.num_kept += len(found)
        return self.kept_slopes[key]

    def new_slopes(self, layer: int, mask: int, k: int) -> list[int]:
        """The same, from the layer before."""
        neurons = self.neurons
        states = neurons.states_of(mask, layer)
        self.meter.units(500 + 40 * len(states))
        if layer == 0:
            return [*compress(self.by_input[k], states)]
        below, before = self.slopes(layer - 1, mask, k), neurons.states_of(mask, layer - 1)
        self.meter.pay_modular(sum(states) * (len(below) + 2 + len(before) // 4))
        rows = compress(neurons.rows[layer], states)
        return [product_sum(compress(row, before), below) % P for row in rows]

    def along_direction(self, w: int, mask: int) -> int:
        """The derivative of z_w along the direction."""
        neurons = self.neurons
        layer = neurons.layer[w]
        if layer == 0:
            return int(self.by_input[self.num_inputs][neurons.index(w)])
        below = self.slopes(layer - 1, mask, self.num_inputs)
        states = neurons.states_of(mask, layer - 1)
        self.meter.pay_modular(len(below) + len(states) // 4)
        return product_sum(compress(neurons.rows[layer][neurons.index(w)], states), below)


# -- Types of ridges, and links


class Classes(dict[Piece, Piece]):
    """Disjoint sets, each with a representative."""

    def root(self, piece: Piece) -> Piece:
        """The representative; a new piece is a set of its own. Paths are halved on the way."""
        while (above := self.setdefault(piece, piece)) != piece:
            self[piece] = piece = self[above]
        return piece

    def join(self, one: Piece, other: Piece) -> None:
        """Unite two sets."""
        self[self.root(one)] = self.root(other)


class Ridge(NamedTuple):
    """A listed ridge; its type is A, B or C, or empty if it is not good."""

    u: int
    v: int
    mask: int
    type: str
    pieces: tuple[Piece, Piece]  # of u and of v

    def sectors(self) -> list[int]:
        """The masks of the four sectors around it."""
        bits = 1 << self.u, 1 << self.v
        return [self.mask | x | y for x in (0, bits[0]) for y in (0, bits[1])]


def with_inputs(slices: Any) -> Iterator[dict[str, Any]]:
    """All slices; one with a denominator and no inputs gets the inputs that were listed last."""
    last = None
    for entry in slices:
        if "denominator" in entry and "inputs" not in entry:
            require(last is not None, "inputs of a slice before", "none")
            entry = {**entry, "inputs": last}
        last = entry.get("inputs", last)
        yield entry


class Ridges:
    """The listed ridges, strictly inside a domain, and the links of their pieces."""

    #: The types of ridges that link the pieces of u, of v.
    links_u: tuple[str, ...] = ("A", "B")
    links_v: tuple[str, ...] = ("A", "B", "C")

    def __init__(self, neurons: Neurons, is_regular: bool, domain: Domain = EVERYWHERE) -> None:
        self.neurons, self.domain, self.is_regular = neurons, domain, is_regular
        self.derivatives = Derivatives(neurons)
        self.listed, self.links = list[Ridge](), Classes()

    def read(self, slices: Any) -> None:
        """Check and add the ridges of all slices."""
        for entry in with_inputs(slices):
            plane = PlaneForms(self.neurons, entry, self.domain)
            for u, v, text in entry["ridges"]:
                mask = integer(text)
                plane.check_ridge(u, v, mask)
                self.add(u, v, mask)

    def add(self, u: int, v: int, mask: int) -> None:
        """Add a ridge with its type, and link its pieces."""
        neurons = self.neurons
        neurons.meter.units(20_000 + 4 * neurons.count)
        neurons.meter.hold(24 + neurons.count // 64)
        kind = self.type_of(u, v, mask)
        own = [(u, neurons.key(m)) for m in (mask, mask | 1 << v)]
        across = [(v, neurons.key(m)) for m in (mask, mask | 1 << u)]
        self.listed.append(Ridge(u, v, mask, kind, (own[1], across[1])))
        if kind in self.links_v:
            self.links.join(*across)
        if kind in self.links_u:
            self.links.join(*own)
        elif kind == "C":
            self.links.root(own[1])

    def type_of(self, u: int, v: int, mask: int) -> str:
        """The type, from the rays across which the gradient of f jumps.

        The jump at v is a product of `late` with a gradient, the jump at u one of `off`, or of
        off + c late where v is on.
        """
        neurons, derivatives = self.neurons, self.derivatives
        late, off = derivatives.influence(v, mask), derivatives.influence(u, mask)
        c = derivatives.bend(u, v, mask)
        if late == 0 or (off + c * late) % P == 0:
            return ""
        if neurons.layer[u] == neurons.layer[v]:
            kind = "A"
        elif c == 0:
            return ""
        elif off != 0:
            kind = "B"
        else:
            is_off = neurons.part(mask, neurons.layer[v]) == 0
            kind = "C" if is_off else ""
        if self.is_regular and kind:
            return kind if kind != "C" and self.is_clear(u, v, mask, (c, off, late)) else ""
        return kind

    def is_clear(self, u: int, v: int, mask: int, jumps: tuple[int, int, int]) -> bool:
        """Whether the derivative of g along the direction is not 0 on any of the four sectors."""
        (c, off, late), derivatives = jumps, self.derivatives
        layer = self.neurons.layer[v]
        slopes = derivatives.slopes(layer, mask, derivatives.num_inputs)
        self.neurons.meter.pay_modular(len(slopes))
        base = product_sum(slopes, derivatives.influences(layer, mask))
        at_u, at_v = (derivatives.along_direction(w, mask) for w in (u, v))
        sectors = 0, off * at_u, late * at_v, off * at_u + late * (at_v + c * at_u)
        return all((base + jump) % P for jump in sectors)
