"""Exact inverse Lipschitz constants against a search for near pairs, and certified bounds."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import polyrelu
from polyrelu.errors import ArgumentError
from polyrelu.outcomes import InverseLipschitz, NotInjective, Undecided
from polyrelu.proofs import ExactConstant, exact_inverse_lipschitz
from polyrelu.proofs.injectivity.real_roots import LeastRoot, characteristic_polynomial
from tests.generators.campaigns import case, few_some_and_all
from tests.properties.proofs.test_injective import layer_of

AXES = [[1, 0], [0, 1], [-1, 0], [0, -1]]
MORE = [*AXES, [1, 2], [2, -1], [-1, -1]]


def exact(rows: Any, bias: Any) -> ExactConstant:
    found = exact_inverse_lipschitz(polyrelu.from_arrays([(rows, bias)], last="relu"))
    assert isinstance(found, ExactConstant)
    return found


@pytest.mark.parametrize(
    ("rows", "bias", "value"),
    [
        ([[1], [-1]], [0, 0], Fraction(1, 2)),
        ([[1], [-1], [2]], [0, 0, 0], Fraction(5, 6)),  # x = 1, y = -5: (5 + 25)/36
        ([[1], [-1]], [1, 1], Fraction(1, 2)),  # approached at infinity, attained nowhere
        (AXES, [1, 1, -1, -1], Fraction(1, 2)),  # a translate of Puthawala et al. (2020), (111)
        ([[3, 4], [-8, 6], [-3, -4], [8, -6]], [0] * 4, Fraction(25, 2)),
        (AXES[:3], [0] * 3, Fraction(0)),
    ],
)
def test_known_values(rows: Any, bias: Any, value: Fraction) -> None:
    found = exact(rows, bias)
    assert found.low == found.high == value
    assert str(found).endswith(f" is {value}")


def test_an_irrational_value() -> None:
    found = exact(MORE, [0] * 7)
    assert found.polynomial == (7, -13, 2)
    assert found.low < found.high < found.low + Fraction(1, 2**59)
    assert abs(float(found.high) - (13 - 113**0.5) / 4) < 1e-15
    assert str(found).split(" root of ")[1].startswith("7 t^0 + -13 t^1 + 2 t^2, about 0.5924")


def test_refused_layers() -> None:
    cases: list[tuple[Any, Any]] = [([[1] * 4], "relu"), ([[1]], "affine")]
    for rows, last in cases:
        with pytest.raises(ArgumentError, match="a ReLU layer of at most 3 inputs"):
            exact_inverse_lipschitz(polyrelu.from_arrays([(rows, [0])], last=last))
    net = polyrelu.from_arrays([(MORE, [0] * 7)], last="relu")
    assert isinstance(exact_inverse_lipschitz(net, budget=1), Undecided)
    with pytest.raises(ArgumentError, match="from 1 to 1"):
        exact_inverse_lipschitz(net, layer=2)


def near_quotient(rows: NDArray[np.float64], bias: NDArray[np.float64], seed: int) -> float:
    """The least quotient of squares that a random search finds, with pairs of all sizes."""
    random, size = np.random.default_rng(seed), rows.shape[1]
    sizes = 10.0 ** random.uniform(-1, 4, (600, 1))
    points = sizes * random.standard_normal((600, 2 * size))
    points[::3, size:] = -points[::3, :size]

    def quotients(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        x, y = pairs[:, :size], pairs[:, size:]
        values = [np.maximum(part @ rows.T + bias, 0) for part in (x, y)]
        distance = ((x - y) ** 2).sum(axis=1)
        is_far = distance > 1e-6 * (1 + (pairs**2).sum(axis=1))
        short = ((values[0] - values[1]) ** 2).sum(axis=1)
        return np.where(is_far, short / np.where(is_far, distance, 1), np.inf)

    best, steps = quotients(points), 0.5 * sizes
    for _ in range(250):
        moved = points + steps * random.standard_normal(points.shape)
        values = quotients(moved)
        is_better = values < best
        points[is_better], best = moved[is_better], np.minimum(best, values)
        steps *= np.where(is_better, 1.4, 0.9)[:, None]
    return float(best.min())


def injective_rows(chance: Random, largest: int) -> list[list[int]]:
    """Rows [w | b]: a basis, opposite rows that meet or overlap, and some more."""
    size = chance.randint(1, largest)
    rows = [[chance.randint(-3, 3) for _ in range(size + 1)] for _ in range(size)]
    for row in list(rows):
        factor = chance.randint(1, 2)
        opposite = [-factor * x for x in row]
        opposite[-1] += chance.choice([0, 0, 1])
        rows.append(opposite)
    more = chance.randint(0, 4 - size)
    rows += [[chance.randint(-3, 3) for _ in range(size + 1)] for _ in range(more)]
    if chance.random() < 0.5:
        rows = [[*row[:-1], 0] for row in rows]
    return rows


@pytest.mark.parametrize("sizes", few_some_and_all((3, 2), (25, 3), (120, 3)))
def test_random_layers(sizes: tuple[int, int]) -> None:
    """No pair is nearer, a search comes near in most layers, and bounds contain the value."""
    (number, largest), gaps = sizes, list[float]()
    for seed in range(number):
        rows = injective_rows(Random(seed), largest)
        with case(seed):
            layer = layer_of(rows)
            found = exact_inverse_lipschitz(layer)
            assert isinstance(found, ExactConstant)
            bounds = polyrelu.inverse_lipschitz(layer)
            if isinstance(bounds, NotInjective):
                assert found.high == 0
                continue
            assert isinstance(bounds, InverseLipschitz)
            assert bounds.at_least <= found.high
            assert found.low <= bounds.at_most
            table = np.array(rows, dtype=np.float64)
            near = near_quotient(table[:, :-1], table[:, -1], seed)
            assert near > float(found.low) * (1 - 1e-9)
            gaps.append(near / float(found.high) - 1)
    assert len(gaps) >= number // 2
    assert np.quantile(gaps, 0.8) < 0.02


@pytest.mark.parametrize("number", few_some_and_all(150, 1_500, 5_000))
def test_least_roots(number: int) -> None:
    chance = Random(1)
    for seed in range(number):
        size = chance.randint(1, 3)
        table = [
            [Fraction(chance.randint(-4, 4), chance.randint(1, 3))] * size for _ in range(size)
        ]
        rows = [[table[i][j] + table[j][i] for j in range(size)] for i in range(size)]
        for i in range(size):
            for j in range(i):
                rows[i][j] = rows[j][i] = Fraction(chance.randint(-4, 4)) * chance.randint(0, 1)
        polynomial = characteristic_polynomial(rows)
        values = np.linalg.eigvalsh(np.array(rows, dtype=np.float64))
        root = LeastRoot(polynomial, float(values[0]) + chance.choice([0, 0.01, -0.3]))
        other = [chance.randint(-3, 3) for _ in range(chance.randint(0, 4))]
        with case(seed):
            assert abs(float(root.approximation(50)) - values[0]) < 1e-6
            assert root.sign(polynomial) == 0
            value = sum(c * values[0] ** k for k, c in enumerate(other))
            sign = root.sign(other)
            assert abs(value) < 1e-5 if sign == 0 else sign * value > -1e-9


def test_characteristic_polynomials() -> None:
    """The product of linear factors of a diagonal matrix, against numpy."""
    for values in ([2], [2, 3], [2, 3, 5]):
        rows = [
            [Fraction(x if i == j else 0) for j in range(len(values))] for i, x in enumerate(values)
        ]
        assert characteristic_polynomial(rows) == list(map(round, np.poly(values)))[::-1]
