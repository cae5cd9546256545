"""Costs of a proof for a wide deep network, found by sight.

    python -m benchmarks.sight [--network FILE]

By default the network is `mnist_256x4.onnx` (784-4×256-10, 400,906 parameters) in the folder `nets`
of the folder that POLYRELU_SHARED names. Every time is user plus system time of a fresh process,
with one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.reporting import cpu_seconds, write_results
from tests.generators.files import NETS

CHECKER = ["-I", "-S", str(Path("polyrelu/checker.py"))]

#: The certificate costs more than the checker allows for its size by default.
CHECK_BUDGET = 10**13

#: `identify` ends with this exit status if it proves a part only, as it may for another network.
UNDECIDED = 3


def main() -> None:
    """Measure, and write results/sight.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--network", default=str(NETS / "mnist_256x4.onnx"))
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as name:
        write_results("sight", measured(options.network, Path(name) / "cert.json"))


def measured(network: str, certificate: Path) -> dict[str, Any]:
    """Measure `identify` and `check`, and count what the certificate lists."""
    command = ["-m", "polyrelu", "identify", network, "-o", str(certificate)]
    identify = cpu_seconds(command, (0, UNDECIDED))
    check = cpu_seconds([*CHECKER, "--budget", str(CHECK_BUDGET), str(certificate)])
    document = json.loads(certificate.read_text())
    slices = document["proof"]["hypotheses"][0]["evidence"]["slices"]
    claim = {
        key: document["claim"][key]
        for key in ("kind", "among", "layers", "neurons")
        if key in document["claim"]
    }
    return {
        "network": Path(network).name,
        "identify": round(identify, 1),
        "check": round(check, 1),
        "certificate bytes": certificate.stat().st_size,
        "claim": claim,
        "planes": len(slices),
        "ridges": sum(len(entry["ridges"]) for entry in slices),
    }


if __name__ == "__main__":
    main()
