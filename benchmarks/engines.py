"""The compiled core beside the engine in numpy, in pairs.

    python -m benchmarks.engines [--repeat 7] [--engine auto|numpy]

The networks have normal weights and biases with seed 0, rounded to 1/1024, on the box [-1, 1]^d;
some others have integers in ±3, on R^n. Each is computed by both engines by turns, in one process
and one thread; times are CPU seconds, the least of the repetitions (fewer for the largest ones).
"complex" is `canonical_complex` as a whole, "cuts" is the subdivision without the coordinates of
the domain and without the tables that the result keeps. `--engine numpy` measures that engine
alone, and writes `engines_baseline.json`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.complex_grid import _arrays, _box
from benchmarks.reporting import RESULTS, write_results
from polyrelu._core import VARIABLE, chosen_engine
from polyrelu.complex import canonical_complex, polyhedral_complex
from polyrelu.complex.engine.subdivision import completed
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays

GRID: list[tuple[int, tuple[int, ...]]] = [
    (2, (32, 32)), (2, (64, 64)), (2, (128, 128)), (2, (64, 64, 64)), (2, (256, 256)),
    (3, (20, 20)), (3, (32, 32)), (3, (48, 48)), (4, (16, 16)), (4, (24, 24)),
    (5, (12, 12)), (5, (16, 16)), (6, (10, 10)),
]  # fmt: skip
"""Inputs and hidden widths."""
INTEGERS: list[tuple[int, tuple[int, ...]]] = [(2, (16, 16)), (2, (32, 32)), (3, (12, 12))]
"""The same for networks with small integers, where many signs are 0."""


def main() -> None:
    """Measure all networks and write results/engines.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--engine", choices=["auto", "numpy"], default="auto")
    options = parser.parse_args()
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.engines", *sys.argv[1:]])
    engines = ["numpy"] if options.engine == "numpy" else ["numpy", "compiled"]
    rows = [
        _measured(from_arrays(_arrays(*shape)), _box(shape[0]), shape, engines, options.repeat)
        for shape in GRID
    ]
    of_integers = [
        _measured(_integer_network(*shape), Polyhedron.universe(shape[0]), shape, engines, 3)
        for shape in INTEGERS
    ]
    found: dict[str, Any] = {"seed": 0, "threads": 1, "engines": engines, "grid": rows}
    found["weights in ±3, on R^n"] = of_integers
    if len(engines) == 2:
        per_cell = [row["complex: compiled, ns per cell"] for row in rows]
        found["ns per cell, geometric mean over the grid"] = _mean(per_cell)
        found["times as fast, geometric mean by dimension"] = {
            str(d): {
                what: _mean([row[f"{what}: times as fast"] for row in rows if row["inputs"] == d])
                for what in ("complex", "cuts")
            }
            for d in sorted({row["inputs"] for row in rows})
        }
    write_results("engines" if len(engines) == 2 else "engines_baseline", found)


def _integer_network(inputs: int, hidden: tuple[int, ...]) -> Network:
    """A network whose weights and biases are integers from -3 to 3."""
    rng = np.random.default_rng(0)
    shapes = pairwise((inputs, *hidden, 1))
    return from_arrays([(rng.integers(-3, 4, (m, n)), rng.integers(-3, 4, m)) for n, m in shapes])


def _measured(
    network: Network,
    domain: Polyhedron,
    shape: tuple[int, tuple[int, ...]],
    engines: list[str],
    repeat: int,
) -> dict[str, Any]:
    """The least times of all engines for one network."""
    inputs, hidden = shape
    times: dict[tuple[str, str], list[float]] = {}
    cells: dict[str, Any] = {}
    for _ in range(repeat if sum(hidden) < 200 else max(2, repeat // 2)):
        for engine in engines:
            os.environ[VARIABLE] = engine
            assert chosen_engine().name == engine
            with _cuts_timed() as cuts:
                started = time.process_time()
                cells[engine] = canonical_complex(network, domain).f_vector
                times.setdefault((engine, "complex"), []).append(time.process_time() - started)
            times.setdefault((engine, "cuts"), []).append(cuts[0])
    assert len(set(cells.values())) == 1, cells
    count = sum(cells[engines[0]])
    row: dict[str, Any] = {"inputs": inputs, "hidden": hidden, "cells": count}
    for (engine, what), seconds in times.items():
        row[f"{what}: {engine}, ms"] = round(1e3 * min(seconds), 3)
        row[f"{what}: {engine}, ns per cell"] = round(1e9 * min(seconds) / count)
    if len(engines) == 2:
        for what in ("complex", "cuts"):
            ratio = min(times["numpy", what]) / min(times["compiled", what])
            row[f"{what}: times as fast"] = round(ratio, 2)
        baseline = _baseline().get((inputs, hidden))
        if baseline is not None and domain.inequalities:  # a box, as there
            ratio = baseline / (1e3 * min(times["compiled", "complex"]))
            row["complex: times as fast as the baseline"] = round(ratio, 2)
    return row


def _baseline() -> dict[tuple[int, tuple[int, ...]], float]:
    """The milliseconds of numpy on boxes in `engines_baseline.json`, from before the core."""
    path = RESULTS / "engines_baseline.json"
    if not path.exists():
        return {}
    rows = json.loads(path.read_text())["grid"]
    return {(row["inputs"], tuple(row["hidden"])): row["complex: numpy, ms"] for row in rows}


@contextmanager
def _cuts_timed() -> Iterator[list[float]]:
    """Measure the CPU seconds that `canonical_complex` spends in all cuts."""
    seconds = [0.0]

    def timed(*arguments: Any) -> Any:
        started = time.process_time()
        answer = completed(*arguments)
        seconds[0] = time.process_time() - started
        return answer

    with patch.object(polyhedral_complex, "completed", timed):
        yield seconds


def _mean(ratios: list[float]) -> float:
    return round(math.exp(sum(map(math.log, ratios)) / len(ratios)), 2)


if __name__ == "__main__":
    main()
