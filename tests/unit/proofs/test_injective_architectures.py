"""Injectivity of networks as they come: convolutions, pooling, normalisation, residual blocks."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu import Network, checker
from polyrelu.outcomes import Injective, NotInjective
from polyrelu.proofs import convolution_layer, injective_kernels
from polyrelu.proofs.injectivity.constructions import opposite_kernels
from tests.generators.onnx_files import constant, model, node, write

#: Opposite kernels of width 2, and those of Puthawala et al. (2020), equations (10) and (11).
DOUBLED: Any = opposite_kernels([[[1, 2]], [[1, -1]]], [1, 1])
PRINTED: Any = opposite_kernels(
    [[np.reshape([3 if i == k else -1 for i in range(4)], (2, 2)).tolist()] for k in range(4)],
    [1] * 4,
)


def decided(network: Network, domain: str | None = None, **options: Any) -> str:
    """The theorem that decides, with a certificate that is accepted."""
    outcome = polyrelu.injective(network, domain, **options)
    assert isinstance(outcome, Injective | NotInjective), outcome
    document, _ = outcome.certificate.to_document()
    assert checker.check_bytes(json.dumps(document).encode()).verdict == "accepted"
    return str(outcome.theorem)


def read(folder: Path, nodes: list[Any], constants: list[Any], shape: tuple[int, ...]) -> Network:
    return polyrelu.load(write(folder, "net.onnx", model(nodes, constants, (1, *shape))))


@pytest.mark.parametrize(
    ("pads", "strides", "kernels", "theorem"),
    [
        ([0, 0], 1, DOUBLED, "active-rows"),
        ([1, 1], 1, DOUBLED, "active-rows"),
        ([0, 0], 2, DOUBLED, "active-rows"),  # the windows do not overlap, and cover 12 inputs
        ([0, 0], 3, DOUBLED, "collision"),  # every third input is read by nothing
        ([0, 0, 0, 0], 1, PRINTED, "collision"),
        ([1, 1, 1, 1], 1, PRINTED, "active-rows"),
    ],
)
def test_convolutions_in_files(
    pads: list[int], strides: int, kernels: Any, theorem: str, tmp_path: Path
) -> None:
    """A convolution followed by a ReLU and an injective map of each position."""
    dims = len(pads) // 2
    shape = (1, 12) if dims == 1 else (1, 3, 3)
    width = len(kernels)
    unit: Any = np.eye(width).reshape(width, width, *[1] * dims)
    nodes = [
        node("Conv", ["x", "k"], "h", pads=pads, strides=[strides] * dims),
        node("Relu", ["h"], "a"),
        node("Conv", ["a", "i"], "y"),
    ]
    network = read(tmp_path, nodes, [constant("k", kernels), constant("i", unit)], shape)
    assert decided(network, layers=1) == theorem
    if theorem == "active-rows":
        assert decided(network) == theorem


def test_the_printed_kernels_on_periodic_images() -> None:
    """f(0) = f(1): the printed kernels are not injective with valid or periodic borders."""
    for border in ("valid", "periodic"):
        layer = convolution_layer(PRINTED, [3, 3], border=border)
        assert layer([0] * 9) == layer([1] * 9)
        assert decided(layer) == "collision"
    assert not hasattr(injective_kernels(PRINTED, budget=300), "box")


def test_average_pooling_in_a_decoder(tmp_path: Path) -> None:
    """A decoder from 2 numbers to 8, smoothed by an average over 2 neighbours, and pooled by 8."""
    rows = [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, -1], [1, -1], [-1, 1]]
    head = [
        node("MatMul", ["x", "w"], "h"),
        node("Relu", ["h"], "a"),
        node("Reshape", ["a", "s"], "r"),
    ]
    constants = [constant("w", np.transpose(rows)), constant("s", [1, 1, 8], np.int64)]
    for size, theorem in ((2, "cell-pairs"), (8, "collision")):
        pool = node("AveragePool", ["r"], "y", kernel_shape=[size], strides=[1])
        assert decided(read(tmp_path, [*head, pool], constants, (2,))) == theorem


@pytest.mark.parametrize(("scale", "theorem"), [(2.0, "active-rows"), (0.0, "collision")])
def test_folded_normalisation(scale: float, theorem: str, tmp_path: Path) -> None:
    """A normalisation with a factor of 0 forgets its channel."""
    rows = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], dtype=float)
    names = ("scale", "shift", "mean", "variance")
    values = ([scale, 1.0, scale, 3.0], [0.5, 0, -0.5, 0], [0.0, 1, 0, -1], [1.0, 1, 1, 1])
    constants = [constant("w", rows.T)]
    constants += [constant(name, value) for name, value in zip(names, values, strict=True)]
    nodes = [
        node("MatMul", ["x", "w"], "h"),
        node("BatchNormalization", ["h", *names], "n", epsilon=0.0),
        node("Relu", ["n"], "y"),
    ]
    network = read(tmp_path, nodes, constants, (2,))
    assert network.depth == 1
    assert decided(network) == theorem


@pytest.mark.parametrize(
    ("weight", "domain", "theorem"),
    [(0.25, None, "cell-pairs"), (-3.0, None, "collision"), (-3.0, "box:-2,-1", "cell-pairs")],
)
def test_residual_blocks(weight: float, domain: str | None, theorem: str, tmp_path: Path) -> None:
    """x + w A max(B x + b, 0), with a normalisation inside, as in a ResNet."""
    ones = [1.0, 1.0]
    constants = [
        constant("b", [[1, 1], [0, 1]]),
        constant("a", [[weight, 0], [0, weight]]),
        *(constant(name, ones) for name in ("scale", "shift", "variance")),
        constant("mean", [0.0, 0.0]),
    ]
    nodes = [
        node("MatMul", ["x", "b"], "h"),
        node("BatchNormalization", ["h", "scale", "shift", "mean", "variance"], "n", epsilon=0.0),
        node("Relu", ["n"], "r"),
        node("MatMul", ["r", "a"], "c"),
        node("Add", ["x", "c"], "y"),
    ]
    network = read(tmp_path, nodes, constants, (2,))
    assert not network.is_plain
    assert decided(network, domain) == theorem
    x = [Fraction(1), Fraction(2)]
    hidden = [max(x[0] + 1, Fraction(0)), max(x[0] + x[1] + 1, Fraction(0))]
    expected = [a + Fraction(weight) * b for a, b in zip(x, hidden, strict=True)]
    assert list(network(x)) == expected
