"""Networks that hide cliques: growth of the time to decide whether they are 0.

    python -m benchmarks.hard_instances [--sizes 2 3 4]

`polyrelu.equivalent` decides whether the network of a graph with k classes of n vertices is 0
everywhere, that is, whether the graph has no clique with a vertex of each class (the three-layer
paper, appendix G.4). CPU seconds against n, beside the seconds of trying all n^k choices of
vertices; medians of three random graphs of density 1/2, and of three from which one edge of every
clique was taken. Every answer is compared with the search for a clique.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations
from statistics import median
from typing import Any

import polyrelu
from benchmarks.reporting import write_results
from polyrelu.foldsets import CliqueInstance, clique_instance, random_clique_instance

#: Work for one decision, in the units of budgets.
BUDGET = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2, 3, 4])
    sizes = parser.parse_args().sizes
    growth = [_measured(k, n, is_free) for k in (2, 3) for n in sizes for is_free in (False, True)]
    write_results("hard_instances", {"growth": growth})


def without_cliques(instance: CliqueInstance) -> CliqueInstance:
    """The instance after an edge was taken from every clique, one after the other."""
    while (clique := instance.clique) is not None:
        c, d = next(combinations(range(instance.num_classes), 2))
        edges = instance.edges - {((c, clique[c]), (d, clique[d]))}
        instance = clique_instance(instance.num_classes, instance.class_size, edges)
    return instance


def _measured(k: int, n: int, is_free: bool) -> dict[str, Any]:
    """Medians of three instances."""
    seconds, tried, statuses = [], [], []
    for seed in range(3):
        instance = random_clique_instance(k, n, 0.5, seed=seed)
        if is_free:
            instance = without_cliques(instance)
        zero = polyrelu.from_arrays([([[0] * k], [0])])
        started = time.process_time()
        clique = instance.clique
        tried.append(time.process_time() - started)
        started = time.process_time()
        answer = polyrelu.equivalent(instance.network, zero, budget=BUDGET)
        seconds.append(time.process_time() - started)
        assert answer.status in ("undecided", "proved" if clique is None else "refuted")
        statuses.append(answer.status)
    record = {
        "classes": k,
        "vertices": n,
        "without cliques": is_free,
        "neurons of layer 1": instance.network.widths[1],
        "statuses": statuses,
        "seconds": round(median(seconds), 3),
        "seconds of trying all": round(median(tried), 6),
    }
    print(record, flush=True)
    return record


if __name__ == "__main__":
    main()
