"""Costs of the main task: prove a network identifiable, and check the certificate.

    python -m benchmarks.identify_mnist [--network FILE]

The script measures CPU seconds and sizes for a trained network, by default `mnist_256x2.onnx` in
the folder `nets` of the folder that POLYRELU_SHARED names, and their growth with the width. The
growth part needs no file: it uses random float32 networks 2w-w-w-10. Every time is user plus system
time of a fresh process.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reporting import RESULTS, cpu_seconds, write_results
from tests.generators.files import NETS

WIDTHS = (16, 32, 64, 128, 256)
CHECKER = ["-I", "-S", str(Path("polyrelu/checker.py"))]


def main() -> None:
    """Measure, write results/identify_mnist.json and results/identify_growth.png."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--network", default=str(NETS / "mnist_256x2.onnx"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results: dict[str, Any] = {"start": _start(folder)}
        if Path(options.network).exists():
            results["network"] = {
                "file": Path(options.network).name,
                **_measure(options.network, folder),
            }
        results["growth"] = [_grown(width, folder) for width in WIDTHS]
    results["exponents"] = {key: _exponent(results["growth"], key) for key in ("identify", "check")}
    write_results("identify_mnist", results)
    _plot(results["growth"])


def _start(folder: Path) -> dict[str, float]:
    """Measure the start of the command line, and the check of a small certificate."""
    certificate = str(folder / "small.json")
    cpu_seconds(["-m", "polyrelu", "identify", "example:digits", "-o", certificate])
    return {
        "help": round(min(cpu_seconds(["-m", "polyrelu", "--help"]) for _ in range(3)), 3),
        "check a small certificate": round(
            min(cpu_seconds(["-m", "polyrelu", "check", certificate]) for _ in range(3)), 3
        ),
    }


def _measure(network: str, folder: Path) -> dict[str, float]:
    certificate = folder / f"{Path(network).stem}.cert.json"
    identify = min(
        cpu_seconds(["-m", "polyrelu", "identify", network, "-o", str(certificate)])
        for _ in range(3)
    )
    check = min(cpu_seconds([*CHECKER, str(certificate)]) for _ in range(3))
    beside = sum(
        path.stat().st_size for path in folder.glob(f"{Path(network).stem}.cert.network.json")
    )
    return {
        "identify": round(identify, 2),
        "check": round(check, 2),
        "certificate bytes": certificate.stat().st_size,
        "network file bytes": beside,
    }


def _grown(width: int, folder: Path) -> dict[str, float]:
    """Measure a random network 2w-w-w-10 of float32 weights."""
    rng = np.random.default_rng(width)
    shapes = [(width, 2 * width), (width, width), (10, width)]
    arrays: dict[str, Any] = {}
    for number, shape in enumerate(shapes, 1):
        arrays[f"W{number}"] = rng.normal(0, 1 / math.sqrt(shape[1]), shape).astype(np.float32)
        arrays[f"b{number}"] = rng.normal(0, 0.1, shape[0]).astype(np.float32)
    path = folder / f"random{width}.npz"
    np.savez(path, **arrays)
    return {"width": width, **_measure(str(path), folder)}


def _exponent(rows: list[dict[str, float]], key: str) -> float:
    """Return the slope between the last two widths, where process start no longer counts."""
    (a, b) = rows[-2:]
    return round(math.log(b[key] / a[key]) / math.log(b["width"] / a["width"]), 2)


def _plot(rows: list[dict[str, float]]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5.5, 4), layout="constrained")
    for key, marker in (("identify", "o"), ("check", "s")):
        axes.loglog(
            [row["width"] for row in rows], [row[key] for row in rows], marker=marker, label=key
        )
    axes.set_xlabel("width w of both hidden layers (network 2w-w-w-10)")
    axes.set_ylabel("CPU seconds of a fresh process")
    axes.set_xticks([row["width"] for row in rows], [str(row["width"]) for row in rows])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend()
    axes.set_title("Theorem P: proving and checking identifiability")
    figure.savefig(RESULTS / "identify_growth.png", dpi=120)


if __name__ == "__main__":
    main()
