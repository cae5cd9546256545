"""CPU time of pictures and reports, each by its command in a process of its own.

    POLYRELU_SHARED=FOLDER python -m benchmarks.pictures_and_reports [--case NAME]...

The networks and the MNIST images are in the folders `nets` and `data` of the folder that
POLYRELU_SHARED names. `bunny` is a signed distance function of two inputs with four hidden layers
of 32 neurons, drawn layer by layer; `slice` are the neurons of an MNIST classifier with 784 inputs
on the plane through three test images. The reports have no options but the domain. A process has
one thread and no limits, and its time includes the start of Python and all imports. Cases that are
not run keep their last results.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.digit_networks import load_digits
from benchmarks.reporting import RESULTS, cpu_seconds, write_results

#: A command for each case; `{folder}` is where it writes.
CASES = {
    "bunny": ("plot", "sdf_bunny_2d_4x32.bin", "--box", "-1,1", "-o", "{folder}/bunny.png"),
    "slice": (
        *("plot", "mnist_256x2.onnx", "--domain", "slice:{folder}/slice.json"),
        *("--box=-1/2,3/2", "-o", "{folder}/slice.png"),
    ),
    "report on ACAS Xu 1-1": (
        *("report", "acasxu_1_1_marabou.onnx", "--domain", "box:-1/2,1/2"),
        *("-o", "{folder}/acas.html"),
    ),
    "report on MNIST 784-256-256-10": (
        *("report", "mnist_256x2.onnx", "-o", "{folder}/mnist.html"),
    ),
    "report on MNIST 784-256-256-10, box:0,1": (
        *("report", "mnist_256x2.onnx", "--domain", "box:0,1", "-o", "{folder}/box.html"),
    ),
}  # fmt: skip


def main() -> None:
    """Run the cases and write results/pictures_and_reports.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--case", choices=list(CASES), action="append")
    options = parser.parse_args()
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    path = RESULTS / "pictures_and_reports.json"
    found = json.loads(path.read_text())["cases"] if path.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        _write_slice(Path(folder, "slice.json"))
        for name in options.case or CASES:
            found[name] = _row(CASES[name], Path(folder))
            print(name, found[name], flush=True)
            cases = {key: found[key] for key in CASES if key in found}
            write_results("pictures_and_reports", {"cases": cases}, is_shown=False)


def _write_slice(path: Path) -> None:
    """Write the plane through three test images, and a square in it."""
    _, test = load_digits()
    points = [[float(pixel) for pixel in test.images[k]] for k in range(3)]
    path.write_text(json.dumps({"points": points, "range": [["-1/2", "3/2"]] * 2}))


def _row(command: tuple[str, ...], folder: Path) -> dict[str, object]:
    """Measure one command."""
    name, file, *rest = (part.format(folder=folder) for part in command)
    network = Path(os.environ["POLYRELU_SHARED"], "nets", file)
    allowed = (0, 1, 3)  # a report may be undecided
    seconds = cpu_seconds(["-m", "polyrelu", name, str(network), *rest], allowed)
    output = Path(rest[-1])
    if not output.exists():
        sys.exit(f"{name}: no {output}")
    return {"file": file, "seconds": round(seconds, 1), "kilobytes": output.stat().st_size // 1024}


if __name__ == "__main__":
    main()
