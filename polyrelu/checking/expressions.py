"""Networks as expressions in atoms max(h, 0): the joint network of a split tree."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import (
    Form,
    Row,
    add_to,
    bits_of_form,
    check_indices,
    without_zeros,
)
from polyrelu.checking.meter import Meter, cells_of, require
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.pairs import Domain, least_common_multiple
from polyrelu.checking.text import rational

# ==== 5. Split trees: claim equivalent, theorem tree; claim regions, theorem regions ====

# Symbol 0 of a form stands for 1, symbols 1 ... d for the coordinates y, the next ones for lifted
# neurons, all others for atoms max(h, 0), h a primitive form of earlier symbols.

Neuron = tuple[int, int, int]  # network 0 or 1, layer from 1, index


class Atom(NamedTuple):
    """max(form, 0), the form primitive; its level, and the bits of the form."""

    form: Form
    level: int
    bits: int


def key_of(form: Form, sign: int = 1) -> Row:
    """A primitive form, or its negative, as a key."""
    return Row(chain.from_iterable((symbol, sign * form[symbol]) for symbol in sorted(form)))


def primitive_form(form: Form) -> tuple[Form, int]:
    """(h, g): form = g h, g > 0, the entries of h without a common divisor."""
    divisor = math.gcd(*form.values())
    if divisor == 1:
        return form, 1
    return {symbol: x // divisor for symbol, x in form.items()}, divisor


def by_the_negative(form: Form, symbol: int, factor: int) -> Form:
    """max(t, 0) = t + max(-t, 0), for t = `form` and the symbol of the atom of -t / factor."""
    return without_zeros(form | {symbol: form.get(symbol, 0) + factor})


def common_divisor(number: int, forms: Iterable[Form], meter: Meter) -> int:
    """The greatest common divisor of a number and all coefficients."""
    divisor = number
    for form in forms:
        if divisor == 1:
            break
        bits = bits_of_form(form)
        meter.pay_divisions(len(form), bits, min(bits, divisor.bit_length()))
        divisor = math.gcd(divisor, *form.values())
    return divisor


#: The activations of a layer as forms over a denominator.
Activations = tuple[list[Form], int]


class JointNetwork:
    """The difference of two networks, or all activations of one, over the atoms that are needed."""

    def __init__(
        self,
        networks: Sequence[Network],
        domain: Domain,
        lifted: Sequence[Neuron],
        meter: Meter,
    ) -> None:
        self.num_inputs, self.meter = domain.dimension(), meter
        self.dimension = self.num_inputs + len(lifted)
        self.sides = dict(domain.sides)
        self.lifted = {neuron: 1 + self.num_inputs + k for k, neuron in enumerate(lifted)}
        require(len(self.lifted) == len(lifted), "different neurons", "one twice", "lifted")
        self.slacks = [(slack, domain.scale) for slack in domain.slacks]
        self.atoms, self.symbols = list[Atom](), dict[Row, int]()
        self.levels = [0] * (1 + self.dimension)
        made = [self.activations(which, network, domain) for which, network in enumerate(networks)]
        self.add_lifted_slacks()
        self.outputs, self.denominator = list[Form](), 1  # of one network
        if len(made) == 1:
            rows = [form for forms, _ in made[0][1:] for form in forms]
            self.outputs, self.denominator = made[0][-1]
        else:
            rows = differences(made[0][-1], made[1][-1], meter)
        self.difference = [primitive_form(form)[0] for form in rows if form]
        self.keep_used()

    def add_lifted_slacks(self) -> None:
        """The activation of a lifted neuron is at least 0, and at least its form."""
        found = {symbol: key for key, symbol in self.symbols.items() if symbol <= self.dimension}
        fact, got = "neurons that have forms of their own", f"{len(found)} of them"
        require(len(found) == len(self.lifted), fact, got, "lifted")
        for symbol in sorted(found):
            pairs = zip(found[symbol][::2], found[symbol][1::2], strict=True)
            above = {c: -x for c, x in pairs}
            self.slacks += [({symbol: 1}, 1), (above | {symbol: 1}, 1)]
            self.sides[symbol, True] = Fraction(0)

    def activations(self, which: int, network: Network, domain: Domain) -> list[Activations]:
        """The input, the activations and the outputs of a network."""
        found = [(domain.inputs, domain.scale)]
        for number, layer in enumerate(network.layers, 1):
            z, denominator = self.preactivations(layer, found)
            if number <= network.num_hidden_layers():
                signs = self.signs_by_weights(layer, found)
                z = [
                    self.activation(form, sign, (which, number, i))
                    for i, (form, sign) in enumerate(zip(z, signs, strict=True))
                ]
            self.meter.hold(sum(cells_of(3 * len(form), bits_of_form(form)) for form in z))
            found.append((z, denominator))
        return found

    def preactivations(self, layer: Layer, activations: Sequence[Activations]) -> Activations:
        """The preactivations of a layer, from the activations of all layers before."""
        sources = (*layer.earlier, (len(activations) - 1, layer.rows))
        blocks = [(rows, *activations[source]) for source, rows in sources]
        common = least_common_multiple([denominator for _, _, denominator in blocks], self.meter)
        own, before = layer.bits, self.meter.cells
        self.meter.pay(len(layer.bias), own, common.bit_length())
        sums: list[Form] = [{0: b * common} for b in layer.bias]
        for rows, forms, denominator in blocks:
            factor, sizes = common // denominator, [len(form) for form in forms]
            bits, factor_bits = max(map(bits_of_form, forms), default=0), factor.bit_length()
            self.meter.pay(len(rows) * (1 + len(forms)), own, factor_bits)
            sizes_of_products = (
                sum(size for w, size in zip(row, sizes, strict=True) if w) for row in rows
            )
            self.meter.pay(2 * sum(sizes_of_products) + sum(sizes), bits, own + factor_bits)
            for entries, row in zip(sums, rows, strict=True):
                for w, form in zip(row, forms, strict=True):
                    add_to(entries, form, w * factor)
                self.meter.units(60 * len(entries))
                self.meter.hold(cells_of(3 * len(entries), bits_of_form(entries)))
        self.meter.release(self.meter.cells - before)  # the activations are held
        sums, denominator = list(map(without_zeros, sums)), common * layer.denominator
        divisor = common_divisor(denominator, sums, self.meter)
        if divisor == 1:
            return sums, denominator
        bits = max(map(bits_of_form, sums), default=0)
        self.meter.pay_divisions(sum(map(len, sums)), bits, divisor.bit_length())
        reduced = [{symbol: x // divisor for symbol, x in form.items()} for form in sums]
        return reduced, denominator // divisor

    def signs_by_weights(self, layer: Layer, activations: Sequence[Activations]) -> list[int]:
        """The signs of neurons that read no input, and whose bias and weights have one sign.

        Weights on activations that are 0 as forms do not count. A sign is 0 if it is not shown.
        """
        blocks, found = (*layer.earlier, (len(activations) - 1, layer.rows)), list[int]()
        for i, b in enumerate(layer.bias):
            values, reads_input = [b], False
            for source, rows in blocks:
                pairs = zip(rows[i], activations[source][0], strict=True)
                used = [w for w, a in pairs if w and a]
                reads_input = reads_input or (source == 0 and used != [])
                values += used
            alike = (min(values) >= 0) - (max(values) <= 0)
            found.append(0 if reads_input else alike)
        return found

    def shown_sign(self, form: Form) -> int:
        """The sign of a form without inputs whose coefficients have one sign; 0 if not shown."""
        if not form or any(1 <= symbol <= self.num_inputs for symbol in form):
            return 0
        return (min(form.values()) > 0) - (max(form.values()) < 0)

    def activation(self, form: Form, sign: int, neuron: Neuron) -> Form:
        """max(form, 0), with an atom if neither weights nor coefficients show the sign."""
        sign = sign or self.shown_sign(form)
        if sign or not form:
            return form if sign > 0 else {}
        bits = bits_of_form(form)
        self.meter.pay(6 * len(form) + 20)
        self.meter.pay_divisions(2 * len(form), bits, bits)
        h, factor = primitive_form(form)
        key, other = key_of(h), key_of(h, -1)
        if neuron in self.lifted:
            self.check_lifted(form, key, other, neuron)
        if key not in self.symbols and other in self.symbols:
            return by_the_negative(form, self.symbols[other], factor)
        if key not in self.symbols:
            self.add_symbol(h, key, neuron)
        return {self.symbols[key]: factor}

    def check_lifted(self, form: Form, key: Row, other: Row, neuron: Neuron) -> None:
        """A lifted neuron is the first one with its form, which is affine in the coordinates."""
        name = str(neuron)
        require(max(form) <= self.dimension, "a form over coordinates", name, "lifted")
        is_first = key not in self.symbols and other not in self.symbols
        require(is_first, "the first neuron with its form", name, "lifted")

    def add_symbol(self, h: Form, key: Row, neuron: Neuron) -> None:
        """A new coordinate for a lifted neuron, or a new atom."""
        self.meter.hold(8 * len(h) + 8)
        if neuron in self.lifted:
            self.symbols[key] = self.lifted[neuron]
            return
        self.symbols[key] = len(self.levels)
        self.levels.append(1 + max(self.levels[symbol] for symbol in h))
        self.atoms.append(Atom(h, self.levels[-1], bits_of_form(h)))

    def keep_used(self) -> None:
        """Keep the atoms that the difference needs, numbered by level, then by first neurons."""
        first, used = 1 + self.dimension, self.used(self.difference)
        order = sorted(used, key=lambda k: self.atoms[k].level)
        new = {first + k: first + number for number, k in enumerate(order)}

        def rename(form: Form) -> Form:
            """The form with the new symbols."""
            return {new.get(symbol, symbol): x for symbol, x in form.items()}

        self.atoms = [self.atoms[k]._replace(form=rename(self.atoms[k].form)) for k in order]
        self.difference = list(map(rename, self.difference))
        self.outputs = list(map(rename, self.outputs))

    def used(self, forms: Iterable[Form]) -> list[int]:
        """The atoms in forms, those in their forms, and so on, in order."""
        first, used = 1 + self.dimension, set(chain.from_iterable(forms))
        for k in reversed(range(len(self.atoms))):
            if first + k in used:
                used.update(self.atoms[k].form)
        return [k for k in range(len(self.atoms)) if first + k in used]

    def check_parts(self, parts: Any) -> list[list[Form]]:
        """Parts of the difference, each with one form for each of its rows, that add up to it."""
        if not parts:
            return [self.difference]
        self.meter.step = "parts"
        found, totals = list[list[Form]](), [Total(self.meter) for _ in self.difference]
        size = 1 + self.dimension + len(self.atoms)
        for part in parts:
            require(len(part) == len(totals), f"{len(totals)} rows", str(len(part)))
            require(any(part), "rows that are not all 0", "all 0")
            self.meter.pay(4 * (1 + len(self.atoms)))
            found.append(
                [self.add_row(total, row, size) for total, row in zip(totals, part, strict=True)]
            )
        for total, form in zip(totals, self.difference, strict=True):
            self.meter.pay(2 * len(form), bits_of_form(form), total.scale.bit_length())
            scaled = {symbol: x * total.scale for symbol, x in form.items()}
            same = without_zeros(total.form) == scaled
            require(same, "parts that add up to the difference", "another sum")
        return found

    def add_row(self, total: Total, row: Any, size: int) -> Form:
        """A row of a part as a form; it is added to the sum of all parts."""
        check_indices([symbol for symbol, _ in row], size, "symbols")
        own = Total(self.meter)
        for symbol, text in row:
            value = rational(text, self.meter)
            total.add({symbol: 1}, value)
            own.add({symbol: 1}, value)
        return without_zeros(own.form)


def differences(one: Activations, two: Activations, meter: Meter) -> list[Form]:
    """Multiples of the outputs of one network minus multiples of the outputs of the other."""
    (left, p), (right, q), rows = one, two, list[Form]()
    for mine, others in zip(left, right, strict=True):
        sums = dict[int, int]()
        for form, factor in ((mine, q), (others, -p)):
            meter.pay(2 * len(form), bits_of_form(form), factor.bit_length())
            add_to(sums, form, factor)
        bits = bits_of_form(sums)
        meter.pay_divisions(2 * len(sums), bits, bits)
        rows.append(without_zeros(sums))
    return rows


class Total:
    """A sum of multiples of forms: integers over one denominator. Each step is paid before it."""

    def __init__(self, meter: Meter) -> None:
        self.meter, self.form, self.scale, self.symbols = meter, dict[int, int](), 1, list[int]()
        self.bits = 0  # a bound for the coefficients

    def add(self, form: Form, factor: Fraction, bits: int = 1) -> None:
        """Add a multiple of a form with coefficients of some bits."""
        p, q = factor.numerator, factor.denominator
        growth = 1
        if q != self.scale:
            self.meter.pay_divisions(4, self.scale.bit_length(), q.bit_length())
            common = math.lcm(self.scale, q)
            growth, p, self.scale = common // self.scale, p * (common // q), common
        if growth > 1:
            self.meter.pay(len(self.form), self.bits, growth.bit_length())
            self.bits += growth.bit_length()
            self.form = {symbol: x * growth for symbol, x in self.form.items()}
        self.meter.pay(8 + 3 * len(form), bits, p.bit_length())
        self.bits = max(self.bits, bits + p.bit_length()) + 1
        for symbol, x in form.items():
            if symbol not in self.form:
                heapq.heappush(self.symbols, -symbol)
            self.form[symbol] = self.form.get(symbol, 0) + p * x

    def latest(self) -> int:
        """The last symbol."""
        return -self.symbols[0] if self.symbols else 0

    def pop(self) -> Fraction:
        """Take out the last symbol; its coefficient."""
        self.meter.pay(17)
        self.meter.pay_divisions(3, self.bits, self.scale.bit_length())
        return Fraction(self.form.pop(-heapq.heappop(self.symbols)), self.scale)
