"""Graphs in a hostile float runtime: no value is further from the exact value than its bound."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from polyrelu.errors import NetworkFileError
from polyrelu.exact import as_dense
from polyrelu.formats import read
from polyrelu.formats.graph.float_error import float_arithmetic, ranges
from polyrelu.formats.graph.operations import (
    Add,
    Clip,
    Constant,
    Input,
    Join,
    LeakyRelu,
    Linear,
    Maximum,
    Minimum,
    Operation,
    Relu,
    Take,
)
from polyrelu.formats.graph.values import Graph
from tests.generators.campaigns import few_fast
from tests.generators.onnx_files import write
from tests.generators.random_onnx import random_graph
from tests.oracles.float_runtime import Runtime, rounded

Values = list[Fraction]


def _number(value: Fraction) -> Fraction:
    return rounded(value, "float32")


def _linear(operation: Linear, x: Values, runtime: Runtime | None, chance: random.Random) -> Values:
    rows = as_dense(operation.matrix).rows()
    offset = (
        [Fraction(0)] * len(rows) if operation.offset is None else list(operation.offset.entries())
    )
    if runtime is None:
        return [
            sum((w * v for w, v in zip(row, x, strict=True) if w), b)
            for row, b in zip(rows, offset, strict=True)
        ]
    result = []
    for row, b in zip(rows, offset, strict=True):
        kept = [(w, v) for w, v in zip(row, x, strict=True) if w]
        value = runtime.layer([[w for w, _ in kept]], [b], [v for _, v in kept])[0]
        # Each extra rounding changes the value by one unit; the model allows no further rounding.
        for _ in range(operation.extra_roundings):
            value *= 1 + chance.choice([-1, 1]) * Fraction(1, 2**24)
        result.append(value)
    return result


def _evaluated(
    operation: Operation, x: Sequence[Values], runtime: Runtime | None, chance: random.Random
) -> Values:
    """Return the result of an operation, exactly (no runtime) or as the runtime computes it."""
    near = _number if runtime is not None else lambda value: value
    match operation:
        case Constant(column):
            return [near(entry) for entry in column.entries()]
        case Linear():
            return _linear(operation, x[0], runtime, chance)
        case Take(chosen):
            return [x[0][i] if i >= 0 else Fraction(0) for i in chosen]
        case Join():
            return [entry for values in x for entry in values]
        case Add(sign):
            return [near(a + sign * b) for a, b in zip(*x, strict=True)]
        case Relu():
            return [max(a, Fraction(0)) for a in x[0]]
        case Maximum():
            return [max(a, b) for a, b in zip(*x, strict=True)]
        case Minimum():
            return [min(a, b) for a, b in zip(*x, strict=True)]
        case LeakyRelu(slopes):
            return [a if a > 0 else near(near(s) * a) for a, s in zip(x[0], slopes, strict=True)]
        case Clip(low, high):
            raised = [a if low is None else max(a, near(low)) for a in x[0]]
            return [a if high is None else min(a, near(high)) for a in raised]
    raise AssertionError(operation)


def _values(
    graph: Graph, point: Values, runtime: Runtime | None, chance: random.Random
) -> list[Values]:
    found: list[Values] = []
    for node in graph.nodes:
        operation = node.operation
        if isinstance(operation, Input):
            found.append(point[operation.first : operation.first + operation.size])
        else:
            found.append(_evaluated(operation, [found[i] for i in node.inputs], runtime, chance))
    return found


@pytest.mark.parametrize("block", few_fast(range(8), 1))
def test_no_value_is_further_away_than_its_bound(block: int, tmp_path: Path) -> None:
    chance, largest, compared = random.Random(block), Fraction(0), 0
    for seed in range(5000 + 13 * block, 5013 + 13 * block):
        try:
            imported = read(write(tmp_path, "net.onnx", random_graph(seed)), compare=False)
        except NetworkFileError:
            continue
        graph, inputs = imported.graph, imported.network.num_inputs
        if graph is None or sum(node.size for node in graph.nodes) > 1500:
            continue
        point = [Fraction(chance.randint(-64, 64), 32) for _ in range(inputs)]
        radius = chance.choice([Fraction(0), Fraction(1, 64)])
        box = ([v - radius for v in point], [v + radius for v in point])
        bounds = ranges(graph, [box], float_arithmetic("float32"))
        exact = _values(graph, point, None, chance)
        assert exact[graph.output] == list(imported.network(point))
        for _ in range(2):
            theirs = _values(graph, point, Runtime("float32", chance.randrange(10**6)), chance)
            for own, other, bound in zip(exact, theirs, bounds, strict=True):
                for i, (a, b) in enumerate(zip(own, other, strict=True)):
                    assert Fraction(bound.low[i, 0]) <= a <= Fraction(bound.high[i, 0])
                    assert abs(a - b) <= Fraction(bound.error[i, 0])
                    largest = max(largest, abs(a - b) / Fraction(bound.error[i, 0]))
        compared += 1
    assert compared > 4
    assert largest > Fraction(1, 10)
