"""Injectivity of Gaussian layers: the share of injective ones among draws, decided exactly.

    python -m benchmarks.injectivity_draws [--largest 8]

Layers have m = c n standard normal rows of float64 numbers and no bias; intervals are Wilson's for
95 %. Puthawala et al. (2020), Figure 2, have a necessary condition only. Marked in the plot: 3.40,
below which wide layers are not injective; 6.7, where later work has the threshold (Maillard et al.
2023); 10.4, from where on their proof works once it is corrected.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any

import numpy as np

import polyrelu
from benchmarks.reporting import RESULTS, write_results
from polyrelu.outcomes import Injective, NotInjective

__all__ = ["gaussian"]

#: Draws for each n.
DRAWS = {2: 400, 3: 400, 4: 400, 5: 400, 6: 400, 7: 400, 8: 400}
FACTORS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
THRESHOLDS = {3.40: "3.40", 6.7: "6.7", 10.42: "10.4"}
Record = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=8, help="largest n")
    largest = parser.parse_args().largest
    draws = [_shares(n, factor) for n in DRAWS if n <= largest for factor in FACTORS]
    write_results("injectivity_draws", {"draws": draws})
    _plot_draws(draws)


def gaussian(n: int, m: int, seed: int) -> polyrelu.Network:
    """A layer of normal rows."""
    rows = np.random.default_rng([n, m, seed]).standard_normal((m, n))
    return polyrelu.from_arrays([(rows, np.zeros(m))], last="relu")


def _shares(n: int, factor: int) -> Record:
    """The share of injective layers among draws."""
    total, injective, started = DRAWS[n], 0, time.process_time()
    for seed in range(total):
        outcome = polyrelu.injective(gaussian(n, factor * n, seed), budget=None)
        assert isinstance(outcome, Injective | NotInjective)
        injective += isinstance(outcome, Injective)
    low, high = _interval(injective, total)
    seconds = round(time.process_time() - started, 1)
    record: Record = {"n": n, "c": factor, "draws": total, "injective": injective}
    record |= {"low": low, "high": high, "seconds": seconds}
    print(record, flush=True)
    return record


def _interval(hits: int, total: int) -> tuple[float, float]:
    """The interval of Wilson for 95 %."""
    z, share = 1.959964, hits / total
    centre = share + z * z / (2 * total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    low, high = ((centre + sign * half) / (1 + z * z / total) for sign in (-1, 1))
    return round(max(low, 0.0), 4), round(min(high, 1.0), 4)


def _plot_draws(draws: list[Record]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.4))
    for k, n in enumerate(sorted({record["n"] for record in draws})):
        own = [record for record in draws if record["n"] == n]
        factors = [record["c"] for record in own]
        shares = [record["injective"] / record["draws"] for record in own]
        axes.plot(factors, shares, "o-", color=f"C{k}", markersize=3, label=f"n = {n}")
        axes.fill_between(
            factors,
            [record["low"] for record in own],
            [record["high"] for record in own],
            color=f"C{k}",
            alpha=0.12,
        )
    for place, name in THRESHOLDS.items():
        axes.axvline(place, color="grey", linestyle="--", linewidth=1)
        axes.text(place, 1.03, name, ha="center", fontsize=8)
    axes.set(xlabel="m / n", ylabel="share of injective layers", ylim=(-0.02, 1.09))
    axes.legend(fontsize=8, loc="center right")
    figure.tight_layout()
    figure.savefig(RESULTS / "injectivity_draws.png", dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
