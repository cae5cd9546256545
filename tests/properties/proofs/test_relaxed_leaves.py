"""Affine bounds of rows on nodes: whatever the slopes are, the checker has the same numbers.

Slopes, multiples, cuts and matchings are random. The bound holds at random points of the node, the
checker accepts it, and no smaller one.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from polyrelu import Network, Polyhedron, checker
from polyrelu.certificate import BoundsNode, HoldsClaim, LinearRow
from polyrelu.proofs.deviation.arguments import bounded_coordinates
from polyrelu.proofs.deviation.open_groups import RowEvidence
from polyrelu.proofs.deviation.problem import row_value
from polyrelu.proofs.deviation.relaxed_guess import FloatLayers, RelaxedPrograms
from polyrelu.proofs.deviation.relaxed_leaf import RelaxedLeaf
from polyrelu.proofs.deviation.rounded import LayerPartners, RoundedRule
from tests.generators.bounds_documents import document, perturbed, random_layers
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.tree_documents import written

F = Fraction
LOWER, UPPER = [F(-1), F(0)], [F(1), F(1, 3)]


def question(seed: int) -> tuple[Random, RoundedRule, Network | None, list[LayerPartners]]:
    """Return a rule for one network or a pair, on a box that an oblique side cuts."""
    chance = Random(seed)
    widths = chance.choice([(2, 3, 1), (2, 3, 2, 1), (2, 2, 2, 2)])
    last = chance.choice(["affine", "relu"])
    first = random_layers(chance, widths, last)
    second = perturbed(chance, first, F(1, 4)) if seed % 3 else None
    matching = list[LayerPartners]()
    if second is not None:
        for width in widths[1:-1]:
            places = [chance.choice([None, *range(width)]) for _ in range(width)]
            scales = [F(1), F(2), F(1, 3)]
            matching.append([None if i is None else (i, chance.choice(scales)) for i in places])
    sides = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 2]]
    domain = Polyhedron.from_constraints(sides, [1, 1, F(1, 3), 0, F(5, 4)])
    rule = RoundedRule(first, second, bounded_coordinates(domain), matching, 24)
    return chance, rule, second, matching


@pytest.mark.parametrize("number", few_some_and_all(15, 150, 400))
def test_the_checker_has_the_same_bounds(number: int) -> None:
    for seed in range(number):
        with case(seed):
            compare(seed)


def compare(seed: int) -> None:
    """Compare the bound of one row on one node, with a guess of slopes and with random ones."""
    chance, rule, second, matching = question(seed)
    nodes, signs = list[BoundsNode](), dict[tuple[int, int, int], int]()
    for _ in range(chance.randint(0, 2)):
        which = chance.randint(0, int(second is not None))
        layer = chance.randint(1, rule.first.num_hidden_layers)
        neuron = which, layer, chance.randrange(rule.first.widths[layer])
        if neuron not in signs:
            signs[neuron] = 1
            nodes.append(BoundsNode("sign", neuron=neuron))
    leaf = rule.leaf(LOWER, UPPER, signs)
    if leaf.is_empty:
        return
    relaxed = RelaxedLeaf(rule, leaf, LOWER, UPPER, signs)
    row = LinearRow({0: F(chance.randint(-3, 3), 2)}, {0: F(-1)} if second else {}, {1: F(1, 3)})
    guess = RelaxedPrograms(FloatLayers(rule, LOWER, UPPER), relaxed).guess(row)
    for evidence in ([] if guess is None else [guess.evidence]) + [some(chance, relaxed)]:
        bound = relaxed.upper_bound(row, evidence)
        for _ in range(20):
            x = (F(chance.randint(-24, 24), 24), F(chance.randint(0, 8), 24))
            if rule.coordinates.domain.contains(x) and is_on_node(rule, x, signs):
                f = rule.first.evaluate([x])[0]
                g = second.evaluate([x])[0] if second else ()
                assert row_value(row, x, f, g) <= bound
        for change, verdict in ((F(0), "accepted"), (F(1, 2**60), "rejected")):
            held = LinearRow(row.f, row.g, row.x, change - bound)
            claim = HoldsClaim(rule.first, rule.coordinates.domain, ((held,),), second)
            multiples = [(0, 0, evidence.multiples)]
            shown = BoundsNode("shown", multiples=multiples, slopes=[evidence.slopes])
            file = document(claim, [[0, 0]], [*nodes, shown], 24, matching)
            report = checker.check_bytes(written(file))
            # What follows is missing, so that the file is refused there at the earliest.
            place = f"line {len(nodes) + (2 if verdict == 'rejected' else 3)}"
            assert report.step.startswith(place), (verdict, report)


def some(chance: Random, relaxed: RelaxedLeaf) -> RowEvidence:
    """Return random slopes and multiples."""
    numbers = [*relaxed.cuts, *relaxed.oblique]
    return RowEvidence(
        {number: F(chance.randint(0, 6), 4) for number in numbers},
        {
            group.neuron: tuple(F(chance.randint(-8, 8), 6) for _ in range(1 + (group.second >= 0)))
            for group in relaxed.groups
        },
    )


def is_on_node(
    rule: RoundedRule, x: tuple[Fraction, ...], signs: dict[tuple[int, int, int], int]
) -> bool:
    """Whether all preactivations that were cut are not negative at a point."""
    networks = [rule.first] + ([rule.second] if rule.second else [])
    for which, layer, index in signs:
        values: list[Fraction] = list(x)
        for number in range(1, layer + 1):
            if number > 1:
                values = [max(v, F(0)) for v in values]
            weight, bias = networks[which].weight(number), networks[which].bias(number)
            values = [
                bias[i, 0] + sum((a * v for a, v in zip(row, values, strict=True)), F(0))
                for i, row in enumerate(weight.rows())
            ]
        if values[index] < 0:
            return False
    return True
