"""Maps in floats beside exact ones, certified patterns, ties, and modules of PyTorch."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from polyrelu import from_arrays, read
from polyrelu.attributes import exact_maps, float_maps
from polyrelu.attributes.backward import certified_points, dual_points
from polyrelu.attributes.choices import GraphFloats, choices_at
from polyrelu.errors import ArgumentError, DomainError, NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.formats.graph.lowering import lower
from polyrelu.formats.graph.operations import (
    Add,
    Clip,
    Join,
    LeakyRelu,
    Linear,
    Maximum,
    Minimum,
    Relu,
    Take,
)
from polyrelu.formats.graph.values import Graph
from tests.generators.files import NETS
from tests.generators.random_networks import random_network


def test_floats_agree_with_exact_maps() -> None:
    rng, points = Random(5), np.random.default_rng(5)
    for kind in ("gaussian", "small integers", "degenerate") * 3:
        network = from_arrays(random_network(kind, rng))
        x = points.integers(-8, 8, (12, network.num_inputs)) / 4
        found, exact = float_maps(network, x), exact_maps(network, x).to_floats()
        certified = found.certified
        assert np.allclose(found.duals[certified], exact.duals[certified], rtol=1e-12, atol=1e-12)
        assert certified[exact.certified].all()  # no point near a boundary is that near


def test_certified_points_have_a_neighbourhood_with_one_map() -> None:
    """Also where a neuron is 0, if the outputs do not depend on it there."""
    hidden = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-9]), ([[1]], [0])])
    found = float_maps(hidden, [[0.0, 1.0], [0.0, 9.5], [0.0, 0.0]])
    assert found.certified.tolist() == [True, False, True]
    assert found.duals[0].tolist() == [[0.0, 0.0, 0.0]]
    again = float_maps(from_arrays([([[1]], [0]), ([[1]], [0]), ([[1]], [0])]), [[-1.0], [0.0]])
    assert again.certified.tolist() == [True, False]  # the second neuron reads 0 around -1


def _graph(*steps: Any) -> Graph:
    """A graph on three inputs; steps make a value from the values before."""
    graph = Graph()
    values = graph.inputs([(3,)])
    for operation, inputs, size in steps:
        values.append(graph.add(operation, [values[i] for i in inputs], (size,)))
    graph.finish(values[-1:])
    return graph


def _maps(graph: Graph, points: Any) -> tuple[Any, Any]:
    floats, columns = GraphFloats(graph), np.array(points, dtype=float).T
    with np.errstate(all="ignore"):
        choices = choices_at(floats, columns)
        return dual_points(floats, choices), certified_points(floats, choices)


MATRIX = RationalMatrix.from_rows([[1, -2, 3], [0, 1, 1], [2, 0, -1]])
OFFSET = RationalMatrix.column([0, "1/3", -1])
#: All operations that readers make.
EVERYTHING = _graph(
    (Linear(MATRIX, OFFSET), [0], 3),
    (LeakyRelu((Fraction(), Fraction(1, 4), Fraction(-1))), [1], 3),
    (Maximum(), [0, 2], 3),
    (Minimum(), [1, 3], 3),
    (Clip(None, Fraction(7, 3)), [4], 3),
    (Take(np.array([2, -1, 0, 0])), [5], 4),
    (Join(), [6, 1], 7),
    (Relu(), [7], 7),
    (Linear(RationalMatrix.from_rows([[1, 2, 3, 4, 5, 6, 7], [1, -1, 1, -1, 1, -1, 1]])), [8], 2),
    (Take(np.array([0, 1])), [0], 2),
    (Add(-1), [9, 10], 2),
)


def test_all_operations_have_the_maps_of_their_network() -> None:
    network = lower(EVERYTHING).network
    points = np.random.default_rng(3).integers(-9, 9, (60, 3)) / 2 + 1 / 8
    found, certified = _maps(EVERYTHING, points)
    exact = exact_maps(network, points)
    assert certified.sum() > 40
    assert np.allclose(found[certified], exact.to_floats().duals[certified])


def test_ties_of_maxima() -> None:
    """A tie is a boundary, except between values that vanish or that nothing depends on."""
    turned = Take(np.array([1, 2, 0]))
    rectified = _graph((Relu(), [0], 3), (turned, [1], 3), (Maximum(), [1, 2], 3))
    assert _maps(rectified, [[-1, -2, -3], [-1, 2, 1], [1, 1, -1]])[1].tolist() == [1, 1, 0]
    minus = RationalMatrix.from_rows([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    shifted = Linear(minus, RationalMatrix.column([-5, -5, -5]))
    pooled = _graph(
        (turned, [0], 3),
        (Maximum(), [0, 1], 3),
        (shifted, [2], 3),
        (Relu(), [3], 3),
    )
    found, certified = _maps(pooled, [[1, 1, 1], [7, 7, 7], [6, 8, 7]])
    assert certified.tolist() == [True, False, True]
    assert not found[0].any()
    assert found[2].tolist() == [[0, 1, 0, -5], [0, 1, 0, -5], [0, 0, 1, -5]]


def test_limits_of_clips_are_boundaries() -> None:
    graph = _graph((Clip(Fraction(-1), Fraction(1)), [0], 3))
    found, certified = _maps(graph, [[-2, 0, 2], [-1, 0, 0], [0, 1, 0]])
    assert certified.tolist() == [True, False, False]
    assert found[0].tolist() == [[0, 0, 0, -1], [0, 1, 0, 0], [0, 0, 0, 1]]


def test_numbers_beyond_the_floats_are_not_certified() -> None:
    huge = from_arrays([([[1], [-1]], [0, 1]), ([[10**400, 10**300]], [0])])
    assert float_maps(huge, [[1.0], [1e300], [0.5]]).num_uncertified == 3
    # The first neuron decides; a number beyond the floats that no output reads hides nothing.
    ways = _graph(
        (Relu(), [0], 3),
        (Linear(RationalMatrix.from_rows([[10**400, 0, 0], [0, 1, 1]])), [1], 2),
        (Take(np.array([1])), [2], 1),
    )
    assert _maps(ways, [[1, 0, 1], [1, -1, 1]])[1].tolist() == [False, True]
    tiny = from_arrays([([[1]], [f"1/{10**400}"]), ([[1]], [0])])
    assert float_maps(tiny, [[0.0], [1.0]]).certified.tolist() == [False, True]


def test_wrong_points() -> None:
    for points, message in (
        ([[0.0, float("nan")]], "not a finite number"),
        ([0.0, 0.0], "shape"),
        ([[0.0]], r"expected shape \(k, 2\)"),
    ):
        with pytest.raises(DomainError, match=message):
            float_maps("example:xor", points)
    with pytest.raises(ArgumentError, match="rows of floats"):
        float_maps("example:xor", [["a", "b"]])
    assert float_maps("example:xor", np.zeros((0, 2))).duals.shape == (0, 1, 3)
    assert float_maps("example:xor", np.zeros((0, 2))).num_right([]) == 0


def test_maps_that_do_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyrelu.attributes.sampled_maps._TABLE_LIMIT", 5)
    with pytest.raises(DomainError, match="give at most 1 points at a time"):
        float_maps("example:xor", np.zeros((2, 2)))
    monkeypatch.setattr("polyrelu.attributes.sampled_maps._POINT_LIMIT", 5)
    with pytest.raises(DomainError, match="derivatives of 1 outputs by 7 values"):
        float_maps("example:xor", np.zeros((1, 2)))


def test_convolutions_and_pooling_of_a_module() -> None:
    torch = pytest.importorskip("torch")
    from polyrelu.attributes.autograd import module_maps

    torch.manual_seed(0)
    nn = torch.nn
    module = nn.Sequential(
        *(nn.Unflatten(1, (1, 6, 6)), nn.Conv2d(1, 3, 3), nn.MaxPool2d(2), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(12, 4), nn.LeakyReLU(0.25), nn.Linear(4, 2)),
    )
    with torch.no_grad():
        module[1].bias += 1
    points = np.random.default_rng(1).normal(size=(9, 36))
    found = float_maps(module, points)
    assert found.num_uncertified == 0
    by_autograd = module_maps(module, points, (1, 36), "", None)
    assert np.allclose(found.duals, by_autograd.duals, atol=1e-12)
    exact = exact_maps(read(module, input_shape=[1, 36]).network, points).to_floats()
    assert np.allclose(found.duals, exact.duals, atol=1e-12)
    assert float_maps(module, np.zeros((1, 36))).num_uncertified == 1  # windows of equal values


def test_a_module_that_cannot_be_read() -> None:
    torch: Any = pytest.importorskip("torch")

    class Swish(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return (x * torch.sigmoid(x)).sum(1, keepdim=True)

    found = float_maps(Swish(), [[0.0, 1.0]])
    assert found.num_uncertified == 1
    assert found.patterns is None
    assert "sigmoid" in found.reason
    assert found.duals[0, 0, 0] == 0.5
    with pytest.raises(NetworkError, match="cannot be differentiated"):
        float_maps(torch.nn.Linear(3, 1), [[0.0, 1.0]], input_shape=[1, 7, 7])


@pytest.mark.skipif(not NETS.exists(), reason="networks from elsewhere: set POLYRELU_SHARED")
@pytest.mark.parametrize("name", ["marabou_cnn_max_mnist2.onnx", "marabou_mnist5x20_leaky.onnx"])
def test_networks_from_elsewhere(name: str) -> None:
    """The values of certified maps are the exact values of the network."""
    pytest.importorskip("onnx")
    network = read(NETS / name, compare=False)
    points = np.random.default_rng(0).integers(0, 1024, (2, network.network.num_inputs)) / 1024
    found = float_maps(network, points)
    assert found.num_uncertified == 0
    exact = [[float(entry) for entry in row] for row in network.network.evaluate(points)]
    assert np.allclose(found.outputs, exact, rtol=1e-12, atol=1e-12)
