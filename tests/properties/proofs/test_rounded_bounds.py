"""The rule of bounds: prover and checker compute the same integers, and no point exceeds them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import NamedTuple

import pytest

from polyrelu import checker
from polyrelu.certificate import BoundsNode, DeviationClaim, HoldsClaim, LinearRow
from polyrelu.certificate.claims.statement import domain_terms
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays, to_document
from polyrelu.proofs.deviation.grid_layers import Neuron
from polyrelu.proofs.deviation.rounded import LeafKind, RoundedLeaf, RoundedRule
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from tests.generators.bounds_documents import (
    SignTree,
    document,
    perturbed,
    random_layers,
    rows_of_deviation,
    sides,
)
from tests.generators.campaigns import case, few_and_all, few_some_and_all
from tests.generators.tree_documents import written

F = Fraction
Matching = list[list[tuple[int, Fraction] | None]]


class Drawn(NamedTuple):
    """One or two networks on a domain, with partners and a grid."""

    first: Network
    second: Network | None
    matching: Matching
    domain: Polyhedron
    grid: int


def drawn(random: Random, max_depth: int = 4, kind: int | None = None) -> Drawn:
    """Small networks: alone, equal, near each other, or unrelated with random partners."""
    depth, inputs = random.randint(1, max_depth), random.randint(1, 4)
    outputs = random.randint(1, 3)
    hidden = [random.randint(1, 6) for _ in range(depth - 1)]
    last = random.choice(["affine", "affine", "relu"])
    first = random_layers(random, [inputs, *hidden, outputs], last, kind)
    second: Network | None = first
    matching: Matching = []
    mode = random.randint(0, 4)
    if mode == 0:
        second = None
    elif mode == 1:
        second = perturbed(random, first, F(1, random.choice([8, 1000, 10**9])))
    elif mode > 2:
        others = [random.randint(1, 6) for _ in hidden]
        second = random_layers(random, [inputs, *others, outputs], last, kind)
        scales = [F(1), F(2), F(3, 7), F(1, 3)]
        matching = [
            [
                None if random.random() < 0.4 else (random.randrange(width), random.choice(scales))
                for _ in range(count)
            ]
            for width, count in zip(hidden, others, strict=True)
        ]
    grid = random.choice([8, 12, 20, 44, 44, 60, 100])
    return Drawn(first, second, matching, domain_of(random, inputs), grid)


def domain_of(random: Random, inputs: int) -> Polyhedron:
    """A box, some sides of which are points, perhaps on a plane."""
    lower = [F(random.randint(-9, 9), random.choice([1, 2, 3])) for _ in range(inputs)]
    sizes = [F(0), F(1), F(1, 3), F(1, 10**6)]
    upper = [x + random.choice(sizes) for x in lower]
    if inputs == 1 or random.random() < 0.7:
        return Polyhedron.box(lower, upper)
    plane = [random.choice([1, 3]), *(random.randint(-2, 2) for _ in range(inputs - 1))]
    rows = [[int(i == j) for j in range(inputs)] for i in range(1, inputs)]
    opposite = [[-x for x in row] for row in rows]
    right = [*upper[1:], *(-x for x in lower[1:])]
    return Polyhedron.from_constraints([*rows, *opposite], right, [plane], [random.randint(-2, 2)])


class Both:
    """The checker's forms and the prover's, on the same boxes."""

    def __init__(self, pair: Drawn) -> None:
        self.pair, self.meter = pair, checker.Meter(10**14)
        self.coordinates = DomainCoordinates.of(pair.domain)
        self.rule = RoundedRule(pair.first, pair.second, self.coordinates, pair.matching, pair.grid)
        networks = [
            checker.read_network(to_document(network), "", self.meter)
            for network in (pair.first, pair.second)
            if network is not None
        ]
        partners = [
            [[] if p is None else [p[0], str(p[1])] for p in layer] for layer in pair.matching
        ]
        other = networks[1] if len(networks) > 1 else None
        self.layers = checker.grid_layers(networks[0], other, partners, pair.grid, self.meter)
        terms = domain_terms(self.coordinates.domain)
        domain = checker.read_domain(terms, pair.domain.ambient_dimension, self.meter)
        self.box = checker.NodeBox(domain, pair.grid, self.meter)
        self.inputs = checker.NodeInputs(domain, self.meter)

    def forms(self, kind: LeafKind) -> checker.JointForms:
        """The checker's forms before the first layer."""
        count, slot = len(self.box.ends), 2 * self.pair.grid + 31 & ~7
        made = self.inputs.forms(self.box), count, self.pair.grid, slot
        if kind != "leaf":
            made_of = checker.BackwardForms if kind == "backward" else checker.JointBackwardForms
            return made_of(*made, checker.BackwardRows(self.layers, self.meter))
        return checker.JointForms(*made, self.meter)

    def compare(self, cuts: dict[Neuron, int], kind: LeafKind = "leaf") -> RoundedLeaf:
        """Both have equal forms, intervals, errors and signs, or both find the node empty."""
        forms = self.forms(kind)
        lower, upper = ([ends[side] for ends in self.box.ends] for side in (0, 1))
        leaf = self.rule.leaf(lower, upper, cuts, kind)
        try:
            forms.run(self.layers, cuts)
        except checker.EmptyNode:
            assert leaf.is_empty
            return leaf
        assert not leaf.is_empty
        assert forms.signs == [tuple(map(list, signs)) for signs in leaf.signs]
        assert forms.ends == list(leaf.ends)
        assert forms.pair_ends == list(leaf.pair_ends)
        for ours, theirs in zip(leaf._forms[1:], (forms.values, forms.differences), strict=False):
            packing = forms.packing
            assert isinstance(theirs, checker.FormList)
            rows = [
                [center, *packing.digits(packed)]
                for center, packed in zip(theirs.centers, theirs.packed, strict=True)
            ]
            padding = [0] * (1 + packing.count - ours.table.shape[1])
            assert rows == [[*row, *padding] for row in ours.table.tolist()]
            assert ours.error == theirs.error
        return leaf


KINDS: tuple[LeafKind, ...] = ("leaf", "backward", "joint")


def random_cuts(random: Random, pair: Drawn) -> dict[Neuron, int]:
    """Signs of up to three hidden neurons."""
    networks = [network for network in (pair.first, pair.second) if network is not None]
    found = dict[Neuron, int]()
    for _ in range(random.choice([0, 0, 1, 3])):
        which = random.randrange(len(networks))
        if networks[which].num_hidden_layers:
            number = random.randint(1, networks[which].num_hidden_layers)
            place = which, number, random.randrange(networks[which].widths[number])
            found[place] = random.choice([1, -1])
    if pair.second is not None and found and random.random() < 0.5:
        (which, number, index), side = random.choice(list(found.items()))
        width = (pair.second, pair.first)[which].widths[number]
        found[1 - which, number, min(index, width - 1)] = -side
    return found


def check_points(random: Random, both: Both, leaf: RoundedLeaf, cuts: dict[Neuron, int]) -> None:
    """At points of the box with the signs of the cuts, no row exceeds its bound."""
    pair, inputs = both.pair, both.coordinates.inputs
    for _ in range(3):
        y = [low + (high - low) * F(random.randint(0, 8), 8) for low, high in both.box.ends]
        x = [
            constant + sum((a * t for a, t in zip(row, y, strict=True)), F(0))
            for constant, *row in inputs.rows()
        ]
        f, g = pair.first(x), () if pair.second is None else pair.second(x)
        if not has_signs(pair, x, cuts):
            continue
        assert not leaf.is_empty
        check_intervals(both, leaf, x)
        for i, value in enumerate(f):
            row = LinearRow({i: F(1)}, {i: F(-2)} if g else {}, {0: F(1, 3)}, F(1, 7))
            exact = value - (2 * g[i] if g else 0) + x[0] / 3 + F(1, 7)
            assert exact <= leaf.upper_bounds([row])[0] <= leaf.upper_bound(row)


def check_intervals(both: Both, leaf: RoundedLeaf, x: list[Fraction]) -> None:
    """All preactivations lie in their intervals."""
    unit, values = 1 << both.pair.grid, list[list[Fraction]]()
    for which, network in enumerate((both.pair.first, both.pair.second)):
        if network is None:
            continue
        layers = network.preactivations([x])[: network.num_hidden_layers]
        for number, column in enumerate(layers, 1):
            for i, value in enumerate(column.entries()):
                low, high = leaf.pair_ends[number - 1][i].y if which else leaf.ends[number - 1][i]
                place = unit * value / both.rule.scale((which, number, i))
                assert low <= place <= high
                if which and (partner := both.rule.partner(number, i)) >= 0:
                    own = unit * values[number - 1][partner]
                    low, high = leaf.pair_ends[number - 1][i].d
                    assert low <= place - own <= high
            if not which:
                values.append(list(column.entries()))


def has_signs(pair: Drawn, x: list[Fraction], cuts: dict[Neuron, int]) -> bool:
    """Whether the neurons have these signs at a point."""
    networks = pair.first, pair.second
    for (which, number, index), side in cuts.items():
        network = networks[which]
        assert network is not None
        if network.preactivations([x])[number - 1][index, 0] * side < 0:
            return False
    return True


@pytest.mark.parametrize(("max_depth", "kind"), [(4, None), (9, 3)], ids=["small", "wild"])
@pytest.mark.parametrize("number", few_some_and_all(15, 50, 100))
def test_prover_and_checker_have_the_same_integers(
    number: int, max_depth: int, kind: int | None
) -> None:
    num_empty = 0
    for seed in range(number):
        random = Random(seed)
        both = Both(drawn(random, max_depth, kind))
        for _ in range(3):
            with case(seed):
                cuts = random_cuts(random, both.pair)
                for leaf_kind in KINDS:
                    leaf = both.compare(cuts, leaf_kind)
                    check_points(random, both, leaf, cuts)
                num_empty += leaf.is_empty
            wide = [k for k, (low, high) in enumerate(both.box.ends) if low < high]
            if wide:
                k = random.choice(wide)
                low, high = both.box.ends[k]
                middle = (low + high) / 2
                both.box.change(k, random.choice([(low, middle), (middle, high)]))
    assert num_empty > 0


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_partners_of_different_signs(layers: int) -> None:
    """Where z >= 0 >= z + D, the difference is between D and 0; in the last layer it is -z."""
    later = [([[1, 0], [-1, 2]], [2, 5]), ([[1, 0], [0, 1]], [2, 0])][: layers - 1]
    one, two = ([([[1], [1]], [c, 1]), *later, ([[1, 0]], [0])] for c in (0, F(-1, 8)))
    pair = Drawn(from_arrays(one), from_arrays(two), [], Polyhedron.box([-1], [1]), 44)
    both, cuts = Both(pair), {(0, 1, 0): 1, (1, 1, 0): -1}
    leaf, row = both.compare(cuts), LinearRow({0: F(1)}, {0: F(-1)})
    assert leaf.upper_bound(row, {3: F(1)} if layers == 1 else {}) == F(1, 8)
    if layers == 1:
        assert leaf.upper_bound(row) == 1
    check_points(Random(1), both, leaf, cuts)


@pytest.mark.parametrize("number", few_and_all(20, 200))
def test_a_leaf_is_closed_by_the_bound_and_not_below(number: int) -> None:
    """The prover's bound of a row, with multiples of inequalities, is the checker's, exactly."""
    for seed in range(number):
        random = Random(seed)
        pair = drawn(random)
        coordinates = DomainCoordinates.of(pair.domain)
        rule = RoundedRule(pair.first, pair.second, coordinates, pair.matching, pair.grid)
        leaf = rule.leaf(*sides(rule))
        row = LinearRow(
            {0: F(random.randint(-3, 3), 7)},
            {} if pair.second is None else {0: F(random.randint(-3, 3))},
            {0: F(random.randint(-3, 3), 2)},
        )
        size = len(rule.slacks)
        multiples = {n: F(random.randint(0, 3), 5) for n in range(size) if random.random() < 0.3}
        bound = leaf.upper_bound(row, multiples)
        node = BoundsNode("bounded", multiples=[(0, 0, multiples)])
        verdicts = []
        for is_strict in (False, True):
            claimed = replace(row, constant=-bound, is_strict=is_strict)
            claim = HoldsClaim(pair.first, coordinates.domain, ((claimed,),), pair.second)
            file = document(claim, [coordinates.inside], [node], pair.grid, pair.matching)
            verdicts.append(checker.check_bytes(written(file)).verdict)
        with case(seed):
            assert verdicts == ["accepted", "rejected"]


@pytest.mark.parametrize("number", few_and_all(20, 200))
@pytest.mark.parametrize(("kind", "worse"), [("backward", "leaf"), ("joint", "backward")])
def test_a_backward_leaf_is_closed_by_the_bound_and_not_below(
    kind: LeafKind, worse: LeafKind, number: int
) -> None:
    """The prover's best bound of all kinds is the checker's, exactly, and often a better one."""
    num_better = 0
    for seed in range(number):
        random = Random(seed)
        pair = drawn(random)
        coordinates = DomainCoordinates.of(pair.domain)
        rule = RoundedRule(pair.first, pair.second, coordinates, pair.matching, pair.grid)
        leaf, plain = (rule.leaf(*sides(rule), kind=x) for x in (kind, worse))
        row = LinearRow(
            {0: F(random.randint(-3, 3), 7)},
            {} if pair.second is None else {0: F(random.randint(-3, 3))},
            {0: F(random.randint(-3, 3), 2)},
        )
        if kind == "joint" and pair.second is not None:
            row = replace(row, g={i: -w for i, w in row.f.items()})
        bound = leaf.upper_bounds([row])[0]
        num_better += bound < plain.upper_bounds([row])[0]
        verdicts = []
        for is_strict in (False, True):
            claimed = replace(row, constant=-bound, is_strict=is_strict)
            claim = HoldsClaim(pair.first, coordinates.domain, ((claimed,),), pair.second)
            nodes = [BoundsNode(kind)]
            file = document(claim, [coordinates.inside], nodes, pair.grid, pair.matching)
            verdicts.append(checker.check_bytes(written(file)).verdict)
        with case(seed):
            assert verdicts == ["accepted", "rejected"]
    assert num_better > number // 20


@pytest.mark.parametrize("number", few_and_all(6, 40))
def test_exact_maxima(number: int) -> None:
    """A tree of all signs shows the exact maximum, and nothing less."""
    for seed in range(number):
        random = Random(seed)
        inputs, outputs = random.randint(1, 2), random.randint(1, 2)
        hidden = [random.randint(1, 2) for _ in range(random.randint(0, 2))]
        last = random.choice(["affine", "affine", "relu"])
        first = random_layers(random, [inputs, *hidden, outputs], last)
        second = perturbed(random, first, F(1, random.choice([4, 1000])))
        box = Polyhedron.box([-1] * inputs, [random.choice([1, -1, 2])] * inputs)
        with case(seed):
            tree = SignTree(first, second, box, rows_of_deviation(outputs))
            assert tree.value is not None
            values = zip(first(tree.point), second(tree.point), strict=True)
            assert max(abs(a - b) for a, b in values) == tree.value
            verdicts = [
                verdict_of(tree, first, second, low, high)
                for low, high in ((0, 0), (-1, F(-1, 10**12)), (0, 1), (F(1, 10**12), 1))
            ]
            assert verdicts == ["accepted", "rejected", "accepted", "rejected"]


def verdict_of(
    tree: SignTree, first: Network, second: Network, low: Fraction | int, high: Fraction | int
) -> str:
    """Whether the tree shows that the maximum is between its value plus these numbers."""
    assert tree.value is not None
    domain = tree.rule.coordinates.domain
    outputs = tuple(range(first.num_outputs))
    ends = max(F(0), tree.value + low), tree.value + high
    claim = DeviationClaim(first, second, domain, outputs, *ends)
    nodes: list[BoundsNode] = tree.nodes
    return checker.check_bytes(written(document(claim, [tree.point], nodes, 44))).verdict
