"""Public functions of `polyrelu.walks` with arguments of every kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu import from_arrays, save
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.network import NeuronId
from polyrelu.walks import (
    AffineSlice,
    bent_walk_from,
    first_zero,
    walk_bent_hyperplane,
    walk_line,
    zero_in_plane,
)
from tests.generators.wrong_arguments import WRONG, outcome

PAIRS: Any = [([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])]
NETWORK = from_arrays(PAIRS)
NEURON, ORIGIN, AXES, START = NeuronId(2, 0), [0, 0], [[1, 0], [0, 1]], ["1/2", "1/2"]
PLANE = AffineSlice(NETWORK, ORIGIN, AXES)

#: Functions of a network, with what they answer in a form that can be compared.
OF_NETWORKS: dict[str, Callable[[Any], object]] = {
    "walk_line": lambda net: [str(cell.signs) for cell in walk_line(net, [-1, "1/2"], [1, 0])],
    "walk_bent_hyperplane": lambda net: [
        str(piece.signs) for piece in walk_bent_hyperplane(net, NEURON, ORIGIN, AXES, start=START)
    ],
    "zero_in_plane": lambda net: zero_in_plane(net, NEURON, [0, "1/3"], AXES),
    "AffineSlice": lambda net: AffineSlice(net, ORIGIN, AXES).num_neurons,
}


@pytest.mark.parametrize("name", OF_NETWORKS)
def test_networks_in_every_form(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(NETWORK, "net.json")
    for network in (PAIRS, "net.json", tmp_path / "net.json"):
        assert OF_NETWORKS[name](network) == OF_NETWORKS[name](NETWORK)


@pytest.mark.parametrize("name", OF_NETWORKS)
@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_wrong_networks(name: str, wrong: object) -> None:
    assert outcome(lambda: OF_NETWORKS[name](wrong))


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_wrong_points_neurons_and_planes(wrong: Any) -> None:
    calls: list[Callable[[Any], object]] = [
        lambda value: AffineSlice(NETWORK, value, AXES),
        lambda value: AffineSlice(NETWORK, ORIGIN, [value]),
        lambda value: walk_line(NETWORK, value, [1, 0]),
        lambda value: walk_line(NETWORK, ORIGIN, value),
        lambda value: walk_bent_hyperplane(NETWORK, value, ORIGIN, AXES),
        lambda value: walk_bent_hyperplane(NETWORK, NEURON, value, AXES),
        lambda value: walk_bent_hyperplane(NETWORK, NEURON, ORIGIN, value),
        lambda value: walk_bent_hyperplane(NETWORK, NEURON, ORIGIN, AXES, start=value),
        lambda value: zero_in_plane(NETWORK, value, ORIGIN, AXES),
        lambda value: zero_in_plane(NETWORK, NEURON, value, AXES),
        lambda value: zero_in_plane(NETWORK, NEURON, ORIGIN, value),
        lambda value: zero_in_plane(NETWORK, NEURON, ORIGIN, AXES, heading=value),
        lambda value: bent_walk_from(value, NEURON),
        lambda value: bent_walk_from(PLANE, value),
        lambda value: first_zero(value, NEURON),
        lambda value: first_zero(PLANE, value),
        PLANE.place,
        PLANE.embed,
        PLANE.signs_at,
        PLANE.affine_map,
        PLANE.neuron_at,
    ]
    assert all(outcome(lambda call=call: call(wrong)) for call in calls)  # type: ignore[misc]


def test_vectors_of_another_dimension() -> None:
    for point, direction in (([0], [1, 0]), ([0, 0], [1]), ([0, 0, 0], [1, 0]), ([0, 0], [[1], 0])):
        with pytest.raises(DomainError):
            walk_line(NETWORK, point, direction)  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="a plane has two directions, not 1"):
        bent_walk_from(AffineSlice(NETWORK, ORIGIN, [[1, 0]]), NEURON)
    with pytest.raises(ArgumentError, match="plane: expected AffineSlice, got Network"):
        bent_walk_from(NETWORK, NEURON)  # type: ignore[arg-type]


def test_neurons_and_limits_out_of_range() -> None:
    for neuron in (NeuronId(0, 0), NeuronId(3, 0), NeuronId(2, 1), NeuronId(1, -1)):
        assert "no" in outcome(lambda neuron=neuron: zero_in_plane(NETWORK, neuron, ORIGIN, AXES))  # type: ignore[misc]
    for limit in (0, -1, "5", 2.0):
        assert "limit" in outcome(
            lambda limit=limit: zero_in_plane(NETWORK, NEURON, ORIGIN, AXES, limit=limit)  # type: ignore[misc]
        )


def test_arrays_are_points_and_planes() -> None:
    zero = zero_in_plane(NETWORK, NEURON, np.array([0.0, 0.25]), np.eye(2))  # type: ignore[arg-type]
    assert zero == zero_in_plane(NETWORK, NEURON, [0, "1/4"], AXES)


def test_options_are_named() -> None:
    for call in (
        lambda: walk_line(NETWORK, ORIGIN, [1, 0], 1),  # type: ignore[call-arg]
        lambda: walk_bent_hyperplane(NETWORK, NEURON, ORIGIN, AXES, START),  # type: ignore[call-arg]
        lambda: first_zero(PLANE, NEURON, [1, 0]),  # type: ignore[call-arg]
    ):
        with pytest.raises(TypeError, match="positional"):
            call()
