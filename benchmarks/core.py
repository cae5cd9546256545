"""The compiled core: threads, memory, the cost of proved signs, and other programs.

    python -m benchmarks.core [--part threads|memory|bounds|draft|edges] [--repeat 3]
        [--draft DIR] [--largest]

Networks and domains are those of `benchmarks.engines` (seed 0); the core has one thread where
nothing else is said. Times are CPU seconds, the least of the repetitions, programs by turns.

* threads: one and two threads. On a machine with other work the wall clock says nothing. The CPU
  time of the thread that calls is what the wall clock would show, if the other thread kept up.
* memory: peak of the memory of a process beyond that of a small complex, and bytes of the result;
  `--largest` adds a network with more than 10^8 cells, which takes 8 GB.
* bounds: the core beside one that is compiled without error bounds and without exact signs.
* draft: a draft in C++ that is not part of the project (`core.cpp`, compiled here for this very
  processor), its time without its first cells beside our time for all cuts; needs `--draft`.
* edges: vertices and edges by edge subdivision in float32 (Berzins 2023), as measured when the core
  was planned, on another machine, beside all cells here.

Parts that are not run keep their last results.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.complex_grid import _arrays, _box
from benchmarks.engines import _cuts_timed
from benchmarks.reporting import RESULTS, draw_bars, write_results
from polyrelu._core import THREADS_VARIABLE, VARIABLE
from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.network import from_arrays

Shape = tuple[int, tuple[int, ...]]

PARTS = ["threads", "memory", "bounds", "draft", "edges"]
FOR_THREADS: list[Shape] = [(3, (48, 48)), (4, (24, 24)), (5, (16, 16)), (5, (20, 20))]
FOR_MEMORY: list[Shape] = [
    (2, (256, 256)), (2, (512, 512)), (3, (80, 80)), (4, (32, 32)), (5, (20, 20)), (6, (10, 10)),
]  # fmt: skip
LARGEST: Shape = (5, (32, 32))
FOR_BOUNDS: list[Shape] = [
    (2, (64, 64)), (2, (128, 128)), (3, (32, 32)), (4, (16, 16)), (4, (24, 24)), (5, (12, 12)),
]  # fmt: skip
FOR_DRAFT: list[Shape] = [
    (2, (32, 32)), (2, (64, 64)), (2, (128, 128)), (2, (64, 64, 64)), (2, (256, 256)),
    (3, (20, 20)), (3, (32, 32)), (3, (48, 48)), (4, (16, 16)), (4, (24, 24)),
    (5, (12, 12)), (5, (16, 16)), (6, (10, 10)),
]  # fmt: skip
EDGE_SUBDIVISION: dict[Shape, float] = {
    (2, (32, 32)): 38, (2, (64, 64)): 69, (2, (128, 128)): 430,
    (3, (32, 32)): 173, (4, (16, 16)): 39, (5, (12, 12)): 98,
}  # fmt: skip
"""Milliseconds of edge subdivision."""


def main() -> None:
    """Run the chosen parts and write results/core.json and its plot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--draft", type=Path, help="folder with core.cpp, ccore3.py and lat2.py")
    parser.add_argument("--largest", action="store_true")
    options = parser.parse_args()
    _use_compiled_core()
    path = RESULTS / "core.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"seed": 0}
    for part in options.part or PARTS:
        if part == "threads":
            found[part] = [_threads(shape, options.repeat) for shape in FOR_THREADS]
        elif part == "memory":
            shapes = [*FOR_MEMORY, LARGEST] if options.largest else FOR_MEMORY
            found[part] = [_in_new_process(f"b.print_memory({shape})") for shape in shapes]
        elif part == "bounds":
            found[part] = _bounds(options.repeat)
        elif part == "draft" and options.draft is not None:
            found[part] = _draft(options.draft, options.repeat)
        elif part == "edges":
            found[part] = [_edges(shape, options.repeat) for shape in EDGE_SUBDIVISION]
        write_results("core", found)
    if "draft" in found:
        _plot(found["draft"]["rows"])


def _use_compiled_core() -> None:
    """Start the process again if numpy may use more than one thread."""
    os.environ |= {VARIABLE: "compiled", THREADS_VARIABLE: "1"}
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.core", *sys.argv[1:]])


def _computed(shape: Shape) -> PolyhedralComplex:
    return canonical_complex(from_arrays(_arrays(*shape)), _box(shape[0]))


def _row(shape: Shape, cells: PolyhedralComplex) -> dict[str, Any]:
    return {"inputs": shape[0], "hidden": shape[1], "cells": len(cells)}


# -- threads ---------------------------------------------------------------------------------------


def _threads(shape: Shape, repeat: int) -> dict[str, Any]:
    """Compare one thread with two."""
    times: dict[int, list[tuple[float, float, float]]] = {1: [], 2: []}
    digests = set()
    for _ in range(repeat):
        for count, measured in times.items():
            os.environ[THREADS_VARIABLE] = str(count)
            started = time.thread_time(), time.process_time(), time.perf_counter()
            cells = _computed(shape)
            ended = time.thread_time(), time.process_time(), time.perf_counter()
            measured.append(tuple(b - a for a, b in zip(started, ended, strict=True)))  # type: ignore[arg-type]
            digests.add(_digest(cells))
    os.environ[THREADS_VARIABLE] = "1"
    assert len(digests) == 1
    row = _row(shape, cells)
    for count, measured in times.items():
        names = "calling thread", "all threads", "wall clock"
        for name, seconds in zip(names, zip(*measured, strict=True), strict=True):
            row[f"{count}: {name}, ms"] = round(1e3 * min(seconds), 1)
    ratio = row["1: calling thread, ms"] / row["2: calling thread, ms"]
    row["times as fast, if the other thread keeps up"] = round(ratio, 2)
    row["load of the machine"] = round(os.getloadavg()[0], 1)
    return row


def _digest(cells: PolyhedralComplex) -> str:
    """Return a digest of the arrays that the core hands over."""
    arrays, digest = cells._arrays, hashlib.sha256()
    parts = [arrays.lattice.edges.rows, arrays.vertices.coordinates.rows, arrays.facet_forms]
    for lists in arrays.lattice.facets[2:]:
        parts += [lists.heap.rows, lists.counts.rows, lists.starts.rows]
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


# -- memory ----------------------------------------------------------------------------------------


def _in_new_process(statement: str, folder: Path | None = None) -> Any:
    """Run a statement about this module `b` in a new process, and read the JSON that it prints."""
    code = f"import benchmarks.core as b; {statement}"
    place = str(folder or Path(__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=place,
        env=os.environ | {"PYTHONPATH": place},
    )
    return json.loads(done.stdout)


def print_memory(shape: Shape) -> None:
    """Print how much memory a complex takes."""
    _computed((2, (4, 4)))
    before = _peak()
    started = time.process_time()
    cells = _computed(shape)
    seconds = time.process_time() - started
    peak = _peak()
    row = _row(shape, cells)
    row["peak, bytes per cell"] = round(1024 * (peak - before) / row["cells"], 1)
    row["result, bytes per cell"] = round(cells.nbytes / row["cells"], 1)
    row["peak, MB"] = peak // 1024
    row["seconds"] = round(seconds, 2)
    print(json.dumps(row))


def _peak() -> int:
    """The most memory that the process has used, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


# -- the cost of proved signs ----------------------------------------------------------------------


def _bounds(repeat: int) -> dict[str, Any]:
    """Compare the core with one without error bounds."""
    here = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("polyrelu", "benchmarks"):
            ignored = shutil.ignore_patterns("*.so", "__pycache__", "results")
            shutil.copytree(here / part, folder / part, ignore=ignored)
        shutil.copy(here / "setup.py", folder)
        flags = {"CXXFLAGS": "-DPOLYRELU_WITHOUT_BOUNDS", "CFLAGS": "-DPOLYRELU_WITHOUT_BOUNDS"}
        subprocess.run(
            [sys.executable, "setup.py", "build_ext", "--inplace"],
            check=True,
            capture_output=True,
            cwd=folder,
            env=os.environ | flags,
        )
        times: dict[Path, list[list[float]]] = {here: [], folder: []}
        for _ in range(2 * repeat):
            for place, measured in times.items():
                measured.append(_in_new_process("b.print_cuts()", place))
    rows = []
    for number, (inputs, hidden) in enumerate(FOR_BOUNDS):
        ours, without = (min(run[number] for run in times[place]) for place in times)
        row: dict[str, Any] = {"inputs": inputs, "hidden": hidden}
        row |= {"ms": round(1e3 * ours, 3), "without bounds, ms": round(1e3 * without, 3)}
        row["bounds cost"] = f"{100 * (ours / without - 1):.1f} %"
        rows.append(row)
    ratios = [row["ms"] / row["without bounds, ms"] for row in rows]
    return {"rows": rows, "bounds cost, geometric mean": f"{100 * (_mean(ratios) - 1):.1f} %"}


def print_cuts() -> None:
    """Print the least CPU seconds of all cuts of some networks."""
    print(json.dumps([_seconds_of_cuts(shape, 8) for shape in FOR_BOUNDS]))


def _seconds_of_cuts(shape: Shape, repeat: int) -> float:
    network, box, found = from_arrays(_arrays(*shape)), _box(shape[0]), []
    for _ in range(repeat):
        with _cuts_timed() as seconds:
            canonical_complex(network, box)
        found.append(seconds[0])
    return min(found)


# -- other programs --------------------------------------------------------------------------------


def _draft(folder: Path, repeat: int) -> dict[str, Any]:
    """Compare with the draft, which gets the same weights as integers over 1024."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "draft"
        shutil.copytree(folder, place)
        command = "g++ -O3 -march=native -shared -fPIC -std=c++17 core.cpp -o libpoly3.so"
        subprocess.run(command.split(), check=True, capture_output=True, cwd=place)
        sys.path.insert(0, str(place))
        draft: Any = importlib.import_module("ccore3")
        numbers = importlib.import_module("lat2")
        draft.lib.tune()
        draft.lib = timed = _TimedLibrary(draft.lib)
        rows = []
        for shape in FOR_DRAFT:
            layers = [
                [np.rint(part * 1024).astype(np.int64) for part in layer]
                for layer in _arrays(*shape)[:-1]
            ]
            theirs, ours = [], []
            for _ in range(repeat * (8 if shape[0] == 2 else 1)):
                network = numbers.Net([w for w, _ in layers], [b for _, b in layers], 1024)
                counts, _ = draft.core(network, "box", 1)
                theirs.append(timed.seconds)
                ours.append(_seconds_of_cuts(shape, 1))
            row: dict[str, Any] = {"inputs": shape[0], "hidden": shape[1], "cells": sum(counts)}
            row |= {"ours, ms": round(1e3 * min(ours), 3), "draft, ms": round(1e3 * min(theirs), 3)}
            row["ours, ns per cell"] = round(1e9 * min(ours) / row["cells"])
            row["draft, ns per cell"] = round(1e9 * min(theirs) / row["cells"])
            row["times as fast"] = round(min(theirs) / min(ours), 2)
            rows.append(row)
            print(row, flush=True)
    return {"rows": rows, "geometric mean": round(_mean([row["times as fast"] for row in rows]), 2)}


class _TimedLibrary:
    """The draft's library; `seconds` is the CPU time of its last run."""

    def __init__(self, library: Any) -> None:
        self._library, self.seconds = library, 0.0

    def core_run(self, *arguments: Any) -> None:
        """Run the draft; its own clock measures the time of the machine."""
        started = time.process_time()
        self._library.core_run(*arguments)
        self.seconds = time.process_time() - started


def _edges(shape: Shape, repeat: int) -> dict[str, Any]:
    """Compare all cells with what edge subdivision took for vertices and edges."""
    network, box, times = from_arrays(_arrays(*shape)), _box(shape[0]), []
    for _ in range(10 * repeat):
        started = time.process_time()
        cells = canonical_complex(network, box)
        count = len(cells)
        times.append(time.process_time() - started)
    row: dict[str, Any] = {"inputs": shape[0], "hidden": shape[1], "cells": count}
    row["ms"] = round(1e3 * min(times), 3)
    row["edge subdivision, ms"] = EDGE_SUBDIVISION[shape]
    row["times as fast"] = round(EDGE_SUBDIVISION[shape] / (1e3 * min(times)), 1)
    return row


def _mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def _plot(rows: list[dict[str, Any]]) -> None:
    """Draw nanoseconds per cell of the core and of the draft."""
    groups = {
        f"{row['inputs']}-" + "-".join(map(str, row["hidden"])): {
            "polyrelu": row["ours, ns per cell"],
            "draft": row["draft, ns per cell"],
        }
        for row in rows
    }
    draw_bars("core", groups, "ns per cell", "All cuts, one thread, box, certified signs")


if __name__ == "__main__":
    main()
