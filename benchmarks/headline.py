"""The times in the table at the end of README.md, measured by one script in one run.

    python -m benchmarks.headline [--yardsticks DIR] [--part NAME]...

The script runs other benchmarks one after the other, each in a process of its own, on one thread
and without limits, and makes rows of what they write to `results/`. Complexes are computed in
numpy, but for the second run of `complex_grid`, which has the compiled core. Times are CPU seconds.
It needs what its parts need: `mnist_256x2.onnx` in the folder `nets` of the folder that
POLYRELU_SHARED names, the folder of `float_lattice.py` for the ratio to plain floats, and z3.
`--part` leaves parts out, and the rows of these.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.reporting import RESULTS, write_results

#: The environment of all parts.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
#: The scripts, with their arguments and the engine of complexes.
PARTS = {
    "identify_mnist": ("identify_mnist", (), "numpy"),
    "complex_grid, numpy": ("complex_grid", ("--part", "grid"), "numpy"),
    "complex_grid, compiled": ("complex_grid", ("--part", "grid"), "compiled"),
    "weights": ("weights", ("--part", "exact"), "numpy"),
    "equivalence": ("equivalence", ("--part", "speed"), "numpy"),
}
#: The network of the row on gradient jumps, and the shape of the row beside z3.
NETWORK, SHAPE = "2-256-256-1", "4-2x16"


def main() -> None:
    """Run the parts, write results/headline.json, and print the rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--yardsticks", type=Path, help="folder with float_lattice.py")
    parser.add_argument("--part", choices=list(PARTS), action="append")
    options = parser.parse_args()
    parts = options.part or list(PARTS)
    loads, rows = [_load()], {}
    for part in parts:
        script, arguments, engine = PARTS[part]
        if script in ("complex_grid", "weights") and options.yardsticks:
            arguments = (*arguments, "--yardsticks", str(options.yardsticks))
        command = [sys.executable, "-m", f"benchmarks.{script}", *arguments]
        environment = os.environ | ENVIRONMENT | {"POLYRELU_ENGINE": engine}
        subprocess.run(command, check=True, env=environment)
        title, answer = ROWS[script](_results(script))
        rows[f"{title} ({engine})" if script == "complex_grid" else title] = answer
        loads.append(_load())
    write_results("headline", {"parts": parts, "rows": rows, "load averages": loads})
    for title, answer in rows.items():
        print(f"| {title} | {answer} |")


def _results(script: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{script}.json").read_text())
    return found


def _load() -> float:
    """The number of processes that want to run, in the mean of the last minute."""
    return round(os.getloadavg()[0], 1)


def _mnist(found: dict[str, Any]) -> tuple[str, str]:
    network = found["network"]
    title = "MNIST classifier 784-256-256-10: identifiability proved, checked"
    return title, f"{network['identify']:.1f} s, {network['check']:.1f} s"


def _cells(found: dict[str, Any]) -> tuple[str, str]:
    mean = found["grid"]["geometric mean without (2, (256, 256))"]
    title = (
        "all cells of eleven networks, exactly: time, divided by the time of a program in plain "
        "floats"
    )
    return title, f"{mean:.2f} (geometric mean)"


def _jumps(found: dict[str, Any]) -> tuple[str, str]:
    seconds = found["exact"]["networks"][NETWORK]["seconds"]
    title = f"a network {NETWORK}: all cells; exact gradient jumps at its facets; their balance"
    return title, (
        f"{seconds['complex']:.1f} s; {seconds['weights']:.2f} s; {seconds['balancing']:.2f} s"
    )


def _pairs(found: dict[str, Any]) -> tuple[str, str]:
    (row,) = (row for row in found["summary"] if row["shape"] == SHAPE)
    title = "proving two networks with 4 inputs and two hidden layers of 16 equal, beside z3"
    return title, f"at least {int(row['least_ratio'])} times as fast"


#: The row of each script.
ROWS: dict[str, Callable[[dict[str, Any]], tuple[str, str]]] = {
    "identify_mnist": _mnist,
    "complex_grid": _cells,
    "weights": _jumps,
    "equivalence": _pairs,
}


if __name__ == "__main__":
    main()
