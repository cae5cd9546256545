"""Audits of large lists of regions: CPU time and memory by number of regions, for each form.

    python -m benchmarks.audit [--largest 100000]

Networks have 4 inputs and two hidden layers with Gaussian weights; the domain is [-1, 1]^4. The
lists are the exact answers, rounded to float64, so that every item is right. Each audit runs in a
process of its own, in one thread; CPU times are those of the audit alone, with the exact complex.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

from benchmarks.reporting import RESULTS, write_results

#: Widths of the two hidden layers, and how many regions the networks have.
SIZES = {6: 538, 8: 1_334, 14: 6_342, 20: 41_936, 32: 102_059}
FORMS = ("signs", "points", "maps", "half-spaces", "vertex lists", "vertices")
Record = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=200_000, help="largest number of regions")
    parser.add_argument("--only", nargs=2, metavar=("FORM", "WIDTH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps(_measured(options.only[0], int(options.only[1]))))
        return
    records = []
    for form in FORMS:
        for width, about in SIZES.items():
            if about <= options.largest:
                records.append(_in_process(form, width))
                print(records[-1], flush=True)
    write_results("audit", {"audits": records})
    _plot(records)


def _in_process(form: str, width: int) -> Record:
    """Measure one audit in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.audit", "--only", form, str(width)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    record: Record = json.loads(done.stdout)
    return record


def _network(width: int) -> Any:
    import polyrelu

    draw = random.Random(1)
    layers = []
    for before, after in itertools.pairwise((4, width, width, 1)):
        rows = [[draw.gauss(0, 1) for _ in range(before)] for _ in range(after)]
        layers.append((rows, [draw.gauss(0, 1) for _ in range(after)]))
    return polyrelu.from_arrays(layers)


def _claims(form: str, network: Any) -> Any:
    """Return the exact answer in floats."""
    from polyrelu import audit
    from polyrelu.complex.interior_points import interior_points

    truth = audit.ground_truth(network, "box:-1,1")
    cells = truth.cells
    if form == "signs":
        return audit.SignVectors(truth.region_signs)
    if form == "vertices":
        return truth.vertex_floats
    if form == "vertex lists":
        offsets, entries = truth.vertices_of_regions
        owners = np.repeat(np.arange(cells.num_regions), np.diff(offsets))
        return audit.VertexLists(truth.vertex_floats[entries], owners, cells.num_regions)
    if form == "half-spaces":
        pairs = []
        for number in range(cells.num_regions):
            rows = np.array(cells.region_polyhedron(number).inequalities, dtype=object)
            rows = (rows / np.abs(rows).max(axis=1, keepdims=True)).astype(np.float64)
            pairs.append((rows[:, :-1], rows[:, -1]))
        return audit.HalfSpaces.of(pairs)
    points = np.array([[float(x) for x in point] for point in interior_points(cells)])
    if form == "points":
        return audit.LocalMaps(points)
    denominator, maps = truth.maps
    floats = (maps / denominator).astype(np.float64)
    return audit.LocalMaps(points, floats[:, :, :-1], floats[:, :, -1])


def _measured(form: str, width: int) -> Record:
    """Return CPU time, memory and size of one audit."""
    from polyrelu import audit

    network = _network(width)
    claims = _claims(form, network)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    if form == "vertices":
        report = audit.audit_vertices(network, claims, "box:-1,1")
    else:
        report = audit.audit_regions(network, claims, "box:-1,1")
    seconds = round(time.process_time() - started, 3)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert report.agrees, report
    return {
        "form": form,
        "width": width,
        "items": len(report.verdicts),
        "seconds": seconds,
        "mebibytes": after >> 10,
        "mebibytes_before": before >> 10,
    }


def _plot(records: list[Record]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4))
    for k, form in enumerate(FORMS):
        own = [record for record in records if record["form"] == form]
        items = [record["items"] for record in own]
        style = {"marker": "osv^Dx"[k], "label": form, "linewidth": 1.2}
        left.loglog(items, [record["seconds"] or None for record in own], **style)
        right.loglog(items, [record["mebibytes"] for record in own], **style)
    left.set(xlabel="items in the list", ylabel="CPU seconds, one thread")
    right.set(xlabel="items in the list", ylabel="largest memory of the process, MiB")
    left.axhline(60, color="0.6", linewidth=0.8, linestyle="--")  # a minute
    left.legend(fontsize=8)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(RESULTS / "audit.png", dpi=120)


if __name__ == "__main__":
    main()
