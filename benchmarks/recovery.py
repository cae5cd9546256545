"""Recovery of random rational networks: how many, from how many values, and by which algorithm.

    python -m benchmarks.recovery [--networks 50] [--floats 10] [--part shallow] [--part deep]

Networks with entries p/q, |p| ≤ 100, 1 ≤ q ≤ 10, at fixed seeds. For each shape: how many are
recovered with their parameters, how many as a function only and what is missing, how many not, and
the number of values that were asked for beside the number of parameters. Beside them, on the first
networks of each shape: this search with values in float64; the algorithm of Rolnick and Kording in
float64 (`rolnick_kording`); and for one hidden layer the size of the teaching set. In the plot a
point is a network. Part `deep` has networks with three and four hidden layers, of which layer 1 is
looked for: how many of its hyperplanes are found, how many that are none of it, and for how many
networks the equations for their sides have one solution. Times are CPU seconds. A part that is not
run keeps its last results.
"""

from __future__ import annotations

import argparse
import json
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
#: Shapes of which layer 1 is recovered, and the number of networks of each.
DEEP, NUM_DEEP = ((2, 4, 3, 2, 1), (2, 4, 4, 4, 1), (3, 4, 4, 4, 2), (2, 5, 4, 3, 3, 1)), 10
#: The limits on values for each network.
MAX_QUERIES, MAX_DEEP_QUERIES = 30_000, 4_000


#: The limits on values in float64, of this search and of the baseline.
MAX_FLOAT_QUERIES, MAX_BASELINE_QUERIES = 10_000, 60_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=50)
    parser.add_argument("--floats", type=int, default=10, help="of these shapes and all others")
    parser.add_argument("--part", choices=("shallow", "deep"), action="append")
    options = parser.parse_args()
    path = RESULTS / "recovery.json"
    found: Record = json.loads(path.read_text()) if path.exists() else {}
    for part in options.part or ("shallow", "deep"):
        if part == "shallow":
            found["shapes"] = _shallow(options)
        else:
            found["deep"] = [_deep(widths) for widths in DEEP]
        write_results("recovery", found, is_shown=False)
    _plot(found["shapes"])


def _shallow(options: argparse.Namespace) -> list[Record]:
    """Recover networks with one and two hidden layers."""
    records = list[Record]()
    for widths in (*FIRST, *OTHERS):
        count = options.networks if widths in FIRST else options.floats
        records.append(_shape(widths, count) | _in_floats(widths, options.floats))
        print({k: v for k, v in records[-1].items() if "queries" not in k}, flush=True)
    return records


def _deep(widths: Sequence[int]) -> Record:
    """Look for layer 1 of networks of one shape."""
    started, queries = time.process_time(), list[int]()
    right = wrong = complete = solved = agree = whole = 0
    for seed in range(NUM_DEEP):
        found = polyrelu.recover(
            random_network(widths, seed), seed=seed, max_queries=MAX_DEEP_QUERIES
        )
        queries.append(found.num_queries)
        whole += found.status == "proved"
        places = found.first_layer or ()
        right += len({number for some in places for number in some})
        wrong += sum(not some for some in places)
        complete += bool(places) and not found.unseen
        solved += found.has_right_sides is not None
        agree += found.has_right_sides is True
    record = {
        "widths": list(widths),
        "networks": NUM_DEEP,
        "functions of two hidden layers, proved": whole,
        "neurons of layer 1 of the others": (NUM_DEEP - whole) * widths[1],
        "found": right,
        "found, but of later layers": wrong,
        "networks with all": complete,
        "sides determined": solved,
        "sides determined and right": agree,
        "median_queries": median(queries),
        "seconds": round(time.process_time() - started, 1),
    }
    print(record, flush=True)
    return record


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
