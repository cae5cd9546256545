"""An attack on Theorem 2 of docs/theory/architectures.md, `leaky-chains`, on a grid of parameters.

    python -m benchmarks.leaky_attack [--groups 800] [--seed 1]

All leaky ReLU stacks 2-2-2-1 with small integer weights are sorted by their values at some points,
up to a constant, for two slopes. Of groups that are drawn, half of them from those whose members
are not all related, one member is certified by chain points. No member that is not related to it
may have its function; it is listed even if it is not regular, which would be no contradiction.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

import polyrelu
from benchmarks.deep_attack import Grid, Ints, Layers, key_of
from benchmarks.reporting import write_results
from polyrelu.network import LeakyStack
from polyrelu.outcomes import Attempt
from polyrelu.proofs.leaky.prover import prove_chains
from polyrelu.support.budget import Budget

SLOPES = (Fraction(1, 2), Fraction(1, 10))
_Values = tuple[int, ...]
_SMALL, _MIDDLE, _SIGNS = (-1, 0, 1), (-2, -1, 1, 2), (-1, 1)
#: The values of the weights and of the bias, for each neuron of each layer.
GRID: list[list[tuple[_Values, _Values]]] = [
    [(_SMALL, (0, 1))] * 2,
    [(_MIDDLE, _SIGNS)] * 2,
    [((-1, 1, 2), (0,))],
]
#: Groups with more members have neurons without weights, about which nothing is claimed.
_TOO_LARGE = 300


class LeakyGrid(Grid):
    """All leaky ReLU stacks of a grid, for one slope."""

    def __init__(self, slope: Fraction) -> None:
        self.slope = slope
        super().__init__(GRID)

    def _values(self, entries: Ints, point: tuple[int, int]) -> Ints:
        """Return values at a point, times 4 and a power of the slope's denominator."""
        columns, values, scale = iter(entries.T), [np.array(x) for x in point], 4
        off, on = self.slope.numerator, self.slope.denominator
        for width, m in pairwise(self.widths):
            rows = [[next(columns) for _ in range(width + 1)] for _ in range(m)]
            sums = [
                sum(w * x for w, x in zip(row, values, strict=False)) + scale * row[-1]
                for row in rows
            ]
            values, scale = [np.where(z > 0, on * z, off * z) for z in sums], scale * on
        return np.asarray(sums[0], dtype=np.int64)


def main() -> None:
    """Run the attack for each slope and write results/leaky_attack.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--groups", type=int, default=800, help="for each slope")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = {
        str(slope): attack(slope, options.groups, Random(f"{options.seed} {slope}"))
        for slope in SLOPES
    }
    write_results("leaky_attack", {"seed": options.seed, **found})


def attack(slope: Fraction, count: int, rng: Random) -> dict[str, Any]:
    """Confront certified stacks with all others that have the same values at the points."""
    table = LeakyGrid(slope)
    order, starts = table.groups()
    counts, wrong = Counter[str](parameters=len(order), functions=len(starts) - 1), list[str]()
    while sum(counts[kind] for kind in ("groups all related", "other groups")) < count:
        g = rng.randrange(len(starts) - 1)
        members = order[starts[g] : starts[g + 1]].tolist()
        if len(members) > _TOO_LARGE:
            continue
        related = {key_of(layers): layers for layers in map(table.layers, members)}
        kind = "groups all related" if len(related) == 1 else "other groups"
        if counts[kind] >= (count + 1) // 2:
            continue
        counts[kind] += 1
        wrong += _confront(list(related.values()), slope, kind, counts)
    return {**dict(sorted(counts.items())), "contradictions": wrong}


def _confront(
    members: Sequence[Layers], slope: Fraction, kind: str, counts: Counter[str]
) -> list[str]:
    """Return the pairs of a certified stack and an unrelated one with its function."""
    one = next((layers for layers in members if _is_certified(layers, slope)), None)
    if one is None:
        return []
    counts[f"{kind}: certified"] += 1
    wrong = list[str]()
    for other in members:
        if other is one:
            continue
        is_same = _has_function_of(one, other, slope)
        counts[f"{kind}: others, {'the same' if is_same else 'another'} function"] += 1
        if is_same:
            wrong.append(f"{one} and {other}")
            print(wrong[-1], flush=True)
    return wrong


def _is_certified(layers: Layers, slope: Fraction) -> bool:
    leaky = LeakyStack(slope, polyrelu.from_arrays(layers))
    return not isinstance(prove_chains(leaky, 0, Budget()), Attempt)


def _has_function_of(one: Layers, other: Layers, slope: Fraction) -> bool:
    """Return whether two stacks are one function up to a constant."""
    mine, theirs = (LeakyStack(slope, polyrelu.from_arrays(x)).network() for x in (one, other))
    constant = mine([0, 0])[0] - theirs([0, 0])[0]
    moved = [*other[:-1], (other[-1][0], [constant])]
    theirs = LeakyStack(slope, polyrelu.from_arrays(moved)).network()
    return polyrelu.equivalent(mine, theirs).status == "proved"


if __name__ == "__main__":
    main()
