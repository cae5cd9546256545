"""Derivatives at ridges: numpy, the compiled core, and exact derivatives of the network."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from polyrelu._core import VARIABLE, chosen_engine
from polyrelu.network import SignVector, from_arrays, output_derivative
from polyrelu.proofs.deep.derivatives import derivatives_of
from polyrelu.proofs.deep.ridges import DeepNetwork
from polyrelu.proofs.deep.search import DeepSearch
from tests.generators.campaigns import few_and_all


def random_network(rng: Random) -> DeepNetwork:
    depth = rng.randint(1, 4)
    widths = [rng.randint(2, 5), *(rng.randint(1, 11) for _ in range(depth)), rng.randint(1, 3)]

    def number() -> int:
        return rng.choice([0, 1, -1, rng.randint(-(10**9), 10**9)])

    layers = [
        ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
        for n, m in pairwise(widths)
    ]
    return DeepNetwork.of(from_arrays(layers))


def random_ridges(
    network: DeepNetwork, count: int, rng: Random
) -> tuple[list[tuple[int, int]], list[int]]:
    pairs, masks = list[tuple[int, int]](), list[int]()
    for _ in range(count):
        u, v = sorted(rng.choices(range(network.size), k=2))
        pairs.append((u, v))
        masks.append(rng.getrandbits(network.size) & ~(1 << u | 1 << v))
    return pairs, masks


@pytest.mark.parametrize("count", few_and_all(20, 300))
def test_both_engines_give_the_exact_derivatives(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = dict.fromkeys(["numpy", chosen_engine().name])
    for number in range(count):
        rng = Random(f"derivatives {number}")
        network = random_network(rng)
        pairs, masks = random_ridges(network, 6, rng)
        tables = [
            np.array([[entry % network.prime for entry in row] for row in rows], dtype=float)
            for rows in network.integer_rows[1:]
        ]
        found = []
        for engine in engines:
            monkeypatch.setenv(VARIABLE, engine)
            jumps = derivatives_of(tables, network.prime).jumps(pairs, masks)
            found.append([(bend, at_u.tolist(), at_v.tolist()) for bend, at_u, at_v in jumps])
        assert found[0] == found[-1]
        for (u, v), mask, (_, at_u, at_v) in zip(pairs, masks, found[0], strict=True):
            assert at_u == exact_derivative(network, u, mask)
            assert at_v == exact_derivative(network, v, mask)


def exact_derivative(network: DeepNetwork, neuron: int, mask: int) -> list[int]:
    """The derivatives of the outputs by the activation of a neuron, modulo the prime."""
    bits = network.unpack(mask)
    layers = (
        tuple(np.where(bits[start:stop], 1, -1).tolist())
        for start, stop in pairwise(network.starts)
    )
    exact = output_derivative(network.network, SignVector(tuple(layers)), network.neuron_id(neuron))
    return [int(entry) % network.prime for entry in exact.entries()]


@pytest.mark.skipif(chosen_engine().name != "compiled", reason="there is no compiled core")
def test_searches_with_both_engines_meet_the_same_ridges(monkeypatch: pytest.MonkeyPatch) -> None:
    """The places where they meet them are floats, and later walks depend on their last bits."""
    rng, shapes = np.random.default_rng(3), ((9, 4), (8, 9), (7, 8), (2, 7))
    network = from_arrays([(rng.normal(size=shape), rng.normal(size=shape[0])) for shape in shapes])
    found = []
    for engine in ("numpy", "compiled"):
        monkeypatch.setenv(VARIABLE, engine)
        search = DeepSearch(network)
        search.run(rounds=1)
        found.append((list(search.ridges.items()), search.planes))
    assert found[0] == found[1]
    assert len(found[0][0]) > 100


@pytest.mark.skipif(chosen_engine().name != "compiled", reason="there is no compiled core")
def test_what_the_core_refuses() -> None:
    from polyrelu._core.compiled import Derivatives

    for tables in ([], [np.zeros((2, 3)), np.zeros((2, 1))], [np.zeros((0, 1))]):
        with pytest.raises(ValueError, match=r"there is no layer|wrong shape"):
            Derivatives(tables, 101.0)
    core = Derivatives([np.ones((2, 3)), np.ones((3, 1))], 101.0)
    bits = np.zeros((1, 1), dtype=np.uint8)
    for pair in ([0, 5], [-1, 0]):
        with pytest.raises(ValueError, match="no such neuron"):
            core.jumps(np.array([pair]), bits)
    with pytest.raises(ValueError, match="a bit for each neuron"):
        core.jumps(np.array([[0, 1]]), np.zeros((1, 0), dtype=np.uint8))
