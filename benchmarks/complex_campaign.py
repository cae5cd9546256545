"""The complex against brute force on thousands of random networks, most of them degenerate.

    python -m benchmarks.complex_campaign [--count 2000] [--quantised 3000] [--seed 1]
        [--processes 2]

Brute force cuts the domain neuron by neuron in PPL and names every cell by its signs. For each
network all cells and their dimensions are compared, and the results of walking through regions and
of vertices and edges alone are compared with the face lattice. The first part draws from all kinds
of degenerate networks and domains (tests/generators/quantised_networks.py), the second draws
quantised networks on R^n with the architectures on which float tools fail.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from multiprocessing import get_context
from random import Random
from typing import Any

import numpy as np

from benchmarks.reporting import write_results
from polyrelu.complex import canonical_complex, region_graph, skeleton
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays
from tests.generators.quantised_networks import (
    DOMAINS,
    KINDS,
    brute_domain,
    brute_layers,
    dimensions_by_signs,
    quantised_network,
    random_domain,
)
from tests.oracles.cells_on_domain import cells_on_domain

ARCHITECTURES = [(2, 4, 4, 1), (2, 3, 3, 3, 1), (3, 4, 3, 1)]
NUMBERS = {"integers in ±3": (-3, 3, 1), "ternary": (-1, 1, 1), "quarters": (-8, 8, 4)}

#: The name of what a network is drawn from, and the seed.
Task = tuple[str, str]


def main() -> None:
    """Run both parts and write results/complex_campaign.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--count", type=int, default=2000, help="networks of all kinds on all kinds of domains"
    )
    parser.add_argument("--quantised", type=int, default=3000, help="quantised networks on R^n")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    started = time.perf_counter()
    tally: Counter[str] = Counter()
    wrong: list[str] = []
    tasks = list(_tasks(options.count, options.quantised, options.seed))
    with get_context("spawn").Pool(options.processes) as pool:
        for done, (counts, complaint) in enumerate(
            pool.imap_unordered(examine, tasks, chunksize=8), 1
        ):
            tally.update(counts)
            wrong += [complaint] if complaint else []
            if done % 250 == 0:
                print(
                    f"{done} of {len(tasks)} networks, {len(wrong)} wrong",
                    file=sys.stderr,
                    flush=True,
                )
    found: dict[str, Any] = {
        "seed": options.seed,
        "networks": len(tasks),
        "wrong": len(wrong),
        "first wrong": wrong[:20],
    }
    found |= {
        "counts": dict(sorted(tally.items())),
        "seconds": round(time.perf_counter() - started),
    }
    write_results("complex_campaign", found)


def _tasks(count: int, quantised: int, seed: int) -> Iterator[Task]:
    for number in range(count):
        yield "all kinds", f"{seed} {number}"
    for number in range(quantised):
        yield "quantised", f"{seed} {number}"


def drawn(task: Task) -> tuple[str, Network, Polyhedron]:
    """Return the names of what was drawn from, the network and the domain."""
    source, seed = task
    rng = Random(f"{source} {seed}")
    if source == "all kinds":
        kind, domain = rng.choice(KINDS), rng.choice(DOMAINS)
        network = quantised_network(kind, rng)
        return kind, network, random_domain(domain, network.num_inputs, rng)
    name = rng.choice(list(NUMBERS))
    low, high, denominator = NUMBERS[name]
    layers = []
    for columns, rows in pairwise(rng.choice(ARCHITECTURES)):
        entries = [
            [Fraction(rng.randint(low, high), denominator) for _ in range(columns + 1)]
            for _ in range(rows)
        ]
        layers.append(([row[:-1] for row in entries], [row[-1] for row in entries]))
    network = from_arrays(layers)
    return f"quantised, {name}", network, Polyhedron.universe(network.num_inputs)


def examine(task: Task) -> tuple[Counter[str], str]:
    """Compare one network with brute force; return counts, and the errors found."""
    kind, network, domain = drawn(task)
    counts: Counter[str] = Counter({f"networks, {kind}": 1})
    expected = {
        signs: cell.dimension
        for signs, cell in cells_on_domain(brute_layers(network), brute_domain(domain)).items()
    }
    top, constraints = max(expected.values()), len(domain.inequalities)
    regions = {signs[constraints:] for signs, dimension in expected.items() if dimension == top}
    walked = region_graph(network, domain)
    counts["cells"] += len(expected)
    counts["regions"] += len(regions)
    if {tuple(row) for row in walked.signs().tolist()} != regions or walked.num_regions != len(
        regions
    ):
        return counts, f"{task}: the walk"
    try:
        cells = canonical_complex(network, domain)
    except DomainError:
        counts["without lattice (skip connections that see more)"] += 1
        return counts, ""
    counts["exact decisions"] += cells.statistics.num_exact_decisions
    counts["decisions"] += cells.statistics.num_decisions
    if dimensions_by_signs(cells) != expected:
        return counts, f"{task}: the cells"
    found = skeleton(network, domain)
    counts["simple"] += found.without_lattice
    for k in (0, 1):
        dimension = cells.lineality_dim + k
        if dimension <= cells.dimension and _rows(found.signs(k)) != _rows(cells.signs(dimension)):
            return counts, f"{task}: vertices or edges"
    return counts, ""


def _rows(signs: Any) -> list[bytes]:
    return sorted(row.tobytes() for row in np.ascontiguousarray(signs))


if __name__ == "__main__":
    main()
