"""The exact complex beside plain floats, an earlier numpy draft and other packages.

    python -m benchmarks.complex_grid [--yardsticks DIR] [--repeat 3]
        [--part grid|less|growth|worst|stream|peers] [--nets DIR] [--relucent PYTHON]

The script measures time, growth and memory. The grid has normal
weights and biases with seed 0, rounded to 1/1024, on the box [-1, 1]^d. Times are CPU seconds of
one thread, the least of the repetitions, everything in one run. Yardsticks are two
programs that are not part of the project, the draft and a face lattice in plain floats; without
their folder only polyrelu is measured. `--relucent` names a Python
in which relucent, torch and polyrelu are installed, `--nets` the folder of
`arch_single_pendulum.onnx`. Parts that are not run keep their last results.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reporting import RESULTS, write_results
from polyrelu.complex import (
    PolyhedralComplex,
    canonical_complex,
    skeleton,
    stream_complex,
    walk_regions,
)
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays

Arrays = list[tuple[NDArray[np.float64], NDArray[np.float64]]]

GRID: list[tuple[int, tuple[int, ...]]] = [
    (2, (64, 64)), (2, (128, 128)), (2, (64, 64, 64)), (2, (256, 256)),
    (3, (20, 20)), (3, (32, 32)), (3, (48, 48)),
    (4, (16, 16)), (4, (24, 24)), (5, (12, 12)), (5, (16, 16)), (6, (10, 10)),
]  # fmt: skip
GROWTH: dict[int, list[tuple[int, ...]]] = {
    2: [(64, 64), (128, 128), (192, 192), (256, 256), (384, 384)],
    3: [(20, 20), (32, 32), (48, 48), (64, 64), (80, 80)],
    4: [(12, 12), (16, 16), (24, 24), (32, 32)],
}


PARTS = ["grid", "less", "growth", "worst", "stream", "peers"]
#: The network that is streamed (inputs, hidden widths), and the number of regions where it ends.
STREAMED: tuple[int, tuple[int, ...]] = (4, (104, 104))
STREAM_GOAL = 10**7


def main() -> None:
    """Run the chosen parts and write results/complex_grid.json and its plot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--yardsticks", type=Path, help="folder with float_lattice.py and complex_engine/"
    )
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--nets", type=Path, help="folder with arch_single_pendulum.onnx")
    parser.add_argument("--relucent", type=Path, help="a Python with relucent and polyrelu")
    options = parser.parse_args()
    _use_one_thread()
    path = RESULTS / "complex_grid.json"
    found: dict[str, Any] = (
        json.loads(path.read_text()) if path.exists() else {"seed": 0, "threads": 1}
    )
    for part in options.part or PARTS:
        if part == "grid":
            found[part] = _grid(options.yardsticks, options.repeat)
        elif part == "less":
            found[part] = _less(options.repeat)
        elif part == "growth":
            found[part] = _growth()
            _plot(found[part])
        elif part == "worst":
            found[part] = _worst(options.repeat)
        elif part == "stream":
            found[part] = _stream()
        else:
            found[part] = _peers(options.nets, options.relucent)
        write_results("complex_grid", found)


def _use_one_thread() -> None:
    """Start the process again if the linear algebra behind numpy may use more than one thread."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    if any(os.environ.get(name) != "1" for name in names):
        os.environ |= dict.fromkeys(names, "1")
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.complex_grid", *sys.argv[1:]])


def _arrays(inputs: int, hidden: tuple[int, ...]) -> Arrays:
    rng = np.random.default_rng(0)
    widths = (inputs, *hidden, 1)
    count = len(widths) - 1
    weights = [
        np.round(rng.normal(size=(widths[i + 1], widths[i])) * 1024) / 1024 for i in range(count)
    ]
    biases = [np.round(rng.normal(size=widths[i + 1]) * 1024) / 1024 for i in range(count)]
    return list(zip(weights, biases, strict=True))


def _box(inputs: int) -> Polyhedron:
    return Polyhedron.box([-1] * inputs, [1] * inputs)


def _seconds(run: Callable[[], object], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        started = time.process_time()
        run()
        times.append(time.process_time() - started)
    return min(times)


# -- the grid --------------------------------------------------------------------------------------


def _grid(yardsticks: Path | None, repeat: int) -> dict[str, Any]:
    peers = _yardsticks(yardsticks)
    rows = []
    for inputs, hidden in GRID:
        arrays = _arrays(inputs, hidden)
        network = from_arrays(arrays)
        times = repeat if max(hidden) < 256 else 1
        row: dict[str, Any] = {"inputs": inputs, "hidden": hidden}
        cells = canonical_complex(network, _box(inputs))
        row |= {"f_vector": cells.f_vector, **_statistics(cells)}
        row["ours"] = _seconds(partial(canonical_complex, network, _box(inputs)), times)
        whole = canonical_complex(network)
        row["R^n cells"] = sum(whole.f_vector)
        row["R^n"] = _seconds(partial(canonical_complex, network), times)
        for name, run in peers.items():
            row[name] = _seconds(partial(run, arrays, inputs), times)
        rows.append(row)
        print(row, flush=True)
    return {"rows": rows, **_ratios(rows, list(peers))}


def _statistics(cells: PolyhedralComplex) -> dict[str, int]:
    found = cells.statistics
    return {"decisions": found.num_decisions, "exact_decisions": found.num_exact_decisions}


def _yardsticks(folder: Path | None) -> dict[str, Callable[[Arrays, int], object]]:
    if folder is None:
        return {}
    sys.path[:0] = [str(folder), str(folder / "complex_engine")]
    floats, draft = importlib.import_module("float_lattice"), importlib.import_module("lat2")

    def run_floats(arrays: Arrays, inputs: int) -> object:
        return floats.build(
            [weights for weights, _ in arrays], [bias for _, bias in arrays], inputs
        )

    def run_draft(arrays: Arrays, inputs: int) -> object:
        integers = [
            (np.rint(w * 1024).astype(np.int64), np.rint(b * 1024).astype(np.int64))
            for w, b in arrays[:-1]
        ]
        network = draft.Net([w for w, _ in integers], [b for _, b in integers], 1024)
        return draft.Lat2(network, "box", "B").run()

    return {"floats": run_floats, "draft": run_draft}


def _ratios(rows: list[dict[str, Any]], peers: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "floats" in peers:
        ratios = {str((row["inputs"], row["hidden"])): row["ours"] / row["floats"] for row in rows}
        largest = str((2, (256, 256)))
        others = [ratio for name, ratio in ratios.items() if name != largest]
        found["ratios to floats"] = ratios
        found["geometric mean without (2, (256, 256))"] = math.exp(
            sum(map(math.log, others)) / len(others)
        )
        found["worst of these"] = max(others)
    if "draft" in peers:
        found["total, ratio to draft"] = sum(r["ours"] for r in rows) / sum(
            r["draft"] for r in rows
        )
    per_cell = [(r["R^n"] / r["R^n cells"]) / (r["ours"] / sum(r["f_vector"])) for r in rows]
    found["time per cell on R^n over box, geometric mean"] = math.exp(
        sum(map(math.log, per_cell)) / len(per_cell)
    )
    found["time per cell on R^n over box, worst"] = max(per_cell)
    return found


# -- asked for less --------------------------------------------------------------------------------


def _less(repeat: int) -> list[dict[str, Any]]:
    """Compare all cells with vertices and edges only, and with some regions and neighbours only."""
    rows = []
    for inputs, hidden in [
        (4, (24, 24)),
        (5, (12, 12)),
        (5, (16, 16)),
        (5, (20, 20)),
        (6, (10, 10)),
        (6, (12, 12)),
    ]:
        network, box = from_arrays(_arrays(inputs, hidden)), _box(inputs)
        regions = canonical_complex(network, box).num_regions
        row: dict[str, Any] = {"inputs": inputs, "hidden": hidden, "regions": regions}
        row["without the lattice"] = skeleton(network, box).without_lattice
        row["all cells"] = _seconds(partial(canonical_complex, network, box), repeat)
        row["vertices and edges"] = _seconds(partial(skeleton, network, box), repeat)
        row["ratio"] = row["all cells"] / row["vertices and edges"]
        started = time.process_time()
        count = sum(1 for _ in islice(walk_regions(network, box), 100))
        row["walk, seconds for each region"] = (time.process_time() - started) / count
        rows.append(row)
        print(row, flush=True)
    return rows


# -- growth, memory, worst cases -------------------------------------------------------------------


def _growth() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for inputs, sizes in GROWTH.items():
        points: list[dict[str, Any]] = []
        for hidden in sizes:
            network = from_arrays(_arrays(inputs, hidden))
            started = time.process_time()
            cells = canonical_complex(network, _box(inputs))
            seconds = time.process_time() - started
            count = sum(cells.f_vector)
            points.append(
                {
                    "hidden": hidden,
                    "cells": count,
                    "seconds": seconds,
                    "bytes": cells.nbytes / count,
                }
            )
            print(inputs, points[-1], flush=True)
        logs = [(math.log(point["cells"]), math.log(point["seconds"])) for point in points]
        slope = float(np.polyfit([x for x, _ in logs], [y for _, y in logs], 1)[0])
        found[str(inputs)] = {"points": points, "slope": slope}
    return found


def _stream() -> dict[str, Any]:
    """Stream cells in a process of its own, so that its memory can be measured."""
    inputs, hidden = STREAMED
    code = f"import benchmarks.complex_grid as b; b.print_streamed({inputs}, {hidden})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    print(found, flush=True)
    return found


def print_streamed(inputs: int, hidden: tuple[int, ...]) -> None:
    """Count regions part by part."""
    started, regions, parts = time.process_time(), 0, 0
    for part in stream_complex(from_arrays(_arrays(inputs, hidden)), _box(inputs)):
        regions, parts = regions + part.num_regions, parts + 1
        if regions >= STREAM_GOAL:
            break
    found = {"inputs": inputs, "hidden": hidden, "regions": regions, "parts": parts}
    found["seconds"] = round(time.process_time() - started, 1)
    found["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(found))


def _worst(repeat: int) -> list[dict[str, Any]]:
    rows = []
    for name, network in _worst_networks():
        inputs = network.num_inputs
        cells = canonical_complex(network, _box(inputs))
        seconds = _seconds(partial(canonical_complex, network, _box(inputs)), repeat)
        count = sum(cells.f_vector)
        rows.append(
            {
                "name": name,
                "cells": count,
                "seconds": seconds,
                "per cell": seconds / count,
                **_statistics(cells),
            }
        )
        print(rows[-1], flush=True)
    return rows


def _worst_networks() -> list[tuple[str, Network]]:
    rng = np.random.default_rng(0)
    shapes = [(24, 3), (24, 24), (1, 24)]

    def integers(low: int, high: int) -> Network:
        return from_arrays(
            [
                (rng.integers(low, high, shape), rng.integers(low, high, shape[0]))
                for shape in shapes
            ]
        )

    ordinary = from_arrays(
        [(rng.normal(size=shape), rng.normal(size=shape[0])) for shape in shapes]
    )
    concurrent = [(rng.normal(size=shape), rng.normal(size=shape[0])) for shape in shapes]
    concurrent[0] = concurrent[0][0], np.ldexp(np.round(rng.normal(size=24) * 16), -40)
    rng = np.random.default_rng(0)
    deep = [
        (rng.normal(size=(8, 8 if i else 2)) * (0.7 if i else 1), rng.normal(size=8) * 0.1)
        for i in range(20)
    ]
    return [
        ("ordinary (3, (24, 24))", ordinary),
        ("weights in {-1, 0, 1}", integers(-1, 2)),
        ("integers in ±3", integers(-3, 4)),
        ("concurrent up to 2^-40", from_arrays(concurrent)),
        ("ordinary (2, (80, 80))", from_arrays(_arrays(2, (80, 80)))),
        ("20 layers of 8 on 2 inputs", from_arrays([*deep, (np.ones((1, 8)), np.zeros(1))])),
    ]


# -- other packages --------------------------------------------------------------------------------


def _peers(nets: Path | None, relucent: Path | None) -> list[dict[str, Any]]:
    """Measure refinement region by region in PPL, and relucent where it is installed."""
    from tests.oracles.cells import cells

    rows: list[dict[str, Any]] = []
    for inputs, hidden in [(2, (32, 32, 32)), (4, (16, 16))]:
        network = from_arrays(_arrays(inputs, hidden))
        layers = [(layer.weight.rows(), list(layer.bias.entries())) for layer in network.layers]
        ours = _seconds(partial(canonical_complex, network), 3)
        started = time.process_time()
        regions = len(cells(layers, full_dimensional_only=True))  # type: ignore[arg-type]
        row: dict[str, Any] = {
            "peer": "PPL, region by region",
            "inputs": inputs,
            "hidden": hidden,
            "domain": "R^n",
            "regions": regions,
        }
        rows.append(row | {"ours": ours, "theirs": time.process_time() - started})
        assert regions == canonical_complex(network).num_regions
        print(rows[-1], flush=True)
    if nets is not None and relucent is not None:
        rows.append(_relucent(nets / "arch_single_pendulum.onnx", relucent))
        print(rows[-1], flush=True)
    for row in rows:
        row["ratio"] = row["theirs"] / row["ours"]
    return rows


_RELUCENT = """
import json, sys, time
import torch, relucent, polyrelu
torch.set_num_threads(1)
network = polyrelu.load(sys.argv[1])
layers = []
for number, layer in enumerate(network.layers, 1):
    linear = torch.nn.Linear(layer.weight.ncols, layer.width, dtype=torch.float64)
    linear.weight.data = torch.tensor(layer.weight.to_floats())
    linear.bias.data = torch.tensor(layer.bias.to_floats()[:, 0])
    layers += [linear, torch.nn.ReLU()] if number <= network.num_hidden_layers else [linear]
model = torch.nn.Sequential(*layers)
started = time.perf_counter()
found = relucent.Complex(model)
found.bfs(nworkers=1)
print(json.dumps({"seconds": time.perf_counter() - started, "regions": len(found)}))
"""


def _relucent(file: Path, python: Path) -> dict[str, Any]:
    from polyrelu.formats import load

    network = load(str(file))
    ours = _seconds(partial(canonical_complex, network), 3)
    done = subprocess.run(
        [str(python), "-c", _RELUCENT, str(file)], check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    row: dict[str, Any] = {
        "peer": "relucent",
        "network": file.name,
        "domain": "R^n",
        "regions": found["regions"],
    }
    return row | {
        "our regions": canonical_complex(network).num_regions,
        "ours": ours,
        "theirs": found["seconds"],
    }


def _plot(growth: dict[str, Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for inputs, part in growth.items():
        cells = [point["cells"] for point in part["points"]]
        seconds = [point["seconds"] for point in part["points"]]
        axes.loglog(cells, seconds, "o-", label=f"d = {inputs}, slope {part['slope']:.2f}")
    axes.set_xlabel("cells of all dimensions")
    axes.set_ylabel("CPU seconds, one thread")
    axes.set_title("Exact complex of two hidden layers on a box")
    axes.legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "complex_growth.png", dpi=120)


if __name__ == "__main__":
    main()
