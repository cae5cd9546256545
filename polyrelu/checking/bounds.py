"""Trees of cuts whose leaves are closed by one rule, claims about values of networks."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from polyrelu.checking.affine_maps import ExactMap
from polyrelu.checking.arithmetic import Form, bits_of_form, check_indices
from polyrelu.checking.backward import BackwardForms, BackwardRows
from polyrelu.checking.boxes import Ends, NodeBox, NodeInputs
from polyrelu.checking.clauses import ClauseRow, Clauses, check_points, clauses_of
from polyrelu.checking.forms import EmptyNode, JointForms
from polyrelu.checking.grid import MAX_GRID, MIN_GRID, PARTNER, GridLayer, grid_layers
from polyrelu.checking.inherited import InheritedForms
from polyrelu.checking.joint import JointBackwardForms
from polyrelu.checking.meter import cells_of, longest, quote, require, well_formed
from polyrelu.checking.pairs import Domain, check_pair, least_common_multiple, read_domain
from polyrelu.checking.relaxed_rows import SLOPES, LayerWeights, RelaxedRow
from polyrelu.checking.text import RATIONAL, OneOf, fit, rational, rationals
from polyrelu.checking.theorems import Case, Rule, theorem
from polyrelu.checking.tree_limits import MAX_DEPTH
from polyrelu.checking.trees import bits_of

# -- Leaves

LISTED_MULTIPLES = [(int, int, [(int, RATIONAL)])]
LISTED_SLOPES = [(int, int, [(int, RATIONAL)], [SLOPES])]
MARKED, RELAXED = re.compile("bounded|exact"), re.compile("relaxed|shown")
PLAIN = re.compile("open|backward|joint|inherited|intervals")
CUT_NODES = OneOf(
    (
        (),
        (int,),
        (int, RATIONAL),
        (re.compile("[fg]"), int, int),
        (MARKED, LISTED_MULTIPLES),
        (RELAXED, LISTED_SLOPES),
        (PLAIN,),
    )
)
#: Multiples of inequalities of the domain and of cuts by sign, each with its number.
NumberedMultiples = list[tuple[int, Fraction]]


class WaitingNode(NamedTuple):
    """A node that comes later: how many cuts lead to its parent, and the cut between them.

    `key` is a coordinate, with its new interval as `what`; a neuron, with its sign; or None, where
    a record `shown` or `intervals` has no cut below it. `shown` has the bits of the clauses that
    hold above it.
    """

    length: int
    key: Any
    what: Any
    shown: int


class BoundsTree:
    """A walk through all nodes; memory grows with the depth, not with the tree."""

    def __init__(
        self,
        case: Case,
        domain: Domain,
        layers: list[GridLayer],
        clauses: Clauses,
        leaf: type[Leaf],
    ) -> None:
        self.case, self.domain, self.layers, self.clauses = case, domain, layers, clauses
        self.leaf = leaf
        self.meter, self.grid = case.meter, case.evidence["grid"]
        self.box = NodeBox(domain, self.grid, self.meter)
        self.inputs = NodeInputs(domain, self.meter)
        self.networks = [case.network, case.other] if "other" in case.claim else [case.network]
        self.excluded = self.read_excluded(case.claim.get("except", []))
        self.slot, self.num_open = 2 * self.grid + 31 & ~7, 0
        self.num_rows, self.rows = sum(map(len, clauses)), BackwardRows(layers, self.meter)
        self.meter.hold(cells_of(1, len(clauses)))
        self.all_shown = (1 << len(clauses)) - 1

    def read_excluded(self, boxes: Any) -> list[list[Ends]]:
        """The boxes of the claim about which nothing is said."""
        found, size = list[list[Ends]](), len(self.box.ends)
        for box in boxes:
            ends = [rationals(box[key], self.meter) for key in ("lower", "upper")]
            good = len(ends[0]) == len(ends[1]) == size
            require(good, f"boxes of {size} coordinates", "other numbers")
            num_characters = sum(map(len, (*box["lower"], *box["upper"])))
            self.meter.hold(8 * size + num_characters // 64)
            found.append(list(zip(*ends, strict=True)))
        return found

    def check(self) -> int:
        """Check all nodes in prefix order; their number."""
        waiting, num_nodes = [WaitingNode(0, None, None, 0)], 0
        while waiting:
            length, key, what, shown = waiting.pop()
            self.box.back(length)
            if isinstance(key, int):
                self.box.change(key, what)
            elif key is not None:
                self.box.cut(key, what)
            waiting += self.visit(shown)
            num_nodes += 1
        got = f"{len(self.excluded)} boxes"
        require(self.num_open == len(self.excluded), f"{self.num_open} open nodes", got)
        return num_nodes

    def visit(self, shown: int) -> list[WaitingNode]:
        """Read a node, and close it, or return what is below it, the next node last."""
        depth = len(self.box.trail)
        message = f"beyond the limits: more than {MAX_DEPTH} cuts or intervals below one another"
        well_formed(depth <= MAX_DEPTH, message)
        record = self.case.lines.read()
        fit(record, CUT_NODES, self.meter.step)
        self.meter.units(20_000)
        if record and isinstance(record[0], int):
            return [WaitingNode(depth, record[0], ends, shown) for ends in self.halves(record)]
        if record and record[0] in "fg":
            neuron = self.neuron(record)
            return [WaitingNode(depth, neuron, side, shown) for side in (-1, 1)]
        if record and record[0] == "shown":
            return [WaitingNode(depth, None, None, self.shown(record, shown))]
        if record == ["intervals"]:
            return [WaitingNode(depth + 1, None, None, self.intervals(record, shown))]
        self.close(record, shown)
        return []

    def halves(self, record: Any) -> list[Ends]:
        """The two parts of an interval, the upper one first: the last one is the next one."""
        count = len(self.box.ends)
        require(record[0] < count, f"coordinates below {count}", str(record[0]))
        low, high = self.box.ends[record[0]]
        self.meter.pay_divisions(8, bits_of(low) + 2, bits_of(high))
        place = rational(record[1], self.meter) if len(record) > 1 else (low + high) / 2
        require(low < place < high, "a cut inside the interval", quote(str(place)))
        return [(place, high), (low, place)]

    def neuron(self, record: Any) -> tuple[int, int, int]:
        """The neuron of a cut by sign."""
        which, number, index = "fg".index(record[0]), record[1], record[2]
        require(which < len(self.networks), "a neuron of f", "one of g")
        network = self.networks[which]
        require(1 <= number <= network.num_hidden_layers(), "a layer with a ReLU", str(number))
        width = network.widths[number]
        require(index < width, f"neurons below {width}", str(index))
        fresh = (which, number, index) not in self.box.signs
        require(fresh, "a neuron that was not cut above the node", str(index))
        return which, number, index

    def shown(self, record: Any, before: int) -> int:
        """The clauses that hold on the whole node, or that were shown above it, as bits."""
        self.meter.hold(cells_of(1, len(self.clauses)))
        cells, found = self.meter.cells, self.all_shown  # if the node is empty
        with contextlib.suppress(EmptyNode):
            found = self.leaf(self, record).shown(before)
        self.meter.release(self.meter.cells - cells)
        return found

    def intervals(self, record: Any, shown: int) -> int:
        """Let the intervals of a node hold from here on; the clauses that hold on it, as bits."""
        before = self.meter.cells - self.rows.held
        forms, marks = None, self.all_shown  # if the node is empty
        with contextlib.suppress(EmptyNode):
            leaf = self.leaf(self, record)
            forms, marks = leaf.forms, leaf.shown(shown)
        self.meter.release(self.meter.cells - self.rows.held - before)
        self.box.inherit(forms)
        return marks

    def close(self, record: Any, shown: int) -> None:
        """Check a leaf, given the clauses that were shown above it."""
        if record == ["open"]:
            fits = self.num_open < len(self.excluded)
            fits = fits and self.excluded[self.num_open] == self.box.ends
            require(fits, "an open node that is the next box of `except`", "another one")
            self.num_open += 1
            return
        before = self.meter.cells - self.rows.held
        with contextlib.suppress(EmptyNode):
            self.leaf(self, record).check(shown)
        self.meter.release(self.meter.cells - self.rows.held - before)


class Leaf:
    """The forms of a leaf, and the rows that hold there."""

    def __init__(self, tree: BoundsTree, record: Any) -> None:
        self.tree, self.meter, self.box = tree, tree.meter, tree.box
        listed = record[1] if len(record) > 1 else []
        self.listed: dict[int, Any] = {c: entry for c, *entry in listed}
        check_indices([c for c, *_ in listed], len(tree.clauses), "clauses")
        inputs = tree.inputs.forms(self.box)
        count, grid = len(self.box.ends), tree.grid
        self.meter.hold(cells_of(4, tree.slot * count))
        self.forms = JointForms(inputs, count, grid, tree.slot, self.meter)
        if record == ["backward"]:
            self.forms = BackwardForms(inputs, count, grid, tree.slot, tree.rows)
        if record == ["joint"]:
            self.forms = JointBackwardForms(inputs, count, grid, tree.slot, tree.rows)
        if record in (["inherited"], ["intervals"]):
            kept = tree.box.inherited
            self.forms = InheritedForms(inputs, count, grid, tree.slot, tree.rows, kept)
        self.forms.run(tree.layers, self.box.signs)
        tree.slot = max(tree.slot, self.forms.packing.slot)
        self.known = dict[int, bool]()  # by the identity of a row
        self.cuts = list(self.box.signs.items())
        self.maps = self.exact_maps() if record and record[0] == "exact" else []

    def exact_maps(self) -> list[ExactMap]:
        """The networks as affine maps; no neuron is open."""
        signs = [list(part) for part in zip(*self.forms.signs, strict=True)] or [[], []]
        networks = self.tree.networks
        for part in signs[: len(networks)]:
            require(all(all(row) for row in part), "neurons whose signs are known", "open ones")
        return [
            ExactMap(network, self.tree.domain, part, self.meter)
            for network, part in zip(networks, signs, strict=False)
        ]

    def check(self, shown: int) -> None:
        """Each clause that was not shown above has a row that holds."""
        self.meter.units(100 * self.tree.num_rows)
        for c, mark in enumerate(self.marks(shown)):
            found = mark == "1" or self.clause_holds(c)
            require(found, "a row of each clause that holds on the leaf", f"none of clause {c}")

    def shown(self, before: int) -> int:
        """The clauses that have a row that holds, or had one above, as bits."""
        self.meter.units(100 * self.tree.num_rows)
        marks = list(self.marks(before))
        for c, mark in enumerate(marks):
            if mark == "0" and self.clause_holds(c):
                marks[c] = "1"
            elif mark == "0":
                fact = "a row of each listed clause that holds on the node"
                require(c not in self.listed, fact, f"none of clause {c}")
        return int("".join(reversed(marks)), 2)

    def marks(self, shown: int) -> str:
        """The bits of all clauses from the first on; shifts would take as long for each of them."""
        return format(shown, f"0{len(self.tree.clauses)}b")[::-1]

    def clause_holds(self, c: int) -> bool:
        """Whether the row that is listed for a clause holds, or any row if none is."""
        clause = self.tree.clauses[c]
        if c not in self.listed:
            return any(self.row_holds(row) for row in clause)
        r, entries, *slopes = self.listed[c]
        require(r < len(clause), f"rows below {len(clause)}", str(r))
        row, multiples = clause[int(r)], self.read_multiples(entries)
        if slopes:
            return row.holds(self.relaxed(row, multiples, slopes[0]))
        return row.holds(self.value(row, multiples))

    def row_holds(self, row: ClauseRow) -> bool:
        """Whether a row holds without multiples; a row of several clauses is looked at once."""
        if id(row) not in self.known:
            self.known[id(row)] = self.holds_by_form(row) or self.holds_backward(row)
        return self.known[id(row)]

    def holds_by_form(self, row: ClauseRow) -> bool:
        """Whether a row holds by its form, where all layers have forms."""
        return not isinstance(self.forms, InheritedForms) and row.holds(self.value(row, []))

    def holds_backward(self, row: ClauseRow) -> bool:
        """Whether a row holds by its backward bound, or by its joint bound."""
        forms = self.forms
        return isinstance(forms, BackwardForms) and row.holds(forms.upper_bound(row))

    def read_multiples(self, entries: Any) -> NumberedMultiples:
        """The multiples of inequalities and cuts, with their numbers."""
        size = len(self.tree.domain.slacks) + len(self.cuts)
        check_indices([n for n, _ in entries], size, "numbers of inequalities")
        found = [(n, rational(text, self.meter)) for n, text in entries]
        require(all(x >= 0 for _, x in found), "multiples that are not negative")
        return found

    def value(self, row: ClauseRow, multiples: NumberedMultiples) -> Fraction:
        """An upper bound of a row with multiples, or its largest value."""
        self.meter.units(4_000)
        return self.exact(row, multiples) if self.maps else self.upper(row, multiples)

    def upper(self, row: ClauseRow, multiples: NumberedMultiples) -> Fraction:
        """The upper bound of a row by its form: center, radius and errors."""
        forms, inputs = self.forms, self.forms.inputs
        values, differences = forms.values, forms.differences
        own = combined_weights(row.f, row.g)
        parts = ((own, values), (row.g, differences))
        weights = [w for part in (own, row.g, row.x) for _, w in part]
        bits, count = longest([weights]), forms.packing.count
        size = len(weights) + sum(len(inputs.terms[j]) for j, _ in row.x)
        self.meter.pay(4 * size + 30, forms.packing.slot * count, bits)
        most = sum(map(abs, weights)) * max(x.largest for _, x in (*parts, ((), inputs)))
        forms.make_room((most * (count + 1)).bit_length() + 2)
        center = packed = error = 0
        for listed, form in ((own, forms.values), (row.g, forms.differences)):  # widened by now
            for i, w in listed:
                center += w * form.centers[i]
                packed += w * form.packed[i]  # type: ignore[union-attr]
                error += abs(w) * form.error
        return self.with_inputs(row, multiples, center, packed, error)

    def with_inputs(
        self, row: ClauseRow, multiples: NumberedMultiples, center: int, packed: int, error: int
    ) -> Fraction:
        """The upper bound of a row: what its outputs give, its inputs, and the multiples."""
        forms, grid = self.forms, self.tree.grid
        inputs, packing = forms.inputs, forms.packing
        digits = [0] * packing.count if row.x else []
        for j, w in row.x:
            center += w * inputs.centers[j]
            error += abs(w) * inputs.error
            for k, x in inputs.terms[j]:
                digits[k] += w * x
        packed += packing.pack(digits)
        if not multiples:
            total = center + packing.radius(packed) + error
            return Fraction(total, 1 << grid) + row.constant
        common = least_common_multiple([x.denominator for _, x in multiples], self.meter)
        scale = common * self.tree.domain.scale
        digits = packing.digits(packed)
        self.meter.pay(3 * len(digits) + 3, packing.slot, scale.bit_length())
        rest, coefficients = scale * (center + error), [scale * x for x in digits]
        for n, multiple in multiples:
            self.meter.pay(8, bits_of(multiple) + row.scale.bit_length(), common.bit_length())
            factor = multiple.numerator * (common // multiple.denominator) * row.scale
            middle, entries = self.inequality(n)
            bits = longest([[middle], entries])
            self.meter.pay(3 * len(entries) + 3, bits, factor.bit_length())
            rest += factor * middle
            for k, entry in enumerate(entries):
                coefficients[k] += factor * entry
        total = rest + sum(map(abs, coefficients))
        self.meter.pay_divisions(4, total.bit_length() + bits_of(row.constant), scale.bit_length())
        return Fraction(total, scale << grid) + row.constant

    def inequality(self, n: int) -> tuple[int, list[int]]:
        """An inequality form >= 0, times the scale of the domain.

        The center, with the error, and the coefficients, as far as they are not 0.
        """
        slacks, scale = self.tree.domain.slacks, self.tree.domain.scale
        if n < len(slacks):
            form, rounded = slacks[n], self.box.rounded
            self.meter.pay(2 * len(form) + 2 * len(rounded), bits_of_form(form), longest(rounded))
            middle = (form.get(0, 0) << self.tree.grid) + sum(
                x * rounded[k - 1][0] for k, x in form.items() if k
            )
            return middle, [form.get(k, 0) * r for k, (_, r) in enumerate(rounded, 1)]
        neuron, side = self.cuts[n - len(slacks)]
        center, digits, error = self.forms.kept[neuron]
        slot = self.forms.packing.slot
        self.meter.pay(2 * len(digits) + 2, slot, scale.bit_length())
        return scale * (side * center + error), [scale * side * x for x in digits]

    def exact(self, row: ClauseRow, multiples: NumberedMultiples) -> Fraction:
        """The largest value of an affine row with multiples over the box."""
        total = dict[int, Fraction]()
        self.add(total, self.of_inputs(row), Fraction(1))
        for listed, one in zip((row.f, row.g), self.maps, strict=False):
            if listed:
                weights = all_weights(listed, one.network.widths[-1])
                self.add(total, one.of_outputs(weights), Fraction(1))
        for n, factor in multiples:
            self.add(total, self.affine_inequality(n), factor * row.scale)
        return self.largest(total) + row.constant

    def relaxed(self, row: ClauseRow, multiples: NumberedMultiples, slopes: Any) -> Fraction:
        """The largest value over the box of an affine function above a row."""
        tree = self.tree
        self.meter.units(4_000)
        way = RelaxedRow(
            tree.networks, tree.layers, self.forms, self.box.signs, row.scale, self.meter
        )
        way.read_slopes(slopes)
        count, total = len(tree.domain.slacks), dict[int, Fraction]()
        for n, multiple in multiples:
            if n < count:
                self.add(total, self.affine_inequality(n), multiple * row.scale)
            else:
                way.add_multiple(self.cuts[n - count][0], multiple)
        outputs = [
            LayerWeights(all_weights(part, network.widths[-1]), 1)
            for part, network in zip((row.f, row.g), tree.networks, strict=False)
        ]
        inputs = [
            *way.to_inputs(outputs),
            LayerWeights(all_weights(row.x, len(tree.domain.inputs)), 1),
        ]
        first = ExactMap(tree.networks[0], tree.domain, [], self.meter)
        for numbers, scale in inputs:
            self.add(total, first.of_inputs(numbers, 0, scale), Fraction(1))
        return self.largest(total) + way.constant + row.constant

    def largest(self, total: dict[int, Fraction]) -> Fraction:
        """The largest value of an affine function over the box."""
        found = total.pop(0, Fraction(0))
        for k, x in total.items():
            end = self.box.ends[k - 1][1 if x > 0 else 0]
            bits = bits_of(x) + bits_of(end)
            self.meter.pay_divisions(6, bits, bits + bits_of(found))
            found += x * end
        return found

    def add(self, total: dict[int, Fraction], form: tuple[Form, int], factor: Fraction) -> None:
        """Add a multiple of a form over a denominator."""
        entries, scale = form
        bits = bits_of_form(entries) + scale.bit_length() + bits_of(factor)
        known = max((bits_of(total[k]) for k in entries if k in total), default=0)
        self.meter.pay_divisions(6 * len(entries), bits, bits + known)
        for symbol, x in entries.items():
            total[symbol] = total.get(symbol, Fraction(0)) + factor * Fraction(x, scale)

    def of_inputs(self, row: ClauseRow) -> tuple[Form, int]:
        """The part of a row with the inputs."""
        weights = all_weights(row.x, len(self.tree.domain.inputs))
        return self.maps[0].of_inputs(weights, 0, 1)

    def affine_inequality(self, n: int) -> tuple[Form, int]:
        """An inequality of the domain, or a cut by sign, as a form that is not negative."""
        slacks = self.tree.domain.slacks
        if n < len(slacks):
            return slacks[n], self.tree.domain.scale
        (which, number, index), side = self.cuts[n - len(slacks)]
        weights = [0] * self.tree.networks[which].widths[number]
        weights[index] = side
        return self.maps[which].of_layer(number, weights)


def all_weights(weights: Sequence[tuple[int, int]], width: int) -> list[int]:
    """Weights that are given by their indices, as a list."""
    found = [0] * width
    for i, w in weights:
        found[i] = w
    return found


def combined_weights(
    one: Sequence[tuple[int, int]], two: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """The sums of two lists of weights by index, without zeros: g is f plus the difference."""
    sums = dict(one)
    for i, w in two:
        sums[i] = sums.get(i, 0) + w
    return tuple((i, w) for i, w in sums.items() if w)


# -- Theorems


def check_bounds(case: Case) -> None:
    """The points are as claimed, and every leaf of the tree is closed."""
    domain = domain_of_bounds(case)
    clauses = clauses_of(case, domain)
    check_points(case, domain)
    check_cuts(case, domain, clauses, Leaf)


def domain_of_bounds(case: Case) -> Domain:
    """The domain of the claim; the networks are plain stacks that can be compared."""
    f, g, meter = case.network, case.other, case.meter
    meter.step = "claim"
    plain = f.is_plain() and g.is_plain()
    well_formed(plain, f"only plain stacks have claims of the kind {case.claim['kind']}", "claim")
    if "other" in case.claim:
        check_pair(f, g)
        require(len(f.layers) == len(g.layers), "equally many layers", f"{f}; {g}")
        require(f.last == g.last, "equal last activations", f"{f}; {g}")
    return read_domain(case.claim["domain"], f.widths[0], meter)


def check_cuts(case: Case, domain: Domain, clauses: Clauses, leaf: type[Leaf]) -> None:
    """The tree of cuts, its leaves of one kind."""
    is_pair, meter = "other" in case.claim, case.meter
    grid, matching = case.evidence["grid"], case.evidence["matching"]
    fits = MIN_GRID <= grid <= MAX_GRID
    well_formed(fits, f"needs a grid from {MIN_GRID} to {MAX_GRID}", "line 1.grid")
    meter.step = "matching"
    require(is_pair or not matching, "no matching of one network", "some")
    g = case.other if is_pair else None
    layers = grid_layers(case.network, g, matching, grid, meter)
    case.lines.check_end(BoundsTree(case, domain, layers, clauses, leaf).check())


def enter_bounds(kind: str, points: str, cover: str, rule: Rule = check_bounds) -> Rule:
    """Enter the theorem of one kind of claim."""
    return theorem(
        kind,
        kind=kind,
        page="theory/deviation.md",
        evidence={"grid": int, "matching": [[PARTNER]], "points": [[RATIONAL]]},
        says={"points": points, "cover": cover},
    )(rule)


COVERED = "on every leaf of the tree, and the leaves cover the domain"
enter_bounds(
    "deviation",
    "the point belongs to the domain, and the difference of the outputs there is as large as "
    "claimed",
    f"the differences of the outputs are bounded as claimed {COVERED}",
)
enter_bounds(
    "range",
    "the points belong to the domain, and the outputs there are as claimed",
    f"the outputs are bounded as claimed {COVERED}",
)
enter_bounds(
    "holds",
    "the point belongs to the domain",
    f"each clause has a row that holds {COVERED}",
)
enter_bounds(
    "same-decisions",
    "the point belongs to the domain",
    f"no two different outputs can be the decisions of the networks {COVERED}",
)
