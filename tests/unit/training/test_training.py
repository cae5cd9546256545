"""Exact quantities in the course of a training."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from polyrelu import canonical_complex, from_arrays
from polyrelu.dynamics import conserved_quantities
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.network import NeuronId
from polyrelu.training import TrainingHistory, TrainingRecorder, measure


def layers(seed: int, *widths: int) -> list[tuple[list[list[int]], list[int]]]:
    rng = Random(seed)
    return [
        ([[rng.randint(-4, 4) for _ in range(n)] for _ in range(m)], [rng.randint(-4, 4)] * m)
        for n, m in pairwise(widths)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_a_snapshot_against_other_rooms(seed: int) -> None:
    net = from_arrays(layers(seed, 2, 4, 3, 1))
    found = measure(net, "box:-1,1", identifiability=False)
    cells = canonical_complex(net, "box:-1,1")
    assert found.num_regions == cells.num_regions
    points = [cells.interior_point(index) for index in range(cells.num_regions)]
    signs = [[s for layer in net.sign_vector(x).layers for s in layer] for x in points]
    for column, neuron in enumerate(net.neurons):
        column_signs = {row[column] for row in signs}
        assert (neuron in (found.dead or ())) == (1 not in column_signs)
        assert (neuron in (found.linear or ())) == (column_signs <= {0, 1} and 1 in column_signs)
    diagonals = tuple(layer.diagonal for layer in conserved_quantities(net))
    assert found.conserved == diagonals


def test_what_a_budget_leaves_out() -> None:
    found = measure(layers(1, 2, 9, 9, 1), "box:-1,1", budget=0.1)
    assert (found.num_regions, found.dead, found.linear) == (None, None, None)
    history = TrainingHistory((found,))
    assert history.table() == [[0, "-", "-", "-", found.identifiable, "-"]]
    assert len(history.picture().axes) == 4


def test_a_slice(tmp_path: Path) -> None:
    path = tmp_path / "plane.json"
    path.write_text('{"points": [[0,0,0,0],[1,0,0,0],[0,0,0,1]], "range": [[0,1],[0,1]]}')
    found = measure(layers(2, 4, 5, 2), f"slice:{path}")
    assert found.num_regions is not None
    with pytest.raises(DomainError, match="1 to 3 dimensions, this domain has 4"):
        measure(layers(2, 4, 5, 2), "box:0,1")


def test_a_recorder() -> None:
    weights = [[1.0], [1.0]]
    recorder = TrainingRecorder(
        lambda: [(weights, [0, -1]), ([[1, -1]], [0])], "box:-1,2", every=2, identifiability=False
    )
    measured = []
    for step in range(5):
        weights[0][0] -= 0.5
        measured.append(recorder(loss=1.5 - step))
    assert [found is None for found in measured] == [True, False, True, False, True]
    assert [found.step for found in recorder.history] == [0, 2, 4]
    assert [found.num_regions for found in recorder.history] == [3, 2, 3]
    assert list(map(int, recorder.history.drift(1))) == [0, 1, 0]
    assert recorder.history.to_json()[1]["dead"] == [[1, 0]]
    figure = recorder.history.picture()
    assert [ax.get_ylabel().split()[0] for ax in figure.axes][:2] == ["loss", "regions"]
    with pytest.raises(ArgumentError, match="from 1 to 1"):
        recorder.history.drift(2)
    with pytest.raises(ArgumentError, match="optimizer"):
        recorder.attach(object())
    with pytest.raises(DomainError, match="nothing was measured"):
        TrainingHistory(()).picture()


@pytest.mark.parametrize(("last", "scale"), [(0.5, "linear"), (0.001, "log"), (0.0, "linear")])
def test_numbers_along_the_axes(last: float, scale: str) -> None:
    """Losses within a decade have a linear axis, and counts have integers only."""
    shots = [measure(layers(2, 1, 2, 1), step=k, loss=loss) for k, loss in enumerate((0.6, last))]
    loss, *_, regions = TrainingHistory(tuple(shots)).picture().axes[:2]
    assert loss.get_yscale() == scale
    for axis in (regions.yaxis, regions.xaxis):
        low, high = axis.get_view_interval()
        ticks = [x for x in axis.get_ticklocs() if low <= x <= high]
        assert ticks
        assert all(x == int(x) for x in ticks)


def test_networks_that_are_no_stacks() -> None:
    """Nothing is known of conserved quantities there, and the rest is measured."""
    pytest.importorskip("torch")
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.LeakyReLU(0.5))
    found = measure(model, "box:-1,1")
    assert found.conserved == ()
    assert found.num_regions is not None
    assert len(TrainingHistory((found,)).picture().axes) == 3


def test_a_hook_of_an_optimiser() -> None:
    torch: Any = pytest.importorskip("torch")
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.125)
    recorder = TrainingRecorder(model, "box:-1,1")
    handle = recorder.attach(optimizer)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).square().sum().backward()
        optimizer.step()
    handle.remove()
    optimizer.step()
    assert len(recorder.history) == 4
    last = recorder.history.snapshots[-1]
    assert max(recorder.history.drift(1)) > 0
    assert all(isinstance(q, Fraction) for q in last.conserved[0])
    assert isinstance(last.dead, tuple)
    assert all(isinstance(neuron, NeuronId) for neuron in last.dead)
