"""Common zeros by Newton's method, and walks of the deep search that start at them."""

from __future__ import annotations

import dataclasses
import itertools
import warnings

import numpy as np
import pytest

from polyrelu import NeuronId, from_arrays, identify
from polyrelu.network import Network
from polyrelu.proofs.deep.newton import CommonZeros
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.deep.settings import SETTINGS


def _network(seed: int, widths: tuple[int, ...] = (3, 6, 5, 4, 1)) -> Network:
    """Return a network of small random integers."""
    rng = np.random.default_rng(seed)
    return from_arrays(
        [
            (rng.integers(-9, 10, (m, n)) * 2 + 1, rng.integers(-9, 10, m))
            for n, m in itertools.pairwise(widths)
        ]
    )


@pytest.mark.parametrize("seed", range(5))
def test_zeros_are_zeros_of_the_network(seed: int) -> None:
    """Values are compared with the exact ones; some pair of neurons has common zeros."""
    network, count = _network(seed), 0
    starts = np.random.default_rng(seed).standard_normal((40, 3)) * 5
    for i, h in itertools.product(range(4), range(5)):
        neurons = [NeuronId(3, i), NeuronId(2, h)]
        zeros = CommonZeros(network).near(neurons, starts)
        count += len(zeros)
        if len(zeros):
            values = network.preactivations(zeros.tolist())
            sizes = 1 + np.linalg.norm(zeros, axis=1)
            for layer, index in ((3, i), (2, h)):
                assert (np.abs(values[layer - 1].to_floats()[index]) < 1e-3 * sizes).all()
    assert count > 40


def test_nothing_is_found_where_nothing_is() -> None:
    """max(x, 0) + 1 has no zero, and neither have x and x + 1 together."""
    layers = [([[1, 0], [1, 0]], [0, 1]), ([[1, 0]], [1]), ([[1]], [0])]
    zeros, starts = CommonZeros(from_arrays(layers)), np.ones((4, 2))
    assert not len(zeros.near([NeuronId(2, 0)], starts))
    assert not len(zeros.near([NeuronId(1, 0), NeuronId(1, 1)], starts))


def test_numbers_beyond_floats_end_nothing() -> None:
    """The points are dropped, and numpy warns of nothing."""
    layers = [([[10**200, 1]], [0]), ([[10**200]], [1]), ([[1]], [0])]
    zeros = CommonZeros(from_arrays(layers)).near([NeuronId(2, 0)], np.ones((4, 2)))
    assert np.isfinite(zeros).all()
    far = np.array([-1e300, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert CommonZeros(from_arrays(layers)).gradient(NeuronId(2, 0), far).tolist() == [0, 0]


def test_gradients() -> None:
    """By hand, with the first neuron inactive."""
    zeros = CommonZeros(from_arrays([([[1, 2], [3, 4]], [0, 0]), ([[5, 6]], [0]), ([[1]], [0])]))
    assert zeros.gradient(NeuronId(2, 0), np.array([-3.0, 3.0])).tolist() == [5 + 18, 10 + 24]
    assert zeros.gradient(NeuronId(2, 0), np.array([-3.0, 1.0])).tolist() == [0, 0]


def _only_newton(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all walks for missing pieces and active neurons start at common zeros."""
    settings = dataclasses.replace(SETTINGS, dry_walks=-1, dry_share=-1, dry_rounds=-1)
    settings = dataclasses.replace(settings, newton_share=1)
    monkeypatch.setattr("polyrelu.proofs.deep.search.SETTINGS", settings)


@pytest.mark.parametrize(
    ("widths", "seed"), [((4, 4, 3, 1), 2), ((4, 4, 3, 1), 3), ((5, 5, 4, 3, 1), 1)]
)
def test_walks_from_common_zeros_find_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, widths: tuple[int, ...], seed: int
) -> None:
    """With no other walks for pieces and active neurons the hypotheses hold as well."""
    _only_newton(monkeypatch)
    search = DeepSearch(_network(seed, widths))
    assert "piece" in {entry.kind for entry in search.hypotheses.missing}
    assert search.run(budget=5_000, rounds=60).hold
    assert all(map(search.is_met_by_its_plane, list(search.ridges)[::20]))


def test_a_search_that_finds_something_does_not_use_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So that certificates of searches without a dry time stay what they are."""
    network, usual = _network(1), SETTINGS.dry_walks
    first = DeepSearch(network)
    first.run(budget=5_000)
    settings = dataclasses.replace(SETTINGS, newton_share=1.0)
    monkeypatch.setattr("polyrelu.proofs.deep.search.SETTINGS", settings)
    second = DeepSearch(network)
    second.run(budget=5_000)
    assert first.walks < usual
    assert list(first.ridges) == list(second.ridges)


def test_identify_with_them_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ridges are exact whatever floats propose."""
    _only_newton(monkeypatch)
    layers = [([[1, 0], [0, 1]], [0, 0]), ([[-2, -1], [1, -2]], [2, 1]), ([[1, 1]], [0])]
    assert identify(from_arrays(layers), among="regular").status == "proved"
