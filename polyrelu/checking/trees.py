"""Nodes of split trees, and equality of two networks."""

from __future__ import annotations

import hashlib
import heapq
import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import IO, Any, NamedTuple, Protocol

from polyrelu.checking.arithmetic import (
    Form,
    Row,
    add_to,
    bits_of_form,
    check_indices,
    reduced,
    without_zeros,
)
from polyrelu.checking.claims import (
    TREE_CLAIMS,
    WHOLE_SPACE,
    Search,
    check_notes,
    read_reference,
)
from polyrelu.checking.expressions import (
    JointNetwork,
    Total,
    by_the_negative,
    key_of,
    primitive_form,
)
from polyrelu.checking.meter import Meter, cells_of, counted, longest, quote, require, well_formed
from polyrelu.checking.pairs import check_pair, read_domain
from polyrelu.checking.refutations import refutation
from polyrelu.checking.text import RATIONAL, OneOf, fit, parse, rational, rationals
from polyrelu.checking.theorems import THEOREMS, Case, theorem
from polyrelu.checking.tree_limits import MAX_DEPTH, MAX_LINE, MAX_TREE
from polyrelu.checking.verdicts import CheckReport, Contents, accepted

# -- What is known at a node

Pair = tuple[Form, int]  # a form over a denominator


class State:
    """What is known on the polyhedron of a node.

    `back` forgets what was learnt since, so that nothing is copied.
    """

    def __init__(self, slacks: Sequence[Pair], meter: Meter) -> None:
        self.meter = meter
        self.forms = dict[Row, int]()  # signs of affine forms, 1: >= 0, -1: <= 0
        self.atoms = dict[int, int]()  # signs of atoms whose form was not affine
        self.bounds = dict[tuple[int, int], Fraction]()  # sign * (form of the atom) >= value
        self.slacks = list(slacks)  # inequalities form / denominator >= 0
        self.slack_bits = [bits_of_form(form) for form, _ in slacks]
        self.trail = list[tuple[Any, Any, Any]]()  # changes
        self.new = list[tuple[Any, Any]]()  # tables and keys that changed since the last visit

    def put(self, table: Any, key: Any, value: Any) -> None:
        """Change an entry, so that `back` can undo it."""
        old = table.get(key)
        if old != value:
            self.meter.hold(8)
            self.trail.append((table, key, old))
            self.new.append((table, key))
            table[key] = value

    def put_form(self, known: Written, sign: int) -> None:
        """Record the sign of an affine form and of its negative."""
        self.meter.pay(8 * len(known.form) + 20)
        key, other = known.keys
        self.put(self.forms, key, sign)
        self.put(self.forms, other, -sign)

    def cut(self, known: Written, side: int) -> None:
        """Add the inequality side * form >= 0."""
        form = known.form
        self.meter.hold(cells_of(2 * len(form), known.bits))
        self.slacks.append(({symbol: side * x for symbol, x in form.items()}, 1))
        self.slack_bits.append(known.bits)
        self.put_form(known, side)

    def back(self, changes: int, slacks: int) -> None:
        """Undo changes and inequalities until the given numbers of them are left."""
        while len(self.trail) > changes:
            table, key, value = self.trail.pop()
            self.new.append((table, key))
            self.meter.release(8)
            if value is None:
                del table[key]
            else:
                table[key] = value
        later = zip(self.slacks[slacks:], self.slack_bits[slacks:], strict=True)
        self.meter.release(sum(cells_of(2 * len(form), bits) for (form, _), bits in later))
        del self.slacks[slacks:]
        del self.slack_bits[slacks:]


class Written(NamedTuple):
    """The form of an atom at a node as factor * h, h primitive, and what was put in for symbols."""

    values: list[Form]
    form: Form
    h: Form
    factor: int
    keys: tuple[Row, Row]  # of h and of its negative
    bits: int
    num_products: int
    shown_sign: int
    cells: int


def num_bytes(known: Written) -> int:
    """About how long the coefficients of a form are together; to find its sign takes that long."""
    return len(known.form) * (known.bits // 8)


class Term(NamedTuple):
    """max(form, 0) at a node, with the form that an atom has there, up to a positive factor."""

    atom: int  # the first atom with this form or its negative
    key: Row
    form: Form
    factor: int
    bits: int
    atoms: dict[int, int]  # all atoms with this form (1) or its negative (-1)


class Node:
    """The atoms at a node: their forms with the values of earlier ones put in, and their terms.

    `visit` goes to another node, or to the next round of signs. It looks only at atoms whose sign,
    or the value of an atom in whose form, has changed since the last visit, or which had a term in
    common with such an atom; so the charges are bounds of what is done.
    """

    def __init__(self, joint: JointNetwork, used: Sequence[int], state: State) -> None:
        self.joint, self.state, self.first = joint, state, 1 + joint.dimension
        self.meter, self.used = joint.meter, used
        self.values: dict[int, Form] = {symbol: {symbol: 1} for symbol in range(self.first)}
        self.value_bits = dict.fromkeys(range(self.first), 1)
        self.known = dict[int, Written]()
        self.terms = dict[Row, Term]()
        self.term_of = dict[int, tuple[Term, int]]()  # -1: the atom has the negative of its form
        self.holders = dict[Row, set[int]]()  # the atoms by the keys of their forms
        self.readers: dict[int, list[int]] = {self.first + k: [] for k in used}
        for k in used:
            for symbol in joint.atoms[k].form:
                if symbol >= self.first:
                    self.readers[symbol].append(k)
        self.waiting, self.is_waiting = list(used), set(used)  # the first one is the next one
        self.num_read = sum(len(joint.atoms[k].form) for k in used)
        self.num_products = self.num_flipped = self.num_bytes = 0

    def visit(self) -> None:
        """Write all forms as the known signs have them now."""
        self.meter.units(2_000 * (1 + len(self.used)) + 300 * self.first + 100 * self.num_read)
        self.meter.units(60 * self.num_products)
        for table, key in self.state.new:
            if table is self.state.forms:
                self.wait_for(self.holders.get(key, ()))
            elif table is self.state.atoms and key in self.known:
                self.wait_for((key,))
        self.state.new.clear()
        while self.waiting:
            k = heapq.heappop(self.waiting)
            self.is_waiting.remove(k)
            self.meter.hold(self.look_at(k))
        self.meter.units(6_500 * len(self.term_of) + 100 * self.num_flipped + self.num_bytes)

    def wait_for(self, atoms: Iterable[int]) -> None:
        """Look at atoms later in this visit; they come after the one that is looked at."""
        for k in atoms:
            if k not in self.is_waiting:
                self.is_waiting.add(k)
                heapq.heappush(self.waiting, k)

    def look_at(self, k: int) -> int:
        """Write the form of an atom and its value; what reads a new value is looked at later.

        Returns the cells of a form that was written.
        """
        atom, known, symbol = self.joint.atoms[k], self.known.get(k), self.first + k
        self.leave(k)
        values, cells = [self.values[earlier] for earlier in atom.form], 0
        if known is None or known.values != values:
            written = self.written(atom.form, values, atom.bits, known)
            if known is not None:
                self.meter.release(known.cells)
                self.num_products -= known.num_products
                self.num_bytes -= num_bytes(known)
                self.holders[known.keys[0]].remove(k)
                if not self.holders[known.keys[0]]:
                    del self.holders[known.keys[0]]
            cells = written.cells
            self.num_products += written.num_products
            self.num_bytes += num_bytes(written)
            self.known[k] = known = written
            self.holders.setdefault(known.keys[0], set()).add(k)
        value = self.value(k, known)
        if self.values.get(symbol) != value or self.value_bits[symbol] != known.bits + 1:
            self.values[symbol], self.value_bits[symbol] = value, known.bits + 1
            self.wait_for(self.readers[symbol])
        return cells

    def written(
        self, form: Form, values: list[Form], bits: int, old: Written | None = None
    ) -> Written:
        """A form over the atoms with their values put in, perhaps by what differs from before."""
        num_products = sum(map(len, values))
        longest_value = max(map(self.value_bits.__getitem__, form), default=0)
        self.meter.pay(2 * num_products + 20, bits, longest_value)
        sums = dict[int, int]() if old is None else dict(old.form)
        before = old.values if old else [{}] * len(values)
        for x, value, last in zip(form.values(), values, before, strict=True):
            if value is not last:
                add_to(sums, value, x)
                add_to(sums, last, -x)
        found = without_zeros(sums)
        bits = bits_of_form(found)
        self.meter.pay(6 * len(found) + 20)
        self.meter.pay_divisions(2 * len(found), bits, bits)
        h, factor = primitive_form(found)
        keys, sign = (key_of(h), key_of(h, -1)), self.joint.shown_sign(found)
        cells = cells_of(4 * len(found), bits)
        return Written(values, found, h, factor, keys, bits, num_products, sign, cells)

    def substituted(self, form: Form) -> Form:
        """A form over the atoms with their values put in."""
        values = [self.values[symbol] for symbol in form]
        return self.written(form, values, bits_of_form(form)).form

    def value(self, k: int, known: Written) -> Form:
        """max(form, 0): by a known sign, by the signs of the coefficients, or with a term."""
        form, (key, other) = known.form, known.keys
        if not form:
            return form
        sign = self.state.atoms.get(k, 0) or known.shown_sign or self.state.forms.get(key, 0)
        if sign:
            return form if sign > 0 else {}
        term = self.terms.get(key) or self.terms.get(other)
        if term and term.atom > k:
            self.dissolve(term)
            self.wait_for((term.atom,))
            term = None
        if not term:
            term = self.terms[key] = Term(k, key, known.h, known.factor, known.bits, {})
        orientation = 1 if term.key == key else -1
        term.atoms[k] = orientation
        self.term_of[k] = term, orientation
        if orientation > 0:
            return {self.first + term.atom: known.factor}
        self.num_flipped += len(form)
        return by_the_negative(form, self.first + term.atom, known.factor)

    def leave(self, k: int) -> None:
        """An atom has no term for now. If its own term ends, others have to find another one."""
        term, _ = self.term_of.get(k, (None, 0))
        if term and term.atom == k:
            self.dissolve(term)
        elif term:
            self.part(k, term)

    def dissolve(self, term: Term) -> None:
        """A term ends; all of its atoms but the first one are looked at later."""
        del self.terms[term.key]
        for k in list(term.atoms):
            self.part(k, term)
            if k != term.atom:
                self.wait_for((k,))

    def part(self, k: int, term: Term) -> None:
        """An atom and its term part."""
        if term.atoms.pop(k) < 0:
            self.num_flipped -= len(self.known[k].form)
        del self.term_of[k]

    def written_of(self, k: int) -> Written:
        """The current form of an atom of the tree, which is not 0."""
        fact = "an atom that the difference needs, not zero"
        form = self.known[k].form if k in self.known else {}
        require(bool(form), fact, f"atom {k}")
        return self.known[k]

    def learn(self, k: int, sign: int, value: Fraction) -> None:
        """sign * (form of atom k) >= value becomes known."""
        known, state = self.written_of(k), self.state
        state.put(state.bounds, (k, sign), max(value, state.bounds.get((k, sign), value)))
        if value < 0:
            return
        if max(known.form) < self.first:
            state.put_form(known, sign)
            return
        if k not in self.term_of:
            state.put(state.atoms, k, sign)
            return
        term, own = self.term_of[k]
        self.meter.pay(4 * len(term.atoms))
        for other, orientation in term.atoms.items():
            state.put(state.atoms, other, sign * own * orientation)


# -- Signs


class Bound:
    """A lower bound of sign * (form of atom k) on the polyhedron of a node.

    Terms are replaced by affine forms below them, or above, the latest one first; then multiples of
    the inequalities are taken away, then the best sides of single coordinates.
    """

    def __init__(self, node: Node, k: int, sign: int) -> None:
        self.node, self.meter = node, node.meter
        self.left = Total(node.meter)
        known = node.written_of(k)
        self.left.add(known.form, Fraction(sign), known.bits)

    def replace_terms(self, slopes: Any) -> None:
        """No term is left. A slope is from 0 to 1, and 0 if none is listed."""
        check_indices([i for i, _ in slopes], len(self.node.joint.atoms), "atoms with slopes")
        chosen = dict[int, Fraction]()
        for i, text in slopes:
            chosen[i] = rational(text, self.meter)
            require(0 <= chosen[i] <= 1, "slopes from 0 to 1", quote(text))
        left, first = self.left, self.node.first
        while left.latest() >= first:
            term, _ = self.node.term_of[left.latest() - first]
            factor = left.pop()
            slope = chosen.get(term.atom, Fraction(0))
            if factor < 0:
                left.add({0: 1}, self.times(factor, self.gap_above(term, slope)))
            if slope and factor:
                left.add(term.form, self.times(factor, slope), term.bits)

    def times(self, one: Fraction, two: Fraction) -> Fraction:
        """A product, paid for."""
        bits = bits_of(one)
        self.meter.pay(14)
        self.meter.pay_divisions(2, bits, bits_of(two))
        return one * two

    def gap_above(self, term: Term, slope: Fraction) -> Fraction:
        """How far the affine form above max(h, 0) lies above slope * h, by the known bounds."""
        upper, lower = (self.node.state.bounds.get((term.atom, sign)) for sign in (-1, 1))
        name = f"atom {term.atom}"
        require(upper is not None, "an upper bound of a term", name)
        require(lower is not None or not slope, "a lower bound of a term with a slope", name)
        gap = self.times(slope - 1, upper or Fraction(0))
        if slope:
            gap = max(gap, self.times(-slope, lower or Fraction(0)))
        return self.times(max(gap, Fraction(0)), Fraction(1, term.factor))

    def subtract(self, rows: Any) -> None:
        """Take away multiples of the inequalities of the node."""
        state = self.node.state
        check_indices([i for i, _ in rows], len(state.slacks), "inequalities")
        for i, text in rows:
            multiplier, (slack, scale) = rational(text, self.meter), state.slacks[i]
            require(multiplier >= 0, "multipliers that are not negative", quote(text))
            factor = self.times(-multiplier, Fraction(1, scale))
            self.left.add(slack, factor, state.slack_bits[i])

    def subtract_solved(self, rows: Any) -> None:
        """Take away those multiples of inequalities that leave no coordinate."""
        state, left, meter = self.node.state, self.left, self.meter
        check_indices(rows, len(state.slacks), "inequalities")
        slacks = [state.slacks[i][0] for i in rows]
        meter.pay(4 * (len(left.form) + sum(map(len, slacks)) + 2))
        symbols = sorted({j for form in (left.form, *slacks) for j in form if j})
        bits, width = max(left.bits, *(state.slack_bits[i] for i in rows)), len(rows) + 1
        require(len(rows) <= len(symbols), "independent inequalities", "dependent ones")
        meter.pay(len(symbols) * width)
        meter.hold(len(symbols) * width)
        rest = [[*(slack.get(j, 0) for slack in slacks), left.form.get(j, 0)] for j in symbols]
        done, last = list[list[int]](), 1
        for c in range(len(rows)):
            pivot = next((row for row in rest if row[c]), None)
            if pivot is None:
                require(False, "independent inequalities", "dependent ones")
                continue
            size, entries = (c + 1) * (bits + 10), (len(symbols) - 1) * width
            meter.pay(2 * entries + 10, size, size)
            meter.pay_divisions(entries, 2 * size, size)
            done = [reduced(row, pivot, c, pivot[c], last) for row in done]
            rest = [reduced(row, pivot, c, pivot[c], last) for row in rest if row is not pivot]
            done.append(pivot)
            last = pivot[c]
        fact = "multipliers that leave no coordinate"
        require(not any(row[-1] for row in rest), fact, "a coordinate is left")
        meter.release(len(symbols) * width)
        self.take_away([row[-1] for row in done], last, slacks)

    def take_away(self, multipliers: list[int], last: int, slacks: Sequence[Form]) -> None:
        """Only a constant is left, once multiples over a denominator are taken away."""
        left, sign = self.left, 1 if last > 0 else -1
        positive = all(x * sign >= 0 for x in multipliers)
        require(positive, "multipliers that are not negative", "a negative one")
        constants = [slack.get(0, 0) for slack in slacks]
        bits = longest([[last, *multipliers]])
        self.meter.pay(2 * len(slacks) + 2, bits, max(left.bits, longest([constants])))
        pairs = zip(multipliers, constants, strict=True)
        rest = left.form.get(0, 0) * last - sum(x * constant for x, constant in pairs)
        left.form, left.scale = {0: sign * rest}, left.scale * abs(last)
        left.bits = rest.bit_length()

    def constant(self) -> Fraction:
        """What is left, once sides take the places of coordinates."""
        left, sides = self.left, self.node.joint.sides
        self.meter.pay(4 * len(left.form))
        for j in [j for j, x in left.form.items() if j and x]:
            limit = sides.get((j, left.form[j] > 0))
            fact = "multipliers that leave no coordinate without a side"
            if limit is None:
                require(False, fact, f"coordinate {j}")
                continue
            self.meter.pay(14)
            self.meter.pay_divisions(2, left.bits, left.scale.bit_length())
            left.add({0: 1}, self.times(Fraction(left.form[j], left.scale), limit))
        self.meter.pay(14)
        self.meter.pay_divisions(2, left.bits, left.scale.bit_length())
        return Fraction(left.form.get(0, 0), left.scale)


def bits_of(x: Fraction) -> int:
    """The bits of numerator and denominator together."""
    return x.numerator.bit_length() + x.denominator.bit_length()


def check_sign(node: Node, record: Any) -> None:
    """A sign of a round follows, and becomes known."""
    k, mark, text, rows, slopes = record
    node.meter.units(8_000)
    sign, wanted = 1 if mark == "+" else -1, rational(text, node.meter)
    bound = Bound(node, k, sign)
    bound.replace_terms(slopes)
    if rows and type(rows[0]) is int:
        bound.subtract_solved(rows)
    else:
        bound.subtract(rows)
    if bound.constant() < wanted:
        fact = f"{mark}h >= {quote(text)}, h the form of atom {k}"
        require(False, fact, "a smaller bound")
    node.learn(k, sign, wanted)


# -- Trees

LISTED_ROWS = OneOf(([(int, RATIONAL)], [int]))
SIGN = (int, re.compile("[+-]"), RATIONAL, LISTED_ROWS, [(int, RATIONAL)])
SPLIT = {"signs": [[SIGN]], "split": int}
EQUAL_LEAF = {"signs": [[SIGN]], "leaf": "equal"}


class Nodes(Protocol):
    """The nodes of a tree, in prefix order."""

    def read(self) -> Any:
        """The next node; the step of the check becomes its place."""


class ListedNodes:
    """Nodes that stand in a list."""

    def __init__(self, nodes: list[Any], meter: Meter) -> None:
        self.nodes, self.meter, self.number = nodes, meter, 0

    def read(self) -> Any:
        """The next node."""
        require(self.number < len(self.nodes), "another node", f"{len(self.nodes)} of them")
        self.number += 1
        return self.nodes[self.number - 1]

    def check_end(self) -> None:
        """Every node was read."""
        require(self.number == len(self.nodes), f"{self.number} nodes", str(len(self.nodes)))


class Tree:
    """A walk through all nodes of one tree. Memory grows with the depth, not with the tree."""

    def __init__(self, joint: JointNetwork, used: Sequence[int], nodes: Nodes) -> None:
        self.joint, self.nodes, self.num_nodes = joint, nodes, 0
        self.state = State(joint.slacks, joint.meter)
        self.node = Node(joint, used, self.state)

    def check(self, leaf: Any, close: Callable[[Node, Any], None]) -> None:
        """Check every node in prefix order; leaves of the shape `leaf` are closed."""
        shape, state = OneOf((SPLIT, leaf)), self.state
        #: Of the nodes that are to come: what to go back to, the cut and its side.
        waiting: list[tuple[int, int, Written | None, int]] = [(0, len(state.slacks), None, 0)]
        while waiting:
            changes, slacks, cut, side = waiting.pop()
            record = self.nodes.read()
            fit(record, shape, self.joint.meter.step)
            state.back(changes, slacks)
            if cut:
                state.cut(cut, side)
            depth = len(state.slacks) - len(self.joint.slacks)
            message = f"beyond the limits: more than {MAX_DEPTH} splits one below the other"
            well_formed(depth <= MAX_DEPTH, message)
            node = self.node
            self.learn(record["signs"])
            self.num_nodes += 1
            if "split" not in record:
                close(node, record)
                continue
            cut = node.written_of(record["split"])
            is_affine = max(cut.form) < node.first
            require(is_affine, "a split at an affine form", f"atom {record['split']}")
            here = len(state.trail), len(state.slacks), cut
            waiting += [(*here, -1), (*here, 1)]  # the last one is the next one
        self.joint.meter.release(sum(known.cells for known in self.node.known.values()))

    def learn(self, rounds: Any) -> None:
        """Learn the signs of all rounds; forms are written again after each round."""
        well_formed(all(rounds), "a round without signs")
        self.node.visit()
        for signs in rounds:
            for record in signs:
                check_sign(self.node, record)
            self.node.visit()


LIFTED, PARTS = [(int, int, int)], [[[(int, RATIONAL)]]]


def check_equality(case: Case, domain: Any, header: Any, nodes: Nodes) -> int:
    """A tree for each part of the difference; returns the number of nodes."""
    networks, meter = (case.network, case.other), case.meter
    meter.step = "tree"
    lifted = [(which, layer, index) for which, layer, index in header["lifted"]]
    return check_parts(JointNetwork(networks, domain, lifted, meter), header["parts"], nodes)


def check_parts(joint: JointNetwork, parts: Any, nodes: Nodes) -> int:
    """A tree for each part of a difference, which is 0 on its leaves; the number of nodes."""
    num_nodes = 0
    for part in joint.check_parts(parts):

        def close(node: Node, _: Any, part: list[Form] = part) -> None:
            """Both networks have one expression."""
            equal = not any(node.substituted(form) for form in part)
            require(equal, "equal expressions of both networks", "different ones")

        tree = Tree(joint, joint.used(part), nodes)
        tree.check(EQUAL_LEAF, close)
        num_nodes += tree.num_nodes
    return num_nodes


@refutation(
    "tree-equal",
    "theory/equivalence.md",
    {"lifted": LIFTED, "parts": PARTS, "nodes": [OneOf((SPLIT, EQUAL_LEAF))]},
)
def tree_equal(case: Case) -> None:
    """A split tree on the domain shows that both networks compute one function there."""
    evidence, step, document = case.evidence["same-function"], "same-function", case.claim["domain"]
    if document == WHOLE_SPACE:
        document = {"inequalities": [], "equations": []}
    domain = read_domain(document, case.network.widths[0], case.meter)
    case.meter.step = step
    nodes = ListedNodes(evidence["nodes"], case.meter)
    try:
        check_equality(case, domain, evidence, nodes)
    finally:
        case.meter.step = step
    nodes.check_end()


@theorem(
    "tree",
    kind="equivalent",
    page="theory/equivalence.md",
    evidence={"point": [RATIONAL], "lifted": LIFTED, "parts": PARTS},
    says={
        "point": "the point belongs to the domain",
        "tree": "both networks have equal expressions on every leaf of the tree, and its leaves "
        "cover the domain",
    },
)
def tree(case: Case) -> None:
    """Two networks agree on a domain that is not empty. A network agrees with itself."""
    check_pair(case.network, case.other)
    domain = read_domain(case.claim["domain"], case.network.widths[0], case.meter)
    x = rationals(case.hypothesis("point"), case.meter)
    domain.check_point(x, case.meter)
    if case.network.sha256 == case.other.sha256:
        case.lines.skip_nodes()
        return
    case.lines.check_end(check_equality(case, domain, case.evidence, case.lines))


# -- Tree files

TREE_START = b'{"format": "polyrelu-tree", '
HEADER = {"format": "polyrelu-tree", "version": 1, "unverified": object}
FOOTER = {"nodes": int, "sha256": re.compile("[0-9a-f]{64}")}


class Lines:
    """The lines of a tree file as JSON values, with the hash of all lines before."""

    def __init__(self, file: IO[bytes], meter: Meter) -> None:
        self.file, self.meter, self.number, self.size = file, meter, 0, 0
        self.digest, self.before, self.cells = hashlib.sha256(), "", 0

    def read_bytes(self) -> bytes:
        """The next line; the step of the check becomes its place."""
        self.number += 1
        self.meter.step = f"line {self.number}"
        line = self.file.readline(MAX_LINE + 1)
        self.size += len(line)
        well_formed(line.endswith(b"\n"), "the file ends early, or the line is too long")
        well_formed(len(line) <= MAX_LINE, "the line is too long")
        well_formed(self.size <= MAX_TREE, "the file is too long")
        self.meter.units(8 * len(line) + 2_000)
        self.before = self.digest.hexdigest()
        self.digest.update(line)
        return line

    def read(self) -> Any:
        """The next line as a value; the memory of the line before is given back."""
        self.meter.release(self.cells)
        self.cells = 0
        line, held = self.read_bytes(), self.meter.cells
        value = parse(line[:-1], self.meter.step, MAX_LINE, self.meter)
        self.cells = self.meter.cells - held
        return value

    def read_header(self) -> Any:
        """The first line, whose memory stays."""
        header = self.read()
        self.cells = 0
        return header

    def skip_nodes(self) -> None:
        """Hash the nodes without a look at them, up to the footer."""
        last, count = self.read_bytes(), 0
        while not last.startswith(b'{"nodes":'):
            last, count = self.read_bytes(), count + 1
        self.check_footer(parse(last[:-1], self.meter.step, MAX_LINE, self.meter), count)

    def check_end(self, num_nodes: int) -> None:
        """The last line follows."""
        self.check_footer(self.read(), num_nodes)

    def check_footer(self, footer: Any, num_nodes: int) -> None:
        """The number of nodes and the hash of all lines before are right, and nothing follows."""
        fit(footer, FOOTER, self.meter.step)
        require(footer["sha256"] == self.before, self.before, footer["sha256"], "hash")
        require(footer["nodes"] == num_nodes, f"{num_nodes} nodes", str(footer["nodes"]))
        well_formed(not self.file.read(1), "must be the last line")


def check_tree(file: IO[bytes], search: Search, meter: Meter) -> CheckReport:
    """Check a tree file: header, nodes in prefix order, footer."""
    lines = Lines(file, meter)
    name, claim, evidence, _ = read_header(lines.read_header())
    keys = [key for key in ("network", "other") if key in claim]
    networks = [read_reference(claim[key], key, search, meter) for key in keys]
    case = Case(networks, claim, evidence, meter, lines)
    case.meter.step = "claim"
    THEOREMS[name].rule(case)
    report = accepted(case, name, list(THEOREMS[name].says))
    number = lines.number - 2
    what = f"The tree has {counted(number, 'node')}."
    if "vertices" in evidence:
        what = "There is 1 vertex." if number == 1 else f"There are {number} vertices."
    return report._replace(statement=f"{report.statement} {what}")


def read_header(header: Any) -> Contents:
    """What a tree file states in its header, some entries of which are evidence."""
    theorems = {name: THEOREMS[name] for name in THEOREMS if THEOREMS[name].kind in TREE_CLAIMS}
    shapes = {
        name: {**HEADER, "claim": TREE_CLAIMS[entry.kind], **entry.evidence}
        for name, entry in theorems.items()
    }
    fit(header, OneOf(shapes.values()), "line 1")
    check_notes(header["unverified"], "line 1.unverified")
    claim, own = header["claim"], header.keys() - HEADER.keys() - {"claim"}
    name = next(
        name
        for name, entry in theorems.items()
        if entry.kind == claim["kind"] and entry.evidence.keys() == own
    )
    evidence = {key: header[key] for key in theorems[name].evidence}
    return Contents(name, claim, evidence, header["unverified"])
