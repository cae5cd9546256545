"""Mutants of certificates of bounds, and brute force for those that the checker accepts.

    python -m benchmarks.bounds_mutations [--networks 12]

The originals are the examples of the tests, exact deviations of random pairs of networks of one
input, by trees of all signs, and bounds of others by trees with inherited intervals. Each value,
list and line of a file is replaced in turn by every one of its variants; counts of nodes and hashes
of networks are made right again. The values of networks of one input are affine between few points,
so that every accepted claim is decided by brute force.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from fractions import Fraction
from random import Random

from benchmarks.reporting import write_results
from polyrelu import checker
from polyrelu.certificate import DeviationClaim
from polyrelu.exact import Polyhedron
from tests.generators.bounds_documents import (
    SignTree,
    document,
    perturbed,
    random_layers,
    rows_of_deviation,
)
from tests.generators.bounds_examples import ACCEPTED
from tests.generators.interval_trees import (
    deviation_file,
    interval_tree,
    least_bound,
    neurons_of,
)
from tests.generators.tree_documents import Document, mutants, with_count, written
from tests.oracles.bounds import is_true


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=12, help="random pairs of networks")
    options = parser.parse_args()
    originals = {
        name: file
        for name, file in ACCEPTED.items()
        if file[0]["claim"]["network"]["inline"]["inputs"] == 1
    }
    originals |= {f"random {seed}": _random_pair(seed) for seed in range(options.networks)}
    originals |= {f"inherited {seed}": _with_intervals(seed) for seed in range(options.networks)}
    started, counts, false = time.process_time(), Counter[str](), list[str]()
    for name, file in originals.items():
        for mutant in mutants(file):
            changed = with_count(mutant)
            report = checker.check_bytes(written(changed), budget=2**30)
            counts[report.verdict] += 1
            if report.verdict == "accepted" and not is_true(changed[0]["claim"]):
                false.append(written(changed).decode("ascii"))
        print(name, dict(sorted(counts.items())), flush=True)
    results = {
        "originals": len(originals),
        "mutants": counts.total(),
        **dict(sorted(counts.items())),
        "accepted and false": false,
        "cpu seconds": round(time.process_time() - started),
    }
    write_results("bounds_mutations", results)
    sys.exit(bool(false))


def _random_pair(seed: int) -> Document:
    """Return the exact deviation of two random networks near each other on a segment."""
    random = Random(seed)
    hidden = [random.randint(1, 2)]
    first = random_layers(random, [1, *hidden, random.randint(1, 2)])
    second = perturbed(random, first, Fraction(1, 4))
    rows = rows_of_deviation(first.num_outputs)
    tree = SignTree(first, second, Polyhedron.box([-1], [2]), rows)
    assert tree.value is not None
    outputs, domain = tuple(range(first.num_outputs)), tree.rule.coordinates.domain
    claim = DeviationClaim(first, second, domain, outputs, tree.value, tree.value)
    return document(claim, [tree.point], tree.nodes, 44)


def _with_intervals(seed: int) -> Document:
    """Return the least bound that a tree with inherited intervals shows for such networks."""
    random, segment = Random(seed), Polyhedron.box([-1], [2])
    first = random_layers(random, [1, random.randint(1, 3), random.randint(1, 3), 1])
    networks = first, perturbed(random, first, Fraction(1, 4))
    nodes = interval_tree(random, 1, 3, neurons_of(networks), 0.8)
    return deviation_file(networks, segment, least_bound(networks, segment, nodes), nodes)


if __name__ == "__main__":
    main()
