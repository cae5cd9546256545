"""The search for ridges by sight, on small networks with independent rows in the first layer."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest

import polyrelu
from polyrelu import checker
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import Identifiable
from polyrelu.proofs.deep import aim, both_signs, ridges, sight
from polyrelu.proofs.deep.aim import ZeroAims, active_starts, common_zeros
from polyrelu.proofs.deep.ascent import ascend
from polyrelu.proofs.deep.both_signs import KnownPoints, points_with_both_signs
from polyrelu.proofs.deep.families import Family
from polyrelu.proofs.deep.neuron_evidence import LayerEvidence, bits_of, layer_evidence
from polyrelu.proofs.deep.orthant import Orthant
from polyrelu.proofs.deep.ridges import Competitors, DeepNetwork
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.proofs.deep.sight import Flag, SightSearch
from polyrelu.proofs.deep.sign_ascent import SIGNS, SignAims
from polyrelu.proofs.deep.triangles import Triangles
from polyrelu.support.budget import Budget
from tests.generators.files import NETS
from tests.oracles.judge import certificate_bytes

#: 784-4x256-10, of VNN-COMP 2022.
MNIST = NETS / "mnist_256x4.onnx"

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
    monkeypatch.setattr(ridges, "SETTINGS", replace(SETTINGS, sight_neurons=1))
    monkeypatch.setattr(sight, "SIGHT", replace(sight.SIGHT, batch=48, rounds=6))
    for module in (aim, sight):
        monkeypatch.setattr(module, "AIM", replace(aim.AIM, steps=60))
    few = replace(both_signs.BOTH_SIGNS, batch=48, rounds=6, first_steps=60, steps=40)
    monkeypatch.setattr(both_signs, "BOTH_SIGNS", few)


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
    starts = active_starts(
        orthant, (3, guards), np.abs(draw.normal(size=(70, 7))) * orthant.size, Budget()
    )
    neurons = (guards + 1) % 7
    aims = ZeroAims((3, neurons), (3, guards), np.ones((70, 7), dtype=bool))
    found, points = ascend(orthant, aims, starts, 200, Budget())
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


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("among", ["transversal", "regular", "sparse"])
def test_ridges_have_the_types_of_their_class(among: Competitors) -> None:
    """Among sparse competitors, crossings without a bend are of another type."""
    layers = [
        ([list(row) for row in layer.weight.rows()], list(layer.bias.entries()))
        for layer in network_of(1).layers
    ]
    if among == "sparse":
        layers[2][0][1][4] = layers[3][0][2][2] = Fraction(0)
    search = DeepSearch(from_arrays(layers), among=among)
    search.run(rounds=0)
    assert len(search.ridges) > 10
    assert all(map(search.has_its_type, search.ridges))


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
def test_lower_layers_are_paid_for() -> None:
    """Flags of layer 2 are looked for with work only, and cost some of it."""
    orthant = orthant_of(3)
    points = np.abs(np.random.default_rng(3).normal(size=(4, 7))) * orthant.size
    flags = [Flag(((3, i), (4, i)), point) for i, point in enumerate(points)]
    for work in (None, 0.5):
        budget = Budget(work)
        search = SightSearch(orthant, Random(0), Budget(), lambda points: [True] * len(points))
        found = search._lower_flags(2, flags, budget)
        assert (budget.spent > 0) is (work is None)
        assert not found or work is None


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


def test_ascent_to_signs_shows_wanted_neurons() -> None:
    """Where an ascent ends, more wanted neurons are active than at its start, and the guard is."""
    orthant, draw = orthant_of(2), np.random.default_rng(2)
    guards = np.resize(np.arange(7), 70)
    starts = active_starts(
        orthant, (3, guards), np.abs(draw.normal(size=(70, 7))) * orthant.size, Budget()
    )
    aims = SignAims(4, [(3, guards)], np.ones((70, 7)), np.zeros((70, 7)))
    found, points = ascend(orthant, aims, starts, 60, Budget())
    points = points[found]
    assert len(points) > 20
    values = orthant.values(points)
    assert (values[2] > 0).sum(axis=1).mean() > (orthant.values(starts)[2] > 0).sum(axis=1).mean()
    num_active = (values[2] > 0).sum(axis=1)
    assert (num_active >= SIGNS.least_active).all()
    assert (num_active <= (values[1] > 0).sum(axis=1)).all()


def test_limits_end_an_ascent() -> None:
    """No step is made once the time is over; what was found before is kept."""
    orthant, points = orthant_of(2), np.full((70, 7), 5.0)
    guards, over = np.resize(np.arange(7), 70), Budget(seconds=0)
    assert active_starts(orthant, (3, guards), points, over) is points
    aims = SignAims(4, [(3, guards)], np.ones((70, 7)), np.zeros((70, 7)))
    found, ends = ascend(orthant, aims, points, 60, over)
    assert not found.any()
    assert np.array_equal(ends, points)
    search = SightSearch(orthant, Random(0), over, lambda points: [True] * len(points))
    assert not search._completed([(3, guards)], points)


def test_ascent_finds_wanted_signs() -> None:
    """A neuron of layer 4 becomes active at points at which another one of layer 3 stays active."""
    orthant, draw = orthant_of(1), np.random.default_rng(1)
    guards = np.resize(np.arange(7), 70)
    starts = active_starts(
        orthant, (3, guards), np.abs(draw.normal(size=(70, 7))) * orthant.size, Budget()
    )
    for v in range(7):
        signs = np.zeros((70, 7))
        off = orthant.values(starts)[3][:, v] < 0
        signs[:, v] = 1
        aims = SignAims(4, [(3, guards[off])], np.ones((off.sum(), 7)), signs[off])
        found, points = ascend(orthant, aims, starts[off], 60, Budget())
        if (orthant.values(points[found])[3][:, v] > 0).any():
            return
    pytest.fail("no neuron became active")


@pytest.mark.parametrize("layer", [3, 4])
def test_known_points_count_signs(layer: int) -> None:
    """The table of signs is what the points show, and only the last layer needs no other neuron."""
    orthant = orthant_of(3)
    known = KnownPoints(orthant, layer)
    points = np.abs(np.random.default_rng(3).normal(size=(40, 7))) * orthant.size
    known.add(points[:25])
    known.add(points[25:])
    for h in range(7):
        for v in range(7):
            shown = set[bool]()
            for values in zip(*orthant.values(points), strict=True):
                others = (np.delete(values[layer - 1], v) > 0).any()
                if values[layer - 2][h] > 0 and (layer == 4 or others):
                    shown.add(bool(values[layer - 1][v] > 0))
            wanted = 1 if True not in shown else -1 if False not in shown else 0
            assert known.wanted[h, v] == wanted


@pytest.mark.usefixtures("small")
def test_a_proof_that_begins_by_sight() -> None:
    """Walks find the few things that are missing; what was seen is in the certificate."""
    search = DeepSearch(network_of(1))
    assert search.run(rounds=0).missing
    outcome = polyrelu.identify(network_of(1), budget=10_000)
    assert isinstance(outcome, Identifiable)
    data = certificate_bytes(outcome)
    assert checker.check_bytes(data).verdict == "accepted"
    layer_of = search.deep_network.layer_of
    listed = {
        (u, v, int(mask))
        for plane in json.loads(data)["proof"]["hypotheses"][0]["evidence"]["slices"]
        for u, v, mask in plane["ridges"]
    }
    by_sight = {(ridge.u, ridge.v, ridge.mask) for ridge in search.ridges}
    assert {layer_of[v] for _, v, _ in by_sight & listed} == {2, 3, 4}


@pytest.mark.slow
@pytest.mark.skipif(not MNIST.exists(), reason="the network is not here")
def test_a_wide_trained_network() -> None:
    """The default budget of `identify` is enough for 784-4x256-10; that of the checker is not."""
    outcome = polyrelu.identify(MNIST)
    assert isinstance(outcome, Identifiable)
    data = certificate_bytes(outcome)
    assert checker.check_bytes(data, budget=10**13).verdict == "accepted"


def family_of(neuron: int, *active: int) -> Family:
    """A family with one piece of a neuron of layer 4, where some of layer 3 are active."""
    shown = sum(1 << 14 + h for h in set(active))
    inactive = ((1 << 7) - 1 << 14) ^ shown
    return Family(neuron, [shown | (1 << 14) - 1], shown, inactive, 0, False)


def chosen_of_last_layer(evidence: LayerEvidence) -> list[set[int]]:
    """For each neuron of layer 4 which of layer 3 are active at pieces of its chosen family."""
    return [{h - 14 for h in bits_of(evidence.chosen[v].num_active)} for v in range(21, 28)]


@pytest.mark.usefixtures("small")
def test_families_that_can_be_distinguished() -> None:
    """The largest families have nothing in common, others have two active neurons."""
    network = DeepNetwork.of(network_of(1), "regular")
    large = [family_of(21 + v, *((v + k) % 7 for k in range(4))) for v in range(7)]
    small = [family_of(21 + v, 2, 5) for v in range(7)]
    found = chosen_of_last_layer(layer_evidence(network, [*large, *small]))
    assert all(len(found[v] & found[w]) >= 2 for v in range(7) for w in range(7))
    assert {2, 5} in found
    assert {0, 1, 2, 3} not in found


@pytest.mark.usefixtures("small")
def test_families_that_are_distinguished_stay() -> None:
    network = DeepNetwork.of(network_of(1), "regular")
    large = [family_of(21 + v, 0, 1, 2, 3, 4, v) for v in range(7)]
    found = chosen_of_last_layer(
        layer_evidence(network, [*large, *(family_of(21 + v, 2, 5) for v in range(7))])
    )
    assert found == [{0, 1, 2, 3, 4, v} for v in range(7)]


@pytest.mark.usefixtures("small")
def test_triangles_show_what_they_say() -> None:
    """A pair is missing unless the layer-4 neuron vanishes at a ridge where the other is active."""
    orthant = orthant_of(1)
    known = points_with_both_signs(orthant, 4, Random(0), Budget())
    triangles = Triangles(orthant, known, Budget(), lambda points: [True] * len(points))
    planes = triangles.planes()
    shown = np.zeros((7, 7), dtype=bool)
    for plane in planes:
        for point, _ in plane.ridges:
            for layer, index in point.neurons:
                if layer == 4:
                    shown[:, index] |= point.active[14:21]
    assert shown.sum() > 10
    assert np.array_equal(shown, ~triangles.missing)
