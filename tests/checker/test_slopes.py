"""Records with slopes of random networks: whatever the slopes, no false bound is accepted."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Literal

import pytest

from polyrelu import checker
from polyrelu.certificate import BoundsNode, DeviationClaim
from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from tests.generators.bounds_documents import (
    SignTree,
    document,
    perturbed,
    random_layers,
    rows_of_deviation,
)
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.tree_documents import written

F = Fraction


def random_slopes(random: Random, networks: tuple[Network, Network]) -> BoundsNode:
    """Slopes of all neurons, most of them from 0 to 1, and multiples of the ends of the domain."""
    slopes, multiples = [], []
    for clause, sign in ((0, 1), (1, -1)):
        found: dict[tuple[int, int, int], tuple[Fraction, ...]] = {}
        for which, network in enumerate(networks):
            for layer, width in enumerate(network.widths[1:-1], 1):
                for i in range(width):
                    ends = [sign * F(random.randint(-4, 4), 4) for _ in range(1 + which)]
                    found[which, layer, i] = tuple(ends)
        slopes.append(found)
        some = {random.randint(0, 1): F(random.randint(0, 4), 2)} if random.random() < 0.3 else {}
        multiples.append((clause, 0, some))
    kind: Literal["relaxed", "shown"] = "relaxed" if random.random() < 0.5 else "shown"
    return BoundsNode(kind, multiples=multiples, slopes=slopes)


def is_accepted(
    tree: SignTree, networks: tuple[Network, Network], bound: Fraction, node: BoundsNode
) -> bool:
    """Return whether a bound of the difference is accepted by one record with slopes."""
    claim = DeviationClaim(*networks, tree.rule.coordinates.domain, (0,), F(0), bound)
    nodes = [node, *([BoundsNode("leaf")] if node.kind == "shown" else [])]
    report = checker.check_bytes(written(document(claim, [tree.point], nodes, 44)))
    return report.verdict == "accepted"


@pytest.mark.parametrize("number", few_some_and_all(5, 40, 200))
def test_no_slopes_show_less_than_the_largest_difference(number: int) -> None:
    num_accepted = 0
    for seed in range(number):
        random = Random(seed)
        first = random_layers(random, [1, random.randint(1, 3), 1], kind=0)
        networks = first, perturbed(random, first, F(1, 4))
        tree = SignTree(*networks, Polyhedron.box([-1], [2]), rows_of_deviation(1))
        assert tree.value is not None
        for trial in range(20):
            node = random_slopes(random, networks)
            with case(seed, trial):
                less = tree.value * F(999, 1000)
                assert less == 0 or not is_accepted(tree, networks, less, node)
            num_accepted += is_accepted(tree, networks, 9 * tree.value + 9, node)
    assert num_accepted > 10
