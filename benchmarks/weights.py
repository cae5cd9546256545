"""Costs of what rests on the complex, beside the complex itself.

    python -m benchmarks.weights [--part exact|certificates] [--repeat 3] [--yardsticks DIR]

Part `exact` measures weights, balancing, reconstruction and p - q of the networks in `NETWORKS`, as
ratios to `canonical_complex` in the same run. They have random weights with fixed seeds: rounded to
1/1024 on the box [-1, 1]^d, or float64 on R^n or a box. Part `certificates` measures the
certificate of all regions, its check, and the dual subdivision, for random float64 networks on R^n.
Everything is exact. Times are CPU seconds of this process on one thread, the least of the
repetitions, without any limit. `results/weights_before.json` has the times of an earlier version,
measured once on the same machine. With the folder of `float_lattice.py`, a program in plain floats
that makes all cells on a box and certifies nothing, everything that `polyrelu complex` computes
(cells, weights, balancing) is compared with it too. Parts that are not run keep their last results.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks.reporting import RESULTS, draw_bars, write_results
from polyrelu import checker
from polyrelu.breakpoints import breakpoint_complex, is_balanced, reconstruct, tropical_form
from polyrelu.complex import canonical_complex
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import RegionsListed
from polyrelu.proofs import certify_regions

#: Name, widths, whether weights are rounded to 1/1024, whether the domain is a box.
NETWORKS: tuple[tuple[str, tuple[int, ...], bool, bool], ...] = (
    ("2-64-64-1", (2, 64, 64, 1), True, True),
    ("2-128-128-1", (2, 128, 128, 1), True, True),
    ("2-256-256-1", (2, 256, 256, 1), True, True),
    ("3-32-32-1", (3, 32, 32, 1), True, True),
    ("4-16-16-1", (4, 16, 16, 1), True, True),
    ("5-12-12-1", (5, 12, 12, 1), True, True),
    ("2-40-40-1 float64", (2, 40, 40, 1), False, False),
    ("4-12-12-1 float64", (4, 12, 12, 1), False, False),
    ("2-3×40-1 float64", (2, 40, 40, 40, 1), False, True),
    ("3-4×16-1 float64", (3, 16, 16, 16, 16, 1), False, True),
    ("2-5×16-1 float64", (2, 16, 16, 16, 16, 16, 1), False, True),
    ("3-20-20-2 float64", (3, 20, 20, 2), False, False),
    ("2-128-128-1 float64", (2, 128, 128, 1), False, False),
)  # fmt: skip
#: The columns of the table beside the complex.
COLUMNS = ("weights", "with fractions", "balancing", "reconstruction", "p - q")
SHAPES = ((2, 16, 16, 1), (2, 40, 40, 1), (3, 20, 20, 2), (4, 12, 12, 1), (2, 12, 12, 12, 1))

_T = TypeVar("_T")


def main() -> None:
    """Run the chosen parts and write results/weights.json and the plots."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=["exact", "certificates"], action="append")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--yardsticks", type=Path, help="folder with float_lattice.py")
    options = parser.parse_args()
    _use_one_thread()
    path = RESULTS / "weights.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for part in options.part or ["exact", "certificates"]:
        found[part] = _exact(options) if part == "exact" else _certificates()
        write_results("weights", found)


def _use_one_thread() -> None:
    """Start the process again unless it has one thread and makes complexes with numpy."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    wanted = dict.fromkeys(names, "1") | {"POLYRELU_ENGINE": "numpy"}
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.environ |= wanted
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.weights", *sys.argv[1:]])


# -- weights and what follows from them ------------------------------------------------------------


def _exact(options: argparse.Namespace) -> dict[str, Any]:
    """Measure all networks; print a table of seconds and ratios."""
    before = json.loads((RESULTS / "weights_before.json").read_text())["seconds"]
    rows: dict[str, dict[str, Any]] = {}
    repeat = options.repeat
    print(f"CPU seconds of one thread, numpy engine, no limits, {_processor()}")
    print("network, regions: complex; then seconds (ratio to the complex) [earlier version]")
    for name, widths, rounded, box in NETWORKS:
        row = _row(_random(widths, rounded), widths[0] if box else 0, repeat)
        row["before"] = before.get(name, {})
        row["ratios"] = {key: row["seconds"][key] / row["seconds"]["complex"] for key in COLUMNS}
        if options.yardsticks and rounded:
            floats = _seconds_of_floats(options.yardsticks, widths, repeat)
            ours = sum(row["seconds"][key] for key in ("complex", "weights", "balancing"))
            row["command beside floats"] = ours / floats
        rows[name] = row
        cells = [
            f"{key} {row['seconds'][key]:.4f} ({row['ratios'][key]:.2f})"
            + (f" [{row['before'][key]:.3g}]" if key in row["before"] else "")
            for key in COLUMNS
        ]
        ratio = row.get("command beside floats")
        beside = "" if ratio is None else f"; all beside floats {ratio:.2f}"
        start = f"{name}, {row['f_vector'][-1]:,}: {row['seconds']['complex']:.3f}; "
        print(start + ", ".join(cells) + beside, flush=True)
    groups = {name: {key: row["seconds"][key] for key in ("complex", *COLUMNS)}
              for name, row in rows.items()}  # fmt: skip
    title = "Weights and what follows from them, exact, beside the complex"
    draw_bars("exact_weights", _in_lines(groups), "CPU seconds", title)
    geometric = {
        key: math.exp(sum(math.log(row["ratios"][key]) for row in rows.values()) / len(rows))
        for key in COLUMNS
    }
    print("geometric means of the ratios", geometric)
    conditions = {"processor": _processor(), "time": "CPU seconds, one thread", "limits": "none"}
    return {**conditions, "engine": "numpy", "numpy": np.__version__, "repeat": repeat,
            "networks": rows, "geometric means": geometric}  # fmt: skip


def _seconds_of_floats(folder: Path, widths: tuple[int, ...], repeat: int) -> float:
    """Measure the program in plain floats on the same network."""
    sys.path.insert(0, str(folder))
    floats = importlib.import_module("float_lattice")
    weights, biases = _rounded_arrays(widths)
    run = partial(floats.build, weights, biases, widths[0])
    return min(_timed(run)[1] for _ in range(repeat))


def _in_lines(groups: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Break the names of groups into lines for the plot."""
    return {name.replace(" ", "\n"): group for name, group in groups.items()}


def _random(widths: tuple[int, ...], rounded: bool) -> Network:
    """A network with normal weights: of seed 0 and rounded to 1/1024, or `_network`."""
    if not rounded:
        return _network(widths)
    return from_arrays(list(zip(*_rounded_arrays(widths), strict=True)))


def _rounded_arrays(widths: tuple[int, ...]) -> tuple[list[Any], list[Any]]:
    """Weights and biases of seed 0, rounded to 1/1024."""
    rng = np.random.default_rng(0)
    pairs = list(pairwise(widths))
    weights = [np.round(rng.normal(size=(m, n)) * 1024) / 1024 for n, m in pairs]
    biases = [np.round(rng.normal(size=m) * 1024) / 1024 for _, m in pairs]
    return weights, biases


def _row(network: Network, box: int, repeat: int) -> dict[str, Any]:
    """Measure one network; `box` is the dimension of the box [-1, 1]^d, 0 for R^n."""
    domain = Polyhedron.box([-1] * box, [1] * box) if box else None
    runs: list[dict[str, float]] = []
    for _ in range(repeat):
        gc.collect()
        cells, complex_seconds = _timed(lambda: canonical_complex(network, domain))
        breakpoints, weights = _timed(lambda c=cells: breakpoint_complex(c))  # type: ignore[misc]
        _, fractions = _timed(lambda b=breakpoints: b.weights)  # type: ignore[misc]
        balanced, balancing = _timed(lambda b=breakpoints: is_balanced(b))  # type: ignore[misc]
        start = cells.region(0).affine_map
        maps, rebuilding = _timed(lambda b=breakpoints, a=start: reconstruct(b, 0, a))  # type: ignore[misc]
        places: Sequence[int] = range(0, cells.num_regions, max(1, cells.num_regions // 50))
        assert balanced
        assert all(maps[i] == cells.region(i).affine_map for i in places)
        forms, tropical = _timed(lambda c=cells: tropical_form(c))  # type: ignore[misc]
        seconds = (weights, weights + fractions, balancing, rebuilding, tropical)
        runs.append({"complex": complex_seconds, **dict(zip(COLUMNS, seconds, strict=True))})
    best = {key: min(run[key] for run in runs) for key in runs[0]}
    terms = [[len(form.numerator), len(form.denominator)] for form in forms]
    return {"f_vector": cells.f_vector, "terms": terms, "seconds": best,
            "bits": max(layer.bits for layer in network.layers)}  # fmt: skip


def _processor() -> str:
    """The name of the processor, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown processor"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else "unknown processor"


# -- certificates ----------------------------------------------------------------------------------


def _certificates() -> dict[str, Any]:
    """Measure all shapes."""
    results = {"-".join(map(str, widths)): _measured(widths) for widths in SHAPES}
    groups = {
        f"{shape}\n{found['f_vector'][-1]:,} regions": found["seconds"]
        for shape, found in results.items()
    }
    draw_bars("weights", groups, "CPU seconds", "The certificate of all regions, on R^n, exact")
    return results


def _network(widths: tuple[int, ...]) -> Network:
    rng = np.random.default_rng(list(widths))
    return from_arrays([(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise(widths)])


def _measured(widths: tuple[int, ...]) -> dict[str, Any]:
    network = _network(widths)
    cells, complex_seconds = _timed(lambda: canonical_complex(network))
    forms = tropical_form(cells)
    dual, subdivision = _timed(lambda: forms[0].numerator.dual_subdivision)
    listed, proving = _timed(lambda: certify_regions(cells))
    assert isinstance(listed, RegionsListed)
    data = listed.certificate.to_bytes()
    report, checking = _timed(lambda: checker.check_bytes(data))
    found = {
        "f_vector": cells.f_vector,
        "terms": [len(forms[0].numerator), len(forms[0].denominator)],
        "dual_cells": len(dual),
        "verdict": report.verdict,
        "nodes": listed.work.num_nodes,
        "signs": listed.work.num_signs,
        "certificate_bytes": len(data),
        "seconds": {
            "complex": complex_seconds,
            "dual subdivision": subdivision,
            "certificate": proving,
            "check": checking,
        },
    }
    print(widths, found, flush=True)
    return found


def _timed(run: Callable[[], _T]) -> tuple[_T, float]:
    started = time.process_time()
    value = run()
    return value, time.process_time() - started


if __name__ == "__main__":
    main()
