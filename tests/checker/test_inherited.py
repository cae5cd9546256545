"""Inherited intervals: they hold at every point, no false bound is accepted, memory is given back.

Proof: docs/theory/deviation.md, Claim 13.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import NamedTuple

import pytest

import polyrelu
from polyrelu import checker
from polyrelu.certificate import BoundsNode, HoldsClaim, LinearRow, OutputRange, RangeClaim, SubBox
from polyrelu.certificate.claims.statement import domain_terms
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays, to_document
from polyrelu.outcomes.deviation import DeviationBounds
from tests.generators.bounds_documents import document, perturbed, random_layers
from tests.generators.bounds_examples import CUT, INHERITED, INTERVALS, JOINT, LEAF
from tests.generators.campaigns import case, few_and_all
from tests.generators.checker_bombs import BOMBS
from tests.generators.interval_trees import (
    Partner,
    deviation_file,
    interval_tree,
    is_accepted,
    least_bound,
    neurons_of,
)
from tests.generators.tree_documents import Document, mutants, with_count, written
from tests.oracles.bounds import is_true

F = Fraction
Interval = tuple[int, int]
SIGN = BoundsNode("sign", neuron=(0, 2, 0))
SQUARE = Polyhedron.box([-1, -1], [1, 2])

# -- On paper

#: max(x - max(x, 0), 0), which is 0, as x + 2 is never negative on [-1, 2].
NOTHING = from_arrays([([[1], [1]], [0, 2]), ([[-1, 1]], [-2]), ([[1]], [0])])


def nothing(*nodes: BoundsNode) -> Document:
    """NOTHING is 0 on [-1, 2]."""
    zero = F(0)
    claim = RangeClaim(
        NOTHING, Polyhedron.box([-1], [2]), (OutputRange(0, (zero, zero), (zero, zero)),)
    )
    return document(claim, [[0], [0]], nodes)


@pytest.mark.parametrize(
    ("nodes", "good"),
    [
        ([INHERITED], True),  # max(x, 0) >= x
        ([CUT, INHERITED, INHERITED], False),  # max(x, 0) >= 0 on [-1, 1/2] alone
        ([INTERVALS, CUT, INHERITED, INHERITED], True),
        ([INTERVALS, INTERVALS, CUT, INHERITED, INHERITED], True),
        ([CUT, INTERVALS, INHERITED, INHERITED], False),
        ([CUT, INHERITED, INTERVALS, INHERITED], False),
        ([INTERVALS, CUT, INTERVALS, INHERITED, INHERITED], True),
        ([INTERVALS, CUT, LEAF, JOINT], True),  # what holds on the box holds on its parts
        ([INTERVALS, CUT, INHERITED, CUT, INHERITED, INHERITED], True),
    ],
)
def test_a_part_of_a_box_has_worse_bounds_than_the_box(nodes: list[BoundsNode], good: bool) -> None:
    assert is_accepted(nothing(*nodes)) == good


@pytest.mark.parametrize(
    ("part", "good"),
    [
        ([INHERITED], True),
        ([INTERVALS, INHERITED], True),
        ([LEAF], False),  # other leaves inherit nothing
        ([JOINT], False),
        # Where the neuron is on, its form counts, and not its interval [0, 0].
        ([SIGN, INHERITED, INHERITED], False),
    ],
)
def test_only_leaves_of_one_kind_inherit_intervals(part: list[BoundsNode], good: bool) -> None:
    """NOTHING + x/4 - 1/8 is at most 0 on [-1, 1/2], and not on [-1, 2]."""
    row = LinearRow({0: F(1)}, {}, {0: F(1, 4)}, F(-1, 8))
    rest = (SubBox((F(1, 2),), (F(2),)),)
    claim = HoldsClaim(NOTHING, Polyhedron.box([-1], [2]), ((row,),), None, rest)
    nodes = [INTERVALS, CUT, *part, BoundsNode("open")]
    assert is_accepted(document(claim, [[0]], nodes)) == good
    without = [CUT, *part, BoundsNode("open")]
    assert not is_accepted(document(claim, [[0]], without))


def test_what_is_inherited_is_forgotten_behind_a_subtree() -> None:
    """On [-1, -1/2] the function is 0; in the parts beside this one it is not."""
    line = from_arrays([([[1]], [0]), ([[1]], [0]), ([[1]], [0])])  # max(x, 0)
    for high, good in ((F(1), True), (F(1, 2), False)):
        bounds = OutputRange(0, (F(0), F(0)), (F(1, 2), high))
        claim = RangeClaim(line, Polyhedron.box([-1], [1]), (bounds,))
        for first in ([INTERVALS, INHERITED], [INTERVALS, CUT, INTERVALS, INHERITED, INHERITED]):
            nodes = [CUT, CUT, *first, INHERITED, INHERITED]
            assert is_accepted(document(claim, [[0], [F(1, 2)]], nodes)) == good


def test_an_empty_node_shows_all_clauses() -> None:
    """x - max(x, 0) - 1/8 is nowhere positive, as backward bounds know, and forms do not."""
    lower = from_arrays([([[1], [1]], [0, 2]), ([[-1, 1]], [F(-17, 8)]), ([[1]], [0])])
    claim = RangeClaim(
        lower, Polyhedron.box([-1], [2]), (OutputRange(0, (F(0), F(0)), (F(0), F(0))),)
    )
    for first, good in (
        ([LEAF], False),
        ([INTERVALS, LEAF], True),
        ([INTERVALS, CUT, LEAF, LEAF], True),
        ([INTERVALS, INTERVALS, LEAF], True),
    ):
        assert is_accepted(document(claim, [[0], [0]], [SIGN, *first, INHERITED])) == good


@pytest.mark.parametrize(
    ("nodes", "good"),
    [
        ([INHERITED], False),
        ([SIGN, INHERITED, INHERITED], True),
        ([INTERVALS, SIGN, INHERITED, INHERITED], True),
        ([SIGN, INTERVALS, INHERITED, INTERVALS, INHERITED], True),
    ],
)
def test_a_cut_by_sign_counts(nodes: list[BoundsNode], good: bool) -> None:
    """With f = max(|x| - 5/8, 0) on [-1/2, 1], f <= 0 or x - f - 5/8 <= 0."""
    net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [F(-5, 8)]), ([[1]], [0])])
    rows = LinearRow({0: F(1)}), LinearRow({0: F(-1)}, {}, {0: F(1)}, F(-5, 8))
    claim = HoldsClaim(net, Polyhedron.box([F(-1, 2)], [1]), (rows,))
    assert is_accepted(document(claim, [[0]], nodes)) == good


# -- Intervals at points


class Drawn(NamedTuple):
    """Networks, perhaps with partners, on a box."""

    networks: tuple[Network, ...]
    matching: list[list[Partner]]
    lower: list[Fraction]
    upper: list[Fraction]


def drawn(random: Random) -> Drawn:
    """One network, or two near each other, or two of different widths with any partners."""
    depth, inputs, kind = random.randint(2, 4), random.randint(1, 3), random.randint(0, 3)
    hidden = [random.randint(1, 8) for _ in range(depth - 1)]
    last = random.choice(["affine", "relu"])
    first = with_equal_neurons(random, random_layers(random, [inputs, *hidden, 2], last, kind))
    networks, matching, mode = [first], list[list[Partner]](), random.randint(0, 3)
    if mode in (1, 2):
        networks.append(perturbed(random, first, F(1, random.choice([4, 1000, 10**9]))))
    elif mode == 3:
        others = [random.randint(1, 8) for _ in hidden]
        networks.append(random_layers(random, [inputs, *others, 2], last, kind))
    if mode > 1:
        pairs = zip(networks[0].widths[1:-1], networks[1].widths[1:-1], strict=True)
        matching = [[partner(random, width, m) for m in range(count)] for width, count in pairs]
    lower = [F(random.randint(-9, 9), random.choice([1, 2, 3])) for _ in range(inputs)]
    upper = [x + random.choice([F(0), F(1), F(4), F(1, 3), F(1, 10**6)]) for x in lower]
    return Drawn(tuple(networks), matching, lower, upper)


def partner(random: Random, width: int, m: int) -> Partner:
    """A partner with a scale, most often the one with the same index."""
    if random.random() < 0.2:
        return None
    place = m if m < width and random.random() < 0.7 else random.randrange(width)
    return place, random.choice([F(1), F(1), F(2), F(3, 7), F(1, 3)])


def with_equal_neurons(random: Random, network: Network) -> Network:
    """Return a network some of whose neurons equal others, or have weights 0 only."""
    layers = list[tuple[list[list[Fraction]], list[Fraction]]]()
    for number in range(1, network.depth + 1):
        rows = [list(row) for row in network.weight(number).rows()]
        bias = list(network.bias(number).entries())
        if number < network.depth and random.random() < 0.4:
            one, two = random.randrange(len(rows)), random.randrange(len(rows))
            rows[one], bias[one] = list(rows[two]), bias[two]
            rows[two] = random.choice([rows[two], [F(0)] * len(rows[two])])
        layers.append((rows, bias))
    return from_arrays(layers, last=network.last)


class Node:
    """A node with points of it: cuts are made so that some of the points stay."""

    def __init__(self, random: Random, pair: Drawn) -> None:
        self.random, self.pair, self.meter = random, pair, checker.Meter(10**15)
        self.grid = random.choice([8, 12, 20, 44, 60])
        read = [checker.read_network(to_document(x), "", self.meter) for x in pair.networks]
        matching = [[[p[0], str(p[1])] if p else [] for p in layer] for layer in pair.matching]
        other = read[1] if len(read) > 1 else None
        self.layers = checker.grid_layers(read[0], other, matching, self.grid, self.meter)
        terms = domain_terms(Polyhedron.box(pair.lower, pair.upper))
        domain = checker.read_domain(terms, len(pair.lower), self.meter)
        self.box = checker.NodeBox(domain, self.grid, self.meter)
        self.inputs = checker.NodeInputs(domain, self.meter)
        self.rows = checker.BackwardRows(self.layers, self.meter)
        self.points = [self.point() for _ in range(12)]

    def point(self) -> list[Fraction]:
        """A point of the box, often at its ends."""
        return [a + (b - a) * F(self.random.randint(0, 6), 6) for a, b in self.box.ends]

    def values(self, which: int, x: Sequence[Fraction]) -> list[list[Fraction]]:
        """The preactivations of all layers with a ReLU."""
        network = self.pair.networks[which]
        found = network.preactivations([x])[: network.num_hidden_layers]
        return [list(column.entries()) for column in found]

    def fits(self, x: Sequence[Fraction]) -> bool:
        """Whether the neurons that were cut have their signs at a point."""
        values = [self.values(which, x) for which in range(len(self.pair.networks))]
        signs = self.box.signs.items()
        return all(values[w][number - 1][i] * side >= 0 for (w, number, i), side in signs)

    def cut(self) -> None:
        """Cut at a number or by a sign, and keep a side with a point."""
        x, random = random_choice(self.random, self.points), self.random
        if random.random() < 0.4:
            which = random.randrange(len(self.pair.networks))
            network = self.pair.networks[which]
            number = random.randint(1, network.num_hidden_layers)
            neuron = which, number, random.randrange(network.widths[number])
            if neuron not in self.box.signs:
                value = self.values(which, x)[number - 1][neuron[2]]
                self.box.cut(
                    neuron, random.choice([-1, 1]) if value == 0 else 1 if value > 0 else -1
                )
        else:
            k = random.randrange(len(x))
            low, high = self.box.ends[k]
            place = low + (high - low) * F(random.randint(1, 4), 5)
            if low < place < high:
                self.box.change(k, (low, place) if x[k] <= place else (place, high))
        inside = [
            x
            for x in (*self.points, *(self.point() for _ in range(6)))
            if all(a <= t <= b for t, (a, b) in zip(x, self.box.ends, strict=True))
        ]
        self.points = [y for y in inside if self.fits(y)][:12]
        assert self.points

    def found(self) -> checker.InheritedForms:
        """The intervals at the node; it is not empty."""
        made = self.inputs.forms(self.box), len(self.box.ends), self.grid, 2 * self.grid + 31 & ~7
        forms = checker.InheritedForms(*made, self.rows, self.box.inherited)
        forms.run(self.layers, self.box.signs)
        return forms

    def check(self, forms: checker.InheritedForms) -> int:
        """All values at the points are in their intervals, and below bounds; how many open."""
        for x in self.points:
            self.check_neurons(forms, x)
            self.check_rows(forms, x)
        ends = [end for layer in forms.ends for end in layer]
        return sum(not checker.sign_of(end) for end in ends)

    def check_neurons(self, forms: checker.InheritedForms, x: Sequence[Fraction]) -> None:
        """The values of f and of g, and the differences, over the scales."""
        unit = 1 << self.grid
        f = self.values(0, x)
        for ends, column in zip(forms.ends, f, strict=True):
            assert all(a <= unit * z <= b for (a, b), z in zip(ends, column, strict=True))
        if len(self.pair.networks) == 1:
            return
        for number, column in enumerate(self.values(1, x)):
            layer = self.layers[number]
            for m, value in enumerate(column):
                place, scale = layer.partners[m], layer.scales[m]
                own = f[number][place] if place >= 0 else F(0)
                numbers = own, value / scale - own, value / scale
                for (low, high), z in zip(forms.pair_ends[number][m], numbers, strict=True):
                    assert low <= unit * z <= high

    def check_bounds(self, forms: checker.InheritedForms) -> None:
        """From layer 2 on, everything that is open lies between its bounds."""
        is_first = not self.box.inherited.ends
        for number, ends in enumerate(forms.ends[1:], 2):
            for i, end in enumerate(ends):
                if is_first or not checker.sign_of(end):
                    assert are_inside([end], [forms.bounds(0, number, i)])
            for m, (own, change, y) in enumerate(forms.pair_ends[number - 1]):
                if is_first or not checker.sign_of(y):
                    assert are_inside([y], [forms.bounds(1, number, m)])
                if is_first or not (checker.sign_of(own) and checker.sign_of(y)):
                    assert are_inside([change], [forms.bounds_of_change(number, m)])
                sums = own[0] + change[0], own[1] + change[1]
                assert are_inside([y, change], [sums, (y[0] - own[1], y[1] - own[0])])

    def check_rows(self, forms: checker.InheritedForms, x: Sequence[Fraction]) -> None:
        """Bounds of f_0 - 2 f_1, and of f_0 - g_0 + 3 x_0, or of f_0 if there is no g."""
        f, g = self.pair.networks[0](x), self.pair.networks[-1](x)
        row = checker.ClauseRow(((0, 1), (1, -2)), (), (), F(0), is_strict=False)
        assert f[0] - 2 * f[1] <= forms.upper_bound(row)
        other = ((0, -1),) if len(self.pair.networks) > 1 else ()
        row = checker.ClauseRow(((0, 1),), other, ((0, 3),), F(1, 3), is_strict=False)
        assert f[0] - (g[0] if other else 0) + 3 * x[0] + F(1, 3) <= forms.upper_bound(row)


def random_choice(random: Random, points: Sequence[list[Fraction]]) -> list[Fraction]:
    """A point of the list."""
    return points[random.randrange(len(points))]


def all_intervals(forms: checker.JointForms) -> Iterator[Interval]:
    """All intervals that were found, in one order for all nodes."""
    for ends, pairs in zip(forms.ends, forms.pair_ends, strict=True):
        yield from ends
        for entry in pairs:
            yield from entry


def are_inside(ours: Sequence[Interval], theirs: Sequence[Interval]) -> bool:
    """Whether intervals lie in others, if there are any."""
    pairs = zip(ours, theirs, strict=True) if theirs else ()
    return all(a <= c and d <= b for (c, d), (a, b) in pairs)


@pytest.mark.parametrize("number", few_and_all(25, 400))
def test_intervals_hold_at_every_point_and_never_become_wider(number: int) -> None:
    num_open = num_wider = 0
    for seed in range(30, 30 + number):
        random, kept, before = Random(seed), list[Interval](), list[Interval]()
        node = Node(random, drawn(random))
        for step in range(8):
            with case(seed, step):
                forms = node.found()
                num_open += node.check(forms)
                if step % 3 == 1:
                    node.check_bounds(forms)
                found = list(all_intervals(forms))
                assert are_inside(found, kept) if kept else not node.box.inherited.ends
                num_wider += not kept and not are_inside(found, before)
                if random.random() < 0.6 and seed % 4:
                    node.box.inherit(forms)
                    kept = found
                before = found
                node.cut()
    assert num_open > number
    assert num_wider > 0  # without intervals above, some become wider


# -- False bounds


def variants(random: Random, nodes: Sequence[BoundsNode]) -> Iterator[list[BoundsNode]]:
    """Trees with a record of intervals removed, doubled, moved or added anywhere."""
    listed = list(nodes)
    places = [k for k, node in enumerate(listed) if node.kind == "intervals"]
    yield [node for node in listed if node.kind != "intervals"]
    for k in random.sample(places, min(3, len(places))):
        rest = [*listed[:k], *listed[k + 1 :]]
        yield rest
        yield [*listed[:k], INTERVALS, *listed[k:]]
        place = random.randrange(len(rest))
        yield [*rest[:place], INTERVALS, *rest[place:]]
    everywhere = [[INTERVALS, node] for node in listed]
    yield [node for pair in everywhere for node in pair]


@pytest.mark.parametrize("number", few_and_all(4, 40))
def test_no_tree_shows_less_than_the_largest_difference(number: int) -> None:
    """Exact maxima on two inputs, by the library; trees come near them, and not below."""
    num_near = num_accepted = num_rejected = 0
    for seed in range(number):
        random = Random(seed)
        hidden = [random.randint(3, 5) for _ in range(random.choice([2, 2, 3]))]
        first = random_layers(random, [2, *hidden, 1], kind=random.randint(0, 2))
        networks = first, perturbed(random, first, F(1, random.choice([4, 50])))
        exact = polyrelu.deviation(*networks, SQUARE)
        assert isinstance(exact, DeviationBounds)
        assert exact.is_exact
        most, neurons = exact.at_most, neurons_of(networks) if seed % 3 == 2 else []
        nodes = interval_tree(random, 2, 3, neurons, random.choice([1.0, 0.8]))
        with case(seed):
            least = least_bound(networks, SQUARE, nodes)
            assert least >= most
            num_near += least <= most * F(5, 4)
            for variant in variants(random, nodes):
                too_low = deviation_file(networks, SQUARE, most * F(999, 1000), variant)
                assert most == 0 or not is_accepted(too_low)
                good = is_accepted(deviation_file(networks, SQUARE, least, variant))
                num_accepted, num_rejected = num_accepted + good, num_rejected + (not good)
            wider = Polyhedron.box([-2, -1], [1, 3])
            exact = polyrelu.deviation(*networks, wider)
            assert isinstance(exact, DeviationBounds)
            if exact.at_least > least:
                assert not is_accepted(deviation_file(networks, wider, least, nodes))
    assert num_near > number // 4
    assert num_accepted > num_rejected > 0


@pytest.mark.parametrize(
    ("number", "every"), [(2, 23), pytest.param(12, 5, marks=pytest.mark.slow)]
)
def test_mutants_that_are_accepted_are_true(number: int, every: int) -> None:
    """Any entry or line changed, of the least bound that a tree shows."""
    num_accepted = num_rejected = 0
    for seed in range(number):
        random, segment = Random(seed), Polyhedron.box([-1], [2])
        first = random_layers(random, [1, random.randint(1, 3), random.randint(1, 3), 1], kind=1)
        networks = first, perturbed(random, first, F(1, 4))
        nodes = interval_tree(random, 1, 3, neurons_of(networks), 0.8)
        least = least_bound(networks, segment, nodes)
        file = deviation_file(networks, segment, least, nodes)
        for place, mutant in enumerate(mutants(file)):
            if place % every == seed % every:
                changed = with_count(mutant)
                report = checker.check_bytes(written(changed), budget=2**28)
                with case(seed, place):
                    assert report.verdict != "accepted" or is_true(changed[0]["claim"])
                num_accepted += report.verdict == "accepted"
                num_rejected += report.verdict != "accepted"
    assert num_accepted > 0
    assert num_rejected > 20


# -- Limits


def test_records_of_intervals_count_as_cuts() -> None:
    """4,096 of them may stand one below the other."""
    ramp, one = from_arrays([([[1]], [0])], last="relu"), OutputRange(0, (F(0), F(0)), (F(1), F(1)))
    claim = RangeClaim(ramp, Polyhedron.box([-1], [1]), (one,))
    for count, good in ((4_096, True), (4_097, False)):
        file = document(claim, [[0], [1]], [*[INTERVALS] * count, INHERITED])
        report = checker.check_bytes(written(file))
        assert report.verdict == ("accepted" if good else "unreadable")
        assert good or "more than 4096 cuts or intervals below one another" in report.got
    bomb = BOMBS["chain of intervals"]
    report = checker.check_bytes(bomb.make(bomb.small))
    assert report.cost < 2**29
    assert "more than 4096 cuts or intervals" in report.got


def cells_of_comb(*has_intervals: bool) -> int:
    """The most memory for cuts one below the other, with intervals at some of the lower halves."""
    nodes = list[BoundsNode]()
    for is_there in has_intervals:
        nodes += [CUT, *[INTERVALS] * (2 * is_there), INHERITED]
    wide = from_arrays([([[1]] * 40, [5] * 40), ([[1] * 40], [0])])
    bounds = OutputRange(0, (F(200), F(200)), (F(240), F(240)))
    claim = RangeClaim(wide, Polyhedron.box([0], [1]), (bounds,))
    data, meter = written(document(claim, [[0], [1]], [*nodes, INHERITED])), checker.Meter(2**40)
    assert checker.check_tree(io.BytesIO(data), lambda _: (), meter).verdict == "accepted"
    return meter.most_cells


def test_intervals_are_forgotten_with_their_memory() -> None:
    """Many subtrees one beside the other need no more memory than the last one of them."""
    assert cells_of_comb(*[True] * 30) == cells_of_comb(*[False] * 29, True)
    assert cells_of_comb(*[True] * 30) > cells_of_comb(*[False] * 30) + 2 * 3 * 40
