"""Walks along lines and bent hyperplanes, beside the same walks in plain floats.

    python -m benchmarks.walks [--network FILE] [--cells 10000]

The script measures cells per second. Lines and planes are random with a fixed seed (multiples of
1/64), and walks are made until they have met the given number of cells. Bent hyperplanes belong to
neurons of the hidden layers 2 to 4. Each walk is made by numpy and by the compiled core, if it is
installed, by turns, three times with the least time counted. The yardstick walks the same cells in
float64 without bounds and without exact arithmetic: it recomputes the layers above the neuron that
switched, takes the first zero ahead and goes on; none of its results is certain. Times are CPU
seconds of one thread in the same run; they include the setup of each walk, but neither reading the
network nor the search for a start in the plane. Pieces know their signs and ends, but make them
when they are asked for; a second number counts the time in which the signs of all pieces and ends
are read too. `walks_baseline.json` keeps the numbers from the day when walks were given to the
compiled core, measured in the same way. The last measurement is a search for ridges (Theorem D):
its first 150 walks, without evaluations. The network is by default `mnist_256x4.onnx` in the folder
`nets` of the folder that POLYRELU_SHARED names.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import count, islice, pairwise
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.reporting import RESULTS, draw_bars, write_results
from polyrelu._core import VARIABLE, chosen_engine
from polyrelu.exact import nearest_float
from polyrelu.network import Network, NeuronId, from_arrays
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.walks import (
    BentWalk,
    LineWalk,
    walk_bent_hyperplane,
    walk_line,
    zero_in_plane,
)
from tests.generators.files import NETS

Floats = NDArray[np.float64]
Cells = Iterator[NDArray[np.bool_]]
Vector = list[Fraction]

#: Number of times that each walk is made; the least time counts.
_REPEATED = 3
#: The parameter at which walks along lines start.
START = -1000
#: Widths of the network that needs no file.
WIDTHS = (20, 128, 128, 128, 4)


def main() -> None:
    """Measure walks in both networks, and a search, and write results/walks.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--network", type=Path, default=NETS / "mnist_256x4.onnx")
    parser.add_argument("--cells", type=int, default=10_000)
    options = parser.parse_args()
    _use_one_thread()
    baseline = json.loads((RESULTS / "walks_baseline.json").read_text())
    results: dict[str, Any] = {
        "seed": 0,
        "threads": 1,
        "-".join(map(str, WIDTHS)): measure(synthetic(), options.cells),
    }
    if options.network.exists():
        from polyrelu.formats import load

        network = load(options.network, compare=False)
        results[options.network.name] = measure(network, options.cells)
        results[f"search for ridges, {options.network.name}"] = measure_search(network)
    else:
        print(f"{options.network} is not here and is left out")
    groups = {}
    for name, kinds in baseline.items():
        for kind, before in kinds.items() if isinstance(kinds, dict) else ():
            found = results.get(name, {}).get(kind)
            if found is not None:
                speeds = found["cells per second"] / before["cells per second"]
                found["times the baseline"] = round(speeds, 1)
                short = kind.replace("bent hyperplane", "bent").replace(", ", ",\n")
                groups[f"{Path(name).stem}\n{short}"] = {
                    "polyrelu": found["cells per second"],
                    "with numpy": found["numpy: cells per second"],
                    "before": before["cells per second"],
                    "plain floats": found["plain floats: cells per second"],
                }
    write_results("walks", results)
    draw_bars("walks", groups, "cells per second", "Walks from cell to cell, one thread")


def _use_one_thread() -> None:
    if os.environ.get("OMP_NUM_THREADS") != "1":
        os.execve(
            sys.executable,
            [sys.executable, "-m", "benchmarks.walks", *sys.argv[1:]],
            os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )


def synthetic() -> Network:
    """Return a network with normal weights over the square root of the width, seed 0."""
    rng = np.random.default_rng(0)
    layers = [
        (rng.normal(size=(rows, columns)) * np.sqrt(2 / columns), rng.normal(size=rows) / 2)
        for columns, rows in pairwise(WIDTHS)
    ]
    return from_arrays(layers)


def measure(network: Network, cells: int) -> dict[str, Any]:
    """Measure lines, and bent hyperplanes of the layers 2 to 4."""
    rng = Random(0)
    return {
        "line": _lines(network, cells, rng),
        **{
            f"bent hyperplane, layer {layer}": _bent_hyperplanes(network, layer, cells, rng)
            for layer in (2, 3, 4)
            if layer <= network.num_hidden_layers
        },
    }


def measure_search(network: Network, walks: int = 150) -> dict[str, Any]:
    """Measure the first walks of a search for ridges with each engine."""
    results: dict[str, Any] = {"walks": walks}
    for engine in dict.fromkeys(["numpy", chosen_engine().name]):
        os.environ[VARIABLE] = engine
        search, times = DeepSearch(network), list[float]()
        search.run(rounds=1, may_walk=partial(_may_walk, times, walks))
        results["ridges"] = len(search.ridges)
        results[f"{engine}: seconds"] = round(times[-1] - times[0], 2)
    return results


def _may_walk(times: list[float], walks: int) -> bool:
    times.append(time.process_time())
    return len(times) <= walks


def _vector(network: Network, rng: Random, low: int) -> Vector:
    return [Fraction(rng.randint(low, 64), 64) for _ in range(network.num_inputs)]


@dataclass(slots=True)
class Tally:
    """Sums over all walks of one kind."""

    walks: int = 0
    cells: int = 0
    exact: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    reading: float = 0.0
    float_cells: int = 0
    float_seconds: float = 0.0
    same: int = 0

    def add(
        self, walk: LineWalk | BentWalk, found: list[bytes], reading: float, floats: Cells
    ) -> None:
        """Count a finished walk, and repeat it in floats, for at most one cell more."""
        start = time.process_time()
        other = [on.tobytes() for on in islice(floats, len(found) + 1)]
        self.float_seconds += time.process_time() - start
        self.walks, self.cells = self.walks + 1, self.cells + len(found)
        self.exact += walk.statistics.num_exact_steps
        self.reading += reading
        self.float_cells, self.same = self.float_cells + len(other), self.same + (other == found)

    def summary(self) -> dict[str, Any]:
        """Return cells per second of all, and their ratio."""
        seconds = self.seconds[chosen_engine().name]
        speed, yardstick = self.cells / seconds, self.float_cells / self.float_seconds
        return {
            "walks": self.walks,
            "cells": self.cells,
            "seconds": round(seconds, 3),
            "cells per second": round(speed),
            "signs read: cells per second": round(self.cells / (seconds + self.reading)),
            "numpy: cells per second": round(self.cells / self.seconds["numpy"]),
            "decided exactly": self.exact,
            "plain floats: cells per second": round(yardstick),
            "time beside plain floats": round(yardstick / speed, 2),
            "walks on which plain floats see the same cells": self.same,
        }


Walked = TypeVar("Walked", LineWalk, BentWalk)


def _timed(tally: Tally, make: Callable[[], Walked]) -> tuple[Walked, list[Any]]:
    """Make a walk with each engine, the chosen one last; return it and its cells."""
    chosen = chosen_engine().name
    for engine in dict.fromkeys(["numpy", chosen]):
        os.environ[VARIABLE] = engine
        times = list[float]()
        for _ in range(_REPEATED):
            start = time.process_time()
            walk = make()
            found = list(walk)
            times.append(time.process_time() - start)
        tally.seconds[engine] += min(times)
    return walk, found


def _lines(network: Network, cells: int, rng: Random) -> dict[str, Any]:
    tally, weights = Tally(), FloatWeights(network)
    while tally.cells < cells:
        point, direction = _vector(network, rng, 0), _vector(network, rng, -64)
        walk, cells_of_walk = _timed(
            tally, partial(walk_line, network, point, direction, start=START)
        )
        start = time.process_time()
        found = [(cell.flat > 0).tobytes() for cell in cells_of_walk]
        reading = time.process_time() - start
        floats = float_line(weights, _floats(point), _floats(direction), float(START))
        tally.add(walk, found, reading, floats)
    return tally.summary()


def _bent_hyperplanes(network: Network, layer: int, cells: int, rng: Random) -> dict[str, Any]:
    tally, weights = Tally(), FloatWeights(network)
    for number in count():
        neuron = NeuronId(layer, number % network.widths[layer])
        point, directions = _vector(network, rng, 0), [_vector(network, rng, -64) for _ in range(2)]
        origin = zero_in_plane(network, neuron, point, directions)
        for reverse in (False, True) if origin is not None else ():
            walk, pieces = _timed(
                tally,
                partial(
                    walk_bent_hyperplane,
                    network,
                    neuron,
                    point,
                    directions,
                    start=origin or (),
                    reverse=reverse,
                ),
            )
            start = time.process_time()
            found = [
                (piece.cell.signs > 0).tobytes()
                for piece in pieces
                if piece.end is None or piece.end.at.size
            ]
            reading = time.process_time() - start
            begin = _floats(origin or ()), _floats(pieces[0].heading)
            floats = float_bent(
                weights, neuron, _floats(point), np.array([*map(_floats, directions)]), *begin
            )
            tally.add(walk, found, reading, floats)
        if tally.cells >= cells:
            break
    return tally.summary()


def _floats(numbers: Iterable[Fraction | int]) -> Floats:
    return np.array([nearest_float(number.numerator, number.denominator) for number in numbers])


# -- the yardstick ---------------------------------------------------------------------------------


class FloatWeights:
    """A plain stack in floats."""

    def __init__(self, network: Network) -> None:
        hidden = network.layers[: network.num_hidden_layers]
        self.layers = [(layer.weight.to_floats(), layer.bias.to_floats()[:, 0]) for layer in hidden]
        self.offsets = np.cumsum([0, *(layer.width for layer in hidden)])


class FloatForms:
    """The forms over (s, 1) of all neurons, transposed, where the neurons `on` are on."""

    def __init__(self, weights: FloatWeights, point: Floats, directions: Floats) -> None:
        self._weights = weights
        self.columns = np.zeros((len(directions) + 1, int(weights.offsets[-1])))
        self._embedding = np.vstack([directions, point])

    def part(self, layer: int) -> slice:
        return slice(int(self._weights.offsets[layer]), int(self._weights.offsets[layer + 1]))

    def update(self, on: NDArray[np.bool_], first: int) -> None:
        """Compute the layers from `first` (from 0) on again."""
        for number in range(first, len(self._weights.layers)):
            weight, bias = self._weights.layers[number]
            below = None if number == 0 else self.part(number - 1)
            read = self._embedding if below is None else self.columns[:, below] * on[below]
            for c in range(len(read)):
                self.columns[c, self.part(number)] = weight @ read[c]
            self.columns[-1, self.part(number)] += bias

    def start(self, s: Floats) -> NDArray[np.bool_]:
        """Return which neurons are on at a point, layer by layer."""
        on = np.zeros(self.columns.shape[1], dtype=bool)
        for number in range(len(self._weights.layers)):
            self.update(on, number)
            part = self.part(number)
            on[part] = np.append(s, 1.0) @ self.columns[:, part] > 0
        return on

    def layer_of(self, place: int) -> int:
        return int(np.searchsorted(self._weights.offsets, place, side="right")) - 1


@np.errstate(all="ignore")
def float_line(weights: FloatWeights, point: Floats, direction: Floats, t: float) -> Cells:
    """Yield which neurons are on, cell by cell along p + t d."""
    forms = FloatForms(weights, point, direction[None])
    on = forms.start(np.array([t]))
    while True:
        yield on.copy()
        slopes, constants = forms.columns
        ahead = np.flatnonzero(np.where(on, -slopes, slopes) > 0)
        if not len(ahead):
            return
        zeros = -constants[ahead] / slopes[ahead]
        first = int(ahead[np.argmin(zeros)])
        on[first] = not on[first]
        forms.update(on, forms.layer_of(first) + 1)


@np.errstate(all="ignore")
def float_bent(
    weights: FloatWeights,
    neuron: NeuronId,
    point: Floats,
    directions: Floats,
    s: Floats,
    heading: Floats,
) -> Cells:
    """Yield which neurons are on, piece by piece along the zero set of a neuron.

    The walk ends when it reaches the first piece again.
    """
    forms = FloatForms(weights, point, directions)
    v = forms.part(neuron.layer - 1).start + neuron.index
    on = forms.start(s)
    on[v] = False
    forms.update(on, neuron.layer)
    first, crossed = on.copy(), -1
    while crossed < 0 or (on != first).any():
        yield on.copy()
        a, b, c = forms.columns[:, v]
        s = s - (a * s[0] + b * s[1] + c) / (a * a + b * b) * np.array([a, b])
        along = np.array([-b, a])
        behind = (
            heading if crossed < 0 else forms.columns[:2, crossed] * (1.0 if on[crossed] else -1.0)
        )
        along = along if along @ behind > 0 else -along
        slopes = along @ forms.columns[:2]
        slopes[v] = 0.0
        ahead = np.flatnonzero(np.where(on, -slopes, slopes) > 0)
        if not len(ahead):
            return
        steps = -(s @ forms.columns[:2, ahead] + forms.columns[2, ahead]) / slopes[ahead]
        nearest = int(np.argmin(steps))
        crossed, s = int(ahead[nearest]), s + steps[nearest] * along
        on[crossed] = not on[crossed]
        forms.update(on, forms.layer_of(crossed) + 1)


if __name__ == "__main__":
    main()
