"""The search of Theorem D.

What ends it, that it repeats itself, that it never fails, and that what it proves in part is fixed
along every curve of parameters with the same function.
"""

from __future__ import annotations

import time
from itertools import pairwise
from random import Random

import pytest

import polyrelu
from polyrelu import Network
from polyrelu.errors import DomainError
from polyrelu.proofs.deep import prover as deep
from polyrelu.proofs.deep.hypotheses import deep_hypotheses
from polyrelu.proofs.deep.ridges import Ridge, ridge_at
from polyrelu.proofs.deep.search import DeepSearch
from tests.generators.campaigns import case, few_and_all
from tests.generators.deep_searches import accepted, document
from tests.generators.ridge_points import ridge_points
from tests.properties.proofs.test_deep_certificates import hidden
from tests.properties.proofs.test_deep_parts import only_scalings_move, random_layers, with_symmetry

CORNERS = polyrelu.from_arrays(
    [([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])]
)
#: (1, 0) is free to move: no search can prove it.
OPEN = polyrelu.from_arrays(
    [
        ([[1, -1], [3, -1], [-1, 2]], [2, 1, -3]),
        ([[-3, 2, -3], [1, -3, -2]], [2, -3]),
        ([[-1, 3]], [-2]),
    ]
)


def test_the_same_seed_meets_the_same_ridges() -> None:
    one, two, other = DeepSearch(OPEN, 3), DeepSearch(OPEN, 3), DeepSearch(OPEN, 4)
    for search in (one, two, other):
        search.run(rounds=3)
    assert one.planes == two.planes
    assert list(one.ridges.items()) == list(two.ridges.items())
    assert one.walks == two.walks
    assert one.planes != other.planes


def test_a_search_in_parts_goes_on() -> None:
    search, met, walks = DeepSearch(OPEN), 0, 0
    for _ in range(4):
        search.run(rounds=1)
        assert (len(search.ridges) >= met, search.walks > walks) == (True, True)
        met, walks = len(search.ridges), search.walks


def test_rounds_and_limits() -> None:
    search = DeepSearch(OPEN)
    assert len(search.run(rounds=0).missing) == 6
    assert search.walks == 0
    search.run(budget=0)
    assert search.walks == 0
    search.run(rounds=1)
    assert 0 < search.walks <= 2 * search.deep_network.size
    started = time.process_time()
    while not search.is_idle and time.process_time() - started < 2:
        search.run(budget=100)
    assert time.process_time() - started < 4


def test_an_idle_search_ends() -> None:
    """An idle search does not walk any more."""
    search = DeepSearch(OPEN)
    search.run()
    assert search.is_idle
    assert str(search.hypotheses) == "(1, 2) is active at no known piece of (2, 1)"
    walks = search.walks
    search.run()
    assert search.walks == walks


def test_what_holds_ends_the_search() -> None:
    search = DeepSearch(CORNERS)
    assert search.run().hold
    walks = search.walks
    search.run()
    assert search.walks == walks


@pytest.mark.parametrize("count", [0, 1, 7])
def test_watching(count: int) -> None:
    """The function is asked before each walk, and False ends the search."""
    seen: list[int] = []

    def may_walk() -> bool:
        seen.append(search.walks)
        return len(seen) <= count

    search = DeepSearch(OPEN)
    found = search.run(may_walk=may_walk)
    assert search.walks == count
    assert seen == list(range(count + 1))
    assert found is search.hypotheses


def test_a_watcher_that_fails() -> None:
    search = DeepSearch(OPEN)

    def fail() -> bool:
        if search.walks == 20:
            raise KeyboardInterrupt
        return True

    with pytest.raises(KeyboardInterrupt):
        search.run(may_walk=fail)
    met = len(search.ridges)
    search.run(rounds=1)
    assert len(search.ridges) >= met > 0


# -- random networks -------------------------------------------------------------------------------


WIDTHS = (
    (2, 2, 2, 1),
    (2, 3, 2, 2),
    (3, 2, 3, 1),
    (2, 2, 2, 2, 1),
    (2, 1, 2, 1),
    (4, 3, 1),
    (2, 3, 3, 3, 1),
)


def degenerate(seed: int) -> Network:
    """A network with zero weights, ties, equal rows, and constant or linear neurons."""
    rng = Random(seed)
    widths = rng.choice(WIDTHS)
    zeros, size = rng.choice((0.0, 0.2, 0.5, 0.9)), rng.choice((1, 2, 5))
    layers = []
    for n, m in pairwise(widths):
        rows = [
            [0 if rng.random() < zeros else rng.randint(-size, size) for _ in range(n + 1)]
            for _ in range(m)
        ]
        if rng.random() < 0.3:
            rows[0] = [rng.choice((1, 2, -1)) * x for x in rows[-1]]
        if rng.random() < 0.3:  # a tie: all pass through the origin
            rows = [[*row[:-1], 0] for row in rows]
        if rng.random() < 0.2:
            rows[-1] = [rng.choice((-1, 1)) * abs(x) for x in rows[-1]]
        layers.append(([row[:-1] for row in rows], [row[-1] for row in rows]))
    return polyrelu.from_arrays(layers)


@pytest.mark.parametrize("seeds", few_and_all(range(30), range(160)))
def test_degenerate_networks(seeds: range) -> None:
    """No walk fails, all planes meet their ridges, and all claims are accepted."""
    for seed in seeds:
        with case(seed):
            check_search(DeepSearch(degenerate(seed)))


def check_search(search: DeepSearch) -> None:
    search.run(rounds=1, budget=1000)
    assert all(search.is_met_by_its_plane(ridge) for ridge in search.ridges)
    assert all(ridge.kind == search.deep_network.ridge(*ridge[:3]).kind for ridge in search.ridges)
    whole, part = deep.prove_search(search), deep.prove_part(search)
    if part is not None:
        assert accepted(document(part[0], deep.PART, part[1]))
    if isinstance(whole, list):
        assert search.hypotheses.hold
    assert search.hypotheses.hold or search.hypotheses.missing


@pytest.mark.parametrize("count", few_and_all(2, 4))
def test_ridges_are_those_of_the_complex(count: int) -> None:
    """A search meets cells of codimension 2 only, and a long search meets most of them."""
    for seed in range(count):
        network = polyrelu.from_arrays(random_layers((2, 3, 2, 1), Random(seed)))
        search = DeepSearch(network)
        search.run(rounds=10, budget=2000)
        cells = {
            ridge
            for point in ridge_points(network)
            if isinstance(ridge := ridge_at(search.deep_network, point), Ridge)
        }
        assert set(search.ridges) <= cells
        assert len(search.ridges) >= len(cells) / 3


@pytest.mark.parametrize("kind", ["none", "twin", "dead", "linear", "hidden", "permuted"])
def test_what_is_determined_stays(kind: str) -> None:
    """At all ridges: no direction that fixes all affine pieces moves the determined rows."""
    rng, parts = Random(f"stays {kind}"), 0
    for _ in range(16):
        widths = rng.choice(((2, 2, 2, 1), (2, 3, 2, 1), (2, 2, 3, 1), (2, 2, 2, 2, 1)))
        layers = random_layers(widths, rng)
        if kind == "hidden":
            layers = hidden(layers)
        else:
            layers = with_symmetry(layers, kind if kind != "permuted" else "twin", rng)
        if kind == "permuted":
            layers = permuted(layers, rng)
        network = polyrelu.from_arrays(layers)
        found = deep_hypotheses(network, ridge_points(network))
        assert not found.hold or only_scalings_move(network, network.depth, [])
        if found.determined.num_layers:
            assert only_scalings_move(
                network, found.determined.num_layers, list(found.determined.neurons)
            )
            parts += 1
    assert parts or kind == "hidden"


def permuted(
    layers: list[tuple[list[list[int]], list[int]]], rng: Random
) -> list[tuple[list[list[int]], list[int]]]:
    """The same layers with the neurons of hidden layers in another order."""
    layers = [([list(row) for row in weight], list(bias)) for weight, bias in layers]
    for (weight, bias), (out, _) in pairwise(layers):
        order = list(range(len(bias)))
        rng.shuffle(order)
        weight[:], bias[:] = [weight[i] for i in order], [bias[i] for i in order]
        out[:] = [[row[i] for i in order] for row in out]
    return layers


def test_no_network_that_the_theorem_is_not_about() -> None:
    with pytest.raises(DomainError, match="at least two inputs"):
        DeepSearch(polyrelu.from_arrays([([[1], [2]], [0, 1]), ([[1, 1]], [0])]))
