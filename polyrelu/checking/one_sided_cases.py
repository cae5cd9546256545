"""Refutations by neurons that have one sign wherever another one is on, in each case of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polyrelu.checking.arithmetic import (
    Form,
    add_to,
    added,
    bits_of_form,
    check_indices,
)
from polyrelu.checking.meter import counted, require, well_formed
from polyrelu.checking.one_sided import (
    MULTIPLES,
    SIGN_MARK,
    Facts,
    check_change,
    check_source,
)
from polyrelu.checking.refutations import changed_layers, refutation
from polyrelu.checking.text import NATURAL, OneOf, integer
from polyrelu.checking.theorems import Case
from polyrelu.checking.tree_limits import MAX_DEPTH

# ---- Refutations: one-sided-cases


class CaseFacts(Facts):
    """Forms that are >= 0 in a case, in which the signs of some neurons are known.

    Facts 3k, 3k+1 and 3k+2 are t or -t of neuron k, whose sign is known, d a - t, and u - d a, u
    the positive terms of t; from 3N on come the slacks of the domain.
    """

    def __init__(self, case: Case, number: int, source: list[int]) -> None:
        super().__init__(case, number, [])
        self.known, self.listed = dict[int, int](), set[int]()
        for j in source:
            self.known[self.num_neurons - case.network.widths[number - 1] + j] = 1

    def positive_terms(self, k: int) -> Form:
        """The form u of a neuron that reads activations, which are >= 0."""
        require(k >= self.starts[2] - self.starts[1], "a neuron of layer 2 or later", str(k))
        return {symbol: x for symbol, x in self.neuron(k)[1].items() if x > 0}

    def fact(self, number: int) -> Form:
        """A fact by its number."""
        k, kind = divmod(number, 3)
        if k >= self.num_neurons:
            i = number - 3 * self.num_neurons + 1
            require(i < len(self.more), f"a fact below {3 * self.num_neurons + len(self.more) - 1}")
            return self.more[i]
        own, t = self.neuron(k)
        if kind == 0:
            require(k in self.known, "a neuron of known sign", str(k))
            return t if self.known[k] > 0 else {symbol: -x for symbol, x in t.items()}
        return added(own, t, -1) if kind == 1 else added(self.positive_terms(k), own, -1)

    def remainder(self, form: Form, multiples: Any, listed: Sequence[int]) -> int:
        """A number that the form is at least, up to a positive factor.

        Multiples of facts are taken away; then the activations are replaced, the last layer first.
        """
        check_indices(listed, self.num_neurons, "neurons of unknown sign that are replaced by z")
        self.listed, rest = set(listed), self.without(form, multiples)
        for layer in range(len(self.starts) - 2, 0, -1):
            self.replace(rest, layer)
        left = any(x for symbol, x in rest.items() if symbol)
        require(not left, "facts that leave nothing of the inputs", "an input")
        return rest.get(0, 0)

    def replace(self, rest: Form, layer: int) -> None:
        """Put values or bounds in for the activations of a layer, in place, times d."""
        first, stop = self.starts[layer : layer + 2]
        self.meter.units(60 * (stop - first))
        found = [(symbol, rest.pop(symbol, 0)) for symbol in range(first, stop)]
        denominator = self.layers[layer - 1].denominator
        self.meter.pay(len(rest), bits_of_form(rest), denominator.bit_length())
        for symbol in rest:
            rest[symbol] *= denominator
        for symbol, x in found:
            bound = self.bound(symbol - self.starts[1], x) if x else {}
            self.meter.pay(len(bound), bits_of_form(bound), x.bit_length())
            add_to(rest, bound, x)

    def bound(self, k: int, x: int) -> Form:
        """What stands for d a of neuron k, whose coefficient is x."""
        sign = self.known.get(k, 0)
        if sign > 0 or (not sign and x > 0 and k in self.listed):
            return self.neuron(k)[1]
        if sign or x > 0:
            return {}
        fact = "facts that leave nonnegative multiples of activations of layer 1"
        require(k >= self.starts[2] - self.starts[1], fact, "others")
        return self.positive_terms(k)


SPLIT_CASE = {"split": int}
CLOSED_CASE = {"leaf": [(NATURAL, MULTIPLES, [int])]}


def check_cases(facts: CaseFacts, rows: Sequence[Form], nodes: Sequence[Any]) -> None:
    """All forms are >= 0 on every leaf of a tree, whose nodes come in prefix order."""
    #: Of the nodes that are to come: the depth, the neuron that is split above, and its sign.
    waiting, path, number = [(0, 0, 0)], list[int](), 0
    while waiting:
        depth, k, sign = waiting.pop()
        while len(path) > depth:
            del facts.known[path.pop()]
        if sign:
            facts.known[k] = sign
            path.append(k)
        require(number < len(nodes), "another node", counted(number, "node"))
        facts.meter.units(2_000)
        node, number = nodes[number], number + 1
        if "leaf" in node:
            close(facts, rows, node["leaf"])
            continue
        k = node["split"]
        require(k < facts.num_neurons, "a neuron of the layers before", str(k))
        require(k not in facts.known, "a neuron of unknown sign", str(k))
        message = f"beyond the limits: more than {MAX_DEPTH} splits one below the other"
        well_formed(len(path) < MAX_DEPTH, message)
        waiting += [(len(path), k, -1), (len(path), k, 1)]
    require(number == len(nodes), counted(number, "node"), str(len(nodes)))


def close(facts: CaseFacts, rows: Sequence[Form], records: Sequence[Any]) -> None:
    """All forms are >= 0 in a case, or the case is impossible."""
    if len(records) == 1 and integer(records[0][0]) == 0:
        left = facts.remainder({}, *records[0][1:])
        require(left > 0, "a positive constant in an impossible case", "another one")
        return
    require(len(records) == len(rows), counted(len(rows), "record"), str(len(records)))
    for form, (text, multiples, listed) in zip(rows, records, strict=True):
        factor = integer(text)
        require(factor > 0, "a positive factor of a sign", "0")
        facts.meter.pay(len(form), bits_of_form(form), factor.bit_length())
        own = {symbol: factor * x for symbol, x in form.items()}
        left = facts.remainder(own, multiples, listed)
        require(left >= 0, "a constant that is not negative", "a negative one")


@refutation(
    "one-sided-cases",
    "theory/one_sided.md",
    {
        "layer": int,
        "source": [int],
        "signs": [(int, SIGN_MARK)],
        "nodes": [OneOf((SPLIT_CASE, CLOSED_CASE))],
    },
)
def one_sided_cases(case: Case) -> None:
    """Neurons of layer l have one sign wherever the source is on; their weights on it change.

    The signs hold in each case of a tree; each weight changes to the side of its neuron's sign.
    """
    evidence, changed = case.evidence["same-function"], changed_layers(case)
    source, rows = evidence["source"], changed.lower.augmented()
    check_source(changed, source)
    facts, forms = CaseFacts(case, changed.number, source), list[Form]()
    check_indices([v for v, _ in evidence["signs"]], len(rows), "neurons with signs")
    for v, mark in evidence["signs"]:
        form = facts.form([(changed.number - 1, rows[v][:-1])], rows[v][-1])
        forms.append(form if mark == "+" else {symbol: -x for symbol, x in form.items()})
    check_cases(facts, forms, evidence["nodes"])

    def check_sign(v: int, mark: str, _: Sequence[list[int]], change: int) -> None:
        """The weight changes to the side of the sign."""
        fact = "larger weights of neurons with +, smaller ones of neurons with -"
        require(change >= 0 if mark == "+" else change <= 0, fact, f"neuron {v}")

    check_change(case, changed, source, evidence["signs"], check_sign)
