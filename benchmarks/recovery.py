"""Recovery of random rational networks: how many, and from how many values.

    python -m benchmarks.recovery [--networks 50] [--two-layers 20]

Networks with entries p/q, |p| ≤ 100, 1 ≤ q ≤ 10, at fixed seeds. For each shape: how many are
recovered with their parameters, how many as a function only, and the number of values that were
asked for beside the number of parameters. A point of the plot is a network.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random
from statistics import median
from typing import Any

import polyrelu
from benchmarks.reporting import RESULTS, write_results

Record = dict[str, Any]

#: One hidden layer, growing; then two hidden layers.
SHALLOW = ((2, 4, 1), (3, 5, 2), (4, 8, 1), (6, 12, 2), (8, 24, 1), (10, 40, 2))
TWO_LAYERS = ((2, 4, 3, 1), (3, 4, 4, 2))
#: The limit on values for each network.
MAX_QUERIES = 30_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=50)
    parser.add_argument("--two-layers", type=int, default=20)
    options = parser.parse_args()
    records = [_shape(widths, options.networks) for widths in SHALLOW]
    records += [_shape(widths, options.two_layers) for widths in TWO_LAYERS]
    write_results("recovery", {"shapes": records})
    _plot(records)


def random_network(widths: Sequence[int], seed: int) -> polyrelu.Network:
    """Return a network with random rational entries."""
    rng = Random(seed)

    def number() -> Fraction:
        return Fraction(rng.randint(-100, 100), rng.randint(1, 10))

    return polyrelu.from_arrays(
        [
            ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
            for n, m in pairwise(widths)
        ]
    )


def _shape(widths: Sequence[int], count: int) -> Record:
    """Recover networks of one shape."""
    kinds, queries, missing = Counter[str](), list[int](), Counter[str]()
    for seed in range(count):
        hidden = random_network(widths, seed)
        found = polyrelu.recover(hidden, seed=seed, max_queries=MAX_QUERIES)
        kind = "none" if found.network is None else found.status
        kinds["parameters" if found.has_the_parameters else kind] += 1
        missing.update(text.split(":")[0].split(",")[0] for text in found.missing)
        queries.append(found.num_queries)
    num_parameters = sum((n + 1) * m for n, m in pairwise(widths))
    record: Record = {
        "widths": list(widths),
        "networks": count,
        "parameters": num_parameters,
        "outcomes": dict(kinds),
        "missing": dict(missing),
        "queries": queries,
        "median_queries": median(queries),
        "per_parameter": round(median(queries) / num_parameters, 1),
    }
    print({key: value for key, value in record.items() if key != "queries"}, flush=True)
    return record


def _plot(records: list[Record]) -> None:
    """Values beside parameters, a point for each network."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for record in records:
        is_shallow = len(record["widths"]) == 3
        axes.plot(
            [record["parameters"]] * len(record["queries"]),
            record["queries"],
            "o" if is_shallow else "^",
            alpha=0.4,
            label="-".join(map(str, record["widths"])),
        )
    axes.set(xscale="log", yscale="log", xlabel="number of parameters", ylabel="values asked for")
    axes.set_xticks([20, 50, 100, 200, 500], ["20", "50", "100", "200", "500"], minor=False)
    axes.set_xticks([], minor=True)
    axes.legend(fontsize=7)
    figure.savefig(RESULTS / "recovery.png", dpi=120)


if __name__ == "__main__":
    main()
