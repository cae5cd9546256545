"""Inverse Lipschitz constants that are known."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu import checker
from polyrelu.exact import RationalMatrix
from polyrelu.outcomes import InverseLipschitz, NotInjective, Undecided
from polyrelu.proofs.injectivity.gram import is_semidefinite
from tests.generators.campaigns import case, few_some_and_all

AXES = [[1, 0], [0, 1], [-1, 0], [0, -1]]
BASIS = [[3, -8], [4, 6]]


def bounds(layers: Any, domain: Any = None, **options: Any) -> tuple[Fraction, Fraction]:
    """The bounds of κ², from a certificate that is accepted."""
    found = polyrelu.inverse_lipschitz(polyrelu.from_arrays(layers, **options), domain)
    assert isinstance(found, InverseLipschitz)
    document, _ = found.certificate.to_document()
    assert checker.check_bytes(json.dumps(document).encode()).verdict == "accepted"
    return found.at_least, found.at_most


@pytest.mark.parametrize(
    ("rows", "bias", "domain", "value"),
    [
        ([[1], [-1]], [0, 0], None, Fraction(1, 2)),
        (AXES, [0] * 4, None, Fraction(1, 2)),  # Puthawala et al. (2020), equation (111)
        ([*BASIS, [-3, 8], [-4, -6]], [0] * 4, None, Fraction(25, 2)),  # [B; -B]
        ([*BASIS, [-3, 8], [-4, -6]], [11, -2, -11, 2], None, Fraction(25, 2)),  # a translate
        ([[1, 0], [0, 1]], [0, 0], "orthant", Fraction(1)),  # both rows are always on
        ([[2, 0], [0, 1], [1, 1]], [0, 0, 5], "box:0,1", None),
        ([[1, 1]], [5], "box:0,1;1,1", Fraction(1)),  # a segment of the plane
    ],
)
def test_known_constants(rows: Any, bias: Any, domain: Any, value: Fraction | None) -> None:
    low, high = bounds([(rows, bias)], domain, last="relu")
    assert 0 <= low <= high
    if value is None:  # all rows are on: the least eigenvalue of WᵀW is 3.5 - 13^0.5 / 2 …
        assert high - low < Fraction(1, 10**6)
        assert abs(float(low) - (7 - 13**0.5) / 2) < 1e-6
    else:
        assert low == value
        assert value <= high <= value * (1 + Fraction(1, 2**30))


def test_slanted_coordinates() -> None:
    """On the line x = y lengths are √2 times those of the coordinate."""
    line = polyrelu.Polyhedron.from_constraints([], [], [[1, -1]], [0])
    low, high = bounds([([[1, 0], [-1, 0]], [0, 0])], line, last="relu")
    assert low == high == Fraction(1, 4)


def test_deep_networks() -> None:
    """Bounds of layers multiply; a layer that is not injective on the orthant leaves 0."""
    scaled: Any = ([[2 * int(i == j) for j in range(4)] for i in range(4)], [0] * 4)
    low, high = bounds([(AXES, [0] * 4), scaled])
    assert low == high == 2
    low, high = bounds([([[1], [-1]], [0, 0]), ([[2, -1]], [0])])  # by its cells
    assert low == high == 1
    loop: Any = [[[1], [1], [1], [-1]], [0, "-1/3", "-2/3", 0]]  # right, up, left, down, across
    turns: Any = ([[0, -1, 1, -1], [1, -1, -1, 0]], [0, 0])
    unclear = polyrelu.inverse_lipschitz(polyrelu.from_arrays([loop, turns]))
    assert isinstance(unclear, Undecided)
    assert "no positive lower bound was found; two points show" in unclear.reason


@pytest.mark.parametrize("number", few_some_and_all(2, 25, 300))
def test_bounds_by_cells(number: int) -> None:
    """Deep networks: no quotient of points is below the bound."""
    theorems = set()
    for seed in range(number):
        random = np.random.default_rng(seed)
        shapes = [(4, 2), (int(random.integers(3, 7)), 4)]
        second = random.integers(-2, 3, shapes[1])
        second[:2] += 3 * np.array([[1, 0, -1, 0], [0, 1, 0, -1]])  # near a left inverse
        layers: Any = [(AXES, [0, 0, 0, 1]), (second.tolist(), [0] * len(second))]
        network = polyrelu.from_arrays(layers)
        found = polyrelu.inverse_lipschitz(network, "box:-2,2")
        if not isinstance(found, InverseLipschitz):
            continue
        theorems.add(found.theorem)
        document, _ = found.certificate.to_document()
        with case(seed):
            assert checker.check_bytes(json.dumps(document).encode()).verdict == "accepted"
            points = [[Fraction(int(x), 8) for x in random.integers(-16, 17, 2)] for _ in range(16)]
            values = network.evaluate(points)
            for i, j in combinations(range(len(points)), 2):
                if points[i] != points[j]:
                    quotient = squared(values[i], values[j]) / squared(points[i], points[j])
                    assert quotient >= found.at_least
            assert found.at_least <= found.at_most
    assert "monotone" in theorems


def squared(x: Any, y: Any) -> Fraction:
    """The squared distance."""
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction())


def test_equal_outputs() -> None:
    """Where two points of a cell have equal outputs, they are the answer: κ is 0."""
    layer = polyrelu.from_arrays([(AXES[:3], [0] * 3)], last="relu")
    found = polyrelu.inverse_lipschitz(layer)
    assert isinstance(found, NotInjective)
    document, _ = found.certificate.to_document()
    assert checker.check_bytes(json.dumps(document).encode()).verdict == "accepted"


def test_undecided() -> None:
    """Too many inputs, a point, a budget of nothing."""
    net = polyrelu.from_arrays([([[1] * 7], [0])])
    for outcome in (
        polyrelu.inverse_lipschitz(net),
        polyrelu.inverse_lipschitz(net, "box:0,0"),
        polyrelu.inverse_lipschitz(net, budget=0),
    ):
        assert isinstance(outcome, Undecided)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[0, 0], [0, 0]], True),
        ([[1, 2], [2, 4]], True),
        ([[1, 2], [2, 3]], False),
        ([[0, 1], [1, 0]], False),
        ([[0, 0], [0, -1]], False),
        ([[2, 1, 0], [1, 2, 1], [0, 1, 2]], True),
        ([["1/2", 1], [1, 2]], True),
    ],
)
def test_semidefinite(rows: Any, expected: bool) -> None:
    assert is_semidefinite(RationalMatrix.from_rows(rows)) == expected
