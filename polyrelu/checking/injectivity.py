"""Injectivity of networks and of their parts, claims injective and not-injective."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import Form, pivot_columns
from polyrelu.checking.meter import Meter, cells_of, longest, require
from polyrelu.checking.networks import Layer, Network
from polyrelu.checking.pairs import Domain, check_inside, outputs, read_domain, slack_of
from polyrelu.checking.text import RATIONAL, OneOf, rationals
from polyrelu.checking.theorems import PRIMES, Case, theorem

# ==== 3.10 Injectivity: theorems active-rows and collision ====

LAYER_NODE = OneOf(
    (
        (re.compile("prune|grow|split"), [int]),
        ("pack", [[int]]),
    )
)


def part_of_claim(case: Case) -> Network:
    """The layers of the claim as a network of their own."""
    case.meter.step = "claim.layers"
    network, (first, last) = case.network, case.claim["layers"]
    fact = f"layers from 1 to {len(network.layers)}, the first one not after the last one"
    require(1 <= first <= last <= len(network.layers), fact, f"{first} to {last}")
    layers = list[Layer]()
    for layer in network.layers[first - 1 : last]:
        earlier = [(source - first + 1, rows) for source, rows in layer.earlier]
        fact = "layers that read no activation from before the part"
        require(all(source >= 0 for source, _ in earlier), fact)
        layers.append(layer._replace(earlier=earlier))
    activation = "relu" if last <= network.num_hidden_layers() else "affine"
    return Network(network.widths[first - 1 : last + 1], layers, activation, network.sha256)


@theorem(
    "collision",
    kind="not-injective",
    page="theory/injectivity.md",
    evidence={
        "points": {"x": [RATIONAL], "y": [RATIONAL]},
        "values": {"f": [RATIONAL]},
    },
    says={
        "points": "two different points belong to the domain",
        "values": "the outputs at both of them were computed, and are equal",
    },
)
def collision(case: Case) -> None:
    """Two points of the domain differ, and both have the outputs that are stated."""
    meter, part = case.meter, part_of_claim(case)
    domain = read_domain(case.claim["domain"], part.widths[0], meter)
    points = case.hypothesis("points")
    x, y = (rationals(points[key], meter) for key in ("x", "y"))
    for one in (x, y):
        domain.check_point(one, meter)
    require(x != y, "two different points", "one point twice")
    stated = rationals(case.hypothesis("values")["f"], meter)
    for key, one in (("x", x), ("y", y)):
        require(outputs(part, one, meter) == stated, f"the outputs f({key})", "other numbers")


@theorem(
    "active-rows",
    kind="injective",
    page="theory/injectivity.md",
    evidence={"interior": {"x": [RATIONAL]}, "trees": {"prime": PRIMES, "trees": [[LAYER_NODE]]}},
    says={
        "interior": "the point is strictly inside the domain",
        "trees": "in every layer the active rows span the inputs of the layer at every point off "
        "the hyperplanes: inside the domain in the first layer, inside the orthant in later ones",
    },
)
def active_rows(case: Case) -> None:
    """Every layer of the part is injective where its inputs are."""
    meter, part = case.meter, part_of_claim(case)
    domain = read_domain(case.claim["domain"], part.widths[0], meter)
    check_inside(domain, case.hypothesis("interior")["x"], meter)
    evidence = case.hypothesis("trees")
    require(part.is_plain(), "layers that read only the layer before")
    prime, trees = int(evidence["prime"]), evidence["trees"]
    require(len(trees) == len(part.layers), f"{len(part.layers)} trees", str(len(trees)))
    for number, (layer, nodes) in enumerate(zip(part.layers, trees, strict=True), 1):
        if number > 1:
            domain = orthant(part.widths[number - 1], meter)
        meter.step = f"trees[{number - 1}]"
        rows = LayerRows(layer, domain, prime, meter)
        if number == len(part.layers) and part.last == "affine":
            check_full_rank(rows, nodes)
        else:
            LayerWalk(rows, nodes).check()


def orthant(size: int, meter: Meter) -> Domain:
    """The points with coordinates >= 0."""
    meter.pay(8 * size)
    meter.hold(12 * size)
    coordinates = [{j: 1} for j in range(1, size + 1)]
    sides = {(j, True): Fraction(0) for j in range(1, size + 1)}
    return Domain(1, coordinates, coordinates, sides, [], [], list(range(size)))


class LayerRows:
    """The neurons of a layer, the inequalities of its domain, and 1, as rows over (y, 1).

    Neurons come first. `residues` are their linear parts modulo the prime.
    """

    def __init__(self, layer: Layer, domain: Domain, prime: int, meter: Meter) -> None:
        self.meter, self.prime, self.size = meter, prime, domain.dimension()
        bits = max(domain.scale.bit_length(), longest(form.values() for form in domain.inputs))
        forms = [
            slack_of([*(-w for w in row), b], domain.inputs, domain.scale, bits, meter)
            for row, b in zip(layer.rows, layer.bias, strict=True)
        ]
        self.num_neurons = len(forms)
        self.rows = [self.dense(form) for form in [*forms, *domain.slacks, {0: 1}]]
        self.bits = longest(self.rows)
        meter.pay(4 * self.num_neurons * self.size, self.bits, 61)
        self.residues = [[x % prime for x in row[:-1]] for row in self.rows[: self.num_neurons]]

    def dense(self, form: Form) -> list[int]:
        """A form as a row without a common divisor, its constant last."""
        bits = longest([form.values()])
        self.meter.pay(2 * (self.size + 1))
        self.meter.pay_divisions(2 * len(form), bits, bits)
        self.meter.hold(cells_of(2 * self.size, bits))
        divisor = math.gcd(*form.values()) or 1
        return [form.get(symbol, 0) // divisor for symbol in (*range(1, self.size + 1), 0)]

    def check_dependence(self, chosen: Sequence[int], signs: dict[int, int]) -> None:
        """The rows with their signs have one dependence, up to a factor, and it is >= 0.

        Neurons without a known sign count as negative. A row that is 0 is positive nowhere.
        """
        require(max(chosen, default=0) < len(self.rows), f"rows below {len(self.rows)}")
        require(len({*chosen}) == len(chosen), "different rows")
        entries = len(chosen) * (self.size + 1)
        self.meter.pay(4 * entries)
        require(all(any(self.rows[i]) for i in chosen), "rows that are not 0", "a row of zeros")
        self.meter.hold(2 * entries)
        columns = list[list[int]]()
        for i in chosen:
            sign = signs.get(i, -1) if i < self.num_neurons else 1
            columns.append([sign * x for x in self.rows[i]])
        multipliers = the_kernel([list(row) for row in zip(*columns, strict=True)], self.meter)
        self.meter.release(2 * entries)
        require(bool(multipliers), "rows with one dependence, up to a factor")
        same_sign = all(x >= 0 for x in multipliers) or all(x <= 0 for x in multipliers)
        require(same_sign, "a dependence with multipliers >= 0")


def the_kernel(matrix: list[list[int]], meter: Meter) -> list[int]:
    """A vector that spans the kernel; empty if the kernel has another dimension.

    Gauss and Jordan without fractions, as Bareiss: all numbers are minors, divisions are exact.
    """
    width, bits = len(matrix[0]) if matrix else 0, longest(matrix)
    rest, last, free = [row for row in matrix if any(row)], 1, list[int]()
    done, pivots = list[list[int]](), list[int]()
    for c in range(width):
        place = next((k for k, row in enumerate(rest) if row[c]), None)
        meter.pay(10 * (len(rest) + len(done)))
        if place is None:
            free.append(c)
            continue
        pivot = rest.pop(place)
        size = (len(pivots) + 1) * (bits + 10)
        left = (len(rest) + len(done)) * (width - c)
        meter.pay(2 * left, size, size)
        meter.pay_divisions(left, 2 * size, size)
        rest, done = (
            [
                [(pivot[c] * x - row[c] * y) // last for x, y in zip(row, pivot, strict=True)]
                for row in rows
            ]
            for rows in (rest, done)
        )
        last = pivot[c]
        done.append(pivot)
        pivots.append(c)
    if len(free) != 1:
        return []
    found = [0] * width
    found[free[0]] = last
    for row, c in zip(done, pivots, strict=True):
        found[c] = -row[free[0]]
    return found


class Span(NamedTuple):
    """The span U of some neurons: an echelon form modulo the prime, and the neurons."""

    echelon: tuple[tuple[int, list[int]], ...] = ()
    neurons: tuple[int, ...] = ()

    def remainder(self, rows: LayerRows, neuron: int) -> list[int]:
        """What is left of a neuron modulo U and the prime, without the pivot columns."""
        vector, prime = rows.residues[neuron], rows.prime
        rows.meter.pay_modular(2 * (len(self.echelon) + 1) * (rows.size + 10))
        for c, row in self.echelon:
            if x := vector[c]:
                vector = [(a - x * b) % prime for a, b in zip(vector, row, strict=True)]
        return vector

    def grown(self, rows: LayerRows, neuron: int) -> Span:
        """The span with a neuron that lies outside of it."""
        vector = self.remainder(rows, neuron)
        c = next((k for k, x in enumerate(vector) if x), -1)
        rows.meter.units(6_000)
        fact = f"rows outside of the span, modulo {rows.prime}"
        require(c >= 0, fact, f"neuron {neuron} in the span")
        inverse = pow(vector[c], -1, rows.prime)
        row = [x * inverse % rows.prime for x in vector]
        return Span((*self.echelon, (c, row)), (*self.neurons, neuron))

    def columns_left(self, size: int) -> list[int]:
        """The columns without a pivot."""
        pivots = {c for c, _ in self.echelon}
        return [c for c in range(size) if c not in pivots]


class LayerWalk:
    """A walk through the nodes of the tree of one layer."""

    def __init__(self, rows: LayerRows, nodes: list[Any]) -> None:
        self.rows, self.nodes, self.meter = rows, nodes, rows.meter
        self.place, self.number = rows.meter.step, 0

    def check(self) -> None:
        """Every node in prefix order is closed, split, or goes on with a larger span."""
        waiting: list[tuple[Span, dict[int, int]]] = [(Span(), {})]
        while waiting:
            span, signs = waiting.pop()
            self.meter.release(4 * len(signs))
            if len(span.neurons) == self.rows.size:
                continue
            self.meter.step = self.place
            require(self.number < len(self.nodes), "another node", f"{len(self.nodes)} of them")
            kind, listed = self.nodes[self.number]
            self.meter.step = f"{self.place}[{self.number}]"
            self.meter.units(3_000)
            self.number += 1
            if kind == "pack":
                self.check_pack(span, signs, listed)
            else:
                waiting += reversed(self.after(kind, listed, span, signs))
        self.meter.step = self.place
        require(self.number == len(self.nodes), f"{self.number} nodes", str(len(self.nodes)))

    def after(
        self, kind: str, listed: list[int], span: Span, signs: dict[int, int]
    ) -> list[tuple[Span, dict[int, int]]]:
        """The nodes that follow below a node of one dependence."""
        new = self.new_neurons(listed, signs)
        if kind == "prune":
            require(not new, "only neurons with known signs", f"{len(new)} others")
            return []
        require(bool(new), "a neuron without a known sign", "none")
        spans = [span.grown(self.rows, neuron) for neuron in new]
        if kind == "grow":
            self.check_line(span, new)
            self.meter.hold(4 * len(signs))
            return [(spans[0], signs)]
        found, known = list[tuple[Span, dict[int, int]]](), dict(signs)
        for neuron, grown in zip(new, spans, strict=True):
            self.meter.units(1_000 + 100 * len(known))
            self.meter.hold(4 * len(known) + 4)
            found.append((grown, {**known, neuron: 1}))
            known[neuron] = -1
        return found

    def new_neurons(self, listed: list[int], signs: dict[int, int]) -> list[int]:
        """The neurons of a dependence, one of which is active where the signs are as known."""
        self.rows.check_dependence(listed, signs)
        return [i for i in listed if i < self.rows.num_neurons and i not in signs]

    def check_line(self, span: Span, new: list[int]) -> None:
        """The span and the new neurons together have one dimension more than the span."""
        if len(span.neurons) == self.rows.size - 1 or self.are_multiples(new):
            return
        matrix = [self.rows.rows[i][:-1] for i in (*span.neurons, *new)]
        rank, wanted = len(pivot_columns(matrix, self.meter)), len(span.neurons) + 1
        require(rank == wanted, f"rank {wanted} with the new rows", str(rank))

    def are_multiples(self, new: list[int]) -> bool:
        """Whether the linear parts of neurons, not 0, are multiples of the first one."""
        first, *rest = (self.rows.rows[i][:-1] for i in new)
        self.meter.pay(2 * len(new) * self.rows.size, self.rows.bits, self.rows.bits)
        c = next(k for k, x in enumerate(first) if x)
        return all(
            x * row[c] == y * first[c] for row in rest for x, y in zip(first, row, strict=True)
        )

    def check_pack(self, span: Span, signs: dict[int, int], listed: list[list[int]]) -> None:
        """Of each dependence a new neuron is active, and any choice of them spans the rest."""
        left = span.columns_left(self.rows.size)
        require(len(listed) == len(left), f"{len(left)} dependences", str(len(listed)))
        sets, held = list[list[list[int]]](), self.meter.cells
        for chosen in listed:
            new = self.new_neurons(chosen, signs)
            self.meter.hold(len(new) * len(left))
            vectors = (span.remainder(self.rows, i) for i in new)
            sets.append([[vector[c] for c in left] for vector in vectors])
        self.check_choices(sets)
        self.meter.release(self.meter.cells - held)

    def check_choices(self, sets: list[list[list[int]]]) -> None:
        """Every choice of one vector from each set is independent modulo the prime."""
        (first, *rest), prime = sets, self.rows.prime
        for vector in first:
            c = next((k for k, x in enumerate(vector) if x), -1)
            require(c >= 0, f"independent choices, modulo {prime}", "dependent ones")
            if not rest:
                continue
            others = sum(map(len, rest))
            self.meter.pay_modular(50 + others * (len(vector) + 10))
            self.meter.hold(others * len(vector))
            inverse = pow(vector[c], -1, prime)
            scaled = [x * inverse % prime for x in vector]
            self.check_choices(
                [
                    [
                        [(a - other[c] * b) % prime for a, b in zip(other, scaled, strict=True)]
                        for other in vectors
                    ]
                    for vectors in rest
                ]
            )
            self.meter.release(others * len(vector))


def check_full_rank(rows: LayerRows, nodes: list[Any]) -> None:
    """An affine map is injective: its rows span; it has no tree."""
    require(not nodes, "no nodes for an affine layer", str(len(nodes)))
    basis, rank = Span(), 0
    for neuron in range(rows.num_neurons):
        if rank < rows.size and any(basis.remainder(rows, neuron)):
            basis, rank = basis.grown(rows, neuron), rank + 1
    require(rank == rows.size, f"rank {rows.size} modulo {rows.prime}", str(rank))
