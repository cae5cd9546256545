"""Compare what was read with the format's own runtime, value by value, within a proved bound.

A reader that swaps an axis, forgets a transpose or folds a normalisation on the wrong side gives a network that looks
right. So the lowered network is evaluated exactly at a few points of several scales, and every value the file names is
compared with the runtime's. The allowance is not a tolerance: it is the bound of `float_error.py` on what rounding can
do.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.graph.float_error import float_arithmetic, ranges
from polyrelu.formats.graph.lowering import Lowered
from polyrelu.formats.graph.values import Graph
from polyrelu.formats.imported import Comparison, Draft

__all__ = ["compared"]

#: Powers of two of the sizes of the points; the first point is 0.
_SCALES = (-8, 0, 5, 10)


def compared(path: str | Path, draft: Draft, graph: Graph, lowered: Lowered) -> Comparison:
    """The comparison; a value beyond its bound is a `NetworkFileError` that names it."""
    runtime = draft.runtime
    if isinstance(runtime, str):
        return Comparison(reason=runtime)
    try:
        model = float_arithmetic(draft.arithmetic, draft.bounded)
    except NetworkError as error:
        return Comparison(reason=str(error))
    points = _points(sum(int(np.prod(shape)) for shape in draft.input_shapes))
    try:
        found = [runtime.run(_arrays(draft, point)) for point in points]
    except Exception as error:  # whatever a runtime raises on a file that it cannot run
        reason = " ".join(str(error).split())[:200]
        return Comparison(reason=f"{runtime.name} cannot run the file ({reason})")
    names = [name for name in graph.names if all(name in values for values in found)]
    if not names:
        return Comparison(reason=f"{runtime.name} gives no value that the network has")
    bounds, activations = (
        ranges(graph, [(point, point) for point in points], model),
        lowered.network.activations(points),
    )
    worst = 0.0
    for name in names:
        node = graph.names[name].node
        theirs = [values[name].astype(np.float64).reshape(-1) for values in found]
        ours = lowered.values(node, activations).to_floats()
        worst = max(
            worst, _share(path, f"value {name!r}", runtime.name, theirs, ours, bounds[node].error)
        )
    return Comparison(runtime.name, "", len(points), len(names), worst)


def _points(inputs: int) -> list[list[Fraction]]:
    """Zero, points of several scales, and one of each sign (padding shows where all entries are negative); coordinates
    of ten bits, which float32 and float64 hold."""
    chance = random.Random(0)
    points = [[Fraction(0)] * inputs]
    for scale, low, high in [
        *((scale, -1023, 1023) for scale in _SCALES),
        (1, -1023, -1),
        (1, 1, 1023),
    ]:
        points.append(
            [
                Fraction(chance.randint(low, high), 1024) * Fraction(2) ** scale
                for _ in range(inputs)
            ]
        )
    return points


def _arrays(draft: Draft, point: Sequence[Fraction]) -> list[NDArray[Any]]:
    flat, arrays, first = np.array([float(entry) for entry in point], dtype=draft.arithmetic), [], 0
    for shape in draft.input_shapes:
        size = int(np.prod(shape))
        arrays.append(flat[first : first + size].reshape(shape))
        first += size
    return arrays


def _share(
    path: str | Path, place: str, runtime: str, found: list[Floats], ours: Floats, error: Floats
) -> float:
    """The largest share of its bound that an entry uses; more than all of it is an error."""
    if any(values.size != len(ours) for values in found):
        problem = f"{runtime} gives {found[0].size} entries, the exact network {len(ours)}"
        raise NetworkFileError(path, place, problem)
    theirs = np.stack(found, axis=1)
    allowed = error * (1 + 2.0**-50) + np.abs(ours) * 2.0**-52  # `ours` was rounded once
    known = np.isfinite(allowed)
    wrong = known & ~(np.abs(theirs - ours) <= allowed)
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        raise NetworkFileError(
            path,
            place,
            f"entry {at[0]} is {ours[at]:.9g} exactly and {theirs[at]:.9g} in {runtime}, where rounding explains "
            f"{allowed[at]:.2g}; the file is not read as its runtime does (--no-compare, compare=False read it anyway)",
        )
    inside = known & (allowed > 0)
    return float((np.abs(theirs - ours)[inside] / allowed[inside]).max(initial=0.0))
