"""`simplify` on random networks with neurons that are planted, and on degenerate ones.

Every result is proved, checked by the independent checker, no larger than the given network, and
equal to it at random points.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from polyrelu import checker
from polyrelu.exact import Polyhedron
from polyrelu.formats import load
from polyrelu.network import Network, NeuronId, from_arrays
from polyrelu.proofs import Simplified, simplify
from polyrelu.proofs.removal_proof import RemovalSettings
from polyrelu.proofs.trees.sign_tree import num_cells
from tests.generators.campaigns import few_fast
from tests.generators.files import NETS
from tests.generators.redundant_networks import PLANTED, degenerate_stack, plant, random_stack


def some_domain(rng: Random, size: int) -> Polyhedron | None:
    """R^n, a box, the orthant, or a flat piece of a box."""
    if rng.random() < 0.4:
        return None
    low, high = [-1] * size, [rng.randint(1, 2)] * size
    flat = Polyhedron.from_constraints([[1] * size, [-1] * size], [1, 1], [[1] * size], [1], size)
    return rng.choice([Polyhedron.box(low, high), Polyhedron.orthant(size), flat])


def count(network: Network) -> int:
    """The number of neurons that can be removed."""
    return sum(network.widths[1 : network.depth])


def judge(network: Network, domain: Polyhedron | None, found: Simplified, folder: Path) -> None:
    small = found.network
    assert count(small) == count(network) - len(found.removed)
    assert small.depth <= network.depth
    assert len({neuron for neuron, _ in found.removed}) == len(found.removed)
    assert all(neuron.index < network.widths[neuron.layer] for neuron, _ in found.removed)
    found.outcome.save(folder / "same.cert")
    assert checker.main([str(folder / "same.cert")]) == 0
    rng = Random(0)
    sample = [
        [Fraction(rng.randint(-64, 64), 32) for _ in range(network.num_inputs)] for _ in range(6)
    ]
    for point in sample:
        if domain is None or domain.contains(point):
            assert small(point) == network(point)


@pytest.mark.parametrize("kind", few_fast(PLANTED, 3))
def test_planted_neurons_are_found(kind: str, tmp_path: Path) -> None:
    """Each kind alone, in any layer where it is possible."""
    planted = 0
    for seed in range(8):
        rng = Random(f"{kind} {seed}")
        depth = rng.randint(1, 3) if kind in ("unused", "dead", "doubled") else 3
        raw = random_stack(rng, tuple(rng.randint(2, 4) for _ in range(depth + 2)))
        layer = {"boxed": 2, "ordered": 1}.get(kind, rng.randint(1, depth))
        number = plant(rng, raw, layer, kind)
        net = from_arrays(raw)
        found = simplify(net, seed=seed)
        judge(net, None, found, tmp_path)
        assert count(found.network) <= count(net) - number
        planted += number
    assert planted >= 1


@pytest.mark.parametrize("part", few_fast(range(4), 1))
def test_random_networks(part: int, tmp_path: Path) -> None:
    removed = 0
    for seed in range(part * 30, part * 30 + 30):
        rng = Random(f"mixed {seed}")
        last = "affine"
        if seed % 2:
            raw, last = degenerate_stack(rng), rng.choice(("affine", "relu"))
        else:
            depth = rng.randint(1, 3)
            raw = random_stack(rng, tuple(rng.randint(1, 4) for _ in range(depth + 2)))
            for layer in sorted(rng.randint(1, depth) for _ in range(rng.randint(1, 4))):
                plant(rng, raw, layer, rng.choice(PLANTED))
        net = from_arrays(raw, "relu" if last == "relu" else "affine")
        domain = some_domain(rng, net.num_inputs)
        found = simplify(net, domain, seed=seed)
        judge(net, domain, found, tmp_path)
        removed += len(found.removed)
    assert removed > 30


def test_simplified_twice_is_simplified_once() -> None:
    """The proof may fail for a step, and a second round may see more; here it does not."""
    for seed in range(20):
        net = from_arrays(degenerate_stack(Random(f"twice {seed}")))
        small = simplify(net).network
        assert simplify(small).network == small


def as_trained() -> Network:
    """2-50-50-1 with random weights and ten planted neurons."""
    rng = Random("trained")
    raw = random_stack(rng, (2, 45, 40, 1))
    for kind in ("doubled",) * 4 + ("unused",):
        plant(rng, raw, 1, kind)
    for kind in ("dead",) * 5 + ("doubled",) * 5:
        plant(rng, raw, 2, kind)
    net = from_arrays(raw)
    assert net.widths == (2, 50, 50, 1)
    return net


def test_a_network_as_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without trees for signs the planted neurons go, in a second."""
    monkeypatch.setattr("polyrelu.proofs.removal_proof.SETTINGS", RemovalSettings(max_work=0))
    small = simplify(as_trained())
    assert small.network.widths == (2, 45, 40, 1)
    assert small.outcome.search.route == "expressions"


@pytest.mark.slow
def test_neurons_that_are_dead_by_chance(tmp_path: Path) -> None:
    """Two more neurons are dead, which takes a tree for each."""
    net = as_trained()
    small = simplify(net)
    assert small.network.widths == (2, 45, 38, 1)
    assert small.outcome.search.route == "tree"
    judge(net, None, small, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not NETS.is_dir(), reason="the networks from elsewhere are not here")
def test_a_trained_controller(tmp_path: Path) -> None:
    """The dead neuron of a trained 3-32-32-3 takes a leaf for each cell of 14 planes in R^3."""
    net = load(NETS / "rpd_vdp.onnx")
    small = simplify(net)
    assert [neuron for neuron, _ in small.removed] == [NeuronId(2, 8)]
    assert small.outcome.search.num_leaves <= num_cells(14, 3)
    judge(net, None, small, tmp_path)
