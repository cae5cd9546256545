"""Comparison of an imported network with the format's own runtime, value by value.

A reader that swaps an axis, forgets a transpose or folds a normalisation on the wrong side gives a
network that looks right. Therefore the lowered network is evaluated exactly at a few points of
several scales, and every value that the file names is compared with the value of the runtime. No
tolerance is involved: the difference must not exceed the bound on rounding errors that
`graph/float_error.py` proves.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.graph.float_error import float_arithmetic, ranges
from polyrelu.formats.graph.lowering import Lowered
from polyrelu.formats.graph.values import Graph
from polyrelu.formats.imported import Comparison, Draft
from polyrelu.formats.runtimes.inputs import split_sample
from polyrelu.support.typing import Array, Floats

__all__ = ["compare_with_runtime"]

#: Binary exponents of the scales of the random points.
_SCALES = (-8, 0, 5, 10)


def compare_with_runtime(
    path: str | Path, draft: Draft, graph: Graph, lowered: Lowered
) -> Comparison:
    """Compare all named values of a graph with the runtime of the draft.

    A value that differs by more than its bound raises a `NetworkFileError` that names it. Where no
    comparison is possible, the result holds the reason.
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
    bounds = ranges(graph, [(point, point) for point in points], model)
    activations = lowered.network.activations(points)
    worst = 0.0
    for name in names:
        node = graph.names[name].node
        computed = [values[name].astype(np.float64).reshape(-1) for values in runs]
        exact = lowered.values(node, activations).to_floats()
        place, bound = f"value {name!r}", bounds[node].error
        worst = max(worst, _largest_ratio(path, place, runtime.name, computed, exact, bound))
    return Comparison(runtime.name, "", len(points), len(names), worst)


def _points(inputs: int) -> list[list[Fraction]]:
    """Return the points of comparison; float32 and float64 hold their coordinates of ten bits.

    They are zero, one random point of each scale, one with negative and one with positive
    coordinates only: where all entries are negative, a maximum shows whether it takes padding for
    zeros.
    """
    generator = random.Random(0)
    points = [[Fraction(0)] * inputs]
    for scale, low, high in [
        *((scale, -1023, 1023) for scale in _SCALES),
        (1, -1023, -1),
        (1, 1, 1023),
    ]:
        points.append(
            [
                Fraction(generator.randint(low, high), 1024) * Fraction(2) ** scale
                for _ in range(inputs)
            ]
        )
    return points


def _inputs(draft: Draft, point: Sequence[Fraction]) -> list[Array]:
    """Return the inputs of the runtime for a point."""
    flat = np.array([float(entry) for entry in point], dtype=draft.arithmetic)
    return split_sample(flat, draft.input_shapes)


def _largest_ratio(
    path: str | Path, place: str, runtime: str, runs: list[Floats], exact: Floats, error: Floats
) -> float:
    """Return the largest ratio of a difference to its bound; a ratio above 1 is an error.

    `runs` holds the flat value of the runtime at each point; `exact` and `error` have shape
    (entries, points).
    """
    if any(values.size != len(exact) for values in runs):
        problem = f"{runtime} gives {runs[0].size} entries, the exact network {len(exact)}"
        raise NetworkFileError(path, place, problem)
    computed = np.stack(runs, axis=1)
    # `exact` was rounded once, to float64, and the sum here is rounded too.
    allowed = error * (1 + 2.0**-50) + np.abs(exact) * 2.0**-52
    known = np.isfinite(allowed)
    wrong = known & ~(np.abs(computed - exact) <= allowed)
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        raise NetworkFileError(
            path,
            place,
            f"entry {at[0]} is {exact[at]:.9g} exactly and {computed[at]:.9g} in {runtime}, where "
            f"rounding explains {allowed[at]:.2g}; the file is not read as its runtime does "
            "(--no-compare, compare=False read it anyway)",
        )
    inside = known & (allowed > 0)
    return float((np.abs(computed - exact)[inside] / allowed[inside]).max(initial=0.0))
