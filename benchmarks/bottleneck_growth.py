"""Growth of the equivalence proof for two hidden layers behind a bottleneck, with n = n_0 = n_1.

    python -m benchmarks.bottleneck_growth [--widths 8 16 32 64 128] [--instances 3] [--limit 60]

Pairs with n_2 = 1 and with n_2 = n are compared, two kinds of them equal and two not:

* moved: every second-layer neuron hides neuron 0, which is translated; for n_2 = 1, half of the
  other neurons are flipped;
* disguised: there is no hidden neuron; the network is permuted and scaled;
* weight: the first kind, with one weight changed by 2^-40 in the second layer;
* too far: the first kind, shifted by 2^-20 more than the least shift.

Pairs of the first kind with n_2 = 1 are also given to the general proof, with canonical positions
switched off, up to the time limit. Times are wall-clock seconds of this process; certificates are
checked by the independent checker. Exponents are least-squares slopes through the logarithms of
the medians, for all widths from 16 on.
"""

from __future__ import annotations

import argparse
import math
import time
from fractions import Fraction
from random import Random
from statistics import linear_regression, median
from typing import Any
from unittest.mock import patch

from benchmarks.reporting import RESULTS, write_results
from polyrelu import checker, equivalent, from_arrays
from polyrelu.outcomes import Equivalent, NotEquivalent
from tests.generators.bottleneck_stacks import (
    flip,
    hiding_stack,
    least_shift,
    plain_stack,
    translate,
)
from tests.generators.equivalent_pairs import Stack, permutation, scaling
from tests.oracles.judge import certificate_bytes

KINDS = {"moved": "proved", "disguised": "proved", "weight": "refuted", "too far": "refuted"}
#: Widths of the general proof, and the least width for the fit of exponents.
SMALL_WIDTHS, FITTED_FROM = [3, 4, 6, 8, 10, 12, 14], 16
Record = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--widths", type=int, nargs="+", default=[8, 16, 32, 64, 128])
    parser.add_argument("--instances", type=int, default=3, help="of each kind and width")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of the general proof")
    options = parser.parse_args()
    equivalent(from_arrays([([[1]], [0])]), from_arrays([([[2]], [0])]))  # imports are not measured
    records = [
        _measured(kind, width, single, number)
        for width in options.widths
        for single in (True, False)
        for kind in KINDS
        for number in range(options.instances)
    ]
    general = _general(options.instances, options.limit)
    fits = {
        f"{kind}, {_name(single)}": _fits(records, kind, single)
        for kind in KINDS
        for single in (True, False)
    }
    write_results(
        "bottleneck_growth",
        {"limit": options.limit, "exponents": fits, "instances": records, "general proof": general},
    )
    _plot(records, general, fits)


def _name(single: bool) -> str:
    return "n_2 = 1" if single else "n_2 = n"


def pair(kind: str, width: int, single: bool, number: int) -> tuple[Stack, Stack]:
    """Return a pair of networks of a kind."""
    chance = Random(f"{kind} {width} {single} {number}")
    make = plain_stack if kind == "disguised" else hiding_stack
    first = make(chance, width, width, 1 if single else width, 1)
    second = first.copy()
    if kind == "moved":
        translate(second, least_shift(second) / 2)
        for k in range(1, width if single else 1):
            if chance.random() < 0.5:
                flip(second, k)
    elif kind == "weight":
        second.layers[1][0][0][width // 2] += Fraction(1, 2**40)
    elif kind == "too far":
        translate(second, least_shift(second) - Fraction(1, 2**20))
    for layer in (1, 2):
        scaling(second, layer, chance)
        permutation(second, layer, chance)
    return first, second


def _measured(kind: str, width: int, single: bool, number: int) -> Record:
    first, second = (from_arrays(stack.layers) for stack in pair(kind, width, single, number))
    started = time.perf_counter()
    outcome = equivalent(first, second)
    seconds = time.perf_counter() - started
    assert isinstance(outcome, Equivalent | NotEquivalent), outcome
    assert outcome.status == KINDS[kind], (kind, width, single, number)
    data = certificate_bytes(outcome)
    started = time.perf_counter()
    verdict = checker.check_bytes(data).verdict
    checked = time.perf_counter() - started
    assert verdict == "accepted"
    record: Record = {
        "kind": kind,
        "width": width,
        "single": single,
        "route": outcome.search.route,
        "nodes": outcome.search.num_nodes,
        "points": outcome.search.num_points,
        "seconds": seconds,
        "check_seconds": checked,
        "certificate_bytes": len(data),
    }
    print(record, flush=True)
    return record


def _general(instances: int, limit: float) -> list[Record]:
    """Measure the first kind with n_2 = 1 without canonical positions.

    Widths grow until no instance of a width is finished within the limit.
    """
    found: list[Record] = []
    for width in SMALL_WIDTHS:
        with patch("polyrelu.proofs.equivalence.prover.canonical_position", lambda network: None):
            for number in range(instances):
                first, second = (
                    from_arrays(stack.layers) for stack in pair("moved", width, True, number)
                )
                started = time.perf_counter()
                outcome = equivalent(first, second, time_limit=limit)
                seconds = time.perf_counter() - started
                assert not isinstance(outcome, NotEquivalent)
                nodes = outcome.search.num_nodes if outcome.search else 0
                found.append(
                    {"width": width, "status": outcome.status, "seconds": seconds, "nodes": nodes}
                )
                print(found[-1], flush=True)
        if all(record["status"] == "undecided" for record in found[-instances:]):
            break
    return found


def _medians(records: list[Record], kind: str, single: bool, key: str) -> dict[int, float]:
    own = [record for record in records if (record["kind"], record["single"]) == (kind, single)]
    widths = sorted({record["width"] for record in own})
    return {
        width: median(record[key] for record in own if record["width"] == width) for width in widths
    }


def _fits(records: list[Record], kind: str, single: bool) -> dict[str, float]:
    """Return the exponents of the growth with the width."""
    found = {}
    for key in ("seconds", "check_seconds", "certificate_bytes"):
        points = [
            (w, value)
            for w, value in _medians(records, kind, single, key).items()
            if w >= FITTED_FROM
        ]
        if len(points) > 1:
            x, y = ([math.log(point[i]) for point in points] for i in (0, 1))
            found[key] = round(linear_regression(x, y).slope, 2)
    return found


def _plot(records: list[Record], general: list[Record], fits: dict[str, dict[str, float]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.6), sharex=True)
    for axis, key, title in (
        (axes[0], "seconds", "Verdict and certificate"),
        (axes[1], "check_seconds", "Check"),
    ):
        for k, kind in enumerate(KINDS):
            for single, style in ((True, "o-"), (False, "s--")):
                series = _medians(records, kind, single, key)
                slope = fits[f"{kind}, {_name(single)}"].get(key)
                label = f"{kind}, ${_name(single)}$: exponent {slope}"
                axis.plot(
                    list(series),
                    list(series.values()),
                    style,
                    color=f"C{k}",
                    markersize=4,
                    label=label,
                )
        axis.set(
            xscale="log",
            yscale="log",
            xlabel="width $n = n_0 = n_1$",
            ylabel="seconds (median)",
            title=title,
        )
    done = [record for record in general if record["status"] == "proved"]
    stopped = [record for record in general if record["status"] != "proved"]
    for part, marker, label in (
        (done, "x", "moved, $n_2 = 1$: general proof"),
        (stopped, "^", "stopped at its limit"),
    ):
        axes[0].scatter(
            [r["width"] for r in part],
            [r["seconds"] for r in part],
            marker=marker,
            color="0.4",
            label=label,
        )
    for axis in axes:
        ticks = sorted({record["width"] for record in records})
        axis.set_xticks(ticks, list(map(str, ticks)))
        axis.minorticks_off()
        axis.legend(fontsize=6.5, loc="upper right" if axis is axes[0] else "upper left")
        low, high = axis.get_ylim()
        axis.set_ylim(low, high * 12)
    figure.tight_layout()
    figure.savefig(RESULTS / "bottleneck_growth.png", dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
