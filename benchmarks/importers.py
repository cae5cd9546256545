"""Reading networks: its time beside onnxruntime, the sharpness of rounding bounds, random graphs.

    python -m benchmarks.importers [--nets DIR] [--graphs 3000]

* Every readable ONNX file of a folder, and perceptrons made here: CPU seconds of reading it
exactly,
  without and with the comparison, beside an onnxruntime session and one run in floats, in the same
  process.
* For the same networks: the proved bound of a float32 runtime's rounding error on a box, beside the
  largest difference between onnxruntime and exact arithmetic at random points and corners of the
  box.
* Random graphs of many operations: every value is within its bound, or the graph is counted.

The folder is by default the folder `nets` in the folder that POLYRELU_SHARED names.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from benchmarks.reporting import RESULTS, write_results
from polyrelu.errors import NetworkFileError
from polyrelu.exact import num_stored
from polyrelu.formats import Imported, read, runtime_error
from tests.generators.files import NETS
from tests.generators.onnx_files import constant, model, node, session_of
from tests.generators.random_onnx import random_graph

_WIDTHS = ((8, 16, 16, 2), (8, 64, 64, 2), (64, 128, 128, 10), (256, 256, 256, 256, 10))


def main() -> None:
    """Measure, write results/importers.json and results/rounding_bounds.png."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nets", default=str(NETS))
    parser.add_argument("--graphs", type=int, default=3000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        files = [*_perceptrons(Path(name)), *sorted(Path(options.nets).rglob("*.onnx"))]
        measured = [found for found in map(_measure, files) if found]
        graphs = _campaign(Path(name), options.graphs)
    ratios = {
        f"{key} beside onnxruntime: {what}": round(
            function([m[key] / m["onnxruntime"] for m in measured]), 2
        )
        for key in ("read", "read and compare")
        for what, function in (("geometric mean", statistics.geometric_mean), ("worst", max))
    }
    write_results("importers", {"networks": measured, "ratios": ratios, "random graphs": graphs})
    _plot(measured)


def _perceptrons(folder: Path) -> Iterator[Path]:
    """Write Gaussian perceptrons with float32 weights of the usual size."""
    generator = np.random.default_rng(0)
    for widths in _WIDTHS:
        nodes, constants, last = [], [], "x"
        for i, (n, m) in enumerate(pairwise(widths)):
            constants += [
                constant(f"w{i}", generator.normal(size=(m, n)) / math.sqrt(n)),
                constant(f"b{i}", generator.normal(size=m)),
            ]
            output = "y" if i == len(widths) - 2 else f"h{i}"
            nodes.append(node("Gemm", [last, f"w{i}", f"b{i}"], output, transB=1))
            if output != "y":
                nodes.append(node("Relu", [output], f"r{i}"))
                last = f"r{i}"
        path = folder / f"{'-'.join(map(str, widths))}.onnx"
        path.write_bytes(model(nodes, constants, (1, widths[0])))
        yield path


def _measure(path: Path) -> dict[str, Any] | None:
    try:
        imported = read(path)
    except NetworkFileError:
        return None
    if not imported.comparison.runtime:
        return None
    session = session_of(path.read_bytes())
    entries = session.get_inputs()
    if len(entries) != 1:
        return None
    shape = [size if isinstance(size, int) else 1 for size in entries[0].shape]
    found = {
        "network": path.name,
        "widths": list(imported.network.widths),
        "onnxruntime": _seconds(lambda: _run_once(path, shape)),
        "read": _seconds(lambda: read(path, compare=False)),
        "read and compare": _seconds(lambda: read(path)),
        "share of the bound used at import": round(imported.comparison.worst, 3),
        **_rounding(imported, session, shape),
    }
    print(found["network"], found["bound"], found["observed"], flush=True)
    return found


def _seconds(call: Callable[[], object]) -> float:
    """Return CPU seconds of a call, the least of three."""
    times = []
    for _ in range(3):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return round(min(times), 4)


def _run_once(path: Path, shape: list[int]) -> None:
    session = session_of(path.read_bytes())
    session.run(None, {session.get_inputs()[0].name: np.zeros(shape, np.float32)})


def _rounding(imported: Imported, session: Any, shape: list[int]) -> dict[str, Any]:
    """Return the bound on [0, 1]^n, and the largest difference observed there."""
    network, generator = imported.network, np.random.default_rng(1)
    bound = runtime_error(imported, ([0] * network.num_inputs, [1] * network.num_inputs)).worst
    stored = sum(num_stored(block.entries) for layer in network.layers for block in layer.blocks)
    count = 200 if network.num_inputs < 1000 and stored < 10**6 else 20
    count = count if stored < 10**7 else 4
    points = generator.random((count, network.num_inputs)).astype(np.float32)
    points[: count // 4] = generator.integers(0, 2, (count // 4, network.num_inputs))
    exact = network.evaluate([[Fraction(float(v)) for v in x] for x in points])
    name, observed = session.get_inputs()[0].name, 0.0
    for x, values in zip(points, exact, strict=True):
        theirs = np.concatenate(
            [part.ravel() for part in session.run(None, {name: x.reshape(shape)})]
        )
        observed = max(
            observed,
            *(abs(float(Fraction(float(v)) - w)) for v, w in zip(theirs, values, strict=True)),
        )
    return {"bound": None if bound is None else float(bound), "observed": observed}


def _campaign(folder: Path, count: int) -> dict[str, Any]:
    """Count random graphs that were compared, disagreed, or were refused.

    A graph is refused if it divides by a weight that is 0.
    """
    found: dict[str, Any] = {
        "graphs": count,
        "compared": 0,
        "refused": 0,
        "disagree": [],
        "largest share": 0.0,
    }
    for seed in range(count):
        path = folder / "net.onnx"
        path.write_bytes(random_graph(seed))
        try:
            comparison = read(path).comparison
        except NetworkFileError as error:
            if "by a constant that is 0" in str(error):
                found["refused"] += 1
            else:
                found["disagree"].append([seed, str(error)])
            continue
        found["compared"] += bool(comparison.runtime)
        found["largest share"] = max(found["largest share"], comparison.worst)
    return {**found, "onnxruntime": onnxruntime.__version__}


def _plot(measured: list[dict[str, Any]]) -> None:
    import matplotlib.pyplot as plt

    shown = [m for m in measured if m["bound"] and m["observed"]]
    bounds, observed = [m["bound"] for m in shown], [m["observed"] for m in shown]
    depth = [len(m["widths"]) - 1 for m in shown]
    figure, axes = plt.subplots(figsize=(7, 5))
    points = axes.scatter(
        observed, bounds, c=depth, cmap="viridis", edgecolor="black", linewidth=0.4
    )
    limits = (min(observed) / 2, max(bounds) * 2)
    axes.plot(limits, limits, color="gray", linewidth=1, label="bound = observed")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="largest difference observed (onnxruntime, float32, [0, 1]^n)",
    )
    axes.set(
        ylabel="proved bound on the same box",
        title="Rounding error of a float runtime: proved and observed",
    )
    figure.colorbar(points, label="affine layers")
    axes.legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "rounding_bounds.png", dpi=120)


if __name__ == "__main__":
    main()
