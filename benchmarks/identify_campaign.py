"""Attack the verdicts of `identify`: random networks against brute force, and small grids.

    python -m benchmarks.identify_campaign [--count 1000] [--seed 1] [--grid 1500]

Every certificate goes through the checker. Every proof is confronted with the exact local fiber
over all cells, every refutation is re-evaluated on all common cells and compared under all
permutations. Where θ is verified to be generic and n_0 ≥ n_1 ≥ 2, the verdict is compared with the
sign condition of Theorem 5 of the three-layer paper. On the grids every parameter with the same
function is enumerated.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any

import polyrelu
from benchmarks.reporting import write_results
from polyrelu import Proved, Undecided
from polyrelu.proofs.membership import generic_membership
from tests.generators.random_networks import KINDS, THREE_LAYER_KINDS, random_network
from tests.oracles.grid import grid_table
from tests.oracles.judge import contradictions, is_identifiable_by_signs, unrelated_members
from tests.oracles.local_fiber import local_fiber_dimension

GRIDS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((1, 2, 1), (-2, -1, 0, 1, 2)),
    ((1, 1, 2, 1), (-2, -1, 1)),
    ((2, 2, 1, 1), (-1, 0, 1)),
    ((2, 2, 1, 1), (-2, -1, 1)),
]


def main() -> None:
    """Run both attacks and write results/identify_campaign.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000, help="networks of each kind")
    parser.add_argument("--grid", type=int, default=1500, help="parameters of each grid")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.perf_counter()
    random = {kind: _campaign(kind, options.count, options.seed) for kind in KINDS}
    grids = [_grid(widths, values, options.grid, options.seed) for widths, values in GRIDS]
    found = {
        "seed": options.seed,
        "random": random,
        "grids": grids,
        "seconds": round(time.perf_counter() - started),
    }
    write_results("identify_campaign", found)


def _campaign(kind: str, count: int, seed: int) -> dict[str, Any]:
    rng = Random(f"{seed} {kind}")
    verdicts: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    wrong: list[str] = []
    generic = generic_undecided = sharper = open_cases = 0
    for _ in range(count):
        layers = random_network(kind, rng)
        network = polyrelu.from_arrays(layers)
        outcome = polyrelu.identify(network)
        wrong += contradictions(layers, outcome)
        if isinstance(outcome, Undecided):
            verdicts["undecided"] += 1
            undecided[outcome.attempts[0].reason.split(":")[0]] += 1
        else:
            verdicts[
                (
                    f"{outcome.status} by {outcome.certificate.theorem}, among "
                    f"{outcome.certificate.claim.among}"
                )
            ] += 1
        dimension = local_fiber_dimension(layers).dimension if isinstance(outcome, Proved) else 0
        sharper += dimension > 0
        open_cases += dimension > 1
        if kind in THREE_LAYER_KINDS and generic_membership(network)["status"] == "verified":
            generic += 1
            generic_undecided += isinstance(outcome, Undecided)
            if isinstance(outcome, Proved) != is_identifiable_by_signs(layers):
                wrong.append("disagrees with the sign condition of Theorem 5")
    return {
        "networks": count,
        "verdicts": dict(sorted(verdicts.items())),
        "undecided because": dict(undecided),
        "contradictions": wrong,
        "verified generic": generic,
        "verified generic and undecided": generic_undecided,
        "proved, and settled by lower cells": sharper - open_cases,
        "proved, and the local fiber not decided": open_cases,
    }


def _grid(
    widths: tuple[int, ...], values: tuple[int, ...], count: int, seed: int
) -> dict[str, Any]:
    table = grid_table(widths, tuple(values))
    size = len(values) ** sum((n + 1) * m for n, m in pairwise(widths))
    indices = Random(f"{seed} {widths} {values}").sample(range(size), min(size, count * 8))
    proved = 0
    wrong: list[str] = []
    for index in indices:
        layers = table.network(index)
        outcome = polyrelu.identify(polyrelu.from_arrays(layers))
        if isinstance(outcome, Proved):
            proved += 1
            wrong += [
                f"{layers} and {other}" for other in unrelated_members(layers, values, outcome)
            ]
        if proved == count:
            break
    return {
        "widths": widths,
        "values": values,
        "parameters": size,
        "proved and searched": proved,
        "contradictions": wrong,
    }


if __name__ == "__main__":
    main()
