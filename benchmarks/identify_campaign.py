"""Attack the verdicts of `identify`: random networks against brute force, and small grids.

    python -m benchmarks.identify_campaign [--count 1000] [--seed 1] [--grid 1500]
        [--jobs N] [--checkpoint FILE]

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
from typing import Any, TypeAlias

import polyrelu
from benchmarks.reporting import add_campaign_options, asked, write_results
from polyrelu import Proved, Undecided
from polyrelu.proofs.membership import generic_membership
from tests.generators.random_networks import KINDS, THREE_LAYER_KINDS, random_network
from tests.oracles.grid import grid_table
from tests.oracles.judge import contradictions, is_identifiable_by_signs, unrelated_members
from tests.oracles.local_fiber import local_fiber_dimension
from tests.oracles.plain import Network

Row: TypeAlias = dict[str, Any]

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
    add_campaign_options(parser)
    options = parser.parse_args()
    started = time.perf_counter()
    networks = {kind: _networks(kind, options.count, options.seed) for kind in KINDS}
    items: dict[str, Any] = {
        f"{kind} {number}": (kind, layers)
        for kind, drawn in networks.items()
        for number, layers in enumerate(drawn)
    }
    grids = {f"grid {number}": grid for number, grid in enumerate(GRIDS)}
    rows = asked(row_of, items | grids, {"count": options.grid, "seed": options.seed}, options)
    found = {
        "seed": options.seed,
        "random": {
            kind: _summary([rows[f"{kind} {number}"] for number in range(options.count)])
            for kind in KINDS
        },
        "grids": [rows[name] for name in grids],
        "seconds": round(time.perf_counter() - started),
    }
    write_results("identify_campaign", found)


def row_of(item: tuple[Any, Any], *, count: int, seed: int) -> Row:
    """Return a row for a kind and a network, or for widths and values of a grid."""
    kind, layers = item
    return _network(kind, layers) if isinstance(kind, str) else _grid(*item, count, seed)


def _networks(kind: str, count: int, seed: int) -> list[Network]:
    rng = Random(f"{seed} {kind}")
    return [random_network(kind, rng) for _ in range(count)]


def _network(kind: str, layers: Network) -> Row:
    """Return the verdict on a network, and what speaks against it."""
    network = polyrelu.from_arrays(layers)
    outcome = polyrelu.identify(network)
    is_proved = isinstance(outcome, Proved)
    is_generic = kind in THREE_LAYER_KINDS and generic_membership(network)["status"] == "verified"
    wrong = contradictions(layers, outcome)
    if is_generic and is_proved != is_identifiable_by_signs(layers):
        wrong.append("disagrees with the sign condition of Theorem 5")
    row = {
        "contradictions": wrong,
        "generic": is_generic,
        "free directions": local_fiber_dimension(layers).dimension if is_proved else 0,
    }
    if isinstance(outcome, Undecided):
        return row | {"undecided because": outcome.attempts[0].reason.split(":")[0]}
    certificate = outcome.certificate
    among = certificate.claim.among
    return row | {"verdict": f"{outcome.status} by {certificate.theorem}, among {among}"}


def _summary(rows: list[Row]) -> Row:
    """Return counts of what the rows of one kind say."""
    undecided = Counter(row["undecided because"] for row in rows if "undecided because" in row)
    open_cases = sum(row["free directions"] > 1 for row in rows)
    return {
        "networks": len(rows),
        "verdicts": dict(sorted(Counter(row.get("verdict", "undecided") for row in rows).items())),
        "undecided because": dict(undecided),
        "contradictions": [text for row in rows for text in row["contradictions"]],
        "verified generic": sum(row["generic"] for row in rows),
        "verified generic and undecided": sum(
            row["generic"] and "verdict" not in row for row in rows
        ),
        "proved, and settled by lower cells": sum(row["free directions"] > 0 for row in rows)
        - open_cases,
        "proved, and the local fiber not decided": open_cases,
    }


def _grid(widths: tuple[int, ...], values: tuple[int, ...], count: int, seed: int) -> Row:
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
