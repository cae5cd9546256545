"""The search for ridges by sight, on small networks with independent rows in the first layer."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from polyrelu.network import Network, from_arrays
from polyrelu.proofs.deep import aim, search as search_module, sight
from polyrelu.proofs.deep.aim import Goals, active_starts, ascend, common_zeros
from polyrelu.proofs.deep.orthant import Orthant
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.deep.settings import SETTINGS

WIDTHS = (9, 7, 7, 7, 7, 3)


def network_of(seed: int, widths: tuple[int, ...] = WIDTHS) -> Network:
    """A network with nonzero integer weights."""
    draw = Random(seed)
    return from_arrays(
        [
            (
                [[draw.choice((-1, 1)) * draw.randint(1, 9) for _ in range(n)] for _ in range(m)],
                [draw.randint(-5, 5) for _ in range(m)],
            )
            for n, m in pairwise(widths)
        ]
    )


def orthant_of(seed: int) -> Orthant:
    orthant = Orthant.of(network_of(seed))
    assert orthant is not None
    return orthant


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small networks are searched by sight, too, with few points."""
    monkeypatch.setattr(search_module, "SETTINGS", replace(SETTINGS, sight_neurons=1))
    monkeypatch.setattr(sight, "SIGHT", replace(sight.SIGHT, batch=48, rounds=2))
    monkeypatch.setattr(aim, "AIM", replace(aim.AIM, steps=60))


def test_coordinates_are_preactivations() -> None:
    network, orthant = network_of(0), orthant_of(0)
    points = np.abs(np.random.default_rng(0).normal(size=(4, 7))) * orthant.size
    inputs, values = orthant.inputs(points), orthant.values(points)
    for x, *rows in zip(inputs, *values, strict=True):
        exact = network.preactivations([x.tolist()])
        for layer, row in enumerate(rows):
            assert np.allclose(np.ravel(exact[layer].to_floats()), row)


def test_gradients_are_differences() -> None:
    orthant = orthant_of(1)
    points = np.abs(np.random.default_rng(1).normal(size=(5, 7))) * orthant.size
    values, indices = orthant.values(points), np.array([0, 1, 2, 3, 6])
    gradients = orthant.gradients(orthant.slopes(values), 4, indices)
    for k in range(7):
        moved = points.copy()
        moved[:, k] += 1e-6
        change = orthant.values(moved)[3] - values[3]
        assert np.allclose(change[np.arange(5), indices] * 1e6, gradients[:, k], rtol=1e-3, atol=1)


@pytest.mark.parametrize(
    "rows", [[[1, 2], [2, 4]], [[1, 0], [0, 1], [1, 1]]], ids=["dependent", "too many"]
)
def test_no_coordinates_without_full_row_rank(rows: list[list[int]]) -> None:
    assert Orthant.of(from_arrays([(rows, [0] * len(rows)), ([[1] * len(rows)], [0])])) is None


def test_ascent_shows_wanted_neurons() -> None:
    """More wanted neurons are active at the zeros that an ascent ends at than at its start."""
    orthant, draw = orthant_of(2), np.random.default_rng(2)
    guards = np.resize(np.arange(7), 70)
    starts = active_starts(orthant, (3, guards), np.abs(draw.normal(size=(70, 7))) * orthant.size)
    neurons = (guards + 1) % 7
    goals = Goals((3, neurons), (3, guards), np.ones((70, 7), dtype=bool))
    found, points = ascend(orthant, goals, starts)
    assert found.sum() > 20
    succeeded, ends = common_zeros(orthant, points[found], [(3, neurons[found])])
    values = orthant.values(ends[succeeded])
    own = values[2][np.arange(succeeded.sum()), neurons[found][succeeded]]
    assert succeeded.sum() > 20
    assert np.abs(own).max() < 1e-6 * orthant.size
    before = (orthant.values(starts[found])[1] > 0).sum()
    assert (values[1] > 0).sum(axis=1).mean() > before / found.sum()


@pytest.mark.usefixtures("small")
def test_ridges_are_there() -> None:
    """Each plane meets its ridges exactly, and all neurons of layer 1 are active or vanish."""
    search = DeepSearch(network_of(3), among="regular")
    search.run(rounds=0)
    assert len(search.ridges) > 10
    first = search.deep_network.layer_mask[1]
    for ridge in search.ridges:
        assert ridge.kind in ("A", "B")
        assert search.is_met_by_its_plane(ridge)
        assert (ridge.mask | 1 << ridge.u) & first == first
    twice = DeepSearch(network_of(3), among="regular")
    twice.run(rounds=0)
    assert list(twice.ridges.items()) == list(search.ridges.items())


@pytest.mark.usefixtures("small")
def test_chains_are_full() -> None:
    """Every neuron of layers 1 and 2 that has a piece has a full chain up from it."""
    search = DeepSearch(network_of(4), among="regular")
    missing = search.run(rounds=0).missing
    assert not [entry for entry in missing if entry.kind == "chain"]
    assert {search.deep_network.layer_of[ridge.u] for ridge in search.ridges} == {1, 2, 3}


def test_only_where_it_promises_something() -> None:
    assert SETTINGS.sight_neurons > sum(WIDTHS[1:-1])
    search = DeepSearch(network_of(3))
    search.run(rounds=0)
    assert not search.ridges


@pytest.mark.usefixtures("small")
def test_no_round_beyond_the_budget() -> None:
    search = DeepSearch(network_of(3))
    search.run(budget=0.001, rounds=0)
    assert not search.ridges


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("power", [-320, -150, 150, 320])
def test_weights_beyond_the_range_of_floats(power: int) -> None:
    """Nothing is found there, or what is found is right."""
    factor = Fraction(10) ** power
    layers = [
        (
            [[factor * x for x in row] for row in layer.weight.rows()],
            [factor * x for x in layer.augmented().transpose().rows()[-1]],
        )
        for layer in network_of(3).layers
    ]
    search = DeepSearch(from_arrays(layers))
    search.run(rounds=0)
    assert all(search.is_met_by_its_plane(ridge) for ridge in search.ridges)
