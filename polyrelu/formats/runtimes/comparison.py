"""Comparison of an imported network with the format's own runtime, value by value.

A reader that swaps an axis, forgets a transpose or folds a normalisation on the wrong side gives a
network that looks right. Therefore the lowered network is evaluated at a few points of several
scales, and every value that the file names is compared with the value of the runtime. No tolerance
is involved: the difference must not exceed the bound on rounding errors that `graph/float_error.py`
proves.

The activations and outputs of the network are enclosed in float64 (`graph/lowered_enclosures.py`);
values between them, which only products of the network contain, are enclosed by the ranges of the
graph. Where an enclosure leaves open whether a difference is within its bound, the network is
evaluated exactly.
"""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import numpy as np

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.exact import RationalMatrix, num_stored
from polyrelu.formats.graph.enclosures import Enclosure
from polyrelu.formats.graph.float_error import Range, float_arithmetic, ranges_at
from polyrelu.formats.graph.lowered_enclosures import LoweredEnclosures
from polyrelu.formats.graph.lowering import Lowered
from polyrelu.formats.graph.operations import Add, Constant, Input, Join, Linear, Take
from polyrelu.formats.graph.values import Graph
from polyrelu.formats.imported import Comparison, Draft
from polyrelu.formats.meter import need
from polyrelu.formats.runtimes.inputs import split_sample
from polyrelu.network import Network
from polyrelu.support.typing import Array, Floats

__all__ = ["compare_with_runtime"]

#: Binary exponents of the scales of the random points.
_SCALES = (-8, 0, 5, 10)


def compare_with_runtime(
    path: str | Path, draft: Draft, graph: Graph, lowered: Lowered
) -> Comparison:
    """Compare all named values of a graph with the runtime of the draft.

    A value that differs by more than its bound raises a `NetworkFileError` that names it. Where no
    comparison is possible, the result holds the reason. Numbers at which the runtime may overflow
    have no bound; they are counted and left out.
    """
    runtime = draft.runtime
    if isinstance(runtime, str):
        return Comparison(reason=runtime)
    try:
        model = float_arithmetic(draft.arithmetic, draft.bounded)
    except NetworkError as error:
        return Comparison(reason=str(error))
    points = _points(sum(int(np.prod(shape)) for shape in draft.input_shapes))
    try:
        runs = [runtime.run(_inputs(draft, point)) for point in points]
    except Exception as error:  # runtimes raise exceptions of any type on files they cannot run
        reason = " ".join(str(error).split())[:200]
        return Comparison(reason=f"{runtime.name} cannot run the file ({reason})")
    names = [name for name in graph.names if all(name in values for values in runs)]
    if not names:
        return Comparison(reason=f"{runtime.name} gives no value that the network has")
    values = _Values(graph, lowered, points, ranges_at(graph, points.T, model))
    worst, compared, overflows = 0.0, 0, 0
    for name in names:
        node = graph.names[name].node
        computed = [run[name].astype(np.float64).reshape(-1) for run in runs]
        _check_sizes(path, name, runtime.name, computed, graph.nodes[node].size)
        unbounded = int(np.count_nonzero(~np.isfinite(values.ranges[node].error)))
        overflows += unbounded
        compared += unbounded < values.ranges[node].error.size
        try:
            worst = max(worst, _ratio_of_value(path, name, runtime.name, computed, values, node))
        except NetworkFileError:
            raise
        except NetworkError as error:
            return Comparison(reason=f"{name!r} was to be evaluated exactly: {error}")
    if not compared:
        return Comparison(reason=f"a {draft.arithmetic} runtime may overflow in every value")
    return Comparison(runtime.name, "", len(points), compared, worst, overflows)


def _ratio_of_value(
    path: str | Path, name: str, runtime: str, computed: list[Floats], values: _Values, node: int
) -> float:
    """Return the largest ratio of a difference to its bound; a ratio above 1 is an error."""
    ratio = values.largest_ratio(node, np.stack(computed, axis=1))
    if ratio is not None:
        return ratio
    exact = values.exact(node)
    return _largest_ratio(path, name, runtime, computed, exact, values.ranges[node].error)


#: The operations whose values are affine in the values that they read.
_AFFINE = (Add, Constant, Input, Join, Linear, Take)


class _Values:
    """The values of a graph at points: enclosed in floats, and exact where that is needed.

    `ranges` has the range of each node of the graph at the points, the rows of an array.
    """

    def __init__(self, graph: Graph, lowered: Lowered, points: Floats, bounds: list[Range]) -> None:
        self._graph, self._lowered, self._points = graph, lowered, points
        self.ranges = bounds
        self._enclosures = LoweredEnclosures(lowered, points.T)
        self._activations: list[RationalMatrix] | None = None

    def largest_ratio(self, node: int, computed: Floats) -> float | None:
        """Return the largest ratio of a difference between exact and computed values to its bound.

        It is None if an enclosure does not show that every difference is within its bound.
        """
        value, error = self._enclosure(node), self.ranges[node].error
        difference = np.abs(computed - value.middle)
        known = np.isfinite(error)
        # Two sums of floats are rounded here; a bound that is 1 + 2^-50 times as large is proved.
        inside = (difference + value.radius) * (1 - 2.0**-51) <= error
        if not inside[known].all():
            return None
        ratios = difference[known & (error > 0)] / error[known & (error > 0)]
        return float(ratios.max(initial=0.0))

    def _enclosure(self, node: int) -> Enclosure:
        if node == self._graph.output:
            return self._enclosures.outputs
        if not isinstance(self._graph.nodes[node].operation, _AFFINE):
            return self._enclosures.values(node)
        bounds = self.ranges[node]
        with np.errstate(invalid="ignore"):  # of a value that may be any number
            middle = bounds.low / 2 + bounds.high / 2
            radius = np.maximum(bounds.high - middle, middle - bounds.low)
        return Enclosure.around(middle, radius)

    def exact(self, node: int) -> Floats:
        """Return the exact values, each rounded to the nearest float."""
        if self._activations is None:
            need(products=_products_at_points(self._lowered.network, len(self._points)))
            points = [[Fraction(entry) for entry in point] for point in self._points.tolist()]
            self._activations = self._lowered.network.activations(points)
        return self._lowered.values(node, self._activations).to_floats()


#: Products that take the time of a coordinate of a point.
_COORDINATE_COST = 10


def _products_at_points(network: Network, num_points: int) -> int:
    """Return the number of products in the exact evaluation at points."""
    stored = sum(num_stored(block.entries) for layer in network.layers for block in layer.blocks)
    return num_points * (_COORDINATE_COST * network.num_inputs + stored)


def _points(inputs: int) -> Floats:
    """Return the points of comparison as rows; float32 holds their coordinates of ten bits.

    They are zero, one random point of each scale, one with negative and one with positive
    coordinates only: where all entries are negative, a maximum shows whether it takes padding for
    zeros.
    """
    generator = random.Random(0)
    points = [np.zeros(inputs)]
    for scale, low, high in [
        *((scale, -1023, 1023) for scale in _SCALES),
        (1, -1023, -1),
        (1, 1, 1023),
    ]:
        numbers = np.frombuffer(generator.randbytes(2 * inputs), dtype="<u2").astype(np.int64)
        points.append(np.ldexp((numbers % (high - low + 1) + low).astype(np.float64), scale - 10))
    return np.stack(points)


def _inputs(draft: Draft, point: Floats) -> list[Array]:
    """Return the inputs of the runtime for a point."""
    return split_sample(point.astype(draft.arithmetic), draft.input_shapes)


def _check_sizes(
    path: str | Path, name: str, runtime: str, runs: list[Floats], expected: int
) -> None:
    """Raise an error if a runtime gives a value of another size."""
    if any(values.size != expected for values in runs):
        problem = f"{runtime} gives {runs[0].size} entries, the exact network {expected}"
        raise NetworkFileError(path, f"value {name!r}", problem)


def _largest_ratio(
    path: str | Path, name: str, runtime: str, runs: list[Floats], exact: Floats, error: Floats
) -> float:
    """Return the largest ratio of a difference to its bound; a ratio above 1 is an error.

    `runs` holds the flat value of the runtime at each point; `exact` and `error` have shape
    (entries, points).
    """
    computed = np.stack(runs, axis=1)
    # `exact` was rounded once, to float64, and the sum here is rounded too.
    allowed = error * (1 + 2.0**-50) + np.abs(exact) * 2.0**-52
    known = np.isfinite(allowed)
    wrong = known & ~(np.abs(computed - exact) <= allowed)
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        raise NetworkFileError(
            path,
            f"value {name!r}",
            f"entry {at[0]} is {exact[at]:.9g} exactly and {computed[at]:.9g} in {runtime}, where "
            f"rounding explains {allowed[at]:.2g}; the file is not read as its runtime does "
            "(--no-compare, compare=False read it anyway)",
        )
    inside = known & (allowed > 0)
    return float((np.abs(computed - exact)[inside] / allowed[inside]).max(initial=0.0))
