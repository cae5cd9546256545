"""Refutations by neurons that have one sign wherever another one is on."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from polyrelu.checking.arithmetic import (
    Form,
    add_to,
    added,
    bits_of_form,
    check_indices,
)
from polyrelu.checking.meter import Meter, longest, require
from polyrelu.checking.networks import Layer
from polyrelu.checking.refutations import Changed, changed_layers, check_layer, refutation
from polyrelu.checking.text import NATURAL, integer
from polyrelu.checking.theorems import Case

# ---- Refutations: one-sided

MULTIPLES = [(int, NATURAL)]
SIGN_MARK = re.compile("[+-]")


class Facts:
    """Forms that are >= 0 on the domain or, with a source, wherever the source is on there.

    Facts 2k and 2k+1 are a and d a - t of neuron k, as a = max(t/d, 0); from 2N on come `more`: 1,
    what the source adds, the slacks of the domain, what steps add. The N neurons of layers before
    layer `number` are numbered from 0, layer by layer; `source` has the number of the source, if
    there is one. Symbols: 0 for 1, then the inputs, then the neurons.
    """

    def __init__(self, case: Case, number: int, source: list[int]) -> None:
        network = case.network
        self.layers, self.meter, self.more = network.layers, case.meter, [{0: 1}]
        self.starts = list(accumulate(network.widths[:number], initial=1))
        self.num_neurons = self.starts[-1] - self.starts[1]
        for k in source:
            own, t = self.neuron(k)
            self.more.append(added(t, own, -1))
        self.more.extend(case.domain.slacks)

    def form(self, blocks: Sequence[tuple[int, Sequence[int]]], bias: int) -> Form:
        """Weights on layers, each with its number, and a bias as a form."""
        self.meter.pay(2 * (1 + sum(len(row) for _, row in blocks)))
        form = {0: bias}
        for source, row in blocks:
            form.update(enumerate(row, self.starts[source]))
        return form

    def neuron(self, k: int) -> tuple[Form, Form]:
        """The forms d a and t of neuron k."""
        symbol = self.starts[1] + k
        number = bisect(self.starts, symbol) - 1
        layer, i = self.layers[number - 1], symbol - self.starts[number]
        blocks = [(source, rows[i]) for source, rows in (*layer.earlier, (number - 1, layer.rows))]
        return {symbol: layer.denominator}, self.form(blocks, layer.bias[i])

    def fact(self, number: int) -> Form:
        """A fact by its number."""
        known = 2 * self.num_neurons + len(self.more)
        require(number < known, f"a fact below {known}", str(number))
        if number >= 2 * self.num_neurons:
            return self.more[number - 2 * self.num_neurons]
        k, is_gap = divmod(number, 2)
        return added(*self.neuron(k), -1) if is_gap else {self.starts[1] + k: 1}

    def without(self, form: Form, multiples: Any, sign: int = -1) -> Form:
        """A form minus multiples of facts; plus them if the sign is 1."""
        rest = dict(form)
        self.meter.pay(2 * len(form))
        for number, text in multiples:
            factor, fact = integer(text), self.fact(number)
            self.meter.units(1_000 + 200 * len(fact))
            self.meter.pay(len(fact), bits_of_form(fact), factor.bit_length())
            add_to(rest, fact, sign * factor)
        return rest

    def check_follows(self, form: Form, multiples: Any) -> None:
        """The form is a sum of these multiples of facts, and of multiples of activations and 1."""
        rest = self.without(form, multiples)
        for symbol, x in rest.items():
            is_input = 1 <= symbol < self.starts[1]
            require(not is_input or x == 0, "facts that leave nothing of the inputs", "an input")
            require(x >= 0, "facts that leave nonnegative multiples of activations", "others")

    def add_step(self, k: int, scale: str, above: Any, gap: Any) -> None:
        """The fact G - q d a >= 0, G a sum of multiples of facts, because q t <= G as well."""
        require(k < self.num_neurons, "a neuron of the layers before", str(k))
        q = integer(scale)
        require(q > 0, "a positive factor of a step", "0")
        bound, (own, t) = self.without({}, above, 1), self.neuron(k)
        self.meter.pay(4 * len(t), bits_of_form(t), q.bit_length())
        self.check_follows(added(bound, t, -q), gap)
        self.more.append(added(bound, own, -q))
        size = 4 + bits_of_form(self.more[-1]) // 512
        self.meter.hold(size * len(self.more[-1]))


@refutation(
    "one-sided",
    "theory/one_sided.md",
    {
        "layer": int,
        "source": [int],
        "steps": [(int, NATURAL, MULTIPLES, MULTIPLES)],
        "signs": [(int, SIGN_MARK, NATURAL, MULTIPLES)],
    },
)
def one_sided(case: Case) -> None:
    """Neurons of layer l have one sign wherever the source is on; their weights on it change.

    Without a source, the constant 1 takes its place.
    """
    evidence, changed, meter = case.evidence["same-function"], changed_layers(case), case.meter
    source = evidence["source"]
    check_source(changed, source)
    facts = Facts(case, changed.number, numbers_of(changed, source, case))
    for step in evidence["steps"]:
        facts.add_step(*step)
    proofs = {v: (text, multiples) for v, _, text, multiples in evidence["signs"]}

    def check_sign(v: int, sign: str, rows: Sequence[list[int]], _: int) -> None:
        """Both rows of a neuron have the sign."""
        text, multiples = proofs[v]
        factor = integer(text)
        require(factor > 0, "a positive factor of a sign", "0")
        for row in rows:
            meter.pay(len(row), longest([row]), factor.bit_length())
            own = [factor * x if sign == "+" else -factor * x for x in row]
            facts.check_follows(facts.form([(changed.number - 1, own[:-1])], own[-1]), multiples)

    marks = [(v, sign) for v, sign, *_ in evidence["signs"]]
    check_change(case, changed, source, marks, check_sign)


def check_source(changed: Changed, source: list[int]) -> None:
    """At most one source, a neuron of the layer before."""
    width = len(changed.lower.rows[0])
    require(len(source) <= 1, "at most one source", str(len(source)))
    require(not source or changed.number > 1, "a source in a hidden layer", "an input")
    require(all(h < width for h in source), f"a source below {width}")


def numbers_of(changed: Changed, source: list[int], case: Case) -> list[int]:
    """The number of the source among all neurons before layer l, if there is one."""
    before = sum(case.network.widths[1 : changed.number - 1])
    return [before + h for h in source]


def check_change(
    case: Case,
    changed: Changed,
    source: list[int],
    marks: Sequence[tuple[int, str]],
    check_sign: Callable[[int, str, Sequence[list[int]], int], None],
) -> None:
    """Layer l is equal but for the weights of some neurons on the source; layer l+1 takes it back.

    `check_sign` gets a neuron, its sign, its rows in both networks, and the change of the weight.
    """
    meter, width = case.meter, len(changed.lower.rows[0])
    old, new = over_common_denominator(changed.lower, changed.others[0], meter)
    rows = changed.upper.augmented()
    scale = changed.lower.denominator * changed.others[0].denominator
    meter.pay(2 * len(rows) * len(rows[0]), longest(rows), scale.bit_length())
    above = [[x * scale for x in row] for row in rows]
    place = source[0] if source else width
    check_indices([v for v, _ in marks], len(old), "neurons with signs")
    for v, sign in marks:
        change = new[v][place] - old[v][place]
        check_sign(v, sign, (old[v], new[v]), change)
        old[v][place] = new[v][place]
        if sign == "+":
            meter.pay(2 * len(above), change.bit_length(), longest(rows))
            for row, weights in zip(above, changed.upper.rows, strict=True):
                row[-1] -= weights[v] * change
    require(old == new, "equal layers l but for the weights of `signs` on the source")
    if source:
        kept = all(row[-1] == b * scale for row, b in zip(above, changed.upper.bias, strict=True))
        require(kept, "changes that cancel in layer l+1")
    check_layer(changed.others[1], above, changed.upper.denominator * scale, meter)


def over_common_denominator(
    one: Layer, two: Layer, meter: Meter
) -> tuple[list[list[int]], list[list[int]]]:
    """The rows [W|b] of two layers over the product of their denominators."""
    size = len(one.rows) * (len(one.rows[0]) + 1)
    meter.pay(size, one.bits, two.denominator.bit_length())
    meter.pay(size, two.bits, one.denominator.bit_length())
    left = [[x * two.denominator for x in row] for row in one.augmented()]
    right = [[x * one.denominator for x in row] for row in two.augmented()]
    return left, right
