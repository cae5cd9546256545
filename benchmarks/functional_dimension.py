"""Functional dimensions of trained networks: lower bounds from points in cells that lines meet.

    python -m benchmarks.functional_dimension FILE ... [--points 1000] [--domain box:-1,1]

The rank of the Jacobian at the points modulo a prime, beside the number of parameters minus the
number of scaling directions, which no rank exceeds; with CPU seconds for more and more points.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import polyrelu
from benchmarks.reporting import write_results
from polyrelu.foldsets import functional_dimension, points_in_cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--points", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--domain")
    given = parser.parse_args()
    records = [
        _measured(file, count, given.domain) for file in given.files for count in given.points
    ]
    write_results("functional_dimension", {"curve": records})


def _measured(file: str, count: int, domain: str | None) -> dict[str, Any]:
    network = polyrelu.load(file)
    started = time.process_time()
    points = points_in_cells(network, count, domain)
    middle = time.process_time()
    found = functional_dimension(network, domain, points=points)
    record = {
        "network": Path(file).name,
        "points": found.num_places,
        "rank at least": found.lower,
        "rank at most": found.upper,
        "parameters": found.num_parameters,
        "seconds for points": round(middle - started, 2),
        "seconds for ranks": round(time.process_time() - middle, 2),
    }
    print(record, flush=True)
    return record


if __name__ == "__main__":
    main()
