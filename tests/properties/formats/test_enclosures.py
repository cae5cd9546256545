"""Enclosures in float64 contain the exact values, whatever the numbers are."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from polyrelu.exact import AnyMatrix, RationalMatrix, SparseMatrix, as_dense, as_sparse
from polyrelu.formats import read
from polyrelu.formats.graph.enclosures import Enclosure, FloatMatrix
from polyrelu.formats.graph.lowered_enclosures import LoweredEnclosures
from polyrelu.formats.graph.lowering import lower
from polyrelu.support.typing import Floats
from tests.generators.campaigns import case, few_and_all, few_some_and_all
from tests.generators.onnx_files import write
from tests.generators.random_onnx import random_graph


def _number(chance: random.Random) -> Fraction:
    size = chance.choice([Fraction(1), Fraction(2) ** chance.randint(-60, 60), Fraction(1, 3)])
    return chance.choice([0, 1, -1, chance.randint(-999, 999)]) * size


def _matrix(chance: random.Random, rows: int, columns: int) -> RationalMatrix:
    return RationalMatrix.from_rows(
        [[_number(chance) for _ in range(columns)] for _ in range(rows)], ncols=columns
    )


def _contains(enclosure: Enclosure, exact: RationalMatrix) -> bool:
    entries = exact.rows()
    return all(
        abs(Fraction(float(enclosure.middle[i, j])) - entries[i][j])
        <= Fraction(float(enclosure.radius[i, j]))
        for i in range(exact.nrows)
        for j in range(exact.ncols)
    )


@pytest.mark.parametrize("seeds", few_some_and_all(range(60), range(600), range(1500)))
def test_operations(seeds: range) -> None:
    for seed in seeds:
        chance = random.Random(seed)
        n, m = chance.randint(1, 5), chance.randint(1, 5)
        a, b = _matrix(chance, m, n), _matrix(chance, m, 1)
        points = RationalMatrix.from_array(_points(chance, n))
        x = Enclosure.of_exact(points.to_floats())
        matrix: AnyMatrix = as_sparse(a) if chance.random() < 0.5 else a
        first = x.image(FloatMatrix(matrix))
        exact = a @ points
        with case(seed):
            assert _contains(first, exact)
            shifted = first.plus(Enclosure.of_column(b, 3))
            exact = exact + b @ RationalMatrix.from_integers([[1, 1, 1]])
            assert _contains(shifted, exact)
            assert _contains(shifted.relu(), exact.relu())
            second = shifted.relu().image(FloatMatrix(as_sparse(a.transpose())))
            assert _contains(second, a.transpose() @ exact.relu())


def _points(chance: random.Random, inputs: int) -> Floats:
    numbers = [[chance.randint(-1023, 1023) for _ in range(3)] for _ in range(inputs)]
    return np.ldexp(np.array(numbers, dtype=np.float64), chance.randint(-20, 20))


def test_shifts_have_no_radius() -> None:
    """Rows of one power of two, a selection for example, are exact, and sums may be."""
    x = Enclosure.of_exact(np.array([[3.0], [1 / 3]]))
    halves = SparseMatrix.from_entries((3, 2), [0, 1], [1, 0], [1, -2], 2)
    image = x.image(FloatMatrix(halves))
    assert image.middle[:, 0].tolist() == [1 / 6, -3.0, 0.0]
    assert image.radius.max() < 2.0**-999
    assert image.plus(image).radius.max() < 2.0**-998
    assert x.image(FloatMatrix(as_dense(halves))).radius.max() > 2.0**-60


def test_where_a_preactivation_is_negative_an_activation_is_exactly_0() -> None:
    enclosure = Enclosure(np.array([[-1.0], [1e-20]]), np.array([[0.5], [0.5]]))
    assert enclosure.relu().radius[:, 0].tolist() == [0.0, 0.5]


@pytest.mark.parametrize("seeds", few_and_all(range(25), range(300)))
def test_values_of_random_graphs(seeds: range, tmp_path: Path) -> None:
    """The enclosures of every node contain its exact values."""
    for seed in seeds:
        path = write(tmp_path, "net.onnx", random_graph(seed))
        try:
            graph = read(path, compare=False).graph
        except ValueError:  # a division by a weight that is 0
            continue
        assert graph is not None
        lowered = lower(graph)
        points = _points(random.Random(seed), lowered.network.num_inputs)
        rows = [[Fraction(float(entry)) for entry in point] for point in points.T]
        activations = lowered.network.activations(rows)
        enclosures = LoweredEnclosures(lowered, points)
        with case(seed):
            outputs = lowered.values(graph.output, activations)
            assert _contains(enclosures.outputs, outputs)
            for node in range(len(graph.nodes)):
                assert _contains(enclosures.values(node), lowered.values(node, activations))
