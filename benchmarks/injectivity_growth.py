"""Growth of proofs that a layer is injective, and of their checks.

    python -m benchmarks.injectivity_growth [--sizes 2 3 4 5 6 7 8 10]

CPU seconds, nodes and bytes of the certificate against n for Gaussian layers with m = 5n, 7n and 9n
rows, medians of three draws; and structured layers [B; -DB; as many rows again as B has], shuffled.
"""

from __future__ import annotations

import argparse
import json
import time
from statistics import median
from typing import Any

import numpy as np

import polyrelu
from benchmarks.injectivity_draws import gaussian
from benchmarks.reporting import RESULTS, write_results
from polyrelu import checker
from polyrelu.outcomes import Injective, NotInjective

Record = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2, 3, 4, 5, 6, 7, 8, 10])
    sizes = parser.parse_args().sizes
    growth = [_growth(n, factor) for factor in (5, 7, 9) for n in sizes]
    structured_layers = [_structured(n) for n in (5, 10, 20)]
    write_results("injectivity_growth", {"growth": growth, "structured": structured_layers})
    _plot_growth(growth)


def structured(n: int) -> polyrelu.Network:
    """[B; -DB] and as many rows again as B has, shuffled; D has powers of two."""
    random = np.random.default_rng(n)
    basis, more = random.standard_normal((n, n)), random.standard_normal((n, n))
    scale = 2.0 ** random.integers(-2, 3, n)
    rows = np.vstack([basis, -scale[:, None] * basis, more])
    rows = rows[random.permutation(len(rows))]
    return polyrelu.from_arrays([(rows, np.zeros(len(rows)))], last="relu")


def _measured(network: polyrelu.Network) -> Record:
    """One decision and its check."""
    started = time.process_time()
    outcome = polyrelu.injective(network, budget=None)
    seconds = time.process_time() - started
    assert isinstance(outcome, Injective | NotInjective)
    document, _ = outcome.certificate.to_document()
    data = json.dumps(document).encode()
    started = time.process_time()
    assert checker.check_bytes(data).verdict == "accepted"
    return {
        "status": outcome.status,
        "seconds": seconds,
        "check_seconds": time.process_time() - started,
        "bytes": len(data),
        "nodes": outcome.search.num_nodes,
    }


def _growth(n: int, factor: int) -> Record:
    """Medians of three draws."""
    found = [_measured(gaussian(n, factor * n, 1000 + seed)) for seed in range(3)]
    record: Record = {"n": n, "m": factor * n, "statuses": [entry["status"] for entry in found]}
    for key in ("seconds", "check_seconds", "bytes", "nodes"):
        record[key] = round(median(entry[key] for entry in found), 4)
    print(record, flush=True)
    return record


def _structured(n: int) -> Record:
    record = {"n": n, "m": 3 * n, **_measured(structured(n))}
    print(record, flush=True)
    return record


def _plot_growth(growth: list[Record]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharex=True)
    for axis, keys, label, least in (
        (axes[0], ("seconds", "check_seconds"), "CPU seconds (median of 3)", 1e-3),
        (axes[1], ("nodes",), "nodes (median of 3)", 1),
    ):
        for k, factor in enumerate((5, 7, 9)):
            own = [record for record in growth if record["m"] == factor * record["n"]]
            for key, style in zip(keys, ("o-", "s--"), strict=False):
                values = [max(record[key], least) for record in own]
                name = f"m = {factor}n" + (", check" if key == "check_seconds" else "")
                axis.semilogy(
                    [record["n"] for record in own],
                    values,
                    style,
                    color=f"C{k}",
                    markersize=4,
                    label=name,
                )
        axis.set(xlabel="n", ylabel=label)
        axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(RESULTS / "injectivity_growth.png", dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
