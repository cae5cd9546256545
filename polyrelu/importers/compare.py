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
from polyrelu.importers.float_error import arithmetic, ranges
from polyrelu.importers.graph import Graph
from polyrelu.importers.imported import Comparison, Draft
from polyrelu.importers.lowering import Lowered

__all__ = ["compared"]

#: Powers of two of the sizes of the points; the first point is 0.
_SCALES = (-8, 0, 5, 10)


def compared(path: str | Path, draft: Draft, graph: Graph, lowered: Lowered) -> Comparison:
    """The comparison; a value beyond its bound is a `NetworkFileError` that names it."""
    runtime = draft.runtime
    if isinstance(runtime, str):
        return Comparison(reason=runtime)
    try:
        model = arithmetic(draft.arithmetic)
    except NetworkError as error:
        return Comparison(reason=str(error))
    worst, counted, points = 0.0, 0, _points(sum(int(np.prod(shape)) for shape in draft.input_shapes))
    exact = lowered.network.activations(points)
    for number, point in enumerate(points):
        try:
            found = runtime.run(_arrays(draft, point))
        except Exception as error:  # whatever a runtime raises on a file that it cannot run
            reason = " ".join(str(error).split())[:200]
            return Comparison(reason=f"{runtime.name} cannot run the file ({reason})")
        column = [layer.take(columns=[number]) for layer in exact]
        bounds, counted = ranges(graph, point, point, model), 0
        for name, value in graph.names.items():
            if name in found:
                ours = lowered.values(value.node, column).to_floats()[:, 0]
                used = _share(path, f"value {name!r}", runtime.name, found[name], ours, bounds[value.node].error)
                worst, counted = max(worst, used), counted + 1
    return Comparison(runtime.name, "", len(points), counted, worst)


def _points(inputs: int) -> list[list[Fraction]]:
    """Zero, and points of several scales with coordinates of ten bits, which every float format holds."""
    chance = random.Random(0)
    points = [[Fraction(0)] * inputs]
    for scale in _SCALES:
        points.append([Fraction(chance.randint(-1023, 1023), 1024) * Fraction(2) ** scale for _ in range(inputs)])
    return points


def _arrays(draft: Draft, point: Sequence[Fraction]) -> list[NDArray[Any]]:
    flat, arrays, first = np.array([float(entry) for entry in point], dtype=draft.arithmetic), [], 0
    for shape in draft.input_shapes:
        size = int(np.prod(shape))
        arrays.append(flat[first : first + size].reshape(shape))
        first += size
    return arrays


def _share(
    path: str | Path,
    place: str,
    runtime: str,
    found: NDArray[Any],
    ours: NDArray[np.float64],
    error: NDArray[np.float64],
) -> float:
    """The largest share of its bound that an entry uses; more than all of it is an error."""
    theirs = found.astype(np.float64).reshape(-1)
    if theirs.size != ours.size:
        raise NetworkFileError(path, place, f"{runtime} gives {theirs.size} entries, the exact network {ours.size}")
    allowed = error * (1 + 2.0**-50) + np.abs(ours) * 2.0**-52  # `ours` was rounded once
    known = np.isfinite(allowed)
    wrong = known & ~(np.abs(theirs - ours) <= allowed)
    if wrong.any():
        entry = int(np.argmax(wrong))
        raise NetworkFileError(
            path,
            place,
            f"entry {entry} is {ours[entry]:.9g} exactly and {theirs[entry]:.9g} in {runtime}, where rounding explains "
            f"{allowed[entry]:.2g}; the file is not read as its runtime does (--no-compare reads it anyway)",
        )
    inside = known & (allowed > 0)
    return float((np.abs(theirs - ours)[inside] / allowed[inside]).max(initial=0.0))
