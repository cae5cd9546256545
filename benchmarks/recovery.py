"""Recovery of random rational networks: how many, from how many values, and by which algorithm.

    python -m benchmarks.recovery [--networks 50] [--floats 10]

Networks with entries p/q, |p| ≤ 100, 1 ≤ q ≤ 10, at fixed seeds. For each shape: how many are
recovered with their parameters, how many as a function only and what is missing, how many not, and
the number of values that were asked for beside the number of parameters. Beside them, on the first
networks of each shape: this search with values in float64; the algorithm of Rolnick and Kording in
float64 (`rolnick_kording`); and for one hidden layer the size of the teaching set. In the plot a
point is a network. Times are CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from random import Random
from statistics import median
from typing import Any

import numpy as np

import polyrelu
from benchmarks.reporting import RESULTS, write_results
from benchmarks.rolnick_kording import Array, recover_baseline

Record = dict[str, Any]

#: The shapes of which all networks are recovered; others with one hidden layer, growing.
FIRST = ((2, 4, 1), (3, 5, 2), (2, 4, 3, 1), (3, 4, 4, 2))
OTHERS = ((4, 8, 1), (6, 12, 2), (8, 24, 1), (10, 40, 2))
#: The limit on values for each network.
MAX_QUERIES = 30_000


#: The limits on values in float64, of this search and of the baseline.
MAX_FLOAT_QUERIES, MAX_BASELINE_QUERIES = 10_000, 60_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=50)
    parser.add_argument("--floats", type=int, default=10, help="of these shapes and all others")
    options = parser.parse_args()
    records = list[Record]()
    for widths in (*FIRST, *OTHERS):
        count = options.networks if widths in FIRST else options.floats
        records.append(_shape(widths, count) | _in_floats(widths, options.floats))
        print({k: v for k, v in records[-1].items() if "queries" not in k}, flush=True)
        write_results("recovery", {"shapes": records})
    _plot(records)


def in_floats(network: polyrelu.Network) -> Callable[[Array], Array]:
    """Return a network in float64."""
    depth = len(network.widths) - 1
    layers = [
        (network.weight(k).to_floats(), network.bias(k).to_floats().ravel())
        for k in range(1, depth + 1)
    ]

    def function(x: Array) -> Array:
        for weights, biases in layers[:-1]:
            x = np.maximum(weights @ x + biases, 0)
        return np.asarray(layers[-1][0] @ x + layers[-1][1])

    return function


def _row(function: Callable[[Array], Array], x: Sequence[Fraction]) -> list[float]:
    """Return the outputs at an exact point as a row."""
    return list(function(np.array(x, dtype=float)))


def _in_floats(widths: tuple[int, ...], count: int) -> Record:
    """Recover networks from values in float64, by this search and by the published algorithm."""
    kinds, queries = Counter[str](), dict[str, list[int]]()
    for seed in range(count):
        hidden = random_network(widths, seed)
        function = in_floats(hidden)
        found = polyrelu.recover_function(
            partial(_row, function),
            widths[0],
            relative_error=2.0**-52,
            seed=seed,
            max_queries=MAX_FLOAT_QUERIES,
        )
        kinds["floats"] += found.network is not None
        queries.setdefault("floats", []).append(found.num_queries)
        done, asked = recover_baseline(function, widths, seed, MAX_BASELINE_QUERIES)
        kinds["published"] += done
        queries.setdefault("published", []).append(asked)
        taught = polyrelu.teaching_set(hidden) if len(widths) == 3 else None
        if isinstance(taught, polyrelu.outcomes.TeachingSet):
            queries.setdefault("teaching", []).append(len(taught.points))
    medians = {f"median_queries_{key}": median(numbers) for key, numbers in queries.items()}
    return {"networks_in_floats": count, "recovered": dict(kinds), **medians} | {
        f"queries_{key}": numbers for key, numbers in queries.items()
    }


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
    started = time.process_time()
    for seed in range(count):
        hidden = random_network(widths, seed)
        found = polyrelu.recover(hidden, seed=seed, max_queries=MAX_QUERIES)
        kind = "none" if found.network is None else found.status
        kinds["parameters" if found.has_the_parameters else kind] += 1
        missing.update({_kind_of(text) for text in found.missing})
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
        "seconds": round(time.process_time() - started, 1),
    }
    return record


def _kind_of(text: str) -> str:
    """Return a sentence on what is missing without its numbers."""
    return " ".join(word for word in text.split(":")[0].split() if not word.strip(",").isdigit())


def _plot(records: list[Record]) -> None:
    """Values beside parameters, a point for each network."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    kinds = (
        ("queries", "o", "this search, exact values"),
        ("queries_floats", "s", "this search, float64"),
        ("queries_published", "^", "Rolnick and Kording, float64"),
        ("queries_teaching", "x", "teaching set"),
    )
    for number, (key, marker, label) in enumerate(kinds):
        points = [(record["parameters"], q) for record in records for q in record.get(key, ())]
        shift = 1 + 0.03 * (number - 1.5)
        places = [x * shift for x, _ in points]
        axes.plot(places, [y for _, y in points], marker, alpha=0.4, ms=4, label=label)
    labels = dict[int, str]()  # sizes that are nearly equal have one label
    for record in sorted(records, key=lambda record: record["parameters"]):
        size, name = record["parameters"], "-".join(map(str, record["widths"]))
        near = next((n for n in labels if size < 1.1 * n), size)
        labels[near] = f"{labels[near]}\n{size}: {name}" if near in labels else f"{size}: {name}"
    axes.set(xscale="log", yscale="log", xlabel="parameters: widths", ylabel="values asked for")
    axes.set_xticks(list(labels), list(labels.values()), fontsize=7, minor=False)
    axes.set_xticks([], minor=True)
    axes.legend(fontsize=7)
    figure.savefig(RESULTS / "recovery.png", dpi=120)


if __name__ == "__main__":
    main()
