"""Certified points of random graphs of all operations, with many ties and zeros.

Around a certified point the exact network has the map that was computed, at near points in all
directions. Weights and points are small integers, so that the maps in floats are exact.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from polyrelu.attributes.backward import certified_points, dual_points
from polyrelu.attributes.choices import GraphFloats, choices_at
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
from polyrelu.formats.graph.values import Graph, Value
from tests.generators.campaigns import few_and_all

SLOPES = [Fraction(slope) for slope in ("0", "1/4", "-1", "2")]


def _linear(rng: Random, size: int) -> Linear:
    entries = [[rng.choice([-2, -1, 0, 0, 0, 1, 2]) for _ in range(size)] for _ in range(3)]
    offset = RationalMatrix.column([rng.choice([-1, 0, 0, 1]) for _ in range(3)])
    return Linear(RationalMatrix.from_rows(entries), rng.choice([offset, None]))


def _unary(rng: Random, size: int) -> tuple[Any, int]:
    """Return an operation on one value, and the size of its result."""
    return rng.choice(
        [
            (_linear(rng, size), 3),
            (Relu(), size),
            (Relu(), size),
            (LeakyRelu(tuple(rng.choice(SLOPES) for _ in range(size))), size),
            (Clip(rng.choice([None, Fraction(-1)]), rng.choice([Fraction(1), Fraction()])), size),
            (Take(np.array([rng.randrange(-1, size) for _ in range(3)])), 3),
        ]
    )


def _random_graph(rng: Random) -> Graph:
    graph = Graph()
    values: list[Value] = graph.inputs([(3,)])
    for _ in range(rng.randint(2, 7)):
        x = rng.choice(values)
        if rng.random() < 0.7:
            operation, size = _unary(rng, x.size)
            values.append(graph.add(operation, [x], (size,)))
            continue
        y = rng.choice([value for value in values if value.size == x.size])
        binary: Any = rng.choice([Maximum(), Minimum(), Add(), Add(-1), Join()])
        size = 2 * x.size if isinstance(binary, Join) else x.size
        if size <= 6:
            values.append(graph.add(binary, [x, y], (size,)))
    graph.finish(values[-1:])
    return graph


@pytest.mark.parametrize("number", few_and_all(30, 300))
def test_certified_points_have_their_maps_around_them(number: int) -> None:
    rng, num_certified = Random(number), 0
    for _ in range(number):
        graph = _random_graph(rng)
        network, floats = lower(graph).network, GraphFloats(graph)
        points = np.array([[rng.randint(-2, 2) for _ in range(3)] for _ in range(10)], dtype=float)
        choices = choices_at(floats, np.ascontiguousarray(points.T))
        maps, certified = dual_points(floats, choices), certified_points(floats, choices)
        for point, rows in zip(points[certified], maps[certified], strict=True):
            num_certified += 1
            near = [[int(x) + Fraction(rng.randint(-9, 9), 10**6) for x in point] for _ in range(4)]
            exact = [[Fraction(entry) for entry in row] for row in rows.tolist()]
            for q, values in zip(near, network.evaluate(near), strict=True):
                found = [
                    sum((a * x for a, x in zip(row, [*q, Fraction(1)], strict=True)), Fraction())
                    for row in exact
                ]
                assert found == list(values)
    assert num_certified > 3 * number
